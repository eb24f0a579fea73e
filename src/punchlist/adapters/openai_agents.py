"""A plan for agents of the OpenAI Agents SDK: its tools, and a runner that continues.

with plan("sqlite:plan.db") as p:
    agent = Agent(name="Coder", instructions="You fix bugs.", tools=[shell, *p.tools])
    result = await p.run(agent, "The parser drops a line.")
"""

from __future__ import annotations

import dataclasses
import json
from asyncio import CancelledError
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack
from weakref import ref
from zlib import crc32

import punchlist

from .safe_desk import SafeDesk, SafeDesks, exit_code, in_thread, logger, message

try:
    from agents import (
        Agent,
        FunctionTool,
        InputGuardrailTripwireTriggered,
        InputItem,
        ItemHelpers,
        MessageOutputItem,
        RunConfig,
        RunHooks,
        Runner,
        RunResult,
        RunResultStreaming,
        RunState,
        Tool,
        default_tool_error_function,
    )
    from agents.lifecycle import RunHooksBase
    from agents.run import CallModelData, CallModelInputFilter, ModelInputData, RunOptions
    from agents.tool_context import ToolContext
except ImportError as error:
    raise ImportError(f"{error}; pip install 'punchlist[openai-agents]' has what this needs") from None

_MOST = 1024  # sessions of which something is remembered
_TALKS = 63  # conversations in one run that are remembered, and one more
_GOING = 7  # runs of one session at once that are remembered, and one more
_UNNAMED = "default"  # the session of runs that have none
_MAIN = "main"
_REFUSED = (
    "Not saved: it is not known whose plan this is. Go on without a plan, and tell the user that one cannot be kept."
)
_SHELLS = ("shell", "bash", "local_shell", "exec_command", "run_command", "run_shell_command", "terminal", "execute")
_FAILED = str(default_tool_error_function(None, Exception()))  # type: ignore[arg-type]  # it looks at neither

_Result = TypeVar("_Result", RunResult, RunResultStreaming)
if TYPE_CHECKING:
    from agents import TResponseInputItem

    _Input = str | list[TResponseInputItem] | RunState[Any]


def plan(store: str = "", *, session: str = "", agent: str = "main", dialect: str = "native") -> AgentPlan:
    """Return what puts a plan into agents of the SDK. Use it with `with` or `async with`.

    `store`: as of `punchlist.open`. `session`: whose plan it is; by default the id of the SDK's session that a run has,
    else its `conversation_id`, else the `group_id` of its RunConfig. `agent`: by default the first agent's plan is
    kept under the name "main", and those of the others under their own names; with another name, the agent of that
    name and all others have theirs under their own. `dialect`: the tools that the model is given.
    """
    return AgentPlan(SafeDesks(store, session=session, agent=agent, dialect=dialect))


