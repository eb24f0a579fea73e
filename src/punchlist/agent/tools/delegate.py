"""Handing work to a sub-agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...prompts import say
from ..context import Context
from . import FLAG, WORDS, Answer, Tool, form

_NAME: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 30}


def tools(site: Context) -> list[Tool]:
    """Nothing to one who is as deep as sub-agents go."""
    if site.depth >= site.bounds.depth:
        return []
    schema = form({"name": _NAME, "prompt": WORDS}, background=FLAG)
    return [Tool("task", say("agent.task"), schema, _task, concurrency_safe=True)]


def _task(site: Context, args: Mapping[str, Any]) -> Answer:
    name = "".join(char if char.isalnum() else "-" for char in args["name"].strip().casefold()).strip("-") or "worker"
    background = bool(args.get("background"))
    return site.crew.start(site, name, args["prompt"], background=background)
