"""Follows the value of each attribute through the passes: which constants of a graph hold it.

An attribute's value becomes a constant when attributes are propagated. Later passes merge equal constants,
compute with them, or fold them into others; each of these shows in the difference of two snapshots.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from freeze_engine.backends.torchscript.subgraphs import unscoped
from freeze_engine.trace import GraphSnapshot, Node

CONSTANT_OPS = ("prim::Constant", "prim::ConstantMKLDNNTensor")


@dataclass(frozen=True, slots=True)
class Origins:
    """Where attribute values stand in one snapshot.

    Attributes:
        held: constants that are an attribute's value, by value name; several attributes where equal constants were
            merged.
        derived: constants that were computed from attribute values, by value name.
    """

    held: Mapping[str, frozenset[str]] = field(default_factory=dict)
    derived: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def attributes(self, name: str) -> tuple[str, ...]:
        """Returns the paths of the attributes whose values are in the constant called ``name``, sorted."""
        return tuple(sorted(self.held.get(name, frozenset()) | self.derived.get(name, frozenset())))

    def table(self) -> dict[str, tuple[str, ...]]:
        """Returns all of it as attribute paths by value name."""
        return {name: self.attributes(name) for name in sorted({*self.held, *self.derived})}


def by_path(constants: Mapping[str, Set[str]]) -> dict[str, tuple[str, ...]]:
    """Turns a mapping of `Origins` round: returns, by an attribute's path, the names of its constants, sorted."""
    found: dict[str, list[str]] = {}
    for name in sorted(constants):
        for path in constants[name]:
            found.setdefault(path, []).append(name)
    return {path: tuple(names) for path, names in found.items()}


def advance(
    origins: Origins, before: GraphSnapshot, after: GraphSnapshot, made: Mapping[str, tuple[str, ...]]
) -> Origins:
    """Carries origins over one pass.

    Args:
        origins: of ``before``.
        before: the snapshot before the pass.
        after: the snapshot after it.
        made: for constants that a fold made, the paths of the attributes whose values went into them.

    Returns:
        The origins of ``after``.
    """
    if before is after:
        return origins
    constants = _constants(after)
    held: dict[str, set[str]] = {name: set(paths) for name, paths in origins.held.items() if name in constants}
    derived: dict[str, set[str]] = {name: set(paths) for name, paths in origins.derived.items() if name in constants}
    makers = _makers(before)
    _follow_copies(origins, constants, makers, held)
    for name in made.keys() & constants.keys() - makers.keys():
        derived.setdefault(name, set()).update(made[name])
    for old, new in _replacements(before, after):
        if new not in constants or new in made:
            continue
        if old in origins.held and _same_content(makers[old], constants[new]):
            if old not in constants:
                held.setdefault(new, set()).update(origins.held[old])
        else:
            derived.setdefault(new, set()).update(_ancestry(old, makers, origins) - held.get(new, set()))
    unknown = constants.keys() - makers.keys() - made.keys() - held.keys() - derived.keys()
    _follow_contents(origins, constants, makers, unknown, held)
    return Origins(_frozen(held), _frozen(derived))


def _follow_copies(
    origins: Origins, constants: Mapping[str, Node], makers: Mapping[str, Node], held: dict[str, set[str]]
) -> None:
    """An unrolled loop copies the forks in it, constants and all; a copy has its original's name in another scope."""
    originals = {own: name for name in origins.held if (own := unscoped(name)) != name}
    for name in constants.keys() - makers.keys():
        own = unscoped(name)
        original = originals.get(own) if own != name else None
        if original is not None and _same_content(makers[original], constants[name]):
            held.setdefault(name, set()).update(origins.held[original])


def _follow_contents(
    origins: Origins,
    constants: Mapping[str, Node],
    makers: Mapping[str, Node],
    unknown: Set[str],
    held: dict[str, set[str]],
) -> None:
    """What is bit by bit a constant that went holds its value, whoever put it there: the user's own pass may have."""
    gone: dict[object, set[str]] = {}
    for name in origins.held.keys() - constants.keys():
        gone.setdefault(_content(makers[name]), set()).update(origins.held[name])
    for name in unknown:
        content = _content(constants[name])
        if content is not None and content in gone:
            held.setdefault(name, set()).update(gone[content])


def _content(node: Node) -> tuple[object, ...] | None:
    """Returns what tells a tensor constant by value, ``None`` where that is not known."""
    constant = node.constant
    return (constant.shape, constant.dtype, constant.digest) if constant and constant.digest else None


def _constants(graph: GraphSnapshot) -> dict[str, Node]:
    return {node.outputs[0].name: node for node in graph.walk() if node.op in CONSTANT_OPS and node.outputs}


def _replacements(before: GraphSnapshot, after: GraphSnapshot) -> set[tuple[str, str]]:
    """Returns ``(old, new)`` names of values where a node, or the graph's return, reads another one than before.

    Where the old value's node is gone and one of the same operator gives the new value, the two were merged, and so
    were what they read.
    """
    earlier = {node.id: node for node in before.walk()}
    pairs = set(zip(before.outputs, after.outputs, strict=False))
    for node in after.walk():
        old = earlier.get(node.id)
        if old is None or old is node:
            continue
        if len(old.inputs) == len(node.inputs):
            pairs.update(zip(old.inputs, node.inputs, strict=True))
        for block, other in zip(old.blocks, node.blocks, strict=False):
            pairs.update(zip(block.outputs, other.outputs, strict=False))
    replaced = {(old, new) for old, new in pairs if old != new}
    return replaced | _merged(replaced, _makers(before), _makers(after))


def _merged(
    replaced: set[tuple[str, str]], earlier: Mapping[str, Node], later: Mapping[str, Node]
) -> set[tuple[str, str]]:
    """Returns the pairs above those given: what merged nodes read."""
    found: set[tuple[str, str]] = set()
    pending = list(replaced)
    while pending:
        old, new = pending.pop()
        one, other = earlier.get(old), later.get(new)
        if old in later or one is None or other is None or one.op != other.op or len(one.inputs) != len(other.inputs):
            continue
        above = set(zip(one.inputs, other.inputs, strict=True))
        pending += (pair for pair in above - found - replaced if pair[0] != pair[1])
        found |= above
    return {(old, new) for old, new in found if old != new}


def _makers(graph: GraphSnapshot) -> dict[str, Node]:
    return {value.name: node for node in graph.walk() for value in node.outputs}


def _same_content(one: Node, other: Node) -> bool:
    if one.op not in CONSTANT_OPS:
        return False
    if one.constant is not None and other.constant is not None:
        if one.constant.digest and other.constant.digest:
            return one.constant.digest == other.constant.digest
        return (one.constant.shape, one.constant.dtype) == (other.constant.shape, other.constant.dtype)
    return one.outputs[0].type == other.outputs[0].type and one.attributes == other.attributes


def _ancestry(name: str, makers: Mapping[str, Node], origins: Origins) -> set[str]:
    """Returns the attributes a value was computed from, as far as it was computed from constants."""
    found: set[str] = set()
    pending, seen = [name], set[str]()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        found.update(origins.attributes(current))
        if current in makers:
            pending.extend(makers[current].inputs)
    return found


def _frozen(sets: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(paths) for name, paths in sets.items() if paths}
