"""Identifies nodes from step to step."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count

from freeze_engine.analysis.alignment import align, refine
from freeze_engine.trace import Block, GraphSnapshot, Node

_Place = tuple[str, int]  # the id of the node that holds a block, and the block's number
_TOP: _Place = ("", 0)

Identify = Callable[[GraphSnapshot], Mapping[str, object]]


def nothing_known(graph: GraphSnapshot) -> Mapping[str, object]:
    """Identifies nodes by their names only."""
    return {}


def assign_ids(
    previous: GraphSnapshot | None,
    current: GraphSnapshot,
    retired: Collection[str] = (),
    identify: Identify = nothing_known,
) -> GraphSnapshot:
    """Gives the nodes of a snapshot the ids they had in the one before it.

    A node that defines values is the node that defined one of them before, if its operator is the same: torch
    keeps a value's debug name through the passes of one graph (torch 2.13). Inlining is the exception: there a name
    may go to another node, and its old holder is renamed (``Value::setDebugName``); ``identify`` separates such nodes,
    and finds the renamed ones again. A node that defines none
    (``prim::SetAttr``, ``prim::RaiseException``, ``prim::If`` without results, …) is aligned, in order, with
    those of the same block and of equal operator, attributes and source line; what remains is then looked for
    in the whole graph, since a pass that resolves a branch moves its body out.

    A new node that defines values is named after the first, followed by ``'2``, ``'3``, … if that id has been
    used. A new node that defines none is named ``operator#0``, ``operator#1``, … in order, with the scope of the
    subgraph it is in (`freeze_engine.trace.Block.scope`) before that.

    Args:
        previous: the same method's snapshot one step earlier, with final ids, or ``None`` for the first.
        current: the snapshot, whose ids are unique but provisional where a node defines no values.
        retired: ids of earlier steps, which no new node may take.
        identify: returns, by id, a key that a node of a snapshot must share with its earlier self.

    Returns:
        The snapshot with final ids. Nodes that are as they were are the objects of ``previous``, and if all
        are, so is the snapshot.
    """
    if previous == current:
        return previous
    matches = _match(previous, current, identify) if previous else {}
    earlier = {node.id: node for node in previous.walk()} if previous else {}
    is_new = len(matches) < sum(1 for _ in current.walk())
    new = [(scope, node) for scope, node in _scoped(current.nodes) if node.id not in matches] if is_new else []
    fresh = _fresh_ids({*earlier, *retired}, new)
    ids = fresh | {provisional: node.id for provisional, node in matches.items()}
    nodes = _renamed(current.nodes, ids, earlier)
    result = replace(current, nodes=nodes)
    return previous if previous == result else result


def _match(previous: GraphSnapshot, current: GraphSnapshot, identify: Identify) -> dict[str, Node]:
    """Returns the nodes of ``previous`` by the provisional ids of the same nodes now."""
    known_before, known = identify(previous), identify(current)
    matches = _match_by_values(previous, current, known_before, known)
    _match_renamed(previous, current, known_before, known, matches)
    if all(node.outputs for node in current.walk()):
        return matches
    silent_before = _silent_by_place(previous)
    _match_silent_in(current.nodes, _TOP, silent_before, matches)
    _match_displaced(previous, current, matches)
    return matches


def _match_by_values(
    previous: GraphSnapshot, current: GraphSnapshot, known_before: Mapping[str, object], known: Mapping[str, object]
) -> dict[str, Node]:
    earlier = {node.id: node for node in previous.walk()}
    matches: dict[str, Node] = {}
    changed = []
    for node in current.walk():
        # Most nodes are the objects that they were before the pass.
        if node.outputs and earlier.get(node.id) is node and known_before.get(node.id) == known.get(node.id):
            matches[node.id] = node
        else:
            changed.append(node)
    owners = {value.name: node for node in earlier.values() if node.id not in matches for value in node.outputs}
    claimed = set()
    for node in changed:
        for value in node.outputs:
            owner = owners.get(value.name)
            if owner is None or owner.op != node.op or owner.id in claimed:
                continue
            if known_before.get(owner.id) == known.get(node.id):
                matches[node.id] = owner
                claimed.add(owner.id)
                break
    return matches


def _match_renamed(
    previous: GraphSnapshot,
    current: GraphSnapshot,
    known_before: Mapping[str, object],
    known: Mapping[str, object],
    matches: dict[str, Node],
) -> None:
    """Adds to ``matches`` nodes whose values have new names, in order, by what is known of them."""
    if matches.keys() >= known.keys():
        return
    claimed = {node.id for node in matches.values()}
    waiting: defaultdict[object, deque[Node]] = defaultdict(deque)
    for node in previous.walk():
        if node.id in known_before and node.id not in claimed:
            waiting[node.op, known_before[node.id]].append(node)
    for node in current.walk():
        if node.id in known and node.id not in matches and (candidates := waiting[node.op, known[node.id]]):
            matches[node.id] = candidates.popleft()


def _silent_by_place(graph: GraphSnapshot) -> dict[_Place, list[Node]]:
    """Returns the nodes without outputs of each block that has any."""
    bodies = [(_TOP, graph.nodes)]
    bodies += [((node.id, number), block.nodes) for node in graph.walk() for number, block in enumerate(node.blocks)]
    silent = {place: [node for node in nodes if not node.outputs] for place, nodes in bodies}
    return {place: nodes for place, nodes in silent.items() if nodes}


def _match_silent_in(
    nodes: tuple[Node, ...], place: _Place, before: dict[_Place, list[Node]], matches: dict[str, Node]
) -> None:
    """Adds to ``matches`` the nodes without outputs of one block and of those inside it, outermost first."""
    silent, silent_before = [node for node in nodes if not node.outputs], before.get(place, [])
    if silent and silent_before:
        pairs = align([_exact_key(node) for node in silent_before], [_exact_key(node) for node in silent])
        pairs = refine(pairs, [_loose_key(node) for node in silent_before], [_loose_key(node) for node in silent])
        matches.update((silent[new].id, silent_before[old]) for old, new in pairs)
    for node in nodes:
        if not node.blocks or (holder := matches.get(node.id)) is None:
            continue
        for number, block in enumerate(node.blocks):
            _match_silent_in(block.nodes, (holder.id, number), before, matches)


def _match_displaced(previous: GraphSnapshot, current: GraphSnapshot, matches: dict[str, Node]) -> None:
    """Adds to ``matches`` nodes without outputs that stood in another block, or defined values, before."""
    if all(node.outputs or node.id in matches for node in current.walk()):
        return
    claimed = {node.id for node in matches.values()}
    waiting: defaultdict[object, deque[Node]] = defaultdict(deque)
    for scope, node in _scoped(previous.nodes):
        if node.id not in claimed and (node.blocks or not node.outputs):
            waiting[scope, _loose_key(node)].append(node)
    for scope, node in _scoped(current.nodes):
        if not node.outputs and node.id not in matches and (candidates := waiting[scope, _loose_key(node)]):
            matches[node.id] = candidates.popleft()


def _scoped(nodes: Iterable[Node], scope: str = "") -> Iterator[tuple[str, Node]]:
    """Yields every node, nested ones right after the node that holds them, with the scope it is in."""
    for node in nodes:
        yield scope, node
        for block in node.blocks:
            yield from _scoped(block.nodes, block.scope or scope)


def _loose_key(node: Node) -> tuple[object, ...]:
    return node.op, node.attributes, node.source


def _exact_key(node: Node) -> tuple[object, ...]:
    """Adds a key that separates the copies that inlining makes of one line: what a node holds or, if nothing, reads."""
    held = tuple(value.name for block in node.blocks for inner in block.nodes for value in inner.outputs)
    return *_loose_key(node), held or node.inputs


def _fresh_ids(used: set[str], nodes: Iterable[tuple[str, Node]]) -> dict[str, str]:
    """Returns ids that are not in ``used`` for new nodes, given with their scopes, by their provisional ids."""
    ids = {}
    numbers: defaultdict[str, Iterator[int]] = defaultdict(count)
    for scope, node in nodes:
        if node.outputs:
            name = node.outputs[0].name
            candidates = (f"{name}'{number}" if number > 1 else name for number in count(1))
        else:
            stem = f"{scope}{node.op}"
            candidates = (f"{stem}#{number}" for number in numbers[stem])
        ids[node.id] = next(candidate for candidate in candidates if candidate not in used)
        used.add(ids[node.id])
    return ids


def _renamed(nodes: tuple[Node, ...], ids: dict[str, str], earlier: dict[str, Node]) -> tuple[Node, ...]:
    """Returns the nodes with final ids, those of ``earlier`` where they are equal."""
    renamed = []
    for node in nodes:
        final = node
        if node.blocks:
            blocks = tuple(replace(block, nodes=_renamed(block.nodes, ids, earlier)) for block in node.blocks)
            final = _with(node, ids[node.id], blocks)
        elif ids[node.id] != node.id:
            final = _with(node, ids[node.id], ())
        before = earlier.get(final.id)
        renamed.append(final if before is None else _shared(final, before))
    return tuple(renamed)


def _with(node: Node, id_: str, blocks: tuple[Block, ...]) -> Node:
    """Returns a node with another id and other blocks, in half the time of `replace`."""
    return Node(
        id_, node.op, node.inputs, node.outputs, node.attributes, blocks, node.module, node.source, node.constant
    )


def _shared(node: Node, before: Node) -> Node:
    """Returns the earlier node object if it is equal, or reuses its equal parts, so that a trace holds them once."""
    if node is before or node == before:
        return before
    inputs = before.inputs if before.inputs == node.inputs else node.inputs
    outputs = before.outputs if before.outputs == node.outputs else node.outputs
    return replace(node, inputs=inputs, outputs=outputs)
