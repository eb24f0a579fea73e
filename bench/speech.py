"""One plan told in every dialect: the calls that a model makes to create it and to work it off, item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Call = tuple[str, dict[str, Any]]  # the tool's name and its arguments

_DOING = (
    ("Add", "Adding"), ("Fix", "Fixing"), ("Move", "Moving"), ("Test", "Testing"), ("Document", "Documenting"),
    ("Rewrite", "Rewriting"), ("Measure", "Measuring"),
)  # fmt: skip
_WHAT = (
    "the login form", "retry logic", "the SQLite migration", "rate limits", "the upload endpoint", "the config loader",
    "session expiry", "the search index", "CSV export", "the webhook handler", "error messages",
)  # fmt: skip
_HOW = (
    "so that dropped connections resume where they stopped", "for users who signed up without a password",
    "in src/api/client.py and src/api/retry_policy.py", "and remove the old code path it replaced",
    "on Windows", "with a regression test for each reported case", "behind a flag that is off by default",
    "without changing the interface that plugins rely on", "",
)  # fmt: skip


class Text(NamedTuple):
    """What is to be done, said in both ways."""

    todo: str  # "Run the tests"
    doing: str  # "Running the tests"


def texts(count: int) -> list[Text]:
    """Different texts of 2 to 12 words; the first `n` of a longer list are those of a shorter one."""
    found = []
    for index in range(count):
        (verb, gerund), rest = _DOING[index % 7], f"{_WHAT[index % 11]} {_HOW[index % 9]}".rstrip()
        found.append(Text(f"{verb} {rest}", f"{gerund} {rest}"))
    return found


class Dialect(NamedTuple):
    """How one tool schema creates a plan, and finishes an item and begins the next."""

    name: str
    create: Callable[[list[Text]], Iterator[Call]]
    advance: Callable[[list[Text], int], Iterator[Call]]  # the number of items that are done now


def _whole_list(tool: str, key: str, entry: Callable[[int, Text, str], dict[str, Any]]) -> dict[str, Any]:
    """A schema that knows one thing to say: the whole list again."""

    def resend(plan: list[Text], done: int) -> Iterator[Call]:
        statuses = ["completed"] * done + ["in_progress"] + ["pending"] * len(plan)
        yield tool, {key: [entry(index, text, statuses[index]) for index, text in enumerate(plan)]}

    return {"create": lambda plan: resend(plan, 0), "advance": resend}


def _native_create(plan: list[Text]) -> Iterator[Call]:
    yield "plan", {"add": [{"text": text.todo} for text in plan]}


def _native_advance(plan: list[Text], done: int) -> Iterator[Call]:
    yield "plan", {"done": [done]}


def _ops_create(plan: list[Text]) -> Iterator[Call]:
    yield "todo_write", {"ops": [{"op": "init", "list": [{"phase": "Work", "items": [text.todo for text in plan]}]}]}


def _ops_advance(plan: list[Text], done: int) -> Iterator[Call]:
    yield "todo_write", {"ops": [{"op": "done", "task": plan[done - 1].todo}]}


def _tasks_create(plan: list[Text]) -> Iterator[Call]:
    for text in plan:
        yield "TaskCreate", {"subject": text.todo, "description": text.todo, "activeForm": text.doing}
    yield "TaskUpdate", {"taskId": "1", "status": "in_progress"}


def _tasks_advance(plan: list[Text], done: int) -> Iterator[Call]:
    yield "TaskUpdate", {"taskId": str(done), "status": "completed"}
    if done < len(plan):
        yield "TaskUpdate", {"taskId": str(done + 1), "status": "in_progress"}


def _with_active_form(_: int, text: Text, status: str) -> dict[str, Any]:
    return {"content": text.todo, "status": status, "activeForm": text.doing}


NATIVE = Dialect("native", _native_create, _native_advance)
WHOLE_LIST = (
    Dialect("claude-code", **_whole_list("TodoWrite", "todos", _with_active_form)),
    Dialect("gencode", **_whole_list("TodoWrite", "todos", _with_active_form)),
    Dialect("llxprt", **_whole_list("todo_write", "todos", lambda i, text, status: {
        "id": str(i + 1), "content": text.todo, "status": status})),
    Dialect("codex", **_whole_list("update_plan", "plan", lambda _, text, status: {
        "step": text.todo, "status": status})),
    Dialect("gemini", **_whole_list("write_todos", "todos", lambda _, text, status: {
        "description": text.todo, "status": status})),
    Dialect("opencode", **_whole_list("todowrite", "todos", lambda _, text, status: {
        "content": text.todo, "status": status, "priority": "medium"})),
)  # fmt: skip
BY_ITEM = (
    NATIVE,
    Dialect("oh-my-pi", _ops_create, _ops_advance),
    Dialect("claude-tasks", _tasks_create, _tasks_advance),
)
EVERY = (*BY_ITEM, *WHOLE_LIST)
