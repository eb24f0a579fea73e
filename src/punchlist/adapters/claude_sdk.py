"""The plan in the Claude Agent SDK: its tool is served by your process, and hook callbacks guide the model.

`options = attach(options, "sqlite:plan.db")` is all that you write.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar
from weakref import finalize

import punchlist

from .safe_desk import SafeDesk, SafeDesks

try:
    import claude_agent_sdk
    import mcp.types
    from anyio import to_thread
    from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, McpSdkServerConfig
    from mcp.server import Server
except ImportError as error:
    raise ImportError(f"the Claude Agent SDK is needed here: pip install 'punchlist[claude-sdk]' ({error})") from None

__all__ = ["attach"]

_T = TypeVar("_T")
NAME = "punchlist"  # of the server
_PREFIX = f"mcp__{NAME}__"  # of its tools, as the model has them
_SHELL = "Bash"
_USE = "claudecode/toolUseId"  # by which a call of a tool is recognized, in its `_meta`
_HOOK = "hook"  # a tool that hooks of an installed Punchlist call at a server of our name
_NOTHING = "{}"  # the answer of a hook that has nothing to say: of an empty one, the model is told
_OFF = "PUNCHLIST_OFF"  # turns a Punchlist off that Claude Code was attached to by its settings
_APPEND = "append-system-prompt"  # for a system prompt that is a file
_MOST = 4096  # conversations and calls that are remembered
_STOP_LIMIT = 90.0  # seconds: checks may be run when a turn ends
_TYPED = ("", "user", "sdk")  # whose prompts are the user's
_NOTICE = "<task-notification>"  # begins a prompt that is not: work in the background has ended
_OVER = frozenset(["completed", "done", "failed", "error", "killed", "cancelled", "canceled", "stopped", "aborted"])
_EXIT = "Exit code "  # before what was printed by a command that failed
_LATE = "\nCommand timed out after "
_ONES = frozenset(["Condition is false", "No matches found", "Files differ", "Some directories were inaccessible"])
_MOVES = ("cd", "pushd", "popd")
# Where a nudge can be told as context, it is: the words of a block reach the model twice, as an error.
_HAS_STOP_CONTEXT = hasattr(claude_agent_sdk, "StopHookSpecificOutput")


def attach(
    options: ClaudeAgentOptions | None = None,
    store: str = "",
    *,
    session: str = "",
    agent: str = "main",
    dialect: str = "native",
) -> ClaudeAgentOptions:
    """Return a copy of some options with the plan: its tool, its hooks, and its text in the system prompt.

    `store`: where plans are, as for `punchlist.open`. `session`: whose plan it is; by default each conversation has its
    own. `agent`: the name of the main agent; a sub-agent has a plan of its own. What is in the options stays, and they
    are not changed. Options that have a plan already get the new one instead.

    Raises ValueError if they have another server with the name `punchlist`, or servers that cannot be read.

        options = attach(ClaudeAgentOptions(allowed_tools=["Bash"]), "sqlite:plan.db")
    """
    options = options or ClaudeAgentOptions()
    before = _attached_to(options)
    folder = os.path.realpath(options.cwd) if options.cwd else ""
    desks = SafeDesks(store, session=session, agent=agent, dialect=dialect, folder=folder)
    forked = (options.resume or "") if options.fork_session and not session else ""
    made = _Attached(desks, (store, session, agent), options.model or "", forked)
    if not made.tools:  # punchlist is off here
        return replace(options)
    servers = _servers(options)
    if NAME in servers and (before is None or servers[NAME].get("instance") is not before.server):
        raise ValueError(f"the options have an MCP server {NAME!r} already: leave it out, attach brings its own.")
    servers[NAME] = McpSdkServerConfig(type="sdk", name=NAME, instance=made.server)
    hooks = _without_ours(options)
    for event, matcher in made.matchers().items():
        hooks[event] = [*hooks.get(event, ()), matcher]
    allowed = list(options.allowed_tools)
    if options.can_use_tool is None:  # otherwise the SDK warns of it; a hook allows the calls as well
        allowed += [name for name in made.names if name not in allowed]
    env = dict(options.env)
    if options.setting_sources != [] or options.plugins:
        env.setdefault(_OFF, "true")
    system, extra = _system(options, made.text, before.text if before else "")
    return replace(
        options,
        mcp_servers=servers,
        hooks=hooks,
        allowed_tools=allowed,
        env=env,
        system_prompt=system,
        extra_args=extra,
    )


class _Attached:
    """What the options of one `attach` lead to. Any number of conversations may have it at once, in any thread."""

    def __init__(self, desks: SafeDesks, plans: tuple[str, str, str], model: str, forked: str) -> None:
        self._desks = desks
        self._plans = plans  # whose they are, and where
        self._forked = forked  # the conversation that new ones are a fork of
        blank = punchlist.Desk(punchlist.MemoryStore(), dialect=desks.dialect, model=model)
        self.tools = blank.tools("mcp")
        self.text = blank.system_prompt(_SHELL)
        self.names = [f"{_PREFIX}{tool['name']}" for tool in self.tools]
        self.server = _server(self)
        self._lost = _Recent()  # agents whose conversation is being compacted
        self._uses = _Recent()  # calls of our tool, by whom
        self._asked = _Recent()  # calls for which a permission was needed, by the agent
        self._callers = _Recent()  # who has called it
        self._untold = _Recent()  # by agent, what it was to be told by a hook that has not ended
        finalize(self, desks.close)

    def matchers(self) -> dict[str, HookMatcher]:
        """Return a matcher with a callback for each event. The SDK hands on also those that its types do not name."""
        return {
            "SessionStart": HookMatcher(hooks=[self.started]),
            "UserPromptSubmit": HookMatcher(hooks=[self.prompted]),
            "PreToolUse": HookMatcher(matcher=f"{_PREFIX}.*", hooks=[self.before_call]),
            "PermissionRequest": HookMatcher(hooks=[self.permission_needed]),
            "PostToolUse": HookMatcher(hooks=[self.tool_used]),
            "PostToolUseFailure": HookMatcher(hooks=[self.tool_used]),
            "PreCompact": HookMatcher(hooks=[self.compacting]),
            "Stop": HookMatcher(hooks=[self.turn_ended], timeout=_STOP_LIMIT),
        }

    async def call(self, tool: str, args: object, use: str) -> punchlist.Reply:
        """Carry out a call of our tool by whoever made it."""
        who = self._uses.get(use) or self._callers.only()
        if who is None:
            return punchlist.Reply("Not saved: it is not known which conversation this call is from.", is_error=True)
        session, agent = who
        self._asked.pop(who)
        return await _in_thread(lambda: self._desks.of(session, agent).call(tool, args))

    # --- hooks -------------------------------------------------------------------------------------------------------

    async def started(self, event: Any, use: str | None, context: Any) -> Any:
        """A conversation was compacted or cleared. The start of a program is not told to callbacks."""
        who = _who(event)
        source = "compact" if _text(event, "source") == "compact" else "resume"
        return await self._tell(event, lambda: self._start(who, source))

    async def prompted(self, event: Any, use: str | None, context: Any) -> Any:
        """The user has spoken. A conversation that is new to us is told what is open first."""
        prompt = _text(event, "prompt")
        if prompt.startswith(_NOTICE) or _text(event, "source") not in _TYPED:
            return {}
        session, agent = who = _who(event)
        is_new = not _SEEN.get((session, self._plans))
        is_lost = bool(self._lost.get(who))
        self._asked.pop(who)

        def work() -> list[str]:
            desk = self._desks.of(session, agent)
            if is_new and self._forked not in ("", session):
                desk.carry_from(self._forked)
            again = self._start(who, "resume") if is_new or is_lost else []
            return [*again, *desk.prompted(prompt)]

        return await self._tell(event, work)

    async def before_call(self, event: Any, use: str | None, context: Any) -> Any:
        """Our tool is about to be called: remember by whom. Nobody needs to be asked for a permission."""
        who = _who(event)
        self._callers.add(who)
        self._uses.add(use or _text(event, "tool_use_id"), who)
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}

    async def permission_needed(self, event: Any, use: str | None, context: Any) -> Any:
        """A permission is needed for a call. If that is not carried out, it was refused."""
        who = _who(event)
        if use:
            self._asked.add(who, {*(self._asked.get(who) or ()), use})
        return {}

    async def tool_used(self, event: Any, use: str | None, context: Any) -> Any:
        """A tool was used: keep what it did, and tell what others changed."""
        session, agent = who = _who(event)
        tool = _text(event, "tool_name")
        is_ours = tool in self.names
        is_lost = bool(self._lost.get(who))
        if use in (self._asked.get(who) or ()):
            self._asked.add(who, self._asked.get(who) - {use})
        if is_ours and not is_lost:
            return {}

        def work() -> list[str]:
            desk = self._desks.of(session, agent)
            again = self._start(who, "compact") if is_lost else []
            return again if is_ours else [*again, *_report(desk, tool, event)]

        return await self._tell(event, work)

    async def compacting(self, event: Any, use: str | None, context: Any) -> Any:
        """A conversation is going to be compacted. The event after that tells the plan, or the next one of any kind."""
        self._lost.add(_who(event))
        return {}

    async def turn_ended(self, event: Any, use: str | None, context: Any) -> Any:
        """The agent stops: nudge it, if there is a reason to."""
        session, agent = who = _who(event)
        is_planning = _text(event, "permission_mode") == "plan"
        if agent or is_planning or _is_busy(event) or self._asked.get(who):
            return {}
        said = _text(event, "last_assistant_message")
        nudge = await _in_thread(lambda: self._desks.of(session, agent).turn_ended(said))
        if nudge and not _HAS_STOP_CONTEXT:
            return {"decision": "block", "reason": nudge}
        return _told(event, [nudge])

    # --- inside ------------------------------------------------------------------------------------------------------

    def _start(self, who: tuple[str, str], source: str) -> list[str]:
        """What is open, for a conversation that does not know it. If the store fails, it is told another time."""
        session, agent = who
        desk = self._desks.of(session, agent)
        texts = desk.started(source)
        if not desk.has_failed:
            self._lost.pop(who)
            _SEEN.add((session, self._plans))
        return texts

    async def _tell(self, event: Any, work: Callable[[], list[str]]) -> dict[str, Any]:
        """Do some work in a thread, and answer a hook with what it returns. What a hook that was cancelled would have
        said, the next one says."""
        who = _who(event)

        def keep() -> None:
            texts = work()
            self._untold.add(who, [*(self._untold.get(who) or ()), *texts])

        await _in_thread(keep)
        return _told(event, self._untold.pop(who) or [])


class _Recent:
    """What was seen lately, by a key; the oldest is forgotten."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._values: dict[Hashable, Any] = {}

    def add(self, key: Hashable, value: Any = True) -> bool:
        """Remember something. Return whether the key was there."""
        with self._lock:
            is_there = self._values.pop(key, None) is not None
            self._values[key] = value
            if len(self._values) > _MOST:
                del self._values[next(iter(self._values))]
        return is_there

    def get(self, key: Hashable) -> Any:
        return self._values.get(key)

    def only(self) -> Any:
        """The key, if there is a single one."""
        keys = list(self._values)
        return keys[0] if len(keys) == 1 else None

    def pop(self, key: Hashable) -> Any:
        with self._lock:
            return self._values.pop(key, None)


