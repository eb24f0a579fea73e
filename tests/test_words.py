"""Plain words: no page, prompt, docstring, comment or message uses a word that readers had to decode."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import punchlist

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent
SOURCE = Path(punchlist.__file__).parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

ROOMS = sorted({path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")})
# What is not ours to change: words that a user may say, and names that others gave.
ALLOWED = {"policy/stop_words.py": ("stand by", "stand down", "summarise")}

# What not to write, and what to write instead.
DROPPED = {
    r"mend(?:s|ed|ing)?\b": "fix, repair",
    r"(?:send|sends|sent|sending) (?:it |them |the agent |an agent )?on\b(?! (?:the|a|its|every|each)\b)": "nudge",
    r"rest(?:s|ed)\b|(?:agent|session|model) (?:may |can )?rests?\b": "stop",
    r"(?:sums?|summed|summing) (?:\w+ ){0,2}up\b": "compact",
    r"news\b": "updates",
    r"(?<!there )(?:is|are|was|were) no (?!longer\b|more\b|less\b|other\b|one\b|such\b)[a-z]": "is not a",
    r"anew\b": "again",
    r"dearest\b": "most expensive",
    r"(?:let|lets|letting) (?:it |them )?go\b(?! on\b)": "release, drop",
    r"stands?\b(?! for\b|-alone\b|alone\b|still\b)(?<!as it stands)|stood\b": "is",
    r"heed(?:s|ed)?\b|hearken": "handle",
    r"(?:hears?|heard|hearing) of\b": "is told about",
    r"at hand\b": "available",
    r"(?:stays?|kept|told|shown|read|written|reaches|reach) (?:the model )?whole\b|whole or not\b": "complete, in full",
    r"faults?\b": "problem, error",
    r"wish(?:es|ed)?\b": "request",
    r"for your eyes": "readable by you only",
    r"at the end of this page": "what the page is about",
    r"\w*(?:colour|behaviour|neighbour|favour)\w*": "American spelling",
    r"(?:recogn|organ|normal|serial|initial|final|optim|minim|summar|sanit|real|memor)is(?:e[sd]?|ing)\b": "-ize",
    r"(?:licence|artefact|centre|grey)s?\b|analys(?:e[sd]?|ing)\b|(?:whilst|amongst)\b": "American spelling",
}
PATTERNS = {re.compile(rf"\b(?:{words})", re.I): instead for words, instead in DROPPED.items()}


def found_in(text: str) -> list[str]:
    """Each dropped word of a text, with its surroundings and what to say."""
    flat = re.sub(r"\{\w+\}", "", re.sub(r"\s+", " ", text))
    return [
        f"{flat[max(0, hit.start() - 30) : hit.end() + 20].strip()!r}: say {instead!r}"
        for pattern, instead in PATTERNS.items()
        for hit in pattern.finditer(flat)
    ]


def prose_of(page: Path) -> str:
    """A page without what is in backticks: names, code, and what the program prints."""
    return re.sub(r"(?<!`)(`+)(?!`)[^`]+\1(?!`)", "`name`", page.read_text(encoding="utf-8"))


def words_of(module: Path) -> Iterator[str]:
    """The comments and the texts of a module: docstrings, and strings of several words."""
    source = module.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.value


def test_a_dropped_word_is_found_and_its_plain_use_is_not() -> None:
    wrong = ["to mend it", "is sent on", "it is no item", "the news wait", "in British colour", "your edits stand"]
    right = [
        "amend it",
        "sent on the wire",
        "there is no item",
        "it is no longer open",
        "stands for it",
        "the rest of it",
    ]
    assert [text for text in wrong if not found_in(text)] == []
    assert [text for text in right if found_in(text)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_uses_plain_words(page: Path) -> None:
    assert found_in(prose_of(page)) == []


@pytest.mark.parametrize("prompt", sorted((SOURCE / "prompts").glob("*.md")), ids=lambda prompt: prompt.name)
def test_a_prompt_uses_plain_words(prompt: Path) -> None:
    assert found_in(prompt.read_text(encoding="utf-8")) == []


def found_in_module(module: Path) -> list[str]:
    name = module.relative_to(SOURCE).as_posix()
    found = [f"{name}: {hit}" for text in words_of(module) for hit in found_in(text)]
    return [hit for hit in found if not any(words in hit for words in ALLOWED.get(name, ()))]


@pytest.mark.parametrize("room", ROOMS)
def test_the_comments_and_texts_of_a_room_use_plain_words(room: str) -> None:
    modules = sorted((SOURCE / room).rglob("*.py")) or [SOURCE / f"{room}.py"]
    found = [hit for module in modules for hit in found_in_module(module)]
    assert found == []
