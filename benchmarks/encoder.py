"""An encoder of any depth; in a file of its own, since TorchScript reads its source."""

import torch
from torch import nn

_WIDTH = 64
_HEADS = 4


class EncoderLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.heads = _HEADS
        self.before_attention = nn.LayerNorm(_WIDTH)
        self.before_feed = nn.LayerNorm(_WIDTH)
        self.query = nn.Linear(_WIDTH, _WIDTH)
        self.key = nn.Linear(_WIDTH, _WIDTH)
        self.value = nn.Linear(_WIDTH, _WIDTH)
        self.joined = nn.Linear(_WIDTH, _WIDTH)
        self.up = nn.Linear(_WIDTH, 2 * _WIDTH)
        self.down = nn.Linear(2 * _WIDTH, _WIDTH)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        given = self.before_attention(x)
        query = self.query(given).view(batch, length, self.heads, -1).transpose(1, 2)
        key = self.key(given).view(batch, length, self.heads, -1).transpose(1, 2)
        value = self.value(given).view(batch, length, self.heads, -1).transpose(1, 2)
        scores = torch.softmax(query @ key.transpose(-2, -1) / 4.0, -1)
        x = x + self.dropout(self.joined((scores @ value).transpose(1, 2).reshape(batch, length, width)))
        return x + self.dropout(self.down(torch.relu(self.up(self.before_feed(x)))))


def encoder(layers: int) -> nn.Sequential:
    """Returns an encoder in eval mode with random weights."""
    return nn.Sequential(*(EncoderLayer() for _ in range(layers))).eval()
