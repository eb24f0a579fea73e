"""The model that an agent works with: what its hooks learn of it, and what they tell it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from punchlist.local.models import last_model, note_model
from punchlist.local.settings import place
from punchlist.prompts import say
from tests.commands import do, logged_errors, run

SMALL, LARGE = "claude-haiku-4-5", "claude-opus-5-5"

pytestmark = pytest.mark.usefixtures("own_project")


def hook(host: str, event: dict[str, Any], **env: str) -> str:
    """What the model is told."""
    done = run("hook", host, stdin=json.dumps(event), **env)
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout or "{}")
    told: str = said.get("context") or said.get("hookSpecificOutput", {}).get("additionalContext", "")
    return told


def claude(name: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "session_id": "s", "cwd": os.getcwd(), **more}


def plugin(moment: str, **more: Any) -> dict[str, Any]:
    return {"moment": moment, "session": "s", "cwd": os.getcwd(), **more}


def claude_log(*models: str, **more: Any) -> str:
    entries = [{"type": "assistant", "message": {"model": model, "content": []}, **more} for model in models]
    return write_log(entries)


def write_log(entries: list[dict[str, Any]]) -> str:
    path = Path("log.jsonl").absolute()
    path.write_text("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries))
    return str(path)


def known(host: str) -> str:
    return last_model(host, place())


# --- what is learnt --------------------------------------------------------------------------------------------------


def test_claude_code_names_its_model_in_its_log() -> None:
    hook("claude-code", claude("Stop", transcript_path=claude_log(LARGE, SMALL)))
    assert known("claude-code") == SMALL


@pytest.mark.parametrize(
    "entries",
    [
        [
            {"type": "assistant", "message": {"model": LARGE}},
            {"type": "assistant", "message": {"model": "<synthetic>"}},
        ],
        [{"type": "assistant", "message": {"model": LARGE}}, {"type": "user", "message": {"model": SMALL}}],
        [
            {"type": "assistant", "message": {"model": LARGE}},
            {"type": "assistant", "isSidechain": True, "message": {"model": SMALL}},
        ],
    ],
    ids=["an error of its own", "the user", "a sub-agent"],
)
def test_only_an_answer_of_the_main_agent_s_model_counts(entries: list[dict[str, Any]]) -> None:
    hook("claude-code", claude("Stop", transcript_path=write_log(entries)))
    assert known("claude-code") == LARGE


def test_codex_names_it_in_every_event() -> None:
    for name in ("SessionStart", "UserPromptSubmit", "Stop"):
        hook("codex", claude(name, model=f"gpt-{name}"))
        assert known("codex") == f"gpt-{name}"


def test_gemini_names_it_in_its_log() -> None:
    log = write_log([{"type": "gemini", "model": "gemini-2.5-pro"}, {"type": "user", "content": "go on"}])
    hook("gemini", claude("AfterAgent", transcript_path=log))
    assert known("gemini") == "gemini-2.5-pro"


@pytest.mark.parametrize("host", ["opencode", "oh-my-pi"])
def test_our_plugins_name_it(host: str) -> None:
    hook(host, plugin("prompt", prompt="hello", model="qwen3:8b"))
    assert known(host) == "qwen3:8b"


def test_goose_names_it_in_its_environment() -> None:
    event = {"event": "Stop", "session_id": "s", "working_dir": os.getcwd()}
    hook("goose", event, GOOSE_MODEL="gpt-4o")
    assert known("goose") == "gpt-4o"


def test_what_a_sub_agent_works_with_is_not_noted() -> None:
    hook("codex", claude("UserPromptSubmit", agent_id="a1", model="gpt-6"))
    assert known("codex") == ""


@pytest.mark.parametrize("model", [3, None, ["x"], {"id": "x"}, ""])
def test_a_name_that_is_not_a_text_is_not_one(model: Any) -> None:
    hook("codex", claude("UserPromptSubmit", model=model))
    assert (known("codex"), logged_errors()) == ("", [])


def test_a_hostile_name_is_data() -> None:
    hook("codex", claude("UserPromptSubmit", model="../../x\x1b[31m\n" + "y" * 5000))
    assert len(known("codex")) == 200
    assert not {"\x1b", "\n"} & set(known("codex"))
    [file] = (Path(os.environ["XDG_STATE_HOME"]) / "punchlist" / "models").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_each_agent_and_each_place_has_its_own(tmp_path: Path) -> None:
    note_model("codex", "/a", "one")
    note_model("codex", "/b", "two")
    note_model("gemini", "/a", "three")
    found = [last_model(host, place) for host, place in (("codex", "/a"), ("codex", "/b"), ("gemini", "/a"))]
    assert found == ["one", "two", "three"]
    assert last_model("gemini", "/b") == ""


def test_with_a_voice_that_is_set_nothing_is_noted() -> None:
    hook("codex", claude("UserPromptSubmit", model="gpt-6"), PUNCHLIST_VOICE="full")
    assert known("codex") == ""


def test_where_nothing_can_be_written_nothing_fails() -> None:
    folder = Path(os.environ["XDG_STATE_HOME"]) / "punchlist"
    folder.mkdir()
    (folder / "models").write_text("not a folder")
    hook("codex", claude("UserPromptSubmit", model="gpt-6"))
    assert (known("codex"), logged_errors()) == ("", [])


# --- what follows from it --------------------------------------------------------------------------------------------


def reminded(host: str, **more: Any) -> list[int]:
    """At which of 32 tool calls the model is reminded of its plan."""
    do("add", "Read", "Mend", "--session", "s")
    found = []
    for turn in range(1, 33):
        event = claude(
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": f"sed -i s/{turn}// x"},
            tool_response="ok",
            tool_use_id=f"t{turn}",
            **more,
        )
        if "unchanged for" in hook(host, event):
            found.append(turn)
    return found


def test_a_small_model_is_reminded_as_ever_and_a_new_large_one_later() -> None:
    assert reminded("codex", model="gpt-5.5-mini") == [11, 31]


def test_a_new_large_one_is_reminded_when_the_work_has_left_its_plan_behind() -> None:
    assert reminded("codex", model="gpt-6.1-sol") == [31]


def test_the_log_of_claude_code_is_asked_when_a_reminder_is_due() -> None:
    assert reminded("claude-code", transcript_path=claude_log(LARGE)) == [31]


def test_a_model_that_nobody_names_is_reminded_as_ever() -> None:
    assert reminded("claude-code") == [11, 31]


def test_a_switch_tells_a_small_model_more_and_is_remembered() -> None:
    switch = claude("PostModelSwitch", from_model=LARGE, to_model=SMALL, source="command")
    assert hook("claude-code", switch) == f"How to use the tool `plan`:\n{say('native.full')}"
    assert known("claude-code") == SMALL
    assert hook("claude-code", {**switch, "from_model": SMALL, "to_model": LARGE}) == ""
    assert known("claude-code") == LARGE
    assert hook("claude-code", switch, PUNCHLIST_VOICE="brief") == ""
    assert hook("claude-code", {**switch, "agent_id": "a1"}) == ""


def test_while_punchlist_is_off_a_switch_tells_nothing() -> None:
    do("off")
    switch = claude("PostModelSwitch", from_model=LARGE, to_model=SMALL)
    assert hook("claude-code", switch) == ""
    assert known("claude-code") == ""
