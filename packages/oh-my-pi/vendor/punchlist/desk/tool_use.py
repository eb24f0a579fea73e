"""A tool that was used: what is kept of it, and what it means for the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.model import MAIN, Item, Plan, SessionState
from ..local.files import time_text
from ..policy import reminders
from ..policy.continuation import INTERRUPTED, after_call
from .observations import observe
from .session_state import update_state

if TYPE_CHECKING:
    from . import Desk


_UNTOLD = "its exit code is not known"
_INTERRUPTED = "it was interrupted"
_BACKGROUND = "it went to the background"
_OUTPUT = 4_000  # characters of the end of an output that are looked at


class Ran(NamedTuple):
    """A command that a tool ran, and how it ended."""

    line: str
    exit: int | None = None  # None: not known
    output: str = ""  # the end of it
    folder: str = ""  # where it began; empty: not known
    seconds: float | None = None  # how long it took, if that is known
    why: str = ""  # why it shows nothing, whatever its exit code
    find_folder: Callable[[], str] | None = None  # where it began, if it takes time to say that


class ToolUse(NamedTuple):
    """A tool that was used."""

    digest: str  # tells it from others
    tool: str = ""  # its name, where it wrote the plan itself
    failed: bool = False
    interrupted: bool = False
    changes: bool = True  # whether it may have changed something beside the plan
    calls: tuple[Mapping[str, Any], ...] = ()  # what is kept of it
    dialect: str = ""  # of a tool that wrote the plan and is the agent's own: the dialect it is mirrored in
    ran: Ran | None = None  # of a shell: what it ran


def describe(
    desk: Desk,
    tool: str,
    args: Any,
    result: Any = "",
    *,
    id: str = "",
    failed: bool = False,
    interrupted: bool = False,
    hides_failure: bool = False,
    exit: int | None = None,
    no_exit: str = "",
    folder: str | None = None,
    find_folder: Callable[[], str] | None = None,
    seconds: float | None = None,
) -> ToolUse:
    """Describe a call of a tool that is not the plan's, as it is kept: bounded, with secrets blanked. Of a command:
    `no_exit`: why its end is not known; `folder`: where it began, by default where the agent works; empty if that is
    not known, or if `find_folder` has to be asked."""
    from ..core.json_text import dumps
    from ..core.redact import recorded, shallow
    from ..policy.effects import changes_something, folder_of, line_of

    outcome = "failed" if failed else "unknown" if hides_failure else "ok"
    args = shallow(args)
    given: Any = args if isinstance(args, dict) else {"input": args}
    shown = result
    if not isinstance(result, str):
        try:
            shown = dumps(shallow(result), ensure_ascii=False)
        except TypeError:  # an object that only this program knows
            shown = str(result)
    who = {"at": time_text(), "session": desk.session, "agent": desk.agent}
    kept = recorded(id, tool, given, outcome, shown, redact=desk.settings.redact_calls, exit=exit, **who)
    ran = None
    line = line_of(args)
    if line:
        if folder is None:
            folder = desk._seat.folder
        if interrupted:
            no_exit = no_exit or _INTERRUPTED
        if _is_in_background(given):
            no_exit = no_exit or _BACKGROUND
        if exit is None:
            no_exit = no_exit or _UNTOLD
        output = _printed(result, shown)[-_OUTPUT:]
        ran = Ran(line, exit, output, folder_of(args, folder), seconds, no_exit, find_folder)
    return ToolUse(digest(tool, args), "", failed, interrupted, changes_something(tool, args), (kept,), ran=ran)


def _is_in_background(args: Mapping[str, Any]) -> bool:
    """Whether a shell was told not to wait for a command: its exit code is not the command's."""
    return any(args.get(name) is True for name in ("run_in_background", "is_background", "background"))


def _printed(result: Any, shown: str) -> str:
    """What a command printed, line by line: agents put it into an object, in parts."""
    if isinstance(result, Mapping):
        return "\n".join(value for value in result.values() if isinstance(value, str))
    return shown


def digest(tool: str, args: Any) -> str:
    """Return what tells one tool call from another."""
    from zlib import crc32

    return f"{crc32(repr((tool, args)).encode('utf-8', 'replace')):x}"


def record_tool_use(desk: Desk, uses: Sequence[ToolUse]) -> None:
    """Keep calls with the item that is active, and as progress since the agent was last nudged. Nothing is told: a loop
    asks before its next request."""
    plan = desk.plan
    keep_for_parent(desk, plan, uses)
    if uses and plan.id:
        record(desk, plan, uses, counts=False)


def keep_for_parent(desk: Desk, plan: Plan, uses: Sequence[ToolUse]) -> None:
    """Keep what a sub-agent's commands say about the checks of the plan of its session's main agent, which has handed
    the work on."""
    commands = [use.ran for use in uses if use.ran]
    if not commands or desk.agent == MAIN or not desk.session:
        return
    parent = desk.for_session(desk.session).plan
    if parent.id and parent.id != plan.id:
        _keep_evidence(desk, parent, commands)


def record(desk: Desk, plan: Plan, uses: Sequence[ToolUse], *, counts: bool) -> SessionState:
    """Keep what tools were used for. `counts`: as a turn of work, where nobody has the conversation."""
    _keep_calls(desk, plan, tuple([call for use in uses for call in use.calls]))
    is_kept = _keep_evidence(desk, plan, [use.ran for use in uses if use.ran])
    if is_kept and desk.settings.auto_done:
        from .auto_done import complete_shown

        complete_shown(desk, plan)
    heard = time_text()

    def step(state: SessionState) -> SessionState:
        if counts:
            state = reminders.after_turn(plan, state)
        for use in uses:
            state = _after_use(plan, state, use)
        return state._replace(heard=heard)

    return update_state(desk, step)


def _after_use(plan: Plan, state: SessionState, use: ToolUse) -> SessionState:
    if use.changes and not (use.tool or use.failed):
        state = reminders.with_effect(plan, after_call(state, use.digest))
    if use.interrupted:
        state = state._replace(waiting=INTERRUPTED)
    if use.tool:
        state = state._replace(tool=use.tool, dialect=use.dialect, failed=use.failed)
    return state


def _keep_calls(desk: Desk, plan: Plan, calls: tuple[Mapping[str, Any], ...]) -> None:
    active = _own_item(desk, plan)
    if calls and active is not None and not plan.paused:
        observe(desk, active.id, calls, plan.id)


def _keep_evidence(desk: Desk, plan: Plan, commands: Sequence[Ran]) -> bool:
    """Keep what commands say about checks: looked at only if there may be something to say. Return whether there may
    be."""
    if not commands:
        return False
    checks = [item.check["run"] for item in plan.items if "run" in item.check]
    if desk.settings.default_check:
        checks.append(desk.settings.default_check)
    if not checks:
        return False
    from ..core.commands.hint import may_match

    if not any(may_match(check, one.line) for check in checks for one in commands):
        return False
    from .evidence import note_commands

    note_commands(desk, plan, commands)
    return True


def _own_item(desk: Desk, plan: Plan) -> Item | None:
    """The item that a tool was used for: its own, else one that is nobody's; where several sessions share a plan, none
    of another's."""
    busy = plan.at_work
    mine = desk._seat.name
    if desk._seat.name == MAIN:
        mine = ""
    own = [item for owner in (mine, "") for item in busy if item.owner == owner]
    if own or desk._seat.is_shared:
        return next(iter(own), None)
    return next(iter(busy), None)
