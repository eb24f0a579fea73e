"""A conversation of Claude Code that was taken back to an earlier point, as its log shows it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist.hosts import answer
from punchlist.hosts.claude_code.rewind import went_back

TODOS = [{"content": text, "status": "pending", "activeForm": text} for text in ("Read", "Mend")]
LATER = [*TODOS, {"content": "Test", "status": "pending", "activeForm": "Test"}]


def entry(kind: str, uuid: str, parent: str | None, content: Any = "words", **more: Any) -> dict[str, Any]:
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "message": {"role": kind, "content": content}, **more}


RESULT = [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]
FIRST = [entry("user", "a", None), entry("assistant", "b", "a"), {"type": "system", "uuid": "c", "parentUuid": "b"}]
SECOND = [*FIRST, entry("user", "d", "c"), entry("assistant", "e", "d"), entry("user", "f", "e", RESULT)]


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ([], None),
        ([{"type": "system", "uuid": "c"}], None),
        (FIRST, False),
        (SECOND, False),
        ([*SECOND, entry("user", "g", "f")], False),
        ([*SECOND, entry("user", "g", "c")], True),
        ([*SECOND, entry("user", "g", "c"), entry("assistant", "h", "g"), entry("user", "i", "h", RESULT)], True),
        ([*SECOND, entry("user", "g", "c", [{"type": "text", "text": "with a picture"}])], True),
        ([*SECOND, entry("user", "g", "gone")], True),
        ([*SECOND, entry("assistant", "x", "a", isSidechain=True), entry("user", "g", "f")], False),
        ([*SECOND, {"type": "api-request"}, 3, entry("user", "g", "f"), entry("user", "m", "a", isMeta=True)], False),
        ([*SECOND, entry("user", "g", None)], False),
    ],
)
def test_a_prompt_that_follows_an_earlier_point_than_the_last_words_went_back(
    log: list[Any], expected: bool | None, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in log))
    assert went_back(str(path)) is expected
    assert not went_back(str(tmp_path / "none.jsonl"))


def test_after_a_rewind_an_older_list_leaves_out_nothing_that_was_made_in_the_part_that_is_gone(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.jsonl"

    def event(name: str, entries: list[Any], **more: Any) -> str:
        log.write_text("".join(json.dumps(line) + "\n" for line in entries))
        about = {"hook_event_name": name, "session_id": "s1", "cwd": str(tmp_path), "transcript_path": str(log)}
        return json.dumps(answer("claude-code", {**about, **more}))

    def wrote(todos: Any, entries: list[Any]) -> str:
        use = {"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_response": "ok", "tool_use_id": "t"}
        return event("PostToolUse", entries, **use)

    event("UserPromptSubmit", [], prompt="Mend it.")
    wrote(TODOS, FIRST)
    event("UserPromptSubmit", FIRST, prompt="Test it, too.")
    assert "Your plan" not in wrote(LATER, SECOND)
    event("UserPromptSubmit", SECOND, prompt="Just mend it.")
    told = wrote(TODOS, [*SECOND, entry("user", "g", "c"), entry("assistant", "h", "g")])
    assert "Your plan; what is open:\\n- Read\\n- Mend\\n- Test\\nContinue it when the user asks for it." in told
    with punchlist.open(session="s1") as desk:
        assert [item.text for item in desk.plan.open_items] == ["Read", "Mend", "Test"]
    assert "Your plan" not in wrote(TODOS, [*SECOND, entry("user", "g", "c"), entry("assistant", "h", "g")])


def test_a_log_that_does_not_have_the_prompt_yet_is_read_again_at_the_next_result(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    back = [*SECOND, entry("user", "g", "c"), entry("assistant", "h", "g")]

    def told(name: str, entries: list[Any], **more: Any) -> int:
        log.write_text("".join(json.dumps(line) + "\n" for line in entries))
        about = {"hook_event_name": name, "session_id": "s1", "cwd": str(tmp_path), "transcript_path": str(log)}
        return json.dumps(answer("claude-code", {**about, **more})).count("Your plan")

    read = {"tool_name": "Read", "tool_response": "ok", "tool_input": {}, "tool_use_id": "t"}
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Read", "Mend"]})
    assert told("UserPromptSubmit", SECOND, prompt="Just mend it.") == 0
    assert [told("PostToolUse", entries, **read) for entries in (SECOND, SECOND, back, back)] == [0, 0, 1, 0]
    assert told("UserPromptSubmit", back, prompt="Go on.") == 0
    on = [*back, entry("user", "i", "h"), entry("assistant", "j", "i")]
    assert [told("PostToolUse", entries, **read) for entries in (back, on, on)] == [0, 0, 0], "that was another prompt"


def test_of_several_hooks_that_run_at_once_after_a_rewind_one_tells_the_plan(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"

    def hook(name: str, **more: Any) -> subprocess.Popen[bytes]:
        about = {"hook_event_name": name, "session_id": "s1", "cwd": str(tmp_path), "transcript_path": str(log)}
        program = [sys.executable, "-m", "punchlist", "hook", "claude-code"]
        process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin
        with process.stdin as pipe:
            pipe.write(json.dumps({**about, **more}).encode())
        process.stdin = None
        return process

    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Read", "Mend"]})
    log.write_text("".join(json.dumps(line) + "\n" for line in SECOND))
    hook("UserPromptSubmit", prompt="Just mend it.").communicate()
    with log.open("a") as file:
        file.write(json.dumps(entry("user", "g", "c")) + "\n")
    read = {"tool_name": "Read", "tool_response": "ok"}
    hooks = [
        hook("PostToolUse", tool_use_id=f"t{number}", tool_input={"path": f"{number}"}, **read) for number in range(6)
    ]
    told = [process.communicate()[0].decode() for process in hooks]
    assert sum("Your plan" in one for one in told) == 1
