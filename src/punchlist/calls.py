"""A model's tool call, worked out: from what was sent to the plan it leads to. Nothing is loaded or saved here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .core.errors import Partial, Refused
from .core.merge import merge, protect
from .core.model import Plan
from .core.rules import obeyed
from .core.shape import Lenience, mend
from .dialects import STATUS_WORDS, Call, Dialect

_UNDERSTOOD = 10  # notes on what was understood, in one answer


class Worked(NamedTuple):
    """What a call leads to."""

    plan: Plan
    errors: tuple[str, ...] = ()  # what of a batch went wrong
    kept: tuple[str, ...] = ()  # wishes that were not granted, a sentence each


def understood(dialect: Dialect, call: Call, *, tolerant: bool) -> tuple[Call, list[str]]:
    """The call in the form its dialect asks for, and what had to be understood for that. Raises Refused."""
    notes: list[str] = []
    if tolerant or dialect.tolerant:
        args, notes = mend(call.args, call.tool.schema, Lenience(STATUS_WORDS, call.tool.fill, call.tool.ids))
        call = call._replace(args=args)
    wrong = dialect.judge(call)
    if wrong:
        raise Refused(wrong)
    return call, [f"note: {line}." for line in notes[:_UNDERSTOOD]]


def worked_out(dialect: Dialect, call: Call, seen: Plan, now: Plan, *, closed_is_final: bool) -> Worked:
    """Apply the call to the plan its author saw, and bring the result into the plan as it is now."""
    rules = dialect.rules
    errors: Sequence[str] = ()
    try:
        draft = dialect.apply(seen, call)
    except Partial as partial:
        draft, errors = partial.plan, partial.errors
    draft = obeyed(draft, rules, seen)
    merged = merge(seen, draft, now)
    guarded = protect(now, merged.plan, closed_is_final=closed_is_final)
    plan = guarded.plan
    if rules.clear_when_done and not draft.open_items and not plan.open_items:
        plan = plan._replace(items=())
    return Worked(plan, tuple(errors), (*merged.kept, *guarded.kept))
