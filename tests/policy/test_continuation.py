"""Nudge or stop: every reason to rest, and agents that would run for ever if they were let."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import punchlist
from punchlist import Desk, Plan, ops
from punchlist.core.model import SessionState
from punchlist.desk.events import read_events
from punchlist.desk.nudges import is_continuing, turn_ended
from punchlist.desk.session_state import load_state, update_state
from punchlist.desk.tool_use import ToolUse
from punchlist.local.settings import load
from punchlist.policy.continuation import TurnEnd, after_call, after_prompt, go_on, next_item
from punchlist.policy.effects import changes_something
from punchlist.policy.limits import Limits
from punchlist.stores import PlanKey
from tests.core.plans import often, plan_of
from tests.policy.told import prompted, started, tool_used

STOPS = [300, pytest.param(10_000, marks=pytest.mark.torture)]
TALK = "So far so good."


def desk(
    url: str = "memory:", session: str = "s1", items: tuple[str, ...] = ("Read", "Write"), **settings: Any
) -> Desk:
    """A desk with a plan, as an agent's session has it."""
    opened = Desk(punchlist.stores.open_store(url), session=session, settings=load(settings, environ={}), place="/here")
    if not opened.plan.id and items:
        opened.call("plan", {"add": list(items)})
    return opened


def reason(at: Desk, **stop: Any) -> str:
    """Why an agent that stops is allowed to stop; empty if it is nudged."""
    sent = turn_ended(at, TurnEnd(**{"said": TALK, **stop}))
    return "" if sent.text else sent.reason


# --- what to go on with ----------------------------------------------------------------------------------------------


def test_it_goes_on_with_the_active_item() -> None:
    at = desk()
    sent = turn_ended(at, TurnEnd(said=TALK))
    assert sent.text.startswith('The plan is not finished: now 1 "Read" (0/2).')


def test_it_goes_on_with_the_first_item_that_waits_for_nothing() -> None:
    plan = ops.add(ops.add(Plan(), "Fetch"), "Read", needs=("1",))
    plan = ops.block(ops.add(plan, "Write"), "1", why="no network")
    found = next_item(plan)
    assert found is not None
    assert found.text == "Write"


def test_the_parts_of_something_blocked_are_not_gone_on_with() -> None:
    plan = ops.add(ops.add(Plan(), "Release"), "Tag it", parent="1")
    assert next_item(plan) is not None
    assert next_item(ops.block(plan, "1", why="no key")) is None


def test_the_items_of_others_are_not_its_business() -> None:
    plan = ops.add(Plan(), "Search", owner="helper")
    assert next_item(plan, "main") is None
    assert next_item(plan, "helper") is not None


def test_llxprt_is_told_of_its_pause_tool_and_others_are_not() -> None:
    at = Desk(punchlist.MemoryStore(), session="s", dialect="llxprt", settings=load({}, environ={}))
    at.call("todo_write", {"todos": [{"id": "1", "content": "Read", "status": "pending"}]})
    assert not is_continuing(at)
    assert "todo_pause" in turn_ended(at, TurnEnd(said=TALK)).text
    assert is_continuing(at)
    assert "todo_pause" not in turn_ended(desk(), TurnEnd(said=TALK)).text


# --- every reason to rest --------------------------------------------------------------------------------------------

