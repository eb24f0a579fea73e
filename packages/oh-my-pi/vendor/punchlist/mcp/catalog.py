"""What a client is offered beside tools: prompts, resources, and what fills in their arguments. Loaded with the first
request for it: an agent that starts does not wait for it."""

from __future__ import annotations

from collections.abc import Callable

from ..core._typing import TYPE_CHECKING, Any
from ..core.errors import Refused, StoreError
from . import prompts, protocol, resources
from .card import CARD, HTML_TYPE, read_card
from .protocol import Id, Message, ProtocolError, Request

if TYPE_CHECKING:
    from ..desk import Desk

NOT_FOUND = -32002  # of a resource, until the era without a handshake
_LONGEST = 10_000  # characters of an argument
_VALUES = 100  # of one completion
_UPDATED = "notifications/resources/updated"


class Catalog:
    """Prompts and resources for one connection.

    `desk_of` opens the desk of the user behind a request, `facts_of` says what is known about its agent, `has_card`
    whether the client shows cards, `is_off` whether punchlist is off here.
    """

    def __init__(
        self,
        desk_of: Callable[[Request | None], Desk],
        facts_of: Callable[[Request], Any],
        has_card: Callable[[Request], bool],
        is_off: Callable[[], bool],
    ) -> None:
        self._desk_of, self._facts_of, self._has_card, self._is_off = desk_of, facts_of, has_card, is_off
        self._followed: list[str] = []  # in the era of the handshake: without a subscription of its own
        self._subscribed: dict[Id, list[str]] = {}  # by subscription
        self._watch = resources.Watch()
        self.methods: dict[str, Callable[[Request], Message]] = {
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
            "completion/complete": self._complete,
        }

    # --- prompts -----------------------------------------------------------------------------------------------------

    def _list_prompts(self, request: Request) -> Message:
        _refuse_cursor(request)
        if self._is_off():
            return {"prompts": []}
        facts = self._facts_of(request)
        splits = bool(facts and facts.splits_prompts)
        return {"prompts": prompts.listed(at_once=_at_once(facts), splits=splits)}

    def _get_prompt(self, request: Request) -> Message:
        name = _text_of(request, "name")
        arguments = request.params.get("arguments")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise ProtocolError(protocol.INVALID_PARAMS, "params.arguments must be an object.")
        for key, value in arguments.items():
            if not isinstance(value, str) or len(value) > _LONGEST:
                words = f"argument {key[:60]!r} must be a string of at most {_LONGEST} characters."
                raise ProtocolError(protocol.INVALID_PARAMS, words)
        self._require_on()
        text = self._ask(
            request, lambda desk: prompts.get(desk, name, arguments, at_once=_at_once(self._facts_of(request)))
        )
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": prompts.PROMPTS[name].about, "messages": [message]}

    def _complete(self, request: Request) -> Message:
        ref, argument = request.params.get("ref"), request.params.get("argument")
        if not isinstance(ref, dict) or not isinstance(argument, dict):
            raise ProtocolError(protocol.INVALID_PARAMS, "params.ref and params.argument must be objects.")
        value = argument.get("value")
        if not isinstance(value, str):
            raise ProtocolError(protocol.INVALID_PARAMS, "params.argument.value must be a string.")
        found: list[str] = []
        if not self._is_off() and argument.get("name") == "id":
            found = self._ask(request, lambda desk: _completions(desk, ref, value))
        return {"completion": {"values": found[:_VALUES], "total": len(found), "hasMore": len(found) > _VALUES}}

    # --- resources ---------------------------------------------------------------------------------------------------

    def _list_resources(self, request: Request) -> Message:
        _refuse_cursor(request)
        found: list[Message] = []
        if not self._is_off():
            found = list(resources.RESOURCES)
        return {"resources": found}

    def _list_templates(self, request: Request) -> Message:
        _refuse_cursor(request)
        found: list[Message] = []
        if not self._is_off():
            found = list(resources.TEMPLATES)
        return {"resourceTemplates": found}

    def _read(self, request: Request) -> Message:
        uri = _text_of(request, "uri")
        self._require_on()
        if uri == CARD and self._has_card(request):
            return {"contents": [{"uri": uri, "mimeType": HTML_TYPE, "text": read_card()}]}
        found: Message = self._ask(request, lambda desk: resources.read(desk, uri))
        return found

    def _subscribe(self, request: Request) -> Message:
        uri = _text_of(request, "uri")
        if not resources.is_known(uri):
            self._ask(request, lambda desk: resources.read(desk, uri))
        if uri not in self._followed:
            self._followed.append(uri)
            self._follow()
        return {}

    def _unsubscribe(self, request: Request) -> Message:
        uri = _text_of(request, "uri")
        if uri in self._followed:
            self._followed.remove(uri)
            self._follow()
        return {}

    # --- subscriptions -----------------------------------------------------------------------------------------------

    @property
    def is_followed(self) -> bool:
        """Whether somebody wants to be told of changes."""
        return not self._watch.is_empty

    def listen(self, id: Id, uris: list[str]) -> None:
        """Follow resources for a subscription of the era without a handshake."""
        self._subscribed[id] = uris
        self._follow()

    def cancel(self, id: Id) -> None:
        if self._subscribed.pop(id, None) is not None:
            self._follow()

    def look(self) -> list[Message]:
        """Return what to tell of resources that have changed."""
        if self._watch.is_empty or self._is_off():
            return []
        try:
            changed = self._watch.changed(self._desk_of(None))
        except (StoreError, Refused):  # it is looked at again
            return []
        said = [protocol.notification(_UPDATED, uri=uri) for uri in changed if uri in self._followed]
        for id, uris in self._subscribed.items():
            said += [protocol.notification(_UPDATED, id, uri=uri) for uri in changed if uri in uris]
        return said

    def _follow(self) -> None:
        wanted = [*self._followed, *(uri for uris in self._subscribed.values() for uri in uris)]
        desk: Desk | None = None
        try:
            if wanted:
                desk = self._desk_of(None)
        except (StoreError, Refused):  # what is there is seen with the first look that succeeds
            pass
        self._watch.keep(desk, wanted)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _require_on(self) -> None:
        if self._is_off():
            raise ProtocolError(protocol.INVALID_PARAMS, "punchlist is off here; `punchlist on` turns it on.")

    def _ask(self, request: Request, work: Callable[[Desk], Any]) -> Any:
        """Do something with the plan; what is wrong is an error of JSON-RPC."""
        try:
            return work(self._desk_of(request))
        except resources.NoResource as problem:
            code = protocol.INVALID_PARAMS
            if not request.stateless:
                code = NOT_FOUND
            uri = request.params.get("uri")
            raise ProtocolError(code, str(problem), {"uri": uri} if isinstance(uri, str) else None) from None
        except Refused as problem:
            raise ProtocolError(protocol.INVALID_PARAMS, str(problem)) from None
        except StoreError as error:
            raise ProtocolError(protocol.INTERNAL_ERROR, str(error)) from None


