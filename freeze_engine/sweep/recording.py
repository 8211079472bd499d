"""Makes one recording of a sweep, in a child process, and returns its row."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from freeze_engine.process.exit_cause import cause_of
from freeze_engine.process.posix import END_SIGNALS, IS_POSIX
from freeze_engine.requests.option_metadata import option_fields
from freeze_engine.requests.options import Measure, Options
from freeze_engine.serde import load
from freeze_engine.sweep.environment_facts import EnvironmentFacts
from freeze_engine.sweep.machine_lock import WAITING_FOR_ANY, WAITING_FOR_MEASURING, machine_share
from freeze_engine.sweep.plan import PlannedRow
from freeze_engine.sweep.row import Status, SweepRow
from freeze_engine.sweep.trace_row import trace_columns
from freeze_engine.worker.eta import left_text
from freeze_engine.worker.events import JobEnded, JobEvent, JobProgress
from freeze_engine.worker.interpreter import Interpreter
from freeze_engine.worker.recording_process import RecordingProcess
from freeze_engine.worker.request import RecordRequest

_LOOK_S: Final = 0.1
#: Signals that somebody else sends to end a process; torch's own crashes raise others.
_FROM_OUTSIDE: Final = (*END_SIGNALS, *([signal.SIGKILL] if IS_POSIX else []))
_LINE: Final = 300


@dataclass(frozen=True, slots=True)
class RowTask:
    """One recording that is to be made.

    Attributes:
        key: of its row.
        planned: the recording.
        facts: of its environment.
        measure_together: whether to measure while others may measure on the machine.
    """

    key: str
    planned: PlannedRow
    facts: EnvironmentFacts
    measure_together: bool = False


def record_row(
    task: RowTask,
    output: Path,
    *,
    on_progress: Callable[[str], None] = lambda message: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> SweepRow | None:
    """Makes a recording; one whose process is killed from outside is tried once more.

    Args:
        task: the recording.
        output: the trace file.
        on_progress: called with the current activity.
        is_cancelled: ends the recording.

    Returns:
        The row; ``None`` if the recording was cancelled.
    """
    is_alone = task.planned.measures_latency and not task.measure_together
    waits_for = WAITING_FOR_ANY if is_alone else WAITING_FOR_MEASURING
    with machine_share(alone=is_alone, is_cancelled=is_cancelled, on_wait=lambda: on_progress(waits_for)) as is_held:
        if not is_held:
            return None
        began_s = time.monotonic()
        ended = _ended(task.planned, output, on_progress, is_cancelled)
        if ended is not None and status_of(ended) == "killed":
            ended = _ended(task.planned, output, on_progress, is_cancelled)
        return None if ended is None else _row(task, ended, time.monotonic() - began_s)


def status_of(ended: JobEnded) -> Status:
    """Returns the status of a recording that was not cancelled."""
    match ended.outcome:
        case "finished":
            return "recorded"
        case "timed_out" | "over_limit" | "failed":
            return ended.outcome
    killed = any(ended.message.startswith(cause_of(-number)[1]) for number in _FROM_OUTSIDE)
    return "killed" if killed else "crashed"


def _ended(
    planned: PlannedRow, output: Path, on_progress: Callable[[str], None], is_cancelled: Callable[[], bool]
) -> JobEnded | None:
    def take(event: JobEvent) -> None:
        if isinstance(event, JobProgress):
            on_progress(event.message if event.whole_s is None else f"{event.message}, {left_text(event.whole_s)}")

    request = replace(planned.request, output=output, call=command_of(planned))
    process = RecordingProcess(request, take, interpreter=Interpreter(planned.environment.python, planned.paths))
    process.start()
    is_ending = False
    while (ended := process.wait(_LOOK_S)) is None:
        if is_cancelled() and not is_ending:
            is_ending = True
            process.cancel()
            process.cancel()  # the steps until then are of no use: the recording is made anew
    return None if is_ending or ended.outcome == "cancelled" else ended


def _row(task: RowTask, ended: JobEnded, time_s: float) -> SweepRow:
    trace = None if ended.trace is None else load(ended.trace)
    status = status_of(ended)
    row = failed_row(task, status, "" if status == "recorded" else _first_line(ended))
    figures = {} if trace is None else trace_columns(trace)
    unmeasured = {"unmeasured": ended.unmeasured} if ended.unmeasured else {}
    return replace(row, time_s=round(time_s, 3), **{**figures, **unmeasured})


def failed_row(task: RowTask, status: Status, reason: str) -> SweepRow:
    """Returns the row of a recording without figures.

    Args:
        task: the recording.
        status: how it ended.
        reason: why.
    """
    planned, request = task.planned, task.planned.request
    return SweepRow(
        key=task.key,
        model=planned.model,
        options=planned.options,
        backend=request.backend,
        environment=planned.environment.name,
        spec=request.model,
        option_text=" ".join(_words(request.options)),
        inputs=" ".join(request.inputs),
        torch=task.facts.torch,
        python=task.facts.python,
        machine=task.facts.processor,
        status=status,
        reason=reason,
        limit_s=request.limit_s,
        memory_bytes=request.memory_bytes,
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        command=command_of(planned),
    )


def _first_line(ended: JobEnded) -> str:
    place = f" (in {ended.died_in})" if ended.died_in and ended.died_in not in ended.message else ""
    lines = [line.strip() for line in (ended.message or ended.error or "").splitlines() if line.strip()]
    return f"{lines[0] if lines else ended.outcome}{place}"[:_LINE]


def command_of(planned: PlannedRow) -> str:
    """Returns the command that makes a recording alone, in its environment."""
    request = planned.request
    words = ["freezer-ui", "record", request.model, *_words(request), *_words(request.options)]
    words += ["--no-measure"] if request.measure is None else _words(request.measure)
    return shlex.join(words)


def _words(options: RecordRequest | Options | Measure | None) -> list[str]:
    """Returns the arguments of the command line for all options that are no defaults."""
    words: list[str] = []
    for option in () if options is None else option_fields(type(options)):
        value = getattr(options, option.name)
        if value == option.default:
            continue
        words += _argument(option.flag, value, is_size=option.kind == "size")
    return words


def _argument(flag: str, value: Any, *, is_size: bool) -> list[str]:
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    if isinstance(value, tuple):
        return [word for each in value for word in (f"--{flag}", str(each))]
    if is_size:
        return [f"--{flag}", f"{max(1, value >> 20)}M"]
    return [f"--{flag}", f"{value:g}" if isinstance(value, float) else str(value)]
