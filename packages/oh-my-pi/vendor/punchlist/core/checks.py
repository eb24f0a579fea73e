"""A check: what shows that an item is done. Nothing is run or looked at here; `checks` does that."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import isabs, normpath

from ._typing import TYPE_CHECKING, Any, NamedTuple
from .errors import Refused
from .json_text import dumps
from .model import NOTHING, USER, Author, Item
from .text import cut, inline, quoted

if TYPE_CHECKING:
    from typing import TypeGuard

KINDS = ("run", "file", "contains")
IMPORT = "import"  # who has set a check that came with a file
SUBJECT = "check:"  # how the subjects of observations begin that are about a check, not about an item
_AGENT = "agent"  # who has set a check, if an agent calls itself like the user
_LONGEST = 2_000  # characters of a command, a path or a text
_MOST_GLOBS = 50
_BLANK = Item("", "")


class Subjects(NamedTuple):
    """Under which names a store keeps what was observed of a check."""

    passed: str
    failed: str
    hidden: str  # it ran, and its exit code is not known
    base: str  # the files when it was set, and when an item was started


def read_check(given: object) -> dict[str, Any]:
    """Return the check that is meant: a command, or an object with `run`, `file` or `contains`. Raises Refused."""
    if isinstance(given, str):
        given = {"run": given}
    if not isinstance(given, Mapping):
        raise Refused(f"a check is a command, or an object with run, file or contains; not {_shown(given)}.")
    kinds = [kind for kind in KINDS if kind in given]
    unknown = [str(key) for key in given if key not in (*KINDS, "scope")]
    if len(kinds) != 1 or unknown:
        raise Refused(f"a check has one of run, file and contains, and may have a scope; not {_shown(dict(given))}.")
    kind = kinds[0]
    check = {kind: _READERS[kind](given[kind])}
    if given.get("scope"):
        check["scope"] = _read_scope(given["scope"])
    return check


def _read_command(given: object) -> str:
    words = _read_text(given, "the command of a check").strip()
    if not words.isprintable():
        raise Refused("the command of a check is one line, without control characters.")
    return words


def _read_path(given: object) -> str:
    """A path inside of the directory that the check belongs to: nobody else's files are looked at."""
    path = _read_text(given, "the file of a check").strip()
    if isabs(path) or normpath(path).startswith("..") or not path.isprintable():
        raise Refused(f"the file of a check is a path inside of its directory; not {quoted(path)}.")
    return normpath(path)


def _read_contents(given: object) -> list[str]:
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise Refused('contains is a path and a text: ["CHANGELOG.md", "2.0"].')
    return [_read_path(given[0]), _read_text(given[1], "the text that a file must contain")]


def _read_scope(given: object) -> list[str]:
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list | tuple) or len(given) > _MOST_GLOBS:
        raise Refused(f'a scope is a list of at most {_MOST_GLOBS} patterns of paths: ["src/**", "tests/**"].')
    return [_read_text(one, "a pattern of a scope").strip() for one in given]


def _read_text(given: object, what: str) -> str:
    if not isinstance(given, str) or not given.strip() or len(given) > _LONGEST:
        raise Refused(f"{what} must be a text of 1 to {_LONGEST} characters, not {_shown(given)}.")
    return given


def _shown(given: object) -> str:
    return cut(inline(repr(given)), 60)


_READERS = {"run": _read_command, "file": _read_path, "contains": _read_contents}


def is_check(value: object) -> bool:
    """Whether a value is a check in the form in which it is kept, or none."""
    if not isinstance(value, dict):
        return False
    try:
        return not value or read_check(value) == value
    except Refused:
        return False


def is_kept_command(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is the most usual check, a command, in the form in which it is kept. Cheaper than to read it."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    words = value.get("run")
    return isinstance(words, str) and 0 < len(words) <= _LONGEST and words.isprintable() and words == words.strip()


def in_words(check: Mapping[str, Any]) -> str:
    """A check on one line: its command, or what must be true of a file."""
    if "run" in check:
        return inline(check["run"])
    if "file" in check:
        return f"{inline(check['file'])} exists"
    path, text = check["contains"]
    return f"{inline(path)} contains {quoted(text)}"


def to_do(check: Mapping[str, Any]) -> str:
    """What somebody has to do to show that an item is done: `run "make test"`."""
    if "run" in check:
        return f"run {quoted(check['run'], _LONGEST)}"
    return f"see that {in_words(check)}"


def folder_of(item: Item) -> str:
    """The directory that an item's check belongs to."""
    return str(item.check_set.get("dir", ""))


def is_trusted(item: Item) -> bool:
    """Whether the user set the check of an item, or approved it."""
    return item.check_set.get("by") == USER or bool(item.check_set.get("approved"))


def digest(check: Mapping[str, Any], folder: str) -> str:
    """What tells a check from others: all of it, and its directory."""
    from .sha import hex_digest

    words = dumps([{name: check[name] for name in sorted(check)}, folder])
    return hex_digest(words.encode("utf-8", "surrogatepass"))[:20]


def subjects(check: Mapping[str, Any], folder: str) -> Subjects:
    """Under which names a store keeps what was observed of a check."""
    name = SUBJECT + digest(check, folder)
    return Subjects(f"{name}:pass", f"{name}:fail", f"{name}:hidden", f"{name}:base")


def stamped(item: Item, old: Item | None, author: Author) -> Item:
    """An item with who set its check, when and where. Only the user waives and approves; a check of the user's, or one
    that the user approved, is not changed by an agent."""
    old = old or _BLANK
    check, check_set, waived = item.check, item.check_set, item.waived
    if not author.is_user:
        waived = old.waived
        if is_trusted(old):
            check, check_set = old.check, old.check_set
        elif check == old.check:
            check_set = old.check_set
        else:
            check_set = {name: value for name, value in check_set.items() if name == "dir"}
    if not check:
        check_set = NOTHING
    elif check != old.check and (not check_set.get("by") or check_set == old.check_set):
        name = author.name
        if name == USER and not author.is_user:
            name = _AGENT
        check_set = {"by": name, "at": author.at, "dir": check_set.get("dir") or author.folder}
    elif not check_set.get("by"):  # somebody left out who set it
        check_set = old.check_set
    return item._replace(check=check, check_set=check_set, waived=waived)
