"""The options of a recording, the same for ``freezer-ui record`` and for a MODEL that the dashboard is to record."""

from __future__ import annotations

import argparse

import freeze_engine as fe


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
    ]


def torchscript_options(arguments: argparse.Namespace, preserved_attrs: tuple[str, ...] = ()) -> fe.TorchScriptOptions:
    """Returns how to freeze.

    Args:
        arguments: the parsed ones.
        preserved_attrs: what the model brings, for where the command line preserves nothing.
    """
    return fe.TorchScriptOptions(
        preserved_attrs=tuple(arguments.preserve or preserved_attrs),
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
