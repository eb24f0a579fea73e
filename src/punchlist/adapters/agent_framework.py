"""A plan in agents of Microsoft's Agent Framework: `Agent(client, middleware=[Punchlist("sqlite:plan.db")])`, or behind
its own todo tools: `TodoProvider(store=TodoStore("sqlite:plan.db"))`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4
from zlib import crc32

import punchlist

from .safe_desk import SafeDesk, SafeDesks, error_text, exit_code, in_thread, message

try:
    from agent_framework import (
        AgentContext,
        AgentMiddleware,
        AgentResponse,
        AgentResponseUpdate,
        AgentSession,
        ChatContext,
        ChatMiddleware,
        FunctionInvocationContext,
        FunctionMiddleware,
        FunctionTool,
        HistoryProvider,
        InMemoryHistoryProvider,
        Message,
        MiddlewareTermination,
        ResponseStream,
        TodoItem,
        UserInputRequiredException,
        included_messages,
    )
    from agent_framework import TodoStore as _TodoStore
except ImportError as error:
    raise ImportError(
        f"the adapter needs Microsoft's Agent Framework: pip install 'punchlist[agent-framework]' ({error})"
    ) from None

__all__ = ["Punchlist", "TodoStore"]

_Next = Callable[[], Awaitable[None]]
_Tools = dict[str, tuple[Mapping[str, Any], FunctionTool]]  # the tools that were made, by name, and what of

_STATE = "punchlist"  # of a session: what the model was told in the middle of a run, behind which tool result
_TODO = "todo"  # the source of a TodoProvider that was given none
_MOST = 256  # lists that are remembered as they were loaded
_REMOVED = "taken off the list"


class _Caller(NamedTuple):
    """The run whose tool is at work: a run that begins there is a sub-agent's."""

    session: str
    given: str  # the id of the framework's session
    agents: tuple[str, ...]  # its name, behind those of the runs that it is in


class _Call:
    """A call of a tool. A task that it has started, and that outlives it, has it in its context still."""

    def __init__(self, caller: _Caller) -> None:
        self.caller: _Caller | None = caller  # None when the call is over


_call: ContextVar[_Call | None] = ContextVar("punchlist_agent_framework_call", default=None)


class Punchlist(AgentMiddleware):
    """Middleware that gives an agent a plan: the tool, the text that goes with it, the user's edits, reminders and
    nudges. Calls of its other tools are kept with the plan.

    `store`: the address of a store, such as `sqlite:plan.db`; by default the store of the settings. `session`: whose
    plan it is; by default that of the framework's session. `agent`: the name of the agent in it. `dialect`: the tools
    that the model is given.

        agent = Agent(client, middleware=[Punchlist("sqlite:plan.db")])
    """

    def __init__(self, store: str = "", *, session: str = "", agent: str = "main", dialect: str = "native") -> None:
        self._desks = SafeDesks(store, session=session, agent=agent, dialect=dialect)
        self._tools: _Tools = {}

    def close(self) -> None:
        """Close the store. The next run opens it again."""
        self._desks.close()

    async def process(self, context: AgentContext, call_next: _Next) -> None:
        """Run the agent, and again as long as it is nudged."""
        run = _Run(self._desks, context, self._tools)
        if context.stream:
            context.result = ResponseStream(_updates(run, context, call_next), finalizer=run.answer)
            return
        with run.added_to(context):
            await run.begin(context)
            while True:
                await call_next()
                if not isinstance(context.result, AgentResponse):
                    return
                if not await run.goes_on(context, context.result):
                    break
            context.result = run.answer()


async def _updates(run: _Run, context: AgentContext, call_next: _Next) -> AsyncIterator[AgentResponseUpdate]:
    """What a run streams, and the ones that it was nudged to."""
    with run.added_to(context):
        await run.begin(context)
        while True:
            try:
                await call_next()
                inner = context.result
                if not isinstance(inner, ResponseStream):
                    return
                async with inner:
                    async for update in inner:
                        yield update
                    final = await inner.get_final_response()
            except MiddlewareTermination:  # by another middleware; the framework no longer waits for it here
                return
            if not await run.goes_on(context, final):
                return