class AgentPlan:
    """The plans of some agents: tools for them, and a runner that continues."""

    def __init__(self, desks: SafeDesks) -> None:
        self._desks = desks
        self._mains: dict[str, str] = {}  # by session, the agent whose plan is the first one's
        self._runs: dict[str, list[_Run]] = {}  # by session, the last one, which may be resumed, and those still going
        self._own = _Run(self)  # for runs of a runner that is not ours
        self._lock = Lock()
        self._has_warned = False
        scratch = punchlist.Desk(punchlist.MemoryStore(), dialect=desks.dialect)
        worded = {one["name"]: one["description"] for one in scratch.tools("mcp")}
        defined = [one for one in scratch.dialect.tools if one.enabled]
        self._names = frozenset(one.name for one in defined)
        self.instructions = scratch.system_prompt()
        self.tools: list[Tool] = [
            self._tool(one.name, worded.get(one.name, one.description), dict(one.schema), one.name in worded)
            for one in defined
        ]

    # --- for a user's own runner -------------------------------------------------------------------------------------

    @property
    def hooks(self) -> RunHooks[Any]:
        """Hooks that report calls of other tools, for `Runner.run(..., hooks=...)` and `agent.as_tool(..., hooks=...)`.
        `run` has them already."""
        return _Hooks(self, None)

    async def input_filter(self, data: CallModelData[Any]) -> ModelInputData:
        """Tell the model what it should know, for `RunConfig(call_model_input_filter=...)`. `run` does it already."""
        return await self._filter(data, self._current(), None)

    # --- the runner --------------------------------------------------------------------------------------------------

    async def run(self, agent: Agent[Any], input: _Input, **options: Unpack[RunOptions[Any]]) -> RunResult:
        """Run an agent as `Runner.run` does, and continue while it is nudged. The result is of all of it."""
        course = _Course(self, agent, input, options)
        with course.ending():
            while True:
                try:
                    with course.active():
                        result = await Runner.run(course.agent, course.input, **course.options)
                except InputGuardrailTripwireTriggered:
                    if course.is_first:
                        raise
                    return course.before_nudge(RunResult)
                if not await in_thread(course.is_continued, result):
                    return course.all_of(result)

    def run_sync(self, agent: Agent[Any], input: _Input, **options: Unpack[RunOptions[Any]]) -> RunResult:
        """Run an agent as `Runner.run_sync` does, and continue while it is nudged."""
        course = _Course(self, agent, input, options)
        with course.ending():
            while True:
                try:
                    with course.active():
                        result = Runner.run_sync(course.agent, course.input, **course.options)
                except InputGuardrailTripwireTriggered:
                    if course.is_first:
                        raise
                    return course.before_nudge(RunResult)
                if not course.is_continued(result):
                    return course.all_of(result)

    def run_streamed(self, agent: Agent[Any], input: _Input, **options: Unpack[RunOptions[Any]]) -> StreamedRun:
        """Run an agent as `Runner.run_streamed` does. Its `stream_events()` goes on while the agent is nudged."""
        return StreamedRun(_Course(self, agent, input, options))

    # --- opening and closing -----------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the store. A run after that opens it again."""
        self._desks.close()

    def __enter__(self) -> AgentPlan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> AgentPlan:
        return self

    async def __aexit__(self, *_: object) -> None:
        await in_thread(self.close)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _tool(self, name: str, description: str, schema: dict[str, Any], is_first: bool) -> FunctionTool:
        async def call(context: ToolContext[Any], arguments: str) -> str:
            run = self._current()
            desk = await self._desk(run, context.agent)
            if desk is None:
                _keep(run.failed, context.tool_call_id, True)
                return _REFUSED
            reply = await in_thread(desk.call, name, _parsed(arguments))
            if reply.is_error:
                _keep(run.failed, context.tool_call_id, True)
            return reply.text

        async def is_offered(context: object, agent: Any) -> bool:
            run = self._current()
            desk = None if run.session is None else await self._desk(run, agent)
            if desk is None:
                return is_first
            offered = await in_thread(desk.tools, "mcp")
            return any(one["name"] == name for one in offered)

        return FunctionTool(
            name=name,
            description=description,
            params_json_schema=schema,
            on_invoke_tool=call,
            strict_json_schema=False,
            is_enabled=is_offered,
        )

    def _current(self) -> _Run:
        """The run that this is called from."""
        for run in reversed(_RUNS.get()):
            if run.plan is self:
                return run
        return self._own

    async def _desk(self, run: _Run, agent: Any) -> SafeDesk | None:
        """The desk of an agent in a run; None where it is not known whose plan it is."""
        name = str(getattr(agent, "name", ""))
        if run.session is not None and name not in run.names:
            await in_thread(self._find_desk, run, name)
        return self._find_desk(run, name)

    def _find_desk(self, run: _Run, name: str) -> SafeDesk | None:
        session = run.session
        if session is None:
            self._warn()
            return None
        kept = run.names.get(name)
        if kept is None:
            kept = self._name_of(session, name)
            _keep(run.names, name, kept)
        return self._desks.of(session, kept)

    def _name_of(self, session: str, name: str) -> str:
        """Under which name the plan of an agent is kept. The first in a session has the plan that `plan` was asked for,
        unless it has one under its own name: then another was first."""
        if self._desks.agent != _MAIN:
            return name
        with self._lock:
            main = self._mains.get(session)
            if main is None:
                if self._desks.of(session).change(lambda now: now) is None:
                    return _MAIN  # the store has failed, and the user was warned
                if self._desks.of(session, name).load().id:
                    return name
                main = name
            _keep(self._mains, session, main)
        return _MAIN if name == main else name

    def _warn(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "no plan is kept: outside of p.run it is not known which session an agent works in; "
                "use p.run, or name it: plan(..., session=...)"
            )

    def _begin(self, run: _Run) -> None:
        """Remember a run as soon as its session has a name, and take what earlier ones have left for it."""
        session = run.session
        if run.has_begun or session is None:
            return
        run.has_begun = True
        outer, run.outer = run.outer, None
        if not run.is_named:
            return
        known = self._runs.get(session, [])
        ended = [one for one in known if one.is_ended]
        if ended and run.is_resumed:
            last = ended[-1]
            run.talks, run.heard, run.reported = last.talks, last.heard, last.reported
            run.is_served = run.is_served or last.is_served
        if ended and run.is_served:
            run.served = ended[-1].served
        if outer is None or outer.session != session:  # not inside of another that may be resumed
            going = [one for one in known if not one.is_ended]
            _keep(self._runs, session, [*going[-_GOING:], run])

    def _has_plan(self, agent: Any) -> bool:
        return any(getattr(tool, "name", "") in self._names for tool in agent.tools)

    async def _filter(self, data: CallModelData[Any], run: _Run, theirs: CallModelInputFilter | None) -> ModelInputData:
        self._begin(run)
        raw = list(data.model_data.input)
        name = data.agent.name
        is_served = run.is_served and name in run.agents
        talk = run.find_talk(run.served + raw if is_served else raw)
        made = ModelInputData(raw if is_served else talk.with_told(raw), data.model_data.instructions)
        if theirs is not None:
            given = CallModelData(made, data.agent, data.context)
            answer = theirs(given)
            made = await answer if isinstance(answer, Awaitable) else answer
            if not isinstance(made, ModelInputData):
                return made  # the SDK says what is wrong with it
        desk = await self._desk(run, data.agent) if self._has_plan(data.agent) else None
        if desk is None:
            return made
        before = run.served if is_served else []
        prompt = run.take_prompt(name, raw)
        uses = run.find_uses(name, talk.take_new([*before, *raw]), self._names)
        shown = [*before, *made.input]
        system, texts = await in_thread(_ask, desk, run, uses, prompt, shown, _shell_of(data.agent))
        told: list[Any] = [{"role": "user", "content": text} for text in texts]
        if is_served:
            run.served = [*before, *made.input, *told]
        elif told:
            talk.told.append(_Told(name, len(raw), told))
        instructions = made.instructions or ""
        if not any(text and text in instructions for text in (system, self.instructions)):
            instructions = f"{instructions}\n\n{system}".strip()
        return ModelInputData([*made.input, *told], instructions or None)


