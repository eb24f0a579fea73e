"""`punchlist watch`, as a person has it: on screens of several sizes, with keys, while others change the plan."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import gmtime, strftime, time
from typing import Any

import pytest

import punchlist
from punchlist import Desk, ops
from punchlist.desk.events import log_event, read_events
from punchlist.tui.styles import PATHS
from tests import postgres_server
from tests.commands import SCRIPT, do, hook
from tests.tui.screens import Session, running, watching
from tests.tui.test_any_plan import ATTACKS

pytestmark = pytest.mark.once
SIZES = [(20, 6), (80, 24), (120, 40), (300, 50)]
CLOCK = "%Y-%m-%dT%H:%M:%S.000Z"
TEXTS = ("Read the parser", "Fix the loop", "Run the tests")


@pytest.fixture(autouse=True)
def expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_EXPANDED", "yes")


def desk(**more: Any) -> Desk:
    return punchlist.open(**more)


def given(*texts: str, start: str = "", **more: Any) -> None:
    with desk(**more) as own:
        own.change(lambda plan: ops.extend(plan, [{"text": text} for text in texts or TEXTS]), by="main")
        if start:
            own.change(lambda plan: ops.start(plan, start), by="main")


def change(*words: str) -> None:
    """Another process changes the plan."""
    do(*words)


def state(session: Session) -> list[Any]:
    return termios.tcgetattr(session.process.fd)


@contextmanager
def piped(*words: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    """The same where standard output is no terminal."""
    process = subprocess.Popen(
        [SCRIPT, "watch", *words], stdout=subprocess.PIPE, encoding="utf-8", env={**os.environ, **env}
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().rstrip("\n")


# --- what is seen ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", PATHS)
@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_a_plan_is_seen_on_any_screen_in_any_style(columns: int, rows: int, style: str) -> None:
    given(*(f"Step {number}" for number in range(1, 41)), start="20")
    with watching("--style", style, columns=columns, rows=rows) as session:
        session.sees("Step 20")
        session.type("q")
        assert session.ends() == 0
    assert len([line for line in session.lines if line]) <= rows


def test_a_change_by_another_process_is_seen() -> None:
    given(start="1")
    with watching() as session:
        session.sees("1 Read the parser…", "0/3", "○ 3 Run the tests")
        change("done", "1")
        session.sees("✓ 1 Read the parser", "1/3")
        change("start", "2")
        session.sees("2 Fix the loop…")
        change("add", "Ask Ann")
        session.sees("○ 4 Ask Ann", "1/4")
        change("rm", "3")
        session.sees_no("Run the tests")


def test_a_pause_and_plan_mode_are_seen() -> None:
    given(start="1")
    with watching() as session:
        session.sees("1 Read the parser…")
        change("pause", "out for lunch")
        session.sees("paused: out for lunch", "▶ 1 Read the parser")
        with desk() as own:
            own.change(lambda plan: ops.set_mode(plan, "plan"))
        session.sees("plan mode")
        change("resume")
        session.sees_no("paused")


def test_that_it_is_off_is_seen() -> None:
    given(start="1")
    with watching() as session:
        session.sees("1 Read the parser")
        change("off")
        session.sees("off here: no agent is told of this plan (punchlist on)")
        change("on")
        session.sees_no("off here")


def test_the_seconds_of_the_active_item_are_counted_from_its_start() -> None:
    given(start="1", store="sqlite:plan.db")
    with sqlite3.connect("plan.db") as db:
        db.execute("UPDATE history SET at = ?", (strftime(CLOCK, gmtime(time() - 7_300)),))
    db.close()
    with desk(store="sqlite:plan.db") as own:
        own.change(lambda plan: ops.note(plan, "2", "on it"), by="main")
    with watching("--store", "sqlite:plan.db") as session:
        session.sees("1 Read the parser…  2h 01m")


def test_without_a_plan_it_waits_for_one() -> None:
    with watching() as session:
        session.sees("No plan here yet, waiting for one…")
        change("add", "Begin")
        session.sees("○ 1 Begin")
        session.sees_no("waiting")


def test_a_session_has_its_own_plan() -> None:
    given("Mine", session="s1")
    given("Yours", session="s2")
    with watching("--session", "s1") as session:
        session.sees("Mine")
        change("--session", "s2", "add", "More of yours")
        change("--session", "s1", "add", "More of mine")
        session.sees("More of mine")
        assert "yours" not in session.text.lower()


def test_a_finished_plan_makes_way_for_the_next_of_the_same_place() -> None:
    given("Old", session="s1")
    with watching() as session:
        session.sees("Old")
        given("New", session="s2")
        change("--session", "s1", "note", "1", "still at work")
        change("--session", "s1", "start", "1")
        session.sees("still at work")
        change("--session", "s1", "done", "1")
        change("--session", "s2", "start", "1")
        session.sees("New").sees_no("Old")


def test_a_plan_that_does_not_exist_is_refused() -> None:
    with watching("--plan", "nowhere") as session:
        assert session.ends() == 1
    assert "no plan 'nowhere'" in session.text


def test_the_spinner_turns_only_while_an_agent_seems_to_work(own_folder: Path) -> None:
    with desk() as own:
        own.change(lambda plan: ops.extend(plan, [{"text": "Mine"}, {"text": "Theirs"}]))
        own.change(lambda plan: ops.start(plan, "1"))
    with watching() as session:
        session.sees("▶ 1 Mine")
        assert "Mine…" not in session.text
        with desk() as own:
            own.change(lambda plan: ops.start(ops.complete(plan, "1"), "2"), by="main")
        session.sees("2 Theirs…")
        with desk() as own:
            log_event(own, "stop", reason="it asked something", open=1)
        session.sees("▶ 2 Theirs").sees_no("Theirs…")
        with desk() as own:
            own.change(lambda plan: ops.note(plan, "2", "on it"), by="main")
        session.sees("2 Theirs…")


def test_an_agent_that_was_not_heard_for_long_does_not_look_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punchlist.local.files.time", lambda: 1_767_261_600.0)  # 2026-01-01T10:00
    given(start="1")
    with watching() as session:
        session.sees("▶ 1 Read the parser", "nothing heard for ", " days")
        assert "parser…" not in session.text


@pytest.mark.parametrize("style", PATHS)
def test_an_agent_that_uses_a_tool_is_at_work_though_it_changes_nothing_in_the_plan(
    style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr("punchlist.local.files.time", lambda: time() - 250)
        given(start="1", session="s1")
    with watching("--session", "s1", "--style", style) as session:
        session.sees("Read the parser", "nothing heard for 4 minutes")
        used = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "make"}}
        assert hook("claude-code", {"session_id": "s1", "cwd": os.getcwd(), **used}).returncode == 0
        session.sees_no("nothing heard")
        before = session.text
        session.until(lambda now: now.text != before, "a turn of the spinner")


def test_each_of_several_active_items_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given(store="sqlite:plan.db")
    for seconds, id in ((7_300, "1"), (190, "2"), (65, "3")):
        with monkeypatch.context() as earlier, desk(store="sqlite:plan.db") as own:
            earlier.setattr("punchlist.local.files.time", partial(float, time() - seconds))
            own.change(partial(ops.start, id=id, owner=f"w{id}"), by="main")
    with watching("--store", "sqlite:plan.db") as session:
        session.sees("1 Read the parser…  (@w1)  2h 01m", "2 Fix the loop…  (@w2)  3m ", "3 Run the tests…  (@w3)  1m ")


def test_that_the_agent_is_not_nudged_any_more_is_seen() -> None:
    given(start="1", session="s1")
    with watching("--session", "s1") as session:
        session.sees("1 Read the parser")
        change("stop", "--session", "s1")
        session.sees("no nudges in this session (punchlist stop)")


def test_how_long_ago_the_agent_stopped_is_seen() -> None:
    given(start="1", session="s1")
    with watching("--session", "s1") as session:
        session.sees("1 Read the parser…")
        with desk(session="s1") as own:
            log_event(own, "stop", reason="it asked something", open=1)
        session.sees("the agent stopped just now").sees_no("parser…")


def test_closed_items_leave_the_screen_as_they_leave_the_list_of_the_agent() -> None:
    ops = [{"op": "init", "list": [{"phase": "A", "items": ["Read", "Write", "Test"]}]}, {"op": "done", "task": "Read"}]
    with desk(session="s1", dialect="oh-my-pi") as own:
        assert not own.call("todo_write", {"ops": ops}).is_error
    with watching("--session", "s1", PUNCHLIST_CLEAR_DELAY="4") as session:
        session.sees("1 Read", "2 Write", "1/3")
        session.sees("2 Write", "0/2").sees_no("1 Read")
    assert do("line", "--session", "s1").rstrip().endswith("1/3")
    assert do("line", "--session", "s1", PUNCHLIST_CLEAR_DELAY="0").rstrip().endswith("0/2")


def test_a_list_that_was_finished_and_cleared_is_done_and_not_missing() -> None:
    done = {"content": "Read", "status": "completed", "activeForm": "Reading"}
    with desk(session="s1", dialect="claude-code") as own:
        own.call("TodoWrite", {"todos": [{**done, "status": "in_progress"}]})
        own.call("TodoWrite", {"todos": [done]})
    with watching("--session", "s1", "--style", "claude-code") as session:
        session.sees("Nothing is open: all done")
        assert "No plan" not in session.text
    assert "all done" in do("show", "--session", "s1")


def test_a_call_that_failed_is_told_until_one_succeeds() -> None:
    begin = {"op": "init", "list": [{"phase": "A", "items": ["Read"]}]}
    with desk(session="s1", dialect="oh-my-pi") as own:
        own.call("todo_write", {"ops": [begin]})
        with watching("--session", "s1") as session:
            session.sees("1 Read")
            assert own.call("todo_write", {"ops": [{"op": "done", "task": "Reed"}]}).is_error
            session.sees("Todo update failed")
            own.call("todo_write", {"ops": [{"op": "done", "task": "Read"}]})
            session.sees_no("Todo update failed")


@pytest.mark.parametrize("style", ["claude-code", "punchlist"])
def test_the_sub_agents_of_an_attached_agent_are_seen(style: str) -> None:
    given(start="1", session="s1")
    with desk(session="s1", agent="scout") as own:
        own.change(lambda plan: ops.extend(plan, [{"text": text} for text in ("Look", "Tell")]), by="scout")
        own.change(lambda plan: ops.complete(plan, "1"), by="scout")
        with watching("--session", "s1", "--style", style) as session:
            session.sees("Agent: scout", "Status: Running", "Tasks (1/2)", "Tell")
            own.change(lambda plan: ops.complete(plan, "2"), by="scout")
            session.sees("Agent: scout", "Status: Completed", "Tasks (2/2)")


# --- keys ------------------------------------------------------------------------------------------------------------


def test_it_begins_collapsed_and_ctrl_t_shows_the_list_and_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUNCHLIST_EXPANDED")
    given(start="1")
    with watching() as session:
        session.sees("ctrl+t show plan", "Next: 2 Fix the loop").sees_no("Run the tests")
        session.type("\x14")
        session.sees("○ 3 Run the tests", "ctrl+t hide plan")
        session.type("q")
        assert session.ends() == 0
    with watching() as session:
        session.sees("○ 3 Run the tests", "ctrl+t hide plan")
        session.type("\x14")
        session.sees("ctrl+t show plan").sees_no("Run the tests")


def test_each_toggle_is_written_down_with_how_it_was_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUNCHLIST_EXPANDED")
    given(start="1")
    with watching() as session:
        session.sees("ctrl+t show plan")
        session.type("\x14")
        session.sees("ctrl+t hide plan")
        session.type("\x14")
        session.sees("ctrl+t show plan")
    with desk() as own:
        toggles = [event for event in read_events(own) if event["kind"] == "toggle"]
        assert [(one["is_expanded"], one["has_todos"]) for one in toggles] == [(False, True), (True, True)]
        assert {one["plan"] for one in toggles} == {own.plan.id}


def test_the_environment_says_how_it_begins_whatever_ctrl_t_was() -> None:
    given(start="1")
    with watching(PUNCHLIST_EXPANDED="no") as session:
        session.sees("ctrl+t show plan")
        session.type("\x14")
        session.sees("ctrl+t hide plan")
    with watching(PUNCHLIST_EXPANDED="no") as session:
        session.sees("ctrl+t show plan")


@pytest.mark.parametrize("keys", ["q", "Q", "\x03", "\x04"])
def test_one_key_ends_it_and_gives_the_terminal_back(keys: str) -> None:
    given(start="1")
    with watching() as session:
        before = state(session)
        session.until(lambda now: now.screen.cursor.hidden and "q quit" in now.text)
        assert state(session) != before or not before[3] & termios.ICANON
        session.type(keys)
        assert session.ends() == 0
    assert not session.screen.cursor.hidden
    assert session.text.endswith("○ 3 Run the tests")


def test_other_keys_do_nothing() -> None:
    given(start="1")
    with watching() as session:
        session.sees("q quit")
        session.type("x\x1b[A\x1b[12;40R é")
        session.type("\x14")
        session.sees("ctrl+t show plan")
        session.type("q")
        assert session.ends() == 0


# --- its end ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_whoever_ends_it_gets_the_terminal_back(number: int) -> None:
    given(start="1")
    with watching() as session:
        session.until(lambda now: now.screen.cursor.hidden and "q quit" in now.text)
        session.kill(number)
        assert session.ends() == -number
    assert not session.screen.cursor.hidden
    assert b"\x1b[?7l" not in session.raw[session.raw.rindex(b"\x1b[?7h") :]
    assert session.screen.cursor.x == 0
    assert session.lines[session.screen.cursor.y] == ""
    assert session.lines[session.screen.cursor.y - 1] == "ctrl+t hide plan · q quit"


def test_the_line_discipline_is_given_back() -> None:
    given(start="1")
    words = f"{SCRIPT} watch; stty -a | tr ';' '\\n'; echo the end"
    for keys, kill in (("q", 0), ("", signal.SIGTERM), ("", signal.SIGINT)):
        with running("sh", "-c", words, rows=60) as session:
            session.sees("q quit")
            if kill:
                subprocess.run(["pkill", f"-{kill:d}", "-P", str(session.pid)], check=True)
            session.type(keys)
            session.sees("the end")
            found = session.text.split()
            assert "icanon" in found
            assert "echo" in found


# --- other screens ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", PATHS)
def test_the_screen_may_change_its_size_midway(style: str) -> None:
    given(*(f"Step {number} of many" for number in range(1, 41)), start="20")
    with watching("--style", style, columns=80, rows=24) as session:
        session.sees("Step 20")
        for columns, rows in ((120, 40), (20, 40), (300, 50), (40, 50), (80, 12)):
            session.resize(columns, rows)
            change("note", "20", f"{columns} wide")
            session.until(lambda now: any("Step 20" in line for line in now.lines) and now.lines[0].strip())
            session.sees("Step 2")
            assert len(session.lines) == rows
        session.type("q")
        assert session.ends() == 0


@pytest.mark.parametrize("style", PATHS)
def test_hostile_texts_are_shown_harmlessly(style: str) -> None:
    given(*ATTACKS, "the last one", start="1")
    with watching("--style", style, columns=80, rows=50) as session:
        session.sees("the last one")
        change("start", str(len(ATTACKS) + 1))
        session.until(lambda now: "the last one" in now.text and now.screen.cursor.hidden)
        session.type("q")
        assert session.ends() == 0
    assert session.screen.title == ""
    assert "\x1b]" not in session.raw.decode("utf-8", "replace")
    assert session.raw.count(b"\x1b[2J") == 0


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""},
        {"LC_ALL": "C", "PYTHONIOENCODING": ""},
        {"PUNCHLIST_UNICODE": "no"},
    ],
    ids=["encoding", "old locale", "locale", "setting"],
)
def test_a_screen_without_unicode_gets_none(env: dict[str, str]) -> None:
    given("Naïve 日本語", "Beta", start="1")
    with watching(**env) as session:
        session.sees("Na\\xefve", "o 2 Beta")
        session.type("\x14")
        session.sees("Next: 2 Beta")
        session.type("q")
        assert session.ends() == 0
    assert session.raw.isascii()


def test_no_color_is_used_where_none_is_wanted() -> None:
    given(start="1")
    with watching(NO_COLOR="1") as session:
        session.sees("1 Read the parser…", "q quit")
        session.type("q")
        assert session.ends() == 0
    assert not [color for color in (b"\x1b[32m", b"\x1b[31m", b"\x1b[36m") if color in session.raw]


def test_the_active_item_is_bold_and_what_is_done_is_dim() -> None:
    given(start="2")
    change("done", "1")
    with watching() as session:
        session.sees("Fix the loop", "q quit")
        assert session.style("Fix the loop").bold
        assert session.style("✓").fg == "green"


# --- line by line ----------------------------------------------------------------------------------------------------


def test_plain_lines_move_no_cursor_and_have_the_same_keys() -> None:
    given(start="1")
    with watching("--plain") as session:
        session.sees("▶ 1 Read the parser")
        change("done", "1")
        session.sees('completed 1 "Read the parser". (1/3)')
        change("pause", "lunch")
        session.sees("paused the work: lunch.")
        session.type("q")
        assert session.ends() == 0
    assert b"\x1b" not in session.raw


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"PUNCHLIST_PLAIN": "yes"}], ids=str)
def test_plain_lines_are_a_setting_and_for_dumb_terminals(env: dict[str, str]) -> None:
    given(start="1")
    with watching(**env) as session:
        session.sees("▶ 1 Read the parser")
        session.type("q")
        assert session.ends() == 0
    assert b"\x1b" not in session.raw


def test_a_pipe_gets_plain_lines() -> None:
    given(start="1")
    with piped() as process:
        assert [line(process) for _ in range(4)][1:] == ["▶ 1 Read the parser", "○ 2 Fix the loop", "○ 3 Run the tests"]
        change("done", "1")
        assert line(process) == 'completed 1 "Read the parser". (1/3)'
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_a_pipe_gets_every_style() -> None:
    given(start="1")
    with piped("--style", "gencode") as process:
        assert [line(process) for _ in range(7)][1].startswith("│ ▶ Read the parser ")
        change("done", "1")
        assert line(process) == '[Todo: "Read the parser" → completed]'
        change("add", "More")
        assert [line(process) for _ in range(2)] == ["📋 Todo list updated:", "  ✓ Read the parser"]


def test_a_pipe_gets_json_if_asked() -> None:
    given(start="1")
    with piped("--json") as process:
        assert json.loads(line(process))["items"][0]["status"] == "in_progress"
        change("done", "1")
        assert json.loads(line(process))["items"][0]["status"] == "completed"


def test_a_pipe_that_is_closed_ends_it() -> None:
    given(start="1")
    with piped() as process:
        assert line(process).startswith("Plan")
        assert process.stdout
        process.stdout.close()
        change("add", "More")
        assert process.wait(30) == 0


# --- a store that goes away ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("store", ["sqlite:plan.db", "json:plans"])
def test_a_store_that_goes_away_is_named_and_waited_for(store: str, own_folder: Path) -> None:
    path, aside = own_folder / store.partition(":")[2], own_folder / "aside"
    aside.mkdir()
    given(store=store, start="1")
    with watching("--store", store) as session:
        session.sees("1 Read the parser…")
        for moved in own_folder.glob(f"{path.name}*"):
            shutil.move(moved, aside / moved.name)
        session.sees("! ", f"{path.name} is gone; waiting for it")
        assert not path.exists()
        for moved in aside.iterdir():
            shutil.move(moved, own_folder / moved.name)
        session.sees_no("is gone")
        change("--store", store, "done", "1")
        session.sees("✓ 1 Read the parser")
        session.type("q")
        assert session.ends() == 0


@contextmanager
def own_server() -> Iterator[postgres_server.Server]:
    with tempfile.TemporaryDirectory(prefix="punchlist-pg-", ignore_cleanup_errors=True) as folder:
        server = postgres_server.Server(Path(folder))
        try:
            yield server
        finally:
            server.close()


@pytest.mark.torture
def test_a_server_that_goes_away_is_said_and_waited_for() -> None:
    with own_server() as server:
        given(store=server.url, start="1")
        with watching("--store", server.url, columns=120) as session:
            session.sees("1 Read the parser…")
            change("--store", server.url, "done", "1")
            session.sees("✓ 1 Read the parser")
            server.stop("immediate")
            session.sees("; still trying")
            session.type("\x14")
            session.sees("ctrl+t show plan")
            session.type("\x14")
            server.start()
            session.sees_no("cannot reach the store")
            change("--store", server.url, "add", "More")
            session.sees("○ 4 More")
            session.type("q")
            assert session.ends() == 0


def test_another_file_in_the_place_of_a_store_is_seen(own_folder: Path) -> None:
    given("Old", store="sqlite:plan.db")
    given("New", store="sqlite:other.db")
    with watching("--store", "sqlite:plan.db") as session:
        session.sees("Old")
        os.replace("other.db", "plan.db")
        session.sees("New").sees_no("Old")


# --- in tmux ---------------------------------------------------------------------------------------------------------


class Tmux:
    """A terminal that moves its lines when its size changes, as most do."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux")

    def __call__(self, *words: str) -> str:
        command = ["tmux", "-S", self._socket, "-f", os.devnull, *words]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout

    def until(self, wanted: Any) -> list[str]:
        for _ in range(2_000):
            found = self("capture-pane", "-p", "-S", "-").splitlines()
            if wanted(found):
                return found
        raise AssertionError("\n".join(found))


