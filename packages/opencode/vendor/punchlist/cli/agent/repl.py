"""A conversation: prompt after prompt, commands, and what is typed while the agent works."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ...agent.events import Planned, TurnEnded
from ...core.errors import PunchlistError, StoreError
from ...core.model import MAIN
from ...core.render import Span
from ...desk import Desk
from ...desk.grade_labels import load_labels
from ...desk.holding import held_back, release
from .. import output
from ..show import draw
from . import prompt, slash
from .output import last_exchange
from .run import Session, panel_of, resume_command, run_turn

if TYPE_CHECKING:
    from ...tui.panel import Panel

_TWICE = 2.0  # seconds in which a second Ctrl+C belongs to the first
_LOOK = 0.3  # seconds between looks at whether a pause is over
_GO_ON = "go on"  # what the end of a pause says to the agent
_LEAVE = "Ctrl+C again leaves, and so does /quit."


def talk(session: Session) -> int:
    """Read and run one line after another, until the user leaves."""
    with suppress(ImportError):
        import readline  # noqa: F401  # gives input() its editing and its memory
    output.say(f"session {session.context.desk.session}. Say what to do; /help lists the commands.")
    _recall(session)
    try:
        while _turn(session) or _turn(session, warned=True):
            pass
    except (EOFError, KeyboardInterrupt):
        pass
    output.say(f"to continue: {resume_command(session.context.desk.session)}")
    return 0


def run_until_quiet(session: Session, prompt: str) -> TurnEnded:
    """Run a prompt, then what was typed while the agent worked, until it stops with nothing left to read."""
    console = session.console
    end = _work(session, prompt)
    with suppress(EOFError):
        while console.queued and not session.context.stop.asked:
            end = _take(session, _take_queued(session)) or end
    if unsaid := [*console.queued, *filter(None, [console.draft.strip()])]:
        output.say(f"not sent: {' '.join(unsaid)}")
    return end


def _recall(session: Session) -> None:
    """Show where a continued conversation is: what was said last, and the plan unless a panel shows it."""
    glyphs = output.glyphs(session.context.desk.settings)
    output.show(last_exchange(session.said.messages, output.width(), glyphs))
    plan = session.context.desk.plan
    if plan.items:
        session.console.know(plan)
        if panel_of(session) is None:
            desk = session.context.desk
            output.show(draw(desk.settings, plan, labels=load_labels(desk, plan)))


def _turn(session: Session, *, warned: bool = False) -> bool:
    """Read and run one line; return false for a Ctrl+C at the prompt. A second one in a row leaves; one that stopped
    the agent just before counts as the first."""
    if warned:
        output.say(_LEAVE)
    try:
        line = _next(session).strip()
    except (EOFError, KeyboardInterrupt) as end:
        output.show([()])  # whatever comes next begins a line of its own
        if warned or isinstance(end, EOFError) or session.context.stop.is_recent(_TWICE):
            raise
        return False
    if line:
        _take(session, line)
    return True


def _next(session: Session) -> str:
    """Return what was typed while the agent worked, else what is typed now. After a stop, the queued words are in the
    prompt again, and can be changed."""
    console = session.console
    if console.queued and not session.context.stop.asked:
        return _take_queued(session)
    draft, console.draft = " ".join(filter(None, [*console.queued, console.draft])), ""
    console.queued.clear()
    is_resumed = _until_resumed(session)
    panel = panel_of(session)
    if panel is not None:
        return _ask(session, panel, draft, is_resumed)
    if is_resumed is None or draft:
        return _read_line(draft)
    return _read_while_paused(is_resumed)


def _ask(session: Session, panel: Panel, draft: str, is_resumed: Callable[[], bool] | None) -> str:
    """Return a line from the prompt below the panel, or "go on" as soon as a pause is over."""
    desk = session.context.desk
    until = is_resumed or (lambda: False)
    line = prompt.ask(panel, desk.for_session(desk.session), session.console, draft, until)
    words = _GO_ON if line is None else line
    output.show([(Span(f"> {output.glyphs(desk.settings).said(words)}"),)])
    return words


def _take_queued(session: Session) -> str:
    line = session.console.queued.pop(0)
    output.show([(Span(f"> {output.glyphs(session.context.desk.settings).said(line)}"),)])
    return line


def _is_paused(desk: Desk) -> bool:
    """Return whether the agent is paused, also by a pause that could not be saved."""
    return bool(held_back(desk) or desk.plan.paused)


def _until_resumed(session: Session) -> Callable[[], bool] | None:
    """Return a function that says whether the pause has ended; None if the agent is not paused."""
    desk = session.context.desk.for_session(session.context.desk.session)
    with suppress(StoreError):
        if _is_paused(desk):
            return partial(_is_resumed, desk)
    return None


def _is_resumed(desk: Desk) -> bool:
    try:
        return not _is_paused(desk)
    except StoreError:  # it does not answer now, and is asked again
        return False


def _read_while_paused(is_resumed: Callable[[], bool]) -> str:
    """Return a line from the prompt, or "go on" as soon as the pause is over. It is read with the terminal's own line
    editing: readline cannot be interrupted."""
    sys.stdout.write("> ")
    sys.stdout.flush()
    while not select.select([sys.stdin], [], [], _LOOK)[0]:
        if is_resumed():
            sys.stdout.write(f"{_GO_ON}\n")
            return _GO_ON
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _read_line(draft: str) -> str:
    """Return a line from the prompt, which begins with a draft."""
    readline = sys.modules.get("readline")
    if not draft or readline is None:
        output.say(f"not sent: {draft}" if draft else "")
        return input("> ")
    readline.set_startup_hook(lambda: readline.insert_text(draft))
    try:
        return input("> ")
    finally:
        readline.set_startup_hook(None)


def _take(session: Session, line: str) -> TurnEnded | None:
    """Run one line: a command, or a prompt for the agent."""
    if not slash.is_command(line):
        return _work(session, line)
    desk = session.context.desk
    was_paused = _is_paused(desk)
    try:
        if line.split()[0] == "/resume":
            release(desk)
        _obey(session, desk, line)
    except PunchlistError as error:
        output.complain(str(error))
    if was_paused and not _is_paused(desk):
        return _work(session, _GO_ON)
    return None


def _work(session: Session, prompt: str) -> TurnEnded:
    stop = session.context.stop
    end = run_turn(session, prompt, partial(_run_now, session))
    if stop.asked:  # a command may take a moment to end: the one for a second Ctrl+C begins now
        stop.ask()
    return end


def _run_now(session: Session, line: str) -> bool:
    """Run a line that was typed while the agent works, and return whether it could be: a command that needs neither the
    terminal nor a stopped agent."""
    if not slash.is_command(line) or slash.has_to_wait(line):
        return False
    desk = session.context.desk
    try:
        _obey(session, desk.for_session(desk.session), line)  # the agent's own desk belongs to its thread
    except PunchlistError as error:
        session.console.note(str(error), "bad")
    return True


def _obey(session: Session, desk: Desk, line: str) -> None:
    before = desk.plan
    session.console.interject(slash.run_command(desk, line, output.width(), output.glyphs(desk.settings)))
    plan = desk.plan
    if plan.items != before.items or plan.phases != before.phases:
        session.said.note_edit(plan)
    if session.console.on_change is None and panel_of(session) is None:
        session.context.tell(Planned(MAIN, plan))
    else:
        session.console.know(plan)  # the panel shows it
