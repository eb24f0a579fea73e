"""`punchlist run` in the dialects of other agents: what a user sees of it, and that a session goes on as it was."""

from __future__ import annotations

import json
import os
import shlex
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from punchlist import Desk, StoreError
from punchlist.stores import open_store
from tests import commands
from tests.agent.commands import entries, script, transcripts
from tests.agent.contexts import call, turn
from tests.agent.terminal import Terminal
from tests.commands import SCRIPT

TEXTS = ("Fix tests", "Write docs", "Build")
FORMS = ("Fixing tests", "Writing docs", "Building")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def todos(*statuses: str) -> dict[str, Any]:
    made = [
        {"content": text, "activeForm": form, "status": status}
        for text, form, status in zip(TEXTS, FORMS, statuses, strict=True)
    ]
    return call("TodoWrite", todos=made)


def run(tmp_path: Path, dialect: str, *turns: dict[str, Any], words: tuple[str, ...] = ()) -> list[str]:
    model = script(tmp_path, *turns, turn(text="Which one?"))
    done = commands.run("run", "--dialect", dialect, "--model", model, *words, "go")
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[-3] == "Which one?"
    return lines[:-3]


BEGUN, LATER = ("in_progress", "pending", "pending"), ("completed", "in_progress", "pending")


# --- what is seen ----------------------------------------------------------------------------------------------------


def test_claude_codes_tool_leaves_nothing_in_the_transcript(tmp_path: Path) -> None:
    refused = call("TodoWrite", todos=[{"content": ""}])
    assert run(tmp_path, "claude-code", turn(todos(*BEGUN)), turn(refused), turn(todos(*LATER))) == []


def test_a_silent_tool_is_silent_when_it_is_refused_in_plan_mode(tmp_path: Path) -> None:
    model = script(tmp_path, turn(todos(*BEGUN)), turn(text="Hm?"), turn(todos(*LATER)), turn(text="Well?"))
    commands.run("run", "--dialect", "claude-code", "--model", model, "go")
    commands.run("mode", "plan")
    done = commands.run("run", "--continue", "look")
    assert "plan mode: nothing goes on the list yet" in json.dumps(entries(transcripts(tmp_path / "home")[0]))
    assert "TodoWrite" not in done.stdout
    assert "nothing goes on the list" not in done.stdout


def test_a_silent_tool_is_silent_when_it_is_away(tmp_path: Path) -> None:
    found = run(tmp_path, "claude-code", turn(todos(*BEGUN)), turn(call("quiet")), turn(todos(*LATER)))
    assert found == ["→ quiet", "  the plan and sub-agents are away until the commit is made."]
    assert "no tool 'TodoWrite'" in json.dumps(entries(transcripts(tmp_path / "home")[0]))


def test_a_list_that_is_emptied_says_so_in_every_style(tmp_path: Path) -> None:
    model = script(tmp_path, turn(todos(*BEGUN)), turn(call("TodoWrite", todos=[])), turn(text="So."))
    shown = commands.run("run", "--dialect", "gencode", "--model", model, "go").stdout
    assert shown.endswith("📋 Todo list updated:\n  No todos.\nSo.\n")
    begin = call("todo_write", ops=[{"op": "init", "list": [{"phase": "Build", "items": ["A"]}]}])
    model = script(tmp_path, turn(begin), turn(call("todo_write", ops=[{"op": "init", "list": []}])), turn(text="So."))
    shown = commands.run("run", "--dialect", "oh-my-pi", "--model", model, "go").stdout
    assert shown.endswith("Todo list cleared.\nSo.\n")


def test_a_sub_agent_is_not_asked_to_repeat_a_call_that_it_may_not_make(tmp_path: Path) -> None:
    begin = call("todo_write", ops=[{"op": "init", "list": [{"phase": "Build", "items": ["A"]}]}])
    done = call("todo_write", ops=[{"op": "done"}])
    helper = {"turns": [turn(done), turn(text="Well.", expect=["no tool 'todo_write'"], absent=["Send it again"])]}
    task = call("task", name="helper", prompt="Finish it.")
    model = script(tmp_path, turn(begin), turn(task), turn(text="Which one?"), workers={"helper": helper})
    shown = commands.run("run", "--dialect", "oh-my-pi", "--model", model, "go").stdout
    assert "Status: Completed" in shown
    (log,) = [path for path in transcripts(tmp_path / "home") if ".helper." in path.name]
    assert [one["type"] for one in entries(log)].count("attachment") == 0


