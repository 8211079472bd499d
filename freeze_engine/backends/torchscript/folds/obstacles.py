"""Conditions that all folds have in common: constant operands, a single reader, no forked subgraph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.use_def import BATCH_NORM, BATCH_NORM_ARGUMENTS, CONVS, LINEAR, SHAPE_READERS, UseDef
from freeze_engine.backends.torchscript.graph.attribute_reads import attribute_name
from freeze_engine.trace import Node

_POINTWISE_ARGUMENTS = ("self", "other", "alpha")
_LINEAR_ARGUMENTS = ("input", "weight", "bias")


@dataclass(frozen=True, slots=True)
class FoldCandidate:
    """A node that reads its neighbour's output at ``place`` among its inputs."""

    node: Node
    neighbour: Node
    place: int


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate, its possible fold, and the obstacles, in torch's order.

    Attributes:
        kind: as `NearMiss.kind`.
        node: the remaining node.
        neighbour: id of the conv or linear.
        obstacles: none if torch's conditions do not explain it.
    """

    kind: str
    node: Node
    neighbour: str
    obstacles: tuple[Obstacle, ...]


def found(kind: str, candidate: FoldCandidate, obstacles: Iterator[Obstacle]) -> Found:
    """Returns a candidate with its obstacles."""
    return Found(kind, candidate.node, candidate.neighbour.id, tuple(obstacles))


def beside(
    graph: UseDef, ops: frozenset[str], neighbours: frozenset[str], places: tuple[int, ...]
) -> Iterator[FoldCandidate]:
    """Yields the nodes of some operators that read the output of some others, with the first place where they do."""
    for node in graph.nodes.values():
        if node.op not in ops:
            continue
        for place in places[: len(node.inputs)]:
            neighbour = graph.definers.get(node.inputs[place])
            if neighbour and neighbour.op in neighbours:
                yield FoldCandidate(node, neighbour, place)
                break


def fork(graph: UseDef, node: Node) -> Iterator[Obstacle]:
    """Yields an obstacle if the node is in a forked subgraph."""
    if node.id in graph.forked:
        yield Obstacle(
            "in_fork",
            "It is in a forked subgraph, which torch's passes after freezing do not enter.",
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
        f"Of {node.op} (%{node.id}), {listed(sources, joint=' and ')}.",
        _how_to_fix(graph, node.inputs[found[0]]),
    )


def varies(graph: UseDef, node: Node, skipped: int) -> bool:
    """Returns whether an argument, except one, depends on the model's inputs: then no change makes it fold."""
    return any(place != skipped and graph.varies(name) for place, name in enumerate(node.inputs))


def provenance(graph: UseDef, value: str) -> str:
    """Describes the origin of a value that is no constant."""
    definer = graph.definers.get(value)
    if definer is None:
        return f"%{value}, an input"
    if definer.op == "prim::GetAttr":
        return f"the attribute {_attribute_path(graph, value)}, still read at run time"
    return f"computed at run time by {definer.op} (%{definer.id})"


def several_uses(graph: UseDef, candidate: FoldCandidate, ignored: str | None = None) -> Iterator[Obstacle]:
    """Yields the other readers of the neighbour's output, readers of the operator ``ignored`` left out."""
    output = candidate.node.inputs[candidate.place]
    readers = list(graph.readers[output])
    readers.remove(next(reader for reader in readers if reader.node == candidate.node.id))
    others = [reader for reader in readers if reader.op != ignored]
    if not others:
        return
    labels = listed(dict.fromkeys(reader.label for reader in others), joint=" and ")
    yield Obstacle(
        "several_uses",
        f"The output of {graph.definers[output].op} (%{output}) is also read by {labels}.",
        "Only its shape is read there, by a module checking its input; tracing instead of scripting leaves it out."
        if all(reader.op in SHAPE_READERS for reader in others)
        else f"Let {candidate.node.op} be its only reader: the fold changes what the other would see.",
    )


def is_settled(graph: UseDef, norm: Node) -> bool:
    """Returns whether a batch norm scales and shifts by constants."""
    return (
        not varies(graph, norm, 0)
        and graph.flag(norm.inputs[5]) is False
        and all(graph.is_none(name) or graph.constant(name) is not None for name in norm.inputs[1:3])
        and all(graph.constant(name) is not None for name in norm.inputs[3:5])
    )


def own_weights(graph: UseDef, call: Node) -> str:
    """Returns advice for a conv or linear whose weight another node reads as well, else an empty text."""
    shared = also_read(graph, call.inputs[1], call)
    return f"Give this call weights of its own first: {shared}. " if shared else ""


def also_read(graph: UseDef, value: str, node: Node) -> str:
    """Returns a sentence, without its full stop, about the readers of a value other than one; empty if none."""
    labels = list(dict.fromkeys(reader.label for reader in graph.readers_apart(value, node)))
    return f"{listed(labels, joint=' and ')} also {'reads' if len(labels) == 1 else 'read'} %{value}" if labels else ""


def _how_to_fix(graph: UseDef, value: str) -> str:
    made_of = tuple(graph.made_of(value))
    kept = [each.outputs[0].name for each in made_of if each.op == "prim::GetAttr" and each.outputs]
    paths = [path for path in (_attribute_path(graph, name) for name in kept) if path]
    if paths:
        path = max(paths, key=lambda each: each.count("."))
        return f"See why the attribute {path} was preserved; inlined, it would not be in the way."
    if any(each.op in SHAPE_READERS for each in made_of):
        return "It depends on the shape of an input: where that is always the same, write the number in its place."
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