class _Run:
    """One run of an agent, with those that it is nudged to."""

    def __init__(self, desks: SafeDesks, context: AgentContext, tools: _Tools) -> None:
        given = str(context.session.session_id) if context.session is not None else uuid4().hex
        call = _call.get()
        caller = call.caller if call is not None else None
        session, agent = given, desks.agent
        above: tuple[str, ...] = ()
        if caller is not None:
            session, above = caller.session, caller.agents
            agent = _sub_agent(desks.agent, context.agent, given, caller)
        self.is_nested = caller is not None
        self.is_partial = bool(getattr(context.agent, "require_per_service_call_history_persistence", False))
        self.caller = _Caller(session, given, (*above, agent))
        self.desk: SafeDesk = desks.of(session, agent)
        self.told = _told_of(context.session)
        self.shown: list[dict[str, Any]] = []  # the conversation as the model has it
        self.kept: list[Message] | None = None  # what a compaction has left of it
        self.names: dict[str, str] = {}  # of tools, by the id of a call
        self.requests = 0  # since the run, or the last nudge, began
        self.count = 0  # messages of the last request
        self.last: Message | None = None  # the last of them
        self.anchor = ""  # the last call whose result it has
        self.is_nudged = False
        self.answers: list[Message] = []
        self.final: AgentResponse[Any] | None = None
        self.usage: Any = None
        self.in_turn = asyncio.Lock()  # calls of one turn are carried out in their order
        self.made_tools = tools
        self.own_tools: dict[str, FunctionTool] = {}
        self.other_tools: list[Any] = []
        self.options: Mapping[str, Any] = {}

    @contextmanager
    def added_to(self, context: AgentContext) -> Iterator[None]:
        """Take back at the end what was added to a run: a loop of the user's may begin another with the same values."""
        before = (context.messages, context.tools, context.options)
        middleware = context.client_kwargs.get("middleware")
        try:
            yield
        finally:
            context.messages, context.tools, context.options = before
            context.client_kwargs["middleware"] = _as_list(middleware)

    async def begin(self, context: AgentContext) -> None:
        """Report what the user said, and give the agent its tool, its text, and what there is to tell."""
        self.options = dict(context.options or {})
        self.other_tools = _as_list(self.options.get("tools") if context.tools is None else context.tools)
        given = list(context.messages)
        past = await _history(context)
        is_elsewhere = not past and _conversation_id(context) != ""
        prompt = _prompt(given)
        is_refused = _is_refused(given)
        self.shown = self._plain([*past, *given])

        def work() -> tuple[list[str], list[dict[str, Any]], str]:
            told = self.desk.prompted(prompt, wrapped=True) if prompt else []
            if is_refused:
                self.desk.tool_refused()
            if is_elsewhere:  # the service has the conversation, and what it does with it is not seen
                self.shown.insert(0, message("assistant", _open_items(self.desk)))
            texts = self.desk.before_request(self.shown, told, run=self)
            return texts, self.desk.tools("openai"), self.desk.system_prompt(shell=_shell(context.agent))

        texts, tools, system = await in_thread(work)
        told = [Message("user", [text]) for text in texts]
        context.messages = [*given, *told]
        self.shown += self._plain(told)
        self._offer(context, tools)
        self._instruct(context, system)
        known = _as_list(context.client_kwargs.get("middleware"))
        context.client_kwargs["middleware"] = [*known, _Calls(self), _Requests(self)]

    async def goes_on(self, context: AgentContext, result: AgentResponse[Any]) -> bool:
        """Return whether the agent is nudged to continue, and prepare what it is run again with."""
        self.desk.kept(self)
        messages = list(result.messages)
        self.answers += messages
        self._add_usage(result)
        self.final = result
        if self.is_nested or result.user_input_requests or not messages:
            return False
        if context.session is None and _conversation_id(context):
            return False  # what to send again is known to the service only
        said = messages[-1].text if messages[-1].role == "assistant" else ""
        self.shown += self._plain(messages[-1:])

        def work() -> tuple[list[str], list[dict[str, Any]]]:
            nudge = self.desk.turn_ended(said)
            if not nudge:
                return [], []
            texts = self.desk.before_request([*self.shown, message("user", nudge)], run=self)
            return [nudge, *texts], self.desk.tools("openai")

        texts, tools = await in_thread(work)
        if not texts:
            return False
        nudge = [Message("user", [text]) for text in texts]
        self.shown += self._plain(nudge)
        self.is_nudged = True
        if context.session is None:  # nobody else keeps the conversation
            context.messages = [*context.messages, *messages, *nudge]
        else:
            context.messages = nudge
        self._offer(context, tools)
        self.requests = 0
        return True

    def answer(self, updates: Sequence[AgentResponseUpdate] = ()) -> AgentResponse[Any]:
        """Return the response to it all: what the agent said and did, also after a nudge."""
        if self.final is None:
            return AgentResponse.from_updates(updates)
        if self.is_nudged:
            self.final.messages = list(self.answers)
            self.final.usage_details = self.usage
        return self.final

    def _offer(self, context: AgentContext, tools: Sequence[Mapping[str, Any]]) -> None:
        wanted = [tool["function"] for tool in tools]
        if [one["name"] for one in wanted] != list(self.own_tools):
            self.own_tools = {one["name"]: self._tool(one) for one in wanted}
        context.tools = [*self.other_tools, *self.own_tools.values()]

    def _tool(self, spec: Mapping[str, Any]) -> FunctionTool:
        """A tool for this run. It is a copy: for each that is made, OpenTelemetry keeps a meter for ever."""
        name = spec["name"]
        known, made = self.made_tools.get(name, ({}, None))
        if made is None or known != spec:
            made = FunctionTool(
                name=name,
                description=spec["description"],
                approval_mode="never_require",
                func=_no_run,
                input_model=spec["parameters"],
            )
            self.made_tools[name] = (spec, made)

        async def call(**args: Any) -> str:
            return await self.call(name, args)

        tool = copy(made)
        tool.func = call
        return tool

    async def call(self, name: str, args: object) -> str:
        """Carry out a call of the plan's tool."""
        async with self.in_turn:
            reply = await in_thread(self.desk.call, name, args)
        return reply.text

    def _instruct(self, context: AgentContext, system: str) -> None:
        options = dict(self.options)
        options.pop("tools", None)  # they are among the tools of the context
        known = getattr(context.agent, "default_options", {}).get("instructions")
        given = options.get("instructions")
        if system and system not in str(known or "") and system not in str(given or ""):
            if given and not isinstance(given, str):  # in the form of a provider
                options["instructions"] = [*_as_list(given), system]
            else:
                options["instructions"] = f"{given}\n{system}" if given else system
        context.options = options

    def _add_usage(self, result: AgentResponse[Any]) -> None:
        if self.usage is None:
            self.usage = result.usage_details
        elif result.usage_details is not None:
            from agent_framework import add_usage_details

            self.usage = add_usage_details(self.usage, result.usage_details)

    def _plain(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        return _plain(messages, self.names)


# --- requests and calls of a run -------------------------------------------------------------------------------------


class _Requests(ChatMiddleware):
    """What the model is told in the middle of a run, behind the results of its tools, and from then on."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    async def process(self, context: ChatContext, call_next: _Next) -> None:
        run = self._run
        given = list(context.messages)
        is_first = run.requests == 0
        self._see(given, is_partial=run.is_partial or bool((context.options or {}).get("conversation_id")))
        anchor = _last_call(given)
        if anchor != run.anchor:
            run.desk.answered(run)
        run.anchor = anchor
        if anchor and not is_first:
            texts = await in_thread(run.desk.before_request, list(run.shown), run=run)
            if texts:
                run.told[anchor] = [*run.told.get(anchor, []), *texts]
                run.shown += [message("user", text) for text in texts]
        context.messages = _with_told(given, run.told, getattr(context, "record_message_replacement", None))
        strategy = context.kwargs.get("compaction_strategy") or getattr(context.client, "compaction_strategy", None)
        if strategy is not None and not isinstance(strategy, _Compaction):
            context.kwargs["compaction_strategy"] = _Compaction(run, strategy)
        await call_next()

    def _see(self, given: list[Message], *, is_partial: bool) -> None:
        """Note the conversation as the model has it. `is_partial`: only what is new is sent, others have the rest."""
        run = self._run
        has_grown = 0 < run.count <= len(given) and given[run.count - 1] is run.last
        kept, run.kept = run.kept, None
        if run.requests == 0 and is_partial:
            new = []
        elif run.requests > 0 and (is_partial or has_grown):
            new = given[run.count :] if has_grown else given
            if kept is not None:
                run.shown = _plain(kept, run.names)
        else:
            new = included_messages(_with_told(given, run.told))
            run.shown = []
        run.shown += _plain(new, run.names)
        run.requests += 1
        run.count = len(given)
        run.last = given[-1] if given else None


class _Compaction:
    """A strategy of the user's, and a look at what it leaves of the conversation."""

    def __init__(self, run: _Run, strategy: Any) -> None:
        self._run = run
        self._strategy = strategy
        self.tokenizer = getattr(strategy, "tokenizer", None)

    async def __call__(self, messages: list[Message]) -> bool:
        has_changed: bool = await self._strategy(messages)
        kept = included_messages(messages)
        if has_changed or len(kept) < len(messages):
            self._run.kept = kept
        return has_changed


class _Calls(FunctionMiddleware):
    """Calls of the plan's tool are carried out, and those of other tools are reported."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    async def process(self, context: FunctionInvocationContext, call_next: _Next) -> None:
        run = self._run
        name = context.function.name
        args = _arguments(context.arguments)
        if run.own_tools.get(name) is context.function:
            if list(args) == ["raw"]:  # what the model sent was not an object
                args = args["raw"]
            context.result = await run.call(name, args)  # whatever is wrong with it is said in the answer
            return
        began = time.monotonic()
        call = _Call(run.caller)
        token = _call.set(call)
        try:
            await call_next()
        except (MiddlewareTermination, UserInputRequiredException):
            raise
        except Exception as error:
            await self._report(name, args, error_text(error), began, failed=True)
            raise
        finally:
            call.caller = None
            _call.reset(token)
        await self._report(name, args, context.result, began)

    async def _report(self, name: str, args: Any, result: Any, began: float, *, failed: bool = False) -> None:
        seconds = time.monotonic() - began

        def work() -> None:
            text, code = _result(result)
            self._run.desk.tool_used(name, args, text, failed, code, seconds=seconds)

        await in_thread(work)


async def _no_run(**_: Any) -> str:
    raise NotImplementedError("the tool of the plan belongs to a run")


def _sub_agent(own: str, agent: Any, given: str, caller: _Caller) -> str:
    """The name of an agent that another one runs: the same each time for the same session of the framework."""
    name = own
    if own == "main" or own in caller.agents:
        name = str(getattr(agent, "name", None) or "sub-agent")
    if given != caller.given:
        name = f"{name}-{crc32(given.encode('utf-8', 'surrogatepass')):08x}"
    if name in caller.agents:  # an agent that runs itself
        name = f"{name}-{len(caller.agents) + 1}"
    return name


def _prompt(given: Sequence[Message]) -> str:
    """What the user says: the end of the conversation, if a program sends all of it each time. In a workflow it is what
    the agent before has said."""
    texts: list[str] = []
    for one in reversed(given):
        if one.role not in ("user", "system"):
            break
        if one.role == "user" and one.text:
            texts.insert(0, one.text)
    if not texts and given and given[-1].role == "assistant":
        texts = [given[-1].text]
    return "\n".join(texts)


def _is_refused(given: Sequence[Message]) -> bool:
    """Whether the user did not permit a call: what an earlier run was told is not looked at."""
    for one in reversed(given):
        if one.role not in ("user", "system", "tool"):
            break
        answers = [content for content in one.contents if content.type == "function_approval_response"]
        if any(answer.approved is not True for answer in answers):
            return True
    return False


async def _history(context: AgentContext) -> list[Message]:
    """The conversation so far, as far as the agent itself keeps it."""
    session = context.session
    if session is None:
        return []
    found: list[Message] = []
    all_of_them = getattr(context.agent, "context_providers", ())
    providers = [one for one in all_of_them if isinstance(one, HistoryProvider) and one.load_messages]
    for provider in providers or [InMemoryHistoryProvider()]:  # an agent that has none is given this one
        state = session.state.get(provider.source_id, {})
        found += await provider.get_messages(session.session_id, state=state)
    return _with_told(found, _told_of(session))


def _conversation_id(context: AgentContext) -> str:
    """The id of a conversation that the model's service keeps; empty if none does."""
    options = context.options or {}
    default = getattr(context.agent, "default_options", {})
    kept = context.session.service_session_id if context.session is not None else None
    return str(kept or options.get("conversation_id") or default.get("conversation_id") or "")


def _told_of(session: AgentSession | None) -> dict[str, list[str]]:
    """What the model was told in this session, by the id of the call behind whose result it is."""
    if session is None:
        return {}
    state = session.state.setdefault(_STATE, {})
    if not isinstance(state, dict):
        return {}
    told = state.setdefault("told", {})
    return told if isinstance(told, dict) else {}


def _with_told(
    messages: Sequence[Message], told: Mapping[str, list[str]], record: Callable[..., object] | None = None
) -> list[Message]:
    """The messages, and behind results of tools what the model was told there. `record`: is given each that is added,
    and the result that it belongs to, so that they are summarized together."""
    if not told:
        return list(messages)
    found: list[Message] = []
    for number, one in enumerate(messages):
        found.append(one)
        id = _last_call([one])
        texts = told.get(id, [])
        behind = [later.text for later in messages[number + 1 : number + 1 + len(texts)]]
        if texts == behind or not included_messages([one]):  # a history has kept them, or a compaction cut them
            continue
        for place, text in enumerate(texts):
            added = Message("user", [text], message_id=f"{id}-{place}")
            found.append(added)
            if record is not None:
                record(added, one)
    return found


def _last_call(messages: Sequence[Message]) -> str:
    """The id of the call whose result a conversation ends with; empty if it does not. The framework's own id, if it has
    one: those of models may come again."""
    if not messages or not messages[-1].contents:
        return ""
    last = messages[-1].contents[-1]
    return str(last.id or last.call_id or "") if last.type == "function_result" else ""


def _plain(messages: Sequence[Message], names: dict[str, str]) -> list[dict[str, Any]]:
    """Messages as a desk reads them. `names`: the tools by the ids of calls, which are added."""
    found: list[dict[str, Any]] = []
    for one in messages:
        texts, calls, results = [], [], []
        for content in one.contents:
            id = str(content.call_id or "")
            if content.type == "text":
                texts.append(content.text or "")
            elif content.type == "function_call":
                names[id] = content.name or ""
                calls.append((id, content.name or "", content.arguments))
            elif content.type == "function_result":
                text = str(content.result or "")
                results.append(message("tool", text, tool=names.get(id, ""), failed=bool(content.exception)))
        if texts or calls:
            found.append(message(str(one.role), "\n".join(texts), calls))
        found += results
    return found


def _open_items(desk: SafeDesk) -> str:
    return "\n".join([item.text for item in desk.load().open_items])


def _shell(agent: Any) -> str:
    """The name of the agent's tool that runs commands."""
    tools = getattr(agent, "default_options", {}).get("tools") or ()
    names = [str(tool.name) for tool in tools if getattr(tool, "kind", None) == "shell"]
    return names[0] if names else "shell"


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return list(value)
    return [value]


def _arguments(given: Any) -> Any:
    if isinstance(given, Mapping):
        return dict(given)
    return given.model_dump(exclude_unset=True)


def _result(result: Any) -> tuple[str, int | None]:
    """The text of a tool's result, and the exit code in it."""
    if isinstance(result, str):
        return result, _exit_code_in(result)
    texts: list[str] = []
    codes = [exit_code(result)]
    for content in _as_list(result):
        outputs = getattr(content, "outputs", None) or [content]
        for one in outputs:
            words = [getattr(one, name, None) for name in ("text", "stdout", "stderr")]
            texts += [word for word in words if isinstance(word, str)]
            codes.append(exit_code(one))
        if isinstance(getattr(content, "text", None), str):
            codes.append(_exit_code_in(content.text))
    known = [code for code in codes if code is not None]
    text = "\n".join(texts) if texts else str(result)
    return text, known[-1] if known else None


def _exit_code_in(text: str) -> int | None:
    """The exit code of a result that the framework has written as JSON."""
    if not text.startswith("{"):
        return None
    try:
        return exit_code(json.loads(text))
    except (ValueError, RecursionError):
        return None


# --- the framework's own todos ---------------------------------------------------------------------------------------


_Key = tuple[int, str, str]  # a store, the id of a session, and the source of the list
_Loaded: TypeAlias = "Mapping[int, punchlist.Item]"  # a list as it was loaded, by the numbers that the model knows
_loaded: ContextVar[tuple[_Key, _Loaded] | None] = ContextVar("punchlist_agent_framework_loaded", default=None)


class TodoStore(_TodoStore):
    """A store for the framework's `TodoProvider`: its list is a plan, which the user may change at any time.

    `store`: the address of a store, such as `sqlite:plan.db`; by default the store of the settings. `session`: whose
    plan it is; by default that of the framework's session. `agent`: the name of the agent in it.

        provider = TodoProvider(store=TodoStore("sqlite:plan.db"))
    """

    def __init__(self, store: str = "", *, session: str = "", agent: str = "main") -> None:
        self._desks = SafeDesks(store, session=session, agent=agent)
        self._latest: dict[_Key, _Loaded] = {}

    def close(self) -> None:
        """Close the store. The next use opens it again."""
        self._desks.close()

    async def load_state(self, session: AgentSession, *, source_id: str) -> tuple[list[TodoItem], int]:
        """Return the list as it is now, and the next number. Items that were dropped are not in it."""
        plan = await in_thread(self._desk(session, source_id).load)
        shown = _shown(plan, _numbers(session, source_id))
        self._remember((id(self), session.session_id, source_id), shown)
        return [_todo(number, item) for number, item in shown.items()], max([plan.last_id, *shown]) + 1

    async def save_state(self, session: AgentSession, items: list[TodoItem], *, next_id: int, source_id: str) -> None:
        """Apply what differs from the list as it was loaded. What the user changed since then stays."""
        key = (id(self), session.session_id, source_id)
        loaded = self._recall(key)
        numbers = _numbers(session, source_id)
        wanted = list(items)
        made: dict[int, str] = {}

        def edit(plan: punchlist.Plan) -> punchlist.Plan:
            made.clear()  # an edit is made again if somebody else saves first
            known = loaded
            if known is None:  # what is not in a list that nobody has loaded was not taken off it
                there = _shown(plan, numbers)
                known = {todo.id: there[todo.id] for todo in wanted if todo.id in there}
            return _merged(plan, known, wanted, made)

        desk = self._desk(session, source_id)
        plan = await in_thread(desk.change, edit, by=self._agent(source_id))
        if plan is None:
            raise RuntimeError("the list was not saved: its store cannot be reached.")
        _renumber(plan, numbers, made)
        there = _shown(plan, numbers)
        known = {**there, **(loaded or {})}
        self._remember(key, {todo.id: _as_saved(known[todo.id], todo) for todo in wanted if todo.id in known})

    def _agent(self, source_id: str) -> str:
        return self._desks.agent if source_id == _TODO else source_id

    def _desk(self, session: AgentSession, source_id: str) -> SafeDesk:
        return self._desks.of(session.session_id, self._agent(source_id))

    def _remember(self, key: _Key, loaded: _Loaded) -> None:
        """Remember a list for whoever saves it: the task that has loaded it, or else anybody."""
        _loaded.set((key, loaded))
        self._latest.pop(key, None)
        self._latest[key] = loaded
        if len(self._latest) > _MOST:
            del self._latest[next(iter(self._latest))]

    def _recall(self, key: _Key) -> _Loaded | None:
        own = _loaded.get()
        if own is not None and own[0] == key:
            return own[1]
        return self._latest.get(key)


def _numbers(session: AgentSession, source_id: str) -> dict[str, int]:
    """The numbers of items, by their ids, where this conversation knows them by others than their ids."""
    state = session.state.setdefault(source_id, {})
    if not isinstance(state, dict):
        return {}
    numbers = state.setdefault("numbers", {})
    return numbers if isinstance(numbers, dict) else {}


def _number(id: str, numbers: Mapping[str, int]) -> int:
    return numbers.get(id, int(id))


def _shown(plan: punchlist.Plan, numbers: Mapping[str, int]) -> dict[int, punchlist.Item]:
    found: dict[int, punchlist.Item] = {}
    for item in plan.items:
        number = _number(item.id, numbers)
        if number in found:  # a session of another plan has come here
            number = max(plan.last_id, *found) + 1
        if item.status != "abandoned":
            found[number] = item
    return found


def _todo(number: int, item: punchlist.Item) -> TodoItem:
    notes = list(item.notes)
    if item.status == "blocked":
        notes.append(f"blocked: {item.reason}" if item.reason else "blocked")
    return TodoItem(number, item.text, "\n".join(notes) or None, item.status == "completed")


def _as_saved(item: punchlist.Item, todo: TodoItem) -> punchlist.Item:
    """An item as whoever has saved a list believes it to be: that is what the next list is compared with."""
    known = _todo(todo.id, item)
    if todo.title != known.title:
        item = item._replace(text=todo.title)
    if todo.description != known.description:
        item = item._replace(notes=(todo.description,) if todo.description else (), reason="")
    if todo.is_complete != known.is_complete:
        item = item._replace(status="completed" if todo.is_complete else "pending")
    return item


def _merged(plan: punchlist.Plan, loaded: _Loaded, wanted: Sequence[TodoItem], made: dict[int, str]) -> punchlist.Plan:
    """The plan with what was changed in a list since it was loaded. `made`: gets the ids of new items, by number."""
    first = plan
    there = {item.id for item in plan.items}
    for todo in wanted:
        item = loaded.get(todo.id)
        if item is None:
            notes = [todo.description] if todo.description and todo.description.strip() else []
            plan = punchlist.ops.add(plan, todo.title, notes=notes)
            made[todo.id] = str(plan.last_id)
        elif item.id in there:  # the user may have removed it
            plan = _updated(plan, item, todo)
    for number in loaded.keys() - {todo.id for todo in wanted}:
        item = loaded[number]
        if item.id in there and _is_as_before(punchlist.ops.find(plan, item.id), item):
            plan = punchlist.ops.drop(plan, item.id, why=_REMOVED)
    before = [item.id for item in loaded.values()]
    plan = _ordered(plan, before, [loaded[todo.id].id for todo in wanted if todo.id in loaded])
    if plan == first:
        return plan
    following = punchlist.ops.next_ready(plan)
    if plan.active is None and following is not None:
        plan = punchlist.ops.start(plan, following.id)
    return plan


def _updated(plan: punchlist.Plan, before: punchlist.Item, todo: TodoItem) -> punchlist.Plan:
    """The plan with what was changed in an item since it was loaded. What the user changed in it, too, stays."""
    now = punchlist.ops.find(plan, before.id)
    known = _todo(todo.id, before)
    if todo.title != known.title and now.text == before.text:
        plan = punchlist.ops.rename(plan, now.id, todo.title)
    description = (todo.description or "").strip()
    if description and todo.description != known.description:
        added = description.removeprefix(known.description or "").strip()
        plan = punchlist.ops.note(plan, now.id, added or description)
    is_same = now.status == before.status or {now.status, before.status} <= {"pending", "in_progress"}
    if todo.is_complete and not known.is_complete and is_same:
        plan = punchlist.ops.complete(plan, now.id)
    is_users = now.closed is not None and now.closed.by == "user"
    if known.is_complete and not todo.is_complete and is_same and not is_users:
        plan = punchlist.ops.reopen(plan, now.id)
    return plan


def _is_as_before(now: punchlist.Item, before: punchlist.Item) -> bool:
    return (now.text, now.notes, now.status) == (before.text, before.notes, before.status)


def _ordered(plan: punchlist.Plan, before: list[str], wanted: list[str]) -> punchlist.Plan:
    """The plan in the wanted order, if that is another than before and the user has not changed it, too."""
    kept = [id for id in before if id in set(wanted)]
    now = [item.id for item in plan.items if item.id in set(wanted)]
    if wanted == kept or now != kept:
        return plan
    for first, second in pairwise(wanted):
        plan = punchlist.ops.move(plan, second, after=first)
    return plan


def _renumber(plan: punchlist.Plan, numbers: dict[str, int], made: Mapping[int, str]) -> None:
    """Let new items keep the numbers that the model was told, also where somebody else's have these as their ids."""
    for number, id in made.items():
        if int(id) == number:
            continue
        for item in plan.items:
            if item.id != id and _number(item.id, numbers) == number:
                numbers[item.id] = int(id)
        numbers[id] = number
