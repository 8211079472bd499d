"""`bisect()`: from a model and a check to the culprit."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from freeze_engine.bisection.outcome import Bisection, Probe
from freeze_engine.errors import FreezerError
from freeze_engine.inputs import Inputs
from freeze_engine.options import (
    AccuracyCheck,
    CommandCheck,
    InductorOptions,
    LatencyCheck,
    Progress,
    RecordOptions,
    TorchScriptOptions,
)
from freeze_engine.session import as_inputs, options_for
from freeze_engine.trace import Backend, Trace

if TYPE_CHECKING:
    import torch

    from freeze_engine.bisection.checks import Check
    from freeze_engine.bisection.prefix import Prefixes

CheckOptions = AccuracyCheck | LatencyCheck | CommandCheck
#: More sets of inputs than any check takes.
_MANY = 100


@dataclass(frozen=True, slots=True)
class _Freeze:
    """A recorded freeze that is to be searched.

    Attributes:
        model: as it was before.
        inputs: what to run it on.
        options: how it was frozen.
        how: how it got to the freeze.
        trace: the recording.
        prefixes: what can be put to a check.
    """

    model: torch.nn.Module
    inputs: Inputs
    options: TorchScriptOptions | InductorOptions
    how: RecordOptions
    trace: Trace
    prefixes: Prefixes


def bisect(
    model: torch.nn.Module | str | Path,
    inputs: Inputs | Sequence[Any] | torch.Tensor | None = None,
    *,
    check: CheckOptions | str = "accuracy",
    backend: Backend = "torchscript",
    options: TorchScriptOptions | InductorOptions | None = None,
    via: Literal["script", "trace"] | None = None,
    map_location: str | None = None,
    every_step: bool | None = None,
    script: str | Path | None = None,
    progress: Progress | None = None,
    on_probe: Callable[[Probe], None] | None = None,
) -> Bisection:
    """Freezes a model and finds the first step that breaks a check, and in it the fewest rewrites that do.

    Args:
        model: as for `record`.
        inputs: as for `record`; some are needed.
        check: ``accuracy``, ``latency``, a command, or one of these with its options.
        backend: which freezing.
        options: how to freeze; of the backend's own class.
        via: how an `nn.Module` gets into TorchScript.
        map_location: device to load a TorchScript file to.
        every_step: whether to ask about every step, which notices steps that are good again after a bad one, and not
            only those that a binary search needs; by default for ``accuracy`` only.
        script: where to write a script that shows the fault with torch alone, ``None`` for none; what it reads is
            written beside it.
        progress: told how far the freeze is.
        on_probe: told of each answer of the check.

    Returns:
        What was found.

    Raises:
        FreezerError: the model, the inputs or the check cannot be used, or a command ended the search.
        Exception: whatever torch raises while it freezes, unchanged; `partial_trace` has the trace up to there.
    """
    from freeze_engine.bisection.reproduction import Fault, reproduction
    from freeze_engine.bisection.running import Search
    from freeze_engine.measure.generated import input_sets

    checked = _check_options(check)
    freeze = _frozen(model, as_inputs(inputs), options_for(backend, options), via, map_location, progress)
    question = _question(checked, freeze)
    every = question.is_cheap if every_step is None else every_step
    search = Search(freeze.trace, freeze.prefixes, question, every, on_probe or _ignored)
    found = search.run()
    shown = None
    if script is not None and found.culprit is not None:
        inputs = next(each.inputs for each in input_sets(freeze.inputs, _MANY) if each.name == search.failing.inputs)
        fault = Fault(checked, found.culprit, freeze.trace, search.failing.detail)
        whole = isinstance(checked, CommandCheck)
        shown = reproduction(Path(script), fault, freeze.prefixes.recipes(found.culprit, found.guilty, inputs, whole))
    return Bisection(
        found.ending,
        question.name,
        found.message,
        tuple(search.probes),
        found.culprit,
        tuple(search.notes),
        shown,
        freeze.trace,
    )


def _check_options(check: CheckOptions | str) -> CheckOptions:
    if not isinstance(check, str):
        return check
    if check == "accuracy":
        return AccuracyCheck()
    if check == "latency":
        return LatencyCheck()
    words = shlex.split(check)
    if not words:
        raise FreezerError("check is empty: give accuracy, latency, or a command")
    return CommandCheck(tuple(words))


def _frozen(
    model: torch.nn.Module | str | Path,
    inputs: Inputs | None,
    options: TorchScriptOptions | InductorOptions,
    via: Literal["script", "trace"] | None,
    map_location: str | None,
    progress: Progress | None,
) -> _Freeze:
    from freeze_engine.backends.torchscript.watcher import Watcher, silent
    from freeze_engine.models import load_model

    name = None
    if isinstance(model, (str, Path)):
        loaded = load_model(str(model), map_location=map_location)
        model, inputs, via, name = loaded.module, inputs or loaded.inputs, via or loaded.via, loaded.name
        if isinstance(options, TorchScriptOptions):
            options = replace(options, preserved_attrs=options.preserved_attrs or loaded.preserved_attrs)
    if inputs is None:
        raise FreezerError("a check runs the model: give inputs")
    how, watcher = RecordOptions(via or "script", name=name), Watcher(progress or silent)
    if isinstance(options, InductorOptions):
        from freeze_engine.bisection.inductor import compiled_prefixes

        prefixes, trace = compiled_prefixes(model, inputs, options, how, watcher)
        return _Freeze(model, inputs, options, how, trace, prefixes)
    from freeze_engine.backends.torchscript.recording import record_module
    from freeze_engine.bisection.torchscript import TorchScriptPrefixes

    frozen = record_module(model, inputs, options, how, None, watcher)
    return _Freeze(model, inputs, options, how, frozen.trace, TorchScriptPrefixes(frozen, inputs, options))


def _question(check: CheckOptions, freeze: _Freeze) -> Check:
    from freeze_engine.bisection import checks
    from freeze_engine.measure.devices import chosen_devices

    if isinstance(check, AccuracyCheck):
        return checks.Accuracy(check, freeze.model, freeze.inputs)
    if isinstance(check, CommandCheck):
        return checks.Command(check, freeze.prefixes.suffix)
    held = (*freeze.model.state_dict().values(), *freeze.inputs.args)
    devices, _ = chosen_devices((), held)
    return checks.Latency(check, freeze.inputs, devices[0])


def _ignored(probe: Probe) -> None:
    """Is told of probes by whoever does not want to be."""
