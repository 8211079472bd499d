"""The difference of two freezes as JSON, for ``freezer-ui diff --json``."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.comparison import aspects
from viewer.views.comparison.aspects import Aspect, Errors, Times
from viewer.views.comparison.kernels import DIFFERENCES
from viewer.views.wording import finite

if TYPE_CHECKING:
    from freeze_engine.trace import Interval, NearMiss


def diff_document(diff: fe.TraceDiff, counted: Collection[Aspect]) -> dict[str, Any]:
    """Returns the difference of two traces as a JSON-ready object.

    Args:
        diff: of two traces, ``a`` and ``b``.
        counted: the aspects in which a difference counts.

    Returns:
        ``differs`` lists the aspects that differ; the other keys contain the differences. Times are in ns.
    """
    found = aspects.differing(diff)
    return {
        "a": _head(diff.before),
        "b": _head(diff.after),
        "differs": list(found),
        "counted": [aspect for aspect in found if aspect in counted],
        "settings": [
            {"subject": one.subject, "name": one.name, "a": one.before, "b": one.after} for one in diff.settings
        ],
        "passes": [_pass(diff, step) for step in diff.steps if step.differs or aspects.other_effect(diff, step)],
        "purposes": [
            {"purpose": pair.purpose, "a": _effect(pair.before), "b": _effect(pair.after)} for pair in diff.pairs
        ],
        "graphs": [_final(diff, final) for final in diff.finals],
        "attributes": [
            {"path": one.path, "fields": list(one.fields), "a": _fate(one.before), "b": _fate(one.after)}
            for one in diff.attributes
        ],
        "near_misses": {side: [_miss(miss) for miss in misses] for side, misses in _sides(diff.near_misses)},
        "latency": [_times(one) for one in aspects.times(diff)],
        "kernels": [_program(diff, pair) for pair in aspects.programs(diff)],
        "error": [_errors(one) for one in aspects.errors(diff)],
        "checks": {
            name: {side: analysis.check_outcome(check) for side, check in _sides(pair)}
            for name, pair in aspects.checks(diff).items()
        },
        "failures": {
            side: failure and {"type": failure.type, "message": failure.message, "pass": failure.name}
            for side, failure in _sides(diff.failures)
        },
    }


def _sides(pair: tuple[Any, Any]) -> zip[tuple[str, Any]]:
    return zip(("a", "b"), pair, strict=True)


def _head(trace: fe.Trace) -> dict[str, Any]:
    return {"name": trace.name, "backend": trace.backend, "torch": trace.environment.torch, "created": trace.created}


def _counts(graph: analysis.GraphDiff) -> dict[str, int]:
    return {name: len(getattr(graph, name)) for name in ("added", "removed", "changed", "moved")} | {"kept": graph.kept}


def _pass(diff: fe.TraceDiff, step: analysis.StepDiff) -> dict[str, Any]:
    return {
        "stage": step.stage,
        "name": step.name,
        "method": step.method,
        "round": step.round,
        "a": step.before,
        "b": step.after,
        "other_effect": aspects.other_effect(diff, step),
        "carried": step.carried,
        "graph": step.graph and _counts(step.graph),
        "operators": dict(step.op_deltas),
    }


def _effect(effect: analysis.PassEffect) -> dict[str, Any]:
    return {
        "steps": list(effect.steps),
        "changed": effect.changed,
        "added": effect.added,
        "removed": effect.removed,
        "rewrites": dict(effect.rewrites),
    }


def _final(diff: fe.TraceDiff, final: analysis.FinalDiff) -> dict[str, Any]:
    return {
        "method": final.method,
        "graph": _counts(final.graph),
        "operators": dict(final.op_deltas),
        "constant_bytes": list(aspects.constants(diff, final)),
    }


def _fate(fate: fe.AttributeFate | None) -> dict[str, Any] | None:
    if fate is None:
        return None
    facts = [evidence.fact for evidence in fate.evidence]
    return {"fate": fate.fate, "reason": fate.reason, "step": fate.step, "nbytes": fate.nbytes, "evidence": facts}


def _miss(miss: NearMiss) -> dict[str, Any]:
    return {"kind": miss.kind, "node": miss.node, "step": miss.step, "reason": miss.reason, "detail": miss.detail}


def _times(one: Times) -> dict[str, Any]:
    sides = {
        side: latency and {"median_ns": _interval(latency.median_ns), "ratio": _interval(latency.ratio)}
        for side, latency in _sides((one.before, one.after))
    }
    return {"method": one.method, "device": one.device, "apart": one.apart, "differs": one.differ, **sides}


def _program(diff: fe.TraceDiff, pair: analysis.ProgramPair) -> dict[str, Any]:
    return {
        "name": pair.name,
        "method": pair.method,
        "differs": aspects.other_kernels(pair),
        "ratio": _interval(pair.ratio),
        "groups": [
            {
                "a": _kernels(diff.before, pair.before, match.before),
                "b": _kernels(diff.after, pair.after, match.after),
                "difference": DIFFERENCES[match.difference],
                "time_ns": {"a": _interval(match.before_ns), "b": _interval(match.after_ns)},
                "ratio": _interval(match.ratio),
            }
            for match in pair.matches
        ],
    }


def _kernels(trace: fe.Trace, program: int | None, places: tuple[int, ...]) -> list[str]:
    return [] if program is None else [trace.programs[program].kernels[place].name for place in places]


def _interval(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [finite(interval.value), finite(interval.low), finite(interval.high)]


def _errors(one: Errors) -> dict[str, Any]:
    sides = {
        side: numerics
        and {"max_abs": finite(numerics.max_abs), "within_tolerance": numerics.close, "error": numerics.error}
        for side, numerics in _sides((one.before, one.after))
    }
    return {"method": one.method, "reference": one.reference, "differs": one.differ, **sides}