class StreamedRun:
    """A streamed run that continues. It has what the SDK's `RunResultStreaming` has, of the part that runs now and, in
    the end, of all of it."""

    def __init__(self, course: _Course) -> None:
        self._course = course
        self._is_cancelled = False
        self.result = self._start()

    def _start(self) -> RunResultStreaming:
        with self._course.active():
            return Runner.run_streamed(self._course.agent, self._course.input, **self._course.options)

    async def stream_events(self) -> AsyncIterator[Any]:
        """Yield events of the SDK, those after a nudge as well."""
        run = self._course.run
        run.come_back()
        is_left = False
        try:
            async with aclosing(self._events()) as events:  # type: ignore[type-var]
                async for event in events:
                    yield event
        except (GeneratorExit, CancelledError):
            is_left = True
            run.leave(self.result)
            raise
        finally:
            if not is_left:
                run.end()

    async def _events(self) -> AsyncIterator[Any]:
        while True:
            try:
                async with aclosing(self.result.stream_events()) as events:  # type: ignore[type-var]
                    async for event in events:
                        yield event
            except InputGuardrailTripwireTriggered:
                if self._course.is_first:
                    raise
                self.result = self._course.before_nudge(RunResultStreaming)
                return
            if not await in_thread(self._course.is_continued, self.result, self._is_cancelled):
                self._course.all_of(self.result)
                return
            self.result = self._start()

    def cancel(self, mode: Any = "immediate") -> None:
        """End the run, as `RunResultStreaming.cancel` does. It is not nudged any more."""
        self._is_cancelled = True
        self.result.cancel(mode)

    def __getattr__(self, name: str) -> Any:
        if name == "result":
            raise AttributeError(name)
        return getattr(self.result, name)


