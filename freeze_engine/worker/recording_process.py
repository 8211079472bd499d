"""Starts a recording in a child process, and follows it from the caller's side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from freeze_engine.errors import FreezerError, SandboxError
from freeze_engine.process.exit_cause import cause_of
from freeze_engine.process.temporary_folders import temporary_folder
from freeze_engine.worker.child_process import OnOutput, WorkerProcess
from freeze_engine.worker.events import JobEnded, JobEvent, JobPreview, JobProgress, JobStep, read_event
from freeze_engine.worker.exit_status import (
    BUILD,
    CANCELLED,
    CRASHED,
    OVER_LIMIT,
    TIMED_OUT,
    Death,
    DeathOutcome,
    cancelled_text,
    write_death,
)
from freeze_engine.worker.freeze_progress import FreezeProgress
from freeze_engine.worker.intake import Intake
from freeze_engine.worker.interpreter import Interpreter
from freeze_engine.worker.journal import TORCH_LOG, holds_steps, read_now
from freeze_engine.worker.limits import MEMORY_LIMIT, Excess, Limits, refused_text, was_refused
from freeze_engine.worker.output_file import remove_unfinished
from freeze_engine.worker.phases import KEEPING, WHOLE
from freeze_engine.worker.request import REQUEST, RecordRequest, request_text
from freeze_engine.worker.sandbox import Confinement, confinement_of

_POST_MORTEM_S = 300.0
#: A recording of 10,000 nodes sends a few for each step.
_MOST_EVENTS = 500_000
_RECORD, _POST_MORTEM = "record", "post_mortem"


@dataclass(frozen=True, slots=True)
class _ChildReport:
    """The end of one child process, as its caller saw it.

    Attributes:
        ended: its `JobEnded` event, if it sent one.
        exit_code: ``None`` where the time ran out.
        printed: the last lines that it wrote to standard output and error.
        excess: the limit that it exceeded, if it was killed for that.
    """

    ended: JobEnded | None
    exit_code: int | None
    printed: tuple[str, ...]
    excess: Excess | None


def _why_ended(report: _ChildReport) -> str:
    """Returns why the process that reads what a recording left ended without a trace."""
    if report.excess is not None:
        return report.excess.message
    took = f"the process was not done after {_POST_MORTEM_S:g} s"
    return took if report.exit_code is None else cause_of(report.exit_code)[1]


class RecordingProcess:
    """Runs a recording in a child process, which may crash, hang or be cancelled without harm to this one.

    Args:
        request: what to record.
        on_event: called with every event, one at a time, on a separate thread; `JobEnded` is always the last. The
            recording may wait while the callback runs. An exception from the callback ends the recording.
        on_output: called on the same thread with ``"stdout"`` or ``"stderr"`` and the bytes that the recording writes
            there. If given, the child process inherits standard input.
        interpreter: the Python to record in, by default this one.
    """

    def __init__(
        self,
        request: RecordRequest,
        on_event: Callable[[JobEvent], None],
        on_output: OnOutput | None = None,
        interpreter: Interpreter | None = None,
    ) -> None:
        self._request = request
        self._on_event = on_event
        self._on_output = on_output
        self._interpreter = interpreter
        self._thread = threading.Thread(target=self._run, name=f"recording of {request.model}", daemon=True)
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._process: WorkerProcess | None = None
        self._task = _RECORD
        self._cancels = 0
        self._is_interrupted = False
        self._ended: JobEnded | None = None
        self._steps = 0
        self._preview: Path | None = None
        self._confinement: Confinement | None = None
        self._intake: Intake | None = None
        self._events = 0
        self._share = 0

    def start(self) -> None:
        """Starts the process and returns.

        Raises:
            RuntimeError: it was started before.
        """
        self._thread.start()

    def cancel(self) -> None:
        """Cancels the recording, whatever it is doing; returns at once, and `JobEnded` follows with ``cancelled``.

        The steps recorded so far are still assembled into a trace, as after a crash; if there are any, that takes
        about a second. A second call stops that, too. A recording that has ended is left as it is.
        """
        with self._lock:
            self._cancels += 1
            if self._process is not None and self._is_unwanted:
                self._process.kill()

    def interrupt(self) -> None:
        """Interrupts the recording as Ctrl-C would: it stops when its Python code runs again, and keeps its trace.

        Returns at once; `JobEnded` follows with ``cancelled``. Torch code that never returns needs `cancel`.
        After a crash the recorded steps are still assembled into a trace.
        """
        with self._lock:
            self._is_interrupted = True
            if self._process is not None and self._task == _RECORD:
                self._process.interrupt()

    def wait(self, timeout_s: float | None = None) -> JobEnded | None:
        """Waits for the end.

        Args:
            timeout_s: how long, ``None`` for as long as it takes.

        Returns:
            How it ended, ``None`` if it has not within that time.

        Raises:
            FreezerError: it was not started.
        """
        if self._thread.ident is None:
            raise FreezerError("this recording was not started: call start() first")
        # Not by joining: up to Python 3.12 a join that Ctrl-C breaks off takes the thread for ended (Lib/threading.py).
        if not self._done.wait(timeout_s):
            return None
        self._thread.join()
        return self._ended

    # -- on the thread

    def _run(self) -> None:
        try:
            self._record()
        finally:
            self._done.set()

    def _record(self) -> None:
        self._ended = JobEnded("failed", None, "given up: the receiver of the events raised an exception")
        try:
            with temporary_folder("freezer-recording-") as folder:
                self._ended = self._recorded(folder)
        except FreezerError as error:
            self._ended = JobEnded("failed", self._preview, str(error), error=str(error), is_refusal=True)
        except OSError as error:
            self._ended = JobEnded("failed", self._preview, f"the recording cannot be made here: {error}")
        self._on_event(self._ended)

    def _recorded(self, folder: Path) -> JobEnded:
        limit_s = self._request.limit_s
        (folder / REQUEST).write_text(request_text(self._confined(folder)))
        until_s = None if limit_s is None else time.monotonic() + limit_s
        report = self._followed(_RECORD, folder, until_s)
        return report.ended or self._afterwards(self._death(report), folder)

    def _confined(self, folder: Path) -> RecordRequest:
        """Returns the request for the child process: in a sandbox it writes to its own folder."""
        request = self._request
        self._confinement = confinement_of(
            request.model,
            request.inputs,
            float_model=request.float_model,
            imports=request.imports,
            trusted=request.trusted,
            sandbox=request.sandbox,
        )
        if self._confinement is None:
            return request
        self._intake = Intake(self._confinement.sandbox, folder, request.output, request.checks)
        return replace(request, output=self._intake.left)

    def _afterwards(self, death: Death, folder: Path) -> JobEnded:
        """Assembles a dead process's journal into a trace, in another process; returns how the recording ended."""
        now = read_now(folder)
        cancelled = JobEnded(CANCELLED, self._preview, cancelled_text(now.place or (BUILD, now.doing, None)))
        # The journal of a sandboxed process is read in a sandbox only.
        if death.outcome == CANCELLED and not (death.has_preview or self._intake or holds_steps(folder)):
            return cancelled
        self._tell(JobProgress("keeping what was recorded", self._share, WHOLE, None, KEEPING))
        printed: tuple[str, ...] = ()
        try:
            write_death(death, folder)
            report = self._followed(_POST_MORTEM, folder, time.monotonic() + _POST_MORTEM_S)
        except OSError as error:  # the disk is full, or the model removed the folder
            lost = f"is lost: {error.strerror or error}"
        else:
            if report.ended is not None:
                return report.ended
            lost, printed = f"cannot be read (in reading it, {_why_ended(report)})", report.printed
        if death.outcome == CANCELLED or self._is_unwanted:
            return cancelled
        message = f"{death.message}; what it left {lost}"
        return JobEnded(death.outcome, self._preview, message, None, (*death.printed, *printed))

    @property
    def _is_unwanted(self) -> bool:
        """Returns whether the current task must end now; a second cancel also ends the task after the recording."""
        return self._cancels > (0 if self._task == _RECORD else 1)

    def _death(self, report: _ChildReport) -> Death:
        outcome: DeathOutcome
        memory_bytes = self._request.memory_bytes
        if self._cancels or self._is_interrupted:
            outcome, kind, message = CANCELLED, "cancelled", "it was cancelled, and its process ended"
        elif report.excess is not None:
            outcome, kind, message = OVER_LIMIT, report.excess.limit, report.excess.message
        elif report.exit_code is None:
            outcome, kind = TIMED_OUT, "time limit"
            message = f"not done after {self._request.limit_s:g} s, the limit"
        elif memory_bytes is not None and was_refused("\n".join(report.printed)):
            outcome, kind = OVER_LIMIT, MEMORY_LIMIT
            message = f"{refused_text(memory_bytes)}, and {cause_of(report.exit_code)[1]}"
        else:
            outcome = CRASHED
            kind, message = cause_of(report.exit_code)
        has_preview = self._preview is not None
        output = self._request.output if self._intake is None else self._intake.left
        return Death(outcome, kind, message, output, has_preview, self._steps, report.printed)

    def _followed(self, task: str, folder: Path, until_s: float | None) -> _ChildReport:
        """Runs a task in a child process, forwards its events, and ends it when it is done or its time is up."""
        process = self._started(task, folder)
        ended = None
        try:
            progress = FreezeProgress(folder / TORCH_LOG)
            for line in process.lines(until_s):
                event = self._event(line) if line is not None else progress.event()
                if isinstance(event, JobEnded):
                    ended = event
                elif event is not None:
                    progress.note(event)
                    self._tell(event)
            exit_code = process.exit_code
            if process.sandbox_problem is not None and not self._events:
                raise SandboxError(process.sandbox_problem)
            if exit_code is None:
                process.await_stack()
            return _ChildReport(ended, exit_code, process.printed, process.excess)
        finally:
            with self._lock:
                self._process = None
            process.close()
            remove_unfinished(self._request.output, folder)

    def _started(self, task: str, folder: Path) -> WorkerProcess:
        with self._lock:
            self._task = task
            on_output = self._on_output if task == _RECORD else None
            # The remains must be read, whatever the limit was.
            limits = Limits(self._request.memory_bytes if task == _RECORD else None)
            self._process = WorkerProcess(
                task,
                folder,
                trusted=self._request.trusted,
                on_output=on_output,
                limits=limits,
                confinement=self._confinement,
                interpreter=self._interpreter,
            )
            if self._is_unwanted or (task == _RECORD and self._is_interrupted):
                self._process.kill()
            return self._process

    def _event(self, line: bytes) -> JobEvent | None:
        """Parses a line as an event; any other line was written by code that must not write there.

        Raises:
            FreezerError: a sandboxed process wrote such a line, or sent too many events.
        """
        try:
            event = read_event(line)
        except ValueError as error:
            if self._intake is None:
                return None
            raise FreezerError(f"the recording was ended: what it sent is not an event: {error}") from error
        if self._intake is None:
            return event
        self._events += 1
        if self._events > _MOST_EVENTS:
            raise FreezerError(f"the recording was ended: it sent more than {_MOST_EVENTS} events")
        return _taken(event, self._intake)

    def _tell(self, event: JobEvent) -> None:
        if isinstance(event, JobStep):
            self._steps = max(self._steps, event.index + 1)
        elif isinstance(event, JobPreview):
            self._preview = event.path
        elif isinstance(event, JobProgress):
            self._share = max(self._share, event.done)
            event = replace(event, done=self._share)
        self._on_event(event)


def _taken(event: JobEvent, intake: Intake) -> JobEvent:
    """Copies out the trace that an event of a sandboxed process announces; the path in the event is ignored.

    Raises:
        TraceFileError: the file is no trace.
    """
    if isinstance(event, JobPreview):
        intake.take()
        return JobPreview(intake.output)
    if isinstance(event, JobEnded) and event.trace is not None:
        intake.take()
        intake.take_others()
        return replace(event, trace=intake.output)
    return event
