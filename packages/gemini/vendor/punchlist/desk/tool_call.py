"""A model's tool call: from what was sent to what is answered, by way of the door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

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
from ..core.diff import Calls, Change, Record, noted, parted, without_calls
from ..core.errors import Disagreement, Partial, Refused, StoreError
from ..core.last_sent import Kept, from_text, informed, to_text, unheard_of
from ..core.merge import linked, merge, protect
from ..core.model import ACTIVE, CLOSED, MAIN, NOTHING, USER, Item, Plan, Reader
from ..core.ops import grouped, owned
from ..core.resend import resent
from ..core.rules import obeyed
from ..core.schema import Lenience, repair
from ..core.updates import SHOWN, became_active, turns, words_given
from ..dialects import STATUS_WORDS, Call, Dialect, Reply, Tool, Turn, find_tool, offered
from ..local.files import time_text
from .commit import Draft, Snapshot, commit
from .edits import rewound
from .events import log_event
from .holding import hold_back, is_off
from .observations import keep_calls, with_calls
from .session_state import load_state, update_state
from .updates import may_tell, pending_updates, update_lines
from .visible import visible

if TYPE_CHECKING:
    from . import Desk

_check_of = attrgetter("check")
_UNDERSTOOD = 10  # notes on what was understood, in one answer


class Worked(NamedTuple):
    """What a call leads to."""

    plan: Plan
    errors: tuple[str, ...] = ()  # what of a batch went wrong
    kept: tuple[str, ...] = ()  # requests that were not granted, a sentence each
    cleared: tuple[Item, ...] = ()  # what was done, all of it, and so has left the list
    lists: Mapping[str, str] = NOTHING  # the list that was sent, by tool, as it is kept for the next one


def answer(desk: Desk, tool: str, args: object, interactive: bool | None, continuing: bool) -> Reply:
    """Carry out one tool call, as a model made it. A pause that fails for any reason stops the agent all the same."""
    try:
        reply = _run_call(desk, tool, args, interactive, continuing)
    except Exception as error:
        if not asks_for_pause(desk.dialect, tool, args):
            raise
        hold_back(desk, f"its pause failed: {error}")
        if isinstance(error, StoreError):
            raise
        return report_failure(desk, tool, StoreError(str(error)))
    _outcome(desk, failed=reply.is_error)
    desk._seat.has_answered = True
    return reply


def asks_for_pause(dialect: Dialect, tool: str, args: object) -> bool:
    """Return whether a call asks for a pause, beside whatever else."""
    return any(one.name == tool and one.pauses(args) for one in dialect.tools)


def _outcome(desk: Desk, *, failed: bool) -> None:
    """Keep whether a call failed, where the dialect has a word for that, and this agent could send it again."""
    if desk.dialect.guide.failed and not is_off(desk) and offered(desk.dialect, continuing=True, agent=desk.agent):
        update_state(desk, lambda state: state._replace(failed=failed))


def _run_call(desk: Desk, tool: str, args: object, interactive: bool | None, continuing: bool) -> Reply:
    dialect = desk.dialect
    try:
        _refuse_off(desk)
        found = find_tool(dialect, tool, continuing=continuing, agent=desk.agent)
        call, notes = _understood(dialect, _make_call(desk, found, args, interactive), desk.settings.tolerant)
    except Refused as refusal:
        return decline(desk, tool, str(refusal))
    return _carry_out(desk, call, notes)


def decline(desk: Desk, tool: str, message: str) -> Reply:
    """The answer to a call that could not even be understood. It is written down."""
    dialect = desk.dialect
    log_event(desk, "refusal", tool=tool, dialect=dialect.name, message=message)
    _outcome(desk, failed=True)
    known = [one for one in dialect.tools if one.name == tool] or dialect.tools
    return dialect.refuse(_make_call(desk, known[0], None, None), Plan(), message)


def report_failure(desk: Desk, tool: str, error: StoreError) -> Reply:
    """The answer to a call that the store let down, in the words of its dialect."""
    dialect = desk.dialect
    known = [one for one in dialect.tools if one.name == tool] or dialect.tools
    return Reply(dialect.failure(_make_call(desk, known[0], None, None), error), is_error=True)


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
    if is_off(desk):
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


def _make_call(desk: Desk, tool: Tool, args: Any, interactive: bool | None) -> Call:
    settings = desk.settings
    if interactive is None:
        interactive = settings.interactive
    at = time_text()
    return Call(
        tool,
        args,
        agent=desk.agent,
        interactive=interactive,
        durable=desk._seat.store.durable,
        at=at,
        strict_pause=settings.strict_pause,
        closed_is_final=settings.user_closed_is_final,
        redact=settings.redact_calls,
        clock=_local(at) if tool.only_continuing else "",
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
        args, notes = repair(call.args, call.tool.schema, Lenience(STATUS_WORDS, call.tool.fill, call.tool.ids))
        call = call._replace(args=args)
        wrong = dialect.judge(call)
        if not wrong:
            return call, [f"note: {line}." for line in notes[:_UNDERSTOOD]]
    raise Refused(wrong)


class _Done(NamedTuple):
    """What became of a call, beside the plan."""

    call: Call  # as it was carried out
    current: Plan  # the plan as the dialect sees it
    worked: Worked
    refusal: str = ""
    updates: Sequence[str] = ()  # what the reader is told with the answer
    records: Sequence[Record] = ()  # what that is about
    said: Sequence[str] = ()  # what of the call was not applied, and why
    calls: Calls = NOTHING  # tool calls that came with it, by item
    unverified: Sequence[Item] = ()  # completed, though their checks were not seen to pass
    is_quiet: bool = False  # nothing was done yet: the plan is in a quiet context


def _carry_out(desk: Desk, call: Call, notes: list[str], *, ends_quiet: bool = True) -> Reply:
    """Carry out a call that was understood. `ends_quiet`: a quiet context that a hook entered for the agent is over,
    since it calls the tool all the same. In a loop of our own only the agent's own tool ends one."""
    ends_quiet = ends_quiet and bool(desk._seat.host)
    dialect = desk.dialect
    try:
        changed, done = commit(desk, lambda snapshot: _draft(desk, call, snapshot, ends_quiet), from_memory=True)
    except Refused as refusal:  # the dialect made a plan that could not be read again
        log_event(desk, "refusal", tool=call.tool.name, dialect=dialect.name, message=str(refusal))
        return _with(
            dialect.refuse(call, desk.load(), str(refusal)), desk.take_updates(ids=dialect.guide.knows_ids), []
        )
    if done.is_quiet:
        from .quiet import end_quiet

        end_quiet(desk)
        return _carry_out(desk, call, notes, ends_quiet=False)
    desk._seat.owes_list = desk._seat.owes_list or any(record.by == USER for record in done.records)
    if done.refusal:
        log_event(desk, "refusal", tool=call.tool.name, dialect=dialect.name, message=done.refusal)
        return _with(dialect.refuse(call, changed.plan, done.refusal), done.updates, [])
    after = changed.plan
    if not changed.changes:
        after = done.current
        log_event(desk, "call", tool=call.tool.name, dialect=dialect.name, revision=after.revision)
    if done.calls:
        keep_calls(desk._seat.store, changed.plan.id, done.calls)
    if dialect.shows_calls:
        after = with_calls(desk._seat.store, after)
    in_words = _in_user_words(desk, after, changed.changes)
    turn = Turn(
        done.call,
        changed.before,
        after,
        changed.changes,
        done.worked.errors,
        done.updates,
        in_words,
        done.unverified,
    )
    said = [*done.updates, *done.said, *done.worked.kept]
    reply = dialect.reply(turn)
    if done.unverified and not dialect.tells_unverified:
        from .check_rules import unverified_line

        missing = [unverified_line(item, ids=dialect.guide.knows_ids) for item in done.unverified]
        reply = reply._replace(text="\n".join([reply.text.rstrip("\n"), *missing]), unverified=tuple(missing))
    return _with(reply, said, notes)


