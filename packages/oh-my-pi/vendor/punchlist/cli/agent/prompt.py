"""The prompt of `run` on a terminal that can show a panel: the line being typed, and the plan above it, live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from ...core.errors import PunchlistError
from ...core.model import Plan
from ...core.render import NO_LABELS
from ...desk import Desk
from ...desk.grade_labels import LiveLabels
from ...desk.holding import is_off
from ...desk.visible import visible
from ...tui.line_editor import History, Typed, press_key
from ...tui.panel import Panel
from ...tui.view import View
from .output import Console

_LOOK = 0.5  # seconds between looks at the plan
_STEPS = {"up": -1, "ctrl+p": -1, "down": 1, "ctrl+n": 1}


class PlanPoller:
    """Looks at a plan now and then in a thread of its own, so that a slow store does not hold up the keyboard."""

    def __init__(self, desk: Desk, tell: Callable[[], object]) -> None:
        self.plan: Plan | None = None  # as it was last seen; None until then
        self.labels = NO_LABELS  # what checks say about its items
        self._checks = LiveLabels(desk)
        self._desk = desk
        self._tell = tell
        self._over = Event()

    def __enter__(self) -> PlanPoller:
        Thread(target=self._run, name="punchlist-look", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _run(self) -> None:
        while not self._over.is_set():
            self.look()
            self._over.wait(_LOOK)

    def look(self, *, again: bool = False) -> None:
        """Look at the plan, and at what its checks say. `again`: at the files in any case."""
        try:
            plan = visible(self._desk, self._desk.plan)
            labels = self._checks.look(plan, again=again)
        except PunchlistError:  # the store does not answer: what was seen last stays
            return
        if plan != self.plan or labels != self.labels:
            self.plan, self.labels = plan, labels
            self._tell()


def ask(
    panel: Panel, desk: Desk, console: Console, draft: str = "", until: Callable[[], bool] = lambda: False
) -> str | None:
    """A line from the user, in which there is a draft already; None if `until` became true first. Raises EOFError and
    KeyboardInterrupt, as `input` does."""
    line = Typed(draft, len(draft))
    history = History(console.said, line)
    with panel, _show_above(console, panel), PlanPoller(desk, panel.wake) as poller:
        try:
            while not until():
                view = _view(console, poller.plan, line)
                panel.draw(view._replace(labels=poller.labels, off=is_off(desk)))
                for key in panel.wait(_LOOK):
                    if key == "enter":
                        return _remember(console, line.text)
                    if key == "ctrl+d" and not line.text:
                        raise EOFError
                    if key in _STEPS:
                        line = history.move(line, _STEPS[key])
                    else:
                        line = press_key(line, key)
        finally:
            panel.close(keep=False)
    console.draft = line.text
    return None


@contextmanager
def _show_above(console: Console, panel: Panel) -> Iterator[None]:
    """Have what is told meanwhile, by sub-agents in the background, scroll by above the panel."""
    plain, console.face = console.face, panel
    console.on_change = panel.wake
    try:
        yield
    finally:
        console.face, console.on_change = plain, None


def _remember(console: Console, text: str) -> str:
    if text.strip() and console.said[-1:] != [text]:
        console.said.append(text)
    return text


def _view(console: Console, seen: Plan | None, line: Typed) -> View:
    plan = console.plan if seen is None else seen
    workers = tuple(one for one in console.shown_workers if one.status == "Running")
    return View(plan, busy=False, workers=workers, typed=line.text, cursor=line.at)
