"""Measures a whole recording with Inductor: `fe.record` without measurements, with its trace, against a plain compile.

Run from the project's root: ``python -m benchmarks.inductor_recording [ROUNDS [MODEL ...]]``; a round of all models
takes some minutes, so this is not part of ``python -m benchmarks``. Every compile has a process of its own with empty
caches; plain and recorded ones alternate, and the ratio is taken round by round, on the clock of the processors. What
is imported at the first compile is part of neither.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile

GOAL = 1.1
MODELS = ("mlp", "resnet18", "resnet50", "encoder6")

_COMPILE = """
import json, os, sys
import torch, torch._inductor.compile_fx
import freeze_engine as fe
from benchmarks.encoder import encoder
name, how = sys.argv[1:]
torch._inductor.config.compile_threads = 1
torch.set_num_threads(1)
def cpu_s():
    found = os.times()
    return found.user + found.system + found.children_user + found.children_system
def made(name):
    if name.startswith("encoder"):
        return encoder(int(name.removeprefix("encoder"))), torch.rand(1, 16, 64)
    if name == "mlp":
        layers = [torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)]
        return torch.nn.Sequential(*layers).eval(), torch.rand(4, 64)
    loaded = fe.load_model("example:" + name)
    return loaded.module, loaded.inputs.args[0]
def recorded(model, given):
    return len(fe.record(model, given, backend="inductor", measure=None).trace.steps)
def plain(model, given):
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        torch.compile(model)(given)
    return 0
run = recorded if how == "recorded" else plain
run(torch.nn.Linear(2, 2).eval(), torch.ones(1, 2))
torch._dynamo.reset()
model, given = made(name)
began = cpu_s()
steps = run(model, given)
print(json.dumps({"cpu": cpu_s() - began, "steps": steps}))
"""


def _compiled(model: str, how: str) -> dict[str, float]:
    """Returns processor time in s and the number of steps of one compile."""
    with tempfile.TemporaryDirectory() as caches:
        environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": caches}
        command = [sys.executable, "-W", "ignore", "-c", _COMPILE, model, how]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(rounds: int = 3, *models: str) -> None:
    """Prints a line per model.

    Args:
        rounds: pairs of compiles.
        models: names; by default all.
    """
    print(f"fe.record(backend='inductor', measure=None) and the plain compile, {rounds} rounds (goal: {GOAL} × plain)")
    for model in models or MODELS:
        pairs = []
        for number in range(rounds):
            ways = ("plain", "recorded") if number % 2 else ("recorded", "plain")
            found = {how: _compiled(model, how) for how in ways}
            pairs.append((found["plain"]["cpu"], found["recorded"]["cpu"]))
        ratios = [recorded / plain for plain, recorded in pairs]
        print(
            f"  {model:<10} plain {statistics.median(plain for plain, _ in pairs):5.1f} s   recorded "
            f"{statistics.median(ratios):.2f} × ({min(ratios):.2f} to {max(ratios):.2f}), "
            f"{found['recorded']['steps']:.0f} steps",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, *sys.argv[2:])
