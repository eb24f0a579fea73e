"""Parts in the text of a settings file: put in, put in again, replaced when they are old, and taken out."""

from __future__ import annotations

import copy
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from punchlist.core.errors import Refused
from punchlist.hosts import HOSTS
from punchlist.hosts.codex import install as codex
from punchlist.install import SCOPES, Part, Where, edit_json, installer_for
from punchlist.install.apply import add_parts, groups_of, holds, is_nothing, strip_parts, value_at
from punchlist.install.parts import hook_command, line_command, script_of, their_line
from punchlist.local.settings import Settings
from tests.core.plans import often
from tests.install.documents import settings_files

SCRIPT = "/opt/tools/bin/punchlist"


def where(scope: str = "user", script: str = SCRIPT, **environ: str) -> Where:
    return Where(scope, "/home/ann", "/home/ann/project", script, environ)


def json_files() -> list[Any]:
    """Every JSON file that some host's parts share: the host, and those parts."""
    found = []
    for name in HOSTS:
        parts = [part for part in installer_for(name).parts(where()) if part.kind != "file"]
        for file in dict.fromkeys(part.files[-1] for part in parts if part.files[-1].endswith("json")):
            mine = [part for part in parts if part.files[-1] == file]
            found.append(pytest.param((name, mine), id=f"{name}: {Path(file).name}"))
    return found


def claude(script: str = SCRIPT) -> list[Part]:
    return [part for part in installer_for("claude-code").parts(where(script=script)) if part.name != "server"]


def add(text: str, parts: list[Part] | None = None, script: str = SCRIPT) -> str:
    return add_parts(text, parts or claude(script), "claude-code", script)


def strip(text: str, before: str | None) -> str:
    return strip_parts(text, claude(), "claude-code", before)


def expected(value: Any, parts: list[Part], host: str) -> Any:
    """What a file must hold with these parts in it, worked out on plain values."""
    value = copy.deepcopy(value)
    for part in parts:
        inner = value
        for step in part.path[:-1]:
            inner = inner.setdefault(step, {})
        last = part.path[-1]
        if part.kind == "entry":
            inner[last] = {**inner.get(last, {}), **part.value}
        elif part.kind == "element":
            inner[last] = [*inner.get(last, []), part.value]
        elif part.kind == "line":
            theirs = inner.get(last, {}).get("command", "")
            is_paced = "refreshInterval" in inner.get(last, {})
            own = {"command": line_command(SCRIPT, host, theirs, paced=is_paced)}
            inner[last] = {**part.value, **inner.get(last, {"type": "command"}), **own}
        else:
            if part.kind == "flat-hooks":
                value.setdefault("version", 1)
            events = inner.setdefault(last, {})
            wanted = {event: groups_of(group) for event, group in part.value.items()}
            events.update({event: [*events.get(event, []), *groups] for event, groups in wanted.items()})
    return value


# --- laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", json_files())
def test_what_is_added_is_what_was_declared_and_goes_without_a_trace(file: tuple[str, list[Part]]) -> None:
    host, parts = file

    @often(60)
    @given(settings_files())
    @example("")
    @example("{}")
    @example("{\n}\n")
    @example("{ }")
    @example('{"hooks":{},"mcpServers":{ }}')
    def law(text: str) -> None:
        new = add_parts(text, parts, host, SCRIPT)
        assert edit_json.read(new) == expected(edit_json.read(text), parts, host)
        assert add_parts(new, parts, host, SCRIPT) == new
        gone = strip_parts(new, parts, host, text)
        assert gone == text or (edit_json.is_blank(text) and is_nothing(gone))

    law()


@often(100)
@given(settings_files(), st.sampled_from(["theme", "hooks", "mcpServers", "permissions"]))
def test_what_others_wrote_meanwhile_stays_when_ours_goes(text: str, key: str) -> None:
    between = edit_json.put(add(text), (key, "theirs"), {"a": [1]})
    wanted = edit_json.read(edit_json.put(text, (key, "theirs"), {"a": [1]}))
    assert edit_json.read(strip(between, text)) == wanted


