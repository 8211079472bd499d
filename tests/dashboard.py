"""Runs a real dashboard server in a child process, for tests that send requests to it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.warm_workers import WARM_COMMAND

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Answer:
    """An answer of the server."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass
class RunningServer:
    """The server's process, and the link that it printed."""

    process: subprocess.Popen[str]
    link: str
    folder: Path

    @property
    def port(self) -> int:
        return urlsplit(self.link).port or 80

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.link).query)["token"][0]

    @cached_property
    def cookie(self) -> dict[str, str]:
        """The headers of an admitted browser."""
        return {"Cookie": self.ask(f"/?token={self.token}").headers["Set-Cookie"].partition(";")[0]}

    def page_id(self) -> str:
        """Starts a page's session and returns its id; without a websocket the server keeps it for some 30 s."""
        return str(json.loads(self.ask("/session", self.cookie).body)["page"])

    @property
    def origin(self) -> dict[str, str]:
        """The headers of a request from the server's own page."""
        return {"Origin": f"http://127.0.0.1:{self.port}"}

    @property
    def recordings(self) -> Path:
        return self.folder / "freezer-ui" / "recordings"

    def ask(
        self, path: str, headers: dict[str, str] | None = None, method: str = "GET", body: bytes | None = None
    ) -> Answer:
        """Sends a request, with no credentials but those in ``headers``."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            with suppress(BrokenPipeError):  # the server may answer and close before it has the whole body
                connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            # A websocket's answer has no end.
            return Answer(response.status, response.headers, b"" if response.status == 101 else response.read())
        finally:
            connection.close()

    def ended(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Ends the server, and returns its exit code and its standard error."""
        self.process.send_signal(number)
        _, told = self.process.communicate(timeout=300)
        return self.process.returncode, told


@contextmanager
def running_server(folder: Path, *words: str) -> Iterator[RunningServer]:
    """Runs ``freezer-ui`` until the block ends.

    Args:
        folder: its working directory, and the place of its recordings and recent traces.
        words: of the command line.
    """
    folders = {"XDG_DATA_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    process = subprocess.Popen(
        [sys.executable, "-W", "error::ResourceWarning", "-c", WARM_COMMAND, "--no-browser", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | folders | {"PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert link.startswith("http://"), process.communicate(timeout=300)[1]
        yield RunningServer(process, link, folder)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)  # a kill would leave its temporary folder behind
        try:
            process.communicate(timeout=300)
        finally:
            process.kill()
