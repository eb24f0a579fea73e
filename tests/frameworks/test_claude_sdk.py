"""The plan in the Claude Agent SDK, with a program that a test stands in for at the SDK's own seam.
`test_claude_sdk_program.py` has the same with Claude Code itself."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from threading import enumerate as enumerate_threads
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    ResultMessage,
    create_sdk_mcp_server,
    tool,
)

import punchlist
from punchlist import ops
from punchlist.adapters import claude_sdk, safe_desk
from punchlist.adapters.claude_sdk import attach
from punchlist.testing import conformance
from tests.agent.commands import until
from tests.frameworks.claude_program import PREFIX, Call, Program, plan, run, scripted, shell

NUDGE = "The plan is not finished:"
TOOL = f"{PREFIX}plan"


def play(program: Program, options: ClaudeAgentOptions, prompt: str = "Fix the parser.") -> str:
    said = asyncio.run(run(program, options, prompt))
    assert program.hook_errors == []
    return said


def store_of(folder: Path) -> str:
    return f"sqlite:{folder}/plan.db"


def items(folder: Path, session: str, agent: str = "main") -> list[tuple[str, str]]:
    with punchlist.open(store_of(folder), session=session, agent=agent) as desk:
        return [(item.text, item.status) for item in desk.plan.items]


def told(program: Program) -> str:
    """All that the model was told, beside its own words."""
    return "\n".join(json.dumps(one["content"]) for one in program.messages if one["role"] == "user")


async def hook(event: Any, use: str | None, context: Any) -> Any:
    return {}


# --- the options -----------------------------------------------------------------------------------------------------


def test_what_the_user_has_in_the_options_stays_and_the_options_are_not_changed(tmp_path: Path) -> None:
    @tool("greet", "Greet somebody", {"name": str})
    async def greet(args: Any) -> Any:
        return {"content": []}

    server = create_sdk_mcp_server("own", tools=[greet])
    matcher = HookMatcher(matcher="Bash", hooks=[hook])
    options = ClaudeAgentOptions(
        mcp_servers={"own": server},
        hooks={"PreToolUse": [matcher], "Notification": [matcher]},
        allowed_tools=["Bash"],
        system_prompt="You fix parsers.",
        env={"A": "1"},
        max_turns=7,
    )
    before = repr(options)
    made = attach(options, store_of(tmp_path))
    assert repr(options) == before
    assert isinstance(made.mcp_servers, dict)
    assert made.mcp_servers["own"] is server
    assert list(made.mcp_servers) == ["own", "punchlist"]
    assert made.hooks is not None
    assert made.hooks["PreToolUse"][0] is matcher
    assert made.hooks["Notification"] == [matcher]
    assert made.allowed_tools == ["Bash", TOOL]
    assert str(made.system_prompt).startswith("You fix parsers.\n\nFor work of 3 or more steps")
    assert (made.env["A"], made.max_turns) == ("1", 7)
    assert not (tmp_path / "plan.db").exists(), "no store is opened before something is to be kept"


def test_options_are_optional() -> None:
    assert attach(store="memory:").allowed_tools == [TOOL]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (None, ""),
        ("You fix parsers.", ""),
        ({"type": "preset", "preset": "claude_code"}, "append"),
        ({"type": "preset", "preset": "claude_code", "append": "Be brief.", "snapshot": False}, "append"),
        ({"type": "custom", "prompt": "You fix parsers.", "snapshot": True}, "prompt"),
    ],
)
def test_the_text_goes_behind_a_system_prompt_in_its_form_once(given: Any, field: str) -> None:
    made = attach(attach(ClaudeAgentOptions(system_prompt=given), "memory:"), "memory:")
    found: Any = made.system_prompt
    text, own = (found[field], given.get(field)) if field else (found, given)
    assert text.count("make a plan with `plan`") == 1
    assert text.startswith(f"{own}\n\n" if own else "For work")
    if field:
        assert {**found, field: None} == {**given, field: None}


def test_the_text_goes_behind_a_system_prompt_in_a_file_by_an_argument() -> None:
    given: Any = {"type": "file", "path": "prompt.md"}
    extra: dict[str, str | None] = {"append-system-prompt": "Be brief.", "debug": None}
    made = attach(attach(ClaudeAgentOptions(system_prompt=given, extra_args=extra), "memory:"), "memory:")
    assert made.system_prompt == given
    assert str(made.extra_args["append-system-prompt"]).startswith("Be brief.\n\nFor work of 3 or more steps")
    assert str(made.extra_args["append-system-prompt"]).count("For work") == 1
    assert made.extra_args["debug"] is None


def test_a_prompt_that_has_the_text_is_left_as_it_is() -> None:
    with punchlist.open("memory:") as desk:
        prompt = f"{desk.system_prompt('Bash')}\n\nYou fix parsers."
    assert attach(ClaudeAgentOptions(system_prompt=prompt), "memory:").system_prompt == prompt


@pytest.mark.parametrize("form", ["text", "path", "name"])
def test_servers_in_a_file_or_in_json_are_kept(form: str, tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    text = json.dumps({"mcpServers": {"own": {"command": "true"}}})
    path.write_text(text, "utf-8")
    given: Any = {"text": text, "path": path, "name": "servers.json"}[form]
    made = attach(ClaudeAgentOptions(mcp_servers=given, cwd=tmp_path), "memory:")
    assert isinstance(made.mcp_servers, dict)
    assert made.mcp_servers["own"] == {"command": "true"}
    assert list(made.mcp_servers) == ["own", "punchlist"]


@pytest.mark.parametrize("given", ["nowhere.json", '{"mcpServers"', "{}x", '{"mcpServers": []}'])
def test_servers_that_cannot_be_read_are_an_error_that_says_so(given: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mcp_servers cannot be read"):
        attach(ClaudeAgentOptions(mcp_servers=given, cwd=tmp_path), "memory:")


def test_another_server_with_our_name_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="leave it out"):
        attach(ClaudeAgentOptions(mcp_servers={"punchlist": {"command": "punchlist", "args": ["mcp"]}}), "memory:")


def test_attached_twice_there_is_one_plan_the_second(tmp_path: Path) -> None:
    first = attach(ClaudeAgentOptions(hooks={"Stop": [HookMatcher(hooks=[hook])]}), "memory:")
    second = attach(first, store_of(tmp_path), session="mine")
    assert second.hooks is not None
    assert first.hooks is not None
    assert {event: len(found) for event, found in second.hooks.items()} == {
        event: len(found) for event, found in first.hooks.items()
    }
    assert (second.allowed_tools, second.env) == (first.allowed_tools, first.env)
    assert second.system_prompt == first.system_prompt
    program = Program(scripted(plan(add=["Read"]), "Which one?"))
    play(program, second)
    assert items(tmp_path, "mine") == [("Read", "in_progress")]
    assert len(program.answers) == 1


def test_attached_again_in_another_dialect_there_is_its_text_only() -> None:
    first = attach(ClaudeAgentOptions(system_prompt="You fix parsers."), "memory:")
    second = attach(first, "memory:", dialect="claude-code")
    assert "TodoWrite" in str(second.system_prompt)
    assert "`plan`" not in str(second.system_prompt)
    assert second.mcp_servers != first.mcp_servers


def test_a_callback_for_permissions_is_not_said_to_be_passed_by() -> None:
    async def can_use(name: str, args: Any, context: Any) -> Any:
        raise AssertionError

    made = attach(ClaudeAgentOptions(can_use_tool=can_use), "memory:")
    assert made.allowed_tools == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ClaudeSDKClient(made)


def test_an_installed_punchlist_is_off_for_the_program_if_its_settings_are_read() -> None:
    assert attach(ClaudeAgentOptions(), "memory:").env == {"PUNCHLIST_OFF": "true"}
    assert attach(ClaudeAgentOptions(setting_sources=["user"]), "memory:").env == {"PUNCHLIST_OFF": "true"}
    assert attach(ClaudeAgentOptions(setting_sources=[]), "memory:").env == {}
    assert attach(ClaudeAgentOptions(env={"PUNCHLIST_OFF": "false"}), "memory:").env == {"PUNCHLIST_OFF": "false"}


def test_where_punchlist_is_off_nothing_is_attached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_OFF", "true")
    options = ClaudeAgentOptions(system_prompt="You fix parsers.")
    assert attach(options, "memory:") == options


def test_a_dialect_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(punchlist.PunchlistError, match="no dialect 'x'"):
        attach(ClaudeAgentOptions(), "memory:", dialect="x")


def test_a_missing_sdk_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['claude_agent_sdk'] = None; import punchlist.adapters.claude_sdk"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert "pip install 'punchlist[claude-sdk]'" in done.stderr.splitlines()[-1]
    assert done.stderr.count("Traceback") == 1


# --- a run -----------------------------------------------------------------------------------------------------------


def test_the_tool_is_offered_before_the_first_request(tmp_path: Path) -> None:
    program = Program(scripted("Hello."))
    play(program, attach(ClaudeAgentOptions(), store_of(tmp_path)))
    (offered,) = program.offered
    assert offered["name"] == "plan"
    assert offered["_meta"]["anthropic/alwaysLoad"] is True
    assert "add" in offered["inputSchema"]["properties"]


def test_each_conversation_has_its_plan_whichever_options_it_is_resumed_with(tmp_path: Path) -> None:
    program = Program(scripted(plan(add=["Read", "Fix"]), "Which one?"))
    play(program, attach(ClaudeAgentOptions(), store_of(tmp_path)))
    again = Program(scripted(plan(done=[1]), "Which one?"), session=program.session)
    play(again, attach(ClaudeAgentOptions(), store_of(tmp_path)), "Go on.")
    assert "Your plan" not in told(again), "it is in the conversation that is resumed"
    other = Program(scripted("Hello."))
    play(other, attach(ClaudeAgentOptions(), store_of(tmp_path)))
    assert "Your plan" not in told(other)
    assert items(tmp_path, program.session) == [("Read", "completed"), ("Fix", "in_progress")]


def test_a_second_process_goes_on_with_the_plan(tmp_path: Path) -> None:
    code = f"""
