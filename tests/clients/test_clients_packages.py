"""Packages that agents install with their own commands: checked by the agent's own tools, on the screen, beside our
settings, and removed again. Every other scenario is played with them by `make packaged-clients`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from punchlist import __version__
from tests.clients.agents import claude_code
from tests.clients.model import our_tool
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import ROOT, Stage, staged
from tests.clients.terminal import claude_code as terminal_of_claude_code

pytestmark = pytest.mark.settings  # once is enough
PACKAGED = ["claude-code", "codex", "gemini"]
REMOVED = {
    "claude-code": [["plugin", "uninstall", "punchlist@punchlist"], ["plugin", "marketplace", "remove", "punchlist"]],
    "codex": [["plugin", "remove", "punchlist@punchlist"], ["plugin", "marketplace", "remove", "punchlist"]],
    "gemini": [["extensions", "uninstall", "punchlist"]],
}
QUESTION = says("Which one do you want?")


@pytest.mark.parametrize("name", PACKAGED)
def test_a_package_that_was_removed_leaves_the_next_session_without_us(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        stage.install_package()
        stage.run("Mend the parser.", does(plan(add=["Read it", "Mend it"])), QUESTION)
        assert our_tool(stage.requests[0].offers)
        for words in REMOVED[name]:
            stage.program(*words)
        stage.run("Mend the parser.", does(shell("echo on")), says("I have looked at it."))
        assert our_tool(stage.requests[0].offers) is None
        assert "plan is not finished" not in stage.requests[-1].heard
        assert stage.items == [("Read it", "in_progress"), ("Mend it", "pending")], "plans stay"
        assert stage.errors == []


@pytest.mark.parametrize("name", PACKAGED)
def test_beside_settings_of_ours_a_package_is_silent(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        stage.install_package()
        stage.punchlist("install", name)
        steps = [does(plan(add=["Read it", "Mend it"])), does(plan(done=[1])), says("It is read.")]
        stage.run("Mend the parser.", *steps, QUESTION)
        ours = [offer.name for offer in stage.requests[0].offers if "punchlist" in offer.name + offer.space]
        assert len(ours) == 1, "the model has one list"
        assert str(stage.requests[-1].heard).count("The plan is not finished") == 1, "it is nudged once"
        assert stage.events == ["nudge", "stop"]
        assert stage.errors == []


@pytest.mark.parametrize("name", ["claude-code", "codex"])  # Gemini CLI asks a question before it updates anything
def test_the_command_that_a_package_names_for_an_upgrade_updates_it(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        stage.install_package()
        (vendor,) = stage.home.rglob("plugins/cache/*/*/*/vendor")
        code = "from punchlist.local.origin import upgrade_command; print(upgrade_command())"
        asked = [sys.executable, "-S", "-c", code]
        command = subprocess.run(asked, env={"PYTHONPATH": str(vendor)}, capture_output=True, text=True, check=True)
        for manifest in (tmp_path / "packages" / "punchlist").glob(".*-plugin/plugin.json"):
            manifest.write_text(manifest.read_text().replace(__version__, "9.9.9"))
        for part in command.stdout.strip().split(" && "):
            stage.program(*part.split()[1:])
        assert list(stage.home.rglob("plugins/cache/*/*/9.9.9/vendor"))


def test_claude_code_finds_nothing_wrong_with_the_plugin_and_its_tests_pass(tmp_path: Path) -> None:
    with staged("claude-code", tmp_path) as stage:
        plugin = str(ROOT / "packages" / "punchlist")
        stage.program("plugin", "validate", "--strict", plugin)
        stage.program("plugin", "validate", "--strict", str(ROOT))
        stage.program("plugin", "test", plugin)


def test_the_plugin_shows_the_plan_on_the_screen_of_claude_code(tmp_path: Path) -> None:
    with staged("claude-code", tmp_path, own_strays=True) as stage:
        stage.agent.trust(stage.world)
        stage.install_package()
        with terminal_of_claude_code(stage, columns=80, rows=24) as terminal:
            terminal.warm_up()
            made = does(plan(add=["Read the parser", "Fix it", "Run the tests"]))
            terminal.talks("Plan the work on the parser.", made, says("Shall I begin?"))
            terminal.shows("▶ 1 Read the parser", "0/3  Next: 2 Fix it")
            stage.punchlist("done", "1")
            terminal.shows("1/3  Next: 2 Fix it")
        assert stage.errors == []


def test_a_plugin_whose_cache_was_deleted_does_not_disturb_claude_code(tmp_path: Path) -> None:
    with staged("claude-code", tmp_path) as stage:
        stage.install_package()
        shutil.rmtree(stage.home / ".claude" / "plugins" / "cache")
        stage.run("Mend the parser.", does(shell("echo on")), says("I have looked at it."))


def installed(stage: Stage) -> list[str]:
    return [one["id"] for one in json.loads(stage.program("plugin", "list", "--json"))]


def test_an_uninstall_while_a_session_runs_lets_it_end_well(tmp_path: Path) -> None:
    with staged("claude-code", tmp_path) as stage:
        stage.install_package()
        assert installed(stage) == ["punchlist@punchlist"]

        def remove() -> None:
            for words in REMOVED["claude-code"]:
                stage.program(*words)

        steps = [does(plan(add=["Read it"])), does(shell("echo on"), first=remove), does(plan(done=[1]))]
        stage.run("Mend the parser.", *steps, says("It is read."), setup=claude_code.OWN)
        assert stage.items == [("Read it", "completed")]
        assert installed(stage) == []
