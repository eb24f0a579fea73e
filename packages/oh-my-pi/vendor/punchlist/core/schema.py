"""The checker: enforces the JSON Schema that the model is shown, and reports every problem with its path.

It knows the words our schemas use (type, enum, required, properties, additionalProperties, items, minItems, maxItems,
minLength, maxLength, minimum) and no others; a test compares it with a full validator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from ._typing import Any, NamedTuple
from .model import NOTHING
from .text import counted, cut, inline

Schema = Mapping[str, Any]
Path = tuple[str | int, ...]
_DEEPEST = 50  # how deep a free object may be nested
_MOST = 20  # problems that are spelled out


class Problem(NamedTuple):
    path: Path
    rule: str  # the schema's word that was broken
    message: str  # what would be right, and what was there: "must be a string, not 3"

    def __str__(self) -> str:
        return self.of("the arguments")

    def of(self, whole: str) -> str:
        """The problem in words; `whole` is what the value is called that was checked."""
        return f"{dotted(self.path) or whole} {self.message}"

    def below(self, *path: str | int) -> Problem:
        """The same problem, seen from farther out."""
        return Problem((*path, *self.path), self.rule, self.message)


def check(value: object, schema: Schema) -> list[Problem]:
    """Every problem of a value; nothing if it has the right form."""
    return list(_problems(value, schema))


def check_at(value: object, schema: Schema, path: Path) -> list[Problem]:
    """The problems of a value at a path."""
    return [problem.below(*path) for problem in _problems(value, schema)]


class Lenience(NamedTuple):
    """What may be understood beyond the schema."""

    words: Mapping[str, str]  # other words for those of an enum
    fill: Mapping[str, Callable[[Mapping[str, Any]], Any]]  # what a missing key would say
    ids: Sequence[str] = ()  # keys that hold ids: numbers there are read as text


def repair(value: object, schema: Schema, lenience: Lenience) -> tuple[Any, list[str]]:
    """The value as it was certainly meant, and what was understood: a JSON string for an object, "3" for 3, a bare
    value for a list of one, another word for a status. What is not certain stays, for the checker to refuse."""
    notes: list[str] = []
    return _repair(value, schema, (), lenience, notes), notes


def listed(problems: Sequence[Problem], say: Callable[[Problem], str] = str) -> list[str]:
    """The problems as sentences; of very many, the first ones and a count."""
    lines = [say(problem) for problem in problems[:_MOST]]
    if len(problems) > _MOST:
        lines.append(f"and {len(problems) - _MOST} more problems like these.")
    return lines


def dotted(path: Path) -> str:
    """`todos[0].status`"""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{cut(inline(step), 40)}"
    return text.removeprefix(".")


def shown(value: object) -> str:
    """A value as it is shown in a message: short, on one line."""
    if isinstance(value, str):
        return repr(cut(inline(value), 40))
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and is_huge(value):
        return "a very large number"
    return cut(repr(value), 40)


_TYPES: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}
_EXACTLY: dict[str, type] = {"string": str, "integer": int, "object": dict, "array": list}  # as JSON is read
_NAMES = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def _problems(value: Any, schema: Schema) -> Sequence[Problem]:
    """The problems of a value, with paths that begin at it. Most values have none, and a call can hold thousands."""
    kinds = schema.get("type")
    if kinds is None:
        return ()
    if isinstance(kinds, str):
        kind = kinds
    else:
        kind = _kind(value, kinds)
    if type(value) is not _EXACTLY.get(kind) and not _TYPES[kind](value):
        names = " or ".join(_NAMES[name] for name in ([kinds] if isinstance(kinds, str) else kinds))
        return [Problem((), "type", f"must be {names}, not {shown(value)}.")]
    choices = schema.get("enum")
    if choices is not None and value not in choices:
        return [Problem((), "enum", f"must be one of {', '.join(map(repr, choices))}, not {shown(value)}.")]
    if kind == "string":
        return _size_problems(len(value), schema.get("minLength", 0), schema.get("maxLength"), "Length", "character")
    if kind == "object":
        return _object_problems(value, schema)
    if kind == "array":
        return _array_problems(value, schema)
    if kind in ("integer", "number") and value < schema.get("minimum", value):
        return [Problem((), "minimum", f"must be {schema['minimum']} or more, not {shown(value)}.")]
    return ()


def _kind(value: object, kinds: Sequence[str]) -> str:
    """The one of several types that a value has, or the last of them."""
    return next((kind for kind in kinds if _TYPES[kind](value)), kinds[-1])


def _array_problems(value: list[Any], schema: Schema) -> list[Problem]:
    found = [*_size_problems(len(value), schema.get("minItems", 0), schema.get("maxItems"), "Items", "item")]
    inner = schema.get("items")
    if inner is None:
        return found
    for index, entry in enumerate(value):
        problems = _problems(entry, inner)
        if problems:
            found += [problem.below(index) for problem in problems]
    return found


def _object_problems(value: dict[str, Any], schema: Schema) -> list[Problem]:
    known: Mapping[str, Schema] = schema.get("properties", NOTHING)
    found: list[Problem] = []
    if not known:
        found += _free_problems(value)
    for name in schema.get("required", ()):
        if name not in value:
            found.append(Problem((name,), "required", "is missing."))
    further = schema.get("additionalProperties", True)
    for name, entry in value.items():
        inner = known.get(name)
        if inner is None and further is False:
            found.append(Problem((name,), "additionalProperties", f"is not a key; {_right_keys(known)}"))
            continue
        if inner is None and further is not True:
            inner = further
        if inner is not None:
            found += [problem.below(name) for problem in _problems(entry, inner)]
    return found


def _right_keys(known: Mapping[str, Schema]) -> str:
    names = ", ".join(map(repr, known))
    if len(known) == 1:
        return f"the only key is {names}."
    return f"the keys are {names or 'none'}."


def _free_problems(value: Any) -> list[Problem]:
    """What no schema describes must still be something that can be written down."""
    layer = [value]
    for _ in range(_DEEPEST + 1):
        if any(isinstance(entry, int) and is_huge(entry) for entry in layer):
            return [Problem((), "number", "holds a very large number.")]
        objects = [entry.values() for entry in layer if isinstance(entry, dict)]
        lists = [entry for entry in layer if isinstance(entry, list)]
        layer = list(chain(*objects, *lists))
        if not layer:
            return []
    return [Problem((), "depth", f"must not be nested more than {_DEEPEST} deep.")]


def is_huge(number: int) -> bool:
    """Whether a number is longer than Python would write, or anybody means."""
    return number.bit_length() > 100


def _size_problems(size: int, least: int, most: int | None, what: str, noun: str) -> Sequence[Problem]:
    if size < least == 1:
        return [Problem((), "min" + what, "must not be empty.")]
    if size < least:
        return [Problem((), "min" + what, f"must have at least {counted(least, noun)}, not {size}.")]
    if most is not None and size > most:
        return [Problem((), "max" + what, f"must have at most {counted(most, noun)}, not {size}.")]
    return ()


# --- repairing -----------------------------------------------------------------------------------------------------


def _repair(value: Any, schema: Schema, path: Path, reading: Lenience, notes: list[str]) -> Any:
    kinds = schema.get("type", "")
    if isinstance(kinds, str):
        kind = kinds
    else:
        kind = _kind(value, kinds)
    if kind and not _TYPES[kind](value):
        value = _converted(value, kind, path, reading, notes)
    if kind == "object" and isinstance(value, dict):
        return _repair_object(value, schema, path, reading, notes)
    if kind == "array" and isinstance(value, list):
        inner = schema.get("items", {})
        return [_repair(entry, inner, (*path, index), reading, notes) for index, entry in enumerate(value)]
    if "enum" in schema and isinstance(value, str) and value not in schema["enum"]:
        meant = reading.words.get(_word(value), _word(value))
        if meant in schema["enum"]:
            notes.append(f"{dotted(path)}: {shown(value)} read as {meant!r}")
            return meant
    return value


def _repair_object(
    value: dict[str, Any], schema: Schema, path: Path, reading: Lenience, notes: list[str]
) -> dict[str, Any]:
    known: Mapping[str, Schema] = schema.get("properties", {})
    further = schema.get("additionalProperties")
    rest: Schema = further if isinstance(further, Mapping) else {}
    repaired = {
        name: _repair(entry, known.get(name, rest), (*path, name), reading, notes) for name, entry in value.items()
    }
    for name in schema.get("required", ()):
        if name not in repaired and name in reading.fill:
            repaired[name] = reading.fill[name](repaired)
            notes.append(f"{dotted((*path, name))} was missing; read as {shown(repaired[name])}")
    return repaired


def _word(value: str) -> str:
    return value.strip().casefold().replace("-", "_").replace(" ", "_")


def _converted(value: Any, kind: str, path: Path, reading: Lenience, notes: list[str]) -> Any:
    if kind == "string" and type(value) is int and not is_huge(value) and any(key in path for key in reading.ids):
        return str(value)
    for new in _readings(value, kind):
        if new != [value]:  # one value for a list of one needs no words
            notes.append(f"{dotted(path) or 'the arguments'}: {shown(value)} read as {shown(new)}")
        return new
    return value


def _readings(value: Any, kind: str) -> Iterator[Any]:
    if kind in ("object", "array") and isinstance(value, str):
        parsed = _parsed(value)
        if _TYPES[kind](parsed):
            yield parsed
            return
    if kind == "array" and value is not None:
        yield [value]
    elif kind == "integer":
        yield from _integers(value)
    elif kind == "boolean" and value in ("true", "false"):
        yield value == "true"
    elif kind == "string" and value and isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        yield "\n".join(value)


def _integers(value: Any) -> Iterator[int]:
    if isinstance(value, str) and len(value) < 20:
        digits = value.strip().removeprefix("#")
        if digits.isdecimal():
            yield int(digits)
    elif isinstance(value, float) and value.is_integer():
        yield int(value)


def _parsed(text: str) -> object:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