def _draft(desk: Desk, call: Call, snapshot: Snapshot, ends_quiet: bool) -> tuple[Draft, _Done]:
    """Work out what a call makes of the plan, and what its author is told with the answer."""
    now, reader, dialect = snapshot.plan, snapshot.reader, desk.dialect
    if ends_quiet and now.mode == "quiet":
        return Draft(now), _Done(call, now, Worked(now), is_quiet=True)
    pending = unknown = pending_updates(desk, now, reader)
    if snapshot.known != reader:
        unknown = pending_updates(desk, now, snapshot.known)
    try:
        _refuse_mode(call, now)
        done = _judge_checks(desk, _apply_call(desk, call, now, unknown), now)
    except Refused as refusal:
        done = _Done(call, now, Worked(now), str(refusal))
    updates = update_lines(desk, now, pending, ids=dialect.guide.knows_ids, is_new=not reader.seen)
    told: Reader | None = reader
    if updates and not may_tell(desk, now, reader):  # another process tells them
        updates, pending, told = [], [], None
    if updates or pending:
        done = done._replace(updates=updates, records=pending)
    if done.refusal:
        return Draft(now, reader=told, told=bool(updates)), done
    after, changes, calls = _note_changes(desk, done, now)
    if calls:
        done = done._replace(calls=calls)
    record = None
    if changes:
        name = done.call.agent
        record = Record(now.revision + 1, call.at, name, desk._seat.reader_key, dialect.name, "edit", changes)
    return Draft(after, record, told, done.worked.lists, bool(updates)), done


