"""Variables that may change what a check does, or which program it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .wrappers import is_within

_DECIDING = re.compile(
    r"PATH|CDPATH|IFS|GLOBIGNORE|EXECIGNORE|HOME|XDG_CONFIG_\w+|VIRTUAL_ENV|CONDA_\w+|ENV|BASH\w*|SHELL\w*|ZDOTDIR|LD_\w+|DYLD_\w+|PYTEST\w*|TOX\w*|NOX\w*|RUFF_\w+|MYPY\w*|JEST\w*|VITEST\w*"
    r"|PYTHON(?:HOME|OPTIMIZE|STARTUP|WARNINGS|INSPECT|USERBASE|PLATLIBDIR|SAFEPATH|PYCACHEPREFIX)|NODE_OPTIONS|NODE_PATH"
    r"|MAKE\w*|MFLAGS|GNUMAKEFLAGS|CARGO\w*|RUST(?:C|DOC|FLAGS|DOCFLAGS|UP)\w*"
    r"|GO(?:FLAGS|ENV|ROOT|PATH|WORK|OS|ARCH|EXPERIMENT|TOOLCHAIN|MOD)\w*|NPM_CONFIG_\w+|YARN_\w+|PNPM_\w+|UV_\w+"
    r"|POETRY_\w+|PIPENV_\w+|PDM_\w+|COVERAGE_PROCESS_START|HYPOTHESIS_\w+",
    re.I,
)
_HARMLESS = re.compile(
    r"CI|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|TERM|COLUMNS|LINES|LANG|LC_\w+|TZ|PAGER|GIT_PAGER|DEBIAN_FRONTEND|CARGO_TERM_\w+"
    r"|CARGO_TARGET_DIR|CARGO_INCREMENTAL|RUST_BACKTRACE|RUST_LOG|GOCACHE|GOTMPDIR|UV_CACHE_DIR|RUFF_CACHE_DIR"
    r"|MYPY_CACHE_DIR|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8|FAULTHANDLER|HASHSEED|BREAKPOINT)|TMPDIR"
)
_OWN = frozenset(("", "$PYTHONPATH", "$PWD"))


def find_deciding(settings: Iterable[str], words: Sequence[str], folder: str) -> str:
    """The first of some settings that may change what a command does; empty if none may."""
    for setting in settings:
        name, _, value = setting.partition("=")
        if _decides(name.rstrip("+").partition("[")[0], value, words, folder):
            return setting
    return ""


def _decides(name: str, value: str, words: Sequence[str], folder: str) -> bool:
    if _HARMLESS.fullmatch(name):
        return False
    if name == "PYTHONPATH":
        return not all(_is_own(entry, folder) for entry in value.split(":"))
    is_make = tuple(words[:1]) == ("make",)  # which takes its variables from the environment
    return is_make or _DECIDING.fullmatch(name) is not None


def _is_own(entry: str, folder: str) -> bool:
    """Whether a directory is the project's, where a file that shadows a module would be seen: not in `.git`."""
    if entry in _OWN:
        return True
    inside = entry
    if is_within(entry, folder):
        inside = entry.removeprefix(folder).lstrip("/")
    if inside.startswith(("/", "~", "$")):
        return False
    return not any(part.startswith(".") for part in inside.split("/") if part != ".")
