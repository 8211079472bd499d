"""Finds the writers of each value with torch's alias analysis, and the path from a write back to an attribute.

``recordMutableAttrs`` in ``torch/csrc/jit/passes/freeze_module.cpp`` decides with ``AliasDb(graph,
isFrozen=true)`` on the inlined graph. The same analysis is run here on a copy of that graph, which is made the
way torch makes it (``Method.inlined_graph``). Checked on torch 2.13.0.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from freeze_engine.backends.common.torch_private import private
from freeze_engine.backends.torchscript.graph.live_walk import outputs_of
from freeze_engine.trace import Block, ChainLink, GraphSnapshot, Node

_CONTAINERS = ("ListType", "TupleType", "DictType")
_WAIT = "aten::wait"
_INSTANCE_NORM = "aten::instance_norm"
#: Inputs of a list or dictionary with one item.
_ONE_ITEM = {"prim::ListConstruct": 1, "prim::DictConstruct": 2}
_OWN = ("aten::", "prim::", "prims::", "quantized::", "torchvision::")
_PUTS = frozenset(
    {"aten::_set_item", "aten::append", "aten::extend", "aten::insert", "aten::setdefault", "aten::update"}
)


def written_arguments(live: Any) -> tuple[int, ...]:
    """Returns the positions of the arguments an operator writes, by its schema's alias annotations."""
    return _written_by(live.schema())


@functools.lru_cache(maxsize=1024)
def _written_by(schema: str) -> tuple[int, ...]:
    if not schema or schema == "(no schema)":
        return ()
    arguments = private("parse_schema")(schema).arguments
    return tuple(
        index for index, argument in enumerate(arguments) if argument.alias_info and argument.alias_info.is_write
    )


def is_own(op: str | None) -> bool:
    """Returns whether an operator is torch's, whose schemas tell all that they write."""
    return op is not None and op.startswith(_OWN)


@dataclass(frozen=True, slots=True)
class WildWrite:
    """A write to a value that torch's analysis cannot separate from another.

    Attributes:
        node: the writing node.
        written: name of the value that it writes.
        taken: from the written value to the list, tuple or dictionary that it was taken out of, or is put into.
        put: from the one that the value is put into to the value itself.
    """

    node: Node
    written: str
    taken: tuple[ChainLink, ...]
    put: tuple[ChainLink, ...]


@dataclass(frozen=True, slots=True)
class AssumedWrite:
    """An operator that writes nothing by its schema, and that torch assumes to write.

    Attributes:
        node: ``aten::wait``, an instance norm, or an operator that was registered without alias information.
        way: from the fork, list, tuple, dictionary or argument that a value is given to, to the value.
    """

    node: Node
    way: tuple[ChainLink, ...]

    @property
    def rule(self) -> str:
        """What torch assumes, in words."""
        if self.node.op == _WAIT:
            return "a wait may write all that forks received, and all that lists, tuples and dictionaries hold"
        if self.node.op == _INSTANCE_NORM:
            return f"{self.node.op} writes its running statistics, unless a constant says that it only uses them"
        return f"{self.node.op} writes all that it takes: it is registered without alias information"

    @property
    def is_guess(self) -> bool:
        """Whether another operator may be the one that torch counts."""
        return not is_own(self.node.op)


