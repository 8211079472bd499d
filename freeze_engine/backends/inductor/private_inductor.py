"""Private names of Inductor: its settings, caches, pattern groups and packages."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import torch

from freeze_engine.backends.common.torch_private import profiled

COMPILE_MODULE: Final = "torch._inductor.compile_fx"
"""The part of Inductor that freezes."""

PATTERNS_MODULE: Final = "torch._inductor.fx_passes.freezing_patterns"
"""The pattern groups of freezing."""

#: Pattern groups that torch gives no name: their module, their variable there, and our name.
_NAMELESS = (
    ("torch._inductor.fx_passes.joint_graph", "early_patterns", "early_patterns"),
    ("torch._inductor.fx_passes.replace_random", "patterns", "replace_random"),
    (PATTERNS_MODULE, "binary_folding_pass", "binary_folding"),
    (PATTERNS_MODULE, "pass_patterns", "pass_patterns"),
)


def is_imported() -> bool:
    """Returns whether the part of Inductor that freezes has been imported; doing that takes seconds."""
    found = sys.modules.get(COMPILE_MODULE)
    # A module that is being imported right now has no functions to replace yet.
    return found is not None and not getattr(found.__spec__, "_initializing", False)


def inductor_config() -> Any:
    """Returns ``torch._inductor.config``."""
    return importlib.import_module("torch._inductor.config")


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


def graph_number(arguments: Mapping[str, Any]) -> int | None:
    """Returns Inductor's number of a graph, ``None`` where it gives none.

    Args:
        arguments: of ``fw_compiler_freezing``: it gets the number itself (``graph_id``, up to torch 2.13) or an object
            that has it (``CompilerConfigExtra``, pytorch#195157).
    """
    candidates = (arguments, *(getattr(each, "__dict__", {}) for each in arguments.values()))
    found = (each.get("graph_id") for each in candidates)
    return next((number for number in found if isinstance(number, int)), None)


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


def load_package(path: Any) -> Any:
    """Loads a package; torch unpacks it into a new folder."""
    return importlib.import_module("torch._inductor").aoti_load_package(str(path))


def profiled_events(run: Callable[[], object]) -> tuple[tuple[str, float], ...]:
    """Runs something under torch's profiler, and returns name and duration in ns of each event, in order of beginning.

    Args:
        run: called once.
    """
    events = sorted(profiled(run).function_events, key=lambda event: event.time_range.start)
    return tuple((str(event.name), event.time_range.elapsed_us() * 1000) for event in events)


def choice_shapes(choices: Iterable[Any]) -> str:
    """Returns the shapes of what autotuning's choices read (``16x64, 64x128``), empty if torch does not keep them."""
    nodes = getattr(next(iter(choices), None), "input_nodes", None) or ()
    return ", ".join("x".join(map(str, node.get_size())) for node in nodes if hasattr(node, "get_size"))


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
