"""Whoever follows a plan sees it change, in every store."""

from __future__ import annotations

import pytest

from punchlist import Desk, ops
from punchlist.local.settings import load
from punchlist.stores import Store
from tests.core.plans import texts
from tests.stores.following import PATIENCE, Follower

SETTINGS = load({}, environ={})


def desk_of(store: Store, session: str = "s") -> Desk:
    return Desk(store, session=session, settings=SETTINGS)


def add(desk: Desk, text: str) -> None:
    desk.change(lambda plan: ops.add(plan, text))


def test_a_follower_is_shown_the_plan_and_then_every_change(store: Store) -> None:
    desk = desk_of(store)
    add(desk, "a")
    shown = desk_of(store).follow()
    assert texts(next(shown)) == ["a"]
    add(desk, "b")
    assert texts(next(shown)) == ["a", "b"]
    desk.undo()
    assert texts(next(shown)) == ["a"]


def test_a_follower_that_waits_is_shown_what_another_changed(store: Store) -> None:
    desk = desk_of(store)
    add(desk, "a")
    follower = Follower(desk_of(store))
    follower.until("a")
    add(desk, "b")
    assert follower.until("a", "b").revision == 2
    desk.change(lambda plan: ops.remove(plan, "1"))
    assert follower.until("b").revision == 3


def test_many_followers_of_one_store_are_all_shown_what_changed(store: Store) -> None:
    desks = {name: desk_of(store, name) for name in ("one", "two", "three")}
    for name, desk in desks.items():
        add(desk, name)
    followers = [(name, Follower(desk_of(store, name))) for name in desks for _ in range(2)]
    for name, follower in followers:
        follower.until(name)
    for desk in desks.values():
        add(desk, "more")
    assert [follower.until(name, "more").revision for name, follower in followers] == [2] * 6


def test_threads_that_follow_one_desk_are_all_shown_what_changed(store: Store) -> None:
    shared = desk_of(store)
    add(shared, "a")
    followers = [Follower(shared) for _ in range(4)]
    for follower in followers:
        follower.until("a")
    add(shared, "b")
    assert [follower.until("a", "b").revision for follower in followers] == [2] * 4


def test_a_follower_is_shown_the_first_plan_of_its_session(store: Store) -> None:
    follower = Follower(desk_of(store))
    follower.until()
    add(desk_of(store), "a")
    assert follower.until("a").revision == 1


def test_a_follower_goes_with_its_session_to_another_plan(store: Store) -> None:
    add(desk_of(store, "s"), "old")
    other = desk_of(store, "other")
    add(other, "new")
    follower = Follower(desk_of(store, "s"))
    follower.until("old")
    other.bind("s")
    assert follower.until("new").id == other.plan.id
    add(other, "newer")
    follower.until("new", "newer")


def test_closing_a_desk_is_the_end_for_those_who_follow_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punchlist.desk.seat._LONGEST", 10.0 * PATIENCE)  # whoever is not woken hangs
    desk = desk_of(store)
    add(desk, "a")
    followers = [Follower(desk) for _ in range(3)]
    for follower in followers:
        follower.until("a")
    desk.close()
    assert [follower.next() for follower in followers] == [None] * 3


def test_a_follower_that_is_let_go_does_not_disturb_the_others(store: Store) -> None:
    desk = desk_of(store)
    add(desk, "a")
    shown = desk_of(store).follow()
    follower = Follower(desk_of(store))
    assert texts(next(shown)) == ["a"]
    follower.until("a")
    shown.close()  # type: ignore[attr-defined]
    with pytest.raises(StopIteration):
        next(shown)
    add(desk, "b")
    follower.until("a", "b")
