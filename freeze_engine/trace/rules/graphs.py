"""Rules of a snapshot: ids and names that are unique, uses that are defined, blocks that see what they may.

A trace has few graphs that differ much, and many snapshots of them; set operations recognise a sound one, and only one
that is not is walked again to say what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from freeze_engine.trace import Block, GraphSnapshot, Node, Value

MAX_NESTING = 80
"""How deep nodes may nest. Comparing them recurses, eight calls a level, and Python allows 1000."""


class GraphNames:
    """The names in one snapshot.

    Attributes:
        ids: of all nodes, nested ones included.
        values: names of all values that nodes define, and of the inputs of the graph and of its blocks.
        is_sound: whether the graph keeps the rules.
    """

    def __init__(self, graph: GraphSnapshot) -> None:
        self._ids: list[str] = []
        self._hidden: list[str] = []
        self.values: set[str] = {value.name for value in graph.inputs}
        fits = self._defines(graph, self.values, "")
        defined = len(graph.inputs) + sum([len(node.outputs) for node in graph.nodes]) + len(self._hidden)
        self.values.update(self._hidden)  # nothing but a block saw these
        self.ids = set(self._ids)
        self.is_sound = fits and len(self.ids) == len(self._ids) and len(self.values) == defined
        del self._ids, self._hidden

    def _defines(self, body: GraphSnapshot | Block, visible: set[str], scope: str) -> bool:
        """Returns whether uses in a graph or block are defined before, and adds what it defines to ``visible``."""
        self._ids += [node.id for node in body.nodes]
        is_defined, define = visible.issuperset, visible.add
        fits = True
        for node in body.nodes:
            if not is_defined(node.inputs):
                fits = False
            if node.blocks:
                for block in node.blocks:
                    fits = self._block(block, visible, block.scope or scope) and fits
            for value in node.outputs:
                define(value.name)
        return is_defined(body.outputs) and fits

    def _block(self, block: Block, around: set[str], scope: str) -> bool:
        """Returns whether a block keeps the rules; ``around`` is afterwards as it was."""
        visible = set() if block.scope else around
        first, first_id = len(self._hidden), len(self._ids)
        own = [value.name for value in block.inputs]
        visible.update(own)
        fits = self._defines(block, visible, scope)
        own += [value.name for node in block.nodes for value in node.outputs]
        self._hidden += own
        visible.difference_update(own)
        if scope:
            names = (*self._hidden[first:], *self._ids[first_id:])
            fits = all(name.startswith(scope) for name in names) and fits
        return fits


def nesting_problem(nodes: Sequence[Node]) -> str | None:
    """Returns what is wrong with how deep nodes nest, ``None`` if nothing is; does not recurse."""
    waiting = [(node, 1) for node in nodes if node.blocks]
    while waiting:
        node, depth = waiting.pop()
        if depth >= MAX_NESTING:
            return f"node {node.id}: its blocks nest more than {MAX_NESTING} deep"
        waiting += ((inner, depth + 1) for block in node.blocks for inner in block.nodes if inner.blocks)
    return None


def graph_problems(graph: GraphSnapshot) -> list[str]:
    """Returns what is wrong with a snapshot, each beginning with a comma and the place in it."""
    check = _GraphCheck()
    check.body(graph, ", graph", set(), "")
    return check.found


class _GraphCheck:
    """Walks one snapshot in order, knowing which names are taken and which can be seen.

    Attributes:
        found: what is wrong.
    """

    def __init__(self) -> None:
        self.found: list[str] = []
        self._ids: set[str] = set()
        self._names: set[str] = set()

    def body(self, graph: GraphSnapshot | Block, where: str, visible: set[str], scope: str) -> None:
        """Checks one graph or block; ``visible`` is as it was afterwards, the block's own values gone."""
        own: list[str] = []
        self._define(graph.inputs, where, scope, own, visible)
        for node in graph.nodes:
            self._node(node, visible, scope)
            self._define(node.outputs, f", node {node.id}", scope, own, visible)
        self._use(graph.outputs, f"{where}: yields", visible)
        visible.difference_update(own)

    def _node(self, node: Node, visible: set[str], scope: str) -> None:
        if node.id in self._ids:
            self.found.append(f", node {node.id}: its id is taken by an earlier node")
        if not node.id.startswith(scope):
            self.found.append(f", node {node.id}: its id lacks the scope {scope!r} of its block")
        self._ids.add(node.id)
        self._use(node.inputs, f", node {node.id}: reads", visible)
        for number, block in enumerate(node.blocks):
            where = f", node {node.id}, block {number}"
            self.body(block, where, set() if block.scope else visible, block.scope or scope)

    def _define(self, values: tuple[Value, ...], where: str, scope: str, own: list[str], visible: set[str]) -> None:
        for value in values:
            if value.name in self._names:
                self.found.append(f"{where}: defines %{value.name}, which is taken by an earlier value")
                continue
            if not value.name.startswith(scope):
                self.found.append(f"{where}: defines %{value.name}, which lacks the scope {scope!r} of its block")
            self._names.add(value.name)
            own.append(value.name)
            visible.add(value.name)

    def _use(self, names: tuple[str, ...], what: str, visible: set[str]) -> None:
        self.found += (f"{what} %{name}, which is not defined there" for name in names if name not in visible)
