"""Names of the targets of fx nodes, and of the patterns that rewrite such nodes."""

from __future__ import annotations

from typing import Any

from freeze_engine.backends.inductor import torch_private


def operator_name(target: Any) -> str:
    """Returns the name of a node's target.

    Args:
        target: an operator of torch, a Python function, or a string.

    Returns:
        ``aten.convolution.default``, ``higher_order.cond``, ``operator.getitem``, ``module.function``.
    """
    if isinstance(target, str):
        return target
    if torch_private.is_operator(target):
        name = str(target)
        return name if "." in name else f"higher_order.{name}"
    module = str(getattr(target, "__module__", "") or "").removeprefix("_") or type(target).__module__
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None) or type(target).__qualname__
    return f"{module}.{name}".replace(".<locals>", "")


def without_overload(name: str) -> str:
    """Returns an operator's name without its overload: ``aten.add`` for ``aten.add.Tensor``."""
    return ".".join(name.split(".")[:2])


def pattern_name(entry: Any) -> str:
    """Returns the name of a pattern of Inductor: its own, or that of the function that rewrites it.

    Args:
        entry: torch's ``PatternEntry``; replacements have names since torch 2.10.
    """
    own = getattr(entry, "pattern_name", None)
    if own:
        return str(own)
    handler = getattr(entry, "handler", None)
    handler = getattr(handler, "func", handler)
    name = getattr(handler, "__qualname__", None) or type(entry.pattern).__name__
    return str(name).replace(".<locals>", "")
