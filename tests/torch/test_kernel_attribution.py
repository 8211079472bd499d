"""The nodes of every kernel, held against the nodes and operators that torch itself says the kernel comes from.

Inductor names a generated kernel after the operators that its buffers come from, which the model was written in
(``original_aten``). The graph holds their decompositions, so `_DECOMPOSED` says which operator each may be of.

Inductor's own comment on a kernel ("Source Nodes", "Original ATen"; torch/_inductor/utils.py, get_kernel_metadata)
lists all nodes that its buffers come from. It is coarser than the trace: it goes on behind what other kernels compute.
So a kernel must have no node that torch does not list, and what torch lists beyond must be another kernel's, or need
none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._inductor import ir, utils
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.virtualized import V

import freeze_engine as fe
from freeze_engine.backends.inductor import torch_private
from freeze_engine.trace import Kernel
from tests.torch.attribution_models import (
    Activations,
    Attention,
    AveragePools,
    Bias,
    Block,
    CausalAttention,
    Cell,
    Concatenation,
    ConvSilu,
    Depthwise,
    Embedding,
    Gelu,
    Indexed,
    InPlace,
    Layers,
    Losses,
    MaxPools,
    Pooling,
    Reductions,
    Residual,
    Resized,
    Rounding,
    Stacks,
    Statistics,
    Transposed,
    Views,
    WritesABuffer,
)
from tests.torch.inductor_recording import fresh

UNMEASURED = fe.Measure(latency=False, numerics=False, memory=False)

#: Operator in a kernel's name: operators of the graph, without their overload, that are parts of it.
_DECOMPOSED = {
    "_log_softmax": {"aten.amax", "aten.sub", "aten.exp", "aten.sum", "aten.log"},
    "_softmax": {"aten.amax", "aten.sub", "aten.exp", "aten.sum", "aten.div", "aten.mul"},
    "all": {"aten.any", "aten.logical_not"},
    "addmm": {"mkl._mkl_linear", "mkldnn._linear_pointwise", "aten.mm"},
    "clamp": {"aten.clamp_min", "aten.clamp_max"},
    "convolution": {"mkldnn._convolution_pointwise"},
    "gelu": {"aten.mul", "aten.erf", "aten.add", "aten.tanh"},
    "hardswish": {"aten.add", "aten.clamp_min", "aten.clamp_max", "aten.mul", "aten.div"},
    "max_pool2d_with_indices": {"prims._low_memory_max_pool_with_offsets"},
    "mish": {"aten.mul", "aten.tanh", "aten.gt", "aten.exp", "aten.log1p", "aten.where"},
    "native_group_norm": {"aten.var_mean", "aten.sub", "aten.add", "aten.rsqrt", "aten.mul", "aten.neg"},
    "native_layer_norm": {"aten.var_mean", "aten.sub", "aten.add", "aten.rsqrt", "aten.mul"},
    "silu": {"aten.sigmoid", "aten.mul", "aten.neg", "aten.exp", "aten.add", "aten.div"},
    "t": {"aten.permute"},
    "transpose": {"aten.permute"},
    "view": {"aten.reshape"},
    "zeros_like": {"aten.full", "aten.permute"},
}
#: Operators that are in no kernel's name, with the reason.
_UNNAMED = {
    "torch._inductor": "a function by which Inductor lowers a convolution with what follows it, and no operator",
    "aten.where": "made by Inductor's pattern for the softmax of a product, which gives it no original operator",
}
#: Operators that move no data, or only where the next kernel wants them elsewhere: a kernel may have them or not.
_MOVING = {
    "aten.as_strided", "aten.clone", "aten.expand", "aten.permute", "aten.reshape", "aten.select", "aten.slice",
    "aten.split", "aten.squeeze", "aten.transpose", "aten.unsqueeze", "aten.view",
    "prims.inductor_force_stride_order",
}  # fmt: skip

IMAGE, MATRIX, TOKENS = torch.ones(2, 3, 8, 8), torch.ones(8, 4), torch.ones(2, 5, dtype=torch.long)
MODELS: dict[type[Layers], Tensor] = {
    Pooling: IMAGE, Residual: IMAGE, AveragePools: IMAGE, Bias: MATRIX, Concatenation: MATRIX, Gelu: MATRIX,
    Reductions: MATRIX, Cell: MATRIX, Activations: MATRIX, Attention: TOKENS, Embedding: TOKENS, Block: TOKENS,
}  # fmt: skip
OTHERS: dict[type[Layers], Tensor] = {
    MaxPools: IMAGE, ConvSilu: IMAGE, Transposed: IMAGE, Depthwise: IMAGE, Resized: IMAGE, Statistics: MATRIX,
    Rounding: MATRIX, InPlace: MATRIX, WritesABuffer: MATRIX, Views: MATRIX, Stacks: MATRIX, Losses: MATRIX,
    Indexed: TOKENS, CausalAttention: TOKENS,
}  # fmt: skip
"""Models whose kernels are compared by nodes only: `_DECOMPOSED` would need all their operators."""


@dataclass(frozen=True)
class Origins:
    """What torch says of one kernel call.

    Attributes:
        kernel: its name; empty for a library's kernel.
        comment: with the source nodes and the original operators.
        nodes: names of the nodes that its buffers come from.
    """

    kernel: str
    comment: str
    nodes: frozenset[str]


@dataclass(frozen=True)
class Recorded:
    """A trace, and torch's own account of the kernels in it."""

    trace: fe.Trace
    origins: tuple[Origins, ...]


