"""What became of nodes, on hand-built steps."""

from __future__ import annotations

from dataclasses import replace

from freeze_engine.analysis import NodeEnd, node_ends
from freeze_engine.analysis.node_provenance import node_origins
from freeze_engine.trace import GraphSnapshot, Kernel, Node, Program, Rewrite, Step, Trace, Value
from tests.builders import empty_trace


def _node(name: str, *inputs: str, op: str = "aten.op") -> Node:
    return Node(name, op, inputs, (Value(name, "Tensor"),))


def _graph(*nodes: Node, returns: str) -> GraphSnapshot:
    return GraphSnapshot((Value("x", "Tensor"),), nodes, (returns,))


def _trace(*steps: tuple[GraphSnapshot, tuple[Rewrite, ...]], program: Program | None = None) -> Trace:
    made = tuple(
        Step(index, "stage", f"pass {index}", "forward", graph, index > 0, rewrites=rewrites)
        for index, (graph, rewrites) in enumerate(steps)
    )
    program = program or Program("compiled with freezing", "forward")
    return replace(empty_trace(), backend="inductor", steps=made, programs=(program,))


def _ends(trace: Trace, first: bool = True) -> list[tuple[str, str, tuple[int, ...], int | None]]:
    found = node_ends(trace, trace.programs[0], first)
    return [(end.node, end.end, end.kernels, end.step) for end in found]


WEIGHT = _node("w", op="get_attr")
CONV, BN, RELU = _node("conv", "x", "w"), _node("bn", "conv"), _node("relu", "bn")


def test_a_fused_node_ends_in_the_kernel_that_computes_what_it_became():
    fused = _graph(WEIGHT, _node("fn", "x", "w"), returns="fn")
    rewrite = Rewrite("conv_relu", ("conv", "bn", "relu"), ("fn",))
    program = Program(
        "compiled with freezing", "forward", (Kernel("a", "cpp"), Kernel("b", "extern", ("fn",), ("conv", "relu")))
    )
    trace = _trace((_graph(WEIGHT, CONV, BN, RELU, returns="relu"), ()), (fused, (rewrite,)), program=program)
    assert _ends(trace) == [(name, "kernel", (1,), None) for name in ("conv", "bn", "relu")]
    assert _ends(trace, first=False) == [("fn", "kernel", (1,), None)]
    assert node_origins(trace.steps) == {"w": ("w",), "fn": ("conv", "bn", "relu")}


def test_a_node_that_became_a_constant_names_the_step():
    scaled = _node("scaled", "w")
    before = _graph(WEIGHT, scaled, _node("conv", "x", "scaled"), returns="conv")
    after = _graph(_node("scaled", op="get_attr"), _node("conv", "x", "scaled"), returns="conv")
    trace = _trace((before, ()), (after, (Rewrite("constant", ("w", "scaled"), ("scaled",)),)))
    assert _ends(trace) == [("scaled", "constant", (), 1), ("conv", "unknown", (), None)]


def test_packing_a_weight_does_not_make_a_constant_of_its_layer():
    packed = _graph(WEIGHT, _node("reorder", "w"), _node("linear", "x", "reorder"), returns="linear")
    folded = _graph(_node("reorder", op="get_attr"), _node("linear", "x", "reorder"), returns="linear")
    program = Program("compiled with freezing", "forward", (Kernel("mkl", "extern", ("linear",)),))
    trace = _trace(
        (_graph(WEIGHT, _node("addmm", "x", "w"), returns="addmm"), ()),
        (packed, (Rewrite("pack_linear", ("addmm",), ("reorder", "linear")),)),
        (folded, (Rewrite("constant", ("w", "reorder"), ("reorder",)),)),
        program=program,
    )
    assert _ends(trace) == [("addmm", "kernel", (0,), None)]


def test_a_removed_node_ends_where_what_is_read_instead_is_computed():
    before = _graph(_node("a", "x"), _node("b", "x"), _node("sum", "a", "b"), returns="sum")
    after = _graph(_node("a", "x"), _node("sum", "a", "a"), returns="sum")
    program = Program(
        "compiled with freezing", "forward", (Kernel("one", "cpp", ("a",)), Kernel("two", "cpp", ("sum",)))
    )
    trace = _trace((before, ()), (after, ()), program=program)
    assert _ends(trace) == [("a", "kernel", (0,), None), ("b", "removed", (0,), 1), ("sum", "kernel", (1,), None)]


def test_a_node_replaced_without_a_rewrite_is_followed_through_the_chain_of_its_readers():
    before = _graph(_node("a", "x"), _node("b", "a"), _node("out", "b"), returns="out")
    after = _graph(_node("new", "x"), _node("out", "new"), returns="out")
    program = Program("compiled with freezing", "forward", (Kernel("one", "cpp", ("new", "out")),))
    trace = _trace((before, ()), (after, ()), program=program)
    assert _ends(trace) == [(name, "kernel", (0,), None) for name in ("a", "b", "out")]


def test_a_dead_node_and_a_returned_one_that_is_replaced():
    before = _graph(_node("dead", "x"), _node("same", "y"), _node("y", "x"), returns="same")
    trace = _trace((before, ()), (_graph(_node("y", "x"), returns="y"), ()))
    assert _ends(trace) == [("dead", "removed", (), 1), ("same", "removed", (), 1), ("y", "unknown", (), None)]


def test_node_without_a_kernel_has_a_reason():
    graph = _graph(_node("view", "x"), _node("other", "view"), returns="other")
    program = Program("compiled with freezing", "forward", no_kernel=(("view", "a view: moves no data"),))
    trace = _trace((graph, ()), program=program)
    assert node_ends(trace, program) == (
        NodeEnd("view", "no_kernel", why="a view: moves no data"),
        NodeEnd("other", "unknown"),
    )


def test_a_program_of_a_method_without_steps():
    assert node_ends(empty_trace(), Program("compiled with freezing", "forward")) == ()
