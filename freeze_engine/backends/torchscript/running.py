"""Calls a recorded graph as its module would be called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from freeze_engine.backends._torch_private import cpp_module, method, private
from freeze_engine.backends.torchscript.build import LiveStep

METHOD = "forward"


def step_schema(scripted: torch.jit.ScriptModule, name: str = METHOD) -> Any:
    """Returns the schema of a method that was frozen; a graph knows neither names of arguments nor their defaults."""
    return method(cpp_module(scripted), name).schema


def step_runner(live: LiveStep, scripted: torch.jit.ScriptModule, name: str = METHOD) -> Callable[..., object]:
    """Returns what calls the graph of a step.

    Args:
        live: the step.
        scripted: what was frozen.
        name: of the method that the graph is of.
    """
    function = private("_create_function_from_graph")(METHOD, live.graph.copy())
    arguments = step_schema(scripted, name).arguments[1:]
    module = live.module

    def run(*args: Any, **kwargs: Any) -> object:
        given = list(args)
        for argument in arguments[len(args) :]:
            given.append(kwargs.get(argument.name, argument.default_value))
        return function(module, *given)

    return run
