"""What is observed of commands in each agent: a failing run of a check, an edit, a passing one, and what a user sees at
each moment; how commands end, and where they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from punchlist import open as open_desk
from punchlist.desk.evidence import load_seen
from tests.clients.agents import OTHERS, PATHS, Setup
from tests.clients.agents.claude_code import TASKS
from tests.clients.script import Call, Step, does, own, plan, says, shell
from tests.clients.stage import USUAL, Stage, built

CHECK = "make test"
UNTOLD = "Goose does not tell its exit code"


@pytest.fixture(params=[*PATHS, *OTHERS, "claude-code --hooks process"])
def every(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Every agent in turn, attached, in a project with a test that fails."""
    yield from prepared(request.param, tmp_path)


def prepared(name: str, folder: Path) -> Iterator[Stage]:
    name, *options = name.split()
    stage = built(name, folder)
    try:
        stage.attach(*options)
        (stage.project / "Makefile").write_text("test:\n\t@grep -q fixed parser.txt\n", encoding="utf-8")
        for file, text in {"parser.txt": "broken", "mended.txt": "fixed", "longer.txt": "fixed, more"}.items():
            (stage.project / file).write_text(f"{text}\n", encoding="utf-8")
        (stage.project / "sub").mkdir()
        yield stage
    finally:
        stage.model.close()


class Moment(NamedTuple):
    """What a user sees of an item."""

    grade: str
    exits: list[int | None]  # of the runs of its check that were observed


