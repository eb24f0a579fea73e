"""Ties: what a hook leaves behind, so that a call to the MCP server is known to be of the same session and agent.

A hook is told which session and agent it runs in; a call to an MCP server mostly is not. Both know something else:
the id of the tool use, or the process of the agent that started them. A hook leaves its session under that key, and
the server looks there. A tie is worth something on this machine only, for as long as the agent runs, so ties are
small files beside the store and not in it. Whatever fails, there is no tie, and nobody is disturbed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence

from ..core._typing import NamedTuple
from ..core.model import MAIN
from .files import read_file, write_file
from .settings import state_folder

_KEPT = 86_400.0  # seconds until a tie is collected; every prompt links the agent's process again
_SELDOM = 64  # seconds, of which one is for collecting
_TYPED = 3_600.0  # seconds for which a command in a shell may run
_AT_ONCE = 30.0  # seconds in which a hook that an agent types in its shell begins
_COMPARED = 2_000  # characters of a command by which it is known again
_LARGEST = 16_384  # characters of a tie
_PLAIN = 60  # bytes of a key that is a file's name as it is, in hexadecimal
_HIGHEST = 64  # ancestors of a process that are looked at
_PS = "/bin/ps"
_TYPED_FLAG = "typed"  # a file that is touched when an agent types a hook: without it nothing needs to be looked up
_PROCESS = "process:"  # how the key of a process begins
GONE, IDLE, BUSY = "gone", "idle", "busy"  # states of a session

# Names of processes that are between an agent and what it starts, or above all agents.
_SHELLS = frozenset(["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "pwsh"])
_LAUNCHERS = _SHELLS | frozenset(["env", "uv", "uvx", "timeout", "nice", "nohup", "setsid", "sudo"])
INITS = frozenset(["systemd", "init", "launchd", "tini", "dumb-init", "docker-init", "s6-svscan", "catatonit"])


class AgentRef(NamedTuple):
    """Who makes a call."""

    session: str
    agent: str = MAIN
    host: str = ""  # the agent program
    folder: str = ""  # where it works


class Process(NamedTuple):
    """A process of this machine. No two have the same id and start."""

    pid: int
    parent: int
    started: str
    name: str


def link(key: str, who: AgentRef, *, at: float | None = None) -> bool:
    """Leave word of who is behind a key; the latest word counts. Whether it could be left."""
    from ..core.json_text import dumps

    text = dumps([key, *who])
    if not key or not who.session or len(text) > _LARGEST:
        return False
    now = time.time() if at is None else at
    folder = home()
    try:
        write_file(os.path.join(folder, _name(key)), text.encode())
        if int(now) % _SELDOM == 0:
            _remove_old(folder, now - _KEPT)
    except OSError:
        return False
    return True


def look_up(key: str, folder: str = "") -> AgentRef | None:
    """Who is behind a key, if a hook left word. Whoever asks often names the folder."""
    try:
        data = read_file(f"{folder or home()}/{_name(key)}", _LARGEST)
    except OSError:
        return None
    from ..core.json_text import loads

    try:
        found = loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not 4 <= len(found) <= 5 or any(type(one) is not str for one in found):
        return None
    if found[0] != key:
        return None
    return AgentRef(*found[1:])


def tool_use_key(id: str) -> str:
    """The key of one tool use."""
    if id:
        return f"tool:{id}"
    return ""


def mark_shell(use: str, who: AgentRef) -> None:
    """Note that an agent is about to type a command of ours in its shell."""
    agent = agent_key()
    if agent:
        link(_shell_key(agent, use or who.agent), who)


def unmark_shell(use: str, who: AgentRef) -> None:
    """Note that the command is over."""
    agent = agent_key()
    if agent:
        drop(_shell_key(agent, use or who.agent))


def find_in_shell(process: Process) -> Iterator[AgentRef]:
    """Yield who types a command of ours in a shell below a process, as its hooks have seen."""
    prefix, folder = _shell_key(key_of(process)).encode().hex(), home()
    before = time.time() - _TYPED
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(prefix) and entry.stat().st_mtime > before]
    for name in names:
        if "." not in name and (who := look_up(bytes.fromhex(name).decode("utf-8", "replace"), folder)):
            yield who


def mark_typed(use: str, who: AgentRef, command: str) -> None:
    """Note that an agent is about to type a hook of ours in its shell, with this command."""
    agent = agent_key()
    if agent and link(_typed_key(agent), AgentRef(who.session, use or who.agent, _essence(command)[:_COMPARED])):
        write_file(os.path.join(home(), _TYPED_FLAG), b"")


def unmark_typed(use: str = "") -> None:
    """Note that the command of this tool use is over; without one, whatever command the agent typed."""
    if not _is_fresh(_TYPED_FLAG):
        return
    key = _typed_key(agent_key())
    found = look_up(key)
    if found and use in ("", found.agent):
        drop(key)


def is_typed() -> bool:
    """Return whether this process is a hook that an agent types in its shell: a shell between the two runs the command
    that was seen. The agent's own hooks run another one. One look at the disk, as a rule."""
    if not _is_fresh(_TYPED_FLAG):
        return False
    between: list[Process] = []
    for process in ancestors():
        if process.name not in _LAUNCHERS:
            key = _typed_key(key_of(process))
            break
        between.append(process)
    else:
        return False
    found = look_up(key)
    if found is None or not _is_fresh(_name(key)):
        return False
    if not between:
        return is_in_place_of_shell()
    return any(found.host in _essence(command_of(process.pid)) for process in between)


