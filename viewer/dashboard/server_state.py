"""What all sessions share, and how they are told of its changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import freeze_engine as fe
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
"""The least time between two updates of the recordings."""

TOLD_PER_S: Final = 25
"""How many sessions hear of the recordings in a second at most: each takes milliseconds of the server's only thread."""

TICK_S: Final = 1.0
"""How often the elapsed time of a running recording is told when nothing else happens."""

PATIENCE_S: Final = 10.0
"""How long the end of the server waits until what was recorded last is in the list of recent traces."""


class Session(Protocol):
    """A browser tab, as this module needs it."""

    def show(self, name: Value, value: Any) -> None:
        """Takes a new value, and brings it to the browser."""


class State:
    """Site, recent traces and recordings. Belongs to the server's thread.

    Args:
        site: the server's facts.
        library: the recent traces.
        schedule: brings a call from any thread onto the server's.
        launch: makes the process of a recording.
        renderers: make what pages load of trace files, by default in processes of their own.

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
        """Returns what a new session starts with."""
        return {name: self._value(name) for name in ("site", "library", "jobs")}

    def join(self, session: Session) -> None:
        """Adds a session to those that are told."""
        self._sessions.add(session)

    def leave(self, session: Session) -> None:
        """Takes out a session that ended."""
        self._sessions.discard(session)

    def tell(self, name: Value) -> None:
        """Brings a value to all sessions."""
        value = self._value(name)
        for session in tuple(self._sessions):
            session.show(name, value)

    def _value(self, name: Value) -> Any:
        if name == "jobs":
            return self.jobs.rows()
        return self.site.view() if name == "site" else self.library.view()

    def _jobs_changed(self) -> None:
        """Tells the recordings at once if the last time is long enough ago, else as soon as it is."""
        loop = asyncio.get_running_loop()
        self._push_at(loop, max(loop.time(), self._pushed_s + self._pause_s))

    @property
    def _pause_s(self) -> float:
        """The least time between two updates; many sessions are told less often, or they would wait for all else."""
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
        """Returns what is made of one trace, or of two; made once for each version of the files.

        Args:
            kind: what to make.
            paths: absolute, of the trace files.

        Raises:
            FreezerError: a file is not there, cannot be read, or is too large.
        """
        return await self._made[kind].get((kind, *payload_key(paths)), lambda: self._renderers.render(kind, paths))

    async def payload(self, paths: tuple[Path, ...]) -> Payload:
        """Returns what the page loads of one trace, or of two, and puts them first among the recent ones.

        Args:
            paths: absolute, of the trace files.

        Raises:
            FreezerError: a file is not there, cannot be read, or is too large.
        """
        payload = await self.rendered("payload", paths)
        self._add(*payload.shown)
        return payload

    def prepare(self, paths: tuple[Path, ...], process: RenderProcess | None = None) -> None:
        """Begins to make what the page will load of one trace, or of two; what is wrong with them the page will tell.

        Args:
            paths: absolute, of the trace files.
            process: makes it already.
        """
        if process is not None:
            self._renderers.adopt("payload", paths, process)
        self._keep(self.payload(paths))

    def warm(self) -> None:
        """Gets ready for the first trace that is opened."""
        self._renderers.warm()

    async def remember(self, path: Path) -> RecentTrace:
        """Puts a trace first among the recent ones.

        Args:
            path: absolute, of the trace file.

        Returns:
            What the list tells of it.

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
        if error is not None and not isinstance(error, fe.FreezerError):  # those are told to whoever asks for the same
            log.error("work in the background failed", exc_info=error)

    async def close(self) -> None:
        """Ends the recordings, waits until they are told and remembered, and ends the renderers."""
        await self.jobs.close()
        if self._work:
            await asyncio.wait(self._work, timeout=PATIENCE_S)
        await self._renderers.close()
        await asyncio.gather(*self._work, return_exceptions=True)
        if self._push is not None:
            self._push.cancel()

    def _job_ended(self, request: fe.RecordRequest, ended: fe.JobEnded) -> None:
        self.on_job_end()
        drop_if_empty(request.output)
        if ended.trace is None:
            return
        self._keep(self.remember(ended.trace))
