"""The end of what a check printed is kept in a private file beside the store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from punchlist.checks.output import Output, of_run, read_output, save_output
from punchlist.checks.run import Ran
from punchlist.stores.memory import MemoryStore

KEPT = Output("2026-01-31T12:00:00.000Z", 1, "exit code 1", 0.5, 9000, "1 failed\n")


class Store:
    """A store that is a file."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)


def test_an_output_is_kept_beside_a_store_that_is_a_file(tmp_path: Path) -> None:
    store = Store(tmp_path / "plan.db")
    save_output(store, "p1", "abc", KEPT)
    assert read_output(store, "p1", "abc") == KEPT
    (file,) = (tmp_path / ".punchlist-output").iterdir()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_an_output_for_another_store_is_kept_in_the_state_folder(own_home: Path) -> None:
    save_output(MemoryStore(), "p1", "abc", KEPT)
    assert read_output(MemoryStore(), "p1", "abc") == KEPT
    assert len(os.listdir(own_home / "punchlist" / "output")) == 1


def test_only_so_many_outputs_are_kept(tmp_path: Path) -> None:
    store = Store(tmp_path / "plan.db")
    for number in range(205):
        save_output(store, "p1", str(number), KEPT)
        (file,) = (tmp_path / ".punchlist-output").glob(f"{number}-*")
        os.utime(file, (number, number))
    save_output(store, "p1", "last", KEPT)
    assert len(os.listdir(tmp_path / ".punchlist-output")) == 200
    assert read_output(store, "p1", "0") is None
    assert read_output(store, "p1", "last") == KEPT


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"at": 1}', b"\xff", b"[" * 100_000])
def test_a_damaged_file_is_not_an_output(tmp_path: Path, damage: bytes) -> None:
    store = Store(tmp_path / "plan.db")
    save_output(store, "p1", "abc", KEPT)
    (file,) = (tmp_path / ".punchlist-output").iterdir()
    file.write_bytes(damage)
    assert read_output(store, "p1", "abc") is None


@pytest.mark.parametrize("plan", ["p2", "../p1", "p\ud800", ""])
def test_the_output_of_another_plan_s_check_is_not_that_of_this_one(tmp_path: Path, plan: str) -> None:
    store, other = Store(tmp_path / "plan.db"), Store(tmp_path / "other.db")
    save_output(store, "p1", "abc", KEPT)
    assert read_output(other, plan, "abc") is None
    save_output(other, plan, "abc", KEPT._replace(text="other"))
    assert read_output(store, "p1", "abc") == KEPT
    assert len(os.listdir(tmp_path / ".punchlist-output")) == 2


def test_where_nothing_can_be_written_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / ".punchlist-output").write_text("not a folder")
    save_output(Store(tmp_path / "plan.db"), "p1", "abc", KEPT)


def test_what_is_kept_of_a_run_has_no_secrets_and_what_is_shown_acts_on_no_terminal() -> None:
    ran = Ran(1, 0, 0.25, "\x1b[2Jred\nAPI_TOKEN=abcdef0123456789abcdef\n", 99, end=0.0)
    kept = of_run(ran)
    assert (kept.at, kept.exit, kept.why, kept.size) == ("1970-01-01T00:00:00.000Z", 1, "exit code 1", 99)
    assert "abcdef0123456789abcdef" not in kept.text
    assert "\x1b" not in "".join(kept.lines)
    assert "abcdef0123456789abcdef" in of_run(ran, is_redacted=False).text
