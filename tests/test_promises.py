"""Every statement of the documents that we unify has a test that proves it, or a reason why we decided otherwise."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest

from docs.reference import dialect_of, read_promises

pytestmark = pytest.mark.once

TESTS = Path(__file__).parent
ROWS = [
    pytest.param(document, proof, id=f"{document} {id}")
    for document, rows in read_promises().items()
    for id, _, proof in rows
]


@cache
def _functions(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@cache
def _vectors(dialect: str) -> frozenset[str]:
    """Return the names of the dialect's own cases, and of those in files for several dialects."""
    found = set()
    for path in (TESTS / "vectors").glob("*.json"):
        for case in json.loads(path.read_text(encoding="utf-8")):
            if case.get("dialect", path.stem) == dialect:
                found.add(case["name"])
    return frozenset(found)


@cache
def _guidance(dialect: str) -> frozenset[str]:
    return frozenset(json.loads((TESTS / "dialects/guidance.json").read_text(encoding="utf-8"))[dialect])


def _exists(dialect: str, proof: str) -> bool:
    kind, _, name = proof.partition(": ")
    if kind == "vector":
        return name in _vectors(dialect)
    if kind == "guidance":
        return name in _guidance(dialect)
    file, _, function = proof.partition("::")
    return (TESTS / file).is_file() and function in _functions(file)


@pytest.mark.parametrize(("document", "proof"), ROWS)
def test_a_promise_is_proved_or_was_decided_otherwise(document: str, proof: str) -> None:
    kind, _, why = proof.partition(": ")
    if kind == "decided":
        assert why
    else:
        assert [one for one in proof.split(" | ") if not _exists(dialect_of(document), one)] == []


def test_every_statement_is_listed_once() -> None:
    counts = {document: len(rows) for document, rows in read_promises().items()}
    assert counts == {"claude-code": 183, "gencode": 55, "oh-my-pi": 95, "llxprt-write": 25, "llxprt-pause": 58}
    for rows in read_promises().values():
        assert len({id for id, _, _ in rows}) == len(rows)
