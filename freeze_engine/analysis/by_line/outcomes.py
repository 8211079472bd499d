"""Works out what became of each line of the source that a trace knows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from freeze_engine.analysis.by_line.file_kinds import file_kind, is_torch
from freeze_engine.analysis.by_line.following import CONSTANT_OPS, Following, Place, Touch, claimed, follow, is_operator
from freeze_engine.analysis.by_line.kernel_lines import KernelLines, kernel_lines
from freeze_engine.analysis.by_line.outcome import (
    FileOutcome,
    LineEffect,
    LineError,
    LineNode,
    LineOutcome,
    NodeLines,
    SourceOutcome,
)
from freeze_engine.analysis.error_breakdown import error_split
from freeze_engine.trace import SourceRef, Step, Trace

_ORDER = ("own", "saved", "library")


def source_outcome(trace: Trace) -> SourceOutcome:
    """Works out what became of each line of source: passes that touched it, nodes and kernels left, time, error.

    A node belongs to the line that torch names and to the lines of the calls that lead there; a fold or fusion, and
    whatever else replaces a node, hands its lines on.

    Args:
        trace: the recording; also one that failed, or that nothing was measured of.
    """
    methods = {method: follow(trace.method_steps(method), _calls(trace, method)) for method in trace.methods}
    lines = _Lines()
    for method, following in methods.items():
        lines.add(following, LineSteps(method, trace.method_steps(method)))
    of_kernels = kernel_lines(trace, methods)
    errors = {place: tuple(found) for place, found in _errors(trace, methods).items()}
    texts = {source.file for source in trace.sources}
    files: dict[str, list[LineOutcome]] = {}
    for place in sorted(lines.places | of_kernels.kernels.keys() | of_kernels.times.keys()):
        files.setdefault(place[0], []).append(lines.outcome(place, of_kernels, errors.get(place, ())))
    outcomes = [FileOutcome(name, file_kind(name), name in texts, tuple(found)) for name, found in files.items()]
    return SourceOutcome(
        tuple(sorted(outcomes, key=_rank)),
        tuple(_node_lines(methods)),
        _is_timed(trace),
        bool(error_split(trace)),
        of_kernels.of_no_line,
    )


def _is_timed(trace: Trace) -> bool:
    kernels = (kernel for program in trace.programs for kernel in program.kernels)
    return any(runtime.times for runtime in trace.runtime) or any(kernel.time_ns is not None for kernel in kernels)


def _rank(outcome: FileOutcome) -> tuple[int, bool, bool, int, str]:
    operators = sum(line.operators for line in outcome.lines)
    return _ORDER.index(outcome.kind), not outcome.has_text, is_torch(outcome.file), -operators, outcome.file


def _calls(trace: Trace, method: str) -> Mapping[str, frozenset[Place]]:
    paths = [path for path in trace.call_paths if path.method == method]
    return {node: frozenset((ref.file, ref.line) for ref in path.calls) for path in paths for node in path.nodes}


def _node_lines(methods: Mapping[str, Following]) -> Iterable[NodeLines]:
    for method, following in methods.items():
        for node, since, places in claimed(following):
            yield NodeLines(method, node, since, tuple(SourceRef(*place) for place in sorted(places)))


@dataclass(frozen=True, slots=True)
class LineSteps:
    """A method and its steps."""

    method: str
    steps: Sequence[Step]


@dataclass(slots=True)
class _Lines:
    """Collects the effects on lines from all methods."""

    operators: dict[Place, int] = field(default_factory=dict)
    touches: dict[Place, list[Touch]] = field(default_factory=dict)
    left: dict[Place, list[LineNode]] = field(default_factory=dict)
    constants: dict[Place, list[LineNode]] = field(default_factory=dict)
    places: set[Place] = field(default_factory=set)

    def add(self, following: Following, own: LineSteps) -> None:
        for _, _, places in following.claims:
            self.places |= places
        for place, count in following.operators.items():
            self.operators[place] = self.operators.get(place, 0) + count
        for touch in following.touches:
            for place in touch.places:
                self.touches.setdefault(place, []).append(touch)
        for node in own.steps[-1].graph.walk() if own.steps else ():
            is_tensor = node.op in CONSTANT_OPS and (node.constant is not None or node.op == "get_attr")
            if not is_operator(node) and not is_tensor:
                continue
            kept = self.constants if is_tensor else self.left
            for place in following.work.get(node.id, ()):
                kept.setdefault(place, []).append(LineNode(own.method, node.id))

    def outcome(self, place: Place, kernels: KernelLines, errors: tuple[LineError, ...]) -> LineOutcome:
        return LineOutcome(
            place[1],
            self.operators.get(place, 0),
            _effects(self.touches.get(place, ())),
            tuple(self.left.get(place, ())),
            tuple(self.constants.get(place, ())),
            kernels.kernels.get(place, ()),
            kernels.times.get(place, ()),
            errors,
        )


def _effects(touches: Iterable[Touch]) -> tuple[LineEffect, ...]:
    found: dict[tuple[int, str, str], list[Touch]] = {}
    for touch in touches:
        found.setdefault((touch.step, touch.what, touch.kind), []).append(touch)
    effects = (
        LineEffect(step, group[0].what, kind, tuple(dict.fromkeys(touch.node for touch in group)))
        for (step, _, kind), group in found.items()
    )
    return tuple(sorted(effects, key=lambda effect: effect.step))


def _errors(trace: Trace, methods: Mapping[str, Following]) -> dict[Place, list[LineError]]:
    """Returns the growths of the error, for each line that a pass touched which may have brought them."""
    found: dict[Place, list[LineError]] = {}
    for split in error_split(trace):
        compared = [
            step.index
            for step in trace.method_steps(split.method)
            if any(entry.reference == "eager" and entry.error is None for entry in step.numerics)
        ]
        touches = sorted(methods[split.method].touches, key=lambda touch: touch.step)
        steps = [touch.step for touch in touches]
        for added in split.added:
            before = bisect_left(compared, added.step)
            since = compared[before - 1] if before else None
            first = 0 if since is None else bisect_right(steps, since)
            touched = {place for touch in touches[first : bisect_right(steps, added.step)] for place in touch.places}
            count = sum(file_kind(file) != "library" for file, _ in touched)
            for place in touched:
                error = LineError(added.step, since, added.before, added.after, count)
                found.setdefault(place, []).append(error)
    return found
