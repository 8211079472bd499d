"""In which respects two freezes differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, get_args

import freeze_engine as fe

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
    """How long the results of two freezes take on one device.

    Attributes:
        method: of the results.
        device: where both were measured.
        before, after: in the first and in the second trace, ``None`` where it was not measured.
        comparable: whether the two ratios are to the same thing: the first step of the same kind of freeze.
    """

    method: str
    device: str
    before: fe.Latency | None
    after: fe.Latency | None
    comparable: bool

    @property
    def apart(self) -> bool:
        """Whether the intervals of the two times have nothing in common."""
        return (
            self.before is not None and self.after is not None and _apart(self.before.median_ns, self.after.median_ns)
        )

    @property
    def ratios_overlap(self) -> bool:
        """Whether each takes as much of its own first step's time as the other, as far as the intervals tell."""
        if not self.comparable or self.before is None or self.after is None:
            return False
        ours, theirs = self.before.ratio, self.after.ratio
        return ours is not None and theirs is not None and not _apart(ours, theirs)

    @property
    def differ(self) -> bool:
        """Whether the times differ by more than the two machines' pace can explain.

        The two runs were not taken in turns. Where the first steps are apart just as the results are, it may have been
        the machine.
        """
        return self.apart and not self.ratios_overlap


@dataclass(frozen=True, slots=True)
class Errors:
    """How far the results of two freezes are from one reference.

    Attributes:
        method: of the results.
        reference: what with, and on which inputs.
        before, after: in the first and in the second trace, ``None`` where it was not compared.
    """

    method: str
    reference: str
    before: fe.Numerics | None
    after: fe.Numerics | None

    @property
    def differ(self) -> bool:
        """Whether one is within torch's tolerances and the other is not."""
        return fe.NumericsPair(self.reference, self.before, self.after).verdict_differs


def times(diff: fe.TraceDiff) -> tuple[Times, ...]:
    """Returns how long the results of both freezes take, by method and device."""
    rows = _paired(diff, lambda figures: ((one.device, one) for one in figures.latency))
    comparable = diff.before.backend == diff.after.backend
    return tuple(Times(*row, comparable) for row in rows)


def programs(diff: fe.TraceDiff) -> tuple[fe.ProgramPair, ...]:
    """Returns what Inductor generated in either freeze, side by side; nothing where the backends are two."""
    return fe.program_pairs(diff.before, diff.after) if diff.before.backend == diff.after.backend else ()


def other_kernels(pair: fe.ProgramPair) -> bool:
    """Returns whether a program has other kernels in one freeze; one that only one of them tells of has not."""
    is_told = pair.before is not None and pair.after is not None
    return is_told and any(match.difference != "same" for match in pair.matches)


def errors(diff: fe.TraceDiff) -> tuple[Errors, ...]:
    """Returns how far the results of both freezes are from each reference."""
    rows = _paired(diff, lambda figures: ((f"{one.reference}, {one.inputs} inputs", one) for one in figures.numerics))
    return tuple(Errors(*row) for row in rows)


def differing(diff: fe.TraceDiff) -> tuple[Aspect, ...]:
    """Returns in which respects two freezes differ, in the order of `ASPECTS`.

    Latency differs only beyond what the pace of the two runs can explain (`Times.differ`), the error where one freeze
    is within torch's tolerances and the other is not.
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


def other_effect(diff: fe.TraceDiff, step: fe.StepDiff) -> bool:
    """Returns whether a pass changed something in only one of two freezes.

    One that only one of them ran, without effect, is no difference: each version of torch has some of its own.
    """
    before, after = (
        place is not None and trace.steps[place].changed
        for trace, place in ((diff.before, step.before), (diff.after, step.after))
    )
    return before != after


def constants(diff: fe.TraceDiff, final: fe.FinalDiff) -> tuple[int, int]:
    """Returns the bytes of constants in both last graphs of a method."""
    return diff.before.steps[final.before].constant_bytes, diff.after.steps[final.after].constant_bytes


def checks(diff: fe.TraceDiff) -> dict[str, tuple[fe.Check, fe.Check]]:
    """Returns the checks that both freezes were put to, with another verdict, by name."""
    ours, theirs = ({check.name: check for check in trace.checks} for trace in (diff.before, diff.after))
    return {
        name: (check, theirs[name])
        for name, check in ours.items()
        if name in theirs and fe.check_outcome(check) != fe.check_outcome(theirs[name])
    }


def _paired(
    diff: fe.TraceDiff, read: Callable[[fe.FinalFigures], Iterable[tuple[str, _Figure]]]
) -> list[tuple[str, str, _Figure | None, _Figure | None]]:
    """Returns what was measured of both results side by side: by method, and by what ``read`` calls it."""
    ours, theirs = (
        {(figures.method, name): figure for figures in fe.final_figures(trace) for name, figure in read(figures)}
        for trace in (diff.before, diff.after)
    )
    return [(*place, ours.get(place), theirs.get(place)) for place in dict.fromkeys((*ours, *theirs))]


def _apart(one: fe.Interval, other: fe.Interval) -> bool:
    return one.high < other.low or other.high < one.low
