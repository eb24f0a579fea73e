"""The command line."""

from __future__ import annotations

import sys

VALUED = ("--store", "--plan", "--session", "--agent")  # options that stand before a value


def main() -> int:
    """The entry of the `punchlist` script. A hook is dispatched before anything else is imported."""
    argv = sys.argv[1:]
    if command_of(argv) == "hook" and not {"-h", "--help"} & set(argv):
        from ..hosts import run

        return run(argv)
    from .commands import run as run_command

    return run_command(argv)


def command_of(argv: list[str]) -> str:
    """The command that was typed: the first word that is neither an option nor an option's value."""
    words = iter(argv)
    for word in words:
        if word in VALUED:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""
