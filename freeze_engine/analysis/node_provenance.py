"""Maps the nodes of the first graph to the kernels that compute them, and back.

A rewrite says what it consumed and produced. Where a pass removes a node without one (common subexpressions, no-ops),
the graph itself shows what replaced it: what its readers read instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from freeze_engine.trace import GraphSnapshot, Node, Program, Rewrite, Step, Trace

_CONSTANT = "constant"  # the kind of a rewrite that computes a constant


@dataclass(frozen=True, slots=True)
class NodeEnd:
    """The outcome for one node.

    Attributes:
        node: its id in the first graph of the method, or in the last.
        end: ``kernel``: computed by kernels; ``constant``: computed beforehand, by a step; ``removed``: by a step, its
            value not being needed, or another node having it; ``no_kernel``: nothing is left to compute, as ``why``
            says; ``unknown``.
        kernels: positions in `Program.kernels` of those that compute it, or its value's stand-in: what the constant
            that it went into was folded into, or the node that is read in its place.
        step: index of the step that computed or removed it.
        why: why no kernel computes it; empty for the other ends.
    """

    node: str
    end: Literal["kernel", "constant", "removed", "no_kernel", "unknown"]
    kernels: tuple[int, ...] = ()
    step: int | None = None
    why: str = ""


def node_ends(trace: Trace, program: Program, first: bool = True) -> tuple[NodeEnd, ...]:
    """Finds the outcome for every node of a method that calls something.

    Args:
        trace: the recording.
        program: one of `Trace.programs` whose kernels name nodes.
        first: whether the nodes are those of the first graph, or of the last.

    Returns:
        One per node that is not a constant, nested ones included, in order.
    """
    steps = trace.method_steps(program.method)
    if not steps:
        return ()
    descent = descend(steps if first else steps[-1:])
    kernels = _Kernels(program)
    return tuple(_end(node, descent, kernels) for node in steps[0 if first else -1].graph.walk() if _calls(node))


def node_origins(steps: Sequence[Step]) -> Mapping[str, tuple[str, ...]]:
    """Returns, for each node of a method's last graph, the nodes of the first graph whose work it does.

    Args:
        steps: of one method, in order.
    """
    found: dict[str, list[str]] = {}
    for origin, heirs in descend(steps).heirs.items():
        for heir in heirs:
            found.setdefault(heir, []).append(origin)
    return {node: tuple(origins) for node, origins in found.items()}


@dataclass(slots=True)
class Descent:
    """The outcomes for the nodes of a method's first graph, up to some step.

    Attributes:
        heirs: by id of a first node, those that do its work now; none if nothing does.
        folded: by id of a first node, the step that made a constant of it.
        removed: by id of a first node, the step that removed it.
    """

    heirs: dict[str, set[str]]
    folded: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)


def descend(steps: Sequence[Step]) -> Descent:
    """Follows the nodes of the first graph through all steps of a method.

    Args:
        steps: of one method, in order; at least one.
    """
    descent = Descent({node.id: {node.id} for node in steps[0].graph.walk()})
    for before, step in pairwise(steps):
        if step.graph is not before.graph:
            _Passing(descent, before.graph, step).run()
    return descent


class _Passing:
    """One step that changed the graph, as seen by what went before."""

    def __init__(self, descent: Descent, before: GraphSnapshot, step: Step) -> None:
        self._descent = descent
        self._before = before
        self._step = step
        self._firsts: dict[str, set[str]] = {}
        for first, heirs in descent.heirs.items():
            for heir in heirs:
                self._firsts.setdefault(heir, set()).add(first)

    def run(self) -> None:
        for rewrite in self._step.rewrites:
            self._rewrite(rewrite)
        after = {node.id for node in self._step.graph.walk()}
        gone = [node for node in self._firsts if node not in after]
        if gone:
            replaced = Replaced(self._before, self._step.graph)
            known = {node.id for node in self._before.walk()}
            for name in gone:
                self._vanish(name, replaced.by(name), known)

    def _rewrite(self, rewrite: Rewrite) -> None:
        firsts = {first for node in rewrite.consumed for first in self._firsts.get(node, ())}
        if rewrite.kind == _CONSTANT:
            for first in firsts:
                # Of a packed layer only the weight becomes a constant.
                if self._descent.heirs[first] <= {*rewrite.consumed, *rewrite.produced}:
                    self._descent.folded.setdefault(first, self._step.index)
        for node in rewrite.consumed:
            if node not in rewrite.produced:
                self._move(node, ())
        for node in rewrite.produced:
            for first in firsts:
                self._add(first, node)

    def _vanish(self, node: str, replaced: set[str], known: set[str]) -> None:
        """Passes a node's work on to its replacement; if that existed before, the node is not needed."""
        if replaced <= known:
            for first in self._firsts[node]:
                self._descent.removed.setdefault(first, self._step.index)
        self._move(node, replaced)

    def _move(self, node: str, heirs: Iterable[str]) -> None:
        for first in tuple(self._firsts.pop(node, ())):
            self._descent.heirs[first].discard(node)
            for heir in heirs:
                self._add(first, heir)

    def _add(self, first: str, node: str) -> None:
        self._descent.heirs[first].add(node)
        self._firsts.setdefault(node, set()).add(first)


