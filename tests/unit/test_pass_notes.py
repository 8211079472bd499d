"""What passes do, and why they changed nothing, on hand-built graphs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import freeze_engine as fe
from freeze_engine.analysis import pass_notes
from freeze_engine.analysis.pass_explanations.pass_note import pass_entry
from freeze_engine.trace import Constant, GraphSnapshot, NearMiss, Node, Rewrite, Step, Trace, Value
from tests.builders import empty_trace, failed_trace, small_trace
from viewer.text.stats import stats_text
from viewer.views import view_data

GOLDEN = Path(__file__).parents[1] / "golden"
X = Value("x", "Tensor")


def node(name: str, op: str, inputs: str = "", *, type: str = "Tensor", **attributes: str) -> Node:
    return Node(name, op, tuple(inputs.split()), (Value(name, type),), tuple(attributes.items()))


def weight(name: str, device: str = "cpu", dtype: str = "float32", digest: str | None = None) -> Node:
    kept = Constant((4, 4), dtype, device, 64, digest=digest or name)
    return Node(name, "prim::Constant", (), (Value(name, "Tensor"),), (("value", "<Tensor>"),), constant=kept)


W, B, YES = weight("w"), weight("b"), node("yes", "prim::Constant", type="bool", value="1")
CONV = node("c", "aten::conv2d", "x w b")
NORM = node("n", "aten::batch_norm", "c b b")
LINEAR = node("l", "aten::linear", "x w b")


NOTHING = (
    "The graph has nothing that it simplifies: no if, no arithmetic with a plain number, no question for a size, type "
    "or device, no access to a list that the graph constructs."
)
NOT_KNOWN = "torch does not know the shape, type or device of the tensors that the graph asks for theirs."


def unchanged(name: str, *nodes: Node, stage: str = "optimize_frozen_graph", log: tuple[str, ...] = ()) -> Trace:
    """A trace of one pass that leaves the graph of some nodes as it is."""
    graph = GraphSnapshot((X,), nodes, (nodes[-1].outputs[0].name,) if nodes else ("x",))
    backend = "torchscript" if pass_entry("torchscript", stage, name) else "inductor"
    steps = (
        Step(0, "input", "input", "forward", graph, False),
        Step(1, stage, name, "forward", graph, False, log=log),
    )
    return Trace(
        name="hand-built",
        backend=backend,  # type: ignore[arg-type]
        call="",
        options=(),
        inputs=(),
        environment=empty_trace().environment,
        steps=steps,
    )


def reason(name: str, *nodes: Node, stage: str = "optimize_frozen_graph", log: tuple[str, ...] = ()) -> str:
    (note,) = pass_notes(unchanged(name, *nodes, stage=stage, log=log))[1]
    assert note.name == name
    assert note.does
    return note.why_not


BESIDE = "No batch norm reads the output of a convolution directly."
ON_CPU = "torch does this on CUDA only; the weights are on cpu."
RESIDUAL = (
    "All additions and subtractions that read a convolution's output have another operand that the graph computes or "
    "receives, as in a residual connection; torch folds constants only."
)


@pytest.mark.parametrize(
    ("name", "nodes", "expected"),
    [
        ("FoldFrozenConvBatchnorm", (), "The graph has no convolution and no batch norm."),
        ("FoldFrozenConvBatchnorm", (W, B, CONV), "The graph has no batch norm."),
        ("FoldFrozenConvBatchnorm", (B, node("n", "aten::batch_norm", "x b b")), "The graph has no convolution."),
        ("FoldFrozenConvBatchnorm", (W, B, CONV, node("n", "aten::batch_norm", "x b b")), BESIDE),
        ("FoldFrozenConvBatchnorm", (W, B, CONV, NORM), ""),
        ("FoldFrozenLinearBatchnorm", (W, B, CONV, NORM), "The graph has no linear."),
        ("FoldFrozenConvAddOrSub", (W, B, CONV), "The graph has no addition or subtraction."),
        ("FoldFrozenConvAddOrSub", (W, B, CONV, node("s", "aten::add", "c x yes")), RESIDUAL),
        ("FoldFrozenConvAddOrSub", (W, B, CONV, node("s", "aten::add", "x c yes")), RESIDUAL),
        ("FoldFrozenConvAddOrSub", (W, B, CONV, node("s", "aten::add", "c b yes")), ""),
        ("FoldFrozenConvMulOrDiv", (W, B, CONV), "The graph has no multiplication or division."),
        ("RemoveDropout", (W,), "The graph has no dropout."),
        ("RemoveDropout", (YES, node("d", "aten::dropout", "x yes yes")), "Every dropout runs with training=True."),
        ("RemoveDropout", (YES, node("d", "aten::dropout", "x yes x")), ""),
        ("FrozenConcatLinear", (W, B, CONV), "The graph has no linear."),
        ("FrozenConcatLinear", (W, B, LINEAR), "The graph has one linear only."),
        (
            "FrozenConcatLinear",
            (W, B, LINEAR, node("m", "aten::linear", "l w b")),
            "No two linears read the same input.",
        ),
        ("FrozenConcatLinear", (W, B, LINEAR, node("m", "aten::linear", "x w b")), ON_CPU),
        (
            "FrozenConcatLinear",
            (weight("w", "cuda:0"), B, LINEAR, node("m", "aten::linear", "x w b")),
            "",
        ),
        ("FuseFrozenConvAddRelu", (W, B, CONV), "The graph has no relu."),
        (
            "FuseFrozenConvAddRelu",
            (W, B, CONV, node("r", "aten::relu", "c")),
            "torch does this on CUDA only; the convolutions' weights are on cpu.",
        ),
        ("ConvertFrozenOpsToMKLDNN", (W, B), "The graph has no 2D or 3D convolution."),
        (
            "ConvertFrozenOpsToMKLDNN",
            (weight("w", dtype="bfloat16"), B, CONV),
            "MKLDNN takes float32 weights only; these are bfloat16.",
        ),
        ("ConvertFrozenOpsToMKLDNN", (W, B, CONV), ""),
        ("FrozenLinearTranspose", (W, B, CONV), "The graph has no linear."),
        ("Inline", (W,), "The graph has no call."),
        ("Inline", (node("y", "prim::CallMethod", "x"),), ""),
        ("EliminateDeadCode", (node("y", "aten::relu", "x"),), "Every result is read."),
        ("EliminateDeadCode", (node("y", "aten::relu", "x"), node("z", "aten::relu", "x")), ""),
        (
            "EliminateCommonSubexpression",
            (node("y", "aten::relu", "x"), node("z", "aten::relu", "y")),
            "No two nodes apply the same operator to the same inputs.",
        ),
        ("EliminateCommonSubexpression", (node("y", "aten::relu", "x"), node("z", "aten::relu", "x")), ""),
        ("ConstantPropagation", (W, node("y", "aten::relu", "x")), "No node reads constants only."),
        ("ConstantPropagation", (W, node("y", "aten::relu", "w")), ""),
        ("ConstantPooling", (W, B), "No two constants are equal."),
        ("ConstantPooling", (W, weight("v", digest="w")), ""),
        ("UnrollConstantLoops", (W,), "The graph has no loop."),
        (
            "UnrollConstantLoops",
            (node("y", "prim::Loop", "x yes"),),
            "No loop has a constant number of turns.",
        ),
        ("RemoveListMutation", (W,), "Nothing appends to a list."),
        (
            "RemoveListMutation",
            (node("y", "aten::append", "x x"),),
            "No append reads a list that the graph itself constructs.",
        ),
        ("RemoveListMutation", (node("li", "prim::ListConstruct"), node("y", "aten::append", "li x")), ""),
        ("EliminateNoOps", (W,), "The graph has no detach."),
        ("LowerSimpleTuples", (W,), "No node takes a tuple apart."),
        (
            "LowerSimpleTuples",
            (node("y", "prim::TupleUnpack", "x"),),
            "No node takes apart a tuple that the graph itself constructs.",
        ),
        ("PropagateAttributes", (W,), "No node reads an attribute."),
        ("CheckInplace", (W,), "It never changes the graph."),
        ("PeepholeOptimize", (W,), NOTHING),
        ("PeepholeOptimize", (W, node("s", "aten::add", "x w")), NOTHING),
        ("PeepholeOptimize", (W, node("s", "aten::mul", "x n")), ""),
        ("PeepholeOptimize", (node("s", "aten::size", "x", type="int[]"),), NOT_KNOWN),
        ("PeepholeOptimize", (node("s", "aten::slice", "x"),), NOTHING),
        ("PeepholeOptimize", (node("l", "prim::ListConstruct", "x"), node("s", "aten::slice", "l")), ""),
        ("PeepholeOptimize", (node("s", "aten::eq", "x w", type="bool"),), NOTHING),
        ("PeepholeOptimize", (node("s", "aten::size", "x"), node("i", "prim::If", "x")), ""),
    ],
)
def test_unchanged_torchscript_pass_is_explained(name: str, nodes: tuple[Node, ...], expected: str):
    assert reason(name, *nodes) == expected


CPU, HALF = "Float(1, 4, strides=[4, 1], device=cpu)", "BFloat16(1, 4, strides=[4, 1], device=cpu)"
NO_BATCH = "The graph has no batched matrix product, as attention has; torch pads the others for a GPU only."
NOT_SCALED = "No softmax reads the output of a multiplication or division directly."
NOTHING_KNOWN = "The graph constructs no tensor (full, zeros, arange, …) and holds no constant, so no value is known."
LOCAL = "Each node comes right before the first node that reads it already."
NOTHING_LOWERED = (
    "The graph has no packed convolution or linear, matrix product, cumsum, softmax or quantized operator."
)
CONVOLUTION = node("c", "aten.convolution.default", "x w", type=CPU)
MATMUL = node("m", "aten.mm.default", "x w", type=CPU)
ATTRIBUTE = node("w", "get_attr", type=CPU, target="_frozen_param0")
NO_HALF = "No convolution or matrix product computes in half precision."
IN_ORDER = "Each node comes after what it reads already."


@pytest.mark.parametrize(
    ("stage", "name", "nodes", "expected"),
    [
        ("freezing_passes", "binary_folding", (ATTRIBUTE,), "The graph has no convolution and no matrix product."),
        (
            "freezing_passes",
            "binary_folding",
            (ATTRIBUTE, CONVOLUTION),
            "The graph has no addition, subtraction, multiplication or division.",
        ),
        (
            "freezing_passes",
            "binary_folding",
            (CONVOLUTION, node("y", "aten.add.Tensor", "x x")),
            "No addition, subtraction, multiplication or division reads the output of a convolution or matrix product.",
        ),
        ("freezing_passes", "binary_folding", (CONVOLUTION, node("y", "aten.add.Tensor", "c x")), ""),
        ("freezing_passes", "constant_fold", (ATTRIBUTE, CONVOLUTION), "No node reads constants only."),
        ("freezing_passes", "constant_fold", (ATTRIBUTE, node("y", "aten.clone.default", "w")), ""),
        ("freezing_passes", "recover_original_precision_folded_computation_ops", (CONVOLUTION,), NO_HALF),
        (
            "freezing_passes",
            "recover_original_precision_folded_computation_ops",
            (node("c", "aten.convolution.default", "x w", type=HALF),),
            "",
        ),
        (
            "freezing_passes",
            "pass_patterns[1]",
            (node("m", "aten.mm.default", "x w", type="Float(1, 4, device=cuda:0)"),),
            "torch packs weights for the CPU; these operators are on cuda.",
        ),
        (
            "freezing_passes",
            "pass_patterns[1]",
            (CONVOLUTION,),
            "The graph has no linear left to pack and no quantized operator.",
        ),
        ("freezing_passes", "pass_patterns[1]", (MATMUL,), ""),
        ("freezing_passes", "pass_patterns[3]", (MATMUL,), "The graph has no quantized operator."),
        ("freezing_passes", "eliminate_duplicate_packed_nodes", (MATMUL,), "The graph has no packed weight."),
        (
            "freezing_passes",
            "eliminate_duplicate_packed_nodes",
            (node("p", "mkldnn._reorder_linear_weight.default", "w"),),
            "No weight is packed twice.",
        ),
        ("freezing_passes", "stable_topological_sort", (ATTRIBUTE, CONVOLUTION), IN_ORDER),
        ("post_grad", "stable_sort", (node("z", "aten.relu.default", "y"), node("y", "aten.relu.default", "x")), ""),
        ("post_grad", "move_constructors_to_cuda", (MATMUL,), "The graph has no tensor on a GPU."),
        ("post_grad", "view_to_reshape", (node("y", "aten.view.default", "x"),), ""),
        ("inline_parameters", "view_to_reshape", (MATMUL,), "The graph has no view."),
        ("joint_graph", "pass_pattern_1", (MATMUL,), "The graph has no amax, with which a softmax begins."),
        ("joint_graph", "pass_pattern_0", (MATMUL,), NO_BATCH),
        ("joint_graph", "pass_pattern_0", (MATMUL, node("b", "aten.bmm.default", "m m", type=CPU)), ""),
        ("joint_graph", "pass_pattern_1", (node("a", "aten.amax.default", "x"),), NOT_SCALED),
        ("joint_graph", "constant_fold_uniform_value", (MATMUL,), NOTHING_KNOWN),
        ("joint_graph", "constant_fold_uniform_value", (node("f", "aten.full.default"), MATMUL), ""),
        ("post_grad", "reorder_for_locality", (node("a", "aten.relu.default", "x"), node("b", "aten.neg", "a")), LOCAL),
        (
            "post_grad",
            "reorder_for_locality",
            (
                node("a", "aten.relu", "x"),
                node("b", "aten.neg", "x"),
                node("c", "aten.add", "b"),
                node("d", "aten.add", "a c"),
            ),
            "",
        ),
        ("post_grad", "pass_pattern_1", (node("a", "aten.relu.default", "x"),), NOTHING_LOWERED),
        ("compile", "GraphLowering.run", (MATMUL,), "It never changes the graph."),
    ],
)
def test_unchanged_inductor_pass_is_explained(stage: str, name: str, nodes: tuple[Node, ...], expected: str):
    assert reason(name, *nodes, stage=stage) == expected


def test_a_group_without_patterns_and_a_pass_on_a_subgraph():
    found = reason("pass_pattern_0", MATMUL, stage="post_grad", log=("has no patterns",))
    assert found == "torch has no patterns for it here."
    assert reason("view_to_reshape", MATMUL, stage="post_grad", log=("in subgraph body",)) == ""


def test_near_misses_and_earlier_rounds_come_into_the_reason():
    trace = unchanged("FoldFrozenConvBatchnorm", W, B, CONV, NORM)
    missed = replace(trace, near_misses=(NearMiss(1, "conv_bn", "n", "c", "several_uses", ""),))
    assert pass_notes(missed)[1][0].why_not == "The near miss says why."
    graph = GraphSnapshot((X,), (W, B, CONV), ("c",))
    folded = Step(
        1, "optimize_frozen_graph", "FoldFrozenConvBatchnorm", "forward", graph, True, round=1,
        rewrites=(Rewrite("conv_bn", ("c", "n"), ("c",)),),
    )  # fmt: skip
    again = Step(2, "optimize_frozen_graph", "FoldFrozenConvBatchnorm", "forward", graph, False, round=2)
    rounds = replace(trace, steps=(trace.steps[0], folded, again))
    assert [note.why_not for (note,) in pass_notes(rounds)] == ["", "", "No batch norm is left: step 1 removed 1."]


def test_every_pass_of_the_golden_traces_has_a_sentence():
    for trace in (*map(fe.load, sorted(GOLDEN.glob("*.fztrace"))), small_trace(), failed_trace()):
        for step, notes in zip(trace.steps, pass_notes(trace), strict=True):
            assert [note.name for note in notes] == list(step.passes)
            assert all(note.does.endswith(".") for note in notes), step


def test_an_unknown_pass_has_no_sentence_and_no_reason():
    assert [note.does for note in pass_notes(unchanged("of tomorrow", W, stage="freeze_module"))[1]] == [""]


def test_the_viewer_and_stats_show_the_sentences():
    trace = small_trace()
    view = view_data(trace)
    for step, notes in zip(view["steps"], pass_notes(trace), strict=True):
        assert [view["pass_texts"][place] for place in step["does"]] == [[note.name, note.does] for note in notes]
    assert view["pass_texts"] == [list(pair) for pair in dict.fromkeys(map(tuple, view["pass_texts"]))]
    assert "\n  Inline: Replaces each call of a method or function by the body of what it calls\n" in stats_text(trace)
