"""The plan in agents of Google ADK: a plugin for their runner. docs/frameworks/adk.md shows it in use."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from .safe_desk import SafeDesk, SafeDesks, error_text, in_thread, logger, message

try:
    from google.adk.events.event import Event
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types
except ImportError as error:
    raise ImportError(f"Google ADK is needed here: pip install 'punchlist[adk]' ({error})") from None

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.tools.tool_context import ToolContext

_MOST = 1024  # turns that are remembered, if runs were cut off
_NEXT = 1e-5  # seconds from one event to the next: stores of sessions sort events by their time
_NOT_WORK = {"transfer_to_agent", "set_model_response", "finish_task", "exit_loop"}  # tools that steer ADK


class _Call:
    """A call of an agent that is a tool of another one, with that one's session: ADK gives it a new one for each call.
    A task that was started there, and that outlives it, has it in its context still."""

    def __init__(self, session: str) -> None:
        self.session = session  # empty when the call is over


_call_of: ContextVar[_Call | None] = ContextVar("punchlist_adk_call", default=None)


class _Turn:
    """One agent from a message of the user's until it stops."""

    def __init__(self, desk: SafeDesk, is_root: bool) -> None:
        self.desk = desk
        self.is_root = is_root
        self.is_asked = False  # whether the model has been asked, and has not answered
        self.nudge = ""  # what the next request begins with
        self.unsaved: list[Event] = []  # what was told, and is not in the session yet


class _Request(NamedTuple):
    """What is added to a request."""

    tools: list[dict[str, Any]]
    system: str
    texts: list[str]


