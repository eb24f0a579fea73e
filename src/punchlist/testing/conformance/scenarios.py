"""The scenarios: each is one sentence about an agent that keeps a plan, and a function that finds out."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Thread
from typing import NamedTuple

from ...core.errors import PunchlistError
from ...core.model import CLOSED
from ..plain_data import as_text, plain
from ..scripted_model import ScriptedCall
from .plan_tools import PlanWriter, offered, plan_tool
from .trial import STOP, Failed, MakeAgent, NotRun, Step, Trial, environment

READ, FIX, LOG = "Read the parser", "Fix the quoting bug", "Write the changelog"
TESTS, RELEASE, THANKS = "Run the tests", "Tag the release", "Thank the reporter"
ADDED = "Ask Ada about the lock file"
RENAMED = "Write the changelog and the notes"
NOTED = "the heron file has an example"
PROMPT = "The config reader drops a line. Please take care of it."
GO_ON = "Please go on."
SUMMARY = "Summary of the conversation so far: some of the work is done. Please go on."
MARK = "Heron at dawn."  # something said early, by which an old conversation is recognized
QUESTION = "There are two lock files. Which of them should I keep?"
_WRITES = 25  # of the user, while the agent writes
_WRITER = """
import sys
import punchlist
from punchlist import ops

store, session, count = sys.argv[1:]
with punchlist.open(store, session=session) as desk:
    for number in range(int(count)):
        desk.change(lambda plan: ops.add(plan, f"User's item {number}"))
