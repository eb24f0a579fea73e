"""Completion in bash, zsh and fish: scripts made from the table of commands.

A script knows commands, options and choices by itself. It asks `punchlist completion items` for what only a store
knows: the ids of items, plans and sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..core.text import cut, inline
from . import output
from .desk import open_desk
from .help import described
from .parser import Args
from .table import COMMANDS, COMMON, Argument, Command, choices_of

_LISTS = {"item": "items", "items": "items", "plan": "plans", "session": "sessions"}
_MOST = 50  # plans and sessions that are offered


def completion(args: Args) -> int:
    """Print the script for a shell, or what a script asks for."""
    if args.shell in _SCRIPTS:
        output.say(_SCRIPTS[args.shell]())
    else:
        _print_list(args)
    return 0


def _print_list(args: Args) -> None:
    """Print a value on each line, and behind a tab what it stands for."""
    _take_options(args)
    with open_desk(args) as desk:
        if args.shell == "items":
            rows = [(item.id, item.text) for item in desk.plan.items]
        else:
            plans = desk.store.plans(_MOST)
            rows = [(plan.id, plan.title or plan.active) for plan in plans]
            if args.shell == "sessions":
                rows = [(session, plan.title or plan.active) for plan in plans for session in plan.sessions]
    for value, text in rows:
        output.say(f"{inline(value)}\t{cut(inline(text), 60)}")


def _take_options(args: Args) -> None:
    """Take from the line that is being typed which plan it is about."""
    typed = args.typed
    for option in COMMON:
        for place, word in enumerate(typed[:-1]):
            if word == option.name and option.value:
                setattr(args, option.key, typed[place + 1])


# --- what the scripts share ------------------------------------------------------------------------------------------


def _options(command: Command) -> tuple[Argument, ...]:
    return (*command.options, *COMMON)


def _valued() -> list[str]:
    """Return the options that take a value, of all commands."""
    options = [option for command in COMMANDS.values() for option in _options(command)]
    return list(dict.fromkeys(option.name for option in options if option.value))


def _quoted(text: str) -> str:
    """Return a text as one word in bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


# --- bash ------------------------------------------------------------------------------------------------------------

_BASH = """\
# Completion for bash: eval "$(punchlist completion bash)"
_punchlist() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= list= files= index
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
            %(valued)s) ((index++)) ;;
            -*) ;;
            *) command=${COMP_WORDS[index]}; break ;;
        esac
    done
    case $command:$before in
%(values)s
        *) case $command:$word in
%(words)s
        esac ;;
    esac
    if [ -n "$list" ]; then
        words=$("${COMP_WORDS[0]}" completion "$list" -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null | cut -f1)
    fi
    if [ -n "$files" ]; then
        COMPREPLY=($(compgen -f -- "$word"))
    else
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    fi
}
complete -F _punchlist punchlist
"""


def _bash() -> str:
    values = [_bash_case(f"{command.name}:{one.name}", one) for command in COMMANDS.values() for one in command.options]
    values += [_bash_case(f"*:{option.name}", option) for option in COMMON]
    words = []
    for command in COMMANDS.values():
        names = " ".join(option.name for option in _options(command))
        words.append(f"            {command.name}:-*) words={_quoted(names)} ;;")
        words += [_bash_case(f"{command.name}:*", one, "    ") for one in command.words[:1]]
    words.append(f"            :-*) words={_quoted(' '.join(option.name for option in COMMON))} ;;")
    words.append(f"            :*) words={_quoted(' '.join(COMMANDS))} ;;")
    parts = {"valued": "|".join(_valued()), "values": "\n".join(filter(None, values))}
    return _BASH % {**parts, "words": "\n".join(filter(None, words))}


def _bash_case(pattern: str, argument: Argument, indent: str = "") -> str:
    """Return the case for the value of an argument; nothing for a switch."""
    if argument.is_switch:
        return ""
    does = _assigned(argument, list_of="list={}", files="files=yes", words="words={}")
    return f"{indent}        {pattern}) {does} ;;"


def _assigned(argument: Argument, *, list_of: str, files: str, words: str) -> str:
    """Return what a script does to complete the value of an argument."""
    if argument.kind in _LISTS:
        return list_of.format(_LISTS[argument.kind])
    if argument.kind == "file":
        return files
    if argument.kind == "command":
        return words.format(_quoted(" ".join(["all", *COMMANDS])))
    return words.format(_quoted(" ".join(choices_of(argument))))


