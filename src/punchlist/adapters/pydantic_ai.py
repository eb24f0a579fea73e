"""Pydantic AI: `Agent(..., capabilities=[Punchlist("sqlite:plan.db")])`, and a `PlanStore` for `Planning`, a capability
of pydantic-ai-harness."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import punchlist

from .safe_desk import SafeDesk, SafeDesks, error_text, in_thread, message

try:
    from pydantic_ai import DeferredToolRequests, RunContext, ToolDefinition
    from pydantic_ai import messages as said_as
    from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering, ProcessHistory
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed, UsageLimitExceeded
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import to_jsonable_python
    from pydantic_graph import End
except ImportError as error:
    raise ImportError(f"Pydantic AI is needed here: pip install 'punchlist[pydantic-ai]' ({error})") from None

if TYPE_CHECKING:
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai_harness.planning import PlanItem, TaskStatus

    from punchlist import Item, Plan

_OURS = "punchlist"  # marks the definitions of our tools, whatever they are renamed to
_MAIN = "main"
_ENOUGH = 2  # requests that a nudge needs: one to carry on, one to answer
_COMPACTION = "pydantic_ai_harness.compaction"


class _Call:
    """A call of a tool: a run that begins before it is over is a sub-agent's. A task that it has started, and that
    outlives it, has it in its context still."""

    def __init__(self, session: str, agents: tuple[str, ...]) -> None:
        self.session = session
        self.agents = agents  # the name of the agent that has called it, behind those that it is called by
        self.is_over = False


_inside: ContextVar[_Call | None] = ContextVar("punchlist_inside", default=None)


@dataclass(init=False, repr=False, eq=False)
class Punchlist(AbstractCapability[Any]):
    """The plan of an agent, as a capability of it.

    `store`: a URL such as `sqlite:plan.db`; by default the store of your settings. `session`: whose plan it is; by
    default the conversation of the run, its `conversation_id`. `agent`, `dialect`: as of `punchlist.open`.

        agent = Agent("anthropic:claude-sonnet-4-6", capabilities=[Punchlist("sqlite:plan.db")])
    """

    id: str | None = "punchlist"
    description: str | None = "The plan of this agent."

    def __init__(self, store: str = "", *, session: str = "", agent: str = _MAIN, dialect: str = "native") -> None:
        self._desks = SafeDesks(store, session=session, agent=agent, dialect=dialect)
        self._run: _Run | None = None  # of a copy for a run

    @classmethod
    def combine(cls, capabilities: Sequence[AbstractCapability[Any]]) -> AbstractCapability[Any]:
        """Of several for one agent, the last counts."""
        return capabilities[-1]

    def close(self) -> None:
        """Close the store. The next run opens it again."""
        self._desks.close()

    # --- what the framework asks for ---------------------------------------------------------------------------------

    def get_ordering(self) -> CapabilityOrdering:
        """Come after what trims a conversation, to see what is left of it."""
        trimming: list[type[AbstractCapability[Any]]] = [ProcessHistory]
        loaded = sys.modules.get(_COMPACTION)
        if loaded is not None:
            types = [found for found in vars(loaded).values() if isinstance(found, type)]
            trimming += [found for found in types if issubclass(found, AbstractCapability)]
        return CapabilityOrdering(wrapped_by=trimming)

    async def for_run(self, ctx: RunContext[Any]) -> Punchlist:
        """Return the capability of one run, with the plan that it works from."""
        own = copy(self)
        own._run = self._find_run(ctx)
        await in_thread(own._run.begin, _prompt(ctx))
        return own

    def get_toolset(self) -> AbstractToolset[Any]:
        """Return the tools of the plan."""
        return _PlanTools(self)

    def get_instructions(self) -> str | None:
        """Return the text that goes with the tools."""
        if self._run is None:
            return None
        return self._run.system or None

    # --- the events of a run -----------------------------------------------------------------------------------------

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Add what the model should be told to the conversation: it is in this request, and stays in the history."""
        run = self._run
        if run is None:
            return request_context
        outside: list[_Use] = []
        if not run.is_under_way:
            run.is_under_way = True
            outside = _results_from_outside(ctx, request_context.messages, run)
        messages = request_context.messages
        for text in await in_thread(run.before_request, run.read(messages), outside, _is_denied(messages)):
            ctx.enqueue(text)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: said_as.ModelResponse
    ) -> said_as.ModelResponse:
        """The model has answered: it was told what was added to its request."""
        if self._run is not None:
            self._run.desk.answered(self._run)
        return response

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """A run has ended well: what the model was told is in its messages. Those of one that fails are lost."""
        if self._run is not None:
            self._run.desk.kept(self._run)
        return result

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: Any, tool_def: ToolDefinition, args: Any, handler: Any
    ) -> Any:
        """Record calls of other tools. An agent that one of them runs is a sub-agent."""
        run = self._run
        if run is None or _is_ours(tool_def):
            return await handler(args)
        run.made.add(call.tool_call_id)
        given = call.args_as_dict()
        begun = monotonic()
        inside = _Call(run.session, run.agents)
        token = _inside.set(inside)
        try:
            result = await handler(args)
        except (CallDeferred, ApprovalRequired):  # it has not run
            raise
        except Exception as error:
            await in_thread(run.record, [_Use(call.tool_name, given, error_text(error), True, monotonic() - begun)])
            raise
        finally:
            inside.is_over = True
            _inside.reset(token)
        await in_thread(run.record, [_Use(call.tool_name, given, _returned(result), False, monotonic() - begun)])
        return result

    async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
        """Continue a run that would end, if the plan says so. A sub-agent may always end."""
        run = self._run
        if run is None or run.is_inner or not isinstance(result, End) or ctx.pending_messages:
            return result
        output = result.data.output
        if isinstance(output, DeferredToolRequests) or not _has_room(ctx):
            return result
        text = await in_thread(run.turn_ended, _said(ctx.messages, output))
        if text:
            ctx.enqueue(text, priority="when_idle")
        return result

    # --- whose plan it is --------------------------------------------------------------------------------------------

    def _find_run(self, ctx: RunContext[Any]) -> _Run:
        """Find the plan of a run: of its conversation, or, in a tool of another run, that of a sub-agent there."""
        conversation = ctx.conversation_id or ""
        outer = _inside.get()
        session = self._desks.session or conversation
        agent = self._desks.agent
        above: tuple[str, ...] = ()
        if outer is not None and not outer.is_over:
            session, above = self._desks.session or outer.session, outer.agents
            if agent == _MAIN or agent in above:
                name = (ctx.agent and ctx.agent.name) or "agent"
                agent = f"{name}-{crc32(conversation.encode('utf-8', 'surrogatepass')):08x}"
            if agent in above:  # an agent that runs itself
                agent = f"{agent}-{len(above) + 1}"
        return _Run(session, self._desks.of(session, agent), (*above, agent))


