"""From what was typed to the function that does it, and from what went wrong to an exit code."""

from __future__ import annotations

import sys
from importlib import import_module

from .. import __version__
from ..core.errors import PunchlistError, SettingsError, StoreError
from . import output
from .caller import require_user
from .parser import Args, Misuse, parse
from .table import COMMANDS


def run_command(argv: list[str]) -> int:
    """Do what was typed; return the exit code."""
    output.prepare()
    code = 0
    try:
        code = _run(argv)
        output.flush()
    except BrokenPipeError:
        output.leave()
    except OSError as error:
        output.leave()
        output.complain(_why(error))
        code = code or 3
    except KeyboardInterrupt:
        code = 130
    return code


def _why(error: OSError) -> str:
    words = error.strerror or str(error)
    if error.filename == output.STDOUT:
        return f"{output.STDOUT}: {words}. Only the output is missing: what was to be changed is saved."
    if error.filename:
        return f"{error.filename}: {words}."
    return f"{words}."


def _run(argv: list[str]) -> int:
    if argv == ["--version"]:
        output.say(f"punchlist {__version__}")
        return 0
    try:
        args = parse(argv)
    except Misuse as error:
        return _report_misuse(error)
    command = COMMANDS[args.command]
    if args.help:
        from .help import show_page

        return show_page(command)
    try:
        if command.is_for_users:
            require_user(command.name)
        module, _, function = command.does.partition(":")
        return int(getattr(import_module(f"{__package__}.{module}"), function)(args))
    except Misuse as error:
        return _report_misuse(error)
    except PunchlistError as error:
        return _report_error(args, error)


def _report_misuse(error: Misuse) -> int:
    sys.stderr.write(f"{output.harmless(str(error))}\n")
    return 2


def _report_error(args: Args, error: PunchlistError) -> int:
    code = 1
    if isinstance(error, SettingsError):
        code = 2
    elif isinstance(error, StoreError):
        code = error.exit_code
    if not args.json:
        output.complain(str(error))
        return code
    try:
        output.say_json({"error": str(error)})
        output.flush()
    except BrokenPipeError:
        output.leave()
    except OSError:  # nothing was changed, and it can only be said elsewhere
        output.leave()
        output.complain(str(error))
    return code