# --- zsh -------------------------------------------------------------------------------------------------------------

_ZSH = """\
#compdef punchlist
# Completion for zsh: eval "$(punchlist completion zsh)" after compinit, or a file _punchlist in $fpath
_punchlist() {
    local word=$words[CURRENT] before=$words[CURRENT-1] command= list= files= index row
    local -a found
    for ((index = 2; index < CURRENT; index++)); do
        case $words[index] in
            %(valued)s) ((index++)) ;;
            -*) ;;
            *) command=$words[index]; break ;;
        esac
    done
    case $command:$before in
%(values)s
        *) case $command:$word in
%(words)s
        esac ;;
    esac
    if [[ -n $list ]]; then
        for row in "${(@f)$($words[1] completion $list -- ${words[2,CURRENT-1]} 2>/dev/null)}"; do
            found+=("${${row%%%%$'\\t'*}//:/\\\\:}:${row#*$'\\t'}")
        done
    fi
    if [[ -n $files ]]; then
        _files
    else
        _describe -V value found
    fi
}
if [[ $funcstack[1] == _punchlist ]]; then
    _punchlist "$@"
else
    compdef _punchlist punchlist
fi
"""


def _zsh() -> str:
    values = [_zsh_case(f"{command.name}:{one.name}", one) for command in COMMANDS.values() for one in command.options]
    values += [_zsh_case(f"*:{option.name}", option) for option in COMMON]
    words = []
    for command in COMMANDS.values():
        names = " ".join(_zsh_row(option.name, described(option)) for option in _options(command))
        words.append(f"            {command.name}:-*) found=({names}) ;;")
        words += [_zsh_case(f"{command.name}:*", one, "    ") for one in command.words[:1]]
    common = " ".join(_zsh_row(option.name, described(option)) for option in COMMON)
    every = " ".join(_zsh_row(command.name, command.help) for command in COMMANDS.values())
    words += [f"            :-*) found=({common}) ;;", f"            :*) found=({every}) ;;"]
    parts = {"valued": "|".join(_valued()), "values": "\n".join(filter(None, values))}
    return _ZSH % {**parts, "words": "\n".join(filter(None, words))}


def _zsh_case(pattern: str, argument: Argument, indent: str = "") -> str:
    if argument.is_switch:
        return ""
    does = _assigned(argument, list_of="list={}", files="files=yes", words="found=(${{=:-{}}})")
    return f"{indent}        {pattern}) {does} ;;"


def _zsh_row(name: str, about: str) -> str:
    return _quoted(f"{name.replace(':', chr(92) + ':')}:{about}")


# --- fish ------------------------------------------------------------------------------------------------------------

_FISH = """\
# Completion for fish: punchlist completion fish | source
function __punchlist_command
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case %(valued)s
                set -e words[1]
            case '-*'
            case '*'
                echo $words[1]
                return
        end
        set -e words[1]
    end
end
function __punchlist_is
    test "$(__punchlist_command)" = "$argv"
end
function __punchlist_list
    set -l words (commandline -opc)
    $words[1] completion $argv -- $words[2..] 2>/dev/null
end
complete -c punchlist -f
"""


def _fish() -> str:
    return _FISH % {"valued": " ".join(_valued())} + "\n".join(_fish_lines())


def _fish_lines() -> Iterator[str]:
    for option in COMMON:
        yield f"complete -c punchlist {_fish_option(option)}"
    for command in COMMANDS.values():
        yield f"complete -c punchlist -n '__punchlist_is \"\"' -a {command.name} -d {_fish_quoted(command.help)}"
        for option in command.options:
            yield f"complete -c punchlist -n '__punchlist_is {command.name}' {_fish_option(option)}"
        for argument in command.words[:1]:
            yield f"complete -c punchlist -n '__punchlist_is {command.name}' {_fish_value(argument)}".rstrip()


def _fish_option(option: Argument) -> str:
    name = f"-l {option.name.removeprefix('--')} -d {_fish_quoted(described(option))}"
    if option.is_switch:
        return name
    return f"{name} -r {_fish_value(option)}".rstrip()


def _fish_value(argument: Argument) -> str:
    return _assigned(argument, list_of="-k -a '(__punchlist_list {})'", files="-F", words="-a {}")


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS: dict[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