@often(40)
@given(settings_files())
def test_an_older_environment_s_entries_are_replaced(text: str) -> None:
    old = add(text, script="/old/one/bin/punchlist")
    assert edit_json.read(add(old)) == edit_json.read(add(text))
    assert strip(add(old), text) == text


@often(50)
@given(settings_files())
def test_without_a_record_of_what_was_there_nothing_of_ours_is_left(text: str) -> None:
    gone = strip(add(text), None)
    assert "punchlist" not in gone
    assert not any(holds(gone, part, "claude-code") for part in claude())


# --- hooks -----------------------------------------------------------------------------------------------------------


def hooks(text: str) -> Any:
    return edit_json.read(text)["hooks"]


def test_a_hook_stands_behind_the_user_s_own() -> None:
    mine = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine.sh"}]}]}}'
    stop = hooks(add(mine))["Stop"]
    assert [group["hooks"][0]["command"] for group in stop] == ["mine.sh", hook_command(SCRIPT, "claude-code")]


def test_a_hook_that_the_user_moved_into_a_group_of_their_own_is_found_there() -> None:
    text = add("{}")
    ours = {"type": "command", "command": hook_command(SCRIPT, "claude-code")}
    theirs = {"type": "command", "command": "mine.sh"}
    moved = edit_json.put(text, ("hooks", "Stop"), [{"hooks": [theirs, ours]}])
    assert hooks(strip(moved, "{}")) == {"Stop": [{"hooks": [theirs]}]}


def test_how_long_a_hook_may_take_is_the_user_s_to_choose() -> None:
    text = add("{}").replace('"timeout": 10', '"timeout": 99')
    assert add(text) == text


def test_a_hook_that_stands_there_twice_stands_there_once_afterwards() -> None:
    text = add("{}")
    group = hooks(text)["Stop"][0]
    assert hooks(add(edit_json.append(text, ("hooks", "Stop"), group)))["Stop"] == [group]


def test_an_event_that_we_no_longer_answer_is_cleared() -> None:
    group = hooks(add("{}"))["Stop"][0]
    text = edit_json.put(add("{}"), ("hooks", "Notification"), [group, {"hooks": []}])
    assert hooks(add(text))["Notification"] == [{"hooks": []}]


def test_hooks_of_other_programs_that_speak_of_punchlist_are_not_ours() -> None:
    for command in ("mine.sh punchlist", "punchlist-extra hook claude-code", "punchlist hook codex", "echo hook"):
        text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
        assert strip(text, None) == text


# --- a server --------------------------------------------------------------------------------------------------------


def server(host: str = "claude-code", script: str = SCRIPT) -> Part:
    return next(part for part in installer_for(host).parts(where(script=script)) if part.name == "server")


def test_what_the_user_added_to_our_server_survives_an_upgrade() -> None:
    text = add_parts("{}", [server(script="/old/bin/punchlist")], "claude-code", "")
    mine = edit_json.put(text, ("mcpServers", "punchlist", "env"), {"PUNCHLIST_STORE": "json:plans"})
    new = value_at(add_parts(mine, [server()], "claude-code", ""), server())
    assert (new["command"], new["env"]) == (SCRIPT, {"PUNCHLIST_STORE": "json:plans"})


@pytest.mark.parametrize("entry", [{"command": "npx", "args": ["punch"]}, {"url": "https://x"}, "x", [], {}])
def test_a_server_of_somebody_else_with_our_name_is_refused_and_stays(entry: Any) -> None:
    text = json.dumps({"mcpServers": {"punchlist": entry}})
    with pytest.raises(Refused, match=r"'mcpServers\.punchlist' is there already and is not ours"):
        add_parts(text, [server()], "claude-code", "")
    assert strip_parts(text, [server()], "claude-code", None) == text


# --- a status line ---------------------------------------------------------------------------------------------------


def line(text: str) -> Any:
    return edit_json.read(text).get("statusLine")


