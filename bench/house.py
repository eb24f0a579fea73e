"""The state of the code against its goals: a table, not a test. `make house` prints it in seconds; with `--slow` also
what a hook costs as a process, and with `--list` where each figure comes from."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import punchlist
from punchlist import hosts
from punchlist.cli.table import COMMANDS
from punchlist.dialects import PATHS as DIALECTS
from tests.statements import trace

from . import growth, startup
from . import source as code
from .frame import Row, table

LIST_LIMIT = 10
# Module names that readers had to decode, so that none of them comes back.
DROPPED = """
    moments attachments planning lineage ties switch private recorder shape relist timeline typed secrets resume listen
    asking waiting brief hear recall own who offers lines memory rows repair site crew queue hearing ledger talk work
    places attend stage conduct calling live screen adopt forged
"""
KEPT = {"stores/memory.py"}  # a name that says what is inside there

Lists = dict[str, Sequence[str]]  # by the name of a figure: what it counts


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench.house", description=__doc__)
    options.add_argument("--slow", action="store_true", help="time hooks and commands as processes as well")
    options.add_argument("--list", action="store_true", help="name what is counted, with its place")
    given = options.parse_args()
    lists: Lists = {}
    sources = code.read_all()
    show("tree", tree(sources, lists))
    show("density", density(sources, lists))
    show("walks", walks(lists))
    show("observed calls", growth.observed_calls())
    if given.slow:
        show("processes", startup.rows())
    if given.list:
        for name, places in lists.items():
            print(f"{name}\n" + "\n".join(f"  {place}" for place in places) + "\n")
    return 0


def show(name: str, rows: Sequence[Row]) -> None:
    print(f"{name}\n{table(rows)}\n", flush=True)


# --- read from the source --------------------------------------------------------------------------------------------


def tree(sources: Sequence[code.Source], lists: Lists) -> list[Row]:
    """Where things are and what they are called."""
    types = code.repeated_types(sources)
    named = [each.path for each in sources if Path(each.path).stem in DROPPED.split() and each.path not in KEPT]
    typed = [each for each in sources if each.path.startswith("cli/") and not each.path.startswith("cli/agent/")]
    commands = code.tables(typed, tuple(COMMANDS), fewest=8)
    found = {
        "loose modules at the top": (1, code.loose_modules(sources)),
        "module names that do not tell": (9, named),
        "types with two meanings": (5, [f"{name}: {', '.join(places)}" for name, places in types.items()]),
        "tables per command": (1, commands),
    }
    lists.update({name: places for name, (_, places) in found.items()})
    rows = [Row(name, goal, len(places), "") for name, (goal, places) in found.items()]
    lines = sum(len(each.lines) for each in sources)
    return [
        *rows,
        _dialect_row(sources, lists),
        _agent_row(sources, lists),
        Row("public attributes of Desk", 24, len(_attributes(lists)), ""),
        Row("source lines", 22_000, lines, "", f"{sum(each.written for each in sources):,} of them not blank"),
    ]


def _dialect_row(sources: Sequence[code.Source], lists: Lists) -> Row:
    """Files that know a dialect by its name, beside its own. A host or a style of the same name is another thing."""
    files = {}
    for name, paths in code.mentions(sources, tuple(DIALECTS)).items():
        stem = name.replace("-", "_")
        own = (f"dialects/{stem}.py", f"hosts/{stem}/", f"tui/styles/{stem}.py")
        files[name] = [path for path in paths if not path.startswith(own)]
    lists["files of one dialect's behavior"] = [f"{name}: {', '.join(paths)}" for name, paths in files.items()]
    most = max(files, key=lambda name: len(files[name]))
    return Row("files of one dialect's behavior", 1, 1 + len(files[most]), "", f"the most: {most}")


def _agent_row(sources: Sequence[code.Source], lists: Lists) -> Row:
    rooms = {name: code.rooms_named(sources, name) for name in hosts.HOSTS}
    lists["rooms of one agent"] = [f"{name}: {', '.join(sorted(found))}" for name, found in rooms.items()]
    return Row("rooms of one agent", 1, max(len(found) for found in rooms.values()), "")


def _attributes(lists: Lists) -> list[str]:
    with punchlist.open("memory:", session="s") as desk:
        names = [name for name in dir(desk) if not name.startswith("_")]
    lists["public attributes of Desk"] = names
    return names


def density(sources: Sequence[code.Source], lists: Lists) -> list[Row]:
    """How much is decided in a line."""
    functions = [function for each in sources for function in code.functions(each)]
    dense = [each for each in functions if each.is_dense]
    counts = {each.path: code.conditional_expressions(each) for each in sources}
    by_lines = sorted(sources, key=lambda each: -len(each.lines))
    longest = max(functions, key=lambda each: each.lines)
    written = sum(each.written for each in sources)
    name = "functions with more than a branch for every two lines"
    lists[name] = [f"{each.place} {each.name}: {each.branches} in {each.lines}" for each in dense]
    lists["conditional expressions"] = [f"{path}: {count}" for path, count in counts.items() if count]
    lists["longest files"] = [f"{each.path}: {len(each.lines)}" for each in by_lines[:LIST_LIMIT]]
    total = sum(counts.values())
    return [
        Row("conditional expressions per 1,000 lines", 20, 1000 * total / written, "", f"{total} of them"),
        Row(name, 0, len(dense), "", f"of {len(functions):,} functions"),
        Row("longest file", None, len(by_lines[0].lines), "lines", by_lines[0].path),
        Row("median function", None, statistics.median([each.lines for each in functions]), "lines"),
        Row("longest function", None, longest.lines, "lines", f"{longest.name}, {longest.place}"),
    ]


# --- counted while it runs -------------------------------------------------------------------------------------------


def walks(lists: Lists) -> list[Row]:
    """What a hook asks of SQLite, and what a tool call passes through."""
    with tempfile.TemporaryDirectory(prefix="punchlist-house-") as folder:
        _use_as_home(folder)
        used, stop = _hook_statements(folder)
        functions = _call_functions(f"sqlite:{folder}/call.db")
    files = sorted({file for file, _ in functions})
    lists["SQL statements in PostToolUse"] = used
    lists["SQL statements in Stop"] = stop
    lists["functions on a tool call after a user's edit"] = [f"{file} {name}" for file, name in sorted(functions)]
    return [
        Row("SQL statements in PostToolUse", 9, len(used), ""),
        Row("SQL statements in Stop", 9, len(stop), ""),
        Row("functions on a tool call after a user's edit", 80, len(functions), ""),
        Row("files on a tool call after a user's edit", 12, len(files), ""),
    ]


def _use_as_home(folder: str) -> None:
    for name in [name for name in os.environ if name.startswith("PUNCHLIST_")]:
        del os.environ[name]
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        os.environ[name] = folder


def _planned(url: str) -> punchlist.Desk:
    """A plan of five items, the first in work, with an edit of the user that the agent was not told about."""
    desk = punchlist.open(url, session="s")
    desk.call("plan", {"add": [f"item {number}" for number in range(5)], "start": [1]})
    desk.change(lambda plan: punchlist.ops.complete(plan, "3"), by="user")
    return desk


def _hook_statements(folder: str) -> tuple[list[str], list[str]]:
    """What PostToolUse and Stop ask of the store, each in a session under way."""
    url = f"sqlite:{folder}/hooks.db"
    os.environ["PUNCHLIST_STORE"] = url
    _planned(url).close()
    common = {"session_id": "s", "transcript_path": "", "cwd": folder, "permission_mode": "default"}
    response = {"stdout": "ok", "stderr": "", "interrupted": False}
    used = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}, "tool_response": response}
    stopped = {"stop_hook_active": False, "last_assistant_message": "Next."}
    after_tool = _statements({**common, "hook_event_name": "PostToolUse", **used})
    return after_tool, _statements({**common, "hook_event_name": "Stop", **stopped})


def _statements(event: Mapping[str, Any]) -> list[str]:
    hosts.answer("claude-code", dict(event))  # the second such event of a session is the usual one
    said: list[str] = []
    end = trace(said.append)
    try:
        hosts.answer("claude-code", dict(event))
    finally:
        end()
    return [" ".join(statement.split())[:100] for statement in said if not statement.startswith("--")]


def _call_functions(url: str) -> set[tuple[str, str]]:
    with _planned(url) as desk:
        return _entered(lambda: desk.call("plan", {"done": [1]}))


def _entered(run: Callable[[], object]) -> set[tuple[str, str]]:
    """The functions of ours that are entered, each with its file; comprehensions are part of their function."""
    found: set[tuple[str, str]] = set()
    ours = str(code.ROOT)

    def look(frame: FrameType, event: str, _: object) -> None:
        entered = frame.f_code
        is_part = entered.co_name.startswith("<") and entered.co_name != "<lambda>"
        if event == "call" and entered.co_filename.startswith(ours) and not is_part:
            found.add((os.path.relpath(entered.co_filename, ours), entered.co_qualname))

    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


if __name__ == "__main__":
    sys.exit(main())
