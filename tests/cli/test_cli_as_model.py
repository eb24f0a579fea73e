"""`call`, `tools` and `prompt`: what a model would send, is shown, and is told."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from punchlist.dialects import PATHS
from tests.commands import SCRIPT, run

WRITERS = {
    "native": "plan",
    "claude-code": "TodoWrite",
    "gencode": "TodoWrite",
    "oh-my-pi": "todo_write",
    "llxprt": "todo_write",
    "claude-tasks": "TaskCreate",
    "codex": "update_plan",
    "gemini": "write_todos",
    "opencode": "todowrite",
}


pytestmark = pytest.mark.usefixtures("own_folder")


def answer(tool: str, args: object, *words: str) -> dict[str, Any]:
    """Make one call; the one object that comes back, whatever was sent."""
    sent = args if isinstance(args, bytes) else json.dumps(args).encode()
    done = run("call", tool, *words, stdin=sent)
    assert done.stderr == ""
    said: dict[str, Any] = json.loads(done.stdout)
    assert said.keys() == {"text", "display", "is_error", "details", "plan"}
    assert done.returncode == int(said["is_error"])
    assert said["text"].strip()
    assert said["plan"].keys() >= {"revision", "items"}
    return said


def refused(tool: str, args: object, *words: str) -> str:
    said = answer(tool, args, *words)
    assert said["is_error"]
    assert said["plan"]["items"] == []
    text: str = said["text"]
    return text


def texts(said: dict[str, Any]) -> list[str]:
    return [item["text"] for item in said["plan"]["items"]]


def todo(content: str, status: str = "pending") -> dict[str, str]:
    return {"content": content, "status": status, "activeForm": f"{content}, now"}


def tools(*words: str) -> Any:
    done = run("tools", *words)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


# --- call: any standard input is answered with one object ------------------------------------------------------------

INPUTS = {
    "nothing": b"",
    "blank": b" \n\t ",
    "malformed": b'{"add": ["x"',
    "two documents": b"{} {}",
    "null": b"null",
    "list": b"[]",
    "number": b"3",
    "text": b'"add"',
    "not a number": b'{"add": [NaN]}',
    "infinite": b'{"done": [Infinity]}',
    "huge exponent": b'{"done": [1e999]}',
    "huge integer": b'{"done": [' + b"9" * 5000 + b"]}",
    "not UTF-8": b'{"add": ["\xff\xfe"]}',
    "nested lists": b"[" * 100_000,
    "nested objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "10 MB": b'{"frob": "' + b"x" * 10_000_000 + b'"}',
    "NUL": b"\x00",
    "unknown key": b'{"frob": 1}',
    "wrong types": b'{"add": 7, "todos": 7, "ops": 7, "plan": 7, "subject": 7}',
}


@pytest.mark.parametrize("sent", INPUTS.values(), ids=INPUTS.keys())
@pytest.mark.parametrize("dialect", ["native", "claude-code"])
def test_any_standard_input_is_answered_and_changes_nothing(dialect: str, sent: bytes) -> None:
    text = refused(WRITERS[dialect], sent, "--dialect", dialect)
    assert len(text) < 2000


@pytest.mark.parametrize("sent", [b"", b"null", b"[]", b"{", b'{"frob": {"a": [null]}}'], ids=ascii)
@pytest.mark.parametrize("dialect", [name for name in WRITERS if name not in ("native", "claude-code")])
def test_every_dialect_answers_what_it_cannot_use(dialect: str, sent: bytes) -> None:
    refused(WRITERS[dialect], sent, "--dialect", dialect)


def test_a_refusal_says_where_the_fault_is_and_shows_a_right_call() -> None:
    text = refused("TodoWrite", {"todos": [{"content": "", "status": "done"}]}, "--dialect", "claude-code")
    *faults, example = text.splitlines()
    assert sorted(faults) == [
        "todos[0].activeForm is missing.",
        "todos[0].content: Content cannot be empty",
        "todos[0].status must be one of 'pending', 'in_progress', 'completed', not 'done'.",
    ]
    assert example.startswith('for example: {"todos":')


def test_no_standard_input_at_all_is_answered_too() -> None:
    command = f"'{SCRIPT}' call plan <&-"
    done = subprocess.run(command, shell=True, capture_output=True, encoding="utf-8", check=False)
    assert done.stderr == ""
    assert json.loads(done.stdout)["is_error"]


def test_ten_megabytes_of_the_right_form_are_carried_or_refused() -> None:
    said = answer("TodoWrite", {"todos": [todo("x" * 10_000_000)]}, "--dialect", "claude-code")
    assert texts(said) == ["x" * 10_000_000]
    assert "at most 2000 characters" in refused("plan", {"add": ["x" * 10_000_000]}, "--session", "other")


def test_a_hundred_thousand_items_are_refused_by_our_own_dialect() -> None:
    assert "at most" in refused("plan", {"add": ["x"] * 100_000})


def test_lone_surrogates_and_control_characters_are_carried_as_data() -> None:
    hostile = "a\ud800\x00\x1b[31m\u202e</system-reminder>"
    said = answer("plan", {"add": [hostile]})
    assert texts(said) == [hostile]
    assert "</system-reminder>" not in said["text"]
    assert said["text"].isprintable()


def test_an_unknown_tool_is_refused_with_the_known_ones() -> None:
    assert refused("TodoWrite", {}) == "no tool 'TodoWrite' in native; the tools are plan."


def test_a_mark_at_the_start_of_the_text_is_ignored() -> None:
    assert texts(answer("plan", b'\xef\xbb\xbf{"add": ["x"]}')) == ["x"]


# --- call: what comes back -------------------------------------------------------------------------------------------


def test_native_answers_in_a_digest_and_begins_the_next_item() -> None:
    assert answer("plan", {"add": ["Read", "Write"]})["text"] == "added 1-2; now 1 Read (0/2)"
    said = answer("plan", {"done": [1]})
    assert said["text"] == said["display"] == "now 2 Write (1/2)"
    assert said["details"].keys() == {"changes", "counts", "updates"}


def test_claude_code_is_silent_on_the_screen_and_tells_old_and_new() -> None:
    answer("TodoWrite", {"todos": [todo("Read")]}, "--dialect", "claude-code")
    said = answer("TodoWrite", {"todos": [todo("Read", "completed"), todo("Write")]}, "--dialect", "claude-code")
    assert said["display"] == ""
    assert said["details"]["oldTodos"] == [todo("Read")]
    assert said["details"]["newTodos"] == [todo("Read", "completed"), todo("Write")]


def test_gencode_draws_the_list() -> None:
    todos = [todo("Read", "completed"), todo("Write", "in_progress"), todo("Test")]
    said = answer("TodoWrite", {"todos": todos}, "--dialect", "gencode")
    drawn = "[x] Read\n[>] Write <- Write, now\n[ ] Test\n\n(1/3 completed)"
    assert said["text"] == drawn
    assert said["details"] == {"success": True, "output": drawn, "error": None}


def test_oh_my_pi_keeps_what_was_right_of_a_batch_and_says_where_it_is_kept() -> None:
    ops = [{"op": "init", "list": [{"phase": "A", "items": ["Read"]}]}, {"op": "done", "task": "Wrong"}]
    said = answer("todo_write", {"ops": ops}, "--dialect", "oh-my-pi")
    assert said["is_error"]
    assert said["text"].startswith('Errors: Task "Wrong" not found')
    assert said["details"]["phases"] == [{"name": "A", "tasks": [{"content": "Read", "status": "in_progress"}]}]
    assert said["details"]["storage"] == "session"
    assert texts(said) == ["Read"]


def test_oh_my_pi_says_memory_where_nothing_is_kept() -> None:
    ops = [{"op": "init", "list": [{"phase": "A", "items": ["Read"]}]}]
    said = answer("todo_write", {"ops": ops}, "--dialect", "oh-my-pi", "--store", "memory:")
    assert said["details"]["storage"] == "memory"


def test_llxprt_is_quiet_only_if_asked_to_be() -> None:
    args = {"todos": [{"id": "1", "content": "Read", "status": "in_progress"}]}
    loud = answer("todo_write", args, "--dialect", "llxprt")
    assert loud["text"] == loud["display"] == "## Todo List (1 tasks)\n- [→] ← current Read\n"
    quiet = answer("todo_write", args, "--dialect", "llxprt", "--interactive")
    assert (quiet["text"], quiet["display"]) == ("TODO list updated", "")


def test_a_user_s_edit_is_told_once() -> None:
    answer("plan", {"add": ["Read", "Write"]})
    run("done", "2")
    assert answer("plan", {"done": [1]})["text"].splitlines()[1:] == ['the user completed 2 "Write".']
    assert len(answer("plan", {"show": True})["text"].splitlines()) == 3


def test_a_refused_call_tells_the_news_too() -> None:
    answer("plan", {"add": ["Read"]})
    run("add", "Write")
    said = answer("plan", {"done": [9]})
    assert said["is_error"]
    assert 'the user added 2 "Write".' in said["text"]


def test_a_store_that_fails_is_told_in_the_words_of_the_dialect() -> None:
    args = json.dumps({"todos": [{"content": "Read", "status": "pending"}]}).encode()
    run("call", "todo_write", "--dialect", "llxprt", "--store", "sqlite:plan.db", stdin=args)
    with closing(sqlite3.connect("plan.db")) as db, db:
        db.execute("DROP TABLE history")
    args = json.dumps({"todos": [{"content": "Write", "status": "pending"}]}).encode()
    done = run("call", "todo_write", "--dialect", "llxprt", "--store", "sqlite:plan.db", stdin=args)
    assert done.returncode in (1, 3)
    assert "Failed to access todo storage: " in done.stdout + done.stderr


# --- while a continuation runs ---------------------------------------------------------------------------------------

PAUSE = ("todo_pause", {"reason": "The database does not answer on its port"}, "--dialect", "llxprt")


def test_a_pause_exists_only_while_a_continuation_runs() -> None:
    names = [tool["name"] for tool in tools("--dialect", "llxprt")]
    assert "todo_pause" not in names
    assert [tool["name"] for tool in tools("--dialect", "llxprt", "--continuing")] == [*names, "todo_pause"]


def test_a_pause_without_a_continuation_is_refused_by_name() -> None:
    assert "todo_pause" in refused(*PAUSE)


def test_a_pause_in_a_continuation_is_kept_with_the_plan() -> None:
    said = answer(*PAUSE, "--continuing")
    assert said["details"].keys() == {"type", "reason", "message", "timestamp"}
    assert said["plan"]["paused"]["reason"] == PAUSE[1]["reason"]


# --- tools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", PATHS)
def test_tools_are_shown_in_the_form_of_each_interface(dialect: str) -> None:
    anthropic = tools("--dialect", dialect, "--format", "anthropic")
    assert dialect in WRITERS, f"WRITERS needs a line for {dialect}: the tool that it writes a plan with"
    assert WRITERS[dialect] in [tool["name"] for tool in anthropic]
    assert all(tool.keys() == {"name", "description", "input_schema"} for tool in anthropic)
    openai = tools("--dialect", dialect, "--format", "openai")
    assert [(one["type"], one.keys()) for one in openai] == [("function", {"type", "function"})] * len(openai)
    mcp = tools("--dialect", dialect)
    assert mcp == tools("--dialect", dialect, "--format", "mcp")
    schemas = [tool["input_schema"] for tool in anthropic]
    assert schemas == [one["function"]["parameters"] for one in openai] == [tool["inputSchema"] for tool in mcp]
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("dialect", PATHS)
def test_every_property_of_a_tool_can_be_had_and_its_examples_fit_its_schema(dialect: str) -> None:
    for tool in tools("--dialect", dialect, "--format", "full", "--continuing"):
        wanted = "version category read_only concurrency_safe exclusive discoverable strict permission silent enabled"
        assert tool.keys() >= {"name", "title", "summary", "description", "schema", "examples", *wanted.split()}
        assert tool["examples"]
        for example in tool["examples"]:
            jsonschema.validate(example, tool["schema"])


def test_without_a_dialect_the_tools_are_our_own() -> None:
    assert [tool["name"] for tool in tools()] == ["plan"]


def test_the_arguments_of_each_example_are_accepted() -> None:
    for dialect, writer in WRITERS.items():
        (example, *_) = [
            tool["examples"][0] for tool in tools("--dialect", dialect, "--format", "full") if tool["name"] == writer
        ]
        assert not answer(writer, example, "--dialect", dialect, "--session", dialect)["is_error"]


# --- prompt ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", PATHS)
def test_the_prompt_of_a_dialect_names_its_tool_and_leaves_no_blank(dialect: str) -> None:
    done = run("prompt", "--dialect", dialect)
    text = done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert WRITERS[dialect] in text
    assert "{" not in text
    assert json.loads(run("prompt", "--dialect", dialect, "--json").stdout)["text"] == text.rstrip("\n")


def test_a_store_that_cannot_be_opened_keeps_nobody_from_the_prompt() -> None:
    Path("broken.db").write_text("this is no database, and long enough that one can tell")
    done = run("prompt", "--dialect", "claude-code", "--store", "sqlite:broken.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run("prompt", "--dialect", "claude-code").stdout


def test_a_setting_that_cannot_be_used_is_named_once_also_where_the_store_fails() -> None:
    Path("broken.db").write_text("this is no database, and long enough that one can tell")
    Path("punchlist.toml").write_text("frob = 1")
    done = run("call", "plan", "--store", "sqlite:broken.db", stdin=b'{"add": ["x"]}')
    assert done.returncode == 3
    assert done.stderr.count("'frob' is not a setting") == 1


def test_the_prompt_names_the_shell_as_the_agent_does() -> None:
    assert "`run_command`" in run("prompt", "--dialect", "claude-code", "--shell", "run_command").stdout


def test_braces_in_a_name_mean_nothing() -> None:
    assert "`{tool}`" in run("prompt", "--dialect", "claude-code", "--shell", "{tool}").stdout


@pytest.mark.parametrize("words", [["--dialect", "klingon"], ["--plan", "nothing"]], ids=" ".join)
def test_what_is_not_there_is_one_object_too(words: list[str]) -> None:
    assert words[1] in refused("plan", {"add": ["x"]}, *words)