@pytest.mark.parametrize(
    "theirs", ["~/mine.sh", "printf '%s' \"$(cat | jq -r .model)\"", "a; b || c # d", "it's", "-n"]
)
def test_a_status_line_that_was_there_is_kept_joined_and_put_back(theirs: str) -> None:
    text = json.dumps({"statusLine": {"type": "command", "command": theirs, "padding": 2}}, indent=4)
    new = add(text)
    assert line(new)["padding"] == 2
    assert their_line(line(new)["command"]) == theirs
    assert add(add(new, script="/new/bin/punchlist"), script=SCRIPT) == new
    assert strip(new, text) == text
    assert line(strip(new, None)) == line(text)


def test_a_status_line_of_the_user_is_run_by_the_timer_only_if_they_have_said_how_often() -> None:
    text = json.dumps({"statusLine": {"type": "command", "command": "mine"}})
    said = json.dumps({"statusLine": {"type": "command", "command": "mine", "refreshInterval": 5}})
    assert " --on-change --after mine" in line(add(text))["command"]
    assert add(add(text)) == add(text)
    assert "--on-change" not in line(add(said))["command"]
    changed = edit_json.put(add(text), ("statusLine", "refreshInterval"), 60)
    assert "--on-change" not in line(add(changed))["command"]
    old = line_command(SCRIPT, "claude-code", "mine")
    older = edit_json.put(add(text), ("statusLine", "command"), old)
    assert "--on-change" in line(add_parts(older, claude(), "claude-code", SCRIPT, text))["command"]
    assert "--on-change" not in line(add_parts(older, claude(), "claude-code", SCRIPT, said))["command"]
    assert strip(add(text), text) == text


@pytest.mark.parametrize("theirs", [1, 5, 60])
def test_how_often_a_status_line_is_refreshed_is_added_where_nothing_is_said(theirs: int) -> None:
    text = json.dumps({"statusLine": {"type": "command", "command": "mine"}})
    assert line(add(text))["refreshInterval"] == line(add("{}"))["refreshInterval"] == 5
    said = json.dumps({"statusLine": {"type": "command", "command": "mine", "refreshInterval": theirs}})
    assert line(add(said))["refreshInterval"] == theirs
    assert strip(add(said), said) == said
    changed = edit_json.put(add(text), ("statusLine", "refreshInterval"), 60)
    assert line(add(changed))["refreshInterval"] == 60
    assert line(strip(changed, text)) == {"type": "command", "command": "mine", "refreshInterval": 60}


def test_a_status_line_of_an_older_version_is_refreshed_after_another_install() -> None:
    old = edit_json.remove(add("{}"), ("statusLine", "refreshInterval"))
    assert add(old) == add("{}")


def test_a_status_line_of_an_unknown_kind_is_left_alone() -> None:
    odds: list[Any] = [{"type": "static", "text": "x"}, "x", {"type": "command"}, [], {"type": "command", "command": 3}]
    for odd in odds:
        assert line(add(json.dumps({"statusLine": odd}))) == odd