class Replaced:
    """The values that replace removed nodes: what their readers read now."""

    def __init__(self, before: GraphSnapshot, after: GraphSnapshot) -> None:
        self._after = {node.id: node for node in after.walk()}
        self._defined = {value.name: node.id for node in after.walk() for value in node.outputs}
        self._outputs = {node.id: {value.name for value in node.outputs} for node in before.walk()}
        self._readers: dict[str, list[tuple[Node, int]]] = {}
        for node in before.walk():
            for place, name in enumerate(node.inputs):
                self._readers.setdefault(name, []).append((node, place))
        same = len(before.outputs) == len(after.outputs)
        pairs = zip(before.outputs, after.outputs, strict=True) if same else ()
        self._returned: dict[str, list[str]] = {}
        for one, other in pairs:
            self._returned.setdefault(one, []).append(other)

    def by(self, node: str) -> set[str]:
        """Returns the ids of the nodes that replace a removed one."""
        heirs: set[str] = set()
        waiting, seen = [node], {node}
        while waiting:
            found = {other for name in self._outputs.get(waiting.pop(), ()) for other in self._instead(name)}
            heirs |= found & self._after.keys()
            # Taking `keys()` from a set walks all of them, for each of thousands of nodes.
            gone = {other for other in found if other not in self._after and other not in seen}
            seen |= gone
            waiting += gone
        return heirs

    def _instead(self, name: str) -> Iterator[str]:
        """Yields what replaces ``name`` in reads: a node of the graph after, or a reader that is removed itself."""
        for reader, place in self._readers.get(name, ()):
            after = self._after.get(reader.id)
            if after is None:
                yield reader.id
            elif len(after.inputs) == len(reader.inputs) and after.inputs[place] in self._defined:
                yield self._defined[after.inputs[place]]
        for other in self._returned.get(name, ()):
            if other in self._defined:
                yield self._defined[other]


class _Kernels:
    """The kernels of a program, by the nodes that they compute."""

    def __init__(self, program: Program) -> None:
        self.of: dict[str, list[int]] = {}
        for index, kernel in enumerate(program.kernels):
            for node in kernel.nodes:
                self.of.setdefault(node, []).append(index)
        self.why = dict(program.no_kernel)


def _end(node: Node, descent: Descent, kernels: _Kernels) -> NodeEnd:
    heirs = descent.heirs[node.id]
    computing = tuple(sorted({index for heir in heirs for index in kernels.of.get(heir, ())}))
    if node.id in descent.folded:
        return NodeEnd(node.id, "constant", computing, descent.folded[node.id])
    if node.id in descent.removed:
        return NodeEnd(node.id, "removed", computing, descent.removed[node.id])
    if computing:
        return NodeEnd(node.id, "kernel", computing)
    whys = [kernels.why[heir] for heir in sorted(heirs) if heir in kernels.why]
    if whys:
        return NodeEnd(node.id, "no_kernel", (), None, whys[0])
    return NodeEnd(node.id, "unknown")


def _calls(node: Node) -> bool:
    return node.op != "get_attr"
