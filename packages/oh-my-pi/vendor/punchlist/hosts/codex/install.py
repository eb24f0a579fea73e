"""What Codex reads: https://developers.openai.com/codex/config"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from ...install.parts import NAME, PROJECT, Part, StopHook, Where, commit_command, group, handlers, hook_command, within
from ..host import own_tools
from . import HOST

TITLE = "Codex"
PROGRAM = "codex"
CANNOT = "shows the model nothing at a compaction itself; the plan comes back with the session start that follows it."
NEXT = "start codex and trust the hooks: /hooks. Until then Codex skips them."
APPROVAL = "default_tools_approval_mode"
STOP = StopHook()

EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": own_tools(HOST),
    "PostToolUse": "",
    "Stop": "",
}
SHELL = "Bash"  # what hooks are told that its shell is called, whatever the model calls it
_UNMATCHED = ("UserPromptSubmit", "Stop")  # events of which Codex does not read a matcher
# Codex gives a server only the variables that it is told to: without these it would look for plans somewhere else, and
# treat calls differently than hooks and commands do.
_SETTINGS = """
    STORE DIALECT OFF PLAN SESSION AGENT BY VOICE VOICES TOLERANT USER_CLOSED_IS_FINAL STRICT_PAUSE INTERACTIVE
    REDACT_CALLS SQLITE_SYNCHRONOUS KEEP_HISTORY VERIFY AUTO_DONE DEFAULT_CHECK VERIFY_MINUTES KEEP_OUTPUT LOOK_MS
"""
_VARIABLES = ["XDG_STATE_HOME", "XDG_CONFIG_HOME", *(f"PUNCHLIST_{name}" for name in _SETTINGS.split())]
# Where newer models would have to look for the tool, or to write code for it: it is to be in sight from the start.
_HIDDEN = ["deferred", "code_mode"]
SERVER = {
    "env_vars": _VARIABLES,
    APPROVAL: "approve",
    "omit_tools_from": _HIDDEN,
}  # what its entry has beside a command


def home(where: Where) -> str:
    return where.folder("CODEX_HOME", ".codex")


def parts(where: Where) -> tuple[Part, ...]:
    if where.scope == PROJECT:
        folder = os.path.join(where.project, ".codex")
    else:
        folder = home(where)
    server = {"command": where.script, "args": ["mcp"], **SERVER}
    command = hook_command(where.starter("codex"), "codex")
    hooks: dict[str, Any] = {event: group(command, STOP.limit(event), matcher) for event, matcher in EVENTS.items()}
    if os.name != "nt":
        commits = group(commit_command(where.starter("codex"), "codex"), STOP.limit("PreToolUse"), SHELL)
        hooks["PreToolUse"] = [hooks["PreToolUse"], commits]
    return (
        Part("server", "entry", (os.path.join(folder, "config.toml"),), ("mcp_servers", NAME), server),
        Part("hooks", "hooks", (os.path.join(folder, "hooks.json"),), ("hooks",), hooks),
    )


def problems(where: Where, there: Mapping[str, Any]) -> list[tuple[str, str]]:
    from ...install import about, content
    from ...install.edit_toml import read

    path = os.path.join(home(where), "config.toml")
    with about(path):
        config = read(content(path))
    hooks = next(part for part in parts(where) if part.name == "hooks").files[0]
    found = []
    if "server" in there and there["server"].get(APPROVAL, "auto") not in ("approve", "auto"):  # auto: as our tools say
        words = f"Codex asks before calls, and refuses them in `codex exec`: {APPROVAL}"
        found.append((words, 'set it to "approve"'))
    said = there.get("hooks") or {}
    return found + hook_problems(said, handlers(said, "codex"), {hooks, os.path.realpath(hooks)}, config)


def hook_problems(
    hooks: dict[str, Any], ours: Iterable[tuple[str, int, int]], files: set[str], config: dict[str, Any]
) -> list[tuple[str, str]]:
    """Return what keeps hooks from being run, and how to fix it. `ours`: the places of our own among them; `files`:
    what Codex calls the file that they are in."""
    found = []
    skipped = _untrusted(hooks, ours, files, config)
    if skipped:
        words = f"Codex skips hooks that you have not trusted: {', '.join(skipped)}"
        found.append((words, "start codex, and trust them: /hooks"))
    if within(config, "features", "hooks") is False:
        found.append(("hooks are switched off: features.hooks in config.toml", "set it to true"))
    return found


def _untrusted(
    hooks: dict[str, Any], ours: Iterable[tuple[str, int, int]], files: set[str], config: dict[str, Any]
) -> list[str]:
    """The events whose hook Codex skips: it has no word in the user's config.toml that you have trusted just this."""
    states = within(config, "hooks", "state")
    states = states if isinstance(states, dict) else {}
    missing = []
    for event, number, place in ours:
        wanted = _hash(event, hooks[event][number], hooks[event][number]["hooks"][place])
        found = [states.get(f"{file}:{_label(event)}:{number}:{place}") for file in files]
        if not any(_trusts(state, wanted) for state in found):
            missing.append(event)
    return list(dict.fromkeys(missing))


def _trusts(state: Any, wanted: str) -> bool:
    return isinstance(state, dict) and state.get("enabled", True) and state.get("trusted_hash") == wanted


def _label(event: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in event).lstrip("_")


def _hash(event: str, entry: dict[str, Any], handler: dict[str, Any]) -> str:
    """What Codex writes down when it is told to trust a hook."""
    one = {"type": "command", "command": handler.get("command"), "timeout": handler.get("timeout", 600), "async": False}
    said: dict[str, Any] = {"event_name": _label(event), "hooks": [one]}
    if entry.get("matcher") and event not in _UNMATCHED:
        said["matcher"] = entry["matcher"]
    words = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(words.encode(errors='replace')).hexdigest()}"
