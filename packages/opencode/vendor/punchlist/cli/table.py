"""Every command, in one table: its name, group, help, arguments, examples, and the function that does it.

The parser, the help pages, the completion of shells, the man page and docs/cli.md are made from this table. It is plain
data: a command loads only the module that it names.
"""

from __future__ import annotations

from ..core._typing import Any, NamedTuple


class Argument(NamedTuple):
    """An option such as `--phase P`, a switch such as `--json`, or a word without an option."""

    name: str
    value: str = ""  # how its value is called in help; a switch has none
    help: str = ""
    many: str = ""  # "": one; "?": one or none; "*": any number; "+": one or more
    choices: tuple[str, ...] | str = ()  # the values it can have, or "module:NAME" that holds them
    kind: str = ""  # item, items, plan, file, number, lines: how it is read, and completed in a shell
    default: Any = None
    is_required: bool = False
    rivals: str = ""  # of the arguments with the same word here, only one can be given

    @property
    def key(self) -> str:
        """The name of its value in what was typed."""
        return self.name.lstrip("-").replace("-", "_")

    @property
    def is_option(self) -> bool:
        return self.name.startswith("-")

    @property
    def is_switch(self) -> bool:
        return self.is_option and not self.value


def choices_of(argument: Argument) -> tuple[str, ...]:
    """Return the values that an argument can have; a table of another room is loaded for them."""
    if isinstance(argument.choices, tuple):
        return argument.choices
    from importlib import import_module

    module, _, name = argument.choices.partition(":")
    return tuple(getattr(import_module(f"punchlist.{module}"), name))


class Command(NamedTuple):
    """What can be typed."""

    name: str
    help: str  # one line, without a full stop
    does: str  # "module:function" in this package
    arguments: tuple[Argument, ...] = ()
    examples: tuple[str, ...] = ()
    is_basic: bool = False  # on the first page of help
    is_for_users: bool = False  # refused in the shell of an agent

    @property
    def options(self) -> tuple[Argument, ...]:
        return tuple([one for one in self.arguments if one.is_option])

    @property
    def words(self) -> tuple[Argument, ...]:
        return tuple([one for one in self.arguments if not one.is_option])


# Every command has these.
COMMON = (
    Argument("--store", "URL", "sqlite:PATH, json:DIR, postgresql://..., memory: (PUNCHLIST_STORE)"),
    Argument("--plan", "ID", "which plan (PUNCHLIST_PLAN)", kind="plan"),
    Argument("--session", "S", "the plan of a session (PUNCHLIST_SESSION)", kind="session"),
    Argument("--agent", "A", "the agent in the session; main if not given (PUNCHLIST_AGENT)"),
    Argument("--json", "", "print JSON"),
)

_ID = Argument("id", "ID", "an id, or a part of the text that fits one item only", kind="item")
_IDS = Argument("ids", "ID", "an id, a range (1-3), or a part of the text that fits one item only", "+", kind="items")
_TEXT = Argument("text", "TEXT", "the text; quotes are optional", "+")
_WHY = Argument("--why", "W", "the reason", is_required=True)
_DIALECT = Argument("--dialect", "D", "", choices="dialects:PATHS")
_STYLE = Argument("--style", "S", "how it looks:", choices="local.settings:STYLES")
_PLAIN = Argument("--plain", "", "one line for each change, for screen readers")
_VIA = Argument(
    "--via",
    "WAY",
    "by the plugin command that it has, or by its settings files; the first where that works:",
    choices=("package", "settings"),
)
_DRY_RUN = Argument("--dry-run", "", "show what would change, and change nothing")
_HOST = Argument("host", "HOST", "", choices="hosts:HOSTS")
_SCOPES = ("user", "project")
_EVERYWHERE = Argument("--everywhere", "", "in every project; otherwise in this one, or in a --session")
_COMPLETED = ("bash", "zsh", "fish", "words")

