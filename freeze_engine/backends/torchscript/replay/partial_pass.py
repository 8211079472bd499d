"""Runs some of the rewrites of one pass without the others.

None of the passes after ``_freeze_module`` rewrites a node whose operands are not constants (see
`freeze_engine.backends.torchscript.folds.conditions`). So the constants of the excluded rewrites come in through
inputs of the graph while the pass runs, and are restored afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

from freeze_engine.backends.common.torch_private import private
from freeze_engine.backends.torchscript.capture.pass_driver import OPTIONAL, REMOVE_DROPOUT
from freeze_engine.backends.torchscript.graph.live import paired
from freeze_engine.backends.torchscript.trace_builder import LiveStep
from freeze_engine.trace import GraphSnapshot, Rewrite


def has_parts(name: str) -> bool:
    """Returns whether a pass can be run in part."""
    return name in OPTIONAL


def partly(name: str, before: GraphSnapshot, live: LiveStep, left_alone: Iterable[Rewrite]) -> LiveStep:
    """Runs a pass on a copy of the graph before it.

    Args:
        name: of the pass, one of `OPTIONAL`.
        before: the graph before it, as recorded.
        live: the same to be run; it stays as it is.
        left_alone: the rewrites not to do.

    Returns:
        The graph after it.
    """
    graph = live.graph.copy()
    nodes = {node.id: each for node, each in paired(before, graph)}
    untouched = [nodes[identity] for rewrite in left_alone for identity in rewrite.consumed]
    hidden = list(_hidden(graph, untouched))
    if name == REMOVE_DROPOUT.name:
        # The binding takes a module. This runs the concatenation of linears as well, which rewrites on CUDA only.
        private("_jit_pass_optimize_frozen_graph")(graph, False)
    else:
        private(OPTIONAL[name].binding)(graph)
    _put_back(graph, hidden)
    return LiveStep(graph, live.module)


def _hidden(graph: Any, nodes: list[Any]) -> Iterator[Any]:
    """Replaces the constants that nodes read by inputs of the graph, and yields their values."""
    for node in nodes:
        for position, value in enumerate(list(node.inputs())):
            if value.node().kind() != "prim::Constant":
                continue
            given = graph.addInput()
            given.setType(value.type())
            node.replaceInput(position, given)
            yield value.toIValue()


def _put_back(graph: Any, hidden: list[Any]) -> None:
    """Turns the last inputs of the graph into constants again."""
    inputs = list(graph.inputs())
    first = next(iter(graph.nodes()), None)
    graph.setInsertPoint(first if first is not None else graph.return_node())
    for value, given in zip(reversed(hidden), reversed(inputs), strict=False):
        content = value.detach() if isinstance(value, torch.Tensor) else value
        given.replaceAllUsesWith(graph.insertConstant(content))
        graph.eraseInput(len(inputs) - 1)
        inputs.pop()
