"""A listener that writes down every pause it is told of: for tests of whatever nudges an agent."""

from __future__ import annotations

from .core.model import Pause


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
