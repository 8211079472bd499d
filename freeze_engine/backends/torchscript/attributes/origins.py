"""Follows the value of each attribute through the passes: the constants that hold it, and their readers.

An attribute's value becomes a constant when attributes are propagated. Later passes merge equal constants,
compute with them, or fold them into others; each of these shows in the difference of two snapshots. Constants of equal
value are one after the first of these passes, so an attribute is followed by the places that read it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from freeze_engine.backends.torchscript.attributes.merged_nodes import merged_nodes
from freeze_engine.backends.torchscript.attributes.reads import NONE, Origins, Paths, Read, Reading
from freeze_engine.backends.torchscript.graph.forks import scope_of_name, unscoped
from freeze_engine.trace import GraphSnapshot, Node, Rewrite

__all__ = ["Origins", "advance", "by_path"]


def by_path(constants: Mapping[str, Set[str]]) -> dict[str, tuple[str, ...]]:
    """Inverts a mapping of `Origins`: returns, by an attribute's path, the names of its constants, sorted."""
    found: dict[str, list[str]] = {}
    for name in sorted(constants):
        for path in constants[name]:
            found.setdefault(path, []).append(name)
    return {path: tuple(names) for path, names in found.items()}


def advance(
    origins: Origins,
    before: GraphSnapshot,
    after: GraphSnapshot,
    made: Mapping[str, tuple[str, ...]],
    rewrites: Sequence[Rewrite] = (),
    read: Callable[[GraphSnapshot], Reading] = Reading,
) -> Origins:
    """Carries origins over one pass.

    Args:
        origins: of ``before``.
        before: the snapshot before the pass.
        after: the snapshot after it.
        made: for constants that a fold made, the paths of the attributes whose values went into them.
        rewrites: of the pass.
        read: returns the reading of a snapshot.

    Returns:
        The origins of ``after``.
    """
    if before is after:
        return origins
    return _Passing(origins, read(before), read(after), made, rewrites).run()


class _Passing:
    """One pass that changed the graph."""

    def __init__(
        self,
        origins: Origins,
        before: Reading,
        after: Reading,
        made: Mapping[str, tuple[str, ...]],
        rewrites: Sequence[Rewrite],
    ) -> None:
        self._origins = origins
        self._before = before
        self._after = after
        self._made = {name: frozenset(paths) for name, paths in made.items() if name not in before.makers}
        self._fixed: frozenset[str] | None = None
        self._values: dict[str, Paths] = {}
        self._twins = _Twins(before, after, rewrites)
        self._merged: defaultdict[str, list[str]] = defaultdict(list)
        for gone, kept in merged_nodes(before, after).items():
            self._merged[kept].append(gone)
        self._gone = self._gone_contents()
        self._changed = {id_ for id_, node in after.nodes.items() if before.nodes.get(id_) is not node}
        self._changed |= {"", *self._merged}
        self._followed = {*before.constants, *after.constants, *self._made, *origins.held, *origins.derived}
        makers = (after.nodes[kept] for kept in self._merged if kept in after.nodes)
        self._followed.update(value.name for node in makers for value in node.outputs)
        self._alike: dict[str, bool] = {}

    def run(self) -> Origins:
        """Returns the origins after it."""
        found: defaultdict[str, dict[Read, Paths]] = defaultdict(dict)
        followed, changed, known = self._followed, self._changed, self._origins.reads
        for read, name in self._after.reads.items():
            if read[0] not in changed:
                if name not in followed and read not in known:
                    continue  # it reads what it read before, and no attribute was behind that
                if self._is_as_before(name):
                    found[name][read] = self._known(read, name)
                    continue
            paths = self._read(read, name)
            for gone in self._merged.get(read[0], ()):
                place = (gone, *read[1:])
                paths = _union((paths, self._known(place, self._before.reads.get(place, ""))))
            found[name][read] = paths
        values = {name: self._value(name, found.get(name, {})) for name in self._after.constants}
        return Origins(
            {name: paths.held for name, paths in values.items() if paths.held},
            {name: paths.derived - paths.held for name, paths in values.items() if paths.derived - paths.held},
            {
                read: paths
                for name, places in found.items()
                for read, paths in places.items()
                if paths is not (value := values.get(name, NONE)) and paths != value
            },
        )

    def _is_as_before(self, name: str) -> bool:
        """Returns whether a value is what it was, for a place that reads it as before."""
        if name not in self._alike:
            maker = self._after.makers.get(name)
            is_own = name not in self._made and (maker is None or maker.id not in self._merged)
            self._alike[name] = is_own and (name in self._before.constants) == (name in self._after.constants)
        return self._alike[name]

    def _value(self, name: str, places: Mapping[Read, Paths]) -> Paths:
        return _union(places.values()) if places else self._unread(name)

    def _read(self, read: Read, name: str) -> Paths:
        """Returns what one place of the graph after reads."""
        if name in self._made:
            return Paths(derived=self._made[name])
        before = self._twins.same_place(read)
        if before is None:
            return self._new_read(read, name) if name in self._after.constants else NONE
        old = self._before.reads[before]
        maker = self._after.makers.get(name)
        unmerged = maker is None or maker.id not in self._merged
        if old == name and unmerged and (name in self._before.constants) == (name in self._after.constants):
            return self._known(before, name)
        return self._turned(before, old, name)

    def _turned(self, read: Read, old: str, new: str) -> Paths:
        """Returns the origins for a place that read another value before."""
        known = self._origins.reads.get(read)
        if new not in self._after.constants:
            # When nodes are merged, each reader keeps the attributes that its own value was computed from.
            return known or (self._before.made_of(old, self._origins) if self._is_fixed(old) else NONE)
        if old in self._before.constants:
            paths = self._known(read, old)
            return paths if self._same_content(old, new) else paths.computed()
        return known.computed() if known else self._before.made_of(old, self._origins, new)

    def _is_fixed(self, name: str) -> bool:
        if self._fixed is None:
            self._fixed = self._before.fixed()
        return name in self._fixed

    def _new_read(self, read: Read, name: str) -> Paths:
        """Returns the origins for a new node: those of the nodes that it was copied from or made of."""
        for others in self._twins.of(read):
            found = [each for each in others if self._same_constant(self._before.reads[each], name)]
            if found:
                return _union(self._known(each, self._before.reads[each]) for each in found)
        return self._unread(name)

    def _known(self, read: Read, name: str) -> Paths:
        """Returns what one place of the graph before reads."""
        known = self._origins.reads.get(read)
        if known is not None:
            return known
        if name not in self._values:
            self._values[name] = self._origins.value(name)
        return self._values[name]

    def _unread(self, name: str) -> Paths:
        """Returns the origins of a constant that nothing known reads."""
        if name in self._before.constants:
            return self._origins.value(name)
        if name in self._made:
            return Paths(derived=self._made[name])
        return self._copied(name) or Paths(held=self._gone.get(self._content(name), frozenset()))

    def _copied(self, name: str) -> Paths:
        """An unrolled loop copies the forks in it, constants too; a copy has its original's name in another scope."""
        own = unscoped(name)
        originals = (each for each in self._origins.held if each != unscoped(each) == own != name)
        found = next((each for each in originals if self._same_content(each, name)), None)
        return NONE if found is None else Paths(held=self._origins.held[found])

    def _gone_contents(self) -> dict[object, frozenset[str]]:
        """Maps the content of each removed constant to its attributes; a user's pass may have added an equal one."""
        found: dict[object, frozenset[str]] = {}
        for name in self._origins.held.keys() - self._after.constants.keys():
            node = self._before.constants.get(name)
            if node is not None and node.constant is not None and node.constant.digest:
                content = self._before.content(name)
                found[content] = found.get(content, frozenset()) | self._origins.held[name]
        return found

    def _content(self, name: str) -> object:
        node = self._after.constants[name]
        return self._after.content(name) if node.constant is not None and node.constant.digest else None

    def _same_constant(self, old: str, new: str) -> bool:
        return old == new or (old in self._before.constants and self._same_content(old, new))

    def _same_content(self, old: str, new: str) -> bool:
        one, other = self._before.content(old), self._after.content(new)
        if one is None or other is None:
            return False
        kept = self._before.constants[old].constant, self._after.constants[new].constant
        if all(constant is not None and not constant.digest for constant in kept):
            return one[:2] == other[:2]
        return one == other


