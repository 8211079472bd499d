"""Measures size, save, load and check time of a trace file, next to `json.loads` of the same payload.

Run from the project's root: ``python -m benchmarks.trace_file [NODES] [STEPS]``.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from freeze_engine.serde import load, save
from freeze_engine.trace.validation import check_trace
from tests.synthetic import synthetic_trace

_ROUNDS = 5
_HEADER_BYTES = 60


def _best_s(action: Callable[[], object]) -> float:
    """Returns the shortest of several runs, which a busy machine disturbs least."""
    times = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def main(nodes: int = 10_000, steps: int = 30) -> None:
    """Prints one line per network shape."""
    goals = "goals: 10,000 × 30 in 3 MB, loaded and checked in 1 s, 50,000 × 30 in 3 s"
    print(f"trace file, {nodes:,} nodes × {steps} steps ({goals})")
    shapes: tuple[Literal["resnet", "transformer"], ...] = ("resnet", "transformer")
    for shape in shapes:
        trace = synthetic_trace(nodes, steps, shape)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "trace.fztrace"
            save_s = _best_s(partial(save, trace, path))
            load_s = _best_s(partial(load, path))
            size_bytes = path.stat().st_size
            payload = zlib.decompress(path.read_bytes()[_HEADER_BYTES:])
        json_s = _best_s(partial(json.loads, payload))
        check_s = _best_s(partial(check_trace, trace))
        print(
            f"  {shape:<12}{size_bytes / 1e6:6.2f} MB   save {save_s:.2f} s   load {load_s:.2f} s"
            f" ({load_s / json_s:.1f} × json.loads)   check {check_s:.2f} s"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
