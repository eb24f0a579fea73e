"""A model's tool call: from what was sent to what is answered, by way of the door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.conflicts import (
    Asked,
    Edits,
    finder,
    former_words,
    gone,
    is_undisputed,
    lasting,
    rivals,
    spared,
    taken,
    unheard_edits,
)
from ..core.diff import Change, Record, noted, parted, without_calls
from ..core.errors import Disagreement, Partial, Refused, StaleRevision, StoreError
from ..core.last_sent import Kept, from_text, informed, to_text, unheard_of
from ..core.merge import mended, merge, protect
from ..core.model import ACTIVE, CLOSED, MAIN, NOTHING, USER, Item, Plan, Reader
from ..core.ops import grouped, owned
from ..core.resend import resent
from ..core.rules import obeyed
from ..core.schema import Lenience, mend
from ..core.updates import SHOWN, became_active, turns
from ..dialects import STATUS_WORDS, Call, Dialect, Reply, Tool, Turn, find_tool, offered

if TYPE_CHECKING:
    from . import Desk

_UNDERSTOOD = 10  # notes on what was understood, in one answer


class Worked(NamedTuple):
    """What a call leads to."""

    plan: Plan
    errors: tuple[str, ...] = ()  # what of a batch went wrong
    kept: tuple[str, ...] = ()  # wishes that were not granted, a sentence each
    cleared: tuple[Item, ...] = ()  # what was done, all of it, and so has left the list
    lists: Mapping[str, str] = NOTHING  # the list that was sent, by tool, as it is kept for the next one


def answer(desk: Desk, tool: str, args: object, interactive: bool | None, continuing: bool) -> Reply:
    """Carry out one tool call, as a model made it. A pause that fails for any reason stops the agent all the same."""
    try:
        reply = _answered(desk, tool, args, interactive, continuing)
    except Exception as error:
        if not asks_for_pause(tool, args):
            raise
        desk.hold_back(f"its pause failed: {error}")
        if isinstance(error, StoreError):
            raise
        return faulted(desk, tool, StoreError(str(error)))
    _outcome(desk, failed=reply.is_error)
    return reply


def asks_for_pause(tool: str, args: object) -> bool:
    """Return whether a call asks for a pause, beside whatever else."""
    return tool == "todo_pause" or (tool == "plan" and isinstance(args, dict) and bool(args.get("pause")))


def _outcome(desk: Desk, *, failed: bool) -> None:
    """Keep whether a call failed, where the dialect has a word for that, and this agent could send it again."""
    if desk.dialect.failed and not desk.is_off and offered(desk.dialect, continuing=True, agent=desk.agent):
        desk.update_state(lambda pace: pace._replace(failed=failed))


def _answered(desk: Desk, tool: str, args: object, interactive: bool | None, continuing: bool) -> Reply:
    dialect = desk.dialect
    try:
        _refuse_off(desk)
        found = find_tool(dialect, tool, continuing=continuing, agent=desk.agent)
        call, notes = _understood(dialect, _called(desk, found, args, interactive), desk.settings.tolerant)
    except Refused as refusal:
        return decline(desk, tool, str(refusal))
    reply = _at_first_try(desk, call, notes)
    if reply is not None:
        return reply
    known: tuple[str, Reader] | None = None  # what the author had heard, of which plan, when it made the call
    has_disagreed = False
    for now, reader in desk.tries():
        known = known if known and known[0] == now.id else (now.id, reader)
        if now.mode == "quiet" and _leaves_quiet(desk):
            continue
        try:
            _refuse_mode(call, now)
            return _carry_out(desk, call, notes, now, reader, known[1])
        except Refused as refusal:
            desk.note("refusal", tool=tool, dialect=dialect.name, message=str(refusal))
            news = desk.heard(now, reader, ids=dialect.rules.shows_ids)
            return _with(dialect.refuse(call, now, str(refusal)), news, [])
        except StaleRevision:
            continue
        except Disagreement:
            if has_disagreed:
                raise
            has_disagreed = True  # the plan that the desk remembers may be from before its history was lost
    raise desk.conflict_error()


def _at_first_try(desk: Desk, call: Call, notes: list[str]) -> Reply | None:
    """Most calls follow another by the same agent, and nobody was there between: it is not looked whether somebody was,
    the store says so when it saves. What saves nothing is done properly."""
    if desk.left is None:
        return None
    now, reader = desk.left
    try:
        _refuse_mode(call, now)
        return _carry_out(desk, call, notes, now, reader, reader, must_save=True)
    except (Refused, StaleRevision, Disagreement):
        desk.left = None
        return None


def decline(desk: Desk, tool: str, message: str) -> Reply:
    """The answer to a call that could not even be understood. It is written down."""
    dialect = desk.dialect
    desk.note("refusal", tool=tool, dialect=dialect.name, message=message)
    _outcome(desk, failed=True)
    known = [one for one in dialect.tools if one.name == tool] or dialect.tools
    return dialect.refuse(_called(desk, known[0], None, None), Plan(), message)


def faulted(desk: Desk, tool: str, error: StoreError) -> Reply:
    """The answer to a call that the store let down, in the words of its dialect."""
    dialect = desk.dialect
    known = [one for one in dialect.tools if one.name == tool] or dialect.tools
    return Reply(dialect.fault(_called(desk, known[0], None, None), error), is_error=True)


def worked_out(dialect: Dialect, call: Call, seen: Plan, now: Plan, *, closed_is_final: bool) -> Worked:
    """Apply the call to the plan its author saw, and bring the result into the plan as it is now. Pure."""
    rules = dialect.rules
    errors: Sequence[str] = ()
    try:
        draft = dialect.apply(seen, call)
    except Partial as partial:
        draft, errors = partial.plan, partial.errors
    draft = obeyed(draft, rules, seen, call.owner, call.others)
    merged = merge(seen, draft, now)
    guarded = protect(now, merged.plan, closed_is_final=closed_is_final)
    return Worked(guarded.plan, tuple(errors), (*merged.kept, *guarded.kept))


def _refuse_off(desk: Desk) -> None:
    if desk.is_off:
        raise Refused("punchlist is off here; it works again after `punchlist on`.")


def _refuse_mode(call: Call, plan: Plan) -> None:
    """While planning, and in a quiet context, the plan can be looked at, not written."""
    if plan.mode == "act" or call.tool.read_only or (isinstance(call.args, dict) and call.args.keys() <= {"show"}):
        return
    when = {
        "plan": "plan mode: nothing goes on the list yet; it can be written again once the user has approved the plan.",
        "quiet": "quiet for now, while a commit or a pull request is made; the list can be written again after that.",
    }
    raise Refused(when[plan.mode])


def _leaves_quiet(desk: Desk) -> bool:
    """Whether this call has just ended a quiet context that a hook entered for the agent: the agent calls the tool all
    the same, so the commit is over or was refused. In a loop of our own only the agent's own tool ends it."""
    if not desk.host:
        return False
    from .guidance import end_quiet

    return end_quiet(desk).mode != "quiet"


