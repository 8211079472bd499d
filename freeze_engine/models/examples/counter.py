"""State that a model keeps between calls stays on the frozen module."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from freeze_engine.requests.inputs import Inputs


class Counter(nn.Module):
    """A linear layer that counts its calls and keeps a running sum of its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.total = nn.Buffer(torch.zeros(8))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, 8) to (N, 4); adds to ``calls`` and ``total``."""
        self.calls += 1
        self.total.add_(x.sum(0))
        mean: Tensor = self.linear(x) / self.calls
        return mean


def build() -> tuple[nn.Module, Inputs]:
    """Returns the counter and a batch of two."""
    return Counter(), Inputs((torch.randn(2, 8),))
