"""Runs one call of a model, and describes what it returned."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Final

import torch

from freeze_engine.errors import FreezerError
from freeze_engine.models.loading import LoadedModel
from freeze_engine.models.summary import ModelParameter
from freeze_engine.models.tensors import make_inputs
from freeze_engine.models.trial.failed_call import FailedCall
from freeze_engine.models.trial.failures import explain_failure, known_failure, with_remedy
from freeze_engine.models.trial.location import failure_place
from freeze_engine.models.trial.trial import CallFailure, CallFix, CallTrial
from freeze_engine.requests.inputs import Inputs, parse_input

_PACKAGE: Final = Path(__file__).parents[2]
_MOST: Final = 200
_MOST_ITEMS: Final = 4
#: Sizes of pictures that models of this kind take: MNIST, CIFAR, and those of ImageNet.
_PICTURES: Final = (32, 28, 64, 224, 96, 128, 299)


def try_call(
    model: LoadedModel,
    texts: Sequence[str],
    parameters: Sequence[ModelParameter] | None,
    *,
    device: str = "cpu",
    trusted: bool = True,
) -> CallTrial:
    """Calls a model once, without gradients.

    Args:
        model: the model.
        texts: of ``--input``; without any, the inputs that the model brings, or none if it needs none.
        parameters: of the model, for the explanation of a failure.
        device: where to make the inputs.
        trusted: as in `make_inputs`.

    Returns:
        What it returned, or why it failed.

    Raises:
        ModelSpecError: an input cannot be made.
        FreezerError: there are no inputs.
    """
    inputs = model.inputs
    if texts:
        inputs = make_inputs([parse_input(text) for text in texts], device=device, trusted=trusted)
    if inputs is None and parameters is not None and not any(each.is_required for each in parameters):
        inputs = Inputs()
    if inputs is None:
        raise FreezerError("there are no inputs to call the model with; give one")
    began_ns = perf_counter_ns()
    try:
        output = _called(model, inputs)
    except Exception as error:  # noqa: BLE001 - whatever the model raises is the outcome
        return _failed(error, model, tuple(texts), parameters, device)
    return CallTrial(output_text(output), perf_counter_ns() - began_ns)


def _called(model: LoadedModel, inputs: Inputs) -> Any:
    with torch.no_grad():
        output = model.module(*inputs.args, **inputs.kwargs)
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            torch.cuda.synchronize()
    return output


def _failed(
    error: Exception,
    model: LoadedModel,
    texts: tuple[str, ...],
    parameters: Sequence[ModelParameter] | None,
    device: str,
) -> CallTrial:
    text = f"{type(error).__name__}: {error}"
    known = known_failure(text, texts, parameters)
    failure = _short(known or explain_failure(text, texts, parameters))
    if texts or model.inputs is None:  # a model that brings its inputs may bring containers
        failure = with_remedy(failure, texts, parameters)
    if (known is None or not known.fixes) and (fix := _other_size(model, texts, parameters, device)) is not None:
        failure = replace(failure, fixes=(fix,))
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not _is_own(each.filename)]
    place = failure_place(text) or failure_place("".join(traceback.format_list(frames)))
    return CallTrial(failure=failure, where=place, error=text)


def _other_size(
    model: LoadedModel, texts: tuple[str, ...], parameters: Sequence[ModelParameter] | None, device: str
) -> CallFix | None:
    """Finds a size of pictures that the model takes, if its only tensor is a picture."""
    call = FailedCall(texts, tuple(parameters or ()))
    pictures = [at for at, each in call.given_tensors() if len(each.shape) == 4]
    if len(pictures) != 1:
        return None
    at = pictures[0]
    tensor = call.tensors[at]
    assert tensor is not None
    for size in _PICTURES:
        text = call.with_size(at, (-2, -1), size)
        if text is None or tensor.shape[-2:] == (size, size):
            continue
        changed = call.with_value(at, text)
        with suppress(Exception):  # another size that the model refuses
            _called(model, make_inputs([parse_input(each) for each in changed], device=device))
            return CallFix(f"Use {text}, which runs", changed)
    return None


def _is_own(file: str) -> bool:
    path = Path(file)
    return path.is_relative_to(_PACKAGE) and not path.is_relative_to(_PACKAGE / "models" / "examples")


def _short(failure: CallFailure) -> CallFailure:
    return replace(failure, message=_clipped(failure.message))


def output_text(value: object) -> str:
    """Describes what a model returned, as ``1×1000 float32`` or ``(1×5 float32, 1×4 int64)``."""
    return _clipped(_described(value))


def _described(value: object) -> str:
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        return f"{'×'.join(map(str, value.shape))} {dtype}" if value.ndim else f"one {dtype}"
    if isinstance(value, Mapping):
        items = [f"{key}: {_described(each)}" for key, each in list(value.items())[:_MOST_ITEMS]]
        return f"{{{', '.join(items)}{', …' if len(value) > _MOST_ITEMS else ''}}}"
    if isinstance(value, (list, tuple)):
        items = [_described(each) for each in value[:_MOST_ITEMS]]
        return f"({', '.join(items)}{', …' if len(value) > _MOST_ITEMS else ''})"
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    return type(value).__name__


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
