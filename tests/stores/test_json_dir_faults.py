"""A store in a directory, when what it stands on gives way: crashes, damage, links, full disks, missing rights."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from punchlist import Desk, Plan, StoreError, ops
from punchlist.core.rules import faults
from punchlist.local.settings import load
from punchlist.stores import PlanKey, open_store
from punchlist.stores.json_dir.form import lines_of, text_of

NAME = "s1-agent-s1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plans"


@pytest.fixture
def list_path(folder: Path) -> Path:
    return folder / f"{NAME}.json"


@pytest.fixture
def history_path(folder: Path) -> Path:
    return folder / f"{NAME}.history.jsonl"


def desk_in(folder: Path, session: str = "s1") -> Desk:
    """A desk on a store of its own: what it knows, it has read from the files."""
    return Desk(open_store(f"json:{folder}"), session=session, settings=load({}, environ={}), place="/here")


def add(desk: Desk, *texts: str) -> Plan:
    return desk.change(lambda plan: ops.extend(plan, [{"text": text} for text in texts]))


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
    assert faults(plan) == []
    records = desk.history()
    assert [record.revision for record in records] == list(range(plan.revision - len(records) + 1, plan.revision + 1))
    desk.rewound(plan, records)
    return plan


def asides(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.damaged-*"))


# --- crashes -------------------------------------------------------------------------------------------------------


def test_a_crash_between_line_and_list_is_mended_from_the_line(folder: Path, list_path: Path) -> None:
    desk = desk_in(folder)
    add(desk, "first")
    before = list_path.read_bytes()
    after = add(desk, "second")
    whole = list_path.read_bytes()

    list_path.write_bytes(before)
    assert is_sound(folder) == after
    assert list_path.read_bytes() == whole
    assert texts(add(desk, "third")) == ["first", "second", "third"]


def test_a_crash_before_the_first_list_is_mended_from_the_line(folder: Path, list_path: Path) -> None:
    plan = grown(folder, 1)
    list_path.unlink()
    assert is_sound(folder) == plan
    assert json.loads(list_path.read_text())[0]["content"] == "item 1"


@pytest.mark.parametrize("torn", [b'{"revision": 5, "at": "20', b"\0\0\0\0\n", b'{"revision": 5}', b"{}\n", b"[]\n"])
def test_a_line_that_was_never_finished_is_cut_off(folder: Path, history_path: Path, torn: bytes) -> None:
    plan = grown(folder)
    whole = history_path.read_bytes()
    history_path.write_bytes(whole + torn)
    assert is_sound(folder) == plan
    assert history_path.read_bytes() == whole + torn, "looking changes nothing"
    add(desk_in(folder), "item 5")
    assert len(is_sound(folder).items) == 5
    assert history_path.read_bytes().startswith(whole + b'{"revision": 5, ')
    assert asides(folder) == []


def test_what_was_acknowledged_outlives_kill_9(folder: Path) -> None:
    script = """
import sys, punchlist
desk = punchlist.open(sys.argv[1], session="s1")
for number in range(1000):
    plan = desk.change(lambda plan: punchlist.ops.add(plan, f"{sys.argv[2]}-{number}"))
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


def test_a_damaged_list_of_claude_code_is_set_aside_and_a_new_plan_begins(folder: Path) -> None:
    folder.mkdir()
    path = folder / "s1-agent-s1.json"
    path.write_text('[{"content": "fir')
    with pytest.raises(StoreError, match=r"s1-agent-s1\.json was damaged, and has no history: it is kept as "):
        desk_in(folder).plan  # noqa: B018
    assert texts(add(desk_in(folder), "new")) == ["new"]
    assert [aside.read_text() for aside in asides(folder)] == ['[{"content": "fir']


