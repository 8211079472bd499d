"""The passes of Inductor with freezing, up to lowering.

Read from ``torch/_inductor``: ``compile_fx.py``, ``freezing.py``, ``constant_folding.py``, and in ``fx_passes``
``joint_graph.py``, ``freezing_patterns.py``, ``binary_folding.py``, ``mkldnn_fusion.py``, ``quantization.py`` and
``post_grad.py`` of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Mapping

from freeze_engine.analysis.pass_explanations import inductor_reasons as why
from freeze_engine.analysis.pass_explanations.entry import PassEntry, always
from freeze_engine.analysis.pass_explanations.inductor_shared import BETWEEN, CUSTOM, IN_ORDER, NO_OPS, SHAPES, VIEWS
from freeze_engine.analysis.pass_explanations.reasons import (
    ONLY_READS,
    first_of,
    has_none_of,
    lacks,
    near_misses,
    no_repeats,
    nothing_from_constants,
)

_RANDOM = ("aten.rand", "aten.randn", "aten.randint")

JOINT_GRAPH: Mapping[str, PassEntry] = {
    "joint_graph_passes": BETWEEN,
    "joint_custom_pre_pass": CUSTOM,
    "joint_custom_post_pass": CUSTOM,
    "remove_noop_ops": NO_OPS,
    "constant_fold_uniform_value": PassEntry(
        "Replaces a tensor whose elements are known to be all equal by full(), and removes + 0, − 0, × 1 and ÷ 1.",
        why.nothing_known_before,
    ),
    "early_patterns": PassEntry(
        "Removes a view to the shape that the tensor has, and pairs of views or permutes that cancel out.",
        first_of(why.has_no_patterns, has_none_of("view or permute", "aten.view", "aten.permute")),
    ),
    "pass_pattern_0": PassEntry(
        "Fuses attention into one operator, pads matrix products and turns bmm of one batch into mm on a GPU, and "
        "removes chains of dtype conversions.",
        first_of(
            why.has_no_patterns,
            has_none_of(
                "matrix product, dtype conversion, iota, scatter or randperm",
                *("aten.bmm", "aten.matmul", "prims.convert_element_type", "prims.iota", "aten.scatter"),
                *("aten.randperm", *why.MATMULS),
            ),
            why.nothing_batched_on_cpu,
        ),
        "attention and matrix products",
    ),
    "pass_pattern_1": PassEntry(
        "Rewrites a softmax of scaled values so that the scaling is computed once, after the maximum is subtracted.",
        first_of(
            why.has_no_patterns, has_none_of("amax, with which a softmax begins", "aten.amax"), why.no_scaled_softmax
        ),
        "scaled softmax",
    ),
    "replace_random": PassEntry(
        "Replaces random operators by Inductor's own generator.",
        has_none_of("random operator that it knows (rand, randn, randint)", *_RANDOM),
    ),
    "fuse_seed_creation_pass": PassEntry(
        "Makes the seeds of all random operators of a device at once.",
        has_none_of("seed of a random operator", "prims.inductor_seed"),
    ),
    "fuse_offset_creation_pass": PassEntry("Makes the offsets of all random operators of a device at once."),
}
BEFORE_FREEZING: Mapping[str, PassEntry] = {
    "input": PassEntry("The graph as Dynamo and AOTAutograd made it, before any pass."),
    "decide_layout_opt": PassEntry(
        "Decides whether convolutions run in the channels-last layout; its notes say why.", always(ONLY_READS)
    ),
    "convert_conv_weights_to_channels_last": PassEntry(
        "Converts the weights of 2D convolutions to channels last, and keeps the layout of the outputs.",
        lacks(convolution=why.CONV),
    ),
    "fake_tensor_prop": SHAPES,
    "freeze": BETWEEN,
    "view_to_reshape": VIEWS,
    "replace_params_with_constants": PassEntry(
        "Replaces each parameter and buffer by a constant, unless the graph writes it or an output shares its memory."
    ),
    "fx_graph_cse": PassEntry(
        "Keeps one of several nodes that apply the same operator to the same inputs, random operators excepted.",
        no_repeats,
    ),
}
FREEZING_PASSES: Mapping[str, PassEntry] = {
    "freezing_passes": BETWEEN,
    "mark_mixed_dtype_allowed_computation_ops": PassEntry(
        "Marks convolutions and matrix products in half precision whose only reader converts to float32: "
        "binary_folding may fold into these.",
        always(ONLY_READS),
    ),
    "constant_fold": PassEntry(
        "Runs the nodes that read constants only, and keeps the results as constants.", nothing_from_constants
    ),
    "binary_folding": PassEntry(
        "Folds an addition, subtraction, multiplication or division by a constant into the weight and bias of the "
        "convolution before it, so that a batch norm disappears in up to four rounds. Into a linear it folds only with "
        "torch._inductor.config.enable_linear_binary_folding.",
        first_of(
            has_none_of("convolution and no matrix product", *why.CONV, *why.MATMULS),
            has_none_of("addition, subtraction, multiplication or division", *why.BINARIES),
            why.no_binary_beside,
            near_misses,
        ),
    ),
    "recover_original_precision_folded_computation_ops": PassEntry(
        "Converts weights that a fold widened to float32 back to half precision.", why.not_half
    ),
    "pass_patterns[0]": PassEntry(
        "Packs the weights of convolutions for oneDNN on the CPU, joins matrix products of one input, removes needless "
        "dtype conversions, and gives each reader of a dequantized activation a dequantization of its own.",
        first_of(
            why.has_no_patterns,
            why.nothing_on_cpu,
            why.matmuls_on_cpu,
            has_none_of(
                "convolution, matrix product, RNN layer or dtype conversion",
                *why.CONV,
                *why.MATMULS,
                *why.RNN,
                "prims.convert_element_type",
            ),
        ),
        "convolution packing, joined products",
    ),
    "pass_patterns[1]": PassEntry(
        "Packs the weights of linears for oneDNN or MKL on the CPU. Replaces a convolution or linear, with its "
        "dequantized activation and its weight that is dequantized per channel, by one quantized operator with a "
        "packed weight; so too int8 matrix products with their scales, and linears with a float16 weight.",
        first_of(
            why.has_no_patterns,
            why.nothing_on_cpu,
            has_none_of("linear left to pack and no quantized operator", *why.MATMULS, "aten.bmm", "aten._int_mm"),
        ),
        "weight packing",
    ),
    "pass_patterns[2]": PassEntry(
        "Removes the reshapes around a packed linear and adds a bias that follows it. Packs quantized linears that "
        "became bmm, and int8 matrix products without a reshape.",
        first_of(why.has_no_patterns, why.nothing_around_packed_linear),
        "reshapes and biases of packed linears",
    ),
    **{
        f"pass_patterns[{number}]": PassEntry(does, first_of(why.has_no_patterns, why.not_quantized), title)
        for number, does, title in (
            (
                3,
                "Fuses a quantized convolution or linear with an activation (relu, gelu, hardswish, …) or addition and "
                "the quantization after it, so that its output is int8.",
                "quantized fusions, int8 output",
            ),
            (
                4,
                "Fuses a quantized convolution or linear with an activation after it, or an addition and relu; its "
                "output stays floating point.",
                "quantized fusions, float output",
            ),
            (
                5,
                "Fuses a quantized convolution or linear with an addition after it; its output stays floating point.",
                "quantized additions, float output",
            ),
        )
    },
    "eliminate_duplicate_packed_nodes": PassEntry(
        "Keeps one of the packed weights that are made of the same weight.", why.no_two_packed
    ),
    "stable_topological_sort": IN_ORDER,
}
