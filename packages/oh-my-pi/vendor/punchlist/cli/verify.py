"""`punchlist verify`: run checks, and say which completed items are verified."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence

from ..checks import approvals
from ..checks.default import DefaultCheck, find_default
from ..checks.run import INSIDE, RUNNER
from ..core import ops
from ..core.checks import IMPORT, digest, folder_of, is_trusted
from ..core.errors import Refused
from ..core.grades import FAILED, PASSED, UNKNOWN, VERIFIED, WAIVED, Grade, in_short, passing
from ..core.model import DONE, DROPPED, USER, Item, Plan
from ..core.text import cut, inline, quoted
from ..desk import Desk
from ..desk.evidence import Graded, graded
from ..desk.verification import (
    CI,
    LOOK_SECONDS,
    NOT_RUN,
    RAN,
    STOPPED,
    Job,
    Result,
    exact_words,
    jobs_of,
    run_job,
)
from ..desk.verification import PASSED as WENT_WELL
from ..local import session_links
from ..local.clock import clock_text
from . import output, reports
from .caller import caller, require_user
from .desk import is_named, open_desk, open_own_desk
from .parser import Args, misuse
from .progress import Progress
from .reports import Line, Report
from .times import relative

_NOT_APPROVED = "not run: not approved"
# Variables that make runners do something else; they are dropped where it is not known what an agent was started with.
_STEERING = (
    *(
        "PYTEST",
        "MAKE",
        "GNUMAKE",
        "LD_",
        "DYLD_",
        "NODE_OPTIONS",
        "PYTHON",
        "BASH_",
        "ENV",
        "GOFLAGS",
        "CARGO",
        "RUST",
    ),
    *("npm_config_", "JEST", "VITEST", "TOX_", "NOX", "MYPY", "RUFF", "GIT_"),
)
_SHORT = 8  # characters of a digest that are shown


def verify(args: Args) -> int:
    """Run the checks of completed items, or of those that are named; list, give and take back approvals."""
    if os.environ.get(INSIDE) or caller().by == RUNNER.agent:
        raise Refused("verify does not run inside of a check: that would never end.")
    _refuse_mixed(args)
    if os.name == "posix":
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever started us may ignore it: then no exit code is told
    if args.approvals:
        return _list_approvals(args)
    for what in ("trust", "revoke"):
        if getattr(args, what):
            require_user(f"verify --{what}")
    if args.revoke:
        return _revoke(args)
    trusted: list[str] = []
    if args.trust:
        trusted = _trust(args)
    with open_desk(args) as desk:
        found = approvals.load()
        if found.problem:
            output.complain(found.problem)
        return _verify(desk, args, trusted)


def _refuse_mixed(args: Args) -> None:
    """Refuse options that would be passed over beside others."""
    asked = [f"--{name}" for name in ("approvals", "revoke", "trust") if getattr(args, name)]
    if len(asked) > 1:
        misuse("verify", f"{asked[0]} and {asked[1]} are two things to do: one at a time")
    if asked and asked != ["--trust"] and (args.ids or args.all or args.changed or args.strict or args.tier):
        misuse("verify", f"{asked[0]} runs nothing, and takes no ids and no other option of verify")
    if args.json and args.format not in ("text", "json"):
        misuse("verify", f"--json and --format {args.format} are two forms of output: one of them")


# --- approvals -------------------------------------------------------------------------------------------------------


def _list_approvals(args: Args) -> int:
    found = approvals.load()
    rows = [
        {"id": key[:_SHORT], "check": dict(one.check), "dir": one.folder, "at": one.at}
        for key, one in found.known.items()
    ]
    lines = [
        f"{key[:_SHORT]}  {Job(one.check, one.folder).words}  in {output.short(one.folder)}, {relative(one.at)}"
        for key, one in found.known.items()
    ]
    if found.problem:
        output.complain(found.problem)
        output.answer(args, rows)
        return 1
    return output.answer(args, rows, *(lines or ["nothing is approved."]))


def _trust(args: Args) -> list[str]:
    """Approve the checks of items: they count as the user's own, and may be run. Return the ids."""
    with open_own_desk(args) as desk:
        plan = desk.plan
        trusted = _trusted(plan, args.trust)
        for id in trusted:
            item = ops.find(plan, id)
            approve_item(desk, item)
            if args.format == "text" and not args.json:
                output.say(output.harmless(approved_words(item)))
    return trusted


def _trusted(plan: Plan, words: Sequence[str]) -> list[str]:
    if "all" in words:
        return [item.id for item in plan.items if item.check]
    return list(ops.resolve_all(plan, words))


