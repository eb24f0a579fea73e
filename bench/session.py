"""What reaches a model from us in a whole session of the real Claude Code, in tokens of o200k_base, by source.

A plan of twenty items is made and worked off. On the way the user edits it twice, the agent forgets it for a while,
stops early once, and its context is compacted once: everything that we ever say is said."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from punchlist.prompts import say
from tests.clients.agents import claude_code, load
from tests.clients.model import Request, our_tool
from tests.clients.script import Step, does, plan, says, shell
from tests.clients.stage import Stage
from tests.clients.wires import Piece

from .frame import Row
from .speech import texts
from .tokens import compact, counter

_SIZE = 20
_SOURCES = ("tool definition", "instructions", "answers", "news", "reminders", "nudges", "the plan again")
_HEADING = "# MCP Server Instructions"
_HOOK = " hook additional context: "


def rows() -> list[Row]:
    folder = os.environ.get("PUNCHLIST_TEST_CLIENTS", "")
    program = claude_code.program(Path(folder, claude_code.FOLDER)) if folder else None
    if program is None:
        print("session: skipped, PUNCHLIST_TEST_CLIENTS names no folder with Claude Code in it")
        return []
    with tempfile.TemporaryDirectory() as scratch:
        stage = Stage("claude-code", load("claude-code"), program, Path(scratch))
        stage.punchlist("install", "claude-code")
        stage.run("Do all of it.", *_script(stage), setup=claude_code.COMPACTS)
        stage.model.close()
        return _rows(_said(stage.requests), counter())


def _rows(said: list[tuple[str, str]], count: Callable[[str], int]) -> list[Row]:
    spent = {source: [count(text) for by, text in said if by == source] for source in _SOURCES}
    note = f"Claude Code, {_SIZE} steps, definition and all texts"
    found = [Row("session: in all", 1800, sum(map(sum, spent.values())), "tokens", note)]
    for source, counts in spent.items():
        found.append(Row(f"session: {source}", None, sum(counts), "tokens", f"{len(counts)} times"))
    return found


# --- the session -----------------------------------------------------------------------------------------------------


def _script(stage: Stage) -> Iterator[Step]:
    yield does(plan(add=[text.todo for text in texts(_SIZE)]))
    for number in range(1, _SIZE + 1):
        yield does(shell(f"echo looking at {number}"), tokens=claude_code.FULL if number == 15 else 100)
        if number == 5:
            yield does(shell("echo asking"), first=lambda: stage.punchlist("rename", "9", "Move the webhook handler"))
        if number == 8:
            yield from (does(shell(f"echo deep in thought {turn}")) for turn in range(11))
        if number == 12:
            yield says("That part is finished.")
            yield does(shell("echo on"), first=lambda: stage.punchlist("note", "14", "Ann knows how"))
        yield does(plan(done=[number]))
    yield says("All of it is done.")


# --- what is ours in it ----------------------------------------------------------------------------------------------


def _said(requests: list[Request]) -> list[tuple[str, str]]:
    """Everything of ours that the model reads, each thing once: its source and its text."""
    definition = our_tool(requests[0].offers)
    assert definition is not None
    found = [("tool definition", compact(definition.spec))]
    for request in requests:
        found += [one for piece in request.new for one in _ours(piece)]
    return found


def _ours(piece: Piece) -> Iterator[tuple[str, str]]:
    """Claude Code may put what several sources say into one piece, with blank lines between."""
    if "punchlist" in piece.tool:
        yield "answers", piece.text
        return
    before, heading, text = piece.text.partition(_HEADING)
    told, ours, after = text.partition(say("mcp"))
    if ours:
        yield "instructions", f"{heading}{told}{ours}"
    for part in (before + after).split("\n\n") if ours else piece.text.split("\n\n"):
        if _HOOK in part or "Stop hook " in part:
            yield _moment(part), part


def _moment(text: str) -> str:
    """What we said with a hook."""
    if "Stop hook " in text:
        return "nudges"
    if "what is open:" in text:
        return "the plan again"
    return "reminders" if "unchanged for" in text else "news"
