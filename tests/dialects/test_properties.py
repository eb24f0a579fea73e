"""Any sequence of calls, right, nearly right and nonsense, in every dialect, with a user who edits in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist import Desk, MemoryStore, Reply, ops
from punchlist.core.model import DONE, DROPPED, Plan
from punchlist.core.rules import problems
from punchlist.core.text import plainly
from punchlist.dialects import PATHS, Dialect, Tool, load
from punchlist.local.settings import load as settings
from punchlist.stores import PlanKey
from tests.core.plans import POOL, Wish, any_json, any_text, granted, often, statuses, texts, wishes
from tests.core.schemas import fitting, near

SETTINGS = settings({}, environ={})
MIRRORS = ("codex", "gemini", "opencode")
all_dialects = pytest.mark.parametrize("name", PATHS)


class Made(NamedTuple):
    """One call, as a model might make it."""

    tool: str
    args: Any
    agent: str = "main"


def desk_of(name: str, store: MemoryStore, agent: str = "main") -> Desk:
    plan = store.find(PlanKey(session="s", agent="main"))
    if agent == "main" or not plan:
        return Desk(store, session="s", dialect=name, settings=SETTINGS)
    return Desk(store, session="s", agent=agent, plan=plan, dialect=name, settings=SETTINGS)


# --- calls that make sense ------------------------------------------------------------------------------------------

texts_sent = st.sampled_from(POOL[:5])
ids_sent = st.integers(1, 5)
statuses_sent = st.sampled_from(("pending", "in_progress", "completed"))
lines_sent = st.lists(st.tuples(texts_sent, statuses_sent), max_size=5)
phases_sent = st.sampled_from(("Build", "Ship"))


def one_of_keys(most: int, **values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with a few of these keys."""
    names = st.lists(st.sampled_from(sorted(values)), min_size=1, max_size=most, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: values[name] for name in chosen}))


_some = st.lists(ids_sent, min_size=1, max_size=2)
_entry = texts_sent | st.builds(
    lambda text, links: {"text": text, **links},
    texts_sent,
    one_of_keys(2, phase=phases_sent, needs=_some, after=ids_sent, parent=ids_sent, notes=texts_sent, owner=texts_sent),
)
_by_id = st.dictionaries(ids_sent.map(str), texts_sent, min_size=1, max_size=2)
native_calls = one_of_keys(
    2, add=st.lists(_entry, min_size=1, max_size=3), start=_some, done=_some, unblock=_some, note=_by_id, edit=_by_id
) | one_of_keys(2, drop=_some, block=_some, add=st.lists(texts_sent, min_size=1, max_size=3)).map(
    lambda args: {**args, "why": "no key"}
)
_op = st.sampled_from(("init", "append", "start", "done", "drop", "rm", "note")).flatmap(
    lambda op: {
        "init": st.builds(
            lambda phase, items: {"op": op, "list": [{"phase": phase, "items": items}]},
            phases_sent,
            st.lists(texts_sent, min_size=1, max_size=4),
        ),
        "append": st.builds(
            lambda phase, items: {"op": op, "phase": phase, "items": items},
            phases_sent,
            st.lists(texts_sent, min_size=1, max_size=2),
        ),
        "note": st.builds(lambda task: {"op": op, "task": task, "text": "look"}, texts_sent),
    }.get(op, st.builds(lambda task: {"op": op, "task": task}, texts_sent))
)
_id = ids_sent.map(str)
_task = st.builds(
    lambda id, fields: Made("TaskUpdate", {"taskId": id, **fields}),
    _id,
    one_of_keys(
        2,
        status=st.sampled_from(("pending", "in_progress", "completed", "deleted")),
        subject=texts_sent,
        addBlocks=st.lists(_id, max_size=1),
        addBlockedBy=st.lists(_id, max_size=1),
        owner=texts_sent,
    ),
)
_creation = st.builds(lambda text: Made("TaskCreate", {"subject": text, "description": ""}), texts_sent)
_part = st.builds(lambda text, key: {"id": key, "content": text}, texts_sent, _id)
_todo = st.builds(
    lambda text, status, more: {"content": text, "status": status, **more},
    texts_sent,
    statuses_sent,
    st.just({}) | one_of_keys(2, id=_id, subtasks=st.lists(_part, max_size=2)),
)


