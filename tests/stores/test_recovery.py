"""What can be saved of a damaged SQLite file, whatever happened to it."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

import punchlist
from punchlist import ops
from punchlist.cli.run_command import run_command
from punchlist.core.errors import StoreError
from punchlist.core.model import Plan
from punchlist.stores import open_store
from punchlist.stores.recovery import repair
from punchlist.stores.recovery.rows import Found

SESSIONS = 30


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with a plan for each of many sessions."""
    path = tmp_path_factory.mktemp("whole") / "plans.db"
    for number in range(SESSIONS):
        with punchlist.open(f"sqlite:{path}", session=f"s{number}") as desk:
            for item in range(6):
                desk.change(partial(ops.add, text=f"{item} of {number} {'x' * 60}"))
            desk.change(lambda plan: ops.start(plan, "1"))
    return path.read_bytes()


@pytest.fixture
def file(tmp_path: Path, whole: bytes) -> Path:
    path = tmp_path / "plans.db"
    path.write_bytes(whole)
    return path


def plan_of_session(file: Path, session: str) -> Plan:
    with punchlist.open(f"sqlite:{file}", session=session) as desk:
        return desk.plan


def written(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def root_of(file: Path, table: str) -> int:
    """Where the first page of a table begins."""
    with closing(sqlite3.connect(file)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    return int((page - 1) * size)


def overwritten(file: Path, at: int, noise: bytes) -> bytes:
    """Damage a file; what it holds then."""
    data = bytearray(file.read_bytes())
    data[at : at + len(noise)] = noise
    file.write_bytes(data)
    return bytes(data)


def names(file: Path) -> list[str]:
    return sorted(path.name for path in file.parent.iterdir() if path.is_file())


def test_a_sound_file_is_left_as_it_is(file: Path, whole: bytes) -> None:
    done = repair(str(file))
    assert (done.problem, done.found, done.aside) == ("", Found(done.found.saved), "")
    assert len(done.found.saved) == SESSIONS
    assert file.read_bytes() == whole
    assert names(file) == ["plans.db"]


@pytest.mark.parametrize("table", ["items", "plans"])
def test_plans_whose_rows_are_gone_are_made_anew_from_their_history(file: Path, table: str) -> None:
    before = {f"s{number}": plan_of_session(file, f"s{number}") for number in range(SESSIONS)}
    damaged = overwritten(file, root_of(file, table), os.urandom(4096))
    with pytest.raises(StoreError, match=r"is damaged .*punchlist repair --store sqlite:.*plans\.db"):
        plan_of_session(file, "s3")
    done = repair(str(file))
    assert (len(done.found.saved), done.found.saved, done.found.lost) == (SESSIONS, done.found.remade, ())
    assert Path(done.aside).read_bytes() == damaged
    assert {session: plan_of_session(file, session) for session in before} == before
    assert repair(str(file)).problem == ""


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(file: Path) -> None:
    lost, kept = plan_of_session(file, "s1"), plan_of_session(file, "s2")
    written(file, f"DELETE FROM history WHERE plan = '{lost.id}' AND revision < 4", "PRAGMA user_version=3")
    written(file, f"UPDATE items SET data = '{{' WHERE plan = '{lost.id}' AND id = '2'")
    done = repair(str(file))
    assert (done.problem, done.found.lost) == ("what it holds makes no sense", (lost.id,))
    assert plan_of_session(file, "s2") == kept
    assert plan_of_session(file, "s1") == Plan()
    with punchlist.open(f"sqlite:{file}", session="s2") as desk:
        assert ops.find(desk.change(lambda plan: ops.complete(plan, "1")).plan, "1").status == "completed"
        assert len(desk.history()) == 8


def test_a_history_is_kept_up_to_what_makes_no_sense(file: Path) -> None:
    plan = plan_of_session(file, "s1")
    written(file, f"UPDATE history SET changes = 'null' WHERE plan = '{plan.id}' AND revision = 4")
    found = repair(str(file)).found
    assert (found.cut, found.lost) == ((plan.id,), ())
    with punchlist.open(f"sqlite:{file}", session="s1") as desk:
        assert [record.revision for record in desk.history()] == [5, 6, 7]
        assert desk.undo().plan.items[0].status == "pending"


@pytest.mark.parametrize("content", [b"no database at all " * 300, b"\0" * 9000, b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_file_of_noise_is_set_aside_and_a_new_one_begins(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    file.chmod(0o600)
    done = repair(str(file))
    assert (done.found.saved, done.found.lost) == ((), ())
    assert Path(done.aside).read_bytes() == content
    assert ".damaged-" in done.aside
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert plan_of_session(file, "s1") == Plan()
    assert len(names(file)) == 2


def test_an_item_that_is_missing_is_brought_back_from_history(file: Path) -> None:
    plan = plan_of_session(file, "s1")
    written(file, f"DELETE FROM items WHERE plan = '{plan.id}' AND id = '4'")
    assert repair(str(file)).found.remade == (plan.id,)
    assert plan_of_session(file, "s1") == plan


def test_a_plan_that_lacks_an_item_and_a_part_of_its_history_is_lost(file: Path) -> None:
    plan = plan_of_session(file, "s1")
    written(file, f"DELETE FROM history WHERE plan = '{plan.id}' AND revision < 4")
    written(file, f"DELETE FROM items WHERE plan = '{plan.id}' AND id = '5'")
    assert repair(str(file)).found.lost == (plan.id,)


def test_a_plan_that_comes_back_empty_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone, kept = plan_of_session(file, "s3").id, plan_of_session(file, "s4").id
    written(
        file,
        f"DELETE FROM items WHERE plan = '{gone}'",
        f"DELETE FROM history WHERE plan = '{gone}'",
        f"DELETE FROM history WHERE plan = '{kept}'",
    )
    overwritten(file, root_of(file, "paces"), b"noise" * 100)
    assert run_command(["repair", "--store", f"sqlite:{file}"]) == 0
    said = capsys.readouterr().out
    assert f"Came back empty, and nothing tells what they held: {gone}." in said
    assert f"Without any history, so nothing tells whether they are complete: {kept}." in said
    assert plan_of_session(file, "s4").items


@pytest.mark.parametrize("noise", [b"\0" * 4096, b"noise" * 819])
def test_without_its_first_page_the_plans_of_a_file_are_read_from_the_others(
    file: Path, tmp_path: Path, noise: bytes
) -> None:
    before = {f"s{number}": plan_of_session(file, f"s{number}") for number in range(SESSIONS)}
    with punchlist.open(f"sqlite:{file}", session="long") as desk:
        desk.change(lambda plan: ops.add(plan, "long " * 3_000))
        desk.change(lambda plan: ops.remove(ops.add(plan, "gone"), "1"))
        before["long"] = desk.plan
    overwritten(file, 0, noise)
    done = repair(str(file))
    assert len(done.found.saved) == SESSIONS + 1
    assert (done.found.lost, done.found.emptied) == ((), ())
    for session, plan in before.items():
        assert plan_of_session(file, session) == plan
    with punchlist.open(f"sqlite:{file}", session="s1") as desk:
        assert len(desk.history()) == 7
        desk.undo()


def test_what_only_the_log_holds_is_read_too_without_the_first_page(file: Path, tmp_path: Path) -> None:
    script = "import os, sys, punchlist; from punchlist import ops; d = punchlist.open(sys.argv[1], session='late'); "
    script += "d.change(lambda plan: ops.add(plan, 'in the log')); os._exit(0)"
    subprocess.run([sys.executable, "-c", script, f"sqlite:{file}"], check=True)
    log = file.with_name(file.name + "-wal")
    data = bytearray(log.read_bytes())
    frames = range(32, len(data), 24 + 4096)
    for start in frames:  # the first page is in the log, too, and is gone there as well
        if int.from_bytes(data[start : start + 4], "big") == 1:
            data[start + 24 : start + 24 + 4096] = bytes(4096)
    log.write_bytes(data)
    overwritten(file, 0, bytes(4096))
    assert repair(str(file)).found.lost == ()
    assert [item.text for item in plan_of_session(file, "late").items] == ["in the log"]


def test_sessions_are_found_again_by_an_index(file: Path) -> None:
    before = plan_of_session(file, "s1")
    overwritten(file, root_of(file, "bindings"), b"\xff" * 4096)
    assert repair(str(file)).problem
    assert plan_of_session(file, "s1") == before


def test_an_empty_file_with_a_log_is_set_aside_with_it(file: Path) -> None:
    subprocess.run([sys.executable, "-c", _LEAVES_A_LOG, str(file)], check=True)
    log = Path(f"{file}-wal").read_bytes()
    file.write_bytes(b"")
    done = repair(str(file))
    assert done.problem == "it is empty, and its log is not"
    assert Path(f"{done.aside}-wal").read_bytes() == log
    assert [item.text for item in plan_of_session(file, "late").items] == ["in the log only"]


def test_a_new_file_belongs_to_whom_the_old_one_did(file: Path) -> None:
    file.write_bytes(b"noise " * 1000)
    file.chmod(0o640)
    repair(str(file))
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o640


def test_of_two_repairs_at_once_one_is_made(file: Path) -> None:
    for _ in range(5):
        file.write_bytes(noise := os.urandom(9000))
        command = [sys.executable, "-m", "punchlist", "repair", "--store", f"sqlite:{file}"]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        said = ["".join(process.communicate()) for process in both]
        assert [path.read_bytes() for path in file.parent.glob("*.damaged-*")] == [noise], said
        assert plan_of_session(file, "s1") == Plan()
        for path in file.parent.glob("plans.db*"):
            path.unlink()


_CRAMPED = """
import resource, sys
from punchlist.stores.recovery import repair
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
repair(sys.argv[1])
"""


def test_without_room_nothing_is_changed(file: Path) -> None:
    damaged = overwritten(file, root_of(file, "items"), b"\xff" * 4096)
    done = subprocess.run([sys.executable, "-c", _CRAMPED, str(file)], capture_output=True, text=True, check=False)
    assert "StoreError" in done.stderr
    assert (file.read_bytes(), sorted(os.listdir(file.parent))) == (damaged, ["home", "plans.db"])


def test_of_a_file_that_was_cut_short_the_rest_is_saved(file: Path, whole: bytes) -> None:
    file.write_bytes(whole[: len(whole) * 9 // 10])
    assert len(repair(str(file)).found.saved) > SESSIONS // 2


def test_nothing_that_was_set_aside_is_overwritten(file: Path) -> None:
    asides = {}
    for number in range(3):
        file.write_bytes(content := b"noise %d " % number * 1000)
        asides[repair(str(file)).aside] = content
    assert {path: Path(path).read_bytes() for path in asides} == asides
    assert len(asides) == 3


_LEAVES_A_LOG = """
import os, sys, punchlist
desk = punchlist.open(f"sqlite:{sys.argv[1]}", session="late")
desk.change(lambda plan: punchlist.ops.add(plan, "in the log only"))
os._exit(0)
"""


def test_what_stands_only_in_the_log_is_saved_too(file: Path) -> None:
    subprocess.run([sys.executable, "-c", _LEAVES_A_LOG, str(file)], check=True)
    log = Path(f"{file}-wal")
    assert log.stat().st_size > 0
    overwritten(file, root_of_untouched(file, "readers"), b"\xff" * 4096)
    kept = log.read_bytes()
    done = repair(str(file))
    assert len(done.found.saved) == SESSIONS + 1
    assert [item.text for item in plan_of_session(file, "late").items] == ["in the log only"]
    assert Path(f"{done.aside}-wal").read_bytes() == kept


def root_of_untouched(file: Path, table: str) -> int:
    """The same, without putting down the log."""
    copy = file.with_name("copy.db")
    copy.write_bytes(file.read_bytes())
    try:
        return root_of(copy, table)
    finally:
        copy.unlink()


_USES = """
import sys, punchlist
with punchlist.open(f"sqlite:{sys.argv[1]}", session="s1") as desk:
    print(desk.plan.revision, flush=True)
    sys.stdin.read()
"""


def test_a_file_that_is_in_use_is_not_touched(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punchlist.stores.recovery._PATIENCE", 0.1)  # it will be in use for longer than anybody waits
    command = [sys.executable, "-c", _USES, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as user:
        assert user.stdout
        assert user.stdout.readline() == b"7\n"
        before = names(file)
        with pytest.raises(StoreError, match=r"plans\.db is in use; let the agents and screens that use it end"):
            repair(str(file))
        assert names(file) == before
        user.communicate()
    assert repair(str(file)).problem == ""


def test_a_dry_run_changes_nothing(file: Path) -> None:
    damaged = overwritten(file, root_of(file, "items"), b"\xff" * 4096)
    subprocess.run([sys.executable, "-c", _LEAVES_A_LOG, str(file)], check=False, capture_output=True)
    before = {name: (file.parent / name).read_bytes() for name in names(file)}
    done = repair(str(file), dry_run=True)
    assert (bool(done.problem), len(done.found.saved), done.aside) == (True, SESSIONS, "")
    assert {name: (file.parent / name).read_bytes() for name in names(file)} == before
    assert before["plans.db"] == damaged


def test_what_is_not_ours_to_repair_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no file"):
        repair(str(tmp_path / "nothing.db"))
    with pytest.raises(StoreError, match="there is no file"):
        repair(str(tmp_path))
    written(tmp_path / "foreign.db", "CREATE TABLE songs (title)")
    with pytest.raises(StoreError, match="is not a store of punchlist"):
        repair(str(tmp_path / "foreign.db"))
    written(file, "PRAGMA user_version=99")
    overwritten(file, root_of(file, "items"), b"\xff" * 4096)
    with pytest.raises(StoreError, match="was written by a newer punchlist"):
        repair(str(file))


def test_a_link_is_followed_and_stays(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(file)
    file.write_bytes(b"noise " * 1000)
    assert repair(str(link)).path == str(file)
    assert link.is_symlink()
    assert plan_of_session(link, "s1") == Plan()


@pytest.mark.parametrize("times", [8, pytest.param(100, marks=pytest.mark.torture)])
def test_whatever_the_damage_a_sound_store_comes_of_it(times: int, file: Path, whole: bytes) -> None:
    chance = random.Random(7)
    for _ in range(times):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 2, 5])):
            at, size = chance.randrange(len(data)), chance.choice([1, 100, 4096, 20_000])
            data[at : at + size] = chance.randbytes(min(size, len(data) - at))
        file.write_bytes(data[: chance.choice([len(data), chance.randrange(1, len(data))])])
        damaged = file.read_bytes()
        try:
            done = repair(str(file))
        except StoreError as error:  # nothing is left of the names of its tables
            if "is not a store of punchlist" not in str(error):
                raise
            assert file.read_bytes() == damaged
            continue
        assert not done.aside or Path(done.aside).read_bytes() == damaged
        found = Found(done.found.saved, bare=done.found.bare, emptied=done.found.emptied)
        assert repair(str(file)) == done._replace(problem="", found=found, aside="")
        with closing(open_store(f"sqlite:{file}")) as store:
            assert {listing.id for listing in store.plans(1000)} == set(done.found.saved)
            for id in done.found.saved:
                plan = store.load(id)
                assert plan is not None
                assert (
                    id in (*done.found.cut, *done.found.bare)
                    or [item.id for item in plan.items] == list("123456")[: len(plan.items)]
                )
                revisions = [record.revision for record in store.history(id)]
                assert revisions == [*range(plan.revision + 1 - len(revisions), plan.revision + 1)]


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_says_what_was_saved_and_where_the_rest_is(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overwritten(file, root_of(file, "items"), b"\xff" * 4096)
    assert run_command(["repair", "--dry-run", "--store", f"sqlite:{file}"]) == 0
    said = capsys.readouterr().out
    assert "plans.db is damaged: " in said
    assert f"Nothing was changed.\nCould be saved: {SESSIONS} plans.\n" in said
    assert run_command(["repair", "--store", f"sqlite:{file}"]) == 0
    said = capsys.readouterr().out
    assert f"It is kept as {file}.damaged-" in said
    assert f"Saved: {SESSIONS} plans.\n" in said
    assert run_command(["repair", "--store", f"sqlite:{file}"]) == 0
    assert capsys.readouterr().out == f"{file} is sound: {SESSIONS} plans. Nothing was changed.\n"


def test_only_a_file_can_be_repaired(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["repair", "--store", "memory:"]) == 1
    assert "only a SQLite file can be repaired, not memory:" in capsys.readouterr().err
