"""What the recognition of rewrites works on: one pass's graph before and after it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from freeze_engine.backends.torchscript.use_def import UseDef, use_def
from freeze_engine.trace import GraphSnapshot, Node, Rewrite

#: How freezing names an attribute's constant (freeze_module.cpp, torch 2.13), until a fold makes another of it.
_ATTRIBUTE_CONSTANT = re.compile(r"(?:.*/)?self\.(?!.*(?:_fused_|_mkldnn))")


@dataclass(frozen=True, slots=True)
class Fold:
    """A rewrite and what it made.

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
    """

    before: GraphSnapshot
    after: GraphSnapshot
    old: UseDef
    new: UseDef
    origins: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, before: GraphSnapshot, after: GraphSnapshot, origins: Mapping[str, tuple[str, ...]]) -> Rewriting:
        """Returns the rewriting of ``before`` into ``after``."""
        return cls(before, after, use_def(before), use_def(after), origins)

    def erased(self, node: Node) -> bool:
        """Whether a node of ``before`` is gone."""
        return node.id not in self.new.nodes

    def created(self, node: Node) -> bool:
        """Whether a node of ``after`` is new."""
        return node.id not in self.old.nodes

    def changed(self, node: Node) -> bool:
        """Whether a node of either graph is not in the other as it is."""
        return self.old.nodes.get(node.id) != self.new.nodes.get(node.id)

    def paths(self, node: Node, place: int) -> tuple[str, ...]:
        """Returns the paths of the attributes that one argument of a node holds.

        Equal constants are pooled before the folds, so that one can hold the values of attributes all over the
        module; those of the node's own module are then the ones that are meant, where there are any. What a fold
        made holds the values of all its attributes at once.

        Args:
            node: a node of ``before``.
            place: position of the argument; past the last one there is none.
        """
        if place >= len(node.inputs):
            return ()
        name = node.inputs[place]
        paths = tuple(self.origins.get(name, ()))
        if not node.module or not _ATTRIBUTE_CONSTANT.match(name):
            return paths
        own = tuple(path for path in paths if path.rpartition(".")[0] == node.module)
        return own or paths

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
        # Not every pass erases the constants it leaves without a reader (those before the folding loop do not).
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
