"""What a type checker tells people who build on the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

from punchlist.core import types
from punchlist.core.model import MODES, STATUSES
from punchlist.dialects.formats import PATHS
from punchlist.dialects.wire import WRITERS

ROOT = Path(__file__).parent.parent
RIGHT = """
import asyncio
import punchlist
from punchlist import Changed, Item, Nudge, Plan, Reply, Stop, ops
from punchlist.core.types import Mode, Status


def edit(desk: punchlist.Desk) -> Changed:
    reply: Reply = desk.call("plan", {"add": ["Read"]})
    desk.on_pause(lambda pause: print(pause.reason))
    desk.import_plan("- [ ] Read", "markdown")
    for plan in desk.follow():
        items: tuple[Item, ...] = plan.items
        statuses: list[Status] = [item.status for item in items]
        mode: Mode = plan.mode
        print(statuses, mode, reply.text)
    return desk.change(lambda plan: ops.complete(plan, "1"), by="user")


def ended(desk: punchlist.Desk) -> str:
    end: Nudge | Stop = desk.turn_ended(said="Done.")
    return end.text or end.reason


async def work() -> Plan:
    async with punchlist.aio.open("memory:", session="s1") as desk:
        tools = await desk.tools("openai")
        print(tools[0]["function"], await desk.system_prompt())
        async for plan in desk.follow():
            return plan
        return await desk.plan


asyncio.run(work())
"""
WRONG = {
    'plan.items[0]._replace(status="done")': "incompatible type \"Literal['done']\"",
    'plan.items[0].status == "done"': "Non-overlapping equality check",
    'punchlist.ops.set_mode(plan, "fast")': "incompatible type \"Literal['fast']\"",
    'desk.tools("gemini")': "incompatible type \"Literal['gemini']\"",
    'desk.export_plan("yaml")': "incompatible type \"Literal['yaml']\"",
    "desk.store": '"Desk" has no attribute "store"',
}


def checked(folder: Path, text: str) -> str:
    program = folder / "program.py"
    program.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", str(program)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def test_the_words_that_a_type_checker_knows_are_those_there_are() -> None:
    assert get_args(types.Status) == STATUSES
    assert get_args(types.Mode) == MODES
    assert get_args(types.Format) == tuple(PATHS)
    assert set(get_args(types.ToolFormat)) == WRITERS.keys() - {"full"}


def test_a_program_with_the_public_names_is_typed(tmp_path: Path) -> None:
    assert checked(tmp_path, RIGHT) == "Success: no issues found in 1 source file\n"


def test_a_type_checker_finds_a_word_that_does_not_exist(tmp_path: Path) -> None:
    head = "import punchlist\n\n\ndef work(desk: punchlist.Desk, plan: punchlist.Plan) -> None:\n"
    found = checked(tmp_path, head + "".join(f"    print({line})\n" for line in WRONG)).splitlines()
    for number, (line, error) in enumerate(WRONG.items(), 5):
        assert [one for one in found if f":{number}: error: " in one and error in one], (line, found)
