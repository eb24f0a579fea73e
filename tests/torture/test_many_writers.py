"""Many processes write at once, and nothing is lost or doubled."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

import punchlist
from punchlist.core.rules import problems
from tests.torture import processes

pytestmark = [pytest.mark.torture, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]


def test_sixteen_processes_adding_to_one_plan_lose_nothing(url: str) -> None:
    def adds(worker: int) -> None:
        with punchlist.open(url, session="s") as desk:
            for number in range(50):
                desk.change(partial(punchlist.ops.add, text=f"{worker}-{number}"))

    processes.run_all([partial(adds, worker) for worker in range(16)])

    with punchlist.open(url, session="s") as desk:
        plan = processes.check(desk)
    assert sorted(item.text for item in plan.items) == sorted(f"{w}-{n}" for w in range(16) for n in range(50))
    assert len({item.id for item in plan.items}) == 800


def test_thirty_two_processes_on_eight_plans_lose_nothing_and_show_no_half_change(url: str, tmp_path: Path) -> None:
    each = 100 if url.startswith("json:") else 200  # in json: each of them writes the whole list

    def changes(worker: int) -> None:
        rng = random.Random(worker)
        session = f"s{worker % 8}"
        path = tmp_path / f"told-{worker}"
        with punchlist.open(url, session=session) as desk, path.open("w", encoding="utf-8") as told:
            for number in range(each):
                name = processes.mixed_change(desk, f"{worker}-{number}", rng)
                if name:
                    told.write(f"{name}\n")

    def reads(session: str) -> None:
        with punchlist.open(url, session=session) as desk:
            last = 0
            for _ in range(150):
                plan = desk.plan
                assert problems(plan) == []
                assert plan.revision >= last
                last = plan.revision

    works = [partial(changes, worker) for worker in range(32)]
    processes.run_all([*works, *(partial(reads, f"s{n}") for n in range(8))])

    for number in range(8):
        with punchlist.open(url, session=f"s{number}") as desk:
            texts = Counter(item.text for item in processes.check(desk).items)
        told = [line for w in range(number, 32, 8) for line in (tmp_path / f"told-{w}").read_text().split()]
        assert texts == Counter(told)
