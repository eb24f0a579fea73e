"""The README as a package index shows it. An index has no files beside it: there, `docs/install.md` leads nowhere.

hatchling loads this file by its path when it builds the package (pyproject.toml), so it imports nothing of ours.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_FENCED = re.compile(r"(^```.*?^```$)", re.S | re.M)
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|!\[[^\]]*\]\([^)\s]*\))*)\]\(([^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|//", re.I)  # how an address begins that is good anywhere


def for_index(text: str, source: str, tag: str) -> str:
    """Return a page with links that work away from its repository.

    With the address of the repository, they lead there, to the files of a tag. Without one (an empty `source`), a link
    becomes its text with the name of the file, and a picture is left out.
    """
    parts = _FENCED.split(text)
    parts[::2] = [_prose(part, source, tag) for part in parts[::2]]
    return re.sub(r"\n{3,}", "\n\n", "".join(parts))


def _prose(text: str, source: str, tag: str) -> str:
    text = _PICTURE.sub(lambda found: _picture(found, source, tag), text)
    return _LINK.sub(lambda found: _link(found, source, tag), text)


def _picture(found: re.Match[str], source: str, tag: str) -> str:
    alt, path = found.groups()
    if _ELSEWHERE.match(path):
        return found[0]
    if source:
        return f"![{alt}]({source}/raw/{tag}/{path})"
    return ""


def _link(found: re.Match[str], source: str, tag: str) -> str:
    text, path = found.groups()
    if _ELSEWHERE.match(path):
        return found[0]
    if source:
        return f"[{text}]({source}/blob/{tag}/{path})"
    name = f"`{path.partition('#')[0]}`"
    if text.strip("`") == name.strip("`") or not text:
        return name
    return f"{text} ({name})"


class Readme(MetadataHookInterface):
    """Sets the field `readme` when the package is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        source = metadata.get("urls", {}).get("Source", "").rstrip("/")
        (version,) = re.findall(
            r'^__version__ = "(.+)"$', (root / "src/punchlist/__init__.py").read_text("utf-8"), re.M
        )
        text = for_index((root / "README.md").read_text("utf-8"), source, f"v{version}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
