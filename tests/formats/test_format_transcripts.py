"""A plan out of a session's log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Desk, MemoryStore, Plan, ops
from tests.commands import run

DOCUMENTS = Path(__file__).parent / "documents"


pytestmark = pytest.mark.usefixtures("own_folder")


def take_in(log: bytes | str) -> subprocess.CompletedProcess[str]:
    Path("log").write_bytes(log.encode() if isinstance(log, str) else log)
    return run("import", "--format", "transcript", "log")


def read(log: bytes | str) -> list[tuple[str, str]]:
    """Import a log that must be accepted; the items it led to."""
    done = take_in(log)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [(item.text, item.status) for item in plan().items]


def told(log: str) -> list[tuple[str, str]]:
    """The same in this process, for the many forms an entry can have."""
    desk = Desk(MemoryStore(), session="s")
    return [(item.text, item.status) for item in desk.import_plan(log, "transcript").plan.items]


def plan() -> Plan:
    with punchlist.open() as desk:
        return desk.plan


def document(name: str) -> str:
    return (DOCUMENTS / name).read_text(encoding="utf-8")


def written(*todos: Any, **more: Any) -> dict[str, Any]:
    """An entry in which the assistant writes its list."""
    block = {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": list(todos)}}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}, **more}


def todo(content: str) -> dict[str, str]:
    return {"content": content, "status": "pending", "activeForm": f"{content}, now"}


def lines(*entries: Any) -> str:
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


SHOP = [
    ("Read the billing code", "completed"),
    ("Model the paused state", "in_progress"),
    ("Add the endpoint", "pending"),
]


# --- Claude Code -----------------------------------------------------------------------------------------------------


def test_the_first_list_of_the_last_message_that_writes_one_is_the_plan() -> None:
    assert read(document("claude-code.jsonl")) == SHOP
    assert plan().items[0].active == "Reading the billing code"


def test_a_log_that_is_imported_again_changes_nothing() -> None:
    read(document("claude-code.jsonl"))
    before = plan()
    read(document("claude-code.jsonl"))
    assert plan() == before


def test_a_log_whose_last_line_was_cut_off_is_read_up_to_there() -> None:
    whole = document("claude-code.jsonl").encode()
    assert read(whole[: len(whole) - 100]) == SHOP
    assert read(whole + b'{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Todo') == SHOP


def test_a_message_that_only_thinks_or_talks_changes_nothing() -> None:
    thinking = {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "TodoWrite"}]}}
    talking = {"type": "assistant", "message": {"content": "TodoWrite"}}
    assert told(lines(written(todo("a")), thinking, talking)) == [("a", "pending")]


@pytest.mark.parametrize("last", [7, {"content": "a"}, {**todo("a"), "status": "done"}, None], ids=ascii)
def test_a_last_list_that_is_invalid_gives_an_empty_plan_not_an_earlier_one(last: object) -> None:
    assert told(document("claude-code.jsonl") + lines(written(last))) == []


@pytest.mark.parametrize("given", [None, [], "x", {}, {"todos": None}, {"todos": "x"}], ids=ascii)
def test_a_last_call_without_a_list_gives_an_empty_plan(given: object) -> None:
    block = {"type": "tool_use", "name": "TodoWrite", "input": given}
    entry = {"type": "assistant", "message": {"content": [block]}}
    assert told(document("claude-code.jsonl") + lines(entry)) == []


def test_a_last_call_with_a_key_that_its_tool_does_not_have_gives_an_empty_plan() -> None:
    entry = written(todo("a"))
    entry["message"]["content"][0]["input"]["x"] = 1
    assert told(document("claude-code.jsonl") + lines(entry)) == []


def test_what_a_sub_agent_writes_in_the_same_log_is_not_the_plan() -> None:
    log = lines(written(todo("a"), isSidechain=False), written(todo("of a sub-agent"), isSidechain=True))
    assert told(log) == [("a", "pending")]


def test_what_a_user_quotes_is_not_a_list() -> None:
    quoted = {**written(todo("fake")), "type": "user"}
    quoted["message"] = {**quoted["message"], "role": "user"}
    assert told(lines(written(todo("a")), quoted)) == [("a", "pending")]


def _message(content: object) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": content}}


ODD: list[Any] = [
    *(None, 7, "text", [], {}, {"type": 3}, {"type": "assistant"}, {"type": "assistant", "message": 7}),
    *map(_message, (None, 7, "x", [7], [{"type": []}])),
]


@pytest.mark.parametrize("entry", ODD, ids=ascii)
def test_an_entry_nobody_knows_is_passed_over(entry: object) -> None:
    assert told(lines(written(todo("a")), entry)) == [("a", "pending")]


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x85"], ids=ascii)
def test_a_line_of_a_log_ends_where_json_lines_do(char: str) -> None:
    assert told(lines(written(todo(f"a{char}b"))).replace("\n", "\r\n")) == [(f"a{char}b", "pending")]


# --- a plain list of messages ----------------------------------------------------------------------------------------


def test_a_plain_list_of_messages_is_a_log() -> None:
    assert read(document("messages.json")) == [("Reproduce the crash", "in_progress"), ("Fix the parser", "pending")]


@pytest.mark.parametrize(
    "text",
    [
        "[{a}]",
        " \n[\n{a}\n]\n",
        '[3, {a}, null, [], "x"]',
        "\ufeff[{a}" + " " * 300 + ",\n\n1 ]",
        "[" + "0, " * 500_000 + "{a}]",
        '[{a}, "' + "é" * 2_000_000 + '"]',
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_a_list_of_messages_is_read_entry_by_entry_however_it_is_laid_out(text: str) -> None:
    assert read(text.replace("{a}", json.dumps(written(todo("a"))))) == [("a", "pending")]


@pytest.mark.parametrize(
    "text", ["[{a}", "[{a},", "[{a}]]", "[{a}] 3", "[{a}\n{a}]", "[{a}, tru]", "[{a}, {]", "[{a}, 1.", "[{a}, \xff]"]
)
def test_a_list_of_messages_that_does_not_end_as_it_should_is_refused_and_the_plan_stays(text: str) -> None:
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.add(plan, "mine"))
    done = take_in(text.replace("{a}", json.dumps(written(todo("a")))).encode("latin-1"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("punchlist: log: not "), done.stderr
    assert [item.text for item in plan().items] == ["mine"]


def _function(arguments: object, name: str = "TodoWrite") -> dict[str, Any]:
    """An assistant's message as OpenAI has it."""
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_calls_as_openai_spells_them_are_read() -> None:
    talk = [{"role": "user", "content": "hi"}, _function(json.dumps({"todos": [todo("a")]})), _function("{}", "Bash")]
    assert read(json.dumps(talk)) == told(lines(*talk)) == [("a", "pending")]


