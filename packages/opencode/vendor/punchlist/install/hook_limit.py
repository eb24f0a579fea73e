"""How long an agent waits for the hook at the end of a turn, by what its settings say now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..core.errors import Refused
from . import SCOPES, Where, content, installer_for
from .edit_json import read
from .parts import StopHook, handlers, within


def stop_seconds(name: str, folder: str) -> float | None:
    """Return how many seconds an agent that works in a folder gives the hook at the end of a turn. If it is attached
    twice, for the user and in the project, the lower number. None if its settings do not say it."""
    stop: StopHook | None = getattr(installer_for(name), "STOP", None)
    if stop is None:
        return None
    limits = [limit / stop.unit for hooks in _hooks(name, folder) for limit in _limits(hooks, name, stop.event)]
    return min(limits, default=None)


def _hooks(name: str, folder: str) -> Iterator[Any]:
    """The hooks in each of an agent's files that can be read."""
    for scope in SCOPES:
        where = Where(scope, os.path.expanduser("~"), folder, "", os.environ)
        for part in installer_for(name).parts(where):
            if part.name != "hooks":
                continue
            try:
                yield within(read(content(part.files[0])), "hooks")
            except (Refused, OSError):
                continue


def _limits(hooks: Any, name: str, wanted: str) -> Iterator[float]:
    for event, group, number in handlers(hooks, name):
        limit = hooks[event][group]["hooks"][number].get("timeout")
        if event == wanted and isinstance(limit, int | float):
            yield limit
