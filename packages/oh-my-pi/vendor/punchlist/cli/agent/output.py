"""What a working agent looks like: each of its events as lines, each of its questions as a dialogue."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from threading import RLock
from time import monotonic
from typing import Protocol

from ...agent.events import (
    Answered,
    Attached,
    Called,
    Compacted,
    Event,
    Nudged,
    Planned,
    Question,
    Said,
    Spent,
    SubagentState,
    TurnEnded,
    Waiting,
    Warned,
)
from ...agent.messages import Assistant, Message, User
from ...core import render
from ...core.cells import wrapped
from ...core.model import MAIN, Plan
from ...core.render import Glyphs, Line, Span
from ...core.text import block, counted, cut, inline
from ...desk.activity import quiet_for
from ...policy.continuation import UNPLANNED
from ...prompts import say
from ...tui.styles import Style
from ...tui.view import View, Worker

_SHOWN = 3  # lines of a tool's answer
_FAILED = "its pause failed"
_ASKING = ("ask", "enter_plan_mode")  # tools whose question follows, with all that they were called with
_RECALLED = 6  # lines of what was said last, in a conversation that is gone on with
_YES, _NO = ("y", "yes", "yep", "yeah", "ok", "okay", "sure"), ("n", "no", "nope")


class LineWriter(Protocol):
    """Where lines go: a panel has them scroll by above it."""

    def show(self, lines: Iterable[Line]) -> None:
        """Whole lines."""

    def write(self, text: str) -> None:
        """Text in pieces."""


class Plain:
    """Lines, one after the other."""

    def __init__(self, show: Callable[[list[Line]], None], glyphs: Glyphs) -> None:
        self._show = show
        self._glyphs = glyphs
        self._text = ""  # of a line that has not ended yet

    def show(self, lines: Iterable[Line]) -> None:
        begun, self._text = self._text, ""
        made = [*self._spoken([begun] if begun.strip() else []), *lines]
        if made:
            self._show(made)

    def write(self, text: str) -> None:
        *whole, self._text = (self._text + text).split("\n")
        if whole:
            self._show(self._spoken(whole))

    def _spoken(self, lines: list[str]) -> list[Line]:
        return [(Span(self._glyphs.said(line)),) for line in lines]


class Console:
    """Turns events into lines, and remembers how things stand for whoever draws that."""

    def __init__(
        self,
        face: LineWriter,
        width: Callable[[], int],
        glyphs: Glyphs,
        style: Style | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.face = face
        self.on_change: Callable[[], None] | None = None  # set while there is a panel, and the plan is in sight
        self.plan = Plan()
        self.workers: dict[str, SubagentState] = {}
        self.doing = ""
        self.waiting = ""  # why the model lets itself be waited for
        self.tokens = 0
        self.expanded: bool | None = None  # what Ctrl+T made of the list in this session; None: what the settings say
        self.draft = ""  # what the user is typing while the agent works
        self.said: list[str] = []  # what they have typed at the prompt, oldest first
        self.queued: list[str] = []  # what they have typed, and the agent has yet to hear
        self._width = width
        self._glyphs = glyphs
        self._style = style
        self._lock = RLock()
        self._speaks = False  # whether the agent is in the middle of a sentence
        self._held: list[Line] = []  # what waits for its end
        self._last = ""  # the call that was shown last
        self._line = ""  # the plan as it was last shown
        self._shown = Plan()  # the same, where the style tells of changes
        self._has_told_pause = False  # whether the message of a pause is the last thing that was shown of the agent
        self._begun = ""  # the call of a plan tool that is under way: it is shown when it has its answer
        self._active = ""  # the item that tokens are counted for
        self._since: dict[str, float] = {}  # when each active item was started
        self._clock = clock
        self._heard = clock()  # when the agent last said or did something

    def tell(self, event: Event) -> None:
        with self._lock:
            self._heard = self._clock()
            self._take(event)
            if isinstance(event, Said):
                if event.agent == MAIN:
                    self.face.write(event.text)
                    self._speaks = True
            elif self._speaks and event.agent != MAIN:  # nobody is interrupted in the middle of a sentence
                self._held += self._lines(event)
            else:
                held, self._held, self._speaks = self._held, [], False
                self.face.show([*held, *self._lines(event)])
            if self.on_change:
                self.on_change()

    def listen(self) -> None:
        """Count from now how long nothing is heard: the agent begins."""
        self._heard = self._clock()

    def say(self, lines: list[Line]) -> None:
        """Show lines of somebody else between those of the agent."""
        with self._lock:
            self.face.show(lines)

    def interject(self, lines: list[Line]) -> None:
        """Show lines that have nothing to do with the call under way: its answer will have it above again."""
        with self._lock:
            self._last = ""
            self.face.show(lines)

    def note(self, words: str, style: str = "dim") -> None:
        """Show a line of ours between those of the agent."""
        rows = wrapped(self._glyphs.said(words), max(self._width(), 1))
        self.interject([(Span(row, style),) for row in rows])

    def know(self, plan: Plan) -> None:
        """Take a plan for the one that is worked from, where it is shown already."""
        with self._lock:
            self._take(Planned(MAIN, plan))

    @property
    def shown_workers(self) -> tuple[Worker, ...]:
        """The sub-agents, as a panel shows them."""
        return tuple(Worker(one.agent, one.status, one.plan, one.background) for one in self.workers.values())

    @property
    def times(self) -> dict[str, float]:
        """The seconds that each active item has been worked on, by id."""
        now = self._clock()
        return {id: now - at for id, at in self._since.items()}

    @property
    def quiet(self) -> str:
        """Since when nothing was heard from the agent, in words; nothing if it was heard lately, or a tool runs."""
        if self.doing:
            return ""
        return quiet_for(self._clock() - self._heard)

    def _take(self, event: Event) -> None:
        """What is remembered of an event, for the panel."""
        if isinstance(event, Planned) and event.agent == MAIN:
            self.plan = event.plan
            now = self._clock()
            self._since = {item.id: self._since.get(item.id, now) for item in event.plan.busy}
            active = next(iter(self._since), "")
            if active != self._active:
                self._active, self.tokens = active, 0
        elif isinstance(event, Waiting):
            self.waiting = inline(event.text)
        elif isinstance(event, Spent):
            self.tokens += event.usage.output
        elif isinstance(event, SubagentState):
            self.workers[event.agent] = event
        elif isinstance(event, Called) and event.agent == MAIN:
            self.doing = f"{inline(event.call.tool)} {_argument(event.call.args)}".strip()
        elif isinstance(event, Answered | TurnEnded) and event.agent == MAIN:
            self.doing = self.waiting = ""

    def _lines(self, event: Event) -> list[Line]:
        if isinstance(event, Called):
            return self._show_call(event)
        if isinstance(event, Answered):
            return self._show_answer(event)
        if isinstance(event, Planned):
            if event.agent == MAIN:
                return self._show_plan(event.plan)
            return []
        if isinstance(event, SubagentState):
            if event.status == "Running" and self.on_change:  # a panel shows it
                return []
            self._last = ""  # an answer that comes later needs its call above it again
            return worker_lines(event, self._width(), self._glyphs, self._style)
        if isinstance(event, TurnEnded):
            if event.agent == MAIN:
                return self._show_end(event)
            return []
        return self._show_note(event)

    def _show_call(self, event: Called | Answered) -> list[Line]:
        if event.agent != MAIN:
            return []
        if event.is_plan and isinstance(event, Called):
            self._begun = event.call.id
            return []
        self._last = event.call.id
        lead = "→" if self._glyphs.cut == "…" else "->"
        if event.is_plan or event.call.tool in _ASKING:
            about = ""
        else:
            about = _argument(event.call.args)
        return [(Span(self._fit(f"{lead} {self._glyphs.said(event.call.tool)} {about}".rstrip()), "dim"),)]

    def _show_answer(self, event: Answered) -> list[Line]:
        if event.agent != MAIN:
            return []
        if event.is_plan:
            return self._show_plan_answer(event)
        if event.call.id == self._last:  # others were shown in between
            again = []
        else:
            again = self._show_call(event)
        return again + self._excerpt(event)

    def _show_plan_answer(self, event: Answered) -> list[Line]:
        """A call of the plan's own tool, with its answer: as the style has it, else like that of any other tool. An
        empty display shows nothing."""
        self._begun = ""
        says_pause = event.result.details.get("type") == "pause"
        self._has_told_pause = says_pause
        if event.result.is_error and self._style and self._style.failed:
            return [*self._aside(f"{self._style.failed}{_first(_told(event))}", "bad"), *self._show_plan(self.plan)]
        if self._style and self._style.calls and not event.result.is_error and not says_pause:
            return self._draw(self.plan)
        planned = self._show_plan(self.plan)
        if not _told(event).strip():
            return planned
        return [*self._show_call(event), *planned, *self._excerpt(event, whole=says_pause)]

    def _excerpt(self, event: Answered, *, whole: bool = False) -> list[Line]:
        """The first and the last lines of an answer, or all of them."""
        lines = [line for line in block(_told(event)).splitlines() if line.strip()]
        style = "bad" if event.result.is_error else "dim"
        if whole:
            rows = [row for line in lines for row in wrapped(self._glyphs.said(line), max(self._width() - 2, 1))]
            return [(Span("  "), Span(row, style)) for row in rows]
        shown: list[Line] = [(Span("  "), Span(self._fit(self._glyphs.said(line), 2), style)) for line in lines]
        if len(lines) <= _SHOWN + 1:  # to say that one line is left out would take a line
            return shown
        left_out = f"{self._glyphs.cut} {counted(len(lines) - _SHOWN, 'more line')}"
        return [shown[0], (Span("  "), Span(left_out, "dim")), *shown[-(_SHOWN - 1) :]]

    def _draw(self, plan: Plan) -> list[Line]:
        """What became of the plan, as the style tells it in a transcript."""
        assert self._style
        assert self._style.calls
        before, self._shown = self._shown, plan
        return self._style.calls(before, plan, self._style.canvas(self._width(), self._glyphs.cut == "…"))

    def _show_plan(self, plan: Plan) -> list[Line]:
        """The plan in a line, where no panel shows it and no call is about to."""
        if self._begun:
            return []
        if self._style and self._style.calls:
            if self.on_change or plan == self._shown:
                return []
            return self._draw(plan)
        line = render.line(plan, self._glyphs, min(self._width(), 80))
        if self.on_change or line == self._line or not line:
            return []
        self._line = line
        return [(Span(line, "bold"),)]

    def _show_note(self, event: Event) -> list[Line]:
        if isinstance(event, Attached) and event.told and event.agent == MAIN:
            return self._aside(f"the agent was told: {' '.join(map(_to_user, event.told))}", "dim")
        if isinstance(event, Nudged):
            return self._aside(f"{_who(event.agent)} {_why_nudged(event.text)}: {_nudged_for(event.text)}", "")
        if isinstance(event, Compacted):
            words = (
                f"the conversation was compacted, from about {event.before:,} tokens to {event.after:,}; the plan stays"
            )
            return self._aside(words, "")
        if isinstance(event, Waiting) and event.text and not self.on_change:  # a panel shows it as long as it lasts
            return self._aside(f"{event.text}{self._glyphs.cut}", "dim")
        if isinstance(event, Warned):
            return self._aside(event.text, "bad")
        return []

    def _show_end(self, event: TurnEnded) -> list[Line]:
        failed = event.text.startswith(_FAILED)  # why it did is with the call
        if failed:
            paused = f"the agent stops: {_FAILED}"
        else:
            paused = f"paused: {event.text}"
        words = {
            "waiting": f"the agent stops: {event.text}" if event.text != UNPLANNED else "",  # it has just answered
            "paused": "" if self._has_told_pause else paused,
            "limit": f"the agent was stopped: {event.text}",
            "stopped": "stopped. Say how to continue.",
            "failed": event.text,
        }.get(event.why, "")
        style = "bad" if event.why in ("failed", "limit") else "dim"
        if words:
            return self._aside(words, style, whole=True)
        return []

    def _aside(self, words: str, style: str, *, whole: bool = False) -> list[Line]:
        """A line about the agent. What went wrong is told in full, as is why it stops; other things as far as a line
        goes."""
        mark = "·" if self._glyphs.cut == "…" else "-"
        said = self._glyphs.said(words)
        if style != "bad" and not whole:
            return [(Span(self._fit(f"{mark} {said}"), style),)]
        first, *rows = wrapped(said, max(self._width() - 2, 1))
        return [(Span(f"{mark} {first}", style),), *((Span(f"  {row}", style),) for row in rows)]

    def _fit(self, text: str, less: int = 0) -> str:
        return render.fit(text, max(self._width() - less, 1), self._glyphs)


def worker_lines(event: SubagentState, width: int, glyphs: Glyphs, style: Style | None = None) -> list[Line]:
    """How a sub-agent is getting on: a line while it works in the background, else with its list."""
    done = event.plan.progress
    name = glyphs.said(event.agent)
    if event.status == "Running" and event.plan.items and event.background:
        return [(Span(render.fit(f"  {name} {done.completed}/{done.total}", width, glyphs), "dim"),)]
    made: list[Line] = [(Span(f"Agent: {name}"),), (Span(f"Status: {event.status}"),)]
    if event.plan.items:
        made.append((Span(f"Tasks ({done.completed}/{done.total})", "dim"),))
        made += [(Span("  "), *line) for line in _listed(event, width, glyphs, style)]
    return made


def _listed(event: SubagentState, width: int, glyphs: Glyphs, style: Style | None) -> list[Line]:
    """The list of a sub-agent, in the signs of a style; our own has ids, too. That the items are its own goes without
    saying."""
    if style is None or style.name == "punchlist":
        items = tuple(item._replace(owner="") if item.owner == event.agent else item for item in event.plan.items)
        return render.lines(event.plan._replace(items=items), width - 2, glyphs)[1:]
    canvas = style.canvas(width - 2, glyphs.cut == "…")
    return [style.item(item, View(event.plan, busy=False), canvas, "") for item in event.plan.items]


def question_lines(question: Question, width: int, glyphs: Glyphs) -> list[Line]:
    """What is asked, and what can be answered."""
    made: list[Line] = [(Span(glyphs.said(line), "dim"),) for line in question.details.splitlines()]
    if question.kind in ("ask", "approve"):
        asked = question.text
    else:
        asked = f"{question.text} (yes/no)"
    made += [(Span(row, "bold"),) for line in asked.splitlines() for row in wrapped(glyphs.said(line), width)]
    if question.kind == "ask":
        made += [(Span(f"  {number}. {glyphs.said(choice)}"),) for number, choice in enumerate(question.choices, 1)]
    elif question.kind == "approve":
        made.append((Span("yes, no, or what should be different", "dim"),))
    return made


def parse_answer(question: Question, answer: str) -> str:
    """An answer as the agent expects it: a choice for its number, yes for y."""
    words = answer.strip()
    if question.kind == "ask":
        number = int(words) if words.isdecimal() and len(words) < 3 else 0
        if 0 < number <= len(question.choices):
            return question.choices[number - 1]
        return words
    plain = words.casefold().rstrip(".!")
    if plain in _YES:
        return "yes"
    if plain in _NO:
        return "no"
    return words


def last_exchange(messages: Sequence[Message], width: int, glyphs: Glyphs) -> list[Line]:
    """The last exchange of a conversation, shortened: what the user said, and what the agent said after that."""
    made: list[Line] = []
    for message in reversed(messages):
        if isinstance(message, Assistant) and message.text.strip() and not made:
            made = [(Span(line),) for line in _beginning(message.text, width, glyphs)]
        elif isinstance(message, User):
            asked = _beginning(message.text, width - 2, glyphs)
            return [
                *((Span(f"{'> ' if not number else '  '}{line}", "bold"),) for number, line in enumerate(asked)),
                *made,
            ]
    return made


def _beginning(text: str, width: int, glyphs: Glyphs) -> list[str]:
    """The first lines of a text, each within a screen's width."""
    lines = [line for line in block(cut(text, _RECALLED * width)).splitlines() if line.strip()]
    rows = [row for line in lines for row in wrapped(glyphs.said(line), max(width, 1))]
    return [*rows[:_RECALLED], *([glyphs.cut] if len(rows) > _RECALLED else [])]


