"""The MCP server as a client sees it, line by line, in both eras of the protocol."""

from __future__ import annotations

import json
import subprocess
import threading
from typing import Any

import pytest

import punchlist
from punchlist.dialects import PATHS
from tests.commands import SCRIPT
from tests.mcp.raw import ENVELOPE, VERSION, Raw

OFFERS = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "resources": {"subscribe": True, "listChanged": True},
}

# --- the era with a handshake ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_a_handshake_settles_on_the_version_asked_for_or_the_latest_we_speak(
    client: Raw, asked: str, answered: str
) -> None:
    greeting = client.greet(version=asked)
    assert greeting["protocolVersion"] == answered
    assert greeting["capabilities"] == OFFERS
    assert greeting["serverInfo"] == {"name": "punchlist", "title": "Punchlist", "version": punchlist.__version__}


def test_a_plan_is_made_advanced_and_finished(client: Raw) -> None:
    client.greet()
    assert client.say("plan", add=["Read the parser", "Fix it"]) == "added 1-2; now 1 Read the parser (0/2)"
    assert client.say("plan", done=[1]) == "now 2 Fix it (1/2)"
    assert client.say("plan", done=[2]) == "all done (2/2)"


def test_a_result_of_the_older_era_has_nothing_of_the_newer(client: Raw) -> None:
    client.greet()
    assert client.result("tools/list").keys() == {"tools"}
    assert client.result("tools/call", name="plan", arguments={"show": True}).keys() == {"content", "isError"}
    assert client.result("ping") == {}


def test_a_request_without_a_handshake_is_answered(client: Raw) -> None:
    assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["plan"]
    assert client.say("plan", add=["Read"]) == "added 1; now 1 Read (0/1)"


def test_the_instructions_are_short_and_ask_for_nothing_else(client: Raw) -> None:
    words = client.greet()["instructions"]
    assert "plan" in words
    assert "user" in words
    assert len(words.split()) <= 50
    assert not {"must", "always", "never", "verify", "important"} & set(words.lower().replace(".", "").split())


# --- tools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", PATHS)
def test_the_tools_are_those_that_the_command_line_prints(dialect: str) -> None:
    printed = subprocess.run(
        [SCRIPT, "tools", "--dialect", dialect, "--format", "mcp"], check=True, capture_output=True, encoding="utf-8"
    )
    with Raw("--dialect", dialect) as client:
        client.greet()
        assert client.result("tools/list")["tools"] == json.loads(printed.stdout)


def test_the_dialect_can_be_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_DIALECT", "gemini")
    with Raw() as client:
        assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["write_todos"]


def test_a_tool_is_loaded_at_once_and_needs_no_approval(client: Raw) -> None:
    (tool,) = client.result("tools/list")["tools"]
    assert tool["_meta"] == {"anthropic/alwaysLoad": True}
    assert (tool["annotations"]["destructiveHint"], tool["annotations"]["openWorldHint"]) == (False, False)
    assert tool["title"] == "Plan"


def test_what_a_model_does_wrong_is_an_answer_it_can_read(client: Raw) -> None:
    assert client.call("plan", done=[7]) == ("no item '7'; the plan is empty.", True)
    text, is_error = client.call("plan", don=[7])
    assert is_error
    assert "don" in text


@pytest.mark.parametrize("wrong", [[], "add", 7, True, [{"add": ["x"]}]])
def test_arguments_of_the_wrong_kind_are_an_answer_not_a_fault(client: Raw, wrong: Any) -> None:
    result = client.result("tools/call", name="plan", arguments=wrong)
    assert result["isError"] is True
    assert result["content"][0]["text"]


@pytest.mark.parametrize("more", [{}, {"arguments": None}, {"arguments": {}}])
def test_a_call_without_arguments_has_none(client: Raw, more: dict[str, Any]) -> None:
    result = client.result("tools/call", name="plan", **more)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("say what to do: add, edit, start")


def test_an_argument_that_gemini_cli_adds_to_every_tool_is_passed_over(client: Raw) -> None:
    assert client.call("plan", add=["Read"], wait_for_previous=True) == ("added 1; now 1 Read (0/1)", False)


def test_a_tool_that_does_not_exist_is_a_fault_that_names_those_that_do(client: Raw) -> None:
    error = client.error("tools/call", name="todo", arguments={})
    assert error == {"code": -32602, "message": "no tool 'todo'; the tools are plan."}
    assert client.error("tools/call", name=["plan"])["code"] == -32602
    assert client.error("tools/call")["code"] == -32602


