"""What can be typed."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from .. import __version__
from ..core._typing import Any, NoReturn
from ..core.model import MODES
from ..core.text import cut, inline, visible
from ..local.settings import ABOUT
from . import command_of

_HELP = """\
punchlist keeps the plan a coding agent works from: the same plan in any agent, yours to read and edit.

  punchlist                                  show the plan of this directory
  punchlist add 'Run the tests' 'Fix them'   put items on it
  punchlist start 1                          begin with one; `done 1` finishes it
  punchlist drop tests --why 'none yet'      an id, or a part of the text that fits one item only
  punchlist edit                             change all of it in your editor
  punchlist line                             the plan in one line, for tmux and prompts

In the agent you have:

  punchlist install claude-code --dry-run    what would change; without --dry-run, it is attached
  punchlist uninstall claude-code            take it all back

As a model would call it, and what it is told:

  echo '{"add": ["Read the code", "Fix the bug"]}' | punchlist call plan
  echo '{"todos": []}' | punchlist call TodoWrite --dialect claude-code
  punchlist tools --dialect native --format anthropic

commands:
%(commands)s
options, before or after the command:
  --store URL      where plans are kept: sqlite:PATH, json:DIR,
                   postgresql://..., memory:                    (PUNCHLIST_STORE)
  --plan ID        which plan                                   (PUNCHLIST_PLAN)
  --session S      the plan of a session                        (PUNCHLIST_SESSION)
  --agent A        of which agent in it; main if not given      (PUNCHLIST_AGENT)
  --json           print JSON
  --version        print the version
  -h, --help       this page, or a command's own: punchlist add --help

Exit codes: 0 done, 1 refused, 2 misuse, 3 the store could not be read or written.
"""

# command, what it does; in the order of the help page
COMMANDS = {
    "show": "the plan (also without any command); --json, --markdown",
    "line": "the plan in one line",
    "watch": "the plan, live, as others change it",
    "add": "put items on the plan: add TEXT... [--phase P] [--after ID]",
    "start": "begin work on items",
    "done": "mark items completed",
    "drop": "give items up: drop ID... --why W",
    "block": "say that items cannot go on: block ID... --why W",
    "unblock": "let blocked items wait for their turn again",
    "rm": "take items off the plan",
    "clear": "take everything off the plan",
    "move": "move ID --after ID, --before ID or --phase P",
    "note": "add a note: note ID TEXT",
    "rename": "give an item other words: rename ID TEXT",
    "pause": "pause the agent: pause REASON",
    "resume": "end a pause",
    "mode": "how the agent may work: mode act, plan or quiet",
    "stop": "stop nudging the agent to continue in this session",
    "off": "leave agents alone: here, or --everywhere",
    "on": "work with agents again",
    "edit": "the plan as Markdown in your editor; what you change is applied",
    "undo": "take back the last change, whoever made it",
    "redo": "bring back what was undone",
    "log": "every change: who, when, what; --events: also reminders, nudges, stops",
    "diff": "what differs between two revisions: diff REV [REV]",
    "restore": "let the plan be as it was: restore REV",
    "trim": "forget old history, of the plan named or of all: trim --older-than 30d",
    "plans": "all plans, and the sessions that worked from them",
    "use": "the live plans of this directory; use PLAN: the one that commands in this terminal are about",
    "bind": "let a session work from a plan: bind --session S --plan ID, or bind --next --plan ID",
    "carry": "copy a session's plan to another: carry FROM TO",
    "import": "replace the plan: import --format F FILE",
    "export": "print the plan in another format: export --format F",
    "call": "one tool call, as a model would make it: call TOOL < args.json",
    "tools": "the tools a model is shown",
    "prompt": "the system-prompt text that goes with them",
    "attach": "what a model is told in a moment: attach --context start, changed, compact, resume",
    "remind": "whether a reminder is due in a conversation: remind --messages FILE",
    "settings": "every setting, its value and where it comes from",
    "install": "attach to an agent: install HOST [--scope user, project] [--dry-run]",
    "uninstall": "detach from an agent: uninstall HOST",
    "repair": "save what can be read of a damaged SQLite file: repair [--dry-run]",
    "doctor": "check everything, and say how to mend what is wrong",
    "run": "let the agent work: run PROMPT; without one, talk with it",
    "demo": "the agent at work, played by a script: no key, no network",
    "hook": "answer an agent's hook: hook HOST < event.json",
    "mcp": "be an MCP server on standard input and output: mcp [--dialect D]",
}

Handler = Callable[[argparse.Namespace], int]


class _Help(argparse.HelpFormatter):
    """Made for every argument, whether or not help is asked for: without a width, it would load a module each start."""

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, **{"width": _width() - 2, **more})


def _width() -> int:
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


class _Parser(argparse.ArgumentParser):
    """Misuse is one clear line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {visible(message)}; see {self.prog} --help\n")


