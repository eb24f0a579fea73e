"""The stores that the contract is kept by, and a real PostgreSQL server, started once for the tests that need it."""

from __future__ import annotations

import subprocess
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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", path], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield path
    subprocess.run(["umount", path], check=True)
