"""Desks for the runs of a framework: one for each session and agent, and a store that fails stops no run.

Everything here is built on the public interface, for adapters of your own as well.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from threading import Lock, RLock
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

import punchlist

from ..stores import check_address

_T = TypeVar("_T")
_MOST = 64  # desks that are kept open; each has files of its own
_LEFT = 1024  # closed desks of which it is known what their models have yet to be told
_OWED = 16  # texts of a desk that may be told again
_THREADS = 64  # for `in_thread`
_UNNAMED = "default"  # the session of runs that name none
_AGAIN = 5.0  # seconds until a store that has failed is asked again, by anything but a call of the model
_CALM = 60.0  # seconds without a failure after which the user is warned of the same again
_TODOS = {"pending": "pending", "in_progress": "in_progress", "blocked": "pending", "completed": "completed"}
_EXITS = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")

logger = logging.getLogger("punchlist")
_all: WeakSet[SafeDesks] = WeakSet()  # of this process
_threads: list[ThreadPoolExecutor] = []  # one, once it is needed


class _Told(NamedTuple):
    """That the model was told a text which the conversation may lose again."""

    times: float  # how often the conversation had it before
    run: object  # the run that it was told in
    is_answered: bool = False  # whether the model has answered since


class SafeDesks:
    """The desks of one program, by session and agent. Each is opened when it is first used.

    Raises StoreError for an address that no store has, Refused for a dialect that does not exist.
    """

    def __init__(
        self, store: str = "", *, session: str = "", agent: str = "main", dialect: str = "native", folder: str = ""
    ) -> None:
        with punchlist.Desk(punchlist.MemoryStore(), session=session, agent=agent, dialect=dialect) as desk:
            self.dialect = desk.dialect.name  # one that does not exist is refused now, not in the middle of a run
        if store:
            check_address(store)
        self.session = session
        self.agent = agent
        self._store = store
        self._folder = folder
        self._shared = punchlist.MemoryStore() if store == "memory:" else None
        self._lock = Lock()
        self._desks: dict[tuple[str, str], SafeDesk] = {}
        self._untold: dict[tuple[str, str], dict[str, _Told]] = {}  # of desks that were closed
        _watch_forks()
        _all.add(self)

    def of(self, session: str = "", agent: str = "") -> SafeDesk:
        """Return the desk of a session's agent; by default of those that were given first.

        Runs without a session share the plan of the session `default`.
        """
        key = (self.session or session or _UNNAMED, agent or self.agent)
        with self._lock:
            desk = self._desks.pop(key, None)
            if desk is None:
                desk = SafeDesk(lambda: self._open(*key), self.dialect, self._untold.pop(key, None))
            self._desks[key] = desk  # the one that was used last is the last
            idle = list(self._desks.items())[:-_MOST]
            for found, one in idle:  # one that waits for its store is closed another time: nobody waits for it here
                if one.close(wait=False):
                    self._leave(found)
        return desk

    def close(self) -> None:
        """Close every desk. One that is used again is opened again."""
        with self._lock:
            desks = list(self._desks.values())
            for key in list(self._desks):
                self._leave(key)
        for desk in desks:
            desk.close()

    def _leave(self, key: tuple[str, str]) -> None:
        """Drop a desk, but not what its model has yet to be told."""
        desk = self._desks.pop(key)
        if desk.untold:
            self._untold[key] = desk.untold
            if len(self._untold) > _LEFT:
                del self._untold[next(iter(self._untold))]

    def begin_again(self) -> None:
        """Forget what is open, in a process that was forked: locks may be held by threads that it does not have."""
        self._lock = Lock()
        for desk in list(self._desks.values()):
            desk.begin_again()

    def __deepcopy__(self, memo: object) -> SafeDesks:
        """A copy of an agent, or of a request, works from the same plans."""
        return self

    def _open(self, session: str, agent: str) -> punchlist.Desk:
        who: dict[str, Any] = {"session": session, "agent": agent, "dialect": self.dialect, "folder": self._folder}
        if self._shared is not None:
            return punchlist.Desk(self._shared, **who)
        return punchlist.open(self._store, **who)


class SafeDesk:
    """A desk for a run that goes on whatever happens to the store: where that fails, the user is warned in the log
    `punchlist`, and the model in the answer to its call.

    It may be used from any thread. With asyncio, await `in_thread(desk.call, ...)`.
    """

    def __init__(
        self, make: Callable[[], punchlist.Desk], dialect: str = "native", untold: dict[str, _Told] | None = None
    ) -> None:
        self._make = make
        self.untold = {} if untold is None else untold  # texts that are told again if the conversation loses them
        self._dialect = dialect
        self._desk: punchlist.Desk | None = None
        self._lent: list[punchlist.Desk] = []  # of the process that this one was forked from
        self._lock = RLock()
        self._failed = ""  # why the last call failed; empty if it did not
        self._failed_at = 0.0  # when a call failed last
        self._warned: set[str] = set()  # what the user was warned of
        self._until = 0.0  # when the store is asked again
        self._tools: dict[str, list[dict[str, Any]]] = {}
        self._system: dict[str, str] = {}
        self._plan = punchlist.Plan()

    @property
    def has_failed(self) -> bool:
        """Whether the store failed when it was used last."""
        return bool(self._failed)

    def tools(self, format: str = "openai") -> list[dict[str, Any]]:
        """Return the definitions of the tools to send with a request, as `Desk.tools` does."""
        default = self._tools.get(format)
        found = self._try(lambda desk: desk.tools(format), default)  # type: ignore[arg-type]
        if found is None:  # nothing is known of the store yet; the model is given the tool
            found = punchlist.Desk(punchlist.MemoryStore(), dialect=self._dialect).tools(format)  # type: ignore[arg-type]
        self._tools[format] = found
        return found

    def system_prompt(self, shell: str = "shell") -> str:
        """Return the text that goes with the tools, as `Desk.system_prompt` does."""
        default = self._system.get(shell)
        found = self._try(lambda desk: desk.system_prompt(shell), default)
        if found is None:
            found = punchlist.Desk(punchlist.MemoryStore(), dialect=self._dialect).system_prompt(shell)
        self._system[shell] = found
        return found

    def started(self, source: str = "resume") -> list[str]:
        """Report that a conversation begins, or was compacted, and return texts to show the model: what is open."""
        return self._try(lambda desk: desk.started(source), [])

    def prompted(self, text: str, *, wrapped: bool = False) -> list[str]:
        """Report what the user said, and return texts to show the model with it, as `Desk.prompted` does."""
        return self._try(lambda desk: desk.prompted(text, wrapped=wrapped), [], insists=True)

    def before_request(
        self, messages: Sequence[Mapping[str, Any]], told: Sequence[str] = (), *, run: object = None
    ) -> list[str]:
        """Return texts to append to the conversation before the model is asked.

        `messages`: see `message`. `told`: what `prompted` has returned, and is not among them; it is returned with the
        rest. `run`: any object that stands for the run that the request is a part of. Texts that were returned before
        and are not in the conversation are returned again: in the same run until the model has `answered`, in another
        one until they are `kept`.
        """
        now = [*messages, *[message("user", text) for text in told]]
        fresh: list[str] = self._try(lambda desk: [one["content"] for one in desk.before_request(now)], [])
        texts = [*told, *fresh]
        again = [text for text in self._missing(messages, run) if text not in texts]
        for text in (*again, *texts):
            self.untold.pop(text, None)
            self.untold[text] = _Told(_times(text, messages), run)
        for text in list(self.untold)[:-_OWED]:
            self.untold.pop(text, None)
        return [*again, *texts]

    def _missing(self, messages: Sequence[Mapping[str, Any]], run: object) -> list[str]:
        """What the model was told, and a conversation does not have."""
        found = []
        for text, one in list(self.untold.items()):  # others may change it
            is_there = _times(text, messages) > one.times
            is_same_run = one.run is run
            if is_there and is_same_run:  # it may be lost with the run
                continue
            if is_there or (is_same_run and one.is_answered):  # kept; or compacted: the desk tells what is open then
                self.untold.pop(text, None)
            else:
                found.append(text)
        return found

    def owe(
        self, texts: Sequence[str], messages: Sequence[Mapping[str, Any]] | None = None, *, run: object = None
    ) -> None:
        """Let texts be returned by the next `before_request`, unless they are given to it, or the conversation has them
        more often than `messages` have."""
        for text in texts:
            times = math.inf if messages is None else _times(text, messages)
            self.untold[text] = _Told(times, run)

    def answered(self, run: object = None) -> None:
        """Report that the model has answered in a run."""
        for text, one in list(self.untold.items()):
            if one.run is run:
                self.untold[text] = one._replace(is_answered=True)

    def kept(self, run: object = None) -> None:
        """Report that what was told in a run stays in the conversation: it is not told again.

        Where a framework keeps each message, that is when the model has answered; where it keeps a conversation only
        if a run ends well, it is then.
        """
        for text, one in list(self.untold.items()):
            if one.run is run:
                self.untold.pop(text, None)

    def call(self, tool: str, args: object) -> punchlist.Reply:
        """Carry out a call of the model's, and return the answer for it; one that says so if the store failed."""

        def work(desk: punchlist.Desk) -> punchlist.Reply:
            is_offered = any(one.only_continuing for one in desk.dialect.tools) and _is_offered(desk, tool)
            return desk.call(tool, args, continuing=is_offered)

        return self._try(work, None, insists=True) or punchlist.Reply(f"Not saved: {self._failed}", is_error=True)

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
        """Report a call of another tool, as `Desk.tool_used` does. Without an `exit` code it is looked for in `result`:
        see `exit_code`."""
        if exit is None:
            exit = exit_code(result)

        def work(desk: punchlist.Desk) -> list[str]:
            return desk.tool_used(name, args, result, failed, exit, folder=folder, seconds=seconds, tell=tell)

        return self._try(work, [])

    def tool_refused(self) -> None:
        """Report that the user did not permit a call, as `Desk.tool_refused` does."""
        self._try(lambda desk: desk.tool_refused(), None)

    def turn_ended(self, said: str = "") -> str:
        """Report that the model called no tool, and return the text to continue with; empty if it may stop."""
        return self._try(lambda desk: desk.turn_ended(said=said).text, "")

    def load(self) -> punchlist.Plan:
        """Return the plan as it is now; where the store fails, as it was last seen."""
        self._plan = self._try(lambda desk: desk.load(), self._plan)
        return self._plan

    def change(self, edit: Callable[[punchlist.Plan], punchlist.Plan], *, by: str = "user") -> punchlist.Plan | None:
        """Apply an edit, and return the plan then; None where the store failed. Raises Refused if the edit does."""
        return self._try(lambda desk: desk.change(edit, by=by).plan, None, insists=True)

    def carry_from(self, session: str) -> bool:
        """Copy the plan of another session, if this one has none. Return whether there was one to copy."""

        def work(desk: punchlist.Desk) -> bool:
            if desk.load().id:
                return False
            desk.carry(session, desk.session)
            return True

        try:
            return self._try(work, False)
        except punchlist.Refused:
            return False

    def close(self, *, wait: bool = True) -> bool:
        """Close the store, and return whether that was done. The next use opens it again. `wait`: for a call that is
        being carried out."""
        if not self._lock.acquire(blocking=wait):
            return False
        try:
            desk, self._desk = self._desk, None
        finally:
            self._lock.release()
        if desk is not None:
            desk.close()
        return True

    def begin_again(self) -> None:
        """Forget the store without closing it: it belongs to the process that this one was forked from."""
        self._lock = RLock()
        if self._desk is not None:
            self._lent.append(self._desk)
        self._desk = None

    def __deepcopy__(self, memo: object) -> SafeDesk:
        return self

    def _try(self, work: Callable[[punchlist.Desk], _T], default: _T, *, insists: bool = False) -> _T:
        """Do some work at the desk, one at a time. `insists`: also while a store that has failed is left alone."""
        with self._lock:
            if self._failed and not insists and time.monotonic() < self._until:
                return default
            try:
                if self._desk is None:  # a store that fails stays open: in place of one that is gone, none is made
                    self._desk = self._make()
                found = work(self._desk)
            except punchlist.Refused:
                raise
            except Exception as error:
                self._warn(error)
                return default
            self._failed = ""
            return found

    def _warn(self, error: Exception) -> None:
        """Warn the user once: not again for each call that fails while others succeed."""
        now = time.monotonic()
        if now >= self._failed_at + _CALM:
            self._warned.clear()
        self._failed_at, self._until = now, now + _AGAIN
        words = str(error) or type(error).__name__
        if words not in self._warned:
            logger.warning("the plan cannot be kept, and the agent goes on without: %s", words)
        self._warned.add(words)
        self._failed = words


