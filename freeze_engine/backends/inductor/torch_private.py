"""Looks up every private name of Inductor, Dynamo and fx that this backend uses.

torch gives no guarantees for these names. Each is listed with the loss without it; only `REQUIRED` ones keep
a recording from starting. Checked on torch 2.13.0 (CPU build), and on 2.15.0, 2.9.1 and 2.6.0 (CUDA builds, run on a
CPU).
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.backends.common.torch_private import lacks, profiled, require_recent

_COMPILE = "torch._inductor.compile_fx"
_FREEZING = "torch._inductor.freezing"
_PATTERNS = "torch._inductor.fx_passes.freezing_patterns"
_FOLDING = "torch._inductor.fx_passes.binary_folding"
_MKLDNN = "torch._inductor.fx_passes.mkldnn_fusion"
_MATCHER = "torch._inductor.pattern_matcher"
_LOWERING = "torch._inductor.graph"
_OBSERVER = "torch.fx.passes.graph_transform_observer"
_DEBUG = "torch._inductor.debug"
_KERNEL_NODES = "set_kernel_post_grad_provenance_tracing"


@dataclass(frozen=True, slots=True)
class PrivateName:
    """A name of torch that is replaced or read while a compile is observed.

    Attributes:
        module: where torch looks it up when it runs.
        name: there; dotted for a method of a class.
        stage: the stage that is unobserved without it.
        lost: what is lost without it, in words.
        former: its name, in the same place, in an older torch.
    """

    module: str
    name: str
    stage: str
    lost: str
    former: str = ""

    @property
    def path(self) -> str:
        """The full dotted name."""
        return f"{self.module}.{self.name}"

    @property
    def owner(self) -> Any:
        """The module or class that holds the name, ``None`` where this torch has no such one."""
        try:
            owner: Any = importlib.import_module(self.module)
        except ModuleNotFoundError:
            return None
        for part in self.name.split(".")[:-1]:
            owner = getattr(owner, part, None)
        return owner

    @property
    def attribute(self) -> str:
        """The name within its owner."""
        name = self.name.rpartition(".")[2]
        return self.former if self.former and not hasattr(self.owner, name) else name

    @property
    def found(self) -> Any:
        """Returns the object behind the name, ``None`` if this torch does not have it."""
        owner = self.owner
        if isinstance(owner, type):
            # Restoring an inherited attribute would make it the class's own.
            return vars(owner).get(self.attribute)
        return getattr(owner, self.attribute, None)


#: Pattern groups that torch gives no name: their module, their variable there, and our name.
_NAMELESS = (
    ("torch._inductor.fx_passes.joint_graph", "early_patterns", "early_patterns"),
    ("torch._inductor.fx_passes.replace_random", "patterns", "replace_random"),
    (_PATTERNS, "binary_folding_pass", "binary_folding"),
    (_PATTERNS, "pass_patterns", "pass_patterns"),
)

#: Without one of these nothing can be recorded.
REQUIRED: Mapping[str, PrivateName] = {
    "freezing_compiler": PrivateName(_COMPILE, "fw_compiler_freezing", "input", "the compile itself"),
}

#: Without it there are no programs without freezing to compare the frozen ones with.
UNFROZEN_COMPILER = PrivateName(_COMPILE, "compile_fx_forward", "compile", "the compile without freezing")

#: Without it kernels are not timed.
COMPILED_CALL = PrivateName(
    "torch._inductor.output_code", "CompiledFxGraph.__call__", "compile", "what a program is called with"
)

#: Without it a capture does not know why a compile froze nothing.
COMPILE_CALL = PrivateName(_COMPILE, "compile_fx", "input", "why a compile froze nothing")

_DOOR = PrivateName("torch", "_TorchCompileInductorWrapper.__call__", "input", "compiles before Inductor is imported")

#: Without one of these, its passes are not separated, or not seen.
OPTIONAL: Mapping[str, PrivateName] = {
    "joint_graph_passes": PrivateName(
        _COMPILE, "_recursive_joint_graph_passes", "joint_graph", "where the joint-graph passes begin and end"
    ),
    "layout_fake_tensor_prop": PrivateName(
        _COMPILE, "fake_tensor_prop", "fake_tensor", "fake-tensor propagation before freezing and before lowering"
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
        _PATTERNS, "fake_tensor_prop", "freezing_passes", "fake-tensor propagation between freezing passes"
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
        _PATTERNS, "stable_topological_sort", "freezing_passes", "the sort after the pattern groups"
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
        _COMPILE, "view_to_reshape", "post_grad", "views turned into reshapes before lowering"
    ),
    "post_grad_passes": PrivateName(
        _COMPILE, "_recursive_post_grad_passes", "post_grad", "where the post-grad passes begin and end"
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
        _check(known)


def _check(known: PrivateName) -> None:
    if known.found is None:
        raise lacks(known.path, known.lost)


def missing() -> tuple[PrivateName, ...]:
    """Returns the optional names that this torch does not have."""
    return tuple(known for known in OPTIONAL.values() if known.found is None)


#: The part of Inductor that freezes.
COMPILE_MODULE = _COMPILE


def is_imported() -> bool:
    """Returns whether the part of Inductor that freezes has been imported; doing that takes seconds."""
    found = sys.modules.get(_COMPILE)
    # A module that is being imported right now has no functions to replace yet.
    return found is not None and not getattr(found.__spec__, "_initializing", False)


def front_door() -> PrivateName:
    """Returns the function that gets every graph from ``torch.compile``, before that imports Inductor.

    Raises:
        UnsupportedTorchError: this torch is too old, or does not have it.
    """
    require_recent()
    _check(_DOOR)
    return _DOOR


def isolated_backend(mode: str | None, dynamic: bool | None) -> Any:
    """Returns Inductor as a backend that equals no other, for `torch.compile`.

    Dynamo keeps what it compiled with the code of a function, and runs it for every module whose guards pass and whose
    backend is equal. Code compiled without freezing takes the parameters as inputs, has guards that any module of the
    class passes, and would be run in the place of frozen code from then on (torch 2.13).

    Args:
        mode: of ``torch.compile``.
        dynamic: likewise.
    """
    wrapper = front_door().owner
    members = {"__eq__": object.__eq__, "__hash__": object.__hash__}
    return type("IsolatedInductor", (wrapper,), members)(mode or "default", None, dynamic)


def compile_arguments(wrapper: Any) -> Mapping[str, Any]:
    """Returns the arguments of the ``torch.compile`` call whose graph Dynamo hands over now, as far as they are kept.

    torch turns a mode into options, and takes no options beside a mode (torch 2.13).

    Args:
        wrapper: Inductor as ``torch.compile``'s backend.

    Returns:
        ``mode``, ``dynamic``, ``fullgraph`` and ``options``; what torch does not tell is left out.
    """
    options, dynamic = dict(getattr(wrapper, "config", None) or {}), getattr(wrapper, "dynamic", None)
    modes: Mapping[str, Any] = getattr(importlib.import_module("torch._inductor"), "list_mode_options", dict)()
    mode = next((name for name, settings in modes.items() if settings == options), None)
    found = {"options": options} if mode is None else {"mode": mode}
    translator = getattr(importlib.import_module("torch._dynamo.symbolic_convert"), "InstructionTranslator", None)
    try:
        is_one = translator.current_tx().one_graph if translator is not None else None
    except AttributeError:  # this torch keeps it elsewhere, or Dynamo does not run
        is_one = None
    known = {"dynamic": dynamic, "fullgraph": is_one}
    return {**found, **{name: value for name, value in known.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """The user's function whose graph Dynamo hands over, where that is no method of a module.

    Attributes:
        name: qualified name, such as ``Server.answer``.
        arguments: names of what its caller passes; anything else it reads from its closure, its object, or a global.
    """

    name: str
    arguments: frozenset[str]


_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+")


def compiled_function() -> CompiledFunction | None:
    """Returns the function that Dynamo translates now; ``None`` for a module's, or where this torch does not tell."""
    translator = getattr(importlib.import_module("torch._dynamo.symbolic_convert"), "InstructionTranslator", None)
    try:
        running: Any = translator.current_tx() if translator is not None else None
        code, values = running.f_code, running.f_locals
    except AttributeError:
        return None
    # Callables of torch's own go through a function of Dynamo's (torch/_dynamo/external_utils.py, wrap_inline).
    wrapped = values.get("fn") if code.co_filename.endswith("external_utils.py") else None
    wrapped = getattr(wrapped, "cell_contents", wrapped)
    if isinstance(values.get("self"), torch.nn.Module) or isinstance(wrapped, torch.nn.Module):
        return None
    name = getattr(wrapped, "__qualname__", "") or getattr(code, "co_qualname", code.co_name)  # new in Python 3.11
    count = code.co_argcount + code.co_kwonlyargcount
    count += sum(bool(code.co_flags & flag) for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS))
    arguments = frozenset(code.co_varnames[:count]) - {"self"}
    resumed = _RESUMED.fullmatch(code.co_name)
    return CompiledFunction(resumed[1] if resumed else name.rpartition("<locals>.")[2], arguments)