def test_a_sub_agent_that_ends_with_open_items_says_how_many(tmp_path: Path) -> None:
    helper = {"turns": [turn(todos(*LATER)), turn(text="Enough.")]}
    task = call("task", name="helper", prompt="Go.")
    model = script(
        tmp_path,
        turn(task),
        turn(text="So.", expect=["Enough.\n(2 items of its list left open)"]),
        workers={"helper": helper},
    )
    done = commands.run("run", "--dialect", "claude-code", "--model", model, "go")
    assert done.returncode == 0
    assert "  (2 items of its list left open)" in done.stdout


def test_with_another_style_a_silent_tool_stays_silent_and_the_plan_has_its_line(tmp_path: Path) -> None:
    found = run(tmp_path, "claude-code", turn(todos(*BEGUN)), turn(todos(*LATER)), words=("--style", "punchlist"))
    assert found == ["▶ Fixing tests 0/3", "▶ Writing docs 1/3"]


def test_gencode_shows_its_list_when_it_is_made_and_a_line_for_each_status(tmp_path: Path) -> None:
    twice = todos("in_progress", "in_progress", "pending")
    assert run(tmp_path, "gencode", turn(todos(*BEGUN)), turn(twice), turn(todos(*LATER))) == [
        "📋 Todo list updated:",
        "  ▶ Fixing tests",
        "  ○ Write docs",
        "  ○ Build",
        "→ TodoWrite",
        "  Only one task can be in_progress at a time",
        '[Todo: "Fix tests" → completed]',
        '[Todo: "Writing docs" → in_progress]',
    ]


def test_oh_my_pi_shows_one_tree_for_a_call_with_the_active_task_in_it(tmp_path: Path) -> None:
    items = [f"Task {number}" for number in range(1, 21)]
    begin = call("todo_write", ops=[{"op": "init", "list": [{"phase": "Build", "items": items}]}])
    on = call("todo_write", ops=[{"op": "done", "task": text} for text in items[:14]])
    found = run(tmp_path, "oh-my-pi", turn(begin), turn(on))
    assert [place for place, line in enumerate(found) if line.startswith("Todos ")] == [0, 10]
    assert not any("todo_write" in line or "Remaining" in line for line in found)
    assert any("▶ Task 1" in line for line in found[:10])
    assert any("▶ Task 15" in line for line in found[10:])
    assert len(found) == 20  # a head, eight rows of the tree and how many are left out, twice


def test_oh_my_pi_says_that_an_update_failed(tmp_path: Path) -> None:
    begin = call("todo_write", ops=[{"op": "init", "list": [{"phase": "Build", "items": ["A", "B"]}]}])
    wrong = call("todo_write", ops=[{"op": "done", "task": "A"}, {"op": "done", "task": "Nope"}])
    found = run(tmp_path, "oh-my-pi", turn(begin), turn(wrong))
    assert '· Todo update failed: Task "Nope" not found' in found
    assert found[-1].endswith("▶ B")


def test_llxprt_shows_its_list_where_no_panel_does(tmp_path: Path) -> None:
    begin = call("todo_write", todos=[{"id": "1", "content": "Read", "status": "in_progress"}])
    assert run(tmp_path, "llxprt", turn(begin)) == [
        "→ todo_write",
        "▶ Read 0/1",
        "  ## Todo List (1 tasks)",
        "  - [→] ← current Read",
    ]


def test_llxprt_is_quiet_where_a_panel_shows_the_list(tmp_path: Path) -> None:
    begin = call("todo_write", todos=[{"id": "1", "content": "Read", "status": "in_progress"}])
    model = script(tmp_path, turn(begin), turn(text="Which one?"))
    terminal = Terminal(SCRIPT, "run", "--dialect", "llxprt", "--model", model, "go")
    terminal.wait_for("to continue: ")
    terminal.wait_for_end()
    assert "todo_write" not in terminal.text
    assert "TODO list updated" not in terminal.text
    (result,) = [one for one in entries(transcripts(tmp_path / "home")[0]) if one["type"] == "result"]
    assert result["text"] == "TODO list updated"
    terminal.close()


