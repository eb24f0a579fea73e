"""The shell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...core.model import MAIN
from ...core.text import counted
from ...desk.nudges import note_refusal
from ...local import session_links
from ...prompts import say
from ..context import Context
from ..credentials import without_keys
from ..events import Question
from ..sessions import absolute
from . import COUNT, WORDS, Answer, Tool, form
from .outside import outside
from .process import Ran, run

_LONGEST = 1800  # seconds


def tools() -> list[Tool]:
    about = say("agent.shell")
    return [Tool("shell", about, form({"command": WORDS}, seconds=COUNT), _shell)]


def _shell(context: Context, args: Mapping[str, Any]) -> Answer:
    command = args["command"]
    if "\0" in command:
        return Answer("command must not hold a NUL character.", True)
    refusal = _refusal(context, command)
    if refusal:
        note_refusal(context.desk)
        return Answer(refusal, True)
    session_links.link(
        session_links.process_key(os.getpid()), session_links.AgentRef(context.desk.session, MAIN, "punchlist")
    )  # whatever is unset there
    seconds = min(args.get("seconds", context.bounds.seconds), _LONGEST)
    ran = run(
        ["/bin/sh", "-c", command],
        folder=context.folder,
        stop=context.stop,
        seconds=seconds,
        most=context.bounds.output,
        env=_environ(context),
    )
    output, end = ran.output.rstrip("\n"), _end(ran, seconds)
    text = f"({end})"
    if output:
        text = f"{output}\n{text}"
    return Answer(text, ran.late or ran.stopped or ran.code != 0, details=_details(ran))


def _refusal(context: Context, command: str) -> str:
    """Why a command is not run: the user was asked, and did not allow it, or nobody was there to ask."""
    if context.confirm_shell == "never":
        return ""
    if context.confirm_shell == "always":
        answer = context.ask(Question("allow", "run this command?", ("yes", "no"), command))
        if answer == "yes":
            return ""
        return "the user did not allow this command."
    if command in context.allowed.commands:
        why = ""
    else:
        why = outside(command, context.folder)
    if not why:
        return ""
    answer = context.ask(Question("allow", f"run this command? {why[0].upper()}{why[1:]}.", ("yes", "no"), command))
    if answer == "yes":
        context.allowed.commands.add(command)
        return ""
    if answer:
        return f"the user did not allow this command: {why}."
    advice = f"Stay inside {context.folder}, or say what the user should run."
    return f"not run: {why}, and nobody is here to allow it. {advice}"


def _environ(context: Context) -> dict[str, str]:
    """Whoever types `punchlist` in this shell is the agent, and works from its own plan, in the same store."""
    own = {
        "PUNCHLIST_SESSION": context.desk.session,
        "PUNCHLIST_AGENT": context.agent,
        "PUNCHLIST_BY": context.agent,
        "PUNCHLIST_STORE": absolute(context.desk.settings.store),
        "PUNCHLIST_DIALECT": context.desk._seat.dialect_name,
    }
    known = without_keys(os.environ, context.desk.settings.model)
    known.pop("PUNCHLIST_PLAN", None)
    return {**known, **own}


def _details(ran: Ran) -> dict[str, Any]:
    """How a command ended, for the desk."""
    found: dict[str, Any] = {"seconds": ran.seconds}
    if ran.stopped:
        found["no_exit"] = "it was interrupted"
    elif ran.late:
        found["no_exit"] = "it timed out"
    elif ran.code < 0:
        found["no_exit"] = "it was killed"
    else:
        found["exit"] = ran.code
    return found


def _end(ran: Ran, seconds: int) -> str:
    if ran.stopped:
        return "interrupted: the user stopped this turn while the command ran; what it did until then is done"
    if ran.late:
        return f"ended after {counted(seconds, 'second')}: it took too long"
    return f"exit code {ran.code}"
