"""The plan as a card in clients that show MCP Apps: who is told of it, and what it does in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import punchlist
from punchlist.local.on_off import set_off
from tests.mcp.browser import CARD, PROGRAM, UI, greet, play
from tests.mcp.raw import ENVELOPE, Raw

HOSTILE = '<img src=x onerror="parent.document.title=1"><script>parent.document.title=1</script>${1}&lt;b>'
WITH_CARDS = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": UI}
in_browser = pytest.mark.skipif(not PROGRAM, reason="needs chromium")


@pytest.fixture
def shown() -> Iterator[Raw]:
    """A server whose client shows cards."""
    with Raw("--session", "s") as raw:
        greet(raw)
        yield raw


def press(client: Raw, **args: str) -> tuple[str, bool]:
    answer = client.result("tools/call", name="plan_card", arguments=args)
    return answer["content"][0]["text"], answer["isError"]


def texts() -> list[tuple[str, str]]:
    with punchlist.open(session="s") as desk:
        return [(item.text, item.status) for item in desk.plan.items]


# --- who is told of it ----------------------------------------------------------------------------------------------


def test_a_client_that_shows_no_cards_hears_nothing_of_them(client: Raw) -> None:
    plain = client.greet()
    assert "extensions" not in plain["capabilities"]
    assert "ui" not in str(client.result("tools/list")["tools"][0]["_meta"])
    assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["plan"]
    assert client.result("tools/call", name="plan", arguments={"add": ["Read"]}).keys() == {"content", "isError"}
    assert client.error("tools/call", name="plan_card", arguments={"do": "show"})["message"].startswith("no tool")
    assert client.error("resources/read", uri=CARD)["code"] == -32002


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"extensions": []},
        {"extensions": {"io.modelcontextprotocol/ui": 3}},
        {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": "text/html;profile=mcp-app"}}},
        {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}},
    ],
)
def test_only_the_extension_with_our_kind_of_page_counts(client: Raw, capabilities: object) -> None:
    about = {"name": "x", "version": "1"}
    client.result("initialize", protocolVersion="2025-11-25", capabilities=capabilities, clientInfo=about)
    assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["plan"]


def test_a_client_that_shows_cards_gets_the_card_and_a_tool_for_its_buttons(client: Raw) -> None:
    assert greet(client)["capabilities"]["extensions"] == UI["extensions"]
    plan, own = client.result("tools/list")["tools"]
    assert plan["_meta"] == {"anthropic/alwaysLoad": True, "ui": {"resourceUri": CARD}}
    assert own["_meta"]["ui"] == {"resourceUri": CARD, "visibility": ["app"]}
    [page] = client.result("resources/read", uri=CARD)["contents"]
    assert (page["uri"], page["mimeType"]) == (CARD, "text/html;profile=mcp-app")
    assert page["text"].startswith("<!doctype html>")


def test_without_a_handshake_every_request_says_whether_there_are_cards(client: Raw) -> None:
    assert len(client.result("tools/list", _meta=ENVELOPE)["tools"]) == 1
    assert len(client.result("tools/list", _meta=WITH_CARDS)["tools"]) == 2
    assert "extensions" in client.result("server/discover", _meta=WITH_CARDS)["capabilities"]
    assert "extensions" not in client.result("server/discover", _meta=ENVELOPE)["capabilities"]


def test_the_page_asks_nothing_of_the_network(client: Raw) -> None:
    greet(client)
    page = client.result("resources/read", uri=CARD)["contents"][0]["text"]
    assert "default-src 'none'" in page
    assert re.findall(r"https?://|\bsrc=|\bhref=|innerHTML|insertAdjacent|document\.write|\beval\b", page) == []


# --- its buttons ----------------------------------------------------------------------------------------------------


def test_an_answer_brings_the_plan_where_no_model_reads_it(shown: Raw) -> None:
    answer = shown.result("tools/call", name="plan", arguments={"add": ["Read", "Fix"]})
    assert answer["content"] == [{"type": "text", "text": "added 1-2; now 1 Read (0/2)"}]
    assert "structuredContent" not in answer
    assert [item["text"] for item in answer["_meta"]["punchlist/plan"]["items"]] == ["Read", "Fix"]


def test_a_button_is_the_user_and_the_model_is_told_once(shown: Raw) -> None:
    shown.result("tools/call", name="plan", arguments={"add": ["Read", "Fix"]})
    assert press(shown, do="done", id="1") == ('completed 1 "Read".', False)
    assert press(shown, do="drop", id="2", why="no need")[1] is False
    assert press(shown, do="reopen", id="2")[1] is False
    assert press(shown, do="add", text="Test")[1] is False
    assert press(shown, do="start", id="3")[1] is False
    assert press(shown, do="undo")[1] is False
    assert texts() == [("Read", "completed"), ("Fix", "pending"), ("Test", "pending")]
    told = shown.result("tools/call", name="plan", arguments={"note": {"2": "x"}})["content"][0]["text"]
    again = shown.result("tools/call", name="plan", arguments={"note": {"2": "y"}})["content"][0]["text"]
    assert 'the user completed 1 "Read"' in told
    assert "the user" not in again
    with punchlist.open(session="s") as desk:
        assert [record.by for record in desk.history()][1:7] == ["user"] * 6


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"do": "burn"},
        {"do": "done"},
        {"do": "done", "id": "77"},
        {"do": "done", "id": 1},
        {"do": "add", "text": " "},
        {"do": "drop", "id": "1"},
        {"do": "show", "more": "x"},
        {"do": "done", "id": "../../x"},
    ],
)
def test_a_button_that_asks_for_something_wrong_changes_nothing(shown: Raw, args: dict[str, str]) -> None:
    shown.result("tools/call", name="plan", arguments={"add": ["Read"]})
    words, is_error = press(shown, **args)
    assert is_error
    assert words
    assert texts() == [("Read", "in_progress")]


def test_nothing_is_shown_or_done_while_punchlist_is_off(shown: Raw, own_home: Path) -> None:
    shown.result("tools/call", name="plan", arguments={"add": ["Read"]})
    set_off(True, session="s")
    assert shown.read()["method"] == "notifications/tools/list_changed"
    assert shown.result("tools/list")["tools"] == []
    assert press(shown, do="done", id="1") == ("punchlist is off here; `punchlist on` turns it on.", True)
    assert texts() == [("Read", "in_progress")]


# --- in a browser ---------------------------------------------------------------------------------------------------


@in_browser
@pytest.mark.once
def test_the_card_shows_the_plan_and_its_buttons_change_it(shown: Raw, tmp_path: Path) -> None:
    scenario = """
        await call({add: ["Read the parser", "Fix it", "Run the tests"]});
        await until(() => rows().length === 3);
        const first = rows();
        (await button("Done item 1")).click();
        await until(() => rows()[0][0] === "completed");
        (await button("Start item 3")).click();
        await until(() => rows()[2][0] === "in_progress");
        (await button("Drop item 2")).click();
        const why = await until(() => card().getElementById("why"));
        why.value = "not needed";
        press(why, "Enter");
        await until(() => rows()[1][0] === "abandoned");
        card().getElementById("text").value = "Ask Ann";
        (await button("Add")).click();
        await until(() => rows().length === 4);
        await call({done: [3]});
        await until(() => rows()[2][0] === "completed");
        await until(() => card().documentElement.scrollHeight <= card().defaultView.innerHeight);
        return {first, last: rows(), count: card().getElementById("count").textContent, heard: [...new Set(heard)]};
    """
    found = play(shown, tmp_path / "browser", scenario)
    assert found["first"] == [["in_progress", "Read the parser"], ["pending", "Fix it"], ["pending", "Run the tests"]]
    states = ["completed", "abandoned", "completed", "in_progress"]
    assert found["last"] == [[state, text] for state, (text, _) in zip(states, texts(), strict=True)]
    assert found["count"] == "2/3"
    called = ["ui/initialize", "ui/notifications/initialized", "tools/call", "ui/notifications/size-changed"]
    assert sorted(found["heard"]) == sorted(called)


@in_browser
@pytest.mark.once
def test_hostile_texts_are_text_on_the_card(shown: Raw, tmp_path: Path) -> None:
    with punchlist.open(session="s") as desk:
        desk.change(lambda plan: punchlist.ops.add(plan, HOSTILE))
        desk.change(lambda plan: punchlist.ops.drop(plan, "1", why=HOSTILE))
        desk.change(lambda plan: punchlist.ops.set_title(plan, HOSTILE))
    scenario = """
        await call({add: ["Read"]});
        await until(() => rows().length === 2);
        const made = [...card().querySelectorAll("img, #list script, b")].length;
        return {rows: rows(), made, title: document.title, shown: card().getElementById("title").textContent,
                more: card().querySelector(".more").textContent};
    """
    found = play(shown, tmp_path / "browser", scenario, theme="dark")
    assert (found["made"], found["title"]) == (0, "A host of MCP Apps")
    assert found["rows"][0] == ["abandoned", HOSTILE]
    assert (found["shown"], found["more"]) == (HOSTILE, HOSTILE)


@in_browser
@pytest.mark.once
def test_the_card_says_what_the_server_refuses(shown: Raw, tmp_path: Path) -> None:
    scenario = """
        await call({add: ["Read", "Fix"]});
        await until(() => rows().length === 2);
        await rpc("tools/call", {name: "plan", arguments: {drop: {"2": "no need"}}});
        (await button("Start item 2")).click();
        await until(() => said());
        const words = said();
        (await button("Undo")).click();
        await until(() => said() !== words);
        return {words, rows: rows()};
    """
    found = play(shown, tmp_path / "browser", scenario)
    assert "failed" not in found
    assert found["words"]
    assert len(found["rows"]) == 2
