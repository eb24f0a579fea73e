"""The desk: a plan in a store, as one session's agent, or its user, works with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..core._typing import TYPE_CHECKING, Any
from ..core.diff import Record
from ..core.errors import BadShape, Refused, check_type
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
_answer: Callable[..., Reply] | None = None  # what answers a tool call, once it was loaded


class Desk:
    """A plan in a store, for one session and agent, in one dialect.

    Get one with `punchlist.open(...)`, and close it: it is a context manager. `session`, `agent` and `settings` are
    what it was opened with.
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
        model: str = "",
        folder: str = "",
    ) -> None:
        texts = {"session": session, "agent": agent, "plan": plan, "model": model, "folder": folder}
        for name, value in texts.items():
            check_type(name, value, str, "a string")
        if not hasattr(store, "peek"):
            raise BadShape([f"store must be a store, not {store!r}; punchlist.open takes the address of one."])
        if not isinstance(dialect, str) and not hasattr(dialect, "tools"):
            raise BadShape([f"dialect must be the name of a dialect, not {dialect!r}."])
        if agent != MAIN and not session and not plan:
            session = _UNNAMED
        self.session = session
        self.agent = agent
        self.settings = settings or settings_of.load()
        self._seat = Seat(store, session, agent, plan, place, host, dialect)
        self._seat.known_folder = folder
        if model:
            self._seat.find_model = lambda: model

    def __repr__(self) -> str:
        seat = self._seat
        plan = seat.cached
        shown = {"session": self.session, "agent": self.agent, "dialect": seat.dialect_name, "plan": plan.id}
        values = "".join(f" {name}={value!r}" for name, value in shown.items() if value)
        state = f" revision={plan.revision}" if plan.id else ""
        return f"<Desk{values}{state} in {type(seat.store).__name__}>"

    @property
    def dialect(self) -> Dialect:
        """The tools that the model of this desk is given, and their rules."""
        return self._seat.dialect

    # --- reading -------------------------------------------------------------------------------------------------

    def load(self, *, calls: bool = False) -> Plan:
        """Return the plan as it is in the store now; an empty plan if there is none yet.

        `calls`: fill `Item.evidence` with what was observed of its check, and `Item.calls` with the tool calls observed
        for each item, oldest first; otherwise they are empty. A call has `at` (when; "" if unknown), `id`, `name` (of
        the tool), `parameters` and `text` (of the result), both short and without secrets, `outcome` ("ok", "failed" or
        "unknown"), `session`, `agent`, and the `exit` code if known.

            [item.text for item in desk.load().open_items]  # ['Read the parser', 'Run the tests']
        """
        plan = self._seat.look()[0]
        if not calls or not plan.id:
            return plan
        from .observations import with_calls

        return with_calls(self._seat.store, plan)

    @property
    def plan(self) -> Plan:
        """The plan as it is in the store now: short for `load()`.

        It is frozen, and does not change under you.

            desk.plan.active.text  # 'Read the parser'
        """
        return self.load()

    def take_updates(self, *, ids: bool = True) -> list[str]:
        """Return what others changed since this reader was last told, a sentence each, and mark it as told.

        `ids`: whether the reader knows items by their ids.
        """
        from .updates import take_updates

        return take_updates(self, ids=ids)

    def history(self, after: int = 0) -> list[Record]:
        """Return every change after a revision, oldest first."""
        check_type("after", after, int, "the number of a revision")
        return self._seat.store.history(self.load().id, after)

    def at(self, revision: int) -> Plan:
        """Return the plan as it was at a revision. Raises Refused if that revision does not exist or was trimmed."""
        from .edits import at_revision

        return at_revision(self, revision)

    def follow(self) -> Iterator[Plan]:
        """Yield the plan, and again each time anybody changes it, until the desk is closed.

        Changes made in another process are seen, too.

            for plan in desk.follow():
                print(punchlist.render.line(plan))
                desk.close()  # ends the loop
        """
        return self._seat.follow()

    def export_plan(self, format: Format = "json") -> Any:
        """Return the plan in another format: text for "markdown", otherwise parsed JSON.

        Raises Refused for a format that is unknown or cannot be written.

            print(desk.export_plan("markdown").splitlines()[1])  # - [/] Read the parser
        """
        from ..dialects.formats import load

        return load(format, to_write=True).write(self.load(calls=True))

    # --- changing ------------------------------------------------------------------------------------------------

    def change(self, edit: Callable[[Plan], Plan], *, by: str = USER, kind: str = "edit") -> Changed:
        """Apply an edit, a pure function from plan to plan, and save the result as one revision.

        `edit` is called again if somebody else saves first. `by`: "user", or the name of an agent; others are told.
        Raises Refused if the edit does, and BadShape if its result is not a valid plan; nothing is saved then.

            desk.change(lambda plan: ops.complete(plan, "1")).plan.progress.completed  # 1
        """
        from .edits import change

        return change(self, edit, by, kind)

    def call(self, tool: str, args: object, *, interactive: bool | None = None, continuing: bool = False) -> Reply:
        """Carry out a tool call of the model, and return the answer for it.

        `args`: parsed JSON. If something is wrong with it, the answer says so and has `is_error`. Raises StoreError if
        the store fails. `interactive`, `continuing`: for the dialect `llxprt`; see `docs/python.md`.

            desk.call("plan", {"done": [1]}).text  # 'now 2 Run the tests (1/2)'
        """
        global _answer
        if _answer is None:  # loaded once, and not looked up with each call
            from .tool_call import answer

            _answer = answer
        return _answer(self, tool, args, interactive, continuing)

    def import_plan(self, data: object, format: Format = "json", *, by: str = USER) -> Changed:
        """Replace the plan in one revision.

        `data`: text for "markdown" and "transcript", otherwise parsed JSON. Raises Refused for an unknown format,
        and BadShape for data that does not have its form.

            desk.import_plan("- [ ] Fix the parser", format="markdown").plan.items[0].text  # 'Fix the parser'
        """
        from .transfer import imported

        return self.change(imported(self, data, format), by=by, kind="import")

    def clear(self, *, by: str = USER) -> Changed:
        """Remove every item. Unlike an item that the user removed, they may be added again."""
        from .edits import clear

        return clear(self, by)

    def undo(self, *, by: str = USER) -> Changed:
        """Undo the last change, whoever made it. Return what that changed.

        The model is told, as about any other edit. Raises Refused if there is nothing to undo.

            desk.change(lambda plan: ops.rename(plan, "1", "Fix the parser"))
            desk.undo().plan.items[0].text  # 'Read the parser'
        """
        from .edits import undo

        return undo(self, by)

    def redo(self, *, by: str = USER) -> Changed:
        """Redo what was undone last. Raises Refused if there is nothing to redo."""
        from .edits import redo

        return redo(self, by)

    def restore(self, revision: int, *, by: str = USER) -> Changed:
        """Go back to a revision, as a new one: this can be undone. Raises Refused if that revision is not kept."""
        from .edits import restore

        return restore(self, revision, by)

    def bind(self, session: str, agent: str = MAIN) -> None:
        """Make this the plan of a session's agent. Raises Refused if there is no plan yet."""
        check_type("session", session, str, "a string")
        check_type("agent", agent, str, "a string")
        plan = self.load()
        if not plan.id:
            raise Refused("there is no plan to bind a session to.")
        seat = self._seat
        seat.store.bind(PlanKey(seat.place, session, agent, seat.host), plan.id)

    def carry(self, source: str, target: str) -> Changed:
        """Copy the plan of session `source` to session `target`. Raises Refused if there is nothing to copy."""
        from .transfer import carry

        return carry(self, source, target)

    def for_session(self, session: str, agent: str = MAIN) -> Desk:
        """Return the desk of another session or agent, on the same store."""
        seat = self._seat
        where: dict[str, Any] = {"place": seat.known_place, "host": seat.host}
        own: dict[str, Any] = {"settings": self.settings, "dialect": seat.chosen}
        found = Desk(seat.store, session=session, agent=agent, **where, **own)
        found._seat.find_model = seat.find_model
        found._seat.known_folder = seat.known_folder
        return found

    # --- a loop of your own ------------------------------------------------------------------------------------------

    def tools(self, format: ToolFormat = "anthropic") -> list[dict[str, Any]]:
        """Return the tool definitions to send with a request; none while punchlist is off here, and in a quiet context.

        `format`: "anthropic", "openai" or "mcp"; another one raises BadShape.

            desk.tools("openai")[0]["function"]["name"]  # 'plan'
        """
        from ..dialects.wire import WRITERS

        if not isinstance(format, str) or format not in WRITERS:
            raise BadShape([f"format must be one of {', '.join(WRITERS)}, not {format!r}."])
        return [WRITERS[format](tool) for tool in _offered(self)]

    def system_prompt(self, shell: str = "shell") -> str:
        """Return the text to put into the system prompt beside the tools; empty where there are none.

        `shell`: the name of the tool that runs commands.

            system = "You are a coding agent. " + desk.system_prompt(shell="bash")
        """
        from ..prompts import say

        found = _offered(self)
        if not found or not self.dialect.system:
            return ""
        return say(self.dialect.system, tool=found[0].name, shell=shell)

    def started(self, source: str = "resume") -> list[str]:
        """Report that a conversation begins, or was compacted, and return texts to show the model: what is open.

        For a program that sees events and has no messages for `before_request`. `source`: "startup", "resume" or
        "clear" for a conversation that begins or is taken up again, "compact" in the middle of a turn.

            desk.started("compact")[0].splitlines()[1]  # '- now 1 Read the parser'
        """
        from .guidance import lines, started

        check_type("source", source, str, "a string")
        return lines(started(self, source))

    def prompted(self, text: str, *, wrapped: bool = False) -> list[str]:
        """Report what the user said, and return texts to show the model with it; most of the time none.

        This ends a pause, and allows new nudges. `wrapped`: as messages of their own, as `before_request` words them.

            message = " ".join(["Fix the parser.", *desk.prompted("Fix the parser.")])
        """
        from .guidance import lines, prompted

        check_type("text", text, str, "a string")
        found = prompted(self, text)
        return [one.text for one in found] if wrapped else lines(found)

    def before_request(self, messages: Sequence[object]) -> list[dict[str, Any]]:
        """Return messages to append before you ask the model: edits by others, a reminder; most of the time none.

        `messages`: the conversation so far, in the form of any provider. Append what is returned, and leave it there.
        A conversation that was compacted, cut or begun again, and does not show the open items, is told the plan.

            messages = [{"role": "user", "content": "Fix the parser."}]
            messages += desk.before_request(messages)
        """
        from .guidance import before_request
        from .lost_plan import hear

        if isinstance(messages, str | dict) or not isinstance(messages, Iterable):
            raise BadShape([f"messages must be a list of messages, not {type(messages).__name__}."])
        heard, is_lost = hear(self, list(messages))
        return [{"role": "user", "content": one.text} for one in before_request(self, heard, is_lost=is_lost)]

    def tool_used(
        self,
        name: str,
        args: Any,
        result: Any = "",
        failed: bool = False,
        exit: int | None = None,
        *,
        folder: str | None = None,
        seconds: float | None = None,
        tell: bool = False,
    ) -> list[str]:
        """Report a call of one of your own tools. It is kept with the active item, and counts as progress.

        `failed`: whether it failed; an `exit` code other than 0 means the same. A command in `args` (`command`, `cmd`
        or `script`) that is the check of an item is evidence, if you tell its `exit` code: report it as soon as it has
        ended. `folder`: the directory it ran in, by default that of this process; `seconds`: how long it took.
        `tell`: return texts to show the model with the result, edits by others or a reminder, if you have no messages
        for `before_request`; otherwise nothing is returned.

            desk.tool_used("shell", {"command": "make test"}, "1 failed", exit=1)
        """
        from .tool_use import describe, record_tool_use

        check_type("name", name, str, "a string")
        if exit is not None:
            check_type("exit", exit, int, "a number, or None")
        if folder is not None:
            check_type("folder", folder, str, "a string, or None")
        failed = failed or bool(exit)
        use = describe(self, name, args, result, failed=failed, exit=exit, folder=folder, seconds=seconds)
        if not tell:
            record_tool_use(self, [use])
            return []
        from .guidance import lines, tool_used

        return lines(tool_used(self, use))

    def tool_refused(self) -> None:
        """Report that the user did not permit a call: no nudge until the model has changed the plan again.

        Report it before the turn ends.

            desk.tool_refused()
            desk.turn_ended(said="Then I leave it.").text  # ''
        """
        from .nudges import note_refusal

        note_refusal(self)

    def turn_ended(self, said: str = "") -> Nudge | Stop:
        """Report that the model called no tool, and return whether it should continue.

        `said`: its last words. A Nudge has a `text` to send to the model; for a Stop it is empty. Both have a `reason`.

            desk.turn_ended(said="I have read half of it.").reason  # 'an item is open'
        """
        from ..policy.continuation import TurnEnd
        from .holding import is_off
        from .nudges import Stop, turn_ended

        check_type("said", said, str, "a string")
        if is_off(self):
            return Stop("punchlist is off")
        return turn_ended(self, TurnEnd(said=said, agent=self.agent))

    def on_pause(self, listener: Callable[[Pause], object]) -> None:
        """Call a listener with each Pause that is asked for.

        It is called after the pause is saved, in the thread of the call or change that asked for it.

            desk.on_pause(lambda pause: print("paused:", pause.reason))
            desk.call("plan", {"pause": "the deploy key has expired"})
        """
        check_type("listener", listener, Callable, "a function")
        self._seat.listeners.append(listener)

    def close(self) -> None:
        """Close the store. Loops over `follow()` of this desk end."""
        self._seat.closed = True
        delivery.at_the_end(self._seat.store.close)

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _offered(desk: Desk) -> Sequence[Tool]:
    """Return the tools that the model may be given now, in its voice."""
    from ..dialects import offered
    from .holding import is_off
    from .nudges import is_continuing
    from .voice import find_voice

    if is_off(desk) or desk.load().mode == "quiet":
        return ()
    may_differ = any(tool.only_continuing for tool in desk.dialect.tools)
    found = offered(desk.dialect, continuing=may_differ and is_continuing(desk), agent=desk.agent)
    return tuple([tool.in_voice(find_voice(desk)) for tool in found])


