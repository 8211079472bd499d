"""Ways to reproduce a fault of a TorchScript freeze, the smallest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from freeze_engine.backends.torchscript.capture.pass_driver import INFERENCE, OPTIONAL, REMOVE_DROPOUT
from freeze_engine.backends.torchscript.record import Frozen
from freeze_engine.backends.torchscript.replay.run import METHOD, step_runner, step_schema
from freeze_engine.backends.torchscript.replay.save import Parameter, module_of, parameters
from freeze_engine.backends.torchscript.replay.subgraph import cut_out
from freeze_engine.backends.torchscript.trace_builder import LiveStep
from freeze_engine.diagnose.bisection.repro import Recipe
from freeze_engine.diagnose.bisection.result import Culprit
from freeze_engine.measure.candidate import cloned, inference
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import TorchScriptOptions

_LOAD = ('return torch.jit.load(HERE / "{file}").eval()',)


def recipes(
    frozen: Frozen, inputs: Inputs, options: TorchScriptOptions, culprit: Culprit, guilty: Sequence[int]
) -> Iterator[Recipe]:
    """Yields ways to show a fault.

    Args:
        frozen: the recorded freeze.
        inputs: that show it.
        options: how it was frozen.
        culprit: the step.
        guilty: positions of the rewrites in it, none where nothing but a whole model can show the fault.
    """
    assert culprit.step is not None
    step = frozen.trace.steps[culprit.step]
    before = frozen.trace.before(step)
    live = frozen.live.get(before.index) if before is not None else None
    if culprit.name in OPTIONAL and before is not None and live is not None:
        consumed = [name for number in guilty for name in step.rewrites[number].consumed]
        cutting = cut_out(before.graph, live, consumed) if consumed else None
        if cutting is not None:
            read = _run(cutting.read, frozen, inputs, culprit.method)
            names = tuple(Parameter(f"x{number}") for number in range(len(read)))
            for lines in _freezing(culprit.name):
                yield _recipe(cutting.live, names, Inputs(read), lines, is_reduced=True)
        for lines in _freezing(culprit.name):
            yield _recipe(live, parameters(step_schema(frozen.source, culprit.method)), inputs, lines)
    yield _from_start(frozen, inputs, options, culprit.method)


def _freezing(name: str) -> Iterator[tuple[str, ...]]:
    """Yields the public way to run a pass, which runs others, too, and then the pass alone."""
    if OPTIONAL[name] not in INFERENCE:
        yield ("return torch.jit.freeze(module)",)
    binding = OPTIONAL[name].binding
    given = "module._c" if name == REMOVE_DROPOUT.name else f'module._c._get_method("{METHOD}").graph'
    yield (f"torch._C.{binding}({given})", "return module")


def _recipe(
    live: LiveStep, names: Sequence[Parameter], inputs: Inputs, freeze: Sequence[str], is_reduced: bool = False
) -> Recipe:
    def save(path: Path) -> Inputs:
        torch.jit.save(module_of(live, names), path)
        return inputs

    return Recipe(is_reduced, ".pt", save, _LOAD, freeze)


def _from_start(frozen: Frozen, inputs: Inputs, options: TorchScriptOptions, method: str) -> Recipe:
    """Freezes what was frozen, in the public way."""
    preserved = list(dict.fromkeys((*options.preserved_attrs, *options.other_methods)))
    lines = [f"module = torch.jit.freeze(module, {preserved!r}, optimize_numerics={options.optimize_numerics})"]
    if options.optimize_for_inference:
        lines.append(f"module = torch.jit.optimize_for_inference(module, {list(options.other_methods)!r})")

    def save(path: Path) -> Inputs:
        torch.jit.save(frozen.source, path)
        return inputs

    return Recipe(False, ".pt", save, _LOAD, (*lines, "return module"), method)


def _run(live: LiveStep, frozen: Frozen, inputs: Inputs, method: str) -> tuple[object, ...]:
    """Returns what a graph gives; in a tensor that is written in place later, what it holds at the end."""
    given = cloned(inputs)
    with inference():
        found = step_runner(live, frozen.source, method)(*given.args, **given.kwargs)
    return found if isinstance(found, tuple) and len(list(live.graph.outputs())) > 1 else (found,)
