"""Measures the memory of a capture, before and after its trace is read.

Run from the project's root: ``python -m benchmarks.memory [ROUNDS]``. The figure is the resident memory of the process,
C++'s included, after free pages are returned. Each round keeps some plain freezes and then as many captured ones; the
difference belongs to the captures, as the user holds weights and frozen modules anyway. Then the round reads their
traces, after which a capture holds nothing else.
"""

from __future__ import annotations

import ctypes
import gc
import os
import statistics
import sys
import warnings
from pathlib import Path

import torch

import freeze_engine as fe
from freeze_engine.backends.common.deprecation import undeprecated

MODELS = ("resnet50", "inception")
GOAL = 0.05
#: Freezes kept at once: Python's memory grows by a megabyte at a time.
_HELD = 2


def _resident_bytes() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _captured(module: torch.jit.ScriptModule) -> tuple[fe.Captured, torch.jit.ScriptModule]:
    with fe.capture() as captured:
        frozen = torch.jit.freeze(module)
    return captured, frozen


def _round(module: torch.jit.ScriptModule) -> tuple[float, float]:
    """Returns the bytes that a capture holds before its trace is read, and afterwards."""
    start = _resident_bytes()
    plain = [torch.jit.freeze(module) for _ in range(_HELD)]
    plain_bytes = _resident_bytes() - start
    captured = [_captured(module) for _ in plain]
    captured_bytes = _resident_bytes() - start - 2 * plain_bytes
    for each, _ in captured:
        each.traces  # noqa: B018, reading builds the trace
    return captured_bytes / _HELD, (_resident_bytes() - start - 2 * plain_bytes) / _HELD


def main(rounds: int = 3) -> None:
    """Prints one line per model."""
    warnings.simplefilter("ignore", DeprecationWarning)
    print(
        f"memory that a capture around torch.jit.freeze holds, median and range of {rounds} rounds with {_HELD} each "
        f"(goal: at most {GOAL:.0%} of the model)"
    )
    for name in MODELS:
        with undeprecated():
            module = torch.jit.script(fe.load_model(f"example:{name}").module)
        weights = sum(tensor.nbytes for tensor in module.state_dict().values())
        _round(module)  # excludes what is loaded only once
        kept, read = zip(*(_round(module) for _ in range(rounds)), strict=True)
        print(f"  {name:<12}until its trace is read {_spelt(kept, weights)}   afterwards {_spelt(read, weights)}")


def _spelt(taken: tuple[float, ...], weights: int) -> str:
    middle = statistics.median(taken)
    return (
        f"{middle / 1e6:.1f} MB ({min(taken) / 1e6:.1f} to {max(taken) / 1e6:.1f}), "
        f"{middle / weights:.1%} of {weights / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
