"""Handing work to a sub-agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...prompts import say
from ..context import Context
from . import FLAG, WORDS, Answer, Tool, form

_NAME: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 30}


def tools(context: Context) -> list[Tool]:
    """Nothing to one who is as deep as sub-agents go."""
    if context.depth >= context.bounds.depth:
        return []
    schema = form({"name": _NAME, "prompt": WORDS}, background=FLAG)
    return [Tool("task", say("agent.task"), schema, _task, concurrency_safe=True)]


def _task(context: Context, args: Mapping[str, Any]) -> Answer:
    name = "".join(char if char.isalnum() else "-" for char in args["name"].strip().casefold()).strip("-") or "worker"
    background = bool(args.get("background"))
    return context.subagents.start(context, name, args["prompt"], background=background)
