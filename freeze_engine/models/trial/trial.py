"""The outcome of one tried call, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallFix:
    """One change of the inputs that may mend a failed call.

    Attributes:
        label: what it does, as on a button.
        inputs: all texts of ``--input`` after it.
    """

    label: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallFailure:
    """Why a call failed.

    Attributes:
        message: in one line, without a full stop.
        at: index of the input at fault, ``None`` if that is not known, or none is.
        parameter: name of the parameter at fault, empty if that is not known.
        fixes: what may mend it, best first.
    """

    message: str
    at: int | None = None
    parameter: str = ""
    fixes: tuple[CallFix, ...] = ()


@dataclass(frozen=True, slots=True)
class CallTrial:
    """The outcome of one call.

    Attributes:
        output: what the model returned, such as ``1×1000 float32``; empty if the call failed.
        duration_ns: of the call, which was the first one, without loading.
        failure: why it failed, ``None`` if it ran.
        where: operator and source line of the failure, such as ``in embedding, line 9 of model.py``; empty if unknown.
        error: the whole text of the exception, empty if it ran.
    """

    output: str = ""
    duration_ns: int = 0
    failure: CallFailure | None = None
    where: str = ""
    error: str = ""
