"""Rewrites and near misses of graphs that take a GPU, or a torch gone wrong, to get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from freeze_engine.backends.torchscript.folds.near_misses import near_misses
from freeze_engine.backends.torchscript.folds.rewrites import origins_after, rewrites
from freeze_engine.trace import Block, Constant, GraphSnapshot, NearMiss, Node, Rewrite, Value
from tests.graphs import constant, node

GEOMETRY = (constant("pair", "[1, 1]", "int[]"), constant("none", "", "NoneType"), constant("one", "1"))
PARALLEL = {f"{name}.{part}": (f"{name}.{part}",) for name in ("q", "k", "v", "wide") for part in ("weight", "bias")}


def weight(name: str, *shape: int, dtype: str = "float32", device: str = "cuda:0") -> Node:
    kept = Constant(shape, dtype, device, 0)
    return constant(name, "<Tensor>", "Tensor", constant=kept)


def parameters(name: str, rows: int, columns: int, **fields: str) -> tuple[Node, Node]:
    return weight(f"{name}.weight", rows, columns, **fields), weight(f"{name}.bias", rows, **fields)


def linear(name: str, x: str) -> Node:
    return node(name, "aten::linear", f"{x} {name}.weight {name}.bias", module=name)


def graph(*nodes: Node, outputs: str) -> GraphSnapshot:
    return GraphSnapshot((Value("self", "Net"), Value("x", "Tensor")), (*GEOMETRY, *nodes), tuple(outputs.split()))


def cut(name: str, merged: str, start: str, end: str) -> Node:
    return node(name, "aten::slice", f"{merged} minus {start} {end} one")


#: q, k and v of one input, v in another type; then two linears that read q and k's sum.
_PARTS = (
    *(*parameters("q", 2, 8), *parameters("k", 3, 8), *parameters("v", 2, 8, dtype="float16")),
    *(*parameters("wide", 4, 8, dtype="float16"),),
)
BEFORE = graph(*_PARTS, linear("q", "x"), linear("k", "x"), linear("v", "x"), linear("wide", "x"), outputs="q k v wide")
#: torch inserts each slice right after the new linear: the last comes first.
AFTER = graph(
    *_PARTS,
    *(
        constant(name, text)
        for name, text in (("minus", "-1"), ("zero", "0"), ("two", "2"), ("five", "5"), ("six", "6"))
    ),
    *parameters("10", 5, 8),
    node("12", "aten::linear", "x 10.weight 10.bias"),
    cut("k'", "12", "two", "five"),
    cut("q'", "12", "zero", "two"),
    *parameters("20", 6, 8, dtype="float16"),
    node("22", "aten::linear", "x 20.weight 20.bias"),
    cut("wide'", "22", "two", "six"),
    cut("v'", "22", "zero", "two"),
    outputs="q' k' v' wide'",
)


def test_parallel_linears_are_concatenated_by_type() -> None:
    assert rewrites("FrozenConcatLinear", BEFORE, AFTER, PARALLEL) == (
        Rewrite(
            "concat_linear",
            consumed=("q", "k", "q.weight", "q.bias", "k.weight", "k.bias"),
            produced=("12", "q'", "k'", "10.weight", "10.bias", "minus", "zero", "two", "five"),
            attributes=("q.weight", "k.weight", "q.bias", "k.bias"),
            modules=("q", "k"),
        ),
        Rewrite(
            "concat_linear",
            consumed=("v", "wide", "v.weight", "v.bias", "wide.weight", "wide.bias"),
            produced=("22", "v'", "wide'", "20.weight", "20.bias", "minus", "zero", "two", "six"),
            attributes=("v.weight", "wide.weight", "v.bias", "wide.bias"),
            modules=("v", "wide"),
        ),
    )


def test_concatenated_linears_keep_their_old_constants_until_something_erases_them() -> None:
    assert origins_after("FrozenConcatLinear", BEFORE, AFTER, PARALLEL) == {
        **PARALLEL,
        "10.weight": ("q.weight", "k.weight"),
        "10.bias": ("q.bias", "k.bias"),
        "20.weight": ("v.weight", "wide.weight"),
        "20.bias": ("v.bias", "wide.bias"),
    }


def test_a_concatenation_of_what_another_one_made() -> None:
    old = (*parameters("q", 2, 8), *parameters("k", 2, 8), *parameters("a", 3, 2), *parameters("b", 3, 2))
    before = graph(*old, linear("q", "x"), linear("k", "x"), linear("a", "q"), linear("b", "q"), outputs="k a b")
    after = graph(
        *(*old, constant("minus", "-1"), *parameters("10", 4, 8)),
        node("12", "aten::linear", "x 10.weight 10.bias"),
        *(cut("k'", "12", "one", "one"), cut("q'", "12", "one", "one"), *parameters("20", 6, 2)),
        node("22", "aten::linear", "q' 20.weight 20.bias"),
        *(cut("b'", "22", "one", "one"), cut("a'", "22", "one", "one")),
        outputs="k' a' b'",
    )
    found = rewrites("FrozenConcatLinear", before, after, {})
    assert [(fold.consumed[:2], fold.produced[:3]) for fold in found] == [
        (("q", "k"), ("12", "q'", "k'")),
        (("a", "b"), ("22", "a'", "b'")),
    ]


def conv(name: str, x: str, module: str, op: str = "aten::conv2d") -> Node:
    return node(name, op, f"{x} {module}.weight {module}.bias pair pair pair one", module=module)


CONVS = (*parameters("c", 4, 4), *parameters("d", 4, 4))


def test_cudnn_fusions() -> None:
    before = graph(
        *CONVS,
        conv("3", "x", "c"),
        node("4", "aten::relu", "3"),
        conv("5", "4", "d"),
        node("6", "aten::add_", "5 x one"),
        node("7", "aten::relu_", "6"),
        outputs="7",
    )
    after = graph(
        *CONVS,
        node("8", "aten::cudnn_convolution_relu", "x c.weight c.bias pair pair pair one"),
        node("9", "aten::cudnn_convolution_add_relu", "8 d.weight x one d.bias pair pair pair one"),
        outputs="9",
    )
    assert rewrites("FuseFrozenConvAddRelu", before, after, {}) == (
        Rewrite("conv_relu", ("3", "4"), ("8",), (), ("c",)),
        Rewrite("conv_add_relu", ("5", "6", "7"), ("9",), (), ("d",)),
    )


def test_the_cudnn_pass_turns_convolutions_into_convs_even_if_it_fuses_none() -> None:
    traced = replace(conv("3", "x", "c", "aten::_convolution"), inputs=(*conv("3", "x", "c").inputs, "one"))
    before, after = graph(*CONVS, traced, outputs="3"), graph(*CONVS, conv("8", "x", "c"), outputs="8")
    assert rewrites("FuseFrozenConvAddRelu", before, after, {}) == (Rewrite("aten_conv", ("3",), ("8",), (), ("c",)),)


@pytest.mark.parametrize(
    ("merged", "expected"),
    [
        ({"x": ("a", "b.c"), "y": ("b.c",)}, ("a", "b.c")),
        ({}, ()),
    ],
)
def test_unknown_origins_are_left_out(merged: Mapping[str, tuple[str, ...]], expected: tuple[str, ...]) -> None:
    before = graph(weight("x", 4, 4), weight("y", 4), node("3", "aten::linear", "self x y"), outputs="3")
    after = graph(
        weight("x", 4, 4), weight("y", 4), weight("t", 4, 4), node("4", "aten::matmul", "self t"), outputs="4"
    )
    (fold,) = rewrites("FrozenLinearTranspose", before, after, merged)
    assert fold == Rewrite("linear_transpose", ("3", "x", "y"), ("4", "t"), expected, ())


def test_added_linear_is_not_reported_as_concatenation() -> None:
    after = graph(*parameters("q", 2, 8), linear("q", "x"), outputs="q")
    (fold,) = rewrites("FrozenConcatLinear", graph(outputs="x"), after, {})
    assert fold.consumed == ()


def test_a_near_miss_that_nothing_explains_is_unknown() -> None:
    both = graph(*CONVS, conv("3", "x", "c"), node("4", "aten::add", "3 one one"), outputs="4")
    assert near_misses(7, "FoldFrozenConvAddOrSub", both, both) == (
        NearMiss(
            7,
            "conv_add",
            "4",
            "3",
            "unknown",
            "None of the conditions known from torch 2.13's source explains it.",
        ),
    )


def test_folded_node_has_no_near_miss() -> None:
    before = graph(*CONVS, conv("3", "x", "c"), node("4", "aten::add", "3 one one"), outputs="4")
    after = graph(*CONVS, conv("3", "x", "c"), outputs="3")
    assert near_misses(0, "FoldFrozenConvAddOrSub", before, after) == ()
    assert near_misses(0, "EliminateDeadCode", before, before) == ()


def test_parallel_linears_on_cuda_of_different_types() -> None:
    assert near_misses(0, "FrozenConcatLinear", BEFORE, BEFORE) == (
        NearMiss(
            0,
            "concat_linear",
            "k",
            "q",
            "unknown",
            "None of the conditions known from torch 2.13's source explains it.",
        ),
        NearMiss(
            0,
            "concat_linear",
            "v",
            "q",
            "dtype",
            "The weights differ in type: float32 and float16.",
            "Give them one type.",
        ),
        NearMiss(
            0,
            "concat_linear",
            "wide",
            "q",
            "dtype",
            "The weights differ in type: float32 and float16.",
            "Give them one type.",
        ),
    )


def test_all_obstacles_are_reported_in_order() -> None:
    training = constant("training", "1", "bool")
    norm = node("4", "aten::batch_norm", "f/3 n n none none training one one one")
    body = Block(
        (Value("f/x", "Tensor"),), (conv("f/3", "f/x", "c"), norm, node("5", "aten::relu", "f/3")), ("4",), "f/"
    )
    fork = node("6", "prim::fork", "x", blocks=(body,))
    forked = graph(*CONVS, training, constant("w", "1", "int"), node("n", "aten::neg", "w"), fork, outputs="6")
    (miss,) = near_misses(0, "FoldFrozenConvBatchnorm", forked, forked)
    assert miss == NearMiss(
        0,
        "conv_bn",
        "4",
        "f/3",
        "in_fork",
        "It is in a forked subgraph, which torch's passes after freezing do not enter. "
        "Also: Of aten::batch_norm (%4), weight is computed at run time by aten::neg (%n) and bias is computed at run "
        "time by aten::neg (%n). "
        "Also: running_mean and running_var are None, so that every batch is normalised by its own statistics. "
        "Also: The output of aten::conv2d (%f/3) is also read by aten::relu (%5).",
        " ".join(
            (
                "Call the function directly instead of through torch.jit.fork.",
                "If it does not depend on the model's inputs, compute it beforehand and keep it as a parameter or "
                "buffer.",
                "Create the batch norm with track_running_stats=True and let it see data before freezing.",
                "Let aten::batch_norm be its only reader: the fold changes what the other would see.",
            )
        ),
    )
