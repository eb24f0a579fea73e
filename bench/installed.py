"""Where the command is that a user's hooks would call."""

from __future__ import annotations

import sysconfig
from pathlib import Path

SCRIPT = str(Path(sysconfig.get_path("scripts"), "punchlist"))
