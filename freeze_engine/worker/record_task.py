"""Makes a recording in the child process, sends its events to the caller, and writes its journal."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from freeze_engine.analysis.missing_measurements import STILL_MEASURED, unmeasured
from freeze_engine.analysis.summary.read_sentence import ORIGINS
from freeze_engine.backends.common.deprecation import undeprecated
from freeze_engine.backends.common.observer import FREEZING, PHASES, FreezeNotes, NotedStep, RecordingObserver
from freeze_engine.errors import FreezerError
from freeze_engine.opening.existing import existing_kind, open_existing
from freeze_engine.requests.arguments import call_text, known_checks, options_for, refuse_of_existing
from freeze_engine.requests.inputs import Inputs, parse_input
from freeze_engine.requests.options import ModuleOptions, TorchScriptOptions
from freeze_engine.trace import Failure, Notice, Step, Trace
from freeze_engine.worker.child_main import Send
from freeze_engine.worker.conversion import CONVERSIONS, conversion_text
from freeze_engine.worker.eta import Outlook, Pace
from freeze_engine.worker.events import JobEnded, JobEvent, JobPreview, JobProgress, JobStep, event_line
from freeze_engine.worker.exit_status import BUILD, CANCELLED, MEASURE, OVER_LIMIT, cancelled_text
from freeze_engine.worker.interrupts import Interrupts
from freeze_engine.worker.journal import TORCH_LOG, Journal
from freeze_engine.worker.limits import refused_text, was_refused
from freeze_engine.worker.output_file import write_output
from freeze_engine.worker.phases import LATENCY, MEMORY, NUMERICS, WHOLE, Course, planned
from freeze_engine.worker.request import REQUEST, RecordRequest, read_request
from freeze_engine.worker.user_code import code_of
from freeze_engine.worker.user_traceback import user_traceback

if TYPE_CHECKING:
    from freeze_engine.models.loading import LoadedModel

NO_JOURNAL: Final = "no_journal"
_STILL: Final = Notice(STILL_MEASURED, "The recording was still being measured when this trace was written.")
#: A phase with at least this many units reports its begin, but not each of them.
_MANY = 100
_TOLD_EVERY_S = 0.1
_LOG_LINES = 40


def run(folder: Path, send: Send) -> None:
    """Makes the recording that the folder's request describes.

    Args:
        folder: holds the request; torch's log and the journal are written there.
        send: takes the events.
    """
    request = read_request((folder / REQUEST).read_text())
    # Nothing else runs in this process, and the user asked for TorchScript: torch's deprecation is no news.
    with closing(Journal(folder)) as journal, undeprecated():
        interrupts = Interrupts()
        observer = _JobObserver(folder, request.output, journal, interrupts, lambda event: send(event_line(event)))
        try:
            interrupts.listen()
            ended = _recorded(request, observer)
        except BaseException as error:  # noqa: BLE001 - whatever ends the recording is its outcome, an exit included
            ended = _failed(
                error,
                observer,
                request.memory_bytes,
                interrupted=interrupts.came or isinstance(error, KeyboardInterrupt),
            )
    send(event_line(ended))


def _recorded(request: RecordRequest, observer: _JobObserver) -> JobEnded:
    from freeze_engine.session import float_module, record_loaded

    if not request.output.parent.is_dir():
        raise FreezerError(f"{request.output}: there is no folder {request.output.parent}; make it first")
    wanted = [parse_input(text) for text in request.inputs]
    options = options_for(request.backend, request.options)
    observer.course = Course(planned(request))
    observer.outlook = replace(observer.outlook, measure=request.measure)
    if existing_kind(request.model) is not None:
        return _read(request, observer)
    if request.reads_only:
        raise FreezerError(f"{request.model} has changed: it is no frozen file and no log any more. Choose it again.")
    observer.progress("importing torch", 0, 3)
    from freeze_engine.models.binding import takes_no_inputs
    from freeze_engine.models.tensors import make_inputs

    observer.progress("loading the model", 1, 3)
    model = _loaded(request, request.model)
    observer.progress("making the inputs", 2, 3)
    inputs = make_inputs(wanted, device=request.device or "cpu", trusted=request.trusted) if wanted else model.inputs
    if inputs is None and takes_no_inputs(model.module):
        inputs = Inputs()
    if request.must_bind and wanted and inputs is not None:
        from freeze_engine.models.binding import check_binding

        check_binding(model, inputs, request.inputs)
    observer.course = replace(observer.course, phases=planned(request, has_inputs=inputs is not None, via=model.via))
    if isinstance(options, TorchScriptOptions):
        options = replace(options, preserved_attrs=options.preserved_attrs or model.preserved_attrs)
    with code_of(request.float_model or ""):
        float_model = float_module(
            request.float_model, map_location=request.device, imports=request.imports, trusted=request.trusted
        )
    call = request.call or call_text(
        repr(request.model),
        options,
        request.via,
        request.checks,
        request.ablation,
        request.imports,
        None if request.float_model is None else repr(request.float_model),
    )
    module_options = ModuleOptions(
        request.via or model.via,
        name=request.name or model.name,
        call=call,
        checks=known_checks(request.checks),
        ablation=request.ablation,
        float_model=float_model,
    )
    recording = record_loaded(model.module, inputs, options, module_options, request.measure, observer)
    trace = recording.trace
    observer.built = trace
    observer.progress("writing the trace", 0, 0)
    observer.write(trace)
    for name, other in recording.others.items():
        observer.write_beside(other, name)
    return _finished(trace, request, has_inputs=inputs is not None)


def _read(request: RecordRequest, observer: _JobObserver) -> JobEnded:
    """Reads what exists already; nothing of it is run."""
    refuse_of_existing(request.model, checks=request.checks, ablation=request.ablation, float_model=request.float_model)
    observer.progress("loading the model", 1, 3)
    trace = open_existing(request.model, name=request.name, call=request.call)
    observer.progress("writing the trace", 0, 0)
    observer.write(trace)
    return JobEnded("finished", request.output, f"read from {ORIGINS[trace.origin]}; nothing of it was run")


def _finished(trace: Trace, request: RecordRequest, *, has_inputs: bool) -> JobEnded:
    count = "1 step" if len(trace.steps) == 1 else f"{len(trace.steps)} steps"
    if request.measure is not None and not has_inputs:
        return JobEnded("finished", request.output, f"recorded {count}; without inputs nothing is measured")
    found = unmeasured(trace)
    if found is None:
        return JobEnded("finished", request.output, f"recorded {count}")
    return JobEnded("finished", request.output, f"recorded {count}, {found}", unmeasured=str(found))


def _loaded(request: RecordRequest, model: str) -> LoadedModel:
    from freeze_engine.models.loading import load_model

    with code_of(model):
        return load_model(model, map_location=request.device, imports=request.imports, trusted=request.trusted)


def _failed(error: BaseException, observer: _JobObserver, memory_bytes: int | None, *, interrupted: bool) -> JobEnded:
    from freeze_engine.backends.common.partial_trace import partial_trace

    ended = _end_by(error, observer, interrupted=interrupted)
    if memory_bytes is not None and ended.outcome == "failed" and was_refused(ended.error or ""):
        text = f"{refused_text(memory_bytes)}, and torch or the model raised {ended.error}"
        ended = replace(
            ended, outcome=OVER_LIMIT, message=_first_line(text), error=text, is_refusal=False, conversion=None
        )
    # An interrupt may come between the code that attaches the partial trace and this.
    trace = partial_trace(error) or (observer.built if interrupted else None)
    if trace is None:
        return ended
    for step in trace.steps[observer.told :]:
        observer.step_added(step)
    failure = trace.failure or _failure_after(trace, error, observer.now)
    if interrupted:
        failure = replace(failure, type=KeyboardInterrupt.__name__, message="")
        if observer.place is not None:  # an interrupt between two passes is raised outside the code that notes the pass
            stage, name, method = observer.place
            failure = replace(failure, stage=stage, name=name, method=method)
        ended = replace(ended, message=cancelled_text((failure.stage, failure.name, failure.method)))
    try:
        observer.write(replace(trace, failure=failure))
    except FreezerError as refused:
        told = "\n".join(filter(None, (ended.error, str(refused))))
        return replace(ended, message=f"{ended.message} ({refused})", error=told)
    return replace(ended, trace=observer.output, died_in=failure.name)


def _end_by(error: BaseException, observer: _JobObserver, *, interrupted: bool) -> JobEnded:
    is_refusal = isinstance(error, FreezerError)
    text = (str(error) if is_refusal else f"{type(error).__name__}: {error}").strip()
    ended = JobEnded(
        outcome="failed",
        trace=observer.preview,
        message=_first_line(text),
        died_in=observer.now,
        log=user_traceback(error)[-_LOG_LINES:],
        error=text,
        traceback="".join(traceback.format_exception(error)),
        is_refusal=is_refusal,
    )
    if not interrupted:
        return ended if is_refusal else _unconverted(ended)
    # The exception type and message that torch or the model made of the interrupt are of no interest.
    message = cancelled_text((BUILD, observer.now, None))
    return replace(ended, outcome=CANCELLED, message=message, error=None, is_refusal=False)


def _unconverted(ended: JobEnded) -> JobEnded:
    """Says of a recording that failed before the freeze that the model cannot be scripted or traced."""
    conversion = CONVERSIONS.get(ended.died_in or "")
    if conversion is None:
        return ended
    return replace(ended, conversion=conversion, message=conversion_text(conversion, ended.error or "", ended.log))


def _failure_after(trace: Trace, error: BaseException, now: str) -> Failure:
    """Returns the failure of the work after the freeze."""
    last = trace.steps[-1].index if trace.steps else None
    return Failure(type(error).__name__, str(error), MEASURE, now, None, last)


def _first_line(text: str) -> str:
    """Returns the first line with text; some of torch's messages begin with an empty line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[: 2 if lines[0].endswith(":") else 1])


