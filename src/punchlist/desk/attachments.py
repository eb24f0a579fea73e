"""What is put before a model beside the conversation: the list at its start, when it changed, after a compaction, on
resume; reminders; the text of plan mode. Each is made by a function of its own, and fails alone."""

from __future__ import annotations

import json
from collections.abc import Callable

from ..core._typing import Any, NamedTuple
from ..core.errors import StoreError
from ..core.model import Plan
from ..core.ops import clear
from ..core.text import inline
from ..dialects import offered
from ..policy import reminders as remind
from ..policy import wording
from ..policy.continuation import next_item
from ..policy.conversation import FAILED as FAILED
from ..policy.conversation import REMINDER, Tally
from ..policy.limits import Limits
from ..policy.questions import asks
from ..policy.wording import CONTEXTS, POST_COMPACT, wrapped
from ..prompts import say
from . import Desk
from .guidance import limits_of, paid, planning, whole_list
from .updates import forget_lists

TURN = "turn"  # before any request to the model
_LOST = ("compact", "resume")
_WHOLE = ("claude-code", "gencode", "llxprt")  # dialects of systems whose list is sent whole
_AGAIN = ("start", "compact", "resume")  # contexts in which the model may have lost the plan


class Attachment(NamedTuple):
    """A message to the model that the user is not shown."""

    type: str  # todo, todo_reminder, plan_mode, edit, error_reminder
    text: str  # wrapped
    context: str = ""
    items: int = 0  # on the list
    content: Any = None  # the list itself, where the dialect hands it over
    told: tuple[str, ...] = ()  # what others did, a sentence each, where it tells of that


_Maker = Callable[[Desk, str, Tally], Attachment | None]


def attached(desk: Desk, context: str, heard: Tally | None = None) -> list[Attachment]:
    """Everything the model should hear in this moment; `heard` is what the conversation so far tells."""
    return _made(desk, context, heard or Tally(), _listed, _edited, _shown_again, _reminded, _failed, _planned)


def reminders(desk: Desk, heard: Tally) -> list[Attachment]:
    """Of that, only what reminds: updates stay untold, and plan mode uncounted."""
    return _made(desk, TURN, heard, _reminded, _failed)


def _made(desk: Desk, context: str, heard: Tally, *makers: _Maker) -> list[Attachment]:
    """What each of them makes. One that fails is written down, and keeps the others from nothing."""
    if desk.is_off:
        return []
    found = []
    for make in makers:
        try:
            made = make(desk, context, heard)
        except Exception as error:
            _complain(desk, make.__name__.strip("_"), error)
            continue
        if made is not None:
            found.append(made)
    return found


def _complain(desk: Desk, where: str, error: Exception) -> None:
    """Note what failed, if even that can be done."""
    try:
        desk.note("fault", where=where, message=f"{type(error).__name__}: {error}")
    except StoreError:
        pass


def reminder(desk: Desk, heard: Tally, limits: Limits | None = None) -> Attachment | None:
    """The reminder that is due now, as this dialect's system gives it, within its bounds if no others are named."""
    limits = limits or limits_of(desk.settings, desk.dialect.name)
    plan = desk.visible()
    if not remind.is_due(heard, limits) or remind.silence(plan, limits, asking=_asks(desk, heard)):
        return None
    text, content = _REMINDERS.get(desk.dialect.name, _our_reminder)(desk, plan, heard)
    if not text or not paid(desk, text, limits):
        return None
    return Attachment(REMINDER, text, "", len(plan.items), content)


def is_due(desk: Desk, heard: Tally) -> bool:
    """From the conversation alone: whether it is time for a word."""
    if heard.failed and _can_repeat(desk):
        return True
    return remind.is_due(heard, limits_of(desk.settings, desk.dialect.name)) and not _asks(desk, heard)


def _asks(desk: Desk, heard: Tally) -> bool:
    """A question to the user keeps us silent; the systems of some dialects did not look."""
    return limits_of(desk.settings, desk.dialect.name).heeds_questions and asks(heard.said)


