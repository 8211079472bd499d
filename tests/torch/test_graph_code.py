"""The code of a graph is written from the graph itself: torch must not change it meanwhile."""

from __future__ import annotations

import torch

from freeze_engine.backends.common.torch_private import private
from freeze_engine.backends.torchscript.trace_builder import _code


class _Branching(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            x = x * self.weight
        for _ in range(2):
            x = x + self.weight
        return x


def test_writing_the_code_of_a_graph_leaves_the_graph_as_it_was() -> None:
    graph = torch.jit.freeze(torch.jit.script(_Branching().eval())).graph
    before = graph.str(True)
    written = _code(graph)
    assert graph.str(True) == before
    assert written == private("_create_function_from_graph")("forward", graph.copy()).code
    assert written is not None
    assert "CONSTANTS" in written
