"""What an event means, whatever agent it comes from: who it is about, what to remember, what to say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ..core.model import MAIN, SessionState
from ..core.text import counted
from ..desk import Desk, desk_for, guidance, nudges, quiet, store_for, tool_use
from ..desk.guidance import EDIT, Guidance, lines
from ..desk.holding import is_off
from ..desk.session_state import decide, load_state, update_state
from ..desk.updates import forget_lists
from ..local.on_off import is_off as is_off_at
from ..local.settings import ATTACHED, AUTO, Settings, for_host, load, place
from ..policy.continuation import TurnEnd
from ..stores import Store
from . import PLUGIN, STORES, KeptStore, is_attached
from .breaker import Breaker
from .hook_origin import is_typed
from .host import (
    AFTER,
    BEFORE,
    NAME,
    PACKAGE_LIMIT,
    PROMPT,
    START,
    STOP,
    SWITCH,
    HookAnswer,
    HookEvent,
    Host,
    Mirrored,
    own_tool,
)


def handle(event: HookEvent, host: Host, flags: Mapping[str, str]) -> HookAnswer:
    """Answer an event."""
    event = event._replace(session=named("session") or event.session)
    if "served" not in flags and is_typed(host):
        raise PermissionError("an event that was typed in the shell of an agent, and does not come from its hooks")
    here = ""
    if PLUGIN in flags:
        here = place(event.cwd)
        if is_attached(host.name, here):
            return HookAnswer()
    if PLUGIN in flags and event.moment == STOP:
        event = event._replace(limit=PACKAGE_LIMIT)
    if not event.moment:
        _note_turn(event, host)
        return HookAnswer()
    if event.panel:
        from .panel_key import register

        register(event.panel, host.name)
        return HookAnswer()
    before = _link(event, host)
    _note_shell(event, host)
    _note_turn(event, host)
    if event.moment == BEFORE and not _makes_commit(event, host):
        return HookAnswer(allows=PLUGIN in flags and bool(own_tool(event.tool, host)))
    settings = for_host(load({"store": flags.get("store")}, cwd=event.cwd), host.name)
    if event.moment == SWITCH:
        return _switch(event, host, settings)
    who = {"session": event.session, "agent": event.agent, "place": here or place(event.cwd), "host": host.name}
    breaker = Breaker(settings.store, tool=event.moment == AFTER)
    if breaker.is_open and settings.store.startswith("postgres"):  # to ask a server that is away takes time
        return HookAnswer()
    with breaker:
        if "served" in flags:
            store = _kept_store(settings, breaker.patience)
            desk = Desk(store, dialect=settings.dialect, settings=settings, **who)
            return _answer(desk, event, host, before, is_served=True)
        with desk_for(settings, **who, patience=str(breaker.patience)) as desk:
            return _answer(desk, event, host, before)


def named(what: str) -> str:
    """The session or plan that the user started the agent with; nothing in the shell of an agent of ours, which has
    those of that agent in its environment."""
    if os.environ.get("PUNCHLIST_BY"):
        return ""
    return os.environ.get(f"PUNCHLIST_{what.upper()}", "")


# --- inside ----------------------------------------------------------------------------------------------------------


def _kept_store(settings: Settings, patience: float) -> Store:
    """A store that stays open for the next hook, while a server answers them. How long it waits, each hook decides."""
    from time import monotonic

    key = (settings.store, settings.sqlite_synchronous)
    kept = STORES.get(key)
    store = kept.store if kept else store_for(settings, str(patience))
    store.patience = patience
    STORES[key] = KeptStore(store, monotonic())
    return store


def _answer(desk: Desk, event: HookEvent, host: Host, before: str, *, is_served: bool = False) -> HookAnswer:
    desk._seat.known_folder = event.cwd
    if is_off(desk):
        return HookAnswer()
    desk._seat.find_model = lambda: _find_model(event, host)
    if event.moment == BEFORE:
        return HookAnswer(_begin_quiet(desk))
    if event.moment == STOP:
        nudge = _stop(desk, event, host, is_served=is_served)
        _note_turn(event, host, is_over=not nudge)
        _note_model(desk, event, host)
        return HookAnswer(nudge=nudge)
    _note_model(desk, event, host)
    told = "\n".join(_guide(desk, event, host, before))
    return HookAnswer(told, notice=_say_cleared(desk) if event.moment == START and event.source == "clear" else "")


def _note_model(desk: Desk, event: HookEvent, host: Host) -> None:
    """Leave word of which model is spoken to, for the server of the next session. Where only a log tells it, that is
    complete at the end of a turn."""
    if event.agent != MAIN or desk.settings.voice != AUTO:
        return
    model = event.model
    if event.moment == STOP:
        model = _find_model(event, host)
    if model and event.moment in (START, PROMPT, STOP):
        from ..local.models import note_model

        note_model(host.name, desk._seat.place, model)


def _find_model(event: HookEvent, host: Host) -> str:
    """The name of the model; empty if neither the event nor the agent's log says it."""
    if event.model or event.agent != MAIN or host.model is None:
        return event.model
    return host.model(event)


