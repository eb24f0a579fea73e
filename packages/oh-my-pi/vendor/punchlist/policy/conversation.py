"""What a conversation says about the plan in it: how long ago it was written, who spoke last, what was asked.

Programs have their own forms for messages: `read` turns those of agents and providers into entries, `tally` folds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..core._typing import Any, NamedTuple
from ..prompts import say
from .wording import wrapped

REMINDER = "todo_reminder"  # the kind of a message that reminds
FAILED = "todo-write-error-reminder"  # of one that says that a plan call failed
_THINKING = ("thinking", "redacted_thinking", "reasoning")
_TEXTS = ("text", "output_text", "input_text")
_CALLS = ("tool_use", "toolCall", "tool_call")
# How agents let the names of a server's tools begin, with single underscores; a plugin may bring the server.
_SERVED = ("mcp_punchlist_", "punchlist_", "mcp_plugin_punchlist_punchlist_", "mcp_punchlist_punchlist_")


class ModelSaid(NamedTuple):
    """One turn of the model: its words, and the tools that it called, each as a name and an id."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()


class UserSaid(NamedTuple):
    """Words of the user."""

    text: str


class ToolResult(NamedTuple):
    """The result of a call: of the one with this id, else of this tool, else of the last one."""

    id: str = ""
    tool: str = ""
    failed: bool = False
    refused: bool = False  # it was not permitted


class Told(NamedTuple):
    """Guidance that the model was given."""

    kind: str


Entry = ModelSaid | UserSaid | ToolResult | Told


class Marks(NamedTuple):
    """By which words our guidance is found where a program keeps it as words of the user."""

    reminder: str = "plan.reminder"  # the name of the prompt
    failed: str = ""  # the same, of what is told after a plan call failed
    wrapper: str = "system-reminder"


class Tally(NamedTuple):
    """What a conversation says about the plan in it."""

    turns: int = 0  # of the assistant
    since_write: int = 0  # turns; the one that wrote the plan is the first
    since_reminder: int = 0
    reminders: int = 0  # since the plan was written
    written: bool = False
    failed: bool = False  # whether the last plan call failed, and nobody has told
    said: str = ""  # the assistant's last words, if nobody has spoken since
    asked: str = ""  # the user's last words
    question: bool = False  # whether a question was put to the user with a tool, and is not answered
    refused: bool = False  # whether a call was not permitted, and neither the user nor a plan call came after it


def tally(entries: Iterable[Entry], tools: Sequence[str], asking: Sequence[str] = ()) -> Tally:
    """Fold a conversation, oldest entry first, in constant memory. `tools`: those of the plan; `asking`: those that put
    a question to the user."""
    running = RunningTally(tools, asking)
    running.add(entries)
    return running.tally()


def read(messages: Iterable[object], marks: Marks = Marks(), refusals: Sequence[str] = ()) -> Iterator[Entry]:  # noqa: B008
    """Read messages of an agent's log or of a provider's API. What is not a message is passed over, and what a
    sub-agent said in between. `refusals`: words in the result of a call that was not permitted."""
    known = _known(marks)
    for message in messages:
        if isinstance(message, dict) and message.get("isSidechain") is not True:
            yield from _read(message, known, refusals)


# --- folding ---------------------------------------------------------------------------------------------------------


class RunningTally:
    """What was said so far. It changes with every entry: conversations are long, and this is asked at every turn."""

    __slots__ = (
        "asked",
        "asking",
        "failed",
        "latest",
        "names",
        "ours",
        "question",
        "refused",
        "reminded",
        "reminders",
        "said",
        "served",
        "turns",
        "written",
        "wrote",
    )

    def __init__(self, tools: Sequence[str], asking: Sequence[str] = ()) -> None:
        self.names, self.asking = frozenset(tools), frozenset(asking)
        self.served = frozenset(f"{start}{tool}" for start in _SERVED for tool in tools)
        self.turns = self.wrote = self.reminded = self.reminders = 0  # wrote, reminded: how many turns before that
        self.written = self.failed = self.refused = False
        self.said = self.asked = ""
        self.ours: set[str] = set()  # calls of the plan in the last message that has any
        self.question: set[str] = set()  # calls that ask the user and have no result yet
        self.latest = False  # whether the last message with calls has one of the plan

    def tally(self) -> Tally:
        since = (self.turns - self.wrote, self.turns - self.reminded)
        told = Tally(self.turns, *since, self.reminders, self.written, self.failed, self.said, self.asked)
        return told._replace(question=bool(self.question), refused=self.refused)

    def add(self, entries: Iterable[Entry]) -> None:
        """Take in what was said since."""
        for entry in entries:
            if isinstance(entry, ModelSaid):
                self.add_turn(entry)
            elif isinstance(entry, ToolResult):
                self.add_result(entry)
            elif isinstance(entry, Told):
                self.add_told(entry.kind)
            else:
                self.add_words(entry.text)

    def add_turn(self, turn: ModelSaid) -> None:
        self.turns += 1
        if turn.text or turn.calls:
            self.said = turn.text
        if not turn.calls:
            return
        mine = [id for name, id in turn.calls if self._is_plan(name)]
        self.latest = bool(mine)
        if self.asking:
            self.question.update(id for name, id in turn.calls if name in self.asking)
        if mine:
            self.refused = False
            self.wrote, self.reminders, self.written = self.turns - 1, 0, True
            self.ours = {id for id in mine if id}

    def add_result(self, result: ToolResult) -> None:
        self.question.discard(result.id)
        if result.refused:
            self.refused = True
        if result.id:
            is_plan = result.id in self.ours
        elif result.tool:
            is_plan = self._is_plan(result.tool)
        else:
            is_plan = self.latest
        if is_plan:
            self.failed = result.failed

    def add_told(self, kind: str) -> None:
        if kind == REMINDER:
            self.reminded, self.reminders = self.turns, self.reminders + 1
        elif kind == FAILED:
            self.failed = False

    def add_words(self, text: str) -> None:
        self.asked, self.said = text, ""  # a question is answered
        self.question.clear()
        self.refused = False

    def _is_plan(self, name: str) -> bool:
        """Whether a tool of this name is one of the plan's, as such or as an MCP server's."""
        return name in self.names or name.replace("__", "_") in self.served