RESTS: dict[str, tuple[Callable[[Plan], Plan], dict[str, Any], dict[str, Any], str]] = {
    "off": (lambda plan: plan, {}, {"continuation": False}, "continuation is off"),
    "paused": (lambda plan: ops.pause(plan, "no key"), {}, {}, "the work is paused"),
    "quiet": (lambda plan: ops.set_mode(plan, "quiet"), {}, {}, "the plan is in quiet mode"),
    "plan mode": (lambda plan: ops.set_mode(plan, "plan"), {}, {}, "planning goes on"),
    "the agent's plan mode": (lambda plan: plan, {"planning": True}, {}, "planning goes on"),
    "another's": (lambda plan: plan, {"owner": False}, {}, "another session works from this plan"),
    "interrupted": (lambda plan: plan, {"interrupted": True}, {}, "it was interrupted"),
    "background": (lambda plan: plan, {"background": True}, {}, "work goes on in the background"),
    "done": (lambda plan: ops.complete(plan, "1", "2"), {}, {}, "nothing is open"),
    "dropped": (lambda plan: ops.drop(plan, "1", "2", why="no"), {}, {}, "nothing is open"),
    "approval": (lambda plan: plan, {"awaiting": True}, {}, "an approval is awaited"),
    "question": (lambda plan: plan, {"said": "Which one?"}, {}, "it asks the user something"),
    "approval in words": (lambda plan: plan, {"said": "Awaiting your approval."}, {}, "it asks the user something"),
    "blocked": (
        lambda plan: ops.block(plan, "1", "2", why="no key"),
        {},
        {},
        "only blocked or waiting items are left",
    ),
    "waiting": (
        lambda plan: ops.put(ops.block(plan, "1", why="no key"), ops.find(plan, "2")._replace(needs=("1",))),
        {},
        {},
        "only blocked or waiting items are left",
    ),
    "no nudge in a row": (lambda plan: plan, {}, {"idle_nudges": 0}, "nudges led to no progress"),
    "no nudge at all": (lambda plan: plan, {}, {"nudges": 0}, "the nudges of this session are used up"),
    "no minute": (lambda plan: plan, {}, {"nudge_minutes": 0}, "it has been nudged for long enough"),
}


@pytest.mark.parametrize("case", RESTS)
def test_it_rests_and_says_why(case: str) -> None:
    edit, stop, settings, why = RESTS[case]
    at = desk(**settings)
    at.change(edit)
    assert reason(at, **stop) == why
    assert load_state(at).nudges == 0


def test_without_any_of_these_reasons_it_goes_on() -> None:
    assert reason(desk()) == ""


def test_without_a_plan_it_rests() -> None:
    assert reason(desk(items=())) == "there is no plan"


def test_the_user_s_wait_holds_until_the_user_s_next_word() -> None:
    at = desk()
    prompted(at, "wait for me")
    assert reason(at) == "the user said to wait"
    tool_used(at, ToolUse("a"))
    assert reason(at) == "the user said to wait"
    prompted(at, "go on")
    assert reason(at) == ""


def test_a_wait_that_was_said_before_there_was_a_plan_counts() -> None:
    at = desk(items=())
    prompted(at, "Make a plan and stop.")
    at.call("plan", {"add": ["Read"]})
    assert reason(at) == "the user said to wait"


def test_an_interrupt_holds_until_the_user_s_next_word() -> None:
    at = desk()
    tool_used(at, ToolUse("a", interrupted=True))
    assert reason(at) == "it was interrupted"
    assert reason(at) == "it was interrupted"
    prompted(at, "go on")
    assert reason(at) == ""


def test_a_stop_by_the_user_holds_for_the_session_whatever_is_said() -> None:
    at = desk()
    update_state(at, lambda pace: pace._replace(stopped=True))
    prompted(at, "go on")
    tool_used(at, ToolUse("a"))
    assert reason(at) == "the user stopped it for this session"
    assert reason(desk(session="s2")) == ""


def test_of_two_sessions_at_one_plan_only_the_one_that_came_last_is_nudged() -> None:
    old = desk()
    old.bind("s2")
    new = old.for_session("s2")
    new.call("plan", {"add": ["Test"]})
    assert reason(old) == "another session works from this plan"
    assert reason(new) == ""
    old.bind("s1")
    assert reason(new) == "another session works from this plan"
    assert reason(old) == ""


def test_a_session_that_only_looks_at_a_plan_is_not_its_owner() -> None:
    owner = desk()
    looker = Desk(owner._seat.store, session="s2", plan=owner.plan.id, settings=owner.settings)
    assert reason(looker) == "another session works from this plan"


