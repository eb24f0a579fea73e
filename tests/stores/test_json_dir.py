"""A store in a directory: what its lists look like, who else may write them, and whose they are."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Desk, Item, Pause, Plan, StaleRevision, StoreError, ops
from punchlist.core.diff import Record, diff
from punchlist.core.model import Closing
from punchlist.local.settings import load
from punchlist.stores import Commit, PlanKey, Store, open_store

LIST = "s1-agent-s1.json"
FULL = Plan(
    id="p1",
    title="Übersicht 👩‍👩‍👧",
    revision=1,
    mode="plan",
    paused=Pause(
        reason="waiting for a key",
        at="2026-01-01T00:00:00.000Z",
        item="2",
        attempts=3,
        last_prompt_at="2026-01-02T00:00:00.000Z",
    ),
    phases=("one", "empty"),
    items=(
        Item("1", "no phase \x00 \x1b[2J\u2028", "blocked", reason="a \ud800 surrogate"),
        Item(
            "2",
            "日本語\nin two lines",
            "in_progress",
            active="doing",
            phase="one",
            notes=("a", "b"),
            priority="high",
            owner="x",
        ),
        Item("3", "part", "completed", parent="2", phase="one", needs=("1",), closed=Closing("user", "t")),
        Item(
            "5",
            "proved",
            "abandoned",
            phase="one",
            check={"run": "make"},
            evidence=({"exit": 0},),
            calls=({"name": "x"},),
        ),
        Item("7", "foreign", "pending", phase="one", extra={"id": "abc", "deep": {"er": [1, None]}}),
    ),
    last_id=9,
    removed=("gone", "with the wind"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plans"


def opened(folder: Path) -> Store:
    return open_store(f"json:{folder}")


def desk_in(folder: Path, session: str = "s1", agent: str = "main", **options: Any) -> Desk:
    """A desk on a store of its own: what it knows, it has read from the files."""
    return Desk(opened(folder), session=session, agent=agent, settings=load({}, environ={}), place="/here", **options)


def add(desk: Desk, *texts: str) -> Plan:
    return desk.change(lambda plan: ops.extend(plan, [{"text": text} for text in texts])).plan


def saved(store: Store, plan: Plan, home: PlanKey, at: str = "2026-01-01T00:00:00.000Z") -> Plan:
    """Save a new plan in one record."""
    store.save(Commit(None, plan, Record(1, at, "user", changes=diff(Plan(plan.id), plan)), key=home))
    return plan


def listed(folder: Path, name: str = LIST) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((folder / name).read_text(encoding="utf-8"))
    return entries


def texts(plan: Plan) -> list[str]:
    return [item.text for item in plan.items]


def write(path: Path, entries: object) -> None:
    """Write a list as Claude Code does."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(entries, indent=2), encoding="utf-8")


def todo(content: str, status: str = "pending", active: str = "") -> dict[str, str]:
    return {"content": content, "status": status, "activeForm": active or f"Doing: {content}"}


# --- the list ------------------------------------------------------------------------------------------------------


def test_the_list_is_one_that_claude_code_could_read(folder: Path) -> None:
    desk = desk_in(folder)
    add(desk, "wait", "drop", "do", "did", "höher")
    desk.change(lambda plan: ops.block(plan, "1", why="no key"))
    desk.change(lambda plan: ops.drop(plan, "2", why="not needed"))
    desk.change(lambda plan: ops.start(plan, "3"))
    desk.change(lambda plan: ops.complete(plan, "4"))

    entries = listed(folder)
    assert [(entry["content"], entry["status"]) for entry in entries] == [
        ("wait", "pending"),
        ("do", "in_progress"),
        ("did", "completed"),
        ("höher", "pending"),
    ]
    assert all(entry["activeForm"] for entry in entries)
    assert list(entries[0]) == ["content", "status", "activeForm", "punchlist"]
    assert (folder / LIST).read_text("utf-8") == json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def test_an_empty_list_is_an_empty_array(folder: Path) -> None:
    desk = desk_in(folder)
    add(desk, "one")
    desk.change(lambda plan: ops.remove(plan, "1"))
    assert (folder / LIST).read_text() == "[]\n"
    assert desk_in(folder).plan == desk.plan


