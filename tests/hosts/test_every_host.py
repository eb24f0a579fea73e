"""What all agents have in common, each in the form of its own events. The hook runs as a process."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

import pytest

import punchlist
from punchlist import ops
from punchlist.hosts import HOSTS
from tests.commands import do


class Form(NamedTuple):
    """How an agent says that it starts, is prompted, has used a tool, stops."""

    start: dict[str, Any]
    prompt: dict[str, Any]
    used: dict[str, Any]
    stop: dict[str, Any]
    mirror: tuple[str, dict[str, Any]] | None  # its plan tool, and a call: `Read` is active then, `Write` pending
    tells: bool = True  # whether anything but a nudge reaches its model
    hears_prompts: bool = True  # whether what is said at a prompt does


def claude(name: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "session_id": "s", "transcript_path": "", **more}


def goose(name: str, **more: Any) -> dict[str, Any]:
    return {"event": name, "session_id": "s", **more}


def cursor(name: str, **more: Any) -> dict[str, Any]:
    about = {"conversation_id": "s", "generation_id": "g", "cursor_version": "3.9.16", "workspace_roots": ["/"]}
    return {"hook_event_name": name, "session_id": "s", **about, **more}


def plugin(moment: str, **more: Any) -> dict[str, Any]:
    return {"moment": moment, "session": "s", **more}


STEPS = [{"status": "in_progress"}, {"status": "pending"}]
NAMES = ("Read", "Write")


def whole(key: str, word: str, **more: str) -> dict[str, Any]:
    return {key: [{word: name, **step, **more} for name, step in zip(NAMES, STEPS, strict=True)]}


def like_claude(mirror: tuple[str, dict[str, Any]]) -> Form:
    return Form(
        claude("SessionStart", source="compact"),
        claude("UserPromptSubmit", prompt="go on"),
        claude("PostToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_response="ok"),
        claude("Stop", stop_hook_active=False, last_assistant_message="So far."),
        mirror,
    )


def by_plugin(mirror: tuple[str, dict[str, Any]]) -> Form:
    return Form(
        plugin("start", source="compact"),
        plugin("prompt", prompt="go on"),
        plugin("after", tool="bash", args={"command": "make"}, result="ok"),
        plugin("stop", said="So far."),
        mirror,
    )


QWEN_MADE = "Command: make\nDirectory: (root)\nOutput: ok\nError: (none)\nExit Code: 0\nSignal: (none)"
FORMS = {
    "claude-code": like_claude(("TodoWrite", whole("todos", "content", activeForm="Doing it"))),
    "codex": like_claude(("update_plan", whole("plan", "step"))),
    "gemini": Form(
        claude("SessionStart", source="resume"),
        claude("BeforeAgent", prompt="go on"),
        claude(
            "AfterTool",
            tool_name="run_shell_command",
            tool_input={"command": "make"},
            tool_response={"llmContent": "ok", "returnDisplay": "ok"},
        ),
        claude("AfterAgent", prompt_response="So far.", stop_hook_active=False),
        ("write_todos", whole("todos", "description")),
    ),
    "opencode": by_plugin(("todowrite", whole("todos", "content", priority="high"))),
    "oh-my-pi": by_plugin(("todo", {"i": "plan", "op": "init", "list": [{"phase": "All", "items": list(NAMES)}]})),
    "goose": Form(
        goose("SessionStart"),
        goose("UserPromptSubmit", message="go on"),
        goose("PostToolUse", tool_name="shell", tool_input={"command": "make"}, tool_call_id="1"),
        goose("Stop", last_assistant_message="So far."),
        None,
        tells=False,
    ),
    "qwen-code": Form(
        claude("SessionStart", source="compact"),
        claude("UserPromptSubmit", prompt="go on", submitted_prompt="go on"),
        claude(
            "PostToolUse",
            tool_name="run_shell_command",
            tool_input={"command": "make"},
            tool_response={"llmContent": QWEN_MADE, "returnDisplay": "ok"},
        ),
        claude("Stop", stop_hook_active=False, last_assistant_message="So far.", background_tasks=[], crons=[]),
        (
            "todo_write",
            {"todos": [{"id": str(at), **todo} for at, todo in enumerate(whole("todos", "content")["todos"])]},
        ),
    ),
    "cursor": Form(
        cursor("sessionStart", source="resume"),
        cursor("beforeSubmitPrompt", prompt="go on"),
        cursor(
            "postToolUse",
            tool_name="Shell",
            tool_input={"command": "make"},
            tool_output='{"output": "ok", "exitCode": 0}',
            tool_use_id="1",
        ),
        cursor("stop", status="completed", loop_count=0),
        None,
        hears_prompts=False,
    ),
    "copilot": Form(
        claude("SessionStart", source="resume"),
        claude("UserPromptSubmit", prompt="go on"),
        claude(
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": "make"},
            tool_result={"result_type": "success", "text_result_for_llm": "ok"},
        ),
        claude("Stop", stop_reason="end_turn", stop_hook_active=False),
        None,
        hears_prompts=False,
    ),
}
every_host = pytest.mark.parametrize("host", FORMS)


pytestmark = pytest.mark.usefixtures("own_project")


def hook(host: str, event: dict[str, Any]) -> str:
    """What the agent is told: a context, or the reason to go on."""
    place = {"goose": "working_dir"}.get(host, "cwd")
    given = json.dumps({place: os.getcwd(), **event})
    said = json.loads(do("hook", host, stdin=given) or "{}")
    inner = said.get("hookSpecificOutput", {})
    keys = ("reason", "context", "nudge", "additional_context", "followup_message")
    told: str = inner.get("additionalContext") or next((said[key] for key in keys if said.get(key)), "")
    return told


def planned(*texts: str) -> punchlist.Desk:
    desk = punchlist.open(session="s")
    desk.call("plan", {"add": list(texts)})
    return desk


def test_every_host_there_is_is_tested() -> None:
    assert FORMS.keys() == HOSTS.keys(), "FORMS needs an entry for each host: its events as the agent sends them"


@every_host
def test_an_agent_that_stops_early_is_nudged_once_and_left_alone_after_a_question(host: str) -> None:
    planned("Read", "Write").close()
    nudges = [hook(host, FORMS[host].stop) for _ in range(3)]
    assert [bool(nudge) for nudge in nudges] == [True, False, False]
    assert '"Read" (0/2)' in nudges[0]
    assert "The user's last message comes first" in nudges[0]
    asked = {key: "What does parser.py do?" if value == "go on" else value for key, value in FORMS[host].prompt.items()}
    assert "The plan is not finished" not in hook(host, asked)
    hook(host, FORMS[host].used)
    assert hook(host, FORMS[host].stop) == "", "no planned work since then"
    hook(host, FORMS[host].prompt)
    assert hook(host, FORMS[host].stop) != "", "the user said to go on"


@every_host
def test_a_user_s_edit_is_told_once_with_the_next_prompt_or_push(host: str) -> None:
    with planned("Read") as desk:
        desk.change(lambda plan: ops.add(plan, "Check the licence"))
    told = [hook(host, event) for event in (FORMS[host].prompt, FORMS[host].used, FORMS[host].stop, FORMS[host].stop)]
    heard = [index for index, text in enumerate(told) if "Check the licence" in text]
    first = 0 if FORMS[host].hears_prompts else 1
    assert heard == [first if FORMS[host].tells else 2]


@every_host
def test_a_pause_ends_with_the_next_prompt_and_until_then_the_agent_rests(host: str) -> None:
    with planned("Read") as desk:
        desk.change(lambda plan: ops.pause(plan, "the licence is missing"))
        assert hook(host, FORMS[host].stop) == ""
        hook(host, FORMS[host].prompt)
        assert desk.plan.paused is None
    assert hook(host, FORMS[host].stop) != ""


@every_host
def test_a_tool_call_is_kept_with_the_active_item_and_is_not_a_change_of_the_plan(host: str) -> None:
    with planned("Read", "Write") as desk:
        before = desk.plan
        hook(host, FORMS[host].used)
        assert desk.plan == before
        first, second = desk.load(calls=True).items
        (call,) = first.calls
        assert call["parameters"] == {"command": "make"}
        assert (call["outcome"], second.calls) == ("unknown" if host == "codex" else "ok", ())
        assert desk.undo().plan.items == ()


@every_host
def test_after_a_compaction_or_on_resume_the_plan_is_told_again(host: str) -> None:
    planned("Read", "Write").close()
    told = hook(host, FORMS[host].start)
    assert ("Read" in told and "Write" in told) == FORMS[host].tells


@pytest.mark.parametrize("host", [host for host, form in FORMS.items() if form.mirror])
def test_the_agent_s_own_plan_tool_is_mirrored(host: str) -> None:
    tool, args = FORMS[host].mirror or ("", {})
    names = (
        {"tool": "tool", "args": "args"}
        if "moment" in FORMS[host].used
        else {"tool": "tool_name", "args": "tool_input"}
    )
    event = {**FORMS[host].used, names["tool"]: tool, names["args"]: args}
    assert hook(host, event) == ""
    with punchlist.open(session="s") as desk:
        assert [(item.text, item.status) for item in desk.plan.items] == [("Read", "in_progress"), ("Write", "pending")]
        assert desk.load(calls=True).items[0].calls == ()


@pytest.mark.parametrize("op", ["block", "unblock"])
def test_what_an_agent_blocked_itself_is_no_news_to_it_and_an_edit_before_it_still_is(op: str) -> None:
    tool, args = FORMS["oh-my-pi"].mirror or ("", {})
    hook("oh-my-pi", plugin("after", tool=tool, args=args))
    given = {"op": op, "task": "Write", "reason": "the licence is missing"}
    with punchlist.open(session="s") as desk:
        if op == "unblock":
            desk.change(lambda plan: ops.block(plan, "2", why="no"), by=desk.agent)
        assert hook("oh-my-pi", plugin("after", tool="todo", args=given)) == ""
        assert desk.plan.items[1].status == ("blocked" if op == "block" else "pending")
        desk.change(lambda plan: ops.rename(plan, "1", "Read it"))
    again = {**given, "op": "unblock" if op == "block" else "block"}
    assert hook("oh-my-pi", plugin("after", tool="todo", args=again)) == 'the user renamed "Read" to "Read it".'


@every_host
def test_off_is_silence(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planned("Read").close()
    monkeypatch.setenv("PUNCHLIST_OFF", "1")
    assert [hook(host, event) for event in (FORMS[host].start, FORMS[host].prompt, FORMS[host].stop)] == ["", "", ""]