_LOOK = (
    Command(
        "show",
        "show the plan, or one item with everything known about it",
        "show:show",
        (
            Argument(
                "item", "ID", "one item: its notes, needs, owner, reason, tool calls and history", "?", kind="item"
            ),
            Argument("--markdown", "", "everything the plan holds, as `edit` shows it"),
            Argument("--all", "", "include items that an agent has taken off the list"),
            _STYLE,
        ),
        ("punchlist show", "punchlist show 2", "punchlist show --json"),
        is_basic=True,
    ),
    Command(
        "watch",
        "follow the plan live, as others change it",
        "watch:watch",
        (
            _STYLE,
            _PLAIN,
            Argument("--size", "COLUMNSxROWS", "with --json: rows ready to draw, for a panel in another program"),
        ),
        ("punchlist watch",),
        is_basic=True,
    ),
    Command(
        "line",
        "print the plan in one line, for status lines and prompts",
        "status_line:line",
        (
            Argument("--host", "HOST", "as the status line of:", choices=("claude-code",)),
            Argument("--after", "COMMAND", "with --host: put it after the output of another status line command"),
            Argument("--on-change", "", "with --after: run that command only when the conversation has changed"),
            Argument("--tmux", "", "escape what tmux would read as markup"),
            Argument("--zsh", "", "escape what a zsh prompt would read as markup"),
        ),
        ("punchlist line", "punchlist line --tmux"),
    ),
)

_EDIT = (
    Command(
        "add",
        "add items to the plan",
        "edit:add",
        (
            Argument("texts", "TEXT", "the text of an item; one item each", "+"),
            Argument("--phase", "P", "the phase it belongs to"),
            Argument("--after", "ID", "the item to put it after", kind="item"),
            Argument("--needs", "ID", "items that must be closed first: 1, 1-3 or 1,3", "*", kind="items"),
            Argument("--owner", "NAME", "the agent that it is for"),
            Argument("--parent", "ID", "the item that it is a part of", kind="item"),
            Argument("--note", "TEXT", "a note on it", "*"),
            Argument("--check", "COMMAND", "a command that shows that it is done"),
        ),
        ("punchlist add 'Run the tests' 'Fix what fails'", "punchlist add 'Ship it' --needs 1-3 --note 'ask first'"),
        is_basic=True,
    ),
    Command("start", "start work on items", "edit:start", (_IDS,), ("punchlist start 2",), is_basic=True),
    Command(
        "done",
        "mark items as completed",
        "edit:change_items",
        (_IDS,),
        ("punchlist done 1", "punchlist done 1-3", "punchlist done tests"),
        is_basic=True,
    ),
    Command(
        "reopen", "make completed or dropped items pending again", "edit:change_items", (_IDS,), ("punchlist reopen 1",)
    ),
    Command(
        "drop",
        "give items up, with a reason; they stay on the list",
        "edit:change_items_with_reason",
        (_IDS, _WHY),
        ("punchlist drop 3 --why 'there are no tests yet'",),
    ),
    Command(
        "block",
        "mark items as blocked, with a reason",
        "edit:change_items_with_reason",
        (_IDS, _WHY),
        ("punchlist block 2 --why 'needs access to staging'",),
    ),
    Command("unblock", "mark items as not blocked", "edit:change_items", (_IDS,), ("punchlist unblock 2",)),
    Command("rm", "remove items from the plan", "edit:change_items", (_IDS,), ("punchlist rm 2-3",), is_for_users=True),
    Command("clear", "remove everything from the plan", "edit:clear", (), ("punchlist clear",)),
    Command(
        "move",
        "move an item",
        "edit:move",
        (
            _ID,
            Argument("--after", "ID", "the item to put it after", kind="item", is_required=True, rivals="where"),
            Argument("--before", "ID", "the item to put it before", kind="item", is_required=True, rivals="where"),
            Argument("--phase", "P", "the end of a phase; '' for none", is_required=True, rivals="where"),
        ),
        ("punchlist move 3 --before 1", "punchlist move tests --phase 'Before the release'"),
    ),
    Command(
        "note",
        "add a note to an item",
        "edit:write_on_item",
        (_ID, _TEXT),
        ("punchlist note 2 'the bug is in line 40'",),
    ),
    Command(
        "rename", "change an item's text", "edit:write_on_item", (_ID, _TEXT), ("punchlist rename 2 'Fix both bugs'",)
    ),
    Command("title", "change the plan's title", "edit:title", (_TEXT,), ("punchlist title 'The next release'",)),
    Command(
        "edit",
        "edit the whole plan as Markdown in your editor",
        "edit:edit",
        (Argument("--file", "FILE", "apply this text instead of opening the editor", kind="file"),),
        ("punchlist edit", "punchlist edit --file TODO.md"),
        is_basic=True,
    ),
    Command(
        "undo",
        "undo the last change, whoever made it",
        "history:undo",
        (),
        ("punchlist undo",),
        is_basic=True,
        is_for_users=True,
    ),
    Command("redo", "redo what was undone", "history:redo", (), ("punchlist redo",), is_for_users=True),
    Command(
        "slash",
        "do what was typed behind /todo at the prompt of an agent",
        "slash:slash",
        (
            Argument("words", "TEXT", "a command and the rest of the line, as in `drop 3 no longer needed`", "*"),
            Argument("--called", "NAME", "what the slash command is called there; todo if not given"),
        ),
        ("punchlist slash 'add Ask Ann'",),
    ),
)

