"""Which files count: the scope of a check, tests and build files, caches, our own files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from posixpath import normpath

# Left behind by tools that everybody uses; they do not count, also where no .gitignore says so. Tracked, they count.
CACHES = (
    *("__pycache__", "*.py[cod]", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".pytype", ".pyre"),
    *(
        ".coverage",
        ".coverage.*",
        "htmlcov",
        ".tox",
        ".nox",
        ".venv",
        "venv",
        ".eggs",
        "*.egg-info",
        ".ipynb_checkpoints",
    ),
    *("node_modules", ".nyc_output", ".parcel-cache", ".turbo", ".next", ".nuxt", ".svelte-kit", "*.tsbuildinfo"),
    *(".eslintcache", ".stylelintcache", ".gradle", ".terraform", ".cache", ".sass-cache"),
    *(".DS_Store", "Thumbs.db", "*.swp", "*.swo", "*~", ".#*"),
)
# What decides whether a check passes, beside the code: "tests changed" is said if one of these did.
TESTS = (
    *("test/", "tests/", "__tests__/", "spec/", "e2e/", "testdata/", "__snapshots__/"),
    *("test_*.py", "*_test.py", "conftest.py", "*_test.go", "*.test.*", "*.spec.*", "*_spec.rb", "*_test.rb"),
    *("*Test.java", "*Tests.java", "*Test.kt", "*Tests.cs", "*_test.exs", "*_test.dart", "*Test.php", "*Tests.swift"),
    *("Makefile", "makefile", "GNUmakefile", "*.mk", "justfile", "Justfile", "Taskfile.y*ml", "CMakeLists.txt"),
    *("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", ".pytest.ini", "noxfile.py", ".coveragerc"),
    *("mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml", ".flake8", "pyrightconfig.json", "requirements*.txt"),
    *("package.json", "tsconfig*.json", "vitest.*", "vite.config.*", "jest.config.*", "playwright.config.*"),
    *(
        "babel.config.*",
        ".eslintrc*",
        "eslint.config.*",
        "biome.json*",
        ".mocharc*",
        "karma.conf.*",
        "cypress.config.*",
    ),
    *("Cargo.toml", "rust-toolchain*", "clippy.toml", "go.mod", "go.work", ".golangci.*", "Gemfile", "Rakefile"),
    *(".rspec", "pom.xml", "build.gradle*", "settings.gradle*", "*.csproj", "*.sln", "mix.exs", "composer.json"),
    *("phpunit.xml*", "deno.json*", "bunfig.toml", ".pre-commit-config.yaml", ".github/workflows/", ".gitlab-ci.yml"),
)
# Code, and what says how it is built: somebody wrote it. A run makes such files only in folders for what is built.
SOURCES = (
    *("*.py", "*.pyi", "*.js", "*.mjs", "*.cjs", "*.jsx", "*.ts", "*.tsx", "*.vue", "*.svelte", "*.go", "*.rs"),
    *("*.c", "*.h", "*.cc", "*.cpp", "*.cxx", "*.hpp", "*.hh", "*.m", "*.mm", "*.java", "*.kt", "*.kts", "*.scala"),
    *("*.cs", "*.fs", "*.rb", "*.php", "*.swift", "*.ex", "*.exs", "*.erl", "*.hs", "*.ml", "*.mli", "*.clj", "*.dart"),
    *("*.lua", "*.pl", "*.pm", "*.r", "*.R", "*.jl", "*.zig", "*.nim", "*.sh", "*.bash", "*.zsh", "*.ps1", "*.sql"),
    *("*.proto", "*.graphql", "*.tf", "*.nix"),
    *(name for name in TESTS if not name.endswith("/")),
)
BUILT = ("dist/", "build/", "out/", "target/", "bin/", "obj/", "coverage/", "gen/", "generated/")
_GLOBS = 200
_END = r"(?:/|\Z)"
_BESIDE = ("", "-wal", "-shm", "-journal", ".lock")  # what SQLite and we keep beside a file


def in_scope(globs: Iterable[str], folder: str) -> Callable[[str], bool]:
    """
    A test for paths: do the globs name it? Without globs everything counts.

    They are read as in a `.gitignore`, from `folder` (a path from the top of the project, "" for the top itself):
    `*.py` is any such file below it, `src/*.py` one directly in `src`, `src/**` or `src/` or `src` everything in it,
    `**/api/*.ts` at any depth, `../lib/` beside it; `[ab]`, `?` and `{ts,tsx}` work. There is no `!`.
    """
    if isinstance(globs, str):
        globs = (globs,)
    return _compiled(tuple(globs), folder.strip("/"))


@lru_cache(64)
def _compiled(globs: tuple[str, ...], folder: str) -> Callable[[str], bool]:
    patterns = [pattern for glob in globs for pattern in _braces(glob.strip()) if pattern]
    if not patterns:
        return bool
    named = [pattern for pattern in patterns if "/" not in pattern.rstrip("/") and pattern.strip("/.")]
    is_placed = _matcher([_placed(pattern, folder) for pattern in patterns if pattern not in named])
    is_folder = _matcher([_component(pattern.rstrip("/")) + r"\Z" for pattern in named])
    is_file = _matcher([_component(pattern) + r"\Z" for pattern in named if not pattern.endswith("/")])

    @lru_cache(4096)  # most files share a folder with others
    def in_folder(path: str) -> bool | None:
        """Whether everything in a folder counts; None if the names of its files are not asked for."""
        if is_placed(path + "/"):
            return True
        if folder and not f"{path}/".startswith(f"{folder}/"):
            return None
        return any(map(is_folder, path[len(folder) :].split("/")))

    def counts(path: str) -> bool:
        start, _, name = path.rpartition("/")
        found = in_folder(start)
        if found is None:
            return is_placed(path)
        return found or is_file(name) or is_placed(path)

    return counts


def _matcher(expressions: list[str]) -> Callable[[str], bool]:
    if not expressions:
        return lambda path: False
    match = re.compile("|".join(f"(?:{each})" for each in expressions), re.DOTALL).match
    return lambda path: match(path) is not None


def _braces(glob: str) -> list[str]:
    """`a.{b,c}` as `a.b` and `a.c`. What would be very many globs is a glob for everything."""
    waiting = [glob]
    done: list[str] = []
    while waiting:
        if len(waiting) + len(done) > _GLOBS:
            return ["**"]
        first = waiting.pop()
        inner = re.search(r"\{([^{}]*,[^{}]*)\}", first)
        if inner is None:
            done.append(first)
        else:
            before, after = first[: inner.start()], first[inner.end() :]
            waiting.extend(before + part + after for part in inner.group(1).split(","))
    return done


def _placed(pattern: str, folder: str) -> str:
    """A regular expression for a glob with a place: it matches the start of a path, up to a slash or its end."""
    here = re.sub(r"([*?[])", r"[\1]", folder)
    place = normpath(f"/{here}/{pattern.strip('/')}").strip("/")
    body = _translated(place or "**")
    if pattern.endswith("/") and place:
        return body + "/"
    return body + _END


def _translated(pattern: str) -> str:
    """
    A glob as a regular expression. What follows a `**` is found at the first place where it can be and never looked for
    again (`(?>...)`), which is enough for globs: a hostile one takes no longer than another.
    """
    first, *others = _runs(pattern.split("/"))
    found = "/".join(map(_component, first))
    for run in others:
        if found:
            found += "/"
        if run:
            found += f"(?>(?:[^/]+/)*?{'/'.join(map(_component, run))}(?={_END}))"
        else:
            found += "[^/]+"
    return found


def _runs(parts: list[str]) -> list[list[str]]:
    """The names of a glob, apart where it has `**`; the last run is empty if it ends so."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part != "**":
            runs[-1].append(part)
        elif len(runs) == 1 or runs[-1]:
            runs.append([])
    return runs


