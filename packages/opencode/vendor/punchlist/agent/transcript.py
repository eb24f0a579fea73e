"""A conversation in a file: a line of JSON for each message, only ever added to, for its owner's eyes only."""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.codec import to_json as plan_to_json
from ..core.errors import Refused
from ..core.model import Plan
from ..core.text import cut, inline
from ..dialects.formats import load
from ..local.files import make_folder, utc_text
from .messages import Attachment, Message, Result, Summary, dangling, from_json, to_json

_HEAD = "session"  # the type of a transcript's first line
_CUSTOM = "custom"  # the type of a line that is not a message


class Transcript:
    """The messages of one agent's session. What is added is in the file before the work goes on."""

    def __init__(self, path: str, head: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self._file = _open(path, head is not None)
        self.head, self.messages = dict(head or {}), list[Message]()
        self.unsummed = 0  # tokens it had when it could not be compacted
        if head is not None:
            self._write({"type": _HEAD, **head})
            return
        try:
            self.head, self.messages = _read(self._file, path)
        except Refused:
            self.close()
            raise

    def add(self, message: Message) -> None:
        """Add a message. A summary takes the place of everything before it, for the model, not in the file."""
        self._write({**to_json(message), **_envelope(message)})
        if isinstance(message, Summary):
            self.messages = []
        self.messages.append(message)

    def note_edit(self, plan: Plan) -> None:
        """Write down the plan that an edit of the user led to. It is not a message: the model is told apart."""
        phases = load("oh-my-pi", to_write=True).write(plan)
        data = {"phases": phases, "plan": state_of(plan)}
        self._write({"type": _CUSTOM, "customType": "user_todo_edit", "data": data})

    def close_calls(self, why: str) -> None:
        """Answer the calls that nothing came of: a conversation with an open call cannot go on."""
        for call in dangling(self.messages):
            self.add(Result(call.id, call.tool, why, True))

    def close(self) -> None:
        os.close(self._file)

    def _write(self, entry: Mapping[str, Any]) -> None:
        line = json.dumps({**entry, "at": utc_text()}, default=str) + "\n"
        data = line.encode()
        while data:
            data = data[os.write(self._file, data) :]


def state_of(plan: Plan) -> dict[str, Any]:
    """A plan as a session's log keeps it: without the tool calls of its items, which the log holds already."""
    return plan_to_json(plan)


def _envelope(message: Message) -> dict[str, Any]:
    """What tells an attachment in a log from words of the user: it goes to the model as theirs, and is not shown."""
    if not isinstance(message, Attachment):
        return {}
    return {
        "attachment": {"type": message.kind, "itemCount": message.items},
        "role": "user",
        "isMeta": True,
        "uuid": str(uuid.uuid4()),
        "timestamp": utc_text(),
    }


def head_of(path: str) -> dict[str, Any]:
    """The first line of a transcript; nothing if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            head = json.loads(file.readline())
    except (OSError, ValueError):
        return {}
    if isinstance(head, dict) and head.get("type") == _HEAD:
        return head
    return {}


def _open(path: str, new: bool) -> int:
    make_folder(os.path.dirname(path))
    flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT | os.O_EXCL if new else 0)
    try:
        file = os.open(path, flags, 0o600)
    except FileExistsError:
        raise Refused(f"{path} is there already; --resume goes on with it.") from None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise Refused(f"{path} is in use: the session goes on in another process.") from None
    return file


def _read(file: int, path: str) -> tuple[dict[str, Any], list[Message]]:
    with os.fdopen(os.dup(file), "rb") as source:
        data = source.read()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)  # the end of a line that was being written when its writer died
    head: dict[str, Any] = {}
    messages: list[Message] = []
    for number, entry in _entries(data[:whole], path):
        if entry.get("type") == _HEAD:
            head = entry
            continue
        if entry.get("type") == _CUSTOM:
            continue
        try:
            message = from_json(entry)
        except Refused as refusal:
            raise Refused(f"{path}:{number}: {refusal}") from None
        if isinstance(message, Summary):
            messages = []
        messages.append(message)
    if not head:
        raise Refused(f"{path} is not a transcript: its first line names no session.")
    return head, messages


def _entries(data: bytes, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Refused(f"{path}:{number}: not valid JSON: {cut(inline(str(error)), 100)}.") from None
        if not isinstance(entry, dict):
            raise Refused(f"{path}:{number}: must be an object.")
        yield number, entry
