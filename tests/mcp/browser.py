"""A browser that shows the card of a real server: a page on loopback plays the client between the two."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Lock, Thread
from typing import Any

from tests.mcp.raw import Raw

PATIENCE = 60.0  # seconds until a browser has given up
PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
HOST = Path(__file__).parent / "host.html"
UI = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
CARD = "ui://punchlist/plan"


def greet(client: Raw, name: str = "a client with cards") -> dict[str, Any]:
    """The handshake of a client that shows cards."""
    about = {"name": name, "version": "1"}
    found = client.result("initialize", protocolVersion="2025-11-25", capabilities=UI, clientInfo=about)
    client.notify("notifications/initialized")
    return found


class Page:
    """The page, and what it reports."""

    def __init__(self, client: Raw, scenario: str) -> None:
        self.card = client.result("resources/read", uri=CARD)["contents"][0]["text"]
        self.scenario = scenario
        self.reports: Queue[Any] = Queue()
        self._client = client
        self._one = Lock()

    def ask(self, method: str, params: Any) -> Any:
        with self._one:
            return self._client.ask(method, **params)


@contextmanager
def served(page: Page) -> Iterator[str]:
    """The address at which the page is."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            texts = {"/card": page.card, "/scenario": page.scenario}
            self._answer(texts.get(self.path, HOST.read_text(encoding="utf-8")))

        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/report":
                page.reports.put(given)
                self._answer("{}")
            else:
                self._answer(json.dumps(page.ask(given["method"], given["params"])))

        def _answer(self, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def play(client: Raw, folder: Path, scenario: str, theme: str = "light") -> Any:
    """Show the card in a browser, play a scenario with it, and return what that returns."""
    page = Page(client, scenario)
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    quiet = ["--disable-background-networking", "--disable-component-update", "--no-proxy-server"]
    with served(page) as address:
        process = subprocess.Popen(
            [
                PROGRAM,
                *options,
                *quiet,
                f"--user-data-dir={folder}",
                "--remote-debugging-port=0",
                f"{address}?theme={theme}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return page.reports.get(timeout=PATIENCE)
        finally:
            process.kill()
            process.wait()
