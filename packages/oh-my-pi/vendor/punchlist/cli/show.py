"""`punchlist show`: the plan, or one item in full."""

from __future__ import annotations

from ..core import render
from ..core._typing import Any
from ..core.codec import to_json
from ..core.model import Plan, SessionState
from ..desk import Desk
from ..desk.grade_labels import load_tails, start_labels, with_grades
from ..desk.holding import is_off
from ..desk.observations import with_calls
from ..desk.session_state import load_state
from ..desk.visible import visible
from ..local.settings import Settings
from . import output, terminal_plan
from .desk import is_named, open_desk, remember_shown
from .parser import Args


def show(args: Args) -> int:
    """Show the plan as it is now, or one item of it."""
    with open_desk(args) as desk:
        plan = visible(desk, desk.plan)
        unsaved = getattr(desk._seat.store, "unsaved", "")
        if unsaved:
            output.complain(unsaved)
        if args.all:
            from .history import with_cleared

            plan = with_cleared(desk)
        if plan.id and (args.json or args.markdown or args.item is not None):
            plan = with_calls(desk._seat.store, plan)
        if args.item is not None:
            from .item import show_item

            return show_item(desk, plan, args)
        is_drawn = not args.json and not args.markdown
        if is_drawn:
            labels = start_labels(desk, plan)
        remember_shown(desk, args, in_full=True)
        spent: dict[str, int] = {}
        notices: dict[str, Any] = {}
        whose = hint = ""
        if plan.id:
            spent = _spent(desk)
            whose = _whose(desk, plan, args)
            if is_drawn:
                notices = {**_notices(desk, plan), "labels": labels()}
        elif not is_named(args) and desk._seat.store.plans(1):
            hint = "There are plans in other directories: punchlist plans"
        if args.json:
            data = with_grades(desk, plan, to_json(plan))
            if spent:
                data["session"] = spent
            output.say_json(data)
            return 0
        if args.markdown:
            from ..core.diff import without_calls
            from ..core.markdown import write_document

            output.say(write_document(without_calls(plan)[0], load_tails(desk, plan)))
            return 0
    output.show(draw(desk.settings, plan, whose, **notices))
    if spent and (spent["reminder_tokens"] or spent["nudges"]):
        hint = _cost(spent)
    if hint:
        output.show([(render.Span(hint, "dim"),)])
    return 0


def _whose(desk: Desk, plan: Plan, args: Args) -> str:
    if is_named(args):
        return ""
    return terminal_plan.whose(desk, plan.id)


def _notices(desk: Desk, plan: Plan) -> dict[str, Any]:
    """Return what there is to say of the agent that works from the plan, as parameters of `render.notices`."""
    from ..desk import activity

    worker = activity.session_desk(desk, plan)
    quiet = ""
    if plan.active is not None:  # otherwise nobody is at work, and what happened is not read
        heard = activity.last_heard(desk, plan)
        quiet = activity.silence(plan, heard, activity.stopped_at(plan.id, heard))
    return {"off": is_off(worker), "nudges": not load_state(worker).stopped, "quiet": quiet}


def draw(settings: Settings, plan: Plan, whose: str = "", **notices: Any) -> list[render.Line]:
    """Return the plan as the chosen style draws it. `whose` says who works from it; the notices are those of
    `render.notices`."""
    titled = plan
    if whose:
        titled = plan._replace(title=f"{plan.title or 'Plan'} ({whose})")
    if settings.style == "punchlist" or not (plan.items or plan.phases):
        return render.lines(titled, output.width(), output.glyphs(settings), **notices)
    from ..tui.styles import load as load_style
    from ..tui.styles import render as render_view
    from ..tui.view import View

    view = View(plan, expanded=True, busy=False, **notices)
    lines = render_view(view, load_style(settings.style), output.width(), unicode=output.has_unicode(settings))
    if whose:
        return [(render.Span(titled.title, "dim"),), *lines]
    return list(lines)


def _spent(desk: Desk) -> dict[str, int]:
    """Return what reminders and nudges have cost the session that works from the plan; nothing if no hook ever ran."""
    from ..desk.activity import session_desk

    state = load_state(session_desk(desk, desk.plan))
    if state == SessionState():
        return {}
    from ..desk.nudges import limits_of

    limits = limits_of(desk.settings, desk._seat.guide)
    spent = {"reminder_tokens": state.spent, "reminder_budget": limits.budget}
    return {**spent, "nudges": state.nudges, "nudge_limit": limits.nudges}


def _cost(spent: dict[str, int]) -> str:
    budget = spent["reminder_budget"]
    of = f" of {budget}" if budget >= 0 else ""
    return f"reminders {spent['reminder_tokens']}{of} tokens, nudged {spent['nudges']} of {spent['nudge_limit']} times"
