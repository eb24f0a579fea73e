"""Times of the day, as people read them."""

from __future__ import annotations


def clock_text(at: str) -> str:
    """A time in ISO 8601 as the clock here showed it: `14:02`; its date if that was not today."""
    date, _, time = full_text(at).partition(" ")
    if date == full_text("").partition(" ")[0]:
        return time
    return date


def full_text(at: str) -> str:
    """The same with its date: `2026-11-17 14:02`. The time now, if it is empty; a time that cannot be read as it is."""
    from datetime import UTC, datetime

    if not at:
        then = datetime.now(UTC)
    else:
        try:
            then = datetime.fromisoformat(at)
        except ValueError:
            return at
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return f"{then.astimezone():%Y-%m-%d %H:%M}"
