"""Our store behind `Planning` of pydantic-ai-harness: its protocol, and its tools in a run with a scripted model."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness.planning import InMemoryPlanStore, PlanItem, Planning, SqlitePlanStore, TaskStatus
from pydantic_ai_harness.planning import PlanStore as Protocol

import punchlist
from punchlist import ops
from punchlist.adapters.pydantic_ai import PlanStore

pytestmark = pytest.mark.anyio

Step = Sequence[Any] | str | Callable[[], Any]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path}/plan.db"


@pytest.fixture
def store(url: str) -> PlanStore:
    return PlanStore(url, session="s1")


def user(url: str, change: Callable[[punchlist.Plan], punchlist.Plan]) -> punchlist.Plan:
    """Another terminal."""
    with punchlist.open(url, session="s1") as desk:
        return desk.change(change).plan


def look(url: str, session: str = "s1") -> punchlist.Plan:
    with punchlist.open(url, session=session) as desk:
        return desk.load()


def step(id: str, content: str = "", status: str = "pending", **more: Any) -> PlanItem:
    return PlanItem(id=id, content=content or f"Step {id}", status=TaskStatus(status), **more)


async def contents(store: PlanStore) -> list[str]:
    return [item.content for item in await store.get_items()]


def test_the_capability_does_without_the_harness_and_the_store_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pydantic_ai_harness'] = None\n"
        "from punchlist.adapters.pydantic_ai import PlanStore, Punchlist\n"
        "print(Punchlist('memory:').id)\n"
        "PlanStore('memory:')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "punchlist\n")
    assert "pip install pydantic-ai-harness" in done.stderr.splitlines()[-1]


# --- the protocol ----------------------------------------------------------------------------------------------------


def test_it_is_a_store_of_the_harness(store: PlanStore) -> None:
    assert isinstance(store, Protocol)


LIST = [
    step("a", "Read the parser", "completed", active_form="Reading the parser"),
    step("b", "Fix it", "in_progress"),
    step("c", "Fix the lexer", "pending", parent_id="b"),
    step("d", "Test it", "blocked", depends_on=["b", "c"]),
    step("e", "Skip it", "cancelled"),
]


@pytest.mark.parametrize("kind", ["ours", "memory", "sqlite"])
async def test_what_is_stored_comes_back_as_from_the_stores_of_the_harness(kind: str, url: str, tmp_path: Path) -> None:
    stores: dict[str, Callable[[], Protocol]] = {
        "ours": lambda: PlanStore(url, session="s1"),
        "memory": InMemoryPlanStore,
        "sqlite": lambda: SqlitePlanStore(str(tmp_path / "theirs.db")),
    }
    store = stores[kind]()
    assert await store.get_items() == []
    await store.set_items(LIST)
    assert await store.get_items() == LIST
    assert await store.get_item("d") == LIST[3]
    assert await store.get_item("x") is None
    added = await store.add_item(step("f", "Tell the user"))
    assert added == step("f", "Tell the user")
    with pytest.raises(Exception, match=r"f|UNIQUE"):
        await store.add_item(step("f", "Twice"))
    changed = await store.update_item(
        "f", content="Tell everybody", status=TaskStatus.in_progress, active_form="Telling"
    )
    assert changed == step("f", "Tell everybody", "in_progress", active_form="Telling")
    assert await store.update_item("f", parent_id="b", depends_on=["a"]) == await store.get_item("f")
    assert await store.get_item("f") == step(
        "f", "Tell everybody", "in_progress", active_form="Telling", parent_id="b", depends_on=["a"]
    )
    assert await store.update_item("x", content="nobody") is None
    assert await store.remove_item("e") is True
    assert await store.remove_item("e") is False
    assert [item.id for item in await store.get_items()] == ["a", "b", "c", "d", "f"] or kind == "ours"
    assert {item.id for item in await store.get_items()} == {"a", "b", "c", "d", "f"}
    await store.set_items([step("b", "Fix it", "completed"), step("a", "Read the parser", "completed")])
    assert [(item.id, item.status.value) for item in await store.get_items()] == [
        ("b", "completed"),
        ("a", "completed"),
    ]


async def test_the_plan_has_what_was_stored(store: PlanStore, url: str) -> None:
    await store.set_items(LIST)
    items = look(url).items
    assert [(item.text, item.status) for item in items] == [
        ("Read the parser", "completed"),
        ("Fix it", "in_progress"),
        ("Fix the lexer", "pending"),
        ("Test it", "pending"),
        ("Skip it", "abandoned"),
    ]
    assert (items[2].parent, items[3].needs, items[0].active) == ("2", ("2", "3"), "Reading the parser")


async def test_another_process_finds_the_steps_with_their_ids(store: PlanStore, url: str) -> None:
    await store.set_items(LIST)
    assert await PlanStore(url, session="s1").get_items() == LIST
    assert await PlanStore(url, session="s2").get_items() == []


async def test_a_step_that_waits_is_ready_as_soon_as_the_user_has_completed_what_it_waits_for(
    store: PlanStore, url: str
) -> None:
    await store.set_items([step("a"), step("b", status="blocked", depends_on=["a"])])
    user(url, lambda plan: ops.complete(plan, "1"))
    assert [item.status.value for item in await store.get_items()] == ["completed", "pending"]


async def test_every_change_is_in_the_history_and_can_be_undone(store: PlanStore, url: str) -> None:
    await store.set_items(LIST)
    await store.remove_item("a")
    with punchlist.open(url, session="s1") as desk:
        assert [record.revision for record in desk.history()] == [1, 2]
        desk.undo()
    assert await store.get_items() == LIST


@pytest.mark.parametrize("content", ["", "   ", "\x1b[31mred", "x" * 5_000, "two\nlines", "<system-reminder>"])
async def test_any_text_is_data(store: PlanStore, content: str) -> None:
    await store.set_items([step("a", "Read"), PlanItem(id="b", content=content)])
    assert [item.id for item in await store.get_items()] == ["a", "b"]
    await store.add_item(PlanItem(id="c", content=content))
    await store.update_item("a", content=content)
    assert [item.id for item in await store.get_items()] == ["a", "b", "c"]


@pytest.mark.parametrize("id", ["1", "", "a b", "ü", "x" * 300])
async def test_any_id_is_kept(store: PlanStore, url: str, id: str) -> None:
    user(url, lambda plan: ops.add(plan, "The user's own"))
    await store.set_items([PlanItem(id=id, content="The model's")])
    kept = id or "p2"  # nobody could name it otherwise
    assert [item.id for item in await store.get_items()] == ["p1", kept]
    with pytest.raises(ValueError, match="already"):
        await store.add_item(PlanItem(id=kept, content="Twice"))


ID = st.sampled_from("abcdef")
TEXT = st.sampled_from(["Read", "Write", "Test", "Ask"])
STATUS = st.sampled_from([TaskStatus.pending, TaskStatus.in_progress, TaskStatus.completed, TaskStatus.cancelled])
LABEL = st.sampled_from(["", "Working"])
ENTRY = st.tuples(ID, TEXT, STATUS, LABEL, st.booleans())
EDIT = st.one_of(
    st.tuples(st.just("set"), st.lists(ENTRY, max_size=6, unique_by=lambda entry: entry[0])),
    st.tuples(st.just("add"), st.tuples(ID, TEXT)),
    st.tuples(st.just("update"), st.tuples(ID, TEXT | st.none(), STATUS | st.none(), LABEL | st.none())),
    st.tuples(st.just("remove"), ID),
)


async def carry_out(store: Protocol, kind: str, given: Any) -> object:
    """One edit, as `Planning` makes it."""
    if kind == "set":
        items: list[PlanItem] = []
        for id, text, status, label, is_part in given:
            parent = items[-1].id if items and is_part else None
            items.append(PlanItem(id=id, content=f"{text} {id}", status=status, active_form=label, parent_id=parent))
        await store.get_items()
        await store.set_items(items)
        return None
    if kind == "add":
        try:
            return await store.add_item(PlanItem(id=given[0], content=f"{given[1]} {given[0]}"))
        except ValueError:
            return "refused"
    if kind == "update":
        id, text, status, label = given
        return await store.update_item(id, content=text and f"{text} {id}", status=status, active_form=label)
    gone = [given]
    for id in gone:  # a step goes with its parts
        gone += [item.id for item in await store.get_items() if item.parent_id == id]
    existed, *_ = [await store.remove_item(id) for id in gone]
    return existed


@given(st.lists(EDIT, max_size=12))
@settings(max_examples=150, deadline=None)
def test_without_other_writers_it_is_like_the_store_of_the_harness(edits: list[tuple[str, Any]]) -> None:
    async def play() -> None:
        ours, theirs = PlanStore("memory:", session="s1"), InMemoryPlanStore()
        for one in edits:
            assert await carry_out(ours, *one) == await carry_out(theirs, *one)
            assert await ours.get_items() == await theirs.get_items()

    asyncio.run(play())


# --- edits of the user -----------------------------------------------------------------------------------------------


async def shown(store: PlanStore) -> list[PlanItem]:
    """What `Planning` does before a request: the model is shown the list."""
    return await store.get_items()


async def write(store: PlanStore, items: list[PlanItem]) -> list[PlanItem]:
    """What its tool `write_plan` does."""
    await store.get_items()
    await store.set_items(items)
    return await store.get_items()


async def test_a_list_that_is_sent_again_does_not_drop_what_the_user_added(store: PlanStore, url: str) -> None:
    await write(store, [step("a"), step("b")])
    known = await shown(store)
    user(url, lambda plan: ops.add(plan, "Ask the team", after="1"))
    after = await write(store, [known[0].model_copy(update={"status": TaskStatus.completed}), known[1]])
    assert [(item.content, item.status.value) for item in after] == [
        ("Step a", "completed"),
        ("Ask the team", "pending"),
        ("Step b", "pending"),
    ]
    known = await shown(store)
    after = await write(store, [known[0], known[2]])
    assert [item.content for item in after] == ["Step a", "Ask the team", "Step b"], "it was shown, and is not its own"
    assert [item.content for item in await write(store, [known[0]])] == ["Step a", "Ask the team"], "its own may go"


async def test_a_step_that_the_user_renamed_meanwhile_is_known_by_the_text_that_was_shown(
    store: PlanStore, url: str
) -> None:
    await write(store, [step("a"), step("b")])
    await shown(store)
    user(url, lambda plan: ops.rename(plan, "2", "Other words"))
    sent = [PlanItem(content="Step a", status=TaskStatus.completed), PlanItem(content="Step b")]
    after = await write(store, sent)
    assert [(item.content, item.status.value) for item in after] == [
        ("Step a", "completed"),
        ("Other words", "pending"),
    ]


async def test_a_list_that_is_sent_again_does_not_undo_what_the_user_changed(store: PlanStore, url: str) -> None:
    await write(store, [step("a"), step("b"), step("c"), step("d"), step("e")])
    known = await shown(store)
    user(url, lambda plan: ops.complete(plan, "1"))
    user(url, lambda plan: ops.rename(plan, "2", "Other words"))
    user(url, lambda plan: ops.remove(plan, "3"))
    user(url, lambda plan: ops.drop(plan, "4", why="not needed"))
    user(url, lambda plan: ops.block(plan, "5", why="no key"))
    after = await write(store, known)
    assert [(item.id, item.content, item.status.value) for item in after] == [
        ("a", "Step a", "completed"),
        ("b", "Other words", "pending"),
        ("d", "Step d", "cancelled"),
        ("e", "Step e", "blocked"),
    ]


async def test_what_the_user_closed_stays_closed_and_what_the_user_blocked_stays_blocked(
    store: PlanStore, url: str
) -> None:
    await write(store, [step("a"), step("b")])
    await shown(store)
    user(url, lambda plan: ops.block(ops.complete(plan, "1"), "2", why="no key"))
    after = await write(store, [step("a", status="in_progress"), step("b")])
    assert [item.status.value for item in after] == ["completed", "blocked"]
    await shown(store)
    after = await write(store, [step("a"), step("b")])  # a model may not send `blocked` without subtasks
    assert [item.status.value for item in after] == ["completed", "blocked"]
    after = await write(store, [step("a"), step("b", status="completed")])
    assert [item.status.value for item in after] == ["completed", "completed"]


async def test_a_step_that_the_user_changed_is_not_dropped(store: PlanStore, url: str) -> None:
    await write(store, [step("a"), step("b")])
    known = await shown(store)
    user(url, lambda plan: ops.note(plan, "2", "use heron"))
    assert [item.id for item in await write(store, [known[0]])] == ["a", "b"]


async def test_steps_that_come_without_their_ids_are_known_by_their_texts(store: PlanStore, url: str) -> None:
    first = await write(store, [PlanItem(content="Read"), PlanItem(content="Write")])
    user(url, lambda plan: ops.note(plan, "2", "use heron"))
    done = [PlanItem(content="Read", status=TaskStatus.completed), PlanItem(content="Write"), PlanItem(content="Test")]
    after = await write(store, done)
    assert [item.id for item in after[:2]] == [item.id for item in first]
    assert [item.content for item in after] == ["Read", "Write", "Test"]
    assert look(url).items[1].notes == ("use heron",)


async def test_a_step_that_the_user_removed_does_not_come_back_without_its_id(store: PlanStore, url: str) -> None:
    await write(store, [PlanItem(content="Read"), PlanItem(content="Write")])
    await shown(store)
    user(url, lambda plan: ops.remove(plan, "2"))
    after = await write(store, [PlanItem(content="Read"), PlanItem(content="Write")])
    assert [item.content for item in after] == ["Read"]
    await shown(store)
    after = await write(store, [PlanItem(content="Read"), PlanItem(content="Write")])
    assert [item.content for item in after] == ["Read"], "nor later"


async def test_steps_of_one_text_stay_apart(store: PlanStore) -> None:
    await write(store, [PlanItem(content="Test"), PlanItem(content="Test")])
    done = PlanItem(content="Test", status=TaskStatus.completed)
    after = await write(store, [done, PlanItem(content="Test")])
    assert [item.status.value for item in after] == ["completed", "pending"]


async def test_a_new_process_drops_nothing_of_the_users(store: PlanStore, url: str) -> None:
    await store.set_items([step("a"), step("b")])
    user(url, lambda plan: ops.add(plan, "Ask the team"))
    again = PlanStore(url, session="s1")
    await again.set_items([step("a", status="completed")])
    assert await contents(again) == ["Step a", "Ask the team"]


async def test_phases_of_the_user_stay(store: PlanStore, url: str) -> None:
    user(url, lambda plan: ops.extend(plan, [{"text": "One", "phase": "First"}, {"text": "Two", "phase": "Second"}]))
    known = await shown(store)
    after = await write(store, [known[1], known[0], step("x", "Three")])
    assert {item.content for item in after} == {"One", "Two", "Three"}
    assert look(url).phases[:2] == ("First", "Second")


# --- a store that fails ----------------------------------------------------------------------------------------------


async def test_a_store_that_is_gone_stops_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plan.db").mkdir()
    store = PlanStore(f"sqlite:{tmp_path}/plan.db", session="s1")
    with caplog.at_level(logging.WARNING, "punchlist"):
        assert await store.get_items() == []
        await store.set_items(LIST)
        assert await store.get_items() == []
        assert await store.update_item("a", content="x") is None
        assert await store.remove_item("a") is False
        assert await store.add_item(step("a")) == step("a")
    assert len(caplog.records) == 1


# --- in a run --------------------------------------------------------------------------------------------------------


class Script:
    """A model that plays a script, and keeps the requests."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests: list[str] = []
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.requests.append("\n".join(str(getattr(part, "content", "")) for part in messages[-1].parts))
        step: Any = self.steps.pop(0)
        if callable(step):
            step = step()
        return ModelResponse(parts=[TextPart(step)] if isinstance(step, str) else list(step))


