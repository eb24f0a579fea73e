"""It never gets in the way: with a store that is broken or locked, switched off, and taken out again."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from punchlist.prompts import say
from tests.clients.model import our_tool
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import SCRIPT, SECONDS, Stage


def test_a_broken_store_disturbs_nobody(stage: Stage) -> None:
    store = stage.home / "state" / "punchlist" / "punchlist.db"
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_bytes(b"not a database at all, but long enough to be taken for one" * 100)
    stage.run(
        "Mend the parser.",
        does(plan(add=["Read the parser", "Mend it"])),
        does(shell("echo mending")),
        says("That is all."),
    )
    assert "punchlist.db" in stage.requests[1].latest, "the answer says what is wrong"
    assert "mending" in stage.requests[2].latest
    assert len(stage.errors) >= 4
    assert all(line.startswith(f"hook {stage.name}: StoreError: ") for line in stage.errors)


def test_a_locked_store_disturbs_nobody(stage: Stage) -> None:
    locks: list[sqlite3.Connection] = []

    def lock() -> None:
        store = stage.home / "state" / "punchlist" / "punchlist.db"
        locks.append(sqlite3.connect(store, check_same_thread=False))
        locks[0].execute("begin exclusive")

    stage.run(
        "Mend the parser.",
        does(plan(add=["Read the parser", "Mend it"])),
        does(shell("echo reading"), first=lock),
        does(plan(done=[1]), first=lambda: locks[0].close()),
        says("Is that all?"),
    )
    assert "reading" in stage.requests[2].latest
    assert stage.items == [("Read the parser", "completed"), ("Mend it", "in_progress")]
    [fault] = stage.errors
    assert "locked" in fault


def test_an_interpreter_that_is_gone_disturbs_nobody(stage: Stage) -> None:
    gone = stage.home / "gone" / "punchlist"
    gone.parent.mkdir()
    gone.write_text("#!/nowhere/bin/python\n")
    gone.chmod(0o755)
    for name in stage.files():
        path = stage.home.parent / name
        if path.suffix in (".json", ".toml") and "state" not in path.parts:
            path.write_text(path.read_text().replace(SCRIPT, str(gone)))
    stage.model.play({"": [does(shell("echo mending")), says("That is all.")]})
    process = stage.start("Mend the parser.")
    said = "".join(process.communicate(timeout=SECONDS))
    stage.require_played()
    assert (process.returncode, "mending" in stage.requests[1].latest) == (0, True)
    assert [word for word in ("cannot execute", "Hook system message") if word in said] == []


def test_switched_off_it_is_silent_and_has_no_tool(stage: Stage) -> None:
    stage.punchlist("off")
    stage.run("Mend the parser.", does(shell("echo mending")), says("So far."))
    first = stage.requests[0]
    assert our_tool(first.offers) is None
    assert say("mcp") not in str(first.body)
    stage.punchlist("on")
    stage.run("Go on.", does(plan(add=["Mend it"])), says("Is that all?", first=lambda: stage.punchlist("off")))
    stage.run("Go on.", does(shell("echo mended")), says("It goes on."), resume=True)
    assert (stage.events, stage.errors) == (["toggle"] * 3, [])
    assert "calls" not in stage.plan["items"][0]


def test_what_was_installed_is_taken_out_without_a_trace(bare: Stage) -> None:
    for name, text in bare.agent.SETTINGS.items():
        (bare.home / name).parent.mkdir(exist_ok=True)
        (bare.home / name).write_text(text.replace("$PROJECT", str(bare.project)), encoding="utf-8")
    before = bare.files()
    bare.punchlist("install", bare.name, "--via", "settings")
    assert bare.files() != before
    bare.run("Mend the parser.", does(plan(add=["Mend it"])), does(plan(done=[1])), says("That is all."))
    bare.punchlist("uninstall", bare.name)
    after = bare.files()
    for name, data in before.items():
        if after[name] != data:
            assert _theirs(after[name]) == _theirs(data), name
            assert name == "home/.claude.json", "only Claude Code writes into its own"


def _theirs(data: bytes) -> Any:
    """A file of Claude Code's, of which only the servers concern us."""
    return json.loads(data).get("mcpServers")