_SEEN = _Recent()  # conversations that this process has told what is open, by whichever options they were begun


async def _in_thread(work: Callable[[], _T]) -> _T:
    """Do some work in a thread, with asyncio and with trio. A task that is cancelled ends at once; what had begun is
    finished."""
    return await to_thread.run_sync(work, abandon_on_cancel=True)


# --- the options -----------------------------------------------------------------------------------------------------


def _attached_to(options: ClaudeAgentOptions) -> _Attached | None:
    """What is attached to some options already."""
    found = [_owner(one) for matchers in (options.hooks or {}).values() for one in matchers]
    return next((owner for owner in found if owner is not None), None)


def _owner(matcher: HookMatcher) -> _Attached | None:
    owners = [getattr(hook, "__self__", None) for hook in matcher.hooks]
    return next((owner for owner in owners if isinstance(owner, _Attached)), None)


def _without_ours(options: ClaudeAgentOptions) -> dict[Any, list[HookMatcher]]:
    """The user's own hooks."""
    found = {
        event: [one for one in matchers if _owner(one) is None] for event, matchers in (options.hooks or {}).items()
    }
    return {event: matchers for event, matchers in found.items() if matchers}


def _servers(options: ClaudeAgentOptions) -> dict[str, Any]:
    """The user's servers. Given as JSON, or in a file, they are read, so that there is a place for ours."""
    given = options.mcp_servers
    if isinstance(given, Mapping):
        return dict(given)
    text = str(given).strip()
    try:
        if text and not text.startswith("{"):
            with open(os.path.join(options.cwd or "", text), encoding="utf-8") as file:
                text = file.read()
        found = json.loads(text or "{}").get("mcpServers", {})
    except (OSError, ValueError, AttributeError) as error:
        raise ValueError(f"mcp_servers cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"mcp_servers cannot be read: mcpServers must be an object, not {type(found).__name__}.")
    return found


def _system(options: ClaudeAgentOptions, text: str, before: str) -> tuple[Any, dict[str, str | None]]:
    """The system prompt with our text, in the form that it has, and the arguments for the program."""
    given: Any = options.system_prompt
    extra = dict(options.extra_args)
    if given is None or isinstance(given, str):
        return _joined(given or "", text, before), extra
    kind = given.get("type")
    if kind == "custom":
        return {**given, "prompt": _joined(given["prompt"], text, before)}, extra
    if kind == "preset":
        return {**given, "append": _joined(given.get("append") or "", text, before)}, extra
    extra[_APPEND] = _joined(extra.get(_APPEND) or "", text, before)
    return given, extra


def _joined(prompt: str, text: str, before: str) -> str:
    """A prompt with a text behind it, instead of the one before; as it is, if it has the text."""
    if before and before != text:
        prompt = prompt.replace(before, "").rstrip()
    if not text or text in prompt:
        return prompt
    return "\n\n".join(part for part in (prompt, text) if part)


# --- the server ------------------------------------------------------------------------------------------------------


def _server(attached: _Attached) -> Any:
    """A server with our tools, for either major version of `mcp`. The helper of the SDK would check the arguments by
    itself, and not say which call it is."""
    tools = [mcp.types.Tool.model_validate(tool) for tool in attached.tools]
    version = punchlist.__version__

    async def answer(name: str, args: Any, meta: Any) -> mcp.types.CallToolResult:
        if name == _HOOK:
            reply = punchlist.Reply(_NOTHING)
        else:
            reply = await attached.call(name, args or {}, _use_of(meta))
        content = [{"type": "text", "text": reply.text}]
        return mcp.types.CallToolResult.model_validate({"content": content, "isError": reply.is_error})

    async def list_tools(*_: Any) -> mcp.types.ListToolsResult:
        return mcp.types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: Any) -> mcp.types.CallToolResult:
        return await answer(params.name, params.arguments, params.meta)

    if hasattr(mcp.types, "jsonrpc_message_adapter"):
        return Server(NAME, version=version, on_list_tools=list_tools, on_call_tool=call_tool)
    old: Any = Server(NAME, version=version)

    async def list_old() -> Any:
        return tools

    async def call_old(name: str, args: Any) -> mcp.types.CallToolResult:
        return await answer(name, args, old.request_context.meta)

    old.list_tools()(list_old)
    old.call_tool(validate_input=False)(call_old)
    return old


