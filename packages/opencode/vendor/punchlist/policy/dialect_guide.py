"""How the model of a dialect is guided: how often, in which words, in which wrapper. A dialect says what is its own."""

from __future__ import annotations

from collections.abc import Callable

from ..core._typing import Any, NamedTuple
from ..core.model import Plan
from . import wording
from .conversation import Marks
from .limits import Limits

CONTEXTS = ("start", "changed", "compact", "resume")
AGAIN = ("start", "compact", "resume")  # contexts in which the model may have lost the plan
LOST = ("compact", "resume")  # those in which it has


class Audience(NamedTuple):
    """Who is told."""

    knows_ids: bool = False  # whether it knows items by their ids
    agent: str = ""  # its name on a plan that several work from
    reminders: bool = True  # whether the user wants it to be reminded


class Listed(NamedTuple):
    """A text for the model; empty if there is nothing to tell."""

    text: str = ""
    content: Any = None  # the list itself, where it goes with the text


def our_list(plan: Plan, context: str, to: Audience) -> Listed:
    """What is open, for a model that may have lost it."""
    if context not in AGAIN:
        return Listed()
    return Listed(wording.restored(plan, ids=to.knows_ids, going_on=context != "resume", agent=to.agent))


def with_notes(plan: Plan, context: str, text: str) -> str:
    """A list that has no place for notes, with the notes of what is being worked on, for a model that has lost them."""
    notes = wording.noted(plan) if context in AGAIN else ""
    if notes:
        return f"{text.rstrip()}\n{notes}"
    return text


class Guide(NamedTuple):
    """What a dialect's model is told beside the answers to its calls."""

    limits: Limits = Limits()
    wrapper: str = "system-reminder"
    knows_ids: bool = False  # whether its model knows items by their ids
    writer: str = ""  # the tool that reports progress, if that is not the first
    listed: Callable[[Plan, str, Audience], Listed] = our_list  # the list in one of the `CONTEXTS`
    lists_all: bool = False  # whether that has closed items, too
    lists_at_start: bool = False  # whether a session is shown the list at its start, and not only when it resumes
    clears_on_resume: bool = False  # whether closed items leave the list when a session resumes
    sends_whole: bool = False  # whether its model sends the complete list with each write
    answers_with_list: bool = False  # whether the answer to a write has the complete list
    reminder: Callable[[Plan, int], Listed] | None = None  # after so many turns; None: in our words
    reminder_prompt: str = "plan.reminder"  # the text by which a reminder is found in a conversation
    failed: str = ""  # the name of the text after a call that failed, if there is one
    nudge: str = ""  # the name of the text that nudges it; empty: ours
    always_nudged: bool = False  # whether it is nudged also where it did no planned work

    @property
    def marks(self) -> Marks:
        """By which words this guidance is found in a conversation."""
        return Marks(self.reminder_prompt, self.failed, self.wrapper)


OURS = Guide(knows_ids=True, writer="plan")
