"""Turning to the user: a question, and the way into and out of plan mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.ops import set_mode
from ...core.text import block, cut
from ...desk.plan_mode import approve, plan_file, read_plan_file
from ...desk.quiet import end_quiet, enter_quiet, quiet_text
from ...desk.session_state import update_state
from ...prompts import say
from ..context import Context
from ..events import Planned, Question
from . import FLAG, TEXT, WORDS, Answer, Tool, form

_NOBODY = "nobody is there to answer; decide yourself, and say what you decided."
_LONG = 20_000  # characters of a plan that is shown


def tools() -> list[Tool]:
    choices: dict[str, Any] = {"type": "array", "items": WORDS, "maxItems": 9}
    return [
        Tool(
            "ask",
            "Ask the user something only they can know. `choices` are answers to pick from.",
            form({"question": WORDS}, choices=choices),
            _ask,
            read_only=True,
        ),
        Tool(
            "enter_plan_mode",
            "Propose to explore and write a plan before anything is changed. The user confirms.",
            form({}, why=TEXT),
            _enter,
            read_only=True,
        ),
        Tool(
            "exit_plan_mode",
            "Hand the plan file to the user for approval, and begin the work once they have given it.",
            form({}),
            _exit,
            ends_planning=True,
        ),
        Tool(
            "quiet",
            "Call it before you commit or open a pull request: the plan and sub-agents are away until that is over. "
            "`over` ends it; so does the end of your turn.",
            form({}, over=FLAG),
            _quiet,
            read_only=True,
        ),
    ]


def _ask(context: Context, args: Mapping[str, Any]) -> Answer:
    answer = context.ask(Question("ask", block(args["question"]), tuple(map(block, args.get("choices", ())))))
    return Answer(answer or _NOBODY, not answer)


def _enter(context: Context, args: Mapping[str, Any]) -> Answer:
    if context.desk.plan.mode == "plan":
        return Answer("plan mode is on already.")
    question = Question("enter", "the agent would like to plan before it acts. Let it?", ("yes", "no"), _why(args))
    answer = context.ask(question)
    if answer != "yes":
        return Answer(f"the user did not confirm plan mode{_words(answer)}; go on as before.", True)
    if context.desk.plan.id:
        plan_file(context.desk.plan)  # refused before anything is changed
    plan = context.desk.change(lambda plan: set_mode(plan, "plan"), by=context.agent).plan
    update_state(context.desk, lambda state: state._replace(planning=1))  # the answer tells it
    context.tell(Planned(context.agent, plan))
    file = plan_file(plan)
    return Answer(say("plan-mode", file=file), display=f"the plan goes to {file}")


def _exit(context: Context, args: Mapping[str, Any]) -> Answer:
    if context.desk.plan.mode != "plan":
        return Answer("plan mode is not on.", True)
    text = read_plan_file(context.desk)
    if not text.strip():
        return Answer(f"there is no plan yet: write it to {context.plan_file} first.", True)
    answer = context.ask(Question("approve", "go on with this plan?", ("yes", "no"), cut(block(text), _LONG)))
    if answer != "yes":
        return Answer(f"the user did not approve the plan{_words(answer)}; plan mode stays on.", True)
    context.tell(Planned(context.agent, approve(context.desk, text).plan))
    return Answer(f"the user approved the plan. It is kept in {context.plan_file}. Plan mode is off: begin.")


def _quiet(context: Context, args: Mapping[str, Any]) -> Answer:
    """Enter or leave the quiet context around a commit. It is the agent's own, and ends with its turn."""
    before = context.desk.plan
    if args.get("over"):
        plan = end_quiet(context.desk)
        if plan.mode == "quiet":
            return Answer("the user switched to quiet mode; only the user ends it.", True)
        words = shown = "the plan is there again."
    elif before.mode == "plan":
        return Answer("plan mode is on: nothing is committed yet.", True)
    else:
        plan = enter_quiet(context.desk)
        words, shown = quiet_text(context.desk), "the plan and sub-agents are away until the commit is made."
    if plan.revision != before.revision:
        context.tell(Planned(context.agent, plan))
    return Answer(words, display=shown)


def _why(args: Mapping[str, Any]) -> str:
    return block(str(args.get("why", "")))


def _words(answer: str) -> str:
    if answer not in ("", "no"):
        return f": {cut(block(answer), 2000)}"
    return ""
