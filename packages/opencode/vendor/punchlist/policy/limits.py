"""The bounds within which an agent may be spoken to. Every reminder and every nudge is counted against one."""

from __future__ import annotations

from ..core._typing import NamedTuple

_LETTERS_A_TOKEN = 3.5  # of English; fewer than there are, so that we count rather too much
_BYTES_A_TOKEN = 1.5  # of everything else


class Limits(NamedTuple):
    """How often, and how much."""

    reminders: bool = True
    remind_after: int = 10  # turns without a change of the plan
    remind_again: int = 0  # turns between two reminders; 0: twice as many each time
    budget: int = 400  # tokens of reminders in a session; below 0: without end
    on_empty: bool = False  # whether an empty list is worth a word
    effects: int = 0  # calls since the plan changed that changed something else, without which there is no reminder
    heeds_questions: bool = True  # whether an open question to the user is a reason for silence
    continuation: bool = True
    until_done: bool = False  # whether it is nudged also where it did no planned work
    idle_nudges: int = 1  # in a row that lead to nothing
    nudges: int = 20  # in a session
    minutes: int = 30  # since the first nudge after the user's last word


def tokens(text: str) -> int:
    """About how many tokens a text has; rather more than fewer."""
    plain = len(text.encode("ascii", "ignore"))
    other = len(text.encode("utf-8", "replace")) - plain
    return int(plain / _LETTERS_A_TOKEN + other / _BYTES_A_TOKEN) + 1
