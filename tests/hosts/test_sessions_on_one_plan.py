"""Several sessions on one plan: each is an agent of its own, and told apart from the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Desk, MemoryStore, ops
from punchlist.core.diff import Record, diff
from punchlist.desk.transfer import hand_over
from punchlist.dialects import claude_tasks
from punchlist.hosts import load
from punchlist.hosts.host import HookEvent
from punchlist.hosts.mirror import mirror
from punchlist.local import session_links
from punchlist.stores import Commit, PlanKey, Store, open_store
from tests.commands import SCRIPT, do

OLD = "2020-01-01T00:00:00.000Z"


pytestmark = pytest.mark.usefixtures("own_project")


@pytest.fixture(params=["memory", "sqlite", "json"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    urls = {"memory": "memory:", "sqlite": f"sqlite:{tmp_path}/plans.db", "json": f"json:{tmp_path}/plans"}
    found = open_store(urls[request.param])
    yield found
    found.close()


def seat(store: Store, session: str, host: str = "claude-code", agent: str = "main") -> Desk:
    return Desk(store, session=session, agent=agent, host=host)


def bound(store: Store, session: str, host: str, plan: str, agent: str = "main") -> Desk:
    """The desk of a session that works from somebody else's plan."""
    store.bind(PlanKey(session=session, agent=agent, host=host), plan)
    return seat(store, session, host, agent)


def begun(store: Store) -> Desk:
    """The first session, which works on item 1 of three."""
    first = seat(store, "a")
    first.call("plan", {"add": ["Read", "Write", "Ship"]})
    return first


# --- names -----------------------------------------------------------------------------------------------------------


def test_the_second_session_is_called_like_its_program(store: Store) -> None:
    first = begun(store)
    second = bound(store, "b", "codex", first.plan.id)
    third = bound(store, "c", "codex", first.plan.id)
    fourth = bound(store, "d", "", first.plan.id)
    assert [one._seat.name for one in (first, second, third, fourth)] == ["main", "codex", "codex-2", "agent"]
    assert seat(store, "b", "codex")._seat.name == "codex", "a session that is resumed stays who it was"


def test_whoever_is_alone_on_a_plan_is_main(store: Store) -> None:
    first = begun(store)
    assert (first._seat.name, first._seat.is_shared) == ("main", False)
    assert store.load_state(f"names/{first.plan.id}").names == {}


def test_it_is_main_again_on_a_plan_of_its_own(store: Store) -> None:
    first = begun(store)
    second = bound(store, "b", "codex", first.plan.id)
    assert second._seat.name == "codex"
    other = seat(store, "x")
    other.call("plan", {"add": ["Rest"]})
    own = bound(store, "b", "codex", other.plan.id)
    assert own._seat.name == "codex", "that one is shared, too"
    store.bind(PlanKey(session="b", agent="main", host="codex"), first.plan.id)
    assert own.plan.id == first.plan.id
    assert own._seat.name == "codex"


def test_sub_agents_of_two_sessions_with_one_name_are_told_apart(store: Store) -> None:
    first = begun(store)
    one = bound(store, "a", "claude-code", first.plan.id, "helper")
    two = bound(store, "b", "codex", first.plan.id, "helper")
    assert (first._seat.name, one._seat.name, two._seat.name) == ("main", "helper", "helper-2")


def test_a_session_that_was_cleared_goes_on_under_its_name(store: Store) -> None:
    first = begun(store)
    second = bound(store, "b", "codex", first.plan.id)
    second.call("plan", {"start": [2]})
    hand_over(second, "b2")
    assert seat(store, "b2", "codex")._seat.name == "codex"
    seat(store, "b2", "codex")._seat.take_name()
    assert seat(store, "b2", "codex")._seat.name == "codex"
    assert first._seat.name == "main"


