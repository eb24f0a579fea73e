"""What the tests of the terminal share: a folder of their own, and a terminal that is the same everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PUNCHLIST_STYLE", "PUNCHLIST_PLAIN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    return tmp_path / "work"
