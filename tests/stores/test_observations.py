"""Tool calls are kept beside the plan: bounded rows, no revision, and nothing that undo, history or a watcher sees."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import punchlist
from punchlist import Desk, StoreError, ops
from punchlist.core.codec import to_json
from punchlist.core.redact import bounded_call, recorded
from punchlist.core.rules import problems
from punchlist.desk.observations import observe
from punchlist.local.files import time_text
from punchlist.stores import MOST_CALLS, Store, open_store
from punchlist.stores.postgres.tables import MIGRATIONS
from punchlist.stores.sqlite import VERSION
from punchlist.stores.sqlite_tables import statements
from tests import postgres_server
from tests.core.plans import HOSTILE, any_json, often
from tests.stores.conftest import STORES

AT = "2026-01-02T03:04:05.678Z"
CALL: dict[str, Any] = {"id": "c1", "name": "Bash", "parameters": {"command": "make"}, "outcome": "ok", "text": "fine"}


@pytest.fixture(params=["memory", "json", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(STORES[request.param](tmp_path, request))
    yield opened
    opened.close()


def started(store: Store) -> Desk:
    desk = Desk(store, session="s")
    desk.call("plan", {"add": ["A", "B"]})
    desk.call("plan", {"start": [1]})
    return desk


def names(desk: Desk) -> list[list[str]]:
    return [[call["name"] for call in item.calls] for item in desk.load(calls=True).items]


# --- keeping ---------------------------------------------------------------------------------------------------------


def test_an_observed_call_comes_back_with_its_item_and_changes_nothing_of_the_plan(store: Store) -> None:
    desk = started(store)
    before, history, seen = desk.plan, desk.history(), store.peek(desk.plan.id, "other")
    observe(desk, "1", [{"at": AT, **CALL, "exit": 0, "session": "s", "agent": "main"}])
    assert desk.plan == before == store.load(before.id)
    assert (desk.history(), store.peek(before.id, "other")) == (history, seen)
    first, second = desk.load(calls=True).items
    assert first.calls == ({"at": AT, **CALL, "exit": 0, "session": "s", "agent": "main"},)
    assert second.calls == ()
    assert store.load_calls(before.id, "1") == {"1": list(first.calls)}
    assert store.load_calls(before.id, "2") == {}


def test_a_call_without_a_time_has_the_time_at_which_it_was_kept(store: Store) -> None:
    desk = started(store)
    observe(desk, "1", [CALL])
    (call,) = desk.load(calls=True).items[0].calls
    assert desk.plan.items[0].calls == ()
    assert desk.history()[-1].at <= call["at"] <= time_text()


def test_an_item_keeps_its_newest_calls(store: Store) -> None:
    desk = started(store)
    observe(desk, "2", [CALL])
    for start in range(0, MOST_CALLS + 30, 10):
        observe(desk, "1", [{**CALL, "id": str(start + number)} for number in range(10)])
    first, second = desk.load(calls=True).items
    assert [int(call["id"]) for call in first.calls] == list(range(30, MOST_CALLS + 30))
    assert len(second.calls) == 1


def test_any_name_and_any_value_in_a_call_comes_back(store: Store) -> None:
    desk = started(store)
    calls = [{"at": AT, "id": text, "name": text, "parameters": {text: [text, None, 1.5]}} for text in HOSTILE]
    for number, call in enumerate(calls):
        store.observe(desk.plan.id, str(number), [call])
        assert store.load_calls(desk.plan.id, str(number)) == {str(number): [bounded_call(call)]}


def test_calls_from_before_a_time_are_forgotten_with_the_history(store: Store) -> None:
    desk = started(store)
    observe(desk, "1", [{**CALL, "at": AT}, CALL])
    store.trim("2026-01-03", desk.plan.id)
    assert [call["at"] > AT for call in desk.load(calls=True).items[0].calls] == [True]


def test_undo_and_redo_leave_observed_calls_as_they_are(store: Store) -> None:
    desk = started(store)
    desk.change(lambda plan: ops.rename(plan, "1", "Alpha"))
    observe(desk, "1", [CALL])
    for step, text in ((desk.undo, "A"), (desk.redo, "Alpha")):
        assert [item.text for item in step().plan.items] == [text, "B"]
        assert names(desk) == [["Bash"], []]


def test_calls_in_an_imported_document_are_kept_once_beside_the_plan(store: Store) -> None:
    desk = started(store)
    document = to_json(desk.plan)
    document["items"][0]["calls"] = [CALL, {**CALL, "id": "c2", "parameters": {"edits": ["x" * 5_000] * 300}}]
    for _ in range(2):
        desk.import_plan(document)
        assert [call["id"] for call in desk.load(calls=True).items[0].calls] == ["c1", "c2"]
    assert not any("calls" in item for item in to_json(store.load(desk.plan.id) or desk.plan)["items"])
    assert [call["id"] for call in desk.export_plan()["items"][0]["calls"]] == ["c1", "c2"]


def test_a_copy_of_a_plan_has_the_calls_of_its_items(store: Store) -> None:
    desk = started(store)
    observe(desk, "1", [CALL])
    desk.carry("s", "t")
    assert names(Desk(store, session="t")) == [["Bash"], []]


# --- bounds ----------------------------------------------------------------------------------------------------------

EDITS = [{"old_string": "x" * 5_000, "new_string": "y" * 5_000} for _ in range(300)]


@pytest.mark.parametrize("redact", [True, False])
@pytest.mark.parametrize(
    "args",
    [
        {"file_path": "/home/me/parser.py", "edits": EDITS},
        {"path": "a.py", "content": "é" * 100_000},
        {str(number): number for number in range(10_000)},
        {"name" * 1_000: {"inner" * 1_000: "value" * 1_000}},
        [[[["deep" * 1_000]]]] * 50,
        "\0" * 5_000,
        10**4_000,
    ],
)
def test_a_call_takes_less_than_a_kilobyte_whatever_its_input(tmp_path: Path, args: object, redact: bool) -> None:
    who = {"at": AT, "session": "s" * 300, "agent": "main"}
    call = recorded("toolu_" + "x" * 300, "Edit", args, "failed", "é" * 5_000, redact=redact, exit=1, **who)
    with punchlist.open(f"sqlite:{tmp_path}/plans.db", session="s") as desk:
        desk.change(lambda plan: ops.start(ops.add(plan, "A"), "1"))
        observe(desk, "1", [call])
    with closing(sqlite3.connect(tmp_path / "plans.db")) as db:
        (row,) = db.execute("SELECT number, plan, item, at, data FROM observations").fetchall()
    assert sum(len(str(value).encode()) for value in row) < 1_000
    assert (json.loads(row[4])["name"], json.loads(row[4])["exit"]) == ("Edit", 1)


def test_of_a_long_call_the_short_values_stay_complete_and_what_was_left_out_is_marked() -> None:
    kept = bounded_call({**CALL, "parameters": {"content": "x" * 5_000, "path": "src/a.py", "edits": EDITS}})
    assert kept["parameters"]["path"] == "src/a.py"
    assert kept["parameters"]["content"].endswith("x…")
    assert kept["parameters"]["edits"][-1] == f"and {300 - len(kept['parameters']['edits']) + 1} more"


def test_any_call_fits_and_one_that_is_short_stays_as_it_is() -> None:
    @often(200)
    @given(st.dictionaries(st.text(), any_json), st.text(), st.integers(0, 400))
    def fits(parameters: dict[str, Any], text: str, times: int) -> None:
        call = {**CALL, "parameters": parameters, "text": text * times}
        kept = bounded_call(call)
        assert len(json.dumps(kept)) <= 800
        assert bounded_call(kept) == kept
        if len(json.dumps(call)) <= 800:
            assert kept == call

    fits()


# --- stores of older versions ----------------------------------------------------------------------------------------


def old_item(id: str, text: str, status: str, calls: Iterable[str] = ()) -> dict[str, Any]:
    kept = [{"id": one, "name": "Bash", "parameters": {"command": "x" * 200}, "outcome": "ok"} for one in calls]
    return {"id": id, "text": text, "status": status, **({"calls": kept} if kept else {})}


def old_records() -> tuple[list[tuple[str, list[Any]]], list[dict[str, Any]]]:
    """The history of a plan as version 4 kept it, kind and changes of each revision, and the items it led to."""
    first, second = old_item("1", "A", "in_progress"), old_item("2", "B", "pending")
    records: list[tuple[str, list[Any]]] = [
        ("edit", [["added", "1", None, first, 0], ["added", "2", None, second, 1]]),
    ]

    def noted(number: int) -> None:
        nonlocal first
        for _ in range(number):
            calls = [f"c{place}" for place in range(len(records), len(records) + 20)]
            called = old_item("1", first["text"], "in_progress", calls)
            records.append(("calls", [["changed", "1", first, called, -1]]))
            first = called

    def renamed(text: str) -> None:
        nonlocal first
        other = {**first, "text": text}
        records.append(("edit", [["changed", "1", first, other, -1]]))
        first = other

    noted(50)
    renamed("Alpha")
    noted(50)
    renamed("Aleph")
    noted(1)
    return records, [first, second]


def filled(execute: Any) -> None:
    """Write the plan of `old_records` as rows."""
    records, items = old_records()
    head = json.dumps(["", "act", None, [], 2, []])
    execute("INSERT INTO plans VALUES (?, ?, ?, '', 'main', ?, '', '')", ("p1", len(records), head, AT))
    execute("INSERT INTO bindings VALUES ('s', 'main', 'p1', '', ?)", (AT,))
    for rank, item in enumerate(items, 1):
        execute("INSERT INTO items VALUES ('p1', ?, ?, ?)", (item["id"], rank, json.dumps(item)))
    for revision, (kind, changes) in enumerate(records, 1):
        by, reader = ("main", "s") if kind == "calls" else ("user", "")
        line = ("p1", revision, AT, by, reader, "", kind, json.dumps(changes))
        columns = "plan, revision, at, by, reader, dialect, kind, changes"
        execute(f"INSERT INTO history ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", line)


def old_file(path: Path) -> int:
    """Make a file of version 4; its size."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("BEGIN")
        for statement in statements(0, 4):
            db.execute(statement)
        filled(db.execute)
        db.execute("COMMIT")
    return path.stat().st_size


