"""What Qwen Code reads: https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...install.parts import (
    NAME,
    PROJECT,
    Part,
    StopHook,
    Where,
    commit_command,
    group,
    hook_command,
    prompt_command,
    within,
)
from ..host import own_tools
from . import HOST

TITLE = "Qwen Code"
PROGRAM = "qwen"
CANNOT = (
    "nudges an agent at most 8 times in a row (stopHookBlockingCap); "
    "it does not wait for the plan after a compaction: that may come one request later."
)
NEXT = ""

STOP = StopHook()
_EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": own_tools(HOST),  # whose call it is
    "PostToolUse": "",
    "PostToolUseFailure": "",
    "Stop": "",
}
_SHELL = "run_shell_command"


def home(where: Where) -> str:
    return where.folder("QWEN_HOME", ".qwen")


def parts(where: Where) -> tuple[Part, ...]:
    settings = (_settings(where),)
    starter = where.starter("qwen-code")
    command = hook_command(starter, "qwen-code")
    hooks: dict[str, Any] = {
        event: group(command, STOP.limit(event), matcher, name=NAME) for event, matcher in _EVENTS.items()
    }
    if os.name != "nt":
        commits = group(commit_command(starter, "qwen-code"), STOP.limit("PreToolUse"), _SHELL, name=NAME)
        hooks["PreToolUse"] = [hooks["PreToolUse"], commits]
        prompts = prompt_command(starter, "qwen-code")
        hooks["UserPromptSubmit"] = group(prompts, STOP.limit("UserPromptSubmit"), name=NAME)
    # Without `alwaysLoadTools` the model would have to look for the tool before it can call it.
    server = {"command": where.script, "args": ["mcp"], "trust": True, "alwaysLoadTools": True}
    return (
        Part("server", "entry", settings, ("mcpServers", NAME), server),
        Part("hooks", "hooks", settings, ("hooks",), hooks),
    )


def problems(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    from ...install import content
    from ...install.edit_json import read

    said = read(content(_settings(where)))
    found = []
    if said.get("disableAllHooks"):
        found.append(("hooks are switched off: disableAllHooks in its settings", "set it to false"))
    excluded = within(said, "mcp", "excluded")
    if isinstance(excluded, list) and NAME in excluded:
        found.append(("the server is switched off: mcp.excluded in its settings", f"take {NAME} out of it"))
    if "server" in there and there["server"].get("trust") is not True:
        found.append(("Qwen Code asks before calls, and refuses them where it cannot ask", "set trust to true"))
    return found


def _settings(where: Where) -> str:
    if where.scope == PROJECT:
        return os.path.join(where.project, ".qwen", "settings.json")
    return os.path.join(home(where), "settings.json")
