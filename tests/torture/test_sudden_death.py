"""A writer is killed at any moment, and what it was told is saved is there."""

from __future__ import annotations

import random
import time
from functools import partial

import pytest

import punchlist
from tests import postgres_server
from tests.torture import processes

pytestmark = [pytest.mark.torture, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]

KILLS = 500
A_SESSION = 25  # kills of writers to one plan
A_MOMENT = 0.02  # seconds that a writer may live, on a quick machine


def seconds_for_a_change(url: str, session: str) -> float:
    """How long a change takes here and now: however slow the machine, a writer lives for a few of them."""
    with punchlist.open(url, session=session) as desk:
        begun = time.monotonic()
        for number in range(10):
            desk.change(partial(punchlist.ops.add, text=str(number)))
        return (time.monotonic() - begun) / 10


def test_every_acknowledged_change_outlives_kill_9(url: str) -> None:
    rng = random.Random(9)
    pace = 0.0
    told: list[str] = []
    written = 0
    for kill in range(KILLS):
        session = f"s{kill // A_SESSION}"
        if kill % A_SESSION == 0:
            told = []
            pace = seconds_for_a_change(url, f"pace {session}")
        moment = rng.uniform(0, max(A_MOMENT, 8 * pace))
        news = processes.killed_while_adding(url, session, kill * 100_000, partial(time.sleep, moment))
        told += news
        written += len(news)
        with punchlist.open(url, session=session) as desk:
            plan = processes.check(desk) if kill % 5 == 4 else desk.plan
        there = [item.text for item in plan.items]
        assert set(told) <= set(there), f"kill {kill}: an acknowledged change is gone"
        assert len(there) == len(set(there))
    assert written > KILLS, "the writers had time to write"


def test_a_server_that_is_stopped_hard_keeps_every_acknowledged_change(server: postgres_server.Server) -> None:
    url = postgres_server.fresh_database(server.url)
    told: list[str] = []

    def stop_and_start() -> None:
        time.sleep(0.2)  # the writers are to be in the middle of their work
        server.stop("immediate")
        server.start()
        time.sleep(0.5)  # and to go on with it for a while

    for round in range(5):
        news = processes.killed_while_adding(url, "s", round * 100_000, stop_and_start)
        assert news, "the writer went on by itself when the server was back"
        told += news
        with punchlist.open(url, session="s") as desk:
            plan = processes.check(desk)
        assert set(told) <= {item.text for item in plan.items}
