"""Times as people say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from punchlist.cli.times import relative

NOW = datetime(2026, 3, 31, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(seconds=-90), "just now"),
        (timedelta(0), "just now"),
        (timedelta(seconds=4), "just now"),
        (timedelta(seconds=5), "5s ago"),
        (timedelta(seconds=59), "59s ago"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 d ago"),
        (timedelta(days=29, hours=23), "29 d ago"),
        (timedelta(days=30), "2026-03-01"),
        (timedelta(days=400), "2025-02-24"),
    ],
    ids=str,
)
def test_a_time_is_said_as_how_long_ago_it_was_and_after_a_month_as_its_date(ago: timedelta, said: str) -> None:
    assert relative((NOW - ago).isoformat(), NOW) == said


def test_a_time_without_a_zone_is_universal_time() -> None:
    assert relative("2026-03-31T11:00:00", NOW) == "1 h ago"


def test_a_time_in_another_zone_is_compared_as_the_moment_it_is() -> None:
    assert relative("2026-03-31T14:00:00+03:00", NOW) == "1 h ago"


@pytest.mark.parametrize("text", ["", "yesterday", "2026-99-99"])
def test_what_is_not_a_time_stays_as_it_is(text: str) -> None:
    assert relative(text, NOW) == text


def test_now_is_the_clock_unless_it_is_given() -> None:
    assert relative(datetime.now(UTC).isoformat()) == "just now"
