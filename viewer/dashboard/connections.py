"""Closes connections that make no progress, and pauses when the process runs out of file descriptors.

The server closes a connection that has not sent the whole head of a request after `Patience.head_s`, even if bytes
still arrive, and one whose body or whose reading of the answer stalls after `Patience.stall_s`. The total time of a
request is not limited. Websockets are exempt.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from tornado.httpserver import HTTPServer
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerConnectionDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.iostream import IOStream

from freeze_engine import process

MAX_HEAD_BYTES: Final = 1 << 15
MAX_BODY_BYTES: Final = 1 << 16
"""Most bytes of a body, unless the handler allows more."""

_BATCH: Final = 32
"""Most connections accepted in a row before the open ones get their turn."""

_LEAST_BYTES: Final = 1 << 10
_LOOKS: Final = 6
"""Checks until a stall counts: a server that was busy itself reads pending data before the next check."""

_MAX_DESCRIPTORS: Final = 1 << 14
_OUT_OF_DESCRIPTORS: Final = (errno.EMFILE, errno.ENFILE)
_REMARK_EVERY_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Patience:
    """Time limits of connections.

    Attributes:
        head_s: for the head of a request, also of the next one on the same connection.
        stall_s: in which at least 1 KiB of a body or of an answer must be transferred.
        waiting: most connections without a request; one more closes the one that has waited longest.
        pause_s: until new connections are accepted again after the process ran out of descriptors.
    """

    head_s: float = 15.0
    stall_s: float = 60.0
    waiting: int = 256
    pause_s: float = 1.0


class CountingStream(IOStream):
    """A connection's stream that counts the bytes read and written."""

    moved_bytes = 0

    def read_from_fd(self, buf: bytearray | memoryview) -> int | None:
        """Reads, and counts."""
        count = super().read_from_fd(buf)
        self.moved_bytes += count or 0
        return count

    def write_to_fd(self, data: memoryview) -> int:
        """Writes, and counts."""
        count = super().write_to_fd(data)
        self.moved_bytes += count
        return count


@dataclass(slots=True)
class Connection:
    """An HTTP connection that is not a websocket.

    Attributes:
        stream: its stream.
        is_waiting: whether the head of a request is incomplete.
        is_reading: whether a body is.
        moved_bytes: the stream's byte count at the last progress.
        looks: number of checks without progress since then.
    """

    stream: CountingStream
    is_waiting: bool = True
    is_reading: bool = False
    moved_bytes: int = 0
    looks: int = 0

    def stands_still(self) -> bool:
        """Updates the progress of the connection, and returns whether it has stalled for too long."""
        moved_bytes = self.stream.moved_bytes
        has_to_move = self.is_reading or self.stream.writing()
        if not has_to_move or moved_bytes >= self.moved_bytes + _LEAST_BYTES:
            self.moved_bytes, self.looks = moved_bytes, 0
            return False
        self.looks += 1
        return self.looks > _LOOKS


