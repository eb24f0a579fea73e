"""`punchlist run`: the agent at work in a terminal, or in a pipe."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock, current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from ...agent import sessions
from ...agent.context import Allowed, Bounds, Context
from ...agent.events import Event, Interrupt, Planned, Question, TurnEnded
from ...agent.loop import work
from ...agent.messages import Assistant
from ...agent.models import Model, model_name, open_model
from ...agent.subagents import Subagents
from ...agent.transcript import Transcript
from ...core.cells import wrapped
from ...core.codec import to_json
from ...core.errors import Refused
from ...core.model import MAIN
from ...core.render import Line, Span
from ...desk import Desk, desk_for
from ...desk.grade_labels import with_grades
from ...hosts.first_plan import adopt
from ...local.settings import Settings, load, place, state_folder
from ...tui.styles import PATHS as STYLES
from ...tui.styles import load as load_style
from .. import output
from ..desk import named, plan_named
from ..parser import Args
from . import slash
from .output import Console, Plain, parse_answer, question_lines

if TYPE_CHECKING:
    from ...tui.panel import Panel

_CODES = {"done": 0, "waiting": 0, "paused": 0, "stopped": 130, "limit": 1, "failed": 1}
_FLAGS = ("store", "dialect", "model", "base_url", "style", "confirm_shell")


_ABOUT_SHELL = {  # said once, when the agent starts for the first time
    "outside": "The agent asks you before shell commands that could change something outside this folder; tests, builds"
    ' and scripts of the project run as they are. confirm_shell = "always" or "never" in your punchlist.toml changes'
    " that, or --confirm-shell.",
    "always": 'The agent asks you before every shell command, because confirm_shell is "always".',
    "never": 'The agent runs shell commands without asking, because confirm_shell is "never".',
}


class Session(NamedTuple):
    """An agent with its conversation, ready to work."""

    context: Context
    said: Transcript
    console: Console
    quiet: bool = False  # whether nothing of what it does is shown
    talks: bool = False  # whether the user is asked for more words when it stops


def run(args: Args) -> int:
    """Run the agent on a prompt; without one, start a conversation."""
    prompt = " ".join(args.prompt) or ("" if sys.stdin.isatty() else sys.stdin.read().strip())
    settings = _settings(args)
    for problem in settings.problems:
        output.complain(problem)
    if slash.is_command(prompt):
        return _obey(settings, args, prompt)
    if not prompt and not sys.stdin.isatty():
        raise Refused("say what to do: punchlist run 'fix the tests'")
    folder = os.path.realpath(os.getcwd())
    if _is_watched(args) and sessions.is_first(state_folder(os.environ)):
        about = _ABOUT_SHELL[settings.confirm_shell]
        output.show([(Span(row, "dim"),) for row in wrapped(about, output.width())])
    model = open_model(settings.model, settings.base_url)
    with open_session(settings, _transcript(args, settings, folder), model, folder, quiet=args.json) as session:
        if plan := plan_named(args):
            _bind(session.context.desk, plan)
        is_prepared = not session.said.messages and adopt(session.context.desk, "", is_told=True)
        sessions.welcome(session.context, session.said, goes_on=is_prepared)
        if prompt:
            return _once(session, prompt, args.json)
        from .repl import talk

        return talk(session._replace(talks=True))


def _is_watched(args: Args) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not args.json


def _settings(args: Args) -> Settings:
    """Return the settings; those that a continued session was started with, unless a flag says otherwise."""
    flags = {name: getattr(args, name) for name in _FLAGS}
    flags["plain"] = args.plain or None
    flags["continuation"] = "until-done" if args.until_done else None
    id = _session_meant(args)
    if id:
        kept = sessions.kept_settings(state_folder(os.environ), id, load(flags))
        flags = {**kept, **{name: value for name, value in flags.items() if value is not None}}
    return _with_style(load(flags))


def _with_style(settings: Settings) -> Settings:
    """Return the settings with the style of the dialect's own agent, unless a style is set."""
    is_named = settings.origins.get("style", "default") != "default"
    if is_named or settings.dialect not in STYLES:
        return settings
    return settings._replace(style=settings.dialect)


@contextmanager
def open_session(
    settings: Settings,
    said: Transcript,
    model: Model,
    folder: str,
    *,
    quiet: bool = False,
    bounds: Bounds | None = None,
) -> Iterator[Session]:
    """Open everything that a session needs; it is closed at the end, whatever fails."""
    bounds = bounds or Bounds(context=settings.context, turns=settings.turns)
    glyphs = output.glyphs(settings)
    console = Console(Plain(output.show, glyphs), output.width, glyphs, load_style(settings.style))
    with ExitStack() as ends:
        ends.callback(model.close)
        ends.callback(said.close)
        desk = ends.enter_context(
            desk_for(settings, session=str(said.head["id"]), place=place(folder), model=model_name(settings.model))
        )
        stop, subagents = Interrupt(), Subagents(bounds.workers)
        ends.callback(subagents.shut_down)
        ends.callback(stop.ask)
        context = Context(
            folder=folder,
            state=state_folder(os.environ),
            desk=desk,
            model=model,
            tell=_silent if quiet else console.tell,
            ask=asker(console.say, stop),
            stop=stop,
            allowed=Allowed(),
            subagents=subagents,
            bounds=bounds,
            confirm_shell=settings.confirm_shell,
        )
        yield Session(context, said, console, quiet)