def _use_of(meta: Any) -> str:
    """Which call of a tool it is; empty if it does not say."""
    values = meta if isinstance(meta, Mapping) else getattr(meta, "model_extra", None)
    return str((values or {}).get(_USE) or "")


# --- events ----------------------------------------------------------------------------------------------------------


def _text(event: Any, name: str) -> str:
    value = event.get(name) if isinstance(event, Mapping) else None
    return value if isinstance(value, str) else ""


def _who(event: Any) -> tuple[str, str]:
    """The conversation and the sub-agent; the main agent is empty."""
    return _text(event, "session_id"), _text(event, "agent_id")


def _told(event: Any, texts: list[str]) -> dict[str, Any]:
    told = "\n".join(text for text in texts if text)
    if not told:
        return {}
    return {"hookSpecificOutput": {"hookEventName": _text(event, "hook_event_name"), "additionalContext": told}}


def _report(desk: SafeDesk, tool: str, event: Any) -> list[str]:
    """Report a call of another tool. Return what the model should be told with its result."""
    args = event.get("tool_input")
    failed = _text(event, "hook_event_name") == "PostToolUseFailure"
    result = event.get("error") if failed else _printed(event.get("tool_response"))
    exit = None
    if tool == _SHELL:
        exit = _failed_exit(event) if failed else _exit(event.get("tool_response"))
    folder = _text(event, "cwd")
    if not failed and any(word in _text(args, "command") for word in _MOVES):
        folder = ""  # it may have begun elsewhere
    lasted = event.get("duration_ms")
    seconds = lasted / 1000 if isinstance(lasted, int | float) else None
    return desk.tool_used(tool, args, result, failed, exit, folder=folder, seconds=seconds, tell=True)


