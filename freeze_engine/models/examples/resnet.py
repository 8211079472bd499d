"""ResNet-18 and ResNet-50 (He et al., 2015): batch norms fold into convolutions.

Submodules are named as deployed ResNets name theirs (``layer1.0.bn1``), so that what is learnt here is found again.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from freeze_engine.models.examples.batch_norm import randomise_statistics
from freeze_engine.requests.inputs import Inputs


class BasicBlock(nn.Module):
    """Two 3 × 3 convolutions around a shortcut; `EXPANSION` times ``width`` channels come out."""

    EXPANSION = 1

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = _shortcut(channels, width * self.EXPANSION, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, channels, H, W) to (N, width, H / stride, W / stride)."""
        out = torch.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return torch.relu(out + self.downsample(x))


class Bottleneck(nn.Module):
    """A 3 × 3 convolution between two 1 × 1 ones; `EXPANSION` times ``width`` channels come out."""

    EXPANSION = 4

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width * self.EXPANSION, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width * self.EXPANSION)
        self.downsample = _shortcut(channels, width * self.EXPANSION, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, channels, H, W) to (N, 4 × width, H / stride, W / stride)."""
        out = torch.relu(self.bn1(self.conv1(x)))
        out = torch.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return torch.relu(out + self.downsample(x))


class ResNet(nn.Module):
    """A stem, four layers of blocks, and a linear classifier over 1000 classes."""

    def __init__(self, block: type[BasicBlock] | type[Bottleneck], depths: tuple[int, int, int, int]) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _layer(block, 64, 64, depths[0], stride=1)
        self.layer2 = _layer(block, 64 * block.EXPANSION, 128, depths[1], stride=2)
        self.layer3 = _layer(block, 128 * block.EXPANSION, 256, depths[2], stride=2)
        self.layer4 = _layer(block, 256 * block.EXPANSION, 512, depths[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512 * block.EXPANSION, 1000)

    def forward(self, x: Tensor) -> Tensor:
        """Maps images (N, 3, H, W) to scores (N, 1000)."""
        x = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        scores: Tensor = self.fc(self.avgpool(x).flatten(1))
        return scores


def resnet18() -> tuple[nn.Module, Inputs]:
    """Returns an 18-layer ResNet and one image."""
    return _with_image(ResNet(BasicBlock, (2, 2, 2, 2)))


def resnet50() -> tuple[nn.Module, Inputs]:
    """Returns a 50-layer ResNet and one image."""
    return _with_image(ResNet(Bottleneck, (3, 4, 6, 3)))


def _with_image(model: ResNet) -> tuple[nn.Module, Inputs]:
    randomise_statistics(model)
    return model, Inputs((torch.randn(1, 3, 224, 224),))


def _layer(
    block: type[BasicBlock] | type[Bottleneck], channels: int, width: int, depth: int, *, stride: int
) -> nn.Sequential:
    rest = (block(width * block.EXPANSION, width, 1) for _ in range(depth - 1))
    return nn.Sequential(block(channels, width, stride), *rest)


def _shortcut(channels: int, out_channels: int, stride: int) -> nn.Module:
    if stride == 1 and channels == out_channels:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(channels, out_channels, 1, stride, bias=False), nn.BatchNorm2d(out_channels))