def test_a_tool_for_continuations_is_neither_shown_nor_carried_out_without_one() -> None:
    with Raw("--dialect", "llxprt") as client:
        client.greet()
        assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["todo_write", "todo_read"]
        text, is_error = client.call("todo_pause", reason="The build server does not answer on port 80")
        assert (text, is_error) == ("todo_pause can be used only while a continuation runs.", True)


def test_there_is_one_page_of_tools(client: Raw) -> None:
    assert "nextCursor" not in client.result("tools/list")
    assert client.error("tools/list", cursor="2")["code"] == -32602


def test_text_that_no_encoding_has_is_answered_all_the_same(client: Raw) -> None:
    client.write(b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n')
    assert client.read() == {"jsonrpc": "2.0", "id": "\ud800", "result": {}}
    assert client.say("plan", add=["Überprüfe 漢字 🙂"]) == "added 1; now 1 Überprüfe 漢字 🙂 (0/1)"


# --- the era without a handshake -------------------------------------------------------------------------------------


def test_a_server_is_discovered_without_a_handshake(client: Raw) -> None:
    found = client.result("server/discover", _meta=ENVELOPE)
    assert found["supportedVersions"] == [VERSION]
    assert found["capabilities"] == OFFERS
    assert found["instructions"]
    assert (found["resultType"], found["ttlMs"], found["cacheScope"]) == ("complete", 0, "private")
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "punchlist"


def test_every_result_of_the_newer_era_says_its_type_and_who_sent_it(client: Raw) -> None:
    for method, params in (("tools/list", {}), ("tools/call", {"name": "plan", "arguments": {"add": ["Read"]}})):
        found = client.result(method, _meta=ENVELOPE, **params)
        assert found["resultType"] == "complete"
        assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] == punchlist.__version__
    assert client.result("tools/list", _meta=ENVELOPE)["ttlMs"] == 0


def test_a_version_that_we_do_not_speak_is_refused_with_those_we_do(client: Raw) -> None:
    later = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    error = client.error("tools/list", _meta=later)
    assert error["code"] == -32022
    assert error["data"] == {"supported": [VERSION], "requested": "2031-01-01"}


def test_an_envelope_that_lacks_something_is_refused_by_name(client: Raw) -> None:
    halves = {name: {key: value for key, value in ENVELOPE.items() if key != name} for name in ENVELOPE}
    capabilities = "io.modelcontextprotocol/clientCapabilities"
    assert capabilities in client.error("tools/list", _meta=halves[capabilities])["message"]
    assert client.error("server/discover")["code"] == -32602
    assert client.error("subscriptions/listen", notifications={})["code"] == -32602
    wrong = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": 7}
    assert client.error("tools/list", _meta=wrong)["code"] == -32602


def test_both_eras_can_be_spoken_on_one_connection(client: Raw) -> None:
    client.greet()
    client.say("plan", add=["Read"])
    assert client.result("tools/call", name="plan", arguments={"done": [1]}, _meta=ENVELOPE)["isError"] is False
    assert "[x] 1 Read" in client.say("plan", show=True)


def test_a_subscription_is_acknowledged_with_what_we_can_tell_of(client: Raw) -> None:
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["file:///x"]}
    id = client.request("subscriptions/listen", notifications=wanted, _meta=ENVELOPE)
    said = client.read()
    assert said["method"] == "notifications/subscriptions/acknowledged"
    assert said["params"]["notifications"] == {"toolsListChanged": True, "promptsListChanged": True}
    assert said["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": id}
    assert client.is_silent()


def test_a_subscription_to_nothing_is_acknowledged_as_such(client: Raw) -> None:
    client.request("subscriptions/listen", notifications={}, _meta=ENVELOPE)
    assert client.read()["params"]["notifications"] == {}


