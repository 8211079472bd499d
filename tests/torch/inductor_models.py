"""Small modules for Inductor freezing; nothing here is random."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.torch.models import filled

__all__ = ["Attention", "Branches", "BreaksInside", "Convolutional", "Stateful", "Wide", "filled"]


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.bn = nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.bn(self.conv(x))).mean((2, 3)))


class Wide(nn.Module):
    """A convolution with enough weights to matter, and a batch norm to fold."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(64, 64, 3)
        self.bn = nn.BatchNorm2d(64)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.conv(x))


class Stateful(nn.Module):
    """Writes a buffer, returns a view of a parameter, and holds a tensor that was never registered."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.out = nn.Linear(4, 2)
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("returned", torch.ones(3))
        self.register_buffer("unused", torch.ones(2))
        self.shift = torch.ones(4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        self.calls.add_(1)
        return self.out(self.lin(x) + self.shift), self.lin.weight.view(-1), self.returned


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.norm = nn.LayerNorm(16)
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.head = nn.Linear(16, 20, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        y = self.norm(x)
        q, k, v = (each(y).unflatten(-1, (2, 8)).transpose(1, 2) for each in (self.query, self.key, self.value))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)
        return self.head(x + mixed)


class _Broken(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before = nn.Linear(4, 4)
        self.after = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        y = self.before(x)
        torch._dynamo.graph_break()
        return self.after(y)


class BreaksInside(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 4)
        self.inner = _Broken()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(self.first(x))


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda y: self.one(y), lambda y: self.other(y) * 2, (x,))
