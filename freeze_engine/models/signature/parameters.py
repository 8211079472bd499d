"""Reads the parameters of a model's ``forward``."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import torch
from torch import fx, nn

from freeze_engine.backends.torchscript.graph.module_slots import tensors_in
from freeze_engine.models.loading import LoadedModel
from freeze_engine.models.signature.first_use import guesses
from freeze_engine.models.signature.input_texts import input_text, shape_text
from freeze_engine.models.signature.program_arguments import Structure, argument_kinds, keyword_names
from freeze_engine.models.signature.unwritable import with_notes
from freeze_engine.models.summary import ModelParameter
from freeze_engine.requests.inputs import Inputs

#: A value of each plain type, for a parameter that needs one and says no more.
_PLAIN: Final[Mapping[str, str]] = {"int": "int:1", "float": "float:1.0", "bool": "bool:false"}
_MOST: Final = 60


def model_parameters(model: LoadedModel, scripted: torch.jit.ScriptModule | None) -> tuple[ModelParameter, ...] | None:
    """Reads the parameters of a model's ``forward``, each with a suggested input.

    The suggestion is the input that the MODEL brings; else the sizes in an exported program; else a guess from the
    first operator that uses the parameter in the scripted module; else a value of its type.

    Args:
        model: the model.
        scripted: the same as a ScriptModule, ``None`` if it is not one and cannot be made one.

    Returns:
        The parameters without ``self``, ``*args`` and ``**kwargs``; ``None`` if the signature cannot be read, or has
        nothing but these.
    """
    module = model.module
    if isinstance(module, torch.jit.ScriptModule):
        found = _of_schema(module)
    else:
        found = _of_signature(module, model.inputs if model.via == "trace" else None)
    if found is None:
        return None
    if model.inputs is not None:
        found = _with_example(found, model.inputs)
    if isinstance(module, fx.GraphModule):
        found = _with_placeholders(found, module)
    if scripted is not None:
        found = _with_guesses(found, guesses(scripted))
    return tuple(with_notes([_with_type(each) for each in found]))


def _of_schema(module: torch.jit.ScriptModule) -> list[ModelParameter] | None:
    forward = getattr(module, "forward", None)
    schema = getattr(forward, "schema", None)
    if schema is None:  # a module may have other methods only
        return None
    return [
        ModelParameter(
            each.name,
            str(each.type.annotation_str),
            not each.has_default_value(),
            _default_text(each.default_value) if each.has_default_value() else None,
            bool(each.kwarg_only),
        )
        for each in schema.arguments[1:]
    ]


def _of_signature(module: nn.Module, strict: Inputs | None) -> list[ModelParameter] | None:
    """Reads a Python signature.

    Args:
        module: the module.
        strict: the inputs of an exported program, which takes the very same keywords as when it was exported.
    """
    try:
        given = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):  # what replaced forward has no signature
        return None
    named = [each for each in given if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    if given and not named:
        return None
    keywords = keyword_names(module) if strict is None else tuple(strict.kwargs)
    return [
        ModelParameter(
            each.name,
            _type_text(each.annotation),
            each.default is each.empty,
            None if each.default is each.empty else _default_text(each.default),
            each.kind is each.KEYWORD_ONLY or each.name in keywords,
        )
        for each in named
    ]


def _type_text(annotation: object) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    for part in ("torch.", "typing.", "'", '"'):
        text = text.replace(part, "")
    return text


def _default_text(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"


def _with_example(found: Sequence[ModelParameter], inputs: Inputs) -> list[ModelParameter]:
    places = [each.name for each in found if not each.is_keyword]
    given = dict(zip(places, inputs.args, strict=False)) | dict(inputs.kwargs)
    return [
        each
        if each.name not in given
        else replace(each, input=input_text(given[each.name]), source="example", note=_example_note(given[each.name]))
        for each in found
    ]


def _example_note(value: object) -> str:
    if input_text(value) is not None:
        return "from the model's own example"
    held = sum(1 for _ in itertools.islice(tensors_in(value), _MOST))
    return f"the model's own example, {type(value).__name__}{f' with {held} tensors' if held else ''}, has no text"


def _with_placeholders(found: Sequence[ModelParameter], module: fx.GraphModule) -> list[ModelParameter]:
    """Suggests the sizes and dtypes of an exported program's placeholders."""
    values = [node.meta.get("val") for node in module.graph.nodes if node.op == "placeholder"]
    kinds = argument_kinds(module) or [None] * len(values)
    if len(kinds) != len(found) or (len(values) != len(found) and not any(kinds)):
        return list(found)
    waiting = iter(values)  # a list or a dict is several placeholders, or none
    return [
        _with_placeholder(each, next(waiting, None)) if kind is None else _with_structure(each, kind, waiting)
        for each, kind in zip(found, kinds, strict=True)
    ]


def _with_structure(each: ModelParameter, kind: Structure, waiting: Iterator[Any]) -> ModelParameter:
    """Gives a parameter the type of its list or dict, whose items are the next placeholders."""
    for _ in range(kind.leaves):
        next(waiting, None)
    return each if each.type else replace(each, type=kind.name)


def _with_placeholder(each: ModelParameter, value: Any) -> ModelParameter:
    if not isinstance(value, torch.Tensor):
        text = input_text(value)
        is_fixed = each.input is not None or text is None
        return each if is_fixed else replace(each, input=text, source="program", note="fixed in the program")
    dtype = str(value.dtype).removeprefix("torch.")
    dynamic = [number for number, size in enumerate(value.shape) if not isinstance(size, int)]
    typed = replace(each, type=each.type or "Tensor")
    if each.input is not None:
        return replace(typed, note=f"{each.note}{_dynamic_text(dynamic)}")
    sizes = tuple(size if isinstance(size, int) else _hint(size) for size in value.shape)
    note = f"from the program{_dynamic_text(dynamic)}"
    return replace(typed, input=shape_text(sizes, dtype), source="program", note=note)


def _dynamic_text(dynamic: Sequence[int]) -> str:
    if not dynamic:
        return ""
    which = " and ".join(str(number) for number in dynamic)
    return f"; {'sizes' if len(dynamic) > 1 else 'size'} {which} may differ"


def _hint(size: Any) -> int:
    """Returns the size that a dynamic one had when the program was exported; 2 is allowed wherever 1 may not be."""
    hint = getattr(getattr(size, "node", None), "hint", None)
    return hint if isinstance(hint, int) else 2


def _with_guesses(found: Sequence[ModelParameter], guessed: Mapping[str, tuple[str, str]]) -> list[ModelParameter]:
    return [
        each
        if each.input is not None or each.source or each.name not in guessed
        else replace(each, input=guessed[each.name][0], source="operator", note=guessed[each.name][1])
        for each in found
    ]


def _with_type(each: ModelParameter) -> ModelParameter:
    if each.source or not each.is_required or each.type not in _PLAIN:
        return each
    return replace(each, input=_PLAIN[each.type], source="type", note="a guess: any value of its type")