from tests.frameworks.test_claude_sdk import *
play(Program(scripted(plan(add=["Read"]), "Which one?"), session="s1"), attach(None, {store_of(tmp_path)!r}))
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
    program = Program(scripted("Which one?"), session="s1")
    play(program, attach(None, store_of(tmp_path)))
    assert "- now 1 Read" in told(program)


def test_a_session_that_was_given_is_told_to_every_new_conversation_once(tmp_path: Path) -> None:
    options = attach(ClaudeAgentOptions(), store_of(tmp_path), session="mine")
    first = Program(scripted(plan(add=["Read"]), "Which one?", "This one?"))
    play(first, options)
    play(first, options, "The first.")
    assert "Your plan" not in told(first)
    second = Program(scripted("Which one?", "This one?"))
    play(second, options)
    play(second, options, "The first.")
    assert told(second).count("Your plan; what is open:") == 1


def test_a_fork_has_a_copy_of_the_plan(tmp_path: Path) -> None:
    first = Program(scripted(plan(add=["Read", "Fix"]), "Which one?"))
    play(first, attach(None, store_of(tmp_path)))
    forked = ClaudeAgentOptions(resume=first.session, fork_session=True)
    second = Program(scripted(plan(done=[1]), "Which one?"))
    play(second, attach(forked, store_of(tmp_path)))
    assert told(second).count("- now 1 Read") == 1
    assert items(tmp_path, second.session) == [("Read", "completed"), ("Fix", "in_progress")]
    assert items(tmp_path, first.session) == [("Read", "in_progress"), ("Fix", "pending")]