def named(args: argparse.Namespace, name: str) -> str:
    """What an option says, or else the environment."""
    return getattr(args, name, None) or os.environ.get(f"PUNCHLIST_{name.upper()}", "")


def plan_named(args: argparse.Namespace) -> str:
    """The plan that is named. With a session on the command line, none of the environment is meant."""
    return named(args, "plan") if getattr(args, "session", None) is None else getattr(args, "plan", None) or ""


def misuse(command: str, message: str) -> NoReturn:
    """What was typed can be read, and cannot be meant."""
    _Parser(prog=f"punchlist {command}").error(message)


class _Page(_Parser):
    """The first page of help is written by hand."""

    def format_help(self) -> str:
        width = max(map(len, COMMANDS))
        return _HELP % {"commands": "".join(f"  {name.ljust(width)}  {about}\n" for name, about in COMMANDS.items())}


def parser(handlers: dict[str, Handler], argv: list[str]) -> argparse.ArgumentParser:
    """The reader of what was typed. Only the commands in sight get a parser of their own: that is what takes time."""
    page = _Page(prog="punchlist", add_help=True, allow_abbrev=False, formatter_class=_Help)
    page.add_argument("--version", action="version", version=f"punchlist {__version__}")
    _common(page)
    commands = page.add_subparsers(prog="punchlist", dest="command", parser_class=_Parser, metavar="COMMAND")
    typed = command_of(argv)
    if typed and typed not in COMMANDS:
        page.error(f"no command {cut(inline(typed), 40)!r}; the commands are {', '.join(COMMANDS)}")
    for name, about in _in_sight(argv).items():
        described = about[0].upper() + about[1:] + "."
        sub = commands.add_parser(name, help=about, description=described, allow_abbrev=False, formatter_class=_Help)
        _common(sub)
        if name in _ARGUMENTS:
            _ARGUMENTS[name](sub)
        sub.set_defaults(handler=handlers[name])
    return page


def _in_sight(argv: list[str]) -> dict[str, str]:
    """The command that was typed."""
    name = command_of(argv)
    return {name: COMMANDS[name]} if name else {}


def _common(to: argparse.ArgumentParser) -> None:
    group = to.add_argument_group("which plan")
    hidden: Any = argparse.SUPPRESS
    group.add_argument(
        "--store", metavar="URL", default=hidden, help="sqlite:PATH, json:DIR, postgresql://..., memory:"
    )
    group.add_argument("--plan", metavar="ID", default=hidden, help="which plan")
    group.add_argument("--session", metavar="S", default=hidden, help="the plan of a session")
    group.add_argument("--agent", metavar="A", default=hidden, help="of which agent in it; main if not given")
    group.add_argument("--json", action="store_true", default=hidden, help="print JSON")


def _ids(to: argparse.ArgumentParser) -> None:
    to.add_argument("ids", nargs="+", metavar="ID", help="an id, or an unambiguous part of a text")


def _ids_and_why(to: argparse.ArgumentParser) -> None:
    _ids(to)
    to.add_argument("--why", required=True, metavar="W", help="the reason")


def _add(to: argparse.ArgumentParser) -> None:
    to.add_argument("texts", nargs="+", metavar="TEXT", help="one item each")
    to.add_argument("--phase", metavar="P", help="the phase it belongs to")
    to.add_argument("--after", metavar="ID", help="the item to put it behind")


def _move(to: argparse.ArgumentParser) -> None:
    to.add_argument("id", metavar="ID")
    where = to.add_mutually_exclusive_group(required=True)
    where.add_argument("--after", metavar="ID")
    where.add_argument("--before", metavar="ID")
    where.add_argument("--phase", metavar="P", help="the end of a phase; '' for none")


def _id_and_text(to: argparse.ArgumentParser) -> None:
    to.add_argument("id", metavar="ID")
    to.add_argument("text", nargs="+", metavar="TEXT")


def _pause(to: argparse.ArgumentParser) -> None:
    to.add_argument("reason", nargs="+", metavar="REASON")