def test_everything_a_plan_holds_is_read_back(folder: Path) -> None:
    saved(opened(folder), FULL, PlanKey("/here", "s1", "main"))
    assert opened(folder).load("p1") == FULL

    more = FULL._replace(revision=2, items=FULL.items[1:])
    store = opened(folder)
    store.save(Commit(FULL, more, Record(2, "t", "user", changes=diff(FULL, more))))
    assert opened(folder).load("p1") == more
    assert [record.changes for record in opened(folder).history("p1", 1)] == [diff(FULL, more)]


def test_files_and_directories_are_private(folder: Path) -> None:
    desk = desk_in(folder)
    add(desk, "one")
    desk._seat.store.bind(PlanKey("/here", "s2", "main"), desk.plan.id)
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


# --- races ---------------------------------------------------------------------------------------------------------


def test_four_processes_that_add_at_once_lose_nothing(folder: Path) -> None:
    script = """
import sys, punchlist
with punchlist.open(sys.argv[1], session="s1") as desk:
    for number in range(25):
        desk.change(lambda plan: punchlist.ops.add(plan, f"{sys.argv[2]}-{number}"))
"""
    works = [subprocess.Popen([sys.executable, "-c", script, f"json:{folder}", str(n)]) for n in range(4)]
    assert [work.wait() for work in works] == [0] * 4
    plan = desk_in(folder).plan
    assert sorted(texts(plan)) == sorted(f"{worker}-{number}" for worker in range(4) for number in range(25))
    assert plan.revision == 100
    assert desk_in(folder).at(0).items == ()


