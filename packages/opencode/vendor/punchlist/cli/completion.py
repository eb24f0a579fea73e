"""Completion in bash, zsh and fish.

The script of a shell is short: it asks `punchlist completion words` what can be typed next. The answer is made from the
table of commands, and of what only a store knows: the ids of items, plans and sessions.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.text import cut, inline
from . import output
from .desk import open_desk
from .help import described
from .parser import Args, place_of_command
from .table import COMMANDS, COMMON, Argument, Command, choices_of

Row = tuple[str, str]  # a word that can be typed, and what it means

_FILES = ":files"  # what a script is told where the name of a file comes next
_MOST = 50  # plans and sessions that are offered

_BASH = """\
# Completion for bash: eval "$(punchlist completion bash)"
_punchlist() {
    local word=${COMP_WORDS[COMP_CWORD]} found
    found=$("${COMP_WORDS[0]}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
    if [ "$found" = :files ]; then
        COMPREPLY=($(compgen -f -- "$word"))
    else
        COMPREPLY=($(compgen -W "$found" -- "$word"))
    fi
}
complete -F _punchlist punchlist
"""

_ZSH = """\
#compdef punchlist
# Completion for zsh: eval "$(punchlist completion zsh)" after compinit, or a file _punchlist in $fpath
_punchlist() {
    local row
    local -a found
    for row in "${(@f)$($words[1] completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ $row == :files ]]; then
            _files
            return
        fi
        [[ -n $row ]] && found+=("${${row%%$'\\t'*}//:/\\\\:}:${row#*$'\\t'}")
    done
    _describe -V value found
}
if [[ $funcstack[1] == _punchlist ]]; then
    _punchlist "$@"
else
    compdef _punchlist punchlist
fi
"""

_FISH = """\
# Completion for fish: punchlist completion fish | source
function __punchlist_words
    set -l words (commandline -opc) "$(commandline -ct)"
    set -l found ($words[1] completion words -- $words[2..] 2>/dev/null)
    if test "$found" = :files
        __fish_complete_path $words[-1]
    else if set -q found[1]
        printf '%s\\n' $found
    end
end
complete -c punchlist -f -k -a '(__punchlist_words)'
"""

_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion(args: Args) -> int:
    """Print the script for a shell, or what a script asks for."""
    if args.shell in _SCRIPTS:
        output.say(_SCRIPTS[args.shell])
        return 0
    *before, word = _joined(args.typed) or [""]
    for value, text in _words(args, before, word):
        output.say(f"{inline(value)}\t{cut(inline(text), 60)}".rstrip("\t"))
    return 0


def _joined(typed: Sequence[str]) -> list[str]:
    """Return the words of a line. Bash has parted them at each colon, as in `sqlite:plan.db`."""
    words: list[str] = []
    is_inside = False
    for word in typed:
        if words and (word == ":" or is_inside):
            words[-1] += word
        else:
            words.append(word)
        is_inside = word == ":"
    return words


def _words(args: Args, before: Sequence[str], word: str) -> list[Row]:
    """Return what can be typed in the place of a word."""
    place = place_of_command(before)
    command = None
    options: Sequence[Argument] = COMMON
    if place < len(before):
        command = COMMANDS.get(before[place])
        if command is None:
            return []
        options = (*command.options, *COMMON)
    valued = {option.name: option for option in options if option.value}
    if before and before[-1] in valued:
        return _values(args, before, valued[before[-1]])
    if word.startswith("-"):
        return [(option.name, described(option)) for option in options]
    if command is None:
        return [(command.name, command.help) for command in COMMANDS.values()]
    argument = _argument_at(command, before[place + 1 :], valued)
    if argument is None:
        return []
    return _values(args, before, argument)


def _argument_at(command: Command, typed: Sequence[str], valued: dict[str, Argument]) -> Argument | None:
    """Return the argument that the next word is for."""
    count = 0
    for index, word in enumerate(typed):
        is_value = index > 0 and typed[index - 1] in valued
        if not is_value and not word.startswith("-"):
            count += 1
    arguments = command.words
    if count < len(arguments):
        return arguments[count]
    if arguments and arguments[-1].many in ("*", "+"):
        return arguments[-1]
    return None


def _values(args: Args, before: Sequence[str], argument: Argument) -> list[Row]:
    """Return the values that an argument can have."""
    if argument.kind == "file":
        return [(_FILES, "")]
    if argument.kind == "command":
        return [("all", "every command"), *((command.name, command.help) for command in COMMANDS.values())]
    if argument.kind in ("item", "items", "plan", "session"):
        return _ask_store(args, before, argument.kind)
    return [(choice, "") for choice in choices_of(argument)]


def _ask_store(args: Args, before: Sequence[str], kind: str) -> list[Row]:
    """Return what the store that the line is about has: its items, plans or sessions."""
    for option in COMMON:
        if option.value and option.name in before[:-1]:
            setattr(args, option.key, before[before.index(option.name) + 1])
    with open_desk(args) as desk:
        if kind in ("item", "items"):
            return [(item.id, item.text) for item in desk.plan.items]
        plans = desk._seat.store.plans(_MOST)
    if kind == "session":
        return [(session, plan.title or plan.active) for plan in plans for session in plan.sessions]
    return [(plan.id, plan.title or plan.active) for plan in plans]
