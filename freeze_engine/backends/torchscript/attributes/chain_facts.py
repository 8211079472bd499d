"""Facts about the steps of one method, computed once for the fates of all attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from freeze_engine.backends.torchscript.attributes.constant_ends import End, left_to_others, readers_by_path
from freeze_engine.backends.torchscript.attributes.origins import Origins, by_path
from freeze_engine.backends.torchscript.attributes.reads import Reading
from freeze_engine.backends.torchscript.graph.attribute_reads import slot_accesses
from freeze_engine.backends.torchscript.graph.forks import unscoped
from freeze_engine.backends.torchscript.graph.stages import CONSTANT_OPS
from freeze_engine.backends.torchscript.log.messages import FOLDING
from freeze_engine.trace import Constant, Evidence, GraphSnapshot, Node, Step

_CONSTRUCTS = ("prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct")
_TAKES = ("prim::ListUnpack", "prim::TupleUnpack", "prim::TupleIndex", "aten::__getitem__")


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps of one method, each with the origins of its graph.

    Attributes:
        method: the method's dotted path.
        steps: its steps in order.
        origins: one per step.
    """

    method: str
    steps: tuple[Step, ...]
    origins: tuple[Origins, ...]

    @property
    def folding(self) -> Step | None:
        """The step that turned attributes into constants, if the freeze reached it."""
        return next((step for step in self.steps if any(FOLDING.fullmatch(line) for line in step.log)), None)


class PlaceFacts:
    """Facts about one place in a chain, each computed once, by the paths of attributes.

    Args:
        graph: of the step there.
        origins: of the graph.
    """

    def __init__(self, graph: GraphSnapshot, origins: Origins) -> None:
        self._graph = graph
        self._origins = origins

    @cached_property
    def held(self) -> Mapping[str, Sequence[str]]:
        """The constants that are each attribute's value."""
        return by_path(self._origins.held)

    @cached_property
    def derived(self) -> Mapping[str, Sequence[str]]:
        """The constants that were computed from each attribute."""
        return by_path(self._origins.derived)

    @cached_property
    def reading(self) -> Reading:
        """The graph by the places that read values."""
        return Reading(self._graph)

    @cached_property
    def containers(self) -> frozenset[str]:
        """The constants that are lists, tuples or dictionaries."""
        types = ((name, node.outputs[0].type) for name, node in self.reading.constants.items())
        return frozenset(name for name, kind in types if kind.endswith("[]") or kind.startswith(("(", "Dict(")))

    @cached_property
    def readers(self) -> Mapping[str, frozenset[str]]:
        """The operators that read each attribute's value."""
        return readers_by_path(self._graph, self._origins)

    @cached_property
    def constants(self) -> Mapping[str, Constant]:
        """Summaries of the tensor constants, by name."""
        return tensor_constants(self._graph)