def test_threads_that_share_a_store_lose_nothing(folder: Path) -> None:
    store = opened(folder)

    def work(name: str) -> None:
        desk = Desk(store, session="s1", settings=load({}, environ={}), place="/here")
        for number in range(10):
            add(desk, f"{name}-{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(texts(desk_in(folder).plan))) == 40


def test_a_save_that_did_not_know_of_an_edit_in_the_file_is_refused(folder: Path) -> None:
    store = opened(folder)
    plan = saved(store, ops.add(Plan("p1"), "first")._replace(revision=1), PlanKey("/here", "s1", "main"))
    write(folder / LIST, [todo("first", "completed")])
    mine = plan._replace(revision=2, title="mine")
    with pytest.raises(StaleRevision):
        store.save(Commit(plan, mine, Record(2, "t", "user", changes=diff(plan, mine))))
    edited = store.load("p1")
    assert edited is not None
    assert (edited.revision, edited.title, edited.items[0].status) == (2, "", "completed")


def test_whoever_waits_sees_an_edit_in_the_file(folder: Path) -> None:
    desk = desk_in(folder)
    plan = add(desk, "one")
    writer = threading.Timer(0.1, lambda: write(folder / LIST, [todo("one"), todo("two")]))
    writer.start()
    desk._seat.store.wait(plan.id, lambda: desk.plan.revision > 1, 60)
    assert texts(desk.plan) == ["one", "two"]
    writer.join()


def test_a_list_follows_a_change_that_was_made_to_the_database_alone(folder: Path) -> None:
    plan = add(desk_in(folder), "first")
    with punchlist.open(f"sqlite:{folder}/punchlist.db", session="s1") as desk:
        add(desk, "second")
    with punchlist.open(f"sqlite:{folder}/punchlist.db", session="s2") as desk:
        add(desk, "another plan")
    assert texts(desk_in(folder).plan) == ["first", "second"]
    assert texts(desk_in(folder, "s2").plan) == ["another plan"]
    assert [entry["content"] for entry in listed(folder)] == ["first", "second"]
    assert [entry["content"] for entry in listed(folder, f"{desk_in(folder, 's2').plan.id}-agent-main.json")] == [
        "another plan"
    ]
    assert desk_in(folder).plan.id == plan.id


# --- lists that somebody else has written --------------------------------------------------------------------------


def test_a_list_that_claude_code_wrote_is_an_edit_of_the_user(folder: Path) -> None:
    desk = desk_in(folder)
    add(desk, "first", "second", "third")
    desk.change(lambda plan: ops.note(plan, "2", "keep me"))
    write(folder / LIST, [todo("first", "completed"), todo("second", "in_progress"), todo("fourth")])

    plan = desk.plan
    assert [(item.id, item.text, item.status) for item in plan.items] == [
        ("1", "first", "completed"),
        ("2", "second", "in_progress"),
        ("4", "fourth", "pending"),
    ]
    assert plan.items[1].notes == ("keep me",)
    record = desk.history()[-1]
    assert (record.revision, record.by, record.dialect, record.kind) == (3, "user", "file", "edit")
    assert [entry["punchlist"]["id"] for entry in listed(folder)] == ["1", "2", "4"]
    assert desk_in(folder).plan == plan
    assert texts(desk.undo().plan) == ["first", "second", "third"]


def test_a_hand_edit_cannot_say_that_the_user_set_approved_or_waived_a_check(folder: Path) -> None:
    known = {"by": "main", "at": "2026-01-01T00:00:00.000Z", "dir": "/p"}
    first = Item("1", "first", check={"run": "make"}, check_set=known)
    second = Item("2", "second", check={"run": "make"}, check_set={**known, "by": "user"})
    plan = Plan("p1", revision=1, items=(first, second, Item("3", "third")), last_id=3)
    store = open_store(f"json:{folder}")
    saved(store, plan, PlanKey(session="s1", agent="main"))
    entries = listed(folder)
    entries[0]["punchlist"] |= {"check_set": {**known, "approved": True}, "waived": {"why": "no", "at": "t"}}
    entries[1]["punchlist"] |= {"check": {"run": "true"}}
    entries[2]["punchlist"] |= {"check": {"run": "true"}, "check_set": {**known, "by": "user", "approved": True}}
    forged = {"id": "4", "text": "fourth", "check": {"run": "true"}, "check_set": {"by": "user"}}
    entries.append({**todo("fourth"), "punchlist": {**forged, "waived": {"why": "no", "at": "t"}}})
    write(folder / LIST, entries)
    found = store.load("p1")
    assert found is not None
    assert [item.text for item in found.items] == ["first", "second", "third", "fourth"]
    assert found.items[0].check_set == known
    assert [item.check_set.get("by") for item in found.items] == ["main", "file", "file", "file"]
    assert not any(item.check_set.get("approved") or item.waived for item in found.items)


def test_a_list_edited_by_hand_keeps_what_is_ours(folder: Path) -> None:
    desk = desk_in(folder)
    desk.change(lambda plan: ops.extend(plan, [{"text": "first", "phase": "p"}, {"text": "second", "phase": "p"}]))
    desk.change(lambda plan: ops.block(plan, "2", why="no key"))
    entries = listed(folder)
    entries[0]["content"] = "something else altogether"
    entries[0]["punchlist"]["notes"] = ["by hand"]
    write(folder / LIST, [*reversed(entries), {"content": "new", "status": "pending"}])

    items = desk.plan.items
    assert [(item.id, item.text, item.status, item.phase) for item in items] == [
        ("2", "second", "blocked", "p"),
        ("1", "something else altogether", "pending", "p"),
        ("3", "new", "pending", "p"),
    ]
    assert items[1].notes == ("by hand",)
    assert items[0].reason == "no key"
    assert [item.active for item in items] == ["", "", ""]


def test_an_entry_that_was_copied_by_hand_is_a_new_item(folder: Path) -> None:
    desk = desk_in(folder)
    add(desk, "first")
    one = listed(folder)[0]
    write(folder / LIST, [one, {**one, "content": "the same, for the other half of the house"}])
    assert [(item.id, item.text) for item in desk.plan.items] == [
        ("1", "first"),
        ("2", "the same, for the other half of the house"),
    ]


def test_nonsense_in_what_is_ours_is_not_believed(folder: Path) -> None:
    desk = desk_in(folder)
    add(desk, "first", "second")
    entries = listed(folder)
    entries[0]["punchlist"] = {"id": "1", "text": "first", "needs": ["2"]}
    entries[1]["punchlist"] = {"id": "2", "text": "second", "needs": ["1"]}
    entries.append({"content": "third", "status": "pending", "punchlist": {"id": "9" * 50, "text": 3}})
    write(folder / LIST, entries)
    assert [(item.id, item.text, item.needs) for item in desk.plan.items] == [
        ("1", "first", ()),
        ("2", "second", ()),
        ("3", "third", ()),
    ]


def test_a_list_in_another_form_is_no_edit(folder: Path) -> None:
    desk = desk_in(folder)
    before = add(desk, "first", "second")
    ours = (folder / LIST).read_bytes()
    (folder / LIST).write_text(json.dumps(listed(folder)))
    assert desk.plan == before
    assert (folder / LIST).read_bytes() == ours


def test_a_list_that_was_emptied_by_somebody_else_stays_empty(folder: Path) -> None:
    desk = desk_in(folder)
    add(desk, "first")
    desk.change(lambda plan: ops.remove(plan, "1"))
    add(desk, "second")
    write(folder / LIST, [])
    assert desk.plan.items == ()
    assert desk.plan.revision == 4


def test_a_list_that_is_being_written_in_place_is_not_taken_for_damaged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("punchlist.stores.json_dir._MOMENT", 1.0)  # this machine may be busy
    desk = desk_in(folder)
    add(desk, "first")
    (folder / LIST).write_text('[{"conte')
    rest = threading.Timer(0.02, lambda: write(folder / LIST, [todo("first", "completed")]))
    rest.start()
    assert [item.status for item in desk.plan.items] == ["completed"]
    rest.join()
    assert list(folder.glob("*.damaged*")) == []


def test_the_model_hears_of_an_edit_in_the_file_once(folder: Path) -> None:
    desk = desk_in(folder)
    desk.call("plan", {"add": ["first", "second"]})
    write(folder / LIST, [todo("first", "in_progress"), todo("second", "completed")])
    assert desk.take_updates() == ['the user completed 2 "second".']
    assert desk.take_updates() == []


# --- directories of claude code ------------------------------------------------------------------------------------

SESSION = "0b9a5cf0-12aB-4c6e-8d2f-0123456789ab"


def test_a_directory_of_claude_code_opens_as_it_is(folder: Path) -> None:
    main, sub = f"{SESSION}-agent-{SESSION}.json", f"{SESSION}-agent-x7.json"
    write(folder / main, [todo("first", "completed"), todo("second", "in_progress", "Seconding")])
    write(folder / sub, [todo("of the other agent")])
    before = {name: (folder / name).read_bytes() for name in (main, sub)}

    desk, other = desk_in(folder, SESSION), desk_in(folder, SESSION, "x7")
    assert [(item.text, item.status, item.active) for item in desk.plan.items] == [
        ("first", "completed", "Doing: first"),
        ("second", "in_progress", "Seconding"),
    ]
    assert texts(other.plan) == ["of the other agent"]
    assert [(record.kind, record.revision) for record in desk.history()] == [("import", 1)]
    assert {name: (folder / name).read_bytes() for name in before} == before

    add(desk, "third")
    assert [entry["content"] for entry in listed(folder, main)] == ["first", "second", "third"]
    assert desk_in(folder, SESSION).plan == desk.plan
    assert (folder / sub).read_bytes() == before[sub]
    assert not list(folder.glob("*-agent-main*"))


def test_a_session_of_claude_code_that_is_not_asked_for_is_left_alone(folder: Path) -> None:
    write(folder / f"{SESSION}-agent-{SESSION}.json", [todo("first")])
    assert opened(folder).find(PlanKey(session="another", agent="main")) == ""
    assert opened(folder).find(PlanKey(session=SESSION, agent=SESSION)) == ""
    assert [path.name for path in folder.glob("*.json")] == [f"{SESSION}-agent-{SESSION}.json"]


def test_old_lists_without_active_forms_open_too(folder: Path) -> None:
    write(folder / "s1-agent-s1.json", [{"content": "first", "status": "pending", "priority": "high", "id": "1"}])
    (item,) = desk_in(folder).plan.items
    assert (item.text, item.active, item.priority) == ("first", "", "high")


def test_an_empty_list_of_claude_code_is_an_empty_plan(folder: Path) -> None:
    write(folder / "s1-agent-s1.json", [])
    desk = desk_in(folder)
    assert (desk.plan.items, desk.plan.revision) == ((), 1)
    add(desk, "first")
    assert [entry["content"] for entry in listed(folder, "s1-agent-s1.json")] == ["first"]


def test_claude_code_may_write_again_what_was_taken_over(folder: Path) -> None:
    path = folder / "s1-agent-s1.json"
    write(path, [todo("first")])
    desk = desk_in(folder)
    id = desk.plan.id
    write(path, [todo("first", "completed"), todo("second")])
    assert [(item.id, item.status) for item in desk.plan.items] == [("1", "completed"), ("2", "pending")]
    path.unlink()
    assert texts(desk_in(folder).plan) == ["first", "second"]
    assert desk_in(folder).plan.id == id


def test_a_list_taken_over_and_then_put_into_another_form_is_still_no_edit(folder: Path) -> None:
    path = folder / "s1-agent-s1.json"
    write(path, [todo("first")])
    plan = desk_in(folder).plan
    path.write_text(json.dumps([todo("first")]))
    assert desk_in(folder).plan == plan
    assert desk_in(folder).plan == plan


def test_lists_of_claude_code_are_among_the_plans(folder: Path) -> None:
    write(folder / f"{SESSION}-agent-{SESSION}.json", [todo("first")])
    write(folder / "s2-agent-helper.json", [todo("second"), todo("third")])
    (folder / "s3-agent-s3.json").write_text("{not a list")
    (folder / "package.json").write_text("[]")
    listed = {(plan.sessions, plan.agent, plan.total) for plan in opened(folder).plans(9)}
    assert listed == {((SESSION,), "main", 1), (("s2",), "helper", 2)}
    assert (folder / "s3-agent-s3.json").read_text() == "{not a list"
    assert list(folder.glob("package*")) == [folder / "package.json"]


def test_capitals_stand_in_the_name_of_a_file(folder: Path) -> None:
    for session in ("Ses_4kQ", "ses_4kq"):
        add(Desk(opened(folder), session=session, settings=load({}, environ={}), place="/here"), f"Of {session}")
    names = sorted(path.name for path in folder.glob("*.json"))
    assert names[0] == "Ses_4kQ-agent-Ses_4kQ.json"
    assert names[1].startswith("ses_4kq-agent-ses_4kq~")
    for session in ("Ses_4kQ", "ses_4kq"):
        desk = Desk(opened(folder), session=session, settings=load({}, environ={}), place="/here")
        assert texts(desk.plan) == [f"Of {session}"]


# --- as Claude Code has it -------------------------------------------------------------------------------------------


def test_a_new_main_list_is_called_as_claude_code_looks_for_it(folder: Path) -> None:
    add(desk_in(folder, "s1"), "first")
    desk_in(folder, "s2").carry("s1", "s2")
    assert {path.name for path in folder.glob("*.json")} == {"s1-agent-s1.json", "s2-agent-s2.json"}


def test_keys_of_claude_code_s_items_that_we_do_not_know_survive_our_writes(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    items = [{**todo("first"), "id": "t1", "tags": ["x", {"deep": None}]}, {**todo("second"), "priority": "high"}]
    write(folder / LIST, items)
    desk = desk_in(folder, "s1")
    add(desk, "third")
    desk.change(lambda plan: ops.complete(plan, "1"))
    first, second, third = listed(folder, LIST)
    assert (first["id"], first["tags"], first["status"]) == ("t1", ["x", {"deep": None}], "completed")
    assert second["priority"] == "high"
    assert set(third) == {"content", "status", "activeForm", "punchlist"}
    del first["tags"]
    write(folder / LIST, [first, second, third])
    assert "tags" not in listed(folder, LIST)[0]
    add(desk, "fourth")
    assert "tags" not in listed(folder, LIST)[0]
    assert listed(folder, LIST)[0]["id"] == "t1"


def test_what_was_given_up_is_not_in_the_list_and_still_in_the_plan(folder: Path) -> None:
    desk = desk_in(folder, "s1")
    for word in ("first", "second", "third"):
        add(desk, word)
    desk.change(lambda plan: ops.drop(plan, "2", why="not needed"))
    assert [entry["content"] for entry in listed(folder, LIST)] == ["first", "third"]
    again = desk_in(folder, "s1")
    assert again.plan == desk.plan
    assert [(item.text, item.reason) for item in again.plan.items][1] == ("second", "not needed")
    write(folder / LIST, [todo("first"), todo("third"), todo("fourth")])
    assert [(item.text, item.status) for item in desk.plan.items] == [
        ("first", "pending"),
        ("second", "abandoned"),
        ("third", "pending"),
        ("fourth", "pending"),
    ]
    desk.change(lambda plan: ops.reopen(plan, "2"))
    assert [entry["content"] for entry in listed(folder, LIST)] == ["first", "second", "third", "fourth"]


# --- whose plan it is ----------------------------------------------------------------------------------------------

NAMES = (
    "../../x",
    "/etc/passwd",
    "..",
    ".",
    ".hidden",
    "nul\x00inside",
    "two\nlines",
    "emoji 👩‍👩‍👧",
    "lone \ud800",
    "x" * 10_000,
    "x" * 9_999,
    "Case",
    "case",
    "CASE",
    "a-agent",
    "a",
    "a-agent-b",
    "agent-b",
    "~",
    "main",
    " ",
    "b.history",
    "b",
)


def test_no_name_leads_elsewhere_or_to_another_plan(folder: Path, tmp_path: Path) -> None:
    around = set(tmp_path.rglob("*")) - set(folder.rglob("*"))
    homes = [PlanKey("/here", session, agent) for session in NAMES for agent in ("main", "b", "agent-b", session)]
    homes = list(dict.fromkeys(homes))
    store = opened(folder)
    for number, home in enumerate(homes):
        saved(store, Plan(f"p{number}", revision=1, title=str(number)), home)

    again = opened(folder)
    for number, home in enumerate(homes):
        assert again.find(home._replace(place="")) == f"p{number}", home
        plan = again.load(f"p{number}")
        assert plan == Plan(f"p{number}", revision=1, title=str(number))
    names = [path.name for path in folder.glob("*.json")]
    assert len({name.lower() for name in names}) == len(homes)
    assert max(map(len, names)) < 200
    assert {path for path in tmp_path.rglob("*") if folder not in (path, *path.parents)} == around - {folder}


def test_the_ids_of_plans_are_names_too(folder: Path) -> None:
    store = opened(folder)
    names = [name for name in NAMES if name.isprintable() and len(name) <= 300]
    for name in names:
        assert store.load(name) is None
        saved(store, Plan(name, revision=1, title=name), PlanKey(f"/here/{name}", "", "main"))
    for name in names:
        assert opened(folder).load(name) == Plan(name, revision=1, title=name)
    assert not (folder.parent / "x").exists()


def test_a_plan_without_session_and_a_session_called_like_it_are_two(folder: Path) -> None:
    store = opened(folder)
    saved(store, Plan("abc", revision=1, title="without"), PlanKey("/here", "", "main"))
    assert store.find(PlanKey(session="abc", agent="main")) == ""
    saved(store, Plan("p2", revision=1, title="with"), PlanKey("/here", "abc", "main"))
    assert opened(folder).find(PlanKey(session="abc", agent="main")) == "p2"
    assert [plan.title for id in ("abc", "p2") if (plan := opened(folder).load(id))] == ["without", "with"]


# --- trimming ------------------------------------------------------------------------------------------------------


def test_a_list_taken_over_survives_trimming_before_it_was_ever_written(folder: Path) -> None:
    write(folder / "s1-agent-s1.json", [todo("first")])
    plan = desk_in(folder).plan
    before = (folder / "s1-agent-s1.json").read_bytes()
    assert sum(opened(folder).trim("9999").values()) == 1
    assert desk_in(folder).plan == plan
    assert (folder / "s1-agent-s1.json").read_bytes() == before


# --- opening -------------------------------------------------------------------------------------------------------


def test_a_store_needs_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match="json: needs a directory, as in json:plans"):
        open_store("json:")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for url, path in (("json:a/b", tmp_path / "a" / "b"), ("json:~/c", tmp_path / "c")):
        saved(open_store(url), Plan("p1", revision=1), PlanKey("/here", "s1", "main"))
        assert (path / LIST).exists()
