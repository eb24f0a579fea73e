"""Whether a run of a check passed, from its exit code and what it printed. Unknown is unknown, never passed.

Output may be cut, so that something is not in it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .._typing import NamedTuple
from .compare import COVERS, SAME, Match
from .table import find_runner

PASS, FAIL, UNKNOWN = "pass", "fail", "unknown"
_HEAD, _TAIL = 50_000, 150_000  # characters of the output that are looked at
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CRASHES = frozenset((132, 133, 134, 135, 136, 139))  # 128 + the signals of a program that does something wrong
_SCRIPTS = frozenset(("npm test", "pnpm test", "yarn test", "make", "tox", "nox"))  # these run another runner


class Verdict(NamedTuple):
    """What a run says about a check."""

    word: str  # pass, fail, unknown
    why: str = ""


def judge(
    match: Match, exit: int | None, output: str, is_background: bool = False, is_timed_out: bool = False
) -> Verdict:
    """Say whether a check passed. `exit` is None if it is not known, and negative for a signal; `output` is what was
    printed, as far as it is known."""
    if match.kind not in (SAME, COVERS):
        return Verdict(UNKNOWN, match.why or "the check did not run")
    if is_background:
        return Verdict(UNKNOWN, "it ran in the background")
    if is_timed_out:
        return Verdict(UNKNOWN, "it ran out of time")
    if exit is None:
        return Verdict(UNKNOWN, "its exit code is not known")
    text = _looked_at(output)
    runners = [_name(words) for words in match.runs]
    if exit == 0:
        return _judge_pass(match, runners, text)
    if exit < 0:
        exit = 128 - exit
    return _judge_failure(match, runners, exit, text)


def _looked_at(output: str) -> str:
    if len(output) > _HEAD + _TAIL:
        output = f"{output[:_HEAD]}\n{output[-_TAIL:]}"
    return _ESCAPES.sub("", output).replace("\r\n", "\n")


def _targets(words: tuple[str, ...]) -> tuple[str, ...]:
    runner = find_runner(words)
    if runner is None:
        return ()
    return runner.read(words, "/").targets


def _name(words: tuple[str, ...]) -> str:
    runner = find_runner(words)
    if runner is not None:
        return runner.name
    if words[:1] == ("mocha",):
        return "mocha"
    if words[:1] == ("node",) and "--test" in words:
        return "node --test"
    return ""


# --- exit code 0 -----------------------------------------------------------------------------------------------------


def _judge_pass(match: Match, runners: list[str], text: str) -> Verdict:
    for name, words in zip(runners, match.runs, strict=True):
        if name == "make" and _had_nothing_to_do(words, text):
            return Verdict(UNKNOWN, "make had nothing to do, so nothing was run")
        if name in _SCRIPTS and _ran_nothing(text, tuple(_TESTS)):
            return Verdict(UNKNOWN, "it ran no tests")
        if name in _TESTS and _ran_nothing(text, (name,)):
            return Verdict(UNKNOWN, "it ran no tests")
        if match.kind == COVERS and name == "cargo test" and not _ran_named(words, text):
            return Verdict(UNKNOWN, "it is not known whether a test of that name ran")
        if match.kind == COVERS and name == "go test" and _had_no_tests(words, text):
            return Verdict(UNKNOWN, "it ran no tests of that package")
    return Verdict(PASS)


def _ran_named(words: tuple[str, ...], text: str) -> bool:
    """Whether the output of Cargo shows tests with the name that the check asks for. It may be that there are none."""
    names = [target for target in _targets(words) if not target.startswith("-")]
    return all(re.search(rf"^test .*{re.escape(name)}.* \.\.\. ok$", text, re.M) for name in names)


def _had_no_tests(words: tuple[str, ...], text: str) -> bool:
    """Whether the output of a wider run of Go says that a package of the check has no tests."""
    packages = [target for target in _targets(words) if target != "." and not target.startswith("go:")]
    return any(re.search(rf"/{re.escape(one)}\s.*\[no test(?:s to run| files)\]", text) for one in packages)


def _had_nothing_to_do(words: tuple[str, ...], text: str) -> bool:
    """Whether make says of a target of the check that it is up to date. For a file that is an answer: it is newer than
    all it is made of. For a name such as `test` it says that there is a file or directory of that name, or no command.
    """
    names = {one or other for one, other in _UP_TO_DATE.findall(text)}
    targets = _targets(words)
    return any("." not in name and "/" not in name for name in names if not targets or name in targets)


_UP_TO_DATE = re.compile(r"^make: (?:Nothing to be done for [`'‘\"](.+?)['’\"]|[`'‘\"](.+?)['’\"] is up to date)", re.M)
_PYTEST_SUMMARY = re.compile(r"^=* ?((?:\d+ [a-z]+(?:, )?)+) in \d[\d.]*s", re.M)
_UNITTEST_SUMMARY = re.compile(r"^Ran (\d+) tests? in ", re.M)
_UNITTEST_SKIPPED = re.compile(r"^OK \(.*?skipped=(\d+)", re.M)
_CARGO_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.M)
_CARGO_TEST = re.compile(r"^test \S.* \.\.\. (?:ok|FAILED)$", re.M)
_GO_NOTHING = re.compile(
    r"\[no test(?:s to run| files)\]|^testing: warning: no tests to run|no packages to test|matched no packages", re.M
)
_GO_SOMETHING = re.compile(r"^(?:ok|---|===|PASS:)\s(?!.*\[no tests to run\])", re.M)
_GO_RESULT = re.compile(r"^\s*--- (PASS|FAIL|SKIP): ", re.M)
_JEST_NOTHING = re.compile(r"^No tests found, exiting with code|^Tests: +(?:\d+ (?:skipped|todo), )*\d+ total$", re.M)
_JEST_SOMETHING = re.compile(r"^Tests: .*\d (?:passed|failed)|^Test Suites: .*\d failed", re.M)
_VITEST_NOTHING = re.compile(
    r"^\s*No test (?:files|suite) found|^\s*Tests +(?:no tests|(?:\d+ (?:skipped|todo)(?: \| )?)+ \(\d+\))$", re.M
)
_VITEST_SOMETHING = re.compile(r"^\s*Tests +.*\d (?:passed|failed)|^\s*Test Files +.*\d failed", re.M)
_MOCHA_NOTHING = re.compile(r"^\s*0 passing\b|^Error: No test files found", re.M)
_MOCHA_SOMETHING = re.compile(r"^\s*[1-9]\d* (?:passing|failing)\b", re.M)
_NODE_NOTHING = re.compile(r"^(?:#|ℹ) pass 0$|^Could not find '", re.M)
_NODE_SOMETHING = re.compile(r"^(?:#|ℹ) (?:pass|fail) [1-9]", re.M)
_NOX_NOTHING = re.compile(r"^nox > .*\bskipped", re.M)
_NOX_SOMETHING = re.compile(r"^nox > .*\bsuccess", re.M)

Found = tuple[bool, bool]  # whether the output says that nothing was run, and that something was


def _look_pytest(text: str) -> Found:
    """Skipped and deselected tests were not run."""
    is_nothing = (
        re.search(r"^=* ?no tests (?:ran|collected)|^collected 0 items(?! / \d+ error)", text, re.M) is not None
    )
    is_something = False
    for summary in _PYTEST_SUMMARY.findall(text):
        kinds = {part.split()[1] for part in summary.split(", ") if part}
        if kinds & {"passed", "failed", "error", "errors", "xfailed", "xpassed"}:
            is_something = True
        elif kinds & {"skipped", "deselected"}:
            is_nothing = True
    return is_nothing, is_something


def _look_unittest(text: str) -> Found:
    counts = [int(count) for count in _UNITTEST_SUMMARY.findall(text)]
    skipped = [int(count) for count in _UNITTEST_SKIPPED.findall(text)]
    return bool(counts) and sum(counts) <= sum(skipped), sum(counts) > sum(skipped)


def _look_cargo(text: str) -> Found:
    results = _CARGO_RESULT.findall(text)
    ran = sum(int(passed) + int(failed) for passed, failed in results)
    return bool(results) and not ran, bool(ran) or _CARGO_TEST.search(text) is not None


def _look_go(text: str) -> Found:
    """With `-v`, Go says how each test went; without, that all were skipped cannot be seen."""
    results = set(_GO_RESULT.findall(text))
    if results == {"SKIP"}:
        return True, False
    return _GO_NOTHING.search(text) is not None, _GO_SOMETHING.search(text) is not None


def _looker(nothing: re.Pattern[str], something: re.Pattern[str]) -> Callable[[str], Found]:
    def look(text: str) -> Found:
        return nothing.search(text) is not None, something.search(text) is not None

    return look


_TESTS: dict[str, Callable[[str], Found]] = {
    "pytest": _look_pytest,
    "unittest": _look_unittest,
    "cargo test": _look_cargo,
    "go test": _look_go,
    "jest": _looker(_JEST_NOTHING, _JEST_SOMETHING),
    "vitest run": _looker(_VITEST_NOTHING, _VITEST_SOMETHING),
    "mocha": _looker(_MOCHA_NOTHING, _MOCHA_SOMETHING),
    "node --test": _looker(_NODE_NOTHING, _NODE_SOMETHING),
    "nox": _looker(_NOX_NOTHING, _NOX_SOMETHING),
}


def _ran_nothing(text: str, names: tuple[str, ...]) -> bool:
    """Whether the output says that nothing was run, and nothing in it says that something was."""
    found = [_TESTS[name](text) for name in names]
    return any(nothing for nothing, _ in found) and not any(something for _, something in found)


# --- other exit codes ------------------------------------------------------------------------------------------------


def _judge_failure(match: Match, runners: list[str], code: int, text: str) -> Verdict:
    if code in (126, 127):
        return Verdict(UNKNOWN, f"it could not be started: exit code {code}")
    if code == 124 or (code == 125 and not match.around.isdisjoint(("timeout", "gtimeout"))):
        return Verdict(UNKNOWN, f"it ran out of time: exit code {code}")
    if code > 128 and code not in _CRASHES:
        return Verdict(UNKNOWN, f"it was ended before it was done: exit code {code}")
    if _failed_before(match, text):
        return Verdict(UNKNOWN, "something before it failed")
    for name in runners:
        why = _not_run(name, code, text)
        if why:
            return Verdict(UNKNOWN, f"{why}: exit code {code}")
    if not match.failure_counts and match.kind == COVERS:
        return Verdict(UNKNOWN, "more ran than the check asks for, and something of it failed")
    if not match.failure_counts:
        return Verdict(UNKNOWN, "something failed that may not be the check")
    return Verdict(FAIL, f"exit code {code}")


_SHELL_ERROR = re.compile(
    r"(?:\S*sh|\(eval\)|cd|pushd|source): ?.*"
    r"(?:No such file|not a directory|can't cd|Permission denied|not found|Illegal option)",
    re.I,
)
_NOT_STARTED = {
    "python -m": re.compile(r"No module named '?[\w.]+'?$", re.M),
    "uv": re.compile(r"^error: (?:Failed to spawn|No interpreter|Failed to|Project)|No solution found when", re.M),
    "poetry": re.compile(r"^Command not found: |^Poetry could not find", re.M),
    "pipenv": re.compile(r"^Error: the command .* could not be found", re.M),
    "pdm": re.compile(r"^\[?(?:PdmUsageError|Command).*not found", re.M),
    "npx": re.compile(r"could not determine executable to run|^npm (?:ERR!|error) (?:code E|404|npx canceled)", re.M),
}


def _failed_before(match: Match, text: str) -> bool:
    """Whether the output says that `cd`, or what starts the check, failed."""
    first = text.lstrip().partition("\n")[0][:500]
    moves = match.around & {"cd", "pushd", "set", "source", "."}
    if moves and _SHELL_ERROR.match(first):
        return True
    if "python -m" in match.around and re.search(r"^\S*python\S*: (?:No module named|Error while finding)", first):
        return True
    others = match.around - {"python -m"}
    return any(_NOT_STARTED[name].search(text[:5_000]) for name in others if name in _NOT_STARTED)


def _not_run(name: str, code: int, text: str) -> str:
    """Why a runner's exit code does not say that the check failed; empty if it does."""
    if name in _TESTS and _ran_nothing(text, (name,)):
        return "it ran no tests"
    if name in _SCRIPTS and _NO_SCRIPT.search(text):
        return "there is nothing of that name to run"
    if name in ("npm test", "pnpm test", "yarn test", "make") and _ran_nothing(text, tuple(_TESTS)):
        return "it ran no tests"
    if name in ("pytest", "tox") and code in (2, 3, 4, 5):
        return _not_run_pytest(code, text)
    if name == "unittest" and code == 5:
        return "it ran no tests"
    if name == "cargo test" and (code == 1 or "could not find `Cargo.toml`" in text):
        return "cargo did not get to its work"
    if name in _REFUSED and _REFUSED[name].search(text):
        return f"{name} did not get to its work"
    if code == 2 and name in _USAGE and not _USAGE[name].search(text):
        return f"{name} did not get to its work"
    return ""


