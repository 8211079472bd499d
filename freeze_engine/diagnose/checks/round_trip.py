"""Checks whether the frozen module comes back from a file as it was saved."""

from __future__ import annotations

import copy
from typing import Final, Literal

import torch

from freeze_engine.diagnose.checks.context import CheckContext, Compared
from freeze_engine.diagnose.checks.differences import graphs_as_they_came, result_differences, uncompared
from freeze_engine.diagnose.checks.refreeze import frozen_again, saved_and_loaded
from freeze_engine.measure.candidate import CandidateError, cloned, inference, reported
from freeze_engine.measure.outputs import compare_outputs
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions
from freeze_engine.trace import Check, Numerics

NAME: Final = "round_trip"
Verdict = Literal["passed", "unknown"]
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
        return Check(NAME, "failed", "It cannot be saved and loaded.", (error.last_line,))
    came_back = graphs_as_they_came(frozen_again(loaded, options))
    graphs = result_differences(context.trace, came_back)
    outputs = None if context.inputs is None else _compared(context.result, loaded, context.inputs)
    check = _judged(graphs, uncompared(context.trace), outputs)
    return Compared(check, came_back) if graphs else check


def _judged(graphs: tuple[str, ...], unknown: tuple[str, ...], outputs: Numerics | None) -> Check:
    details = (*graphs, *unknown)
    if outputs is not None and not outputs.close:
        text = outputs.error or f"its outputs differ by up to {outputs.max_abs:.2g}"
        return Check(NAME, "failed", "Saved and loaded, it gives other outputs.", (text, *details))
    has = "it has other graphs" if graphs else "its graphs are the same"
    has += ", constants that cannot be compared left out" if unknown else ""
    if outputs is None:
        verdict: Verdict = "unknown" if details else "passed"
        return Check(NAME, verdict, f"Loaded, {has}; without inputs it was not run.", details)
    gives = "the same outputs" if not outputs.max_abs else f"outputs that differ by at most {outputs.max_abs:.2g}"
    return Check(NAME, "passed", f"Loaded, {has}, and it gives {gives}.", details)


def _compared(saved: torch.jit.ScriptModule, loaded: torch.jit.ScriptModule, inputs: Inputs) -> Numerics:
    return compare_outputs(_output(loaded, inputs), _output(copy.deepcopy(saved), inputs), "eager")


def _output(module: torch.jit.ScriptModule, inputs: Inputs) -> object:
    """Runs a module on copies of the inputs; what it writes in itself stays in it."""
    output: object = None
    with inference():
        for _ in range(_CALLS):
            own = cloned(inputs)
            torch.manual_seed(0)
            output = module(*own.args, **own.kwargs)
    return output
