"""Inspects a model before a recording."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from freeze_engine.backends.common.exported_programs import training_parts
from freeze_engine.backends.common.torch_private import cpp_module, method_names
from freeze_engine.backends.torchscript.attributes.same_tensors import same_tensor
from freeze_engine.backends.torchscript.capture.scripting import to_script_module
from freeze_engine.backends.torchscript.graph.module_slots import module_attributes
from freeze_engine.models.loading import LoadedModel
from freeze_engine.models.signature.input_texts import input_texts
from freeze_engine.models.signature.parameters import model_parameters
from freeze_engine.models.summary import ModelAttribute, ModelParameter, ModelSummary

#: Attributes that TorchScript adds to every module (torch/nn/modules/module.py, torch 2.13.0).
_FLAGS = ("training", "_is_full_backward_hook")
_MANGLED = re.compile(r"___torch_mangle_\d+\.")


def model_summary(model: LoadedModel) -> ModelSummary:
    """Returns the summary of a model's contents and arguments."""
    scripted = _scripted(model)
    attributes, methods = _contents(model.module, scripted)
    return ModelSummary(
        name=model.name,
        attributes=tuple(sorted(attributes, key=lambda each: each.path.rpartition(".")[2] in _FLAGS)),
        methods=methods,
        inputs=None if model.inputs is None else input_texts(model.inputs),
        brings_inputs=model.inputs is not None,
        via=model.via,
        preserved=model.preserved_attrs,
        training=_is_training(model.module),
        devices=devices(),
        parameters=model_parameters(model, scripted),
    )


def parameters_of(model: LoadedModel) -> tuple[ModelParameter, ...] | None:
    """Returns the parameters of a model's ``forward``; ``None`` if they cannot be read."""
    return model_parameters(model, _scripted(model))


def devices() -> tuple[str, ...]:
    """Returns the devices of this machine that a model can be on."""
    return ("cpu", *(f"cuda:{index}" for index in range(torch.cuda.device_count())))


def _scripted(model: LoadedModel) -> torch.jit.ScriptModule | None:
    """Returns the model as a ScriptModule; ``None`` if it is to be traced, or cannot be scripted."""
    if isinstance(model.module, torch.jit.ScriptModule):
        return model.module
    if model.via != "script":
        return None
    # A model that cannot be scripted may still be traced, and recording it shows why.
    with contextlib.suppress(Exception):
        return to_script_module(model.module, model.inputs, model.via).module
    return None


def _contents(
    module: nn.Module, scripted: torch.jit.ScriptModule | None
) -> tuple[tuple[ModelAttribute, ...], tuple[str, ...]]:
    if scripted is None:
        return tuple(_eager_attributes(module)), ("forward",)
    cpp = cpp_module(scripted)
    names = sorted(method_names(cpp), key=lambda name: (name != "forward", name))
    return tuple(_scripted_attributes(cpp)), tuple(names)


def _scripted_attributes(cpp: Any) -> Iterator[ModelAttribute]:
    names = _FirstNames()
    for slot in module_attributes(cpp).values():
        value = slot.value if isinstance(slot.value, torch.Tensor) else None
        kind = _MANGLED.sub("", slot.type)
        fields = (*_tensor_fields(value), sum(map(_nbytes, slot.tensors)), names.of(slot.path, same_tensor(value)))
        yield ModelAttribute(slot.path, slot.kind, kind, *fields)


def _eager_attributes(module: nn.Module) -> Iterator[ModelAttribute]:
    names = _FirstNames()
    for path, each in module.named_modules(remove_duplicate=False):
        prefix = f"{path}." if path else ""
        if path:
            yield ModelAttribute(path, "submodule", type(each).__name__)
        for name, parameter in each.named_parameters(recurse=False, remove_duplicate=False):
            yield _tensor_attribute(prefix + name, "parameter", parameter, names)
        for name, buffer in each.named_buffers(recurse=False, remove_duplicate=False):
            yield _tensor_attribute(prefix + name, "buffer", buffer, names)


class _FirstNames:
    """Paths by which tensors were found first."""

    def __init__(self) -> None:
        self._paths: dict[object, str] = {}

    def of(self, path: str, key: object) -> str:
        """Returns the path by which a tensor was found before, empty for none; ``key`` stands for the tensor."""
        first = path if key is None else self._paths.setdefault(key, path)
        return "" if first == path else first


def _tensor_attribute(path: str, kind: Any, tensor: torch.Tensor, names: _FirstNames) -> ModelAttribute:
    fields = (*_tensor_fields(tensor), _nbytes(tensor), names.of(path, id(tensor)))
    return ModelAttribute(path, kind, "Tensor", *fields)


def _tensor_fields(tensor: torch.Tensor | None) -> tuple[tuple[int, ...] | None, str | None]:
    return (None, None) if tensor is None else (tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))


def _nbytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _is_training(module: nn.Module) -> bool:
    return any(training_parts(module))