def test_a_sub_agent_with_a_list_of_its_own_does_not_take_the_plan_from_the_main_agent() -> None:
    at = desk()
    at._seat.store.bind(PlanKey("/here", "s1", "helper"), at.plan.id)
    assert reason(at) == ""


# --- it never overrides the user -------------------------------------------------------------------------------------

UNPLANNED = "no planned work since the user's last message"
TALKS = ("Why did you choose sqlite?", "Explain the design.", "thanks", "hm", "hello", "Fix the typo in README.md.")


@pytest.mark.parametrize("prompt", TALKS)
def test_an_agent_that_answered_without_touching_the_plan_is_left_alone(prompt: str) -> None:
    at = desk()
    prompted(at, prompt)
    assert reason(at) == UNPLANNED
    tool_used(at, ToolUse("Read", changes=False))
    tool_used(at, ToolUse("Edit"))
    assert reason(at) == UNPLANNED, "a small fix beside an old plan is no planned work"


def test_a_change_of_the_plan_by_the_agent_itself_is_planned_work() -> None:
    at = desk()
    prompted(at, "Now write it.")
    at.change(lambda plan: ops.add(plan, "Ask Ann"))
    assert reason(at) == UNPLANNED, "what the user changed gives no licence"
    at.call("plan", {"show": True})
    at.call("plan", {"start": [1]})
    assert reason(at) == UNPLANNED, "a call that changes nothing gives none either"
    at.call("plan", {"done": [1]})
    assert reason(at) == ""


@pytest.mark.parametrize(
    "prompt",
    ["go on", "Continue.", "ok, go ahead", "mach weiter", "sigue", "продолжай", "继续", "続けて", "계속"],
)
def test_a_bare_go_on_is_leave_to_nudge(prompt: str) -> None:
    at = desk()
    prompted(at, prompt)
    assert reason(at) == ""


@pytest.mark.parametrize("prompt", ["Continue the loop until it is red", "go on vacation", "yes", "next.js", "I go on"])
def test_words_that_only_begin_like_go_on_are_not_leave_to_nudge(prompt: str) -> None:
    at = desk()
    prompted(at, prompt)
    assert reason(at) == UNPLANNED


def test_reading_and_failing_do_not_answer_a_nudge() -> None:
    at = desk()
    assert reason(at) == ""
    for work in (ToolUse("look", changes=False), ToolUse("fail", failed=True), ToolUse("show", tool="plan")):
        tool_used(at, work)
        assert reason(at) == "nudges led to no progress"
    tool_used(at, ToolUse("write"))
    assert reason(at) == ""


def test_an_edit_of_the_user_does_not_answer_a_nudge() -> None:
    at = desk()
    assert reason(at) == ""
    at.change(lambda plan: ops.add(plan, "Ask Ann"))
    assert reason(at) == "nudges led to no progress"


@pytest.mark.parametrize(
    ("stop", "why"),
    [
        ({"interrupted": True}, "it was interrupted"),
        ({"refused": True}, "a permission was refused"),
        ({"planning": True}, "planning goes on"),
        ({"background": True}, "work goes on in the background"),
    ],
)
def test_after_an_interruption_the_plan_must_be_changed_before_the_next_nudge(stop: dict[str, Any], why: str) -> None:
    at = desk()
    assert reason(at, **stop) == why
    assert reason(at) == UNPLANNED
    at.call("plan", {"add": ["Test"]})
    assert reason(at) == ""


@pytest.mark.parametrize("source", ["clear", "resume", "fork"])
def test_a_session_that_begins_again_is_not_nudged_to_its_old_plan(source: str) -> None:
    at = desk()
    told = started(at, source)
    assert "Continue it when the user asks for it." in told[0]
    assert reason(at) == UNPLANNED
    prompted(at, "hello")
    assert reason(at) == UNPLANNED


