"""Writes the frozen models, each in the format of each viewer.

It runs in a process of its own, with torch: ``python -m benchmarks.side_by_side.models FOLDER [NAME ...]``. For each
model it writes ``NAME.pt`` (the frozen module, for Netron), ``NAME.json`` (its graph, for Model Explorer) and
``NAME.fztrace`` (the trace of the freeze with all passes, for freezer-ui).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

import freeze_engine as fe
from benchmarks.encoder import encoder
from freeze_engine import export

UNROLLED_STEPS = 4_000
"""Five nodes each."""


class Unrolled(nn.Module):
    """A recurrent network that reads a sequence; tracing unrolls its loop."""

    def __init__(self) -> None:
        super().__init__()
        self.given = nn.Linear(4, 4)
        self.kept = nn.Linear(4, 4)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        """Returns the last state for a sequence of shape [steps, batch, 4]."""
        state = torch.zeros(1, 4)
        for step in sequence:
            state = torch.tanh(self.given(step) + self.kept(state))
        return state


def _resnet50() -> torch.jit.ScriptModule:
    return torch.jit.script(fe.load_model("example:resnet50").module)


def _encoder(layers: int) -> Callable[[], torch.jit.ScriptModule]:
    return lambda: torch.jit.script(encoder(layers))


def _unrolled() -> torch.jit.ScriptModule:
    return torch.jit.trace(Unrolled().eval(), torch.rand(UNROLLED_STEPS, 1, 4), check_trace=False)


MODELS: dict[str, Callable[[], torch.jit.ScriptModule]] = {
    "resnet50": _resnet50,
    "encoder12": _encoder(12),
    "encoder48": _encoder(48),
    "encoder200": _encoder(200),
    "recurrent": _unrolled,
}


def write(name: str, folder: Path) -> None:
    """Writes one model in the three formats."""
    model = MODELS[name]()
    with fe.capture() as captured:
        frozen = torch.jit.freeze(model)
    (trace,) = captured.traces
    fe.save(trace, folder / f"{name}.fztrace")
    torch.jit.save(frozen, folder / f"{name}.pt")
    last = len(trace.steps) - 1
    (folder / f"{name}.json").write_text(json.dumps(export.model_explorer_graphs(trace, last)), encoding="utf-8")
    print(f"{name}: {sum(1 for _ in trace.steps[last].graph.walk()):,} nodes, {len(trace.steps)} steps", flush=True)


if __name__ == "__main__":
    for chosen in sys.argv[2:] or MODELS:
        write(chosen, Path(sys.argv[1]))
