"""Every check of a release finds what it is there for, in archives that have it, and nothing in good ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from release.archives import Member
from release.checks import CHECKS, LARGEST_WHEEL, notes
from tests.releasing.drafts import INFO, MAN, METADATA, PYPROJECT, TOP, Draft, drop, put, record_of, set_mode

pytestmark = pytest.mark.once

KEY = b"key = 'ghp_" + b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4" + b"'\n"
ADDRESS = b"https://packages.example.org/sim" + b"ple/one/\n"
PEM = b"-----BEGIN PRIVATE KEY" + b"-----\n" + b"QUJD" * 12 + b"\n"
PLUGIN = b'{"name": "punchlist", "version": "1.2.3"}'
SERVER = (
    b'{"name": "io.example/punchlist", "packages": [{"identifier": "punchlist", "version": "1.2.3"},'
    b' {"identifier": "other", "version": "7.0.0"}]}'
)

Break = Callable[[Draft], object]


def _link(path: str, target: bytes) -> Member:
    return Member(path, 0o777, target, "link")


def _wrong_record(draft: Draft) -> None:
    put(draft.wheel, f"{INFO}/RECORD", record_of(draft.wheel))
    put(draft.wheel, "punchlist/prompts/plan.md", b"Other.\n")


def _half_a_record(draft: Draft) -> None:
    put(draft.wheel, f"{INFO}/RECORD", record_of(draft.wheel[1:]))


def _record_of_more(draft: Draft) -> None:
    put(draft.wheel, f"{INFO}/RECORD", record_of([*draft.wheel, Member("punchlist/gone.py", 0o644, b"")]))


def _without_extras(draft: Draft) -> None:
    draft.in_all("pyproject.toml", PYPROJECT.partition(b"\n[project.optional")[0])


# The name of a check, a release that must not pass it, and a part of what is said about it.
BROKEN: list[tuple[str, Break, str]] = [
    ("file names", lambda d: setattr(d, "wheel_name", "punchlist-1.2.2-py3-none-any.whl"), "must be named"),
    ("file names", lambda d: setattr(d, "sdist_name", "punchlist.tar.gz"), "must be named"),
    ("file names", lambda d: put(d.sdist, "setup.py", b""), f"setup.py must be in {TOP}/"),
    ("metadata", lambda d: drop(d.wheel, f"{INFO}/METADATA"), "is not in the wheel"),
    ("metadata", lambda d: d.metadata(b"Requires-Python: >=3.11", b"Requires-Python: three"), "not valid"),
    ("metadata", lambda d: d.metadata(b"MIT", b"Mine"), "not valid"),
    ("metadata", lambda d: d.metadata(b"Name: punchlist", b"Name: punch-list"), "Name is 'punch-list'"),
    ("metadata", lambda d: d.metadata(b"Version: 1.2.3", b"Version: 1.2.2"), "Version is '1.2.2', must be '1.2.3'"),
    ("metadata", lambda d: d.metadata(b">=3.11\n", b">=3.8\n"), "Requires-Python is '>=3.8'"),
    ("metadata", lambda d: d.metadata(b"text/markdown", b"text/plain"), "must be 'text/markdown'"),
    ("metadata", lambda d: d.metadata(b"Keywords: agent,plan\n", b""), "Keywords is None"),
    ("metadata", lambda d: d.metadata(b"A plan.", b"A " + b"long " * 120 + b"plan."), "at most 512"),
    ("metadata", lambda d: d.metadata(b"Provides-Extra: postgres\n", b"Provides-Extra: pg\n"), "the extras are"),
    ("metadata", _without_extras, "the extras are"),
    ("metadata", lambda d: d.metadata(b"; extra == 'postgres'", b""), "depends on 'psycopg>=3.2'"),
    ("metadata", lambda d: d.metadata(b"Typing :: Typed", b"Typing :: Loose"), "not a classifier"),
    (
        "metadata",
        lambda d: d.metadata(b"Typing :: Typed", b"License :: OSI Approved :: MIT License"),
        "keep the expression",
    ),
    ("metadata", lambda d: d.metadata(b"Python :: 3.11", b"Python :: 3"), "versions of Python"),
    ("metadata", lambda d: put(d.sdist, f"{TOP}/PKG-INFO", METADATA + b"More.\n"), "PKG-INFO"),
    (
        "versions in manifests",
        lambda d: d.in_all("plugin.json", PLUGIN.replace(b"3", b"2")),
        "'1.2.2', must have '1.2.3'",
    ),
    (
        "versions in manifests",
        lambda d: d.in_all("package.json", b'{"name": "punchlist-opencode", "version": "1.2.2"}'),
        "package.json has the version '1.2.2'",
    ),
    ("versions in manifests", lambda d: d.in_all("server.json", SERVER.replace(b"3", b"2")), "server.json has"),
    ("license", lambda d: d.metadata(b"Expression: MIT", b"Expression: ISC"), "must be 'MIT'"),
    ("license", lambda d: d.metadata(b"License-File: LICENSE\n", b""), "must name the file"),
    ("license", lambda d: drop(d.wheel, f"{INFO}/licenses/LICENSE"), "of the wheel"),
    ("license", lambda d: put(d.sdist, f"{TOP}/LICENSE", b"Other\n"), "of the source archive"),
    ("command", lambda d: put(d.wheel, f"{INFO}/entry_points.txt", b"[console_scripts]\n"), "must have the command"),
    ("readme on PyPI", lambda d: d.metadata(b"https://example.org/page", b"docs/install.md"), "leads nowhere"),
    ("readme on PyPI", lambda d: d.metadata(b"Text", b"![A plan](docs/plan.svg)"), "docs/plan.svg leads nowhere"),
    ("readme on PyPI", lambda d: d.metadata(b"Text", b'<img src="docs/plan.svg">'), "docs/plan.svg leads nowhere"),
    ("readme on PyPI", lambda d: d.metadata(b"\n## Below", b"<div>\n## Below"), "1 headings"),
    ("readme on PyPI", lambda d: d.metadata(METADATA.partition(b"\n\n")[2], b""), "is empty"),
    ("files of the wheel", lambda d: drop(d.wheel, "punchlist/prompts/plan.md"), "plan.md is not in the wheel"),
    ("files of the wheel", lambda d: put(d.wheel, "punchlist/notes.txt", b""), "git does not know it"),
    ("files of the wheel", lambda d: put(d.wheel, "punchlist/__init__.py", b""), "not what was committed"),
    ("files of the wheel", lambda d: put(d.wheel, "other/__init__.py", b""), "git does not know it"),
    ("files of the wheel", lambda d: drop(d.wheel, MAN), "man1/punchlist.1 is not in the wheel"),
    ("files of the wheel", lambda d: put(d.wheel, MAN, b"old"), "man1/punchlist.1 in the wheel is not what"),
    ("files of the wheel", lambda d: drop(d.wheel, f"{INFO}/WHEEL"), "WHEEL is not in the wheel"),
    ("typed marker", lambda d: drop(d.wheel, "punchlist/py.typed"), "py.typed is not in the wheel"),
    ("typed marker", lambda d: d.metadata(b"Classifier: Typing :: Typed\n", b""), "'Typing :: Typed' is missing"),
    ("files of the source archive", lambda d: drop(d.sdist, f"{TOP}/run"), "run is not in the source archive"),
    ("files of the source archive", lambda d: put(d.sdist, f"{TOP}/.env", b""), ".env is in the source archive"),
    ("files of the source archive", lambda d: put(d.sdist, f"{TOP}/run", b""), "not what was committed"),
    ("files of the source archive", lambda d: d.tracked.append(_link("x", b"run")), "x is not in the source archive"),
    ("modes", lambda d: set_mode(d.wheel, "punchlist/__init__.py", 0o755), "has the mode 0755, must have 0644"),
    ("modes", lambda d: set_mode(d.wheel, "punchlist/__init__.py", 0o664), "has the mode 0664"),
    ("modes", lambda d: set_mode(d.wheel, "punchlist/__init__.py", 0o600), "has the mode 0600"),
    ("modes", lambda d: set_mode(d.sdist, f"{TOP}/run", 0o4755), "has the mode 4755, must have 0755"),
    ("modes", lambda d: set_mode(d.sdist, f"{TOP}/run", 0o644), "has the mode 0644, must have 0755"),
    ("modes", lambda d: set_mode(d.sdist, f"{TOP}/LICENSE", 0o666), "has the mode 0666"),
    ("modes", lambda d: d.sdist.append(Member(f"{TOP}/empty", 0o777, b"", "folder")), "has the mode 0777"),
    ("paths", lambda d: put(d.wheel, "/etc/punchlist.conf", b""), "is not a relative path"),
    ("paths", lambda d: put(d.wheel, "punchlist\\plan.py", b""), "is not a relative path"),
    ("paths", lambda d: put(d.sdist, f"{TOP}/../../.profile", b""), "leaves its folder"),
    ("paths", lambda d: d.wheel.append(_link("punchlist/key", b"../../key")), "is a link"),
    ("paths", lambda d: d.sdist.append(_link(f"{TOP}/key", b"../../key")), "is a link that leaves its folder"),
    ("paths", lambda d: d.sdist.append(_link(f"{TOP}/docs/key", b"/etc/key")), "is a link that leaves its folder"),
    ("paths", lambda d: d.sdist.append(_link(f"{TOP}/docs/all", b"..")), "is a link that leaves its folder"),
    ("paths", lambda d: d.sdist.append(Member(f"{TOP}/pipe", 0o644, b"", "device")), "is a device"),
    ("paths", lambda d: put(d.wheel, "punchlist/PY.typed", b""), "is there twice"),
    ("RECORD", _wrong_record, "a wrong hash or size of punchlist/prompts/plan.md"),
    ("RECORD", _half_a_record, "does not list punchlist/__init__.py"),
    ("RECORD", _record_of_more, "lists punchlist/gone.py"),
    ("same wheel from the source archive", lambda d: put(d.rebuilt, "punchlist/x.md", b""), "x.md differs"),
    ("same wheel from the source archive", lambda d: drop(d.rebuilt, "punchlist/py.typed"), "py.typed differs"),
    ("built twice, same bytes", lambda d: setattr(d, "changing", ("punchlist.whl",)), "has other bytes"),
    ("size", lambda d: put(d.wheel, "punchlist/data", bytes(LARGEST_WHEEL)), "find what is in it"),
    ("no registry", lambda d: d.in_all("docs/x.md", ADDRESS), "docs/x.md has"),
    ("no registry", lambda d: d.in_all("src/punchlist/x.md", ADDRESS), "py3-none-any.whl: punchlist/x.md has"),
    ("no registry", lambda d: d.in_all("a.txt", b"--index" + b"-url x\n"), "a.txt has"),
    ("no place of one machine", lambda d: d.in_all("docs/x.md", b"see /ho" + b"me/bob/x\n"), "a place on one"),
    ("no place of one machine", lambda d: d.in_all("src/punchlist/x.py", b"'/ro" + b"ot/x'\n"), "a place on one"),
    ("no place of one machine", lambda d: d.in_all("src/punchlist/x.py", b"'/t" + b"mp/abc'\n"), "a place on one"),
    ("no place of one machine", lambda d: d.in_all("tests/x", b"/mnt/disk/someone/x"), "has the path of your home"),
    ("no secret", lambda d: d.in_all("src/punchlist/x.py", KEY), "looks like a key: ghp_a1B2..."),
    ("no secret", lambda d: d.in_all("docs/x.md", PEM), "has a private key"),
    ("locks", lambda d: d.in_all("requirements-x.txt", b"--pre\n"), "has the option '--pre'"),
    ("locks", lambda d: d.in_all("requirements-x.txt", b"one>=1.0\n"), "one>=1.0 has no version or no hash"),
    ("locks", lambda d: d.in_all("requirements-x.txt", b"one==1.0\n"), "one==1.0 has no version or no hash"),
]


def _problems(check: str, draft: Draft) -> list[str]:
    if check == "readme on PyPI":
        pytest.importorskip("readme_renderer", reason="installed by make release-check")
    return CHECKS[check](draft.release())


@pytest.mark.parametrize("check", CHECKS)
def test_a_good_release_passes(check: str) -> None:
    assert _problems(check, Draft()) == []


@pytest.mark.parametrize(
    ("check", "break_it", "said"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_release_with_a_defect_does_not_pass(check: str, break_it: Break, said: str) -> None:
    draft = Draft()
    break_it(draft)
    problems = _problems(check, draft)
    assert [problem for problem in problems if said in problem], problems


def test_there_is_a_defect_for_every_check() -> None:
    assert {check for check, _, _ in BROKEN} == CHECKS.keys()


def test_what_pages_and_tests_may_show_is_not_a_problem() -> None:
    draft = Draft()
    draft.in_all("docs/x.md", b"/ho" + b"me/you/project and ~/.config, ghp_short, my.own.module.path_of_it\n")
    draft.in_all("tests/x.py", KEY)
    draft.in_all("plugin.json", PLUGIN)
    draft.in_all("server.json", SERVER)
    draft.tracked.append(_link("docs/license", b"../LICENSE"))
    draft.sdist.append(_link(f"{TOP}/docs/license", b"../LICENSE"))
    draft.in_all("comments.json", b"// not JSON")
    for check in set(CHECKS) - {"readme on PyPI"}:
        assert _problems(check, draft) == []


def test_a_package_without_the_address_of_its_source_is_noted() -> None:
    draft = Draft()
    assert len(notes(draft.release())) == 1
    draft.metadata(b"Keywords:", b"Project-URL: Source, https://example.org/punchlist\nKeywords:")
    assert notes(draft.release()) == []
