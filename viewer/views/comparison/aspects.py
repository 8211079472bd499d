"""The aspects in which two freezes differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeVar, get_args

import freeze_engine as fe
from freeze_engine import analysis

if TYPE_CHECKING:
    from freeze_engine.trace import Check, Interval, Latency, Numerics

Aspect = Literal[
    "options",
    "environment",
    "passes",
    "graphs",
    "constants",
    "fates",
    "near-misses",
    "latency",
    "kernels",
    "error",
    "checks",
    "failures",
]
ASPECTS: Final[tuple[Aspect, ...]] = get_args(Aspect)
_Figure = TypeVar("_Figure")
_ASKED: Final = ("recording", "options", "inputs")


@dataclass(frozen=True, slots=True)
class Times:
    """Latency of the results of two freezes on one device.

    Attributes:
        method: of the results.
        device: on which both were measured.
        before, after: in the first and in the second trace, ``None`` if not measured.
        comparable: whether both ratios have the same reference: the first step of the same kind of freeze.
    """

    method: str
    device: str
    before: Latency | None
    after: Latency | None
    comparable: bool

    @property
    def apart(self) -> bool:
        """Whether the intervals of the two times are disjoint."""
        return (
            self.before is not None and self.after is not None and _apart(self.before.median_ns, self.after.median_ns)
        )

    @property
    def ratios_overlap(self) -> bool:
        """Whether the intervals of the two ratios to the freeze's own first step overlap."""
        if not self.comparable or self.before is None or self.after is None:
            return False
        ours, theirs = self.before.ratio, self.after.ratio
        return ours is not None and theirs is not None and not _apart(ours, theirs)

    @property
    def differ(self) -> bool:
        """Whether the times differ by more than the machines' speeds can explain.

        The two runs were not interleaved. If the first steps differ by the same ratio as the results, the machine may
        be the cause.
        """
        return self.apart and not self.ratios_overlap


@dataclass(frozen=True, slots=True)
class Errors:
    """Numeric errors of the results of two freezes against one reference.

    Attributes:
        method: of the results.
        reference: name of the reference, and of the inputs.
        before, after: in the first and in the second trace, ``None`` if not compared.
    """

    method: str
    reference: str
    before: Numerics | None
    after: Numerics | None

    @property
    def differ(self) -> bool:
        """Whether one is within torch's tolerances and the other is not."""
        return analysis.NumericsPair(self.reference, self.before, self.after).verdict_differs


def times(diff: fe.TraceDiff) -> tuple[Times, ...]:
    """Returns the latency of the results of both freezes, by method and device."""
    rows = _paired(diff, lambda figures: ((one.device, one) for one in figures.latency))
    comparable = not diff.across_backends
    return tuple(Times(*row, comparable) for row in rows)


def programs(diff: fe.TraceDiff) -> tuple[analysis.ProgramPair, ...]:
    """Returns Inductor's programs of both freezes in pairs; none if the backends differ."""
    return analysis.program_pairs(diff.before, diff.after) if not diff.across_backends else ()


def other_kernels(pair: analysis.ProgramPair) -> bool:
    """Returns whether the kernels of a pair of programs differ; false if only one trace has the program."""
    is_told = pair.before is not None and pair.after is not None
    return is_told and any(match.difference != "same" for match in pair.matches)


def errors(diff: fe.TraceDiff) -> tuple[Errors, ...]:
    """Returns the numeric errors of the results of both freezes against each reference."""
    rows = _paired(diff, lambda figures: ((f"{one.reference}, {one.inputs} inputs", one) for one in figures.numerics))
    return tuple(Errors(*row) for row in rows)


def differing(diff: fe.TraceDiff) -> tuple[Aspect, ...]:
    """Returns the aspects in which two freezes differ, in the order of `ASPECTS`.

    Latency differs only beyond what the speed of the two runs can explain (`Times.differ`), the error only if one
    freeze is within torch's tolerances and the other is not.
    """
    asked = [setting.subject in _ASKED for setting in diff.settings]
    found: Mapping[Aspect, bool] = {
        "options": any(asked),
        "environment": not all(asked),
        "passes": any(other_effect(diff, step) for step in diff.steps),
        "graphs": any(not final.graph.empty for final in diff.finals) or diff.before.methods != diff.after.methods,
        "constants": any(len(set(constants(diff, final))) > 1 for final in diff.finals),
        "fates": bool(diff.attributes),
        "near-misses": any(diff.near_misses),
        "latency": any(one.differ for one in times(diff)),
        "kernels": any(other_kernels(pair) for pair in programs(diff)),
        "error": any(one.differ for one in errors(diff)),
        "checks": bool(checks(diff)),
        "failures": any(diff.failures),
    }
    return tuple(aspect for aspect in ASPECTS if found[aspect])


def other_effect(diff: fe.TraceDiff, step: analysis.StepDiff) -> bool:
    """Returns whether a pass changed the graph in only one of two freezes.

    A pass that ran in only one of them, without effect, does not count: each version of torch has some of its own.
    """
    before, after = (
        place is not None and trace.steps[place].changed
        for trace, place in ((diff.before, step.before), (diff.after, step.after))
    )
    return before != after


def constants(diff: fe.TraceDiff, final: analysis.FinalDiff) -> tuple[int, int]:
    """Returns the bytes of constants in both last graphs of a method."""
    return diff.before.steps[final.before].constant_bytes, diff.after.steps[final.after].constant_bytes


def checks(diff: fe.TraceDiff) -> dict[str, tuple[Check, Check]]:
    """Returns the checks that ran on both freezes with different outcomes, by name."""
    ours, theirs = ({check.name: check for check in trace.checks} for trace in (diff.before, diff.after))
    return {
        name: (check, theirs[name])
        for name, check in ours.items()
        if name in theirs and analysis.check_outcome(check) != analysis.check_outcome(theirs[name])
    }


def _paired(
    diff: fe.TraceDiff, read: Callable[[analysis.FinalFigures], Iterable[tuple[str, _Figure]]]
) -> list[tuple[str, str, _Figure | None, _Figure | None]]:
    """Returns the measurements of both results in pairs, by method and by the name that ``read`` gives them."""
    ours, theirs = (
        {(figures.method, name): figure for figures in analysis.final_figures(trace) for name, figure in read(figures)}
        for trace in (diff.before, diff.after)
    )
    return [(*place, ours.get(place), theirs.get(place)) for place in dict.fromkeys((*ours, *theirs))]


def _apart(one: Interval, other: Interval) -> bool:
    return one.high < other.low or other.high < one.low
