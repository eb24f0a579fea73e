"""The commands that control the agent: mode, pause, resume, stop, off, on."""

from __future__ import annotations

from ..core import ops
from ..core.codec import to_json
from ..core.errors import Refused
from ..core.model import USER, Plan
from ..core.sentences import difference
from ..core.text import cut, inline
from ..desk import Desk, plan_mode
from ..desk.holding import release
from ..local import event_log, on_off
from ..local.settings import load, place
from . import output
from .desk import named, open_own_desk
from .edit import apply
from .input import read_text
from .parser import Args


def mode(args: Args) -> int:
    """Switch to act, plan or quiet. Whoever leaves plan mode approves what was planned."""
    with open_own_desk(args) as desk:
        return _switch(desk, args)


def _switch(desk: Desk, args: Args) -> int:
    if args.seed and args.mode != "act":
        raise Refused("--seed goes with `mode act`: it names the text that you approve.")
    if args.seed:
        after, before, _ = plan_mode.approved(desk, read_text(args.seed), seed=True)
    else:
        after, before, _ = plan_mode.switched(desk, args.mode)
    file = plan_mode.prepared(after) if after.mode == "plan" else ""
    data = {**to_json(after), **({"session": {"plan_file": file}} if file else {})}
    return output.answer(args, data, *difference(before, after), *_about_mode(file, args, before, after))


def _about_mode(file: str, args: Args, before: Plan, after: Plan) -> list[str]:
    """What one would otherwise wonder about."""
    if file:
        return [f"the plan goes to {file}; `punchlist mode act` approves it."]
    name = "standard input" if args.seed == "-" else inline(args.seed or "")
    if name and before.items:
        return [f"the plan has items already, so nothing of {name} was added to it."]
    if name and not after.items:
        return [f"{name} has no checkbox, no numbered line and no bullet: nothing was added."]
    return []


def pause(args: Args) -> int:
    """Pause the agent."""
    with open_own_desk(args) as desk:
        return apply(desk, args, lambda plan: ops.pause(plan, " ".join(args.reason), Desk.now()))


def stop(args: Args) -> int:
    """Stop nudging, in the sessions that work from this plan."""
    with open_own_desk(args) as desk:
        return _stop(desk, args)


def _stop(desk: Desk, args: Args) -> int:
    plan = desk.plan
    sessions = [desk] if desk.session else [desk.for_session(*who) for who in desk.store.sessions(plan.id)] or [desk]
    if not plan.id and not desk.session:
        raise Refused("there is no plan here, and so nothing to stop.")
    for one in sessions:
        one.update_state(lambda pace: pace._replace(stopped=True))
        one.note("no-nudges", by=USER)
    stopped = [one.session for one in sessions]
    return output.answer(args, {"stopped": stopped}, "the agent is no longer nudged in this session.")


def resume(args: Args) -> int:
    """End the pause of everybody who works from this plan, also one that could not be saved."""
    with open_own_desk(args) as desk:
        return _resume(desk, args)


def _resume(desk: Desk, args: Args) -> int:
    was_held = release(desk)
    before = desk.plan
    for who in desk.store.sessions(before.id) if before.id else ():
        was_held = release(desk.for_session(*who)) or was_held
    if was_held:
        desk.note("resume", by=USER)
    after = before
    if before.paused:
        after, before, _ = desk.change(ops.resume)
    if was_held and after == before:
        said = ["resumed: the agent had asked for a pause that could not be saved."]
    else:
        said = difference(before, after)
    return output.answer(args, to_json(after), *said)


def turn(args: Args) -> int:
    """Turn Punchlist off or on: for a session, for this project, for everything."""
    off = args.command == "off"
    session = "" if args.everywhere else named(args, "session")
    here = "" if args.everywhere or session else place()
    changed = on_off.turn(off, place=here, session=session)
    if changed:
        event_log.switched(args.command, session=session, place=here, before="on" if off else "off")
    where = f"session {cut(inline(session), 40)}" if session else inline(here) or "every project"
    still = [] if off else _still_off(session)
    data = {"off": off, "where": where, "changed": changed, **({"still_off": still} if still else {})}
    words = f"punchlist is {args.command}{'' if changed else ' already'} for {where}."
    return output.answer(args, data, words, *(f"but {line}." for line in still))


def _still_off(session: str) -> list[str]:
    """What keeps it off here, though it was turned on."""
    words = {
        "everywhere": "it is off in every project: `punchlist on --everywhere`",
        "place": "it is off in this project: `punchlist on`",
        "session": "it is off in this session: `punchlist on --session`",
    }
    settings = load()
    found = [words[kind] for kind in on_off.held(place(), session)]
    return [*found, f"the setting 'off' is true: {inline(settings.origins['off'])}"] if settings.off else found
