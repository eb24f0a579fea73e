"""The layers: imports point down only, and nothing but the standard library is imported."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import punchlist
from punchlist.dialects import PATHS

pytestmark = pytest.mark.once

ROOT = Path(punchlist.__file__).parent
TOGETHER = {"hosts", "install"}  # an agent's room says what is installed for it, in the words of `install/parts.py`
LEVELS = {
    **dict.fromkeys(("core", "prompts"), 0),
    "policy": 1,
    "dialects": 2,
    "local": 3,
    **dict.fromkeys(("stores", "checks"), 4),
    "desk": 5,
    **dict.fromkeys(("hosts", "install", "mcp", "tui", "agent", "testing", "aio", "adapters"), 6),
    "doctor": 7,
    "cli": 8,
}
OUTSIDE = {
    "stores/postgres/__init__.py",
    "stores/postgres/connection.py",
    "stores/postgres/failures.py",
    "stores/postgres/listener.py",
    "agent/providers.py",
    *[f"adapters/{path.name}" for path in sorted((ROOT / "adapters").glob("*.py")) if path.stem != "safe_desk"],
}  # may import what is not in the standard library
_IMPURE = """
    os sys io time datetime calendar random secrets uuid tempfile shutil pathlib glob fcntl socket ssl select selectors
    subprocess multiprocessing threading concurrent asyncio signal http urllib ftplib smtplib sqlite3 dbm shelve pickle
    logging warnings argparse getpass getopt platform locale importlib pkgutil contextvars zoneinfo tomllib ctypes mmap
"""
IMPURE = set(_IMPURE.split())
# A hook fails open; a check that breaks is not a refusal; attachments and requests to a server fail one by one; a tool
# that breaks is an answer to the model, not the end of its session.
CATCH_ALL = {
    "hosts/__init__.py",
    "dialects/llxprt.py",
    "desk/guidance.py",
    "mcp/server.py",
    "mcp/tools.py",
    "agent/tool_runner.py",
    # What the agent of somebody else raises, and how its messages break when looked at, is what a report says.
    "testing/plain_data.py",
    "testing/conformance/__init__.py",
    "testing/conformance/trial.py",
    "testing/conformance/scenarios.py",
    "desk/tool_call.py",  # a pause that fails for any reason stops the agent
    "adapters/safe_desk.py",  # the run of an agent does not end for its plan
}


class Import(NamedTuple):
    """One import, of `punchlist.<home>...` or of something else."""

    path: str  # of the file, below the package
    line: int
    name: str  # dotted; relative imports are spelled out


@cache
def _sources() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _below(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _layer(path: str) -> str:
    return path.split("/")[0].removesuffix(".py")


def _imports(path: Path) -> Iterator[Import]:
    """Every import of a file: at its top, inside functions, for type checkers, and by name from a table."""
    package = ["punchlist", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = [*base, *([node.module] if node.module else [])]
            names = [".".join([*module, alias.name]) for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_module(node.value):
            names = [node.value]
        else:
            continue
        yield from (Import(_below(path), getattr(node, "lineno", 0), name) for name in names)


def _is_module(text: str) -> bool:
    return text.startswith("punchlist.") and all(part.isidentifier() for part in text.split("."))


@cache
def _all() -> list[Import]:
    return [found for path in _sources() for found in _imports(path)]


def _inside() -> list[tuple[Import, str, str]]:
    """Imports between layers: the import, the layer it stands in, the layer it reaches for."""
    found = [(one, _layer(one.path), one.name.split(".")[1]) for one in _all() if one.name.startswith("punchlist.")]
    return [(one, here, there) for one, here, there in found if here in LEVELS and there in LEVELS and here != there]


def _where(one: Import) -> str:
    return f"{one.path}:{one.line} imports {one.name}"


def test_the_imports_of_this_package_are_seen() -> None:
    found = {(here, there) for _, here, there in _inside()}
    assert {("dialects", "core"), ("dialects", "prompts"), ("stores", "core"), ("desk", "stores")} <= found
    assert {("desk", "dialects"), ("hosts", "desk"), ("hosts", "install"), ("cli", "hosts"), ("cli", "local")} <= found
    assert {("mcp", "desk"), ("mcp", "local"), ("cli", "mcp"), ("local", "dialects"), ("install", "hosts")} <= found


def test_every_module_belongs_to_a_layer() -> None:
    layers = {_layer(_below(path)) for path in _sources()}
    assert layers - LEVELS.keys() == {"__init__", "__main__"}


def test_imports_point_down() -> None:
    assert [_where(one) for one, here, there in _inside() if LEVELS[there] > LEVELS[here]] == []


def test_layers_of_the_same_level_do_not_import_each_other() -> None:
    sideways = [(one, {here, there}) for one, here, there in _inside() if LEVELS[there] == LEVELS[here]]
    assert [_where(one) for one, both in sideways if not both <= TOGETHER] == []


def test_an_adapter_is_built_on_the_public_interface_and_imported_by_its_user_only() -> None:
    """What an adapter can do, anybody's own can. It imports public names, and what all of them share."""
    public = {f"punchlist.{name}" for name in punchlist.__all__} | {"punchlist"}
    shared = ("punchlist.adapters.safe_desk", "punchlist.aio", "punchlist.stores.check_address")
    adapters = [one for one in _all() if _layer(one.path) == "adapters" and one.name.split(".")[0] == "punchlist"]
    assert adapters
    assert [_where(one) for one in adapters if one.name not in public and not one.name.startswith(shared)] == []
    outside = [one for one in _all() if _layer(one.path) != "adapters"]
    assert [_where(one) for one in outside if one.name.startswith("punchlist.adapters")] == []
    private = [f"{_below(path)}:{node.lineno}" for path in (ROOT / "adapters").glob("*.py") for node in _private(path)]
    assert private == []


