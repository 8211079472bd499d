"""Calls a recorded graph in the same way as its module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from freeze_engine.backends.common.torch_private import cpp_module, method, private
from freeze_engine.backends.torchscript.trace_builder import LiveStep

METHOD = "forward"


def step_schema(scripted: torch.jit.ScriptModule, name: str = METHOD) -> Any:
    """Returns the schema of a method that was frozen; a graph knows neither names of arguments nor their defaults."""
    return method(cpp_module(scripted), name).schema


def step_runner(live: LiveStep, scripted: torch.jit.ScriptModule, name: str = METHOD) -> Callable[..., object]:
    """Returns a function that calls the graph of a step.

    Args:
        live: the step.
        scripted: what was frozen.
        name: of the method that the graph is of.
    """
    return graph_runner(step_function(live), live, scripted, name)


def step_function(live: LiveStep) -> Any:
    """Returns a function of a copy of a step's graph, with an executor of its own."""
    return private("_create_function_from_graph")(METHOD, live.graph.copy())


def graph_runner(
    function: Any, live: LiveStep, scripted: torch.jit.ScriptModule, name: str = METHOD
) -> Callable[..., object]:
    """Returns a function that calls the function of a step as its module is called.

    Args:
        function: result of `step_function` for the step.
        live, scripted, name: as of `step_runner`.
    """
    arguments = step_schema(scripted, name).arguments[1:]
    module = live.module

    def run(*args: Any, **kwargs: Any) -> object:
        rest = arguments[len(args) :]
        if unknown := [key for key in kwargs if all(key != argument.name for argument in rest)]:
            raise TypeError(f"{name}() got an unexpected keyword argument '{unknown[0]}'")
        return function(module, *args, *(_given(argument, kwargs, name) for argument in rest))

    return run


def _given(argument: Any, kwargs: Mapping[str, Any], name: str) -> Any:
    if argument.name not in kwargs and not argument.has_default_value():
        raise TypeError(f"{name}() is missing value for argument '{argument.name}'")
    return kwargs.get(argument.name, argument.default_value)
