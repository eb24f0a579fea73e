"""Times as people say them."""

from __future__ import annotations

from datetime import UTC, datetime

_STEPS = ((60, 1, "s"), (3600, 60, " min"), (86_400, 3600, " h"), (30 * 86_400, 86_400, " d"))


def relative(at: str, now: datetime | None = None) -> str:
    """Return how long ago a time was: `3 min ago`; its date if that is more than a month."""
    try:
        then = datetime.fromisoformat(at)
    except ValueError:
        return at
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    seconds = int(((now or datetime.now(UTC)) - then).total_seconds())
    if seconds < 5:
        return "just now"
    for below, unit, name in _STEPS:
        if seconds < below:
            return f"{seconds // unit}{name} ago"
    return at[:10]