def _private(path: Path) -> Iterator[ast.Attribute]:
    """Where a file reaches into a desk."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Attribute) and node.attr == "_seat":
            yield node


def _agent_rooms() -> list[str]:
    return [path.parent.name for path in sorted((ROOT / "hosts").glob("*/__init__.py"))]


def test_the_room_of_an_agent_is_imported_by_nobody_else_not_even_by_another_agent_s_room() -> None:
    rooms = _agent_rooms()
    assert {"claude_code", "codex", "gemini"} <= set(rooms)
    for room in rooms:
        outside = [one for one in _all() if not one.path.startswith(f"hosts/{room}/")]
        found = [one for one in outside if f"{one.name}.".startswith(f"punchlist.hosts.{room}.")]
        assert [_where(one) for one in found] == []


def _module(path: Path) -> str:
    parts = ["punchlist", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _at_the_top(path: Path) -> Iterator[str]:
    """The names that a file imports as it is loaded: `punchlist.desk.Desk`, `punchlist.core.ops`."""
    package = ["punchlist", *path.relative_to(ROOT).parent.parts]
    for node in _tree(path).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            module = [*base, *([node.module] if node.module else [])]
            yield from (".".join([*module, alias.name]) for alias in node.names)


def _graph() -> dict[str, set[str]]:
    """Which file loads which other file of the package when it is imported."""
    files = {_module(path): path for path in _sources()}
    graph = {}
    for name, path in files.items():
        found = (one if one in files else one.rpartition(".")[0] for one in _at_the_top(path))
        graph[name] = {one for one in found if one in files and one != name}
    return graph


def test_no_file_imports_itself_by_way_of_others() -> None:
    graph = _graph()
    assert graph["punchlist.desk"] >= {"punchlist.core.model", "punchlist.stores"}, "files inside a room are seen"
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_only_the_standard_library_is_imported() -> None:
    known = sys.stdlib_module_names | {"punchlist", "_sha256", "_sha2"}  # of Python 3.11, and of later ones
    foreign = [one for one in _all() if one.name.split(".")[0] not in known]
    assert [_where(one) for one in foreign if one.path not in OUTSIDE] == []


def test_the_core_is_pure() -> None:
    core = [one for one in _all() if _layer(one.path) == "core"]
    assert [_where(one) for one in core if one.name.split(".")[0] in IMPURE] == []


def _calls(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.lineno, node.func.id


def test_the_core_opens_reads_and_prints_nothing() -> None:
    wrong = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
    found = [(_below(path), line, name) for path in (ROOT / "core").glob("*.py") for line, name in _calls(path)]
    assert [one for one in found if one[2] in wrong] == []


def test_nothing_but_the_command_line_prints() -> None:
    found = [(_below(path), line) for path in _sources() for line, name in _calls(path) if name == "print"]
    assert [one for one in found if _layer(one[0]) != "cli"] == []


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:  # it is raised again
        return False
    caught = ast.walk(handler.type) if handler.type else [ast.Name("BaseException")]
    return any(isinstance(node, ast.Name) and node.id in ("Exception", "BaseException") for node in caught)


def test_every_fault_is_caught_only_where_that_is_documented() -> None:
    found = {
        _below(path)
        for path in _sources()
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node)
    }
    assert found <= CATCH_ALL


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("try: ...\nexcept Exception: ...", True),
        ("try: ...\nexcept (ValueError, BaseException): ...", True),
        ("try: ...\nexcept: ...", True),
        ("try: ...\nexcept ValueError: ...", False),
        ("try: ...\nexcept Exception:\n    print()\n    raise", False),
        ("try: ...\nexcept Exception:\n    raise ValueError", True),
    ],
)
def test_a_handler_of_everything_is_known_when_seen(code: str, wrong: bool) -> None:
    (handler,) = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ExceptHandler))
    assert _catches_everything(handler) is wrong


def _is_import_that_may_fail(node: ast.stmt) -> bool:
    """Whether only modules are imported there, and it is said what to install for them."""
    return isinstance(node, ast.Try) and all(isinstance(one, ast.Import | ast.ImportFrom) for one in node.body)


def test_nothing_is_done_at_import_but_to_define() -> None:
    """A module's top level holds definitions, imports, values and tables; no statement is run for its effect."""
    defines = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    allowed = (*defines, ast.Import, ast.ImportFrom, ast.If)
    found = [
        f"{_below(path)}:{node.lineno}"
        for path in _sources()
        if path.name != "__main__.py"
        for node in _tree(path).body
        if not isinstance(node, allowed) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        if not _is_import_that_may_fail(node)
    ]
    assert found == []