def test_a_compaction_in_the_middle_of_the_work_takes_no_leave_away() -> None:
    at = desk()
    assert "Carry on from there." in started(at, "compact")[0]
    assert reason(at) == ""


def test_a_nudge_yields_to_the_user_and_names_the_way_out() -> None:
    for text in (turn_ended(desk(), TurnEnd(said=TALK)).text, turn_ended(_listing(), TurnEnd(said=TALK)).text):
        assert "The user's last message comes first" in text
        assert "for only a part, or to stop or wait, do that and stop" in text
        assert "If you are stuck" in text


def _listing() -> Desk:
    """A desk whose agent has a list tool of its own."""
    at = desk()
    update_state(at, lambda pace: pace._replace(tool="TodoWrite"))
    return at


def test_until_done_nudges_without_planned_work_within_the_bounds() -> None:
    at = desk(continuation="until-done")
    prompted(at, "thanks")
    assert reason(at) == ""
    assert reason(at) == "nudges led to no progress"
    prompted(at, "stop")
    assert reason(at) == "the user said to wait"


def test_where_the_program_ends_with_the_turn_nothing_is_counted() -> None:
    at = desk()
    assert reason(at, ending=True) == "its program ends with this turn"
    assert load_state(at).nudges == 0


STOP_WORDS = {
    "English": "Stop.|Wait|hold on|Don't continue|stop there please",
    "German": "Hör auf|Einen Moment|Bitte warten|Nicht weitermachen|Stopp",
    "Spanish": "Para|No sigas|Detente|Espera|Para, por favor",
    "French": "Ne continue pas|Arrête|Attends|Arrêtez",
    "Italian": "Fermati|Aspetta|Non continuare",
    "Portuguese": "Pare|Espere|Não continue|Aguarde",
    "Dutch": "Wacht even|Hou op|Niet doorgaan|Stop ermee",
    "Polish": "Przestań|Czekaj|Zatrzymaj się",
    "Russian": "Стой|Хватит|Подожди|Не продолжай",
    "Ukrainian": "Зачекай|Зупинись",
    "Turkish": "Dur|Bekle|Devam etme",
    "Arabic": "توقف|انتظر",
    "Hebrew": "עצור|חכה",
    "Hindi": "रुको|रुक जाओ",
    "Thai": "หยุด|รอก่อน",
    "Vietnamese": "Dừng lại|Chờ đã",
    "Japanese": "ちょっと待って|やめて|ストップ",
    "Chinese": "暂停|先不要继续|等一下|停",
    "Korean": "그만|기다려|멈춰",
    "Swedish": "Vänta|Sluta",
    "Czech": "Počkej|Přestaň",
    "Greek": "Σταμάτα|Περίμενε",
    "Indonesian": "Tunggu sebentar|Berhenti",
}


@pytest.mark.parametrize("language", STOP_WORDS)
def test_stop_and_wait_are_understood_in_many_languages(language: str) -> None:
    for words in STOP_WORDS[language].split("|"):
        at = desk()
        prompted(at, words)
        at.call("plan", {"note": {"1": "stopped here"}})
        assert reason(at) == "the user said to wait", words


@pytest.mark.parametrize(
    "words",
    [
        *("Do only item 2 and nothing else.", "do step 1 only", "just do item 2", "Do item 2, leave the rest."),
        *("only step 3 please", "up to step 3", "mach nur Punkt 2", "haz solo el 2", "fais seulement le point 2"),
        *("сделай только пункт 2", "只做第2项", "項目2だけやって", "2번만 해"),
    ],
)
def test_a_message_that_asks_for_a_part_is_a_reason_to_stop(words: str) -> None:
    at = desk()
    prompted(at, words)
    at.call("plan", {"done": [1]})
    assert reason(at) == "the user asked for a part only"


