"""Messages and tools of any framework as plain data, so that they can be kept, compared and searched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

_DEEP = 40  # levels of one value
_MANY = 50_000  # values in one value
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_DESCRIBES_ITSELF = "to_json_schema_spec"  # a method of tools in Microsoft's framework, whose fields do not tell
_OF_CLASSES = ("name", "description", "inputs")  # what tools of smolagents have in their class
_NAMED = (FunctionType, BuiltinFunctionType, MethodType, ModuleType)


def plain(value: object) -> Any:
    """Return a copy of a value that consists of JSON's types only. It never fails, whatever the value is."""
    return _Copy().of(value, 0)


def as_text(value: object) -> str:
    """Return plain data as one line of JSON; equal values have equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def words_in(value: object) -> str:
    """Return every text in plain data, a line each, without the keys."""
    return "\n".join(_texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


class _Copy:
    """One copy in the making: what it is inside of, and how much it holds."""

    def __init__(self) -> None:
        self._around: set[int] = set()
        self._count = 0

    def of(self, value: object, depth: int) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Enum):
            return self.of(value.value, depth)
        if isinstance(value, str):
            return str(value)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return _number(float(value))
        if isinstance(value, bytes | bytearray):
            return bytes(value).decode("utf-8", "replace")
        self._count += 1
        if depth > _DEEP or self._count > _MANY or id(value) in self._around:
            return "..."
        self._around.add(id(value))
        try:
            return self._parts(value, depth + 1)
        except Exception as error:  # whatever an object of somebody else does when it is looked at
            return f"({type(value).__name__}, unreadable: {type(error).__name__})"
        finally:
            self._around.discard(id(value))

    def _parts(self, value: object, depth: int) -> Any:
        if isinstance(value, Mapping):
            return {str(key): self.of(inner, depth) for key, inner in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return self._object(value, value._asdict(), depth)
        if isinstance(value, list | tuple):
            return [self.of(inner, depth) for inner in value]
        if isinstance(value, set | frozenset):
            return sorted((self.of(inner, depth) for inner in value), key=as_text)
        if isinstance(value, type):
            return self._class(value, depth)
        if isinstance(value, _NAMED):
            return getattr(value, "__name__", "")
        return self._other(value, depth)

    def _class(self, value: type, depth: int) -> Any:
        """A class that describes arguments, as its JSON schema; any other as its name."""
        describe = getattr(value, "model_json_schema", None)
        if describe is None:
            return value.__name__
        return self.of(describe(), depth)

    def _other(self, value: object, depth: int) -> Any:
        if is_dataclass(value):
            return self._object(value, {one.name: getattr(value, one.name) for one in fields(value)}, depth)
        if hasattr(value, "model_dump"):
            return self._object(value, _dumped(value), depth)
        if hasattr(value, _DESCRIBES_ITSELF):
            return self.of(getattr(value, _DESCRIBES_ITSELF)(), depth)
        if hasattr(value, "__dict__"):
            shared = {name: getattr(value, name) for name in _OF_CLASSES if hasattr(type(value), name)}
            public = {name: inner for name, inner in vars(value).items() if not name.startswith("_")}
            return self._object(value, {**shared, **public}, depth)
        return _ADDRESS.sub("", str(value))

    def _object(self, value: object, parts: Mapping[str, object], depth: int) -> Any:
        return {"class": type(value).__name__, **{name: self.of(inner, depth) for name, inner in parts.items()}}


def _dumped(value: Any) -> Mapping[str, object]:
    """The fields of a pydantic model; a class in one of them, such as the arguments of a tool, stays a class."""
    names = getattr(type(value), "model_fields", None)
    if isinstance(names, Mapping):
        return {name: getattr(value, name) for name in names}
    found: Mapping[str, object] = value.model_dump()
    return found


def _number(value: float) -> Any:
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    return value
