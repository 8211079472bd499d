"""Quantised layers: how each computes after freezing, which patterns matched, and why others did not.

The traces are recordings of torch 2.13 with torchao 0.18, see ``tests/torch/test_quantised.py`` for such models.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.analysis import pass_notes, pass_title, quantisation_outcome
from freeze_engine.analysis.quantisation.graph_values import GraphValues
from freeze_engine.analysis.quantisation.layer import Quantisation, QuantisedLayer
from freeze_engine.analysis.quantisation.layer_errors import LayerErrors
from freeze_engine.analysis.quantisation.operators import dtype_of, elements_of, is_narrow, short
from freeze_engine.analysis.quantisation.patterns import (
    left_over,
    unmatched_fusion,
    unmatched_int_mm,
    unmatched_prepack,
    unmatched_weight_only,
)
from freeze_engine.analysis.quantisation.undone import with_undone
from freeze_engine.trace import Constant, GraphSnapshot, LayerError, Node, OutputError, Value
from tests.builders import small_trace
from viewer.text.stats import stats_text
from viewer.views import view_data
from viewer.views.quantisation import ERROR_UNKNOWN, quantisation_view, sentence

GOLDEN = Path(__file__).parents[1] / "golden"
FLOAT, BYTE, CHAR = (f"{name}(2, 4, strides=[4, 1], device=cpu)" for name in ("Float", "Byte", "Char"))


@cache
def trace_of(name: str) -> fe.Trace:
    return fe.load(GOLDEN / f"quantised_{name}.fztrace")


def outcome_of(name: str) -> Quantisation:
    found = quantisation_outcome(trace_of(name))
    assert found is not None
    return found


def rows(name: str) -> list[tuple[Any, ...]]:
    return [
        (each.name, each.outcome, each.weight_before, each.weight_after, each.activation_after, each.kernel)
        for each in outcome_of(name).layers
    ]


def test_pt2e_layers_compute_on_integers() -> None:
    assert rows("pt2e") == [
        ("0", "quantised", "int8", "int8", "uint8", "qconv"),
        ("3", "quantised", "int8", "int8", "uint8", "qlinear"),
        ("5", "quantised", "int8", "int8", "uint8", "qlinear"),
    ]
    conv, linear, last = outcome_of("pt2e").layers
    assert (conv.bytes_float, conv.bytes_before, conv.bytes_after) == (864, 312, 312)
    assert (linear.bytes_float, linear.bytes_before, linear.bytes_after) == (32768, 8384, 8384)
    assert linear.weights == ("_frozen_param1", "_scale_1", "_zero_point_1")
    assert all(each.is_packed and each.activation_before == "float32" for each in (conv, linear, last))
    assert [(each.group, each.matched) for each in conv.patterns] == [
        ("pass_patterns[1]", True),
        ("pass_patterns[3]", True),
        ("pass_pattern_2", True),
    ]
    # Its output is the model's, so that there is nothing to fuse.
    assert [each.group for each in last.patterns] == ["pass_patterns[1]", "pass_pattern_2"]
    assert linear.rounding == pytest.approx(0.000173, rel=0.01)


def test_only_the_models_input_is_quantised_at_run_time() -> None:
    (left,) = outcome_of("pt2e").conversions
    assert left.why == "The model's input is floating point: it is quantised once, here."


def test_freezing_undoes_weight_only_int8_in_float32() -> None:
    assert rows("weight_only_float32") == [
        ("conv", "float", "float32", "float32", "float32", "_convolution_pointwise"),
        *[(name, "undone", "int8", "float32", "float32", "_mkl_linear") for name in ("block.0", "block.2")],
        *[("head", "undone", "int8", "float32", "float32", "_mkl_linear")] * 2,
    ]
    found = outcome_of("weight_only_float32")
    trace = trace_of("weight_only_float32")
    assert {trace.steps[each.undone_by or 0].name for each in found.undone} == {"constant_fold"}
    layer = found.undone[0]
    assert (layer.bytes_before, layer.bytes_after) == (4096 + 256, 4 * 4096 + 256)
    (why,) = [each.why for each in layer.patterns if not each.matched]
    assert why.startswith("The weight is int8, the activation float32; constant_fold (step 16) ran")
    # The head is shared: its weight counts once.
    assert sentence(found).endswith("quantised weights: 12.8 KiB before freezing, 48.8 KiB after.")


def test_bfloat16_keeps_int8_weights_unless_two_layers_share_one() -> None:
    assert [row[:2] for row in rows("weight_only_bfloat16")] == [
        ("conv", "float"),
        ("block.0", "weight only"),
        ("block.2", "weight only"),
        ("head", "dequantised"),
        ("head", "dequantised"),
    ]
    head = outcome_of("weight_only_bfloat16").layers[-1]
    assert "2 nodes read the converted weight, and torch's pattern wants one." in head.patterns[-1].why


def test_dynamic_int8_computes_on_integers_without_packing() -> None:
    layers = outcome_of("dynamic").quantised
    assert [(each.name, each.outcome) for each in layers] == [
        (name, "quantised") for name in ("block.0", "block.2", "head", "head")
    ]
    assert (layers[0].activation_before, layers[0].activation_after) == ("float32", "uint8")
    assert layers[0].patterns[0].why.startswith("sub reads the product; torch's pattern wants its conversion")


def test_torchscript_folds_quantised_weights_to_float32_and_a_notice_says_so() -> None:
    assert [row[:4] for row in rows("pt2e_torchscript")] == [
        ("0", "undone", "int8", "float32"),
        ("%98", "undone", "int8", "float32"),
        ("5", "undone", "int8", "float32"),
    ]
    (notice,) = with_undone(trace_of("pt2e_torchscript")).notices
    assert (notice.code, notice.step) == ("dequantized", 7)
    assert "step 7, ConstantPropagation, computed 33,888 bytes of float32 constants from 8,808 bytes" in notice.message
    actions = fe.summarize(with_undone(trace_of("pt2e_torchscript"))).actions
    assert "Keep the weights quantised" in [each.title for each in actions]


def test_ordinary_traces_have_no_quantisation() -> None:
    trace = small_trace()
    assert quantisation_outcome(trace) is None
    assert with_undone(trace) is trace
    assert view_data(trace)["quantisation"] is None
    assert "Quantisation" not in stats_text(trace)


def test_a_trace_that_ends_early_leaves_the_outcome_unknown() -> None:
    trace = trace_of("pt2e")
    failure = fe.trace.Failure("RuntimeError", "no", "freezing_passes", "pass_patterns[0]", "forward", 21)
    found = quantisation_outcome(replace(trace, steps=trace.steps[:22], failure=failure))
    assert found is not None
    assert {each.outcome for each in found.layers} == {"unknown"}
    assert found.conversions == ()


def test_a_measurement_that_failed_leaves_the_outcome_known() -> None:
    trace = trace_of("pt2e")
    failure = fe.trace.Failure("RuntimeError", "no", "measure", "latency", None, None)
    found = quantisation_outcome(replace(trace, failure=failure))
    assert found == outcome_of("pt2e")


def test_without_freezing_every_call_converts_the_weight() -> None:
    trace = trace_of("pt2e")
    kept = [step for step in trace.steps if step.stage != "freezing_passes"]
    steps = tuple(replace(step, index=at, graph=trace.steps[0].graph, rewrites=()) for at, step in enumerate(kept))
    found = quantisation_outcome(replace(trace, steps=steps, attributes=()))
    # No attribute is known any more; the operators still say that something is quantised.
    assert found is None or {each.outcome for each in found.layers} == {"dequantised"}


@pytest.mark.parametrize(
    ("name", "outcome", "says"),
    [
        ("pt2e", "ok", "Freezing kept the weight of 3 quantised layers."),
        ("weight_only_float32", "failed", "Freezing undid the quantisation of 4 of 4 quantised layers."),
        ("weight_only_bfloat16", "ok", "Freezing kept the weight of 4 quantised layers."),
        ("dynamic", "ok", "Freezing kept the weight of 4 quantised layers."),
        ("pt2e_torchscript", "failed", "Freezing undid the quantisation of 3 of 3 quantised layers."),
    ],
)
def test_expectation_that_weights_stay_quantised(name: str, outcome: str, says: str) -> None:
    (finding,) = fe.Expectations(stays_quantised=True).evaluate(with_undone(trace_of(name)))
    assert (finding.name, finding.outcome, finding.message) == ("stays_quantised", outcome, says)
    if name == "pt2e_torchscript":
        assert finding.evidence[1] == (
            "%98: int8 → float32, 8.19 KiB → 32.0 KiB, by step 7, ConstantPropagation (forward)"
        )
        assert finding.remedy.startswith("TorchScript folds every dequantisation of a constant")


def test_expectation_cannot_tell_for_a_model_that_is_not_quantised() -> None:
    (finding,) = fe.Expectations(stays_quantised=True).evaluate(small_trace())
    assert finding.outcome == "cannot tell"


def test_stats_name_the_layers_and_the_patterns_that_did_not_match() -> None:
    text = stats_text(trace_of("weight_only_float32"))
    assert "\nQuantisation\n  5 layers: 4 undone by freezing; 1 not quantised; " in text
    assert "  block.0 (aten.mm.default): undone by constant_fold; weight int8 → float32, packed, " in text
    assert "no int8 weight-only matrix product (fusions with packed operators, pass_pattern_1): " in text
    assert "The error of each layer against the float model is unknown" in text
    assert "--float-model MODEL or fe.record(…, float_model=…)" in text


def test_view_has_a_row_for_each_layer_with_its_patterns() -> None:
    view = quantisation_view(trace_of("pt2e"))
    assert view is not None
    assert [(row["name"], row["outcome"], row["tone"]) for row in view["layers"]] == [
        (name, "integers", "good") for name in ("0", "3", "5")
    ]
    assert view["layers"][1]["bytes"] == "8.19 KiB (float: 32.0 KiB)"
    assert view["layers"][1]["patterns"][0]["group"] == "weight packing, pass_patterns[1]"


def test_every_numbered_group_of_patterns_has_a_title() -> None:
    trace = trace_of("pt2e")
    numbered = [
        (step, note)
        for step, notes in zip(trace.steps, pass_notes(trace), strict=True)
        for note in notes
        if note.name.startswith("pass_pattern")
    ]
    assert len(numbered) == 11
    assert [note.name for _, note in numbered if not note.title] == []
    assert len({note.title for _, note in numbered}) == 11
    assert pass_title("inductor", "freezing_passes", "constant_fold") == ""


# --- conditions of torch's patterns, on graphs of a few nodes


def node(name: str, op: str, *inputs: str, type: str = FLOAT) -> Node:
    return Node(name, op, inputs, (Value(name, type),))


WEIGHT = (
    Node("w", "get_attr", (), (Value("w", CHAR),)),
    node("dqw", "quantized_decomposed.dequantize_per_channel.default", "w"),
    node("t", "aten.permute.default", "dqw"),
)
ACTIVATION = node("dqx", "quantized_decomposed.dequantize_per_tensor.default", "x")
PRODUCT = node("mm", "aten.mm.default", "dqx", "t")


def why(*nodes: Node, product: Node = PRODUCT, input_type: str = BYTE) -> str:
    values = GraphValues(GraphSnapshot((Value("x", input_type),), nodes, ("mm",)), frozenset())
    weight = values.weight_of(product)
    assert weight is not None
    return unmatched_prepack(values, product, weight, values.activation_of(product, weight))


def test_prepack_wants_an_activation_that_is_dequantised_per_tensor() -> None:
    product = node("mm", "aten.mm.default", "x", "t")
    text = why(*WEIGHT, product, product=product, input_type=FLOAT)
    assert "The activation is not dequantised per tensor (it is an input of the graph)" in text
    relu = node("r", "aten.relu.default", "x")
    product = node("mm", "aten.mm.default", "r", "t")
    assert "(it comes from relu)" in why(*WEIGHT, relu, product, product=product)


def test_prepack_wants_a_weight_that_is_dequantised_per_channel() -> None:
    per_tensor = replace(WEIGHT[1], op="quantized_decomposed.dequantize_per_tensor.default")
    assert "dequantised by dequantize_per_tensor; torch's pattern wants" in why(
        WEIGHT[0], per_tensor, WEIGHT[2], ACTIVATION, PRODUCT
    )
    by_hand = node("dqw", "aten.mul.Tensor", "w")
    assert "not dequantised by one operator of quantized_decomposed" in why(
        WEIGHT[0], by_hand, WEIGHT[2], ACTIVATION, PRODUCT
    )


def test_prepack_wants_one_reader_of_the_activation() -> None:
    other = node("other", "aten.relu.default", "dqx")
    assert why(*WEIGHT, ACTIVATION, PRODUCT, other).startswith("2 nodes read the dequantised activation")


def test_prepack_wants_convolutions_of_one_or_two_dimensions() -> None:
    large = "Float(1, 2, 3, 3, 3, strides=[54, 27, 9, 3, 1], device=cpu)"
    activation = replace(ACTIVATION, outputs=(Value("dqx", large),))
    conv = node("conv", "aten.convolution.default", "dqx", "dqw")
    text = why(*WEIGHT[:2], activation, conv, product=conv)
    assert text.startswith("The activation has 5 dimensions")


def test_unexplained_mismatch_says_so() -> None:
    assert why(*WEIGHT, ACTIVATION, PRODUCT) == "None of torch's known conditions explains it."


@pytest.mark.parametrize(
    ("after", "says"),
    [
        ((), ""),
        (("aten.sigmoid.default",), ""),
        (("aten.cos.default",), "cos follows; torch fuses relu, gelu, an addition"),
        (("aten.relu.default", "aten.cos.default"), "2 nodes read its output; torch fuses where one does."),
    ],
)
def test_fusion_that_did_not_happen_is_explained(after: tuple[str, ...], says: str) -> None:
    kernel = node("q", "onednn.qlinear_pointwise.default", "x")
    nodes = (kernel, *(node(f"n{at}", op, "q") for at, op in enumerate(after)))
    values = GraphValues(GraphSnapshot((Value("x", BYTE),), nodes, ("q",)), frozenset())
    text = unmatched_fusion(values, kernel)
    assert text.startswith(says) if says or not after else "none of torch's known conditions" in text or text == ""


@pytest.mark.parametrize(
    ("overload", "says"),
    [("default", "computed by relu, which no pattern fuses it into"), ("tensor", "Its scale is computed in each call")],
)
def test_quantisation_that_is_left_says_why(overload: str, says: str) -> None:
    relu = node("r", "aten.relu.default", "x")
    quantise = node("q", f"quantized_decomposed.quantize_per_tensor.{overload}", "r", type=BYTE)
    values = GraphValues(GraphSnapshot((Value("x", FLOAT),), (relu, quantise), ("q",)), frozenset())
    assert says in left_over(values, quantise)


def test_int_mm_wants_its_scales_right_after_it() -> None:
    product = node("p", "aten._int_mm.default", "x", "w")
    sub = node("s", "aten.sub.Tensor", "p")
    values = GraphValues(GraphSnapshot((), (product, sub), ()), frozenset())
    assert unmatched_int_mm(values, product).startswith("sub reads the product")


@pytest.mark.parametrize(
    ("text", "dtype", "elements"),
    [
        ("Char(16, 512, strides=[512, 1], device=cpu)", "int8", 8192),
        ("Float(8, strides=[1], requires_grad=0, device=cpu)", "float32", 8),
        ("Byte(s0, 4, strides=[4, 1], device=cpu)", "uint8", None),
        ("float8_e4m3fn(2, 2, strides=[2, 1], device=cpu)", "float8_e4m3fn", 4),
        ("Char(8, 3, layout=_mkldnn, device=cpu)", "int8", 24),
        ("Float(strides=[], device=cpu)", "float32", 1),
        ("unknown", "", None),
        ("Tensor", "", None),
        ("", "", None),
    ],
)
def test_type_texts_are_read(text: str, dtype: str, elements: int | None) -> None:
    assert (dtype_of(text), elements_of(text)) == (dtype, elements)


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("aten.mm.default", "mm"),
        ("aten::conv2d", "conv2d"),
        ("onednn.qlinear_pointwise.default", "qlinear_pointwise"),
        ("torch._inductor.fx_passes.quantization._register_x.qlinear", "qlinear"),
        ("get_attr", "get_attr"),
    ],
)
def test_operators_are_known_by_short_names(op: str, name: str) -> None:
    assert short(op) == name


# --- what the notice, the bound and the outcome may say


def test_notice_names_the_weight_even_where_its_scale_sorts_first() -> None:
    trace = trace_of("pt2e_torchscript")
    fates = tuple(replace(fate, path=fate.path.replace("_scale_", "A_scale_")) for fate in trace.attributes)
    renamed = replace(trace, attributes=fates)
    found = quantisation_outcome(renamed)
    assert found is not None
    assert found.undone[0].weights[0] == "A_scale_0"
    (notice,) = with_undone(renamed).notices
    assert "bytes of quantised weights (_frozen_param0, _frozen_param1, _frozen_param2), and" in notice.message


def constant(name: str, dtype: str, minimum: float = 0.0, maximum: float = 1.0) -> Node:
    """Returns a constant tensor of two rows and four columns."""
    kept = Constant((2, 4), dtype, "cpu", 32, storage=name, minimum=minimum, maximum=maximum)
    return Node(name, "prim::Constant", (), (Value(name, f"{dtype}(2, 4, strides=[4, 1], device=cpu)"),), constant=kept)


def one_step(*nodes: Node) -> fe.Trace:
    """Returns a trace with one graph, of an input ``x`` of floats."""
    graph = GraphSnapshot((Value("x", FLOAT),), nodes, (nodes[-1].outputs[0].name,))
    step = replace(small_trace().steps[0], index=0, method="forward", graph=graph, rewrites=())
    return replace(trace_of("pt2e_torchscript"), steps=(step,), attributes=(), notices=())


@pytest.mark.parametrize(
    ("weight", "scales", "bound"),
    [
        ("int8", (("float32", 0.1, 0.5),), 0.25),
        ("int8", (("float32", -0.5, 0.1),), 0.25),
        ("uint8", (("bfloat16", 0.1, 0.5),), 0.25),
        ("float8_e4m3fn", (("float32", 0.1, 0.5),), None),
        ("uint8", (("float8_e8m0fnu", 0.1, 0.5),), None),
        ("int8", (("float32", 0.1, 0.5), ("float32", 0.0, 9.0)), None),
        ("int8", (), None),
    ],
)
def test_rounding_has_a_bound_for_integers_with_one_scale(
    weight: str, scales: tuple[tuple[str, float, float], ...], bound: float | None
) -> None:
    tensors = [constant("w", weight), *(constant(f"s{at}", *each) for at, each in enumerate(scales))]
    made = node("made", "quantized_decomposed::dequantize_per_channel", *(each.id for each in tensors))
    trace = one_step(*tensors, made, node("mm", "aten::mm", "x", "made"))
    found = quantisation_outcome(trace)
    assert found is not None
    assert [layer.rounding for layer in found.layers] == [bound]
    view = quantisation_view(trace)
    assert view is not None
    told = " Rounding put at most half of the largest scale into an element of a weight." if bound else ""
    assert view["error"] == ERROR_UNKNOWN + told


BFLOAT = "BFloat16(2, 4, strides=[4, 1], device=cpu)"


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("aten::addmm", ("bias", "x", "made", "beta", "alpha")),
        ("aten::baddbmm", ("bias", "x", "made", "beta", "alpha")),
        ("aten.addmm.default", ("bias", "x", "made")),
        ("aten::mm", ("x", "made")),
        ("aten::mm", ("made", "x")),
    ],
)
def test_weight_of_a_product_stands_at_its_place(op: str, inputs: tuple[str, ...]) -> None:
    numbers = [Node(name, "prim::Constant", (), (Value(name, "int"),)) for name in ("beta", "alpha")]
    tensors = [constant("bias", "float32"), constant("w", "int8"), constant("s", "float32")]
    made = node("made", "quantized_decomposed::dequantize_per_channel", "w", "s")
    found = quantisation_outcome(one_step(*numbers, *tensors, made, node("product", op, *inputs)))
    assert found is not None
    assert [(each.node, each.weight_before, each.activation_before) for each in found.layers] == [
        ("product", "int8", "float32")
    ]


def test_scaled_product_has_its_weight_second() -> None:
    tensors = [constant("w", "float8_e4m3fn"), constant("sa", "float32"), constant("sb", "float32")]
    product = node("product", "aten._scaled_mm.default", "x", "w", "sa", "sb")
    found = quantisation_outcome(one_step(*tensors, product))
    assert found is not None
    assert [(each.weight_before, each.rounding) for each in found.layers] == [("float8_e4m3fn", None)]
    (layer,) = found.layers
    weight, scale = (held.constant.nbytes for held in (tensors[0], tensors[2]) if held.constant is not None)
    assert layer.bytes_before == weight + scale


@pytest.mark.parametrize(
    ("dtype", "is_it"),
    [
        *(
            (name, True)
            for name in ("int8", "uint8", "int4", "uint1", "int16", "uint16", "qint8", "quint8", "quint4x2")
        ),
        *((name, True) for name in ("float8_e4m3fn", "float4_e2m1fn_x2", "bits1x8", "bits4x2")),
        *((name, False) for name in ("int32", "uint32", "int64", "uint64", "qint32", "bits16", "bool", "float16", "")),
    ],
)
def test_weights_are_quantised_by_dtypes_of_at_most_16_bits_that_hold_no_plain_numbers(dtype: str, is_it: bool) -> None:
    assert is_narrow(dtype) == is_it


def first_layer(trace: fe.Trace) -> QuantisedLayer:
    found = quantisation_outcome(trace)
    assert found is not None
    return found.layers[0]


def test_errors_against_the_float_model_stand_beside_their_layers() -> None:
    trace = trace_of("pt2e")
    view = quantisation_view(trace)
    assert view is not None
    assert not view["has_errors"]
    first, second = [layer["name"] for layer in view["layers"]][:2]
    weight, output = OutputError("weight", 0.5, 0.25, 40.0, 0, False), OutputError("output", 0.1, 0.2, 12.34, 0, False)
    compared = replace(trace, layer_errors=(LayerError(first, (weight, output)), LayerError("elsewhere", (weight,))))
    view = quantisation_view(compared)
    assert view is not None
    assert [layer["errors"] for layer in view["layers"]][:2] == [
        ["weight 5.0e-01, 40.0 dB", "output 1.0e-01, 12.3 dB"],
        ["weight unknown", "output unknown"],
    ]
    assert f"The worst output is that of {first} (12.3 dB of signal over error)." in view["error"]
    assert "Not found in the float model: " in view["error"]
    assert second in view["error"].partition("Not found in the float model: ")[2]
    equal = replace(output, sqnr_db=float("inf"))
    for outputs, words in ((equal, "All outputs equal the float model's."), (replace(equal, sqnr_db=float("nan")), "")):
        view = quantisation_view(replace(trace, layer_errors=(LayerError(first, (weight, outputs)),)))
        assert view is not None
        assert words in view["error"]
        assert "worst output" not in view["error"]
    by_weights = (LayerError("", (weight,), (first_layer(trace).weights[0],)),)
    view = quantisation_view(replace(trace, layer_errors=by_weights))
    assert view is not None
    assert view["layers"][0]["errors"] == ["weight 5.0e-01, 40.0 dB", "output unknown"]
    assert "  error against the float model: weight 5.0e-01, 40.0 dB; output 1.0e-01, 12.3 dB\n" in stats_text(compared)


@pytest.mark.parametrize(("dtype", "name", "each"), [("int32", "_mm", 8), ("uint8", "_mm_for_cpu", 2)])
def test_packed_integers_of_four_bits_count_as_quantised(dtype: str, name: str, each: int) -> None:
    weight = constant("w", dtype)
    given = node("given", "aten.relu.default", "x", type=BFLOAT)
    product = node("product", f"aten._weight_int4pack{name}.default", "given", "w", "zeros", type=BFLOAT)
    trace = one_step(weight, constant("zeros", "bfloat16"), given, product)
    found = quantisation_outcome(trace)
    assert found is not None
    (layer,) = found.quantised
    assert (layer.outcome, layer.weight_before, layer.bytes_float) == ("weight only", dtype, 2 * 4 * each * 2)
    (finding,) = fe.Expectations(stays_quantised=True).evaluate(trace)
    assert finding.outcome == "ok"


def test_expectation_says_that_the_trace_does_not_show_the_layer() -> None:
    trace = one_step(node("q", "aten::quantize_per_tensor", "x"), node("y", "quantized::linear", "q"))
    (finding,) = fe.Expectations(stays_quantised=True).evaluate(trace)
    assert finding.outcome == "cannot tell"
    assert finding.message.endswith("does not show a layer with a quantised weight.")
    assert finding.remedy == ""


def test_layers_of_one_module_have_the_error_of_their_own_weight() -> None:
    trace = trace_of("pt2e")
    error = OutputError("weight", 0.5, 0.25, 40.0, 0, False)
    first, other = (fate.path for fate in trace.attributes[:2])
    found = LayerErrors(replace(trace, layer_errors=(LayerError("attn", (error,), (first,)),)))
    assert (
        found.of("attn", (first,))
        == found.of("elsewhere", (f"{first}.qdata",))
        == LayerError("attn", (error,), (first,))
    )
    assert found.of("attn", (other,)) is None
    assert found.of("attn", ()) is not None
    packed = LayerErrors(replace(trace, layer_errors=(LayerError("attn", (error,), ("attn.weight",)),)))
    assert packed.of("attn", (other,)) is not None
    assert packed.of("elsewhere", (other,)) is None


@pytest.mark.parametrize(("dtype", "shown"), [("BFloat16", "bfloat16"), ("Half", "float16"), ("Float", "float32")])
def test_activation_that_operators_of_their_own_quantise_has_its_dtype_before_the_scale(dtype: str, shown: str) -> None:
    """As torchao's dynamic int8 does it: the product with a scale of float32 is float32 whatever the activation is."""
    nodes = [
        made("scaled", "aten.mul.Tensor", "Float(4, 64)", "scale", "x"),
        made("rounded", "aten.round.default", "Float(4, 64)", "scaled"),
        made("shifted", "aten.add.Tensor", "Float(4, 64)", "rounded", "zero"),
        made("low", "aten.clamp_min.default", "Float(4, 64)", "shifted"),
        made("seen", "aten.view.default", "Float(4, 64)", "low"),
        made("narrow", "prims.convert_element_type.default", "Char(4, 64)", "seen"),
        made("wide", "prims.convert_element_type.default", "Int(4, 64)", "narrow"),
    ]
    inputs = (Value("x", f"{dtype}(4, 64)"), Value("scale", "Float(4, 1)"), Value("zero", "Char(4, 1)"))
    values = GraphValues(GraphSnapshot(inputs, tuple(nodes), ("wide",)), frozenset())
    assert values.float_dtype("wide") == shown
    without_rounding = GraphValues(
        GraphSnapshot(inputs, (nodes[0], made("n", "to", "Char(4)", "scaled")), ()), frozenset()
    )
    assert without_rounding.float_dtype("n") == "float32"