def _told(event: Answered) -> str:
    """What of an answer the user should see. A file that was read need not be shown."""
    result = event.result
    if result.tool == "read" and not result.is_error:
        return counted(len(result.text.splitlines()), "line")
    if event.display is None:
        return result.text
    return event.display


def _first(text: str) -> str:
    """The first line of a text."""
    return text.strip().partition("\n")[0].removeprefix("Errors: ")


def _argument(args: object) -> str:
    """The one argument that tells what a call is about."""
    if isinstance(args, dict):
        for key in ("command", "path", "pattern", "question", "name"):
            if isinstance(args.get(key), str):
                return cut(inline(args[key]), 200)
        if args:
            return cut(inline(json.dumps(args, ensure_ascii=False, default=str)), 200)
        return ""
    return cut(inline(str(args)), 200)


def _to_user(line: str) -> str:
    """A sentence about the plan that was meant for the model, said to the user."""
    line = inline(line)
    for head in ("the user ", "The user "):
        if line.startswith(head):
            line = f"you {line.removeprefix(head)}"
        else:
            line = line
    return cut(line, 300)


def _why_nudged(text: str) -> str:
    if _inside(text).startswith(say("plan.nudge.checks").partition("{")[0]):
        return "was asked to run checks"
    return "stopped early and was nudged"


def _nudged_for(text: str) -> str:
    """The item that a nudge is about, and how far the plan is. The rest of it is for the model."""
    first = _inside(text).partition(". The user's last message")[0]
    return first.partition(": ")[2] or first


def _inside(text: str) -> str:
    """Words for the model without the tags around them."""
    lines = [line for line in text.splitlines() if not (line.startswith("<") and line.endswith(">"))]
    return cut(inline(" ".join(lines)), 300)


def _who(agent: str) -> str:
    if agent == MAIN:
        return "the agent"
    return inline(agent)