def _component(glob: str) -> str:
    """The same for one name, in which `*` and `?` stand for anything."""
    pieces = [""]
    for token in re.findall(r"\*+|\?|\[!?\]?[^\]]*\]|.", glob, re.DOTALL):
        if token[0] == "*":
            pieces.append("")
        else:
            pieces[-1] += _letter(token)
    first, *others = pieces
    if not others:
        return first
    between = "".join([f"(?>[^/]*?{piece})" for piece in others[:-1] if piece])
    return f"{first}{between}[^/]*{others[-1]}"


def _letter(token: str) -> str:
    if token == "?":
        return "[^/]"
    if len(token) == 1 or "--" in token:
        return re.escape(token)
    letters = "-".join(map(re.escape, token[1:-1].split("-")))
    if letters.startswith("!"):
        letters = "^/" + letters[1:]
    try:
        re.compile(f"[{letters}]")
    except re.error:
        return re.escape(token)
    return f"[{letters}]"


def is_test(path: str) -> bool:
    """Whether a file is a test, or says how the project is built and checked."""
    return in_scope(TESTS, "")(path)


def is_source(path: str) -> bool:
    """Whether a file is code, or says how the project is built, and is not in a folder for what is built."""
    return in_scope(SOURCES, "")(path) and not in_scope(BUILT, "")(path)


def is_cache(path: str) -> bool:
    """Whether a file was left behind by a well-known tool."""
    return in_scope(CACHES, "")(path)


def own_places(top: str, own: Iterable[str]) -> tuple[str, ...]:
    """Where in a project files of Punchlist are. `own` are absolute paths: the store, the state folder."""
    return tuple(filter(None, (below(top, path) for path in own)))


def ours(paths: Collection[str], places: Iterable[str]) -> set[str]:
    """The paths of files of Punchlist: those at these places, and everything that is called `.punchlist...`."""
    found = {path for path in paths if ".punchlist" in path and "/.punchlist" in f"/{path}"}
    names = {place + suffix for place in places for suffix in _BESIDE}
    folders = tuple(name + "/" for name in names)
    if names:
        found.update(names.intersection(paths))
        found.update(path for path in paths if path.startswith(folders))
    return found


def below(top: str, path: str) -> str:
    """A path from the top of a project, with `/`: "" for the top itself, or if it is somewhere else."""
    if not path:
        return ""
    try:
        near = os.path.relpath(os.path.realpath(path), top)
    except ValueError:  # on another drive
        return ""
    near = near.replace(os.sep, "/")
    if near == "." or near == ".." or near.startswith("../"):
        return ""
    return near
