"""Ways to reproduce a fault of a compile with Inductor freezing, the smallest first."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from freeze_engine.backends.inductor.capture.compile import settings
from freeze_engine.diagnose.bisection.repro import Recipe
from freeze_engine.diagnose.bisection.result import Culprit
from freeze_engine.measure.candidate import cloned, inference
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions
from freeze_engine.tensors.module_copy import replica

_LOAD = ('return torch.export.load(HERE / "{file}").module()',)


def recipes(model: torch.nn.Module, inputs: Inputs, options: InductorOptions, culprit: Culprit) -> Iterator[Recipe]:
    """Yields ways to show a fault.

    Args:
        model: as it was before it was compiled.
        inputs: that show it.
        options: how it was compiled.
        culprit: the step.
    """
    path = _common_module(culprit)
    if path and path in dict(model.named_modules()):
        called = _call_of(model, path, inputs)
        if called is not None:
            yield _recipe(model.get_submodule(path), called, options, is_reduced=True)
    yield _recipe(model, inputs, options, is_reduced=False)


def _common_module(culprit: Culprit) -> str:
    """Returns the path of the smallest submodule that all guilty nodes come from, empty for the whole model."""
    paths = [path.split(".") for rewrite in culprit.rewrites for path in rewrite.modules]
    levels = itertools.takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return ".".join(names[0] for names in levels)


def _call_of(model: torch.nn.Module, path: str, inputs: Inputs) -> Inputs | None:
    """Returns the inputs that a submodule gets when the model runs."""
    copied, given = replica(model), cloned(inputs)
    seen: list[Inputs] = []

    def note(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen.append(cloned(Inputs(args, kwargs)))

    handle = copied.get_submodule(path).register_forward_pre_hook(note, with_kwargs=True)
    with inference():
        copied(*given.args, **given.kwargs)
    handle.remove()
    return seen[0] if seen else None


def _recipe(model: torch.nn.Module, inputs: Inputs, options: InductorOptions, is_reduced: bool) -> Recipe:
    changed = {"mode": options.mode, "dynamic": options.dynamic, "fullgraph": options.fullgraph or None}
    given = "".join(f", {name}={value!r}" for name, value in changed.items() if value is not None)
    lines = (
        "import torch._inductor.config",
        "",
        *(f"torch._inductor.config.{name} = {value!r}" for name, value in settings(options).items()),
        f"return torch.compile(module{given})",
    )

    def save(path: Path) -> Inputs:
        export = importlib.import_module("torch.export")
        called = cloned(inputs)
        export.save(export.export(replica(model), tuple(called.args), dict(called.kwargs)), path)
        return inputs

    return Recipe(is_reduced, ".pt2", save, _LOAD, lines)
