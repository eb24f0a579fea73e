"""The plan in the Claude Agent SDK, with Claude Code itself: the program that `make clients` installs, against a
scripted model on loopback. Nothing may leave the machine."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultDeny,
    ResultMessage,
    query,
)

import punchlist
from punchlist import ops
from punchlist.adapters.claude_sdk import attach
from punchlist.testing import conformance
from tests.clients.agents import Setup as Usual
from tests.clients.agents import World, claude_code
from tests.clients.model import Model, Request
from tests.clients.script import Step, does, plan, says, shell
from tests.clients.wires import Said, Wire

NUDGE = "The plan is not finished:"
LISTED = "Your plan; what is open:"


class Stage:
    """A home, a project, a model, and options that lead to the program there."""

    def __init__(self, program: Path, folder: Path, model: Model | None = None) -> None:
        self.model = model or Model(claude_code.ASIDE)
        self.home, self.project = folder / "home", folder / "project"
        for one in (self.home, self.project):
            one.mkdir(exist_ok=True)
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.store = f"sqlite:{folder}/plan.db"
        self.program = program
        self.session = ""

    def options(self, *, env: dict[str, str] | None = None, **more: Any) -> ClaudeAgentOptions:
        near = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), self.model.address)
        folders = {f"XDG_{name.upper()}_HOME": str(self.home / name) for name in ("config", "data", "cache", "state")}
        world = World(self.program, self.home, self.project, self.model.address)
        person = {"HOME": str(self.home), "CLAUDE_CONFIG_DIR": str(self.home / ".claude"), **folders}
        own = claude_code.environ(world, Usual())
        given = {"allowed_tools": ["Bash", "Task"], "model": claude_code.NEWEST, **more}
        environ = {**person, **proxies, **near, **own, **(env or {})}
        return ClaudeAgentOptions(cli_path=self.program, cwd=self.project, env=environ, **given)

    def run(
        self, options: ClaudeAgentOptions, *steps: Step, prompt: str = "Fix it.", aside: dict[str, Any] | None = None
    ) -> str:
        """Give the program a prompt, and play the script to its end. `aside`: the scripts of sub-agents."""
        self.model.play({**(aside or {}), "": steps})
        said = asyncio.run(self._run(options, prompt))
        assert (self.model.left, self.model.faults) == (0, [])
        return said

    async def _run(self, options: ClaudeAgentOptions, prompt: str) -> str:
        said = ""
        async for message in query(prompt=prompt, options=options):
            if isinstance(message, ResultMessage):
                self.session, said = message.session_id, message.result or ""
        return said

    @property
    def requests(self) -> list[Request]:
        return self.model.requests

    def items(self, session: str = "", agent: str = "main") -> list[tuple[str, str]]:
        with punchlist.open(self.store, session=session or self.session, agent=agent) as desk:
            return [(item.text, item.status) for item in desk.plan.items]


@pytest.fixture
def program() -> Path:
    root = os.environ.get("PUNCHLIST_TEST_CLIENTS", "")
    if not root:
        pytest.skip("needs Claude Code: PUNCHLIST_TEST_CLIENTS names no folder with agents")
    program = claude_code.program(Path(root, claude_code.FOLDER))
    if program is None:
        pytest.skip("needs Claude Code, which is not installed")
    return program


@pytest.fixture
def stage(program: Path, tmp_path: Path) -> Iterator[Stage]:
    made = Stage(program, tmp_path)
    with closing(made.model):
        yield made
    assert made.model.strays == []


def words(request: Request) -> str:
    """All that the model reads, its system prompt included."""
    return "\n".join(piece.text for piece in request.pieces)


def test_the_tool_and_its_text_are_in_the_first_request_and_the_work_is_kept(stage: Stage) -> None:
    check = {"text": "Read", "check": "true && true"}
    steps = (does(plan(add=[check, "Fix"])), does(shell("true && true")), does(shell("exit 3")), says("Which one?"))
    stage.run(attach(stage.options(setting_sources=[]), stage.store), *steps)
    assert claude_code.TOOL in stage.requests[0].names
    assert "make a plan with `plan`" in stage.requests[0].pieces[0].text, "it is in the system prompt"
    assert stage.requests[1].answers == ["added 1-2; now 1 Read (0/2)"]
    with punchlist.open(stage.store, session=stage.session) as desk:
        first, second = desk.load(calls=True).items
    assert [(call["name"], call["outcome"], call["exit"]) for call in first.calls] == [
        ("Bash", "ok", 0),
        ("Bash", "failed", 3),
    ]
    assert [one["exit"] for one in first.evidence] == [0]
    assert second.calls == ()


def test_an_edit_of_the_user_is_told_once_and_an_early_stop_is_nudged_once(stage: Stage) -> None:
    def edit() -> None:
        found = [sys.executable, "-m", "punchlist", "add", "Ask Ann", "--store", stage.store]
        environ = {**os.environ, "XDG_STATE_HOME": str(stage.home / "state")}
        subprocess.run(found, check=True, cwd=stage.project, env=environ, stdout=subprocess.DEVNULL)

    options = attach(stage.options(setting_sources=[]), stage.store)
    steps = (
        does(plan(add=["Read", "Fix"])),
        does(shell("echo hi"), first=edit),
        does(shell("echo ho")),
        says("Half of it."),
        says("I stop."),
    )
    assert stage.run(options, *steps) == "I stop."
    told = [request.latest for request in stage.requests]
    assert [text.count('the user added 3 "Ask Ann".') for text in told] == [0, 0, 1, 0, 0]
    assert [text.count(NUDGE) for text in told] == [0, 0, 0, 0, 1]
    assert stage.items()[2] == ("Ask Ann", "pending")


@pytest.mark.parametrize(
    ("prompt", "said"), [("Fix it.", "Shall I keep the name?"), ("Make a plan, then wait for me.", "Here it is.")]
)
def test_a_question_and_wait_are_respected(stage: Stage, prompt: str, said: str) -> None:
    options = attach(stage.options(setting_sources=[]), stage.store)
    assert stage.run(options, does(plan(add=["Read", "Fix"])), says(said), prompt=prompt) == said


def test_each_request_begins_with_the_one_before(stage: Stage) -> None:
    def edit() -> None:
        with punchlist.open(stage.store, session="mine") as desk:
            desk.change(lambda plan: ops.add(plan, "Ask Ann"))

    options = attach(stage.options(setting_sources=[]), stage.store, session="mine")
    steps = (
        does(plan(add=["Read", "Fix"])),
        does(shell("echo hi"), first=edit),
        says("Half of it."),
        does(plan(done=[1, 2, 3])),
        says("Done."),
    )
    stage.run(options, *steps)
    for before, after in zip(stage.requests, stage.requests[1:], strict=False):
        assert after.body["tools"] == before.body["tools"]
        assert after.body["system"] == before.body["system"]
        kept = _without_marks(before.body["messages"])
        assert _without_marks(after.body["messages"])[: len(kept)] == kept


def _without_marks(messages: list[Any]) -> list[tuple[str, Any]]:
    """The blocks of a conversation without the marks of where a cache may begin, which Claude Code moves along."""
    found = []
    for message in messages:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            kept: dict[str, Any] = {name: value for name, value in block.items() if name != "cache_control"}
            if isinstance(kept.get("content"), list):
                kept["content"] = "".join(part.get("text", "") for part in kept["content"])
            found.append((message["role"], kept))
    return found


def test_a_compacted_conversation_is_told_the_plan_once(stage: Stage) -> None:
    options = attach(stage.options(env=dict(claude_code.COMPACTS.environ), setting_sources=[]), stage.store)
    full = does(shell("echo hi"), tokens=claude_code.FULL)
    stage.run(options, does(plan(add=["Read", "Fix"])), full, does(shell("echo ho")), says("Which one?"))
    assert stage.model.asides, "it was compacted"
    told = [request.heard.count(LISTED) for request in stage.requests]
    assert told == [0, 0, 1, 1]
    assert "- now 1 Read\n- 2 Fix" in stage.requests[2].heard


def test_a_sub_agent_has_a_plan_of_its_own(stage: Stage) -> None:
    agents: list[str] = []

    async def note(event: Any, use: str | None, context: Any) -> Any:
        agents.append(event["agent_id"])
        return {}

    hooks: Any = {"SubagentStart": [HookMatcher(hooks=[note])]}
    options = attach(stage.options(hooks=hooks, setting_sources=[]), stage.store)
    own = [does(plan(add=["Search"])), does(shell("echo hi")), claude_code.concluded("Half of it.")]
    steps = (does(plan(add=["Read"])), *claude_code.delegated("Look around"), says("Which one?"))
    stage.run(options, *steps, aside={"Look around": own})
    assert stage.items() == [("Read", "in_progress")]
    (agent,) = agents
    assert stage.items(agent=agent) == [("Search", "in_progress")]


def test_a_resumed_conversation_has_its_plan(stage: Stage) -> None:
    stage.run(attach(stage.options(setting_sources=[]), stage.store), does(plan(add=["Read", "Fix"])), says("Which?"))
    first = stage.session
    again = attach(stage.options(resume=first, setting_sources=[]), stage.store)
    stage.run(again, does(plan(done=[1])), says("Which one?"), prompt="Go on.")
    assert stage.session == first
    assert LISTED not in stage.requests[0].latest, "it is in the conversation"
    assert stage.items() == [("Read", "completed"), ("Fix", "in_progress")]


def test_a_fork_has_a_copy_of_the_plan(stage: Stage) -> None:
    stage.run(attach(stage.options(setting_sources=[]), stage.store), does(plan(add=["Read", "Fix"])), says("Which?"))
    first = stage.session
    forked = attach(stage.options(resume=first, fork_session=True, setting_sources=[]), stage.store)
    stage.run(forked, does(plan(done=[1])), says("Which one?"), prompt="Go on.")
    assert stage.session != first
    assert stage.items() == [("Read", "completed"), ("Fix", "in_progress")]
    assert stage.items(first) == [("Read", "in_progress"), ("Fix", "pending")]


def test_a_refused_permission_is_not_answered_with_a_nudge(stage: Stage) -> None:
    async def refuse(name: str, args: Any, context: Any) -> PermissionResultDeny:
        return PermissionResultDeny(message="Not now.")

    options = attach(stage.options(allowed_tools=[], can_use_tool=refuse, setting_sources=[]), stage.store)
    steps = (does(plan(add=["Read", "Fix"])), does(shell("touch x")), says("It was not allowed."))
    assert stage.run(options, *steps) == "It was not allowed."
    assert stage.items() == [("Read", "in_progress"), ("Fix", "pending")], "our own call needs no permission"


@pytest.mark.parametrize(
    "form", [None, "You fix parsers.", "preset", "custom", "file"], ids=["none", "text", "preset", "custom", "file"]
)
def test_the_text_is_in_every_form_of_system_prompt_with_the_user_s(stage: Stage, form: Any) -> None:
    path = stage.project / "prompt.md"
    path.write_text("You fix parsers.", "utf-8")
    given: Any = {
        "preset": {"type": "preset", "preset": "claude_code", "append": "You fix parsers."},
        "custom": {"type": "custom", "prompt": "You fix parsers."},
        "file": {"type": "file", "path": str(path)},
    }.get(form, form)
    stage.run(attach(stage.options(system_prompt=given, setting_sources=[]), stage.store), says("Hello."))
    system = stage.requests[0].pieces[0].text
    assert system.count("make a plan with `plan`") == 1
    assert form is None or "You fix parsers." in system


@pytest.mark.parametrize("hooks", ["process", "server"])
def test_a_punchlist_that_is_installed_in_the_settings_is_off_for_the_run(stage: Stage, hooks: str) -> None:
    options = stage.options()
    environ = {**os.environ, **options.env}
    words = [sys.executable, "-m", "punchlist", "install", "claude-code", "--via", "settings", "--hooks", hooks]
    subprocess.run(words, check=True, cwd=stage.project, env=environ, stdout=subprocess.DEVNULL)
    steps = (does(plan(add=["Read", "Fix"])), does(shell("echo hi")), says("Half of it."), says("I stop."))
    stage.run(attach(options, stage.store), *steps)
    assert [name for name in stage.requests[0].names if "plan" in name.lower()] == [claude_code.TOOL]
    assert [request.latest.count(NUDGE) for request in stage.requests] == [0, 0, 0, 1]
    told = [line for request in stage.requests for line in request.latest.splitlines() if " hook " in line[:40]]
    assert [line[:28] for line in told] == ["Stop hook additional context"], "no other hook has anything to say"
    assert stage.items() == [("Read", "in_progress"), ("Fix", "pending")]


def test_several_clients_at_once_keep_their_plans_apart(stage: Stage) -> None:
    options = attach(stage.options(setting_sources=[]), stage.store)
    lines = {
        f"Do part {number}.": [does(plan(add=[f"Read {number}"])), says("Which one?"), says("Which one?")]
        for number in (1, 2)
    }
    stage.model.play({**lines, "": []})

    async def talk(number: int) -> str:
        session = ""
        async with ClaudeSDKClient(options) as client:
            for prompt in (f"Do part {number}.", "What is left?"):
                await client.query(prompt)
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        session = message.session_id
        return session

    async def both() -> list[str]:
        return list(await asyncio.gather(talk(1), talk(2)))

    sessions = asyncio.run(both())
    assert stage.model.faults == []
    assert [stage.items(session) for session in sessions] == [[("Read 1", "in_progress")], [("Read 2", "in_progress")]]


def test_a_run_goes_on_without_its_store(stage: Stage) -> None:
    Path(stage.store.removeprefix("sqlite:")).mkdir()
    options = attach(stage.options(setting_sources=[]), stage.store)
    assert stage.run(options, does(plan(add=["Read"])), does(shell("echo hi")), says("Done.")) == "Done."
    assert "Not saved" in stage.requests[1].latest


def test_a_run_that_is_broken_off_leaves_no_lock(stage: Stage) -> None:
    options = attach(stage.options(setting_sources=[]), stage.store, session="mine")
    stage.model.play({"": [does(plan(add=["Read"])), does(shell("sleep 600"))]})

    async def main() -> None:
        task = asyncio.create_task(stage._run(options, "Fix it."))
        while len(stage.requests) < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    with punchlist.open(stage.store, session="mine") as desk:
        desk.change(lambda plan: ops.complete(plan, "1"))


class Bridge(Model):
    """A model on loopback that a case of the conformance kit answers for."""

    def __init__(self, case: conformance.Case) -> None:
        self.case = case
        super().__init__(claude_code.ASIDE)

    def answer(self, wire: Wire, body: Any) -> Said:
        offers, pieces = wire.offers(body), wire.pieces(body)
        if not offers or claude_code.ASIDE in Request(offers, pieces, body).latest:
            return Said("Some of the work is done.", [], 100)
        messages = [{"role": role, "content": [block]} for role, block in _without_marks(body["messages"])]
        text, calls = self.case.model.request(messages, body["tools"])
        known = {offer.name: offer for offer in offers}
        return Said(text, [(known[call.name], call.args) for call in calls], 100)


def test_the_conformance_kit_passes_with_the_program_itself(program: Path, tmp_path: Path) -> None:
    """All of it but `kill`, whose process is a copy of this one, and without the threads that the model needs."""
    stages: list[Stage] = []

    def make_agent(case: conformance.Case) -> Any:
        stage = Stage(program, Path(case.folder), Bridge(case))
        stages.append(stage)

        async def work(prompt: str) -> str:
            given = stage.options(setting_sources=[], resume=stage.session or None)
            return await stage._run(attach(given, case.store, session=case.session), prompt)

        async def compact() -> None:
            await work("/compact")

        work.compact = compact  # type: ignore[attr-defined]
        return work

    report = conformance.check(make_agent, skip=["kill"])
    for stage in stages:
        stage.model.close()
    report.check()
    assert [one.name for one in report.results if one.outcome != "passed"] == ["observations"], str(report)
    assert [stage.model.strays for stage in stages if stage.model.strays] == []


def test_a_cleared_conversation_of_a_session_that_was_given_is_told_the_plan_once(stage: Stage) -> None:
    options = attach(stage.options(setting_sources=[]), stage.store, session="mine")
    stage.model.play({"": [does(plan(add=["Read", "Fix"])), says("Which one?"), says("And now?"), says("Well?")]})

    async def main() -> list[str]:
        sessions: list[str] = []
        async with ClaudeSDKClient(options) as client:
            for prompt in ("Fix it.", "/clear", "Go on.", "What is left?"):
                await client.query(prompt)
                found = [one async for one in client.receive_response()]
                sessions += [one.session_id for one in found if isinstance(one, ResultMessage)]
        return sessions

    first, second, *others = asyncio.run(main())
    assert (stage.model.left, stage.model.faults) == (0, [])
    assert first != second, "it is another conversation for Claude Code"
    assert others == [second, second]
    assert [request.latest.count(LISTED) for request in stage.requests] == [0, 0, 1, 0]
