"""Makes a module of a recorded graph, which saves to a file and runs without this project.

torch gives Python no way to make a method of a graph. So a method with the graph's arguments is defined, and its own
nodes are replaced by clones of the graph's. The graph's reads from the frozen module become reads from a
submodule. Checked on torch 2.13.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from freeze_engine.backends.common import torch_private
from freeze_engine.backends.torchscript.trace_builder import LiveStep

_FORWARD = "forward"
#: The submodule that holds the attributes that the graph still reads from the module.
_FROZEN = "frozen"
_LITERALS = (bool, int, float, str, type(None))


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a method.

    Attributes:
        name: its name.
        default: the default value as TorchScript's source has it, empty for none.
    """

    name: str
    default: str = ""


def parameters(schema: Any) -> tuple[Parameter, ...]:
    """Returns the parameters of a method, ``self`` left out; a default that has no literal is left out."""
    found = []
    for argument in schema.arguments[1:]:
        default = argument.default_value if argument.has_default_value() else ...
        found.append(Parameter(argument.name, repr(default) if isinstance(default, _LITERALS) else ""))
    return tuple(found)


def module_of(live: LiveStep, parameters: Sequence[Parameter]) -> torch.jit.ScriptModule:
    """Returns a module whose ``forward`` is a recorded graph.

    Args:
        live: the graph, which stays as it is, and the module that it reads attributes of.
        parameters: of the method it came from; a graph knows neither their names nor their defaults.

    Raises:
        RuntimeError: torch cannot write the types of its arguments or results as annotations.
    """
    graph = live.graph.copy()
    module = torch_private.new_module("Candidate")
    torch_private.add_attribute(module, "training", torch_private.private("BoolType").get(), False)
    self_value, *given = graph.inputs()
    if self_value.uses():
        torch_private.add_attribute(module, _FROZEN, torch_private.class_type(live.module), live.module)
    torch_private.define(module, _source(given, list(graph.outputs()), parameters))
    target = torch_private.method(module, _FORWARD).graph
    _clear(target)
    new_self, *received = target.inputs()
    values = {value.debugName(): new for value, new in zip(given, received, strict=True)}
    if self_value.uses():
        values[self_value.debugName()] = _frozen(target, new_self, self_value)

    def value_of(old: Any) -> Any:
        return values[old.debugName()]

    for node in graph.nodes():
        clone = target.createClone(node, value_of)
        target.appendNode(clone)
        values.update((old.debugName(), new) for old, new in zip(node.outputs(), clone.outputs(), strict=True))
    for output in graph.outputs():
        target.registerOutput(value_of(output))
    return torch_private.script_module(module)


def _source(given: list[Any], returned: list[Any], parameters: Sequence[Parameter]) -> str:
    """Returns a method with the signature of the graph."""
    spelt = [
        f"{each.name}: {value.type().annotation_str}{f' = {each.default}' if each.default else ''}"
        for value, each in zip(given, parameters, strict=True)
    ]
    types = [value.type().annotation_str for value in returned]
    result = types[0] if len(types) == 1 else f"Tuple[{', '.join(types)}]"
    return f"def {_FORWARD}({', '.join(('self', *spelt))}) -> {result}:\n    raise RuntimeError()\n"


def _clear(graph: Any) -> None:
    for _ in list(graph.outputs()):
        graph.eraseOutput(0)
    for node in reversed(list(graph.nodes())):
        node.destroy()


def _frozen(graph: Any, new_self: Any, old_self: Any) -> Any:
    node = graph.create("prim::GetAttr", [new_self], 1)
    node.s_("name", _FROZEN)
    graph.appendNode(node)
    (output,) = node.outputs()
    output.setType(old_self.type())
    return output
