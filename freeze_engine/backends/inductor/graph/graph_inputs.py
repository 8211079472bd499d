"""Inputs of a compile: the model's parameters and buffers, and their places among the graph's inputs."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.graph.model_tensors import ModelAttribute, described, held_tensors, inner_tensors
from freeze_engine.trace import AttributeKind, InputSpec

_ROOT = re.compile(r"[LG]\['(\w+)'\]")
_PART = re.compile(r"\['([^']+)'\]|\[(\d+)\]|\.(\w+)")
_SIZE = re.compile(r"\.(size|stride|storage_offset)\(\)")
_HELD: Mapping[str, AttributeKind] = {"._parameters[": "parameter", "._buffers[": "buffer"}
_CONTAINERS = {"_modules", "_parameters", "_buffers"}


@dataclass(frozen=True, slots=True)
class GraphInput:
    """An input of the graph that Inductor gets from AOTAutograd.

    Attributes:
        name: of its placeholder.
        label: the user's name for it: an attribute's path, or the name of an argument.
        paths: of the attributes it is; several if modules share a tensor; empty for the user's arguments.
        is_parameter: whether AOTAutograd took it as a parameter or buffer: only those can be inlined.
        mutated: whether the graph writes it.
        outputs: positions of the outputs that alias it.
        spec: its description when the compile began.
        value: returns the real tensor or number, ``None`` once it is gone.
        symbol: the graph's name of a number that is not known before the run (``s0``); empty for anything else.
        is_size: whether Dynamo read it off a tensor that is an input as well, so that no user passes it.
        is_outside: whether a function reads it from its closure, its object or a global, and no module holds it.
        is_stale: whether the module holds another tensor at that path by now, so that the graph gets an old one.
    """

    name: str
    label: str
    paths: tuple[str, ...]
    is_parameter: bool
    mutated: bool
    outputs: tuple[int, ...]
    spec: InputSpec
    value: Callable[[], Any]
    symbol: str = ""
    is_size: bool = False
    is_outside: bool = False
    is_stale: bool = False


class Inventory:
    """The tensors of the modules that one compiled graph comes from.

    Args:
        roots: the outermost modules, each with the prefix of its paths.
        touched: identities of the tensors that Dynamo looked at.
    """

    def __init__(self, roots: Iterable[tuple[str, torch.nn.Module]], touched: frozenset[int]) -> None:
        self._paths: dict[int, list[str]] = {}
        self._touched = touched
        #: All of them, by path.
        self.attributes: dict[str, ModelAttribute] = {}
        for prefix, root in roots:
            for path, kind, tensor in held_tensors(root):
                self._add(f"{prefix}.{path}" if prefix else path, kind, tensor, False)

    def paths(self, tensor: Any) -> tuple[str, ...]:
        """Returns the paths at which the modules hold this very tensor."""
        return tuple(self._paths.get(id(tensor), ()))

    def add(self, path: str, kind: AttributeKind, tensor: torch.Tensor) -> None:
        """Adds a tensor of a module that is not at hand."""
        self._add(path, kind, tensor, True)

    def _add(self, path: str, kind: AttributeKind, tensor: torch.Tensor, touched: bool) -> None:
        touched = touched or id(tensor) in self._touched
        inner = tuple(inner_tensors(path, tensor))
        self._note(described(path, kind, tensor, touched, inner), tensor)
        for name, each in inner:
            self._note(described(name, "attribute", each, touched or id(each) in self._touched, ()), each)

    def _note(self, attribute: ModelAttribute, tensor: torch.Tensor) -> None:
        names = self._paths.setdefault(id(tensor), [])
        names.append(attribute.path)
        same_as = names[0] if names[0] != attribute.path else ""
        self.attributes[attribute.path] = replace(attribute, same_as=same_as)


def source_path(source: str) -> tuple[str, str]:
    """Reads Dynamo's name of a value.

    Args:
        source: such as ``L['self']._modules['conv']._parameters['weight']``.

    Returns:
        The variable it starts from, and the dotted path from there (``('self', 'conv.weight')``).
    """
    root = _ROOT.search(source)
    if root is None:
        return "", source
    found = (next(filter(None, match.groups())) for match in _PART.finditer(source, root.end()))
    return root[1], ".".join(part for part in found if part not in _CONTAINERS)


def outermost(modules: Iterable[Any]) -> tuple[torch.nn.Module, ...]:
    """Returns the modules that none of the others holds."""
    unique = {id(module): module for module in modules if isinstance(module, torch.nn.Module)}
    inner = {id(child) for module in unique.values() for child in module.modules() if child is not module}
    return tuple(module for identity, module in unique.items() if identity not in inner)


def graph_inputs(
    module: Any,
    dynamo_modules: tuple[Any, Any],
    inventory: Inventory,
    keeps: tuple[bool, bool],
    function: torch_private.CompiledFunction | None = None,
) -> tuple[GraphInput, ...]:
    """Describes the inputs of Inductor's graph.

    AOTAutograd puts parameters and buffers first, in the order of ``named_parameters`` and ``named_buffers`` of
    Dynamo's graph, and then the user's arguments (``torch/_functorch/aot_autograd.py``, torch 2.13).

    Args:
        module: AOTAutograd's graph module.
        dynamo_modules: Dynamo's graph module as AOTAutograd got it, and as Dynamo made it.
        inventory: of the model.
        keeps: whether to keep the parameters and buffers alive, and whether the user's arguments.
        function: the function that was compiled, ``None`` for a module's.

    Returns:
        One for each placeholder, in order.
    """
    context = torch_private.tracing_context()
    held = list(getattr(context, "params_flat_unwrap_subclasses", None) or ()) if context is not None else []
    metadata = getattr(context, "fw_metadata", None)
    given, noted = dynamo_modules
    names = _parameter_names(given, context, len(held))
    notes = torch_private.graph_notes(noted)
    keep_parameters, keep_inputs = keeps
    passed = list(_passed(noted))
    found = []
    for index, node in enumerate(module.graph.find_nodes(op="placeholder")):
        mutated, outputs = _effects(metadata, index)
        symbol, is_size, is_outside, is_stale = "", False, False, False
        if index < len(held):
            value, keep = held[index], keep_parameters
            paths = inventory.paths(value) or _noted_paths(names[index], notes, function is not None)
            if not paths and names[index] in inventory.attributes:
                paths, is_stale = (names[index],), True
            if function is not None and paths and not inventory.paths(value):
                inventory.add(paths[0], _kind(value), value)
            label = paths[0] if paths else node.name
        else:
            position = getattr(node.meta.get("desc"), "idx", index - len(held))
            source, value = passed[position] if 0 <= position < len(passed) else ("", None)
            symbol, is_size, value = (
                torch_private.symbol(value),
                bool(_SIZE.search(source)),
                torch_private.concrete(value),
            )
            is_outside = _is_outside(source, value, function)
            if is_outside and not inventory.paths(value):
                inventory.add(".".join(filter(None, source_path(source))), _kind(value), value)
            label, paths, keep = _argument(source, value, inventory), inventory.paths(value), keep_inputs
        label = label or node.name
        spec = input_spec(label, node.meta.get("val") if value is None else value)
        held_by = _reference(value, keep)
        facts = (mutated, outputs, spec, held_by, symbol, is_size, is_outside, is_stale)
        found.append(GraphInput(node.name, label, paths, index < len(held), *facts))
    return tuple(found)


def input_spec(name: str, value: Any) -> InputSpec:
    """Describes an input by its real value."""
    if not isinstance(value, torch.Tensor):
        return InputSpec(name, type(value).__name__)
    dtype = str(value.dtype).removeprefix("torch.")
    return InputSpec(name, "Tensor", tuple(map(torch_private.concrete, value.shape)), dtype, str(value.device))


def _parameter_names(dynamo_module: Any, context: Any, count: int) -> list[str]:
    """Returns the names in Dynamo's graph of the first ``count`` inputs; subclasses take several inputs each."""
    named = [name for name, _ in dynamo_module.named_parameters(remove_duplicate=False)]
    named += [name for name, _ in dynamo_module.named_buffers(remove_duplicate=False)]
    flat = getattr(context, "params_unwrapped_to_flat_index", None)
    if flat is None:
        flat = range(count)
    return [named[index] if index < len(named) else "" for index in flat]


