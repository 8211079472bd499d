"""Freezes small modules with torch's own passes, one by one, and takes a snapshot after each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from freeze_engine.backends.torchscript.graph.parser import parse_graph
from freeze_engine.recorder.node_identity import assign_ids
from freeze_engine.trace import Block, Constant, GraphSnapshot, Node

FOLDS = {
    "FoldFrozenConvBatchnorm": "fold_frozen_conv_bn",
    "FoldFrozenConvAddOrSub": "fold_frozen_conv_add_or_sub",
    "FoldFrozenConvMulOrDiv": "fold_frozen_conv_mul_or_div",
    "FoldFrozenLinearBatchnorm": "fold_frozen_linear_bn",
}
INFERENCE = {
    "FuseFrozenConvAddRelu": "fuse_frozen_conv_add_relu",
    "ConvertFrozenOpsToMKLDNN": "convert_frozen_ops_to_mkldnn",
    "FrozenLinearTranspose": "transpose_frozen_linear",
}


@dataclass(frozen=True)
class Pass:
    """One pass, and the graph before and after it."""

    name: str
    round: int
    before: GraphSnapshot
    after: GraphSnapshot


@dataclass(frozen=True)
class Frozen:
    """A frozen module, the passes that ran, and the attributes of its constants before them."""

    module: Any
    passes: tuple[Pass, ...]
    origins: Mapping[str, tuple[str, ...]]

    def last_round(self) -> Iterator[Pass]:
        """Yields the last run of each pass."""
        yield from {each.name: each for each in self.passes}.values()


def freeze(module: nn.Module, example: Any = None, *, inference: bool = False) -> Frozen:
    """Scripts the module (or traces it with ``example``), freezes it and runs torch's passes one by one.

    Args:
        module: its parts may be in any mode; freezing reads their flags.
        example: input to trace with, or ``None`` to script.
        inference: whether to run the passes of ``optimize_for_inference`` as well.
    """
    scripted: Any = torch.jit.script(module) if example is None else torch.jit.trace(module, example)
    frozen = torch._C._freeze_module(scripted._c, [], True, False)
    graph = frozen._get_method("forward").graph
    passes: list[Pass] = []
    before = first = assign_ids(None, snapshot(graph))

    def run(name: str, binding: str, target: Any, round_: int = 1) -> bool:
        nonlocal before
        changed = getattr(torch._C, f"_jit_pass_{binding}")(target)
        after = assign_ids(before, snapshot(graph))
        passes.append(Pass(name, round_, before, after))
        before = after
        return bool(changed)

    run("RemoveDropout", "remove_dropout", frozen)
    run("FrozenConcatLinear", "concat_frozen_linear", graph)
    round_, changed = 0, True
    while changed:
        round_ += 1
        changed = sum(run(name, binding, graph, round_) for name, binding in FOLDS.items()) > 0
    if inference:
        for name, binding in INFERENCE.items():
            run(name, binding, graph)
    return Frozen(frozen, tuple(passes), origins(module, first))


def origins(module: nn.Module, graph: GraphSnapshot) -> dict[str, tuple[str, ...]]:
    """Returns the path of the attribute in the name of each ``self.…`` constant."""
    paths = {name for name, _ in (*module.named_parameters(), *module.named_buffers())}
    values = (value.name for node in graph.walk() for value in node.outputs)
    return {name: (path,) for name in values if (path := name.rpartition("self.")[2]) in paths}


def snapshot(graph: Any) -> GraphSnapshot:
    """Returns a snapshot of a live graph, with modules and tensor constants filled in."""
    read = parse_graph(str(graph))
    live = iter(list(_live(graph)))
    return replace(read, nodes=tuple(_filled(node, live) for node in read.nodes))


def _live(block: Any) -> Iterator[Any]:
    for node in block.nodes():
        yield node
        for inner in (*node.blocks(), *([node.g("Subgraph")] if node.hasAttribute("Subgraph") else ())):
            yield from _live(inner)


def _filled(node: Node, live: Iterator[Any]) -> Node:
    source = next(live)
    assert source.kind() == node.op
    names = re.findall(r"([^.()]+)\([^()]*\)", source.getModuleHierarchy())
    module = ".".join(name for name in names if name not in ("SELF", "UNKNOWN_INSTANCE", "top"))
    blocks = tuple(_filled_block(block, live) for block in node.blocks)
    return replace(node, constant=_constant(source), module=module or node.module, blocks=blocks)


def _filled_block(block: Block, live: Iterator[Any]) -> Block:
    return replace(block, nodes=tuple(_filled(node, live) for node in block.nodes))


def _constant(source: Any) -> Constant | None:
    if not source.hasAttribute("value") or source.kindOf("value") != "t":
        return None
    tensor = source.t("value")
    return Constant(tuple(tensor.shape), str(tensor.dtype).partition(".")[2], str(tensor.device), 0)
