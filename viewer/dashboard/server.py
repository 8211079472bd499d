"""Builds the server, runs it, and ends it cleanly.

The server answers at once; Panel, which only the sessions need (`sessions`), loads in a thread meanwhile.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from freeze_engine import process
from viewer.dashboard.application import GuardedApplication
from viewer.dashboard.auth import Guard
from viewer.dashboard.connections import Patience, PatientServer, raise_descriptor_limit
from viewer.dashboard.discretion import hide_tokens, quieten
from viewer.dashboard.end_signals import EndedEarlyError, EndSignals, is_fault
from viewer.dashboard.entrances import Entrances
from viewer.dashboard.handlers import (
    CompareChartsHandler,
    CompareDataHandler,
    SweepDataHandler,
    TraceChartsHandler,
    TraceDataHandler,
    TraceFileHandler,
    TraceReportHandler,
)
from viewer.dashboard.library import Library, drop_abandoned, recordings_folder
from viewer.dashboard.listening_socket import port_of
from viewer.dashboard.pages import AssetHandler, PageHandler
from viewer.dashboard.server_info import Site
from viewer.dashboard.server_state import State
from viewer.dashboard.upload_store import UploadLimits, UploadStore
from viewer.dashboard.uploads import UploadHandler

if TYPE_CHECKING:
    from viewer.dashboard.sessions import SessionApplication

_TURN_S: Final = 0.0005
"""Longest turn of one thread, in s, while Panel is being loaded in another; Python's 5 ms delay each answer tenfold."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of the server.

    Attributes:
        host: address to listen on, as the user gave it.
        token: of the printed link.
        uploads: limits on uploads.
        at_once: how many recordings may run at the same time.
        launch: token for the browser that the command starts, ``None`` if it starts none.
        remark: prints a message to the user's terminal.
        patience: time limits of connections.
    """

    host: str
    token: str
    uploads: UploadLimits
    at_once: int = 1
    launch: str | None = None
    remark: Callable[[str], object] = print
    patience: Patience = field(default_factory=Patience)

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens."""
        return tuple(filter(None, (self.token, self.launch)))


def run(
    options: ServerOptions, listening: socket.socket, signals: EndSignals, prepare: Callable[[State], object]
) -> None:
    """Serves until an end signal; then ends the running recordings and removes the uploads.

    Args:
        options: of the server.
        listening: the socket, which listens already.
        signals: report when the server has to end.
        prepare: called before the first request is answered.
    """
    quieten()
    for name in ("tornado.application", "asyncio"):
        logging.getLogger(name).addFilter(is_fault)
    hide_tokens(options.tokens)
    raise_descriptor_limit()
    asyncio.run(_serve(options, listening, signals, prepare))


async def _serve(
    options: ServerOptions, listening: socket.socket, signals: EndSignals, prepare: Callable[[State], object]
) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals.when_asked(lambda: _schedule(loop, ended.set))
    drop_abandoned(recordings_folder())
    with process.temporary_folder("freezer-ui-") as uploads:
        server = DashboardServer(options, listening, uploads, signals)
        prepare(server.state)
        server.start(lambda: _settle(options))
        try:
            # A Panel that cannot be loaded ends the server.
            await _first(asyncio.create_task(ended.wait()), asyncio.create_task(server.connectable()))
            await ended.wait()
        finally:
            await server.stop()


def _settle(options: ServerOptions) -> None:
    hide_tokens(options.tokens)  # also from the output of the handlers that Panel and Bokeh have added
    # Panel's many objects stay; as the collector no longer traverses them, a large trace loads a quarter faster.
    gc.freeze()


async def _first(*tasks: asyncio.Task[Any]) -> None:
    """Waits for the first of some tasks and raises its error; cancels the others."""
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    for task in done:
        task.result()


class DashboardServer:
    """One server with all its parts; only the event loop that creates it may use it.

    Args:
        options: of the server.
        listening: the socket, which listens already.
        uploads: folder for uploaded files.
        signals: report when the server has to end.
    """

    def __init__(
        self, options: ServerOptions, listening: socket.socket, uploads: Path, signals: EndSignals | None = None
    ) -> None:
        loop = asyncio.get_running_loop()
        site = Site(options.uploads.file_bytes, at_once=options.at_once)
        self.state = State(site, Library(), lambda call: _schedule(loop, call))
        self.uploads = UploadStore(uploads, options.uploads, self.state.jobs.unfinished, self._forget)
        self.state.on_job_end = self.uploads.sweep
        guard = Guard(Entrances(options.token, options.launch), options.host, port_of(listening))
        self._application = GuardedApplication(guard, options.remark, self._routes())
        self._http = PatientServer(self._application, options.patience, options.remark)
        self._listening = listening
        self._signals = signals or EndSignals()
        self._sessions: SessionApplication | None = None
        self._loading: asyncio.Task[None] | None = None

    def start(self, loaded: Callable[[], object] = lambda: None) -> None:
        """Starts to answer requests, and to load Panel.

        Args:
            loaded: called when Panel is loaded, before the first session.
        """
        self._http.add_socket(self._listening)
        self._loading = asyncio.create_task(self._load(loaded))
        self.state.warm()

    async def connectable(self) -> None:
        """Waits until pages can have a session; raises the error of a Panel that cannot be loaded."""
        assert self._loading is not None
        await asyncio.shield(self._loading)

    async def stop(self) -> None:
        """Ends recordings and connections."""
        await self.state.close()
        if self._loading is not None:
            await asyncio.wait([self._loading])  # a signal ends it before its next module
        if self._sessions is not None:
            self._sessions.stop()
        self._http.stop()

    @property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions of all routes."""
        return self._application.patterns

    async def _load(self, loaded: Callable[[], object]) -> None:
        try:
            with _hurry():
                module = await asyncio.to_thread(self._import_sessions)
        except EndedEarlyError:
            return
        loaded()
        self._sessions = sessions = module.SessionApplication(self.state, self.uploads, self._application.channels)
        sessions.start()
        self._application.connect(sessions)

    def _import_sessions(self) -> Any:
        with self._signals.ends_imports():
            return importlib.import_module("viewer.dashboard.sessions")

    async def hang_up(self) -> None:
        """Closes all open connections, for a process that continues without the server."""
        await self._http.close_all_connections()

    def _forget(self, upload: Path) -> None:
        """Drops a removed upload from the recent traces."""
        self.state.library.forget(str(upload))
        self.state.tell("library")

    def _routes(self) -> list[Any]:
        state = {"state": self.state}
        return [
            (r"/", PageHandler, state),
            (r"/assets/([\w.-]+)", AssetHandler),
            (r"/trace/data", TraceDataHandler, state),
            (r"/trace/charts", TraceChartsHandler, state),
            (r"/trace/file", TraceFileHandler, state),
            (r"/trace/report", TraceReportHandler, state),
            (r"/compare/data", CompareDataHandler, state),
            (r"/compare/charts", CompareChartsHandler, state),
            (r"/sweep/data", SweepDataHandler, state),
            (r"/upload", UploadHandler, {"store": self.uploads}),
        ]


@contextmanager
def _hurry() -> Iterator[None]:
    """Loads modules a sixth faster (without the collector, which finds nothing then), and lets the server answer."""
    before_s, collects = sys.getswitchinterval(), gc.isenabled()
    sys.setswitchinterval(_TURN_S)
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        sys.setswitchinterval(before_s)


def _schedule(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # a recording may report its end after the server's loop is closed
        loop.call_soon_threadsafe(call)
