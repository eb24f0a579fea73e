"""A plan in agents of LangChain and deepagents: `create_agent(model, tools, middleware=[Punchlist("sqlite:plan.db")])`.

The session is the `thread_id` of a run. What the model is told is in the graph's messages, and the plan in its `todos`.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from threading import Lock
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import uuid4
from zlib import crc32

import punchlist

from .safe_desk import SafeDesk, SafeDesks, exit_code, in_thread, logger, message, todos

try:
    from langchain.agents.middleware import (
        AgentMiddleware,
        ModelRequest,
        ModelResponse,
        TodoListMiddleware,
        hook_config,
    )
    from langchain.agents.middleware.shell_tool import ShellToolMiddleware
    from langchain.agents.middleware.todo import WRITE_TODOS_SYSTEM_PROMPT
    from langchain.agents.middleware.types import AgentState, OmitFromInput, PrivateStateAttr
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, StructuredTool
    from langgraph.config import get_config
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.runtime import Runtime
    from langgraph.types import Command
except ImportError as error:
    raise ImportError(f"LangChain is needed here: pip install 'punchlist[langchain]' ({error})") from None

try:
    from langchain.agents.middleware.types import ExtendedModelResponse
except ImportError:  # of a LangChain in which a model's answer cannot update the graph: it is updated in the end
    ExtendedModelResponse = None  # type: ignore[assignment,misc]

SOURCE = "punchlist"  # `additional_kwargs["lc_source"]` of what the model was told by us
_SHELLS = ("execute", "shell", "bash", "terminal", "run_command", "run_shell", "run_shell_command")
_CUT = {"length", "max_tokens", "max_output_tokens", "model_length", "incomplete"}  # why a model had to stop
_DICTS = frozenset(["dict", "Dict", "Mapping"])
_UNIQUE = 32  # characters: those of a UUID
_MOST = 256  # runs of which the last request is remembered
_MOST_CALLS = 4096  # calls of tools of which it is remembered that they were carried out
_REJECTED = "User rejected the tool call"  # what LangChain answers in place of a tool
_LIMITED = "Tool call limit"  # the same, where it was not the user
_BROKEN = 3  # calls of the plan in a row that could not be read, until the agent may stop


class Todo(TypedDict):
    """One item, as screens for LangChain's own todos show it."""

    content: str
    status: str


class PlanState(AgentState[Any]):
    """What is added to the state of the graph."""

    todos: Annotated[NotRequired[list[Todo]], OmitFromInput]
    punchlist_session: Annotated[NotRequired[str], PrivateStateAttr]  # of a run without `thread_id`


class _Talk(NamedTuple):
    """Some messages, and the same as `before_request` reads them."""

    messages: Sequence[BaseMessage] = ()
    entries: Sequence[dict[str, Any]] = ()

    def then(self, messages: Sequence[BaseMessage]) -> _Talk:
        """The messages of a later request: those that are still the same are not read again."""
        same = 0
        for one, other in zip(messages, self.messages, strict=False):
            if one is not other:
                break
            same += 1
        return _Talk(messages, [*self.entries[:same], *map(_entry, messages[same:])])


_Result = ToolMessage | Command[Any]


if TYPE_CHECKING:
    _Middleware = AgentMiddleware[Any, Any, Any]
else:
    _Middleware = AgentMiddleware  # how many parameters it takes depends on its version


