"""The tools of one connection: which are offered at the moment, in whose words, and a call of one carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ..core._typing import Any
from ..core.errors import Refused, StoreError
from ..core.model import NOTHING
from ..desk import Desk
from ..desk.tool_call import decline, report_failure
from ..desk.visible import visible
from ..desk.voice import voice_for
from ..dialects import Dialect, Reply, Tool, load, offered
from ..local.models import last_model
from ..local.on_off import is_off
from ..local.settings import DEFAULT_DIALECT, Settings, for_host, place
from ..policy.dialect_guide import Audience
from ..prompts import say
from . import protocol
from .callers import Callers
from .desks import Desks
from .protocol import Message, Request

_ADDITION = "wait_for_previous"


Offer = Callable[[Dialect, str, Callable[[], Desk]], tuple[Tool, ...]]


class Tools:
    """The tools of the dialect that the client's agent was attached with. `offer` decides which there are."""

    def __init__(
        self, settings: Settings, callers: Callers, plan: str, offer: Offer | None, *, is_plugin: bool
    ) -> None:
        self.dialect = load(settings.dialect)
        self.desks = Desks(settings, callers, self.dialect, plan)
        self.client = ""  # that greeted
        self._settings, self._callers, self._plan = settings, callers, plan
        self._is_plugin = is_plugin
        self._offer = offer or offer_now
        self._is_off = settings.off
        self._session = callers.session
        self._taken = ""  # the client whose dialect is spoken
        self._voice: str | None = None  # how much the model is told; None: not decided yet

    # --- for whom ----------------------------------------------------------------------------------------------------

    def greet(self, client: Any) -> None:
        """Take the name that a client gives itself, once for all its requests."""
        self.client = _name_of(client)
        self.take_dialect(self.client)

    def client_of(self, request: Request) -> str:
        """The name of the client that makes a request."""
        return _name_of(request.meta.get(protocol.CLIENT_KEY)) or self.client

    def take_dialect(self, client: str) -> None:
        """Speak the dialect that this client's agent was attached with. A client that does not greet names itself with
        every request."""
        if client == self._taken:
            return
        self._taken = client
        self._is_off = self._settings.off or self._has_rival(client)
        self._voice = None
        own = for_host(self._settings, self._callers.host_of(client))
        if own.dialect != self.dialect.name:
            self.dialect = load(own.dialect)
            self.desks.close()
            self.desks = Desks(own, self._callers, self.dialect, self._plan)

    def _has_rival(self, client: str) -> bool:
        """Whether this is the server of a package, and the agent has one in its settings, too."""
        hosts, host = self._callers.hosts, self._callers.host_of(client)
        return self._is_plugin and hosts is not None and bool(host) and hosts.is_attached(host, _place())

    def instructions(self) -> Message:
        """What the model is told about the tools, in the words of the dialect; nothing, if there are none."""
        tools = self.offered()
        if not tools:
            return {}
        if self.dialect.name == DEFAULT_DIALECT or not self.dialect.system:
            return {"instructions": say("mcp")}
        host = self._callers.facts_of(self._taken)
        words = say(self.dialect.system, tool=tools[0].name, shell=host.shell if host else "shell")
        rule = say("mcp.commit")
        return {"instructions": f"{words.rstrip()}\n\n{rule}"}

    # --- what is offered ---------------------------------------------------------------------------------------------

    def is_silent(self) -> bool:
        """Whether punchlist is off here, or for the session that the server was started for."""
        return self._is_off or is_off(_place(), self._session)

    def offered(self) -> tuple[Tool, ...]:
        """The tools that are offered now; the usual ones, if that cannot be said: a client asks only once."""
        tools = self.decide_offer()
        if tools is None:
            return self._in_voice(offered(self.dialect, continuing=False))
        return tools

    def decide_offer(self) -> tuple[Tool, ...] | None:
        """The tools that are offered now; None, if that cannot be said."""
        try:
            if self._is_off:
                return ()
            return self._in_voice(self._offer(self.dialect, self._session, self._desk))
        except Exception:  # a store that is out of reach, or an error of ours
            return None

    def _in_voice(self, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """The tools with the descriptions for the client's model: the one that the same agent had here last. That is
        decided once: a description that changes in the middle of a conversation costs the cache of all of it."""
        if not any(tool.full for tool in tools):
            return tuple(tools)
        if self._voice is None:
            host = self._callers.host_of(self._taken)
            self._voice = voice_for(self._settings, last_model(host, _place()) if host else "")
        return tuple([tool.in_voice(self._voice) for tool in tools])

    def _desk(self) -> Desk:
        return self.desks.latest(self.client)

    # --- calls -------------------------------------------------------------------------------------------------------

    def carry_out(self, request: Request, name: str) -> Reply:
        """One tool call. What the store has to complain of is an answer, too."""
        args = _without_additions(request.params.get("arguments"))
        client = self.client_of(request)
        try:
            desk = self.desks.of(request.meta, client)
        except (StoreError, Refused) as error:
            self._hold_back(request, name, args, error)
            return Reply(str(error), is_error=True)
        try:
            tools = self.decide_offer()
            if tools is not None and _is_withdrawn(name, self.dialect.tools, tools):
                return decline(desk, name, f"{name} is switched off at present.")
            # Where the store does not say whether the agent goes on, a pause is not refused: it fails, and stops it.
            goes_on = tools is None or any(tool.only_continuing for tool in tools)
            return _with_list(desk, desk.call(name, {} if args is None else args, continuing=goes_on))
        except Refused as refusal:
            return decline(desk, name, str(refusal))
        except StoreError as error:
            return report_failure(desk, name, error)

    def _hold_back(self, request: Request, name: str, args: Any, error: Exception) -> None:
        """Let an agent stop that asked for a pause, though there is no store to keep it in."""
        from ..desk.holding import hold_back_session
        from ..desk.tool_call import asks_for_pause

        if asks_for_pause(self.dialect, name, args):
            who = self._callers.who(request.meta, self.client_of(request))
            hold_back_session(who.session, who.agent, f"its pause failed: {error}")

    def desk_of_user(self, request: Request | None) -> Desk:
        """The desk of the user behind a request; without one, behind this connection."""
        if request is None:
            return self.desks.of_user(NOTHING, self.client or self._taken)
        return self.desks.of_user(request.meta, self.client_of(request))


def offer_now(dialect: Dialect, session: str, desk: Callable[[], Desk]) -> tuple[Tool, ...]:
    """Return the tools of a dialect that can be called now: none while punchlist is off, here or for the session that
    the server was started for. `desk` opens the plan of whoever called last: it is asked only where that matters,
    because a list of tools should not wait for a store."""
    if is_off(_place(), session):
        return ()
    may_pause = any(tool.only_continuing for tool in dialect.tools)
    return tuple(offered(dialect, continuing=may_pause and _is_continuing(desk())))


@cache
def _place() -> str:
    """Where the server works: an agent starts it in its project, and there it stays."""
    return place()


def _is_continuing(desk: Desk) -> bool:
    """Whether the agent was nudged since the user last spoke."""
    from ..desk.nudges import is_continuing

    return is_continuing(desk)


def _with_list(desk: Desk, reply: Reply) -> Reply:
    """The answer; where it tells of an edit of the user's, with the list behind it in the form of a dialect that sends
    it whole, so that the next list holds the edit."""
    if not desk._seat.owes_list:
        return reply
    desk._seat.owes_list = False
    guide = desk.dialect.guide
    plan = visible(desk, desk.plan)
    if not guide.sends_whole or not plan.items or (guide.answers_with_list and not reply.is_error):
        return reply
    return reply._replace(text=f"{reply.text}\n{guide.listed(plan, 'changed', Audience()).text}")


def _name_of(client: Any) -> str:
    name = None
    if isinstance(client, dict):
        name = client.get("name")
    if isinstance(name, str):
        return name
    return ""


def _without_additions(args: Any) -> Any:
    """The arguments that are meant for a tool. Gemini CLI offers its model one more with each, and passes it on."""
    if isinstance(args, dict):
        return {name: args[name] for name in args if name != _ADDITION}
    return args


def _is_withdrawn(name: str, known: tuple[Tool, ...], offered: tuple[Tool, ...]) -> bool:
    """Whether a tool is not offered now that otherwise always is. What needs a continuation, the desk refuses."""
    always = any(tool.name == name and tool.enabled and not tool.only_continuing for tool in known)
    return always and all(tool.name != name for tool in offered)
