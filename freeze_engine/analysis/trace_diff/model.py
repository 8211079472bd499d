"""The difference of two recorded freezes, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freeze_engine.analysis.graph_diff import GraphDiff
from freeze_engine.analysis.trace_diff.pass_correspondence import PassPair
from freeze_engine.trace import AttributeFate, Failure, Latency, NearMiss, Numerics, Trace

FateField = Literal["kind", "type", "shape", "dtype", "nbytes", "fate", "reason", "step", "locations"]
SettingArea = Literal["recording", "options", "inputs", "environment", "settings"]


@dataclass(frozen=True, slots=True)
class LatencyPair:
    """One device's latency in both traces, ``None`` where one did not measure it.

    The two come from different runs. How fast the machine ran, and what else it did, differed between them, so no
    verdict is drawn from the two intervals.
    """

    device: str
    before: Latency | None
    after: Latency | None


@dataclass(frozen=True, slots=True)
class NumericsPair:
    """The numeric error against one reference in both traces, ``None`` where one did not compare.

    Attributes:
        reference: what with, and on which inputs where these were not the user's (``eager, normal inputs``).
        before, after: the errors.
    """

    reference: str
    before: Numerics | None
    after: Numerics | None

    @property
    def verdict_differs(self) -> bool:
        """Returns whether one is within torch's tolerances and the other is not."""
        if self.before is None or self.after is None or self.before.error or self.after.error:
            return False
        return self.before.close != self.after.close


@dataclass(frozen=True, slots=True)
class StepDiff:
    """One pass over one method in both traces.

    Attributes:
        stage, name, method, round: of the pass, the same in both.
        before, after: index of the step in the first and in the second trace, ``None`` where it has none.
        graph: how the graphs after the pass differ; ``None`` where only one trace has the step.
        carried: whether the graphs differ just as they did after the last pass that both traces have.
        op_deltas: ``(operator, how many more the second one has)``, sorted, where the counts differ.
        latency: one pair per device.
        numerics: one pair per reference.
        constant_bytes: bytes that the graph's constants hold, in the first and in the second trace.
    """

    stage: str
    name: str
    method: str
    round: int | None
    before: int | None
    after: int | None
    graph: GraphDiff | None = None
    carried: bool = False
    op_deltas: tuple[tuple[str, int], ...] = ()
    latency: tuple[LatencyPair, ...] = ()
    numerics: tuple[NumericsPair, ...] = ()
    constant_bytes: tuple[int | None, int | None] = (None, None)

    @property
    def differs(self) -> bool:
        """Returns whether only one trace has the step, or the graphs or the verdicts on the numbers differ."""
        if self.graph is None or not self.graph.empty or self.constant_bytes[0] != self.constant_bytes[1]:
            return True
        return any(pair.verdict_differs for pair in self.numerics)


@dataclass(frozen=True, slots=True)
class FinalDiff:
    """The differences between the final graphs of one method in two freezes.

    Attributes:
        method: its name.
        before, after: index of its last step in the first and in the second trace.
        graph: the difference.
        op_deltas: as in `StepDiff`.
    """

    method: str
    before: int
    after: int
    graph: GraphDiff
    op_deltas: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class FateDiff:
    """An attribute that did not meet the same fate in both traces.

    Attributes:
        path: dotted, from the top module.
        before, after: its fate in the first and in the second trace, ``None`` where that has no such attribute.
        fields: what differs where both have it: ``step`` if another pass decided, ``locations`` if its value lives in
            other constants.
    """

    path: str
    before: AttributeFate | None
    after: AttributeFate | None
    fields: tuple[FateField, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingDiff:
    """A difference in an option, an input or the environment.

    Attributes:
        subject: what it is about.
        name: its name.
        before, after: its text in the first and in the second trace, ``None`` where that has none.
    """

    subject: SettingArea
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class TraceDiff:
    """The difference of two traces.

    Attributes:
        before: the first trace.
        after: the second trace, with the first one's node ids and value names for all that both have
            (`freeze_engine.analysis.trace_diff.rename_trace.named_like`).
        steps: every step of both, method by method; what only one of them has stands where it would run.
        finals: one for each method of both traces.
        attributes: those that differ, by path.
        settings: options, inputs and environment where they differ.
        near_misses: folds that did not happen in only one of them: those of the first, then those of the second.
        failures: the exceptions that ended the freezes, where these are not the same.
        pairs: across backends, what each did for one purpose: their passes and operators are others, so that no step,
            no node and no graph of one stands for any of the other. Empty for two traces of one backend.
    """

    before: Trace
    after: Trace
    steps: tuple[StepDiff, ...]
    finals: tuple[FinalDiff, ...]
    attributes: tuple[FateDiff, ...]
    settings: tuple[SettingDiff, ...]
    near_misses: tuple[tuple[NearMiss, ...], tuple[NearMiss, ...]]
    failures: tuple[Failure | None, Failure | None]
    pairs: tuple[PassPair, ...] = ()

    @property
    def across_backends(self) -> bool:
        """Returns whether the two froze by different passes: AOTInductor has those of Inductor."""
        return self.before.uses_inductor != self.after.uses_inductor

    @property
    def empty(self) -> bool:
        """Returns whether both freezes are equal apart from times, errors within tolerance, names and dates."""
        found = self.attributes or self.settings or any(self.near_misses) or any(self.failures)
        return not found and not any(step.differs for step in self.steps)
