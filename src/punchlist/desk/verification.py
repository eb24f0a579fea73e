"""Run the checks of a plan's items, and keep how they went. What may be run is decided before: `checks.approvals`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..checks.look import look_at
from ..checks.output import Output, of_run, save_output
from ..checks.run import Ran, run
from ..checks.tree import Files, NoFiles, look, modified_during
from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.checks import digest, folder_of, in_words, subjects
from ..core.commands import compare
from ..core.model import Item, Plan
from ..core.text import counted, inline, visible
from ..core.verdicts import judge
from ..local.files import utc_text
from .evidence import keep, made_before, own_files, record_run

if TYPE_CHECKING:
    from . import Desk

RAN, CI = "ran", "ci"  # tiers of evidence
PASSED, FAILED, VOID, NOT_RUN, STOPPED = "passed", "failed", "void", "not run", "stopped"  # states of a result
LOOK_SECONDS = 60.0  # for a look at all files; nobody waits for a screen
_MADE = 200  # paths that a run made and that are kept


class Job(NamedTuple):
    """One check, and the items that have it."""

    check: Mapping[str, Any]
    folder: str
    items: tuple[Item, ...] = ()  # none: the default check

    @property
    def digest(self) -> str:
        return digest(self.check, self.folder)

    @property
    def words(self) -> str:
        """The check for people to read: a command exactly as it would be run."""
        return exact_words(self.check)


def exact_words(check: Mapping[str, Any]) -> str:
    """A check on one line that acts on no terminal; a command is shown exactly as it would be run."""
    if "run" in check:
        return visible(check["run"])
    return in_words(check)


class Result(NamedTuple):
    """How a check went."""

    state: str
    why: str = ""  # it did not pass
    seconds: float = 0.0
    exit: int | None = None
    output: Output | None = None
    stopped_by: int = 0  # the signal by which the user stopped it


def jobs_of(items: Iterable[Item]) -> list[Job]:
    """The checks of items, identical ones once, in the order of the items."""
    found: dict[str, Job] = {}
    for item in items:
        if item.check:
            job = Job(item.check, folder_of(item))
            known = found.get(job.digest, job)
            found[job.digest] = known._replace(items=(*known.items, item))
    return list(found.values())


def run_job(
    desk: Desk, plan: Plan, job: Job, *, tier: str = RAN, beat: Callable[[float], object] | None = None
) -> Result:
    """Run a check, or look at its file, and keep how it went: as evidence, unless the files that matter to it changed
    meanwhile. Raises StoreError."""
    before = _look(desk, job.folder)
    ran, why = _ran(desk, job, beat)
    if ran.stopped_by:
        return Result(STOPPED, why, ran.seconds, stopped_by=ran.stopped_by)
    output = None
    if "run" in job.check:
        output = of_run(ran, is_redacted=desk.settings.redact_calls)
        save_output(desk._seat.store, job.digest, output)
    result = Result(PASSED, why, ran.seconds, ran.exit, output)
    after = _look(desk, job.folder)
    row: dict[str, Any] = {"at": utc_text(ran.end), "tier": tier, "command": job.words, "exit": ran.exit}
    if output and desk.settings.keep_output:
        row["text"] = output.text
    changed: list[str] = []
    if before and after:
        scope, made = job.check.get("scope", ()), made_before(desk, plan, _holder(job))
        during = modified_during(after, ran.start, before=before, scope=scope, folder=job.folder, without=made)
        row["made"], changed = during.made[:_MADE], during.changed
    row["seconds"] = round(ran.seconds, 3)
    nothing = _ran_nothing(job, ran)
    if ran.exit is None:
        result = result._replace(state=FAILED)
    elif nothing:
        result = result._replace(state=FAILED, why=nothing)
    elif changed:
        result = result._replace(state=VOID, why=_tell_changed(changed))
    elif ran.exit:
        result = result._replace(state=FAILED)
    if ran.exit is None or changed or nothing:
        keep(desk, plan, subjects(job.check, job.folder).hidden, {**row, "why": result.why, "tree": ""})
    else:
        record_run(desk, plan, _holder(job), row, after)
    return result


def _ran(desk: Desk, job: Job, beat: Callable[[float], object] | None) -> tuple[Ran, str]:
    """Run a command, or look at a file. A command that a signal killed has the exit code that a shell gives it."""
    if "run" in job.check:
        ran = run(job.check["run"], job.folder, desk.settings.verify_minutes * 60, beat=beat)
        why = ran.why
        if ran.signal:
            ran = ran._replace(exit=128 + ran.signal)
        return ran, why
    from time import time

    now = time()
    looked = look_at(job.check, job.folder)
    return Ran(int(not looked.is_passed), start=now, end=time()), looked.why


def _ran_nothing(job: Job, ran: Ran) -> str:
    """Why a run with exit code 0 shows nothing: by its output it ran no tests. Empty if that is not so."""
    if ran.exit != 0 or "run" not in job.check:
        return ""
    return judge(compare(job.check["run"], job.folder, job.check["run"], job.folder), 0, ran.tail).why


def _look(desk: Desk, folder: str) -> Files | None:
    try:
        return look(folder, LOOK_SECONDS, own=own_files(desk))
    except NoFiles:
        return None


def _holder(job: Job) -> Item:
    """An item that has the check; of the default check there is none."""
    if job.items:
        return job.items[0]
    return Item("", "", check=job.check, check_set={"dir": job.folder})


def _tell_changed(paths: list[str]) -> str:
    more = ""
    if len(paths) > 1:
        more = f" and {counted(len(paths) - 1, 'other')}"
    return f"{inline(paths[0])}{more} changed while it ran; run it again"
