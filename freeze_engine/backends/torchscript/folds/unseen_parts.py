"""Finds batch norms and arithmetic after several layers at once, or after a part of a layer's channels.

Concatenated or added layers could each take their share of what follows. A batch norm after some of a convolution's
channels could come before they are taken apart, joined with those of the other channels. torch looks for neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.common.constant_arguments import constant_integers
from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.shape_rules import Shape
from freeze_engine.backends.common.use_def import ADDS, BATCH_NORM, LINEAR, MULS, UseDef, is_convolution
from freeze_engine.backends.torchscript.folds.obstacles import FoldCandidate, Found, fork, found, is_settled, varies
from freeze_engine.backends.torchscript.folds.passages import layer_output
from freeze_engine.backends.torchscript.folds.unseen_passages import output_channels
from freeze_engine.trace import Node

_CAT: Final = "aten::cat"
_SHUFFLE: Final = "aten::pixel_shuffle"
_TAKES_APART: Final = frozenset({"aten::chunk", "aten::split", "aten::split_with_sizes", "prim::ConstantChunk"})
_SLICE_ARGUMENTS: Final = 5
_TAKES_OUT: Final = frozenset({"prim::ListUnpack", "aten::__getitem__"})
_SLICES: Final = frozenset({"aten::slice", "aten::narrow"})


@dataclass(frozen=True, slots=True)
class _Joined:
    """Layers whose outputs one operator joins.

    Attributes:
        node: joins them.
        layers: at least two.
        dimension: in which they are concatenated; ``None`` for a sum.
        widths: the channels of each layer.
    """

    node: Node
    layers: tuple[Node, ...]
    dimension: int | None
    widths: tuple[int, ...]

    @property
    def names(self) -> str:
        """The layers in words."""
        return listed((f"{layer.op} (%{layer.id})" for layer in self.layers), joint=" and ")


def joined_batch_norms(graph: UseDef, known: Mapping[str, Shape], *, linear: bool) -> Iterator[Found]:
    """Yields the batch norms of layers that are concatenated or added.

    Args:
        graph: uses of the graph.
        known: shapes of its values, where known.
        linear: whether to look for linears or for convolutions.
    """
    for norm in graph.nodes.values():
        joined = _joined(graph, norm, 0, known, linear) if norm.op == BATCH_NORM else None
        mean = graph.constant(norm.inputs[3]) if joined is not None and is_settled(graph, norm) else None
        if joined is None or mean is None:
            continue
        width = sum(joined.widths) if joined.dimension == 1 else joined.widths[0]
        if mean.shape == (width,) and (joined.dimension == 1 or len(set(joined.widths)) == 1):
            candidate = FoldCandidate(norm, joined.layers[0], 0)
            yield found("linear_bn" if linear else "conv_bn", candidate, _before_joining(graph, norm, joined))


def joined_arithmetic(graph: UseDef, known: Mapping[str, Shape], name: str) -> Iterator[Found]:
    """Yields the muls, or adds, of a number and of layers that are concatenated or added.

    Args:
        graph: uses of the graph.
        known: shapes of its values, where known.
        name: which of them: ``"add"`` or ``"mul"``.
    """
    for node in graph.nodes.values():
        if node.op.removesuffix("_") not in (ADDS if name == "add" else MULS) or varies(graph, node, 0):
            continue
        if not _is_number(graph, node.inputs[1]) or (node.op.startswith("aten::div") and len(node.inputs) > 2):
            continue
        joined = _joined(graph, node, 0, known, linear=False)
        if joined is not None and (name == "mul" or joined.dimension is not None):
            candidate = FoldCandidate(node, joined.layers[0], 0)
            yield found(f"conv_{name}", candidate, _before_joining(graph, node, joined))
        linears = _joined(graph, node, 0, known, linear=True) if name == "mul" else None
        if linears is not None:
            yield found("linear_mul", FoldCandidate(node, linears.layers[0], 0), _after_linears(graph, node, linears))


def parted_batch_norms(graph: UseDef, known: Mapping[str, Shape]) -> Iterator[Found]:
    """Yields the batch norms of some of a convolution's channels, and of channels that become places."""
    for norm in graph.nodes.values():
        if norm.op != BATCH_NORM or not is_settled(graph, norm):
            continue
        mean, before = graph.constant(norm.inputs[3]), graph.definers.get(norm.inputs[0])
        if mean is None or before is None or graph.readers_apart(norm.inputs[0], norm):
            continue
        if before.op == _SHUFFLE:
            yield from _shuffled(graph, norm, before, known)
            continue
        conv = _taken_apart(graph, before, known)
        layout = None if conv is None else layer_output(graph, conv, known)
        width = None if conv is None or layout is None else output_channels(graph, conv, layout)
        if conv is not None and width is not None and mean.shape and mean.shape[0] < width:
            yield found("conv_bn", FoldCandidate(norm, conv, 0), _before_parting(graph, norm, before, conv, width))


