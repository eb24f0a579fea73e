"""Whether a command line that was run shows what a check asks for. Pure: words are read, nothing is run.

What is not certain does not count, and the answer says why, so that `show ID` can.
"""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import isabs, join, normpath

from ._typing import NamedTuple
from .runners import RUNNERS, Runner, find_runner, words_of
from .shell_words import NotUnderstood, Simple, parse

SAME, COVERS, HIDDEN, OTHER = "same", "covers", "hidden", "other"
_SHADOWING = words_of("alias eval exec function trap shopt hash enable unset builtin command")
_DECIDING = words_of("PATH PYTEST_ADDOPTS MAKEFLAGS MFLAGS GNUMAKEFLAGS NODE_OPTIONS RUSTFLAGS GOFLAGS BASH_ENV ENV")
_SETTING = frozenset(("export", "source", ".", "set", "true", ":"))
_PYTHONS = frozenset(("python", "python3"))
_FOLDERS = (".venv/bin/", "venv/bin/", "node_modules/.bin/", "./.venv/bin/", "./venv/bin/", "./node_modules/.bin/")
_WRAPPERS: tuple[tuple[str, ...], ...] = (("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("npx",), ("time",))


class Match(NamedTuple):
    """What a command line says about a check."""

    kind: str  # same, covers; hidden: the check ran, and its exit code is not known; other: it did not run
    why: str = ""  # why it does not count
    failure_counts: bool = True  # False: if it failed, something else may have


def compare(check: str, folder: str, line: str, cwd: str, roots: Sequence[str] = ()) -> Match:
    """Compare a line that was run in `cwd` with a check that belongs to `folder`. `roots`: the paths that a runner
    takes if it is given none, from its configuration."""
    if line.strip() == check.strip():
        if normpath(cwd) == normpath(folder):
            return Match(SAME)
        return Match(OTHER, "it ran in another directory")
    try:
        wanted, ran = _runs(check), _runs(line)
    except NotUnderstood as problem:
        return Match(OTHER, str(problem))
    return _compare(wanted, ran, folder, cwd, roots)


class _Run(NamedTuple):
    """One simple command, without what makes no difference."""

    words: tuple[str, ...]
    settings: tuple[str, ...] = ()  # NAME=value before it
    operator: str = ""
    is_certain: bool = True  # whether its words mean just what they say
    is_limited: bool = False  # whether it is ended after a time


def _runs(line: str) -> list[_Run]:
    parsed = parse(line)
    if parsed.is_grouped:
        raise NotUnderstood("it groups commands")
    if parsed.inner:
        raise NotUnderstood("it takes words from another command")
    return [_normalize(command) for command in parsed.commands]


def _normalize(command: Simple) -> _Run:
    words = [word.text for word in command.words]
    is_certain = all(word.is_plain and not word.is_pattern for word in command.words)
    settings: list[str] = []
    is_limited = False
    while words:
        if _is_setting(words[0]):
            settings.append(words.pop(0))
        elif words[0] == "env" and len(words) > 1 and not words[1].startswith("-"):
            words = words[1:]
        elif words[0] == "timeout" and len(words) > 2 and not words[1].startswith("-"):
            words, is_limited = words[2:], True
        elif any(words[: len(wrapper)] == list(wrapper) for wrapper in _WRAPPERS) and words[-1] != words[0]:
            words = words[next(len(one) for one in _WRAPPERS if words[: len(one)] == list(one)) :]
        elif _program(words[0]) in _PYTHONS and words[1:2] == ["-m"]:
            words = words[2:]
        else:
            break
    if words:
        words[0] = _program(words[0])
    return _Run(tuple(words), tuple(settings), command.operator, is_certain, is_limited)


def _is_setting(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _program(word: str) -> str:
    for folder in _FOLDERS:
        word = word.removeprefix(folder)
    return word


def _compare(wanted: list[_Run], ran: list[_Run], folder: str, cwd: str, roots: Sequence[str]) -> Match:
    place = _last_place(wanted, ran, roots)
    if place is None:
        return Match(OTHER)
    behind = ran[place + len(wanted) :]
    operator = ran[place + len(wanted) - 1].operator
    if behind or operator not in ("", ";", "\n"):
        return Match(HIDDEN, f"what comes behind it hides its exit code: {operator or ';'}")
    return _judge_before(wanted, ran, place, folder, cwd, roots)


def _last_place(wanted: list[_Run], ran: list[_Run], roots: Sequence[str]) -> int | None:
    """Where the commands of the check are in a line; the last place, if there are several."""
    for place in reversed(range(len(ran) - len(wanted) + 1)):
        some = ran[place : place + len(wanted)]
        if all(_match_run(one, other, roots).kind != OTHER for one, other in zip(wanted, some, strict=True)):
            return place
    return None


def _judge_before(
    wanted: list[_Run], ran: list[_Run], place: int, folder: str, cwd: str, roots: Sequence[str]
) -> Match:
    here: str | None = cwd
    failure_counts = True
    for run in ran[:place]:
        if run.operator != "&&":
            return Match(HIDDEN, f"what comes before it is not joined with &&: {run.operator}")
        if run.words[:1] == ("cd",):
            here = _moved(here, run)
        elif _decides(run):
            return Match(HIDDEN, f"what comes before it may change what it does: {' '.join(run.words or run.settings)}")
        elif run.words and run.words[0] not in _SETTING:
            failure_counts = False
    if here is None or normpath(here) != normpath(folder):
        return Match(OTHER, "it ran in another directory")
    kind = SAME
    for one, other in zip(wanted, ran[place : place + len(wanted)], strict=True):
        found = _match_run(one, other, roots)
        if found.kind == HIDDEN:
            return found
        if found.kind == COVERS:
            kind = COVERS
    return Match(kind, failure_counts=failure_counts)


def _moved(here: str | None, run: _Run) -> str | None:
    """The directory after a `cd`; None if it is not known."""
    if here is None or len(run.words) != 2 or not run.is_certain or run.words[1].startswith(("~", "-")):
        return None
    if isabs(run.words[1]):
        return run.words[1]
    return join(here, run.words[1])


def _decides(run: _Run) -> bool:
    """Whether what is before a check may change what the check does."""
    names = [word.partition("=")[0] for word in (*run.settings, *run.words[1:]) if _is_setting(word)]
    return bool(_DECIDING.intersection(names)) or (run.words[:1] != () and run.words[0] in _SHADOWING)


def _match_run(wanted: _Run, ran: _Run, roots: Sequence[str]) -> Match:
    """Compare one command with one of the check."""
    if not wanted.words or not ran.words:
        return Match(OTHER)
    extra = [one for one in ran.settings if one not in wanted.settings]
    found = _match_words(wanted.words, ran.words, roots)
    if found.kind == OTHER:
        return found
    if not (wanted.is_certain and ran.is_certain):
        return Match(HIDDEN, "its words depend on the shell")
    if _DECIDING.intersection(one.partition("=")[0] for one in extra):
        return Match(HIDDEN, f"a variable may change what it does: {extra[0]}")
    return found


def _match_words(wanted: tuple[str, ...], ran: tuple[str, ...], roots: Sequence[str]) -> Match:
    if wanted == ran:
        return Match(SAME)
    runner = find_runner(wanted)
    if runner is None or find_runner(ran) is not runner:
        return Match(OTHER)
    return _match_runner(runner, wanted, ran, roots)


def _match_runner(runner: Runner, wanted: tuple[str, ...], ran: tuple[str, ...], roots: Sequence[str]) -> Match:
    asked, given = runner.read(wanted), runner.read(ran)
    extra = [word for word in given.refused if word not in asked.refused]
    if extra:
        return Match(HIDDEN, f"{extra[0]} leaves out what the check asks for")
    if asked.flags != given.flags or asked.refused != given.refused:
        return Match(OTHER)
    if asked.targets == given.targets:
        return Match(SAME)
    if runner.covers(given.targets, asked.targets, roots):
        return Match(COVERS)
    return Match(OTHER)


__all__ = ["COVERS", "HIDDEN", "OTHER", "RUNNERS", "SAME", "Match", "compare"]
