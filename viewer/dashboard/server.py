"""Builds the server, runs it, and ends it cleanly."""

from __future__ import annotations

import asyncio
import gc
import logging
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import panel as pn
from bokeh.server.server import BaseServer
from panel.io.application import build_applications
from tornado.ioloop import IOLoop

from freeze_engine import process
from viewer.dashboard.auth import Guard
from viewer.dashboard.component import Dashboard
from viewer.dashboard.connections import Patience, PatientServer, raise_descriptor_limit
from viewer.dashboard.discretion import hide_tokens, quieten
from viewer.dashboard.end_signals import EndSignals, is_fault
from viewer.dashboard.entrances import Entrances
from viewer.dashboard.handlers import (
    CompareDataHandler,
    SweepDataHandler,
    TraceDataHandler,
    TraceFileHandler,
    TraceReportHandler,
)
from viewer.dashboard.handlers_base import GuardedTornado
from viewer.dashboard.library import Library, drop_abandoned, recordings_folder
from viewer.dashboard.listening_socket import port_of
from viewer.dashboard.messages import Messages
from viewer.dashboard.pages import AssetHandler, page_template, page_variables
from viewer.dashboard.server_info import Site
from viewer.dashboard.server_state import State
from viewer.dashboard.upload_store import PageUploads, UploadLimits, UploadStore
from viewer.dashboard.uploads import UploadHandler

UNUSED_MS: Final = 30_000
"""How long a session lasts without a websocket; a busy machine takes more than Bokeh's 15 s from page to websocket."""


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
    hide_tokens(tuple(filter(None, (options.token, options.launch))))
    raise_descriptor_limit()
    # Panel's many objects stay; as the collector no longer traverses them, a large trace loads a quarter faster.
    gc.freeze()
    asyncio.run(_serve(options, listening, signals, prepare))


async def _serve(
    options: ServerOptions, listening: socket.socket, signals: EndSignals, prepare: Callable[[State], object]
) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals.when_asked(lambda: _schedule(loop, ended.set))
    drop_abandoned(recordings_folder())
    with process.temporary_folder("freezer-ui-") as uploads:
        server = DashboardServer(options, listening, uploads)
        prepare(server.state)
        server.start()
        await ended.wait()
        await server.stop()


class DashboardServer:
    """One server with all its parts; only the event loop that creates it may use it.

    Args:
        options: of the server.
        listening: the socket, which listens already.
        uploads: folder for uploaded files.
    """

    def __init__(self, options: ServerOptions, listening: socket.socket, uploads: Path) -> None:
        loop = asyncio.get_running_loop()
        site = Site(options.uploads.file_bytes, at_once=options.at_once)
        self.state = State(site, Library(), lambda call: _schedule(loop, call))
        self.uploads = UploadStore(uploads, options.uploads, self.state.jobs.unfinished, self._forget)
        self.state.on_job_end = self.uploads.sweep
        guard = Guard(Entrances(options.token, options.launch), options.host, port_of(listening))
        self._tornado = GuardedTornado(
            guard,
            options.remark,
            build_applications(self._page, title="Freezer", location=False),
            extra_patterns=self._routes(),
            use_index=False,
            extra_websocket_origins=["*"],  # the guard has checked the Origin already
            secret_key=secrets.token_bytes(32),
            sign_sessions=True,
            unused_session_lifetime_milliseconds=UNUSED_MS,
            check_unused_sessions_milliseconds=UNUSED_MS // 8,
            # Else the page would hold, in its session's token, the cookie that scripts must not see.
            include_headers=[],
            include_cookies=[],
        )
        self._http = PatientServer(self._tornado, options.patience, options.remark)
        self._http.add_socket(listening)
        self._server = BaseServer(IOLoop.current(), self._tornado, self._http)

    def start(self) -> None:
        """Starts to answer requests."""
        self._server.start()
        self.state.warm()

    async def stop(self) -> None:
        """Ends recordings and connections."""
        await self.state.close()
        self._server.stop()

    @property
    def patterns(self) -> tuple[str, ...]:
        """The regular expressions of all routes."""
        patterns: tuple[str, ...] = self._tornado.patterns
        return patterns

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
            (r"/assets/([\w.]+)", AssetHandler),
            (r"/trace/data", TraceDataHandler, state),
            (r"/trace/file", TraceFileHandler, state),
            (r"/trace/report", TraceReportHandler, state),
            (r"/compare/data", CompareDataHandler, state),
            (r"/sweep/data", SweepDataHandler, state),
            (r"/upload", UploadHandler, {"store": self.uploads}),
        ]

    def _page(self) -> Dashboard:
        """Creates one session's page; Panel calls it for every tab."""
        document = pn.state.curdoc
        id_ = secrets.token_urlsafe(16)
        document.template = page_template()
        document.template_variables.update(page_variables() | {"page": id_})
        document.config.reconnect_session = False  # the page's address holds a lost session's state
        document.config.notify_connection_status = False
        dashboard = Dashboard(Messages(self.state, PageUploads(self.uploads, id_)).answer, **self.state.view())
        self.state.join(dashboard)
        self.uploads.join(id_)
        document.on_session_destroyed(lambda context: self._left(dashboard, id_))
        return dashboard

    def _left(self, dashboard: Dashboard, id_: str) -> None:
        self.state.leave(dashboard)
        self.uploads.leave(id_)


def _schedule(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # a recording may report its end after the server's loop is closed
        loop.call_soon_threadsafe(call)
