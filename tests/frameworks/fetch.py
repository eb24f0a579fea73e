"""Install the frameworks that the tests of the adapters run, in their pinned versions, into this environment:
`python tests/frameworks/fetch.py requirements-frameworks.txt`. One that cannot be had is named, and its tests are
skipped."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# By adapter: what is installed for its tests, and what they import.
FRAMEWORKS = {
    "langchain": (("langchain", "langgraph-checkpoint-sqlite"), ("langchain", "langgraph.checkpoint.sqlite")),
    "deepagents": (("deepagents",), ("deepagents",)),
    "pydantic_ai": (("pydantic-ai-slim", "pydantic-ai-harness"), ("pydantic_ai", "pydantic_ai_harness")),
    "openai_agents": (("openai-agents",), ("agents",)),
    "claude_sdk": (("claude-agent-sdk",), ("claude_agent_sdk",)),
    "agent_framework": (("agent-framework-core",), ("agent_framework",)),
    "adk": (("google-adk",), ("google.adk",)),
    "smolagents": (("smolagents",), ("smolagents",)),
    "acp": (("agent-client-protocol",), ("acp",)),
}
TOOLS = ("editables", "hatchling", "hypothesis", "mypy", "pytest", "pytest-xdist", "tiktoken")


def main(lock: Path) -> int:
    if not _pip("--require-hashes", "-r", str(lock)):
        print("all frameworks are there", flush=True)
        return 0
    with tempfile.TemporaryDirectory() as folder:  # one by one, in the same versions
        pins = Path(folder, "pins.txt")
        pins.write_text("\n".join(re.findall(r"^[\w.-]+==\S+", lock.read_text("utf-8"), re.M)), "utf-8")
        trouble = _pip("-c", str(pins), *TOOLS)
        if trouble:
            print(trouble, file=sys.stderr)
            return 1
        for name, (packages, _) in FRAMEWORKS.items():
            trouble = _pip("-c", str(pins), *packages)
            print(f"{name}: {'cannot be installed here: ' + trouble if trouble else 'is there'}", flush=True)
    return 0


def _pip(*words: str) -> str:
    """Install something; the last line of what went wrong, if something did."""
    command = [sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", "--no-input", "install", *words]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    return ""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
