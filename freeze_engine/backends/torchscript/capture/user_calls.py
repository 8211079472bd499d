"""Finds the ``torch.jit`` function that the user called; functions that it calls itself are part of that call."""

from __future__ import annotations

import contextvars
from typing import Any

import torch

from freeze_engine.backends.common import torch_private
from freeze_engine.backends.torchscript.capture.raw import RawFreeze

_PARAMETERS = {
    "torch.jit.freeze": ("mod", "preserved_attrs", "optimize_numerics"),
    "torch.jit.run_frozen_optimizations": ("mod", "optimize_numerics", "preserved_methods"),
    "torch.jit.optimize_for_inference": ("mod", "other_methods"),
}


class UserCall:
    """One call of a function of ``torch.jit`` by the user, while it runs."""

    def __init__(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.name = name
        self.args = args
        self.kwargs = kwargs
        self.freeze: RawFreeze | None = None

    @property
    def module(self) -> Any:
        """The C++ module that was passed, ``None`` if it was no ScriptModule."""
        given = self.args[0] if self.args else self.kwargs.get("mod")
        return torch_private.cpp_module(given) if isinstance(given, torch.jit.ScriptModule) else None

    @property
    def options(self) -> dict[str, Any]:
        """Returns the arguments besides the module, by the names of the function's parameters."""
        given = {**dict(zip(_PARAMETERS[self.name], self.args, strict=False)), **self.kwargs}
        return {name: value for name, value in given.items() if name != "mod"}


outermost: contextvars.ContextVar[UserCall | None] = contextvars.ContextVar("outermost_call", default=None)
