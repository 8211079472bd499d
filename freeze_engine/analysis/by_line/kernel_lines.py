"""The lines that kernels run, and the time of these kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from freeze_engine.analysis.by_line.following import Following, Place, Places
from freeze_engine.analysis.by_line.outcome import LineKernel, LineTime, TimeOfNoLine
from freeze_engine.analysis.by_line.runtime_lines import runtime_lines
from freeze_engine.analysis.kernel_comparison import kernels_time_ns
from freeze_engine.trace import Kernel, Program, Trace


@dataclass(frozen=True, slots=True)
class KernelLines:
    """The kernels of each line, and their times.

    Attributes:
        kernels: by line.
        times: by line, one per program with timed kernels.
        of_no_line: time that belongs to no line.
    """

    kernels: Mapping[Place, tuple[LineKernel, ...]]
    times: Mapping[Place, tuple[LineTime, ...]]
    of_no_line: tuple[TimeOfNoLine, ...]


def kernel_lines(trace: Trace, methods: Mapping[str, Following]) -> KernelLines:
    """Finds the kernels of each line.

    Args:
        trace: the recording.
        methods: its lines, as followed through each method.
    """
    kernels: dict[Place, list[LineKernel]] = {}
    times: dict[Place, list[LineTime]] = {}
    rests: list[TimeOfNoLine] = []
    for number, program in enumerate(trace.programs):
        following = methods.get(program.method, Following())
        of_line: dict[Place, list[LineKernel]] = {}
        homeless: list[Kernel] = []
        for index, kernel in enumerate(program.kernels):
            sets = [places for places in _parts(kernel, following) if places]
            homeless += [] if sets else [kernel]
            for place in frozenset[Place]().union(*sets):
                alone = all(place in places for places in sets)
                of_line.setdefault(place, []).append(LineKernel(number, index, alone))
        for place, found in of_line.items():
            kernels.setdefault(place, []).extend(found)
            times.setdefault(place, []).extend(_time(number, program, found))
        rests += _rest(number, program, homeless)
    for runtime in trace.runtime:
        found_times, of_no_line = runtime_lines(runtime, methods.get(runtime.method, Following()))
        for place, time in found_times.items():
            times.setdefault(place, []).append(time)
        rests += of_no_line
    return KernelLines(
        {place: tuple(found) for place, found in kernels.items()},
        {place: tuple(found) for place, found in times.items() if found},
        tuple(rests),
    )


def _parts(kernel: Kernel, following: Following) -> Iterator[Places]:
    """Yields the lines of each node that a kernel computes; where no node is named, of each source."""
    origins = [following.first[node] for node in kernel.origins if node in following.first]
    computed = [following.work[node] for node in kernel.nodes if node in following.work]
    known = [places for places in (*origins, *computed) if places]
    yield from known or (frozenset({(source.file, source.line)}) for source in kernel.sources)


def _time(number: int, program: Program, found: list[LineKernel]) -> Iterator[LineTime]:
    timed = [kernel for kernel in program.kernels if kernel.time_ns is not None]
    whole = kernels_time_ns(timed) if timed else None
    if whole is None:
        return

    def total(alone: bool) -> float:
        intervals = (program.kernels[each.kernel].time_ns for each in found if each.alone is alone)
        return sum(interval.value for interval in intervals if interval is not None)

    untimed = sum(program.kernels[each.kernel].time_ns is None for each in found)
    if untimed < len(found):
        yield LineTime(number, total(True), total(False), whole.value, untimed)


def _rest(number: int, program: Program, kernels: list[Kernel]) -> Iterator[TimeOfNoLine]:
    whole = kernels_time_ns([kernel for kernel in program.kernels if kernel.time_ns is not None])
    time_ns = sum(kernel.time_ns.value for kernel in kernels if kernel.time_ns is not None)
    if whole is not None and time_ns:
        yield TimeOfNoLine(number, time_ns, whole.value)
