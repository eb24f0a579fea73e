"""The commands about the check of an item: check, waive."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator

from ..core import ops
from ..core._typing import Any
from ..core.checks import folder_of, is_trusted
from ..core.codec import item_to_json, to_json
from ..core.errors import Refused
from ..core.model import Item, Plan
from ..core.text import inline, quoted
from ..desk import Desk
from ..desk.verification import exact_words
from ..local.files import time_text
from . import output
from .desk import command_for, load_settings, open_desk, open_own_desk
from .edit import apply
from .item_checks import describe_output, last_output
from .parser import Args, misuse
from .times import relative


def check(args: Args) -> int:
    """Set, show, remove or approve the check of an item; look for a default check."""
    if args.suggest:
        if args.words or args.file or args.contains or args.scope or args.remove or args.approve:
            misuse("check", "--suggest is about the project, and takes no item and no other option of check")
        return _suggest(args)
    if not args.words:
        misuse("check", "ID is missing")
    id, *line = args.words
    if args.remove or args.approve:
        return _remove_or_approve(args, id)
    if line and not "".join(line).strip():
        misuse("check", "the command is empty; --remove takes a check off")
    wanted = _wanted(args, line)
    if not wanted and not args.scope:
        with open_desk(args) as desk:
            return _show(desk, args, id)
    with open_own_desk(args) as desk:
        return apply(desk, args, lambda plan: _set(plan, id, wanted, args.scope))


def waive(args: Args) -> int:
    """Say that an item needs no check, or take that back."""
    with open_own_desk(args) as desk:
        changed = desk.change(lambda plan: _waived(plan, args))
    plan = changed.plan
    item = ops.find(plan, ops.resolve(plan, args.id))
    words = f"waived {item.id} {quoted(item.text)}: it counts without a check."
    if args.undo:
        words = f"{item.id} {quoted(item.text)} is not waived any more."
    if args.undo and not changed.changes:
        words = f"{item.id} {quoted(item.text)} was not waived."
    return output.answer(args, to_json(plan), words)


def _waived(plan: Plan, args: Args) -> Plan:
    id = ops.resolve(plan, args.id)
    if args.undo:
        return ops.put(plan, ops.find(plan, id)._replace(waived={}))
    return ops.waive(plan, id, why=args.why, at=time_text())


def _wanted(args: Args, line: list[str]) -> dict[str, Any]:
    """The check that was typed; empty if none was."""
    words = " ".join(line)
    if args.contains:
        if not words:
            misuse("check", "--contains needs a text, too: --contains PATH TEXT")
        return {"contains": [args.contains, words]}
    if args.file:
        if words:
            misuse("check", "a check is a command or a file, not both")
        return {"file": args.file}
    if len(line) > 1:
        words = shlex.join(line)
    if words:
        return {"run": words}
    return {}


def _set(plan: Plan, id: str, wanted: dict[str, Any], scope: list[str]) -> Plan:
    item = ops.find(plan, ops.resolve(plan, id))
    folder = os.getcwd()
    if not wanted:  # only another scope
        if not item.check:
            raise Refused(f"item {item.id} has no check that could have a scope.")
        wanted = {name: value for name, value in item.check.items() if name != "scope"}
        folder = folder_of(item)
    if scope:
        wanted = {**wanted, "scope": scope}
    return ops.set_check(plan, item.id, wanted, folder=folder)


def _remove_or_approve(args: Args, id: str) -> int:
    if args.words[1:] or args.scope:
        misuse("check", "--remove and --approve take no command and no scope")
    with open_own_desk(args) as desk:
        if args.remove:
            return apply(desk, args, lambda plan: ops.remove_check(plan, ops.resolve(plan, id)))
        from .verify import approve_item, approved_words

        plan = desk.plan
        item = ops.find(plan, ops.resolve(plan, id))
        plan = approve_item(desk, item)
        return output.answer(args, item_to_json(ops.find(plan, item.id)), approved_words(item))


def _show(desk: Desk, args: Args, id: str) -> int:
    from ..checks.approvals import load

    plan = desk.plan
    item = ops.find(plan, ops.resolve(plan, id))
    if not item.check:
        command = command_for(args, "check", item.id, "'make test'")
        hint = f"item {item.id} has no check; set one: {command}"
        return output.answer(args, {"id": item.id, "check": {}}, hint)
    is_approved = load().has(item.check, folder_of(item))
    kept = last_output(desk, plan, item)
    data: dict[str, Any] = {"id": item.id, "check": dict(item.check), "check_set": dict(item.check_set)}
    data["approved"] = is_approved
    if kept:
        data["last_run"] = kept._asdict()
    lines = list(_about(item, is_approved, args))
    if kept:
        head, *printed = describe_output(kept)
        lines += [f"last run: {head}", *(f"    {line}" for line in printed)]
    return output.answer(args, data, *lines)


def _about(item: Item, is_approved: bool, args: Args) -> Iterator[str]:
    about = item.check_set
    yield f"check of {item.id}: {exact_words(item.check)}"
    if item.check.get("scope"):
        yield f"scope: {', '.join(map(inline, item.check['scope']))}"
    yield f"directory: {output.short(folder_of(item))}"
    yield f"set by: {inline(str(about.get('by', '')))}, {relative(str(about.get('at', '')))}"
    if not is_trusted(item) or not is_approved:
        yield f"not approved; to approve it: {command_for(args, 'check', item.id, '--approve')}"


# --- a default check -------------------------------------------------------------------------------------------------


def _suggest(args: Args) -> int:
    """Propose a default check; on a terminal, ask whether to write it into the project's settings."""
    from ..checks.suggest import suggest
    from ..local.settings import place

    settings = load_settings(args)
    if settings.default_check:
        words = f"the default check is set already: {settings.default_check} ({settings.origins['default_check']})"
        return output.answer(args, {"default": settings.default_check, "suggestions": []}, words)
    folder = place()
    found = suggest(folder)
    data = {"default": "", "suggestions": [one._asdict() for one in found]}
    lines = [f"{one.command}  ({one.why})" for one in found]
    if not found:
        nothing = "no Makefile, pyproject.toml, package.json, Cargo.toml or go.mod here says how the project is tested."
        lines = [nothing]
    code = output.answer(args, data, *lines)
    if found and not args.json and sys.stdin.isatty() and sys.stderr.isatty():
        _offer(found[0].command, folder)
    return code


def _offer(command: str, folder: str) -> None:
    """Show what would be written, and write it if the user says yes. Who says yes approves it, too."""
    from difflib import unified_diff

    from ..checks.approvals import approve
    from ..core.checks import read_check
    from ..local.default_check import with_default_check
    from ..local.files import replace_file
    from ..local.settings import FILE, project_file

    path = project_file() or os.path.join(folder, FILE)
    old = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
    new = with_default_check(old, command)
    for line in unified_diff(old.splitlines(), new.splitlines(), path, path, lineterm="", n=1):
        output.say(output.harmless(line))
    output.flush()
    if output.agrees(f"write this to {output.short(path)}?"):
        replace_file(path, new.encode(), 0o644)
        approve(read_check(command), os.path.dirname(path))
        output.say(f"{command} is the default check of this project; `punchlist verify` runs it.")
    else:
        output.say("nothing was written.")