def _switch(event: HookEvent, host: Host, settings: Settings) -> HookAnswer:
    """The agent was given another model, and the conversation's cache is lost. A description of a tool stays as it was
    when the session began: a model that needs more guidance is told it now."""
    if event.agent != MAIN or settings.off or is_off_at(place(event.cwd), event.session):
        return HookAnswer()
    from ..desk.voice import switch_text
    from ..local.models import note_model

    note_model(host.name, place(event.cwd), event.model)
    return HookAnswer(switch_text(settings, event.old_model, event.model))


def _link(event: HookEvent, host: Host) -> str:
    """Leave word of who this is, for calls to our server that do not say. The session it was before this start."""
    told_apart = event.agent == MAIN or (event.moment == BEFORE and not host.names_uses)
    if event.moment not in (START, PROMPT, BEFORE):
        return ""
    from ..local import session_links

    who = session_links.AgentRef(event.session, event.agent, host.name, event.cwd)
    if event.moment == BEFORE and event.use:
        session_links.link(session_links.tool_use_key(event.use), who)
    key = session_links.agent_key() if told_apart else ""
    if key and event.moment == START:
        before = session_links.look_up(key)
    else:
        before = None
    if key:
        session_links.link(key, who)
    if before:
        return before.session
    return ""


def _note_shell(event: HookEvent, host: Host) -> None:
    """Leave word that a command of ours is typed by this agent in its shell, until it is over."""
    if event.moment in (START, PROMPT, STOP) and event.agent == MAIN:
        from ..local import session_links

        session_links.unmark_typed()
    if event.moment not in (BEFORE, AFTER) or own_tool(event.tool, host) or not isinstance(event.args, dict):
        return
    command = event.args.get("command") or event.args.get("cmd")
    if not isinstance(command, str | list) or NAME not in str(command):
        return
    from ..local import session_links

    who = session_links.AgentRef(event.session, event.agent, host.name)
    if event.moment == BEFORE:
        note = session_links.mark_shell
    else:
        note = session_links.unmark_shell
    note(event.use, who)
    if event.moment == AFTER:
        session_links.unmark_typed(event.use or event.agent)
        return
    from .typed_hooks import typed_hook

    typed = typed_hook(command)
    if typed:
        session_links.mark_typed(event.use, who, typed)


def _note_turn(event: HookEvent, host: Host, *, is_over: bool = False) -> None:
    """Leave word whether the main agent is at work. At a start it waits for its first prompt."""
    begins = event.moment == START and event.source != "compact"
    if event.agent != MAIN or not (begins or is_over or event.moment in (PROMPT, "")):
        return
    from ..local import session_links

    if begins or (is_over and not event.background):
        session_links.mark_idle(session_links.AgentRef(event.session, event.agent, host.name))
    elif not is_over:
        session_links.unmark_idle()


