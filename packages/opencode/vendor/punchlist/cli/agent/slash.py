"""The commands of a session: /todos, /todo, /plan, /pause, /resume, /undo, /help.

Every edit is the user's own. The agent is told about it once, as about any other edit.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable

from ...core import ops, render
from ...core.errors import Refused
from ...core.model import ACTIVE, DONE, DROPPED, Plan
from ...core.render import Glyphs, Line, Span
from ...core.sentences import difference
from ...core.text import counted, suggest
from ...desk import Desk, plan_mode
from ...desk.grade_labels import load_labels
from ...dialects.formats import load
from ...local.files import time_text
from ..editor import edit_in_editor
from ..history import with_cleared
from ..input import read
from ..show import draw

HELP = """\
/todos            list the items
/todo             show the plan; /todo help lists what you can do with it
/plan             plan mode: read and plan, change nothing; /plan again approves
/pause [WHY]      pause the agent; /resume ends the pause
/undo             undo the last change of the plan, whoever made it
/quit             leave; `punchlist run --continue` continues
Ctrl+C            stop the agent; press it twice to leave
What you type while the agent works is sent when it stops; /todo runs at once."""
TODO_HELP = """\
/todo                     show the plan
/todo edit                change it in your editor
/todo copy                copy it as Markdown
/todo export [FILE]       write it to a Markdown file, TODO.md if none is named
/todo import [FILE]       replace it by a Markdown file
/todo append [PHASE] TEXT add an item; a PHASE in quotes is made if it is new
/todo start ITEM          start an item: its id, or a part of its text
/todo done [ITEM, PHASE]  complete items (2, 1-3 or 1,3), a phase, or everything
/todo drop [ITEM, PHASE]  give them up
/todo rm [ITEM, PHASE]    take them off the list
/todo help                this page"""
_FILE = "TODO.md"
_WAITING = ("/plan", "/quit", "/exit")
_COPIERS = (("pbcopy",), ("wl-copy",), ("xclip", "-selection", "clipboard"), ("xsel", "-bi"), ("clip.exe",))


def is_command(text: str) -> bool:
    """Return whether a line is a command, or looks like one, and so is not for the model."""
    looks_like_one = text.startswith("/") and " " not in text and text.count("/") == 1
    return looks_like_one or text.split(" ")[0].strip() in _COMMANDS


def has_to_wait(text: str) -> bool:
    """Return whether a command has to wait until the agent stops: it is about the agent, or needs the terminal."""
    name, verb, *_ = [*text.split(), ""]
    return name in _WAITING or (name, verb) == ("/todo", "edit")


def run_command(desk: Desk, text: str, width: int, glyphs: Glyphs) -> list[Line]:
    """Run a command; return what to show for it. Raises Refused, and EOFError to leave."""
    name, _, rest = text.strip().partition(" ")
    if name not in _COMMANDS:
        raise Refused(f"no command {name!r}; {suggest(name, _COMMANDS, '/help lists them.')}")
    return _COMMANDS[name](desk, rest.strip(), width, glyphs)


# --- the commands ----------------------------------------------------------------------------------------------------


def _todos(desk: Desk, rest: str, width: int, glyphs: Glyphs) -> list[Line]:
    items = desk.plan.items
    if not items:
        return _said("No todos currently tracked")
    done, not_done = ("☒", "☐") if glyphs.cut == "…" else ("[x]", "[ ]")
    made: list[Line] = [(Span(counted(len(items), "todo"), "bold"), Span(":"))]
    for item in items:
        style = {ACTIVE: "bold", DONE: "dim strike", DROPPED: "dim strike"}.get(item.status, "")
        box = done if item.is_closed else not_done
        words = render.fit(glyphs.said(item.text), width - len(box) - 3, glyphs)
        made.append((Span(f"  {box} ", "dim" if item.is_closed else ""), Span(words, style)))
    return made


def _todo(desk: Desk, rest: str, width: int, glyphs: Glyphs) -> list[Line]:
    verb, _, words = rest.partition(" ")
    if not verb:
        plan = with_cleared(desk)
        return draw(desk.settings, plan, labels=load_labels(desk, plan))
    if verb not in _VERBS:
        hint = suggest(verb, _VERBS, f"it has {', '.join(_VERBS)}.")
        raise Refused(f"/todo has no {verb!r}; {hint}")
    return _VERBS[verb](desk, words.strip())


def _plan(desk: Desk, rest: str, width: int, glyphs: Glyphs) -> list[Line]:
    after, before, _ = plan_mode.switch_mode(desk, "act" if desk.plan.mode == "plan" else "plan")
    said = difference(before, after)
    if after.mode == "plan":
        said.append(f"the plan goes to {plan_mode.prepare_file(after)}; /plan again approves it.")
    return _said(*said)


def _pause(desk: Desk, rest: str, width: int, glyphs: Glyphs) -> list[Line]:
    return _change(desk, lambda plan: ops.pause(plan, rest or "the user asked for it", time_text()))


def _resume(desk: Desk, rest: str, width: int, glyphs: Glyphs) -> list[Line]:
    return _change(desk, ops.resume)


def _undo(desk: Desk, rest: str, width: int, glyphs: Glyphs) -> list[Line]:
    changed = desk.undo()
    return _said(*difference(changed.before, changed.plan))


def _help(desk: Desk, rest: str, width: int, glyphs: Glyphs) -> list[Line]:
    return _said(*HELP.splitlines())


def _quit(desk: Desk, rest: str, width: int, glyphs: Glyphs) -> list[Line]:
    raise EOFError


_COMMANDS: dict[str, Callable[[Desk, str, int, Glyphs], list[Line]]] = {
    "/todos": _todos,
    "/todo": _todo,
    "/plan": _plan,
    "/pause": _pause,
    "/resume": _resume,
    "/undo": _undo,
    "/help": _help,
    "/quit": _quit,
    "/exit": _quit,
}


# --- what /todo can do -----------------------------------------------------------------------------------------------


def _edit(desk: Desk, words: str) -> list[Line]:
    made: list[Line] = []

    def apply(edit: Callable[[Plan], Plan]) -> int:
        made.extend(_change(desk, edit))
        return 0

    edit_in_editor(desk, None, apply)
    return made


def _copy(desk: Desk, words: str) -> list[Line]:
    text = _markdown(desk)
    for command in _COPIERS:
        if shutil.which(command[0]):
            done = subprocess.run(command, input=text.encode(), check=False, stderr=subprocess.DEVNULL)
            if not done.returncode:
                return _said("copied.")
    return _said("no clipboard was found; here it is:", "", *text.splitlines())


def _export(desk: Desk, words: str) -> list[Line]:
    path = os.path.expanduser(words or _FILE)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(_markdown(desk))
    except FileExistsError:
        raise Refused(f"{path} is there already; name another file.") from None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}.") from None
    return _said(f"written to {path}.")


def _markdown(desk: Desk) -> str:
    """What /todo shows, as Markdown: what was cleared is there, too."""
    return str(load("markdown", to_write=True).write(with_cleared(desk)))


def _import(desk: Desk, words: str) -> list[Line]:
    path = os.path.expanduser(words or _FILE)
    plan = desk.import_plan(read(path, "markdown"), "markdown").plan
    return _said(f"the plan now holds {counted(len(plan.items), 'item')}.")


def _append(desk: Desk, words: str) -> list[Line]:
    parts = _split(words)
    is_quoted = words.lstrip()[:1] in ('"', "'")

    def edit(plan: Plan) -> Plan:
        phases = {name.casefold(): name for name in plan.phases}
        if is_quoted:
            phases.setdefault(parts[0].casefold(), parts[0])
        phase = phases.get(parts[0].casefold())
        if phase and len(parts) > 1:
            return ops.add(plan, " ".join(parts[1:]), phase=phase)
        return ops.add(plan, " ".join(parts))

    return _change(desk, edit)


def _start(desk: Desk, words: str) -> list[Line]:
    return _change(desk, lambda plan: ops.start(plan, ops.resolve(plan, _unquoted(words))))


def _complete(desk: Desk, words: str) -> list[Line]:
    return _change(desk, lambda plan: ops.complete(plan, *_meant(plan, words)))


def _drop(desk: Desk, words: str) -> list[Line]:
    return _change(desk, lambda plan: ops.drop(plan, *_meant(plan, words), why="dropped by the user"))


def _rm(desk: Desk, words: str) -> list[Line]:
    return _change(desk, lambda plan: ops.remove(plan, *_meant(plan, words, closed=True)))


def _verbs(desk: Desk, words: str) -> list[Line]:
    return _said(*TODO_HELP.splitlines())


_VERBS: dict[str, Callable[[Desk, str], list[Line]]] = {
    "edit": _edit,
    "copy": _copy,
    "export": _export,
    "import": _import,
    "append": _append,
    "start": _start,
    "done": _complete,
    "drop": _drop,
    "rm": _rm,
    "help": _verbs,
}


def _meant(plan: Plan, words: str, *, closed: bool = False) -> list[str]:
    """The ids of an item, of a phase, or of everything. What is closed is left alone, unless it is to go."""
    wanted = _unquoted(words)
    phases = {name.casefold(): name for name in plan.phases}
    if wanted and wanted.casefold() not in phases:
        return ops.resolve_all(plan, [wanted])
    phase = phases.get(wanted.casefold())
    ids = [item.id for item in plan.items if phase in (None, item.phase) and (closed or not item.is_closed)]
    if not ids:
        raise Refused("there is nothing there to change.")
    return ids


def _change(desk: Desk, edit: Callable[[Plan], Plan]) -> list[Line]:
    changed = desk.change(edit)
    return _said(*difference(changed.before, changed.plan))


def _said(*lines: str) -> list[Line]:
    return [(Span(line),) for line in lines]


def _split(words: str) -> list[str]:
    try:
        parts = shlex.split(words)
    except ValueError:
        parts = words.split()
    if not parts:
        raise Refused("/todo append needs a text.")
    return parts


def _unquoted(words: str) -> str:
    if len(words) > 1 and words[0] == words[-1] and words[0] in "\"'":
        return words[1:-1]
    return words
