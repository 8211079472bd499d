"""Models whose kernels are held against torch's own account of them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.group, self.pool = nn.GroupNorm(2, 8), nn.AvgPool2d(2)
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.linear, self.wide = nn.Linear(8, 8), nn.Linear(8, 24)
        self.table, self.layer_norm = nn.Embedding(10, 8), nn.LayerNorm(8)


class Pooling(Layers):
    def forward(self, x: Tensor) -> Tensor:
        noisy = self.norm(self.conv(x)) + 1.5 * torch.sin(x[:, :1])
        return self.linear(torch.max_pool2d(torch.relu(noisy), 2).mean((2, 3)))


class Bias(Layers):
    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x.transpose(0, 1)) + self.layer_norm.weight


class Concatenation(Layers):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([torch.tanh(x), self.linear(x.t()).t()], 0)


class Attention(Layers):
    def forward(self, tokens: Tensor) -> Tensor:
        q, k, v = self.wide(self.table(tokens)).chunk(3, -1)
        return torch.softmax(q @ k.transpose(-1, -2), -1) @ v


class Embedding(Layers):
    def forward(self, tokens: Tensor) -> Tensor:
        return self.layer_norm(self.table(tokens) + 1)


class Gelu(Layers):
    def forward(self, x: Tensor) -> Tensor:
        return functional.gelu(self.linear(x.t()))


class Residual(Layers):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.norm(self.conv(x)) + x.sum(1, keepdim=True))


class Reductions(Layers):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.linear(x.t()).sum(-1), x.clamp(-1, 1).amax(0)


class AveragePools(Layers):
    def forward(self, x: Tensor) -> Tensor:
        pooled = self.pool(self.group(self.conv(x)))
        gate, value = pooled.split(4, 1)
        return torch.cat([value * torch.sigmoid(gate), functional.adaptive_avg_pool2d(pooled, 4)[:, :4]], 1)


class Cell(Layers):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = state = torch.zeros_like(x.t())
        for _ in range(2):
            keep, add, new = (self.wide(x.t()) + self.wide(hidden)).chunk(3, -1)
            state = torch.sigmoid(keep) * state + torch.sigmoid(add) * torch.tanh(new)
            hidden = torch.tanh(state)
        return hidden, state


class Block(Layers):
    def forward(self, tokens: Tensor) -> Tensor:
        x = self.table(tokens)
        q, k, v = self.wide(self.layer_norm(x)).chunk(3, -1)
        x = x + functional.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0]
        return x + functional.gelu(self.linear(x), approximate="tanh")


class Activations(Layers):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        scaled = torch.softmax(0.5 * (x @ x.t()), -1)
        return scaled, functional.log_softmax(self.linear(x.t()), -1), functional.mish(x), functional.hardswish(x)


class MaxPools(Layers):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, places = functional.max_pool2d(self.conv(x), 2, return_indices=True)
        return functional.max_unpool2d(values, places, [2, 2]), functional.adaptive_max_pool2d(x, 3)


class Statistics(Layers):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = self.linear(x.t())
        return y.std(0), y.var(1), y.logsumexp(-1), y.argmax(-1), y.cumsum(0), y.prod(0), torch.linalg.vector_norm(y)


class Indexed(Layers):
    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        rows = self.table(tokens)
        return rows[:, tokens[0]], rows.index_select(1, tokens[0]).masked_fill(rows > 0, 0.5)


class CausalAttention(Layers):
    def forward(self, tokens: Tensor) -> Tensor:
        q, k, v = self.wide(self.table(tokens)).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


class ConvSilu(Layers):
    def forward(self, x: Tensor) -> Tensor:
        return functional.silu(self.conv(x)) * torch.sigmoid(self.conv(x).mean((2, 3), keepdim=True))


class Transposed(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(8, 3, 2, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        return functional.leaky_relu(self.up(self.conv(x)))[..., :8, :8] + x


class Depthwise(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.deep, self.point = nn.Conv2d(3, 3, 3, groups=3), nn.Conv1d(3, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.point(functional.hardswish(self.deep(x)).flatten(2)).exp()


class Rounding(Layers):
    def forward(self, x: Tensor) -> Tensor:
        scale = x.abs().amax(-1, keepdim=True) / 127
        return (torch.round(x / scale).clamp(-128, 127).to(torch.int8).float() * scale).to(torch.float64)


class InPlace(Layers):
    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(x.t())
        y += 1
        y[:, 0] = 0
        y.relu_().mul_(2)
        return y


class WritesABuffer(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(8))

    def forward(self, x: Tensor) -> Tensor:
        self.seen.add_(self.linear(x.t()).sum(0))
        return x * self.seen[:, None]


class Views(Layers):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = self.linear(x.t())
        return y.t(), y[:, :2], x.view(2, 16), (y + 1).reshape(-1), x[::2]


class Stacks(Layers):
    def forward(self, x: Tensor) -> Tensor:
        halves = torch.stack([x, x * 2, torch.flip(x, (0,))]).chunk(3)
        return torch.cat([*halves, torch.roll(x, 1, 0)[None], functional.pad(x, (1, 1))[None, :, :4]], 0)


class Resized(Layers):
    def forward(self, x: Tensor) -> Tensor:
        up = functional.interpolate(self.conv(x), scale_factor=2, mode="bilinear")
        return functional.interpolate(up, size=4) + functional.pixel_shuffle(up, 2)[:, :1, :4, :4]


class Losses(Layers):
    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(x.t())
        return functional.cross_entropy(y, torch.zeros(4, dtype=torch.long)) + functional.mse_loss(y, x.t())
