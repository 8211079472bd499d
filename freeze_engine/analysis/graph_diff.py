"""Differences between two snapshots, as nodes and as lines of text."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Literal

from freeze_engine.analysis.alignment import Pair, align, increasing, refine
from freeze_engine.trace import Block, GraphSnapshot, Node, Value

ChangedField = Literal["op", "inputs", "outputs", "type", "attributes", "constant", "blocks", "module", "source"]
Opcode = tuple[Literal["equal", "replace", "delete", "insert"], int, int, int, int]


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that is in both snapshots with different text.

    Attributes:
        node: its id.
        fields: what differs, in the order of `ChangedField`: ``outputs`` are the names of the values it defines,
            ``type`` their types, ``blocks`` what its nested blocks receive and yield (not their nodes, which are
            compared one by one).
    """

    node: str
    fields: tuple[ChangedField, ...]


@dataclass(frozen=True, slots=True)
class GraphDiff:
    """The difference of two snapshots of one method, nested blocks included.

    Attributes:
        added: ids of nodes that only the later snapshot has, in its order.
        removed: ids of nodes that only the earlier one has, in its order.
        changed: nodes in both that do not read the same, in the later one's order.
        moved: ids of nodes in both that stand in another block, or in another order than their neighbours: as
            few as explain the new order.
        kept: how many nodes in both read the same, moved ones included.
        inputs_changed: whether the graph's inputs differ.
        outputs_changed: whether what the graph returns differs.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[NodeChange, ...] = ()
    moved: tuple[str, ...] = ()
    kept: int = 0
    inputs_changed: bool = False
    outputs_changed: bool = False

    @property
    def empty(self) -> bool:
        """Returns whether the two snapshots are equal."""
        nodes = self.added or self.removed or self.changed or self.moved
        return not (nodes or self.inputs_changed or self.outputs_changed)


def diff_snapshots(before: GraphSnapshot, after: GraphSnapshot) -> GraphDiff:
    """Compares two snapshots node by node.

    Args:
        before: the earlier snapshot.
        after: the later one, with ids that mean the same nodes (`freeze_engine.recorder.node_identity.assign_ids`).

    Returns:
        The difference; empty if and only if the snapshots are equal.
    """
    if before is after:
        return GraphDiff(kept=sum(1 for _ in after.walk()))
    old = {node.id: node for node in before.walk()}
    new = {node.id: node for node in after.walk()}
    changes = ((name, changed_fields(old[name], node)) for name, node in new.items() if name in old)
    changed = tuple(NodeChange(name, fields) for name, fields in changes if fields)
    return GraphDiff(
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=changed,
        moved=_moved(before, after, old),
        kept=len(old.keys() & new.keys()) - len(changed),
        inputs_changed=before.inputs != after.inputs,
        outputs_changed=before.outputs != after.outputs,
    )


def changed_fields(before: Node, after: Node) -> tuple[ChangedField, ...]:
    """Names the fields that differ between two states of one node.

    Args:
        before: the node as it was.
        after: the node as it is.

    Returns:
        The fields that differ, in the order of `ChangedField`; the nodes inside nested blocks do not count.
    """
    if before is after:
        return ()
    pairs: tuple[tuple[ChangedField, object, object], ...] = (
        ("op", before.op, after.op),
        ("inputs", before.inputs, after.inputs),
        ("outputs", _names(before.outputs), _names(after.outputs)),
        ("type", *_types(before, after)),
        ("attributes", before.attributes, after.attributes),
        ("constant", before.constant, after.constant),
        ("blocks", _signatures(before.blocks), _signatures(after.blocks)),
        ("module", before.module, after.module),
        ("source", before.source, after.source),
    )
    return tuple(name for name, old, new in pairs if old != new)


def diff_text(before: Sequence[str], after: Sequence[str]) -> tuple[Opcode, ...]:
    """Compares two printed graphs line by line.

    Lines that define the same value are paired even where the rest of the line differs; that, and anchoring
    on names, which are unique in a graph, keeps it fast at 50,000 lines.

    Args:
        before: lines of the earlier text, as `freeze_engine.trace.graph_lines` gives them.
        after: lines of the later one.

    Returns:
        ``(tag, a0, a1, b0, b1)`` as in ``difflib``: ``before[a0:a1]`` becomes ``after[b0:b1]``. The opcodes cover
        both texts in order. ``replace`` always pairs line with line (``a1 - a0 == b1 - b0``).
    """
    if before == after:
        return (("equal", 0, len(before), 0, len(after)),) if before else ()
    pairs = refine(align(before, after), [_line_key(line) for line in before], [_line_key(line) for line in after])
    return _opcodes(pairs, before, after)


def _line_key(line: str) -> str:
    """Returns the value a line defines, or the line itself where it defines none."""
    text = line.lstrip()
    return text.split(" ", 1)[0] if text.startswith("%") else text


def _opcodes(pairs: Sequence[Pair], before: Sequence[str], after: Sequence[str]) -> tuple[Opcode, ...]:
    opcodes: list[Opcode] = []
    old = new = 0
    end = (len(before), len(after))
    for next_old, next_new in [*pairs, end]:
        if old < next_old:
            opcodes.append(("delete", old, next_old, new, new))
        if new < next_new:
            opcodes.append(("insert", next_old, next_old, new, next_new))
        old, new = next_old, next_new
        if (old, new) == end:
            break
        tag: Literal["equal", "replace"] = "equal" if before[old] == after[new] else "replace"
        if opcodes and opcodes[-1][0] == tag and (opcodes[-1][2], opcodes[-1][4]) == (old, new):
            opcodes[-1] = (tag, opcodes[-1][1], old + 1, opcodes[-1][3], new + 1)
        else:
            opcodes.append((tag, old, old + 1, new, new + 1))
        old, new = old + 1, new + 1
    return tuple(opcodes)


def _moved(before: GraphSnapshot, after: GraphSnapshot, known: Container[str]) -> tuple[str, ...]:
    old, moved = _sequences(before.nodes), []
    for holder, names in _sequences(after.nodes).items():
        places = {name: index for index, name in enumerate(old.get(holder, ()))}
        here = [name for name in names if name in places]
        in_order = {here[position] for position in increasing([places[name] for name in here])}
        moved += [name for name in names if name in known and name not in in_order]
    return tuple(moved)


def _sequences(nodes: tuple[Node, ...], holder: tuple[str, int] = ("", 0)) -> dict[tuple[str, int], list[str]]:
    """Returns the ids in each block, the block named by the node that holds it and its number."""
    sequences = {holder: [node.id for node in nodes]}
    for node in nodes:
        for number, block in enumerate(node.blocks):
            sequences |= _sequences(block.nodes, (node.id, number))
    return sequences


def _names(values: tuple[Value, ...]) -> tuple[str, ...]:
    return tuple(value.name for value in values)


def _types(before: Node, after: Node) -> tuple[list[str], list[str]]:
    """Returns the types of the values that both define."""
    old = {value.name: value.type for value in before.outputs}
    common = [value for value in after.outputs if value.name in old]
    return [old[value.name] for value in common], [value.type for value in common]


def _signatures(blocks: tuple[Block, ...]) -> tuple[tuple[tuple[Value, ...], tuple[str, ...], str], ...]:
    return tuple((block.inputs, block.outputs, block.scope) for block in blocks)
