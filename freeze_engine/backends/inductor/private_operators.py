"""Private names of operators and tensors: schemas, symbolic numbers, tensor subclasses."""

from __future__ import annotations

import importlib
from typing import Any

import torch


def is_operator(target: Any) -> bool:
    """Returns whether a node's target is an operator of torch, with or without overload, or of higher order."""
    ops = importlib.import_module("torch._ops")
    return isinstance(target, (ops.OpOverload, ops.OpOverloadPacket, ops.HigherOrderOperator))


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


def symbol(value: Any) -> str:
    """Returns the name of a number that is not known before the run, such as ``s0``; empty for anything else."""
    return str(value) if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)) else ""


def concrete(value: Any) -> Any:
    """Returns the value of a symbolic number in the compiling call, without tying the graph to it."""
    return value.node.hint if symbol(value) else value


def inner_tensors(tensor: torch.Tensor) -> tuple[tuple[str, torch.Tensor], ...]:
    """Returns the tensors that a tensor subclass consists of, by the names of its attributes; none for any other."""
    dispatch = importlib.import_module("torch.utils._python_dispatch")
    if type(tensor) in (torch.Tensor, torch.nn.Parameter) or not dispatch.is_traceable_wrapper_subclass(tensor):
        return ()
    names, _ = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
    found = ((str(name), getattr(tensor, name)) for name in names)
    return tuple((name, inner) for name, inner in found if isinstance(inner, torch.Tensor))
