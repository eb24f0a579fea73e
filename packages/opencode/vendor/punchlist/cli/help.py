"""The pages of help, made from the table of commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..core.cells import wrapped
from . import output
from .parser import Args, no_command
from .table import COMMANDS, COMMON, GROUPS, Argument, Command, choices_of

_ABOUT = "Punchlist keeps the plan a coding agent works from: the same plan in any agent, yours to read and edit."
_WIDEST = 100  # columns of a page, however wide the terminal is
_NARROWEST = 20  # columns of a text beside a name; with less, it is put below
_EXAMPLES = (
    ("punchlist", "show the plan of this directory"),
    ("punchlist add 'Run the tests' 'Fix them'", "add two items"),
    ("punchlist start 1", "start the first one; `done 1` completes it"),
    ("punchlist drop fix --why 'they pass'", "an id, or a part of the text that fits one item only"),
    ("punchlist install claude-code --dry-run", "what would change; without --dry-run, it is attached"),
)
_EACH = "Each has a page with examples: punchlist help COMMAND"
_EXIT_CODES = (
    "Exit codes: 0 done, 1 refused, 2 misuse, 3 the store or another file failed, or the output could not be written."
)


def help(args: Args) -> int:
    """Print the first page, the list of all commands, or the page of one."""
    if args.about is None:
        output.say(first_page(_width()))
    elif args.about == "all":
        output.say(all_commands(_width()))
    elif args.about in COMMANDS:
        return show_page(COMMANDS[args.about])
    else:
        raise no_command(args.about)
    return 0


def show_page(command: Command) -> int:
    """Print the page of one command."""
    output.say(page(command, _width()))
    return 0


def first_page(width: int) -> str:
    """Return what to begin with: the commands that most people need."""
    basic = [command for command in COMMANDS.values() if command.is_basic]
    lines = [
        *wrapped(_ABOUT, width),
        "",
        "usage: punchlist [COMMAND] [options]",
        *_groups(basic, width),
        "",
        "more:",
        *_columns([("help all", "list every command"), ("help COMMAND", "explain one, with examples")], width),
        "",
        "examples:",
        *_columns(_EXAMPLES, width),
        "",
        "options, before or after the command:",
        *_columns(map(_row, COMMON), width),
        *_columns([("--version", "print the version"), ("-h, --help", "this page, or a command's own")], width),
        "",
        *wrapped(_EXIT_CODES, width),
    ]
    return "\n".join(lines)


def all_commands(width: int) -> str:
    """Return the list of all commands, in groups."""
    lines = [*_groups(list(COMMANDS.values()), width), "", *wrapped(_EACH, width)]
    return "\n".join(lines[1:])


def page(command: Command, width: int) -> str:
    """Return the page of one command."""
    about = f"{command.help[0].upper()}{command.help[1:]}."
    lines = [*_hanging("usage: ", usage(command), width), "", *wrapped(about, width)]
    if command.arguments:
        lines += ["", "arguments:", *_columns(map(_row, command.arguments), width)]
    lines += ["", "which plan, and how it is printed:", *_columns(map(_row, COMMON), width)]
    lines += ["", "example:" if len(command.examples) == 1 else "examples:"]
    lines += [f"  {line}" for line in command.examples]
    return "\n".join(lines)


def usage(command: Command) -> str:
    """Return how a command is typed, in one line."""
    words = [_typed(argument) for argument in command.words]
    needed = [option for option in command.options if option.is_required]
    words += [_typed(option) for option in needed if not option.rivals]
    rivals = [_typed(option) for option in needed if option.rivals]
    if rivals:
        words.append(" | ".join(rivals))
    return " ".join(["punchlist", command.name, *words, "[options]"])


def _typed(argument: Argument) -> str:
    if argument.is_option:
        return f"{argument.name} {argument.value}".rstrip()
    return {"": "{}", "+": "{}...", "?": "[{}]", "*": "[{}...]"}[argument.many].format(argument.value)


def _row(argument: Argument) -> tuple[str, str]:
    """An argument and what it means, with the values that it can have."""
    if argument.is_option:
        name = f"{argument.name} {argument.value}"
    else:
        name = argument.value
    return name.rstrip(), described(argument)


def described(argument: Argument) -> str:
    """Return what an argument means, with the values that it can have."""
    return f"{argument.help} {', '.join(choices_of(argument))}".strip()


def _groups(shown: Sequence[Command], width: int) -> Iterator[str]:
    wide = max(len(command.name) for command in shown)
    for title, commands in GROUPS.items():
        rows = [(command.name, command.help) for command in commands if command in shown]
        if rows:
            yield ""
            yield f"{title}:"
            yield from _columns(rows, width, wide)


def _columns(rows: Iterable[tuple[str, str]], width: int, wide: int = 0) -> Iterator[str]:
    """Yield two columns; the second is wrapped."""
    found: Sequence[tuple[str, str]] = list(rows)
    wide = wide or min(max(len(name) for name, _ in found), width // 2)
    for name, text in found:
        head = f"  {name.ljust(wide)}  "
        if wide + 4 + _NARROWEST > width:
            yield head.rstrip()
            head = " " * 6
        elif len(name) > wide:
            yield head.rstrip()
            head = " " * (wide + 4)
        yield from _hanging(head, text, width)


def _hanging(head: str, text: str, width: int) -> Iterator[str]:
    """Yield a text behind a head, its other lines below its first."""
    first, *more = wrapped(text, max(width - len(head), _NARROWEST))
    yield f"{head}{first}".rstrip()
    for line in more:
        yield f"{' ' * len(head)}{line}"


def _width() -> int:
    return min(output.width(), _WIDEST)
