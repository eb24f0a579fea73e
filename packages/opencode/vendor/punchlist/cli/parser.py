"""What was typed, read by the table of commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..core._typing import TYPE_CHECKING, Any, NoReturn
from ..core.text import cut, inline, nearest, suggest
from .table import COMMANDS, COMMON, Argument, Command, choices_of


class Args:
    """What was typed: the command, and a value for each of its arguments, None for an option that was not given."""

    command: str
    help: bool
    store: str | None
    plan: str | None
    session: str | None
    agent: str | None
    json: bool

    def __init__(self, command: str, **values: Any) -> None:
        self.command = command
        self.__dict__.update(values)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Misuse(Exception):
    """What was typed cannot be read. One line says why, and what would be right."""


def misuse(command: str, message: str) -> NoReturn:
    """Refuse what can be read, but not meant."""
    raise Misuse(f"punchlist {command}: {inline(message)}; see punchlist {command} --help")


def no_command(name: str) -> Misuse:
    """Return what to say to a command that does not exist."""
    return Misuse(f"punchlist: no command {_shown(name)}; {suggest(name, COMMANDS, 'see punchlist help all')}")


def parse(argv: Sequence[str]) -> Args:
    """Read what was typed. Options may come before or after the command; without a command the plan is shown."""
    place = place_of_command(argv)
    if place == len(argv):
        name = "show"
        if "--help" in argv or "-h" in argv:
            name = "help"
        return _read(COMMANDS[name], [word for word in argv if word not in ("-h", "--help")])
    if argv[place] not in COMMANDS:
        raise no_command(argv[place])
    return _read(COMMANDS[argv[place]], [*argv[:place], *argv[place + 1 :]])


def place_of_command(argv: Sequence[str]) -> int:
    """Return the place of the first word that is neither an option nor the value of one."""
    place = 0
    while place < len(argv) and argv[place].startswith("-"):
        takes_value = any(argv[place] == option.name for option in _valued())
        place += 2 if takes_value else 1
    return min(place, len(argv))


def _valued() -> Iterator[Argument]:
    """Yield the options of all commands that take a value."""
    for option in COMMON:
        if option.value:
            yield option
    for command in COMMANDS.values():
        for option in command.arguments:
            if option.is_option and option.value:
                yield option


def _read(command: Command, words: Sequence[str]) -> Args:
    """Read the words that belong to a command."""
    options = {option.name: option for option in (*COMMON, *command.options)}
    values = {option.key: _default(option) for option in options.values()}
    given: set[str] = set()
    loose: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            loose += rest
            break
        if word in ("-h", "--help"):
            return Args(command.name, help=True, json=False)
        if not _looks_like_option(word):
            loose.append(word)
            continue
        option = _option_of(word, options, command)
        value = _value_of(word, option, rest, command)
        values[option.key] = [*values[option.key], value] if option.many else value
        given.add(option.name)
    _check_options(command, given)
    return Args(command.name, help=False, **values, **_shared_out(command, loose))


def _looks_like_option(word: str) -> bool:
    """Whether a word is meant as an option: a text with spaces and a negative number are not."""
    return len(word) > 1 and word.startswith("-") and not word[1:].isdecimal() and not any(map(str.isspace, word))


def _default(argument: Argument) -> Any:
    if argument.is_switch:
        return False
    if argument.many in ("*", "+"):
        return []
    return argument.default


def _option_of(word: str, options: Mapping[str, Argument], command: Command) -> Argument:
    name = word.partition("=")[0]
    if name not in options:
        advice = suggest(name, options, f"see punchlist {command.name} --help")
        raise Misuse(f"punchlist {command.name}: no option {_shown(name)}; {advice}")
    return options[name]


def _value_of(word: str, option: Argument, rest: list[str], command: Command) -> Any:
    """Return the value of an option: what follows its `=`, or else the next word, which is taken."""
    _, equals, value = word.partition("=")
    if option.is_switch:
        if equals:
            misuse(command.name, f"{option.name} takes no value")
        return True
    if not equals:
        if not rest or _looks_like_option(rest[0]):
            misuse(command.name, f"{option.name} needs a value: {option.name} {option.value}")
        value = rest.pop(0)
    return _converted(command, option, value)


def _shared_out(command: Command, loose: Sequence[str]) -> dict[str, Any]:
    """Return the words without an option, by the arguments that they are for."""
    rest = list(loose)
    values: dict[str, Any] = {}
    for argument in command.words:
        if not rest and argument.many in ("", "+"):
            misuse(command.name, f"{argument.value} is missing")
        taken = rest if argument.many in ("+", "*") else rest[:1]
        rest = rest[len(taken) :]
        read = [_converted(command, argument, word) for word in taken]
        if argument.many in ("+", "*"):
            values[argument.key] = read
        else:
            values[argument.key] = read[0] if read else argument.default
    if rest:
        misuse(command.name, f"{_shown(rest[0])} is one word too many")
    return values


def _converted(command: Command, argument: Argument, word: str) -> Any:
    name = argument.name if argument.is_option else argument.value
    if argument.choices:
        _check_choice(command, name, word, choices_of(argument))
    if argument.kind not in ("number", "lines"):
        return word
    try:
        number = int(word)
    except ValueError:
        misuse(command.name, f"{name} is a number, not {_shown(word)}")
    if argument.kind == "lines" and not 0 < number < 1_000_000_000:
        misuse(command.name, f"{name} is a number of lines, not {_shown(word)}")
    return number


def _check_choice(command: Command, name: str, word: str, choices: Sequence[str]) -> None:
    if word in choices:
        return
    meant = nearest(word, choices)
    if meant:
        raise Misuse(f"punchlist {command.name}: no {name} {_shown(word)}; did you mean {meant!r}?")
    misuse(command.name, f"{name} is one of {', '.join(choices)}, not {_shown(word)}")


def _check_options(command: Command, given: set[str]) -> None:
    """Refuse what lacks an option, or has two of which only one can be."""
    for option in command.options:
        if not option.rivals:
            if option.is_required and option.name not in given:
                misuse(command.name, f"{option.name} {option.value} is missing")
            continue
        rivals = [one.name for one in command.options if one.rivals == option.rivals]
        found = [name for name in rivals if name in given]
        if len(found) > 1:
            misuse(command.name, f"{found[0]} and {found[1]} cannot be combined")
        if option.is_required and not found:
            misuse(command.name, f"one of {', '.join(rivals)} is needed")


def _shown(word: str) -> str:
    return repr(cut(inline(word), 40))
