"""The sessions that `make bench` measures, once each: every list is finished, and ours is the shortest to read."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec

import pytest

from bench.frameworks import THEIRS, script
from bench.frameworks.measure import measure
from bench.frameworks.traffic import spent
from tests.frameworks.installed import missing


@pytest.mark.parametrize("name", THEIRS)
def test_the_session_is_run_with_every_list_and_costs_least_with_ours(name: str) -> None:
    if name in missing() or find_spec(f"punchlist.adapters.{name}") is None:
        pytest.skip(f"{name} is not there")
    found = asyncio.run(measure(name, 1))
    _, theirs = THEIRS[name]
    without = found["requests"].pop("without")
    assert len(without) == script.SIZE + 1
    assert found["seconds"].keys() == found["requests"].keys()
    steps = script.steps(script.punchlist)
    for way, requests in found["requests"].items():
        assert len(requests) == len(steps), way
    ours = next(requests for way, requests in found["requests"].items() if way.startswith("ours"))
    least = spent(ours, steps, len)
    for way, planner in theirs.items():
        other = spent(found["requests"][way], script.steps(planner), len)
        assert least.read < other.read
        assert least.new < other.new
        assert least.written < other.written
