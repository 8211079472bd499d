"""Makes the files of this folder anew: ``python -m tests.existing.make frozen``."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

FOLDER = Path(__file__).parent


class Counting(torch.nn.Module):
    """Keeps what freezing keeps: a requested value, one that is assigned, one that is written in place."""

    seen: torch.Tensor
    scale: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.bn = torch.nn.BatchNorm2d(4)
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("scale", torch.ones(4))
        self.version = 3
        self.calls = 0

    def forward(self, x: torch.Tensor, double: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """Counts, and computes something from constants alone."""
        self.seen.view(1).add_(1)
        self.calls += 1
        y = self.bn(self.conv(x)).relu()
        if double:
            y = y * 2.5
        for number in range(x.size(0)):
            y = y + number
        return y, torch.rand(4) + self.scale


def frozen() -> None:
    """Writes ``frozen.pt``."""
    torch.manual_seed(0)
    module = torch.jit.script(Counting().eval())
    torch.jit.freeze(module, ["version"], optimize_numerics=False).save(str(FOLDER / "frozen.pt"))


if __name__ == "__main__":
    {"frozen": frozen}[sys.argv[1]]()
