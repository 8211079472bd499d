"""One recording: its state, built from the events of its process, and its row on the page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from freeze_engine import worker
from viewer.dashboard.form_options import backend_offer
from viewer.dashboard.record_request import form_values

_ENDING: Final = "Cancelling; waiting for torch to finish {}. Cancel again to end it now and keep the steps so far."


class Process(Protocol):
    """The part of `freeze_engine.worker.RecordingProcess` that the list of recordings uses."""

    def start(self) -> None:
        """Starts it."""

    def interrupt(self) -> None:
        """Asks it to end and to keep the steps so far."""

    def cancel(self) -> None:
        """Ends it and keeps the recorded steps; a second call ends it without them."""


Launch = Callable[[worker.RecordRequest, Callable[[worker.JobEvent], None]], Process]


@dataclass(frozen=True, slots=True)
class Place:
    """Position of a recording in the queue.

    Attributes:
        number: 1 for the recording that starts next.
        least_s: minimum time until it starts, in s; ``None`` if unknown.
    """

    number: int
    least_s: float | None


@dataclass(slots=True)
class Job:
    """One recording, with the state from its events so far.

    Attributes:
        id: in this server's list.
        request: what is recorded.
        asked_s: clock at the request, in s.
        process: the process that records.
        started_s: clock at its start, in s; ``None`` while it waits, and if it ended before it started.
        ended_s: clock at its end, in s.
        progress: the latest progress event.
        steps: recorded so far.
        preview: a trace that can be opened before the end.
        ended: how it ended.
        patience: timer that ends the recording if an interrupt does not; ``None`` before the first cancel request.
        cancelled: whether the server ended the process.
    """

    id: str
    request: worker.RecordRequest
    asked_s: float
    process: Process | None = None
    started_s: float | None = None
    ended_s: float | None = None
    progress: worker.JobProgress | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)
    preview: Path | None = None
    ended: worker.JobEnded | None = None
    patience: threading.Timer | None = None
    cancelled: bool = False

    @property
    def waits(self) -> bool:
        """Whether it still waits for its start."""
        return self.started_s is None and self.ended is None

    @property
    def runs(self) -> bool:
        """Whether it has started and not ended."""
        return self.started_s is not None and self.ended is None

    def row(self, now_s: float, place: Place | None = None) -> dict[str, Any]:
        """Returns the job as the page reads it.

        Args:
            now_s: clock, in s.
            place: position in the queue, of a job that waits.
        """
        progress, ended = self.progress, self.ended
        failed = ended is not None and ended.outcome not in ("finished", "cancelled")
        until_s = now_s if self.ended_s is None else self.ended_s
        started_s = until_s if self.started_s is None else self.started_s
        return {
            "id": self.id,
            "model": self.request.model,
            "name": self.request.name or Path(self.request.model).stem,
            "backend": self.request.backend,
            "state": ended.outcome if ended else "waiting" if self.waits else "running",
            "message": self._message(),
            "place": place.number if place else None,
            "starts_s": place.least_s if place else None,
            "waited_s": round(started_s - self.asked_s, 1),
            "done": progress.done if progress else 0,
            "total": progress.total if progress else 0,
            "phase": progress.phase if progress and not ended else "",
            "detail": progress.detail if progress and not ended else "",
            "later": list(progress.later) if progress and not ended else [],
            "cancelling": self.patience is not None and not ended,
            "stage": _stage(progress, self.request.backend) if progress and not ended else None,
            "left_s": progress.left_s if progress and not ended else None,
            "whole_s": progress.whole_s if progress and not ended else None,
            "elapsed_s": round(until_s - started_s, 1),
            "steps": list(self.steps),
            "trace": str(ended.trace) if ended and ended.trace else None,
            "preview": str(self.preview) if self.preview else None,
            "error": (ended.error or ended.message) if ended and failed else None,
            "unmeasured": ended.unmeasured if ended else None,
            "conversion": ended.conversion if ended else None,
            "died_in": ended.died_in if ended else None,
            "log": list(ended.log) if ended else [],
            "request": form_values(self.request),
        }

    def _message(self) -> str:
        if self.ended is not None:
            return self.ended.message
        if self.waits:
            return "waiting"
        if self.patience is not None and not self.cancelled:
            return _ENDING.format(worker.under_way(self.progress))
        return self.progress.message if self.progress else "Starting"

    def take(self, event: worker.JobEvent, now_s: float) -> None:
        """Updates the job from an event.

        Args:
            event: from its process.
            now_s: clock, in s.
        """
        if isinstance(event, worker.JobProgress):
            self.progress = event
        elif isinstance(event, worker.JobStep):
            self.steps.append(asdict(event))
        elif isinstance(event, worker.JobPreview):
            self.preview = event.path
        else:
            self.ended, self.ended_s = event, now_s


def _stage(progress: worker.JobProgress, backend: str) -> str | None:
    """Returns the current stage of a compile, if the progress message ends with one (``compiling: layout``)."""
    last = progress.message.rpartition(": ")[2]
    return last if any(last == stage["id"] for stage in backend_offer(backend)["stages"]) else None
