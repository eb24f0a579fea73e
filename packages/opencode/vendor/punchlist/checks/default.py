"""The default check of a project: a command from the user's settings, or from the project's if the user approved it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..core._typing import Any, NamedTuple
from ..core.checks import read_check
from ..local.settings import FILE, Settings, config_folder, place
from .approvals import Approvals, load


class DefaultCheck(NamedTuple):
    """A default check, and whether it may be run and shown."""

    check: Mapping[str, Any]
    folder: str
    is_approved: bool


def find_default(settings: Settings, folder: str = "", approvals: Approvals | None = None) -> DefaultCheck | None:
    """The default check for a folder; None if there is none. It belongs to the directory of the project's file that
    has it, or else to the project's top. One from a project's file is not approved by being there."""
    if not settings.default_check:
        return None
    check = read_check(settings.default_check)
    origin = settings.origins.get("default_check", "")
    if os.path.basename(origin) != FILE or os.path.dirname(origin) == config_folder(os.environ):
        return DefaultCheck(check, place(folder), True)
    if approvals is None:
        approvals = load()
    top = os.path.dirname(origin)
    return DefaultCheck(check, top, approvals.has(check, top))
