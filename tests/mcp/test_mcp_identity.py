"""Session, agent and plan are one: a call to the server reaches the plan that a hook of the same agent reaches.

Real processes: an agent (`agent.py`) starts the server and the hooks, as agents do. Each row of the table in
docs/identity.md is played through.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import punchlist
from punchlist import Plan
from tests.commands import do, run

AGENT = str(Path(__file__).parent / "agent.py")


class Agent:
    """An agent process, told what to do."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, name: str = "server", **more: Any) -> None:
        self._tell("start", name=name, **more)

    def call(self, name: str = "server", meta: dict[str, Any] | None = None, **args: Any) -> str:
        return self._tell("call", name=name, meta=meta or {}, args=args)

    def hook(self, key: str, session: str, **more: Any) -> None:
        self._tell("hook", key=key, session=session, **more)

    def inner(self, do: str, **more: Any) -> str:
        """Tell an agent that this one runs in a shell."""
        return self._tell("inner", order={"do": do, **more})

    def _tell(self, do: str, **more: Any) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"do": do, **more}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the agent is gone"
        return str(json.loads(line))


@contextmanager
def running() -> Iterator[Agent]:
    """An agent that runs."""
    command = [sys.executable, AGENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        yield Agent(process)


@pytest.fixture
def agent() -> Iterator[Agent]:
    with running() as one:
        yield one


def texts(session: str, agent: str = "main") -> list[str]:
    """What is on the plan of a session's agent, as a hook would see it."""
    with punchlist.open(session=session, agent=agent) as desk:
        return [item.text for item in desk.plan.items]


def plans() -> list[dict[str, Any]]:
    done = run("plans", "--json")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


# --- what the server was started with --------------------------------------------------------------------------------


def test_what_the_server_was_started_with_wins_over_everything(agent: Agent) -> None:
    agent.hook("process", "tied")
    agent.start(words=["--session", "named", "--agent", "helper"], env={"PUNCHLIST_SESSION": "other"})
    agent.start("by environment", env={"PUNCHLIST_SESSION": "other"})
    agent.call(add=["Read"], meta={"agent-session-id": "goose"})
    agent.call("by environment", add=["Write"], meta={"agent-session-id": "goose"})
    assert (texts("named", "helper"), texts("other"), texts("tied"), texts("goose")) == (["Read"], ["Write"], [], [])


def test_a_plan_that_was_named_is_the_plan(agent: Agent) -> None:
    with punchlist.open(session="first") as desk:
        plan: Plan = desk.change(lambda plan: punchlist.ops.add(plan, "Read")).plan
    agent.start(env={"PUNCHLIST_PLAN": plan.id})
    agent.call(add=["Write"], meta={"agent-session-id": "goose"})
    assert texts("first") == ["Read", "Write"]


def test_a_named_session_still_keeps_its_sub_agents_apart(agent: Agent) -> None:
    agent.start(env={"PUNCHLIST_SESSION": "job"})
    agent.hook("tool", "s1", id="toolu_1", agent="helper")
    agent.call(add=["Help"], meta={"claudecode/toolUseId": "toolu_1"})
    agent.call(add=["Lead"])
    assert (texts("job", "helper"), texts("job")) == (["Help"], ["Lead"])


# --- Claude Code -----------------------------------------------------------------------------------------------------

CLAUDE: dict[str, Any] = {"client": "claude-code", "env": {"CLAUDE_CODE_SESSION_ID": "first"}}


def use(id: str) -> dict[str, Any]:
    return {"claudecode/toolUseId": id, "progressToken": 1}


@pytest.mark.parametrize("shell", [False, True])
def test_claude_code_a_tool_use_says_which_session_and_agent_made_it(agent: Agent, shell: bool) -> None:
    agent.start(**CLAUDE, shell=shell)
    agent.hook("tool", "first", id="toolu_1", host="claude-code", shell=shell)
    agent.call(meta=use("toolu_1"), add=["Read"])
    assert texts("first") == ["Read"]


def test_claude_code_sub_agents_that_share_the_server_have_plans_of_their_own(agent: Agent) -> None:
    agent.start(**CLAUDE)
    for id, name in (("toolu_1", "main"), ("toolu_2", "explorer-1"), ("toolu_3", "explorer-2")):
        agent.hook("tool", "first", id=id, agent=name, host="claude-code")
    agent.call(meta=use("toolu_2"), add=["Look left"])  # they need not come in the order of their hooks
    agent.call(meta=use("toolu_1"), add=["Lead"])
    agent.call(meta=use("toolu_3"), add=["Look right"])
    assert texts("first") == ["Lead"]
    assert texts("first", "explorer-1") == ["Look left"]
    assert texts("first", "explorer-2") == ["Look right"]


def test_claude_code_without_hooks_is_known_by_its_environment(agent: Agent) -> None:
    agent.start(**CLAUDE)
    agent.call(meta=use("toolu_1"), add=["Read"])
    assert texts("first") == ["Read"]


def test_claude_code_after_clear_a_running_server_serves_the_new_session(agent: Agent) -> None:
    agent.start(**CLAUDE)
    agent.call(meta=use("toolu_1"), add=["Read"])
    agent.hook("process", "second", host="claude-code", shell=True)  # the session start that comes with /clear
    agent.call(meta=use("toolu_2"), add=["Write"])
    assert (texts("first"), texts("second")) == (["Read"], ["Write"])
    agent.hook("tool", "second", id="toolu_3", host="claude-code")
    agent.call(meta=use("toolu_3"), add=["Test"])
    assert texts("second") == ["Write", "Test"]


def test_claude_code_after_clear_a_session_bound_to_the_same_plan_goes_on_with_it(agent: Agent) -> None:
    agent.start(**CLAUDE)
    agent.call(meta=use("toolu_1"), add=["Read"])
    with punchlist.open(session="first") as desk:
        desk.bind("second")
    agent.hook("process", "second", host="claude-code")
    agent.call(meta=use("toolu_2"), add=["Write"])
    assert texts("second") == texts("first") == ["Read", "Write"]


# --- Codex and Goose -------------------------------------------------------------------------------------------------


def test_codex_says_session_and_thread_with_every_call(agent: Agent) -> None:
    agent.start(client="codex-mcp-client")

    def turn(thread: str) -> dict[str, Any]:
        return {"x-codex-turn-metadata": {"session_id": "s", "thread_id": thread, "turn_id": "t"}, "threadId": thread}

    agent.call(meta=turn("s"), add=["Lead"])
    agent.call(meta=turn("sub"), add=["Help"])
    assert (texts("s"), texts("s", "sub")) == (["Lead"], ["Help"])


def test_codex_calls_can_be_tied_by_their_id(agent: Agent) -> None:
    agent.start(client="codex-mcp-client")
    agent.hook("tool", "s", id="call_1", agent="helper", host="codex")
    agent.call(meta={"callId": "call_1"}, add=["Help"])
    assert texts("s", "helper") == ["Help"]


def test_goose_says_session_and_directory_with_every_call(agent: Agent, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    agent.start(client="goose-cli")
    agent.call(meta={"agent-session-id": "20261115_1", "agent-working-dir": str(elsewhere)}, add=["Read"])
    assert texts("20261115_1") == ["Read"]
    assert [plan["place"] for plan in plans()] == [str(elsewhere)]


def test_one_server_serves_more_sessions_than_it_keeps_at_hand(agent: Agent) -> None:
    agent.start(client="goose-cli")
    for number in [*range(70), 0]:
        agent.call(meta={"agent-session-id": f"s{number}"}, add=[f"step {number}"])
    assert texts("s0") == ["step 0", "step 0"]
    assert all(texts(f"s{number}") == [f"step {number}"] for number in range(1, 70))


# --- Gemini CLI, opencode, oh-my-pi: the process ---------------------------------------------------------------------

NAMELESS = [("gemini-cli-mcp-client", "gemini"), ("opencode", "opencode"), ("omp-coding-agent", "oh-my-pi")]


@pytest.mark.parametrize(("client", "host"), NAMELESS, ids=[host for _, host in NAMELESS])
@pytest.mark.parametrize("shell", [False, True], ids=["direct", "in a shell"])
def test_an_agent_that_says_nothing_is_joined_by_its_process(agent: Agent, client: str, host: str, shell: bool) -> None:
    agent.start(client=client, shell=not shell)
    agent.hook("process", "s1", host=host, shell=shell)
    agent.call(add=["Read"])
    agent.hook("process", "s2", host=host, shell=shell)  # another session of the same process
    agent.call(add=["Write"])
    assert (texts("s1"), texts("s2")) == (["Read"], ["Write"])


def test_a_hook_before_the_server_is_started_counts_too(agent: Agent) -> None:
    agent.hook("process", "s1", host="gemini")
    agent.start(client="gemini-cli-mcp-client")
    agent.call(add=["Read"])
    assert texts("s1") == ["Read"]


def test_an_agent_that_had_no_name_until_now_keeps_its_plan(agent: Agent) -> None:
    agent.start(client="gemini-cli-mcp-client")
    agent.call(add=["Read", "Write"])
    do("done", "1")
    agent.hook("process", "s1", host="gemini")
    told = agent.call(start=[2])
    assert texts("s1") == ["Read", "Write"]
    assert told.splitlines()[1:] == ['the user completed 1 "Read".']
    assert len(plans()) == 1


# --- two agents ------------------------------------------------------------------------------------------------------


def test_two_agents_in_one_directory_keep_two_plans_without_any_name() -> None:
    with running() as one, running() as other:
        one.start()
        other.start()
        assert one.call(add=["Read"]) == "added 1; now 1 Read (0/1)"
        assert other.call(add=["Write"]) == "added 1; now 1 Write (0/1)"
        assert one.call(done=[1]) == "all done (1/1)"
    assert len({plan["id"] for plan in plans()}) == 2


def test_two_agents_in_one_directory_keep_two_plans_when_one_has_hooks() -> None:
    with running() as one, running() as other:
        one.hook("process", "s1", host="gemini")
        one.start(client="gemini-cli-mcp-client")
        other.start(client="gemini-cli-mcp-client")
        other.call(add=["Write"])
        one.call(add=["Read"])
    assert texts("s1") == ["Read"]
    assert len(plans()) == 2


def test_two_servers_of_one_agent_work_from_one_plan(agent: Agent) -> None:
    agent.start("one")
    agent.start("other", shell=True)
    agent.call("one", add=["Read"])
    assert "Read" in agent.call("other", show=True)


@pytest.mark.parametrize("client", ["codex-mcp-client", "unheard-of"])
def test_an_agent_that_another_runs_in_its_shell_has_a_plan_of_its_own(agent: Agent, client: str) -> None:
    agent.hook("process", "outer", host="gemini")
    agent.start(client="gemini-cli-mcp-client")
    agent.call(add=["Lead"])
    agent.inner("start", name="server", client=client)
    agent.inner("call", name="server", args={"add": ["Help"]})
    assert texts("outer") == ["Lead"]
    assert len(plans()) == 2


def test_a_tie_of_another_program_is_not_ours(agent: Agent) -> None:
    agent.hook("process", "outer", host="claude-code")
    agent.start(client="gemini-cli-mcp-client", env={"CLAUDE_CODE_SESSION_ID": "outer"})
    agent.call(add=["Read"])
    assert texts("outer") == []


# --- nonsense --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "meta",
    [
        {"claudecode/toolUseId": 7, "x-codex-turn-metadata": "x", "agent-session-id": ["x"], "agent-working-dir": 1},
        {"claudecode/toolUseId": {}, "x-codex-turn-metadata": {"session_id": 1}, "agent-session-id": ""},
        {"agent-session-id": "x" * 5000, "agent-working-dir": "not absolute"},
        {"x-codex-turn-metadata": {"session_id": "", "thread_id": "t"}, "callId": None},
    ],
)
def test_what_makes_no_sense_says_nothing(agent: Agent, meta: dict[str, Any]) -> None:
    agent.start()
    agent.call(add=["Read"])
    assert "Read" in agent.call(meta=meta, show=True)


# --- a list that the user wrote first --------------------------------------------------------------------------------


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that waits for the next session in a directory."""
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    do("add", "Read the parser", "Fix it")


@pytest.mark.usefixtures("prepared")
@pytest.mark.parametrize("meta", [{}, {"agent-session-id": "s1"}])
def test_the_first_session_of_a_client_without_hooks_gets_the_list_that_waits(meta: dict[str, Any]) -> None:
    with running() as one, running() as two:
        one.start()
        said = one.call(meta=meta, show=True)
        assert 'the user added 1 "Read the parser".\nthe user added 2 "Fix it".' in said
        assert one.call(meta=meta, done=[1]) == "now 2 Fix it (1/2)", "it is told once"
        two.start()
        assert two.call(show=True) == "the plan is empty", "one session gets it"
    [row] = json.loads(do("plans", "--json"))
    assert (row["completed"], row["total"]) == (1, 2)


@pytest.mark.usefixtures("prepared")
def test_a_client_whose_hooks_tell_of_the_list_is_not_told_by_the_server() -> None:
    with running() as one:
        one.hook("process", "s1", host="claude-code")
        one.start(client="claude-code")
        assert one.call(show=True) == "the plan is empty", "its hooks decide which plan it starts with"


@pytest.mark.usefixtures("prepared")
def test_a_long_list_is_told_whole_with_the_first_answer() -> None:
    do("add", *(f"Step {number}" for number in range(3, 15)))
    with running() as one:
        one.start()
        said = one.call(edit=[{"id": 1, "note": "begun"}])
        assert "what is open:\n- 1 Read the parser" in said
        assert "- 14 Step 14" in said


def test_two_servers_that_were_started_on_one_plan_are_two_agents(agent: Agent) -> None:
    with punchlist.open(session="first") as desk:
        desk.call("plan", {"add": ["Read", "Write", "Ship"]})
        plan = desk.plan.id
    agent.start(env={"PUNCHLIST_PLAN": plan}, client="goose")
    agent.call(start=[2], meta={"agent-session-id": "second"})
    with punchlist.open(session="first") as desk:
        assert [(item.id, item.owner) for item in desk.plan.busy] == [("1", ""), ("2", "goose")]
        assert desk.history()[-1].by == "goose"
