"""Which frameworks there are here."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from tests.frameworks.fetch import FRAMEWORKS


@cache
def missing() -> tuple[str, ...]:
    """The adapters whose framework is not installed."""
    return tuple([name for name, (_, modules) in FRAMEWORKS.items() if not all(map(_is_there, modules))])


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # of a package above it
        return False
