"""The end of what a check printed when we last ran it: a private file for each check of a plan, beside the
store."""

from __future__ import annotations

import os

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.json_text import dumps, loads
from ..core.redact import blanked
from ..core.sha import hex_digest
from ..core.text import visible
from ..local.files import read_file, utc_text, write_file
from ..local.settings import state_folder

if TYPE_CHECKING:
    from .run import Ran

_FOLDER = ".punchlist-output"
_MOST = 200  # files; the oldest are removed
_LARGEST = 1 << 16  # bytes of a file


class Output(NamedTuple):
    """The end of an output, and how the run went that it is from."""

    at: str
    exit: int | None
    why: str  # it did not pass; empty if it did
    seconds: float
    size: int  # bytes that were printed in all
    text: str  # may hold anything; `lines` is what may be shown

    @property
    def lines(self) -> list[str]:
        """The text as lines that act on no terminal."""
        return [visible(line) for line in self.text.splitlines()]


def of_run(ran: Ran, *, is_redacted: bool = True) -> Output:
    """What is kept of a run. `is_redacted`: secrets in it are blanked."""
    text = ran.tail
    if is_redacted:
        text = blanked(text)
    return Output(utc_text(ran.end), ran.exit, ran.why, round(ran.seconds, 3), ran.size, text)


def save_output(store: object, plan: str, digest: str, output: Output) -> None:
    """Keep an output of a check of a plan, in place of the one before. Nothing fails if that is not possible."""
    folder = _folder_of(store)
    try:
        write_file(os.path.join(folder, _name(plan, digest)), dumps(output._asdict()).encode("utf-8", "replace"))
        _remove_oldest(folder)
    except OSError:
        pass


def read_output(store: object, plan: str, digest: str) -> Output | None:
    """What a check of a plan printed when it was last run here; None if that is not known."""
    try:
        found = loads(read_file(os.path.join(_folder_of(store), _name(plan, digest)), _LARGEST))
    except (OSError, ValueError, RecursionError):
        return None
    return _read(found)


def _read(found: Any) -> Output | None:
    if not isinstance(found, dict) or set(found) != set(Output._fields):
        return None
    texts = [found["at"], found["why"], found["text"]]
    numbers = [found["seconds"], found["size"], found["exit"] or 0]
    if not all(isinstance(one, str) for one in texts) or not all(isinstance(one, int | float) for one in numbers):
        return None
    return Output(**found)


def _name(plan: str, digest: str) -> str:
    """The name of a file. Plans of several stores may be kept in one folder, and the same check is in many."""
    return f"{digest}-{hex_digest(plan.encode('utf-8', 'surrogatepass'))[:12]}.json"


def _folder_of(store: object) -> str:
    """The folder beside a store that is a file; in the state folder for others."""
    path = str(getattr(store, "path", ""))
    if path:
        return os.path.join(os.path.dirname(os.path.abspath(path)), _FOLDER)
    return os.path.join(state_folder(os.environ), "output")


def _remove_oldest(folder: str) -> None:
    with os.scandir(folder) as entries:
        files = [(entry.stat(follow_symlinks=False).st_mtime, entry.path) for entry in entries]
    for _, path in sorted(files)[:-_MOST]:
        os.unlink(path)
