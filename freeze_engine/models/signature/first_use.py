"""Guesses the input of a TorchScript parameter from the first operator that uses it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

import torch

from freeze_engine.backends.common.torch_private import cpp_module, private

#: Operators whose result has the sizes of their first argument, or whose use of it accepts the same sizes.
_PASSING: Final = frozenset({"prim::unchecked_cast", "aten::_unwrap_optional"}) | frozenset(
    "aten::" + name
    for name in (
        "abs",
        "add",
        "alpha_dropout",
        "avg_pool1d",
        "avg_pool2d",
        "clamp",
        "clone",
        "contiguous",
        "detach",
        "div",
        "dropout",
        "elu",
        "exp",
        "float",
        "gelu",
        "half",
        "hardtanh",
        "leaky_relu",
        "log",
        "log1p",
        "max_pool1d",
        "max_pool2d",
        "mul",
        "neg",
        "pow",
        "relu",
        "sigmoid",
        "silu",
        "sqrt",
        "sub",
        "tanh",
        "to",
        "type_as",
    )
)
#: A vector of features that these reshape stays one, if it was one.
_RESHAPING: Final = frozenset({"aten::flatten", "aten::view", "aten::reshape", "aten::squeeze"})
#: Usual sizes besides batch and channels, by the number of dimensions of the convolution.
_USUAL: Final[Mapping[int, tuple[int, ...]]] = {1: (128,), 2: (32, 32), 3: (16, 32, 32)}
_PHOTO: Final = (224, 224)
_DIGIT: Final = (28, 28)
_MOST_USES: Final = 500

Guess = tuple[str, str]
"""A text of ``--input``, and what it rests on."""


def guesses(module: torch.jit.ScriptModule) -> dict[str, Guess]:
    """Guesses inputs from the operators that use the parameters of ``forward``.

    Args:
        module: the module.

    Returns:
        A guess for each parameter whose first known use tells sizes, by name.
    """
    if not hasattr(module, "graph"):  # without a method forward
        return {}
    graph = module.graph.copy()
    private("_jit_pass_inline")(graph)
    receiver, *values = graph.inputs()
    names = [each.name for each in _schema(module).arguments[1:]]
    weights = _Weights(receiver.debugName(), cpp_module(module))
    found = {name: _guess(value, weights) for name, value in zip(names, values, strict=True)}
    return {name: guess for name, guess in found.items() if guess is not None}


def _guess(parameter: Any, weights: _Weights) -> Guess | None:
    """Follows a parameter to the first operator whose weight determines its sizes."""
    waiting: deque[tuple[Any, bool]] = deque([(parameter, False)])
    seen = 0
    while waiting and seen < _MOST_USES:
        value, reshaped = waiting.popleft()
        for use in value.uses():
            seen += 1
            kind, offset = use.user.kind(), use.offset
            if (kind, offset) in _TELLING:
                text = _TELLING[kind, offset](use.user, weights, reshaped)
                if text is not None:
                    return text, f"a guess from {kind.removeprefix('aten::').strip('_')}, which uses it first"
            elif offset == 0 and kind in _PASSING | _RESHAPING:
                waiting.append((use.user.output(), reshaped or kind in _RESHAPING))
    return None


def _schema(module: Any) -> Any:
    return module.forward.schema


class _Weights:
    """Reads the tensors of a module that a graph uses.

    Args:
        receiver: name of the graph's value for the module itself.
        module: the C++ module.
    """

    def __init__(self, receiver: str, module: Any) -> None:
        self._receiver = receiver
        self._module = module

    def sizes(self, node: Any, index: int) -> tuple[int, ...] | None:
        """Returns the sizes of an argument that is an attribute or a constant, ``None`` for any other."""
        arguments = list(node.inputs())
        value = self._value(arguments[index]) if index < len(arguments) else None
        return tuple(value.shape) if isinstance(value, torch.Tensor) else None

    def _value(self, value: Any) -> Any:
        if value.debugName() == self._receiver:
            return self._module
        node = value.node()
        if node.kind() == "prim::Constant":
            return value.toIValue()
        if node.kind() == "prim::ListConstruct":  # the weights of a recurrent network
            return next((self._value(each) for each in node.inputs()), None)
        owner = self._value(node.input()) if node.kind() == "prim::GetAttr" else None
        return owner.getattr(node.s("name")) if owner is not None and owner.hasattr(node.s("name")) else None


def _whole(node: Any, index: int) -> int:
    """Returns an argument that is a constant integer or flag, 0 for any other."""
    arguments = list(node.inputs())
    found = arguments[index].toIValue() if index < len(arguments) else None
    return int(found) if isinstance(found, int) else 0


def _convolution(groups: int, transposed: int | None = None, *, is_transposed: bool = False) -> _Tell:
    def tell(node: Any, weights: _Weights, reshaped: bool) -> str | None:
        sizes = weights.sizes(node, 1)
        if sizes is None or reshaped or len(sizes) - 2 not in _USUAL:
            return None
        swapped = is_transposed or (transposed is not None and bool(_whole(node, transposed)))
        channels = sizes[0] if swapped else sizes[1] * max(1, _whole(node, groups))
        usual = _USUAL[len(sizes) - 2]
        if len(sizes) == 4 and not swapped:
            usual = {3: _PHOTO, 1: _DIGIT}.get(channels, usual)
        return "x".join(map(str, (1, channels, *usual)))

    return tell


def _features(index: int, axis: int, *, between: tuple[int, ...] = ()) -> _Tell:
    def tell(node: Any, weights: _Weights, _reshaped: bool) -> str | None:
        sizes = weights.sizes(node, index)
        if sizes is None or len(sizes) < abs(axis):
            return None
        return "x".join(map(str, (1, *between, sizes[axis])))

    return tell


def _normalized(node: Any, weights: _Weights, reshaped: bool) -> str | None:
    sizes = weights.sizes(node, 2)
    return None if sizes is None or reshaped else "x".join(map(str, (1, 16, *sizes)))


def _indices(node: Any, weights: _Weights, _reshaped: bool) -> str | None:
    sizes = weights.sizes(node, 0)
    return f"1x16:int64:0..{sizes[0]}" if sizes else None


_Tell = Callable[[Any, _Weights, bool], "str | None"]
#: What tells the sizes, by operator and position of the parameter in it (torch 2.13, native_functions.yaml).
_TELLING: Final[Mapping[tuple[str, int], _Tell]] = {
    **{(f"aten::conv{number}d", 0): _convolution(6) for number in (1, 2, 3)},
    **{(f"aten::conv_transpose{number}d", 0): _convolution(6, is_transposed=True) for number in (1, 2, 3)},
    ("aten::_convolution", 0): _convolution(8, 6),
    ("aten::linear", 0): _features(1, -1),
    ("aten::addmm", 1): _features(2, -2),
    ("aten::matmul", 0): _features(1, -2),
    ("aten::layer_norm", 0): _normalized,
    ("aten::embedding", 1): _indices,
    ("aten::embedding_bag", 1): _indices,
    ("aten::lstm", 0): _features(2, -1, between=(16,)),
    ("aten::gru", 0): _features(2, -1, between=(16,)),
}
