from __future__ import annotations

from dataclasses import replace

import pytest

import freeze_engine as fe
from freeze_engine.diagnose.checks.canonical_graph import computation, differing_operators
from freeze_engine.trace import Block, Constant, Value
from tests.builders import constant, node, small_trace, tensor


def graph(*nodes: fe.Node, outputs: tuple[str, ...] = ("y",)) -> fe.GraphSnapshot:
    return fe.GraphSnapshot((Value("self", "Net"), Value("x", "Tensor")), nodes, outputs)


def differ(before: fe.GraphSnapshot, after: fe.GraphSnapshot) -> tuple[str, ...]:
    return differing_operators(computation(before), computation(after))


ADD = graph(constant("two", "2"), node("y", "aten::add", "x two", module="a", line=3))


@pytest.mark.parametrize(
    "other",
    [
        graph(constant("5", "2"), node("7", "aten::add", "x 5", module="", line=9), outputs=("7",)),
        graph(constant("unread", "9"), constant("two", "2"), node("y", "aten::add", "x two")),
    ],
)
def test_names_origins_and_unread_constants_are_no_difference(other: fe.GraphSnapshot) -> None:
    assert differ(ADD, other) == ()


def test_order_of_independent_nodes_is_ignored() -> None:
    neg, absolute = node("n", "aten::neg", "x"), node("a", "aten::abs", "x")
    both = node("y", "aten::add", "n a")
    assert differ(graph(neg, absolute, both), graph(absolute, neg, both)) == ()


def test_a_list_of_constants_is_a_constant() -> None:
    kept = replace(constant("l", "[1, 2]"), outputs=(Value("l", "int[]"),))
    made = (constant("one", "1"), constant("two", "2"), node("l", "prim::ListConstruct", "one two"))
    use = node("y", "aten::sum", "x l")
    assert differ(graph(kept, use), graph(*made, use)) == ()
    assert differ(graph(kept, use), graph(*made[:2], replace(made[2], inputs=("two", "one")), use)) == (
        "1 other aten::sum",
    )


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (graph(constant("two", "3"), node("y", "aten::add", "x two")), ("1 other aten::add",)),
        (graph(constant("two", "2"), node("y", "aten::mul", "x two")), ("aten::add -1", "aten::mul +1")),
        (
            graph(constant("two", "2"), node("y", "aten::add", "x two"), outputs=("x",)),
            ("the same operators, otherwise connected",),
        ),
        (graph(node("n", "aten::neg", "x"), *ADD.nodes), ("aten::neg +1",)),
    ],
)
def test_changed_computation_is_named(other: fe.GraphSnapshot, said: tuple[str, ...]) -> None:
    assert differ(ADD, other) == said


def test_other_weights_are_a_difference() -> None:
    use = node("y", "aten::linear", "x w")
    ours, theirs = (tensor("w", 2, 2, digest=f"{digit:0>16}") for digit in "12")
    assert differ(graph(ours, use), graph(theirs, use)) == ("1 other aten::linear",)
    assert differ(graph(ours, use), graph(ours, use)) == ()


def test_other_weights_in_a_librarys_layout_are_a_difference() -> None:
    use = node("y", "aten::conv2d", "x w")
    weights = [replace(tensor("w", 2, 2, digest=f"{digit:0>16}"), op="prim::ConstantMKLDNNTensor") for digit in "12"]
    ours, theirs = (graph(weight, use) for weight in weights)
    assert differ(ours, theirs) == ("1 other aten::conv2d",)
    assert differ(ours, ours) == ()
    assert computation(ours).unknown == ()


def test_list_of_weights_is_identified_by_its_digest() -> None:
    use = node("y", "aten::cat", "w")
    kept = Constant((), "List[Tensor]", "cpu", 16, digest=f"{1:0>16}")
    held = replace(constant("w", "[<Tensors>]"), constant=kept)
    ours = graph(held, use)
    assert differ(ours, graph(replace(held, constant=replace(kept, dtype="Tensor[]")), use)) == ()
    assert differ(ours, graph(replace(held, constant=replace(kept, digest=f"{2:0>16}")), use)) == ("1 other aten::cat",)


@pytest.mark.parametrize(
    "held",
    [
        constant("w", "object"),
        constant("w", "<Tensor>"),
        replace(constant("w", "<Tensor>"), constant=Constant((2,), "float32", "meta", 8)),
    ],
)
def test_constants_of_unknown_value_count_as_equal_and_are_named(held: fe.Node) -> None:
    use = node("y", "f::g", "x w")
    assert differ(graph(held, use), graph(held, use)) == ()
    assert computation(graph(held, use)).unknown == (f"%w ({held.outputs[0].type})",)


def test_nodes_in_a_block_are_compared() -> None:
    def branch(op: str) -> fe.GraphSnapshot:
        inner = Block((), (node("z", op, "x"),), ("z",))
        return graph(replace(node("y", "prim::If", "x"), blocks=(inner,)))

    assert differ(branch("aten::neg"), branch("aten::neg")) == ()
    assert differ(branch("aten::neg"), branch("aten::abs")) == ("aten::abs +1", "aten::neg -1")


def test_every_graph_computes_what_it_computes() -> None:
    for step in small_trace().steps:
        assert differ(step.graph, step.graph) == ()
