"""Plugins that are files: they come with the package, and learn where the script is when they are installed."""

from __future__ import annotations

import json
import os

_BLANK = '"@PUNCHLIST@"'  # in an asset, the place of the script's path


def asset(folder: str, name: str, script: str) -> str:
    """Return the text of a plugin in the folder of its host, with the path of the script in it as a string."""
    path = os.path.join(folder, name)
    with open(path, encoding="utf-8") as file:
        return file.read().replace(_BLANK, json.dumps(script, ensure_ascii=False))