class PunchlistPlugin(BasePlugin):
    """A plan for the agents of a runner: `InMemoryRunner(agent, plugins=[PunchlistPlugin("sqlite:plan.db")])`.

    `store`: the address of the store; `session`: by default the id of the ADK session; `agent`: what the root agent is
    called in the store, where the others have their names; `dialect`: which tools the models are given.
    """

    def __init__(self, store: str = "", *, session: str = "", agent: str = "main", dialect: str = "native") -> None:
        super().__init__(name="punchlist")
        self._desks = SafeDesks(store, session=session, agent=agent, dialect=dialect)
        self._turns: dict[tuple[str, str], _Turn] = {}  # by invocation and name of the agent
        self._warned: set[str] = set()

    # --- the request -------------------------------------------------------------------------------------------------

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Add the tool and its text to a request, and to its end what the model should be told."""
        context = callback_context.get_invocation_context()
        if not _takes_tools(llm_request):
            return None
        turn, prompt = self._turn(context)
        messages = list(_messages(llm_request.contents))
        added = await in_thread(_prepare, turn, prompt, messages)
        turn.is_asked = True
        self._offer(added, llm_request)
        for text in added.texts:
            content = types.Content(role="user", parts=[types.Part(text=text)])
            turn.unsaved.append(_event(context, content, len(turn.unsaved) + 1))
            llm_request.contents.append(content)
        if not context.branch:
            await _save(turn, context)
        return None

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """Keep what the model was told, although it did not answer."""
        context = callback_context.get_invocation_context()
        turn = self._turns.get((context.invocation_id, _name(context)))
        if turn is not None:
            await _save(turn, context)
        return None

    def _turn(self, context: InvocationContext) -> tuple[_Turn, str]:
        """The turn that a request is part of; with the words of the user, if it is the first."""
        key = (context.invocation_id, _name(context))
        turn = self._turns.get(key)
        if turn is not None:
            return turn, ""
        turn = self._turns[key] = _Turn(self._desk(context), _is_root(context))
        if len(self._turns) > _MOST:
            del self._turns[next(iter(self._turns))]
        return turn, _prompt(context)

    def _desk(self, context: InvocationContext) -> SafeDesk:
        agent = "" if _is_root(context) else _name(context)
        return self._desks.of(_outer() or context.session.id, agent)

    def _offer(self, added: _Request, request: LlmRequest) -> None:
        """Add the tools that are not taken by another of that name, and the text that goes with them."""
        tools = [_PlanTool(self, one) for one in added.tools]
        for tool in tools:
            if tool.name in request.tools_dict and tool.name not in self._warned:
                self._warned.add(tool.name)
                logger.warning("an agent has a tool %r of its own, and so no plan; another dialect may help", tool.name)
        free = [tool for tool in tools if tool.name not in request.tools_dict]
        request.append_tools(list[BaseTool](free))
        known = request.config.system_instruction
        if free and added.system and not (isinstance(known, str) and added.system in known):
            request.append_instructions([added.system])

    # --- the end of a turn -------------------------------------------------------------------------------------------

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Let an agent continue that stops early: for its loop, and only there, its last event is not a final one."""
        turn = self._turns.get((event.invocation_id, event.author))
        if turn is not None:
            await _save(turn, invocation_context)
        content = event.content
        if turn is None or event.partial or content is None or content.role != "model":
            return None
        turn.desk.kept(turn)
        if event.get_function_calls():
            turn.nudge = ""
            return None
        if not turn.is_asked or not event.is_final_response() or event.error_code:
            return None
        turn.is_asked = False
        if not turn.is_root or invocation_context.live_request_queue is not None:
            return None
        turn.nudge = await in_thread(turn.desk.turn_ended, _text(content))
        if not turn.nudge:
            return None
        final = event.model_copy()
        result = types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="")
        unfinished = [*(content.parts or []), types.Part(code_execution_result=result)]
        event.content = types.Content(role=content.role, parts=unfinished)
        return final

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Forget the turns of a run that is over."""
        for key in [key for key in self._turns if key[0] == invocation_context.invocation_id]:
            self._turns.pop(key, None)

    # --- tools -------------------------------------------------------------------------------------------------------

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Let an agent that is run as a tool know whose it is."""
        if _is_agent(tool):
            _call_of.set(_Call(_outer() or tool_context.session.id))
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Report a call of another tool, or that the user did not confirm it. One that awaits this has not run."""
        _end(tool)
        answer = tool_context.tool_confirmation
        if answer is not None and not answer.confirmed:
            await in_thread(self._desk_of_call(tool_context).tool_refused)
        elif tool_context.function_call_id in tool_context.actions.requested_tool_confirmations:
            return None
        elif not isinstance(tool, _PlanTool) and tool.name not in _NOT_WORK:
            await self._report(tool, tool_args, tool_context, result, _has_failed(result))
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: BaseException
    ) -> dict[str, Any] | None:
        """Report a call that failed."""
        _end(tool)
        if isinstance(error, asyncio.CancelledError):
            return None
        if type(tool) is BaseTool:  # not found: after a restart, ADK may carry out calls before it makes a request
            desk = self._desk_of_call(tool_context)
            if tool.name in [one["name"] for one in await in_thread(desk.tools, "mcp")]:
                return await _call(desk, tool.name, tool_args)
        await self._report(tool, tool_args, tool_context, f"{type(error).__name__}: {error_text(error)}", True)
        return None

    async def _report(
        self, tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, result: Any, failed: bool
    ) -> None:
        desk = self._desk_of_call(tool_context)
        await in_thread(desk.tool_used, tool.name, args, result, failed)

    def _desk_of_call(self, tool_context: ToolContext) -> SafeDesk:
        context = tool_context.get_invocation_context()
        turn = self._turns.get((context.invocation_id, _name(context)))
        return turn.desk if turn is not None else self._desk(context)

    async def close(self) -> None:
        """Close the store; what is used again is opened again."""
        await in_thread(self._desks.close)


class _PlanTool(BaseTool):
    """The tool of the plan, for one request."""

    def __init__(self, plugin: PunchlistPlugin, definition: dict[str, Any]) -> None:
        super().__init__(name=definition["name"], description=definition["description"])
        self._plugin = plugin
        self._schema = definition["inputSchema"]

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, str]:
        """Carry out a call of the model's."""
        desk = self._plugin._desk_of_call(tool_context)
        return await _call(desk, self.name, args)


# --- inside ----------------------------------------------------------------------------------------------------------


