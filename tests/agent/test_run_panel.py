"""The agent with the live panel, in a pseudo-terminal: the plan stays in sight below what the agent says."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import punchlist as package
from punchlist.desk.events import read_events
from tests.agent.commands import script
from tests.agent.contexts import call, turn
from tests.agent.servers import Says, serving
from tests.agent.terminal import Terminal
from tests.commands import SCRIPT

HOLD = "while [ ! -e go ]; do sleep 0.02; done"  # a command that waits for the test


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PUNCHLIST_EXPANDED", "yes")
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    opened: list[Terminal] = []

    def begin(
        *turns: dict[str, Any],
        words: tuple[str, ...] = (),
        workers: Any = None,
        size: tuple[int, int] = (40, 100),
    ) -> Terminal:
        model = script(tmp_path, *turns, workers=workers or {})
        terminal = Terminal(SCRIPT, "run", "--model", model, *words, "go", rows=size[0], columns=size[1])
        opened.append(terminal)
        return terminal

    yield begin
    for terminal in opened:
        terminal.close()


def planned(*texts: str) -> list[dict[str, Any]]:
    """A plan is made, then a command waits for the test, then everything is done."""
    ids = list(range(1, len(texts) + 1))
    return [
        turn(call("plan", add=list(texts)), call("shell", command=HOLD), text="I make a plan."),
        turn(call("plan", done=ids)),
        turn(text="Done."),
    ]


def test_the_plan_is_below_what_the_agent_says_and_stays_when_it_is_done(start: Any, project: Path) -> None:
    terminal = start(*planned("Read the code", "Write the test"))
    terminal.wait_for("○ 2 Write the test")
    rows = [row.rstrip() for row in terminal.rows]
    said, head = rows.index("I make a plan."), next(i for i, row in enumerate(rows) if row.startswith("Plan"))
    assert said < head
    assert "Read the code…" in rows[head + 1]
    assert rows[head + 2].strip() == "○ 2 Write the test"
    (project / "go").touch()
    assert terminal.wait_for_end() == 0
    rows = [row.rstrip() for row in terminal.rows if row.strip()]
    assert "Done." in rows
    assert rows[-1].strip() == "✓ 2 Write the test"
    assert "ctrl+t" not in terminal.text


def test_ctrl_t_shows_and_hides_the_list_and_that_is_remembered(
    start: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PUNCHLIST_EXPANDED")
    terminal = start(*planned("Read the code", "Write the test"))
    terminal.wait_for("Read the code")  # a toggle before there is a plan is about no plan
    terminal.wait_for("ctrl+t show plan")
    terminal.type("\x14")
    terminal.wait_for("○ 2 Write the test")
    terminal.type("\x14")
    terminal.wait_for("ctrl+t show plan")
    (project / "go").touch()
    assert terminal.wait_for_end() == 0
    with package.open() as desk:
        toggles = [event for event in read_events(desk) if event["kind"] == "toggle"]
    assert [(event["is_expanded"], event["has_todos"]) for event in toggles] == [(False, True), (True, True)]
    (project / "go").unlink()
    again = start(*planned("Read more", "Write more"))
    again.wait_for("ctrl+t show plan")
    (project / "go").touch()
    assert again.wait_for_end() == 0


@pytest.mark.parametrize(("rows", "columns"), [(6, 20), (12, 40), (50, 200)])
def test_the_active_item_is_in_sight_on_any_screen(start: Any, project: Path, rows: int, columns: int) -> None:
    terminal = start(*planned("Read", *[f"Write test {number}" for number in range(30)]), size=(rows, columns))
    terminal.wait_for("1 Read")
    (project / "go").touch()
    assert terminal.wait_for_end() == 0


def test_a_sub_agent_is_shown_in_the_panel_while_it_works_and_with_its_list_when_it_is_done(
    start: Any, project: Path
) -> None:
    workers = {
        "docs": {
            "turns": [
                turn(call("plan", add=["Look", "Write", "Check"]), call("plan", done=[1]), call("shell", command=HOLD)),
                turn(call("plan", done=[2, 3])),
                turn(text="Written."),
            ]
        }
    }
    terminal = start(
        turn(call("plan", add=["Lead"]), call("task", name="docs", prompt="Go.", background=True)),
        turn(call("shell", command=HOLD)),
        turn(call("plan", done=[1])),
        turn(text="All done."),
        turn(text="Really."),
        workers=workers,
    )
    terminal.wait_for("docs Running 1/3")
    (project / "go").touch()
    assert terminal.wait_for_end() == 0
    assert "Agent: docs\nStatus: Completed\nTasks (3/3)" in terminal.text


def test_a_question_takes_the_place_of_the_panel_and_the_panel_comes_back(start: Any, project: Path) -> None:
    terminal = start(
        turn(call("plan", add=["Paint it"]), call("ask", question="Which colour?", choices=["red", "blue"])),
        turn(call("shell", command=HOLD), expect=["blue"]),
        turn(call("plan", done=[1])),
        turn(text="Blue it is."),
    )
    terminal.wait_for("2. blue\n?")
    terminal.enter("2")
    terminal.wait_for("→ shell")
    terminal.wait_for("ctrl+t hide plan")
    (project / "go").touch()
    assert terminal.wait_for_end() == 0
    assert "Blue it is." in terminal.text


def test_an_answer_that_is_no_utf8_is_an_answer(start: Any, project: Path) -> None:
    terminal = start(turn(call("ask", question="Which colour?")), turn(text="So be it.", expect=["caf"]))
    terminal.wait_for("Which colour?")
    terminal.process.write(b"caf\xe9\r")
    assert terminal.wait_for_end() == 0
    assert "So be it." in terminal.text


def test_an_interrupt_gives_the_terminal_back_as_it_was(start: Any) -> None:
    terminal = start(*planned("Read the code"))
    terminal.wait_for("ctrl+t hide plan")
    terminal.interrupt()
    terminal.wait_for("stopped. Say how to continue.")
    assert terminal.wait_for_end() == 130
    assert not terminal.cursor_is_hidden


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_it_leaves_the_panel_once_and_the_cursor_below_it(start: Any, number: int) -> None:
    terminal = start(*planned("Read the code", "Write the test"))
    terminal.wait_for("→ shell")
    terminal.wait_for("○ 2 Write the test")
    terminal.process.kill(number)
    terminal.wait_for_end()
    assert terminal.text.count("○ 2 Write the test") == 1
    assert not terminal.cursor_is_hidden
    assert not any(row.strip() for row in terminal.rows[terminal.cursor_row :])


def test_a_provider_that_is_busy_is_seen_to_be_waited_for_and_an_error_is_told_whole(tmp_path: Path) -> None:
    slow = Says(status=429, headers=[("Retry-After", "2")], error="slow down")
    wrong = Says(status=404, error=" ".join(f"word{number}" for number in range(30)))
    env = {"OPENAI_API_KEY": "x"}
    with serving("openai", slow, wrong) as server:
        words = (SCRIPT, "run", "--model", "openai:m", "--base-url", server.url, "go")
        terminal = Terminal(*words, env=env, columns=60)
        terminal.wait_for("! openai is busy; again in 2 s (1 of 5)")
        assert terminal.wait_for_end() == 1
    assert "is busy" not in terminal.text
    assert all(f"word{number}" in terminal.text for number in range(30))
    terminal.close()


def test_what_is_typed_while_the_agent_works_is_seen_and_heard_when_it_rests(start: Any, project: Path) -> None:
    first = [*planned("Read"), turn(text="The docs, too.", expect=["größe of the docs"])]
    terminal = start(*first)
    terminal.wait_for("ctrl+t hide plan")
    terminal.type("größe if\x7f\x7fof the docs")
    terminal.wait_for("\n> größe of the docs")
    terminal.type("\x14")
    terminal.wait_for("ctrl+t show plan")
    terminal.type("\r")
    terminal.wait_for("queued: größe of the docs")
    (project / "go").touch()
    assert terminal.wait_for_end() == 0
    assert "Done." in terminal.text
    assert "\n> größe of the docs\nThe docs, too." in terminal.text


def test_who_has_said_more_is_heard_before_the_agent_is_sent_on(start: Any, project: Path) -> None:
    stops_early = [turn(call("plan", add=["Read"]), call("shell", command=HOLD)), turn(text="That is it.")]
    terminal = start(*stops_early, turn(call("plan", done=[1]), expect=["the docs"]), turn(text="Done."))
    terminal.wait_for("ctrl+t hide plan")
    terminal.enter("the docs")
    terminal.wait_for("queued: the docs")
    (project / "go").touch()
    assert terminal.wait_for_end() == 0
    assert "nudged" not in terminal.text


def test_commands_about_the_plan_are_obeyed_while_the_agent_works(start: Any, project: Path) -> None:
    terminal = start(*planned("Read"), turn(call("plan", done=[2])), turn(text="All done."))
    terminal.wait_for("→ shell")
    terminal.wait_for("ctrl+t hide plan")
    terminal.enter("/todo append Write")
    terminal.wait_for('added 2 "Write".')
    terminal.wait_for("○ 2 Write")
    terminal.enter("/todo frob")
    terminal.wait_for("/todo has no 'frob'")
    terminal.enter("/frob")
    terminal.wait_for("no command '/frob'; /help lists them.")
    terminal.enter("/todos")
    terminal.wait_for("☐ Write")
    (project / "go").touch()
    assert terminal.wait_for_end() == 0
    with package.open() as desk:
        assert [item.text for item in desk.plan.items] == ["Read", "Write"]
        assert {record.by for record in desk.history()} == {"main", "user"}


def test_what_was_queued_when_the_agent_is_stopped_is_not_said_and_not_lost(start: Any) -> None:
    terminal = start(*planned("Read"))
    terminal.wait_for("ctrl+t hide plan")
    terminal.enter("the docs")
    terminal.wait_for("queued: the docs")
    terminal.type("and mo")
    terminal.wait_for("> and mo")
    terminal.interrupt()
    assert terminal.wait_for_end() == 130
    assert "not sent: the docs and mo" in terminal.text


@pytest.mark.parametrize(("style", "words"), [("claude-code", "☐ Write"), ("gencode", "Tasks"), ("oh-my-pi", "Write")])
def test_the_panel_has_the_style_that_is_wished_for(start: Any, project: Path, style: str, words: str) -> None:
    terminal = start(*planned("Read", "Write"), words=("--style", style))
    terminal.wait_for(words)
    (project / "go").touch()
    assert terminal.wait_for_end() == 0


def test_plain_lines_are_there_for_who_wants_them(start: Any, project: Path) -> None:
    terminal = start(*planned("Read", "Write"), words=("--plain",))
    terminal.wait_for("▶ Read 0/2")
    assert "ctrl+t" not in terminal.text
    (project / "go").touch()
    assert terminal.wait_for_end() == 0
    assert "✓ 2/2" in terminal.text


def test_the_demo_shows_the_panel() -> None:
    terminal = Terminal(SCRIPT, "demo", "--fast", rows=50)
    assert terminal.wait_for_end() == 0
    text = terminal.text
    assert "✓ 6 Refuse to split among nobody" in text
    assert "✔ 2 Fix how amounts are read" in text
    assert "6/6 · 1 verified" in text
    assert "red before, green now" in text
    assert not terminal.cursor_is_hidden
    terminal.close()