def is_started_by(program: Process, above: Sequence[Process]) -> bool:
    """Return whether a program among the processes above us started this one, and left it in its own session of the
    kernel. What was put in a session apart can never come back. False where the system has no such sessions."""
    between = above[: above.index(program)]
    if not hasattr(os, "getsid") or any(process.name not in _LAUNCHERS for process in between):
        return False
    try:
        return os.getsid(program.pid) == os.getsid(0)
    except OSError:
        return False


def environment_of_agent(session: str) -> dict[str, str]:
    """Return the variables that the agent of a session was started with; none if they cannot be read. What its model
    sets in its shell is not among them."""
    above = list(ancestors())
    names = _programs_of(session, above)
    while above and not _is_agent(above[0], names):
        del above[0]
    found = (environment_of(process.pid) for process in above)
    return next(filter(None, found), {})


def _programs_of(session: str, processes: list[Process]) -> set[str]:
    """The names of the processes that a session is known to run in."""
    found: set[str] = set()
    for process in processes:
        who = look_up(key_of(process))
        if who and who.session == session:
            found.add(process.name)
    return found


def _is_agent(process: Process, names: set[str]) -> bool:
    """Whether a process may be the agent's: it has one of these names; where none is known, it is not a launcher."""
    if names:
        return process.name in names
    return process.name not in _LAUNCHERS


def mark_idle(who: AgentRef) -> None:
    """Note that an agent's turn is over: what is typed in its program now, the user types."""
    agent = agent_key()
    if agent:
        link(_idle_key(agent), who)


def unmark_idle() -> None:
    """Note that an agent is at work."""
    agent = agent_key()
    if agent:
        drop(_idle_key(agent))


def is_idle(agent: str) -> bool:
    """Return whether the turn of an agent is over, by the key of its process."""
    return look_up(_idle_key(agent)) is not None


def state_of(session: str) -> str:
    """Return what is known of a session on this machine: its program is gone, idle or busy; empty if nothing is."""
    found = ""
    if session.startswith(_PROCESS):
        found = GONE
    for key in _keys_of(session):
        pid = key.removeprefix(_PROCESS).partition(":")[0]
        if not pid.isdigit() or process_key(int(pid)) != key:
            found = found or GONE
        elif not is_idle(key):
            return BUSY
        else:
            found = IDLE
    return found


def _keys_of(session: str) -> Iterator[str]:
    """Yield the keys of the processes that a session runs in. An agent that names no session is its process."""
    if session.startswith(_PROCESS):
        yield session
    prefix, folder = _PROCESS.encode().hex(), home()
    try:
        names = [name for name in os.listdir(folder) if name.startswith(prefix) and "." not in name]
    except OSError:
        return
    for name in names:
        key = bytes.fromhex(name).decode("utf-8", "replace")
        who = look_up(key, folder)
        if who and who.session == session:
            yield key


def drop(key: str) -> None:
    """Forget who is behind a key."""
    try:
        os.unlink(os.path.join(home(), _name(key)))
    except OSError:
        pass


def _shell_key(agent: str, use: str = "") -> str:
    """The key of a command in a shell of an agent: a short one, which is used as it is in the name of the file."""
    from zlib import crc32

    key = f"shell:{agent}:"
    if use:
        key += f"{crc32(use.encode('utf-8', 'replace')):08x}"
    return key


def _typed_key(agent: str) -> str:
    return f"typed:{agent}"


def _idle_key(agent: str) -> str:
    return f"idle:{agent}"


def process_key(pid: int) -> str:
    """The key of a process that runs; empty if none does."""
    found = _reader()(pid)
    if found:
        return key_of(found)
    return ""


def agent_key() -> str:
    """The key of the agent that started this process: the nearest parent that is not a shell. Empty if unknown."""
    for process in ancestors():
        if process.name in INITS:
            break
        if process.name not in _LAUNCHERS:
            return key_of(process)
    return ""


