"""Replacements for torch functions that watch a compile: each runs torch's own function and records it."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from freeze_engine.backends.common.patching import Patch
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.ahead_of_time import constants_of, wrapper_code
from freeze_engine.backends.inductor.capture.pass_observer import (
    FAKE_TENSOR,
    FREEZING_PASSES,
    INLINE_PARAMETERS,
    JOINT_GRAPH,
    LAYOUT,
    POST_GRAD,
    Observation,
)
from freeze_engine.backends.inductor.capture.raw import Autotuning, RawKernel

Current = Callable[[], "Observation | None"]
Hook = Callable[[Callable[..., Any], Current], Callable[..., Any]]


def patches(current: Current) -> tuple[Patch, ...]:
    """Returns the replacements of all optional names that this torch has.

    Args:
        current: returns the observer of the compile that runs now, ``None`` if none is watched.
    """
    found = ((key, torch_private.OPTIONAL[key]) for key in _HOOKS)
    return tuple(
        Patch(known.owner, known.attribute, _HOOKS[key](known.found, current))
        for key, known in found
        if known.found is not None
    )


def _single(name: str, stage: str) -> Hook:
    """A function that is one pass; its first argument is a graph module or a graph."""

    def hook(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(graph: Any, *args: Any, **kwargs: Any) -> Any:
            watching = current()
            if watching is None or not watching.owns(_module(graph)):
                return original(graph, *args, **kwargs)
            with watching.passing(name, stage, _module(graph)):
                return original(graph, *args, **kwargs)

        return call

    return hook


def _several(name: str, stage: str) -> Hook:
    """A function that runs the passes of one stage on a graph module."""

    def hook(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            watching = current()
            if watching is None or not watching.owns(module):
                return original(module, *args, **kwargs)
            with watching.inside(stage, name):
                return original(module, *args, **kwargs)

        return call

    return hook


def _joint_graph_passes(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    """These functions may return another graph module than their argument."""

    @functools.wraps(original)
    def call(module: Any, *args: Any, **kwargs: Any) -> Any:
        watching = current()
        if watching is None or module is not watching.module:
            return original(module, *args, **kwargs)
        with watching.inside(JOINT_GRAPH, "joint_graph_passes"):
            result = original(module, *args, **kwargs)
            if result is not None:  # up to torch 2.7 they work in place
                watching.replace_module(result)
        return result

    return call


def _fake_tensor_prop(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    """Before freezing torch calls it only after choosing channels-last; later it is the first function of lowering."""

    @functools.wraps(original)
    def call(module: Any, *args: Any, **kwargs: Any) -> Any:
        watching = current()
        if watching is None or not watching.owns(module):
            return original(module, *args, **kwargs)
        if not watching.is_lowering:
            watching.decide_layout(True)
        with watching.passing("fake_tensor_prop", POST_GRAD if watching.is_lowering else FAKE_TENSOR, module):
            return original(module, *args, **kwargs)

    return call


def _freeze(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(dynamo_module: Any, module: Any, *args: Any, **kwargs: Any) -> Any:
        watching = current()
        if watching is None or not watching.owns(module):
            return original(dynamo_module, module, *args, **kwargs)
        watching.decide_layout(False)
        with watching.inside(INLINE_PARAMETERS, "freeze"):
            frozen, preserved = original(dynamo_module, module, *args, **kwargs)
            watching.replace_module(frozen)
        watching.compiled.preserved = tuple(preserved)
        watching.is_lowering = True
        return frozen, preserved

    return call


def _inline(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    """Records ``freeze``'s last call, which returns the inputs that the compiled graph still takes."""

    @functools.wraps(original)
    def call(module: Any, *args: Any, **kwargs: Any) -> Any:
        watching = current()
        if watching is None or not watching.owns(module):
            return original(module, *args, **kwargs)
        with watching.passing("replace_params_with_constants", INLINE_PARAMETERS, module):
            preserved = original(module, *args, **kwargs)
            watching.compiled.preserved = tuple(preserved)
        return preserved

    return call


