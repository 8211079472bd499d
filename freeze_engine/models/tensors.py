"""Tensors described by ``--input``."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from freeze_engine.errors import ModelSpecError
from freeze_engine.models.file_kinds import file_kind
from freeze_engine.models.untrusted.plain_pickles import PickleRefusedError
from freeze_engine.models.untrusted.plain_tensors import plain_tensors
from freeze_engine.models.untrusted.strict_zip import ZipRefusedError
from freeze_engine.requests.inputs import InputRequest, Inputs, RandomTensor, SavedTensor


def make_inputs(
    requests: Iterable[InputRequest], *, seed: int = 0, device: str = "cpu", trusted: bool = True
) -> Inputs:
    """Makes the tensors that ``--input`` describes.

    Args:
        requests: in the order of the arguments.
        seed: of a generator of its own on the CPU: the same requests and seed give the same tensors on each device.
        device: where the tensors go.
        trusted: whether torch may open the named files. ``False`` makes the tensors from their bytes, without
            torch's unpickler.

    Returns:
        The arguments to call the model with.

    Raises:
        ModelSpecError: if a keyword is there twice, a file holds no tensor, a tensor does not fit into memory, or the
            device is not there.
    """
    target = device_named(device)
    generator = torch.Generator().manual_seed(seed)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for request in requests:
        value = moved(_made(request, generator, trusted), target)
        if request.keyword is None:
            args.append(value)
        elif request.keyword in kwargs:
            raise ModelSpecError(f"--input {request.keyword}=… is given twice; give each keyword once.")
        else:
            kwargs[request.keyword] = value
    return Inputs(tuple(args), kwargs)


def _made(request: InputRequest, generator: torch.Generator, trusted: bool) -> Any:
    if isinstance(request.value, RandomTensor):
        return _drawn(request.value, generator)
    if isinstance(request.value, SavedTensor):
        return _saved(Path(request.value.path), trusted)
    return request.value


def _drawn(wanted: RandomTensor, generator: torch.Generator) -> torch.Tensor:
    dtype = getattr(torch, wanted.dtype)
    try:
        if wanted.values is not None:
            low, high = wanted.values.start, wanted.values.stop
            return torch.randint(low, high, wanted.shape, generator=generator, dtype=dtype)
        if dtype is torch.bool:
            return torch.randint(2, wanted.shape, generator=generator).bool()
        return torch.randn(wanted.shape, generator=generator, dtype=dtype)
    except RuntimeError as error:
        shape = "x".join(str(size) for size in wanted.shape)
        raise ModelSpecError(f"--input {shape}:{wanted.dtype} cannot be made: {error}") from error


def _saved(path: Path, trusted: bool) -> torch.Tensor:
    wrong = f"--input @{path}: the file"
    if not path.is_file():
        raise ModelSpecError(f"{wrong} is not there. Write one with torch.save(tensor, {path.name!r}).")
    try:
        # torch.load warns of a TorchScript file before it refuses it, and fails in many ways on what is no file of its
        # own (KeyError, EOFError, ...), so that what it did not write is refused here.
        if file_kind(path) != "tensor":
            raise ModelSpecError(f"{wrong} holds no tensor. Write one with torch.save(tensor, {path.name!r}).")
        tensor = _loaded(path, trusted)
    except (OSError, RuntimeError, pickle.UnpicklingError, PickleRefusedError, ZipRefusedError) as error:
        raise ModelSpecError(f"{wrong} cannot be read as a tensor: {error}") from error
    if not isinstance(tensor, torch.Tensor):
        raise ModelSpecError(
            f"{wrong} holds {type(tensor).__name__}. Save one tensor, with torch.save(tensor, {path.name!r})."
        )
    return tensor


def _loaded(path: Path, trusted: bool) -> Any:
    if trusted:
        return torch.load(path, map_location="cpu", weights_only=True)
    return plain_tensors(path.read_bytes())


def device_named(name: str) -> torch.device:
    """Returns a device of this machine.

    Raises:
        ModelSpecError: there is none of that name.
    """
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ModelSpecError(f"{name!r} is not a device: {error}. Give cpu or cuda:0.") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ModelSpecError(f"There is no device {name!r} on this machine. Give cpu, or run where there is one.")
    return device


def moved(value: Any, device: torch.device) -> Any:
    """Returns a value with the tensors in nested tuples, lists and dicts on another device, and the rest as it is."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if type(value) in (tuple, list):
        return type(value)(moved(item, device) for item in value)
    if type(value) is dict:
        return {key: moved(item, device) for key, item in value.items()}
    return value
