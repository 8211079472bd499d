"""Compares the programs that Inductor generated with freezing and without."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from freeze_engine.trace import Interval, Kernel, Latency, Program, Trace
from freeze_engine.trace.baselines import COMPILED_FROZEN, COMPILED_UNFROZEN

Effect = Literal["changed the graph", "without effect", "not run"]


@dataclass(frozen=True, slots=True)
class KernelGroup:
    """Kernels of two programs that do the same work.

    Attributes:
        frozen: positions in the kernels of the program with freezing.
        unfrozen: positions in those of the program without.
        difference: ``same``: one kernel each, of the same name for the same nodes, as far as these are known;
            ``different``: other kernels for common nodes; else which program alone has it.
    """

    frozen: tuple[int, ...]
    unfrozen: tuple[int, ...]
    difference: Literal["same", "different", "only with freezing", "only without freezing"]


@dataclass(frozen=True, slots=True)
class PassDifference:
    """A pass that changed the graph in one compile and not in the other."""

    stage: str
    name: str
    frozen: Effect
    unfrozen: Effect


@dataclass(frozen=True, slots=True)
class FreezingLoss:
    """Compiled with freezing is slower than compiled without.

    Attributes:
        device: where.
        ratio: time with freezing relative to without, above 1 as a whole.
    """

    device: str
    ratio: Interval


@dataclass(frozen=True, slots=True)
class ProgramComparison:
    """The two programs of one method.

    Attributes:
        method: theirs.
        frozen: the program with freezing.
        unfrozen: the program without.
        groups: of their kernels, in the order of the first, then those that only the second has.
        passes: that had an effect in one compile only.
    """

    method: str
    frozen: Program
    unfrozen: Program
    groups: tuple[KernelGroup, ...]
    passes: tuple[PassDifference, ...]


def compare_programs(trace: Trace) -> tuple[ProgramComparison, ...]:
    """Compares the programs with freezing and without, method by method.

    Kernels belong together that come from the same nodes of the first graph; each goes with the one that it has
    most nodes in common with.

    Args:
        trace: the recording; one that holds only one of the programs has nothing to compare.
    """
    return tuple(_comparison(trace, frozen, unfrozen) for frozen, unfrozen in _pairs(trace.programs))


def freezing_losses(trace: Trace) -> tuple[FreezingLoss, ...]:
    """Returns the devices on which freezing measurably lost time.

    Both were timed in the same rounds, and their times relative to the first step are compared. Freezing is
    slower only where the intervals of these have nothing in common.

    Args:
        trace: the recording, measured or not.
    """
    baselines = {baseline.name: baseline.latency for baseline in trace.baselines}
    unfrozen = {latency.device: latency for latency in baselines.get(COMPILED_UNFROZEN, ())}
    found = []
    for latency in baselines.get(COMPILED_FROZEN, ()):
        if latency.device in unfrozen:
            ratio = time_quotient(latency, unfrozen[latency.device])
            if ratio.low > 1:
                found.append(FreezingLoss(latency.device, ratio))
    return tuple(found)


def kernels_time_ns(kernels: Iterable[Kernel]) -> Interval | None:
    """Returns how long kernels take together in one run, in ns; ``None`` where one of them was not measured.

    The bounds are the sums of theirs, which is wider than 95% needs.

    Args:
        kernels: of one program; none take no time.
    """
    value = low = high = 0.0
    for kernel in kernels:
        if kernel.time_ns is None:
            return None
        value, low, high = value + kernel.time_ns.value, low + kernel.time_ns.low, high + kernel.time_ns.high
    return Interval(value, low, high)


def group_times_ns(comparison: ProgramComparison, group: KernelGroup) -> tuple[Interval | None, Interval | None]:
    """Returns how long the kernels of a group take with freezing, and without.

    Args:
        comparison: that the group is of.
        group: one of its groups.
    """
    frozen = kernels_time_ns(comparison.frozen.kernels[index] for index in group.frozen)
    return frozen, kernels_time_ns(comparison.unfrozen.kernels[index] for index in group.unfrozen)


def lost_groups(comparison: ProgramComparison) -> tuple[KernelGroup, ...]:
    """Returns the groups whose kernels measurably take longer with freezing, those that lose most first.

    Args:
        comparison: of two programs; of such as were not timed, none is known to lose.
    """
    found = []
    for group in comparison.groups:
        frozen, unfrozen = group_times_ns(comparison, group)
        if frozen is not None and unfrozen is not None and frozen.low > unfrozen.high:
            found.append((unfrozen.value - frozen.value, group))
    return tuple(group for _, group in sorted(found, key=lambda each: each[0]))


def _pairs(programs: Sequence[Program]) -> Iterator[tuple[Program, Program]]:
    unfrozen = {program.method: program for program in programs if program.name == COMPILED_UNFROZEN}
    for program in programs:
        if program.name == COMPILED_FROZEN and program.method in unfrozen:
            yield program, unfrozen[program.method]


def _comparison(trace: Trace, frozen: Program, unfrozen: Program) -> ProgramComparison:
    groups = tuple(_group(*match) for match in matched_kernels(frozen.kernels, unfrozen.kernels))
    steps = trace.method_steps(frozen.method)
    effects = _effects((step.stage, step.name, step.changed) for step in steps)
    others = _effects((each.stage, each.name, each.changed) for each in unfrozen.passes)
    passes = tuple(_pass_differences(effects, others)) if unfrozen.passes else ()
    return ProgramComparison(frozen.method, frozen, unfrozen, groups, passes)


def matched_kernels(
    first: Sequence[Kernel], second: Sequence[Kernel]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], bool]]:
    """Yields which kernels of two programs do the same work, by their places: those of one, of the other, and if same.

    Kernels are the same, one of each, that have one name and come from the same nodes. The others belong together where
    they come from common nodes; each goes with the one that it has most nodes in common with. Where the nodes of a
    kernel are not known, as of code out of Inductor's cache, it goes with one of the same name, in order of the calls.

    Args:
        first: kernels whose order is kept.
        second: the others; what only these have comes last.
    """
    same = dict(_same(first, second))
    same |= _same_operators(first, second, same)
    ones = [index for index in range(len(first)) if index not in same]
    taken = set(same.values())
    others = [index for index in range(len(second)) if index not in taken]
    links = {(one, other) for one, other in _best(ones, others, first, second)}
    links |= {(one, other) for other, one in _best(others, ones, second, first)}
    named = _named(ones, others, links, first, second)
    same |= named
    linked = _Links(links)
    left = set(others) - set(named.values())
    for start in range(len(first)):
        if start in same:
            yield (start,), (same[start],), True
            continue
        found, partners = linked.with_one(start)
        if not found:
            continue  # part of an earlier entry
        left -= partners
        yield tuple(sorted(found)), tuple(sorted(partners)), False
    yield from (((), (index,), False) for index in sorted(left))


def _same(first: Sequence[Kernel], second: Sequence[Kernel]) -> Iterator[tuple[int, int]]:
    """Yields kernels that are the same, in order where several are."""
    waiting: defaultdict[tuple[object, ...], deque[int]] = defaultdict(deque)
    for index, kernel in enumerate(second):
        waiting[_identity(kernel)].append(index)
    for index, kernel in enumerate(first):
        if candidates := waiting[_identity(kernel)]:
            yield index, candidates.popleft()


def _same_operators(
    first: Sequence[Kernel], second: Sequence[Kernel], known: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Yields library kernels of one operator and one origin: in C++ they have other names than in Python.

    Args:
        first, second: the kernels of two programs.
        known: those that are the same by name.
    """
    taken = set(known.values())
    waiting: defaultdict[tuple[object, ...], deque[int]] = defaultdict(deque)
    for index, kernel in enumerate(second):
        if index not in taken and kernel.kind == "extern" and kernel.ops:
            waiting[kernel.ops[-1], frozenset(kernel.origins)].append(index)
    for index, kernel in enumerate(first):
        if index in known or kernel.kind != "extern" or not kernel.ops:
            continue
        if candidates := waiting[kernel.ops[-1], frozenset(kernel.origins)]:
            yield index, candidates.popleft()


