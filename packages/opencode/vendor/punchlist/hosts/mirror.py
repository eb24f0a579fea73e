"""An agent's own plan tool, mirrored: what it did there becomes the plan, without a token."""

from __future__ import annotations

from ..core._typing import Any
from ..desk import Desk
from ..dialects import Dialect, load_mirror
from .host import HookEvent, Host, Mirrored


def mirror(desk: Desk, event: HookEvent, host: Host) -> Mirrored:
    """Carry out a call that the agent's own tool has carried out already. Return what the model should be told."""
    tool, args = host.mirror_call(event) if host.mirror_call else (event.tool, event.args)
    dialect = _for_all(load_mirror(host.mirrors[event.tool]))
    own: dict[str, Any] = {
        "session": desk.session,
        "agent": desk.agent,
        "settings": desk.settings,
        "place": desk._seat.place,
    }
    copy = Desk(desk._seat.store, dialect=dialect, host=desk._seat.host, **own)
    copy._seat.known_folder = desk._seat.known_folder
    if tool not in [one.name for one in copy.dialect.tools]:
        return Mirrored()
    reply = copy.call(tool, args)
    return Mirrored(reply.updates, reply.unverified)


def _for_all(dialect: Dialect) -> Dialect:
    """The dialect without what it withholds from sub-agents: one of them has used the tool, whoever may."""
    tools = [tool if tool.for_subagents else tool._replace(for_subagents=True) for tool in dialect.tools]
    return dialect._replace(tools=tuple(tools), is_mirror=True)
