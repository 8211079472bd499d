"""Adds the modules of nodes and the summaries of constants to a graph read from text."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import replace

from freeze_engine.backends.torchscript.graph.stages import CONSTANT_OPS
from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, Value

#: torch's names of dtypes in type texts, the usual ones, and bytes per element.
_DTYPES = {
    "Float": ("float32", 4),
    "Double": ("float64", 8),
    "Half": ("float16", 2),
    "BFloat16": ("bfloat16", 2),
    "Long": ("int64", 8),
    "Int": ("int32", 4),
    "Short": ("int16", 2),
    "Char": ("int8", 1),
    "Byte": ("uint8", 1),
    "Bool": ("bool", 1),
    "ComplexHalf": ("complex32", 4),
    "ComplexFloat": ("complex64", 8),
    "ComplexDouble": ("complex128", 16),
    "QInt8": ("qint8", 1),
    "QUInt8": ("quint8", 1),
    "QInt32": ("qint32", 4),
}
_TENSOR_TYPE = re.compile(
    r"(?P<kind>[A-Z]\w*)\((?P<sizes>(?:\d+(?:, \d+)*)?)(?:, )?(?:strides=.*)?(?:requires_grad=.*)?\)$"
)
_DEVICE = re.compile(r"device=([\w:]+)")


@functools.lru_cache(maxsize=1024)
def constant_of_type(type_text: str) -> Constant | None:
    """Describes a tensor from torch's type text alone, such as ``Float(4, 3, device=cpu)``."""
    match = _TENSOR_TYPE.match(type_text)
    known = _DTYPES.get(match["kind"]) if match else None
    if match is None or known is None:
        return None
    dtype, element_bytes = known
    shape = tuple(int(size) for size in match["sizes"].split(", ")) if match["sizes"] else ()
    device = _DEVICE.search(type_text)
    return Constant(shape, dtype, device[1] if device else "unknown", math.prod(shape) * element_bytes)


class Annotations:
    """Data added to the nodes of a snapshot; a node of several snapshots is annotated once.

    Args:
        modules: module path by value name.
        constants: by value name.
    """

    def __init__(self, modules: Mapping[str, str], constants: Mapping[str, Constant]) -> None:
        self._modules = modules
        self._constants = constants
        # What was given is kept beside its annotated form, so that its identity stays its own.
        self._known: dict[int, tuple[Node, Node]] = {}
        self._graphs: dict[int, tuple[GraphSnapshot, GraphSnapshot]] = {}

    def annotate(self, snapshot: GraphSnapshot) -> GraphSnapshot:
        """Returns the snapshot with modules and constants filled in."""
        known = self._graphs.get(id(snapshot))
        if known is None:
            annotated = replace(snapshot, nodes=tuple(map(self._node, snapshot.nodes)))
            known = self._graphs[id(snapshot)] = (snapshot, annotated)
        return known[1]

    def _node(self, node: Node) -> Node:
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._annotated(node))
        return known[1]

    def _annotated(self, node: Node) -> Node:
        blocks = tuple(map(self._block, node.blocks)) if node.blocks else ()
        module = node.module or self._module(node)
        constant = self._constant(node.outputs[0]) if node.op in CONSTANT_OPS and node.outputs else None
        if blocks == node.blocks and module == node.module and constant is None:
            return node
        return Node(node.id, node.op, node.inputs, node.outputs, node.attributes, blocks, module, node.source, constant)

    def _module(self, node: Node) -> str:
        names = [value.name for value in node.outputs[:1]]
        if not names or node.blocks:
            # torch gives no module to branches, loops and nodes that define nothing: they are where their operand is.
            names += reversed(node.inputs)
        return next((self._modules[name] for name in names if self._modules.get(name)), "")

    def _constant(self, value: Value) -> Constant | None:
        known = self._constants.get(value.name)
        by_type = constant_of_type(value.type)
        # A value's name outlives a change of its content only through a new type; then the name proves nothing.
        if known is not None and (by_type is None or (by_type.shape, by_type.dtype) == (known.shape, known.dtype)):
            return known
        return by_type

    def _block(self, block: Block) -> Block:
        nodes = tuple(self._node(node) for node in block.nodes)
        return block if nodes == block.nodes else replace(block, nodes=nodes)