# --- one run ---------------------------------------------------------------------------------------------------------


class _Told:
    """What a model was told, and where in a conversation."""

    __slots__ = ("agent", "at", "before", "is_heard", "items")

    def __init__(self, agent: str, at: int, items: list[Any]) -> None:
        self.agent = agent
        self.at = at  # behind how many of the SDK's own items
        self.items = items
        self.is_heard = False  # the model has answered to it
        self.before: object = None  # what it said, until this is in the result of the run, too


class _Talk:
    """One conversation with a model in a run, as it was at the last request: it is known again by its end."""

    def __init__(self, first: int) -> None:
        self.first = first  # a digest of the first item
        self.length = self.new_from = 0
        self.last = 0  # a digest of the last item
        self.told: list[_Told] = []

    def is_begin_of(self, first: int, raw: list[Any]) -> bool:
        """Whether a conversation is this one, and longer."""
        return self.first == first and self.length < len(raw) and self.last == _digest(raw[self.length - 1])

    def take_new(self, raw: list[Any]) -> list[Any]:
        """The items since the last request; none at the first."""
        return raw[self.new_from :]

    def with_told(self, raw: list[Any]) -> list[Any]:
        """A conversation as the SDK has it, with what the model was told in its place."""
        found: list[Any] = []
        begin = 0
        for told in self.told:
            found += [*raw[begin : told.at], *told.items]
            begin = told.at
        return [*found, *raw[begin:]]


class _Use(NamedTuple):
    """A call of another tool, as it is reported."""

    name: str
    args: Any
    result: Any = ""
    failed: bool = False
    exit: int | None = None
    folder: str | None = None


