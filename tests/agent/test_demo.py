"""The demo: what it shows is so, and can be looked at afterwards."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import punchlist as package
from punchlist.agent.scripted import ScriptPlayer
from punchlist.cli.agent.demo import script
from punchlist.desk.events import read_events
from tests.agent.terminal import Terminal
from tests.commands import SCRIPT, run


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)


def scratch(tmp_path: Path) -> Path:
    (folder,) = (tmp_path / "tmp").iterdir()
    return folder


def test_everything_it_promises_happens(tmp_path: Path) -> None:
    done = run("demo", "--fast")
    assert (done.returncode, done.stderr) == (0, "")
    plan = str(re.search(r"show --plan (\w+)", done.stdout)[1])  # type: ignore[index]
    folder = scratch(tmp_path)
    tests = subprocess.run(
        [sys.executable, "-B", "-m", "unittest"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert tests.stderr.splitlines()[-1] == "OK"
    assert "Ran 5 tests" in tests.stderr
    assert "money.split(100, 3)" in (folder / "README.md").read_text()

    with package.open(plan=plan) as desk:
        history = desk.history()
        assert [item.status for item in desk.plan.items] == ["completed"] * 6
        mine = [record for record in history if record.by == "user"]
        assert [change.after.text for record in mine for change in record.changes if change.kind == "added"] == [
            "Refuse to split among nobody"
        ]
        kinds = [event["kind"] for event in read_events(desk)]
        assert kinds.count("compaction") == 1
        assert kinds.count("nudge") == 1
        fixed = next(item for item in desk.load(calls=True).items if item.text == "Fix how amounts are read")
        assert [kept["name"] for kept in fixed.calls] == ["edit", "shell", "edit", "shell"]

    with package.open(session=desk.session, plan=plan) as desk:
        sessions = [listing for listing in desk._seat.store.plans(10) if listing.agent == "docs"]
    assert [(listing.completed, listing.total) for listing in sessions] == [(3, 3)]


def test_it_says_in_plain_lines_what_goes_on() -> None:
    printed = run("demo", "--fast").stdout
    for words in (
        "FAILED (failures=3)",
        "Padded on the wrong side. Again, on the right one.",
        "Agent: docs\nStatus: Running\n",
        "Status: Completed\nTasks (3/3)\n",
        "you, in another terminal: punchlist add 'Refuse to split among nobody' --after 3",
        "you, in another terminal: punchlist check 2 --approve",
        'you added 6 "Refuse to split among nobody"',
        "the conversation was compacted, from about 42,",
        "the agent stopped early and was nudged: now 4 ",
        "✓ 6/6",
    ):
        assert words in printed
    assert "\x1b" not in printed


def test_an_item_is_verified_outdated_by_an_edit_and_verified_again_at_the_end() -> None:
    printed = run("demo", "--fast").stdout
    told = re.findall(r'^2 "Fix how amounts are read": (its check passes|\w+)', printed, re.MULTILINE)
    assert told == ["its check passes", "verified", "outdated", "verified"]
    assert re.search(r'^5 "Run all tests again": passed its own check ', printed, re.MULTILINE)
    last = printed.split("Everything else was real:")[1]
    assert "6 items are done: 1 verified, 1 passed its own check, 4 reported." in last


def test_it_needs_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    done = run("demo", "--fast", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["grades"]["2"], found["grades"]["5"]) == (0, "verified", "passed")


@pytest.mark.parametrize("store", ["", "json", "memory"])
def test_what_it_says_to_type_next_works(tmp_path: Path, store: str) -> None:
    named = {"": [], "json": ["--store", f"json:{tmp_path / 'plans'}"], "memory": ["--store", "memory:"]}[store]
    printed = run("demo", "--fast", *named)
    assert printed.returncode == 0, printed.stderr
    if store == "memory":
        assert "nothing of the plan was kept" in printed.stdout
        return
    commands = [line.strip() for line in printed.stdout.split("Look at it:\n")[1].split("\n\n")[0].splitlines()]
    assert len(commands) == 4
    said = []
    for command in commands:
        _, *rest = shlex.split(command)
        done = run(*rest) if "punchlist" in command.split()[0] else subprocess.run(
            shlex.split(command), capture_output=True, text=True, check=False
        )  # fmt: skip
        assert done.returncode == 0, command
        said.append(done.stdout)
    assert "6/6 · 1 verified" in said[0]
    assert "you" in said[1]
    assert "nudge" in said[2]
    assert "compaction" in said[2]
    assert set(said[3].split()) - {"__pycache__"} == {"README.md", "money.py", "test_money.py"}


@pytest.mark.parametrize("on_path", [True, False])
def test_it_is_named_as_it_can_be_called(on_path: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(Path(SCRIPT).parent)
    others = [one for one in os.environ["PATH"].split(os.pathsep) if not Path(one, "punchlist").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join([folder, *others] if on_path else others))
    said = run("demo", "--fast").stdout.split("Your turn, with a model of your own:\n  ")[1]
    name = shlex.split(said.splitlines()[-1])[0]
    assert name == "punchlist" if on_path else Path(name).samefile(SCRIPT)


def test_it_ends_with_what_is_missing_and_the_command() -> None:
    source = f"import sys; sys.path.insert(0, {str(Path(package.__file__).parents[1])!r})\n"
    code = f"{source}from punchlist.cli import main\nsys.exit(main())"
    env = {name: value for name, value in os.environ.items() if name != "ANTHROPIC_API_KEY"}
    words = [sys.executable, "-S", "-c", code, "demo", "--fast"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env={**env, "PYTHONIOENCODING": "utf-8"})
    install, key, command = done.stdout.split("Your turn, with a model of your own:\n")[1].splitlines()
    assert "install" in install
    assert "[agent]'" in install
    assert key == "  export ANTHROPIC_API_KEY=..."
    assert command.endswith("run --model anthropic:NAME 'fix the failing test'")


def test_as_json_it_prints_one_object_and_nothing_else(tmp_path: Path) -> None:
    done = run("demo", "--fast", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["ok"], Path(found["folder"])) == (True, scratch(tmp_path).resolve())
    assert "the project's tests: red before, green now" in found["shown"]
    with package.open(session=found["session"]) as desk:
        assert (desk.plan.id, desk.plan.open_items) == (found["plan"], ())


def test_as_json_it_shows_no_panel_in_a_terminal() -> None:
    terminal = Terminal(SCRIPT, "demo", "--fast", "--json")
    assert terminal.wait_for_end() == 0
    assert terminal.text.startswith('{\n  "ok": true,')
    terminal.close()


def test_it_needs_nothing_that_is_not_in_the_standard_library(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom punchlist.cli import main\nassert main() == 0\n"
        "open('modules', 'w').write(' '.join(sys.modules))\n"
    )
    subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            f"import sys; sys.path.insert(0, {str(Path(package.__file__).parents[1])!r})\n{code}",
            "demo",
            "--fast",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    foreign = {name.split(".")[0] for name in Path("modules").read_text().split()} - sys.stdlib_module_names
    assert foreign <= {"punchlist", "__main__"}


def test_its_script_is_one_that_the_scripted_model_takes() -> None:
    slow, fast = script(fast=False), script(fast=True)
    ScriptPlayer(slow)
    ScriptPlayer(fast)
    assert "wait" in json.dumps(slow)
    assert "wait" not in json.dumps(fast)
    assert "pace" not in fast


def test_in_a_terminal_it_ends_the_same_way() -> None:
    terminal = Terminal(SCRIPT, "demo", "--fast")
    terminal.wait_for("Your turn, with a model of your own:")
    assert terminal.wait_for_end() == 0
    assert "red before, green now" in terminal.text
    terminal.close()


def test_the_plan_of_the_directory_you_are_in_is_left_alone() -> None:
    run("add", "mine")
    assert run("demo", "--fast").returncode == 0
    with package.open() as desk:
        assert [item.text for item in desk.plan.items] == ["mine"]
