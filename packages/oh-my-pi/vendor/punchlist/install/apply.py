"""Parts put into the text of a file, and taken out again. Pure: text in, text out."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from ..core.errors import Refused
from . import edit_json, edit_toml, edit_yaml, flat_hooks
from .parts import (
    NAME,
    SECONDS,
    Part,
    as_dict,
    as_list,
    handlers,
    is_line,
    is_server,
    is_written,
    line_command,
    runs_hook,
    runs_line,
    serves,
    their_line,
    within,
)
from .script import is_launcher, launcher

_OLD_LIMITS = (SECONDS, SECONDS * 1000)  # of every hook, in versions that gave none more time
_ANY = f"/@/{NAME}"  # a script that stands for all


def add_parts(text: str, parts: Sequence[Part], host: str, script: str, before: str | None = None) -> str:
    """The text with all parts in it; the same text if they were in it. `before` is the text without what is ours, if
    that is known: what is in it is not ours, and is left alone."""
    for part in parts:
        text = _ADD[part.kind](text, part, host, script, before)
    return text


def strip_parts(text: str, parts: Sequence[Part], host: str, before: str | None) -> str:
    """The text without what is ours. `before` is how it was when we came, if that is known: objects and lists that are
    empty again are written as they were then, and go if they were not there; and what is in it is not ours."""
    for part in parts:
        text = _STRIP[part.kind](text, part, host, before)
    return text


def holds(text: str, part: Part, host: str) -> bool:
    """Whether a file has this part in some form, be it a server, hooks or a file that somebody else wrote."""
    if part.kind == "entry":
        return serves(value_at(text, part))
    if part.kind == "file":
        return NAME in text
    theirs = part.kind in ("hooks", "flat-hooks") and bool(find_theirs(text, [part], host, text))
    return theirs or strip_parts(text, [part], host, None) != text


def is_sure(text: str, part: Part, host: str) -> bool:
    """Whether a file has this part in a form that nobody writes but we."""
    return part.kind in ("hooks", "flat-hooks", "line", "file") and strip_parts(text, [part], host, None) != text


def find_theirs(text: str, parts: Sequence[Part], host: str, before: str | None) -> list[str]:
    """The places where somebody else's words run ours, or are where ours would be."""
    return [place for part in parts for place in _THEIRS[part.kind](text, part, host, before)]


def find_blocked_lines(text: str, parts: Sequence[Part], host: str) -> list[str]:
    """The places where there is somebody else's status line that ours cannot be put behind."""
    lines = [(part, value_at(text, part)) for part in parts if part.kind == "line"]
    return [_place(part) for part, there in lines if there is not None and not is_line(there, host)]


def is_nothing(text: str) -> bool:
    """Whether nothing is left of a file that we made."""
    return text.strip() in ("", "{}")


def value_at(text: str, part: Part) -> Any:
    """What is at a part's place in a file; none if nothing does."""
    form = _form(part)
    if form == "yaml":
        return edit_yaml.read(text, _pair(part))
    if form == "toml":
        return within(edit_toml.read(text), *part.path)
    return edit_json.read_at(text, part.path)


