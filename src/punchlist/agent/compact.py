"""A conversation that has grown long is replaced by a summary. The plan comes back: it was never only in there."""

from __future__ import annotations

from contextlib import suppress

from ..core.errors import StoreError
from ..core.text import cut
from ..desk import guidance
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


def compact_if_long(site: Context, talk: Transcript, system: str) -> None:
    now = tokens(talk)
    if len(talk.messages) >= _FEWEST and now > max(site.bounds.context, talk.unsummed * _GROWN):
        compact(site, talk, system)


def compact(site: Context, talk: Transcript, system: str) -> bool:
    """Put a summary in the place of the conversation; whether there was one."""
    before = tokens(talk)
    try:
        asked_for = [*talk.messages, User(say("agent.compact"))]
        turn = site.model.request(system, asked_for, [], lambda piece: site.stop.check(), site.on_wait)
    except ModelError as error:
        return _failed(site, talk, str(error))
    if not turn.text.strip():
        return _failed(site, talk, "the model said nothing.")
    asked = next((one.text for one in reversed(talk.messages) if isinstance(one, User)), "")
    said = say("agent.compacted", summary=turn.text.strip(), asked=cut(asked, _LONG) or "nothing yet")
    talk.add(Summary(said, turns(talk.messages)))
    talk.unsummed = 0
    restore(site, talk, "compact")
    after = tokens(talk)
    site.desk.note("compaction", before=before, after=after)
    site.tell(Compacted(site.agent, before, after))
    return True


def _failed(site: Context, talk: Transcript, why: str) -> bool:
    talk.unsummed = tokens(talk)
    site.tell(Warned(site.agent, f"the conversation could not be compacted: {why}"))
    return False


def restore(site: Context, talk: Transcript, source: str) -> None:
    """Tell the model its plan again, at a start or after a compaction. A store that cannot be read costs only that."""
    with suppress(StoreError):
        attach(site, talk, guidance.started(site.desk, source))


def prepare_request(site: Context, talk: Transcript) -> bool:
    """Tell the model what it should know before it is asked. Return whether others have changed the plan."""
    tools = [tool.name for tool in site.desk.dialect.tools]
    return attach(site, talk, guidance.before_request(site.desk, tally(entries(talk.messages), tools)))


def attach(site: Context, talk: Transcript, made: list[Guidance]) -> bool:
    """Add guidance to the conversation. Return whether it tells of edits."""
    is_edited = False
    for one in made:
        talk.add(Attachment(one.kind, one.text, one.items))
        told = one.lines if one.kind == "edit" else ()
        is_edited = is_edited or bool(told)
        site.tell(Attached(site.agent, one.kind, one.text, told))
    if is_edited:
        talk.note_edit(site.desk.plan)
    return is_edited
