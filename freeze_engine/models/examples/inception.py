"""Inception v3 (Szegedy et al., 2015) without its auxiliary classifier: convolutions with batch norms, in branches."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from freeze_engine.models.examples.batch_norm import randomise_statistics
from freeze_engine.requests.inputs import Inputs

Size = int | tuple[int, int]


class ConvNorm(nn.Module):
    """Convolution, batch norm, relu."""

    def __init__(self, channels: int, out_channels: int, kernel: Size = 1, stride: int = 1, padding: Size = 0) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, out_channels, kernel, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, channels, H, W) to (N, out_channels, H', W')."""
        return torch.relu(self.bn(self.conv(x)))


class Branches(nn.Module):
    """Runs branches on one input and concatenates what they give along the channels."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, channels, H, W) to (N, the branches' channels together, H', W')."""
        outputs: list[Tensor] = []
        for branch in self.branches:
            outputs.append(branch(x))
        return torch.cat(outputs, 1)


def build() -> tuple[nn.Module, Inputs]:
    """Returns Inception v3 and one image of 299 × 299."""
    model = nn.Sequential(
        ConvNorm(3, 32, 3, stride=2),
        ConvNorm(32, 32, 3),
        ConvNorm(32, 64, 3, padding=1),
        nn.MaxPool2d(3, stride=2),
        ConvNorm(64, 80),
        ConvNorm(80, 192, 3),
        nn.MaxPool2d(3, stride=2),
        _block_35(192, 32),
        _block_35(256, 64),
        _block_35(288, 64),
        _reduce_to_17(288),
        *(_block_17(width) for width in (128, 160, 160, 192)),
        _reduce_to_8(768),
        _block_8(1280),
        _block_8(2048),
        nn.AdaptiveAvgPool2d(1),
        nn.Dropout(),
        nn.Flatten(),
        nn.Linear(2048, 1000),
    )
    randomise_statistics(model)
    return model, Inputs((torch.randn(1, 3, 299, 299),))


def _pooled(channels: int, out_channels: int) -> nn.Sequential:
    return nn.Sequential(nn.AvgPool2d(3, stride=1, padding=1), ConvNorm(channels, out_channels))


def _block_35(channels: int, pooled: int) -> Branches:
    """The block on 35 × 35 positions: (channels) to (224 + pooled) channels."""
    return Branches(
        ConvNorm(channels, 64),
        nn.Sequential(ConvNorm(channels, 48), ConvNorm(48, 64, 5, padding=2)),
        nn.Sequential(ConvNorm(channels, 64), ConvNorm(64, 96, 3, padding=1), ConvNorm(96, 96, 3, padding=1)),
        _pooled(channels, pooled),
    )


def _reduce_to_17(channels: int) -> Branches:
    """From 35 × 35 to 17 × 17 positions: (channels) to (480 + channels) channels."""
    return Branches(
        ConvNorm(channels, 384, 3, stride=2),
        nn.Sequential(ConvNorm(channels, 64), ConvNorm(64, 96, 3, padding=1), ConvNorm(96, 96, 3, stride=2)),
        nn.MaxPool2d(3, stride=2),
    )


def _block_17(width: int) -> Branches:
    """The block on 17 × 17 positions, 768 channels in and out, with 7 × 7 convolutions split in two."""
    return Branches(
        ConvNorm(768, 192),
        nn.Sequential(ConvNorm(768, width), _row(width, width), _column(width, 192)),
        nn.Sequential(
            ConvNorm(768, width), _column(width, width), _row(width, width), _column(width, width), _row(width, 192)
        ),
        _pooled(768, 192),
    )


def _reduce_to_8(channels: int) -> Branches:
    """From 17 × 17 to 8 × 8 positions: (channels) to (512 + channels) channels."""
    return Branches(
        nn.Sequential(ConvNorm(channels, 192), ConvNorm(192, 320, 3, stride=2)),
        nn.Sequential(ConvNorm(channels, 192), _row(192, 192), _column(192, 192), ConvNorm(192, 192, 3, stride=2)),
        nn.MaxPool2d(3, stride=2),
    )


def _block_8(channels: int) -> Branches:
    """The block on 8 × 8 positions: (channels) to 2048 channels, with 3 × 3 convolutions split side by side."""
    return Branches(
        ConvNorm(channels, 320),
        nn.Sequential(ConvNorm(channels, 384), _row_and_column(384)),
        nn.Sequential(ConvNorm(channels, 448), ConvNorm(448, 384, 3, padding=1), _row_and_column(384)),
        _pooled(channels, 192),
    )


def _row(channels: int, out_channels: int) -> ConvNorm:
    return ConvNorm(channels, out_channels, (1, 7), padding=(0, 3))


def _column(channels: int, out_channels: int) -> ConvNorm:
    return ConvNorm(channels, out_channels, (7, 1), padding=(3, 0))


def _row_and_column(channels: int) -> Branches:
    return Branches(
        ConvNorm(channels, channels, (1, 3), padding=(0, 1)), ConvNorm(channels, channels, (3, 1), padding=(1, 0))
    )
