"""A bfloat16 convolution and batch norm that lose accuracy by being folded.

The picture is bright and of low contrast: the convolution gives values around a mean that is large against their
spread, and the batch norm subtracts that mean. Unfolded, this is exact: pixels and weights are small integers, so the
convolution gives integers up to 256, which bfloat16 holds (8 bits of precision), and the difference is taken before
anything is scaled. Folded, the weights are scaled first and rounded to bfloat16; the rounding, up to 2⁻⁹ of the large
mean, is then as large as the spread that is left when the means cancel.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from freeze_engine.requests.inputs import Inputs

CHANNELS = 8
DARKEST = 6  # pixels are 6 or 7, each as likely


class ConvNorm(nn.Module):
    """A convolution with weights of 0 and 1, and a batch norm that knows the mean and variance of what it gives."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, CHANNELS, 3, bias=False)
        self.bn = nn.BatchNorm2d(CHANNELS)
        nn.init.uniform_(self.bn.weight, 0.5, 1.5)
        nn.init.normal_(self.bn.bias, std=0.1)
        weight = torch.randint(2, self.conv.weight.shape).float()
        summands = weight.sum((1, 2, 3))
        self.conv.weight = nn.Parameter(weight)
        self.bn.running_mean = ((DARKEST + 0.5) * summands).round()
        self.bn.running_var = 0.25 * summands

    def forward(self, x: Tensor) -> Tensor:
        """Maps (N, 3, H, W) to (N, 8, H - 2, W - 2)."""
        y: Tensor = self.bn(self.conv(x))
        return y


def build() -> tuple[nn.Module, Inputs]:
    """Returns the model and one picture, both in bfloat16."""
    picture = DARKEST + torch.randint(2, (1, 3, 32, 32))
    return ConvNorm().bfloat16(), Inputs((picture.bfloat16(),))
