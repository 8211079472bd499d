"""Inputs of a model, and their form on the command line.

Free of torch: `freeze_engine.models.tensors.make_inputs` turns requests into tensors. An ``--input`` is one of

==========================  =========================================================================
``1x3x224x224``             a float32 tensor of that shape, drawn from the standard normal distribution
``1x3x224x224:bfloat16``    the same in another dtype
``2x16:int64:0..30000``     integers from 0 up to, but not including, 30000; without a range, 0 and 1,
                            which are valid as flags and as indices into whatever has two entries
``int:3``, ``float:0.5``,   a plain Python value
``bool:true``
``@tensor.pt``              a tensor that ``torch.save`` wrote
``mask=…``                  any of these, passed as the keyword argument ``mask``
==========================  =========================================================================
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from freeze_engine.errors import ModelSpecError
from freeze_engine.requests.suggestions import did_you_mean

INTEGER_RANGES: Mapping[str, range] = {
    "uint8": range(2**8),
    "int8": range(-(2**7), 2**7),
    "int16": range(-(2**15), 2**15),
    "int32": range(-(2**31), 2**31),
    "int64": range(-(2**63), 2**63),
}
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "bool", *INTEGER_RANGES)
DEFAULT_RANGE = range(2)

# 18 digits always fit torch's 64-bit sizes.
_SHAPE = re.compile(r"[0-9]{1,18}(x[0-9]{1,18})*")
#: Shapes as Python and people write them: ``(1, 3, 224, 224)``, ``1,3,224,224``, ``1×3``.
_BETWEEN_SIZES = re.compile(r"[ ,×*X]+")
_RANGE = re.compile(r"(-?[0-9]{1,19})\.\.(-?[0-9]{1,19})")


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of one call of a model: ``module(*args, **kwargs)``.

    Attributes:
        args: positional arguments, tensors or plain values.
        kwargs: keyword arguments.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RandomTensor:
    """A tensor to be drawn.

    Attributes:
        shape: sizes.
        dtype: torch's name without the prefix.
        values: for integers, what to draw from; ``None`` for every other dtype.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    values: range | None = None


@dataclass(frozen=True, slots=True)
class SavedTensor:
    """A tensor in a file that ``torch.save`` wrote.

    Attributes:
        path: as the user gave it.
    """

    path: str


@dataclass(frozen=True, slots=True)
class InputRequest:
    """One ``--input``.

    Attributes:
        keyword: the keyword argument it is for, ``None`` for the next positional one.
        value: what to pass.
    """

    keyword: str | None
    value: RandomTensor | SavedTensor | bool | int | float


def parse_input(text: str) -> InputRequest:
    """Reads one ``--input``.

    Args:
        text: one of the forms that the module lists.

    Returns:
        The requested inputs; nothing is drawn or opened yet.

    Raises:
        ModelSpecError: if ``text`` has none of the forms; the message says which part is wrong, and gives a right one.
    """
    if text.startswith("@") or "=" not in text:
        return InputRequest(None, _value(text, text))
    name, _, rest = text.partition("=")
    if not name.isidentifier() or keyword.iskeyword(name):
        _refuse(text, f"{name!r} is not a name that an argument can have", "mask=1x16:bool")
    return InputRequest(name, _value(text, rest))


def _value(text: str, part: str) -> RandomTensor | SavedTensor | bool | int | float:
    if part.startswith("@"):
        if part == "@":
            _refuse(text, "after @ there is no file", "@tensor.pt")
        return SavedTensor(part[1:])
    head, colon, rest = part.partition(":")
    if head in ("int", "float", "bool"):
        return _scalar(text, head, rest)
    if not _SHAPE.fullmatch(head):
        other = "x".join(_BETWEEN_SIZES.split(head.strip("()[] ,")))
        wrong = f"{head!r} is not a shape (sizes with x between them, and a dtype behind them, as in 2x16:int64)"
        _refuse(text, wrong, f"{other}{colon}{rest}" if _SHAPE.fullmatch(other) else "1x3x224x224")
    shape = tuple(int(size) for size in head.split("x"))
    return _tensor(text, shape, rest) if colon else RandomTensor(shape)


def _scalar(text: str, kind: str, value: str) -> bool | int | float:
    try:
        if kind == "int":
            return int(value)
        if kind == "float":
            return float(value)
        return {"true": True, "false": False}[value.lower()]
    except (ValueError, KeyError):
        right = {"int": "int:3", "float": "float:0.5", "bool": "bool:true"}[kind]
        _refuse(text, f"{value!r} is no {kind}", right)


def _tensor(text: str, shape: tuple[int, ...], rest: str) -> RandomTensor:
    dtype, colon, limits = rest.partition(":")
    if dtype not in DTYPES:
        known = f"one of {', '.join(DTYPES)}"
        _refuse(text, f"{dtype!r} is not a dtype ({known}).{did_you_mean(dtype, DTYPES)}".rstrip("."), "1x3:bfloat16")
    if not colon:
        return RandomTensor(shape, dtype, DEFAULT_RANGE if dtype in INTEGER_RANGES else None)
    if dtype not in INTEGER_RANGES:
        _refuse(text, f"a range ({limits!r}) goes with an integer dtype, not with {dtype}", "2x16:int64:0..30000")
    match = _RANGE.fullmatch(limits)
    if match is None:
        _refuse(text, f"{limits!r} is not a range (LOW..HIGH, HIGH excluded)", f"2x16:{dtype}:0..100")
    values = range(int(match[1]), int(match[2]))
    if not values:
        _refuse(text, f"the range {limits!r} is empty, since HIGH is excluded", f"2x16:{dtype}:0..100")
    possible = INTEGER_RANGES[dtype]
    if values.start < possible.start or values.stop > possible.stop:
        _refuse(text, f"the range {limits!r} does not fit {dtype}", f"2x16:{dtype}:0..100")
    return RandomTensor(shape, dtype, values)


def _refuse(text: str, wrong: str, right: str) -> NoReturn:
    raise ModelSpecError(f"--input {text!r}: {wrong}. A right one is --input {right}.")
