"""Turns what the user has into a ScriptModule, the way the user would, and keeps what torch says on the way."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from freeze_engine.backends._torch_private import scripting_enabled
from freeze_engine.errors import FreezerError
from freeze_engine.inputs import Inputs
from freeze_engine.trace import Notice

Via = Literal["script", "trace"]


@dataclass(frozen=True, slots=True)
class Scripted:
    """A module ready to be frozen.

    Attributes:
        module: the ScriptModule.
        notices: what the tracer warned of.
    """

    module: torch.jit.ScriptModule
    notices: tuple[Notice, ...] = ()


def scripted(
    model: torch.nn.Module, inputs: Inputs | None, via: Via, check_inputs: Sequence[tuple[object, ...]] = ()
) -> Scripted:
    """Scripts or traces a module; a ScriptModule is taken as it is.

    Args:
        model: the module.
        inputs: what to trace with.
        via: how the module gets into TorchScript.
        check_inputs: further inputs to trace with; where they give another graph, the difference is a notice.

    Returns:
        The ScriptModule.

    Raises:
        FreezerError: TorchScript is switched off, or tracing lacks inputs.
        Exception: whatever ``torch.jit.script`` or ``torch.jit.trace`` raises, unchanged.
    """
    if not scripting_enabled():
        raise FreezerError(
            "TorchScript is switched off by PYTORCH_JIT=0 in the environment, so nothing can be frozen: unset it"
        )
    if isinstance(model, torch.jit.ScriptModule):
        return Scripted(model)
    if via == "script":
        return Scripted(torch.jit.script(model))
    if via != "trace":
        raise FreezerError(f"via={via!r}: a module gets into TorchScript by 'script' or 'trace'")
    if inputs is None:
        raise FreezerError("via='trace' needs inputs to trace the module with: pass inputs=(...)")
    return _traced(model, inputs, check_inputs)


def _traced(model: torch.nn.Module, inputs: Inputs, check_inputs: Sequence[tuple[object, ...]]) -> Scripted:
    def trace(checks: list[tuple[object, ...]]) -> torch.jit.ScriptModule:
        given: dict[str, object] = {"example_kwarg_inputs": dict(inputs.kwargs)} if inputs.kwargs else {}
        if not inputs.kwargs:
            given["example_inputs"] = inputs.args
        # Checking runs the model again; it is done where there is something to check with.
        module = torch.jit.trace(  # type: ignore[no-untyped-call]
            model, check_trace=bool(checks), check_inputs=checks or None, **given
        )
        assert isinstance(module, torch.jit.ScriptModule)
        return module

    if inputs.args and inputs.kwargs:
        raise FreezerError("torch.jit.trace takes positional or keyword inputs, not both: give all of one kind")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            module, difference = trace(list(check_inputs)), None
        except torch.jit.TracingCheckError as error:  # type: ignore[attr-defined]
            module, difference = trace([]), str(error)
    notices = [
        Notice("tracer_warning", str(each.message))
        for each in told
        if issubclass(each.category, torch.jit.TracerWarning)  # type: ignore[attr-defined]
    ]
    for each in told:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if difference is not None:
        notices.append(Notice("check_inputs_differ", difference))
    return Scripted(module, tuple(dict.fromkeys(notices)))