# --- one run ---------------------------------------------------------------------------------------------------------


class _Use(NamedTuple):
    """A call of a tool that is not ours."""

    name: str
    args: Any
    result: Any
    failed: bool
    seconds: float | None = None


class _Run:
    """One run of an agent, and the desk of its plan."""

    def __init__(self, session: str, desk: SafeDesk, agents: tuple[str, ...]) -> None:
        self.session = session
        self.desk = desk
        self.agents = agents  # the name of its own, behind those of the runs that it is in
        self.is_inner = len(agents) > 1  # whether it is one of a sub-agent
        self.is_under_way = False  # whether the model was asked
        self.system = ""
        self.tools: list[ToolDefinition] = []
        self.made: set[str] = set()  # the ids of calls that this run has made
        self._told: list[str] = []  # what goes with the user's words
        self._read: list[tuple[object, list[dict[str, Any]]]] = []  # messages, as the desk reads them

    def begin(self, prompt: str | None) -> None:
        """Report what the user said, and find out which tools the model is given."""
        if prompt is not None:
            self._told += self.desk.prompted(prompt, wrapped=True)
            self.desk.owe(self._told, run=self)
        self.look()

    def look(self) -> None:
        """Find out which tools the model is given."""
        self.system = self.desk.system_prompt()
        self.tools = [_definition(tool) for tool in self.desk.tools("mcp")]

    def before_request(
        self, messages: list[dict[str, Any]], outside: Sequence[_Use], is_denied: bool = False
    ) -> list[str]:
        """Report what happened, and return what the model should be told. `is_denied`: the user refused a call."""
        self.record(outside)
        if is_denied:
            self.desk.tool_refused()
        told, self._told = self._told, []
        return self.desk.before_request(messages, told, run=self)

    def record(self, uses: Sequence[_Use]) -> None:
        for use in uses:
            self.desk.tool_used(use.name, use.args, use.result, use.failed, seconds=use.seconds)

    def turn_ended(self, said: str) -> str:
        text = self.desk.turn_ended(said)
        if text:
            self.look()  # some tools are for this moment only
        return text

    def read(self, messages: Sequence[said_as.ModelMessage]) -> list[dict[str, Any]]:
        """Return a conversation as the desk reads it. What was read for the last request is not read again."""
        known = self._read
        count = 0
        for (kept, _), one in zip(known, messages, strict=False):
            if kept is not one:
                break
            count += 1
        del known[count:]
        known += [(one, list(_as_messages(one))) for one in messages[count:]]
        found: list[dict[str, Any]] = []
        for kept, read in known:
            if _is_compacted(kept):  # the provider shows the model nothing from before
                found.clear()
            found += read
        return found