def choice_shapes(choices: Iterable[Any]) -> str:
    """Returns the shapes of what autotuning's choices read (``16x64, 64x128``), empty where torch does not tell."""
    nodes = getattr(next(iter(choices), None), "input_nodes", None) or ()
    return ", ".join("x".join(map(str, node.get_size())) for node in nodes if hasattr(node, "get_size"))


def inductor_config() -> Any:
    """Returns ``torch._inductor.config``."""
    return importlib.import_module("torch._inductor.config")


def graph_number(arguments: Mapping[str, Any]) -> int | None:
    """Returns Inductor's number of a graph, ``None`` where it gives none.

    Args:
        arguments: of ``fw_compiler_freezing``: it gets the number itself (``graph_id``, up to torch 2.13) or an object
            that has it (``CompilerConfigExtra``, pytorch#195157).
    """
    candidates = (arguments, *(getattr(each, "__dict__", {}) for each in arguments.values()))
    found = (each.get("graph_id") for each in candidates)
    return next((number for number in found if isinstance(number, int)), None)


def setting_values(names: Iterable[str]) -> Mapping[str, Any]:
    """Returns the settings of ``torch._inductor.config`` that this torch has, as they are now.

    Args:
        names: theirs, dotted for those of a part (``cpp.weight_prepack``).
    """
    found = {}
    for name in names:
        value = inductor_config()
        for part in name.split("."):
            value = getattr(value, part, inductor_config)
        if value is not inductor_config:
            found[name] = value
    return found


