"""Our own dialect: one tool, short verbs, integer ids, the next item started by itself, a digest for an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from operator import attrgetter, ne

from ..core import ops
from ..core._typing import Any
from ..core.conflicts import Asked
from ..core.diff import Change
from ..core.errors import Refused
from ..core.model import ACTIVE, BLOCKED, CLOSED, DONE, DROPPED, MAIN, PENDING, Item, Plan
from ..core.rules import Rules, pause_problem
from ..core.schema import Path, Problem, Schema, check, check_at, is_huge
from ..core.text import cut, inline
from ..core.updates import SHOWN
from ..policy.dialect_guide import OURS
from . import Call, Dialect, Reply, Tool, Turn, refusal

_TEXT: Schema = {"type": "string"}
_SHORT: Schema = {"type": "string", "maxLength": 2_000}
_ID: Schema = {"type": "integer"}
_IDS: Schema = {"type": "array", "items": _ID}
_ENTRY: dict[str, Schema] = {
    "text": _TEXT,
    "phase": _TEXT,
    "needs": _IDS,
    "after": _ID,
    "parent": _ID,
    "notes": _TEXT,
    "owner": _TEXT,
    "check": _TEXT,
}
_EDIT: dict[str, Schema] = {"id": _ID, "text": _TEXT, "note": _TEXT, "check": _TEXT}


def _schema(entry: Mapping[str, Schema], edit: Mapping[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": {
            "add": {"type": "array", "items": {"type": "object", "properties": entry, "required": ["text"]}},
            "edit": {"type": "array", "items": {"type": "object", "properties": edit}},
            "start": _IDS,
            "done": _IDS,
            "drop": _IDS,
            "block": _IDS,
            "unblock": _IDS,
            "why": _TEXT,
            "pause": _TEXT,
            "show": {"type": "boolean"},
        },
    }


# Every word of this is sent with every request of a session: what costs many tokens to say here is checked below.
# Not every provider takes unions of types, objects without named keys, or `additionalProperties`: there are none.
PLAN = Tool(
    name="plan",
    schema=_schema(_ENTRY, _EDIT),
    prompt="native",
    full="native.full",
    examples=(
        {"add": [{"text": "Read the parser"}, {"text": "Fix the bug"}, {"text": "Run the tests"}]},
        {"done": [1]},
        {"drop": [3], "why": "no tests"},
    ),
    title="Plan",
    pauses=lambda args: isinstance(args, dict) and bool(args.get("pause")),
)
_ACCEPTED = _schema({**_ENTRY, "check": {}}, {**_EDIT, "check": {}})  # a check may be an object, too
_WHOLE = 500  # characters of the user's words that are shown the first time they become current
_KEYS: dict[str | int, dict[str, Schema]] = {"add": _ENTRY, "edit": _EDIT}  # of the entries of a verb
_BY_ID = ("unblock", "start", "done", "block", "drop")
_CLOSING = ("done", "block", "drop")
_ADVANCING = {"add", "unblock", *_CLOSING}  # verbs after which the next item is started


def _read(call: Call) -> Call:
    """The call in the form that is shown. Bare strings in `add`, and maps from ids to texts in `edit` and `note`, are
    understood without a word."""
    if not isinstance(call.args, dict) or call.args.keys().isdisjoint(("add", "edit", "note")):
        return call
    args: dict[str, Any] = dict(call.args)
    for verb in ("add", "edit", "note"):
        if isinstance(args.get(verb), str):
            args[verb] = _parsed(args[verb])
    if isinstance(args.get("add"), str):
        args["add"] = [args["add"]]
    if isinstance(args.get("add"), list):
        args["add"] = [_added(entry) for entry in args["add"]]
    if isinstance(args.get("edit"), dict):
        args["edit"] = _entries(args["edit"], "text")
    if isinstance(args.get("note"), dict) and isinstance(args.get("edit", []), list):
        args["edit"] = [*args.get("edit", ()), *_entries(args.pop("note"), "note")]
    for verb in ("add", "edit"):
        if isinstance(args.get(verb), list):
            args[verb] = [_without_empty_check(entry) for entry in args[verb]]
    return call._replace(args=args)


def _without_empty_check(entry: object) -> object:
    """An entry without a check that says nothing. It takes no check off an item: only the user does."""
    if isinstance(entry, dict) and "check" in entry and entry["check"] in ("", None, {}):
        return {name: value for name, value in entry.items() if name != "check"}
    return entry


def _parsed(text: str) -> object:
    """What a JSON string says; a text that is none stays as it is."""
    import json

    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(found, dict | list):
        return found
    return text


def _entries(given: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The edits that a map from ids to texts asks for. An object that is one edit itself is a list of one."""
    if not given.keys().isdisjoint(_EDIT):
        return [given]
    return [{"id": _id(id), key: text} for id, text in given.items()]


