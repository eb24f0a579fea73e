"""`punchlist demo`: the reference agent on a scratch project, its model played by a script.

Everything but the model is real: the loop, the tools, the tests that fail and pass, the sub-agent, the user's edit from
another process, the compaction, the nudge. It proves at the end that what it showed is so.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from ...agent import sessions
from ...agent.context import Bounds
from ...agent.events import Answered, Event, TurnEnded
from ...agent.scripted import ScriptPlayer
from ...core import ops
from ...core.errors import Refused
from ...core.grades import PASSED, REPORTED, VERIFIED, Grade
from ...core.model import Plan
from ...core.render import Span
from ...desk.evidence import graded
from ...local import session_links
from ...local.settings import DEFAULT_DIALECT, Settings, load, place, state_folder
from .. import output
from ..parser import Args
from .run import Session, open_session, run_turn

_PROMPT = "The tests of this project fail. Fix the code, not the tests."
_EDIT = "Refuse to split among nobody"
_CONTEXT = 20_000  # tokens, so that even a short conversation is compacted
_MONEY = '''\
"""Amounts of money, in cents."""


def parse(text):
    """Cents from a text such as 12.50."""
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part or 0)


def split(cents, people):
    """What each of so many people pays."""
    return [cents // people] * people


def show(cents):
    """Cents as a text such as 12.50."""
    return f"{cents / 100}"
'''
_TESTS = """\
import unittest

import money


class MoneyTest(unittest.TestCase):
    def test_whole_amounts_are_known(self):
        self.assertEqual(money.parse("12"), 1200)

    def test_one_digit_of_cents_can_be_read(self):
        self.assertEqual(money.parse("12.5"), 1250)

    def test_cents_that_cannot_be_shared_are_not_lost(self):
        self.assertEqual(sum(money.split(100, 3)), 100)

    def test_amounts_are_shown_with_two_digits(self):
        self.assertEqual(money.show(1250), "12.50")
"""
_SHOWN = (
    "a plan, made and worked off; each step recorded with the tools it took",
    "a step that failed and was done again",
    "a check that you approved: seen to pass, outdated by a later edit, verified again at the end",
    "a sub-agent with a plan of its own, alongside",
    "your edit, made in another process, told to the agent once, and done",
    "a conversation compacted, and the plan still there",
    "an agent that stopped early, and was nudged",
    "the project's tests: red before, green now",
)
_END = """
That was the agent, on a script instead of a model. Everything else was real:
{shown}

{count}

Look at it:
{look}

Your turn, with a model of your own:
{turn}
"""
_MEANINGS = {VERIFIED: "verified", PASSED: "passed its own check", REPORTED: "reported"}
_APPROVED, _LAST = "2", "5"  # the items with checks: one that the user approves, and one of the agent's own
_PATIENCE = 10.0  # seconds for a look at the files of the project
_KEY = "ANTHROPIC_API_KEY"


def demo(args: Args) -> int:
    """Play the demo; 0 if everything it shows came true."""
    settings = load(
        {"dialect": DEFAULT_DIALECT, **{name: getattr(args, name) or None for name in ("store", "style", "plain")}}
    )
    folder = os.path.realpath(tempfile.mkdtemp(prefix="punchlist-demo-"))
    _make(folder)
    name, install, quiet = _name(), _install(), args.json
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    model = ScriptPlayer(script(fast=args.fast), "the demo")
    said = sessions.begin(
        state_folder(os.environ), place(folder), sessions.new_id(), model="demo", dialect=DEFAULT_DIALECT
    )
    settings = settings._replace(continuation=True, off=False)
    with open_session(settings, said, model, folder, quiet=quiet, bounds=Bounds(context=_CONTEXT)) as session:
        if not quiet:
            begin = (Span(f"A scratch project in {folder}, with tests that fail."),)
            output.show([begin, (Span(f"> {_PROMPT}", "bold"),)])
        end = run_turn(_with_user(session, settings), _PROMPT)
        plan = session.context.desk.plan
        grades = graded(session.context.desk, plan, _PATIENCE).grades
    ok = end.why == "done" and not plan.open_items and not _tests(folder).returncode and _is_verified(grades)
    if quiet:
        return _as_json(ok, end, plan, session.context.desk.session, folder, grades)
    if not ok:
        raise Refused(f"the demo did not end as it should: {end.why}: {end.text} (plan {plan.id}, {folder})")
    durable = session.context.desk._seat.store.durable
    if durable:
        look = _look(name, args, plan.id, folder)
    else:
        look = ["nothing of the plan was kept: its store was in memory"]
    output.say(_ended(look, _turn(name, install), grades))
    return 0


def _is_verified(grades: Mapping[str, Grade]) -> bool:
    """Whether the item whose check was approved is verified, and the last one has passed its own check."""
    return (grades[_APPROVED].word, grades[_LAST].word) == (VERIFIED, PASSED)


def _as_json(ok: bool, end: TurnEnded, plan: Plan, session: str, folder: str, grades: Mapping[str, Grade]) -> int:
    shown = list(_SHOWN) if ok else []
    found: dict[str, Any] = {"ok": ok, "shown": shown, "plan": plan.id, "session": session, "folder": folder}
    found["grades"] = {id: grade.word for id, grade in grades.items()}
    output.say_json({**found, "why": end.why, "reason": end.text})
    if ok:
        return 0
    return 1


def _ended(look: list[str], turn: list[str], grades: Mapping[str, Grade]) -> str:
    """What was shown, how the items are graded, and what to type next."""
    shown = [f"- {line}" for line in _SHOWN]
    parts = {key: _indented(lines) for key, lines in (("shown", shown), ("look", look), ("turn", turn))}
    return _END.format(count=_count(grades), **parts)


def _count(grades: Mapping[str, Grade]) -> str:
    words = [grade.word for grade in grades.values()]
    said = [f"{words.count(word)} {meaning}" for word, meaning in _MEANINGS.items() if word in words]
    return f"{len(words)} items are done: {', '.join(said)}."


def _indented(lines: list[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def script(*, fast: bool) -> Any:
    """The model's part, with this interpreter in it; without its pauses if it should be fast."""
    with open(os.path.join(os.path.dirname(__file__), "demo.json"), encoding="utf-8") as file:
        data = json.load(file)
    return _filled(data, fast)