@pytest.mark.parametrize("place", range(5))
def test_a_damaged_line_costs_only_what_came_before_it(folder: Path, history_path: Path, place: int) -> None:
    plan = grown(folder)
    lines = history_path.read_bytes().splitlines(keepends=True)
    history_path.write_bytes(b"".join([*lines[:place], b"\xff noise\n", *lines[place + 1 :], b""]))
    damaged = history_path.read_bytes()

    if place < 4:
        with pytest.raises(StoreError, match=r"history\.jsonl was damaged: it is kept as .*\.damaged-"):
            desk_in(folder).plan  # noqa: B018
        assert [aside.read_bytes() for aside in asides(folder)] == [damaged]

    now = is_sound(folder)
    assert (now.id, now.title, now.items, now.phases) == (plan.id, plan.title, plan.items, plan.phases)
    records = desk_in(folder).history()
    kept = {0: [1, 2, 3, 4], 1: [2, 3, 4], 2: [3, 4], 3: [4], 4: [1, 2, 3, 4]}
    assert [record.revision for record in records] == kept[place]
    desk = desk_in(folder)
    for _ in records:
        desk.undo()
    assert len(desk.plan.items) == 4 - len(records)
    assert desk_in(folder, "s1").plan == desk.plan
    assert Desk(desk.store, settings=desk.settings, place="/here").plan.id == plan.id


def test_a_line_that_is_missing_is_noticed(folder: Path, history_path: Path) -> None:
    plan = grown(folder)
    lines = history_path.read_bytes().splitlines(keepends=True)
    history_path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    with pytest.raises(StoreError, match="nothing up to revision 2 can be undone"):
        desk_in(folder).plan  # noqa: B018
    assert is_sound(folder) == plan


def test_a_single_letter_that_is_not_as_it_was_is_noticed(folder: Path, history_path: Path) -> None:
    plan = grown(folder)
    data = history_path.read_bytes().replace(b"item 2", b"item Z", 1)
    history_path.write_bytes(data)
    with pytest.raises(StoreError, match="nothing up to revision 2 can be undone"):
        desk_in(folder).plan  # noqa: B018
    assert is_sound(folder) == plan
    assert b"item Z" not in history_path.read_bytes()


def test_what_readers_heard_and_who_is_bound_survives_a_damaged_line(folder: Path, history_path: Path) -> None:
    plan = grown(folder)
    store = open_store(f"json:{folder}")
    store.remember(plan.id, "r", store.peek(plan.id, "")[1]._replace(seen=3))
    store.bind(PlanKey("/here", "s2", "main"), plan.id)
    data = bytearray(history_path.read_bytes())
    data[data.index(b'"revision": 2')] = 0
    history_path.write_bytes(data)
    with pytest.raises(StoreError):
        desk_in(folder).plan  # noqa: B018
    again = open_store(f"json:{folder}")
    assert again.peek(plan.id, "r")[1].seen == 3
    assert again.plans(1)[0].sessions == ("s1", "s2")


def test_the_parent_of_a_plan_that_became_a_copy_survives_a_damaged_line(folder: Path, history_path: Path) -> None:
    grown(folder)
    old = add(desk_in(folder, "s0"), "old")
    desk_in(folder).carry("s0", "s1")
    data = bytearray(history_path.read_bytes())
    data[data.index(b'"revision": 2')] = 0
    history_path.write_bytes(data)
    with pytest.raises(StoreError, match="was damaged"):
        desk_in(folder).plan  # noqa: B018
    copy = is_sound(folder)
    found = {listing.id: listing.parent for listing in open_store(f"json:{folder}").plans(9)}
    assert found == {old.id: "", copy.id: old.id}


def test_a_line_of_a_reader_that_is_damaged_costs_no_record(folder: Path, history_path: Path) -> None:
    plan = grown(folder)
    desk = desk_in(folder, "s2")
    open_store(f"json:{folder}").remember(plan.id, "r", desk.store.peek(plan.id, "")[1]._replace(seen=3))
    add(desk_in(folder), "item 5")
    data = bytearray(history_path.read_bytes())
    data[data.index(b'{"reader"')] = 0
    history_path.write_bytes(data)
    with pytest.raises(StoreError):
        desk_in(folder).plan  # noqa: B018
    is_sound(folder)
    assert [record.revision for record in desk_in(folder).history()] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("noise", [b"", b"\0" * 4096, os.urandom(64) + b"\n" + os.urandom(64) + b"\n\n\n"])