def _called(desk: Desk, tool: Tool, args: Any, interactive: bool | None) -> Call:
    own = desk.settings
    quiet = own.interactive if interactive is None else interactive
    at = desk.now()
    return Call(
        tool,
        args,
        desk.agent,
        quiet,
        desk.store.durable,
        at,
        own.strict_pause,
        own.user_closed_is_final,
        own.redact_calls,
        _local(at) if tool.only_continuing else "",
    )


def _local(at: str) -> str:
    """A time in ISO 8601 as the user's own clock showed it."""
    from datetime import datetime

    return f"{datetime.fromisoformat(at).astimezone():%H:%M:%S}"


def _understood(dialect: Dialect, call: Call, tolerant: bool) -> tuple[Call, list[str]]:
    """The call in the form its dialect asks for, and what had to be understood for that. Raises Refused."""
    call = dialect.read(call)
    wrong = dialect.judge(call)
    if not wrong:
        return call, []
    if tolerant or dialect.tolerant:
        args, notes = mend(call.args, call.tool.schema, Lenience(STATUS_WORDS, call.tool.fill, call.tool.ids))
        call = call._replace(args=args)
        wrong = dialect.judge(call)
        if not wrong:
            return call, [f"note: {line}." for line in notes[:_UNDERSTOOD]]
    raise Refused(wrong)


