"""What the end of an agent's log says of a stop."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from punchlist.hosts.agent_log import Log, recalled
from punchlist.policy.continuation import TurnEnd

LOG = Log(lambda entry: entry, cut="[interrupted", refusals=("Permission to use",))
REFUSED = {
    "type": "tool_result",
    "tool_use_id": "t1",
    "is_error": True,
    "content": "Permission to use Bash was denied.",
}


def lines(*entries: tuple[str, Any]) -> str:
    said = [{"type": who, "message": {"role": who, "content": content}} for who, content in entries]
    return "".join(json.dumps(entry) + "\n" for entry in said)


ASKED = lines(("user", "Mend it."), ("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]))
ENDED = lines(("user", [REFUSED]), ("assistant", [{"type": "text", "text": "I may not."}]))


def test_the_last_words_of_an_agent_that_writes_its_log_late_are_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(ASKED)
    monkeypatch.setattr(time, "sleep", lambda _: log.write_text(ASKED + ENDED))  # the agent writes meanwhile
    assert recalled(str(log), LOG, TurnEnd(said="I may not.")).refused


def test_words_that_never_come_are_waited_for_a_moment_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(ASKED + ENDED)
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    assert recalled(str(log), LOG, TurnEnd(said="Something else.")).refused
    assert 0 < sum(waits) < 1
    waits.clear()
    for stop in (TurnEnd(said="I may not."), TurnEnd()):
        assert recalled(str(log), LOG, stop).refused
    assert waits == []
