"""What differs between two recorded freezes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from freeze_engine.alignment import align
from freeze_engine.correspondence import PassPair, pass_pairs
from freeze_engine.diff import GraphDiff, diff_snapshots
from freeze_engine.metrics import op_counts, op_deltas
from freeze_engine.trace import AttributeFate, Environment, Failure, InputSpec, Latency, NearMiss, Numerics, Step, Trace
from freeze_engine.trace_names import StepPair, named_like

FateField = Literal["kind", "type", "shape", "dtype", "nbytes", "fate", "reason", "step", "locations"]
Subject = Literal["recording", "options", "inputs", "environment", "settings"]
_Row = TypeVar("_Row")


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
        """Whether one is within torch's tolerances and the other is not."""
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
        """Whether only one trace has the step, or the graphs or the verdicts on the numbers differ."""
        if self.graph is None or not self.graph.empty or self.constant_bytes[0] != self.constant_bytes[1]:
            return True
        return any(pair.verdict_differs for pair in self.numerics)


@dataclass(frozen=True, slots=True)
class FinalDiff:
    """How the graphs differ with which two freezes leave one method.

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
    """Something that was asked for, or given, in another way.

    Attributes:
        subject: what it is about.
        name: its name.
        before, after: its text in the first and in the second trace, ``None`` where that has none.
    """

    subject: Subject
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class TraceDiff:
    """The difference of two traces.

    Attributes:
        before: the first trace.
        after: the second trace, with the first one's node ids and value names for all that both have
            (`freeze_engine.trace_names.named_like`).
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
        """Whether the two froze by different backends."""
        return self.before.backend != self.after.backend

    @property
    def first_difference(self) -> StepDiff | None:
        """The first step whose graphs differ, or that only one trace has; ``None`` if there is none."""
        return next((step for step in self.steps if step.graph is None or not step.graph.empty), None)

    @property
    def empty(self) -> bool:
        """Whether both freezes did the same to the same: times, errors within tolerance, names and dates left out."""
        found = self.attributes or self.settings or any(self.near_misses) or any(self.failures)
        return not found and not any(step.differs for step in self.steps)


def diff_traces(before: Trace, after: Trace) -> TraceDiff:
    """Compares two recorded freezes.

    Steps stand for each other by method, stage, pass and round, in order; nodes by what they do and where they stand.
    Across backends, passes stand for each other by their purpose (`freeze_engine.correspondence`), attributes by their
    path; only the fates are held against each other, of the parameters and other tensors.

    Args:
        before: one trace.
        after: the other, of the same model or of another one.

    Returns:
        The difference. It is the same for the same traces, whatever their nodes and values are called.
    """
    is_across = before.backend != after.backend
    pairs = _steps_apart(before, after) if is_across else _aligned_steps(before, after)
    renamed = named_like(before, after, pairs)
    same_steps = {new.index: old.index for old, new in pairs if old and new}
    return TraceDiff(
        before,
        renamed,
        steps=tuple(_step_diffs(pairs, renamed)),
        finals=() if is_across else tuple(_finals(before, renamed)),
        attributes=_fates_across(before, renamed) if is_across else _fate_diffs(before, renamed, same_steps),
        settings=tuple(_settings(before, renamed)),
        near_misses=_near_misses(before, renamed, same_steps),
        failures=_failures(before, renamed),
        pairs=pass_pairs(before, after) if is_across else (),
    )


def _aligned_steps(before: Trace, after: Trace) -> list[StepPair]:
    pairs: list[StepPair] = []
    for method in dict.fromkeys((*before.methods, *after.methods)):
        old, new = before.method_steps(method), after.method_steps(method)
        at = other_at = 0
        for index, other in [*align(*([_pass(step) for step in steps] for steps in (old, new))), (len(old), len(new))]:
            pairs += [(step, None) for step in old[at:index]]
            pairs += [(None, step) for step in new[other_at:other]]
            if index < len(old):
                pairs.append((old[index], new[other]))
            at, other_at = index + 1, other + 1
    return pairs


