"""Agents that exist, one package each. A hook never gets in the way: where anything fails it says nothing, and the log
has a line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.model import NOTHING
from ..desk import delivery

if TYPE_CHECKING:
    from ..desk import Desk
    from ..stores import Store

_LONGEST = 64 * 1024 * 1024  # bytes of an event
_CHUNK = 65_536
_PAUSE = 0.05  # seconds without more of a long event, after which it may be complete
PLUGIN = "plugin"  # in an event: it comes from the hooks of our plugin
SHARED = "claude-code"  # whose hooks other programs run as well
VALUED = ("store", "plan", "session", "agent")  # options that come before a value


class HostSigns(NamedTuple):
    """How an agent is recognized before its package is loaded."""

    client: str  # how the name begins under which its program connects to a server
    sign: str = ""  # a variable that it sets in its shell; empty if none is known
    hides_resources: bool = False  # whether its model would read more in every request if a server had resources


HOSTS = {
    "claude-code": HostSigns("claude", "CLAUDECODE", True),
    "codex": HostSigns("codex", "CODEX_THREAD_ID"),
    "gemini": HostSigns("gemini", "GEMINI_CLI", True),
    "opencode": HostSigns("opencode", "OPENCODE", True),
    "oh-my-pi": HostSigns("omp", "OMPCODE"),
    "goose": HostSigns("goose", "AGENT_SESSION_ID", True),
    "qwen-code": HostSigns("qwen", "QWEN_CODE", True),
    "cursor": HostSigns("cursor", "CURSOR_AGENT"),
    "copilot": HostSigns("github-copilot"),
}


class KeptStore(NamedTuple):
    """A store that stays open while a server answers hooks."""

    store: Store
    used: float  # when it was used last, in seconds of the monotonic clock


STORES: dict[tuple[str, ...], KeptStore] = {}  # by address
_IN_SHELL: dict[str, bool] = {}  # by host
_UNUSED = 60.0  # seconds after which a store that no hook has used is closed


def load(name: Any, part: str = "") -> Any:
    """Return the package of a host, or a module in it. Raises Refused."""
    if not isinstance(name, str) or name not in HOSTS:
        from ..core.errors import Refused

        raise Refused(f"no host {name!r:.80}; the hosts are {', '.join(HOSTS)}.")
    return __import__(f"punchlist.hosts.{name.replace('-', '_')}{part}", fromlist=["HOST"])


def of_client(client: str) -> str:
    """Return the host whose program connects under this name; empty for one that we do not know."""
    return next((name for name, signs in HOSTS.items() if client.startswith(signs.client)), "")


def hides_resources(client: str) -> bool:
    """Return whether the program that connects under this name would send its model more with every request if a
    server had resources: two more tools, or a line."""
    name = of_client(client)
    return name in HOSTS and HOSTS[name].hides_resources


def is_server_typed() -> bool:
    """Return whether this server was started in the shell of an agent, and so does not speak for the user."""
    from . import hook_origin

    return bool(os.environ.get("PUNCHLIST_BY")) or hook_origin.is_server_typed()


def run(argv: list[str]) -> int:
    """Answer one hook event on standard input. Fails open: nothing on standard output, exit code 0 (130: Ctrl+C)."""
    name = ""
    try:
        name, flags = _parse(argv)
        delivery.hold()
        found = _written(answer(name, _read_event(), flags))
        if found:
            sys.stdout.write(found)
            sys.stdout.flush()
        delivery.confirm()
    except KeyboardInterrupt:
        delivery.drop()
        return 130
    except Exception as error:
        _log(name, error)
        delivery.drop()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what could not be written is not tried again at the end
    return 0


def answer(name: Any, event: dict[str, Any], flags: Mapping[str, str] = NOTHING) -> dict[str, Any] | None:
    """Answer an event of a host, in the form that it has there; with nothing, if there is nothing to say."""
    if name == SHARED and ("cursor_version" in event or "CURSOR_VERSION" in os.environ):
        from .calling_program import find_answering

        name = find_answering(name, event)
        if not name:
            return None
    from .dispatch import handle

    host = load(name)
    found: dict[str, Any] | None = host.write(event, handle(host.read(event), host.HOST, flags))
    return found


def answer_served(fields: Any, client: str) -> str | None:
    """Answer an event that reached the running server, field by field, from a client of this host. Fails open like a
    hook: with nothing. None for an event that does not come from hooks of ours."""
    given = {}
    if isinstance(fields, dict):
        given = dict(fields)
    name = given.get("host", "")
    try:
        if not _is_ours(given, name, client):
            return None
        flags = {"served": "yes", **({PLUGIN: "yes"} if given.pop(PLUGIN, "") else {})}
        return _written(answer(name, load(name).unpack(given), flags))
    except Exception as error:
        _log(name, error)
        return ""


def _is_ours(given: dict[str, Any], name: Any, client: str) -> bool:
    """Whether an event comes from the hooks that `install` wrote, which know a secret, or from those of our plugin,
    which cannot: then it counts that the agent itself has started this server. Takes the secret out of the event.
    Raises PermissionError."""
    from . import hook_secret

    word = given.pop(hook_secret.FIELD, "")
    if word and hook_secret.matches(word):
        return True
    if word or not client or name != client:
        return False
    if given.get(PLUGIN) and not _is_in_shell(name):
        return True
    raise PermissionError(f"an event without the secret of this user; run `punchlist install {name}` again")


def _is_in_shell(name: str) -> bool:
    """Whether this server was started in the shell of an agent, which stays so."""
    if name not in _IN_SHELL:
        from .hook_origin import is_typed

        _IN_SHELL[name] = is_typed(load(name).HOST)
    return _IN_SHELL[name]


def close_stores(*, unused: bool = False) -> None:
    """Close the stores that hooks of a server have used; `unused`: only those that they have not used lately."""
    from time import monotonic

    latest = monotonic() - _UNUSED
    for key in [key for key, kept in STORES.items() if not unused or kept.used < latest]:
        STORES.pop(key).store.close()


def is_attached(name: str, project: str) -> bool:
    """Return whether an agent is attached by its settings, so that a package of ours has nothing to do."""
    from ..install.attached import by_settings

    return by_settings(name, project)


def give_first_plan(desk: Desk) -> None:
    """Give the session of a client without hooks the plan that was prepared for it."""
    from .first_plan import adopt

    adopt(desk, "", is_told=False)


def _parse(argv: list[str]) -> tuple[str, dict[str, str]]:
    """The host, and the options before or after it. Nobody can say by an option that the server asks."""
    words = iter(argv)
    named: list[str] = []
    flags: dict[str, str] = {}
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            flags[name] = next(words, "") if not equals and name in VALUED else value
        else:
            named.append(word)
    flags.pop("served", None)
    return named[1] if len(named) > 1 else "", flags


def _written(answer: dict[str, Any] | None) -> str:
    from ..core.json_text import dumps

    if answer:
        return dumps(answer)
    return ""


def _read_event() -> dict[str, Any]:
    """Return the event on standard input as soon as it is complete, since an agent may leave the pipe open. Raises
    Refused."""
    from ..core.errors import Refused

    if sys.stdin is None:
        raise Refused("standard input is closed")
    given = bytearray()
    while chunk := os.read(0, _CHUNK):
        given += chunk
        if len(given) > _LONGEST:
            raise Refused(f"the event is too long; {_LONGEST} bytes are the most")
        if chunk.rstrip().endswith(b"}") and (len(given) == len(chunk) or not _is_more_coming()):
            try:
                return _parse_event(bytes(given))
            except Refused:  # a brace within the event
                continue
    return _parse_event(bytes(given))


def _is_more_coming() -> bool:
    if os.name == "nt":  # select takes no pipes there: the end of the event is waited for
        return True
    from select import select

    return bool(select([0], [], [], _PAUSE)[0])


def _parse_event(given: bytes) -> dict[str, Any]:
    """What an agent has sent. Raises Refused."""
    from ..core.errors import Refused
    from ..core.json_text import loads

    try:
        event = loads(given)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the event must be a JSON object: {error!s:.200}" if given else "there is no event") from None
    if not isinstance(event, dict):
        from ..core.schema import shown

        raise Refused(f"the event must be an object, not {'a string' if isinstance(event, str) else shown(event)}")
    return event


def _log(host: Any, error: Exception) -> None:
    from ..local.event_log import write_error

    write_error(f"hook {host}" if host in list(HOSTS) else "hook", error)
