"""A real dashboard server in a thread of this process, for tests that look into it, and raw sockets to talk to it."""

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

from viewer.dashboard.connections import Patience
from viewer.dashboard.discretion import QUIET, quieten
from viewer.dashboard.listening_socket import listen, port_of
from viewer.dashboard.server import DashboardServer, ServerOptions
from viewer.dashboard.upload_store import UploadLimits

TOKEN = "the-printed-link-has-this-token"
LAUNCH = "the-started-browser-has-this-token"
PATIENCE_S = 120.0
"""How long to wait for what a server does at once on a quiet machine; only a test that fails waits so long."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Reply:
    """What came back over a raw socket."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"])


@dataclass
class LiveServer:
    """The server, its loop, and what it logged and remarked."""

    server: DashboardServer
    loop: asyncio.AbstractEventLoop
    port: int
    folder: Path
    records: list[logging.LogRecord]
    remarks: list[str] = field(default_factory=list)

    def inside(self, call: Callable[[], Result]) -> Result:
        """Calls on the server's thread."""

        async def run() -> Result:
            return call()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE_S)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    def exchange(self, request: bytes) -> Reply | None:
        """Sends bytes, and reads until the server closes or one whole answer is there; ``None`` where there is none."""
        with self.connect() as connection:
            with suppress(BrokenPipeError, ConnectionResetError):  # it may answer, and hang up, before all is there
                connection.sendall(request)
            return read_reply(connection)

    def ask(self, target: str, method: str = "GET", body: bytes = b"", **headers: str) -> Reply:
        """Asks in proper form; a header's name is given with ``_`` for ``-``."""
        lines = {"Host": self.host, "Connection": "close"} | {name.replace("_", "-"): headers[name] for name in headers}
        if body or method in ("PUT", "POST", "PATCH"):
            lines.setdefault("Content-Length", str(len(body)))
        reply = self.exchange(head(f"{method} {target} HTTP/1.1", lines) + body)
        assert reply is not None
        return reply

    def cookie(self) -> str:
        """A browser's cookie, in exchange for the printed link's token."""
        return self.ask(f"/?token={TOKEN}").headers["set-cookie"].partition(";")[0]

    def faults(self) -> list[str]:
        """What was logged as a warning or worse."""
        return [record.getMessage() for record in self.records if record.levelno >= logging.WARNING]


def head(line: str, headers: dict[str, str]) -> bytes:
    """Returns the head of a request as it goes over the wire."""
    lines = [line, *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def read_reply(connection: socket.socket, received: bytes = b"") -> Reply | None:
    """Returns one answer, ``None`` where the connection is closed without any."""
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
        patience: with connections.
        **options: others of `ServerOptions`.
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
            server.start()
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
