"""What can stand in the way of any fold: an operand that is no constant, a second reader, a forked subgraph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freeze_engine.backends.torchscript.slots import attribute_name
from freeze_engine.backends.torchscript.use_def import BATCH_NORM, BATCH_NORM_ARGUMENTS, CONVS, LINEAR, UseDef
from freeze_engine.trace import Node

_POINTWISE_ARGUMENTS = ("self", "other", "alpha")
_LINEAR_ARGUMENTS = ("input", "weight", "bias")
_SHAPE_READERS = frozenset({"aten::dim", "aten::size"})


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A condition that fails: `NearMiss.reason`, ``detail`` and ``advice``."""

    reason: str
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that reads its neighbour's output at ``place`` among its inputs."""

    node: Node
    neighbour: Node
    place: int


def fork(graph: UseDef, node: Node) -> Iterator[Obstacle]:
    """Yields that the node stands in a forked subgraph, if it does."""
    if node.id in graph.forked:
        yield Obstacle(
            "in_fork",
            "It stands in a forked subgraph, which torch's passes after freezing do not enter.",
            "Call the function directly instead of through torch.jit.fork.",
        )


def not_constant(graph: UseDef, node: Node, skipped: int) -> Iterator[Obstacle]:
    """Yields at most one obstacle: the arguments, but for one, that are no constants."""
    names = _arguments(node)
    found = [place for place, name in enumerate(node.inputs) if place != skipped and not graph.is_constant(name)]
    if not found:
        return
    sources = [f"{names[place]} is {provenance(graph, node.inputs[place])}" for place in found]
    yield Obstacle(
        "operand_not_constant",
        f"Of {node.op} (%{node.id}), {' and '.join(sources)}.",
        _how_to_fix(graph, node.inputs[found[0]]),
    )


def provenance(graph: UseDef, value: str) -> str:
    """Returns words for where a value that is no constant comes from."""
    definer = graph.definers.get(value)
    if definer is None:
        return f"%{value}, an input"
    if definer.op == "prim::GetAttr":
        return f"the attribute {_attribute_path(graph, value)}, still read at run time"
    return f"computed at run time by {definer.op} (%{definer.id})"


def several_uses(graph: UseDef, candidate: Candidate, ignored: str | None = None) -> Iterator[Obstacle]:
    """Yields the other readers of the neighbour's output, readers of the operator ``ignored`` left out."""
    output = candidate.node.inputs[candidate.place]
    readers = list(graph.readers[output])
    readers.remove(next(reader for reader in readers if reader.node == candidate.node.id))
    others = [reader for reader in readers if reader.op != ignored]
    if not others:
        return
    labels = " and ".join(dict.fromkeys(reader.label for reader in others))
    yield Obstacle(
        "several_uses",
        f"The output of {candidate.neighbour.op} (%{output}) is also read by {labels}.",
        "Only its shape is read there, by a module checking its input; tracing instead of scripting leaves it out."
        if all(reader.op in _SHAPE_READERS for reader in others)
        else f"Let {candidate.node.op} be its only reader: the fold changes what the other would see.",
    )


def _how_to_fix(graph: UseDef, value: str) -> str:
    definer = graph.definers.get(value)
    if definer and definer.op == "prim::GetAttr":
        return (
            f"See why the attribute {_attribute_path(graph, value)} was preserved; inlined, it would not be in the way."
        )
    return "If it does not depend on the model's inputs, compute it beforehand and keep it as a parameter or buffer."


def _attribute_path(graph: UseDef, value: str) -> str:
    definer = graph.definers.get(value)
    if definer is None or definer.op != "prim::GetAttr":
        return ""
    owner = _attribute_path(graph, definer.inputs[0])
    name = attribute_name(definer)
    return f"{owner}.{name}" if owner else name


def _arguments(node: Node) -> tuple[str, ...]:
    if node.op == BATCH_NORM:
        return BATCH_NORM_ARGUMENTS
    if node.op == LINEAR:
        return _LINEAR_ARGUMENTS
    return CONVS.get(node.op, _POINTWISE_ARGUMENTS)
