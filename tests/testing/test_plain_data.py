"""Messages and tools of any framework become plain data, whatever they are."""

from __future__ import annotations

import json
from collections import UserDict
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, NamedTuple

import pytest

from punchlist.testing.plain_data import as_text, plain, words_in


class Role(Enum):
    USER = "user"


class Said(NamedTuple):
    text: str
    role: Role = Role.USER


@dataclass
class Part:
    content: str
    parts: list[Any] = field(default_factory=list)


class Model:
    """As pydantic's models are: fields by name, and a schema of the class."""

    model_fields: ClassVar[dict[str, None]] = {"text": None, "schema_of": None}

    def __init__(self, text: str) -> None:
        self.text, self.schema_of = text, Model

    def model_dump(self) -> dict[str, Any]:
        return {"text": self.text}

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return {"type": "object", "properties": {"text": {"type": "string"}}}


class Dumps:
    def model_dump(self) -> dict[str, Any]:
        return {"text": "dumped"}


class Bare:
    def __init__(self) -> None:
        self.text, self._hidden = "seen", "unseen"


class Slots:
    __slots__ = ()


class Broken:
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, None),
        ({"a": (1, 2.5, True)}, {"a": [1, 2.5, True]}),
        (float("nan"), "nan"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        ({3: {"b", "a"}}, {"3": ["a", "b"]}),
        (UserDict(a=1), {"a": 1}),
        (Said("hi"), {"class": "Said", "text": "hi", "role": "user"}),
        (Part("hi", [Part("inner")]), {"class": "Part", "content": "hi", "parts": [plain(Part("inner"))]}),
        (Model("hi"), {"class": "Model", "text": "hi", "schema_of": Model.model_json_schema()}),
        (Dumps(), {"class": "Dumps", "text": "dumped"}),
        (Bare(), {"class": "Bare", "text": "seen"}),
        (Said, "Said"),
        (len, "len"),
        (Broken(), "(Broken, unreadable: RuntimeError)"),
    ],
)
def test_a_value_becomes_json(value: Any, wanted: Any) -> None:
    assert plain(value) == wanted
    assert json.loads(as_text(plain(value))) == wanted


def test_the_same_object_has_the_same_text_in_every_process() -> None:
    assert "0x" not in as_text(plain([Slots(), lambda: 1, object()]))


def test_what_contains_itself_and_what_is_deep_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert plain(loop) == ["..."]
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert "..." in as_text(plain(deep))
    assert len(plain([Bare() for _ in range(100_000)])) == 100_000


def test_twice_the_same_is_not_inside_itself() -> None:
    one = {"a": 1}
    assert plain([one, one]) == [one, one]


def test_words_are_the_texts_without_the_keys() -> None:
    assert words_in({"role": "user", "content": [{"text": "Hi."}, 7, None]}) == "user\nHi."
