"""The pictures of the panel in Claude Code: up to date with the rows that it is sent. A test with the real program, in
`tests/clients/test_clients_panel.py`, finds them on its screen."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(("name", "kind"), [("panel.svg", "short"), ("panel-open.svg", "long")])
def test_a_picture_of_the_panel_has_the_rows_that_are_drawn(tmp_path: Path, name: str, kind: str) -> None:
    pictures = runpy.run_path(str(DOCS / "pictures.py"))
    (title,) = [title for found, _, title in pictures["every"]("", "") if found == name]
    drawn = pictures["drawn"](pictures["panelled"](str(tmp_path), kind), title)
    assert (DOCS / name).read_text(encoding="utf-8") == drawn, "run: make pictures"
