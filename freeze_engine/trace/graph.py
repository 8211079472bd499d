"""A method's graph at one moment, and its text.

Names follow torch: a *graph* has *nodes*; a node reads *values* and defines values; a value's *name* is torch's debug
name without the leading ``%``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freeze_engine.trace.source import SourceRef


@dataclass(frozen=True, slots=True)
class Value:
    """A value a node defines or a block receives.

    Attributes:
        name: unique within its graph (forked subgraphs prefix theirs, see `Block.scope`).
        type: torch's own text, such as ``Float(64, 3, 7, 7, strides=[147, 49, 7, 1], device=cpu)``.
    """

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """Numbers of a constant tensor: how they are distributed, how many are zero, and the first of them.

    Numbers are those of `Constant.minimum`: a quantised tensor's are dequantised, a complex one's are magnitudes, True
    counts as 1.

    Attributes:
        zeros: elements equal to zero; those that a sparse tensor does not store count.
        nans: elements that are not a number; the other elements of `Constant.nonfinite` are infinite.
        histogram: counts in bins of equal width from `Constant.minimum` to `Constant.maximum`; empty without finite
            elements. Of a sparse tensor the stored elements.
        counted: elements that the histogram was made of: at most 65,536, spread over the whole tensor.
        first: the first elements, in logical order.
    """

    zeros: int
    nans: int = 0
    histogram: tuple[int, ...] = ()
    counted: int = 0
    first: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """Summary of a constant tensor, or of an object or collection that holds tensors, kept instead of its weights.

    Attributes:
        shape: sizes.
        dtype: torch's name without the prefix (``float32``, ``quint8``); of an object or collection its type
            (``List[Tensor]``), and its shape is empty.
        device: ``cpu``, ``cuda:0``.
        nbytes: bytes that the tensor's elements take.
        storage: names the storage within this trace; equal for tensors that share memory, ``None`` if unknown.
        digest: first 16 hex digits of the SHA-256 of the contiguous bytes, of a quantised tensor with its scales and
            zero points, or of all that a container holds; ``None`` where only the type is known.
        minimum, maximum, mean, std: of the finite elements as float64; ``None`` for empty or unknown tensors.
        nonfinite: count of NaN and infinite elements.
        values: its numbers, ``None`` where they were not kept.
    """

    shape: tuple[int, ...]
    dtype: str
    device: str
    nbytes: int
    storage: str | None = None
    digest: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    std: float | None = None
    nonfinite: int = 0
    values: ValueSummary | None = None

    @property
    def is_tensor(self) -> bool:
        """Whether it is one tensor."""
        return self.dtype.isidentifier() and self.dtype.islower()


@dataclass(frozen=True, slots=True)
class Block:
    """A nested body: a branch, a loop's body, or a forked subgraph.

    Attributes:
        inputs: values the block receives.
        nodes: in execution order.
        outputs: names of the values it yields.
        scope: empty for a block that sees the enclosing values; for a subgraph with names of its own (a fork)
            the prefix, ending in ``/``, that all its value names and node ids carry.
    """

    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation.

    Attributes:
        id: stable across the steps of one method, unique within a snapshot.
        op: ``aten::conv2d``, ``prim::Constant``, or an FX target.
        inputs: names of the values it reads, in order.
        outputs: values it defines.
        attributes: ``(name, text)`` pairs in torch's order, texts as torch prints them.
        blocks: nested blocks.
        module: dotted path of the submodule it comes from; empty for the top module or where unknown.
        source: the user's source line, if torch knows it.
        constant: the summary of a tensor constant.
    """

    id: str
    op: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[Value, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    blocks: tuple[Block, ...] = ()
    module: str = ""
    source: SourceRef | None = None
    constant: Constant | None = None

    def attribute(self, name: str) -> str | None:
        """Returns the text of the attribute called ``name``, or ``None``."""
        for key, text in self.attributes:
            if key == name:
                return text
        return None


class _Walked:
    """Room for the nodes of a snapshot in a row: they never change, and most of what looks at a snapshot walks it."""

    __slots__ = ("_walked",)
    _walked: tuple[Node, ...]


@dataclass(frozen=True, slots=True, repr=False)
class GraphSnapshot(_Walked):
    """A method's graph at one moment.

    Attributes:
        inputs: the graph's inputs, ``self`` first where there is one.
        nodes: top-level nodes in order; nested ones are in their `Node.blocks`.
        outputs: names of the returned values.
    """

    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]

    def walk(self) -> Iterator[Node]:
        """Returns every node, nested ones right after the node that holds them."""
        try:
            return iter(self._walked)
        except AttributeError:
            found: list[Node] = []
            _collect(self.nodes, found)
            walked = self.nodes if len(found) == len(self.nodes) else tuple(found)
            object.__setattr__(self, "_walked", walked)
            return iter(walked)

    def __repr__(self) -> str:
        return "\n".join(graph_lines(self))


def graph_lines(graph: GraphSnapshot) -> Iterator[str]:
    """Yields the lines of a snapshot's text, in the style of torch's own printer.

    Args:
        graph: the snapshot.

    Yields:
        A header line, one line per node and block, and the return line.
    """
    yield f"graph({', '.join(f'%{value.name} : {value.type}' for value in graph.inputs)}):"
    for node in graph.nodes:
        yield from _node_lines(node, 1)
    yield f"  return ({', '.join(f'%{name}' for name in graph.outputs)})"


def _node_lines(node: Node, depth: int) -> Iterator[str]:
    indent = "  " * depth
    yield indent + node_line(node)
    for number, block in enumerate(node.blocks):
        yield f"{indent}  block{number}({', '.join(f'%{value.name} : {value.type}' for value in block.inputs)}):"
        for inner in block.nodes:
            yield from _node_lines(inner, depth + 2)
        yield f"{indent}    -> ({', '.join(f'%{name}' for name in block.outputs)})"


def node_line(node: Node) -> str:
    """Returns one node as torch would print it, blocks left out.

    Args:
        node: the node.

    Returns:
        A line such as ``%5 : Tensor = aten::mul(%13, %2) # model.py:22:15``.
    """
    outputs = ", ".join(f"%{value.name} : {value.type}" for value in node.outputs)
    attributes = "[" + ", ".join(f"{key}={text}" for key, text in node.attributes) + "]" if node.attributes else ""
    inputs = ", ".join(f"%{name}" for name in node.inputs)
    source = f" # {node.source.file}:{node.source.line}:{node.source.column}" if node.source else ""
    return f"{outputs + ' ' if outputs else ''}= {node.op}{attributes}({inputs}){source}"


def _collect(nodes: tuple[Node, ...], found: list[Node]) -> None:
    # Generators inside each other would pass every node on as often as it is nested.
    for node in nodes:
        found.append(node)
        if node.blocks:
            for block in node.blocks:
                _collect(block.nodes, found)
