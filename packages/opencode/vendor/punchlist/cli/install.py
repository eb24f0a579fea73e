"""The commands that attach punchlist to an agent: install, uninstall."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence

from ..core.errors import Refused
from ..core.render import Line, Span
from ..core.text import inline, visible
from ..dialects import load as load_dialect
from ..install import PROJECT, SCOPES, USER, Edit, Where, attach, detach, here, installer_for, is_attached, via_package
from ..install import receipts as files
from ..install.attached import LINE
from ..install.script import is_temporary, script
from ..install.via_package import PACKAGE, SETTINGS
from ..local.settings import DEFAULT_DIALECT, attached_dialects, keep_dialect
from . import output
from .parser import Args

_ABOUT = {USER: "for you", PROJECT: "in this directory"}


def install(args: Args) -> int:
    """Attach to an agent: by the command that it has for plugins where that works, else by its settings files."""
    if args.dialect:
        load_dialect(args.dialect)  # refused before anything is changed
    where = here(args.scope or USER, script())._replace(served=_served(args))
    why = _why_by_settings(args, where)
    if args.via == PACKAGE and why:
        raise Refused(f"{args.host} cannot be attached by a package: {why}; leave --via package out.")
    if why:
        return _install_settings(args, where)
    if _takes_plugins_only(args.host) and not args.dry_run:
        detach(args.host, where)  # it has no effect, and would silence the package
    if via_package.is_theirs(args.host, where):
        return _tell_theirs(args, where)
    was_disabled = via_package.is_disabled(args.host, where)
    try:
        done = via_package.attach(args.host, where, dry=args.dry_run)
    except Refused as refusal:
        if args.via == PACKAGE:
            raise
        sys.stderr.write(f"punchlist: {visible(str(refusal))} Its settings are edited instead.\n")
        return _install_settings(args, where)
    edits = _line_edits(args, where)
    if was_disabled and not args.json and not args.dry_run:
        output.say("the package was disabled, and is enabled again.")
    _tell_package(args, done, edits, where)
    _tell_kept(args, edits, "to have ours, take it out and install again.")
    return 0


def _why_by_settings(args: Args, where: Where) -> str:
    """Why an agent is attached by its settings files; empty if a package does."""
    if args.via == SETTINGS:
        return "you asked for its settings"
    if args.hooks or set(args.without) - {LINE}:
        return "a package has all parts, and its own hooks"
    why = via_package.why_not(args.host, where)
    if why:
        return why
    if is_attached(args.host, where) and args.via != PACKAGE and not _takes_plugins_only(args.host):
        return "it is attached by its settings already"
    return ""


def _takes_plugins_only(host: str) -> bool:
    asked = getattr(installer_for(host), "plugins_only", None)
    return asked is not None and asked()


def _line_edits(args: Args, where: Where) -> list[Edit]:
    return via_package.attach_line(args.host, where, is_wanted=LINE not in args.without, dry=args.dry_run)


def _tell_package(args: Args, done: via_package.Done, edits: list[Edit], where: Where) -> None:
    host, dialect = installer_for(args.host), _dialect(args)
    commands = _shown(done)
    changed = [edit for edit in edits if edit.is_change]
    if args.json:
        said = _data(args, edits, where.scope, host.NEXT)
        output.say_json({**said, "via": PACKAGE, "commands": commands, "dialect": dialect})
        return
    if args.dry_run:
        _show_plan(commands, changed)
        return
    if not commands and not changed:
        output.say(f"{args.host} is attached {_ABOUT[where.scope]}, by its package; nothing had to be changed.")
    elif commands:
        output.say(f"{args.host} is attached {_ABOUT[where.scope]}, by its own commands:")
    else:
        output.say(f"{args.host} is attached {_ABOUT[where.scope]}, by its package:")
    for command in commands:
        output.say(f"  {inline(command)}")
    _show_files(edits)
    _warn(where.script)
    if host.NEXT:
        output.say(f"next: {host.NEXT}")
    _tell_dialect(dialect)
    if is_attached(args.host, where):
        output.say("its settings attach it, too, and the package keeps silent while they do; to use the package:")
        output.say(f"  punchlist uninstall {args.host} --via settings")


def _show_plan(commands: Sequence[str], changed: Sequence[Edit]) -> None:
    """Say what would be done."""
    for command in commands:
        output.say(f"would run: {inline(command)}")
    if changed or not commands:
        _show_diff(list(changed))
    else:
        output.say("nothing was written.")


def _tell_theirs(args: Args, where: Where) -> int:
    """The agent has our package already, from somewhere else: only what the package cannot have is added."""
    edits, version = _line_edits(args, where), via_package.installed(args.host, where)
    dialect = _dialect(args)
    if args.json:
        said = _data(args, edits, where.scope, "")
        output.say_json({**said, "via": PACKAGE, "commands": [], "dialect": dialect})
        return 0
    output.say(f"{args.host} has our package already, version {inline(version)}; you update it with its own commands.")
    if args.dry_run:
        _show_diff([edit for edit in edits if edit.is_change])
        return 0
    _show_files(edits)
    _tell_dialect(dialect)
    return 0


def _tell_dialect(dialect: str) -> None:
    if dialect != DEFAULT_DIALECT:
        output.say(f"its model is given the tools of {dialect}, from the next session on.")


def _shown(done: via_package.Done | None) -> list[str]:
    """Commands as a person would type them."""
    if done is None:
        return []
    return [via_package.shown(command) for command in done.commands]


def _install_settings(args: Args, where: Where) -> int:
    host = installer_for(args.host)
    edits = attach(args.host, where, tuple(args.without), dry=args.dry_run)
    changed = [edit for edit in edits if edit.is_change]
    dialect = _dialect(args)
    if args.json:
        said = _data(args, edits, where.scope, host.NEXT)
        output.say_json({**said, "via": SETTINGS, "dialect": dialect})
    elif args.dry_run:
        _show_diff(changed)
    elif not changed:
        output.say(f"{args.host} is attached {_ABOUT[where.scope]}; nothing had to be changed.")
    else:
        output.say(f"{args.host} is attached {_ABOUT[where.scope]}:")
        _show_files(edits)
        _warn(where.script)
        if host.NEXT:
            output.say(f"next: {host.NEXT}")
    if not args.json:
        _tell_dialect(dialect)
    if not args.json and via_package.installed(args.host, where):
        output.say("its package is installed, too, and keeps silent while the settings attach it.")
        if not via_package.is_theirs(args.host, where):
            output.say(f"to remove it: punchlist uninstall {args.host} --via package")
    _tell_kept(args, edits, "to have ours, take it out and install again.")
    return 0


def _dialect(args: Args) -> str:
    """Return the dialect that an agent is attached with, from now on."""
    if args.dialect and not args.dry_run:
        kept = args.dialect
        if kept == DEFAULT_DIALECT:
            kept = ""
        _keep_dialect(args.host, kept)
    return str(args.dialect or attached_dialects().get(args.host, DEFAULT_DIALECT))


def _keep_dialect(host: str, dialect: str) -> None:
    with files.explained():
        keep_dialect(host, dialect)


def _served(args: Args) -> bool | None:
    if args.hooks == "server" and not getattr(installer_for(args.host), "HOOKS_BY_SERVER", False):
        raise Refused(f"{args.host} has no hooks that a server answers.")
    if args.hooks == "server" and args.scope == PROJECT:
        raise Refused("these hooks hold a secret, and a project's files are shared; leave --scope project out.")
    if args.hooks is None and "server" not in args.without:
        return None
    return bool(args.hooks == "server")


def uninstall(args: Args) -> int:
    """Detach from an agent, for the user and in this directory, unless one of them is named: its package and its
    settings, unless one of these is named."""
    scopes: Sequence[str] = SCOPES
    if args.scope:
        scopes = [args.scope]
    if via_package.is_last(args.host, here(USER, "punchlist")):  # what was written last is taken back first
        commands = _remove_package(args, scopes)
        edits = _detach_settings(args, scopes)
    else:
        edits = _detach_settings(args, scopes)
        commands = _remove_package(args, scopes)
    changed = [edit for edit in edits if edit.is_change]
    if not args.dry_run and USER in scopes and not args.via:
        _keep_dialect(args.host, "")
    if args.json:
        output.say_json({**_data(args, edits, args.scope or "", ""), "commands": commands})
    elif args.dry_run:
        _show_plan(commands, changed)
    elif not changed and not commands:
        output.say(f"{args.host} was not attached; nothing had to be changed.")
    else:
        output.say(f"{args.host} is detached:")
        for command in commands:
            output.say(f"  {inline(command)}")
        _show_files(edits)
    if not args.json and args.via != SETTINGS and via_package.is_theirs(args.host, here(USER, "punchlist")):
        output.say("the package that you installed with its own commands stays; you remove it with them.")
    _tell_kept(args, edits, "if it should go, take it out by hand.")
    if not args.dry_run and not args.json:
        _tell_others(args.host, scopes)
    return 0


def _remove_package(args: Args, scopes: Sequence[str]) -> list[str]:
    """Remove our package from an agent; the commands that did, or would."""
    if USER not in scopes or args.via == SETTINGS:
        return []
    return _shown(via_package.detach(args.host, here(USER, "punchlist"), dry=args.dry_run))


def _detach_settings(args: Args, scopes: Sequence[str]) -> list[Edit]:
    """Take out of settings what is ours. Of a package, that is the status line."""
    mine = here(USER, script())
    if args.via == PACKAGE and is_attached(args.host, mine):
        return []
    if args.via == PACKAGE:
        scopes = [scope for scope in scopes if scope == USER]
    edits = [edit for scope in scopes for edit in detach(args.host, here(scope, "punchlist"), dry=args.dry_run)]
    if args.via == SETTINGS and USER in scopes and not args.dry_run and via_package.installed(args.host, mine):
        via_package.attach_line(args.host, mine)
    return edits


def _warn(path: str) -> None:
    if is_temporary(path):
        from ..local.origin import tool_command

        words = f"{output.short(path)} is in a cache; once that is emptied, hooks do nothing."
        output.say(f"{words} Better: {tool_command()}")


def _tell_kept(args: Args, edits: Iterable[Edit], advice: str) -> None:
    """What is somebody else's where ours would be."""
    if args.json:
        return
    for edit in edits:
        for place in edit.kept:
            output.say(f"{output.short(edit.file)}: {inline(place)} is your own and stays as it is; {advice}")


