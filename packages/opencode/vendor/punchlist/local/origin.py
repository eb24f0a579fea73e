"""How to upgrade this installation of punchlist, and how to add a package that it needs."""

from __future__ import annotations

import json
import os
import shlex
import sys

_NAME = "punchlist"
UPDATES = "bin/update.json"  # in a package: by the folder of each agent that may have it, how that agent updates it
_ELSEWHERE = f"update the plugin {_NAME!r} in the program that has it"


def pip_command(*what: str, python: str = "") -> str:
    """Return the command that installs packages into an environment; the one that we run in by default."""
    from importlib.util import find_spec

    words = shlex.join(what)
    if _is_pipx() and not python:
        return f"pipx inject {_NAME} {words}"
    python = shlex.quote(python or sys.executable)
    if find_spec("pip"):
        return f"{python} -m pip install {words}"
    return f"uv pip install --python {python} {words}"


def upgrade_command() -> str:
    """Return the command that installs punchlist again from where it came: an agent's plugins, an index, a folder or a
    git address."""
    source, is_editable = _source()
    if _is_package(source):
        return _update_command(source)
    if is_editable:
        return f"git -C {shlex.quote(source)} pull"
    if _is_pipx():
        return f"pipx install --force {shlex.quote(source)}"
    if source == _NAME:
        return pip_command("--upgrade", source)
    return pip_command("--force-reinstall", "--no-deps", source)


def reinstall_command() -> str:
    """Return the command that makes the script of this environment again."""
    source, is_editable = _source()
    if is_editable and not _is_package(source):
        return pip_command("--editable", source)
    return upgrade_command()


def tool_command() -> str:
    """Return the command that installs punchlist for good, in an environment of its own."""
    from importlib.util import find_spec

    if _is_pipx() or find_spec("pip"):
        tool = "pipx install"
    else:
        tool = "uv tool install"
    return f"{tool} {shlex.quote(_source()[0])}"


def extra_command(extra: str, python: str = "") -> str:
    """Return the command that installs what an extra of punchlist needs."""
    needed = [needs for needs in _requirements() if _extra_of(needs) == extra]
    if needed:
        return pip_command(*[needs.partition(";")[0].strip() for needs in needed], python=python)
    source, _ = _source()
    if os.path.isdir(source) and not os.path.relpath(source).startswith(os.pardir):
        source = os.path.relpath(source)
    return pip_command(f"{source}[{extra}]", python=python)


def _source() -> tuple[str, bool]:
    """Where punchlist was installed from, as pip takes it; and whether that folder itself is what runs."""
    from importlib.metadata import PackageNotFoundError, distribution

    if _is_package(_checkout()):  # whatever else is installed for this Python
        return _checkout(), True
    try:
        text = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:  # the sources of a checkout, on the path
        return _checkout(), True
    if not text:
        return _NAME, False
    said = json.loads(text)
    url = str(said["url"])
    if "vcs_info" in said:
        return f"{said['vcs_info']['vcs']}+{url}", False
    if url.startswith("file://"):
        from urllib.parse import unquote, urlsplit

        url = unquote(urlsplit(url).path)
    return url, bool(said.get("dir_info", {}).get("editable"))


def _is_package(folder: str) -> bool:
    """Whether a folder is a package for an agent, with punchlist inside."""
    return os.path.isdir(os.path.join(folder, "vendor", _NAME))


def _update_command(package: str) -> str:
    """How the agent that a package was installed in updates it; where that cannot be seen, how each of them does."""
    try:
        with open(os.path.join(package, UPDATES), encoding="utf-8") as file:
            commands = json.load(file)
    except (OSError, ValueError):
        return _ELSEWHERE
    folders = package.split(os.sep)
    mine = [command for folder, command in commands.items() if folder in folders]
    return ", or ".join(mine or commands.values())


def _is_pipx() -> bool:
    """Whether pipx made the environment that we run in; it may have no pip of its own."""
    return os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json"))


def _checkout() -> str:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.dirname(os.path.dirname(package))


def _requirements() -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        return requires(_NAME) or []
    except PackageNotFoundError:
        return []


def _extra_of(requirement: str) -> str:
    _, _, condition = requirement.partition(";")
    if "extra ==" in condition:
        return condition.rpartition("extra ==")[2].strip().strip("'\"")
    return ""
