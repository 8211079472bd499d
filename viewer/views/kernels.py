"""Inductor's generated code as rows and lines: the slowest kernels, and freezing on against off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import freeze_engine as fe
from freeze_engine import analysis

if TYPE_CHECKING:
    from freeze_engine.trace import Interval, Kernel, Program

_SHOWN = 10
_SHOWN_LOSSES = 5


def kernel_rows(program: Program) -> list[dict[str, str]]:
    """Returns a row for each kernel of a program: the slowest first, or in the order of calls if none was timed.

    Args:
        program: one of `Trace.programs`.

    Returns:
        At most ten kernels, each by heading; ``>`` in front of a heading aligns its column right.
    """
    calls = list(enumerate(program.kernels))
    timed = [(number, kernel) for number, kernel in calls if kernel.time_ns is not None]
    shown = (sorted(timed, key=_slowness) or calls)[:_SHOWN]
    whole = analysis.kernels_time_ns(kernel for _, kernel in timed)
    rows = [_row(number, kernel, whole) for number, kernel in shown]
    if more := len(program.kernels) - len(shown):
        rows.append({"kernel": f"… and {more} more"})
    return rows


def comparison_lines(trace: fe.Trace) -> Iterator[str]:
    """Yields the changes of the generated code by freezing, and where freezing lost time.

    Args:
        trace: the recording; without both programs it yields at most the lost time.
    """
    comparisons = analysis.compare_programs(trace)
    losses = analysis.freezing_losses(trace)
    for loss in losses:
        since = "; the kernels and passes below differ" if comparisons else ""
        yield (
            f"slower: compiled with freezing takes {analysis.ratio_text(loss.ratio, 'compiled without it')} "
            f"on {loss.device}{since}"
        )
    for comparison in comparisons:
        yield from _comparison(comparison, bool(losses), len(comparisons) > 1)


def _comparison(comparison: analysis.ProgramComparison, lost: bool, several: bool) -> Iterator[str]:
    method = f"{comparison.method}: " if several else ""
    counts = Counter[str](group.difference for group in comparison.groups)
    told = ", ".join(f"{counts[what]} {text}" for what, text in _DIFFERENCES.items() if counts[what])
    kernels = f"{len(comparison.frozen.kernels)} kernels with freezing, {len(comparison.unfrozen.kernels)} without"
    yield f"{method}{kernels}; by the work they do: {told}"
    slower = analysis.lost_groups(comparison)
    for group in slower[:_SHOWN_LOSSES]:
        yield f"  {_loss(comparison, group)}"
    if more := len(slower[_SHOWN_LOSSES:]):
        yield f"  … and {more} more that take longer"
    if lost and comparison.passes:
        with_effect = [each.name for each in comparison.passes if each.frozen == "changed the graph"]
        yield f"  passes with an effect only with freezing: {', '.join(dict.fromkeys(with_effect))}"


_DIFFERENCES = {
    "same": "the same",
    "different": "differ",
    "only with freezing": "only with freezing",
    "only without freezing": "only without",
}


def _loss(comparison: analysis.ProgramComparison, group: analysis.KernelGroup) -> str:
    frozen, unfrozen = analysis.group_times_ns(comparison, group)
    ours = _names(comparison.frozen, group.frozen)
    if not group.unfrozen or unfrozen is None:
        return f"takes longer: {ours} ({_time(frozen)}), only with freezing"
    theirs = _names(comparison.unfrozen, group.unfrozen)
    return f"takes longer: {ours} ({_time(frozen)}) instead of {theirs} ({_time(unfrozen)})"


def _names(program: Program, kernels: tuple[int, ...]) -> str:
    return " + ".join(program.kernels[index].name for index in kernels)


def _time(time_ns: Interval | None) -> str:
    return "" if time_ns is None else analysis.duration_text(time_ns.value)


def _slowness(call: tuple[int, Kernel]) -> float:
    time_ns = call[1].time_ns
    return -time_ns.value if time_ns is not None else 0.0


def _row(number: int, kernel: Kernel, whole: Interval | None) -> dict[str, str]:
    time_ns = kernel.time_ns
    row = {
        ">#": str(number),
        "kernel": kernel.name,
        "kind": kernel.kind,
        "source": _source(kernel),
    }
    if time_ns is not None and whole is not None:
        row[">time"] = analysis.timed_text(time_ns)
        row[">of all"] = f"{time_ns.value / whole.value:.0%}"
    return row


def _source(kernel: Kernel) -> str:
    if not kernel.sources:
        return ""
    first, *more = kernel.sources
    return f"{first.file}:{first.line}" + (f" and {len(more)} more" if more else "")
