"""Recognises the rewrites of ``optimize_for_inference``, whose passes replace nodes by new ones.

Checked against torch 2.13.0, ``torch/csrc/jit/passes/``, by running it on a CPU; the cuDNN pass, which needs a
GPU build, by its source only.

- ``FuseFrozenConvAddRelu`` (frozen_conv_add_relu_fusion_cuda.cpp): conv2d or conv3d (+ add) + relu becomes
  ``aten::cudnn_convolution_relu`` or ``…_add_relu``.
- ``ConvertFrozenOpsToMKLDNN`` (frozen_ops_to_mkldnn.cpp): groups that begin at a conv2d or conv3d with a float32
  weight on the CPU, and the linears and elementwise operators they feed, compute on MKLDNN tensors. Weights become
  ``prim::ConstantMKLDNNTensor`` called ``…_mkldnn``, ``aten::to_mkldnn`` and ``aten::to_dense`` stand at the
  borders, adds and muls get a ``prim::BroadcastMKLDNNTensors``. Nodes move and get new names, and so may constants.
- Both first turn ``aten::_convolution`` into ``aten::conv2d`` (graph_rewrite_helper.cpp), and the second takes
  ``relu_`` and its like back to ``relu``, in the whole graph.
- ``FrozenLinearTranspose`` (frozen_linear_transpose.cpp): a linear with constant weight becomes ``aten::matmul``
  with the transposed weight, and an ``aten::add`` where it has a bias. The old weight stays, unread.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator

from freeze_engine.backends.common.use_def import CONVS, LINEAR, Reader
from freeze_engine.backends.torchscript.folds.rewrite_context import Fold, Rewriting
from freeze_engine.trace import Node

_BORDERS = frozenset({"aten::to_mkldnn", "aten::to_dense"})
_BROADCAST = "prim::BroadcastMKLDNNTensors"
_MKLDNN_CONSTANT = "prim::ConstantMKLDNNTensor"
#: Operators that a pass replaces, by what they compute; an in-place operator and its functional form are one.
_FAMILIES = {
    "aten::_convolution": "conv",
    "aten::conv1d": "conv",
    "aten::conv2d": "conv",
    "aten::conv3d": "conv",
    "prim::mkldnn_convolution": "conv",
    "aten::relu6": "hardtanh",
    "aten::hardtanh": "hardtanh",
    "prim::MKLDNNHardTanh": "hardtanh",
    "aten::clamp": "clamp",
    "prim::MKLDNNClamp": "clamp",
    "aten::hardswish": "hardswish",
    "prim::MKLDNNHardSwish": "hardswish",
    "aten::hardsigmoid": "hardsigmoid",
    "prim::MKLDNNHardSigmoid": "hardsigmoid",
    "aten::layer_norm": "layer_norm",
    "prim::MKLDNNLayerNorm": "layer_norm",
    "aten::mul": "aten::mul",
    "prim::MKLDNNScalarMul": "aten::mul",
}
#: The number of first inputs that identify a node; the rest may become attributes or go.
_OPERANDS = {"conv": 3, "hardtanh": 1, "clamp": 1}
_COMMUTATIVE = frozenset({"aten::add", "aten::mul"})
_CONSTANT_SUFFIX = re.compile(r"(\.\d+)?(_mkldnn)?(\.\d+)?$")

_Key = tuple[object, ...]


def mkldnn_conversions(rewriting: Rewriting) -> Iterator[Fold]:
    """Yields one fold for each node that ``ConvertFrozenOpsToMKLDNN`` replaced.

    Args:
        rewriting: the pass.

    Yields:
        ``mkldnn`` for a node that now computes on MKLDNN tensors, ``aten_conv`` for an ``aten::_convolution``
        and ``functional`` for an in-place operator that only got another form.
    """
    in_group: set[str] = set()
    for old, new in _twins(rewriting):
        border = _border(rewriting, new)
        inputs = (rewriting.new.definers.get(name) for name in new.inputs)
        if border or any(node and (node.op == _MKLDNN_CONSTANT or node.id in in_group) for node in inputs):
            in_group.add(new.id)
            yield rewriting.fold("mkldnn", (old,), (new, *border), _same_places(rewriting, old, new))
        elif old.op != new.op:
            yield rewriting.fold("aten_conv" if old.op == "aten::_convolution" else "functional", (old,), (new,), {})


def cudnn_fusions(rewriting: Rewriting) -> Iterator[Fold]:
    """Yields one fold for each node that ``FuseFrozenConvAddRelu`` made.

    Args:
        rewriting: the pass.

    Yields:
        ``conv_relu`` and ``conv_add_relu``; ``aten_conv`` for an ``aten::_convolution`` that only got another form.
    """
    fused = {"aten::cudnn_convolution_relu": "conv_relu", "aten::cudnn_convolution_add_relu": "conv_add_relu"}
    made: dict[str, deque[Node]] = defaultdict(deque)  # by the weight's name, which stays
    for node in rewriting.new.nodes.values():
        if node.op in fused and rewriting.created(node):
            made[node.inputs[1]].append(node)
    for conv in (node for node in rewriting.old.nodes.values() if node.op in CONVS and rewriting.erased(node)):
        chain = _conv_relu_chain(rewriting, conv)
        if chain and made[conv.inputs[1]]:
            new = made[conv.inputs[1]].popleft()
            yield rewriting.fold(fused[new.op], chain, (new,), {})
    for old, new in _twins(rewriting):
        if old.op == "aten::_convolution":
            yield rewriting.fold("aten_conv", (old,), (new,), {})


def linear_transposes(rewriting: Rewriting) -> Iterator[Fold]:
    """Yields one ``linear_transpose`` for each linear that ``FrozenLinearTranspose`` took apart.

    Args:
        rewriting: the pass.

    Yields:
        The folds, in graph order: the new nodes stand where the linears stood.
    """
    linears = [node for node in rewriting.old.nodes.values() if node.op == LINEAR and rewriting.erased(node)]
    products = [node for node in rewriting.new.nodes.values() if node.op == "aten::matmul" and rewriting.created(node)]
    for linear, product in zip(linears, products, strict=False):
        readers = (rewriting.new.nodes.get(reader.node) for reader in _readers(rewriting, product))
        bias = linear.inputs[2]
        sums = () if rewriting.old.is_none(bias) else (node for node in readers if node and bias in node.inputs)
        made = {product.inputs[1]: rewriting.paths(linear, 1)}
        yield rewriting.fold("linear_transpose", (linear,), (product, *sums), made)


def _readers(rewriting: Rewriting, node: Node) -> tuple[Reader, ...]:
    return rewriting.new.readers.get(node.outputs[0].name, ())


def _conv_relu_chain(rewriting: Rewriting, conv: Node) -> tuple[Node, ...]:
    chain = [conv]
    for ops in (("aten::add", "aten::add_"), ("aten::relu", "aten::relu_")):
        readers = rewriting.old.readers.get(chain[-1].outputs[0].name, ())
        found = (rewriting.old.nodes.get(reader.node) for reader in readers)
        chain.extend(node for node in found if node and node.op in ops and rewriting.erased(node))
    return tuple(chain) if chain[-1].op.startswith("aten::relu") else ()


def _twins(rewriting: Rewriting) -> Iterator[tuple[Node, Node]]:
    """Pairs the nodes that a pass replaced: the same computation on the same, already paired, operands."""
    candidates: dict[_Key, deque[Node]] = defaultdict(deque)
    for node in rewriting.new.nodes.values():
        if node.outputs and rewriting.changed(node) and node.op not in _BORDERS and node.op != _BROADCAST:
            candidates[_key(node, [_new_operand(rewriting, name) for name in node.inputs])].append(node)
    renamed: dict[str, str] = {}
    for node in rewriting.old.nodes.values():
        if not node.outputs or node.op == "prim::Constant" or not rewriting.changed(node):
            continue
        twins = candidates[_key(node, [_old_operand(rewriting, name, renamed) for name in node.inputs])]
        if twins:
            twin = twins.popleft()
            renamed[node.outputs[0].name] = twin.outputs[0].name
            yield node, twin


def _key(node: Node, operands: list[_Key]) -> _Key:
    op = node.op.rstrip("_")
    family = _FAMILIES.get(op, op)
    told_by = operands[: _OPERANDS.get(family)]
    if family in _COMMUTATIVE:
        told_by[:2] = sorted(told_by[:2], key=str)
    return (family, *told_by)


def _old_operand(rewriting: Rewriting, name: str, renamed: dict[str, str]) -> _Key:
    definer = rewriting.old.definers.get(name)
    if definer and definer.op == "prim::Constant":
        return _constant_key(definer)
    return ("value", renamed.get(name, name))


def _new_operand(rewriting: Rewriting, name: str) -> _Key:
    definer = rewriting.new.definers.get(name)
    if definer is None:
        return ("value", name)
    if definer.op in _BORDERS:
        return _new_operand(rewriting, definer.inputs[0])
    if definer.op == _BROADCAST:
        place = [value.name for value in definer.outputs].index(name)
        return _new_operand(rewriting, definer.inputs[place])
    if definer.op in ("prim::Constant", _MKLDNN_CONSTANT):
        return _constant_key(definer)
    return ("value", name)


def _constant_key(node: Node) -> _Key:
    """Identifies a constant by what survives a copy into a group, where torch numbers the names anew."""
    if node.constant is None:
        return ("constant", node.outputs[0].type, node.attribute("value"))
    name = _CONSTANT_SUFFIX.sub("", node.outputs[0].name)
    return ("constant", node.constant.shape, "" if name.isdigit() else name)


def _border(rewriting: Rewriting, new: Node) -> tuple[Node, ...]:
    """Returns the conversions around a node that computes on MKLDNN tensors."""
    feeding = (rewriting.new.definers.get(name) for name in new.inputs)
    reading = (rewriting.new.nodes.get(reader.node) for reader in _readers(rewriting, new))
    around = [node for node in feeding if node and node.op in ("aten::to_mkldnn", _BROADCAST)]
    around += [node for node in reading if node and node.op == "aten::to_dense"]
    return tuple(dict.fromkeys(node for node in around if rewriting.created(node)))


def _same_places(rewriting: Rewriting, old: Node, new: Node) -> dict[str, tuple[str, ...]]:
    definers = [rewriting.new.definers.get(name) for name in new.inputs]
    made = (place for place, node in enumerate(definers) if node and node.op == _MKLDNN_CONSTANT)
    return {new.inputs[place]: rewriting.paths(old, place) for place in made}
