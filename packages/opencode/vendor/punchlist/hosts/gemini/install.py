"""What Gemini CLI reads: https://geminicli.com/docs/reference/configuration"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...install.parts import NAME, PROJECT, Part, StopHook, Where, commit_command, group, hook_command, within
from ..host import own_tools
from . import HOST

TITLE = "Gemini CLI"
PROGRAM = "gemini"
CANNOT = (
    "tells nobody when it has compressed a conversation: the plan is told again with the next prompt or tool result; "
    "it does not let us tell two sub-agents apart that run at the same time; "
    "and it marks answers of tools as untrusted."
)
NEXT = ""

STOP = StopHook("AfterAgent", 1000)
EVENTS = {
    "SessionStart": "",
    "BeforeAgent": "",
    "BeforeTool": f"{own_tools(HOST)}|invoke_agent",  # whose call it is
    "AfterTool": "",
    "AfterAgent": "",
}

SHELL = "run_shell_command"


def home(where: Where) -> str:
    return os.path.join(where.folder("GEMINI_CLI_HOME", ""), ".gemini")


def parts(where: Where) -> tuple[Part, ...]:
    if where.scope == PROJECT:
        folder = os.path.join(where.project, ".gemini")
    else:
        folder = home(where)
    settings = (os.path.join(folder, "settings.json"),)
    command = hook_command(where.starter("gemini"), "gemini")
    hooks: dict[str, Any] = {
        event: group(command, STOP.limit(event), matcher, name=NAME) for event, matcher in EVENTS.items()
    }
    if os.name != "nt":
        commits = group(commit_command(where.starter("gemini"), "gemini"), STOP.limit("BeforeTool"), SHELL, name=NAME)
        hooks["BeforeTool"] = [hooks["BeforeTool"], commits]
    server = {"command": where.script, "args": ["mcp"], "trust": True}
    return (
        Part("server", "entry", settings, ("mcpServers", NAME), server),
        Part("hooks", "hooks", settings, ("hooks",), hooks),
    )


def problems(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    if "server" in there and there["server"].get("trust") is not True:
        found.append(("Gemini CLI asks before calls, and drops the tool where it cannot ask", "set trust to true"))
    disabled = within(there.get("hooks"), "disabled")
    if isinstance(disabled, list) and NAME in disabled:
        found.append(("its hooks are disabled", f"in gemini: /hooks enable {NAME}"))
    return found