def tracing_context() -> Any:
    """Returns the context of Dynamo and AOTAutograd for the graph that is compiled now, ``None`` outside a compile."""
    return importlib.import_module("torch._guards").TracingContext.try_get()


def current_compile_id() -> str | None:
    """Returns Dynamo's name of the compile that runs now (``0/1``: frame 0, its second compile), if it has one."""
    found = importlib.import_module("torch._guards").CompileContext.current_compile_id()
    return None if found is None else str(found)


def without_modes() -> AbstractContextManager[Any]:
    """Returns a context in which operators run as outside a compile, where torch treats every tensor as fake."""
    dispatch = importlib.import_module("torch.utils._python_dispatch")
    modes: AbstractContextManager[Any] = dispatch._disable_current_modes()
    return modes


def cache_counts() -> Mapping[str, int]:
    """Returns how often Inductor's FX graph cache was hit, missed, and could not be used (bypass) until now."""
    counters = importlib.import_module("torch._dynamo.utils").counters["inductor"]
    return {what: counters[f"fxgraph_cache_{what}"] for what in ("hit", "miss", "bypass")}


def is_ahead_of_time() -> bool:
    """Returns whether the compile that runs now makes a package, and no function of this process.

    Elsewhere the setting is ``False``, or (torch 2.6) an object that stands for nothing and is true.
    """
    return getattr(importlib.import_module("torch._inductor.virtualized").V, "aot_compilation", False) is True


