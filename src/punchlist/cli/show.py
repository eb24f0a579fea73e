"""`punchlist show`: the plan, or one item in full."""

from __future__ import annotations

from ..core import render
from ..core.codec import to_json
from ..core.model import Plan, SessionState
from ..desk import Desk
from . import output, terminal_plan
from .desk import is_named, open_desk, remember_shown
from .parser import Args


def show(args: Args) -> int:
    """Show the plan as it is now, or one item of it."""
    with open_desk(args) as desk:
        plan = _everything(desk) if args.all else desk.visible()
        if plan.id and (args.json or args.markdown or args.item is not None):
            plan = desk.with_calls(plan)
        if args.item is not None:
            from .item import show_item

            return show_item(desk, plan, args)
        spent = _spent(desk) if plan.id else {}
        remember_shown(desk, args, in_full=True)
        names_plan = is_named(args)
        whose = terminal_plan.whose(desk, plan.id) if plan.id and not names_plan else ""
        is_elsewhere = not plan.id and not names_plan and bool(desk.store.plans(1))
        is_off = desk.is_off
    if args.json:
        output.say_json({**to_json(plan), **({"session": spent} if spent else {})})
        return 0
    if args.markdown:
        from ..core.markdown import write_document

        output.say(write_document(plan))
        return 0
    output.show(_lines(desk, plan, whose))
    if is_off and plan.id:
        output.show([(render.Span(render.OFF, "dim"),)])
    if spent and (spent["reminder_tokens"] or spent["nudges"]):
        output.show([(render.Span(_cost(spent), "dim"),)])
    if is_elsewhere:
        output.show([(render.Span("There are plans in other directories: punchlist plans", "dim"),)])
    return 0


def _lines(desk: Desk, plan: Plan, whose: str) -> list[render.Line]:
    """Return the plan as the chosen style draws it; `whose` says who works from it."""
    titled = plan._replace(title=f"{plan.title or 'Plan'} ({whose})") if whose else plan
    if desk.settings.style == "punchlist" or not (plan.items or plan.phases):
        return render.lines(titled, output.width(), output.glyphs(desk.settings))
    from ..tui.styles import load as load_style
    from ..tui.styles import render as render_view
    from ..tui.view import View

    view = View(plan, expanded=True, busy=False)
    style = load_style(desk.settings.style)
    lines = render_view(view, style, output.width(), unicode=output.has_unicode(desk.settings))
    return [(render.Span(titled.title, "dim"),), *lines] if whose else list(lines)


def _everything(desk: Desk) -> Plan:
    from .history import with_departed

    return with_departed(desk)


def _spent(desk: Desk) -> dict[str, int]:
    """Return what reminders and nudges have cost the session that works from the plan; nothing if no hook ever ran."""
    bound = [] if desk.session else desk.store.sessions(desk.plan.id)
    state = desk.for_session(*bound[-1]).state if bound else desk.state
    if state == SessionState():
        return {}
    from ..desk.guidance import limits_of

    limits = limits_of(desk.settings, desk.guide)
    spent = {"reminder_tokens": state.spent, "reminder_budget": limits.budget}
    return {**spent, "nudges": state.nudges, "nudge_limit": limits.nudges}


def _cost(spent: dict[str, int]) -> str:
    budget = spent["reminder_budget"]
    of = f" of {budget}" if budget >= 0 else ""
    return f"reminders {spent['reminder_tokens']}{of} tokens, nudged {spent['nudges']} of {spent['nudge_limit']} times"
