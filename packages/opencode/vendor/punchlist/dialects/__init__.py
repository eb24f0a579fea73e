"""Dialects: the tool schemas of different agents, each as one value. A new one is a file and a line in `PATHS`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.conflicts import Asked
from ..core.diff import Change
from ..core.errors import BadShape, Refused, StoreError
from ..core.model import ACTIVE, MAIN, NOTHING, Item, Plan
from ..core.resend import ListForm, Sent
from ..core.rules import Rules, is_of_another
from ..core.schema import Problem, Schema, check, listed
from ..core.text import cut, inline, suggest
from ..policy.dialect_guide import Guide
from ..policy.voice import FULL
from ..prompts import say

PATHS = {
    "native": "punchlist.dialects.native",
    "claude-code": "punchlist.dialects.claude_code",
    "gencode": "punchlist.dialects.gencode",
    "oh-my-pi": "punchlist.dialects.oh_my_pi",
    "llxprt": "punchlist.dialects.llxprt",
    "claude-tasks": "punchlist.dialects.claude_tasks",
    "codex": "punchlist.dialects.codex",
    "gemini": "punchlist.dialects.gemini",
    "opencode": "punchlist.dialects.opencode",
}

# What models say for a status when they mean one of ours; used where a dialect is tolerant.
STATUS_WORDS = {
    "todo": "pending",
    "open": "pending",
    "not_started": "pending",
    "waiting": "pending",
    "active": "in_progress",
    "doing": "in_progress",
    "inprogress": "in_progress",
    "started": "in_progress",
    "current": "in_progress",
    "done": "completed",
    "complete": "completed",
    "finished": "completed",
    "closed": "completed",
    "canceled": "cancelled",
    "abandoned": "cancelled",
    "dropped": "cancelled",
    "skipped": "cancelled",
    "stuck": "blocked",
}


class Tool(NamedTuple):
    """One tool as a model and its host see it."""

    name: str
    schema: Schema
    prompt: str  # the name of its long description
    summary: str = ""  # the name of its short description; the long one if there is none
    output: Schema = NOTHING  # the form of `details` in its answers, where it promises one
    examples: tuple[Mapping[str, Any], ...] = ()
    title: str = ""  # what the user sees as its name
    version: str = "1.0.0"
    category: str = "plan"
    read_only: bool = False
    idempotent: bool = False  # the same call again changes nothing
    concurrency_safe: bool = False
    exclusive: bool = False
    discoverable: bool = False
    strict: bool = False
    permission: str = "allow"
    silent: bool = False  # nothing of it in the user's transcript
    enabled: bool = True
    only_continuing: bool = False  # offered only while a continuation runs
    pauses: Callable[[object], bool] = lambda args: False  # whether a call with these arguments asks for a pause
    for_subagents: bool = True
    fill: Mapping[str, Callable[[Mapping[str, Any]], Any]] = NOTHING  # where tolerant: what a missing key would say
    ids: tuple[str, ...] = ()  # where tolerant: keys under which numbers are ids
    full: str = ""  # the name of its description for models that need more guidance, if it has one

    def in_voice(self, voice: str) -> Tool:
        """The tool with the description for models of this class."""
        if voice == FULL and self.full:
            return self._replace(prompt=self.full)
        return self

    @property
    def description(self) -> str:
        return say(self.prompt)

    @property
    def short(self) -> str:
        return say(self.summary or self.prompt)


class Call(NamedTuple):
    """One tool call, as the dialect gets it: its arguments have the right form."""

    tool: Tool
    args: Any
    agent: str = MAIN
    interactive: bool = False
    durable: bool = False  # whether the store outlives the process
    at: str = ""  # now, in ISO 8601
    strict_pause: bool = True
    closed_is_final: bool = True  # whether what the user closed stays closed
    redact: bool = True  # whether secrets in recorded tool calls are blanked
    clock: str = ""  # now, as the user's own clock shows it
    spared: frozenset[tuple[str, str]] = frozenset()  # what of it is not applied: a verb, and the id of an item
    words: Mapping[str, str] = NOTHING  # ids of items by the words they had before they were renamed
    ended: frozenset[str] = frozenset()  # owners of items who are not at work: what they began can be taken over
    owner: str = ""  # whose it is what a second session on a plan begins; empty for the first
    others: frozenset[str] = frozenset()  # owners of items that are other sessions, for the first

    def is_others(self, item: Item) -> bool:
        """Whether another session works on an item."""
        return item.status == ACTIVE and is_of_another(item.owner, self.owner, self.others)


class Reply(NamedTuple):
    """The answer to a tool call."""

    text: str
    """What the model reads."""
    display: str = ""
    """What the user's transcript shows; empty for silent tools."""
    is_error: bool = False
    """Whether the call was refused, or a part of it went wrong."""
    details: Mapping[str, Any] = NOTHING
    """What the dialect's host expects beside the text."""
    updates: tuple[str, ...] = ()
    """What others changed, and requests that were not granted, a sentence each. `text` ends with them."""
    unverified: tuple[str, ...] = ()
    """Which checks of completed items were not seen to pass, a sentence each. `text` has them, too."""


class Turn(NamedTuple):
    """A call that was carried out."""

    call: Call
    before: Plan
    plan: Plan
    changes: Sequence[Change] = ()
    errors: Sequence[str] = ()
    updates: Sequence[str] = ()
    in_user_words: frozenset[str] = frozenset()  # items that became active with it, in long words of the user
    unverified: Sequence[Item] = ()  # what it completed though its check was not seen to pass


