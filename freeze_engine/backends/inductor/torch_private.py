"""Looks up every private name of Inductor, Dynamo and fx that this backend uses.

torch gives no guarantees for these names. This module lists the names that are replaced or observed, each with the
loss without it; only `REQUIRED` ones keep a recording from starting. `private_dynamo`, `private_inductor` and
`private_operators` read the others; the backend takes all of them from here.

Checked on torch 2.13.0 (CPU build), and on 2.15.0, 2.9.1 and 2.6.0 (CUDA builds, run on a CPU).
"""

from __future__ import annotations

from collections.abc import Mapping

from freeze_engine.backends.inductor.private_dynamo import (
    CompiledFunction,
    compile_arguments,
    compiled_function,
    compiled_functions,
    current_compile_id,
    front_door,
    graph_notes,
    guarded_names,
    is_dynamo_imported,
    is_resumed,
    is_source,
    isolated_backend,
    source_name,
    tracing_context,
    without_modes,
)
from freeze_engine.backends.inductor.private_inductor import (
    COMPILE_MODULE,
    PATTERNS_MODULE,
    cache_counts,
    choice_shapes,
    compile_package,
    graph_number,
    inductor_config,
    is_ahead_of_time,
    is_imported,
    load_package,
    packaged_constants,
    pattern_group_name,
    pattern_group_names,
    patterns,
    profiled_events,
    setting_values,
)
from freeze_engine.backends.inductor.private_name import (
    PrivateName,
    check,
)
from freeze_engine.backends.inductor.private_operators import (
    argument_names,
    concrete,
    inner_tensors,
    is_higher_order,
    is_operator,
    returns_view,
    symbol,
)

__all__ = [
    "COMPILED_CALL",
    "COMPILE_CALL",
    "COMPILE_MODULE",
    "OPTIONAL",
    "REQUIRED",
    "UNFROZEN_COMPILER",
    "CompiledFunction",
    "PrivateName",
    "argument_names",
    "cache_counts",
    "choice_shapes",
    "compile_arguments",
    "compile_package",
    "compiled_function",
    "compiled_functions",
    "concrete",
    "current_compile_id",
    "front_door",
    "graph_notes",
    "graph_number",
    "guarded_names",
    "inductor_config",
    "inner_tensors",
    "is_ahead_of_time",
    "is_dynamo_imported",
    "is_higher_order",
    "is_imported",
    "is_operator",
    "is_resumed",
    "is_source",
    "isolated_backend",
    "load_package",
    "missing",
    "packaged_constants",
    "pattern_group_name",
    "pattern_group_names",
    "patterns",
    "profiled_events",
    "require",
    "returns_view",
    "setting_values",
    "source_name",
    "symbol",
    "tracing_context",
    "without_modes",
]

_FREEZING = "torch._inductor.freezing"
_FOLDING = "torch._inductor.fx_passes.binary_folding"
_MKLDNN = "torch._inductor.fx_passes.mkldnn_fusion"
_MATCHER = "torch._inductor.pattern_matcher"
_LOWERING = "torch._inductor.graph"
_OBSERVER = "torch.fx.passes.graph_transform_observer"
_DEBUG = "torch._inductor.debug"
_KERNEL_NODES = "set_kernel_post_grad_provenance_tracing"

#: Without one of these nothing can be recorded.
REQUIRED: Mapping[str, PrivateName] = {
    "freezing_compiler": PrivateName(COMPILE_MODULE, "fw_compiler_freezing", "input", "the compile itself"),
}

#: Without it there are no programs without freezing to compare the frozen ones with.
UNFROZEN_COMPILER = PrivateName(COMPILE_MODULE, "compile_fx_forward", "compile", "the compile without freezing")

#: Without it kernels are not timed.
COMPILED_CALL = PrivateName(
    "torch._inductor.output_code", "CompiledFxGraph.__call__", "compile", "what a program is called with"
)

#: Without it a capture does not know why a compile froze nothing.
COMPILE_CALL = PrivateName(COMPILE_MODULE, "compile_fx", "input", "why a compile froze nothing")

