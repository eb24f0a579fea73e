"""The plan in the user's editor. What was changed there is applied to the plan as it is by then."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable

from ..core.errors import Refused, StoreError
from ..core.markdown import read_document, revision_of, write_document
from ..core.merge import merge
from ..core.model import Plan
from ..desk import Desk
from .input import read
from .output import complain


class _Empty(Refused):
    """There is nothing in the text."""


def edit_in_editor(desk: Desk, kept: str | None, apply: Callable[[Callable[[Plan], Plan]], int]) -> int:
    """Open the editor, or take a text that was kept, and apply what changed."""
    if kept:
        text = _read_back(kept)
        base = desk.at(_revision(text, desk.plan))
        return apply(_edit(text, base))
    base = desk.plan
    draft = write_document(base)
    path = _write_draft(draft)
    _open(path, draft)
    try:
        code = apply(_edit(_read_back(path), base))
    except _Empty:
        os.unlink(path)
        raise
    except (Refused, StoreError) as error:
        if not os.path.exists(path):
            raise
        kept_as = f"{error}\nyour text is kept; fix it and run: punchlist edit --file {shlex.quote(path)}"
        if isinstance(error, StoreError):
            raise StoreError(kept_as) from None
        raise Refused(kept_as) from None
    os.unlink(path)
    return code


def _read_back(path: str) -> str:
    """Return what the user wrote. An empty text is refused: as a rule the editor could not save."""
    text: str = read(path, "markdown")
    if not text.strip():
        raise _Empty("the text is empty, so nothing was changed; to remove items: punchlist rm ID.")
    return text


def _edit(text: str, base: Plan) -> Callable[[Plan], Plan]:
    def edit(now: Plan) -> Plan:
        mine = read_document(text, base._replace(last_id=now.last_id))
        if base.revision == now.revision:
            return mine
        return merge(base, mine, now, mine_wins=True).plan

    return edit


def _revision(text: str, now: Plan) -> int:
    found = revision_of(text)
    if found is None:
        return now.revision
    return min(found, now.revision)


def _write_draft(text: str) -> str:
    handle, path = tempfile.mkstemp(prefix="punchlist-", suffix=".md")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        os.unlink(path)
        raise StoreError(f"{path} cannot be written: {error.strerror}; make room there, or set TMPDIR.") from None
    return path


def _open(path: str, draft: str) -> None:
    """Wait for the editor. If it fails or is interrupted, what the user saved in it stays."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("vi" if sys.stdin.isatty() else "")
    if not command:
        os.unlink(path)
        raise Refused("there is no terminal for an editor; set EDITOR, or name a text: punchlist edit --file FILE")
    try:
        done = subprocess.run([*shlex.split(command), path], check=False)
    except (OSError, ValueError) as error:
        os.unlink(path)
        why = getattr(error, "strerror", "") or error
        raise Refused(f"the editor {command!r} could not be started ({why}); set EDITOR.") from None
    except KeyboardInterrupt:
        kept = _keep_or_remove(path, draft)
        if kept:
            complain(f"interrupted; nothing was changed.{kept}")
        raise
    if done.returncode:
        kept = _keep_or_remove(path, draft)
        raise Refused(f"the editor {command!r} {_how_it_ended(done.returncode)}; nothing was changed.{kept}")


def _how_it_ended(code: int) -> str:
    if code > 0:
        return f"ended with code {code}"
    try:
        return f"was killed ({signal.Signals(-code).name})"
    except ValueError:  # one without a name
        return f"was killed (signal {-code})"


def _keep_or_remove(path: str, draft: str) -> str:
    """Keep what the user wrote, and return a line that says where it is; remove a draft that is as it was, or empty."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if text == draft or not text.strip():
            os.unlink(path)
            return ""
    except FileNotFoundError:
        return ""
    return f"\nyour text is kept; to apply it, run: punchlist edit --file {shlex.quote(path)}"
