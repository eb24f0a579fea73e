"""The pages of the frameworks and the examples: their programs run, and print what is shown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import test_docs as docs
from tests.frameworks.installed import missing

ROOT = Path(__file__).parent.parent.parent


def _adapter(name: str) -> str:
    """The adapter that a page or an example is about, by its name."""
    return name.removesuffix("_agent").replace("-", "_")


PAGES = [page for page in sorted((ROOT / "docs" / "frameworks").glob("*.md")) if _adapter(page.stem) not in missing()]
BLOCKS = [block for page in PAGES for block in docs._blocks(page) if block.language == "python"]
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if not path.stem.startswith(missing())]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page}:{block.line}")
def test_a_program_of_a_page_runs_and_prints_what_is_shown(block: docs.Block, tmp_path: Path) -> None:
    done = docs._run(sys.executable, "-c", block.text, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    if block.shown is not None:
        assert docs._matches(block.shown, done.stdout), done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints_what_its_last_lines_say(example: Path, tmp_path: Path) -> None:
    shown = example.read_text("utf-8").partition("# It prints:\n")[2]
    assert shown, "an example ends with what it prints, as comments"
    lines = [line.removeprefix("#").removeprefix(" ") for line in shown.splitlines()]
    for _ in range(2):  # people run an example again, in the same directory
        done = docs._run(sys.executable, str(example), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert docs._matches("\n".join(lines), done.stdout), done.stdout
