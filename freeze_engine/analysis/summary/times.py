"""The time per call of a frozen model, against the same model before freezing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from freeze_engine.analysis.detectability import detection, smallest_apart
from freeze_engine.analysis.final_measurements import final_figures
from freeze_engine.analysis.kernel_comparison import time_quotient
from freeze_engine.trace import Interval, Latency, Trace
from freeze_engine.trace.baselines import COMPILED_UNFROZEN, EAGER, result_baseline

BEFORE: Final = "before freezing"
UNFROZEN_TEXT: Final = "compiled without freezing"
_NOTHING: Final = "no measurable difference"


@dataclass(frozen=True, slots=True)
class TimeFact:
    """The time per call of the frozen model relative to another form of it.

    Attributes:
        method: the method, ``forward`` for a compiled model.
        device: where it was measured.
        against: the other form: ``before freezing``, ``compiled without freezing`` or ``eager``.
        ratio: time relative to that form, below 1 is faster.
        claim: ``faster``, ``slower`` or ``no measurable difference``.
        smallest: the smallest relative difference that would have shown; ``inf`` for none.
    """

    method: str
    device: str
    against: str
    ratio: Interval
    claim: str
    smallest: float


def time_facts(trace: Trace) -> tuple[TimeFact, ...]:
    """Returns the times of the frozen methods, one per device, ``forward`` first; empty if they were not measured.

    TorchScript is compared with the graph before freezing; Inductor with the model compiled without freezing, or with
    eager if that was not measured.
    """
    facts = _inductor(trace) if trace.uses_inductor else _torchscript(trace)
    return tuple(sorted(facts, key=lambda fact: fact.method != "forward"))


def _torchscript(trace: Trace) -> Iterator[TimeFact]:
    found = detection(trace)
    for final in final_figures(trace):
        for latency in final.latency:
            if latency.ratio is not None and latency.verdict != "baseline":
                smallest = found.to_first(latency)
                yield TimeFact(final.method, latency.device, BEFORE, latency.ratio, latency.verdict, smallest)


def _inductor(trace: Trace) -> Iterator[TimeFact]:
    baselines = {baseline.name: baseline.latency for baseline in trace.baselines}
    for after in baselines.get(result_baseline(trace.backend), ()):
        for name, against in ((COMPILED_UNFROZEN, UNFROZEN_TEXT), (EAGER, EAGER)):
            before = next((each for each in baselines.get(name, ()) if each.device == after.device), None)
            if before is not None:
                yield between(trace, before, after, against)
                break


def between(trace: Trace, before: Latency, after: Latency, against: str) -> TimeFact:
    """Compares two times that were measured in the same rounds.

    Args:
        trace: the recording of both.
        before: the time of the other form.
        after: the time of the frozen model.
        against: name of the other form.
    """
    if before.verdict == "baseline" and after.ratio is not None:
        return TimeFact("forward", after.device, against, after.ratio, after.verdict, detection(trace).to_first(after))
    ratio = time_quotient(after, before)
    claim = "faster" if ratio.high < 1 else "slower" if ratio.low > 1 else _NOTHING
    smallest = math.inf
    if before.ratio is not None and after.ratio is not None:
        smallest = smallest_apart(before.ratio, after.ratio)
    return TimeFact("forward", after.device, against, ratio, claim, smallest)
