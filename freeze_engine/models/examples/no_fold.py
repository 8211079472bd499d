"""Batch norms, adds and multiplications next to convolutions, none of which folds.

The conditions are those of ``frozen_conv_folding.cpp`` (torch 2.13).
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn

from freeze_engine.requests.inputs import Inputs


class BatchStatistics(nn.Module):
    """The batch norm keeps no running statistics, so there is no constant mean to fold."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4, track_running_stats=False)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, 4, H, W) to the same shape."""
        y: Tensor = self.bn(self.conv(x))
        return y


class UsedTwice(nn.Module):
    """The convolution's result is used a second time, without the batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, 4, H, W) to the same shape."""
        y = self.conv(x)
        return torch.cat((self.bn(y), y), 1)[:, 2:6]


class NotConstant(nn.Module):
    """A convolution whose result is multiplied by a factor that depends on the input."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, 4, H, W) to the same shape."""
        y: Tensor = self.conv(x) * torch.sigmoid(x)
        return y


class WithoutBatchDimension(nn.Module):
    """The constant that is added has one value for each channel, but not the shape (1, channels, 1, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.offset = nn.Buffer(torch.randn(4, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, 4, H, W) to the same shape."""
        y: Tensor = self.conv(x) + self.offset
        return y


def build() -> tuple[nn.Module, Inputs]:
    """Returns the four in a row, and one picture."""
    parts: OrderedDict[str, nn.Module] = OrderedDict(
        batch_statistics=BatchStatistics(),
        used_twice=UsedTwice(),
        not_constant=NotConstant(),
        without_batch_dimension=WithoutBatchDimension(),
    )
    return nn.Sequential(parts), Inputs((torch.randn(1, 4, 16, 16),))
