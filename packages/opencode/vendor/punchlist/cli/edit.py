"""The commands that edit a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core import ops
from ..core.codec import to_json
from ..core.errors import Refused
from ..core.model import USER, Plan
from ..core.sentences import difference
from ..core.text import quoted
from ..desk import Desk
from ..desk.commit import Changed
from . import output
from .caller import caller, require_user
from .desk import open_desk, open_own_desk
from .parser import Args

Edit = Callable[[Plan], Plan]


def add(args: Args) -> int:
    return _edit(args, lambda plan: _added(plan, args))


def change_items(args: Args) -> int:
    """Do the same to each of the items that are named: done, reopen, unblock, rm."""
    change = _OF_ITEMS[args.command]
    return _edit(args, lambda plan: change(plan, *ops.resolve_all(plan, args.ids)))


def change_items_with_reason(args: Args) -> int:
    """Do the same to each of the items that are named, and say why: drop, block."""
    change = _WITH_REASON[args.command]
    return _edit(args, lambda plan: change(plan, *ops.resolve_all(plan, args.ids), why=args.why))


def write_on_item(args: Args) -> int:
    """Give an item a text: note, rename."""
    change = _WITH_TEXT[args.command]
    return _edit(args, lambda plan: change(plan, ops.resolve(plan, args.id), " ".join(args.text)))


def title(args: Args) -> int:
    return _edit(args, lambda plan: ops.set_title(plan, " ".join(args.text)))


def start(args: Args) -> int:
    with open_own_desk(args) as desk:
        return apply(desk, args, lambda plan: _started(desk, plan, args))


def move(args: Args) -> int:
    """Move an item. A move changes no item, so the one that was moved is named."""
    with open_own_desk(args) as desk:
        after, before, _ = change(desk, lambda plan: _moved(plan, args))
    lines = difference(before, after)
    if before != after:
        item = ops.find(after, ops.resolve(before, args.id))
        lines = [f"moved {item.id} {quoted(item.text)}."]
    return output.answer(args, to_json(after), *lines)


def edit(args: Args) -> int:
    """Open the plan in the user's editor."""
    from .editor import edit_in_editor

    with open_own_desk(args) as desk:
        is_own = not args.file  # what a file brings is not run before the user has seen it
        return edit_in_editor(desk, args.file, lambda edit: report(args, change(desk, edit, approves=is_own)))


def clear(args: Args) -> int:
    """Remove everything from the plan."""
    require_user("clear")
    with open_desk(args) as desk:
        return report(args, desk.clear())


def apply(desk: Desk, args: Args, edit: Edit) -> int:
    """Make a change and say what it was."""
    return report(args, change(desk, edit))


def report(args: Args, changed: Changed, *more: str) -> int:
    """Say what a change was."""
    return output.answer(args, to_json(changed.plan), *difference(changed.before, changed.plan), *more)


def change(desk: Desk, edit: Edit, *, approves: bool = True) -> Changed:
    """Make a change as whoever types. `approves`: checks that the user sets may be run here."""

    def guard(plan: Plan) -> Plan:
        after = edit(plan)
        if not caller().is_agent:
            return after
        from .agent_edit import check_edit

        return check_edit(desk, caller(), plan, after)

    changed = desk.change(guard, by=caller().by)
    if approves and not caller().is_agent:
        _approve_checks(changed)
    return changed


def _approve_checks(changed: Changed) -> None:
    """Approve the checks that the user has set with a change."""
    known = {item.id: item.check for item in changed.before.items if item.check}
    new = [item for item in changed.plan.items if item.check and item.check != known.get(item.id)]
    own = [item for item in new if "run" in item.check and item.check_set.get("by") == USER]
    if not own:
        return
    from ..checks.approvals import approve
    from ..core.checks import folder_of

    try:
        for item in own:
            approve(item.check, folder_of(item))
    except OSError as error:
        output.complain(f"the check is set, but not approved to be run: {error.filename}: {error.strerror}.")


def _edit(args: Args, edit: Edit) -> int:
    with open_own_desk(args) as desk:
        return apply(desk, args, edit)


def _added(plan: Plan, args: Args) -> Plan:
    after = ops.resolve(plan, args.after) if args.after else ""
    fields: dict[str, object] = {}
    if args.phase is not None:
        fields["phase"] = args.phase
    if args.needs:
        fields["needs"] = ops.resolve_all(plan, args.needs)
    if args.owner:
        fields["owner"] = args.owner
    if args.parent:
        fields["parent"] = ops.resolve(plan, args.parent)
    if args.note:
        fields["notes"] = tuple(args.note)
    if args.check is not None:
        from ..core.checks import read_check

        fields["check"] = read_check(args.check)
    for text in args.texts:
        plan = ops.add(plan, text, after=after, **fields)
        after = str(plan.last_id) if after else ""
    return plan


def _reopen(plan: Plan, *ids: str) -> Plan:
    return ops.reopen(plan, *[id for id in ids if ops.find(plan, id).is_closed])


def _moved(plan: Plan, args: Args) -> Plan:
    after, before = (ops.resolve(plan, words) if words else "" for words in (args.after, args.before))
    return ops.move(plan, ops.resolve(plan, args.id), after=after, before=before, phase=args.phase)


def _started(desk: Desk, plan: Plan, args: Args) -> Plan:
    ids = ops.resolve_all(plan, args.ids)
    owners = [ops.find(plan, id).owner for id in ids]
    if len(set(owners)) < len(owners):
        raise Refused(f"start one item at a time, not {', '.join(ids)}; several only if they have different owners.")
    owner = ""
    if caller().is_agent:
        owner = desk._seat.name
        plan = _without_others(desk, plan, ids)
    for id in ids:
        plan = ops.start(plan, id, owner=owner)
    return plan


def _without_others(desk: Desk, plan: Plan, ids: Sequence[str]) -> Plan:
    """Refuse that an agent starts what the user or another agent closed, or what another agent works on. What an agent
    had started that is no longer running is free."""
    from ..core.conflicts import Asked, rivals, spared, taken
    from ..desk.tool_call import ended_among

    asked = [Asked("start", id) for id in ids]
    ended = ended_among(desk, plan, rivals(asked, plan, agent=desk._seat.name))
    kept = (
        spared(asked, plan, {}, agent=desk._seat.name, final=True, ids=True),
        taken(asked, plan, agent=desk._seat.name, ended=ended),
    )
    said = [line for one in kept if one.asked for line in one.said]
    if said:
        raise Refused("\n".join(said))
    return ops.released(plan, ids, ended)


_OF_ITEMS: dict[str, Callable[..., Plan]] = {
    "done": ops.complete,
    "reopen": _reopen,
    "unblock": ops.unblock,
    "rm": ops.remove,
}
_WITH_REASON: dict[str, Callable[..., Plan]] = {"drop": ops.drop, "block": ops.block}
_WITH_TEXT: dict[str, Callable[..., Plan]] = {"note": ops.note, "rename": ops.rename}