def approve_item(desk: Desk, shown: Item) -> Plan:
    """Approve the check of an item as it was shown, for its grade and to be run here. Raises Refused if the item has
    another one by now: nobody has seen that."""
    wanted = digest(shown.check, folder_of(shown))

    def approved(plan: Plan) -> Plan:
        item = ops.find(plan, shown.id)
        if digest(item.check, folder_of(item)) != wanted:
            raise Refused(f"the check of item {item.id} was changed meanwhile, so it is not approved.")
        return ops.approve_check(plan, shown.id)

    plan = desk.change(approved, by=USER).plan
    if "run" in shown.check:
        approvals.approve(shown.check, folder_of(shown))
    return plan


def approved_words(item: Item) -> str:
    """What was approved, exactly as it would be run."""
    return f"approved the check of {item.id}: {exact_words(item.check)} (in {output.short(folder_of(item))})"


def _revoke(args: Args) -> int:
    """Take approvals back: of an item, or by the beginning of an id in the list."""
    taken = []
    with open_own_desk(args) as desk:
        for words in args.revoke:
            known = [key for key in approvals.load().known if len(words) >= _SHORT and key.startswith(words)]
            if not known:
                known = [_revoke_item(desk, words)]
            for key in known:
                approvals.revoke(key)
                taken.append(key[:_SHORT])
    return output.answer(args, {"revoked": taken}, *[f"revoked {key}; it is not run any more." for key in taken])


def _revoke_item(desk: Desk, words: str) -> str:
    item = ops.find(desk.plan, ops.resolve(desk.plan, words))
    if not item.check:
        raise Refused(f"item {item.id} has no check, and nothing to revoke.")
    if item.check_set.get("approved"):
        kept = {name: value for name, value in item.check_set.items() if name != "approved"}
        desk.change(lambda plan: ops.put(plan, ops.find(plan, item.id)._replace(check_set=kept)), by=USER)
    return digest(item.check, folder_of(item))


# --- what is run -----------------------------------------------------------------------------------------------------


def _verify(desk: Desk, args: Args, trusted: Sequence[str]) -> int:
    plan = desk.plan
    default = None
    if not args.ids:
        default = find_default(desk.settings, desk._seat.place)
    if not plan.id and not default and (is_named(args) or args.store or args.tier):  # else there is nothing to do here
        raise Refused("there is no plan here to verify; `punchlist plans` lists those there are.")
    items = _choose(plan, args, trusted)
    jobs = jobs_of([item for item in items if not item.waived])
    if default:
        jobs.append(Job(default.check, default.folder))
    if args.changed:
        jobs = _not_passing(desk, plan, jobs)
    allowed = _allowed(desk, args, jobs, default)
    results = _run(desk, args, plan, jobs, allowed)
    plan = desk.plan  # as it is by now
    items = tuple([found for item in items if (found := ops.lookup(plan, item.id))])
    report = _report(desk, args, plan, items, results, default)
    return _tell(args, report)


def _choose(plan: Plan, args: Args, trusted: Sequence[str]) -> tuple[Item, ...]:
    """The items that this is about: those that are named, or completed ones that have a check, and more if asked."""
    if args.ids:
        named = ops.resolve_all(plan, [*args.ids, *trusted])
        return tuple([ops.find(plan, id) for id in dict.fromkeys(named)])
    return tuple([item for item in plan.items if item.id in trusted or _is_meant(item, args)])


def _is_meant(item: Item, args: Args) -> bool:
    if item.status == DONE:
        return bool(item.check or item.waived or args.strict)
    return args.all and item.status != DROPPED and bool(item.check)


def _not_passing(desk: Desk, plan: Plan, jobs: Sequence[Job]) -> list[Job]:
    """The checks that were not seen to pass on the files as they are now."""
    known = graded(desk, _with_jobs(plan, jobs), LOOK_SECONDS)
    return [job for job in jobs if not _is_passing(job, known)]


def _is_passing(job: Job, known: Graded) -> bool:
    item = _stand_in(job)
    if job.items:
        item = job.items[0]
    seen, tree = known.seen.get(item.id), known.trees.get(item.id, "")
    return seen is not None and bool(tree) and passing(item, seen, tree) is not None


def _stand_in(job: Job) -> Item:
    """An item for a check that no item has."""
    return Item("default", "default", check=job.check, check_set={"by": USER, "dir": job.folder})