def _is_number(graph: UseDef, value: str) -> bool:
    definer, constant = graph.definers.get(value), graph.constant(value)
    if constant is not None:
        return constant.shape == ()
    return definer is not None and graph.is_constant(value) and definer.outputs[0].type in ("int", "float")


def _joined(graph: UseDef, node: Node, place: int, known: Mapping[str, Shape], linear: bool) -> _Joined | None:
    """Returns the layers whose outputs a node reads joined, ``None`` where they are none, or others read them, too."""
    joint = graph.definers.get(node.inputs[place])
    if joint is None or graph.readers_apart(node.inputs[place], node):
        return None
    dimension = None
    if joint.op == _CAT:
        parts = graph.definers.get(joint.inputs[0])
        where = constant_integers(graph, joint, 1)
        if parts is None or parts.op != "prim::ListConstruct" or where is None:
            return None
        values, reader, dimension = parts.inputs, parts, where[0]
    elif joint.op == "aten::add" and constant_integers(graph, joint, 2) == (1,):
        values, reader = joint.inputs[:2], joint
    else:
        return None
    layers, widths = [], []
    for value in values:
        layer = graph.definers.get(value)
        if layer is None or graph.readers_apart(value, reader) or not _is_layer(graph, layer, linear):
            return None
        layout = layer_output(graph, layer, known)
        width = None if layout is None else output_channels(graph, layer, layout)
        if layout is None or width is None or layout.axis != 1 or layout.rank is None:
            return None
        layers.append(layer)
        widths.append(width)
        dimension = dimension % layout.rank if dimension is not None else None
    is_one = len({layer.id for layer in layers}) < len(layers)
    return None if len(layers) < 2 or is_one else _Joined(joint, tuple(layers), dimension, tuple(widths))


def _is_layer(graph: UseDef, layer: Node, linear: bool) -> bool:
    is_kind = layer.op == LINEAR if linear else is_convolution(layer, graph)
    if not is_kind or varies(graph, layer, 0) or graph.constant(layer.inputs[1]) is None:
        return False
    return graph.is_none(layer.inputs[2]) or graph.constant(layer.inputs[2]) is not None


def _before_joining(graph: UseDef, node: Node, joined: _Joined) -> Iterator[Obstacle]:
    yield from fork(graph, node)
    if joined.dimension is None:
        does = "scale" if node.op == BATCH_NORM else "factor"
        share = f"multiply the weights and biases of all by the {does}"
        if node.op == BATCH_NORM:
            share += ", and add the shift to one bias"
        advice = f"Merge {node.op} by hand: {share}. The outputs are the same but for rounding."
    elif node.op == BATCH_NORM and joined.dimension == 1:
        advice = (
            f"Put {_CAT} after the batch norm: give each of what it joins a batch norm of its own, with the values of "
            "its channels. The outputs are the same."
        )
    else:
        what = "the batch norm" if node.op == BATCH_NORM else node.op
        advice = f"Put {_CAT} after {what}, which each of what it joins then needs. The outputs are the same."
    yield Obstacle(
        "in_between",
        f"{joined.node.op} (%{joined.node.id}) joins {joined.names} before {node.op}; torch folds what directly "
        "follows only.",
        advice,
    )


def _after_linears(graph: UseDef, node: Node, joined: _Joined) -> Iterator[Obstacle]:
    yield from fork(graph, node)
    op = node.op.removesuffix("_")
    yield Obstacle(
        "no_such_fold",
        f"torch folds batch norms into a linear, but no {op}; {joined.node.op} (%{joined.node.id}) joins "
        f"{joined.names} before it.",
        f"Merge {op} by hand: multiply the weights and biases of all by the factor.",
    )


def _taken_apart(graph: UseDef, piece: Node, known: Mapping[str, Shape]) -> Node | None:
    """Returns the convolution of whose channels an operator's output has some, if all its readers take some."""
    if piece.op in _TAKES_OUT:
        if not _takes_each_once(graph, piece.inputs[0]):
            return None
        piece = graph.definers.get(piece.inputs[0], piece)
    if piece.op not in _TAKES_APART | _SLICES:
        return None
    value = piece.inputs[0]
    conv = graph.definers.get(value)
    while conv is not None and conv.op == "aten::slice" and conv.op == piece.op and _is_whole(graph, conv):
        value = conv.inputs[0]
        conv = graph.definers.get(value)
    if conv is None or not _is_layer(graph, conv, linear=False):
        return None
    layout = layer_output(graph, conv, known)
    if layout is None or layout.rank is None or layout.axis != 1:
        return None
    spans = [_span(graph, reader, layout.rank) for reader in _takers(graph, value)]
    if any(span is None for span in spans):
        return None
    ends = sorted(span for span in spans if span is not None)
    apart = all(one[1] <= other[0] for one, other in pairwise(ends))
    return conv if apart else None


