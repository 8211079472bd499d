"""Finds faults of torch that make a frozen module behave differently from the module before freezing.

Seen by running torch 2.13.0 (``tests/torch/test_faults.py``):

- Alias analysis does not enter constant lists, tuples, dicts and objects of TorchScript classes, nor does the search
  for written attributes enter forked subgraphs: what is written there still becomes a constant, and every call writes
  it.
- A forked subgraph can go on reading or assigning an attribute that freezing has removed.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterator, Sequence
from typing import Final

import torch

from freeze_engine.backends.common.use_def import UseDef, use_def
from freeze_engine.backends.torchscript.folds.misfolds import misfolds
from freeze_engine.backends.torchscript.graph.attribute_reads import attribute_name
from freeze_engine.trace import InputSpec, Node, Notice, Step

#: Operators whose output shares memory with their first input, or holds or is part of it.
_VIEWS: Final = frozenset(
    {
        *("aten::__getitem__", "aten::select", "aten::slice", "aten::view", "aten::view_as", "aten::t", "aten::narrow"),
        *("aten::transpose", "aten::permute", "aten::squeeze", "aten::unsqueeze", "aten::expand", "aten::diagonal"),
        *("aten::expand_as", "aten::movedim", "aten::swapaxes", "aten::unfold", "aten::as_strided", "aten::numpy_T"),
        *("aten::split_with_sizes", "aten::tensor_split", "aten::hsplit", "aten::vsplit"),
        *("aten::detach", "aten::alias", "aten::unbind", "aten::chunk", "aten::split", "aten::get", "aten::values"),
        *("prim::TupleIndex", "prim::TupleUnpack", "prim::ListUnpack", "prim::unchecked_cast", "prim::GetAttr"),
        *("aten::unchecked_unwrap_optional", "aten::_unwrap_optional", "prim::data"),
    }
)
_WRITES: Final = frozenset(
    (
        "prim::SetAttr",
        *(f"aten::{op}" for op in ("append", "extend", "insert", "clear", "pop", "popitem", "reverse", "sort")),
        *(f"aten::{op}" for op in ("_set_item", "Delete", "remove", "setdefault", "update")),
    )
)
_OBJECT_REMEDY: Final = (
    "torch does not look for writes to an object of a class: hold the value in an attribute of the module itself."
)

_ITEMS_REMEDY: Final = (
    "torch does not look for writes to a list or dictionary inside another one: hold it in an attribute of its own."
)


def faults(steps: Sequence[Step], left: Container[str] | None, inputs: tuple[InputSpec, ...]) -> Iterator[Notice]:
    """Yields notices about torch's faults in a freeze.

    Args:
        steps: all steps.
        left: paths of the frozen module's attributes, ``None`` if there is no frozen module.
        inputs: of the model, as far as known.
    """
    latest: dict[str, Step] = {}
    for step in steps:
        if step.method in latest:
            yield from misfolds(latest[step.method].graph, step, inputs)
        latest[step.method] = step
    if left is None:
        return
    for step in latest.values():
        reading = _Reading(step)
        yield from reading.written_constants()
        yield from reading.removed_attributes(left)


class _Reading:
    """One method's last graph, with the values that forked subgraphs receive."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._graph: UseDef = use_def(step.graph)
        self._received = {
            inner.name: outer
            for node in step.graph.walk()
            for block in node.blocks
            if block.scope
            for inner, outer in zip(block.inputs, node.inputs, strict=False)
        }
        self._self = step.graph.inputs[0].name if step.graph.inputs else ""

    def written_constants(self) -> Iterator[Notice]:
        named = set()
        for node in self._graph.nodes.values():
            written = _written(node)
            constant = self._constant(written) if written is not None else None
            if constant is None or (constant.id, node.op) in named:
                continue
            named.add((constant.id, node.op))
            line = f" at {node.source.file}:{node.source.line}" if node.source is not None else ""
            yield Notice(
                "written_constant",
                f"{node.op} (%{node.id}){line} writes into the constant %{constant.outputs[0].name}: the frozen module "
                "keeps a state that is not an attribute of it, and every call changes what the next ones return. "
                f"{self._remedy(node, constant)}",
                self._step.index,
            )

    def _remedy(self, node: Node, constant: Node) -> str:
        if _holds_object(constant):
            return _OBJECT_REMEDY
        if node.id in self._graph.forked:
            return "torch does not look for writes in what torch.jit.fork runs: call it directly, or write outside it."
        if node.op in _WRITES or (constant.constant is None and "Tensor" not in constant.outputs[0].type):
            return _ITEMS_REMEDY
        return "Keep the tensor as a buffer of its own, which freezing then leaves an attribute, or write into a copy."

    def _constant(self, value: str) -> Node | None:
        """Returns the constant that is, or contains, a value."""
        while True:
            value = self._received.get(value, value)
            node = self._graph.definers.get(value)
            if node is None:
                return None
            if node.op == "prim::Constant":
                return node if _holds_tensors_or_items(node) else None
            if node.op not in _VIEWS and not _is_write(node):
                return None
            value = node.inputs[0]

    def removed_attributes(self, left: Container[str]) -> Iterator[Notice]:
        named = set()
        for node in self._graph.nodes.values():
            if node.op not in ("prim::GetAttr", "prim::SetAttr"):
                continue
            path = self._path(node)
            if path is None or path in left or path in named:
                continue
            named.add(path)
            does = "reads" if node.op == "prim::GetAttr" else "assigns"
            where = "what torch.jit.fork runs" if node.id in self._graph.forked else self._step.method
            yield Notice(
                "removed_attribute",
                f"In {where}, %{node.id} still {does} {path}, which freezing has removed: the frozen module crashes "
                "there, or cannot be run, saved or loaded. Preserve it (preserved_attrs), or call the function "
                "without a fork.",
                self._step.index,
            )

    def _path(self, node: Node) -> str | None:
        """Returns the attribute's path from the module, ``None`` where its owner is not known."""
        owner = self._received.get(node.inputs[0], node.inputs[0])
        name = attribute_name(node)
        if owner == self._self:
            prefix = self._step.method.rpartition(".")[0]
            return f"{prefix}.{name}" if prefix else name
        definer = self._graph.definers.get(owner)
        if definer is None or definer.op != "prim::GetAttr":
            return None
        above = self._path(definer)
        return None if above is None else f"{above}.{name}"


