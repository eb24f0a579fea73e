"""The command line."""

from __future__ import annotations

import sys

from ..core._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..desk import Desk

# Options that stand before a value, of any command.
VALUED = {
    *("--store", "--plan", "--session", "--agent", "--dialect", "--format", "--phase", "--after", "--before", "--why"),
    *("--seed", "--context", "--messages", "--host", "--scope", "--without", "--hooks", "--style", "--file", "--most"),
    *("--older-than", "--shell", "--model", "--base-url", "--resume", "--confirm-shell"),
}
_SERVED = ("--store", "--plan", "--session", "--agent", "--dialect")  # those that the MCP server knows


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

        return serve(flags, hooked, adopted)
    from .commands import run as run_command

    return run_command(argv)


def hooked(fields: object, client: str) -> str | None:
    """The answer to an event that the running server was told of by the client of this host."""
    from ..hosts import heard

    return heard(fields, client)


def adopted(desk: Desk) -> None:
    """Give the session of a client without hooks the plan that was prepared for it."""
    from ..hosts.first_plan import adopt

    adopt(desk, "", deaf=True)


def command_of(argv: list[str]) -> str:
    """The command that was typed: the first word that is neither an option nor an option's value."""
    place = _command_in(argv)
    return argv[place] if place < len(argv) else ""


def ordered(argv: list[str]) -> list[str]:
    """What was typed, with the command first: options may stand before it. Without a command, the plan is shown."""
    place = _command_in(argv)
    if place < len(argv):
        return [argv[place], *argv[:place], *argv[place + 1 :]]
    return argv if {"-h", "--help", "--version"} & set(argv) else ["show", *argv]


def _command_in(argv: list[str]) -> int:
    place = 0
    while place < len(argv) and argv[place].startswith("-"):
        place += 2 if argv[place] in VALUED else 1
    return place


def flags_of(argv: list[str], command: str) -> dict[str, str] | None:
    """The options with their values, if there is nothing else beside the command; else it is for argparse to judge."""
    flags: dict[str, str] = {}
    named: list[str] = []
    words = iter(argv)
    for word in words:
        option, equals, value = word.partition("=")
        if option in _SERVED:
            flags[option[2:]] = value if equals else next(words, "")
        else:
            named.append(word)
    return flags if named == [command] and all(flags.values()) else None