_CHECKS = (
    Command(
        "check",
        "set the check of an item: what shows that it is done; without one, show it",
        "check:check",
        (
            Argument(
                "words",
                "ID COMMAND",
                "an id, or a part of the text that fits one item only; and a command for /bin/sh, in quotes,"
                " which passes with exit code 0",
                "*",
                kind="item",
            ),
            Argument("--file", "PATH", "instead: a file that must exist and not be empty", kind="file", rivals="what"),
            Argument("--contains", "PATH", "instead: a file that must contain the text that follows", rivals="what"),
            Argument("--scope", "GLOB", "the files that matter to it, as in .gitignore; all if not given", "*"),
            Argument("--remove", "", "remove it", rivals="what"),
            Argument("--approve", "", "count a check that an agent set as yours, and let it be run", rivals="what"),
            Argument("--suggest", "", "look for a default check of this project, and ask whether to set it"),
        ),
        (
            "punchlist check 2 'python3 -c pass'",
            "punchlist check 2 --file README.md",
            "punchlist check 2 --contains CHANGELOG.md 2.0",
            "punchlist check 2",
            "punchlist check 2 --remove",
            "punchlist check --suggest",
        ),
        is_for_users=True,
    ),
    Command(
        "waive",
        "say that an item needs no check, with a reason",
        "check:waive",
        (
            _ID,
            Argument("--why", "W", "the reason", is_required=True, rivals="how"),
            Argument("--undo", "", "take that back", is_required=True, rivals="how"),
        ),
        ("punchlist waive 2 --why 'only a comment has changed'", "punchlist waive 2 --undo"),
        is_for_users=True,
    ),
    Command(
        "verify",
        "run the checks of completed items; exit code 0 if all of them are verified",
        "verify:verify",
        (
            Argument("ids", "ID", "only these items, completed or not", "*", kind="items"),
            Argument("--all", "", "open items that have a check, too"),
            Argument("--changed", "", "run only what has not passed on the files as they are now"),
            Argument("--strict", "", "completed items without a check are not verified"),
            Argument("--trust", "ID", "approve the checks of items first: 1, 1-3, or all", "*", kind="items"),
            Argument("--approvals", "", "list the commands that may be run on this machine"),
            Argument("--revoke", "ID", "take an approval back: an item, or an id of that list", "*"),
            Argument("--tier", "T", "record the runs as those of CI, and ask nothing:", choices=("ci",)),
            Argument("--format", "F", "", choices=("text", "json", "junit", "github"), default="text"),
        ),
        ("punchlist verify", "punchlist verify --changed", "punchlist verify --tier ci --format junit"),
        is_basic=True,
    ),
)

_HISTORY = (
    Command(
        "log",
        "list the changes: who, when, what",
        "history:log",
        (
            Argument("--most", "N", "only the last N", kind="lines", default=0),
            Argument("--events", "", "also refusals, reminders, nudges and stops, with their reasons"),
        ),
        ("punchlist log --most 10", "punchlist log --events"),
    ),
    Command(
        "diff",
        "show what changed between two revisions, or since one",
        "history:compare",
        (
            Argument("revision", "REV", "a revision, as `log` shows it", kind="number"),
            Argument("other", "REV", "a later one; the plan as it is now if not given", "?", kind="number"),
        ),
        ("punchlist diff 1",),
    ),
    Command(
        "restore",
        "go back to an earlier revision",
        "history:restore",
        (Argument("revision", "REV", "a revision, as `log` shows it", kind="number"),),
        ("punchlist restore 1",),
        is_for_users=True,
    ),
    Command(
        "trim",
        "delete old history: of the plan you name, or of all plans",
        "history:trim",
        (
            Argument("--older-than", "AGE", "30d, 12h, 8w, or a date", is_required=True),
            Argument("--yes", "", "do not ask first; without a terminal nothing is asked"),
        ),
        ("punchlist trim --older-than 30d --yes",),
        is_for_users=True,
    ),
)

