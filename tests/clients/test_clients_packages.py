"""Packages that agents install with their own commands: checked by the agent's own tools, on the screen, beside our
settings, and removed again. Every other scenario is played with them by `make packaged-clients`."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from punchlist import __version__
from punchlist.install import installer_for
from tests.clients.agents import OTHERS, claude_code, codex, gemini
from tests.clients.git_server import served
from tests.clients.model import our_tool
from tests.clients.script import does, plan, says, shell
from tests.clients.stage import ROOT, SCRIPT, Stage, built, staged
from tests.clients.terminal import claude_code as terminal_of_claude_code
from tests.clients.test_clients_panels import SCREENS, asked, watchers

pytestmark = pytest.mark.settings  # once is enough
PACKAGED = ["claude-code", "codex", "gemini", "opencode", "oh-my-pi"]
REMOVED = {
    "claude-code": [["plugin", "uninstall", "punchlist@punchlist"], ["plugin", "marketplace", "remove", "punchlist"]],
    "codex": [["plugin", "remove", "punchlist@punchlist"], ["plugin", "marketplace", "remove", "punchlist"]],
    "gemini": [["extensions", "uninstall", "punchlist"]],
    "oh-my-pi": [["plugin", "uninstall", "punchlist-oh-my-pi"]],
}
QUESTION = says("Which one do you want?")


@contextmanager
def packaged(name: str, folder: Path) -> Iterator[Stage]:
    """An agent with our package. Two ask for things of their own elsewhere; the proxy refuses that."""
    if name in OTHERS:
        stage = built(name, folder)
        with closing(stage.model):
            stage.install_package()
            yield stage
    else:
        with staged(name, folder, own_strays=True) as stage:
            stage.install_package()
            yield stage


def remove(stage: Stage) -> None:
    """Remove the package as a user does. opencode has no command for it: its lines are taken out of the settings."""
    for words in REMOVED.get(stage.name, []):
        stage.program(*words)
    if stage.name == "opencode":
        for file in ("opencode.jsonc", "tui.json"):
            path = stage.home / "config" / "opencode" / file
            known = json.loads(path.read_text(encoding="utf-8"))
            assert known.pop("plugin") == [str(stage.home.parent / "packages" / "opencode")]
            path.write_text(json.dumps(known), encoding="utf-8")


@pytest.mark.parametrize("name", PACKAGED)
def test_a_package_that_was_removed_leaves_the_next_session_without_us(name: str, tmp_path: Path) -> None:
    with packaged(name, tmp_path) as stage:
        stage.run("Mend the parser.", does(plan(add=["Read it", "Mend it"])), QUESTION)
        assert our_tool(stage.requests[0].offers)
        remove(stage)
        stage.run("Mend the parser.", does(shell("echo on")), says("I have looked at it."))
        assert our_tool(stage.requests[0].offers) is None
        assert "plan is not finished" not in stage.requests[-1].heard
        assert stage.items == [("Read it", "in_progress"), ("Mend it", "pending")], "plans stay"
        assert stage.errors == []


@pytest.mark.parametrize("name", PACKAGED)
def test_beside_settings_of_ours_a_package_is_silent(name: str, tmp_path: Path) -> None:
    with packaged(name, tmp_path) as stage:
        stage.punchlist("install", name, "--via", "settings")
        steps = [does(plan(add=["Read it", "Mend it"])), does(plan(done=[1])), says("It is read.")]
        if name == "opencode":  # which cannot be nudged without its terminal
            del steps[-1]
        stage.run("Mend the parser.", *steps, QUESTION)
        ours = [offer.name for offer in stage.requests[0].offers if "punchlist" in offer.name + offer.space]
        assert len(ours) == 1, "the model has one list"
        nudges = [] if name == "opencode" else ["nudge"]
        assert str(stage.requests[-1].heard).count("The plan is not finished") == len(nudges), "it is nudged once"
        assert stage.events == [*nudges, "stop"]
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


@pytest.mark.parametrize("name", SCREENS)
def test_beside_settings_of_ours_there_is_one_panel_and_one_nudge_on_the_screen(name: str, tmp_path: Path) -> None:
    with packaged(name, tmp_path) as stage:
        stage.punchlist("install", name, "--via", "settings")
        screen = SCREENS[name]
        with screen.open(stage, *screen.wide) as terminal:
            steps = [does(plan(add=["Read it", "Mend it"])), does(plan(done=[1])), says("It is read.")]
            asked(terminal, "Mend the parser.", *steps, QUESTION)
            terminal.shows("Plan 1/2", "▶ 2 Mend it", "Which one do you want?")
            terminal.awaits(lambda: "stop" in terminal.decisions, "the end of the turn")
            assert terminal.decisions == ["nudge", "stop"]
            assert terminal.text.count("Plan 1/2") == 1
            assert len(watchers(terminal)) == 1
        assert (stage.model.unplayed, stage.errors) == (0, [])


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


def test_gemini_installs_the_extension_from_the_address_of_a_repository(tmp_path: Path) -> None:
    with staged("gemini", tmp_path, own_strays=True) as stage:
        folder = tmp_path / "served" / "punchlist"
        shutil.copytree(ROOT / "packages" / "gemini", folder / "packages" / "gemini")
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "Version 1")
        git(folder, "branch", "gemini", git(folder, "commit-tree", "-m", "1", "HEAD:packages/gemini"))
        gemini.allow(stage.world)
        with served(folder.parent) as address:
            words = ["extensions", "install", f"{address}/punchlist/.git", "--ref", "gemini"]
            stage.program(*words, "--consent", "--skip-settings")
        stage.run("Mend the parser.", does(plan(add=["Read it", "Mend it"])), says("It is read."), QUESTION)
        assert our_tool(stage.requests[0].offers)
        assert (stage.events, stage.errors) == (["nudge", "stop"], [])
        stage.program(*REMOVED["gemini"][0])
        assert not [file for file in stage.files() if "extensions/punchlist" in file]


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


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


# --- `punchlist install` by the agent's own commands -----------------------------------------------------------------

LINKED = ["claude-code", "codex"]
OWN_FILES = {"claude-code": ".claude/settings.json", "codex": ".codex/config.toml"}


def with_own_settings(stage: Stage) -> bytes:
    """Give the user settings; the bytes of the file that the agent's command changes."""
    for name, text in stage.agent.SETTINGS.items():
        (stage.home / name).parent.mkdir(exist_ok=True)
        (stage.home / name).write_text(text.replace("$PROJECT", str(stage.project)), encoding="utf-8")
    return own_file(stage).read_bytes()


