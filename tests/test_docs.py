"""The documentation: it names everything there is, its links lead somewhere, and what it shows is what happens.

Blocks fenced `sh` run in order, in one new directory for each page; `python` blocks are programs; `json` blocks are
documents; a `text` block right behind one of them is what it prints, where `...` stands for any lines.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import punchlist
from punchlist.cli.parser import parse
from punchlist.cli.table import COMMANDS
from punchlist.dialects import PATHS as DIALECTS
from punchlist.dialects import load
from punchlist.dialects.formats import PATHS as FORMATS
from punchlist.hosts import HOSTS
from punchlist.local.settings import ABOUT
from punchlist.stores import PATHS as STORES

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
PROMPTS = Path(punchlist.__file__).parent / "prompts"
HERE = "/home/you/project"  # how the pages write the directory that their examples run in
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


class Block(NamedTuple):
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    shown: str | None  # what stands right behind it as its output


def _blocks(page: Path) -> list[Block]:
    found = list(re.finditer(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M))
    text = page.read_text(encoding="utf-8")
    blocks = []
    for one, following in zip(found, [*found[1:], None], strict=False):
        is_output = following and following[1] == "text" and not text[one.end() : following.start()].strip()
        shown = following[2] if following and is_output else None
        line = text[: one.start()].count("\n") + 1
        blocks.append(Block(page.relative_to(ROOT).as_posix(), line, one[1], one[2], shown))
    return blocks


@cache
def _code() -> str:
    """Everything that the pages set as code."""
    parts = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        parts += [block.text for block in _blocks(page)]
        parts += re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M))
    return "\n".join(parts)


def _is_named(name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", _code()) is not None


def _all(language: str) -> Iterator[Block]:
    return (block for page in PAGES for block in _blocks(page) if block.language == language)


def _runnable(language: str) -> list[object]:
    """The blocks of the pages; those of frameworks are run where these are installed, by `make frameworks`."""
    found = [block for block in _all(language) if not block.page.startswith("docs/frameworks/")]
    return [pytest.param(block, id=f"{block.page}:{block.line}") for block in found]


def _run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONIOENCODING": "utf-8"}
    env.pop("XDG_CONFIG_HOME")  # settings are where they are for most, in a home of its own
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, encoding="utf-8", check=False)


def _matches(shown: str, printed: str) -> bool:
    """Whether this is what was printed; a line of three dots stands for any lines."""
    lines = _comparable(shown).splitlines()
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in lines)
    return re.fullmatch(pattern, _comparable(printed).rstrip("\n") + "\n") is not None


def _comparable(text: str) -> str:
    """A text with the same id for every plan, and the same time for every change."""
    text = re.sub(r"\bplan [a-z2-9]{8}\b", "plan ID", text)
    return re.sub(r"(?:just now|\d+(?:s| min) ago) +", "just now  ", text)


# --- everything is named ---------------------------------------------------------------------------------------------


def test_the_pages_are_there() -> None:
    names = {page.name for page in PAGES}
    assert names >= {"README.md", "cli.md", "dialects.md", "stores.md", "settings.md", "python.md", "architecture.md"}


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("command", [f"punchlist {name}" for name in COMMANDS]),
        ("dialect", list(DIALECTS)),
        ("tool", [tool.name for name in DIALECTS for tool in load(name).tools]),
        ("store", [f"{name}:" for name in STORES]),
        ("setting", list(ABOUT)),
        ("variable", [f"PUNCHLIST_{name.upper()}" for name in (*ABOUT, "plan", "session", "agent")]),
        ("format", list(FORMATS)),
        ("host", list(HOSTS)),
        ("agent", [f"punchlist install {name}" for name in HOSTS]),
        ("public name", list(punchlist.__all__)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_everything_there_is_is_documented(kind: str, names: list[str]) -> None:
    assert names
    assert [name for name in names if not _is_named(name.rstrip(":"))] == []


def test_generated_parts_are_what_the_program_says_now() -> None:
    done = _run(sys.executable, str(ROOT / "docs" / "reference.py"), "--check", cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_man_page_names_every_command_and_is_installed_with_the_package() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (page,) = data["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f".B punchlist {name} " not in text] == []


# --- links -----------------------------------------------------------------------------------------------------------


def _links(page: Path) -> list[str]:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in link and "mailto:" not in link]


def _anchors(page: Path) -> set[str]:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    headings = re.findall(r"^#+ (.+)$", prose, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading_that_exist(page: Path) -> None:
    lost = []
    for link in _links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            lost.append(link)
    assert lost == []


def test_the_readme_links_to_every_page() -> None:
    linked = {link.partition("#")[0] for link in _links(ROOT / "README.md")}
    assert {page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")} <= linked


def test_every_agent_that_can_be_attached_has_a_page() -> None:
    assert {page.stem for page in (ROOT / "docs" / "agents").glob("*.md")} == set(HOSTS)


# --- examples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", _runnable("python"))
def test_a_program_of_the_documentation_runs_and_prints_what_is_shown(block: Block, tmp_path: Path) -> None:
    done = _run(sys.executable, "-W", "error", "-c", block.text, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    if block.shown is not None:
        assert _matches(block.shown, done.stdout), done.stdout


PAGES_WITH_COMMANDS = [page for page in PAGES if any(block.language == "sh" for block in _blocks(page))]


@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=lambda page: page.name)
def test_the_commands_of_a_page_run_in_order_and_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    blocks = [block for block in _blocks(page) if block.language == "sh"]
    folder = tmp_path / "project"
    folder.mkdir()
    mark = "-- the end of a block --"
    done = _run("bash", "-ec", "exec 2>&1\n" + "".join(f"{block.text}echo '{mark}'\n" for block in blocks), cwd=folder)
    assert done.returncode == 0, done.stdout
    printed = done.stdout.replace(str(folder), HERE).split(f"{mark}\n")
    assert len(printed) == len(blocks) + 1
    wrong = [
        f"{block.page}:{block.line} prints\n{output}"
        for block, output in zip(blocks, printed, strict=False)
        if block.shown is not None and not _matches(block.shown, output)
    ]
    assert wrong == []


def test_json_that_is_shown_is_json() -> None:
    assert [json.loads(block.text) for block in _all("json")] != []


def test_a_page_has_only_blocks_that_mean_something() -> None:
    known = {"sh", "python", "json", "text", "toml", "yaml"}
    found = [(block.page, block.line, block.language) for page in PAGES for block in _blocks(page)]
    assert [one for one in found if one[2] not in known] == []


def _typed(line: str) -> str:
    """The command that a line of YAML runs."""
    return line.partition("entry: ")[2] or line.partition("run: ")[2]


def test_every_command_of_ours_in_yaml_can_be_read() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    texts = [hooks, *(block.text for block in _all("yaml"))]
    commands = [_typed(line) for text in texts for line in text.splitlines() if _typed(line).startswith("punchlist ")]
    assert len(commands) > 2
    for command in commands:
        assert parse(shlex.split(command)[1:]).command in COMMANDS


def test_the_hook_for_pre_commit_is_the_one_that_the_page_names() -> None:
    (name,) = re.findall(r"^- id: (\S+)$", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"), re.M)
    assert f"- id: {name}\n" in (ROOT / "docs" / "goals.md").read_text(encoding="utf-8")


# --- prompts ---------------------------------------------------------------------------------------------------------


def _blanks(text: str) -> list[str]:
    return re.findall(r"\{\w*\}", text)


@pytest.mark.parametrize("name", DIALECTS)
def test_what_a_model_is_shown_has_no_blank_left(name: str) -> None:
    shown = [text for tool in load(name).tools for text in (tool.description, tool.short)]
    assert [blank for text in shown for blank in _blanks(text)] == []
    assert all(text.strip() for text in shown)


def test_every_prompt_is_said_somewhere() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in PROMPTS.parent.rglob("*.py"))
    named = {text for name in DIALECTS for tool in load(name).tools for text in (tool.prompt, tool.summary, tool.full)}
    for name in DIALECTS:
        guide = load(name).guide
        named |= {load(name).system, guide.failed, guide.nudge, guide.reminder_prompt}
    named |= set(re.findall(r'(?<!\.)say\("([^"]+)"', sources))
    assert {path.stem for path in PROMPTS.glob("*.md")} == named - {""}


# --- what must not be in the project ---------------------------------------------------------------------------------


def _project_files() -> list[Path]:
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs git and its repository")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_registry_or_a_place_of_one_machine() -> None:
    addresses = (
        r"https?://\S*(?:pypi|pythonhosted|/simple\b)|--(?:extra-)?index[-]url[ =]|--find[-]links|--trusted[-]host"
    )
    places = r"[/]work[/]|[/]root[/]"
    wrong = re.compile(f"{addresses}|{places}")
    found = []
    for path in _project_files():
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path.relative_to(ROOT)}: {hit[0]}" for hit in wrong.finditer(text)]
    assert found == []


def test_no_file_holds_the_marks_of_an_unfinished_merge() -> None:
    marks = re.compile("^(?:<{7} |>{7} )", re.M)
    files = [(path, path.read_bytes().decode("utf-8", "replace")) for path in _project_files()]
    assert [str(path.relative_to(ROOT)) for path, text in files if marks.search(text)] == []
