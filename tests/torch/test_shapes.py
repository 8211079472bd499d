"""Shapes of a graph's values, held against those of a run."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

import freeze_engine as fe
from freeze_engine.backends.common.shapes import elements, shapes, typed_shape
from freeze_engine.backends.common.use_def import use_def


class Blocks(nn.Module):
    """An inverted bottleneck with squeeze and excitation, a dense connection, a head with attention."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.wide = nn.Sequential(nn.Conv2d(8, 8, 5, padding=4, dilation=2, groups=8), nn.Hardswish())
        self.squeeze, self.excite = nn.Conv2d(8, 2, 1), nn.Conv2d(2, 8, 1)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.narrow = nn.AvgPool2d(2)
        self.adapt = nn.AdaptiveAvgPool2d((2, 3))
        self.norm, self.linear = nn.LayerNorm(16), nn.Linear(16, 5)
        self.register_buffer("scale", torch.rand(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        x = x + self.wide(x)
        x = x * self.excite(self.squeeze(x.mean((2, 3), keepdim=True)).relu()).sigmoid()
        x = torch.cat((x, -x), 1)
        x = self.adapt(self.narrow(self.pool(x)))
        x = self.norm(x.flatten(2).transpose(1, 2) * self.scale)
        return F.gelu(self.linear(x)).permute(0, 2, 1) * 0.5 + x.mean(2).select(1, 0).unsqueeze(1).unsqueeze(-1)


class Sequence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.pool = nn.Conv1d(4, 6, 4, stride=3), nn.MaxPool1d(2)
        self.cube = nn.Conv3d(1, 2, (1, 2, 3), padding=(0, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.conv(x))
        return self.cube(x.unsqueeze(1).unsqueeze(1)).flatten(1)


class Layouts(nn.Module):
    """Operators that only move values, transposed convolutions, an embedding and pools that end outside."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1, dilation=2, groups=1)
        self.conv = nn.Conv2d(4, 4, 1)
        self.embed = nn.Embedding(7, 5)
        self.outside = nn.MaxPool2d(3, 2, 1, ceil_mode=True)
        self.averages = nn.AvgPool2d(2, ceil_mode=True)
        self.register_buffer("matrix", torch.rand(5, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.averages(self.outside(self.up(x)))
        batch, channels, height, width = x.shape
        y = x.view(batch, channels, -1).repeat(1, 2, 1).reshape(x.size(0), 2, -1, height, width)
        y = y[:, 0, :, 1:-1, ::2].flip([2]).narrow(1, 1, 2).amax(3, keepdim=True).squeeze(-1)
        z = F.interpolate(self.conv(x), scale_factor=1.5) + F.interpolate(
            self.conv(x), scale_factor=1.5, mode="bilinear"
        )
        z = F.pad(F.pad(z, [1, 2, 0, 1]), [1, 1, 1, 1], mode="replicate").expand(-1, -1, -1, -1).sum((2, 3))
        words = self.embed(torch.arange(3).view(1, 3)) @ self.matrix
        return (
            y.sum((0, 1, 2))
            + z.sum((0, 1))
            + torch.addmm(self.matrix[0], torch.lerp(words[0], words[0, 0], 0.5), self.matrix[:2]).sum((0, 1))
        )


def values_of_a_run(module: torch.jit.ScriptModule, x: torch.Tensor) -> dict[str, tuple[int, ...]]:
    """The shapes of all tensors that the graph computes, by value name; a copy of a graph has other names."""
    copy, names = module.graph.copy(), []
    for node, twin in zip(list(module.graph.nodes()), list(copy.nodes()), strict=True):
        if node.kind().startswith("aten::") and str(node.output().type()) == "Tensor":
            names.append(node.output().debugName())
            copy.registerOutput(twin.output())
    copy.makeMultiOutputIntoTuple()
    results = torch._C._create_function_from_graph("forward", copy)(module._c, x)
    return {name: tuple(result.shape) for name, result in zip(names, results[1:], strict=True)}


@pytest.mark.parametrize("via", ["script", "trace"])
@pytest.mark.parametrize(
    ("model", "sizes"), [(Blocks(), (2, 3, 33, 40)), (Sequence(), (2, 4, 50)), (Layouts(), (2, 3, 8, 9))]
)
def test_every_shown_shape_is_that_of_a_run(model, sizes, via):
    x = torch.rand(sizes)
    recording = fe.record(model.eval(), (x,), via=via, measure=None)
    snapshot = recording.trace.steps[-1].graph
    told = shapes(snapshot, use_def(snapshot), recording.trace.inputs)
    real = values_of_a_run(recording.module, x)
    assert {name: told[name] for name in real if name in told} == {name: real[name] for name in real if name in told}
    assert real.keys() - told.keys() == set()


class Two(nn.Module):
    """The second layer has more channels, the first more places."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 16, 3, stride=4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return -self.second((-self.first(x)).relu())


@pytest.mark.parametrize("size", [8, 32])
def test_largest_saving_comes_first(size):
    trace = fe.record(Two().eval(), torch.rand(1, 3, size, size), measure=None).trace
    places = [(4, size), (16, (size - 3) // 4 + 1)]
    saved = [2 * channels * side * side * 4 for channels, side in places]
    assert [(miss.reason, miss.saved_bytes) for miss in trace.near_misses] == [
        ("unsupported_op", each) for each in saved
    ]
    with fe.capture() as captured:
        torch.jit.freeze(torch.jit.script(Two().eval()))
    (unknown,) = captured.traces
    assert [miss.saved_bytes for miss in unknown.near_misses] == [None, None]
    nodes = {node.id: node for node in unknown.steps[unknown.near_misses[0].step].graph.walk()}
    assert nodes[unknown.near_misses[0].neighbour].inputs[1] == "self.second.weight"


def test_shape_with_unknown_sizes_is_none():
    assert typed_shape("Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)") == (2, 3)
    assert typed_shape("Float(*, 3)") is None
    assert typed_shape("Tensor") is None
    assert elements((2, 0, 3)) == 0
    assert elements(()) == 1