def own_file(stage: Stage) -> Path:
    return stage.home / OWN_FILES[stage.name]


def kept(stage: Stage) -> list[str]:
    """What we keep about installations, and what an agent keeps of ours."""
    state = stage.home / "state" / "punchlist"
    folders = [state / "packages", state / "install", state / "hooks", *stage.home.glob(".*/plugins/cache")]
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(stage.home)) for path in found if path.name != "lock")


@pytest.mark.parametrize("name", LINKED)
def test_install_uses_the_agent_s_own_command_and_uninstall_leaves_nothing(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        before = with_own_settings(stage)
        said = stage.punchlist("install", name)
        assert "by its own commands:\n" in said
        assert own_file(stage).read_bytes() != before
        assert "nothing had to be changed" in stage.punchlist("install", name)
        steps = [does(plan(add=["Read it", "Mend it"])), does(plan(done=[1])), says("It is read.")]
        stage.run("Mend the parser.", *steps, QUESTION)
        assert our_tool(stage.requests[0].offers)
        assert str(stage.requests[-1].heard).count("The plan is not finished") == 1
        assert stage.items == [("Read it", "completed"), ("Mend it", "in_progress")]
        assert stage.errors == []
        stage.punchlist("uninstall", name)
        assert own_file(stage).read_bytes() == before
        assert kept(stage) == []
        stage.run("Hello.", says("Hello?"))
        assert our_tool(stage.requests[0].offers) is None
        assert "was not attached" in stage.punchlist("uninstall", name)


@pytest.mark.parametrize("order", [("package", "settings"), ("settings", "package")])
@pytest.mark.parametrize("name", LINKED)
def test_attached_in_both_ways_doctor_says_so_and_both_are_taken_back(
    name: str, order: tuple[str, str], tmp_path: Path
) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        before = with_own_settings(stage)
        for way in order:
            said = stage.punchlist("install", name, "--via", way)
        assert "keeps silent" in said
        checks = json.loads(doctor(stage))["checks"]
        both = [check["fix"] for check in checks if "both the package and the settings are attached" in check["text"]]
        assert both == [f"punchlist uninstall {name} --via settings, or: --via package"]
        stage.punchlist("uninstall", name)
        assert own_file(stage).read_bytes() == before
        assert kept(stage) == []


@pytest.mark.parametrize("name", LINKED)
def test_of_two_ways_one_can_be_taken_back_alone(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        stage.punchlist("install", name)
        stage.punchlist("install", name, "--via", "settings")
        stage.punchlist("uninstall", name, "--via", "settings")
        assert not [check for check in json.loads(doctor(stage))["checks"] if "both" in check["text"]]
        stage.run("Mend the parser.", does(plan(add=["Mend it"])), QUESTION)
        assert stage.items == [("Mend it", "in_progress")]
        stage.punchlist("install", name, "--via", "settings")
        stage.punchlist("uninstall", name, "--via", "package")
        stage.run("Hello.", says("Hello?"))
        assert our_tool(stage.requests[0].offers)
        stage.punchlist("uninstall", name)
        assert kept(stage) == []


@pytest.mark.parametrize("name", LINKED)
def test_doctor_finds_a_package_whose_punchlist_is_gone_and_the_agent_works_on(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        stage.punchlist("install", name)
        for path in stage.home.rglob("bin/punchlist"):
            path.write_text(path.read_text().replace(SCRIPT, "/gone/punchlist"))
        found = [check for check in json.loads(doctor(stage))["checks"] if "/gone/punchlist" in check["text"]]
        assert [(check["state"], check["fix"]) for check in found] == [("problem", f"punchlist install {name}")]
        stage.run("Mend the parser.", does(shell("echo on")), says("I have looked at it."))
        stage.punchlist("install", name)
        stage.run("Mend the parser.", does(plan(add=["Mend it"])), QUESTION)
        assert stage.items == [("Mend it", "in_progress")]


@pytest.mark.parametrize("name", LINKED)
def test_a_copy_that_the_agent_has_lost_is_found_by_doctor_and_made_again(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        before = with_own_settings(stage)
        stage.punchlist("install", name)
        [cache] = stage.home.glob(".*/plugins/cache/punchlist")
        shutil.rmtree(cache)
        found = [check for check in json.loads(doctor(stage))["checks"] if "files of the package" in check["text"]]
        assert [(check["state"], check["fix"]) for check in found] == [("problem", f"punchlist install {name}")]
        stage.punchlist("install", name)
        stage.run("Mend the parser.", does(plan(add=["Mend it"])), QUESTION)
        assert stage.items == [("Mend it", "in_progress")]
        stage.punchlist("uninstall", name)
        assert own_file(stage).read_bytes() == before


def test_a_package_that_the_user_installed_is_left_to_the_agent(tmp_path: Path) -> None:
    with staged("claude-code", tmp_path, own_strays=True) as stage:
        stage.install_package()
        said = stage.punchlist("install", "claude-code")
        assert said.startswith(
            f"claude-code has our package already, version {__version__}; you update it with its own"
        )
        ours = [one for one in kept(stage) if one.startswith("state/")]
        assert ours == [one for one in ours if "/install/settings.json-" in one], "only the status line was added"
        said = stage.punchlist("uninstall", "claude-code")
        assert said.endswith("the package that you installed with its own commands stays; you remove it with them.\n")
        assert installed(stage) == ["punchlist@punchlist"]


OTHER = {
    "claude-code": {
        ".claude-plugin/marketplace.json": {
            "name": "punchlist",
            "owner": {"name": "Ann"},
            "plugins": [{"name": "other", "source": "./other", "description": "x"}],
        },
        "other/.claude-plugin/plugin.json": {"name": "other", "version": "1.0.0", "description": "x"},
    },
    "codex": {
        ".agents/plugins/marketplace.json": {
            "name": "punchlist",
            "plugins": [{"name": "other", "source": {"source": "local", "path": "./other"}}],
        },
        "other/.codex-plugin/plugin.json": {"name": "other", "version": "1.0.0", "description": "x"},
    },
}
ADD = {"claude-code": "install", "codex": "add"}


@pytest.mark.parametrize("name", LINKED)
def test_somebody_else_s_marketplace_with_our_name_is_left_alone(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        for path, data in OTHER[name].items():
            file = tmp_path / "theirs" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(data))
        stage.program("plugin", "marketplace", "add", str(tmp_path / "theirs"))
        stage.program("plugin", ADD[name], "other@punchlist")
        before = own_file(stage).read_bytes()
        assert list(stage.home.glob(".*/plugins/cache/punchlist/other/*"))
        done = stage.punchlist("install", name)
        assert done.startswith(f"{name} is attached for you:\n"), "by its settings"
        stage.punchlist("uninstall", name)
        assert own_file(stage).read_bytes() == before
        assert list(stage.home.glob(".*/plugins/cache/punchlist/other/*"))
        assert str(tmp_path / "theirs") in stage.program("plugin", "marketplace", "list")


@pytest.mark.parametrize("name", LINKED)
def test_what_was_killed_is_finished_or_taken_back_by_the_next_one(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        before = with_own_settings(stage)
        link = stage.programs / installer_for(name).PROGRAM
        real = link.readlink()
        link.unlink()
        link.write_text(
            f'#!/bin/sh\ncase "$*" in "plugin {ADD[name]}"*) kill -9 $PPID; exit 1;; esac\nexec {real} "$@"\n'
        )
        link.chmod(0o755)
        stage.punchlist("install", name, code=-signal.SIGKILL)
        assert own_file(stage).read_bytes() != before
        link.unlink()
        link.symlink_to(real)
        stage.punchlist("install", name)
        stage.punchlist("uninstall", name)
        assert own_file(stage).read_bytes() == before
        assert kept(stage) == []
        assert "punchlist" not in stage.program("plugin", "marketplace", "list")


@pytest.mark.parametrize("name", LINKED)
def test_without_the_program_of_the_agent_its_package_is_removed_by_our_own_hands(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        before = with_own_settings(stage)
        stage.punchlist("install", name)
        (stage.programs / installer_for(name).PROGRAM).unlink()
        stage.punchlist("uninstall", name)
        assert own_file(stage).read_bytes() == before
        assert kept(stage) == []
        assert "punchlist@" not in stage.program("plugin", "list")


@pytest.mark.parametrize("name", LINKED)
def test_a_state_folder_that_was_deleted_is_found_by_doctor_and_made_again(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        stage.punchlist("install", name)
        shutil.rmtree(stage.home / "state" / "punchlist")
        found = [check for check in json.loads(doctor(stage))["checks"] if "files of the package" in check["text"]]
        assert [(check["state"], check["fix"]) for check in found] == [("problem", f"punchlist install {name}")]
        stage.punchlist("install", name)
        stage.run("Mend the parser.", does(plan(add=["Mend it"])), QUESTION)
        assert stage.items == [("Mend it", "in_progress")]
        stage.punchlist("uninstall", name)
        assert kept(stage) == []


@pytest.mark.parametrize("name", LINKED)
def test_a_package_that_the_user_disabled_is_named_by_doctor_and_enabled_by_install(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        stage.punchlist("install", name)
        text = own_file(stage).read_text()
        off = {'"punchlist@punchlist": true': '"punchlist@punchlist": false', "enabled = true": "enabled = false"}
        for old, new in off.items():
            text = text.replace(old, new)
        own_file(stage).write_text(text)
        found = [check["state"] for check in json.loads(doctor(stage))["checks"] if "is disabled" in check["text"]]
        assert found == ["note"]
        assert "was disabled, and is enabled again" in stage.punchlist("install", name)
        assert not [check for check in json.loads(doctor(stage))["checks"] if "is disabled" in check["text"]]


@pytest.mark.parametrize("name", LINKED)
def test_a_file_that_is_read_only_is_refused_before_the_agent_is_asked(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path) as stage:
        before = with_own_settings(stage)
        own_file(stage).chmod(0o444)
        stage.punchlist("install", name, "--via", "package", code=1)
        assert own_file(stage).read_bytes() == before
        assert kept(stage) == []
        own_file(stage).chmod(0o640)
        stage.punchlist("install", name)
        stage.punchlist("uninstall", name)
        assert own_file(stage).read_bytes() == before
        assert own_file(stage).stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", LINKED)
def test_what_the_user_writes_between_install_and_uninstall_stays(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        with_own_settings(stage)
        stage.punchlist("install", name)
        text = own_file(stage).read_text()
        mine = "# written later\n" + text if name == "codex" else text.replace("{", '{"model": "written later",', 1)
        own_file(stage).write_text(mine)
        stage.punchlist("uninstall", name)
        left = own_file(stage).read_text()
        assert "written later" in left
        assert "punchlist@" not in left


@pytest.mark.parametrize("name", LINKED)
def test_a_dry_run_says_what_would_be_done_and_does_nothing(name: str, tmp_path: Path) -> None:
    with staged(name, tmp_path, own_strays=True) as stage:
        before = stage.files()
        said = stage.punchlist("install", name, "--dry-run")
        assert said.count("would run: ") == 2
        assert said.endswith("nothing was written.\n")
        assert stage.files() == before
        stage.punchlist("install", name)
        assert stage.punchlist("install", name, "--dry-run") == "nothing would be changed.\n"


def test_codex_skips_the_hooks_of_a_package_until_they_are_trusted_and_doctor_says_so(tmp_path: Path) -> None:
    with staged("codex", tmp_path, own_strays=True) as stage:
        stage.punchlist("install", "codex")
        steps = [does(plan(add=["Read it", "Mend it"])), does(plan(done=[1])), says("It is read.")]
        stage.run("Mend it.", *steps, setup=codex.CAUTIOUS)
        assert skipped(stage) == ["SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop"]
        hooks = json.loads((ROOT / "packages" / "punchlist" / "hooks" / "codex.json").read_text())["hooks"]
        codex.trust_hooks(stage.world, "punchlist@punchlist:hooks/codex.json", hooks)
        assert skipped(stage) == []
        stage.run("Mend it.", *steps, QUESTION, setup=codex.CAUTIOUS)
        assert "The plan is not finished" in str(stage.requests[-1].heard)


def skipped(stage: Stage) -> list[str]:
    """The events whose hooks Codex skips, as `doctor` has it."""
    texts = [check["text"] for check in json.loads(doctor(stage))["checks"] if "not trusted" in check["text"]]
    return [text.partition(": ")[2] for text in texts]


def test_while_the_panel_shows_the_plan_the_status_line_does_not(tmp_path: Path) -> None:
    with staged("claude-code", tmp_path, own_strays=True) as stage:
        stage.agent.trust(stage.world)
        stage.punchlist("install", "claude-code")
        with terminal_of_claude_code(stage, columns=80, rows=24) as terminal:
            terminal.warm_up()
            terminal.talks("Plan it.", does(plan(add=["Read the parser", "Fix it"])), says("Shall I begin?"))
            terminal.shows("▶ 1 Read the parser", "0/2  Next: 2 Fix it")
            terminal.awaits(lambda: "▶ Read the parser 0/2" not in terminal.text, "a screen without the status line")
        assert stage.errors == []


def doctor(stage: Stage) -> str:
    """What `doctor` says, whether or not it finds a problem."""
    words = [SCRIPT, "doctor", "--json"]
    done = subprocess.run(words, cwd=stage.project, env=stage.environ, capture_output=True, text=True, check=False)
    return done.stdout
