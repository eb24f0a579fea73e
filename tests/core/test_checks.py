"""A check: what can be one, who may set it, and the grade that follows from what was observed of it."""

from __future__ import annotations

from typing import Any

import pytest

from punchlist.core import ops
from punchlist.core.checks import digest, in_words, is_check, is_trusted, read_check, subjects
from punchlist.core.diff import noted
from punchlist.core.errors import Refused
from punchlist.core.grades import Grade, Seen, grade, in_short, looks_done
from punchlist.core.model import DONE, USER, Item, Plan
from punchlist.core.sentences import difference
from tests.core.plans import plan_of

ONE = plan_of("Fix the parser", "Release")
MAKE = {"run": "make test"}


def saved(before: Plan, after: Plan, by: str) -> Item:
    """The first item as it is saved."""
    return noted(before, after, by, "noon", "/work")[0].items[0]


def with_check(by: str) -> Plan:
    return noted(ONE, ops.set_check(ONE, "1", "make test"), by, "noon", "/work")[0]


def row(at: str, exit: int, tree: str = "t1", **more: Any) -> dict[str, Any]:
    return {"at": at, "tier": "seen", "command": "make test", "exit": exit, "tree": tree, **more}


def done(by: str = USER) -> Item:
    return with_check(by).items[0]._replace(status=DONE)


# --- what can be one -------------------------------------------------------------------------------------------------


def test_a_bare_string_is_a_command() -> None:
    assert read_check("  make test ") == MAKE
    assert read_check({"file": "./dist/app.whl"}) == {"file": "dist/app.whl"}
    assert read_check({"contains": ["CHANGELOG.md", "2.0"], "scope": "src/**"}) == {
        "contains": ["CHANGELOG.md", "2.0"],
        "scope": ["src/**"],
    }


@pytest.mark.parametrize(
    "given",
    [
        *("", "   ", "make\ntest", "make\0", "\x1b[31mmake", "x" * 2001, 5, None, [], {}, {"run": ""}, {"run": 5}),
        *({"run": "make", "file": "x"}, {"run": "make", "by": "user"}, {"file": "/etc/passwd"}, {"file": "../x"}),
        *({"file": "a/../../x"}, {"contains": "x"}, {"contains": ["x"]}, {"contains": ["../x", "y"]}),
        *({"contains": ["x", ""]}, {"run": "make", "scope": 5}, {"run": "make", "scope": ["x"] * 51}, {"grade": "x"}),
    ],
)
def test_what_cannot_be_a_check_is_refused(given: object) -> None:
    with pytest.raises(Refused):
        read_check(given)
    assert not is_check(given) or given == {}


def test_a_check_is_told_in_words() -> None:
    assert in_words(MAKE) == "make test"
    assert in_words({"file": "NOTES.md"}) == "NOTES.md exists"
    assert in_words({"contains": ["CHANGELOG.md", "2.0"]}) == 'CHANGELOG.md contains "2.0"'


def test_a_check_is_another_in_another_directory_and_with_another_scope() -> None:
    assert digest(MAKE, "/a") == digest({"run": "make test"}, "/a")
    assert len({digest(MAKE, "/a"), digest(MAKE, "/b"), digest({**MAKE, "scope": ["x"]}, "/a")}) == 3
    assert len(set(subjects(MAKE, "/a"))) == 4


# --- who sets it -----------------------------------------------------------------------------------------------------


def test_who_set_a_check_is_noted_with_the_time_and_the_place() -> None:
    assert with_check(USER).items[0].check_set == {"by": USER, "at": "noon", "dir": "/work"}
    assert with_check("main").items[0].check_set["by"] == "main"
    assert is_trusted(with_check(USER).items[0])
    assert not is_trusted(with_check("main").items[0])


def test_an_agent_cannot_change_or_remove_a_check_of_the_user() -> None:
    plan = with_check(USER)
    for edited in (ops.set_check(plan, "1", "true"), ops.remove_check(plan, "1")):
        assert saved(plan, edited, "main") == plan.items[0]
        assert saved(plan, edited, USER) != plan.items[0]


def test_an_agent_cannot_approve_waive_or_pose_as_the_user() -> None:
    plan = with_check("main")
    item = plan.items[0]
    assert saved(plan, ops.approve_check(plan, "1"), "main") == item
    assert saved(plan, ops.waive(plan, "1", why="no"), "main") == item
    posed = item._replace(check={"run": "true"}, check_set={"by": USER, "at": "", "dir": "/", "approved": True})
    assert saved(plan, ops.put(plan, posed), "main").check_set == {"by": "main", "at": "noon", "dir": "/"}
    assert saved(plan, ops.put(plan, posed._replace(check=MAKE)), "main") == item
    assert saved(Plan(), Plan(items=(posed,), last_id=1), "main").check_set["by"] == "main"


def test_the_user_approves_and_waives() -> None:
    plan = with_check("main")
    approved = saved(plan, ops.approve_check(plan, "1"), USER)
    assert is_trusted(approved)
    assert saved(plan, ops.waive(plan, "1", why="a typo only", at="noon"), USER).waived["why"] == "a typo only"
    again = ops.put(plan, approved)
    assert saved(again, ops.set_check(again, "1", "true"), "main") == approved


def test_a_check_that_is_set_again_needs_a_new_approval() -> None:
    plan = ops.put(with_check("main"), saved(with_check("main"), ops.approve_check(with_check("main"), "1"), USER))
    renewed = saved(plan, ops.put(plan, plan.items[0]._replace(check={"run": "true"})), USER)
    assert renewed.check_set == {"by": USER, "at": "noon", "dir": "/work"}