def _mode(to: argparse.ArgumentParser) -> None:
    to.add_argument("mode", choices=MODES, metavar="MODE", help=", ".join(MODES))
    to.add_argument("--seed", metavar="FILE", help="with act: the approved text; its checkboxes become the plan")


def _everywhere(to: argparse.ArgumentParser) -> None:
    to.add_argument("--everywhere", action="store_true", help="in every project; else in this one, or a --session")


def _attach(to: argparse.ArgumentParser) -> None:
    from ..policy.wording import CONTEXTS

    _dialect(to)
    to.add_argument("--context", required=True, choices=CONTEXTS, metavar="C", help=", ".join(CONTEXTS))


def _remind(to: argparse.ArgumentParser) -> None:
    _dialect(to)
    to.add_argument("--messages", required=True, metavar="FILE", help="a JSON array, or a line of JSON each")


def _repair(to: argparse.ArgumentParser) -> None:
    to.add_argument("--dry-run", action="store_true", help="say what could be saved, and change nothing")


def _hook(to: argparse.ArgumentParser) -> None:
    from ..hosts import PATHS

    to.add_argument("host", metavar="HOST", help=", ".join(PATHS))


def _line(to: argparse.ArgumentParser) -> None:
    to.add_argument("--host", choices=["claude-code"], metavar="HOST", help="as the status line of: claude-code")
    to.add_argument("--after", metavar="COMMAND", help="with --host: another status line to put it behind")
    to.add_argument("--tmux", action="store_true", help="for a status line of tmux: it takes no word for markup")
    to.add_argument("--zsh", action="store_true", help="for a prompt of zsh: the same")


def _attached(to: argparse.ArgumentParser) -> None:
    from ..install import PATHS

    to.add_argument("host", choices=list(PATHS), metavar="HOST", help=", ".join(PATHS))
    to.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")


def _install(to: argparse.ArgumentParser) -> None:
    _attached(to)
    to.add_argument("--scope", choices=["user", "project"], metavar="S", help="user (if not given), or project")
    to.add_argument("--without", action="append", default=[], metavar="PART", help="leave a part out, or take it out")
    words = "who answers hooks: process, or server (claude-code only); as it is now, if not given"
    to.add_argument("--hooks", choices=["process", "server"], metavar="BY", help=words)
    words = "the tools that its model is given, with their texts and reminders; as it is now, if not given"
    to.add_argument("--dialect", metavar="D", help=words)


def _uninstall(to: argparse.ArgumentParser) -> None:
    _attached(to)
    to.add_argument("--scope", choices=["user", "project"], metavar="S", help="user or project; both if not given")


def _show(to: argparse.ArgumentParser) -> None:
    to.add_argument("--markdown", action="store_true", help="everything the plan holds, as `edit` shows it")
    to.add_argument("--all", action="store_true", help="with what has left the list, other than by your hand")
    _style(to)


def _style(to: argparse.ArgumentParser) -> None:
    styles = ABOUT["style"].choices
    to.add_argument("--style", choices=styles, metavar="S", help=f"how it looks: {', '.join(styles)}")


def _watch(to: argparse.ArgumentParser) -> None:
    _style(to)
    to.add_argument("--plain", action="store_true", default=None, help="a line for each change, for screen readers")


def _edit(to: argparse.ArgumentParser) -> None:
    to.add_argument("--file", metavar="FILE", help="apply a text that was kept, instead of opening the editor")


def _import(to: argparse.ArgumentParser) -> None:
    from ..dialects.formats import PATHS

    to.add_argument("--format", required=True, choices=list(PATHS), metavar="F", help=", ".join(PATHS))
    to.add_argument("file", metavar="FILE", help="a file, a task directory, or - for standard input")


def _some(word: str) -> int:
    number = int(word) if word.isdecimal() and len(word) < 10 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no number of lines")
    return number


def _log(to: argparse.ArgumentParser) -> None:
    to.add_argument("--most", type=_some, default=0, metavar="N", help="only the last N")
    to.add_argument("--events", action="store_true", help="also refusals, reminders, nudges, stops and why")


def _diff(to: argparse.ArgumentParser) -> None:
    to.add_argument("revision", type=int, metavar="REV")
    to.add_argument("other", type=int, nargs="?", metavar="REV")


def _restore(to: argparse.ArgumentParser) -> None:
    to.add_argument("revision", type=int, metavar="REV")