def test_a_joined_status_line_runs_theirs_when_our_script_is_gone() -> None:
    command = line_command("/no/such/bin/punchlist", "claude-code", "cat; printf ' %s' \"it's\"")
    done = subprocess.run(command, shell=True, input="in", capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("in it's", "")


# --- commands --------------------------------------------------------------------------------------------------------

ODD = [
    "plain",
    "with space",
    "it's",
    'a "quote"',
    "semi;colon",
    "äöü",
    "-dash",
    "(round)",
    "a&b",
    "#hash",
    "~",
    "*",
    "\\",
]


@pytest.mark.parametrize("name", ODD)
def test_a_hook_runs_whatever_the_path_of_its_script_looks_like(tmp_path: Path, name: str) -> None:
    script = tmp_path / name / "punchlist"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho "$@"\ncat\n')
    script.chmod(0o755)
    command = hook_command(str(script), "codex")
    for shell in ("/bin/sh", "/bin/bash"):
        done = subprocess.run([shell, "-c", command], input="event", capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == ("hook codex\nevent", "")
    assert script_of(command) == str(script)
    assert script_of(line_command(str(script), "claude-code", "x")) == str(script)


@pytest.mark.parametrize("fault", ["gone", "not executable", "no interpreter", "fails"])
def test_a_hook_does_nothing_and_ends_well_when_its_environment_is_broken(tmp_path: Path, fault: str) -> None:
    script = tmp_path / "punchlist"
    if fault != "gone":
        script.write_text("#!/no/such/python\n" if fault == "no interpreter" else "#!/bin/sh\nexit 2\n")
        script.chmod(0o644 if fault == "not executable" else 0o755)
    done = subprocess.run(["/bin/sh", "-c", hook_command(str(script), "codex")], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_script_cannot_be_read_from_a_command_that_makes_no_sense() -> None:
    assert script_of("'never closed") == ""


# --- declarations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", HOSTS)
def test_a_host_declares_parts_in_files_of_its_own_scope(name: str, scope: str) -> None:
    parts = installer_for(name).parts(where(scope))
    root = "/home/ann/project/" if scope == "project" else "/home/ann/"
    assert parts
    assert all(file.startswith(root) for part in parts for file in part.files)
    assert scope == "project" or not any("/project/" in file for part in parts for file in part.files)
    assert all(SCRIPT in json.dumps(part.value) for part in parts if part.kind in ("entry", "hooks"))


@pytest.mark.parametrize(
    ("name", "variables", "folder"),
    [
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/"),
        ("codex", {"CODEX_HOME": "/c"}, "/c/"),
        ("gemini", {"GEMINI_CLI_HOME": "/c"}, "/c/.gemini/"),
        ("opencode", {"XDG_CONFIG_HOME": "/c"}, "/c/opencode/"),
        ("oh-my-pi", {"PI_CODING_AGENT_DIR": "/c"}, "/c/"),
        ("oh-my-pi", {"PI_CONFIG_DIR": ".pi"}, "/home/ann/.pi/agent/"),
        ("oh-my-pi", {"OMP_PROFILE": "day"}, "/home/ann/.omp/profiles/day/agent/"),
        ("qwen-code", {"QWEN_HOME": "/c"}, "/c/"),
        ("copilot", {"COPILOT_HOME": "/c"}, "/c/"),
        ("goose", {"XDG_CONFIG_HOME": "/c"}, "/c/goose/"),
        ("goose", {"GOOSE_PATH_ROOT": "/c"}, "/c/config/"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_an_agent_s_own_variables_move_its_files(name: str, variables: dict[str, str], folder: str) -> None:
    parts = [part for part in installer_for(name).parts(where(**variables)) if "/.agents/" not in part.files[0]]
    assert all(file.startswith(folder) for part in parts for file in part.files)


def test_an_unknown_host_is_refused_with_those_there_are() -> None:
    with pytest.raises(Refused, match="no host 'frob'; the hosts are claude-code, codex, gemini, opencode"):
        installer_for("frob")


def test_a_hook_command_holds_nothing_that_an_agent_would_replace() -> None:
    words = shlex.split(hook_command(SCRIPT, "gemini"))
    assert not {"$", "{", "`"} & set("".join(words))


def test_codex_passes_on_every_setting_that_the_server_needs() -> None:
    """Of the others, hooks and terminals have use, which have the whole environment; and the agent of ours."""
    hooks = "reminders remind_after remind_again reminder_budget continuation idle_nudges nudges nudge_minutes"
    screens = "clear_delay style expanded plain unicode status_lines plan_mode_every seed_plan"
    agent = "model base_url context turns confirm_shell"
    others = {*hooks.split(), *screens.split(), *agent.split(), "origins", "problems"}
    passed = {name.removeprefix("PUNCHLIST_").lower() for name in codex.SERVER["env_vars"]}
    assert set(Settings._fields) - others == passed & set(Settings._fields)
