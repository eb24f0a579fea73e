"""The desk that a command works at: of the plan that was named, or that this terminal was shown."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..core.errors import PunchlistError
from ..core.model import MAIN
from ..core.text import inline
from ..desk import Desk, desk_for
from ..local.settings import Settings, load
from ..stores import masked
from . import output, terminal_plan
from .caller import caller, require_own
from .parser import Args


def named(args: Args, name: str) -> str:
    """Return what an option says, or else the environment."""
    return getattr(args, name) or os.environ.get(f"PUNCHLIST_{name.upper()}", "")


def plan_named(args: Args) -> str:
    """Return the plan that is named. With a session on the command line, none of the environment is meant."""
    if args.session is None:
        return named(args, "plan")
    return args.plan or ""


def is_named(args: Args) -> bool:
    """Return whether the command itself says which plan it is about, or it is typed in an agent's shell."""
    return bool(plan_named(args) or named(args, "session") or named(args, "agent") or caller().session)


def command_for(args: Args, *words: str) -> str:
    """Return a command to type next, for the plan that this one was told to be about. Passwords are left out."""
    from shlex import quote

    given = {name: getattr(args, name, None) for name in ("store", "plan", "session", "agent")}
    options = [f"--{name} {quote(inline(masked(value)))}" for name, value in given.items() if value]
    return " ".join(["punchlist", *words, *options])


def load_settings(args: Args) -> Settings:
    """Load the settings, with what was typed on top; complain about those that cannot be read."""
    flags = {name: getattr(args, name, None) for name in ("store", "dialect", "style")}
    settings = load({**flags, "plain": getattr(args, "plain", None) or None})
    for problem in settings.problems:
        output.complain(problem)
    return settings


def open_desk(
    args: Args, settings: Settings | None = None, find: Callable[[Desk], str] = terminal_plan.to_show
) -> Desk:
    """Open the desk that is named; with nothing named, in an agent's shell that of the agent, else of the plan that
    `find` finds for this terminal, or of the one that was touched last."""
    who = caller()
    plan, session = plan_named(args), named(args, "session")
    if not plan and not session:
        session = who.session
    is_own = who.is_agent and bool(session) and session == who.session
    agent = named(args, "agent") or (who.by if is_own else MAIN)
    desk = desk_for(settings or load_settings(args), plan=plan, session=session, agent=agent)
    if plan or session or agent != MAIN:
        return desk
    try:
        found = find(desk)
    except PunchlistError:
        desk.close()
        raise
    if not found:
        return desk
    return Desk(desk._seat.store, plan=found, dialect=desk.settings.dialect, settings=desk.settings)


def open_own_desk(args: Args, settings: Settings | None = None) -> Desk:
    """Open the desk to change something at: of the plan that the user was shown. An agent changes its own plan only."""
    desk = open_desk(args, settings, terminal_plan.to_change)
    try:
        require_own(desk, plan_named(args))
        remember_shown(desk, args, in_full=False)
    except PunchlistError:
        desk.close()
        raise
    return desk


def remember_shown(desk: Desk, args: Args, *, in_full: bool) -> None:
    """Remember that this terminal was shown a plan. An edit shows a sentence only: after one of another plan it is
    uncertain which plan the next edit is meant for."""
    if caller().is_agent or desk.agent != MAIN:
        return
    plan = desk.plan.id
    if in_full or not is_named(args):
        if plan:
            terminal_plan.remember(desk, plan)
    elif terminal_plan.recall(desk).plan not in ("", plan):
        terminal_plan.remember(desk, "", chosen=False)
