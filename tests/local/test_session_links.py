"""Ties: what a hook leaves for the server, under keys that both know."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from punchlist.local import session_links
from punchlist.local.session_links import AgentRef, Process, link, look_up, process_key, tool_use_key
from tests.core.plans import often

WHO = AgentRef("s1", "helper", "claude-code")
DAY = 86_400.0


def files() -> list[str]:
    return sorted(os.listdir(session_links.home())) if os.path.isdir(session_links.home()) else []


# --- leaving and finding ---------------------------------------------------------------------------------------------


def test_what_a_hook_leaves_is_found_under_its_key_and_no_other() -> None:
    assert link(tool_use_key("toolu_1"), WHO)
    assert look_up(tool_use_key("toolu_1")) == WHO
    assert look_up(tool_use_key("toolu_2")) is None
    assert look_up(tool_use_key("TOOLU_1")) is None


def test_the_latest_word_counts() -> None:
    key = process_key(os.getpid())
    assert link(key, AgentRef("old"))
    assert link(key, AgentRef("new"))
    assert look_up(key) == AgentRef("new")
    assert len(files()) == 1


def test_a_tie_is_for_this_user_only(own_home: Path) -> None:
    link(tool_use_key("toolu_1"), WHO)
    (name,) = files()
    assert stat.S_IMODE(os.stat(os.path.join(session_links.home(), name)).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(session_links.home()).st_mode) == 0o700
    assert Path(session_links.home()).is_relative_to(own_home)


@settings(often(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300), st.text(min_size=1, max_size=100), st.text(max_size=50))
def test_any_id_is_only_data(id: str, session: str, agent: str) -> None:
    who = AgentRef(session, agent, "host")
    assert link(tool_use_key(id), who) is bool(id)
    assert look_up(tool_use_key(id)) == (who if id else None)
    assert all(name.isalnum() for name in files())


@pytest.mark.parametrize("id", ["../../escape", "/etc/passwd", "a\0b", "..", ".", "x" * 10_000, "\ud800", "con", "a/b"])
def test_a_hostile_id_stays_in_its_folder(id: str, own_home: Path) -> None:
    before = {path for path in own_home.rglob("*") if "ties" not in path.parts}
    assert link(tool_use_key(id), WHO)
    assert look_up(tool_use_key(id)) == WHO
    after = {path for path in own_home.rglob("*") if "ties" not in path.parts}
    assert {path.name for path in after - before} <= {"punchlist"}


def test_nobody_and_nothing_cannot_be_tied() -> None:
    assert link("", WHO) is False
    assert link(tool_use_key(""), WHO) is False
    assert link(tool_use_key("toolu_1"), AgentRef("")) is False
    assert link(tool_use_key("toolu_1"), AgentRef("s" * 20_000)) is False
    assert look_up("") is None
    assert files() == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"null",
        b'["tool:toolu_1"]',
        b'["tool:toolu_1", "s", 3, ""]',
        b'["tool:another", "s", "main", ""]',
        b'["tool:toolu_1", "s", "main"]',
        b'["tool:toolu_1", "s", "main", "", "", ""]',
        b"\xff",
        b"[" * 10_000,
    ],
)
def test_a_file_that_is_no_tie_is_none(content: bytes) -> None:
    link(tool_use_key("toolu_1"), WHO)
    (name,) = files()
    Path(session_links.home(), name).write_bytes(content)
    assert look_up(tool_use_key("toolu_1")) is None
    assert link(tool_use_key("toolu_1"), WHO)
    assert look_up(tool_use_key("toolu_1")) == WHO


def test_a_tie_of_an_older_version_names_no_directory() -> None:
    who = WHO._replace(folder="/work")
    link(tool_use_key("toolu_1"), who)
    assert look_up(tool_use_key("toolu_1")) == who
    (name,) = files()
    Path(session_links.home(), name).write_bytes(b'["tool:toolu_1", "s", "main", "codex"]')
    assert look_up(tool_use_key("toolu_1")) == AgentRef("s", "main", "codex")


def test_where_nothing_can_be_written_there_is_no_tie_and_no_failure(own_home: Path) -> None:
    (own_home / "punchlist").mkdir()
    (own_home / "punchlist" / "ties").write_text("in the way")
    assert link(tool_use_key("toolu_1"), WHO) is False
    assert look_up(tool_use_key("toolu_1")) is None


def test_a_folder_in_the_place_of_a_tie_is_no_tie() -> None:
    link(tool_use_key("toolu_1"), WHO)
    (name,) = files()
    path = Path(session_links.home(), name)
    path.unlink()
    path.mkdir()
    assert look_up(tool_use_key("toolu_1")) is None
    assert link(tool_use_key("toolu_1"), WHO) is False


def test_many_who_tie_at_once_leave_one_whole_word() -> None:
    key = process_key(os.getpid())
    people = [AgentRef(f"session {number}" * 50) for number in range(40)]
    with ThreadPool(8) as pool:
        assert all(pool.map(lambda who: link(key, who), people))
        assert set(pool.map(lambda _: look_up(key) in people, people)) == {True}
    assert len(files()) == 1


def test_old_ties_are_collected_now_and_then() -> None:
    for id in ("old", "new"):
        link(tool_use_key(id), WHO)
    old = os.path.join(session_links.home(), next(name for name in files() if bytes.fromhex(name) == b"tool:old"))
    now = 64.0 * int(os.stat(old).st_mtime // 64 + 1)
    os.utime(old, (now - DAY - 1, now - DAY - 1))
    link(tool_use_key("third"), WHO, at=now + 1)
    assert look_up(tool_use_key("old")) == WHO
    link(tool_use_key("fourth"), WHO, at=now)
    assert look_up(tool_use_key("old")) is None
    assert all(look_up(tool_use_key(id)) == WHO for id in ("new", "third", "fourth"))


# --- processes -------------------------------------------------------------------------------------------------------

READERS = [
    pytest.param(
        session_links.read_proc, marks=pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
    ),
    pytest.param(session_links.read_ps, marks=pytest.mark.skipif(not os.path.exists("/bin/ps"), reason="needs ps")),
]


@pytest.mark.parametrize("read", READERS)
def test_a_process_is_known_by_its_id_and_its_start(read: Callable[[int], Process | None]) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        found, again, own = read(child.pid), read(child.pid), read(os.getpid())
        child.communicate(b"\n")
    assert found == again
    assert found is not None
    assert own is not None
    assert (found.pid, found.parent) == (child.pid, os.getpid())
    assert (own.pid, own.parent) == (os.getpid(), os.getppid())
    assert found.started
    assert read(child.pid) is None


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_a_name_may_hold_anything(tmp_path: Path) -> None:
    odd = tmp_path / "a) b (c"
    odd.write_text(f"#!{sys.executable}\ninput()\n")
    odd.chmod(0o700)
    with subprocess.Popen([str(odd)], stdin=subprocess.PIPE) as child:
        found = session_links.read_proc(child.pid)
        while found and found.name != "a) b (c":  # until it has become what it was told to be
            found = session_links.read_proc(child.pid)
        child.communicate(b"\n")
    assert found is not None
    assert (found.parent, found.started.isdigit()) == (os.getpid(), True)


def test_a_process_that_is_gone_has_no_key() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    assert process_key(child.pid) == ""
    assert process_key(0) == ""
    assert process_key(-1) == ""


def test_the_line_of_ancestors_is_that_of_the_parents() -> None:
    above = list(session_links.ancestors())
    assert above[0].pid == os.getppid()
    assert [process.parent for process in above[:-1]] == [process.pid for process in above[1:]]
    assert [process.pid for process in session_links.ancestors(os.getpid())] == [process.pid for process in above]
    assert list(session_links.ancestors(2**22 + 1)) == []


ABOVE = "from punchlist.local import session_links as at; print(at.agent_key(), *at.ancestor_keys())"


def printed(*command: str) -> list[str]:
    """The agent, and all who may be it, as a process sees them that was started so from here."""
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout.split()


def test_an_agent_is_found_past_the_shells_between() -> None:
    here = process_key(os.getpid())
    direct = printed(sys.executable, "-c", ABOVE)
    assert (direct[0], direct[1]) == (here, here)
    one = '"$0" -c "$1"; true'
    two = f'sh -c \'{one}\' "$0" "$1"; true'
    for command in (one, two):
        seen = printed("sh", "-c", command, sys.executable, ABOVE)
        assert (seen[0], seen[1]) == (here, here)


def test_a_shell_above_the_agent_is_where_the_search_ends() -> None:
    """Whoever typed the command there, or made a shell type it, is not this agent."""
    agent = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    direct = printed(sys.executable, "-c", agent, ABOVE)
    assert process_key(os.getpid()) in direct
    within = printed("sh", "-c", '"$0" -c "$1" "$2"; true', sys.executable, agent, ABOVE)
    assert len(within) == 2
    assert within[0] == within[1]
    assert process_key(os.getpid()) not in within
