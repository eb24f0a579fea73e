"""The command line."""

from __future__ import annotations

import os
import sys

from ..core._typing import NoReturn

_SERVED = ("--store", "--plan", "--session", "--agent", "--dialect")  # the options that the MCP server knows


def main() -> int:
    """Run the `punchlist` script. What an agent waits for is dispatched before anything else is imported."""
    argv = sys.argv[1:]
    flags, words = _flags_of(argv)
    command = next((word for word in words if not word.startswith("-")), "")
    if command == "hook" and not {"-h", "--help"} & set(argv):
        from ..hosts import run

        return run(argv)
    is_plugin = words == ["mcp", "--plugin"]
    if (words == ["mcp"] or is_plugin) and all(flags.values()):
        from .. import hosts
        from ..mcp import run as serve

        return serve(flags, hosts, is_plugin=is_plugin)
    from .run_command import run_command

    return run_command(argv)


def start() -> NoReturn:
    """Run the script, and end the process at once: an agent waits for a hook, and all is written and closed by then."""
    os._exit(main())


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
