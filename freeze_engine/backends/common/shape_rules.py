"""Rules for the shape that an operator's output has, by the operator, given the shapes of what it reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

from freeze_engine.backends.common.use_def import LINEAR
from freeze_engine.trace import Node

Shape = tuple[int, ...]

#: Interpolations that copy values, and those that average neighbours with weights that sum to one.
NEAREST: Final = frozenset(
    f"aten::{kind}{n}d" for kind in ("upsample_nearest", "_upsample_nearest_exact") for n in (1, 2, 3)
)
BLENDED: Final = frozenset(
    {
        *(f"aten::upsample_{kind}" for kind in ("linear1d", "bilinear2d", "trilinear3d", "bicubic2d")),
        *(f"aten::_upsample_{kind}2d_aa" for kind in ("bilinear", "bicubic")),
    }
)


class Known(Protocol):
    """What a rule may ask about a graph's values."""

    def shape(self, value: str) -> Shape | None:
        """Returns a value's shape, ``None`` where it is not known."""

    def numbers(self, node: Node, place: int) -> Shape | None:
        """Returns the whole numbers of an argument, one or a list of them, ``None`` where they are not known."""

    def is_none(self, value: str) -> bool:
        """Returns whether a value is the constant ``None``."""

    def floats(self, node: Node, place: int) -> tuple[float, ...] | None:
        """Returns the constant numbers of an argument, one or a list of them, ``None`` where it has none."""


def elements(shape: Iterable[int]) -> int:
    """Returns how many elements a tensor of a shape has."""
    return math.prod(shape)


class _Window:
    """A sliding kernel, as of a convolution or pooling."""

    def __init__(self, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape) -> None:
        self._parts = (kernel, stride, padding, dilation)

    def places(self, sizes: Shape, beyond: bool = False) -> Shape | None:
        """Returns the number of positions of the kernel in each dimension; ``beyond`` lets the last one end outside."""
        spread = [part * len(sizes) if len(part) == 1 else part for part in self._parts]
        if any(len(part) != len(sizes) for part in spread):
            return None
        found = [
            _positions(size + 2 * pad - dilation * (kernel - 1) - 1, stride, size + pad if beyond else 0)
            for size, kernel, stride, pad, dilation in zip(sizes, *spread, strict=True)
            if stride
        ]
        return tuple(found) if len(found) == len(sizes) else None

    def origins(self, sizes: Shape, more: Shape) -> Shape | None:
        """Returns the places of which a transposed convolution's input is made by this window, ``more`` at the end."""
        spread = [part * len(sizes) if len(part) == 1 else part for part in (*self._parts, more)]
        if any(len(part) != len(sizes) for part in spread):
            return None
        return tuple(
            (size - 1) * stride - 2 * pad + dilation * (kernel - 1) + extra + 1
            for size, kernel, stride, pad, dilation, extra in zip(sizes, *spread, strict=True)
        )


def _positions(room: int, stride: int, start: int) -> int:
    """Returns how often a kernel fits, once more if it starts before ``start`` and room is left (ceil_mode)."""
    fitting = room // stride + 1
    return fitting + 1 if room % stride and fitting * stride < start else fitting


def convolved(shapes: Known, node: Node, first: Shape) -> Shape | None:
    """Returns the output shape of a convolution, transposed or not."""
    weight = shapes.shape(node.inputs[1])
    general = node.op == "aten::_convolution"
    transposed = shapes.numbers(node, 6) == (1,) if general else "transpose" in node.op
    stride, padding = shapes.numbers(node, 3), shapes.numbers(node, 4)
    dilation = shapes.numbers(node, 7 if transposed and not general else 5)
    if not weight or not stride or not padding or not dilation:
        return None
    kernel = weight[2:]
    sizes, batch = first[-len(kernel) :], first[: -len(kernel) - 1]
    window = _Window(kernel, stride, padding, dilation)
    if not transposed:
        places = window.places(sizes)
        return None if places is None else (*batch, weight[0], *places)
    more, groups = shapes.numbers(node, 7 if general else 5), shapes.numbers(node, 8 if general else 6)
    places = window.origins(sizes, more or (0,))
    return None if places is None or not groups else (*batch, weight[1] * groups[0], *places)


