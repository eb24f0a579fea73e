"""`punchlist settings`: every setting, its value and where it comes from."""

from __future__ import annotations

from ..local.settings import ABOUT, DIALECTS, Settings
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
        return int(bool(found.problems))
    wide = max(map(len, values))
    for name, value in values.items():
        output.say(output.harmless(f"{name.ljust(wide)}  {_shown(found, name, value)}  ({found.origins[name]})"))
    return int(bool(found.problems))


def _shown(found: Settings, name: str, value: object) -> object:
    if value == DIALECTS and found.origins[name] == "default":
        return "as the dialect has it"
    if isinstance(value, bool):
        return str(value).lower()
    return value
