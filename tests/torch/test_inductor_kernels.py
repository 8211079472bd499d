"""Which nodes a kernel computes, told from what Inductor says of buffers; nothing is compiled."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from freeze_engine.backends.inductor.capture.raw import RawKernel
from freeze_engine.backends.inductor.graph.constants import Constants
from freeze_engine.backends.inductor.graph.rows import TensorRefs, take
from freeze_engine.backends.inductor.graph.snapshot import SnapshotReader
from freeze_engine.backends.inductor.kernels.kernels import Lowered, kernels
from freeze_engine.tensors.constants import StorageNames
from freeze_engine.trace import Kernel

FIRST, COPY, LAST = "extern_kernels.mm", "cpp_fused_addmm_0", "extern_kernels.addmm"


def function(x: Tensor, y: Tensor) -> Tensor:
    product = torch.mm(x, x)
    return torch.addmm(y + 1, product, product.t())


GRAPH = make_fx(function)(torch.ones(2, 2), torch.ones(2, 2))
for line, node in enumerate(GRAPH.graph.nodes):
    node.meta["stack_trace"] = f'  File "net.py", line {line}, in forward'


def program(*calls: tuple[str, tuple[str, ...], int]) -> tuple[Kernel, ...]:
    """Returns the kernels of a program.

    Args:
        calls: for each its name, the origins of its buffers, and how many buffers it computes.
    """
    nodes = {node.name: node for node in GRAPH.graph.nodes}
    seen = [
        RawKernel(name, ((tuple(nodes[each] for each in origins), None),) * buffers) for name, origins, buffers in calls
    ]
    raw = take(GRAPH, TensorRefs())
    snapshot = SnapshotReader(Constants(), StorageNames()).read(raw)
    return tuple(kernels(None, seen, Lowered(raw, snapshot, snapshot, {})))


def called(*calls: tuple[str, tuple[str, ...], int]) -> dict[str, tuple[str, ...]]:
    """Returns the nodes of each kernel."""
    return {kernel.name: kernel.nodes for kernel in program(*calls)}


@pytest.mark.parametrize(
    ("buffers", "prepared", "last"),
    [(1, ("add",), ("t", "addmm")), (2, ("add", "t"), ("addmm",))],
    ids=["what is computed for it", "and its view in another layout"],
)
def test_node_made_for_a_library_kernel_is_not_its_operator(
    buffers: int, prepared: tuple[str, ...], last: tuple[str, ...]
) -> None:
    origins = ("addmm", "add", "t", "mm")
    found = called((FIRST, ("mm",), 1), (COPY, origins, buffers), (LAST, origins, 1))
    assert found == {FIRST: ("mm",), COPY: prepared, LAST: last}


def test_a_copy_of_what_the_graph_is_given_leads_to_the_operator_that_it_is_for():
    assert called((COPY, ("mm",), 1), (FIRST, ("mm",), 1)) == {COPY: ("mm",), FIRST: ("mm",)}


def test_reader_of_a_library_result_has_its_operator():
    assert called((FIRST, ("mm",), 1), (COPY, ("mm",), 1)) == {FIRST: ("mm",), COPY: ("mm",)}


def test_the_line_of_a_librarys_operator_comes_first():
    generated, library = program((COPY, ("mm", "t"), 1), (LAST, ("addmm", "add", "t"), 1))
    lines = {node.name: line for line, node in enumerate(GRAPH.graph.nodes)}
    assert [source.line for source in generated.sources] == [lines["mm"], lines["t"]]
    assert [source.line for source in library.sources] == [lines["addmm"], lines["add"]]
