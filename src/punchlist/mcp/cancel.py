"""Requests that are cancelled before their turn."""

from __future__ import annotations

from ..core._typing import Any
from . import protocol
from .transport import Line


def without(queue: list[Line], line: Line) -> list[Line]:
    """The queue without the request that a line cancels. A handshake cannot be cancelled."""
    message = _read(line)
    params = message.get("params") if isinstance(message, dict) else None
    id = protocol.id_of({"id": params.get("requestId")}) if isinstance(params, dict) else None
    if id is None or message.get("method") != "notifications/cancelled" or "id" in message:
        return queue
    return [one for one in queue if not _is(_read(one), id)]


def _is(message: Any, id: protocol.Id) -> bool:
    return protocol.id_of(message) == id and message.get("method") not in (None, "initialize")


def _read(line: Line) -> Any:
    try:
        return protocol.read(line)
    except protocol.ProtocolError:
        return None
