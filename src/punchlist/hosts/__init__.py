"""Agents that exist: their hook events in, our answers out. A hook never gets in the way: any fault is silence."""

from __future__ import annotations

import os
import sys

from ..core.typed import Any

_VALUED = ("store", "plan", "session", "agent")  # options that stand before a value
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
    try:
        said = _answer(*_read(argv), sys.stdin.buffer.read())
        if said:
            sys.stdout.write(said)
            sys.stdout.flush()
    except Exception as error:
        _log(error)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what could not be written is not tried again at the end
    return 0


def heard(fields: Any) -> str:
    """Answer an event that the running server was told of, field by field. Fails open like a hook: with nothing."""
    try:
        import json

        host = _host(fields["host"])
        said = host.answer(host.unpacked(fields), {})
        return json.dumps(said) if said else ""
    except Exception as error:
        _log(error)
        return ""


def _read(argv: list[str]) -> tuple[str, dict[str, str]]:
    """The host, and the options that stand before or after it."""
    words = iter(argv)
    named: list[str] = []
    flags: dict[str, str] = {}
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            flags[name] = next(words, "") if not equals and name in _VALUED else value
        else:
            named.append(word)
    return named[1] if len(named) > 1 else "", flags


def _answer(host: str, flags: dict[str, str], event: bytes) -> str:
    import json

    said = _host(host).answer(json.loads(event), flags)
    return json.dumps(said) if said else ""


def _host(name: str) -> Any:
    if name not in PATHS:
        raise ValueError(f"no host {name!r}; the hosts are {', '.join(PATHS)}")
    return __import__(PATHS[name], fromlist=["answer"])


def _log(error: Exception) -> None:
    from ..faults import log

    log("hook", error)
