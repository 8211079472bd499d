"""Makes tensors from what a file of `torch.save` holds, none of which is run."""

from __future__ import annotations

import io
from typing import Any

import torch

from freeze_engine.models.untrusted.plain_pickles import SavedStorage, TensorDescription, read_plain


def plain_tensors(data: bytes) -> Any:
    """Returns what a file of `torch.save` holds, with its tensors on the CPU.

    Args:
        data: the whole file.

    Raises:
        PickleRefusedError: it holds something that is neither a tensor nor plain data.
        freeze_engine.models.untrusted.strict_zip.ZipRefusedError: it is no zip file, or one that may be understood in
            two ways.
    """
    return _with_tensors(read_plain(data), {})


def repickled(data: bytes) -> bytes:
    """Returns a new file of `torch.save` with the plain values of another one.

    Raises:
        PickleRefusedError: it holds something that is neither a tensor nor plain data.
        freeze_engine.models.untrusted.strict_zip.ZipRefusedError: it is no zip file, or one that may be understood in
            two ways.
    """
    buffer = io.BytesIO()
    torch.save(plain_tensors(data), buffer)
    return buffer.getvalue()


def _with_tensors(value: Any, storages: dict[str, torch.UntypedStorage]) -> Any:
    if isinstance(value, TensorDescription):
        return _tensor(value, storages)
    if isinstance(value, (list, tuple)):
        return type(value)(_with_tensors(each, storages) for each in value)
    if isinstance(value, dict):
        return {key: _with_tensors(each, storages) for key, each in value.items()}
    return value


def _tensor(described: TensorDescription, storages: dict[str, torch.UntypedStorage]) -> torch.Tensor:
    key = described.storage.key
    if key not in storages:
        storages[key] = _storage(described.storage)
    tensor = torch.empty(0, dtype=getattr(torch, described.dtype))
    tensor.set_(storages[key], described.offset, described.shape, described.stride)
    if described.is_parameter:
        return torch.nn.Parameter(tensor, requires_grad=described.requires_grad)
    return tensor.requires_grad_(described.requires_grad)


def _storage(saved: SavedStorage) -> torch.UntypedStorage:
    if not saved.data:
        return torch.empty(0, dtype=torch.uint8).untyped_storage()
    return torch.frombuffer(bytearray(saved.data), dtype=torch.uint8).untyped_storage()
