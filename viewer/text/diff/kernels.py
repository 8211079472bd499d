"""The kernels that Inductor generated in two freezes, in words; kernels of the same work are paired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.comparison.kernels import without_programs

if TYPE_CHECKING:
    from freeze_engine.trace import Interval

_SHOWN: Final = 8
_WORDS: Final = {
    "same": "the same",
    "different": "differ",
    "only in the first": "only in A",
    "only in the second": "only in B",
}


def kernel_lines(diff: fe.TraceDiff, programs: Iterable[analysis.ProgramPair], everything: bool) -> Iterator[str]:
    """Yields for each program the counts of equal and different kernels, both times, and the kernels that differ.

    Args:
        diff: of two traces.
        programs: of both traces, in pairs.
        everything: whether to list all kernels, also equal ones.
    """
    for pair in programs:
        whole = _whole(diff, pair)
        if everything or whole or any(match.difference != "same" for match in pair.matches):
            yield from _pair_lines(diff, pair, whole, everything)


def _pair_lines(diff: fe.TraceDiff, pair: analysis.ProgramPair, whole: str, everything: bool) -> Iterator[str]:
    counts = Counter[str](match.difference for match in pair.matches)
    told = ", ".join(f"{counts[what]} {text}" for what, text in _WORDS.items() if counts[what])
    yield f"{pair.name}, {pair.method}: {told or 'no kernels'}"
    for side, trace, place in (("A", diff.before, pair.before), ("B", diff.after, pair.after)):
        if place is None:
            yield f"  {side}  {without_programs(trace) or 'It holds no such program.'}"
    if whole:
        yield f"  all kernels together: {whole}"
    listed = [match for match in pair.matches if everything or match.difference != "same" or match.ratio]
    shown = listed if everything else listed[:_SHOWN]
    yield from (f"  {_match_text(diff, pair, match)}" for match in shown)
    if more := len(listed) - len(shown):
        yield f"  … and {more} more (--all lists them)"


def _whole(diff: fe.TraceDiff, pair: analysis.ProgramPair) -> str:
    """Returns the total time of a program's kernels in both traces, empty if they were not timed."""
    sides = (("A", diff.before, pair.before), ("B", diff.after, pair.after))
    times = [
        f"{side} {analysis.timed_text(time_ns)}"
        for side, trace, place in sides
        if place is not None and (time_ns := analysis.kernels_time_ns(trace.programs[place].kernels)) is not None
    ]
    return f"{', '.join(times)}{_ratio_text(pair.ratio)}" if times else ""


def _match_text(diff: fe.TraceDiff, pair: analysis.ProgramPair, match: analysis.KernelMatch) -> str:
    ours, theirs = _names(diff.before, pair.before, match.before), _names(diff.after, pair.after, match.after)
    if match.difference == "same":
        return f"the same: {ours}{_ratio_text(match.ratio)}"
    if ours and theirs:
        return f"differ: {ours} → {theirs}{_ratio_text(match.ratio)}"
    return f"{_WORDS[match.difference]}: {ours or theirs}"


def _names(trace: fe.Trace, program: int | None, kernels: tuple[int, ...]) -> str:
    return "" if program is None else " + ".join(trace.programs[program].kernels[kernel].name for kernel in kernels)


def _ratio_text(ratio: Interval | None) -> str:
    return f", B takes {analysis.ratio_text(ratio, 'A')}" if ratio else ""
