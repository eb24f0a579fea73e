"""A short plan, played through the engine: the same calls a model makes, the same answers it reads."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..core import ops, render
from ..core.model import Plan
from ..desk import Desk, open_desk
from . import screen

_STEPS: tuple[tuple[str, dict[str, object] | Callable[[Plan], Plan]], ...] = (
    (
        "the agent makes a plan",
        {
            "add": [
                {"text": "Reproduce the crash", "phase": "Find"},
                {"text": "Read the parser", "phase": "Find"},
                {"text": "Fix the off-by-one", "phase": "Fix", "needs": [2]},
                {"text": "Run the tests", "phase": "Fix", "needs": [3]},
                {"text": "Ask for a review", "phase": "Ship"},
            ]
        },
    ),
    ("it finishes the first item; the next starts by itself", {"done": [1], "note": {"2": "the loop in line 40"}}),
    ("you add something in between", lambda plan: ops.add(plan, "Write a regression test", after="3")),
    ("the agent goes on, and hears of it once", {"done": [2]}),
    ("it finishes the fix and the new test", {"done": [3, 6]}),
    ("the review has to wait", {"done": [4], "block": [5], "why": "the reviewer is away"}),
    ("you take that off its hands", lambda plan: ops.complete(plan, "5")),
    ("the agent looks once more", {"show": True}),
)


def play(*, fast: bool) -> int:
    with open_desk("memory:", session="demo") as desk:
        for about, step in _STEPS:
            _play(desk, about, step)
            if not fast:
                time.sleep(1.2)
        left = desk.plan.open_items
    screen.say("\nThat was the engine; nothing was kept. Yours to try: punchlist add 'Run the tests'")
    return 1 if left else 0


def _play(desk: Desk, about: str, step: dict[str, object] | Callable[[Plan], Plan]) -> None:
    screen.show([(), (render.Span(f"— {about}", "now"),)])
    if callable(step):
        desk.change(step)
    else:
        import json

        reply = desk.call("plan", step)
        screen.show([(render.Span(f"  plan {json.dumps(step)}", "dim"),)])
        screen.show([(render.Span(f"  → {line}", "good"),) for line in reply.text.splitlines()])
    screen.show(render.lines(desk.plan, min(screen.width(), 100), screen.glyphs(desk.settings)))