def test_the_plan_is_drawn_in_the_style_of_the_dialect(tmp_path: Path) -> None:
    run(tmp_path, "gencode", turn(todos(*LATER)))
    assert "┌─ Tasks ─" in commands.run("run", "--continue", "/todo").stdout
    assert "Plan  ━━━" in commands.run("run", "--continue", "--style", "punchlist", "/todo").stdout


# --- a session goes on as it was -------------------------------------------------------------------------------------


def test_a_session_goes_on_with_its_dialect_its_store_its_model_and_its_style(tmp_path: Path) -> None:
    model = script(
        tmp_path,
        turn(todos(*BEGUN)),
        turn(text="Which one?"),
        turn(todos(*LATER), call("shell", command="punchlist show --json > seen.json")),
        turn(text="And now?"),
    )
    relative = f"script:{os.path.relpath(model.removeprefix('script:'))}"
    words = ("--dialect", "gencode", "--store", "sqlite:own.db", "--style", "claude-code", "--model", relative)
    first = commands.run("run", *words, "go")
    last = first.stdout.splitlines()[-1]
    assert last.startswith("to continue: punchlist run --resume ")
    shell = {**os.environ, "PATH": f"{Path(SCRIPT).parent}:{os.environ['PATH']}"}
    command = last.removeprefix("to continue: ")
    assert shlex.split(command)[-1] == "go on"
    again = subprocess.run(["sh", "-c", command], capture_output=True, encoding="utf-8", env=shell, check=False)
    assert (again.returncode, again.stderr) == (0, "")
    plan = json.loads(commands.run("show", "--store", "sqlite:own.db", "--json").stdout)
    assert [item["status"] for item in plan["items"]] == list(LATER)
    assert json.loads(Path("seen.json").read_text())["id"] == plan["id"]
    assert "Todo list updated" not in again.stdout
    assert not json.loads(commands.run("show", "--json").stdout).get("items")


def test_a_flag_counts_more_than_what_the_session_had(tmp_path: Path) -> None:
    commands.run("run", "--dialect", "gencode", "--model", script(tmp_path, turn(text="Hello?")), "go")
    other = script(tmp_path, turn(), turn(call("plan", add=["Read"])), turn(text="Well?"))
    done = commands.run("run", "--continue", "--dialect", "native", "--model", other, "go")
    assert "added 1; now 1 Read (0/1)" in done.stdout


def test_a_session_of_an_older_version_goes_on_with_what_its_head_has(tmp_path: Path) -> None:
    model = script(tmp_path, turn(text="Hello?"), turn(todos(*BEGUN)), turn(text="Well?"))
    commands.run("run", "--dialect", "gencode", "--model", model, "go")
    (path,) = transcripts(tmp_path / "home")
    head, *more = entries(path)
    old = {name: head[name] for name in ("type", "id", "agent", "place", "model", "dialect", "at")}
    path.write_text("".join(json.dumps(line) + "\n" for line in [old, *more]))
    assert "📋 Todo list updated:" in commands.run("run", "--continue", "go").stdout


def test_the_password_of_a_store_is_not_kept_and_has_to_be_named_again(tmp_path: Path) -> None:
    model = script(tmp_path, turn(text="Hello?"))
    commands.run("run", "--model", model, "go")
    (path,) = transcripts(tmp_path / "home")
    head, *more = entries(path)
    head["store"] = "postgresql://me:***@127.0.0.1:1/plans"
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *more]))
    done = commands.run("run", "--continue", "go")
    assert done.returncode == 1
    assert "the password is not kept: name the store with --store" in done.stderr
    again = commands.run("run", "--continue", "--store", "postgresql://me:secret@127.0.0.1:1/plans", "go")
    assert again.returncode == 3
    assert "secret" not in again.stderr + path.read_text()


