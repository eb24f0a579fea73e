"""Install the archives in empty environments, and use what is installed as a stranger would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from .pythons import Python

ENOUGH = 300  # seconds after which a command hangs

TYPED = """import punchlist
desk = punchlist.open("memory:", session="s1")
reveal_type(desk.plan)
"""

# Behind the README's example: a model that plans two items, completes them, and stops.
SCRIPTED = """
def _call(**arguments):
    return {"type": "tool_use", "id": "1", "name": "plan", "input": arguments}

_said = iter([("Planning.", [_call(add=["Read", "Test"])]), ("Working.", [_call(done=[1, 2])]), ("Done.", [])])
_desk = punchlist.open("memory:", session="s1")
run(_desk, "Fix it", lambda system, messages, tools: next(_said))
print([item.status for item in _desk.plan.items])
"""

ASKED = """\
{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, \
"clientInfo": {"name": "release-check", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
"""


class Place(NamedTuple):
    """Where an installed package is used: its programs, in an empty home, outside of any project."""

    programs: Path
    """The folder of `punchlist`, and of `python` in an environment."""
    folder: Path
    """An empty folder to work in."""
    version: str
    """The version that must be there."""

    def env(self) -> dict[str, str]:
        """Return all the variables that a program of it sees."""
        path = os.pathsep.join([str(self.programs), "/usr/bin", "/bin"])
        return {"HOME": str(self.folder / "home"), "PATH": path, "LANG": "C.UTF-8"}

    def run(self, *words: str, stdin: str = "") -> Done:
        """Run a program of it; a warning is an error."""
        env = {**self.env(), "PYTHONWARNINGS": "error"}
        return _run([str(self.programs / words[0]), *words[1:]], self.folder / "work", env, stdin)


class Done(NamedTuple):
    """How a program ended."""

    code: int
    out: str
    err: str

    def failed(self, what: str) -> list[str]:
        """Return the problem that it ended so."""
        said = (self.err.strip() or self.out.strip() or "it printed nothing")[-800:]
        return [f"{what} ended with {self.code}: {said}"]


def _run(words: list[str], folder: Path, env: dict[str, str], stdin: str = "") -> Done:
    try:
        done = subprocess.run(
            words, cwd=folder, env=env, input=stdin, capture_output=True, encoding="utf-8", timeout=ENOUGH, check=False
        )
    except subprocess.TimeoutExpired:
        return Done(-1, "", f"it did not end within {ENOUGH} seconds")
    except OSError as error:
        return Done(127, "", str(error))
    return Done(done.returncode, done.stdout, done.stderr)


def make_place(folder: Path, version: str, programs: Path) -> Place:
    """Make an empty home, and a folder to work in."""
    for name in ("home", "work"):
        (folder / name).mkdir(parents=True)
    return Place(programs, folder, version)


# --- use -------------------------------------------------------------------------------------------------------------


def uses(place: Place, readme: str) -> list[str]:
    """Return what does not work of an installed package: the command, the server, a hook, the Python interface."""
    return [problem for step in STEPS.values() for problem in step(place)] + example(place, readme)


def _version(place: Place) -> list[str]:
    done = place.run("punchlist", "--version")
    if (done.code, done.out, done.err) == (0, f"punchlist {place.version}\n", ""):
        return []
    return done.failed(f"punchlist --version (which must print {place.version})")


def _help(place: Place) -> list[str]:
    done = place.run("punchlist", "--help")
    if done.code == 0 and "punchlist install" in done.out and not done.err:
        return []
    return done.failed("punchlist --help")


def _plan(place: Place) -> list[str]:
    for words in (["add", "Read the code", "Run the tests"], ["done", "1"]):
        done = place.run("punchlist", *words)
        if done.code or done.err:
            return done.failed(f"punchlist {words[0]}")
    done = place.run("punchlist", "show", "--json")
    try:
        statuses = [item["status"] for item in json.loads(done.out)["items"]]
    except (ValueError, KeyError):
        statuses = []
    if statuses == ["completed", "pending"]:
        return []
    return done.failed("punchlist show --json after add and done")


def _hook(place: Place) -> list[str]:
    event = {
        "hook_event_name": "SessionStart",
        "source": "startup",
        "session_id": "s9",
        "cwd": str(place.folder / "work"),
    }
    done = place.run("punchlist", "hook", "claude-code", stdin=json.dumps(event))
    if done.code == 0 and "Run the tests" in done.out and not done.err:
        return []
    return done.failed("punchlist hook claude-code, which must tell the plan when a session starts,")


def _server(place: Place) -> list[str]:
    done = place.run("punchlist", "mcp", stdin=ASKED)
    try:
        answers = {one["id"]: one for one in map(json.loads, done.out.splitlines()) if "id" in one}
        tools = [tool["name"] for tool in answers[2]["result"]["tools"]]
    except (ValueError, KeyError):
        tools = []
    if "plan" in tools and done.code == 0:
        return []
    return done.failed("punchlist mcp, which must offer the tool plan,")


def _doctor(place: Place) -> list[str]:
    done = place.run("punchlist", "doctor")
    if done.code == 0 and not done.err:
        return []
    return done.failed("punchlist doctor")


def example(place: Place, readme: str) -> list[str]:
    """The README's example in Python, played with a scripted model."""
    python = place.programs / "python"
    if not python.exists():
        return []
    blocks = re.findall(r"^```python\n(.*?)^```$", readme, re.S | re.M)
    if not any("def run(desk, prompt, ask_model)" in block for block in blocks):
        return ["the README has no example in Python that starts with def run(desk, prompt, ask_model)."]
    program = next(block for block in blocks if "def run(desk, prompt, ask_model)" in block) + SCRIPTED
    done = place.run("python", "-c", program)
    if (done.code, done.out, done.err) == (0, "['completed', 'completed']\n", ""):
        return []
    return done.failed("the README's example in Python")


STEPS: dict[str, Callable[[Place], list[str]]] = {  # in this order: the hook tells the plan
    "version": _version,
    "help": _help,
    "plan": _plan,
    "hook": _hook,
    "server": _server,
    "doctor": _doctor,
}


def typed(place: Place) -> list[str]:
    """Return what is wrong with the types that a type checker finds in the installed package."""
    (place.folder / "work" / "program.py").write_text(TYPED, encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(place.programs / "python")]
    words += ["--cache-dir", str(place.folder / "mypy"), "program.py"]
    done = _run(words, place.folder / "work", {"PATH": "/usr/bin:/bin", "HOME": str(place.folder / "home")})
    if done.code == 0 and "punchlist.core.model.Plan" in done.out:
        return []
    return done.failed("mypy --strict, which must find that desk.plan is a Plan,")


# --- install ---------------------------------------------------------------------------------------------------------


def with_pip(python: Python, archive: Path, folder: Path, version: str, readme: str) -> list[str]:
    """Install a wheel with pip, without a registry, use it and remove it again."""
    place = _environment(python, folder, version)
    if isinstance(place, Done):
        return place.failed(f"{python.path} -m venv")
    before = set(_files(folder / "venv"))
    done = place.run("python", *_pip("install", "--no-index", "--no-deps", str(archive.resolve())))
    if done.code:
        return done.failed("pip install of the wheel, without a registry,")
    wrong = uses(place, readme)
    if not (folder / "venv/share/man/man1/punchlist.1").exists():
        wrong.append("the man page is not installed in share/man/man1.")
    return wrong + _removed(place, before)


def types_with_pip(python: Python, archive: Path, folder: Path, version: str) -> list[str]:
    """Install a wheel with pip, and have its types checked."""
    place = _environment(python, folder, version)
    if isinstance(place, Done):
        return place.failed(f"{python.path} -m venv")
    done = place.run("python", *_pip("install", "--no-index", "--no-deps", str(archive.resolve())))
    return typed(place) if done.code == 0 else done.failed("pip install of the wheel")


def source_with_pip(python: Python, archive: Path, folder: Path, version: str, readme: str) -> list[str]:
    """Install the source archive with pip, which gets hatchling from your registry, and use it."""
    place = _environment(python, folder, version)
    if isinstance(place, Done):
        return place.failed(f"{python.path} -m venv")
    words = [str(place.programs / "python"), *_pip("install", "--no-deps", str(archive.resolve()))]
    done = _run(words, folder / "work", dict(os.environ) | {"PYTHONPATH": ""})
    return uses(place, readme) if done.code == 0 else done.failed("pip install of the source archive")


def _environment(python: Python, folder: Path, version: str) -> Place | Done:
    """Make an empty environment."""
    place = make_place(folder, version, folder / "venv" / "bin")
    done = _run([python.path, "-m", "venv", str(folder / "venv")], folder, place.env())
    return done if done.code else place


def _pip(*words: str) -> list[str]:
    return ["-W", "ignore", "-m", "pip", "--disable-pip-version-check", "--no-input", "-q", *words]


def _removed(place: Place, before: set[str]) -> list[str]:
    """Uninstall, and return what is left."""
    done = place.run("python", *_pip("uninstall", "-y", "punchlist"))
    if done.code:
        return done.failed("pip uninstall")
    left = [path for path in _files(place.programs.parent) if path not in before and not _is_of_pip(path)]
    return [f"pip uninstall leaves {path}." for path in left]


def _is_of_pip(path: str) -> bool:
    return "__pycache__" in path and "punchlist" not in path


def _files(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file())


def with_uv(uv: str, python: Python, archive: Path, folder: Path, version: str, readme: str) -> list[str]:
    """Install a wheel as a tool with uv, without a network, use it and remove it; and run it once with uvx."""
    place = make_place(folder, version, folder / "home/.local/bin")
    options = ["--offline", "--no-config", "--no-python-downloads", "--python", python.path]
    wheel = str(archive.resolve())
    env = place.env() | {"UV_LINK_MODE": "copy"}
    done = _run([uv, "tool", "install", *options, wheel], folder / "work", env)
    if done.code:
        return done.failed("uv tool install")
    wrong = uses(place, readme)
    done = _run([uv, "tool", "run", *options, "--from", wheel, "punchlist", "--version"], folder / "work", env)
    if done.out != f"punchlist {version}\n":
        wrong += done.failed(f"uvx --from the wheel punchlist --version (which must print {version})")
    done = _run([uv, "tool", "uninstall", "punchlist"], folder / "work", env)
    if done.code or (place.programs / "punchlist").exists():
        wrong += done.failed("uv tool uninstall")
    return wrong
