"""Freezes without each pass in turn, measures all variants together, and computes what each pass contributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from freeze_engine.backends.common.observer import RecordingObserver
from freeze_engine.backends.common.partial_trace import leaving_trace
from freeze_engine.diagnose.ablation.variants import frozen_without, optional_passes, restores
from freeze_engine.diagnose.checks.context import CheckContext
from freeze_engine.measure import statistics
from freeze_engine.measure.candidate import Candidate, CandidateError, put_back, reported
from freeze_engine.measure.devices import chosen_devices
from freeze_engine.measure.latency import measure_latency
from freeze_engine.measure.numerics import NumericsOptions, measure_numerics
from freeze_engine.measure.rounds import LatencyOptions
from freeze_engine.requests.options import Measure
from freeze_engine.trace import Contribution, Notice, Numerics, Payoff, Trace

_WHOLE = "the whole freeze"


def run_ablation(context: CheckContext, measure: Measure, observer: RecordingObserver) -> Trace:
    """Returns the trace with the contribution of each pass that changed something and can be disabled.

    Args:
        context: the whole freeze.
        measure: what to measure.
        observer: receives the events of the recording.

    Raises:
        BaseException: one that is no `Exception`, such as ``KeyboardInterrupt``; `freeze_engine.partial_trace` has the
            trace.
    """
    observer.trace_built(context.trace)  # since one of the freezes may crash the process
    with leaving_trace(lambda: context.trace):
        return _Ablation(context, measure, observer).run()


@dataclass(slots=True)
class _Ablation:
    context: CheckContext
    measure: Measure
    observer: RecordingObserver
    failures: dict[str, str] = field(default_factory=dict)

    def run(self) -> Trace:
        trace = self.context.trace
        passes = optional_passes(trace)
        if not passes:
            text = "No pass that changed something can be left out, so none was measured on its own."
            return replace(trace, notices=(*trace.notices, Notice("nothing_to_ablate", text)))
        candidates = self._candidates([name for _, name in passes])
        payoffs = self._payoffs(candidates)
        # Modules share memory with the ones they were made from: the reference must not see what a run has written.
        put_back(candidates)
        numerics = self._numerics(candidates)
        put_back(candidates)
        whole = numerics.get(_WHOLE)
        found = (
            self._contribution(stage, name, payoffs.get(name, ()), whole, numerics.get(name)) for stage, name in passes
        )
        return replace(trace, ablation=tuple(found))

    def _candidates(self, names: Sequence[str]) -> list[Candidate]:
        restore = restores(self.context)
        found = [Candidate(_WHOLE, self.context.result, restore(self.context.result))]
        for number, name in enumerate(names):
            self.observer.progress(f"ablation: freezing without {name}", number, len(names))
            try:
                with reported():
                    module = frozen_without(self.context, name)
                    found.append(Candidate(name, module, restore(module)))
            except CandidateError as error:
                self.failures[name] = str(error)
        return found

    def _payoffs(self, candidates: Sequence[Candidate]) -> dict[str, tuple[Payoff, ...]]:
        found: dict[str, tuple[Payoff, ...]] = {}
        for device in self._devices() if self.measure.latency else ():
            inputs = self._inputs()
            options = LatencyOptions(seconds=self.measure.seconds)
            report = measure_latency(candidates, inputs.args, inputs.kwargs, device, options, self._told)
            self.failures |= {str(key): text for key, text in report.failures.items()}
            if _WHOLE in report.samples:
                for name, payoff in _against_whole(report.samples, device, options.margin).items():
                    found[name] = (*found.get(name, ()), payoff)
        return found

    def _devices(self) -> tuple[str, ...]:
        held = (*self.context.source.state_dict().values(), *self._inputs().args)
        return chosen_devices(self.measure.devices, held)[0]

    def _numerics(self, candidates: Sequence[Candidate]) -> dict[Any, tuple[Numerics, ...]]:
        if not self.measure.numerics:
            return {}
        inputs = self._inputs()
        options = NumericsOptions(reference64=False, input_sets=self.measure.input_sets)
        report = measure_numerics(candidates, self.context.model, inputs.args, inputs.kwargs, options, self._told)
        return dict(report.numerics)

    def _inputs(self) -> Any:
        return self.context.inputs

    def _told(self, fraction: float, what: str) -> None:
        self.observer.progress(f"ablation: {what}", round(fraction * 1000), 1000)

    def _contribution(
        self,
        stage: str,
        name: str,
        payoffs: tuple[Payoff, ...],
        whole: tuple[Numerics, ...] | None,
        without: tuple[Numerics, ...] | None,
    ) -> Contribution:
        failure = self.failures.get(name)
        if failure is not None:
            return Contribution(stage, name, error=failure)
        return Contribution(
            stage, name, payoffs, _max_abs(whole), _max_abs(without), _is_close(whole), _is_close(without)
        )


def _against_whole(samples: Mapping[Any, tuple[float, ...]], device: str, margin: float) -> dict[str, Payoff]:
    whole = np.array(samples[_WHOLE])
    names = [name for name in samples if name != _WHOLE]
    comparisons = [statistics.compare(whole, np.array(samples[name]), margin) for name in names]
    claims = statistics.verdicts(comparisons)
    return {
        str(name): Payoff(device, comparison.ratio, claim)
        for name, comparison, claim in zip(names, comparisons, claims, strict=True)
    }


def _max_abs(found: tuple[Numerics, ...] | None) -> float | None:
    """Returns the largest error over all inputs, ``None`` where one could not be compared."""
    if not found or any(each.error is not None for each in found):
        return None
    return max(each.max_abs for each in found)


def _is_close(found: tuple[Numerics, ...] | None) -> bool | None:
    return all(each.close for each in found) if found else None
