"""What Ctrl+T made of the setting `expanded`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from punchlist.local.settings import load
from punchlist.tui.preferences import remember


def shown() -> tuple[bool, str]:
    settings = load()
    return settings.expanded, os.path.basename(settings.origins["expanded"])


def test_the_list_is_collapsed_until_somebody_says_otherwise() -> None:
    assert shown() == (False, "default")


def test_ctrl_t_changes_the_value_of_the_setting_and_settings_say_so(own_home: Path) -> None:
    remember(True)
    assert shown() == (True, "Ctrl+T")
    remember(False)
    assert shown() == (False, "Ctrl+T")
    assert [path.name for path in (own_home / "punchlist").iterdir()] == ["panel.json"]


def test_a_file_that_is_changed_later_counts_again(own_folder: Path) -> None:
    file = own_folder / "punchlist.toml"
    file.write_text("expanded = true\n")
    remember(False)
    assert shown() == (False, "Ctrl+T")
    file.write_text("expanded = false\n")
    assert shown() == (False, "punchlist.toml")
    file.write_text("expanded = true\n")
    assert shown() == (False, "Ctrl+T")


def test_the_environment_counts_more_as_long_as_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    remember(True)
    monkeypatch.setenv("PUNCHLIST_EXPANDED", "no")
    assert shown() == (False, "PUNCHLIST_EXPANDED")
    remember(True)
    monkeypatch.delenv("PUNCHLIST_EXPANDED")
    assert shown() == (True, "Ctrl+T")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"watch": true}', '{"expanded": 1, "instead_of": false}', "\x00"])
def test_a_damaged_file_says_nothing(own_home: Path, text: str) -> None:
    (own_home / "punchlist").mkdir()
    (own_home / "punchlist" / "panel.json").write_text(text)
    assert shown() == (False, "default")
    remember(True)
    assert shown() == (True, "Ctrl+T")


def test_where_nothing_can_be_kept_nothing_is(own_home: Path) -> None:
    (own_home / "punchlist").write_text("a file where the folder should be")
    remember(True)
    assert shown() == (False, "default")
