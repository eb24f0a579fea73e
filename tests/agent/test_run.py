"""`punchlist run` as a process: prompts, sessions, death and resurrection."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

import punchlist as package
from punchlist import ops
from punchlist.agent.models import model_name
from punchlist.prompts import say
from tests.agent.commands import entries, script, transcripts, until
from tests.agent.contexts import call, turn
from tests.agent.servers import Says, serving
from tests.commands import SCRIPT, do, run


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_a_prompt_is_worked_off_and_what_happened_is_printed(tmp_path: Path) -> None:
    model = script(
        tmp_path,
        turn(call("plan", add=["Write it"]), call("write", path="a.txt", text="hello"), text="I write it."),
        turn(call("plan", done=[1])),
        turn(text="It is written."),
    )
    done = run("run", "--model", model, "write", "a.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("a.txt").read_text() == "hello"
    assert done.stdout.splitlines() == [
        "I write it.",
        "→ plan",
        "▶ Write it 0/1",
        "  added 1; now 1 Write it (0/1)",
        "→ write a.txt",
        "  made a.txt (5 characters)",
        "→ plan",
        "✓ 1/1",
        "  all done (1/1)",
        "It is written.",
    ]


def test_the_plan_of_a_session_is_there_for_the_other_commands(tmp_path: Path) -> None:
    model = script(tmp_path, turn(call("plan", add=["Read", "Write"])), turn(text="Which one?"))
    done = run("run", "--model", model, "go")
    assert "Read" in run("show").stdout
    id = transcripts(tmp_path / "home")[0].stem
    assert f"to continue: punchlist run --resume {id} 'go on'" in done.stdout
    assert run("show", "--session", id).stdout == run("show").stdout


def test_a_prompt_can_come_from_standard_input(tmp_path: Path) -> None:
    done = run("run", "--model", script(tmp_path, turn(text="Yes.", expect=["is it well?"])), stdin="is it well?\n")
    assert (done.returncode, done.stdout) == (0, "Yes.\n")


def test_as_json_the_outcome_is_one_object(tmp_path: Path) -> None:
    model = script(tmp_path, turn(call("plan", add=["Read"])), turn(text="Which one?"))
    said = json.loads(run("run", "--json", "--model", model, "go").stdout)
    assert (said["why"], said["reason"], said["text"]) == ("waiting", "it asks the user something", "Which one?")
    assert [item["text"] for item in said["plan"]["items"]] == ["Read"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run", "go"], 1, "no model is named; say --model"),
        (["run", "--model", "script:none.json", "go"], 1, "none.json: No such file or directory."),
        (["run", "--model", "MODEL"], 1, "say what to do: punchlist run 'fix the tests'"),
        (["run", "--model", "MODEL", "--continue", "go"], 1, "there is no session here to continue"),
        (["run", "--model", "MODEL", "--resume", "none", "go"], 1, "no session 'none'"),
        (["run", "--model", "MODEL", "--session", "a/b", "go"], 1, "a session's name is made of letters"),
        (["run", "--continue", "--resume", "x"], 2, "cannot be combined"),
    ],
)
def test_what_cannot_be_run_is_refused_in_words_and_leaves_no_session(
    tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    model = script(tmp_path, turn(text="Hello."))
    done = run(*[model if word == "MODEL" else word for word in words])
    assert done.returncode == code
    assert message in done.stderr
    assert transcripts(tmp_path / "home") == []


def test_a_model_that_fails_is_reported_and_the_session_can_go_on(tmp_path: Path) -> None:
    done = run("run", "--model", script(tmp_path, turn(errors=["no more today"])), "go")
    assert done.returncode == 1
    assert "no more today" in done.stdout
    again = run("run", "--continue", "--model", script(tmp_path, turn(text="Here.")), "again")
    assert (again.returncode, again.stdout) == (0, "Here.\n")


# --- coming back -----------------------------------------------------------------------------------------------------


def test_continue_brings_conversation_and_plan_back(tmp_path: Path) -> None:
    model = script(
        tmp_path,
        turn(call("plan", add=["Read", "Write"])),
        turn(text="Which file?"),
        turn(call("plan", done=[1]), expect=["the first", "Your plan", "Read"]),
        turn(text="And now?"),
    )
    run("run", "--model", model, "go")
    done = run("run", "--continue", "--model", model, "the first")
    assert done.returncode == 0
    assert "▶ Write 1/2" in done.stdout
    (path,) = transcripts(tmp_path / "home")
    assert [one["text"] for one in entries(path) if one["type"] == "user"] == ["go", "the first"]


@pytest.mark.parametrize("dialect", ["native", "claude-code", "gencode", "oh-my-pi", "llxprt"])
def test_a_list_that_waits_in_the_directory_is_the_plan_of_the_next_session_and_of_no_other(
    tmp_path: Path, dialect: str
) -> None:
    run("add", "Read the prepared list")
    model = script(tmp_path, turn(text="I see. Shall I?", expect=["Read the prepared list"]))
    first = run("run", "--dialect", dialect, "--model", model, "--session", "one", "hi")
    assert (first.returncode, first.stderr) == (0, "")
    other = script(tmp_path, turn(text="Hello?", absent=["Read the prepared list"]))
    assert run("run", "--dialect", dialect, "--model", other, "--session", "two", "hi").returncode == 0
    shown = json.loads(run("show", "--session", "one", "--json").stdout)
    assert [item["text"] for item in shown["items"]] == ["Read the prepared list"]


def test_resume_takes_the_beginning_of_an_id_and_continue_the_last_of_this_place(tmp_path: Path) -> None:
    for name in ("alpha", "beta"):
        model = script(tmp_path, turn(text=f"I am {name}."))
        run("run", "--model", model, "--session", name, f"be {name}")
    model = script(tmp_path, turn(), turn(text="Again.", expect=["still you?"]))
    assert run("run", "--resume", "al", "--model", model, "still you?").returncode == 0
    assert [one["text"] for one in entries(_of(tmp_path, "alpha")) if one["type"] == "user"] == [
        "be alpha",
        "still you?",
    ]
    os.utime(_of(tmp_path, "beta"), (1, 1))
    again = script(tmp_path, turn(), turn(), turn(text="Here."))
    assert run("run", "--continue", "--model", again, "who?").returncode == 0
    assert len(entries(_of(tmp_path, "alpha"))) > len(entries(_of(tmp_path, "beta")))


def test_a_session_is_not_continued_in_another_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(tmp_path, turn(text="Hello."))
    run("run", "--model", model, "go")
    (tmp_path / "elsewhere" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "there is no session here" in run("run", "--continue", "--model", model, "go").stderr


def test_a_session_can_work_from_a_plan_that_is_there(tmp_path: Path) -> None:
    run("add", "Read", "Write")
    plan = json.loads(run("show", "--json").stdout)["id"]
    model = script(tmp_path, turn(call("plan", done=[1]), expect=["Your plan", "Read"]), turn(text="And now?"))
    done = run("run", "--model", model, "--plan", plan, "go")
    assert done.returncode == 0, done.stderr
    items = json.loads(run("show", "--json", "--plan", plan).stdout)["items"]
    assert [item["status"] for item in items] == ["completed", "in_progress"]


def test_a_session_that_takes_over_a_plan_hears_of_it_as_its_predecessor_would_have(tmp_path: Path) -> None:
    first = script(tmp_path, turn(call("plan", add=["Read", "Write"])), turn(call("plan", done=[1])), turn(text="OK?"))
    assert run("run", "--model", first, "go").returncode == 0
    run("rename", "2", "Write it well")
    plan = json.loads(run("show", "--json").stdout)["id"]
    model = script(tmp_path, turn(text="And now?", expect=["Your plan"]))
    assert run("run", "--session", "later", "--model", model, "--plan", plan, "go").returncode == 0
    told = [one["text"] for one in entries(_of(tmp_path, "later")) if one["type"] == "attachment"]
    assert sum("The user renamed 2" in text for text in told) == 1
    assert not any("gent main" in text for text in told)


def test_killed_in_the_middle_of_a_call_it_goes_on_where_it_was(tmp_path: Path, project: Path) -> None:
    model = script(
        tmp_path,
        turn(call("plan", add=["Read", "Write"])),
        turn(call("plan", done=[1]), call("shell", command="echo $$ > begun; sleep 300"), text="This takes long."),
        turn(call("plan", done=[2]), expect=["interrupted: ", "go on", "Your plan (1/2 done)", "Write"]),
        turn(text="Finished."),
    )
    running = subprocess.Popen([SCRIPT, "run", "--model", model, "go"], stdout=subprocess.DEVNULL)
    begun = until(lambda: (project / "begun").exists() and (project / "begun").read_text(), "the command has begun")
    running.kill()
    running.wait()
    os.killpg(int(begun), signal.SIGKILL)
    done = run("run", "--continue", "--model", model, "go on")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✓ 2/2" in done.stdout
    (path,) = transcripts(tmp_path / "home")
    calls = [one["id"] for entry in entries(path) for one in entry.get("calls", ())]
    results = [entry["id"] for entry in entries(path) if entry["type"] == "result"]
    assert sorted(calls) == sorted(results)


@pytest.mark.parametrize("bytes_lost", [1, 5, 25])
def test_a_line_that_was_being_written_when_it_died_is_let_go(tmp_path: Path, bytes_lost: int) -> None:
    model = script(tmp_path, turn(call("plan", add=["Read"])), turn(text="Which?"), turn(text="Yes?"))
    run("run", "--model", model, "go")
    (path,) = transcripts(tmp_path / "home")
    path.write_bytes(path.read_bytes()[:-bytes_lost])
    done = run("run", "--continue", "--model", model, "on")
    assert done.returncode == 0, done.stderr
    assert all(entries(path))


# --- interrupt -------------------------------------------------------------------------------------------------------


def test_an_interrupt_stops_the_turn_and_loses_nothing(tmp_path: Path, project: Path) -> None:
    model = script(
        tmp_path,
        turn(call("plan", add=["Read"])),
        turn(call("shell", command="echo $$ > begun; sleep 300"), call("shell", command="echo > never")),
        turn(call("plan", done=[1]), expect=["The user stopped you here", "go on"]),
        turn(text="Finished."),
    )
    running = subprocess.Popen([SCRIPT, "run", "--model", model, "go"], stdout=subprocess.PIPE, encoding="utf-8")
    until(lambda: (project / "begun").exists() and (project / "begun").read_text().strip(), "the command has begun")
    running.send_signal(signal.SIGINT)
    printed, _ = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "stopped. Say how to continue." in printed
    assert not (project / "never").exists()
    pid = int((project / "begun").read_text())
    until(lambda: not _alive(pid), "the command has ended")
    done = run("run", "--continue", "--model", model, "go on")
    assert done.returncode == 0, done.stdout


def test_two_interrupts_leave_at_once_and_nothing_is_lost(tmp_path: Path, project: Path) -> None:
    model = script(
        tmp_path,
        turn(call("plan", add=["Read"])),
        turn(call("shell", command="trap '' TERM; echo > begun; while :; do sleep 0.1; done")),
        turn(call("plan", done=[1])),
        turn(text="Finished."),
    )
    running = subprocess.Popen([SCRIPT, "run", "--model", model, "go"], stdout=subprocess.PIPE, encoding="utf-8")
    until((project / "begun").exists, "the command has begun")
    running.send_signal(signal.SIGINT)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 130
    done = run("run", "--continue", "--model", model, "go on")
    assert done.returncode == 0, done.stdout


# --- commands from outside -------------------------------------------------------------------------------------------


def test_the_commands_of_a_session_are_text_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("run", "/todos").stdout == "No todos currently tracked\n"
    model = script(tmp_path, turn(call("plan", add=["Read", "Write", "Test"])), turn(text="Which?"))
    run("run", "--model", model, "go")
    run("run", "/todo done Read")
    assert run("run", "/todos").stdout == "3 todos:\n  ☒ Read\n  ☐ Write\n  ☐ Test\n"
    assert run("run", "--continue", "/undo").stdout == 'started 1 "Read".\n'
    assert run("run", "/todo frob").stderr == (
        "punchlist: /todo has no 'frob'; it has edit, copy, export, import, append, start, done, drop, rm, help.\n"
    )
    assert run("run", "/frob").stderr == "punchlist: no command '/frob'; /help lists them.\n"
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    assert run("run", "/todo edit").stderr.startswith("punchlist: there is no terminal for an editor; set EDITOR")
    assert transcripts(tmp_path / "home") == transcripts(tmp_path / "home")[:1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("/todo done 1-2", 'completed 1 "One".\ncompleted 2 "Two".\n'),
        ("/todo drop 2,3", 'dropped 2 "Two": dropped by the user.\ndropped 3 "Three": dropped by the user.\n'),
        ("/todo rm 1 3", 'removed 1 "One".\nremoved 3 "Three".\n'),
        ("/todo done #2", 'completed 2 "Two".\n'),
    ],
)
def test_the_commands_of_a_session_take_ranges_and_lists(words: str, said: str) -> None:
    do("add", "One", "Two", "Three")
    assert do("run", words) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("/tood", "no command '/tood'; did you mean '/todo'?"),
        ("/todo strat 1", "/todo has no 'strat'; did you mean 'start'?"),
        ("/todo start 1-2", "this takes one item, and 1-2 names 2: 1, 2."),
    ],
)
def test_a_mistyped_command_of_a_session_gets_a_suggestion(words: str, said: str) -> None:
    do("add", "One", "Two")
    assert run("run", words).stderr == f"punchlist: {said}\n"


@pytest.mark.parametrize("words", ["/quit", "/exit", "/quit now"])
def test_outside_of_a_session_there_is_nothing_to_leave(words: str) -> None:
    done = run("run", words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_command_from_outside_is_for_the_session_or_plan_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for session in ("one", "two"):
        with package.open(session=session) as desk:
            plan = desk.change(lambda plan, name=session: ops.add(plan, f"Of {name}")).plan  # type: ignore[misc]
    with package.open() as desk:
        assert desk.plan.id == plan.id
    monkeypatch.setenv("PUNCHLIST_SESSION", "one")
    assert run("run", "/todos").stdout == "1 todo:\n  ☐ Of one\n"
    monkeypatch.delenv("PUNCHLIST_SESSION")
    with package.open(session="one") as desk:
        monkeypatch.setenv("PUNCHLIST_PLAN", desk.plan.id)
    assert run("run", "/todos").stdout == "1 todo:\n  ☐ Of one\n"


def test_a_prompt_that_is_no_utf8_is_taken_as_far_as_it_goes(tmp_path: Path) -> None:
    model = script(tmp_path, turn(text="Fine.", expect=["caf\ufffd"]))
    words = [SCRIPT, "run", "--model", model]
    done = subprocess.run(words, input=b"caf\xe9", capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_without_any_standard_input_it_works(tmp_path: Path) -> None:
    model = script(tmp_path, turn(text="Fine."))
    done = subprocess.run(f"exec {SCRIPT} run --model {model} go <&-", shell=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_the_user_does_with_a_command_is_the_user_s(tmp_path: Path) -> None:
    model = script(
        tmp_path,
        turn(call("plan", add=["Read", "Write"])),
        turn(text="Which?"),
        turn(text="Fine?", expect=['removed 2 "Write"; do not bring it back', "on with it"]),
    )
    run("run", "--model", model, "go")
    assert run("run", "--continue", "/todo rm Write").stdout == 'removed 2 "Write".\n'
    with package.open() as desk:
        assert desk.history()[-1].by == "user"
    assert run("run", "--continue", "--model", model, "on with it").returncode == 0


# --- a real provider -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_an_agent_works_with_a_provider_over_http(tmp_path: Path, kind: str) -> None:
    answers = (
        Says(["I make ", "a plan."], [("plan", json.dumps({"add": ["Write it"]}))]),
        Says([], [("write", json.dumps({"path": "a.txt", "text": "hello"})), ("plan", '{"done": [1]}')]),
        Says(["It is written."]),
    )
    keys = {"ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "x"}
    with serving(kind, *answers) as server:
        done = run("run", "--model", f"{kind}:m", "--base-url", server.url, "write a.txt", **keys)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("a.txt").read_text() == "hello"
    assert done.stdout.endswith("✓ 1/1\n  all done (1/1)\nIt is written.\n")
    assert "added 1; now 1 Write it (0/1)" in str(server.asked[1])
    names = [tool.get("name") or tool["function"]["name"] for tool in server.asked[0]["tools"]]
    assert names[:3] == ["plan", "shell", "read"]


@pytest.mark.parametrize(("model", "wanted"), [("gpt-6-nano", "native.full"), ("gpt-6", "native"), ("m", "native")])
def test_a_small_model_is_given_the_full_description_of_the_plan(model: str, wanted: str) -> None:
    with serving("openai", Says(["Here I am."])) as server:
        done = run("run", "--model", f"openai:{model}", "--base-url", server.url, "go", OPENAI_API_KEY="x")
    assert (done.returncode, done.stderr) == (0, "")
    assert server.asked[0]["tools"][0]["function"]["description"] == say(wanted)


def test_the_name_of_a_script_is_not_that_of_a_model() -> None:
    assert [model_name(one) for one in ("script:gpt-6-mini.json", "ollama:qwen3:8b", "")] == ["", "qwen3:8b", ""]


def test_a_provider_that_is_busy_is_said_to_be_waited_for() -> None:
    slow = Says(status=429, headers=[("Retry-After", "1")], error="slow down")
    with serving("openai", slow, Says(["Here I am."])) as server:
        done = run("run", "--model", "openai:m", "--base-url", server.url, "go", OPENAI_API_KEY="x")
    assert done.stdout == "· openai is busy; again in 1 s (1 of 5)…\nHere I am.\n"


def test_where_the_extra_is_missing_it_is_said_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "hidden" / "pydantic_ai").mkdir(parents=True)
    words = "raise ModuleNotFoundError(\"No module named 'pydantic_ai'\", name='pydantic_ai')"
    (tmp_path / "hidden" / "pydantic_ai" / "__init__.py").write_text(words)
    env = {"PYTHONPATH": str(tmp_path / "hidden"), "OPENAI_API_KEY": "x"}
    done = run("run", "--model", "openai:m", "go", **env)
    assert done.returncode == 1
    assert done.stderr.startswith("punchlist: a model of openai needs pydantic_ai; install it: ")
    assert "pydantic-ai-slim[anthropic,openai]" in done.stderr


def _of(tmp_path: Path, session: str) -> Path:
    return tmp_path / "home" / "punchlist" / "sessions" / f"{session}.jsonl"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not os.path.isdir("/proc/self")


def test_todo_append_makes_a_phase_that_is_named_in_quotes(tmp_path: Path) -> None:
    model = script(tmp_path, turn(call("plan", add=["Read"])), turn(text="Which?"))
    run("run", "--model", model, "go")
    run("run", '/todo append "New phase" First thing')
    run("run", '/todo append "new phase" Second thing')
    run("run", "/todo append Third thing")
    plan = json.loads(run("show", "--json").stdout)
    assert [(item["text"], item.get("phase")) for item in plan["items"]] == [
        ("Read", None),
        ("First thing", "New phase"),
        ("Second thing", "New phase"),
        ("Third thing", "New phase"),
    ]