def test_an_edit_in_the_middle_of_a_run_is_told_once_and_stays(tmp_path: Path) -> None:
    store = store_of(tmp_path)

    def edited(args: dict[str, Any]) -> dict[str, Any]:
        environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
        words = ["add", "Ask Ann", "--store", store, "--session", program.session]
        subprocess.run([sys.executable, "-m", "punchlist", *words], check=True, env=environ, stdout=subprocess.DEVNULL)
        return {"tool_response": "fine"}

    turns = (plan(add=["Read"]), Call("Edit", {}), shell("make"), plan(done=[1]), "Which one?")
    program = Program(scripted(*turns), tools={"Edit": edited})
    play(program, attach(None, store))
    assert program.messages[5]["content"] == 'the user added 2 "Ask Ann".'
    assert told(program).count("Ask Ann") == 2, "once as an edit, once as what comes next"
    assert items(tmp_path, program.session) == [("Read", "completed"), ("Ask Ann", "in_progress")]


def test_parallel_calls_tell_an_edit_once(tmp_path: Path) -> None:
    store = store_of(tmp_path)

    def edited(args: dict[str, Any]) -> dict[str, Any]:
        if not args:
            with punchlist.open(store, session=program.session) as desk:
                desk.change(lambda plan: ops.add(plan, "Ask Ann"))
        return {"tool_response": "fine"}

    together = [Call("Edit", {}), *[Call("Edit", {"number": number}) for number in range(8)]]
    program = Program(scripted(plan(add=["Read"]), together, "Which one?"), tools={"Edit": edited})
    play(program, attach(None, store))
    assert told(program).count('the user added 2 \\"Ask Ann\\"') == 1


