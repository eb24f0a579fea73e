"""Whether a shell command could change something outside of a folder, judged from its words before it runs.

What is known to only read may run, and what changes files may if every file that it names is inside. Tests, builds and
scripts of the project may run, too: what they do in turn is not looked at. Anything else has to be asked about, and so
has what is not understood: a question too many is better than one too few.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...core.text import cut, inline
from .shell_words import NotUnderstood, Simple, Word, parse

_DEEP = 4  # commands inside of commands
_SCRIPT = 100_000  # characters of a script that are looked through
_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_FORBIDDEN = re.compile(r"(PATH|CDPATH|IFS|ENV|BASH_ENV|SHELLOPTS|GIT_\w+|LD_\w+|DYLD_\w+|PUNCHLIST_\w+)=")
_OPENING = ("if", "then", "elif", "else", "while", "until", "do", "!", "{", "time")
_CLOSING = ("fi", "done", "}")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READ = _names(
    ": [ [[ test true false echo printf pwd ls cat head tail grep egrep fgrep rg ag wc date whoami id uname which type"
    " basename dirname realpath readlink stat file du df diff cmp comm cut paste tr nl od hexdump strings md5sum"
    " sha1sum sha256sum sha512sum shasum cksum column fold fmt expand unexpand seq jq ps pgrep uptime"
    " free nproc getconf locale tty printenv export unset shift return exit break continue wait set umask ulimit"
    " read local jobs cal tac rev join sleep host dig nslookup ping factor numfmt bc mktemp"
)
_WRITE = _names(
    "rm rmdir unlink mkdir touch mv cp ln install chmod chown chgrp truncate tee shred split csplit gzip gunzip bzip2"
    " bunzip2 xz unxz zip unzip tar patch dos2unix unix2dos sort uniq shuf xxd yq"
)
_PROJECT = _names(
    "make gmake ninja cmake ctest meson bazel cargo rustc rustfmt go gofmt gcc g++ cc c++ clang clang++ ld ar javac"
    " java mvn gradle dotnet swift mix rebar3 stack cabal sbt pytest py.test tox nox mypy ruff black isort flake8"
    " pylint pyright coverage unittest eslint prettier tsc jest vitest mocha rspec rake phpunit composer npm yarn pnpm"
    " bun shellcheck clang-format golangci-lint"
)
_OUTWARD = _names(
    "install i ci add uninstall remove rm upgrade update publish deploy release upload push login logout link exec dlx"
    " global get self"
)
_SHELLS = ("sh", "bash", "dash", "ksh", "zsh", "ash")
_INTERPRETERS = re.compile(r"(python|pypy)[0-9.]*|node|ruby|perl|php|lua|Rscript")
_MODULES = ("unittest", "pytest", "doctest", "compileall", "py_compile", "json.tool", "timeit", "mypy", "ruff", "black")
_WRAPPERS = ("command", "builtin", "exec", "nohup", "nice", "timeout", "stdbuf", "env", "setsid", "ionice", "busybox")
_WRAPPING = re.compile(r"-[insukvw]|-[0-9]+|-[oei](L|[0-9]+)|--foreground|--preserve-status|--")
_OWN = _names(
    "show line add start done drop block unblock rm move note rename log diff plans undo redo help export settings"
    " reopen title watch"
)
_GIT_READ = _names(
    "status log diff show blame grep ls-files ls-tree rev-parse describe shortlog reflog cat-file rev-list merge-base"
    " name-rev for-each-ref symbolic-ref whatchanged range-diff var help version check-ignore diff-tree count-objects"
    " ls-remote"
)
_GIT_CHANGE = _names(
    "add commit checkout switch restore reset merge rebase cherry-pick rm mv clean init revert apply am stash branch"
    " tag remote notes format-patch gc update-index fetch pull clone worktree bisect archive"
)
_FETCHING = r"-[#4fgGiIkLOqsSv]+|-|--(silent|show-error|fail|location|head|compressed|get|quiet|no-verbose|include)"
_GIT_RUNS = (
    "--exec",
    "-x",
    "run",
    "--open-files-in-pager",
    "-O",
    "--upload-pack",
    "--receive-pack",
    "--template",
    "--unsafe-paths",
)


class _Asks(Exception):
    """The command has to be asked about; the message says why."""


class _Place(NamedTuple):
    """Where a command runs: the folder, and every directory that it may be in by now; none if that is not known."""

    folder: str
    dirs: frozenset[str] | None
    depth: int = 0
    writes: bool = False  # whether the command has written something, which it may run


def outside(command: str, folder: str) -> str:
    """Why a command has to be asked about, as part of a sentence; empty if it stays inside of the folder."""
    folder = os.path.realpath(folder)
    try:
        _judge(command, _Place(folder, frozenset([folder])))
    except (_Asks, NotUnderstood) as found:
        return cut(inline(str(found)), 200)
    return ""


def _judge(command: str, place: _Place) -> _Place:
    if place.depth > _DEEP:
        raise _Asks("it runs commands inside of commands")
    parsed = parse(command)
    deeper = place._replace(depth=place.depth + 1)
    for inner in parsed.inner:
        _judge(inner, deeper)
    names = [one.words[0].text for one in parsed.commands if one.words]
    if "cd" in command and {"for", "while", "until"} & set(names):
        place = place._replace(dirs=None)  # a loop may change the directory again and again
    if any(one.targets for one in parsed.commands) or _WRITE & set(names):
        place = place._replace(writes=True)
    for one in parsed.commands:
        place = _judge_simple(one, place)
    return place


def _judge_simple(command: Simple, place: _Place) -> _Place:
    for target in command.targets:
        if target.text not in _DEVICES:
            _must_be_inside(target, place, "it writes to")
    words = _without_keywords(command.words)
    for word in words:
        if "/proc/" in word.text and "environ" in word.text:
            raise _Asks("it reads the environment of another process")
    while words and _ASSIGNED.match(words[0].text):
        _may_be_assigned(words[0])
        words = words[1:]
    return _judge_words(words, place) if words else place


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
    return () if words[0].text == "for" else words


def _may_be_assigned(word: Word) -> None:
    if _FORBIDDEN.match(word.text):
        raise _Asks(f"it sets {word.text.partition('=')[0]}")


def _may_be_unset(word: Word) -> None:
    """Without its variables a command would not be known as this agent's."""
    if not word.is_plain or _FORBIDDEN.match(f"{word.text}="):
        raise _Asks(f"it unsets {word.text}")