@pytest.fixture(scope="module")
def recorded() -> Iterator[Callable[[type[Layers]], Recorded]]:
    """Records a model once for all tests. Its kernels are generated and not compiled: nothing here reads an output."""
    if torch_private.OPTIONAL["cpp_kernel_nodes"].found is None:
        pytest.skip("this torch does not tell which nodes a kernel computes, as 2.6 does not")
    told: list[Origins] = []
    with pytest.MonkeyPatch.context() as patch, fresh():
        _listen(patch, told)
        patch.setattr(AsyncCompile, "cpp_pybinding", lambda self, *_: lambda *arguments: None)

        @functools.cache
        def record(model: type[Layers]) -> Recorded:
            told.clear()
            trace = fe.record(model().eval(), ((MODELS | OTHERS)[model],), backend="inductor", measure=UNMEASURED).trace
            return Recorded(trace, tuple(told))

        yield record  # type: ignore[misc]


def _listen(patch: pytest.MonkeyPatch, told: list[Origins]) -> None:
    """Keeps what torch knows of each kernel when it writes the call."""

    def origins(kernel: str, schedule: Any, wrapper: Any) -> tuple[str, str]:
        written = utils.get_kernel_metadata(schedule, wrapper)
        names = frozenset(node.name for node in utils.aggregate_origins(schedule) if node.op == "call_function")
        told.append(Origins(kernel, written[0], names))
        return written

    def define_kernel(self: Any, code: str, nodes: Any, *arguments: Any) -> str:
        name = defined(self, code, nodes, *arguments)
        origins(name, list(nodes), V.graph.wrapper_code)
        return name

    defined = CppScheduling.define_kernel
    patch.setattr(CppScheduling, "define_kernel", define_kernel)
    patch.setattr(ir, "get_kernel_metadata", functools.partial(origins, ""))


def plain(op: str) -> str:
    return ".".join(op.split(".")[:2])


def is_named(op: str, name: str) -> bool:
    """Whether a kernel of a name does an operator of the graph."""
    parts = (written for written, ops in _DECOMPOSED.items() if op in ops)
    return any(f"_{each}_" in f"{name}_" for each in (op.partition(".")[2], *parts))


def named_operators(kernel: Kernel, known: set[str]) -> set[str]:
    """Returns those of some operators that a kernel's name holds."""
    return {op for op in known if f"_{op}_" in f"{kernel.name}_"}


@pytest.mark.parametrize("model", MODELS | OTHERS, ids=lambda model: model.__name__)
def test_a_kernel_has_the_nodes_that_torch_lists_up_to_other_kernels(
    model: type[Layers], recorded: Callable[[type[Layers]], Recorded]
) -> None:
    trace = recorded(model).trace
    (program,) = trace.programs
    named = {node.id: node.outputs[0].name for node in trace.steps[-1].graph.walk() if node.outputs}
    none = {named[node] for node, _ in program.no_kernel}
    libraries = {named[kernel.nodes[-1]] for kernel in program.kernels if kernel.kind == "extern"}
    waiting = list(recorded(model).origins)
    done: set[str] = set()
    for kernel in program.kernels:
        torchs = next(one for one in waiting if one.kernel == ("" if kernel.kind == "extern" else kernel.name))
        waiting.remove(torchs)
        own = {named[node] for node in kernel.nodes}
        if kernel.kind == "extern":
            assert torchs.comment in (program.code or "")
        # A kernel that only prepares inputs or constants comes from no node; the trace names the node it is for.
        assert not torchs.nodes or own <= torchs.nodes, f"torch does not list {own - torchs.nodes} for {kernel.name}"
        # One that makes the arguments of a library's operator comes from that operator, according to torch.
        known = own | done | none | libraries
        assert torchs.nodes <= known, f"{kernel.name} lacks {torchs.nodes - known}"
        done |= own
    assert waiting == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_kernel_has_the_operators_that_torch_names_it_after(
    model: type[Layers], recorded: Callable[[type[Layers]], Recorded]
) -> None:
    trace = recorded(model).trace
    (program,) = trace.programs
    ops = {plain(node.op).partition(".")[2] for node in trace.steps[-1].graph.walk() if node.op != "get_attr"}
    moving = {op.partition(".")[2] for op in _MOVING}
    # A name reaches behind what earlier kernels computed, and to the operator that the kernel makes the arguments of.
    done = {plain(kernel.ops[-1]) for kernel in program.kernels if kernel.kind == "extern"}
    for kernel in program.kernels:
        assert kernel.nodes, f"{kernel.name} computes nothing"
        own = {plain(op) for op in kernel.ops}
        done |= own
        if kernel.kind != "cpp" or kernel.name.removeprefix("cpp_fused_").isdigit():
            continue  # torch names a library's kernel after the library, and a kernel without origins after nothing
        extra = {op for op in own - _MOVING - _UNNAMED.keys() if not is_named(op, kernel.name)}
        assert not extra, f"{kernel.name} is not named after {extra}"
        for written in named_operators(kernel, ops | _DECOMPOSED.keys()) - moving:
            parts = _DECOMPOSED.get(written, set()) | {f"aten.{written}"}
            assert parts & done, f"{kernel.name} has none of {parts}"
    if model is Bias and "mkl._mkl_linear" in done:  # MKL's linear is called without its bias
        assert "mkl._mkl_linear" in [kernel for kernel in program.kernels if kernel.kind == "cpp"][-1].ops
