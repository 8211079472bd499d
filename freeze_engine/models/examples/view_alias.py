"""A write through a view keeps the buffer it is a view of."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from freeze_engine.requests.inputs import Inputs


class RowCache(nn.Module):
    """Writes what it computes into the first row of a cache, two views away from the buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.cache = nn.Buffer(torch.zeros(4, 2, 8))
        self.scale = nn.Buffer(torch.rand(8))

    def forward(self, x: Tensor) -> Tensor:
        """Maps (8,) to (8,); overwrites ``cache[0, 1]``."""
        y = self.linear(x) * self.scale
        row = self.cache[0]
        last = row.select(0, 1)
        last.copy_(y)
        return self.cache.sum((0, 1))


def build() -> tuple[nn.Module, Inputs]:
    """Returns the cache and one vector."""
    return RowCache(), Inputs((torch.randn(8),))
