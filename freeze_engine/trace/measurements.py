"""Latencies and numeric errors of steps, and the contribution of each pass to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Claim = Literal["faster", "slower", "no measurable difference"]
"""The claim of a ratio of two times: the first two only if its interval excludes 1."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95% confidence interval, all in one unit."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency of one executable snapshot on one device.

    Attributes:
        device: ``cpu`` or ``cuda:0``.
        first_ns: the first call here. TorchScript profiles in it. It excludes earlier compilation, and what
            torch sets up once in a process (thread pool, oneDNN): the model ran before anything was timed. A baseline
            that is the user's own object may have been called before.
        warmup_ns: the calls after it until steady state, in order; in the first of them TorchScript fuses.
        samples: rounds timed in steady state; the fastest of a round's few runs is its sample.
        median_ns: median of the samples, in ns per call.
        ratio: time relative to the first step (below 1 is faster); ``None`` on the first step.
        verdict: ``faster`` or ``slower`` only where the ratio's interval excludes 1.
        notes: outliers, throttling or too short a run, in words.
        previous: time relative to the step of the same method before it that was measured, from the same rounds.
        change: the claim of ``previous``, by the same rule as ``verdict``; both ``None`` if there is no such step, or
            its graph is the same: that is measured once.
    """

    device: str
    first_ns: int
    warmup_ns: tuple[int, ...]
    samples: int
    median_ns: Interval
    ratio: Interval | None
    verdict: Literal["baseline", "faster", "slower", "no measurable difference"]
    notes: tuple[str, ...] = ()
    previous: Interval | None = None
    change: Claim | None = None


@dataclass(frozen=True, slots=True)
class OutputError:
    """Numeric error of one output tensor against a reference.

    Attributes:
        output: path in the output structure (``0``, ``logits``, ``1.hidden``).
        max_abs: largest absolute difference.
        max_rel: largest difference relative to the reference's magnitude, where that is not zero.
        sqnr_db: signal to quantisation noise ratio in dB, ``inf`` for equal outputs.
        nonfinite: non-finite elements that the reference does not have.
        close: whether ``torch.testing.assert_close`` accepts it with its default tolerances.
        max_ulp: largest distance in units in the last place of the output's dtype, ``None`` for other than floats.
    """

    output: str
    max_abs: float
    max_rel: float
    sqnr_db: float
    nonfinite: int
    close: bool
    max_ulp: float | None = None


@dataclass(frozen=True, slots=True)
class LayerError:
    """Numeric error of one layer of a quantised model against that layer of the float model; since version 8.

    Attributes:
        layer: path of its module.
        errors: of its ``weight``, dequantised, and of its ``output`` in a run of each model on the recorded inputs,
            which includes the errors of the layers before it; one that could not be compared is not there.
        weights: paths of the recorded model's attributes that the weight is made of.
    """

    layer: str
    errors: tuple[OutputError, ...]
    weights: tuple[str, ...] = ()

    def of(self, what: Literal["weight", "output"]) -> OutputError | None:
        """Returns the error of the weight or the output, ``None`` if it could not be compared."""
        return next((error for error in self.errors if error.output == what), None)


@dataclass(frozen=True, slots=True)
class Numerics:
    """Numeric error of one executable snapshot against one reference.

    Attributes:
        reference: the eager module in the same dtype (``eager``) or in double precision (``float64``).
        outputs: one entry per output tensor.
        error: why it could not be compared (an exception's text), else ``None``.
        inputs: which inputs both ran on: the user's (``given``), or generated ones of the same shapes, by name
            (``similar``, ``wide``, ``similar 2``; `freeze_engine.measure.input_sets` makes them).
    """

    reference: Literal["eager", "float64"]
    outputs: tuple[OutputError, ...]
    error: str | None = None
    inputs: str = "given"

    @property
    def close(self) -> bool:
        """Returns whether every output is within tolerance and none failed to run."""
        return self.error is None and all(output.close for output in self.outputs)

    @property
    def max_abs(self) -> float:
        """Largest absolute difference over all outputs."""
        return max((output.max_abs for output in self.outputs), default=0.0)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A way of running the model to compare the steps with.

    Attributes:
        name: one of `freeze_engine.trace.baselines.BASELINES`.
        latency: one per device.
        numerics: one per reference and inputs, those on the given inputs first.
    """

    name: str
    latency: tuple[Latency, ...] = ()
    numerics: tuple[Numerics, ...] = ()


@dataclass(frozen=True, slots=True)
class Payoff:
    """The effect of one pass on a frozen module's latency on one device.

    Attributes:
        device: ``cpu`` or ``cuda:0``.
        ratio: time of the whole freeze relative to the freeze without the pass, from the same rounds (below 1: the pass
            pays off).
        verdict: the claim of ``ratio``, with regard to all passes that were compared in these rounds.
    """

    device: str
    ratio: Interval
    verdict: Claim


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one pass: the freeze with it against the freeze without it.

    Attributes:
        stage: of the pass.
        name: of the pass; it was left out in every round and method.
        latency: one per device.
        max_abs_with: largest error against eager of the whole freeze, ``None`` where it was not compared.
        max_abs_without: the same without the pass.
        close_with: whether ``torch.testing.assert_close`` accepts the whole freeze, ``None`` where it was not compared.
        close_without: the same without the pass.
        error: why the freeze without it could not be made or run, else ``None``.
    """

    stage: str
    name: str
    latency: tuple[Payoff, ...] = ()
    max_abs_with: float | None = None
    max_abs_without: float | None = None
    close_with: bool | None = None
    close_without: bool | None = None
    error: str | None = None
