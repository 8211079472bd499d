"""Inductor's passes on any inference graph (``fx_passes/post_grad.py``) and the parts of its compile, of torch 2.13."""

from __future__ import annotations

from collections.abc import Mapping

from freeze_engine.analysis.pass_explanations import inductor_reasons as why
from freeze_engine.analysis.pass_explanations.entry import PassEntry, always
from freeze_engine.analysis.pass_explanations.inductor_shared import BETWEEN, CUSTOM, IN_ORDER, NO_OPS, SHAPES, VIEWS
from freeze_engine.analysis.pass_explanations.reasons import ONLY_READS, first_of, has_none_of

_TRITON = "higher_order.triton_kernel_wrapper_functional"
_AUTO = ("higher_order.auto_functionalized", "higher_order.auto_functionalized_v2")
_MAY_WORK_IN_PLACE = ("index_put", "generalized_scatter", "all_reduce", "_foreach_", "copy_", "_functional")

_COLLECTIVES: Mapping[str, PassEntry] = {
    "fuse_ddp_communication": PassEntry("Joins the collectives of distributed data parallel training."),
    "decomp_comms": PassEntry("Replaces collectives by smaller ones."),
    "dedup_reduce_scatters": PassEntry("Keeps one of equal reduce-scatters."),
    "bucket_reduce_scatters": PassEntry("Joins reduce-scatters into larger ones."),
    "bucket_all_reduce": PassEntry("Joins all-reduces into larger ones."),
    "bucket_all_gathers": PassEntry("Joins all-gathers into larger ones."),
    "overlap_scheduling": PassEntry("Orders collectives so that they overlap with computation."),
    "replace_collectives_with_low_contention": PassEntry(
        "Replaces collectives by ones that leave the GPU's processors to the computation."
    ),
    # Of torch 2.15.
    "deduplicate_wait_tensors": PassEntry(
        "Keeps one of several waits for the same collective.",
        has_none_of("wait for a collective", "_c10d_functional.wait_tensor"),
    ),
    # Of torch 2.6.
    "reinplace_fsdp_all_gather": PassEntry(
        "Lets an all-gather of FSDP write into the memory from which it copies.",
        has_none_of("all-gather of FSDP", "fsdp.all_gather_copy_in.default"),
    ),
}
POST_GRAD: Mapping[str, PassEntry] = {
    "post_grad_passes": BETWEEN,
    "post_grad_custom_post_pass": CUSTOM,
    "fake_tensor_prop": SHAPES,
    "view_to_reshape": VIEWS,
    "remove_noop_ops": NO_OPS,
    "stable_sort": IN_ORDER,
    "reorder_for_locality": PassEntry("Moves each node right before the first node that reads it.", why.local_already),
    "post_grad_custom_pre_pass": PassEntry(
        "Runs a pass of the user's, or the fusions of several operators into one batch that "
        "torch._inductor.config.post_grad_fusion_options names (none by default)."
    ),
    "remove_profiler_ops": PassEntry(
        "Removes the operators of the profiler's record_function.",
        lambda occasion: None if occasion.graph.has_part("profiler.") else "The graph has no operator of the profiler.",
    ),
    # Of torch 2.14.
    "respecialize_current_device": PassEntry(
        "Puts the device of this process in the place of the nodes that ask for it.",
        lambda occasion: (
            None if occasion.graph.has_part("current_device") else "The graph has no node for the current device."
        ),
    ),
    "remove_assert_ops": PassEntry(
        "Removes checks of a tensor's metadata, which hinder fusions.",
        has_none_of("check of a tensor's metadata", "aten._assert_tensor_metadata"),
    ),
    "pass_pattern_0": PassEntry(
        "Replaces patterns of operators, first group; torch 2.13 itself registers none.",
        why.has_no_patterns,
        "first patterns",
    ),
    "pass_pattern_1": PassEntry(
        "Fuses a packed convolution or linear with the activation or addition after it, and two added matrix products "
        "into one template. Lowers int8 weight-only products in bfloat16, and reshape, cat and max pooling of "
        "quantized tensors, which then work on integers.",
        first_of(why.has_no_patterns, why.nothing_to_lower),
        "fusions with packed operators",
    ),
    "pass_pattern_2": PassEntry(
        "Joins a matrix product and the bias after it into addmm, removes a split that a cat undoes, and lowers "
        "quantized operators.",
        first_of(
            why.has_no_patterns,
            lambda occasion: (
                None
                if occasion.graph.has(*why.MATMULS, "aten.cat") or why.not_quantized(occasion) is None
                else "The graph has no matrix product, cat or quantized operator."
            ),
        ),
        "addmm, and lowering of quantized operators",
    ),
    "b2b_gemm_pass": PassEntry("Fuses two matrix products in a row into one kernel."),
    "partitioned_scatter_optimization": PassEntry("Splits a scatter so that fewer writes wait for each other."),
    "chain_random_ops_ordering": PassEntry("Keeps random operators in the order of the program."),
    "move_constructors_to_cuda": PassEntry(
        "Creates a tensor on the GPU at once if only operators on the GPU read it.", why.no_gpu
    ),
    # Of torch 2.15.
    "slice_scatter_chunking": PassEntry(
        "Builds a tensor that is filled slice by slice at once, or in one place, without a copy of it for each slice.",
        has_none_of("write into a slice", "aten.slice_scatter"),
    ),
    "reinplace_inplaceable_ops": PassEntry(
        "Lets an operator write into its input where nothing reads that input later.",
        lambda occasion: (
            None
            if occasion.graph.has_part(*_MAY_WORK_IN_PLACE)
            else "The graph has no operator that it could let work in place."
        ),
    ),
    "fix_auto_functionalized_dtype_views": PassEntry(
        "Saves the copy of a view of an input with another dtype.",
        has_none_of("functionalized custom operator", *_AUTO),
    ),
    "decompose_triton_kernel_wrapper_functional": PassEntry(
        "Replaces a functional wrapper of a Triton kernel by the kernel and the copies that it needs.",
        has_none_of("wrapped Triton kernel", _TRITON),
    ),
    "decompose_auto_functionalized": PassEntry(
        "Replaces a functionalized custom operator by the operator that works in place and the copies that it needs.",
        has_none_of("functionalized custom operator", *_AUTO),
    ),
    "decompose_scan_to_while_loop": PassEntry(
        "Replaces a scan by a while loop.", has_none_of("scan", "higher_order.scan")
    ),
    "decompose_map_to_while_loop": PassEntry(
        "Replaces a map by a while loop.", has_none_of("map", "higher_order.map_impl")
    ),
    **_COLLECTIVES,
}
COMPILE: Mapping[str, PassEntry] = {
    "GraphLowering.run": PassEntry(
        "Translates each node into Inductor's loops or into a call of a library.", always(ONLY_READS)
    ),
    "GraphLowering.codegen": PassEntry(
        "Fuses loops into kernels and writes their code, and the Python code that calls them.", always(ONLY_READS)
    ),
    "GraphLowering.codegen_with_cpp_wrapper": PassEntry(
        "Fuses loops into kernels and writes their code, and the C++ code that calls them.", always(ONLY_READS)
    ),
    "GraphLowering.compile_to_module": PassEntry(
        "Compiles the generated code and loads it as a module.", always(ONLY_READS)
    ),
    "CompiledFxGraph": PassEntry("The compiled graph, with its kernels.", always(ONLY_READS)),
    "wrapper": PassEntry(
        "The function around the compiled graph: which arguments of the model it still takes.", always(ONLY_READS)
    ),
}
