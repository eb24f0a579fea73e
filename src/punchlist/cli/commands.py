"""What each command does. Every one is a few lines around the desk."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..core import ops, render
from ..core.codec import to_json
from ..core.diff import difference
from ..core.errors import PunchlistError, Refused, SettingsError, StoreError
from ..core.model import MAIN, Plan, SessionState
from ..core.text import counted, quoted
from ..desk import Desk, desk_for
from ..local.settings import ABOUT, DIALECTS, Settings, load
from ..stores import masked
from . import ordered, output
from . import terminal_plan as shown
from .caller import caller, require_own, require_user
from .parser import Handler, misuse, named, parser, plan_named


def run(argv: list[str]) -> int:
    """Do what was typed; the exit code says how it went."""
    output.prepare()
    code = 0
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        output.leave()
    except OSError as error:
        output.leave()
        output.complain(f"{error.filename or 'standard output'}: {error.strerror or error}.")
        code = code or 1
    except KeyboardInterrupt:
        code = 130
    return code


def _run(argv: list[str]) -> int:
    args, argv = Namespace(), ordered(argv)
    try:
        parser(_HANDLERS, argv).parse_args(argv, args)
        if args.command in _FOR_USERS:
            require_user(args.command)
        return int(args.handler(args))
    except SystemExit as leaving:  # help, the version, or misuse
        sys.stdout.flush()
        return int(leaving.code or 0)
    except PunchlistError as error:
        return _failed(args, error)


def _failed(args: Namespace, error: PunchlistError) -> int:
    code = 3 if isinstance(error, StoreError) else 2 if isinstance(error, SettingsError) else 1
    if not getattr(args, "json", False):
        output.complain(str(error))
        return code
    try:
        output.say_json({"error": str(error)})
        sys.stdout.flush()
    except BrokenPipeError:
        output.leave()
    return code


def _desk(args: Namespace, settings: Settings | None = None, find: Callable[[Desk], str] = shown.to_show) -> Desk:
    """The desk that is named; with nothing named, in an agent's shell that of the agent, else of the plan that `find`
    finds for this terminal, or of the one that was touched last."""
    who, plan, session = caller(), plan_named(args), named(args, "session")
    if not plan and not session:
        session = who.session
    is_own = who.is_agent and bool(session) and session == who.session
    agent = named(args, "agent") or (who.by if is_own else MAIN)
    desk = desk_for(settings or _settings(args), plan=plan, session=session, agent=agent)
    if plan or session or agent != MAIN:
        return desk
    with _closed_on_error(desk):
        found = find(desk)
    return Desk(desk.store, plan=found, dialect=desk.settings.dialect, settings=desk.settings) if found else desk


def _own_desk(args: Namespace, settings: Settings | None = None) -> Desk:
    """The desk to change something at: of the plan that the user was shown. An agent changes its own plan only."""
    desk = _desk(args, settings, shown.to_change)
    with _closed_on_error(desk):
        require_own(desk, plan_named(args))
        _note_shown(desk, args, whole=False)
    return desk


@contextmanager
def _closed_on_error(desk: Desk) -> Iterator[None]:
    try:
        yield
    except PunchlistError:
        desk.close()
        raise


def _is_named(args: Namespace) -> bool:
    """Whether the command itself says which plan it is about, or it is typed in an agent's shell."""
    return bool(plan_named(args) or named(args, "session") or named(args, "agent") or caller().session)


def _note_shown(desk: Desk, args: Namespace, *, whole: bool) -> None:
    """Keep that this terminal was shown a plan. An edit shows a sentence only: one of another plan makes it uncertain
    which one a next edit is meant for."""
    if caller().is_agent or desk.agent != MAIN:
        return
    plan = desk.plan.id
    if whole or not _is_named(args):
        if plan:
            shown.remember(desk, plan)
    elif shown.recall(desk).plan not in ("", plan):
        shown.remember(desk, "", chosen=False)


def _settings(args: Namespace) -> Settings:
    flags = {name: getattr(args, name, None) for name in ("store", "dialect", "style", "plain")}
    settings = load(flags)
    for fault in settings.faults:
        output.complain(fault)
    return settings


# --- looking ---------------------------------------------------------------------------------------------------------


