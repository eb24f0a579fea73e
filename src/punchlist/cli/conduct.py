"""The commands about how the agent may work, and what it is told: mode, stop, off, on, attach, remind."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from .. import attachments, events, planning, switch
from ..core.changes import describe, diff
from ..core.codec import to_json
from ..core.errors import Refused
from ..core.model import USER
from ..core.ops import set_mode
from ..core.text import cut, inline
from ..desk import Desk
from ..dialects.transcript import entries
from ..policy.listen import tally
from ..settings import place
from . import screen
from .files import log, read_text


def mode(desk: Desk, args: Namespace) -> int:
    """Act, plan or quiet. Whoever leaves plan mode approves what was planned."""
    before = desk.plan
    if args.mode == "act" and (args.seed or before.mode == "plan"):
        text = read_text(args.seed) if args.seed else planning.read_plan_file(desk)
        after = planning.approved(desk, text)
    else:
        after = desk.change(lambda plan: set_mode(plan, args.mode))
    if getattr(args, "json", False):
        screen.say_json(to_json(after))
        return 0
    for line in describe(diff(before, after), after) or ["nothing changed."]:
        screen.say(line)
    if after.mode == "plan":
        screen.say(f"the plan goes to {planning.plan_file(desk, after)}; `punchlist mode act` approves it.")
    return 0


def stop(desk: Desk, args: Namespace) -> int:
    """No more pushes, in the sessions that work from this plan."""
    plan = desk.plan
    sessions = [desk] if desk.session else [desk.of(*who) for who in desk.store.sessions(plan.id)] or [desk]
    if not plan.id and not desk.session:
        raise Refused("there is no plan here, and so nothing to stop.")
    for one in sessions:
        one.paced(lambda pace: pace._replace(stopped=True))
        one.note("stop", by=USER)
    if getattr(args, "json", False):
        screen.say_json({"stopped": [one.session for one in sessions]})
    else:
        screen.say("the agent is not sent on any more in this session.")
    return 0


def turn(args: Namespace) -> int:
    """Off and on: for a session, for this project, for everything."""
    off = args.command == "off"
    named = getattr(args, "session", None) or os.environ.get("PUNCHLIST_SESSION", "")
    session = "" if args.everywhere else named
    here = "" if args.everywhere or session else place()
    changed = switch.turn(off, place=here, session=session)
    if changed:
        events.write("toggle", at=Desk.now(), place=here, session=session, off=off, before=not off)
    where = f"session {cut(inline(session), 40)}" if session else inline(here) or "every project"
    if getattr(args, "json", False):
        screen.say_json({"off": off, "where": where, "changed": changed})
    else:
        screen.say(f"punchlist is {args.command}{'' if changed else ' already'} for {where}.")
    return 0


def attach(desk: Desk, args: Namespace) -> int:
    """What the model is told in a moment, or nothing."""
    found = attachments.attached(desk, args.context)
    if getattr(args, "json", False):
        screen.say_json([attachments.to_json(one, desk.now()) for one in found])
    else:
        screen.say("\n".join(one.text for one in found))
    return 0


def remind(desk: Desk, args: Namespace) -> int:
    """The decision about a reminder, for a conversation."""
    heard = tally(entries(log(args.messages)), [tool.name for tool in desk.dialect.tools])
    said: dict[str, Any] = {
        "turns_since_write": heard.since_write,
        "turns_since_reminder": heard.since_reminder,
        "due": attachments.is_due(desk, heard),
        "text": "\n".join(one.text for one in attachments.reminders(desk, heard)),
    }
    screen.say_json(said)
    return 0