def _apply_call(desk: Desk, call: Call, now: Plan, unknown: Sequence[Record]) -> _Done:
    """Carry a call out on the plan as it is now. `unknown`: what its author did not know of when it made the call."""
    rules = desk.dialect.rules
    call = _named(desk, call, now)
    seen = rewound(now, unknown) if unknown and rules.speaks_of == "seen" else now
    current = now
    if rules.clears:
        seen, current = visible(desk, seen, keeps_phases=True), visible(desk, now, keeps_phases=True)
    listed = _apply_list(desk, call, now, unknown)
    if listed is not None:
        return _Done(call, current, listed)
    call, said = _spare(desk, call, seen, now, unknown)
    return _Done(call, current, _worked(desk, call, seen, current), said=said)


def _judge_checks(desk: Desk, done: _Done, now: Plan) -> _Done:
    """What became of a call, without what an agent may not do to checks. Raises Refused."""
    plan = done.worked.plan
    if plan is now or not (any(map(_check_of, now.items)) or any(map(_check_of, plan.items))):
        return done
    from .check_rules import judge

    dialect = desk.dialect
    ids, refuses = dialect.guide.knows_ids, not dialect.is_mirror
    judged = judge(desk, now, plan, ids=ids, cleared=done.worked.cleared, refuses=refuses)
    kept = (*done.worked.kept, *judged.said)
    return done._replace(worked=done.worked._replace(plan=judged.plan, kept=kept), unverified=judged.unverified)


def _note_changes(desk: Desk, done: _Done, now: Plan) -> tuple[Plan, tuple[Change, ...], Calls]:
    """The plan to save, what changed in it, and the tool calls that came with it."""
    call, worked = done.call, done.worked
    plan = _with_attempts(desk, now, worked.plan)
    if call.agent != desk.agent:
        plan = owned(now, plan, call.agent)
    plan, calls = without_calls(plan)
    after, changes = noted(now, plan, call.agent, call.at, desk._seat.folder, is_user=False)
    if worked.cleared:
        changes = parted(changes, worked.cleared, call.agent, call.at)
    return after, changes, calls


def _named(desk: Desk, call: Call, now: Plan) -> Call:
    """The call under the name that its agent has on the plan, with the other sessions that own items there."""
    name = desk._seat.name
    if name != desk.agent:
        return call._replace(agent=name, owner=name)
    if not desk._seat.is_shared:
        return call
    owners = frozenset([item.owner for item in now.items]) - {"", name}
    if not owners:
        return call
    return call._replace(others=_sessions_among(desk, now, owners))


def _sessions_among(desk: Desk, now: Plan, owners: frozenset[str]) -> frozenset[str]:
    """Return those of the owners of items that are other sessions on the plan."""
    from .sharing import seated

    found = seated(desk._seat, now.id, frozenset([owner or MAIN for owner in owners]))
    return frozenset([owner for owner in owners if (owner or MAIN) in found])


def _in_user_words(desk: Desk, plan: Plan, changes: Sequence[Change]) -> frozenset[str]:
    """The items that became active just now, in long words of the user: the model has not read those whole."""
    if not desk.dialect.rules.owns:
        return frozenset()
    begun = [change for change in changes if became_active(change) and len(change.after.text) > SHOWN]
    if not begun:
        return frozenset()
    given = _words_of_user(desk, plan)
    return frozenset(change.id for change in begun if given.get(change.id) == change.after.text)


def _words_of_user(desk: Desk, plan: Plan) -> dict[str, str]:
    """The words that the user gave to items of a plan, by their ids. Only what came since the last time is read."""
    known, revision, words = desk._seat.given
    if known != plan.id or revision > plan.revision:
        revision, words = 0, {}
    if revision < plan.revision:
        words = words | words_given(desk._seat.store.history(plan.id, revision, by=USER))
        desk._seat.given = (plan.id, plan.revision, words)
    return words


