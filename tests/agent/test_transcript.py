"""A conversation in a file: only added to, private, and whole after any death."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from punchlist.agent.messages import Assistant, Call, Result, Summary, User
from punchlist.agent.transcript import Transcript
from punchlist.core.errors import Refused


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "s1.jsonl"


def written(path: Path) -> None:
    said = Transcript(str(path), {"id": "s1"})
    said.add(User("go"))
    said.add(Assistant("Looking.", (Call("1", "read", {"path": "a"}), Call("2", "read", {"path": "b"}))))
    said.add(Result("1", "read", "text"))
    said.close()


def test_what_was_said_is_there_again(path: Path) -> None:
    written(path)
    said = Transcript(str(path))
    assert said.head["id"] == "s1"
    assert [type(one).__name__ for one in said.messages] == ["User", "Assistant", "Result"]
    said.add(User("on"))
    said.close()
    assert Transcript(str(path)).messages[-1] == User("on")


def test_only_the_owner_may_read_it(path: Path) -> None:
    written(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("lost", range(1, 40, 3))
def test_a_last_line_that_was_cut_off_is_let_go_and_the_file_is_whole_again(path: Path, lost: int) -> None:
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-lost])
    said = Transcript(str(path))
    assert [type(one).__name__ for one in said.messages] == ["User", "Assistant"]
    said.add(User("on"))
    said.close()
    assert Transcript(str(path)).messages[-1] == User("on")


def test_a_line_that_is_broken_in_the_middle_is_named(path: Path) -> None:
    written(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b'{"type": "user", "te\n', *lines[2:]]))
    with pytest.raises(Refused, match=r"s1\.jsonl:2: not valid JSON"):
        Transcript(str(path))


def test_calls_that_were_cut_off_are_answered(path: Path) -> None:
    written(path)
    said = Transcript(str(path))
    said.close_calls("interrupted")
    assert said.messages[-1] == Result("2", "read", "interrupted", True)
    said.close_calls("interrupted")
    assert len(said.messages) == 4
    said.close()


def test_a_summary_stands_for_what_was_before_it_and_the_file_keeps_everything(path: Path) -> None:
    written(path)
    said = Transcript(str(path))
    said.add(Summary("so far", 1))
    said.add(User("on"))
    said.close()
    again = Transcript(str(path))
    assert again.messages == [Summary("so far", 1), User("on")]
    assert len(path.read_text().splitlines()) == 6


def test_two_processes_cannot_write_the_same_session(path: Path) -> None:
    written(path)
    first = Transcript(str(path))
    with pytest.raises(Refused, match="the session goes on in another process"):
        Transcript(str(path))
    first.close()
    Transcript(str(path)).close()


def test_a_session_is_not_begun_twice(path: Path) -> None:
    written(path)
    with pytest.raises(Refused, match="is there already; --resume goes on with it"):
        Transcript(str(path), {"id": "s1"})


def test_a_file_that_is_no_transcript_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"type": "user", "text": "hello"}\n')
    with pytest.raises(Refused, match="is not a transcript"):
        Transcript(str(path))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises(Refused, match="is not a transcript"):
        Transcript(str(path))
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before
