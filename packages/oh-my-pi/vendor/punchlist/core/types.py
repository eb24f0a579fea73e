"""Words of which a value is one, for type checkers. Nothing loads this while a hook runs: it needs `typing`."""

from __future__ import annotations

from typing import Literal

Status = Literal["pending", "in_progress", "blocked", "completed", "abandoned"]  # of an item
Mode = Literal["act", "plan", "quiet"]  # of a plan
Format = Literal["json", "markdown", "claude-code", "claude-tasks", "oh-my-pi", "llxprt", "transcript"]  # of a plan
ToolFormat = Literal["anthropic", "openai", "mcp"]  # of tool definitions
