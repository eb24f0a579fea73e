"""An agent at work in front of its user: the agent in a thread, the panel and the keyboard in the main one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from typing import TypeVar

from ...agent.events import Interrupt, Question
from ...core.model import Plan
from ...core.render import NO_LABELS
from ...desk import Desk
from ...desk.events import log_event
from ...desk.holding import is_off
from ...desk.visible import visible
from ...tui import open_panel
from ...tui.keys import edit_line
from ...tui.panel import Panel
from ...tui.view import View
from .output import Console
from .prompt import PlanPoller

_TIP = "/todo append TEXT puts more on it"
_LOOK = 0.5  # seconds between looks at whether there is something to ask
_T = TypeVar("_T")


class LivePanel:
    """A panel for one turn of an agent. Questions of any thread are asked by the main one."""

    def __init__(
        self,
        panel: Panel,
        console: Console,
        stop: Interrupt,
        put: Callable[[Question], str],
        obey: Callable[[str], bool] | None = None,
        desk: Desk | None = None,
        *,
        keep: bool = True,
    ) -> None:
        self._panel = panel
        self._console = console
        self._stop = stop
        self._put = put  # asks a question on a terminal that nobody else uses
        self._obey = obey  # carries out a line that is typed, or says that it has to wait; None: nobody listens
        self._desk = desk  # to look at the plan while the agent works; None: what the agent tells has to do
        self._seen: Plan | None = None  # the plan as it was when it was looked at last
        self._labels = NO_LABELS  # what checks said about its items then
        self._quiet = ""  # what was last drawn of how long nothing was heard
        self._keep = keep  # whether the list stays on the screen when the agent stops
        self._asked: SimpleQueue[tuple[Question, Future[str]]] = SimpleQueue()

    def ask(self, question: Question) -> str:
        """Have a question asked, and wait for the answer. Raises Interrupted."""
        answer: Future[str] = Future()
        self._asked.put((question, answer))
        self._panel.wake()
        while not answer.done():
            self._stop.wait(0.02)
        return answer.result()

    def run(self, job: Callable[[], _T]) -> _T:
        """Let a job run, and keep the panel alive until it is done."""
        plain, self._console.face = self._console.face, self._panel
        self._console.on_change = self.draw
        self._console.listen()
        try:
            with self._panel, ExitStack() as ends:
                pool = ends.enter_context(ThreadPoolExecutor(1, thread_name_prefix="punchlist-agent"))
                if self._desk:
                    poller = ends.enter_context(PlanPoller(self._desk, self._panel.wake))
                else:
                    poller = None
                self.draw()
                done = pool.submit(job)
                done.add_done_callback(lambda _: self._panel.wake())
                try:
                    while not done.done():
                        self._hear(self._panel.wait(_LOOK))
                        self._answer()
                        self._look(poller)
                        if self._console.quiet != self._quiet:
                            self.draw()
                finally:
                    if not done.done():  # nobody is left to answer the agent: it must not wait
                        self._stop.ask()
                    elif not self._keep:
                        self._panel.close(keep=False)
                    elif poller:  # what stays on the screen is as it is at the end
                        poller.look(again=True)
                        self._look(poller)
            return done.result()
        finally:
            self._console.face, self._console.on_change = plain, None

    def draw(self) -> None:
        console = self._console
        plan = visible(self._desk, console.plan) if self._desk else console.plan
        times, self._quiet = console.times, console.quiet
        self._panel.draw(
            View(
                plan,
                self._labels,
                busy=not self._quiet,
                seconds=times.get(plan.active.id) if plan.active else None,
                times=times,
                tokens=console.tokens,
                quiet=self._quiet,
                alert=console.waiting,
                off=self._desk is not None and is_off(self._desk),
                status="" if plan.active else console.doing or "Thinking",
                workers=console.shown_workers,
                typed=console.draft,
                tip=_TIP,
            )
        )

    def _look(self, poller: PlanPoller | None) -> None:
        """Take in what others have made of the plan. What the agent has told since that look is newer."""
        if poller is None:
            return
        plan, known = poller.plan, self._console.plan
        if plan is None or (plan is self._seen and poller.labels is self._labels):
            return
        self._seen, self._labels = plan, poller.labels
        if plan != known and plan.id == known.id and plan.revision >= known.revision:
            self._console.know(plan)
        self.draw()

    def _hear(self, keys: list[str]) -> None:
        """Take in what is typed while the agent works."""
        console, obey = self._console, self._obey
        if not keys or obey is None:
            return
        for key in keys:
            if key != "enter":
                console.draft = edit_line(console.draft, key)
                continue
            line, console.draft = console.draft.strip(), ""
            if line and not obey(line):
                console.queued.append(line)
                console.note(f"queued: {line}")
        self.draw()

    def _answer(self) -> None:
        try:
            question, answer = self._asked.get_nowait()
        except Empty:
            return
        with self._panel.aside():
            answer.set_result(self._put(question))


def panel_for(desk: Desk, console: Console) -> Panel | None:
    """The panel, if there is a terminal that can show one. That it is shown or hidden is written down, and holds for
    the later panels of the session."""

    def note_toggle(before: bool, plan: Plan) -> None:
        console.expanded = not before
        log_event(desk, "toggle", is_expanded=before, has_todos=bool(plan.items))

    panel = open_panel(desk.settings, on_toggle=note_toggle)
    if not isinstance(panel, Panel):
        return None
    if console.expanded is not None:
        panel.expanded = console.expanded
    return panel
