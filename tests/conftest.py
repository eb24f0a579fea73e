"""What tests share: a home of their own, so that no test reads or writes the machine's."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

# Variables that tell where the files of an agent are.
FOLDERS = """
    CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME GOOSE_PATH_ROOT
    PI_CODING_AGENT_DIR PI_CONFIG_DIR PI_PROFILE OMP_PROFILE
"""

# Variables by which the shell of an agent is known: whoever runs the tests in one is the user of what they test.
SHELLS = """
    CLAUDECODE CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID CODEX_SESSION_ID GEMINI_CLI OPENCODE OMPCODE AGENT_SESSION_ID
"""

PROGRAMS = ("claude", "codex", "opencode", "omp")


def pytest_configure() -> None:
    """Whoever runs the tests in the background has signals ignored, and every program that is started inherits that."""
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Properties that a test states inside itself are known by the same marker as hypothesis gives the others."""
    functions = [item for item in items if isinstance(item, pytest.Function)]
    for item in functions:
        named = item.function.__globals__.get("given") is hypothesis.given
        if named and "given" in item.function.__code__.co_names:
            item.add_marker("hypothesis")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    for name in [name for name in os.environ if name.startswith("PUNCHLIST_") and "_TEST_" not in name]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PUNCHLIST_LOOK_MS", "60000")  # a busy machine is not what is tested
    for name in (*FOLDERS.split(), *SHELLS.split(), "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join(filter(_has_no_agent, os.environ["PATH"].split(os.pathsep))))
    return home


def _has_no_agent(folder: str) -> bool:
    """Whether no program is there that `punchlist install` would run: tests have real agents only where they say so."""
    return not any(os.path.exists(os.path.join(folder, name)) for name in PROGRAMS)


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, which belongs to no project."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def own_project(own_folder: Path) -> Path:
    """A folder to work in, which is the root of a project."""
    (own_folder / ".git").mkdir()
    return own_folder


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", path], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield path
    subprocess.run(["umount", path], check=True)
