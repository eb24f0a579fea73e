"""Whether a shell command could change something outside of a folder, judged from its words before it runs.

What is known to only read may run, and what changes files may if every file that it names is inside. Tests, builds and
scripts of the project may run, too: what they do in turn is not looked at. Anything else has to be asked about, and so
has what is not understood: a question too many is better than one too few.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from itertools import takewhile

from ...core.commands.shell_words import NotUnderstood, Simple, Word, parse
from ...core.text import cut, inline
from .shell_places import Asks, Place, change_directory, is_inside, must_be_inside, must_stay
from .shell_programs import (
    INTERPRETERS,
    PROGRAMS,
    PROJECT,
    WRITE,
    check_interpreter,
    check_project_tool,
    check_writer,
    names,
)

_DEEP = 4  # commands inside of commands
_SCRIPT = 100_000  # characters of a script that are looked through
_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_FORBIDDEN = re.compile(r"(PATH|CDPATH|IFS|ENV|BASH_ENV|SHELLOPTS|GIT_\w+|LD_\w+|DYLD_\w+|PUNCHLIST_\w+)=")
_OPENING = ("if", "then", "elif", "else", "while", "until", "do", "!", "{", "time")
_CLOSING = ("fi", "done", "}")
_READ = names(
    ": [ [[ test true false echo printf pwd ls cat head tail grep egrep fgrep rg ag wc date whoami id uname which type"
    " basename dirname realpath readlink stat file du df diff cmp comm cut paste tr nl od hexdump strings md5sum"
    " sha1sum sha256sum sha512sum shasum cksum column fold fmt expand unexpand seq jq ps pgrep uptime"
    " free nproc getconf locale tty printenv export unset shift return exit break continue wait set umask ulimit"
    " read local jobs cal tac rev join sleep host dig nslookup ping factor numfmt bc mktemp"
)
_SHELLS = ("sh", "bash", "dash", "ksh", "zsh", "ash")
_WRAPPERS = ("command", "builtin", "exec", "nohup", "nice", "timeout", "stdbuf", "env", "setsid", "ionice", "busybox")
_WRAPPING = re.compile(r"-[insukvw]|-[0-9]+|-[oei](L|[0-9]+)|--foreground|--preserve-status|--")


def outside(command: str, folder: str) -> str:
    """Why a command has to be asked about, as part of a sentence; empty if it stays inside of the folder."""
    folder = os.path.realpath(folder)
    try:
        _judge(command, Place(folder, frozenset([folder])))
    except (Asks, NotUnderstood) as found:
        return cut(inline(str(found)), 200)
    return ""


def _judge(command: str, place: Place) -> Place:
    if place.depth > _DEEP:
        raise Asks("it runs commands inside of commands")
    parsed = parse(command)
    deeper = place._replace(depth=place.depth + 1)
    for inner in parsed.inner:
        _judge(inner, deeper)
    names = [one.words[0].text for one in parsed.commands if one.words]
    if "cd" in command and {"for", "while", "until"} & set(names):
        place = place._replace(dirs=None)  # a loop may change the directory again and again
    if any(one.targets for one in parsed.commands) or WRITE & set(names):
        place = place._replace(writes=True)
    for one in parsed.commands:
        place = _judge_simple(one, place)
    return place


def _judge_simple(command: Simple, place: Place) -> Place:
    for target in command.targets:
        if target.text not in _DEVICES:
            must_be_inside(target, place, "it writes to")
    words = _without_keywords(command.words)
    for word in words:
        if "/proc/" in word.text and "environ" in word.text:
            raise Asks("it reads the environment of another process")
    while words and _ASSIGNED.match(words[0].text):
        _may_be_assigned(words[0])
        words = words[1:]
    if words:
        return _judge_words(words, place)
    return place


def _without_keywords(words: Sequence[Word]) -> Sequence[Word]:
    while words and words[0].is_bare and words[0].text in _OPENING:
        words = words[1:]
    if not words or not words[0].is_bare:
        return words
    if words[0].text in ("case", "function", "select", "coproc"):
        raise NotUnderstood(f"it holds a {words[0].text}")
    if words[0].text in _CLOSING:
        if len(words) > 1:
            raise NotUnderstood("it is not plain where a compound command ends")
        return ()
    if words[0].text == "for":
        return ()
    return words


def _may_be_assigned(word: Word) -> None:
    if _FORBIDDEN.match(word.text):
        raise Asks(f"it sets {word.text.partition('=')[0]}")


def _may_be_unset(word: Word) -> None:
    """Without its variables a command would not be known as this agent's."""
    if not word.is_plain or _FORBIDDEN.match(f"{word.text}="):
        raise Asks(f"it unsets {word.text}")