def at_the_prompt(lines: list[str]) -> bool:
    return [line for line in lines if line.strip()][-1].strip() == "$"


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    made = Tmux(tmp_path)
    made("new-session", "-d", "-x", "80", "-y", "20", "env PS1='$ ' bash --norc --noprofile -i")
    yield made
    made("kill-server")


def test_lines_that_the_terminal_moves_are_not_left_behind(tmux: Tmux) -> None:
    given(*(f"Step {number} is a text of some length, for a screen of some width" for number in range(1, 6)), start="2")
    tmux("send-keys", f"seq 1 30; {SCRIPT} watch", "Enter")
    tmux.until(lambda found: "ctrl+t hide plan · q quit" in found)
    for columns, rows in ((40, 20), (100, 20), (30, 9), (80, 24)):
        tmux("resize-window", "-x", str(columns), "-y", str(rows))
        change("note", "2", f"{columns} columns")
        found = tmux.until(lambda found, note=f"│ {columns} columns": any(note in line for line in found))
        assert sum("Step 2" in line for line in found) == 1, "\n".join(found)
        assert sum("ctrl+t" in line for line in found) <= 1
        assert [line for line in found if line.strip().isdecimal()][-30:] == [str(number) for number in range(1, 31)]


def test_nothing_is_left_above_a_panel_that_begins_at_the_top_of_the_screen(tmux: Tmux) -> None:
    given(start="2")
    tmux("new-window", f"{SCRIPT} watch")
    tmux.until(lambda found: "ctrl+t hide plan · q quit" in found)
    for columns in (70, 50, 90):
        tmux("resize-window", "-x", str(columns), "-y", "20")
        change("note", "2", f"{columns} columns")
        found = tmux.until(lambda found, note=f"│ {columns} columns": any(note in line for line in found))
        assert sum("Plan " in line for line in found) == 1, "\n".join(found)


