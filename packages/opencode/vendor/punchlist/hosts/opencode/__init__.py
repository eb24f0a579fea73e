"""opencode, by way of the plugin that is installed for it (`plugin.js`)."""

from __future__ import annotations

from ..host import NAME, Host
from ..plugin_format import read, write

__all__ = ["HOST", "read", "write"]

HOST = Host(
    "opencode",
    prefixes=(f"{NAME}_",),
    mirrors={"todowrite": "opencode"},
    limit=5.0,
    shell="bash",
    processes=("opencode", ".opencode"),
    starts_hooks=True,
)
