"""The kinds of changes between two sweeps."""

from __future__ import annotations

from typing import Final, Literal

ChangeKind = Literal[
    "freeze", "accuracy", "attributes", "graph_breaks", "latency", "checks", "bytes", "near_misses", "notices"
]
"""Kinds of changes, the worst first."""

CHANGES: Final[tuple[ChangeKind, ...]] = (
    "freeze",
    "accuracy",
    "attributes",
    "graph_breaks",
    "latency",
    "checks",
    "bytes",
    "near_misses",
    "notices",
)
