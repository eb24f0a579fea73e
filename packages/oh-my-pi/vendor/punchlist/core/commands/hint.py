"""Whether it is worth comparing a command line with a check: a question for every command that an agent runs."""

from __future__ import annotations

_PROGRAMS = frozenset(
    ("pytest", "unittest", "cargo", "go", "npm", "pnpm", "yarn", "vitest", "jest", "make", "tox", "nox", "ruff", "mypy")
)
_AROUND = frozenset(
    (
        *("uv", "run", "poetry", "pipenv", "pdm", "npx", "python", "python3", "time", "timeout", "nice", "env", "cd"),
        *("&&", "bash", "sh", "zsh"),
    )
)
_MARKS = "'\"();\\"
_UNQUOTED = str.maketrans("", "", "'\"\\\n")


def may_match(check: str, line: str) -> bool:
    """Return False if a line surely does not run a check: the name of its program is not in it. `compare` asks this
    first, so nothing that it would find is lost."""
    key = _key(check)
    if key == "go" and "go test" in check and "test" not in line.translate(_UNQUOTED):
        return False  # these two letters are in many words
    if key in line:
        return True
    has_quotes = "\\" in line or "'" in line or '"' in line
    return has_quotes and key in line.translate(_UNQUOTED)


def _key(check: str) -> str:
    """What every line that runs the check holds: the runner, or the longest of its other words."""
    longest = ""
    is_target = False
    for word in check.split():
        name = word.strip(_MARKS).rpartition("/")[2]
        if name in _PROGRAMS and not is_target:
            return name
        is_word = not is_target and name.replace(".", "").replace("-", "").replace("_", "").isalnum()
        if is_word and len(name) > len(longest) and not word.startswith("-") and name not in _AROUND:
            longest = name
        is_target = word.endswith((">", "<")) or word == "cd"
    return longest
