"""Reads off a live graph what its text does not tell: modules, source lines, constants' contents.

A live graph and the snapshot read from its text have the same nodes in the same order, so the two are walked
side by side; torch renumbers the values of a copied graph, so names always come from the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from freeze_engine.backends.torchscript.attributes import tensors_in
from freeze_engine.backends.torchscript.origins import CONSTANT_OPS
from freeze_engine.measure.memory import StorageNames, constant_of
from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, SourceLines, Value

_SEGMENT = re.compile(r"([^.()]+)\(([^()]*)\)")
#: torch's placeholders for calls that are not on a submodule (``torch/csrc/jit/ir/scope.h``).
_PLACEHOLDERS = ("SELF", "UNKNOWN_INSTANCE", "top")
_RANGE_HEADER = re.compile(r'^\s*File "(?P<file>.*)", line (?P<line>\d+)(?:, in .*)?$')
_MARKER = re.compile(r"^\s*~+(?: <--- HERE)?\s*$")
_DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexHalf": "complex32",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
    "QInt8": "qint8",
    "QUInt8": "quint8",
    "QInt32": "qint32",
}
_TENSOR_TYPE = re.compile(
    r"(?P<kind>[A-Z]\w*)\((?P<sizes>(?:\d+(?:, \d+)*)?)(?:, )?(?:strides=.*)?(?:requires_grad=.*)?\)$"
)
_DEVICE = re.compile(r"device=([\w:]+)")


def live_nodes(graph: Any) -> Iterator[Any]:
    """Yields the nodes of a live graph or block in the order of `GraphSnapshot.walk`."""
    for node in graph.nodes():
        yield node
        for block in node.blocks():
            yield from live_nodes(block)
        # torch does not print the body of a Python function that was traced.
        if node.hasAttribute("Subgraph") and node.kind() != "prim::PythonOp":
            yield from live_nodes(node.g("Subgraph"))


def paired(snapshot: GraphSnapshot, graph: Any) -> list[tuple[Node, Any]]:
    """Pairs each node of a snapshot with the live node it was printed from.

    Args:
        snapshot: read from a text of ``graph``, or of a graph that should be the same.
        graph: the live graph.

    Returns:
        The pairs; empty if the two are not the same graph.
    """
    ours, theirs = list(snapshot.walk()), list(live_nodes(graph))
    same = len(ours) == len(theirs) and all(mine.op == _kind(node) for mine, node in zip(ours, theirs, strict=True))
    return list(zip(ours, theirs, strict=True)) if same else []


def _kind(node: Any) -> str:
    return str(node.kind()) if node.kind() != "prim::PythonOp" else f"^{node.pyname()}"


def module_path(node: Any) -> str:
    """Returns the dotted path of the submodule a live node comes from; empty for the top module."""
    names = [name for name, _ in _SEGMENT.findall(node.getModuleHierarchy())]
    return ".".join(name for name in names if name not in _PLACEHOLDERS)


def constants(pairs: Sequence[tuple[Node, Any]], storages: StorageNames) -> dict[str, Constant]:
    """Describes the tensor constants of a graph.

    Args:
        pairs: nodes with their live nodes.
        storages: names storages across the whole trace.

    Returns:
        By value name; a container of tensors is described as a whole.
    """
    types = {value.name: value.type for node, _ in pairs for value in node.outputs}
    described = ((name, describe(value, types[name], storages)) for name, value in constant_values(pairs))
    return {name: each for name, each in described if each is not None}


def constant_values(pairs: Sequence[tuple[Node, Any]]) -> Iterator[tuple[str, Any]]:
    """Yields name and value of every constant of a graph.

    Args:
        pairs: nodes with their live nodes.
    """
    for node, live in pairs:
        if node.op in CONSTANT_OPS and node.outputs:
            yield node.outputs[0].name, _constant_value(live)


def _constant_value(live: Any) -> Any:
    if not live.hasAttribute("value"):
        return None
    kind = live.kindOf("value")
    if kind == "t":
        return live.t("value")
    return live.output().toIValue()


def describe(value: Any, type_text: str, storages: StorageNames) -> Constant | None:
    """Describes a tensor, or a container of tensors as one: its bytes are those of all of them.

    Args:
        value: a tensor, or lists, tuples and dictionaries of such.
        type_text: torch's type of the value, which names a container's kind.
        storages: names storages across the whole trace.

    Returns:
        The description, ``None`` if ``value`` holds no tensor.
    """
    if isinstance(value, torch.Tensor):
        return constant_of(value, storages)
    parts = [constant_of(tensor, storages) for tensor in tensors_in(value)]
    if not parts:
        return None
    return Constant((), type_text, parts[0].device, sum(part.nbytes for part in parts))


def constant_of_type(type_text: str) -> Constant | None:
    """Describes a tensor of which only torch's type text is known, such as ``Float(4, 3, device=cpu)``."""
    match = _TENSOR_TYPE.match(type_text)
    dtype = _DTYPES.get(match["kind"]) if match else None
    if match is None or dtype is None:
        return None
    shape = tuple(int(size) for size in match["sizes"].split(", ")) if match["sizes"] else ()
    count = 1
    for size in shape:
        count *= size
    device = _DEVICE.search(type_text)
    return Constant(shape, dtype, device[1] if device else "unknown", count * getattr(torch, dtype).itemsize)