def _steps_apart(before: Trace, after: Trace) -> list[StepPair]:
    """No step of one backend does what a step of the other does to a graph that could be compared."""
    pairs: list[StepPair] = []
    for method in dict.fromkeys((*before.methods, *after.methods)):
        pairs += [(step, None) for step in before.method_steps(method)]
        pairs += [(None, step) for step in after.method_steps(method)]
    return pairs


def _pass(step: Step) -> Hashable:
    return step.stage, step.name, step.round


def _both(old: Step, new: Step) -> StepDiff:
    return replace(
        _one(old),
        after=new.index,
        graph=diff_snapshots(old.graph, new.graph),
        op_deltas=_op_deltas(old, new),
        latency=tuple(LatencyPair(*row) for row in _joined(old.latency, new.latency, lambda entry: entry.device)),
        numerics=tuple(NumericsPair(*row) for row in _joined(old.numerics, new.numerics, _compared_with)),
        constant_bytes=(old.constant_bytes, new.constant_bytes),
    )


def _one(step: Step) -> StepDiff:
    return StepDiff(
        step.stage,
        step.name,
        step.method,
        step.round,
        before=step.index,
        after=None,
        latency=tuple(LatencyPair(entry.device, entry, None) for entry in step.latency),
        numerics=tuple(NumericsPair(_compared_with(entry), entry, None) for entry in step.numerics),
        constant_bytes=(step.constant_bytes, None),
    )


def _other(step: Step) -> StepDiff:
    return replace(
        _one(step),
        before=None,
        after=step.index,
        latency=tuple(LatencyPair(entry.device, None, entry) for entry in step.latency),
        numerics=tuple(NumericsPair(_compared_with(entry), None, entry) for entry in step.numerics),
        constant_bytes=(None, step.constant_bytes),
    )


def _compared_with(numerics: Numerics) -> str:
    return numerics.reference if numerics.inputs == "given" else f"{numerics.reference}, {numerics.inputs} inputs"


def _step_diffs(pairs: Iterable[StepPair], renamed: Trace) -> Iterator[StepDiff]:
    latest: dict[str, GraphDiff | None] = {}
    for old, new in pairs:
        if old is not None and new is not None:
            step = _both(old, renamed.steps[new.index])
            yield replace(step, carried=_carried(latest.get(step.method), step.graph))
            latest[step.method] = step.graph
        elif old is not None:
            yield _one(old)
        elif new is not None:
            yield _other(renamed.steps[new.index])


def _carried(before: GraphDiff | None, graph: GraphDiff | None) -> bool:
    if before is None or graph is None or graph.empty:
        return False
    return replace(before, kept=0) == replace(graph, kept=0)  # what both have may change alike


def _joined(
    old: Iterable[_Row], new: Iterable[_Row], key: Callable[[_Row], str]
) -> list[tuple[str, _Row | None, _Row | None]]:
    """Returns rows of both with one key side by side, in order of appearance."""
    ours, theirs = ({key(row): row for row in rows} for rows in (old, new))
    return [(name, ours.get(name), theirs.get(name)) for name in dict.fromkeys((*ours, *theirs))]


def _op_deltas(old: Step, new: Step) -> tuple[tuple[str, int], ...]:
    if old.graph is new.graph:
        return ()
    return op_deltas(op_counts(old.graph), op_counts(new.graph))


def _finals(before: Trace, after: Trace) -> Iterator[FinalDiff]:
    for method in before.methods:
        old, new = before.final(method), after.final(method)
        if old is not None and new is not None:
            graph = diff_snapshots(old.graph, new.graph)
            yield FinalDiff(method, old.index, new.index, graph, _op_deltas(old, new))


def _fate_diffs(before: Trace, after: Trace, same_steps: Mapping[int, int]) -> tuple[FateDiff, ...]:
    rows = _joined(before.attributes, after.attributes, lambda fate: fate.path)
    found = (
        FateDiff(path, old, new, () if old is None or new is None else _fate_fields(old, new, same_steps))
        for path, old, new in sorted(rows, key=lambda row: row[0])
    )
    return tuple(diff for diff in found if diff.before is None or diff.after is None or diff.fields)