# --- reading ---------------------------------------------------------------------------------------------------------


class _Known(NamedTuple):
    """Texts of ours, by which they are found again."""

    opening: str
    closing: str
    texts: tuple[tuple[str, tuple[str, ...]], ...]  # the kind of each, and what is between the values in it


def _known(marks: Marks) -> _Known:
    opening, closing = wrapped("\0", marks.wrapper).split("\0")
    named = [(REMINDER, marks.reminder), *([(FAILED, marks.failed)] if marks.failed else [])]
    texts = [(kind, tuple([piece.rpartition("}")[2] for piece in say(name).split("{")])) for kind, name in named]
    return _Known(opening, closing, tuple(texts))


def _read(message: dict[str, Any], known: _Known, refusals: Sequence[str]) -> list[Entry]:
    inner = message.get("message")
    if not isinstance(inner, dict):
        inner = message
    roles = (message.get("type"), inner.get("role"), message.get("role"))
    if "assistant" in roles:
        return _model_said(inner)
    attachment = message.get("attachment")
    if isinstance(attachment, dict):
        return [Told(_text(attachment.get("type")))]
    found: list[Entry] = []
    if roles[1] in ("toolResult", "tool"):
        tool = _text(inner.get("toolName", inner.get("name")))
        if tool:
            found.append(ToolResult("", tool, bool(inner.get("isError", inner.get("is_error")))))
    texts: list[str] = []
    for part in _parts(inner.get("content")):
        kind = part.get("type")
        if kind == "tool_result":
            found.append(_result(part, refusals))
        elif kind in _TEXTS:
            _gather(part, texts)
    if texts:
        found += _user_said(texts, known, "user" in roles and not message.get("isMeta"))
    return found


def _model_said(inner: dict[str, Any]) -> list[Entry]:
    texts: list[str] = []
    calls: list[tuple[str, str]] = []
    content = inner.get("content")
    only_thinks = bool(content) and isinstance(content, list)
    for part in _parts(content):
        kind = part.get("type")
        if kind in _THINKING:
            continue
        only_thinks = False
        if kind in _CALLS:
            calls.append((_text(part.get("name")), _text(part.get("id"))))
        elif kind in _TEXTS:
            _gather(part, texts)
    if "tool_calls" in inner:
        calls += _functions(inner["tool_calls"])
    if calls or not only_thinks:
        return [ModelSaid("\n".join(texts), calls)]
    return []


def _result(part: dict[str, Any], refusals: Sequence[str]) -> ToolResult:
    id = part.get("tool_use_id")
    failed = bool(part.get("is_error"))
    if id is None:  # what is not a text is the id of no call
        unknown = ""
    else:
        unknown = "?"
    return ToolResult(
        id if isinstance(id, str) and id else unknown,
        "",
        failed,
        failed and bool(refusals) and _is_refusal(part.get("content"), refusals),
    )


def _is_refusal(content: object, refusals: Sequence[str]) -> bool:
    texts: list[str] = []
    for part in _parts(content):
        _gather(part, texts)
    return any(words in text for text in texts for words in refusals)


def _user_said(texts: list[str], known: _Known, is_user: bool) -> Iterator[Entry]:
    """The words of a message, without guidance of ours at their beginning: not everybody keeps that apart."""
    first = texts[0]
    if first.startswith(known.opening):
        told, found, rest = first[len(known.opening) :].partition(known.closing)
        rest = rest.strip()
        kind = ""
        if found:
            kind = _kind(told, known)
        if kind or (found and not rest):
            yield Told(kind)
            texts = texts[1:]
            if rest:
                texts = [rest, *texts]
    if texts and is_user:
        yield UserSaid("\n".join(texts))


def _kind(text: str, known: _Known) -> str:
    """Which text of ours this is, whatever values it was said with; empty if none."""
    for kind, pieces in known.texts:
        if _is_said(text, pieces):
            return kind
    return ""


def _is_said(text: str, pieces: Sequence[str]) -> bool:
    at = 0
    for piece in pieces:
        at = text.find(piece, at) + len(piece)
        if at < len(piece):
            return False
    return text.startswith(pieces[0])


def _parts(content: object) -> list[dict[str, Any]]:
    """What a message consists of: texts, calls, results. Strings are texts."""
    if isinstance(content, list):
        parts: list[dict[str, Any]] = []
        for part in content:
            if isinstance(part, dict):
                parts.append(part)
            elif isinstance(part, str):
                parts.append({"type": "text", "text": part})
        return parts
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return []


def _gather(part: dict[str, Any], texts: list[str]) -> None:
    words = part.get("text")
    if isinstance(words, str) and words.strip():
        texts.append(words)


def _functions(calls: object) -> list[tuple[str, str]]:
    """Calls as OpenAI spells them."""
    if not isinstance(calls, list):
        return []
    found = [(call, call.get("function")) for call in calls if isinstance(call, dict)]
    return [(_text(one.get("name")), _text(call.get("id"))) for call, one in found if isinstance(one, dict)]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return ""
