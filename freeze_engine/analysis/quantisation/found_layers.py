"""Layers in one graph: convolutions, matrix products and embeddings with a weight that is known before the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freeze_engine.analysis.quantisation.graph_values import GraphValues
from freeze_engine.analysis.quantisation.operators import (
    COMPUTE,
    INT4_IN,
    ITEM_BYTES,
    SCALES,
    elements_of,
    is_int4_packed,
    is_narrow,
    reads_quantised,
    short,
)
from freeze_engine.trace import Node, Rewrite

_SCALED_WITHIN = 6
"""Operators after a matrix product among which torchao's multiplication by the scale stands."""


@dataclass(frozen=True)
class FoundLayer:
    """A layer in the graph that shows its weight.

    Attributes:
        node: its node.
        weight: the operand that is its weight.
        activation: the other one.
        sources: names of the attributes and constants behind the weight.
    """

    node: Node
    weight: str
    activation: str | None
    sources: frozenset[str]


def quantised_layers(values: GraphValues) -> Iterator[FoundLayer]:
    """Yields the layers of a graph whose weight is quantised."""
    for found in layers_of(values):
        if is_quantised(values, found):
            yield found


def is_quantised(values: GraphValues, found: FoundLayer) -> bool:
    """Returns whether the weight of a layer is quantised: by its dtype, or by the operator that reads it."""
    return is_int4_packed(found.node.op) or any(is_narrow(values.dtype(name)) for name in found.sources)


def layers_of(values: GraphValues) -> Iterator[FoundLayer]:
    """Yields the layers of a graph, quantised or not."""
    for node in values.graph.walk():
        weight = values.weight_of(node) if short(node.op) in COMPUTE else None
        if weight is not None:
            yield FoundLayer(node, weight, values.activation_of(node, weight), _behind(values, node, weight))


def _behind(values: GraphValues, node: Node, weight: str) -> frozenset[str]:
    """Returns what a weight is made of, with its scales: operands beside it, or what its product is multiplied by."""
    places = SCALES.get(short(node.op), ())
    own = [values.static.get(node.inputs[place], frozenset()) for place in places if place < len(node.inputs)]
    sources = values.static[weight].union(*own)
    if not any(is_narrow(values.dtype(name)) for name in sources):
        return sources
    return sources | scales_after(values, node)


def scales_after(values: GraphValues, node: Node) -> frozenset[str]:
    """Returns the constants that a product is multiplied by right after it: torchao's scales of a weight."""
    found = frozenset[str]()
    value = node.outputs[0].name if node.outputs else ""
    for _ in range(_SCALED_WITHIN):
        readers = values.readers.get(value, ())
        if len(readers) != 1 or not readers[0].outputs:
            break
        reader = readers[0]
        if short(reader.op) == "mul":
            found |= frozenset[str]().union(*(values.static.get(name, frozenset()) for name in reader.inputs))
        elif short(reader.op) not in ("view", "reshape", "convert_element_type", "sub"):
            break
        value = reader.outputs[0].name
    return found


def cone(values: GraphValues, name: str) -> Iterator[Node]:
    """Yields the nodes that a static value is computed by."""
    todo, seen = [name], set[str]()
    while todo:
        node = values.definers.get(todo.pop())
        if node is not None and node.id not in seen:
            seen.add(node.id)
            yield node
            todo += node.inputs


def successor(values: GraphValues, rewrite: Rewrite, now: str) -> str | None:
    """Returns the node that computes in the place of a rewritten one."""
    made = [values.nodes[each] for each in rewrite.produced if each in values.nodes]
    computing = [node for node in made if short(node.op) in COMPUTE or _is_kernel(node.op)]
    if computing or made:
        return (computing or made)[-1].id
    return now if now in values.nodes else None


def _is_kernel(op: str) -> bool:
    name = short(op)
    return (
        not name.endswith("prepack")
        and (reads_quantised(op) or "linear" in name or "conv" in name)
        and ("convert" not in name)
    )


def float_bytes(values: GraphValues, found: FoundLayer) -> int | None:
    """Returns the bytes of a weight in the dtype of the activation that it is multiplied with."""
    elements = elements_of(values.types.get(found.weight, ""))
    if elements is not None and is_int4_packed(found.node.op):
        elements *= INT4_IN.get(values.dtype(found.weight), 1)
    dtype = values.float_dtype(found.activation) if found.activation is not None else ""
    return elements * ITEM_BYTES[dtype] if elements is not None and dtype in ITEM_BYTES else None
