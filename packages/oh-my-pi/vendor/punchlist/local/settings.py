"""Settings: defaults, the user's file, the project's file, the environment, flags; the later wins."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from ..core._typing import Any, NamedTuple
from ..core.errors import Refused, SettingsError
from ..core.model import NOTHING

FILE = "punchlist.toml"
_PREFIX = "PUNCHLIST_"  # of a setting in the environment
ATTACHED = "install --dialect"  # where the dialect of an attached agent came from
TOGGLE = "Ctrl+T"  # where a value came from that was changed with that key
AUTO = "auto"  # a value of `voice`: the name of the model decides
UNTIL_DONE = "until-done"  # a value of `continuation`: nudge whatever the user last said
DEFAULT_DIALECT = "native"  # need not be loaded to know how its model is guided
DIALECTS = -1  # a number that each dialect has its own default for
_LARGEST = 999_999_999  # number that can be set
_LONGEST = 64_000  # bytes of a file in the state folder
_RENAMED = {"pushes": "nudges", "idle_pushes": "idle_nudges", "push_minutes": "nudge_minutes"}  # for one version
_YES, _NO = dict.fromkeys((True, "true", "yes", "1"), "always"), dict.fromkeys((False, "false", "no", "0"), "never")
_WORDS = {"confirm_shell": {**_YES, **_NO}}  # settings that were true or false before they had words

STYLES = ("punchlist", "claude-code", "gencode", "oh-my-pi")


class Settings(NamedTuple):
    """Every setting with its default, where each value came from, and what could not be used."""

    store: str = ""
    dialect: str = DEFAULT_DIALECT
    voice: str = AUTO
    voices: str = ""
    tolerant: bool = False
    user_closed_is_final: bool = True
    strict_pause: bool = True
    interactive: bool = False
    redact_calls: bool = True
    sqlite_synchronous: str = "normal"
    keep_history: str = ""
    model: str = ""
    base_url: str = ""
    context: int = 100_000
    turns: int = 200
    confirm_shell: str = "outside"
    verify: str = "off"
    auto_done: bool = False
    default_check: str = ""
    verify_minutes: int = 10
    keep_output: bool = False
    look_ms: int = 300
    off: bool = False
    reminders: bool = True
    remind_after: int = DIALECTS
    remind_again: int = DIALECTS
    reminder_budget: int = DIALECTS
    continuation: bool | str = True
    idle_nudges: int = 1
    nudges: int = 20
    nudge_minutes: int = 30
    plan_mode_every: int = 5
    seed_plan: bool = True
    clear_delay: int = 60
    style: str = "punchlist"
    expanded: bool = False
    plain: bool = False
    unicode: bool = True
    status_lines: int = 1
    origins: Mapping[str, str] = NOTHING
    problems: tuple[str, ...] = ()  # each names file and key; the value before it is used


class About(NamedTuple):
    text: str
    choices: tuple[str, ...] = ()
    project: bool = True  # whether a project's file may set it
    least: int = 0  # for a number
    most: int = _LARGEST
    tighter: bool | str | None = None  # what a project may set against the user's word; of a number, whatever is less
    rising: bool = False  # of a number: whatever is more
    unset: int = 0  # less or more than which that is, where the user has said nothing


ABOUT = {
    "store": About("where plans are kept: sqlite:PATH, json:DIR, postgresql://..., memory:", project=False),
    "dialect": About("the tools a model is given"),
    "tolerant": About("whether every dialect understands calls that are nearly right"),
    "user_closed_is_final": About("whether what the user closed stays closed, whatever an agent sends", tighter=True),
    "strict_pause": About(
        "whether an agent's pause (native, todo_pause) is refused with a brief or vague reason", tighter=True
    ),
    "interactive": About("whether llxprt answers in its quiet, interactive way"),
    "redact_calls": About("whether secrets in recorded tool calls are blanked and long values cut", tighter=True),
    "keep_history": About(
        "how long history is kept: 90d, 26w; for ever if empty. What is older goes with each new plan", project=False
    ),
    "verify": About(
        "what is done about completed items whose check was not seen to pass: nothing but to show it, a nudge, a run of"
        " approved checks at the end of a turn, or `done` is refused",
        ("off", "ask", "run", "block"),
        tighter="block",
    ),
    "auto_done": About(
        "whether an item is completed once its own check was seen to fail and then to pass since it was started",
        tighter=False,
    ),
    "default_check": About(
        "a command that checks the whole project, shown as one line of the plan; in a file: `default` in `[checks]`."
        " One in a project's file counts once you have approved it"
    ),
    "verify_minutes": About("for how long `verify` lets one check run", least=1, tighter=False),
    "keep_output": About("whether the end of a check's output is kept with what was observed", tighter=False),
    "look_ms": About(
        "milliseconds that a look at the project's files may take; a screen rather shows no grade than wait longer",
        least=10,
        tighter=False,
    ),
    "off": About("whether punchlist says nothing at all to agents, and offers no tool", tighter=True),
    "voice": About(
        "how much a model is told: the brief texts and few reminders, the full guidance, or by the name of the model",
        (AUTO, "brief", "full"),
    ),
    "voices": About(
        "names or patterns of models and the voice of each, before our own table: `my-local-*=full, big-*=brief`; in a"
        " file: a table `[voices]`"
    ),
    "reminders": About("whether an agent is reminded of a plan that it does not update", tighter=False),
    "remind_after": About(
        "turns without an update before a reminder; claude-code 7, gencode and ours 10", rising=True, unset=10
    ),
    "remind_again": About(
        "turns between two reminders; claude-code 3, gencode 10, ours twice as many each time", rising=True, unset=10
    ),
    "reminder_budget": About(
        "tokens of reminders in a session, then silence; ours 400, none in other dialects", tighter=False, unset=400
    ),
    "continuation": About(
        "whether an agent that stops in the middle of planned work is nudged; `until-done`, by environment or flag"
        " only: whenever something is open",
        tighter=False,
    ),
    "idle_nudges": About("how many nudges in a row may lead to nothing", tighter=False),
    "nudges": About("how often it is nudged in a session", tighter=False),
    "nudge_minutes": About("for how long it is nudged, from the first time after your last message", tighter=False),
    "plan_mode_every": About("turns between two tellings of the text of plan mode", rising=True),
    "seed_plan": About(
        "whether an approved plan's headings and checkboxes become the plan, if there is none yet", tighter=False
    ),
    "clear_delay": About(
        "seconds after which closed items leave oh-my-pi's list; 0 at once, below 0 never", least=-_LARGEST
    ),
    "sqlite_synchronous": About("full: the last commits survive a power cut, too", ("normal", "full"), project=False),
    "model": About("the model that `run` asks: anthropic:NAME, openai:NAME, ollama:NAME, script:FILE", project=False),
    "base_url": About("where that model is, if not at its usual place", project=False),
    "context": About("tokens of a conversation before `run` compacts it", least=1000, tighter=False),
    "turns": About("how often `run` asks the model before it waits for your next word", least=1, tighter=False),
    "confirm_shell": About(
        "before which shell commands `run` asks: those that could change something outside its folder, all, none",
        ("outside", "always", "never"),
        project=False,
    ),
    "style": About("how a plan looks on a terminal", STYLES),
    "expanded": About("whether the panel shows the list; Ctrl+T changes this value"),
    "plain": About("whether changes are told line by line, without moving the cursor: for screen readers"),
    "unicode": About("whether signs beyond ASCII are used on a screen that has them"),
    "status_lines": About(
        "lines in the status line of an agent: 1 for what is active, 2 with what is next, 3 with what was done last",
        least=1,
        most=3,
    ),
}


def load(flags: Mapping[str, Any] = NOTHING, *, environ: Mapping[str, str] | None = None, cwd: str = "") -> Settings:
    """All settings, and where each came from."""
    environ = os.environ if environ is None else environ
    values, origins, problems = _from_files(environ, cwd)
    expanded = read_toggle(environ)
    if expanded and expanded[1] == values.get("expanded", False):
        values["expanded"], origins["expanded"] = expanded[0], TOGGLE
    given = [key for key in environ if key.startswith(_PREFIX)]  # hardly ever any: to ask for each name takes longer
    for name in (*_RENAMED, *ABOUT):
        key = f"{_PREFIX}{name.upper()}"
        if key in given and environ[key]:
            _take(values, origins, problems, name, _read(_RENAMED.get(name, name), environ[key]), key, False)
    for name, value in flags.items():
        if value is not None:
            values[name], origins[name] = value, f"--{name.replace('_', '-')}"
    return Settings(**values, origins=origins, problems=tuple(problems))


def _from_files(environ: Mapping[str, str], cwd: str) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    values: dict[str, Any] = {"store": "sqlite:" + os.path.join(state_folder(environ), "punchlist.db")}
    origins = dict.fromkeys(ABOUT, "default")
    problems: list[str] = []
    for path, is_project in ((os.path.join(config_folder(environ), FILE), False), (project_file(cwd), True)):
        if not os.path.isfile(path):
            continue
        from .settings_file import read_entries

        for name, value in read_entries(path, problems):
            _take(values, origins, problems, name, value, path, is_project)
    return values, origins, problems


def read_toggle(environ: Mapping[str, str]) -> tuple[bool, bool] | None:
    """What Ctrl+T made of `expanded`, and what the files said then: once they say something else, they count again."""
    path = toggle_file(environ)
    if not os.path.exists(path):
        return None
    from ..core.json_text import loads
    from .files import read_file

    try:
        found = loads(read_file(path, _LONGEST))
        expanded, instead_of = found["expanded"], found["instead_of"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if isinstance(expanded, bool) and isinstance(instead_of, bool):
        return (expanded, instead_of)
    return None


def attached_dialects(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The dialect that each agent was attached with, where one was chosen."""
    path = _dialect_file(os.environ if environ is None else environ)
    if not os.path.exists(path):
        return {}
    from ..core.json_text import loads
    from .files import read_file

    try:
        found = loads(read_file(path, _LONGEST))
    except (OSError, ValueError):
        return {}
    known = _dialects()
    if isinstance(found, dict):
        return {host: name for host, name in found.items() if name in known}
    return {}