def test_a_history_of_which_nothing_is_left_does_not_cost_the_plan(
    folder: Path, history_path: Path, noise: bytes
) -> None:
    plan = grown(folder)
    history_path.write_bytes(noise)
    with pytest.raises(StoreError, match="was damaged: it is kept as"):
        desk_in(folder).plan  # noqa: B018
    now = is_sound(folder)
    assert (now.id, now.items, now.phases, now.last_id) == (plan.id, plan.items, plan.phases, plan.last_id)
    assert texts(add(desk_in(folder), "item 5"))[-1] == "item 5"


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_a_history_that_was_cut_short_does_not_cost_the_plan(folder: Path, history_path: Path, share: float) -> None:
    plan = grown(folder, 10)
    size = history_path.stat().st_size
    os.truncate(history_path, int(size * share))
    now = is_sound(folder)
    assert (now.id, now.title, now.items) == (plan.id, plan.title, plan.items)
    assert len(add(desk_in(folder), "one more").items) == 11
    is_sound(folder)


def test_when_both_files_are_damaged_nothing_is_touched(folder: Path, list_path: Path, history_path: Path) -> None:
    grown(folder)
    list_path.write_bytes(b"noise")
    history_path.write_bytes(b"noise\nnoise\n")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"both damaged .*; nothing was changed\. Restore them from a backup"):
            desk_in(folder).plan  # noqa: B018
    assert (list_path.read_bytes(), history_path.read_bytes()) == (b"noise", b"noise\nnoise\n")
    assert asides(folder) == []


def test_a_list_that_is_gone_after_trimming_comes_back(folder: Path, list_path: Path) -> None:
    plan = grown(folder)
    assert sum(open_store(f"json:{folder}").trim("9999").values()) == 4
    list_path.write_bytes(b"noise")
    with pytest.raises(StoreError):
        desk_in(folder).plan  # noqa: B018
    assert is_sound(folder) == plan


def test_pointers_that_cannot_be_read_are_made_anew(folder: Path) -> None:
    plan = grown(folder)
    for path in (folder / ".punchlist").rglob("*/*"):
        path.write_bytes(b"\0")
    assert desk_in(folder).plan == plan
    add(desk_in(folder), "item 5")
    assert Desk(open_store(f"json:{folder}"), settings=load({}, environ={}), place="/here").plan.id == plan.id


def test_the_files_of_a_newer_punchlist_are_left_alone(folder: Path, history_path: Path) -> None:
    grown(folder)
    newer = history_path.read_bytes().replace(b'{"version": 1', b'{"version": 2', 1)
    history_path.write_bytes(newer)
    with pytest.raises(StoreError, match=r"history\.jsonl was written by a newer punchlist; upgrade this one: "):
        add(desk_in(folder), "item 5")
    assert history_path.read_bytes() == newer
    assert texts(add(desk_in(folder, "s2"), "another plan")) == ["another plan"]


def test_lines_that_are_whole_but_make_no_sense_are_an_error_that_names_both(folder: Path, history_path: Path) -> None:
    grown(folder)
    lines = [line for line in lines_of(history_path.read_bytes())[0] if line]
    lines[-1]["head"] = {"title": "of somebody else"}
    data = text_of(lines)
    history_path.write_bytes(data)
    with pytest.raises(StoreError, match=rf"{history_path} does not lead to .*; restore both from a backup"):
        desk_in(folder).plan  # noqa: B018
    assert history_path.read_bytes() == data


# --- links, and what is no file ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".json", ".history.jsonl"])
def test_a_link_within_the_directory_is_written_through(folder: Path, ending: str) -> None:
    plan = grown(folder)
    path, target = folder / f"{NAME}{ending}", folder / "elsewhere"
    path.rename(target)
    path.symlink_to("elsewhere")
    assert desk_in(folder).plan == plan
    add(desk_in(folder), "item 5")
    assert path.is_symlink()
    assert b"item 5" in target.read_bytes()
    assert len(is_sound(folder).items) == 5


