"""A kit that checks anybody's agent loop: does the plan in it survive what happens to agents?

`check(make_agent)` puts your agent through scenarios, with a scripted model and a real SQLite store, and reports what
passed, what failed and why, and what the plan costs in tokens. docs/conformance.md shows it in use.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...core.errors import BadShape
from ...core.text import cut
from ...policy.limits import tokens
from ..plain_data import as_text, words_in
from .plan_tools import offered, plan_tool
from .report import Report, ScenarioResult, TokenCost
from .scenarios import FIRST, SCENARIOS, Scenario, Stage, steady_trial
from .trial import Case, CaseModel, Failed, MakeAgent, NotRun, Trial
from .watchdog import Hung

__all__ = ["NAMES", "Case", "CaseModel", "Report", "ScenarioResult", "TokenCost", "check"]

NAMES = tuple([one.name for one in SCENARIOS])
_SECONDS = 60.0
_FRAME = (
    *("class", "type", "role", "name", "timestamp", "model", "kind", "state", "status", "outcome", "finish_reason"),
    "instructions",  # the system prompt, which some frameworks keep with each message
)
_FRAMES = 12  # of a traceback in the evidence
_HERE = os.path.dirname(__file__)


def check(
    make_agent: MakeAgent,
    *,
    only: str | Sequence[str] = (),
    skip: str | Sequence[str] = (),
    count_tokens: Callable[[str], int] = tokens,
    seconds: float = _SECONDS,
) -> Report:
    """Put an agent through the scenarios, and return what was found.

    `make_agent`: gets a `Case` and returns a function `run(prompt) -> str`; it is called once for each agent that a
    scenario needs. `only`, `skip`: names of scenarios. `count_tokens`: how many tokens a text has; by default an
    estimate. `seconds`: how long a run, a process or a thread of a scenario may take. Whatever the agent raises is a
    failure in the report. Raises BadShape for the name of a scenario that does not exist, and for other wrong values.

        report = conformance.check(make_agent)
        assert report.passed, str(report)
    """
    if not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise BadShape([f"seconds must be a number greater than 0, not {seconds!r}."])
    chosen = _chosen(_names(only), _names(skip))
    results: dict[str, ScenarioResult] = {}
    with _scratch() as folder:
        for number, one in enumerate(sorted(chosen, key=lambda one: one.name not in FIRST)):
            with _stage(make_agent, folder / str(number), seconds) as stage:
                results[one.name] = _play(one, stage)
        cost = TokenCost()
        if any(one.outcome == "passed" for one in results.values()):
            with _stage(make_agent, folder / "tokens", seconds) as stage:
                cost = _measure(stage, count_tokens)
    return Report(tuple([results[one.name] for one in chosen]), cost)


def _names(given: str | Sequence[str]) -> Sequence[str]:
    """The names of scenarios; one name may be given alone. Raises BadShape for one that does not exist."""
    if isinstance(given, str):
        given = [given]
    for name in given:
        if name not in NAMES:
            raise BadShape([f"no scenario {name!r}; the scenarios are {', '.join(NAMES)}."])
    return given


def _chosen(only: Sequence[str], skip: Sequence[str]) -> list[Scenario]:
    return [one for one in SCENARIOS if one.name not in skip and (not only or one.name in only)]


@contextmanager
def _scratch() -> Iterator[Path]:
    """A directory that is removed, and settings that are nobody's: the same on every machine."""
    known, cwd = dict(os.environ), os.getcwd()
    with tempfile.TemporaryDirectory(prefix="punchlist-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        for name in [name for name in os.environ if name.startswith("PUNCHLIST_")]:
            del os.environ[name]
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        try:
            yield folder
        finally:
            os.environ.clear()
            os.environ.update(known)
            os.chdir(cwd)


@contextmanager
def _stage(make_agent: MakeAgent, folder: Path, seconds: float) -> Iterator[Stage]:
    """A directory for one scenario, whose agents are closed at its end, as far as they can be."""
    folder.mkdir()
    stage = Stage(make_agent, folder, seconds, [])
    yield stage
    for trial in stage.trials:
        with suppress(Exception):
            trial.close()


def _play(one: Scenario, stage: Stage) -> ScenarioResult:
    try:
        one.play(stage)
    except NotRun as reason:
        return ScenarioResult(one.name, one.shows, "not run", str(reason))
    except Failed as failed:
        return ScenarioResult(one.name, one.shows, "failed", failed.why, tuple(filter(None, failed.evidence)))
    except KeyboardInterrupt:
        raise
    except Hung as error:
        return ScenarioResult(one.name, one.shows, "failed", str(error), _raised(error)[1])
    except BaseException as error:  # whatever the agent raises is what is reported
        return ScenarioResult(one.name, one.shows, "failed", *_raised(error))
    return ScenarioResult(one.name, one.shows, "passed")


def _raised(error: BaseException) -> tuple[str, tuple[str, ...]]:
    why = f"the agent raised {type(error).__name__}: {cut(str(error), 500)}"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith(_HERE)]
    lines = [f"{os.path.basename(one.filename)}:{one.lineno} in {one.name}: {one.line}" for one in frames[-_FRAMES:]]
    return why, tuple(lines)


def _measure(stage: Stage, count: Callable[[str], int]) -> TokenCost:
    """What the plan adds to the requests of a run. An agent that fails here costs nothing, and has failed elsewhere."""
    trial = steady_trial(stage)
    try:
        trial.run("The config reader drops a line. Please take care of it.")
        return _cost(trial, count)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return TokenCost()


def _cost(trial: Trial, count: Callable[[str], int]) -> TokenCost:
    steps = []
    for before, after in zip(trial.requests, trial.requests[1:], strict=False):
        if before.answer.calls:
            steps.append(_added(before.messages, after.messages, before.answer.calls, count))
    definition = _definition(trial, count)
    if not steps or not definition:
        return TokenCost()
    return TokenCost(definition, round(sum(steps) / len(steps), 1), len(steps))


def _definition(trial: Trial, count: Callable[[str], int]) -> int:
    tool = plan_tool(trial.requests[0].tools)
    if tool is None:
        return 0
    found = [one for one in offered(trial.requests[0].tools) if one.name == tool.name]
    return count(as_text(found[0].definition))


def _added(before: list[Any], after: list[Any], calls: Sequence[Any], count: Callable[[str], int]) -> int:
    """The tokens of the calls, and of everything else that is new in the next request."""
    own = [call.args for call in calls]
    total = sum(count(f"{call.name} {json.dumps(call.args, ensure_ascii=False)}") for call in calls)
    return total + count(words_in(_without(after[len(before) :], own)))


def _without(value: Any, own: list[Any]) -> Any:
    """Messages without the arguments of these calls, which are counted already, and without names of kinds and ids."""
    if value in own or (isinstance(value, str) and _parsed(value) in own):
        return None
    if isinstance(value, list):
        return [_without(inner, own) for inner in value]
    if isinstance(value, dict):
        return {key: _without(inner, own) for key, inner in value.items() if not _is_frame(key)}
    return value


def _is_frame(key: str) -> bool:
    """Whether a key of a message holds what is not said to the model."""
    return key in _FRAME or key.endswith(("id", "_name", "_kind", "_at"))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
