"""Looks up every private torch name that this project uses.

torch gives no guarantees for these names. Each is listed with the loss without it; a required one that is
missing raises `UnsupportedTorchError` when a recording starts, an optional one turns its step into a coarser
one. Checked on torch 2.13.0 (CPU build), and on 2.15.0, 2.9.1 and 2.6.0 (CUDA builds, run on a CPU), where none is
missing.
"""

from __future__ import annotations

import builtins
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import torch

from freeze_engine.errors import UnsupportedTorchError

#: The oldest torch that the tests ran with, which pyproject.toml requires, and the one they always run with.
OLDEST = "2.6"
TESTED = "2.13.0"

#: Without one of these nothing can be recorded.
REQUIRED = {
    "_freeze_module": "the freeze itself",
    "_jit_pass_optimize_frozen_graph": "the optimisations after freezing",
    "_jit_pass_optimize_for_inference": "optimize_for_inference",
    "_jit_set_logging_option": "torch's log, the only view into _freeze_module",
    "_jit_get_logging_option": "putting torch's log back as it was",
    "_create_function_from_graph": "running a snapshot",
    "ConcreteModuleType": "listing the attributes of a module",
    "ModuleDict": "walking the submodules of a module",
    "BufferDict": "distinguishing buffers from other attributes",
    "parse_schema": "knowing which arguments an operator writes",
    "_jit_clear_class_registry": "reading freezes before torch forgets their classes",
    "_jit_pass_inline": "finding writes inside forks",
    "parse_ir": "running the graphs of which torch only shows the text",
}

#: Without one of these the passes around it are recorded as a single step.
OPTIONAL = {
    "_jit_pass_remove_dropout": "dropout removal as a separate step",
    "_jit_pass_concat_frozen_linear": "linear concatenation as a separate step",
    "_jit_pass_fold_frozen_conv_bn": "the rounds of the folding loop",
    "_jit_pass_fold_frozen_conv_add_or_sub": "the rounds of the folding loop",
    "_jit_pass_fold_frozen_conv_mul_or_div": "the rounds of the folding loop",
    "_jit_pass_fold_frozen_linear_bn": "the rounds of the folding loop",
    "_jit_pass_fuse_frozen_conv_add_relu": "the passes of optimize_for_inference",
    "_jit_pass_convert_frozen_ops_to_mkldnn": "the passes of optimize_for_inference",
    "_jit_pass_transpose_frozen_linear": "the passes of optimize_for_inference",
    "_jit_pass_quant_finalize": "naming the freezes inside quantize_dynamic_jit and quantize_jit",
    "_jit_pass_optimize_for_mobile": "naming the freezes inside optimize_for_mobile",
    "_jit_pass_vulkan_optimize_for_mobile": "naming the freezes inside optimize_for_mobile",
    "_jit_pass_metal_optimize_for_mobile": "naming the freezes inside optimize_for_mobile",
    "CompilationUnit": "making a module of a recorded graph",
    "ScriptModule": "making a module of a recorded graph",
    "BoolType": "making a module of a recorded graph",
    "Graph": "leaving nothing of a freeze's constants in Python",
    "_jit_get_num_profiled_runs": "the graph that the executor runs after warm-up",
    "_last_executed_optimized_graph": "the graph that the executor runs after warm-up",
    "_jit_can_fuse_on_cpu": "whether the executor can fuse operators on the CPU",
    "_jit_interpret_graph": "leaving nothing of a freeze's constants in Python",
}


def private(name: str) -> Any:
    """Returns ``torch._C.<name>``.

    Args:
        name: a key of `REQUIRED` or `OPTIONAL`.

    Returns:
        The function or class.

    Raises:
        UnsupportedTorchError: this torch does not have it; the message says why it is needed.
    """
    found = getattr(torch._C, name, None)
    if found is None:
        raise lacks(f"torch._C.{name}", REQUIRED.get(name) or OPTIONAL[name])
    return found


def optional(name: str) -> Any:
    """Returns ``torch._C.<name>``, ``None`` where this torch does not have it.

    Args:
        name: a key of `OPTIONAL`.
    """
    return getattr(torch._C, name, None)


def lacks(path: str, purpose: str) -> UnsupportedTorchError:
    """Returns the error of a torch that lacks a name.

    Args:
        path: the full dotted name.
        purpose: what it is needed for, in words.
    """
    return UnsupportedTorchError(
        f"torch {torch.__version__} has no {path}, needed for {purpose}; use a torch that has it, such as {TESTED}"
    )


