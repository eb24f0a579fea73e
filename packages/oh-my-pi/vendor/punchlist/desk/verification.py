"""Run the checks of a plan's items, and keep how they went. What may be run is decided before: `checks.approvals`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import monotonic, time

from ..checks.approvals import load as load_approvals
from ..checks.look import look_at
from ..checks.output import Output, of_run, save_output
from ..checks.run import Ran, run
from ..checks.tree import During, Files, NoFiles, look, modified_during, settle
from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.checks import digest, folder_of, in_words, subjects
from ..core.commands.compare import compare
from ..core.commands.verdicts import UNKNOWN, judge
from ..core.grades import Seen
from ..core.model import Item, Plan
from ..core.text import visible
from ..local.files import utc_text
from .evidence import keep, kept_paths, load_seen, made_before, own_files, record_run, tell_changed

if TYPE_CHECKING:
    from . import Desk

RAN, CI = "ran", "ci"  # tiers of evidence
PASSED, FAILED, VOID, NOT_RUN, STOPPED = "passed", "failed", "void", "not run", "stopped"  # states of a result
LOOK_SECONDS = 60.0  # for a look at all files; nobody waits for a screen


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
    is_kept: bool = True  # whether the store has it
    no_files: str = ""  # why the files could not be looked at


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
    desk: Desk,
    plan: Plan,
    job: Job,
    *,
    tier: str = RAN,
    seconds: float = 0.0,
    environ: Mapping[str, str] | None = None,
    beat: Callable[[float], object] | None = None,
) -> Result:
    """Run a check, or look at its file, and keep how it went: as evidence, unless the files that matter to it changed
    meanwhile. `seconds`: how long it may take; what the setting says if not given. Raises StoreError."""
    before, no_files = _look(desk, job.folder, LOOK_SECONDS)
    if before is not None:
        settle(before)
    ran, why = _ran(job, seconds or desk.settings.verify_minutes * 60, environ, beat)
    if ran.stopped_by:
        return Result(STOPPED, why, ran.seconds, stopped_by=ran.stopped_by)
    seconds = LOOK_SECONDS
    if before is None:  # and hardly a second look succeeds
        seconds = desk.settings.look_ms / 1000
    after, no_files = _look(desk, job.folder, seconds)
    row: dict[str, Any] = {"at": utc_text(ran.end), "tier": tier, "command": job.words, "exit": ran.exit}
    row["seconds"] = round(ran.seconds, 3)
    output = None
    if "run" in job.check:
        output = of_run(ran, is_redacted=desk.settings.redact_calls)
        save_output(desk._seat.store, plan.id, job.digest, output)
        if desk.settings.keep_output:
            row["text"] = output.text
    during = _compare(desk, plan, job, before, after, ran.start, is_alone=tier == CI)
    row["made"] = kept_paths(during.made)
    result = Result(PASSED, why, ran.seconds, ran.exit, output, no_files=no_files)
    does_not_count = _why_void(job, ran, during)
    if ran.exit != 0:
        result = result._replace(state=FAILED)
    if does_not_count:
        result = result._replace(state=VOID, why=does_not_count)
    if does_not_count or ran.exit is None:
        is_kept = keep(desk, plan, subjects(job.check, job.folder).hidden, {**row, "why": result.why, "tree": ""})
    else:
        is_kept = record_run(desk, plan, _holder(job), row, after)
    return result._replace(is_kept=is_kept)


def run_approved(
    desk: Desk,
    plan: Plan,
    items: Iterable[Item],
    seconds: float,
    beat: Callable[[float], object] | None = None,
) -> dict[str, Result]:
    """Run those of the items' checks that the user approved, if together they took less than so many seconds the last
    time. Return how they went, by the ids of the items; nothing of what was not run. `beat`: called while they run;
    what it raises ends the check. Raises StoreError."""
    known = load_approvals()
    jobs = [job for job in jobs_of(items) if known.has(job.check, job.folder)]
    took = [_last_seconds(desk, plan, job) for job in jobs]
    if None in took or sum(filter(None, took)) >= seconds:
        return {}
    end = monotonic() + seconds
    found: dict[str, Result] = {}
    for job in jobs:
        left = end - monotonic()
        if left <= 0:
            break
        result = run_job(desk, plan, job, seconds=left, beat=beat)
        found.update({item.id: result for item in job.items})
        if result.stopped_by:
            break
    return found


def _last_seconds(desk: Desk, plan: Plan, job: Job) -> float | None:
    """How long a check took the last time; None if that is not known."""
    if "run" not in job.check:
        return 0.0
    seen = load_seen(desk._seat.store, plan, [job.items[0]]).get(job.items[0].id, Seen())
    rows = sorted((*seen.passes, *seen.failures), key=lambda row: str(row.get("at", "")))
    known = [row["seconds"] for row in rows if isinstance(row.get("seconds"), int | float)]
    if not known:
        return None
    return float(known[-1])


def _compare(
    desk: Desk, plan: Plan, job: Job, before: Files | None, after: Files | None, start: float, *, is_alone: bool
) -> During:
    """What happened meanwhile to the files that matter to a check; nothing if that is not known."""
    if before is None or after is None:
        return During([], [])
    made = made_before(desk, plan, _holder(job))
    scope = job.check.get("scope", ())
    folder = job.folder
    return modified_during(after, start, before=before, scope=scope, folder=folder, without=made, is_alone=is_alone)


def _why_void(job: Job, ran: Ran, during: During) -> str:
    """Why a run that came to its end is not evidence; empty if it is."""
    if ran.exit is None:
        return ""
    if during.changed:
        return tell_changed(during.changed)
    return _why_unknown(job, ran)


def _ran(
    job: Job, seconds: float, environ: Mapping[str, str] | None, beat: Callable[[float], object] | None
) -> tuple[Ran, str]:
    """Run a command, or look at a file. A command that a signal killed has the exit code that a shell gives it."""
    if "run" in job.check:
        ran = run(job.check["run"], job.folder, seconds, environ=environ, beat=beat)
        why = ran.why
        if ran.signal:
            ran = ran._replace(exit=128 + ran.signal)
        return ran, why
    now = time()
    looked = look_at(job.check, job.folder)
    return Ran(int(not looked.is_passed), start=now, end=time()), looked.why


def _why_unknown(job: Job, ran: Ran) -> str:
    """Why the exit code of a run shows nothing: it ran no tests, was killed or could not be started. Else empty."""
    if "run" not in job.check:
        return ""
    line = job.check["run"]
    verdict = judge(compare(line, job.folder, line, job.folder), ran.exit, ran.tail)
    if verdict.word == UNKNOWN:
        return verdict.why
    return ""


def _look(desk: Desk, folder: str, seconds: float) -> tuple[Files | None, str]:
    """The files of a folder; or none, and why."""
    try:
        return look(folder, seconds, own=own_files(desk)), ""
    except NoFiles as error:
        return None, str(error)


def _holder(job: Job) -> Item:
    """An item that has the check; of the default check there is none."""
    if job.items:
        return job.items[0]
    return Item("", "", check=job.check, check_set={"dir": job.folder})
