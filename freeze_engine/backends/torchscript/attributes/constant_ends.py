"""Describes the end of the constant that torch made of an attribute; names the pass and other constants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.common.use_def import SHAPE_READERS
from freeze_engine.backends.torchscript.attributes.origins import Origins
from freeze_engine.backends.torchscript.attributes.reads import Reading
from freeze_engine.backends.torchscript.graph.stages import OUTSIDE
from freeze_engine.trace import Evidence, GraphSnapshot, Location, Step


@dataclass(frozen=True, slots=True)
class End:
    """The step after which no constant that is read is an attribute's value.

    Attributes:
        method: of the step.
        step: the step.
        readers: the operators that read each attribute before it, by path.
        made: the constants that were computed from each attribute and exist after it, by path.
    """

    method: str
    step: Step
    readers: Mapping[str, frozenset[str]]
    made: Mapping[str, Sequence[str]]

    def evidence(self, path: str, final: Sequence[Location]) -> Iterator[Evidence]:
        """Yields sentences about what the step did, and the final names of its constants.

        Args:
            path: of the attribute.
            final: the constants of the last graph that were computed from it.
        """
        made = self.made.get(path, ())
        yield Evidence(self._fact(path, made, final), self.method, self.step.index)
        names = tuple(location.value for location in final if location.method == self.method)
        if self.step.stage != OUTSIDE and names and set(names) != set(made):
            yield Evidence(f"in the last graph that is in {_listed(names)}", self.method)

    def _fact(self, path: str, made: Sequence[str], final: Sequence[Location]) -> str:
        name = self.step.name
        if self.step.stage == OUTSIDE:
            where = _listed([location.value for location in final])
            what = f"took out its constant, and {where} was computed from it" if final else "took out its constant"
            others = "whether more of its constants hold the value is not known"
            return f"code that is none of torch's freezing {what}; {others}"
        if any(path in rewrite.attributes for rewrite in self.step.rewrites) and made:
            return f"{name} merged it into {_listed(made)}"
        if made:
            return f"{name} computed {_listed(made)} from it"
        sizes = self._size_readers(path)
        if sizes:
            return f"only its size was read, by {' and '.join(sizes)}, and {name} put a constant in place of that"
        return f"{name} left nothing that reads it"

    def _size_readers(self, path: str) -> tuple[str, ...]:
        """Returns the operators that read the attribute, where all of them read its size; else none."""
        ops = self.readers.get(path, frozenset())
        return tuple(sorted(ops)) if ops <= SHAPE_READERS else ()


def readers_by_path(graph: GraphSnapshot, origins: Origins) -> dict[str, frozenset[str]]:
    """Returns the operators that read each attribute's value; one that the graph or a block returns has ``""``.

    Args:
        graph: the snapshot.
        origins: of the snapshot.
    """
    reading = Reading(graph)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for read, name in reading.reads.items():
        op = reading.nodes[read[0]].op if read[1] < 0 and read[0] else ""
        for path in origins.read(read, name).held:
            found[path].add(op)
    return {path: frozenset(ops) for path, ops in found.items()}


def pooled_with(place: Location, other: str, step: Step, maker: str | None, *, same: bool) -> Evidence:
    """Returns a sentence for a constant that stands for an attribute and was made of another one.

    Args:
        place: the constant.
        other: path of the attribute that torch made it of.
        step: the last one of the method.
        maker: id of the constant's node in it.
        same: whether both are one tensor.
    """
    what = f"it is the same tensor as {other}" if same else f"its value equals that of {other}"
    fact = f"{what}, and torch keeps one constant for equal values: %{place.value}"
    return Evidence(fact, place.method, step.index, maker, "prim::Constant")


def left_to_others(own: str, step: Step, maker: str | None, final: Origins) -> Evidence:
    """Returns a sentence for a constant that still exists, though nothing reads it for its own attribute.

    Args:
        own: its name.
        step: the last one of the method.
        maker: id of its node in it.
        final: the places of attribute values after it.
    """
    others = sorted(final.held.get(own, ()))
    whose = f"that of {listed(others)}" if others else "one in the code"
    fact = f"%{own} is still there for an equal value, {whose}: torch keeps one constant for equal values"
    return Evidence(fact, step.method, step.index, maker, "prim::Constant")


def _listed(names: Sequence[str]) -> str:
    return listed(f"%{name}" for name in names)
