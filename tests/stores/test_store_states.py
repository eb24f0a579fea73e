"""How a reader's work goes, and which sessions work from a plan: the same promises from every store."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist import Desk, ops
from punchlist.core.codec import pace_from_json, pace_to_json
from punchlist.core.errors import StaleRevision, StoreError
from punchlist.core.model import Plan, Reader, SessionState
from punchlist.desk.session_state import load_state, update_state
from punchlist.local.settings import load
from punchlist.stores import PlanKey, Store, open_store
from punchlist.stores.sqlite import VERSION
from punchlist.stores.sqlite_tables import MIGRATIONS
from tests.core.plans import HOSTILE, often

SETTINGS = load({}, environ={})
KEY = "2/s1/main"

_NUMBERS = st.integers(0, 2**40)
_TEXTS = st.sampled_from(["", "plan", "the user said to wait", *HOSTILE])
PACES = st.builds(
    SessionState,
    revision=_NUMBERS,
    turns=_NUMBERS,
    spent=_NUMBERS,
    nudges=_NUMBERS,
    idle=_NUMBERS,
    since=_NUMBERS,
    lately=_TEXTS,
    tool=_TEXTS,
    waiting=_TEXTS,
    failed=st.booleans(),
    stopped=st.booleans(),
    names=st.dictionaries(_TEXTS, _TEXTS, max_size=3),
)


def desk(store: Store, session: str = "s1", agent: str = "main") -> Desk:
    return Desk(store, session=session, agent=agent, settings=SETTINGS, place="/here")


def planned(store: Store, session: str = "s1") -> Plan:
    return desk(store, session).change(lambda plan: ops.add(plan, "Read")).plan


# --- paces -----------------------------------------------------------------------------------------------------------


def test_of_a_reader_never_heard_of_the_pace_is_fresh(store: Store) -> None:
    assert store.load_state("nobody") == SessionState()


def test_a_pace_comes_back_as_it_was_kept(store: Store) -> None:
    @often(40)
    @given(PACES)
    def comes_back(pace: SessionState) -> None:
        store.save_state(KEY, store.load_state(KEY), pace)
        assert store.load_state(KEY) == pace

    comes_back()


def test_a_pace_that_has_changed_meanwhile_is_not_overwritten(store: Store) -> None:
    store.save_state(KEY, SessionState(), SessionState(nudges=1))
    for before in (SessionState(), SessionState(nudges=2), SessionState(nudges=1, idle=1)):
        with pytest.raises(StaleRevision):
            store.save_state(KEY, before, SessionState(nudges=9))
    assert store.load_state(KEY) == SessionState(nudges=1)
    store.save_state(KEY, SessionState(nudges=1), SessionState(nudges=2))
    assert store.load_state(KEY) == SessionState(nudges=2)


def test_a_pace_that_is_fresh_again_can_be_kept_and_left(store: Store) -> None:
    store.save_state(KEY, SessionState(), SessionState(nudges=1))
    store.save_state(KEY, SessionState(nudges=1), SessionState())
    store.save_state(KEY, SessionState(), SessionState(nudges=2))
    assert store.load_state(KEY) == SessionState(nudges=2)


def test_the_paces_of_readers_do_not_touch_each_other_whatever_their_names(store: Store) -> None:
    names = [*HOSTILE, "x" * 5_000, "x" * 5_001, "a/b", "../a", "A", "a", "a ", "a\n"]
    for number, name in enumerate(names, 1):
        update_state(desk(store, "s" + name), lambda pace, number=number: pace._replace(nudges=number))  # type: ignore[misc]
    assert [load_state(desk(store, "s" + name)).nudges for name in names] == list(range(1, len(names) + 1))
    assert load_state(desk(store, "other")) == SessionState()


def test_threads_that_count_at_once_lose_nothing(store: Store) -> None:
    ready = Barrier(4)

    def counts() -> None:
        own = desk(store)
        ready.wait()
        for _ in range(25):
            update_state(own, lambda pace: pace._replace(nudges=pace.nudges + 1))

    threads = [Thread(target=counts) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.load_state(KEY).nudges == 100


_COUNTER = """
import sys
import punchlist
from punchlist.desk.session_state import update_state
with punchlist.open(sys.argv[1], session="s1") as desk:
    sys.stdin.readline()
    for _ in range(100):
        update_state(desk, lambda pace: pace._replace(nudges=pace.nudges + 1))