def _guide(desk: Desk, event: HookEvent, host: Host, before: str) -> list[str]:
    """What the model should hear now."""
    if event.moment == START:
        if event.source == "clear" and before not in ("", event.session):
            _take_over(desk, before)
        elif event.source == "fork" and not desk.plan.id:
            _copy_plan(desk, event, host, before)
        source = _give_plan(desk, event, host)
        if event.agent == MAIN and source != "compact":
            desk._seat.take_name()
        if host.only_nudged:
            return []
        if source in ("", "startup") and desk.settings.origins.get("dialect") != ATTACHED:
            return _again(desk, event, host)  # a new session has no plan to be told about
        return [*_again(desk, event, host), *_lines(desk, guidance.started(desk, source))]
    if event.moment == PROMPT:
        is_told = host.hears_prompts and not host.only_nudged
        return [
            *_again(desk, event, host),
            *_lines(desk, guidance.prompted(desk, event.prompt, is_told=is_told)),
        ]
    if event.moment != AFTER:
        return []
    is_quiet = _leave_quiet(desk)
    if event.approved:
        _approve(desk, event.approved)
    has_forgotten = _has_forgotten(desk, event, host)
    if has_forgotten:
        forget_lists(desk, ())  # what the model does not know any more, its list does not leave out
    mirrored = _mirror(desk, event, host)
    updates = mirrored.updates
    if has_forgotten:
        again = _lines(desk, guidance.started(desk, host.forgets))
    else:
        again = []
    is_told = not host.only_nudged and not is_quiet
    told = guidance.tool_used(desk, _use(desk, event, host), is_told=is_told, owes_list=bool(updates))
    return [*mirrored.unverified, *updates, *again, *_lines(desk, told)]


def _lines(desk: Desk, found: Sequence[Guidance]) -> list[str]:
    """Guidance as a hook tells it: in the wrapper of the dialect, where the agent was attached with one."""
    if desk.settings.origins.get("dialect") != ATTACHED:
        return lines(found)
    return [line for one in found for line in (one.lines if one.kind == EDIT else (one.text,))]


def _use(desk: Desk, event: HookEvent, host: Host) -> tool_use.ToolUse:
    """What is kept of a tool use. A tool that wrote the plan is remembered: the model is spoken to in its terms."""
    mirrored = host.mirrors.get(event.tool, "")
    tool = event.tool if mirrored else own_tool(event.tool, host)
    if tool:
        id = tool_use.digest(event.tool, event.args)
        return tool_use.ToolUse(id, tool, event.failed, event.interrupted, dialect=mirrored)
    return tool_use.describe(
        desk,
        event.tool,
        event.args,
        event.result,
        id=event.use,
        failed=event.failed,
        interrupted=event.interrupted,
        hides_failure=host.hides_failure and event.exit is None,
        exit=event.exit,
        no_exit=event.no_exit,
        folder=_folder(event),
        find_folder=event.find_folder,
        seconds=event.seconds,
    )


def _folder(event: HookEvent) -> str:
    """Where a command began; empty if that is not known."""
    if event.folder is None:
        return event.cwd
    return event.folder


def _makes_commit(event: HookEvent, host: Host) -> bool:
    """Whether a tool is about to commit or to open a pull request."""
    if own_tool(event.tool, host) or not event.args:
        return False
    from ..desk.plan_mode import makes_commit

    return makes_commit(event.args)


def _begin_quiet(desk: Desk) -> str:
    """A commit begins: the plan is left alone until it is made. What the model is told; nothing without a plan."""
    if desk.plan.mode != "act" or quiet.enter_quiet(desk).mode != "quiet":
        return ""
    return quiet.quiet_text(desk)


def _leave_quiet(desk: Desk) -> bool:
    """Whether the agent was in a quiet context of its own until now. Any tool that it used ends it: a commit that was
    refused has no result of its own."""
    return desk.plan.mode == "quiet" and quiet.end_quiet(desk).mode != "quiet"


def _again(desk: Desk, event: HookEvent, host: Host) -> list[str]:
    """The plan, if the agent has forgotten it without telling anybody."""
    if _has_forgotten(desk, event, host):
        return _lines(desk, guidance.started(desk, host.forgets))
    return []