@pytest.mark.parametrize("arguments", ["{", "null", '{"todos": 3}', None, 7], ids=ascii)
def test_a_last_call_as_openai_spells_it_that_cannot_be_read_gives_an_empty_plan(arguments: object) -> None:
    talk = [_function(json.dumps({"todos": [todo("a")]})), _function(arguments)]
    assert told(json.dumps(talk)) == []


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("first", ["messages", "model"])
def test_the_messages_of_an_object_are_a_log(first: str, indent: int | None) -> None:
    talk = {"messages": [written(todo("old")), _function(json.dumps({"todos": [todo("a")]}))], "model": "m"}
    text = json.dumps({first: talk[first], **talk}, indent=indent)
    assert read(text) == told(text) == [("a", "pending")]
    assert Desk(MemoryStore()).import_plan(json.loads(text), "transcript").plan.items[0].text == "a"


@pytest.mark.parametrize("end", ["", "]", "], 3}", '], "x": }', "]} 3", "}"])
def test_an_object_with_messages_that_does_not_end_as_it_should_is_refused(end: str) -> None:
    done = take_in('{"messages": [' + json.dumps(written(todo("a"))) + end)
    assert (done.returncode, done.stdout) == (1, "")


# --- oh-my-pi --------------------------------------------------------------------------------------------------------


def test_the_last_edit_of_the_user_or_result_without_error_is_the_plan() -> None:
    assert read(document("oh-my-pi.jsonl")) == [
        ("Scaffold", "completed"),
        ("Translate", "in_progress"),
        ("Compare", "pending"),
    ]
    assert (plan().phases, plan().items[1].notes) == (("Port", "Check"), ("keep the names",))


