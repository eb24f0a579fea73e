"""Ages, as settings and options have them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ..core.errors import Refused
from ..core.schema import shown
from .files import utc_text

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def ago(age: str) -> str:
    """Return the time that lies this far back, in ISO 8601: `30d`, `12h`, `8w`, or a date. Raises Refused."""
    number, unit = age[:-1], age[-1:]
    try:
        if number.isdecimal() and unit in _UNITS:
            moment = datetime.now(UTC) - timedelta(**{_UNITS[unit]: int(number)})
        else:
            moment = datetime.fromisoformat(age).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refused(f"{shown(age)} is not an age (try 30d).") from None
    return utc_text(moment.timestamp())
