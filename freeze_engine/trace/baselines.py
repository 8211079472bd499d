"""Names of baselines: the ways to run a model that its steps are compared with."""

from __future__ import annotations

from typing import Final

EAGER: Final = "eager"
SCRIPTED: Final = "scripted"
COMPILED_UNFROZEN: Final = "compiled"
"""``torch.compile`` without freezing."""
COMPILED_FROZEN: Final = "compiled with freezing"
PACKAGED: Final = "AOTInductor package"
"""The package that was compiled ahead of time, loaded."""
TORCHSCRIPT_FROZEN: Final = "TorchScript frozen"
TORCHSCRIPT_OPTIMIZED: Final = "TorchScript optimized for inference"

BASELINES: Final = (
    EAGER,
    SCRIPTED,
    COMPILED_UNFROZEN,
    COMPILED_FROZEN,
    PACKAGED,
    TORCHSCRIPT_FROZEN,
    TORCHSCRIPT_OPTIMIZED,
)
"""All names that recordings give to a `freeze_engine.trace.Baseline`; the compiled ones also name programs."""


def result_baseline(backend: str) -> str:
    """Returns the baseline that is the result of a freeze by Inductor.

    Args:
        backend: of the trace.
    """
    return PACKAGED if backend == "aotinductor" else COMPILED_FROZEN
