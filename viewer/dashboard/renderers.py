"""A pool of renderer processes, kept between jobs; one that reaches a limit is replaced."""

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
    """Renders trace files for the pages."""

    async def render(self, kind: Kind, paths: Sequence[Path]) -> Payload:
        """Renders one trace, or two side by side."""

    def adopt(self, kind: Kind, paths: Sequence[Path], process: RenderProcess) -> None:
        """Takes over a process that runs this job already."""

    def warm(self) -> None:
        """Prepares for the first job."""

    async def close(self) -> None:
        """Ends all jobs."""


class Renderers:
    """Pool of renderer processes. Only the server's thread may use it.

    At least two processes may run on any machine, so that one slow file does not block other sessions.

    Args:
        limits: of each job.
        most: how many processes may run; by default one for each processor, at least 2 and at most 4.
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
        """Takes over a process that runs a job already; `render` then waits for its result.

        Args:
            kind: of the job.
            paths: absolute, of the trace files.
            process: has received the job; `receive` has not been called yet.
        """
        self._begun[kind, tuple(paths)] = process
        self._busy.add(process)

    def warm(self) -> None:
        """Starts a process unless one exists, so that the first trace does not wait for the start."""
        if not self._idle and not self._busy:
            with suppress(OSError):  # no more processes: the first job tries again and reports it
                self._idle.append(self._started())

    async def render(self, kind: Kind, paths: Sequence[Path]) -> Payload:
        """Renders one trace, or two side by side.

        Args:
            kind: what to render.
            paths: absolute, of the trace files.

        Raises:
            FreezerError: a file cannot be read, or the job reached a limit.
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
        """Returns an idle process; starts one if there is none."""
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
        """Ends all idle processes but one."""
        self._shrink = None
        while len(self._idle) > 1:
            self._idle.pop(0).close()

    async def close(self) -> None:
        """Ends all processes; running jobs fail."""
        self._closed = True
        if self._shrink is not None:
            self._shrink.cancel()
        for process in self._busy:
            process.kill()
        for process in (*self._idle, *self._begun.values()):
            process.close()
        self._idle.clear()
        self._begun.clear()