def call(tool: str, **args: Any) -> list[Any]:
    return [ToolCallPart(tool, args)]


async def test_planning_works_on_our_store(url: str) -> None:
    def another_terminal() -> list[Any]:
        user(url, lambda plan: ops.add(ops.complete(plan, "1"), "Ask the team"))
        return call("write_plan", items=[{"content": "Read", "status": "in_progress"}, {"content": "Write"}])

    script = Script(
        call("write_plan", items=[{"content": "Read", "status": "in_progress"}, {"content": "Write"}]),
        another_terminal,
        lambda: call("update_task_status", task_id=_id(url, "Write"), status="completed"),
        call("read_plan"),
        call("add_task", content="Test"),
        lambda: call("remove_task", task_id=_id(url, "Test")),
        lambda: call("update_task_status", task_id="p3", status="completed"),
        "Done.",
    )
    agent = Agent(script.model, capabilities=[Planning(store=PlanStore(url, session="s1"))])
    assert (await agent.run("Go on.")).output == "Done."
    assert "Ask the team" in script.requests[2], "the user's edit is in the next request"
    assert [(item.text, item.status) for item in look(url).items] == [
        ("Read", "completed"),
        ("Write", "completed"),
        ("Ask the team", "completed"),
    ]
    assert "1. [x] Read" in script.requests[2]


