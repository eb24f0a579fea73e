"""What the end of an agent's log says of a stop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from punchlist.hosts.agent_log import Log, read_turn_end
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


def test_the_last_words_of_an_agent_that_writes_its_log_late_are_waited_for(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(ASKED)

    def agent_writes(_: float) -> None:
        log.write_text(ASKED + ENDED)

    assert read_turn_end(str(log), LOG, TurnEnd(said="I may not."), agent_writes).refused


def test_words_that_never_come_are_waited_for_a_moment_only(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(ASKED + ENDED)
    waits: list[float] = []
    assert read_turn_end(str(log), LOG, TurnEnd(said="Something else."), waits.append).refused
    assert 0 < sum(waits) < 1
    waits.clear()
    for stop in (TurnEnd(said="I may not."), TurnEnd()):
        assert read_turn_end(str(log), LOG, stop, waits.append).refused
    assert waits == []