class _JobObserver(RecordingObserver):
    """Sends events and writes the journal."""

    watches = True

    def __init__(
        self, folder: Path, output: Path, journal: Journal, interrupts: Interrupts, send: Callable[[JobEvent], None]
    ) -> None:
        super().__init__(self._progress)
        self.log_file = folder / TORCH_LOG
        self.now = ""
        self.preview: Path | None = None
        self.built: Trace | None = None
        self.told = 0
        self.place: tuple[str, str, str | None] | None = None
        self._journal = journal
        self.output = output
        self._target = output.absolute()  # stays where the caller meant it when the model changes the working folder
        self._folder = folder
        self._interrupts = interrupts
        self._send = send
        self.outlook = Outlook(None, Pace(0, 0, monotonic()))
        self._told_s = 0.0
        self.course = Course(())

    def trace_grew(self, trace: Trace) -> None:
        self._journal.trace(trace)

    def freeze_begins(self, notes: FreezeNotes) -> None:
        self._journal.notes(notes)

    def module_frozen(self, graphs: Mapping[str, str]) -> None:
        self._journal.frozen(graphs)

    def pass_begins(self, stage: str, name: str, method: str, number: int | None) -> None:
        self.under_way((stage, name, method))
        turn = f", round {number}" if number else ""
        self._progress(f"{FREEZING}: {name} of {method}{turn}", 1, PHASES)

    def pass_ended(self, step: NotedStep) -> None:
        self.place = None
        self._journal.ended(step)

    def under_way(self, place: tuple[str, str, str | None] | None) -> None:
        self.place = place
        self._journal.under_way(place)

    def step_added(self, step: Step) -> None:
        self.told = step.index + 1
        self._send(job_step(step))

    def trace_built(self, trace: Trace) -> None:
        self.built = trace
        measured = {LATENCY, NUMERICS, MEMORY} & {*self.course.phases}
        self.write(replace(trace, notices=(*trace.notices, _STILL)) if measured else trace)
        self.preview = self.output
        self._send(JobPreview(self.output))

    def write(self, trace: Trace) -> None:
        """Writes the trace file, with a failure in it if there is no journal."""
        if self._journal.lost is not None:
            text = f"No journal could be kept ({self._journal.lost}): a crash would have taken the steps along."
            trace = replace(trace, notices=(*trace.notices, Notice(NO_JOURNAL, text)))
        write_output(trace, self._target, self._folder)

    def write_beside(self, trace: Trace, name: str) -> None:
        """Writes the trace of a further freeze, which a check made, beside the first one's."""
        write_output(trace, self._target.with_suffix(f".{name}.fztrace"), self._folder)

    def _progress(self, message: str, done: int, total: int) -> None:
        self._interrupts.check()
        self.now = message
        self._journal.doing(message)
        now_s = monotonic()
        self.outlook = outlook = self.outlook.advanced(message, done, total, now_s)
        before, self.course = self.course, self.course.advanced(message, done, total)
        course = self.course
        if course.phase != before.phase or total < _MANY or now_s - self._told_s >= _TOLD_EVERY_S:
            self._told_s = now_s
            left_s, whole_s = outlook.phase_left_s(now_s), outlook.left_s(course.later, now_s)
            self._send(JobProgress(message, course.done, WHOLE, left_s, course.phase, course.later, whole_s))


def job_step(step: Step) -> JobStep:
    """Returns the part of a step that its event carries."""
    nodes = sum(1 for _ in step.graph.walk())
    return JobStep(step.index, step.stage, step.name, step.method, step.round, step.changed, nodes)
