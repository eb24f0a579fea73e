"""Hooks that settings list flat, as Cursor does."""

from __future__ import annotations

import json

import pytest

from punchlist.install import flat_hooks, installer_for
from punchlist.install.apply import add_parts, holds, strip_parts
from punchlist.install.parts import Part, Where, hook_command

SCRIPT = "/home/ann/bin/punchlist"


def part(script: str = SCRIPT) -> Part:
    where = Where("user", "/home/ann", "/home/ann/project", script, {})
    return next(one for one in installer_for("cursor").parts(where) if one.name == "hooks")


TEXTS = [
    "",
    "{}",
    '{"version": 1}',
    '{"version": 1, "hooks": {}}\n',
    '{\n  // mine\n  "version": 1,\n  "hooks": {"stop": [{"command": "./mine.sh"}], "afterFileEdit": []},\n}\n',
    '{"hooks":{"stop":[]}}',
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_goes_in_comes_out_again_and_a_second_time_changes_nothing(text: str) -> None:
    new = add_parts(text, [part()], "cursor", SCRIPT, text)
    assert add_parts(new, [part()], "cursor", SCRIPT, text) == new
    assert holds(new, part(), "cursor")
    assert strip_parts(new, [part()], "cursor", text).strip() == (text or "{}").strip()


@pytest.mark.parametrize("text", TEXTS)
def test_hooks_of_others_stay_before_ours(text: str) -> None:
    from punchlist.install.edit_json import read

    new = read(add_parts(text, [part()], "cursor", SCRIPT, text))
    assert new["version"] == 1
    for event, entries in read(text or "{}").get("hooks", {}).items():
        assert new["hooks"][event][: len(entries)] == entries
    assert flat_hooks.find_missing(new["hooks"], part().value, "cursor") == []


def test_an_older_script_is_replaced_and_a_limit_of_the_user_stays() -> None:
    old = add_parts("", [part("/gone/punchlist")], "cursor", "/gone/punchlist")
    new = add_parts(old, [part()], "cursor", SCRIPT)
    assert "/gone/" not in new
    assert flat_hooks.commands(json.loads(new)["hooks"], "cursor") == [hook_command(SCRIPT, "cursor")] * 5
    mine = new.replace('"loop_limit": 5', '"loop_limit": 2')
    assert add_parts(mine, [part()], "cursor", SCRIPT) == mine


def test_a_hook_of_the_user_s_own_that_runs_ours_is_left_alone() -> None:
    text = json.dumps({"version": 1, "hooks": {"stop": [{"command": f"mine.sh && {SCRIPT} hook cursor"}]}})
    new = add_parts(text, [part()], "cursor", SCRIPT)
    assert len(json.loads(new)["hooks"]["stop"]) == 1
    assert flat_hooks.find_theirs(new, ("hooks",), "cursor") == ["stop"]


def test_without_knowing_what_was_there_nothing_of_ours_is_left() -> None:
    new = add_parts("", [part()], "cursor", SCRIPT)
    assert strip_parts(new, [part()], "cursor", None).split() == ["{}"]
