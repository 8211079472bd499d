"""Runs a real dashboard server in a thread, for tests that inspect its state, with raw sockets as clients."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

from viewer.dashboard.connections import Patience
from viewer.dashboard.discretion import QUIET, quieten
from viewer.dashboard.listening_socket import listen, port_of
from viewer.dashboard.server import DashboardServer, ServerOptions
from viewer.dashboard.upload_store import UploadLimits

TOKEN = "the-printed-link-has-this-token"
LAUNCH = "the-started-browser-has-this-token"
PATIENCE_S = 300.0
"""Time limit of waits for the server, in s; only a failing test reaches it."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Reply:
    """An answer read from a raw socket."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"])


@dataclass
class LiveServer:
    """The server, its event loop, its log records and its remarks."""

    server: DashboardServer
    loop: asyncio.AbstractEventLoop
    port: int
    folder: Path
    records: list[logging.LogRecord]
    remarks: list[str] = field(default_factory=list)

    def inside(self, call: Callable[[], Result]) -> Result:
        """Runs a call on the server's thread."""

        async def run() -> Result:
            return call()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE_S)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    def exchange(self, request: bytes) -> Reply | None:
        """Sends bytes and reads one answer; ``None`` if the server closes without any."""
        with self.connect() as connection:
            with suppress(BrokenPipeError, ConnectionResetError):  # the server may answer and close before it has all
                connection.sendall(request)
            return read_reply(connection)

    def ask(self, target: str, method: str = "GET", body: bytes = b"", **headers: str) -> Reply:
        """Sends a well-formed request; header names have ``_`` for ``-``."""
        lines = {"Host": self.host, "Connection": "close"} | {name.replace("_", "-"): headers[name] for name in headers}
        if body or method in ("PUT", "POST", "PATCH"):
            lines.setdefault("Content-Length", str(len(body)))
        reply = self.exchange(head(f"{method} {target} HTTP/1.1", lines) + body)
        assert reply is not None
        return reply

    def cookie(self) -> str:
        """Exchanges the printed link's token for a browser's cookie."""
        return self.ask(f"/?token={TOKEN}").headers["set-cookie"].partition(";")[0]

    def faults(self) -> list[str]:
        """Returns the logged warnings and errors."""
        return [record.getMessage() for record in self.records if record.levelno >= logging.WARNING]


def head(line: str, headers: dict[str, str]) -> bytes:
    """Returns the bytes of a request's head."""
    lines = [line, *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def read_reply(connection: socket.socket, received: bytes = b"") -> Reply | None:
    """Reads one answer; ``None`` if the connection closes without any."""
    while b"\r\n\r\n" not in received:
        if not (chunk := _received(connection)):
            return None
        received += chunk
    top, _, body = received.partition(b"\r\n\r\n")
    line, *rest = top.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
    status = int(line.split()[1])
    if status == 100:
        return read_reply(connection, body)
    length = int(headers["content-length"]) if "content-length" in headers else None
    has_body = status not in (101, 204, 304)
    if has_body and headers.get("transfer-encoding") == "chunked":
        while not body.endswith(b"0\r\n\r\n") and (chunk := _received(connection)):
            body += chunk
        return Reply(status, headers, body)
    while has_body and (length is None or len(body) < length) and (chunk := _received(connection)):
        body += chunk
    return Reply(status, headers, body)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except ConnectionResetError:
        return b""


class _Keeper(logging.Handler):
    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__(logging.WARNING)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)


@contextmanager
def live_server(
    folder: Path,
    limits: UploadLimits | None = None,
    patience: Patience | None = None,
    **options: Any,
) -> Iterator[LiveServer]:
    """Runs a server until the block ends.

    Args:
        folder: for uploads.
        limits: of uploads.
        patience: time limits of connections.
        **options: other fields of `ServerOptions`.
    """
    records: list[logging.LogRecord] = []
    remarks: list[str] = []
    keeper = _Keeper(records)
    started: list[LiveServer] = []
    ready = threading.Event()
    over: list[Callable[[], object]] = []
    listening = listen("127.0.0.1", None)
    given = ServerOptions(
        "127.0.0.1",
        TOKEN,
        limits or UploadLimits(1 << 20, 4 << 20),
        remark=remarks.append,
        patience=patience or Patience(),
        **options,
    )

    async def serve() -> None:
        loop, end = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = DashboardServer(given, listening, folder)
            with mock.patch.object(server.state, "warm"):  # the first drawing starts a renderer; most tests draw none
                server.start()
            await server.connectable()
            started.append(LiveServer(server, loop, port_of(listening), folder, records, remarks))
            over.append(lambda: loop.call_soon_threadsafe(end.set))
        finally:
            ready.set()
        await end.wait()
        await server.stop()
        await server.hang_up()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    logging.getLogger().addHandler(keeper)
    levels = {name: logging.getLogger(name).level for name in QUIET}
    quieten()
    thread.start()
    try:
        assert ready.wait(PATIENCE_S)
        yield started[0]
    finally:
        for end in over:
            end()
        thread.join(PATIENCE_S)
        logging.getLogger().removeHandler(keeper)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        listening.close()
