"""Every text a model reads that is longer than a sentence, one file each."""

from __future__ import annotations

from os.path import dirname, join

_read: dict[str, str] = {}


def _text(name: str) -> str:
    if name not in _read:
        with open(join(dirname(__file__), name + ".md"), encoding="utf-8") as file:
            _read[name] = file.read().strip()
    return _read[name]


def say(name: str, **values: str) -> str:
    """The text of this name, with the values in it. Values are data: braces in them mean nothing."""
    if values:
        return _text(name).format_map(values)
    return _text(name)
