"""What a model does and is told: call, tools, prompt, attach, remind, mcp."""

from __future__ import annotations

from ..core._typing import Any
from ..core.codec import to_json
from ..core.errors import PunchlistError, Refused, StoreError
from ..core.model import MAIN, Plan
from ..desk import Desk, guidance
from ..desk.grade_labels import with_grades
from ..desk.tool_call import decline, report_failure
from ..dialects import Reply, Tool, offered
from ..dialects import load as load_dialect
from ..local.files import time_text
from ..local.on_off import is_off
from ..local.settings import Settings, place
from ..prompts import say
from . import output
from .desk import load_settings, named, open_desk, open_own_desk
from .input import log, stdin_json
from .parser import Args


def call(args: Args) -> int:
    """Print one object, whatever happens."""
    settings = load_settings(args)
    try:
        with open_own_desk(args, settings) as desk:
            reply, code, plan = _call(args, desk)
            shown = _with_grades(desk, plan)
    except StoreError as error:
        reply, code = _report_store_error(args, settings, error), error.exit_code
        left = _read_plan(args, settings)
        shown = None
        if left is not None:
            shown = to_json(left)
    except Refused as refusal:  # there is no such dialect or plan
        reply, code, shown = Reply(str(refusal), is_error=True), 1, to_json(Plan())
    said = {"text": reply.text, "display": reply.display, "is_error": reply.is_error, "details": dict(reply.details)}
    output.say_json({**said, "plan": shown})
    return code


def _with_grades(desk: Desk, plan: Plan | None) -> dict[str, Any] | None:
    """A plan as `show` has it. The call is saved already: a store that fails now takes only the grades away."""
    if plan is None:
        return None
    try:
        return with_grades(desk, plan, to_json(plan))
    except StoreError:
        return to_json(plan)


def _call(args: Args, desk: Desk) -> tuple[Reply, int, Plan | None]:
    try:
        reply = desk.call(args.tool, stdin_json(), interactive=args.interactive or None, continuing=args.continuing)
    except Refused as refusal:
        reply = decline(desk, args.tool, str(refusal))
    return reply, 1 if reply.is_error else 0, desk.plan


def _read_plan(args: Args, settings: Settings) -> Plan | None:
    """Read the plan from a store that failed; nothing if it cannot be read."""
    try:
        with open_desk(args, settings) as desk:
            return desk.plan
    except PunchlistError:
        return None


def _report_store_error(args: Args, settings: Settings, error: StoreError) -> Reply:
    """What the dialect says when the store fails."""
    from ..stores.memory import MemoryStore

    return report_failure(Desk(MemoryStore(), dialect=settings.dialect, settings=settings), args.tool, error)


def tools(args: Args) -> int:
    """Print the tool definitions that a model is given."""
    from ..dialects.wire import WRITERS

    output.say_json(
        [WRITERS[args.format](tool) for tool in _offered(args, load_settings(args), continuing=args.continuing)]
    )
    return 0


def prompt(args: Args) -> int:
    """Print what goes with the tools into the system prompt; in quiet mode, that they must not be used."""
    settings = load_settings(args)
    names = [tool.name for tool in _offered(args, settings, continuing=False)]
    text = ""
    if names and _is_quiet(args, settings):
        text = say("quiet", tools=", ".join(f"`{name}`" for name in names))
    elif names:
        text = say(load_dialect(settings.dialect).system, tool=names[0], shell=args.shell)
    return output.answer(args, {"dialect": settings.dialect, "text": text}, text)


def _is_quiet(args: Args, settings: Settings) -> bool:
    """Whether the plan is in quiet mode. A store that cannot be opened keeps nobody from the text."""
    try:
        with open_desk(args, settings) as desk:
            return desk.plan.mode == "quiet"
    except StoreError:
        return False


def _offered(args: Args, settings: Settings, *, continuing: bool) -> list[Tool]:
    """The tools that the agent is shown; none, where agents are left alone."""
    if settings.off or is_off(place(), named(args, "session")):
        return []
    found = offered(load_dialect(settings.dialect), continuing=continuing, agent=named(args, "agent") or MAIN)
    return [tool.in_voice(settings.voice) for tool in found]


def attach(args: Args) -> int:
    """Print what a model is told at the start, after a change, after a compaction or on resume; or nothing."""
    with open_desk(args) as desk:
        if args.context == "changed":
            found = guidance.changed(desk)
        else:
            found = guidance.started(desk, args.context)
        data = [guidance.to_json(one, time_text()) for one in found]
    return output.answer(args, data, *(one.text for one in found))


def remind(args: Args) -> int:
    """Print whether a reminder is due in a conversation."""
    from ..dialects.transcript import entries
    from ..policy.conversation import read, tally

    with open_desk(args) as desk:
        counted = tally(
            read(entries(log(args.messages)), desk._seat.guide.marks), [tool.name for tool in desk.dialect.tools]
        )
        said: dict[str, Any] = {
            "turns_since_write": counted.since_write,
            "turns_since_reminder": counted.since_reminder,
            "due": guidance.is_due(desk, counted),
            "text": "\n".join(one.text for one in guidance.remind(desk, counted)),
        }
    output.say_json(said)
    return 0


def mcp(args: Args) -> int:
    """Serve MCP, for whoever typed an option that only the parser knows."""
    from .. import hosts
    from ..mcp import run

    flags = {name: getattr(args, name) or "" for name in ("store", "dialect", "plan", "session", "agent")}
    return run(flags, hosts)
