"""Fixtures of tests of checks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from punchlist.desk import evidence


@pytest.fixture(scope="module")
def patient() -> Iterator[None]:
    """A look at the files takes as long as it needs: a busy machine is not what is tested."""
    before, evidence.PATIENCE = evidence.PATIENCE, 60.0
    yield
    evidence.PATIENCE = before