def _judge_words(words: Sequence[Word], place: _Place) -> _Place:
    first, args = words[0], words[1:]
    if not first.is_plain or (first.is_pattern and first.text not in _READ):
        raise _Asks("which program it runs depends on a variable or a pattern")
    name = _program(first, place)
    if name == "cd":
        return _changed_directory(args, place)
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
    elif _INTERPRETERS.fullmatch(name):
        _interpreter(name, args, place)
    elif name in _WRAPPERS:
        return _wrapped(name, args, place)
    elif name in _WRITE:
        _writer(name, args, place)
    elif name in _PROJECT:
        _project_tool(name, args, place)
    elif name == "rg" and any(word.text.startswith(("--pre", "--hostname")) for word in args):
        raise _Asks("`rg` would run a program")
    elif name not in _READ:
        raise _Asks(f"`{name}` is not known to stay inside of the folder")
    return place


def _program(first: Word, place: _Place) -> str:
    """The name of a program of the system; empty for one of the project's own."""
    if "/" not in first.text:
        return first.text
    path = os.path.expanduser(first.text) if first.is_bare else first.text
    folder, name = os.path.split(path)
    known = [*os.environ.get("PATH", os.defpath).split(os.pathsep), "/bin", "/usr/bin", "/usr/local/bin"]
    known.append(os.path.dirname(sys.executable))
    if os.path.isabs(path) and folder in known:
        return name
    if name.startswith(("python", "pypy")) and os.path.basename(folder) == "bin" and _is_inside(path, place.folder):
        return name  # of a virtual environment
    return ""


# --- paths -----------------------------------------------------------------------------------------------------------


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _must_be_inside(word: Word, place: _Place, what: str, *, itself: bool = False) -> None:
    """Raise _Asks unless a path is inside, wherever the command may be by now. `itself`: a link, not where it leads."""
    if place.dirs is None:
        raise _Asks("it is not known in which directory it changes something")
    if not word.is_plain:
        raise _Asks(f"{what} a place that depends on a variable: {word.text}")
    text = os.path.expanduser(word.text) if word.is_bare else word.text
    if text.startswith("~"):
        raise _Asks(f"{what} {word.text}, outside of the folder")
    if word.is_pattern and re.search(r"(^|/)\.[^/]*[*?[]", text):
        raise _Asks(f"{what} {word.text}, which may be the folder above")
    for folder in place.dirs:
        path = os.path.join(folder, text)
        if not all(_is_within(one, place.folder, itself) for one in _meant(path, word.is_pattern)):
            raise _Asks(f"{what} {word.text}, outside of the folder")