class _Run:
    """One run of a runner, with the agents it hands over to and those that are tools of them."""

    def __init__(
        self,
        plan: AgentPlan,
        sdk_session: Any = None,
        named: str | None = None,
        *,
        is_served: bool = False,
        is_resumed: bool = False,
    ) -> None:
        self.plan = plan
        self.sdk_session = sdk_session
        self._named = named  # what else the run calls its conversation; None if that cannot be known
        self._session = plan._desks.session or None
        self.is_named = bool(self._session)
        self.is_resumed = is_resumed
        self.has_begun = False
        self.outer: _Run | None = None  # until it has begun
        self._has_ended = False
        self._left: ref[Any] | None = None
        self.names: dict[str, str] = {}  # by agent, the name under which its plan is kept
        self.is_served = is_served  # the provider keeps the conversation, and a request has only what is new
        self.served: list[Any] = []  # that conversation, as far as it was seen here
        self.talks: list[_Talk] = []  # also those of agents that are tools
        self.shown: list[_Told] = []  # of these, what the request has that is on its way
        self.agents: set[str] = set()  # whose hooks are called: not those that are tools
        self.heard: set[str] = set()  # agents who know what the user said
        self.reported: dict[str, bool] = {}  # by the ids of calls
        self.failed: dict[str, bool] = {}  # the same, of calls of the plan that were refused

    @property
    def session(self) -> str | None:
        """Whose plan it is; None if not known, or not yet: some sessions of the SDK have no name before their first
        use."""
        if self._session is None and self._named is not None:
            try:
                found = getattr(self.sdk_session, "session_id", None)
            except (ValueError, RuntimeError):  # not yet
                return None
            name = str(found or self._named)
            self.is_named = bool(name)
            self._session = name or _UNNAMED
        return self._session

    @property
    def is_ended(self) -> bool:
        """Whether nothing of it goes on any more."""
        if self._left is not None:
            stream = self._left()
            return stream is None or stream.is_complete
        return self._has_ended

    def end(self) -> None:
        self._has_ended = True
        self.sdk_session = None

    def leave(self, stream: RunResultStreaming) -> None:
        """Nobody reads its stream any more. It may go on by itself."""
        self._left = ref(stream)

    def come_back(self) -> None:
        """Somebody reads its stream."""
        self._left = None

    @property
    def told(self) -> list[_Told]:
        """What models were told in this run, wherever."""
        return [told for talk in self.talks for told in talk.told]

    def find_talk(self, raw: list[Any]) -> _Talk:
        """The conversation that a request continues, or a new one. Of several, the longest, and of these the latest."""
        first = _digest(raw[0]) if raw else 0
        found = None
        for talk in self.talks:
            if talk.is_begin_of(first, raw) and (found is None or talk.length >= found.length):
                found = talk
        if found is None:
            found = _Talk(first)
            self.talks = [*self.talks[-_TALKS:], found]
            found.length = len(raw)
        found.new_from, found.length = found.length, len(raw)
        found.last = _digest(raw[-1]) if raw else 0
        return found

    def desks(self) -> list[SafeDesk]:
        """The desks of its agents, as far as it has asked for them."""
        if self.session is None:
            return []
        return [self.plan._desks.of(self.session, name) for name in self.names.values()]

    def keep_told(self) -> None:
        """What the models were told is in the conversation that the SDK, or the result of the run, has."""
        for desk in self.desks():
            desk.kept(self)

    async def keep_shown(self, response: Any) -> None:
        """The model has answered: what it was told before that is part of the conversation now."""
        shown, self.shown = self.shown, []
        for told in shown:
            told.is_heard = True
            if response.output:
                told.before = response.output[0]
        if self.is_served:
            self.served = [*self.served, *response.to_input_items()]
        elif self.sdk_session is not None:
            for told in shown:  # the SDK has saved what is before, and has not what comes now
                await self.sdk_session.add_items(told.items)
            self.keep_told()

    def take_prompt(self, name: str, raw: list[Any]) -> str | None:
        """What the user has said to an agent that does not know it yet; None if nothing."""
        is_new = name not in self.heard
        self.heard.add(name)
        said: list[str] = []
        for item in reversed(raw):
            if _kind(item) != "user":
                if said or not is_new:
                    break
                continue
            said.append(_text(item.get("content")))
        if not said:
            return None
        return "\n".join(reversed(said))

    def find_uses(self, name: str, items: list[Any], ours: frozenset[str]) -> list[_Use]:
        """Calls of other tools in new items that no hook has reported."""
        calls = {_id(item): item for item in items if _kind(item).endswith("_call")}
        found: list[_Use] = []
        for item in items:
            call = calls.get(_id(item))
            if call is None or not _kind(item).endswith("_output") or _id(item) in self.reported:
                continue
            if _kind(call) in _NATIVE:
                found += _NATIVE[_kind(call)](call, item)
            elif name not in self.agents and call.get("name") not in ours and "arguments" in call:
                found.append(_function_use(str(call.get("name")), call["arguments"], _text(item.get("output"))))
        return found


_RUNS: ContextVar[tuple[_Run, ...]] = ContextVar("punchlist_runs", default=())


