"""What a command that was run says about a check, with a look at the project where that is needed."""

from __future__ import annotations

from time import time

from ..core._typing import TYPE_CHECKING, Any
from ..core.checks import folder_of, subjects
from ..core.commands.compare import COVERS, HIDDEN, OTHER, Match, compare
from ..core.commands.verdicts import UNKNOWN, judge
from ..core.model import Item, Plan
from ..local.files import time_text
from .evidence import keep, kept_paths, look_seconds, made_before, own_files, record_run, tell_changed

if TYPE_CHECKING:
    from . import Desk
    from .tool_use import Ran


def note_command(desk: Desk, plan: Plan, item: Item, ran: Ran) -> None:
    """Keep what one command says about the check of an item."""
    folder = folder_of(item)
    match = compare(item.check["run"], folder, ran.line, ran.folder)
    if match.kind == COVERS:
        match = _looked_at(match, item.check["run"], folder, ran.line, ran.folder)
    if match.kind == OTHER:
        return
    row: dict[str, Any] = {"at": time_text(), "tier": "seen", "command": ran.line, "exit": ran.exit}
    if ran.seconds is not None:
        row["seconds"] = round(ran.seconds, 3)
    verdict = judge(match, ran.exit, ran.output)
    if ran.why or verdict.word == UNKNOWN:
        why = match.why or ran.why or verdict.why
        keep(desk, plan, subjects(item.check, folder).hidden, {**row, "why": why, "tree": ""})
    else:
        _record(desk, plan, item, row, ran.seconds)


def _record(desk: Desk, plan: Plan, item: Item, row: dict[str, Any], seconds: float | None) -> None:
    """Keep a run, with the files that it made. If it is known when it began, files that changed meanwhile void it:
    nobody knows which contents it saw."""
    from ..checks.tree import NoFiles, look, modified_during

    folder = folder_of(item)
    try:
        files = look(folder, look_seconds(desk), own=own_files(desk))
    except NoFiles:
        record_run(desk, plan, item, row)
        return
    if seconds is not None:
        scope, made = item.check.get("scope", ()), made_before(desk, plan, item)
        during = modified_during(files, time() - seconds, scope=scope, folder=folder, without=made)
        if during.changed:
            row = {**row, "why": tell_changed(during.changed), "tree": ""}
            keep(desk, plan, subjects(item.check, folder).hidden, row)
            return
        row["made"] = kept_paths(during.made)
    record_run(desk, plan, item, row, files)


def _looked_at(match: Match, check: str, folder: str, line: str, here: str) -> Match:
    """A run of more than the check, after a look whether the project has what the check names, where it is expected."""
    from ..checks.wider_runs import find_missing, find_roots

    if any(words[0] == "pytest" for words in match.runs):
        match = compare(check, folder, line, here, find_roots(folder))
    missing = find_missing(match.needs)
    if missing:
        return Match(HIDDEN, f"more ran than the check asks for, and {missing}")
    return match
