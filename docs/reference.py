"""
Write the generated parts of the documentation, or check that they are up to date.

    python docs/reference.py --check    exit code 1 and the name of each part that is not what the program says now
    python docs/reference.py --write    write them

The man page, docs/punchlist.1, is generated as a whole. In the pages, a part stands between
`<!-- generated: NAME -->` and `<!-- end -->`; everything outside is written by hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from punchlist.cli.help import described, usage
from punchlist.cli.table import COMMANDS, COMMON, GROUPS, Argument
from punchlist.core.commands.table import RUNNERS
from punchlist.core.rules import Rules
from punchlist.dialects import PATHS, Dialect, Tool, load
from punchlist.dialects.wire import WRITERS
from punchlist.hosts import HOSTS
from punchlist.install import Part, Where, installer_for
from punchlist.local.settings import ABOUT, DIALECTS, About, Settings
from punchlist.policy.limits import tokens
from punchlist.policy.voice import BRIEF, FULL, TABLE
from punchlist.prompts import say

DOCS = Path(__file__).parent
_FLAGS = (
    "read_only",
    "idempotent",
    "concurrency_safe",
    "exclusive",
    "discoverable",
    "strict",
    "silent",
    "only_continuing",
)


def commands() -> str:
    """The help page of every command, as it is printed."""
    with tempfile.TemporaryDirectory(prefix="punchlist-docs-") as folder:
        parts = [("punchlist", _help(folder)), *((f"punchlist {name}", _help(folder, name)) for name in COMMANDS)]
    return "\n\n".join(f"### `{name} --help`\n\n```text\n{text}\n```" for name, text in parts if text)


def manual() -> str:
    """The man page: every command with its arguments and examples."""
    lines = [
        '.TH PUNCHLIST 1 "" "" "User Commands"',
        ".SH NAME",
        "punchlist \\- keep, show and check the plan a coding agent works from",
        ".SH SYNOPSIS",
        ".B punchlist",
        "[\\fICOMMAND\\fR] [\\fIoptions\\fR]",
        ".SH DESCRIPTION",
        "Without a command, the plan of this directory is shown. Options can stand before or after the command.",
        ".SH OPTIONS",
        *_manual_rows(COMMON),
        ".SH COMMANDS",
    ]
    for title, commands in GROUPS.items():
        lines.append(f".SS {_roff(title[0].upper() + title[1:])}")
        for command in commands:
            lines += [".TP", f".B {_roff(usage(command))}", _roff(f"{command.help[0].upper()}{command.help[1:]}.")]
            lines += [".RS", *_manual_rows(command.arguments), ".PP", ".EX"]
            lines += [*(_roff(example) for example in command.examples), ".EE", ".RE"]
    lines += [
        ".SH EXIT STATUS",
        "0 done, 1 refused, 2 misuse, 3 the store or another file failed, or the output could not be written.",
    ]
    return "\n".join(lines) + "\n"


def _manual_rows(arguments: Iterable[Argument]) -> Iterator[str]:
    for argument in arguments:
        name = f"{argument.name} {argument.value}" if argument.is_option else argument.value
        yield from (".TP", f".B {_roff(name.rstrip())}", _roff(described(argument)) or "\\&")


def _roff(text: str) -> str:
    """A text that no line of is taken for a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def settings() -> str:
    """Every setting, its default, and who may set it."""
    rows = [
        (
            f"`{name}`",
            _default(name),
            _values(name),
            f"`PUNCHLIST_{name.upper()}`",
            _in_project(name, about),
            about.text,
        )
        for name, about in ABOUT.items()
    ]
    return _table(("setting", "default", "values", "environment", "in a project's file", "what it says"), rows)


def _in_project(name: str, about: About) -> str:
    if about.rising:
        return "only more"
    if about.tighter is None:
        return "yes" if about.project else "no"
    if about.tighter:
        return f"only `{str(about.tighter).lower()}`"
    return "only `false`" if isinstance(Settings._field_defaults[name], bool) else "only less"


def dialects() -> str:
    """Every dialect: its tools, whether it understands what is nearly right, and the rules that differ from none."""
    rows = [
        (f"`{dialect.name}`", _names(dialect), "tolerant" if dialect.tolerant else "strict", _rules(dialect.rules))
        for dialect in map(load, PATHS)
    ]
    return _table(("dialect", "tools", "form", "rules"), rows)


