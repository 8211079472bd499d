"""The options of a recording, shared by ``freezer-ui record`` and ``freezer-ui MODEL``."""

from __future__ import annotations

import argparse
import importlib.util
import re
from pathlib import Path
from typing import Final

import freeze_engine as fe
from viewer.cli.command import CommandError

#: The options of only one backend, by the names of their arguments.
_OPTIONS: Final = {
    "torchscript": ("via", "preserve", "no_optimize_numerics", "optimize_for_inference", "other_method"),
    "inductor": ("mode", "dynamic", "fullgraph", "max_autotune", "discard_parameters", "fresh_caches"),
}
_SIZE: Final = re.compile(r"(\d{1,6})([MGT])(iB)?", re.ASCII)
_UNITS: Final = {"M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def add_freeze_arguments(parser: argparse._ActionsContainer) -> list[argparse.Action]:
    """Adds the options of the freeze and its inputs.

    Args:
        parser: a parser or an argument group.

    Returns:
        The added actions.
    """
    add = parser.add_argument
    without = "leave this pass out; may be given several times (a wrong PASS is answered with the list)"
    optional = argparse.BooleanOptionalAction
    return [
        add("--input", action="append", default=[], metavar="INPUT", help="an input, once for each argument"),
        add("--backend", choices=tuple(_OPTIONS), default="torchscript", help="which freezing (default: %(default)s)"),
        add("--via", choices=("script", "trace"), help="how a module gets into TorchScript (default: script)"),
        add("--preserve", action="extend", nargs="+", metavar="NAME", help="attributes and methods to preserve (a.b)"),
        add("--no-optimize-numerics", action="store_true", help="leave out the folds that can change the numbers"),
        add("--optimize-for-inference", action="store_true", help="go on with torch.jit.optimize_for_inference"),
        add("--other-method", action="append", default=[], metavar="NAME", help="a further method to optimize"),
        add("--mode", choices=fe.COMPILE_MODES, help="inductor: the mode of torch.compile"),
        add("--dynamic", action=optional, help="inductor: whether sizes are symbols"),
        add("--fullgraph", action="store_true", help="inductor: a graph break is an error"),
        add("--max-autotune", action=optional, help="inductor: whether to choose kernels by running them"),
        add("--discard-parameters", action="store_true", help="inductor: the module gives up its parameters"),
        add("--fresh-caches", action="store_true", help="inductor: compile anew, so that no cache hides a pass"),
        add("--without", action="append", default=[], metavar="PASS", help=without),
        add("--device", metavar="DEVICE", help="where to put model and inputs, freeze and measure (cpu, cuda:0)"),
    ]


def add_recording_arguments(parser: argparse._ActionsContainer) -> list[argparse.Action]:
    """Adds the options of a recording.

    Args:
        parser: a parser or an argument group.

    Returns:
        The added actions.
    """
    add = parser.add_argument
    check = f"ask this of the frozen module afterwards: {', '.join(fe.CHECKS)}, or all; may be given several times"
    limit = "end the recording after so many seconds, such as one that hangs"
    memory = "end the recording if all its processes together take more than this much memory, such as 500M or 4G"
    sets = "inputs to take numeric errors on: the given ones and generated ones like them (default: 3)"
    return [
        *add_freeze_arguments(parser),
        add("--no-measure", action="store_true", help="record only"),
        add("--no-latency", action="store_true", help="measure no latency"),
        add("--no-numerics", action="store_true", help="measure no numeric errors"),
        add("--no-memory", action="store_true", help="measure no memory"),
        add("--seconds", type=seconds, metavar="S", help="time to spend on latencies, warm-up apart (default: 12)"),
        add("--threads", type=count, metavar="N", help="threads to measure with on the CPU (default: torch's)"),
        add("--input-sets", type=count, metavar="N", help=sets),
        add("--check", action="append", default=[], choices=(*fe.CHECKS, "all"), metavar="NAME", help=check),
        add("--ablation", action="store_true", help="freeze again without each pass, to tell what it contributes"),
        add("--limit", type=seconds, metavar="S", help=limit),
        add("--memory", type=size_bytes, metavar="SIZE", help=memory),
    ]


def check_recording(arguments: argparse.Namespace) -> None:
    """Validates the options of a recording before it starts.

    Args:
        arguments: the parsed arguments.

    Raises:
        CommandError: torch is not installed, or an option belongs to another backend.
        FreezerError: an input cannot be read.
    """
    for backend, names in _OPTIONS.items():
        given = [_flag(name, value) for name in names if _is_given(name, value := getattr(arguments, name, None))]
        if given and backend != arguments.backend:
            raise CommandError(
                f"{', '.join(given)}: for --backend {backend} only, and this is --backend {arguments.backend}"
            )
    for text in arguments.input:
        fe.parse_input(text)
    if importlib.util.find_spec("torch") is None:
        raise CommandError("torch is not installed here: recording needs it, looking at a trace does not")


def _is_given(name: str, value: object) -> bool:
    """Returns whether an option was given; ``--no-dynamic`` sets False, which counts as given."""
    return value is not None if name in ("dynamic", "max_autotune") else bool(value)


def _flag(name: str, value: object) -> str:
    return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"


def recording_request(arguments: argparse.Namespace, model: str, output: Path) -> fe.RecordRequest:
    """Returns the recording request of the command line.

    Args:
        arguments: the parsed arguments.
        model: the MODEL.
        output: the trace file.
    """
    return fe.RecordRequest(
        model=model,
        output=output,
        inputs=tuple(arguments.input),
        backend=arguments.backend,
        options=freeze_options(arguments),
        measure=measure(arguments),
        via=arguments.via,
        device=arguments.device,
        call=arguments.command_line,
        name=model_name(model),
        limit_s=arguments.limit,
        memory_bytes=arguments.memory,
        checks=checks(arguments),
        ablation=arguments.ablation,
    )


def checks(arguments: argparse.Namespace) -> tuple[fe.CheckName, ...]:
    """Returns the checks to run on the frozen module."""
    return fe.CHECKS if "all" in arguments.check else tuple(arguments.check)


def model_name(model: str) -> str:
    """Returns the name of a MODEL: the file's stem, the example's name, or the factory's."""
    path = Path(model)
    return path.stem if path.is_file() else re.split("[:./]", model)[-1]


def freeze_options(arguments: argparse.Namespace) -> fe.TorchScriptOptions | fe.InductorOptions:
    """Returns the options of the chosen backend."""
    return inductor_options(arguments) if arguments.backend == "inductor" else torchscript_options(arguments)


def torchscript_options(arguments: argparse.Namespace) -> fe.TorchScriptOptions:
    """Returns the options of TorchScript; without ``--preserve`` the MODEL's own preserved attributes apply."""
    return fe.TorchScriptOptions(
        preserved_attrs=tuple(arguments.preserve or ()),
        optimize_numerics=not arguments.no_optimize_numerics,
        optimize_for_inference=arguments.optimize_for_inference,
        other_methods=tuple(arguments.other_method),
        without=tuple(arguments.without),
    )


def inductor_options(arguments: argparse.Namespace) -> fe.InductorOptions:
    """Returns the options of Inductor."""
    return fe.InductorOptions(
        mode=arguments.mode,
        dynamic=arguments.dynamic,
        fullgraph=arguments.fullgraph,
        discard_parameters=arguments.discard_parameters,
        max_autotune=arguments.max_autotune,
        force_disable_caches=arguments.fresh_caches,
        without=tuple(arguments.without),
    )


def measure(arguments: argparse.Namespace) -> fe.Measure | None:
    """Returns the options of the measurements, ``None`` for no measurement."""
    if arguments.no_measure:
        return None
    chosen = {name: getattr(arguments, name) for name in ("seconds", "threads", "input_sets")}
    return fe.Measure(
        latency=not arguments.no_latency,
        numerics=not arguments.no_numerics,
        memory=not arguments.no_memory,
        **{name: value for name, value in chosen.items() if value is not None},
    )


def count(text: str) -> int:
    """Parses a whole number of at least 1.

    Args:
        text: the argument.

    Raises:
        argparse.ArgumentTypeError: it is not one.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no count; give 1 or more")
    return int(text)


def size_bytes(text: str) -> int:
    """Parses a size with a unit.

    Args:
        text: the argument.

    Returns:
        The size in bytes.

    Raises:
        argparse.ArgumentTypeError: if it is none.
    """
    match = _SIZE.fullmatch(text)
    if match is None or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text} is no size; give one such as 500M or 4G")
    return int(match[1]) * _UNITS[match[2]]


def seconds(text: str) -> float:
    """Parses a positive number of seconds.

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
