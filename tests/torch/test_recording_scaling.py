"""Recording takes time in proportion to what it records, whatever a model has many of: no analysis walks every path.

Calls of functions are counted, not seconds, and held against the nodes of all recorded graphs. The paths through a
graph double with every layer that joins two values; the nodes do not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import freeze_engine as fe

_SIZES = (6, 24)
_MOST = 1.5


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1, bias=False)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu(x + self.bn(self.conv(x)))


class Halved(nn.Module):
    """Both halves of an addition come from the same value, through operators that no fold takes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sigmoid() + x.tanh() * x


class Dense(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(count))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = [x]
        for layer in self.layers:
            seen.append(layer(torch.stack(seen).sum(0)))
        return seen[-1]


class Branch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool(x.sum() > 0):
            y = x * self.weight
        else:
            y = x + self.seen
            self.seen.add_(1)
        return y + x


class Viewed(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.register_buffer("base", torch.zeros(count, 4))
        self.rows = count

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = [x]
        for row in range(self.rows):
            rows.append(rows[-1] + self.base[row])
        for row in rows:
            row.add_(1)
        return torch.stack(rows)


class Forked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        waiting = torch.jit.fork(self.linear, x)
        return torch.jit.wait(waiting) + x


def _times(layer: Callable[[], nn.Module]) -> Callable[[int], nn.Module]:
    return lambda count: nn.Sequential(*(layer() for _ in range(count)))


_MODELS: dict[str, Callable[[int], nn.Module]] = {
    "residual": _times(Residual),
    "halved": _times(Halved),
    "dense": Dense,
    "branches": _times(Branch),
    "views": Viewed,
    "forks": _times(Forked),
}


@contextmanager
def _counted() -> Iterator[list[int]]:
    found = [0]

    def profile(frame: Any, event: str, argument: object) -> None:
        found[0] += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield found
    finally:
        sys.setprofile(before)


def _calls_per_node(model: nn.Module) -> float:
    scripted = torch.jit.script(model.eval())
    with _counted() as calls, fe.capture() as captured:
        torch.jit.freeze(scripted)
        (trace,) = captured.traces
    assert fe.problems(trace) == ()
    return calls[0] / sum(1 for step in trace.steps for _ in step.graph.walk())


@pytest.mark.parametrize("kind", _MODELS)
def test_more_layers_take_no_more_calls_for_each_node(kind: str) -> None:
    make = _MODELS[kind]
    _calls_per_node(make(2))  # what is worked out once per process
    few, many = (_calls_per_node(make(size)) for size in _SIZES)
    assert many < _MOST * few