def _common_subexpressions(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    """torch puts the new graph into the module right after this returns, so the step is noted when the next begins."""

    @functools.wraps(original)
    def call(graph: Any, *args: Any, **kwargs: Any) -> Any:
        watching = current()
        if watching is None or not watching.owns(_module(graph)):
            return original(graph, *args, **kwargs)
        return watching.delayed("fx_graph_cse", functools.partial(original, graph, *args, **kwargs))

    return call


def _pattern_group(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    @functools.wraps(original)
    def apply(group: Any, graph: Any) -> Any:
        watching = current()
        if watching is None or not watching.owns(_module(graph)):
            return original(group, graph)
        with watching.passing(watching.group_name(group), None, _module(graph)) as running:
            running.group = group
            return original(group, graph)

    return apply


def _pattern_entry(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    @functools.wraps(original)
    def apply(entry: Any, match: Any, graph: Any, node: Any) -> Any:
        watching = current()
        module = graph.owning_module
        if watching is None or not watching.owns(module):
            return original(entry, match, graph, node)
        matching = watching.matched(entry, match)
        module._register_create_node_hook(matching.created)
        try:
            result = original(entry, match, graph, node)
        finally:
            module._unregister_create_node_hook(matching.created)
        matching.done()
        return result

    return apply


def _pass_begins(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    @functools.wraps(original)
    def enter(observer: Any) -> Any:
        watching = current()
        if watching is not None and watching.owns(observer.gm):
            watching.observer_begins(observer)
        return original(observer)

    return enter


def _pass_ends(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    @functools.wraps(original)
    def leave(observer: Any, kind: Any, error: Any, traceback: Any) -> Any:
        watching = current()
        if watching is not None:
            watching.observer_ends(observer, error)
        return original(observer, kind, error, traceback)

    return leave


def _work(name: str) -> Hook:
    """A part of the compile after the last pass: a method of the lowering of the whole graph or of a subgraph."""

    def hook(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(lowering: Any, *args: Any, **kwargs: Any) -> Any:
            watching = current()
            if watching is None or lowering.module is not watching.module:
                return original(lowering, *args, **kwargs)
            with watching.working(name):
                return original(lowering, *args, **kwargs)

        return call

    return hook


def _generate_cpp(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    """Also notes the constants of a package, and its C++ code."""
    timed = _work("GraphLowering.codegen_with_cpp_wrapper")(original, current)

    @functools.wraps(original)
    def call(lowering: Any, *args: Any, **kwargs: Any) -> Any:
        result = timed(lowering, *args, **kwargs)
        watching = current()
        if watching is not None and lowering.module is watching.module and watching.compiled.package is not None:
            watching.compiled.package.constants = constants_of(lowering)
            watching.compiled.package.code = wrapper_code(result)
        return result

    return call


def _compile_code(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    """Also notes the generated module."""
    timed = _work("GraphLowering.compile_to_module")(original, current)

    @functools.wraps(original)
    def call(lowering: Any, *args: Any, **kwargs: Any) -> Any:
        program = timed(lowering, *args, **kwargs)
        watching = current()
        if watching is not None and lowering.module is watching.module:
            watching.compiled.program = weakref.ref(program)
        return program

    return call


def _kernel_nodes(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    """Inductor calls this function for every kernel that it is about to call, even if there is nothing to note."""

    @functools.wraps(original)
    def call(computed: Any, kernel_name: str | None, *args: Any, **kwargs: Any) -> Any:
        watching = current()
        if watching is not None and kernel_name is not None:
            watching.compiled.kernels.append(RawKernel(kernel_name, tuple(_buffers(computed))))
        return original(computed, kernel_name, *args, **kwargs)

    return call


def _buffers(computed: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yields the origins of the buffers that a kernel computes: a library's kernel, or nodes of the scheduler."""
    for each in computed if isinstance(computed, list) else [computed]:
        buffer = getattr(each, "node", each)  # a marker between nodes of the scheduler has no origins
        origins = tuple(getattr(buffer, "origins", ()))
        if origins:
            yield origins, getattr(buffer, "origin_node", None)


def _cache_key(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    """For a graph that cannot be cached, torch's function returns no key, and the reason."""

    @functools.wraps(original)
    def prepare_key(module: Any, *args: Any, **kwargs: Any) -> Any:
        key, known = original(module, *args, **kwargs)
        watching = current()
        if watching is not None and watching.owns(module):
            watching.compiled.uncached = str(known.get("cache_bypass_reason", ""))
        return key, known

    return prepare_key


def autotuning(original: Callable[..., Any], current: Current) -> Callable[..., Any]:
    """Called by Inductor for the times of several kernels; it measures those that it does not know yet."""

    @functools.wraps(original)
    def lookup(cache: Any, choices: Any, operator: str, inputs: str, *args: Any, **kwargs: Any) -> Any:
        timings = original(cache, choices, operator, inputs, *args, **kwargs)
        watching = current()
        if watching is not None and timings and len(timings) == len(choices):
            times = sorted(((str(choice.name), float(ms)) for choice, ms in timings.items()), key=lambda each: each[1])
            found = Autotuning(operator, torch_private.choice_shapes(choices), tuple(times))
            watching.compiled.autotuned[operator, inputs] = found
        return timings

    return lookup


def _module(graph: Any) -> Any:
    """Returns the graph module of a pass's argument: the argument itself, or the owner of that graph."""
    return getattr(graph, "owning_module", graph)


_HOOKS: Mapping[str, Hook] = {
    "joint_graph_passes": _joint_graph_passes,
    "layout_fake_tensor_prop": _fake_tensor_prop,
    "channels_last": _single("convert_conv_weights_to_channels_last", LAYOUT),
    "freeze": _freeze,
    "view_to_reshape": _single("view_to_reshape", INLINE_PARAMETERS),
    "replace_params": _inline,
    "cse": _common_subexpressions,
    "freezing_passes": _several("freezing_passes", FREEZING_PASSES),
    "constant_fold": _single("constant_fold", FREEZING_PASSES),
    "fake_tensor_prop": _single("fake_tensor_prop", FREEZING_PASSES),
    "mark_mixed_dtype": _single("mark_mixed_dtype_allowed_computation_ops", FREEZING_PASSES),
    "recover_precision": _single("recover_original_precision_folded_computation_ops", FREEZING_PASSES),
    "deduplicate_packed": _single("eliminate_duplicate_packed_nodes", FREEZING_PASSES),
    "topological_sort": _single("stable_topological_sort", FREEZING_PASSES),
    "apply_patterns": _pattern_group,
    "graph_entry": _pattern_entry,
    "lowering_entry": _pattern_entry,
    "replacement_entry": _pattern_entry,
    "pass_begins": _pass_begins,
    "pass_ends": _pass_ends,
    "late_view_to_reshape": _single("view_to_reshape", POST_GRAD),
    "post_grad_passes": _several("post_grad_passes", POST_GRAD),
    "lower": _work("GraphLowering.run"),
    "generate_code": _work("GraphLowering.codegen"),
    "generate_cpp_code": _generate_cpp,
    "compile_code": _compile_code,
    "kernel_nodes": _kernel_nodes,
    "cpp_kernel_nodes": _kernel_nodes,
    "triton_kernel_nodes": _kernel_nodes,
    "cache_key": _cache_key,
    "autotuning": autotuning,
}
