"""Whether a command line that was run shows what a check asks for. Pure: words are read, nothing is run.

What is not certain does not count, and the answer says why, so that `show ID` can.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import join, normpath

from .._typing import NamedTuple
from ..text import cut, inline
from .before import Before, read_before
from .environment import find_deciding
from .hint import may_match
from .runners import Runner
from .shell_words import NotUnderstood, parse
from .table import find_runner
from .wrappers import KEEPS_STATUS, QUOTED, Run, moved, normalized

SAME, COVERS, HIDDEN, OTHER = "same", "covers", "hidden", "other"
_MOST = 200  # commands of a line
_DEEP = 3  # shells inside of shells
_BLANK = " \t\n"
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f]")
_SHELLS = frozenset(("bash", "sh", "zsh", "dash"))
_SHELL_FLAGS = frozenset(("-c", "-lc", "-ec", "-lec"))
_JOINED = frozenset(("&&", "|", "|&"))


class Match(NamedTuple):
    """What a command line says about a check."""

    kind: str  # same, covers; hidden: the check ran, and its exit code is not known; other: it did not run
    why: str = ""  # why it does not count
    failure_counts: bool = True  # False: if it failed, something else may have
    runs: tuple[tuple[str, ...], ...] = ()  # the words of the check's commands, if each of them must pass
    around: frozenset[str] = frozenset()  # what was before them: cd, timeout, uv
    needs: tuple[tuple[str, str], ...] = ()  # of a wider run: files that must exist, and a text that must be in them


def compare(check: str, folder: str, line: str, cwd: str, roots: Sequence[str] = ()) -> Match:
    """Compare a line that was run in `cwd` with a check that belongs to `folder`. `roots`: the paths that pytest takes
    if it is given none, from its configuration."""
    if not may_match(check, line):
        return Match(OTHER)
    folder = normpath(folder)
    here = None
    if cwd.startswith("/"):
        here = normpath(cwd)
    try:
        wanted = _read(check, folder)
    except NotUnderstood as problem:
        return _compare_texts(check, folder, line, here, [], str(problem))
    found = _compare_texts(check, folder, line, here, wanted)
    if found.kind == SAME:
        return found
    try:
        ran = _read(line, folder)
    except NotUnderstood as problem:
        return Match(OTHER, str(problem))
    found = _compare(wanted, folder, ran, here, roots)
    if found.kind in (SAME, COVERS) and ("$(" in line or "`" in line or "${" in line):
        return Match(HIDDEN, "it takes words from a variable or from another command")
    return found


def _compare_texts(check: str, folder: str, line: str, here: str | None, wanted: Sequence[Run], why: str = "") -> Match:
    """Whether a line is the check, character by character. It then counts, whatever is in it."""
    if check.strip(_BLANK) != line.strip(_BLANK) or here != folder:
        return Match(OTHER, why)
    if wanted and wanted[-1].operator == "&":
        return Match(HIDDEN, "it runs in the background")
    return Match(SAME, runs=_each(wanted), around=_around(wanted))


def _each(wanted: Sequence[Run]) -> tuple[tuple[str, ...], ...]:
    if any(run.operator != "&&" for run in wanted[:-1]):
        return ()
    return tuple(run.words for run in wanted if run.words)


def _around(runs: Sequence[Run]) -> frozenset[str]:
    names = [run.words[0] for run in runs if run.words and run.words[0] in ("cd", "pushd", "set", "source", ".")]
    return frozenset(names).union(*(run.around for run in runs))


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(line: str, folder: str, depth: int = 0) -> list[Run]:
    """The commands of a line. Parentheses around all of it, and a shell that runs it, make no difference."""
    if _CONTROL.search(line):
        raise NotUnderstood("it holds control characters")
    text = line.strip(_BLANK)
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    parsed = parse(text)
    if parsed.is_grouped:
        raise NotUnderstood("it groups commands")
    if len(parsed.commands) > _MOST:
        raise NotUnderstood("it holds too many commands")
    runs = [normalized(command, folder) for command in parsed.commands]
    if runs and _is_shell(runs[-1]) and depth < _DEEP:
        runs[-1:] = _read_shell(runs[-1], folder, depth)
    return runs


def _is_shell(run: Run) -> bool:
    is_text = len(run.words) == 3 and run.words[0] in _SHELLS and run.words[1] in _SHELL_FLAGS
    return is_text and run.is_certain and not run.is_fed and not run.keyword


def _read_shell(run: Run, folder: str, depth: int) -> list[Run]:
    """The commands of `bash -c '...'`, with what is around it around each of them."""
    inner = _read(run.words[2].removesuffix(QUOTED), folder, depth + 1)
    if not inner or inner[-1].operator == "&":
        raise NotUnderstood("it runs something in the background")
    inner[-1] = inner[-1]._replace(operator=run.operator)
    settings, around = run.settings, run.around
    return [one._replace(settings=settings + one.settings, around=around + one.around) for one in inner]


# --- comparing -------------------------------------------------------------------------------------------------------


def _compare(wanted: list[Run], folder: str, ran: list[Run], here: str | None, roots: Sequence[str]) -> Match:
    start: str | None = folder
    while len(wanted) > 1 and wanted[0].words[:1] == ("cd",) and wanted[0].operator == "&&":
        before = read_before(wanted[:1], start, folder)
        start, wanted = before.here, wanted[1:]
    if start is None or not wanted:
        return Match(OTHER, "its directory is not known")
    place = _last_place(wanted, ran, start, roots)
    if place is None:
        return Match(OTHER)
    span, behind = ran[place : place + len(wanted)], ran[place + len(wanted) :]
    before = read_before(ran[:place], here, folder)
    if _is_elsewhere(wanted, span, start, before.here):
        return Match(OTHER, "it ran in another directory")
    why = (
        _problem_behind(span[-1], behind)
        or before.problem
        or _problem_inside(wanted, span)
        or _problem_of_place(span, before)
        or _problem_around(wanted, span, before, start)
    )
    if why:
        return Match(HIDDEN, why)
    matches = [_match_words(one, other, start, roots) for one, other in zip(wanted, span, strict=True)]
    return _joined(matches, wanted, span, before, ran[:place])


def _joined(
    matches: Sequence[Match], wanted: Sequence[Run], span: Sequence[Run], before: Before, earlier: Sequence[Run]
) -> Match:
    for found in matches:
        if found.kind == HIDDEN:
            return found
    kind = SAME
    if any(found.kind == COVERS for found in matches):
        kind = COVERS
    failure_counts = before.failure_counts and all(found.failure_counts for found in matches)
    needs = [pair for found in matches for pair in found.needs]
    return Match(kind, "", failure_counts, _each(wanted), _around([*earlier, *span]), tuple(needs))


def _last_place(wanted: Sequence[Run], ran: Sequence[Run], folder: str, roots: Sequence[str]) -> int | None:
    """Where the commands of the check are in a line; the last place, if there are several."""
    for place in reversed(range(len(ran) - len(wanted) + 1)):
        some = ran[place : place + len(wanted)]
        if all(_match_words(one, other, folder, roots).kind != OTHER for one, other in zip(wanted, some, strict=True)):
            return place
    return None


def _is_elsewhere(wanted: Sequence[Run], span: Sequence[Run], start: str, here: str | None) -> bool:
    """Whether it is known that a command ran in another directory than the check's."""
    for one, other in zip(wanted, span, strict=True):
        place = _after_moves(here, other)
        if place is not None and place != _after_moves(start, one):
            return True
    return False


