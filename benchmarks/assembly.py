"""Measures the cost of a whole recording: a capture and its trace, against the same freeze without either.

Run from the project's root: ``python -m benchmarks.assembly [ROUNDS]``; it takes minutes, so it is not part of
``python -m benchmarks``. Plain and recorded freezes alternate in one process, on the processor's clock, and the ratio
is taken round by round. The encoders tell whether the cost grows as the graph does: then a node costs the same.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator

import torch

import freeze_engine as fe
from benchmarks.encoder import encoder
from freeze_engine.trace import Trace

LAYERS = (12, 48, 120)
GOALS = "goals: 5 × plain at 1,800 nodes, 8 × at 7,000"


def _models() -> Iterator[tuple[str, torch.nn.Module]]:
    yield "resnet50", fe.load_model("example:resnet50").module
    for layers in LAYERS:
        yield f"encoder, {layers} layers", encoder(layers)


def _timed_s(action: Callable[[], object]) -> float:
    gc.collect()
    started = time.process_time()
    action()
    return time.process_time() - started


def _recorded(module: torch.jit.ScriptModule) -> Trace:
    with fe.capture() as captured:
        torch.jit.freeze(module)
    (trace,) = captured.traces
    return trace


def main(rounds: int = 7) -> None:
    """Prints one line per model."""
    warnings.simplefilter("ignore", DeprecationWarning)
    torch.set_num_threads(1)
    print(f"torch.jit.freeze with capture() and its trace, {rounds} rounds, one thread ({GOALS})")
    for name, model in _models():
        module = torch.jit.script(model)
        trace = _recorded(module)
        nodes = max(sum(1 for _ in step.graph.walk()) for step in trace.steps)
        del trace
        plain_s: list[float] = []
        recorded_s: list[float] = []
        for number in range(rounds):
            pair = [
                (plain_s, lambda module=module: torch.jit.freeze(module)),
                (recorded_s, lambda module=module: _recorded(module)),
            ]
            for times, action in pair if number % 2 else reversed(pair):
                times.append(_timed_s(action))
        ratios = [one / other for one, other in zip(recorded_s, plain_s, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        plain_ms, each_us = statistics.median(plain_s) * 1e3, statistics.median(recorded_s) / nodes * 1e6
        print(
            f"  {name:<20}{nodes:6,} nodes   plain {plain_ms:5.0f} ms   recorded {middle:4.1f} × "
            f"(middle half of the rounds {low:.1f} to {high:.1f}), {each_us:.0f} µs a node",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
