"""Records how PyTorch freezes a model, pass by pass, as plain data that opens without torch.

Everything public is reachable from here and loaded on first use, so that importing this package costs
nothing and never imports torch until something is recorded.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freeze_engine.errors import (
        FreezerError,
        InvalidTraceError,
        MeasureError,
        ModelSpecError,
        TraceFileError,
        UnsupportedTorchError,
    )
    from freeze_engine.serde import SCHEMA_VERSION, load, save
    from freeze_engine.verify import check_trace

_EXPORTS = {
    "freeze_engine.errors": (
        "FreezerError",
        "InvalidTraceError",
        "MeasureError",
        "ModelSpecError",
        "TraceFileError",
        "UnsupportedTorchError",
    ),
    "freeze_engine.trace": (
        "AliasAnalysis",
        "AliasEntry",
        "AttributeFate",
        "Baseline",
        "Block",
        "ChainLink",
        "Constant",
        "Environment",
        "Evidence",
        "Failure",
        "GraphSnapshot",
        "InputSpec",
        "Interval",
        "Latency",
        "Location",
        "NearMiss",
        "Node",
        "Notice",
        "Numerics",
        "OutputError",
        "Rewrite",
        "SourceLines",
        "SourceRef",
        "Step",
        "Trace",
        "Value",
        "Write",
        "graph_lines",
        "node_line",
    ),
    "freeze_engine.options": ("Measure", "Progress", "TorchScriptOptions"),
    "freeze_engine.inputs": ("Inputs", "parse_input"),
    "freeze_engine.models": ("LoadedModel", "load_model", "make_inputs"),
    "freeze_engine.session": ("Captured", "Recording", "capture", "partial_trace", "record"),
    "freeze_engine.serde": ("SCHEMA_VERSION", "load", "save"),
    "freeze_engine.verify": ("check_trace",),
    "freeze_engine.diff": ("GraphDiff", "diff_snapshots"),
    "freeze_engine.metrics": ("StepMetrics", "step_metrics"),
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