def _spare(desk: Desk, call: Call, seen: Plan, now: Plan, unknown: Sequence[Record]) -> tuple[Call, tuple[str, ...]]:
    """The call with what of it is not applied, because others were there first, and the sentences that say so."""
    dialect = desk.dialect
    asked = dialect.asked(seen, call)
    history: Sequence[Record] = ()
    if any(one.verb == "omit" or (one.text and not one.id) for one in asked):  # a new list, or words that no item has
        history = desk._seat.store.history(now.id)
        call = call._replace(words=former_words(history, now))
        asked = dialect.asked(seen, call)
    if not asked or (not unknown and not history and is_undisputed(asked, now, call.agent)):
        return call, ()
    edits = edits_of_others(desk, now, unknown) if unknown else NOTHING
    ids, final = dialect.guide.knows_ids, desk.settings.user_closed_is_final
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
        others = [turn for turn in turns(now, unknown) if turn[1] != desk._seat.reader_key]
    except Disagreement:  # the history was lost and begun again: nothing tells what was edited
        return NOTHING
    return unheard_edits([(by, before, after) for by, _, _, before, after in others], now)


def ended_among(desk: Desk, now: Plan, owners: frozenset[str]) -> frozenset[str]:
    """Return those of the owners of items whose sessions are not at work: what they began can be taken over."""
    if not owners:
        return owners
    from .sharing import is_at_work

    return frozenset(owner for owner in owners if not is_at_work(desk._seat, now.id, owner or MAIN))


def _apply_list(desk: Desk, call: Call, now: Plan, unknown: Sequence[Record]) -> Worked | None:
    """What comes of a list that was sent whole: it changes what differs from the list that was sent before. None for a
    call that sends no list."""
    entries = desk.dialect.entries(call)
    if entries is None:
        return None
    kept, before = _load_list(desk, call, now, unknown)
    found = resent(
        now,
        entries,
        desk.dialect.list_form,
        kept,
        unheard_of(unknown, desk._seat.reader_key),
        closed_is_final=desk.settings.user_closed_is_final,
        recall=lambda id: _find_removed(desk, now, id),
        hold=_hold(desk, now),
    )
    plan, new = found.plan, found.kept
    cleared: tuple[Item, ...] = ()
    is_over = bool(entries) and all(entry.status in CLOSED for entry in entries)
    is_cleared = desk.dialect.rules.clear_when_done and is_over and not plan.open_items
    has_checks = any(map(_check_of, now.items)) or any(map(_check_of, plan.items))
    if is_cleared and not has_checks:  # what has a check stays in sight, with what is seen of it
        plan, new, cleared = plan._replace(items=(), removed=()), Kept(), plan.items
    if plan != now:
        new = new._replace(at=now.revision + 1)
    lists: Mapping[str, str] = NOTHING
    if new != before:
        text = to_text(new)
        lists, desk._seat.sent = {call.tool.name: text}, (text, new)
    said = _worked_on(desk, call, now, before, found.kept)
    return Worked(plan, (), (*found.said, *said), cleared, lists)


def _hold(desk: Desk, now: Plan) -> Callable[[Item], str]:
    """What tells why an item cannot be completed now."""
    if desk.settings.verify != "block":
        return lambda item: ""
    from .check_rules import held

    return held(desk, now, ids=desk.dialect.guide.knows_ids)


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
    return taken(asked, now, agent=call.agent, ids=desk.dialect.guide.knows_ids).said


def _load_list(desk: Desk, call: Call, now: Plan, unknown: Sequence[Record]) -> tuple[Kept, Kept]:
    """The list that this agent sent last with this tool, with what others changed since noted in it; and without."""
    if not now.id:
        return Kept(), Kept()
    text = desk._seat.store.lists(now.id, desk._seat.reader_key).get(call.tool.name, "")
    kept = desk._seat.sent[1] if desk._seat.sent and desk._seat.sent[0] == text else from_text(text)
    if kept.at >= now.revision:
        return kept, kept
    records = unknown if unknown and unknown[0].revision <= kept.at + 1 else desk._seat.store.history(now.id, kept.at)
    return informed(kept, records, desk._seat.reader_key, now.revision), kept


def _find_removed(desk: Desk, now: Plan, id: str) -> Item | None:
    """An item that left the plan, as it was then."""
    for record in reversed(desk._seat.store.history(now.id)):
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
    return grouped(linked(seen._replace(items=(*seen.items, *added), last_id=now.last_id)))


def _with_attempts(desk: Desk, now: Plan, plan: Plan) -> Plan:
    """A pause keeps how often the agent was nudged before it, and when."""
    if plan.paused is None or plan.paused == now.paused:
        return plan
    state, paused = load_state(desk), plan.paused
    attempts, last = max(state.nudges, paused.attempts), state.nudged_at or paused.last_prompt_at
    return plan._replace(paused=paused._replace(attempts=attempts, last_prompt_at=last))


def _with(reply: Reply, updates: Sequence[str], notes: Sequence[str]) -> Reply:
    if not updates and not notes:
        return reply
    return reply._replace(text="\n".join([reply.text.rstrip("\n"), *updates, *notes]), updates=tuple(updates))
