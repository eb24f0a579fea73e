"""A store that is held costs one wait, not one for each hook: whoever waited in vain leaves a mark, and for some
seconds the hooks after it do not wait."""

from __future__ import annotations

import os
from time import monotonic, time

from ..core._typing import Any
from ..local.settings import state_folder

_TOOL, _OTHER = (
    0.3,
    3.0,
)  # seconds that a hook waits for a store; an agent waits for us, and gives up after 10
_FELT = 0.2  # seconds after which it was a wait: a server tells that it is held before our own time is over
_AGAIN = 0.02  # while it is known to be held: as long as others' own writes take, so that those lose nothing
_OPEN = 10.0  # seconds for which nobody waits longer than that


class Breaker:
    """Says how long a hook may wait for a store, and notices if that was in vain."""

    def __init__(self, store: str, *, tool: bool) -> None:
        self._path = os.path.join(state_folder(os.environ), f"held-{_number(store):08x}")
        self.is_open = self._is_open()
        if self.is_open:
            self.patience = _AGAIN
        elif tool:
            self.patience = _TOOL
        else:
            self.patience = _OTHER
        self._begun = monotonic()

    def __enter__(self) -> Breaker:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        from ..core.errors import StoreError

        waited = monotonic() - self._begun
        if isinstance(error, StoreError) and not self.is_open and waited >= min(_FELT, self.patience):
            self._trip()

    def _is_open(self) -> bool:
        try:
            return 0 <= time() - os.stat(self._path).st_mtime < _OPEN
        except OSError:
            return False

    def _trip(self) -> None:
        from ..local.files import open_private

        try:
            os.close(open_private(self._path))
            os.utime(self._path)
        except OSError:
            pass  # then the next one waits, too


def _number(store: str) -> int:
    """A number for each store. To load a module for that would take a hook longer than this."""
    number = 0
    for byte in store.encode("utf-8", "surrogateescape"):
        number = (number * 31 + byte) % 2**32
    return number