_PLANS = (
    Command(
        "plans",
        "list all plans, and the sessions that worked from them",
        "plans:plans",
        (Argument("--most", "N", "how many; 50 if not given", kind="lines", default=50),),
        ("punchlist plans", "punchlist plans --session s1"),
        is_basic=True,
    ),
    Command(
        "use",
        "list the live plans of this directory, or choose the one that this terminal works on",
        "plans:use",
        (
            Argument(
                "choice",
                "PLAN",
                "its number in the list, its id, its session, or a part of its title",
                "?",
                kind="plan",
            ),
        ),
        ("punchlist use", "punchlist use 1"),
    ),
    Command(
        "bind",
        "make a session, or the next one that starts here, work from a plan",
        "plans:bind",
        (Argument("--next", "", "the next session that starts in this directory"),),
        ("punchlist bind --next",),
        is_for_users=True,
    ),
    Command(
        "carry",
        "copy a session's plan to another session",
        "plans:carry",
        (
            Argument("source", "FROM", "a session", kind="session"),
            Argument("target", "TO", "a session", kind="session"),
        ),
        ("punchlist carry s1 s2",),
        is_for_users=True,
    ),
    Command(
        "import",
        "replace the plan by what a file holds",
        "formats:import_plan",
        (
            Argument("--format", "F", "", choices="dialects.formats:PATHS", is_required=True),
            Argument("file", "FILE", "a file, a task directory, or - for standard input", kind="file"),
        ),
        ("punchlist import --format markdown TODO.md",),
        is_for_users=True,
    ),
    Command(
        "export",
        "print the plan in another format",
        "formats:export_plan",
        (Argument("--format", "F", "", choices="dialects.formats:WRITTEN", default="json"),),
        ("punchlist export --format markdown",),
    ),
)

_CONTROL = (
    Command(
        "pause",
        "pause the agent",
        "control:pause",
        (Argument("reason", "REASON", "why", "+"),),
        ("punchlist pause 'wait for the review'",),
    ),
    Command("resume", "end a pause", "control:resume", (), ("punchlist resume",), is_for_users=True),
    Command(
        "mode",
        "let the agent act, or only plan, or leave its plan tools alone (quiet)",
        "control:mode",
        (
            Argument("mode", "MODE", "", choices="core.model:MODES"),
            Argument("--seed", "FILE", "with act: the text you approve; its checkboxes become the plan", kind="file"),
        ),
        ("punchlist mode plan", "punchlist mode act --seed TODO.md"),
        is_for_users=True,
    ),
    Command(
        "stop", "stop nudging the agent in this session", "control:stop", (), ("punchlist stop",), is_for_users=True
    ),
    Command(
        "off",
        "leave agents alone: here, in a session, or everywhere",
        "control:turn",
        (_EVERYWHERE,),
        ("punchlist off", "punchlist off --everywhere"),
        is_for_users=True,
    ),
    Command("on", "work with agents again", "control:turn", (_EVERYWHERE,), ("punchlist on",), is_for_users=True),
)

_AGENTS = (
    Command(
        "install",
        "attach Punchlist to an agent",
        "install:install",
        (
            _HOST,
            _DRY_RUN,
            Argument("--scope", "S", "for you (user, if not given), or in this directory (project):", choices=_SCOPES),
            Argument("--without", "PART", "leave a part out, or take it out", "*"),
            Argument(
                "--hooks",
                "BY",
                "who answers hooks (server: claude-code only, and its default):",
                choices=("process", "server"),
            ),
            Argument("--dialect", "D", "the tools its model is given, with their texts; as it is now if not given"),
            _VIA,
        ),
        ("punchlist install claude-code --dry-run", "punchlist install claude-code"),
        is_basic=True,
    ),
    Command(
        "uninstall",
        "detach Punchlist from an agent",
        "install:uninstall",
        (_HOST, _DRY_RUN, Argument("--scope", "S", "both if not given:", choices=_SCOPES), _VIA),
        ("punchlist uninstall claude-code",),
    ),
    Command(
        "doctor",
        "check the installation, and say how to fix what is wrong",
        "doctor:doctor",
        (),
        ("punchlist doctor",),
        is_basic=True,
    ),
    Command(
        "run",
        "run the built-in agent on a prompt; without one, talk with it",
        "agent.run:run",
        (
            Argument("prompt", "PROMPT", "what to do; or a command such as /todos", "*"),
            Argument("--model", "M", "anthropic:NAME, openai:NAME, ollama:NAME, script:FILE"),
            Argument("--base-url", "URL", "where the model is, if not at its usual address"),
            Argument(
                "--confirm-shell",
                "WHEN",
                "ask before shell commands that could change something outside this folder, before all, or none:",
                choices=("outside", "always", "never"),
            ),
            _DIALECT,
            _STYLE,
            _PLAIN,
            Argument("--continue", "", "continue the last session of this directory", rivals="before"),
            Argument("--resume", "ID", "continue this session; the beginning of its id is enough", rivals="before"),
            Argument("--until-done", "", "nudge the agent as long as something is open, within the limits"),
        ),
        ("punchlist run /todos",),
    ),
    Command(
        "demo",
        "watch the agent work on a scripted model: no key, no network",
        "agent.demo:demo",
        (Argument("--fast", "", "do not wait between the steps"), _STYLE, _PLAIN),
        ("punchlist demo --fast",),
    ),
)

