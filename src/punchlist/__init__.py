"""The plan a coding agent works from: kept, shown, and the same in any agent."""

from __future__ import annotations

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:  # and `typing` is not loaded for it
    from typing import Any

    from . import aio
    from .core import codec, ops, render
    from .core.diff import Change
    from .core.errors import BadShape, NoSuchItem, PunchlistError, Refused, SettingsError, StaleRevision, StoreError
    from .core.model import Item, Pause, Plan, Reader
    from .core.rules import Rules
    from .desk import Desk, open
    from .desk.commit import Changed
    from .desk.nudges import Nudge, Stop
    from .dialects import Reply
    from .stores.memory import MemoryStore
    from .testing import PauseRecorder

# Names are looked up when they are used: importing the package costs nothing, and a hook is a new process every time.
_HOMES = {
    "aio": "aio",
    "codec": "core.codec",
    "ops": "core.ops",
    "render": "core.render",
    "Change": "core.diff",
    "BadShape": "core.errors",
    "NoSuchItem": "core.errors",
    "PunchlistError": "core.errors",
    "Refused": "core.errors",
    "SettingsError": "core.errors",
    "StaleRevision": "core.errors",
    "StoreError": "core.errors",
    "Item": "core.model",
    "Pause": "core.model",
    "Plan": "core.model",
    "Reader": "core.model",
    "Rules": "core.rules",
    "Changed": "desk.commit",
    "Nudge": "desk.nudges",
    "Stop": "desk.nudges",
    "Desk": "desk",
    "open": "desk",
    "PauseRecorder": "testing",
    "Reply": "dialects",
    "MemoryStore": "stores.memory",
}
__all__ = [
    "BadShape",
    "Change",
    "Changed",
    "Desk",
    "Item",
    "MemoryStore",
    "NoSuchItem",
    "Nudge",
    "Pause",
    "PauseRecorder",
    "Plan",
    "PunchlistError",
    "Reader",
    "Refused",
    "Reply",
    "Rules",
    "SettingsError",
    "StaleRevision",
    "Stop",
    "StoreError",
    "aio",
    "codec",
    "open",
    "ops",
    "render",
]


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'punchlist' has no attribute {name!r}")
    module = __import__(f"punchlist.{home}", fromlist=[name])
    if name in ("aio", "codec", "ops", "render"):
        return module
    return getattr(module, name)