def _id(key: str) -> int | str:
    number = key.strip().removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 19:
        return int(number)
    return key


def _added(entry: object) -> object:
    if isinstance(entry, str):
        return {"text": entry}
    return entry


def _asked(plan: Plan, call: Call) -> list[Asked]:
    """What a call asks of each item that it names."""
    args: dict[str, Any] = call.args
    found = [Asked("add", "") for verb in ("add", "pause", "show") if args.get(verb)]
    for entry in args.get("edit", ()):
        if "text" in entry:
            found.append(Asked("edit", str(entry["id"]), text=entry["text"]))
        if "note" in entry:
            found.append(Asked("note", str(entry["id"])))
        if "check" in entry:
            found.append(Asked("check", str(entry["id"])))
    for verb in _BY_ID:
        if verb in args:
            asked = verb
            if verb == "drop":
                asked = "delete"
            found += [Asked(asked, str(id), verb) for id in args[verb]]
    return found


def _apply(plan: Plan, call: Call) -> Plan:
    args: dict[str, Any] = call.args
    _refuse_meaningless(args, strict_pause=call.strict_pause)
    if args.get("add"):
        plan = ops.extend(plan, [_entry(index, wish) for index, wish in enumerate(args["add"])])
    ids = _named(call)
    plan = _edited(plan, call, [id for named in ids.values() for id in named])
    if "unblock" in ids:
        plan = ops.unblock(plan, *ids["unblock"])
    if "start" in ids:
        plan = _started(ops.released(plan, ids["start"], call.ended), ids["start"], _owner(call.agent))
    if args.get("add") or not _ADVANCING.isdisjoint(ids):
        active = _at_hand(plan, call.agent)
        plan = _closed(plan, ids, args.get("why", ""))
        plan = _advanced(plan, active, ids, call)
    if args.get("pause"):
        plan = ops.pause(plan, args["pause"], call.at)
    return plan


def _named(call: Call) -> dict[str, list[str]]:
    """The ids of each verb, without those that the call may not touch now."""
    found: dict[str, list[str]] = {}
    for verb in _BY_ID:
        if verb not in call.args:
            continue
        asked = verb
        if verb == "drop":
            asked = "delete"
        ids = [str(id) for id in call.args[verb]]
        ids = [id for id in ids if (asked, id) not in call.spared]
        if ids:
            found[verb] = ids
    return found


def _edited(plan: Plan, call: Call, named: list[str]) -> Plan:
    """Give items other words, then notes, then checks. Every id of the call must be there before anything is done."""
    entries: list[dict[str, Any]] = call.args.get("edit", [])
    if not entries:
        ops.require(plan, named)
        return plan
    texts = [(str(entry["id"]), entry["text"]) for entry in entries if "text" in entry]
    notes = [(str(entry["id"]), entry["note"]) for entry in entries if "note" in entry]
    texts = [(id, text) for id, text in texts if ("edit", id) not in call.spared]
    notes = [(id, text) for id, text in notes if ("note", id) not in call.spared]
    checks = [(str(entry["id"]), entry["check"]) for entry in entries if "check" in entry]
    checks = [(id, given) for id, given in checks if ("check", id) not in call.spared]
    ops.require(plan, [*named, *(id for id, _ in (*texts, *notes, *checks))])
    for id, text in texts:
        plan = ops.rename(plan, id, text)
    for id, text in notes:
        plan = ops.note(plan, id, text)
    for id, given in checks:
        plan = ops.set_check(plan, id, given)
    return plan


