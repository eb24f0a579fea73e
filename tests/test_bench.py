"""What `make bench` measures of the adapters: the same session for every list, and every adapter that there is."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import punchlist
from bench.frameworks import ROOT, script
from bench.frameworks.imports import NEEDS, adapters
from bench.frameworks.traffic import Tokens, spent

pytestmark = pytest.mark.once


def _roots(path: Path) -> Iterator[str]:
    """The packages that a file imports, beside the standard library and ours."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            root = name.partition(".")[0]
            if root not in sys.stdlib_module_names and root != "punchlist":
                yield root


def test_the_import_of_every_adapter_is_measured_after_parts_of_its_own_framework() -> None:
    for name in adapters(ROOT / "src"):
        imported = set(_roots(ROOT / "src" / "punchlist" / "adapters" / f"{name}.py"))
        assert {needed.partition(":")[0].partition(".")[0] for needed in NEEDS[name]} <= imported, name


@pytest.mark.parametrize("planner", [script.punchlist, script.write_todos, script.planning, script.write_plan])
def test_every_list_is_made_once_and_finished_item_by_item(planner: script.Planner) -> None:
    steps = script.steps(planner)
    kinds = "".join("p" if step.is_plan else "w" if step.tool else "." for step in steps)
    assert kinds == "p" + "wp" * script.SIZE + "."
    assert [step for step in steps if not step.is_plan] == script.steps(None)


def test_the_calls_of_the_plan_finish_it() -> None:
    with punchlist.open("memory:", session="s") as desk:
        for step in script.steps(script.punchlist):
            if step.is_plan:
                assert not desk.call(step.tool, step.args).is_error
        assert desk.plan.progress.completed == script.SIZE
        assert not desk.plan.open_items


def test_what_is_at_the_beginning_of_the_request_before_is_not_new() -> None:
    grows = spent([["tools", "one"], ["tools", "one", "three"]], [], len)
    assert grows == Tokens(read=8 + 13, new=8 + 5, written=0)
    changes = spent([["tools", "one", "note"], ["tools", "one", "three", "note"]], [], len)
    assert changes.new == 12 + 5 + 4


def test_what_the_model_writes_is_counted_and_what_it_would_write_anyway_can_be_taken_off() -> None:
    without = spent([["x"]], script.steps(None), len)
    ours = spent([["x"], ["x", "yy"]], script.steps(script.punchlist), len)
    theirs = spent([["x"], ["x", "yy"]], script.steps(script.write_todos), len)
    assert 0 < without.written < ours.written < theirs.written
    assert ours.over(without) == Tokens(3, 2, ours.written - without.written)
