"""What happened, line by line, in a file of this machine: refusals, reminders, nudges, stops and why. It is only ever
added to, and nothing of it leaves the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from ..core._typing import Any
from ..core.json_text import dumps, loads
from ..core.text import cut, inline
from .files import append_line, open_file, utc_text
from .settings import place, state_folder

NAME = "events.jsonl"
ERROR = "error"  # the kind of an event that says what failed
_EVERYWHERE = "everywhere"
_FULL = 8_000_000  # bytes; then the file is put aside as the older one, and what was older goes
_TAIL = 65_536  # bytes in which the newest event is looked for
_LONG = 200  # characters of a value
_LONG_ERROR = 500  # characters of what an error says


def write(kind: str, **values: Any) -> None:
    """Add a line. What cannot be written is dropped: a log is not worth a failure."""
    _append({"kind": kind, "at": utc_text(), **{name: _short(value) for name, value in values.items()}})


def write_error(where: str, error: Exception) -> None:
    """Add an error that an agent must not notice. `doctor` shows the last ones."""
    from ..core.errors import Refused
    from ..core.redact import blanked

    words = str(error)[:_LONG_ERROR]  # it may quote what was sent
    if not isinstance(error, Refused):
        words = f"{type(error).__name__}: {words}"
    try:
        here = place()
    except Refused:  # the directory that we run in is gone
        here = _EVERYWHERE
    message = blanked(inline(" ".join(words.split())))
    _append({"kind": ERROR, "at": utc_text(), "place": _short(here), "where": where, "message": message})


def write_toggle(to: str, *, place: str, **values: Any) -> None:
    """Add that it was turned off or on: for a session, for a project, or everywhere, where neither is named."""
    if not values.get("session"):
        values["place"] = place or _EVERYWHERE
    write("toggle", to=to, **values)


def is_about(event: Mapping[str, Any], plan: str, session: str, place: str) -> bool:
    """Whether an event happened to a plan, in a session, or in the project that the plan is in."""
    if (plan and event.get("plan") == plan) or (session and event.get("session") == session):
        return True
    return event.get("place") in (_EVERYWHERE, _short(place))


def read() -> Iterator[dict[str, Any]]:
    """Every line that is kept, oldest first. One that cannot be read is passed over."""
    for log in filter(os.path.isfile, (f"{path()}.1", path())):
        try:
            with open(log, encoding="utf-8", errors="replace") as file:
                for line in file:
                    found = _parse(line)
                    if found is not None:
                        yield found
        except OSError:
            continue


def read_latest(plan: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    """The newest event of one of these kinds about a plan, as far as the end of the log tells; nothing if there is
    none. Cheap enough to be asked every second."""
    try:
        with os.fdopen(open_file(path()), "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    for line in reversed(lines):
        if plan not in line:
            continue
        found = _parse(line)
        if found and found["kind"] in kinds and found.get("plan") == plan:
            return found
    return {}


def _append(event: Mapping[str, Any]) -> None:
    try:
        append_line(path(), dumps(event), _FULL)
    except OSError:
        pass


def path() -> str:
    """Return where the log is."""
    return os.path.join(state_folder(os.environ), NAME)


def _parse(line: str) -> dict[str, Any] | None:
    try:
        found = loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict) and isinstance(found.get("kind"), str):
        return found
    return None


def _short(value: Any) -> Any:
    if isinstance(value, float) and value - value != 0:  # not a number, or without end: JSON has no word for it
        return str(value)
    if isinstance(value, str):
        return cut(inline(value), _LONG)
    return value
