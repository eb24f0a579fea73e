"""Conversations in short: `say*6` is six turns of an assistant that talks, `write` one that writes its list."""

from __future__ import annotations

from typing import Any

from punchlist.dialects import load
from punchlist.policy.conversation import Tally, read, tally


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}}


def say(text: str = "Working on it.") -> dict[str, Any]:
    return assistant({"type": "text", "text": text})


def use(name: str, given: object = None, id: str = "t1") -> dict[str, Any]:
    return assistant({"type": "tool_use", "id": id, "name": name, "input": given or {}})


def result(text: str = "ok", *, failed: bool = False, id: str = "t1") -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def user(text: str = "Go on.") -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def reminded() -> dict[str, Any]:
    return {"type": "attachment", "attachment": {"type": "todo_reminder", "content": [], "itemCount": 0}}


def tools(dialect: str) -> list[str]:
    return [tool.name for tool in load(dialect).tools]


def heard(dialect: str, *said: Any) -> Tally:
    """What a conversation says about the plan in it."""
    return tally(read(conversation(dialect, *said), load(dialect).guide.marks), tools(dialect))


def conversation(dialect: str, *said: Any) -> list[Any]:
    """Entries; a word with `*N` stands for N of them, anything but a word for itself."""
    entries: list[Any] = []
    for one in said:
        word, _, times = one.partition("*") if isinstance(one, str) else (one, "", "")
        entries += [_entry(dialect, word)] * int(times or 1)
    return entries


def _entry(dialect: str, word: Any) -> Any:
    write = tools(dialect)[0]
    words = {
        "say": lambda: say(),
        "ask": lambda: say("Which of the two do you want?"),
        "think": lambda: assistant({"type": "thinking", "thinking": "Hm."}),
        "work": lambda: use("Bash", {"command": "make"}),
        "write": lambda: use(write, {"todos": []}),
        "result": lambda: result(),
        "failure": lambda: result("no", failed=True),
        "user": lambda: user(),
        "reminded": lambda: reminded(),
    }
    return words[word]() if isinstance(word, str) and word in words else word
