"""The kinds of changes between two sweeps."""

from __future__ import annotations

from typing import Final, Literal

ChangeKind = Literal[
    "freeze", "accuracy", "attributes", "graph_breaks", "latency", "checks", "bytes", "near_misses", "notices"
]
"""What changed, in the order of how much it hurts."""

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