def packaged_constants(lowering: Any) -> tuple[tuple[str, str, str, int], ...]:
    """Returns the constants that a package will hold: name in the code, key, kind, bytes.

    As torch writes them into the package (``codegen_model_constructor`` in
    ``torch/_inductor/codegen/cpp_wrapper_cpu.py``, torch 2.13).

    Args:
        lowering: Inductor's ``GraphLowering``, after code generation.
    """
    normalize = importlib.import_module("torch._inductor.utils").normalize_name
    folded = getattr(lowering, "folded_constants", ())
    keys = {**lowering.allocated_constant_name, **lowering.dynamo_flat_name_to_original_fqn}
    parameters = {normalize(name) for name in lowering.named_parameters}
    buffers = {normalize(name) for name in lowering.named_buffers}
    found = []
    for name, tensor in lowering.constants.items():
        kind = "FoldedConstant" if name in folded else "Unknown"
        if kind == "Unknown" and name.startswith("_tensor_constant"):
            kind = "TensorConstant"
        elif kind == "Unknown" and (name in parameters or name in buffers):
            kind = "Parameter" if name in parameters else "Buffer"
        found.append((name, str(keys.get(name, name)), kind, _packaged_bytes(tensor)))
    return tuple(found)


def _packaged_bytes(tensor: torch.Tensor) -> int:
    if tensor.is_mkldnn:
        operators: Any = torch.ops.mkldnn
        return int(operators._nbytes(tensor))
    return tensor.untyped_storage().nbytes()


def compile_package(program: Any, path: Any, settings: Mapping[str, Any]) -> None:
    """Compiles an exported program into a package (``torch._inductor.aoti_compile_and_package``, torch 2.6 to 2.13).

    Args:
        program: the program, with example inputs.
        path: of the package, which ends in ``.pt2``.
        settings: of ``torch._inductor.config``.
    """
    importlib.import_module("torch._inductor").aoti_compile_and_package(
        program, package_path=str(path), inductor_configs=dict(settings)
    )


def profiled_events(run: Callable[[], object]) -> tuple[tuple[str, float], ...]:
    """Runs something under torch's profiler, and returns name and duration in ns of each event, in order of beginning.

    Args:
        run: called once.
    """
    events = sorted(profiled(run).function_events, key=lambda event: event.time_range.start)
    return tuple((str(event.name), event.time_range.elapsed_us() * 1000) for event in events)


def load_package(path: Any) -> Any:
    """Returns a package, loaded; torch unpacks it into a folder of its own."""
    return importlib.import_module("torch._inductor").aoti_load_package(str(path))


def compiled_functions() -> int:
    """Returns how many functions Dynamo has compiled since its last reset, and still holds."""
    codes = getattr(sys.modules.get("torch._dynamo.convert_frame"), "output_codes", None)
    return sum(code() is not None for code in getattr(codes, "seen", ()))


def pattern_group_name(group: Any) -> str | None:
    """Returns our name of one of torch's nameless pattern groups, ``None`` for any other.

    Inductor adds to ``freezing_patterns.pass_patterns`` when it compiles its first graph, so they are looked up anew.
    """
    for module, name, ours in _NAMELESS:
        found = getattr(importlib.import_module(module), name, None)
        if found is group:
            return ours
        if isinstance(found, list):
            numbers = [number for number, each in enumerate(found) if each is group]
            if numbers:
                return f"{ours}[{numbers[0]}]"
    return None


def pattern_group_names() -> tuple[str, ...]:
    """Returns our names of torch's nameless pattern groups, without the numbers of those in a list."""
    return tuple(ours for _, _, ours in _NAMELESS)