def _show(args: Namespace) -> int:
    with _desk(args) as desk:
        plan = _all(desk) if args.all else desk.working
        spent = _spent(desk) if plan.id else {}
        _note_shown(desk, args, whole=True)
        is_named = _is_named(args)
        whose = shown.whose(desk, plan.id) if plan.id and not is_named else ""
        elsewhere = not plan.id and not is_named and bool(desk.store.plans(1))
        is_off = desk.is_off
    as_data = getattr(args, "json", False) or args.markdown
    if getattr(args, "json", False):
        output.say_json({**to_json(plan), **({"session": spent} if spent else {})})
    elif args.markdown:
        from ..core.markdown import write_document

        output.say(write_document(plan))
    elif desk.settings.style == "punchlist" or not (plan.items or plan.phases):
        output.show(render.lines(_titled(plan, whose), output.width(), output.glyphs(desk.settings)))
    else:
        from ..tui.styles import load as load_style
        from ..tui.styles import render as render_view
        from ..tui.view import View

        if whose:
            output.show([(render.Span(_titled(plan, whose).title, "dim"),)])
        view = View(plan, expanded=True, busy=False)
        style = load_style(desk.settings.style)
        output.show(render_view(view, style, output.width(), unicode=output.has_unicode(desk.settings)))
    if is_off and plan.id and not as_data:
        output.show([(render.Span(render.OFF, "dim"),)])
    if spent and (spent["reminder_tokens"] or spent["nudges"]) and not as_data:
        output.show([(render.Span(_cost(spent), "dim"),)])
    if elsewhere and not as_data:
        output.show([(render.Span("There are plans in other directories: punchlist plans", "dim"),)])
    return 0


def _titled(plan: Plan, whose: str) -> Plan:
    """A plan with a title that says whose it is."""
    return plan._replace(title=f"{plan.title or 'Plan'} ({whose})") if whose else plan


def _all(desk: Desk) -> Plan:
    from .history import with_departed

    return with_departed(desk)


def _spent(desk: Desk) -> dict[str, int]:
    """What reminders and nudges have cost the session that works from the plan; nothing, if no hook was ever heard."""
    bound = [] if desk.session else desk.store.sessions(desk.plan.id)
    pace = desk.of(*bound[-1]).pace if bound else desk.pace
    if pace == SessionState():
        return {}
    from ..desk.guidance import limits_of

    limits = limits_of(desk.settings, desk.settings.dialect)
    spent = {"reminder_tokens": pace.spent, "reminder_budget": limits.budget}
    return {**spent, "nudges": pace.nudges, "nudge_limit": limits.nudges}


def _cost(spent: dict[str, int]) -> str:
    budget = spent["reminder_budget"]
    of = f" of {budget}" if budget >= 0 else ""
    return f"reminders {spent['reminder_tokens']}{of} tokens, nudged {spent['nudges']} of {spent['nudge_limit']} times"


def _line(args: Namespace) -> int:
    if args.host:
        from .status_line import join

        return join(args, lambda: _in_one_line(args, unless_off=True)[1])
    plan, text = _in_one_line(args)
    data = {"line": text, "completed": plan.progress.completed, "total": plan.progress.total}
    text = text.replace("#", "##") if args.tmux else text
    return output.answer(args, data, text.replace("%", "%%") if args.zsh else text)


def _in_one_line(args: Namespace, *, unless_off: bool = False) -> tuple[Plan, str]:
    """The plan, and that in a line; in an agent's status line nothing is shown where the user has turned us off."""
    with _desk(args, find=lambda desk: shown.recall(desk).plan if shown.is_live(desk) else "") as desk:
        plan = Plan() if unless_off and desk.is_off else desk.working
        whose = shown.whose(desk, plan.id) if plan.items and not _is_named(args) else ""
    behind = f" ({whose})" if whose else ""
    room = max(min(output.width(), 60) - len(behind), 20)
    return plan, render.line(plan, output.glyphs(desk.settings), room) + behind


def _watch(args: Namespace) -> int:
    from .watch import follow

    settings = _settings(args)
    whose = None if _is_named(args) else shown.whose
    return follow(lambda: _desk(args, settings), settings, whose, is_json=getattr(args, "json", False))


# --- editing ---------------------------------------------------------------------------------------------------------


def _editing(edit: Callable[[Plan, Namespace], Plan]) -> Handler:
    """A command that applies one edit by the user and says what changed."""

    def handler(args: Namespace) -> int:
        with _own_desk(args) as desk:
            return _apply(desk, args, lambda plan: edit(plan, args))

    return handler


def _clear(args: Namespace) -> int:
    """Take everything off the plan."""
    require_user("clear")
    with _desk(args) as desk:
        before = desk.plan
        after = desk.clear()
        return output.answer(args, to_json(after), *difference(before, after))


def _apply(desk: Desk, args: Namespace, edit: Callable[[Plan], Plan]) -> int:
    """Make a change and say what it was."""
    seen: list[Plan] = []

    def noting(plan: Plan) -> Plan:
        seen.append(plan)
        after = edit(plan)
        if not caller().is_agent:
            return after
        from .agent_edit import guarded

        return guarded(desk, caller(), plan, after)

    after = desk.change(noting, by=caller().by)
    before = seen[-1]
    told = difference(before, after)
    if args.command == "move" and before != after:
        moved = ops.find(after, ops.resolve(before, args.id))
        told = [f"moved {moved.id} {quoted(moved.text)}."]
    return output.answer(args, to_json(after), *told)


