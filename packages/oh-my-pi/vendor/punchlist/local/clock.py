"""Times of the day, as people read them."""

from __future__ import annotations

import time


def clock_text(at: str) -> str:
    """A time in ISO 8601 as the clock here showed it: `14:02`; its date if that was not today."""
    date, _, clock = full_text(at).partition(" ")
    if clock and date == time.strftime("%Y-%m-%d"):
        return clock
    return date


def full_text(at: str) -> str:
    """The same with its date: `2026-11-17 14:02`. A time that cannot be read is left as it is."""
    seconds = _seconds(at)
    if seconds is None:
        return at
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _seconds(at: str) -> float | None:
    """Seconds since 1970. Times of our own are in UTC, and read without the modules that `datetime` loads."""
    if len(at) == 24 and at.endswith("Z") and at[:4].isdecimal() and at[5:7].isdecimal() and at[8:10].isdecimal():
        clock = at[11:13] + at[14:16] + at[17:19]
        if clock.isdecimal():
            return _day(int(at[:4]), int(at[5:7]), int(at[8:10])) * 86_400 + _of_day(clock)
    from datetime import UTC, datetime

    try:
        then = datetime.fromisoformat(at)
    except ValueError:
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return then.timestamp()


def _of_day(clock: str) -> int:
    return int(clock[:2]) * 3600 + int(clock[2:4]) * 60 + int(clock[4:])


def _day(year: int, month: int, day: int) -> int:
    """The number of a day, from 1970-01-01 on. The year begins in March, so that a leap day is its last."""
    if month < 3:
        year, month = year - 1, month + 12
    leap_days = year // 4 - year // 100 + year // 400
    return 365 * year + leap_days + (153 * (month - 3) + 2) // 5 + day - 719_469
