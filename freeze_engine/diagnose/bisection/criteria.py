"""Criteria that decide whether a candidate is good, by running it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from freeze_engine.analysis.detectability import claim_text, smallest_found
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefix
from freeze_engine.diagnose.bisection.result import FORWARD, Ran, Verdict
from freeze_engine.measure import statistics
from freeze_engine.measure.candidate import Candidate, put_back
from freeze_engine.measure.input_sets import GIVEN
from freeze_engine.measure.latency import measure_latency
from freeze_engine.measure.numerics import NumericsOptions, measure_numerics
from freeze_engine.measure.rounds import LatencyOptions
from freeze_engine.process.fork import Lost
from freeze_engine.requests.criteria import AccuracyCriterion, LatencyCriterion
from freeze_engine.requests.inputs import Inputs
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import Numerics

SHOWN = 300


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a criterion about a candidate.

    Attributes:
        verdict: the verdict.
        detail: the evidence, in one line.
        inputs: name of the inputs that show it, see `freeze_engine.measure.input_sets`.
        ran: how far it ran.
    """

    verdict: Verdict
    detail: str
    inputs: str = GIVEN
    ran: Ran = "to_its_end"


class Criterion(Protocol):
    """A criterion that is applied to one candidate after the other."""

    @property
    def is_cheap(self) -> bool:
        """Returns whether every step can be checked, and not only those that a search needs."""

    @property
    def limit_s(self) -> float | None:
        """Returns the time limit of one candidate in s, ``None`` for no limit."""

    def ask(self, prefix: Prefix, before: Prefix) -> Answer:
        """Applies the criterion to a candidate.

        Args:
            prefix: the candidate.
            before: an earlier one that is good.
        """

    def lost(self, lost: Lost) -> Answer:
        """Returns the answer for a candidate that ended the process, or took too long."""

    def doubt(self) -> str | None:
        """Returns why the criterion is not reliable; called when it fails before any freezing."""


def broken(lost: Lost) -> Answer:
    """Returns the answer for a candidate that ended the process it ran in, or would not end."""
    return Answer("bad", lost.message, ran=lost.how)


@dataclass(slots=True)
class Accuracy:
    """The criterion that the outputs are those of the eager module.

    Attributes:
        options: what to accept.
        eager: the module as it was before freezing.
        inputs: what to run both on.
        method: of the module.
    """

    options: AccuracyCriterion
    eager: torch.nn.Module
    inputs: Inputs
    method: str = FORWARD
    is_cheap: bool = True

    @property
    def limit_s(self) -> float | None:
        """Returns the time limit of one candidate in s."""
        return self.options.limit_s

    def ask(self, prefix: Prefix, before: Prefix) -> Answer:
        """Runs both and compares."""
        candidate = prefix.candidate()
        numerics = self._compared(candidate, NumericsOptions(self.method, False, self.options.input_sets))
        put_back((candidate,))
        failed = next((each for each in numerics if not self._accepts(each)), None)
        if failed is None:
            return Answer("good", f"largest error {max((each.max_abs for each in numerics), default=0.0):.3g}")
        said = f"largest error {failed.max_abs:.3g}" if failed.error is None else failed.error.splitlines()[0][:SHOWN]
        where = "" if failed.inputs == GIVEN else f", on generated inputs ({failed.inputs})"
        ran: Ran = "to_its_end" if failed.error is None or failed.outputs else "raised"
        return Answer("bad", f"{said}{where}", failed.inputs, ran)

    def lost(self, lost: Lost) -> Answer:
        """Returns that it is bad."""
        return broken(lost)

    def doubt(self) -> str | None:
        """Compares the eager module with itself."""
        eager = replica(self.eager)
        call = eager if self.method == FORWARD else getattr(eager, self.method)
        # One call, as for its reference: writes to its state must not count.
        options = NumericsOptions(self.method, reference64=False, warmup_calls=0)
        (numerics,) = self._compared(Candidate("eager", call), options)
        if self._accepts(numerics) or numerics.error is not None:
            return None
        return f"The eager module itself gives other outputs when it runs again (largest error {numerics.max_abs:.3g})"

    def _compared(self, candidate: Candidate, options: NumericsOptions) -> tuple[Numerics, ...]:
        report = measure_numerics([candidate], self.eager, self.inputs.args, self.inputs.kwargs, options)
        return report.numerics[candidate.key]

    def _accepts(self, numerics: Numerics) -> bool:
        most = self.options.max_error
        if most is None:
            return numerics.close
        within = (output.max_abs <= most and not output.nonfinite for output in numerics.outputs)
        return numerics.error is None and all(within)


@dataclass(slots=True)
class Latency:
    """The criterion that a candidate is no slower than an earlier one, run in turns with it.

    Attributes:
        options: how long to measure, and what to accept.
        inputs: what to run both on.
        device: where.
    """

    options: LatencyCriterion
    inputs: Inputs
    device: str
    is_cheap: bool = False

    @property
    def limit_s(self) -> float | None:
        """Returns the time limit of one candidate in s."""
        return self.options.limit_s

    def ask(self, prefix: Prefix, before: Prefix) -> Answer:
        """Measures both in the same rounds."""
        if prefix is before:
            return Answer("good", "what the others are held against")
        options = LatencyOptions(seconds=self.options.seconds, margin=self.options.margin)
        pair = [before.candidate(), prefix.candidate()]
        report = measure_latency(pair, self.inputs.args, self.inputs.kwargs, self.device, options)
        put_back(pair)
        theirs, ours = (candidate.key for candidate in pair)
        if ours in report.failures:
            return Answer("untestable", f"could not be timed: {report.failures[ours]}"[:SHOWN])
        if theirs in report.failures:
            return Answer("untestable", f"{before.name} could not be timed: {report.failures[theirs]}"[:SHOWN])
        times = [np.array(report.samples[key]) for key in (ours, theirs)]
        comparison = statistics.compare(times[0], times[1], options.margin)
        (claim,) = statistics.verdicts([comparison])
        ratio = comparison.ratio
        text = f"{ratio.value:.3f} × the time of {before.name} ({ratio.low:.3f} to {ratio.high:.3f}): "
        text += claim_text(claim, smallest_found(ratio, len(times[0]), margin=options.margin))
        return Answer("bad" if claim == "slower" else "good", text)

    def lost(self, lost: Lost) -> Answer:
        """Returns that it is bad."""
        return broken(lost)

    def doubt(self) -> str | None:
        """Returns nothing: the first candidate is not compared with anything."""
        return None
