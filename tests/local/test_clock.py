"""Times as the clock here showed them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.local.clock import clock_text, full_text
from punchlist.local.files import time_text


@given(st.datetimes(min_value=datetime(1971, 1, 2), max_value=datetime(2200, 1, 1)))
def test_a_time_of_ours_is_told_as_the_local_clock_showed_it(then: datetime) -> None:
    at = f"{then:%Y-%m-%dT%H:%M:%S}.000Z"
    assert full_text(at) == f"{then.replace(tzinfo=UTC).astimezone():%Y-%m-%d %H:%M}"


def test_today_has_a_clock_and_another_day_its_date() -> None:
    now = time_text()
    assert clock_text(now) in (full_text(now)[11:], full_text(now)[:10])  # at midnight it is another day
    assert clock_text("2020-01-02T12:00:00.000Z") == "2020-01-02"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_the_zone_counts(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert (
            full_text("2026-11-17T14:02:00.000Z")
            == {
                "UTC": "2026-11-17 14:02",
                "Asia/Kolkata": "2026-11-17 19:32",
                "America/New_York": "2026-11-17 09:02",
            }[zone]
        )
        assert full_text("2026-11-17T14:02:00+00:00") == full_text("2026-11-17T14:02:00.000Z")
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("at", ["", "yesterday", "2026-99-99T99:99:99", "14:02"])
def test_what_is_not_a_time_is_left_as_it_is(at: str) -> None:
    assert full_text(at) == at