def ancestor_keys() -> tuple[str, ...]:
    """The keys of the processes above this one that may be its agent, nearest first. A shell above them is where
    somebody typed the command: what is higher up is another agent, or none."""
    keys: list[str] = []
    for process in ancestors():
        is_shell = process.name in _SHELLS
        if process.name in INITS or (is_shell and keys):
            break
        if not is_shell:
            keys.append(key_of(process))
    return tuple(keys)


def ancestors(pid: int = 0) -> Iterator[Process]:
    """The processes above one, nearest first; above this one, if none is named."""
    read = _reader()
    parent = os.getppid()
    if pid:
        own = read(pid)
        if own is None:
            return
        parent = own.parent
    for _ in range(_HIGHEST):
        if parent <= 0:
            return
        found = read(parent)
        if found is None:
            return
        yield found
        parent = found.parent


def ancestors_below_init() -> list[Process]:
    """The processes above this one, nearest first, without those above all agents."""
    found: list[Process] = []
    for process in ancestors():
        if process.name in INITS:
            break
        found.append(process)
    return found


def home() -> str:
    """The folder where ties are."""
    return os.path.join(state_folder(os.environ), "ties")


# --- files -----------------------------------------------------------------------------------------------------------


def _name(key: str) -> str:
    """A name that any file system takes, whatever is in the key, and that differs by more than case."""
    data = key.encode("utf-8", "surrogatepass")
    if len(data) <= _PLAIN:
        return data.hex()
    from hashlib import sha256

    return f"h{sha256(data).hexdigest()}"


def _remove_old(folder: str, before: float) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if entry.stat(follow_symlinks=False).st_mtime < before:
                    os.unlink(entry.path)
            except OSError:  # somebody else was faster
                continue


def _is_fresh(name: str) -> bool:
    """Whether a file was written a short while ago."""
    try:
        return time.time() - os.stat(os.path.join(home(), name)).st_mtime <= _AT_ONCE
    except OSError:
        return False


# --- processes -------------------------------------------------------------------------------------------------------


def key_of(process: Process) -> str:
    """The key of a process."""
    return f"{_PROCESS}{process.pid}:{process.started}"


def _reader() -> Callable[[int], Process | None]:
    if os.path.exists("/proc/self/stat"):
        return read_proc
    return read_ps


def read_proc(pid: int) -> Process | None:
    """A process, as Linux tells of it."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            head, _, tail = file.read().rpartition(b")")
        fields = tail.split()
        name = head.partition(b"(")[2].decode("utf-8", "replace")
        return Process(pid, int(fields[1]), fields[19].decode(), name)
    except (OSError, ValueError, IndexError):
        return None


def read_ps(pid: int) -> Process | None:
    """A process, as ps tells of it where there is no /proc."""
    columns = [word for name in ("ppid", "lstart", "comm") for word in ("-o", f"{name}=")]
    try:
        words = _output([_PS, *columns, "-p", str(pid)]).decode("utf-8", "replace").split(None, 6)
    except OSError:
        return None
    if len(words) < 7 or not words[0].isdigit():
        return None
    name = os.path.basename(words[6].strip()).lstrip("-")
    return Process(pid, int(words[0]), "-".join(words[1:6]), name)


def command_of(pid: int) -> str:
    """Return the command line of a process; empty if it cannot be read."""
    try:
        if _reader() is read_ps:
            return _output([_PS, "-ww", "-o", "args=", "-p", str(pid)]).decode("utf-8", "replace")
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def environment_of(pid: int) -> dict[str, str]:
    """Return the variables that a process was started with; none if they cannot be read, as without /proc."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            found = file.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return {}
    pairs = [variable.partition("=") for variable in found]
    return {name: value for name, equals, value in pairs if equals}


def has_environments() -> bool:
    """Return whether this system tells which variables a process was started with."""
    return os.path.exists("/proc/self/environ")


def _essence(command: str) -> str:
    """What stays of a command however an agent quotes it for its shell."""
    plain = command.replace("\\n", "").replace("\\t", "")
    return "".join(one for one in plain if one.isalnum() or one in "<|")


def is_in_place_of_shell() -> bool:
    """Return whether a shell became this process, as it does with its last command: such a shell names the command in
    its environment, or has opened a file for it. An agent hands an event over in a pipe."""
    from stat import S_ISREG

    try:
        return os.path.basename(os.environ.get("_", "")) == "punchlist" or S_ISREG(os.fstat(0).st_mode)
    except OSError:
        return False


def _output(command: list[str]) -> bytes:
    """What a command prints, without the modules that this usually takes."""
    reading, writing = os.pipe()
    try:
        actions = [(os.POSIX_SPAWN_DUP2, writing, 1)]
        child = os.posix_spawn(command[0], command, {**os.environ, "LC_ALL": "C"}, file_actions=actions)
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    with open(reading, "rb") as file:
        printed = file.read()
    os.waitpid(child, 0)
    return printed