class _PlanTools(AbstractToolset[Any]):
    """The tools of the plan. Whatever the model sends is a call: the answer says what is wrong with it."""

    def __init__(self, owner: Punchlist) -> None:
        self._owner = owner

    @property
    def id(self) -> str:
        return _OURS

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Return the tools as the model is given them now."""
        run = await self._run_of(ctx)
        return {
            tool.name: ToolsetTool(
                toolset=self, tool_def=tool, max_retries=ctx.max_retries, args_validator=_AnyArguments()
            )
            for tool in run.tools
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> str:
        """Carry out a call. One that is refused is a failed call, and costs no retry."""
        run = await self._run_of(ctx)
        args: Any = tool_args
        if isinstance(tool_args, _NotAnObject):
            args = tool_args.sent
        reply = await in_thread(run.desk.call, name, args)
        if reply.is_error:
            raise ToolFailed(reply.text)
        return reply.text

    async def _run_of(self, ctx: RunContext[Any]) -> _Run:
        run = self._owner._run
        if run is None:  # outside of a run: a worker of a durable one, for example
            run = self._owner._find_run(ctx)
            await in_thread(run.look)
        return run


class _NotAnObject(dict[str, Any]):
    """Arguments that are not a JSON object. The framework passes on objects only."""

    def __init__(self, sent: Any) -> None:
        super().__init__()
        self.sent = sent


class _AnyArguments:
    """Takes any arguments: the desk checks them against the schema, and tells the model all that is wrong at once."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> dict[str, Any]:
        """Read arguments that came as text."""
        try:
            return self.validate_python(json.loads(input))
        except (ValueError, RecursionError):
            return _NotAnObject(input if isinstance(input, str) else bytes(input).decode("utf-8", "replace"))

    def validate_python(self, input: Any, **_: Any) -> dict[str, Any]:
        """Take arguments that were read."""
        if isinstance(input, dict):
            return input
        return _NotAnObject(input)


