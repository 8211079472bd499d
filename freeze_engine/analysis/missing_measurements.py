"""Requested measurements that gave no figures: which kind, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from freeze_engine.analysis.refused_inputs import plain_refusal
from freeze_engine.trace import Baseline, Notice, Numerics, Step, Trace

NOTHING_RAN: Final = "nothing_ran"
#: In a trace that was written before its figures; the finished recording replaces it.
STILL_MEASURED: Final = "still_measured"
_NO_DEVICE: Final = "device_not_measured"
_SAID: Final = re.compile(r"Nothing was (?P<what>\w+)[^:]*: (?P<why>.+)", re.DOTALL)
_REFUSED: Final = re.compile(r"the model does not run on the inputs \((?P<error>.+)\)", re.DOTALL)
_OTHER_INPUTS: Final = "Record it with inputs that the model takes."
_DID_NOT_RUN: Final = "did not run: "
_WORDS: Final = {"latency": "not timed", "numerics": "not compared with eager"}

#: Prefix of the call of a capture's trace; fe.record() and freezer-ui record write their own.
_CAPTURED: Final = "torch."
_LEFT_OUT: Final = {"latency": "recorded without timing", "numerics": "recorded without comparing"}
_EARLY: Final = "the recording ended before it"
_RECORDS_ONLY: Final = "a capture only records"
_READ: Final = "it was read and not run"
_NO_INPUTS: Final = "recorded without inputs"
_STILL: Final = "still being measured when this was written"

Kind = Literal["latency", "numerics"]
_KINDS: Final[tuple[Kind, ...]] = ("latency", "numerics")
_ABSENT: Final[Mapping[str, tuple[Kind, ...]]] = {"timed": ("latency",), "compared": ("numerics",), "measured": _KINDS}


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A requested measurement that could not be made.

    Attributes:
        kinds: what it has no figures of.
        reason: why, in one line, without a full stop.
        remedy: a sentence on what to do, empty where nothing is known.
        is_all: whether it has no figures of any kind.
    """

    kinds: tuple[Kind, ...]
    reason: str
    remedy: str
    is_all: bool

    @property
    def what(self) -> str:
        """Describes the recording, as ``not measured``, ``not timed``, ``not compared with eager``."""
        return "not measured" if self.is_all else " and ".join(_WORDS[kind] for kind in self.kinds)

    def __str__(self) -> str:
        """Returns both, as in ``not measured: forward() is missing mask``."""
        return f"{self.what}: {self.reason}"


@dataclass(frozen=True, slots=True)
class _Cause:
    reason: str
    remedy: str = ""


def unmeasured(trace: Trace) -> Unmeasured | None:
    """Returns the requested measurements that gave no figures at all.

    A recording without requested measurements, or without inputs, has none of these.

    Args:
        trace: the recording.

    Returns:
        ``None`` if there are figures of each requested kind, or the recording did not finish.
    """
    if trace.failure is not None:
        return None
    measured: tuple[Step | Baseline, ...] = (*trace.steps, *trace.baselines)
    timed = any(each.latency for each in measured)
    errors = [numerics for each in measured for numerics in each.numerics]
    compared = any(numerics.error is None for numerics in errors)
    causes: dict[Kind, _Cause] = {}
    for notice in trace.notices:
        kinds, cause = _told(notice)
        for kind in kinds:
            if not (timed if kind == "latency" else compared):
                causes.setdefault(kind, cause)
    if errors and not compared:
        causes.setdefault("numerics", next(_refusals(errors)))
    if not causes:
        return None
    lacking = tuple(kind for kind in _KINDS if kind in causes)
    first = causes[lacking[0]]
    return Unmeasured(lacking, first.reason, first.remedy, not timed and not compared)


def why_absent(trace: Trace, kind: Kind) -> str:
    """Returns, in a few words, why a trace has no figures of a kind.

    Args:
        trace: a recording without them.
        kind: of the figures.
    """
    if not trace.is_recording:
        return _READ
    found = unmeasured(trace)
    if found is not None and kind in found.kinds:
        return found.reason
    if trace.failure is not None:
        return _EARLY
    if is_still_measured(trace):
        return _STILL
    if trace.call.startswith(_CAPTURED):
        return _RECORDS_ONLY
    return _LEFT_OUT[kind] if trace.inputs else _NO_INPUTS


def is_still_measured(trace: Trace) -> bool:
    """Returns whether a trace was written while its recording was measured."""
    return any(notice.code == STILL_MEASURED for notice in trace.notices)


def nothing_ran(what: str, error: str) -> Notice:
    """Builds one notice that the model itself refuses the inputs, instead of the same one for every step.

    Args:
        what: what was not done for it, such as ``timed on cpu``.
        error: type and text of what it raised.
    """
    return Notice(NOTHING_RAN, f"Nothing was {what}: the model does not run on the inputs ({plain_refusal(error)}).")


def nothing_measured(why: str) -> Notice:
    """Builds the notice that nothing could be measured.

    Args:
        why: without a full stop.
    """
    return Notice(NOTHING_RAN, f"Nothing was measured: {why}.")


def _told(notice: Notice) -> tuple[tuple[Kind, ...], _Cause]:
    """Returns the kinds that a notice says nothing was measured of, and why."""
    if notice.code == _NO_DEVICE:
        reason, _, remedy = notice.message.partition(". ")
        return ("latency",), _Cause(reason, remedy)
    said = _SAID.fullmatch(notice.message) if notice.code == NOTHING_RAN else None
    if said is None:
        return (), _Cause("")
    why = said["why"].removesuffix(".")
    refused = _REFUSED.fullmatch(why)
    cause = _Cause(plain_refusal(refused["error"]), _OTHER_INPUTS) if refused else _Cause(why)
    return _ABSENT.get(said["what"], ()), cause


def _refusals(errors: list[Numerics]) -> Iterator[_Cause]:
    for numerics in errors:
        if numerics.error is not None:
            _, ran, error = numerics.error.partition(_DID_NOT_RUN)
            yield _Cause(plain_refusal(error), _OTHER_INPUTS) if ran else _Cause(plain_refusal(numerics.error))
