"""A real PostgreSQL server, started once for the tests that need it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server."""
    with postgres_server.running() as url:
        yield url
