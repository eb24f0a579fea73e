"""The plan's own tools, in the words of the chosen dialect."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...core.errors import StoreError
from ...desk.tool_call import report_failure
from ...desk.voice import find_voice
from ...dialects import offered
from ..context import Context
from ..events import Planned
from ..transcript import state_of
from . import Answer, Tool


def tools(context: Context, *, continuing: bool) -> list[Tool]:
    """What the dialect offers this agent, in the voice of its model: nothing to a sub-agent, where it withholds its
    tools from them."""
    voice = find_voice(context.desk)
    return [
        Tool(
            tool.name,
            tool.in_voice(voice).description,
            tool.schema,
            partial(_call, tool.name, continuing),
            read_only=tool.read_only,
            concurrency_safe=False,  # a desk belongs to one thread
            is_plan=True,
            strict=tool.strict,
            examples=tool.examples,
            silent=tool.silent,
        )
        for tool in offered(context.desk.dialect, continuing=continuing, agent=context.desk.agent)
    ]


def _call(name: str, continuing: bool, context: Context, args: Mapping[str, Any]) -> Answer:
    before = context.desk.plan
    try:
        reply = context.desk.call(name, args, interactive=context.interactive, continuing=continuing)
    except StoreError as error:
        return Answer(report_failure(context.desk, name, error).text, True)
    plan = context.desk.plan
    if plan.revision != before.revision:
        context.tell(Planned(context.agent, plan))
    return Answer(reply.text, reply.is_error, reply.display, reply.details, state_of(plan))