def _judge(call: Call) -> str:
    """The schema, and what it leaves unsaid to stay short: the keys there are, and how long a text may be."""
    problems = check(call.args, _ACCEPTED)
    args = {}
    if isinstance(call.args, dict):
        args = call.args
    problems += _unknown((), args, PLAN.schema["properties"])
    for verb, given in args.items():
        if verb == "why" and isinstance(given, str):
            problems += check_at(given, _SHORT, ("why",))
        elif isinstance(given, list):
            for index, entry in enumerate(given):
                problems += _entry_problems((verb, index), entry)
    return refusal(PLAN, problems)


def _entry_problems(path: Path, entry: Any) -> list[Problem]:
    """What is wrong with one entry of a verb: an id, or an object that says what to add or edit."""
    if isinstance(entry, int) and path[0] in _BY_ID and is_huge(entry):
        return [Problem(path, "number", "is not an item's id.")]
    known = _KEYS.get(path[0])
    if known is None or not isinstance(entry, dict):
        return []
    found = []
    if known is _EDIT and "id" not in entry:
        found.append(Problem((*path, "id"), "required", "is missing."))
    if known is _EDIT and entry.keys().isdisjoint(("text", "note", "check")):
        found.append(Problem(path, "required", "needs a text, a note or a check."))
    for key in ("text", "note", "notes", "phase", "owner"):
        if isinstance(entry.get(key), str):
            found += check_at(entry[key], _SHORT, (*path, key))
    if "check" in entry:
        found += _check_problems((*path, "check"), entry["check"])
    numbers = [entry.get("id"), entry.get("after"), entry.get("parent")]
    if isinstance(entry.get("needs"), list):
        numbers += entry["needs"]
    if any(isinstance(number, int) and is_huge(number) for number in numbers):
        found.append(Problem(path, "number", "names an id that no item has."))
    return found + _unknown(path, entry, known)


def _check_problems(path: Path, given: object) -> list[Problem]:
    from ..core.checks import read_check

    try:
        read_check(given)
    except Refused as refusal:
        return [Problem(path, "check", f"cannot be read: {refusal}")]
    return []


def _unknown(path: Path, given: dict[str, Any], known: Mapping[str, Schema]) -> list[Problem]:
    found = [key for key in given if key not in known]
    if not found:
        return []
    keys = ", ".join(map(repr, known))
    return [Problem((*path, key), "additionalProperties", f"is not a key; the keys are {keys}.") for key in found]


def _refuse_meaningless(args: dict[str, Any], *, strict_pause: bool) -> None:
    if args.keys() <= {"why"}:
        raise Refused(f"say what to do: {', '.join(name for name in PLAN.schema['properties'] if name != 'why')}.")
    for verb in ("drop", "block"):
        if args.get(verb) and not args.get("why", "").strip():
            raise Refused(f"{verb} needs a why.")
    if "pause" in args:
        problem = pause_problem(args["pause"], strict=strict_pause)
        if problem:
            raise Refused(f"pause: {problem}")


def _entry(index: int, wish: Any) -> dict[str, Any]:
    """What to add, as the operations want it."""
    entry = dict(wish)
    entry["text"] = entry["text"].strip()
    if not entry["text"]:
        raise Refused(f"add[{index}] text must not be empty.")
    for name in ("after", "parent"):
        if name in entry:
            entry[name] = str(entry[name])
    if "needs" in entry:
        entry["needs"] = tuple(dict.fromkeys(map(str, entry["needs"])))
    if "notes" in entry:
        entry["notes"] = (entry["notes"],) if entry["notes"].strip() else ()
    if "check" in entry:
        from ..core.checks import read_check

        entry["check"] = read_check(entry["check"])
    return entry


