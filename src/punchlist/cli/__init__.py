"""The command line."""

from __future__ import annotations

import sys

VALUED = ("--store", "--plan", "--session", "--agent")  # options that stand before a value


def main() -> int:
    """The entry of the `punchlist` script. What an agent waits for is dispatched before anything else is imported."""
    argv = sys.argv[1:]
    command = command_of(argv)
    if command == "hook" and not {"-h", "--help"} & set(argv):
        from ..hosts import run

        return run(argv)
    flags = flags_of(argv, "mcp") if command == "mcp" else None
    if flags is not None:
        from ..mcp import run as serve

        return serve(flags, hooked)
    from .commands import run as run_command

    return run_command(argv)


def hooked(fields: object) -> str:
    """The answer to an event that the running server was told of."""
    from ..hosts import heard

    return heard(fields)


def command_of(argv: list[str]) -> str:
    """The command that was typed: the first word that is neither an option nor an option's value."""
    words = iter(argv)
    for word in words:
        if word in VALUED:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def flags_of(argv: list[str], command: str) -> dict[str, str] | None:
    """The options with their values, if there is nothing else beside the command; else it is for argparse to judge."""
    flags: dict[str, str] = {}
    named: list[str] = []
    words = iter(argv)
    for word in words:
        option, equals, value = word.partition("=")
        if option in (*VALUED, "--dialect"):
            flags[option[2:]] = value if equals else next(words, "")
        else:
            named.append(word)
    return flags if named == [command] and all(flags.values()) else None
