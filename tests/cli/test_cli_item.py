"""One item in full, and the ways to name several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import punchlist
from punchlist import ops
from punchlist.desk.observations import observe
from tests.cli.plans import given, plan
from tests.commands import do, run


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("COLUMNS", raising=False)


def refused(*words: str) -> str:
    before = plan()
    done = run(*words)
    assert (done.returncode, done.stdout, plan()) == (1, "", before)
    return done.stderr.removeprefix("punchlist: ").rstrip("\n")


def completed() -> list[str]:
    return [item.id for item in plan().items if item.status == "completed"]


def test_tool_calls_that_were_observed_for_an_item_are_shown_with_it() -> None:
    given("Build it")
    with punchlist.open() as desk:
        call = {"id": "c", "name": "Bash", "parameters": {"command": "make"}, "outcome": "failed", "exit": 2}
        observe(desk, "1", [{**call, "at": "2020-01-02T03:04:05Z"}])
    (line,) = [line for line in do("show", "1").splitlines() if "Bash" in line]
    assert line.split()[0] == "calls"
    assert line.endswith(" Bash exit code 2: command make")
    for words in (["show", "--json"], ["export"]):
        assert json.loads(do(*words))["items"][0]["calls"][0]["exit"] == 2


# --- one item --------------------------------------------------------------------------------------------------------


def test_an_item_is_shown_in_full_with_its_neighbors_and_history() -> None:
    given("Build it", {"text": "Ship it", "needs": ("1",), "owner": "w1", "notes": ("ask first", "then go")})
    given({"text": "Tell everybody", "needs": ("2",), "parent": "2"})
    do("block", "2", "--why", "no access")
    lines = do("show", "ship").splitlines()
    assert lines[0] == "⊘ 2 Ship it"
    rows = [line.split(None, 1) for line in lines[1:]]
    assert ["status", "blocked"] in rows
    assert ["reason", "no access"] in rows
    assert ["parts", "3 Tell everybody (pending)"] in rows
    assert ["needs", "1 Build it (pending)"] in rows
    assert ["owner", "w1"] in rows
    assert ["notes", "ask first"] in rows
    assert "             then go" in lines
    assert [line for line in lines if 'you: blocked 2 "Ship it": no access.' in line]
    assert [line for line in lines if 'you: added 2 "Ship it"' in line]


def test_an_item_as_json_is_the_canonical_item_with_its_history() -> None:
    given("Build it", {"text": "Ship it", "needs": ("1",), "notes": ("ask first",)})
    do("done", "1")
    do("start", "2")
    data = json.loads(do("show", "2", "--json"))
    history = data.pop("history")
    assert data == {"id": "2", "text": "Ship it", "status": "in_progress", "needs": ["1"], "notes": ["ask first"]}
    assert [(one["revision"], one["by"], one["changes"]) for one in history] == [
        (3, "user", ['started 2 "Ship it".']),
        (1, "user", ['added 2 "Ship it".', 'noted on 2 "Ship it": ask first.']),
    ]
    assert all(one["at"] for one in history)


def test_long_texts_of_an_item_are_wrapped_below_themselves() -> None:
    given({"text": "word " * 30 + "end", "notes": ("note " * 30 + "end",)})
    lines = do("show", "1", COLUMNS="60").splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[1].startswith("    word")
    assert " ".join(" ".join(lines).split()).count("word") >= 30


def test_an_item_that_is_not_there_is_refused() -> None:
    given("Build it")
    assert refused("show", "7") == "no item '7'; the ids are 1."


# --- naming several --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["1-3"], ["1", "2", "3"]),
        (["1-2", "5"], ["1", "2", "5"]),
        (["1,3"], ["1", "3"]),
        (["1, 3-4,"], ["1", "3", "4"]),
        (["#2-#3"], ["2", "3"]),
        (["2-2", "2"], ["2"]),
        (["five", "1-2"], ["1", "2", "5"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_ranges_and_lists_name_several_items(words: list[str], ids: list[str]) -> None:
    given("one", "two", "three", "four", "five")
    do("done", *words)
    assert completed() == ids


def test_a_range_leaves_out_what_was_removed_between_its_ends() -> None:
    given("one", "two", "three")
    do("rm", "2")
    do("done", "1-3")
    assert completed() == ["1", "3"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["1-9"], "no item '9'; the ids are 1, 2, 3."),
        (["7-9", "8"], "no item '7', '9', '8'; the ids are 1, 2, 3."),
        (["3-1"], "3-1 is backwards: 1-3."),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_range_that_cannot_be_is_refused(words: list[str], why: str) -> None:
    given("one", "two", "three")
    assert refused("done", *words) == why


@pytest.mark.parametrize(
    "words",
    [
        ["show", "1-3"],
        ["note", "1-3", "text"],
        ["rename", "1-3", "text"],
        ["move", "1-3", "--phase", "Build"],
        ["move", "1", "--after", "1-3"],
        ["add", "four", "--after", "1-3"],
        ["add", "four", "--parent", "1-3"],
    ],
    ids=" ".join,
)
def test_a_range_where_one_item_is_meant_is_refused_with_the_ids(words: list[str]) -> None:
    given("one", "two", "three")
    assert refused(*words) == "this takes one item, and 1-3 names 3: 1, 2, 3."


def test_needs_take_ranges_and_lists() -> None:
    given("one", "two", "three", "four", "five")
    do("add", "six", "--needs", "1-3,5")
    assert json.loads(do("show", "6", "--json"))["needs"] == ["1", "2", "3", "5"]


def test_a_range_is_never_taken_for_a_part_of_a_text() -> None:
    given("Rewrite 1-3", "two", "three")
    do("done", "1-3")
    assert completed() == ["1", "2", "3"]


def test_a_dash_or_a_comma_among_other_characters_is_text() -> None:
    given("Read, then write", "Step 1-a")
    do("done", "read, then")
    do("done", "1-a")
    assert completed() == ["1", "2"]


# --- reopen, title, add ----------------------------------------------------------------------------------------------


def test_closed_items_are_opened_again_and_others_stay() -> None:
    given(
        {"text": "one", "status": "completed"},
        {"text": "two", "status": "abandoned", "reason": "no"},
        {"text": "three", "status": "in_progress"},
    )
    said = do("reopen", "1-3")
    assert said.splitlines() == ['reopened 1 "one".', 'reopened 2 "two".']
    assert [(item.status, item.reason) for item in plan().items] == [
        ("pending", ""),
        ("pending", ""),
        ("in_progress", ""),
    ]


def test_the_title_of_a_plan_is_changed() -> None:
    given("one")
    assert do("title", "The", "release") == 'called the plan "The release".\n'
    assert plan().title == "The release"
    assert refused("title", " ") == "title must not be empty."


def test_an_item_is_added_with_what_it_needs_its_owner_its_whole_and_notes() -> None:
    given("one", "two", "three")
    do("add", "four", "--needs", "1-2", "--needs", "three", "--owner", "w1", "--note", "first", "--note", "second")
    do("add", "five", "--parent", "one")
    four, five = ops.find(plan(), "4"), ops.find(plan(), "5")
    assert (four.needs, four.owner, four.notes) == (("1", "2", "3"), "w1", ("first", "second"))
    assert five.parent == "1"
    assert refused("add", "six", "--needs", "9") == "no item '9'; the ids are 1, 5, 2, 3, 4."
