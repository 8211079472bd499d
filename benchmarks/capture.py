"""Measures the cost of recording: `capture()` around `torch.jit.freeze` against the same freeze without it.

Run from the project's root: ``python -m benchmarks.capture [ROUNDS]``. Plain and captured freezes alternate in one
process, and the ratio is taken round by round, so that a drift of the machine affects both.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
import warnings
from collections.abc import Callable

import torch

import freeze_engine as fe

MODELS = ("resnet50", "inception")
GOAL = 1.2
_PAUSE_S = 0.4


def _timed_s(action: Callable[[], object]) -> float:
    gc.collect()
    # OpenMP's threads spin for 0.2 s after the previous run's folds, and would compete with this one.
    time.sleep(_PAUSE_S)
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _captured(module: torch.jit.ScriptModule) -> fe.Captured:
    with fe.capture() as captured:
        torch.jit.freeze(module)
    return captured


def main(rounds: int = 25) -> None:
    """Prints one line per model."""
    warnings.simplefilter("ignore", DeprecationWarning)
    print(f"capture() around torch.jit.freeze, measuring off, {rounds} rounds (goal: at most {GOAL} × plain)")
    for name in MODELS:
        module = torch.jit.script(fe.load_model(f"example:{name}").module)
        _captured(module)
        torch.jit.freeze(module)
        plain_s: list[float] = []
        captured_s: list[float] = []
        for number in range(rounds):
            pair = [
                (plain_s, lambda module=module: torch.jit.freeze(module)),
                (captured_s, lambda module=module: _captured(module)),
            ]
            for times, action in pair if number % 2 else reversed(pair):
                times.append(_timed_s(action))
        ratios = [one / other for one, other in zip(captured_s, plain_s, strict=True)]
        captured = _captured(module)
        build_s = _timed_s(lambda captured=captured: captured.traces)  # type: ignore[misc]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(
            f"  {name:<12}plain {statistics.median(plain_s) * 1e3:5.0f} ms   captured {middle:.2f} × "
            f"(middle half of the rounds {low:.2f} to {high:.2f})   trace put together afterwards in {build_s:.1f} s"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