def _started(plan: Plan, ids: list[str], owner: str) -> Plan:
    if len(ids) > 1 and len({ops.find(plan, id).owner or owner for id in ids}) < len(ids):
        raise Refused(f"start one item at a time, not {', '.join(ids)}; several only if they have different owners.")
    for id in ids:
        plan = ops.start(plan, id, owner=owner)
    return plan


def _closed(plan: Plan, ids: dict[str, list[str]], why: str) -> Plan:
    if "done" in ids:
        plan = ops.complete(plan, *ids["done"])
    if "block" in ids:
        plan = ops.block(plan, *ids["block"], why=why)
    if "drop" in ids:
        plan = ops.drop(plan, *ids["drop"], why=why)
    if "done" in ids:
        _refuse_open_parts(plan, set(ids["done"]))
    return plan


def _refuse_open_parts(plan: Plan, done: set[str]) -> None:
    for item in plan.items:
        if item.parent and item.parent in done and item.status not in CLOSED:
            parts = ", ".join(ops.open_parts(plan, item.parent))
            raise Refused(f"item {item.parent} has open parts {parts}; finish or drop them first.")


def _advanced(plan: Plan, active: Item | None, ids: dict[str, list[str]], call: Call) -> Plan:
    """Begin the next item, if whoever's item was finished has none now. For another session nothing is begun: then it
    is the caller's next."""
    leaving = [id for verb in _CLOSING for id in ids.get(verb, ())]
    if active and active.id in leaving:
        leaving.append(active.id)
    own = _owner(call.agent)
    owner = own
    if leaving:
        owner = ops.find(plan, leaving[-1]).owner
    if call.owner or owner in call.others:
        owner = own
    if plan.busy and not leaving:
        return plan
    if any(item.owner == owner for item in plan.busy):
        return plan
    if leaving or owner or call.others:
        ready = ops.next_ready(plan, owner=owner)
    else:
        ready = ops.next_ready(plan)
    if ready:
        return ops.start(plan, ready.id, owner=owner)
    return plan


def _owner(agent: str) -> str:
    if agent == MAIN:
        return ""
    return agent


def _at_hand(plan: Plan, agent: str) -> Item | None:
    """The item an agent is busy with; the main agent looks after everyone's."""
    owner = _owner(agent)
    busy = plan.busy
    for item in busy:
        if item.owner == owner:
            return item
    if busy and not owner:
        return busy[0]
    return None


# --- the answer ----------------------------------------------------------------------------------------------------


def _reply(turn: Turn) -> Reply:
    added = [change.id for change in turn.changes if change.kind == "added"]
    head = ""
    if added:
        head = f"added {_ranges(added)}; "
    head += _unverified(turn)
    found = counts(turn.plan)
    text = head + digest(turn.plan, turn.call.agent, found, turn.in_user_words)
    if turn.call.args.get("show"):
        text = "\n".join([text, *listing(turn.plan)])
    details = {
        "changes": [_told(change) for change in turn.changes],
        "counts": found,
        "updates": list(turn.updates),
    }
    return Reply(text, text, details=details)


def _unverified(turn: Turn) -> str:
    """What was completed or dropped, and its check was not seen to pass: `done 2, not verified: run "make test"; `."""
    said = ""
    if turn.unverified:
        from ..core.checks import to_do

        said = "".join(f"done {item.id}, not verified: {to_do(item.check)}; " for item in turn.unverified)
    dropped = [change.id for change in turn.changes if _drops_check(change)]
    if dropped:
        said += f"dropped {_ranges(dropped)}, not verified; "
    return said


def _drops_check(change: Change) -> bool:
    if change.kind != "changed" or not change.after.check:
        return False
    return bool(change.before.status != change.after.status == DROPPED)


