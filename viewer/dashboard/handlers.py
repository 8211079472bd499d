"""Bulk data over HTTP: data for the viewer, and downloads of trace files and reports."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from pathlib import Path
from typing import Final

import freeze_engine as fe
from viewer.dashboard.folder_listing import page_path
from viewer.dashboard.handlers_base import JsonHandler
from viewer.dashboard.payloads import Payload
from viewer.dashboard.server_state import State

_CHUNK_BYTES: Final = 1 << 20


class TraceHandler(JsonHandler):
    """Base of the trace handlers: finds the file, and reports its errors to the page."""

    def initialize(self, state: State) -> None:
        """Takes the state that all sessions share."""
        self._state = state

    def trace_path(self, argument: str) -> Path:
        """Returns the absolute path that an argument of the address names.

        Raises:
            FreezerError: it names no file.
        """
        path = page_path(self.get_query_argument(argument))
        if not path.is_file():
            raise fe.FreezerError(f"There is no trace {path}. It may have been moved or removed.")
        return path

    def write_error(self, status_code: int, **options: object) -> None:
        """Sends the project's own errors to the page with status 400."""
        error = options.get("exc_info", (None, None))[1]  # type: ignore[index]
        if isinstance(error, fe.FreezerError):
            self.refuse(HTTPStatus.BAD_REQUEST, str(error))
        else:
            super().write_error(status_code, **options)

    def log_exception(self, *problem: object) -> None:
        """Logs an exception, except the project's own errors: the page shows those."""
        if not isinstance(problem[1], fe.FreezerError):
            super().log_exception(*problem)  # type: ignore[arg-type]

    def write_payload(self, payload: Payload) -> None:
        """Ends the request with a payload."""
        self.set_header("Content-Type", "application/json; charset=UTF-8")
        self.set_header("Content-Encoding", "gzip")
        self.finish(payload.data)


class TraceDataHandler(TraceHandler):
    """``trace/data?path=``: the viewer's data of a trace."""

    async def get(self) -> None:
        """Writes ``{"view", "graph"}``."""
        self.write_payload(await self._state.payload((self.trace_path("path"),)))


class TraceChartsHandler(TraceHandler):
    """``trace/charts?path=``: the charts of a trace."""

    async def get(self) -> None:
        """Writes ``{"charts"}``."""
        self.write_payload(await self._state.rendered("charts", (self.trace_path("path"),)))


class CompareDataHandler(TraceHandler):
    """``compare/data?a=&b=``: the viewer's data of two traces."""

    async def get(self) -> None:
        """Writes the result of `comparison_data`, without charts."""
        self.write_payload(await self._state.payload((self.trace_path("a"), self.trace_path("b"))))


class CompareChartsHandler(TraceHandler):
    """``compare/charts?a=&b=``: the charts of two traces."""

    async def get(self) -> None:
        """Writes ``{"charts"}``."""
        self.write_payload(await self._state.rendered("charts", (self.trace_path("a"), self.trace_path("b"))))


class SweepDataHandler(TraceHandler):
    """``sweep/data?path=&since=``: the data of a sweep's page, compared with an earlier sweep if there is one."""

    async def get(self) -> None:
        """Writes the result of `sweep_data`."""
        folder, earlier = page_path(self.get_query_argument("path")), self.get_query_argument("since", None)
        paths = (folder,) if earlier is None else (folder, page_path(earlier))
        self.write_payload(await self._state.sweep_page(paths))


class TraceFileHandler(TraceHandler):
    """``trace/file?path=``: the trace file, as a download."""

    async def get(self) -> None:
        """Writes the file, if it is a trace."""
        path = self.trace_path("path")
        await self._state.rendered("entry", (path,))
        self.write_download(path.name, "application/octet-stream")
        with path.open("rb") as stream:
            while chunk := await asyncio.to_thread(stream.read, _CHUNK_BYTES):
                self.write(chunk)
                await self.flush()


class TraceReportHandler(TraceHandler):
    """``trace/report?path=``: the HTML report, as a download."""

    async def get(self) -> None:
        """Writes the report."""
        path = self.trace_path("path")
        report = await self._state.rendered("report", (path,))
        self.write_download(f"{path.stem}.html", "text/html; charset=UTF-8")
        self.finish(report.data)
