"""`punchlist repair`: what was saved of a damaged file, and where the file is now."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from ..core.errors import Refused
from ..core.text import counted, inline
from ..settings import Settings
from ..stores import masked
from ..stores.salvage import Salvage
from ..stores.salvage import repair as salvage
from ..stores.sqlite import path_of
from . import screen


def repair(args: Namespace, settings: Settings) -> int:
    scheme, _, rest = settings.store.partition(":")
    if scheme != "sqlite":
        raise Refused(f"only a SQLite file can be repaired, not {inline(masked(settings.store))}.")
    found = salvage(path_of(rest), dry_run=args.dry_run)
    data = {**found._asdict(), "fault": found.fault or None, "aside": found.aside or None}
    return screen.answer(args, data, *_lines(found))


def _lines(found: Salvage) -> Iterator[str]:
    if not found.fault:
        yield f"{found.path} is sound: {counted(len(found.saved), 'plan')}. Nothing was changed."
        return
    yield f"{found.path} is damaged: {inline(found.fault)}."
    yield f"It is kept as {found.aside}." if found.aside else "Nothing was changed."
    yield f"{'Saved' if found.aside else 'Could be saved'}: {counted(len(found.saved), 'plan')}."
    yield from _named("Made anew from their history", found.remade)
    yield from _named("Without their older history", found.cut)
    yield from _named("Lost", found.lost)


def _named(words: str, plans: tuple[str, ...]) -> Iterator[str]:
    if plans:
        yield f"{words}: {', '.join(map(inline, plans))}."
