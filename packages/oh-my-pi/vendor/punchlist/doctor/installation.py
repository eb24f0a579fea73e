"""Our own health: version, script, how fast it starts, settings, off and on, errors."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from .. import __version__
from ..core.text import cut, inline
from ..local import event_log
from ..local.access import why_not_writable
from ..local.age import ago
from ..local.on_off import is_off
from ..local.origin import upgrade_command
from ..local.settings import Settings, place
from . import NOTE, OK, OWN, PROBLEM, Check
from .probe import hook_time, server

ELSEWHERE = "name a folder that you can write: XDG_STATE_HOME"
_LINES = 3  # of errors
_RECENT = "7d"  # how long an error is worth a line
_SLOW_HOOK, _SLOW_SERVER = 150, 250  # milliseconds


def checks(settings: Settings, script: str) -> Iterator[Check]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Check(OWN, OK, f"punchlist {__version__}, Python {python}, {script or sys.executable}")
    if script:
        yield _hook(script, settings.store)
        yield _server(script)
    yield from _bytecode()
    yield from (Check(OWN, PROBLEM, problem, "fix it there, or remove it") for problem in settings.problems)
    yield from _off(settings)
    yield from _log()


def _off(settings: Settings) -> Iterator[Check]:
    """Whether somebody has switched everything off."""
    origin = settings.origins.get("off", "")
    if settings.off and origin == "PUNCHLIST_OFF":
        yield Check(OWN, NOTE, "PUNCHLIST_OFF is set: hooks say and do nothing", "unset PUNCHLIST_OFF")
    elif settings.off:
        yield Check(OWN, NOTE, f"off in {origin}: hooks say and do nothing", "set off to false there")
    if is_off(place()):
        yield Check(OWN, NOTE, "punchlist was turned off: hooks say and do nothing here", "punchlist on")


def _hook(script: str, url: str) -> Check:
    took, problem = hook_time(script, url)
    if problem:
        return Check(OWN, PROBLEM, f"a hook fails: {problem}", upgrade_command())
    if took > _SLOW_HOOK:
        is_remote = url.startswith("postgres")
        if is_remote:
            fix = "punchlist install claude-code --hooks server"
        else:
            fix = "see whether the disk is slow"
        return Check(OWN, NOTE, f"a hook takes {took:.0f} ms, which an agent waits for", fix)
    return Check(OWN, OK, f"a hook takes {took:.0f} ms")


def _server(script: str) -> Check:
    found = server(script)
    if found.problem:
        return Check(OWN, PROBLEM, f"the server does not answer: {found.problem}", f"see what it says: {script} mcp")
    words = f"the server answers in {found.took:.0f} ms, with {', '.join(found.tools) or 'no tool'}"
    if found.took > _SLOW_SERVER:
        return Check(OWN, NOTE, f"{words}; some agents wait for {_SLOW_SERVER} ms only", "try again with less load")
    return Check(OWN, OK, words)


def _bytecode() -> Iterator[Check]:
    """Without compiled files every hook starts up to three times slower."""
    from importlib.util import cache_from_source

    root = os.path.dirname(os.path.dirname(__file__))
    ours = [str(module.__file__) for name, module in sys.modules.items() if name.split(".")[0] == "punchlist"]
    missing = [path for path in ours if path.endswith(".py") and not os.path.exists(cache_from_source(path))]
    if missing:
        if sys.dont_write_bytecode:
            why = "PYTHONDONTWRITEBYTECODE is set"
        else:
            why = f"{root} cannot be written"
        fix = f"{sys.executable} -m compileall -q {root}"
        yield Check(OWN, NOTE, f"hooks start slowly: there is no byte-code ({why})", fix)
    else:
        yield Check(OWN, OK, "byte-code is there")


def _log() -> Iterator[Check]:
    """Whether errors can be logged, and the last ones that were."""
    path = event_log.path()
    why, fix = why_not_writable(path, ELSEWHERE)
    if why:
        yield Check(OWN, PROBLEM, f"errors cannot be logged in {path}: {why}", fix)
    since = ago(_RECENT)
    errors = [one for one in event_log.read() if one["kind"] == event_log.ERROR and str(one.get("at", "")) > since]
    if errors:
        last = "".join(f"\n{_line(error)}" for error in errors[-_LINES:])
        words = f"errors were logged in the last {_RECENT[:-1]} days ({len(errors)}); the last:{last}"
        yield Check(OWN, NOTE, words, f"to see all of them: grep '\"error\"' {shlex.quote(path)}")
    elif not why:
        yield Check(OWN, OK, "no errors logged")


def _line(error: Mapping[str, Any]) -> str:
    words = f"{error.get('at')} {error.get('where')}: {error.get('message')}"
    return cut(inline(words), 300)