"""
_BEAT = 0.01  # seconds between two looks at another process


class Stage(NamedTuple):
    """What a scenario works with."""

    make_agent: MakeAgent
    folder: Path  # of this scenario alone
    seconds: float  # that a run, another process or a thread may take
    trials: list[Trial]  # so far

    def within(self, name: str) -> Stage:
        """The same with a store of its own."""
        return self._replace(folder=self.folder / name)

    def trial(self, *steps: Step, session: str = "s1") -> Trial:
        """An agent whose model plays these steps."""
        made = Trial(self.make_agent, self.folder, session, steps, self.seconds)
        self.trials.append(made)
        return made


class Scenario(NamedTuple):
    """One thing that an agent is put through."""

    name: str
    shows: str
    play: Callable[[Stage], None]


def _writer(trial: Trial) -> PlanWriter:
    if trial.writer is None:
        raise Failed("no plan tool of a known dialect was offered.")
    return trial.writer


def add(*texts: str) -> Step:
    return lambda trial: [_writer(trial).add(*texts)]


def finish(*texts: str) -> Step:
    return lambda trial: [_writer(trial).finish(*texts)]


# --- what is offered and told ----------------------------------------------------------------------------------------


def first_request(stage: Stage) -> None:
    trial = stage.trial(STOP)
    trial.run(PROMPT)
    trial.expect(trial.requests, "the model was not asked at all.")
    tools = trial.requests[0].tools
    names = ", ".join(tool.name for tool in offered(tools)) or "none"
    trial.expect(plan_tool(tools), f"expected the plan's tool in the first request; the tools are: {names}.")


def edit_mid_run(stage: Stage) -> None:
    trial = _edit_while(stage.within("plan"), lambda trial: [_writer(trial).finish(READ)])
    found = trial.statuses()
    trial.expect(found.get(READ) == "completed", f"the model completed {READ!r}, and it is not saved.")
    if _offers_shell(trial):
        _edit_while(stage.within("shell"), lambda trial: [ScriptedCall("", "shell", {"command": "echo heron"})])
    _edit_between(stage.within("between"))


def _edit_between(stage: Stage) -> None:
    """The user edits while the agent waits for a prompt."""
    trial = stage.trial(add(READ, FIX), QUESTION)
    trial.run(PROMPT)
    _expect_saved(trial, FIX)
    trial.command("add", ADDED)
    begun = len(trial.requests)
    trial.play_next(finish(READ), QUESTION)
    trial.run(GO_ON)
    told = len(trial.requests) > begun and ADDED in trial.requests[begun].words
    trial.expect(told, f"the user added {ADDED!r} between two runs, and the first request of the next one has it not.")
    found = trial.statuses()
    is_open = ADDED in found and found[ADDED] not in CLOSED
    trial.expect(is_open, f"the user added {ADDED!r} between two runs, and it is not open any more.")


def _edit_while(stage: Stage, answer: Callable[[Trial], object]) -> Trial:
    """The user edits in another terminal while the model answers: with a plan call, or with a call of another tool."""

    def edit(trial: Trial) -> object:
        _expect_saved(trial, LOG)
        trial.command("add", ADDED)
        trial.command("rename", "3", RENAMED)
        return answer(trial)

    trial = stage.trial(add(READ, FIX, LOG), edit, "I have read it.")
    trial.run(PROMPT)
    counts = [asked.words.count(ADDED) for asked in trial.requests]
    told = [index for index, (was, now) in enumerate(pairwise([0, *counts])) if now > was]
    trial.expect(told, f"the user added {ADDED!r} while the model answered, and the model was never told.")
    trial.expect(told[0] == 2, f"the user's edit reached the model in request {told[0] + 1}; it was due in request 3.")
    numbers = ", ".join(str(index + 1) for index in told)
    trial.expect(len(told) == 1, f"the user's edit was told {len(told)} times, in requests {numbers}.")
    found = trial.statuses()
    trial.expect(ADDED in found, f"the user's item {ADDED!r} is not in the plan any more.")
    trial.expect(found[ADDED] not in CLOSED, f"the user's item {ADDED!r} is closed: {found[ADDED]}.")
    trial.expect(RENAMED in found and LOG not in found, f"the user's new text {RENAMED!r} was undone.")
    return trial


def _expect_saved(trial: Trial, text: str) -> None:
    """What the model called in its last turn is in the store by now."""
    found = trial.statuses()
    why = f"the model added {text!r}, and it is not in the store: {list(found) or 'no items'}."
    trial.expect(text in found, f"{why} Does your agent use case.store and case.session?")


def _offers_shell(trial: Trial) -> bool:
    return any(tool.name == "shell" for asked in trial.requests for tool in offered(asked.tools))


def resend(stage: Stage) -> None:
    def send_again(trial: Trial) -> object:
        _expect_saved(trial, FIX)
        trial.command("add", ADDED, "--note", "she knows")
        return [_writer(trial).again()]

    def drop(trial: Trial) -> object:
        dropped = _writer(trial).drop_without_reason(ADDED)
        return [dropped or _writer(trial).finish(READ)]

    trial = stage.trial(add(READ, FIX), send_again, drop, "I sent it again.")
    trial.run(PROMPT)
    found = [item for item in trial.plan().items if item.text == ADDED]
    trial.expect(len(found) == 1, f"the user's item {ADDED!r} is in the plan {len(found)} times.")
    trial.expect(found[0].status not in CLOSED, f"the user's item {ADDED!r} was closed: {found[0].status}.")
    trial.expect("she knows" in " ".join(found[0].notes), f"the user's note on {ADDED!r} is lost.")


# --- when a turn ends ------------------------------------------------------------------------------------------------


def early_stop(stage: Stage) -> None:
    trial = stage.trial(add(READ, FIX), STOP)
    trial.run(PROMPT)
    trial.expect(len(trial.requests) > 2, f"the model said {STOP!r} with two open items, and was not asked again.")
    before, after = trial.requests[1].words, trial.requests[2].words
    told = after.count(READ) > before.count(READ) or after.count(FIX) > before.count(FIX)
    trial.expect(told, "the model was asked again, and not told which item is open.")
    nudges = len(trial.requests) - 2
    trial.expect(not trial.is_over, f"the model did nothing but say {STOP!r}, and was asked {nudges} times and more.")


def question(stage: Stage) -> None:
    trial = stage.trial(add(READ, FIX), QUESTION)
    said = trial.run(PROMPT)
    more = len(trial.requests) - 2
    trial.expect(more == 0, f"the model asked the user something, and was asked {more} times to continue.")
    kind = type(trial.said).__name__
    trial.expect(isinstance(trial.said, str), f"run() should return a text; it returned a {kind}.")
    trial.expect(QUESTION in said, f"run() should return what the model said last, {QUESTION!r}; it returned {said!r}.")


def pause(stage: Stage) -> None:
    trial = stage.within("waits").trial(add(READ, FIX), finish(READ), STOP)
    trial.run("Wait, do not go on with this until I say so. Just write down what you will do.")
    more = len(trial.requests) - 3
    trial.expect(more <= 0, f"the user said to wait, and the model was asked {more} times to continue.")
    asked = _writer(trial).pause("the deploy key has expired")
    if asked is None:
        return
    trial = stage.within("pauses").trial(add(READ, FIX), lambda trial: [asked], STOP)
    trial.run(PROMPT)
    trial.expect(trial.plan().paused, "the model paused, and the plan is not paused.")
    more = len(trial.requests) - 3
    trial.expect(more <= 0, f"the model paused, and was asked {more} times to continue.")


# --- what outlives a conversation ------------------------------------------------------------------------------------


def compaction(stage: Stage) -> None:
    def marked(trial: Trial) -> object:
        return {"text": MARK, "calls": [_writer(trial).add(READ, FIX, LOG)]}

    trial = stage.trial(marked, finish(READ), "I have read it.")
    trial.run(PROMPT)
    prompt = GO_ON
    if not trial.compact():
        trial.restart()
        prompt = SUMMARY
    begun = len(trial.requests)
    trial.play_next(finish(FIX), STOP)
    trial.run(prompt)
    trial.expect(len(trial.requests) > begun, "the model was not asked after the compaction.")
    words = trial.requests[begun].words
    if prompt == GO_ON:
        trial.expect(MARK not in words, "compact() left the conversation as it was: nothing is shown by this.")
    _expect_open(trial, words, "after the compaction")


def restart(stage: Stage) -> None:
    trial = stage.trial(add(READ, FIX, LOG), finish(READ), "I have read it.")
    trial.run(PROMPT)
    trial.restart()
    begun = len(trial.requests)
    trial.play_next(finish(FIX), STOP)
    trial.run(GO_ON)
    trial.expect(len(trial.requests) > begun, "the new agent did not ask the model.")
    _expect_open(trial, trial.requests[begun].words, "after the restart")


def _expect_open(trial: Trial, words: str, when: str) -> None:
    """The open items are in the first request of a new conversation, and the work goes on."""
    missing = [text for text in (FIX, LOG) if text not in words]
    trial.expect(not missing, f"{when}, the first request does not tell the open items: {missing} missing.")
    _expect_plan(trial, when)


def _expect_plan(trial: Trial, when: str) -> None:
    """The model has completed two of three items, one of them just now."""
    found = trial.statuses()
    wanted = {READ: "completed", FIX: "completed"}
    for text, status in wanted.items():
        trial.expect(found.get(text) == status, f"{when}, {text!r} should be {status}; it is {found.get(text)}.")
    trial.expect(found.get(LOG) not in (None, *CLOSED), f"{when}, {LOG!r} should be open; it is {found.get(LOG)}.")


def kill(stage: Stage) -> None:
    if not hasattr(os, "fork"):
        raise NotRun("this system cannot fork a process.")

    def die(trial: Trial) -> object:
        os.kill(os.getpid(), signal.SIGKILL)
        return STOP

    trial = stage.trial(add(READ, FIX, LOG), finish(READ), die)
    note = stage.folder / "child.txt"
    status = _in_child(lambda: trial.run(PROMPT), note, stage.seconds)
    found = ""
    if note.exists():
        found = note.read_text(encoding="utf-8")
    if status is None:
        raise Failed(f"the agent hung in a forked process, and was killed after {stage.seconds:.0f} seconds.", found)
    if not os.WIFSIGNALED(status):
        raise Failed("the agent ended before its model was asked a third time.", found, *trial.evidence())
    trial.expect(trial.statuses().get(READ) == "completed", f"{READ!r} was answered as saved; it is not in the store.")
    trial = stage.trial(finish(FIX), STOP)
    trial.run(GO_ON)
    _expect_plan(trial, "after the process was killed")


def _in_child(work: Callable[[], object], note: Path, seconds: float) -> int | None:
    """Do something in a forked process, and return how that ended. None: it hung, and was killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns about a fork beside threads; a child that hangs is killed
        child = os.fork()
    if not child:
        try:
            work()
        except BaseException as error:  # nothing of the child may run on in the parent's program
            note.write_text(f"in the forked process: {type(error).__name__}: {error}", encoding="utf-8")
        finally:
            os._exit(1)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(_BEAT)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


