"""opencode, by way of its plugin (`opencode.js`)."""

from __future__ import annotations

from ...core._typing import Any
from ..dispatch import Host
from ..plugin import answered

_HOST = Host("opencode", {"todowrite": "opencode"})


def answer(event: dict[str, Any], flags: dict[str, str]) -> dict[str, Any] | None:
    """What to say to an event, or nothing."""
    return answered(event, flags, _HOST)