def _is_within(path: str, folder: str, itself: bool) -> bool:
    """Whether a path is inside of a folder, following links; for a link itself, whether the link is."""
    parent, last = os.path.split(path)
    if itself and last not in (".", "..", ""):
        return _is_inside(os.path.join(os.path.realpath(parent), last), folder)
    real = os.path.realpath(path)
    return _is_inside(real, folder) or (real == folder and not itself)


def _meant(path: str, is_pattern: bool) -> list[str]:
    """The paths that a pattern stands for now, and one that is as certain as any: below its directory."""
    if not is_pattern:
        return [path]
    certain = re.split(r"[*?[]", path)[0]
    return [os.path.join(os.path.dirname(certain), "x"), *glob.glob(path)]


def _must_stay(place: _Place) -> None:
    """Raise _Asks unless the command is surely still inside of the folder."""
    if place.dirs is None or any(
        folder != place.folder and not _is_inside(folder, place.folder) for folder in place.dirs
    ):
        raise _Asks("it runs in a directory outside of the folder")


def _changed_directory(args: Sequence[Word], place: _Place) -> _Place:
    wanted = [word for word in args if not word.text.startswith("-") or word.text == "-"]
    if place.dirs is None or len(wanted) > 1:
        return place._replace(dirs=None)
    word = wanted[0] if wanted else Word(os.path.expanduser("~"))
    if not word.is_plain or word.is_pattern or word.text == "-":
        return place._replace(dirs=None)
    text = os.path.expanduser(word.text) if word.is_bare else word.text
    moved = {os.path.realpath(os.path.join(folder, text)) for folder in place.dirs}
    return place._replace(dirs=place.dirs | moved)


# --- programs --------------------------------------------------------------------------------------------------------


def _run_own_program(first: Word, place: _Place) -> None:
    """A program that is named by its path: one of the project's own. A shell script is looked through."""
    _must_stay(place)
    _must_be_inside(first, place, "it runs")
    _look_through(first, place)


def _look_through(file: Word, place: _Place, *, is_script: bool = False) -> None:
    for folder in place.dirs or ():
        path = os.path.join(folder, file.text)
        if not os.path.isfile(path):
            raise _Asks(f"{file.text} is not there to be looked through")
        try:
            with open(path, encoding="utf-8", errors="replace") as source:
                text = source.read(_SCRIPT + 1)
        except OSError:
            raise _Asks(f"{file.text} cannot be read") from None
        is_shell = is_script or re.match(r"#!\s*(/usr)?/bin/(env\s+)?(ba|da|k|z)?sh\b", text) or path.endswith(".sh")
        if is_shell and (place.writes or len(text) > _SCRIPT):
            raise _Asks(f"{file.text} cannot be looked through before it is run")
        if is_shell:
            _judge(text, place._replace(depth=place.depth + 1))


def _writer(name: str, args: Sequence[Word], place: _Place) -> None:
    """A program that changes the files it is given."""
    operands, what = _operands(args, f"`{name}` changes"), f"`{name}` changes"
    if name in ("chmod", "chown", "chgrp"):
        operands = operands[1:]
    elif name in ("cp", "install") and not any(word.text.startswith(("-t", "--target")) for word in args):
        operands = operands[-1:]
    elif name == "sort" and any(word.text.startswith("--compress") for word in args):
        raise _Asks("`sort` would run a program")
    elif name == "sort" and not any(word.text.startswith(("-o", "--output")) for word in args):
        return
    elif name in ("uniq", "xxd"):
        operands = operands[1:]
    elif name in ("shuf", "yq") and not any(word.text.startswith(("-o", "-i", "--")) for word in args):
        return
    if name in ("tar", "unzip", "patch", "split", "csplit", "zip"):
        _must_stay(place)
        for word in args:
            if re.search(r"exec|command|filter|absolute|to-|-I|-TT|^-?[a-zA-Z]*P|^-[a-zA-Z]*:", word.text):
                raise _Asks(f"`{name} {word.text}` can run commands or write elsewhere")
    for word in operands:
        if not (name == "ln" and word is operands[0]):
            _must_be_inside(word, place, what, itself=name in ("rm", "rmdir", "unlink", "mv"))
            continue
        link = operands[-1] if len(operands) > 1 else word
        beside = word._replace(text=os.path.join(os.path.dirname(link.text), word.text))
        for target in (word, beside):
            _must_be_inside(target, place, "`ln` leads to")


