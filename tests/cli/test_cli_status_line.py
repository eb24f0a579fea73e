"""`punchlist line --host claude-code`: the plan in an agent's status line, behind the one that was there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import punchlist
from punchlist.cli import panel_mark
from punchlist.core.cells import columns
from tests.commands import SCRIPT, do, run


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Read the code", "Run the tests"]})


def line(given: object, *words: str, **env: str) -> str:
    text = given if isinstance(given, str) else json.dumps(given)
    return do("line", "--host", "claude-code", *words, stdin=text, **env)


def test_the_session_is_the_one_that_the_agent_names() -> None:
    assert line({"session_id": "s1", "cwd": "/elsewhere"}) == "▶ Read the code 0/2\n"
    assert line({"session_id": "another"}) == ""


@pytest.mark.parametrize("given", ["", "garbage", "null", "[]", "{}", '{"session_id": 7}', "[" * 100_000], ids=ascii)
def test_an_agent_that_names_no_session_gets_an_empty_line(given: str) -> None:
    assert line(given) == ""


def test_while_a_panel_shows_the_plan_the_line_leaves_it_out_however_the_panel_ends(own_home: Path) -> None:
    words = [SCRIPT, "watch", "--json", "--size", "80x6", "--session", "s1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as panel:
        assert panel.stdout is not None
        assert "Read the code" in panel.stdout.readline()
        assert line({"session_id": "s1"}) == ""
        assert line({"session_id": "s1"}, "--after", "echo mine") == "mine\n"
        assert do("line", "--session", "s1") == "▶ Read the code 0/2\n", "a terminal has no panel"
        panel.kill()
    assert line({"session_id": "s1"}) == "▶ Read the code 0/2\n"
    assert list((own_home / "punchlist" / "panels").iterdir()) == [], "no mark is left behind"


@pytest.mark.parametrize("session", ["../../x", "a" * 5000, "\ud800", "s\n1"])
def test_a_session_with_any_name_can_have_a_panel(session: str, own_home: Path) -> None:
    panel_mark.hold(session)
    assert panel_mark.is_held(session)
    assert len(list((own_home / "punchlist" / "panels").iterdir())) == 1


def test_where_no_mark_can_be_written_the_panel_is_drawn_all_the_same(own_home: Path) -> None:
    (own_home / "punchlist" / "panels").write_text("in the way")
    panel_mark.hold("s1")
    assert not panel_mark.is_held("s1")
    assert line({"session_id": "s1"}) == "▶ Read the code 0/2\n"


@pytest.mark.parametrize("how", ["variable", "command"])
def test_turned_off_it_says_so_and_does_not_show_the_plan(how: str) -> None:
    env = {"PUNCHLIST_OFF": "1"} if how == "variable" else {}
    if how == "command":
        do("off")
    assert line({"session_id": "s1"}, **env) == "punchlist off\n"
    assert line({"session_id": "s1"}, "--after", "echo mine", **env) == "mine | punchlist off\n"
    assert line({"session_id": "without a plan"}, "--after", "echo mine", **env) == "mine\n"
    assert do("line", "--session", "s1", **env) == "▶ Read the code 0/2 (off)\n"


def test_that_the_agent_is_not_nudged_and_a_mode_are_said_behind_the_count() -> None:
    do("stop", "--session", "s1")
    do("mode", "plan", "--session", "s1")
    assert line({"session_id": "s1"}) == "▶ Read the code 0/2 (plan mode, no nudges)\n"


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        ("1", "▶ Run the tests 1/3\n"),
        ("2", "▶ Run the tests 1/3\n○ next: Ship it\n"),
        ("3", "▶ Run the tests 1/3\n○ next: Ship it\n✓ done: Read the code\n"),
    ],
)
def test_up_to_three_lines_say_what_is_active_what_is_next_and_what_was_done_last(number: str, wanted: str) -> None:
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"add": ["Ship it"], "done": [1]})
    assert line({"session_id": "s1"}, PUNCHLIST_STATUS_LINES=number) == wanted
    behind = line({"session_id": "s1"}, "--after", "echo mine", PUNCHLIST_STATUS_LINES=number)
    assert behind == f"mine | {wanted}"
    assert do("line", "--session", "s1", PUNCHLIST_STATUS_LINES=number) == "▶ Run the tests 1/3\n"


def test_lines_that_have_nothing_to_say_are_left_out() -> None:
    with punchlist.open(session="s1") as desk:
        desk.call("plan", {"done": [1, 2]})
    assert line({"session_id": "s1"}, PUNCHLIST_STATUS_LINES="3") == "✓ 2/2\n✓ done: Run the tests\n"


def test_no_text_of_a_plan_makes_a_line_of_its_own_or_moves_a_cursor() -> None:
    with punchlist.open(session="s2") as desk:
        desk.call("plan", {"add": ["One\nTwo\x1b[2J\rThree", "\x1b]0;title\x07" + "wide 日本語 " * 50]})
    said = line({"session_id": "s2"}, PUNCHLIST_STATUS_LINES="3")
    assert said.count("\n") == 2
    assert said.replace("\n", "").isprintable()
    assert max(map(columns, said.splitlines())) <= 60


@pytest.mark.parametrize("number", ["0", "4", "many"])
def test_a_number_of_lines_that_cannot_be_is_named(number: str) -> None:
    done = run("line", "--session", "s1", PUNCHLIST_STATUS_LINES=number)
    assert (done.returncode, done.stdout) == (0, "▶ Read the code 0/2\n")
    assert "PUNCHLIST_STATUS_LINES: 'status_lines' must be" in done.stderr


def test_another_status_line_comes_first_and_is_given_the_same_input() -> None:
    said = line({"session_id": "s1"}, "--after", "python3 -c 'import json, sys; print(json.load(sys.stdin))'")
    assert said == "{'session_id': 's1'} | ▶ Read the code 0/2\n"


def test_colours_of_another_status_line_end_before_ours() -> None:
    assert (
        line({"session_id": "s1"}, "--after", r"printf '\033[31mred'") == "\x1b[31mred\x1b[0m | ▶ Read the code 0/2\n"
    )


def test_another_status_line_of_several_lines_is_kept_and_ours_stands_behind_its_last() -> None:
    assert line({"session_id": "s1"}, "--after", "echo one; echo two") == "one\ntwo | ▶ Read the code 0/2\n"


@pytest.mark.parametrize("command", ["exit 3", "true", "no-such-command-here 2>/dev/null"])
def test_another_status_line_that_says_nothing_leaves_ours_alone(command: str) -> None:
    assert line({"session_id": "s1"}, "--after", command) == "▶ Read the code 0/2\n"


def test_what_another_status_line_leaves_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    command = f"(cat {tmp_path}/gate 2>/dev/null &) ; echo hi"  # what it leaves ends when somebody opens the gate
    try:
        assert line({"session_id": "s1"}, "--after", command) == "hi | ▶ Read the code 0/2\n"
    finally:
        os.close(os.open(tmp_path / "gate", os.O_WRONLY))


def test_another_status_line_may_print_much_and_leave_its_input_unread() -> None:
    given = {"session_id": "s1", "more": "x" * 300_000}
    said = line(given, "--after", "(sleep 5 2>/dev/null &) ; head -c 300000 /dev/zero | tr '\\0' y")
    assert said == "y" * 300_000 + " | ▶ Read the code 0/2\n"


def test_whatever_is_wrong_with_ours_theirs_is_printed(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"this was never a database" * 100)
    broken = {"PUNCHLIST_STORE": f"sqlite:{tmp_path}/bad.db"}
    assert line({"session_id": "s1"}, "--after", "echo theirs", **broken) == "theirs\n"
    assert line({"session_id": "s1"}, **broken) == ""


@pytest.fixture
def counting(tmp_path: Path) -> str:
    """Another status line, which says how often it was run."""
    return f"echo >> {tmp_path}/runs; wc -l < {tmp_path}/runs | tr -d ' '"


def test_another_status_line_is_run_again_only_when_the_conversation_has_changed(tmp_path: Path, counting: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("{}\n")
    about = {"session_id": "s1", "transcript_path": str(log), "prompt_id": "p1"}

    def shown(duration: int, **more: object) -> str:
        cost = {"total_cost_usd": 0.1, "total_duration_ms": duration}
        return line({**about, "cost": cost, **more}, "--on-change", "--after", counting)

    assert [shown(1), shown(5001), shown(10001)] == ["1 | ▶ Read the code 0/2\n"] * 3
    do("done", "1", "--session", "s1")
    assert shown(15001) == "1 | ○ Run the tests 1/2\n", "ours shows an edit"
    assert shown(20001, prompt_id="p2")[0] == "2"
    assert shown(20002, prompt_id="p2", session_id="s2")[0] == "3", "another session"
    assert shown(25001, prompt_id="p2")[0] == "2"
    log.write_text("{}\n{}\n")
    assert [shown(30001, prompt_id="p2")[0], shown(35001, prompt_id="p2")[0]] == ["4", "4"]
    assert line({**about}, "--after", counting)[0] == "5", "whoever asked for a timer has it"
    assert line({**about}, "--after", counting)[0] == "6"


@pytest.mark.parametrize("text", ["", "garbage", "[]", '{"s1": 3}', '{"s1": []}', '{"s1": ["", 7]}'])
def test_what_is_kept_of_another_status_line_may_be_damaged(text: str, counting: str) -> None:
    path = Path(os.environ["XDG_STATE_HOME"], "punchlist", "status-lines.json")
    path.write_text(text)
    again = [line({"session_id": "s1"}, "--on-change", "--after", counting)[0] for _ in range(2)]
    assert again == ["1", "1"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_only_the_newest_sessions_are_kept_and_nothing_that_is_long(counting: str) -> None:
    for number in range(25):
        line({"session_id": f"n{number}"}, "--on-change", "--after", counting)
    path = Path(os.environ["XDG_STATE_HOME"], "punchlist", "status-lines.json")
    assert list(json.loads(path.read_text())) == [f"n{number}" for number in range(5, 25)]
    long = "printf '%03000d' 7"
    assert line({"session_id": "n24"}, "--on-change", "--after", long).startswith("0" * 2999 + "7")
    assert len(path.read_text()) < 1000


def test_without_a_place_to_keep_it_another_status_line_is_run_each_time(counting: str) -> None:
    path = Path(os.environ["XDG_STATE_HOME"], "punchlist", "status-lines.json")
    path.mkdir()
    again = [line({"session_id": "s1"}, "--on-change", "--after", counting)[0] for _ in range(2)]
    assert again == ["1", "2"]
