"""What happened, line by line, in a file of this machine: refusals, reminders, nudges, stops and why. It is only ever
added to, and nothing of it leaves the machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from ..core._typing import Any
from ..core.text import cut, inline
from .settings import state_folder

NAME = "events.jsonl"
_EVERYWHERE = "everywhere"
_FULL = 8_000_000  # bytes; then the file is put aside as the older one, and what was older goes
_TAIL = 65_536  # bytes in which the newest event is looked for
_LONG = 200  # characters of a value


def write(kind: str, **values: Any) -> None:
    """Add a line. What cannot be written is dropped: a log is not worth a failure."""
    line = json.dumps({"kind": kind, **{name: _short(value) for name, value in values.items()}}) + "\n"
    path = _path()
    try:
        handle = _opened(path)
        try:
            end = os.fstat(handle).st_size
            is_torn = end > 0 and os.pread(handle, 1, end - 1) != b"\n"  # somebody died while writing
            os.write(handle, b"\n" * is_torn + line.encode())
        finally:
            os.close(handle)
        if end > _FULL:
            put_aside(path, _FULL)
    except OSError:
        pass


def switched(to: str, *, place: str, **values: Any) -> None:
    """Add that it was turned off or on: for a session, for a project, or everywhere, where neither is named."""
    write("toggle", to=to, **({} if values.get("session") else {"place": place or _EVERYWHERE}), **values)


def is_about(event: Mapping[str, Any], plan: str, session: str, place: str) -> bool:
    """Whether an event happened to a plan, in a session, or in the project that the plan is in."""
    if (plan and event.get("plan") == plan) or (session and event.get("session") == session):
        return True
    return event.get("place") in (_EVERYWHERE, _short(place))


def read() -> Iterator[dict[str, Any]]:
    """Every line that is kept, oldest first. One that cannot be read is passed over."""
    for path in filter(os.path.isfile, (_path(".1"), _path())):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                for line in file:
                    found = _parsed(line)
                    if found is not None:
                        yield found
        except OSError:
            continue


def latest(plan: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    """The newest event of one of these kinds about a plan, as far as the end of the log tells; nothing if there is
    none. Cheap enough to be asked every second."""
    try:
        from .files import open_file

        with os.fdopen(open_file(_path()), "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    for line in reversed(lines):
        found = _parsed(line) if plan in line else None
        if found and found["kind"] in kinds and found.get("plan") == plan:
            return found
    return {}


def _opened(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)  # it may have become a pipe
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        from .files import make_folder

        make_folder(os.path.dirname(path))
        return os.open(path, flags, 0o600)


def put_aside(path: str, full: int) -> None:
    """A file with more bytes than that becomes the older one. Of several processes that see it full, one does it."""
    import fcntl

    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.getsize(path) > full:
            os.replace(path, f"{path}.1")
    finally:
        os.close(lock)


def _path(ending: str = "") -> str:
    return os.path.join(state_folder(os.environ), NAME + ending)


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("kind"), str) else None


def _short(value: Any) -> Any:
    if isinstance(value, float) and value - value != 0:  # not a number, or without end: JSON has no word for it
        return str(value)
    return cut(inline(value), _LONG) if isinstance(value, str) else value
