"""The law of resent lists in every store: it holds whatever keeps the plan and the list that was sent last."""

from __future__ import annotations

from typing import Any

import pytest

from punchlist.stores import Store
from tests.dialects import lists

_CASES = {f"{case['source']}: {case['name']}": (dialect, case) for dialect, case in lists.cases()}  # one dialect each


@pytest.mark.parametrize(("dialect", "case"), _CASES.values(), ids=_CASES)
def test_a_resent_list_changes_only_what_differs_from_the_last(
    store: Store, dialect: str, case: dict[str, Any]
) -> None:
    lists.run(store, dialect, case)
