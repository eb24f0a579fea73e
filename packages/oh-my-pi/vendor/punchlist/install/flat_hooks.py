"""Hooks of agents whose settings list them flat, each event with its commands, below a version of the form."""

from __future__ import annotations

from typing import Any

from . import edit_json
from .parts import as_dict, as_list, is_hook, runs_hook

VERSION = "version"


def add(text: str, path: tuple[str, ...], wanted: dict[str, Any], host: str) -> str:
    """The text with every hook of ours exactly once, and the version that such a file needs."""
    if VERSION not in as_dict(edit_json.read(text)):
        text = edit_json.put(text, (VERSION,), 1)
    hooks = as_dict(as_dict(edit_json.read(text)).get(path[0]))
    for event in [*wanted, *(event for event in hooks if event not in wanted)]:
        there = [entry for entry in as_list(hooks.get(event)) if is_hook(entry, host)]
        new = wanted.get(event)
        if any(runs_hook(entry, host) for entry in as_list(hooks.get(event))) or there == [new]:
            continue
        if len(there) == 1 and new is not None and there[0].get("command") == new["command"]:
            continue  # how long it may take, and how often, is the user's to choose
        text = _without(text, path, event, host)
        if new is not None:
            text = edit_json.append(text, (*path, event), new)
    return text


def strip(text: str, path: tuple[str, ...], host: str) -> tuple[str, list[str]]:
    """The text without our hooks, and the events that had some."""
    events = [
        event for event, entries in _hooks(text, path).items() if any(is_hook(one, host) for one in as_list(entries))
    ]
    for event in events:
        text = _without(text, path, event, host)
    return text, events


def find_theirs(text: str, path: tuple[str, ...], host: str) -> list[str]:
    """The events at which somebody else's hook runs ours."""
    hooks = _hooks(text, path)
    return [event for event in hooks if any(runs_hook(entry, host) for entry in as_list(hooks[event]))]


def find_missing(hooks: Any, wanted: dict[str, Any], host: str) -> list[str]:
    """The events that a hook of ours should answer, and none does."""
    entries = {event: as_list(as_dict(hooks).get(event)) for event in wanted}
    return [event for event in wanted if not any(is_hook(one, host) or runs_hook(one, host) for one in entries[event])]


def commands(hooks: Any, host: str) -> list[str]:
    """The commands of our hooks."""
    entries = [entry for entries in as_dict(hooks).values() for entry in as_list(entries)]
    return [entry["command"] for entry in entries if is_hook(entry, host)]


def _hooks(text: str, path: tuple[str, ...]) -> dict[str, Any]:
    return as_dict(as_dict(edit_json.read(text)).get(path[0]))


def _without(text: str, path: tuple[str, ...], event: str, host: str) -> str:
    there = as_list(_hooks(text, path).get(event))
    for number in reversed([number for number, entry in enumerate(there) if is_hook(entry, host)]):
        text = edit_json.remove(text, (*path, event, number))
    return text
