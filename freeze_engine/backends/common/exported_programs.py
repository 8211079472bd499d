"""Remembers which exported program a module was made of.

A module of a program runs like any other, but only the program knows its dynamic shapes, and is what ahead-of-time
compilation takes.

A module of an exported program, and a quantised one that was made of it, have their mode in the operators of the
graph: their ``eval()`` raises, and their flag says "training" whatever the mode is (``torch/export/_unlift.py``, torch
2.13; ``torchao/quantization/pt2e/export_utils.py``, torchao 0.18).
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator
from typing import Final

import torch
from torch import nn

from freeze_engine.backends.common.torch_private import is_operator
from freeze_engine.errors import FreezerError

_SHOWN: Final = 3
_DROPOUTS: Final = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
_BATCH_NORMS: Final = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_MODES: Final = ("training", "train")
"""Names of the arguments by which an operator gets its mode."""
_TRAINS: Final = "aten::_batch_norm_with_update"

_programs: weakref.WeakKeyDictionary[torch.nn.Module, torch.export.ExportedProgram] = weakref.WeakKeyDictionary()


def module_of(program: torch.export.ExportedProgram) -> torch.nn.Module:
    """Returns the module of an exported program, in a state in which each backend takes it.

    The program's mode was fixed when it was exported; torch.jit.freeze refuses the flag that is left.

    Args:
        program: the program.
    """
    module = program.module()
    for submodule in module.modules():
        submodule.training = False
    _programs[module] = program
    return module


def exported_class(graph: torch.fx.Graph) -> str:
    """Returns the name of the class that was exported, read from the nodes of its graph; empty if they lack it."""
    for node in graph.nodes:
        for path, kind in (node.meta.get("nn_module_stack") or {}).values():
            if not path:
                return str(kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2]
    return ""


def program_of(module: torch.nn.Module) -> torch.export.ExportedProgram | None:
    """Returns the program that a module was made of by `module_of`; ``None`` for any other module.

    Args:
        module: the module; if it was moved to another device since, the program is not what it runs any more.
    """
    program = _programs.get(module)
    if program is None:
        return None
    held = {name: (tensor.device, tensor.dtype) for name, tensor in program.state_dict.items()}
    now = {name: (tensor.device, tensor.dtype) for name, tensor in module.state_dict().items()}
    return program if all(now.get(name) == kind for name, kind in held.items()) else None


def is_exported(module: torch.nn.Module) -> bool:
    """Returns whether a module is a graph of torch's operators only, as `torch.export` makes it.

    Its flag ``training`` says nothing then. In a graph that calls modules or Python functions, the flag counts.
    """
    return isinstance(module, torch.fx.GraphModule) and all(map(_is_fixed, module.graph.nodes))


def holds_exported(module: torch.nn.Module) -> bool:
    """Returns whether a module, or a part of it, is one that `is_exported`."""
    return not isinstance(module, torch.jit.ScriptModule) and any(map(is_exported, module.modules()))


def training_parts(module: torch.nn.Module) -> Iterator[str]:
    """Yields what of a module is in training mode, in words; a flag that means nothing is passed over.

    Args:
        module: of any kind. One that holds exported modules cannot be switched by ``eval()``, which they refuse, so its
            own flag is passed over as well.
    """
    if not holds_exported(module):
        if getattr(module, "training", False):
            yield type(module).__name__
        return
    inside: list[str] = []
    for path, each in module.named_modules():
        if any(path.startswith(prefix) for prefix in inside):
            continue
        if is_exported(each):
            inside.append(f"{path}." if path else "")
            yield from _training_operators(each)
        elif each.training and not holds_exported(each):
            yield f"{path} ({type(each).__name__})"


def training_layers(roots: Iterable[tuple[str, torch.nn.Module]]) -> Iterator[str]:
    """Yields the dropouts and batch norms of modules that are in training mode, in words.

    Args:
        roots: the modules, each with the prefix of its paths.
    """
    for prefix, root in roots:
        if is_exported(root):
            yield from _training_operators(root)
            continue
        for name, module in root.named_modules():
            drops = isinstance(module, _DROPOUTS) and module.p > 0
            if module.training and (drops or isinstance(module, _BATCH_NORMS)):
                path = ".".join(filter(None, (prefix, name)))
                yield f"{path} ({type(module).__name__})" if path else type(module).__name__


def check_evaluates(module: torch.nn.Module) -> None:
    """Checks that a module is not in training mode.

    Raises:
        FreezerError: it is; the message says which part of it, and what to do.
    """
    parts = list(training_parts(module))
    if not parts:
        return
    shown = ", ".join(parts[:_SHOWN]) + (f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else "")
    remedy = "call .eval() first"
    if holds_exported(module):
        remedy = (
            "an exported graph has its mode in its operators, so call .eval() before torch.export, or "
            "torchao.quantization.pt2e.move_exported_model_to_eval(model); for other parts call their own .eval()"
        )
    raise FreezerError(f"{shown} is in training mode, in which a frozen batch norm or dropout would be wrong: {remedy}")


@contextlib.contextmanager
def evaluating(module: torch.nn.Module) -> Iterator[None]:
    """Sets the flags of a module that holds exported ones to "not training" for the time of the block.

    Args:
        module: of any kind; one without exported parts is left as it is.
    """
    flagged = [each for each in module.modules() if each.training] if holds_exported(module) else []
    for each in flagged:
        each.training = False
    try:
        yield
    finally:
        for each in flagged:
            each.training = True


def _is_fixed(node: torch.fx.Node) -> bool:
    if node.op == "call_module":
        return str(node.target) == "_guards_fn"  # torch's checks of the inputs
    if node.op == "call_method":
        return False
    if node.op == "call_function":
        return is_operator(node.target) or _is_arithmetic(node.target)
    return True


def _is_arithmetic(target: object) -> bool:
    """Returns whether a function works on sizes, or takes a tuple apart."""
    module, name = (getattr(target, each, "") for each in ("__module__", "__name__"))
    return module in ("_operator", "math") or (module == "torch" and name.startswith(("sym_", "_sym_")))


def _training_operators(module: torch.nn.Module) -> Iterator[str]:
    for each in module.modules():
        if isinstance(each, torch.fx.GraphModule):
            for node in each.graph.nodes:
                if node.op == "call_function" and _trains(node):
                    yield f"{node.target} at %{node.name}"


def _trains(node: torch.fx.Node) -> bool:
    """Returns whether an operator runs in training mode; of a dropout that drops nothing, the mode says nothing."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return False
    names = [argument.name for argument in schema.arguments]
    given = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    drops = given.get("p", given.get("dropout")) != 0
    return schema.name == _TRAINS or (drops and any(given.get(name) is True for name in _MODES))