def keep_dialect(host: str, dialect: str) -> None:
    """Let an attached agent have this dialect; with none, the usual one again. Raises OSError."""
    path = _dialect_file(os.environ)
    kept = {**attached_dialects(), host: dialect}
    kept = {name: value for name, value in kept.items() if value}
    if not kept:
        if os.path.exists(path):
            os.remove(path)
        return
    import json

    from .files import write_file

    write_file(path, json.dumps(kept).encode())


def for_host(settings: Settings, host: str) -> Settings:
    """The settings of an attached agent: with the dialect that it was attached with, unless another one is set."""
    if not host or settings.origins.get("dialect", "default") != "default":
        return settings
    dialect = attached_dialects().get(host)
    if not dialect:
        return settings
    return settings._replace(dialect=dialect, origins={**settings.origins, "dialect": ATTACHED})


def _dialect_file(environ: Mapping[str, str]) -> str:
    return os.path.join(state_folder(environ), "dialects.json")


def toggle_file(environ: Mapping[str, str]) -> str:
    """Where it is kept what Ctrl+T was last."""
    return os.path.join(state_folder(environ), "panel.json")


def expanded_in_files(environ: Mapping[str, str], cwd: str = "") -> bool:
    """What the files say about `expanded`, whatever Ctrl+T has made of it."""
    return bool(_from_files(environ, cwd)[0].get("expanded", False))