class _Twins:
    """Finds, for a read of a node, the same read in the node's earlier form, its sources, or its originals."""

    def __init__(self, before: Reading, after: Reading, rewrites: Sequence[Rewrite]) -> None:
        self._before = before
        self._after = after
        self._consumed = {
            node: rewrite.consumed for rewrite in rewrites for node in rewrite.produced if node not in before.nodes
        }
        self._alike: defaultdict[tuple[object, ...], list[str]] | None = None

    def same_place(self, read: Read) -> Read | None:
        """Returns the place in the graph before, ``None`` where its node is new."""
        old, new = self._before.nodes.get(read[0]), self._after.nodes.get(read[0])
        if read not in self._before.reads or (old and new and len(old.inputs) != len(new.inputs)):
            return None
        return read

    def of(self, read: Read) -> Iterator[Sequence[Read]]:
        """Yields places in the graph before, the likeliest first."""
        node = self._after.nodes.get(read[0])
        if node is None:
            return
        merged = (self._before.nodes[each] for each in self._consumed.get(node.id, ()) if each in self._before.nodes)
        yield [(each.id, -1, place) for each in merged for place in range(len(each.inputs))]
        places = [(each, *read[1:]) for each in self._like(node)]
        found = [place for place in places if place in self._before.reads]
        own = scope_of_name(node.id)  # two forks may run the same lines on modules of equal values
        yield [place for place in found if scope_of_name(place[0]) == own]
        yield found

    def _like(self, node: Node) -> Sequence[str]:
        """Returns the ids of the nodes of the graph before that are of the same line and operator."""
        if self._alike is None:
            self._alike = defaultdict(list)
            for each in self._before.nodes.values():
                self._alike[_likeness(each)].append(each.id)
        return self._alike.get(_likeness(node), ())


def _likeness(node: Node) -> tuple[object, ...]:
    return (node.op, node.module, node.source, len(node.inputs))


def _union(found: Iterable[Paths]) -> Paths:
    first, *others = {id(paths): paths for paths in found}.values()
    if not others:
        return first
    held, derived = set(first.held), set(first.derived)
    for paths in others:
        held |= paths.held
        derived |= paths.derived
    return Paths(frozenset(held), frozenset(derived))
