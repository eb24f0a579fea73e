"""Plan mode: the file that the plan is written to, and what becomes of it when the user approves."""

from __future__ import annotations

import os

from .core.errors import Refused, StoreError
from .core.model import USER, Plan
from .core.ops import extend, set_mode
from .core.outline import entries
from .core.text import cut, inline
from .desk import Desk
from .private import make_folder
from .settings import state_folder

_LARGEST = 1_000_000  # characters of a plan file
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")  # that ids of plans are made of, in all versions
_LONGEST_ID = 64


def plan_file(plan: Plan) -> str:
    """Where the plan of plan mode is written. It stays when plan mode is left. Raises Refused for an id that is not one
    of ours: it comes from a store that others may have written, and a path made of it could lead anywhere."""
    if not has_own_id(plan):
        raise Refused(
            f"the plan's id {cut(inline(plan.id), 40)!r} was not made by punchlist and cannot name a file; "
            f"copy the plan to another session to plan there: punchlist carry FROM TO"
        )
    return os.path.join(os.path.realpath(state_folder(os.environ)), "plans", f"{plan.id}.md")


def has_own_id(plan: Plan) -> bool:
    """Whether an id is one that punchlist makes: letters and digits, and nothing that means something in a path."""
    return 0 < len(plan.id) <= _LONGEST_ID and set(plan.id) <= _LETTERS


def read_plan_file(desk: Desk) -> str:
    """What was written there; nothing if nothing was."""
    plan = desk.plan
    if not has_own_id(plan):
        return ""
    try:
        with open(plan_file(plan), encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be read: {error.strerror}.") from None


def prepared(plan: Plan) -> str:
    """Where the plan will be written, in a folder that is there."""
    path = plan_file(plan)
    try:
        make_folder(os.path.dirname(path))
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be made: {error.strerror}.") from None
    return path


def write_plan_file(desk: Desk, text: str) -> str:
    """Keep the plan of plan mode; where it is."""
    path = prepared(desk.plan)
    try:
        draft = f"{path}.{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text[:_LARGEST].encode("utf-8", "replace").decode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be written: {error.strerror}.") from None
    return path


def switched(desk: Desk, mode: str) -> Plan:
    """The user wants act, plan or quiet. Who goes from plan mode to work approves what was planned."""
    if mode == "act" and desk.plan.mode == "plan":
        return approved(desk, read_plan_file(desk))
    if mode == "plan" and desk.plan.id:
        plan_file(desk.plan)  # refused before anything is changed
    return desk.change(lambda plan: set_mode(plan, mode))


def approved(desk: Desk, text: str = "", *, by: str = USER, seed: bool | None = None) -> Plan:
    """The user has approved: work may begin. An empty plan takes the headings and checkboxes of the approved text, if
    that is asked for, or else if the settings say so."""
    found = entries(text) if text and (desk.settings.seed_plan if seed is None else seed) else []

    def edit(plan: Plan) -> Plan:
        plan = set_mode(plan, "act")
        if plan.items or not found:
            return plan
        return extend(plan, [{"text": e.text, "phase": e.phase, "status": e.status} for e in found])

    return desk.change(edit, by=by)