def test_sessions_that_begin_at_once_all_get_other_names(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/plans.db"
    with Desk(open_store(url), session="a", host="claude-code") as first:
        first.call("plan", {"add": ["Read", "Write"]})
        plan = first.plan.id
        names = [f"s{number}" for number in range(6)]
        for name in names:
            first._seat.store.bind(PlanKey(session=name, agent="main", host="codex"), plan)

    def name_of(session: str) -> str:
        words = (
            "import sys; from punchlist import Desk; from punchlist.stores import open_store;"
            "print(Desk(open_store(sys.argv[1]), session=sys.argv[2], host='codex')._seat.name)"
        )
        done = subprocess.run([sys.executable, "-c", words, url, session], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(name_of, names))
    assert sorted(found) == ["codex", *(f"codex-{number}" for number in range(2, 7))]


# --- what holds for different agents ---------------------------------------------------------------------------------


def test_start_never_puts_the_other_sessions_item_back(store: Store) -> None:
    first = begun(store)
    second = bound(store, "b", "codex", first.plan.id)
    assert second.call("plan", {"start": [2]}).text.startswith("now 2 Write")
    assert [(item.id, item.owner) for item in first.plan.busy] == [("1", ""), ("2", "codex")]
    first.call("plan", {"start": [3]})
    assert [(item.id, item.owner) for item in first.plan.busy] == [("2", "codex"), ("3", "")]


def test_what_the_other_session_closed_stays_closed_and_the_updates_name_it(store: Store) -> None:
    first = begun(store)
    second = bound(store, "b", "codex", first.plan.id)
    second.call("plan", {"start": [2]})
    assert second.call("plan", {"done": [2]}).text == "now 3 Ship (1/3)"
    said = first.call("plan", {"start": [2]}).text
    assert "agent codex completed 2" in said
    assert "was closed by agent codex; it stays completed." in said
    assert [record.by for record in first.history()] == ["main", "codex", "codex"]


def test_a_session_that_is_new_to_a_plan_is_told_the_list_once(store: Store) -> None:
    first = begun(store)
    second = bound(store, "b", "codex", first.plan.id)
    said = second.take_updates()
    assert len(said) == 1
    assert "what is open:\n- 1 Read (agent main works on it)\n- 2 Write\n- 3 Ship" in said[0]
    assert second.take_updates() == []
    first.change(lambda plan: ops.add(plan, "Celebrate"))
    assert second.take_updates() == ['the user added 4 "Celebrate".']


def test_the_mirrored_list_of_a_second_session_is_its_own(store: Store) -> None:
    first = begun(store)
    store.bind(PlanKey(session="b", agent="main", host="codex"), first.plan.id)
    second = Desk(store, session="b", host="codex", dialect="claude-code")
    second.take_updates()
    todos = [
        {"content": text, "status": status, "activeForm": text}
        for text, status in (("Read", "in_progress"), ("Write", "in_progress"), ("Ship", "pending"))
    ]
    second.call("TodoWrite", {"todos": todos[1:]})
    assert [(item.id, item.owner) for item in first.plan.busy] == [("1", ""), ("2", "codex")]
    first.call("plan", {"start": [3]})
    assert [(item.id, item.owner) for item in first.plan.busy] == [("2", "codex"), ("3", "")]


def test_finishing_the_other_sessions_item_begins_nothing_for_that_session(store: Store) -> None:
    first = begun(store)
    second = bound(store, "b", "codex", first.plan.id)
    second.call("plan", {"start": [2]})
    assert first.call("plan", {"done": [2]}).text.startswith("now 1 Read")
    assert [(item.id, item.owner) for item in first.plan.busy] == [("1", "")]
    second.take_updates()
    assert second.call("plan", {"done": [1]}).text == "now 3 Ship (2/3)"
    assert [(item.id, item.owner) for item in first.plan.busy] == [("3", "codex")]


def test_an_item_that_waits_for_the_other_session_is_not_begun_for_it(store: Store) -> None:
    first = begun(store)
    second = bound(store, "b", "codex", first.plan.id)
    second.call("plan", {"start": [2]})
    second.call("plan", {"start": [3]})
    second.call("plan", {"block": [3], "why": "No key yet"})
    first.take_updates()
    assert [(item.id, item.status, item.owner) for item in first.plan.items][1] == ("2", "in_progress", "codex")
    second.call("plan", {"block": [2], "why": "No key yet"})
    first.take_updates()
    first.call("plan", {"done": [1]})
    assert first.plan.busy == ()
    first.call("plan", {"unblock": [2]})
    assert [(item.id, item.status) for item in first.plan.items] == [
        ("1", "completed"),
        ("2", "pending"),
        ("3", "blocked"),
    ]


def test_a_list_that_marks_the_other_sessions_item_is_applied_and_told_who_works_on_it(store: Store) -> None:
    first = begun(store)
    store.bind(PlanKey(session="b", agent="main", host="codex"), first.plan.id)
    second = Desk(store, session="b", host="codex", dialect="codex")
    second.take_updates()

    def sent(**statuses: str) -> str:
        return second.call(
            "update_plan", {"plan": [{"step": text, "status": statuses[text]} for text in statuses]}
        ).text

    said = '"Read" is being worked on by agent main.'
    assert said in sent(Read="in_progress", Write="completed", Ship="pending", Rest="pending")
    assert [(item.id, item.owner) for item in first.plan.busy] == [("1", "")]
    assert [item.status for item in first.plan.items] == ["in_progress", "completed", "pending", "pending"]
    assert said not in sent(Read="in_progress", Write="completed", Ship="in_progress", Rest="pending"), "said once"
    assert [(item.id, item.owner) for item in first.plan.busy] == [("1", ""), ("3", "codex")]
    own = Desk(store, session="a", dialect="codex")
    told = own.call("update_plan", {"plan": [{"step": text, "status": "in_progress"} for text in ("Read", "Ship")]})
    assert '"Ship" is being worked on by agent codex.' in told.text
    assert '"Read" is being' not in told.text
    assert [(item.id, item.owner) for item in first.plan.busy] == [("1", ""), ("3", "codex")]


def todo(desk: Desk, *operations: dict[str, Any]) -> str:
    """What a call of oh-my-pi's tool is answered."""
    return desk.call("todo_write", {"ops": list(operations)}).text


def second_in_words(store: Store, plan: str) -> Desk:
    """A second session, whose model knows items by their words."""
    store.bind(PlanKey(session="b", agent="main", host="oh-my-pi"), plan)
    return Desk(store, session="b", host="oh-my-pi", dialect="oh-my-pi")


def test_start_by_words_never_puts_the_other_sessions_item_back(store: Store) -> None:
    first = begun(store)
    second = second_in_words(store, first.plan.id)
    todo(second, {"op": "append", "phase": "Own", "items": ["Draw"]})
    assert [(item.text, item.owner) for item in first.plan.busy] == [("Read", ""), ("Draw", "oh-my-pi")]
    todo(second, {"op": "start", "task": "Write"})
    assert [(item.text, item.owner) for item in first.plan.busy] == [("Read", ""), ("Write", "oh-my-pi")]
    assert '"Read" is being worked on by agent main.' in todo(second, {"op": "start", "task": "Read"})
    assert [(item.text, item.owner) for item in first.plan.busy] == [("Read", ""), ("Write", "oh-my-pi")]
    own = Desk(store, session="a", dialect="oh-my-pi")
    assert '"Write" is being worked on by agent oh-my-pi.' in todo(own, {"op": "start", "task": "Write"})
    todo(own, {"op": "done", "task": "Read"})
    assert [(item.text, item.owner) for item in first.plan.busy] == [("Write", "oh-my-pi"), ("Ship", "")]


def test_a_new_list_of_a_second_session_begins_its_own_item_and_puts_no_other_back(store: Store) -> None:
    first = begun(store)
    second = second_in_words(store, first.plan.id)
    for items in (["Draw", "Paint"], ["Read", "Draw", "Paint", "Frame"]):
        todo(second, {"op": "init", "list": [{"phase": "Own", "items": items}]})
        busy = {item.text: item.owner for item in first.plan.busy}
        assert busy == {"Read": "", "Draw": "oh-my-pi"}
    todo(second, {"op": "done", "task": "Draw"})
    assert [item.owner for item in first.plan.busy if item.text != "Read"] == ["oh-my-pi"]


# --- taking over -----------------------------------------------------------------------------------------------------


def test_an_item_that_another_session_works_on_is_not_taken(store: Store) -> None:
    first = begun(store)
    second = bound(store, "b", "codex", first.plan.id)
    assert '1 "Read" is being worked on by agent main.' in second.call("plan", {"start": [1]}).text
    assert [(item.id, item.owner) for item in first.plan.busy] == [("1", "")]


def test_an_item_of_a_session_that_was_silent_for_an_hour_is_taken_by_naming_it(store: Store) -> None:
    plan = punchlist.Plan("p1", revision=1, items=ops.start(ops.add(punchlist.Plan(), "Read"), "1").items, last_id=1)
    first, second = seat(store, "a"), seat(store, "b", "codex")
    made = Record(1, OLD, "main", first._seat.reader_key, "native", "edit", diff(punchlist.Plan("p1"), plan))
    store.save(Commit(None, plan, made, None, PlanKey(session="a", agent="main", host="claude-code")))
    second._seat.store.bind(PlanKey(session="b", agent="main", host="codex"), "p1")
    third = bound(store, "c", "gemini", "p1")
    assert (second._seat.name, third._seat.name) == ("main", "gemini"), "who is gone has no name any more"
    second.call("plan", {"add": ["Write"]})
    assert '1 "Read" is being worked on by agent main.' in third.call("plan", {"start": [1]}).text
    store.bind(PlanKey(session="b", agent="main", host="codex"), "p2")  # it left, and who was before it is silent
    assert '1 "Read" is yours now; agent main is not at work.' in third.call("plan", {"start": [1]}).text
    assert [(item.id, item.owner) for item in third.plan.busy] == [("1", "gemini")]


def test_sessions_that_each_number_their_own_tasks_mean_their_own_by_a_number(store: Store) -> None:
    def used(desk: Desk, tool: str, args: dict[str, Any], number: str = "") -> None:
        result = {"task": {"id": number}} if number else "ok"
        mirror(desk, HookEvent("after", "s", tool=tool, args=args, result=result), load("claude-code").HOST)

    first = seat(store, "a")
    used(first, "TaskCreate", {"subject": "Read", "description": ""}, "1")
    second = bound(store, "b", "claude-code", first.plan.id)
    used(second, "TaskCreate", {"subject": "Ship", "description": ""}, "1")
    used(first, "TaskUpdate", {"taskId": "1", "status": "completed"})
    assert [(item.text, item.status) for item in first.plan.items] == [("Read", "completed"), ("Ship", "pending")]
    used(second, "TaskUpdate", {"taskId": "1", "status": "in_progress"})
    assert [(item.text, item.owner) for item in first.plan.busy] == [("Ship", "claude-code")]
    assert [task.keys() & {"numbered_by"} for task in claude_tasks.write(first.plan)] == [set(), set()]
    used(second, "TaskUpdate", {"taskId": "2", "status": "deleted"})
    assert [item.text for item in second.plan.items] == ["Read", "Ship"], "a number that it never gave"


def test_a_task_of_a_session_at_work_is_refused_and_that_of_a_silent_one_is_taken_over(store: Store) -> None:
    first = begun(store)
    store.bind(PlanKey(session="b", agent="main", host="claude-code"), first.plan.id)
    second = Desk(store, session="b", host="claude-code", dialect="claude-tasks")
    wish = {"taskId": "1", "status": "in_progress"}
    assert '1 "Read" is being worked on by agent main.' in second.call("TaskUpdate", wish).text
    assert [(item.id, item.owner) for item in first.plan.busy] == [("1", "")]
    plan = punchlist.Plan("p1", revision=1, items=ops.start(ops.add(punchlist.Plan(), "Read"), "1").items, last_id=1)
    made = Record(
        1, OLD, "main", seat(store, "old")._seat.reader_key, "native", "edit", diff(punchlist.Plan("p1"), plan)
    )
    store.save(Commit(None, plan, made, None, PlanKey(session="old", agent="main", host="claude-code")))
    store.save_state(
        "names/p1",
        store.load_state("names/p1"),
        store.load_state("names/p1")._replace(names={second._seat.reader_key: "cc"}),
    )
    store.bind(PlanKey(session="b", agent="main", host="claude-code"), "p1")
    assert '1 "Read" is yours now; agent main is not at work.' in second.call("TaskUpdate", wish).text
    assert [(item.id, item.owner) for item in second.plan.busy] == [("1", "cc")]


class Agent:
    """A program of another process, which runs hooks as an agent does: as its children."""

    def __init__(self, host: str, session: str) -> None:
        loop = (
            "import subprocess, sys\n"
            "for line in sys.stdin:\n"
            "    words = line.rstrip('\\n').partition(' ')\n"
            "    said = subprocess.check_output([sys.argv[1], 'hook', words[0]], input=words[2], text=True)\n"
            "    print(repr(said), flush=True)\n"
        )
        self.host, self.session = host, session
        self._process = subprocess.Popen(
            [sys.executable, "-c", loop, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def hook(self, event: str, **values: Any) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        given = {"hook_event_name": event, "session_id": self.session, "cwd": os.getcwd(), **values}
        self._process.stdin.write(f"{self.host} {json.dumps(given)}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def end(self) -> None:
        self._process.communicate()


@pytest.fixture
def agents() -> Iterator[list[Agent]]:
    made: list[Agent] = []
    yield made
    for agent in made:
        agent.end()


def started(agents: list[Agent], host: str, session: str, source: str = "startup") -> Agent:
    agent = Agent(host, session)
    agents.append(agent)
    agent.hook("SessionStart", source=source)
    agent.hook("UserPromptSubmit", prompt="Go.")
    return agent


def call(session: str, host: str, **args: Any) -> str:
    with punchlist.open(session=session) as desk:
        desk._seat.host = host
        return desk.call("plan", args).text


def name_of(session: str) -> str:
    with punchlist.open(session=session) as desk:
        return desk._seat.name


def bind(session: str) -> None:
    plan = json.loads(do("--session", "a", "show", "--json"))["id"]
    do("bind", "--session", session, "--plan", plan)


def test_a_session_whose_turn_is_over_gives_its_item_to_whoever_starts_it(agents: list[Agent]) -> None:
    first = started(agents, "claude-code", "a")
    call("a", "claude-code", add=["Read", "Write"])
    bind("b")
    started(agents, "codex", "b", "resume")
    assert name_of("b") == "codex"
    assert "is being worked on by agent main" in call("b", "codex", start=[1])
    first.hook("Stop", last_assistant_message="Which one do you mean?")
    assert '1 "Read" is yours now; agent main is not at work.' in call("b", "codex", start=[1])
    with punchlist.open(session="a") as desk:
        assert [(item.id, item.owner) for item in desk.plan.busy] == [("1", "codex")]


def test_a_session_goes_on_as_main_once_the_program_before_it_has_ended(agents: list[Agent]) -> None:
    first = started(agents, "claude-code", "a")
    call("a", "claude-code", add=["Read", "Write"])
    first.end()
    bind("b")
    told = Agent("codex", "b")
    agents.append(told)
    assert "- now 1 Read" in told.hook("SessionStart", source="resume")
    assert name_of("b") == "main"
    assert call("b", "codex", done=[1]) == "now 2 Write (1/2)"
    started(agents, "claude-code", "a", "resume")
    assert (name_of("a"), name_of("b")) == ("claude-code", "main"), "whoever comes back gets a name that is free"


def test_a_bound_session_is_told_the_list_and_not_every_item_again(agents: list[Agent]) -> None:
    started(agents, "claude-code", "a")
    call("a", "claude-code", add=["Read", "Write", "Ship"])
    bind("b")
    second = Agent("claude-code", "b")
    agents.append(second)
    told = second.hook("SessionStart", source="resume")
    assert told.count("Ship") == 1
    assert "added" not in told
    assert second.hook("UserPromptSubmit", prompt="Go.") == "''\n"


def test_in_its_shell_a_second_session_acts_under_its_name(agents: list[Agent]) -> None:
    started(agents, "claude-code", "a")
    call("a", "claude-code", add=["Read", "Write", "Ship"])
    bind("b")
    started(agents, "codex", "b", "resume")
    env = {**os.environ, "CODEX_THREAD_ID": "b", "CODEX_SESSION_ID": "b"}
    refused = subprocess.run([SCRIPT, "start", "1"], env=env, capture_output=True, text=True, check=False)
    assert (refused.returncode, "is being worked on by agent main" in refused.stderr) == (1, True)
    subprocess.run([SCRIPT, "start", "2"], env=env, capture_output=True, check=True)
    with punchlist.open(session="a") as desk:
        assert [(item.id, item.owner) for item in desk.plan.busy] == [("1", ""), ("2", "codex")]
        assert desk.history()[-1].by == "codex"


def test_what_a_session_uses_tools_for_is_kept_with_its_own_item(agents: list[Agent]) -> None:
    first = started(agents, "claude-code", "a")
    call("a", "claude-code", add=["Read", "Write", "Ship"])
    bind("b")
    second = started(agents, "codex", "b", "resume")
    call("b", "codex", start=[2])
    used = {"tool_name": "Bash", "tool_response": "ok", "tool_use_id": "u1"}
    second.hook("PostToolUse", tool_input={"command": "make b"}, **used)
    first.hook("PostToolUse", tool_input={"command": "make a"}, **used)
    with punchlist.open(session="a") as desk:
        commands = [[one["parameters"]["command"] for one in item.calls] for item in desk.load(calls=True).items]
    assert commands == [["make a"], ["make b"], []]


def test_the_state_of_a_session_is_that_of_its_program(agents: list[Agent]) -> None:
    assert session_links.state_of("a") == ""
    first = started(agents, "claude-code", "a")
    assert session_links.state_of("a") == session_links.BUSY
    first.hook("Stop", last_assistant_message="Done.")
    assert session_links.state_of("a") == session_links.IDLE
    first.end()
    assert session_links.state_of("a") == session_links.GONE
    assert session_links.state_of(session_links.process_key(os.getpid())) == session_links.BUSY


def test_a_store_of_nobody_else_needs_no_names() -> None:
    desk = Desk(MemoryStore())
    desk.call("plan", {"add": ["Read"]})
    assert desk._seat.name == "main"
