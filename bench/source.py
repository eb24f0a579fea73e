"""What the source says about itself: its functions, branches, types, names and tables, read without running it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import punchlist

ROOT = Path(punchlist.__file__).parent
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case, ast.BoolOp)
DISPLAYS = (ast.Dict, ast.Tuple, ast.List, ast.Set)


class Source(NamedTuple):
    """One file."""

    path: str  # below the package
    lines: list[str]
    tree: ast.Module

    @property
    def room(self) -> str:
        return self.path.partition("/")[0]

    @property
    def written(self) -> int:
        """Lines that are not blank."""
        return sum(1 for line in self.lines if line.strip())


class Function(NamedTuple):
    """One function: where it is, its lines without blank ones and docstring, and its branches."""

    place: str
    name: str
    lines: int
    branches: int

    @property
    def is_dense(self) -> bool:
        return self.branches * 2 > self.lines


def read_all() -> list[Source]:
    """Return every file of the package."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text("utf-8")
        found.append(Source(str(path.relative_to(ROOT)), text.splitlines(), ast.parse(text)))
    return found


def functions(source: Source) -> Iterator[Function]:
    for node in ast.walk(source.tree):
        if isinstance(node, DEFINITIONS):
            lines = _written(source, node)
            if ast.get_docstring(node) is not None:
                lines -= _written(source, node.body[0])
            yield Function(f"{source.path}:{node.lineno}", node.name, lines, _branches(node))


def _written(source: Source, node: ast.stmt) -> int:
    return sum(1 for line in source.lines[node.lineno - 1 : node.end_lineno] if line.strip())


def _branches(node: ast.AST) -> int:
    """Count ifs, conditional expressions, loops, handlers and cases, conditions of comprehensions, and each chain of
    `and` or `or` once. A function inside is counted by itself."""
    count = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*DEFINITIONS, ast.ClassDef)):
            continue
        count += _branches(child) + isinstance(child, BRANCHES)
        if isinstance(child, ast.comprehension):
            count += len(child.ifs)
    return count


def conditional_expressions(source: Source) -> int:
    return sum(isinstance(node, ast.IfExp) for node in ast.walk(source.tree))


def loose_modules(sources: Sequence[Source]) -> list[str]:
    """Modules beside the rooms; `testing` is for people who test with the package."""
    expected = ("__init__.py", "__main__.py", "testing.py")
    return [source.path for source in sources if "/" not in source.path and source.path not in expected]


def repeated_types(sources: Sequence[Source]) -> dict[str, list[str]]:
    """Classes of one name that are defined more than once, with their places."""
    places = defaultdict(list)
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{source.path}:{node.lineno}")
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def mentions(sources: Sequence[Source], names: Sequence[str]) -> dict[str, list[str]]:
    """For each name the files that have it as a text of its own, other than in a table with several of these names."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for source in sources:
        for text in _texts_outside_tables(source.tree, names):
            if text in found and source.path not in found[text]:
                found[text].append(source.path)
    return found


def _texts_outside_tables(node: ast.AST, names: Sequence[str]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DISPLAYS) and len(_known(child, names)) > 1:
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        yield from _texts_outside_tables(child, names)


def _known(display: ast.AST, names: Sequence[str]) -> set[str]:
    """The names that are keys or elements of a display, or the first argument of a call in it."""
    parts = list(ast.iter_child_nodes(display))
    parts += [part.args[0] for part in parts if isinstance(part, ast.Call) and part.args]
    return {name for name in names for part in parts if isinstance(part, ast.Constant) and part.value == name}


def tables(sources: Sequence[Source], names: Sequence[str], fewest: int) -> list[str]:
    """The places of displays with at least so many of these names."""
    return [
        f"{source.path}:{node.lineno}"
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, DISPLAYS) and len(_known(node, names)) >= fewest
    ]


def rooms_named(sources: Sequence[Source], name: str) -> set[str]:
    """The rooms with a file or a folder of this name, apart from tool schemas and looks that are called so."""
    stem = name.replace("-", "_")
    named = [source for source in sources if stem in source.path.removesuffix(".py").split("/")]
    return {source.room for source in named if not source.path.startswith(("dialects/", "tui/styles/"))}
