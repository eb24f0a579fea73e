"""For tests of a program that has a plan in it: a model that plays a script, a store in memory, a listener for pauses,
and in `conformance` a kit that checks an agent loop."""

from __future__ import annotations

from ..core.model import Pause
from ..stores.memory import MemoryStore
from .scripted_model import ScriptedModel

__all__ = ["MemoryStore", "PauseRecorder", "ScriptedModel"]


class PauseRecorder:
    """A listener for `desk.on_pause` that keeps the pauses it was told about, for tests."""

    def __init__(self) -> None:
        self._pauses: list[Pause] = []

    def __call__(self, pause: Pause) -> None:
        self._pauses.append(pause)

    @property
    def pauses(self) -> tuple[Pause, ...]:
        """Every pause so far, the oldest first."""
        return tuple(self._pauses)

    def clear(self) -> None:
        """Forget the pauses so far."""
        self._pauses.clear()