def _takes_each_once(graph: UseDef, parts: str) -> bool:
    """Returns whether the elements of a list are read at one place each."""
    readers = [graph.nodes.get(reader.node) for reader in graph.readers.get(parts, ())]
    if len(readers) == 1:
        return True
    taken = [each and each.op == "aten::__getitem__" and constant_integers(graph, each, 1) for each in readers]
    return all(taken) and len(set(taken)) == len(taken)


def _takers(graph: UseDef, value: str) -> Iterator[Node | None]:
    """Yields the nodes that read a value, behind slices that take all of it; ``None`` where the graph returns it."""
    for reader in graph.readers.get(value, ()):
        node = graph.nodes.get(reader.node)
        if node is not None and node.op == "aten::slice" and _is_whole(graph, node):
            yield from _takers(graph, node.outputs[0].name)
        elif node is None or node.op not in ("aten::dim", "aten::size"):
            yield node


def _is_whole(graph: UseDef, node: Node) -> bool:
    if len(node.inputs) < _SLICE_ARGUMENTS:
        return False
    starts = graph.is_none(node.inputs[2]) or constant_integers(graph, node, 2) == (0,)
    ends = graph.is_none(node.inputs[3]) or constant_integers(graph, node, 3) == (2**63 - 1,)
    return starts and ends and constant_integers(graph, node, 4) == (1,)


def _span(graph: UseDef, node: Node | None, rank: int) -> tuple[int, int] | None:
    """Returns the channels that a node takes, ``None`` if it does something else."""
    if node is None:
        return None
    if node.op in _TAKES_APART:
        return (0, 2**63) if _dimension(graph, node) in (1, 1 - rank) else None
    if node.op not in _SLICES or constant_integers(graph, node, 1) not in ((1,), (1 - rank,)):
        return None
    if node.op == "aten::slice" and len(node.inputs) < _SLICE_ARGUMENTS:
        return None
    start = (0,) if graph.is_none(node.inputs[2]) else constant_integers(graph, node, 2)
    last = (2**63 - 1,) if graph.is_none(node.inputs[3]) else constant_integers(graph, node, 3)
    if not start or not last or min(start[0], last[0]) < 0:
        return None
    if node.op == "aten::narrow":
        return start[0], start[0] + last[0]
    return (start[0], last[0]) if constant_integers(graph, node, 4) == (1,) else None


def _dimension(graph: UseDef, node: Node) -> int | None:
    if node.op == "prim::ConstantChunk":
        text = node.attribute("dim") or ""
        return int(text) if text.lstrip("-").isdigit() else None
    found = constant_integers(graph, node, 2)
    return found[0] if found else None


def _before_parting(graph: UseDef, norm: Node, piece: Node, conv: Node, width: int) -> Iterator[Obstacle]:
    yield from fork(graph, norm)
    if piece.op in _TAKES_OUT:
        piece = graph.definers[piece.inputs[0]]
    yield Obstacle(
        "in_between",
        f"{piece.op} (%{piece.id}) takes some channels of {conv.op} (%{conv.id}) before the batch norm; torch folds "
        "what directly follows only.",
        f"Put one batch norm of all {width} channels before {piece.op}: it has the values of those after it in the "
        "order of their channels, and mean 0, variance 1 - eps, weight 1 and bias 0 for channels that have none. The "
        "outputs are the same.",
    )


def _shuffled(graph: UseDef, norm: Node, shuffle: Node, known: Mapping[str, Shape]) -> Iterator[Found]:
    conv, factor = graph.definers.get(shuffle.inputs[0]), constant_integers(graph, shuffle, 1)
    if conv is None or not factor or graph.readers_apart(shuffle.inputs[0], shuffle):
        return
    if not _is_layer(graph, conv, linear=False) or layer_output(graph, conv, known) is None:
        return
    obstacle = Obstacle(
        "in_between",
        f"{_SHUFFLE} (%{shuffle.id}) is between {conv.op} (%{conv.id}) and the batch norm; torch folds what directly "
        "follows only.",
        f"Put {_SHUFFLE} after the batch norm, which then needs each of its values {factor[0] ** 2} times "
        f"(.repeat_interleave({factor[0] ** 2})). The outputs are the same.",
    )
    yield found("conv_bn", FoldCandidate(norm, conv, 0), iter((*fork(graph, norm), obstacle)))
