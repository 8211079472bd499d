"""The recordings that run, and those that ended lately: one list for all sessions."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import freeze_engine as fe
from viewer.dashboard.offers import backend_offer
from viewer.dashboard.requests import form_values

MAX_ENDED: Final = 50
"""How many recordings that ended are kept in the list."""

PATIENCE_S: Final = 10.0
"""How long a cancelled recording has to end by itself."""

_POLL_S: Final = 0.02
_ENDING: Final = "ending as soon as torch lets it; cancel again to end it now, with the steps until then"
_DISMISSED_LATER: Final = "The recording {} still runs. Cancel it first."


class Process(Protocol):
    """What is used of `freeze_engine.RecordingProcess`."""

    def start(self) -> None:
        """Starts it."""

    def interrupt(self) -> None:
        """Asks it to end, with what it has."""

    def cancel(self) -> None:
        """Ends it, and keeps what it had noted; the second time, ends that, too."""


Launch = Callable[[fe.RecordRequest, Callable[[fe.JobEvent], None]], Process]


@dataclass(slots=True)
class Job:
    """One recording, as its events have told it so far.

    Attributes:
        id: in this server's list.
        request: what is recorded.
        process: where it runs.
        started_s: clock at its start, in s.
        ended_s: clock at its end, in s.
        progress: the latest.
        steps: recorded so far.
        preview: a trace that can be opened before the end.
        ended: how it ended.
        patience: ends it where it does not end by itself; ``None`` as long as it was not asked to.
        cancelled: whether it was ended.
    """

    id: str
    request: fe.RecordRequest
    process: Process | None
    started_s: float
    ended_s: float | None = None
    progress: fe.JobProgress | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)
    preview: Path | None = None
    ended: fe.JobEnded | None = None
    patience: threading.Timer | None = None
    cancelled: bool = False

    def row(self, now_s: float) -> dict[str, Any]:
        """Returns the job as the page reads it.

        Args:
            now_s: clock, in s.
        """
        progress, ended = self.progress, self.ended
        failed = ended is not None and ended.outcome not in ("finished", "cancelled")
        return {
            "id": self.id,
            "model": self.request.model,
            "name": self.request.name or Path(self.request.model).stem,
            "backend": self.request.backend,
            "state": ended.outcome if ended else "running",
            "message": self._message(),
            "done": progress.done if progress else 0,
            "total": progress.total if progress else 0,
            "stage": _stage(progress, self.request.backend) if progress and not ended else None,
            "left_s": progress.left_s if progress and not ended else None,
            "elapsed_s": round((self.ended_s or now_s) - self.started_s, 1),
            "steps": list(self.steps),
            "trace": str(ended.trace) if ended and ended.trace else None,
            "preview": str(self.preview) if self.preview else None,
            "error": (ended.error or ended.message) if ended and failed else None,
            "died_in": ended.died_in if ended else None,
            "log": list(ended.log) if ended else [],
            "request": form_values(self.request),
        }

    def _message(self) -> str:
        if self.ended is not None:
            return self.ended.message
        if self.patience is not None and not self.cancelled:
            return _ENDING
        return self.progress.message if self.progress else "starting"

    def take(self, event: fe.JobEvent) -> None:
        """Takes in what the recording tells."""
        if isinstance(event, fe.JobProgress):
            self.progress = event
        elif isinstance(event, fe.JobStep):
            self.steps.append(asdict(event))
        elif isinstance(event, fe.JobPreview):
            self.preview = event.path
        else:
            self.ended, self.ended_s = event, time.monotonic()


class Jobs:
    """Starts, follows and ends recordings. Belongs to one thread, the server's.

    Args:
        schedule: brings a call from any thread onto the server's.
        launch: makes the process of a recording.
        on_change: called after every change, on the server's thread.
        on_end: called with the request and the end of every recording, on the server's thread.
    """

    def __init__(
        self,
        schedule: Callable[[Callable[[], None]], None],
        *,
        launch: Launch | None = None,
        on_change: Callable[[], None] = lambda: None,
        on_end: Callable[[fe.RecordRequest, fe.JobEnded], None] = lambda request, ended: None,
    ) -> None:
        self._schedule = schedule
        self._launch: Launch = launch or fe.RecordingProcess
        self._on_change = on_change
        self._on_end = on_end
        self._jobs: dict[str, Job] = {}

    def record(self, request: fe.RecordRequest, id_: str | None = None) -> str:
        """Starts a recording.

        Args:
            request: what to record.
            id_: of the job, by default a new one; no two servers give the same, as links to jobs live long.

        Returns:
            The job's id.
        """
        job = Job(id_ or secrets.token_hex(4), request, None, time.monotonic())
        # Events come on a thread of the process.
        job.process = self._launch(request, lambda event: self._schedule(lambda: self._take(job, event)))
        job.process.start()
        self._jobs[job.id] = job
        self._on_change()
        return job.id

    def cancel(self, id_: str) -> None:
        """Asks a recording to end with what it has by then, and the second time ends it; both keep its steps.

        The third time it is ended without them. One that has ended stays as it is.

        Raises:
            FreezerError: there is no such recording.
        """
        job = self._job(id_)
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
        """Takes a recording that has ended out of the list; its trace stays.

        Raises:
            FreezerError: there is no such recording, or it still runs.
        """
        if self._job(id_).ended is None:
            raise fe.FreezerError(_DISMISSED_LATER.format(id_))
        del self._jobs[id_]
        self._on_change()

    def rows(self) -> list[dict[str, Any]]:
        """Returns the jobs as the page reads them, newest first."""
        now_s = time.monotonic()
        return [job.row(now_s) for job in reversed(self._jobs.values())]

    @property
    def running(self) -> bool:
        """Whether any recording still runs."""
        return any(job.ended is None for job in self._jobs.values())

    async def close(self, timeout_s: float = 5.0) -> None:
        """Ends all recordings, and waits for their ends.

        Args:
            timeout_s: how long to wait for all of them; half of it is for keeping their steps.
        """
        for _ in range(2):
            for job in self._jobs.values():
                self._end(job)
            deadline_s = time.monotonic() + timeout_s / 2
            while self.running and time.monotonic() < deadline_s:
                await asyncio.sleep(_POLL_S)

    def _job(self, id_: str) -> Job:
        if id_ not in self._jobs:
            raise fe.FreezerError(f"There is no recording {id_!r} here; it may have been dismissed.")
        return self._jobs[id_]

    def _take(self, job: Job, event: fe.JobEvent) -> None:
        job.take(event)
        if isinstance(event, fe.JobEnded):
            job.process = None
            if job.patience is not None:
                job.patience.cancel()
            self._on_end(job.request, event)
            self._forget_oldest()
        self._on_change()

    def _forget_oldest(self) -> None:
        ended = [job.id for job in self._jobs.values() if job.ended is not None]
        for id_ in ended[: max(0, len(ended) - MAX_ENDED)]:
            del self._jobs[id_]


def _stage(progress: fe.JobProgress, backend: str) -> str | None:
    """Returns the stage that a compile is in, where its progress ends with one (``compiling: layout``)."""
    last = progress.message.rpartition(": ")[2]
    return last if any(last == stage["id"] for stage in backend_offer(backend)["stages"]) else None
