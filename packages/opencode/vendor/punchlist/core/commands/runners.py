"""How the words behind a program that runs checks are read, and what a run of it covers.

`table.py` lists the programs. Only what is listed is understood; another program counts with equal words only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from posixpath import basename, normpath
from types import MappingProxyType

from .._typing import NamedTuple

Covers = Callable[[Sequence[str], Sequence[str], Sequence[str]], bool]  # given, asked, roots
Locate = Callable[[str], tuple[str, str]]
NO_VALUE, VALUE, MAY_HAVE_VALUE = "", "=", "?"
Flags = Mapping[str, str]  # a flag, and whether a value belongs to it

# Directories that runners do not look into by themselves, beside those whose names begin with a dot.
_SKIPPED = frozenset(
    ("build", "dist", "node_modules", "venv", "CVS", "_darcs", "_build", "site-packages", "testdata", "vendor")
)


def words_of(text: str) -> frozenset[str]:
    """A set of words, from a text with spaces between them."""
    return frozenset(text.split())


class Arguments(NamedTuple):
    """The words behind a program, without those that make no difference."""

    words: tuple[str, ...]  # all others, in order
    targets: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # that make a difference, or may
    is_stricter: bool = False  # whether more than usual makes it fail


class Runner(NamedTuple):
    """A program that runs checks."""

    names: Mapping[tuple[str, ...], tuple[str, ...]]  # the words that it is called with, and the targets they say
    harmless: Flags  # flags that do not change what is run
    refused: Flags  # flags that leave something out, run nothing, or hide a failure
    covers: Covers
    locate: Locate  # the file that a target is in, and a text that is in it; empty if there is none
    about: str  # what a run of it covers, in words
    stricter: Flags = MappingProxyType(
        {}
    )  # flags with which it can fail for more reasons: a pass counts, a failure does not
    pairs: frozenset[str] = frozenset()  # flags that are harmless with this value
    behind: Flags | None = None  # harmless flags behind `--`; None: what is there are targets
    naming: Mapping[str, str] = MappingProxyType({})  # flags whose value is a target, and what is put before it
    saying: Mapping[str, str] = MappingProxyType({})  # flags that are a target by themselves
    by: str = ""  # `python`: also `python -m NAME`; `node`: also `npx NAME`
    has_paths: bool = False  # whether its targets are paths
    not_started: tuple[str, ...] = ()  # subcommands that run nothing
    is_go: bool = False  # whether one dash begins a long flag

    @property
    def name(self) -> str:
        return " ".join(next(iter(self.names)))

    def read(self, words: Sequence[str], folder: str) -> Arguments:
        """Sort the words behind the name."""
        return _Reader(self, words, folder).read()

    def find_name(self, words: Sequence[str]) -> tuple[str, ...] | None:
        """The longest of its names that a command begins with."""
        found = [name for name in self.names if tuple(words[: len(name)]) == name]
        return max(found, key=len, default=None)


class _Reader:
    """Reads the words behind a name, one after another."""

    def __init__(self, runner: Runner, words: Sequence[str], folder: str) -> None:
        name = runner.find_name(words) or ()
        self.runner = runner
        self.folder = folder
        self.rest = list(reversed(words[len(name) :]))
        self.targets = list(runner.names.get(name, ()))
        self.words = list(self.targets)
        self.flags: list[str] = []
        self.is_stricter = False

    def read(self) -> Arguments:
        if self.rest and self.rest[-1] in self.runner.not_started:
            self._keep_flag(self.rest.pop())
        while self.rest:
            word = self.rest.pop()
            if word == "--":
                self._read_behind()
            elif word == "-" or not word.startswith("-"):
                self._take_target(word)
            elif self.runner.is_go or word.startswith("--"):
                self._take_long(word)
            else:
                self._take_short(word)
        return Arguments(tuple(self.words), tuple(self.targets), tuple(self.flags), self.is_stricter)

    def _take_target(self, word: str) -> None:
        is_odd = word == "-" or word.startswith(("@", "+"))
        if is_odd or ("=" in word and not self.runner.has_paths):
            self._keep_flag(word)
            return
        if self.runner.is_go:
            word = placed_package(word, self.folder)
        elif self.runner.has_paths:
            word = placed(word, self.folder)
        self._keep_target(word)

    def _keep_target(self, word: str) -> None:
        self.targets.append(word)
        self.words.append(word)

    def _take_named(self, flag: str, value: str) -> None:
        """The value of a flag that names targets; several of them have commas between them."""
        for one in value.split(","):
            if self.runner.has_paths:
                one = placed(one, self.folder)
            self._keep_target(self.runner.naming[flag] + one)

    def _keep_flag(self, word: str) -> None:
        self.flags.append(word)
        self.words.append(word)

    def _take_long(self, word: str) -> None:
        flag, equals, value = word.partition("=")
        if self.runner.is_go:
            flag = "-" + flag.lstrip("-")
        kind = self._kind(flag)
        if kind is None or (equals and kind == NO_VALUE):
            self._refuse(word, flag, bool(equals))
            return
        if not equals:
            value = self._take_value(kind)
        self._use(flag, value)

    def _take_short(self, word: str) -> None:
        """One letter after another: -q, -xvs, -n4, -n 4."""
        for place, letter in enumerate(word[1:], 1):
            flag, value = f"-{letter}", word[place + 1 :]
            kind = self._kind(flag)
            if kind is None or (kind == MAY_HAVE_VALUE and value and not value.isdecimal()):
                self._refuse(word, flag, bool(value))
                return
            if kind != NO_VALUE:
                self._use(flag, value or self._take_value(kind))
                return
            self._use(flag, "")

    def _kind(self, flag: str) -> str | None:
        """Whether a value belongs to a harmless flag; None for any other flag."""
        if flag in self.runner.stricter:
            self.is_stricter = True
            return self.runner.stricter[flag]
        if flag in self.runner.saying:
            return NO_VALUE
        if flag in self.runner.naming or self._has_pairs(flag):
            return VALUE
        return self.runner.harmless.get(flag)

    def _has_pairs(self, flag: str) -> bool:
        return any(pair.startswith(f"{flag} ") for pair in self.runner.pairs)

    def _take_value(self, kind: str) -> str:
        """The next word, if it is a value. A number is one behind `-j`, and any word behind a flag that wants one."""
        if not self.rest or self.rest[-1].startswith("-"):
            return ""
        if kind == VALUE or (kind == MAY_HAVE_VALUE and self.rest[-1].isdecimal()):
            return self.rest.pop()
        return ""

    def _use(self, flag: str, value: str) -> None:
        """Do what a flag that is known says: most make no difference."""
        is_odd = self._has_pairs(flag) and f"{flag} {value}" not in self.runner.pairs
        if is_odd or (flag == "-count" and not value.strip("0")):
            self._keep_flag(f"{flag} {value}".strip())
        elif flag in self.runner.saying:
            self._keep_target(self.runner.saying[flag])
        elif flag in self.runner.naming:
            self._take_named(flag, value)

    def _refuse(self, word: str, flag: str, has_value: bool) -> None:
        self._keep_flag(word)
        if self.runner.refused.get(flag) == VALUE and not has_value and self.rest:
            self.words.append(self.rest.pop())

    def _read_behind(self) -> None:
        """What is behind `--`: targets, or what is passed on to the program that runs the tests."""
        harmless = self.runner.behind
        while self.rest:
            word = self.rest.pop()
            flag, equals, _ = word.partition("=")
            if harmless is None and not word.startswith("-"):
                self._take_target(word)
            elif harmless is None or flag not in harmless:
                self._keep_flag(word)
            elif not equals:
                self._take_value(harmless[flag])


def placed(path: str, folder: str) -> str:
    """A path in the form in which two of them can be compared: from the folder on, without `./`."""
    file, colons, test = path.partition("::")
    if ".." in file.split("/"):
        return path
    file = normpath(file)
    if file == folder:
        file = "."
    file = file.removeprefix(folder.rstrip("/") + "/")
    return f"{file}{colons}{test}"


def placed_package(package: str, folder: str) -> str:
    """A package of Go in such a form: a directory as a path, and another one with `go:` before it."""
    is_directory = package.startswith(("./", "/")) or package in (".", "./", "...")
    if not is_directory:
        return f"go:{package}"
    return placed(package, folder)


# --- what a run covers -----------------------------------------------------------------------------------------------


def covers_tests(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether a run over these paths runs the tests that are asked for: a directory covers the tests in it, a file its
    parts. Without paths it is the roots, or everything."""
    places = frozenset(given or roots or (".",))
    return all(_has_test(path, places) for path in asked or roots or (".",))


