"""Codex, headless."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.clients.agents import Setup, World
from tests.clients.script import Call, Step, does, own, says

FOLDER = "codex"
PACKAGES = ("@openai/codex@0.166.0",)
TOOL = "mcp__punchlist__plan"
NEWEST, NEWER, OLDER = MODELS = "gpt-6.1-sol", "gpt-5.5", "gpt-5.4"
OWN = Setup(args=("-c", "tools.update_plan.enabled=true"))
CAUTIOUS = Setup(settings={"trust": False})  # it runs only hooks that the user has trusted
FULL = 60_000
COMPACTS = Setup(args=("-c", "model_auto_compact_token_limit=50000"))

SETTINGS = {
    ".codex/config.toml": "# mine\nfile_opener = 'none'  # odd quotes\n\n[mcp_servers.other]\ncommand='true'\n"
    '[projects."$PROJECT"]\ntrust_level = "trusted"\n',  # else Codex writes that
    ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
}
EXITS = (0, 3)  # from its log
ASIDE = "CONTEXT CHECKPOINT COMPACTION"
LATE, ECHOES = 0, 1
# With plugins on, it looks for those of its maker, whatever is installed; the tests refuse that.
STRAYS = tuple(f"CONNECT {host}:443" for host in ("github.com", "api.github.com", "chatgpt.com"))


def program(folder: Path) -> Path | None:
    found = folder.glob("node_modules/@openai/codex-*/vendor/*/bin/codex")
    return next(iter(sorted(found)), None)


def trust(world: World) -> None:
    """`codex exec` trusts the project that it is started in by itself."""


def trust_hooks(world: World, file: str, hooks: dict[str, Any]) -> None:
    """Write what Codex writes when the user trusts hooks: the digest of what each would run."""
    with (world.home / ".codex" / "config.toml").open("a", encoding="utf-8") as config:
        for event, groups in hooks.items():
            name = "".join(f"_{char.lower()}" if char.isupper() else char for char in event).lstrip("_")
            for number, group in enumerate(groups):
                handler = {"async": False, **group["hooks"][0]}
                said = {**group, "event_name": name, "hooks": [handler]}
                digest = sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
                config.write(f'\n[hooks.state."{file}:{name}:{number}:0"]\ntrusted_hash = "sha256:{digest}"\n')


def packaged(world: World, packages: str) -> list[list[str]]:
    return [["plugin", "marketplace", "add", packages], ["plugin", "add", "punchlist@punchlist"]]


def environ(world: World, setup: Setup) -> dict[str, str]:
    return {"MODEL_KEY": "none", **setup.environ}


def command(world: World, prompt: str, resume: bool, setup: Setup) -> list[str]:
    provider = {
        "name": "scripted",
        "base_url": f"{world.model}/v1",
        "env_key": "MODEL_KEY",
        "wire_api": "responses",
        "request_max_retries": 0,
        "stream_max_retries": 0,
    }
    values = {
        "model": setup.model or NEWEST,
        "model_provider": "scripted",
        "check_for_update_on_startup": False,
        "analytics.enabled": False,
        "otel.exporter": "none",
        **{f"features.{name}": False for name in ("apps", "remote_plugin")},
        "features.plugins": (world.home / ".codex" / "plugins").exists(),
        **{f"model_providers.scripted.{name}": value for name, value in provider.items()},
    }
    given = [word for name, value in values.items() for word in ("-c", f"{name}={json.dumps(value)}")]
    trust = [] if setup == CAUTIOUS else ["--dangerously-bypass-hook-trust"]
    flags = ["--json", "--skip-git-repo-check", *trust, "-s", "danger-full-access"]
    return [str(world.program), "exec", *given, *flags, *setup.args, *(["resume", "--last"] if resume else []), prompt]


def listed(*items: tuple[str, str]) -> Call:
    return own("update_plan", plan=[{"step": text, "status": status} for text, status in items])


def delegated(prompt: str) -> list[Step]:
    spawn = own("spawn_agent", task_name="look", message=prompt, fork_turns="none")
    return [does(spawn), does(own("wait_agent", timeout_ms=30_000))]


def concluded(text: str) -> Step:
    return says(text)
