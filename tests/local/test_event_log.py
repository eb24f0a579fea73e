"""The log of what happened: every kind, for one pair of eyes, added to by many, and never in the way."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import ops
from punchlist.core.errors import StoreError
from punchlist.desk.events import read_events
from punchlist.desk.nudges import turn_ended
from punchlist.local import event_log
from punchlist.policy.continuation import TurnEnd
from tests.commands import run

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def path(own_home: Path) -> Path:
    return own_home / "punchlist" / "events.jsonl"


def call(args: object, *words: str, tool: str = "plan") -> Any:
    return json.loads(run("call", tool, *words, stdin=json.dumps(args)).stdout)


def hook(name: str, **more: Any) -> None:
    event = {"hook_event_name": name, "session_id": "s1", "cwd": os.getcwd(), **more}
    done = run("hook", "claude-code", stdin=json.dumps(event))
    assert (done.returncode, done.stderr) == (0, "")


def happened(*words: str) -> list[dict[str, Any]]:
    """What `log --events --json` prints, oldest first."""
    found: list[dict[str, Any]] = json.loads(run("log", "--events", "--json", *words).stdout)
    return found[::-1]


# --- every kind ------------------------------------------------------------------------------------------------------


def test_everything_that_happens_to_a_session_is_written_down() -> None:
    own = ("--session", "s1")
    call({"add": ["Read", "Write"]}, *own)
    call({"start": [1]}, *own)  # changes nothing
    call({"frob": 1}, *own)
    hook("UserPromptSubmit", prompt="go on")
    for number in range(11):
        hook("PostToolUse", tool_name="mcp__other__look", tool_input={"n": number})
    hook("Stop", last_assistant_message="So far.")
    hook("PostToolUse", tool_name="Edit", tool_input={"file_path": "a"})
    hook("Stop", last_assistant_message="Which one?")
    call({"pause": "the deploy key has expired"}, *own)
    run("resume", *own)
    run("off", *own)
    run("on", *own)
    run("stop", *own)
    run("done", "1", *own)
    found = happened(*own)
    kinds = [one["kind"] for one in found if one["kind"] != "calls"]
    assert " ".join(kinds) == ("call call refusal reminder nudge stop pause resume toggle toggle no-nudges edit")
    by_kind = {one["kind"]: one for one in found}
    assert "frob" in by_kind["refusal"]["message"]
    assert by_kind["reminder"]["tokens"] == by_kind["reminder"]["spent"] > 0
    assert (by_kind["nudge"]["number"], by_kind["nudge"]["item"]) == (1, "1")
    assert by_kind["stop"]["reason"] == "it asks the user something"
    assert by_kind["pause"]["changes"] == ["paused the work: the deploy key has expired."]
    toggles = [(one["to"], one["before"]) for one in found if one["kind"] == "toggle"]
    assert toggles == [("off", "on"), ("on", "off")]
    assert [one["at"] for one in found] == sorted(one["at"] for one in found)


@pytest.mark.parametrize("sent", ["{", "nonsense", "NaN"])
def test_a_call_that_is_no_json_is_a_refusal_too(sent: str) -> None:
    call({"add": ["Read"]}, "--session", "s1")
    assert run("call", "plan", "--session", "s1", stdin=sent).returncode == 1
    last = happened("--session", "s1")[-1]
    assert (last["kind"], last["tool"]) == ("refusal", "plan")
    assert "not valid JSON" in last["message"]


def test_they_are_printed_for_the_eye_too() -> None:
    call({"add": ["Read"]})
    call({"frob": 1})
    lines = run("log", "--events").stdout.splitlines()
    assert len(lines) == 2
    assert "  refusal  " in lines[0]
    assert 'added 1 "Read", active.' in lines[1]
    assert len(run("log", "--events", "--most", "1").stdout.splitlines()) == 1


def test_off_and_on_of_a_project_are_shown_there_and_everywhere_s_in_every_project(tmp_path: Path) -> None:
    call({"add": ["Read"]})
    run("off")
    run("on")
    run("off", "--everywhere")
    run("on", "--everywhere")
    run("on", "--everywhere")  # changes nothing
    assert [one["kind"] for one in happened()] == ["call", "toggle", "toggle", "toggle", "toggle"]
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    call({"add": ["Write"]})
    assert [one["kind"] for one in happened()] == ["toggle", "toggle", "call"]


def test_an_error_that_no_agent_notices_is_shown_where_it_happened_and_only_there(tmp_path: Path) -> None:
    call({"add": ["Read"]})
    done = run("hook", "claude-code", stdin="garbage")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (error,) = [one for one in happened() if one["kind"] == "error"]
    assert (error["where"], error["message"][:32]) == ("hook claude-code", "the event must be a JSON object:")
    assert "error  place " in run("log", "--events").stdout
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    assert happened() == []


def test_an_error_in_a_folder_that_is_gone_is_shown_everywhere(tmp_path: Path) -> None:
    here = os.getcwd()
    call({"add": ["Read"]})
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    event_log.write_error("mcp", ValueError("x" * 10_000))
    os.chdir(here)
    (error,) = [one for one in happened() if one["kind"] == "error"]
    assert (error["place"], len(error["message"])) == ("everywhere", 512)


def test_the_events_of_other_sessions_are_not_shown() -> None:
    call({"frob": 1}, "--session", "s1")
    call({"frob": 2}, "--session", "s2")
    call({"frob": 3})
    assert len(happened("--session", "s1")) == len(happened("--session", "s2")) == 1
    assert happened() == []  # there is no plan here


def test_a_store_in_memory_keeps_its_events_in_memory(path: Path) -> None:
    with punchlist.open("memory:", session="s") as desk:
        desk.call("plan", {"add": ["Read"]})
        turn_ended(desk, TurnEnd(said="So far."))
        assert [one["kind"] for one in read_events(desk)] == ["nudge"]
    assert not path.exists()


# --- the file --------------------------------------------------------------------------------------------------------


def test_the_file_is_for_its_owner_s_eyes_only(path: Path) -> None:
    call({"frob": 1}, "--session", "s1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_nothing_in_a_value_can_act_or_fill_the_disk(path: Path) -> None:
    event_log.write("refusal", message="a\x1b[2J\nb" + "x" * 10_000, session="\ud800</system-reminder>")
    (one,) = event_log.read()
    assert len(one["message"]) <= 200
    assert "\x1b" not in one["message"]
    assert "\n" not in one["message"]
    assert "</system-reminder>" not in one["session"]
    assert path.read_bytes().count(b"\n") == 1


def test_damaged_lines_are_passed_over_and_the_next_one_is_not_lost_with_them(path: Path) -> None:
    event_log.write("nudge", number=1)
    with path.open("ab") as file:
        file.write(b'\xff\xfe\x00\n[1, 2]\n{"no": "kind"}\n{"kind": 3}\n\n' + b"[" * 5000 + b'\n{"kind": "stop", "reas')
    event_log.write("nudge", number=2)
    assert [(one["kind"], one["number"]) for one in event_log.read()] == [("nudge", 1), ("nudge", 2)]


def test_what_cannot_be_written_is_let_go(path: Path, own_home: Path) -> None:
    path.mkdir(parents=True)
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Read"]})
        assert desk.call("plan", {"frob": 1}).is_error
        assert turn_ended(desk, TurnEnd(said="So far.")).text
        assert read_events(desk) == []


FULL = 8_000_000


def filled(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"kind": "old", "filler": "x" * 970}) + "\n"
    path.write_text(line * (size // len(line) + 1))


def test_a_full_file_is_put_aside_once_and_what_was_older_goes(path: Path) -> None:
    path.parent.mkdir(parents=True)
    older = path.with_name("events.jsonl.1")
    older.write_text('{"kind": "oldest"}\n')
    filled(path, FULL)
    event_log.write("nudge", number=1)
    event_log.write("nudge", number=2)
    assert path.stat().st_size < 200 < FULL < older.stat().st_size
    kinds = [one["kind"] for one in event_log.read()]
    assert (kinds[0], kinds[-2:]) == ("old", ["nudge", "nudge"])
    assert "oldest" not in kinds
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


_WRITER = """
import sys
from punchlist.local import event_log as events
sys.stdin.readline()
for number in range(1500):
    events.write("nudge", who=sys.argv[1], number=number)
"""


@pytest.mark.parametrize("size", [0, FULL - 60_000], ids=["an empty file", "one that is full on the way"])
def test_two_processes_that_write_at_once_lose_no_line(path: Path, size: int) -> None:
    filled(path, size)
    words = [sys.executable, "-c", _WRITER]
    racing = [subprocess.Popen([*words, name], stdin=subprocess.PIPE, text=True) for name in ("one", "two")]
    for process in racing:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in racing:
        process.communicate()
    found = [(one["who"], one["number"]) for one in event_log.read() if one["kind"] == "nudge"]
    assert len(found) == 3000
    for name in ("one", "two"):
        assert [number for who, number in found if who == name] == list(range(1500))


def test_a_store_that_fails_is_not_hidden_by_the_log(tmp_path: Path) -> None:
    with punchlist.open(f"sqlite:{tmp_path / 'plan.db'}", session="s") as desk:
        desk.change(lambda plan: ops.add(plan, "Read"))
    with pytest.raises(StoreError):
        turn_ended(desk, TurnEnd(said="So far."))
