"""The command line."""

from __future__ import annotations

import sys


def main() -> int:
    """The entry of the `punchlist` script. A hook is dispatched before anything else is imported."""
    if sys.argv[1:2] == ["hook"]:
        from ..hosts import run

        return run(sys.argv[2:])
    from .commands import run as run_command

    return run_command(sys.argv[1:])
