"""Makes a recorded graph executable, sharing its constants."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import torch
from torch.fx.node import map_aggregate, map_arg

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.graph.constants import Constants
from freeze_engine.backends.inductor.graph.rows import RawGraph, Row, TensorRef


def is_executable(graph: RawGraph) -> bool:
    """Returns whether every node of a graph calls something that runs outside of Inductor's lowering.

    Fused operators that only Inductor can lower (``LoweringPatternEntry``) stand in a graph as functions of
    Inductor's own; they need its lowering to run.
    """
    return all(_runs(row) for each in (graph, *graph.subgraphs()) for row in each.rows)


def executable(graph: RawGraph, constants: Constants) -> torch.fx.GraphModule:
    """Returns a graph as a module that can be called with the graph's inputs, in the order of its placeholders.

    Args:
        graph: for which `is_executable` holds, and whose constants are available.
        constants: of the compile that the graph belongs to.

    Returns:
        A new module; tensors that the graph reads are the recorded ones, not copies, as long as these live.
    """
    made: dict[int, Any] = {}
    root: dict[str, Any] = {}
    copy = torch.fx.Graph()
    for row in graph.rows:
        if row.op == "get_attr":
            _put(root, row.target, _value(row.value, constants))
        args = map_arg(row.args, lambda node: made[id(node)])
        kwargs = map_arg(row.kwargs, lambda node: made[id(node)])
        made[id(row.node)] = copy.create_node(row.op, row.target, args, kwargs, row.name)
    return torch.fx.GraphModule(_holder(root), copy)


def _value(value: Any, constants: Constants) -> Any:
    if isinstance(value, RawGraph):
        return executable(value, constants)
    return constants.tensor(value) if isinstance(value, TensorRef) else value


def _runs(row: Row) -> bool:
    if row.op == "get_attr":
        return row.value is not None
    if row.op != "call_function":
        return row.op in ("placeholder", "output")
    if _holds_symbols(row):
        return False
    if torch_private.is_operator(row.target) or isinstance(row.target, types.BuiltinFunctionType):
        return True
    # torch itself has functions of symbolic numbers: torch.sym_max and the like.
    return str(getattr(row.target, "__module__", "")) in ("_operator", "operator", "math", "torch")


def _holds_symbols(row: Row) -> bool:
    """Returns whether an argument is a symbolic number, and not the node that computes it, as up to torch 2.9."""
    found: list[Any] = []
    map_aggregate((row.args, row.kwargs), lambda argument: found.append(torch_private.symbol(argument)))
    return any(found)


def _put(root: dict[str, Any], target: str, value: Any) -> None:
    *path, name = target.split(".")
    for part in path:
        root = root.setdefault(part, {})
    root[name] = value


def _holder(values: Mapping[str, Any]) -> torch.nn.Module:
    module = torch.nn.Module()
    for name, value in values.items():
        if isinstance(value, dict):
            module.add_module(name, _holder(value))
        elif isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
            module.register_buffer(name, value)
        else:
            setattr(module, name, value)
    return module