def _tell_others(host: str, scopes: Sequence[str]) -> None:
    """Say which other projects are still attached."""
    if PROJECT not in scopes:
        return
    parts = installer_for(host).parts(here(PROJECT, "punchlist"))
    here_too = {files.target(file) for part in parts for file in part.files}
    for one in files.receipts():
        is_other = (one.host, one.scope) == (host, PROJECT) and one.file not in here_too
        if is_other and os.path.exists(one.file):
            output.say(f"still attached by {output.short(one.file)}; run the same there.")


def _show_files(edits: Iterable[Edit]) -> None:
    changed = [edit for edit in edits if edit.is_change]
    wide = max([len(output.short(edit.file)) for edit in changed], default=0)
    for edit in changed:
        if edit.new is None:
            what = "removed"
        else:
            what = ", ".join(edit.parts) or "taken out"
        output.say(f"  {output.short(edit.file).ljust(wide)}  {what}")


def _data(args: Args, edits: Iterable[Edit], scope: str, following: str) -> dict[str, object]:
    files = [
        {"file": edit.file, "parts": list(edit.parts), "action": _action(edit), "kept": list(edit.kept)}
        for edit in edits
    ]
    return {
        "host": args.host,
        "scope": scope or None,
        "dry_run": args.dry_run,
        "files": files,
        "next": following or None,
    }


