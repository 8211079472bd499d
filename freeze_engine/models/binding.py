"""Checks, without a call, whether inputs fit the parameters of a model's ``forward``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Final

import torch

from freeze_engine.errors import ModelSpecError
from freeze_engine.models.inspection import parameters_of
from freeze_engine.models.loading import LoadedModel
from freeze_engine.models.signature.unwritable import is_unwritable
from freeze_engine.models.summary import ModelParameter
from freeze_engine.models.trial.failures import known_failure, with_remedy
from freeze_engine.models.trial.trial import CallFailure
from freeze_engine.requests.inputs import Inputs

#: Types that a TorchScript schema holds a plain value or a tensor to.
_PLAIN: Final = {"Tensor": torch.Tensor, "int": int, "float": float, "bool": bool}


def check_binding(model: LoadedModel, inputs: Inputs, texts: Sequence[str]) -> None:
    """Refuses inputs that do not fit the parameters of ``forward``; sizes and dtypes are not looked at.

    Args:
        model: the model.
        inputs: of the call.
        texts: the same as texts of ``--input``.

    Raises:
        ModelSpecError: an input is missing, unknown, given twice, of a wrong type, or there are too many; the message
            has the parameter's name and the remedy.
    """
    signature = _signature(model.module)
    refusal = None if signature is None else binding_error(signature, inputs)
    if refusal is None:
        return
    parameters = parameters_of(model)
    failure = with_remedy(known_failure(refusal, texts, parameters) or CallFailure(refusal), texts, parameters)
    raise ModelSpecError(_told(failure, model.name, parameters or ()))


def check_call(module: torch.nn.Module, inputs: Inputs, name: str) -> None:
    """Refuses inputs that ``forward`` of a module cannot be called with; sizes and dtypes are not looked at.

    Args:
        module: the module.
        inputs: of the call.
        name: of the model, for the message.

    Raises:
        ModelSpecError: an input is missing, unknown, given twice, of a wrong type, or there are too many.
    """
    signature = _signature(module)
    refusal = None if signature is None else binding_error(signature, inputs)
    if refusal is not None:
        takes = ", ".join(str(parameter) for parameter in (signature.parameters.values() if signature else ()))
        raise ModelSpecError(f"{name}: {refusal}\nforward() takes {takes}")


def takes_no_inputs(module: torch.nn.Module) -> bool:
    """Returns whether ``forward`` of a module has no parameters, so that the call without inputs is the only one."""
    signature = _signature(module)
    return signature is not None and not signature.parameters


def binding_error(signature: inspect.Signature, inputs: Inputs) -> str | None:
    """Returns what Python or torch would say of a call with these inputs, ``None`` if they fit.

    Args:
        signature: of ``forward``, without ``self``; an annotation is a type of a TorchScript schema.
        inputs: of the call.
    """
    parameters = signature.parameters.values()
    places = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    takes_more = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    takes_names = any(each.kind is each.VAR_KEYWORD for each in parameters)
    named = {each.name: each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    filled = [each.name for each in places[: len(inputs.args)]]
    if len(inputs.args) > len(places) and not takes_more:
        return f"forward() takes {len(places) + 1} positional arguments but {len(inputs.args) + 1} were given"
    for name in inputs.kwargs:
        if name in filled and name in named:
            return f"forward() got multiple values for argument '{name}'"
        if name not in named and not takes_names:
            return f"forward() got an unexpected keyword argument '{name}'"
    required = [each.name for each in (*places, *named.values()) if each.default is each.empty]
    missing = [name for name in dict.fromkeys(required) if name not in filled and name not in inputs.kwargs]
    if missing:
        names = " and ".join(f"'{name}'" for name in missing)
        return f"forward() missing {len(missing)} required positional arguments: {names}"
    given = dict(zip((each.name for each in places), inputs.args, strict=False)) | dict(inputs.kwargs)
    return next((found for each in parameters if (found := _type_error(each, given)) is not None), None)


def _type_error(parameter: inspect.Parameter, given: dict[str, Any]) -> str | None:
    wanted = _PLAIN.get(parameter.annotation) if isinstance(parameter.annotation, str) else None
    if wanted is None or parameter.name not in given:
        return None
    value = given[parameter.name]
    # As the schema does: an int stands for a float, and a bool for no number.
    fits = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
    if fits or (wanted is float and type(value) is int):
        return None
    got = "Tensor" if isinstance(value, torch.Tensor) else type(value).__name__
    return (
        f"forward() Expected a value of type '{parameter.annotation}' for argument '{parameter.name}' "
        f"but instead found type '{got}'"
    )


def _signature(module: torch.nn.Module) -> inspect.Signature | None:
    """Returns the signature of ``forward``, ``None`` if it cannot be read."""
    if not isinstance(module, torch.jit.ScriptModule):
        try:
            found = inspect.signature(module.forward)
        except (TypeError, ValueError):  # what replaced forward has no signature
            return None
        # An annotation of Python's binds nothing: the module may take any value.
        return found.replace(parameters=[each.replace(annotation=each.empty) for each in found.parameters.values()])
    schema = getattr(getattr(module, "forward", None), "schema", None)
    if schema is None:
        return None
    return inspect.Signature(
        [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY if each.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=each.default_value if each.has_default_value() else inspect.Parameter.empty,
                annotation=str(each.type.annotation_str),
            )
            for each in schema.arguments[1:]
        ]
    )


def _told(failure: CallFailure, model: str, parameters: Sequence[ModelParameter]) -> str:
    """Returns the message: what does not fit, the remedy as ``--input``, and what forward takes."""
    fix = next(iter(failure.fixes), None)
    remedy = ""
    if fix is not None:
        label = fix.label[:1].lower() + fix.label[1:]
        remedy = f"; {label}: {' '.join(f'--input {text}' for text in fix.inputs) or 'leave out --input'}"
    elif failure.parameter and not any(
        each.name == failure.parameter and is_unwritable(each.type) for each in parameters
    ):
        remedy = f"; add --input {failure.parameter}=…"
    takes = ", ".join(_parameter_text(each) for each in parameters)
    return f"{model}: {failure.message}{remedy}" + (f"\nforward() takes {takes}" if takes else "")


def _parameter_text(each: ModelParameter) -> str:
    kind = f" ({each.type})" if each.type else ""
    return f"{each.name}{kind}" + ("" if each.is_required else f" = {each.default}")
