"""The commands about plans and sessions: plans, bind, carry."""

from __future__ import annotations

from argparse import Namespace

from ..core.errors import Refused
from ..core.text import cut, inline
from ..desk import Desk
from ..stores import Listing
from . import screen


def show(desk: Desk, args: Namespace) -> int:
    """The plans there are, the last touched first."""
    found = desk.store.plans(args.most)
    if getattr(args, "json", False):
        screen.say_json([{**listing._asdict(), "sessions": list(listing.sessions)} for listing in found])
        return 0
    for listing in found:
        screen.say(_line(listing))
    if not found:
        screen.say("no plans yet.")
    return 0


def bind(desk: Desk, args: Namespace) -> int:
    """Let a session work from a plan."""
    session, plan = getattr(args, "session", ""), getattr(args, "plan", "")
    if not session or not plan:
        raise Refused("bind needs --session S and --plan ID.")
    desk.bind(session, getattr(args, "agent", "") or desk.agent)
    return _said(args, f"session {inline(session)} works from plan {desk.plan.id}.", {"session": session, "plan": plan})


def carry(desk: Desk, args: Namespace) -> int:
    """Give a session a copy of another session's plan."""
    plan = desk.carry(args.source, args.target)
    words = f"session {inline(args.target)} has a copy of {inline(args.source)}'s plan: {plan.id}."
    return _said(args, words, {"plan": plan.id, "items": len(plan.items)})


def _said(args: Namespace, words: str, data: dict[str, object]) -> int:
    if getattr(args, "json", False):
        screen.say_json(data)
    else:
        screen.say(words)
    return 0


def _line(listing: Listing) -> str:
    count = f"{listing.completed}/{listing.total}"
    title = cut(inline(listing.title), 30) or "-"
    chain = " → ".join(cut(inline(session), 20) for session in listing.sessions) or "no session"
    agent = "" if listing.agent == "main" else f" @{cut(inline(listing.agent), 20)}"
    parent = f" (copied from {inline(listing.parent)})" if listing.parent else ""
    touched = listing.touched[:16].replace("T", " ")
    return (
        f"{inline(listing.id)}  {inline(touched)}  {count:>7}  {title}  {inline(listing.place)}  {chain}{agent}{parent}"
    )