def _trim(to: argparse.ArgumentParser) -> None:
    to.add_argument("--older-than", required=True, metavar="AGE", help="30d, 12h, 8w, or a date")
    to.add_argument("--yes", action="store_true", help="do not ask first; without a terminal nothing is asked")


def _plans(to: argparse.ArgumentParser) -> None:
    to.add_argument("--most", type=_some, default=50, metavar="N", help="how many; 50 if not given")


def _use(to: argparse.ArgumentParser) -> None:
    words = "its number in the list, its id, its session, or a part of its title"
    to.add_argument("choice", nargs="?", default="", metavar="PLAN", help=words)


def _bind(to: argparse.ArgumentParser) -> None:
    to.add_argument("--next", action="store_true", help="the next session that starts in this directory")


def _carry(to: argparse.ArgumentParser) -> None:
    to.add_argument("source", metavar="FROM", help="a session")
    to.add_argument("target", metavar="TO", help="a session")


def _export(to: argparse.ArgumentParser) -> None:
    from ..dialects.formats import PATHS

    known = [name for name in PATHS if name != "transcript"]
    to.add_argument("--format", default="json", choices=known, metavar="F", help=", ".join(known))


def _dialect(to: argparse.ArgumentParser, *, any_word: bool = False) -> None:
    from ..dialects import PATHS

    to.add_argument("--dialect", metavar="D", choices=None if any_word else list(PATHS), help=", ".join(PATHS))


def _call(to: argparse.ArgumentParser) -> None:
    to.add_argument("tool", metavar="TOOL")
    _dialect(to, any_word=True)  # one that is not there is an answer, too
    to.add_argument("--interactive", action="store_true", default=None, help="llxprt's quiet mode")
    to.add_argument("--continuing", action="store_true", help="a continuation is running")


def _tools(to: argparse.ArgumentParser) -> None:
    _dialect(to)
    formats = ["mcp", "anthropic", "openai", "full"]
    to.add_argument("--format", default="mcp", choices=formats, metavar="F", help=", ".join(formats))
    to.add_argument("--continuing", action="store_true", help="with the tools of a running continuation")


def _prompt(to: argparse.ArgumentParser) -> None:
    _dialect(to)
    to.add_argument("--shell", default="Bash", metavar="NAME", help="what the agent's shell tool is called")


def _run(to: argparse.ArgumentParser) -> None:
    to.add_argument("prompt", nargs="*", metavar="PROMPT", help="what to do; or a command such as /todos")
    to.add_argument("--model", metavar="M", help="anthropic:NAME, openai:NAME, ollama:NAME, script:FILE")
    to.add_argument("--base-url", metavar="URL", help="where the model is, if not at its usual place")
    to.add_argument(
        "--confirm-shell",
        choices=("outside", "always", "never"),
        help="before which shell commands to ask: those that could change something outside this folder, all, none",
    )
    _dialect(to)
    _watch(to)
    before = to.add_mutually_exclusive_group()
    before.add_argument("--continue", action="store_true", help="go on with the last session of this directory")
    before.add_argument("--resume", metavar="ID", help="go on with this session; the beginning of its id is enough")
    to.add_argument(
        "--until-done",
        action="store_const",
        const="until-done",
        dest="continuation",
        help="nudge the agent whenever something is open, within the bounds",
    )


def _demo(to: argparse.ArgumentParser) -> None:
    to.add_argument("--fast", action="store_true", help="without waiting between the steps")
    _watch(to)


_ARGUMENTS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "show": _show,
    "line": _line,
    "install": _install,
    "uninstall": _uninstall,
    "watch": _watch,
    "add": _add,
    "start": _ids,
    "done": _ids,
    "unblock": _ids,
    "rm": _ids,
    "drop": _ids_and_why,
    "block": _ids_and_why,
    "move": _move,
    "note": _id_and_text,
    "rename": _id_and_text,
    "pause": _pause,
    "mode": _mode,
    "off": _everywhere,
    "on": _everywhere,
    "attach": _attach,
    "remind": _remind,
    "repair": _repair,
    "hook": _hook,
    "edit": _edit,
    "log": _log,
    "diff": _diff,
    "restore": _restore,
    "trim": _trim,
    "plans": _plans,
    "use": _use,
    "bind": _bind,
    "carry": _carry,
    "import": _import,
    "export": _export,
    "call": _call,
    "tools": _tools,
    "prompt": _prompt,
    "run": _run,
    "demo": _demo,
    "mcp": _dialect,
}
