"""State shared by all sessions; `State` pushes its changes to them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import freeze_engine as fe
from freeze_engine import worker
from viewer.dashboard.job import Launch
from viewer.dashboard.jobs import Jobs
from viewer.dashboard.library import Library, RecentTrace, drop_if_empty
from viewer.dashboard.payloads import MAKERS, Kind, Payload, Payloads, payload_key
from viewer.dashboard.render_process import RenderProcess
from viewer.dashboard.renderers import Renderers, Renders
from viewer.dashboard.server_info import Site

log: Final = logging.getLogger(__name__)

Value = Literal["site", "library", "jobs"]

PUSH_EVERY_S: Final = 0.2
"""Minimum time between two pushes of the job list, in s."""

TOLD_PER_S: Final = 25
"""Most pushes of the job list per second, over all sessions: each takes milliseconds of the server's only thread."""

TICK_S: Final = 1.0
"""Time between two pushes of a running recording's elapsed time when nothing else changes, in s."""

PATIENCE_S: Final = 10.0
"""How long a server that ends waits for the last recording to enter the list of recent traces, in s."""


class Session(Protocol):
    """The part of a browser tab's session that this module uses."""

    def show(self, name: Value, value: Any) -> None:
        """Takes a new value and sends it to the browser."""


class State:
    """Site, recent traces and recordings. Only the server's thread may use it.

    Args:
        site: the server's facts.
        library: the recent traces.
        schedule: runs a call from any thread on the server's thread.
        launch: creates the process of a recording.
        renderers: render trace files for the pages, by default in child processes.

    Attributes:
        on_job_end: called after the end of every recording.
    """

    on_job_end: Callable[[], object] = staticmethod(lambda: None)

    def __init__(
        self,
        site: Site,
        library: Library,
        schedule: Callable[[Callable[[], None]], None],
        launch: Launch | None = None,
        renderers: Renders | None = None,
    ) -> None:
        self.site = site
        self.library = library
        self.jobs = Jobs(
            schedule, launch=launch, at_once=site.at_once, on_change=self._jobs_changed, on_end=self._job_ended
        )
        self._sessions: set[Session] = set()
        self._push: asyncio.TimerHandle | None = None
        self._pushed_s = 0.0
        self._renderers = renderers or Renderers()
        self._made: dict[Kind, Payloads] = {kind: Payloads() for kind in MAKERS}
        self._work: set[asyncio.Task[Any]] = set()

    def view(self) -> dict[str, Any]:
        """Returns the initial values of a new session."""
        return {name: self._value(name) for name in ("site", "library", "jobs")}

    def join(self, session: Session) -> None:
        """Adds a session; from now on it receives changes."""
        self._sessions.add(session)

    def leave(self, session: Session) -> None:
        """Removes a session that ended."""
        self._sessions.discard(session)

    def tell(self, name: Value) -> None:
        """Sends a value to all sessions."""
        value = self._value(name)
        for session in tuple(self._sessions):
            session.show(name, value)

    def _value(self, name: Value) -> Any:
        if name == "jobs":
            return self.jobs.rows()
        return self.site.view() if name == "site" else self.library.view()

    def _jobs_changed(self) -> None:
        """Pushes the job list: at once if the minimum time since the last push has passed, else as soon as it has."""
        loop = asyncio.get_running_loop()
        self._push_at(loop, max(loop.time(), self._pushed_s + self._pause_s))

    @property
    def _pause_s(self) -> float:
        """Minimum time between two pushes, in s; it grows with the sessions, for pushes block all other work."""
        return max(PUSH_EVERY_S, len(self._sessions) / TOLD_PER_S)

    def _push_at(self, loop: asyncio.AbstractEventLoop, when_s: float) -> None:
        if self._push is not None:
            if self._push.when() <= when_s:
                return
            self._push.cancel()
        self._push = loop.call_at(when_s, self._push_jobs)

    def _push_jobs(self) -> None:
        loop = asyncio.get_running_loop()
        self._push, self._pushed_s = None, loop.time()
        self.tell("jobs")
        if self.jobs.running:
            self._push_at(loop, loop.time() + max(TICK_S, self._pause_s))

    async def rendered(self, kind: Kind, paths: tuple[Path, ...]) -> Payload:
        """Renders one trace, or two side by side, once for each version of the files.

        Args:
            kind: what to render.
            paths: absolute, of the trace files.

        Raises:
            FreezerError: a file is not there, cannot be read, or is too large.
        """
        return await self._made[kind].get((kind, *payload_key(paths)), lambda: self._renderers.render(kind, paths))

    async def sweep_page(self, paths: tuple[Path, ...]) -> Payload:
        """Renders the page of a sweep as its folder is now, in a process of its own as traces are.

        Args:
            paths: absolute, of the folder, and of an earlier sweep to compare it with.

        Raises:
            FreezerError: a folder is not that of a sweep, or a file in it is damaged.
        """
        return await self._renderers.render("sweep", paths)

    async def payload(self, paths: tuple[Path, ...]) -> Payload:
        """Returns the data that the page loads for one trace or two, and puts these first among the recent traces.

        Args:
            paths: absolute, of the trace files.

        Raises:
            FreezerError: a file is not there, cannot be read, or is too large.
        """
        payload = await self.rendered("payload", paths)
        self._add(*payload.shown)
        return payload

    def prepare(self, paths: tuple[Path, ...], process: RenderProcess | None = None) -> None:
        """Starts to render one trace, or two, before the page requests them; errors surface when the page does.

        Args:
            paths: absolute, of the trace files.
            process: renders them already.
        """
        if process is not None:
            self._renderers.adopt("payload", paths, process)
        self._keep(self.payload(paths))

    def warm(self) -> None:
        """Starts a renderer before the first trace is opened."""
        self._renderers.warm()

    async def remember(self, path: Path) -> RecentTrace:
        """Puts a trace first among the recent ones.

        Args:
            path: absolute, of the trace file.

        Returns:
            Its entry in the list.

        Raises:
            FreezerError: it is not there, cannot be read, or is too large.
        """
        (entry,) = (await self.rendered("entry", (path,))).shown
        self._add(entry)
        return entry

    def _add(self, *entries: RecentTrace) -> None:
        if self.library.remember(*entries):
            self.tell("library")

    def _keep(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._work.add(task)  # the loop itself keeps no strong reference
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._work.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, fe.FreezerError):  # raised again at the next request
            log.error("work in the background failed", exc_info=error)

    async def close(self) -> None:
        """Ends the recordings, waits until their traces are remembered, and ends the renderers."""
        await self.jobs.close()
        if self._work:
            await asyncio.wait(self._work, timeout=PATIENCE_S)
        await self._renderers.close()
        await asyncio.gather(*self._work, return_exceptions=True)
        if self._push is not None:
            self._push.cancel()

    def _job_ended(self, request: worker.RecordRequest, ended: worker.JobEnded) -> None:
        self.on_job_end()
        drop_if_empty(request.output)
        if ended.trace is None:
            return
        self._keep(self.remember(ended.trace))
