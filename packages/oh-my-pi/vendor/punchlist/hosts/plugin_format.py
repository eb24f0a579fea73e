"""Our own form of events, for agents without hooks that run commands: a small plugin of ours sends their events with
the names of `HookEvent`, and gets the answer back as `context` and `nudge`."""

from __future__ import annotations

from ..core._typing import Any
from ..core.model import MAIN
from .host import HookAnswer, HookEvent, exit_code, needed, seconds, text


def read(event: dict[str, Any]) -> HookEvent:
    """Return an event of a plugin. Raises Refused."""
    return HookEvent(
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
        exit=exit_code(event.get("exit")),
        no_exit=text(event, "no_exit"),
        seconds=seconds(event.get("seconds")),
        interrupted=event.get("interrupted") is True,
        said=text(event, "said"),
        ends=event.get("ends") is True,
        model=text(event, "model"),
        limit=seconds(event.get("limit")),
        panel=text(event, "panel"),
    )


def write(event: dict[str, Any], answer: HookAnswer) -> dict[str, Any] | None:
    """Return an answer as our plugins read it."""
    return {name: value for name, value in answer._asdict().items() if value} or None
