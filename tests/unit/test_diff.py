from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given, strategies as st

from freeze_engine.analysis.alignment import align, increasing, refine
from freeze_engine.analysis.graph_diff import GraphDiff, NodeChange, Opcode, diff_snapshots, diff_text
from freeze_engine.trace import Block, Constant, GraphSnapshot, Node, Value, graph_lines
from tests.builders import node, small_trace, snapshots, synthetic_trace

_LINES = st.lists(st.sampled_from(["%a = f(%x)", "%a = f(%y)", "%b = g()", "  %b = g()", "-> ()", "= print()"]))


def _graph(*nodes: Node, outputs: tuple[str, ...] = ()) -> GraphSnapshot:
    return GraphSnapshot((Value("self", "__torch__.Net"),), nodes, outputs)


def _apply(opcodes: Sequence[Opcode], before: Sequence[str], after: Sequence[str]) -> list[str]:
    result: list[str] = []
    for tag, old, old_end, new, new_end in opcodes:
        result += before[old:old_end] if tag == "equal" else after[new:new_end]
    return result


def test_added_removed_and_changed_nodes_are_distinguished() -> None:
    before = _graph(node("a", "aten::relu", "x"), node("b", "aten::add", "a a"), node("c", "aten::neg", "b"))
    after = _graph(node("a", "aten::relu", "x"), node("c", "aten::neg", "a"), node("d", "aten::exp", "c"))
    assert diff_snapshots(before, after) == GraphDiff(
        added=("d",), removed=("b",), changed=(NodeChange("c", ("inputs",)),), kept=1
    )


def test_every_field_of_a_node_is_compared() -> None:
    before = node("a", "aten::relu", "x", blocks=(Block((), (), ()),))
    after = Node(
        "a",
        "aten::relu_",
        ("y",),
        (Value("a", "Float(2)"), Value("b", "int")),
        (("value", "1"),),
        (Block((), (), ("y",)),),
        "layer",
        node("a", "op", line=3).source,
        Constant((2,), "float32", "cpu", 8),
    )
    every: tuple[Any, ...] = ("op", "inputs", "outputs", "type", "attributes", "constant", "blocks", "module", "source")
    assert diff_snapshots(_graph(before), _graph(after)) == GraphDiff(changed=(NodeChange("a", every),))


def test_a_node_that_lost_a_value_is_not_said_to_have_another_type() -> None:
    two = node("a", "prim::If", outputs=(Value("a", "int"), Value("b", "Tensor")))
    one = replace(two, outputs=two.outputs[1:])
    assert diff_snapshots(_graph(two), _graph(one)).changed == (NodeChange("a", ("outputs",)),)


def test_nested_nodes_are_compared_on_their_own() -> None:
    inner = node("b", "aten::add", "x x")
    before = node("a", "prim::If", "c", blocks=(Block((), (inner,), ("b",)), Block((), (), ("x",))))
    after = replace(
        before,
        blocks=(Block((), (replace(inner, inputs=("x", "y")), node("d", "aten::neg", "b")), ("b",)), before.blocks[1]),
    )
    assert diff_snapshots(_graph(before), _graph(after)) == GraphDiff(
        added=("d",), changed=(NodeChange("b", ("inputs",)),), kept=1
    )


def test_moves_are_described_with_as_few_nodes_as_possible() -> None:
    a, b, c, d = (node(name, "prim::Constant") for name in "abcd")
    assert diff_snapshots(_graph(a, b, c, d), _graph(d, a, b, c)) == GraphDiff(moved=("d",), kept=4)


def test_a_node_hoisted_out_of_a_branch_moved() -> None:
    inner = node("b", "aten::neg", "x")
    branch = node("", "prim::If", "c", id="prim::If#0", blocks=(Block((), (inner,), ()), Block((), (), ())))
    assert diff_snapshots(_graph(branch), _graph(inner)) == GraphDiff(removed=("prim::If#0",), moved=("b",), kept=1)


def test_graph_inputs_and_outputs_count() -> None:
    before = _graph(node("a", "aten::relu", "x"), outputs=("a",))
    after = replace(before, inputs=(), outputs=())
    assert diff_snapshots(before, after) == GraphDiff(kept=1, inputs_changed=True, outputs_changed=True)


@given(snapshots(), snapshots())
def test_a_graph_diff_is_empty_exactly_for_equal_graphs(before: GraphSnapshot, after: GraphSnapshot) -> None:
    assert diff_snapshots(before, after).empty == (before == after)
    assert diff_snapshots(before, before) == diff_snapshots(before, replace(before))


@given(snapshots(), snapshots())
def test_a_graph_diff_backwards_swaps_added_and_removed(before: GraphSnapshot, after: GraphSnapshot) -> None:
    forward, backward = diff_snapshots(before, after), diff_snapshots(after, before)
    assert (set(forward.added), set(forward.removed)) == (set(backward.removed), set(backward.added))
    assert set(forward.changed) == set(backward.changed)
    assert (forward.kept, len(forward.moved)) == (backward.kept, len(backward.moved))


