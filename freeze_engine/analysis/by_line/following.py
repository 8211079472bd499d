"""Follows lines of source through the steps of a method: the nodes that do their work, what passes did to these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from freeze_engine.analysis.by_line.outcome import Effect
from freeze_engine.analysis.graph_diff import changed_fields
from freeze_engine.analysis.node_provenance import Replaced
from freeze_engine.trace import Node, Step

Place = tuple[str, int]
"""A file and the number of a line in it."""

Places = frozenset[Place]

CONSTANT_OPS: Final = ("prim::Constant", "get_attr")
READ_OP: Final = "prim::GetAttr"
_CALL_OPS: Final = ("prim::CallMethod", "prim::CallFunction")
_QUIET: Final = frozenset((*CONSTANT_OPS, READ_OP))
#: A rewrite that makes more operators does not tell which of them does whose work: those with a place keep to it.
_MANY: Final = 8
#: Differences of a node that change what it does; other names, types that become known and other inputs do not.
_TELLING: Final = ("op", "attributes", "constant", "blocks")


@dataclass(frozen=True, slots=True)
class Touch:
    """The effect of a step on one node.

    Attributes:
        step, what, kind: as in `LineEffect`.
        node: id of the node.
        places: the lines whose work the node did.
    """

    step: int
    what: Effect
    kind: str
    node: str
    places: Places


@dataclass(slots=True)
class Following:
    """The nodes that do the work of lines, step by step.

    Attributes:
        work: by id of a node, the lines whose work it does now; in the end those of the last graph.
        first: the same in the first graph.
        claims: ``(node, step, lines)``, whenever a node comes to lines.
        touches: what steps did to nodes with lines.
        operators: for each line, how many operators of it there were at first.
        held: by id of a constant, the lines whose operators were computed into it.
        parts: by id of a node, the lines of each operator whose work it does: several after a fold.
    """

    work: dict[str, Places] = field(default_factory=dict)
    first: dict[str, Places] = field(default_factory=dict)
    claims: list[tuple[str, int, Places]] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)
    operators: dict[Place, int] = field(default_factory=dict)
    held: dict[str, Places] = field(default_factory=dict)
    parts: dict[str, frozenset[Places]] = field(default_factory=dict)


def follow(steps: Sequence[Step], calls: Mapping[str, Places]) -> Following:
    """Follows lines through the steps of a method.

    Args:
        steps: of one method, in order.
        calls: by id of a node, the places of the calls that lead to it.
    """
    following = Following()
    before: Step | None = None
    for step in steps:
        if before is None:
            _begin(following, step, calls)
        elif step.graph is not before.graph:
            _Pass(following, before, step, calls).run()
        before = step
    return following


def is_operator(node: Node) -> bool:
    """Returns whether a node computes something: constants and reads of attributes do not."""
    return node.op not in _QUIET


def _begin(following: Following, step: Step, calls: Mapping[str, Places]) -> None:
    nodes = tuple(step.graph.walk())
    for node in nodes:
        _claim(following, step.index, node.id, _own(node, calls))
    _place_reads(following, step, nodes)
    following.first = dict(following.work)
    if not any(node.op in _CALL_OPS for node in nodes):
        _count(following, nodes)


def _place_reads(following: Following, step: Step, nodes: Sequence[Node]) -> None:
    """Gives constants and reads of attributes the lines of the nodes that read them.

    torch names no place of most of them; of equal constants it keeps one, for lines far apart.
    """
    readers: dict[str, list[str]] = {}
    for node in nodes:
        for name in node.inputs:
            readers.setdefault(name, []).append(node.id)
    for node in reversed(nodes):
        if not is_operator(node):
            found = (each for value in node.outputs for each in readers.get(value.name, ()))
            own = following.held.get(node.id, frozenset())
            if node.op == READ_OP and node.source is not None:
                own |= {(node.source.file, node.source.line)}
            places = own.union(*(following.work.get(each, frozenset()) for each in found))
            if places and places != following.work.get(node.id):
                following.work[node.id] = places
                following.claims.append((node.id, step.index, places))


def _own(node: Node, calls: Mapping[str, Places]) -> Places:
    """Returns the places that the node itself is known to come from."""
    called = calls.get(node.id, frozenset())
    return called | {(node.source.file, node.source.line)} if node.source is not None else called


def _claim(following: Following, step: int, node: str, places: Places, parts: frozenset[Places] = frozenset()) -> None:
    known = following.work.get(node, frozenset())
    if places:
        following.parts[node] = following.parts.get(node, frozenset()) | (parts or {places})
    if node not in following.work or not places <= known:
        following.work[node] = known | places
        if places:
            following.claims.append((node, step, known | places))


def _count(following: Following, nodes: Iterable[Node]) -> None:
    """Counts the operators of lines that had none before this graph."""
    counts: dict[Place, int] = {}
    for node in nodes:
        if is_operator(node) and node.op not in _CALL_OPS:
            for place in following.work[node.id]:
                counts[place] = counts.get(place, 0) + 1
    for place, count in counts.items():
        following.operators.setdefault(place, count)


class _Pass:
    """One step that changed the graph."""

    def __init__(self, following: Following, before: Step, step: Step, calls: Mapping[str, Places]) -> None:
        self._following = following
        self._step = step
        self._calls = calls
        self._before = before.graph
        self._old = {node.id: node for node in before.graph.walk()}
        self._new = {node.id: node for node in step.graph.walk()}
        self._had = dict(following.work)
        self._had_parts = dict(following.parts)
        self._explained: set[str] = set()

    def run(self) -> None:
        called = [node for name, node in self._old.items() if name not in self._new and node.op in _CALL_OPS]
        if called:
            # The nodes of a callee have call paths of their own; names differ before and after.
            for node in called:
                self._touch("inlined", node.id)
            self._explained |= self._old.keys() | self._new.keys()
        self._rewrites()
        self._vanished()
        self._arrived()
        self._changed()
        work = self._following.work
        for name in work.keys() - self._new.keys():
            del work[name]
        nodes = tuple(self._new.values())
        _place_reads(self._following, self._step, nodes)
        _count(self._following, nodes)

    def _rewrites(self) -> None:
        for rewrite in self._step.rewrites:
            what: Effect = "computed" if rewrite.kind == "constant" else "rewritten"
            kind = "" if what == "computed" else rewrite.kind
            consumed = [name for name in rewrite.consumed if name in self._old]
            operators = [name for name in consumed if is_operator(self._old[name])]
            for name in operators or consumed:
                self._touch(what, name, kind)
            made = [name for name in rewrite.produced if is_operator(self._new[name])]
            for name in rewrite.produced:
                if len(made) <= _MANY or not _own(self._new[name], self._calls):
                    self._hand_on(operators or rewrite.consumed, name)
            self._explained.update(rewrite.consumed, rewrite.produced)

    def _vanished(self) -> None:
        gone = [name for name in self._old if name not in self._new and name not in self._explained]
        if not gone:
            return
        replaced = Replaced(self._before, self._step.graph)
        for name in gone:
            node, heirs = self._old[name], replaced.by(name)
            fresh = [heir for heir in heirs if heir not in self._old]
            equal = [heir for heir in heirs if self._new[heir].op == node.op and heir in self._old]
            for heir in (fresh or equal) if is_operator(node) else ():
                self._hand_on((name,), heir)
            self._explained.update(fresh)
            self._explain(node, fresh, bool(equal))

    def _hand_on(self, gone: Sequence[str], heir: str) -> None:
        """Gives a node of the graph after the step the work of nodes of the graph before."""
        places = frozenset[Place]().union(*(self._had.get(name, frozenset()) for name in gone))
        parts = frozenset[Places]().union(*(self._had_parts.get(name, frozenset()) for name in gone))
        _claim(self._following, self._step.index, heir, places, parts)
        if not is_operator(self._new[heir]):
            self._following.held[heir] = self._following.held.get(heir, frozenset()) | places

    def _explain(self, node: Node, fresh: Sequence[str], is_merged: bool) -> None:
        """Notes how a node went that no rewrite names."""
        is_constant = bool(fresh) and all(self._new[heir].op in CONSTANT_OPS for heir in fresh)
        if node.op == READ_OP:
            if is_constant:
                self._touch("frozen", node.id)
        elif not is_operator(node):
            return
        elif fresh:
            self._touch("computed" if is_constant else "replaced", node.id)
        else:
            self._touch("merged" if is_merged else "removed", node.id)

    def _arrived(self) -> None:
        for name, node in self._new.items():
            if name in self._old:
                continue
            own = _own(node, self._calls)
            _claim(self._following, self._step.index, name, own)
            if own and is_operator(node) and name not in self._explained:
                self._following.touches.append(Touch(self._step.index, "added", "", name, own))

    def _changed(self) -> None:
        for name, node in self._new.items():
            old = self._old.get(name)
            if old is None or old is node or name in self._explained or not self._had.get(name):
                continue
            fields = [each for each in changed_fields(old, node) if each in _TELLING]
            if fields:
                self._touch("changed", name, ", ".join(fields))

    def _touch(self, what: Effect, name: str, kind: str = "") -> None:
        places = self._had.get(name)
        if places:
            self._following.touches.append(Touch(self._step.index, what, kind, name, places))


def claimed(following: Following) -> Iterator[tuple[str, int, Places]]:
    """Yields the claims in order, the last of several that one step makes for a node."""
    yield from {(node, step): (node, step, places) for node, step, places in following.claims}.values()
