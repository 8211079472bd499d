"""Whether the frozen module comes back from a file as it was saved."""

from __future__ import annotations

import copy
from typing import Final

import torch

from freeze_engine.checks.again import frozen_again, saved_and_loaded
from freeze_engine.checks.context import CheckContext, Compared
from freeze_engine.checks.differences import graphs_as_they_came, result_differences
from freeze_engine.inputs import Inputs
from freeze_engine.measure.candidate import CandidateError, cloned, inference, reported
from freeze_engine.measure.outputs import compare_outputs
from freeze_engine.options import InductorOptions
from freeze_engine.trace import Check

NAME: Final = "round_trip"
_CALLS: Final = 3  # from the third on the profiling executor runs the code that all later calls run


def round_trip(context: CheckContext) -> Check | Compared:
    """Saves the frozen module, loads it, and compares graphs and outputs.

    Args:
        context: the freeze.
    """
    options = context.options
    if isinstance(options, InductorOptions):
        return Check(NAME, "unknown", "What torch.compile makes lives in this process only: there is no file of it.")
    try:
        with reported():
            loaded = saved_and_loaded(context.result)
    except CandidateError as error:
        text = next((line for line in reversed(str(error).splitlines()) if line.strip()), "")
        return Check(NAME, "failed", "It cannot be saved and loaded.", (text,))
    came_back = graphs_as_they_came(frozen_again(loaded, options))
    graphs = result_differences(context.trace, came_back)
    if context.inputs is None:
        outputs, gives = None, "without inputs it was not run"
    else:
        ran = [_output(module, context.inputs) for module in (loaded, copy.deepcopy(context.result))]
        outputs = compare_outputs(ran[0], ran[1], "eager")
        gives = f"its outputs differ by at most {outputs.max_abs:.2g}" if outputs.max_abs else "it gives the same outputs"
    if graphs or (outputs is not None and not outputs.close):
        details = (*graphs, (outputs and outputs.error) or gives)
        return Compared(Check(NAME, "failed", "Saved and loaded, it is another module.", details), came_back)
    return Check(NAME, "passed", f"Loaded, its graphs are the same; {gives}.")


def _output(module: torch.jit.ScriptModule, inputs: Inputs) -> object:
    """Runs a module on copies of the inputs; what it writes in itself stays in it."""
    output: object = None
    with inference():
        for _ in range(_CALLS):
            own = cloned(inputs)
            torch.manual_seed(0)
            output = module(*own.args, **own.kwargs)
    return output