def _has_test(path: str, places: frozenset[str]) -> bool:
    if path in places or any(part in places for part in _parts_above(path)):
        return True
    file = path.partition("::")[0]
    if file != path and file in places:
        return True
    return _is_found(file) and any(_is_open(file, place) for place in _folders_above(file) if place in places)


def _parts_above(test: str) -> list[str]:
    """`a.py::B::c[1]`: what is wider and in the same file, `a.py::B::c` and `a.py::B`."""
    above = []
    if test.endswith("]") and "[" in test:
        test = test.partition("[")[0]
        above.append(test)
    while "::" in test:
        test = test.rpartition("::")[0]
        above.append(test)
    return above


def _folders_above(path: str) -> list[str]:
    if path.startswith(".."):
        return []
    above = []
    while "/" in path.strip("/"):
        path = path.rpartition("/")[0]
        above.append(path)
    if not path.startswith("/"):
        above.append(".")
    return above


def _is_found(path: str) -> bool:
    """Whether a runner finds a file by its name, without being told."""
    name = basename(path)
    return not name.endswith(".py") or name.startswith("test_") or name.endswith("_test.py")


def _is_open(path: str, place: str) -> bool:
    """Whether a runner goes down from a directory to a path."""
    between = path.removeprefix(f"{place}/").split("/")
    return not any(part in _SKIPPED or part.startswith((".", "_")) or part.endswith(".egg") for part in between[:-1])


