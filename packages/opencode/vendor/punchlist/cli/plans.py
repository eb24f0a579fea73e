"""The commands about plans and sessions: plans, use, bind, carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic

from ..core._typing import Any
from ..core.errors import Refused
from ..core.model import MAIN
from ..core.render import Line, Span
from ..core.text import cut, inline
from ..desk import Desk
from ..desk.grade_labels import count_verified
from ..stores import PlanSummary
from . import output, terminal_plan
from .caller import caller, require_user
from .desk import named, open_desk
from .parser import Args, misuse
from .times import relative

_LOOK = 0.3  # seconds for a look at the files of all plans


def plans(args: Args) -> int:
    """List plans, the last touched first: all, or those of the session, agent or plan that was typed."""
    wanted = {name: getattr(args, name) or "" for name in ("session", "agent", "plan")}
    with open_desk(args) as desk:
        found = desk._seat.store.plans(args.most + 1, **wanted)
        is_cut, found = len(found) > args.most, found[: args.most]
        verified = _count_verified(desk, found)
    if args.json:
        output.say_json([{**data_of(listing), "verified": verified[listing.id]} for listing in found])
        return 0
    parents = {listing.id: listing.parent for listing in found}
    rows = [_row(listing, _lineage(listing.id, parents), verified[listing.id]) for listing in found]
    output.show(output.table(rows))
    if not found:
        output.say("no such plan." if any(wanted.values()) else "no plans yet.")
    if is_cut:
        output.say(f"and more: punchlist plans --most {2 * args.most}")
    return 0


def use(args: Args) -> int:
    """List the live plans of this directory, or choose the one that commands in this terminal are about."""
    with open_desk(args) as desk:
        return _use(desk, args)


def _use(desk: Desk, args: Args) -> int:
    if args.choice:
        require_user("use")
        terminal_plan.remember(desk, terminal_plan.pick(desk, args.choice), chosen=True)
    lives = terminal_plan.live(desk)
    known = terminal_plan.recall(desk)
    ids = [one.id for one in lives]
    current = next(iter(ids), "")
    if known.plan in ids or known.chosen:
        current = known.plan
    if current and current not in ids:
        lives = [*desk._seat.store.plans(1, plan=current), *lives]
    if not caller().is_agent:
        terminal_plan.remember(desk, known.plan, listed=[one.id for one in lives])
    data = [{**data_of(one), "chosen": one.id == current} for one in lives]
    rows = terminal_plan.rows(lives, current)
    return output.answer(args, data, *(rows or ["no plan here yet; all plans: punchlist plans"]))


def bind(args: Args) -> int:
    """Make a session, or the next that starts here, work from a plan."""
    args.plan = named(args, "plan")
    if args.next and args.session:
        misuse("bind", "--next and --session cannot be combined: the next session has no name yet")
    if not args.next and not (args.plan and named(args, "session")):
        misuse("bind", "--session S and --plan ID are needed, or --next and --plan ID")
    with open_desk(args) as desk:
        if args.next:
            return _bind_next(desk, args)
        desk.bind(desk.session, desk.agent)
        words = f"session {inline(desk.session)} works from plan {desk.plan.id}."
        return output.answer(args, {"session": desk.session, "plan": desk.plan.id}, words)


def _bind_next(desk: Desk, args: Args) -> int:
    from ..hosts.first_plan import leave_next

    plan = desk.plan
    if not plan.id:
        raise Refused("there is no plan here; name one with --plan ID: punchlist plans")
    leave_next(desk._seat.place, plan.id)
    words = f"the next session that starts in {inline(desk._seat.place)} works from plan {plan.id}."
    return output.answer(args, {"next": desk._seat.place, "plan": plan.id}, words)


def carry(args: Args) -> int:
    """Give a session a copy of another session's plan."""
    with open_desk(args) as desk:
        plan = desk.carry(args.source, args.target).plan
    words = f"session {inline(args.target)} has a copy of {inline(args.source)}'s plan: {plan.id}."
    return output.answer(args, {"plan": plan.id, "items": len(plan.items)}, words)


def data_of(listing: PlanSummary) -> dict[str, Any]:
    """A plan among others, as JSON."""
    data = listing._asdict()
    program = data.pop("host")
    return {**data, "sessions": list(listing.sessions), "session": listing.session, "program": program}


def _count_verified(desk: Desk, listings: Sequence[PlanSummary]) -> dict[str, int | None]:
    """How many items of each plan are verified; None where there was no time to look at the files."""
    end = monotonic() + _LOOK
    found: dict[str, int | None] = {}
    for listing in listings:
        plan = None
        if listing.completed:
            plan = desk._seat.store.load(listing.id)
        found[listing.id] = 0
        if plan is not None:
            found[listing.id] = count_verified(desk, plan, max(end - monotonic(), 0.0))
    return found


def _lineage(plan: str, parents: Mapping[str, str]) -> list[str]:
    """The plan that a plan was copied from, the one that was copied from, and so on, as far as they are listed."""
    line = [plan]
    while (parent := parents.get(line[-1], "")) and parent not in line:
        line.append(parent)
    return line[1:]


def _row(listing: PlanSummary, lineage: Sequence[str], verified: int | None) -> Line:
    title = cut(inline(listing.title or listing.active), 40) or "-"
    worker = " → ".join(cut(inline(session), 20) for session in listing.sessions) or "no session"
    if listing.host:
        worker = f"{cut(inline(listing.host), 20)} {worker}"
    if listing.agent != MAIN:
        worker += f" @{cut(inline(listing.agent), 20)}"
    if lineage:
        worker += f" (copied from {' ← '.join(map(inline, lineage))})"
    count = f"{listing.completed}/{listing.total}"
    if verified:
        count += f", {verified} verified"
    return (
        Span(inline(listing.id)),
        Span(inline(relative(listing.touched)), "dim"),
        Span(count),
        Span(title, "bold"),
        Span(f"{output.short(listing.place)}  {worker}", "dim"),
    )