def state_folder(environ: Mapping[str, str]) -> str:
    """Where plans are kept if nothing else is said."""
    return _folder(environ, "XDG_STATE_HOME", "~/.local/state")


def config_folder(environ: Mapping[str, str]) -> str:
    """Where the user's settings are."""
    return _folder(environ, "XDG_CONFIG_HOME", "~/.config")


def place(cwd: str = "") -> str:
    """The git root above a directory, else the directory itself."""
    return _git_root(os.path.realpath(cwd or _here()))


def project_file(cwd: str = "") -> str:
    """The nearest settings file at or above a directory, not above its git root."""
    here = os.path.realpath(cwd or _here())
    root = _git_root(here)
    while True:
        path = os.path.join(here, FILE)
        if os.path.isfile(path):
            return path
        if here == root or here == os.path.dirname(here):
            return ""
        here = os.path.dirname(here)


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise Refused("the directory you are in is gone; change to one that exists.") from None


def _git_root(here: str) -> str:
    return _above(here, lambda folder: os.path.exists(os.path.join(folder, ".git"))) or here


def _above(here: str, wanted: Callable[[str], bool]) -> str:
    while not wanted(here):
        parent = os.path.dirname(here)
        if parent == here:
            return ""
        here = parent
    return here


def _folder(environ: Mapping[str, str], variable: str, home: str) -> str:
    base = environ.get(variable, "")
    if os.path.isabs(base):
        return os.path.join(base, "punchlist")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/punchlist")
    if sys.platform == "win32":
        return os.path.join(environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "punchlist")
    return os.path.join(os.path.expanduser(home), "punchlist")