@dataclass(frozen=True, slots=True)
class Annotations:
    """What is added to the nodes of a snapshot.

    Attributes:
        modules: module path by value name.
        constants: by value name.
    """

    modules: Mapping[str, str]
    constants: Mapping[str, Constant]

    def annotate(self, snapshot: GraphSnapshot) -> GraphSnapshot:
        """Returns the snapshot with modules and constants filled in."""
        return replace(snapshot, nodes=tuple(self._node(node) for node in snapshot.nodes))

    def _node(self, node: Node) -> Node:
        blocks = tuple(self._block(block) for block in node.blocks)
        module = node.module or self._module(node)
        constant = self._constant(node, node.outputs[0]) if node.op in CONSTANT_OPS and node.outputs else None
        if blocks == node.blocks and module == node.module and constant is None:
            return node
        return replace(node, blocks=blocks, module=module, constant=constant)

    def _module(self, node: Node) -> str:
        names = [value.name for value in node.outputs[:1]]
        if not names or node.blocks:
            # torch gives no module to branches, loops and nodes that define nothing: they are where their operand is.
            names += reversed(node.inputs)
        return next((self.modules[name] for name in names if self.modules.get(name)), "")

    def _constant(self, node: Node, value: Value) -> Constant | None:
        known = self.constants.get(value.name)
        by_type = constant_of_type(value.type)
        # A value's name outlives a change of its content only through a new type; then the name proves nothing.
        if known is not None and (by_type is None or (by_type.shape, by_type.dtype) == (known.shape, known.dtype)):
            return known
        return by_type

    def _block(self, block: Block) -> Block:
        nodes = tuple(self._node(node) for node in block.nodes)
        return block if nodes == block.nodes else replace(block, nodes=nodes)


def source_lines(graphs: Iterable[Any]) -> tuple[SourceLines, ...]:
    """Collects the source lines that torch kept with the nodes, so that a trace shows them anywhere.

    Args:
        graphs: live graphs.

    Returns:
        Runs of consecutive lines, by file and line.
    """
    known: dict[str, dict[int, str]] = {}
    seen: set[str] = set()
    for graph in graphs:
        for node in live_nodes(graph):
            text = node.sourceRange()
            if text not in seen:
                seen.add(text)
                _note_lines(text, known)
    return tuple(run for file in sorted(known) for run in _runs(file, known[file]))


def _note_lines(text: str, known: dict[str, dict[int, str]]) -> None:
    """Reads torch's excerpt: a header with the node's first line, then lines, the node's own underlined."""
    header, *lines = text.rstrip("\n").split("\n")
    match = _RANGE_HEADER.match(header)
    if match is None:
        return
    code: list[str] = []
    marked: int | None = None
    for line in lines:
        if _MARKER.match(line):
            marked = len(code) - 1 if marked is None else marked
        else:
            code.append(line.removeprefix("    ").rstrip())
    if marked is None:
        return
    first = int(match["line"]) - marked
    numbers = known.setdefault(match["file"], {})
    for offset, line in enumerate(code):
        numbers.setdefault(first + offset, line)


def _runs(file: str, lines: dict[int, str]) -> Iterator[SourceLines]:
    numbers = sorted(lines)
    start = 0
    for index in range(1, len(numbers) + 1):
        if index == len(numbers) or numbers[index] != numbers[index - 1] + 1:
            run = numbers[start:index]
            yield SourceLines(file, run[0], tuple(lines[number] for number in run))
            start = index