def _judge_words(words: Sequence[Word], place: Place) -> Place:
    first, args = words[0], words[1:]
    if not first.is_plain or (first.is_pattern and first.text not in _READ):
        raise Asks("which program it runs depends on a variable or a pattern")
    name = _program(first, place)
    if name == "cd":
        return change_directory(args, place)
    if not name:
        _run_own_program(first, place)
    elif name in ("export", "set", "read", "local", "unset"):
        for word in args:
            _may_be_assigned(word)
            if name == "unset":
                _may_be_unset(word)
    elif name in _CHECKS:
        _CHECKS[name](args, place)
    elif name in _SHELLS:
        _shell(args, place)
    elif INTERPRETERS.fullmatch(name):
        check_interpreter(name, args, place)
    elif name in _WRAPPERS:
        return _judge_wrapped(name, args, place)
    elif name in WRITE:
        check_writer(name, args, place)
    elif name in PROJECT:
        check_project_tool(name, args, place)
    elif name == "rg" and any(word.text.startswith(("--pre", "--hostname")) for word in args):
        raise Asks("`rg` would run a program")
    elif name not in _READ:
        raise Asks(f"`{name}` is not known to stay inside of the folder")
    return place


def _program(first: Word, place: Place) -> str:
    """The name of a program of the system; empty for one of the project's own."""
    if "/" not in first.text:
        return first.text
    path = os.path.expanduser(first.text) if first.is_bare else first.text
    folder, name = os.path.split(path)
    known = [*os.environ.get("PATH", os.defpath).split(os.pathsep), "/bin", "/usr/bin", "/usr/local/bin"]
    known.append(os.path.dirname(sys.executable))
    if os.path.isabs(path) and folder in known:
        return name
    if name.startswith(("python", "pypy")) and os.path.basename(folder) == "bin" and is_inside(path, place.folder):
        return name  # of a virtual environment
    return ""


def _run_own_program(first: Word, place: Place) -> None:
    """A program that is named by its path: one of the project's own. A shell script is looked through."""
    must_stay(place)
    must_be_inside(first, place, "it runs")
    _look_through(first, place)


def _look_through(file: Word, place: Place, *, is_script: bool = False) -> None:
    for folder in place.dirs or ():
        path = os.path.join(folder, file.text)
        if not os.path.isfile(path):
            raise Asks(f"{file.text} is not there to be looked through")
        try:
            with open(path, encoding="utf-8", errors="replace") as source:
                text = source.read(_SCRIPT + 1)
        except OSError:
            raise Asks(f"{file.text} cannot be read") from None
        is_shell = is_script or re.match(r"#!\s*(/usr)?/bin/(env\s+)?(ba|da|k|z)?sh\b", text) or path.endswith(".sh")
        if is_shell and (place.writes or len(text) > _SCRIPT):
            raise Asks(f"{file.text} cannot be looked through before it is run")
        if is_shell:
            _judge(text, place._replace(depth=place.depth + 1))


def _shell(args: Sequence[Word], place: Place) -> None:
    rest = list(args)
    runs_text = False
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option == "--version":
            return
        if not re.fullmatch(r"-[celnouvx]+", option):
            raise Asks(f"a shell with {option} runs whatever it is given")
        runs_text = runs_text or "c" in option
        if "o" in option and rest:
            rest.pop(0)
    if not runs_text:
        _source(rest, place)
        return
    if not rest or not rest[0].is_plain:
        raise Asks("what a shell runs depends on a variable")
    _judge(rest[0].text, place._replace(depth=place.depth + 1))