def _with_jobs(plan: Plan, jobs: Sequence[Job]) -> Plan:
    loose = [_stand_in(job) for job in jobs if not job.items]
    return plan._replace(items=(*plan.items, *loose))


def _allowed(desk: Desk, args: Args, jobs: Sequence[Job], default: DefaultCheck | None) -> set[str]:
    """The digests of the checks that may be run. On a terminal the user is asked about the others, once for each."""
    known = approvals.load()
    allowed: set[str] = set()
    for job in jobs:
        is_own = not job.items and default is not None and default.is_approved
        if is_own or known.has(job.check, job.folder) or (_may_ask(args) and _is_here(job) and _agrees(job)):
            is_known = is_own or known.has(job.check, job.folder)
            if is_known or _remember(desk, job):
                allowed.add(job.digest)
    return allowed


def _may_ask(args: Args) -> bool:
    """Whether the user can be asked: at a terminal that is not an agent's, and never in CI."""
    if args.tier == CI or caller().is_agent:
        return False
    return bool(sys.stdin and sys.stdin.isatty() and sys.stderr.isatty())


def _agrees(job: Job) -> bool:
    about = "the punchlist.toml of this project has a default check:"
    end = "run it, now and from now on?"
    if job.items:
        item = job.items[0]
        about = f"item {item.id} {quoted(item.text, 60)} has a check {_set_by(item)}:"
        end = "run it, now and from now on, and count it as yours?"
    shown = [about, f"    {job.words}", f"    in {output.short(job.folder)}", end]
    return output.agrees("\n".join(shown))


def _set_by(item: Item) -> str:
    by = str(item.check_set.get("by", ""))
    if by == IMPORT:
        return "that came with a file"
    if by == USER:
        return "that was set elsewhere"
    return f"that {cut(inline(by), 40) or 'an agent'} has set"


def _remember(desk: Desk, job: Job) -> bool:
    """Keep that the user approved a check, for the items that still have it; whether there are any."""
    if not job.items:
        approvals.approve(job.check, job.folder)
        return True
    approved = []
    for item in job.items:
        try:
            approved.append(approve_item(desk, item))
        except Refused as error:
            output.complain(str(error))
    return bool(approved)


def _run(desk: Desk, args: Args, plan: Plan, jobs: Sequence[Job], allowed: set[str]) -> dict[str, Result]:
    """Run checks one after another, until the user stops it."""
    results = {job.digest: Result(NOT_RUN, _tell_not_run(job)) for job in jobs}
    ready = [job for job in jobs if job.digest in allowed and _is_here(job)]
    stopped = Result(NOT_RUN, "not run: stopped before")
    environ = _environment()
    with Progress(len(ready)) as progress:
        for place, job in enumerate(ready):
            try:
                progress.begin(job.words)
                tier = args.tier or RAN
                results[job.digest] = run_job(desk, plan, job, tier=tier, environ=environ, beat=progress.beat)
            except KeyboardInterrupt:
                results[job.digest] = Result(STOPPED, "stopped", stopped_by=2)
            if results[job.digest].state == STOPPED:
                results.update({rest.digest: stopped for rest in ready[place + 1 :]})
                break
    return results


def _is_here(job: Job) -> bool:
    """Whether the directory of a check is on this machine: a store may come from another one."""
    return os.path.isdir(job.folder)


def _tell_not_run(job: Job) -> str:
    if _is_here(job):
        return _NOT_APPROVED
    words = f"not run: its directory is not there: {inline(job.folder) or 'it has none'}"
    if not job.items:
        return words
    return f"{words}; set it again where it belongs: punchlist check {job.items[0].id} {_retyped(job)}"


def _retyped(job: Job) -> str:
    """A check as it is typed to set it."""
    if "run" in job.check:
        return shlex.quote(job.words)
    if "file" in job.check:
        return f"--file {shlex.quote(inline(job.check['file']))}"
    return f"--contains {' '.join([shlex.quote(inline(word)) for word in job.check['contains']])}"


def _environment() -> dict[str, str]:
    """The environment of checks. In an agent's shell it is what the agent was started with: `MAKEFLAGS=-n` or another
    PATH there would make anything pass."""
    who = caller()
    if not who.is_agent:
        return dict(os.environ)
    started = session_links.environment_of_agent(who.session)
    if started:
        return {name: started[name] for name in os.environ if name in started}
    return {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}


# --- what is said ----------------------------------------------------------------------------------------------------


