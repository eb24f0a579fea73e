"""The MCP server under attack and in distress: it answers, it stays, it ends quietly."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Plan
from tests.commands import BOUND, SCRIPT, bound, logged_errors
from tests.mcp.raw import ENVELOPE, ON_LINUX, PATIENCE, Raw, kilobytes

MEGABYTE = 1024 * 1024


def plan(session: str = "") -> Plan:
    """What is on disk."""
    with punchlist.open(session=session) as desk:
        return desk.plan


# --- what comes in ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"{",
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping"',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping"} and more',
        b"\xff\xfe\x00",
        b'{"jsonrpc": "2.0", "id": "\xc3\x28", "method": "ping"}',
        b"\x00",
        b'{"id": NaN}',
        b'{"id": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda line: repr(line[:20]),
)
def test_a_malformed_line_is_answered_and_the_next_one_works(client: Raw, line: bytes) -> None:
    client.write(line + b"\n")
    answer = client.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    assert client.result("ping") == {}


def test_empty_lines_windows_line_ends_and_a_byte_order_mark_are_no_faults(client: Raw) -> None:
    client.write(b'\n\r\n   \n\xef\xbb\xbf{"jsonrpc":"2.0","id":5,"method":"ping"}\r\n')
    assert client.read()["id"] == 5
    assert client.is_silent()


def test_a_line_may_come_in_pieces(client: Raw) -> None:
    for piece in (b'{"jsonrpc":"2.0",', b'"id":5,"meth', b'od":"ping"}', b"\n"):
        client.write(piece)
    assert client.read()["id"] == 5


def test_the_last_line_needs_no_end(client: Raw) -> None:
    client.write(b'{"jsonrpc":"2.0","id":5,"method":"ping"}')
    assert client.close() == 0
    assert json.loads(client.left()[0])["id"] == 5


def test_everything_sent_before_hanging_up_is_answered(client: Raw) -> None:
    for _ in range(50):
        client.request("ping")
    assert client.close() == 0
    assert len(client.left()[0].splitlines()) == 50


def _huge(before: str, after: str, size: int) -> list[bytes]:
    block = b"x" * MEGABYTE
    return [before.encode(), *[block] * size, after.encode() + b"\n"]


@pytest.mark.parametrize(
    ("before", "after", "id"),
    [
        ('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"', '"}}', 7),
        ('{"method":"tools/call","params":{"name":"', '"},"jsonrpc":"2.0","id":"b"}', "b"),
        ('{"params":{"id":3,"name":"', '"},"x":{"id":4}}', None),
        ("", "", None),
    ],
    ids=["id first", "id last", "no id for certain", "no JSON"],
)
def test_a_line_of_a_hundred_megabytes_is_refused_in_little_memory(
    client: Raw, before: str, after: str, id: int | str | None
) -> None:
    client.result("ping")
    for part in _huge(before, after, 100):
        client.write(part)
    answer = client.read()
    assert (answer["id"], answer["error"]["code"]) == (id, -32600)
    assert answer["error"]["message"].endswith("bytes is too long; 1048576 are the most.")
    assert client.result("ping") == {}
    if ON_LINUX:
        assert kilobytes(client) < 60 * 1024


def test_a_line_just_short_enough_is_read(client: Raw) -> None:
    client.send({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y" * (MEGABYTE - 100)}})
    assert client.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("dense", [b"[" + b"[]," * 340_000 + b"[]]", b'{"id":1,"x":[' + b"[]," * 340_000 + b"[]]}"])
def test_a_line_that_holds_very_much_costs_little(client: Raw, dense: bytes) -> None:
    client.write(dense + b"\n")
    assert client.read()["error"]["code"] == -32600
    assert client.result("ping") == {}
    if ON_LINUX:
        assert kilobytes(client) < 60 * 1024


def test_deep_arguments_are_refused_not_fatal(client: Raw) -> None:
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    assert client.call("plan", add=deep)[1] is True
    assert client.result("ping") == {}


def test_pipes_that_do_not_block_are_waited_for() -> None:
    """Some runtimes hand such pipes to their children."""
    (reading, to_server), (from_server, writing) = os.pipe(), os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    process = subprocess.Popen([SCRIPT, "mcp"], stdin=reading, stdout=writing)
    os.close(reading)
    os.close(writing)
    line = b'{"jsonrpc":"2.0","id":"%b","method":"ping"}\n' % (b"x" * 100_000)

    def send() -> None:
        with open(to_server, "wb") as target:
            target.write(line * 20)

    with open(from_server, "rb") as source:
        sending = threading.Thread(target=send)
        sending.start()
        answers = source.read().splitlines()
        sending.join()
    assert process.wait(PATIENCE) == 0
    assert [json.loads(answer)["id"] for answer in answers] == ["x" * 100_000] * 20


# --- how it ends -----------------------------------------------------------------------------------------------------


def test_a_client_that_hangs_up_ends_the_server_quietly(client: Raw) -> None:
    client.greet()
    assert client.close() == 0
    assert client.left() == ("", "")


def test_a_client_that_no_longer_reads_ends_the_server_quietly(client: Raw) -> None:
    client.greet()
    assert client.process.stdout
    client.process.stdout.close()
    try:
        for _ in range(3):
            client.request("ping")
    except BrokenPipeError:
        pass
    assert client.process.wait(PATIENCE) == 0
    assert client.process.stderr
    assert client.process.stderr.read() == b""


def test_told_to_end_it_ends_and_keeps_what_was_done(client: Raw) -> None:
    client.greet()
    client.say("plan", add=["Read"])
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(PATIENCE) == 0
    assert client.left() == ("", "")
    assert [item.text for item in plan().items] == ["Read"]


def test_told_to_end_it_takes_leave_of_subscribers(client: Raw) -> None:
    client.request("subscriptions/listen", notifications={"toolsListChanged": True}, _meta=ENVELOPE)
    client.read()
    client.process.send_signal(signal.SIGTERM)
    over, cancelled = (json.loads(line) for line in client.left()[0].splitlines())
    assert (over["id"], over["result"]["resultType"]) == (1, "complete")
    assert over["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
    assert (cancelled["method"], cancelled["params"]) == ("notifications/cancelled", {"requestId": 1})


def test_an_interrupt_is_for_the_agent_and_not_for_its_server(client: Raw) -> None:
    client.greet()
    client.process.send_signal(signal.SIGINT)
    assert client.result("ping") == {}


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_without_standard_streams_there_is_nobody_to_serve(closed: str) -> None:
    command = ["sh", "-c", f"{SCRIPT} mcp {closed}"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_fault_of_our_own_ends_one_request_and_not_the_server() -> None:
    program = (
        "import sys\n"
        "from punchlist import Desk\n"
        "from punchlist.mcp import run\n"
        "def broken(self, *more, **named): raise KeyError('oh')\n"
        "Desk.call = broken\n"
        "sys.exit(run({}))\n"
    )
    with Raw(command=[sys.executable, "-c", program]) as client:
        error = client.error("tools/call", name="plan", arguments={"add": ["Read"]})
        assert error == {"code": -32603, "message": "an error of punchlist itself: KeyError: 'oh'"}
        assert client.result("ping") == {}


def test_nothing_but_messages_reaches_standard_output() -> None:
    """Even what some other code prints goes to standard error."""
    program = (
        "import os, sys\n"
        "from punchlist.mcp import serve\n"
        "from punchlist.mcp.server import Server\n"
        "from punchlist.mcp.callers import Callers, Given\n"
        "from punchlist.local.settings import load\n"
        "class Loud(Server):\n"
        "    def answer(self, line):\n"
        "        print('printed', flush=True); os.write(1, b'written\\n'); os.system('echo echoed')\n"
        "        return super().answer(line)\n"
        "sys.exit(serve(Loud(load(), Callers(Given(), {}))))\n"
    )
    with Raw(command=[sys.executable, "-c", program]) as client:
        client.greet()
        client.say("plan", add=["Read"])
        assert client.close() == 0
        said, complained = client.left()
    assert said == ""
    assert {"printed", "written", "echoed"} <= set(complained.split())


def test_an_error_of_ours_ends_one_request_and_is_logged(own_home: Path) -> None:
    program = (
        "import sys\n"
        "from punchlist.mcp import serve\n"
        "from punchlist.mcp.server import Server\n"
        "from punchlist.mcp.callers import Callers, Given\n"
        "from punchlist.local.settings import load\n"
        "class Faulty(Server):\n"
        "    def _call(self, request):\n"
        "        raise ZeroDivisionError('by\\nnothing')\n"
        "sys.exit(serve(Faulty(load(), Callers(Given(), {}))))\n"
    )
    with Raw(command=[sys.executable, "-c", program]) as client:
        client.greet()
        failed = client.error("tools/call", name="plan", arguments={})
        assert failed["message"] == "an error of punchlist itself: ZeroDivisionError: by nothing"
        assert client.result("ping") == {}
    assert logged_errors() == ["mcp: ZeroDivisionError: by nothing"]


def test_a_dialect_that_does_not_exist_is_said_before_anything_is_served() -> None:
    done = subprocess.run(
        [SCRIPT, "mcp", "--dialect", "klingon"], input="", capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("punchlist: no dialect 'klingon'; the dialects are native,")


def test_a_setting_that_cannot_be_used_is_complained_of_and_the_rest_is_served(project: Path) -> None:
    (project / "punchlist.toml").write_text('dialect = "gemini"\ntolerant = 7\n')
    with Raw() as client:
        assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["write_todos"]
        assert client.close() == 0
        assert "'tolerant' must be true or false, not 7" in client.left()[1]


@pytest.mark.parametrize("words", [["--frob"], ["more"], ["--dialect"], ["--store"]])
def test_misuse_is_said_like_that_of_any_command(words: list[str]) -> None:
    done = subprocess.run([SCRIPT, "mcp", *words], input="", capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--help" in done.stderr


# --- the store -------------------------------------------------------------------------------------------------------


def test_a_store_that_is_held_for_a_moment_only_delays_the_answer(client: Raw, own_home: Path) -> None:
    client.greet()
    client.say("plan", add=["Read", "Write"])
    with sqlite3.connect(own_home / "punchlist" / "punchlist.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        call = client.request("tools/call", name="plan", arguments={"done": [1]})
        ping = client.request("ping")
        other.execute("COMMIT")
    other.close()
    assert client.read()["result"]["content"][0]["text"] == "now 2 Write (1/2)"
    assert (call, client.read()["id"]) == (1 + 2, ping)


def test_told_to_end_it_does_not_wait_for_a_store_that_is_held(client: Raw, own_home: Path) -> None:
    client.greet()
    client.say("plan", add=["Read", "Write"])
    with sqlite3.connect(own_home / "punchlist" / "punchlist.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        client.request("tools/call", name="plan", arguments={"done": [1]})
        client.process.send_signal(signal.SIGTERM)
        assert client.process.wait(PATIENCE) == 0
    other.close()
    assert client.left() == ("", "")
    assert plan().progress.completed == 0


@pytest.mark.torture
def test_a_store_that_is_held_too_long_is_an_answer_and_pings_come_after(client: Raw, own_home: Path) -> None:
    client.greet()
    client.say("plan", add=["Read", "Write"])
    with sqlite3.connect(own_home / "punchlist" / "punchlist.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        client.request("tools/call", name="plan", arguments={"done": [1]})
        ping = client.request("ping")
        answer = client.read()["result"]
        assert client.read()["id"] == ping
    other.close()
    assert answer["isError"] is True
    assert "has been locked by another process for too long" in answer["content"][0]["text"]
    assert client.say("plan", done=[1]) == "now 2 Write (1/2)"


def test_a_store_that_cannot_be_written_is_an_answer_and_the_server_stays(client: Raw, own_home: Path) -> None:
    client.greet()
    (own_home / "punchlist").mkdir()
    (own_home / "punchlist" / "punchlist.db").mkdir()  # read-only for root, too
    text, is_error = client.call("plan", add=["Read"])
    assert is_error
    assert "punchlist.db" in text
    (own_home / "punchlist" / "punchlist.db").rmdir()
    assert client.say("plan", add=["Read"]) == "added 1; now 1 Read (0/1)"


@bound
def test_a_store_without_permission_is_an_answer(client: Raw, own_home: Path) -> None:
    client.say("plan", add=["Read"])
    (own_home / "punchlist" / "punchlist.db").chmod(stat.S_IRUSR)
    with Raw(command=[*BOUND, SCRIPT, "mcp"]) as other:
        text, is_error = other.call("plan", add=["Write"])
    assert is_error
    path = own_home / "punchlist" / "punchlist.db"
    assert (
        text == f"{path} cannot be written: it is not writable (mode 400); chmod u+rw {path}*; or name another store."
    )


def test_a_store_of_a_newer_version_is_an_answer(own_home: Path) -> None:
    punchlist.open().close()
    with sqlite3.connect(own_home / "punchlist" / "punchlist.db") as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with Raw() as client:
        client.greet()
        for _ in range(2):
            text, is_error = client.call("plan", add=["Read"])
            assert is_error
            assert "was written by a newer punchlist" in text
        assert [tool["name"] for tool in client.result("tools/list")["tools"]] == ["plan"]


def test_a_server_with_an_address_that_no_store_has_says_so_and_ends() -> None:
    done = subprocess.run([SCRIPT, "mcp", "--store", "nowhere:x"], input=b"", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"punchlist: no store 'nowhere:x'; a store begins with one of memory:, ")


@pytest.mark.torture
def test_a_server_of_plans_that_is_down_is_an_answer() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        address = f"postgresql://u:secret@127.0.0.1:{taken.getsockname()[1]}/p"
        with Raw("--store", address) as client:
            client.greet()
            text, is_error = client.call("plan", add=["Read"])
            assert is_error
            assert client.result("ping") == {}
    assert "127.0.0.1" in text
    assert "secret" not in text


def test_a_plan_that_does_not_exist_is_an_answer() -> None:
    with Raw("--plan", "abcdefgh") as client:
        text, is_error = client.call("plan", add=["Read"])
    assert is_error
    assert "no plan 'abcdefgh'" in text


def test_two_servers_at_once_lose_nothing_of_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_SESSION", "shared")

    def work(client: Raw, name: str) -> None:
        for number in range(25):
            client.say("plan", add=[f"{name} {number}"])

    with Raw() as one, Raw() as other:
        one.say("plan", add=["first"])
        threads = [threading.Thread(target=work, args=pair) for pair in ((one, "a"), (other, "b"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    texts = {item.text for item in plan("shared").items}
    assert texts == {"first", *(f"{name} {number}" for name in "ab" for number in range(25))}


def test_what_the_user_does_meanwhile_is_told_with_the_next_answer(client: Raw) -> None:
    client.greet()
    client.say("plan", add=["Read", "Write"])
    subprocess.run([SCRIPT, "done", "1"], check=True, capture_output=True)
    assert client.say("plan", show=True).splitlines()[-1] == 'the user completed 1 "Read".'
    assert "the user" not in client.say("plan", show=True)