def _embedded(shapes: Known, node: Node) -> Shape | None:
    weight, indices = (shapes.shape(name) for name in node.inputs[:2])
    return None if not weight or indices is None else (*indices, weight[1])


def _added_product(shapes: Known, node: Node) -> Shape | None:
    first, second = (shapes.shape(name) for name in node.inputs[1:3])
    return None if not first or not second else (first[0], second[1])


def _linear(shapes: Known, node: Node, first: Shape) -> Shape | None:
    weight = shapes.shape(node.inputs[1])
    return (*first[:-1], weight[0]) if weight and first else None


def _pooled(shapes: Known, node: Node, first: Shape) -> Shape | None:
    kernel, stride, padding = (shapes.numbers(node, place) for place in (1, 2, 3))
    if not kernel or stride is None or padding is None:
        return None
    count = len(kernel)
    is_max = node.op.startswith("aten::max")
    dilation = shapes.numbers(node, 4) if is_max else (1,)
    beyond = shapes.numbers(node, 5 if is_max else 4) == (1,)
    places = _Window(kernel, stride or kernel, padding, dilation or (1,)).places(first[-count:], beyond)
    return None if places is None else (*first[:-count], *places)


def _adapted(shapes: Known, node: Node, first: Shape) -> Shape | None:
    sizes = shapes.numbers(node, 1)
    return (*first[: -len(sizes)], *sizes) if sizes else None


def _mean(shapes: Known, node: Node, first: Shape) -> Shape | None:
    taken, kept = shapes.numbers(node, 1), shapes.numbers(node, 2)
    if not taken or kept is None or not first:
        return None
    places = {place % len(first) for place in taken}
    if kept[:1] == (1,):
        return tuple(1 if place in places else size for place, size in enumerate(first))
    return tuple(size for place, size in enumerate(first) if place not in places)


def _flat(shapes: Known, node: Node, first: Shape) -> Shape | None:
    start, end = shapes.numbers(node, 1), shapes.numbers(node, 2)
    if not start or not end or not first:
        return None
    low, high = start[0] % len(first), end[0] % len(first)
    return (*first[:low], elements(first[low : high + 1]), *first[high + 1 :])


