"""Calls that name items never undo an edit that their agent has not heard of."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.core.plans import Wish, often
from tests.dialects.test_properties import Made
from tests.dialects.unheard import BY_ITEM, play, sequences


@pytest.mark.parametrize("name", BY_ITEM)
def test_no_call_undoes_an_edit_that_its_agent_has_not_heard_of(name: str) -> None:
    @often(150)
    @given(sequences(name))
    def stands(several: list[Made | Wish]) -> None:
        assert play(name, several) == []

    stands()


@pytest.mark.torture
@pytest.mark.parametrize("name", BY_ITEM)
def test_of_very_many_calls_none_undoes_an_edit_that_its_agent_has_not_heard_of(name: str) -> None:
    @often(1_000)
    @given(sequences(name, most=12))
    def stands(several: list[Made | Wish]) -> None:
        assert play(name, several) == []

    stands()
