"""The commands about the history of a plan: log, diff, undo, redo, restore, trim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

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
from ..desk.events import read_events
from ..desk.undone_approvals import revoke_undone
from ..local.age import ago
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
        changed = step(desk)
    return report(args, changed, *revoke_undone(changed))


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
        output.say_json([record_to_json(record, _sentences(record, plan), "reader") for record in records])
        return 0
    output.show(output.table([row for record in records for row in _rows(record, plan)]))
    if not records and plan.revision:
        output.say(f"no changes are kept; the plan is at revision {plan.revision}.")
    return 0


def _rows(record: Record, plan: Plan) -> Iterator[Line]:
    """Yield a row for each sentence about a change; the columns beside it are filled once."""
    head = [f"{record.revision:>4}", relative(record.at), author(record)]
    for line in _sentences(record, plan) or ["changed nothing that shows."]:
        yield Span(head[0], "dim"), Span(head[1], "dim"), Span(head[2], "dim"), Span(line)
        head = ["", "", ""]


def changes_of(record: Record, id: str) -> list[Change]:
    """Return the changes of one item."""
    of_items = [change for change in record.changes if change.kind != "plan"]
    return [change for change in of_items if change.id == id]


def worth_reading(desk: Desk, plan: Plan) -> list[Record]:
    """Return the history without the tool calls that were noted on an item."""
    if not plan.id:
        return []
    return [record for record in desk.history() if record.kind not in (CALLS, QUIET)]


def with_cleared(desk: Desk) -> Plan:
    """Return the plan with the items that others than the user took off it: cleared when it was done, or left out."""
    plan = desk.plan
    if not plan.id:
        return plan
    removed: dict[str, Item] = {}
    for record in desk.history():
        for change in record.changes:
            if change.kind == "removed":
                removed.pop(change.id, None)
                if record.by != USER:
                    removed[change.id] = change.after or change.before
    here = {item.id for item in plan.items}
    items = list(plan.items)
    for id, item in removed.items():
        if id not in here:
            _insert(items, item._replace(parent="", needs=()))
    phases = dict.fromkeys([*plan.phases, *[item.phase for item in items if item.phase]])
    return grouped(plan._replace(items=tuple(items), phases=tuple(phases)))


def _insert(items: list[Item], item: Item) -> None:
    """Put a removed item before the first one that was added later."""
    if not item.is_closed:
        item = item._replace(status=DROPPED, reason=item.reason or "left out by the agent")
    later = [index for index, other in enumerate(items) if int(other.id) > int(item.id)]
    items.insert(min(later, default=len(items)), item)


def _events(desk: Desk, args: Args) -> int:
    """Everything that happened, the newest first: what history holds, and what the log of events does."""
    plan = desk.plan
    found = [*read_events(desk), *[_happened(record, plan) for record in worth_reading(desk, plan)]]
    found.sort(key=lambda event: str(event.get("at", "")), reverse=True)
    if args.most:
        found = found[: args.most]
    if args.json:
        output.say_json(found)
        return 0
    output.show(output.table(map(_event_row, found)))
    return 0


def _event_row(event: Mapping[str, object]) -> Line:
    words = ", ".join(_word(name, value) for name, value in event.items() if name not in _KNOWN and value != "")
    when = relative(inline(str(event.get("at", ""))))
    return Span(when, "dim"), Span(inline(str(event["kind"]))), Span(words)


def _happened(record: Record, plan: Plan) -> dict[str, object]:
    """Return a line of history as an event: a call of a model, a pause, an edit."""
    kind = record.kind
    if kind == "edit" and record.dialect:
        kind = "call"
    for change in record.changes:
        if (change.kind, change.id) == ("plan", "paused"):
            kind = "pause" if change.after else "resume"
    event = {"kind": kind, "at": record.at, "by": record.by, "revision": record.revision, "plan": plan.id}
    if record.dialect:
        event["dialect"] = record.dialect
    return {**event, "changes": _sentences(record, plan)}


def _word(name: str, value: object) -> str:
    """Return a field of an event in words: a sentence as it is, a number with its name."""
    words = inline(str(value))
    if isinstance(value, list):
        words = " ".join(map(str, value))
    if name in _SENTENCES:
        return words
    return f"{name} {words}"


def compare(args: Args) -> int:
    """Show what changed between two revisions, or between one and now."""
    with open_desk(args) as desk:
        old, new = desk.at(args.revision), desk.plan
        if args.other is not None:
            new = desk.at(args.other)
    changes = describe(diff(old, new), new)
    data = {"from": old.revision, "to": new.revision, "changes": changes}
    return output.answer(args, data, *(changes or ["nothing differs."]))


def trim(args: Args) -> int:
    """Delete old history: of the plan that is named, by itself or by its session; of all plans if none is."""
    before = ago(args.older_than)
    with open_desk(args) as desk:
        plan, whose = "", "every plan in the store"
        if plan_named(args) or named(args, "session") or named(args, "agent"):
            plan = desk.plan.id
            whose = f"plan {_called(plan, desk.plan.title)}"
            if not plan:
                raise Refused("there is no plan to trim.")
        if not args.yes and not output.agrees(f"Delete the history of {whose} from before {inline(before)}?"):
            return output.answer(args, {"trimmed": 0, "plans": {}}, "nothing was deleted.")
        deleted = delete_history(desk, before, plan=plan)
        titles = {one.id: one.title for one in desk._seat.store.plans(_NAMED)}
        lines = [*_about_deleted(deleted, titles), *_about_kept(desk, before, [plan] if plan else list(titles))]
    return output.answer(args, {"trimmed": sum(deleted.values()), "plans": deleted}, *lines)


def _about_deleted(deleted: dict[str, int], titles: Mapping[str, str]) -> Iterator[str]:
    yield f"deleted {counted(sum(deleted.values()), 'change')}; no plan was changed."
    for id, count in list(deleted.items())[:_NAMED]:
        yield f"{_called(id, titles.get(id, ''))}: {counted(count, 'change')}"
    if len(deleted) > _NAMED:
        yield f"and {counted(len(deleted) - _NAMED, 'more plan')}."


def _about_kept(desk: Desk, before: str, plans: list[str]) -> Iterator[str]:
    """Yield what was kept though it is old enough."""
    records = [record for plan in plans for record in desk._seat.store.history(plan)]
    kept = sum(record.at < before for record in records)
    if kept:
        yield f"kept {counted(kept, 'change')} that a running agent has not seen yet."


def _called(id: str, title: str) -> str:
    if not title:
        return inline(id)
    return f"{inline(id)} {quoted(title)}"


def _sentences(record: Record, plan: Plan) -> list[str]:
    lines = describe(record.changes, plan, by=record.by)
    if record.kind == "edit":
        return lines
    return [f"{record.kind}: {line}" for line in lines]


def author(record: Record) -> str:
    """Return who made a change: `you`, or an agent, and the dialect it used."""
    name = "you"
    if record.by != USER:
        name = cut(inline(record.by), 12)
    if record.dialect:
        name += f" ({inline(record.dialect)})"
    return name


def record_to_json(record: Record, changes: list[str], *fields: str) -> dict[str, object]:
    """Return a line of history as JSON, with its changes as sentences."""
    names = ("revision", "at", "by", *fields, "dialect", "kind")
    return {**{name: getattr(record, name) for name in names}, "changes": changes}
