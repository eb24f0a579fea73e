"""`edit`: the plan in the user's editor. The editors here are small programs that change the file they are given."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import punchlist
from punchlist import Item, ops
from tests.cli.plans import given, plan, texts
from tests.commands import SCRIPT, run
from tests.stores.test_full_disk import filled


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("work", "drafts"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "drafts"))
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)


def editor(body: str) -> str:
    """A command that changes `text`, the text of the file it is called with."""
    program = f"import sys, pathlib, subprocess\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n{body}\n"
    Path("editor.py").write_text(program + "path.write_text(text)\n")
    return f"{shlex.quote(sys.executable)} editor.py"


def replacing(old: str, new: str) -> str:
    return editor(f"assert {old!r} in text, text\ntext = text.replace({old!r}, {new!r})")


def edit(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return run("edit", *words, **env)


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


def why(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (1, ""), done.stdout
    assert done.stderr.startswith("punchlist: "), done.stderr
    return done.stderr.removeprefix("punchlist: ")


def drafts() -> list[Path]:
    return list(Path(os.environ["TMPDIR"]).iterdir())


# --- what was changed is applied -------------------------------------------------------------------------------------


def test_leaving_the_editor_without_a_change_changes_nothing() -> None:
    given("Read", "Write")
    assert said(edit(EDITOR="true")) == ["nothing changed."]
    assert (plan().revision, drafts()) == (1, [])


def test_the_editor_sees_the_plan_and_its_change_is_told_and_applied() -> None:
    given("Read", "Write")
    assert said(edit(EDITOR=replacing("- [ ] 2. Write", "- [x] 2. Write it"))) == [
        'renamed 2 "Write" to "Write it".',
        'completed 2 "Write it".',
    ]
    assert (texts(), plan().items[1].status, plan().revision, drafts()) == (["Read", "Write it"], "completed", 2, [])


def test_a_line_without_a_number_is_a_new_item_and_a_line_taken_out_is_an_item_removed() -> None:
    given("Read", "Write")
    edit(EDITOR=replacing("- [ ] 1. Read\n", "- [/] Think\n"))
    assert plan().items == (Item("3", "Think", "in_progress"), Item("2", "Write"))


def test_items_are_moved_by_moving_their_lines() -> None:
    given("Read", "Write")
    edit(EDITOR=replacing("- [ ] 1. Read\n- [ ] 2. Write", "- [ ] 2. Write\n- [ ] 1. Read"))
    assert texts() == ["Write", "Read"]


def test_phases_fields_and_notes_can_be_written() -> None:
    given("Read", "Write")
    edit(EDITOR=replacing("- [ ] 2. Write", "## Later\n- [ ] 2. Write\n  - needs: 1\n  - owner: helper\n  > soon"))
    assert plan().phases == ("Later",)
    assert plan().items[1] == Item("2", "Write", phase="Later", needs=("1",), owner="helper", notes=("soon",))


def test_a_plan_can_be_begun_in_the_editor() -> None:
    edit(EDITOR=editor("text += '- [ ] Read\\n- [ ] Write\\n'"))
    assert texts() == ["Read", "Write"]


def test_with_json_the_plan_comes_back() -> None:
    given("Read")
    assert '"text": "Read more"' in edit("--json", EDITOR=replacing("Read", "Read more")).stdout


def test_visual_goes_before_editor() -> None:
    given("Read")
    assert said(edit(VISUAL=replacing("Read", "Look"), EDITOR="false")) == ['renamed 1 "Read" to "Look".']


def test_the_draft_is_the_user_s_alone() -> None:
    given("Read")
    edit(EDITOR=editor("pathlib.Path('mode').write_text(oct(path.stat().st_mode & 0o777))"))
    assert Path("mode").read_text() == "0o600"


# --- an agent changed the plan meanwhile -----------------------------------------------------------------------------


def meanwhile(*words: str) -> str:
    return f"subprocess.run({[SCRIPT, *words]!r}, check=True, capture_output=True)"


def test_what_an_agent_did_meanwhile_stays() -> None:
    given("Read", "Write")
    change = "text = text.replace('2. Write', '2. Write it')"
    edit(EDITOR=editor(f"{meanwhile('add', 'Test')}\n{meanwhile('done', '1')}\n{change}"))
    assert [(item.id, item.text, item.status) for item in plan().items] == [
        ("1", "Read", "completed"),
        ("2", "Write it", "pending"),
        ("3", "Test", "pending"),
    ]


def test_an_item_added_by_each_gets_a_number_of_its_own() -> None:
    given("Read")
    edit(EDITOR=editor(f"{meanwhile('add', 'of the agent')}\ntext += '- [ ] of the user\\n'"))
    assert {item.text: item.id for item in plan().items} == {"Read": "1", "of the agent": "2", "of the user": "3"}


def test_where_both_changed_the_same_the_user_wins() -> None:
    given("Read")
    edit(EDITOR=editor(f"{meanwhile('rename', '1', 'Skim')}\ntext = text.replace('Read', 'Study')"))
    assert texts() == ["Study"]


def test_what_the_user_did_not_touch_is_not_taken_back() -> None:
    given("Read", "Write")
    said(edit(EDITOR=editor(meanwhile("rm", "2"))))
    assert texts() == ["Read"]


# --- what cannot be read ---------------------------------------------------------------------------------------------


def test_a_text_that_cannot_be_read_is_kept_and_can_be_mended_and_applied() -> None:
    given("Read", "Write")
    reason, hint = why(edit(EDITOR=replacing("- [ ] 2. Write", "- [?] 2. Write it"))).splitlines()
    (kept,) = drafts()
    assert reason == "line 5: the box [?] means nothing; use [ ], [/], [x], [-] or [!]."
    assert hint == f"your text is kept; fix it and run: punchlist edit --file {kept}"
    assert plan().revision == 1
    kept.write_text(kept.read_text().replace("[?]", "[x]"))
    assert said(edit("--file", str(kept))) == ['renamed 2 "Write" to "Write it".', 'completed 2 "Write it".']


def test_a_kept_text_is_applied_to_the_plan_as_it_is_by_then() -> None:
    given("Read", "Write")
    edit(EDITOR=replacing("2. Write", "7. Write it"))
    (kept,) = drafts()
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.add(ops.complete(plan, "1"), "Test"))
    kept.write_text(kept.read_text().replace("7. Write it", "2. Write it"))
    said(edit("--file", str(kept)))
    assert [(item.text, item.status) for item in plan().items] == [
        ("Read", "completed"),
        ("Write it", "pending"),
        ("Test", "pending"),
    ]


def test_a_text_that_the_store_could_not_take_is_kept_too(own_home: Path) -> None:
    given("Read")
    body = f"import sqlite3\nwith sqlite3.connect({str(own_home / 'punchlist' / 'punchlist.db')!r}) as db:"
    done = edit(EDITOR=editor(f"{body}\n    db.execute('DROP TABLE history')\ntext += '- [ ] Write\\n'"))
    assert done.returncode == 3
    (kept,) = drafts()
    assert str(kept) in done.stderr
    assert "- [ ] Write" in kept.read_text()


def test_a_text_that_is_not_utf_8_is_kept_too() -> None:
    given("Read")
    reason, hint = why(edit(EDITOR=editor("path.write_bytes(b'- [ ] caf\\xe9\\n'); sys.exit()"))).splitlines()
    (kept,) = drafts()
    assert reason == f"{kept}: not UTF-8 at byte 9."
    assert hint == f"your text is kept; fix it and run: punchlist edit --file {kept}"
    assert kept.read_bytes() == b"- [ ] caf\xe9\n"


EMPTY = "the text is empty, so nothing was changed; to remove items: punchlist rm ID.\n"


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", "\ufeff"], ids=ascii)
def test_an_empty_text_changes_nothing(text: str) -> None:
    given("Read", "Write")
    assert why(edit(EDITOR=editor(f"text = {text!r}"))) == EMPTY
    assert (plan().revision, drafts()) == (1, [])
    Path("text.md").write_text(text, encoding="utf-8")
    assert why(edit("--file", "text.md")) == EMPTY
    assert (plan().revision, Path("text.md").exists()) == (1, True)


def test_every_item_can_be_taken_out_of_a_text() -> None:
    given("Read", "Write")
    edit(EDITOR=editor("text = text.partition('- [')[0]"))
    assert texts() == []


def test_an_editor_that_removes_the_file_changes_nothing() -> None:
    given("Read")
    reason = why(edit(EDITOR=editor("path.unlink(); sys.exit()")))
    assert reason.endswith(": No such file or directory.\n")
    assert (texts(), drafts()) == (["Read"], [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("hello", "line 4: 'hello' is neither a phase, an item with a box, a field nor a note."),
        ("- [ ] 9. Nine", "line 4: there is no item 9; leave the number out for a new item."),
        ("- [ ] 1. Twice", "line 5: item 1 is here twice."),
        ("- [ ]", "line 4: the item has no text."),
        ("# Again", "line 4: there is a title already; a phase begins with ##."),
        ("##", "line 4: a phase needs a name of its own."),
        ("mode: fast", "line 4: mode must be one of 'act', 'plan', 'quiet'."),
        ("paused: [1", "line 4: '[1' is not valid JSON."),
        ("paused: [3]", "line 4: paused cannot be read."),
        ('paused: {"reason": "x"}', "line 4: paused cannot be read."),
        ("removed: 3", "line 4: removed cannot be read."),
        ("- [ ] New\n  - frob: 1", "line 5: '- frob: 1' is not a field"),
        ("- [ ] New\n  - parent: 9", "line 4: parent names '9', which is not in the list."),
        ("- [ ] New\n  - needs: 9", "line 4: needs names '9', which is not in the list."),
        ("- [ ] New\n  - extra: [1]", "line 5: extra cannot be read."),
        ('- [ ] New\n  - evidence: {"a": 1}', "line 5: evidence cannot be read."),
        ('- [ ] "unfinished', "line 4: '\"unfinished' is not valid JSON."),
    ],
    ids=ascii,
)
def test_a_line_that_cannot_be_read_is_named(line: str, reason: str, tmp_path: Path) -> None:
    given("Read")
    (tmp_path / "text.md").write_text(f"#\n<!-- revision 1 -->\n\n{line}\n- [ ] 1. Read\n")
    assert why(edit("--file", str(tmp_path / "text.md"))).startswith(reason)
    assert plan().items == (Item("1", "Read"),)


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        ("- [ ] 1. Read\n  - needs: 2\n- [ ] 2. Write\n  - needs: 1", "wait for each other"),
        ("- [ ] 1. Read\n  - needs: 1\n- [ ] 2. Write", "1"),
        ("- [ ] 1. Read\n  - parent: 2\n- [ ] 2. Write\n  - parent: 1", "1"),
    ],
)
def test_items_that_wait_for_or_belong_to_each_other_are_refused(lines: str, part: str, tmp_path: Path) -> None:
    given("Read", "Write")
    (tmp_path / "text.md").write_text(f"#\n{lines}\n")
    assert part in why(edit("--file", str(tmp_path / "text.md")))
    assert plan().revision == 1


@pytest.mark.parametrize("content", [None, b"#\n- [ ] caf\xe9\n"], ids=["missing", "not UTF-8"])
def test_a_file_that_cannot_be_read_is_named(content: bytes | None) -> None:
    given("Read")
    if content is not None:
        Path("text.md").write_bytes(content)
    assert why(edit("--file", "text.md")).startswith("text.md: ")
    assert texts() == ["Read"]


def test_a_folder_is_not_a_text() -> None:
    given("Read")
    assert why(edit("--file", "."))
    assert texts() == ["Read"]


# --- editors that do not work ----------------------------------------------------------------------------------------


def test_an_editor_that_fails_changes_nothing() -> None:
    given("Read")
    assert why(edit(EDITOR="false")) == "the editor 'false' ended with code 1; nothing was changed.\n"
    assert (texts(), drafts()) == (["Read"], [])


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("sys.exit(3)", "ended with code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed (SIGKILL)"),
        ("import os; os.kill(os.getpid(), 40)", "was killed (signal 40)"),
    ],
)
def test_what_was_saved_before_an_editor_failed_is_kept_and_can_be_applied(end: str, how: str) -> None:
    given("Read")
    command = editor(f"path.write_text(text + '- [ ] an hour of work\\n')\n{end}")
    reason, hint = why(edit(EDITOR=command)).splitlines()
    (kept,) = drafts()
    assert reason == f"the editor {command!r} {how}; nothing was changed."
    assert hint == f"your text is kept; to apply it, run: punchlist edit --file {kept}"
    assert texts() == ["Read"]
    said(edit("--file", str(kept)))
    assert texts() == ["Read", "an hour of work"]


def test_a_text_for_the_editor_that_finds_no_room_is_told_with_the_remedy(small_disk: Path) -> None:
    given(*(f"{number} {'Read ' * 100}" for number in range(20)))
    filling = filled(small_disk)
    os.truncate(filling, filling.stat().st_size - 4096)  # Python takes another folder if nothing can be written
    done = edit(EDITOR="true", TMPDIR=str(small_disk))
    assert done.returncode == 3
    assert done.stderr.startswith(f"punchlist: {small_disk}/punchlist-")
    assert done.stderr.endswith(" cannot be written: No space left on device; make room there, or set TMPDIR.\n")
    assert list(small_disk.iterdir()) == [filling]


@pytest.mark.parametrize("body", ["path.unlink()", "path.write_text('')"])
def test_an_editor_that_fails_and_leaves_nothing_changes_nothing(body: str) -> None:
    given("Read")
    assert why(edit(EDITOR=editor(f"{body}\nsys.exit(1)"))).endswith("ended with code 1; nothing was changed.\n")
    assert (texts(), drafts()) == (["Read"], [])


def interrupted(body: str) -> str:
    """What `edit` says after Ctrl+C in a terminal, which reaches the editor too."""
    command = editor(f"import time\n{body}\npathlib.Path('ready').touch()\ntime.sleep(60)")
    env = {**os.environ, "EDITOR": command}
    process = subprocess.Popen(
        [SCRIPT, "edit"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 20
    while not Path("ready").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    printed, complaint = process.communicate(timeout=20)
    assert (process.returncode, printed) == (130, "")
    return "".join(line for line in complaint.splitlines(keepends=True) if "edit --file" in line)


def test_ctrl_c_keeps_what_was_saved_and_says_where_it_is() -> None:
    given("Read")
    said_last = interrupted("path.write_text(text + '- [ ] Write\\n')")
    (kept,) = drafts()
    assert said_last == f"your text is kept; to apply it, run: punchlist edit --file {kept}\n"
    assert texts() == ["Read"]


def test_ctrl_c_removes_a_draft_that_is_as_it_was() -> None:
    given("Read")
    assert interrupted("") == ""
    assert (texts(), drafts()) == (["Read"], [])


@pytest.mark.parametrize(
    ("command", "words"), [("no-such-editor", "No such file or directory"), ("'unbalanced", "No closing quotation")]
)
def test_an_editor_that_cannot_be_started_is_named(command: str, words: str) -> None:
    given("Read")
    assert why(edit(EDITOR=command)) == f"the editor {command!r} could not be started ({words}); set EDITOR.\n"
    assert drafts() == []
