"""What the plan looks like: in a pipe, on terminals of several widths, in one line, as JSON and Markdown."""

from __future__ import annotations

import json
import os
import subprocess
import termios
from pathlib import Path
from typing import Any, NamedTuple

import pyte
import pytest

import punchlist
from punchlist import codec, ops
from tests.commands import SCRIPT, do

LONG = "Rewrite the reader of the settings file so that it names each fault with its line and its column"
ROWS = 400


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")


class Seen(NamedTuple):
    raw: str
    screen: Any  # pyte's

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    def style(self, text: str) -> Any:
        """The first cell of the first line that holds this text."""
        row, column = next((row, line.index(text)) for row, line in enumerate(self.lines) if text in line)
        return self.screen.buffer[row][column]


def on_terminal(*words: str, columns: int, **env: str) -> Seen:
    """Run a command on a pseudo-terminal of this width."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (ROWS, columns))
    with subprocess.Popen([SCRIPT, *words], stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **env}):
        os.close(theirs)
        raw = _all_of(ours)
    os.close(ours)
    screen = pyte.Screen(columns, ROWS)
    pyte.ByteStream(screen).feed(raw)
    return Seen(raw.decode(), screen)


def _all_of(handle: int) -> bytes:
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(handle, 65536)
        except OSError:  # Linux says that the other side is closed by an error
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def given(*entries: dict[str, Any], **head: Any) -> None:
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.extend(plan, entries)._replace(**head))


def given_one_of_each(**more: Any) -> None:
    given(
        {"text": "Read the code", "status": "completed", **more},
        {"text": "Fix the bug", "status": "in_progress", "active": "Fixing the bug", "notes": ("in line 40",)},
        {"text": "Deploy it", "status": "blocked", "reason": "no access"},
        {"text": "Write a poem", "status": "abandoned", "reason": "nobody asked"},
        {"text": "Run the tests", "needs": ("2",)},
    )


# --- in a pipe -----------------------------------------------------------------------------------------------------


def test_without_a_plan_it_is_said_how_to_make_one() -> None:
    assert do() == "No plan here yet. An agent makes one, or you do: punchlist add 'Run the tests'\n"


def test_the_plan_is_shown_with_marks_numbers_reasons_needs_and_notes() -> None:
    given_one_of_each()
    assert do("show").splitlines() == [
        "Plan  ━━╌╌╌╌╌╌╌╌ 1/4",
        "✓ 1 Read the code",
        "▶ 2 Fixing the bug",
        "    │ in line 40",
        "⊘ 3 Deploy it  (no access)",
        "– 4 Write a poem  (nobody asked)",
        "○ 5 Run the tests  (needs 2)",
    ]


def test_without_a_command_the_plan_is_shown() -> None:
    given_one_of_each()
    assert do() == do("show")


def test_phases_are_headings_and_parts_stand_below_their_whole() -> None:
    given({"text": "Build", "phase": "Make"}, {"text": "Compile", "parent": "1"}, {"text": "Ship", "phase": "Release"})
    assert do().splitlines()[1:] == ["", "Make", "  ○ 1 Build", "    ○ 2 Compile", "", "Release", "  ○ 3 Ship"]


def test_title_mode_and_pause_are_shown() -> None:
    given({"text": "Build"}, title="The release", mode="plan", paused=punchlist.Pause("waiting for the key"))
    assert do().splitlines()[:3] == ["The release  ╌╌╌╌╌╌╌╌╌╌ 0/1", "⏸ paused: waiting for the key", "plan mode"]


def test_a_pipe_gets_every_word() -> None:
    text, note, reason, phase = ("word " * 200 + end for end in ("text", "note", "reason", "phase"))
    given({"text": text, "status": "blocked", "reason": reason, "notes": (note,), "phase": phase})
    shown = do()
    assert [words for words in (text, note, reason, phase) if words not in shown] == []


def test_a_pipe_gets_no_colours() -> None:
    given_one_of_each()
    assert "\x1b" not in do()


def test_colours_can_be_forced_into_a_pipe() -> None:
    given_one_of_each()
    assert "\x1b[" in do(FORCE_COLOR="1")
    assert "\x1b" not in do(FORCE_COLOR="1", NO_COLOR="1")


def test_json_is_the_canonical_plan() -> None:
    given_one_of_each()
    with punchlist.open() as desk:
        data = codec.to_json(desk.plan)
    data["items"][0]["grade"] = "reported"  # what is completed has a grade
    assert json.loads(do("show", "--json")) == data


def test_json_of_no_plan_is_an_empty_plan() -> None:
    assert json.loads(do("--json")) == {"revision": 0, "items": []}


def test_markdown_holds_everything_and_reads_back_as_the_same_plan(tmp_path: Path) -> None:
    given_one_of_each(phase="Phase # 1", priority="high", owner="helper", check={"run": "make test"}, extra={"k": [1]})
    (tmp_path / "plan.md").write_text(do("show", "--markdown"), encoding="utf-8")
    assert do("edit", "--file", str(tmp_path / "plan.md")) == "nothing changed.\n"


# --- one line ------------------------------------------------------------------------------------------------------


def test_the_line_names_the_active_item_and_the_progress() -> None:
    given_one_of_each()
    assert do("line") == "▶ Fixing the bug 1/4\n"


def test_without_an_active_item_the_line_names_the_next() -> None:
    given({"text": "Read", "status": "completed"}, {"text": "Write"})
    assert do("line") == "○ Write 1/2\n"


def test_without_a_plan_the_line_is_empty() -> None:
    assert do("line").strip() == ""


def test_a_finished_plan_is_one_mark_and_its_progress() -> None:
    given({"text": "Read", "status": "completed"})
    assert do("line") == "✓ 1/1\n"


def test_the_line_is_one_line_however_long_and_broken_the_text() -> None:
    given({"text": LONG + "\nand\r\nmore", "status": "in_progress"})
    (line,) = do("line").splitlines()
    assert line.endswith("… 0/1")


def test_the_line_as_json_has_its_numbers_apart() -> None:
    given_one_of_each()
    numbers = {"completed": 1, "total": 4, "verified": 0}
    assert json.loads(do("line", "--json")) == {"line": "▶ Fixing the bug 1/4", **numbers}


# --- on a terminal -------------------------------------------------------------------------------------------------


def test_a_terminal_gets_colours() -> None:
    given_one_of_each()
    seen = on_terminal(columns=120)
    assert seen.style("Fixing").bold
    assert seen.style("Write a poem").strikethrough
    assert seen.style("✓").fg == "green"
    assert not seen.style("Run the tests").bold


def test_a_dumb_terminal_gets_no_styles() -> None:
    given_one_of_each()
    assert "\x1b" not in on_terminal(columns=120, TERM="dumb").raw


def test_no_color_takes_the_colors_and_keeps_what_is_bold_or_struck_out() -> None:
    given_one_of_each()
    seen = on_terminal(columns=120, NO_COLOR="1")
    assert seen.style("Fixing").bold
    assert seen.style("Write a poem").strikethrough
    assert {seen.style(mark).fg for mark in "✓▶⊘"} == {"default"}


def test_an_empty_no_color_means_nothing() -> None:
    given_one_of_each()
    assert "\x1b[" in on_terminal(columns=120, NO_COLOR="").raw


def test_what_fits_is_shown_whole() -> None:
    given({"text": LONG})
    assert on_terminal(columns=120).lines[1] == f"○ 1 {LONG}"


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
@pytest.mark.parametrize("text", [LONG, "漢字を含む長い項目 " * 20, "e\u0301" * 150, "🎉" * 100], ids=ascii)
def test_nothing_is_wider_than_the_terminal(columns: int, text: str) -> None:
    more = {"text": text, "phase": text, "reason": text, "owner": text}
    given({**more, "status": "in_progress", "notes": (text,)}, {**more, "status": "blocked"}, {**more, "parent": "1"})
    seen = on_terminal(columns=columns)
    assert len([line for line in seen.lines if line]) == len([line for line in seen.raw.splitlines() if line.strip()])


@pytest.mark.parametrize("columns", [20, 40, 120])
def test_the_line_fits_the_terminal(columns: int) -> None:
    given({"text": "漢字を含む長い項目 " * 20, "status": "in_progress"})
    seen = on_terminal("line", columns=columns)
    assert [line for line in seen.lines if line] == [seen.lines[0]]
    assert seen.lines[0].endswith("0/1")


def test_a_number_in_columns_wins_over_the_terminal() -> None:
    given({"text": LONG})
    assert len(on_terminal(columns=120, COLUMNS="40").lines[1]) <= 40


def test_a_long_text_is_wrapped_on_a_terminal_and_not_in_a_pipe() -> None:
    given({"text": "Find out why the tests of the parser fail on Mondays"})
    assert on_terminal(columns=40).lines[1:3] == ["○ 1 Find out why the tests of the parser", "    fail on Mondays"]
    assert do("show").splitlines()[1:] == ["○ 1 Find out why the tests of the parser fail on Mondays"]


# --- where the screen has only ASCII ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "", "LC_ALL": "C"},
        {"PYTHONIOENCODING": "", "LC_ALL": "", "LC_CTYPE": "POSIX", "PYTHONUTF8": "1", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["encoding", "old locale", "locale", "POSIX"],
)
def test_ascii_screens_get_ascii_marks(env: dict[str, str]) -> None:
    given_one_of_each(notes=("één",))
    for shown in (on_terminal(columns=80, TERM="dumb", **env).raw, do("show", **env)):
        assert shown.isascii()
        assert shown.split("\n")[0].rstrip() == "Plan  ##........ 1/4"
        assert "> 2 Fixing the bug" in shown


def test_ascii_screens_get_foreign_letters_spelled_out() -> None:
    given({"text": "Prüfen"})
    assert do("show", PYTHONIOENCODING="ascii").splitlines()[1] == "o 1 Pr\\xfcfen"
    assert json.loads(do("--json", PYTHONIOENCODING="ascii"))["items"][0]["text"] == "Prüfen"


@pytest.mark.parametrize("columns", [20, 40])
def test_nothing_is_wider_than_an_ascii_terminal(columns: int) -> None:
    given({"text": "Prüfung der Schlüssel für das Wörterbuch", "phase": "Überprüfung der Übersetzungen"})
    raw = on_terminal(columns=columns, TERM="dumb", PYTHONIOENCODING="ascii").raw
    assert [line for line in raw.splitlines() if len(line) > columns] == []


# --- where nobody reads to the end -----------------------------------------------------------------------------------


def into_a_closed_pipe(*words: str) -> tuple[int, str]:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([SCRIPT, *words], stdout=writing, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    os.close(writing)
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [["show"], ["--json"], ["line"], ["export"], ["--help"]], ids=" ".join)
def test_a_reader_that_has_left_is_no_fault(words: list[str]) -> None:
    given_one_of_each()
    assert into_a_closed_pipe(*words) == (0, "")


def test_a_refusal_nobody_reads_is_still_a_refusal() -> None:
    given_one_of_each()
    assert into_a_closed_pipe("done", "99", "--json") == (1, "")


def test_head_takes_the_first_line_of_a_long_plan() -> None:
    given(*({"text": f"{LONG} {number}"} for number in range(3000)))
    done = subprocess.run(f"'{SCRIPT}' | head -n 1", shell=True, capture_output=True, encoding="utf-8", check=False)
    assert (done.stdout, done.stderr) == ("Plan  ╌╌╌╌╌╌╌╌╌╌ 0/3000\n", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_output_that_is_full_is_said_in_a_line() -> None:
    given_one_of_each()
    with open("/dev/full", "w") as full:
        done = subprocess.run([SCRIPT, "show"], stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    assert done.returncode not in (0, 120)
    assert done.stderr.startswith("punchlist: ")
    assert done.stderr.count("\n") == 1


def into_a_full_disk(*words: str) -> tuple[int, str]:
    with open("/dev/full", "w") as full:
        done = subprocess.run([SCRIPT, *words], stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    return done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("count", [1, 200])  # what is printed fits into a buffer, or does not
def test_a_change_that_is_saved_and_cannot_be_printed_is_told_as_such(count: int) -> None:
    given(*({"text": f"{LONG} {number}"} for number in range(count)))
    words = "Only the output is missing: what was to be changed is saved."
    said = f"punchlist: standard output: No space left on device. {words}\n"
    assert into_a_full_disk("add", "Ship", "--json") == (3, said)
    assert len(json.loads(do("show", "--json"))["items"]) == count + 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_refusal_that_cannot_be_printed_is_still_a_refusal() -> None:
    given({"text": "Ship"})
    assert into_a_full_disk("done", "99", "--json") == (1, "punchlist: no item '99'; the ids are 1.\n")


def test_a_change_is_made_even_where_nobody_can_be_told_of_it() -> None:
    given_one_of_each()
    done = subprocess.run(f"'{SCRIPT}' add Ship >&-", shell=True, capture_output=True, encoding="utf-8", check=False)
    assert "Traceback" not in done.stderr
    assert do("show").splitlines()[-1] == "○ 6 Ship"


# --- in other styles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("style", "begin"),
    [
        ("punchlist", "Plan  ━━╌╌╌╌╌╌╌╌ 1/4\n✓ 1 Read the code\n"),
        ("claude-code", "  Todos\n  ☒ Read the code\n  ☐ Fix the bug\n"),
        ("gencode", "┌─ Tasks ─"),
        ("oh-my-pi", "Todos 1/4\n├─ ✓ Read the code\n├─ ▶ Fixing the bug¹\n│    in line 40\n"),
    ],
)
def test_the_plan_is_shown_in_other_styles(style: str, begin: str) -> None:
    given_one_of_each()
    assert do("show", "--style", style).startswith(begin)
    assert do(PUNCHLIST_STYLE=style).startswith(begin)


@pytest.mark.parametrize("style", ["claude-code", "gencode", "oh-my-pi"])
def test_without_a_plan_every_style_says_how_to_make_one(style: str) -> None:
    assert do("show", "--style", style).startswith("No plan here yet.")


@pytest.mark.parametrize("style", ["claude-code", "gencode", "oh-my-pi"])
@pytest.mark.parametrize("columns", [20, 300])
def test_every_style_fits_the_screen(style: str, columns: int) -> None:
    given({"text": LONG, "status": "in_progress", "notes": (LONG,)}, {"text": "short"})
    seen = on_terminal("show", "--style", style, columns=columns)
    assert len([line for line in seen.lines if line]) == len([line for line in seen.raw.splitlines() if line.strip()])
    assert "Rewrite the" in "\n".join(seen.lines)


def test_a_style_that_is_not_there_is_misuse() -> None:
    done = subprocess.run([SCRIPT, "show", "--style", "neon"], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert "--style is one of punchlist, claude-code, gencode, oh-my-pi, not 'neon'" in done.stderr


def test_signs_beyond_ascii_can_be_switched_off() -> None:
    given_one_of_each()
    assert do(PUNCHLIST_UNICODE="no").isascii()
    assert do("line", PUNCHLIST_UNICODE="no").isascii()
    assert do("show", "--style", "gencode", PUNCHLIST_UNICODE="no").isascii()


def test_for_tmux_no_word_of_an_item_is_markup() -> None:
    do("add", "x #{?1,YES,NO} #[fg=red] #1")
    assert do("line", "--tmux") == "○ x ##{?1,YES,NO} ##[fg=red] ##1 0/1\n"
    assert do("line") == "○ x #{?1,YES,NO} #[fg=red] #1 0/1\n"


def test_for_zsh_no_word_of_an_item_is_markup() -> None:
    do("add", "Reach 80%done %F{red}")
    assert do("line", "--zsh") == "○ Reach 80%%done %%F{red} 0/1\n"
