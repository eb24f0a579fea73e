"""The stores that the contract is kept by, and a real PostgreSQL server, started once for the tests that need it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from punchlist.stores import Store, open_store
from tests import postgres_server

STORES: dict[str, Callable[[Path, pytest.FixtureRequest], str]] = {
    "memory": lambda folder, request: "memory:",
    "json": lambda folder, request: f"json:{folder / 'plans'}",
    "sqlite": lambda folder, request: f"sqlite:{folder / 'plans.db'}",
    "postgresql": lambda folder, request: postgres_server.emptied_database(request.getfixturevalue("postgres")),
}


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server."""
    with postgres_server.running() as url:
        yield url


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(STORES[request.param](tmp_path, request))
    yield opened
    opened.close()


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store of the kind that a test names."""
    return STORES[request.param](tmp_path, request)
