"""Facts about the writes that evidence names, from the graphs that the writing nodes are in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from freeze_engine.backends.torchscript.attributes.chain_facts import Chain
from freeze_engine.trace import Block, Evidence, Node


class WrittenValues:
    """Types of the written values in the evidence, and the branches in which they are written.

    Args:
        chains: the frozen methods.
    """

    def __init__(self, chains: Sequence[Chain]) -> None:
        self._steps = {step.index: step for chain in chains for step in chain.steps}
        self._types: dict[int, dict[str, str]] = {}
        self._in_branches: dict[int, frozenset[str]] = {}

    def type_of(self, evidence: Evidence, link: int = 0) -> str:
        """Returns torch's text of the type of the written value, or of another link; empty where that is not known."""
        if evidence.step is None or not evidence.chain:
            return ""
        if evidence.step not in self._types:
            nodes = self._steps[evidence.step].graph.walk()
            self._types[evidence.step] = {value.name: value.type for node in nodes for value in node.outputs}
        return self._types[evidence.step].get(evidence.chain[link].value, "")

    def assigns_what_it_writes(self, evidence: Evidence) -> bool:
        """Returns whether what an assignment assigns was written in place, as ``self.b += 1`` does with a tensor."""
        if evidence.step is None:
            return False
        nodes = {node.id: node for node in self._steps[evidence.step].graph.walk()}
        assignment = nodes.get(evidence.node or "")
        assigned = assignment.inputs[1:] if assignment is not None else ()
        makers = (node for node in nodes.values() if any(value.name in assigned for value in node.outputs))
        return any(node.op.endswith("_") and not node.op.endswith("__") for node in makers)

    def is_in_branch(self, evidence: Evidence) -> bool:
        """Returns whether the writing node is in a branch of an if."""
        if evidence.step is None:
            return False
        if evidence.step not in self._in_branches:
            graph = self._steps[evidence.step].graph
            branches = (block for node in graph.walk() if node.op == "prim::If" for block in node.blocks)
            self._in_branches[evidence.step] = frozenset(node.id for block in branches for node in _inside(block))
        return evidence.node in self._in_branches[evidence.step]


def _inside(block: Block) -> Iterator[Node]:
    for node in block.nodes:
        yield node
        for inner in node.blocks:
            yield from _inside(inner)