class _Course:
    """A run from the user's words to the end, with every nudge on the way."""

    def __init__(self, plan: AgentPlan, agent: Agent[Any], input: _Input, options: Mapping[str, Any]) -> None:
        self.plan = plan
        self.agent = agent
        self.input = input
        self.options: dict[str, Any] = dict(options)
        self._parts: list[Any] = []  # results so far, and the nudge after each
        self._is_plain = True
        self._left = self.options.get("max_turns")
        self.run = self._make_run()
        self.run.agents.add(agent.name)
        self._set_config()
        hooks = self.options.get("hooks")
        if hooks is None or isinstance(hooks, RunHooksBase):
            self.options["hooks"] = _Hooks(plan, self.run, hooks)

    @property
    def is_first(self) -> bool:
        """Whether nobody was nudged yet."""
        return not self._parts

    @contextmanager
    def ending(self) -> Iterator[None]:
        """What happens to all of it ends here."""
        try:
            yield
        finally:
            self.run.end()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let the tools know which run they are called in."""
        token = _RUNS.set((*_RUNS.get(), self.run))
        try:
            yield
        finally:
            _RUNS.reset(token)

    def is_continued(self, result: RunResult | RunResultStreaming, is_cancelled: bool = False) -> bool:
        """Look at how a run has ended, and prepare the next if the agent is nudged."""
        self._place_told(result)
        items = result.to_input_list(mode="normalized")
        is_plain = items == result.to_input_list()  # otherwise a handoff has changed the history
        self._is_plain = self._is_plain and is_plain
        nudge = "" if is_cancelled else self._nudge(result)
        if not nudge:
            return False
        item: Any = {"role": "user", "content": nudge}
        self._parts.append((result, item))
        self.agent = result.last_agent
        self._drop_guardrails()
        if self.run.sdk_session is not None:
            self.input = nudge
        elif self.run.is_served:
            self.input = nudge
            if self.options.get("conversation_id") is None:
                self.options["previous_response_id"] = result.last_response_id
        else:
            if not is_plain:
                items = self.run.find_talk(items).with_told(items)
            self.input = [*items, item]
        self.run.talks = []  # what was told is part of the history that the next begins with
        return True

    def all_of(self, result: _Result) -> _Result:
        """The last result, with what came before the nudges as well."""
        self.run.keep_told()
        for earlier, nudge in reversed(self._parts):
            if earlier.context_wrapper.usage is not result.context_wrapper.usage:
                result.context_wrapper.usage.add(earlier.context_wrapper.usage)
            if self._is_plain and not result.interruptions:  # what it is continued from is its items
                _prepend(result, earlier, nudge)
        return result

    def before_nudge(self, kind: type[_Result]) -> _Result:
        """What there was before a nudge that a guardrail of the agent has refused."""
        logger.info("a guardrail has refused a nudge; the run ends as it was before")
        result, _ = self._parts.pop()
        assert isinstance(result, kind)
        return self.all_of(result)

    def _make_run(self) -> _Run:
        options = self.options
        sdk_session = options.get("session")
        served = ("conversation_id", "previous_response_id", "auto_previous_response_id")
        is_served = any(options.get(name) for name in served)
        is_resumed = isinstance(self.input, RunState)
        made = _Run(self.plan, sdk_session, _name_in(options), is_served=is_served, is_resumed=is_resumed)
        around = self.plan._current()
        made.outer = None if around is self.plan._own else around
        self.plan._begin(made)
        return made

    def _set_config(self) -> None:
        config = self.options.get("run_config")
        if config is None:
            config = {}
        theirs = config.get("call_model_input_filter") if isinstance(config, dict) else config.call_model_input_filter
        if theirs == self.plan.input_filter:
            theirs = None

        async def filter(data: CallModelData[Any]) -> ModelInputData:
            return await self.plan._filter(data, self.run, theirs)

        self._replace_config(config, call_model_input_filter=filter)

    def _replace_config(self, config: Any, **changes: Any) -> None:
        if isinstance(config, RunConfig):
            self.options["run_config"] = dataclasses.replace(config, **changes)
        else:
            self.options["run_config"] = {**config, **changes}

    def _drop_guardrails(self) -> None:
        """What the user said was looked at; a nudge is not the user's."""
        self._replace_config(self.options["run_config"], input_guardrails=None)

    def _nudge(self, result: RunResult | RunResultStreaming) -> str:
        if result.interruptions or not result.new_items:
            return ""
        last = result.new_items[-1]
        if not isinstance(last, MessageOutputItem) or not self.plan._has_plan(result.last_agent):
            return ""  # a tool has ended the run
        if self._left is not None:
            self._left -= len(result.raw_responses)
            if self._left < 1:
                return ""
            self.options["max_turns"] = self._left
        desk = self.plan._find_desk(self.run, result.last_agent.name)
        if desk is None:
            return ""
        return desk.turn_ended(ItemHelpers.text_message_output(last))

    def _place_told(self, result: RunResult | RunResultStreaming) -> None:
        """Put what the model was told into what the run has made, so that a list made of it is the conversation."""
        config = self.options["run_config"]
        if isinstance(config, RunConfig) and config.nest_handoff_history:
            return
        waiting = [told for told in self.run.told if told.before is not None]
        items: list[Any] = []
        for item in result.new_items:
            for told in waiting:
                if told.before is item.raw_item:
                    told.before = None
                    items += [InputItem(agent=item.agent, raw_item=one) for one in told.items]
            items.append(item)
        if len(items) > len(result.new_items):
            result.new_items = items


