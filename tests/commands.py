"""The `punchlist` command in a process of its own, without the start of an interpreter each time.

A server imports the package once and forks for every command, so a command costs milliseconds, and still has its own
memory, environment, folder, standard streams and exit code. What a start costs and imports is tested elsewhere, with
the script itself.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest

SCRIPT = str(Path(sys.executable).parent / "punchlist")
UTF8 = {"PYTHONIOENCODING": "utf-8"}
# Permissions do not bind root, unless it gives that up.
BOUND = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
bound = pytest.mark.skipif(bool(BOUND) and not shutil.which("setpriv"), reason="root cannot give up its rights here")

# --- for tests -------------------------------------------------------------------------------------------------------


def run(*words: str, stdin: str | bytes = "", cwd: str | Path = ".", **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command, with these variables on top of the environment; return its exit code and what it printed."""
    sent = stdin.encode() if isinstance(stdin, str) else stdin
    environ = {**os.environ, **UTF8, **env}
    if _is_like_the_server(environ) and _BUSY.acquire(blocking=False):
        try:
            done = _forked(words, sent, cwd, environ)
        finally:
            _BUSY.release()
    else:
        done = _started(words, sent, cwd, environ)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def do(*words: str, stdin: str | bytes = "", cwd: str | Path = ".", **env: str) -> str:
    """Run a command that must succeed without complaint; return what it printed."""
    done = run(*words, stdin=stdin, cwd=cwd, **env)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def hook(host: str, event: Mapping[str, Any], **env: str) -> subprocess.CompletedProcess[str]:
    """Send an agent's event to its hook."""
    return run("hook", host, stdin=json.dumps(event), **env)


def logged_errors(state: str | Path = "") -> list[str]:
    """The errors in the event log of a state folder, by default this user's, each as `where: message`."""
    path = Path(state or os.environ["XDG_STATE_HOME"], "punchlist", "events.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    events = [json.loads(line) for line in lines]
    return [f"{event['where']}: {event['message']}" for event in events if event["kind"] == "error"]


# --- how -------------------------------------------------------------------------------------------------------------

Done = subprocess.CompletedProcess[bytes]
_FOR_PROGRAMS = ("punchlist.adapters.", "punchlist.testing.")
_BUSY = threading.Lock()  # commands that run at the same time start as programs


def _started(words: tuple[str, ...], stdin: bytes, cwd: str | Path, env: dict[str, str]) -> Done:
    return subprocess.run([SCRIPT, *words], input=stdin, cwd=cwd, env=env, capture_output=True, check=False)


def _forked(words: tuple[str, ...], stdin: bytes, cwd: str | Path, env: dict[str, str]) -> Done:
    order = json.dumps({"words": words, "cwd": os.path.abspath(cwd), "env": env, "umask": _umask()}).encode() + b"\n"
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as wrong:
        given.write(stdin)
        given.seek(0)
        server, _ = _server()
        socket.send_fds(server, [order[:1]], [given.fileno(), said.fileno(), wrong.fileno()])
        server.sendall(order[1:])
        code = int(_line(server))
        said.seek(0)
        wrong.seek(0)
        return subprocess.CompletedProcess([SCRIPT, *words], code, said.read(), wrong.read())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _is_like_the_server(env: Mapping[str, str]) -> bool:
    """Whether an interpreter would start with these variables as the server did."""
    return _read_at_start(env) == _AT_START and "COVERAGE_PROCESS_CONFIG" not in env


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    names = ("PYTHONIOENCODING", "PYTHONPATH", "PYTHONUTF8", "PYTHONWARNINGS", "LANG", "LC_ALL", "LC_CTYPE")
    return {name: env[name] for name in names if name in env}


_AT_START = _read_at_start({**os.environ, **UTF8})


@cache
def _server() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The server of this process of tests; it ends when its socket is closed."""
    ours, theirs = socket.socketpair()
    environ = {**_AT_START, "PATH": os.defpath}
    with theirs:
        words = [sys.executable, __file__, str(theirs.fileno())]
        process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=environ, cwd="/", stdin=subprocess.DEVNULL)
    return ours, process


def _line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        more = connection.recv(1 << 16)
        if not more:
            raise EOFError("the other end is gone")
        data += more
    return data


# --- the server ------------------------------------------------------------------------------------------------------


def serve(number: int) -> None:
    """Fork for every order, and return in each child once it is what the order asks for."""
    connection = socket.socket(fileno=number)
    while True:
        first, files, _, _ = socket.recv_fds(connection, 1, 3)
        if not first:
            os._exit(0)
        order = json.loads(first + _line(connection))
        child = os.fork()
        if not child:
            return _become(order, files)
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(order: dict[str, Any], files: list[int]) -> None:
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, max(files) + 1)
    os.chdir(order["cwd"])
    os.umask(order["umask"])
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    sys.argv = [SCRIPT, *order["words"]]


def _import_everything() -> None:
    """Import the package, but not what is for programs only: adapters need their frameworks, and no command has use for
    them."""
    import punchlist

    for module in pkgutil.walk_packages(punchlist.__path__, "punchlist."):
        if not module.name.endswith("__main__") and not module.name.startswith(_FOR_PROGRAMS):
            importlib.import_module(module.name)


def _end(main: Callable[[], int]) -> NoReturn:
    """End with what a program returns or raises as the interpreter would, without taking apart every module."""
    code: Any = 1
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.main_thread():
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else code is not None)


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))
    _import_everything()
    gc.freeze()
    serve(int(sys.argv[1]))
    from punchlist.cli import main

    _end(main)
