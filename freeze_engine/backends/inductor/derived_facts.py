"""Facts derived from the steps of one compile, recomputed only when their basis changes.

A trace that is built during the compile needs them after every step; most steps change nothing.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from freeze_engine.backends.inductor.attributes.fates import Story, fates
from freeze_engine.backends.inductor.attributes.origins import Folded, Origins
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.folds.near_misses import folding_end, misfolds, near_misses
from freeze_engine.backends.inductor.merge_graphs import merged_lines
from freeze_engine.trace import AttributeFate, GraphSnapshot, NearMiss, Notice, SourceLines, SourceRef, Step

_INLINING = "replace_params_with_constants"
_AROUND = 3
Found = TypeVar("Found")


class DerivedFacts:
    """The fates, the folds that were not made or made wrong, and the source lines of one compile.

    Args:
        compiled: the raw data.
        origins: of its constants.
    """

    def __init__(self, compiled: RawCompile, origins: Origins) -> None:
        self._compiled = compiled
        self._origins = origins
        self._computed: dict[int, int] = {}
        self._misfolds: list[Notice] = []
        self._judged = 1
        self._fates = _Kept[tuple[AttributeFate, ...]]()
        self._near_misses = _Kept[tuple[NearMiss, ...]]()
        self._sources = _Sources()

    def note_folds(self, step: int, folded: Iterable[Folded]) -> None:
        """Notes the nodes that became constants in a step.

        Args:
            step: its index; ascending.
            folded: those nodes.
        """
        for fold in folded:
            if fold.computed:
                self._computed |= dict.fromkeys(fold.origin.inputs, step)

    def fates(self, steps: Sequence[Step]) -> tuple[AttributeFate, ...]:
        """Returns the fates of the model's tensors; nothing before parameters are inlined.

        Args:
            steps: all so far.
        """
        compiled = self._compiled
        if compiled.preserved is None:
            return ()
        graph = compiled.steps[-1].graph
        inlining = next((step for step in steps if step.name == _INLINING), None)

        def judged() -> tuple[AttributeFate, ...]:
            return fates(Story(compiled, steps, inlining, self._computed, self._origins.constants(graph)))

        return self._fates.get((graph, compiled.preserved, inlining), judged)

    def near_misses(self, passes: Sequence[Step]) -> tuple[NearMiss, ...]:
        """Returns the folds that were not made; nothing before folding is over.

        Args:
            passes: the steps of the passes so far.
        """
        last = folding_end(passes)
        if not last:
            return ()
        basis = (passes[last - 1].graph, passes[last].graph)
        return self._near_misses.get(basis, lambda: near_misses(self._compiled, passes, last))

    def misfolds(self, passes: Sequence[Step]) -> tuple[Notice, ...]:
        """Returns the folds that change the result.

        Args:
            passes: the steps of the passes so far.
        """
        for index in range(self._judged, len(passes)):
            self._misfolds += misfolds(passes[index - 1], passes[index])
        self._judged = max(self._judged, len(passes))
        return tuple(self._misfolds)

    def sources(self, steps: Sequence[Step]) -> tuple[SourceLines, ...]:
        """Returns the source lines that nodes refer to, with some around them, as far as the files are there."""
        return self._sources.of(step.graph for step in steps)


class _Kept(Generic[Found]):
    """A cached fact, valid as long as its inputs are the same objects."""

    def __init__(self) -> None:
        self._basis: tuple[object, ...] = ()
        self._found: list[Found] = []

    def get(self, basis: tuple[object, ...], find: Callable[[], Found]) -> Found:
        if not self._found or any(one is not other for one, other in zip(basis, self._basis, strict=True)):
            self._basis, self._found = basis, [find()]
        return self._found[0]


class _Sources:
    """The lines around the places that graphs come from."""

    def __init__(self) -> None:
        self._graphs: dict[int, GraphSnapshot] = {}
        self._places: set[SourceRef] = set()
        self._lines: tuple[SourceLines, ...] = ()

    def of(self, graphs: Iterable[GraphSnapshot]) -> tuple[SourceLines, ...]:
        new = {id(graph): graph for graph in graphs if id(graph) not in self._graphs}
        places = {node.source for graph in new.values() for node in graph.walk() if node.source is not None}
        self._graphs |= new
        if not places <= self._places:
            self._places |= places
            self._lines = _lines(self._places)
        return self._lines


def _lines(places: Iterable[SourceRef]) -> tuple[SourceLines, ...]:
    wanted: dict[str, set[int]] = {}
    for place in places:
        near = range(max(1, place.line - _AROUND), place.line + _AROUND + 1)
        wanted.setdefault(place.file, set()).update(near)
    found = []
    for file, numbers in wanted.items():
        text = linecache.getlines(file)
        found += [SourceLines(file, each, (text[each - 1].rstrip("\n"),)) for each in numbers if each <= len(text)]
    return tuple(merged_lines(found))
