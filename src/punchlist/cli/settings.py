"""`punchlist settings`: every setting, its value and where it comes from."""

from __future__ import annotations

from ..local.settings import ABOUT, DIALECTS
from ..stores import masked
from . import output
from .desk import load_settings
from .parser import Args


def settings(args: Args) -> int:
    """List the settings."""
    found = load_settings(args)
    values = {name: getattr(found, name) for name in ABOUT}
    values["store"] = masked(found.store)
    if args.json:
        origins = found.origins
        output.say_json({n: {"value": v, "origin": origins[n], "about": ABOUT[n].text} for n, v in values.items()})
        return 1 if found.faults else 0
    wide = max(map(len, values))
    for name, value in values.items():
        shown = str(value).lower() if isinstance(value, bool) else value
        if value == DIALECTS and found.origins[name] == "default":
            shown = "as the dialect has it"
        output.say(output.harmless(f"{name.ljust(wide)}  {shown}  ({found.origins[name]})"))
    return 1 if found.faults else 0