@pytest.mark.parametrize("dialect", ["claude-code", "gencode"])
def test_a_list_that_the_user_imports_is_told_to_the_model_and_an_old_list_does_not_replace_it(
    tmp_path: Path, dialect: str
) -> None:
    model = script(
        tmp_path,
        turn(todos(*BEGUN)),
        turn(text="Well?"),
        turn(todos(*LATER), expect=["he user replaced the list", "Mine", "Yours"]),
        turn(text="And now?"),
    )
    commands.run("run", "--dialect", dialect, "--model", model, "go")
    Path("mine.md").write_text("- [ ] Mine\n- [ ] Yours\n")
    assert "holds 2 items" in commands.run("run", "--continue", "/todo import mine.md").stdout
    done = commands.run("run", "--continue", "go on")
    assert (done.returncode, done.stderr) == (0, "")
    listed = json.loads(commands.run("show", "--json").stdout)["items"]
    assert [item["text"] for item in listed] == ["Mine", "Yours"]


# --- a pause that fails ----------------------------------------------------------------------------------------------


def test_the_message_of_a_pause_is_shown_complete_in_local_time(tmp_path: Path) -> None:
    reason = "The configuration file is missing and only the user can provide it"
    begin = call("todo_write", todos=[{"id": "1", "content": "Read", "status": "in_progress"}])
    model = script(tmp_path, turn(begin), turn(text="So far."), turn(call("todo_pause", reason=reason)))
    done = commands.run("run", "--dialect", "llxprt", "--model", model, "read it", TZ="XYZ-14")
    lines = [line.strip() for line in done.stdout.splitlines()]
    told = lines[lines.index("🛑 Task Paused") :]
    assert told[1] == f"Reason: {reason}"
    assert sum(line.startswith("•") for line in told) == 3
    assert "punchlist resume" in told[7]
    (result,) = [one for one in entries(transcripts(tmp_path / "home")[0]) if one.get("tool") == "todo_pause"]
    at = datetime.fromisoformat(result["details"]["timestamp"])
    assert told[2] == f"Time: {at + timedelta(hours=14):%H:%M:%S}"


def test_a_reason_that_is_refused_does_not_stop_the_agent(tmp_path: Path) -> None:
    begin = call("todo_write", todos=[{"id": "1", "content": "Read", "status": "in_progress"}])
    refused = turn(call("todo_pause", reason="I am stuck"))
    goes_on = turn(call("shell", command="echo further"), expect=["Invalid pause reason: "])
    found = run(tmp_path, "llxprt", turn(begin), turn(text="So far."), refused, goes_on)
    assert "→ shell echo further" in found
    assert json.loads(commands.run("show", "--json").stdout).get("paused") is None


def test_a_session_of_before_that_has_no_todos_and_names_no_dialect_goes_on(tmp_path: Path) -> None:
    model = script(tmp_path, turn(text="Hello."), turn(todos(*BEGUN), expect=["and now?"]), turn(text="Which one?"))
    commands.run("run", "--model", model, "--session", "old", "hi")
    (path,) = transcripts(tmp_path / "home")
    head, *rest = path.read_text().splitlines()
    kept = {key: value for key, value in json.loads(head).items() if key in ("type", "id", "agent", "place", "at")}
    path.write_text("\n".join([json.dumps(kept), *rest, ""]))
    done = commands.run("run", "--resume", "old", "--dialect", "gencode", "--model", model, "and now?")
    assert (done.returncode, done.stderr) == (0, "")
    assert "📋 Todo list updated:" in done.stdout


def test_the_reason_of_a_pause_is_told_once_and_wrapped_on_a_small_screen(tmp_path: Path) -> None:
    reason = "The configuration file is missing from the folder and only the user can provide it to me"
    begin = call("todo_write", todos=[{"id": "1", "content": "Read", "status": "in_progress"}])
    model = script(tmp_path, turn(begin), turn(text="So far."), turn(call("todo_pause", reason=reason)))
    words = ("run", "--dialect", "llxprt", "--plain", "--model", model, "read it")
    terminal = Terminal(SCRIPT, *words, columns=50)
    terminal.wait_for_end()
    told = terminal.text.partition("Task Paused")[2]
    assert reason in " ".join(told.split())
    assert told.count("The configuration file is missing") == 1
    terminal.close()