def _action(edit: Edit) -> str:
    if not edit.is_change:
        return "none"
    if edit.old is None:
        return "create"
    if edit.new is None:
        return "remove"
    return "change"


# --- what would change -----------------------------------------------------------------------------------------------


def _show_diff(edits: Sequence[Edit]) -> None:
    for edit in edits:
        output.show(_diff(edit))
    output.say("nothing was written." if edits else "nothing would be changed.")


def _diff(edit: Edit) -> Iterator[Line]:
    from difflib import unified_diff

    old, new = ((data or b"").decode("utf-8").splitlines() for data in (edit.old, edit.new))
    before, after = ("/dev/null" if data is None else output.short(edit.file) for data in (edit.old, edit.new))
    for line in unified_diff(old, new, before, after, lineterm="", n=2):
        yield _drawn(_harmless(line))


def _drawn(line: str) -> Line:
    """A line of a diff; of one that came or went, the sign has a color."""
    if line.startswith(("---", "+++")):
        return (Span(line, "bold"),)
    if line.startswith("@"):
        return (Span(line, "dim"),)
    return Span(line[:1], {"+": "good", "-": "bad"}.get(line[:1], "")), Span(line[1:])


def _harmless(line: str) -> str:
    """A line of somebody's settings: no secret and no control character reaches the screen."""
    from ..core.redact import blanked

    return inline(blanked(line.replace("\t", "  ")))


def hook(args: Args) -> int:
    """Answer an agent's hook, for whoever typed an option that only the parser knows."""
    from ..hosts import run

    return run(["hook", args.host])