def _carry_out(
    desk: Desk, call: Call, notes: list[str], now: Plan, reader: Reader, known: Reader, *, must_save: bool = False
) -> Reply:
    dialect = desk.dialect
    name = desk.name
    call = _named(desk, call, name, now)
    unheard = desk.unheard(now, reader)
    unknown = unheard if known == reader else desk.unheard(now, known)
    seen = desk.rewound(now, unknown) if unknown and dialect.rules.speaks_of == "seen" else now
    if dialect.rules.clears:
        seen, current = desk.uncleared(seen, keeps_phases=True), desk.uncleared(now, keeps_phases=True)
    else:
        current = now
    listed = _relisted(desk, call, now, unknown)
    said: tuple[str, ...] = ()
    if listed is None:
        call, said = _spared(desk, call, seen, now, unknown)
    worked = listed or _worked(desk, call, seen, current)
    plan = _with_attempts(desk, now, worked.plan)
    if name != desk.agent:
        plan = owned(now, plan, name)
    plan, calls = without_calls(plan)
    after, changes = noted(now, plan, name, call.at)
    if worked.cleared:
        changes = parted(changes, worked.cleared, name, call.at)
    is_new = not reader.seen
    news = desk.told(now, unheard, ids=dialect.rules.shows_ids, is_new=is_new) if unheard else []
    is_told_elsewhere = bool(news) and not desk.may_tell(now, reader)
    if is_told_elsewhere:
        news, unheard = [], []
    if changes:
        record = Record(now.revision + 1, call.at, name, desk.reader_key, dialect.name, "edit", changes)
        heard = None if is_told_elsewhere else reader
        after = desk.save(now, after, record, heard, worked.lists, told=bool(news))
    elif must_save:
        raise StaleRevision("nothing changed")
    else:
        after = current
        if not is_told_elsewhere:
            desk.remember(now, reader, told=bool(news))
        if worked.lists:
            desk.store.keep_lists(now.id, desk.reader_key, worked.lists)
        desk.note("call", tool=call.tool.name, dialect=dialect.name, revision=now.revision)
    desk.keep_calls(after.id, calls)
    if dialect.shows_calls:
        after = desk.with_calls(after)
    reply = dialect.reply(Turn(call, now, after, changes, worked.errors, news, _in_user_words(desk, after, changes)))
    desk.owes_list = desk.owes_list or any(record.by == USER for record in unheard)
    return _with(reply, [*news, *said, *worked.kept], notes)


def _named(desk: Desk, call: Call, name: str, now: Plan) -> Call:
    """The call under the name that its agent has on the plan, with the other sessions that own items there."""
    if name != desk.agent:
        return call._replace(agent=name, owner=name)
    owners = frozenset([item.owner for item in now.items]) - {"", name}
    if not owners:
        return call
    return call._replace(others=_sessions_among(desk, now, owners))


def _sessions_among(desk: Desk, now: Plan, owners: frozenset[str]) -> frozenset[str]:
    """Return those of the owners of items that are other sessions on the plan."""
    from .sharing import seated

    found = seated(desk, now.id, frozenset([owner or MAIN for owner in owners]))
    return frozenset([owner for owner in owners if (owner or MAIN) in found])