def test_an_attached_agent_whose_pause_failed_is_not_nudged_until_the_user_speaks(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'plans.db'}"
    todo = {"id": "1", "content": "Read", "status": "in_progress"}
    reason = "The configuration file is missing and only the user can provide it"
    desk = Desk(open_store(url, patience="0.1"), session="s1", dialect="llxprt")
    hook(url, "UserPromptSubmit", prompt="read it")
    desk.call("todo_write", {"todos": [todo]})
    with closing(sqlite3.connect(tmp_path / "plans.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            desk.call("todo_pause", {"reason": reason}, continuing=True)
    desk.close()
    assert hook(url, "Stop", last_assistant_message="So far, so good.") == ""
    assert "its pause failed" in commands.run("log", "--events", "--store", url, "--session", "s1").stdout
    hook(url, "UserPromptSubmit", prompt="go on")
    assert "Read" in hook(url, "Stop", last_assistant_message="So far, so good.")


def hook(url: str, name: str, **more: str) -> str:
    event = {"hook_event_name": name, "session_id": "s1", **more}
    done = commands.run("hook", "claude-code", stdin=json.dumps(event), PUNCHLIST_STORE=url)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# --- the log of a session --------------------------------------------------------------------------------------------

LOGS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "claude-code": (
        [todos(*BEGUN), call("TodoWrite", todos=[{"content": ""}]), todos(*LATER)],
        [("Fix tests", "completed"), ("Write docs", "in_progress"), ("Build", "pending")],
    ),
    "gencode": (
        [todos(*BEGUN), todos(*LATER)],
        [("Fix tests", "completed"), ("Write docs", "in_progress"), ("Build", "pending")],
    ),
    "oh-my-pi": (
        [
            call("todo_write", ops=[{"op": "init", "list": [{"phase": "P", "items": ["A", "B"]}]}]),
            call("todo_write", ops=[{"op": "done", "task": "A"}, {"op": "done", "task": "Nope"}]),
        ],
        [("A", "completed"), ("B", "in_progress")],
    ),
    "llxprt": (
        [call("todo_write", todos=[{"id": "1", "content": "Read", "status": "in_progress"}])],
        [("Read", "in_progress")],
    ),
    "native": (
        [call("plan", add=["Read", "Write"]), call("plan", done=[1])],
        [("Read", "completed"), ("Write", "in_progress")],
    ),
}


@pytest.mark.parametrize("dialect", LOGS)
def test_the_list_can_be_taken_from_the_log_of_a_session(tmp_path: Path, dialect: str) -> None:
    calls, wanted = LOGS[dialect]
    run(tmp_path, dialect, *map(turn, calls))
    (path,) = transcripts(tmp_path / "home")
    assert imported(path) == wanted
    if dialect == "oh-my-pi":
        results = [one["details"] for one in entries(path) if one["type"] == "result"]
        assert results[-1]["phases"][0]["tasks"][1] == {"content": "B", "status": "in_progress"}


def imported(path: Path) -> list[tuple[str, str]]:
    other = f"sqlite:{path.parent / 'other.db'}"
    done = commands.run("import", "--format", "transcript", "--store", other, "--session", "copy", str(path))
    assert done.returncode == 0, done.stderr
    plan = json.loads(commands.run("show", "--json", "--store", other, "--session", "copy").stdout)
    return [(item["text"], item["status"]) for item in plan["items"]]


def test_an_edit_of_the_user_is_in_the_log(tmp_path: Path) -> None:
    model = script(tmp_path, turn(call("plan", add=["Read", "Write"])), turn(text="So?"), turn(text="Well?"))
    terminal = Terminal(SCRIPT, "run", "--model", model)
    terminal.wait_for("/help lists the commands.")
    terminal.enter("go")
    terminal.wait_for("So?")
    terminal.enter("/todo done 2")
    terminal.wait_for('completed 2 "Write".')
    terminal.enter("/quit")
    terminal.wait_for_end()
    terminal.close()
    (path,) = transcripts(tmp_path / "home")
    edits = [one["data"] for one in entries(path) if one.get("customType") == "user_todo_edit"]
    assert edits[-1]["phases"][0]["tasks"][1]["status"] == "completed"
    assert imported(path) == [("Read", "in_progress"), ("Write", "completed")]
    commands.run("rename", "1", "Read it all")
    assert "you renamed 1" in commands.run("run", "--continue", "go on").stdout
    assert imported(path)[0][0] == "Read it all"


def test_an_attachment_in_the_log_is_a_message_of_the_user_that_nobody_is_shown(tmp_path: Path) -> None:
    run(tmp_path, "claude-code", turn(todos(*LATER)))
    commands.run("rename", "2", "Write the docs")
    commands.run("run", "--continue", "--model", script(tmp_path, turn(), turn(), turn(text="Well?")), "go on")
    found = [one for one in entries(transcripts(tmp_path / "home")[0]) if one["type"] == "attachment"]
    for one in found:
        assert (one["role"], one["isMeta"]) == ("user", True)
        assert one["attachment"]["type"] == one["kind"]
        assert one["timestamp"]
    assert found[-1]["attachment"]["itemCount"] == 3
    assert len({one["uuid"] for one in found}) == len(found)


def test_an_attachment_as_json_is_a_message_of_the_user() -> None:
    commands.run("add", "Read")
    one, *_ = json.loads(commands.run("attach", "--dialect", "claude-code", "--context", "compact", "--json").stdout)
    assert one["message"] == {"role": "user", "content": one["text"]}
    assert (one["type"], one["isMeta"], one["attachment"]["itemCount"]) == ("attachment", True, 1)


def test_the_user_reads_what_the_agent_was_told_in_words_for_the_user(tmp_path: Path) -> None:
    run(tmp_path, "native", turn(call("plan", add=["Read"])))
    commands.run("rename", "1", "Read it all")
    done = commands.run("run", "--continue", "--model", script(tmp_path, turn(), turn(), turn(text="Well?")), "go on")
    (line,) = [line for line in done.stdout.splitlines() if "was told" in line]
    assert line.startswith("· the agent was told: you renamed 1 ")
    assert "The plan was edited" not in done.stdout


def test_the_last_answer_does_not_speak_of_what_is_open(tmp_path: Path) -> None:
    model = script(tmp_path, turn(todos("completed", "completed", "completed")), turn(text="Done."))
    commands.run("run", "--dialect", "claude-code", "--model", model, "go")
    (result,) = [one for one in entries(transcripts(tmp_path / "home")[0]) if one["type"] == "result"]
    assert "carry on with what is open" not in result["text"]


# --- the shell -------------------------------------------------------------------------------------------------------


def test_what_confirm_shell_means_is_said_at_the_first_start_only(tmp_path: Path) -> None:
    for times in (1, 0):
        terminal = Terminal(SCRIPT, "run", "--model", script(tmp_path, turn(text="Hello?")), "go", columns=80)
        terminal.wait_for("Hello?")
        terminal.wait_for_end()
        assert terminal.text.count("The agent asks you before shell commands") == times
        assert terminal.text.count("confirm_shell") == times
        terminal.close()


def test_without_a_terminal_a_command_that_reaches_outside_is_refused_unless_it_is_allowed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    calls = (turn(call("shell", command="rm -rf ../victim")), turn(text="Well?"))
    done = commands.run("run", "--model", script(tmp_path, *calls), "go")
    assert "outside of the folder, and nobody is here to allow it" in done.stdout
    assert victim.exists()
    commands.run("run", "--model", script(tmp_path, *calls), "--confirm-shell", "never", "go")
    assert not victim.exists()


@pytest.mark.parametrize(("word", "meant"), [("true", "always"), ("false", "never")])
def test_confirm_shell_is_still_understood_as_true_or_false(word: str, meant: str) -> None:
    shown = json.loads(commands.run("settings", "--json", PUNCHLIST_CONFIRM_SHELL=word).stdout)
    assert shown["confirm_shell"]["value"] == meant
