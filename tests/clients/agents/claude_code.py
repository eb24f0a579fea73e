"""Claude Code, headless."""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.agents import VIA_PACKAGE, Setup, World
from tests.clients.script import Call, Step, does, own, says

FOLDER = "claude"
PACKAGES = ("@anthropic-ai/claude-code@2.1.325",)
SPACE = "mcp__plugin_punchlist_punchlist__" if VIA_PACKAGE else "mcp__punchlist__"  # of our tools and commands
TOOL = f"{SPACE}plan"
NEWEST, OLDER = MODELS = "claude-opus-5-5", "claude-sonnet-4-5"
LOADED = {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1", "ENABLE_TOOL_SEARCH": "false"}
OWN = Setup(environ={**LOADED, "CLAUDE_CODE_ENABLE_TASKS": "0"})
TASKS = Setup(environ=LOADED)
FULL = 98_000
COMPACTS = Setup(environ={"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"})

SETTINGS = {
    ".claude.json": '{"mcpServers": {"other": {"command": "true"}},\n "numStartups": 3}',
    ".claude/settings.json": """{
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
\t"statusLine": {"type": "command", "command": "echo mine"}
}""",
}
EXITS = (0, 3)
ASIDE = "Respond with TEXT ONLY"
LATE, ECHOES = 0, 1
# With a marketplace, its terminal looks for that of its maker; the tests refuse that.
STRAYS = ("CONNECT downloads.claude.ai:443", "CONNECT github.com:443")


def program(folder: Path) -> Path | None:
    found = folder.glob("node_modules/@anthropic-ai/claude-code-*/claude")  # the package's own is a launcher
    return next(iter(sorted(found)), None)


def trust(world: World) -> None:
    known = {"projects": {str(world.project): {"hasTrustDialogAccepted": True}}}
    (world.home / ".claude.json").write_text(json.dumps(known), encoding="utf-8")


def packaged(world: World, packages: str) -> list[list[str]]:
    return [["plugin", "marketplace", "add", packages], ["plugin", "install", "punchlist@punchlist"]]


def environ(world: World, setup: Setup) -> dict[str, str]:
    quiet = ("AUTOUPDATER", "TELEMETRY", "ERROR_REPORTING")
    return {
        **{f"DISABLE_{name}": "1" for name in quiet},
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ANTHROPIC_BASE_URL": world.model,
        "ANTHROPIC_API_KEY": "none",
        **setup.environ,
    }


def command(world: World, prompt: str, resume: bool, setup: Setup) -> list[str]:
    options = ["--output-format", "stream-json", "--verbose", "--model", setup.model or NEWEST]
    again = ["--continue"] if resume else []
    asked = [prompt] if prompt else []
    return [str(world.program), "-p", *asked, *options, *again, *setup.args, "--allowedTools", "Bash", "Task"]


def listed(*items: tuple[str, str]) -> Call:
    todos = [{"content": text, "status": status, "activeForm": f"{text}, now"} for text, status in items]
    return own("TodoWrite", todos=todos)


def delegated(prompt: str) -> list[Step]:
    given = {"description": "Look", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": False}
    return [does(own("Agent", **given))]


def concluded(text: str) -> Step:
    return says(text)