def _not_run_pytest(code: int, text: str) -> str:
    """A module of tests that cannot be imported ends pytest with 2, as Ctrl+C does: that is a failure."""
    if code == 2 and re.search(r"errors? during collection|^ERROR collecting|^_+ ERROR collecting", text, re.M):
        return ""
    return {
        2: "it was interrupted",
        3: "pytest itself failed",
        4: "pytest could not use its arguments",
        5: "it ran no tests",
    }[code]


_NO_SCRIPT = re.compile(
    r"Missing script: |missing script: |ERR_PNPM_NO_SCRIPT|^error Command \".*\" not found|Couldn't find a script named"
    r"|Error: no test specified|^make: \*\*\* No rule to make target [`'‘\"][^,]*$|^make: \*\*\* No targets specified",
    re.M,
)
# What these say if they were called in a wrong way, with an exit code that a failure has, too.
_REFUSED = {
    "jest": re.compile(r"^● Unrecognized CLI Parameter", re.M),
    "vitest run": re.compile(r"^CACError: ", re.M),
    "go test": re.compile(
        r"^stat .*: directory not found$|^pattern .*: (?:lstat|stat|open) .*: no such file|^(?:go: )?no Go files in "
        r"|^flag provided but not defined|^go: (?:go\.mod file not found|cannot find main module)",
        re.M,
    ),
    "cargo test": re.compile(
        r"^error: (?:the package .* does not contain this feature|none of the selected packages contains"
        r"|no \w+ target named|package ID specification|unexpected argument)",
        re.M,
    ),
    "yarn test": re.compile(r"^(?:Usage|Internal) Error: ", re.M),
}
# With exit code 2 these usually say that they were called in a wrong way; this in their output says otherwise.
_NEVER = re.compile(r"(?!)")
_USAGE = {
    "unittest": re.compile(r"^Ran [1-9]", re.M),
    "go test": re.compile(r"^FAIL|\[build failed\]", re.M),
    "nox": _NEVER,
    "ruff check": _NEVER,
    "mypy": re.compile(r": error: |errors prevented further checking"),
}