def _prepend(result: Any, earlier: Any, nudge: Any) -> None:
    """Let a result begin with an earlier one, and the nudge after it."""
    result.input = earlier.input
    result.new_items = [*earlier.new_items, InputItem(agent=earlier.last_agent, raw_item=nudge), *result.new_items]
    result.raw_responses = [*earlier.raw_responses, *result.raw_responses]
    for name in ("input", "output", "tool_input", "tool_output"):
        field = f"{name}_guardrail_results"
        setattr(result, field, [*getattr(earlier, field), *getattr(result, field)])


class _Hooks(RunHooks[Any]):
    """Report calls of other tools, keep what was told, and pass everything on to the user's own hooks."""

    def __init__(self, plan: AgentPlan, run: _Run | None, theirs: RunHooks[Any] | None = None) -> None:
        self._plan = plan
        self._known = run
        self._theirs: RunHooks[Any] = theirs or RunHooks()

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        run = self._known
        if run is not None:
            last = [id(item) for item in input_items[-8:]]
            run.shown = [told for told in run.told if id(told.items[0]) in last and not told.is_heard]
        await self._note_refusal(run or self._plan._current(), context, agent, input_items)
        await self._theirs.on_llm_start(context, agent, system_prompt, input_items)

    async def _note_refusal(self, run: _Run, context: Any, agent: Any, items: Sequence[Any]) -> None:
        """Report it if the model is about to be told that the user did not permit a call."""
        ids = _answered(items)
        if not ids or not self._plan._has_plan(agent):
            return
        names = {_id(item): _tool_name(item) for item in (*run.served, *items) if _kind(item).endswith("_call")}
        if any(context.is_tool_approved(names.get(one, ""), one) is False for one in ids):
            desk = await self._plan._desk(run, agent)
            if desk is not None:
                await in_thread(desk.tool_refused)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        run = self._known
        if run is not None:
            for desk in run.desks():
                desk.answered(run)
            await run.keep_shown(response)
        await self._theirs.on_llm_end(context, agent, response)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        is_other = isinstance(context, ToolContext) and context.tool_name == tool.name not in self._plan._names
        if is_other:
            run = self._known or self._plan._current()
            _keep(run.reported, context.tool_call_id, True)
            desk = await self._plan._desk(run, agent)
            if desk is not None:
                use = _function_use(context.tool_name, context.tool_arguments, result)
                await in_thread(_report, desk, [use])
        await self._theirs.on_tool_end(context, agent, tool, result)

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        if self._known is not None:
            self._known.agents.add(to_agent.name)
        await self._theirs.on_handoff(context, from_agent, to_agent)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        await self._theirs.on_agent_start(context, agent)

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        await self._theirs.on_agent_end(context, agent, output)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        await self._theirs.on_tool_start(context, agent, tool)


# --- at the desk, in a thread ----------------------------------------------------------------------------------------


def _ask(
    desk: SafeDesk, run: _Run, uses: list[_Use], prompt: str | None, items: list[Any], shell: str
) -> tuple[str, list[str]]:
    """The text for the system prompt, and what the model should be told now."""
    _report(desk, uses)
    told: list[str] = []
    if prompt is not None:
        told = desk.prompted(prompt, wrapped=True)
    return desk.system_prompt(shell), desk.before_request(_messages(items, run.failed), told, run=run)


def _report(desk: SafeDesk, uses: Sequence[_Use]) -> None:
    for use in uses:
        desk.tool_used(use.name, use.args, use.result, use.failed, use.exit, folder=use.folder)


def _messages(items: Sequence[Any], failed: Mapping[str, bool]) -> list[dict[str, Any]]:
    """Items of the Responses API as messages: what the model said and called at once is one of them."""
    found: list[dict[str, Any]] = []
    said: list[str] = []
    calls: list[tuple[str, str, Any]] = []
    names: dict[str, str] = {}

    def end_turn() -> None:
        if said or calls:
            found.append(message("assistant", "\n".join(said), list(calls)))
            said.clear()
            calls.clear()

    for item in items:
        kind = _kind(item)
        if kind == "assistant":
            said.append(_text(item.get("content")))
        elif kind.endswith("_call"):
            name = _tool_name(item)
            names[_id(item)] = name
            calls.append((_id(item), name, item.get("arguments") or item.get("input") or item.get("action")))
        elif kind.endswith("_output"):
            end_turn()
            name = names.get(_id(item), "")
            found.append(message("tool", _text(item.get("output")), tool=name, failed=_id(item) in failed))
        elif kind != "reasoning":
            end_turn()
            found.append(message(kind, _text(item.get("content", item.get("summary")))))
    end_turn()
    return found


