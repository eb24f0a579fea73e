"""The packages in `packages/`: up to date, and started with whatever Python is there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from punchlist import __version__
from punchlist.hosts import hook_secret
from punchlist.hosts.host import PACKAGE_LIMIT
from punchlist.install import packages, portable, via_package
from punchlist.install.package import found
from punchlist.install.parts import Where
from tests.commands import logged_errors, run

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "packages" / packages.PLUGIN
START = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": "/", "source": "startup"}
PLUGINS = '{"plugins": {"punchlist-oh-my-pi": {"version": "0.3", "enabled": %s}}}'
GREETING = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude-code"}},
    },
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """The plugin as an agent has copied it."""
    return Path(shutil.copytree(PLUGIN, tmp_path / "cache" / "punchlist", symlinks=True))


def programs(tmp_path: Path, **scripts: str) -> str:
    """A folder with these programs and what a shell needs, as a PATH."""
    folder = tmp_path / "programs"
    folder.mkdir(exist_ok=True)
    for name in ("cat", "env", "mkdir", "mv", "sh"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(str(shutil.which(name)))
    for name, text in scripts.items():
        path = folder / name.replace("_", ".")
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    return str(folder)


def started(plugin: Path, *words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    given = {"HOME": str(plugin.parent), "PATH": os.environ["PATH"], **env}
    return subprocess.run(
        [plugin / "bin" / "punchlist", *words],
        input=stdin,
        env=given,
        cwd=plugin.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def served(plugin: Path, *calls: dict[str, Any], **env: str) -> list[Any]:
    """What the server of the plugin answers to a greeting and to calls of the tool that hooks use."""
    asked = [
        {"jsonrpc": "2.0", "id": 10 + number, "method": "tools/call", "params": {"name": "hook", "arguments": one}}
        for number, one in enumerate(calls)
    ]
    lines = "".join(json.dumps(one) + "\n" for one in [*GREETING, *asked])
    done = started(plugin, "mcp", "--plugin", stdin=lines, **env)
    return [json.loads(line) for line in done.stdout.splitlines()]


def here(*names: str) -> str:
    """A Python that runs, under these names."""
    return f'exec {json.dumps(os.path.realpath(sys.executable))} "$@"'


# --- what is in them -------------------------------------------------------------------------------------------------


@pytest.mark.once
def test_the_packages_are_as_make_packages_writes_them() -> None:
    assert packages.stale(str(ROOT)) == [], "run: make packages"


@pytest.mark.once
@pytest.mark.parametrize("path", [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"])
def test_every_manifest_has_the_version(path: str) -> None:
    assert json.loads((PLUGIN / path).read_text())["version"] == __version__
    assert f'version = "{__version__}"' in (PLUGIN / "pyproject.toml").read_text()


@pytest.mark.once
@pytest.mark.parametrize("name", ["opencode", "oh-my-pi"])
def test_the_modules_of_a_package_are_there_start_its_own_program_and_know_that_they_are_packaged(name: str) -> None:
    folder = ROOT / "packages" / name
    about = json.loads((folder / "package.json").read_text())
    assert (about["name"], about["version"], about["type"]) == (f"punchlist-{name}", __version__, "module")
    modules = MODULES[name](about)
    assert len(modules) == 2
    for path in modules:
        text = (folder / path).read_text()
        assert text.count('PUNCHLIST = fileURLToPath(new URL("./bin/punchlist", import.meta.url))') == 1
        assert "@PUNCHLIST@" not in text
        assert "// @SHARED@" not in text
    assert "const IN_PACKAGE = true" in (folder / modules[0]).read_text()
    assert os.access(folder / "bin" / "punchlist", os.X_OK)


MODULES: dict[str, Any] = {
    "opencode": lambda about: [one["import"] for one in about["exports"].values()],
    "oh-my-pi": lambda about: about["omp"]["extensions"],
}
LISTED = [  # what an agent keeps once the package is installed
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        '{// mine\n"plugin": ["other", "PACKAGES/opencode"],}',
        __version__,
    ),
    ("opencode", ".config/opencode/opencode.json", '{"plugin": [["punchlist-opencode@1.2.3", {}]]}', "1.2.3"),
    ("opencode", ".config/opencode/opencode.json", '{"plugin": ["punchlist-opencode"]}', "unknown"),
    ("opencode", ".config/opencode/opencode.json", '{"plugin": ["PACKAGES/gemini", 7, []]}', ""),
    ("opencode", ".config/opencode/opencode.json", "[", ""),
    ("oh-my-pi", ".omp/plugins/omp-plugins.lock.json", PLUGINS % "true", "0.3"),
    ("oh-my-pi", ".omp/plugins/omp-plugins.lock.json", PLUGINS % "false", ""),
    ("oh-my-pi", ".local/share/omp/plugins/omp-plugins.lock.json", PLUGINS % "true", "0.3"),
    ("oh-my-pi", ".omp/plugins/omp-plugins.lock.json", "[]", ""),
]


@pytest.mark.parametrize(("name", "file", "text", "version"), LISTED)
def test_a_package_that_an_agent_has_is_found_in_its_own_files(
    name: str, file: str, text: str, version: str, tmp_path: Path
) -> None:
    where = Where("user", str(tmp_path), str(tmp_path), "/nowhere/punchlist", {})
    assert via_package.installed(name, where) == ""
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text.replace("PACKAGES", str(ROOT / "packages")))
    assert via_package.installed(name, where) == version


@pytest.mark.once
def test_codex_would_not_run_hooks_beside_a_manifest_at_the_root() -> None:
    assert not (PLUGIN / "plugin.json").exists()


@pytest.mark.once
def test_the_portable_plugin_has_only_keys_that_its_specification_permits() -> None:
    folder = ROOT / "packages" / "agent-plugin"
    about = json.loads((folder / "plugin.json").read_text())
    permitted = {"$schema", "name", "version", "description", "author", "homepage", "repository", "license"}
    assert set(about) <= permitted | {"keywords", "extensions"}
    server = json.loads((folder / "mcp.json").read_text())["mcpServers"]["punchlist"]
    assert os.access(folder / server["command"], os.X_OK)
    skill = (folder / "skills" / "punchlist" / "SKILL.md").read_text()
    assert skill.startswith("---\nname: punchlist\ndescription: ")
    assert len(skill.splitlines()[2]) <= 1024


@pytest.mark.once
def test_the_registry_finds_its_name_in_the_readme() -> None:
    entry = json.loads((ROOT / "packages" / "server.json").read_text())
    assert len(entry["description"]) <= 100
    assert f"<!-- mcp-name: {entry['name']} -->" in (ROOT / "README.md").read_text()
    assert [entry["version"], entry["packages"][0]["version"]] == [__version__] * 2


def test_a_bundle_holds_a_server_that_answers_and_is_the_same_each_time(tmp_path: Path) -> None:
    data = portable.bundle(b"MIT")
    assert portable.bundle(b"MIT") == data
    with zipfile.ZipFile(BytesIO(data)) as archive:
        archive.extractall(tmp_path)
    about = json.loads((tmp_path / "manifest.json").read_text())
    start = [sys.executable, tmp_path / about["server"]["entry_point"], "mcp"]
    lines = "".join(json.dumps(one) + "\n" for one in GREETING)
    done = subprocess.run(start, input=lines, capture_output=True, text=True, check=True)
    tools = json.loads(done.stdout.splitlines()[1])["result"]["tools"]
    assert [tool["name"] for tool in tools] == [tool["name"] for tool in about["tools"]]


@pytest.mark.once
@pytest.mark.parametrize(
    "path", ["punchlist/hooks/hooks.json", "punchlist/hooks/codex.json", "gemini/hooks/hooks.json"]
)
def test_checks_have_the_time_that_the_hook_of_a_package_is_given(path: str) -> None:
    hooks = json.loads((ROOT / "packages" / path).read_text())["hooks"]
    [group] = hooks.get("Stop") or hooks["AfterAgent"]
    [handler] = group["hooks"]
    assert handler["timeout"] in (PACKAGE_LIMIT, PACKAGE_LIMIT * 1000)


@pytest.mark.parametrize("name", ["darwin.punchlist.tar.gz", "linux.punchlist.tar.gz"])
def test_a_release_has_the_extension_of_gemini_with_its_manifest_at_the_root(name: str, tmp_path: Path) -> None:
    license = (ROOT / "LICENSE").read_bytes()
    data = packages.attachments(license)[name]
    assert packages.attachments(license)[name] == data, "the same each time"
    with tarfile.open(fileobj=BytesIO(data)) as archive:
        archive.extractall(tmp_path, filter="data")
    there = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert there == set(found(str(ROOT / "packages" / "gemini")))
    assert json.loads((tmp_path / "gemini-extension.json").read_text())["version"] == __version__
    assert started(tmp_path, "--version").stdout == f"punchlist {__version__}\n"


# --- the program -----------------------------------------------------------------------------------------------------


def test_a_package_runs_by_itself_and_remembers_the_python(plugin: Path, tmp_path: Path) -> None:
    done = started(plugin, "--version", PYTHONPATH="/nowhere", PYTHONHOME="")
    assert (done.stdout, done.stderr) == (f"punchlist {__version__}\n", "")
    known = tmp_path / "cache" / ".local" / "state" / "punchlist" / "plugin-python"
    assert os.access(known.read_text().strip(), os.X_OK)
    assert known.stat().st_mode & 0o777 == 0o600
    assert started(plugin, "--version", PATH=programs(tmp_path)).stdout == done.stdout, "it is not looked for again"


def test_a_python_that_is_gone_is_looked_for_again(plugin: Path, tmp_path: Path) -> None:
    known = tmp_path / "state" / "punchlist" / "plugin-python"
    known.parent.mkdir(parents=True)
    for text in ("/nowhere/python3\n", "", "\n"):
        known.write_text(text)
        assert started(plugin, "--version", XDG_STATE_HOME=str(tmp_path / "state")).returncode == 0
        assert known.read_text() not in ("/nowhere/python3\n", "", "\n")


def test_a_folder_is_not_taken_for_a_python(plugin: Path, tmp_path: Path) -> None:
    known = tmp_path / "state" / "punchlist" / "plugin-python"
    known.parent.mkdir(parents=True)
    known.write_text("/usr/bin\n")
    assert started(plugin, "--version", XDG_STATE_HOME=str(tmp_path / "state")).stdout == f"punchlist {__version__}\n"


def test_a_state_folder_that_is_not_absolute_is_not_looked_for_in_a_project(plugin: Path, tmp_path: Path) -> None:
    trap = plugin.parent / "rel" / "punchlist" / "plugin-python"  # it is started there
    trap.parent.mkdir(parents=True)
    trap.write_text(f"{programs(tmp_path, trap='echo trapped')}/trap\n")
    assert started(plugin, "--version", XDG_STATE_HOME="rel").stdout == f"punchlist {__version__}\n"


def test_a_python_that_warns_of_something_is_a_python(plugin: Path, tmp_path: Path) -> None:
    path = programs(tmp_path, python3=f"echo 'a warning' >&2; {here()}")
    assert started(plugin, "--version", PATH=path).stdout == f"punchlist {__version__}\n"


def test_the_program_can_be_linked_to(plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / "absolute").symlink_to(plugin / "bin" / "punchlist")
    (folder / "relative").symlink_to(os.path.relpath(plugin / "bin" / "punchlist", folder))
    (folder / "twice").symlink_to("relative")
    for name in ("absolute", "relative", "twice"):
        done = subprocess.run([folder / name, "--version"], capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == (f"punchlist {__version__}\n", ""), name
    monkeypatch.chdir(plugin / "bin")
    done = subprocess.run(["sh", "punchlist", "--version"], capture_output=True, text=True, check=False)
    assert done.stdout == f"punchlist {__version__}\n"


def test_a_uvx_that_cannot_bring_a_python_is_told_once_a_session(plugin: Path, tmp_path: Path) -> None:
    path = programs(tmp_path, uvx="exit 2")
    done = started(plugin, "hook", "claude-code", stdin=json.dumps(START), PATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "uv could not bring one" in json.loads(done.stdout)["systemMessage"]


def test_a_python_that_is_too_old_is_passed_over(plugin: Path, tmp_path: Path) -> None:
    path = programs(tmp_path, python3="echo 3.9.6; exit 1", python3_12=here())
    assert started(plugin, "--version", PATH=path).stdout == f"punchlist {__version__}\n"


def test_without_a_python_uvx_starts_the_folder_and_nothing_that_a_registry_has(plugin: Path, tmp_path: Path) -> None:
    path = programs(tmp_path, python3="echo 3.9.6; exit 1", uvx='printf "%s\\n" "$@"')
    asked = started(plugin, "show", "--json", PATH=path).stdout.splitlines()
    assert asked[:2] == ["--quiet", "--from"]
    assert os.path.samefile(asked[2], plugin)
    assert asked[3:] == ["punchlist", "show", "--json"]


def test_with_neither_it_says_what_is_missing(plugin: Path, tmp_path: Path) -> None:
    done = started(plugin, "mcp", PATH=programs(tmp_path, python3="echo 3.9.6; exit 1"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "punchlist needs Python 3.11 or newer, or uv, and found neither (python3 is 3.9.6). "
        "Install one of them and start the agent again.\n"
    )


def test_a_hook_without_a_python_never_gets_in_the_way_and_tells_the_user_once_a_session(
    plugin: Path, tmp_path: Path
) -> None:
    path = programs(tmp_path)
    first = started(plugin, "hook", "claude-code", stdin=json.dumps(START), PATH=path)
    assert (first.returncode, first.stderr) == (0, "")
    assert "needs Python 3.11" in json.loads(first.stdout)["systemMessage"]
    later = started(plugin, "hook", "claude-code", stdin=json.dumps({**START, "hook_event_name": "Stop"}), PATH=path)
    assert (later.returncode, later.stdout, later.stderr) == (0, "", "")


@pytest.mark.skipif(os.name == "nt", reason="modes of files")
def test_a_folder_that_may_not_be_written_works_and_keeps_compiled_files_elsewhere(
    plugin: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for folder in (plugin, *(one for one in plugin.rglob("*") if one.is_dir())):
        folder.chmod(0o555)
    request.addfinalizer(lambda: subprocess.run(["chmod", "-R", "u+w", plugin], check=True))
    assert started(plugin, "add", "Read it").returncode == 0
    if os.geteuid():  # root may write everything
        assert (tmp_path / "cache" / ".local" / "state" / "punchlist" / "pycache").is_dir()


def test_a_folder_with_blanks_and_quotes_in_its_name_works(plugin: Path, tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s a "$HOME" `x`'
    plugin.rename(odd)
    assert started(odd, "--version").stdout == f"punchlist {__version__}\n"


def test_what_it_prints_is_complete_in_a_pipe(plugin: Path) -> None:
    assert started(plugin, "help", "all").stdout.count("\n") > 60


# --- hooks that its server answers -----------------------------------------------------------------------------------


def prompt(**more: str) -> dict[str, Any]:
    event = {"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/", "tool_use_id": "t1"}
    return {"host": "claude-code", "plugin": "yes", **event, **more}


OWN = "mcp__plugin_punchlist_punchlist__plan"


def test_a_call_of_our_own_tool_need_not_be_asked_about(plugin: Path) -> None:
    answers = served(plugin, prompt(tool_name=OWN), prompt(tool_name="mcp__other__plan"))
    assert [tool["name"] for tool in answers[1]["result"]["tools"]] == ["plan"]
    own, other = (json.loads(one["result"]["content"][0]["text"] or "{}") for one in answers[2:])
    assert own["hookSpecificOutput"] == {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    assert other == {}


def test_an_event_that_reaches_a_server_in_the_shell_of_an_agent_is_refused(plugin: Path) -> None:
    answers = served(plugin, prompt(tool_name=OWN), CLAUDECODE="1")
    assert answers[2]["result"]["content"][0]["text"] == "{}"
    assert "without the secret" in str(logged_errors(plugin.parent / ".local" / "state"))


def test_the_package_is_silent_where_the_agent_is_attached_by_its_settings(plugin: Path) -> None:
    home = {"HOME": str(plugin.parent), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", "CLAUDE_CONFIG_DIR": ""}
    assert run("install", "claude-code", **home).returncode == 0
    answers = served(plugin, prompt(tool_name=OWN))
    assert answers[1]["result"]["tools"] == []
    assert answers[2]["result"]["content"][0]["text"] == "{}"
    assert run("uninstall", "claude-code", **home).returncode == 0
    assert len(served(plugin)[1]["result"]["tools"]) == 1


def test_a_hook_of_a_package_is_silent_where_the_agent_is_attached_by_its_settings(plugin: Path) -> None:
    home = {"HOME": str(plugin.parent), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", "CODEX_HOME": ""}
    event = json.dumps({**START, "source": "resume", "cwd": str(plugin.parent)})
    assert started(plugin, "call", "plan", "--session", "s1", stdin='{"add": [{"text": "Read it"}]}').returncode == 0
    told = started(plugin, "hook", "codex", "--plugin", stdin=event)
    assert "Read it" in told.stdout
    assert run("install", "codex", **home).returncode == 0
    assert started(plugin, "hook", "codex", "--plugin", stdin=event).stdout == ""


def test_the_secret_is_not_needed_and_not_made(plugin: Path) -> None:
    served(plugin, prompt(tool_name=OWN))
    assert not Path(hook_secret.path()).exists()
