"""A directory that `json:` wrote before it used SQLite: everything is taken over, nothing is thrown away.

`old_json_dir.json` holds the files of such a directory, and what that version read from them. Two of its lists are not
as their histories say: one was left behind by a crash, another was edited by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from punchlist import Desk, Plan, StoreError
from punchlist.core.codec import change_to_json, pace_to_json, to_json
from punchlist.local.settings import load
from punchlist.stores import PlanKey, Store, open_store

OLD = json.loads((Path(__file__).parent / "old_json_dir.json").read_text(encoding="utf-8"))
PLANS: dict[str, Any] = OLD["expected"]["plans"]
EDITED = next(id for id, plan in PLANS.items() if plan["sessions"] == [["edited", "main"]])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in OLD["files"].items():
        path = tmp_path / "plans" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "plans"


def opened(folder: Path) -> Store:
    return open_store(f"json:{folder}")


def plan_of(folder: Path, session: str) -> Plan:
    return Desk(opened(folder), session=session, settings=load({}, environ={}), place="/here").plan


def texts(plan: Plan) -> list[str]:
    return [item.text for item in plan.items]


def histories(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.history.jsonl")}


def is_taken_over(store: Store) -> None:
    """Nothing is missing: plans, histories, sessions, what readers have seen, what they sent, and states."""
    summaries = {summary.id: summary for summary in store.plans(99)}
    assert summaries.keys() == PLANS.keys()
    for id in PLANS.keys() - {EDITED}:
        expected, plan, summary = PLANS[id], store.load(id), summaries[id]
        assert plan is not None
        assert to_json(plan) == expected["plan"]
        assert [
            {**record._asdict(), "changes": json.loads(json.dumps([change_to_json(each) for each in record.changes]))}
            for record in store.history(id)
        ] == expected["history"]
        assert [list(who) for who in store.sessions(id)] == expected["sessions"]
        assert {key: store.peek(id, key)[1].seen for key in expected["seen"]} == expected["seen"]
        assert {key: store.lists(id, key) for key in expected["lists"]} == expected["lists"]
        place, agent, _, parent, touched = expected["listing"][3:8]
        assert (summary.place, summary.agent, summary.parent, summary.touched) == (place, agent, parent, touched)
    assert {place: store.find(PlanKey(place)) for place in OLD["expected"]["places"]} == OLD["expected"]["places"]
    for key, state in OLD["expected"]["states"].items():
        assert pace_to_json(store.load_state(key)) == state


def test_everything_is_taken_over_when_the_directory_is_opened(folder: Path) -> None:
    is_taken_over(opened(folder))
    is_taken_over(opened(folder))


def test_the_old_files_are_kept_in_a_folder_of_their_own(folder: Path) -> None:
    before = histories(folder)
    opened(folder).close()
    assert histories(folder) == {}
    assert histories(folder / "old-format") == before
    assert (folder / "old-format" / "pointers" / "ready").exists()
    assert not (folder / ".punchlist").exists()


def test_a_list_that_agrees_with_its_history_stays_byte_for_byte(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.glob("s*.json")}
    assert len(opened(folder).plans(99)) == len(PLANS)
    assert {path.name: path.read_bytes() for path in folder.glob("s*.json")} == before


def test_a_list_that_a_crash_left_behind_is_written_again(folder: Path) -> None:
    assert texts(plan_of(folder, "crashed")) == ["before", "after"]
    assert [entry["content"] for entry in json.loads((folder / "crashed-agent-crashed.json").read_text())] == [
        "before",
        "after",
    ]


def test_a_list_that_was_edited_by_hand_is_an_edit_by_the_user(folder: Path) -> None:
    plan = plan_of(folder, "edited")
    assert [(item.text, item.status) for item in plan.items] == [("by us", "completed"), ("by them", "pending")]
    assert [(record.by, record.dialect) for record in opened(folder).history(plan.id)] == [
        ("user", ""),
        ("user", "file"),
    ]


def test_a_main_list_gets_the_name_that_claude_code_knows(folder: Path) -> None:
    assert texts(plan_of(folder, "old")) == ["named before"]
    assert (folder / "old-agent-old.json").exists()
    assert not (folder / "old-agent-main.json").exists()


def test_a_name_that_is_taken_leaves_a_list_where_it_is(folder: Path) -> None:
    (folder / "old-agent-Old.json").write_text("[]")
    assert texts(plan_of(folder, "old")) == ["named before"]
    assert (folder / "old-agent-main.json").exists()


def test_files_that_are_brought_later_are_taken_over_when_they_are_asked_for(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    opened(there).close()
    for name in ("s3-agent-s3.json", "s3-agent-s3.history.jsonl", "s4-agent-s4.json", "s4-agent-s4.history.jsonl"):
        (there / name).write_bytes((folder / name).read_bytes())
    assert texts(plan_of(there, "s3")) == ["one"]
    assert {summary.session for summary in opened(there).plans(9)} == {"s3", "s4"}
    assert histories(there) == {}


def test_many_processes_that_open_the_directory_at_once_take_it_over_once(folder: Path) -> None:
    script = "import sys; from punchlist.stores import open_store; print(len(open_store(sys.argv[1]).plans(99)))"
    works = [
        subprocess.Popen([sys.executable, "-c", script, f"json:{folder}"], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [work.communicate()[0].strip() for work in works] == [str(len(PLANS))] * 4
    is_taken_over(opened(folder))


def test_a_process_that_died_before_it_put_the_files_away_is_followed_by_one_that_does(folder: Path) -> None:
    before = histories(folder)
    opened(folder).close()
    for name, text in before.items():
        (folder / name).write_text(text)
    is_taken_over(opened(folder))
    assert histories(folder) == {}
    assert histories(folder / "old-format").items() >= before.items()


# --- damage --------------------------------------------------------------------------------------------------------


def damage(folder: Path, session: str, old: bytes, new: bytes) -> Path:
    path = folder / f"{session}-agent-{session}.history.jsonl"
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    return path


def test_a_damaged_line_costs_only_the_history_before_it(folder: Path) -> None:
    path = damage(folder, "s1", b'{"revision": 2', b'{"revision": \0')
    damaged = path.read_bytes()
    (id,) = [id for id, plan in PLANS.items() if ["s1", "main"] in plan["sessions"]]
    plan = plan_of(folder, "s1")
    assert to_json(plan) == PLANS[id]["plan"]
    assert [record.revision for record in opened(folder).history(id)] == [3]
    assert (folder / "old-format" / path.name).read_bytes() == damaged


@pytest.mark.parametrize("noise", [b"", b"\0" * 4096, os.urandom(64) + b"\n" + os.urandom(64) + b"\n\n"])
def test_a_history_of_which_nothing_is_left_does_not_cost_the_list(folder: Path, noise: bytes) -> None:
    (folder / "s3-agent-s3.history.jsonl").write_bytes(noise)
    assert texts(plan_of(folder, "s3")) == ["one"]
    assert (folder / "old-format" / "s3-agent-s3.history.jsonl").read_bytes() == noise


def test_when_history_and_list_are_both_damaged_nothing_is_touched_and_the_other_plans_work(folder: Path) -> None:
    history, list_path = folder / "s3-agent-s3.history.jsonl", folder / "s3-agent-s3.json"
    history.write_bytes(b"noise\n")
    list_path.write_bytes(b"noise")
    for _ in range(2):
        with pytest.raises(StoreError, match=rf"{history} and {list_path} are damaged .* Restore them from a backup"):
            plan_of(folder, "s3")
    assert (history.read_bytes(), list_path.read_bytes()) == (b"noise\n", b"noise")
    assert texts(plan_of(folder, "s1")) == ["first", "second", "third"]


def test_the_files_of_a_newer_version_are_left_alone(folder: Path) -> None:
    path = damage(folder, "s3", b'{"version": 1', b'{"version": 2')
    before = path.read_bytes()
    with pytest.raises(StoreError, match=rf"{path} was written by a newer punchlist; upgrade this one"):
        plan_of(folder, "s3")
    assert path.read_bytes() == before
    assert texts(plan_of(folder, "s1")) == ["first", "second", "third"]


def test_a_new_directory_has_no_folder_for_old_files(tmp_path: Path) -> None:
    opened(tmp_path / "new").close()
    assert not (tmp_path / "new" / "old-format").exists()


@pytest.mark.parametrize("name", [".punchlist", ".punchlist/paces", ".punchlist/lists", "old-format"])
def test_no_folder_leads_out_of_the_directory(folder: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "target"
    target.mkdir()
    path = folder / name
    if path.exists():
        path.rename(tmp_path / "moved")
    path.symlink_to(target)
    with pytest.raises(StoreError, match="is a link that leads out"):
        opened(folder)
    assert list(target.iterdir()) == []
