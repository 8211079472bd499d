"""The graphs before and after one pass, prepared for recognising rewrites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from freeze_engine.backends.common.use_def import UseDef, use_def
from freeze_engine.trace import GraphSnapshot, Node, Rewrite

#: Paths of attributes, by the id of a node and the position of its argument.
Arguments = Mapping[tuple[str, int], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Fold:
    """A rewrite with the origins of its constants.

    Attributes:
        rewrite: the rewrite.
        origins: for each constant it made, the paths of the attributes whose values went into it.
    """

    rewrite: Rewrite
    origins: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Rewriting:
    """One pass over one method.

    Attributes:
        before: the graph before it.
        after: the graph after it.
        old: definitions and uses of ``before``.
        new: definitions and uses of ``after``.
        origins: for the values of ``before``, the paths of the attributes whose values they hold.
        arguments: the same for single arguments, if equal constants of other attributes are pooled with theirs.
    """

    before: GraphSnapshot
    after: GraphSnapshot
    old: UseDef
    new: UseDef
    origins: Mapping[str, tuple[str, ...]]
    arguments: Arguments

    @classmethod
    def of(
        cls,
        before: GraphSnapshot,
        after: GraphSnapshot,
        origins: Mapping[str, tuple[str, ...]],
        arguments: Arguments,
    ) -> Rewriting:
        """Returns the rewriting of ``before`` into ``after``."""
        return cls(before, after, use_def(before), use_def(after), origins, arguments)

    def erased(self, node: Node) -> bool:
        """Returns whether a node of ``before`` is gone."""
        return node.id not in self.new.nodes

    def created(self, node: Node) -> bool:
        """Returns whether a node of ``after`` is new."""
        return node.id not in self.old.nodes

    def changed(self, node: Node) -> bool:
        """Returns whether a node of either graph is not in the other as it is."""
        return self.old.nodes.get(node.id) != self.new.nodes.get(node.id)

    def paths(self, node: Node, place: int) -> tuple[str, ...]:
        """Returns the paths of the attributes that one argument of a node holds; ``None`` holds none.

        Args:
            node: a node of ``before``.
            place: position of the argument; past the last one there is none.
        """
        if place >= len(node.inputs) or self.old.is_none(node.inputs[place]):
            return ()
        known = self.arguments.get((node.id, place))
        return tuple(self.origins.get(node.inputs[place], ())) if known is None else known

    def is_zero(self, node: Node, place: int) -> bool:
        """Returns whether an argument of a node of ``before`` is None, or a constant of zeros."""
        if place >= len(node.inputs) or self.old.is_none(node.inputs[place]):
            return True
        constant = self.old.constant(node.inputs[place])
        return constant is not None and constant.minimum == constant.maximum == 0.0 and not constant.nonfinite

    def fold(
        self, kind: str, consumed: Iterable[Node], produced: Iterable[Node], made: Mapping[str, tuple[str, ...]]
    ) -> Fold:
        """Returns a fold, completed by the constants on both sides.

        Args:
            kind: as in `Rewrite.kind`.
            consumed: the merged nodes of ``before``, constants left out.
            produced: the resulting nodes of ``after``, constants left out.
            made: origins of the tensor constants that it made.
        """
        merged, result = tuple(consumed), tuple(produced)
        return Fold(
            Rewrite(
                kind=kind,
                consumed=(*(node.id for node in merged), *self._unread_constants(merged)),
                produced=(*(node.id for node in result), *self._new_constants(result)),
                attributes=union(*made.values()),
                modules=union(tuple(node.module for node in merged if node.module)),
            ),
            {value: paths for value, paths in made.items() if paths},
        )

    def _unread_constants(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        # Not every pass erases the constants that lose their readers (those before the folding loop do not).
        names = union(*(node.inputs for node in nodes))
        unread = (name for name in names if self.old.is_constant(name) and not self.new.readers.get(name))
        return tuple(self.old.definers[name].id for name in unread)

    def _new_constants(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        names = union(*(node.inputs for node in nodes))
        definers = (self.new.definers[name] for name in names if name in self.new.definers)
        return tuple(node.id for node in definers if "Constant" in node.op and self.created(node))


def union(*names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the names of all tuples, each once, in the order they first appear."""
    return tuple(dict.fromkeys(name for group in names for name in group))
