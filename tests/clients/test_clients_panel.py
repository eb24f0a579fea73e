"""The plan above the prompt of Claude Code, drawn by a mod: live, editable, for the user, and gone with the program."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import punchlist
from tests.agent.commands import until
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import ROOT, SCRIPT, USUAL, Stage, built
from tests.clients.terminal import ENTER, Terminal, claude_code

pytestmark = pytest.mark.settings

MOD = Path(punchlist.__file__).parent / "hosts" / "claude_code" / "mod"
HOSTILE = "\x1b[31mred\x1b]0;t\x07 <Box>{x}</Box> ${HOME} $(touch pwned) \u202egnihton\u202c \"q' 日本語 👩‍👩‍👧"
LONG = "x" * 10_000


def make_plugin(folder: Path) -> Path:
    """A plugin with nothing but the mod and a script."""
    shutil.copytree(MOD, folder)
    for name in (".claude-plugin", "bin"):
        (folder / name).mkdir()
    manifest = {
        "name": "punchlist",
        "version": "1.0.0",
        "description": "The plan a coding agent works from",
        "author": {"name": "Punchlist"},
        "types": "./types/index.d.ts",
    }
    (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "hooks" / "hooks.json").write_text('{"modules": ["./pane.tsx"]}', encoding="utf-8")
    script = folder / "bin" / "punchlist"
    script.write_text(f'#!/bin/sh\nexec "{SCRIPT}" "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return folder


def watchers(stage: Stage) -> list[tuple[int, list[str]]]:
    """The processes that watch a plan for a panel on this stage."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_text(errors="replace").split("\0")
            is_here = f"HOME={stage.home}\0" in (path / "environ").read_text(errors="replace")
        except OSError:
            continue
        if is_here and "--size" in words and "watch" in words:
            found.append((int(path.name), words))
    return found


def kill_watcher(terminal: Terminal) -> list[str]:
    """Kill the one process that watches; what its command was."""
    found: list[tuple[int, list[str]]] = []

    def is_one() -> bool:
        found[:] = watchers(terminal.stage)
        return len(found) == 1

    terminal.awaits(is_one, "one watcher")
    os.kill(found[0][0], signal.SIGKILL)
    return found[0][1]


def authors(stage: Stage, *words: str) -> dict[str, str]:
    """Who made each change of the plan, by its first two words."""
    records = json.loads(stage.punchlist("log", "--json", *words))
    return {" ".join(change.split()[:2]): record["by"] for record in records for change in record["changes"]}


@contextmanager
def panel(stage: Stage, columns: int = 80, rows: int = 24, **settings: Any) -> Iterator[Terminal]:
    """Claude Code with the mod, attached to us, and a plan of three items."""
    with planned(stage, ["Read the parser", "Fix it", "Run the tests"], columns, rows) as terminal:
        terminal.shows("▶ 1 Read the parser", "0/3  Next: 2 Fix it")
        yield terminal


@contextmanager
def planned(stage: Stage, items: list[Any], columns: int, rows: int) -> Iterator[Terminal]:
    """The same with any plan."""
    with closing(stage.model):
        stage.agent.trust(stage.world)
        stage.punchlist("install", "claude-code", "--via", "settings")
        plugin = make_plugin(stage.home.parent / "plugin")
        with claude_code(stage, "--plugin-dir", str(plugin), columns=columns, rows=rows) as terminal:
            terminal.warm_up()
            terminal.talks("Plan the work on the parser.", does(plan(add=items)), says("Shall I begin?"))
            yield terminal


def command(terminal: Terminal, words: str) -> None:
    terminal.type(words)
    terminal.shows(words)
    terminal.type(ENTER)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return built("claude-code", tmp_path)


