"""Compiles small models, for the logs of this folder: ``python -m tests.existing.compiles frozen``."""

from __future__ import annotations

import sys
from contextlib import suppress

import torch


class Net(torch.nn.Module):
    """A convolution with its batch norm, and a linear."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn = torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8)
        self.fc = torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Runs all of them."""
        out: torch.Tensor = self.fc(self.bn(self.conv(x)).relu().mean((2, 3)))
        return out


class Breaks(torch.nn.Module):
    """Two linears with a graph break between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Runs both."""
        y = self.first(x).relu()
        torch._dynamo.graph_break()
        out: torch.Tensor = self.second(y)
        return out


def refuses(module: object, inputs: object) -> None:
    """Stands for a backend that fails."""
    raise RuntimeError("the backend fails here")


def main(kind: str) -> None:
    """Compiles a model; ``breaks`` compiles it for two sizes, ``failed`` with a backend that fails."""
    torch.manual_seed(0)
    torch._inductor.config.compile_threads = 1
    torch._inductor.config.freezing = kind in ("frozen", "breaks")
    module = (Breaks() if kind == "breaks" else Net()).eval()
    inputs = [torch.randn(2, 4), torch.randn(7, 4)] if kind == "breaks" else [torch.randn(1, 3, 8, 8)]
    compiled = torch.compile(module, backend=refuses if kind == "failed" else "inductor")
    with torch.no_grad():
        for each in inputs:
            with suppress(RuntimeError):  # the log of the failure is what is wanted
                compiled(each)


if __name__ == "__main__":
    main(sys.argv[1])
