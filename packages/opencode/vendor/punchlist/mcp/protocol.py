"""The Model Context Protocol on the wire, in both its eras: https://modelcontextprotocol.io/specification

Up to 2025-11-25 a connection begins with a handshake. Since 2026-07-28 there is none, and every request brings its
version in `_meta`. Which era a request is of can be seen from the request alone, so nothing is remembered of it.
"""

from __future__ import annotations

import json

from .. import __version__
from ..core._typing import Any, NamedTuple, NoReturn
from ..core.model import NOTHING
from ..core.text import cut, inline
from .transport import LongLine, RawLine

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022

Message = dict[str, Any]
Id = str | int

_CHANGES: Message = {"listChanged": True}
_CARDS = "io.modelcontextprotocol/ui"  # an extension: a client that shows cards declares it
_CARD_TYPE = "text/html;profile=mcp-app"


class ProtocolError(Exception):
    """A request that cannot be answered, as JSON-RPC says it."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Request(NamedTuple):
    """A request, or a notification if it has no id."""

    id: Id | None
    method: str
    params: dict[str, Any]
    meta: dict[str, Any]
    stateless: bool  # of the era without a handshake


def read(line: bytes | LongLine) -> Any:
    """Return what a line says. Raises `ProtocolError`."""
    if isinstance(line, LongLine):
        raise ProtocolError(
            INVALID_REQUEST, f"a message of {line.size} bytes is too long; {line.longest} are the most."
        )
    try:
        return _DECODER.decode(line.decode("utf-8-sig"))
    except RecursionError:
        raise ProtocolError(PARSE_ERROR, "the message is nested too deeply.") from None
    except ValueError as error:
        raise ProtocolError(PARSE_ERROR, f"the message is not JSON in UTF-8: {cut(inline(str(error)), 200)}.") from None


def understood(message: Any) -> Request | None:
    """The request in a message; none, if it answers something. Raises `ProtocolError`."""
    if not isinstance(message, dict):
        raise ProtocolError(INVALID_REQUEST, "a message must be an object.")
    method = message.get("method")
    if method is None and ("result" in message or "error" in message):
        return None
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise ProtocolError(INVALID_REQUEST, 'a request must have "jsonrpc": "2.0" and a method.')
    if "id" in message and id_of(message) is None:
        raise ProtocolError(INVALID_REQUEST, "the id of a request must be a string or an integer.")
    params = message.get("params")
    if not isinstance(params, dict | None):
        raise ProtocolError(INVALID_PARAMS, "params must be an object.")
    params = params or {}
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        meta = {}
    return Request(id_of(message), method, params, meta, method != "initialize" and _is_stateless(meta))


def id_of(message: Any) -> Id | None:
    """The id of a request, if it has one that can be answered."""
    id = None
    if isinstance(message, dict):
        id = message.get("id")
    if type(id) in (str, int):
        return id
    return None


def without_cancelled(queue: list[RawLine], line: RawLine) -> list[RawLine]:
    """Return the queue without the request that a line cancels. A handshake cannot be cancelled."""
    message = _read_or_none(line)
    params = None
    if isinstance(message, dict):
        params = message.get("params")
    id = None
    if isinstance(params, dict):
        id = id_of({"id": params.get("requestId")})
    if id is None or message.get("method") != "notifications/cancelled" or "id" in message:
        return queue
    return [one for one in queue if not _is_request(_read_or_none(one), id)]


def _is_request(message: Any, id: Id) -> bool:
    return id_of(message) == id and message.get("method") not in (None, "initialize")


def _read_or_none(line: RawLine) -> Any:
    try:
        return read(line)
    except ProtocolError:
        return None


def id_within(line: LongLine) -> Id | None:
    """The id of a message that was too long to be kept, if its beginning or its end shows it for certain."""
    import re

    name, value = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*', rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")'
    found = re.match(rb"\s*\{\s*(?:%b)*%b\s*," % (name, value), line.head)
    found = found or re.search(rb"\}\s*,\s*(?:%b)+%b\s*\}\s*$" % (name, value), line.tail)
    if found:
        return id_of({"id": json.loads(found[1].decode("utf-8", "replace"))})
    return None


def version_for(asked: Any) -> str:
    """The version of a handshake: the one that was asked for, if we speak it, else our latest."""
    return next((version for version in HANDSHAKE if version == asked), HANDSHAKE[-1])


def succeeded(request: Request, result: Message) -> Message:
    if request.stateless:
        result = {"resultType": "complete", **result, "_meta": {**result.get("_meta", NOTHING), SERVER_KEY: server()}}
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def failed(id: Id | None, error: ProtocolError) -> Message:
    data = {} if error.data is None else {"data": error.data}
    return {"jsonrpc": "2.0", "id": id, "error": {"code": error.code, "message": str(error), **data}}


def notification(method: str, subscription: Id | None = None, **params: Any) -> Message:
    """Something we say unasked; on a subscription, with its id."""
    if subscription is not None:
        params["_meta"] = {SUBSCRIPTION_KEY: subscription}
    return {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}


def server() -> Message:
    """Who we are."""
    return {"name": "punchlist", "title": "Punchlist", "version": __version__}


def capabilities(*, resources: bool, cards: bool) -> Message:
    """What we can do for a client: `resources` and `cards` not for everybody."""
    found: Message = {"tools": _CHANGES, "prompts": _CHANGES, "completions": {}}
    if resources:
        found["resources"] = {"subscribe": True, **_CHANGES}
    if cards:
        found["extensions"] = {_CARDS: {"mimeTypes": [_CARD_TYPE]}}
    return found


def shows_cards(capabilities: Any) -> bool:
    """Whether a client with these capabilities shows cards of our kind."""
    types = object_in(object_in(capabilities, "extensions"), _CARDS).get("mimeTypes")
    return isinstance(types, list) and _CARD_TYPE in types


def object_in(values: Any, name: str) -> Message:
    """An object within an object; an empty one if there is none."""
    found = None
    if isinstance(values, dict):
        found = values.get(name)
    if isinstance(found, dict):
        return found
    return {}


def to_line(message: Message | list[Message]) -> bytes:
    return _ENCODER.encode(message).encode() + b"\n"


def _is_stateless(meta: dict[str, Any]) -> bool:
    """Whether a request is of the newer era. Raises `ProtocolError` if it is and lacks what it must have."""
    if VERSION_KEY not in meta:
        return False
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"params._meta[{VERSION_KEY!r}] must be a string.")
    if CAPABILITIES_KEY not in meta:
        raise ProtocolError(INVALID_PARAMS, f"params._meta[{CAPABILITIES_KEY!r}] is missing.")
    if version not in STATELESS:
        supported = {"supported": list(STATELESS), "requested": version}
        raise ProtocolError(
            UNSUPPORTED_VERSION, f"protocol version {cut(inline(version), 40)!r} is not supported.", supported
        )
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
_ENCODER = json.JSONEncoder(separators=(",", ":"))
