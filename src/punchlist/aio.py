"""The same desk for asyncio: every call that may wait for the store runs in a thread.

    async with punchlist.aio.open("sqlite:plan.db", session="s1") as desk:
        reply = await desk.call("plan", {"add": ["Run the tests"]})
        async for plan in desk.follow():
            print(punchlist.render.line(plan))
            await desk.close()  # ends the loop

A task that is cancelled ends at once. What it had begun is finished in its thread, all of it or nothing, so a store is
never left locked; what waited behind another call is not begun. Several tasks may use one desk, and a desk is bound to
no event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from . import desk as blocking
from .core.diff import Record
from .core.errors import check_type
from .core.model import MAIN, USER, Pause, Plan
from .core.types import Format, ToolFormat
from .desk.commit import Changed
from .desk.nudges import Nudge, Stop
from .dialects import Dialect, Reply
from .local.settings import Settings

_T = TypeVar("_T")
_P = ParamSpec("_P")


def open(
    store: str = "",
    *,
    session: str = "",
    agent: str = MAIN,
    dialect: str = "",
    plan: str = "",
    model: str = "",
    folder: str = "",
) -> Opening:
    """Open the desk of a session's agent, as `punchlist.open` does: `await` it, or use it with `async with`."""
    who = {"session": session, "agent": agent, "dialect": dialect, "plan": plan, "model": model, "folder": folder}
    return Opening(partial(blocking.open, store, **who))


class Opening:
    """A desk that is being opened."""

    def __init__(self, make: Callable[[], blocking.Desk]) -> None:
        self._make = make
        self._desk: Desk | None = None

    def __await__(self) -> Generator[Any, None, Desk]:
        return self._open().__await__()

    async def __aenter__(self) -> Desk:
        self._desk = await self._open()
        return self._desk

    async def __aexit__(self, *_: object) -> None:
        if self._desk is not None:
            await self._desk.close()

    async def _open(self) -> Desk:
        opening = asyncio.ensure_future(asyncio.to_thread(self._make))
        try:
            return Desk(await asyncio.shield(opening))
        except asyncio.CancelledError:
            opening.add_done_callback(_close_unused)
            raise