# --- at the same time ------------------------------------------------------------------------------------------------


def two_writers(stage: Stage) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def begin(trial: Trial) -> object:
        words = [sys.executable, "-c", _WRITER, trial.case.store, trial.case.session, str(_WRITES)]
        started.append(subprocess.Popen(words, env=environment(trial.case.folder), cwd=trial.case.folder))
        until = time.monotonic() + stage.seconds
        while "User's item 0" not in trial.statuses():
            if time.monotonic() > until or started[0].poll():
                raise Failed("the other process could not write to the store.")
            time.sleep(_BEAT)
        return [_writer(trial).finish(READ)]

    own = (READ, FIX, LOG, TESTS, RELEASE, THANKS)
    steps = [add(READ, FIX), begin, add(LOG), add(TESTS), finish(FIX), add(RELEASE), add(THANKS), finish(LOG)]
    trial = stage.trial(*steps, STOP)
    try:
        trial.run(PROMPT)
    finally:
        for process in started:
            _end(process, stage.seconds)
    found = trial.statuses()
    lost = [text for text in (*own, *(f"User's item {number}" for number in range(_WRITES))) if text not in found]
    trial.expect(not lost, f"the agent and another process wrote at the same time, and items are lost: {lost}.")
    wrong = [text for text in (READ, FIX, LOG) if found[text] != "completed"]
    trial.expect(not wrong, f"the model completed {wrong}, and that is lost.")


