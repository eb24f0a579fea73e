"""The commands about the history of a plan: log, diff, undo, redo, restore, trim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..core.diff import CALLS, QUIET, Change, Record, diff
from ..core.errors import Refused
from ..core.model import DROPPED, USER, Item, Plan
from ..core.ops import grouped
from ..core.render import Line, Span
from ..core.sentences import describe
from ..core.text import counted, cut, inline, quoted
from ..desk import Desk
from ..desk.commit import Changed
from ..desk.commit import trim as delete_history
from ..local.settings import ago
from . import output
from .desk import named, open_desk, open_own_desk, plan_named
from .edit import report
from .parser import Args
from .times import relative

_KNOWN = ("kind", "at", "plan", "session", "agent")
_NAMED = 20  # plans named by `trim`
_SENTENCES = ("reason", "changes", "message")


def undo(args: Args) -> int:
    """Undo the last change."""
    return _step(args, Desk.undo)


def redo(args: Args) -> int:
    """Redo what was undone."""
    return _step(args, Desk.redo)


def restore(args: Args) -> int:
    """Go back to an earlier revision."""
    return _step(args, lambda desk: desk.restore(args.revision))


def _step(args: Args, step: Callable[[Desk], Changed]) -> int:
    with open_own_desk(args) as desk:
        return report(args, step(desk))


def log(args: Args) -> int:
    """List every change, the newest first."""
    with open_desk(args) as desk:
        if args.events:
            return _events(desk, args)
        plan = desk.plan
        records = worth_reading(desk, plan)[::-1]
    if args.most:
        records = records[: args.most]
    if args.json:
        output.say_json([_logged(record, plan) for record in records])
        return 0
    output.show(output.table([row for record in records for row in _rows(record, plan)]))
    if not records and plan.revision:
        output.say(f"no changes are kept; the plan is at revision {plan.revision}.")
    return 0


def _rows(record: Record, plan: Plan) -> Iterator[Line]:
    """Yield a row for each sentence about a change; the columns beside it are filled once."""
    head = [f"{record.revision:>4}", relative(record.at), author(record)]
    for line in _told(record, plan) or ["changed nothing that shows."]:
        yield Span(head[0], "dim"), Span(head[1], "dim"), Span(head[2], "dim"), Span(line)
        head = ["", "", ""]


def changes_of(record: Record, id: str) -> list[Change]:
    """Return the changes of one item."""
    return [change for change in record.changes if change.id == id and change.kind != "plan"]


def worth_reading(desk: Desk, plan: Plan) -> list[Record]:
    """History without the tool calls that were noted on an item."""
    return [record for record in desk.history() if record.kind not in (CALLS, QUIET)] if plan.id else []


def with_departed(desk: Desk) -> Plan:
    """The plan with what has left it other than by the user's hand: cleared when it was done, or left out."""
    plan = desk.plan
    here = {item.id for item in plan.items}
    gone: dict[str, Item] = {}
    for record in desk.history() if plan.id else []:
        for change in record.changes:
            if change.kind == "removed" and record.by != USER:
                gone[change.id] = change.after or change.before
            elif change.kind == "removed":
                gone.pop(change.id, None)
    left = [_departed(item) for id, item in gone.items() if id not in here]
    phases = dict.fromkeys((*plan.phases, *(item.phase for item in left if item.phase)))
    return grouped(plan._replace(items=tuple(_among(plan.items, left)), phases=tuple(phases)))


def _among(items: Sequence[Item], left: Sequence[Item]) -> list[Item]:
    """What has left the list before the first item that came later."""
    found = list(items)
    for item in left:
        later = (index for index, other in enumerate(found) if int(other.id) > int(item.id))
        found.insert(next(later, len(found)), item)
    return found


def _departed(item: Item) -> Item:
    item = item._replace(parent="", needs=())
    return item if item.is_closed else item._replace(status=DROPPED, reason=item.reason or "left out by the agent")


def _events(desk: Desk, args: Args) -> int:
    """Everything that happened, the newest first: what history holds, and what the log of events does."""
    plan = desk.plan
    found = [*desk.events(), *[_happened(record, plan) for record in worth_reading(desk, plan)]]
    found.sort(key=lambda event: str(event.get("at", "")), reverse=True)
    found = found[: args.most] if args.most else found
    if args.json:
        output.say_json(found)
        return 0
    output.show(output.table(map(_event_row, found)))
    return 0