"""


@pytest.mark.parametrize("url", ["json", "sqlite", "postgresql"], indirect=True)
def test_processes_that_count_at_once_lose_nothing(url: str) -> None:
    open_store(url).close()
    racing = [
        subprocess.Popen([sys.executable, "-c", _COUNTER, url], stdin=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for process in racing:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in racing:
        process.communicate()
    assert [process.returncode for process in racing] == [0, 0]
    store = open_store(url)
    assert store.load_state(KEY).nudges == 200
    store.close()


@pytest.mark.parametrize("url", ["json", "sqlite", "postgresql"], indirect=True)
def test_a_pace_outlives_the_process_and_is_forgotten_with_old_history(url: str) -> None:
    store = open_store(url)
    store.save_state(KEY, SessionState(), SessionState(nudges=3, waiting="the user said to wait"))
    store.close()
    store = open_store(url)
    assert store.load_state(KEY) == SessionState(nudges=3, waiting="the user said to wait")
    store.trim("1999-01-01T00:00:00")
    assert store.load_state(KEY).nudges == 3
    store.trim("9999")
    assert store.load_state(KEY) == SessionState()
    store.close()


def test_what_another_version_kept_is_read_as_far_as_it_is_known() -> None:
    kept = {**pace_to_json(SessionState(nudges=4, stopped=True)), "mood": "fine", "idle": "three", "turns": True}
    assert pace_from_json(kept) == SessionState(nudges=4, stopped=True)


def test_a_pace_that_an_earlier_version_kept_still_counts_its_nudges() -> None:
    assert pace_from_json({"pushes": 3, "pushed_at": "2026-01-01", "idle": 1}) == SessionState(
        nudges=3, nudged_at="2026-01-01", idle=1
    )


@pytest.mark.parametrize("kept", ['{"nudges": 4, "mood": "fine"}', '{"idle": "x"}', "[]", "3", "null", "", "{", "\x00"])
def test_a_pace_that_another_version_or_a_fault_left_behind_does_not_stand_in_the_way(
    kept: str, tmp_path: Path
) -> None:
    store = open_store(f"sqlite:{tmp_path / 'plan.db'}")
    with sqlite3.connect(tmp_path / "plan.db") as db:
        db.execute("INSERT INTO paces VALUES (?, ?, '2026-01-01')", (KEY, kept))
    db.close()
    before = store.load_state(KEY)
    assert before.nudges == (4 if "4" in kept else 0)
    assert update_state(desk(store), lambda pace: pace._replace(nudges=pace.nudges + 1)).nudges == before.nudges + 1
    assert store.load_state(KEY).nudges == before.nudges + 1
    store.close()


# --- sessions --------------------------------------------------------------------------------------------------------


def test_a_plan_that_is_not_there_has_no_sessions(store: Store) -> None:
    assert store.sessions("nothing") == []


def test_the_session_that_made_a_plan_works_from_it(store: Store) -> None:
    assert store.sessions(planned(store).id) == [("s1", "main")]


def test_the_session_bound_last_comes_last(store: Store) -> None:
    plan = planned(store, "m")
    for session in ("z", "a", "k", "m", "z", "b"):
        store.bind(PlanKey("/here", session, "main"), plan.id)
        assert store.sessions(plan.id)[-1] == (session, "main")
    assert [session for session, _ in store.sessions(plan.id)] == ["a", "k", "m", "z", "b"]


def test_a_session_that_went_to_another_plan_does_not_work_from_the_first_any_more(store: Store) -> None:
    one, two = planned(store, "s1"), planned(store, "s2")
    store.bind(PlanKey("/here", "s1", "main"), two.id)
    assert store.sessions(one.id) == []
    assert store.sessions(two.id) == [("s2", "main"), ("s1", "main")]
    store.bind(PlanKey("/here", "s1", "main"), one.id)
    assert (store.sessions(one.id), store.sessions(two.id)) == ([("s1", "main")], [("s2", "main")])


def test_of_many_who_would_have_a_plan_alone_one_gets_it(store: Store) -> None:
    plan = desk(store, "").change(lambda plan: ops.add(plan, "Read")).plan
    barrier, refused = Barrier(6), []

    def take(session: str) -> None:
        barrier.wait()
        try:
            store.bind(PlanKey("/here", session, "main"), plan.id, alone=True)
        except StaleRevision:
            refused.append(session)

    threads = [Thread(target=take, args=(f"s{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5
    [(session, _)] = store.sessions(plan.id)
    assert session not in refused


def test_the_plans_of_a_place_are_those_of_its_main_agents(store: Store) -> None:
    Desk(store, session="e", settings=SETTINGS, place="/elsewhere").change(lambda plan: ops.add(plan, "Other"))
    desk(store, "s1", "helper").change(lambda plan: ops.add(plan, "Part"))
    one, two = planned(store, "s1"), planned(store, "s2")
    assert {listing.id for listing in store.plans(9, agent="main", place="/here")} == {one.id, two.id}
    assert len(store.plans(1, agent="main", place="/here")) == 1
    assert store.plans(9, place="/nowhere") == []


def test_a_listing_names_the_program_and_what_is_being_worked_on(store: Store) -> None:
    one = Desk(store, session="s1", settings=SETTINGS, place="/here", host="codex")
    one.change(lambda plan: ops.add(ops.add(plan, "Read"), "Write", active="Writing"))
    [listing] = store.plans(9, agent="main", place="/here")
    assert (listing.host, listing.session, listing.active, listing.is_open) == ("codex", "s1", "Read", True)
    one.change(lambda plan: ops.start(plan, "2"))
    assert store.plans(9)[0].active == "Writing"
    store.bind(PlanKey("/here", "s2", "main", "gemini"), one.plan.id)
    assert (store.plans(9)[0].host, store.plans(9)[0].session) == ("gemini", "s2")


def test_sessions_and_agents_come_back_by_their_names(store: Store) -> None:
    plan = planned(store)
    for name in HOSTILE:
        store.bind(PlanKey("/here", f"s{name}", f"a{name}"), plan.id)
        assert store.sessions(plan.id)[-1] == (f"s{name}", f"a{name}")


# --- a file of an older version --------------------------------------------------------------------------------------


def test_the_version_of_a_file_is_the_last_that_something_leads_to() -> None:
    assert len(MIGRATIONS) == VERSION


_VERSION_2 = """
CREATE TABLE plans (
    id TEXT PRIMARY KEY, revision INTEGER NOT NULL, head TEXT NOT NULL, place TEXT NOT NULL, agent TEXT NOT NULL,
    touched TEXT NOT NULL, author TEXT NOT NULL, parent TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE places (place TEXT PRIMARY KEY, plan TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE items (
    plan TEXT NOT NULL, id TEXT NOT NULL, rank INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (plan, id)
) WITHOUT ROWID;
CREATE TABLE history (
    plan TEXT NOT NULL, revision INTEGER NOT NULL, at TEXT NOT NULL, by TEXT NOT NULL, reader TEXT NOT NULL,
    dialect TEXT NOT NULL, kind TEXT NOT NULL, changes TEXT NOT NULL, PRIMARY KEY (plan, revision)
) WITHOUT ROWID;
CREATE TABLE readers (
    plan TEXT NOT NULL, key TEXT NOT NULL, seen INTEGER NOT NULL, at TEXT NOT NULL, PRIMARY KEY (plan, key)
) WITHOUT ROWID;
CREATE TABLE bindings (
    session TEXT NOT NULL, agent TEXT NOT NULL, plan TEXT NOT NULL, host TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (session, agent)
) WITHOUT ROWID;
CREATE INDEX bindings_by_plan ON bindings (plan);
PRAGMA user_version = 2;
"""


def _old_file(path: Path) -> None:
    """A store as the second version left it, with one plan in it."""
    item = {"id": "1", "text": "Read", "status": "pending"}
    added = [["added", "1", None, item, 0]]
    at = "2026-01-01T00:00:00.000Z"
    with sqlite3.connect(path) as db:
        db.executescript(_VERSION_2)
        db.execute(
            "INSERT INTO plans VALUES ('p', 1, ?, '/here', 'main', ?, '', '')", ('["", "act", null, [], 1, []]', at)
        )
        db.execute("INSERT INTO places VALUES ('/here', 'p')")
        db.execute("INSERT INTO items VALUES ('p', '1', 1, ?)", (json.dumps(item),))
        db.execute("INSERT INTO history VALUES ('p', 1, ?, 'user', '', '', 'edit', ?)", (at, json.dumps(added)))
        db.execute("INSERT INTO bindings VALUES ('s1', 'main', 'p', '', ?)", (at,))
    db.close()


def test_a_file_of_the_second_version_is_brought_up_to_date_after_a_copy_was_made(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    _old_file(path)
    store = open_store(f"sqlite:{path}")
    own = desk(store)
    assert [item.text for item in own.plan.items] == ["Read"]
    assert [record.revision for record in own.history()] == [1]
    assert store.sessions("p") == [("s1", "main")]
    update_state(own, lambda pace: pace._replace(nudges=1))
    store.close()

    again = open_store(f"sqlite:{path}")
    assert again.load_state(KEY).nudges == 1
    again.close()
    with sqlite3.connect(path) as db, sqlite3.connect(f"{path}.version-2") as copy:
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert copy.execute("PRAGMA user_version").fetchone() == (2,)
        assert copy.execute("SELECT count(*) FROM items").fetchone() == (1,)
    db.close()
    copy.close()


_EARLIEST = """
CREATE TABLE plans (
    id TEXT PRIMARY KEY, revision INTEGER NOT NULL, head TEXT NOT NULL, place TEXT NOT NULL, agent TEXT NOT NULL,
    touched REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX plans_by_place ON plans (place, agent, touched);
CREATE TABLE items (
    plan TEXT NOT NULL, id TEXT NOT NULL, rank INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (plan, id)
) WITHOUT ROWID;
CREATE TABLE history (
    plan TEXT NOT NULL, revision INTEGER NOT NULL, at TEXT NOT NULL, by TEXT NOT NULL, reader TEXT NOT NULL,
    dialect TEXT NOT NULL, kind TEXT NOT NULL, changes TEXT NOT NULL, PRIMARY KEY (plan, revision)
) WITHOUT ROWID;
CREATE TABLE readers (
    plan TEXT NOT NULL, key TEXT NOT NULL, seen INTEGER NOT NULL, PRIMARY KEY (plan, key)
) WITHOUT ROWID;
CREATE TABLE bindings (
    session TEXT NOT NULL, agent TEXT NOT NULL, plan TEXT NOT NULL, PRIMARY KEY (session, agent)
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""


def test_a_file_of_the_very_first_programs_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    with sqlite3.connect(path) as db:
        db.executescript(_EARLIEST)
        for plan, touched, agent in (("p", 1e9, "main"), ("q", 1.5e9, "main"), ("r", 1.6e9, "helper")):
            item = {"id": "1", "text": f"Read {plan}", "status": "pending"}
            head = '["", "act", null, [], 1, []]'
            db.execute("INSERT INTO plans VALUES (?, 1, ?, '/here', ?, ?)", (plan, head, agent, touched))
            db.execute("INSERT INTO items VALUES (?, '1', 1, ?)", (plan, json.dumps(item)))
            db.execute("INSERT INTO bindings VALUES (?, ?, ?)", (f"s-{plan}", agent, plan))
            db.execute("INSERT INTO readers VALUES (?, 'someone', 1)", (plan,))
    db.close()
    store = open_store(f"sqlite:{path}")
    loaded = store.load("p")
    assert loaded is not None
    assert [item.text for item in loaded.items] == ["Read p"]
    assert store.find(PlanKey("/here", "", "main")) == "q"  # of the place, the one touched last by a main agent
    assert store.find(PlanKey("/here", "s-p", "main")) == "p"
    assert store.peek("p", "someone") == (1, Reader(1))
    assert [listing.id for listing in store.plans(10)] == ["r", "q", "p"]
    store.close()


def test_a_file_of_a_later_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "plan.db"
    open_store(f"sqlite:{path}").close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer punchlist"):
        open_store(f"sqlite:{path}")
    assert path.read_bytes() == before
