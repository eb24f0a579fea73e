"""The public interface: every name has a docstring that reads well in a hover window, its examples give what they say,
and docs/python.md names it."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import punchlist
from punchlist import Desk, aio, codec, ops, render
from punchlist.core import find
from punchlist.core.model import Closing, Progress

pytestmark = pytest.mark.once

PAGE = (Path(__file__).parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
PUBLIC = {name: getattr(punchlist, name) for name in punchlist.__all__}
VALUES = [*[value for value in PUBLIC.values() if hasattr(value, "_fields")], Closing, Progress]
WITH_EXAMPLE = """
    open Desk.call Desk.change Desk.plan Desk.load Desk.follow Desk.import_plan Desk.export_plan Desk.undo Desk.tools
    Desk.system_prompt Desk.started Desk.prompted Desk.before_request Desk.tool_used Desk.turn_ended Desk.on_pause
    ops.add ops.start ops.complete ops.resolve
"""


def members(name: str, owner: type | ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions, methods and properties that are defined in a class or module."""
    for key, value in vars(owner).items():
        is_own = inspect.isfunction(value) and value.__module__ == (getattr(owner, "__module__", owner.__name__))
        if not key.startswith("_") and (is_own or isinstance(value, property)):
            yield f"{name}.{key}", value


def shown(name: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the functions of a module that docs/python.md shows."""
    for key in sorted(set(re.findall(rf"\b{name}\.(\w+)", PAGE))):
        yield f"{name}.{key}", getattr(module, key)


DOCUMENTED: dict[str, Any] = {
    **PUBLIC,
    **dict(members("Desk", Desk)),
    **dict(members("aio", aio)),
    **dict(members("aio.Desk", aio.Desk)),
    **dict(members("ops", ops)),
    **{f"ops.{one.rpartition('.')[2]}": value for one, value in members("find", find) if hasattr(ops, one[5:])},
    **dict(shown("render", render)),
    **dict(shown("codec", codec)),
    **{name: value for owner in VALUES for name, value in members(owner.__name__, owner)},
}


def examples(doc: str) -> list[str]:
    """The indented blocks of a docstring."""
    blocks = re.findall(r"(?:^ {4}.*\n?)+", inspect.cleandoc(doc), re.M)
    return [textwrap.dedent(block) for block in blocks]


def run(code: str, names: dict[str, Any]) -> int:
    """Run an example. A comment behind an expression is what it gives or, for `print`, prints: return how many are."""
    checked = 0
    for node in ast.parse(code).body:
        if not isinstance(node, ast.Expr):
            made = eval(compile(ast.Module([node], []), "<example>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
            if inspect.iscoroutine(made):
                asyncio.run(made)
            continue
        last = code.splitlines()[(node.end_lineno or 0) - 1]
        said = last.encode()[node.end_col_offset or 0 :].decode().strip().removeprefix("#").strip()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            value = eval(compile(ast.Expression(node.value), "<example>", "eval"), names)
        if said:
            assert said == (printed.getvalue().strip() or repr(value))
            checked += 1
    return checked


def namespace() -> dict[str, Any]:
    desk = punchlist.open("memory:", session="s1")
    desk.call("plan", {"add": ["Read the parser", "Run the tests"]})
    return {"punchlist": punchlist, "ops": ops, "desk": desk, "plan": desk.plan}


def fields(owner: type) -> dict[str, str]:
    """The text below each field of a class, as an editor shows it."""
    (made,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(made, ast.ClassDef)
    found = {}
    for node, below in zip(made.body, [*made.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            found[node.target.id] = str(below.value.value) if is_text else ""  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_public_name_has_a_docstring_whose_first_line_is_a_sentence(name: str) -> None:
    doc = vars(DOCUMENTED[name]).get("__doc__") if isinstance(DOCUMENTED[name], type) else DOCUMENTED[name].__doc__
    assert doc, f"{name} has no docstring"
    first, *more = inspect.cleandoc(doc).splitlines()
    assert first.endswith("."), f"{name}: {first}"
    assert not more or not more[0], f"{name}: an empty line follows the first"


def test_the_interface_was_found() -> None:
    found = {"open", "Desk.call", "Desk.plan", "aio.open", "aio.Desk.follow", "ops.add", "render.line", "codec.to_json"}
    assert found <= set(DOCUMENTED)
    assert {"Item.label", "Plan.progress", "Stop.text"} <= set(DOCUMENTED)
    assert {name.removeprefix("aio.") for name in DOCUMENTED if name.startswith("aio.Desk.")} >= {
        name for name in DOCUMENTED if name.startswith("Desk.")
    }


@pytest.mark.parametrize("owner", VALUES)
def test_every_field_of_a_value_is_described(owner: Any) -> None:
    found = fields(owner)
    assert tuple(found) == owner._fields
    assert [name for name, text in found.items() if not text.endswith(".")] == []


@pytest.mark.parametrize("name", WITH_EXAMPLE.split())
def test_what_is_used_most_has_an_example(name: str) -> None:
    assert examples(DOCUMENTED[name].__doc__)


@pytest.mark.parametrize("name", [name for name in DOCUMENTED if examples(DOCUMENTED[name].__doc__ or "")])
def test_an_example_gives_what_it_says(name: str, own_folder: Path) -> None:
    for code in examples(DOCUMENTED[name].__doc__):
        run(code, namespace())


def test_an_example_that_says_something_wrong_is_found() -> None:
    assert run("desk.plan.revision  # 1\nprint('ö')  # ö\nplan.revision", namespace()) == 2
    with pytest.raises(AssertionError):
        run("desk.plan.revision  # 2", namespace())
    with pytest.raises(AttributeError):
        run("desk.plans", namespace())


@pytest.mark.parametrize("name", punchlist.__all__)
def test_the_page_about_python_names_every_public_name(name: str) -> None:
    table = PAGE.partition("## Every public name")[2]
    assert f"`{name}`" in "".join(re.findall(r"(?m)^\| (`.*?) \|", table)), f"{name} is missing in the table"
