"""An agent at work in front of its user: the agent in a thread, the panel and the keyboard in the main one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import TypeVar

from ..agent.events import Question, Stop
from ..agent.events import Worker as Hand
from ..desk import Desk
from ..tui import open_panel
from ..tui.keys import edited
from ..tui.panel import Panel
from ..tui.view import View, Worker
from .stage import Stage

_TIP = "/todo append TEXT puts more on it"
_LOOK = 0.5  # seconds between looks at whether there is something to ask
_T = TypeVar("_T")


class Attendance:
    """A panel for one turn of an agent. Questions of any thread are asked by the main one."""

    def __init__(
        self,
        panel: Panel,
        stage: Stage,
        stop: Stop,
        put: Callable[[Question], str],
        obey: Callable[[str], bool] | None = None,
    ) -> None:
        self._panel = panel
        self._stage = stage
        self._stop = stop
        self._put = put  # asks a question on a terminal that nobody else uses
        self._obey = obey  # carries out a line that is typed, or says that it has to wait; None: nobody listens
        self._asked: SimpleQueue[tuple[Question, Future[str]]] = SimpleQueue()

    def ask(self, question: Question) -> str:
        """Have a question asked, and wait for the answer. Raises Interrupted."""
        answer: Future[str] = Future()
        self._asked.put((question, answer))
        self._panel.wake()
        while not answer.done():
            self._stop.wait(0.02)
        return answer.result()

    def attend(self, job: Callable[[], _T]) -> _T:
        """Let a job run, and keep the panel alive until it is done."""
        plain, self._stage.face = self._stage.face, self._panel
        self._stage.on_change = self.draw
        try:
            with self._panel, ThreadPoolExecutor(1, thread_name_prefix="punchlist-agent") as pool:
                self.draw()
                done = pool.submit(job)
                done.add_done_callback(lambda _: self._panel.wake())
                try:
                    while not done.done():
                        self._hear(self._panel.wait(_LOOK))
                        self._answer()
                finally:
                    if not done.done():  # nobody is left to answer the agent: it must not wait
                        self._stop.ask()
            return done.result()
        finally:
            self._stage.face, self._stage.on_change = plain, None

    def draw(self) -> None:
        stage = self._stage
        self._panel.draw(
            View(
                stage.plan,
                seconds=stage.seconds if stage.plan.active else None,
                tokens=stage.tokens,
                alert=stage.waiting,
                status="" if stage.plan.active else stage.doing or "Thinking",
                workers=tuple(map(_worker, stage.workers.values())),
                typed=stage.draft,
                tip=_TIP,
            )
        )

    def _hear(self, keys: list[str]) -> None:
        """Take in what is typed while the agent works."""
        stage, obey = self._stage, self._obey
        if not keys or obey is None:
            return
        for key in keys:
            line, stage.draft = (stage.draft.strip(), "") if key == "enter" else ("", edited(stage.draft, key))
            if line and not obey(line):
                stage.queued.append(line)
                stage.note(f"queued: {line}")
        self.draw()

    def _answer(self) -> None:
        try:
            question, answer = self._asked.get_nowait()
        except Empty:
            return
        with self._panel.aside():
            answer.set_result(self._put(question))


def panel_for(desk: Desk) -> Panel | None:
    """The panel, if there is a terminal that can show one. That it is shown or hidden is written down."""

    def toggled(before: bool, has_items: bool) -> None:
        desk.note("toggle", is_expanded=before, has_todos=has_items)

    panel = open_panel(desk.settings, "run", expanded=True, on_toggle=toggled)
    return panel if isinstance(panel, Panel) else None


def _worker(hand: Hand) -> Worker:
    return Worker(hand.agent, hand.status, hand.plan, hand.background)
