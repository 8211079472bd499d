"""Options of a recording; plain data, free of torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from freeze_engine.errors import FreezerError
from freeze_engine.requests.option_metadata import Choice, option
from freeze_engine.requests.suggestions import did_you_mean

Progress = Callable[[str, int, int], None]
"""Called as ``progress(message, done, total)``; ``done`` and ``total`` count units of one phase."""


Mode = Literal["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]
"""A mode of ``torch.compile``."""

COMPILE_MODES: Final[tuple[Mode, ...]] = get_args(Mode)

CheckName = Literal["stale_weights", "idempotence", "determinism", "round_trip", "attributes"]
CHECKS: Final[tuple[CheckName, ...]] = get_args(CheckName)
"""Names of the checks of a frozen module, see `freeze_engine.diagnose.checks`."""

_DISABLED_PASSES: Final = option(
    (),
    "names",
    "Skip passes",
    "skip passes, by the names that an earlier recording shows",
    flag="without",
    metavar="PASS",
)


@dataclass(frozen=True, slots=True)
class TorchScriptOptions:
    """Options of freezing with TorchScript.

    Attributes:
        preserved_attrs: attributes and methods to preserve, dotted for those of submodules (``torch.jit.freeze``).
        optimize_numerics: whether to run the passes that may change numbers in the last digits, such as conv-batchnorm
            folding.
        optimize_for_inference: whether to run ``torch.jit.optimize_for_inference`` afterwards.
        other_methods: methods besides ``forward`` to preserve and to optimise for inference.
        disabled_passes: names of passes to disable, of those after ``torch._C._freeze_module``, in every round.
    """

    preserved_attrs: tuple[str, ...] = option(
        (),
        "names",
        "Preserve",
        "attributes and methods to preserve (a.b)",
        flag="preserve",
        metavar="NAME",
        takes_many=True,
    )
    optimize_numerics: bool = option(
        True,
        "switch",
        "Allow folds that may change results slightly",
        "such as a batch norm into its convolution; the last digits may differ",
        no_help="skip the folds that may change results slightly",
    )
    optimize_for_inference: bool = option(
        False, "switch", "Optimize for inference", "then run torch.jit.optimize_for_inference, too"
    )
    other_methods: tuple[str, ...] = option(
        (),
        "names",
        "Other methods",
        "methods besides forward to preserve and to optimize",
        flag="other-method",
        metavar="NAME",
    )
    disabled_passes: tuple[str, ...] = _DISABLED_PASSES

    def __post_init__(self) -> None:
        """Rejects a text in place of a sequence of names, since it would count as one name per letter.

        Raises:
            FreezerError: it is one.
        """
        for name in ("preserved_attrs", "other_methods", "disabled_passes"):
            _check_names(name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class InductorOptions:
    """Options of compiling with Inductor freezing.

    Attributes:
        mode: the mode of ``torch.compile``; ``None`` for torch's default.
        dynamic: whether sizes are symbols from the start (``True``), never (``False``), or once they change (``None``).
        fullgraph: whether a graph break is an error.
        discard_parameters: whether the original module gives up its parameters (``freezing_discard_parameters``).
        max_autotune: whether to choose kernels by running them.
        force_disable_caches: whether to compile anew what Inductor's caches have; with caches, a hit skips the passes
            after freezing.
        disabled_passes: names of passes to disable, in every round: freezing's own, pattern groups, and the
            joint-graph and post-grad passes that torch names.
    """

    mode: Mode | None = option(
        None,
        "choice",
        "Mode of torch.compile",
        "the mode; the two max-autotune ones choose kernels by running them, and take longer to compile",
        choices=(Choice(None, "default of torch.compile"), *(Choice(mode, mode) for mode in COMPILE_MODES)),
    )
    dynamic: bool | None = option(
        None,
        "yes_no",
        "Sizes of the inputs",
        "symbols for sizes: one graph then serves every shape; one with numbers is compiled again for each",
        choices=(
            Choice(None, "numbers, until they change"),
            Choice(True, "symbols from the start"),
            Choice(False, "numbers always"),
        ),
    )
    fullgraph: bool = option(False, "switch", "One graph only", "a graph break is an error")
    discard_parameters: bool = option(
        False,
        "switch",
        "Give up the module's parameters",
        "the module gives up its parameters, which saves memory; it then runs only compiled, with these shapes",
    )
    max_autotune: bool | None = option(
        None,
        "yes_no",
        "Choose kernels by running them",
        "choose kernels by running them, also without a mode that does",
        choices=(Choice(None, "as the mode and torch's settings say"), Choice(True, "yes"), Choice(False, "no")),
    )
    force_disable_caches: bool = option(
        False,
        "switch",
        "Compile anew",
        "compile anew: a hit in Inductor's caches would skip the passes after freezing, and so hide them",
        flag="fresh-caches",
    )
    disabled_passes: tuple[str, ...] = _DISABLED_PASSES

    def __post_init__(self) -> None:
        """Checks the names.

        Raises:
            FreezerError: there is no such mode, or a text is given where names are due.
        """
        if self.mode is not None and self.mode not in COMPILE_MODES:
            meant = did_you_mean(str(self.mode), COMPILE_MODES)
            raise FreezerError(f"mode={self.mode!r} is not known; there are {', '.join(COMPILE_MODES)}.{meant}")
        _check_names("disabled_passes", self.disabled_passes)


@dataclass(frozen=True, slots=True)
class AOTInductorOptions:
    """Options of compiling a package ahead of time with AOTInductor and freezing.

    Attributes:
        package: file to keep the package in, ``*.pt2``; empty to keep none.
        disabled_passes: names of passes to disable, as of `InductorOptions`.
    """

    package: str = option(
        "", "text", "Package", "keep the compiled package in this file (.pt2)", metavar="FILE", empty="kept nowhere"
    )
    disabled_passes: tuple[str, ...] = _DISABLED_PASSES

    def __post_init__(self) -> None:
        """Checks the names.

        Raises:
            FreezerError: the package has another ending than torch accepts, or a text is given where names are due.
        """
        if self.package and not str(self.package).endswith(".pt2"):
            raise FreezerError(f"package={str(self.package)!r}: torch writes packages with the ending .pt2 only")
        _check_names("disabled_passes", self.disabled_passes)


CompileOptions = InductorOptions | AOTInductorOptions
"""The options of Inductor, in the process or ahead of time."""

ProcessOptions = TorchScriptOptions | InductorOptions
"""The options of the backends whose result lives in the process, so that it can be checked and its passes be run."""

Options = TorchScriptOptions | InductorOptions | AOTInductorOptions
"""The options of any backend."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Options of the measurements of each step that can be run.

    Attributes:
        latency: whether to time each step; with Inductor also each kernel, with freezing and without.
        numerics: whether to compare its outputs with eager's.
        memory: whether to count the bytes of its constants.
        devices: where to take latencies, by default where the model is. A frozen module runs where its constants
            are, so any other device is named in a notice and left out.
        seconds: time to spend on latencies per device, in s, warm-up apart; up to twice that if the rounds
            differ much, and more where ten rounds take longer.
        threads: intra-op threads to measure with, ``None`` for torch's setting; restored afterwards.
        input_sets: how many inputs to measure numeric errors on: the given ones, and generated ones of the same shapes
            and dtypes beyond the first.
        values: whether the trace keeps numbers of weights and constants: histograms, zeros, the first elements.
            Without, it keeps smallest, largest, mean and standard deviation only.
        runtime: whether to look at the graph that TorchScript's executor makes of the frozen module after warm-up; with
            ``latency`` also at its kernels' share of the time.
    """

    latency: bool = option(
        True, "switch", "Latency", "of every step that can be run, with intervals", no_help="measure no latency"
    )
    numerics: bool = option(
        True,
        "switch",
        "Numeric errors",
        "how far the outputs of every step are from eager's",
        no_help="measure no numeric errors",
    )
    memory: bool = option(True, "switch", "Memory", "bytes of the constants", no_help="measure no memory")
    devices: tuple[str, ...] = ()
    seconds: float = option(
        12.0,
        "seconds",
        "Seconds for latencies",
        "time to spend on latencies per device, warm-up apart; up to twice that on a busy machine, "
        "and more if ten rounds take longer",
        needs="latency",
    )
    threads: int | None = option(None, "count", "Threads", "threads to measure with on the CPU", empty="torch's")
    input_sets: int = option(
        3,
        "count",
        "Sets of inputs",
        "inputs to measure numeric errors on: the given ones, and generated ones like them",
        needs="numerics",
    )
    values: bool = option(
        True,
        "switch",
        "Values of weights",
        "histogram, zeros and first numbers of each weight and constant, kept in the trace",
        no_help="leave histograms, counts of zeros and first numbers of weights out of the trace",
    )
    runtime: bool = option(
        True,
        "switch",
        "Executor's graph",
        "what TorchScript's executor makes of the frozen module after warm-up, and its kernels' share of the time",
        no_help="do not record the graph that TorchScript's executor makes of the frozen module",
    )

    def __post_init__(self) -> None:
        """Checks the numbers.

        Raises:
            FreezerError: one is too small, or a text is given where devices are due.
        """
        _check_names("devices", self.devices)
        if not 0 <= self.seconds < float("inf"):
            raise FreezerError(f"seconds={self.seconds}: it must be a time, such as 12.0")
        for name, value in (("threads", self.threads), ("input_sets", self.input_sets)):
            if value is not None and value < 1:
                raise FreezerError(f"{name}={value}: it must be at least 1")


def unmeasured(asked: Measure) -> Measure | None:
    """Returns the options of a recording that measures nothing; `Measure.values` holds for it all the same.

    Args:
        asked: the options as they were given.
    """
    return None if asked.values else Measure(latency=False, numerics=False, memory=False, values=False, runtime=False)


@dataclass(frozen=True, slots=True)
class ModuleOptions:
    """Options of how `record` prepares and names a module.

    Attributes:
        via: how an `nn.Module` gets into TorchScript.
        check_inputs: further inputs to trace with.
        name: the model's name, ``None`` for its class's.
        call: the call or command to show in the trace.
        checks: the checks to run on the frozen module.
        ablation: whether to measure what each pass contributes on its own.
        float_model: the module that a quantised module was made from, to compare its layers with.
    """

    via: Literal["script", "trace"] = "script"
    check_inputs: tuple[tuple[object, ...], ...] = ()
    name: str | None = None
    call: str | None = None
    checks: tuple[CheckName, ...] = ()
    ablation: bool = False
    float_model: Any = None

    def __post_init__(self) -> None:
        """Checks ``via``.

        Raises:
            FreezerError: there is no such way into TorchScript.
        """
        if self.via not in ("script", "trace"):
            raise FreezerError(f"via={self.via!r}: a module gets into TorchScript by 'script' or 'trace'")


BACKEND_OPTIONS: Final[Mapping[str, type[TorchScriptOptions] | type[InductorOptions] | type[AOTInductorOptions]]] = {
    "torchscript": TorchScriptOptions,
    "inductor": InductorOptions,
    "aotinductor": AOTInductorOptions,
}
"""The options class of each backend."""


def _check_names(option: str, names: object) -> None:
    if isinstance(names, str):
        raise FreezerError(f"{option}={names!r} is a text: pass a tuple, {option}=({names!r},)")
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
        raise FreezerError(f"{option}={names!r} is not a tuple of names: pass one such as {option}=('a.b',)")