def _in_user_words(desk: Desk, plan: Plan, changes: Sequence[Change]) -> frozenset[str]:
    """The items that became active just now, in long words of the user: the model has not read those whole."""
    if not desk.dialect.rules.owns:
        return frozenset()
    begun = [change for change in changes if became_active(change) and len(change.after.text) > SHOWN]
    if not begun:
        return frozenset()
    given = desk.words_of_user(plan)
    return frozenset(change.id for change in begun if given.get(change.id) == change.after.text)


def _spared(desk: Desk, call: Call, seen: Plan, now: Plan, unknown: Sequence[Record]) -> tuple[Call, tuple[str, ...]]:
    """The call with what of it is not applied, because others were there first, and the sentences that say so."""
    dialect = desk.dialect
    asked = dialect.asked(seen, call)
    history: Sequence[Record] = ()
    if any(one.verb == "omit" or (one.text and not one.id) for one in asked):  # a new list, or words that no item has
        history = desk.store.history(now.id)
        call = call._replace(words=former_words(history, now))
        asked = dialect.asked(seen, call)
    if not asked or (not unknown and not history and is_undisputed(asked, now, call.agent)):
        return call, ()
    edits = edits_of_others(desk, now, unknown) if unknown else NOTHING
    ids, final = dialect.rules.shows_ids, desk.settings.user_closed_is_final
    found = [spared(asked, now, edits, agent=call.agent, final=final, ids=ids)]
    if history:
        found.append(lasting(asked, now, history, agent=call.agent))
    begun = asked if dialect.rules.owns else _of_sessions(desk, call, asked, now)
    if begun:
        ended = ended_among(desk, now, rivals(begun, now, agent=call.agent))
        found.append(taken(begun, now, agent=call.agent, ended=ended, ids=ids))
        call = call._replace(ended=ended) if ended else call
    if dialect.rules.owns:
        found.append(gone(asked, now))
    found = [one for one in found if one.asked or one.said]
    if found:
        call = call._replace(spared=frozenset().union(*(one.asked for one in found)))
    return call, tuple([line for one in found for line in one.said])


def _of_sessions(desk: Desk, call: Call, asked: Sequence[Asked], now: Plan) -> list[Asked]:
    """What of a call would start an item of another session."""
    owners = rivals(asked, now, agent=call.agent)
    if not owners:
        return []
    owners = _sessions_among(desk, now, owners)
    find = finder(asked, now)
    wanted = [(one, find(one.id)) for one in asked if one.verb == "start"]
    return [one for one, item in wanted if item is not None and item.owner in owners]


def edits_of_others(desk: Desk, now: Plan, unknown: Sequence[Record]) -> Edits:
    """What others than this desk's reader made of each item in these records."""
    try:
        others = [turn for turn in turns(now, unknown) if turn[1] != desk.reader_key]
    except Disagreement:  # the history was lost and begun again: nothing tells what was edited
        return NOTHING
    return unheard_edits([(by, before, after) for by, _, _, before, after in others], now)


def ended_among(desk: Desk, now: Plan, owners: frozenset[str]) -> frozenset[str]:
    """Return those of the owners of items whose sessions are not at work: what they began can be taken over."""
    if not owners:
        return owners
    from .sharing import is_at_work

    return frozenset(owner for owner in owners if not is_at_work(desk, now.id, owner or MAIN))


def _relisted(desk: Desk, call: Call, now: Plan, unknown: Sequence[Record]) -> Worked | None:
    """What comes of a list that was sent whole: it changes what differs from the list that was sent before. None for a
    call that sends no list."""
    entries = desk.dialect.entries(call)
    if entries is None:
        return None
    kept, before = _kept_list(desk, call, now, unknown)
    found = resent(
        now,
        entries,
        desk.dialect.style,
        kept,
        unheard_of(unknown, desk.reader_key),
        closed_is_final=desk.settings.user_closed_is_final,
        recall=lambda id: _left(desk, now, id),
    )
    plan, new = found.plan, found.kept
    cleared: tuple[Item, ...] = ()
    is_over = bool(entries) and all(entry.status in CLOSED for entry in entries)
    if desk.dialect.rules.clear_when_done and is_over and not plan.open_items:
        plan, new, cleared = plan._replace(items=(), removed=()), Kept(), plan.items
    if plan != now:
        new = new._replace(at=now.revision + 1)
    lists: Mapping[str, str] = NOTHING
    if new != before:
        text = to_text(new)
        lists, desk.sent = {call.tool.name: text}, (text, new)
    said = _worked_on(desk, call, now, before, found.kept)
    return Worked(plan, (), (*found.said, *said), cleared, lists)


