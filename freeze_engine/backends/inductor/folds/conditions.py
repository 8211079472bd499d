"""The conditions under which Inductor's binary folding folds while freezing, in the order torch tests them.

Read from ``torch/_inductor/fx_passes/binary_folding.py`` and checked by running torch 2.13.0: for every reason, a
change that removes it makes the fold happen (``tests/torch/test_inductor_near_misses.py``).

A batch norm in eval mode is decomposed into sub, mul, mul and add before it gets here, and these are folded one by one.

The pattern: ``unsupported_overload``: add, sub, mul or div without a rounding mode; ``operand_order``: the conv is the
    first operand; ``several_uses``: nothing else reads the conv (``_users=1``). A batch norm that normalises by the
    batch's own statistics fails here, since it reads the conv for them: ``training_statistics``, or
    ``no_running_stats`` where it has no others.
``_check_conv_and_broadcast_op``: ``operand_not_constant``: the weight and the other operand are constants or numbers
    (and the bias, in torch 2.15 only); ``shared_weights``: nothing else reads the weight; ``dtype``: both are of
    floating-point types, a plain integer included, and the operand's is no wider, unless a half-precision conv's result
    is cast back in the end (``mark_mixed_dtype``, torch PR #106576); ``shape``: the operand is a single number or one
    for each output channel.
``_check_linear_and_broadcast_op``: ``disabled``: ``enable_linear_binary_folding`` is on; then the same, the bias being
    a constant as well.
The loop in ``freezing_patterns.py``: ``rounds_exhausted``: there are four rounds, and a batch norm takes all of them.

Not tested by torch, and so folded wrong: ``alpha`` of add and sub; whether the conv is transposed, in which case the
weight's first dimension counts the input channels. It is ``unsupported_conv`` where that keeps the shapes from fitting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from freeze_engine.analysis.name_texts import listed
from freeze_engine.backends.common.fold_obstacle import Obstacle
from freeze_engine.backends.common.use_def import Reader, UseDef
from freeze_engine.trace import Constant, Node

CONV: Final = "aten.convolution.default"
ADDMM: Final = "aten.addmm.default"
LINEARS: Final = frozenset({ADDMM, "aten.mm.default"})
RESHAPE: Final = "aten.reshape.default"
CAST: Final = "prims.convert_element_type.default"
BINARIES: Final[Mapping[str, str]] = {
    "aten.add.Tensor": "add",
    "aten.sub.Tensor": "add",
    "aten.mul.Tensor": "mul",
    "aten.div.Tensor": "mul",
}
#: Operators that look like one of them and are not.
OVERLOADS: Final[Mapping[str, str]] = {"aten.div.Tensor_mode": "mul"}
_SIGNS: Final = {"add": "+", "sub": "-", "mul": "*"}
_HALF: Final = ("BFloat16", "Half")
_WIDTH: Final = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
_STATISTICS: Final = "aten.var_mean"


@dataclass(frozen=True, slots=True)
class FoldCandidate:
    """A binary operation that reads the output of a conv or linear.

    Attributes:
        node: the operation.
        computation: the conv or linear.
        path: names of the values between them: the output, and that of a reshape after it.
        place: whether it is the first (0) or the second (1) operand.
        operand: name of the other operand, ``None`` for a number.
        number: text of the number, empty for a tensor.
        is_batch_norm: whether the operation is a batch norm's first.
        is_refolded: whether the weight was folded in this round, and so will be a constant in the next.
    """

    node: Node
    computation: Node
    path: tuple[str, ...]
    place: int
    operand: str | None
    number: str
    is_batch_norm: bool
    is_refolded: bool = False

    @property
    def is_conv(self) -> bool:
        """Returns whether the computation is a convolution."""
        return self.computation.op == CONV

    @property
    def weight(self) -> str:
        """Name of the value that the computation multiplies by."""
        return self.computation.inputs[2 if self.computation.op == ADDMM else 1]


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about a compile besides its graphs.

    Attributes:
        attributes: paths of the attributes that are inputs of the graph, by the inputs' names.
        batch_norms: names of the values that come from a batch norm.
        folds_linears: whether ``enable_linear_binary_folding`` was on.
    """

    attributes: Mapping[str, str]
    batch_norms: frozenset[str]
    folds_linears: bool


