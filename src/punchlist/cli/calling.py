"""What a model would do, and what it is shown: `call`, `tools`, `prompt`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from ..calls import faulted
from ..core.codec import to_json
from ..core.errors import Refused, StoreError
from ..core.model import MAIN, Plan
from ..desk import Desk
from ..dialects import Tool, offered
from ..dialects import load as load_dialect
from ..prompts import say
from ..settings import Settings, place
from ..switch import is_off
from . import screen
from .files import stdin_json
from .parser import named


def call(args: Namespace, settings: Settings, open_desk: Callable[[], Desk]) -> int:
    plan = Plan()
    try:
        desk = open_desk()
    except StoreError as error:
        from ..stores.memory import MemoryStore

        text = faulted(Desk(MemoryStore(), dialect=settings.dialect, settings=settings), args.tool, error).text
        screen.say_json({"text": text, "display": "", "is_error": True, "details": {}, "plan": to_json(plan)})
        return 3
    with desk:
        try:
            reply = desk.call(args.tool, stdin_json(), interactive=args.interactive, continuing=args.continuing)
            plan = desk.plan
        except Refused as refusal:
            reply, code, plan = desk.decline(args.tool, str(refusal)), 1, desk.plan
        except StoreError as error:
            reply, code = faulted(desk, args.tool, error), 3
        else:
            code = 1 if reply.is_error else 0
    said = {"text": reply.text, "display": reply.display, "is_error": reply.is_error, "details": dict(reply.details)}
    screen.say_json({**said, "plan": to_json(plan)})
    return code


def tools(args: Namespace, settings: Settings, open_desk: Callable[[], Desk]) -> int:
    from ..dialects.wire import WRITERS

    screen.say_json([WRITERS[args.format](tool) for tool in _offered(args, settings, continuing=args.continuing)])
    return 0


def prompt(args: Namespace, settings: Settings, open_desk: Callable[[], Desk]) -> int:
    """What goes with the tools into the system prompt; in a quiet context, that they are not to be used."""
    names = [tool.name for tool in _offered(args, settings, continuing=False)]
    text = ""
    if names and _is_quiet(open_desk):
        text = say("quiet", tools=", ".join(f"`{name}`" for name in names))
    elif names:
        text = say(load_dialect(settings.dialect).system, tool=names[0], shell=args.shell)
    if getattr(args, "json", False):
        screen.say_json({"dialect": settings.dialect, "text": text})
    else:
        screen.say(text)
    return 0


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
