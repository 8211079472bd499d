"""``freezer-ui record``."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final

import freeze_engine as fe
from freeze_engine import analysis, opening, process, worker
from viewer.cli.command import FINE, FREEZE_FAILED, NOT_MEASURED, CommandError, output_file
from viewer.cli.error_hints import advice
from viewer.cli.signals import SIGNALS
from viewer.cli.terminal import ProgressLine, progress_line, remark, say

_LOOK_S: Final = 0.1
_PATIENCE_S: Final = 1.0
#: After SIGTERM, containers and schedulers wait 10 s or more before they kill (docker stop: 10 s, Kubernetes: 30 s).
_PATIENCE_OF_SYSTEMS_S: Final = 3.0
#: Messages while the first signal, or the second one, takes long to have an effect.
_AGAIN: Final = (
    "cancelling; waiting for torch to finish {}; Ctrl-C again ends it now, with the steps until then",
    "it keeps the steps until then; Ctrl-C again ends it without them",
)


class RecordCommand:
    """Freeze a model, and record what every pass did.

    MODEL is a TorchScript file, an exported program (.pt2), package.module:factory, or example:NAME, such as
    example:resnet50 (a wrong NAME gives a list of all). A model is a program: record only what you trust. A TorchScript
    file that was frozen already, a log of TORCH_TRACE (or its folder) and a folder of TORCH_COMPILE_DEBUG are only
    read: the trace shows what they hold, and nothing is run.

    INPUT is a shape with an optional dtype (1x3x224x224, 1x3x224x224:bfloat16), for integers with the range of the
    random values (2x16:int64:0..30000, 30000 excluded), a plain value (int:3, float:0.5, bool:true), a saved tensor
    (@tensor.pt), or any of these for a keyword argument (mask=1x16:bool). Nothing is measured if neither the command
    nor the MODEL has inputs.

    --backend inductor compiles the model for its inputs, by torch.compile with freezing; MODEL cannot be a TorchScript
    file then.

    An --input that the model's forward does not take, or one that is missing, ends the command before the freeze, with
    the parameter's name and what to give. A model that takes the inputs and does not run on them is recorded and not
    measured; the last line says why, and the command exits with 4.

    The freeze runs in a child process. If torch crashes, or --limit, --memory, Ctrl-C, SIGTERM or SIGHUP ends it, the
    trace has the steps recorded until then. If torch does not react to Ctrl-C, a second Ctrl-C ends it.
    """

    name: ClassVar[str] = "record"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        add = parser.add_argument
        add("model", metavar="MODEL", help="the model to freeze")
        worker.add_recording_arguments(parser)
        named = "the trace (default: the model's name, with .fztrace)"
        add("-o", "--output", type=output_file, metavar="FILE", help=named)
        add("--report", type=output_file, metavar="FILE", help="write the HTML report, too")

    def run(self, arguments: argparse.Namespace) -> int:
        """Records the freeze and writes the trace."""
        kind = opening.existing_kind(arguments.model)
        if kind is not None:
            return _read(arguments, analysis.ORIGINS[kind])
        process.require_posix("Recording a model in a child process")
        worker.check_recording(arguments)
        output = arguments.output or Path(f"{worker.model_name(arguments.model)}.fztrace")
        request = worker.recording_request(arguments, arguments.model, output, arguments.command_line)
        request = replace(request, must_bind=True)
        with progress_line() as line:
            run = _Run(request, line)
            ended = run.ended()
        if ended.outcome == "finished":
            if request.measure is not None and not run.was_measured:
                remark("there were no inputs, so nothing was measured; give them with --input")
            _tell(output, arguments.report)
            if ended.unmeasured is None:
                return FINE
            remark(f"recorded, {ended.unmeasured}")
            return NOT_MEASURED
        kept = _kept(ended, arguments.report)
        if ended.outcome == "cancelled":
            remark(f"{ended.message}; {kept}")
            raise KeyboardInterrupt
        if ended.is_refusal and ended.trace is not None:
            remark(kept)
        raise _failure(ended, kept, arguments.via)


def _read(arguments: argparse.Namespace, what: str) -> int:
    """Makes a trace of what exists already."""
    unused = worker.check_reading(arguments, what)
    name = Path(arguments.model).resolve().stem
    trace = opening.open_existing(arguments.model, name=name, call=arguments.command_line)
    output = arguments.output or Path(f"{name}.fztrace")
    fe.save(trace, output)
    remark(f"{arguments.model} is {what}, so it was read; nothing of it was run or measured")
    if unused is not None:
        remark(unused)
    _tell(output, arguments.report)
    return FINE


class _Run:
    """One recording in a child process: if torch crashes, this process still reports it.

    Args:
        request: of the recording.
        line: shows its progress and its output.
    """

    def __init__(self, request: worker.RecordRequest, line: ProgressLine) -> None:
        self._line = line
        self._process = worker.RecordingProcess(request, self._take, line.pass_on)
        self.was_measured = False
        self._latest: worker.JobProgress | None = None
        self._answered, self._answered_s, self._is_told = 0, 0.0, False

    def ended(self) -> worker.JobEnded:
        """Waits for the end; a signal ends the recording with its steps so far, a third one at once without them."""
        with SIGNALS.counted():
            self._process.start()
            while (ended := self._process.wait(_LOOK_S)) is None:
                if SIGNALS.count > self._answered:
                    self._answer()
                elif self._answered:
                    self._grow_impatient(time.monotonic() - self._answered_s)
        return ended

    def _answer(self) -> None:
        """Reacts to one more signal: interrupts the recording, then cancels it."""
        self._answered += 1
        self._answered_s, self._is_told = time.monotonic(), False
        if self._answered == 1:
            self._process.interrupt()
        elif self._answered <= len(_AGAIN) + 1:
            self._process.cancel()

    def _grow_impatient(self, waited_s: float) -> None:
        """Explains the delay; after SIGTERM cancels unasked, for SIGKILL would follow."""
        if not SIGNALS.is_from_terminal:
            if self._answered == 1 and waited_s >= _PATIENCE_OF_SYSTEMS_S:
                self._answer()
        elif not self._is_told and waited_s >= _PATIENCE_S and self._answered <= len(_AGAIN):
            self._is_told = True
            self._line.clear()
            remark(_AGAIN[self._answered - 1].format(worker.under_way(self._latest)))

    def _take(self, event: worker.JobEvent) -> None:
        if isinstance(event, worker.JobProgress):
            self._latest = event
            self._line.show_recording(event)
        elif isinstance(event, worker.JobPreview):
            self.was_measured = True


def _failure(ended: worker.JobEnded, kept: str, via: str | None) -> CommandError:
    if ended.is_refusal:
        return CommandError(ended.error or ended.message, details=ended.traceback)
    ended_by_limit = dict.fromkeys(("timed_out", "over_limit"), "the recording was ended")
    what = {"crashed": "the recording crashed"} | ended_by_limit
    text = f"{what.get(ended.outcome, 'the freeze failed')}: {ended.error or ended.message}"
    if ended.conversion is not None:
        text = f"{ended.message[0].lower()}{ended.message[1:]}\n{(ended.error or '').strip()}"
    lines = [line for line in (text, advice(ended, via), kept) if line]
    return CommandError("\n".join(lines), FREEZE_FAILED, details=ended.traceback)


def _kept(ended: worker.JobEnded, report: Path | None) -> str:
    """Returns a sentence on the trace of a recording that did not reach its end."""
    if ended.trace is None:
        return "no trace could be kept of it"
    trace = _tell(ended.trace, report)
    if all(step.stage == "input" for step in trace.steps):
        graph = ", the graph" if trace.steps else ""
        return f"{ended.trace} holds the request{graph} and the environment; no pass had run"
    return f"{ended.trace} holds what was recorded until then: {_counted(len(trace.steps))}"


def _tell(path: Path, report: Path | None) -> fe.Trace:
    """Prints a summary of the written trace, writes the report, and returns the trace."""
    from viewer.text.summary import next_command, summary_lines

    trace = fe.load(path)
    # Without fates, the sentence of the summary is the error message, which follows.
    if trace.failure is None or trace.attributes or analysis.failure_kind(trace.failure) == "cancelled":
        say(f"{path}: {_extent(trace)}.\n")
        say("".join(f"{line}\n" for line in summary_lines(fe.summarize(trace)) if trace.steps))
    if trace.steps:
        say(f"{next_command(path)}\n")
    for check in trace.checks:
        say(f"{check.name}: {analysis.check_outcome(check)}. {check.message}\n")
        other = path.with_suffix(f".{check.name}.fztrace")
        if other.exists() and other.stat().st_mtime >= path.stat().st_mtime:  # of this recording, not of an older one
            say(f"  to see how they differ: freezer-ui diff {path} {other}\n")
    if report is not None:
        from viewer.report import write_report

        write_report(trace, report)
        say(f"{report}\n")
    return trace


def _extent(trace: fe.Trace) -> str:
    if not trace.is_recording:
        return f"Read {_counted(len(trace.steps))}"
    count = sum(step.stage != "input" for step in trace.steps)
    passes = "1 pass" if count == 1 else f"{count} passes"
    return f"Recorded {passes}, {sum(step.changed for step in trace.steps)} changed the graph"


def _counted(steps: int) -> str:
    return "1 step" if steps == 1 else f"{steps} steps"
