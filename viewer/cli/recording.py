"""The options of a recording, the same for ``freezer-ui record`` and for a MODEL that the dashboard is to record."""

from __future__ import annotations

import argparse
import importlib.util
import re
from pathlib import Path

import freeze_engine as fe
from viewer.cli.command import CommandError


def add_recording_arguments(parser: argparse._ActionsContainer) -> list[argparse.Action]:
    """Adds the options of a recording.

    Args:
        parser: to add them to; also an argument group.

    Returns:
        What was added.
    """
    add = parser.add_argument
    return [
        add("--input", action="append", default=[], metavar="INPUT", help="an input, once for each argument"),
        add("--backend", choices=("torchscript",), default="torchscript", help="which freezing (default: %(default)s)"),
        add("--via", choices=("script", "trace"), help="how a module gets into TorchScript (default: script)"),
        add("--preserve", action="extend", nargs="+", metavar="NAME", help="attributes and methods to preserve (a.b)"),
        add("--no-optimize-numerics", action="store_true", help="leave out the folds that can change the numbers"),
        add("--optimize-for-inference", action="store_true", help="go on with torch.jit.optimize_for_inference"),
        add("--other-method", action="append", default=[], metavar="NAME", help="a further method to optimize"),
        add("--device", metavar="DEVICE", help="where to put model and inputs, freeze and measure (cpu, cuda:0)"),
        add("--no-measure", action="store_true", help="record only"),
        add("--no-latency", action="store_true", help="measure no latency"),
        add("--no-numerics", action="store_true", help="measure no numeric errors"),
        add("--no-memory", action="store_true", help="measure no memory"),
        add("--seconds", type=seconds, metavar="S", help="time to spend on latencies, warm-up apart (default: 12)"),
        add(
            "--limit", type=seconds, metavar="S", help="end the recording after so many seconds, such as one that hangs"
        ),
    ]


def check_recording(arguments: argparse.Namespace) -> None:
    """Tells what is wrong with a recording before anything is begun.

    Args:
        arguments: the parsed ones.

    Raises:
        CommandError: torch is not installed.
        FreezerError: an input cannot be read.
    """
    for text in arguments.input:
        fe.parse_input(text)
    if importlib.util.find_spec("torch") is None:
        raise CommandError("torch is not installed here: recording needs it, looking at a trace does not")


def recording_request(arguments: argparse.Namespace, model: str, output: Path) -> fe.RecordRequest:
    """Returns the recording that the command line asks for.

    Args:
        arguments: the parsed ones.
        model: the MODEL.
        output: the trace file.
    """
    return fe.RecordRequest(
        model=model,
        output=output,
        inputs=tuple(arguments.input),
        backend=arguments.backend,
        options=torchscript_options(arguments),
        measure=measure(arguments),
        via=arguments.via,
        device=arguments.device,
        call=arguments.command_line,
        name=model_name(model),
        limit_s=arguments.limit,
    )


def model_name(model: str) -> str:
    """Returns what to call a MODEL: the file's name, the example's, or the factory's."""
    path = Path(model)
    return path.stem if path.is_file() else re.split("[:./]", model)[-1]


def torchscript_options(arguments: argparse.Namespace) -> fe.TorchScriptOptions:
    """Returns how to freeze; where nothing is preserved here, what the MODEL preserves by itself will be."""
    return fe.TorchScriptOptions(
        preserved_attrs=tuple(arguments.preserve or ()),
        optimize_numerics=not arguments.no_optimize_numerics,
        optimize_for_inference=arguments.optimize_for_inference,
        other_methods=tuple(arguments.other_method),
    )


def measure(arguments: argparse.Namespace) -> fe.Measure | None:
    """Returns what to measure, ``None`` for nothing."""
    if arguments.no_measure:
        return None
    time = {} if arguments.seconds is None else {"seconds": arguments.seconds}
    return fe.Measure(
        latency=not arguments.no_latency,
        numerics=not arguments.no_numerics,
        memory=not arguments.no_memory,
        **time,
    )


def seconds(text: str) -> float:
    """Reads a positive number of seconds.

    Args:
        text: the argument.

    Returns:
        The time in s.

    Raises:
        argparse.ArgumentTypeError: if it is none.
    """
    try:
        time_s = float(text)
    except ValueError:
        time_s = 0.0
    if not 0 < time_s < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no time; give seconds, such as 30 or 0.5")
    return time_s
