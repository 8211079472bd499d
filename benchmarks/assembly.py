"""Measures the cost of a whole recording: a capture and its trace, against the same freeze without either.

Run from the project's root: ``python -m benchmarks.assembly [ROUNDS]``; it takes minutes, so it is not part of
``python -m benchmarks``. Plain and recorded freezes alternate in one process, on the processor's clock, and the ratio
is taken round by round. The encoders tell whether the cost grows as the graph does: then a node costs the same.
DenseNet-201 is there where torchvision is installed. Memory is what the process takes at most, beyond what it took
before; the parts are the capture alone, its weights' summaries and the rest.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator

import torch

import freeze_engine as fe
from benchmarks.encoder import encoder
from freeze_engine.measure.peak_memory import peak_memory
from freeze_engine.tensors.constants import StorageNames, constant_of
from freeze_engine.trace import Trace

LAYERS = (12, 48, 200)
_KEPT: list[torch.library.Library] = []
"""Libraries of operators, which torch forgets with the object."""

GOALS = "goals: 5 × plain at 1,800 nodes, 8 × at 7,000"


def _models() -> Iterator[tuple[str, torch.nn.Module]]:
    yield "resnet50", fe.load_model("example:resnet50").module
    densenet = _densenet()
    if densenet is not None:
        yield "densenet201", densenet
    for layers in LAYERS:
        yield f"encoder, {layers} layers", encoder(layers)


def _densenet() -> torch.nn.Module | None:
    """Returns DenseNet-201, ``None`` without torchvision."""
    # A torchvision that was built for another torch lacks operators, of which it describes some.
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        with contextlib.suppress(RuntimeError):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _KEPT.append(library)
    try:
        models = importlib.import_module("torchvision.models")
    except (ImportError, RuntimeError):
        return None
    model: torch.nn.Module = models.densenet201().eval()
    return model


def _timed_s(action: Callable[[], object]) -> float:
    gc.collect()
    started = time.process_time()
    action()
    return time.process_time() - started


def _captured(module: torch.jit.ScriptModule) -> fe.Captured:
    with fe.capture() as captured:
        torch.jit.freeze(module)
    return captured


def _recorded(module: torch.jit.ScriptModule) -> Trace:
    (trace,) = _captured(module).traces
    return trace


def _peak_mb(action: Callable[[], object]) -> float:
    gc.collect()
    with peak_memory() as peak:
        action()
    return (peak.nbytes or 0) / 1e6


def _summaries_s(trace: Trace, module: torch.jit.ScriptModule) -> float:
    """Returns the time to describe tensors as large as those of the trace: the module's, and those that folds made."""
    tensors = list(module.state_dict().values())
    made = {
        node.constant.digest: node.constant
        for node in trace.steps[-1].graph.walk()
        if node.constant is not None and "fused" in node.id
    }
    tensors += [torch.rand(constant.shape) for constant in made.values()]
    storages = StorageNames(holding=True, keeping_values=True)
    return _timed_s(lambda: [constant_of(tensor.detach(), storages) for tensor in tensors])


def main(rounds: int = 7) -> None:
    """Prints two lines per model."""
    warnings.simplefilter("ignore", DeprecationWarning)
    torch.set_num_threads(1)
    print(f"torch.jit.freeze with capture() and its trace, {rounds} rounds, one thread ({GOALS})")
    for name, model in _models():
        _measure(name, torch.jit.script(model), rounds)


def _measure(name: str, module: torch.jit.ScriptModule, rounds: int) -> None:
    trace = _recorded(module)
    nodes = max(sum(1 for _ in step.graph.walk()) for step in trace.steps)
    summaries_s = _summaries_s(trace, module)
    del trace
    plain_mb, recorded_mb = _peak_mb(lambda: torch.jit.freeze(module)), _peak_mb(lambda: _recorded(module))
    times: dict[str, list[float]] = {"plain": [], "captured": [], "recorded": []}
    actions: dict[str, Callable[[], object]] = {
        "plain": lambda: torch.jit.freeze(module),
        "captured": lambda: _captured(module),
        "recorded": lambda: _recorded(module),
    }
    for number in range(rounds):
        for kind in actions if number % 2 else reversed(actions):
            times[kind].append(_timed_s(actions[kind]))
    ratios = [one / other for one, other in zip(times["recorded"], times["plain"], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    plain_s, captured_s, recorded_s = (statistics.median(each) for each in times.values())
    print(
        f"  {name:<20}{nodes:6,} nodes   plain {plain_s * 1e3:5.0f} ms   recorded {middle:4.1f} × "
        f"(middle half of the rounds {low:.1f} to {high:.1f}), {recorded_s / nodes * 1e6:.0f} µs a node\n"
        f"  {'':<20}capture alone {captured_s / plain_s:.1f} ×, summaries of tensors {summaries_s / plain_s:.1f} ×   "
        f"peak of memory: plain {plain_mb:.0f} MB, recorded {recorded_mb:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