def to_json(one: Attachment, at: str) -> dict[str, Any]:
    """An attachment as a message that the user is not shown."""
    import uuid

    inner = {"type": one.type, "content": one.content, "itemCount": one.items, "context": one.context or None}
    return {
        "type": "attachment",
        "attachment": {name: value for name, value in inner.items() if value is not None},
        "message": {"role": "user", "content": one.text},
        "isMeta": True,
        "text": one.text,
        "uuid": str(uuid.uuid4()),
        "timestamp": at,
    }


# --- the list --------------------------------------------------------------------------------------------------------


def _listed(desk: Desk, context: str, heard: Tally) -> Attachment | None:
    if context not in CONTEXTS:
        return None
    if context == "resume" and desk.dialect.rules.clears:
        _clear_closed(desk)
    plan = desk.visible()
    made = _LISTS.get(desk.dialect.name, _our_list)(desk, plan, context)
    if made is not None and context in _AGAIN:
        _forget_turns(desk, plan)
    if context in _LOST:
        shows_all = desk.dialect.name in _LISTS
        forget_lists(desk, [item.id for item in plan.items] if shows_all else wording.listed_ids(plan))
    return made


def _our_list(desk: Desk, plan: Plan, context: str) -> Attachment | None:
    ids, going_on = desk.dialect.rules.shows_ids, context != "resume"
    text = wording.restored(plan, ids=ids, going_on=going_on) if context in _AGAIN else ""
    return _todo(desk, plan, text, context)


def _claude_list(desk: Desk, plan: Plan, context: str) -> Attachment | None:
    content = desk.dialect.content(plan) if desk.dialect.content else []
    again = context in ("compact", "resume")
    if not content:
        is_wanted = not again and plan.mode == "act"  # a list can be begun
        return _todo(desk, plan, say("claude-code.empty"), context, content) if is_wanted else None
    if context == "changed":
        return _todo(desk, plan, whole_list(desk.dialect, plan), context, content)
    listed = inline(json.dumps(content, ensure_ascii=False))
    words = wording.WHEN_ASKED if context == "resume" else "Carry on with what is open."
    next = f"{wording.noted(plan)} {wording.closing(plan, words)}".lstrip()
    if again:
        return _todo(desk, plan, say("claude-code.restored", list=listed, next=next), context, content)
    return _todo(desk, plan, say("claude-code.present", list=listed, next=next), context, content)


def _gencode_list(desk: Desk, plan: Plan, context: str) -> Attachment | None:
    if context == "start":
        is_wanted = desk.settings.reminders and plan.mode == "act"
        return _todo(desk, plan, say("gencode.start"), context) if is_wanted else None
    return _own_list(desk, plan, context)


def _own_list(desk: Desk, plan: Plan, context: str) -> Attachment | None:
    """The list as the dialect writes it in its answers; nothing if it is empty."""
    if not plan.items or desk.dialect.content is None or context == "start":
        return None
    if desk.dialect.name == "oh-my-pi":  # its list has the notes
        return _todo(desk, plan, say("oh-my-pi.list", list=desk.dialect.content(plan)), context)
    text = whole_list(desk.dialect, plan)
    notes = wording.noted(plan)
    return _todo(desk, plan, f"{text.rstrip()}\n{notes}" if notes and context in _AGAIN else text, context)


def _todo(desk: Desk, plan: Plan, text: str, context: str, content: Any = None) -> Attachment | None:
    if not text:
        return None
    shown = POST_COMPACT if context == "compact" else context
    count = len(content) if content is not None else len(plan.items)
    return Attachment("todo", wrapped(text, desk.dialect.name), shown, count, content)


def _clear_closed(desk: Desk) -> None:
    """On resume, what is closed leaves the working list. History still has it."""
    desk.change(lambda plan: clear(plan, "~"), by=desk.agent)


def _forget_turns(desk: Desk, plan: Plan) -> None:
    if plan.id:
        desk.update_state(lambda pace: pace._replace(revision=plan.revision, turns=0, reminded=0, planning=0))


