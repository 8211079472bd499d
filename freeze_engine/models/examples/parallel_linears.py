"""Several linears of one input, which freezing concatenates on CUDA."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from freeze_engine.requests.inputs import Inputs


class ParallelLinears(nn.Module):
    """The query, key and value projections of an attention layer."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(64, 64)
        self.key = nn.Linear(64, 64)
        self.value = nn.Linear(64, 64)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, length, 64) to (N, length, 64)."""
        query: Tensor = self.query(x)
        key: Tensor = self.key(x)
        value: Tensor = self.value(x)
        scores = torch.softmax(query @ key.transpose(1, 2) / 8.0, dim=-1)
        return scores @ value


def build() -> tuple[nn.Module, Inputs]:
    """Returns the projections and a batch of two sequences."""
    return ParallelLinears(), Inputs((torch.randn(2, 16, 64),))
