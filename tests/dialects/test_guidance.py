"""What a document asks its guidance to say is said, in our words: descriptions and system prompt hold each point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from punchlist.dialects import load
from punchlist.prompts import say

POINTS = json.loads(Path(__file__).with_name("guidance.json").read_text(encoding="utf-8"))
NAMES = {"tool": "{tool}", "shell": "{shell}"}


def _said(dialect: str) -> str:
    """Everything a model is told of a dialect's tools, in one line of lower case."""
    texts = [f"{tool.short}\n{tool.description}" for tool in load(dialect).tools]
    texts.append(say(f"{dialect}.system", **NAMES))
    return " ".join("\n".join(texts).lower().split())


@pytest.mark.parametrize(
    ("dialect", "point"),
    [pytest.param(dialect, point, id=f"{dialect}: {point}") for dialect, points in POINTS.items() for point in points],
)
def test_the_guidance_says(dialect: str, point: str) -> None:
    said = _said(dialect)
    assert [words for words in POINTS[dialect][point] if words not in said] == []
