"""What each way in loads: a hook is a new process on every turn of an agent, so every module counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import ops
from punchlist.desk.evidence import record_run
from punchlist.local.files import time_text

HEAVY = {
    "dataclasses",
    "pathlib",
    "logging",
    "asyncio",
    "argparse",
    "inspect",
    "subprocess",
    "tempfile",
    "difflib",
    "tomllib",
    "random",
    "uuid",
    "threading",
    "unicodedata",
    "importlib.metadata",
    "urllib.parse",
    "socket",
    "shutil",
    "traceback",
    "textwrap",
    "typing",
    "contextlib",
    "datetime",
}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def loaded(program: str, *words: str, stdin: str = "") -> set[str]:
    """The modules a program has loaded by its end, beside those of a bare interpreter."""
    return _modules(program, words, stdin) - _bare()


@cache
def _bare() -> set[str]:
    return _modules("", (), "")


def _modules(program: str, words: tuple[str, ...], stdin: str) -> set[str]:
    code = f"import sys\n{program}\nopen('modules', 'w').write(' '.join(sys.modules))\n"
    subprocess.run([sys.executable, "-c", code, *words], input=stdin, capture_output=True, text=True, check=True)
    return set(Path("modules").read_text().split())


def command(*words: str, stdin: str = "") -> set[str]:
    return loaded("from punchlist.cli import main\nassert main() == 0", *words, stdin=stdin)


def hook(name: str, **more: Any) -> set[str]:
    event = {"hook_event_name": name, "session_id": "s1", "cwd": os.getcwd(), **more}
    return command("hook", "claude-code", stdin=json.dumps(event))


def given_a_plan_with_news() -> None:
    with punchlist.open(session="s1", dialect="native") as desk:
        desk.call("plan", {"add": ["Read", "Write"]})
        desk.change(lambda plan: ops.complete(plan, "1"))


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] == "punchlist"}


def test_importing_the_package_loads_none_of_its_parts() -> None:
    found = loaded("import punchlist")
    assert ours(found) == {"punchlist"}
    assert found & HEAVY == set()


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("Stop", {"stop_hook_active": False}),
        ("UserPromptSubmit", {"prompt": "go on"}),
        ("SessionStart", {"source": "startup"}),
        ("PostToolUse", {"tool_name": "Bash", "tool_input": {}}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {}}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hook_loads_little(name: str, more: dict[str, Any]) -> None:
    given_a_plan_with_news()
    found = hook(name, **more)
    assert "punchlist.hosts.claude_code" in found
    assert found & (HEAVY | {"hashlib"}) == set()
    assert {name for name in ours(found) if name.startswith(("punchlist.dialects", "punchlist.cli."))} == set()


def test_a_hook_loads_nothing_that_only_installing_needs() -> None:
    given_a_plan_with_news()
    found = hook("UserPromptSubmit", prompt="go on")
    assert {name for name in found if name.startswith(("punchlist.install", "punchlist.doctor"))} == set()


@pytest.mark.parametrize("store", ["sqlite:plan.db", "json:plans"])
@pytest.mark.parametrize("name", ["Stop", "UserPromptSubmit", "PostToolUse"])
def test_a_hook_loads_neither_json_nor_regular_expressions(
    name: str, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUNCHLIST_STORE", store)
    given_a_plan_with_news()
    found = hook(name, prompt="go on", tool_name="Bash", tool_input={"command": "make"}, tool_response={"a": "é"})
    assert found & {"json", "re", "enum"} == set()


def given_checks(*commands: str) -> None:
    with punchlist.open(session="s1", dialect="native") as desk:
        desk.call("plan", {"add": [{"text": f"Pass {command}", "check": command} for command in commands]})


def of_checks(modules: set[str]) -> set[str]:
    rooms = ("punchlist.checks", "punchlist.core.commands", "punchlist.core.grades")
    own = ("punchlist.desk.evidence", "punchlist.desk.check_rules")
    return {name for name in modules if name.startswith((*rooms, *own))}


HINT = {"punchlist.core.commands", "punchlist.core.commands.hint"}  # asks whether it is worth comparing a command


@pytest.mark.parametrize("command", ["ls -l src", "git status", "cat tests/notes.txt"])
def test_a_hook_after_a_command_that_is_no_check_loads_nothing_about_checks(command: str) -> None:
    given_checks(*[f"pytest -q tests/test_part{number}.py" for number in range(20)])
    response = {"stdout": "ok", "stderr": "", "interrupted": False}
    found = hook("PostToolUse", tool_name="Bash", tool_input={"command": command}, tool_response=response)
    assert of_checks(found) == HINT
    assert found & (HEAVY | {"hashlib", "json", "re", "enum"}) == set()
    ran = hook("PostToolUse", tool_name="Bash", tool_input={"command": "pytest -q tests"}, tool_response=response)
    assert "punchlist.desk.evidence" in ran, "it may be one"


@pytest.mark.parametrize("verify", ["off", "ask", "run", "block"])
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("UserPromptSubmit", {"prompt": "what is left?"}),
        ("SessionStart", {"source": "compact"}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "git commit"}}),
        ("Stop", {"background_tasks": [{"id": "1"}]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hook_that_is_not_about_checks_loads_nothing_about_them(
    name: str, more: dict[str, Any], verify: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUNCHLIST_VERIFY", verify)
    given_checks("make test", "make lint")
    assert of_checks(hook(name, **more)) == set()


@pytest.mark.parametrize("verify", ["off", "ask", "run"])
def test_a_nudge_to_continue_loads_nothing_that_runs_checks(verify: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_VERIFY", verify)
    given_checks("make test", "make lint")
    found = hook("Stop")
    assert of_checks(found) == {"punchlist.desk.evidence", "punchlist.core.grades"}, "an open item may look done"
    assert found & (HEAVY | {"hashlib", "json", "re", "enum", "select", "signal"}) == set()
    assert of_checks(hook("Stop")) == set(), "it is not nudged again"


def test_a_hook_that_mirrors_a_list_loads_the_one_dialect_it_speaks() -> None:
    todos = {"todos": [{"content": "Read", "status": "pending", "activeForm": "Reading"}]}
    found = hook("PostToolUse", tool_name="TodoWrite", tool_input=todos)
    spoken = {name for name in ours(found) if name.startswith("punchlist.dialects.")}
    assert spoken == {"punchlist.dialects.claude_code"}
    assert found & HEAVY == set()


def asked(*methods: str) -> str:
    """Requests to the MCP server, a line each."""
    params = {"tools/call": {"name": "plan", "arguments": {"add": ["Read"]}}}
    messages = [{"jsonrpc": "2.0", "id": 1, "method": name, "params": params.get(name, {})} for name in methods]
    return "".join(json.dumps(message) + "\n" for message in messages)


def test_an_mcp_server_loads_no_store_until_a_tool_is_called() -> None:
    found = command("mcp", stdin=asked("initialize", "tools/list"))
    assert "punchlist.mcp.server" in found
    assert found & (HEAVY | {"sqlite3", "_sqlite3", "hashlib"}) == set()
    assert {name for name in ours(found) if name.startswith("punchlist.dialects.")} == {
        "punchlist.dialects.native",
        "punchlist.dialects.wire",
    }
    assert not {
        name for name in ours(found) if name.startswith(("punchlist.stores.", "punchlist.cli.", "punchlist.hosts."))
    }
    beside = {f"punchlist.mcp.{name}" for name in ("catalog", "prompts", "resources", "card")}
    assert found & beside == set()
    assert beside <= command("mcp", stdin=asked("initialize", "tools/list", "prompts/list"))


def test_an_mcp_server_that_is_at_work_loads_little() -> None:
    found = command("mcp", stdin=asked("initialize", "tools/list", "tools/call"))
    assert {"punchlist.stores.sqlite", "punchlist.local.session_links"} <= found
    assert found & HEAVY == set()


def test_session_links_are_light_enough_for_a_hook() -> None:
    leaving = "assert at.link(at.agent_key(), at.AgentRef('s')); at.look_up(at.agent_key())"
    found = loaded("from punchlist.local import session_links as at; " + leaving)
    assert found & (HEAVY | {"hashlib", "signal"}) == set()
    assert found & {"json", "re", "enum", "functools"} == set()


def test_showing_grades_loads_nothing_that_takes_longer_than_git() -> None:
    for words in (("init", "--quiet"), ("add", "--all")):
        subprocess.run(["git", *words], check=True, capture_output=True)
    with punchlist.open(session="a") as desk:
        desk.change(lambda plan: ops.set_check(ops.add(plan, "Fix it"), "1", "make test"))
        desk.change(lambda plan: ops.complete(plan, "1"))
        row = {"at": time_text(), "tier": "seen", "command": "make test", "exit": 0}
        record_run(desk, desk.plan, desk.plan.items[0], row)
    found = command("show")
    assert {"punchlist.checks.git", "punchlist.core.grade_labels"} <= found
    assert found & {"subprocess", "threading", "signal", "selectors", "locale", "hashlib", "datetime"} == set()


def test_showing_the_plan_loads_nothing_that_only_other_commands_need() -> None:
    given_a_plan_with_news()
    found = command("show")
    assert "punchlist.core.render" in found
    assert found & {"subprocess", "tempfile", "difflib", "tomllib", "pathlib", "dataclasses", "asyncio"} == set()
    assert found & {"shutil", "threading", "termios", "signal", "typing", "datetime", "hashlib", "argparse"} == set()
    others = ("punchlist.dialects", "punchlist.hosts.", "punchlist.tui")
    assert {name for name in ours(found) if name.startswith(others)} == set()
    assert not found & {
        "punchlist.cli.editor",
        "punchlist.cli.input",
        "punchlist.cli.agent.demo",
        "punchlist.core.markdown",
    }


def test_another_style_loads_itself_and_no_panel() -> None:
    given_a_plan_with_news()
    found = {name for name in command("show", "--style", "gencode") if name.startswith("punchlist.tui.")}
    assert found == {"punchlist.tui.view", "punchlist.tui.styles"} | {
        f"punchlist.tui.styles.{name}" for name in ("gencode", "workers")
    }


def test_a_call_loads_the_one_dialect_it_speaks() -> None:
    found = command("call", "plan", stdin='{"add": ["Read"]}')
    spoken = {name for name in ours(found) if name.startswith("punchlist.dialects.")}
    assert spoken - {"punchlist.dialects.formats"} == {"punchlist.dialects.native"}


def test_a_settings_file_is_what_loads_the_reader_of_settings_files() -> None:
    assert "tomllib" not in command("line")
    Path("punchlist.toml").write_text("tolerant = true")
    assert "tomllib" in command("line")


def test_every_public_name_is_found_when_it_is_used() -> None:
    assert {name: getattr(punchlist, name).__name__ for name in punchlist.__all__}.keys() == set(punchlist.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'frobnicate'"):
        punchlist.frobnicate  # noqa: B018