def known_uris(value: Any) -> list[str]:
    """Return those of the addresses that a subscription asks for that can be followed, each once."""
    if not isinstance(value, list):
        return []
    found = [uri for uri in value[:_VALUES] if isinstance(uri, str) and resources.is_known(uri)]
    return list(dict.fromkeys(found))


def _completions(desk: Desk, ref: dict[str, Any], value: str) -> list[str]:
    if ref.get("type") == "ref/resource":
        return resources.complete(desk, str(ref.get("uri")), value)
    prompt = prompts.PROMPTS.get(str(ref.get("name")))
    if ref.get("type") != "ref/prompt" or prompt is None:
        raise Refused("params.ref must name a prompt or the template of a resource.")
    if any(one.name == "id" for one in prompt.arguments):
        return prompts.complete(desk, value)
    return []


def _at_once(facts: Any) -> bool:
    return bool(facts and facts.runs_prompts)


def _text_of(request: Request, name: str) -> str:
    value = request.params.get(name)
    if not isinstance(value, str):
        raise ProtocolError(protocol.INVALID_PARAMS, f"params.{name} must be a string.")
    return value


def _refuse_cursor(request: Request) -> None:
    if request.params.get("cursor") is not None:
        raise ProtocolError(protocol.INVALID_PARAMS, "there is no such cursor; all are on one page.")