def _fates_across(before: Trace, after: Trace) -> tuple[FateDiff, ...]:
    """Compares what both backends tell of: Inductor knows no submodules, flags and hooks, and has types of its own."""
    ours, theirs = ([fate for fate in trace.attributes if fate.shape is not None] for trace in (before, after))
    rows = _joined(ours, theirs, lambda fate: fate.path)
    found = (
        FateDiff(path, old, new, () if old is None or new is None else _held(old, new))
        for path, old, new in sorted(rows, key=lambda row: row[0])
    )
    return tuple(diff for diff in found if diff.before is None or diff.after is None or diff.fields)


def _held(old: AttributeFate, new: AttributeFate) -> tuple[FateField, ...]:
    pairs: tuple[tuple[FateField, object, object], ...] = (
        ("shape", old.shape, new.shape),
        ("dtype", old.dtype, new.dtype),
        ("fate", old.fate, new.fate),
    )
    return tuple(name for name, ours, theirs in pairs if ours != theirs)


def _fate_fields(old: AttributeFate, new: AttributeFate, same_steps: Mapping[int, int]) -> tuple[FateField, ...]:
    decided = None if new.step is None else same_steps.get(new.step, -1)
    pairs: tuple[tuple[FateField, object, object], ...] = (
        ("kind", old.kind, new.kind),
        ("type", old.type, new.type),
        ("shape", old.shape, new.shape),
        ("dtype", old.dtype, new.dtype),
        ("nbytes", old.nbytes, new.nbytes),
        ("fate", old.fate, new.fate),
        ("reason", old.reason, new.reason),
        ("step", old.step, decided),
        ("locations", old.locations, new.locations),
    )
    return tuple(name for name, ours, theirs in pairs if ours != theirs)


def _settings(before: Trace, after: Trace) -> Iterator[SettingDiff]:
    subjects: tuple[tuple[Subject, Callable[[Trace], Iterable[tuple[str, str]]]], ...] = (
        ("recording", lambda trace: (("backend", trace.backend),)),
        ("options", lambda trace: trace.options),
        ("inputs", lambda trace: ((spec.name, _input_text(spec)) for spec in trace.inputs)),
        ("environment", lambda trace: _machine(trace.environment)),
        ("settings", lambda trace: trace.environment.settings),
    )
    for subject, read in subjects:
        for name, old, new in _joined(read(before), read(after), lambda row: row[0]):
            if old != new:
                yield SettingDiff(subject, name, old and old[1], new and new[1])


def _input_text(spec: InputSpec) -> str:
    shape = None if spec.shape is None else f"[{', '.join(map(str, spec.shape))}]"
    return " ".join(filter(None, (spec.type, shape, spec.dtype, spec.device)))


def _machine(environment: Environment) -> tuple[tuple[str, str], ...]:
    return (
        ("torch", environment.torch),
        ("python", environment.python),
        ("platform", environment.platform),
        ("cpu", environment.cpu),
        ("gpus", ", ".join(environment.gpus)),
        ("threads", str(environment.threads)),
    )


def _near_misses(
    before: Trace, after: Trace, same_steps: Mapping[int, int]
) -> tuple[tuple[NearMiss, ...], tuple[NearMiss, ...]]:
    ours = {(miss.step, miss.kind, miss.node, miss.reason) for miss in before.near_misses}
    theirs = {(same_steps.get(miss.step), miss.kind, miss.node, miss.reason) for miss in after.near_misses}
    return (
        tuple(miss for miss in before.near_misses if (miss.step, miss.kind, miss.node, miss.reason) not in theirs),
        tuple(
            miss
            for miss in after.near_misses
            if (same_steps.get(miss.step), miss.kind, miss.node, miss.reason) not in ours
        ),
    )


def _failures(before: Trace, after: Trace) -> tuple[Failure | None, Failure | None]:
    same = _failed_as(before.failure) == _failed_as(after.failure)
    return (None, None) if same else (before.failure, after.failure)


def _failed_as(failure: Failure | None) -> object:
    return failure and (failure.type, failure.stage, failure.name, failure.method)
