"""A store in a directory, when what it stands on gives way: crashes, damage, links, full disks, missing rights."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from punchlist import Desk, Plan, StoreError, ops
from punchlist.cli.run_command import run_command
from punchlist.core.rules import problems
from punchlist.desk.edits import rewound
from punchlist.local.settings import load
from punchlist.stores import open_store

NAME = "s1-agent-s1"
EDITED = b'[{"content": "first", "status": "pending"}, {"content": "theirs", "status": "pending"}]'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plans"


@pytest.fixture
def list_path(folder: Path) -> Path:
    return folder / f"{NAME}.json"


def desk_in(folder: Path, session: str = "s1") -> Desk:
    """A desk on a store of its own: what it knows, it has read from the files."""
    return Desk(open_store(f"json:{folder}"), session=session, settings=load({}, environ={}), place="/here")


def add(desk: Desk, *texts: str) -> Plan:
    return desk.change(lambda plan: ops.extend(plan, [{"text": text} for text in texts])).plan


def grown(folder: Path, count: int = 4) -> Plan:
    """A plan of so many revisions, each with an item more, and with something beside its items."""
    desk = desk_in(folder)
    desk.change(lambda plan: ops.add(plan._replace(title="The title", phases=("p",)), "item 1", phase="p"))
    for number in range(2, count + 1):
        desk.change(lambda plan, n=number: ops.add(plan, f"item {n}", notes=(f"note {n}",)))  # type: ignore[misc]
    return desk.plan


def texts(plan: Plan) -> list[str]:
    return [item.text for item in plan.items]


def is_sound(folder: Path) -> Plan:
    """The plan of the files, which is well built, and whose history leads to it."""
    desk = desk_in(folder)
    plan = desk.plan
    assert problems(plan) == []
    records = desk.history()
    assert [record.revision for record in records] == list(range(plan.revision - len(records) + 1, plan.revision + 1))
    rewound(plan, records)
    return plan


def asides(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.damaged-*"))


# --- crashes -------------------------------------------------------------------------------------------------------


def test_a_crash_between_database_and_list_is_repaired_from_the_database(folder: Path, list_path: Path) -> None:
    desk = desk_in(folder)
    add(desk, "first")
    before = list_path.read_bytes()
    after = add(desk, "second")
    whole = list_path.read_bytes()

    list_path.write_bytes(before)
    assert is_sound(folder) == after
    assert list_path.read_bytes() == whole
    assert texts(add(desk, "third")) == ["first", "second", "third"]


def test_a_crash_before_the_first_list_is_repaired_from_the_database(folder: Path, list_path: Path) -> None:
    plan = grown(folder, 1)
    list_path.unlink()
    assert is_sound(folder) == plan
    assert json.loads(list_path.read_text())[0]["content"] == "item 1"


def test_what_was_acknowledged_outlives_kill_9(folder: Path) -> None:
    script = """
import sys, punchlist
desk = punchlist.open(sys.argv[1], session="s1")
for number in range(1000):
    plan = desk.change(lambda plan: punchlist.ops.add(plan, f"{sys.argv[2]}-{number}")).plan
    print(plan.revision, f"{sys.argv[2]}-{number}", flush=True)
