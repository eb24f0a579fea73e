"""The default check of a project, written into its settings file."""

from __future__ import annotations

import json
import tomllib

from ..core.errors import Refused
from .settings import FILE


def with_default_check(text: str, command: str) -> str:
    """The text of a settings file with a default check. Raises Refused if it cannot be put there."""
    line = f"default = {json.dumps(command)}\n"
    lines = text.splitlines(keepends=True)
    heads = [place for place, one in enumerate(lines) if one.split("#")[0].strip() == "[checks]"]
    if heads:
        lines.insert(heads[0] + 1, line)
    else:
        if lines:
            lines[-1] = lines[-1].rstrip("\n") + "\n"
            lines.append("\n")
        lines += ["[checks]\n", line]
    made = "".join(lines)
    try:
        before, after = tomllib.loads(text), tomllib.loads(made)
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"{FILE}: {error}; add it by hand: [checks] default = {json.dumps(command)}") from None
    before.setdefault("checks", {})["default"] = command
    if before != after:
        raise Refused(f"{FILE}: add it by hand: [checks] default = {json.dumps(command)}")
    return made
