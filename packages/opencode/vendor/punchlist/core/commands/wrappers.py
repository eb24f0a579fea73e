"""One simple command without what makes no difference: `uv run`, `python -m`, `timeout 60`, the path of a program."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import isabs, join, normpath

from .._typing import NamedTuple
from .runners import words_of
from .shell_words import Simple, Word
from .table import RUNNERS, flags

KEYWORDS = words_of("if then elif else while until do for ! { case select coproc")
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_PYTHON = re.compile(r"python(3(\.[0-9]+)?)?")
_PYTHON_FLAGS = frozenset(("-u", "-B"))
_SYSTEM = frozenset(("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"))
_ENVIRONMENTS = (".venv/bin", "venv/bin", "env/bin")
_NODE_PROGRAMS = "node_modules/.bin"
_ENDS = re.compile(r"[0-9]+(\.[0-9]+)?[smhd]?")  # after which time
_EXPANDED = re.compile(r"[*?\[]|^~")
_KEPT = re.compile(r"--p.*|-[^-ks]*p.*")
KEEPS_STATUS = "timeout --preserve-status"  # a program that is stopped, and says that it is well, passes with it
QUOTED = "\0"  # behind a word that the shell would expand without its quotes
_LEVEL = re.compile(r"-[0-9]+|--adjustment=-?[0-9]+")  # of `nice`

# Modules that are the same program if they are called by their name, and programs that npx runs.
PYTHON_TOOLS = words_of("bandit black build coverage flake8 isort mkdocs pylint pyright sphinx vulture")
_PYTHON_RUNNERS = words_of("uv poetry pipenv pdm")
NODE_TOOLS = words_of(
    """
    astro ava biome cypress eslint karma mocha next nx nyc oxlint playwright prettier stylelint svelte-check tap tsc
    turbo vite vue-tsc wdio webpack xo
    """
)
UV_FLAGS = flags(
    "-q --quiet --frozen --locked --no-sync --dev --no-dev --all-extras --all-groups --offline --no-progress --active"
    " --extra= --group= --only-group= --color="
)


class Run(NamedTuple):
    """A simple command: the words that matter, and what was around them."""

    words: tuple[str, ...]
    settings: tuple[str, ...] = ()  # NAME=value before it
    operator: str = ""
    keyword: str = ""  # what it is inside of: `if`, `!`
    around: tuple[str, ...] = ()  # what was taken away: uv run, timeout
    moves: tuple[str, ...] = ()  # directories that it goes to by itself: `make -C`
    targets: tuple[str, ...] = ()  # files that it writes to
    is_plain: bool = True  # whether no word depends on a variable or a command
    is_certain: bool = True  # whether its words mean just what they say: no pattern either
    is_fed: bool = False


def normalized(command: Simple, folder: str) -> Run:
    """Take away what makes no difference to a command that runs in a folder."""
    words = list(command.words)
    keyword = ""
    while words and words[0].is_bare and words[0].text in KEYWORDS:
        keyword = words.pop(0).text
    settings = _taken_settings(words)
    around: list[str] = []
    is_plain = all(word.is_plain and (word.is_bare or not word.is_pattern) for word in words)
    is_certain = is_plain and not any(map(_is_expanded, words))
    texts = [_said(word) for word in words]
    while len(texts) > 1:
        taken = _taken(texts, settings, folder)
        if not taken:
            break
        around.append(taken)
    if texts:
        texts[0] = program(texts[0], folder)
    moves = _taken_moves(texts)
    targets = tuple(word.text for word in command.targets if word.text != "/dev/null")
    return Run(
        *(tuple(texts), tuple(settings), command.operator, keyword, tuple(around), moves, targets),
        *(is_plain, is_certain, command.is_fed),
    )


def is_setting(word: str) -> bool:
    return _SETTING.match(word) is not None


def program(word: str, folder: str) -> str:
    """A program by its name, if it is called by its path in the system or in an environment of the project."""
    if "/" not in word or word.startswith(("~", "$")):
        return word
    path = normpath(join(folder, word))
    place, _, name = path.rpartition("/")
    if place in _SYSTEM and isabs(word):
        return name
    if place in [join(folder, one) for one in _ENVIRONMENTS] and _is_in_venv(name):
        return name
    if place == join(folder, _NODE_PROGRAMS) and _is_tool(name, "node", NODE_TOOLS):
        return name
    if ".." in word.split("/"):
        return word
    return path


def _is_in_venv(name: str) -> bool:
    """Whether a virtual environment usually holds a program. A `make` that is in one is not the system's."""
    return _PYTHON.fullmatch(name) is not None or name in _PYTHON_RUNNERS or _is_tool(name, "python", PYTHON_TOOLS)


def is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _taken_settings(words: list[Word]) -> list[str]:
    settings = []
    while words and is_setting(words[0].text):
        settings.append(words.pop(0).text)
    return settings


def _is_expanded(word: Word) -> bool:
    """Whether the shell puts something else in its place. Names of tests with brackets are not names of files."""
    is_pattern = word.is_pattern and "::" not in word.text
    return is_pattern or (word.is_bare and word.text.startswith("~"))