def _ids(plan: Plan, args: Namespace) -> list[str]:
    numbers = [words.strip().removeprefix("#") for words in args.ids]
    ops.require(plan, [number for number in numbers if number.isascii() and number.isdigit()])
    return list(dict.fromkeys(ops.resolve(plan, words) for words in args.ids))


def _add(plan: Plan, args: Namespace) -> Plan:
    after = ops.resolve(plan, args.after) if args.after else ""
    fields = {} if args.phase is None else {"phase": args.phase}
    for text in args.texts:
        plan = ops.add(plan, text, after=after, **fields)
        after = str(plan.last_id) if after else ""
    return plan


def _start(args: Namespace) -> int:
    with _own_desk(args) as desk:
        return _apply(desk, args, lambda plan: _started(desk, plan, args))


def _started(desk: Desk, plan: Plan, args: Namespace) -> Plan:
    ids = _ids(plan, args)
    owners = [ops.find(plan, id).owner for id in ids]
    if len(set(owners)) < len(owners):
        raise Refused(f"start one item at a time, not {', '.join(ids)}; several only if they have different owners.")
    owner = ""
    if caller().is_agent:
        owner = desk.name
        plan = _without_others(desk, plan, ids)
    for id in ids:
        plan = ops.start(plan, id, owner=owner)
    return plan


def _without_others(desk: Desk, plan: Plan, ids: list[str]) -> Plan:
    """An agent starts nothing that the user or another agent closed, or that another agent works on. What an agent had
    begun that is not at work any more, is free."""
    from ..core.conflicts import Asked, rivals, spared, taken
    from ..desk.tool_call import ended_among

    asked = [Asked("start", id) for id in ids]
    ended = ended_among(desk, plan, rivals(asked, plan, agent=desk.name))
    kept = (
        spared(asked, plan, {}, agent=desk.name, final=True, ids=True),
        taken(asked, plan, agent=desk.name, ended=ended),
    )
    said = [line for one in kept if one.asked for line in one.said]
    if said:
        raise Refused("\n".join(said))
    return ops.released(plan, ids, ended)


def _move(plan: Plan, args: Namespace) -> Plan:
    after, before = (ops.resolve(plan, words) if words else "" for words in (args.after, args.before))
    return ops.move(plan, ops.resolve(plan, args.id), after=after, before=before, phase=args.phase)


def _note(plan: Plan, args: Namespace) -> Plan:
    return ops.note(plan, ops.resolve(plan, args.id), " ".join(args.text))


def _rename(plan: Plan, args: Namespace) -> Plan:
    return ops.rename(plan, ops.resolve(plan, args.id), " ".join(args.text))


def _edit(args: Namespace) -> int:
    from .editor import edited

    with _own_desk(args) as desk:
        return edited(desk, args.file, lambda edit: _apply(desk, args, edit))


# --- what was, and who works from what -------------------------------------------------------------------------------


def _past(name: str) -> Handler:
    """A command about the history of a plan."""

    def handler(args: Namespace) -> int:
        from . import history

        with (_own_desk if name in ("undo", "redo", "restore") else _desk)(args) as desk:
            if name in ("undo", "redo"):
                return history.step(desk, args, name)
            commands = {"log": history.log, "diff": history.compare, "restore": history.restore, "trim": history.trim}
            return commands[name](desk, args)

    return handler


def _conduct(name: str) -> Handler:
    """A command about how the agent may work, and what it is told."""

    def handler(args: Namespace) -> int:
        from . import control

        commands = {
            "mode": control.mode,
            "resume": control.resume,
            "stop": control.stop,
            "attach": control.attach,
            "remind": control.remind,
        }
        with (_own_desk if name in ("mode", "resume", "stop") else _desk)(args) as desk:
            return commands[name](desk, args)

    return handler


def _switch(args: Namespace) -> int:
    from .control import turn

    return turn(args)


def _plans(name: str) -> Handler:
    """A command about plans and sessions."""

    def handler(args: Namespace) -> int:
        from . import plans

        if name == "bind":
            args.plan = named(args, "plan")
            if args.next and getattr(args, "session", None):
                misuse(name, "--next goes without --session: the next session has no name yet")
            if not args.next and not (args.plan and named(args, "session")):
                misuse(name, "--session S and --plan ID are needed, or --next and --plan ID")
        commands = {"plans": plans.show, "bind": plans.bind, "carry": plans.carry, "use": plans.use}
        with _desk(args) as desk:
            return commands[name](desk, args)

    return handler


