"""In which voice the model of a desk is spoken to."""

from __future__ import annotations

from ..core._typing import TYPE_CHECKING
from ..core.model import Plan, SessionState
from ..local.settings import AUTO, DIALECTS, Settings
from ..policy.voice import FULL, class_of, read_table, with_voice

if TYPE_CHECKING:
    from ..policy.conversation import Tally
    from ..policy.limits import Limits
    from . import Desk


def find_voice(desk: Desk) -> str:
    """Return the class of the desk's model, as the user has set it or by the name of the model; empty if unknown."""
    if desk.settings.voice != AUTO:
        return desk.settings.voice
    return voice_for(desk.settings, desk._seat.find_model())


def voice_for(settings: Settings, model: str) -> str:
    """Return the class of a model, as the user has set it or by its name; empty if unknown."""
    if settings.voice != AUTO:
        return settings.voice
    return class_of(model, read_table(settings.voices))


def switch_text(settings: Settings, old: str, new: str) -> str:
    """Return what a model is told that takes over in the middle of a conversation: the guidance that the one before it
    did not need; empty if there is none."""
    if settings.voice != AUTO or voice_for(settings, new) != FULL or voice_for(settings, old) == FULL:
        return ""
    from ..dialects import load
    from ..prompts import say

    tools = [tool for tool in load(settings.dialect).tools if tool.full]
    return "\n".join([say("plan.voice", tool=tool.name, text=say(tool.full)) for tool in tools])


def is_worth_a_word(desk: Desk, plan: Plan, state: SessionState, heard: Tally, limits: Limits) -> bool:
    """Whether a reminder that is due is worth it for this model: some are reminded later, and only of a plan that the
    work has left behind. The user's own number of turns is kept, and so is that of a dialect that has one."""
    from ..policy.dialect_guide import OURS
    from ..policy.reminders import effects_since, is_due

    guide = desk._seat.guide
    is_ours = guide.reminder is None and guide.limits == OURS.limits
    if not is_ours or desk.settings.remind_after != DIALECTS:
        return True
    later = with_voice(limits, find_voice(desk))
    if not later.effects:
        return True
    return is_due(heard, later) and effects_since(plan, state) >= later.effects