class Punchlist(_Middleware):
    """A plan for an agent of LangChain: put it last in `middleware`.

    `store`: a URL such as `sqlite:plan.db`; by default the store of your settings. `session`: whose plan it is; by
    default the `thread_id` of each run. `agent`: the name of the agent. `dialect`: the tools that the model is given.
    """

    state_schema = PlanState

    def __init__(self, store: str = "", *, session: str = "", agent: str = "main", dialect: str = "native") -> None:
        super().__init__()
        self._desks = SafeDesks(store, session=session, agent=agent, dialect=dialect)
        self._made: dict[str, BaseTool] = {}
        self._system: dict[str, str] = {}  # by the name of the shell: the same for all runs
        with punchlist.Desk(punchlist.MemoryStore(), dialect=dialect) as desk:
            known = desk.dialect.tools
        self._names = frozenset([tool.name for tool in known])
        self.tools = [self._tool(tool.name, tool.description, tool.schema) for tool in known]  # all there may be
        self._seen: dict[tuple[str, str], _Talk] = {}  # the last request of a run
        self._current: dict[tuple[str, str], object] = {}  # which run it is of: what one was told may be lost with it
        self._lock = Lock()
        self._has_warned = False
        self._ended: dict[str, None] = {}  # ids of messages with which a model stopped by itself
        self._ran: dict[tuple[str, str, str], None] = {}  # calls of tools that were carried out

    def close(self) -> None:
        """Close the store. A run that comes later opens it again."""
        self._desks.close()

    # --- a run begins ------------------------------------------------------------------------------------------------

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Report what the user said."""
        return self._begin(state, get_config())

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Report what the user said."""
        return await in_thread(self._begin, state, get_config())

    def _begin(self, state: Any, config: RunnableConfig) -> dict[str, Any] | None:
        update: dict[str, Any] = {}
        session, agent = self._who(state, config)
        if not self._desks.session and not _thread(config) and not state.get("punchlist_session"):
            session = session or uuid4().hex
            update["punchlist_session"] = session
        said = _prompt(state["messages"])
        if said:
            run = object()
            self._keep(self._current, (session, agent), run)
            desk = self._desks.of(session, agent)
            texts = desk.prompted(said, wrapped=True)
            if texts:
                desk.owe(texts, [_entry(one) for one in state["messages"]], run=run)
                update["messages"] = [_ours("\n".join(texts))]
        return update or None

    # --- before the model is asked -----------------------------------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        """Add the tools and their text to a request, and what the model should be told now."""
        made, told, update = self._prepare(request, get_config())
        answer = handler(made)
        self._heard(request, get_config())
        return _with_update(self._answered(request, answer, told, get_config()), update)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        """Add the tools and their text to a request, and what the model should be told now."""
        made, told, update = await in_thread(self._prepare, request, get_config())
        answer = await handler(made)
        self._heard(request, get_config())
        if any(map(self._broken, answer.result)):
            answer = await in_thread(self._answered, request, answer, told, get_config())
        else:
            answer = self._answered(request, answer, told, get_config())
        return _with_update(answer, update)

    def _prepare(
        self, request: ModelRequest[Any], config: RunnableConfig
    ) -> tuple[ModelRequest[Any], list[HumanMessage], dict[str, Any]]:
        """The request as it is sent, messages at its end that the graph does not have yet, and an update for the graph.
        Not a node before the model's: every node costs a step of the graph, and a checkpoint."""
        who = self._who(request.state, config)
        desk = self._desks.of(*who)
        self._check_names(request.tools)
        if self._is_refused(who, request.state["messages"]):
            desk.tool_refused()
        told = [_ours(text) for text in self._guide(who, desk, request.messages)]
        tools = self._offered(desk, request.tools)
        changed: dict[str, Any] = {"tools": tools}
        names = [_name(tool) for tool in tools]
        if self._names.intersection(names):
            shell = next((name for name in _SHELLS if name in names), "shell")
            text = self._system.get(shell) or desk.system_prompt(shell)
            self._system[shell] = text
            changed["system_message"] = _with_text(request.system_message, text)
        if told:
            changed["messages"] = [*request.messages, *told]
        return request.override(**changed), told, _shown(desk, request.state)

    def _guide(self, who: tuple[str, str], desk: SafeDesk, messages: Sequence[BaseMessage]) -> list[str]:
        """What the model is told at the end of a conversation; the same if the request is repeated."""
        talk = self._seen.get(who, _Talk()).then(messages)
        self._keep(self._seen, who, talk)
        return desk.before_request(talk.entries, run=self._current.get(who))

    def _heard(self, request: ModelRequest[Any], config: RunnableConfig) -> None:
        """The model has answered: it was told what was added to its request."""
        who = self._who(request.state, config)
        self._desks.of(*who).answered(self._current.get(who))

    def _is_refused(self, who: tuple[str, str], messages: Sequence[BaseMessage]) -> bool:
        """Whether the user has not permitted a call of the last turn: there is an error in place of its result, and no
        tool has run."""
        answers: list[ToolMessage] = []
        for one in reversed(messages):
            if isinstance(one, AIMessage):
                made = {call["id"] for call in one.tool_calls}
                return any(self._is_refusal(who, answer) for answer in answers if answer.tool_call_id in made)
            if isinstance(one, ToolMessage):
                answers.append(one)
            elif isinstance(one, HumanMessage) and not one.additional_kwargs.get("lc_source"):
                break  # the user has spoken since
        return False

    def _is_refusal(self, who: tuple[str, str], answer: ToolMessage) -> bool:
        if answer.status != "error" or (*who, answer.tool_call_id) in self._ran:
            return False
        return not _text(answer).startswith(_LIMITED)

    def _check_names(self, tools: Sequence[BaseTool | dict[str, Any]]) -> None:
        """Refuse a tool of the user's with the name of one of ours: it would never be called."""
        named = [tool for tool in tools if _name(tool) in self._names]
        others = [tool for tool in named if getattr(tool, "func", None) is not _outside and not _is_write_todos(tool)]
        if len(named) == len(others):  # some middleware has made them to dicts
            others = [tool for tool in others if not isinstance(tool, dict)]
        if others:
            name = _name(others[0])
            raise punchlist.Refused(
                f"your tool {name!r} has the name of the tool of the plan: rename it, or give the tool of the plan "
                f"another name with Punchlist(dialect=...): docs/dialects.md lists them"
            )

    def _keep(self, known: dict[Any, Any], key: Any, value: Any, most: int = _MOST) -> None:
        """Remember something, and forget what is the oldest of too much."""
        with self._lock:
            known.pop(key, None)
            known[key] = value
            if len(known) > most:
                del known[next(iter(known))]

    def _offered(self, desk: SafeDesk, tools: Sequence[BaseTool | dict[str, Any]]) -> list[BaseTool | dict[str, Any]]:
        """The tools of a request: those of the plan as they are now, and not another list beside it."""
        offered = [(one["name"], one["description"], one["inputSchema"]) for one in desk.tools("mcp")]
        own = [self._tool(*definition) for definition in offered]
        if not own:  # punchlist is off
            return [tool for tool in tools if _name(tool) not in self._names]
        found: list[BaseTool | dict[str, Any]] = []
        for tool in tools:
            if _name(tool) in self._names:
                found += own  # where the first one was
                own = []
            elif not _is_write_todos(tool):
                found.append(tool)
        return found

    def _tool(self, name: str, description: str, schema: Any) -> BaseTool:
        """A tool of the plan, made once for as long as its definition stays the same."""
        tool = self._made.get(name)
        if tool is None or (tool.description, tool.args_schema) != (description, schema):
            tool = StructuredTool(name=name, description=description, args_schema=schema, func=_outside)
            self._made[name] = tool
        return tool

    # --- tools -------------------------------------------------------------------------------------------------------

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], _Result]) -> _Result:
        """Answer calls of the plan, and report those of other tools."""
        if self._is_ours(request):
            return self._answer(request)
        self._runs(request)
        started = time.monotonic()
        try:
            result = handler(request)
        except GraphBubbleUp:  # an interrupt: the call goes on later
            raise
        except Exception as error:
            self._report(request, error, started)
            raise
        self._report(request, result, started)
        return result

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[_Result]]
    ) -> _Result:
        """Answer calls of the plan, and report those of other tools."""
        if self._is_ours(request):
            return await in_thread(self._answer, request)
        self._runs(request)
        started = time.monotonic()
        try:
            result = await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            await in_thread(self._report, request, error, started)
            raise
        await in_thread(self._report, request, result, started)
        return result

    def _is_ours(self, request: ToolCallRequest) -> bool:
        return request.tool_call["name"] in self._names or _is_write_todos(request.tool)

    def _runs(self, request: ToolCallRequest) -> None:
        """Remember that a call was carried out."""
        who = self._who(request.state, request.runtime.config)
        self._keep(self._ran, (*who, request.tool_call["id"] or ""), None, _MOST_CALLS)

    def _answer(self, request: ToolCallRequest) -> ToolMessage:
        self._runs(request)
        call = request.tool_call
        if call["name"] in self._names:
            reply = self._desk_of(request).call(call["name"], call["args"])
        else:
            text = f"{call['name']} is not offered here; the tools of the plan are {', '.join(sorted(self._names))}."
            reply = punchlist.Reply(text, is_error=True)
        return _reply(reply, call["id"] or "", call["name"])

    def _report(self, request: ToolCallRequest, result: object, started: float) -> None:
        call = request.tool_call
        found = _tool_message(result, call["id"])
        if found is not None and found.status == "error" and _text(found).startswith(_REJECTED):
            self._desk_of(request).tool_refused()  # by a middleware behind us
            return
        failed = isinstance(result, Exception) or (found is not None and found.status == "error")
        text = result if found is None else found.content
        code = None if found is None else _exit_of(found, request.tool)
        seconds = time.monotonic() - started
        desk = self._desk_of(request)
        desk.tool_used(call["name"], call["args"], _plain(text), failed, code, seconds=seconds)

    def _desk_of(self, request: ToolCallRequest) -> SafeDesk:
        return self._desks.of(*self._who(request.state, request.runtime.config))

    # --- the model has answered --------------------------------------------------------------------------------------

    def _answered(
        self, request: ModelRequest[Any], answer: ModelResponse[Any], told: list[HumanMessage], config: RunnableConfig
    ) -> ModelResponse[Any]:
        """The model's answer; before it, what was added to its request, and behind it, what is said to calls of the
        plan that could not be read: so all of it stays in the conversation."""
        said = _last(answer.result)
        if said is None:
            return answer
        is_end = not said.tool_calls or answer.structured_response is not None
        if is_end and not self._is_before_shell(request.tools):
            said.id = said.id or str(uuid4())
            self._keep(self._ended, said.id, None)
        broken = self._broken(said)
        if not told and not broken:
            return answer
        refusals: list[ToolMessage | HumanMessage] = []
        if broken:
            desk = self._desks.of(*self._who(request.state, config))
            refusals = [_refusal(desk, call) for call in broken]
        result = [*told, *answer.result, *refusals]
        return ModelResponse(result=result, structured_response=answer.structured_response)

    def _is_before_shell(self, tools: Sequence[BaseTool | dict[str, Any]]) -> bool:
        """Whether LangChain's shell is behind us in `middleware`, and closed when a nudge could be given. Tools are in
        the order of their middleware."""
        found = [_name(tool) in self._names for tool in tools if _name(tool) in self._names or _is_shell(tool)]
        is_before = True in found and False in found[found.index(True) :]
        if is_before and not self._has_warned:
            self._has_warned = True
            logger.warning("Punchlist must come behind ShellToolMiddleware; as it is, nobody is nudged")
        return is_before

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Let the agent end, or nudge it to continue: every hook behind a model's answer has run by now."""
        return self._end(state, get_config())

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Let the agent end, or nudge it to continue: every hook behind a model's answer has run by now."""
        return await in_thread(self._end, state, get_config())

    def _end(self, state: Any, config: RunnableConfig) -> dict[str, Any] | None:
        who = self._who(state, config)
        desk = self._desks.of(*who)
        said = _last(state["messages"])
        text = ""
        is_broken = False
        if said is not None and said.id in self._ended:
            with self._lock:
                self._ended.pop(said.id, None)
            is_broken = self._is_broken_again(state["messages"])
            if not is_broken and not _tool_run(config):  # a sub-agent is not nudged
                text = desk.turn_ended(_words(said))
        update = _shown(desk, state)
        if text:
            update["messages"] = [_ours(text)]
        if text or is_broken:
            update["jump_to"] = "model"
        else:
            desk.kept(self._current.get(who))
            with self._lock:
                self._seen.pop(who, None)
        return update or None

    def _broken(self, said: BaseMessage) -> list[Any]:
        """Calls of the plan whose arguments could not be read, or were cut off."""
        if not isinstance(said, AIMessage):
            return []
        return [call for call in said.invalid_tool_calls if call.get("name") in self._names]

    def _is_broken_again(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether the model ended with a call of the plan that could not be read, and may try again."""
        found = 0
        for one in reversed(messages):
            if isinstance(one, AIMessage):
                if one.tool_calls or not self._broken(one):
                    break
                found += 1
        return 0 < found <= _BROKEN

    # --- whose plan --------------------------------------------------------------------------------------------------

    def _who(self, state: Any, config: RunnableConfig) -> tuple[str, str]:
        """The session and the agent of a run. One that a tool has started is a sub-agent: a plan for each call."""
        session = _thread(config) or state.get("punchlist_session") or ""
        if not session and state["messages"]:
            session = _unique(state["messages"][0].id)
        agent = self._desks.agent
        run = _tool_run(config)
        if run:
            if agent == "main":
                agent = str((config.get("metadata") or {}).get("lc_agent_name") or "subagent")
            agent = f"{agent}-{crc32(run.encode('utf-8', 'surrogatepass')):08x}"
        return session, agent


# --- runs ------------------------------------------------------------------------------------------------------------


def _thread(config: RunnableConfig) -> str:
    found = (config.get("configurable") or {}).get("thread_id")
    if found is None:
        return ""
    return str(found)


def _unique(id: object) -> str:
    """The id of a message, if nobody else's message can have it; a short one may be a number that somebody counted."""
    text = str(id or "")
    if len(text) >= _UNIQUE:
        return text
    return ""


def _tool_run(config: RunnableConfig) -> str:
    """Which call of a tool a run is part of, the same after a restart; empty for an agent that no tool has started."""
    parts = str((config.get("configurable") or {}).get("checkpoint_ns") or "").split("|")[:-1]
    tools = [at for at, part in enumerate(parts) if part.startswith("tools:")]
    if not tools:
        return ""
    end = tools[-1] + 1
    while end < len(parts) and parts[end].isdigit():  # the second run in one call, the third
        end += 1
    return "|".join(parts[:end])


# --- messages --------------------------------------------------------------------------------------------------------


def _ours(text: str) -> HumanMessage:
    """What the model is told by us: a screen can tell it from the user's words."""
    return HumanMessage(text, id=str(uuid4()), additional_kwargs={"lc_source": SOURCE})


def _prompt(messages: Sequence[BaseMessage]) -> str:
    """What the user has said since the model spoke last."""
    said: list[str] = []
    for one in reversed(messages):
        if isinstance(one, AIMessage):
            break
        if isinstance(one, HumanMessage) and not one.additional_kwargs.get("lc_source"):
            said.append(_text(one))
    return "\n".join(reversed(said))


def _entry(one: BaseMessage) -> dict[str, Any]:
    """A message as `before_request` reads it."""
    if isinstance(one, AIMessage):
        calls = [(call["id"] or "", call["name"], call["args"]) for call in one.tool_calls]
        return message("assistant", _text(one), calls)
    if isinstance(one, ToolMessage):
        return message("tool", _text(one), tool=one.name or "?", failed=one.status == "error")
    return message("system" if isinstance(one, SystemMessage) else "user", _text(one))


def _ids(messages: Sequence[BaseMessage]) -> list[str | None]:
    return [one.id for one in messages]


def _text(one: BaseMessage) -> str:
    if isinstance(one.content, str):
        return one.content
    return str(one.text)


def _last(messages: Sequence[BaseMessage]) -> AIMessage | None:
    return next((one for one in reversed(messages) if isinstance(one, AIMessage)), None)


def _words(said: AIMessage) -> str:
    """The last words of a model. Those that were cut off are not: they ask for nothing."""
    about = said.response_metadata
    why = {str(about.get(key)).lower() for key in ("finish_reason", "stop_reason", "done_reason", "status")}
    if said.invalid_tool_calls or why & _CUT:
        return ""
    answers = [str(value) for call in said.tool_calls for value in call["args"].values()]  # with `response_format`
    return "\n".join([_text(said), *answers]).strip()


def _with_text(system: SystemMessage | None, text: str) -> SystemMessage | None:
    """A system prompt with the text of the plan behind it, and without that of another list."""
    if system is None:
        return SystemMessage(text) if text else None
    if isinstance(system.content, str):
        if not text or text in system.content:
            return system
        return system.model_copy(update={"content": f"{system.content}\n\n{text}" if system.content else text})
    blocks = [block for block in system.content if _block_text(block).strip() != WRITE_TODOS_SYSTEM_PROMPT.strip()]
    if text and not any(text in _block_text(block) for block in blocks):
        blocks.append({"type": "text", "text": f"\n\n{text}" if blocks else text})
    return system.model_copy(update={"content": blocks})


def _block_text(block: str | dict[Any, Any]) -> str:
    if isinstance(block, str):
        return block
    return str(block.get("text") or "")


def _shown(desk: SafeDesk, state: Any) -> dict[str, Any]:
    """The plan for the state of the graph, if it is not there yet."""
    found = todos(desk.load())
    if found == (state.get("todos") or []):
        return {}
    return {"todos": found}


def _with_update(answer: ModelResponse[Any], update: dict[str, Any]) -> Any:
    """A model's answer, with an update of the graph."""
    if not update or ExtendedModelResponse is None:
        return answer
    return ExtendedModelResponse(model_response=answer, command=Command(update=update))


# --- tools and what they returned ------------------------------------------------------------------------------------


def _outside(**_: Any) -> str:
    """What the tool does without its middleware."""
    return "This tool works in an agent with the middleware Punchlist."


def _name(tool: BaseTool | dict[str, Any]) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name") or (tool.get("function") or {}).get("name") or "")
    return tool.name


def _is_write_todos(tool: object) -> bool:
    """Whether it is the tool of LangChain's own list: there is one plan."""
    return _module(tool) == TodoListMiddleware.__module__


def _is_shell(tool: object) -> bool:
    return _module(tool) == ShellToolMiddleware.__module__


def _module(tool: object) -> str:
    return str(getattr(getattr(tool, "func", None), "__module__", ""))


def _reply(reply: punchlist.Reply, id: str, name: str) -> ToolMessage:
    return ToolMessage(reply.text, tool_call_id=id, name=name, status="error" if reply.is_error else "success")


def _refusal(desk: SafeDesk, call: Mapping[str, Any]) -> ToolMessage | HumanMessage:
    """The answer to a call whose arguments could not be read."""
    reply = desk.call(call["name"], call.get("args") or "")
    if call.get("id"):
        return _reply(reply, call["id"], call["name"])
    return _ours(reply.text)


def _tool_message(result: object, id: str | None) -> ToolMessage | None:
    """The answer of a tool, which may be in an update of the graph."""
    if isinstance(result, ToolMessage):
        return result
    if isinstance(result, Command) and isinstance(result.update, dict):
        result = result.update.get("messages")
    if not isinstance(result, list):
        return None
    found = [_tool_message(one, id) for one in result if isinstance(one, ToolMessage | Command)]
    return next((one for one in found if one is not None and one.tool_call_id == id), None)


def _exit_of(found: ToolMessage, tool: BaseTool | None) -> int | None:
    """The exit code that a tool says: in its artifact, or in the dict that it returns. What a command has printed may
    look like one, so the text of any other tool is not read."""
    code = exit_code(found.artifact)
    if code is not None or not isinstance(found.content, str) or not _returns_dict(tool):
        return code
    try:
        value = json.loads(found.content)
    except ValueError:
        return None
    if json.dumps(value, ensure_ascii=False) != found.content:  # not the dict: a text, of a tool that returns either
        return None
    return exit_code(value)


def _returns_dict(tool: object) -> bool:
    """Whether a tool says that it returns a dict, if only sometimes."""
    made = [getattr(tool, "func", None), getattr(tool, "coroutine", None)]
    if not any(made):
        made = [getattr(type(tool), "_run", None), getattr(type(tool), "_arun", None)]
    return any(_is_dict(_returned(work)) for work in made if work is not None)


def _returned(work: Any) -> Any:
    """The type that a function returns; as text, if that names something that is not to be found."""

    def holder() -> None:
        """Something to put the annotation on: those of the parameters do not matter."""

    plain = inspect.unwrap(work)
    plain = getattr(plain, "__func__", plain)
    try:
        hint = plain.__annotations__["return"]
    except (AttributeError, KeyError, NameError):
        return None
    holder.__annotations__ = {"return": hint}
    try:
        return get_type_hints(holder, plain.__globals__, inspect.getclosurevars(plain).nonlocals)["return"]
    except (NameError, AttributeError, TypeError, SyntaxError):
        return hint


def _is_dict(hint: Any) -> bool:
    if isinstance(hint, str):
        names = [part.strip(" \"'").partition("[")[0].rpartition(".")[2] for part in hint.split("|")]
        return not _DICTS.isdisjoint(names)
    if get_origin(hint) in (Union, UnionType):
        return any(map(_is_dict, get_args(hint)))
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and issubclass(kind, Mapping)


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}"
    return str(value)