def obstacles(graph: UseDef, candidate: FoldCandidate, known: Known) -> Iterator[Obstacle]:
    """Yields the obstacles to folding an operation into the conv or linear before it."""
    found = list(_tested(graph, candidate, known))
    # Whether a conv's bias is a constant is tested by torch 2.15, and not by 2.13, which folds then.
    yield from found or _conv_bias(graph, candidate, known)


def _tested(graph: UseDef, candidate: FoldCandidate, known: Known) -> Iterator[Obstacle]:
    """Yields the obstacles that all examined versions of torch test."""
    form, others = list(_form(candidate)), list(_operands(graph, candidate, known))
    yield from form
    if not candidate.is_conv and not known.folds_linears:
        # By hand, a constant can be merged where torch could fold it.
        where = "weight and bias" if BINARIES.get(candidate.node.op) == "mul" else "bias"
        by_hand = "" if form or others else f", or merge the constant into the linear's {where} before freezing"
        yield Obstacle(
            "disabled",
            "Inductor folds into a linear only where torch._inductor.config.enable_linear_binary_folding is on.",
            f"Set it (TORCHINDUCTOR_ENABLE_LINEAR_BINARY_FOLDING=1){by_hand}.",
        )
    yield from others


def _operands(graph: UseDef, candidate: FoldCandidate, known: Known) -> Iterator[Obstacle]:
    """Yields the obstacles in the values that the operation and the conv or linear read, and in other readers."""
    yield from _readers(graph, candidate)
    weight = candidate.weight
    yield from _not_constant(graph, candidate, weight, known)
    yield from _shared(graph, weight, candidate)
    yield from _number(candidate)
    kept = _constant(graph, weight)
    other = _constant(graph, candidate.operand)
    if kept is not None and other is not None:
        yield from _dtype(graph, candidate, kept, other)
        yield from _shape(candidate, kept, other)


def single_reader(graph: UseDef, value: str) -> bool:
    """Returns whether one node reads a value; fx counts a node once, however often it reads it."""
    return len({reader.node for reader in graph.readers.get(value, ())}) == 1


def _form(candidate: FoldCandidate) -> Iterator[Obstacle]:
    node = candidate.node
    if node.op in OVERLOADS:
        yield Obstacle("unsupported_overload", f"torch folds no division with a rounding mode ({node.op}).")
    if candidate.place == 0:
        return
    sign = _SIGNS[node.op.split(".")[1]]
    yield Obstacle(
        "operand_order",
        f"The output of {candidate.computation.op} is the second operand of {node.op}, and torch folds the first only.",
        "Write c - y as y * -1.0 + c." if sign == "-" else f"Write c {sign} y as y {sign} c.",
    )


def _readers(graph: UseDef, candidate: FoldCandidate) -> Iterator[Obstacle]:
    others: dict[str, Reader] = {}
    last = candidate.node.id
    for value in reversed(candidate.path):
        others |= {reader.node: reader for reader in graph.readers[value] if reader.node != last}
        last = graph.definers[value].id
    if not others:
        return
    statistics = next((reader for reader in others.values() if reader.op.startswith(_STATISTICS)), None)
    if statistics is not None and candidate.is_batch_norm:
        yield _statistics(graph, statistics)
        return
    labels = listed((reader.label for reader in others.values()), joint=" and ")
    yield Obstacle(
        "several_uses",
        f"The output of {candidate.computation.op} (%{candidate.computation.id}) is also read by {labels}.",
        f"Let {candidate.node.op} be its only reader: the fold changes what the other would see.",
    )