def _close_unused(opening: asyncio.Future[blocking.Desk]) -> None:
    """Close a desk that was opened for a task that is cancelled since."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


class Desk:
    """A `punchlist.Desk` for asyncio: the same names, to be awaited. Get one with `punchlist.aio.open(...)`."""

    def __init__(self, desk: blocking.Desk) -> None:
        self._desk = desk
        self._lock = Lock()  # one call at a time, whichever threads they run in
        self._loop: asyncio.AbstractEventLoop | None = None  # of the call that has the lock

    def __repr__(self) -> str:
        return f"<aio {repr(self._desk)[1:]}"

    async def __aenter__(self) -> Desk:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, work: Callable[_P, _T], *args: _P.args, **options: _P.kwargs) -> _T:
        loop = asyncio.get_running_loop()
        is_cancelled = False

        def alone() -> _T:
            with self._lock:
                if is_cancelled:  # while it waited for its turn: others may have gone on since
                    raise asyncio.CancelledError
                self._loop = loop
                return work(*args, **options)

        try:
            return await asyncio.to_thread(alone)
        except asyncio.CancelledError:
            is_cancelled = True
            raise

    @property
    def session(self) -> str:
        """The session that this desk belongs to."""
        return self._desk.session

    @property
    def agent(self) -> str:
        """The agent that this desk belongs to."""
        return self._desk.agent

    @property
    def settings(self) -> Settings:
        """The settings of this desk."""
        return self._desk.settings

    @property
    def dialect(self) -> Dialect:
        """The tools that the model of this desk is given, and their rules."""
        return self._desk.dialect

    # --- reading -----------------------------------------------------------------------------------------------------

    async def load(self, *, calls: bool = False) -> Plan:
        """Return the plan as it is in the store now; an empty plan if there is none yet."""
        return await self._run(self._desk.load, calls=calls)

    @property
    def plan(self) -> Awaitable[Plan]:
        """The plan as it is in the store now, to be awaited: short for `load()`."""
        return self.load()

    async def take_updates(self, *, ids: bool = True) -> list[str]:
        """Return what others changed since this reader was last told, a sentence each, and mark it as told.

        `ids`: whether the reader knows items by their ids.
        """
        return await self._run(self._desk.take_updates, ids=ids)

    async def history(self, after: int = 0) -> list[Record]:
        """Return every change after a revision, oldest first."""
        return await self._run(self._desk.history, after)

    async def at(self, revision: int) -> Plan:
        """Return the plan as it was at a revision. Raises Refused if that revision does not exist or was trimmed."""
        return await self._run(self._desk.at, revision)

    async def follow(self) -> AsyncIterator[Plan]:
        """Yield the plan, and again each time anybody changes it, until the desk is closed.

        Each loop waits in a thread of its own: however many there are, they do not keep other calls waiting.
        """
        is_over = False
        plans = self._desk._seat.follow(lambda: is_over)
        thread = ThreadPoolExecutor(1, "punchlist-follow")
        try:
            while True:
                plan = await asyncio.get_running_loop().run_in_executor(thread, next, plans, None)
                if plan is None:
                    return
                yield plan
        finally:
            is_over = True
            thread.shutdown(wait=False)

    async def export_plan(self, format: Format = "json") -> Any:
        """Return the plan in another format: text for "markdown", otherwise parsed JSON."""
        return await self._run(self._desk.export_plan, format)

    # --- changing ----------------------------------------------------------------------------------------------------

    async def change(self, edit: Callable[[Plan], Plan], *, by: str = USER, kind: str = "edit") -> Changed:
        """Apply an edit, a pure function from plan to plan, and save the result as one revision.

        `edit` is called in a thread, and again if somebody else saves first. Raises Refused if the edit does.
        """
        return await self._run(self._desk.change, edit, by=by, kind=kind)

    async def call(
        self, tool: str, args: object, *, interactive: bool | None = None, continuing: bool = False
    ) -> Reply:
        """Carry out a tool call of the model, and return the answer for it."""
        return await self._run(self._desk.call, tool, args, interactive=interactive, continuing=continuing)

    async def import_plan(self, data: object, format: Format = "json", *, by: str = USER) -> Changed:
        """Replace the plan in one revision.

        `data`: text for "markdown" and "transcript", otherwise parsed JSON.
        """
        return await self._run(self._desk.import_plan, data, format, by=by)

    async def clear(self, *, by: str = USER) -> Changed:
        """Remove every item. Unlike an item that the user removed, they may be added again."""
        return await self._run(self._desk.clear, by=by)

    async def undo(self, *, by: str = USER) -> Changed:
        """Undo the last change, whoever made it. Return what that changed."""
        return await self._run(self._desk.undo, by=by)

    async def redo(self, *, by: str = USER) -> Changed:
        """Redo what was undone last. Raises Refused if there is nothing to redo."""
        return await self._run(self._desk.redo, by=by)

    async def restore(self, revision: int, *, by: str = USER) -> Changed:
        """Go back to a revision, as a new one: this can be undone. Raises Refused if that revision is not kept."""
        return await self._run(self._desk.restore, revision, by=by)

    async def bind(self, session: str, agent: str = MAIN) -> None:
        """Make this the plan of a session's agent. Raises Refused if there is no plan yet."""
        await self._run(self._desk.bind, session, agent)

    async def carry(self, source: str, target: str) -> Changed:
        """Copy the plan of session `source` to session `target`. Raises Refused if there is nothing to copy."""
        return await self._run(self._desk.carry, source, target)

    def for_session(self, session: str, agent: str = MAIN) -> Desk:
        """Return the desk of another session or agent, on the same store."""
        return Desk(self._desk.for_session(session, agent))

    # --- a loop of your own ------------------------------------------------------------------------------------------

    async def tools(self, format: ToolFormat = "anthropic") -> list[dict[str, Any]]:
        """Return the tool definitions to send with a request; none while punchlist is off here, and in a quiet context.

        `format`: "anthropic", "openai" or "mcp"; another one raises BadShape.
        """
        return await self._run(self._desk.tools, format)

    async def system_prompt(self, shell: str = "shell") -> str:
        """Return the text to put into the system prompt beside the tools; empty where there are none.

        `shell`: the name of the tool that runs commands.
        """
        return await self._run(self._desk.system_prompt, shell)

    async def started(self, source: str = "resume") -> list[str]:
        """Report that a conversation begins, or was compacted, and return texts to show the model: what is open."""
        return await self._run(self._desk.started, source)

    async def prompted(self, text: str, *, wrapped: bool = False) -> list[str]:
        """Report what the user said, and return texts to show the model with it; most of the time none.

        `wrapped`: as messages of their own, as `before_request` words them.
        """
        return await self._run(self._desk.prompted, text, wrapped=wrapped)

    async def before_request(self, messages: Sequence[object]) -> list[dict[str, Any]]:
        """Return messages to append before you ask the model: edits by others, a reminder; most of the time none.

        `messages`: the conversation so far, in the form of any provider.
        """
        return await self._run(self._desk.before_request, messages)

    async def tool_used(
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
        """Report a call of one of your own tools. It is kept with the active item, and counts as progress."""

        def report() -> list[str]:
            return self._desk.tool_used(name, args, result, failed, exit, folder=folder, seconds=seconds, tell=tell)

        return await self._run(report)

    async def tool_refused(self) -> None:
        """Report that the user did not permit a call: no nudge until the model has changed the plan again."""
        await self._run(self._desk.tool_refused)

    async def turn_ended(self, said: str = "") -> Nudge | Stop:
        """Report that the model called no tool, and return whether it should continue.

        `said`: its last words. A Nudge has a `text` to send to the model; for a Stop it is empty. Both have a `reason`.
        """
        return await self._run(self._desk.turn_ended, said)

    def on_pause(self, listener: Callable[[Pause], object]) -> None:
        """Call a listener with each Pause that is asked for, in the event loop of the call that asked."""
        check_type("listener", listener, Callable, "a function")

        def tell(pause: Pause) -> None:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(listener, pause)

        self._desk.on_pause(tell)

    async def close(self) -> None:
        """Close the store. Loops over `follow()` of this desk end."""
        await asyncio.shield(self._run(self._desk.close))
