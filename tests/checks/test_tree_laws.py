"""Laws of the fingerprint, over generated histories of a real repository."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from punchlist.checks import tree
from tests.checks.projects import Project, make_project
from tests.core.plans import often

pytestmark = pytest.mark.once  # what git does

PATHS = ["src/a.py", "src/b.py", "src/deep/c.py", "docs/d.md", "e"]
SCOPE = "src/"
TEXTS = ["", "one\n", "two\n", "a = 1\n", "\r\n", "\0"]

writes = st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(TEXTS))
removals = st.tuples(st.just("remove"), st.sampled_from(PATHS), st.just(""))
commands = ["commit", "amend", "add", "stash", "reset", "assume", "no-assume", "gone from the index", "touch"]
others = st.tuples(st.sampled_from(commands), st.sampled_from(PATHS), st.just(""))
histories = st.lists(st.one_of(writes, writes, removals, others), min_size=1, max_size=8)

Step = tuple[str, str, str]
slowly = settings(often(40), suppress_health_check=[HealthCheck.too_slow])
TEMPLATES: list[Path] = []


@pytest.fixture(scope="module", autouse=True)
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A repository that each history gets a copy of."""
    TEMPLATES.append(make_project(tmp_path_factory.mktemp("template") / "project").top)
    yield
    TEMPLATES.clear()


def _do(project: Project, step: Step) -> None:
    what, path, text = step
    full = project.top / path
    if what == "write":
        project.write(path, text)
    elif what == "remove":
        full.unlink(missing_ok=True)
    elif what == "touch" and full.exists():
        full.touch()
    else:
        _run(project, what, path)


def _run(project: Project, what: str, path: str) -> None:
    words = {
        "add": [["add", "--all"]],
        "amend": [["commit", "--quiet", "--amend", "--message", "again"]],
        "stash": [["stash", "--include-untracked"], ["stash", "pop"]],
        "reset": [["reset", "--quiet"]],
        "assume": [["update-index", "--assume-unchanged", path]],
        "no-assume": [["update-index", "--no-assume-unchanged", path]],
        "gone from the index": [["rm", "--quiet", "--cached", path]],
        "commit": [["add", "--all"], ["commit", "--quiet", "--message", "next"]],
    }
    for command in words.get(what, []):
        project.git(*command, fails=True)


def _contents(project: Project, start: str = "") -> dict[str, bytes]:
    """What is on the disk, by the simplest means there are."""
    found = [path for path in sorted(project.top.rglob("*")) if path.is_file()]
    named = {path.relative_to(project.top).as_posix(): path.read_bytes() for path in found}
    return {path: data for path, data in named.items() if path.startswith(start) and not path.startswith(".git/")}


@slowly
@given(histories)
def test_the_fingerprint_is_the_same_exactly_if_the_contents_are(history: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(shutil.copytree(TEMPLATES[0], Path(folder) / "project"))
        seen: list[tuple[dict[str, bytes], str, dict[str, bytes], str, dict[str, object]]] = []
        for step in history:
            _do(project, step)
            files = project.look()
            scoped = tree.fingerprint(files, [SCOPE])
            inside = _contents(project, SCOPE)
            seen.append((_contents(project), tree.fingerprint(files), inside, scoped, tree.digest_row(files)))
            assert set(files.blobs) == set(_contents(project))
        for contents, whole, inside, scoped, row in seen:
            assert (contents == seen[-1][0]) == (whole == seen[-1][1])
            assert (inside == seen[-1][2]) == (scoped == seen[-1][3])
            expected = _differences(contents, seen[-1][0])
            count = tree.changed_since(files, row["base"], row["dirty"])  # type: ignore[arg-type]
            assert count == expected


@slowly
@given(st.lists(st.one_of(writes, removals), min_size=1, max_size=8))
def test_the_same_holds_without_git(history: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder) / "plain")
        seen = []
        for step in history:
            _do(project, step)
            seen.append((_contents(project), project.print(), tree.digest_row(project.look())))
        for contents, whole, row in seen:
            assert (contents == seen[-1][0]) == (whole == seen[-1][1])
            count = tree.changed_since(project.look(), row["base"], row["dirty"])  # type: ignore[arg-type]
            assert count == _differences(contents, seen[-1][0])


def _differences(one: dict[str, bytes], other: dict[str, bytes]) -> int:
    return sum(one.get(path) != other.get(path) for path in {*one, *other})
