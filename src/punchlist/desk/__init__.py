"""The desk: a plan in a store, as one session's agent, or its user, works with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..core._typing import TYPE_CHECKING, Any
from ..core.diff import Record
from ..core.errors import BadShape, Refused
from ..core.model import MAIN, USER, Pause, Plan
from ..local import settings as settings_of
from ..local.settings import DEFAULT_DIALECT, Settings
from ..stores import PlanKey, Store, open_store
from . import delivery
from .commit import Changed
from .seat import Seat

if TYPE_CHECKING:
    from ..core.types import Format, ToolFormat


if TYPE_CHECKING:  # what only a tool call needs is imported by the call: most hooks make none
    from ..dialects import Dialect, Reply, Tool
    from .nudges import Nudge, Stop

_UNNAMED = "default"  # the session of an agent that names none


class Desk:
    """A plan in a store, for one session and agent, in one dialect.

    Get one with `punchlist.open(...)`, and close it: it is a context manager.
    """

    def __init__(
        self,
        store: Store,
        *,
        session: str = "",
        agent: str = MAIN,
        plan: str = "",
        dialect: str | Dialect = DEFAULT_DIALECT,
        settings: Settings | None = None,
        place: str = "",
        host: str = "",
    ) -> None:
        for name, value in (("session", session), ("agent", agent), ("plan", plan)):
            if not isinstance(value, str):
                raise BadShape([f"{name} must be a string, not {value!r}."])
        if agent != MAIN and not session and not plan:
            session = _UNNAMED
        self.session = session
        self.agent = agent
        self.settings = settings or settings_of.load()
        self._seat = Seat(store, session, agent, plan, place, host, dialect)

    def __repr__(self) -> str:
        seat = self._seat
        plan = seat.cached
        shown = {"session": self.session, "agent": self.agent, "dialect": seat.dialect_name, "plan": plan.id}
        values = "".join(f" {name}={value!r}" for name, value in shown.items() if value)
        state = f" revision={plan.revision}" if plan.id else ""
        return f"<Desk{values}{state} in {type(seat.store).__name__}>"

    @property
    def dialect(self) -> Dialect:
        """The tools that the model of this desk is given."""
        return self._seat.dialect

    # --- reading -------------------------------------------------------------------------------------------------

    def load(self, *, calls: bool = False) -> Plan:
        """Return the plan, asked of the store now; an empty one if there is none yet.

        `calls`: with the tool calls that were observed for each item, oldest first, in `Item.calls`; elsewhere that is
        empty. A call has `at` (when it was made; "" if unknown), `id`, `name` (of the tool), `parameters` and `text`
        (the beginning of its result), both short and without secrets, `outcome` ("ok", "failed" or "unknown"),
        `session`, `agent`, and `exit`, the exit code, where that is known.
        """
        plan = self._seat.look()[0]
        if not calls or not plan.id:
            return plan
        from .observations import with_calls

        return with_calls(self._seat.store, plan)

    @property
    def plan(self) -> Plan:
        """The plan as it is now: short for `load()`."""
        return self.load()

    def take_updates(self, *, ids: bool = True) -> list[str]:
        """Return what others changed since this reader was last told, a sentence each. It counts as told then.

        `ids`: whether the reader knows items by their ids.
        """
        from .updates import take_updates

        return take_updates(self, ids=ids)

    def history(self, after: int = 0) -> list[Record]:
        """Return every change after a revision, oldest first."""
        return self._seat.store.history(self.load().id, after)

    def at(self, revision: int) -> Plan:
        """Return the plan as it was at a revision. Raises Refused if that is not kept."""
        from .edits import at_revision

        return at_revision(self, revision)

    def follow(self) -> Iterator[Plan]:
        """Yield the plan, and again each time anybody changes it, until the desk is closed."""
        return self._seat.follow()

    def export_plan(self, format: Format = "json") -> Any:
        """Return the plan in another format: parsed JSON, or a text for `markdown`."""
        from ..dialects.formats import load

        return load(format, to_write=True).write(self.load(calls=True))

    # --- changing ------------------------------------------------------------------------------------------------

    def change(self, edit: Callable[[Plan], Plan], *, by: str = USER, kind: str = "edit") -> Changed:
        """Apply a pure edit to the plan as it is now, and save it.

        `edit` is called again if somebody else saves at the same moment. Returns the plan, the plan before, and the
        changes between them. Raises Refused if the edit does, or if its result is not a valid plan.

            desk.change(lambda plan: ops.complete(plan, "1"))
        """
        from .edits import change

        return change(self, edit, by, kind)

    def call(self, tool: str, args: object, *, interactive: bool | None = None, continuing: bool = False) -> Reply:
        """Carry out one tool call, as a model made it. What is wrong with it is told in a reply with `is_error`."""
        from .tool_call import answer

        return answer(self, tool, args, interactive, continuing)

    def import_plan(self, data: object, format: Format = "json", *, by: str = USER) -> Changed:
        """Replace the plan in one revision. `data`: parsed JSON, or a text for `markdown` and `transcript`."""
        from .transfer import imported

        return self.change(imported(self, data, format), by=by, kind="import")

    def clear(self, *, by: str = USER) -> Changed:
        """Take everything off the list. What was on it may be added again."""
        from .edits import clear

        return clear(self, by)

    def undo(self, *, by: str = USER) -> Changed:
        """Take back the last change, whoever made it. The model is told about it like about any other edit."""
        from .edits import undo

        return undo(self, by)

    def redo(self, *, by: str = USER) -> Changed:
        """Bring back what was undone last."""
        from .edits import redo

        return redo(self, by)

    def restore(self, revision: int, *, by: str = USER) -> Changed:
        """Go back to a revision. This can be undone, too. If the plan looks like that already, nothing is done."""
        from .edits import restore

        return restore(self, revision, by)

    def bind(self, session: str, agent: str = MAIN) -> None:
        """Let a session's agent work from this plan."""
        plan = self.load()
        if not plan.id:
            raise Refused("there is no plan to bind a session to.")
        seat = self._seat
        seat.store.bind(PlanKey(seat.place, session, agent, seat.host), plan.id)

    def carry(self, source: str, target: str) -> Changed:
        """Give a session a copy of the plan of another session's main agent."""
        from .transfer import carry

        return carry(self, source, target)

    def for_session(self, session: str, agent: str = MAIN) -> Desk:
        """Return a desk of another session or agent, on the same store."""
        seat = self._seat
        where: dict[str, Any] = {"place": seat.known_place, "host": seat.host}
        own: dict[str, Any] = {"settings": self.settings, "dialect": seat.chosen}
        return Desk(seat.store, session=session, agent=agent, **where, **own)

    # --- a loop of your own ------------------------------------------------------------------------------------------

    def tools(self, format: ToolFormat = "anthropic") -> list[dict[str, Any]]:
        """Return the tool definitions to send with a request.

        `format`: "anthropic", "openai" or "mcp"; another one raises BadShape. There are none while punchlist is off
        here, and in a quiet context.

            ask_model(desk.system_prompt(), messages, desk.tools("anthropic"))
        """
        from ..dialects.wire import WRITERS

        if format not in WRITERS:
            raise BadShape([f"format must be one of {', '.join(WRITERS)}, not {format!r}."])
        return [WRITERS[format](tool) for tool in self._offered()]

    def system_prompt(self, shell: str = "shell") -> str:
        """Return the text that goes with the tools; empty where there are none.

        `shell`: the name of the tool that runs commands.
        """
        from ..prompts import say

        found = self._offered()
        if not found or not self.dialect.system:
            return ""
        return say(self.dialect.system, tool=found[0].name, shell=shell)

    def _offered(self) -> Sequence[Tool]:
        """The tools that the model may be given now."""
        from ..dialects import offered
        from .holding import is_off
        from .nudges import is_continuing

        if is_off(self) or self.load().mode == "quiet":
            return ()
        return tuple(offered(self.dialect, continuing=is_continuing(self), agent=self.agent))

    def prompted(self, text: str) -> list[str]:
        """Report the user's words. Return the texts that the model should be shown with them."""
        from .guidance import lines, prompted

        return lines(prompted(self, text))

    def before_request(self, messages: Sequence[object]) -> list[dict[str, Any]]:
        """Return the messages to append to a conversation before the model is asked again; most of the time none."""
        from ..policy.conversation import read, tally
        from .guidance import before_request

        heard = tally(read(messages, self._seat.guide.marks), [tool.name for tool in self.dialect.tools])
        return [{"role": "user", "content": one.text} for one in before_request(self, heard)]

    def tool_used(self, name: str, args: Any, result: Any = "", failed: bool = False, exit: int | None = None) -> None:
        """Report a tool that is not the plan's: it is kept with the active item, and counts as progress."""
        from .tool_use import describe, record_tool_use

        record_tool_use(self, [describe(self, name, args, result, failed=failed or bool(exit), exit=exit)])

    def turn_ended(self, said: str = "") -> Nudge | Stop:
        """Report that the model calls no more tools, with its last words: a nudge to continue with, or why to stop."""
        from ..policy.continuation import TurnEnd
        from .nudges import turn_ended

        return turn_ended(self, TurnEnd(said=said, agent=self.agent))

    def on_pause(self, listener: Callable[[Pause], object]) -> None:
        """Call a listener with each pause that is asked for."""
        self._seat.listeners.append(listener)

    def close(self) -> None:
        """Close the store. Whoever follows the plan from this desk comes to the end."""
        self._seat.closed = True
        delivery.at_the_end(self._seat.store.close)

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open(store: str = "", *, session: str = "", agent: str = MAIN, dialect: str = "", plan: str = "") -> Desk:
    """Open the desk of a session's agent on a store.

    `store`: a URL such as `sqlite:plan.db`, `json:DIR`, `memory:` or `postgresql://...`; by default the store of your
    settings. Without `session` and `plan`, the desk is on the plan of this directory that was changed last. `dialect`:
    the tools that the model is given; see `docs/dialects.md`.

        with punchlist.open("sqlite:plan.db", session="s1") as desk:
            print(desk.call("plan", {"add": ["Run the tests"]}).text)
    """
    settings = settings_of.load({"store": store or None, "dialect": dialect or None})
    return desk_for(settings, session=session, agent=agent, plan=plan)


def desk_for(settings: Settings, *, patience: str = "", **who: str) -> Desk:
    """Return a desk as the settings say. `who`: session, agent, plan, place and host, as of `Desk`."""
    return Desk(store_for(settings, patience), dialect=settings.dialect, settings=settings, **who)


def store_for(settings: Settings, patience: str = "") -> Store:
    """Return the store that the settings name. `patience`: how many seconds to wait for others who hold it."""
    url = settings.store
    options = {"synchronous": settings.sqlite_synchronous} if url.startswith(("sqlite:", "json:")) else {}
    return open_store(url, **options, **({"patience": patience} if patience else {}))