NAMES_OF_DIALECTS = set(PATHS) - {"native"}
MAY_NAME = {
    "core/types.py": "the names of formats, for type checkers",
    "dialects/__init__.py": "the table of dialects",
    "dialects/formats.py": "the table of formats",
    "hosts/__init__.py": "the table of agents, some of which have the name of their dialect",
    "tui/styles/__init__.py": "the table of styles",
    "local/settings.py": "the styles that a user may set",
    "cli/table.py": "the agents whose status line can be printed",
    "cli/input.py": "the one format that is a directory",
    "agent/transcript.py": "the format that an edit of the user is written in",
    "doctor/probe.py": "a hook to try, of any agent",
}


def _names_a_dialect(path: Path) -> bool:
    tree = _tree(path)
    return any(isinstance(node, ast.Constant) and node.value in NAMES_OF_DIALECTS for node in ast.walk(tree))


def test_what_is_special_about_a_dialect_is_in_its_own_file() -> None:
    """No other file asks which dialect, style or agent it has: it reads the value that the file of that one sets."""
    rooms = ("dialects/", "tui/styles/")
    found = {_below(path) for path in _sources() if _names_a_dialect(path)}
    files = tuple([name.replace("-", "_") for name in NAMES_OF_DIALECTS])
    own = {path for path in found if path.startswith(rooms) and any(name in path for name in files)}
    own |= {path for path in found if path.startswith("hosts/") and path.count("/") == 2}  # what an agent mirrors
    assert found - own == set(MAY_NAME), "a file names a dialect that is not its own: if it has to, say why in MAY_NAME"
