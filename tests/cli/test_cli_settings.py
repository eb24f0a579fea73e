"""Settings: which value wins, where it came from, and what is said of one that cannot be used."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commands import BOUND, SCRIPT, bound, run


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work" / "src").mkdir(parents=True)
    (tmp_path / "work" / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def user_file(own_home: Path) -> Path:
    (own_home / "punchlist").mkdir()
    return own_home / "punchlist" / "punchlist.toml"


@pytest.fixture
def project_file() -> Path:
    return Path("punchlist.toml").absolute()


def settings(*words: str, cwd: str = ".", **env: str) -> dict[str, Any]:
    """Every setting with its value and origin."""
    found: dict[str, Any] = json.loads(run("settings", "--json", *words, cwd=cwd, **env).stdout)
    return found


def value(name: str, *words: str, **env: str) -> tuple[Any, str]:
    found = settings(*words, **env)[name]
    return found["value"], found["origin"]


def fault(*words: str, **env: str) -> str:
    """What `settings` complains of."""
    done = run("settings", *words, **env)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


# --- which value wins ------------------------------------------------------------------------------------------------


def test_without_files_every_value_is_a_default(own_home: Path) -> None:
    found = settings()
    del found["look_ms"]  # every test sets it
    assert {entry["origin"] for entry in found.values()} == {"default"}
    assert found["store"]["value"] == f"sqlite:{own_home}/punchlist/punchlist.db"
    assert found["dialect"]["value"] == "native"
    assert all(entry["about"] for entry in found.values())


def test_a_later_place_wins_over_an_earlier_one(user_file: Path, project_file: Path) -> None:
    assert value("dialect") == ("native", "default")
    user_file.write_text('dialect = "codex"')
    assert value("dialect") == ("codex", str(user_file))
    project_file.write_text('dialect = "gencode"')
    assert value("dialect") == ("gencode", str(project_file))
    assert value("dialect", PUNCHLIST_DIALECT="llxprt") == ("llxprt", "PUNCHLIST_DIALECT")


def test_a_flag_wins_over_everything(user_file: Path) -> None:
    user_file.write_text('store = "sqlite:/nowhere/a.db"\ndialect = "codex"')
    assert value("store", "--store", "memory:", PUNCHLIST_STORE="sqlite:b.db") == ("memory:", "--store")
    done = run("tools", "--dialect", "gencode", "--format", "anthropic", PUNCHLIST_DIALECT="llxprt")
    assert [tool["name"] for tool in json.loads(done.stdout)] == ["TodoWrite"]


def test_the_dialect_of_the_settings_is_the_one_spoken(project_file: Path) -> None:
    project_file.write_text('dialect = "codex"')
    assert [tool["name"] for tool in json.loads(run("tools").stdout)] == ["update_plan"]


def test_the_project_s_file_is_found_from_a_folder_below(project_file: Path) -> None:
    project_file.write_text("tolerant = true")
    assert settings(cwd="src")["tolerant"] == {**settings()["tolerant"], "value": True, "origin": str(project_file)}


def test_a_file_above_the_git_root_is_not_the_project_s(tmp_path: Path) -> None:
    (tmp_path / "punchlist.toml").write_text("tolerant = true")
    assert value("tolerant") == (False, "default")


@pytest.mark.parametrize(("text", "meant"), [("1", True), ("yes", True), ("TRUE", True), ("0", False), ("no", False)])
def test_a_variable_says_yes_or_no_in_any_usual_way(text: str, meant: bool) -> None:
    assert value("tolerant", PUNCHLIST_TOLERANT=text) == (meant, "PUNCHLIST_TOLERANT")


def test_an_empty_variable_says_nothing() -> None:
    assert value("tolerant", PUNCHLIST_TOLERANT="") == (False, "default")


def test_settings_are_listed_with_value_and_origin(project_file: Path) -> None:
    project_file.write_text("tolerant = true")
    lines = {line.split()[0]: line.split()[1:] for line in run("settings").stdout.splitlines()}
    assert lines["dialect"] == ["native", "(default)"]
    assert lines["tolerant"] == ["true", f"({project_file})"]
    assert lines.keys() == settings().keys()


# --- what cannot be used ---------------------------------------------------------------------------------------------


def test_a_project_cannot_redirect_plans(project_file: Path) -> None:
    project_file.write_text('store = "sqlite:stolen.db"')
    said = fault()
    assert str(project_file) in said
    assert "'store' cannot be set by a project" in said
    run("add", "mine")
    assert not os.path.exists("stolen.db")
    assert settings()["store"]["origin"] == "default"


@pytest.mark.parametrize(
    ("name", "tighter", "looser"),
    [
        ("nudges", 5, 100),
        ("idle_nudges", 1, 4),
        ("nudge_minutes", 0, 31),
        ("continuation", False, True),
        ("off", True, False),
        ("redact_calls", True, False),
        ("reminders", False, True),
        ("user_closed_is_final", True, False),
        ("strict_pause", True, False),
        ("seed_plan", False, True),
        ("turns", 100, 999_999_999),
        ("context", 50_000, 200_000),
        ("plan_mode_every", 9, 1),
        ("remind_after", 20, 1),
        ("remind_again", 20, 1),
        ("verify", "block", "run"),
        ("auto_done", False, True),
        ("verify_minutes", 5, 60),
        ("keep_output", False, True),
    ],
)
def test_a_project_can_bind_agents_tighter_and_not_looser_than_the_user(
    user_file: Path, project_file: Path, name: str, tighter: object, looser: object
) -> None:
    default = settings()[name]["value"]
    if isinstance(tighter, bool):
        user_file.write_text(f"{name} = {json.dumps(tighter)}")
        default = tighter
    project_file.write_text(f"{name} = {json.dumps(looser)}")
    assert f"{name!r} cannot be set to" in fault()
    assert settings()[name]["value"] == default
    user_file.write_text("")
    project_file.write_text(f"{name} = {json.dumps(tighter)}")
    assert value(name) == (tighter, str(project_file))
    assert run("settings").stderr == ""


def test_the_default_check_is_in_a_table_of_its_own(project_file: Path) -> None:
    project_file.write_text('[checks]\ndefault = "make test"\n')
    assert value("default_check") == ("make test", str(project_file))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("checks = 3", "'checks' must be a table with 'default', not 3."),
        ("[checks]\ndefualt = 'x'", "'defualt' is not a setting in [checks]; the only one is 'default'."),
        ("[checks]\ndefault = 3", "'default_check' must be a string, not 3."),
    ],
)
def test_a_table_of_checks_that_cannot_be_used_is_named(project_file: Path, text: str, problem: str) -> None:
    project_file.write_text(text)
    assert fault() == f"punchlist: {project_file}: {problem}\n"


@bound
def test_a_file_that_may_not_be_read_is_named_with_the_reason(project_file: Path) -> None:
    project_file.write_text("tolerant = true")
    project_file.chmod(0)
    done = subprocess.run([*BOUND, SCRIPT, "settings"], capture_output=True, encoding="utf-8", check=False)
    assert done.stderr == f"punchlist: {project_file}: Permission denied; its settings are not used.\n"


def test_a_file_that_is_too_long_is_named_and_not_read(project_file: Path) -> None:
    project_file.write_text("tolerant = true\n" + "#" * 64_000)
    assert fault() == f"punchlist: {project_file}: it is longer than 64000 bytes; its settings are not used.\n"
    assert settings()["tolerant"]["value"] is False


@pytest.mark.parametrize(
    "words",
    [
        "show",
        "settings",
        "add A",
        "doctor",
        "import none\x1b[2J.md --format markdown",
        "--store json:a\x1b[2Jb show",
        "mcp",
        "run x\x1b[2J",
    ],
)
def test_the_name_of_a_directory_does_not_act_on_a_terminal(tmp_path: Path, words: str) -> None:
    folder = tmp_path / "sub\x1b]0;TITLE\x07\u202e"
    folder.mkdir()
    (folder / "punchlist.toml").write_text('colour = "blue"')
    done = run(*words.split(" "), cwd=str(folder), XDG_STATE_HOME=str(folder / "state"), PUNCHLIST_MODEL="script:none")
    said = done.stdout + done.stderr
    assert "\ufffd" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


@pytest.mark.parametrize(("own", "theirs", "kept"), [("300", 299, 299), ("300", 301, 300), ("0", 1, 0)])
def test_a_project_can_make_the_reminders_cheaper_and_not_dearer(
    user_file: Path, project_file: Path, own: str, theirs: int, kept: int
) -> None:
    user_file.write_text(f"reminder_budget = {own}")
    project_file.write_text(f"reminder_budget = {theirs}")
    assert settings()["reminder_budget"]["value"] == kept


@pytest.mark.parametrize(("name", "value"), [("keep_history", '"1m"'), ("sqlite_synchronous", '"normal"')])
def test_a_project_has_no_say_in_how_plans_are_kept(project_file: Path, name: str, value: str) -> None:
    run("add", "mine")
    project_file.write_text(f"{name} = {value}")
    assert f"{name!r} cannot be set by a project" in fault()
    assert settings()[name]["origin"] == "default"


@pytest.mark.parametrize(
    ("text", "key", "right"),
    [
        ('tolerant = "yes"', "'tolerant'", "must be true or false, not 'yes'"),
        ("dialect = 3", "'dialect'", "must be a string, not 3"),
        ("frob = 1", "'frob'", "the settings are store, dialect, tolerant"),
        ('sqlite_synchronous = "off"', "'sqlite_synchronous'", "must be one of 'normal', 'full', not 'off'"),
        ('dialect = "klingon"', "'dialect'", "native, claude-code"),
        ("[tolerant]\nx = 1", "'tolerant'", "must be true or false"),
        ("tolerant = \nx = 1", "", "line 1"),
        ("nudges = -1", "'nudges'", "must be 0 to 999999999, not -1"),
        ("nudges = 1000000000", "'nudges'", "must be 0 to 999999999, not 1000000000"),
        ("clear_delay = -1000000000", "'clear_delay'", "must be -999999999 to 999999999"),
        ('nudges = "20"', "'nudges'", "must be a whole number, not '20'"),
    ],
)
def test_a_fault_names_the_file_the_key_and_what_would_be_right(
    user_file: Path, text: str, key: str, right: str
) -> None:
    user_file.write_text(text)
    said = fault()
    assert said.startswith(f"punchlist: {user_file}: ")
    assert key in said
    assert right in said


def test_a_fault_in_a_variable_names_the_variable() -> None:
    assert "PUNCHLIST_TOLERANT: 'tolerant' must be true or false, not 'maybe'" in fault(PUNCHLIST_TOLERANT="maybe")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("-1", "0 to 999999999, not -1."), ("1000000000", "0 to 999999999, not 1000000000."), ("3x", "a whole number")],
)
def test_a_number_in_a_variable_is_judged_like_one_in_a_file(text: str, wanted: str) -> None:
    assert f"PUNCHLIST_NUDGES: 'nudges' must be {wanted}" in fault(PUNCHLIST_NUDGES=text)


def test_a_value_that_cannot_be_used_leaves_the_one_before_it(user_file: Path, project_file: Path) -> None:
    user_file.write_text("tolerant = true")
    project_file.write_text("tolerant = 7\ninteractive = true")
    assert value("tolerant") == (True, str(user_file))
    assert value("interactive") == (True, str(project_file))


@pytest.mark.parametrize("content", [b"\xff\xfe", b"= = =", b"a = 1\na = 2"])
def test_a_file_that_cannot_be_read_is_named_and_stops_nothing(project_file: Path, content: bytes) -> None:
    project_file.write_bytes(content)
    done = run("add", "x")
    assert (done.returncode, done.stdout) == (0, 'added 1 "x".\n')
    assert str(project_file) in done.stderr
    assert done.stderr.count("\n") == 1


def test_every_fault_is_told_at_once(user_file: Path) -> None:
    user_file.write_text("tolerant = 1\ninteractive = 2\nfrob = 3")
    assert run("settings").stderr.count("\n") == 3


NUMBERS = [
    *("remind_after", "remind_again", "reminder_budget", "idle_nudges", "nudges", "nudge_minutes", "plan_mode_every"),
    "clear_delay",
]
SWITCHES = ["off", "reminders", "continuation", "seed_plan"]


def faults_of(path: Path, lines: list[str]) -> list[str]:
    path.write_text("\n".join(lines))
    return run("settings").stderr.splitlines()


def test_a_number_that_is_none_is_named_with_its_file_and_the_default_stays(user_file: Path) -> None:
    defaults = settings()
    for given, right in [
        ('"ten"', "must be a whole number, not 'ten'"),
        ("true", "must be a whole number, not true"),
        ("1.5", "must be a whole number, not 1.5"),
        ("[1]", "must be a whole number"),
        ("2000-01-01", "must be a whole number"),
        ("99999999999", "must be "),
    ]:
        said = faults_of(user_file, [f"{name} = {given}" for name in NUMBERS])
        for name, line in zip(NUMBERS, said, strict=True):
            assert line.startswith(f"punchlist: {user_file}: '{name}' {right}")
        assert settings() == defaults


def test_a_number_below_its_least_is_named_and_the_default_stays(user_file: Path) -> None:
    defaults = settings()
    said = faults_of(user_file, [f"{name} = -3" for name in NUMBERS])
    assert [line.split("'")[1] for line in said] == NUMBERS[:-1]  # a delay below zero means never
    assert all("to 999999999, not -3" in line for line in said)
    found = settings()
    assert found.pop("clear_delay")["value"] == -3
    assert all(found[name] == defaults[name] for name in found)


def test_a_switch_that_is_none_is_named_and_the_default_stays(user_file: Path) -> None:
    defaults = settings()
    said = faults_of(user_file, [f"{name} = 1" for name in SWITCHES])
    assert [line.split("'")[1] for line in said] == SWITCHES
    assert all("must be true or false, not 1" in line for line in said)
    assert settings() == defaults


@pytest.mark.parametrize("given", ["-3", "ten", "1e3", "9" * 30, "٣"], ids=ascii)
def test_a_number_in_a_variable_is_judged_as_in_a_file(given: str) -> None:
    said = fault(PUNCHLIST_NUDGES=given)
    assert said.startswith("punchlist: PUNCHLIST_NUDGES: 'nudges' must be ")
    assert value("nudges", PUNCHLIST_NUDGES=given) == (20, "default")
    assert value("nudges", PUNCHLIST_NUDGES="7") == (7, "PUNCHLIST_NUDGES")


@pytest.mark.parametrize(
    ("old", "new"), [("pushes", "nudges"), ("idle_pushes", "idle_nudges"), ("push_minutes", "nudge_minutes")]
)
def test_the_old_name_of_a_setting_works_with_a_warning(old: str, new: str, user_file: Path) -> None:
    user_file.write_text(f"{old} = 0")
    assert value(new) == (0, str(user_file))
    warning = f"{old!r} is now called {new!r}; the old name works in this version only."
    assert faults_of(user_file, [f"{old} = 0"]) == [f"punchlist: {user_file}: {warning}"]
    variable = f"PUNCHLIST_{old.upper()}"
    assert value(new, **{variable: "2"}) == (2, variable)
    assert value(new, **{variable: "2", f"PUNCHLIST_{new.upper()}": "3"}) == (3, f"PUNCHLIST_{new.upper()}")


def test_until_done_is_set_by_environment_or_flag_and_by_no_file(user_file: Path) -> None:
    said = faults_of(user_file, ['continuation = "until-done"'])
    assert said == [
        f"punchlist: {user_file}: 'continuation' can be 'until-done' only by environment or a flag, for one run."
    ]
    assert value("continuation") == (True, "default")
    variable = "PUNCHLIST_CONTINUATION"
    assert value("continuation", **{variable: "until-done"}) == ("until-done", variable)
    assert value("continuation", **{variable: "no"}) == (False, variable)


def test_one_bad_key_does_not_cost_the_others_and_stops_no_hook(user_file: Path) -> None:
    user_file.write_text("nudges = -1\nfrob = 2\nidle_nudges = 1\n[extra]\nx = 1")
    assert value("idle_nudges") == (1, str(user_file))
    assert value("nudges") == (20, "default")
    sent = {"todos": [{"content": "Read", "status": "pending", "activeForm": "Read"}]}
    common = {"session_id": "s1", "cwd": os.getcwd()}
    events = [
        {**common, "hook_event_name": "PostToolUse", "tool_name": "TodoWrite", "tool_input": sent},
        *[{**common, "hook_event_name": "Stop", "last_assistant_message": "So far."}] * 2,
    ]
    answers = []
    for event in events:
        words = [SCRIPT, "hook", "claude-code"]
        done = subprocess.run(words, input=json.dumps(event), capture_output=True, encoding="utf-8", check=False)
        assert (done.returncode, done.stderr) == (0, "")
        answers.append(done.stdout)
    assert [bool(answer) for answer in answers] == [False, True, False]  # nudged once, as the good key says


def test_a_setting_that_the_dialect_has_a_default_for_says_so() -> None:
    lines = {line.split()[0]: line for line in run("settings").stdout.splitlines()}
    for name in ("remind_after", "remind_again", "reminder_budget"):
        assert "as the dialect has it" in lines[name]


# --- passwords -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:s3cret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:s3c@ret:x@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://host/db?user=me&password=s3cret", "postgresql://host/db?user=me&password=***"),
        ("sqlite:/a@b:c/plan.db", "sqlite:/a@b:c/plan.db"),
    ],
)
def test_the_password_of_the_store_is_masked(user_file: Path, url: str, shown: str) -> None:
    user_file.write_text(f'store = "{url}"')
    assert value("store") == (shown, str(user_file))
    assert run("settings").stdout.splitlines()[0].split()[1] == shown


# --- the voices of models --------------------------------------------------------------------------------------------


def test_voices_of_several_files_and_the_environment_come_together(user_file: Path, project_file: Path) -> None:
    user_file.write_text('voice = "brief"\n[voices]\n"my-*" = "full"\n')
    project_file.write_text('voice = "auto"\n[voices]\n"our-*" = "brief"\n')
    assert value("voice") == ("auto", str(project_file))
    assert value("voices") == ("my-*=full, our-*=brief", str(project_file))
    found = value("voices", PUNCHLIST_VOICES="x=full")
    assert found == ("my-*=full, our-*=brief, x=full", "PUNCHLIST_VOICES")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('voice = "loud"', "'voice' must be one of 'auto', 'brief', 'full', not 'loud'."),
        ("voice = true", "'voice' must be a string, not true."),
        ('[voices]\n"my-*" = "loud"', "'my-*' in [voices] must be 'brief' or 'full', not 'loud'."),
        ('[voices]\n"my-*" = 3', "'my-*' in [voices] must be 'brief' or 'full', not 3."),
        ('[voices]\n"a,b" = "full"', "'a,b' in [voices] is not the name of a model or a pattern."),
        ('[voices]\n" " = "full"', "' ' in [voices] is not the name of a model or a pattern."),
        ('voices = "my-*"', "'voices': 'my-*' must be a name or pattern, '=', and brief or full."),
        ("voices = 3", "'voices' must be a string, not 3."),
    ],
)
def test_a_voice_that_is_wrong_is_named_with_file_and_key(user_file: Path, text: str, said: str) -> None:
    user_file.write_text(text)
    assert fault() == f"punchlist: {user_file}: {said}\n"


def test_what_is_right_beside_it_is_used(user_file: Path) -> None:
    user_file.write_text('[voices]\nloud = "loud"\n"my-*" = "full"\n')
    assert value("voices")[0] == "my-*=full"


def test_the_command_for_tools_follows_the_voice() -> None:
    for voice in ("auto", "brief", "full"):
        done = run("tools", PUNCHLIST_VOICE=voice)
        [tool] = json.loads(done.stdout)
        assert tool["description"].startswith("Your plan for this work." if voice == "full" else "Your plan for 3+")