def tools() -> str:
    """Every tool, with what its host should know of it."""
    rows = [
        (f"`{tool.name}`", f"`{dialect.name}`", tool.title or "(nothing)", tool.category, _properties(tool))
        for dialect in map(load, PATHS)
        for tool in dialect.tools
    ]
    return _table(("tool", "dialect", "shown to the user as", "category", "properties"), rows)


def agents() -> str:
    """Every agent that can be attached, and what it does not let us do."""
    each = [(name, installer_for(name)) for name in HOSTS]
    rows = [(f"[{host.TITLE}](agents/{name}.md)", f"`{name}`", host.CANNOT) for name, host in each]
    return _table(("agent", "name", "what it does not let us do: it"), rows)


def parts(name: str) -> str:
    """What is installed for an agent, and in which files."""
    project = _parts(name, "project")
    rows = []
    for part in _parts(name, "user"):
        there = _counterpart(part, project)
        key = f"`{'.'.join(part.path)}`" if part.path else "the whole file"
        rows.append((f"`{part.name}`", _file(part), _file(there) if there else "(not there)", key))
    return _table(("part", "for you", "in a project", "key"), rows)


def _counterpart(part: Part, others: tuple[Part, ...]) -> Part | None:
    """The same part in another scope: in a file of the same name, if there are several."""
    found = [one for one in others if (one.name, one.path) == (part.name, part.path)]
    same = [one for one in found if os.path.basename(one.files[-1]) == os.path.basename(part.files[-1])]
    return next(iter([*same, *found]), None)


def runners() -> str:
    """Every program that runs tests: what a run of it covers, and which of its flags make no difference."""
    rows = []
    for runner in RUNNERS:
        names = ", ".join(f"`{' '.join(name)}`" for name in runner.names)
        rows.append((names, runner.about, _flags(runner.harmless, *runner.pairs), _flags(runner.stricter)))
    return _table(("program", "what a run covers", "harmless flags", "stricter flags"), rows)


def refused() -> str:
    """Every program that runs tests, with flags that are known to leave something out."""
    rows = [(f"`{runner.name}`", _flags(runner.refused, *runner.not_started)) for runner in RUNNERS]
    return _table(("program", "flags and words with which a run does not count"), rows)


def _flags(flags: Iterable[str], *more: str) -> str:
    return ", ".join(f"`{flag}`" for flag in (*flags, *sorted(more))) or "none"


def promises(document: str) -> str:
    """Every statement of a document, and what proves that it holds here."""
    rows = [(id, statement, _proof(document, proof)) for id, statement, proof in read_promises()[document]]
    return _table(("", "statement", "held by"), rows)