def test_subscriptions_have_ids_of_their_own_and_a_limit(client: Raw) -> None:
    assert client.error("subscriptions/listen", notifications=[], _meta=ENVELOPE)["code"] == -32602
    wanted = {"notifications": {"toolsListChanged": True}, "_meta": ENVELOPE}
    for id in range(1000, 1064):
        client.send({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": wanted})
        assert client.read()["method"] == "notifications/subscriptions/acknowledged"
    client.send({"jsonrpc": "2.0", "id": 1000, "method": "subscriptions/listen", "params": wanted})
    assert client.read()["error"]["code"] == -32600
    client.send({"jsonrpc": "2.0", "id": 2000, "method": "subscriptions/listen", "params": wanted})
    assert client.read()["error"]["code"] == -32600
    client.notify("notifications/cancelled", requestId=1001)
    client.send({"jsonrpc": "2.0", "id": 2000, "method": "subscriptions/listen", "params": wanted})
    assert client.read()["method"] == "notifications/subscriptions/acknowledged"


# --- JSON-RPC --------------------------------------------------------------------------------------------------------


def test_a_method_that_does_not_exist_is_named_with_those_that_do(client: Raw) -> None:
    error = client.error("roots/list")
    assert error["code"] == -32601
    assert error["message"].startswith("no method 'roots/list'; the methods are initialize, ping, tools/list")


def test_notifications_are_never_answered(client: Raw) -> None:
    client.notify("notifications/of/tomorrow", x=1)
    client.notify("notifications/cancelled", requestId={"odd": True})
    client.notify("notifications/cancelled")
    client.notify("tools/call", name="plan", arguments={"add": ["Read"]})
    client.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": [1, 2]})
    assert client.is_silent()


def test_answers_to_what_we_did_not_ask_are_passed_over(client: Raw) -> None:
    client.send({"jsonrpc": "2.0", "id": 99, "result": {}})
    client.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "no"}})
    assert client.is_silent()


@pytest.mark.parametrize(
    ("message", "code", "id"),
    [
        ({}, -32600, None),
        (7, -32600, None),
        ("ping", -32600, None),
        (None, -32600, None),
        ({"id": 3}, -32600, 3),
        ({"id": 3, "method": "ping"}, -32600, 3),
        ({"jsonrpc": "1.0", "id": 3, "method": "ping"}, -32600, 3),
        ({"jsonrpc": "2.0", "id": 3, "method": 7}, -32600, 3),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600, None),
        ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, -32600, None),
        ({"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": []}, -32602, 3),
        ({"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": "x"}, -32602, 3),
        ([], -32600, None),
    ],
)
def test_what_is_no_request_is_answered_with_what_is_wrong(
    client: Raw, message: Any, code: int, id: int | None
) -> None:
    client.send(message)
    answer = client.read()
    assert (answer["error"]["code"], answer["id"]) == (code, id)
    assert client.result("ping") == {}


def test_a_batch_is_answered_by_a_batch(client: Raw) -> None:
    client.send(
        [
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "plan", "arguments": {"add": ["A"]}},
            },
            3,
        ]
    )
    ping, call, wrong = client.read()
    assert (ping["id"], call["id"], wrong["id"]) == (1, 2, None)
    assert call["result"]["content"][0]["text"] == "added 1; now 1 A (0/1)"
    client.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
    assert client.is_silent()


def test_the_same_id_twice_is_answered_twice(client: Raw) -> None:
    for _ in range(2):
        client.send({"jsonrpc": "2.0", "id": "x", "method": "ping"})
    assert [client.read()["id"], client.read()["id"]] == ["x", "x"]


def test_requests_are_answered_in_the_order_they_came(client: Raw) -> None:
    ids = list(range(20_000))
    lines = [b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % id for id in ids]
    sending = threading.Thread(target=client.write, args=[b"".join(lines)])
    sending.start()
    assert [client.read()["id"] for _ in ids] == ids
    sending.join()


def test_a_request_that_is_cancelled_before_its_turn_is_not_carried_out(client: Raw) -> None:
    def call(id: int, text: str) -> dict[str, Any]:
        params = {"name": "plan", "arguments": {"add": [text]}}
        return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}

    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "reason": "no"}}
    messages = [call(1, "Read"), call(2, "Never"), cancel, call(3, "Write")]
    client.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    assert [client.read()["id"], client.read()["id"]] == [1, 3]
    assert "Never" not in client.say("plan", show=True)


def test_a_handshake_cannot_be_cancelled(client: Raw) -> None:
    greeting = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}
    client.write(json.dumps(greeting).encode() + b"\n" + json.dumps(cancel).encode() + b"\n")
    assert client.read()["result"]["protocolVersion"] == "2025-11-25"
