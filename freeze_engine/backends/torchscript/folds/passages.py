"""Finds what stands between two operators, and whether a scale or shift per channel may pass through it.

A batch norm in eval mode, and arithmetic with a constant, scale and shift every channel by constants. An operator
that only moves values, such as a slice or a permutation, commutes with any such change of single values; one that
averages values of a channel, with scales and shifts; a sum, or a padding with zeros, with scales; a maximum, with
shifts and with positive scales; a relu, with positive scales.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from freeze_engine.backends.common.constant_arguments import constant_integers, constant_text
from freeze_engine.backends.common.shape_rules import BLENDED, NEAREST, Shape, elements
from freeze_engine.backends.common.use_def import CONV_LIKE, UseDef
from freeze_engine.trace import Node

#: What an operator may commute with.
SHIFT: Final = "shift"
SCALE: Final = "scale"
POSITIVE: Final = "positive scale"

_ALL: Final = frozenset({SHIFT, SCALE, POSITIVE})
_LINEAR: Final = frozenset({SCALE, POSITIVE})
_MONOTONE: Final = frozenset({SHIFT, POSITIVE})
UNCHANGING: Final = frozenset({"aten::contiguous", "aten::to", "aten::clone", "aten::detach", "aten::alias"})
_AVERAGES: Final = frozenset(f"aten::avg_pool{n}d" for n in (1, 2, 3))
_ADAPTED: Final = frozenset(f"aten::adaptive_avg_pool{n}d" for n in (1, 2, 3))
_MAXIMA: Final = frozenset(f"aten::max_pool{n}d" for n in (1, 2, 3))
_HOMOGENEOUS: Final = frozenset({"aten::relu", "aten::relu_", "aten::leaky_relu", "aten::leaky_relu_", "aten::abs"})
_REDUCTIONS: Final = {
    "aten::mean": _ALL,
    "aten::sum": _LINEAR,
    "aten::amax": _MONOTONE,
    "aten::amin": _MONOTONE,
}
_COPYING_PADS: Final = frozenset({"reflect", "replicate", "circular"})


#: torch's numbers of dtypes (``c10/core/ScalarType.h``, torch 2.13.0).
_DTYPES: Final = {"5": "float16", "6": "float32", "7": "float64", "15": "bfloat16"}


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of a layer's channels in a value.

    Attributes:
        rank: number of dimensions; ``None`` where that is not known.
        axis: the dimension of the channels, ``None`` if they no longer have one of their own.
        shape: sizes, ``None`` where they are not known.
    """

    rank: int | None
    axis: int | None
    shape: Shape | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """The way from a layer's output to an operand.

    Attributes:
        between: the operators on it, the operand's own first; not empty.
        passes: which of `SHIFT`, `SCALE` and `POSITIVE` commute with all of them.
        moves_only: whether they take every value as it is.
        before, after: the channels' place in the layer's output, and in the operand.
    """

    between: tuple[Node, ...]
    passes: frozenset[str]
    moves_only: bool
    before: Layout
    after: Layout

    @property
    def keeps_layout(self) -> bool:
        """Whether the channels' place is known and the same at both ends."""
        return self.after.axis is not None and (self.before.rank, self.before.axis) == (
            self.after.rank,
            self.after.axis,
        )


@dataclass(frozen=True, slots=True)
class _At:
    graph: UseDef
    node: Node
    layout: Layout
    output: Shape | None

    def numbers(self, place: int) -> Shape | None:
        return constant_integers(self.graph, self.node, place)

    def dimensions(self, place: int, rank: int | None = None) -> Shape | None:
        """Returns the dimensions that an argument names, counted from the front; ``None`` if that is not known."""
        found, rank = self.numbers(place), self.layout.rank if rank is None else rank
        if found is None or (rank is None and any(each < 0 for each in found)):
            return None
        return tuple(each % rank if rank else each for each in found)


_LONGEST_WAY: Final = 24
_Rule = Callable[[_At], "tuple[frozenset[str], Layout] | None"]


def walk_back(graph: UseDef, value: str, layers: frozenset[str]) -> tuple[tuple[Node, ...], Node] | None:
    """Returns the operators from a value back to the first of some layers, and that layer; ``None`` if none is near.

    Args:
        graph: uses of the graph.
        value: an operand.
        layers: operators to look for.
    """
    between: list[Node] = []
    node = graph.definers.get(value)
    while node is not None and node.op in _RULES and len(node.outputs) == 1 and len(between) < _LONGEST_WAY:
        between.append(node)
        node = graph.definers.get(node.inputs[0])
    return (tuple(between), node) if between and node is not None and node.op in layers else None