def _named(
    ones: Sequence[int],
    others: Sequence[int],
    links: Collection[tuple[int, int]],
    first: Sequence[Kernel],
    second: Sequence[Kernel],
) -> dict[int, int]:
    """Returns kernels of one name that are left over, the nodes of one or both being unknown; in order of the calls."""
    linked_ones, linked_others = ({link[side] for link in links} for side in (0, 1))
    waiting: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    for other in others:
        if other not in linked_others:
            waiting[second[other].kind, second[other].name].append(other)
    found = {}
    for one in ones:
        partners = waiting[first[one].kind, first[one].name]
        if one not in linked_ones and partners and not (first[one].origins and second[partners[0]].origins):
            found[one] = partners.popleft()
    return found


def _best(
    places: Sequence[int], partners: Sequence[int], kernels: Sequence[Kernel], others: Sequence[Kernel]
) -> Iterator[tuple[int, int]]:
    """Yields each kernel with the other that it has most in common with, the first of several."""
    places_of: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for partner in partners:
        for key in _work(others[partner]):
            places_of[key].append(partner)
    for place in places:
        common = Counter(partner for key in _work(kernels[place]) for partner in places_of.get(key, ()))
        size = len(_work(kernels[place]))
        shares = ((count / (size + len(_work(others[at])) - count), -at) for at, count in common.items())
        _, partner = max(shares, default=(0.0, 1))
        if partner <= 0:
            yield place, -partner


