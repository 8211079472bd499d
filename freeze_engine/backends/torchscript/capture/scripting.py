"""Turns the user's model into a ScriptModule, as the user would, and keeps torch's warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from freeze_engine.backends.common.exported_programs import check_evaluates, evaluating, holds_exported
from freeze_engine.backends.common.torch_private import cpp_module, forget_dead_builtins, scripting_enabled
from freeze_engine.backends.torchscript.capture.tracer_warnings import listening, show_again, tracer_notices
from freeze_engine.errors import FreezerError
from freeze_engine.requests.inputs import Inputs
from freeze_engine.trace import Notice

Via = Literal["script", "trace"]

_NOT_STRICT = (
    "The model returns a dict or a list, which torch.jit.trace takes with strict=False only: the traced module returns "
    "the same keys, and as many items, for any inputs."
)


@dataclass(frozen=True, slots=True)
class Scripted:
    """A module ready to be frozen.

    Attributes:
        module: the ScriptModule.
        notices: the tracer's warnings.
    """

    module: torch.jit.ScriptModule
    notices: tuple[Notice, ...] = ()


def to_script_module(
    model: torch.nn.Module, inputs: Inputs | None, via: Via, check_inputs: Sequence[tuple[object, ...]] = ()
) -> Scripted:
    """Scripts or traces a module; a ScriptModule is taken as it is.

    Args:
        model: the module.
        inputs: what to trace with.
        via: how the module gets into TorchScript.
        check_inputs: further inputs to trace with; if they yield another graph, a notice is added.

    Returns:
        The ScriptModule.

    Raises:
        FreezerError: TorchScript is switched off, tracing lacks inputs, or a module is frozen already.
        Exception: whatever ``torch.jit.script`` or ``torch.jit.trace`` raises, unchanged.
    """
    if not scripting_enabled():
        raise FreezerError(
            "TorchScript is switched off by PYTORCH_JIT=0 in the environment, so nothing can be frozen: unset it"
        )
    check_not_frozen(model)
    is_script = isinstance(model, torch.jit.ScriptModule)
    if is_script and via == "trace":
        raise FreezerError("via='trace': the module is TorchScript already, and is frozen as it is; leave via out")
    if check_inputs and (is_script or via == "script"):
        raise FreezerError(
            "check_inputs are further inputs for torch.jit.trace, and this module is not traced: "
            f"leave them out{'' if is_script else ', or pass via=' + repr('trace')}"
        )
    if isinstance(model, torch.jit.ScriptModule):
        return Scripted(model)
    forget_dead_builtins(model)
    if holds_exported(model):  # torch.jit.freeze says itself which other modules train
        check_evaluates(model)
    if via == "script":
        return Scripted(torch.jit.script(model))
    if inputs is None:
        raise FreezerError("via='trace' needs inputs to trace the module with: pass inputs=(...)")
    with evaluating(model):
        return _traced(model, inputs, check_inputs)


def is_frozen(module: torch.nn.Module) -> bool:
    """Returns whether a module is frozen: torch then takes the flag ``training`` away (2.13, ``freeze_module.cpp``)."""
    # eval() of a module around it gives the flag back in Python only.
    return isinstance(module, torch.jit.ScriptModule) and not cpp_module(module).hasattr("training")


def check_not_frozen(model: torch.nn.Module) -> None:
    """Checks that neither a module nor one inside it is frozen, which torch refuses in words about something else.

    Raises:
        FreezerError: one is.
    """
    path = next((path for path, part in model.named_modules() if is_frozen(part)), None)
    if path:
        raise FreezerError(
            f"the submodule {path!r} is frozen already, and torch can neither script nor trace a module around a "
            "frozen one: put the module there that it was made from"
        )
    if path is not None:
        raise FreezerError(
            "the module is frozen already, so no pass is left to record: give the module that it was made from; to "
            "see what is in this one, save it (torch.jit.save(module, 'frozen.pt')) and record the file, which is "
            "only read"
        )


def _traced(model: torch.nn.Module, inputs: Inputs, check_inputs: Sequence[tuple[object, ...]]) -> Scripted:
    if inputs.args and inputs.kwargs:
        raise FreezerError("torch.jit.trace takes positional or keyword inputs, not both: give all of one kind")
    strict = True
    with listening() as told:
        try:
            module, difference = _checked(model, inputs, check_inputs, strict)
        except RuntimeError as error:
            if "strict=False" not in str(error):
                raise
            strict = False
            told.clear()
            module, difference = _checked(model, inputs, check_inputs, strict)
    notices = list(tracer_notices(told))
    show_again(told)
    if difference is not None:
        notices.append(Notice("check_inputs_differ", difference))
    if not strict:
        notices.append(Notice("traced_not_strict", _NOT_STRICT))
    return Scripted(module, tuple(notices))


def _checked(
    model: torch.nn.Module, inputs: Inputs, check_inputs: Sequence[tuple[object, ...]], strict: bool
) -> tuple[torch.jit.ScriptModule, str | None]:
    """Traces a module, and returns the differences of the graphs from the check inputs."""
    try:
        return _trace(model, inputs, list(check_inputs), strict), None
    except torch.jit.TracingCheckError as error:  # type: ignore[attr-defined]
        return _trace(model, inputs, [], strict), str(error)


def _trace(
    model: torch.nn.Module, inputs: Inputs, checks: list[tuple[object, ...]], strict: bool
) -> torch.jit.ScriptModule:
    given: dict[str, object] = {"example_kwarg_inputs": dict(inputs.kwargs)} if inputs.kwargs else {}
    if not inputs.kwargs:
        given["example_inputs"] = inputs.args
    # Checking runs the model again, so it needs check inputs.
    module = torch.jit.trace(  # type: ignore[no-untyped-call]
        model, check_trace=bool(checks), check_inputs=checks or None, strict=strict, **given
    )
    assert isinstance(module, torch.jit.ScriptModule)
    return module