def test_claude_code_finds_nothing_wrong_with_the_mod_and_its_tests_pass(stage: Stage, tmp_path: Path) -> None:
    with closing(stage.model):
        plugin = make_plugin(tmp_path / "plugin")
        environ = {**stage.environ, **stage.agent.environ(stage.world, USUAL)}
        for words in (["validate", "--strict", str(plugin)], ["test", str(plugin)]):
            done = subprocess.run(
                [stage.world.program, "plugin", *words], env=environ, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
        assert " 0 fail" in done.stdout + done.stderr


def test_the_panel_is_live_and_what_is_typed_there_is_the_users_without_a_request(stage: Stage) -> None:
    with panel(stage, columns=110, rows=45) as terminal:
        stage.punchlist("done", "1")
        terminal.shows("1/3  Next: 2 Fix it")
        before = len(stage.requests)
        command(terminal, "/todo add Ask Ann")
        terminal.shows('added 4 "Ask Ann"', "1/4  Next: 2")
        command(terminal, "/todo")
        terminal.shows("Plan  ", "○ 2 Fix it", "○ 4 Ask Ann", "add: ")
        command(terminal, "/todo dnoe 2")
        terminal.shows("did you mean 'done'?")
        command(terminal, "/todo add --help $(touch pwned)")
        terminal.shows('added 5 "--help $(touch pwned)"')
        assert len(stage.requests) == before
        assert not (stage.project / "pwned").exists()
        assert stage.items[3:] == [("Ask Ann", "pending"), ("--help $(touch pwned)", "pending")]

        bare = f"env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID {SCRIPT}"
        busy = f"touch begun; while [ ! -e go ]; do sleep 0.1; done; {bare} start 2; exec {bare} rm 3"
        terminal.plays(does(shell(busy)), says("I have started it."))
        command(terminal, "Begin.")
        terminal.awaits((stage.project / "begun").exists, "the command")
        command(terminal, "/todo drop 4 she has answered")
        terminal.shows('dropped 4 "Ask Ann"')
        command(terminal, "/todo rm 5")
        terminal.shows("removed 5")
        (stage.project / "go").touch()
        terminal.shows("I have started it.", "▶ 2 Fix it")
        found = authors(stage)
        assert (found["dropped 4"], found["removed 5"], found["started 2"]) == ("user", "user", "main")
        assert len(stage.items) == 4, "the agent is not the user, however it starts the command"
    assert stage.errors == []


def pictured(name: str) -> list[str]:
    """The lines of a picture in docs/, without the prompt."""
    picture = ElementTree.parse(ROOT / "docs" / name).findtext("{http://www.w3.org/2000/svg}desc") or ""
    return [line.rstrip() for line in picture.splitlines() if line.strip("─❯")]


def test_the_pictures_of_the_panel_are_what_is_on_the_screen(stage: Stage) -> None:
    shown = runpy.run_path(str(ROOT / "docs" / "pictures.py"))["PANEL"]
    known = {"text", "phase", "needs"}
    items = [{key: value for key, value in item.items() if key in known} for item in shown["items"]]
    with planned(stage, items, columns=80, rows=45) as terminal:
        stage.punchlist("title", shown["title"])
        stage.punchlist("done", "1", "2")
        stage.punchlist("start", "3")
        stage.punchlist("block", "6", "--why", shown["items"][5]["reason"])
        terminal.shows(*pictured("panel.svg"))
        command(terminal, "/todo")
        terminal.shows(*pictured("panel-open.svg"))
    assert stage.errors == []


def test_a_narrow_screen_hostile_texts_and_many_items_do_no_harm(stage: Stage) -> None:
    with panel(stage, columns=60) as terminal:
        stage.punchlist("add", "--after", "1", "--", HOSTILE)
        terminal.shows("Next: 4 ")
        command(terminal, "/todo")
        terminal.shows("\ufffd[31mred", "\u2039Box>{x}\u2039/Box> ${HOME}")
        stage.punchlist("rename", "4", "--", LONG)
        terminal.shows("4 xxxxxxxx")
        stage.punchlist("add", *[f"Item {number}" for number in range(500)])
        terminal.shows("▶   1 Read the parser", "… 501 more", "0/504")
        rows = [line for line in terminal.lines if line.strip()]
        place = next(number for number, line in enumerate(rows) if line.startswith("Plan"))
        assert [line[:5] for line in rows[place + 1 : place + 4]] == ["▶   1", "○   4", "○   2"], "a line for each"
        assert not (stage.project / "pwned").exists()
    assert stage.errors == []


def test_a_watcher_that_dies_is_replaced_and_none_outlives_the_program(stage: Stage) -> None:
    with panel(stage) as terminal:
        words = kill_watcher(terminal)
        stage.punchlist("add", "Ask Ann")
        terminal.shows("0/4  Next: 2")
        script = stage.home.parent / "plugin" / "bin" / "punchlist"
        script.rename(script.with_name("away"))
        kill_watcher(terminal)
        terminal.awaits(lambda: "Next: 2" not in terminal.text, "an empty band: no plan is better than an old one")
        command(terminal, "/todo undo")
        terminal.shows("punchlist did not run")
        script.with_name("away").rename(script)
        terminal.shows("0/4  Next: 2")

        session = words[words.index("--session") + 1]
        command(terminal, "/clear")
        found: set[str] = set()

        def has_moved() -> bool:
            found.update(words[words.index("--session") + 1] for _, words in watchers(stage))
            return bool(found - {session})

        terminal.awaits(has_moved, "a watcher of the new session")
        terminal.shows("the plan came along", "▶ 1 Read the parser", "0/4  Next: 2")
        stage.punchlist("add", "After the clear", "--session", *(found - {session}))
        terminal.shows("0/5  Next: 2")
        terminal.resize(70, 24)
        terminal.awaits(lambda: "65x" in str(watchers(stage)) and "75x" not in str(watchers(stage)), "the new size")
        os.kill(terminal.pid, signal.SIGKILL)
    until(lambda: not watchers(stage), "all of them are gone")
    assert stage.errors == []


def test_without_mods_the_status_line_shows_the_plan(stage: Stage) -> None:
    with closing(stage.model):
        stage.agent.trust(stage.world)
        stage.punchlist("install", "claude-code", "--via", "settings")
        with claude_code(stage) as terminal:
            terminal.warm_up()
            made = does(plan(add=["Read the parser", "Fix it"]))
            terminal.talks("Plan the work on the parser.", made, says("Shall I begin?"))
            terminal.shows("▶ Read the parser 0/2")
            assert watchers(stage) == []
