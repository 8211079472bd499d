"""Captures a compile ahead of time: parameters are constants of its graph, and it makes a package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.raw import RawCompile, RawPackage
from freeze_engine.backends.inductor.graph.graph_inputs import GraphInput, Inventory, input_spec

_LAYOUT = re.compile(r"(opaque_metadata = )\{[^}]*\}")
#: Settings of ``torch._inductor.config`` that decide what the package is.
SETTINGS = (
    "aot_inductor.package",
    "aot_inductor.use_runtime_constant_folding",
    "aot_inductor.package_constants_in_so",
    "aot_inductor.force_mmap_weights",
)


#: What torch adds to the options of a compile ahead of time itself.
_ADDED = frozenset(
    {
        "freezing",
        "cpp_wrapper",
        "aot_inductor.package",
        "aot_inductor.output_path",
        "aot_inductor.serialized_in_spec",
        "aot_inductor.serialized_out_spec",
    }
)


def user_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of a call of Inductor without those that torch adds.

    Args:
        settings: of ``torch._inductor.config``.
    """
    return {name: value for name, value in settings.items() if name not in _ADDED}


def constant_inputs(module: Any, inventory: Inventory) -> Iterator[GraphInput]:
    """Describes the parameters and buffers that an exported graph reads as its constants.

    ``aot_export_module`` lifts them, and ``_unlift_graph`` puts them back as ``get_attr`` nodes with the names of the
    model (``torch/_inductor/compile_fx.py``, torch 2.13).

    Args:
        module: AOTAutograd's graph module.
        inventory: of the model.

    Yields:
        One for each constant, in the order of the graph.
    """
    for node in module.graph.find_nodes(op="get_attr"):
        value: Any = module
        for part in str(node.target).split("."):
            value = getattr(value, part, None)
        if not isinstance(value, torch.Tensor):
            continue
        paths = inventory.paths(value)
        if not paths:
            kind = "parameter" if isinstance(value, torch.nn.Parameter) else "buffer"
            inventory.add(str(node.target), kind, value)  # type: ignore[arg-type]
            paths = (str(node.target),)
        spec = input_spec(paths[0], value)
        yield GraphInput(node.name, paths[0], paths, True, False, (), spec, _holding(value))


def _holding(value: torch.Tensor) -> Callable[[], Any]:
    return lambda: value


def note_files(compiled: RawCompile, result: Any) -> None:
    """Notes the files that a compile wrote.

    Args:
        compiled: the compile.
        result: what Inductor returned for the graph: ``CompiledAOTI``.
    """
    named = getattr(result, "filename", None)
    files = [named] if isinstance(named, str) else named if isinstance(named, Sequence) else ()
    package = compiled.package or RawPackage()
    package.files = tuple(each for each in files if isinstance(each, str))
    package.nbytes = sum(map(_size, package.files))
    compiled.package = package


def note_package(compiled: RawCompile, path: Any) -> None:
    """Notes the package that a compile's files were put into.

    Args:
        compiled: the compile.
        path: of the package; a package may also be written into a buffer.
    """
    package = compiled.package
    if package is None or not isinstance(path, (str, Path)):
        return
    package.path, package.nbytes = str(path), _size(path)


def is_packaged(compiled: RawCompile, files: Any) -> bool:
    """Returns whether a compile wrote the files that are put into a package.

    Args:
        compiled: the compile.
        files: what ``package_aoti`` got: a file, a list of files, or such by the names of models.
    """
    if compiled.package is None:
        return False
    given = files.values() if isinstance(files, dict) else [files]
    flat = {
        each
        for group in given
        for each in (group if isinstance(group, (list, tuple)) else [group])
        if isinstance(each, str)
    }
    return not flat.isdisjoint(compiled.package.files)


def constants_of(lowering: Any) -> tuple[tuple[str, str, str, int], ...] | None:
    """Returns the constants of the package, ``None`` where this torch describes them in another way."""
    try:
        return torch_private.packaged_constants(lowering)
    except AttributeError:
        return None


def wrapper_code(result: Any) -> str | None:
    """Returns the C++ code of a package, without the bytes that describe the layout of packed weights.

    Args:
        result: of ``GraphLowering.codegen_with_cpp_wrapper``: the wrapper's code and that of the kernels.
    """
    code = getattr(result[0], "value", result[0]) if isinstance(result, tuple) and result else None
    return _LAYOUT.sub(r"\1{...}", code) if isinstance(code, str) else None


def _size(path: str | Path) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