class PatientServer(HTTPServer):
    """tornado's server with time limits for connections.

    Args:
        application: answers the requests.
        patience: time limits of connections.
        remark: prints a message to the user's terminal.
    """

    def initialize(  # type: ignore[override]
        self, application: HTTPServerConnectionDelegate, patience: Patience, remark: Callable[[str], object]
    ) -> None:
        """Sets up the server; tornado calls this in place of ``__init__``."""
        super().initialize(
            application,
            idle_connection_timeout=patience.head_s,
            max_header_size=MAX_HEAD_BYTES,
            max_body_size=MAX_BODY_BYTES,
        )
        self._patience = patience
        self._remark = remark
        self._remarked_s = float("-inf")
        limit = process.open_file_limit()
        self._most_waiting = patience.waiting if limit is None else max(1, min(patience.waiting, limit[0] // 4))
        self._open: dict[object, Connection] = {}
        self._sweep = PeriodicCallback(self._end_standstills, patience.stall_s * 1000 / _LOOKS)

    def add_sockets(self, sockets: Iterable[socket.socket]) -> None:
        """Accepts connections from listening sockets."""
        for listening in sockets:
            gate = _Gate(listening, self._take, self._pause)
            self._sockets[listening.fileno()] = listening
            self._handlers[listening.fileno()] = gate.close
            gate.open()
        self._sweep.start()

    def stop(self) -> None:
        """Accepts no more connections; the open ones stay."""
        self._sweep.stop()
        super().stop()

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """Starts to wait for a connection's first or next request."""
        self._open.pop(server_conn, None)
        connection = self._open[server_conn] = Connection(server_conn.stream)  # type: ignore[attr-defined]
        while len(waiting := self._waiting()) > self._most_waiting:
            waiting[0].stream.close()
            waiting[0].is_waiting = False  # it leaves the table when its turn comes
        return _Followed(super().start_request(server_conn, request_conn), connection)

    def on_close(self, server_conn: object) -> None:
        """Forgets a connection that closed or became a websocket."""
        self._open.pop(server_conn, None)
        super().on_close(server_conn)

    def _waiting(self) -> list[Connection]:
        """The connections that wait for a request, the longest wait first."""
        return [connection for connection in self._open.values() if connection.is_waiting]

    def _take(self, connection: socket.socket, address: Any) -> None:
        self.handle_stream(CountingStream(connection, self.max_buffer_size, self.read_chunk_size), address)

    def _pause(self, error: OSError) -> float:
        """Closes half of the waiting connections if descriptors ran out, and returns how long to pause, in s."""
        if error.errno in _OUT_OF_DESCRIPTORS:
            waiting = self._waiting()
            for connection in waiting[: (len(waiting) + 1) // 2]:
                connection.stream.close()
                connection.is_waiting = False
        now_s = IOLoop.current().time()
        if now_s - self._remarked_s >= _REMARK_EVERY_S:
            self._remarked_s = now_s
            self._remark(
                f"a connection could not be taken: {error.strerror}; the server goes on as soon as it can (ulimit -n "
                "says how many files and connections may be open)"
            )
        return self._patience.pause_s

    def _end_standstills(self) -> None:
        for connection in tuple(self._open.values()):
            if connection.stands_still():
                connection.stream.close()


class _Gate:
    """Accepts connections from one listening socket.

    Args:
        listening: the socket, non-blocking.
        take: receives a connection and its address.
        pause: receives the error of a failed accept; returns the time until the next try, in s.
    """

    def __init__(
        self, listening: socket.socket, take: Callable[[socket.socket, Any], None], pause: Callable[[OSError], float]
    ) -> None:
        self._listening = listening
        self._take = take
        self._pause = pause
        self._later: object | None = None

    def open(self) -> None:
        """Starts to accept connections."""
        self._later = None
        IOLoop.current().add_handler(self._listening, self._ready, IOLoop.READ)

    def close(self) -> None:
        """Stops accepting connections."""
        if self._later is None:
            IOLoop.current().remove_handler(self._listening)
        else:
            IOLoop.current().remove_timeout(self._later)

    def _ready(self, listening: socket.socket, events: int) -> None:
        for _ in range(_BATCH):
            try:
                connection, address = listening.accept()
            except BlockingIOError:
                return
            except ConnectionAbortedError:
                continue  # it was closed before its turn came
            except OSError as error:
                IOLoop.current().remove_handler(listening)
                self._later = IOLoop.current().call_later(self._pause(error), self.open)
                return
            self._take(connection, address)


class _Followed(HTTPMessageDelegate):
    """Tracks the progress of a request on its way to the application.

    Args:
        delegate: the application's.
        connection: holds the progress.
    """

    def __init__(self, delegate: HTTPMessageDelegate, connection: Connection) -> None:
        self._delegate = delegate
        self._connection = connection

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        """Marks the head as complete."""
        self._connection.is_waiting, self._connection.is_reading = False, True
        return self._delegate.headers_received(start_line, headers)

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        """Forwards a chunk of the body."""
        return self._delegate.data_received(chunk)

    def finish(self) -> None:
        """Marks the body as complete."""
        self._connection.is_reading = False
        self._delegate.finish()

    def on_connection_close(self) -> None:
        """Forwards that the connection closed."""
        self._delegate.on_connection_close()


def raise_descriptor_limit() -> None:
    """Raises the limit of open files and connections to the system's maximum, at most 16384."""
    limit = process.open_file_limit()
    if limit is not None and limit[0] < (most := min(limit[1], _MAX_DESCRIPTORS)):
        process.set_open_file_limit(most, limit[1])