def _definition(tool: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition(
        name=tool["name"],
        description=tool["description"],
        parameters_json_schema=tool["inputSchema"],
        sequential=True,  # calls of one turn change the plan in their order
        metadata={_OURS: True},
    )


def _is_ours(tool: ToolDefinition) -> bool:
    return bool(tool.metadata and tool.metadata.get(_OURS))


# --- conversations ---------------------------------------------------------------------------------------------------


def _as_messages(one: said_as.ModelMessage) -> Iterator[dict[str, Any]]:
    """A message of the framework, a part of it each: requests are joined where a run begins."""
    if isinstance(one, said_as.ModelResponse):
        texts = [part.content for part in one.parts if isinstance(part, said_as.TextPart)]
        calls = [part for part in one.parts if isinstance(part, said_as.ToolCallPart)]
        used = [(part.tool_call_id, part.tool_name, part.args_as_dict()) for part in calls]
        yield message("assistant", "\n".join(texts), used)
        return
    for part in one.parts:
        if isinstance(part, said_as.UserPromptPart):
            yield message("user", _text(part.content))
        elif isinstance(part, said_as.ToolReturnPart):
            failed = part.outcome != "success"
            yield message("tool", part.model_response_str(), tool=part.tool_name, failed=failed)
        else:
            name = getattr(part, "tool_name", None)
            content = getattr(part, "content", "")
            words = content if isinstance(content, str) else str(content)
            if name:
                yield message("tool", words, tool=name, failed=True)  # the call is to be made again
            else:
                yield message("system", words)


def _is_compacted(one: object) -> bool:
    return isinstance(one, said_as.ModelResponse) and any(
        isinstance(part, said_as.CompactionPart) for part in one.parts
    )


def _text(content: object) -> str:
    """The words of a user's message, without pictures and files."""
    if isinstance(content, str):
        return content
    words = []
    for part in content if isinstance(content, Sequence) else ():
        if isinstance(part, said_as.TextContent):
            part = part.content
        if isinstance(part, str):
            words.append(part)
    return "\n".join(words)


def _prompt(ctx: RunContext[Any]) -> str | None:
    """What the user said to begin this run; None if the run goes on without, after an approval for example."""
    if ctx.prompt is not None:
        return _text(ctx.prompt)
    last = ctx.messages[-1] if ctx.messages else None
    if not isinstance(last, said_as.ModelRequest):
        return None
    words = [_text(part.content) for part in last.parts if isinstance(part, said_as.UserPromptPart)]
    return "\n".join(words) if words else None


def _results_from_outside(ctx: RunContext[Any], messages: Sequence[said_as.ModelMessage], run: _Run) -> list[_Use]:
    """Calls of an earlier run whose results this one was given: they were made by whoever runs the agent."""
    if len(messages) < 2:
        return []
    response, last = messages[-2], messages[-1]
    if not isinstance(response, said_as.ModelResponse) or not isinstance(last, said_as.ModelRequest):
        return []
    if last.run_id != ctx.run_id:
        return []
    calls = [part for part in response.parts if isinstance(part, said_as.ToolCallPart)]
    ours = {tool.name for tool in run.tools}
    given = {one.tool_call_id: one for one in calls if one.tool_call_id not in run.made and one.tool_name not in ours}
    results = [part for part in last.parts if isinstance(part, said_as.ToolReturnPart) and part.outcome == "success"]
    results = [part for part in results if part.tool_call_id in given]
    return [_Use(part.tool_name, given[part.tool_call_id].args_as_dict(), part.content, False) for part in results]


def _is_denied(messages: Sequence[said_as.ModelMessage]) -> bool:
    """Whether the model is about to be told that the user did not permit a call."""
    parts = messages[-1].parts if messages else ()
    return any(isinstance(part, said_as.ToolReturnPart) and part.outcome == "denied" for part in parts)


def _said(messages: Sequence[said_as.ModelMessage], output: Any) -> str:
    """The last words of the model: its text, and the texts of a structured output."""
    if isinstance(output, str):
        return output
    words: list[str] = []
    last = next((one for one in reversed(messages) if isinstance(one, said_as.ModelResponse)), None)
    if last is not None:
        words += [part.content for part in last.parts if isinstance(part, said_as.TextPart)]
    try:
        words += _strings(to_jsonable_python(output, fallback=str, serialize_unknown=True))
    except ValueError:  # a picture, for example
        pass
    return "\n".join(words)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _returned(result: Any) -> Any:
    if isinstance(result, said_as.ToolReturn):
        return result.return_value
    return result


def _has_room(ctx: RunContext[Any]) -> bool:
    """Whether the limits of the run leave room for a nudge: a run that has its result must not fail for it."""
    limits = ctx.usage_limits
    if limits is None:
        return True
    if limits.request_limit is not None and ctx.usage.requests + _ENOUGH > limits.request_limit:
        return False
    if limits.tool_calls_limit is not None and ctx.usage.tool_calls >= limits.tool_calls_limit:
        return False
    try:
        limits.check_before_request(ctx.usage)
    except UsageLimitExceeded:
        return False
    return True


# --- for the capability Planning -------------------------------------------------------------------------------------

_THEIRS = "planning_id"  # in an item's extra: its id in a list of `Planning`
_TO_THEIRS = {"abandoned": "cancelled"}
_TO_OURS = {"cancelled": "abandoned"}
_NO_TEXT = "(no text)"


class PlanStore:
    """A store for `Planning` of pydantic-ai-harness: its list is a plan, with history, and with your user's edits.

    `store`, `session`, `agent`: as of `Punchlist`. A list that the model sends does not undo what the user has changed
    since the model was shown the list.

        Planning(store=PlanStore("sqlite:plan.db", session="s1"))
        Planning(store_resolver=PlanStore("sqlite:plan.db").for_run)  # a plan for each conversation
    """

    def __init__(self, store: str = "", *, session: str = "", agent: str = _MAIN) -> None:
        _planning()
        self._desks = SafeDesks(store, session=session, agent=agent)
        self._desk = self._desks.of()
        self._shown: Plan | None = None  # the plan as it was asked for last
        self._before: Plan | None = None  # and the time before: `write_plan` asks once more, and does not show it

    def for_run(self, ctx: RunContext[Any]) -> PlanStore:
        """Return the store of a run: the plan of its conversation, unless a session was given."""
        own = copy(self)
        own._desk = self._desks.of(ctx.conversation_id or "")
        own._shown = own._before = None
        return own

    def close(self) -> None:
        """Close the store. The next use opens it again."""
        self._desks.close()

    async def get_items(self) -> list[PlanItem]:
        """Return every step, in order."""
        return await in_thread(self._get_items)

    async def set_items(self, items: list[PlanItem]) -> None:
        """Take a complete list. Steps that the user added or changed since the model was shown the list are kept."""
        await in_thread(self._set_items, list(items))

    async def get_item(self, item_id: str) -> PlanItem | None:
        """Return the step with this id, or None."""
        return _step_in(await in_thread(self._desk.load), item_id)

    async def add_item(self, item: PlanItem) -> PlanItem:
        """Add a step at the end. Raises ValueError if there is one with its id."""
        return await in_thread(self._add_item, item)

    async def update_item(
        self,
        item_id: str,
        *,
        content: str | None = None,
        status: TaskStatus | None = None,
        active_form: str | None = None,
        parent_id: str | None = None,
        depends_on: list[str] | None = None,
    ) -> PlanItem | None:
        """Change what is given of a step, and return it then; None if there is none with this id."""
        given = {
            "content": content,
            "status": status,
            "active_form": active_form,
            "parent_id": parent_id,
            "depends_on": depends_on,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        return await in_thread(self._update_item, item_id, changes)

    async def remove_item(self, item_id: str) -> bool:
        """Remove a step and its parts, and return whether there was one."""
        return await in_thread(self._remove_item, item_id)

    # --- in a thread -------------------------------------------------------------------------------------------------

    def _get_items(self) -> list[PlanItem]:
        plan = self._desk.load()
        self._before, self._shown = self._shown, plan
        return _steps(plan)

    def _set_items(self, steps: list[PlanItem]) -> None:
        seen = self._before
        plan = self._change(lambda now: _merged(now, seen, steps))
        if plan is not None:
            self._shown = self._before = plan

    def _add_item(self, step: PlanItem) -> PlanItem:
        def edit(plan: Plan) -> Plan:
            if step.id in _ids(plan):
                raise punchlist.Refused(f"a step with id {step.id!r} is in this plan already.")
            return _added(plan, step)

        plan = self._change(edit)
        return (plan and _step_in(plan, step.id)) or step

    def _update_item(self, id: str, changes: dict[str, Any]) -> PlanItem | None:
        def edit(plan: Plan) -> Plan:
            found = _ids(plan).get(id)
            return plan if found is None else _with_changes(plan, found, changes, _ids(plan))

        return _step_in(self._change(edit) or self._desk.load(), id)

    def _remove_item(self, id: str) -> bool:
        existed = False

        def edit(plan: Plan) -> Plan:
            nonlocal existed
            found = _ids(plan).get(id)
            existed = found is not None
            return plan if found is None else punchlist.ops.remove(plan, found)

        self._change(edit)
        return existed

    def _change(self, edit: Callable[[Plan], Plan]) -> Plan | None:
        """Change the plan, and return it then; None where the store failed, which the log tells."""
        try:
            return self._desk.change(edit, by=self._desks.agent)
        except punchlist.Refused as error:
            raise ValueError(str(error)) from None


def _planning() -> Any:
    """The module of the harness. Nothing but `PlanStore` needs it."""
    try:
        from pydantic_ai_harness import planning
    except ImportError as error:
        raise ImportError(f"PlanStore is for Planning: pip install pydantic-ai-harness ({error})") from None
    return planning


def _their_id(item: Item) -> str:
    """The id of an item in a list of `Planning`: the one it was given there."""
    return str(item.extra.get(_THEIRS) or f"p{item.id}")


def _ids(plan: Plan) -> dict[str, str]:
    """The ids of the items, by their ids in a list of `Planning`."""
    return {_their_id(item): item.id for item in plan.items}


def _steps(plan: Plan) -> list[PlanItem]:
    planning = _planning()
    names = {item.id: _their_id(item) for item in plan.items}
    found = []
    for item in plan.items:
        status = _TO_THEIRS.get(item.status, item.status)
        if status == "pending" and punchlist.ops.open_needs(plan, item):
            status = "blocked"
        step = planning.PlanItem(
            id=names[item.id],
            content=item.text,
            status=planning.TaskStatus(status),
            active_form=item.active,
            parent_id=names.get(item.parent),
            depends_on=[names[one] for one in item.needs if one in names],
        )
        found.append(step)
    return found


def _step_in(plan: Plan, id: str) -> PlanItem | None:
    return next((step for step in _steps(plan) if step.id == id), None)


def _added(plan: Plan, step: PlanItem) -> Plan:
    plan = punchlist.ops.add(plan, step.content.strip() or _NO_TEXT, extra={_THEIRS: step.id})
    added = str(plan.last_id)
    return _with_changes(plan, added, _values(step), _ids(plan))


def _values(step: PlanItem) -> dict[str, Any]:
    return {name: getattr(step, name) for name in ("content", "status", "active_form", "parent_id", "depends_on")}


def _with_changes(plan: Plan, id: str, changes: dict[str, Any], ids: dict[str, str]) -> Plan:
    """The plan with other values for an item. `ids`: our ids, by the ones that the values may name."""
    item = punchlist.ops.find(plan, id)
    if "content" in changes:
        item = item._replace(text=changes["content"].strip() or _NO_TEXT)
    if "active_form" in changes:
        item = item._replace(active=changes["active_form"])
    if "parent_id" in changes:
        parent = changes["parent_id"]
        item = item._replace(parent=_id_in(ids, parent))
    if "depends_on" in changes:
        needs = [ids[one] for one in changes["depends_on"] if one in ids and ids[one] != id]
        item = item._replace(needs=tuple(dict.fromkeys(needs)))
    if "status" in changes:
        item = _with_status(item, changes["status"].value, bool(punchlist.ops.open_needs(plan, item)))
    return punchlist.ops.put(plan, item)


def _id_in(ids: dict[str, str], name: str | None) -> str:
    if name is None:
        return ""
    return ids.get(name, "")


def _with_status(item: Item, theirs: str, waits: bool) -> Item:
    """The item with a status of `Planning`. What waits for others is pending here: it is ready when they are closed."""
    status: Any = _TO_OURS.get(theirs, theirs)
    reason = {"abandoned": "cancelled", "blocked": "blocked"}.get(status, "")
    if status == "blocked" and waits:
        status, reason = "pending", ""
    if status == item.status:
        return item
    return item._replace(status=status, reason=reason, closed=None)


def _removed(plan: Plan, ids: Sequence[str]) -> Plan:
    """The plan without some items. Parts of theirs that are not among them stay."""
    gone = set(ids)
    kept = []
    for item in plan.items:
        if item.id in gone:
            continue
        if item.parent in gone:
            item = item._replace(parent="")
        if not gone.isdisjoint(item.needs):
            item = item._replace(needs=tuple([one for one in item.needs if one not in gone]))
        kept.append(item)
    return plan._replace(items=tuple(kept))


def _merged(now: Plan, seen: Plan | None, steps: Sequence[PlanItem]) -> Plan:
    """The plan with a list that the model sent, which had `seen` the plan as it was before."""
    known = {step.id: step for step in _steps(seen)} if seen is not None else {}
    before = {item.id: item for item in seen.items} if seen is not None else {}
    meant = _meant(now, seen, steps)
    ids = {**_ids(now), **{sent: id for sent, id in meant.items() if id}}
    plan = now
    for step in steps:  # first all of them, since they name each other
        if step.id not in meant:
            plan = punchlist.ops.add(plan, step.content.strip() or _NO_TEXT, extra={_THEIRS: step.id})
            ids[step.id] = meant[step.id] = str(plan.last_id)
    for step in steps:
        id = meant[step.id]
        if id:
            shown = known.get(_their_id(punchlist.ops.find(plan, id)))
            plan = _with_changes(plan, id, _changes(step, shown, punchlist.ops.find(plan, id), ids), ids)
    wanted = {meant[step.id]: None for step in steps if meant[step.id]}
    gone = [item.id for item in now.items if item.id not in wanted and _may_go(item, before, seen)]
    return _in_order(_removed(plan, gone), wanted)


def _meant(now: Plan, seen: Plan | None, steps: Sequence[PlanItem]) -> dict[str, str]:
    """Which items the steps of a list mean, by their ids or else by their texts; "" for one that the user removed.
    A step without an id has a new one each time."""
    here = _ids(now)
    past = _ids(seen) if seen is not None else {}
    meant = {step.id: here.get(step.id, "") for step in steps if step.id in here or step.id in past}
    taken = set(meant.values())
    there = set(here.values())
    texts: dict[str, list[str]] = {}  # items by their texts, as they are now or as the model was shown them
    for item in (*now.items, *(seen.items if seen is not None else ())):
        texts.setdefault(_plainly(item.text), []).append(item.id)
    for step in steps:
        if step.id in meant:
            continue
        words = _plainly(step.content)
        free = [id for id in texts.get(words, ()) if id not in taken]
        if free:
            taken.add(free[0])
            meant[step.id] = free[0] if free[0] in there else ""
        elif words in now.removed:
            meant[step.id] = ""
    return meant


def _plainly(text: str) -> str:
    """What makes two texts the same thing to do."""
    return " ".join(text.casefold().split()).strip(" .!;:,-*")


def _changes(step: PlanItem, shown: PlanItem | None, item: Item, ids: dict[str, str]) -> dict[str, Any]:
    """What the model changed of a step since it was shown it. What the user closed or blocked stays so."""
    values = _values(step)
    if shown is None:
        return values
    changes = {}
    for name, value in values.items():
        old = getattr(shown, name)
        if name == "parent_id":
            value, old = _id_in(ids, value), _id_in(ids, old)
        elif name == "depends_on":
            value, old = [ids.get(one) for one in value], [ids.get(one) for one in old]
        if value != old:
            changes[name] = values[name]
    is_closed_by_user = item.closed is not None and item.closed.by == "user"
    if "status" in changes and (is_closed_by_user or (item.status == "blocked" and step.status.value == "pending")):
        del changes["status"]
    return changes


def _may_go(item: Item, before: dict[str, Item], seen: Plan | None) -> bool:
    """Whether the model meant to leave an item out: it is one of its own, it was shown it, and nobody has changed it
    since."""
    return _THEIRS in item.extra and (seen is None or before.get(item.id) == item)


def _in_order(plan: Plan, wanted: Iterable[str]) -> Plan:
    """The plan in the order of a list. An item that is not on it stays behind the one it is behind now."""
    places = {id: place for place, id in enumerate(wanted)}
    order: dict[str, tuple[int, int]] = {}
    last = -1
    for number, item in enumerate(plan.items):
        if item.id in places:
            last = places[item.id]
            order[item.id] = (last, -1)
        else:
            order[item.id] = (last, number)
    items = tuple(sorted(plan.items, key=lambda item: order[item.id]))
    return punchlist.ops.grouped(plan._replace(items=items))
