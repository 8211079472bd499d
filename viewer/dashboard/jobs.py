"""The recordings that wait, run, or ended recently: one list for all sessions.

Recordings that measure at the same time disturb each other's figures, so the number that may run at once is limited,
by default to one. The others wait and start in the order of their requests.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import freeze_engine as fe
from freeze_engine import worker
from viewer.dashboard.job import Job, Launch, Place

MAX_ENDED: Final = 50
"""Most ended recordings in the list."""

MAX_WAITING: Final = 50
"""Most recordings in the queue."""

PATIENCE_S: Final = 10.0
"""How long a cancelled recording may take to end by itself, in s."""

_POLL_S: Final = 0.02
_DISMISSED_LATER: Final = "The recording {} still {}. Cancel it first."
_FULL: Final = f"{MAX_WAITING} recordings wait already. Cancel one of them, or record again when some have ended."
_CLOSED: Final = "The server is ending, so it starts no recording. Start freezer-ui again."
_NEVER_STARTED: Final = worker.JobEnded("cancelled", None, "cancelled before it started")


class Jobs:
    """Starts, follows and ends recordings. Only the server's thread may use it.

    Args:
        schedule: runs a call from any thread on the server's thread.
        launch: creates the process of a recording.
        at_once: how many recordings may run at the same time.
        on_change: called after every change, on the server's thread.
        on_end: called with the request and the end of every recording, on the server's thread.
        clock: in s.
    """

    def __init__(
        self,
        schedule: Callable[[Callable[[], None]], None],
        *,
        launch: Launch | None = None,
        at_once: int = 1,
        on_change: Callable[[], None] = lambda: None,
        on_end: Callable[[worker.RecordRequest, worker.JobEnded], None] = lambda request, ended: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._schedule = schedule
        self._launch: Launch = launch or worker.RecordingProcess
        self._at_once = at_once
        self._on_change = on_change
        self._on_end = on_end
        self._clock = clock
        self._closed = False
        self._jobs: dict[str, Job] = {}

    def record(self, request: worker.RecordRequest, id_: str | None = None) -> str:
        """Starts a recording, or appends it to the queue if no slot is free.

        Args:
            request: what to record.
            id_: of the job, by default a new random one; links to jobs live long, so ids are unique across servers.

        Returns:
            The job's id.

        Raises:
            FreezerError: too many recordings wait already, or the server is ending.
        """
        if self._closed:
            raise fe.FreezerError(_CLOSED)
        job = Job(id_ or secrets.token_hex(4), request, self._clock())
        if self._has_room:
            self._start(job)
        elif len(self._line) >= MAX_WAITING:
            raise fe.FreezerError(_FULL)
        self._jobs[job.id] = job
        self._on_change()
        return job.id

    @property
    def _line(self) -> list[Job]:
        """The jobs that wait, in the order of their starts: that of the list."""
        return [job for job in self._jobs.values() if job.waits]

    @property
    def _has_room(self) -> bool:
        return sum(job.runs for job in self._jobs.values()) < self._at_once

    def _start(self, job: Job) -> None:
        job.started_s = self._clock()
        # The process object emits events on a thread of its own.
        job.process = self._launch(job.request, lambda event: self._schedule(lambda: self._take(job, event)))
        job.process.start()

    def _start_next(self) -> None:
        while self._has_room and (line := self._line):
            try:
                self._start(line[0])
            except (OSError, RuntimeError) as error:  # no more processes, or no more threads
                self._take(line[0], worker.JobEnded("failed", None, f"the recording cannot start: {error}"))

    def cancel(self, id_: str) -> None:
        """Asks a recording to end, and at the second call ends its process; both keep the steps so far.

        The third call ends it without them. A recording that waits ends at once; one that has ended stays as it is.

        Raises:
            FreezerError: there is no such recording.
        """
        job = self._job(id_)
        if job.waits:
            self._take(job, _NEVER_STARTED)
            return
        if job.process is None:
            return
        if job.patience is not None:
            self._end(job)
            return
        # torch may hang where no interrupt reaches it.
        job.patience = threading.Timer(PATIENCE_S, lambda: self._schedule(lambda: self._lose_patience(job)))
        job.patience.daemon = True
        job.patience.start()
        job.process.interrupt()
        self._on_change()

    def _lose_patience(self, job: Job) -> None:
        if not job.cancelled:
            self._end(job)

    def _end(self, job: Job) -> None:
        job.cancelled = True
        if job.patience is not None:
            job.patience.cancel()
        if job.process is not None:
            job.process.cancel()
            self._on_change()

    def dismiss(self, id_: str) -> None:
        """Removes a recording that has ended from the list; its trace stays.

        Raises:
            FreezerError: there is no such recording, or it still waits or runs.
        """
        job = self._job(id_)
        if job.ended is None:
            raise fe.FreezerError(_DISMISSED_LATER.format(id_, "waits" if job.waits else "runs"))
        del self._jobs[id_]
        self._on_change()

    def rows(self) -> list[dict[str, Any]]:
        """Returns the jobs as the page reads them, newest first."""
        now_s = self._clock()
        places = self._places()
        return [job.row(now_s, places.get(job.id)) for job in reversed(self._jobs.values())]

    def _places(self) -> dict[str, Place]:
        """Returns the place of each job that waits.

        A running recording reports the time left in its present phase. The least of these times is the minimum wait
        for the queue. If any running recording reports none, the wait is unknown: that one may be the first to end.
        """
        left_s = [job.progress.left_s if job.progress else None for job in self._jobs.values() if job.runs]
        known_s = [each_s for each_s in left_s if each_s is not None]
        least_s = min(known_s, default=None) if len(known_s) == len(left_s) else None
        return {job.id: Place(number, least_s) for number, job in enumerate(self._line, 1)}

    @property
    def running(self) -> bool:
        """Whether at least one recording waits or runs."""
        return any(job.ended is None for job in self._jobs.values())

    def unfinished(self) -> tuple[worker.RecordRequest, ...]:
        """Returns the requests of the recordings that have not ended."""
        return tuple(job.request for job in self._jobs.values() if job.ended is None)

    async def close(self, timeout_s: float = 9.0) -> None:
        """Ends all recordings, the waiting ones first, and waits for their ends.

        Args:
            timeout_s: how long to wait for all of them; most of it is for saving their steps. Containers give a
                process ten seconds.
        """
        self._closed = True
        for job in self._line:
            self._take(job, _NEVER_STARTED)
        for share in (0.9, 0.1):
            for job in self._jobs.values():
                self._end(job)
            deadline_s = time.monotonic() + share * timeout_s
            while self.running and time.monotonic() < deadline_s:
                await asyncio.sleep(_POLL_S)

    def _job(self, id_: str) -> Job:
        if id_ not in self._jobs:
            raise fe.FreezerError(f"There is no recording {id_!r} here; it may have been dismissed.")
        return self._jobs[id_]

    def _take(self, job: Job, event: worker.JobEvent) -> None:
        job.take(event, self._clock())
        if isinstance(event, worker.JobEnded):
            job.process = None
            if job.patience is not None:
                job.patience.cancel()
            self._on_end(job.request, event)
            self._forget_oldest()
            self._start_next()
        self._on_change()

    def _forget_oldest(self) -> None:
        ended = [job.id for job in self._jobs.values() if job.ended is not None]
        for id_ in ended[: max(0, len(ended) - MAX_ENDED)]:
            del self._jobs[id_]
