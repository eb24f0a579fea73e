"""Values are named tuples, like those of `typing`."""

from __future__ import annotations

import pickle

import pytest

from punchlist.core._typing import NamedTuple
from punchlist.core.model import Item


class Pair(NamedTuple):
    """Two things."""

    left: str
    right: int = 7

    @property
    def both(self) -> str:
        return f"{self.left}{self.right}"

    def swapped(self) -> tuple[int, str]:
        return self.right, self.left


def test_fields_have_names_and_defaults() -> None:
    assert Pair("a") == ("a", 7)
    assert Pair("a", right=8)._replace(left="b") == ("b", 8)
    assert (Pair._fields, Pair._field_defaults) == (("left", "right"), {"right": 7})
    with pytest.raises(TypeError):
        Pair()  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="middle"):
        Pair("a")._replace(middle="b")  # type: ignore[call-arg]


def test_a_copy_with_other_values_is_of_the_same_kind() -> None:
    copy = Pair("a")._replace(right=9, left="b")
    assert (type(copy), copy.both) == (Pair, "b9")


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Pair("a").left = "b"  # type: ignore[misc]


def test_methods_and_properties_are_kept() -> None:
    assert (Pair("a").both, Pair("a").swapped()) == ("a7", (7, "a"))


def test_a_value_says_what_it_is() -> None:
    assert repr(Pair("a")) == "Pair(left='a', right=7)"
    assert (Pair.__name__, Pair.__qualname__, Pair.__module__, Pair.__doc__) == (
        "Pair",
        "Pair",
        __name__,
        "Two things.",
    )
    assert Pair.__annotations__ == {"left": "str", "right": "int"}


@pytest.mark.parametrize("value", [Pair("a"), Item("1", "Read")])
def test_a_value_can_be_pickled(value: object) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
