"""What a conversation tells: who spoke last, what was asked, how long ago the plan was written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..core._typing import Any, NamedTuple
from .wording import after_reminder

REMINDER = "todo_reminder"  # the type of an attachment that reminds
FAILED = "todo-write-error-reminder"  # of one that says that a plan call failed
_THINKING = ("thinking", "redacted_thinking", "reasoning")
_TEXTS = ("text", "output_text", "input_text")
_CALLS = ("tool_use", "toolCall", "tool_call")


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


def tally(
    entries: Iterable[object], tools: Sequence[str], asking: Sequence[str] = (), refusals: Sequence[str] = ()
) -> Tally:
    """Fold a conversation, oldest entry first, in constant memory. What is not a message is skipped, and what a
    sub-agent said in between. `asking`: tools that put a question to the user; `refusals`: words in the result of a
    call that was not permitted."""
    heard = _Heard(tools, asking, refusals)
    for entry in entries:
        if isinstance(entry, dict) and entry.get("isSidechain") is not True:
            heard.take(entry)
    return heard.tally()


# --- inside ----------------------------------------------------------------------------------------------------------


class _Heard:
    """What was heard so far. It changes with every entry: conversations are long, and this is asked at every turn."""

    __slots__ = (
        "asked",
        "asking",
        "endings",
        "failed",
        "latest",
        "names",
        "ours",
        "question",
        "refusals",
        "refused",
        "reminded",
        "reminders",
        "said",
        "turns",
        "written",
        "wrote",
    )

    def __init__(self, tools: Sequence[str], asking: Sequence[str], refusals: Sequence[str]) -> None:
        self.names, self.asking = frozenset(tools), frozenset(asking)
        self.refusals, self.refused = tuple(refusals), False
        self.endings = tuple(f"_{tool}" for tool in tools)  # as an MCP server of ours offers them
        self.turns = self.wrote = self.reminded = self.reminders = 0  # wrote, reminded: how many turns before that
        self.written = self.failed = False
        self.said = self.asked = ""
        self.ours: set[str] = set()  # calls of the plan in the last message that has any
        self.question: set[str] = set()  # calls that ask the user and have no result yet
        self.latest = False  # whether the last message with calls has one of the plan

    def tally(self) -> Tally:
        since = (self.turns - self.wrote, self.turns - self.reminded)
        told = Tally(self.turns, *since, self.reminders, self.written, self.failed, self.said, self.asked)
        return told._replace(question=bool(self.question), refused=self.refused)

    def take(self, entry: dict[str, Any]) -> None:
        message = entry.get("message")
        inner: dict[str, Any] = message if isinstance(message, dict) else entry
        kind, role = entry.get("type"), inner.get("role")
        if kind == "assistant" or role == "assistant" or entry.get("role") == "assistant":
            self._assistant(inner)
            return
        attachment = entry.get("attachment")
        if isinstance(attachment, dict):
            self._attached(attachment.get("type"))
            return
        if role in ("toolResult", "tool") and self._is_plan(inner.get("toolName", inner.get("name"))):
            self.failed = bool(inner.get("isError", inner.get("is_error")))
        texts = self._unreminded(self._user(inner.get("content")))
        if texts and (kind == "user" or role == "user" or entry.get("role") == "user") and not entry.get("isMeta"):
            self.asked, self.said = "\n".join(texts), ""  # a question is answered
            self.question.clear()
            self.refused = False

    def _attached(self, type: object) -> None:
        if type == REMINDER:
            self.reminded, self.reminders = self.turns, self.reminders + 1
        elif type == FAILED:
            self.failed = False

    def _unreminded(self, texts: list[str]) -> list[str]:
        """The texts without a reminder of ours at their beginning, which is counted: not everybody has attachments."""
        rest = after_reminder(texts[0]) if texts else None
        if rest is None:
            return texts
        self._attached(REMINDER)
        return [rest, *texts[1:]] if rest else texts[1:]

    def _assistant(self, inner: dict[str, Any]) -> None:
        texts: list[str] = []
        calls: list[dict[str, Any]] = []
        content = inner.get("content")
        only_thinks = bool(content) and isinstance(content, list)
        for part in _parts(content):
            kind = part.get("type")
            if kind in _THINKING:
                continue
            only_thinks = False
            if kind in _CALLS:
                calls.append(part)
            elif kind in _TEXTS:
                _gather(part, texts)
        if "tool_calls" in inner:
            calls += _functions(inner["tool_calls"])
        if only_thinks and not calls:
            return
        self.turns += 1
        self.said = "\n".join(texts) or ("" if calls else self.said)
        mine = [call for call in calls if self._is_plan(call.get("name"))]
        self.latest = bool(mine) if calls else self.latest
        if self.asking:
            self.question.update(str(call.get("id")) for call in calls if str(call.get("name")) in self.asking)
        if mine:
            self.refused = False
            self.wrote, self.reminders, self.written = self.turns - 1, 0, True
            self.ours = {id for call in mine if isinstance(id := call.get("id"), str)}

    def _user(self, content: object) -> list[str]:
        """The texts of a message that is not the assistant's; the result of a plan call in it is noted."""
        texts: list[str] = []
        for part in _parts(content):
            kind = part.get("type")
            if kind == "tool_result":
                id = part.get("tool_use_id")
                if self.question:
                    self.question.discard(str(id))
                if part.get("is_error") and self._is_refusal(part.get("content")):
                    self.refused = True
                if id in self.ours if isinstance(id, str) else id is None and self.latest:
                    self.failed = bool(part.get("is_error"))
            elif kind in _TEXTS:
                _gather(part, texts)
        return texts

    def _is_refusal(self, content: object) -> bool:
        texts: list[str] = []
        for part in _parts(content):
            _gather(part, texts)
        return any(words in text for text in texts for words in self.refusals)

    def _is_plan(self, name: object) -> bool:
        """Whether a tool of this name is one of the plan's, as such or as an MCP server's."""
        if not isinstance(name, str):
            return False
        return name in self.names or ("punchlist" in name and name.replace("__", "_").endswith(self.endings))


def _parts(content: object) -> list[dict[str, Any]]:
    """What a message consists of: texts, calls, results. Strings are texts."""
    if isinstance(content, list):
        return [_text(part) if isinstance(part, str) else part for part in content if isinstance(part, (dict, str))]
    return [_text(content)] if isinstance(content, str) else []


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _gather(part: dict[str, Any], texts: list[str]) -> None:
    words = part.get("text")
    if isinstance(words, str) and words.strip():
        texts.append(words)


def _functions(calls: object) -> list[dict[str, Any]]:
    """Calls as OpenAI spells them."""
    if not isinstance(calls, list):
        return []
    found = [(call, call.get("function")) for call in calls if isinstance(call, dict)]
    return [{"name": one.get("name"), "id": call.get("id")} for call, one in found if isinstance(one, dict)]