def _filled(value: Any, fast: bool) -> Any:
    if isinstance(value, dict):
        kept = {key: entry for key, entry in value.items() if not (fast and key in ("wait", "pace"))}
        return {key: _filled(entry, fast) for key, entry in kept.items()}
    if isinstance(value, list):
        return [_filled(entry, fast) for entry in value]
    if isinstance(value, str):
        return value.replace("{python}", shlex.quote(os.path.basename(sys.executable)))
    return value


def _with_user(session: Session, settings: Settings) -> Session:
    """The session with a user who puts something on the plan once the first thing is fixed."""
    tell = session.context.tell

    def telling(event: Event) -> None:
        tell(event)
        if isinstance(event, Answered) and event.call.id == "fixed":
            _edit(session, settings)

    return session._replace(context=session.context._replace(tell=telling))


def _edit(session: Session, settings: Settings) -> None:
    """The user's edits: from another process, as from another terminal, if the store can be reached from there."""
    desk = session.context.desk
    session_links.drop(session_links.process_key(os.getpid()))  # another terminal is not the agent's
    for words, edit in (
        (["add", _EDIT, "--after", "3"], lambda plan: ops.add(plan, _EDIT, after="3")),
        (["check", _APPROVED, "--approve"], lambda plan: ops.approve_check(plan, _APPROVED)),
    ):
        if not session.quiet:
            session.console.say([(Span(f"you, in another terminal: punchlist {shlex.join(words)}", "bold"),)])
        if desk._seat.store.durable:
            _run_as_user(session, settings, words)
        else:
            desk.change(edit)


def _run_as_user(session: Session, settings: Settings, words: list[str]) -> None:
    command = [sys.executable, "-P", "-m", "punchlist", *words, "--plan", session.context.desk.plan.id]
    env = {**os.environ, "PUNCHLIST_STORE": settings.store}
    done = subprocess.run(command, env=env, cwd=session.context.folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"the edit was refused: {done.stderr.strip()}")


def _make(folder: str) -> None:
    for name, text in (("money.py", _MONEY), ("test_money.py", _TESTS)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def _tests(folder: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", "-m", "unittest"], cwd=folder, capture_output=True, text=True, check=False
    )


def _turn(name: str, install: str) -> list[str]:
    """The way to a model: what is missing, then the command."""
    key = "" if os.environ.get(_KEY) else f"export {_KEY}=..."
    return [*filter(None, (install, key)), f"{name} run --model anthropic:NAME 'fix the failing test'"]


def _install() -> str:
    """How to install what a model needs beside us; nothing if it is there."""
    if find_spec("pydantic_ai"):
        return ""
    from ...local.origin import extra_command

    python = os.path.relpath(sys.executable)
    return extra_command("agent", "" if python.startswith(os.pardir) else python)


def _look(name: str, args: Args, plan: str, folder: str) -> list[str]:
    store = f" --store {shlex.quote(args.store)}" if args.store else ""
    commands = (
        f"{name} show{store} --plan {plan}",
        f"{name} log{store} --plan {plan}",
        f"{name} log --events{store} --plan {plan}",
    )
    return [*commands, f"ls {shlex.quote(folder)}"]


def _name() -> str:
    """How this program was called, if it is not simply on the path."""
    called = sys.argv[0]
    on_path = shutil.which("punchlist")
    if on_path and os.path.exists(called) and os.path.samefile(on_path, called):
        return "punchlist"
    if os.path.basename(called) == "punchlist":
        return shlex.quote(os.path.relpath(called))
    return "punchlist"