def read_promises() -> dict[str, list[tuple[str, str, str]]]:
    """Return the rows of promises.tsv by document: number, statement, proof."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    rows: list[tuple[str, str, str]] = []
    for line in (DOCS / "promises.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            rows = found.setdefault(line[2:], [])
        else:
            id, statement, proof = line.split("\t")
            rows.append((id, statement, proof))
    return found


def dialect_of(document: str) -> str:
    return "llxprt" if document.startswith("llxprt") else document


def _proof(document: str, proof: str) -> str:
    if ": " in proof and proof.split(": ")[0] in ("decided", "open"):
        return proof
    said = []
    for part in proof.split(" | "):
        kind, _, name = part.partition(": ")
        if kind == "vector":
            said.append(f"vector of `{dialect_of(document)}`: {name}")
        elif kind == "guidance":
            said.append(f"`tests/dialects/guidance.json`: {name}")
        else:
            said.append(f"`tests/{part}`")
    return "<br>".join(said)


def _parts(name: str, scope: str) -> tuple[Part, ...]:
    return installer_for(name).parts(Where(scope, "/home/you", "/home/you/project", "/home/you/bin/punchlist", {}))


def _file(part: Part) -> str:
    return f"`{part.files[-1].replace('/home/you/project/', '').replace('/home/you', '~')}`"


def voices() -> str:
    """Which names of models have which class."""
    return _table(("name of the model", "class"), [(f"`{name}`", f"`{voice}`") for name, voice in TABLE.items()])


def voice_texts() -> str:
    """What a model of each class is sent in the first request, word for word, and about how many tokens that has."""
    tool = load("native").tools[0]
    said = []
    for voice, about in ((BRIEF, "also for models that are not known"), (FULL, "for small models")):
        one = tool.in_voice(voice)
        whole = json.dumps(WRITERS["anthropic"](one), ensure_ascii=False, separators=(",", ":"))
        counted = f"about {tokens(one.description)} tokens; the definition with its schema about {tokens(whole)}"
        said.append(f"**`{voice}`**, {about}: {counted}\n\n```text\n{one.description}\n```")
    said.append(f"**The instructions** of the MCP server, for every model: about {tokens(say('mcp'))} tokens")
    return "\n\n".join([*said, f"```text\n{say('mcp')}\n```"])


PARTS: dict[str, Callable[[], str]] = {
    "voices": voices,
    "voice-texts": voice_texts,
    "commands": commands,
    "settings": settings,
    "dialects": dialects,
    "tools": tools,
    "agents": agents,
    "runners": runners,
    "refused": refused,
    **{f"parts-{name}": partial(parts, name) for name in HOSTS},
    **{f"promises-{name}": partial(promises, name) for name in read_promises()},
}


def _help(folder: str, *command: str) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PUNCHLIST_")}
    own |= dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), folder)
    own |= {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "punchlist", *command, "--help"],
        stdin=subprocess.DEVNULL, capture_output=True, check=True, encoding="utf-8", cwd=folder, env=own,
    )  # fmt: skip
    return done.stdout.strip("\n")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _default(name: str) -> str:
    value: Any = Settings._field_defaults[name]
    if name == "store":
        return "`sqlite:` and `punchlist.db` in the state directory"
    if value == DIALECTS:
        return "as the dialect has it"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`" if value else "nothing"


_KINDS = {"dialect": "a dialect", "store": "a URL", "keep_history": "an age", "default_check": "a command"}


def _values(name: str) -> str:
    if isinstance(Settings._field_defaults[name], bool):
        return "true, false"
    if isinstance(Settings._field_defaults[name], int):
        least, most = ABOUT[name].least, ABOUT[name].most
        if most < About("").most:
            return f"{least} to {most}"
        return "a number" if least < 0 else f"a number, {least} or more"
    if name in _KINDS:
        return _KINDS[name]
    return ", ".join(f"`{choice}`" for choice in ABOUT[name].choices) or "a text"


def _names(dialect: Dialect) -> str:
    return ", ".join(f"`{tool.name}`" for tool in dialect.tools)


def _rules(rules: Rules) -> str:
    own = {name: value for name, value in rules._asdict().items() if value != Rules._field_defaults[name]}
    said = [f"`{name}`" if value is True else f"`{name}={value!r}`" for name, value in own.items()]
    return ", ".join(said) or "none"


def _properties(tool: Tool) -> str:
    said = [f"`{name}`" for name in _FLAGS if getattr(tool, name)]
    return ", ".join([*said, *(() if tool.for_subagents else ("not `for_subagents`",))]) or "none"


def written(text: str) -> str:
    """A page with its generated parts as they should be."""
    return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    inside = False
    for line in text.split("\n"):
        if line.startswith("<!-- generated: "):
            inside = True
            yield f"{line}\n\n{PARTS[line.split()[2]]()}\n"
        if line == "<!-- end -->":
            inside = False
        if not inside:
            yield line


def main() -> int:
    if sys.argv[1:] not in (["--check"], ["--write"]):
        print(str(__doc__).strip(), file=sys.stderr)
        return 2
    old = []
    for page in (*sorted(DOCS.rglob("*.md")), DOCS / "punchlist.1"):
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        new = written(text) if page.suffix == ".md" else manual()
        if new != text:
            old.append(page.name)
            if sys.argv[1] == "--write":
                page.write_text(new, encoding="utf-8")
    if not old:
        return 0
    if sys.argv[1] == "--write":
        print(f"written: {', '.join(old)}")
        return 0
    print(f"not what the program says now: {', '.join(old)}; run: python docs/reference.py --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
