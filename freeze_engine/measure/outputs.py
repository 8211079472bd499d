"""Flattens a model's outputs, and computes their numeric error against a reference."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import torch

from freeze_engine.analysis.name_texts import listed
from freeze_engine.tensors.object_state import tensor_attributes
from freeze_engine.tensors.ulp import max_ulp
from freeze_engine.trace import Numerics, OutputError

Reference = Literal["eager", "float64"]

_CHUNK_ELEMENTS = 1 << 20
_SHOWN = 80
#: By dtype, relative and absolute, as the documentation of ``torch.testing.assert_close`` states them; 0 for others.
_TOLERANCES: Final = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-3, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """One tensor, number or other value in an output structure.

    Attributes:
        path: with the names of fields and keys: ``0``, ``logits``, ``1.hidden``.
        place: the same with positions for the fields of named tuples, which tracing turns into plain ones.
        value: what stands there.
    """

    path: str
    place: str
    value: object


def leaves(output: object) -> tuple[Leaf, ...]:
    """Flattens an output.

    Args:
        output: what a model returned: tuples, named tuples, lists, mappings and dataclasses are entered, and of other
            objects (a key-value cache) the attributes that hold tensors.

    Returns:
        Its leaves in order; a bare value is the only one, at ``0``.
    """
    found = tuple(Leaf(".".join(path), ".".join(place), value) for path, place, value in _walk(output, (), ()))
    return found if found and found[0].path else tuple(dataclasses.replace(leaf, path="0", place="0") for leaf in found)


def compare_outputs(actual: object, expected: object, reference: Reference) -> Numerics:
    """Compares the output of a candidate with that of a reference.

    ``close`` is ``torch.testing.assert_close`` with its default tolerances for the candidate's dtype, NaN equal to
    NaN; a float64 reference is cast to that dtype for it (so an overflow that the cast shares is close: it shows in
    ``nonfinite`` and ``max_abs``), and for ``max_ulp``, which counts in that dtype. Python floats count as 0-d tensors
    of the default dtype. Quantised tensors are compared dequantised, sparse and MKLDNN ones dense.

    Args:
        actual: the candidate's output.
        expected: the reference's output.
        reference: which one; for ``eager`` the dtypes must be equal as well.

    Returns:
        One entry per output tensor that could be compared, and in ``error`` what else differs.
    """
    ours = {leaf.place: leaf for leaf in leaves(actual)}
    theirs = {leaf.place: leaf for leaf in leaves(expected)}
    if ours.keys() != theirs.keys():
        found, wanted = (_structure(list(side.values())) for side in (ours, theirs))
        message = f"the outputs differ in structure: it returns {found}, and {reference} returns {wanted}"
        return Numerics(reference, (), message)
    entries: list[OutputError] = []
    problems: list[str] = []
    for place, leaf in theirs.items():
        mine, other = _tensor(ours[place].value), _tensor(leaf.value)
        problem = _mismatch(mine, other, reference)
        if problem:
            problems.append(f"output {leaf.path} {problem}")
        if isinstance(mine, torch.Tensor) and isinstance(other, torch.Tensor) and mine.shape == other.shape:
            entries.append(output_error(leaf.path, mine, other, reference == "float64"))
    return Numerics(reference, tuple(entries), listed(problems, joint="; ") or None)


def _structure(found: Sequence[Leaf]) -> str:
    if [leaf.place for leaf in found] == ["0"] and found[0].path == "0":
        return "one value"
    return listed(leaf.path for leaf in found) or "nothing"


def _walk(
    value: object, path: tuple[str, ...], place: tuple[str, ...], above: frozenset[int] = frozenset()
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], object]]:
    if id(value) in above:  # an object that refers to its holder
        return
    children = _children(value)
    if children is None:
        yield path, place, value
        return
    for index, (name, child) in enumerate(children):
        position = str(index) if isinstance(value, tuple) else name
        yield from _walk(child, (*path, name), (*place, position), above | {id(value)})


def _children(value: object) -> list[tuple[str, object]] | None:
    if isinstance(value, Mapping):
        return [(str(key), child) for key, child in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if isinstance(value, (tuple, list)):
        return [(str(index), child) for index, child in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    return list(tensor_attributes(value).items()) or None


def _tensor(value: object) -> object:
    return torch.tensor(value) if isinstance(value, (float, complex)) else value


def _mismatch(actual: object, expected: object, reference: Reference) -> str | None:
    """Describes the differences of a pair apart from the numbers in two tensors of one shape."""
    if not isinstance(actual, torch.Tensor) or not isinstance(expected, torch.Tensor):
        # Two objects without a comparison of their own are never equal.
        by_identity = type(actual).__eq__ is object.__eq__
        same = type(actual) is type(expected) and (by_identity or actual == expected)
        return None if same else f"is {_shown(actual)}, that of {reference} {_shown(expected)}"
    if actual.shape != expected.shape:
        return f"has shape {tuple(actual.shape)}, that of {reference} {tuple(expected.shape)}"
    if reference == "eager" and actual.dtype != expected.dtype:
        return f"has dtype {actual.dtype}, that of eager {expected.dtype}"
    return None


def _shown(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return "a tensor"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass(slots=True)
class _Totals:
    """Adds up the error over chunks, in float64 (complex128).

    A pair that is equal, or NaN on both sides, has no error; one with a non-finite difference has an infinite one.
    """

    max_abs: float = 0.0
    max_rel: float = 0.0
    ulp: float | None = 0.0
    signal: float = 0.0
    noise: float = 0.0
    nonfinite: int = 0

    def add(self, actual: torch.Tensor, expected: torch.Tensor) -> None:
        same = (actual == expected) | (torch.isnan(actual) & torch.isnan(expected))
        actual, expected = _widened(actual), _widened(expected)
        magnitude = expected.abs()
        error = (actual - expected).abs().nan_to_num_(nan=math.inf, posinf=math.inf).masked_fill_(same, 0.0)
        relative = (error / magnitude).nan_to_num_(nan=math.inf, posinf=math.inf)
        relative.masked_fill_(same | (magnitude == 0), 0.0)
        self.max_abs = max(self.max_abs, error.max().item())
        self.max_rel = max(self.max_rel, relative.max().item())
        self.signal += magnitude.nan_to_num(nan=0.0, posinf=0.0).square().sum().item()
        self.noise += error.square().sum().item()
        self.nonfinite += int((~torch.isfinite(actual) & ~same).sum().item())

    def add_ulp(self, distance: float | None) -> None:
        self.ulp = None if distance is None or self.ulp is None else max(self.ulp, distance)

    def sqnr_db(self) -> float:
        """Returns 10 log10 of signal power over error power, as torch.ao.ns.fx.utils.compute_sqnr (torch 2.13)."""
        if self.noise == 0:
            return math.inf
        if self.signal == 0 or math.isinf(self.noise):
            return -math.inf
        return 10 * math.log10(self.signal / self.noise)


def output_error(path: str, actual: torch.Tensor, expected: torch.Tensor, cast: bool) -> OutputError:
    """Returns the error of one tensor against another of the same shape.

    Args:
        path: its name.
        actual: the tensor.
        expected: the reference.
        cast: whether the reference is cast to the tensor's dtype for what depends on the dtype.
    """
    stored = actual.dtype
    actual, expected = _plain(actual), _plain(expected).to(actual.device)
    totals = _Totals(ulp=0.0 if actual.dtype == stored else None)
    close = True
    pieces = (torch.split(side.reshape(-1), _CHUNK_ELEMENTS) for side in (actual, expected))
    for ours, theirs in zip(*pieces, strict=True):
        if ours.numel():
            totals.add(ours, theirs)
        rounded = theirs.to(ours.dtype) if cast else theirs
        totals.add_ulp(max_ulp(ours, rounded))
        close = close and _is_close(ours, rounded)
    return OutputError(path, totals.max_abs, totals.max_rel, totals.sqnr_db(), totals.nonfinite, close, totals.ulp)


def _is_close(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Returns whether ``torch.testing.assert_close`` accepts two tensors of one shape, device and layout.

    That function itself imports torch.distributed.tensor, and with it sympy, which takes longer than most recordings
    (torch/testing/_comparison.py, 2.13).
    """
    if actual.dtype != expected.dtype:
        return False
    relative, absolute = _TOLERANCES.get(actual.dtype, (0.0, 0.0))
    return bool(torch.isclose(actual, expected, relative, absolute, equal_nan=True).all())


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a dense tensor that arithmetic works on, with the same values."""
    tensor = tensor.detach()
    if tensor.is_quantized:
        return tensor.dequantize()
    if tensor.layout is not torch.strided:
        return tensor.to_dense()
    if tensor.is_floating_point() and tensor.element_size() == 1:
        return tensor.to(torch.float32)  # torch 2.13 has no arithmetic on float8.
    return tensor


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
