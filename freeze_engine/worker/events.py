"""Events of a recording in a child process, sent to the caller as lines of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from freeze_engine.worker.conversion import Conversion
from freeze_engine.worker.strict import read_fields, read_object

Outcome = Literal["finished", "failed", "crashed", "cancelled", "timed_out", "over_limit"]


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The progress of a recording.

    Attributes:
        message: the current activity, such as ``freezing: ConstantPropagation of forward``.
        done, total: of the whole recording; the share never decreases.
        left_s: seconds that the current phase still takes, ``None`` if not known (yet).
        phase: the current phase by name, such as ``Measuring latency``.
        later: the phases that are still to come.
        whole_s: seconds that the whole recording still takes, ``None`` while the time of a phase is not known.
    """

    message: str
    done: int
    total: int
    left_s: float | None
    phase: str = ""
    later: tuple[str, ...] = ()
    whole_s: float | None = None

    @property
    def detail(self) -> str:
        """The current work of the phase, such as ``round 3 of 60``; empty if the phase says it all."""
        start, _, rest = self.message.partition(": ")
        return rest or ("" if start == self.message and self.phase.lower() == start.lower() else start)


@dataclass(frozen=True, slots=True)
class JobStep:
    """A step that was recorded.

    Attributes:
        index, stage, name, method, round, changed: as in `freeze_engine.trace.Step`.
        nodes: number of nodes in its graph, nested ones included.
    """

    index: int
    stage: str
    name: str
    method: str
    round: int | None
    changed: bool
    nodes: int


@dataclass(frozen=True, slots=True)
class JobPreview:
    """The trace can be opened, though nothing has been measured yet.

    Attributes:
        path: the trace file: the request's output, which is replaced at the end.
    """

    path: Path


@dataclass(frozen=True, slots=True)
class JobEnded:
    """The recording is over; nothing follows.

    Attributes:
        outcome: ``finished``; ``failed`` with an exception; ``crashed`` where the process died; ``cancelled``;
            ``timed_out`` at the time limit; ``over_limit`` if it exceeded its memory limit.
        trace: the trace file, if there is one; unless the outcome is ``finished`` it ends where the recording did.
        message: one line: what happened.
        died_in: the pass, or other activity, that was running when it failed, crashed or ran out of time.
        log: the last lines: of the exception's traceback, without frames of this package; else of torch's log, and of
            standard output and error.
        error: the exception's whole text, where one ended the recording.
        traceback: all of its traceback.
        is_refusal: whether the request cannot be met, as ``error`` says in words of this package; else
            torch, or the model, failed at it.
        unmeasured: requested measurements that a finished recording lacks, and why, such as ``not measured: forward()
            is missing mask``; ``None`` if it has all requested figures.
        conversion: set where the model did not become a TorchScript program, so that no freeze began: ``scripted`` or
            ``traced``, whichever it cannot be; ``message`` says why, and at which line.
    """

    outcome: Outcome
    trace: Path | None
    message: str
    died_in: str | None = None
    log: tuple[str, ...] = ()
    error: str | None = None
    traceback: str | None = None
    is_refusal: bool = False
    unmeasured: str | None = None
    conversion: Conversion | None = None


def under_way(progress: JobProgress | None) -> str:
    """Names what a cancelled recording is still doing: ``the pass Inline of forward``, ``measuring latency``."""
    if progress is None:
        return "what it is doing"
    kind, _, name = progress.message.partition(": ")
    if kind == "freezing" and name:
        return f"the pass {name}"
    if not progress.phase:
        return f"what it is doing ({progress.message})"
    return progress.phase[:1].lower() + progress.phase[1:] + (f" ({progress.detail})" if progress.detail else "")


JobEvent = JobProgress | JobStep | JobPreview | JobEnded
_KINDS: dict[str, type[JobEvent]] = {
    "progress": JobProgress,
    "step": JobStep,
    "preview": JobPreview,
    "ended": JobEnded,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def event_line(event: JobEvent) -> str:
    """Returns an event as one line of JSON, without its end."""
    return json.dumps({"event": _NAMES[type(event)]} | asdict(event), default=str)


def read_event(line: str | bytes) -> JobEvent:
    """Returns the event that `event_line` wrote.

    Raises:
        ValueError: the line is no event, or one with a field of a wrong type or size.
    """
    fields = read_object(line)
    kind = fields.pop("event", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"no event: {line!r:.200}")
    return read_fields(_KINDS[kind], fields)