def _is_write(node: Node) -> bool:
    return node.op in _WRITES or (node.op.endswith("_") and not node.op.endswith("__"))


def _written(node: Node) -> str | None:
    """Returns the name of the value that a node writes, ``None`` if it writes none."""
    if not node.inputs:
        return None
    if _is_write(node):
        return node.inputs[0]
    return node.inputs[-1] if _takes_out(node.op, len(node.inputs)) else None


@functools.lru_cache(maxsize=1024)
def _takes_out(op: str, count: int) -> bool:
    """Returns whether an operator of torch with so many arguments is the one whose last is ``out``."""
    space, _, name = op.partition("::")
    packet = getattr(torch.ops.aten, name, None) if space == "aten" else None
    schemas = (getattr(packet, each)._schema for each in packet.overloads()) if packet is not None else ()
    last = [schema.arguments[-1] for schema in schemas if len(schema.arguments) == count]
    writes = [each.alias_info is not None and each.alias_info.is_write and each.kwarg_only for each in last]
    return any(writes) and all(out or "Tensor" not in str(each.type) for each, out in zip(last, writes, strict=True))


def _holds_tensors_or_items(node: Node) -> bool:
    kind = node.outputs[0].type
    return (
        node.constant is not None or "Tensor" in kind or "[]" in kind or kind.startswith("Dict") or _holds_object(node)
    )


def _holds_object(constant: Node) -> bool:
    """Returns whether a constant is an object of a TorchScript class."""
    return constant.attribute("value") == "object"