_LISTS: dict[str, Callable[[Desk, Plan, str], Attachment | None]] = {
    "claude-code": _claude_list,
    "gencode": _gencode_list,
    "oh-my-pi": _own_list,
    "llxprt": _own_list,
}


# --- what others did -------------------------------------------------------------------------------------------------


def _edited(desk: Desk, context: str, heard: Tally) -> Attachment | None:
    """What the user and others changed, once: a list alone tells neither of notes nor of what must not come back."""
    news = desk.take_updates(ids=desk.dialect.rules.shows_ids)
    if not news:
        return None
    text = wrapped(wording.edited(news), desk.dialect.name)
    return Attachment("edit", text, context, len(desk.plan.items), told=tuple(news))


def _shown_again(desk: Desk, context: str, heard: Tally) -> Attachment | None:
    """Behind an edit of the user's the whole list, where the model sends it whole: so its next one holds the edit."""
    owed, desk.owes_list = desk.owes_list, False
    if not owed or context != TURN or desk.dialect.name not in _WHOLE:
        return None
    plan = desk.visible()
    content = desk.dialect.content(plan) if desk.dialect.content and desk.dialect.name == "claude-code" else None
    return _todo(desk, plan, whole_list(desk.dialect, plan), "changed", content)


# --- reminders -------------------------------------------------------------------------------------------------------


def _reminded(desk: Desk, context: str, heard: Tally) -> Attachment | None:
    return reminder(desk, heard) if context == TURN else None


def _failed(desk: Desk, context: str, heard: Tally) -> Attachment | None:
    """After a call that failed, where the dialect has a word for it: the user does not see how far the work is. The
    conversation tells, or what was kept of the call itself; that is forgotten once it was said."""
    if not _can_repeat(desk) or not (heard.failed or desk.state.failed):
        return None
    if remind.silence(desk.plan, limits_of(desk.settings)._replace(on_empty=True)):
        return None
    desk.update_state(lambda pace: pace._replace(failed=False))
    return Attachment(FAILED, wrapped(say(desk.dialect.failed), desk.dialect.name), context)


def _can_repeat(desk: Desk) -> bool:
    """Whether the dialect has a word for a failed call, and this agent has the tool to send it again."""
    return bool(desk.dialect.failed and offered(desk.dialect, continuing=True, agent=desk.agent))


def _planned(desk: Desk, context: str, heard: Tally) -> Attachment | None:
    plan, is_turn = desk.plan, context == TURN
    text = planning(desk, plan, at_once=context not in (TURN, "changed"), counts=not is_turn, is_request=is_turn)
    kind = "quiet" if plan.mode == "quiet" else "plan_mode"
    return Attachment(kind, wrapped(text, desk.dialect.name), context) if text else None


def _claude_reminder(desk: Desk, plan: Plan, heard: Tally) -> tuple[str, Any]:
    content = desk.dialect.content(plan) if desk.dialect.content else []
    text = say("claude-code.reminder")
    if content:
        text += "\n\n" + say("claude-code.reminder.list", list=wording.numbered(content))
    return wrapped(text, desk.dialect.name), content


def _gencode_reminder(desk: Desk, plan: Plan, heard: Tally) -> tuple[str, Any]:
    return wrapped(say("gencode.nag", turns=str(heard.since_write)), desk.dialect.name), None


def _our_reminder(desk: Desk, plan: Plan, heard: Tally) -> tuple[str, Any]:
    item = next_item(plan, desk.name)
    if item is None:
        return "", None
    tool = desk.dialect.writer or desk.dialect.tools[0].name
    text = wording.reminder(plan, item, heard.since_write, tool, ids=desk.dialect.rules.shows_ids)
    return wrapped(text, desk.dialect.name), None


_REMINDERS: dict[str, Callable[[Desk, Plan, Tally], tuple[str, Any]]] = {
    "claude-code": _claude_reminder,
    "gencode": _gencode_reminder,
}
