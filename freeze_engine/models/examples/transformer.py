"""A transformer encoder of torch's own layers.

Dropout goes away and nearly everything is inlined, but not the packed query-key-value projection of
`nn.MultiheadAttention`: torch's alias analysis sees a write into it (torch 2.13). Most of the graph is the layers'
choice between their fast path and their ordinary one, which depends on the input and cannot be made ahead.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from freeze_engine.requests.inputs import Inputs

VOCABULARY = 1000
LENGTH = 32
WIDTH = 128


class Classifier(nn.Module):
    """Token and position embeddings, two encoder layers, and a linear classifier on the first token."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        self.dropout = nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(WIDTH, nhead=4, dim_feedforward=4 * WIDTH, batch_first=True)
        # Nested tensors need a padding mask, which this model does not take.
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, tokens: Tensor) -> Tensor:
        """Maps token ids (N, 32) of int64 to scores (N, 10)."""
        x = self.dropout(self.tokens(tokens) + self.positions)
        scores: Tensor = self.head(self.encoder(x)[:, 0])
        return scores


def build() -> tuple[nn.Module, Inputs]:
    """Returns the encoder and two sequences of 32 tokens."""
    return Classifier(), Inputs((torch.randint(VOCABULARY, (2, LENGTH)),))
