"""Settings files as people write them: any JSON with comments, trailing commas and every kind of space."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

_KEYS = st.sampled_from(["mcpServers", "hooks", "permissions", "allow", "Stop", "SessionStart", "statusLine", "a", "é"])
_SCALARS = st.sampled_from(
    [None, True, False, 0, -1.5, 1e300, "", "x", 'a "quote" \\', "é\u2028\n", "//", "mcp__other"]
)
_SPACES = ["", " ", "\t", "\n", "\n  ", " \n\t", "\n\n    "]
_COMMENTS = ["/* a, {comment} */", '// "one": 2, }\n', "/*\n * many\n */", "/**/ //\n"]
_GAPS = st.sampled_from([*_SPACES * 3, *(f"{a}{note}{b}" for a in _SPACES for note in _COMMENTS for b in _SPACES)])
_GROUPS = [
    '{"hooks": [{"type": "command", "command": "mine.sh"}]}',
    '{"matcher": "Bash", "hooks": []}',
    '{"matcher": "x"}',
]


@st.composite
def _values(draw: st.DrawFn, depth: int) -> str:
    kind = draw(st.sampled_from(["object", "array", "scalar"])) if depth else "scalar"
    if kind == "object":
        return draw(objects(depth - 1))
    if kind == "array":
        entries = draw(st.lists(_values(depth - 1), max_size=3))
        return draw(_boxes("[", entries, "]"))
    return json.dumps(draw(_SCALARS), ensure_ascii=draw(st.booleans()))


@st.composite
def _boxes(draw: st.DrawFn, opening: str, entries: list[str], closing: str) -> str:
    text = opening + draw(_GAPS)
    for number, entry in enumerate(entries):
        last = number == len(entries) - 1
        comma = "," if not last or draw(st.booleans()) else ""
        text += entry + draw(_GAPS) + comma + draw(_GAPS)
    return text + closing


@st.composite
def objects(draw: st.DrawFn, depth: int) -> str:
    """An object as text; a key may stand in it twice."""
    keys = draw(st.lists(_KEYS, max_size=4))
    entries = [json.dumps(key) + draw(_GAPS) + ":" + draw(_GAPS) + draw(_values(depth)) for key in keys]
    return draw(_boxes("{", entries, "}"))


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A whole file: with a mark at its beginning or none, with either kind of line end."""
    text = draw(st.sampled_from(["", "\ufeff"])) + draw(_GAPS) + draw(objects(3)) + draw(_GAPS)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@st.composite
def settings_files(draw: st.DrawFn) -> str:
    """A file in which everything that we touch is of the kind that agents expect."""
    groups = st.lists(st.sampled_from(_GROUPS), max_size=2).flatmap(lambda entries: _boxes("[", entries, "]"))
    rules = st.lists(st.sampled_from(['"Bash(ls)"', '"Read"']), max_size=2).flatmap(lambda some: _boxes("[", some, "]"))
    kinds = {
        "mcpServers": st.lists(st.just('"other": {"command": "x"}'), max_size=1),
        "mcp": st.lists(st.just('"other": {"type": "local", "command": ["x"]}'), max_size=1),
        "hooks": st.lists(groups.map(lambda text: f'"Stop":{text}') | groups.map(lambda text: f'"AfterTool": {text}')),
        "permissions": st.lists(rules.map(lambda text: f'"allow": {text}') | st.just('"deny": []'), max_size=2),
        "statusLine": st.just(['"type": "command"', '"command": "~/mine.sh \\u0061 \'b\'"', '"padding": 0']),
        "theme": st.just(['"dark": true']),
    }
    entries = []
    for name in draw(st.lists(st.sampled_from(sorted(kinds)), unique=True)):
        box = draw(_boxes("{", draw(kinds[name]), "}"))
        entries.append(f'"{name}"{draw(_GAPS)}:{draw(_GAPS)}{box}')
    text = draw(st.sampled_from(["", "\ufeff"])) + draw(_boxes("{", entries, "}")) + draw(_GAPS)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@st.composite
def plain_documents(draw: st.DrawFn) -> tuple[str, Any]:
    """A file as a program writes it, and what it holds."""
    values = st.recursive(_SCALARS, lambda more: st.lists(more, max_size=3) | st.dictionaries(_KEYS, more, max_size=3))
    value = draw(st.dictionaries(_KEYS, values, max_size=4))
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    return text + draw(st.sampled_from(["", "\n", "\r\n"])), value