def test_who_set_a_check_is_not_taken_over_without_a_check() -> None:
    posed = ops.put(ONE, ONE.items[0]._replace(check_set={"by": USER, "at": "", "dir": "/", "approved": True}))
    assert saved(ONE, posed, "main") == saved(ONE, posed, USER) == ONE.items[0]


def test_a_check_keeps_its_author_if_that_is_left_out() -> None:
    plan = with_check("main")
    without = ops.put(plan, plan.items[0]._replace(check_set={}))
    assert saved(plan, without, USER) == plan.items[0]


def test_a_check_that_is_removed_leaves_nothing_of_who_set_it() -> None:
    plan = with_check("main")
    assert saved(plan, ops.remove_check(plan, "1"), "main")[:11] == plan.items[0][:11]
    assert saved(plan, ops.remove_check(plan, "1"), "main").check_set == {}


# --- the grade -------------------------------------------------------------------------------------------------------


def test_only_a_completed_item_has_a_grade() -> None:
    assert grade(with_check(USER).items[0], Seen([row("1", 0)]), "t1") is None
    assert grade(Item("1", "x", DONE), Seen(), "") == Grade()


@pytest.mark.parametrize(
    ("by", "seen", "tree", "word"),
    [
        (USER, Seen(), "t1", "reported"),
        (USER, Seen([row("1", 0)]), "t1", "verified"),
        ("main", Seen([row("1", 0)]), "t1", "passed"),
        (USER, Seen([row("1", 0)]), "t2", "outdated"),
        (USER, Seen([row("1", 0, "")]), "t2", ""),
        (USER, Seen([row("1", 0)]), "", ""),
        (USER, Seen([row("1", 0)], [row("2", 1)]), "t1", "failed"),
        (USER, Seen([row("2", 0)], [row("1", 1)]), "t1", "verified"),
        (USER, Seen([row("1", 0)], [row("1", 1)]), "t1", "failed"),
        (USER, Seen([row("1", 0)], [row("2", 1, "t2")]), "t1", "verified"),
        (USER, Seen([row("1", 0)], [row("2", 1, "t2")]), "t3", "outdated"),
        (USER, Seen((), [row("2", 1, "t2")]), "t3", "reported"),
        (USER, Seen((), (), [row("1", 0, "", why="a pipe")]), "t1", "reported"),
    ],
)
def test_the_grade_follows_from_what_was_observed_on_these_files(by: str, seen: Seen, tree: str, word: str) -> None:
    found = grade(done(by), seen, tree)
    assert found is not None
    assert found.word == word


def test_a_pass_and_a_failure_on_the_same_files_are_flaky() -> None:
    found = grade(done(), Seen([row("2", 0)], [row("1", 1)]), "t1")
    assert found is not None
    assert in_short(found, str) == "verified 2, flaky"


def test_waived_counts_before_all_else() -> None:
    item = done()._replace(waived={"why": "a typo", "at": "noon"})
    found = grade(item, Seen((), [row("1", 1)]), "t1")
    assert found is not None
    assert in_short(found, str) == "waived: a typo"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Grade(), ""),
        (Grade("passed", "14:02"), "passed its own check 14:02"),
        (Grade("reported", "14:10", row("1", 2)), "failed 14:10: exit code 2, files changed since"),
        (Grade("outdated", "13:40"), "outdated: files changed since 13:40"),
        (Grade("outdated", "13:40", changed=1), "outdated: 1 file changed since 13:40"),
        (Grade("outdated", "13:40", changed=2), "outdated: 2 files changed since 13:40"),
        (Grade("failed", "14:10", row("1", 2)), "failed 14:10: exit code 2"),
        (Grade("", "14:02", row("1", 0)), "passed 14:02"),
        (Grade("verified", "14:02", tests_changed=True), "verified 14:02, tests changed"),
    ],
)
def test_a_grade_is_told_in_a_few_words(found: Grade, words: str) -> None:
    assert in_short(found, str) == words


def test_an_open_item_looks_done_only_on_files_that_differ_from_those_at_its_start() -> None:
    item = with_check(USER).items[0]
    base = {"what": "started", "item": "1", "tree": "t0"}
    seen = Seen([row("1", 0)], bases=[base])
    assert looks_done(item, seen, "t1") == row("1", 0)
    assert looks_done(item, seen, "t2") is None
    assert looks_done(item, seen._replace(bases=[{**base, "tree": "t1"}]), "t1") is None
    assert looks_done(item, seen._replace(bases=[{**base, "item": "2"}]), "t1") is None
    assert looks_done(item._replace(status=DONE), seen, "t1") is None
    assert looks_done(item, seen._replace(failures=[row("2", 1)]), "t1") is None


def test_a_failure_on_other_files_is_told_and_is_no_grade() -> None:
    found = grade(done(), Seen((), [row("2", 1, "t2")]), "t3")
    assert found is not None
    assert (found.word, in_short(found, str)) == ("reported", "failed 2: exit code 1, files changed since")


def test_what_the_user_approves_and_waives_is_told_in_sentences() -> None:
    plan = with_check("main")
    approved = ops.approve_check(plan, "1")
    assert difference(plan, approved) == ['approved the check of 1 "Fix the parser".']
    assert difference(approved, plan) == ['took back the approval of the check of 1 "Fix the parser".']
    waived = ops.waive(plan, "1", why="a typo only")
    assert difference(plan, waived) == ['waived 1 "Fix the parser": a typo only.']
    assert difference(waived, plan) == ['did not waive 1 "Fix the parser" any more.']
