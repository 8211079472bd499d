"""Maps the nodes that each pass after freezing merged, and the attributes that the new constants hold.

Checked against torch 2.13.0 (files under ``torch/csrc/jit/passes/``; behaviour by running it on a CPU):

- ``RemoveDropout`` (remove_dropout.cpp): readers take the dropout's input; its constants stay, unread.
- ``FrozenConcatLinear`` (frozen_concat_linear.cpp, CUDA only, so known by its source): a new linear, and a slice
  of it for each old one; the old weights stay, unread.
- ``FoldFrozenConvBatchnorm`` (frozen_conv_folding.cpp): the same conv, with a new weight and bias.
- ``FoldFrozenConvAddOrSub`` (the same file): the same conv, with a new bias.
- ``FoldFrozenConvMulOrDiv`` (the same file): the same conv, with a new weight and, if it had one, a new bias.
- ``FoldFrozenLinearBatchnorm`` (frozen_linear_folding.cpp): the same linear, with a new weight and bias.
- The passes of ``optimize_for_inference``: see `freeze_engine.backends.torchscript.folds.conversions`.

Constants are recognised by their place among a node's inputs, not by name: torch names the *weight* that a mul
was folded into after the bias (``conv.bias_fused_mul``), and that bias not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Final

from freeze_engine.backends.common.use_def import (
    ADDS,
    BATCH_NORM,
    CONVS,
    DROPOUTS,
    LINEAR,
    MULS,
    UseDef,
    blocks,
    use_def,
)
from freeze_engine.backends.torchscript.folds.conversions import cudnn_fusions, linear_transposes, mkldnn_conversions
from freeze_engine.backends.torchscript.folds.rewrite_context import Arguments, Fold, Rewriting, union
from freeze_engine.trace import GraphSnapshot, Node, Rewrite

#: Paths whose values a weight and a bias hold.
_Parts = tuple[tuple[str, ...], tuple[str, ...]]
_Mix = Callable[[Rewriting, Node, _Parts], _Parts]


_NO_ARGUMENTS: Final[Arguments] = MappingProxyType({})


def rewrites(
    pass_name: str,
    before: GraphSnapshot,
    after: GraphSnapshot,
    origins: Mapping[str, tuple[str, ...]],
    arguments: Arguments = _NO_ARGUMENTS,
) -> tuple[Rewrite, ...]:
    """Returns the rewrites of one pass.

    Args:
        pass_name: the name of torch's C++ function, a key of `PASSES`; any other pass has no rewrites.
        before: the method's graph before the pass.
        after: the graph after it, with the ids of nodes that stayed.
        origins: for the values of ``before``, the paths of the attributes whose values they hold.
        arguments: the same for single arguments of nodes; pooled constants hold the values of several attributes,
            and a node reads one of them.

    Returns:
        One for each fold, in graph order. ``consumed`` lists the merged nodes first, then the constants that fed
        them and that nothing reads any more; ``produced`` the resulting nodes, then the new constants.
    """
    return tuple(fold.rewrite for fold in folds(pass_name, before, after, origins, arguments))


def origins_after(
    pass_name: str,
    before: GraphSnapshot,
    after: GraphSnapshot,
    origins: Mapping[str, tuple[str, ...]],
    arguments: Arguments = _NO_ARGUMENTS,
) -> dict[str, tuple[str, ...]]:
    """Returns the attributes behind the values after a pass.

    Args:
        pass_name: as for `rewrites`.
        before: as for `rewrites`.
        after: as for `rewrites`.
        origins: as for `rewrites`.
        arguments: as for `rewrites`.

    Returns:
        The entries of ``origins`` whose values are still defined, and one for each constant the pass made:
        ``weight_fused_bn`` holds the conv's weight and the batch norm's weight, running variance and, where
        known, eps; ``bias_fused_bn`` these but the conv's weight, and both biases and the running mean. Where the conv
        has no bias and the running mean is zero, the scale has no part in the new bias.
    """
    found = folds(pass_name, before, after, origins, arguments)
    made = {value: paths for fold in found for value, paths in fold.origins.items()}
    defined = use_def(after).definers
    return {value: paths for value, paths in origins.items() if value in defined} | made


def folds(
    pass_name: str,
    before: GraphSnapshot,
    after: GraphSnapshot,
    origins: Mapping[str, tuple[str, ...]],
    arguments: Arguments = _NO_ARGUMENTS,
) -> tuple[Fold, ...]:
    """Returns the rewrites of one pass, each with the origins of the constants that it made.

    Args:
        pass_name: as for `rewrites`.
        before: as for `rewrites`.
        after: as for `rewrites`.
        origins: as for `rewrites`.
        arguments: as for `rewrites`.
    """
    if pass_name not in PASSES or before is after:
        return ()
    return tuple(PASSES[pass_name](Rewriting.of(before, after, origins, arguments)))


def _dropouts(rewriting: Rewriting) -> Iterator[Fold]:
    for node in rewriting.old.nodes.values():
        if node.op in DROPOUTS and rewriting.erased(node):
            yield rewriting.fold("dropout", (node,), (), {})


def _conv_bns(rewriting: Rewriting) -> Iterator[Fold]:
    yield from _into_weights(rewriting, "conv_bn", frozenset(CONVS), frozenset({BATCH_NORM}), _mix_batch_norm)


def _conv_adds(rewriting: Rewriting) -> Iterator[Fold]:
    yield from _into_weights(rewriting, "conv_add", frozenset(CONVS), ADDS, _mix_add)


def _conv_muls(rewriting: Rewriting) -> Iterator[Fold]:
    yield from _into_weights(rewriting, "conv_mul", frozenset(CONVS), MULS, _mix_mul)


def _linear_bns(rewriting: Rewriting) -> Iterator[Fold]:
    yield from _into_weights(rewriting, "linear_bn", frozenset({LINEAR}), frozenset({BATCH_NORM}), _mix_batch_norm)


def _into_weights(
    rewriting: Rewriting, kind: str, producers: frozenset[str], folded_ops: frozenset[str], mix: _Mix
) -> Iterator[Fold]:
    for producer in rewriting.old.nodes.values():
        now = rewriting.new.nodes.get(producer.id)
        if producer.op not in producers or now is None or now.inputs[1:3] == producer.inputs[1:3]:
            continue
        # One pass can fold a whole run at once (x * a * b): no snapshot has the intermediate nodes.
        folded = tuple(_erased_readers(rewriting, producer, folded_ops))
        parts = (rewriting.paths(producer, 1), rewriting.paths(producer, 2))
        for node in folded:
            parts = mix(rewriting, node, parts)
        if len(folded) == 1 and folded[0].op == BATCH_NORM and _shifts_nothing(rewriting, producer, folded[0]):
            parts = parts[0], union(*(rewriting.paths(node, place) for node, place in _shifts(producer, folded[0])))
        made = {
            value: part for value, part in zip(now.inputs[1:3], parts, strict=False) if value not in producer.inputs
        }
        yield rewriting.fold(kind, (producer, *folded), (now,), made)


def _erased_readers(rewriting: Rewriting, node: Node, ops: frozenset[str]) -> Iterator[Node]:
    output = node.outputs[0].name
    for name in dict.fromkeys(reader.node for reader in rewriting.old.readers.get(output, ())):
        reader = rewriting.old.nodes.get(name)
        if reader and reader.op in ops and reader.inputs[0] == output and rewriting.erased(reader):
            yield reader
            yield from _erased_readers(rewriting, reader, ops)


def _mix_batch_norm(rewriting: Rewriting, node: Node, parts: _Parts) -> _Parts:
    # fold_conv_bn.cpp, fold_linear_bn.cpp: with s = weight / sqrt(running_var + eps), the new weight is s * weight
    # and the new bias (bias - running_mean) * s + the batch norm's bias.
    weight, bias, mean, variance, eps = (rewriting.paths(node, place) for place in (1, 2, 3, 4, 7))
    return union(parts[0], weight, variance, eps), union(parts[1], weight, bias, mean, variance, eps)


def _shifts(producer: Node, norm: Node) -> tuple[tuple[Node, int], ...]:
    return (producer, 2), (norm, 2), (norm, 3)


def _shifts_nothing(rewriting: Rewriting, producer: Node, norm: Node) -> bool:
    """Returns whether (bias - running_mean) is zero, as without training: the new bias then ignores the scale."""
    return rewriting.is_zero(producer, 2) and rewriting.is_zero(norm, 3)


def _mix_add(rewriting: Rewriting, node: Node, parts: _Parts) -> _Parts:
    return parts[0], union(parts[1], rewriting.paths(node, 1), rewriting.paths(node, 2))


def _mix_mul(rewriting: Rewriting, node: Node, parts: _Parts) -> _Parts:
    factor = rewriting.paths(node, 1)
    return union(parts[0], factor), union(parts[1], factor)


def _concat_linears(rewriting: Rewriting) -> Iterator[Fold]:
    moved: dict[str, str] = {}  # output of a linear that is gone -> the slice that stands for it
    for old_body, new_body in zip(blocks(rewriting.before), blocks(rewriting.after), strict=False):
        gone = [node for node in old_body if rewriting.erased(node) and _is_frozen_linear(node, rewriting.old)]
        made_here = (node for node in new_body if rewriting.created(node) and _is_frozen_linear(node, rewriting.new))
        for merged in made_here:
            slices = _slices(rewriting, merged)
            fitting = (node for node in gone if _fits(rewriting, node, merged, moved))
            parts = tuple(islice(fitting, len(slices)))
            gone = [node for node in gone if node not in parts]
            moved |= {part.outputs[0].name: cut.outputs[0].name for part, cut in zip(parts, slices, strict=False)}
            made = {merged.inputs[place]: union(*(rewriting.paths(part, place) for part in parts)) for place in (1, 2)}
            yield rewriting.fold("concat_linear", parts, (merged, *slices), made)


def _is_frozen_linear(node: Node, graph: UseDef) -> bool:
    return node.op == LINEAR and graph.is_constant(node.inputs[1])


def _slices(rewriting: Rewriting, merged: Node) -> list[Node]:
    # Each slice is inserted right after the linear, so that they stand in reverse.
    readers = rewriting.new.readers.get(merged.outputs[0].name, ())
    return [rewriting.new.nodes[reader.node] for reader in reversed(readers) if reader.node]


def _fits(rewriting: Rewriting, part: Node, merged: Node, moved: Mapping[str, str]) -> bool:
    # Linears of one input whose weights differ in type are concatenated apart.
    if moved.get(part.inputs[0], part.inputs[0]) != merged.inputs[0]:
        return False
    old, new = rewriting.old.definers[part.inputs[1]].constant, rewriting.new.definers[merged.inputs[1]].constant
    return old is None or new is None or (old.dtype, old.shape[1:]) == (new.dtype, new.shape[1:])


#: The finder of rewrites for each pass, by the name of torch's C++ function.
PASSES: Mapping[str, Callable[[Rewriting], Iterator[Fold]]] = {
    "RemoveDropout": _dropouts,
    "FrozenConcatLinear": _concat_linears,
    "FoldFrozenConvBatchnorm": _conv_bns,
    "FoldFrozenConvAddOrSub": _conv_adds,
    "FoldFrozenConvMulOrDiv": _conv_muls,
    "FoldFrozenLinearBatchnorm": _linear_bns,
    "FuseFrozenConvAddRelu": cudnn_fusions,
    "ConvertFrozenOpsToMKLDNN": mkldnn_conversions,
    "FrozenLinearTranspose": linear_transposes,
}
