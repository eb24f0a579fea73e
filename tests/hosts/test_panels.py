"""What the panels in the screens of opencode and oh-my-pi share: rows of a plan, and what the user types."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import punchlist.hosts
from punchlist.install import installer_for
from punchlist.install.parts import PROJECT, USER, Where

FOLDER = Path(punchlist.hosts.__file__).parent
NODE = shutil.which("node") or ""
needs_node = pytest.mark.skipif(not NODE, reason="needs node")
HOSTILE = "\x1b]0;pwned\x07\x1b[2J\u202e\u2066a\nb\tc\u2028\ud83d\udc69\u200d\ud83d\udc67\x9b31m"


def evaluated(expression: str, given: Any = None, script: Path = Path("punchlist")) -> Any:
    """What an expression of JavaScript is, with what panels share."""
    shared = (FOLDER / "panel.js").read_text(encoding="utf-8").replace("@PUNCHLIST@", str(script))
    code = f"{shared}\nconst given = {json.dumps(given)}\n"
    code += f"console.log(JSON.stringify({expression}))"
    words = [NODE, "--input-type=module", "-e", code]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["opencode", "oh-my-pi"])
@pytest.mark.parametrize("scope", [USER, PROJECT])
def test_a_panel_is_one_file_that_knows_the_script(name: str, scope: str) -> None:
    where = Where(scope, "/home/u", "/work", '/opt/a "b"/punchlist', {})
    panels = [part for part in installer_for(name).parts(where) if part.name == "panel" and part.kind == "file"]
    (text,) = [part.value(where.script) for part in panels]
    assert 'const PUNCHLIST = "/opt/a \\"b\\"/punchlist"\n' in text
    assert "@PUNCHLIST@" not in text
    assert "@SHARED@" not in text
    assert text.count("function planOf(") == 1


@needs_node
def test_a_text_acts_on_nothing_and_fits() -> None:
    shown = evaluated("safe(given)", HOSTILE)
    assert shown.isprintable()
    assert "pwned" in shown
    assert evaluated("['', 'a', 'ab', 'abc', '日本'].map((text) => fit(text, 2))") == ["", "a", "ab", "a…", "…"]
    assert evaluated("[widthOf('日本'), widthOf('▶ a'), fit('abc', 0), safe(undefined), safe(7)]") == [
        4,
        3,
        "",
        "",
        "7",
    ]
    assert len(evaluated("safe('long '.repeat(100000))")) <= 2000


@needs_node
def test_what_is_typed_is_one_argument_and_means_the_same_as_in_every_agent(tmp_path: Path) -> None:
    """`punchlist slash` reads it: the panel adds nothing, and takes nothing away."""
    script = tmp_path / "punchlist"
    script.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\necho "  in: $PUNCHLIST_PANEL"\ncat\n')
    script.chmod(0o755)
    line = "drop 3 --why $(touch x) `y` 'it doesn't pay' \x1b[2J"
    asked = "await carried(given, { called: 'plan', who: { session: 's1', agent: 'a2' } })"
    found = evaluated(asked, line, script)
    words = ["--session=s1", "--agent=a2", "slash", "--called=plan", "--", line.replace("\x1b", "\ufffd"), "  in: 1"]
    assert found["ok"]
    assert found["lines"][:-1] == words
    assert len(found["lines"][-1]) == 48, "the key of the panel, on standard input"


@needs_node
def test_the_words_that_can_be_typed_are_those_of_the_command() -> None:
    script = Path(sys.executable).parent / "punchlist"
    found = dict(evaluated("await verbs()", None, script))
    assert {"add", "done", "waive", "rename"} <= set(found)
    assert found["drop"] == "ID WHY  give an item up, or mark it as blocked"
    assert evaluated("await verbs()", None, Path("/nowhere/punchlist")) == []


@needs_node
def test_what_is_next_waits_for_nothing() -> None:
    items = [
        {"id": "1", "text": "a", "status": "completed", "grade": "verified"},
        {"id": "2", "text": "b", "status": "pending", "needs": ["3"]},
        {"id": "3", "text": "c", "status": "blocked", "reason": "no access"},
        {"id": "4", "text": "d", "status": "pending"},
        {"id": "5", "text": "e", "status": "pending", "parent": "4"},
        {"id": "6", "text": "f", "status": "abandoned"},
    ]
    found = evaluated("planOf(given)", {"items": items, "paused": {"reason": "lunch"}})
    assert (found["next"]["id"], found["done"], found["total"], found["blocked"]) == ("5", 1, 5, 1)
    assert (found["paused"], found["items"][0]["grade"], found["items"][4]["depth"]) == ("lunch", "verified", 1)


@needs_node
@pytest.mark.parametrize("given", [None, [], 7, {}, {"items": None}, {"items": [{}]}, {"items": [{"parent": "x"}]}])
def test_any_json_is_a_plan(given: Any) -> None:
    assert evaluated("rowsOf(planOf(given), 5)", given) is not None


@needs_node
def test_parts_that_hang_in_a_circle_end() -> None:
    items = [{"id": "1", "text": "a", "parent": "2"}, {"id": "2", "text": "b", "parent": "1"}]
    assert evaluated("planOf(given).items.map((item) => item.depth)", {"items": items}) == [3, 3]


@needs_node
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 14])
def test_a_window_has_what_is_active_and_counts_the_others(limit: int) -> None:
    items = [{"id": str(n), "text": f"Item {n}"} for n in range(1, 501)]
    for active in (1, 2, 250, 499, 500):
        marked = [{**item, "status": "in_progress"} if item["id"] == str(active) else item for item in items]
        rows = evaluated(f"rowsOf(planOf(given), {limit})", {"items": marked})
        shown = [row["item"]["id"] for row in rows if "item" in row]
        assert str(active) in shown
        assert len(rows) <= limit
        left = sum(int(row["more"].split()[0]) for row in rows if "more" in row)
        assert limit < 3 or left + len(shown) == 500
