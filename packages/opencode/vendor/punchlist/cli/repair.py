"""`punchlist repair`: what was saved of a damaged file, and where the file is now."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.errors import Refused
from ..core.text import counted, inline
from ..stores import json_dir, masked
from ..stores.recovery import Repair
from ..stores.recovery import repair as repair_file
from ..stores.sqlite import path_of
from . import output
from .desk import load_settings
from .parser import Args


def repair(args: Args) -> int:
    """Save what can be read of a damaged file."""
    settings = load_settings(args)
    scheme, _, rest = settings.store.partition(":")
    if "\0" in rest:
        raise Refused("the address of a store cannot hold a NUL character.")
    if scheme not in ("sqlite", "json"):
        raise Refused(f"only a SQLite file can be repaired, not {inline(masked(settings.store))}.")
    path = json_dir.database_of(rest) if scheme == "json" else path_of(rest)
    done = repair_file(path, dry_run=args.dry_run)
    data = {"path": done.path, "problem": done.problem or None, **done.found._asdict(), "aside": done.aside or None}
    return output.answer(args, data, *_lines(done))


def _lines(done: Repair) -> Iterator[str]:
    found = done.found
    if not done.problem:
        yield f"{done.path} is sound: {counted(len(found.saved), 'plan')}. Nothing was changed."
        return
    yield f"{done.path} is damaged: {inline(done.problem)}."
    if done.aside:
        yield f"It is kept as {done.aside}."
        yield f"Saved: {counted(len(found.saved), 'plan')}."
    else:
        yield "Nothing was changed."
        yield f"Could be saved: {counted(len(found.saved), 'plan')}."
    yield from _named("Rebuilt from their history", found.remade)
    yield from _named("Without their older history", found.cut)
    yield from _named("Came back empty, and nothing tells what they held", found.emptied)
    bare = tuple(plan for plan in found.bare if plan not in found.emptied)
    yield from _named("Without any history, so nothing tells whether they are complete", bare)
    yield from _named("Lost", found.lost)


def _named(words: str, plans: tuple[str, ...]) -> Iterator[str]:
    if plans:
        yield f"{words}: {', '.join(map(inline, plans))}."