def _noted_paths(name: str, notes: Mapping[str, Any], from_root: bool) -> tuple[str, ...]:
    """Returns the path of an input that Dynamo noted; with the variable that it starts from, if requested."""
    if name in notes["paths"]:
        return (notes["paths"][name],)
    source = notes["sources"].get(name)
    if source is None:
        return ()
    root, path = source_path(torch_private.source_name(source))
    return (".".join(filter(None, (root, path))) if from_root else path,)


def _kind(value: Any) -> AttributeKind:
    return "parameter" if isinstance(value, torch.nn.Parameter) else "attribute"


def _passed(dynamo_module: Any) -> Iterator[tuple[str, Any]]:
    """Yields the Python source and the real value of each input of Dynamo's graph."""
    for node in dynamo_module.graph.find_nodes(op="placeholder"):
        argument = node.meta.get("grapharg")
        source = getattr(argument, "source", None)
        yield torch_private.source_name(source) if source is not None else node.name, getattr(argument, "example", None)


def _is_outside(source: str, value: Any, function: torch_private.CompiledFunction | None) -> bool:
    """Returns whether a function reads a tensor from its closure, its object or a global, and not from an argument."""
    if function is None or not isinstance(value, torch.Tensor):
        return False
    name, _ = source_path(source)
    return bool(name) and name not in function.arguments


def _argument(source: str, value: Any, inventory: Inventory) -> str:
    """Returns the user's name of an input; a parameter that Dynamo passes like any input joins the inventory."""
    root, path = source_path(source)
    kind = next((kind for mark, kind in _HELD.items() if mark in source), None)
    if kind is not None and isinstance(value, torch.Tensor):
        if not inventory.paths(value):
            inventory.add(path, kind, value)
        return inventory.paths(value)[0]
    return ".".join(part for part in (root, path) if part)


def _effects(metadata: Any, index: int) -> tuple[bool, tuple[int, ...]]:
    """Returns whether the graph writes an input, and which outputs alias it, in AOTAutograd's words.

    These are the conditions of ``replace_params_with_constants`` (``torch/_inductor/freezing.py``, torch 2.13).
    """
    if metadata is None:
        return False, ()
    info = metadata.input_info[index] if index < len(metadata.input_info) else None
    kind = getattr(info, "mutation_type", None)
    mutated = kind is not None and kind.name in ("MUTATED_IN_GRAPH", "MUTATED_OUT_GRAPH")
    outputs = tuple(number for number, output in enumerate(metadata.output_info) if output.base_idx == index)
    return mutated, outputs


def _reference(value: Any, keep: bool) -> Callable[[], Any]:
    if keep or not isinstance(value, torch.Tensor):
        return lambda: value
    return weakref.ref(value)
