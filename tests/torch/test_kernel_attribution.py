"""The nodes of every generated kernel, held against the operators that torch names the kernel after.

Inductor names a kernel of the CPU after the operators that its buffers come from, which the model was written in
(``original_aten``). The graph holds their decompositions, so `_DECOMPOSED` says which operator each may be of.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

import freeze_engine as fe
from freeze_engine.backends.inductor import torch_private
from freeze_engine.trace import Kernel
from tests.torch.inductor_recording import fresh

UNMEASURED = fe.Measure(latency=False, numerics=False, memory=False)

#: Operator in a kernel's name: operators of the graph, without their overload, that are parts of it.
_DECOMPOSED = {
    "_softmax": {"aten.amax", "aten.sub", "aten.exp", "aten.sum", "aten.div"},
    "all": {"aten.any", "aten.logical_not"},
    "addmm": {"mkl._mkl_linear", "mkldnn._linear_pointwise", "aten.mm"},
    "clamp": {"aten.clamp_min", "aten.clamp_max"},
    "convolution": {"mkldnn._convolution_pointwise"},
    "gelu": {"aten.mul", "aten.erf", "aten.add"},
    "max_pool2d_with_indices": {"prims._low_memory_max_pool_with_offsets"},
    "native_layer_norm": {"aten.var_mean", "aten.sub", "aten.add", "aten.rsqrt", "aten.mul"},
    "silu": {"aten.sigmoid", "aten.mul", "aten.neg", "aten.exp", "aten.add", "aten.div"},
    "transpose": {"aten.permute"},
    "view": {"aten.reshape"},
}
#: Operators that are in no kernel's name, with the reason.
_UNNAMED = {
    "torch._inductor": "a function by which Inductor lowers a convolution with what follows it, and no operator",
    "aten.where": "made by Inductor's pattern for the softmax of a product, which gives it no original operator",
}
#: Operators that move no data, or only where the next kernel wants them elsewhere: a kernel may have them or not.
_MOVING = {
    "aten.clone", "aten.expand", "aten.permute", "aten.reshape", "aten.select", "aten.slice", "aten.split",
    "aten.squeeze", "aten.transpose", "aten.unsqueeze", "aten.view", "prims.inductor_force_stride_order",
}  # fmt: skip


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
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
        return torch.nn.functional.gelu(self.linear(x.t()))


class Residual(Layers):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.norm(self.conv(x)) + x.sum(1, keepdim=True))


class Reductions(Layers):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.linear(x.t()).sum(-1), x.clamp(-1, 1).amax(0)


IMAGE, MATRIX, TOKENS = torch.ones(2, 3, 8, 8), torch.ones(8, 4), torch.ones(2, 5, dtype=torch.long)
MODELS: dict[type[Layers], Tensor] = {
    Pooling: IMAGE, Residual: IMAGE, Bias: MATRIX, Concatenation: MATRIX,
    Gelu: MATRIX, Reductions: MATRIX, Attention: TOKENS, Embedding: TOKENS,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def one_cache() -> Iterator[None]:
    with fresh():
        yield


@pytest.fixture
def kernel_nodes() -> None:
    if torch_private.OPTIONAL["cpp_kernel_nodes"].found is None:
        pytest.skip("this torch does not tell which nodes a kernel computes, as 2.6 does not")


def plain(op: str) -> str:
    return ".".join(op.split(".")[:2])


def is_named(op: str, name: str) -> bool:
    """Whether a kernel of a name does an operator of the graph."""
    parts = (written for written, ops in _DECOMPOSED.items() if op in ops)
    return any(f"_{each}_" in f"{name}_" for each in (op.partition(".")[2], *parts))


def named_operators(kernel: Kernel, known: set[str]) -> set[str]:
    """Returns those of some operators that a kernel's name holds."""
    return {op for op in known if f"_{op}_" in f"{kernel.name}_"}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_kernel_has_the_operators_that_torch_names_it_after(model: type[Layers], kernel_nodes: None) -> None:
    trace = fe.record(model().eval(), (MODELS[model],), backend="inductor", measure=UNMEASURED).trace
    (program,) = trace.programs
    ops = {plain(node.op).partition(".")[2] for node in trace.steps[-1].graph.walk() if node.op != "get_attr"}
    moving = {op.partition(".")[2] for op in _MOVING}
    done: set[str] = set()
    for kernel in program.kernels:
        assert kernel.nodes, f"{kernel.name} computes nothing"
        own = {plain(op) for op in kernel.ops}
        done |= own
        if kernel.kind != "cpp" or kernel.name.removeprefix("cpp_fused_").isdigit():
            continue  # torch names a library's kernel after the library, and a kernel without origins after nothing
        extra = {op for op in own - _MOVING - _UNNAMED.keys() if not is_named(op, kernel.name)}
        assert not extra, f"{kernel.name} is not named after {extra}"
        # The origins of a buffer reach behind what earlier kernels computed, so these may have done it.
        for written in named_operators(kernel, ops | _DECOMPOSED.keys()) - moving:
            parts = _DECOMPOSED.get(written, set()) | {f"aten.{written}"}
            assert parts & done, f"{kernel.name} has none of {parts}"
    if model is Bias and "mkl._mkl_linear" in done:  # MKL's linear is called without its bias
        assert "mkl._mkl_linear" in [kernel for kernel in program.kernels if kernel.kind == "cpp"][-1].ops
