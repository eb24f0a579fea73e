"""`punchlist install` and `uninstall` on a disk that is full, or nearly so."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from punchlist.core.errors import StoreError
from punchlist.install import USER, Edit, _do_all
from tests.commands import SCRIPT
from tests.install.test_install import everything, write
from tests.stores.test_full_disk import filled

_PAGE = 4096  # bytes by which a small disk fills


@pytest.fixture
def home(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of somebody whose disk is small, with settings of their own."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(small_disk))
    write(small_disk / ".claude.json", b'{"mcpServers": {}, "mine": "' + b"x" * 3 * _PAGE + b'"}')
    write(small_disk / ".claude" / "settings.json", b'{"mine": "' + b"y" * 3 * _PAGE + b'"}')
    return small_disk


def tried(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, command, "claude-code"], capture_output=True, encoding="utf-8", check=False)


def leave_free(filling: Path, pages: int) -> None:
    os.truncate(filling, filling.stat().st_size - pages * _PAGE)


def settings_of(home: Path) -> dict[str, bytes | None]:
    """What is in a home beside the folder of our own state, and what that holds about it."""
    return {name: data for name, data in everything(home).items() if is_watched(name)}


def is_watched(name: str) -> bool:
    if name.startswith("punchlist"):
        return name.endswith((".json", ".before", "/claude-code/punchlist"))
    return name != "filling"


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_without_room_everything_stays_as_it_was_and_the_file_is_named(command: str, home: Path) -> None:
    if command == "uninstall":
        assert tried("install").returncode == 0
    before = settings_of(home)
    filling = filled(home)
    failed = 0
    while (done := tried(command)).returncode:
        assert done.returncode == 3
        assert done.stderr.startswith(f"punchlist: {home}/")
        assert done.stderr.endswith(
            " cannot be written: the disk is full; make room and try again. Nothing was changed.\n"
        )
        assert settings_of(home) == before
        failed += 1
        leave_free(filling, 1)
    assert failed > 2


def test_what_cannot_be_put_back_is_named_and_stays_with_what_it_needs(tmp_path: Path, own_home: Path) -> None:
    first, second, third = (str(tmp_path / name) for name in ("first", "second", "third"))

    def work(file: str) -> Edit:
        if file == third and os.path.exists(second):
            Path(second).write_text("somebody else's")
            raise OSError(errno.ENOSPC, "No space left on device", third)
        return Edit(file, (), None, b"ours", stays=True)

    with pytest.raises(StoreError) as caught:
        _do_all([first, second, third], work, "codex", USER, dry=False)
    assert str(caught.value) == (
        f"{third} cannot be written: the disk is full; make room and try again. Already written, and could not be put "
        f"back: {first}, {second}. To restore: punchlist uninstall codex"
    )
    assert Path(first).read_text() == "ours"
    assert Path(second).read_text() == "somebody else's"


def test_a_dialect_that_cannot_be_kept_is_told_with_its_file(home: Path) -> None:
    assert tried("install").returncode == 0
    filled(home)
    done = subprocess.run(
        [SCRIPT, "install", "claude-code", "--dialect", "codex"], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 3
    assert done.stderr.startswith(f"punchlist: {home}/punchlist/")
    assert done.stderr.endswith(" cannot be written: the disk is full; make room and try again.\n")
