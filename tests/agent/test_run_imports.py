"""An import or a restore by the user in the middle of a session of `run`: told once, protected, and behind the edits
before it that were not told yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from punchlist import Desk
from punchlist.stores import open_store
from tests.agent.commands import script, transcripts
from tests.agent.contexts import call, turn
from tests.agent.terminal import Terminal
from tests.commands import SCRIPT, run


def todos(*texts: str) -> dict[str, Any]:
    made = [{"content": text, "activeForm": f"{text}, now", "status": "pending"} for text in texts]
    return call("TodoWrite", todos=made)


def numbered(*texts: str) -> dict[str, Any]:
    made = [{"id": text, "content": text, "status": "pending"} for text in texts]
    return call("todo_write", todos=made)


def phased(*texts: str) -> dict[str, Any]:
    return call("todo_write", ops=[{"op": "init", "list": [{"phase": "All", "items": list(texts)}]}])


LISTS = {"claude-code": todos, "gencode": todos, "llxprt": numbered, "oh-my-pi": phased}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "list.md").write_text("- [ ] Measure\n- [ ] Read\n")
    return folder


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Any]:
    opened: list[Terminal] = []

    def begin(dialect: str, *turns: dict[str, Any]) -> Terminal:
        model = script(tmp_path, *turns)
        terminal = Terminal(SCRIPT, "run", "--dialect", dialect, "--model", model, rows=60, columns=140)
        opened.append(terminal)
        terminal.wait_for("/help lists the commands.")
        terminal.enter("make a plan")
        terminal.wait_for("Which one?")
        return terminal

    yield begin
    for terminal in opened:
        terminal.close()


def texts() -> list[str]:
    desk = Desk(open_store(f"sqlite:{Path.home() / 'punchlist' / 'punchlist.db'}"))
    with desk:
        return [item.text for item in desk.plan.items]


def session(tmp_path: Path) -> str:
    (path,) = transcripts(tmp_path / "home")
    return path.stem


@pytest.mark.parametrize("dialect", LISTS)
def test_a_list_that_the_user_imports_is_told_and_stays_and_so_does_an_edit_before_it(talk: Any, dialect: str) -> None:
    listed = LISTS[dialect]
    told = ['The user renamed "Write" to "Write it down"', "The user replaced the list", '"Measure"', '"Read"']
    terminal = talk(
        dialect,
        turn(listed("Read", "Write")),
        turn(text="Which one?"),
        turn(listed("Read", "Write"), expect=told),
        turn(text="So be it?", absent=["The user replaced the list"]),
    )
    assert run("rename", "Write", "Write it down").returncode == 0
    terminal.enter("/todo import list.md")
    terminal.wait_for("the plan now holds 2 items.")
    terminal.enter("go on")
    terminal.wait_for("So be it?")
    assert texts() == ["Measure", "Read"]


@pytest.mark.parametrize("dialect", LISTS)
def test_a_list_that_the_user_restores_is_told_and_stays_and_so_does_an_edit_before_it(
    talk: Any, tmp_path: Path, dialect: str
) -> None:
    listed = LISTS[dialect]
    told = ['The user added "Test"', "The user replaced the list", '"Read"']
    terminal = talk(
        dialect,
        turn(listed("Read")),
        turn(listed("Read", "Write")),
        turn(text="Which one?"),
        turn(listed("Read", "Write"), expect=told),
        turn(text="So be it?", absent=["The user replaced the list"]),
    )
    terminal.enter("/todo append Test")
    terminal.wait_for('added 3 "Test".')
    assert run("restore", "1", "--session", session(tmp_path)).returncode == 0
    terminal.enter("go on")
    terminal.wait_for("So be it?")
    assert texts() == ["Read"]


def test_the_plan_tool_cannot_bring_back_what_an_import_took_away(talk: Any) -> None:
    told = ['The user completed 1 "Read"', "The user replaced the list; it is now: 3", '"Measure"']
    terminal = talk(
        "native",
        turn(call("plan", add=["Read", "Write"])),
        turn(text="Which one?"),
        turn(call("plan", done=[2]), expect=told),
        turn(text="So be it?", expect=["2"]),
    )
    terminal.enter("/todo done Read")
    terminal.wait_for('completed 1 "Read".')
    terminal.enter("/todo import list.md")
    terminal.wait_for("the plan now holds 2 items.")
    terminal.enter("go on")
    terminal.wait_for("So be it?")
    assert texts() == ["Measure", "Read"]
