"""What a recording is asked to do; plain data, free of torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

Progress = Callable[[str, int, int], None]
"""Called as ``progress(message, done, total)``; ``done`` and ``total`` count units of one phase."""


Mode = Literal["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]
"""A mode of ``torch.compile``."""

COMPILE_MODES: Final[tuple[Mode, ...]] = get_args(Mode)

CheckName = Literal["stale_weights"]
CHECKS: Final[tuple[CheckName, ...]] = get_args(CheckName)
"""What can be asked of a frozen module, see `freeze_engine.checks`."""


@dataclass(frozen=True, slots=True)
class TorchScriptOptions:
    """How to freeze with TorchScript.

    Attributes:
        preserved_attrs: attributes and methods to preserve, dotted for those of submodules (``torch.jit.freeze``).
        optimize_numerics: whether to run the passes that may change numbers in the last digits, such as conv-batchnorm
            folding.
        optimize_for_inference: whether to run ``torch.jit.optimize_for_inference`` afterwards.
        other_methods: methods besides ``forward`` to preserve and to optimise for inference.
        without: names of passes to leave out, of those after ``torch._C._freeze_module``, in every round.
    """

    preserved_attrs: tuple[str, ...] = ()
    optimize_numerics: bool = True
    optimize_for_inference: bool = False
    other_methods: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InductorOptions:
    """How to compile with Inductor freezing.

    Attributes:
        mode: of ``torch.compile``.
        dynamic: whether sizes are symbols from the start (``True``), never (``False``), or once they change (``None``).
        fullgraph: whether a graph break is an error.
        discard_parameters: whether the original module gives up its parameters (``freezing_discard_parameters``).
        max_autotune: whether to choose kernels by running them.
        force_disable_caches: whether to compile anew what Inductor's caches have; with caches, a hit skips the passes
            after freezing.
        without: names of passes to leave out, in every round: freezing's own, pattern groups, and the joint-graph and
            post-grad passes that torch names.
    """

    mode: Mode | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    discard_parameters: bool = False
    max_autotune: bool | None = None
    force_disable_caches: bool = False
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measure:
    """What to measure of each step that can be run.

    Attributes:
        latency: how long it takes.
        numerics: how far its outputs are from eager's.
        memory: how many bytes its constants take.
        devices: where to take latencies, by default where the model is. A frozen module runs where its constants
            are, so any other device is named in a notice and left out.
        seconds: time to spend on latencies per device, in s, warm-up apart.
    """

    latency: bool = True
    numerics: bool = True
    memory: bool = True
    devices: tuple[str, ...] = ()
    seconds: float = 12.0


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """How `record` brings a module to the freeze, and what it calls it.

    Attributes:
        via: how an `nn.Module` gets into TorchScript.
        check_inputs: further inputs to trace with.
        name: the model's name, ``None`` for its class's.
        call: the call or command to show in the trace.
        checks: what to ask of the frozen module afterwards.
        ablation: whether to find out what each pass contributes on its own.
    """

    via: Literal["script", "trace"] = "script"
    check_inputs: tuple[tuple[object, ...], ...] = ()
    name: str | None = None
    call: str | None = None
    checks: tuple[CheckName, ...] = ()
    ablation: bool = False
