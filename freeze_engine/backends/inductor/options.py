"""How a recording of Inductor is asked for; plain data, free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
    """

    mode: Literal["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"] | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    discard_parameters: bool = False
    max_autotune: bool | None = None
    force_disable_caches: bool = False