_MODEL = (
    Command(
        "call",
        "make one tool call, as a model would; its arguments are JSON on standard input",
        "as_model:call",
        (
            Argument("tool", "TOOL", "the name of the tool"),
            Argument("--dialect", "D", "native if not given; one that does not exist is answered, too"),
            Argument("--interactive", "", "llxprt's quiet mode"),
            Argument("--continuing", "", "a continuation is running"),
        ),
        (
            """echo '{"add": ["Read the code", "Fix the bug"]}' | punchlist call plan""",
            """echo '{"todos": []}' | punchlist call TodoWrite --dialect claude-code""",
        ),
    ),
    Command(
        "tools",
        "print the tool definitions a model is given",
        "as_model:tools",
        (
            _DIALECT,
            Argument("--format", "F", "", choices=("mcp", "anthropic", "openai", "full"), default="mcp"),
            Argument("--continuing", "", "with the tools of a running continuation"),
        ),
        ("punchlist tools --format anthropic",),
    ),
    Command(
        "prompt",
        "print the text for the system prompt that goes with the tools",
        "as_model:prompt",
        (_DIALECT, Argument("--shell", "NAME", "the name of the agent's shell tool", default="Bash")),
        ("punchlist prompt --dialect claude-code",),
    ),
    Command(
        "attach",
        "print what a model is told at the start, after a change, after a compaction or on resume",
        "as_model:attach",
        (_DIALECT, Argument("--context", "C", "", choices="policy.dialect_guide:CONTEXTS", is_required=True)),
        ("punchlist attach --context start",),
    ),
    Command(
        "remind",
        "say whether a reminder is due in a conversation",
        "as_model:remind",
        (
            _DIALECT,
            Argument("--messages", "FILE", "a JSON array, or one JSON value per line", kind="file", is_required=True),
        ),
        ("punchlist remind --messages conversation.json",),
    ),
)

_MORE = (
    Command(
        "settings",
        "list the settings: each value and where it comes from",
        "settings:settings",
        (),
        ("punchlist settings",),
    ),
    Command(
        "repair",
        "save what can be read of a damaged SQLite store",
        "repair:repair",
        (Argument("--dry-run", "", "say what could be saved, and change nothing"),),
        ("punchlist repair --dry-run",),
    ),
    Command(
        "completion",
        "print the completion script for a shell",
        "completion:completion",
        (
            Argument("shell", "SHELL", "a shell; words: what its script asks for:", choices=_COMPLETED),
            Argument("typed", "WORD", "with words: the line that is being typed", "*"),
        ),
        ('eval "$(punchlist completion bash)"',),
    ),
    Command(
        "help",
        "explain a command; help all: list every command",
        "help:help",
        (Argument("about", "COMMAND", "a command, or `all`", "?", kind="command"),),
        ("punchlist help all", "punchlist help add"),
    ),
    Command(
        "hook",
        "answer an agent's hook: the event is JSON on standard input",
        "install:hook",
        (Argument("host", "HOST", "", choices="hosts:HOSTS"),),
        ("echo '{}' | punchlist hook claude-code",),
    ),
    Command(
        "mcp",
        "serve MCP on standard input and output",
        "as_model:mcp",
        (_DIALECT,),
        ("""echo '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}' | punchlist mcp""",),
    ),
)

GROUPS = {
    "look at the plan": _LOOK,
    "edit the plan": _EDIT,
    "check what is done": _CHECKS,
    "its history": _HISTORY,
    "plans and sessions": _PLANS,
    "control the agent": _CONTROL,
    "agents": _AGENTS,
    "what a model does and is told": _MODEL,
    "more": _MORE,
}

COMMANDS = {command.name: command for commands in GROUPS.values() for command in commands}