def _after_moves(here: str | None, run: Run) -> str | None:
    for directory in run.moves:
        here = moved(here, directory)
    return here


def _problem_of_place(span: Sequence[Run], before: Before) -> str:
    if any(_after_moves(before.here, run) is None for run in span):
        return "it is not known in which directory it ran"
    return ""


def _problem_behind(last: Run, behind: Sequence[Run]) -> str:
    if last.operator == "&":
        return "it runs in the background"
    if not behind:
        return ""
    shown = _shown(behind[0])
    if last.operator in ("|", "|&"):
        return f"a pipe hides its exit code: run it without `| {shown}`"
    if last.operator == "&&":
        return f"it is not the last command of the line: `&& {shown}` comes behind it"
    operator = last.operator.replace("\n", ";")
    return f"`{operator} {shown}` behind it hides its exit code"


def _shown(run: Run) -> str:
    words = " ".join((*run.settings, *run.words)).replace(QUOTED, "").replace("`", "'")
    return cut(inline(words), 60)


def _problem_inside(wanted: Sequence[Run], span: Sequence[Run]) -> str:
    """What is wrong with how the commands of the check hang together."""
    operators = [run.operator for run in wanted[:-1]]
    if operators != [run.operator for run in span[:-1]]:
        return "its commands are joined in another way"
    if not _JOINED.issuperset(operators):
        return "only the very same line counts for a check with `;` or `||` in it"
    if [run.targets for run in wanted[:-1]] != [run.targets for run in span[:-1]]:
        return "its commands write to other files"
    for one, other in zip(wanted, span, strict=True):
        if one.keyword != other.keyword:
            return f"`{other.keyword or one.keyword}` before it changes what its exit code says"
        if KEEPS_STATUS in other.around:
            return f"`{KEEPS_STATUS}` hides that it did not get to its end"
        if one.is_fed or other.is_fed:
            return "it is given input that is not compared"
    return ""


