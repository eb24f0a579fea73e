"""Keep what Ctrl+T made of the setting `expanded`, in a small file in the state folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from ..local.files import write_file
from ..local.settings import expanded_in_files, toggle_file


def remember(expanded: bool, environ: Mapping[str, str] | None = None) -> None:
    """Let `expanded` have this value from now on. Where nothing can be written, it lasts as long as the program."""
    environ = os.environ if environ is None else environ
    kept = {"expanded": expanded, "instead_of": expanded_in_files(environ)}
    try:
        write_file(toggle_file(environ), json.dumps(kept).encode())
    except OSError:
        pass
