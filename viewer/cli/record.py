"""``freezer-ui record``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

import freeze_engine as fe
from viewer.cli.command import FINE, FREEZE_FAILED, CommandError, output_file
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
        add("--input", action="append", default=[], metavar="INPUT", help="an input, once for each argument")
        add("--backend", choices=("torchscript",), default="torchscript", help="which freezing (default: %(default)s)")
        add("--via", choices=("script", "trace"), help="how a module gets into TorchScript (default: script)")
        add("--preserve", action="extend", nargs="+", metavar="NAME", help="attributes and methods to preserve (a.b)")
        add("--no-optimize-numerics", action="store_true", help="leave out the folds that can change the numbers")
        add("--optimize-for-inference", action="store_true", help="go on with torch.jit.optimize_for_inference")
        add("--other-method", action="append", default=[], metavar="NAME", help="a further method to optimize")
        add("--device", metavar="DEVICE", help="where to put model and inputs, freeze and measure (cpu, cuda:0)")
        add("--no-measure", action="store_true", help="record only")
        add("--no-latency", action="store_true", help="measure no latency")
        add("--no-numerics", action="store_true", help="measure no numeric errors")
        add("--no-memory", action="store_true", help="measure no memory")
        add("-o", "--output", type=output_file, metavar="FILE", help="the trace (default: the model's name .fztrace)")
        add("--report", type=output_file, metavar="FILE", help="write the HTML report, too")

    def run(self, arguments: argparse.Namespace) -> int:
        """Records the freeze and writes the trace."""
        requests = [fe.parse_input(text) for text in arguments.input]
        model = _load(arguments)
        inputs = fe.make_inputs(requests, device=arguments.device or "cpu") if requests else model.inputs
        output = arguments.output or Path(f"{model.name}.fztrace")
        measure = _measure(arguments)
        if measure is not None and inputs is None:
            remark("there are no inputs, so nothing is measured; give them with --input")
        try:
            with progress_line() as progress:
                recording = fe.record(
                    model.module,
                    inputs,
                    backend=arguments.backend,
                    options=_options(arguments, model),
                    measure=None if inputs is None else measure,
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


def _options(arguments: argparse.Namespace, model: fe.LoadedModel) -> fe.TorchScriptOptions:
    return fe.TorchScriptOptions(
        preserved_attrs=tuple(arguments.preserve or model.preserved_attrs),
        optimize_numerics=not arguments.no_optimize_numerics,
        optimize_for_inference=arguments.optimize_for_inference,
        other_methods=tuple(arguments.other_method),
    )


def _measure(arguments: argparse.Namespace) -> fe.Measure | None:
    if arguments.no_measure:
        return None
    return fe.Measure(
        latency=not arguments.no_latency,
        numerics=not arguments.no_numerics,
        memory=not arguments.no_memory,
    )


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
