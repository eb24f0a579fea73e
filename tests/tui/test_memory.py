"""What Ctrl+T was last."""

from __future__ import annotations

from pathlib import Path

import pytest

from punchlist.tui.memory import recalled, remember


def test_each_face_has_a_memory_of_its_own(own_home: Path) -> None:
    remember("watch", True)
    remember("run", False)
    assert recalled("watch", False) is True
    assert recalled("run", True) is False
    assert [path.name for path in (own_home / "punchlist").iterdir()] == ["panel.json"]


def test_what_nobody_knows_is_as_it_should_be_otherwise() -> None:
    assert recalled("watch", True) is True
    assert recalled("watch", False) is False


@pytest.mark.parametrize("text", ["", "{", "[]", '{"watch": "yes"}', "\x00"])
def test_a_damaged_memory_is_none(own_home: Path, text: str) -> None:
    (own_home / "punchlist").mkdir()
    (own_home / "punchlist" / "panel.json").write_text(text)
    assert recalled("watch", True) is True
    remember("watch", False)
    assert recalled("watch", True) is False


def test_where_nothing_can_be_kept_nothing_is(own_home: Path) -> None:
    (own_home / "punchlist").write_text("a file where the folder should be")
    remember("watch", True)
    assert recalled("watch", False) is False
