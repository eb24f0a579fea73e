"""Reminders: the systems' own, each exact; ours, rare, counted, and silent more often than not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Desk, Plan, ops
from punchlist.core.model import SessionState
from punchlist.desk import guidance
from punchlist.desk.events import read_events
from punchlist.desk.guidance import Guidance, is_due
from punchlist.desk.nudges import limits_of
from punchlist.desk.session_state import load_state
from punchlist.desk.tool_call import decline
from punchlist.desk.tool_use import ToolUse
from punchlist.dialects import load
from punchlist.local import settings as settings_of
from punchlist.policy.conversation import FAILED, REMINDER, Tally
from punchlist.policy.limits import Limits, tokens
from punchlist.policy.reminders import afforded
from tests.commands import run
from tests.policy import talk
from tests.policy.desks import desk, planned
from tests.policy.talk import conversation, user
from tests.policy.told import TURN, attached, tool_used


def heard(at: Desk, *said: Any) -> Tally:
    return talk.heard(at._seat.dialect_name, *said)


def reminded(at: Desk, *said: Any) -> list[Guidance]:
    return guidance.remind(at, heard(at, *said))


def texts(at: Desk, *said: Any) -> list[str]:
    return [one.text for one in reminded(at, *said)]


def over(at: Desk, turns: int, step: str = "work") -> dict[int, str]:
    """A conversation of so many turns after a write, with each reminder put into it: after how many turns, and what."""
    said: list[Any] = ["write"]
    found = {}
    for turn in range(1, turns + 1):
        said.append(step)
        for one in reminded(at, *said):
            found[turn] = one.text
            said.append("reminded")
    return found


# --- claude-code -----------------------------------------------------------------------------------------------------


def test_claude_code_is_reminded_after_seven_turns_with_its_list() -> None:
    at = planned("claude-code")
    assert texts(at, "write", "say*5") == []
    (one,) = reminded(at, "write", "say*6")
    assert one.text.startswith("<system-reminder>\n")
    assert one.text.endswith("\n</system-reminder>")
    assert "[1. [completed] Read\n2. [in_progress] Write\n3. [pending] Test]" in one.text
    assert "Do not mention" in one.text
    assert (one.kind, one.items, [todo["content"] for todo in one.content]) == (REMINDER, 3, ["Read", "Write", "Test"])


def test_claude_code_is_reminded_again_three_turns_after_a_reminder_and_not_before() -> None:
    at = planned("claude-code")
    assert list(over(at, 20)) == [6, 9, 12, 15, 18]


def test_claude_code_is_reminded_of_an_empty_list_without_one() -> None:
    (one,) = reminded(desk("claude-code"), "say*7")
    assert "[" not in one.text
    assert (one.items, one.content) == (0, [])


def test_claude_code_is_not_reminded_without_messages() -> None:
    assert texts(desk("claude-code")) == []
    assert texts(desk("claude-code"), "user*20") == []


def test_claude_code_is_reminded_even_after_a_question() -> None:
    assert texts(planned("claude-code"), "say*7", "ask") != []


def test_a_system_s_own_reminders_have_no_budget_unless_one_is_set() -> None:
    assert len(over(planned("claude-code"), 200)) > 60
    bounded = over(planned("claude-code", reminder_budget=400), 200)
    assert 0 < sum(map(tokens, bounded.values())) <= 400


# --- gencode ---------------------------------------------------------------------------------------------------------


def test_gencode_is_told_once_at_the_start() -> None:
    (one,) = attached(desk("gencode"), "start")
    assert one.text.startswith("<reminder>\n")
    assert one.text.endswith("\n</reminder>")
    assert "`TodoWrite`" in one.text
    assert attached(desk("gencode"), TURN) == []


def test_gencode_is_nagged_at_ten_turns_and_after_each_further_ten() -> None:
    assert list(over(planned("gencode"), 44)) == [9, 19, 29, 39]  # and the turn that wrote it


@pytest.mark.parametrize("turns", [10, 11, 19])
def test_gencode_is_nagged_when_more_than_ten_turns_went_by_unseen(turns: int) -> None:
    assert texts(planned("gencode"), f"say*{turns}") != []
    assert texts(planned("gencode"), f"say*{turns}", "reminded", "say*9") == []
    assert texts(planned("gencode"), f"say*{turns}", "reminded", "say*10") != []


def test_gencode_s_nag_says_how_many_turns_it_was() -> None:
    at = planned("gencode")
    (text,) = texts(at, "say*20")
    assert text == "<reminder>\nThe list has not changed for 20 turns. Update it with `TodoWrite`.\n</reminder>"


def test_gencode_s_count_begins_anew_with_a_write() -> None:
    at = planned("gencode")
    assert texts(at, "say*15", "write", "say*8") == []
    assert texts(at, "say*15", "write", "say*9") != []


def test_a_system_s_reminders_do_not_eat_our_budget() -> None:
    at = planned("claude-code")
    over(at, 100)
    assert load_state(at).spent == 0
    ours = Desk(at._seat.store, session="s1", dialect="native", settings=at.settings, place="/here")
    assert texts(ours, "say*10") != []
    assert 0 < load_state(ours).spent < 100
    assert [event["tokens"] > 0 for event in read_events(at) if event["kind"] == "reminder"][:2] == [True, True]


# --- oh-my-pi and llxprt ---------------------------------------------------------------------------------------------


def test_oh_my_pi_is_reminded_of_a_failed_call_until_one_succeeds_and_of_nothing_else() -> None:
    at = planned("oh-my-pi")
    (one,) = reminded(at, "write", "failure")
    assert one.kind == FAILED == "todo-write-error-reminder"
    assert "`todo_write` failed" in one.text
    assert texts(at, "write", "result") == []
    assert texts(at, "write", "failure", "write", "result") == []
    assert texts(at, *["work"] * 100) == []


def test_oh_my_pi_hears_of_a_failed_call_once() -> None:
    at = planned("oh-my-pi")
    told = {"type": "attachment", "attachment": {"type": FAILED}}
    assert texts(at, "write", "failure", told, "say") == []
    assert texts(at, "write", "failure", told, "write", "failure") != []


@pytest.mark.parametrize("context", ["start", "changed", "compact", "resume", TURN])
def test_a_call_that_failed_leaves_a_reminder_whatever_comes_next(context: str) -> None:
    at = planned("oh-my-pi")
    at.call("todo_write", {"ops": [{"op": "done", "task": "Nowhere"}]})
    assert [one.text for one in attached(at, context) if one.kind == FAILED] != []
    assert [one.text for one in attached(at, context) if one.kind == FAILED] == []


def test_a_call_that_could_not_be_read_leaves_one_too_and_one_that_succeeds_takes_it_away() -> None:
    at = planned("oh-my-pi")
    wrong: list[object] = [{"ops": []}, None]
    for args in wrong:
        assert at.call("todo_write", args).is_error
        at.call("todo_write", {"ops": [{"op": "note", "task": "Write", "text": "so far"}]})
        assert texts(at) == []
    decline(at, "todo_write", "not valid JSON")
    assert texts(at) != []


def test_a_failed_call_is_not_told_while_the_work_is_paused_but_afterwards() -> None:
    at = planned("oh-my-pi")
    at.call("todo_write", {"ops": []})
    at.change(lambda plan: ops.pause(plan, "lunch"))
    assert texts(at) == []
    at.change(ops.resume)
    assert texts(at) != []


def test_a_failed_call_reminds_nobody_else() -> None:
    for dialect in ("claude-code", "gencode", "llxprt", "native"):
        assert texts(planned(dialect), "write", "failure") == []


def test_that_oh_my_pi_s_call_failed_is_due_from_the_history_alone() -> None:
    at = desk("oh-my-pi")
    assert is_due(at, heard(at, "write", "failure"))
    assert not is_due(at, heard(at, "write", "result"))


def test_llxprt_is_not_reminded() -> None:
    assert texts(planned("llxprt"), *["work"] * 100) == []


# --- ours ------------------------------------------------------------------------------------------------------------


def test_ours_comes_after_ten_turns_and_then_twice_as_late_each_time() -> None:
    assert list(over(planned(), 320)) == [9, 29, 69, 149, 309]


def test_ours_names_the_item_and_asks_for_nothing_else() -> None:
    (text,) = texts(planned(), "say*10")
    assert text.startswith('<system-reminder>\nPlan: now 2 "Write" (1/3), unchanged for 10 turns.')
    assert "`plan`" in text
    for word in ("Read", "Test", "verify", "complete"):
        assert word not in text


def test_ours_names_the_tool_that_tells_of_progress() -> None:
    (text,) = texts(planned("claude-tasks"), "say*10")
    assert "`TaskUpdate`" in text


@pytest.mark.parametrize("dialect", ["native", "claude-code", "gencode"])
def test_a_reminder_that_stands_in_the_conversation_as_a_message_is_counted(dialect: str) -> None:
    at = planned(dialect)
    (text,) = texts(at, "say*10")
    for said in (user(text), user(f"{text}\nGo on."), {"role": "user", "content": [{"type": "text", "text": text}]}):
        assert texts(at, "say*10", said) == texts(at, "say*10", said, "say*2") == []
        assert heard(at, "say*10", said, "say").since_reminder == 1
    assert heard(at, user("Hurry."), "say*10", user(f"{text}\n\nWait.")).asked == "Wait."
    assert heard(at, user("Hurry."), "say*10", user(text)).asked == "Hurry."


@pytest.mark.parametrize(
    "text",
    ["<system-reminder>\nPlan: x\n</system-reminder>", "<system-reminder>\n", "<reminder>\n3\n</reminder>", "Plan: "],
)
def test_what_only_looks_like_a_reminder_of_ours_is_none(text: str) -> None:
    assert texts(planned(), "say*10", user(text)) != []


def test_a_question_makes_ours_not_due_and_claude_code_s_all_the_same() -> None:
    assert not is_due(planned(), heard(planned(), "say*10", "ask"))
    assert is_due(planned(), heard(planned(), "say*10", "ask", "user"))
    at = planned("claude-code")
    assert is_due(at, heard(at, "say*10", "ask"))


def test_ours_begins_anew_when_the_list_is_written() -> None:
    at = planned()
    assert texts(at, "say*9", "write", "say*8") == []
    assert texts(at, "say*9", "write", "say*9") != []


SILENT: dict[str, tuple[Callable[[Plan], Plan], dict[str, Any], list[str]]] = {
    "reminders are off": (lambda plan: plan, {"reminders": False}, []),
    "punchlist is off": (lambda plan: plan, {"off": True}, []),
    "the user set no turns": (lambda plan: plan, {"remind_after": 0}, []),
    "there is no budget": (lambda plan: plan, {"reminder_budget": 0}, []),
    "the work is paused": (lambda plan: ops.pause(plan, "no key"), {}, []),
    "planning goes on": (lambda plan: ops.set_mode(plan, "plan"), {}, []),
    "it is quiet": (lambda plan: ops.set_mode(plan, "quiet"), {}, []),
    "the list is empty": (lambda plan: ops.remove(plan, "1", "2", "3"), {}, []),
    "everything is closed": (lambda plan: ops.drop(ops.complete(plan, "2"), "3", why="no"), {}, []),
    "everything open is blocked": (lambda plan: ops.block(plan, "2", "3", why="no key"), {}, []),
    "a question is open": (lambda plan: plan, {}, ["ask"]),
}


@pytest.mark.parametrize("case", SILENT)
def test_ours_is_silent_when(case: str) -> None:
    edit, settings, more = SILENT[case]
    at = planned(**settings)
    at.change(edit)
    assert texts(at, "say*30", *more) == []
    assert load_state(at).spent == 0


def test_without_these_reasons_it_is_not_silent() -> None:
    assert texts(planned(), "say*30") != []
    assert texts(planned(), "say*30", "ask", "user") != []


def test_the_silences_of_a_hook_are_the_same() -> None:
    for edit, settings, more in SILENT.values():
        at = planned(**settings)
        at.change(edit)
        at.take_updates()
        if not more and not settings.get("off"):  # a hook asks about off before, and sees no last message
            said = [tool_used(at, ToolUse(f"c{number}")) for number in range(40)]
            assert not [text for lines in said for text in lines if "unchanged" in text]


# --- what it costs ---------------------------------------------------------------------------------------------------


def test_every_reminder_is_paid_for_and_then_there_is_silence() -> None:
    at = planned(remind_again=1)
    found = over(at, 200)
    assert sum(map(tokens, found.values())) == load_state(at).spent <= 400
    assert load_state(at).spent + tokens(list(found.values())[-1]) > 400
    assert max(found) < 60
    events = [one for one in read_events(at) if one["kind"] == "reminder"]
    assert [one["spent"] for one in events][-1] == load_state(at).spent
    assert {one["budget"] for one in events} == {400}


def test_a_session_that_updates_its_list_every_five_turns_is_never_reminded() -> None:
    at = planned("native", *[(f"Item {number}", "pending") for number in range(60)])
    said: list[Any] = []
    for number in range(200):
        if number % 5 == 0:
            at.call("plan", {"done": [number // 5 + 1]})
        said.append("work" if number % 5 else "write")
        assert texts(at, *said) == []
        assert tool_used(at, ToolUse(f"c{number}")) == []
    assert load_state(at).spent == 0


def test_a_session_that_never_does_is_reminded_within_the_budget() -> None:
    in_a_loop = over(planned(), 200)
    at = planned()
    by_hooks = [line for number in range(200) for line in tool_used(at, ToolUse(f"c{number}"))]
    for said in (list(in_a_loop.values()), by_hooks):
        assert len(said) == 4
        assert sum(map(tokens, said)) <= 400


def test_the_budget_can_be_set() -> None:
    assert 0 < len(over(planned(remind_again=1, reminder_budget=100), 200)) < 5


def test_the_budget_is_the_session_s_and_lasts_over_a_change_of_the_plan() -> None:
    at = planned(remind_again=1)
    over(at, 200)
    at.call("plan", {"done": [2]})
    assert texts(at, "say*200") == []
    other = desk(store=at._seat.store, session="s2")
    other.change(lambda plan: ops.add(plan, "Else"))
    assert texts(other, "say*10") != []


def test_without_a_session_the_budget_is_the_plan_s() -> None:
    store = punchlist.MemoryStore()
    for place in ("/one", "/two"):
        at = Desk(store, place=place, settings=settings_of.load({}, environ={}))
        at.change(lambda plan: ops.add(plan, "Read"))
        at.take_updates()
        assert load_state(at) == SessionState()
        assert texts(at, "say*10") != []
        assert load_state(at).spent > 0


def test_what_a_text_costs_is_rather_counted_too_high_than_too_low() -> None:
    known = {
        "a": 1,
        "Run the tests": 3,
        "日本語のテキスト": 6,
        "😀😀": 2,
        "naïve café": 4,
        "🧑🏽‍🚀🦩": 11,
    }  # in o200k_base
    assert all(tokens(text) >= cost for text, cost in known.items())
    assert tokens("\ud800") >= 1
    pace = SessionState(spent=390)
    assert afforded("x" * 400, pace, Limits()) is None
    assert afforded("x" * 400, pace, load("claude-code").guide.limits) is not None


def test_the_limits_are_the_dialect_s_until_the_user_sets_them() -> None:
    own = settings_of.load({}, environ={})
    assert (
        limits_of(own, load("claude-code").guide).remind_after,
        limits_of(own, load("claude-code").guide).remind_again,
    ) == (7, 3)
    assert (limits_of(own, load("gencode").guide).remind_after, limits_of(own).remind_after, limits_of(own).budget) == (
        10,
        10,
        400,
    )
    found = limits_of(own._replace(remind_after=4, remind_again=2, reminder_budget=50), load("claude-code").guide)
    assert (found.remind_after, found.remind_again, found.budget) == (4, 2, 50)


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def remind(dialect: str, *said: Any) -> dict[str, Any]:
    Path("messages.json").write_text(json.dumps(conversation(dialect, *said)))
    done = run("remind", "--dialect", dialect, "--messages", "messages.json")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_decision_is_printed_with_its_count(folder: Path) -> None:
    run("add", "Read")
    found = remind("claude-code", "write", "say*6")
    assert found.keys() == {"turns_since_write", "turns_since_reminder", "due", "text"}
    assert (found["turns_since_write"], found["turns_since_reminder"], found["due"]) == (7, 7, True)
    assert "[1. [pending] Read]" in found["text"]
    assert remind("claude-code", "write") == {
        "turns_since_write": 1,
        "turns_since_reminder": 1,
        "due": False,
        "text": "",
    }


def test_whether_it_is_due_comes_from_the_history_alone(folder: Path) -> None:
    run("add", "Read")
    run("pause", "no key")
    found = remind("native", "say*10")
    assert (found["due"], found["text"]) == (True, "")


def test_asking_for_the_decision_does_not_use_up_the_news(folder: Path) -> None:
    run("call", "plan", stdin='{"add": ["Read"]}')
    run("note", "1", "use -x")
    assert "use -x" not in remind("native", "say*12")["text"]
    assert "the user noted on 1" in json.loads(run("call", "plan", stdin='{"show": true}').stdout)["text"]


def test_asking_for_the_decision_does_not_use_up_the_text_of_plan_mode(folder: Path) -> None:
    run("mode", "plan")
    remind("native", "say")
    with punchlist.open() as at:
        assert load_state(at).planning == 0


def test_a_file_without_messages_is_never_due(folder: Path) -> None:
    for text in ("[]", "", "\n\n"):
        Path("messages.json").write_text(text)
        found = json.loads(run("remind", "--dialect", "claude-code", "--messages", "messages.json").stdout)
        assert found == {"turns_since_write": 0, "turns_since_reminder": 0, "due": False, "text": ""}


def test_lines_and_a_truncated_last_one_are_read(folder: Path) -> None:
    lines = [json.dumps(one) for one in conversation("claude-code", "write", "say*6")]
    Path("log.jsonl").write_text("\n".join([*lines, lines[-1][:20]]))
    found = json.loads(run("remind", "--dialect", "claude-code", "--messages", "log.jsonl").stdout)
    assert found["turns_since_write"] == 7


@pytest.mark.parametrize("text", ["{", "nonsense", "[1, 2", "\x00\x01", "[" * 3000])
def test_what_is_no_conversation_is_refused_by_name(folder: Path, text: str) -> None:
    Path("messages.json").write_text(text)
    done = run("remind", "--messages", "messages.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("punchlist: ")
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there_is_named(folder: Path) -> None:
    done = run("remind", "--messages", "nowhere.json")
    assert (done.returncode, done.stderr) == (1, "punchlist: nowhere.json: No such file or directory.\n")


def test_a_call_that_failed_is_told_by_the_next_command_once(folder: Path) -> None:
    own = ("--dialect", "oh-my-pi", "--session", "o")
    for failing, command in (("{", ("attach", "--context", "changed")), ('{"ops": []}', ("remind", "--messages", "-"))):
        assert run("call", "todo_write", *own, stdin=failing).returncode == 1
        assert "`todo_write` failed" in run(*command, *own, stdin="[]").stdout
        assert "`todo_write` failed" not in run(*command, *own, stdin="[]").stdout


def test_the_user_sees_what_reminders_have_cost(folder: Path) -> None:
    run("call", "plan", "--session", "s1", stdin='{"add": ["Read"]}')
    Path("messages.json").write_text(json.dumps(conversation("native", "say*10")))
    run("remind", "--session", "s1", "--messages", "messages.json")
    spent = json.loads(run("show", "--json", "--session", "s1").stdout)["session"]
    assert 0 < spent["reminder_tokens"] < 100
    assert (spent["reminder_budget"], spent["nudges"], spent["nudge_limit"]) == (400, 0, 20)
    assert f"reminders {spent['reminder_tokens']} of 400 tokens" in run("show", "--session", "s1").stdout
    assert json.loads(run("show", "--json").stdout)["session"] == spent  # of the session that works from the plan
