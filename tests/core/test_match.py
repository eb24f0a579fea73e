"""Which item of the old list each entry of a resent list means: the rule as it is written."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from punchlist.core.match import Entry, likeness, match
from punchlist.core.model import ACTIVE, DONE, DROPPED, PENDING, STATUSES, Item
from tests.core.plans import POOL, often


def old(*texts: str, status: Any = PENDING) -> list[Item]:
    """A list, numbered from 1."""
    return [Item(str(number), text, status) for number, text in enumerate(texts, 1)]


def meant(items: list[Item], *sent: str | Entry) -> list[str | None]:
    """The id that each entry means; a bare text is an entry that is still to do."""
    entries = [Entry(entry, PENDING) if isinstance(entry, str) else entry for entry in sent]
    return [item.id if item else None for item in match(items, entries)]


# --- 1: ids --------------------------------------------------------------------------------------------------------


def test_an_id_that_is_sent_means_its_item_whatever_the_words() -> None:
    assert meant(old("a thing", "another"), Entry("wholly different", PENDING, "2")) == ["2"]


def test_the_words_of_another_item_mean_more_than_an_id() -> None:
    assert meant(old("a", "b"), Entry("a", PENDING, "2"), Entry("b", PENDING, "1")) == ["1", "2"]


def test_a_list_that_is_numbered_again_means_the_items_whose_words_it_has() -> None:
    sent = (Entry("new first", PENDING, "1"), Entry("a", PENDING, "2"), Entry("b", PENDING, "3"))
    assert meant(old("a", "b", "c"), *sent) == [None, "1", "2"]
    assert meant(old("a", "b", "c"), Entry("b", PENDING, "1"), Entry("c", PENDING, "2")) == ["2", "3"]


def test_of_items_with_equal_words_the_id_decides() -> None:
    assert meant(old("a", "a"), Entry("a", PENDING, "2"), Entry("a", PENDING, "1")) == ["2", "1"]


def test_an_id_that_two_items_have_means_the_one_that_it_fits() -> None:
    items = [Item("1", "Ship it", DONE), Item("2", "Write the notes", extra={"id": "1"})]
    assert meant(items, Entry("Something else", PENDING, "1")) == ["2"]


def test_an_id_that_the_sender_brought_is_the_one_it_knows_the_item_by() -> None:
    items = [Item("1", "a", extra={"id": "x9"}), Item("2", "b", extra={"id": "1"})]
    assert meant(items, Entry("other words", PENDING, "x9")) == ["1"]
    assert meant(items, Entry("other words", PENDING, "1")) == ["2"]


def test_an_id_of_a_closed_item_with_other_words_to_do_was_used_again_for_a_new_thing() -> None:
    assert meant(old("Ship it", status=DONE), Entry("Plan the next version", PENDING, "1")) == [None]


def test_an_id_of_a_closed_item_with_the_same_words_takes_it_up_again() -> None:
    assert meant(old("Ship it", status=DONE), Entry("ship it.", ACTIVE, "1")) == ["1"]


def test_an_id_of_a_closed_item_with_other_words_that_is_closed_too_means_it() -> None:
    assert meant(old("Ship it", status=DONE), Entry("Shipped the whole thing", DONE, "1")) == ["1"]


def test_an_id_sent_twice_means_its_item_once() -> None:
    assert meant(old("a"), Entry("a", PENDING, "1"), Entry("zebra", PENDING, "1")) == ["1", None]


def test_an_unknown_id_leaves_the_words_to_decide() -> None:
    assert meant(old("a", "b"), Entry("b", PENDING, "77")) == ["2"]


# --- 2: the same text ----------------------------------------------------------------------------------------------


def test_the_same_text_means_the_same_item_wherever_it_stands() -> None:
    assert meant(old("a", "b", "c"), "c", "a", "b") == ["3", "1", "2"]


def test_of_equal_texts_the_first_entry_means_the_first_item() -> None:
    assert meant(old("a", "x", "a"), "a", "a", "a") == ["1", "3", None]


def test_a_closed_item_is_taken_up_again_by_its_own_text() -> None:
    assert meant(old("a", status=DONE), "a") == ["1"]


# --- 3: the same but for case, spacing and end punctuation ----------------------------------------------------------


def test_case_spacing_and_end_punctuation_do_not_matter() -> None:
    assert meant(old("Run  the tests."), "run the TESTS") == ["1"]


def test_an_equal_text_goes_before_one_that_only_looks_equal() -> None:
    assert meant(old("Run the tests.", "run the tests"), "run the tests") == ["2"]


def test_texts_of_punctuation_only_are_not_all_the_same() -> None:
    assert meant(old("..."), "!!!") == [None]


# --- 4: reworded ---------------------------------------------------------------------------------------------------


def test_a_text_that_is_much_alike_is_found_anywhere() -> None:
    assert meant(old("Write the parser tests", "Ship"), "Ship", "Write tests for the parser") == ["2", "1"]


def test_a_text_that_is_little_alike_is_found_only_in_its_place() -> None:
    items = old("a first thing", "Refactor the login handler", "a last thing")
    reworded = "Refactor authentication"
    assert meant(items, "a first thing", reworded, "a last thing") == ["1", "2", "3"]
    assert meant(items, reworded, "a first thing", "a last thing") == [None, "1", "3"]


def test_a_text_that_is_not_alike_is_new_even_in_its_place() -> None:
    assert meant(old("a first thing", "Zip", "a last thing"), "a first thing", "Quux", "a last thing") == [
        "1",
        None,
        "3",
    ]


def test_a_place_counts_only_if_as_many_came_as_left() -> None:
    items = old("start", "Refactor the login handler", "end")
    assert meant(items, "start", "Refactor authentication", "Zip", "end") == ["1", None, None, "3"]


def test_several_reworded_items_in_one_place_are_taken_in_order() -> None:
    items = old("start", "Read the parser", "Read the lexer", "end")
    assert meant(items, "start", "Read parser code", "Read lexer code", "end") == ["1", "2", "3", "4"]


def test_an_item_that_stands_in_two_places_at_once_is_meant_once() -> None:
    items = old("Run the tests", "run the tests.", "Fix error 1")
    sent = [Entry(text, PENDING) for text in ("Run these tests", "Fix error 1", "Run the tests", "Run those tests")]
    assert meant(items, *sent) == ["2", "3", "1", None]


def test_the_most_alike_pair_goes_first() -> None:
    items = old("Write the parser tests now", "Write the parser tests")
    assert meant(items, "x", "Write the parser tests today", "Write parser tests") == [None, "1", "2"]


def test_texts_whose_numbers_differ_are_not_alike() -> None:
    assert meant(old("Fix error 1", "Fix error 2"), "Fix error 3", "Fix error 2") == [None, "2"]


def test_a_closed_item_is_never_found_by_the_likeness_of_something_to_do() -> None:
    items = old("Write the parser tests", status=DONE)
    assert meant(items, "Write the parser test") == [None]
    assert meant(old("Write the parser tests", status=DROPPED), "Write the parser test") == [None]


def test_a_closed_item_is_found_by_the_likeness_of_something_closed() -> None:
    assert meant(old("Write the parser tests", status=DONE), Entry("Write the parser test", DONE)) == ["1"]


def test_likeness_runs_from_none_to_all() -> None:
    item = Item("1", "Write the tests")
    assert likeness(item, Entry("Write the tests", PENDING)) == 1
    assert likeness(item, Entry("Zzz qqq", PENDING)) == 0
    assert likeness(Item("1", "..."), Entry("-", PENDING)) == 0
    assert likeness(Item("1", "..."), Entry(" ", PENDING)) == 0


# --- laws ----------------------------------------------------------------------------------------------------------

texts = st.sampled_from((*POOL, "Run these tests", "Write more docs", "Zip"))
lists = st.lists(st.tuples(texts, st.sampled_from(STATUSES)), max_size=6)


@often(60)
@given(lists)
def test_a_list_that_is_sent_again_means_itself(listed: list[tuple[str, Any]]) -> None:
    items = [Item(str(number), text, status) for number, (text, status) in enumerate(listed, 1)]
    assert match(items, [Entry(text, status) for text, status in listed]) == items


@often(200)
@given(lists, st.lists(st.builds(Entry, texts, st.sampled_from(STATUSES), st.sampled_from(("", "1", "2"))), max_size=6))
def test_no_item_is_meant_twice(listed: list[tuple[str, Any]], sent: list[Entry]) -> None:
    items = [Item(str(number), text, status) for number, (text, status) in enumerate(listed, 1)]
    found = [item.id for item in match(items, sent) if item]
    assert len(found) == len(set(found))


def test_ten_thousand_items_of_which_every_second_is_reworded_are_matched() -> None:
    items = old(*(f"step {number}" for number in range(10_000)))
    sent = [f"step {number}" if number % 2 else "zebra" for number in range(10_000)]
    found = meant(items, *sent)
    assert found[1::2] == [item.id for item in items[1::2]]
    assert set(found[::2]) == {None}
