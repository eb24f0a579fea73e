"""What comes before a check in a line: where it goes, what it sets, and whether it may change what the check does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._typing import NamedTuple
from ..text import cut, inline
from .runners import words_of
from .wrappers import QUOTED, Run, is_setting, moved

# What a shell does itself and may change the commands behind it, or keep them from being run.
_SHELL = words_of(
    """
    alias autoload bind break builtin caller continue coproc declare disown emulate enable eval exec exit export fc
    function functions getopts hash kill let local logout mapfile noglob popd read readarray readonly return setopt
    shift shopt suspend trap typeset unalias unfunction unset unsetopt wait zmodload fi done } esac in complete
    compopt compgen integer float nocorrect
    """
)
_SAFE_SET = re.compile(r"[-+][euxo]+|pipefail|errexit|nounset|xtrace")
_ACTIVATE = re.compile(r"(?:\./)?(?:\.venv|venv|env)/bin/activate")
_KEEPING = frozenset((":", ".", "source", "set", "export"))  # behind which some shells keep what was set for them alone


class Before(NamedTuple):
    """What the commands before a check did."""

    here: str | None  # the directory after them; None if it is not known
    settings: tuple[str, ...] = ()  # NAME=value
    exported: tuple[str, ...] = ()  # of these, those that the check surely sees
    problem: str = ""  # why nothing behind them counts
    failure_counts: bool = True  # False: one of them may be what failed


def read_before(runs: Sequence[Run], here: str | None, folder: str) -> Before:
    """Go through what comes before a check, which belongs to a folder."""
    settings: list[str] = []
    exported: list[str] = []
    problem = ""
    failure_counts = True
    for run in runs:
        if run.operator != "&&":
            problem = problem or f"what comes before it is not joined with `&&`: {_shown(run)}"
        if run.keyword:
            problem = problem or f"`{run.keyword}` before it decides whether it runs"
        if not run.words or run.words[0] in _KEEPING:
            settings += run.settings
        if not run.words:
            continue
        if run.words[0] in ("cd", "pushd"):
            here = _changed(here, run)
        elif run.words[0] == "export" and not any(word.startswith("-") for word in run.words):
            settings += [word for word in run.words[1:] if is_setting(word)]
            exported += [word for word in run.words[1:] if is_setting(word)]
        elif run.words[0] in ("source", ".") and not _is_activate(run, here, folder):
            problem = problem or f"a file that is read before it may change what it does: {_shown(run)}"
        elif not _is_allowed(run):
            problem = problem or f"what comes before it may change what it does: {_shown(run)}"
        elif run.words[0] not in ("set", "source", ".", "true", ":"):
            failure_counts = False
    return Before(here, tuple(settings), tuple(exported), problem, failure_counts)


def _shown(run: Run) -> str:
    return cut(inline(" ".join((*run.settings, *run.words)).replace(QUOTED, "")), 60)


def _changed(here: str | None, run: Run) -> str | None:
    """The directory after a `cd`; None if it is not known."""
    words = [word for word in run.words[1:] if word != "--"]
    if run.settings:  # CDPATH, by which it goes elsewhere
        return None
    if len(words) != 1 or not run.is_certain or words[0].startswith(("-", "+")):
        return None
    if not words[0]:
        return here
    return moved(here, words[0].removesuffix(QUOTED))


def _is_allowed(run: Run) -> bool:
    name, words = run.words[0], run.words[1:]
    if name in ("source", "."):
        return True
    if name == "set":
        return bool(words) and all(_SAFE_SET.fullmatch(word) for word in words)
    if name in ("command", "type"):
        return name == "type" or words[:1] in (("-v",), ("-V",))
    if name == "printf":
        return words[:1] != ("-v",) and run.is_plain
    is_named = not name.startswith(("$", "`")) and name.isprintable() and "$" not in name
    return name not in _SHELL and is_named and not run.is_fed and (run.is_certain or "{" not in name)


def _is_activate(run: Run, here: str | None, folder: str) -> bool:
    """Whether a file that is read is that of the virtual environment in the folder. Any other may define anything."""
    if len(run.words) != 2 or not run.is_certain:
        return False
    path = run.words[1]
    if here == folder and _ACTIVATE.fullmatch(path):
        return True
    return path.startswith(folder) and _ACTIVATE.fullmatch(path.removeprefix(f"{folder.rstrip('/')}/")) is not None
