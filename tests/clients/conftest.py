"""What the tests with real agents share: a stage for each agent that is installed here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.agents import PATHS
from tests.clients.stage import Stage, attached, staged


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.clients)


@pytest.fixture(params=PATHS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Each agent in turn, attached."""
    with attached(request.param, tmp_path) as stage:
        yield stage


@pytest.fixture(params=PATHS)
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Each agent in turn, before we were attached."""
    with staged(request.param, tmp_path) as stage:
        yield stage
