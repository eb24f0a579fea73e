"""oh-my-pi, by way of its extension (`omp.ts`)."""

from __future__ import annotations

from ...core._typing import Any
from ..dispatch import Host
from ..plugin import answered

_HOST = Host("oh-my-pi", {"todo": "oh-my-pi", "todo_write": "oh-my-pi"})


def answer(event: dict[str, Any], flags: dict[str, str]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    return answered(event, flags, _HOST)