def _transcript(args: Args, settings: Settings, folder: str) -> Transcript:
    """Return the transcript of the session: continued, or new."""
    state = state_folder(os.environ)
    before = _session_meant(args)
    if before:
        return sessions.reopen(state, before)
    id = named(args, "session") or sessions.new_id()
    return sessions.begin(state, place(folder), id, **sessions.settings_to_keep(settings))


def _session_meant(args: Args) -> str:
    """Return the session to continue; empty for a new one."""
    state = state_folder(os.environ)
    if args.resume:
        return sessions.find(state, args.resume)
    if getattr(args, "continue"):
        return sessions.latest(state, place())
    return ""


def _bind(desk: Desk, plan: str) -> None:
    """Make the session work from an existing plan."""
    named = Desk(desk._seat.store, plan=plan, settings=desk.settings, dialect=desk.dialect, place=place())
    from ...desk.transfer import hand_over

    hand_over(named, desk.session)


# --- one prompt ------------------------------------------------------------------------------------------------------


def _once(session: Session, prompt: str, as_json: bool) -> int:
    if session.context.desk.plan.items:
        session.context.tell(Planned(MAIN, session.context.desk.plan))
    from .repl import run_until_quiet

    end = run_until_quiet(session, prompt)
    plan = session.context.desk.plan
    id = session.context.desk.session
    if as_json:
        said = (one.text for one in reversed(session.said.messages) if isinstance(one, Assistant))
        text = next(said, "")
        graded = with_grades(session.context.desk, plan, to_json(plan))
        output.say_json({"session": id, "why": end.why, "reason": end.text, "text": text, "plan": graded})
    elif end.why != "done":
        output.say(f"to continue: {resume_command(id, 'go on')}")
    return _CODES[end.why]


def resume_command(session: str, *prompt: str) -> str:
    """Return the command that continues a session, ready to be pasted into a shell."""
    return shlex.join(["punchlist", "run", "--resume", session, *prompt])


def run_turn(session: Session, prompt: str, obey: Callable[[str], bool] | None = None) -> TurnEnded:
    """Run one prompt until the agent stops. Ctrl+C stops it; a second one leaves at once. What is typed meanwhile is
    given to `obey`, and queued if that returns false; without `obey` the keyboard is not read."""
    with _stoppable(session.context.stop):
        panel = panel_of(session)
        if panel is None and not session.quiet:
            return work(_with_labels(session), session.said, prompt)
        if panel is None:
            return work(session.context, session.said, prompt)
        from .panel import LivePanel

        desk, stop = session.context.desk, session.context.stop
        own = desk.for_session(desk.session)
        front = LivePanel(panel, session.console, stop, asker(output.show, stop), obey, own, keep=not session.talks)
        is_set = session.context.desk.settings.origins.get("interactive", "default") != "default"
        context = session.context._replace(
            ask=front.ask,
            is_spoken_to=lambda: bool(session.console.queued),
            interactive=None if is_set else True,
        )
        return front.run(lambda: work(context, session.said, prompt))


def _with_labels(session: Session) -> Context:
    """The context of a session without a panel: what checks say is told between the events."""
    from .grade_labels import telling_labels

    context = session.context
    own = context.desk.for_session(context.desk.session)
    return context._replace(tell=telling_labels(own, context.tell, session.console.say))


def panel_of(session: Session) -> Panel | None:
    """Return the panel, if there is a terminal that can show one."""
    if not sys.stdout.isatty() or session.quiet:
        return None
    from .panel import panel_for

    desk = session.context.desk
    return panel_for(desk.for_session(desk.session), session.console)


@contextmanager
def _stoppable(stop: Interrupt) -> Iterator[None]:
    def interrupt(number: int, frame: FrameType | None) -> None:
        if stop.asked or number != signal.SIGINT:
            stop.ask()
            raise KeyboardInterrupt
        stop.ask()

    stop.forget()
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _obey(settings: Settings, args: Args, line: str) -> int:
    """Run a command of a session from outside of it."""
    session = _session_meant(args) or named(args, "session")
    with desk_for(settings, session=session, plan=plan_named(args), place=place()) as desk, suppress(EOFError):
        output.show(slash.run_command(desk, line, output.width(), output.glyphs(desk.settings)))
    return 0


# --- what the agent asks and tells -----------------------------------------------------------------------------------


def asker(show: Callable[[list[Line]], None], stop: Interrupt) -> Callable[[Question], str]:
    """Return a function that asks the user, one question at a time. In a pipe every answer is empty."""
    turn = Lock()

    def ask(question: Question) -> str:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return ""
        with turn:
            show(question_lines(question, output.width(), output.glyphs()))
            return parse_answer(question, _answer(stop))

    return ask


def _answer(stop: Interrupt) -> str:
    """Return what is typed. Ctrl+C is not an answer: it stops the turn."""
    is_main = current_thread() is main_thread()
    if is_main:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
    else:
        before = None
    try:
        return input("? ")
    except (EOFError, KeyboardInterrupt) as end:
        output.show([()])
        if isinstance(end, KeyboardInterrupt):
            stop.ask()
        return ""
    finally:
        if is_main:
            signal.signal(signal.SIGINT, before)


def _silent(event: Event) -> None:
    pass
