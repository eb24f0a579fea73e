"""Plans as Markdown: the checklist that others read too, and the document that holds everything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist import Desk, MemoryStore
from punchlist.core import ops
from punchlist.core.errors import BadShape
from punchlist.core.markdown import read, read_document, revision_of, write, write_document
from punchlist.core.model import ACTIVE, BLOCKED, DONE, DROPPED, PENDING, Closing, Item, Pause, Plan
from punchlist.core.rules import problems
from punchlist.local.settings import load
from tests.core.plans import HOSTILE, any_json, ids, often, plan_of, plans, statuses, texts, wild_text, words

PHASED = Plan(
    phases=("Build", "Ship", "Later"),
    items=(
        Item("1", "Write it", DONE, phase="Build"),
        Item("2", "Test it", ACTIVE, phase="Build", notes=("one\ntwo", "three")),
        Item("3", "Sign it", BLOCKED, phase="Ship"),
        Item("4", "Post it", DROPPED, phase="Ship"),
        Item("5", "Tell them", PENDING, phase="Ship"),
    ),
    last_id=5,
)
CHECKLIST = """\
# Build
- [x] Write it
- [/] Test it
  > one
  > two
  >
  > three

# Ship
- [!] Sign it
- [-] Post it
- [ ] Tell them

# Later
"""


def refusal(text: str, plan: Plan | None = None) -> str:
    """Why a checklist cannot be read; or a document, if a plan is given."""
    with pytest.raises(BadShape) as refused:
        read(text) if plan is None else read_document(text, plan)
    return str(refused.value)


# --- the checklist -------------------------------------------------------------------------------------------------


def test_a_checklist_has_phases_boxes_and_notes_and_nothing_else() -> None:
    assert write(PHASED._replace(title="Title", revision=7)) == CHECKLIST


def test_a_checklist_reads_back_as_it_was_written() -> None:
    assert read(CHECKLIST) == PHASED
    assert write(read(CHECKLIST)) == CHECKLIST


def test_an_empty_plan_is_an_empty_checklist() -> None:
    assert write(Plan()) == ""
    assert read("") == Plan()
    assert read("\n \n") == Plan()


def test_items_without_a_phase_are_written_under_todos() -> None:
    assert write(plan_of("a")) == "# Todos\n- [ ] a\n"


@pytest.mark.parametrize(
    ("mark", "status"),
    [
        (" ", PENDING),
        ("", PENDING),
        ("/", ACTIVE),
        (">", ACTIVE),
        ("x", DONE),
        ("X", DONE),
        ("-", DROPPED),
        ("~", DROPPED),
        ("!", BLOCKED),
    ],
)
def test_every_mark_in_a_box_means_a_status(mark: str, status: str) -> None:
    plan = read(f"# A\n- [/] first\n- [{mark}] second\n")
    assert statuses(plan)["2"] == (PENDING if status == ACTIVE else status)  # of several active items the first stays
    assert statuses(read(f"- [{mark}] alone"))["1"] == (ACTIVE if status == PENDING else status)


@pytest.mark.parametrize("level", range(1, 7))
def test_a_heading_of_any_level_is_a_phase(level: int) -> None:
    plan = read(f"{'#' * level} Build\n- [ ] a")
    assert (plan.phases, plan.items[0].phase) == (("Build",), "Build")


def test_tasks_under_no_heading_go_to_todos() -> None:
    plan = read("- [ ] a\n# Build\n- [ ] b")
    assert [(item.text, item.phase) for item in plan.items] == [("a", "Todos"), ("b", "Build")]


def test_nested_tasks_are_flattened() -> None:
    plan = read("- [ ] a\n    - [x] b\n\t* [ ] c\n  + [ ] d")
    assert texts(plan) == ["a", "b", "c", "d"]
    assert {item.parent for item in plan.items} == {""}


def test_phases_of_the_same_name_are_one() -> None:
    plan = read("# A\n- [x] a\n# B\n- [x] b\n# A\n- [x] c")
    assert plan.phases == ("A", "B")
    assert texts(plan) == ["a", "c", "b"]


def test_what_was_read_is_normalised() -> None:
    assert statuses(read("- [x] a\n- [ ] b\n- [ ] c")) == {"1": DONE, "2": ACTIVE, "3": PENDING}
    assert statuses(read("- [/] a\n- [>] b")) == {"1": ACTIVE, "2": PENDING}


@pytest.mark.parametrize(
    ("lines", "notes"),
    [
        ("  > one", ("one",)),
        ("  > one\n  > two", ("one\ntwo",)),
        ("  > one\n  >\n  > two", ("one", "two")),
        ("  > one\n\n  > two", ("one", "two")),
        ("> bare", ("bare",)),
        ("  >tight", ("tight",)),
        ("  >   indented", ("  indented",)),
        ("  >", ()),
    ],
)
def test_notes_stand_below_their_item(lines: str, notes: tuple[str, ...]) -> None:
    assert read(f"- [ ] a\n{lines}\n- [ ] b").items[0].notes == notes


def test_line_ends_of_any_system_and_a_mark_at_the_start_are_understood() -> None:
    assert texts(read("\ufeff# Build\r\n- [ ] a\r\n- [x] b\r\n")) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# A\n- [?] a", "line 2: the box [?] means nothing; use [ ], [/], [x], [-] or [!]."),
        ("# A\n\n- [ ]", "line 3: the task has no text."),
        ("- a", "line 1: '- a' is neither a heading, a task with a box, nor a note."),
        ("- [xx] a", "line 1: '- [xx] a' is neither a heading, a task with a box, nor a note."),
        ("some words", "line 1: 'some words' is neither a heading, a task with a box, nor a note."),
        ("> orphan", "line 1: '> orphan' is neither a heading, a task with a box, nor a note."),
        ("1. [ ] a", "line 1: '1. [ ] a' is neither a heading, a task with a box, nor a note."),
        ("####### A", "line 1: '####### A' is neither a heading, a task with a box, nor a note."),
        ("#A", "line 1: '#A' is neither a heading, a task with a box, nor a note."),
    ],
)
def test_a_line_that_means_nothing_is_refused_with_its_number(text: str, said: str) -> None:
    assert refusal(text) == said


def test_a_refusal_of_hostile_words_is_harmless() -> None:
    assert refusal("\x1b[2J\u202e" * 50).isprintable()
    assert refusal("- [\x1b] x").isprintable()


def test_a_checklist_that_cannot_be_read_changes_nothing() -> None:
    desk = Desk(MemoryStore(), session="s", settings=load({}, environ={}))
    before = desk.import_plan("- [ ] a", "markdown").plan
    with pytest.raises(BadShape, match="line 2"):
        desk.import_plan("- [ ] b\nnonsense", "markdown")
    assert desk.plan == before


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_cannot_act_in_a_checklist(text: str) -> None:
    plan = Plan(phases=(text,), items=(Item("1", text, ACTIVE, phase=text, notes=(text,)), Item("2", "b", phase=text)))
    back = read(write(plan))
    assert len(back.items) == 2
    assert all(line.replace("\u200d", "").isprintable() for line in write(plan).split("\n"))


@often(60)
@given(plans())
def test_the_checklist_of_any_plan_can_be_read(plan: Plan) -> None:
    shown = plan._replace(items=tuple(item for item in plan.items if item.text.strip()))
    assert len(read(write(shown)).items) == len(shown.items)


# --- the document --------------------------------------------------------------------------------------------------

FULL = Plan(
    "abc",
    "Release",
    7,
    "plan",
    Pause("lunch", "noon", "2", 3, "eleven"),
    ("Build", "Ship"),
    (
        Item("4", "Loose"),
        Item(
            "2",
            "Run the tests",
            DONE,
            "Running the tests",
            "Build",
            "",
            (),
            ("green",),
            "high",
            "helper",
            "",
            {"run": "make test"},
            {"by": "user", "at": "noon", "dir": "/nowhere"},
            {},
            ({"exit": 0},),
            ({"id": "c1"},),
            Closing("user", "noon"),
            {"id": "x"},
        ),
        Item("3", "Sign", BLOCKED, phase="Ship", parent="2", needs=("2", "4"), reason="no key"),
    ),
    5,
    ("old thing",),
)
DOCUMENT = """\
# Release
<!-- revision 7 -->
mode: plan
paused: ["lunch", "noon", "2", 3, "eleven"]
removed: ["old thing"]