def test_parallel_plan_calls_are_all_carried_out(tmp_path: Path) -> None:
    together = [plan(add=["Read"]), plan(add=["Fix"]), plan(add=["Test"])]
    program = Program(scripted(together, "Which one?"))
    play(program, attach(None, store_of(tmp_path)))
    assert {text for text, _ in items(tmp_path, program.session)} == {"Read", "Fix", "Test"}


def test_an_early_stop_is_nudged_within_the_bounds(tmp_path: Path) -> None:
    program = Program(scripted(plan(add=["Read", "Fix"]), "Half of it.", "I stop.", "I stop."))
    assert play(program, attach(None, store_of(tmp_path))) == "I stop."
    assert told(program).count(NUDGE) == 1, "one nudge without effect is enough"
    assert len(program.requests) == 3


def test_progress_allows_another_nudge(tmp_path: Path) -> None:
    turns = (plan(add=["Read", "Fix"]), "Half.", plan(done=[1]), "Half.", plan(done=[2]), "Done.")
    program = Program(scripted(*turns))
    assert play(program, attach(None, store_of(tmp_path))) == "Done."
    assert told(program).count(NUDGE) == 2


@pytest.mark.parametrize(
    ("prompt", "turns"),
    [
        ("Fix it.", (plan(add=["Read"]), "Shall I keep the old name?")),
        ("Fix it.", (plan(add=["Read"]), plan(pause="the deploy key has expired"), "I wait for it.")),
        ("Make a plan, then wait for me.", (plan(add=["Read"]), "Here it is.")),
        ("Hello", ("Hello.",)),
    ],
)
def test_a_question_a_pause_and_wait_are_respected(prompt: str, turns: Sequence[Any], tmp_path: Path) -> None:
    program = Program(scripted(*turns))
    play(program, attach(None, store_of(tmp_path)), prompt)
    assert NUDGE not in told(program)


@pytest.mark.parametrize(
    "fields",
    [
        {"background_tasks": [{"id": "1", "type": "shell", "status": "running", "description": "make"}]},
        {"background_tasks": "some"},
        {"session_crons": [{"id": "1", "schedule": "* * * * *", "recurring": True, "prompt": "Look."}]},
        {"permission_mode": "plan"},
        {"agent_id": "a1"},
    ],
)
def test_work_in_the_background_planning_and_sub_agents_are_not_nudged(fields: dict[str, Any], tmp_path: Path) -> None:
    program = Program(scripted(plan(add=["Read"]), "Which one?"))
    options = attach(None, store_of(tmp_path))
    play(program, options)
    stop = {"hook_event_name": "Stop", "session_id": program.session, "last_assistant_message": "Half of it."}
    over = [{"id": "1", "type": "shell", "status": "completed", "description": "make"}]
    assert fire(options, {**stop, **fields}) == {}
    assert NUDGE in str(fire(options, {**stop, "background_tasks": over, "session_crons": []}))


def fire(options: ClaudeAgentOptions, event: dict[str, Any], use: str | None = None) -> Any:
    """Call our hook for an event, as the SDK does."""
    assert options.hooks is not None
    hooks: Any = options.hooks
    (matcher,) = hooks[event["hook_event_name"]]
    return asyncio.run(matcher.hooks[0](event, use, {"signal": None}))


def test_a_refused_permission_is_not_answered_with_a_nudge(tmp_path: Path) -> None:
    program = Program(scripted(plan(add=["Read"]), "Which one?"))
    options = attach(None, store_of(tmp_path))
    play(program, options)
    who = {"session_id": program.session, "tool_name": "Bash", "tool_input": {"command": "make"}}
    fire(options, {"hook_event_name": "PermissionRequest", **who}, "toolu_1")
    fire(options, {"hook_event_name": "PermissionRequest", **who}, "toolu_2")
    fire(options, {"hook_event_name": "PostToolUse", **who, "tool_response": "fine"}, "toolu_1")
    stop = {"hook_event_name": "Stop", "session_id": program.session, "last_assistant_message": "Half of it."}
    assert fire(options, stop) == {}
    fire(options, {"hook_event_name": "PostToolUse", **who, "tool_response": "fine"}, "toolu_2")
    assert NUDGE in str(fire(options, stop)), "it was granted after all"


