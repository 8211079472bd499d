"""Measures the cost of recording a compile: `capture()` around `torch.compile` with freezing, against a plain one.

Run from the project's root: ``python -m benchmarks.inductor [ROUNDS]``; a round takes about a minute, so this is not
part of ``python -m benchmarks``. Every compile has a process of its own with empty caches; plain and captured ones
alternate, and the ratio is taken round by round. As the ratio contains the noise of two whole compiles, the benchmark
also prints the time of the graph snapshots, which are nearly all of the recorder's work meanwhile. Memory is measured
in a separate compile, since tracing allocations slows Python down.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np

from freeze_engine.measure.statistics import compare

GOAL = 1.05
MODEL = "resnet18"

_COMPILE = """
import contextlib, json, os, sys, time, tracemalloc
import torch, torch._inductor.compile_fx
import freeze_engine as fe
from freeze_engine.backends.inductor.capture import pass_observer as observation
from freeze_engine.backends.inductor.graph.rows import TensorRef
model = fe.load_model("example:" + sys.argv[1])
torch._inductor.config.freezing = True
torch._inductor.config.compile_threads = 1
torch.set_num_threads(1)
def cpu_s():
    found = os.times()
    return found.user + found.system + found.children_user + found.children_system
# What is imported at the first compile is no part of it.
with torch.no_grad():
    torch.compile(torch.nn.Linear(2, 2).eval())(torch.ones(1, 2))
snapshots_s = 0.0
take = observation.take
def timed(*args):
    global snapshots_s
    began = time.perf_counter()
    try:
        return take(*args)
    finally:
        snapshots_s += time.perf_counter() - began
observation.take = timed
if sys.argv[2] == "weighed":
    tracemalloc.start()
with fe.capture() if sys.argv[2] != "plain" else contextlib.nullcontext() as captured, torch.no_grad():
    wall, cpu = time.perf_counter(), cpu_s()
    torch.compile(model.module)(*model.inputs.args)
    wall, cpu = time.perf_counter() - wall, cpu_s() - cpu
found = {"wall": wall, "cpu": cpu, "snapshots": snapshots_s}
if sys.argv[2] == "weighed":
    ours = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/freeze_engine/*")])
    tracemalloc.stop()
    own = {tensor.untyped_storage().data_ptr() for tensor in model.module.state_dict().values()}
    (compiled,) = captured._compiles.compiles
    refs = {row.value for step in compiled.steps for row in step.graph.rows if isinstance(row.value, TensorRef)}
    kept = {ref._kept.untyped_storage() for ref in refs if ref._kept is not None}
    found["python_bytes"] = sum(each.size for each in ours.statistics("filename"))
    found["constant_bytes"] = sum(each.nbytes() for each in kept if each.data_ptr() not in own)
    found["model_bytes"] = sum(tensor.nbytes for tensor in model.module.state_dict().values())
begun = time.perf_counter()
found["steps"] = len(captured.traces[0].steps) if captured else 0
found["built"] = time.perf_counter() - begun
print(json.dumps(found))
"""


def _compiled(how: str) -> dict[str, float]:
    """Returns the figures of one compile: wall-clock and processor time in s, and facts about its trace."""
    with tempfile.TemporaryDirectory() as caches:
        environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": caches}
        command = [sys.executable, "-W", "ignore", "-c", _COMPILE, MODEL, how]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(rounds: int = 7) -> None:
    """Prints the ratios.

    Args:
        rounds: pairs of compiles; an interval needs at least 6.
    """
    plain: list[dict[str, float]] = []
    captured: list[dict[str, float]] = []
    for number in range(rounds):
        pair = [("plain", plain), ("captured", captured)]
        for how, found in pair if number % 2 else reversed(pair):
            found.append(_compiled(how))
    print(f"capture() around torch.compile of {MODEL} with freezing, {rounds} rounds (goal: at most {GOAL} × plain)")
    for key, what in (("wall", "by the clock"), ("cpu", "of processor time")):
        one, other = (np.array([each[key] for each in times]) for times in (captured, plain))
        ratio = compare(one, other).ratio
        told = f"{ratio.value:.3f} × (95% interval {ratio.low:.3f} to {ratio.high:.3f})"
        print(f"  plain {statistics.median(other):5.1f} s {what:<18} captured {told}")
    share = statistics.median(each["snapshots"] / each["wall"] for each in captured)
    taken, built = (statistics.median(each[key] for each in captured) for key in ("snapshots", "built"))
    print(f"  of it snapshots of the graphs: {taken * 1e3:.0f} ms, {share:.1%} of the compile")
    print(f"  {captured[0]['steps']:.0f} steps, their trace put together afterwards in {built:.1f} s")
    _print_memory(_compiled("weighed"))


def _print_memory(found: dict[str, float]) -> None:
    total = found["python_bytes"] + found["constant_bytes"]
    print(
        f"  kept for all steps: {found['python_bytes'] / 1e6:.1f} MB of nodes and names, "
        f"{found['constant_bytes'] / 1e6:.2f} MB of small constants; {total / found['model_bytes']:.1%} of the model's "
        f"{found['model_bytes'] / 1e6:.0f} MB, whose weights all steps share"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
