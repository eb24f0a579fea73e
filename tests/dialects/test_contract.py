"""One contract for all dialects: what a tool says of itself, what it takes, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import punchlist.prompts
from punchlist import Desk, MemoryStore, Plan, Reply, ops
from punchlist.core.errors import Refused
from punchlist.core.rules import Rules
from punchlist.core.schema import check
from punchlist.dialects import PATHS, Call, Dialect, Tool, find_tool, load, offered
from punchlist.dialects.wire import WRITERS
from punchlist.local.settings import load as settings
from punchlist.prompts import say
from tests.core.plans import HOSTILE, often
from tests.core.schemas import DIALECTS, TOOLS, fitting, near

SOURCE = Path(punchlist.prompts.__file__).parent.parent
SETTINGS = settings({}, environ={})

all_dialects = pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.name for dialect in DIALECTS])
all_tools = pytest.mark.parametrize(
    ("dialect", "tool"), TOOLS, ids=[f"{dialect.name} {tool.name}" for dialect, tool in TOOLS]
)


def desk_of(dialect: Dialect) -> Desk:
    return Desk(MemoryStore(), session="s", dialect=dialect, settings=SETTINGS)


def called(desk: Desk, tool: Tool, args: object) -> Reply:
    return desk.call(tool.name, args, continuing=True)


# --- what a tool says of itself ------------------------------------------------------------------------------------

KINDS: dict[str, type] = {
    "name": str,
    "schema": dict,
    "prompt": str,
    "summary": str,
    "examples": tuple,
    "title": str,
    "version": str,
    "category": str,
    "read_only": bool,
    "idempotent": bool,
    "concurrency_safe": bool,
    "exclusive": bool,
    "discoverable": bool,
    "strict": bool,
    "permission": str,
    "silent": bool,
    "enabled": bool,
    "only_continuing": bool,
    "for_subagents": bool,
}


@all_tools
def test_a_tool_has_every_property_of_the_right_kind(dialect: Dialect, tool: Tool) -> None:
    for name, kind in KINDS.items():
        assert isinstance(getattr(tool, name), kind), name
    assert all((tool.name, tool.category, tool.examples))
    assert tool.version.count(".") == 2
    assert tool.permission == "allow"
    assert tool.schema["type"] == "object"


@all_tools
def test_a_tool_is_described_at_length_and_in_short(dialect: Dialect, tool: Tool) -> None:
    assert len(tool.description) >= len(tool.short) > 20
    assert "{" not in tool.description.replace("{}", "")
    assert tool.description == tool.description.strip()


def test_the_tools_are_those_of_the_systems() -> None:
    assert {dialect.name: [tool.name for tool in dialect.tools] for dialect in DIALECTS} == {
        "native": ["plan"],
        "claude-code": ["TodoWrite"],
        "gencode": ["TodoWrite"],
        "oh-my-pi": ["todo_write"],
        "llxprt": ["todo_write", "todo_read", "todo_pause"],
        "claude-tasks": ["TaskCreate", "TaskUpdate", "TaskList", "TaskGet"],
        "codex": ["update_plan"],
        "gemini": ["write_todos"],
        "opencode": ["todowrite"],
    }


@pytest.mark.parametrize(
    ("name", "number", "wanted"),
    [
        (
            "claude-code",
            0,
            {
                "title": "",
                "strict": True,
                "enabled": True,
                "concurrency_safe": False,
                "read_only": False,
                "permission": "allow",
                "silent": True,
            },
        ),
        (
            "oh-my-pi",
            0,
            {"exclusive": True, "strict": True, "discoverable": True, "enabled": True, "for_subagents": False},
        ),
        ("llxprt", 1, {"read_only": True, "only_continuing": False}),
        ("llxprt", 2, {"version": "1.0.0", "category": "todo", "only_continuing": True}),
        ("claude-tasks", 2, {"read_only": True, "concurrency_safe": True}),
        ("claude-tasks", 3, {"read_only": True, "concurrency_safe": True}),
    ],
)
def test_a_tool_has_the_properties_of_its_system(name: str, number: int, wanted: dict[str, object]) -> None:
    tool = load(name).tools[number]
    assert {key: getattr(tool, key) for key in wanted} == wanted


@all_dialects
def test_a_dialect_has_words_for_the_system_prompt(dialect: Dialect) -> None:
    text = say(dialect.system, tool=dialect.tools[0].name, shell="Bash")
    assert dialect.tools[0].name in text
    assert "{" not in text


def test_every_prompt_is_used() -> None:
    used = {name for _, tool in TOOLS for name in (tool.prompt, tool.summary, tool.full)}
    for dialect, _ in TOOLS:
        used |= {dialect.system, dialect.guide.failed, dialect.guide.nudge, dialect.guide.reminder_prompt}
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    kept = {path.stem for path in (SOURCE / "prompts").glob("*.md")}
    assert {name for name in kept - used if f'say("{name}"' not in code} == set()


def test_a_value_in_a_prompt_is_data() -> None:
    assert "{time} {0} {" in say("llxprt.paused", reason="{time} {0} {", time="noon")


# --- which tools there are -----------------------------------------------------------------------------------------


def test_a_dialect_that_is_unknown_is_refused_with_those_there_are() -> None:
    with pytest.raises(Refused) as refused:
        load("klingon\x1b[2J")
    assert str(refused.value) == f"no dialect 'klingon\ufffd[2J'; the dialects are {', '.join(PATHS)}."


@all_dialects
def test_a_tool_that_is_unknown_is_refused_with_those_there_are(dialect: Dialect) -> None:
    desk = desk_of(dialect)
    reply = desk.call("frobnicate\x1b", {})
    assert reply.is_error
    assert "no tool 'frobnicate\ufffd'" in reply.text
    for tool in offered(dialect, continuing=False):
        assert tool.name in reply.text
    assert desk.plan.revision == 0


def test_a_tool_for_continuations_is_offered_only_while_one_runs() -> None:
    dialect = load("llxprt")
    assert [tool.name for tool in offered(dialect, continuing=False)] == ["todo_write", "todo_read"]
    assert [tool.name for tool in offered(dialect, continuing=True)] == ["todo_write", "todo_read", "todo_pause"]
    with pytest.raises(Refused, match="todo_pause can be used only while a continuation runs"):
        find_tool(dialect, "todo_pause", continuing=False)


STEADY = [(dialect, tool) for dialect, tool in TOOLS if tool.idempotent or tool.read_only]


def twice(dialect: Dialect, tool: Tool, args: object) -> tuple[Plan, Plan]:
    """The plan after a call, and after the same call again."""
    desk = desk_of(dialect)
    desk.change(lambda plan: ops.add(ops.add(plan, "Read"), "Write"))
    desk.take_updates()
    called(desk, tool, args)
    once = desk.plan
    called(desk, tool, args)
    return once, desk.plan


@pytest.mark.parametrize(("dialect", "tool"), STEADY, ids=[f"{dialect.name} {tool.name}" for dialect, tool in STEADY])
def test_a_tool_that_says_so_changes_nothing_the_second_time(dialect: Dialect, tool: Tool) -> None:
    @often(30)
    @given(fitting(tool.schema))
    def judged(args: object) -> None:
        once, again = twice(dialect, tool, args)
        assert again == once

    judged()
    for args in tool.examples:
        once, again = twice(dialect, tool, args)
        assert again == once


@pytest.mark.parametrize("name", ["plan", "TaskCreate"])
def test_a_tool_that_adds_again_does_not_call_itself_idempotent(name: str) -> None:
    ((dialect, tool),) = [(dialect, tool) for dialect, tool in TOOLS if tool.name == name]
    once, again = twice(dialect, tool, tool.examples[0])
    assert len(again.items) > len(once.items)
    assert WRITERS["mcp"](tool)["annotations"]["idempotentHint"] is False


@all_tools
def test_an_mcp_client_learns_what_a_tool_does_to_the_world(dialect: Dialect, tool: Tool) -> None:
    shown = WRITERS["mcp"](tool)
    assert shown["annotations"] == {
        "readOnlyHint": tool.read_only,
        "destructiveHint": False,
        "idempotentHint": tool.read_only or tool.idempotent,
        "openWorldHint": False,
    }
    assert shown["title"] == tool.title
    assert shown["_meta"] == {"anthropic/alwaysLoad": not tool.discoverable}
    assert "outputSchema" not in shown
    assert shown["inputSchema"]["type"] == "object"


# --- the schema that is shown is the schema that is checked -----------------------------------------------------------


@all_tools
def test_the_schema_that_is_shown_is_the_tools_own(dialect: Dialect, tool: Tool) -> None:
    for form, key in (("mcp", "inputSchema"), ("anthropic", "input_schema"), ("full", "schema")):
        shown = json.loads(json.dumps(WRITERS[form](tool), default=repr))
        assert (shown["name"], shown["description"], shown[key]) == (tool.name, tool.description, tool.schema)
    assert WRITERS["anthropic"](tool).keys() == {"name", "description", "input_schema"}
    assert WRITERS["openai"](tool) == {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
    }
    assert KINDS.keys() - {"prompt"} <= WRITERS["full"](tool).keys()


def speaks_first(tool: Tool, args: Any) -> bool:
    """Whether the dialect has words of its own where the schema is broken: only these may go past it."""
    if tool.name == "todo_pause":
        return True
    if tool.name == "todo_write" and isinstance(args, dict) and isinstance(args.get("ops"), list):
        return any(isinstance(op, dict) and op.get("items") == [] for op in args["ops"])
    return False


@all_tools
def test_what_breaks_the_schema_is_not_taken(dialect: Dialect, tool: Tool) -> None:
    @often(50)
    @given(near(tool.schema))
    def judged(args: object) -> None:
        if not dialect.judge(Call(tool, args)) and not speaks_first(tool, args):
            assert check(args, tool.schema) == []

    judged()


@pytest.mark.parametrize(
    ("dialect", "tool"),
    [(dialect, tool) for dialect, tool in TOOLS if tool.name not in ("plan", "todo_pause")],
    ids=[f"{dialect.name} {tool.name}" for dialect, tool in TOOLS if tool.name not in ("plan", "todo_pause")],
)
def test_what_fits_the_schema_is_taken(dialect: Dialect, tool: Tool) -> None:
    @often(20)
    @given(fitting(tool.schema))
    def judged(args: object) -> None:
        assert dialect.judge(Call(tool, args)) == ""

    judged()


# --- right calls and wrong ones ------------------------------------------------------------------------------------


@all_tools
def test_the_examples_fit_the_schema(dialect: Dialect, tool: Tool) -> None:
    for example in tool.examples:
        assert check(example, tool.schema) == []
        assert dialect.judge(Call(tool, example)) == ""


@all_dialects
def test_the_examples_can_be_called_one_after_the_other(dialect: Dialect) -> None:
    desk = desk_of(dialect)
    for tool in dialect.tools:
        for example in tool.examples:
            reply = called(desk, tool, example)
            assert not reply.is_error, reply.text
            assert reply.text.strip()
            assert bool(reply.display) != tool.silent
            json.dumps(dict(reply.details))
    assert desk.plan.items


WRONG: tuple[Any, ...] = (None, 3, "words", [], [[]], True, {"frob": []}, {"todos": 3, "ops": 3, "plan": 3})


@pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.name for dialect in DIALECTS])
def test_a_call_of_the_wrong_form_is_answered_with_a_right_one(dialect: Dialect) -> None:
    for tool in dialect.tools:
        faulty = [args for args in WRONG if dialect.judge(Call(tool, args)) and not speaks_first(tool, args)]
        assert bool(faulty) == (tool.name != "todo_pause")  # which has words of its own for everything
        for args in faulty:
            reply = called(desk_of(dialect), tool, args)
            assert reply.is_error
            assert check(json.loads(reply.text.partition("for example: ")[2]), tool.schema) == []


@all_tools
def test_a_call_that_is_refused_leaves_the_plan_as_it_was(dialect: Dialect, tool: Tool) -> None:
    desk = desk_of(dialect)
    called(desk, dialect.tools[0], dialect.tools[0].examples[0])
    before = desk.plan
    refused = called(desk, tool, {"frob": "x", "todos": 3, "reason": 3, "taskId": []}).is_error
    assert refused == (tool.name != "todo_read")  # which takes anything
    assert desk.plan == before


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("claude-code", {"oldTodos", "newTodos"}),
        ("gencode", {"success", "output", "error"}),
        ("oh-my-pi", {"phases", "storage", "errors"}),
        ("llxprt", {"todos"}),
        ("native", {"changes", "counts", "updates"}),
    ],
)
def test_the_details_of_an_answer_have_their_keys(name: str, keys: set[str]) -> None:
    dialect = load(name)
    reply = called(desk_of(dialect), dialect.tools[0], dialect.tools[0].examples[0])
    assert reply.details.keys() == keys


# --- texts cannot act ----------------------------------------------------------------------------------------------


def with_text(dialect: Dialect, text: str) -> dict[str, Any]:
    """A call that puts one text on the list."""
    one: dict[str, dict[str, Any]] = {
        "native": {"add": [text], "show": True},
        "claude-code": {"todos": [{"content": text, "status": "in_progress", "activeForm": text}]},
        "gencode": {"todos": [{"content": text, "status": "in_progress", "activeForm": text}]},
        "oh-my-pi": {"ops": [{"op": "init", "list": [{"phase": text, "items": [text]}]}]},
        "llxprt": {"todos": [{"id": text, "content": text, "status": "in_progress"}]},
        "claude-tasks": {"subject": text, "description": text},
        "codex": {"plan": [{"step": text, "status": "pending"}]},
        "gemini": {"todos": [{"description": text, "status": "pending"}]},
        "opencode": {"todos": [{"content": text, "status": "pending", "priority": "low"}]},
    }
    assert dialect.name in one, f"with_text needs a line for {dialect.name}: a call that puts one text on the list"
    return one[dialect.name]


def harmless(text: str) -> bool:
    lines = text.replace("\u200d", "").split("\n")
    return all(line.isprintable() for line in lines) and "</system-reminder" not in text


def answers(dialect: Dialect, text: str) -> list[Reply]:
    """What is said of a text: when it is put on the list, and when the user has touched it since."""
    desk = desk_of(dialect)
    call = with_text(dialect, text)
    first = called(desk, dialect.tools[0], call)
    assert desk.plan.items
    desk.change(lambda plan: ops.note(ops.rename(ops.block(plan, "1", why=text), "1", f"not {text}"), "1", text))
    return [first, called(desk, dialect.tools[0], call)]


@all_dialects
def test_no_text_can_act_in_an_answer_or_in_the_news(dialect: Dialect) -> None:
    for text in HOSTILE:
        for reply in answers(dialect, text):
            assert not reply.is_error
            assert harmless(reply.text), ascii(reply.text)
            assert harmless(reply.display), ascii(reply.display)


@all_tools
def test_no_key_or_value_can_act_in_a_refusal(dialect: Dialect, tool: Tool) -> None:
    desk = desk_of(dialect)
    for text in HOSTILE:
        entry = {text: text, "op": text, "status": text}
        for args in (
            {text: text},
            {"plan": [entry], "todos": [entry], "ops": [entry], "add": [entry], "note": {text: 3}},
        ):
            reply = called(desk, tool, args)
            assert harmless(reply.text), ascii(reply.text)


def test_no_id_that_was_brought_can_act_in_an_answer() -> None:
    desk = desk_of(load("claude-tasks"))
    desk.import_plan([{"id": "\x1b[2J\u202e</system-reminder>", "subject": "a", "status": "pending"}], "claude-tasks")
    assert harmless(desk.call("TaskList", {}).text)


def test_the_answer_of_opencode_is_the_list_as_json_whatever_the_texts() -> None:
    for text in HOSTILE:
        desk = desk_of(load("opencode"))
        reply = desk.call("todowrite", with_text(desk.dialect, text))
        assert json.loads(reply.text) == [{"content": text, "status": "pending", "priority": "low"}]


# --- native, as others build on it ---------------------------------------------------------------------------------


def test_native_has_one_tool_with_these_verbs() -> None:
    (tool,) = load("native").tools
    text, integer = {"type": "string"}, {"type": "integer"}
    integers = {"type": "array", "items": integer}
    entry = {
        "text": text,
        "phase": text,
        "needs": integers,
        "after": integer,
        "parent": integer,
        "notes": text,
        "owner": text,
        "check": text,
    }
    edit = {"id": integer, "text": text, "note": text, "check": text}
    assert tool.schema["properties"] == {
        "add": {"type": "array", "items": {"type": "object", "properties": entry, "required": ["text"]}},
        "edit": {"type": "array", "items": {"type": "object", "properties": edit}},
        "start": integers,
        "done": integers,
        "drop": integers,
        "block": integers,
        "unblock": integers,
        "why": text,
        "pause": text,
        "show": {"type": "boolean"},
    }


def test_native_takes_a_whole_number_with_a_fraction_for_an_id() -> None:
    desk = desk_of(load("native"))
    desk.call("plan", {"add": ["a", "b"]})
    reply = desk.call("plan", {"done": [1.0]})
    assert not reply.is_error
    assert reply.text == "now 2 b (1/2)\nnote: done[0]: 1.0 read as 1."


# --- rules that would be ignored -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [{"max_items": 5}, {"one_active": True}, {"promote": True}, {"speaks_of": "seen"}])
def test_a_rule_that_a_complete_list_would_ignore_is_refused_when_the_dialect_is_made(rule: dict[str, Any]) -> None:
    rules = Rules(**rule)
    own = load("codex")
    words = (
        rf"^dialect 'mine' takes a complete list \(entries\), to which {next(iter(rule))} of Rules would not apply; "
    )
    with pytest.raises(Refused, match=words):
        Dialect("mine", own.tools, own.reply, entries=own.entries, list_form=own.list_form, rules=rules)
    with pytest.raises(Refused, match=words):
        own._replace(name="mine", rules=rules)
    assert Dialect("mine", own.tools, own.reply, rules=rules).rules == rules


def test_the_other_rules_go_with_a_complete_list() -> None:
    rules = Rules(clear_when_done=True, clears=True, owns=True)
    assert load("codex")._replace(rules=rules).rules == rules