@pytest.mark.parametrize("ending", [".json", ".history.jsonl"])
def test_a_link_out_of_the_directory_is_not_followed(folder: Path, tmp_path: Path, ending: str) -> None:
    grown(folder)
    path, target = folder / f"{NAME}{ending}", tmp_path / "plans-of-others"
    path.rename(target)
    path.symlink_to(target)
    before = target.read_bytes()
    with pytest.raises(StoreError, match=f"{path} is a link that leads out of {folder}; "):
        add(desk_in(folder), "item 5")
    assert target.read_bytes() == before


@pytest.mark.parametrize("name", [".punchlist", ".punchlist/ids", ".punchlist/bound", ".punchlist/places"])
def test_no_directory_of_the_stores_own_leads_out(folder: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (folder / name).parent.mkdir(parents=True)
    (folder / name).symlink_to(target)
    with pytest.raises(StoreError, match="is a link that leads out"):
        add(desk_in(folder), "first")
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("name", ["lock", "draft"])
def test_neither_the_lock_nor_the_draft_is_a_way_out(folder: Path, tmp_path: Path, name: str) -> None:
    grown(folder)
    target = tmp_path / "target"
    target.write_text("precious")
    path = folder / ".punchlist" / name
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    with pytest.raises(StoreError, match=r"cannot be used"):
        add(desk_in(folder), "item 5")
    assert target.read_text() == "precious"


def test_a_directory_may_be_reached_by_a_link(folder: Path, tmp_path: Path) -> None:
    plan = grown(folder)
    (tmp_path / "short").symlink_to(folder)
    assert desk_in(tmp_path / "short").plan == plan


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: os.mkfifo(path)])
@pytest.mark.parametrize("ending", [".json", ".history.jsonl"])
def test_what_is_no_file_is_named(folder: Path, ending: str, make: Callable[[Path], object]) -> None:
    grown(folder)
    path = folder / f"{NAME}{ending}"
    other = folder / (f"{NAME}.json" if ending != ".json" else f"{NAME}.history.jsonl")
    before = other.read_bytes()
    path.unlink()
    make(path)
    with pytest.raises(StoreError, match=f"{path} is no file; move away what stands there"):
        add(desk_in(folder), "item 5")
    assert other.read_bytes() == before


def test_a_file_in_place_of_the_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=f"{tmp_path}/file"):
        desk_in(tmp_path / "file")


# --- writes that fail ----------------------------------------------------------------------------------------------


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


def test_a_line_that_cannot_be_written_changes_nothing(folder: Path, list_path: Path, history_path: Path) -> None:
    plan = grown(folder, 30)
    before = list_path.read_bytes(), history_path.read_bytes()
    assert len(before[0]) < len(before[1])
    assert limited(folder, len(before[1]) + 50).startswith(f"{history_path} cannot be used (File too large)")
    assert (list_path.read_bytes(), history_path.read_bytes()) == before
    assert is_sound(folder) == plan


def test_a_list_that_cannot_be_written_takes_its_line_back(folder: Path, list_path: Path, history_path: Path) -> None:
    plan = add(desk_in(folder), *(f"item {number}" for number in range(50)))
    before = list_path.read_bytes(), history_path.read_bytes()
    assert len(before[1]) + 1000 < len(before[0])
    assert limited(folder, len(before[0])).startswith(f"{list_path} cannot be used (File too large)")
    assert (list_path.read_bytes(), history_path.read_bytes()) == before
    assert is_sound(folder) == plan
    assert not (folder / ".punchlist" / "draft").exists()
    assert len(add(desk_in(folder), "and it goes on").items) == 51


def test_a_new_plan_that_cannot_be_written_is_not_there(folder: Path) -> None:
    older = add(desk_in(folder, "s0"), "older")
    desk = desk_in(folder)
    (folder / f"{NAME}.json").mkdir()
    with pytest.raises(StoreError, match="is no file"):
        add(desk, "first")
    (folder / f"{NAME}.json").rmdir()
    for limit in (200, 300, 500):
        assert limited(folder, limit).startswith(f"{folder}/{NAME}.history.jsonl cannot be used (File too large)")
    assert [path.name for path in folder.iterdir() if path.name.startswith("s1")] == []
    assert desk_in(folder).plan == Plan()
    assert desk_in(folder, "").plan == older
    assert texts(add(desk_in(folder), "first")) == ["first"]


