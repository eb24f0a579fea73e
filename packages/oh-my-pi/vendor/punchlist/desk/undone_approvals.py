"""What a step back takes with it: that a check may be run whose approval it undoes."""

from __future__ import annotations

from ..core._typing import TYPE_CHECKING
from ..core.checks import digest, folder_of, is_trusted
from ..core.model import Item, Plan

if TYPE_CHECKING:
    from .commit import Changed


def revoke_undone(changed: Changed) -> list[str]:
    """Take back that checks may be run which a step back has taken off or which are not approved any more, and say so.
    What is approved again in the plan is not run before the user has approved it again."""
    before, after = _run_checks(changed.before), _run_checks(changed.plan)
    if before.keys() == after.keys():
        return []
    from ..checks import approvals
    from .verification import exact_words

    known = approvals.load().known
    lines = []
    for name in (before.keys() - after.keys()) & known.keys():
        approvals.revoke(name)
        lines.append(f"{exact_words(before[name].check)} is not approved any more, and not run.")
    for name in after.keys() - before.keys() - known.keys():
        item = after[name]
        lines.append(
            f"the check of {item.id} is not approved to be run; to approve it: punchlist check {item.id} --approve"
        )
    return sorted(lines)


def _run_checks(plan: Plan) -> dict[str, Item]:
    """The items with a command that the user set or approved, by the digest of it."""
    return {
        digest(item.check, folder_of(item)): item for item in plan.items if "run" in item.check and is_trusted(item)
    }