class Moments(list[Moment]):
    """What a user saw of the first item, whenever one looked."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage
        self.told: list[str] = []  # what `show 1` said

    def look(self) -> None:
        item = self._stage.plan["items"][0]
        self.append(Moment(item.get("grade", ""), [row["exit"] for row in item.get("evidence", [])]))
        self.told.append(self._stage.punchlist("show", "1"))

    def approve(self) -> None:
        """The user looks, trusts the check, and looks again."""
        self.look()
        self._stage.punchlist("check", "1", "--approve")
        self.look()


def test_a_check_that_fails_then_passes_is_seen_at_each_moment(every: Stage) -> None:
    seen = Moments(every)
    every.run(
        "Fix the parser.",
        does(plan(add=[{"text": "Fix the parser", "check": CHECK}])),
        does(shell(CHECK)),
        does(plan(done=[1])),
        does(shell("cp mended.txt parser.txt"), first=seen.look),
        does(shell(f"{CHECK} | tail -5"), first=seen.look),
        does(shell(CHECK), first=seen.look),
        does(shell("cp longer.txt parser.txt"), first=seen.approve),
        says("Fixed.", first=seen.look),
    )
    every.punchlist("verify", "1")
    assert every.plan["items"][0]["grade"] == "verified"
    if every.name == "goose":
        assert seen == [Moment("reported", [])] * 6
        assert UNTOLD in seen.told[-1]
    else:
        assert seen == [
            Moment("failed", [2]),
            Moment("reported", [2]),
            Moment("reported", [2]),
            Moment("passed", [2, 0]),
            Moment("verified", [2, 0]),
            Moment("outdated", [2, 0]),
        ]
        assert ["a pipe hides its exit code" in told for told in seen.told] == [False, False, True, *[False] * 3]
    assert every.errors == []


# --- how commands end ------------------------------------------------------------------------------------------------


class Ending(NamedTuple):
    """A command, and what is observed of it: its exit code, or why it does not count."""

    call: Call
    exit: int | None = None
    why: str = ""


def bash(command: str, **more: Any) -> Call:
    return own("Bash", command=command, description="run it", **more)


def gemini(command: str, **more: Any) -> Call:
    return own("run_shell_command", command=command, **more)


def opencode(command: str, **more: Any) -> Call:
    return own("bash", command=command, description="run it", **more)


def pi(command: str, **more: Any) -> Call:
    return own("bash", i="run it", command=command, **more)


BACKGROUND, TIMED_OUT = "it went to the background", "it timed out"
NOTHING = "nothing was observed"
LATE = "sleep 4"
TIMED = ("claude-code", "codex", "opencode", "oh-my-pi")  # which tell how long a command took
LASTING = {"tools": {"shell": {"inactivityTimeout": 1}}}
ENDINGS = {
    "claude-code": [
        Ending(bash("true")),
        Ending(bash("test -s missing"), 1),
        Ending(bash("grep -q missing Makefile"), 1),
        Ending(bash("sh -c 'exit 7'"), 7),
        Ending(bash(LATE, timeout=1000), 143, TIMED_OUT),
        Ending(bash("sleep 0.01", run_in_background=True), None, BACKGROUND),
    ],
    "codex": [
        Ending(own("exec_command", cmd="true")),
        Ending(own("exec_command", cmd="sh -c 'exit 7'"), 7),
        Ending(own("exec_command", cmd="sleep 3", yield_time_ms=250), None, NOTHING),
    ],
    "gemini": [
        Ending(gemini("true")),
        Ending(gemini("sh -c 'exit 7'"), 7),
        Ending(gemini("kill -9 $$"), None, "it was killed"),
        Ending(gemini(LATE), None, TIMED_OUT),
        Ending(gemini("sleep 3", is_background=True), None, BACKGROUND),
    ],
    "opencode": [
        Ending(opencode("true")),
        Ending(opencode("sh -c 'exit 7'"), 7),
        Ending(opencode(LATE, timeout=1000), None, "it timed out or was killed"),
    ],
    "oh-my-pi": [
        Ending(pi("true")),
        Ending(pi("sh -c 'exit 7'"), 7),
        Ending(pi(LATE, timeout=1), None, BACKGROUND),
        Ending(pi("sleep 0.01", **{"async": True}), None, BACKGROUND),
    ],
    "goose": [
        Ending(own("shell", command="true"), None, UNTOLD),
        Ending(own("shell", command="exit 7"), None, UNTOLD),
        Ending(own("shell", command=LATE, timeout_secs=1), None, UNTOLD),
    ],
}
SETUPS = {"codex": Setup("gpt-5.4"), "gemini": Setup(settings=LASTING)}


def with_item(call: Call) -> dict[str, Any]:
    command = call.args.get("command") or call.args["cmd"]
    return {"text": f"Run {command}", "check": command}


def observed(stage: Stage) -> list[Any]:
    """What was observed of the check of each item."""
    store = next(stage.home.rglob("punchlist.db"))
    with open_desk(f"sqlite:{store}", plan=stage.plan["id"]) as desk:
        seen = load_seen(desk._seat.store, desk.plan, desk.plan.items)
    rows = [[*one.passes, *one.failures, *one.hidden] for one in seen.values()]
    return [next(iter(found), {"exit": None, "why": NOTHING}) for found in rows]


@pytest.fixture(params=ENDINGS)
def ending(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    yield from prepared(request.param, tmp_path)


def test_how_a_command_ended_is_known_or_it_does_not_count(ending: Stage) -> None:
    cases = ENDINGS[ending.name]
    steps: list[Step] = [does(one.call) for one in cases]
    setup = SETUPS.get(ending.name, USUAL)
    ending.model.play({"": [does(plan(add=[with_item(one.call) for one in cases])), *steps, *[says("Which?")] * 4]})
    ending.finish(ending.start("Try this.", setup=setup))
    expected = [(one.exit if one.exit is not None or one.why else 0, one.why) for one in cases]
    rows = observed(ending)
    assert [(row["exit"], row.get("why", "")) for row in rows] == expected
    assert ("seconds" in rows[0]) == (ending.name in TIMED)
    assert ending.errors == []


# --- where commands run ----------------------------------------------------------------------------------------------

ELSEWHERE = {
    "claude-code": [bash("cd sub && make"), bash("make"), bash("cd .. && make"), bash("cd sub && cd .. && make")],
    "codex": [own("exec_command", cmd="make", workdir="sub"), shell("make")],
    "gemini": [gemini("make", dir_path="sub"), gemini("make")],
    "opencode": [opencode("make", workdir="sub"), opencode("make")],
    "oh-my-pi": [pi("make", cwd="sub"), pi("make")],
}


@pytest.fixture(params=ELSEWHERE)
def moving(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    yield from prepared(request.param, tmp_path)


def runs(stage: Stage) -> list[str]:
    item = stage.plan["items"][0]
    return [row["command"] for row in item.get("evidence", [])]


def test_only_a_run_in_the_directory_of_the_check_counts(moving: Stage) -> None:
    (moving.project / "parser.txt").write_text("fixed\n", encoding="utf-8")
    (moving.project / "sub" / "Makefile").write_text("all:\n\t@true\n", encoding="utf-8")
    calls: Sequence[Call] = ELSEWHERE[moving.name]
    first = does(plan(add=[{"text": "Fix the parser", "check": "make"}]))
    moving.run("Try this.", first, *[does(one) for one in calls], says("Which?"), setup=SETUPS.get(moving.name, USUAL))
    counted = ["cd .. && make", "cd sub && cd .. && make"] if moving.name == "claude-code" else ["make"]
    assert runs(moving) == counted
    assert moving.errors == []


# --- who sets a check, and where -------------------------------------------------------------------------------------


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[Stage]:
    yield from prepared("claude-code", tmp_path)


def test_the_metadata_of_a_task_sets_its_check_but_not_over_the_users(claude: Stage) -> None:
    seen = Moments(claude)
    about = {"subject": "Fix the parser", "description": "It is broken.", "metadata": {"check": CHECK}}
    claude.run(
        "Fix the parser.",
        does(own("TaskCreate", **about)),
        does(shell("cp mended.txt parser.txt")),
        does(shell(CHECK)),
        does(own("TaskUpdate", taskId="1", status="completed")),
        does(own("TaskList"), first=seen.look),
        does(
            own("TaskUpdate", taskId="1", metadata={"check": "true"}),
            first=lambda: claude.punchlist("check", "1", "make"),
        ),
        says("Fixed."),
        setup=TASKS,
    )
    assert seen == [Moment("passed", [0])]
    [item] = claude.plan["items"]
    assert (item["check"], item["check_set"]["by"]) == ({"run": "make"}, "user")
    assert claude.errors == []


def test_a_check_belongs_to_the_directory_that_the_agent_works_in(claude: Stage) -> None:
    claude.run(
        "Fix the parser.",
        does(bash("cd sub")),
        does(plan(add=[{"text": "Fix the parser", "check": "make"}])),
        says("Which?"),
    )
    [item] = claude.plan["items"]
    assert item["check_set"]["dir"] == str(claude.project / "sub")


# --- checks that are run at the end of a turn ------------------------------------------------------------------------

SLOW = 12  # seconds: more than agents give a hook of ours that is not about the end of a turn


@pytest.fixture(params=["claude-code", "claude-code --hooks process", "codex"])
def waiting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    yield from prepared(request.param, tmp_path)


def test_a_slow_check_is_run_at_the_end_of_a_turn_and_the_agent_told_how_it_went(waiting: Stage) -> None:
    waiting.configure('verify = "run"')
    makefile = "test:\n\t@echo ran >> runs.log; sleep `cat seconds`; grep -q fixed parser.txt\n"
    (waiting.project / "Makefile").write_text(makefile, encoding="utf-8")
    (waiting.project / ".gitignore").write_text("runs.log\n", encoding="utf-8")
    (waiting.project / "seconds").write_text("0\n", encoding="utf-8")
    waiting.run(
        "Fix the parser.",
        does(plan(add=[{"text": "Fix the parser", "check": CHECK}])),
        does(shell(CHECK), first=lambda: waiting.punchlist("check", "1", "--approve")),
        does(shell(f"echo {SLOW} > seconds")),
        does(plan(done=[1])),
        says("Fixed."),
        says("It is not."),
    )
    told = 'Marked done and not verified: 1 "Fix the parser" (its check has failed: run "make test").'
    assert [told in request.latest for request in waiting.requests] == [*[False] * 5, True]
    item = waiting.plan["items"][0]
    assert (item["grade"], [row["tier"] for row in item["evidence"]]) == ("failed", ["seen", "ran"])
    assert (waiting.project / "runs.log").read_text(encoding="utf-8") == "ran\n" * 2
    assert waiting.errors == []