def _id(url: str, text: str) -> str:
    (item,) = [item for item in look(url).items if item.text == text]
    return str(item.extra["planning_id"])


async def test_subtasks_and_dependencies(url: str) -> None:
    script = Script(
        call("write_plan", items=[{"id": "a", "content": "Read"}, {"id": "b", "content": "Write"}]),
        call("add_subtask", parent_id="a", content="Read the lexer"),
        call("set_dependency", task_id="b", depends_on_id="a"),
        call("update_task_status", task_id="b", status="in_progress"),
        call("update_task_statuses", updates=[{"task_id": "a", "status": "completed"}]),
        call("get_available_tasks"),
        call("remove_task", task_id="a"),
        "Done.",
    )
    agent = Agent(script.model, capabilities=[Planning(store=PlanStore(url, session="s1"), enable_subtasks=True)])
    await agent.run("Go on.")
    assert "Step automatically blocked" in script.requests[3]
    assert "incomplete dependencies" in script.requests[4]
    assert "[b] Write" in script.requests[6]
    assert "Removed step 'Read'" in script.requests[7]
    assert [(item.text, item.status, item.needs) for item in look(url).items] == [("Write", "pending", ())]


async def test_a_plan_for_each_conversation(url: str) -> None:
    agents = PlanStore(url)
    for name in ("c1", "c2"):
        script = Script(call("write_plan", items=[{"content": f"Read {name}"}]), "Done.")
        agent = Agent(script.model, capabilities=[Planning(store_resolver=agents.for_run)])
        await agent.run("Go on.", conversation_id=name)
    assert [[item.text for item in look(url, name).items] for name in ("c1", "c2")] == [["Read c1"], ["Read c2"]]
