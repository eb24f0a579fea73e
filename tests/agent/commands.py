"""`punchlist run` as a process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def script(folder: Path, *turns: dict[str, Any], **more: Any) -> str:
    """A script in a file, as the name of a model."""
    path = folder / f"script-{time.monotonic_ns()}.json"
    path.write_text(json.dumps({"turns": list(turns), **more}))
    return f"script:{path}"


def until(condition: Callable[[], Any], what: str, seconds: float = 30) -> Any:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)  # between two looks
    raise AssertionError(f"waited in vain: {what}")


def transcripts(home: Path) -> list[Path]:
    """The transcripts of main agents, oldest first."""
    return sorted((home / "punchlist" / "sessions").glob("*[!.]*.jsonl"))


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