def _prepare(turn: _Turn, prompt: str, messages: list[dict[str, Any]]) -> _Request:
    """Ask the desk what belongs to a request; in a thread."""
    desk = turn.desk
    texts = [turn.nudge] if turn.nudge else []
    turn.nudge = ""
    messages += [message("user", text) for text in texts]
    told = desk.prompted(prompt, wrapped=True) if prompt else []
    texts += desk.before_request(messages, told, run=turn)
    return _Request(desk.tools("mcp"), desk.system_prompt(), texts)


async def _call(desk: SafeDesk, tool: str, args: dict[str, Any]) -> dict[str, str]:
    reply = await in_thread(desk.call, tool, args)
    return {"error": reply.text} if reply.is_error else {"result": reply.text}


def _event(context: InvocationContext, content: types.Content, number: int) -> Event:
    """What the model is told, for the session, where the next request finds it again. As the words of the agent itself
    they do not begin a new turn."""
    event = Event(
        invocation_id=context.invocation_id,
        author=_name(context),
        content=content.model_copy(),
        branch=context.branch,
        custom_metadata={"punchlist": True},
    )
    event.isolation_scope = context.isolation_scope
    if context.node_path:
        event.node_info.path = context.node_path
    events = context.session.events
    if events:  # behind the last event and before the answer, whose time is already set
        event.timestamp = min(event.timestamp, events[-1].timestamp + number * _NEXT)
    return event


async def _save(turn: _Turn, context: InvocationContext) -> None:
    """Append what was told to the session: at once, or for agents in parallel before their next event, when the runner
    is not writing itself."""
    unsaved, turn.unsaved = turn.unsaved, []
    for event in unsaved:
        await context.session_service.append_event(session=context.session, event=event)


def _takes_tools(request: LlmRequest) -> bool:
    """Whether a request can have another function: one for an answer in JSON, or with built-in tools only, cannot."""
    if request.config.response_schema is not None:
        return False
    built_in = [tool for tool in request.config.tools or [] if isinstance(tool, types.Tool)]
    return not built_in or any(tool.function_declarations for tool in built_in)


def _is_root(context: InvocationContext) -> bool:
    """Whether the agent is the one that the runner has: not one below it, a part of a workflow, or a tool."""
    parent = getattr(context.agent, "parent_agent", None)
    return parent is None and "/" not in (context.node_path or "") and not _outer()


def _outer() -> str:
    """The session of the agent that this one is a tool of; empty if it is none."""
    call = _call_of.get()
    return call.session if call is not None else ""


def _is_agent(tool: BaseTool) -> bool:
    module = sys.modules.get("google.adk.tools.agent_tool")
    return module is not None and isinstance(tool, module.AgentTool)


def _end(tool: BaseTool) -> None:
    call = _call_of.get()
    if call is not None and _is_agent(tool):
        call.session = ""


def _name(context: InvocationContext) -> str:
    return str(getattr(context.agent, "name", ""))


def _prompt(context: InvocationContext) -> str:
    """What the user says. A run that goes on, after a confirmation for example, has the words that it began with."""
    own = [event for event in context.session.events if event.invocation_id == context.invocation_id]
    if not any(event.author == _name(context) for event in own):
        return _text(context.user_content)
    said = [event for event in own if event.author == "user"]
    return _text(said[-1].content) if len(said) > 1 else ""


def _text(content: types.Content | None) -> str:
    parts = (content.parts if content is not None else None) or []
    return "\n".join([part.text for part in parts if part.text and not part.thought])


def _messages(contents: Sequence[types.Content]) -> Iterator[dict[str, Any]]:
    """The conversation, as a desk reads it."""
    for content in contents:
        parts = content.parts or []
        calls = [part.function_call for part in parts if part.function_call]
        role = "assistant" if content.role == "model" else "user"
        text = _text(content)
        if text or calls:
            yield message(role, text, [(call.id or "", call.name or "", call.args or {}) for call in calls])
        for part in parts:
            answer = part.function_response
            if answer is not None:
                found = answer.response or {}
                yield message("tool", str(found.get("result", found)), tool=answer.name or "", failed="error" in found)


def _has_failed(result: object) -> bool:
    """Whether the result of a tool says so, as ADK's own and those in its documentation do."""
    return isinstance(result, dict) and (bool(result.get("error")) or result.get("status") == "error")