def test_it_can_be_halted_and_goes_on(tmux: Tmux) -> None:
    given(start="2")
    tmux("send-keys", f"{SCRIPT} watch", "Enter")
    tmux.until(lambda found: "ctrl+t hide plan · q quit" in found)
    tmux("send-keys", "C-z")
    tmux.until(at_the_prompt)
    tmux("send-keys", "stty -a | tr ';' '\\n' | grep -o ' icanon'; echo halt''ed", "Enter")
    found = tmux.until(lambda found: "halted" in found)
    assert " icanon" in found
    tmux("send-keys", "fg", "Enter")
    change("note", "2", "going on")
    tmux.until(lambda found: any("going on" in line for line in found))
    tmux("send-keys", "q")
    tmux.until(at_the_prompt)
    tmux("send-keys", "echo the e''nd", "Enter")
    tmux.until(lambda found: "the end" in found)


def test_it_goes_on_after_it_was_stopped_without_being_asked(tmux: Tmux) -> None:
    given(start="2")
    tmux("send-keys", f"{SCRIPT} watch", "Enter")
    tmux.until(lambda found: "ctrl+t hide plan · q quit" in found)
    parent = tmux("display-message", "-p", "#{pane_pid}").strip()
    subprocess.run(["pkill", "-STOP", "-P", parent], check=True)
    tmux("send-keys", "echo halt''ed", "Enter")
    tmux.until(lambda found: any(line.startswith("halted") for line in found))
    tmux("send-keys", "fg", "Enter")
    change("note", "2", "going on")
    tmux.until(lambda found: any("going on" in line for line in found))
    tmux("send-keys", "C-t")
    tmux.until(lambda found: any("ctrl+t show plan" in line for line in found))
    tmux("send-keys", "q")
    tmux.until(at_the_prompt)
    tmux("send-keys", "stty -a | tr ';' '\\n' | grep -o ' icanon'; echo the e''nd", "Enter")
    assert " icanon" in tmux.until(lambda found: "the end" in found)
