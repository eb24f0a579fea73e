"""The globs of a scope, and the tables of tests and caches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.checks.scope import below, in_scope, is_cache, is_test

# glob, folder, paths that it names, paths that it does not
CASES = [
    ("*.py", "", "a.py src/a.py src/deep/a.py", "a.pyc src/a.txt py"),
    ("src/*.py", "", "src/a.py", "src/deep/a.py a.py lib/src/a.py"),
    ("src/**", "", "src/a.py src/deep/a.py", "src srcs/a.py lib/src/a.py"),
    ("src/", "", "src/a.py src/deep/a.py lib/src/a.py", "src srcs/a.py"),
    ("/src/", "", "src/a.py", "lib/src/a.py src"),
    ("./src/", "", "src/a.py", "lib/src/a.py src"),
    ("src", "", "src/a.py src lib/src/a.py", "srcs"),
    ("src/api", "", "src/api src/api/a.ts", "src/api.ts lib/src/api"),
    ("**/api/*.ts", "", "api/a.ts src/api/a.ts a/b/api/c.ts", "src/api/deep/a.ts api.ts"),
    ("src/**/test_*.py", "", "src/test_a.py src/x/y/test_a.py", "test_a.py src/a_test_.py"),
    ("**", "", "a src/a", ""),
    (".", "", "a src/a", ""),
    (".", "src", "src/a src/b/c", "a lib/a srcs"),
    ("./", "src", "src/a", "a"),
    ("*.py", "src", "src/a.py src/x/a.py", "a.py lib/src/a.py"),
    ("api/*.py", "src", "src/api/a.py", "api/a.py"),
    ("../lib/", "src", "lib/a.py", "src/lib/a.py"),
    ("../*.md", "src", "README.md", "src/README.md docs/a.md"),
    ("../../../etc/**", "src", "etc/passwd", "src/a"),
    ("a?.py", "", "ab.py x/ac.py", "a.py abc.py"),
    ("[ab].py", "", "a.py b.py", "c.py ab.py"),
    ("[!ab].py", "", "c.py", "a.py b.py"),
    ("src/[!a]b", "", "src/xb", "src/ab src//b"),
    ("[^a].py", "", "^.py", "b.py"),
    ("[z-a].py", "", "[z-a].py", "b.py"),
    ("x/*.py", "s[1]*", "s[1]*/x/a.py", "s1/x/a.py s[1]b/x/a.py"),
    ("[a-c]-[0-9].py", "", "b-5.py", "d-5.py a5.py"),
    ("[--].py", "", "[--].py", "-.py"),
    ("a/**/b/**/c", "", "a/b/c a/x/b/y/z/c/d a/b/b/c", "a/c a/b/xc b/c"),
    ("src/**/", "", "src/a/b", "src/a"),
    ("**/**/x", "", "x a/x", "ax"),
    ("*a*b*", "", "ab xaybz a/ab", "ba"),
    ("[.py", "", "[.py", "a.py"),
    ("*.{ts,tsx}", "", "a.ts src/b.tsx", "a.js a.ts,tsx"),
    ("src/{a,b}/*.{c,h}", "", "src/a/x.c src/b/y.h", "src/c/x.c"),
    ("{a}.py", "", "{a}.py", "a.py"),
    ("a+b(c).py", "", "a+b(c).py", "aab(c).py aabc.py"),
    ("!src/**", "", "!src/a", "src/a a"),
    ("  *.py  ", "", "a.py", "a.txt"),
    ("two\nlines", "", "two\nlines", "two"),
]


@pytest.mark.parametrize(("glob", "folder", "named", "others"), CASES, ids=[repr(case[:2]) for case in CASES])
def test_a_glob_names_what_common_sense_expects(glob: str, folder: str, named: str, others: str) -> None:
    counts = in_scope([glob], folder)
    paths = [named] if "\n" in named else named.split()
    assert [path for path in paths if not counts(path)] == []
    assert [path for path in others.split() if counts(path)] == []


def test_a_scope_that_is_one_text_is_one_glob() -> None:
    assert in_scope("*.py", "")("a.py")
    assert not in_scope("*.py", "")("p")


def test_without_globs_everything_counts_and_several_are_added_up() -> None:
    assert in_scope([], "src")("anything")
    assert in_scope(["", " "], "src")("anything")
    both = in_scope(["*.py", "docs/"], "")
    assert both("a.py")
    assert both("docs/a.md")
    assert not both("a.md")


@given(st.lists(st.text(max_size=12), max_size=4), st.text("ab/.", max_size=6), st.text(min_size=1, max_size=12))
def test_no_glob_breaks_it(globs: list[str], folder: str, path: str) -> None:
    assert in_scope(globs, folder)(path) in (True, False)


def test_a_glob_that_could_take_long_does_not() -> None:
    counts = in_scope(["**/" * 12 + "*a*a*a*b", "**/a*/" * 12 + "b", "*a" * 30 + "b"], "")
    assert not counts("a/" * 15 + "a" * 200)


def test_more_globs_than_anybody_writes_name_everything() -> None:
    assert in_scope(["{a,b}" * 40], "")("anything")


TESTS = """
    tests/a.py test/x src/tests/data.json test_a.py a/conftest.py pkg/x_test.go web/a.test.ts web/a.spec.js Makefile
    pyproject.toml package.json sub/package.json tox.ini pytest.ini setup.cfg Cargo.toml go.mod noxfile.py
    vitest.config.ts jest.config.js .github/workflows/ci.yml tsconfig.build.json requirements-dev.txt
"""
OTHERS = (
    "src/a.py README.md testing.py contest.py latest.go attest/a.py docs/spec.md package.json.md .github/CODEOWNERS"
)


@pytest.mark.parametrize("path", TESTS.split())
def test_tests_and_build_files_are_known(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize("path", OTHERS.split())
def test_other_files_are_not_taken_for_tests(path: str) -> None:
    assert not is_test(path)


def test_caches_are_known_at_any_depth() -> None:
    paths = (
        "a/__pycache__/b.pyc x.pyc .coverage .coverage.host.1 web/node_modules/a/b .venv/x a/.DS_Store pkg.egg-info/x"
    )
    assert [path for path in paths.split() if not is_cache(path)] == []
    assert [path for path in ["cache.py", "coverage.py", "node.js", "environment/x"] if is_cache(path)] == []


def test_a_path_elsewhere_is_not_below() -> None:
    assert below("/a/b", "/a/b/c/d") == "c/d"
    assert [below("/a/b", path) for path in ("/a/b", "/a", "/a/bc", "/x", "", "/a/b/..c/../..")] == [""] * 6
    assert below("/a/b", "/a/b/..c") == "..c"
