"""Matches the kernels that Inductor generated in two recordings by the work that they do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from freeze_engine.analysis.kernel_comparison import kernels_time_ns, matched_kernels
from freeze_engine.trace import Interval, Latency, Program, Trace
from freeze_engine.trace.baselines import result_baseline

_RESULT: Final = "result"


@dataclass(frozen=True, slots=True)
class KernelMatch:
    """Kernels of two traces that do the same work.

    Attributes:
        before, after: their places in the programs of the first and of the second trace.
        difference: ``same``: one kernel each, of the same name for the same nodes, as far as these are known;
            ``different``: other kernels for common nodes; else which trace alone has it.
        before_ns, after_ns: time of all of them in one run, in ns; ``None`` where there are none, or one was not timed.
        ratio: time in the second trace relative to the first; ``None`` if the two runs show no difference.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    difference: Literal["same", "different", "only in the first", "only in the second"]
    before_ns: Interval | None = None
    after_ns: Interval | None = None
    ratio: Interval | None = None


@dataclass(frozen=True, slots=True)
class ProgramPair:
    """One program in both traces.

    Attributes:
        name: of the way to run the model; both names if the traces are of Inductor and of AOTInductor.
        method: of the graph, the same in both.
        before, after: its place in the programs of the first and of the second trace, ``None`` where that has none.
        matches: of the kernels, in the order of the first one's calls, then what only the second has.
        ratio: time of all kernels in the second trace relative to the first, as in `KernelMatch`.
    """

    name: str
    method: str
    before: int | None
    after: int | None
    matches: tuple[KernelMatch, ...]
    ratio: Interval | None = None


def program_pairs(before: Trace, after: Trace) -> tuple[ProgramPair, ...]:
    """Holds the generated programs of two traces against each other.

    The two come from different runs. A ratio of times is given only where the intervals have nothing in common, and
    where this holds as well for the times relative to the first step of the same run, on one device: a machine that was
    slower in one run was slower for all.

    Args:
        before: one trace.
        after: the other, with the first one's node ids (`freeze_engine.analysis.trace_diff.rename_trace.named_like`).

    Returns:
        One pair for each program of either; none where neither is a trace of Inductor.
    """
    ours, theirs = (_places(trace) for trace in (before, after))
    pace = _first_steps(before, after)
    pairs = []
    for key in dict.fromkeys((*ours, *theirs)):
        old, new = ours.get(key), theirs.get(key)
        programs = (None if old is None else before.programs[old], None if new is None else after.programs[new])
        names = dict.fromkeys(program.name for program in programs if program is not None)
        matches = tuple(_matches(*programs, pace))
        pairs.append(ProgramPair(" / ".join(names), key[0], old, new, matches, _whole(*programs, pace)))
    return tuple(pairs)


def _places(trace: Trace) -> dict[tuple[str, str], int]:
    """Returns the places of a trace's programs by method and name, with one name for what either backend results in."""
    result = result_baseline(trace.backend)
    names = (_RESULT if each.name == result else each.name for each in trace.programs)
    return {(each.method, name): place for place, (each, name) in enumerate(zip(trace.programs, names, strict=True))}


_Pace = tuple[Interval, Interval] | None
"""How long the first step takes in both runs, in ns; ``None`` where this was not measured on one device in both."""


def _first_steps(before: Trace, after: Trace) -> _Pace:
    old, new = _first_latency(before), _first_latency(after)
    if old is None or new is None or old.device != new.device:
        return None
    pace = old.median_ns, new.median_ns
    return pace if all(one.low > 0 for one in pace) else None


def _first_latency(trace: Trace) -> Latency | None:
    return next((latency for step in trace.steps for latency in step.latency), None)


def _matches(old: Program | None, new: Program | None, pace: _Pace) -> Iterator[KernelMatch]:
    ours, theirs = old.kernels if old else (), new.kernels if new else ()
    for ones, others, same in matched_kernels(ours, theirs):
        before = kernels_time_ns(ours[index] for index in ones) if ones else None
        after = kernels_time_ns(theirs[index] for index in others) if others else None
        if ones and others:
            yield KernelMatch(ones, others, "same" if same else "different", before, after, _ratio(before, after, pace))
        else:
            yield KernelMatch(ones, others, "only in the first" if ones else "only in the second", before, after)


def _whole(old: Program | None, new: Program | None, pace: _Pace) -> Interval | None:
    if old is None or new is None:
        return None
    return _ratio(kernels_time_ns(old.kernels), kernels_time_ns(new.kernels), pace)


def _ratio(before: Interval | None, after: Interval | None, pace: _Pace) -> Interval | None:
    """Returns how many times as long something takes, ``None`` where that is not known beyond the noise."""
    if before is None or after is None or before.low <= 0 or after.low <= 0:
        return None
    ratio = _quotient(after, before)
    relative = ratio if pace is None else _quotient(_quotient(after, pace[1]), _quotient(before, pace[0]))
    is_faster = ratio.high < 1 and relative.high < 1
    return ratio if is_faster or (ratio.low > 1 and relative.low > 1) else None


def _quotient(one: Interval, by: Interval) -> Interval:
    return Interval(one.value / by.value, one.low / by.high, one.high / by.low)
