"""The plan in the user's editor. What was changed there is applied to the plan as it is by then."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable

from ..core.errors import Refused, StoreError
from ..core.markdown import read_document, revision_of, write_document
from ..core.merge import merge
from ..core.model import Plan
from ..desk import Desk
from .files import read


def edited(desk: Desk, kept: str | None, apply: Callable[[Callable[[Plan], Plan]], int]) -> int:
    """Open the editor, or take a text that was kept, and apply what changed."""
    if kept:
        text = read(kept, "markdown")
        base = desk.at(_revision(text, desk.plan))
        return apply(_edit(text, base))
    base = desk.plan
    path = _draft(write_document(base))
    _open(path)
    text = read(path, "markdown")
    try:
        code = apply(_edit(text, base))
    except (Refused, StoreError) as error:
        kind = StoreError if isinstance(error, StoreError) else Refused
        raise kind(f"{error}\nyour text is kept; mend it and run: punchlist edit --file {shlex.quote(path)}") from None
    os.unlink(path)
    return code


def _edit(text: str, base: Plan) -> Callable[[Plan], Plan]:
    def edit(now: Plan) -> Plan:
        mine = read_document(text, base._replace(last_id=now.last_id))
        return merge(base, mine, now, mine_wins=True).plan if base.revision != now.revision else mine

    return edit


def _revision(text: str, now: Plan) -> int:
    found = revision_of(text)
    return now.revision if found is None else min(found, now.revision)


def _draft(text: str) -> str:
    handle, path = tempfile.mkstemp(prefix="punchlist-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _open(path: str) -> None:
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        done = subprocess.run([*shlex.split(command), path], check=False)
    except (OSError, ValueError) as error:
        os.unlink(path)
        raise Refused(f"the editor {command!r} could not be started ({error}); set EDITOR.") from None
    if done.returncode:
        os.unlink(path)
        raise Refused(f"the editor {command!r} ended with code {done.returncode}; nothing was changed.")
