"""The pages of help, what is suggested for a typing mistake, and examples that work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

import punchlist
from punchlist import ops
from punchlist.cli.table import COMMANDS, COMMON, GROUPS
from tests.commands import SCRIPT, run

WIDE = {"COLUMNS": "100"}


pytestmark = pytest.mark.usefixtures("own_folder")


def page(*words: str, **env: str) -> str:
    done = run(*words, **{**WIDE, **env})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def listed(text: str) -> list[str]:
    """The commands that a page lists."""
    rows = [line[2:].split()[0] for line in text.splitlines() if line.startswith("  ") and line[2] != " "]
    return [name for name in rows if name in COMMANDS]


# --- pages -----------------------------------------------------------------------------------------------------------


def test_the_first_page_lists_about_ten_commands_in_groups() -> None:
    shown = page("--help")
    found = [name for name in listed(shown) if name != "help"]
    assert {"show", "watch", "add", "start", "done", "edit", "undo", "install", "doctor"} <= set(found)
    assert len(found) <= 12
    assert shown.index("look at the plan:") < shown.index("edit the plan:") < shown.index("agents:")
    assert "help all" in shown


def test_help_all_lists_every_command_once_in_its_group() -> None:
    shown = page("help", "all")
    assert sorted(listed(shown)) == sorted(COMMANDS)
    assert [title for title in GROUPS if f"{title}:\n" not in shown] == []


def test_help_without_a_command_is_the_first_page() -> None:
    assert page("help") == page("--help") == page("-h") == page("--json", "--help")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_is_its_page_with_every_argument_and_an_example(command: str) -> None:
    shown = page("help", command)
    assert shown == page(command, "--help") == page("--help", command)
    assert shown.startswith(f"usage: punchlist {command} ")
    for argument in (*COMMANDS[command].arguments, *COMMON):
        assert (argument.name if argument.is_option else argument.value) in shown
    for example in COMMANDS[command].examples:
        assert f"\n  {example}\n" in shown
    assert COMMANDS[command].examples


@pytest.mark.parametrize("columns", [40, 80])
def test_no_line_of_help_but_an_example_is_wider_than_the_terminal(columns: int) -> None:
    pages = [page(*words, COLUMNS=str(columns)) for words in (["--help"], ["help", "all"])]
    pages += [page("help", name, COLUMNS=str(columns)) for name in ("add", "move", "run", "install")]
    wide = [line for text in pages for line in text.splitlines() if len(line) > columns]
    assert [line for line in wide if not line.strip().startswith("punchlist ")] == []


# --- mistakes --------------------------------------------------------------------------------------------------------


def mistaken(*words: str) -> str:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr.rstrip("\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["strat"], "punchlist: no command 'strat'; did you mean 'start'?"),
        (["strat", "1", "--json"], "punchlist: no command 'strat'; did you mean 'start'?"),
        (["dnoe", "1"], "punchlist: no command 'dnoe'; did you mean 'done'?"),
        (["uninst"], "punchlist: no command 'uninst'; did you mean 'uninstall'?"),
        (["help", "unod"], "punchlist: no command 'unod'; did you mean 'undo'?"),
        (["frobnicate"], "punchlist: no command 'frobnicate'; see punchlist help all"),
        (["add", "x", "--phas", "y"], "punchlist add: no option '--phas'; did you mean '--phase'?"),
        (["show", "--jsn"], "punchlist show: no option '--jsn'; did you mean '--json'?"),
        (["--jsn", "show"], "punchlist show: no option '--jsn'; did you mean '--json'?"),
        (["install", "claud-code"], "punchlist install: no HOST 'claud-code'; did you mean 'claude-code'?"),
        (["export", "--format", "markdwon"], "punchlist export: no --format 'markdwon'; did you mean 'markdown'?"),
        (["tools", "--dialect=nativ"], "punchlist tools: no --dialect 'nativ'; did you mean 'native'?"),
        (["completion", "bahs"], "punchlist completion: no SHELL 'bahs'; did you mean 'bash'?"),
        (["mode", "pln"], "punchlist mode: no MODE 'pln'; did you mean 'plan'?"),
        (["watch", "--style", "gencod"], "punchlist watch: no --style 'gencod'; did you mean 'gencode'?"),
        (["show", "--frobnicate=1"], "punchlist show: no option '--frobnicate'; see punchlist show --help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_typing_mistake_gets_one_line_with_a_suggestion(words: list[str], said: str) -> None:
    assert mistaken(*words) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add"], "TEXT is missing"),
        (["note", "1"], "TEXT is missing"),
        (["drop", "1"], "--why W is missing"),
        (["move", "1"], "one of --after, --before, --phase is needed"),
        (["move", "1", "--after", "2", "--before", "3"], "--after and --before cannot be combined"),
        (["show", "1", "2"], "'2' is one word too many"),
        (["show", "--json=yes"], "--json takes no value"),
        (["show", "--plan"], "--plan needs a value: --plan ID"),
        (["show", "--plan", "--json"], "--plan needs a value: --plan ID"),
        (["diff", "x"], "REV is a number, not 'x'"),
        (["log", "--most", "0"], "--most is a number of lines, not '0'"),
        (["mode", "run"], "MODE is one of act, plan, quiet, not 'run'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_missing_or_too_much_is_named(words: list[str], said: str) -> None:
    assert mistaken(*words) == f"punchlist {words[0]}: {said}; see punchlist {words[0]} --help"


def test_a_mistyped_command_acts_on_no_terminal() -> None:
    assert "\x1b" not in mistaken("\x1b[31mred")


# --- what the table promises -----------------------------------------------------------------------------------------


def test_an_option_takes_a_value_in_every_command_or_in_none() -> None:
    options = [option for command in COMMANDS.values() for option in (*command.options, *COMMON)]
    kinds = {(option.name, option.is_switch) for option in options}
    assert len(kinds) == len({name for name, _ in kinds})


def test_only_the_last_word_of_a_command_can_be_left_out_or_given_again() -> None:
    assert [name for name, one in COMMANDS.items() if any(word.many for word in one.words[:-1])] == []


def test_every_command_is_in_one_group_and_every_group_has_one() -> None:
    assert len(COMMANDS) == sum(map(len, GROUPS.values()))
    assert all(GROUPS.values())


EXAMPLES = [(name, example) for name, command in COMMANDS.items() for example in command.examples]


@pytest.fixture
def project(own_folder: Path) -> None:
    """A plan with three items and a history, a session, and the files that examples name."""
    with punchlist.open(session="s1") as desk:
        desk.change(lambda plan: ops.extend(plan, [{"text": f"{verb} the code"} for verb in ("Read", "Test")]))
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.extend(plan, [{"text": "Run the tests"}]))
        desk.change(lambda plan: ops.complete(plan, "1"))
        desk.undo()
    Path("TODO.md").write_text("- [ ] Read the code\n- [ ] Fix the bug\n")
    Path("conversation.json").write_text("[]")


@pytest.mark.once
@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
@pytest.mark.usefixtures("project")
def test_every_example_works(name: str, example: str) -> None:
    env = {**os.environ, "EDITOR": "true", "PATH": f"{Path(SCRIPT).parent}:{os.environ['PATH']}"}
    if name == "watch":
        return _watch(example, env)
    done = subprocess.run(["bash", "-c", example], env=env, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")


def _watch(example: str, env: dict[str, str]) -> None:
    """What never ends by itself shows the plan, and is interrupted."""
    with subprocess.Popen(["bash", "-c", f"exec {example}"], env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() in (0, 130)


def test_the_examples_of_the_first_page_work() -> None:
    lines = page("--help").partition("examples:\n")[2].partition("\n\n")[0].splitlines()
    pasted = [line.strip().split("   ")[0] for line in lines if "punchlist" in line]
    assert len(pasted) >= 5
    env = {**os.environ, "PATH": f"{Path(SCRIPT).parent}:{os.environ['PATH']}"}
    for line in pasted:
        done = subprocess.run(["bash", "-c", line], env=env, capture_output=True, encoding="utf-8", check=False)
        assert (done.returncode, done.stderr) == (0, ""), line


def test_options_can_stand_before_the_command_with_or_without_an_equals_sign() -> None:
    assert run("--phase", "Later", "add", "Ship it", "--json").returncode == 0
    assert run("--phase=Later", "--json", "add", "--", "-x").returncode == 0
    data = json.loads(page("--json"))
    assert [(item["text"], item["phase"]) for item in data["items"]] == [("Ship it", "Later"), ("-x", "Later")]