def _operands(args: Sequence[Word], what: str) -> list[Word]:
    """What a program is given besides its options. An option with a path glued to it is asked about."""
    found: list[Word] = []
    only_operands = False
    for word in args:
        if only_operands or not word.text.startswith("-") or word.text == "-":
            found.append(word)
        elif word.text == "--":
            only_operands = True
        elif "=" in word.text:
            found.append(word._replace(text=word.text.partition("=")[2]))
        elif not word.is_plain or "/" in word.text or ".." in word.text:
            raise _Asks(f"{what} {word.text}")
    return [word for word in found if word.text]


def _project_tool(name: str, args: Sequence[Word], place: _Place) -> None:
    """A test, a build, a linter: it may run in the folder, not install, publish or reach elsewhere."""
    _must_stay(place)
    for word in args:
        if word.text.casefold() in _OUTWARD or (name == "go" and "@" in word.text):
            raise _Asks(f"`{name} {word.text}` reaches outside of the folder")
        if not word.is_plain and not word.text.startswith("-"):
            raise _Asks(f"what `{name}` works on depends on a variable")
        value = word.text.partition("=")[2] or word.text
        value = re.sub(r"^-[A-Za-z](?=[./~])", "", value)
        if value.startswith(("/", "~", "..")) or "/.." in value:
            _must_be_inside(word._replace(text=value, is_plain=True), place, f"`{name}` works on")


def _shell(args: Sequence[Word], place: _Place) -> None:
    rest = list(args)
    runs_text = False
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option == "--version":
            return
        if not re.fullmatch(r"-[celnouvx]+", option):
            raise _Asks(f"a shell with {option} runs whatever it is given")
        runs_text = runs_text or "c" in option
        if "o" in option and rest:
            rest.pop(0)
    if not runs_text:
        _source(rest, place)
        return
    if not rest or not rest[0].is_plain:
        raise _Asks("what a shell runs depends on a variable")
    _judge(rest[0].text, place._replace(depth=place.depth + 1))


def _source(args: Sequence[Word], place: _Place) -> None:
    """A script of the project: it is looked through."""
    if not args:
        raise _Asks("a shell runs whatever it is given")
    _must_stay(place)
    _must_be_inside(args[0], place, "it runs")
    _look_through(args[0], place, is_script=True)


def _interpreter(name: str, args: Sequence[Word], place: _Place) -> None:
    """A file of the project, or a module that tests and builds; not code that comes with the command."""
    _must_stay(place)
    rest = list(args)
    is_python = name.startswith(("python", "pypy"))
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option in ("--version", "-V", "--help", "-h"):
            return
        if is_python and option == "-m":
            _module(rest, place)
            return
        if not is_python or not re.fullmatch(r"-[bBdEiIOPqsSuvx]+|-[WX]|-W\w+", option):
            raise _Asks(f"`{name} {option}` may run code that comes with the command")
        if option in ("-W", "-X") and rest:
            rest.pop(0)
    if not rest:
        raise _Asks(f"`{name}` runs whatever it is given")
    _must_be_inside(rest[0], place, "it runs")


def _module(args: Sequence[Word], place: _Place) -> None:
    name = args[0].text if args else ""
    if name == "pip":
        _pip(args[1:], place)
    elif name == "punchlist":
        _punchlist(args[1:], place)
    elif name == "venv":
        _writer("venv", args[1:], place)
    elif name in _MODULES:
        _project_tool(name, args[1:], place)
    elif not name.isidentifier() or not any(
        os.path.exists(os.path.join(place.folder, below, name + ending))
        for below in ("", "src")
        for ending in ("", ".py")
    ):
        raise _Asks(f"the module {name!r} is not known to stay inside of the folder")


