"""opencode and oh-my-pi have no hooks that run commands: a small plugin of ours sends their events in our own form,
with the names of `Event`, and gets the answer back as `context` and `nudge`."""

from __future__ import annotations

from ..core._typing import Any
from ..core.model import MAIN
from .dispatch import Event, Host, handle, needed, text


def answered(event: dict[str, Any], flags: dict[str, str], host: Host) -> dict[str, Any] | None:
    """What to say to an event of a plugin, or nothing."""
    said = handle(_read(event), host, flags)
    return {name: value for name, value in said._asdict().items() if value} or None


def _read(event: dict[str, Any]) -> Event:
    return Event(
        moment=needed(event, "moment"),
        session=needed(event, "session"),
        agent=text(event, "agent") or MAIN,
        cwd=text(event, "cwd"),
        source=text(event, "source"),
        prompt=text(event, "prompt"),
        tool=text(event, "tool"),
        args=event.get("args"),
        result=event.get("result"),
        use=text(event, "use"),
        failed=event.get("failed") is True,
        interrupted=event.get("interrupted") is True,
        said=text(event, "said"),
        ends=event.get("ends") is True,
    )
