"""Keep what Ctrl+T made of the setting `expanded`, in a small file in the state folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from ..local.files import make_folder
from ..local.settings import expanded_in_files, toggle_file


def remember(expanded: bool, environ: Mapping[str, str] | None = None) -> None:
    """Let `expanded` have this value from now on. Where nothing can be written, it lasts as long as the program."""
    environ = os.environ if environ is None else environ
    path = toggle_file(environ)
    kept = {"expanded": expanded, "instead_of": expanded_in_files(environ)}
    try:
        make_folder(os.path.dirname(path))
        draft = f"{path}.{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(kept, file)
        os.replace(draft, path)
    except OSError:
        pass
