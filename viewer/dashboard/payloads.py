"""Packed data of traces for the page: a renderer process makes it once for each version of a file."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import freeze_engine as fe
from freeze_engine import sweep
from viewer.dashboard.library import RecentTrace, recent_trace

MAX_ENTRIES: Final = 16
MAX_BYTES: Final = 64 << 20
"""Size of the cache in bytes; it keeps the latest payloads that fit."""

Key = tuple[object, ...]
Kind = Literal["payload", "charts", "report", "entry", "sweep"]
"""Products of traces: the viewer's data, its charts, the HTML report, or only the entry of the list of recent traces.
Of sweeps: the data of their page."""


@dataclass(frozen=True, slots=True)
class Payload:
    """Product of one trace, or of two, or of sweeps.

    Attributes:
        data: gzip'd JSON for the viewer, or a report's HTML.
        shown: the traces it is made of.
    """

    data: bytes
    shown: tuple[RecentTrace, ...]


def make_payload(paths: Sequence[Path]) -> Payload:
    """Returns the viewer's data of one trace, or of two side by side.

    Args:
        paths: absolute, of the trace files.

    Raises:
        TraceFileError: one cannot be read.
    """
    return comparison_payload(*paths) if len(paths) == 2 else trace_payload(*paths)


def payload_key(paths: Sequence[Path]) -> Key:
    """Returns a key that changes with either file, and with the number of files.

    Raises:
        FreezerError: one is not there.
    """
    return tuple(part for path in paths for part in file_key(path))


def trace_payload(path: Path) -> Payload:
    """Returns the viewer's data of one trace, ``{"view", "graph"}``; the page loads the charts when it shows them.

    Args:
        path: absolute, of the trace file.

    Raises:
        TraceFileError: it cannot be read.
    """
    from viewer.page import trace_data

    trace = fe.load(path)
    data = trace_data(trace, charted=False)
    return Payload(packed(data), (recent_trace(trace, path, data["view"]["summary"]["sentence"]),))


def comparison_payload(a: Path, b: Path) -> Payload:
    """Returns the viewer's data of two traces side by side, without charts.

    Args:
        a, b: absolute, of the trace files.

    Raises:
        TraceFileError: one cannot be read.
    """
    from viewer.page import comparison_data

    first, second = fe.load(a), fe.load(b)
    return Payload(
        packed(comparison_data(first, second, charted=False)), (recent_trace(first, a), recent_trace(second, b))
    )


def charts_payload(paths: Sequence[Path]) -> Payload:
    """Returns the charts of one trace, or of two side by side: ``{"charts"}``.

    Args:
        paths: absolute, of the trace files.

    Raises:
        TraceFileError: one cannot be read.
    """
    from viewer.page import comparison_charts, trace_charts

    traces = [fe.load(path) for path in paths]
    return Payload(packed({"charts": comparison_charts(*traces) if len(traces) == 2 else trace_charts(*traces)}), ())


def report_payload(path: Path) -> Payload:
    """Returns the HTML report of a trace.

    Args:
        path: absolute, of the trace file.

    Raises:
        TraceFileError: it cannot be read.
    """
    from viewer.report import render_report

    trace = fe.load(path)
    return Payload(render_report(trace).encode(), (recent_trace(trace, path),))


def entry_payload(path: Path) -> Payload:
    """Returns only the trace's entry in the list of recent traces, after reading the whole file.

    Args:
        path: absolute, of the trace file.

    Raises:
        TraceFileError: it cannot be read.
    """
    return Payload(b"", (recent_trace(fe.load(path), path),))


def sweep_payload(paths: Sequence[Path]) -> Payload:
    """Returns the data of a sweep's page.

    Args:
        paths: absolute, of the folder of the sweep, and of an earlier one to compare it with.

    Raises:
        FreezerError: one is not the folder of a sweep, or a file in it is damaged.
    """
    from viewer.sweep_page import sweep_data

    found, earlier = sweep.read_sweep(paths[0]), [sweep.read_sweep(path) for path in paths[1:]]
    return Payload(packed(sweep_data(found, earlier[0] if earlier else None)), ())


MAKERS: Final[Mapping[Kind, Callable[[Sequence[Path]], Payload]]] = {
    "payload": make_payload,
    "charts": charts_payload,
    "report": lambda paths: report_payload(*paths),
    "entry": lambda paths: entry_payload(*paths),
    "sweep": sweep_payload,
}
"""The function that makes each kind; the renderer process calls it."""


def packed(data: dict[str, Any]) -> bytes:
    """Returns gzip'd JSON; the same data gives the same bytes."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=5, mtime=0)


def file_key(path: Path) -> Key:
    """Returns a key that changes with the file.

    Raises:
        FreezerError: there is no such file.
    """
    try:
        status = path.stat()
    except OSError as error:
        text = f"There is no trace {path} ({error.strerror}). It may have been moved or removed."
        raise fe.FreezerError(text) from error
    return (str(path), status.st_mtime_ns, status.st_size, status.st_ino)


async def _awaited(make: Callable[[], Awaitable[Payload]]) -> Payload:
    return await make()


class Payloads:
    """Cache of the latest payloads; two concurrent requests for one key share one computation."""

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._tasks: OrderedDict[Key, asyncio.Task[Payload]] = OrderedDict()

    async def get(self, key: Key, make: Callable[[], Awaitable[Payload]]) -> Payload:
        """Returns the payload of a key.

        Args:
            key: names the content.
            make: computes it; its exceptions propagate and are not cached.
        """
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(_awaited(make))
            task.add_done_callback(lambda task: self._done(key, task))
        self._tasks.move_to_end(key)
        return await asyncio.shield(task)  # one request may be cancelled while others wait for the same

    def _done(self, key: Key, task: asyncio.Task[Payload]) -> None:
        if task.cancelled() or task.exception() is not None:
            del self._tasks[key]
        while len(self._tasks) > self._max_entries or self._held_bytes() > self._max_bytes:
            oldest, made = next(iter(self._tasks.items()))
            if len(self._tasks) == 1 or not made.done():
                return
            del self._tasks[oldest]

    def _held_bytes(self) -> int:
        return sum(len(task.result().data) for task in self._tasks.values() if task.done())