def _wrapped(name: str, args: Sequence[Word], place: _Place) -> _Place:
    """A program that runs another one."""
    if name == "command" and args and args[0].text in ("-v", "-V"):
        return place
    rest = list(args)
    while rest and (rest[0].text.startswith("-") or (name == "env" and _ASSIGNED.match(rest[0].text))):
        word = rest.pop(0)
        _may_be_assigned(word)
        if name == "env" and word.text in ("-", "-i", "--ignore-environment"):
            raise _Asks("it drops the environment")
        if name == "env" and word.text.startswith(("-u", "--unset")):
            of = word.text.removeprefix("--unset=").removeprefix("-u") or (rest[0].text if rest else "")
            _may_be_unset(word._replace(text=of))
        if word.text.startswith("-") and not _WRAPPING.fullmatch(word.text):
            raise _Asks(f"`{name} {word.text}` is not understood")
        if word.text in ("-n", "-s", "-k", "-u") and rest:
            rest.pop(0)
    if name == "timeout" and rest:
        rest.pop(0)
    return _judge_words(rest, place) if rest else place


def _git(args: Sequence[Word], place: _Place) -> None:
    rest = list(args)
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option == "-C" and rest:
            place = _changed_directory([rest.pop(0)], place)
        elif option == "-c" and rest and re.match(r"(user|color|advice|core\.quotepath)\b", rest[0].text):
            rest.pop(0)
        elif option not in ("--no-pager", "-P", "--version", "--help"):
            raise _Asks(f"`git {option}` can run commands")
    if not rest:
        return
    verb, words = rest[0].text, rest[1:]
    for word in words:
        if word.text.startswith(("--output", "-o")) and verb not in ("log", "ls-files", "commit", "grep", "branch"):
            _must_be_inside(word._replace(text=word.text.partition("=")[2] or "/"), place, "`git` writes to")
        if verb == "grep" and word.text.startswith("-O"):
            raise _Asks("`git grep -O` runs a pager")
        if word.text in _GIT_RUNS or word.text.startswith(tuple(f"{one}=" for one in _GIT_RUNS)) or "::" in word.text:
            raise _Asks(f"`git {verb} {word.text}` runs commands")
    if verb in _GIT_READ and not (verb in ("reflog", "symbolic-ref") and len(words) > 1):
        return
    if verb == "config" and any(word.text in ("--get", "--get-all", "--list", "-l") for word in words):
        return
    if verb not in _GIT_CHANGE:
        raise _Asks(f"`git {verb}` reaches outside of the folder")
    _must_stay(place)
    if verb != "init" and verb != "clone" and not os.path.exists(os.path.join(place.folder, ".git")):
        raise _Asks(f"`git {verb}` changes a repository that is not in the folder")
    if any(word.text.startswith(("-c", "--config")) for word in words) and verb == "clone":
        raise _Asks("`git clone` with settings of its own can run commands")
    if verb in ("clone", "worktree", "init", "archive", "format-patch", "mv", "rm"):
        for word in words:
            if not re.match(r"-|[a-z+]+://|[\w.-]+@", word.text):
                _must_be_inside(word, place, f"`git {verb}` changes")


def _find(args: Sequence[Word], place: _Place) -> None:
    roots = []
    for word in args:
        if word.text.startswith(("-", "(", "!")) and word.text not in ("-H", "-L", "-P"):
            break
        roots.append(word)
    for number, word in enumerate(args):
        if word.text.startswith(("-fprint", "-fls")) or word.text == "-L":
            raise _Asks(f"`find {word.text}` may write elsewhere")
        if word.text == "-delete":
            _writer("rm", [_below(root) for root in roots] or [Word("x")], place)
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            run = []
            for one in args[number + 1 :]:
                if one.text in (";", "+"):
                    break
                run.append(one)
            _must_not_run_text(run)
            for root in roots or [Word(".")]:
                _judge_words([_below(root) if one.text == "{}" else one for one in run], place)


def _below(root: Word) -> Word:
    """Something below a directory."""
    return root._replace(text=os.path.join(root.text, "x"))


def _xargs(args: Sequence[Word], place: _Place) -> None:
    rest = list(args)
    while rest and rest[0].text.startswith("-"):
        word = rest.pop(0)
        if word.text in ("-n", "-P", "-I", "-L", "-d", "-s", "-E") and rest:
            rest.pop(0)
    _must_not_run_text(rest)
    if rest:
        _judge_words([*rest, Word("$it", is_plain=False)], place)