def _viewed(shapes: Known, node: Node, first: Shape) -> Shape | None:
    wanted = shapes.numbers(node, 1)
    if wanted is None or wanted.count(-1) > 1:
        return None
    rest = elements(size for size in wanted if size != -1)
    if -1 in wanted and rest and elements(first) % rest == 0:
        wanted = tuple(elements(first) // rest if size == -1 else size for size in wanted)
    return wanted if elements(wanted) == elements(first) and -1 not in wanted else None


def _expanded(shapes: Known, node: Node, first: Shape) -> Shape | None:
    wanted = shapes.numbers(node, 1)
    if wanted is None or len(wanted) < len(first):
        return None
    own = (1,) * (len(wanted) - len(first)) + first
    return tuple(size if want == -1 else want for size, want in zip(own, wanted, strict=True))


def _repeated(shapes: Known, node: Node, first: Shape) -> Shape | None:
    times = shapes.numbers(node, 1)
    if times is None or len(times) < len(first):
        return None
    own = (1,) * (len(times) - len(first)) + first
    return tuple(size * time for size, time in zip(own, times, strict=True))


def _sliced(shapes: Known, node: Node, first: Shape) -> Shape | None:
    place, step = shapes.numbers(node, 1), shapes.numbers(node, 4)
    ends = [shapes.numbers(node, 2), shapes.numbers(node, 3)]
    if not place or not step or not -len(first) <= place[0] < len(first):
        return None
    if any(end is None and not shapes.is_none(node.inputs[at]) for at, end in zip((2, 3), ends, strict=True)):
        return None
    low, high = (end[0] if end else None for end in ends)
    return _resized_at(first, place, (len(range(first[place[0]])[low : high : step[0]]),))


def _narrowed(shapes: Known, node: Node, first: Shape) -> Shape | None:
    place, length = shapes.numbers(node, 1), shapes.numbers(node, 3)
    if node.op == "aten::index_select":
        length = shapes.shape(node.inputs[2])
    return _resized_at(first, place, length)


def _resized_at(first: Shape, place: Shape | None, length: Shape | None) -> Shape | None:
    if not place or not length or not -len(first) <= place[0] < len(first):
        return None
    index = place[0] % len(first)
    return (*first[:index], length[0], *first[index + 1 :])


def _squeezed(shapes: Known, node: Node, first: Shape) -> Shape | None:
    taken = shapes.numbers(node, 1) if len(node.inputs) > 1 else tuple(range(len(first)))
    if taken is None or not first:
        return None
    places = {place % len(first) for place in taken}
    return tuple(size for place, size in enumerate(first) if place not in places or size != 1)


def _resized(shapes: Known, node: Node, first: Shape) -> Shape | None:
    sizes, scales = shapes.numbers(node, 1), shapes.floats(node, len(node.inputs) - 1)
    if sizes:
        return (*first[: -len(sizes)], *sizes)
    if not scales or len(scales) >= len(first):
        return None
    own = first[-len(scales) :]
    return (*first[: -len(scales)], *(int(size * scale) for size, scale in zip(own, scales, strict=True)))


def _padded(shapes: Known, node: Node, first: Shape) -> Shape | None:
    widths = shapes.numbers(node, 1)
    if not widths or len(widths) % 2 or len(widths) // 2 > len(first):
        return None
    sizes = list(first)
    for place in range(len(widths) // 2):
        sizes[-1 - place] += widths[2 * place] + widths[2 * place + 1]
    return tuple(sizes)


def _multiplied(shapes: Known, node: Node, first: Shape) -> Shape | None:
    second = shapes.shape(node.inputs[1])
    if second is None or len(second) != 2 or len(first) < 2:
        return None
    return (*first[:-1], second[1])


def _permuted(shapes: Known, node: Node, first: Shape) -> Shape | None:
    order = shapes.numbers(node, 1)
    if order is None or sorted(place % len(first) for place in order) != list(range(len(first))):
        return None
    return tuple(first[place] for place in order)


def _swapped(shapes: Known, node: Node, first: Shape) -> Shape | None:
    one, other = shapes.numbers(node, 1), shapes.numbers(node, 2)
    if not one or not other or not first:
        return None
    sizes = list(first)
    sizes[one[0]], sizes[other[0]] = sizes[other[0]], sizes[one[0]]
    return tuple(sizes)


def _unsqueezed(shapes: Known, node: Node, first: Shape) -> Shape | None:
    place = shapes.numbers(node, 1)
    if not place:
        return None
    index = place[0] % (len(first) + 1)
    return (*first[:index], 1, *first[index:])


def _selected(shapes: Known, node: Node, first: Shape) -> Shape | None:
    place = shapes.numbers(node, 1)
    if not place or not first:
        return None
    index = place[0] % len(first)
    return (*first[:index], *first[index + 1 :])


#: Operators whose first operand does not decide the shape.
BY_WEIGHT: Final[Mapping[str, Callable[[Known, Node], Shape | None]]] = {
    "aten::embedding": _embedded,
    "aten::addmm": _added_product,
}
RULES: Final[Mapping[str, Callable[[Known, Node, Shape], Shape | None]]] = {
    LINEAR: _linear,
    **dict.fromkeys((f"aten::{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3)), _pooled),
    **dict.fromkeys((f"aten::adaptive_{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3)), _adapted),
    **dict.fromkeys(("aten::matmul", "aten::mm"), _multiplied),
    **dict.fromkeys(("aten::mean", "aten::sum", "aten::amax", "aten::amin"), _mean),
    **dict.fromkeys(("aten::view", "aten::reshape"), _viewed),
    **dict.fromkeys(NEAREST | BLENDED, _resized),
    **dict.fromkeys(("aten::pad", "aten::constant_pad_nd"), _padded),
    "aten::expand": _expanded,
    "aten::repeat": _repeated,
    "aten::slice": _sliced,
    "aten::squeeze": _squeezed,
    **dict.fromkeys(("aten::narrow", "aten::index_select"), _narrowed),
    "aten::flatten": _flat,
    "aten::permute": _permuted,
    "aten::transpose": _swapped,
    "aten::unsqueeze": _unsqueezed,
    "aten::select": _selected,
}