def digest(plan: Plan, agent: str, found: dict[str, int], whole: frozenset[str] = frozenset()) -> str:
    """Where the work is: `now 6 Write the docs (5/10)`. The text of an item in `whole` is not cut at 60 characters."""
    tail = f"({found[DONE]}/{found['total'] - found[DROPPED]})"
    if plan.paused:
        return f"paused {tail}"
    active = _at_hand(plan, agent)
    if active:
        other = ""
        if active.owner != _owner(agent):
            other = f" @{cut(inline(active.owner), 20)}"  # not its own work
        width = SHOWN
        if active.id in whole:
            width = _WHOLE
        return f"now {active.id} {cut(inline(active.text), width)}{other} {tail}"
    if not plan.items:
        return "the plan is empty"
    left = [item for item in plan.items if item.status not in CLOSED]
    if not left:
        dropped = [item.id for item in plan.items if item.status == DROPPED and item.check]
        if dropped:
            return f"all done {tail}; dropped, not verified: {_ranges(dropped)}"
        return f"all done {tail}"
    ready = ops.next_ready(plan, owner=_owner(agent) or None)
    if ready:
        return f"next {ready.id} {cut(inline(ready.text), SHOWN)} {tail}"
    return f"nothing ready: {cut(', '.join(_waits(plan, item) for item in left), 120)} {tail}"


def _waits(plan: Plan, item: Item) -> str:
    if item.status == BLOCKED:
        return f"{item.id} blocked"
    if item.status == ACTIVE or item.owner:
        return f"{item.id} @{inline(item.owner or MAIN)}"
    needs = ops.open_needs(plan, item)
    if needs:
        return f"{item.id} needs {' '.join(needs)}"
    return f"{item.id} has open parts"


def listing(plan: Plan) -> list[str]:
    """The whole list, a line each."""
    marks = {PENDING: " ", ACTIVE: ">", BLOCKED: "!", DONE: "x", DROPPED: "-"}
    lines: list[str] = []
    phase = ""
    for item in plan.items:
        if item.phase != phase:
            phase = item.phase
            lines.append(f"{inline(phase)}:")
        lines.append(f"[{marks[item.status]}] {item.id} {inline(item.text)}{_asides(item)}")
        lines += [f"    {inline(note)}" for note in item.notes]
    return lines


def _asides(item: Item) -> str:
    said = []
    if item.needs and item.status == PENDING:
        said = [f"needs {' '.join(item.needs)}"]
    if item.owner:
        said.append(f"@{inline(item.owner)}")
    if item.reason:
        said.append(inline(item.reason))
    if item.check and item.status not in CLOSED:
        from ..core.checks import in_words

        said.append(f"check: {in_words(item.check)}")
    if said:
        return f" ({'; '.join(said)})"
    return ""


def counts(plan: Plan) -> dict[str, int]:
    return {**plan.counts, "total": len(plan.items)}


_TOLD = ("text", "status", "reason", "phase", "owner")  # fields of a changed item that the details of an answer name
_told_of = attrgetter(*_TOLD)


def _told(change: Change) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": change.kind, "id": change.id}
    if change.kind == "changed":
        old, new = change.before, change.after
        for name in compress(_TOLD, map(ne, _told_of(old), _told_of(new))):
            told[name] = [getattr(old, name), getattr(new, name)]
    elif change.kind in ("added", "removed"):
        item: Item = change.after or change.before
        told |= {"text": item.text, "status": item.status}
    return told


def _ranges(ids: Sequence[str]) -> str:
    """`1-3 7`"""
    runs: list[list[int]] = []
    for number in map(int, ids):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return " ".join("-".join(map(str, run)) for run in runs)


DIALECT = Dialect(
    name="native",
    tools=(PLAN,),
    apply=_apply,
    reply=_reply,
    rules=Rules(max_items=10_000, owns=True),
    guide=OURS,
    judge=_judge,
    read=_read,
    asked=_asked,
    tolerant=True,
    tells_unverified=True,
    system="native.system",
)