# --- other formats ---------------------------------------------------------------------------------------------------


def _import(args: Namespace) -> int:
    from .input import read

    data = read(args.file, args.format)
    with _own_desk(args) as desk:
        plan = desk.import_plan(data, args.format)
    words = f"plan {plan.id} now holds {counted(len(plan.items), 'item')}."
    return output.answer(args, {"plan": plan.id, "items": len(plan.items)}, words)


def _export(args: Namespace) -> int:
    with _desk(args) as desk:
        data = desk.export_plan(args.format)
    if isinstance(data, str):
        output.say(data)
    else:
        output.say_json(data)
    return 0


# --- as a model would ------------------------------------------------------------------------------------------------


def _calling(name: str) -> Handler:
    """A call, or what a model is shown."""

    def handler(args: Namespace) -> int:
        from . import as_model

        settings = _settings(args)
        commands = {"call": as_model.call, "tools": as_model.tools, "prompt": as_model.prompt}
        opened = _own_desk if name == "call" else _desk
        return commands[name](args, settings, lambda: opened(args, settings))

    return handler


# --- the rest --------------------------------------------------------------------------------------------------------


def _show_settings(args: Namespace) -> int:
    settings = _settings(args)
    values = {name: getattr(settings, name) for name in ABOUT}
    values["store"] = masked(settings.store)
    if getattr(args, "json", False):
        origins = settings.origins
        output.say_json({n: {"value": v, "origin": origins[n], "about": ABOUT[n].text} for n, v in values.items()})
    else:
        wide = max(map(len, values))
        for name, value in values.items():
            shown = str(value).lower() if isinstance(value, bool) else value
            shown = "as the dialect has it" if value == DIALECTS and settings.origins[name] == "default" else shown
            output.say(output.harmless(f"{name.ljust(wide)}  {shown}  ({settings.origins[name]})"))
    return 1 if settings.faults else 0


def _run_agent(args: Namespace) -> int:
    from .agent.run import run as run_agent

    return run_agent(args)


def _attaching(name: str) -> Handler:
    """A command about agents."""

    def handler(args: Namespace) -> int:
        from . import install

        return {"install": install.install, "uninstall": install.uninstall}[name](args)

    return handler


def _doctor(args: Namespace) -> int:
    from .doctor import examine

    return examine(args, load({"store": getattr(args, "store", None)}))


def _repair(args: Namespace) -> int:
    from .repair import repair

    return repair(args, _settings(args))


def _demo(args: Namespace) -> int:
    from .agent.demo import play

    return play(args)


def _hook(args: Namespace) -> int:
    from ..hosts import run

    return run(["hook", args.host])


def _mcp(args: Namespace) -> int:
    from ..mcp import run
    from . import hooked

    names = ("store", "dialect", "plan", "session", "agent")
    return run({name: getattr(args, name, None) or "" for name in names}, hooked)


# What an agent in its shell is refused: the user decides about these.
_FOR_USERS = {
    *("mode", "resume", "stop", "off", "on"),
    *("undo", "redo", "restore", "trim", "import", "rm"),
    *("bind", "carry"),
}

_HANDLERS: dict[str, Handler] = {
    "show": _show,
    "line": _line,
    "watch": _watch,
    "add": _editing(_add),
    "start": _start,
    "done": _editing(lambda plan, args: ops.complete(plan, *_ids(plan, args))),
    "drop": _editing(lambda plan, args: ops.drop(plan, *_ids(plan, args), why=args.why)),
    "block": _editing(lambda plan, args: ops.block(plan, *_ids(plan, args), why=args.why)),
    "unblock": _editing(lambda plan, args: ops.unblock(plan, *_ids(plan, args))),
    "rm": _editing(lambda plan, args: ops.remove(plan, *_ids(plan, args))),
    "clear": _clear,
    "move": _editing(_move),
    "note": _editing(_note),
    "rename": _editing(_rename),
    "pause": _editing(lambda plan, args: ops.pause(plan, " ".join(args.reason), Desk.now())),
    "off": _switch,
    "on": _switch,
    **{name: _conduct(name) for name in ("mode", "resume", "stop", "attach", "remind")},
    "edit": _edit,
    **{name: _past(name) for name in ("undo", "redo", "log", "diff", "restore", "trim")},
    **{name: _plans(name) for name in ("plans", "use", "bind", "carry")},
    "import": _import,
    "export": _export,
    **{name: _calling(name) for name in ("call", "tools", "prompt")},
    "settings": _show_settings,
    "run": _run_agent,
    **{name: _attaching(name) for name in ("install", "uninstall")},
    "repair": _repair,
    "doctor": _doctor,
    "demo": _demo,
    "hook": _hook,
    "mcp": _mcp,
}
