"""Plans on a terminal: a panel that stays below what an agent says, in several styles, and `watch`."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from ..settings import Settings
    from .panel import Panel, Toggled
    from .plain import Lines


def open_panel(
    settings: Settings,
    face: str,  # by which name Ctrl+T is remembered: `watch`, `run`
    *,
    expanded: bool = False,  # if neither Ctrl+T nor a setting has said otherwise
    whole: bool = False,  # whether it may fill the screen
    on_toggle: Toggled | None = None,  # told whether it was expanded, and whether there are items
    environ: Mapping[str, str] | None = None,
) -> Panel | Lines:
    """A panel on standard output; its words line by line where that is no terminal, or where they are wanted so."""
    import os
    import sys

    from ..settings import has_colour, is_unicode
    from .panel import Panel
    from .plain import Lines
    from .styles import load
    from .terminal import Terminal

    environ = os.environ if environ is None else environ
    is_seen = sys.stdout.isatty()
    is_plain = settings.plain or not is_seen or environ.get("TERM") == "dumb"
    keyboard = sys.stdin.fileno() if is_seen and sys.stdin and sys.stdin.isatty() else None
    terminal = Terminal(sys.stdout, keyboard, hides_cursor=not is_plain)
    style, unicode = load(settings.style), settings.unicode and is_unicode(environ, sys.stdout.encoding)
    begin, toggled = _remembered(settings, face, expanded, on_toggle, environ)
    if is_plain:
        return Lines(terminal, style, unicode=unicode, expanded=begin, on_toggle=toggled)
    colour = has_colour(environ, is_seen)
    return Panel(terminal, style, unicode=unicode, colour=colour, expanded=begin, whole=whole, on_toggle=toggled)


def _remembered(
    settings: Settings, face: str, expanded: bool, on_toggle: Toggled | None, environ: Mapping[str, str]
) -> tuple[bool, Toggled]:
    """How the list was last, and what keeps it so for the next time."""
    from .memory import recalled, remember

    def toggled(before: bool, has_items: bool) -> None:
        remember(face, not before, environ)
        if on_toggle:
            on_toggle(before, has_items)

    is_set = settings.origins.get("expanded", "default") != "default"
    return recalled(face, settings.expanded if is_set else expanded, environ), toggled
