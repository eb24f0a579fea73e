"""Our tools, under the names that agents give them."""

from __future__ import annotations

import json
import os
import re

import pytest

import punchlist
from punchlist.dialects import PATHS
from punchlist.dialects import load as load_dialect
from punchlist.hosts import HOSTS, load
from punchlist.hosts.host import TOOLS, own_tool, own_tools
from tests.commands import do

NAMES = {  # as each agent names `plan`, of a server that is registered and of one that a plugin brings
    "claude-code": ("mcp__punchlist__plan", "mcp__plugin_punchlist_punchlist__plan"),
    "codex": ("mcp__punchlist__plan",),
    "gemini": ("mcp_punchlist_plan",),
    "opencode": ("punchlist_plan",),
    "oh-my-pi": ("mcp__punchlist_plan", "xd://mcp__punchlist_plan", "mcp__punchlist_punchlist_plan"),
    "goose": ("punchlist__plan",),
    "qwen-code": ("mcp__punchlist__plan",),
    "cursor": ("MCP:plan", "MCP:punchlist:plan", "mcp__punchlist__plan"),
    "copilot": ("punchlist-plan", "mcp_punchlist_plan"),
}
FOREIGN = (
    "mcp__other__punchlist_export",
    "mcp__other__punchlist_plan",
    "mcp__punchlist__",
    "mcp__punchlist_export__plan",
    "mcp__plugin_other_punchlist_tools__plan",
    "my_punchlist_plan",
    "read_punchlist",
    "punchlist",
    "plan",
    "Bash",
    "",
)
every_host = pytest.mark.parametrize("host", HOSTS)


def test_the_table_of_our_tools_has_those_of_every_dialect() -> None:
    assert {tool.name for name in PATHS for tool in load_dialect(name).tools} == TOOLS


def test_every_agent_is_tested() -> None:
    assert NAMES.keys() == HOSTS.keys()


@every_host
def test_every_tool_of_ours_is_recognized_under_every_name_that_the_agent_gives_it(host: str) -> None:
    room = load(host).HOST
    for name in NAMES[host]:
        for tool in TOOLS:
            assert own_tool(name.removesuffix("plan") + tool, room) == tool
            assert own_tool(name.removesuffix("plan") + tool.casefold(), room) == tool.casefold()


@every_host
@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_tool_is_not_ours_whatever_its_name_holds(host: str, name: str) -> None:
    assert own_tool(name, load(host).HOST) == ""


@every_host
def test_hooks_for_our_tools_alone_match_all_of_their_names_and_no_other(host: str) -> None:
    pattern = own_tools(load(host).HOST)
    for name in NAMES[host]:
        assert re.fullmatch(pattern, name.removeprefix("xd://"))
    for name in ("Bash", "mcp__other__punchlist_export", "read_punchlist"):
        assert not re.fullmatch(pattern, name)


@pytest.mark.usefixtures("own_project")
@pytest.mark.parametrize(
    ("name", "writer"),
    [("mcp__plugin_punchlist_punchlist__plan", "`plan`"), ("mcp__other__punchlist_export", "")],
)
def test_a_call_by_a_plugin_s_name_is_a_write_and_one_of_a_foreign_tool_is_an_observed_call(
    name: str, writer: str
) -> None:
    with punchlist.open(session="s") as desk:
        desk.call("plan", {"add": ["Read"]})
        event = {"hook_event_name": "PostToolUse", "session_id": "s", "cwd": os.getcwd(), "tool_name": name}
        do("hook", "claude-code", stdin=json.dumps({**event, "tool_input": {"done": ["1"]}, "tool_response": "ok"}))
        assert len(desk.load(calls=True).items[0].calls) == (0 if writer else 1)