def test_words_that_are_not_the_user_s_end_no_pause(tmp_path: Path) -> None:
    program = Program(scripted(plan(add=["Read"]), plan(pause="the deploy key has expired"), "I wait."))
    options = attach(None, store_of(tmp_path))
    play(program, options)
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": program.session}
    fire(options, {**prompt, "prompt": "<task-notification>The build is over.</task-notification>"})
    fire(options, {**prompt, "prompt": "Look at it.", "source": "cron"})
    with punchlist.open(store_of(tmp_path), session=program.session) as desk:
        assert desk.plan.paused
        fire(options, {**prompt, "prompt": "Here is a new key.", "source": "sdk"})
        assert not desk.plan.paused


def test_a_compacted_conversation_is_told_the_plan_once(tmp_path: Path) -> None:
    async def main() -> Program:
        options = attach(None, store_of(tmp_path))
        program = Program(scripted(plan(add=["Read", "Fix"]), "Which one?", shell("make"), "And now?"))
        async with ClaudeSDKClient(options, transport=program) as client:
            await client.query("Fix the parser.")
            async for _ in client.receive_response():
                pass
            await program.compact()
            await client.query("The first.")
            async for _ in client.receive_response():
                pass
        return program

    program = asyncio.run(main())
    assert program.messages[1]["content"].startswith("Your plan; what is open:\n- now 1 Read\n- 2 Fix\nCarry on")
    assert told(program).count("Your plan") == 1


def test_a_compaction_after_which_no_start_is_told_is_made_up_for_with_the_next_event(tmp_path: Path) -> None:
    program = Program(scripted(plan(add=["Read"]), "Which one?"))
    options = attach(None, store_of(tmp_path))
    play(program, options)
    who = {"session_id": program.session}
    used = {"hook_event_name": "PostToolUse", **who, "tool_name": "Bash", "tool_input": {"command": "make"}}
    fire(options, {"hook_event_name": "PreCompact", **who, "trigger": "auto"})
    assert "- now 1 Read" in str(fire(options, used))
    assert fire(options, used) == {}