def sensible(name: str) -> st.SearchStrategy[Made]:
    """Calls as a model makes them that means well."""
    if name == "native":
        return native_calls.map(lambda args: Made("plan", args))
    if name == "oh-my-pi":
        return st.lists(_op, min_size=1, max_size=3).map(lambda several: Made("todo_write", {"ops": several}))
    if name == "claude-tasks":
        return st.one_of(_creation, _creation, _task, _task, st.just(Made("TaskList", {})))
    if name == "llxprt":
        return st.lists(_todo, max_size=4).map(lambda todos: Made("todo_write", {"todos": todos}))
    return lines_sent.map(lambda lines: whole_list(name, lines))


def opening(name: str) -> list[Made]:
    """The calls that put three items on the list, so that what follows finds some."""
    first = ["Run the tests", "Write the docs", "Fix error 1"]
    if name == "native":
        return [Made("plan", {"add": first})]
    if name == "claude-tasks":
        return [Made("TaskCreate", {"subject": text, "description": ""}) for text in first]
    return [whole_list(name, [(text, "pending") for text in first])]


def wild(dialect: Dialect) -> st.SearchStrategy[Made]:
    """Calls that fit, that nearly fit, and nonsense."""
    tools = st.sampled_from(dialect.tools)
    fits = tools.flatmap(lambda tool: st.builds(Made, st.just(tool.name), fitting(tool.schema)))
    nears = tools.flatmap(lambda tool: st.builds(Made, st.just(tool.name), near(tool.schema)))
    return st.one_of(fits, nears, st.builds(Made, tools.map(lambda tool: tool.name) | any_text, any_json))


def steps(name: str, most: int = 10) -> st.SearchStrategy[list[Made | Wish]]:
    """Calls of a dialect, of either agent, and edits of the user."""
    agents = st.sampled_from(("main", "main", "helper"))
    calls = st.builds(lambda call, agent: call._replace(agent=agent), sensible(name), agents)
    kinds = {"call": calls, "wild": wild(load(name)), "user": wishes()}
    kind = st.sampled_from(("call", "call", "call", "call", "user", "user", "wild"))
    return st.lists(kind.flatmap(lambda chosen: kinds[chosen]), min_size=1, max_size=most)


# --- what may leave the list ---------------------------------------------------------------------------------------


def rightly_gone(name: str, call: Made, seen: Plan, before: Plan, after: Plan) -> bool:
    """Whether no open item has left the list unless the call said so. `seen` is the plan as its author knew it."""
    if name == "oh-my-pi":
        return not _ops(call).isdisjoint({"rm", "init"}) or _all_there(before, after)
    if name == "claude-tasks":
        deleted = isinstance(call.args, dict) and call.args.get("status") == "deleted"
        return deleted or _all_there(before, after)
    if name in ("native", *MIRRORS):
        return _all_there(before, after)
    return _left_out(call, seen, before, after)


def _all_there(before: Plan, after: Plan) -> bool:
    return {item.id for item in before.open_items} <= {item.id for item in after.items}


def _left_out(call: Made, seen: Plan, before: Plan, after: Plan) -> bool:
    """A whole list takes away what its author knew and left out; a list sent all completed may be cleared."""
    sent = list(call.args["todos"]) if isinstance(call.args, dict) and "todos" in call.args else []
    if not after.items and all(todo["status"] == DONE for todo in sent):
        return True
    known = {item.id for item in seen.items}
    unknown = {item.id for item in before.open_items if item.id not in known}
    if not unknown <= {item.id for item in after.items}:
        return False
    wanted = Counter(item.text for item in before.open_items) & Counter(todo["content"] for todo in sent)
    return seen.revision < before.revision or wanted <= Counter(texts(after))


def _ops(call: Made) -> set[str]:
    listed = call.args.get("ops") if isinstance(call.args, dict) else None
    return {str(op.get("op")) for op in listed if isinstance(op, dict)} if isinstance(listed, list) else set()


# --- any sequence --------------------------------------------------------------------------------------------------


@all_dialects
def test_nothing_but_an_answer_comes_of_any_call(name: str) -> None:
    @often(60)
    @given(steps(name))
    def works(several: list[Made | Wish]) -> None:
        store = MemoryStore()
        for step in [*opening(name), *several]:
            if isinstance(step, Wish):
                desk_of(name, store).change(lambda plan, step=step: granted(plan, step))  # type: ignore[misc]
            else:
                _judge(name, store, step)
            assert problems(desk_of(name, store).plan) == []

    works()


