"""``freezer-ui record``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

import freeze_engine as fe
from viewer.cli.command import FINE, FREEZE_FAILED, CommandError, output_file
from viewer.cli.recording import add_recording_arguments, measure, torchscript_options
from viewer.cli.terminal import progress_line, remark, say


class RecordCommand:
    """Freeze a model, and record what every pass did.

    MODEL is a TorchScript file, an exported program (.pt2), package.module:factory, or example:NAME, such as
    example:resnet50 (a wrong NAME is answered with the list). A model is a program: record only what you trust.

    INPUT is a shape with an optional dtype (1x3x224x224, 1x3x224x224:bfloat16), for integers with the range to draw
    from (2x16:int64:0..30000, 30000 excluded), a plain value (int:3, float:0.5, bool:true), a saved tensor
    (@tensor.pt), or any of these for a keyword argument (mask=1x16:bool). Without inputs, neither given nor brought
    by the MODEL, nothing is measured.
    """

    name: ClassVar[str] = "record"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the subcommand's arguments."""
        add = parser.add_argument
        add("model", metavar="MODEL", help="the model to freeze")
        add_recording_arguments(parser)
        add("-o", "--output", type=output_file, metavar="FILE", help="the trace (default: the model's name .fztrace)")
        add("--report", type=output_file, metavar="FILE", help="write the HTML report, too")

    def run(self, arguments: argparse.Namespace) -> int:
        """Records the freeze and writes the trace."""
        requests = [fe.parse_input(text) for text in arguments.input]
        model = _load(arguments)
        inputs = fe.make_inputs(requests, device=arguments.device or "cpu") if requests else model.inputs
        output = arguments.output or Path(f"{model.name}.fztrace")
        wanted = measure(arguments)
        if wanted is not None and inputs is None:
            remark("there are no inputs, so nothing is measured; give them with --input")
        try:
            with progress_line() as progress:
                recording = fe.record(
                    model.module,
                    inputs,
                    backend=arguments.backend,
                    options=torchscript_options(arguments, model.preserved_attrs),
                    measure=None if inputs is None else wanted,
                    via=arguments.via or model.via,
                    progress=progress,
                    name=model.name,
                    call=arguments.command_line,
                )
        except (Exception, KeyboardInterrupt) as error:
            written = _write_partial(error, output, arguments.report)
            if isinstance(error, fe.FreezerError | KeyboardInterrupt):
                remark(written)
                raise
            text = f"the freeze failed: {type(error).__name__}: {error}\n{written}"
            raise CommandError(text, FREEZE_FAILED) from error
        _write(recording.trace, output, arguments.report)
        return FINE


def _load(arguments: argparse.Namespace) -> fe.LoadedModel:
    load_model = fe.load_model  # imports torch; what fails there is not the model's doing
    try:
        return load_model(arguments.model, map_location=arguments.device)
    except fe.FreezerError:
        raise
    except Exception as error:
        text = f"MODEL {arguments.model!r}: its own code raised {type(error).__name__}: {error}"
        raise CommandError(text) from error


def _write_partial(error: BaseException, output: Path, report: Path | None) -> str:
    """Writes what was recorded before ``error`` and returns a sentence that says where."""
    trace = fe.partial_trace(error)
    if trace is None:
        return "no trace could be kept of it"
    _write(trace, output, report)
    return f"{output} holds what was recorded until then: {len(trace.steps)} steps"


def _write(trace: fe.Trace, output: Path, report: Path | None) -> None:
    fe.save(trace, output)
    changed = sum(step.changed for step in trace.steps)
    say(f"{output}: {len(trace.steps)} steps, of which {changed} changed something\n")
    if report is not None:
        from viewer.report import write_report

        write_report(trace, report)
        say(f"{report}\n")
