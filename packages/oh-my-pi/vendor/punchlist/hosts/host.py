"""What a room in `hosts/` is made of: the events of an agent, the answers to them, and what differs between agents.

A room is a package with a value `HOST` and two functions: `read` turns what the agent sends into a `HookEvent`, `write`
turns a `HookAnswer` into what the agent reads. Everything between the two is in `dispatch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.errors import Refused
from ..core.model import MAIN, NOTHING

if TYPE_CHECKING:
    from .agent_log import Log

_LONG = 12  # characters: no exit code has so many
BACKGROUND, TIMED_OUT, INTERRUPTED, KILLED = (  # why a command shows nothing
    "it went to the background",
    "it timed out",
    "it was interrupted",
    "it was killed",
)
START, PROMPT, BEFORE, AFTER, STOP = "start", "prompt", "before", "after", "stop"
SWITCH = "switch"  # the user has given the agent another model
PACKAGE_LIMIT = 90.0  # seconds that an agent waits for the hook at the end of a turn, if that comes with a package
NAME = "punchlist"  # what our server is registered as, and what a plugin that brings it is called
TOOLS = frozenset(  # of our server, in any dialect
    [
        *("plan", "TodoWrite", "todowrite", "todo_write", "todo_read", "todo_pause", "update_plan", "write_todos"),
        *("TaskCreate", "TaskUpdate", "TaskList", "TaskGet"),
    ]
)
_FOLDED = frozenset(map(str.casefold, TOOLS))  # as an agent has them that does not keep capitals
_DEVICE = "xd://"  # begins the name of a tool that is reached as a device


class HookEvent(NamedTuple):
    """One event of an agent."""

    moment: str  # start, prompt, before and after a tool use, stop, switch; others are not answered
    session: str
    agent: str = MAIN
    cwd: str = ""
    source: str = ""  # of a start: startup, resume, compact, clear, fork
    idle: float = -1.0  # of a start: seconds since the last answer, where the agent says so
    prompt: str = ""
    raw: str = ""  # the prompt with what the agent put before it
    tool: str = ""  # as the agent calls it
    args: Any = None
    result: Any = None
    use: str = ""  # the id of the tool use
    failed: bool = False
    exit: int | None = None  # of a tool that ran a command: its exit code, where the agent says it
    no_exit: str = ""  # of a command that shows nothing, whatever its exit code: why
    folder: str | None = None  # where a command began, if that is not `cwd`; empty if it is not known
    find_folder: Callable[[], str] | None = None  # where a command began, if it takes time to say that
    seconds: float | None = None  # how long a tool took, where the agent says it
    interrupted: bool = False
    approved: str = ""  # the text of a plan the user has approved
    said: str = ""  # the agent's last words
    background: bool = False
    planning: bool = False
    ends: bool = False  # of a stop: the program ends with it
    log: str = ""  # the file in which the agent keeps the conversation
    model: str = ""  # its name, where the event says it
    old_model: str = ""  # of a switch: the one before it
    limit: float | None = None  # seconds that the agent waits for the answer, where the event says it
    panel: str = ""  # the digest of the key that a panel in its screen has


class HookAnswer(NamedTuple):
    """What the model is told, or nudged with, and what the user is told."""

    context: str = ""
    nudge: str = ""
    notice: str = ""  # for the user, not for the model
    allows: bool = False  # whether a call of our own tool need not be asked about


class Mirrored(NamedTuple):
    """What the model is told after a call of its own plan tool."""

    updates: Sequence[str] = ()  # what others changed, and what was not granted: its list is out of date
    unverified: Sequence[str] = ()  # which checks it should run


class OwnList(NamedTuple):
    """The list of a session that an agent keeps by itself."""

    format: str  # of import
    data: Any  # parsed JSON
    tool: str = ""  # its tool that sends the complete list, if that is how it was written


class Host(NamedTuple):
    """What differs from agent to agent, beside the form of its events."""

    name: str
    prefixes: tuple[str, ...] = (f"mcp__{NAME}__",)  # how it lets the names of our tools begin, a plugin's as well
    # its hooks
    mirrors: Mapping[str, str] = NOTHING  # its own plan tools, and the dialect each speaks
    mirror_call: Callable[[HookEvent], tuple[str, Any]] | None = None  # a call of those as the dialect has it
    counts_failed: tuple[str, ...] = ()  # of those: the ones that do what was right in a call that failed
    limit: float = 10.0  # seconds that it waits for the answer to a stop, if nothing says otherwise
    hears_prompts: bool = True  # whether what is said at a prompt reaches its model
    only_nudged: bool = False  # whether nothing reaches its model but what it is nudged with
    names_uses: bool = False  # whether a call to a server has the id of the tool use
    hides_failure: bool = False  # whether a tool that failed looks like one that did not
    log: Callable[[], Log] | None = None  # how its log is read, where its words are not in its event
    lost: Callable[[HookEvent, int], tuple[bool, int]] | None = None  # whether its log says that the plan was forgotten
    forgets: str = "compact"  # by what
    forked_from: Callable[[HookEvent], str] | None = None  # the session that a fork was made of
    model: Callable[[HookEvent], str] | None = None  # the name of its model, where no event says it
    own_list: Callable[[HookEvent], OwnList | None] | None = None  # the list that it kept before we were attached
    # its shell
    shell: str = "shell"  # the tool that runs commands
    processes: tuple[str, ...] = ()  # how the names of its processes begin
    shell_session: str = ""  # a variable of its shell: the session
    shell_agent: str = ""  # a variable of its shell: the agent in the session
    hooks_only: str = ""  # a variable that its hooks have and its shell has not
    shell_only: str = ""  # a variable that its shell has and its hooks have not
    starts_hooks: bool = False  # whether it starts hooks itself, without a shell
    shell_apart: bool = False  # whether it runs its model's commands, and its hooks, in sessions of the kernel apart
    # its calls to a server
    use_key: str = ""  # in the `_meta` of a call: the id of the tool use
    find_place: Callable[[Mapping[str, Any]], Any] | None = None  # the directory, by the `_meta` of a call
    caller: Callable[[Mapping[str, Any]], tuple[Any, Any]] | None = None  # session and agent, by the `_meta` of a call
    server_session: str = ""  # a variable that its servers have: the session when they were started
    runs_prompts: bool = False  # whether it asks for a prompt only when its user runs it, and passes it on at once
    splits_prompts: bool = False  # whether it gives each argument of a prompt one word, and drops the others


def own_tool(name: str, host: Host) -> str:
    """Return the tool of ours that an agent means by this name: `mcp__punchlist__plan` is `plan`. Empty for any other
    tool, whatever its name holds."""
    name = name.removeprefix(_DEVICE)
    for prefix in host.prefixes:
        tool = name.removeprefix(prefix)
        if tool != name and (tool in TOOLS or tool in _FOLDED):
            return tool
    return ""


def own_tools(host: Host) -> str:
    """Return the regular expression of the names that our tools have in an agent."""
    return "|".join(f"{prefix}.*" for prefix in host.prefixes)


def text(event: Mapping[str, Any], key: str) -> str:
    """Return a text of an event; empty if it is not there. Raises Refused."""
    value = event.get(key)
    if value is not None and not isinstance(value, str):
        from ..core.schema import shown

        raise Refused(f"{key} must be a string, not {shown(value)}")
    return value or ""


def exit_code(value: Any) -> int | None:
    """Return an exit code that is a number or written as one; None for anything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) < _LONG:
        return int(value)
    if type(value) is int:
        return value
    return None


def seconds(value: Any, unit: float = 1.0) -> float | None:
    """Return a duration that is a number; None for anything else. `unit`: of the number, in seconds."""
    if isinstance(value, int | float) and value >= 0:
        return value * unit
    return None


def needed(event: Mapping[str, Any], key: str) -> str:
    """Return a text that every event has. Raises Refused."""
    found = text(event, key)
    if not found:
        raise Refused(f"the event has no {key}")
    return found