@pytest.mark.parametrize(
    "words",
    [
        *(
            'Add a "Stop" button',
            "Why does it stop after 3 items? Fix it.",
            "Para el parser usa sqlite",
        ),
        *("Add a read-only mode", "Run it only if the tests pass", "make sure only one item is active", "just fix it"),
    ],
)
def test_a_task_that_speaks_of_stopping_is_a_task(words: str) -> None:
    at = desk()
    prompted(at, words)
    at.call("plan", {"done": [1]})
    assert reason(at) == ""


@pytest.mark.parametrize(
    "said",
    [
        *("Ich warte auf deine Bestätigung.", "Bitte sag mir, welche Variante du willst.", "Espero tu confirmación."),
        *("请告诉我您想要哪一个。", "J'attends votre réponse.", "Жду вашего ответа.", "教えてください。"),
    ],
)
def test_an_agent_that_waits_in_another_language_is_left_alone(said: str) -> None:
    assert reason(desk(), said=said) == "it asks the user something"


@pytest.mark.parametrize(
    ("tool", "args", "changes"),
    [
        ("Read", {"file_path": "a"}, False),
        ("mcp__files__list_folder", {}, False),
        ("Bash", {"command": "cat a | grep -n b 2>/dev/null"}, False),
        ("exec_command", {"cmd": "sed -n 1,5p a && git log -3"}, False),
        ("shell", {"command": ["bash", "-lc", "ls -la"]}, False),
        ("Edit", {"file_path": "a"}, True),
        ("write_file", {}, True),
        ("Bash", {"command": "make test"}, True),
        ("Bash", {"command": "echo a > b"}, True),
        ("Bash", {"command": "sed -i s/a/b/ c"}, True),
        ("Bash", {"command": "find . -delete"}, True),
        ("something_else", None, True),
    ],
)
def test_a_call_that_only_looks_is_told_from_one_that_changes_something(tool: str, args: Any, changes: bool) -> None:
    assert changes_something(tool, args) is changes


# --- bounds ----------------------------------------------------------------------------------------------------------


def test_after_a_nudge_that_led_to_nothing_there_is_none_until_the_user_speaks() -> None:
    at = desk()
    assert [reason(at) == "" for _ in range(4)] == [True, False, False, False]
    prompted(at, "go on")
    assert [reason(at) == "" for _ in range(4)] == [True, False, False, False]


def test_the_setting_says_how_many_nudges_in_a_row_may_lead_to_nothing() -> None:
    at = desk(idle_nudges=3)
    assert [reason(at) == "" for _ in range(5)] == [True, True, True, False, False]


@pytest.mark.parametrize("dialect", ["native", "claude-code", "llxprt"])
def test_a_push_that_comes_back_as_a_prompt_is_not_the_user_s_word(dialect: str) -> None:
    at = desk()
    at = Desk(at._seat.store, session="s1", dialect=dialect, settings=at.settings, place="/here")
    nudges = 0
    for _ in range(10):
        sent = turn_ended(at, TurnEnd(said=TALK)).text
        if sent:
            nudges += 1
            prompted(at, sent)
    assert nudges == 1


def test_work_is_progress_but_not_without_end() -> None:
    at = desk()
    nudges = 0
    for number in range(60):
        tool_used(at, ToolUse(f"call-{number}"))
        nudges += reason(at) == ""
    assert nudges == 20


def test_a_change_of_the_list_is_progress_but_not_without_end() -> None:
    at = desk()
    nudges = 0
    for number in range(60):
        at.call("plan", {"add": [f"Item {number}"]})
        nudges += reason(at) == ""
    assert nudges == 20


def test_half_an_hour_is_enough_until_the_user_speaks() -> None:
    at = desk()
    assert reason(at) == ""
    update_state(at, lambda pace: pace._replace(since=int(time.time()) - 31 * 60))
    tool_used(at, ToolUse("a"))
    assert reason(at) == "it has been nudged for long enough"
    prompted(at, "go on")
    assert reason(at) == ""


