"""The commands that attach punchlist to an agent: install, uninstall."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from ..core.errors import Refused
from ..core.render import Line, Span
from ..core.text import inline
from ..dialects import load as load_dialect
from ..install import PROJECT, SCOPES, USER, Edit, attach, detach, here, installer_for
from ..install import receipts as files
from ..install.script import is_temporary, script
from ..local.settings import DEFAULT_DIALECT, attached_dialects, keep_dialect
from . import output
from .parser import Args

_ABOUT = {USER: "for you", PROJECT: "in this directory"}


def install(args: Args) -> int:
    """Attach to an agent."""
    host = installer_for(args.host)
    if args.dialect:
        load_dialect(args.dialect)  # refused before anything is changed
    where = here(args.scope or USER, script())._replace(served=_served(args))
    edits = attach(args.host, where, tuple(args.without), dry=args.dry_run)
    changed = [edit for edit in edits if edit.is_change]
    dialect = _dialect(args)
    if args.json:
        output.say_json({**_data(args, edits, where.scope, host.NEXT), "dialect": dialect})
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
    if dialect != DEFAULT_DIALECT and not args.json:
        output.say(f"its model is given the tools of {dialect}, from the next session on.")
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
    """Detach from an agent, for the user and in this directory, unless one of them is named."""
    scopes: Sequence[str] = SCOPES
    if args.scope:
        scopes = [args.scope]
    edits = [edit for scope in scopes for edit in detach(args.host, here(scope, "punchlist"), dry=args.dry_run)]
    changed = [edit for edit in edits if edit.is_change]
    if not args.dry_run and USER in scopes:
        _keep_dialect(args.host, "")
    if args.json:
        output.say_json(_data(args, edits, args.scope or "", ""))
    elif args.dry_run:
        _show_diff(changed)
    elif not changed:
        output.say(f"{args.host} was not attached; nothing had to be changed.")
    else:
        output.say(f"{args.host} is detached:")
        _show_files(edits)
    _tell_kept(args, edits, "if it should go, take it out by hand.")
    if not args.dry_run and not args.json:
        _tell_others(args.host, scopes)
    return 0


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
    wide = max(len(output.short(edit.file)) for edit in changed)
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
