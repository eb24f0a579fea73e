"""Which commands of checks may be run on this machine: those that the user has approved, each with its directory.

A check that a model wrote, that came with a file or that a project brings is a command that somebody else chose. What
the user said yes to is kept in one private file, by content: another command, or the same one in another directory, is
another approval.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ..core._typing import Any, NamedTuple
from ..core.checks import digest, is_check
from ..core.json_text import dumps, loads
from ..core.model import NOTHING
from ..local.files import lock_file, read_file, time_text, write_file
from ..local.settings import state_folder

_LARGEST = 4_000_000  # bytes of the file


class Approved(NamedTuple):
    """One approval."""

    check: Mapping[str, Any]
    folder: str
    at: str


class Approvals(NamedTuple):
    """What is approved, by digest. If the file cannot be used, nothing is, and `problem` says why."""

    known: Mapping[str, Approved] = NOTHING
    problem: str = ""

    def has(self, check: Mapping[str, Any], folder: str) -> bool:
        """Whether a check may be run. One of a file runs nothing, and needs no approval."""
        return "run" not in check or digest(check, folder) in self.known


def load() -> Approvals:
    """Read what is approved."""
    path = _path()
    try:
        about = os.stat(path)
        if os.name != "nt" and (about.st_mode & 0o022 or about.st_uid != os.geteuid()):
            return Approvals(problem=f"{path}: others can write it, so nothing is approved; try `chmod 600` on it.")
        return Approvals(_read(loads(read_file(path, _LARGEST))))
    except FileNotFoundError:
        return Approvals()
    except OSError as error:
        return Approvals(problem=f"{path}: {error.strerror}; nothing is approved.")
    except (ValueError, RecursionError):
        return Approvals(problem=f"{path}: it is damaged, so nothing is approved; approve again what you want to run.")


def approve(check: Mapping[str, Any], folder: str) -> None:
    """Let a check be run from now on. Raises OSError."""
    row = {"check": dict(check), "dir": folder, "at": time_text()}
    _change(lambda rows: {**rows, digest(check, folder): row})


def revoke(name: str) -> None:
    """Take an approval back, by its digest. Raises OSError."""
    _change(lambda rows: {key: row for key, row in rows.items() if key != name})


def _change(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    with _locked():
        found = load()
        if found.problem and os.path.exists(_path()):  # what cannot be used is kept, and counts no more
            os.rename(_path(), f"{_path()}.damaged")
        rows = {key: {"check": dict(one.check), "dir": one.folder, "at": one.at} for key, one in found.known.items()}
        after = change(rows)
        if after != rows:
            write_file(_path(), (dumps({"approved": after}) + "\n").encode("utf-8", "surrogatepass"), is_synced=True)


@contextmanager
def _locked() -> Iterator[None]:
    handle = lock_file(f"{_path()}.lock")
    try:
        yield
    finally:
        os.close(handle)


def _read(data: Any) -> dict[str, Approved]:
    """The approvals of a file. Raises ValueError, also if a digest is not that of its check."""
    rows = data.get("approved") if isinstance(data, dict) else None
    if not isinstance(rows, dict):
        raise ValueError
    found = {}
    for key, row in rows.items():
        if not isinstance(row, dict):
            raise ValueError
        one = Approved(row.get("check") or {}, row.get("dir") or "", row.get("at") or "")
        is_whole = isinstance(one.folder, str) and isinstance(one.at, str) and is_check(one.check)
        if not is_whole or not one.check or digest(one.check, one.folder) != key:
            raise ValueError
        found[key] = one
    return found


def _path() -> str:
    return os.path.join(state_folder(os.environ), "approvals.json")
