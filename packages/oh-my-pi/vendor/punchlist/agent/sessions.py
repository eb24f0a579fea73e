"""Sessions: a transcript each, in the state folder; begun, found again, and gone on with."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from ..core.errors import Refused
from ..core.text import cut, inline
from ..local.settings import Settings
from ..stores import masked
from .compact import restore
from .context import Context
from .tool_runner import LOST
from .transcript import Transcript, head_of

_KEPT = ("dialect", "store", "model", "base_url", "style")  # settings that a session goes on with
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


def new_id() -> str:
    """A name for a session: when it began, and four letters."""
    letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(4))
    return time.strftime("%Y%m%d-%H%M%S-") + letters


def begin(state: str, place: str, id: str, **about: str) -> Transcript:
    """A new session's transcript."""
    return Transcript(path_of(state, id), {"id": id, "agent": "main", "place": place, **about})


def is_first(state: str) -> bool:
    """Whether there has been no session yet."""
    return not any(_all(state))


def latest(state: str, place: str) -> str:
    """The session of a place that was worked in last."""
    found = [(os.path.getmtime(path), id) for id, path in _all(state) if head_of(path).get("place") == place]
    if not found:
        raise Refused("there is no session here to continue; start one: punchlist run 'what to do'")
    return max(found)[1]


def find(state: str, words: str) -> str:
    """The session of an id, or of the beginning of one."""
    ids = [id for id, _ in _all(state) if id.startswith(words)]
    if words in ids or len(ids) == 1:
        if words in ids:
            return words
        return ids[0]
    shown = cut(inline(words), 40)
    if not ids:
        raise Refused(f"no session {shown!r}; `punchlist plans` lists those that have a plan.")
    raise Refused(f"{shown!r} could be any of {', '.join(sorted(ids)[:5])}; give more of it.")


def reopen(state: str, id: str) -> Transcript:
    """A session's transcript, to go on with. A call that was cut off is answered: nothing came of it."""
    said = Transcript(path_of(state, id))
    said.close_calls(LOST)
    return said


def settings_to_keep(settings: Settings) -> dict[str, str]:
    """What a session's head keeps of the settings: paths in full, no password, and a style only if one was named."""
    kept = {name: str(getattr(settings, name)) for name in _KEPT}
    kept["store"] = masked(absolute(settings.store))
    kept["base_url"] = settings.base_url if masked(settings.base_url) == settings.base_url else ""
    kept["model"] = absolute(settings.model)
    if settings.origins.get("style", "default") == "default":
        kept["style"] = ""
    return {name: value for name, value in kept.items() if value}


def kept_settings(state: str, id: str, now: Settings) -> dict[str, str]:
    """The settings that a session's head names. Raises Refused for a store whose password only the user knows."""
    head = head_of(path_of(state, id))
    kept = {name: head[name] for name in _KEPT if isinstance(head.get(name), str)}
    store = kept.get("store", "")
    if "***" in store:
        if now.origins.get("store") != "--store" and masked(absolute(now.store)) != store:
            raise Refused(
                f"session {id} has its plan in {inline(store)}; the password is not kept: name the store with --store."
            )
        del kept["store"]
    return kept


def absolute(address: str) -> str:
    """The address of a store or a model with its path in full, so that it means the same in every directory."""
    scheme, colon, path = address.partition(":")
    if not colon or not path or scheme not in ("sqlite", "json", "script"):
        return address
    return f"{scheme}:{os.path.abspath(os.path.expanduser(path))}"


def welcome(context: Context, said: Transcript, *, goes_on: bool = False) -> None:
    """Put before the model what it should hear first: the plan it comes back to, or that waits for it (`goes_on`), or
    how to make one."""
    goes_on = goes_on and not context.desk._seat.guide.lists_at_start
    source = "startup"
    if said.messages or goes_on:
        source = "resume"
    restore(context, said, source)


def path_of(state: str, id: str) -> str:
    if not id or any(not (char.isalnum() or char in "-_") for char in id):
        raise Refused(f"a session's name is made of letters, digits, - and _, not {cut(inline(id), 40)!r}.")
    return os.path.join(state, "sessions", f"{id}.jsonl")


def _all(state: str) -> Iterator[tuple[str, str]]:
    folder = os.path.join(state, "sessions")
    if not os.path.isdir(folder):
        return
    for name in os.listdir(folder):
        id, ending = os.path.splitext(name)
        if ending == ".jsonl" and "." not in id:
            yield id, os.path.join(folder, name)