def covers_files(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether all files that are asked for are in these directories."""
    places = frozenset(given)
    return bool(asked) and all(
        path in places or any(place in places and _is_open(path, place) for place in _folders_above(path))
        for path in asked
    )


def covers_files_here(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """The same for a program that takes the directory it is in, if it is given none."""
    return covers_files(given or (".",), asked or (".",), ())


def covers_names(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether all files with these names are run: a run without names runs all."""
    places = frozenset(given or (".",))
    if not asked:
        return not given
    return all(path in places or _is_path_below(path, places) for path in asked)


def _is_path_below(path: str, places: frozenset[str]) -> bool:
    """Whether a name is that of a file, and not only a part of names, and in a directory."""
    is_path = "/" in path or "." in path
    return is_path and any(place in places for place in _folders_above(path))


def covers_packages(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """The same for packages of Go: `./...` covers all below, no package is the one of the directory."""
    places = frozenset(given or (".",))
    wide = frozenset(_above_dots(one) for one in places if one.endswith("..."))
    return all(package in places or _is_below(package, wide) for package in asked or (".",))


def _above_dots(package: str) -> str:
    return package.removesuffix("...").rstrip("/") or "."


def _is_below(package: str, wide: frozenset[str]) -> bool:
    package = _above_dots(package)
    if package in wide or package.startswith("go:"):
        return package in wide
    if any(part.startswith("_") for part in package.split("/")):
        return False
    return any(place in wide and _is_open(f"{package}/x", place) for place in _folders_above(package))


def covers_crates(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """The same for Cargo: no name of a test covers all, the workspace covers all packages."""
    names = [one for one in given if not one.startswith("-")]
    if names and names != [one for one in asked if not one.startswith("-")]:
        return False
    packages = frozenset(one for one in given if one.startswith("-"))
    wanted = frozenset(one for one in asked if one.startswith("-"))
    if "--workspace" in packages:
        return True
    return packages >= wanted and bool(packages) == bool(wanted)


def covers_modules(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether unittest runs what is asked for: a directory covers the test files in it, a module its classes."""
    if not asked or asked[0] == "discover":
        return _starts(given) != () and _starts(given) == _starts(asked)
    places = _starts(given)
    if places:
        return all(_is_discovered(name, places) for name in asked)
    return all(_has_part(name, given) for name in asked)


def _starts(targets: Sequence[str]) -> tuple[str, ...]:
    """The directories that a discovery starts in; none if there are names of tests."""
    if targets and targets[0] != "discover":
        return ()
    return tuple(targets[1:]) or (".",)


def _is_discovered(name: str, places: Sequence[str]) -> bool:
    path, _ = locate_module(name)
    return basename(path).startswith("test") and any(one in places for one in _folders_above(path))


def _has_part(name: str, given: Sequence[str]) -> bool:
    """Whether a name is given, or the module or the class that it is in. A package does not bring its modules."""
    for one in given:
        rest = name.removeprefix(f"{one}.")
        if name == one:
            return True
        if rest != name and (rest[:1].isupper() or one.rpartition(".")[2][:1].isupper()):
            return True
    return False


def covers_targets(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether all targets are made: of `make test`, `make lint test`."""
    return bool(asked) and set(asked) <= set(given)


def covers_same(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether the names are the same."""
    return tuple(given) == tuple(asked)


# --- where a target is -----------------------------------------------------------------------------------------------


def locate_nowhere(target: str) -> tuple[str, str]:
    """A target that is not in a file of its name."""
    return "", ""


def locate_path(target: str) -> tuple[str, str]:
    """A file or a directory; of `a.py::TestB::test_c[1]`, the file and the name of the test."""
    path, _, test = target.partition("::")
    return path, test.rpartition("::")[2].partition("[")[0]


def locate_package(target: str) -> tuple[str, str]:
    """The directory of a package of Go."""
    if target.startswith("go:"):
        return "", ""
    return _above_dots(target), ""


def locate_module(target: str) -> tuple[str, str]:
    """The file of `tests.test_a.TestB.test_c`, and the name of the test."""
    if target == "discover":
        return "", ""
    if target.endswith(".py") or "/" in target:
        return target, ""
    parts = target.split(".")
    classes = [at for at, part in enumerate(parts) if part[:1].isupper()]
    if not classes:
        return "/".join(parts) + ".py", ""
    return "/".join(parts[: classes[0]]) + ".py", parts[-1]