class ChainFacts:
    """Facts about a chain that every slot needs, computed once."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._places = [PlaceFacts(step.graph, held) for step, held in zip(chain.steps, chain.origins, strict=True)]
        self.final = self._places[-1]
        self.last_held = _last_held(chain)
        #: Paths of the submodules around the attributes in ``last_held``.
        self.holding = {path[: dot.start()] for path in self.last_held for dot in re.finditer(r"\.", path)}
        self.folding = chain.folding
        last = chain.steps[-1].graph
        self.final_names = {each.outputs[0].name for each in last.walk() if each.op in CONSTANT_OPS}
        # A node's id is not its value's name where the value was gone in between, as in forks.
        made = ((value.name, node.id) for node in last.walk() for value in node.outputs)
        self.makers = dict(reversed(list(made)))  # of two forks' values of one name, the first one
        self.folded = _folded(chain, self.folding)
        self.owners = {evidence.node or "": path for path, (evidence, *_) in self.folded.items()}
        self.reads: dict[str, Node] = {}
        self.removed_by: dict[str, Step] = {}
        previous: set[str] = set()
        graph = None
        for step in chain.steps:
            if step.graph is graph or step.stage == "input":
                continue
            graph = step.graph
            accesses = slot_accesses(graph, chain.method.rpartition(".")[0])
            found = {access.path: access.node for access in accesses if access.path is not None}
            for path, node in found.items():
                self.reads.setdefault(path, node)
            for path in previous - found.keys():
                self.removed_by[path] = step
            previous = set(found)

    def end_of(self, path: str) -> End:
        """Returns the step after which no constant is the attribute's value; one was, and none is at the end."""
        place, chain = self.last_held[path], self.chain
        return End(chain.method, chain.steps[place + 1], self._places[place].readers, self._places[place + 1].derived)

    def collected(self, path: str) -> tuple[str, ...]:
        """Returns the constants into which the step of `end_of` only put the attribute: lists, tuples, dictionaries."""
        place = self.last_held[path]
        own = set(self._places[place].held.get(path, ()))
        after = self._places[place + 1]
        made = {name for name in after.derived.get(path, ()) if name in after.containers}
        before = self._places[place].reading if made else None
        if before is None:
            return ()
        stood = {name: before.reads.get(read, "") for read, name in after.reading.reads.items() if name in made}
        return tuple(name for name, old in stood.items() if _is_inside(own, old, before.makers))

    def taken_out(self, path: str) -> frozenset[object]:
        """Returns keys of the constants that the step of `end_of` only took out of a list, tuple or dictionary.

        They are keys of `Reading.content`; none if the step also computed a constant.
        """
        place = self.last_held[path]
        own, after = set(self._places[place].held.get(path, ())), self._places[place + 1]
        made = set(after.derived.get(path, ()))
        if not made or not own & self._places[place].containers:
            return frozenset()
        before = self._places[place].reading
        stood = {(name, before.reads.get(read, "")) for read, name in after.reading.reads.items() if name in made}
        if {name for name, _ in stood} != made or not all(_is_taken(own, old, before.makers) for _, old in stood):
            return frozenset()
        return frozenset(after.reading.content(name) for name in made)

    def last_place(self, path: str) -> PlaceFacts:
        """Returns the last place at which a constant is the attribute's value."""
        return self._places[self.last_held[path]]

    def left_over(self, path: str) -> Iterator[Evidence]:
        """Yields the constant that torch made of the attribute, if it still exists for others."""
        for evidence in self.folded.get(path, ()):
            if evidence.node in self.final_names:
                own = evidence.node or ""
                yield left_to_others(own, self.chain.steps[-1], self.makers.get(own), self.chain.origins[-1])


def tensor_constants(graph: GraphSnapshot) -> dict[str, Constant]:
    """Returns the summaries of a graph's tensor constants, by name."""
    return {node.outputs[0].name: node.constant for node in graph.walk() if node.constant is not None and node.outputs}


def _is_inside(own: Set[str], name: str, makers: Mapping[str, Node]) -> bool:
    """Returns whether a value is constructed of one of some others, directly or in a list, tuple or dictionary."""
    maker = makers.get(name)
    if maker is None or maker.op not in _CONSTRUCTS:
        return False
    return any(each in own or _is_inside(own, each, makers) for each in maker.inputs)


def _is_taken(own: Set[str], name: str, makers: Mapping[str, Node]) -> bool:
    """Returns whether a value is an element of one of some others, or an element of such an element."""
    maker = makers.get(name)
    if maker is None or maker.op not in _TAKES:
        return False
    return maker.inputs[0] in own or _is_taken(own, maker.inputs[0], makers)


def _last_held(chain: Chain) -> dict[str, int]:
    """Returns, by an attribute's path, the last place in the chain at which a constant was its value."""
    return {
        path: place for place, origins in enumerate(chain.origins) for paths in origins.held.values() for path in paths
    }


def _folded(chain: Chain, step: Step | None) -> dict[str, tuple[Evidence, ...]]:
    """Returns, by an attribute's path, the first line of torch's log that names a constant made of it."""
    if step is None:
        return {}
    made: dict[str, list[tuple[str, str]]] = {}
    for path, names in by_path(chain.origins[chain.steps.index(step)].held).items():
        for own, name in {unscoped(name): name for name in names}.items():
            made.setdefault(own, []).append((path, name))
    found: dict[str, tuple[Evidence, ...]] = {}
    for line in step.log:
        match = FOLDING.fullmatch(line)
        for path, name in made.get(match["constant"], ()) if match else ():
            fact = f"torch's log: {line}"
            found.setdefault(path, (Evidence(fact, chain.method, step.index, name, "prim::Constant"),))
    return found
