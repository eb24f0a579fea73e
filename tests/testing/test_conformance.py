"""The conformance kit: good loops pass, and each broken loop fails exactly the scenarios about what is broken in it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import Any, get_type_hints

import pytest

import punchlist
from punchlist import BadShape, Desk
from punchlist.hosts import HOSTS
from punchlist.testing import conformance
from punchlist.testing.conformance import Case, Report
from tests.testing.loops import (
    BROKEN,
    CompactsLater,
    ForgetsTurnEnded,
    HangsInAFork,
    Loop,
    Messages,
    ShellLoop,
    TodoWriteLoop,
)
from tests.testing.reference_agent import ReferenceAgent, ReferenceAgentWithTodoWrite

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
KNOWN = "known are `plan` and tools that are sent the complete list, like `TodoWrite`."


def failed(report: Report) -> tuple[str, ...]:
    return tuple([one.name for one in report.results if one.outcome == "failed"])


def why(report: Report, name: str) -> str:
    (found,) = [one.why for one in report.results if one.name == name]
    return found


@pytest.mark.parametrize("make_agent", [Loop, TodoWriteLoop, CompactsLater])
def test_the_loop_of_the_documentation_passes_also_with_another_tool_and_with_a_memory(make_agent: type[Loop]) -> None:
    report = conformance.check(make_agent)
    assert report.passed, str(report)
    report.check()
    assert [one.name for one in report.results if one.outcome == "not run"] == ["observations"]
    assert why(report, "observations").startswith("the agent offered no tool named `shell`")
    assert [one.name for one in report.results] == list(conformance.NAMES)


@pytest.mark.parametrize("make_agent", [ShellLoop, ReferenceAgent, ReferenceAgentWithTodoWrite])
def test_a_loop_with_tools_of_its_own_and_the_reference_agent_pass_everything(make_agent: Any) -> None:
    report = conformance.check(make_agent)
    assert [one.outcome for one in report.results] == ["passed"] * len(conformance.NAMES), str(report)


@pytest.mark.parametrize("dialect", ["codex", "gemini", "gencode", "opencode"])
def test_any_dialect_that_sends_the_list_is_spoken(dialect: str) -> None:
    class Other(ShellLoop):
        def open(self) -> Desk:
            return punchlist.open(self.case.store, session=self.case.session, dialect=dialect)

    report = conformance.check(Other)
    assert [one.outcome for one in report.results] == ["passed"] * len(conformance.NAMES), str(report)


@pytest.mark.parametrize("make_agent", BROKEN)
def test_a_broken_loop_fails_what_is_broken_in_it(make_agent: Any) -> None:
    report = conformance.check(make_agent)
    assert failed(report) == tuple([name for name in conformance.NAMES if name in make_agent.fails]), str(report)
    assert not report.passed
    for one in report.results:
        assert bool(one.why) is (one.outcome != "passed")
    with pytest.raises(AssertionError, match=r"FAILED"):
        report.check()


def test_every_scenario_is_failed_by_a_loop_that_passes_others() -> None:
    assert {name for loop in BROKEN if loop.fails != conformance.NAMES for name in loop.fails} == {
        name for name in conformance.NAMES if name != "first request"
    }


def test_a_loop_with_an_unknown_tool_is_told_which_tools_are_known() -> None:
    class Other(Loop):
        def tools(self) -> Messages:
            return [{"name": "remember", "input_schema": {"type": "object", "properties": {"fact": {}}}}]

    report = conformance.check(Other, only=["first request", "restart"])
    assert why(report, "restart") == f"no plan tool of a known dialect was offered: remember; {KNOWN}"
    assert why(report, "first request") == "expected the plan's tool in the first request; the tools are: remember."


def test_the_tool_may_have_any_name() -> None:
    class Renamed(Loop):
        def tools(self) -> Messages:
            return [{**tool, "name": "mcp__punchlist__plan"} for tool in self.desk.tools()]

        def call(self, name: str, args: Any) -> str:
            return super().call(name.rpartition("__")[2], args)

    report = conformance.check(Renamed, only=["restart", "edit mid-run"])
    assert report.passed, str(report)


def test_a_tool_that_is_an_object_may_count_its_calls() -> None:
    class Tool:
        def __init__(self, definition: dict[str, Any]) -> None:
            vars(self).update(definition)
            self.calls = 0

    class Objects(Loop):
        def __init__(self, case: Case) -> None:
            super().__init__(case)
            self.offered = [Tool(one) for one in self.desk.tools()]

        def tools(self) -> Any:
            return self.offered

        def call(self, name: str, args: Any) -> str:
            self.offered[0].calls += 1
            return super().call(name, args)

    report = conformance.check(Objects, only=["stable prefix"])
    assert report.passed, str(report)


def test_the_function_of_a_case_can_be_made_a_tool_as_it_is() -> None:
    seen: list[Any] = []

    def make_agent(case: Case) -> Loop:
        seen.append((case.tool.__name__, case.tool.__doc__, get_type_hints(case.tool), case.tool("ls")))
        return Loop(case)

    conformance.check(make_agent, only="question")
    about = "Run a command in a shell, and return its output."
    assert seen[0] == ("shell", about, {"command": str, "return": str}, "ok")


def test_an_asynchronous_agent_is_awaited() -> None:
    def make_agent(case: Case) -> Callable[[str], Any]:
        loop = Loop(case)

        async def run(prompt: str) -> str:
            return await asyncio.to_thread(loop, prompt)

        async def close() -> None:
            await asyncio.to_thread(loop.close)

        run.close = close  # type: ignore[attr-defined]
        return run

    report = conformance.check(make_agent, only=["early stop", "restart", "two sessions"])
    assert report.passed, str(report)


def test_whatever_an_agent_raises_is_a_failure_in_the_report() -> None:
    def make_agent(case: Case) -> Loop:
        raise SystemExit("no key")

    report = conformance.check(make_agent)
    assert set(failed(report)) == set(conformance.NAMES)
    assert why(report, "restart") == "the agent raised SystemExit: no key"
    assert "in the forked process: SystemExit: no key" in str(report)
    with pytest.raises(AssertionError, match="no key"):
        report.check()


class Hangs(Loop):
    def ended(self, said: str) -> str:
        _ring_soon()
        return "" if Event().wait() else "never"


class HangsInAsyncio(Loop):
    def ended(self, said: str) -> str:
        async def wait() -> str:
            await asyncio.Event().wait()
            return "never"

        _ring_soon()
        return asyncio.run(wait())


def _ring_soon() -> None:
    """Let the time that the kit gives an agent be over: it has begun to hang, and the tests need not wait for that."""
    if current_thread() is main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0.05, 1)


@pytest.mark.parametrize("make_agent", [Hangs, HangsInAsyncio])
def test_a_run_that_hangs_is_ended_and_the_report_says_where(make_agent: type[Loop]) -> None:
    before = signal.getsignal(signal.SIGALRM)
    report = conformance.check(make_agent, only=["question"])
    assert why(report, "question") == "the agent did not end within 60 seconds."
    assert "in ended: return" in str(report)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_thread_and_a_process_that_hang_are_failures() -> None:
    report = conformance.check(Hangs, only=["two sessions"], seconds=3)
    assert why(report, "two sessions") == "an agent in a thread did not end within 3 seconds."
    report = conformance.check(HangsInAFork, only=["kill"], seconds=2)
    assert why(report, "kill") == "the agent hung in a forked process, and was killed after 2 seconds."


def test_the_timer_of_somebody_else_is_set_again() -> None:
    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 3600)
        assert conformance.check(Loop, only="question").passed
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 3600
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rang == []


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "x", None])
def test_seconds_must_be_a_number_greater_than_0(seconds: Any) -> None:
    with pytest.raises(BadShape, match="seconds must be a number greater than 0"):
        conformance.check(Loop, seconds=seconds)


def test_an_agent_may_change_the_directory(tmp_path: Path) -> None:
    class Moves(Loop):
        def open(self) -> Desk:
            os.chdir(self.case.folder)
            return super().open()

    before = os.getcwd()
    assert conformance.check(Moves, only=["question"]).passed
    assert os.getcwd() == before


def test_a_count_of_tokens_that_fails_leaves_the_rest_of_the_report() -> None:
    def count(text: str) -> int:
        raise ValueError("no such encoding")

    report = conformance.check(Loop, only=["question"], count_tokens=count)
    assert report.passed
    assert str(report).endswith("tokens: not measured")


def test_only_the_user_ends_a_check() -> None:
    def make_agent(case: Case) -> Loop:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conformance.check(make_agent, only=["restart"])


def test_a_make_agent_that_returns_nothing_is_told_what_to_return() -> None:
    report = conformance.check(lambda case: None, only=["question"])  # type: ignore[arg-type, return-value]
    assert "make_agent must return a function run(prompt)" in str(report)


def test_an_answer_that_is_not_a_text_fails() -> None:
    class Wraps(Loop):
        def __call__(self, prompt: str) -> Any:
            return {"messages": [super().__call__(prompt)]}

    assert "run() should return a text; it returned a dict" in str(conformance.check(Wraps, only=["question"]))


def test_a_text_of_a_class_of_its_own_is_a_text() -> None:
    class Said(str):
        """As some frameworks return it."""

    class Wraps(Loop):
        def __call__(self, prompt: str) -> str:
            return Said(super().__call__(prompt))

    report = conformance.check(Wraps, only=["question"])
    assert report.passed, str(report)


def test_an_agent_on_another_store_is_asked_whether_it_uses_the_one_of_the_case() -> None:
    def make_agent(case: Case) -> Any:
        return Loop(case._replace(session="another"))

    report = conformance.check(make_agent, only=["edit mid-run"])
    assert "Does your agent use case.store and case.session?" in str(report)


def test_a_failure_shows_what_the_model_saw_and_the_plan() -> None:
    class Silent(Loop):
        def ended(self, said: str) -> str:
            return ""

    report = conformance.check(Silent, only=["early stop"])
    assert str(report).endswith("tokens: not measured")
    assert "the model said 'I stop here.' with two open items, and was not asked again." in str(report)
    evidence = "\n".join(report.results[0].evidence)
    assert "requests to the model: 2" in evidence
    assert "added 1-2; now 1 Read the parser (0/2)" in evidence
    assert "the plan in the store: 1 Read the parser (in_progress); 2 Fix the quoting bug (pending)" in evidence


def test_the_page_describes_every_scenario_and_shows_a_real_failure() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in conformance.NAMES if f"\n| `{name}` | " not in page] == []
    report = conformance.check(ForgetsTurnEnded, only=["early stop"])
    assert f"```text\n{report}\n```" in page


def test_the_report_is_json_too() -> None:
    data = json.loads(conformance.check(Loop, only=["question"]).to_json())
    assert data["passed"] is True
    assert data["results"] == [
        {
            "name": "question",
            "shows": "a model that asks the user something is not nudged",
            "outcome": "passed",
            "why": "",
            "evidence": [],
        }
    ]
    assert set(data["tokens"]) == {"definition", "per_step", "steps"}


def test_tokens_are_those_of_the_tool_and_of_each_step() -> None:
    def words(text: str) -> int:
        return len(text.split())

    native = conformance.check(Loop, only=["question"]).tokens
    resent = conformance.check(TodoWriteLoop, only=["question"]).tokens
    assert native.steps == resent.steps == 7
    assert 0 < native.per_step * 4 < resent.per_step
    assert 0 < native.definition < resent.definition
    counted = conformance.check(Loop, only=["question"], count_tokens=words).tokens
    assert 0 < counted.definition < native.definition


def test_a_report_of_nothing_is_not_a_pass() -> None:
    report = conformance.check(Loop, only=["observations"])
    assert [one.outcome for one in report.results] == ["not run"]
    assert not report.passed


def test_scenarios_are_chosen_by_name() -> None:
    report = conformance.check(Loop, only=["question", "kill", "restart"], skip=["restart"])
    assert [one.name for one in report.results] == ["question", "kill"]
    with pytest.raises(BadShape, match="no scenario 'kil'; the scenarios are first request"):
        conformance.check(Loop, only=["kil"])


def test_it_may_run_in_the_shell_of_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    for host in HOSTS.values():
        if host.sign:
            monkeypatch.setenv(host.sign, "1")
    monkeypatch.setenv("PUNCHLIST_BY", "main")
    monkeypatch.setenv("PUNCHLIST_SESSION", "other")
    report = conformance.check(ShellLoop, only=["edit mid-run", "resend that drops items"])
    assert report.passed, str(report)


def test_a_check_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLIST_CONTINUATION", "false")
    before = dict(os.environ)
    report = conformance.check(Loop, only=["early stop"])
    assert report.passed, "settings of the machine do not apply"
    assert dict(os.environ) == before