def test_calls_of_other_tools_are_kept_and_are_evidence_with_an_exit_code(tmp_path: Path) -> None:
    def answer(args: dict[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = {"stdout": "fine", "stderr": "", "interrupted": False}
        known: dict[str, dict[str, Any]] = {
            "make test": {"tool_response": given, "duration_ms": 1200},
            "exit 3": {"error": "Exit code 3\nExit code 0"},
            "grep x": {"tool_response": {**given, "returnCodeInterpretation": "No matches found"}},
            "odd": {"tool_response": {**given, "returnCodeInterpretation": "Something new"}},
            "slow": {"error": "Exit code 143\nCommand timed out after 2m", "is_interrupt": False},
            "cut": {"error": "Exit code 130\n", "is_interrupt": True},
            "serve": {"tool_response": {**given, "backgroundTaskId": "b1"}},
            "strange": {"tool_response": ["text"]},
            "words": {"error": "no such tool"},
        }
        return known[args["command"]]

    lines = ("make test", "exit 3", "grep x", "odd", "slow", "cut", "serve", "strange", "words")
    turns = [plan(add=[{"text": "Read", "check": "make test"}]), *map(shell, lines), "Which one?"]
    program = Program(scripted(*turns), tools={"Bash": answer})
    program.cwd = str(tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    play(program, attach(ClaudeAgentOptions(cwd=tmp_path), store_of(tmp_path)))
    with punchlist.open(store_of(tmp_path), session=program.session) as desk:
        (item,) = desk.load(calls=True).items
    found = [(call["parameters"]["command"], call["outcome"], call.get("exit")) for call in item.calls]
    assert found == [
        ("make test", "ok", 0),
        ("exit 3", "failed", 3),
        ("grep x", "failed", 1),
        ("odd", "ok", None),
        ("slow", "failed", None),
        ("cut", "failed", None),
        ("serve", "ok", None),
        ("strange", "ok", None),
        ("words", "failed", None),
    ]
    assert item.evidence[0]["exit"] == 0
    assert len(item.evidence) == 1


def test_a_reminder_comes_when_one_is_due(tmp_path: Path) -> None:
    turns = [plan(add=["Read"]), *[shell(f"make {number}") for number in range(12)], "Which one?"]
    program = Program(scripted(*turns))
    play(program, attach(None, store_of(tmp_path)))
    assert told(program).count('Plan: now 1 \\"Read\\"') == 1


def test_sub_agents_have_plans_of_their_own(tmp_path: Path) -> None:
    together = [plan("a1", add=["Look"]), plan("a2", add=["Search"]), plan(add=["Read"])]
    program = Program(scripted(together, shell("ls", "a1"), "Which one?"))
    play(program, attach(None, store_of(tmp_path)))
    found = [items(tmp_path, program.session, agent) for agent in ("main", "a1", "a2")]
    assert found == [[("Read", "in_progress")], [("Look", "in_progress")], [("Search", "in_progress")]]
    with punchlist.open(store_of(tmp_path), session=program.session, agent="a1") as desk:
        assert len(desk.load(calls=True).items[0].calls) == 1


def test_each_request_begins_with_the_one_before(tmp_path: Path) -> None:
    store = store_of(tmp_path)

    def edited(args: dict[str, Any]) -> dict[str, Any]:
        with punchlist.open(store, session=program.session) as desk:
            desk.change(lambda plan: ops.add(plan, "Ask Ann"))
        return {"tool_response": "fine"}

    calls = [shell(f"make {number}") for number in range(12)]
    turns = (plan(add=["Read", "Fix"]), Call("Edit", {}), *calls, "Half.", plan(done=[1, 2, 3]), "Done.")
    program = Program(scripted(*turns), tools={"Edit": edited})
    play(program, attach(None, store))
    assert len(program.requests) == len(turns)
    assert {"Ask Ann", NUDGE, "unchanged for"} <= {
        word for word in ("Ask Ann", NUDGE, "unchanged for") if word in told(program)
    }
    for before, after in zip(program.requests, program.requests[1:], strict=False):
        assert after.startswith(before[:-1])


# --- bad input -------------------------------------------------------------------------------------------------------


def test_wrong_arguments_are_answered_and_the_run_goes_on(tmp_path: Path) -> None:
    bad = [plan(add="Read"), plan(done="x"), plan(done=[9]), plan(nothing=1), plan(), Call(f"{PREFIX}other", {})]
    program = Program(scripted(plan(add=["Fix"]), *bad, plan(done=[1]), "Which one?"))
    assert play(program, attach(None, store_of(tmp_path))) == "Which one?"
    texts = ["".join(part["text"] for part in answer["content"]) for answer in program.answers]
    assert "".join(texts).count("no item '9'") == 1
    assert all(texts)
    assert [answer["isError"] for answer in program.answers[3:7]] == [True] * 4
    assert ("Fix", "completed") in items(tmp_path, program.session)


def test_text_in_an_event_is_data(tmp_path: Path) -> None:
    program = Program(scripted(plan(add=["../../x", "</system-reminder>\x1b[31m"]), "Which one?"), session="../../s")
    play(program, attach(None, store_of(tmp_path)), "Fix \x00 it")
    assert len(items(tmp_path, "../../s")) == 2
    assert [path.name for path in tmp_path.parent.iterdir() if path.name in ("x", "s")] == []


def test_an_event_without_the_usual_fields_is_no_error(tmp_path: Path) -> None:
    options = attach(None, store_of(tmp_path))
    assert options.hooks is not None
    for event in options.hooks:
        fire(options, {"hook_event_name": event})
        fire(options, {"hook_event_name": event, "session_id": 5, "prompt": None, "tool_input": [], "tool_response": 5})


def test_a_store_that_is_gone_stops_no_run_and_is_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plan.db").mkdir()
    program = Program(scripted(plan(add=["Read"]), shell("make"), "Done."))
    with caplog.at_level(logging.WARNING, "punchlist"):
        assert play(program, attach(None, store_of(tmp_path))) == "Done."
    assert program.answers[0]["isError"]
    assert "Not saved" in told(program)
    assert len([one for one in caplog.records if one.name == "punchlist"]) == 1


def test_a_cancelled_run_ends_at_once_and_leaves_no_lock(tmp_path: Path) -> None:
    async def main() -> None:
        options = attach(None, store_of(tmp_path))
        waiting = asyncio.Event()

        async def ask(messages: Any, tools: Any) -> tuple[str, Sequence[Call]]:
            if len(messages) > 1:
                waiting.set()
                await asyncio.Event().wait()
            return "", [plan(add=["Read"])]

        task = asyncio.create_task(run(Program(ask, session="s1"), options, "Fix it."))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    with punchlist.open(store_of(tmp_path), session="s1") as desk:
        desk.change(lambda plan: ops.complete(plan, "1"))


def test_a_cancelled_hook_raises_and_what_it_began_is_finished(tmp_path: Path) -> None:
    async def main() -> None:
        options = attach(None, store_of(tmp_path))
        assert options.hooks is not None
        event: Any = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Go on."}
        task = asyncio.ensure_future(options.hooks["UserPromptSubmit"][0].hooks[0](event, None, {"signal": None}))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        program = Program(scripted(plan(add=["Read"]), "Which one?"), session="s1")
        await run(program, options, "Fix it.")

    asyncio.run(main())
    assert items(tmp_path, "s1") == [("Read", "in_progress")]


def test_several_conversations_at_once_keep_their_plans_apart(tmp_path: Path) -> None:
    """The same options, in tasks of one event loop and in threads with event loops of their own."""
    options = attach(None, store_of(tmp_path))

    def program(number: int) -> Program:
        turns = (plan(add=[f"Read {number}"]), shell("make"), plan(add=[f"Fix {number}"]), "Which one?")
        return Program(scripted(*turns), session=f"s{number}")

    async def together(numbers: range) -> None:
        await asyncio.gather(*[run(program(number), options, "Fix it.") for number in numbers])

    threads = [Thread(target=lambda at=at: asyncio.run(together(range(at, at + 4)))) for at in (0, 4, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(12):
        assert [text for text, _ in items(tmp_path, f"s{number}")] == [f"Read {number}", f"Fix {number}"]


def test_the_same_options_work_in_a_second_event_loop(tmp_path: Path) -> None:
    options = attach(None, store_of(tmp_path))
    for done in (plan(add=["Read"]), plan(done=[1])):
        play(Program(scripted(done, "Which one?"), session="s1"), options)
    assert items(tmp_path, "s1") == [("Read", "completed")]


def test_a_tool_may_run_the_same_agent_again(tmp_path: Path) -> None:
    async def main() -> None:
        options = attach(None, store_of(tmp_path))
        inner = Program(scripted(plan(add=["Look"]), "Which one?"), session="inner")

        async def ask(messages: Any, tools: Any) -> tuple[str, Sequence[Call]]:
            if len(messages) == 1:
                return "", [plan(add=["Read"])]
            await run(inner, options, "Look.")
            return "Which one?", ()

        await run(Program(ask, session="outer"), options, "Fix it.")

    asyncio.run(main())
    assert (items(tmp_path, "outer"), items(tmp_path, "inner")) == (
        [("Read", "in_progress")],
        [("Look", "in_progress")],
    )


def test_an_error_in_a_tool_and_in_a_hook_of_the_user_is_theirs(tmp_path: Path) -> None:
    async def broken(event: Any, use: str | None, context: Any) -> Any:
        raise RuntimeError("mine")

    options = ClaudeAgentOptions(hooks={"PostToolUse": [HookMatcher(hooks=[broken])]})
    program = Program(scripted(plan(add=["Read"]), shell("make"), "Which one?"))
    asyncio.run(run(program, attach(options, store_of(tmp_path)), "Fix it."))
    assert program.hook_errors == ["mine", "mine"]
    with punchlist.open(store_of(tmp_path), session=program.session) as desk:
        assert len(desk.load(calls=True).items[0].calls) == 1


def test_a_stream_that_is_cut_off_leaves_what_was_saved(tmp_path: Path) -> None:
    async def ask(messages: Any, tools: Any) -> tuple[str, Sequence[Call]]:
        if len(messages) > 1:
            await program.close()
            await asyncio.Event().wait()
        return "", [plan(add=["Read"])]

    program = Program(ask, session="s1")
    assert asyncio.run(run(program, attach(None, store_of(tmp_path)), "Fix it.")) == ""
    assert items(tmp_path, "s1") == [("Read", "in_progress")]


def test_a_call_that_does_not_say_which_it_is_goes_to_who_was_seen_last(tmp_path: Path) -> None:
    options = attach(None, store_of(tmp_path))
    assert isinstance(options.mcp_servers, dict)
    program = Program(scripted([plan(add=["Read"])._replace(id="toolu_1")], "Which one?"), session="s1")
    play(program, options)
    again = Program(scripted([plan(add=["Fix"])._replace(id="toolu_1")], "Which one?"), session="s2")
    play(again, options)
    assert items(tmp_path, "s2") == [("Fix", "in_progress")], "an id that is used again is that of the last call"


def test_a_call_that_could_be_of_several_conversations_is_refused(tmp_path: Path) -> None:
    options = attach(None, store_of(tmp_path))
    for session in ("s1", "s2"):
        before = {"hook_event_name": "PreToolUse", "session_id": session, "tool_name": f"{PREFIX}plan"}
        fire(options, before, f"toolu_{session}")
    attached = claude_sdk._attached_to(options)
    assert attached is not None
    unknown = asyncio.run(attached.call("plan", {"add": ["Secret"]}, "toolu_9"))
    assert (unknown.is_error, unknown.text[:10]) == (True, "Not saved:")
    for text in ("Read", "Again"):
        asyncio.run(attached.call("plan", {"add": [text]}, "toolu_s1"))
    assert items(tmp_path, "s1") == [("Read", "in_progress"), ("Again", "pending")]
    assert items(tmp_path, "s2") == []


def test_what_a_hook_that_was_cancelled_would_have_told_is_told_by_the_next(tmp_path: Path) -> None:
    options = attach(None, store_of(tmp_path))
    play(Program(scripted(plan(add=["Read"]), "Which one?"), session="s1"), options)
    with punchlist.open(store_of(tmp_path), session="s1") as desk:
        desk.change(lambda now: ops.note(now, "1", "start with the lexer"))
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Go on."}
    other = sqlite3.connect(tmp_path / "plan.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def cancelled() -> None:
        assert options.hooks is not None
        hooks: Any = options.hooks["UserPromptSubmit"]
        known = set(enumerate_threads())
        task = asyncio.create_task(hooks[0].hooks[0](event, None, {"signal": None}))
        while not set(enumerate_threads()) - known:  # until it waits for the store
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    other.execute("ROLLBACK")
    other.close()
    until(lambda: "start with the lexer" in str(fire(options, event)), "it is told")
    assert fire(options, event) == {}, "and once"


def test_a_conversation_whose_first_hook_found_no_store_is_told_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_desk, "_AGAIN", 0.0)  # a store that failed is asked again at once
    with punchlist.open(store_of(tmp_path), session="s1") as desk:
        desk.call("plan", {"add": ["Read"]})
    away = tmp_path.with_suffix(".away")
    tmp_path.rename(away)
    tmp_path.write_text("not a directory")
    options = attach(None, store_of(tmp_path))
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Go on."}
    assert fire(options, event) == {}
    tmp_path.unlink()
    away.rename(tmp_path)
    assert "now 1 Read" in str(fire(options, event))


def test_stores_are_closed_with_the_options(tmp_path: Path) -> None:
    options = attach(None, store_of(tmp_path))
    play(Program(scripted(plan(add=["Read"]), "Which one?"), session="s1"), options)
    del options

    def is_closed() -> bool:
        gc.collect()
        return [path.name for path in tmp_path.glob("plan.db*")] == ["plan.db"]

    until(is_closed, "the thread that worked last has ended, and who closes last removes the journal")


def test_a_nudge_is_a_refused_stop_where_the_sdk_knows_nothing_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_sdk, "_HAS_STOP_CONTEXT", False)
    options = attach(None, store_of(tmp_path))
    program = Program(scripted(plan(add=["Read"]), "Which one?"))
    play(program, options)
    stop = {"hook_event_name": "Stop", "session_id": program.session, "last_assistant_message": "Half of it."}
    answer = fire(options, stop)
    assert (answer["decision"], answer["reason"][: len(NUDGE)]) == ("block", NUDGE)
    assert fire(options, stop) == {}


# --- the kit ---------------------------------------------------------------------------------------------------------


def make_agent(case: conformance.Case) -> Any:
    async def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> tuple[str, Sequence[Call]]:
        given = [{"name": f"{PREFIX}{one['name']}", "input_schema": one["inputSchema"]} for one in tools]
        command = {"type": "object", "properties": {"command": {"type": "string"}}}
        given.append({"name": "shell", "input_schema": command})
        text, calls = await asyncio.to_thread(case.model.request, messages, given)
        return text, [Call(one.name, one.args, id=f"{one.id}-{len(messages)}") for one in calls]

    def used(args: dict[str, Any]) -> dict[str, Any]:
        return {"tool_response": case.tool(args["command"])}

    options = attach(None, case.store, session=case.session)
    program = Program(ask, tools={"shell": used})

    async def compact() -> None:
        async with ClaudeSDKClient(options, transport=program):
            await program.compact()

    async def agent(prompt: str) -> str:
        async with ClaudeSDKClient(options, transport=program) as client:
            await client.query(prompt)
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    return message.result or ""
        raise program.error or AssertionError("it ended without a result")

    agent.compact = compact  # type: ignore[attr-defined]
    return agent


def test_the_conformance_kit_passes() -> None:
    report = conformance.check(make_agent)
    report.check()
    assert [one.name for one in report.results if one.outcome != "passed"] == [], str(report)
