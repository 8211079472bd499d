"""What captures hold in memory, beside the frozen modules that the user holds anyway.

Run from the project's root: ``python -m benchmarks.memory [FREEZES]``. All is held that is made: first of plain
freezes, then of captured ones, then their traces instead of what they were read from.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import sys
import warnings
from pathlib import Path

import torch

import freeze_engine as fe
from freeze_engine.backends.torchscript.deprecation import undeprecated

MODELS = ("resnet50", "inception")


def _resident_bytes() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _captured(module: torch.jit.ScriptModule) -> tuple[fe.Captured, torch.jit.ScriptModule]:
    with fe.capture() as captured:
        frozen = torch.jit.freeze(module)
    return captured, frozen


def main(freezes: int = 8) -> None:
    """Prints a line per model."""
    print(
        f"memory of a capture around torch.jit.freeze, of {freezes} that are all held (goal: at most 5% of the model)"
    )
    for name in MODELS:
        with undeprecated():
            module = torch.jit.script(fe.load_model(f"example:{name}").module)
        weights = sum(tensor.nbytes for tensor in module.state_dict().values())
        _captured(module)[0].traces  # noqa: B018, what is loaded once is not counted
        marks = [_resident_bytes()]
        plain = [torch.jit.freeze(module) for _ in range(freezes)]
        marks.append(_resident_bytes())
        held = [_captured(module) for _ in range(freezes)]
        marks.append(_resident_bytes())
        steps = sum(len(captured.traces[0].steps) for captured, _ in held) // len(held)
        marks.append(_resident_bytes())
        frozen, recorded, traced = ((after - before) / freezes for before, after in itertools.pairwise(marks))
        print(
            f"  {name:<12}{recorded / 1e6 - frozen / 1e6:6.1f} MB until its trace is read, "
            f"{(recorded - frozen) / weights:.1%} of the model's {weights / 1e6:.0f} MB; afterwards "
            f"{(recorded + traced - frozen) / 1e6:.1f} MB for a trace of {steps} steps"
        )
        del plain, held


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    main(*map(int, sys.argv[1:]))