def _statistics(graph: UseDef, reader: Reader) -> Obstacle:
    detail = f"The batch norm reads the output twice, as {reader.label} takes the statistics of the batch itself: "
    if _is_written_back(graph, reader.node):
        return Obstacle(
            "training_statistics",
            f"{detail}it runs with training=True.",
            "Call eval() on the batch norm before freezing, or pass training=False to the functional form.",
        )
    return Obstacle(
        "no_running_stats",
        f"{detail}it has no running_mean and running_var.",
        "Create the batch norm with track_running_stats=True and let it see data before freezing.",
    )


def _is_written_back(graph: UseDef, node: str) -> bool:
    """Returns whether a node's result is written into an input, as running statistics are."""
    waiting, seen = [node], {node}
    while waiting:
        current = graph.nodes[waiting.pop()]
        if current.op.startswith("aten.copy_"):
            return True
        found = {reader.node for value in current.outputs for reader in graph.readers.get(value.name, ())}
        waiting += [each for each in found - seen if each]
        seen |= found
    return False


def _conv_bias(graph: UseDef, candidate: FoldCandidate, known: Known) -> Iterator[Obstacle]:
    conv = candidate.computation
    if candidate.is_conv and not candidate.is_refolded and len(conv.inputs) > 2:
        yield from _computed(graph, [(conv, "bias", conv.inputs[2])], known)


def _not_constant(graph: UseDef, candidate: FoldCandidate, weight: str, known: Known) -> Iterator[Obstacle]:
    node, computation = candidate.node, candidate.computation
    roles = [] if candidate.is_refolded else [(computation, "weight", weight)]
    if computation.op == ADDMM and not candidate.is_refolded:
        roles.append((computation, "bias", computation.inputs[0]))
    if candidate.operand is not None:
        roles.append((node, "the other operand", candidate.operand))
    yield from _computed(graph, roles, known)


def _computed(graph: UseDef, roles: Sequence[tuple[Node, str, str]], known: Known) -> Iterator[Obstacle]:
    """Yields one obstacle for each operand that is no constant: its reader, its role there, and its name."""
    for owner, role, value in roles:
        definer = graph.definers.get(value)
        if definer is not None and definer.op == "get_attr":
            continue
        held = next((name for name in (value, *(definer.inputs if definer else ())) if name in known.attributes), None)
        yield Obstacle(
            "operand_not_constant",
            f"Of {owner.op} (%{owner.id}), {role} is {_source(value, definer, held, known)}, not a constant.",
            f"See why {known.attributes[held]} was preserved; inlined, it would not be in the way."
            if held is not None
            else "If it does not depend on the model's inputs, compute it beforehand and keep it as a buffer.",
        )


def _source(value: str, definer: Node | None, held: str | None, known: Known) -> str:
    attribute = f"the attribute {known.attributes[held]}" if held is not None else ""
    if definer is None:
        return f"{attribute}, still an input" if attribute else f"an input of the graph (%{value})"
    return f"computed by {definer.op}" + (f" from {attribute}" if attribute else "")


def _shared(graph: UseDef, weight: str, candidate: FoldCandidate) -> Iterator[Obstacle]:
    if single_reader(graph, weight):
        return
    computation = candidate.computation.id
    labels = sorted({reader.label for reader in graph.readers[weight] if reader.node != computation})
    yield Obstacle(
        "shared_weights",
        f"The weight %{weight} is also read by {listed(labels, joint=' and ')}.",
        "Give each its own copy of the weight.",
    )


def _number(candidate: FoldCandidate) -> Iterator[Obstacle]:
    if candidate.operand is None and not any(sign in candidate.number for sign in ".en"):
        yield Obstacle(
            "dtype",
            f"The other operand is the integer {candidate.number}; torch folds floating-point numbers only.",
            # torch/_decomp/decompositions.py, torch 2.13
            f"Write {candidate.number}.0. What torch itself writes so, in hardsigmoid and hardswish, never folds.",
        )


