"""`punchlist watch`: the plan, live."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from ..core.codec import to_json
from ..core.model import MAIN, Plan
from ..desk import Desk
from ..desk.grade_labels import with_grades
from ..local import event_log
from . import output, panel_mark, terminal_plan
from .desk import is_named, load_settings, open_desk
from .parser import Args, misuse


def watch(args: Args) -> int:
    """Show a plan as it changes, until the user has seen enough."""
    settings = load_settings(args)

    def open_now() -> Desk:
        return open_desk(args, settings)

    if args.size:
        return _follow_as_rows(args, open_now)
    if args.json:
        return _follow_as_json(open_now())
    from ..tui import open_panel
    from ..tui.watch import watch as follow

    whose = None if is_named(args) else terminal_plan.whose
    return follow(open_now, open_panel(settings, whole=True, on_toggle=_note_toggle), whose)


def _note_toggle(before: bool, plan: Plan) -> None:
    """Write down that the list was shown or hidden. The store is not asked: a key must not wait for it."""
    who = {"session": "", "agent": MAIN, "plan": plan.id}
    event_log.write("toggle", **who, is_expanded=before, has_todos=bool(plan.items))


def _follow_as_json(desk: Desk) -> int:
    """One line for each state of the plan, until nobody reads them any more."""
    _end_with_reader()
    try:
        for plan in desk.follow():
            output.say(json.dumps(with_grades(desk, plan, to_json(plan))))
            output.flush()
    except KeyboardInterrupt:
        pass
    return 0


def _end_with_reader() -> None:
    """End this process as soon as the program that reads its output is gone: a plan may not change for hours, and a
    line that cannot be written is the only other sign."""
    import os
    import select
    from threading import Thread

    if not hasattr(select, "poll"):
        return
    reader = select.poll()
    reader.register(1, 0)  # that nobody reads any more is told unasked

    def wait() -> None:
        reader.poll()
        os._exit(0)

    Thread(target=wait, daemon=True).start()


def _follow_as_rows(args: Args, opened: Callable[[], Desk]) -> int:
    """One line for each state of a panel."""
    from ..tui.rows import MOST, Size, follow

    found = re.fullmatch(r"(\d{1,4})x(\d{1,4})", args.size)
    if found is None or not args.json:
        misuse("watch", "--size is COLUMNSxROWS, as in 80x12, together with --json")
    columns, rows = (min(max(int(one), 1), MOST) for one in found.groups())
    panel_mark.hold(args.session or "")
    try:
        return follow(opened, Size(columns, rows), _print_line, output.is_read)
    except KeyboardInterrupt:
        return 0


def _print_line(text: str) -> None:
    output.say(text)
    output.flush()