def _end(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def two_sessions(stage: Stage) -> None:
    meeting = Barrier(2)

    def meet(step: Step) -> Step:
        def play(trial: Trial) -> object:
            try:
                meeting.wait(stage.seconds)
            except BrokenBarrierError:
                raise Failed("the two agents do not run at the same time: one waits for the other.") from None
            return step(trial) if callable(step) else step

        return play

    lists = {"first": (READ, FIX, LOG), "second": (TESTS, RELEASE, THANKS)}
    trials = {
        name: stage.trial(meet(add(*own)), meet(finish(own[0])), meet(finish(own[1])), STOP, session=name)
        for name, own in lists.items()
    }
    _together([trial.run for trial in trials.values()], stage.seconds, meeting)
    for name, own in lists.items():
        trial = trials[name]
        found = trial.statuses()
        trial.expect(tuple(found) == own, f"the plan of session {name!r} should have {own}; it has {tuple(found)}.")
        foreign = [text for text in lists["second" if name == "first" else "first"] if text in trial.requests[-1].words]
        trial.expect(not foreign, f"session {name!r} was told items of the other session: {foreign}.")
        closed = [text for text in own[:2] if found[text] != "completed"]
        trial.expect(not closed, f"session {name!r} completed {closed}, and that is lost.")


def _together(runs: list[Callable[[str], str]], seconds: float, meeting: Barrier) -> None:
    """Run agents in threads of their own, and raise what one of them raised."""
    errors: list[BaseException] = []

    def one(run: Callable[[str], str]) -> None:
        try:
            run(PROMPT)
        except BaseException as error:
            errors.append(error)
            meeting.abort()

    threads = [Thread(target=one, args=(run,), daemon=True) for run in runs]
    for thread in threads:
        thread.start()
    until = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
    if any(thread.is_alive() for thread in threads):
        raise Failed(f"an agent in a thread did not end within {seconds:.0f} seconds.")
    if errors:
        raise errors[0]


# --- what a provider pays for ----------------------------------------------------------------------------------------


def steady_trial(stage: Stage) -> Trial:
    """A run of several steps, with an edit by the user and an early stop in it."""

    def edit(trial: Trial) -> object:
        trial.command("add", ADDED)
        return [_writer(trial).finish(FIX)]

    own = (READ, FIX, LOG, TESTS, RELEASE, THANKS)
    steps = [add(*own), finish(READ), edit, finish(LOG), STOP, finish(TESTS), finish(RELEASE), finish(THANKS)]
    return stage.trial(*steps, "All of mine is done.")


def stable_prefix(stage: Stage) -> None:
    trial = steady_trial(stage)
    trial.run(PROMPT)
    trial.expect(len(trial.requests) > 4, f"only {len(trial.requests)} requests were made.")
    for number, (before, after) in enumerate(zip(trial.requests, trial.requests[1:], strict=False), 2):
        was = [as_text(message) for message in before.messages]
        now = [as_text(message) for message in after.messages[: len(was)]]
        changed = next((index for index, (one, two) in enumerate(zip(was, now, strict=False)) if one != two), None)
        if changed is None and len(now) < len(was):
            changed = len(now)
        if changed is not None:
            became = now[changed] if changed < len(now) else "nothing"
            why = f"request {number} does not begin with the messages of the one before: message {changed + 1} changed."
            raise Failed(why, f"it was: {was[changed][:500]}", f"it became: {became[:500]}")
        same = _definitions(before.tools) == _definitions(after.tools)
        trial.expect(same, f"the tools changed between requests {number - 1} and {number}.")


def _definitions(tools: object) -> list[str]:
    return [as_text(tool.definition) for tool in offered(tools)]


# --- tools, and what goes wrong --------------------------------------------------------------------------------------


def observations(stage: Stage) -> None:
    command = "echo heron"

    def use(trial: Trial) -> object:
        if not _offers_shell(trial):
            return STOP
        return [ScriptedCall("", "shell", {"command": command})]

    trial = stage.trial(add(READ, FIX), use, STOP)
    trial.run(PROMPT)
    if not _offers_shell(trial):
        raise NotRun("the agent offered no tool named `shell`; make_agent may offer case.tool as one.")
    found = [item for item in trial.plan(calls=True).items if item.text == READ]
    seen = [as_text(plain(call)) for item in found for call in item.calls]
    is_seen = any("heron" in line for line in seen)
    trial.expect(is_seen, f"the call shell({command!r}) is not among those observed for {READ!r}: {seen}.")


def bad_arguments(stage: Stage) -> None:
    def begin(trial: Trial) -> object:
        first, *others = _writer(trial).malformed()
        trial.play_next(*[_call(one) for one in others], finish(READ), STOP)
        return [first]

    trial = stage.trial(add(READ, FIX), begin)
    trial.run(PROMPT)
    needed = 1 + len(_writer(trial).malformed()) + 2
    asked = len(trial.requests)
    trial.expect(asked >= needed, f"the run ended after {asked} requests, with a call that had wrong arguments.")
    found = trial.statuses()
    trial.expect(list(found) == [READ, FIX], f"the plan should have {[READ, FIX]}; it has {list(found)}.")
    trial.expect(found[READ] == "completed", f"the model completed {READ!r} at the end, and that is lost.")
    trial.expect(found[FIX] not in CLOSED, f"{FIX!r} should be open; it is {found[FIX]}.")


def _call(call: ScriptedCall) -> Step:
    return lambda trial: [call]


def parallel_calls(stage: Stage) -> None:
    def three(trial: Trial) -> object:
        writer = _writer(trial)
        if writer.is_list:
            call = writer.add(READ, FIX, LOG)
            return [call, call]
        return [writer.add(READ), writer.add(FIX), writer.add(LOG)]

    def two(trial: Trial) -> object:
        writer = _writer(trial)
        if writer.is_list:
            call = writer.finish(READ, FIX)
            return [call, call]
        return [writer.finish(READ), writer.finish(FIX)]

    trial = stage.trial(three, two, STOP)
    trial.run(PROMPT)
    texts = [item.text for item in trial.plan().items]
    trial.expect(sorted(texts) == sorted([READ, FIX, LOG]), f"three calls in one turn should make 3 items: {texts}.")
    found = trial.statuses()
    trial.expect(found[READ] == found[FIX] == "completed", "two calls in one turn should complete two items.")
    trial.expect(found[LOG] not in CLOSED, f"{LOG!r} should be open.")


def model_error(stage: Stage) -> None:
    _fail_after_item(stage.within("item"))
    _fail_after_note(stage.within("note"))


def _fail(trial: Trial) -> object:
    raise ConnectionError("the connection to the model was cut.")


def _fail_after_note(stage: Stage) -> None:
    """A run fails after the one request in which it told a note of the user's."""
    trial = stage.trial(add(READ, FIX), QUESTION)
    trial.run(PROMPT)
    _expect_saved(trial, FIX)
    trial.command("note", "2", NOTED)
    trial.play_next(finish(READ), _fail)
    with suppress(Exception):
        trial.run(GO_ON)
    begun = len(trial.requests)
    trial.play_next(finish(FIX), STOP)
    trial.run(GO_ON)
    told = len(trial.requests) > begun and NOTED in trial.requests[begun].words
    trial.expect(told, f"a run was told the user's note {NOTED!r} and then failed; the next run was not told.")


def _fail_after_item(stage: Stage) -> None:
    def edit(trial: Trial) -> object:
        _expect_saved(trial, LOG)
        trial.command("add", ADDED)
        return [_writer(trial).finish(READ)]

    trial = stage.trial(add(READ, FIX, LOG), edit, _fail)
    with suppress(Exception):  # its loop may pass the error on, or ask again
        trial.run(PROMPT)
    trial.play_next(finish(FIX), STOP)
    begun = len(trial.requests)
    trial.run(GO_ON)
    trial.expect(len(trial.requests) > begun, "after an error of the model, the next run did not ask it.")
    words = trial.requests[begun].words
    missing = [text for text in (FIX, LOG, ADDED) if text not in words]
    trial.expect(not missing, f"after an error of the model, the next request does not tell the open items: {missing}.")
    _expect_plan(trial, "after an error of the model")


def store_gone(stage: Stage) -> None:
    away = stage.folder / "away"

    def lose(trial: Trial) -> object:
        call = _writer(trial).finish(READ)
        try:
            trial.home.rename(away)
        except OSError as error:
            raise NotRun(f"the store cannot be moved away here: {error.strerror}.") from None
        trial.home.write_text("not a store", encoding="utf-8")
        return [call]

    trial = stage.trial(add(READ, FIX, LOG), lose, STOP)
    problem: BaseException | None = None
    log = logging.getLogger("punchlist")
    was_silent, log.disabled = log.disabled, True  # that it warns is as it should be, and looks like a failure in CI
    try:
        trial.run(PROMPT)
    except (Failed, NotRun, KeyboardInterrupt):
        raise
    except BaseException as error:
        problem = error
    finally:
        log.disabled = was_silent
        if away.exists():
            trial.home.unlink(missing_ok=True)
            away.rename(trial.home)
    if problem is not None and not _is_told(problem):
        why = f"the store was gone, and run() raised {type(problem).__name__}: {problem}"
        raise Failed(why, *trial.evidence())
    found = trial.statuses()
    trial.expect(READ in found and FIX in found, f"the store is back, and the plan is not: {list(found)}.")
    with suppress(Exception):  # what it holds may be of no use any more
        trial.close()
    trial.forget()
    trial.play_next(finish(FIX), STOP)
    trial.run(GO_ON)
    found = trial.statuses()
    trial.expect(found.get(FIX) == "completed", f"the store is back, and {FIX!r} could not be completed.")


def _is_told(error: BaseException) -> bool:
    """Whether an error says in one sentence that the store is gone: one of ours, or one that was raised from it."""
    known: BaseException | None = error
    while known is not None and not isinstance(known, PunchlistError):
        if known.__suppress_context__:
            known = known.__cause__
        else:
            known = known.__context__
    return known is not None


SCENARIOS = (
    Scenario("first request", "the plan's tool is offered in the very first request", first_request),
    Scenario("edit mid-run", "a user's edit reaches the model once, in its next request, and stays", edit_mid_run),
    Scenario("resend that drops items", "a list that is sent again without the user's items loses none", resend),
    Scenario("early stop", "a model that stops with open items is nudged, a bounded number of times", early_stop),
    Scenario("question", "a model that asks the user something is not nudged", question),
    Scenario("pause", "nobody is nudged after a pause, or when the user said to wait", pause),
    Scenario("compaction", "after a compaction the open items are in the next request", compaction),
    Scenario("restart", "a new agent of the same session is told the open items in its first request", restart),
    Scenario("two writers", "the agent and another process write at the same time, and nothing is lost", two_writers),
    Scenario("two sessions", "two agents at the same time keep their plans apart", two_sessions),
    Scenario("kill", "what was answered as saved is there after the process was killed", kill),
    Scenario("stable prefix", "each request begins with the messages of the one before, byte for byte", stable_prefix),
    Scenario("observations", "calls of the agent's other tools are kept with the active item", observations),
    Scenario("bad arguments", "the run continues after wrong arguments, and the plan is intact", bad_arguments),
    Scenario("parallel calls", "several plan calls in one turn are all carried out", parallel_calls),
    Scenario("model error", "after an error of the model the next run continues, with the user's edit", model_error),
    Scenario("store gone", "a run without its store ends with a clear message, and the plan is not lost", store_gone),
)
FIRST = ("kill",)  # a process is forked before a framework has begun threads