def _worked_on(desk: Desk, call: Call, now: Plan, before: Kept, kept: Kept) -> tuple[str, ...]:
    """Sentences on the items that a list newly marks as being worked on, and that another session works on: they stay
    that one's."""
    known = {held.id for held in before.entries if held.status == ACTIVE}
    begun = [held.id for held in kept.entries if held.status == ACTIVE and held.id not in known]
    asked = _of_sessions(desk, call, [Asked("start", id) for id in begun], now)
    if not asked:
        return ()
    ended = ended_among(desk, now, rivals(asked, now, agent=call.agent))
    busy = {item.id for item in now.busy if item.owner not in ended}
    asked = [one for one in asked if one.id in busy]
    return taken(asked, now, agent=call.agent, ids=desk.dialect.rules.shows_ids).said


def _kept_list(desk: Desk, call: Call, now: Plan, unknown: Sequence[Record]) -> tuple[Kept, Kept]:
    """The list that this agent sent last with this tool, with what others changed since noted in it; and without."""
    if not now.id:
        return Kept(), Kept()
    text = desk.store.lists(now.id, desk.reader_key).get(call.tool.name, "")
    kept = desk.sent[1] if desk.sent and desk.sent[0] == text else from_text(text)
    if kept.at >= now.revision:
        return kept, kept
    records = unknown if unknown and unknown[0].revision <= kept.at + 1 else desk.store.history(now.id, kept.at)
    return informed(kept, records, desk.reader_key, now.revision), kept


def _left(desk: Desk, now: Plan, id: str) -> Item | None:
    """An item that left the plan, as it was then."""
    for record in reversed(desk.store.history(now.id)):
        for change in record.changes:
            if change.kind == "removed" and change.id == id:
                return change.before if isinstance(change.before, Item) else None
    return None


def _worked(desk: Desk, call: Call, seen: Plan, now: Plan) -> Worked:
    """What comes of a call. One that names what it changes may name what was added since its author looked, too."""
    is_final = desk.settings.user_closed_is_final
    worked = worked_out(desk.dialect, call, seen, now, closed_is_final=is_final)
    if not worked.errors or seen == now or not desk.dialect.names_all(call):
        return worked
    again = worked_out(desk.dialect, call, _with_added(seen, now), now, closed_is_final=is_final)
    return again if len(again.errors) < len(worked.errors) else worked


def _with_added(seen: Plan, now: Plan) -> Plan:
    """What was seen, with the items that came since, if nothing else is called like them."""
    ids, texts = {item.id for item in seen.items}, {item.text for item in seen.items}
    added = [item for item in now.items if item.id not in ids and item.text not in texts]
    return grouped(mended(seen._replace(items=(*seen.items, *added), last_id=now.last_id)))


def _with_attempts(desk: Desk, now: Plan, plan: Plan) -> Plan:
    """A pause keeps how often the agent was nudged before it, and when."""
    if plan.paused is None or plan.paused == now.paused:
        return plan
    pace, paused = desk.pace, plan.paused
    attempts, last = max(pace.nudges, paused.attempts), pace.nudged_at or paused.last_prompt_at
    return plan._replace(paused=paused._replace(attempts=attempts, last_prompt_at=last))


def _with(reply: Reply, news: Sequence[str], notes: Sequence[str]) -> Reply:
    if not news and not notes:
        return reply
    return reply._replace(text="\n".join([reply.text.rstrip("\n"), *news, *notes]), news=tuple(news))