def test_the_minutes_are_counted_from_the_first_push_not_from_the_last() -> None:
    at = desk()
    reason(at)
    begun = load_state(at).since
    tool_used(at, ToolUse("a"))
    reason(at)
    assert load_state(at).since == begun > 0


def test_a_clock_that_went_back_lets_nobody_run_for_ever() -> None:
    at = desk()
    update_state(at, lambda pace: pace._replace(since=int(time.time()) + 10**6))
    nudges = sum(reason(at) == "" for number in range(100) if tool_used(at, ToolUse(f"call-{number}")) == [])
    assert nudges <= 20


@often(100)
@given(
    idle=st.integers(0, 30),
    nudges=st.integers(0, 30),
    minutes=st.floats(0, 60),
    limits=st.builds(Limits, idle_nudges=st.integers(0, 5), nudges=st.integers(0, 25), minutes=st.integers(0, 40)),
)
def test_nobody_is_sent_on_beyond_a_bound(idle: int, nudges: int, minutes: float, limits: Limits) -> None:
    pace = SessionState(idle=idle, nudges=nudges)
    verdict = go_on(plan_of("a"), pace, TurnEnd(minutes=minutes, always=True), limits)
    if verdict.item is not None:
        assert idle < limits.idle_nudges
        assert nudges < limits.nudges
        assert minutes < limits.minutes
        assert (verdict.state.nudges, verdict.state.idle) == (nudges + 1, idle + 1)
    else:
        assert verdict.state.nudges == nudges


def test_deciding_changes_nothing_but_what_it_returns() -> None:
    plan, pace, stop = plan_of("a"), SessionState(nudges=2), TurnEnd(said=TALK)
    assert go_on(plan, pace, stop, Limits()) == go_on(plan, pace, stop, Limits())
    assert pace == SessionState(nudges=2)


def test_the_same_call_again_and_calls_in_turns_are_no_progress() -> None:
    pace = SessionState()
    for call in ["a", "b", "a", "b", "b", "a"]:
        pace = after_call(pace, call)
    assert pace.work == 2
    assert after_call(pace, "c").work == 3


def test_what_counts_for_the_session_stays_when_the_user_speaks() -> None:
    pace = SessionState(nudges=7, spent=90, idle=3, work=2, since=5, stopped=True, waiting="the user said to wait")
    assert after_prompt(pace, 4) == SessionState(nudges=7, spent=90, stopped=True, asked=4)


# --- agents that would run for ever ----------------------------------------------------------------------------------


def _nothing(at: Desk, number: int) -> str:
    return ""


def _talks(at: Desk, number: int) -> str:
    return f"Still at it, step {number}."


def _loops(at: Desk, number: int) -> str:
    tool_used(at, ToolUse("the same"))
    return TALK


def _alternates(at: Desk, number: int) -> str:
    tool_used(at, ToolUse("this" if number % 2 else "that"))
    return TALK


def _asks(at: Desk, number: int) -> str:
    return "Which one do you want?"


def _works(at: Desk, number: int) -> str:
    tool_used(at, ToolUse(f"call-{number}"))
    return TALK


def _edits(at: Desk, number: int) -> str:
    if number < 100:  # the plan grows with it
        at.call("plan", {"note": {"1": f"at {number}"}})
    return TALK


# How many nudges each may get: without a word of the user, and with one before each stop.
AGENTS: dict[str, tuple[Callable[[Desk, int], str], int, int]] = {
    "does nothing": (_nothing, 1, 20),
    "only talks": (_talks, 1, 20),
    "loops on one call": (_loops, 1, 20),
    "alternates between two calls": (_alternates, 2, 20),
    "asks": (_asks, 0, 0),
    "works": (_works, 20, 20),
    "edits the list": (_edits, 20, 20),
}