def _said(word: Word) -> str:
    """The text of a word, marked if it is quoted and would be expanded without its quotes."""
    if not word.is_bare and not word.is_pattern and "::" not in word.text and _EXPANDED.search(word.text):
        return f"{word.text}{QUOTED}"
    return word.text


def _taken(words: list[str], settings: list[str], folder: str) -> str:
    """Take one wrapper away, and return its name; empty if there is none."""
    name = program(words[0], folder)
    for wrapper, take in _WRAPPERS.items():
        count = 0
        if name == wrapper:
            count = take(words, settings)
        if count:
            is_kept = "timeout" in wrapper and any(map(_KEPT.fullmatch, words[1:count]))
            del words[:count]
            if is_kept:
                return KEEPS_STATUS
            return wrapper
    if _PYTHON.fullmatch(name):
        return _taken_python(words)
    return ""


def _taken_python(words: list[str]) -> str:
    """`python -m pytest` is `pytest`; of another module, any Python is `python`."""
    at = 1
    while words[at : at + 1] and words[at] in _PYTHON_FLAGS:
        at += 1
    if words[at : at + 1] != ["-m"] or len(words) < at + 2:
        return ""
    if _is_tool(words[at + 1], "python", PYTHON_TOOLS):
        del words[: at + 1]
        return "python -m"
    words[: at + 1] = ["python", "-m"]
    return ""


def _is_tool(name: str, by: str, others: frozenset[str]) -> bool:
    return name in others or any(runner.by == by and name == runner.name.split()[0] for runner in RUNNERS)


def _count_env(words: list[str], settings: list[str]) -> int:
    count = 1
    while count < len(words) - 1 and is_setting(words[count]):
        settings.append(words[count])
        count += 1
    if words[count].startswith("-") or is_setting(words[count]):
        return 0
    return count


def _count_timeout(words: list[str], settings: list[str]) -> int:
    count = 1
    while count < len(words) and words[count].startswith("-"):
        if words[count] in ("-k", "-s", "--kill-after", "--signal"):
            count += 1
        count += 1
    if count + 1 < len(words) and _ENDS.fullmatch(words[count]):
        return count + 1
    return 0


def _count_nice(words: list[str], settings: list[str]) -> int:
    if words[1] == "-n" and len(words) > 3:
        return 3
    if _LEVEL.fullmatch(words[1]) and len(words) > 2:
        return 2
    return int(not words[1].startswith("-"))


def _count_time(words: list[str], settings: list[str]) -> int:
    if words[1] == "-p" and len(words) > 2:
        return 2
    return int(not words[1].startswith("-"))


def _count_uv(words: list[str], settings: list[str]) -> int:
    if words[1] != "run":
        return 0
    count = 2
    while count < len(words) and words[count].startswith("-"):
        flag, equals, _ = words[count].partition("=")
        if flag == "--":
            return count + 1
        if flag in ("-m", "--module"):
            words[count : count + 1] = ["python", "-m"]
            return count
        if flag not in UV_FLAGS or (equals and not UV_FLAGS[flag]):
            return 0
        count += 1
        if UV_FLAGS[flag] and not equals:
            count += 1
    return _if_more(words, count)


def _count_run(words: list[str], settings: list[str]) -> int:
    if words[1] != "run" or words[2:3] == ["--"]:
        return 0
    return _if_more(words, 2)


def _count_npx(words: list[str], settings: list[str]) -> int:
    count = 1
    while words[count : count + 1] and words[count] in ("--no", "--no-install", "-y", "--yes", "--"):
        count += 1
    if count < len(words) and _is_tool(words[count], "node", NODE_TOOLS):
        return count
    return 0


def _if_more(words: list[str], count: int) -> int:
    """So many words, if a program comes behind them."""
    if count < len(words) and not words[count].startswith("-"):
        return count
    return 0


_WRAPPERS: dict[str, Callable[[list[str], list[str]], int]] = {
    "env": _count_env,
    "timeout": _count_timeout,
    "gtimeout": _count_timeout,
    "nice": _count_nice,
    "time": _count_time,
    "uv": _count_uv,
    "poetry": _count_run,
    "pipenv": _count_run,
    "pdm": _count_run,
    "npx": _count_npx,
}


def _taken_moves(words: list[str]) -> tuple[str, ...]:
    """Take `-C DIR` away from `make`."""
    moves: list[str] = []
    if words[:1] != ["make"]:
        return ()
    at = 1
    while at < len(words) and words[at] != "--":
        word = words[at]
        if word in ("-C", "--directory") and at + 1 < len(words):
            moves.append(words[at + 1])
            del words[at : at + 2]
        elif word.startswith(("-C", "--directory=")):
            moves.append(word.removeprefix("-C").removeprefix("--directory="))
            del words[at]
        else:
            at += 1
    return tuple(moves)


def moved(here: str | None, directory: str) -> str | None:
    """The directory after going to another one; None if it is not known."""
    if isabs(directory):
        return normpath(directory)
    if here is None or directory.startswith(("~", "-")):
        return None
    return normpath(join(here, directory))