def test_a_full_disk_is_named_and_costs_nothing(small_disk: Path) -> None:
    desk = desk_in(small_disk)
    done: list[Plan] = []

    def fill() -> None:
        while len(done) < 1000:
            done.append(add(desk, "x" * 500))

    with pytest.raises(StoreError, match="the disk is full; make room and try again") as told:
        fill()
    assert told.value.kind == "full"
    assert is_sound(small_disk) == done[-1]
    with pytest.raises(StoreError, match="the disk is full"):
        add(desk_in(small_disk, "s2"), "x" * 100_000)
    assert desk_in(small_disk, "s2").plan == Plan()


def test_a_disk_that_became_read_only_is_named_and_can_be_read(small_disk: Path) -> None:
    plan = grown(small_disk)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert desk_in(small_disk).plan == plan
    with pytest.raises(StoreError, match=f"{small_disk}.*check its permissions") as told:
        add(desk_in(small_disk), "item 5")
    assert told.value.kind == "permission"


def test_a_directory_without_rights_is_named(folder: Path) -> None:
    plan = grown(folder)
    script = """
import os, sys
from punchlist.core.errors import StoreError
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
    assert all(str(folder) in line and "check its permissions" in line for line in told)
    assert is_sound(folder) == plan


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\x00"])
@pytest.mark.parametrize("kind", ["ids", "bound", "places"])
def test_a_pointer_that_cannot_be_read_is_made_anew_and_kept_aside(folder: Path, kind: str, damage: bytes) -> None:
    desk = desk_in(folder)
    plan = add(desk, "first")
    desk.bind("s9")
    pointer = next((folder / ".punchlist" / kind).iterdir())
    for path in (folder / ".punchlist" / kind).iterdir():
        path.write_bytes(damage)
    again = open_store(f"json:{folder}")
    assert again.load(plan.id) == plan
    assert again.find(PlanKey("/here", "s9", "main")) == plan.id
    assert again.find(PlanKey("/here")) == plan.id
    assert [path.read_bytes() for path in pointer.parent.glob(f"{pointer.name}.damaged-*")] == [damage]


@pytest.mark.parametrize("lost", ["deleted", "noise"])
def test_what_others_wrote_after_the_history_was_lost_is_not_lost_to_who_knew_it_before(
    folder: Path, history_path: Path, lost: str
) -> None:
    """Revisions are counted anew then: who knows the plan by its number would know the wrong one."""
    running = desk_in(folder)
    for text in ("one", "two", "three"):
        running.call("plan", {"add": [text]})
    if lost == "deleted":
        history_path.unlink()
    else:
        history_path.write_bytes(b"noise\n" * 100)
        with pytest.raises(StoreError, match="was damaged"):
            add(desk_in(folder), "four")
    for text in ("four", "five"):
        add(desk_in(folder), text)
    assert not running.call("plan", {"add": ["six"]}).is_error
    assert texts(desk_in(folder).plan) == ["one", "two", "three", "four", "five", "six"]
    assert [item.id for item in desk_in(folder).plan.items] == ["1", "2", "3", "4", "5", "6"]


def test_many_pointers_that_cannot_be_read_are_made_anew_at_once(folder: Path) -> None:
    plans = {session: add(desk_in(folder, session), session) for session in [f"s{number}" for number in range(150)]}
    for path in (folder / ".punchlist" / "ids").iterdir():
        path.write_bytes(b"")
    again = open_store(f"json:{folder}")
    assert {again.find(PlanKey(session=session, agent="main")) for session in plans} == {p.id for p in plans.values()}
    assert len(again.plans(1_000)) == 150
    assert len(list((folder / ".punchlist" / "ids").glob("*.damaged-*"))) == 150


def test_what_is_no_list_of_claude_code_s_does_not_hide_the_plans(folder: Path, tmp_path: Path) -> None:
    plan = add(desk_in(folder), "first")
    (tmp_path / "elsewhere.json").write_text("[]")
    (folder / "q-agent-q.json").symlink_to(tmp_path / "elsewhere.json")
    (folder / "r-agent-r.json").mkdir()
    assert [listing.id for listing in open_store(f"json:{folder}").plans(9)] == [plan.id]
