"""The kernels that Inductor generated in two traces, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.findings import ratio_row

Row: TypeAlias = dict[str, Any]

DIFFERENCES: Final = {
    "same": "same",
    "different": "different",
    "only in the first": "only in A",
    "only in the second": "only in B",
}


def joined_programs(ours: Sequence[Row], theirs: Sequence[Row], shift: int) -> list[Row]:
    """Returns the programs of both in one list, those of B after those of A, each labelled with its trace.

    Args:
        ours, theirs: results of `viewer.views.programs.program_rows` for each.
        shift: offset of B's steps in the common list.
    """
    return [
        *({**row, "side": 0, "name": f"A {row['name']}"} for row in ours),
        *({**row, "side": 1, "name": f"B {row['name']}", "step": _plus(row["step"], shift)} for row in theirs),
    ]


def _plus(place: int | None, shift: int) -> int | None:
    return None if place is None else place + shift


def program_pair_rows(diff: fe.TraceDiff) -> list[dict[str, Any]]:
    """Returns one row for each program of either trace.

    ``a`` and ``b`` are indices in `joined_programs`, ``None`` if a trace has no such program; a group has the indices
    of its kernels in these, and the ratio of B's time to A's if that exceeds noise.
    """
    shift = len(diff.before.programs)
    return [_pair_row(diff, pair, shift) for pair in analysis.program_pairs(diff.before, diff.after)]


def _pair_row(diff: fe.TraceDiff, pair: analysis.ProgramPair, shift: int) -> dict[str, Any]:
    return {
        "name": pair.name,
        "method": pair.method,
        "a": pair.before,
        "b": _plus(pair.after, shift),
        "times": [_whole_time(diff.before, pair.before), _whole_time(diff.after, pair.after)],
        "ratio": pair.ratio and ratio_row(pair.ratio),
        "groups": [_group_row(match) for match in pair.matches],
    }


def _group_row(match: analysis.KernelMatch) -> dict[str, Any]:
    return {
        "a": list(match.before),
        "b": list(match.after),
        "difference": DIFFERENCES[match.difference],
        "a_time": match.before_ns and analysis.timed_text(match.before_ns),
        "b_time": match.after_ns and analysis.timed_text(match.after_ns),
        "ratio": match.ratio and ratio_row(match.ratio),
    }


def _whole_time(trace: fe.Trace, place: int | None) -> str | None:
    kernels = () if place is None else trace.programs[place].kernels
    whole = analysis.kernels_time_ns(kernels) if kernels else None
    return None if whole is None else analysis.timed_text(whole)


def without_programs(trace: fe.Trace) -> str | None:
    """Returns why a trace has no kernels to show, ``None`` if it has some."""
    if trace.programs:
        return None
    if trace.backend == "torchscript":
        return "TorchScript generates no kernels: its graph is run operator by operator."
    return "This trace holds no generated code: Inductor reported none, or did not get that far."