# --- items of the SDK ------------------------------------------------------------------------------------------------


def _kind(item: Any) -> str:
    """The role of a message, and the type of anything else."""
    if not isinstance(item, dict):
        return ""
    return str(item.get("role") or item.get("type") or "")


def _id(item: Any) -> str:
    return str(item.get("call_id") or item.get("id") or "") if isinstance(item, dict) else ""


def _tool_name(call: Any) -> str:
    return str(call.get("name") or _kind(call).removesuffix("_call"))


def _answered(items: Sequence[Any]) -> list[str]:
    """The ids of calls whose outputs a request ends with; the model may be told something behind them."""
    found: list[str] = []
    for item in reversed(items):
        if _kind(item).endswith("_output"):
            found.append(_id(item))
        elif _kind(item) != "user":
            break
    return found


def _text(content: Any) -> str:
    """The words of a content or an output, whatever form it has."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else str(content)
    texts = [part.get("text", part.get("stdout")) for part in content if isinstance(part, dict)]
    return "\n".join([text for text in texts if isinstance(text, str)])


def _digest(item: Any) -> int:
    return crc32(repr(item).encode("utf-8", "surrogatepass"))


def _parsed(arguments: Any) -> Any:
    """Arguments as JSON; as they are, if they are not: the answer to them says what is wrong."""
    if not isinstance(arguments, str):
        return arguments
    if not arguments.strip():
        return {}
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _function_use(name: str, arguments: Any, result: Any) -> _Use:
    exit = exit_code(result)
    text = result
    if isinstance(result, str):
        if exit is None and result.lstrip()[:1] == "{":
            exit = exit_code(_parsed(result))
    elif not isinstance(result, Mapping | list):
        text = str(result)
    return _Use(name, _parsed(arguments), text, result == _FAILED, exit)


def _shell_uses(call: Any, output: Any) -> list[_Use]:
    """One for each command of a call of the SDK's shell tool."""
    action = call.get("action") or {}
    commands = action.get("commands") or []
    results = output.get("output")
    found = []
    for number, command in enumerate(commands):
        one = results[number] if isinstance(results, list) and number < len(results) else {}
        outcome = one.get("outcome") if isinstance(one, dict) else None
        exit = exit_code(outcome) if isinstance(outcome, dict) else None
        text = "\n".join([str(one.get(name) or "") for name in ("stdout", "stderr")]).strip()
        found.append(_Use("shell", {"command": command}, text, output.get("status") == "failed", exit))
    return found


def _local_shell_uses(call: Any, output: Any) -> list[_Use]:
    from shlex import join

    action = call.get("action") or {}
    command = action.get("command") or []
    if isinstance(command, list):
        command = join(str(word) for word in command)
    folder = action.get("working_directory")
    return [_Use("local_shell", {"command": command}, _text(output.get("output")), folder=folder)]


def _patch_uses(call: Any, output: Any) -> list[_Use]:
    failed = output.get("status") == "failed"
    return [_Use("apply_patch", call.get("operation") or {}, _text(output.get("output")), failed)]


# What hooks are not told the arguments of.
_NATIVE: dict[str, Callable[[Any, Any], list[_Use]]] = {
    "shell_call": _shell_uses,
    "local_shell_call": _local_shell_uses,
    "apply_patch_call": _patch_uses,
}


def _shell_of(agent: Any) -> str:
    """The name of an agent's tool that runs commands."""
    names = [getattr(tool, "name", "") for tool in agent.tools]
    return next((name for name in names if name in _SHELLS), _SHELLS[0])


def _name_in(options: Mapping[str, Any]) -> str:
    """What the options of a run call its conversation; empty if nothing."""
    config = options.get("run_config")
    if isinstance(config, RunConfig):
        config = {"group_id": config.group_id}
    return str(options.get("conversation_id") or (config or {}).get("group_id") or "")


def _keep(known: dict[str, Any], key: str, value: Any) -> None:
    """Remember something, and forget what is oldest."""
    known.pop(key, None)
    known[key] = value
    if len(known) > _MOST:
        known.pop(next(iter(known)), None)
