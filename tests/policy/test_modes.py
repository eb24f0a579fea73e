"""How the agent may work: plan mode, quiet contexts, pauses, off and on."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Desk, PauseRecorder, Plan, ops
from punchlist.core.types import Mode
from punchlist.desk.events import read_events
from punchlist.desk.holding import is_off
from punchlist.desk.nudges import turn_ended
from punchlist.desk.plan_mode import approve, plan_file, read_plan_file, write_plan_file
from punchlist.desk.session_state import load_state
from punchlist.desk.tool_use import ToolUse
from punchlist.dialects import PATHS, load
from punchlist.local.on_off import set_off
from punchlist.policy.continuation import TurnEnd
from tests.commands import run
from tests.policy.desks import desk, planned
from tests.policy.told import TURN, attached, prompted, started, tool_used

TEXT = "# Storage\n- [ ] Write the schema\n- [x] Read the old one\n\n# Rollout\n- [ ] Switch the flag\n"


pytestmark = pytest.mark.usefixtures("own_folder")


def hook(name: str, session: str = "s1", **more: Any) -> str:
    event = {"hook_event_name": name, "session_id": session, "cwd": os.getcwd(), **more}
    done = run("hook", "claude-code", stdin=json.dumps(event))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def todos(*names: str) -> dict[str, Any]:
    return {"todos": [{"content": name, "status": "pending", "activeForm": name} for name in names]}


def in_mode(mode: str, dialect: str = "native", **settings: Any) -> Desk:
    at = planned(dialect, **settings)
    at.change(lambda plan: ops.set_mode(plan, mode))  # type: ignore[arg-type]
    at.take_updates()
    return at


# --- plan mode and quiet contexts: writes are refused ----------------------------------------------------------------

WRITES = [(name, tool) for name in PATHS for tool in load(name).tools if not tool.read_only]
READS = [(name, tool) for name in PATHS for tool in load(name).tools if tool.read_only]
WHEN = {
    "plan": "it can be written again once the user has approved the plan",
    "quiet": "the list can be written again after that",
}


@pytest.mark.parametrize("mode", ["plan", "quiet"])
@pytest.mark.parametrize(("dialect", "tool"), WRITES, ids=lambda value: value if isinstance(value, str) else value.name)
def test_a_write_is_refused_with_when_it_will_work_again(dialect: str, tool: Any, mode: str) -> None:
    at = in_mode(mode, dialect)
    before = at.plan
    reply = at.call(tool.name, dict(tool.examples[0]), continuing=True)
    assert reply.is_error
    assert WHEN[mode] in reply.text
    assert at.plan == before
    assert read_events(at)[-1]["kind"] == "refusal"
    at.change(lambda plan: ops.set_mode(plan, "act"))
    assert WHEN[mode] not in at.call(tool.name, dict(tool.examples[0]), continuing=True).text


@pytest.mark.parametrize("mode", ["plan", "quiet"])
@pytest.mark.parametrize(("dialect", "tool"), READS, ids=lambda value: value if isinstance(value, str) else value.name)
def test_looking_is_allowed(dialect: str, tool: Any, mode: str) -> None:
    args = {"taskId": "2"} if tool.name == "TaskGet" else {}
    assert not in_mode(mode, dialect).call(tool.name, args).is_error


def test_native_may_look_but_not_look_and_write() -> None:
    at = in_mode("plan")
    assert not at.call("plan", {"show": True}).is_error
    assert at.call("plan", {"show": True, "done": [2]}).is_error


@pytest.mark.parametrize("mode", ["plan", "quiet"])
def test_the_user_may_edit_in_any_mode_and_the_refusal_brings_the_news(mode: str) -> None:
    at = in_mode(mode)
    at.change(lambda plan: ops.add(plan, "Ship"))
    reply = at.call("plan", {"done": [2]})
    assert reply.is_error
    assert 'the user added 4 "Ship".' in reply.text
    assert at.call("plan", {"done": [2]}).updates == ()


def test_a_quiet_context_and_plan_mode_end_no_work_that_is_recorded() -> None:
    at = in_mode("quiet")
    assert [line.partition(".")[0] for line in tool_used(at, ToolUse("make"))] == [
        "A commit or a pull request is being made"
    ]
    assert tool_used(at, ToolUse("make again")) == []
    assert load_state(at).work == 2


# --- the text of plan mode -------------------------------------------------------------------------------------------


def planning(lines: list[str]) -> bool:
    return any(line.startswith("Plan mode.") for line in lines)


@pytest.mark.parametrize(("every", "told"), [(5, [0, 5, 10]), (1, list(range(12))), (3, [0, 3, 6, 9])])
def test_the_text_of_plan_mode_is_told_at_once_and_every_few_turns(every: int, told: list[int]) -> None:
    at = in_mode("plan", plan_mode_every=every)
    assert [number for number in range(12) if planning(tool_used(at, ToolUse(str(number))))] == told


def test_it_is_told_every_five_turns_from_the_start_and_a_prompt_is_no_turn() -> None:
    at = in_mode("plan")
    assert "plan_mode" in [one.kind for one in attached(at, "start")]
    assert not planning(prompted(at, "go on"))
    told = [number for number in range(1, 13) if "plan_mode" in [one.kind for one in attached(at, TURN)]]
    assert told == [6, 11]


def test_a_list_that_has_changed_is_a_turn_like_any_other() -> None:
    at = in_mode("plan")
    told = [number for number in range(12) if "plan_mode" in [one.kind for one in attached(at, "changed")]]
    assert told == [0, 5, 10]


@pytest.mark.parametrize("context", ["start", "compact", "resume"])
def test_a_model_that_may_have_lost_it_is_told_again_at_once(context: str) -> None:
    at = in_mode("plan")
    tool_used(at, ToolUse("a"))
    assert "plan_mode" in [one.kind for one in attached(at, context)]


def test_after_a_compaction_it_is_told_with_the_list_and_not_again_with_the_next_turn() -> None:
    at = in_mode("plan")
    tool_used(at, ToolUse("a"))
    assert planning(started(at, "compact"))
    assert not planning(tool_used(at, ToolUse("b")))


def test_the_text_names_the_file_and_acting_ends_it() -> None:
    at = in_mode("plan")
    (text,) = tool_used(at, ToolUse("a"))
    assert plan_file(at.plan) in text
    at.change(lambda plan: ops.set_mode(plan, "act"))
    at.take_updates()
    assert not [line for number in range(12) for line in tool_used(at, ToolUse(str(number))) if "Plan mode" in line]


@pytest.mark.parametrize(("first", "second"), [("quiet", "plan"), ("plan", "quiet"), ("act", "plan")])
def test_the_text_of_a_mode_is_told_at_once_whatever_mode_was_before(first: Mode, second: Mode) -> None:
    at = in_mode(first)
    attached(at, TURN)
    attached(at, TURN)
    at.change(lambda plan: ops.set_mode(plan, second))
    at.take_updates()
    kind = {"plan": "plan_mode", "quiet": "quiet"}[second]
    assert [number for number in range(8) if kind in [one.kind for one in attached(at, TURN)]] == [0, 5]


# --- the plan file and approval --------------------------------------------------------------------------------------


def test_the_plan_file_is_kept_for_its_owner_s_eyes_and_stays_when_plan_mode_is_left(own_home: Path) -> None:
    at = in_mode("plan")
    assert read_plan_file(at) == ""
    path = write_plan_file(at, TEXT)
    assert path == plan_file(at.plan)
    assert Path(path).parent == own_home / "punchlist" / "plans"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    write_plan_file(at, TEXT + "more\n")
    approve(at, TEXT)
    assert read_plan_file(at) == TEXT + "more\n"
    assert [entry.name for entry in Path(path).parent.iterdir()] == [Path(path).name]


def test_a_plan_file_of_any_bytes_is_read(own_home: Path) -> None:
    at = in_mode("plan")
    path = Path(write_plan_file(at, "\ud800 x"))
    path.write_bytes(b"\xff\xfe- [ ] a\n")
    assert "- [ ] a" in read_plan_file(at)


def test_approval_switches_to_acting_and_seeds_an_empty_plan() -> None:
    at = desk()
    at.change(lambda plan: ops.set_mode(plan, "plan"))
    plan = approve(at, TEXT).plan
    assert (plan.mode, plan.phases) == ("act", ("Storage", "Rollout"))
    assert [(item.text, item.phase, item.status) for item in plan.items] == [
        ("Write the schema", "Storage", "pending"),
        ("Read the old one", "Storage", "completed"),
        ("Switch the flag", "Rollout", "pending"),
    ]
    assert at.history()[-1].by == "user"
    assert len(at.history()) == 2


@pytest.mark.parametrize("text", ["", "No list at all.", "```\n- [ ] code\n```"])
def test_a_text_without_anything_to_do_seeds_nothing(text: str) -> None:
    at = desk()
    at.change(lambda plan: ops.set_mode(plan, "plan"))
    assert (approve(at, text).plan.mode, at.plan.items) == ("act", ())


def test_a_plan_that_is_there_is_not_touched_by_approval() -> None:
    at = in_mode("plan")
    before = at.plan.items
    assert approve(at, TEXT).plan.items == before


def test_seeding_can_be_turned_off() -> None:
    at = desk(seed_plan=False)
    at.change(lambda plan: ops.set_mode(plan, "plan"))
    assert approve(at, TEXT).plan.items == ()


def test_the_commands_plan_approve_and_seed(own_folder: Path) -> None:
    planned = run("mode", "plan")
    path = planned.stdout.split("the plan goes to ")[1].split("; ")[0]
    assert "switched to plan mode." in planned.stdout
    refused = run("call", "plan", stdin='{"add": ["Read"]}')
    assert refused.returncode == 1
    assert WHEN["plan"] in json.loads(refused.stdout)["text"]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(TEXT)
    said = run("mode", "act").stdout
    assert 'added 1 "Write the schema".' in said
    assert "switched to act mode." in said
    assert Path(path).read_text() == TEXT


def test_the_commands_seed_from_a_named_text(own_folder: Path) -> None:
    Path("plan.md").write_text(TEXT)
    found = json.loads(run("mode", "act", "--seed", "plan.md", "--json").stdout)
    assert [item["text"] for item in found["items"]] == ["Write the schema", "Read the old one", "Switch the flag"]


def test_a_mode_that_does_not_exist_is_misuse() -> None:
    done = run("mode", "fast")
    assert done.returncode == 2
    assert "plan" in done.stderr


def test_a_plan_that_the_user_approves_in_claude_code_becomes_the_plan(own_home: Path) -> None:
    run("mode", "plan", "--session", "s1")
    hook("PostToolUse", tool_name="ExitPlanMode", tool_input={"plan": TEXT})
    with punchlist.open(session="s1") as at:
        assert [item.text for item in at.plan.items] == ["Write the schema", "Read the old one", "Switch the flag"]
        assert at.plan.mode == "act"
        assert read_plan_file(at) == TEXT


def test_a_plan_that_was_not_approved_does_not(own_home: Path) -> None:
    run("mode", "plan", "--session", "s1")
    hook("PostToolUseFailure", tool_name="ExitPlanMode", tool_input={"plan": TEXT}, error="rejected")
    with punchlist.open(session="s1") as at:
        assert (at.plan.mode, at.plan.items) == ("plan", ())


# --- pauses ----------------------------------------------------------------------------------------------------------

PAUSES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "native": ("native", "plan", {"pause": "The deploy key has expired."}),
    "llxprt": ("llxprt", "todo_pause", {"reason": "The deploy key has expired."}),
}


def paused(dialect: str, url: str = "") -> tuple[Desk, PauseRecorder]:
    """A desk whose model was nudged twice, and then asked to pause; and who was told."""
    name, tool, args = PAUSES[dialect]
    at = planned(name, store=url or None, idle_nudges=2)
    prompted(at, "go on")
    recorder = PauseRecorder()
    at.on_pause(recorder)
    for _ in range(2):
        assert turn_ended(at, TurnEnd(said="So far.")).text
    assert not at.call(tool, args, continuing=True).is_error
    return at, recorder


@pytest.mark.parametrize("dialect", PAUSES)
def test_a_pause_is_stored_and_told_with_what_was_being_done_and_how_often_it_was_sent_on(dialect: str) -> None:
    at, recorder = paused(dialect)
    pause = at.plan.paused
    assert pause is not None
    assert recorder.pauses == (pause,)
    assert (pause.reason, pause.item, pause.attempts) == ("The deploy key has expired.", "2", 2)
    assert pause.last_prompt_at == load_state(at).nudged_at != ""
    assert pause.at >= pause.last_prompt_at


@pytest.mark.parametrize("dialect", PAUSES)
def test_while_paused_nothing_sends_the_agent_on(dialect: str) -> None:
    at, _ = paused(dialect)
    sent = turn_ended(at, TurnEnd(said="So far."))
    assert (sent.text, sent.reason) == ("", "the work is paused")


@pytest.mark.parametrize("dialect", PAUSES)
@pytest.mark.parametrize("scheme", ["sqlite", "json"])
def test_a_pause_survives_a_restart_and_ends_with_the_user_s_next_prompt(
    dialect: str, scheme: str, tmp_path: Path
) -> None:
    url = f"{scheme}:{tmp_path / 'kept'}"
    at, recorder = paused(dialect, url)
    before = at.plan.paused
    at.close()
    at = desk(dialect, url)
    assert at.plan.paused == before
    assert turn_ended(at, TurnEnd(said="So far.")).reason == "the work is paused"
    prompted(at, "Go on.")
    assert at.plan.paused is None
    assert turn_ended(at, TurnEnd(said="So far.")).text
    assert len(recorder.pauses) == 1
    at.close()


def test_a_pause_ends_with_resume(own_folder: Path) -> None:
    run("call", "plan", stdin='{"add": ["Deploy"]}')
    run("call", "plan", stdin='{"pause": "the deploy key has expired"}')
    assert "the deploy key has expired" in run("show").stdout
    assert json.loads(run("show", "--json").stdout)["paused"]["reason"] == "the deploy key has expired"
    assert run("resume").stdout == "resumed the work.\n"
    assert "paused" not in json.loads(run("show", "--json").stdout)


def test_a_hook_s_prompt_ends_a_pause() -> None:
    hook("PostToolUse", tool_name="TodoWrite", tool_input=todos("Deploy"))
    run("pause", "lunch", "--session", "s1")
    assert hook("Stop", last_assistant_message="So far.") == ""
    hook("UserPromptSubmit", prompt="go on")
    assert hook("Stop", last_assistant_message="So far.") != ""


def test_a_refused_reason_pauses_nothing_and_nobody_is_told() -> None:
    at = planned("llxprt")
    prompted(at, "go on")
    recorder = PauseRecorder()
    at.on_pause(recorder)
    assert at.call("todo_pause", {"reason": "stuck"}, continuing=True).is_error
    assert at.plan.paused is None
    assert recorder.pauses == ()
    assert turn_ended(at, TurnEnd(said="So far.")).text


@pytest.mark.parametrize("reason", ["", " ", "stuck", "no key", "I am stuck and need help here", "x" * 501])
def test_a_pause_of_ours_needs_a_reason_as_good_as_llxprt_s(reason: str) -> None:
    at = planned()
    refused = at.call("plan", {"pause": reason})
    theirs = planned("llxprt").call("todo_pause", {"reason": reason}, continuing=True)
    assert refused.text == f"pause: {theirs.text.removeprefix('Invalid pause reason: ')}"
    assert (refused.is_error, at.plan.paused) == (True, None)
    assert not at.call("plan", {"pause": "the staging server does not answer"}).is_error


def test_strictness_is_a_setting() -> None:
    at = planned("llxprt", strict_pause=False)
    assert not at.call("todo_pause", {"reason": "stuck"}, continuing=True).is_error
    assert at.plan.paused is not None
    at = planned(strict_pause=False)
    assert not at.call("plan", {"pause": "stuck"}).is_error
    assert at.plan.paused is not None


@pytest.mark.parametrize("words", [("",), (" ", "  "), ("\t",)])
def test_the_user_s_own_pause_needs_a_reason_and_any_will_do(own_folder: Path, words: tuple[str, ...]) -> None:
    run("add", "Read")
    refused = run("pause", *words)
    assert (refused.returncode, refused.stderr) == (1, "punchlist: a pause needs a reason.\n")
    assert run("pause", "stuck").stdout == "paused the work: stuck.\n"


# --- what is for the main agent only ---------------------------------------------------------------------------------


def test_a_tool_that_is_withheld_from_sub_agents_is_neither_offered_to_them_nor_carried_out(own_folder: Path) -> None:
    own = ("--dialect", "oh-my-pi", "--session", "o")
    sent = json.dumps({"ops": [{"op": "init", "list": [{"phase": "A", "items": ["Read"]}]}]})
    assert json.loads(run("tools", *own, "--agent", "sub1").stdout) == []
    assert run("prompt", *own, "--agent", "sub1").stdout.strip() == ""
    refused = json.loads(run("call", "todo_write", *own, "--agent", "sub1", stdin=sent).stdout)
    assert refused["text"] == "todo_write is not for sub-agents; the main agent keeps the list."
    assert [tool["name"] for tool in json.loads(run("tools", *own).stdout)] == ["todo_write"]
    assert json.loads(run("call", "todo_write", *own, stdin=sent).stdout)["is_error"] is False
    assert [tool["name"] for tool in json.loads(run("tools", "--agent", "sub1").stdout)] == ["plan"]


@pytest.mark.parametrize("tool", ["todo", "todo_write"])
def test_what_a_sub_agent_did_all_the_same_is_mirrored(own_folder: Path, tool: str) -> None:
    op = {"op": "init", "list": [{"phase": "A", "items": ["Read"]}]}
    args = op if tool == "todo" else {"ops": [op]}
    event = {"moment": "after", "session": "o", "agent": "sub1", "tool": tool, "args": args}
    run("hook", "oh-my-pi", stdin=json.dumps(event))
    with punchlist.open(session="o", agent="sub1") as at:
        assert [item.text for item in at.plan.items] == ["Read"]


# --- the system prompt in a quiet context ----------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", PATHS)
def test_in_a_quiet_context_the_prompt_forbids_the_list_and_sub_agents(own_folder: Path, dialect: str) -> None:
    own = ("--session", "s1", "--dialect", dialect)
    usual = run("prompt", *own).stdout
    run("mode", "quiet", "--session", "s1")
    quiet = run("prompt", *own).stdout
    assert [f"`{tool.name}`" in quiet for tool in load(dialect).tools if not tool.only_continuing].count(False) == 0
    assert "sub-agent" in quiet
    run("mode", "act", "--session", "s1")
    assert run("prompt", *own).stdout == usual != quiet


def test_a_recorder_keeps_pauses_in_order_and_forgets_them_when_told() -> None:
    at = planned()
    recorder = PauseRecorder()
    at.on_pause(recorder)
    at.call("plan", {"pause": "the first reason"})
    kept = recorder.pauses
    at.change(ops.resume)
    at.change(lambda plan: ops.pause(plan, "the second reason"))
    assert [pause.reason for pause in recorder.pauses] == ["the first reason", "the second reason"]
    assert [pause.reason for pause in kept] == ["the first reason"]
    recorder.clear()
    assert recorder.pauses == ()


# --- off and on ------------------------------------------------------------------------------------------------------


def is_silent(session: str = "s1", **env: str) -> list[bool]:
    """Whether hooks, calls, tools, prompt, attachments and reminders are silent, each."""
    Path("messages").write_text(json.dumps([{"role": "assistant", "content": "So."}] * 30))
    named = ("--session", session)
    event = {"hook_event_name": "Stop", "session_id": session, "cwd": os.getcwd(), "last_assistant_message": "So."}
    return [
        run("hook", "claude-code", stdin=json.dumps(event), **env).stdout == "",
        "punchlist is off here" in run("call", "plan", *named, stdin='{"show": true}', **env).stdout,
        json.loads(run("tools", *named, **env).stdout) == [],
        run("prompt", *named, **env).stdout.strip() == "",
        run("attach", "--context", "compact", *named, **env).stdout.strip() == "",
        json.loads(run("remind", "--messages", "messages", *named, **env).stdout)["text"] == "",
    ]


ALL, NONE = [True] * 6, [False] * 6


@pytest.mark.parametrize("where", [(), ("--session", "s1"), ("--everywhere",)], ids=str)
def test_off_means_silent_and_absent_and_on_means_as_before(where: tuple[str, ...]) -> None:
    run("call", "plan", "--session", "s1", stdin='{"add": ["Read"]}')
    assert is_silent() == NONE
    run("off", *where)
    assert is_silent() == ALL
    assert "Read" in run("show", "--session", "s1").stdout  # the user's own commands work as ever
    assert run("add", "Write", "--session", "s1").returncode == 0
    run("on", *where)
    assert is_silent() == [True, *NONE[1:]], "one nudge led to nothing; all else is as before"


def test_a_variable_turns_it_off_too() -> None:
    run("call", "plan", "--session", "s1", stdin='{"add": ["Read"]}')
    assert is_silent(PUNCHLIST_OFF="1") == ALL
    assert is_silent(PUNCHLIST_OFF="0") == NONE


def offers(session: str) -> bool:
    return bool(json.loads(run("tools", "--session", session).stdout))


def test_off_for_one_session_or_project_is_not_off_for_another(tmp_path: Path) -> None:
    run("off", "--session", "s1")
    assert (offers("s1"), offers("s2")) == (False, True)
    run("on", "--session", "s1")
    run("off")
    assert not offers("s2")
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    assert offers("s2")


def test_everywhere_means_everywhere_even_inside_a_session() -> None:
    said = run("off", "--everywhere", PUNCHLIST_SESSION="s9").stdout
    assert said == "punchlist is off for every project.\n"
    assert json.loads(run("tools").stdout) == []


def test_to_turn_it_off_twice_says_so() -> None:
    assert "is off for" in run("off").stdout
    assert "is off already for" in run("off").stdout
    found = json.loads(run("on", "--json").stdout)
    assert (found["off"], found["changed"]) == (False, True)
    assert json.loads(run("on", "--json").stdout)["changed"] is False


def test_it_is_off_even_where_the_store_cannot_be_read(own_home: Path) -> None:
    (own_home / "punchlist").mkdir()
    (own_home / "punchlist" / "punchlist.db").write_bytes(b"damaged " * 1000)
    assert run("off").returncode == 0
    assert json.loads(run("tools").stdout) == []


def test_a_desk_of_a_session_that_is_off_takes_no_call() -> None:
    set_off(True, session="s1")
    with punchlist.open(session="s1") as at:
        assert is_off(at)
        assert at.call("plan", {"add": ["Read"]}).is_error
        assert at.plan == Plan()
    with punchlist.open(session="s2") as at:
        assert not is_off(at)


# --- stop ------------------------------------------------------------------------------------------------------------


def test_stop_ends_it_for_the_session_that_works_from_the_plan_and_for_no_other() -> None:
    for session in ("s1", "s2"):
        hook("PostToolUse", session, tool_name="TodoWrite", tool_input=todos("Read"))
    assert json.loads(run("stop", "--session", "s1", "--json").stdout) == {"stopped": ["s1"]}
    assert hook("Stop", "s1", last_assistant_message="So far.") == ""
    hook("UserPromptSubmit", "s1", prompt="go on")
    assert hook("Stop", "s1", last_assistant_message="So far.") == ""
    assert hook("Stop", "s2", last_assistant_message="So far.") != ""


def test_stop_without_a_session_means_those_that_work_from_the_plan_here() -> None:
    hook("PostToolUse", tool_name="TodoWrite", tool_input=todos("Read"))
    assert json.loads(run("stop", "--json").stdout) == {"stopped": ["s1"]}
    assert hook("Stop", last_assistant_message="So far.") == ""


def test_stop_without_a_plan_is_refused() -> None:
    done = run("stop")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing to stop" in done.stderr