"""
    told: dict[int, str] = {}
    chance = random.Random(9)
    for round in range(20):
        command = [sys.executable, "-c", script, f"json:{folder}", str(round)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout
            for _ in range(chance.randrange(1, 6)):
                revision, text = writer.stdout.readline().split()
                told[int(revision)] = text
            writer.send_signal(signal.SIGKILL)
            told.update((int(line.split()[0]), line.split()[1]) for line in writer.stdout if line.endswith("\n"))
        plan = is_sound(folder)
        assert all(plan.items[revision - 1].text == text for revision, text in told.items())
        assert plan.revision == len(plan.items) >= max(told)
    assert asides(folder) == []


# --- damage --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [b"", b"[{", b"{}", b"\xff\xfe\0", b'[{"content": ""}]', b"[" * 100_000, b'["x"]'])
def test_a_list_that_cannot_be_read_is_set_aside_and_made_anew(folder: Path, list_path: Path, damage: bytes) -> None:
    plan = grown(folder)
    desk = desk_in(folder)
    assert desk.plan == plan
    list_path.write_bytes(damage)

    with pytest.raises(StoreError) as told:
        desk.plan  # noqa: B018
    (aside,) = asides(folder)
    assert aside.name.startswith(f"{list_path.name}.damaged-2")
    assert aside.read_bytes() == damage
    assert str(list_path) in str(told.value)
    assert str(aside) in str(told.value)

    assert desk.plan == is_sound(folder) == plan
    assert len(add(desk, "one more").items) == 5


def test_what_was_set_aside_is_never_overwritten(folder: Path, list_path: Path) -> None:
    grown(folder)
    for number in range(3):
        list_path.write_text(f"noise {number}")
        with pytest.raises(StoreError, match="was damaged"):
            desk_in(folder).plan  # noqa: B018
    assert sorted(path.read_text() for path in asides(folder)) == ["noise 0", "noise 1", "noise 2"]


@pytest.mark.parametrize("damage", [b"", b"[{", None])
def test_after_a_damaged_or_deleted_list_an_edit_in_place_arrives(
    folder: Path, list_path: Path, damage: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_in(folder)
    add(desk, "first")
    if damage is None:
        list_path.unlink()
        assert texts(desk.plan) == ["first"]
    else:
        list_path.write_bytes(damage)
        with pytest.raises(StoreError, match="was damaged"):
            desk.plan  # noqa: B018
    kept = asides(folder)

    monkeypatch.setattr("punchlist.stores.json_dir._MOMENT", 1.0)  # this machine may be busy
    with list_path.open("wb", buffering=0) as writer:
        writer.write(damage or b"")
        rest = threading.Timer(0.03, lambda: writer.write(EDITED[len(damage or b"") :]))
        rest.start()
        assert texts(desk.plan) == ["first", "theirs"]
        rest.join()
    assert asides(folder) == kept


def test_who_goes_on_writing_a_list_that_was_set_aside_writes_what_was_set_aside(folder: Path, list_path: Path) -> None:
    plan = grown(folder)
    with list_path.open("wb", buffering=0) as writer:
        writer.write(EDITED[:9])
        with pytest.raises(StoreError, match="the rest is in the kept file") as told:
            desk_in(folder).plan  # noqa: B018
        writer.write(EDITED[9:])
    (aside,) = asides(folder)
    assert aside.read_bytes() == EDITED
    assert str(aside) in str(told.value)
    assert is_sound(folder) == plan


def test_who_goes_on_writing_a_damaged_list_of_claude_code_writes_what_was_set_aside(folder: Path) -> None:
    folder.mkdir()
    with (folder / f"{NAME}.json").open("wb", buffering=0) as writer:
        writer.write(EDITED[:9])
        with pytest.raises(StoreError, match="was damaged"):
            desk_in(folder).plan  # noqa: B018
        writer.write(EDITED[9:])
    assert [aside.read_bytes() for aside in asides(folder)] == [EDITED]


def test_a_damaged_list_of_claude_code_is_set_aside_and_a_new_plan_begins(folder: Path) -> None:
    folder.mkdir()
    path = folder / "s1-agent-s1.json"
    path.write_text('[{"content": "fir')
    with pytest.raises(StoreError, match=r"s1-agent-s1\.json was damaged: it is kept as "):
        desk_in(folder).plan  # noqa: B018
    assert texts(add(desk_in(folder), "new")) == ["new"]
    assert [aside.read_text() for aside in asides(folder)] == ['[{"content": "fir']


@pytest.mark.parametrize("damage", ["deleted", "truncated", "noise"])
def test_a_damaged_database_is_repaired_and_the_lists_bring_what_it_lost(
    folder: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with desk_in(folder) as desk:
        add(desk, "first", "second")
        desk.change(lambda plan: ops.complete(plan, "1"))
    with desk_in(folder, "s2") as desk:
        add(desk, "another")
    path = folder / "punchlist.db"
    if damage == "deleted":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:100] if damage == "truncated" else os.urandom(20_000))
        with pytest.raises(StoreError, match=rf"punchlist repair --store json:{folder}"):
            desk_in(folder).plan  # noqa: B018
        assert run_command(["repair", "--store", f"json:{folder}"]) == 0
        assert "punchlist.db.damaged-" in capsys.readouterr().out
    assert [(item.text, item.status) for item in is_sound(folder).items] == [
        ("first", "completed"),
        ("second", "pending"),
    ]
    assert texts(desk_in(folder, "s2").plan) == ["another"]
    assert {plan.session for plan in open_store(f"json:{folder}").plans(9)} == {"s1", "s2"}


def test_a_list_that_is_newer_than_the_database_is_an_edit(folder: Path, list_path: Path) -> None:
    """As after a power cut, which may cost the database its last changes."""
    with desk_in(folder) as desk:
        add(desk, "first")
    before = (folder / "punchlist.db").read_bytes()
    with desk_in(folder) as desk:
        add(desk, "second")
    newest = list_path.read_bytes()
    (folder / "punchlist.db").write_bytes(before)
    assert texts(is_sound(folder)) == ["first", "second"]
    assert list_path.read_bytes() == newest


# --- links, and what is not a file -----------------------------------------------------------------------------------


def test_a_link_within_the_directory_is_written_through(folder: Path, list_path: Path) -> None:
    plan = grown(folder)
    target = folder / "elsewhere"
    list_path.rename(target)
    list_path.symlink_to("elsewhere")
    assert desk_in(folder).plan == plan
    add(desk_in(folder), "item 5")
    assert list_path.is_symlink()
    assert b"item 5" in target.read_bytes()
    assert len(is_sound(folder).items) == 5


@pytest.mark.parametrize("name", [f"{NAME}.json", "punchlist.db"])
def test_a_link_out_of_the_directory_is_not_followed(folder: Path, tmp_path: Path, name: str) -> None:
    grown(folder)
    path, target = folder / name, tmp_path / "plans-of-others"
    path.rename(target)
    path.symlink_to(target)
    before = target.read_bytes()
    with pytest.raises(StoreError, match=f"{path} is a link that leads out of {folder}; "):
        add(desk_in(folder), "item 5")
    assert target.read_bytes() == before


def test_a_directory_may_be_reached_by_a_link(folder: Path, tmp_path: Path) -> None:
    plan = grown(folder)
    (tmp_path / "short").symlink_to(folder)
    assert desk_in(tmp_path / "short").plan == plan


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: os.mkfifo(path)])
def test_what_is_not_a_file_is_named(folder: Path, list_path: Path, make: Callable[[Path], object]) -> None:
    plan = grown(folder)
    list_path.unlink()
    make(list_path)
    with pytest.raises(StoreError, match=f"{list_path} is not a file; move away what is there"):
        add(desk_in(folder), "item 5")
    list_path.rmdir() if list_path.is_dir() else list_path.unlink()
    assert is_sound(folder) == plan


def test_a_file_in_place_of_the_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=f"{tmp_path}/file"):
        desk_in(tmp_path / "file")


def test_what_is_no_list_of_claude_code_s_does_not_hide_the_plans(folder: Path, tmp_path: Path) -> None:
    plan = add(desk_in(folder), "first")
    (tmp_path / "elsewhere.json").write_text("[]")
    (folder / "q-agent-q.json").symlink_to(tmp_path / "elsewhere.json")
    (folder / "r-agent-r.json").mkdir()
    assert [listing.id for listing in open_store(f"json:{folder}").plans(9)] == [plan.id]


# --- writes that fail ------------------------------------------------------------------------------------------------


def limited(folder: Path, limit: int) -> str:
    """Add an item in a process that may not write larger files; what it is told."""
    script = """
