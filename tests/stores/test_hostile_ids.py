"""A store that somebody else has written: its ids are data, and never become a path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import punchlist
from punchlist import Refused
from punchlist.core.diff import Record, noted
from punchlist.core.model import Plan
from punchlist.core.ops import add
from punchlist.desk import plan_mode
from punchlist.stores import Commit, PlanKey, open_store

SECRET = "- [ ] a secret of the user\n"
IDS = ("../../../../notes/private", "/etc/passwd", "..", ".", "a/b", "a\\b", "UPPER", "a.b", "x" * 300, "~")


def hostile(url: str, id: str, session: str = "team") -> None:
    """A plan with an id that was made by hand."""
    plan, changes = noted(Plan(id), add(Plan(id), "Do it"), "user", "2026-01-01T00:00:00.000Z")
    store = open_store(url)
    home = PlanKey("/here", session, "main")
    record = Record(1, "2026-01-01T00:00:00.000Z", "user", changes=changes)
    store.save(Commit(None, plan._replace(revision=1), record, key=home))
    store.close()


def leading_to(target: Path, state: Path) -> str:
    """An id by which the plan file would be this one."""
    return os.path.relpath(target, state / "plans").removesuffix(".md")


@pytest.fixture
def private(own_home: Path) -> Path:
    path = own_home / "notes" / "private.md"
    path.parent.mkdir()
    path.write_text(SECRET)
    return path


@pytest.mark.parametrize("url", ["json", "sqlite", "postgresql"], indirect=True)
def test_a_plan_s_id_from_a_shared_store_reads_and_writes_no_file_of_the_user(
    url: str, private: Path, own_home: Path
) -> None:
    state = own_home / "punchlist"
    hostile(url, leading_to(private, state))
    tool = [str(Path(sys.executable).parent / "punchlist"), "--store", url, "--session", "team"]
    entered = subprocess.run([*tool, "mode", "plan"], capture_output=True, encoding="utf-8", check=False)
    assert entered.returncode == 1
    assert "cannot name a file" in entered.stderr
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": "team",
        "cwd": str(own_home),
        "tool_name": "ExitPlanMode",
        "tool_input": {"plan": "# taken over"},
        "tool_response": {},
    }
    hook = [tool[0], "hook", "claude-code", "--store", url]
    heard = subprocess.run(hook, input=json.dumps(event), capture_output=True, encoding="utf-8", check=False)
    assert (heard.returncode, heard.stderr) == (0, "")
    with punchlist.open(url, session="team") as desk:
        desk.change(lambda plan: plan._replace(mode="plan", items=()))
    left = subprocess.run([*tool, "mode", "act"], capture_output=True, encoding="utf-8", check=False)
    assert left.returncode == 0, left.stderr
    with punchlist.open(url, session="team") as desk:
        assert (desk.plan.mode, desk.plan.items) == ("act", ())
    assert private.read_text() == SECRET
    assert not (state / "plans").exists()


@pytest.mark.parametrize("id", IDS)
def test_an_id_that_is_not_one_of_ours_names_no_plan_file(id: str) -> None:
    with pytest.raises(Refused, match="cannot name a file"):
        plan_mode.plan_file(Plan(id))


@pytest.mark.parametrize("id", ["abcd2345", "3f2a9c01b7de", "p1"])
def test_an_id_as_any_version_made_it_names_one(id: str) -> None:
    assert plan_mode.plan_file(Plan(id)).endswith(f"{os.sep}plans{os.sep}{id}.md")


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("kind", ["json", "sqlite"])
def test_a_plan_with_any_id_can_still_be_read_edited_and_undone(kind: str, id: str, tmp_path: Path) -> None:
    url = f"{kind}:{tmp_path}/inner/plans"
    (tmp_path / "inner").mkdir()
    before = sorted(os.listdir(tmp_path))
    hostile(url, id)
    with punchlist.open(url, session="team") as desk:
        desk.change(lambda plan: add(plan, "more"))
        desk.undo()
        assert [item.text for item in desk.plan.items] == ["Do it"]
    assert sorted(os.listdir(tmp_path)) == before


def test_a_plan_s_id_with_a_path_can_be_carried_to_a_session_with_an_id_of_ours(tmp_path: Path, own_home: Path) -> None:
    url = f"sqlite:{tmp_path}/plans.db"
    hostile(url, "../../x")
    with punchlist.open(url, session="mine") as desk:
        desk.carry("team", "mine")
        assert plan_mode.has_own_id(desk.plan)


POINTERS = {
    "ids": ["5", "[]", '{"stem": "../x", "plan": "p"}', '{"stem": 7, "plan": "p"}', '{"plan": "p"}', "null", '"x"'],
    "bound": ["5", "[1]", '{"a": 1}', "null"],
    "places": ["5", '"p"', "[5]", '{"a": 1}', "null"],
}
