"""Processes that write: forked, so that hundreds of them cost little, and killed without warning."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial

import punchlist
from punchlist.core.rules import problems
from punchlist.desk.edits import rewound


def run_all(works: Sequence[Callable[[], None]], seconds: float = 300) -> None:
    """Do every work in a process of its own, at the same time; every one must succeed."""
    children = [_forked(work) for work in works]
    end = time.monotonic() + seconds
    failed = []
    for child in children:
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                failed += [child] if status else []
                break
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                failed.append(child)
                break
            time.sleep(0.005)  # between two looks at a child that may hang
    assert not failed, f"{len(failed)} of {len(works)} processes failed"


def killed_while_adding(url: str, session: str, first: int, meanwhile: Callable[[], object]) -> list[str]:
    """Let a process add items until it is killed, which is when `meanwhile` returns; what it was told was saved."""
    reading, writing = os.pipe()

    def work() -> None:
        os.close(reading)
        with punchlist.open(url, session=session) as desk:
            os.write(writing, b"ready\n")
            for number in range(first, first + 100_000):
                text = f"item {number}"
                desk.change(partial(punchlist.ops.add, text=text))
                os.write(writing, f"{text}\n".encode())

    child = _forked(work)
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        assert pipe.readline() == b"ready\n"
        meanwhile()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        told = pipe.readall().decode()
    return [line for line in told.split("\n")[:-1] if line]


def check(desk: punchlist.Desk) -> punchlist.Plan:
    """A plan that is well built, and whose history leads to it from nothing."""
    plan = desk.plan
    assert problems(plan) == []
    records = desk.history()
    assert [record.revision for record in records] == list(range(1, plan.revision + 1))
    assert rewound(plan, records).items == ()
    return plan


def mixed_change(desk: punchlist.Desk, name: str, rng: random.Random) -> str:
    """One change of a random sort; the text of the item, if it is a new one."""
    roll = rng.random()

    def edit(plan: punchlist.Plan) -> punchlist.Plan:
        if roll < 0.6 or not plan.items:
            return punchlist.ops.add(plan, name)
        item = rng.choice(plan.items)
        if roll < 0.8:
            return punchlist.ops.complete(plan, item.id)
        return punchlist.ops.note(plan, item.id, name) if roll < 0.95 else punchlist.ops.move(plan, item.id, phase="")

    added = any(item.text == name for item in desk.change(edit, by="user").plan.items)
    return name if added else ""


def _forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