def test_lines_of_one_value_are_paired() -> None:
    before = ["graph(%x):", "  %a : int = f(%x)", "  %b : int = g(%a)", "  return (%b)"]
    after = ["graph(%x):", "  %c : int = h()", "  %b : int = g(%c)", "  return (%b)"]
    assert diff_text(before, after) == (
        ("equal", 0, 1, 0, 1),
        ("delete", 1, 2, 1, 1),
        ("insert", 2, 2, 1, 2),
        ("replace", 2, 3, 2, 3),
        ("equal", 3, 4, 3, 4),
    )


def test_empty_texts() -> None:
    assert diff_text([], []) == ()
    assert diff_text([], ["a"]) == (("insert", 0, 0, 0, 1),)
    assert diff_text(["a", "b"], []) == (("delete", 0, 2, 0, 0),)


@given(_LINES, _LINES)
def test_opcodes_turn_one_text_into_the_other(before: list[str], after: list[str]) -> None:
    opcodes = diff_text(before, after)
    assert _apply(opcodes, before, after) == after
    mirrored = [(tag, new, new_end, old, old_end) for tag, old, old_end, new, new_end in opcodes]
    assert _apply(mirrored, after, before) == before
    assert (before == after) == all(tag == "equal" for tag, *_ in opcodes)


@given(_LINES, _LINES)
def test_opcodes_cover_both_texts_in_order(before: list[str], after: list[str]) -> None:
    opcodes = diff_text(before, after)
    ends = [(0, 0), *((old_end, new_end) for _, _, old_end, _, new_end in opcodes)]
    assert [(old, new) for _, old, _, new, _ in opcodes] == ends[:-1]
    assert ends[-1] == (len(before), len(after))
    for tag, old, old_end, new, new_end in opcodes:
        sizes = (old_end - old, new_end - new)
        assert {"delete": sizes[1] == 0, "insert": sizes[0] == 0}.get(tag, sizes[0] == sizes[1])
        assert sizes != (0, 0)
    assert all(first[0] != second[0] for first, second in pairwise(opcodes))


def test_a_large_text_diff_finds_exactly_what_differs() -> None:
    steps = synthetic_trace(nodes=10_000, steps=2).steps
    before, after = ([*graph_lines(step.graph)] for step in (steps[0], steps[-1]))
    opcodes = diff_text(before, after)
    assert _apply(opcodes, before, after) == after
    common = set(before) & set(after)
    assert sum(old_end - old for tag, old, old_end, _, _ in opcodes if tag == "equal") >= 0.99 * len(common)


def test_thousands_of_equal_lines_are_no_trap() -> None:
    before = ["-> ()", "= print()"] * 10_000
    after = [*before[1:9_000], "%new = f()", *before[9_001:]]
    opcodes = diff_text(before, after)
    assert _apply(opcodes, before, after) == after
    assert sum(old_end - old for tag, old, old_end, _, _ in opcodes if tag == "equal") >= len(before) - 10


def test_the_small_trace_s_folds_can_be_read_from_its_diffs() -> None:
    trace = small_trace()
    fold = diff_snapshots(trace.steps[6].graph, trace.steps[8].graph)
    assert fold.added == ("weight_fused_bn", "bias_fused_bn")
    assert fold.removed == ("self.block.conv.weight", "self.block.bn.weight", "normed")
    assert fold.changed == (NodeChange("y", ("inputs",)), NodeChange("sum", ("inputs",)))


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_an_alignment_pairs_equal_keys_in_order(before: list[int], after: list[int]) -> None:
    pairs = align(before, after)
    assert all(before[old] == after[new] for old, new in pairs)
    assert all(first[0] < second[0] and first[1] < second[1] for first, second in pairwise(pairs))
    assert bool(pairs) == bool(set(before) & set(after))
    assert align(before, before) == [(index, index) for index in range(len(before))]


def test_refining_fills_only_the_gaps() -> None:
    assert refine([(1, 0)], ["a", "b", "c", "d"], ["x", "a", "c"]) == [(1, 0), (2, 2)]


@given(st.lists(st.integers(0, 9), max_size=9))
def test_the_increasing_positions_are_a_longest_chain(numbers: list[int]) -> None:
    positions = increasing(numbers)
    chain = [numbers[position] for position in positions]
    assert positions == sorted(positions)
    assert chain == sorted(set(chain))
    lengths: list[int] = []
    for index, number in enumerate(numbers):
        lengths.append(1 + max((lengths[i] for i in range(index) if numbers[i] < number), default=0))
    assert len(positions) == max(lengths, default=0)