def _form(part: Part) -> str:
    return {".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}.get(os.path.splitext(part.files[-1])[1], "json")


def _place(part: Part) -> str:
    return repr(".".join(part.path))


def _pair(part: Part) -> tuple[str, str]:
    first, second = part.path
    return first, second


# --- a key with our name ---------------------------------------------------------------------------------------------


def _add_entry(text: str, part: Part, host: str, script: str, before: str | None) -> str:
    there = value_at(text, part)
    if there is not None and not serves(there):
        raise Refused(f"{'.'.join(part.path)!r} is there already and is not ours; give it another name first.")
    if there is not None and (not is_server(there) or _was_there(part, before)):
        return text
    form = _form(part)
    if form == "yaml":
        return edit_yaml.put(text, _pair(part), part.value)
    if form == "toml":
        return edit_toml.put(text, part.path, part.value)
    return edit_json.put_all(text, part.path, part.value)


def _strip_entry(text: str, part: Part, host: str, before: str | None) -> str:
    if part.trace and edit_yaml.read(text, part.trace) == {"enabled": True}:
        text = edit_yaml.remove(text, part.trace, and_block=before is None or not edit_yaml.has(before, part.trace[0]))
    if not _is_entry(text, part, before):
        return text
    form = _form(part)
    if form == "yaml":
        mine = before is None or not edit_yaml.has(before, part.path[0])
        return _end_like(edit_yaml.remove(text, _pair(part), and_block=mine), before)
    if form == "toml":
        return _end_like(edit_toml.remove(text, part.path), before)
    while _is_entry(text, part, before):  # a key may be there twice
        text = edit_json.remove(text, part.path)
    return _prune(text, part.path[:-1], before)


def _is_entry(text: str, part: Part, before: str | None) -> bool:
    """Whether the entry is ours: one that we put there, or just what we would put there if nothing is known."""
    there = value_at(text, part)
    if before is None:
        return is_written(there, part.value)
    return is_server(there) and not _was_there(part, before)


def _was_there(part: Part, before: str | None) -> bool:
    return before is not None and value_at(before, part) is not None


def _their_entry(text: str, part: Part, host: str, before: str | None) -> list[str]:
    if serves(value_at(text, part)) and not _is_entry(text, part, before):
        return [_place(part)]
    return []


def _end_like(text: str, before: str | None) -> str:
    """With the line ends at its end that it had: ours begins on a line of its own."""
    if before is not None and text.rstrip("\r\n") == before.rstrip("\r\n"):
        return before
    return text


# --- hooks -----------------------------------------------------------------------------------------------------------


def _add_hooks(text: str, part: Part, host: str, script: str, before: str | None) -> str:
    """Every event of ours exactly once, and none at an event that we no longer answer."""
    now = _hooks(text, part)
    ours = _ours(now, host)
    for event, wanted in part.value.items():
        if is_answered(now.get(event), wanted, host):
            continue
        there = [now[event][group] for group in ours.get(event, {})]
        if len(there) != len(groups_of(wanted)) or not all(map(_is_same, there, groups_of(wanted))):
            text = _without_event(text, part, host, event)
            for group in groups_of(wanted):
                text = edit_json.append(text, (*part.path, event), group)
    for event in ours.keys() - part.value.keys():
        text = _without_event(text, part, host, event)
    return text


def groups_of(wanted: Any) -> list[dict[str, Any]]:
    """The groups of hooks that an event should have: one, or several."""
    if isinstance(wanted, list):
        return wanted
    return [wanted]


def is_answered(groups: Any, wanted: Any, host: str) -> bool:
    """Whether somebody's own hook runs ours for every event that we would handle."""
    matchers = ("", "*", None, groups_of(wanted)[0].get("matcher"))
    mine = [entry for entry in _groups(groups) if entry.get("matcher") in matchers]
    return any(runs_hook(handler, host) for entry in mine for handler in entry["hooks"])


def _groups(groups: Any) -> list[dict[str, Any]]:
    return [entry for entry in as_list(groups) if isinstance(as_dict(entry).get("hooks"), list)]


def _their_hooks(text: str, part: Part, host: str, before: str | None) -> list[str]:
    found = {
        event: [handler for entry in _groups(groups) for handler in entry["hooks"]]
        for event, groups in _hooks(text, part).items()
    }
    theirs = [event for event, inside in found.items() if any(runs_hook(handler, host) for handler in inside)]
    return [repr(".".join((*part.path, event))) for event in theirs]


def _strip_hooks(text: str, part: Part, host: str, before: str | None) -> str:
    for event in _ours(_hooks(text, part), host):
        text = _prune(_without_event(text, part, host, event), (*part.path, event), before)
    return text


def _ours(hooks: dict[str, Any], host: str) -> dict[str, dict[int, list[int]]]:
    """Our hooks by event and group."""
    found: dict[str, dict[int, list[int]]] = {}
    for event, group, number in handlers(hooks, host):
        found.setdefault(event, {}).setdefault(group, []).append(number)
    return found


def _hooks(text: str, part: Part) -> dict[str, Any]:
    return as_dict(value_at(text, part))


def _is_same(there: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a group does what it should; how long it may take is the user's to choose, unless an older version chose
    it."""
    is_same = _actions(there) == _actions(wanted) and there.get("matcher") == wanted.get("matcher")
    return is_same and not any(map(_is_shorter, there["hooks"], wanted["hooks"]))


def _is_shorter(there: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a hook has the time that older versions gave it, and this version gives it more."""
    limit = there.get("timeout")
    return limit in _OLD_LIMITS and limit < wanted["timeout"]


def _actions(group: dict[str, Any]) -> list[Any]:
    """What the hooks of a group do, and when."""
    keys = ("command", "input", "if")
    return [[one.get(key) for key in keys] if isinstance(one, dict) else one for one in group["hooks"]]


def _without_event(text: str, part: Part, host: str, event: str) -> str:
    now = _hooks(text, part)
    for group, numbers in reversed(_ours(now, host).get(event, {}).items()):
        path: edit_json.Path = (*part.path, event, group)
        if len(numbers) == len(now[event][group]["hooks"]):
            text = edit_json.remove(text, path)
            continue
        for number in reversed(numbers):
            text = edit_json.remove(text, (*path, "hooks", number))
    return text


# --- hooks, flat -----------------------------------------------------------------------------------------------------


def _add_flat(text: str, part: Part, host: str, script: str, before: str | None) -> str:
    return flat_hooks.add(text, part.path, part.value, host)


def _strip_flat(text: str, part: Part, host: str, before: str | None) -> str:
    text, events = flat_hooks.strip(text, part.path, host)
    for event in events:
        text = _prune(text, (*part.path, event), before)
    if events and _is_our_version(text, before):
        text = _prune(edit_json.remove(text, (flat_hooks.VERSION,)), (), before)
    return text


def _is_our_version(text: str, before: str | None) -> bool:
    """Whether we have put the version into a file; if it is not known what was there: whether nothing else is left."""
    now = as_dict(edit_json.read(text))
    if before is None:
        return now.keys() == {flat_hooks.VERSION}
    return flat_hooks.VERSION in now and flat_hooks.VERSION not in as_dict(edit_json.read(before))


def _their_flat(text: str, part: Part, host: str, before: str | None) -> list[str]:
    return [repr(".".join((*part.path, event))) for event in flat_hooks.find_theirs(text, part.path, host)]


# --- an element of a list --------------------------------------------------------------------------------------------


def _add_element(text: str, part: Part, host: str, script: str, before: str | None) -> str:
    if part.value in as_list(value_at(text, part)):
        return text
    return edit_json.append(text, part.path, part.value)


def _strip_element(text: str, part: Part, host: str, before: str | None) -> str:
    there = as_list(value_at(text, part))
    was_there = before is not None and part.value in as_list(value_at(before, part))
    if part.value not in there or was_there:
        return text
    for number in reversed([number for number, entry in enumerate(there) if entry == part.value]):
        text = edit_json.remove(text, (*part.path, number))
    return _prune(text, part.path, before)


# --- a status line ---------------------------------------------------------------------------------------------------


def _add_line(text: str, part: Part, host: str, script: str, before: str | None) -> str:
    """Ours alone, or behind the one that is there. One of a kind that we do not know is left alone."""
    there = value_at(text, part)
    if there is None:
        return edit_json.put(text, part.path, {"type": "command", "command": line_command(script, host), **part.value})
    if not isinstance(there, dict) or there.get("type") != "command" or not isinstance(there.get("command"), str):
        return text
    theirs = there["command"]
    if is_line(there, host):
        theirs = their_line(theirs)
    if runs_line(there, host) or not _is_text(theirs):
        return text
    wanted = line_command(script, host, theirs, paced=_is_paced(there, part, host, before))
    if there["command"] != wanted:
        text = edit_json.put(text, (*part.path, "command"), wanted)
    for key, value in part.value.items():
        if key not in there:
            text = edit_json.put(text, (*part.path, key), value)
    return text


def _is_paced(there: dict[str, Any], part: Part, host: str, before: str | None) -> bool:
    """Whether somebody has said how often their status line is run."""
    if before is not None:
        return any(key in as_dict(value_at(before, part)) for key in part.value)
    ours = part.value if is_line(there, host) else {}
    return any(key in there and there[key] != ours.get(key) for key in part.value)


def _strip_line(text: str, part: Part, host: str, before: str | None) -> str:
    there = value_at(text, part)
    if not is_line(there, host):
        return text
    theirs = their_line(there["command"])
    if not theirs:
        return _prune(edit_json.remove(text, part.path), part.path[:-1], before)
    old = as_dict(value_at(before or "", part))
    for key, value in part.value.items():
        if there.get(key) == value and key not in old:
            text = edit_json.remove(text, (*part.path, key))
    path = (*part.path, "command")
    if before and not edit_json.is_blank(before):
        node = edit_json.find(edit_json.parse(before), path)
        if node and edit_json.value(before, node) == theirs:
            return edit_json.replace(text, path, before[node.start : node.end])
    return edit_json.put(text, path, theirs)


def _is_text(words: str) -> bool:
    """Whether it can be written down: half of a pair of surrogates cannot."""
    return not any("\ud800" <= char <= "\udfff" for char in words)


def _their_line(text: str, part: Part, host: str, before: str | None) -> list[str]:
    if runs_line(value_at(text, part), host):
        return [_place(part)]
    return []


# --- a whole file ----------------------------------------------------------------------------------------------------


def _add_file(text: str, part: Part, host: str, script: str, before: str | None) -> str:
    if not text.strip() or _is_file(text, part) or (before is not None and not before.strip()):
        return str(part.value(script))
    if before is None:
        return text
    raise Refused("it is there already and is not ours; move it away first.")


def _strip_file(text: str, part: Part, host: str, before: str | None) -> str:
    if _is_file(text, part):
        return ""
    return text


def _is_file(text: str, part: Part) -> bool:
    """Whether it is a file as we write it, for whatever script."""
    if text.startswith("#!"):
        return part.value is launcher and is_launcher(text)
    first, *rest = map(re.escape, part.value(_ANY).split(_ANY))
    if not rest:
        return bool(text == part.value(_ANY))
    path = rf"(?P<path>[^\n]*?{NAME}(?:\.exe)?['\"\\]*)"
    return re.fullmatch(first + path + "(?P=path)".join(rest), text) is not None


def _their_file(text: str, part: Part, host: str, before: str | None) -> list[str]:
    if text.strip() and not _is_file(text, part):
        return ["it"]
    return []


def _prune(text: str, path: tuple[str, ...], before: str | None) -> str:
    """Without the objects and lists along a path that are empty and were not there before."""
    if before is not None and not edit_json.is_blank(before):
        root = edit_json.parse(before)
    else:
        root = None
    for depth in range(len(path), -1, -1):
        now = edit_json.find(edit_json.parse(text), path[:depth])
        if now is None or now.children:
            return text
        then = None
        if before and root:
            then = edit_json.find(root, path[:depth])
        if before and then is not None:
            if then.children:
                return text
            return edit_json.replace(text, path[:depth], before[then.start : then.end])
        if depth:
            text = edit_json.remove(text, path[:depth])
    return text


_ADD = {
    "entry": _add_entry,
    "hooks": _add_hooks,
    "flat-hooks": _add_flat,
    "element": _add_element,
    "line": _add_line,
    "file": _add_file,
}
_STRIP = {
    "entry": _strip_entry,
    "hooks": _strip_hooks,
    "flat-hooks": _strip_flat,
    "element": _strip_element,
    "line": _strip_line,
    "file": _strip_file,
}
_THEIRS = {
    "entry": _their_entry,
    "hooks": _their_hooks,
    "flat-hooks": _their_flat,
    "element": lambda text, part, host, before: [],
    "line": _their_line,
    "file": _their_file,
}
