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

    def type_of(self, evidence: Evidence) -> str:
        """Returns torch's text of the type of the written value, empty where that is not known."""
        if evidence.step is None or not evidence.chain:
            return ""
        if evidence.step not in self._types:
            nodes = self._steps[evidence.step].graph.walk()
            self._types[evidence.step] = {value.name: value.type for node in nodes for value in node.outputs}
        return self._types[evidence.step].get(evidence.chain[0].value, "")

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
