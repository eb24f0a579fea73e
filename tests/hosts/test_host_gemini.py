"""`punchlist hook gemini`: what Gemini CLI does differently from the others."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Plan, ops
from tests.commands import do

NUDGED = {"hook_event_name": "AfterAgent", "prompt_response": "So far."}


pytestmark = pytest.mark.usefixtures("own_project")


def hook(event: dict[str, Any]) -> str:
    """What the agent is told: a context, or the reason to go on."""
    given = json.dumps({"session_id": "s", "transcript_path": "", "cwd": os.getcwd(), **event})
    said = json.loads(do("hook", "gemini", stdin=given) or "{}")
    told: str = said.get("hookSpecificOutput", {}).get("additionalContext") or said.get("reason") or ""
    return told


def prompt(text: str, **more: Any) -> str:
    return hook({"hook_event_name": "BeforeAgent", "prompt": text, **more})


def nudged() -> str:
    """What it is nudged with when it stops; it goes on with that as if it were a prompt."""
    nudge = hook(NUDGED)
    if nudge:
        assert prompt(nudge) == ""
    return nudge


def used(tool: str, before: bool = False, **more: Any) -> str:
    args = {"command": "make"} if tool == "run_shell_command" else {"agent_name": "generalist", "prompt": "Look"}
    answer = {} if before else {"tool_response": {"llmContent": "<untrusted_context>\nok\n</untrusted_context>"}}
    name = "BeforeTool" if before else "AfterTool"
    return hook({"hook_event_name": name, "tool_name": tool, "tool_input": args, **answer, **more})


def planned(*texts: str, agent: str = "main") -> None:
    with punchlist.open(session="s", agent=agent) as desk:
        desk.call("plan", {"add": list(texts)})


def plan(agent: str = "main") -> Plan:
    with punchlist.open(session="s", agent=agent) as desk:
        return desk.load(calls=True)


def outputs(plan: Plan) -> list[str]:
    return [call["text"] for item in plan.items for call in item.calls]


# --- who has spoken --------------------------------------------------------------------------------------------------


def test_what_an_agent_is_sent_on_with_is_not_taken_for_the_user_s_word() -> None:
    """Gemini CLI hands it over as a prompt. The bounds hold all the same."""
    planned("Read", "Write")
    assert [bool(nudged()) for _ in range(5)] == [True, False, False, False, False]


def test_the_same_holds_for_a_model_that_knows_its_list_by_texts() -> None:
    todos = [{"description": "Read", "status": "in_progress"}]
    hook({"hook_event_name": "AfterTool", "tool_name": "write_todos", "tool_input": {"todos": todos}})
    assert [bool(nudged()) for _ in range(5)] == [True, False, False, False, False]


def test_what_stands_before_a_prompt_is_not_the_user_s_word() -> None:
    planned("Start it and wait")
    told = hook({"hook_event_name": "SessionStart", "source": "resume"})
    assert "Start it and wait" in told
    prompt(f"<hook_context>{told}</hook_context>\n\nGo on.")
    assert hook(NUDGED) != ""
    prompt(f"<hook_context>{told}</hook_context>\n\nWait.")
    assert hook(NUDGED) == ""


# --- whether it worked -----------------------------------------------------------------------------------------------


def test_a_command_that_failed_is_kept_as_failed() -> None:
    planned("Read")
    answers = ("Output: fine\nProcess Group PGID: 1", "Output: (empty)\nExit Code: 3\nProcess Group PGID: 1")
    for answer in answers:
        content = f"<untrusted_context>\n{answer}\n</untrusted_context>"
        used("run_shell_command", tool_response={"llmContent": content})
    assert [call["outcome"] for call in plan().items[0].calls] == ["ok", "failed"]


# --- a memory that was compressed ------------------------------------------------------------------------------------


def log(tmp_path: Path, *lines: dict[str, Any]) -> str:
    """The file in which Gemini CLI keeps the conversation, with some more lines."""
    path = tmp_path / "session.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    return str(path)


REPLACED = {"$set": {"messages": [{"type": "user", "content": "what happened so far"}]}}
SAID = {"type": "user", "content": [{"text": "hello"}]}


def test_after_a_compression_the_plan_is_told_again_once(tmp_path: Path) -> None:
    planned("Read", "Write")
    path = log(tmp_path, SAID, REPLACED)
    hook({"hook_event_name": "SessionStart", "source": "startup", "transcript_path": path})
    assert used("run_shell_command", transcript_path=log(tmp_path, SAID)) == ""
    told = used("run_shell_command", transcript_path=log(tmp_path, SAID, REPLACED, SAID))
    assert told.startswith("Your plan; what is open:\n- now 1 Read\n- 2 Write")
    assert used("run_shell_command", transcript_path=log(tmp_path, SAID)) == ""
    assert prompt("go on", transcript_path=log(tmp_path, REPLACED)) == told


def test_a_plan_that_is_still_in_the_memory_is_not_told_again(tmp_path: Path) -> None:
    planned("Read", "Write")
    path = log(tmp_path, SAID)
    told = hook({"hook_event_name": "SessionStart", "source": "resume", "transcript_path": path})
    context = f"<hook_context>{told}</hook_context>\n\n"
    log(tmp_path, REPLACED)
    assert prompt(f"{context}go on", transcript_path=path) == ""
    log(tmp_path, {"type": "user", "content": [{"text": context}]})
    assert used("run_shell_command", transcript_path=path) == ""
    log(tmp_path, {"$set": {"messages": [{"type": "user", "content": [{"text": context}]}]}})
    assert used("run_shell_command", transcript_path=path) == ""


def test_a_log_that_is_gone_or_was_begun_anew_disturbs_nobody(tmp_path: Path) -> None:
    planned("Read")
    path = log(tmp_path, SAID, SAID, SAID)
    hook({"hook_event_name": "SessionStart", "source": "startup", "transcript_path": path})
    os.unlink(path)
    assert used("run_shell_command", transcript_path=path) == ""
    assert "Read" in used("run_shell_command", transcript_path=log(tmp_path, REPLACED))


@pytest.mark.parametrize("kind", ["a pipe", "/dev/zero", "a folder", "no\0path"], ids=ascii)
def test_a_log_that_is_no_regular_file_is_not_read(kind: str, tmp_path: Path) -> None:
    planned("Read")
    path = kind if kind.startswith(("/", "no")) else str(tmp_path / kind)
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        os.mkdir(path)
    hook({"hook_event_name": "SessionStart", "source": "startup", "transcript_path": path})
    assert used("run_shell_command", transcript_path=path) == ""
    assert outputs(plan()) == ["ok"]


def test_of_a_very_long_log_the_end_is_read(tmp_path: Path) -> None:
    planned("Read")
    path = log(tmp_path, SAID)
    hook({"hook_event_name": "SessionStart", "source": "startup", "transcript_path": path})
    os.truncate(path, 4_000_000_000)
    assert "Read" in used("run_shell_command", transcript_path=log(tmp_path, SAID, REPLACED))


# --- whose tool it was -----------------------------------------------------------------------------------------------


def test_from_the_call_of_another_agent_to_its_answer_tools_are_that_agent_s() -> None:
    planned("Read")
    used("run_shell_command")
    used("invoke_agent", before=True)
    used("run_shell_command")
    assert outputs(plan()) == ["ok"], "the second one was the other agent's"
    used("invoke_agent")
    used("run_shell_command")
    assert outputs(plan()) == ["ok", "ok", "ok"]


def test_a_prompt_is_always_for_the_main_agent() -> None:
    planned("Read")
    used("invoke_agent", before=True)
    with punchlist.open(session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "Check the licence"))
    assert "Check the licence" in prompt("go on")
    used("run_shell_command")
    assert outputs(plan()) == ["ok"]
