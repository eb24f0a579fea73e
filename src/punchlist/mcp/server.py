"""One connection: what is asked, and what is answered. It reads and writes nothing itself but plans."""

from __future__ import annotations

from collections.abc import Callable

from ..core._typing import TYPE_CHECKING, Any
from ..core.errors import Refused, StoreError
from ..core.model import NOTHING
from ..core.text import cut, inline
from ..dialects.wire import WRITERS, with_output
from ..local.settings import Settings
from . import protocol
from .callers import Callers
from .protocol import Id, Message, ProtocolError, Request
from .tools import Offer, Tools
from .transport import LongLine, RawLine, is_event

if TYPE_CHECKING:
    from .catalog import Catalog

_SUBSCRIPTIONS = 64  # of one client
_BATCH = 1000  # messages on one line
_LOOKS = 1.0  # seconds between looks at what is offered, while somebody wants to know
_FOLLOWS = 0.1  # the same while somebody follows a resource
_LISTS = ("tools", "prompts", "resources")  # whose changes are told
_MORE = (  # methods of `catalog`
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
)
_CARD_TOOL = "plan_card"  # for the card alone
_HOOK = "hook"  # a tool for agents, not for models: it is on no list
_STRUCTURED = "punchlist/structured"  # asks for what an answer means as data, beside its text
_NO_WORDS = "{}"  # of a hook with nothing to say: of an empty text, Claude Code tells its model
_NEVER_KEPT: Message = {"ttlMs": 0, "cacheScope": "private"}