def converts_to(graph: UseDef, conversion: Node) -> str:
    """Returns the dtype that an ``aten::to`` converts into: empty if to none, ``?`` if the graph does not show it."""
    for name in conversion.inputs[1:3]:
        definer = graph.definers.get(name)
        value = definer.outputs[0].type if definer is not None and definer.op == "prim::Constant" else ""
        if value == "int" and definer is not None:
            return _DTYPES.get(definer.attribute("value") or "", "?")
        if value not in ("Device", "NoneType", "bool"):
            return "?"
    return ""


def layer_output(graph: UseDef, layer: Node, known: Mapping[str, Shape]) -> Layout | None:
    """Returns where a layer puts its channels, ``None`` where that is not known.

    Args:
        graph: uses of the graph.
        layer: a convolution, transposed or not, or a linear, product with a matrix or embedding.
        known: shapes of the graph's values, where known.
    """
    shape = known.get(layer.outputs[0].name)
    if layer.op not in CONV_LIKE:
        return None if not shape else Layout(len(shape), len(shape) - 1, shape)
    weight = graph.constant(layer.inputs[1])
    if weight is None or (shape is not None and len(shape) != len(weight.shape)):
        return None  # a single image without a batch has its channels elsewhere
    return Layout(len(weight.shape), 1, shape)


def passage(graph: UseDef, between: tuple[Node, ...], start: Layout, known: Mapping[str, Shape]) -> Passage | None:
    """Returns what may pass through some operators, ``None`` if nothing may.

    Args:
        graph: uses of the graph.
        between: from the operand back to the layer, as `walk_back` returns them.
        start: the channels' place in the layer's output.
        known: shapes of the graph's values, where known.
    """
    passes, moves_only, layout = _ALL, True, start
    for node in reversed(between):
        output = known.get(node.outputs[0].name)
        found = _RULES[node.op](_At(graph, node, layout, output))
        if found is None:
            return None
        commutes, layout = found
        passes &= commutes
        moves_only &= commutes == _ALL and node.op not in _AVERAGING
        if output is not None and layout.rank not in (None, len(output)):
            return None
        layout = Layout(len(output) if output is not None else layout.rank, layout.axis, output)
    return Passage(between, passes, moves_only, start, layout) if passes else None


def _same(at: _At) -> tuple[frozenset[str], Layout]:
    return _ALL, Layout(at.layout.rank, at.layout.axis)


def _monotone(at: _At) -> tuple[frozenset[str], Layout]:
    return _MONOTONE, Layout(at.layout.rank, at.layout.axis)


def _homogeneous(at: _At) -> tuple[frozenset[str], Layout]:
    return frozenset({POSITIVE}), Layout(at.layout.rank, at.layout.axis)


def _averaged(at: _At) -> tuple[frozenset[str], Layout]:
    """An average pooling: padding counts zeros, and another divisor makes averages of it no more."""
    plain = set(at.numbers(3) or ()) == {0} and all(at.graph.is_none(name) for name in at.node.inputs[6:])
    return (_ALL if plain else _LINEAR), Layout(at.layout.rank, at.layout.axis)


def _reduced(at: _At) -> tuple[frozenset[str], Layout] | None:
    taken, kept = at.dimensions(1), at.numbers(2) if len(at.node.inputs) > 2 else None
    if not taken or kept not in ((0,), (1,)) or not all(at.graph.is_none(name) for name in at.node.inputs[3:]):
        return None
    axis, rank = at.layout.axis, at.layout.rank
    if axis in taken or axis is None:
        axis = None
    elif kept == (0,):
        axis -= sum(each < axis for each in set(taken))
    less = 0 if kept == (1,) else len(set(taken))
    return _REDUCTIONS[at.node.op], Layout(None if rank is None else rank - less, axis)


def _sliced(at: _At) -> tuple[frozenset[str], Layout] | None:
    """A slice of the channels keeps no constant of one value for each of them, unless it takes all."""
    place = at.dimensions(1)
    if not place:
        return None
    whole = at.node.op == "aten::slice" and _is_whole(at)
    return _ALL, Layout(at.layout.rank, at.layout.axis if whole or place[0] != at.layout.axis else None)


def _is_whole(at: _At) -> bool:
    start, step = at.numbers(2), at.numbers(4)
    end = at.numbers(3)
    starts = at.graph.is_none(at.node.inputs[2]) or start == (0,)
    return starts and step == (1,) and (at.graph.is_none(at.node.inputs[3]) or end == (2**63 - 1,))


def _selected(at: _At) -> tuple[frozenset[str], Layout] | None:
    place = at.dimensions(1)
    if not place:
        return None
    axis, rank = at.layout.axis, at.layout.rank
    if axis is not None:
        axis = None if place[0] == axis else axis - (place[0] < axis)
    return _ALL, Layout(None if rank is None else rank - 1, axis)


def _flipped(at: _At) -> tuple[frozenset[str], Layout]:
    return _ALL, _unless_named(at, at.dimensions(1))


def _rolled(at: _At) -> tuple[frozenset[str], Layout]:
    return _ALL, _unless_named(at, at.dimensions(2))