class WriterSearch:
    """Finds the writers of a value's memory, in one live graph.

    A forked subgraph is searched on its own, as torch analyses it.

    Args:
        graph: an inlined graph, before attributes are propagated.
        snapshot: the same graph with final ids.
    """

    def __init__(self, graph: Any, snapshot: GraphSnapshot) -> None:
        self._database = graph.alias_db(True, False)
        self._values: dict[str, Any] = {}
        self._sources: dict[str, list[str]] = {}
        self._uses: dict[str, list[str]] = {}
        self._makers: dict[str, Node] = {}
        self._writers: list[tuple[Node, tuple[int, ...]]] = []
        self._waits: list[Node] = []
        self._norms: list[Node] = []
        self._foreign: list[Node] = []
        self._writes_tensors: bool | None = None
        self._forks: list[tuple[Node, Block, WriterSearch]] = []
        self._known: dict[str, list[tuple[Node, tuple[ChainLink, ...]]]] = {}
        for value, live in zip(snapshot.inputs, graph.inputs(), strict=True):
            self._values[value.name] = live
        self._enter(snapshot.nodes, graph)

    def _enter(self, nodes: tuple[Node, ...], live_block: Any) -> None:
        for node, live in zip(nodes, live_block.nodes(), strict=True):
            self._note(node, live)
            if not node.blocks:
                continue
            plain = [block for block in node.blocks if not block.scope]
            for block, inner in zip(plain, live.blocks(), strict=True):
                self._note_inputs(node, block, inner)
                self._enter(block.nodes, inner)
            for block in node.blocks:
                if block.scope:
                    body = GraphSnapshot(block.inputs, block.nodes, block.outputs)
                    self._forks.append((node, block, WriterSearch(live.g("Subgraph"), body)))

    def _note(self, node: Node, live: Any) -> None:
        written = written_arguments(live)
        if written:
            self._writers.append((node, written))
        elif node.op == _WAIT:
            self._waits.append(node)
        elif node.op == _INSTANCE_NORM:
            self._norms.append(node)
        elif not is_own(node.op):
            self._foreign.append(node)
        if node.op in _PUTS:
            for name in node.inputs[1:]:
                self._uses.setdefault(name, []).append(node.inputs[0])
        for position, (value, output) in enumerate(zip(node.outputs, outputs_of(live), strict=True)):
            self._values[value.name] = output
            self._makers[value.name] = node
            self._sources[value.name] = [*node.inputs, *_yielded(node, position)]
            for source in self._sources[value.name]:
                self._uses.setdefault(source, []).append(value.name)

    def _note_inputs(self, node: Node, block: Block, live_block: Any) -> None:
        carried = node.inputs[2:] if node.op == "prim::Loop" else ()
        for position, (value, live) in enumerate(zip(block.inputs, live_block.inputs(), strict=True)):
            self._values[value.name] = live
            self._makers[value.name] = node
            # A loop's first input is its counter, the others are its loop-carried values.
            given = [carried[position - 1], block.outputs[position]] if 0 < position <= len(carried) else []
            self._sources[value.name] = given

    def is_written(self, name: str) -> bool:
        """Returns whether torch counts a value itself as written: not what it contains, nor what another list contains.

        Args:
            name: a value of the snapshot, also one inside a fork.
        """
        inside = next((search for _, block, search in self._forks if name.startswith(block.scope)), None)
        if inside is not None:
            return inside.is_written(name)
        value = self._values.get(name)
        return (value is not None and self._database.has_writers(value)) or any(self._writes_in_forks(name))

    def writes(self, name: str) -> list[tuple[Node, tuple[ChainLink, ...]]]:
        """Finds the operators that write memory of the value called ``name``.

        Args:
            name: a value of the snapshot, also one inside a fork.

        Returns:
            The writing nodes in order, each with the chain of aliases from the value it writes back to ``name``. Where
            no chain leads from any of them, all writes that torch cannot separate from it: see `wild_writes`.
        """
        inside = next((search for _, block, search in self._forks if name.startswith(block.scope)), None)
        if inside is not None:
            return inside.writes(name)
        if name not in self._known:
            self._known[name] = self._found_writes(name)
        return self._known[name]

    def _found_writes(self, name: str) -> list[tuple[Node, tuple[ChainLink, ...]]]:
        linked: dict[str, tuple[Node, tuple[ChainLink, ...]]] = {}
        for node, written in self._writes_into(name):
            chain = self._chain(written, name) if self._may_write(written, name) else ()
            if chain:
                linked.setdefault(node.id, (node, chain))
        return [*linked.values(), *self._writes_in_forks(name)]

    def _writes_into(self, name: str) -> Iterator[tuple[Node, str]]:
        """Yields each writer with the name of a value that it writes, where that may be memory of ``name``.

        Every attribute is compared with every write, so the comparison is here and not in a function.
        """
        may_alias, value = self._database.may_contain_alias, self._values.get(name)
        if value is not None and self._is_unwritten(value):
            return
        for node, positions in self._writers:
            for position in positions:
                written = node.inputs[position]
                other = self._values.get(written)
                if written == name or (other is not None and value is not None and may_alias(other, value)):
                    yield node, written

    def _is_unwritten(self, value: Any) -> bool:
        """Returns whether nothing in the graph writes a tensor; ``False`` also means that it is not known.

        A tensor contains nothing, so it may be written by what its memory is shared with (``AliasDb::hasWriters`` and
        ``mayContainAlias``, torch 2.13.0); of other kinds of objects, that are written, parts may be shared.
        """
        if self._writes_tensors is None:
            written = (node.inputs[position] for node, positions in self._writers for position in positions)
            kinds = {self._values[name].type().kind() for name in written if name in self._values}
            self._writes_tensors = kinds <= {"TensorType", *_CONTAINERS}
        is_tensor = self._writes_tensors and value.type().kind() == "TensorType"
        return is_tensor and not self._database.has_writers(value)

    def wild_writes(self, name: str) -> list[WildWrite]:
        """Finds the operators that write a value which torch's analysis cannot separate from ``name``.

        Values that are put into or taken out of a list, a tuple or a dictionary are in one set for each type, the
        wildcard (``torch/csrc/jit/ir/alias_analysis.cpp``, torch 2.13.0): a write to any of these may write all.

        Args:
            name: a value of the snapshot, also one inside a fork.

        Returns:
            The first such write of each line that no chain of aliases leads from.
        """
        inside = next((search for _, block, search in self._forks if name.startswith(block.scope)), None)
        if inside is not None:
            return inside.wild_writes(name)
        put = self._put_into(name)
        found: dict[object, WildWrite] = {}
        for node, positions in self._writers:
            for written in (node.inputs[position] for position in positions):
                if not self._may_write(written, name) or self._chain(written, name):
                    continue
                place = (node.source.file, node.source.line) if node.source else node.id
                found.setdefault(place, WildWrite(node, written, self._taken_from(written), put))
        return list(found.values())

    def one_of_several(self, chain: tuple[ChainLink, ...]) -> ChainLink | None:
        """Returns the list or dictionary on a chain that holds several values, which torch does not tell apart.

        Args:
            chain: as in `writes`.
        """
        for link in chain:
            node = self._makers.get(link.value)
            if node is not None and len(node.inputs) > _ONE_ITEM.get(node.op, len(node.inputs)):
                return link
        return None

    def assumed_writes(self, name: str) -> list[AssumedWrite]:
        """Finds the operators that torch assumes to write a value, though their schemas do not say so.

        ``AliasDb::analyzeWait`` counts everything in the wildcard as written, ``analyzeInstanceNorm`` running
        statistics unless a constant says that they are used, and ``analyzeConservative`` what an operator without alias
        information takes (``torch/csrc/jit/ir/alias_analysis.cpp``, torch 2.13.0).

        Args:
            name: a value of the snapshot, also one inside a fork.

        Returns:
            The first wait and the instance norms, or else the operators that take the value; those are guesses where
            anything else writes it.
        """
        inside = next((search for _, block, search in self._forks if name.startswith(block.scope)), None)
        if inside is not None:
            return inside.assumed_writes(name)
        value = self._values.get(name)
        if value is None or not self._database.has_writers(value):
            return []
        given = self._given_to_fork(name) or self._put_into(name)
        waits = [AssumedWrite(node, given) for node in self._waits if given and self._is_wild(node, name)][:1]
        norms = ((node, self._chain(each, name)) for node in self._norms for each in node.inputs[3:5])
        waits += [AssumedWrite(node, way) for node, way in norms if way and not self._is_false(node.inputs[5])]
        taken = ((node, each) for node in self._foreign for each in node.inputs if self._may_alias(each, name))
        foreign = [AssumedWrite(node, self._chain(each, name)) for node, each in taken]
        # An operator without alias information also puts what it takes into the wildcard, where all may be one tensor.
        return waits or [each for each in foreign if each.way] or foreign[:1]

    def _is_wild(self, wait: Node, name: str) -> bool:
        """Returns whether a value is in the wildcard, as a tensor that comes out of a wait is."""
        outputs = [value.name for value in wait.outputs if "Tensor" in value.type]
        return not outputs or any(self._may_alias(each, name) for each in outputs)

    def _is_false(self, flag: str) -> bool:
        maker = self._makers.get(flag)
        return maker is not None and maker.op == "prim::Constant" and maker.attribute("value") == "0"

    def _given_to_fork(self, name: str) -> tuple[ChainLink, ...]:
        """Follows a value to a fork that receives it."""
        for fork, _, _ in self._forks:
            for given in fork.inputs:
                if self._values[given].type().kind() != "ClassType" and (chain := self._chain(given, name)):
                    return (ChainLink(fork.outputs[0].name, fork.id, fork.op, fork.source), *chain)
        return ()

    def _put_into(self, name: str) -> tuple[ChainLink, ...]:
        """Follows a value to the first list, tuple or dictionary that it is put into; empty if there is none."""
        return self._reached(name, lambda value: self._uses.get(value, ()))[::-1]

    def _taken_from(self, name: str) -> tuple[ChainLink, ...]:
        """Follows a written value to the container that it was taken out of, or else to the one that it is put into."""
        return self._reached(name, lambda value: self._sources.get(value, ())) or self._put_into(name)[::-1]

    def _reached(self, name: str, following: Callable[[str], Iterable[str]]) -> tuple[ChainLink, ...]:
        queue, came_from = deque([name]), {name: name}
        while queue:
            value = queue.popleft()
            if value != name and self._is_container(value):
                return self._links(value, came_from)
            for each in following(value):
                if each not in came_from and self._may_alias(each, name):
                    came_from[each] = value
                    queue.append(each)
        return ()

    def _writes_in_forks(self, name: str) -> Iterator[tuple[Node, tuple[ChainLink, ...]]]:
        """Follows a value into the forks that receive it, or a value that shares its memory."""
        for fork, block, search in self._forks:
            for given, received in zip(fork.inputs, block.inputs, strict=False):
                if not self._may_alias(given, name) or self._values[given].type().kind() == "ClassType":
                    continue  # a fork does its own reads from a module
                outer = self._chain(given, name)
                for node, chain in search.writes(received.name) if outer else ():
                    inner = tuple(link if link.node else _passed(link, fork) for link in chain)
                    yield node, (*inner, *outer)

    def _may_write(self, written: str, name: str) -> bool:
        """Returns whether a write to one value may be one to another: a list and its items are written separately."""
        return self._may_alias(written, name) and self._is_container(written) == self._is_container(name)

    def _is_container(self, name: str) -> bool:
        kind = self._values[name].type()
        if kind.kind() == "OptionalType":
            kind = kind.getElementType()
        return kind.kind() in _CONTAINERS

    def _may_alias(self, one: str, other: str) -> bool:
        if one == other:
            return True
        values = self._values.get(one), self._values.get(other)
        return None not in values and bool(self._database.may_contain_alias(*values))

    def _chain(self, start: str, goal: str) -> tuple[ChainLink, ...]:
        """Walks from the written value through the nodes that made it, along values that may share memory."""
        queue, came_from = deque([start]), {start: start}
        while queue:
            name = queue.popleft()
            if name == goal:
                return self._links(name, came_from)
            for source in self._sources.get(name, ()):
                if source not in came_from and self._may_alias(source, goal):
                    came_from[source] = name
                    queue.append(source)
        return ()

    def _links(self, end: str, came_from: Mapping[str, str]) -> tuple[ChainLink, ...]:
        names = [end]
        while came_from[names[-1]] != names[-1]:
            names.append(came_from[names[-1]])
        return tuple(self._link(name) for name in reversed(names))

    def _link(self, name: str) -> ChainLink:
        node = self._makers.get(name)
        return ChainLink(name, node.id, node.op, node.source) if node else ChainLink(name, "", "", None)


def _passed(link: ChainLink, fork: Node) -> ChainLink:
    """Attributes an input of a forked body to the fork."""
    return ChainLink(link.value, fork.id, fork.op, fork.source)


def _yielded(node: Node, position: int) -> list[str]:
    """Returns the block results that an output of a branch or loop stands for; a loop body's first is its condition."""
    yielded = []
    for block in node.blocks:
        place = position + len(block.outputs) - len(node.outputs)
        if not block.scope and 0 <= place < len(block.outputs):
            yielded.append(block.outputs[place])
    return yielded
