"""The plan's own tools, in the words of the chosen dialect."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...core.errors import StoreError
from ...desk.tool_call import faulted
from ...dialects import offered
from ..context import Context
from ..events import Planned
from ..transcript import state_of
from . import Answer, Tool


def tools(site: Context, *, continuing: bool) -> list[Tool]:
    """What the dialect offers this agent: nothing to a sub-agent, where it withholds its tools from them."""
    return [
        Tool(
            tool.name,
            tool.description,
            tool.schema,
            partial(_call, tool.name, continuing),
            read_only=tool.read_only,
            concurrency_safe=False,  # a desk belongs to one thread
            is_plan=True,
            strict=tool.strict,
            examples=tool.examples,
            silent=tool.silent,
        )
        for tool in offered(site.desk.dialect, continuing=continuing, agent=site.desk.agent)
    ]


def _call(name: str, continuing: bool, site: Context, args: Mapping[str, Any]) -> Answer:
    before = site.desk.plan
    try:
        reply = site.desk.call(name, args, interactive=site.interactive, continuing=continuing)
    except StoreError as error:
        return Answer(faulted(site.desk, name, error).text, True)
    plan = site.desk.plan
    if plan.revision != before.revision:
        site.tell(Planned(site.agent, plan))
    return Answer(reply.text, reply.is_error, reply.display, reply.details, state_of(plan))
