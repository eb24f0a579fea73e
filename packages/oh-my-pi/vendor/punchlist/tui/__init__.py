"""Plans on a terminal: a panel that stays below what an agent says, in several styles, and `watch`."""

from __future__ import annotations

from collections.abc import Mapping

from ..core._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.model import Plan
    from ..local.settings import Settings
    from .panel import Panel, Toggled
    from .plain import Lines


def open_panel(
    settings: Settings,
    *,
    whole: bool = False,  # whether it may fill the screen
    on_toggle: Toggled | None = None,  # told whether it was expanded, and the plan that is shown
    environ: Mapping[str, str] | None = None,
) -> Panel | Lines:
    """A panel on standard output; its words line by line if that is not a terminal, or if they are wanted so."""
    import os
    import sys

    from ..local.screen import is_unicode, wants_color
    from .panel import Panel
    from .plain import Lines
    from .styles import load
    from .terminal import Terminal

    environ = os.environ if environ is None else environ
    is_seen = sys.stdout.isatty()
    is_plain = settings.plain or not is_seen or environ.get("TERM") == "dumb"
    if is_seen and sys.stdin and sys.stdin.isatty():
        keyboard = sys.stdin.fileno()
    else:
        keyboard = None
    terminal = Terminal(sys.stdout, keyboard, hides_cursor=not is_plain)
    style, unicode = load(settings.style), settings.unicode and is_unicode(environ, sys.stdout.encoding)
    begin, remember_toggle = settings.expanded, _remembering(on_toggle, environ)
    if is_plain:
        return Lines(terminal, style, unicode=unicode, expanded=begin, on_toggle=remember_toggle)
    color = wants_color(environ, is_seen)
    return Panel(terminal, style, unicode=unicode, color=color, expanded=begin, whole=whole, on_toggle=remember_toggle)


def _remembering(on_toggle: Toggled | None, environ: Mapping[str, str]) -> Toggled:
    """Each toggle changes the setting, and is told."""
    from .preferences import remember

    def remember_toggle(before: bool, plan: Plan) -> None:
        remember(not before, environ)
        if on_toggle:
            on_toggle(before, plan)

    return remember_toggle