#: Without one of these, its passes are not separated, or not seen.
OPTIONAL: Mapping[str, PrivateName] = {
    "joint_graph_passes": PrivateName(
        COMPILE_MODULE, "_recursive_joint_graph_passes", "joint_graph", "where the joint-graph passes begin and end"
    ),
    "layout_fake_tensor_prop": PrivateName(
        COMPILE_MODULE, "fake_tensor_prop", "fake_tensor", "fake-tensor propagation before freezing and before lowering"
    ),
    "channels_last": PrivateName(
        _FREEZING, "convert_conv_weights_to_channels_last", "layout", "the channels-last conversion"
    ),
    "freeze": PrivateName(_FREEZING, "freeze", "inline_parameters", "where freezing begins and ends"),
    "view_to_reshape": PrivateName(_FREEZING, "view_to_reshape", "inline_parameters", "views turned into reshapes"),
    "replace_params": PrivateName(
        _FREEZING, "replace_params_with_constants", "inline_parameters", "which parameters were inlined"
    ),
    "cse": PrivateName(_FREEZING, "fx_graph_cse", "inline_parameters", "common subexpressions"),
    "freezing_passes": PrivateName(
        _FREEZING, "freezing_passes", "freezing_passes", "where the freezing passes begin and end"
    ),
    "constant_fold": PrivateName(_FREEZING, "constant_fold", "freezing_passes", "the constant-folding rounds"),
    "fake_tensor_prop": PrivateName(
        PATTERNS_MODULE, "fake_tensor_prop", "freezing_passes", "fake-tensor propagation between freezing passes"
    ),
    "mark_mixed_dtype": PrivateName(
        _FOLDING, "mark_mixed_dtype_allowed_computation_ops", "freezing_passes", "marking for mixed-precision folds"
    ),
    "recover_precision": PrivateName(
        _FOLDING, "recover_original_precision_folded_computation_ops", "freezing_passes", "precision recovery"
    ),
    "deduplicate_packed": PrivateName(
        _MKLDNN, "_eliminate_duplicate_packed_nodes", "freezing_passes", "deduplication of packed weights"
    ),
    "topological_sort": PrivateName(
        PATTERNS_MODULE, "stable_topological_sort", "freezing_passes", "the sort after the pattern groups"
    ),
    "apply_patterns": PrivateName(
        _MATCHER, "PatternMatcherPass.apply", "freezing_passes", "the pattern groups as steps of their own"
    ),
    "graph_entry": PrivateName(_MATCHER, "GraphPatternEntry.apply", "freezing_passes", "which patterns matched"),
    "lowering_entry": PrivateName(_MATCHER, "LoweringPatternEntry.apply", "freezing_passes", "which patterns matched"),
    "replacement_entry": PrivateName(
        _MATCHER, "ReplacementPatternEntry.apply", "freezing_passes", "which patterns matched"
    ),
    "pass_begins": PrivateName(
        _OBSERVER, "GraphTransformObserver.__enter__", "joint_graph", "joint-graph and post-grad passes by name"
    ),
    "pass_ends": PrivateName(
        _OBSERVER, "GraphTransformObserver.__exit__", "joint_graph", "joint-graph and post-grad passes by name"
    ),
    "apply_gm_pass": PrivateName(
        _OBSERVER, "GraphTransformObserver.apply_gm_pass", "joint_graph", "disabling the passes that torch names"
    ),
    "apply_graph_pass": PrivateName(
        _OBSERVER, "GraphTransformObserver.apply_graph_pass", "joint_graph", "disabling the passes that torch names"
    ),
    "late_view_to_reshape": PrivateName(
        COMPILE_MODULE, "view_to_reshape", "post_grad", "views turned into reshapes before lowering"
    ),
    "post_grad_passes": PrivateName(
        COMPILE_MODULE, "_recursive_post_grad_passes", "post_grad", "where the post-grad passes begin and end"
    ),
    "lower": PrivateName(_LOWERING, "GraphLowering.run", "compile", "the time of lowering"),
    "generate_code": PrivateName(_LOWERING, "GraphLowering.codegen", "compile", "the time of code generation"),
    "generate_cpp_code": PrivateName(
        _LOWERING, "GraphLowering.codegen_with_cpp_wrapper", "compile", "the time of code generation (C++ wrapper)"
    ),
    "package_files": PrivateName(
        "torch._inductor.package", "package_aoti", "compile", "the path and the size of the package"
    ),
    "compile_code": PrivateName(
        _LOWERING, "GraphLowering.compile_to_module", "compile", "the time of compiling the generated code"
    ),
    "kernel_nodes": PrivateName(_DEBUG, _KERNEL_NODES, "compile", "which nodes a kernel computes"),
    "cpp_kernel_nodes": PrivateName(
        "torch._inductor.codegen.cpp", _KERNEL_NODES, "compile", "which nodes a C++ kernel computes"
    ),
    "triton_kernel_nodes": PrivateName(
        "torch._inductor.codegen.triton", _KERNEL_NODES, "compile", "which nodes a Triton kernel computes"
    ),
    "cache_key": PrivateName(
        "torch._inductor.codecache",
        "FxGraphCache.prepare_key",
        "compile",
        "why Inductor's cache of compiled graphs could not be used",
    ),
    "autotuning": PrivateName(
        "torch._inductor.codecache", "PersistentCache.lookup", "compile", "the choices of autotuning and their times"
    ),
    "restore_stack": PrivateName(
        "torch._dynamo.codegen",
        "PyCodegen.restore_stack",
        "input",
        "which attributes the code around a graph reads from the module",
    ),
    "update_mutated": PrivateName(
        "torch._dynamo.side_effects",
        "SideEffects.codegen_update_mutated",
        "input",
        "which attributes the code around a graph assigns",
    ),
    "recompilation_reasons": PrivateName(
        "torch._dynamo.convert_frame",
        "get_and_maybe_log_recompilation_reasons",
        "input",
        "the guards that failed before a recompilation",
        former="get_and_maybe_log_recompilation_reason",  # up to torch 2.6
    ),
}


def require() -> None:
    """Checks that everything in `REQUIRED` is there.

    Raises:
        UnsupportedTorchError: naming the first missing one.
    """
    for known in REQUIRED.values():
        check(known)


def missing() -> tuple[PrivateName, ...]:
    """Returns the optional names that this torch does not have."""
    return tuple(known for known in OPTIONAL.values() if known.found is None)