def _times(text: str, messages: Sequence[Mapping[str, Any]]) -> int:
    """How often some messages have a text."""
    return sum(str(one.get("content", "")).count(text) for one in messages)


def _is_offered(desk: punchlist.Desk, tool: str) -> bool:
    return tool in [one["name"] for one in desk.tools("mcp")]


async def in_thread(work: Callable[..., _T], *args: Any, **options: Any) -> _T:
    """Do some work in a thread of ours, and await it. A task that is cancelled ends at once; work that had begun is
    finished, all of it or nothing, and work that had not is not begun.

    The threads of the event loop are left to your program, which may wait for us in all of them.
    """
    is_cancelled = False
    context = copy_context()

    def begin() -> _T:
        if is_cancelled:
            raise asyncio.CancelledError
        return context.run(work, *args, **options)

    if not _threads:
        _threads.append(ThreadPoolExecutor(_THREADS, "punchlist"))
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads[0], begin)
    except asyncio.CancelledError:
        is_cancelled = True
        raise


@cache
def _watch_forks() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_begin_again)


def _begin_again() -> None:
    """A process was forked: it has none of our threads, and none of our open stores."""
    _threads.clear()
    for desks in list(_all):
        desks.begin_again()


def message(
    role: str,
    text: str,
    calls: Sequence[tuple[str, str, Any]] = (),
    *,
    tool: str = "",
    failed: bool = False,
) -> dict[str, Any]:
    """Return a message as `before_request` reads it. `role`: "system", "user", "assistant" or "tool"; `calls`: of an
    assistant, each with its id, the name of the tool and the arguments; `tool`: which one a result is of."""
    made: dict[str, Any] = {"role": role, "content": text}
    if calls:
        made["tool_calls"] = [{"id": id, "function": {"name": name, "arguments": args}} for id, name, args in calls]
    if tool:
        made["name"] = tool
    if failed:
        made["is_error"] = True
    return made


def todos(plan: punchlist.Plan) -> list[dict[str, str]]:
    """Return a plan as the list of todos that most screens of frameworks show; items that were dropped are left out."""
    return [{"content": item.text, "status": _TODOS[item.status]} for item in plan.items if item.status in _TODOS]


def error_text(error: BaseException | None) -> str:
    """Return what an error says, or its type if that is nothing: also of one whose text cannot be made."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def exit_code(result: Any) -> int | None:
    """Return the exit code in the result of a tool that ran a command: a number under one of the usual names."""
    for name in _EXITS:
        try:
            value = result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)
        except Exception:  # a property of the user's own type, before the command has ended for example
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
