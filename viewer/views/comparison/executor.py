"""What TorchScript's executor runs of two frozen modules, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.comparison.cells import Cell, Row, Section, both, cell, joined, row, section

if TYPE_CHECKING:
    from freeze_engine.trace import RuntimeGraph, RuntimeKernel

_NOTE: Final = "Shares of the time of one call; no interval is known of them, so only what is run is compared."
_SHOWN: Final = 8


def executor_section(diff: fe.TraceDiff) -> Section | None:
    """Returns the fusion groups and kernels that both executors run; ``None`` if neither trace has any.

    Args:
        diff: of the two traces.
    """
    return section("What TorchScript's executor runs", _rows(diff), "not looked at", _NOTE)


def _rows(diff: fe.TraceDiff) -> Iterator[Row]:
    ours, theirs = ({runtime.method: runtime for runtime in trace.runtime} for trace in (diff.before, diff.after))
    for method, one, other in joined(ours, theirs):
        where = method if len({*ours, *theirs}) > 1 else ""
        groups = [None if each is None or each.graph is None else _groups(each) for each in (one, other)]
        yield row("Fusion groups", both(_fused, one, other), None not in groups and groups[0] != groups[1], where=where)
        yield from _kernels(one, other, where)


def _groups(runtime: RuntimeGraph) -> int:
    return sum("Group" in node.op and bool(node.blocks) for node in (runtime.graph.walk() if runtime.graph else ()))


def _fused(runtime: RuntimeGraph) -> Cell:
    if runtime.graph is None:
        return cell("not known", runtime.reason, "warn")
    return cell(str(_groups(runtime) or "none"), runtime.reason)


def _kernels(one: RuntimeGraph | None, other: RuntimeGraph | None, where: str) -> Iterator[Row]:
    ours, theirs = ({kernel.name: kernel for kernel in (each.kernels if each else ())} for each in (one, other))
    found = list(joined(ours, theirs))
    found.sort(key=lambda entry: -max(each.share for each in entry[1:] if each is not None))
    for name, before, after in found[:_SHOWN]:
        calls = [each.calls if each else 0 for each in (before, after)]
        yield row(name, both(_kernel, before, after), bool(ours and theirs) and calls[0] != calls[1], where=where)


def _kernel(kernel: RuntimeKernel) -> Cell:
    calls = "1 call" if kernel.calls == 1 else f"{kernel.calls} calls"
    return cell(f"{100 * kernel.share:.0f}%", f"{calls}, {analysis.duration_text(kernel.time_ns)}")
