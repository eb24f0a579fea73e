"""Random edits and random lists, judged by an oracle: no edit is undone unseen, and no open item vanishes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.core.plans import often
from tests.dialects.list_oracle import Oracle, steps
from tests.dialects.lists import DIALECTS


def _play(dialect: str, taken: list[Any]) -> None:
    oracle = Oracle(dialect)
    oracle.mine = [["Read the code", "in_progress"], ["Fix the bug", "pending"], ["Run the tests", "pending"]]
    oracle.step("list", ("again",))
    for who, what in taken:
        oracle.step(who, what)


@pytest.mark.parametrize("dialect", DIALECTS)
@often(60)
@given(taken=steps)
def test_no_list_undoes_an_unseen_edit_or_ends_an_open_item_it_may_not(dialect: str, taken: list[Any]) -> None:
    _play(dialect, taken)


@pytest.mark.torture
@pytest.mark.parametrize("dialect", DIALECTS)
@often(1_000)
@given(taken=steps)
def test_no_list_of_many_undoes_an_unseen_edit_or_ends_an_open_item(dialect: str, taken: list[Any]) -> None:
    _play(dialect, taken)
