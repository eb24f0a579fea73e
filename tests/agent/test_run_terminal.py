"""The interactive agent in a pseudo-terminal: words, commands, questions, interrupts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import punchlist as package
from punchlist.cli.agent import slash
from punchlist.desk import plan_mode
from punchlist.desk.activity import last_heard
from punchlist.desk.events import read_events
from punchlist.local.event_log import read_latest
from punchlist.tui.follow import Follower, Seen
from punchlist.tui.watch import make_view
from tests.agent.commands import entries, script, transcripts, until
from tests.agent.contexts import call, turn
from tests.agent.terminal import Terminal
from tests.commands import SCRIPT, run

PROMPT = "> ▏"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Any]:
    opened: list[Terminal] = []

    def begin(*turns: dict[str, Any], words: tuple[str, ...] = (), env: dict[str, str] | None = None) -> Terminal:
        terminal = Terminal(SCRIPT, "run", "--model", script(tmp_path, *turns), *words, env=env)
        opened.append(terminal)
        terminal.wait_for("/help lists the commands.")
        terminal.wait_for(">" if "--plain" in words else PROMPT)
        return terminal

    yield begin
    for terminal in opened:
        terminal.close()


def test_words_go_to_the_agent_and_commands_do_not(talk: Any, tmp_path: Path) -> None:
    terminal = talk(
        turn(call("plan", add=["Read", "Write", "Test"])),
        turn(text="Which one first?"),
        turn(text="Good?", expect=['The user completed 2 "Write"', "the first"]),
    )
    terminal.enter("/todos")
    terminal.wait_for("No todos currently tracked")
    terminal.enter("make a plan")
    terminal.wait_for("Which one first?")
    terminal.enter("/todos")
    terminal.wait_for("3 todos:")
    terminal.wait_for("☐ Write")
    terminal.enter("/todo done Write")
    terminal.wait_for('completed 2 "Write".')
    terminal.enter("the first")
    terminal.wait_for("Good?")
    terminal.enter("/quit")
    terminal.wait_for("to continue: punchlist run --resume")
    assert terminal.wait_for_end() == 0
    (path,) = transcripts(tmp_path / "home")
    assert [one["text"] for one in entries(path) if one["type"] == "user"] == ["make a plan", "the first"]


def test_every_verb_of_todo_does_what_it_says(talk: Any, tmp_path: Path, project: Path) -> None:
    terminal = talk(turn(text="Hello."))
    steps = [
        ("/todo append Read the code", 'added 1 "Read the code".'),
        ("/todo append 'Write it twice'", 'added 2 "Write it twice".'),
        ("/todo append Test", 'added 3 "Test".'),
        ("/todo start write", 'started 2 "Write it twice".'),
        ("/todo done 2", 'completed 2 "Write it twice".'),
        ("/todo drop test", 'dropped 3 "Test": dropped by the user.'),
        ("/todo export", "written to TODO.md."),
        ("/todo export", "TODO.md is there already; name another file."),
        ("/todo rm 3", 'removed 3 "Test".'),
        ("/undo", 'added 3 "Test", dropped'),
        ("/todo import TODO.md", "the plan now holds 3 items."),
        ("/todo copy", "- [x] Write it twice"),
        ("/todo done", 'completed 1 "Read the code".'),
        ("/todo rm", 'removed 1 "Read the code".'),
        ("/todo start 99", "no item '99'; the plan is empty."),
        ("/todo frob", "/todo has no 'frob'"),
        ("/todo help", "/todo append [PHASE] TEXT"),
        ("/todo", "╌╌╌╌╌╌╌╌╌╌ 0/0"),
        ("/frob", "no command '/frob'; /help lists them."),
        ("/help", "Ctrl+C            stop the agent; press it twice to leave"),
    ]
    for line, words in steps:
        terminal.enter(line)
        terminal.wait_for(words)
    assert "- [x] Write it twice" in (project / "TODO.md").read_text()
    with package.open() as desk:
        assert {record.by for record in desk.history()} == {"user"}


def test_a_phase_is_named_before_the_text_or_taken_whole(talk: Any) -> None:
    terminal = talk(
        turn(call("plan", add=[{"text": "Read", "phase": "Find"}, {"text": "Write", "phase": "Mend"}])),
        turn(text="So?"),
    )
    terminal.enter("plan it")
    terminal.wait_for("So?")
    terminal.enter("/todo append find Look around")
    terminal.wait_for('added 3 "Look around".')
    terminal.enter("/todo done find")
    terminal.wait_for('completed 3 "Look around".')
    with package.open() as desk:
        assert [(item.text, item.phase, item.is_closed) for item in desk.plan.items] == [
            ("Read", "Find", True),
            ("Look around", "Find", True),
            ("Write", "Mend", False),
        ]


def test_the_plan_is_edited_in_the_user_s_editor(talk: Any, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i.bak s/Read/"Read it all"/ "$1" && rm "$1.bak"\n')
    editor.chmod(0o755)
    terminal = talk(turn(text="x"), env={"EDITOR": str(editor), "VISUAL": ""})
    terminal.enter("/todo append Read")
    terminal.wait_for('added 1 "Read".')
    terminal.enter("/todo edit")
    terminal.wait_for('renamed 1 "Read" to "Read it all".')


@pytest.mark.parametrize("words", [(), ("--plain",)], ids=["panel", "plain"])
def test_resumed_in_another_terminal_the_agent_goes_on_at_once(talk: Any, words: tuple[str, ...]) -> None:
    pause = call("plan", pause="the server is down, somebody has to restart it")
    terminal = talk(turn(call("plan", add=["Read"]), pause), turn(text="I go on. Well?"), words=words)
    terminal.enter("go")
    terminal.wait_for("paused: the server is down")
    assert run("resume").returncode == 0
    terminal.wait_for("I go on. Well?")


@pytest.mark.parametrize("words", [(), ("--plain",)], ids=["panel", "plain"])
def test_a_pause_that_failed_is_ended_in_another_terminal_and_the_agent_goes_on_at_once(
    talk: Any, tmp_path: Path, words: tuple[str, ...]
) -> None:
    store = tmp_path / "plans.db"
    with package.open(f"sqlite:{store}", session="other") as desk:
        desk.call("plan", {"add": ["Elsewhere"]})
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        db.execute(
            "CREATE TRIGGER refuses BEFORE INSERT ON history WHEN NEW.changes LIKE '%paused%' "
            "BEGIN SELECT RAISE(ABORT, 'no room for a pause'); END"
        )
    pause = call("plan", pause="the server is down, somebody has to restart it")
    turns = (turn(call("plan", add=["Read"])), turn(pause), turn(text="I go on. Well?"))
    terminal = talk(*turns, words=("--store", f"sqlite:{store}", *words))
    terminal.enter("go")
    terminal.wait_for("the agent stops: its pause failed")
    session = next(one.stem for one in transcripts(tmp_path / "home"))
    resumed = run("resume", "--store", f"sqlite:{store}", "--session", session)
    assert resumed.stdout == "resumed: the agent had asked for a pause that could not be saved.\n"
    terminal.wait_for("I go on. Well?")


def test_after_a_command_the_plan_is_not_said_again_where_a_panel_shows_it(talk: Any) -> None:
    terminal = talk(turn(call("plan", add=["Read", "Write"])), turn(text="Which one?"))
    terminal.enter("go")
    terminal.wait_for("Which one?")
    terminal.enter("/todo done Read")
    terminal.wait_for('completed 1 "Read".')
    terminal.wait_for("Next: 2 Write")
    assert "Write 1/2" not in terminal.text


def test_the_panel_says_that_punchlist_is_off(talk: Any) -> None:
    terminal = talk(turn(call("plan", add=["Read"])), turn(text="So?"))
    terminal.enter("go")
    terminal.wait_for("So?")
    assert run("off").returncode == 0
    terminal.wait_for("off here: no agent is told of this plan")


def test_pause_and_resume(talk: Any) -> None:
    terminal = talk(turn(call("plan", add=["Read"])), turn(text="So?"), turn(text="I go on. Well?"))
    terminal.enter("go")
    terminal.wait_for("So?")
    terminal.enter("/pause lunch")
    terminal.wait_for("paused the work: lunch.")
    terminal.enter("/resume")
    terminal.wait_for("resumed the work.")
    terminal.wait_for("I go on. Well?")


def test_a_question_of_the_agent_is_answered_by_typing(talk: Any) -> None:
    terminal = talk(
        turn(call("ask", question="Which colour?", choices=["red", "blue"])),
        turn(text="Blue it is.", expect=["blue"]),
    )
    terminal.enter("paint it")
    terminal.wait_for("2. blue")
    terminal.enter("2")
    terminal.wait_for("Blue it is.")


def test_ctrl_c_at_a_question_stops_the_turn(talk: Any) -> None:
    terminal = talk(
        turn(call("ask", question="Which colour?"), call("write", path="a.txt", text="x")),
        turn(text="As you wish.", expect=["The user stopped you here", "leave it"]),
    )
    terminal.enter("paint it")
    terminal.wait_for("Which colour?\n?")
    terminal.interrupt(until="stopped. Say how to continue.")
    assert not Path("a.txt").exists()
    terminal.enter("leave it")
    terminal.wait_for("As you wish.")


def test_plan_mode_is_confirmed_approved_and_leads_to_a_plan(talk: Any, tmp_path: Path) -> None:
    terminal = talk(
        turn(call("enter_plan_mode", why="it is big")),
        turn(call("shell", command="touch here"), call("exit_plan_mode"), expect=["Plan mode"]),
        turn(text="No plan yet?", expect=["plan mode is on: shell has to wait", "there is no plan yet"]),
        turn(text="Fine."),
    )
    terminal.enter("do something big")
    terminal.wait_for("the agent would like to plan before it acts. Let it?")
    terminal.enter("y")
    terminal.wait_for("No plan yet?")
    with package.open() as desk:
        assert desk.plan.mode == "plan"
    terminal.enter("/plan")
    terminal.wait_for("switched to act mode.")


def test_plan_again_approves_the_plan_file_and_makes_the_list_of_it(talk: Any, tmp_path: Path) -> None:
    terminal = talk(turn(text="x"))
    terminal.enter("/plan")
    terminal.wait_for("/plan again approves it.")
    with package.open() as desk:
        assert desk.plan.mode == "plan"
        path = Path(plan_mode.plan_file(desk.plan))
    path.write_text("# Mend\n- [ ] Read the code\n- [ ] Write the test\n")
    terminal.enter("/plan")
    terminal.wait_for('added 2 "Write the test".')
    with package.open() as desk:
        assert (desk.plan.mode, [item.text for item in desk.plan.items]) == ("act", ["Read the code", "Write the test"])
        assert {record.by for record in desk.history()} == {"user"}


def test_no_line_of_the_help_is_wider_than_a_usual_screen() -> None:
    assert [line for line in (*slash.HELP.splitlines(), *slash.TODO_HELP.splitlines()) if len(line) > 80] == []


def test_ctrl_c_stops_the_turn_and_the_conversation_goes_on(talk: Any, project: Path) -> None:
    terminal = talk(
        turn(call("shell", command="echo begun; sleep 300")),
        turn(text="As you wish.", expect=["The user stopped you here", "something else"]),
    )
    terminal.enter("go")
    terminal.wait_for("→ shell echo begun; sleep 300")
    terminal.interrupt()
    terminal.wait_for("stopped. Say how to continue.")
    terminal.enter("something else")
    terminal.wait_for("As you wish.")


def test_the_agent_hears_what_an_interrupted_command_had_printed(talk: Any) -> None:
    terminal = talk(
        turn(call("shell", command="echo begun; touch here; sleep 300")),
        turn(text="I see.", expect=["begun", "interrupted: the user stopped this turn while the command ran"]),
    )
    terminal.enter("go")
    until(Path("here").exists, "the command has begun")
    terminal.interrupt()
    terminal.wait_for("stopped. Say how to continue.")
    assert "begun" in terminal.text
    terminal.enter("go on")
    terminal.wait_for("I see.")


def test_an_agent_that_was_stopped_or_failed_is_not_shown_at_work(talk: Any) -> None:
    terminal = talk(turn(call("plan", add=["Read"]), call("shell", command="echo begun; sleep 300")))
    terminal.enter("go")
    terminal.wait_for("→ shell")
    terminal.interrupt(until="stopped. Say how to continue.")
    with package.open() as desk:
        follower = Follower(lambda: desk, lambda: None)
        assert read_latest(desk.plan.id, ("stop",))["reason"] == "the user stopped it"
        terminal.enter("again")
        terminal.wait_for("another was asked for")
        assert "another was asked for" in read_latest(desk.plan.id, ("stop",))["reason"]
        assert not make_view(follower._around(Seen(desk.plan, changed=last_heard(desk, desk.plan)))).busy


def test_ctrl_c_right_after_the_one_that_stopped_the_agent_leaves(talk: Any) -> None:
    terminal = talk(turn(call("shell", command="sleep 300")))
    terminal.enter("go")
    terminal.wait_for("→ shell sleep 300")
    terminal.interrupt()
    terminal.wait_for("stopped. Say how to continue.")
    terminal.interrupt(until="to continue: punchlist run --resume")
    text = terminal.wait_for("to continue: punchlist run --resume")
    assert terminal.wait_for_end() == 0
    assert "Ctrl+C again leaves" not in text


def test_a_conversation_that_is_gone_on_with_shows_where_it_stands(talk: Any, tmp_path: Path) -> None:
    model = script(tmp_path, turn(call("plan", add=["Read", "Write"])), turn(text="Which one first?"))
    assert run("run", "--model", model, "make a plan").returncode == 0
    terminal = talk(turn(text="x"), words=("--continue",), env={"PUNCHLIST_EXPANDED": "yes"})
    assert "\n> make a plan\nWhich one first?\nPlan  " in terminal.text
    assert "▶ 1 Read\n○ 2 Write\nctrl+t hide plan\n>" in terminal.text
    assert terminal.text.count("○ 2 Write") == 1


@pytest.mark.skipif(find_spec("readline") is None, reason="needs readline")
def test_a_line_that_was_not_finished_when_the_agent_rests_is_in_the_prompt(talk: Any) -> None:
    hold = "while [ ! -e go ]; do sleep 0.02; done"
    terminal = talk(turn(call("shell", command=hold)), turn(text="Yes?"), turn(text="Fine.", expect=["the docs, too"]))
    terminal.enter("go")
    terminal.wait_for("→ shell")
    terminal.type("the do")
    terminal.wait_for("\n> the do")
    Path("go").touch()
    terminal.wait_for("Yes?\n> the do")
    terminal.enter("cs, too")
    terminal.wait_for("Fine.")


@pytest.mark.skipif(find_spec("readline") is None, reason="needs readline")
def test_words_that_waited_when_the_agent_was_stopped_can_be_changed(talk: Any) -> None:
    terminal = talk(turn(call("shell", command="sleep 300")), turn(text="Fine.", expect=["the docs, please"]))
    terminal.enter("go")
    terminal.wait_for("→ shell")
    terminal.enter("the docs")
    terminal.wait_for("queued: the docs")
    terminal.interrupt()
    terminal.wait_for("stopped. Say how to continue.\n> the docs")
    terminal.enter(", please")
    terminal.wait_for("Fine.")


def test_a_command_to_leave_waits_until_the_agent_rests(talk: Any) -> None:
    hold = "while [ ! -e go ]; do sleep 0.02; done"
    terminal = talk(turn(call("shell", command=hold)), turn(text="Yes?"))
    terminal.enter("go")
    terminal.wait_for("→ shell")
    terminal.enter("/quit")
    terminal.wait_for("queued: /quit")
    Path("go").touch()
    terminal.wait_for("Yes?")
    terminal.wait_for("to continue: punchlist run --resume")
    assert terminal.wait_for_end() == 0


def test_ctrl_c_twice_at_the_prompt_leaves(talk: Any) -> None:
    terminal = talk(turn(text="x"))
    terminal.interrupt(until="Ctrl+C again leaves, and so does /quit.\n>")
    terminal.interrupt(until="\nto continue: punchlist run --resume")
    assert terminal.wait_for_end() == 0


def test_ctrl_d_leaves(talk: Any) -> None:
    terminal = talk(turn(text="x"))
    terminal.type("\x04")
    terminal.wait_for("\nto continue: punchlist run --resume")
    assert terminal.wait_for_end() == 0


def test_hostile_words_of_the_model_do_not_act_on_the_terminal(talk: Any) -> None:
    evil = "a\x1b[2J\x1b]0;owned\x07b\u202ec"
    terminal = talk(
        turn(call("plan", add=[evil]), call("shell", command="printf 'out\\033[2Jput'"), call(evil), text=evil),
        turn(text="Still here?"),
    )
    terminal.enter("attack")
    text = terminal.wait_for("Still here?")
    assert "make yourself" not in text
    assert "> attack" in text
    assert "\u202e" not in text


# --- the prompt ------------------------------------------------------------------------------------------------------


def test_ctrl_t_at_the_prompt_shows_and_hides_the_list_and_changes_the_setting(talk: Any) -> None:
    terminal = talk(turn(call("plan", add=["Read", "Write"])), turn(text="Which one first?"))
    terminal.enter("make a plan")
    terminal.wait_for("Which one first?")
    terminal.wait_for("ctrl+t show plan")
    terminal.type("ab\x14")
    terminal.wait_for("○ 2 Write")
    terminal.wait_for("> ab▏")
    (shown,) = [line for line in run("settings").stdout.splitlines() if line.startswith("expanded")]
    assert shown.split()[1:] == ["true", "(Ctrl+T)"]
    terminal.type("\x14")
    terminal.wait_for("ctrl+t show plan")
    with package.open() as desk:
        toggles = [event for event in read_events(desk) if event["kind"] == "toggle"]
    assert [(event["is_expanded"], event["has_todos"]) for event in toggles] == [(False, True), (True, True)]


def test_what_ctrl_t_does_while_the_agent_works_holds_at_the_prompt_and_in_the_next_turn(
    talk: Any, project: Path
) -> None:
    hold = call("shell", command="while [ ! -e go ]; do sleep 0.02; done")
    terminal = talk(
        turn(call("plan", add=["Read", "Write"]), hold),
        turn(text="Which one first?"),
        turn(call("shell", command="while [ ! -e gone ]; do sleep 0.02; done")),
        turn(text="And now?"),
    )
    terminal.enter("make a plan")
    terminal.wait_for("1 Read…")
    terminal.type("\x14")
    terminal.wait_for("ctrl+t hide plan")
    (project / "go").touch()
    terminal.wait_for("Which one first?")
    terminal.wait_for("○ 2 Write\nctrl+t hide plan\n>")
    terminal.type("\x14")
    terminal.wait_for("ctrl+t show plan\n>")
    terminal.enter("the first")
    terminal.wait_for("ctrl+t show plan")
    (project / "gone").touch()
    terminal.wait_for("And now?")
    assert "○ 2 Write" not in "\n".join(terminal.rows)


def test_a_command_at_the_prompt_leaves_no_second_plan_beside_the_panel(talk: Any) -> None:
    terminal = talk(turn(call("plan", add=["Read", "Write"])), turn(text="Which one first?"))
    terminal.enter("make a plan")
    terminal.wait_for("Which one first?")
    terminal.enter("/todo append Test")
    terminal.wait_for('added 3 "Test".\n▶ 1 Read')
    assert "▶ Read 0/" not in terminal.text


def test_an_edit_made_elsewhere_is_seen_at_the_prompt_without_a_key(talk: Any) -> None:
    env = {"PUNCHLIST_EXPANDED": "yes"}
    terminal = talk(turn(call("plan", add=["Read", "Write"])), turn(text="Which one first?"), env=env)
    terminal.enter("make a plan")
    terminal.wait_for("Which one first?")
    terminal.wait_for("○ 2 Write")
    assert run("add", "Tell Ann").returncode == 0
    terminal.wait_for("○ 3 Tell Ann")
    terminal.type("so")
    terminal.wait_for("> so▏")
    assert terminal.text.count("○ 2 Write") == 1


def test_a_line_at_the_prompt_is_edited_like_any_other(talk: Any, tmp_path: Path) -> None:
    terminal = talk(turn(text="Yes?"), turn(text="Well?"))
    terminal.type("he world\x01\x1b[C\x1b[Cllo\x1b[F!")
    terminal.wait_for("> hello world!▏")
    terminal.type("\x17there.\r")
    terminal.wait_for("> hello there.\n")
    terminal.wait_for("Yes?")
    terminal.type("\x1b[A")
    terminal.wait_for("> hello there.▏")
    terminal.type("\x15two\x1b[200~ lines\rpasted\x1b[201~")
    terminal.wait_for("> two lines pasted▏")
    terminal.enter("")
    terminal.wait_for("Well?")
    (path,) = transcripts(tmp_path / "home")
    said = [one["text"] for one in entries(path) if one["type"] == "user"]
    assert said == ["hello there.", "two lines\npasted"]


def test_a_long_line_is_shown_around_the_cursor(talk: Any) -> None:
    terminal = talk(turn(text="Yes?"))
    terminal.type("word " * 200 + "end")
    terminal.wait_for("end▏")
    terminal.type("\x01")
    terminal.wait_for("> ▏word word")
