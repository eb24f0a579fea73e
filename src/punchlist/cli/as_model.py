"""What a model would do, and what it is shown: `call`, `tools`, `prompt`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from ..core.codec import to_json
from ..core.errors import Refused, StoreError
from ..core.model import MAIN, Plan
from ..desk import Desk
from ..desk.tool_call import faulted
from ..dialects import Reply, Tool, offered
from ..dialects import load as load_dialect
from ..local.on_off import is_off
from ..local.settings import Settings, place
from ..prompts import say
from . import output
from .input import stdin_json
from .parser import named


def call(args: Namespace, settings: Settings, open_desk: Callable[[], Desk]) -> int:
    """One object, whatever happens."""
    plan = Plan()
    try:
        with open_desk() as desk:
            reply, code, plan = _called(args, desk)
    except StoreError as error:
        reply, code = _faulted(args, settings, error), 3
    except Refused as refusal:  # there is no such dialect or plan
        reply, code = Reply(str(refusal), is_error=True), 1
    said = {"text": reply.text, "display": reply.display, "is_error": reply.is_error, "details": dict(reply.details)}
    output.say_json({**said, "plan": to_json(plan)})
    return code


def _called(args: Namespace, desk: Desk) -> tuple[Reply, int, Plan]:
    try:
        reply = desk.call(args.tool, stdin_json(), interactive=args.interactive, continuing=args.continuing)
    except Refused as refusal:
        reply = desk.decline(args.tool, str(refusal))
    return reply, 1 if reply.is_error else 0, desk.plan


def _faulted(args: Namespace, settings: Settings, error: StoreError) -> Reply:
    """What the dialect says when the store fails."""
    from ..stores.memory import MemoryStore

    return faulted(Desk(MemoryStore(), dialect=settings.dialect, settings=settings), args.tool, error)


def tools(args: Namespace, settings: Settings, open_desk: Callable[[], Desk]) -> int:
    from ..dialects.wire import WRITERS

    output.say_json([WRITERS[args.format](tool) for tool in _offered(args, settings, continuing=args.continuing)])
    return 0


def prompt(args: Namespace, settings: Settings, open_desk: Callable[[], Desk]) -> int:
    """What goes with the tools into the system prompt; in a quiet context, that they are not to be used."""
    names = [tool.name for tool in _offered(args, settings, continuing=False)]
    text = ""
    if names and _is_quiet(open_desk):
        text = say("quiet", tools=", ".join(f"`{name}`" for name in names))
    elif names:
        text = say(load_dialect(settings.dialect).system, tool=names[0], shell=args.shell)
    return output.answer(args, {"dialect": settings.dialect, "text": text}, text)


def _is_quiet(open_desk: Callable[[], Desk]) -> bool:
    """Whether the plan is in quiet mode. A store that cannot be opened keeps nobody from the text."""
    try:
        with open_desk() as desk:
            return desk.plan.mode == "quiet"
    except StoreError:
        return False


def _offered(args: Namespace, settings: Settings, *, continuing: bool) -> list[Tool]:
    """The tools that the agent is shown; none, where agents are left alone."""
    if settings.off or is_off(place(), named(args, "session")):
        return []
    return offered(load_dialect(settings.dialect), continuing=continuing, agent=named(args, "agent") or MAIN)
