"""What recording costs a compile: `capture()` around `torch.compile` with freezing, against the same without it.

Run from the project's root: ``python -m benchmarks.inductor [ROUNDS]``; a round takes about a minute, so this is not
part of ``python -m benchmarks``. Every compile has a process of its own with empty caches; plain and captured ones take
turns, and the ratio is taken round by round.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile

GOAL = 1.05
MODEL = "resnet18"

_COMPILE = """
import contextlib, json, os, sys, time
import torch, torch._inductor.compile_fx
import freeze_engine as fe
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
with fe.capture() if sys.argv[2] == "captured" else contextlib.nullcontext() as captured, torch.no_grad():
    wall, cpu = time.perf_counter(), cpu_s()
    torch.compile(model.module)(*model.inputs.args)
    wall, cpu = time.perf_counter() - wall, cpu_s() - cpu
begun = time.perf_counter()
steps = len(captured.traces[0].steps) if captured else 0
print(json.dumps([wall, cpu, time.perf_counter() - begun, steps]))
"""


def _compiled(how: str) -> list[float]:
    """Returns the seconds by the clock and of the processor, those to put the trace together, and its steps."""
    with tempfile.TemporaryDirectory() as caches:
        environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": caches}
        command = [sys.executable, "-W", "ignore", "-c", _COMPILE, MODEL, how]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(rounds: int = 5) -> None:
    """Prints the ratios.

    Args:
        rounds: pairs of compiles.
    """
    plain: list[list[float]] = []
    captured: list[list[float]] = []
    for number in range(rounds):
        pair = [("plain", plain), ("captured", captured)]
        for how, found in pair if number % 2 else reversed(pair):
            found.append(_compiled(how))
    print(f"capture() around torch.compile of {MODEL} with freezing, {rounds} rounds (goal: at most {GOAL} × plain)")
    for index, what in enumerate(("by the clock", "of processor time")):
        ratios = sorted(one[index] / other[index] for one, other in zip(captured, plain, strict=True))
        middle = statistics.median(other[index] for other in plain)
        told = f"{statistics.median(ratios):.3f} × (from {ratios[0]:.3f} to {ratios[-1]:.3f})"
        print(f"  plain {middle:5.1f} s {what:<18} captured {told}")
    built = statistics.median(one[2] for one in captured)
    print(f"  {captured[0][3]:.0f} steps, their trace put together afterwards in {built:.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
