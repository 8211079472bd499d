"""Finds the nodes that a step folded or fused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from freeze_engine.backends.inductor.attributes.origins import Folded
from freeze_engine.backends.inductor.capture.raw import RawMatch
from freeze_engine.trace import GraphSnapshot, Node, Rewrite

_COMPUTATIONS = {"convolution": "conv", "addmm": "linear", "mm": "linear"}
_BINARY = {"add": "add", "sub": "add", "mul": "mul", "div": "mul"}  # as TorchScript's folds are named
_FOLD = "binary_folding_init.folded_op"
_PACKING = "_register_weight_pack_pass."


class Names:
    """The ids of the nodes of two snapshots, by the names fx gave them.

    Args:
        before: the snapshot before a step.
        after: the snapshot after it.
    """

    def __init__(self, before: GraphSnapshot, after: GraphSnapshot) -> None:
        self.before = _by_name(before)
        self.after = _by_name(after)

    def gone(self, name: str) -> bool:
        """Returns whether a node of the graph before is gone, or changed."""
        return name in self.before and self.before[name] is not self.after.get(name)

    def new(self, name: str) -> bool:
        """Returns whether a node of the graph after is new, or changed."""
        return name in self.after and self.after[name] is not self.before.get(name)


def step_rewrites(
    names: Names, matches: Iterable[RawMatch], folded: Iterable[Folded], paths: Mapping[int, tuple[str, ...]]
) -> tuple[Rewrite, ...]:
    """Returns the rewrites of one step.

    Args:
        names: of the graph before and after it.
        matches: the patterns that matched, in order.
        folded: the nodes that became constants.
        paths: of the attributes that an input of the graph is, by its position.
    """
    found = list(_folds(names, folded, paths))
    found += _fused(names, matches)
    claimed = {node for rewrite in found for node in rewrite.consumed}
    found += _retargeted(names, claimed)
    return tuple(found)


def _folds(names: Names, folded: Iterable[Folded], paths: Mapping[int, tuple[str, ...]]) -> Iterator[Rewrite]:
    for fold in folded:
        consumed = [names.before[name] for name in fold.cone if names.gone(name)]
        produced = names.after[fold.name]
        attributes = sorted({path for position in fold.origin.inputs for path in paths.get(position, ())})
        yield Rewrite("constant", _ids(consumed), (produced.id,), tuple(attributes), _modules(consumed))


def _fused(names: Names, matches: Iterable[RawMatch]) -> Iterator[Rewrite]:
    """Yields one rewrite for each match with an effect; a match on the nodes of an earlier one continues that one."""
    merged: list[tuple[str, dict[str, None], dict[str, None]]] = []
    for match in matches:
        consumed, created = dict.fromkeys(match.consumed), dict.fromkeys(match.created)
        kind = rewrite_kind(match)
        for earlier in [each for each in merged if not each[2].keys().isdisjoint(consumed)]:
            merged.remove(earlier)
            consumed, created = {**earlier[1], **consumed}, {**earlier[2], **created}
        merged.append((kind, consumed, created))
    for kind, consumed, created in merged:
        before = [names.before[name] for name in consumed if names.gone(name)]
        after = [names.after[name] for name in created if names.new(name)]
        if before:
            yield Rewrite(kind, _ids(before), _ids(after), (), _modules(before))


def _retargeted(names: Names, claimed: set[str]) -> Iterator[Rewrite]:
    """Yields the nodes whose operator changed, such as a reshape instead of a view."""
    for name, node in names.before.items():
        after = names.after.get(name)
        if after is None or after.op == node.op or node.id in claimed or "get_attr" in (after.op, node.op):
            continue
        yield Rewrite(f"{_short(node.op)}_to_{_short(after.op)}", (node.id,), (after.id,), (), _modules([node]))


def rewrite_kind(match: RawMatch) -> str:
    """Names the effect of a match.

    Returns:
        For a fold of torch's binary folding what TorchScript's folds are called (``conv_mul``, ``linear_add``),
        for a packed weight ``pack_convolution`` and the like, otherwise the pattern's own name.
    """
    if match.pattern.startswith(_PACKING):
        return f"pack_{match.pattern.removeprefix(_PACKING)}"
    if match.pattern != _FOLD:
        return match.pattern
    short = [_short(operator) for operator in match.operators]
    computation = next((_COMPUTATIONS[name] for name in short if name in _COMPUTATIONS), "conv")
    binary = next((_BINARY[name] for name in short if name in _BINARY), "add")
    return f"{computation}_{binary}"


def _short(operator: str) -> str:
    parts = operator.split(".")
    return parts[1] if len(parts) > 2 else parts[-1]


def _by_name(graph: GraphSnapshot) -> dict[str, Node]:
    return {node.outputs[0].name: node for node in graph.walk() if node.outputs}


def _ids(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node.id for node in nodes))


def _modules(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node.module for node in nodes if node.module))