def test_a_result_behind_the_user_s_edit_is_newer() -> None:
    result = {"role": "toolResult", "toolName": "todo_write", "details": {"phases": [{"name": "New", "tasks": []}]}}
    assert read(document("oh-my-pi.jsonl") + lines({"type": "message", "message": result})) == []
    assert plan().phases == ("New",)


def test_a_log_of_results_alone_stops_before_the_user_s_edit() -> None:
    earlier = "".join(line + "\n" for line in document("oh-my-pi.jsonl").splitlines()[:6])
    assert told(earlier) == [("Scaffold", "in_progress"), ("Translate", "pending")]


# --- what is no log --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "log",
    ["", "\n \n", "[]", " [ \n ] ", "[{}]", '{"items": [1]}', '{"type": "user", "message": {"content": "hi"}}'],
    ids=ascii,
)
def test_a_log_without_a_list_is_refused_and_the_plan_stays(log: str) -> None:
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.add(plan, "mine"))
    done = take_in(log)
    assert (done.returncode, done.stdout) == (1, ""), done.stdout
    assert done.stderr.startswith("punchlist: the transcript holds no list: "), done.stderr
    assert ([item.text for item in plan().items], plan().revision) == (["mine"], 1)


def test_a_log_whose_last_list_is_empty_empties_the_plan() -> None:
    assert read(lines(written(todo("a")), written())) == []


@pytest.mark.parametrize(
    "log",
    [b"nonsense\nmore of it\n", b"7", b'"text"', b"[1, 2", b"[{]", b"[" * 100_000, b"\xff\xfe\x00", b"\x00"],
    ids=lambda log: ascii(log[:12]),
)
def test_what_is_no_log_at_all_is_refused_and_the_plan_stays(log: bytes) -> None:
    with punchlist.open() as desk:
        desk.change(lambda plan: ops.add(plan, "mine"))
    done = take_in(log)
    assert (done.returncode, done.stdout) == (1, ""), done.stdout
    assert done.stderr.startswith("punchlist: "), done.stderr
    assert [item.text for item in plan().items] == ["mine"]


# --- very long logs --------------------------------------------------------------------------------------------------

_MEASURED = """
import resource, sys
from punchlist.cli import main
sys.argv[0] = "punchlist"
code = main()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
sys.exit(code)
"""


def peak(*words: str) -> int:
    """The most memory that a command has held, in bytes."""
    done = subprocess.run([sys.executable, "-c", _MEASURED, *words], capture_output=True, encoding="utf-8", check=True)
    return int(done.stdout.splitlines()[-1])


def write_long(path: Path, size: int, form: str) -> None:
    """A log of so many bytes: many short entries, some long ones, and the list somewhere in the middle."""
    short = [json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "So far."}]}})] * 200
    block = {"type": "tool_result", "tool_use_id": "t", "content": "x" * 300_000}
    long = [json.dumps({"type": "user", "message": {"content": [block]}})]
    between = {"lines": "\n", "array": ",\n"}.get(form, ", ")
    opening, end = {"lines": ("", ""), "object": ('{"messages": [', "]}")}.get(form, ("[", "]"))
    part = between.join(short + long)
    times = max(size // len(part), 2)
    with path.open("w") as file:
        file.write(opening)
        for number in range(times):
            file.write(part + between)
            if number == times // 2:
                file.write(json.dumps(written(todo("a"))) + between)
        file.write("{}" + end)


@pytest.mark.parametrize("form", ["lines", "array", "array in one line", "object"])
@pytest.mark.parametrize(
    "command", [("import", "--format", "transcript"), ("remind", "--messages")], ids=lambda c: c[0]
)
@pytest.mark.parametrize("size", [25_000_000, pytest.param(100_000_000, marks=pytest.mark.torture)])
def test_a_long_log_needs_no_more_memory_than_a_short_one(size: int, command: tuple[str, ...], form: str) -> None:
    write_long(Path("short"), 1_000_000, form)
    write_long(Path("long"), size, form)
    assert os.path.getsize("long") > 0.98 * size
    assert peak(*command, "long") < peak(*command, "short") + 12_000_000
