"""MCP prompts: what a user runs from the agent's own list of commands, such as `/mcp__punchlist__done 3`.

A prompt that edits is carried out as the user's edit where the agent asks for a prompt only when its user runs it.
Other clients may ask for it to show or to fill in a template, so there it is a request to the model, and changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core import ops
from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.errors import Refused
from ..core.model import ACTIVE, BLOCKED, DONE, DROPPED, USER, Item, Plan
from ..core.sentences import tell
from ..core.text import WHOLE, counted, cut, inline, quoted
from ..desk.visible import visible
from ..local.files import time_text
from ..policy.stop_words import STOP_HERE
from ..policy.wording import closing, restored
from ..prompts import say

if TYPE_CHECKING:
    from ..desk import Desk
    from ..desk.verification import Result

    Message = dict[str, Any]

WORDS = 60  # words of a text that an agent passes one by one, named by their numbers: it shows all the names
_SHOWN = 100  # items in one text
_CHECK_SECONDS = 45.0  # for all checks together: clients give up after 60
_ON = "Carry on with what you were doing; if that was nothing, just confirm it."
_SHOW = "Show it to the user as it is here, and start nothing because of it."
_PAUSED = "the user asked for it"
_STATES = {DONE: "done ", DROPPED: "dropped ", ACTIVE: "now ", BLOCKED: "blocked "}


class Argument(NamedTuple):
    """One argument of a prompt. All are listed as required: Gemini CLI drops what is typed for one that is not."""

    name: str
    about: str
    is_text: bool = False  # whether it is all that is left of what was typed
    may_miss: bool = False  # whether there is something to do without it


class Prompt(NamedTuple):
    """What a client lists, and what is asked of the model where we do not carry it out."""

    title: str
    about: str
    request: str = ""  # empty: not listed where it cannot be carried out
    arguments: tuple[Argument, ...] = ()
    bare: str = ""  # the request without the argument that can be left out


_ID = Argument("id", "the id of an item, or a part of its text")
PROMPTS = {
    "show": Prompt("Show the plan", "show the plan as it is now", "-"),
    "add": Prompt(
        "Add to the plan",
        "add an item to the plan",
        "Add this to the plan: {text}.",
        (Argument("text", "what is to be done", is_text=True),),
    ),
    "start": Prompt(
        "Start an item",
        "start an item of the plan; without an id the next one",
        "Start this item of the plan: {id}.",
        (_ID._replace(may_miss=True),),
        "Start the next item of the plan.",
    ),
    "done": Prompt(
        "Mark an item as done",
        "mark an item of the plan as done; without an id the one being worked on",
        "Mark this item of the plan as done: {id}.",
        (_ID._replace(may_miss=True),),
        "Mark the item of the plan that you are working on as done.",
    ),
    "drop": Prompt(
        "Drop an item",
        "drop an item of the plan, and say why",
        "Drop this item of the plan: {id}. The reason: {why}.",
        (_ID, Argument("why", "why it is dropped", is_text=True)),
    ),
    "pause": Prompt(
        "Pause the work",
        "pause the work on the plan: the agent may stop",
        "Pause the work on the plan: {reason}. Then stop.",
        (Argument("reason", "why", is_text=True, may_miss=True),),
        "Pause the work on the plan, then stop.",
    ),
    "resume": Prompt("Resume the work", "end the pause, and carry on with the plan", "Carry on with the plan."),
    "verify": Prompt(
        "Verify the plan",
        "run the checks of the plan that you have approved",
        "Run the checks of the items of the plan that are done, and say which of them pass.",
    ),
    "undo": Prompt("Undo", "undo the last change to the plan"),
}


def listed(*, at_once: bool, splits: bool) -> list[Message]:
    """Return the prompts as a client lists them. `at_once`: whether they are carried out when they are asked for.
    `splits`: whether the client gives each argument one word, so that a text needs many."""
    return [_described(name, prompt, splits) for name, prompt in PROMPTS.items() if at_once or prompt.request]


def _described(name: str, prompt: Prompt, splits: bool) -> Message:
    found: Message = {"name": name, "title": prompt.title, "description": prompt.about}
    arguments = []
    for one in prompt.arguments:
        arguments.append({"name": one.name, "description": one.about, "required": True})
        if one.is_text and splits:
            arguments += [{"name": str(number), "required": False} for number in range(2, WORDS + 1)]
    if arguments:
        found["arguments"] = arguments
    return found


def get(desk: Desk, name: str, given: Mapping[str, str], *, at_once: bool) -> str:
    """Return what the model is told when a user runs a prompt. `at_once`: carry it out now. Raises Refused and
    StoreError; nothing is changed then."""
    values = _values(name, given)
    if name == "show":
        return _show(desk, at_once=at_once)
    if at_once:
        return _CARRY_OUT[name](desk, values)
    prompt = _of(name)
    if not prompt.request:
        raise Refused(f"{name} is not possible from here; run `punchlist {name}` in a terminal.")
    if prompt.bare and not any(values.values()):
        return prompt.bare
    return prompt.request.format_map({name: quoted(value) for name, value in values.items()})


def complete(desk: Desk, value: str) -> list[str]:
    """Return the ids of open items that begin with a value, or whose text has it."""
    wanted = value.strip().casefold()
    found = [item.id for item in desk.plan.open_items if item.id.startswith(wanted) or wanted in item.text.casefold()]
    return found


# --- arguments -------------------------------------------------------------------------------------------------------


def _of(name: str) -> Prompt:
    found = PROMPTS.get(name)
    if found is None:
        raise Refused(f"no prompt {cut(inline(name), 60)!r}; the prompts are {', '.join(PROMPTS)}.")
    return found


def _values(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """The arguments by name, without spaces around them; words that came one by one are one text again. Raises
    Refused."""
    found: dict[str, str] = {}
    known = _of(name).arguments
    for one in known:
        words = [given.get(one.name, "")]
        if one.is_text:
            words += [given.get(str(number), "") for number in range(2, WORDS + 1)]
        found[one.name] = " ".join(word.strip() for word in words if word.strip())
    missing = [one for one in known if not one.may_miss and not found[one.name]]
    if missing:
        raise Refused("\n".join(f"argument {one.name!r} is missing: {one.about}." for one in missing))
    return found


# --- what is carried out ---------------------------------------------------------------------------------------------


def _show(desk: Desk, *, at_once: bool) -> str:
    from ..desk.updates import take_updates

    plan = visible(desk, desk.plan)
    news: list[str] = []
    if at_once:
        on_list = [item.id for item in plan.items[:_SHOWN]]
        news = [_begun(line) for line in take_updates(desk, ids=_ids(desk), shown=on_list)]
    if not plan.items:
        return " ".join([*news, "There is no plan yet."])
    done = plan.progress
    lines = [_line(item) for item in plan.items[:_SHOWN]]
    if len(plan.items) > _SHOWN:
        lines.append(f"and {counted(len(plan.items) - _SHOWN, 'more item')}")
    head = say("mcp.show", done=str(done.completed), total=str(done.total), list="\n".join(lines))
    return "\n".join([*news, head, closing(plan, _SHOW)])


def _line(item: Item) -> str:
    words = _STATES.get(item.status, "")
    why = ""
    if item.reason:
        why = f": {cut(inline(item.reason), WHOLE)}"
    return f"- {words}{item.id} {cut(inline(item.text), WHOLE)}{why}"


def _add(desk: Desk, values: Mapping[str, str]) -> str:
    return _edit(desk, lambda plan: ops.add(plan, values["text"]))


def _start(desk: Desk, values: Mapping[str, str]) -> str:
    def started(plan: Plan) -> Plan:
        if values["id"]:
            return ops.start(plan, ops.resolve(plan, values["id"]))
        item = ops.next_ready(plan)
        if item is None:
            raise Refused("no item can be started.")
        return ops.start(plan, item.id)

    return _edit(desk, started)


def _done(desk: Desk, values: Mapping[str, str]) -> str:
    def completed(plan: Plan) -> Plan:
        if values["id"]:
            return ops.complete(plan, *ops.resolve_all(plan, [values["id"]]))
        if plan.active is None:
            raise Refused("no item is being worked on; name one by its id.")
        return ops.complete(plan, plan.active.id)

    return _edit(desk, completed)


def _drop(desk: Desk, values: Mapping[str, str]) -> str:
    return _edit(desk, lambda plan: ops.drop(plan, *ops.resolve_all(plan, [values["id"]]), why=values["why"]))


def _pause(desk: Desk, values: Mapping[str, str]) -> str:
    return _edit(desk, lambda plan: ops.pause(plan, values["reason"] or _PAUSED, time_text()), STOP_HERE)


def _resume(desk: Desk, values: Mapping[str, str]) -> str:
    from ..desk.holding import release

    release(desk)
    news = _edit(desk, ops.resume, "")
    plan = desk.plan
    return "\n".join(part for part in (news, restored(plan, ids=_ids(desk))) if part) or "There is no plan yet."


def _undo(desk: Desk, values: Mapping[str, str]) -> str:
    from ..desk.undone_approvals import revoke_undone

    changed = desk.undo()
    revoke_undone(changed)
    return _told(desk, changed.before, changed.plan, _ON)


def _edit(desk: Desk, edit: Callable[[Plan], Plan], words: str = _ON) -> str:
    """Make the user's change. What it was is said in the words of an update, with what the model had not been told
    yet; it is not told again."""
    changed = desk.change(edit)
    return _told(desk, changed.before, changed.plan, words)


def _told(desk: Desk, before: Plan, after: Plan, words: str) -> str:
    from ..core.diff import diff

    ids = _ids(desk)
    news = desk.take_updates(ids=ids) or tell(diff(before, after), USER, after, ids=ids)
    if not news and words:
        news = ["nothing changed."]
    following = words
    if words == _ON:
        following = closing(after, words)
    return " ".join([*map(_begun, news), following]).strip()


def _verify(desk: Desk, values: Mapping[str, str]) -> str:
    from time import monotonic

    from ..checks.approvals import load
    from ..desk.verification import jobs_of, run_job

    plan = desk.plan
    jobs = jobs_of(item for item in plan.items if item.check and not item.waived and item.status != DROPPED)
    if not jobs:
        return "No item of the plan has a check to run. Say so to the user."
    known = load()
    end = monotonic() + _CHECK_SECONDS
    lines: list[str] = []
    for job in jobs:
        left = end - monotonic()
        if not known.has(job.check, job.folder):
            said = "not run: the user has not approved the command; `punchlist verify` in a terminal asks"
        elif left <= 0:
            said = "not run: there was no time left; `punchlist verify` in a terminal runs all"
        else:
            said = _result(run_job(desk, plan, job, seconds=left))
        lines += [f"- {item.id} {quoted(item.text)}: {said}" for item in job.items]
    return say("mcp.verify", list="\n".join(lines[:_SHOWN]))


def _result(result: Result) -> str:
    why = ""
    if result.why:
        why = f" ({cut(inline(result.why), WHOLE)})"
    return f"{result.state}{why}"


def _ids(desk: Desk) -> bool:
    return desk._seat.guide.knows_ids


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


_CARRY_OUT: dict[str, Callable[[Desk, Mapping[str, str]], str]] = {
    "add": _add,
    "start": _start,
    "done": _done,
    "drop": _drop,
    "pause": _pause,
    "resume": _resume,
    "verify": _verify,
    "undo": _undo,
}
