"""Explains calls that failed at the dtype of an input."""

from __future__ import annotations

import re
from typing import Final

from freeze_engine.models.summary import ModelParameter
from freeze_engine.models.trial.failed_call import FailedCall
from freeze_engine.models.trial.trial import CallFailure, CallFix
from freeze_engine.requests.inputs import INTEGER_RANGES

#: torch's and C++'s names of dtypes (c10/core/ScalarType.h, torch 2.13).
_NAMES: Final = {
    "long": "int64",
    "long int": "int64",
    "long long": "int64",
    "int": "int32",
    "short": "int16",
    "byte": "uint8",
    "unsigned char": "uint8",
    "char": "int8",
    "signed char": "int8",
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "complexfloat": "complex64",
    "complexdouble": "complex128",
}
_SMALL: Final = ("float16", "bfloat16")


def wrong_dtype(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains a dtype, where torch names the one it got and those it takes."""
    return _expected(call, _dtype_named(match["wanted"].partition(",")[0]), _dtype_named(match["got"]))


def mixed_dtypes(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains two dtypes that should be one: if an input has one of them, the model wants the other."""
    got, wanted = _dtype_named(match["got"]), _dtype_named(match["wanted"])
    return _expected(call, wanted, got) or _expected(call, got, wanted)


def no_index(_match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains a tensor that is no index, though one is needed."""
    return _expected(call, "int64", None)


def no_mask(_match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains a tensor that is no mask, though one is needed."""
    return _expected(call, "bool", None)


def unimplemented_dtype(match: re.Match[str], call: FailedCall) -> CallFailure | None:
    """Explains a dtype that an operator does not take."""
    got = _dtype_named(match["got"])
    return _expected(call, "float32" if got in INTEGER_RANGES or got in _SMALL else "bool", got)


def _expected(call: FailedCall, wanted: str, got: str | None) -> CallFailure | None:
    at = _of_dtype(call, wanted, got)
    if at is None:
        return None
    text = call.as_dtype(at, wanted)
    fixes = () if text is None else (CallFix(f"Choose {wanted}", call.with_value(at, text)),)
    tensor = call.tensors[at]
    now = tensor.dtype if tensor else got
    return CallFailure(f"the model expects {wanted} here, not {now}: choose {wanted}", at, call.names[at], fixes)


def _of_dtype(call: FailedCall, wanted: str, got: str | None) -> int | None:
    """Returns the input that has one dtype and needs another, ``None`` if that is not certain."""
    found = [at for at, each in call.given_tensors() if each.dtype != wanted and got in (None, each.dtype)]
    if len(found) <= 1:
        return found[0] if found else None
    fitting = [at for at in found if _suggests(call.parameter_at(at), wanted)]
    return fitting[0] if len(fitting) == 1 or (fitting and got is not None) else None


def _suggests(parameter: ModelParameter | None, dtype: str) -> bool:
    if parameter is None or parameter.input is None:
        return False
    return (parameter.input.split(":")[1] if ":" in parameter.input else "float32") == dtype


def _dtype_named(text: str) -> str:
    plain = text.strip().removeprefix("torch.").removeprefix("c10::").removeprefix("cuda.").removesuffix("Tensor")
    return _NAMES.get(plain.lower(), plain.lower())
