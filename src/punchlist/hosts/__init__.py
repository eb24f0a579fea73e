"""Agents that exist: their hook events in, our answers out. A hook never gets in the way: any error is silence."""

from __future__ import annotations

import os
import sys

from ..core._typing import Any
from ..desk import delivery

VALUED = ("store", "plan", "session", "agent")  # options that come before a value
PATHS = {
    "claude-code": "punchlist.hosts.claude_code",
    "codex": "punchlist.hosts.codex",
    "gemini": "punchlist.hosts.gemini",
    "opencode": "punchlist.hosts.opencode",
    "oh-my-pi": "punchlist.hosts.oh_my_pi",
    "goose": "punchlist.hosts.goose",
}


def run(argv: list[str]) -> int:
    """Answer one hook event on standard input. Fails open: nothing on standard output, exit code 0."""
    host = ""
    try:
        host, flags = _read(argv)
        delivery.hold()
        said = _answer(host, flags, sys.stdin.buffer.read())
        if said:
            sys.stdout.write(said)
            sys.stdout.flush()
        delivery.written()
    except Exception as error:
        _log(host, error)
        delivery.dropped()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what could not be written is not tried again at the end
    return 0


def heard(fields: Any, client: str) -> str | None:
    """Answer an event that the running server was told of, field by field, by a client of this host. Fails open like a
    hook: with nothing. None for an event that does not come from the hooks that `install` wrote."""
    from . import hook_secret

    given = dict(fields) if isinstance(fields, dict) else {}
    name, word = given.get("host", ""), given.pop(hook_secret.FIELD, "")
    if not hook_secret.matches(word) and (word or not client or name != client):
        return None
    try:
        import json

        if not word:
            raise PermissionError("an event without the secret of this user; run `punchlist install claude-code` again")
        host = _host(name)
        said = host.answer(host.unpacked(given), {"served": "yes"})
        return json.dumps(said) if said else ""
    except Exception as error:
        _log(name, error)
        return ""


def _read(argv: list[str]) -> tuple[str, dict[str, str]]:
    """The host, and the options before or after it."""
    words = iter(argv)
    named: list[str] = []
    flags: dict[str, str] = {}
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            flags[name] = next(words, "") if not equals and name in VALUED else value
        else:
            named.append(word)
    return named[1] if len(named) > 1 else "", flags


def _answer(host: str, flags: dict[str, str], event: bytes) -> str:
    import json

    flags.pop("served", None)  # nobody can say that by an option
    said = _host(host).answer(_event(event), flags)
    return json.dumps(said) if said else ""


def _event(given: bytes) -> dict[str, Any]:
    """What an agent has sent. Raises Refused."""
    import json

    from ..core.errors import Refused

    try:
        event = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the event must be a JSON object: {error!s:.200}" if given else "there is no event") from None
    if not isinstance(event, dict):
        from ..core.schema import shown

        raise Refused(f"the event must be an object, not {'a string' if isinstance(event, str) else shown(event)}")
    return event


def _host(name: Any) -> Any:
    if name not in list(PATHS):
        from ..core.errors import Refused

        raise Refused(f"no host {name!r:.80}; the hosts are {', '.join(PATHS)}")
    return __import__(PATHS[name], fromlist=["answer"])


def _log(host: Any, error: Exception) -> None:
    from ..local.faults import log

    log(f"hook {host}" if host in list(PATHS) else "hook", error)
