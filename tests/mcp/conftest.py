"""What the tests of the MCP server share: a directory to work in, and no session in the environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.raw import Raw


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "GEMINI_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def client() -> Iterator[Raw]:
    """A server in the default dialect, not greeted yet."""
    with Raw() as raw:
        yield raw
