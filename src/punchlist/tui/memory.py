"""What Ctrl+T was last: whether a list is shown, remembered in a small file in the state folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from ..private import make_folder
from ..settings import state_folder

_FILE = "panel.json"


def recalled(face: str, otherwise: bool, environ: Mapping[str, str] | None = None) -> bool:
    """Whether a face (`watch`, `run`) last showed the list; what to take if nobody knows."""
    value = _all(_path(environ)).get(face)
    return value if isinstance(value, bool) else otherwise


def remember(face: str, expanded: bool, environ: Mapping[str, str] | None = None) -> None:
    """Keep it. Where nothing can be written it is forgotten: that is no reason to stop."""
    path = _path(environ)
    try:
        make_folder(os.path.dirname(path))
        draft = f"{path}.{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({**_all(path), face: expanded}, file)
        os.replace(draft, path)
    except OSError:
        pass


def _path(environ: Mapping[str, str] | None) -> str:
    return os.path.join(state_folder(os.environ if environ is None else environ), _FILE)


def _all(path: str) -> dict[str, object]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
