"""Summaries of constant tensors: description, digest and statistics, and the bytes that they hold together."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.weak import WeakIdRef

from freeze_engine.tensors.statistics import Scratch, Statistics, statistics_of
from freeze_engine.tensors.values import MOST_SUMMARIES, value_summary
from freeze_engine.trace import Constant, ValueSummary

_COMPRESSED_INDICES = {
    torch.sparse_csr: (torch.Tensor.crow_indices, torch.Tensor.col_indices),
    torch.sparse_bsr: (torch.Tensor.crow_indices, torch.Tensor.col_indices),
    torch.sparse_csc: (torch.Tensor.ccol_indices, torch.Tensor.row_indices),
    torch.sparse_bsc: (torch.Tensor.ccol_indices, torch.Tensor.row_indices),
}


class StorageNames:
    """Names storages ``s0``, ``s1``, … within one trace, and remembers the constants described so far.

    It mistakes no new storage for a freed one at the same address: it holds the tensors, or no tensor but weak
    references to storages.

    Args:
        keeping_values: whether constants are described with their numbers (`freeze_engine.tensors.values`), the first
            `MOST_SUMMARIES` of them.
        holding: whether to hold the tensors. The object by which Python knows a storage lasts as long as the storage
            (torch 2.13), which may be for ever; nothing of it is made for tensors that are held anyway.
    """

    def __init__(self, *, holding: bool = False, keeping_values: bool = False) -> None:
        self._summaries_left = MOST_SUMMARIES if keeping_values else 0
        self._names: dict[Hashable, str] = {}
        self._held: list[torch.Tensor] | None = [] if holding else None
        self._constants: dict[Hashable, Constant] = {}
        self._numbers = _KnownNumbers()

    def name(self, tensor: torch.Tensor) -> str | None:
        """Returns the name of a tensor's storage, ``None`` where torch shows none (sparse, MKLDNN, meta)."""
        if tensor.layout is not torch.strided or tensor.is_meta:
            return None
        return self._names.setdefault(self._storage(tensor), f"s{len(self._names)}")

    def constant(self, tensor: torch.Tensor) -> Constant:
        """Describes a tensor, or recalls its description if it has not been written since."""
        if tensor.is_inference():  # It has no version counter, by which writes would show.
            return self._described(tensor)
        identity = _identity(tensor, self._storage)
        if identity not in self._constants:
            self._constants[identity] = self._described(tensor)
        return self._constants[identity]

    def _described(self, tensor: torch.Tensor) -> Constant:
        constant = _described(tensor, self.name(tensor), self._numbers, is_summed_up=self._summaries_left > 0)
        self._summaries_left -= constant.values is not None
        return constant

    def _storage(self, tensor: torch.Tensor) -> Hashable:
        """Returns a key that identifies a storage; those without memory have no address."""
        if self._held is None or not tensor.data_ptr():
            return StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]
        self._held.append(tensor)
        return tensor.data_ptr() - tensor.storage_offset() * tensor.element_size()


def constant_of(tensor: torch.Tensor, storages: StorageNames) -> Constant:
    """Describes a constant tensor.

    The digest covers the elements in logical order, whatever the strides: the integer representation of a
    quantised tensor and then its scales and zero points, the dense form of an MKLDNN one, indices and then values of a
    sparse one. Statistics are of the finite elements as float64: dequantised, the stored values of a sparse tensor,
    magnitudes of complex numbers; ``std`` is that of the population (divided by n), summed up by T. F. Chan,
    G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample variance", Am. Stat. 37, 1983.

    Args:
        tensor: of any layout, dtype and device; meta tensors have neither digest nor statistics.
        storages: of the trace that the constant goes into.

    Returns:
        The summary that the trace keeps.
    """
    return storages.constant(tensor)


def constant_bytes(constants: Iterable[Constant]) -> int:
    """Adds up the bytes of constants, shared memory once.

    Views of one storage are the same memory where they hold the same elements in any order (a matrix and its
    transpose: equal bytes, minimum and maximum); otherwise they are slices of it and each counts. Constants of
    unknown storage each count.

    Args:
        constants: of one graph.

    Returns:
        Bytes.
    """
    total = 0
    seen: set[tuple[object, ...]] = set()
    for constant in constants:
        view = (constant.storage, constant.nbytes, constant.minimum, constant.maximum)
        if constant.storage is None or view not in seen:
            total += constant.nbytes
        seen.add(view)
    return total


def tensor_bytes(tensor: torch.Tensor) -> int:
    """Returns the bytes that a tensor of any layout takes, the indices of a sparse one included."""
    if tensor.is_meta or (tensor.layout is torch.strided and not tensor.is_quantized):
        return tensor.nbytes
    return sum(part.nbytes for part in _parts(tensor.detach()))