def _judge(name: str, store: MemoryStore, call: Made) -> None:
    desk = desk_of(name, store, call.agent)
    before = desk.plan
    seen = desk.at(store.peek(before.id, desk._seat.reader_key)[1].seen)
    reply = desk.call(call.tool, call.args, continuing=True)
    after = desk.plan
    assert isinstance(reply, Reply)
    assert reply.text.strip()
    if reply.is_error and name != "oh-my-pi":
        assert after == before
    if not reply.is_error:
        assert rightly_gone(name, call, seen, before, after)
    assert after.last_id >= before.last_id


@pytest.mark.parametrize(
    ("name", "tool"),
    [(name, tool) for name in PATHS for tool in load(name).tools if tool.read_only],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_read_only_tool_changes_nothing(name: str, tool: Tool) -> None:
    desk = desk_of(name, MemoryStore())
    before = desk.change(lambda plan: ops.add(ops.add(plan, "a"), "b", parent="1")).plan
    assert not desk.call(tool.name, tool.examples[0]).is_error
    assert desk.plan == before


# --- a list that is sent again -------------------------------------------------------------------------------------

Line = tuple[str, str]


def whole_list(name: str, lines: list[Line]) -> Made:
    """The call that sends these texts and statuses as the whole list."""
    todos = [{"content": text, "status": status} for text, status in lines]
    made: dict[str, tuple[str, Any]] = {
        "claude-code": ("TodoWrite", {"todos": [{**todo, "activeForm": todo["content"]} for todo in todos]}),
        "gencode": ("TodoWrite", {"todos": [{**todo, "activeForm": todo["content"]} for todo in todos]}),
        "llxprt": ("todo_write", {"todos": todos}),
        "oh-my-pi": (
            "todo_write",
            {"ops": [{"op": "init", "list": [{"phase": "Build", "items": [text for text, _ in lines]}]}]},
        ),
        "codex": ("update_plan", {"plan": [{"step": text, "status": status} for text, status in lines]}),
        "gemini": ("write_todos", {"todos": [{"description": text, "status": status} for text, status in lines]}),
        "opencode": ("todowrite", {"todos": [{**todo, "priority": "low"} for todo in todos]}),
    }
    assert name in made, f"whole_list needs a line for {name}, or sensible a branch: a call of it that makes sense"
    return Made(*made[name])


WHOLE = ("claude-code", "gencode", "llxprt", "oh-my-pi", "codex", "gemini", "opencode")
whole_dialects = pytest.mark.parametrize("name", WHOLE)
unlimited_dialects = pytest.mark.parametrize("name", [name for name in WHOLE if name != "gencode"])  # that takes 20
lists = st.lists(
    st.tuples(st.sampled_from(POOL), st.sampled_from(("pending", "completed"))), min_size=1, max_size=4, unique=True
).filter(lambda lines: any(status == "pending" for _, status in lines))


@whole_dialects
def test_edits_the_model_has_not_heard_of_survive_a_list_that_is_sent_again(name: str) -> None:
    @often(50)
    @given(lists, st.lists(wishes(), min_size=1, max_size=4))
    def survives(lines: list[Line], several: list[Wish]) -> None:
        desk = desk_of(name, MemoryStore())
        call = whole_list(name, lines)
        desk.call(call.tool, call.args)
        for wish in several:
            desk.change(lambda plan, wish=wish: granted(plan, wish))  # type: ignore[misc]
        edited = desk.plan
        desk.call(call.tool, call.args)
        assert desk.plan == edited

    survives()


@whole_dialects
def test_a_list_that_is_sent_again_changes_nothing(name: str) -> None:
    @often(30)
    @given(lists)
    def stays(lines: list[Line]) -> None:
        desk = desk_of(name, MemoryStore())
        call = whole_list(name, lines)
        desk.call(call.tool, call.args)
        before = desk.plan
        desk.call(call.tool, call.args)
        assert desk.plan == before

    stays()


@whole_dialects
@pytest.mark.parametrize("verb", ["complete", "drop", "remove"])
def test_what_the_user_closed_or_removed_stays_so_however_often_it_is_sent(name: str, verb: str) -> None:
    desk = desk_of(name, MemoryStore())
    call = whole_list(name, [("Alpha", "pending"), ("Beta", "pending"), ("Gamma", "pending")])
    desk.call(call.tool, call.args)
    desk.change(lambda plan: granted(plan, Wish(verb, "not wanted", 1, 1)))
    edited = desk.plan
    for _ in range(3):  # the first time it has not heard of it, then it has
        desk.call(call.tool, call.args)
        assert [(item.text, item.status) for item in desk.plan.items if plainly(item.text) == "beta"] == [
            (item.text, item.status) for item in edited.items if item.text == "Beta"
        ]


@pytest.mark.parametrize("name", MIRRORS)
def test_an_open_item_that_is_left_out_of_a_mirrored_list_is_abandoned(name: str) -> None:
    @often(30)
    @given(lists, lists)
    def abandoned(lines: list[Line], others: list[Line]) -> None:
        desk = desk_of(name, MemoryStore())
        for listed in (lines, others):
            before = desk.plan
            call = whole_list(name, listed)
            desk.call(call.tool, call.args)
        now = statuses(desk.plan)
        sent = {plainly(text) for text, _ in others}
        for item in before.open_items:
            if plainly(item.text) not in sent and item.text in texts(desk.plan):
                assert now[item.id] == DROPPED

    abandoned()


def test_the_parts_that_the_user_gave_to_parts_survive_lists_that_cannot_show_them() -> None:
    desk = desk_of("llxprt", MemoryStore())
    todos = [{"id": "a", "content": "Whole", "status": "pending", "subtasks": [{"id": "b", "content": "part"}]}]
    desk.call("todo_write", {"todos": todos})
    desk.change(lambda plan: ops.add(plan, "part of the part", parent="2"))
    for _ in range(2):
        desk.call("todo_write", {"todos": todos})
        assert texts(desk.plan) == ["Whole", "part", "part of the part"]


def test_subtasks_of_something_the_user_added_too_become_its_parts() -> None:
    desk = desk_of("llxprt", MemoryStore())
    desk.call("todo_write", {"todos": [{"content": "Alpha", "status": "pending"}]})
    desk.change(lambda plan: ops.add(plan, "Write tests"))
    parts = [{"id": "x", "content": "unit tests"}]
    more = [
        {"content": "Alpha", "status": "pending"},
        {"content": "Write tests", "status": "pending", "subtasks": parts},
    ]
    desk.call("todo_write", {"todos": more})
    assert [(item.text, item.parent) for item in desk.plan.items] == [
        ("Alpha", ""),
        ("Write tests", ""),
        ("unit tests", "2"),
    ]


def test_tasks_that_are_grouped_anew_keep_their_ids() -> None:
    desk = desk_of("oh-my-pi", MemoryStore())

    def init(**phases: list[str]) -> None:
        listed = [{"phase": phase, "items": items} for phase, items in phases.items()]
        desk.call("todo_write", {"ops": [{"op": "init", "list": listed}]})

    init(Build=["one", "two"], Ship=["three"])
    init(All=["one", "three", "two"])
    assert [(item.id, item.text) for item in desk.plan.items] == [("1", "one"), ("3", "three"), ("2", "two")]


def test_an_agent_is_told_whose_the_item_is_that_is_not_its_own() -> None:
    store = MemoryStore()
    main = desk_of("native", store)
    main.call("plan", {"add": ["Read", {"text": "Write", "owner": "helper"}]})
    helper = Desk(store, session=main.session, agent="helper", plan=main.plan.id)
    assert helper.call("plan", {"start": [2]}).text.startswith("now 2 Write (0/2)")
    assert main.call("plan", {"done": [1]}).text == "now 2 Write @helper (1/2)"


def test_a_task_that_the_user_added_can_be_named_before_it_was_heard_of() -> None:
    desk = desk_of("oh-my-pi", MemoryStore())
    desk.change(lambda plan: ops.extend(plan, [{"text": text, "phase": "Build"} for text in ("one", "two")]))
    reply = desk.call("todo_write", {"ops": [{"op": "note", "task": "one", "text": "mind the gap"}]})
    assert not reply.details["errors"]
    assert [(item.status, item.notes) for item in desk.plan.items] == [
        ("in_progress", ("mind the gap",)),
        ("pending", ()),
    ]


def test_a_task_that_the_user_renamed_can_be_named_as_it_was() -> None:
    desk = desk_of("oh-my-pi", MemoryStore())
    desk.call("todo_write", {"ops": [{"op": "init", "list": [{"phase": "Build", "items": ["one", "two"]}]}]})
    desk.change(lambda plan: ops.rename(plan, "1", "uno"))
    desk.call("todo_write", {"ops": [{"op": "done", "task": "one"}]})
    assert [(item.text, item.status) for item in desk.plan.items] == [("uno", "completed"), ("two", "in_progress")]


UNHEARD: list[tuple[Callable[[Plan], Plan], dict[str, str]]] = [
    (lambda plan: ops.note(plan, "1", "mind the gap"), {"op": "rm", "task": "A"}),
    (lambda plan: ops.complete(plan, "2"), {"op": "rm", "task": "B"}),
    (lambda plan: ops.block(plan, "2", why="wait for Ann"), {"op": "done", "task": "B"}),
    (lambda plan: ops.block(plan, "2", why="wait for Ann"), {"op": "start", "task": "B"}),
    (lambda plan: ops.start(plan, "2"), {"op": "start", "task": "C"}),
    (lambda plan: ops.start(plan, "2"), {"op": "drop", "task": "B"}),
    (lambda plan: ops.rename(ops.rename(plan, "1", "A0"), "3", "A"), {"op": "rm", "task": "A"}),
    (lambda plan: ops.add(plan, "X", phase="P"), {"op": "rm", "task": "X"}),
]


@pytest.mark.parametrize(("edit", "op"), UNHEARD)
def test_naming_a_task_does_not_override_what_the_user_did_with_it(
    edit: Callable[[Plan], Plan], op: dict[str, str]
) -> None:
    desk = desk_of("oh-my-pi", MemoryStore())
    desk.call("todo_write", {"ops": [{"op": "init", "list": [{"phase": "P", "items": ["A", "B", "C"]}]}]})
    edited = desk.change(edit).plan
    kept = {item.id: item for item in edited.items if item not in desk.at(1).items}
    desk.call("todo_write", {"ops": [op]})
    now = {item.id: item for item in desk.plan.items}
    assert {id: now.get(id) for id in kept} == kept


def test_a_whole_phase_is_what_was_seen_of_it() -> None:
    desk = desk_of("oh-my-pi", MemoryStore())
    desk.call("todo_write", {"ops": [{"op": "init", "list": [{"phase": "Build", "items": ["one", "two"]}]}]})
    desk.change(lambda plan: ops.add(plan, "three", phase="Build"))
    desk.call("todo_write", {"ops": [{"op": "done", "phase": "Build"}]})
    assert [item.status for item in desk.plan.items] == ["completed", "completed", "pending"]


# --- far too much --------------------------------------------------------------------------------------------------

MANY = 100_000
BIG = "x" * 10_000_000
HUGE = {
    "long": 10**18,
    "longer": 10**4000,
    "too long to be written": 10**5000,
    "negative": -(10**5000),
    "infinite": float("inf"),
    "none at all": float("nan"),
}


def many(name: str, number: int, text: str = "step {}") -> Made:
    return whole_list(name, [(text.format(index), "pending") for index in range(number)])


@whole_dialects
@pytest.mark.parametrize("number", [1_000, pytest.param(MANY, marks=pytest.mark.torture)])
def test_very_many_items_are_answered(number: int, name: str) -> None:
    desk = desk_of(name, MemoryStore())
    call = many(name, number)
    reply = desk.call(call.tool, call.args)
    assert len(desk.plan.items) == (0 if reply.is_error else number)
    assert reply.is_error == (name == "gencode")


@unlimited_dialects
@pytest.mark.parametrize("number", [1_000, pytest.param(10_000, marks=pytest.mark.torture)])
def test_very_many_items_are_sent_again_after_an_edit(number: int, name: str) -> None:
    desk = desk_of(name, MemoryStore())
    call = many(name, number)
    desk.call(call.tool, call.args)
    desk.change(lambda plan: ops.remove(plan, "777"))
    desk.call(call.tool, call.args)
    assert len(desk.plan.items) == number - 1


@pytest.mark.torture
@unlimited_dialects
def test_a_hundred_thousand_items_are_sent_again_and_half_of_them_reworded(name: str) -> None:
    desk = desk_of(name, MemoryStore())
    call = many(name, MANY)
    desk.call(call.tool, call.args)
    desk.change(lambda plan: ops.remove(plan, "777"))
    desk.call(call.tool, call.args)
    assert len(desk.plan.items) == MANY - 1
    lines = [(f"step {index}" if index % 2 else "something else", "pending") for index in range(MANY)]
    call = whole_list(name, lines)
    assert not desk.call(call.tool, call.args).is_error


def test_native_refuses_more_items_than_it_holds() -> None:
    desk = desk_of("native", MemoryStore())
    assert "at most 10000 items" in desk.call("plan", {"add": ["x"] * MANY}).text
    assert not desk.call("plan", {"add": ["x"] * 10_000}).is_error
    assert not desk.call("plan", {"done": list(range(1, 10_001))}).is_error
    assert desk.plan.progress.completed == 10_000


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = {"in": [value]}
    return value


@all_dialects
@pytest.mark.parametrize("levels", [500, pytest.param(100_000, marks=pytest.mark.torture)])
def test_deep_nesting_anywhere_is_answered(name: str, levels: int) -> None:
    deep = nested(levels)
    entry = {"content": "a", "status": "pending", "activeForm": "a", "step": "a", "description": "a", "priority": "low"}
    call = {"id": "1", "name": "n", "parameters": deep}
    part = {"id": "1", "content": "p", "toolCalls": [call]}
    for tool in load(name).tools:
        for args in (
            deep,
            [deep],
            {"todos": deep, "plan": deep, "ops": deep, "add": deep, "note": deep, "metadata": deep},
            {"todos": [deep], "plan": [deep], "ops": [deep], "add": [deep]},
            {"todos": [{**entry, "extra": deep}]},
            {"todos": [{"content": "a", "status": "pending", "subtasks": [part]}]},
            {"subject": "a", "description": "b", "metadata": {"deep": deep}},
            {"taskId": "1", "metadata": deep},
        ):
            desk = desk_of(name, MemoryStore())
            for _ in range(2):
                assert desk.call(tool.name, args, continuing=True).text
            assert problems(desk.plan) == []


@all_dialects
def test_a_text_of_ten_million_characters_is_answered(name: str) -> None:
    for tool in load(name).tools:
        for args in (
            BIG,
            {BIG: 1},
            {"todos": [{"content": BIG, "status": BIG, "activeForm": BIG}], "plan": BIG, "reason": BIG},
            {"ops": [{"op": "init", "list": [{"phase": "P", "items": [BIG]}]}, {"op": BIG}]},
            {"add": [BIG], "pause": BIG},
            {"note": {BIG: BIG}},
            {"plan": [{"step": BIG, "status": "pending", BIG: 1}]},
            {"taskId": BIG},
        ):
            desk = desk_of(name, MemoryStore())
            reply = desk.call(tool.name, args, continuing=True)
            assert len(reply.text) < (100_000 if reply.is_error else 4 * len(BIG))


@pytest.mark.parametrize("name", WHOLE)
def test_an_item_of_ten_million_characters_is_carried_or_refused(name: str) -> None:
    desk = desk_of(name, MemoryStore())
    call = whole_list(name, [(BIG, "pending"), ("b", "pending")])
    for _ in range(2):
        reply = desk.call(call.tool, call.args)
    assert reply.is_error == (name == "gencode")
    assert [len(text) for text in texts(desk.plan)] == ([] if reply.is_error else [len(BIG), 1])


@all_dialects
@pytest.mark.parametrize("number", HUGE.values(), ids=HUGE)
def test_a_huge_number_anywhere_is_answered(name: str, number: float) -> None:
    entry = {"content": number, "step": number, "description": number, "status": number, "op": number}
    for tool in load(name).tools:
        for args in (
            number,
            [number],
            {"todos": number, "plan": number, "ops": number, "add": number, "reason": number, "taskId": number},
            {"todos": [entry], "plan": [entry], "ops": [entry]},
            {"done": [number]},
            {"add": [{"text": "x", "needs": [number], "after": number, "parent": number}]},
            {"taskId": "1", "addBlocks": [number], "metadata": {"n": number}},
        ):
            reply = desk_of(name, MemoryStore()).call(tool.name, args, continuing=True)
            assert len(reply.text) < 10_000
