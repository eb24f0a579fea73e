"""A server whose pause is offered only while something on the plan is open, and nothing at all while it is paused."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from punchlist import Desk
from punchlist.dialects import Dialect, Tool, offered
from punchlist.local.settings import load
from punchlist.mcp import serve
from punchlist.mcp.callers import Callers, Given
from punchlist.mcp.server import Server


def moody(dialect: Dialect, session: str, desk: Callable[[], Desk]) -> tuple[Tool, ...]:
    plan = desk().plan
    return () if plan.paused else tuple(offered(dialect, continuing=bool(plan.open_items)))


sys.exit(serve(Server(load({"dialect": "llxprt"}), Callers(Given(session="s"), os.environ), offer=moody)))
