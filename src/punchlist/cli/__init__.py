"""The command line."""

from __future__ import annotations

import sys

from ..core._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..desk import Desk

_SERVED = ("--store", "--plan", "--session", "--agent", "--dialect")  # the options that the MCP server knows


def main() -> int:
    """Run the `punchlist` script. What an agent waits for is dispatched before anything else is imported."""
    argv = sys.argv[1:]
    flags, words = _flags_of(argv)
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(argv):
        from ..hosts import run

        return run(argv)
    if words == ["mcp"] and all(flags.values()):
        from ..mcp import run as serve

        return serve(flags, hooked, adopted)
    from .dispatch import run as run_command

    return run_command(argv)


def hooked(fields: object, client: str) -> str | None:
    """The answer to an event that the running server was told of by the client of this host."""
    from ..hosts import heard

    return heard(fields, client)


def adopted(desk: Desk) -> None:
    """Give the session of a client without hooks the plan that was prepared for it."""
    from ..hosts.first_plan import adopt

    adopt(desk, "", deaf=True)


def _flags_of(argv: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the options that the MCP server knows, and the words beside them."""
    flags: dict[str, str] = {}
    others: list[str] = []
    words = iter(argv)
    for word in words:
        option, equals, value = word.partition("=")
        if option in _SERVED:
            flags[option[2:]] = value if equals else next(words, "")
        else:
            others.append(word)
    return flags, others
