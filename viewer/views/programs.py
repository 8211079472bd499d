"""The programs that Inductor generated: their kernels in call order, and each one's place in the code."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.source_locations import source_row
from viewer.views.wording import finite

if TYPE_CHECKING:
    from freeze_engine.trace import Kernel, Program

_COMPILED: Final = re.compile(r"^(\w+) = async_compile\.")
_OPERATOR: Final = re.compile(r"aten(?:\.|::)(\w+)(?:\.\w+)?")
_CALLED: Final = re.compile(r"(?<![\w.])([\w.]+)\(")
_STRING_ENDS: Final = "'''"


def program_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns one row per program, in the trace's order.

    ``step`` is the last step of the method, to whose nodes the kernels refer; lines of ``code`` are 0-based.
    """
    return [_program_row(trace, program) for program in trace.programs]


def comparison_rows(trace: fe.Trace) -> list[dict[str, Any]]:
    """Returns, for each method with both programs, its kernels grouped by their work, and passes with one-sided effect.

    Programs and kernels are given by their indices in `program_rows`.
    """
    return [_comparison_row(trace, comparison) for comparison in analysis.compare_programs(trace)]


def _comparison_row(trace: fe.Trace, comparison: analysis.ProgramComparison) -> dict[str, Any]:
    lost = set(analysis.lost_groups(comparison))
    groups = []
    for group in comparison.groups:
        frozen, unfrozen = analysis.group_times_ns(comparison, group)
        groups.append(
            {
                "frozen": list(group.frozen),
                "unfrozen": list(group.unfrozen),
                "difference": group.difference,
                "frozen_time": analysis.timed_text(frozen) if frozen and group.frozen else None,
                "unfrozen_time": analysis.timed_text(unfrozen) if unfrozen and group.unfrozen else None,
                "lost": group in lost,
            }
        )
    return {
        "frozen": trace.programs.index(comparison.frozen),
        "unfrozen": trace.programs.index(comparison.unfrozen),
        "groups": groups,
        "passes": [[entry.stage, entry.name, entry.frozen, entry.unfrozen] for entry in comparison.passes],
    }


def _program_row(trace: fe.Trace, program: Program) -> dict[str, Any]:
    steps = trace.method_steps(program.method)
    first_ops = {node.id: node.op for node in steps[0].graph.walk()} if steps else {}
    whole = analysis.kernels_time_ns(program.kernels) if program.kernels else None
    lines = program.code.splitlines() if program.code is not None else []
    definitions = dict(_definitions(lines))
    calls = _calls(lines, [kernel.name for kernel in program.kernels], definitions)
    return {
        "name": program.name,
        "method": program.method,
        "step": steps[-1].index if steps else None,
        "time": whole and analysis.duration_text(whole.value),
        "kernels": [
            _kernel_row(kernel, first_ops, call, definitions.get(kernel.name))
            for kernel, call in zip(program.kernels, calls, strict=True)
        ],
        "code": program.code,
        "no_kernel": [list(pair) for pair in program.no_kernel],
        "passes": [[entry.stage, entry.name, entry.nodes, entry.changed] for entry in program.passes],
    }


def _kernel_row(
    kernel: Kernel, first_ops: Mapping[str, str], call: int | None, definition: tuple[int, int] | None
) -> dict[str, Any]:
    time = kernel.time_ns
    origins = [first_ops[origin] for origin in kernel.origins if origin in first_ops]
    return {
        "name": kernel.name,
        "kind": kernel.kind,
        "nodes": list(kernel.nodes),
        "origins": list(kernel.origins),
        "ops": list(kernel.ops),
        "computes": ops_text(origins or kernel.ops),
        "sources": [source_row(source) for source in kernel.sources],
        "time": time and analysis.timed_text(time),
        "short_time": time and analysis.duration_text(time.value),
        "time_ns": time and finite(time.value),
        "call": call,
        "definition": definition and list(definition),
    }


def ops_text(ops: Sequence[str]) -> str:
    """Returns operators in short, each once, without overloads (``convolution, relu ×2``)."""
    counts = Counter(_OPERATOR.sub(r"\1", op) for op in ops)
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in counts.items())


def _definitions(lines: Sequence[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yields the kernels that the code compiles, with their first and last line."""
    start = None
    name = ""
    for number, line in enumerate(lines):
        found = _COMPILED.match(line)
        if found:
            name, start = found[1], number
        if start is not None and (line.startswith(_STRING_ENDS) or (found and line.count(_STRING_ENDS) != 1)):
            yield name, (start, number)
            start = None


def _calls(
    lines: Sequence[str], names: Sequence[str], definitions: Mapping[str, tuple[int, int]]
) -> Iterator[int | None]:
    """Yields the line that calls each kernel, in order; ``None`` if not found."""
    places = _call_lines(lines, definitions)
    number, before = 0, ""
    for name in names:
        start = number + (name == before)  # a line may call several kernels
        firsts = (_first_from(places.get(each, ()), start) for each in (name, name.removeprefix("torch.ops.")))
        found = min((first for first in firsts if first is not None), default=None)
        yield found
        if found is not None:
            number, before = found, name


def _call_lines(lines: Sequence[str], definitions: Mapping[str, tuple[int, int]]) -> Mapping[str, list[int]]:
    """Returns the lines outside of definitions that call each name, with ``.run`` and without."""
    inside = {number for first, last in definitions.values() for number in range(first, last + 1)}
    found: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if number in inside or line.lstrip().startswith("#"):
            continue
        called = set(_CALLED.findall(line))
        for name in called | {name.removesuffix(".run") for name in called}:
            found[name].append(number)
    return found


def _first_from(numbers: Sequence[int], start: int) -> int | None:
    """Returns the first of sorted numbers that is at least ``start``."""
    place = bisect_left(numbers, start)
    return numbers[place] if place < len(numbers) else None
