"""An attribute of a submodule, preserved on purpose."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from freeze_engine.requests.inputs import Inputs


class Versioned(nn.Module):
    """A linear layer with a version number that a deployment wants to read and to set."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.version = 3

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, 8) to (N, 8)."""
        if self.version >= 2:
            x = torch.relu(x)
        y: Tensor = self.linear(x)
        return y


class Model(nn.Module):
    """Holds a `Versioned` as ``sub``; to be frozen with ``preserved_attrs=["sub.version"]``."""

    def __init__(self) -> None:
        super().__init__()
        self.sub = Versioned()
        self.head = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, 8) to (N, 2)."""
        y: Tensor = self.head(self.sub(x))
        return y


def build() -> tuple[nn.Module, Inputs]:
    """Returns the model and a batch of two."""
    return Model(), Inputs((torch.randn(2, 8),))
