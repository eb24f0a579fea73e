"""Off and on: for everything, for a project, for a session. A switch is a small file, so that it works even where the
store does not."""

from __future__ import annotations

import os

from ..core.text import inline
from .files import open_private, read_file, write_file
from .settings import state_folder

_EVERYWHERE = "everywhere"
_HELD = "it is held back"  # where no reason can be read
_LARGEST = 10_000  # bytes of a reason


def is_off(place: str, session: str = "") -> bool:
    """Whether agents are left alone here."""
    return bool(off_scopes(place, session))


def off_scopes(place: str, session: str = "") -> list[str]:
    """What is turned off of all that would silence this project and session: everywhere, place, session."""
    folder = os.path.join(state_folder(os.environ), "off")
    if not os.path.isdir(folder):
        return []
    return [kind for kind, name in _names(place, session) if os.path.exists(os.path.join(folder, name))]


def set_off(off: bool, *, place: str = "", session: str = "") -> bool:
    """Turn it off or on for a project or a session; for everything, if neither is named. Whether that changed
    anything."""
    folder = os.path.join(state_folder(os.environ), "off")
    _, name = _names(place, session)[-1]
    path = os.path.join(folder, name)
    if off == os.path.exists(path):
        return False
    if not off:
        os.unlink(path)
        return True
    handle = open_private(path)
    try:
        os.write(handle, (ascii(session or place or _EVERYWHERE) + "\n").encode())
    except OSError:  # on a full disk the file is there, and that it is there is what counts
        pass
    finally:
        os.close(handle)
    return True


def hold(key: str, reason: str) -> bool:
    """Keep an agent from being nudged. Return whether that could be written down: if not, nothing fails."""
    try:
        write_file(_held_path(key), inline(reason).encode("utf-8", "replace"))
    except OSError:
        return False
    return True


def hold_reason(key: str) -> str:
    """Why an agent is not to be nudged; empty if it may be."""
    if not _holds_any():
        return ""
    try:
        return read_file(_held_path(key), _LARGEST).decode("utf-8", "replace") or _HELD
    except FileNotFoundError:
        return ""
    except OSError:  # that there is something is what counts
        return _HELD


def release(key: str) -> bool:
    """Let an agent be nudged again. Return whether it was held back."""
    if not _holds_any():
        return False
    try:
        os.unlink(_held_path(key))
    except OSError:
        return False
    return True


def _holds_any() -> bool:
    """Whether any agent is held back. Few ever are, and the digest that a file is named by takes long to load."""
    try:
        return bool(os.listdir(_held_folder()))
    except OSError:
        return False


def _held_path(key: str) -> str:
    return os.path.join(_held_folder(), _name("reader", key))


def _held_folder() -> str:
    return os.path.join(state_folder(os.environ), "held")


def _names(place: str, session: str) -> list[tuple[str, str]]:
    named = [(kind, value) for kind, value in (("place", place), ("session", session)) if value]
    return [(_EVERYWHERE, _EVERYWHERE), *((kind, _name(kind, value)) for kind, value in named)]


def _name(kind: str, value: str) -> str:
    from hashlib import sha256

    return f"{kind}-{sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
