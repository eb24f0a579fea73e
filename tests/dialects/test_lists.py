"""The law behind the merge table: an agent changes only what differs from its own last applied list."""

from __future__ import annotations

from typing import Any

import pytest

from punchlist import MemoryStore
from tests.dialects import lists


@pytest.mark.parametrize(
    ("dialect", "case"),
    [pytest.param(dialect, case, id=f"{case['source']}: {dialect}: {case['name']}") for dialect, case in lists.cases()],
)
def test_a_resent_list_changes_only_what_differs_from_the_last(dialect: str, case: dict[str, Any]) -> None:
    lists.run(MemoryStore(), dialect, case)
