"""The tools, on real files and real processes."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from punchlist.agent.context import Bounds, Context
from punchlist.agent.events import Question
from punchlist.agent.messages import Call, Result
from punchlist.agent.tool_runner import results
from punchlist.agent.tools import ask_user, files, shell
from tests.agent.contexts import Agent, agent

TOOLS = [*files.tools(), *shell.tools(), *ask_user.tools()]


class Bench:
    """An agent's tools, called by hand."""

    def __init__(self, folder: Path) -> None:
        self.reply = ""
        self.made: Agent = agent(folder, [], answers=lambda question: self.reply, bounds=Bounds(output=2000))
        self.context: Context = self.made.context
        self.folder = Path(self.context.folder)

    def __call__(self, tool: str, **args: Any) -> Result:
        (result,) = results(self.context, TOOLS, [Call("1", tool, args)])
        return result

    @property
    def asked(self) -> list[Question]:
        return self.made.asked


@pytest.fixture
def use(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.made.close()


def test_glob_follows_no_links_round_in_a_circle(use: Bench) -> None:
    for name in ("a/b/c.py", "d.py", ".hidden/e.py", "node_modules/f.py"):
        (use.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (use.folder / name).touch()
    for name in ("a/round", "a/b/again", "a/b/here"):
        (use.folder / name).symlink_to(use.folder)
    assert use("glob", pattern="**/*.py").text == "a/b/c.py\nd.py"
    assert use("glob", pattern="a/**/c.*").text == "a/b/c.py"
    assert use("glob", pattern="**/b/**/*.py").text == "a/b/c.py"
    assert use("glob", pattern="a/**").text == "a/b/c.py"
    assert use("glob", pattern="a/*/*.py").text == "a/b/c.py\na/round/d.py"


# --- the shell -------------------------------------------------------------------------------------------------------


def test_a_command_runs_in_the_working_directory_and_its_exit_code_is_told(use: Bench) -> None:
    done = use("shell", command="pwd; echo wrong >&2; exit 3")
    assert done.text == f"{use.folder}\nwrong\n(exit code 3)"
    assert done.is_error
    assert use("shell", command="true").text == "(exit code 0)"


def test_a_command_that_takes_too_long_is_ended_with_everything_it_started(use: Bench) -> None:
    done = use("shell", command="sleep 300 & echo $! > child; echo begun; sleep 300", seconds=1)
    assert done.is_error
    assert done.text == "begun\n(ended after 1 second: it took too long)"
    assert _ends(int((use.folder / "child").read_text()))


def test_what_a_command_leaves_running_ends_with_it(use: Bench) -> None:
    done = use("shell", command="sleep 300 & echo $!")
    assert not done.is_error
    assert _ends(int(done.text.split()[0]))


def test_what_a_command_leaves_running_is_given_time_to_end(use: Bench) -> None:
    use(
        "shell",
        command="(trap 'sleep 0.3; touch ended; exit' TERM; touch begun; while :; do sleep 0.05; done) & "
        "while [ ! -e begun ]; do sleep 0.01; done",
    )
    assert (use.folder / "ended").exists()


def test_a_command_that_ignores_the_polite_signal_is_ended_all_the_same(use: Bench) -> None:
    done = use("shell", command="trap '' TERM; echo $$; while :; do sleep 0.05; done", seconds=1)
    assert done.is_error
    assert _ends(int(done.text.split()[0]))


def test_long_output_loses_its_middle(use: Bench) -> None:
    done = use("shell", command="echo first; yes middle | head -c 5000000; echo last")
    assert len(done.text) < 2500
    assert done.text.startswith("first\n")
    assert "bytes left out" in done.text
    assert done.text.endswith("last\n(exit code 0)")


def test_output_that_is_no_utf8_is_shown_as_far_as_it_goes(use: Bench) -> None:
    assert "caf\ufffd" in use("shell", command=r"printf 'caf\351\n'").text


def test_a_command_has_no_standard_input_to_wait_for(use: Bench) -> None:
    assert use("shell", command="cat; echo over").text == "over\n(exit code 0)"


def test_an_interrupt_ends_a_running_command_and_everything_it_started(use: Bench) -> None:
    os.mkfifo(use.folder / "begun")

    def stop() -> None:
        (use.folder / "begun").read_text()
        use.context.stop.ask()

    waiting = threading.Thread(target=stop)
    waiting.start()
    done = use("shell", command="sleep 300 & echo $! > child; echo so far; echo go > begun; wait")
    waiting.join()
    assert done.is_error
    assert done.text == (
        "so far\n(interrupted: the user stopped this turn while the command ran; what it did until then is done)"
    )
    assert _ends(int((use.folder / "child").read_text()))


def test_the_user_is_asked_before_a_command_if_that_is_set(tmp_path: Path) -> None:
    made = agent(tmp_path, [], answers=lambda question: "no", confirm_shell="always")
    (done,) = results(made.context, TOOLS, [Call("1", "shell", {"command": "touch here"})])
    assert (done.text, done.is_error) == ("the user did not allow this command.", True)
    assert made.asked[0].details == "touch here"
    assert not os.path.exists(os.path.join(made.context.folder, "here"))
    made.close()


def test_a_command_that_reaches_outside_is_asked_about_once_and_others_are_not(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    made = agent(tmp_path, [], answers=lambda question: "yes", confirm_shell="outside")
    command = "rmdir ../victim && echo gone"
    for typed in ("touch here", command, command):
        results_of(made, typed)
    assert [question.details for question in made.asked] == [command]
    assert "`rmdir` changes ../victim, outside of the folder" in made.asked[0].text
    assert not (tmp_path / "victim").exists()
    made.close()


def test_where_nobody_is_there_to_ask_such_a_command_is_not_run_and_the_reason_is_told(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    made = agent(tmp_path, [], confirm_shell="outside")
    done = results_of(made, "rm -rf ../victim")
    assert done.is_error
    assert done.text.startswith(
        "not run: `rm` changes ../victim, outside of the folder, and nobody is here to allow it."
    )
    assert (tmp_path / "victim").exists()
    made.close()


def results_of(made: Agent, command: str) -> Result:
    (done,) = results(made.context, TOOLS, [Call("1", "shell", {"command": command})])
    return done


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("ANTHROPIC_API_KEY", True),
        ("ANTHROPIC_AUTH_TOKEN", True),
        ("OPENAI_API_KEY", True),
        ("GEMINI_API_KEY", True),
        ("GOOGLE_API_KEY", True),
        ("AWS_BEARER_TOKEN_BEDROCK", True),
        ("HF_TOKEN", True),
        ("OTHER_NAME_OF_THE_SAME_KEY", True),
        ("ANTHROPIC_MODEL", False),
        ("STRIPE_API_KEY", False),
        ("HOME", False),
    ],
)
def test_the_keys_of_model_providers_are_not_in_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, hidden: bool
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "the key itself")
    monkeypatch.setenv(name, "the key itself" if "SAME" in name else f"value of {name}")
    made = agent(tmp_path, [])
    assert (f"{name}=" not in results_of(made, "env").text) is hidden
    made.close()


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_file_is_read_with_the_numbers_of_its_lines(use: Bench) -> None:
    (use.folder / "a.txt").write_text("one\ntwo\nthree\n")
    assert use("read", path="a.txt").text == "1\tone\n2\ttwo\n3\tthree"
    assert use("read", path="a.txt", **{"from": 2, "lines": 1}).text == "2\ttwo\n(1 more line)"
    assert use("read", path="a.txt", **{"from": 9}).is_error


def test_what_is_no_text_file_is_refused_in_words(use: Bench) -> None:
    (use.folder / "b").write_bytes(b"\0\1\2")
    assert use("read", path="b").text == "'b' is not text: 3 bytes."
    assert use("read", path=".").text == "'.' is a directory; glob lists its files."
    assert use("read", path="none").text == "'none': No such file or directory."


def test_a_file_is_written_whole_and_keeps_its_mode(use: Bench) -> None:
    assert use("write", path="new/a.sh", text="echo 1\n").text == "made new/a.sh (7 characters)"
    path = use.folder / "new" / "a.sh"
    path.chmod(0o750)
    assert use("write", path="new/a.sh", text="echo 2\n").text == "wrote new/a.sh (7 characters)"
    assert path.read_text() == "echo 2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert os.listdir(path.parent) == ["a.sh"]


def test_an_edit_replaces_exactly_one_place(use: Bench) -> None:
    path = use.folder / "a.py"
    path.write_text("x = 1\ny = 1\n")
    assert use("edit", path="a.py", old="x = 1", new="x = 2").text == "changed a.py at line 1"
    twice = use("edit", path="a.py", old=" = ", new="=")
    assert twice.text == "old is in a.py 2 times, at lines 1, 2; send more of it, or all: true."
    gone = use("edit", path="a.py", old="z", new="")
    assert gone.text == "old is not in a.py; read the file and send the text as it stands there."
    assert path.read_text() == "x = 2\ny = 1\n"
    assert not use("edit", path="a.py", old=" = ", new="=", all=True).is_error
    assert path.read_text() == "x=2\ny=1\n"


def test_bytes_that_are_no_utf8_survive_an_edit(use: Bench) -> None:
    path = use.folder / "a.txt"
    path.write_bytes(b"caf\xe9 one\r\n")
    use("edit", path="a.txt", old="one", new="two")
    assert path.read_bytes() == b"caf\xe9 two\r\n"


def test_files_are_found_by_a_pattern(use: Bench) -> None:
    for name in ("a.py", "deep/er/b.py", "c.txt", ".git/d.py", "node_modules/e.py"):
        path = use.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    assert use("glob", pattern="**/*.py").text == "a.py\ndeep/er/b.py"
    assert use("glob", pattern="*.c").text == "no file matches."
    assert use("glob", pattern="../*").is_error


def test_lines_are_found_by_a_regular_expression(use: Bench) -> None:
    (use.folder / "a.py").write_text("import os\nx = os.sep\n")
    (use.folder / "b.txt").write_text("os\n")
    assert use("grep", pattern=r"\bos\b", files="*.py").text == "a.py:1:import os\na.py:2:x = os.sep"
    assert use("grep", pattern="nothing").text == "no line matches."
    wrong = use("grep", pattern="(")
    assert wrong.is_error
    assert "not a regular expression" in wrong.text


@pytest.mark.parametrize("name", ["re", "fnmatch", "json", "punchlist"])
def test_a_search_runs_nothing_of_the_project(use: Bench, name: str) -> None:
    (use.folder / f"{name}.py").write_text("open('ran', 'w').write('hello')\n")
    assert use("grep", pattern="hello").text == f"{name}.py:1:open('ran', 'w').write('hello')"
    assert not (use.folder / "ran").exists()


def test_a_regular_expression_that_would_take_for_ever_is_ended(tmp_path: Path) -> None:
    made = agent(tmp_path, [], bounds=Bounds(seconds=1))
    (Path(made.context.folder) / "a").write_text("a" * 60 + "!")
    (done,) = results(made.context, TOOLS, [Call("1", "grep", {"pattern": "(a+)+$"})])
    assert done.text == "the search took too long; use a simpler pattern or fewer files."
    made.close()


# --- outside ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "~/x", "link/secret"])
@pytest.mark.parametrize("tool", ["read", "write", "edit", "glob", "grep"])
def test_nothing_outside_of_the_working_directory_is_touched_unless_the_user_allows_it(
    use: Bench, tool: str, path: str
) -> None:
    (use.folder.parent / "secret").write_text("secret")
    (use.folder / "link").symlink_to(use.folder.parent)
    more = {"write": {"text": "x"}, "edit": {"old": "secret", "new": "x"}}.get(tool, {})
    done = use(tool, path=path, **({"pattern": "secret"} if tool in ("glob", "grep") else more))
    assert done.is_error
    assert "outside of the working directory, and the user did not allow it" in done.text
    assert [question.kind for question in use.asked] == ["allow"]
    assert (use.folder.parent / "secret").read_text() == "secret"


def test_a_place_that_the_user_allowed_is_not_asked_about_again(use: Bench) -> None:
    (use.folder.parent / "notes").write_text("hello")
    use.reply = "yes"
    assert use("read", path="../notes").text == "1\thello"
    assert use("edit", path="../notes", old="hello", new="bye").text.startswith("changed")
    assert len(use.asked) == 1


def test_a_link_that_leads_outside_is_not_listed(use: Bench) -> None:
    (use.folder.parent / "secret.py").write_text("x")
    (use.folder / "link.py").symlink_to(use.folder.parent / "secret.py")
    assert use("glob", pattern="*.py").text == "no file matches."
    assert use("grep", pattern="x").text == "no line matches."


# --- the user --------------------------------------------------------------------------------------------------------


def test_a_question_goes_to_the_user_and_comes_back_with_the_answer(use: Bench) -> None:
    use.reply = "red"
    assert use("ask", question="Which colour?", choices=["red", "blue"]).text == "red"
    assert use.asked == [Question("ask", "Which colour?", ("red", "blue"))]


def test_where_nobody_can_answer_the_model_is_told_to_decide(use: Bench) -> None:
    done = use("ask", question="Which colour?")
    assert done.is_error
    assert done.text.startswith("nobody is there to answer")


def _ends(pid: int) -> bool:
    """Whether a process that was told to end does."""
    end = time.monotonic() + 20
    while _alive(pid) and time.monotonic() < end:
        time.sleep(0.01)  # between two looks at a process that is not our child
    return not _alive(pid)


def _alive(pid: int) -> bool:
    """Whether a process runs. One that has ended and was not fetched by its parent yet does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        pass
    if os.path.isdir("/proc/self"):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
