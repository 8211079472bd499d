"""Facts about the steps of one method, computed once for the fates of all attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freeze_engine.backends.torchscript.attributes.constant_ends import End, left_to_others, readers_by_path
from freeze_engine.backends.torchscript.attributes.origins import Origins, by_path
from freeze_engine.backends.torchscript.graph.attribute_reads import slot_accesses
from freeze_engine.backends.torchscript.graph.forks import unscoped
from freeze_engine.backends.torchscript.graph.stages import CONSTANT_OPS
from freeze_engine.backends.torchscript.log.messages import FOLDING
from freeze_engine.trace import Constant, Evidence, GraphSnapshot, Node, Step


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


class ChainFacts:
    """Facts about a chain that every slot needs, computed once."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        last = chain.origins[-1] if chain.origins else Origins()
        self.holders, self.descendants = by_path(last.held), by_path(last.derived)
        self.last_held = _last_held(chain)
        self.folding = chain.folding
        self.final_constants = tensor_constants(chain.steps[-1].graph)
        self.final_names = {each.outputs[0].name for each in chain.steps[-1].graph.walk() if each.op in CONSTANT_OPS}
        self.folded = _folded(chain, self.folding)
        self.owners = {evidence.node or "": path for path, (evidence, *_) in self.folded.items()}
        self._readers: dict[int, dict[str, frozenset[str]]] = {}
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
        if place not in self._readers:
            self._readers[place] = readers_by_path(chain.steps[place].graph, chain.origins[place])
        return End(chain.method, chain.steps[place + 1], self._readers[place], chain.origins[place + 1])

    def left_over(self, path: str) -> Iterator[Evidence]:
        """Yields the constant that torch made of the attribute, if it still exists for others."""
        for evidence in self.folded.get(path, ()):
            if evidence.node in self.final_names:
                yield left_to_others(evidence.node or "", self.chain.steps[-1], self.chain.origins[-1])


def tensor_constants(graph: GraphSnapshot) -> dict[str, Constant]:
    """Returns the summaries of a graph's tensor constants, by name."""
    return {node.outputs[0].name: node.constant for node in graph.walk() if node.constant is not None and node.outputs}


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