def _has_forgotten(desk: Desk, event: HookEvent, host: Host) -> bool:
    if host.lost is None or not event.log or event.agent != MAIN or not desk._seat.plan_id():
        return False
    before = load_state(desk).log
    forgotten, seen = host.lost(event, before)
    if seen == before:
        return forgotten

    def step(state: SessionState) -> tuple[SessionState, bool]:
        if state.log != before:  # of several hooks that look at once, one tells
            return state, False
        return state._replace(log=seen), True

    _, is_first = decide(desk, step)
    return forgotten and is_first


def _give_plan(desk: Desk, event: HookEvent, host: Host) -> str:
    """Give a session that starts the plan that was prepared for it, or the list that the agent has of it. How it starts
    then: with a plan, it is resumed."""
    if event.agent != MAIN:
        return event.source
    from .first_plan import adopt, take_own_list

    if event.source == "compact":
        take_own_list(desk, event, host)
        return event.source
    got_one = adopt(desk, named("plan"), is_told=not host.only_nudged, own=lambda: take_own_list(desk, event, host))
    goes_on = got_one or bool(named("session") or named("plan"))
    if goes_on and event.source in ("", "startup"):
        return "resume"
    return event.source


def _take_over(desk: Desk, old: str) -> None:
    """After a `/clear` the session has a new name; the plan stays."""
    before = desk.for_session(old)
    if not desk.plan.id and before.plan.id:
        from ..desk.transfer import hand_over

        hand_over(before, desk.session)
        _keep_names(desk, before)


def _say_cleared(desk: Desk) -> str:
    """What the user should know after a `/clear`, once: the plan came along, and how to leave it behind."""
    items = desk.plan.open_items
    if not items or load_state(desk).cleared:
        return ""
    update_state(desk, lambda state: state._replace(cleared=True))
    return (
        f"punchlist: the plan came along ({counted(len(items), 'open item')}). "
        f"To leave it behind: punchlist off --session {desk.session}"
    )


def _copy_plan(desk: Desk, event: HookEvent, host: Host, before: str) -> None:
    """A session that goes on from a copy of a conversation has a copy of its plan."""
    if before in ("", event.session):
        before = host.forked_from(event) if host.forked_from else ""
    old = desk.for_session(before)
    if old.session and old.plan.items:
        desk.carry(old.session, desk.session)
        _keep_names(desk, old)


def _keep_names(desk: Desk, before: Desk) -> None:
    """Where a conversation goes on, the model knows items by the names that it knew them by."""
    old = load_state(before)
    update_state(desk, lambda state: state._replace(tool=old.tool, dialect=old.dialect, cleared=old.cleared))


def _approve(desk: Desk, plan: str) -> None:
    from ..desk.plan_mode import approve, write_plan_file

    if approve(desk, plan).plan.id:
        write_plan_file(desk, plan)


def _mirror(desk: Desk, event: HookEvent, host: Host) -> Mirrored:
    """The agent's own plan tool, carried out on our plan."""
    dialect = host.mirrors.get(event.tool)
    if dialect is None or (event.failed and event.tool not in host.counts_failed):
        return Mirrored()
    from ..dialects import load as load_dialect

    if event.planning and load_dialect(dialect).guide.sends_whole:  # nothing is on a list yet: the next has it all
        return Mirrored()
    from .mirror import mirror

    return mirror(desk, event, host)


def _stop(desk: Desk, event: HookEvent, host: Host, *, is_served: bool) -> str:
    """Nudged with a text, or allowed to stop. Only the main agent is nudged."""
    if event.agent != MAIN:
        return ""
    end = TurnEnd(
        said=event.said,
        background=event.background,
        planning=event.planning,
        interrupted=event.interrupted,
        agent=MAIN,
        ending=event.ends,
    )
    if event.log and host.log is not None:
        from .agent_log import read_turn_end

        end = read_turn_end(event.log, host.log(), end)
    return nudges.turn_ended(desk, end, lambda: _time_for_checks(event, host, is_served=is_served)).text


def _time_for_checks(event: HookEvent, host: Host, *, is_served: bool) -> nudges.CheckTime:
    from .check_time import find_seconds, is_client_silent

    seconds = find_seconds(event, host)
    if is_served:
        return nudges.CheckTime(seconds, is_client_silent)
    return nudges.CheckTime(seconds)
