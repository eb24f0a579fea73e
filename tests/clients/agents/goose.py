"""Goose, headless."""

from __future__ import annotations

from pathlib import Path

from tests.clients.agents import Setup, World

FOLDER = "goose"
PACKAGES = ("@aaif/goose-binary-linux-x64@1.52.0",)
EXITS = (None, None)
ASIDE = ""
SETTINGS = {
    "config/goose/config.yaml": """# mine
GOOSE_PROVIDER: openai
GOOSE_MODEL: gpt-4o
extensions:
  developer:
    enabled: true
    type: platform
    name: developer
    description: dev
    bundled: true
""",
}


def program(folder: Path) -> Path | None:
    path = folder / "node_modules" / "@aaif" / "goose-binary-linux-x64" / "bin" / "goose"
    return path if path.exists() else None


def environ(world: World, setup: Setup) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "none",
        "OPENAI_HOST": world.model,
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "gpt-4o",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_ENABLED": "false",
        **setup.environ,
    }


def command(world: World, prompt: str, resume: bool, setup: Setup) -> list[str]:
    return [str(world.program), "run", "-t", prompt, "--name", "t", *(["--resume"] if resume else [])]
