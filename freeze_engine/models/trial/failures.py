"""Explains why a call failed: the input at fault, and what mends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from freeze_engine.analysis.refused_inputs import plain_refusal
from freeze_engine.models.signature.unwritable import is_unwritable, unwritable_text
from freeze_engine.models.summary import ModelParameter
from freeze_engine.models.trial.argument_failures import (
    given_twice,
    missing,
    no_tensor,
    other_keywords,
    too_many,
    unknown_keyword,
    wrong_type,
)
from freeze_engine.models.trial.dtype_failures import mixed_dtypes, no_index, no_mask, unimplemented_dtype, wrong_dtype
from freeze_engine.models.trial.failed_call import FailedCall
from freeze_engine.models.trial.size_failures import (
    fixed_value,
    guarded_size,
    out_of_range,
    suggested,
    wrong_channels,
    wrong_last_size,
    wrong_second_size,
)
from freeze_engine.models.trial.trial import CallFailure

_KIND: Final = re.compile(r"^\s*(?:\w+\.)*\w*(?:Error|Exception): ")
_SHAPE: Final = r"\[(?P<given>[\d, ]+)\]"
_CALLER: Final = r"^(?:\w+\.)*\w+\(\)"
#: What torch (2.6 to 2.13) and Python (3.10 to 3.13) say of a call that fails, and who explains it.
_KNOWN: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], FailedCall], CallFailure | None]], ...]] = tuple(
    (re.compile(pattern), explain)
    for pattern, explain in (
        (_CALLER + r" missing \d+ required (?:positional|keyword-only) arguments?: (?P<names>.+)", missing),
        (_CALLER + r" is missing value for argument (?P<names>'[^']*')", missing),
        (
            r"kwarg keyword mismatch: Got the following keywords (?P<got>\[.*?\]) but expected (?P<wanted>\[.*?\])",
            other_keywords,
        ),
        (_CALLER + r" got an unexpected keyword argument '(?P<name>[^']*)'", unknown_keyword),
        (r"^Unknown keyword argument '(?P<name>[^']*)' for operator", unknown_keyword),
        (_CALLER + r" takes (?P<most>(?:from \d+ to )?\d+) positional arguments? but \d+ w", too_many),
        (_CALLER + r" expected at most (?P<most>\d+) argument\(s\) but received \d+", too_many),
        (_CALLER + r" got multiple values for argument '(?P<name>[^']*)'", given_twice),
        (_CALLER + r" Expected a value of type '(?P<wanted>[^']*)' for argument '(?P<name>[^']*)'", wrong_type),
        (r"one of the following scalar types: (?P<wanted>[\w, ]+); but got (?P<got>torch\.[\w.]+Tensor)", wrong_dtype),
        (r"expected scalar type (?P<wanted>\w+) but (?:found|got) (?P<got>\w+)", mixed_dtypes),
        (r"must have the same dtype, but got (?P<got>\w+) and (?P<wanted>\w+)", mixed_dtypes),
        (
            r"Input type \((?P<got>[^)]+)\) and (?:weight|bias) type \((?P<wanted>[^)]+)\) should be the same",
            mixed_dtypes,
        ),
        (r"have the same dtype, but got: (?P<got>[\w: ]+) != (?P<wanted>[\w: ]+)", mixed_dtypes),
        (r"RNN input dtype \((?P<got>[^)]+)\) does not match weight dtype \((?P<wanted>[^)]+)\)", mixed_dtypes),
        (r"tensors used as indices must be long|Expected dtype \S*int64 for index", no_index),
        (r'"\w+" not implemented for \'(?P<got>\w+)\'', unimplemented_dtype),
        (r"expected BoolTensor for|expected condition to be a boolean|only supports boolean masks", no_mask),
        (r"^'Tensor' object has no attribute '(?P<name>\w+)'", no_tensor),
        (r"index out of range in self", out_of_range),
        (r"index -?\d+ is out of bounds for dimension \d+ with size (?P<size>\d+)", out_of_range),
        (r"expected input" + _SHAPE + r" to have (?P<wanted>\d+) channels", wrong_channels),
        (r"mat1 and mat2 shapes cannot be multiplied \(\d+x(?P<got>\d+) and (?P<wanted>\d+)x\d+\)", wrong_last_size),
        (r"Expected (?P<wanted>\d+), got (?P<got>\d+)", wrong_last_size),
        (
            r"expected input with shape \[\*, (?P<wanted>\d+)\], but got input of size\[(?:\d+, )*(?P<got>\d+)\]",
            wrong_last_size,
        ),
        (r"running_mean should contain (?P<got>\d+) elements not (?P<wanted>\d+)", wrong_second_size),
        (r"Guard failed: (?P<name>\w+)\.size\(\)\[(?P<axis>\d+)\] (?P<relation>==|<=|>=) (?P<size>\d+)$", guarded_size),
        (r"Guard failed: (?P<name>\w+) == (?P<value>-?[\d.]+|True|False)$", fixed_value),
    )
)


def explain_failure(error: str, inputs: Sequence[str], parameters: Sequence[ModelParameter] | None) -> CallFailure:
    """Explains why a model refused a call.

    Args:
        error: type and text of the exception.
        inputs: texts of ``--input``.
        parameters: of the model, ``None`` if they are not known.

    Returns:
        The reason in one line; where it is known, the input at fault and changes that may mend it.
    """
    return known_failure(error, inputs, parameters) or CallFailure(
        plain_refusal(error), *suggested(FailedCall(tuple(inputs), tuple(parameters or ())))
    )


def known_failure(error: str, inputs: Sequence[str], parameters: Sequence[ModelParameter] | None) -> CallFailure | None:
    """Returns the explanation of a message that names an input and its fault, ``None`` for any other."""
    call = FailedCall(tuple(inputs), tuple(parameters or ()))
    text = _raised(error)
    for pattern, explain in _KNOWN:
        match = pattern.search(text)
        found = explain(match, call) if match else None
        if found is not None:
            return found
    return None


def with_remedy(
    failure: CallFailure, inputs: Sequence[str], parameters: Sequence[ModelParameter] | None
) -> CallFailure:
    """Returns a failure; if an input cannot be written at all, with that before its reason.

    Args:
        failure: as explained; without fixes, for those mend more.
        inputs: texts of ``--input``.
        parameters: of the model, ``None`` if they are not known.
    """
    call = FailedCall(tuple(inputs), tuple(parameters or ()))
    for parameter in call.parameters:
        at = call.of(parameter.name)
        is_given = at is not None or parameter.is_required
        if is_given and not failure.fixes and is_unwritable(parameter.type):
            message = f"{unwritable_text(parameter.name, parameter.type)}. The call failed with: {failure.message}"
            return CallFailure(message, at, parameter.name)
    return failure


def _raised(error: str) -> str:
    """Returns the text of an exception without its type, and without the traceback that TorchScript writes into it."""
    raised = [line for line in error.splitlines() if _KIND.match(line)]
    text = raised[-1] if raised and "Traceback of TorchScript" in error else error.strip()
    return _KIND.sub("", text, count=1)
