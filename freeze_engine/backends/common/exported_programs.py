"""Remembers which exported program a module was made of.

A module of a program runs like any other, but only the program knows its dynamic shapes, and is what ahead-of-time
compilation takes.
"""

from __future__ import annotations

import weakref

import torch

_programs: weakref.WeakKeyDictionary[torch.nn.Module, torch.export.ExportedProgram] = weakref.WeakKeyDictionary()


def module_of(program: torch.export.ExportedProgram) -> torch.nn.Module:
    """Returns the module of an exported program, in a state in which each backend takes it.

    An exported program's mode was fixed when it was exported; its eval() raises, and the flag that is left says
    "training" whatever the mode was, which torch.jit.freeze refuses.

    Args:
        program: the program.
    """
    module = program.module()
    for submodule in module.modules():
        submodule.training = False
    _programs[module] = program
    return module


def exported_class(graph: torch.fx.Graph) -> str:
    """Returns the name of the class that was exported, as the nodes of its graph tell; empty where they do not."""
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