def _event_row(event: Mapping[str, object]) -> Line:
    words = ", ".join(_word(name, value) for name, value in event.items() if name not in _KNOWN)
    when = relative(inline(str(event.get("at", ""))))
    return Span(when, "dim"), Span(inline(str(event["kind"]))), Span(words)


def _happened(record: Record, plan: Plan) -> dict[str, object]:
    """A line of history as an event: a call of a model, a pause, an edit."""
    paused = next((change for change in record.changes if change.kind == "plan" and change.id == "paused"), None)
    kind = record.kind if record.kind != "edit" else "call" if record.dialect else "edit"
    if paused is not None:
        kind = "pause" if paused.after else "resume"
    said = {"kind": kind, "at": record.at, "by": record.by, "revision": record.revision, "plan": plan.id}
    if record.dialect:
        said["dialect"] = record.dialect
    return {**said, "changes": _told(record, plan)}


def _word(name: str, value: object) -> str:
    """What is said of an event: sentences speak for themselves, numbers need their name."""
    words = " ".join(map(str, value)) if isinstance(value, list) else inline(str(value))
    return words if name in _SENTENCES else f"{name} {words}"


def compare(args: Args) -> int:
    """Show what changed between two revisions, or between one and now."""
    with open_desk(args) as desk:
        old = desk.at(args.revision)
        new = desk.plan if args.other is None else desk.at(args.other)
    told = describe(diff(old, new), new)
    data = {"from": old.revision, "to": new.revision, "changes": told}
    return output.answer(args, data, *(told or ["nothing differs."]))


def trim(args: Args) -> int:
    """Delete old history: of the plan that is named, by itself or by its session; of all plans if none is."""
    with open_desk(args) as desk:
        return _trim(desk, args)


def _trim(desk: Desk, args: Args) -> int:
    before = ago(args.older_than)
    is_named = bool(plan_named(args) or named(args, "session") or named(args, "agent"))
    plan = desk.plan if is_named else Plan()
    if is_named and not plan.id:
        raise Refused("there is no plan to trim.")
    whose = f"plan {_called(plan.id, plan.title)}" if is_named else "every plan in the store"
    if not args.yes and not output.agrees(f"Delete the history of {whose} from before {inline(before)}?"):
        return output.answer(args, {"trimmed": 0, "plans": {}}, "nothing was deleted.")
    gone = delete_history(desk, before, plan=plan.id)
    stays = _untold(desk, before, [plan.id] if plan.id else [one.id for one in desk.store.plans(_NAMED)])
    return output.answer(args, {"trimmed": sum(gone.values()), "plans": gone}, *_trimmed(desk, gone), *stays)


def _untold(desk: Desk, before: str, plans: list[str]) -> list[str]:
    """Return what was kept though it is old enough."""
    left = sum(record.at < before for plan in plans for record in desk.store.history(plan))
    return [f"kept {counted(left, 'change')} that a running agent has not seen yet."] if left else []


def _trimmed(desk: Desk, gone: dict[str, int]) -> list[str]:
    """Return what was deleted, and of which plans."""
    said = f"deleted {counted(sum(gone.values()), 'change')}; no plan was changed."
    titles = {listing.id: listing.title for listing in desk.store.plans(_NAMED)} if gone else {}
    lines = [f"{_called(id, titles.get(id, ''))}: {counted(count, 'change')}" for id, count in gone.items()]
    more = [f"and {counted(len(lines) - _NAMED, 'more plan')}."] if len(lines) > _NAMED else []
    return [said, *lines[:_NAMED], *more]


def _called(id: str, title: str) -> str:
    return f"{inline(id)} {quoted(title)}" if title else inline(id)


def _told(record: Record, plan: Plan) -> list[str]:
    said = describe(record.changes, plan, by=record.by)
    return [f"{record.kind}: {line}" for line in said] if record.kind != "edit" else said


def author(record: Record) -> str:
    name = "you" if record.by == USER else cut(inline(record.by), 12)
    return f"{name} ({inline(record.dialect)})" if record.dialect else name


def _logged(record: Record, plan: Plan) -> dict[str, object]:
    said = {name: getattr(record, name) for name in ("revision", "at", "by", "reader", "dialect", "kind")}
    return {**said, "changes": _told(record, plan)}