def _stops(at: Callable[[int], Desk], agent: Callable[[Desk, int], str], stops: int, *, prompting: bool) -> int:
    nudges = 0
    for number in range(stops):
        one = at(number)
        if prompting:
            prompted(one, "go on")
        nudges += bool(turn_ended(one, TurnEnd(said=agent(one, number))).text)
    return nudges


@pytest.mark.parametrize("prompting", [False, True], ids=["left alone", "prompted before each stop"])
@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("stops", STOPS)
def test_however_often_it_stops_nudges_stay_within_bounds(stops: int, name: str, prompting: bool) -> None:
    agent, alone, with_prompts = AGENTS[name]
    at = desk()
    nudges = _stops(lambda number: at, agent, stops, prompting=prompting)
    assert nudges == load_state(at).nudges
    assert nudges == (with_prompts if prompting else alone)


def _reopened(url: str, every: int) -> Callable[[int], Desk]:
    """The same session in a store that is opened again and again, as by processes that start and end."""
    held: list[Desk] = [desk(url)]

    def at(number: int) -> Desk:
        if number % every == 0:
            held[0].close()
            held[0] = desk(url)
        return held[0]

    return at


@pytest.mark.parametrize("scheme", ["sqlite", "json"])
@pytest.mark.parametrize("name", ["does nothing", "alternates between two calls", "works"])
def test_bounds_survive_a_restart_before_every_stop(name: str, scheme: str, tmp_path: Path) -> None:
    agent, alone, _ = AGENTS[name]
    at = _reopened(f"{scheme}:{tmp_path / 'kept'}", every=1)
    assert _stops(at, agent, 60, prompting=False) == alone
    assert _stops(at, agent, 60, prompting=True) == 20 - alone
    at(0).close()


@pytest.mark.parametrize("stops", STOPS)
def test_however_often_it_stops_in_a_file_nudges_stay_within_bounds(stops: int, tmp_path: Path) -> None:
    at = _reopened(f"sqlite:{tmp_path / 'plan.db'}", every=stops // 20)
    assert _stops(at, _nothing, stops, prompting=False) == 1
    at(0).close()


_RACER = """
import sys
import punchlist
from punchlist.desk.tool_use import ToolUse
from punchlist.desk.guidance import tool_used
from punchlist.desk.nudges import turn_ended
from punchlist.policy.continuation import TurnEnd
url, name, does = sys.argv[1:]
with punchlist.open(url, session="s1") as desk:
    sys.stdin.readline()
    nudges = 0
    for number in range(150):
        if does == "works":
            tool_used(desk, ToolUse(f"{name}-{number}"))
        nudges += bool(turn_ended(desk, TurnEnd(said="So far.")).text)
    print(nudges)
"""


@pytest.mark.parametrize("scheme", ["sqlite", "json"])
@pytest.mark.parametrize(("does", "bound"), [("nothing", 1), ("works", 20)])
def test_two_processes_at_once_share_their_bounds(does: str, bound: int, scheme: str, tmp_path: Path) -> None:
    url = f"{scheme}:{tmp_path / 'kept'}"
    desk(url).close()
    words = [sys.executable, "-c", _RACER, url]
    racing = [
        subprocess.Popen([*words, name, does], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    for process in racing:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate()[0] for process in racing]
    assert [process.returncode for process in racing] == [0, 0]
    with desk(url) as at:
        assert sum(map(int, told)) == load_state(at).nudges == bound


def test_every_push_and_every_rest_is_written_down() -> None:
    at = desk()
    for _ in range(5):
        turn_ended(at, TurnEnd(said=TALK))
    happened = [(one["kind"], one.get("number", one.get("reason"))) for one in read_events(at) if one["kind"] != "call"]
    assert happened == [
        ("nudge", 1),
        ("stop", "nudges led to no progress"),
        ("stop", "nudges led to no progress"),
        ("stop", "nudges led to no progress"),
        ("stop", "nudges led to no progress"),
    ]
