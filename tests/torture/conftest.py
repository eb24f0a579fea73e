"""The durable stores under torture, each new for every test."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[postgres_server.Server]:
    """A server of our own: it is stopped hard."""
    with tempfile.TemporaryDirectory(prefix="punchlist-pg-", ignore_cleanup_errors=True) as folder:
        made = postgres_server.Server(Path(folder))
        yield made
        made.close()


@pytest.fixture(params=["sqlite", "json", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty durable store."""
    made: dict[str, Callable[[], str]] = {
        "sqlite": lambda: f"sqlite:{tmp_path}/plan.db",
        "json": lambda: f"json:{tmp_path}/plans",
        "postgresql": lambda: postgres_server.fresh_database(request.getfixturevalue("server").url),
    }
    return made[request.param]()
