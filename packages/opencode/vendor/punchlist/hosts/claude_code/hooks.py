"""The hooks of Claude Code that lead to us: in its settings, or in a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...install.parts import NAME, StopHook, group
from ..host import own_tools
from . import HOST

STOP = StopHook()
PLUGIN = f"plugin:{NAME}:{NAME}"  # what our server is called if it comes with the plugin
_EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop")
SWITCH = "PostModelSwitch"  # an event that older versions do not know
# Of all commands in a shell, those that are ours, and those that may commit or open a pull request. A version that does
# not know the key `if` runs the hook for all of them. Each rule takes time with every command, and a command with a
# here-document or `$(...)` fits every rule, so a rule stands for as many words as it can: `commit`; `pr create` and
# `mr create`; `punchlist` and `pull-request`. Who reads the event leaves alone what else fits.
_SHELL = "Bash"
_COMMANDS = ("commit", "r create", "pu*l*st")
# What the running server is told of an event; it is not connected yet when a session starts.
_COMMON = ("session_id", "cwd", "agent_id", "permission_mode", "transcript_path")
_USED = ("tool_name", "tool_use_id", "tool_input")
_SERVED = {
    "UserPromptSubmit": ("prompt",),
    "PreToolUse": _USED,
    "PostToolUse": (*_USED, "tool_response", "duration_ms"),
    "PostToolUseFailure": (*_USED, "error", "is_interrupt", "duration_ms"),
    "Stop": ("last_assistant_message", "background_tasks", "session_crons"),
    SWITCH: ("from_model", "to_model"),
}


def process_hooks(command: str) -> dict[str, Any]:
    """Return a hook for each event that starts a process."""
    return {event: group(command, STOP.limit(event), _matcher(event)) for event in (*_EVENTS, SWITCH)}


def served_hooks(server: str, proof: Mapping[str, str]) -> dict[str, Any]:
    """Return hooks without a process, for the events that a running server can be told, field by field. `proof`: what
    shows the server that it is a hook which asks."""
    return {event: _served(event, server, proof) for event in _SERVED}


def with_commands(hooks: Mapping[str, Any]) -> dict[str, Any]:
    """Return hooks with those for commands in a shell that may be of interest."""
    calls = hooks["PreToolUse"]
    return {**hooks, "PreToolUse": [calls, *[_in_shell(calls, words) for words in _COMMANDS]]}


def _served(event: str, server: str, proof: Mapping[str, str]) -> dict[str, Any]:
    given = {"host": "claude-code", **proof, "hook_event_name": event}
    given |= {name: f"${{{name}}}" for name in (*_COMMON, *_SERVED[event])}
    handler = {"type": "mcp_tool", "server": server, "tool": "hook", "input": given, "timeout": STOP.limit(event)}
    matcher = _matcher(event)
    if matcher:
        return {"matcher": matcher, "hooks": [handler]}
    return {"hooks": [handler]}


def _matcher(event: str) -> str:
    """Before a tool is used, it is asked whose call it is; every tool but ours is left alone."""
    if event == "PreToolUse":
        return own_tools(HOST)
    return ""


def _in_shell(group: Mapping[str, Any], words: str) -> dict[str, Any]:
    """The same hook, for commands in a shell that hold these words. A `*` in them stands for anything."""
    [handler] = group["hooks"]
    return {"matcher": _SHELL, "hooks": [{**handler, "if": f"{_SHELL}(*{words}*)"}]}
