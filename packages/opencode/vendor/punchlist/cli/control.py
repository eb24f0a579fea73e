"""The commands that control the agent: mode, pause, resume, stop, off, on."""

from __future__ import annotations

from ..core import ops
from ..core.codec import to_json
from ..core.errors import Refused
from ..core.model import USER
from ..core.sentences import difference
from ..core.text import cut, inline
from ..desk import Desk, plan_mode
from ..desk.commit import Changed
from ..desk.events import log_event
from ..desk.holding import release
from ..desk.session_state import update_state
from ..local import event_log, on_off
from ..local.files import time_text
from ..local.settings import load, place
from . import output
from .desk import named, open_own_desk
from .edit import apply, report
from .input import read_text
from .parser import Args


def mode(args: Args) -> int:
    """Switch to act, plan or quiet. Whoever leaves plan mode approves what was planned."""
    if args.seed and args.mode != "act":
        raise Refused("--seed goes with `mode act`: it names the text that you approve.")
    with open_own_desk(args) as desk:
        if args.seed:
            changed = plan_mode.approve(desk, read_text(args.seed), seed=True)
        else:
            changed = plan_mode.switch_mode(desk, args.mode)
        if changed.plan.mode != "plan":
            return report(args, changed, *_about_seed(args, changed))
        file = plan_mode.prepare_file(changed.plan)
        data = {**to_json(changed.plan), "session": {"plan_file": file}}
        hint = f"the plan goes to {file}; `punchlist mode act` approves it."
        return output.answer(args, data, *difference(changed.before, changed.plan), hint)


def _about_seed(args: Args, changed: Changed) -> list[str]:
    """Return why nothing of an approved text became the plan."""
    if not args.seed:
        return []
    name = inline(args.seed)
    if args.seed == "-":
        name = "standard input"
    if changed.before.items:
        return [f"the plan has items already, so nothing of {name} was added to it."]
    if not changed.plan.items:
        return [f"{name} has no checkbox, no numbered line and no bullet: nothing was added."]
    return []


def pause(args: Args) -> int:
    """Pause the agent."""
    with open_own_desk(args) as desk:
        return apply(desk, args, lambda plan: ops.pause(plan, " ".join(args.reason), time_text()))


def stop(args: Args) -> int:
    """Stop nudging, in the sessions that work from this plan."""
    with open_own_desk(args) as desk:
        sessions = _sessions(desk)
        if not sessions and not desk.plan.id:
            raise Refused("there is no plan here, and so nothing to stop.")
        for one in sessions or [desk]:
            update_state(one, lambda state: state._replace(stopped=True))
            log_event(one, "no-nudges", by=USER)
    stopped = [one.session for one in sessions or [desk]]
    return output.answer(args, {"stopped": stopped}, "the agent is no longer nudged in this session.")


def _sessions(desk: Desk) -> list[Desk]:
    """Return the desk of the session that is named, or of each session that works from the plan."""
    if desk.session:
        return [desk]
    if not desk.plan.id:
        return []
    return [desk.for_session(*one) for one in desk._seat.store.sessions(desk.plan.id)]


def resume(args: Args) -> int:
    """End the pause of everybody who works from this plan, also one that could not be saved."""
    with open_own_desk(args) as desk:
        before = desk.plan
        was_held = release(desk)
        for who in desk._seat.store.sessions(before.id) if before.id else ():
            was_held = release(desk.for_session(*who)) or was_held
        if was_held:
            log_event(desk, "resume", by=USER)
        if before.paused:
            return report(args, desk.change(ops.resume))
    words = ["nothing changed."]
    if was_held:
        words = ["resumed: the agent had asked for a pause that could not be saved."]
    return output.answer(args, to_json(before), *words)


def turn(args: Args) -> int:
    """Turn Punchlist off or on: for a session, for this project, for everything."""
    off = args.command == "off"
    session = here = ""
    where = "every project"
    if not args.everywhere:
        session = named(args, "session")
        where = f"session {cut(inline(session), 40)}"
    if not args.everywhere and not session:
        here = place()
        where = inline(here)
    changed = on_off.set_off(off, place=here, session=session)
    if changed:
        event_log.write_toggle(args.command, session=session, place=here, before="on" if off else "off")
    data: dict[str, object] = {"off": off, "where": where, "changed": changed}
    words = [f"punchlist is {args.command}{'' if changed else ' already'} for {where}."]
    still = [] if off else _still_off(session)
    if still:
        data["still_off"] = still
        words += [f"but {line}." for line in still]
    return output.answer(args, data, *words)


def _still_off(session: str) -> list[str]:
    """What keeps it off here, though it was turned on."""
    words = {
        "everywhere": "it is off in every project: `punchlist on --everywhere`",
        "place": "it is off in this project: `punchlist on`",
        "session": "it is off in this session: `punchlist on --session`",
    }
    settings = load()
    found = [words[kind] for kind in on_off.off_scopes(place(), session)]
    if settings.off:
        found.append(f"the setting 'off' is true: {inline(settings.origins['off'])}")
    return found