- [ ] 4. Loose

## Build

- [x] 2. Run the tests
  - active: Running the tests
  - priority: high
  - owner: helper
  - check: make test
  - check_set: {"by": "user", "at": "noon", "dir": "/nowhere"}
  - evidence: [{"exit": 0}]
  - calls: [{"id": "c1"}]
  - closed: ["user", "noon"]
  - extra: {"id": "x"}
  > green

## Ship

- [!] 3. Sign
  - parent: 2
  - needs: 2, 4
  - reason: no key
"""
ABC = plan_of("Alpha", "Beta", "Gamma")
PLAIN = write_document(ABC)


def test_a_document_holds_everything() -> None:
    assert write_document(FULL) == DOCUMENT
    assert read_document(DOCUMENT, FULL) == FULL


def test_a_short_plan_is_a_short_document() -> None:
    assert PLAIN == "#\n<!-- revision 0 -->\n\n- [ ] 1. Alpha\n- [ ] 2. Beta\n- [ ] 3. Gamma\n"
    assert write_document(Plan()) == "#\n<!-- revision 0 -->\n"


@often(100)
@given(plans())
def test_any_plan_reads_back_from_its_document(plan: Plan) -> None:
    assert read_document(write_document(plan), plan) == plan


@often(150)
@given(wild_text, wild_text, any_json)
def test_any_characters_read_back_from_a_document(text: str, other: str, data: object) -> None:
    phase = other or "x"
    item = Item("1", text or "x", BLOCKED, other, phase, reason=text, notes=(text, other), extra={text: data})
    plan = Plan(title=text, paused=Pause(text), phases=(phase,), items=(item,), last_id=1, removed=(other,))
    assert read_document(write_document(plan), plan) == plan


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_reads_back_from_a_document_and_cannot_act_there(text: str) -> None:
    plan = Plan(
        title=text,
        phases=(text,),
        items=(Item("1", text, BLOCKED, text, text, reason=text, notes=(text, ""), extra={text: text}),),
        last_id=1,
        removed=(text,),
    )
    document = write_document(plan)
    assert read_document(document, plan) == plan
    assert all(line.isprintable() for line in document.split("\n"))


def test_an_item_without_a_number_is_new() -> None:
    plan = read_document(PLAIN.replace("- [ ] 2", "- [/] New one\n- [ ] 2"), ABC)
    assert [(item.id, item.text, item.status) for item in plan.items][1] == ("4", "New one", ACTIVE)
    assert ids(plan) == ["1", "4", "2", "3"]
    assert plan.last_id == 4


def test_an_item_keeps_its_number_wherever_it_is_moved() -> None:
    moved = "#\n- [ ] 3. Gamma\n- [ ] 1. Alpha\n\n## Later\n- [ ] 2. Beta\n"
    plan = read_document(moved, ABC)
    assert [(item.id, item.phase) for item in plan.items] == [("3", ""), ("1", ""), ("2", "Later")]


def test_a_line_that_is_deleted_is_an_item_that_is_removed() -> None:
    assert ids(read_document(PLAIN.replace("- [ ] 2. Beta\n", ""), ABC)) == ["1", "3"]
    assert ids(read_document("", ABC)) == []


def test_a_box_and_words_may_be_changed() -> None:
    plan = read_document(PLAIN.replace("[ ] 2. Beta", "[x] 2. Better"), ABC)
    assert plan.items[1] == Item("2", "Better", DONE)


def test_a_phase_that_is_renamed_takes_its_items_along() -> None:
    plan = plan_of("a", "b", phase="Build")
    renamed = read_document(write_document(plan).replace("## Build", "## Make"), plan)
    assert renamed == plan_of("a", "b", phase="Make")


def test_phases_may_be_turned() -> None:
    plan = ops.add(plan_of("a", phase="Build"), "b", phase="Ship")
    turned = read_document("## Ship\n- [ ] 2. b\n## Build\n- [ ] 1. a\n", plan)
    assert (turned.phases, texts(turned)) == (("Ship", "Build"), ["b", "a"])


def test_fields_and_notes_may_be_added() -> None:
    text = "- [ ] 1. Alpha\n  - owner: helper\n  - needs: 2,3\n  > look here\n- [ ] 2. Beta\n- [ ] 3. Gamma\n"
    item = read_document(text, ABC).items[0]
    assert (item.owner, item.needs, item.notes) == ("helper", ("2", "3"), ("look here",))


def test_the_title_and_the_mode_may_be_changed() -> None:
    plan = read_document("# Big plan\nmode: quiet\n", Plan())
    assert (plan.title, plan.mode) == ("Big plan", "quiet")


def test_a_removed_pause_ends_it() -> None:
    paused = ops.pause(ABC, "lunch")
    assert read_document(PLAIN, paused).paused is None


def test_a_document_says_which_revision_it_was_written_from() -> None:
    assert revision_of(DOCUMENT) == 7
    assert revision_of("# Release\n") is None
    assert revision_of("<!-- revision x -->") is None
    assert revision_of("<!-- revision 99999999999 -->") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- [ ] 1. a\n- [ ] 1. b", "line 2: item 1 is here twice."),
        ("- [ ] 9. a", "line 1: there is no item 9; leave the number out for a new item."),
        ("- [?] a", "line 1: the box [?] means nothing; use [ ], [/], [x], [-] or [!]."),
        ("- [ ]", "line 1: the item has no text."),
        ("- [ ] 1.", "line 1: the item has no text."),
        ('- [ ] ""', "line 1: the item has no text."),
        ('- [ ] "broken', "line 1: '\"broken' is not valid JSON."),
        ('- [ ] a\n  > "broken', "line 2: '\"broken' is not valid JSON."),
        ("- [ ] a\n  - extra: {broken", "line 2: '{broken' is not valid JSON."),
        ("- [ ] a\n  - extra: []", "line 2: extra cannot be read."),
        ("- [ ] a\n  - evidence: [1]", "line 2: evidence cannot be read."),
        ("- [ ] a\n  - calls: {}", "line 2: calls cannot be read."),
        ("- [ ] a\n  - closed: [1, 2]", "line 2: closed cannot be read."),
        ("- [ ] a\n  - parent: 9", "line 1: parent names '9', which is not in the list."),
        ("- [ ] a\n  - needs: 1, 9", "line 1: needs names '1', which is not in the list."),
        ("# A\n# B", "line 2: there is a title already; a phase begins with ##."),
        ("## A\n## A", "line 2: a phase needs a name of its own."),
        ("##", "line 1: a phase needs a name of its own."),
        ("mode: fast", "line 1: mode must be one of 'act', 'plan', 'quiet'."),
        ("paused: 3", "line 1: paused cannot be read."),
        ("some words", "line 1: 'some words' is neither a phase, an item with a box, a field nor a note."),
        ("> orphan", "line 1: '> orphan' is neither a phase, an item with a box, a field nor a note."),
        ("- [ ] a\nmode: plan", "line 2: 'mode: plan' is neither a phase, an item with a box, a field nor a note."),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, said: str) -> None:
    assert refusal(text, plan_of("a")) == said


def test_an_unknown_field_is_refused_with_the_fields_there_are() -> None:
    assert refusal("- [ ] a\n  - colour: red", Plan()) == (
        "line 2: '- colour: red' is not a field; the fields are "
        "active, parent, needs, priority, owner, reason, check, check_set, waived, evidence, calls, closed, extra."
    )


def test_items_that_would_wait_for_each_other_are_refused() -> None:
    text = "- [ ] 1. a\n  - needs: 2\n- [ ] 2. b\n  - needs: 1\n"
    assert refusal(text, plan_of("a", "b")) == "these items would wait for each other: 1 → 2 → 1."


@pytest.mark.parametrize(
    "text", ["- [ ] 1. a\n  - parent: 1\n", "- [ ] 1. a\n  - parent: 2\n- [ ] 2. b\n  - parent: 1\n"]
)
def test_items_that_would_be_parts_of_each_other_are_refused(text: str) -> None:
    refusal(text, plan_of("a", "b"))


@pytest.mark.parametrize("value", ["[1]", '["x", 2]', '["x", "", "", "3"]', '{"a": 1}', '"x"', "[]", "null"])
def test_a_pause_of_the_wrong_form_is_refused(value: str) -> None:
    assert refusal(f"paused: {value}", Plan()) == "line 1: paused cannot be read."


@pytest.mark.parametrize("value", ['"abc"', "[1]", '{"a": 1}', "null"])
def test_removed_texts_of_the_wrong_form_are_refused(value: str) -> None:
    assert refusal(f"removed: {value}", Plan()) == "line 1: removed cannot be read."


def test_data_that_is_nested_without_end_is_refused() -> None:
    assert "is not valid JSON" in refusal(f"- [ ] a\n  - extra: {'[' * 100_000}", Plan())


def test_opening_a_closed_item_in_a_document_leaves_a_plan_that_is_well_built() -> None:
    desk = Desk(MemoryStore(), session="s", settings=load({}, environ={}))
    desk.change(lambda plan: ops.add(plan, "Alpha"))
    desk.change(lambda plan: ops.complete(plan, "1"))
    text = write_document(desk.plan).replace("[x]", "[ ]")
    desk.change(lambda plan: read_document(text, plan))
    assert desk.plan.items[0] == Item("1", "Alpha")
    assert problems(desk.plan) == []


lines = st.lists(
    st.sampled_from(("# T", "## Build", "## Ship", "- [ ] 1. a", "- [x] new", "  - owner: me", "  - needs: 2", "  > n"))
    | words,
    max_size=8,
)


@often(150)
@given(lines)
def test_any_text_is_a_plan_that_is_well_built_or_refused(text: list[str]) -> None:
    try:
        plan = read_document("\n".join(text), ABC)
    except BadShape:
        return
    assert problems(plan) == []


def test_an_item_that_looks_like_data_is_written_as_data() -> None:
    plan = plan_of('"quoted"', "#hash", "plain")
    written = [line.split(". ", 1)[1] for line in write_document(plan).splitlines() if line.startswith("- [")]
    assert written == [json.dumps('"quoted"'), json.dumps("#hash"), "plain"]


# --- checks in a checklist -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    [
        {"run": "make test"},
        {"run": "echo '-->' && make"},
        {"run": '"quoted" <!-- check: x'},
        {"file": "dist/app.whl"},
        {"contains": ["CHANGELOG.md", "--> <b>"], "scope": ["src/**"]},
    ],
)
def test_a_check_is_a_comment_behind_its_task_and_reads_back(check: dict[str, Any]) -> None:
    plan = read("# Build\n- [ ] Fix it")
    plan = plan._replace(items=(plan.items[0]._replace(check=check),))
    text = write(plan)
    assert "<!-- check:" in text
    assert read(text).items == plan.items


def test_a_comment_of_a_file_sets_a_check() -> None:
    assert read("- [ ] Fix it <!-- check: make test -->").items[0].check == {"run": "make test"}
    assert read('- [ ] Fix it <!-- check: {"file": "x"} -->').items[0].check == {"file": "x"}
    assert read("- [ ] Fix it <!-- check: make -->").items[0].text == "Fix it"


@pytest.mark.parametrize(
    "text", ["Say <!-- check: rm -rf x -->", "<!-- check: -->", "x <!-- check: a --> <!-- check: -->"]
)
def test_a_text_that_looks_like_a_check_stays_a_text(text: str) -> None:
    plan = read("- [ ] A")
    plan = plan._replace(items=(plan.items[0]._replace(text=text),))
    again = read(write(plan)).items[0]
    assert (again.text, again.check) == (text, {})


@pytest.mark.parametrize("words", ['{"file": "/etc/passwd"}', '{"run": ', '{"run": ""}', '"unfinished'])
def test_a_comment_that_cannot_be_a_check_is_refused_with_its_line(words: str) -> None:
    assert refusal(f"# A\n- [ ] Fix it <!-- check: {words} -->").startswith("line 2: ")
