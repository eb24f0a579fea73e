"""What single programs do outside of a folder, judged from their arguments. `outside` has those that run others."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from ...core.commands.shell_words import Word
from .shell_places import Asks, Place, change_directory, must_be_inside, must_stay


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PROJECT = names(
    "make gmake ninja cmake ctest meson bazel cargo rustc rustfmt go gofmt gcc g++ cc c++ clang clang++ ld ar javac"
    " java mvn gradle dotnet swift mix rebar3 stack cabal sbt pytest py.test tox nox mypy ruff black isort flake8"
    " pylint pyright coverage unittest eslint prettier tsc jest vitest mocha rspec rake phpunit composer npm yarn pnpm"
    " bun shellcheck clang-format golangci-lint"
)
_OUTWARD = names(
    "install i ci add uninstall remove rm upgrade update publish deploy release upload push login logout link exec dlx"
    " global get self"
)
INTERPRETERS = re.compile(r"(python|pypy)[0-9.]*|node|ruby|perl|php|lua|Rscript")
_MODULES = ("unittest", "pytest", "doctest", "compileall", "py_compile", "json.tool", "timeit", "mypy", "ruff", "black")
_OWN = names(
    "show line add start done drop block unblock rm move note rename log diff plans undo redo help export settings"
    " reopen title watch"
)
_GIT_READ = names(
    "status log diff show blame grep ls-files ls-tree rev-parse describe shortlog reflog cat-file rev-list merge-base"
    " name-rev for-each-ref symbolic-ref whatchanged range-diff var help version check-ignore diff-tree count-objects"
    " ls-remote"
)
_GIT_CHANGE = names(
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
WRITE = names(
    "rm rmdir unlink mkdir touch mv cp ln install chmod chown chgrp truncate tee shred split csplit gzip gunzip bzip2"
    " bunzip2 xz unxz zip unzip tar patch dos2unix unix2dos sort uniq shuf xxd yq"
)


def check_writer(name: str, args: Sequence[Word], place: Place) -> None:
    """A program that changes the files it is given."""
    operands = _written_operands(name, args)
    if name in ("tar", "unzip", "patch", "split", "csplit", "zip"):
        must_stay(place)
        for word in args:
            if re.search(r"exec|command|filter|absolute|to-|-I|-TT|^-?[a-zA-Z]*P|^-[a-zA-Z]*:", word.text):
                raise Asks(f"`{name} {word.text}` can run commands or write elsewhere")
    if name == "ln" and operands:
        target, link = operands[0], operands[-1]
        beside = target._replace(text=os.path.join(os.path.dirname(link.text), target.text))
        must_be_inside(target, place, "`ln` leads to")
        must_be_inside(beside, place, "`ln` leads to")
        operands = operands[1:]
    is_itself = name in ("rm", "rmdir", "unlink", "mv")
    for word in operands:
        must_be_inside(word, place, f"`{name}` changes", itself=is_itself)


def _written_operands(name: str, args: Sequence[Word]) -> list[Word]:
    """Those of the words behind a program that name what it writes."""
    operands = _operands(args, f"`{name}` changes")
    if name in ("chmod", "chown", "chgrp", "uniq", "xxd"):
        return operands[1:]
    if name in ("cp", "install") and not _has_option(args, "-t", "--target"):
        return operands[-1:]
    if name == "sort" and _has_option(args, "--compress"):
        raise Asks("`sort` would run a program")
    if name == "sort" and not _has_option(args, "-o", "--output"):
        return []
    if name in ("shuf", "yq") and not _has_option(args, "-o", "-i", "--"):
        return []
    return operands


def _has_option(args: Sequence[Word], *beginnings: str) -> bool:
    return any(word.text.startswith(beginnings) for word in args)


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
            raise Asks(f"{what} {word.text}")
    return [word for word in found if word.text]


def check_project_tool(name: str, args: Sequence[Word], place: Place) -> None:
    """A test, a build, a linter: it may run in the folder, not install, publish or reach elsewhere."""
    must_stay(place)
    for word in args:
        if word.text.casefold() in _OUTWARD or (name == "go" and "@" in word.text):
            raise Asks(f"`{name} {word.text}` reaches outside of the folder")
        if not word.is_plain and not word.text.startswith("-"):
            raise Asks(f"what `{name}` works on depends on a variable")
        value = word.text.partition("=")[2] or word.text
        value = re.sub(r"^-[A-Za-z](?=[./~])", "", value)
        if value.startswith(("/", "~", "..")) or "/.." in value:
            must_be_inside(word._replace(text=value, is_plain=True), place, f"`{name}` works on")


def check_interpreter(name: str, args: Sequence[Word], place: Place) -> None:
    """A file of the project, or a module that tests and builds; not code that comes with the command."""
    must_stay(place)
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
            raise Asks(f"`{name} {option}` may run code that comes with the command")
        if option in ("-W", "-X") and rest:
            rest.pop(0)
    if not rest:
        raise Asks(f"`{name}` runs whatever it is given")
    must_be_inside(rest[0], place, "it runs")


def _module(args: Sequence[Word], place: Place) -> None:
    name = args[0].text if args else ""
    if name == "pip":
        _pip(args[1:], place)
    elif name == "punchlist":
        _punchlist(args[1:], place)
    elif name == "venv":
        check_writer("venv", args[1:], place)
    elif name in _MODULES:
        check_project_tool(name, args[1:], place)
    elif not name.isidentifier() or not any(
        os.path.exists(os.path.join(place.folder, below, name + ending))
        for below in ("", "src")
        for ending in ("", ".py")
    ):
        raise Asks(f"the module {name!r} is not known to stay inside of the folder")


def _git(args: Sequence[Word], place: Place) -> None:
    rest = list(args)
    place = _take_git_options(rest, place)
    if not rest:
        return
    verb, words = rest[0].text, rest[1:]
    for word in words:
        _check_git_word(verb, word, place)
    if not _is_git_read(verb, [word.text for word in words]):
        _check_git_change(verb, words, place)


def _take_git_options(rest: list[Word], place: Place) -> Place:
    """Take the options before the verb; return where git works then."""
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option in ("--no-pager", "-P", "--version", "--help"):
            continue
        value = ""
        if rest:
            value = rest[0].text
        if option == "-C" and rest:
            place = change_directory([rest.pop(0)], place)
        elif option == "-c" and re.match(r"(user|color|advice|core\.quotepath)\b", value):
            rest.pop(0)
        else:
            raise Asks(f"`git {option}` can run commands")
    return place


def _check_git_word(verb: str, word: Word, place: Place) -> None:
    """A word behind the verb that names a file to write, or something to run."""
    names_output = word.text.startswith(("--output", "-o"))
    if names_output and verb not in ("log", "ls-files", "commit", "grep", "branch"):
        must_be_inside(word._replace(text=word.text.partition("=")[2] or "/"), place, "`git` writes to")
    if verb == "grep" and word.text.startswith("-O"):
        raise Asks("`git grep -O` runs a pager")
    option = word.text.partition("=")[0]
    if option in _GIT_RUNS or "::" in word.text:
        raise Asks(f"`git {verb} {word.text}` runs commands")


def _is_git_read(verb: str, words: Sequence[str]) -> bool:
    if verb == "config":
        return not {"--get", "--get-all", "--list", "-l"}.isdisjoint(words)
    if verb in ("reflog", "symbolic-ref"):
        return len(words) <= 1
    return verb in _GIT_READ


def _check_git_change(verb: str, words: Sequence[Word], place: Place) -> None:
    if verb not in _GIT_CHANGE:
        raise Asks(f"`git {verb}` reaches outside of the folder")
    must_stay(place)
    if verb not in ("init", "clone") and not os.path.exists(os.path.join(place.folder, ".git")):
        raise Asks(f"`git {verb}` changes a repository that is not in the folder")
    if verb == "clone" and any(word.text.startswith(("-c", "--config")) for word in words):
        raise Asks("`git clone` with settings of its own can run commands")
    if verb not in ("clone", "worktree", "init", "archive", "format-patch", "mv", "rm"):
        return
    for word in words:
        if not re.match(r"-|[a-z+]+://|[\w.-]+@", word.text):
            must_be_inside(word, place, f"`git {verb}` changes")


def _sed(args: Sequence[Word], place: Place) -> None:
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
            raise Asks(f"`sed {word.text}` is not understood")
        else:
            files.append(word)
    if not scripts and files:
        scripts.append(files.pop(0))
    for script in scripts:
        if not script.is_plain or not all(map(_is_plain_sed, script.text.split("\n"))):
            raise Asks("a script of `sed` can write files and run commands")
    if in_place:
        for file in files:
            must_be_inside(file, place, "`sed` changes")


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


def _awk(args: Sequence[Word], place: Place) -> None:
    for word in args:
        calls_unknown = not word.is_plain and "(" in word.text
        if calls_unknown or re.search(r"system|getline|[|>]|^-[fiElo]|^--", word.text):
            raise Asks("a script of `awk` can write files and run commands")


def _curl(args: Sequence[Word], place: Place) -> None:
    """To fetch something is to read, unless something is sent, or written outside."""
    must_stay(place)
    rest = list(args)
    while rest:
        option = rest.pop(0).text
        if option in ("-o", "--output", "-O") and rest and not re.match(r"-|https?:", rest[0].text):
            must_be_inside(rest.pop(0), place, "it writes to")
        elif option in ("-H", "--header", "-A", "--user-agent", "-m", "--max-time", "--retry") and rest:
            rest.pop(0)
        elif option.startswith("-") and not re.fullmatch(_FETCHING, option):
            raise Asks(f"with {option} it may send or write something")


def _pip(args: Sequence[Word], place: Place) -> None:
    if not args or args[0].text not in ("list", "show", "freeze", "check", "--version", "-V"):
        raise Asks("it installs packages")


def _punchlist(args: Sequence[Word], place: Place) -> None:
    rest = [word.text for word in args]
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("--session", "--plan", "--agent", "--store") and rest:
            rest.pop(0)
    if rest and rest[0] not in _OWN:
        raise Asks(f"`punchlist {rest[0]}` is for the user")


def _dd(args: Sequence[Word], place: Place) -> None:
    for word in args:
        if word.text.startswith("of=") or not word.is_plain:
            must_be_inside(word._replace(text=word.text.removeprefix("of=")), place, "`dd` writes to")


PROGRAMS: dict[str, Callable[[Sequence[Word], Place], None]] = {
    "git": _git,
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "curl": _curl,
    "wget": _curl,
    "pip": _pip,
    "pip3": _pip,
    "punchlist": _punchlist,
    "dd": _dd,
}