def _problem_around(wanted: Sequence[Run], span: Sequence[Run], before: Before, folder: str) -> str:
    """Whether variables that are set may change what the check does, or words depend on the shell."""
    for one, other in zip(wanted, span, strict=True):
        if not (one.is_plain and other.is_plain):
            return "its words depend on variables"
        if one.words != other.words and not (one.is_certain and other.is_certain):
            return "its words are patterns that the shell expands"
        given = (*before.settings, *other.settings)
        decides = find_deciding([setting for setting in given if setting not in one.settings], one.words, folder)
        if decides:
            return f"a variable may change what it does: {cut(inline(decides), 60)}"
        missing = [setting for setting in one.settings if setting not in (*before.exported, *other.settings)]
        if missing:
            return f"it ran without {cut(inline(missing[0]), 60)}"
    return ""


def _match_words(wanted: Run, ran: Run, folder: str, roots: Sequence[str]) -> Match:
    """Compare the words of one command with those of one of the check."""
    if not wanted.words or not ran.words:
        return Match(OTHER)
    if wanted.words == ran.words:
        return Match(SAME)
    runner = find_runner(wanted.words)
    if runner is None or runner.find_name(ran.words) is None:
        return Match(OTHER)
    return _match_runner(runner, wanted.words, ran.words, folder, roots)


def _match_runner(
    runner: Runner, wanted: tuple[str, ...], ran: tuple[str, ...], folder: str, roots: Sequence[str]
) -> Match:
    asked, given = runner.read(wanted, folder), runner.read(ran, folder)
    failure_counts = asked.is_stricter or not given.is_stricter
    if asked.is_stricter and not given.is_stricter:
        return Match(HIDDEN, "it ran without a flag that makes it stricter")
    if asked.words == given.words:
        return Match(SAME, failure_counts=failure_counts)
    if given.targets != asked.targets and not runner.covers(given.targets, asked.targets, roots):
        return Match(OTHER)
    if asked.flags == given.flags == ():
        return Match(COVERS, failure_counts=False, needs=_needs(runner, asked.targets, given.targets, folder))
    return _match_flags(runner, asked.flags, given.flags)


def _needs(runner: Runner, asked: Sequence[str], given: Sequence[str], folder: str) -> tuple[tuple[str, str], ...]:
    """A wider run passes also if what the check names does not exist. A program that is given a path complains."""
    found = [runner.locate(target) for target in asked if target not in given]
    return tuple((join(folder, path), text) for path, text in found if path)


def _match_flags(runner: Runner, asked: Sequence[str], given: Sequence[str]) -> Match:
    extra = [flag for flag in given if flag not in asked]
    missing = [flag for flag in asked if flag not in given]
    if missing:
        return Match(HIDDEN, f"it ran without {cut(inline(missing[0]), 40)}")
    if not extra:
        return Match(HIDDEN, "its words are in another order, or have other values")
    name = extra[0].partition("=")[0].partition(" ")[0]
    if name in runner.refused or name[:2] in runner.refused or name in runner.not_started:
        return Match(HIDDEN, f"{cut(inline(extra[0]), 40)} leaves out or hides what the check asks for")
    return Match(HIDDEN, f"{cut(inline(extra[0]), 40)} may change what it does")


__all__ = ["COVERS", "HIDDEN", "OTHER", "SAME", "Match", "compare"]