import resource, sys, punchlist
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    punchlist.open(sys.argv[1], session="s1").change(lambda plan: punchlist.ops.add(plan, "x" * 100))
except punchlist.StoreError as error:
    print(error)
"""
    command = [sys.executable, "-c", script, f"json:{folder}", str(limit)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_list_that_cannot_be_written_leaves_everything_as_it_was(folder: Path, list_path: Path) -> None:
    texts = [f"item {number} {'x' * 1000}" for number in range(100)]
    with desk_in(folder) as desk:
        plan = add(desk, *texts)
        desk._seat.store.trim("9999")
    before = list_path.read_bytes()
    assert limited(folder, len(before)).startswith(f"{list_path} cannot be used (File too large)")
    assert list_path.read_bytes() == before
    assert is_sound(folder) == plan
    assert [path.name for path in folder.iterdir() if "draft" in path.name] == []
    assert len(add(desk_in(folder), "and it goes on").items) == 101


def test_a_new_plan_that_cannot_be_written_is_not_there(folder: Path, list_path: Path) -> None:
    older = add(desk_in(folder, "s0"), "older")
    desk = desk_in(folder)
    list_path.mkdir()
    with pytest.raises(StoreError, match="is not a file"):
        add(desk, "first")
    list_path.rmdir()
    assert limited(folder, 300) != ""
    assert [path.name for path in folder.iterdir() if "s1" in path.name] == []
    assert desk_in(folder).plan == Plan()
    assert desk_in(folder, "").plan == older
    assert texts(add(desk_in(folder), "first")) == ["first"]


def test_a_full_disk_is_named_and_costs_nothing(small_disk: Path) -> None:
    done: list[Plan] = []

    def fill(desk: Desk) -> None:
        while len(done) < 1000:
            done.append(add(desk, "x" * 500))

    with desk_in(small_disk) as desk:
        with pytest.raises(StoreError, match="the disk is full; make room and try again") as told:
            fill(desk)
        assert told.value.kind == "full"
        assert desk.plan == done[-1]
    with desk_in(small_disk) as desk:
        assert desk.plan == done[-1]
    with desk_in(small_disk, "s2") as desk:
        with pytest.raises(StoreError, match="the disk is full"):
            add(desk, "x" * 100_000)
        assert desk.plan == Plan()


def test_a_disk_that_became_read_only_is_named_and_can_be_read(small_disk: Path) -> None:
    with desk_in(small_disk) as desk:
        plan = add(desk, "first")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with desk_in(small_disk) as desk:
        assert desk.plan == plan
        with pytest.raises(StoreError, match=f"{small_disk}.* its disk is read-only; remount it") as told:
            add(desk, "second")
        assert told.value.kind == "permission"


def test_a_directory_without_rights_is_named(folder: Path) -> None:
    plan = grown(folder)
    script = """
import os, sys
from punchlist.core.errors import StoreError
from punchlist.local import access
from punchlist.stores import open_store

store = open_store(sys.argv[1])
os.chmod(sys.argv[2], 0)
if os.getuid() == 0:  # who may do everything
    os.seteuid(65534)
for work in (lambda: store.load(sys.argv[3]), lambda: open_store(sys.argv[1])):
    try:
        work()
    except StoreError as error:
        print(error.kind, error)
"""
    command = [sys.executable, "-c", script, f"json:{folder}", str(folder), plan.id]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    os.chmod(folder, 0o700)
    assert [line.split()[0] for line in told] == ["permission", "permission"]
    assert all(str(folder) in line and "is not writable; " in line for line in told)
    assert is_sound(folder) == plan