def require_recent() -> None:
    """Checks that this torch is not older than any that the tests were run with.

    Raises:
        UnsupportedTorchError: it is older.
    """
    # A pre-release of the oldest, as some vendors ship, is recent enough.
    if torch.__version__ < f"{OLDEST}a0":
        raise UnsupportedTorchError(
            f"torch {torch.__version__} is older than {OLDEST}, the oldest that recording was tried with; "
            f"install {OLDEST} or later (tested: {TESTED})"
        )


def has_all(names: tuple[str, ...]) -> bool:
    """Returns whether this torch has every one of ``names`` in ``torch._C``."""
    return all(hasattr(torch._C, name) for name in names)


def require() -> None:
    """Checks that torch is recent enough, and everything in `REQUIRED` there.

    Raises:
        UnsupportedTorchError: it is too old, or lacks a name; the first one is named.
    """
    require_recent()
    for name in REQUIRED:
        private(name)


def binding_module() -> Any:
    """Returns ``torch._C``, whose functions a capture replaces."""
    return torch._C


def freeze_source_module() -> Any:
    """Returns the Python module that defines ``torch.jit.freeze`` (``torch/jit/_freeze.py``)."""
    import torch.jit._freeze

    return torch.jit._freeze


def serialization_module() -> Any:
    """Returns the Python module that defines ``torch.jit.load`` (``torch/jit/_serialization.py``)."""
    import torch.jit._serialization

    return torch.jit._serialization


def scripting_enabled() -> bool:
    """Returns whether TorchScript is on (``PYTORCH_JIT=0`` in the environment turns it off)."""
    import torch.jit._state

    return bool(torch.jit._state._enabled)


def scripted_function(name: str) -> Any:
    """Returns a function that was scripted in this process by its qualified name, ``None`` if there is none.

    The functions of a loaded file are in a compilation unit of their own, which Python does not see (torch 2.13).
    Without the private name the calls inside scripted functions are not known.
    """
    import torch.jit._state

    unit = getattr(torch.jit._state, "_python_cu", None)
    return None if unit is None else unit.find_function(name)


def submodules(module: Any) -> list[tuple[str, Any]]:
    """Returns the ``(name, C++ module)`` pairs of a C++ script module's direct submodules."""
    return list(private("ModuleDict")(module).items())


def buffer_names(module: Any) -> set[str]:
    """Returns the names of a C++ script module's own buffers."""
    return {name for name, _ in private("BufferDict")(module).items()}


def method(module: Any, name: str) -> Any:
    """Returns a method of a C++ script module, ``None`` if it has none of that name."""
    return module._get_method(name) if module._has_method(name) else None


def method_names(module: Any) -> list[str]:
    """Returns the names of a C++ script module's own methods."""
    return [str(each) for each in module._method_names()]


def class_name(module: Any) -> str:
    """Returns the qualified name of a C++ script module's class."""
    return str(module._type().qualified_name())


def class_type(module: Any) -> Any:
    """Returns the class of a C++ script module, as a type of values in graphs."""
    return module._type()


def concrete_type(module: Any) -> Any:
    """Returns the ``ConcreteModuleType`` of a C++ script module, which lists its attributes by name."""
    return private("ConcreteModuleType").from_jit_type(module._type())


def forget_dead_builtins(model: torch.nn.Module) -> None:
    """Keeps torch from mistaking a module's attribute for a freed operator.

    torch.jit knows builtins by their address, and an operator that a further overload replaced stays in its table
    (``_find_builtin`` in torch/jit/_builtins.py, ``_refresh_packet`` in torch/_ops.py, 2.13); importing Inductor
    replaces two. A later object at such an address is scripted as that operator, which fails: "builtin cannot be
    used as a value".

    Args:
        model: the module to script or trace.
    """
    import torch.jit._builtins

    table = torch.jit._builtins._get_builtin_table()  # type: ignore[no-untyped-call]
    for module in model.modules():
        for value in vars(module).values():
            # Nothing else can be alive at its address, and every builtin can be called: the builtin is dead.
            if not callable(value):
                table.pop(id(value), None)


def cpp_module(module: torch.jit.ScriptModule) -> Any:
    """Returns the C++ module behind a ScriptModule."""
    return module._c


def new_module(name: str) -> Any:
    """Returns a new C++ script module without anything in it.

    Args:
        name: of its class, which is in a compilation unit of its own.
    """
    return private("ScriptModule")(name, private("CompilationUnit")(), True)