def made(name: str, op: str, kind: str, *inputs: str) -> Node:
    return Node(name, op, inputs, (Value(name, kind),))


def weight_only(between: str, activation: str, scale: str) -> str:
    """Returns why a linear with an int8 weight has no int8 kernel."""
    char, bf16 = (f"{name}(4, 4, strides=[4, 1], device=cpu)" for name in ("Char", "BFloat16"))
    shown = {"bfloat16": bf16, "float32": bf16.replace("BFloat16", "Float")}
    nodes = [
        Node("w", "get_attr", outputs=(Value("w", char),)),
        Node("s", "get_attr", outputs=(Value("s", shown[scale]),)),
        Node("c", "prims.convert_element_type.default", ("w",), (Value("c", shown[activation]),)),
        Node("b", between, ("c",) if "permute" in between else ("c", "s"), (Value("b", shown[activation]),)),
        Node("m", "aten.mm.default", ("x", "b"), (Value("m", shown[activation]),)),
        Node("y", "aten.mul.Tensor", ("m", "s"), (Value("y", shown[activation]),)),
    ]
    graph = GraphSnapshot((Value("x", shown[activation]),), tuple(nodes), ("y",))
    return unmatched_weight_only(GraphValues(graph, frozenset()), nodes[4], "b", "x", None)


@pytest.mark.parametrize(
    ("between", "activation", "scale", "why"),
    [
        (
            "aten.permute.default",
            "float32",
            "float32",
            "torch has kernels for int8 weights with activations and scales",
        ),
        (
            "aten.permute.default",
            "bfloat16",
            "float32",
            "torch has kernels for int8 weights with activations and scales",
        ),
        ("aten.permute.default", "bfloat16", "bfloat16", "None of torch's known conditions explains it."),
        (
            "aten.mul.Tensor",
            "bfloat16",
            "bfloat16",
            "mul computes the weight read. Torch's pattern wants",
        ),
    ],
)
def test_a_weight_only_layer_names_the_condition_that_failed(
    between: str, activation: str, scale: str, why: str
) -> None:
    found = weight_only(between, activation, scale)
    assert found.startswith(f"The weight is int8, the activation {activation}")
    assert why in found