def judged(call: Call) -> str:
    """The general check: the schema that is shown. Empty if all is well, else what is wrong and what would be right."""
    return refusal(call.tool, check(call.args, call.tool.schema))


def refusal(tool: Tool, problems: Sequence[Problem], say_problem: Callable[[Problem], str] = str) -> str:
    if not problems:
        return ""
    return "\n".join([*listed(problems, say_problem), *example(tool)])


def checked(
    data: object, schema: Schema, say_problem: Callable[[Problem], str] = lambda problem: problem.of("the list")
) -> Any:
    """A document to import, once it has the right form."""
    problems = check(data, schema)
    if problems:
        raise BadShape(listed(problems, say_problem))
    return data


def example(tool: Tool) -> list[str]:
    """A line that shows what a right call looks like."""
    if tool.examples:
        return [f"for example: {json.dumps(tool.examples[0], ensure_ascii=False)}"]
    return []


def refused(call: Call, plan: Plan, message: str) -> Reply:
    """The general answer to a call that was declined."""
    return Reply(message, "" if call.tool.silent else message, True)


def _no_list(call: Call) -> Sequence[Sent] | None:
    return None


class _Fields(NamedTuple):
    """What a dialect is made of."""

    name: str
    tools: tuple[Tool, ...]
    reply: Callable[[Turn], Reply]
    apply: Callable[[Plan, Call], Plan] = lambda plan, call: plan  # of a call that is not a whole list
    entries: Callable[[Call], Sequence[Sent] | None] = _no_list  # of a call that sends the whole list
    list_form: ListForm = ListForm(NOTHING)  # how it lists a plan
    rules: Rules = Rules()
    read: Callable[[Call], Call] = lambda call: call  # other forms of a call that it understands without a word
    judge: Callable[[Call], str] = judged
    asked: Callable[[Plan, Call], Sequence[Asked]] = lambda plan, call: ()  # what a call asks of items that it names
    names_all: Callable[[Call], bool] = lambda call: False  # whether a call names each item it changes
    refuse: Callable[[Call, Plan, str], Reply] = refused
    failure: Callable[[Call, StoreError], str] = lambda call, error: str(error)  # what to say when the store fails
    tolerant: bool = False
    system: str = ""  # the name of its text for the system prompt
    is_mirror: bool = False  # whether somebody else has carried out its calls already, so that none can be refused
    tells_unverified: bool = False  # whether its answers say what was completed without being verified
    shows_calls: bool = False  # whether its answers list the tool calls that were made for an item
    guide: Guide = Guide()  # what its model is told beside the answers


class Dialect(_Fields):
    """Somebody's tool schema, and two pure functions: what a call does to a plan, and what is answered.

    Raises Refused for rules that a dialect with `entries` does not apply."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __new__(cls, *values, **fields):
            return _check_rules(super().__new__(cls, *values, **fields))

        def _replace(self, **changes):
            return _check_rules(super()._replace(**changes))


def _check_rules(dialect: Dialect) -> Dialect:
    """The dialect, unless it has rules that would be ignored: what a complete list asks for is done as it says."""
    usual = Rules()
    names = ("max_items", "one_active", "promote", "speaks_of")
    idle = [name for name in names if getattr(dialect.rules, name) != getattr(usual, name)]
    if idle and dialect.entries is not _no_list:
        raise Refused(
            f"dialect {dialect.name!r} takes a complete list (entries), to which {', '.join(idle)} of Rules would not "
            f"apply; leave out the rule, and set the limit in the schema or in entries."
        )
    return dialect


def load(name: str) -> Dialect:
    """Return the dialect of this name. Raises Refused."""
    dialect: Dialect = _module(name).DIALECT
    return dialect


def load_mirror(name: str) -> Dialect:
    """Return a dialect for calls that the agent's own tool has carried out already. Raises Refused."""
    module = _module(name)
    dialect: Dialect = getattr(module, "MIRROR", module.DIALECT)
    return dialect


def _module(name: str) -> Any:
    path = PATHS.get(name)
    if path is None:
        hint = suggest(name, PATHS, f"the dialects are {', '.join(PATHS)}.")
        raise Refused(f"no dialect {inline(cut(name, 40))!r}; {hint}")
    return __import__(path, fromlist=["DIALECT"])


def find_tool(dialect: Dialect, name: str, *, continuing: bool, agent: str = MAIN) -> Tool:
    """The tool of this name, if this agent can call it now."""
    for tool in dialect.tools:
        if tool.name == name:
            if not _is_for(tool, agent):
                raise Refused(f"{name} is not for sub-agents; the main agent keeps the list.")
            if tool.only_continuing and not continuing:
                raise Refused(f"{name} can be used only while a continuation runs.")
            return tool
    names = ", ".join(tool.name for tool in offered(dialect, continuing=continuing))
    raise Refused(f"no tool {inline(cut(str(name), 40))!r} in {dialect.name}; the tools are {names}.")


def offered(dialect: Dialect, *, continuing: bool, agent: str = MAIN) -> list[Tool]:
    """The tools a model is shown, as this agent."""
    tools = [tool for tool in dialect.tools if tool.enabled and _is_for(tool, agent)]
    if continuing:
        return tools
    return [tool for tool in tools if not tool.only_continuing]


def _is_for(tool: Tool, agent: str) -> bool:
    return tool.for_subagents or agent == MAIN