def open(
    store: str = "",
    *,
    session: str = "",
    agent: str = MAIN,
    dialect: str = "",
    plan: str = "",
    model: str = "",
    folder: str = "",
) -> Desk:
    """Open the desk of a session's agent on a store. Close it, or use it with `with`.

    `store`: a URL such as `sqlite:plan.db`, `json:DIR`, `memory:` or `postgresql://...`; by default the store of your
    settings. `session`, `agent`: whose plan it is; without `session` and `plan`, the plan of this directory that was
    changed last. `plan`: the id of a plan. `dialect`: the tools that the model is given; see `docs/dialects.md`.
    `model`: its name, by which the setting `voice` chooses texts; see `docs/voices.md`. `folder`: the directory
    in which the agent works, if that is not the one of this process; its plan and checks belong there.
    Raises StoreError if the store cannot be opened, SettingsError if a setting is wrong.

        with punchlist.open("sqlite:plan.db", session="s1") as desk:
            print(desk.call("plan", {"add": ["Run the tests"]}).text)
    """
    check_type("store", store or "", str, "the address of a store")
    settings = settings_of.load({"store": store or None, "dialect": dialect or None})
    return desk_for(settings, session=session, agent=agent, plan=plan, model=model, folder=folder)


def desk_for(settings: Settings, *, patience: str = "", **who: str) -> Desk:
    """Return a desk as the settings say. `who`: session, agent, plan, place, host, model and folder, as of `Desk`."""
    return Desk(store_for(settings, patience), dialect=settings.dialect, settings=settings, **who)


def store_for(settings: Settings, patience: str = "") -> Store:
    """Return the store that the settings name. `patience`: how many seconds to wait for others who hold it."""
    url = settings.store
    options = {"synchronous": settings.sqlite_synchronous} if url.startswith(("sqlite:", "json:")) else {}
    return open_store(url, **options, **({"patience": patience} if patience else {}))