def _source(args: Sequence[Word], place: Place) -> None:
    """A script of the project: it is looked through."""
    if not args:
        raise Asks("a shell runs whatever it is given")
    must_stay(place)
    must_be_inside(args[0], place, "it runs")
    _look_through(args[0], place, is_script=True)


def _judge_wrapped(name: str, args: Sequence[Word], place: Place) -> Place:
    """A program that runs another one."""
    if name == "command" and args and args[0].text in ("-v", "-V"):
        return place
    rest = list(args)
    while rest and _is_before_program(name, rest[0].text):
        word = rest.pop(0)
        _may_be_assigned(word)
        if name == "env":
            _check_env_option(word, rest)
        if word.text.startswith("-") and not _WRAPPING.fullmatch(word.text):
            raise Asks(f"`{name} {word.text}` is not understood")
        if word.text in ("-n", "-s", "-k", "-u"):
            del rest[:1]
    if name == "timeout":
        del rest[:1]
    if rest:
        return _judge_words(rest, place)
    return place


def _is_before_program(name: str, text: str) -> bool:
    """Whether a word belongs to the program that runs another one: an option, or a variable that `env` sets."""
    if text.startswith("-"):
        return True
    return name == "env" and bool(_ASSIGNED.match(text))


def _check_env_option(word: Word, rest: Sequence[Word]) -> None:
    if word.text in ("-", "-i", "--ignore-environment"):
        raise Asks("it drops the environment")
    if not word.text.startswith(("-u", "--unset")):
        return
    variable = word.text.removeprefix("--unset=").removeprefix("-u")
    if not variable and rest:
        variable = rest[0].text
    _may_be_unset(word._replace(text=variable))


def _find(args: Sequence[Word], place: Place) -> None:
    roots = list(takewhile(_is_root, args))
    for number, word in enumerate(args):
        if word.text == "-L" or word.text.startswith(("-fprint", "-fls")):
            raise Asks(f"`find {word.text}` may write elsewhere")
        if word.text == "-delete":
            check_writer("rm", [_below(root) for root in roots] or [Word("x")], place)
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            run = list(takewhile(lambda one: one.text not in (";", "+"), args[number + 1 :]))
            _must_not_run_text(run)
            for root in roots or [Word(".")]:
                _judge_words([_below(root) if one.text == "{}" else one for one in run], place)


def _is_root(word: Word) -> bool:
    """Whether a word of `find` is still before its expression."""
    return word.text in ("-H", "-L", "-P") or not word.text.startswith(("-", "(", "!"))


def _below(root: Word) -> Word:
    """Something below a directory."""
    return root._replace(text=os.path.join(root.text, "x"))


def _xargs(args: Sequence[Word], place: Place) -> None:
    rest = list(args)
    while rest and rest[0].text.startswith("-"):
        word = rest.pop(0)
        if word.text in ("-n", "-P", "-I", "-L", "-d", "-s", "-E") and rest:
            rest.pop(0)
    _must_not_run_text(rest)
    if rest:
        _judge_words([*rest, Word("$it", is_plain=False)], place)


def _must_not_run_text(words: Sequence[Word]) -> None:
    """Raise Asks for a program that runs its arguments, where names of files become arguments."""
    if not words:
        return
    name = os.path.basename(words[0].text)
    if name in _SHELLS or name in _WRAPPERS or INTERPRETERS.fullmatch(name):
        raise Asks(f"`{name}` would run the names of files")


def _trap(args: Sequence[Word], place: Place) -> None:
    command = Word("")
    if args:
        command = args[0]
    if not command.is_plain:
        raise Asks("what it runs depends on a variable")
    _judge(command.text, place._replace(depth=place.depth + 1))


_CHECKS: dict[str, Callable[[Sequence[Word], Place], None]] = {
    **PROGRAMS,
    "find": _find,
    "xargs": _xargs,
    "trap": _trap,
    ".": _source,
    "source": _source,
}