def _take(
    values: dict[str, Any],
    origins: dict[str, str],
    problems: list[str],
    name: str,
    value: Any,
    origin: str,
    is_project: bool,
) -> None:
    old, name = name, _RENAMED.get(name, name)
    if old != name:
        problems.append(f"{origin}: {old!r} is now called {name!r}; the old name works in this version only.")
    if name == "voices" and isinstance(value, str) and values.get(name):  # each adds to what was said before
        value = f"{values[name]}, {value}"
    try:
        value = _check(name, value, origin, is_project)
        if is_project:
            _require_may_set(name, value, values.get(name, _default(name)), origin)
        values[name], origins[name] = value, origin
    except SettingsError as error:
        problems.append(str(error))


def _check(name: str, value: Any, origin: str, is_project: bool) -> Any:
    about = ABOUT.get(name)
    if about is None:
        from ..core.text import suggest

        hint = suggest(name, ABOUT, f"the settings are {', '.join(ABOUT)}.")
        raise SettingsError(f"{origin}: {name!r} is not a setting; {hint}")
    if is_project and not about.project:
        raise SettingsError(
            f"{origin}: {name!r} cannot be set by a project; set it in your own {FILE} or the environment."
        )
    if name == "continuation" and value == UNTIL_DONE:
        if origin == f"{_PREFIX}{name.upper()}":
            return value
        raise SettingsError(f"{origin}: {name!r} can be {UNTIL_DONE!r} only by environment or a flag, for one run.")
    if name in _WORDS and isinstance(value, bool | str):
        value = _WORDS[name].get(value, value)
    if type(value) is not type(_default(name)):
        wanted = {bool: "true or false", int: "a whole number"}.get(type(_default(name)), "a string")
        raise SettingsError(f"{origin}: {name!r} must be {wanted}, not {shown(value)}.")
    if isinstance(value, int) and not about.least <= value <= about.most:
        raise SettingsError(f"{origin}: {name!r} must be {about.least} to {about.most}, not {shown(value)}.")
    if name in _READ_FURTHER and value:
        try:
            _READ_FURTHER[name](value)
        except Refused as error:
            raise SettingsError(f"{origin}: {name!r}: {error}") from None
    if name == "dialect":
        choices = _dialects()
    else:
        choices = tuple(map(repr, about.choices))
    if choices and value not in choices and repr(value) not in choices:
        raise SettingsError(f"{origin}: {name!r} must be one of {', '.join(choices)}, not {shown(value)}.")
    return value


def _read_age(age: str) -> None:
    from .age import ago

    ago(age)


def _read_command(command: str) -> None:
    from ..core.checks import read_check

    read_check(command)


def _read_voices(text: str) -> None:
    from ..policy.voice import read_table

    read_table(text)


_READ_FURTHER: Mapping[str, Callable[[str], object]] = {
    "keep_history": _read_age,
    "default_check": _read_command,
    "voices": _read_voices,
}


def _require_may_set(name: str, value: Any, before: Any, origin: str) -> None:
    """Refuse what a project may not set. A project is not always yours: it can bind agents tighter than you do, not
    looser."""
    about = ABOUT[name]
    if about.rising:
        allowed, only = value >= _bound(name, before), "more"
    elif about.tighter is None:
        return
    elif type(value) is int:
        allowed, only = value < _bound(name, before) or value == before, "less"
    else:
        allowed, only = value in (about.tighter, before), str(about.tighter).lower()
    if not allowed:
        raise SettingsError(
            f"{origin}: {name!r} cannot be set to {shown(value)} by a project, only to {only}; "
            f"set it in your own {FILE} or the environment."
        )


def _bound(name: str, before: int) -> int:
    if before == DIALECTS:
        return ABOUT[name].unset
    return before


def shown(value: Any) -> str:
    """A value as a message names it."""
    from ..core.schema import shown

    return shown(value)


def _dialects() -> tuple[str, ...]:
    from ..dialects import PATHS

    return tuple(PATHS)


def _read(name: str, text: str) -> Any:
    """An environment variable's value, as a file would have it."""
    if isinstance(_default(name), bool):
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(
            text.casefold(), text
        )
    if isinstance(_default(name), int):
        digits = text.removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) < 20:
            return int(text)
        return text
    return text


def _default(name: str) -> Any:
    return Settings._field_defaults[name]