def patterns(group: Any) -> tuple[Any, ...]:
    """Returns the patterns of one of torch's groups."""
    return tuple(entry for entries in getattr(group, "patterns", {}).values() for entry in entries)


def is_operator(target: Any) -> bool:
    """Returns whether a node's target is an operator of torch, with or without overload, or of higher order."""
    ops = importlib.import_module("torch._ops")
    return isinstance(target, (ops.OpOverload, ops.OpOverloadPacket, ops.HigherOrderOperator))


def symbol(value: Any) -> str:
    """Returns the name of a number that is not known before the run, such as ``s0``; empty for anything else."""
    return str(value) if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)) else ""


def concrete(value: Any) -> Any:
    """Returns the value of a symbolic number in the compiling call, without tying the graph to it."""
    return value.node.hint if symbol(value) else value


def is_higher_order(target: Any) -> bool:
    """Returns whether a node's target is an operator that runs graphs it is given."""
    return isinstance(target, importlib.import_module("torch._ops").HigherOrderOperator)


def returns_view(target: Any) -> bool:
    """Returns whether an operator may return a view of an argument, as its schema says, and writes nothing."""
    schema = getattr(target, "_schema", None)
    aliases = [each.alias_info for each in schema.returns] if schema is not None else []
    return bool(aliases) and all(alias is not None and not alias.is_write for alias in aliases)


def argument_names(target: Any) -> tuple[str, ...]:
    """Returns the names of an operator's arguments, in order; empty where it has no schema."""
    if isinstance(target, importlib.import_module("torch._ops").OpOverloadPacket):
        overloads = target.overloads()
        target = getattr(target, overloads[0]) if len(overloads) == 1 else target
    schema = getattr(target, "_schema", None)
    return tuple(str(argument.name) for argument in schema.arguments) if schema is not None else ()


def source_name(source: Any) -> str:
    """Returns the name of where a value comes from, such as ``L['self'].scale``; empty for a cell, which has none."""
    try:
        name = source.name
        return str(name() if callable(name) else name)  # a method up to torch 2.9
    except NotImplementedError:  # LocalCellSource, torch 2.13
        return ""


def is_source(value: Any) -> bool:
    """Returns whether a value of Dynamo's code generation is a source, and not a value that it tracks."""
    return isinstance(value, importlib.import_module("torch._guards").Source)


def guarded_names(context: Any) -> frozenset[str]:
    """Returns the sources that Dynamo has guards on in a compile, by name.

    Args:
        context: what `tracing_context` returns.
    """
    guards = getattr(getattr(context, "guards_context", None), "dynamo_guards", ())
    return frozenset(str(guard.name) for guard in guards)


def inner_tensors(tensor: torch.Tensor) -> tuple[tuple[str, torch.Tensor], ...]:
    """Returns the tensors that a tensor subclass consists of, by the names of its attributes; none for any other."""
    dispatch = importlib.import_module("torch.utils._python_dispatch")
    if type(tensor) in (torch.Tensor, torch.nn.Parameter) or not dispatch.is_traceable_wrapper_subclass(tensor):
        return ()
    names, _ = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
    found = ((str(name), getattr(tensor, name)) for name in names)
    return tuple((name, inner) for name, inner in found if isinstance(inner, torch.Tensor))


def graph_notes(module: Any) -> Mapping[str, Any]:
    """Returns Dynamo's notes on its captured graph.

    Returns:
        ``reason``: the reason for the graph's end; ``sources``: the Python source of each name of the graph;
        ``paths``: the path in the user's module of each parameter and buffer, by the graph's flat name.
    """
    return {
        "reason": getattr(module, "compile_subgraph_reason", None),
        "sources": getattr(module, "_param_name_to_source", None) or {},
        "paths": getattr(module, "meta", {}).get("dynamo_flat_name_to_original_fqn", {}),
    }