def _unless_named(at: _At, named: Shape | None) -> Layout:
    keeps = bool(named) and at.layout.axis not in (named or ())
    return Layout(at.layout.rank, at.layout.axis if keeps else None)


def _transposed(at: _At) -> tuple[frozenset[str], Layout]:
    one, other = at.dimensions(1), at.dimensions(2)
    if not one or not other or at.layout.axis is None:
        return _ALL, Layout(at.layout.rank, None)
    swapped = {one[0]: other[0], other[0]: one[0]}
    return _ALL, Layout(at.layout.rank, swapped.get(at.layout.axis, at.layout.axis))


def _permuted(at: _At) -> tuple[frozenset[str], Layout]:
    order = at.dimensions(1, len(at.numbers(1) or ()) or None)
    known = order is not None and at.layout.axis in order and len(order) == (at.layout.rank or len(order))
    axis = order.index(at.layout.axis) if order is not None and known and at.layout.axis is not None else None
    return _ALL, Layout(at.layout.rank, axis)


def _unsqueezed(at: _At) -> tuple[frozenset[str], Layout]:
    rank, axis = at.layout.rank, at.layout.axis
    place = at.dimensions(1, None if rank is None else rank + 1)
    more = None if rank is None else rank + 1
    if not place or axis is None:
        return _ALL, Layout(more, None)
    return _ALL, Layout(more, axis + (place[0] <= axis))


def _reshaped(at: _At) -> tuple[frozenset[str], Layout]:
    """A view, reshape, flatten or squeeze: channels keep a dimension if it and what is before it keep their sizes."""
    rank = len(at.output) if at.output is not None else None
    before, axis = at.layout.shape, at.layout.axis
    if before is None or at.output is None or axis is None:
        return _ALL, _flattened(at) if at.node.op == "aten::flatten" else Layout(rank, None)
    for place, size in enumerate(at.output):
        if size == before[axis] and elements(at.output[:place]) == elements(before[:axis]):
            return _ALL, Layout(rank, place)
    return _ALL, Layout(rank, None)


def _flattened(at: _At) -> Layout:
    start, end, axis, rank = at.dimensions(1), at.dimensions(2), at.layout.axis, at.layout.rank
    if not start or not end or rank is None:
        return Layout(None, None)
    less = end[0] - start[0]
    if axis is None or (start[0] <= axis <= end[0] and less):
        return Layout(rank - less, None)
    return Layout(rank - less, axis if axis < start[0] else axis - less)


def _repeated(at: _At) -> tuple[frozenset[str], Layout]:
    rank, axis = at.layout.rank, at.layout.axis
    times = at.numbers(1)
    if times is None or rank != len(times) or axis is None:
        return _ALL, Layout(None if times is None else len(times), None)
    kept = (1,) if at.node.op == "aten::repeat" else (-1, (at.layout.shape or (None,) * rank)[axis])
    return _ALL, Layout(rank, axis if times[axis] in kept else None)


def _padded(at: _At) -> tuple[frozenset[str], Layout] | None:
    widths, rank, axis = at.numbers(1), at.layout.rank, at.layout.axis
    mode = "constant" if at.node.op != "aten::pad" else (constant_text(at.graph, at.node, 2) or "").strip('"')
    if not widths or not (mode == "constant" or mode in _COPYING_PADS):
        return None
    value = at.node.inputs[-1]
    if mode == "constant" and not (at.graph.is_none(value) or at.numbers(len(at.node.inputs) - 1) == (0,)):
        return None
    touched = rank is None or (axis is not None and axis >= rank - len(widths) // 2)
    return (_LINEAR if mode == "constant" else _ALL), Layout(rank, None if touched else axis)


_AVERAGING: Final = frozenset({*_AVERAGES, *_ADAPTED, *BLENDED, "aten::mean"})
_RULES: Final[Mapping[str, _Rule]] = {
    **dict.fromkeys(UNCHANGING | NEAREST | BLENDED | _ADAPTED, _same),
    **dict.fromkeys(_AVERAGES, _averaged),
    **dict.fromkeys(_MAXIMA, _monotone),
    **dict.fromkeys(_HOMOGENEOUS, _homogeneous),
    **dict.fromkeys(_REDUCTIONS, _reduced),
    **dict.fromkeys(("aten::slice", "aten::narrow", "aten::index_select"), _sliced),
    **dict.fromkeys(("aten::view", "aten::reshape", "aten::flatten", "aten::squeeze"), _reshaped),
    **dict.fromkeys(("aten::repeat", "aten::expand"), _repeated),
    **dict.fromkeys(("aten::pad", "aten::constant_pad_nd"), _padded),
    "aten::select": _selected,
    "aten::flip": _flipped,
    "aten::roll": _rolled,
    "aten::transpose": _transposed,
    "aten::permute": _permuted,
    "aten::unsqueeze": _unsqueezed,
}
