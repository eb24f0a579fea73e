"""What checks say about the plan while an agent works, line by line, where no panel shows it."""

from __future__ import annotations

from collections.abc import Callable

from ...agent.events import Called, Event, TurnEnded
from ...core.errors import PunchlistError
from ...core.grade_labels import sentences
from ...core.model import MAIN
from ...core.render import NO_LABELS, Line, Span
from ...desk import Desk
from ...desk.grade_labels import LiveLabels


def telling_labels(
    desk: Desk, tell: Callable[[Event], None], show: Callable[[list[Line]], None]
) -> Callable[[Event], None]:
    """Return a function that tells events, and shows what is new about the items before each call and at the end."""
    checks = LiveLabels(desk)
    shown = NO_LABELS

    def tell_both(event: Event) -> None:
        nonlocal shown
        if isinstance(event, Called | TurnEnded) and event.agent == MAIN:
            try:
                plan = desk.plan
                now = checks.look(plan, again=isinstance(event, TurnEnded))
            except PunchlistError:  # the agent is told of it, or goes on without
                now = shown
            if now != shown:
                show([(Span(words, "dim"),) for words in sentences(plan, shown, now)])
                shown = now
        tell(event)

    return tell_both
