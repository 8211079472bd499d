"""The renderer processes of one server: a few, kept between jobs, each ended where it reaches a limit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import freeze_engine as fe
from viewer.dashboard.payloads import Kind, Payload
from viewer.dashboard.render_process import Limits, RenderProcess

_MOST: Final = 4
_IDLE_S: Final = 30.0
_CLOSED: Final = "The server is ending. Start freezer-ui again to open {}."


class Renders(Protocol):
    """Makes what pages load of trace files."""

    async def render(self, kind: Kind, paths: Sequence[Path]) -> Payload:
        """Returns one thing made of one trace, or of two."""

    def adopt(self, kind: Kind, paths: Sequence[Path], process: RenderProcess) -> None:
        """Takes over a process that does this job already."""

    def warm(self) -> None:
        """Gets ready for the first job."""

    async def close(self) -> None:
        """Ends what runs."""


class Renderers:
    """Renderer processes. Belongs to one thread, the server's.

    Two files can be read at once on any machine, so that one that takes long holds up nobody else's.

    Args:
        limits: of each job.
        most: how many processes may run; by default one for each processor, within bounds.
    """

    def __init__(self, limits: Limits | None = None, most: int | None = None) -> None:
        self._limits = limits or Limits()
        self._turns = asyncio.Semaphore(most or max(2, min(_MOST, os.cpu_count() or 1)))
        self._idle: list[RenderProcess] = []
        self._busy: set[RenderProcess] = set()
        self._begun: dict[tuple[Kind, tuple[Path, ...]], RenderProcess] = {}
        self._shrink: asyncio.TimerHandle | None = None
        self._closed = False

    def adopt(self, kind: Kind, paths: Sequence[Path], process: RenderProcess) -> None:
        """Takes over a process that does a job already; `render` then waits for that.

        Args:
            kind: of the job.
            paths: absolute, of the trace files.
            process: which was sent the job, and has not been asked for its end.
        """
        self._begun[kind, tuple(paths)] = process
        self._busy.add(process)

    def warm(self) -> None:
        """Starts a process, unless there is one, so that the first trace need not wait for it."""
        if not self._idle and not self._busy:
            with suppress(OSError):  # no more processes: the first job tries again, and says so
                self._idle.append(self._started())

    async def render(self, kind: Kind, paths: Sequence[Path]) -> Payload:
        """Returns what is made of one trace, or of two.

        Args:
            kind: what to make.
            paths: absolute, of the trace files.

        Raises:
            FreezerError: a file cannot be read, or reached a limit.
        """
        async with self._turns:
            process = self._begun.pop((kind, tuple(paths)), None)
            if self._closed:
                raise fe.FreezerError(_CLOSED.format(" and ".join(map(str, paths))))
            if process is None:
                process = self._taken()
                process.send(kind, paths)
            return await self._ended(process, paths)

    async def _ended(self, process: RenderProcess, paths: Sequence[Path]) -> Payload:
        late = asyncio.get_running_loop().call_later(self._limits.wait_s, process.give_up)
        try:
            return await asyncio.to_thread(process.receive, paths)
        except asyncio.CancelledError:
            process.kill()
            raise
        finally:
            late.cancel()
            self._put_back(process)

    def _started(self) -> RenderProcess:
        process = RenderProcess(self._limits)
        process.yield_to_others()
        return process

    def _taken(self) -> RenderProcess:
        """Returns a process that does nothing, started now if there is none."""
        while self._idle:
            process = self._idle.pop()
            if not process.is_worn:
                break
            process.close()
        else:
            process = self._started()
        self._busy.add(process)
        return process

    def _put_back(self, process: RenderProcess) -> None:
        self._busy.discard(process)
        if self._closed or process.is_worn:
            process.close()
            if not self._closed:
                self.warm()
            return
        process.yield_to_others()
        self._idle.append(process)
        if self._shrink is None and len(self._idle) > 1:
            self._shrink = asyncio.get_running_loop().call_later(_IDLE_S, self._end_idle)

    def _end_idle(self) -> None:
        """Ends all but one of those that do nothing."""
        self._shrink = None
        while len(self._idle) > 1:
            self._idle.pop(0).close()

    async def close(self) -> None:
        """Ends all processes; jobs that are under way fail."""
        self._closed = True
        if self._shrink is not None:
            self._shrink.cancel()
        for process in self._busy:
            process.kill()
        for process in (*self._idle, *self._begun.values()):
            process.close()
        self._idle.clear()
        self._begun.clear()