def check_moved(store: Store) -> None:
    """What was an old store lost nothing but revisions without an effect."""
    desk = Desk(store, session="s")
    plan = desk.load(calls=True)
    assert (plan.revision, problems(plan)) == (104, [])
    assert [call["id"] for call in plan.items[0].calls] == [f"c{place}" for place in range(103, 123)]
    assert [record.kind for record in desk.history() if record.changes] == ["edit", "edit", "edit"]
    assert len(desk.history()) == 6
    assert [(at, desk.at(at).items[0].text) for at in (1, 30, 51, 52, 80, 102, 103, 104)] == [
        *((1, "A"), (30, "A"), (51, "A"), (52, "Alpha"), (80, "Alpha"), (102, "Alpha"), (103, "Aleph"), (104, "Aleph"))
    ]
    assert [desk.undo().plan.items[0].text for _ in range(2)] == ["Alpha", "A"]
    assert [desk.redo().plan.items[0].text for _ in range(2)] == ["Alpha", "Aleph"]
    assert [item.text for item in desk.restore(52).plan.items] == ["Alpha", "B"]
    assert names(desk) == [["Bash"] * 20, []]


def test_an_older_file_loses_its_records_of_calls_and_becomes_small(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    before = old_file(path)
    store = open_store(f"sqlite:{path}")
    check_moved(store)
    store.close()
    assert path.stat().st_size * 4 < before
    assert (tmp_path / "plan.db.version-4").stat().st_size == before
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT max(length(changes)) < 500 FROM history").fetchone() == (1,)


def test_an_older_database_of_a_server_loses_its_records_of_calls(postgres: str) -> None:
    url = postgres_server.fresh_database(postgres)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE SCHEMA punchlist")
        db.execute("CREATE TABLE punchlist.version (number INTEGER NOT NULL)")
        db.execute("INSERT INTO punchlist.version VALUES (5)")
        for script in MIGRATIONS[:5]:
            db.execute(script.encode())
        db.execute("SET search_path TO punchlist")
        filled(lambda statement, values: db.execute(statement.replace("?", "%s").encode(), values))
        size = "SELECT pg_total_relation_size('punchlist.history')"
        (before,) = db.execute(size.encode()).fetchone() or (0,)
        store = open_store(url)
        check_moved(store)
        store.close()
        (after,) = db.execute(size.encode()).fetchone() or (0,)
        assert after < before


def test_an_older_file_that_others_read_and_write_is_brought_up_to_date_under_them(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    old_file(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        asked = "SELECT count(*) FROM history WHERE plan = 'p1'"
        assert reader.execute(asked).fetchone() == (104,)
        store = open_store(f"sqlite:{path}")
        check_moved(store)
        assert reader.execute(asked).fetchone() == (104,)  # its moment
        reader.execute("COMMIT")
        store.close()
        assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_older_program_that_still_runs_can_note_calls_in_its_way(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    old_file(path)
    store = open_store(f"sqlite:{path}")
    desk = Desk(store, session="s")
    before, after = (old_item("1", "Aleph", "in_progress", calls) for calls in ((), ("c",)))
    changes = json.dumps([["changed", "1", before, after, -1]])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("INSERT INTO history VALUES ('p1', 105, ?, 'main', 's', '', 'calls', ?)", (AT, changes))
        db.execute("UPDATE plans SET revision = 105")
    assert [desk.undo().plan.items[0].text for _ in range(2)] == ["Alpha", "A"]
    store.close()


def test_history_trimmed_up_to_dropped_records_is_not_taken_for_complete(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    old_file(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("DELETE FROM history WHERE revision < 60")
    store = open_store(f"sqlite:{path}")
    desk = Desk(store, session="s")
    with pytest.raises(punchlist.Refused, match="revision 30 was trimmed; the oldest that is kept is 102"):
        desk.at(30)
    assert desk.undo().plan.items[0].text == "Alpha"
    with pytest.raises(punchlist.Refused, match="nothing to undo"):
        desk.undo()
    store.close()


def test_a_plan_of_an_older_file_is_repaired_without_its_records_of_calls(tmp_path: Path) -> None:
    from punchlist.stores.recovery import repair

    path = tmp_path / "plan.db"
    old_file(path)
    open_store(f"sqlite:{path}").close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE items SET data = 'x'")
    assert repair(str(path)).found.remade == ("p1",)
    store = open_store(f"sqlite:{path}")
    check_moved(store)
    store.close()


DYING = """
import os, signal, sys
from punchlist.stores import open_store, sqlite
at, url = sys.argv[1:]
connect = sqlite.sqlite3.connect

def dying(*args, **options):
    db = connect(*args, **options)
    db.set_trace_callback(lambda said: os.kill(os.getpid(), signal.SIGKILL) if said.strip().startswith(at) else None)
    return db

sqlite.sqlite3.connect = dying
open_store(url)
"""


@pytest.mark.parametrize(
    "at",
    ["CREATE TABLE observations", "DELETE FROM history", "UPDATE history", "COMMIT", "VACUUM", "PRAGMA wal_checkpoint"],
)
def test_a_process_that_is_killed_while_it_migrates_leaves_a_good_file(tmp_path: Path, at: str) -> None:
    path = tmp_path / "plan.db"
    before = old_file(path)
    done = subprocess.run([sys.executable, "-c", DYING, at, f"sqlite:{path}"], check=False)
    assert done.returncode == -signal.SIGKILL
    store = open_store(f"sqlite:{path}")
    check_moved(store)
    store.close()
    assert path.stat().st_size * 4 < before
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_file_that_could_not_shrink_shrinks_when_a_command_opens_it_not_a_hook(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    before = old_file(path)
    subprocess.run([sys.executable, "-c", DYING, "VACUUM", f"sqlite:{path}"], check=False)
    open_store(f"sqlite:{path}", patience="0.3").close()
    assert path.stat().st_size >= before
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        open_store(f"sqlite:{path}").close()  # somebody writes, and is not waited for
        other.execute("ROLLBACK")
    assert path.stat().st_size >= before
    open_store(f"sqlite:{path}").close()
    assert path.stat().st_size * 4 < before


@pytest.mark.parametrize("size", [1500, 3000, 4000])
def test_a_disk_that_is_full_while_an_older_file_is_brought_up_to_date_costs_nothing(
    small_disk: Path, size: int
) -> None:
    """Sizes in kB, for a file of 1,340: no room for the copy of it, or for the migration."""

    def resize(kilobytes: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", small_disk], check=True)

    resize(8000)
    path = small_disk / "plan.db"
    before = old_file(path)
    resize(size)
    with pytest.raises(StoreError, match=f"^{path} cannot grow: the disk is full; make room and try again.$") as told:
        open_store(f"sqlite:{path}")
    assert told.value.kind == "full"
    assert [name.name for name in small_disk.iterdir() if "version" in name.name] == []
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (4,)
        assert db.execute("SELECT count(*) FROM history").fetchone() == (104,)
    resize(8000)
    store = open_store(f"sqlite:{path}")
    check_moved(store)
    store.close()
    assert path.stat().st_size * 4 < before
    assert (small_disk / "plan.db.version-4").stat().st_size == before