def add_attribute(module: Any, name: str, kind: Any, value: Any) -> None:
    """Adds an attribute, or a submodule, to a C++ script module."""
    module._register_attribute(name, kind, value)


def define(module: Any, source: str) -> None:
    """Adds a method to a C++ script module.

    Args:
        module: the module.
        source: the method's TorchScript source.
    """
    module._define(concrete_type(module), source, lambda name: getattr(builtins, name, None))


def object_state(held: Any) -> Any:
    """Returns the serialised state of an object of a C++ class, ``None`` if the class does not define one."""
    if not held._has_method("__getstate__"):
        return None
    try:
        return held.__getstate__()
    except RuntimeError:  # the class is pickled, but not in the state this object is in
        return None


def script_module(module: Any) -> torch.jit.ScriptModule:
    """Returns a C++ script module as a ScriptModule."""
    import torch.jit._recursive

    wrapped: torch.jit.ScriptModule = torch.jit._recursive.wrap_cpp_module(module)  # type: ignore[no-untyped-call]
    return wrapped


def settings() -> tuple[tuple[str, str], ...]:
    """Returns the settings that silently change a TorchScript freeze or its speed, as ``(name, value)`` pairs."""
    pairs = [("jit_enabled", str(scripting_enabled()))]
    for label, name, value in (
        ("fusion_strategy", "_jit_set_fusion_strategy", []),
        ("profiling_mode", "_jit_set_profiling_mode", True),
        ("profiling_executor", "_jit_set_profiling_executor", True),
    ):
        pairs.append((label, str(_read_by_setting(name, value))))
    for label, name in (
        ("profiled_runs", "_jit_get_num_profiled_runs"),
        ("onednn_fusion", "_jit_llga_enabled"),
        ("texpr_fuser", "_jit_texpr_fuser_enabled"),
        ("inline_everything", "_jit_get_inline_everything_mode"),
    ):
        getter = getattr(torch._C, name, None)
        pairs.append((label, str(getter()) if getter else "unknown"))
    return tuple(pairs)


def _read_by_setting(name: str, value: Any) -> Any:
    """Reads a setting for which torch has only a setter, which returns the earlier value."""
    setter = getattr(torch._C, name, None)
    if setter is None:
        return "unknown"
    before = setter(value)
    setter(before)
    return before


def operator_types(name: str) -> tuple[tuple[str, str], ...] | None:
    """Returns names and types of an operator's arguments and results; results have no name.

    Args:
        name: such as ``torch.ops.aten.add.Tensor``.

    Returns:
        ``None`` if there is no such operator. ``torch._ops.OpOverload`` and its schema: torch 2.6 to 2.13.
    """
    found: Any = torch.ops
    for part in name.removeprefix("torch.ops.").split("."):
        found = getattr(found, part, None)
    if not isinstance(found, torch._ops.OpOverload):
        return None
    schema = found._schema
    arguments = tuple((argument.name, str(argument.type)) for argument in schema.arguments)
    return (*arguments, *(("", str(result.type)) for result in schema.returns))


def is_operator(target: object) -> bool:
    """Returns whether the target of a graph's node is an operator of torch's; ``torch._ops.OperatorBase``: 2.6 to 2.13.

    Args:
        target: such as ``torch.ops.aten.add.Tensor`` or ``torch.ops.higher_order.cond``.
    """
    return isinstance(target, torch._ops.OperatorBase)


def profiled(run: Callable[[], object]) -> Any:
    """Runs something under torch's profiler on the CPU, and returns the profiler.

    The older profiler is preferred where this torch has it (2.6 to 2.13): the one built on Kineto writes to standard
    error on some machines. It takes no stacks: TorchScript's interpreter reads its place in the source through
    functions that may be gone by then, and crashes (2.13).

    Args:
        run: called once.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # profiler_legacy is deprecated
        try:
            profile = importlib.import_module("torch.autograd.profiler_legacy").profile
        except (ImportError, AttributeError):
            profile = importlib.import_module("torch.autograd.profiler").profile
        with profile() as profiler:
            run()
    return profiler


def operator_namespaces() -> frozenset[str]:
    """Returns the namespaces of all registered operators; empty where torch does not list them (2.13 does)."""
    names: list[str] = getattr(torch._C, "_dispatch_get_all_op_names", list)()
    return frozenset(name.partition("::")[0] for name in names)