class Server:
    """What one client is told. `offer` decides which tools there are."""

    def __init__(
        self,
        settings: Settings,
        callers: Callers,
        *,
        plan: str = "",
        is_plugin: bool = False,
        offer: Offer | None = None,
    ) -> None:
        self._callers = callers
        self._tools = Tools(settings, callers, plan, offer, is_plugin=is_plugin)
        self._greeted = False  # by a handshake
        self._structured = False  # whether the client asked for data beside the text of every answer
        self._shows_cards = False  # whether the client that greeted shows cards
        self._catalog: Catalog | None = None  # once something beside tools was asked for
        self._subscriptions: dict[Id, tuple[str, ...]] = {}  # the lists whose changes each is told of
        self._was_silent = False  # whether punchlist was off when that was last looked at
        self._known: list[str] | None = None  # the names of the tools, as the client knows them
        self._methods: dict[str, Callable[[Request], Message | None]] = {
            "initialize": self._initialize,
            "ping": lambda request: {},
            "tools/list": self._list,
            "tools/call": self._call,
            "server/discover": self._discover,
            "subscriptions/listen": self._listen,
        }

    # --- messages ----------------------------------------------------------------------------------------------------

    def answer(self, line: RawLine) -> list[Message | list[Message]]:
        """What to say to a line, whatever is in it."""
        try:
            return self._answers(line)
        except ProtocolError as problem:
            if isinstance(line, LongLine):
                return [self._refuse(line, problem)]
            return [protocol.failed(None, problem)]
        except Exception as error:
            return [protocol.failed(None, _of_ours(error))]

    def _answers(self, line: RawLine) -> list[Message | list[Message]]:
        message = protocol.read(line)
        if not isinstance(message, list):
            return [*self._replies(message)]
        if not message:
            raise ProtocolError(protocol.INVALID_REQUEST, "a batch must not be empty.")
        if len(message) > _BATCH:
            raise ProtocolError(
                protocol.INVALID_REQUEST, f"a batch of {len(message)} is too long; {_BATCH} are the most."
            )
        replies = [reply for one in message for reply in self._replies(one)]
        if replies:
            return [replies]
        return []

    def _refuse(self, line: LongLine, problem: ProtocolError) -> Message:
        """The answer to a line that is too long. Nobody is told that a hook event was: a hook fails open."""
        id = protocol.id_within(line)
        if id is None or self._callers.hosts is None or not is_event(line.head):
            return protocol.failed(id, problem)
        from ..local.event_log import write_error

        write_error("hook", Refused(str(problem)))
        return protocol.succeeded(Request(id, "tools/call", {}, {}, False), _text(_NO_WORDS))

    def look(self) -> list[Message]:
        """What to say unasked: that other tools are offered now, and which resources have changed. A store that hooks
        do not use any more is closed."""
        if self._callers.hosts is not None:
            self._callers.hosts.close_stores(unused=True)
        said: list[Message] = []
        if self._is_watched:
            said = self._look_at_lists()
        if self._catalog is not None:
            said += self._catalog.look()
        return said

    def _look_at_lists(self) -> list[Message]:
        """Which lists are others now. Those of prompts and resources change only when punchlist is turned off or on."""
        changed = []
        before, tools = self._known, self._tools.decide_offer()
        if before is not None and tools is not None and before != [tool.name for tool in tools]:
            self._known = [tool.name for tool in tools]
            changed = ["tools"]
        if self._catalog is not None and self._was_silent != (is_silent := self._tools.is_silent()):
            self._was_silent = is_silent
            changed += ["prompts", "resources"]
        said = []
        for name in changed:
            method = f"notifications/{name}/list_changed"
            if self._greeted and (name != "resources" or self._lists_resources(self._tools.client, self._shows_cards)):
                said.append(protocol.notification(method))
            said += [protocol.notification(method, id) for id, wanted in self._subscriptions.items() if name in wanted]
        return said

    @property
    def patience(self) -> float | None:
        """How many seconds to wait for the next line before having a look; for ever, if there is nothing to see."""
        if self._catalog is not None and self._catalog.is_followed:
            return _FOLLOWS
        if self._is_watched:
            return _LOOKS
        return None

    def end(self) -> list[Message]:
        """What to say at the end."""
        self._tools.desks.close()
        if self._callers.hosts is not None:
            self._callers.hosts.close_stores()
        said: list[Message] = []
        for id in self._subscriptions:
            over = {"_meta": {protocol.SUBSCRIPTION_KEY: id}}
            said.append(protocol.succeeded(Request(id, "subscriptions/listen", {}, {}, True), over))
            said.append(protocol.notification("notifications/cancelled", requestId=id))
        return said

    def _replies(self, message: Any) -> list[Message]:
        """The answer to one message, if it wants one."""
        is_asked = not isinstance(message, dict) or "id" in message or "method" not in message
        try:
            request = protocol.understood(message)
            if request is None or request.id is None:
                self._hear(request)
                return []
            if request.stateless:
                self._tools.take_dialect(self._tools.client_of(request))
            result = self._method(request.method)(request)
            return [self._begun(request) if result is None else protocol.succeeded(request, result)]
        except ProtocolError as error:
            problem = error
        except Exception as error:
            problem = _of_ours(error)
        if is_asked:
            return [protocol.failed(protocol.id_of(message), problem)]
        return []

    def _hear(self, said: Request | None) -> None:
        if said is None:
            return
        if said.method == "notifications/initialized":
            self._greeted = True
            self._remember()
        elif said.method == "notifications/cancelled":
            id = said.params.get("requestId")
            ended = [one for one in self._subscriptions if (type(one), one) == (type(id), id)]
            for one in ended:
                del self._subscriptions[one]
                if self._catalog is not None:
                    self._catalog.cancel(one)

    def _method(self, name: str) -> Callable[[Request], Message | None]:
        found = self._methods.get(name)
        if found is None and name in _MORE:
            return self._method_beside_tools(name)
        if found is None:
            known = ", ".join([*self._methods, *_MORE])
            raise ProtocolError(
                protocol.METHOD_NOT_FOUND, f"no method {cut(inline(name), 60)!r}; the methods are {known}."
            )
        return found

    def _method_beside_tools(self, name: str) -> Callable[[Request], Message]:
        """A method of the catalog. Its answers are as fresh as those about tools."""
        method = self._offers_beside_tools().methods[name]

        def answer(request: Request) -> Message:
            found = method(request)
            if request.stateless and name not in ("prompts/get", "completion/complete"):
                return {**found, **_NEVER_KEPT}
            return found

        return answer

    def _offers_beside_tools(self) -> Catalog:
        if self._catalog is None:
            from .catalog import Catalog

            self._catalog = Catalog(self._tools.desk_of_user, self._facts_of, self._has_card, self._tools.is_silent)
            self._was_silent = self._tools.is_silent()
        return self._catalog

    # --- methods -----------------------------------------------------------------------------------------------------

    def _initialize(self, request: Request) -> Message:
        self._tools.greet(request.params.get("clientInfo"))
        declared = request.params.get("capabilities")
        self._structured = _STRUCTURED in protocol.object_in(declared, "experimental")
        self._shows_cards = protocol.shows_cards(declared)
        return {
            "protocolVersion": protocol.version_for(request.params.get("protocolVersion")),
            "capabilities": self._capabilities(self._tools.client, self._shows_cards),
            "serverInfo": protocol.server(),
            **self._tools.instructions(),
        }

    def _discover(self, request: Request) -> Message:
        _must_be_stateless(request)
        about = {
            "capabilities": self._capabilities(self._tools.client_of(request), self._has_card(request)),
            **self._tools.instructions(),
        }
        return {"supportedVersions": list(protocol.STATELESS), **about, **_NEVER_KEPT}

    def _capabilities(self, client: str, has_card: bool) -> Message:
        """What there is for this client. One that shows cards reads them as resources."""
        return protocol.capabilities(resources=self._lists_resources(client, has_card), cards=has_card)

    def _lists_resources(self, client: str, has_card: bool) -> bool:
        """Whether a client is told that there are resources. Some agents send their model more with every request to
        every server that has any."""
        return has_card or not self._callers.hides_resources(client)

    def _has_card(self, request: Request) -> bool:
        """Whether the client shows the plan as a card."""
        if request.stateless:
            return protocol.shows_cards(request.meta.get(protocol.CAPABILITIES_KEY))
        return self._shows_cards

    def _list(self, request: Request) -> Message:
        if request.params.get("cursor") is not None:
            raise ProtocolError(protocol.INVALID_PARAMS, "there is no such cursor; all tools are on one page.")
        tools = self._tools.offered()
        self._known = [tool.name for tool in tools]
        write = with_output if self._wants_data(request) else WRITERS["mcp"]
        described = [write(tool) for tool in tools]
        if described and self._has_card(request):
            from . import card

            described = [*map(card.shown, described), card.own_tool()]
        return {"tools": described, **(_NEVER_KEPT if request.stateless else NOTHING)}

    def _call(self, request: Request) -> Message:
        name = request.params.get("name")
        if not isinstance(name, str):
            raise ProtocolError(protocol.INVALID_PARAMS, "params.name must be a string: the name of a tool.")
        if name == _HOOK and self._callers.hosts is not None:
            host = self._callers.host_of(self._tools.client_of(request))
            said = self._callers.hosts.answer_served(request.params.get("arguments"), host)
            if said is not None:
                return _text(said or _NO_WORDS)
        has_card = self._has_card(request)
        if has_card and name == _CARD_TOOL:
            return self._press(request)
        names = [tool.name for tool in self._tools.dialect.tools]
        if name not in names:
            known = ", ".join(names)
            raise ProtocolError(protocol.INVALID_PARAMS, f"no tool {cut(inline(name), 60)!r}; the tools are {known}.")
        reply = self._tools.carry_out(request, name)
        answer = _text(reply.text, is_error=reply.is_error)
        if self._wants_data(request) and not reply.is_error and self._promises_data(name):
            answer["structuredContent"] = dict(reply.details)
        if has_card:
            answer["_meta"] = self._for_card(request)
        return answer

    def _press(self, request: Request) -> Message:
        """A button of the card. The answer is for the card: no model reads it."""
        from .card import press

        if self._tools.is_silent():
            return _text("punchlist is off here; `punchlist on` turns it on.", is_error=True)
        if not self._callers.speaks_for_user:
            return _text("the card is for the user, and this is the shell of an agent.", is_error=True)
        try:
            words, data = press(self._tools.desk_of_user(request), request.params.get("arguments"))
        except (StoreError, Refused) as error:
            return _text(str(error), is_error=True)
        return {**_text(words), "structuredContent": data}

    def _for_card(self, request: Request) -> Message:
        """The plan as the card draws it, where no model reads it; nothing, if the store does not say."""
        from . import card

        try:
            return {card.DATA: card.data_of(self._tools.desks.of(request.meta, self._tools.client_of(request)))}
        except (StoreError, Refused):
            return {}

    def _wants_data(self, request: Request) -> bool:
        """Whether the client asked for data beside the text. Some agents show their model the data alone where there
        is any, so nobody gets it unasked."""
        return self._structured or request.meta.get(_STRUCTURED) is True

    def _promises_data(self, name: str) -> bool:
        return any(tool.name == name and tool.output for tool in self._tools.dialect.tools)

    def _listen(self, request: Request) -> None:
        """Open a subscription. Its answer comes when it ends; what is said now is that it has begun."""
        _must_be_stateless(request)
        if not isinstance(request.params.get("notifications"), dict):
            raise ProtocolError(protocol.INVALID_PARAMS, "params.notifications must be an object.")
        if request.id is None or request.id in self._subscriptions or len(self._subscriptions) >= _SUBSCRIPTIONS:
            words = f"a subscription needs an id of its own, and {_SUBSCRIPTIONS} are the most."
            raise ProtocolError(protocol.INVALID_REQUEST, words)
        wanted, uris = _wanted_lists(request), self._wanted_resources(request)
        if wanted or uris:
            self._subscriptions[request.id] = wanted
            self._remember()
        if uris:
            self._offers_beside_tools().listen(request.id, uris)

    def _begun(self, request: Request) -> Message:
        accepted: Message = {f"{name}ListChanged": True for name in _wanted_lists(request)}
        uris = self._wanted_resources(request)
        if uris:
            accepted["resourceSubscriptions"] = uris
        return protocol.notification("notifications/subscriptions/acknowledged", request.id, notifications=accepted)

    def _wanted_resources(self, request: Request) -> list[str]:
        """The resources that a subscription follows."""
        wanted = request.params["notifications"].get("resourceSubscriptions")
        if not wanted:
            return []
        from .catalog import known_uris

        return known_uris(wanted)

    def _facts_of(self, request: Request) -> Any:
        """What is known about the agent that asks; nothing, where its model asks in a shell."""
        if self._callers.speaks_for_user:
            return self._callers.facts_of(self._tools.client_of(request))
        return None

    def _remember(self) -> None:
        """Whoever is to be told of changes is taken to know the tools that there are now."""
        if self._known is None and (tools := self._tools.decide_offer()) is not None:
            self._known = [tool.name for tool in tools]

    @property
    def _is_watched(self) -> bool:
        """Whether somebody wants to hear that tools come and go."""
        return self._greeted or bool(self._subscriptions)


def _of_ours(error: Exception) -> ProtocolError:
    """An error of ours ends one request, not the server."""
    from ..local.event_log import write_error

    write_error("mcp", error)
    words = f"{type(error).__name__}: {cut(inline(str(error)), 300)}"
    return ProtocolError(protocol.INTERNAL_ERROR, f"an error of punchlist itself: {words}")


def _text(words: str, *, is_error: bool = False) -> Message:
    """The result of a tool call."""
    return {"content": [{"type": "text", "text": words}], "isError": is_error}


def _wanted_lists(request: Request) -> tuple[str, ...]:
    """The lists whose changes a subscription asks for."""
    wanted = request.params["notifications"]
    return tuple(name for name in _LISTS if wanted.get(f"{name}ListChanged") is True)


def _must_be_stateless(request: Request) -> None:
    if not request.stateless:
        raise ProtocolError(protocol.INVALID_PARAMS, f"params._meta[{protocol.VERSION_KEY!r}] is missing.")
