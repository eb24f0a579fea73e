"""A conversation that has grown long is replaced by a summary. The plan comes back: it was never only in there."""

from __future__ import annotations

from contextlib import suppress

from ..core.errors import StoreError
from ..core.text import cut
from ..desk import guidance
from ..desk.events import log_event
from ..desk.guidance import Guidance
from ..policy.conversation import tally
from ..prompts import say
from .context import Context
from .events import Attached, Compacted, Warned
from .messages import Assistant, Attachment, Summary, User, entries, size, turns
from .models import ModelError
from .transcript import Transcript

_FEWEST = 4  # messages that are worth a summary
_LONG = 4000  # characters of the user's last words
_GROWN = 1.1  # times as long as a conversation that could not be compacted, before that is tried again


def tokens(talk: Transcript) -> int:
    """How long a conversation is: as the model counted, where it did, and an estimate of what came since."""
    messages = talk.messages
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, Assistant) and message.usage.total:
            return message.usage.total + size(messages[place + 1 :])
    return size(messages)


def compact_if_long(context: Context, talk: Transcript, system: str) -> None:
    now = tokens(talk)
    if len(talk.messages) >= _FEWEST and now > max(context.bounds.context, talk.unsummed * _GROWN):
        compact(context, talk, system)


def compact(context: Context, talk: Transcript, system: str) -> bool:
    """Put a summary in the place of the conversation; whether there was one."""
    before = tokens(talk)
    try:
        asked_for = [*talk.messages, User(say("agent.compact"))]
        turn = context.model.request(system, asked_for, [], lambda piece: context.stop.check(), context.on_wait)
    except ModelError as error:
        return _give_up(context, talk, str(error))
    if not turn.text.strip():
        return _give_up(context, talk, "the model said nothing.")
    asked = next((one.text for one in reversed(talk.messages) if isinstance(one, User)), "")
    said = say("agent.compacted", summary=turn.text.strip(), asked=cut(asked, _LONG) or "nothing yet")
    talk.add(Summary(said, turns(talk.messages)))
    talk.unsummed = 0
    restore(context, talk, "compact")
    after = tokens(talk)
    log_event(context.desk, "compaction", before=before, after=after)
    context.tell(Compacted(context.agent, before, after))
    return True


def _give_up(context: Context, talk: Transcript, why: str) -> bool:
    talk.unsummed = tokens(talk)
    context.tell(Warned(context.agent, f"the conversation could not be compacted: {why}"))
    return False


def restore(context: Context, talk: Transcript, source: str) -> None:
    """Tell the model its plan again, at a start or after a compaction. A store that cannot be read costs only that."""
    with suppress(StoreError):
        attach(context, talk, guidance.started(context.desk, source))


def prepare_request(context: Context, talk: Transcript) -> bool:
    """Tell the model what it should know before it is asked. Return whether others have changed the plan."""
    tools = [tool.name for tool in context.desk.dialect.tools]
    return attach(context, talk, guidance.before_request(context.desk, tally(entries(talk.messages), tools)))


def attach(context: Context, talk: Transcript, made: list[Guidance]) -> bool:
    """Add guidance to the conversation. Return whether it tells of edits."""
    is_edited = False
    for one in made:
        talk.add(Attachment(one.kind, one.text, one.items))
        told = one.lines if one.kind == "edit" else ()
        is_edited = is_edited or bool(told)
        context.tell(Attached(context.agent, one.kind, one.text, told))
    if is_edited:
        talk.note_edit(context.desk.plan)
    return is_edited
