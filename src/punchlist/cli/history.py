"""The commands about what was: log, diff, undo, redo, restore, trim."""

from __future__ import annotations

from argparse import Namespace

from ..core.changes import Record, describe, diff
from ..core.codec import to_json
from ..core.model import USER, Plan
from ..core.text import counted, cut, inline
from ..desk import Desk
from ..settings import ago
from . import screen


def step(desk: Desk, args: Namespace, which: str) -> int:
    """Undo or redo."""
    before = desk.plan
    after = desk.undo() if which == "undo" else desk.redo()
    return _report(before, after, args)


def restore(desk: Desk, args: Namespace) -> int:
    before = desk.plan
    return _report(before, desk.restore(args.revision), args)


def log(desk: Desk, args: Namespace) -> int:
    """Every change, the newest first."""
    plan = desk.plan
    records = list(reversed(desk.history() if plan.id else []))
    if args.most:
        records = records[: args.most]
    if getattr(args, "json", False):
        screen.say_json([_logged(record, plan) for record in records])
        return 0
    for record in records:
        head = f"{record.revision:>4}  {inline(record.at[:10])} {inline(record.at[11:19])}  {_author(record)}"
        for index, line in enumerate(_told(record, plan) or ["changed nothing that shows."]):
            screen.say(f"{head if not index else ' ' * len(head)}  {line}")
    return 0


def compare(desk: Desk, args: Namespace) -> int:
    """What differs between two revisions, or between one and now."""
    old = desk.at(args.revision)
    new = desk.plan if args.other is None else desk.at(args.other)
    told = describe(diff(old, new), new)
    if getattr(args, "json", False):
        screen.say_json({"from": old.revision, "to": new.revision, "changes": told})
    else:
        for line in told or ["nothing differs."]:
            screen.say(line)
    return 0


def trim(desk: Desk, args: Namespace) -> int:
    gone = desk.store.trim(ago(args.older_than))
    if getattr(args, "json", False):
        screen.say_json({"trimmed": gone})
    else:
        screen.say(f"{counted(gone, 'change')} forgotten; every plan is as it was.")
    return 0


def _report(before: Plan, after: Plan, args: Namespace) -> int:
    if getattr(args, "json", False):
        screen.say_json(to_json(after))
        return 0
    for line in describe(diff(before, after), after) or ["nothing changed."]:
        screen.say(line)
    return 0


def _told(record: Record, plan: Plan) -> list[str]:
    said = describe(record.changes, plan)
    return [f"{record.kind}: {line}" for line in said] if record.kind != "edit" else said


def _author(record: Record) -> str:
    name = "you" if record.by == USER else cut(inline(record.by), 12)
    return f"{name} ({inline(record.dialect)})" if record.dialect else name


def _logged(record: Record, plan: Plan) -> dict[str, object]:
    said = {name: getattr(record, name) for name in ("revision", "at", "by", "reader", "dialect", "kind")}
    return {**said, "changes": _told(record, plan)}
