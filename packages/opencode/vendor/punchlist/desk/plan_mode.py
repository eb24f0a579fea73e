"""Plan mode: the file that the plan is written to, and what becomes of it when the user approves. And the quiet
context around a commit or a pull request."""

from __future__ import annotations

import os

from ..core._typing import TYPE_CHECKING
from ..core.diff import QUIET
from ..core.errors import Refused, StoreError
from ..core.model import USER, Plan
from ..core.ops import extend, set_mode
from ..core.outline import entries
from ..core.text import cut, inline
from ..local.files import make_folder, open_file, time_text, write_file
from ..local.settings import state_folder
from . import Desk
from .commit import Changed

if TYPE_CHECKING:
    from ..core.types import Mode


_LARGEST = 1_000_000  # characters of a plan file
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")  # that ids of plans are made of, in all versions
_LONGEST_ID = 64
_ABANDONED = 600  # seconds after which a quiet context of another session is ended


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
        with os.fdopen(open_file(plan_file(plan)), encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be read: {error.strerror}.") from None


def prepare_file(plan: Plan) -> str:
    """Where the plan will be written, in a folder that is there."""
    path = plan_file(plan)
    try:
        make_folder(os.path.dirname(path))
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be made: {error.strerror}.") from None
    return path


def write_plan_file(desk: Desk, text: str) -> str:
    """Keep the plan of plan mode; where it is."""
    path = prepare_file(desk.plan)
    try:
        write_file(path, text[:_LARGEST].encode("utf-8", "replace"), is_synced=True)
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be written: {error.strerror}.") from None
    return path


def switch_mode(desk: Desk, mode: Mode) -> Changed:
    """The user wants act, plan or quiet. Who goes from plan mode to work approves what was planned."""
    if mode == "act" and desk.plan.mode == "plan":
        return approve(desk, read_plan_file(desk))
    if mode == "plan" and desk.plan.id:
        plan_file(desk.plan)  # refused before anything is changed
    return desk.change(lambda plan: set_mode(plan, mode))


def approve(desk: Desk, text: str = "", *, by: str = USER, seed: bool | None = None) -> Changed:
    """The user has approved: work may begin. An empty plan takes the headings and checkboxes of the approved text, if
    that is asked for, or else if the settings say so."""
    found = entries(text) if text and (desk.settings.seed_plan if seed is None else seed) else []

    def edit(plan: Plan) -> Plan:
        plan = set_mode(plan, "act")
        if plan.items or not found:
            return plan
        return extend(plan, [{"text": e.text, "phase": e.phase, "status": e.status} for e in found])

    return desk.change(edit, by=by)


# --- quiet -----------------------------------------------------------------------------------------------------------


def enter(desk: Desk) -> Plan:
    """An agent enters a quiet context: until it leaves, or its turn ends, the list is left alone."""
    plan = desk.plan
    if not plan.id or plan.mode != "act":
        return plan
    return desk.change(lambda plan: set_mode(plan, "quiet"), by=desk.agent, kind=QUIET).plan


def leave(desk: Desk) -> Plan:
    """End a quiet context that this agent entered, or one that another left behind. The user's own stays."""
    plan = desk.plan
    if plan.mode != "quiet" or not _was_entered(desk, plan):
        return plan
    return desk.change(lambda plan: set_mode(plan, "act"), by=desk.agent, kind=QUIET).plan


def _was_entered(desk: Desk, plan: Plan) -> bool:
    for record in reversed(desk._seat.store.history(plan.id)):
        if any(change.kind == "plan" and change.id == "mode" for change in record.changes):
            is_own = record.reader == desk._seat.reader_key or record.at < time_text(-_ABANDONED)
            return bool(record.kind == QUIET and is_own)
    return False


def makes_commit(args: object) -> bool:
    """Whether the arguments of a shell tool are a command that commits or opens a pull request."""
    command = (args.get("command") or args.get("cmd")) if isinstance(args, dict) else args
    if isinstance(command, list):
        command = " ".join(map(str, command))
    if not isinstance(command, str):
        return False
    for separator in ";|&()\n\"'`":
        command = command.replace(separator, " ; ")
    words = command.split()
    return any(_commits(words, place) for place in range(len(words)))


def _commits(words: list[str], place: int) -> bool:
    """Whether a command that begins at this place is one of those, with options before its verb."""
    verbs = _COMMITS.get(words[place].rpartition("/")[2], ())
    if not verbs:
        return False
    options = words[place + 1 : place + _MOST_OPTIONS]
    while options and options[0].startswith("-"):
        options = options[2:] if options[0] in ("-C", "-c", "-R", "--repo") else options[1:]
    return any(tuple(options[: len(verb)]) == verb for verb in verbs)


_MOST_OPTIONS = 40  # words of a command that are looked at for its verb


_COMMITS: dict[str, tuple[tuple[str, ...], ...]] = {
    "git": (("commit",),),
    "hg": (("commit",), ("ci",)),
    "svn": (("commit",), ("ci",)),
    "jj": (("commit",), ("describe",)),
    "gh": (("pr", "create"),),
    "glab": (("mr", "create"),),
    "tea": (("pr", "create"), ("pulls", "create")),
    "hub": (("pull-request",),),
    "az": (("repos", "pr", "create"),),
}
