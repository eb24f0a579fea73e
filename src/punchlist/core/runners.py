"""Programs that run tests and checks: which of their words make no difference, and what a run of them covers.

Only what is listed here is understood; another program counts only with the very same words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from posixpath import normpath

from ._typing import NamedTuple

Covers = Callable[[Sequence[str], Sequence[str], Sequence[str]], bool]  # given, asked, roots


class Arguments(NamedTuple):
    """The words behind a program, sorted by what they mean."""

    flags: frozenset[str]  # that make a difference
    targets: tuple[str, ...]
    refused: tuple[str, ...]  # that leave something out, or run nothing


class Runner(NamedTuple):
    """A program that runs checks."""

    names: tuple[tuple[str, ...], ...]  # the words that it is called with
    harmless: frozenset[str]  # flags that do not change what is run; `-j` also stands for `-j8`
    valued: frozenset[str]  # of the harmless ones: those whose value is the next word
    refused: frozenset[str]  # flags that leave something out, run nothing, or hide a failure
    covers: Covers

    def read(self, words: Sequence[str]) -> Arguments:
        """Sort the words behind the name."""
        rest = list(words[len(self._name(words)) :])
        flags, targets, refused = [], [], []
        while rest:
            word = rest.pop(0)
            flag = word.partition("=")[0]
            if flag in self.refused or (word[:2] in self.refused and not word.startswith("--")):
                refused.append(word)
            elif flag in self.harmless or (word[:2] in self.harmless and not word.startswith("--")):
                if word in self.valued and rest:
                    rest.pop(0)
            elif word.startswith("-") or "=" in word:
                flags.append(word)
            else:
                targets.append(word)
        return Arguments(frozenset(flags), tuple(targets), tuple(refused))

    def _name(self, words: Sequence[str]) -> tuple[str, ...]:
        return next(name for name in self.names if tuple(words[: len(name)]) == name)


def find_runner(words: Sequence[str]) -> Runner | None:
    """The runner that a command calls."""
    for runner in RUNNERS:
        if any(tuple(words[: len(name)]) == name for name in runner.names):
            return runner
    return None


def covers_paths(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether a run over these paths runs what is asked for: a directory covers what is in it, none covers all."""
    given = given or roots or (".",)
    if not asked:
        return "." in [normpath(path) for path in given]
    return all(any(_is_in(path, place) for place in given) for path in asked)


def _is_in(path: str, place: str) -> bool:
    path, place = normpath(path), normpath(place)
    if place == "." and not path.startswith(("/", "..")):
        return True
    return path == place or path.startswith((f"{place}/", f"{place}::"))


def covers_packages(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """The same for packages of Go: `./...` covers all below."""
    found = []
    for package in given:
        if package == "./..." or package == "...":
            return all(one.startswith(".") and not one.startswith("..") for one in asked)
        found.append(package.removesuffix("/..."))
    wide = [one for one, package in zip(found, given, strict=True) if package.endswith("/...")]
    return bool(asked) and all(one in given or any(_is_in(one, place) for place in wide) for one in asked)


def covers_targets(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether all targets are made: of `make test`, `make lint test`."""
    return bool(asked) and set(asked) <= set(given)


def covers_all(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether a run without names covers one with names."""
    return not given


def covers_nothing(given: Sequence[str], asked: Sequence[str], roots: Sequence[str]) -> bool:
    """Whether the same names are given in another order."""
    return sorted(given) == sorted(asked)


def words_of(text: str) -> frozenset[str]:
    """A set of words, from a text with spaces between them."""
    return frozenset(text.split())


RUNNERS = (
    Runner(
        (("pytest",), ("py.test",)),
        words_of(
            "-q --quiet -v --verbose -vv -x --exitfirst --maxfail -s --tb --color -n --numprocesses --dist -r -l "
            "--durations --no-header --no-summary -p --cov --cov-report --junitxml --ff --failed-first --nf "
            "--timeout -W"
        ),
        words_of("-n --numprocesses -p --maxfail --durations -W"),
        words_of(
            "-k -m --deselect --ignore --ignore-glob --collect-only --co --lf --last-failed --sw --stepwise -h --help "
            "--version --fixtures --setup-plan --setup-only --noconftest -c --rootdir --pyargs -o --override-ini"
        ),
        covers_paths,
    ),
    Runner(
        (("unittest", "discover"), ("unittest",)),
        words_of("-v --verbose -q --quiet -f --failfast -b --buffer --locals"),
        frozenset(),
        words_of("-k -h --help"),
        covers_all,
    ),
    Runner(
        (("cargo", "test"), ("cargo", "t")),
        words_of("-q --quiet -v --verbose --color --no-fail-fast -j --jobs --message-format --offline --locked"),
        words_of("-j --jobs --color --message-format"),
        words_of("--no-run --lib --bins --bin --doc --test --example --examples --exclude --list --skip -h --help"),
        covers_all,
    ),
    Runner(
        (("go", "test"),),
        words_of("-v -count -failfast -p -parallel -cover -json -timeout"),
        words_of("-p -parallel -timeout"),
        words_of("-run -skip -short -list -c -bench -n -h"),
        covers_packages,
    ),
    Runner(
        (
            ("npm", "test"),
            ("npm", "t"),
            ("npm", "run", "test"),
            ("pnpm", "test"),
            ("pnpm", "run", "test"),
            ("yarn", "test"),
            ("yarn", "run", "test"),
        ),
        words_of("--silent -s"),
        frozenset(),
        words_of("--if-present --dry-run -h --help"),
        covers_nothing,
    ),
    Runner(
        (("vitest", "run"), ("vitest",), ("jest",)),
        words_of(
            "--silent --verbose --color --no-color --ci -i --runInBand --maxWorkers --reporter --reporters "
            "--coverage --run"
        ),
        words_of("--maxWorkers --reporter --reporters"),
        words_of(
            "-t --testNamePattern --changed --onlyChanged -o --passWithNoTests --listTests --watch --watchAll "
            "--testPathIgnorePatterns --exclude -h --help --shard"
        ),
        covers_paths,
    ),
    Runner(
        (("make",), ("gmake",)),
        words_of("-s --silent --quiet -j --jobs -k --keep-going --no-print-directory -w -B --always-make"),
        frozenset(),
        words_of(
            "-n --dry-run --just-print --recon -q --question -t --touch -i --ignore-errors -f --file --makefile -C "
            "--directory -o -W -e --eval -h --help"
        ),
        covers_targets,
    ),
    Runner(
        (("tox",),),
        words_of("-q -v -vv -p --parallel -r --recreate"),
        frozenset(),
        words_of("--notest -l -a -h --help --sdistonly"),
        covers_all,
    ),
    Runner(
        (("nox",),),
        words_of("-v -r -R --reuse-existing-virtualenvs"),
        frozenset(),
        words_of("-l --list --install-only -k -t -h"),
        covers_all,
    ),
    Runner(
        (("ruff", "check"),),
        words_of("-q --quiet --output-format --no-cache -v --verbose --show-files"),
        words_of("--output-format"),
        words_of(
            "--fix --unsafe-fixes --exit-zero -e --select --ignore --extend-ignore --exclude --extend-exclude --config "
            "--add-noqa --statistics --diff -h --watch"
        ),
        covers_paths,
    ),
    Runner(
        (("mypy",),),
        words_of("--pretty --no-color-output --show-error-codes --no-error-summary --no-incremental --cache-dir"),
        words_of("--cache-dir"),
        words_of(
            "--exclude --ignore-missing-imports --follow-imports --config-file -c -m -p --no-site-packages -h --version"
        ),
        covers_paths,
    ),
)
