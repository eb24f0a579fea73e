"""Import and export of every format, on documents written by hand from what each system documents."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Desk, MemoryStore, Plan, Refused, ops
from tests.commands import run

DOCUMENTS = Path(__file__).parent / "documents"
FILES = {
    "json": "plan.json",
    "markdown": "checklist.md",
    "claude-code": "claude-code.json",
    "claude-tasks": "claude-tasks.json",
    "oh-my-pi": "oh-my-pi.json",
    "llxprt": "llxprt.json",
}


pytestmark = pytest.mark.usefixtures("own_folder")


def take_in(format: str, path: Path | str, *words: str) -> Any:
    """Import a file; what was answered."""
    done = run("import", "--format", format, str(path), "--json", *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return json.loads(done.stdout)


def give_out(format: str) -> Any:
    """Export the plan."""
    done = run("export", "--format", format)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout if format == "markdown" else json.loads(done.stdout)


def content(format: str) -> Any:
    text = (DOCUMENTS / FILES[format]).read_text(encoding="utf-8")
    return text if format == "markdown" else json.loads(text)


def refused(format: str, document: bytes | str, name: str = "document") -> str:
    """Import a document that must be refused; the reason."""
    before = plan()
    Path(name).write_bytes(document.encode() if isinstance(document, str) else document)
    done = run("import", "--format", format, name)
    assert (done.returncode, done.stdout) == (1, ""), done.stdout
    assert done.stderr.startswith("punchlist: "), done.stderr
    assert plan() == before
    return done.stderr.removeprefix("punchlist: ")


def given(*texts: str) -> None:
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.extend(plan, [{"text": text} for text in texts]))


def plan() -> Plan:
    with punchlist.open() as desk:
        return desk.plan


def show(*words: str) -> Any:
    return json.loads(run("show", "--json", *words).stdout)


# --- in and out again ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["markdown", "claude-code", "claude-tasks", "oh-my-pi", "llxprt"])
def test_what_was_imported_is_exported_without_loss(format: str) -> None:
    take_in(format, DOCUMENTS / FILES[format])
    assert give_out(format) == content(format)


@pytest.mark.parametrize("format", ["markdown", "claude-code", "claude-tasks", "oh-my-pi", "llxprt"])
def test_nor_is_anything_lost_where_there_was_another_plan(format: str) -> None:
    given("Something else", "Something more")
    take_in(format, DOCUMENTS / FILES[format])
    assert give_out(format) == content(format)


def test_the_canonical_form_keeps_everything() -> None:
    take_in("json", DOCUMENTS / FILES["json"])
    assert stated(give_out("json")) == {**content("json"), "id": plan().id, "revision": 1}
    assert show() == give_out("json")


def stated(data: dict[str, Any]) -> dict[str, Any]:
    """A plan without what is worked out when it is shown, and without who set its checks: whoever imports it did."""
    items = [{name: item[name] for name in item if name not in ("grade", "check_set")} for item in data["items"]]
    return {name: data[name] for name in data if name != "verified"} | {"items": items}


def test_an_exported_plan_is_the_same_plan_in_another_store() -> None:
    take_in("json", DOCUMENTS / FILES["json"])
    Path("plan.json").write_text(json.dumps(give_out("json")), encoding="utf-8")
    take_in("json", "plan.json", "--store", "sqlite:other.db")
    there = show("--store", "sqlite:other.db")
    assert stated({**there, "id": plan().id}) == stated(give_out("json"))


@pytest.mark.parametrize("source", FILES)
@pytest.mark.parametrize("target", FILES)
def test_every_format_carries_the_items_of_every_other(source: str, target: str) -> None:
    first, second = (Desk(MemoryStore(), session=name) for name in ("first", "second"))
    first.import_plan(content(source), source)  # type: ignore[arg-type]
    second.import_plan(first.export_plan(target), target)  # type: ignore[arg-type]
    wanted = {item.text for item in first.plan.items if item.status != "abandoned"}
    found = {item.text for item in second.plan.items}
    assert wanted <= found
    open_ones = {item.text for item in second.plan.open_items}
    assert {item.text for item in first.plan.open_items} <= open_ones


def test_export_without_a_format_is_canonical() -> None:
    given("Read")
    assert json.loads(run("export").stdout) == give_out("json") == show()


def test_no_plan_is_exported_as_an_empty_one() -> None:
    assert [give_out(format) for format in FILES] == [{"revision": 0, "items": []}, "", [], [], [], []]


# --- what an import is -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FILES)
def test_an_import_replaces_the_plan_in_one_revision_and_is_counted(format: str) -> None:
    given("Old one", "Old two")
    before = plan()
    answer = take_in(format, DOCUMENTS / FILES[format])
    assert answer == {"plan": before.id, "items": len(plan().items)}
    assert plan().revision == before.revision + 1
    assert not {item.text for item in plan().items} & {"Old one", "Old two"}


def test_an_import_is_told_in_a_sentence() -> None:
    done = run("import", "--format", "claude-code", str(DOCUMENTS / FILES["claude-code"]))
    assert done.stdout == f"plan {plan().id} now holds 3 items.\n"


def test_a_document_is_read_from_standard_input_too() -> None:
    sent = (DOCUMENTS / FILES["claude-code"]).read_bytes()
    assert run("import", "--format", "claude-code", "-", stdin=b"\xef\xbb\xbf" + sent).returncode == 0
    assert give_out("claude-code") == content("claude-code")


def test_an_import_goes_to_the_session_that_is_named() -> None:
    take_in("claude-code", DOCUMENTS / FILES["claude-code"], "--session", "s1", "--agent", "helper")
    assert len(show("--session", "s1", "--agent", "helper")["items"]) == 3
    assert show("--session", "s1")["items"] == []


@pytest.mark.parametrize("format", ["markdown", "claude-code", "claude-tasks", "oh-my-pi", "llxprt"])
def test_a_number_is_never_used_again_for_something_else(format: str) -> None:
    given("Old one", "Old two", "Old three")
    take_in(format, DOCUMENTS / FILES[format])
    first = {item.text: item.id for item in plan().items}
    assert min(map(int, first.values())) > 3
    take_in("claude-code", DOCUMENTS / FILES["claude-code"])
    second = {item.text: item.id for item in plan().items}
    assert {text for text, id in second.items() if id in first.values()} <= first.keys()


def test_an_item_that_both_plans_have_keeps_its_number() -> None:
    given("Report its errors", "Something else")
    take_in("claude-code", DOCUMENTS / FILES["claude-code"])
    assert {item.text: item.id for item in plan().items} == {
        "Parse the config file": "3",
        "Report its errors": "1",
        "Document the format": "4",
    }


def test_an_import_into_a_list_that_a_model_works_from_is_told_once() -> None:
    call = ["call", "TodoWrite", "--dialect", "claude-code"]
    todos = content("claude-code")
    run(*call, stdin=json.dumps({"todos": todos}).encode())
    run("import", "--format", "markdown", "-", stdin=b"- [ ] Something else\n")
    sent = json.dumps(
        {"todos": [{"content": "Something else", "status": "in_progress", "activeForm": "On it"}]}
    ).encode()
    assert "the user replaced the list" in json.loads(run(*call, stdin=sent).stdout)["text"]
    assert "the user" not in json.loads(run(*call, stdin=sent).stdout)["text"]


def test_an_import_before_a_model_has_seen_anything_is_not_told() -> None:
    take_in("claude-code", DOCUMENTS / FILES["claude-code"])
    sent = json.dumps({"todos": content("claude-code")}).encode()
    said = json.loads(run("call", "TodoWrite", "--dialect", "claude-code", stdin=sent).stdout)
    assert "the user" not in said["text"]


def test_what_an_import_closed_can_be_reopened_by_an_agent() -> None:
    take_in("claude-code", DOCUMENTS / FILES["claude-code"])
    todos = [{**todo, "status": "in_progress"} for todo in content("claude-code")]
    sent = json.dumps({"todos": todos}).encode()
    said = json.loads(run("call", "TodoWrite", "--dialect", "claude-code", stdin=sent).stdout)
    assert [item["status"] for item in said["plan"]["items"]] == ["in_progress"] * 3


def test_what_an_import_left_out_is_not_brought_back_by_an_agent() -> None:
    given("Old one")
    take_in("claude-code", DOCUMENTS / FILES["claude-code"])
    todos = [*content("claude-code"), {"content": "Old one", "status": "pending", "activeForm": "On it"}]
    sent = json.dumps({"todos": todos}).encode()
    said = json.loads(run("call", "TodoWrite", "--dialect", "claude-code", stdin=sent).stdout)
    assert "Old one" not in [item["text"] for item in said["plan"]["items"]]
    assert '"Old one" was removed by the user' in said["text"]


# --- markdown --------------------------------------------------------------------------------------------------------


def markdown(text: str) -> Plan:
    assert run("import", "--format", "markdown", "-", stdin=text.encode()).returncode == 0
    return plan()


def test_boxes_are_read_in_every_spelling() -> None:
    text = "- [ ] a\n- [] b\n- [x] c\n- [X] d\n- [-] e\n- [~] f\n- [!] g\n- [/] h\n* [ ] i\n+ [ ] j\n"
    found = {item.text: item.status for item in markdown(text).items}
    assert found == dict.fromkeys("abij", "pending") | dict.fromkeys("cd", "completed") | dict.fromkeys(
        "ef", "abandoned"
    ) | {"g": "blocked", "h": "in_progress"}


def test_any_heading_is_a_phase_and_tasks_under_none_go_to_todos() -> None:
    made = markdown("- [>] a\n\n### Deep\n- [ ] b\n###### Deeper ###\n  - [ ] nested\n")
    assert made.phases[:2] == ("Todos", "Deep")
    assert [(item.text, item.phase) for item in made.items][:2] == [("a", "Todos"), ("b", "Deep")]
    assert made.items[2].text == "nested"
    assert not any(item.parent for item in made.items)


def test_the_first_of_several_active_tasks_stays_active() -> None:
    assert [item.status for item in markdown("- [/] a\n- [>] b\n").items] == ["in_progress", "pending"]


def test_without_an_active_task_the_first_pending_one_becomes_active() -> None:
    assert [item.status for item in markdown("- [x] a\n- [ ] b\n").items] == ["completed", "in_progress"]


def test_notes_are_parted_by_an_empty_quoted_line() -> None:
    (item,) = markdown("- [ ] a\n  > one\n  > still one\n  >\n  > two\n").items
    assert item.notes == ("one\nstill one", "two")


def test_line_ends_of_windows_are_read() -> None:
    assert [item.text for item in markdown("# P\r\n- [ ] a\r\n  > n\r\n").items] == ["a"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# P\n- [?] a\n", "line 2: the box [?] means nothing; use [ ], [/], [x], [-] or [!]."),
        ("# P\n\n- [ ] a\nprose\n", "line 4: 'prose' is neither a heading, a task with a box, nor a note."),
        ("> a note first\n", "line 1: '> a note first' is neither"),
        ("- [ ] a\n- no box\n", "line 2: '- no box' is neither"),
        ("- [ ]\n", "line 1: the task has no text."),
        ("- [xx] a\n", "line 1:"),
        ("####### too deep\n", "line 1:"),
    ],
    ids=ascii,
)
def test_a_line_that_is_nothing_is_refused_with_its_number(text: str, reason: str) -> None:
    given("Mine")
    assert refused("markdown", text).startswith(reason)


def test_a_text_cannot_become_markup_when_it_is_exported() -> None:
    hostile = ["# heading", "- [x] done", "> quote", "a\n- [x] b", "<!-- x -->", "[x] y"]
    given(*hostile)
    Path("list.md").write_text(give_out("markdown"), encoding="utf-8")
    take_in("markdown", "list.md", "--session", "other")
    found = show("--session", "other")["items"]
    assert [item["text"].replace(" ", "") for item in found] == ["".join(text.split()) for text in hostile]
    assert {item["status"] for item in found} == {"pending", "in_progress"}


# --- claude-tasks ----------------------------------------------------------------------------------------------------


def test_a_task_directory_is_the_same_as_the_list() -> None:
    take_in("claude-tasks", DOCUMENTS / "tasks")
    assert give_out("claude-tasks") == content("claude-tasks")


def test_blocking_is_read_from_either_side() -> None:
    one = {"id": "1", "subject": "a", "status": "pending", "blocks": ["2"]}
    two = {"id": "2", "subject": "b", "status": "pending"}
    Path("tasks.json").write_text(json.dumps([two, one]))
    take_in("claude-tasks", "tasks.json")
    assert [(item.id, item.text, item.needs) for item in plan().items] == [("2", "b", ("1",)), ("1", "a", ())]


def test_ids_that_are_no_numbers_come_back_as_they_were() -> None:
    tasks = [{"id": id, "subject": f"task {id}", "status": "pending"} for id in ("007", "x-1")]
    Path("tasks.json").write_text(json.dumps(tasks))
    take_in("claude-tasks", "tasks.json")
    assert sorted(task["id"] for task in give_out("claude-tasks")) == ["007", "x-1"]
    assert all(item.id.isdigit() for item in plan().items)


# --- documents that cannot be used -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "document", "part"),
    [
        ("json", "[]", "must be an object, not a list"),
        ("json", '{"items": [{"id": "1"}]}', "items[0].text is missing"),
        ("json", '{"items": [{"id": "1", "text": "a", "status": "done"}]}', "items[0].status must be one of 'pending'"),
        ("json", '{"items": [{"id": 1, "text": "a"}]}', "items[0].id must be a string, not 1"),
        ("json", '{"items": [{"id": "x", "text": "a"}]}', "'x'"),
        ("json", '{"items": [{"id": "1", "text": "a"}, {"id": "1", "text": "b"}]}', "two items have the id '1'"),
        ("json", '{"items": [{"id": "1", "text": "a", "needs": ["2"]}]}', "'2', which does not exist"),
        ("json", '{"items": [{"id": "1", "text": "a", "parent": "2"}]}', "parent '2' does not exist"),
        ("json", '{"items": [{"id": "1", "text": "a", "needs": ["1"]}]}', "1 → 1"),
        ("json", '{"items": [{"id": "1", "text": "a", "parent": "1"}]}', "1 → 1"),
        ("json", '{"items": [{"id": "1", "text": "a", "phase": "P"}]}', "phase 'P'"),
        ("json", '{"phases": ["P", "P"], "items": []}', "'P'"),
        ("json", '{"phases": [""], "items": []}', "phases[0]"),
        ("json", '{"frob": 1}', "frob is not a key"),
        ("json", '{"items": [], "paused": {"reason": 3}}', "paused.reason must be a string, not 3"),
        ("claude-code", '{"todos": []}', "must be a list"),
        ("claude-code", '[{"content": "", "status": "pending", "activeForm": "x"}]', "[0].content: Content cannot be"),
        ("claude-code", '[{"content": "a", "status": "cancelled", "activeForm": "x"}]', "[0].status must be one of"),
        ("claude-tasks", '[{"id": "1", "subject": "a"}]', "[0].status is missing"),
        ("claude-tasks", '[{"id": 1, "subject": "a", "status": "pending"}]', "[0].id must be a string"),
        (
            "claude-tasks",
            '[{"id": "1", "subject": "a", "status": "pending"}, {"id": "1", "subject": "b", "status": "pending"}]',
            "same id",
        ),
        ("claude-tasks", '[{"id": "1", "subject": "a", "status": "pending", "blockedBy": ["1"]}]', "1"),
        ("oh-my-pi", '[{"name": "A"}]', "[0].tasks is missing"),
        (
            "oh-my-pi",
            '[{"name": "A", "tasks": [{"content": "a", "status": "blocked"}]}]',
            "[0].tasks[0].status must be",
        ),
        ("llxprt", '[{"id": "1", "content": "a", "status": "done"}]', "0.status: must be one of"),
        ("llxprt", '[{"id": "1", "content": "", "status": "pending"}]', "0.content: must not be empty"),
        (
            "llxprt",
            '[{"content": "a", "status": "pending", "subtasks": [{"id": "1"}]}]',
            "0.subtasks.0.content: is missing",
        ),
    ],
)
def test_a_document_of_the_wrong_form_is_refused_where_it_is_wrong(format: str, document: str, part: str) -> None:
    desk = Desk(MemoryStore(), session="s")
    before = desk.change(lambda plan: ops.add(plan, "Mine")).plan
    with pytest.raises(Refused) as refusal:
        desk.import_plan(json.loads(document), format)  # type: ignore[arg-type]
    assert part in str(refusal.value)
    assert desk.plan == before


def test_every_fault_of_a_document_is_told_at_once() -> None:
    document = '[{"content": "", "status": "done"}, 7]'
    assert len(refused("claude-code", document).splitlines()) == 4


@pytest.mark.parametrize("document", ["text", 7, None, True, {"todos": 1}, [[]], [None]], ids=ascii)
@pytest.mark.parametrize("format", FILES)
def test_no_other_value_is_a_document(format: str, document: object) -> None:
    with pytest.raises(Refused):
        Desk(MemoryStore(), session="s").import_plan(document, format)  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["json", "claude-tasks", "markdown"])
@pytest.mark.parametrize("document", [b"\xff\xfe", b"[" * 100_000, b"\x00"], ids=["not UTF-8", "nested", "NUL"])
def test_what_is_no_document_at_all_is_refused(format: str, document: bytes) -> None:
    given("Mine")
    assert len(refused(format, document)) < 1000


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ('{"items": [', "document: not valid JSON: "),
        ('{"items": [{"id": "1", "text": "a", "extra": {"x": NaN}}]}', "document: not valid JSON: NaN"),
        ('{"items": [{"id": "1", "text": 7}]}', "items[0].text must be a string, not 7."),
    ],
)
def test_a_fault_is_told_on_the_command_line(document: str, reason: str) -> None:
    given("Mine")
    assert refused("json", document).startswith(reason)


def test_the_reason_speaks_of_the_document_not_of_a_call() -> None:
    assert "the arguments" not in refused("claude-code", "{}")


@pytest.mark.parametrize("format", ["json", "claude-code", "oh-my-pi", "llxprt", "markdown", "transcript"])
def test_a_directory_holds_tasks_and_no_other_format(format: str) -> None:
    given("Mine")
    os.mkdir("empty")
    done = run("import", "--format", format, "empty")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("punchlist: "), done.stderr
    assert [item.text for item in plan().items] == ["Mine"]


def test_a_fault_in_a_task_directory_names_the_file() -> None:
    os.mkdir("tasks")
    Path("tasks/1.json").write_text('{"id": "1"')
    done = run("import", "--format", "claude-tasks", "tasks")
    assert (done.returncode, done.stdout) == (1, "")
    assert "1.json: not valid JSON" in done.stderr


@pytest.mark.parametrize("format", [*FILES, "transcript"])
def test_a_file_that_is_not_there_is_named(format: str) -> None:
    done = run("import", "--format", format, "missing.file")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "punchlist: missing.file: No such file or directory.\n"


def test_phases_of_one_name_are_told_apart_and_one_task_is_active() -> None:
    desk = Desk(MemoryStore(), session="s")
    phases = [
        {"name": "Build", "tasks": [{"content": "a", "status": "in_progress"}]},
        {"name": "Build", "tasks": [{"content": "b", "status": "in_progress"}, {"content": "c", "status": "pending"}]},
    ]
    plan = desk.import_plan(phases, "oh-my-pi").plan
    assert plan.phases == ("Build", "Build (2)")
    assert [(item.text, item.status) for item in plan.items] == [
        ("a", "in_progress"),
        ("b", "pending"),
        ("c", "pending"),
    ]
