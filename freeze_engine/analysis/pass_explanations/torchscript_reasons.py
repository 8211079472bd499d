"""Why passes of TorchScript changed nothing, from the conditions in torch's C++ (torch 2.13)."""

from __future__ import annotations

from freeze_engine.analysis.pass_explanations.entry import Occasion, Reason
from freeze_engine.trace import Node

#: Operators that torch folds into, and the convolutions that it folds nothing into.
CONVS = ("aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::_convolution")
CONV_LIKE = (
    *CONVS,
    *("aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d"),
    *("aten::_convolution_mode", "aten::convolution"),
)
LINEAR = ("aten::linear",)
BATCH_NORM = ("aten::batch_norm",)
ADDS = ("aten::add", "aten::sub", "aten::add_", "aten::sub_")
MULS = ("aten::mul", "aten::div", "aten::mul_", "aten::div_")
DROPOUTS = (
    *("aten::dropout", "aten::dropout_", "aten::feature_dropout", "aten::feature_dropout_"),
    *("aten::alpha_dropout", "aten::alpha_dropout_", "aten::feature_alpha_dropout", "aten::feature_alpha_dropout_"),
)
#: What the peephole pass may simplify, besides arithmetic with a number.
_SIMPLIFIED = (
    *("prim::If", "prim::unchecked_cast", "prim::unchecked_unwrap_optional", "aten::_unwrap_optional"),
    *("aten::__is__", "aten::__isnot__", "aten::t", "aten::_grad_sum_to_size", "aten::len", "prim::Uninitialized"),
)
_OF_LISTS = ("aten::__getitem__", "prim::ListUnpack", "aten::slice", "aten::get", "aten::__contains__")
_TO_NUMBER = (
    *("aten::Int", "aten::Float", "aten::IntImplicit", "aten::FloatImplicit", "aten::ScalarImplicit", "aten::ceil"),
    *("prim::Int", "prim::Float"),
)
_EQUAL = ("aten::eq", "aten::ne")
#: What it answers where torch knows shape, type and device of the tensor.
_ASKING = (
    *("aten::size", "aten::dim", "prim::dtype", "prim::device", "prim::is_cuda", "prim::layout", "aten::expand"),
    *("aten::is_floating_point", "aten::is_complex", "aten::type_as"),
)
_ARITHMETIC = (*ADDS[:2], *MULS[:2], "aten::floordiv")
#: Start of torch's text of a tensor type with its dtype.
_TENSOR_TYPES = ("Float(", "Double(", "Half(", "BFloat16(", "Long(", "Int(", "Bool(", "Short(", "Byte(", "Char(")
TAKES_TUPLES_APART = ("prim::TupleUnpack", "prim::TupleIndex", "prim::TupleSlice")


def not_beside(word: str, ops: tuple[str, ...], neighbour: str, neighbours: tuple[str, ...]) -> Reason:
    """Returns a reason: no node of some operators reads the output of some others directly."""

    def reason(occasion: Occasion) -> str | None:
        found = occasion.graph.readers_of(ops, neighbours)
        return None if found else f"No {word} reads the output of a {neighbour} directly."

    return reason


def only_run_time_values(words: str, ops: tuple[str, ...]) -> Reason:
    """Returns a reason: the neighbour of a convolution combines it with a value that is no constant."""

    def reason(occasion: Occasion) -> str | None:
        beside = occasion.graph.readers_of(ops, CONV_LIKE)
        if not beside or any(occasion.graph.is_constant(_other(node, place)) for node, place in beside):
            return None
        return (
            f"All {words} that read a convolution's output have another operand that the graph computes or receives, "
            "as in a residual connection; torch folds constants only."
        )

    return reason


def _other(node: Node, place: int) -> str:
    return node.inputs[1 - place] if place < 2 <= len(node.inputs) else node.inputs[0]


def not_on(device: str, device_words: str, words: str, *ops: str) -> Reason:
    """Returns a reason: a pass works for one device, and the weights are on others."""

    def reason(occasion: Occasion) -> str | None:
        devices = occasion.graph.weight_devices(*ops)
        if not devices or device in devices:
            return None
        return f"torch does this on {device_words} only; the {words} are on {' and '.join(sorted(devices))}."

    return reason


def no_shared_input(occasion: Occasion) -> str | None:
    """No two linears read one value."""
    read = [node.inputs[0] for node in occasion.graph.of(*LINEAR)]
    if len(read) == 1:
        return "The graph has one linear only."
    return "No two linears read the same input." if len(set(read)) == len(read) else None


def drops_at_run_time(occasion: Occasion) -> str | None:
    """Every dropout runs in training mode."""
    nodes = occasion.graph.of(*DROPOUTS)
    definers = [occasion.graph.definer(node.inputs[2]) for node in nodes if len(node.inputs) > 2]
    training = [
        definer
        for definer in definers
        if definer and definer.op == "prim::Constant" and definer.attribute("value") == "1"
    ]
    return "Every dropout runs with training=True." if nodes and len(training) == len(nodes) else None