def _must_not_run_text(words: Sequence[Word]) -> None:
    """Raise _Asks for a program that runs its arguments, where names of files become arguments."""
    name = os.path.basename(words[0].text) if words else ""
    if name in _SHELLS or name in _WRAPPERS or _INTERPRETERS.fullmatch(name):
        raise _Asks(f"`{name}` would run the names of files")


def _sed(args: Sequence[Word], place: _Place) -> None:
    scripts: list[Word] = []
    files: list[Word] = []
    in_place = False
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word.text in ("-e", "--expression") and rest:
            scripts.append(rest.pop(0))
        elif word.text.startswith(("-i", "--in-place")):
            in_place = True
        elif word.text in ("-n", "-E", "-r", "-s", "-z", "-u", "--quiet", "--silent", "--posix"):
            continue
        elif word.text.startswith("-") and word.text != "-":
            raise _Asks(f"`sed {word.text}` is not understood")
        else:
            files.append(word)
    if not scripts and files:
        scripts.append(files.pop(0))
    for script in scripts:
        if not all(_is_plain_sed(part) for part in re.split(r"[\n]", script.text)) or not script.is_plain:
            raise _Asks("a script of `sed` can write files and run commands")
    for file in files if in_place else ():
        _must_be_inside(file, place, "`sed` changes")


def _is_plain_sed(script: str) -> bool:
    """Whether one command of sed only prints, deletes or replaces."""
    if re.fullmatch(r"\s*[0-9$,!+~ ]*[pdq=]?\s*(;\s*[0-9$,!+~ ]*[pdq=]?\s*)*", script):
        return True
    found = re.match(r"\s*(?:[0-9$,!]*|/[^/\\]*/(?:,/[^/\\]*/)?)\s*(?:([pd])\s*$|s([^\w\s\\]))", script)
    if not found:
        return False
    if found[1]:
        return True
    parts = re.split(rf"(?<!\\){re.escape(found[2])}", script[found.end() :])
    return len(parts) == 3 and bool(re.fullmatch(r"[gipI0-9]*\s*", parts[2]))


def _awk(args: Sequence[Word], place: _Place) -> None:
    for word in args:
        if re.search(r"system|getline|[|>]|^-[fiElo]|^--", word.text) or (not word.is_plain and "(" in word.text):
            raise _Asks("a script of `awk` can write files and run commands")


def _curl(args: Sequence[Word], place: _Place) -> None:
    """To fetch something is to read, unless something is sent, or written outside."""
    _must_stay(place)
    rest = list(args)
    while rest:
        option = rest.pop(0).text
        if option in ("-o", "--output", "-O") and rest and not re.match(r"-|https?:", rest[0].text):
            _must_be_inside(rest.pop(0), place, "it writes to")
        elif option in ("-H", "--header", "-A", "--user-agent", "-m", "--max-time", "--retry") and rest:
            rest.pop(0)
        elif option.startswith("-") and not re.fullmatch(_FETCHING, option):
            raise _Asks(f"with {option} it may send or write something")


def _pip(args: Sequence[Word], place: _Place) -> None:
    if not args or args[0].text not in ("list", "show", "freeze", "check", "--version", "-V"):
        raise _Asks("it installs packages")


def _punchlist(args: Sequence[Word], place: _Place) -> None:
    rest = [word.text for word in args]
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("--session", "--plan", "--agent", "--store") and rest:
            rest.pop(0)
    if rest and rest[0] not in _OWN:
        raise _Asks(f"`punchlist {rest[0]}` is for the user")


def _trap(args: Sequence[Word], place: _Place) -> None:
    if args and not args[0].is_plain:
        raise _Asks("what it runs depends on a variable")
    _judge(args[0].text if args else "", place._replace(depth=place.depth + 1))


def _dd(args: Sequence[Word], place: _Place) -> None:
    for word in args:
        if word.text.startswith("of=") or not word.is_plain:
            _must_be_inside(word._replace(text=word.text.removeprefix("of=")), place, "`dd` writes to")


_CHECKS: dict[str, Callable[[Sequence[Word], _Place], None]] = {
    "git": _git,
    "find": _find,
    "xargs": _xargs,
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "curl": _curl,
    "wget": _curl,
    "pip": _pip,
    "pip3": _pip,
    "punchlist": _punchlist,
    "trap": _trap,
    "dd": _dd,
    ".": _source,
    "source": _source,
}