def _dtype(graph: UseDef, candidate: FoldCandidate, weight: Constant, other: Constant) -> Iterator[Obstacle]:
    for kept, role in ((weight, "weight"), (other, "other operand")):
        if "float" not in kept.dtype:
            yield Obstacle("dtype", f"The {role} is {kept.dtype}; torch folds floating-point values only.")
            return
    mixed_half = weight.dtype != other.dtype and _WIDTH.get(weight.dtype) == _WIDTH.get(other.dtype) == 2
    wider = _WIDTH.get(other.dtype, 0) > _WIDTH.get(weight.dtype, 0) or mixed_half
    if wider and not _is_cast_back(graph, candidate):
        yield Obstacle(
            "dtype",
            f"The other operand is {other.dtype}, and the weight {weight.dtype}: the result would be of another type.",
            f"Keep the operand in {weight.dtype}, or cast the result to it right after.",
        )


def _is_cast_back(graph: UseDef, candidate: FoldCandidate) -> bool:
    """Returns whether torch's ``mark_mixed_dtype`` allows the operand a wider type."""
    if _type(candidate.computation) not in _HALF or _type(candidate.node) != "Float":
        return False
    node = candidate.node
    while node.op in BINARIES:
        value = node.outputs[0].name
        if not single_reader(graph, value):
            return False
        reader = graph.readers[value][0].node
        if not reader:
            return False
        node = graph.nodes[reader]
    return node.op == CAST


def _type(node: Node) -> str:
    return node.outputs[0].type.partition("(")[0]


def _shape(candidate: FoldCandidate, weight: Constant, other: Constant) -> Iterator[Obstacle]:
    if not candidate.is_conv:
        yield from _linear_shape(candidate, weight, other)
        return
    channels, dimensions = weight.shape[0], len(weight.shape)
    if _fits(other.shape, channels, dimensions):
        return
    transposed = candidate.computation.attribute("transposed") == "True"
    if transposed and _fits(other.shape, weight.shape[1], dimensions):
        yield Obstacle(
            "unsupported_conv",
            f"torch holds the operand's shape {other.shape} against the weight's first dimension, which counts the "
            f"input channels ({channels}) of a transposed conv.",
            "Before freezing, fold by hand: torch.nn.utils.fusion.fuse_conv_bn_eval(conv, bn, transpose=True)."
            if candidate.is_batch_norm
            else "Merge the constant into the conv's weight and bias before freezing.",
        )
        return
    yield Obstacle(
        "shape",
        f"The operand has the shape {other.shape}; beside a weight of the shape {weight.shape} torch folds a single "
        f"number or the shape {(channels, *(1,) * (dimensions - 2))}.",
        "A constant for each output channel can be folded, others not.",
    )


def _fits(shape: tuple[int, ...], channels: int, dimensions: int) -> bool:
    """``_op_not_broadcasting_with_conv``: all 1 but for the dimension of the channels."""
    if len(shape) > dimensions:
        return False
    place = 0 if len(shape) == dimensions - 1 else 1
    return all(size == 1 or (index == place and size == channels) for index, size in enumerate(shape))


def _linear_shape(candidate: FoldCandidate, weight: Constant, other: Constant) -> Iterator[Obstacle]:
    features = weight.shape[1]
    longest = 3 if len(candidate.path) > 1 and candidate.place == 0 else 2
    ones, last = other.shape[:-1], other.shape[-1:]
    if 1 <= len(other.shape) <= longest and all(size == 1 for size in ones) and last[0] in (1, features):
        return
    yield Obstacle(
        "shape",
        f"The operand has the shape {other.shape}; torch folds a single number, or one for each of the {features} "
        "output features.",
    )


def _constant(graph: UseDef, value: str | None) -> Constant | None:
    definer = graph.definers.get(value) if value is not None else None
    return definer.constant if definer is not None else None