def _identity(tensor: torch.Tensor, storage: Callable[[torch.Tensor], Hashable]) -> Hashable:
    """Returns a key that is equal for two tensors of the same elements of the same memory, unwritten in between.

    For a quantised tensor the scale matters as well, and an opaque one shows no storage: these are known by the
    tensor itself, whose Python object torch keeps as long as the graph holds it (torch 2.13).
    """
    if tensor.layout is not torch.strided or tensor.is_quantized:
        return WeakIdRef(tensor), tensor._version
    return (
        storage(tensor),
        tensor.storage_offset(),
        tensor.shape,
        tensor.stride(),
        tensor.dtype,
        tensor.is_conj(),
        tensor.is_neg(),
        tensor._version,
    )


class _KnownNumbers:
    """The numbers of the tensors described so far, of which many are equal, such as those of untrained norms."""

    def __init__(self) -> None:
        self._scratch = Scratch()
        self._known: dict[Hashable, tuple[Statistics, ValueSummary | None]] = {}

    def of(
        self, digest: str, tensor: torch.Tensor, values: torch.Tensor, is_summed_up: bool
    ) -> tuple[Statistics, ValueSummary | None]:
        """Returns the statistics of a tensor's values and, if requested, their summary."""
        key = (digest, tensor.dtype, tensor.layout, tensor.shape, values.shape, is_summed_up)
        if key not in self._known:
            elements = values.reshape(-1)
            found = statistics_of(elements, self._scratch)
            self._known[key] = (
                found,
                (value_summary(elements, found, tensor.numel(), self._scratch) if is_summed_up else None),
            )
        return self._known[key]


def _described(
    tensor: torch.Tensor, storage: str | None, numbers: _KnownNumbers, *, is_summed_up: bool = False
) -> Constant:
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return _described_subclass(tensor, numbers)
    tensor = tensor.detach()
    shown: dict[str, Any] = {
        "shape": tuple(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "device": str(tensor.device),
        "storage": storage,
    }
    if tensor.is_meta:
        return Constant(**shown, nbytes=tensor.nbytes)
    # Digest and numbers are both of the elements in logical order, which of other strides takes a copy.
    parts = tuple(part.contiguous() for part in _parts(tensor))
    digest = hashlib.sha256()
    for part in (*parts, *_quantisation(tensor)):
        digest.update(part.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    shown |= {"nbytes": sum(part.nbytes for part in parts), "digest": digest.hexdigest()[:16]}
    values = tensor.dequantize() if tensor.is_quantized else parts[-1]
    statistics, shown["values"] = numbers.of(digest.hexdigest(), tensor, values, is_summed_up)
    if statistics.count == 0:
        return Constant(**shown, nonfinite=statistics.nonfinite)
    return Constant(
        **shown,
        minimum=statistics.minimum,
        maximum=statistics.maximum,
        mean=statistics.mean,
        std=math.sqrt(statistics.squares / statistics.count),
        nonfinite=statistics.nonfinite,
    )


def _described_subclass(tensor: torch.Tensor, numbers: _KnownNumbers) -> Constant:
    """Describes a tensor of a class of its own: by the tensors inside it, or without a digest where it hides them.

    Such a class defines which operators it answers; the bytes of a tensor, such as 4-bit integers, are those inside.
    """
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    inner = _inside(tensor)
    if not inner:
        return Constant(shape, dtype, str(tensor.device), tensor.numel() * tensor.element_size())
    parts = [_described(each, None, numbers) for each in inner]
    digests = [part.digest for part in parts]
    digest = None if None in digests else hashlib.sha256(repr(digests).encode()).hexdigest()[:16]
    return Constant(shape, dtype, str(tensor.device), sum(part.nbytes for part in parts), digest=digest)


def _inside(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Returns the tensors that a tensor of a class of its own consists of, none where it does not show them."""
    flatten = getattr(tensor, "__tensor_flatten__", None)
    names = flatten()[0] if flatten is not None else ()
    return [each for name in names if isinstance(each := getattr(tensor, name), torch.Tensor)]


def _quantisation(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Returns the scales and zero points of a quantised tensor; nothing for any other tensor."""
    if not tensor.is_quantized:
        return ()
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return torch.tensor(tensor.q_scale(), dtype=torch.float64), torch.tensor(tensor.q_zero_point())
    per_channel = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
    return *(part.cpu() for part in per_channel), torch.tensor(tensor.q_per_channel_axis())


def _parts(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Returns dense CPU tensors with everything that is stored, the values last."""
    stored: tuple[torch.Tensor, ...]
    if tensor.layout is torch.sparse_coo:
        stored = (tensor._indices(), tensor._values())
    elif tensor.layout in _COMPRESSED_INDICES:
        indices = _COMPRESSED_INDICES[tensor.layout]
        stored = (*(read(tensor) for read in indices), tensor.values())
    elif tensor.is_quantized:
        stored = (tensor.int_repr(),)
    else:
        stored = (tensor.to_dense() if tensor.is_mkldnn else tensor,)
    return tuple(part.cpu().resolve_conj().resolve_neg() for part in stored)