def _printed(response: Any) -> Any:
    """What a tool answered: what a command printed, else all of it."""
    if not isinstance(response, Mapping) or not isinstance(response.get("stdout"), str):
        return response
    parts = (response["stdout"], response.get("stderr"))
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def _exit(response: Any) -> int | None:
    """The exit code of a command that did not fail. Some may exit with 1; one in the background has not ended."""
    if not isinstance(response, Mapping) or not isinstance(response.get("stdout"), str):
        return None
    if response.get("backgroundTaskId") or response.get("interrupted") is not False:
        return None
    meaning = response.get("returnCodeInterpretation")
    if meaning is None:
        return 0
    return 1 if meaning in _ONES else None


def _failed_exit(event: Any) -> int | None:
    """The exit code of a command that failed by itself."""
    error = _text(event, "error")
    if event.get("is_interrupt") is True or _LATE in error or not error.startswith(_EXIT):
        return None
    code = error.removeprefix(_EXIT).partition("\n")[0]
    return int(code) if code.isascii() and code.isdecimal() and len(code) < 10 else None


def _is_busy(event: Any) -> bool:
    """Whether work goes on in the background, or will. What is not a list of tasks is taken for work."""
    tasks = event.get("background_tasks")
    if event.get("session_crons"):
        return True
    if not isinstance(tasks, list):
        return bool(tasks)
    return any(_text(task, "status").casefold() not in _OVER for task in tasks)