def _work(kernel: Kernel) -> set[tuple[str, str]]:
    """Returns what a kernel computes: the nodes that it comes from, or its name where these are unknown."""
    if not kernel.origins:
        return {("name", _plain_name(kernel))}
    return {("node", origin) for origin in kernel.origins}


class _Links:
    """Kernels of two programs that belong together, directly or through others; each is handed out once."""

    def __init__(self, links: Iterable[tuple[int, int]]) -> None:
        self._others: defaultdict[int, list[int]] = defaultdict(list)
        self._ones: defaultdict[int, list[int]] = defaultdict(list)
        for one, other in links:
            self._others[one].append(other)
            self._ones[other].append(one)
        self._told: set[int] = set()

    def with_one(self, start: int) -> tuple[set[int], set[int]]:
        """Returns all that are linked with a kernel of the first program; nothing where that was handed out before."""
        if start in self._told:
            return set(), set()
        ones, others, waiting = {start}, set[int](), [start]
        while waiting:
            for other in self._others.get(waiting.pop(), ()):
                if other not in others:
                    others.add(other)
                    fresh = set(self._ones[other]) - ones
                    ones |= fresh
                    waiting += fresh
        self._told |= ones
        return ones, others


def _group(ones: tuple[int, ...], others: tuple[int, ...], same: bool) -> KernelGroup:
    if not others:
        return KernelGroup(ones, (), "only with freezing")
    if not ones:
        return KernelGroup((), others, "only without freezing")
    return KernelGroup(ones, others, "same" if same else "different")


def _identity(kernel: Kernel) -> tuple[object, ...]:
    return kernel.kind, _plain_name(kernel), frozenset(kernel.origins)


def _plain_name(kernel: Kernel) -> str:
    """Returns a kernel's name without the number that makes it unique in the program."""
    stem, _, number = kernel.name.rpartition("_")
    return stem if kernel.kind != "extern" and number.isdigit() else kernel.name


def _effects(passes: Iterable[tuple[str, str, bool]]) -> dict[tuple[str, str], Effect]:
    found: dict[tuple[str, str], Effect] = {}
    for stage, name, changed in passes:
        if changed or (stage, name) not in found:
            found[stage, name] = "changed the graph" if changed else "without effect"
    return found


def _pass_differences(
    frozen: Mapping[tuple[str, str], Effect], unfrozen: Mapping[tuple[str, str], Effect]
) -> Iterator[PassDifference]:
    for place in dict.fromkeys((*frozen, *unfrozen)):
        one, other = frozen.get(place, "not run"), unfrozen.get(place, "not run")
        if (one == "changed the graph") != (other == "changed the graph"):
            yield PassDifference(*place, one, other)


def time_quotient(latency: Latency, by: Latency) -> Interval:
    """Returns the ratio of two times, from their ratios to the first step, all measured in the same rounds."""
    one, other = _ratio(latency), _ratio(by)
    return Interval(one.value / other.value, one.low / other.high, one.high / other.low)


def _ratio(latency: Latency) -> Interval:
    return latency.ratio or Interval(1.0, 1.0, 1.0)