def not_single_precision(occasion: Occasion) -> str | None:
    """No constant weight is a float32 tensor."""
    found = set()
    for node in occasion.graph.of("aten::conv2d", "aten::conv3d", "aten::_convolution"):
        definer = occasion.graph.definer(node.inputs[1])
        if definer is None or definer.op != "prim::Constant":
            continue
        if definer.constant is None or definer.constant.dtype == "float32":
            return None
        found.add(definer.constant.dtype)
    return f"MKLDNN takes float32 weights only; these are {' and '.join(sorted(found))}." if found else None


def nothing_to_simplify(occasion: Occasion) -> str | None:
    """Nothing in the graph is of a kind that the peephole pass looks at, or torch does not know what it needs for that.

    The kinds are those of ``peephole.cpp``, ``peephole_non_tensor.cpp``, ``peephole_alias_sensitive.cpp``,
    ``peephole_list_idioms.cpp`` and ``peephole_dict_idioms.cpp`` in ``torch/csrc/jit/passes``.
    """
    graph = occasion.graph
    asked = graph.of(*_SIMPLIFIED, *_ASKING, *_ARITHMETIC, *_OF_LISTS, *_TO_NUMBER, *_EQUAL)
    found = [node for node in asked if _may_be_simplified(occasion, node)]
    if not found:
        return (
            "The graph has nothing that it simplifies: no if, no arithmetic with a plain number, no question for a "
            "size, type or device, no access to a list that the graph constructs."
        )
    if all(node.op in _ASKING and node.inputs and graph.type_of(node.inputs[0]) == "Tensor" for node in found):
        return "torch does not know the shape, type or device of the tensors that the graph asks for theirs."
    return None


def _may_be_simplified(occasion: Occasion, node: Node) -> bool:
    """Returns whether a node of these kinds meets the conditions that the graph alone shows."""
    graph = occasion.graph
    maker = graph.definer(node.inputs[0]) if node.inputs else None
    if node.op in _ARITHMETIC:
        return not _is_of_tensors(occasion, node)
    if node.op in _OF_LISTS:
        return maker is not None and maker.op in ("prim::ListConstruct", "prim::DictConstruct")
    if node.op in _TO_NUMBER:
        return maker is not None and (maker.op == "prim::NumToTensor" or graph.type_of(node.inputs[0]) == "int")
    if node.op in _EQUAL:
        return len(set(node.inputs)) == 1
    return node.op != "aten::expand" or len(node.inputs) < 2 or graph.is_constant(node.inputs[1])


def _is_of_tensors(occasion: Occasion, node: Node) -> bool:
    """Returns whether both operands are tensors: the pass simplifies arithmetic with a plain number or a list only."""
    types = [occasion.graph.type_of(name) for name in node.inputs[:2]]
    return len(types) == 2 and all(kind == "Tensor" or kind.startswith(_TENSOR_TYPES) for kind in types)


def endless_or_unknown_loops(occasion: Occasion) -> str | None:
    """No loop has a constant number of turns."""
    loops = occasion.graph.of("prim::Loop")
    counted = [loop for loop in loops if loop.inputs and occasion.graph.is_constant(loop.inputs[0])]
    if loops and not counted:
        return "No loop has a constant number of turns."
    conditions = [loop.blocks[0].outputs[0] for loop in counted if loop.blocks and loop.blocks[0].outputs]
    if loops and len(conditions) == len(counted) and not any(map(occasion.graph.is_constant, conditions)):
        return "Every loop with a constant limit ends by a condition."
    return None


def no_append_to_new_list(occasion: Occasion) -> str | None:
    """No append follows the construction of its list."""
    appends = occasion.graph.of("aten::append")
    if not appends:
        return "Nothing appends to a list."
    lists = [occasion.graph.definer(node.inputs[0]) for node in appends if node.inputs]
    fresh = any(maker is not None and maker.op == "prim::ListConstruct" for maker in lists)
    return None if fresh else "No append reads a list that the graph itself constructs."


def no_call(occasion: Occasion) -> str | None:
    """No node calls a method or function."""
    if occasion.graph.has("prim::CallMethod", "prim::CallFunction", "prim::CallModule"):
        return None
    return "The graph has no call."


def no_tuple_taken_apart(occasion: Occasion) -> str | None:
    """No node takes apart a tuple that the graph constructs."""
    if not occasion.graph.has(*TAKES_TUPLES_APART):
        return "No node takes a tuple apart."
    found = occasion.graph.readers_of(TAKES_TUPLES_APART, ("prim::TupleConstruct",))
    return None if found else "No node takes apart a tuple that the graph itself constructs."


def nothing_unread(occasion: Occasion) -> str | None:
    """Every result is read."""
    read = occasion.graph.read
    unread = any(
        node.outputs and not any(value.name in read for value in node.outputs) for node in occasion.graph.nodes()
    )
    return None if unread else "Every result is read."


def no_attribute_read(occasion: Occasion) -> str | None:
    """No node reads an attribute."""
    return None if occasion.graph.has("prim::GetAttr") else "No node reads an attribute."


def no_equal_constants(occasion: Occasion) -> str | None:
    """No two constants are equal, as far as their texts and digests tell."""
    seen = set()
    for node in occasion.graph.of("prim::Constant"):
        kept = node.constant
        key = (node.outputs[0].type if node.outputs else "", node.attributes, kept and (kept.digest, kept.shape))
        if key in seen or (kept is not None and kept.digest is None):
            return None
        seen.add(key)
    return "No two constants are equal."