def _report(
    desk: Desk,
    args: Args,
    plan: Plan,
    items: Sequence[Item],
    results: Mapping[str, Result],
    default: DefaultCheck | None,
) -> Report:
    known = graded(desk, plan, LOOK_SECONDS)
    lines = [_line(item, known, results) for item in items]
    stopped_by = max([one.stopped_by for one in results.values()], default=0)
    verified = sum(line.is_ok and line.grade == VERIFIED for line in lines)
    about_default = ""
    if default:
        about_default = _tell_default(default, results)
    dropped: tuple[str, ...] = ()
    if not args.ids:
        dropped = tuple([item.id for item in plan.items if _is_dropped(item)])
    has_failed = _has_default_failed(default, results)
    return Report(plan.id, tuple(lines), verified, about_default, stopped_by, has_failed, dropped, args.strict)


def _has_default_failed(default: DefaultCheck | None, results: Mapping[str, Result]) -> bool:
    if default is None:
        return False
    result = results.get(Job(default.check, default.folder).digest)
    return result is not None and result.state == FAILED


def _is_dropped(item: Item) -> bool:
    """Whether an agent dropped an item that has a check which the user set or approved."""
    if item.status != DROPPED or item.waived or not is_trusted(item):
        return False
    return item.closed is None or item.closed.by != USER


def _line(item: Item, known: Graded, results: Mapping[str, Result]) -> Line:
    result = None
    if item.check:
        result = results.get(digest(item.check, folder_of(item)))
    grade = known.grades.get(item.id)
    if grade is None:
        is_ok, words = _tell_open(item, known, result)
        return Line(item, "", is_ok, words, result)
    is_ok = grade.word == WAIVED or (grade.word == VERIFIED and _has_counted(result))
    return Line(item, grade.word, is_ok, _tell_grade(item, grade, result), result)


def _has_counted(result: Result | None) -> bool:
    """Whether the run that was just made, if any, passed and is kept: an older pass on the same files does not make up
    for it."""
    return result is None or (result.state == WENT_WELL and result.is_kept)


def _tell_open(item: Item, known: Graded, result: Result | None) -> tuple[bool, str]:
    """What there is to say of an item that is not completed, and whether its check passes."""
    if item.waived:
        return True, f"waived: {inline(str(item.waived.get('why', '')))}"
    if not item.check:
        return False, "no check"
    if result is not None and not _has_counted(result):
        return False, _tell_result(result)
    row = passing(item, known.seen[item.id], known.trees.get(item.id, "")) if item.id in known.seen else None
    if row is None:
        return False, "its check passed, but that could not be kept"
    return True, f"its check passes since {clock_text(str(row['at']))}: done?"


def _tell_grade(item: Item, grade: Grade, result: Result | None) -> str:
    words = in_short(grade, clock_text)
    if grade.word == WAIVED:
        return words
    if not item.check:
        return "no check"
    if result is not None and not _has_counted(result) and not _is_graded(result, grade):
        return _tell_result(result)
    if grade.word == PASSED:
        return f"{words}; to count it: punchlist check {item.id} --approve"
    if grade.word == UNKNOWN:
        return f"{words}, but it is not known on which files{_tell_no_files(result)}"
    if result is not None and result.why and not result.output:
        return f"{words} ({result.why})"
    if not words and result is not None:
        return f"{result.state}, but that does not count: {grade.why}"
    return words or "its check was not run"


def _tell_no_files(result: Result | None) -> str:
    if result is None or not result.no_files:
        return ""
    return f": {result.no_files}"


def _is_graded(result: Result, grade: Grade) -> bool:
    """Whether a failure is what the grade says."""
    return grade.word == FAILED and result.state == FAILED and result.exit is not None and result.is_kept


def _tell_result(result: Result) -> str:
    if result.state == NOT_RUN:
        return result.why
    words = f"{result.state}: {result.why}".removesuffix(": ")
    words = words.replace("void: ", "does not count: ").replace("stopped: stopped", "stopped")
    if not result.is_kept:
        words += ", but that could not be kept"
    return words


def _tell_default(default: DefaultCheck, results: Mapping[str, Result]) -> str:
    job = Job(default.check, default.folder)
    result = results.get(job.digest)
    if result is None:
        return f"default check: {job.words}: passed on these files"
    if result.state == WENT_WELL:
        return f"default check: {job.words}: passed"
    return f"default check: {job.words}: {_tell_result(result)}"


def _tell(args: Args, report: Report) -> int:
    form = args.format
    if args.json:
        form = "json"
    reports.FORMATS[form](report)
    if report.stopped_by:
        return 128 + report.stopped_by
    return int(not report.is_ok)
