"""Makes the freeze to search, once, and splits it by method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from freeze_engine.backends.common.exported_programs import holds_exported
from freeze_engine.backends.common.observer import FREEZING, PHASES, RecordingObserver
from freeze_engine.backends.torchscript.record import record_module
from freeze_engine.backends.torchscript.replay.module_state import written_buffers
from freeze_engine.backends.torchscript.replay.run import METHOD
from freeze_engine.diagnose.bisection.evaluate import in_fork, starts_tasks
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefixes
from freeze_engine.diagnose.bisection.request import BisectRequest
from freeze_engine.diagnose.bisection.torchscript import TorchScriptPrefixes
from freeze_engine.errors import FreezerError
from freeze_engine.measure.candidate import CandidateError, cloned, inference, reported
from freeze_engine.models.binding import check_call
from freeze_engine.models.loading import load_model
from freeze_engine.process.fork import Lost
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions, ModuleOptions, ProcessOptions, Progress, TorchScriptOptions
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import Trace

if TYPE_CHECKING:
    from freeze_engine.backends.torchscript.record import Frozen


@dataclass(frozen=True, slots=True)
class ModelToFreeze:
    """The model to freeze, with its inputs and options.

    Attributes:
        model: as it is before.
        inputs: what to run it on.
        options: how to freeze it.
        module_options: how it gets to the freeze.
    """

    model: torch.nn.Module
    inputs: Inputs
    options: ProcessOptions
    module_options: ModuleOptions


@dataclass(frozen=True, slots=True)
class Freeze:
    """A recorded freeze to search.

    Attributes:
        trace: the recording.
        prefixes: the candidates of each method that is searched.
        notes: which methods are not searched, and why.
    """

    trace: Trace
    prefixes: Sequence[Prefixes]
    notes: tuple[str, ...] = ()


def loaded_subject(request: BisectRequest) -> ModelToFreeze:
    """Returns the model to freeze.

    Raises:
        FreezerError: the model cannot be had, or there are no inputs.
    """
    model, inputs, options, via, name = request.model, request.inputs, request.options, request.via, None
    if isinstance(model, (str, Path)):
        loaded = load_model(str(model), map_location=request.map_location, imports=request.imports)
        model, inputs, via, name = loaded.module, inputs or loaded.inputs, via or loaded.via, loaded.name
        if isinstance(options, TorchScriptOptions):
            options = replace(options, preserved_attrs=options.preserved_attrs or loaded.preserved_attrs)
    if inputs is None:
        raise FreezerError("a criterion runs the model: give inputs")
    # With other methods to search, inputs that forward refuses may be theirs.
    if request.method in (None, METHOD) and not getattr(options, "preserved_attrs", ()):
        check_call(model, inputs, name or type(model).__name__)
    via = via or ("trace" if holds_exported(model) else "script")
    return ModelToFreeze(model, inputs, options, ModuleOptions(via, name=name))


def freeze(subject: ModelToFreeze, method: str | None, progress: Progress, can_start_tasks: bool) -> Freeze:
    """Freezes and records.

    Args:
        subject: what to freeze.
        method: the only one to search, ``None`` for each that runs on the inputs.
        progress: called with the progress.
        can_start_tasks: whether ``torch.jit.fork`` can run here.

    Raises:
        FreezerError: there is no such method, or the model needs what cannot run here.
        Exception: whatever torch raises while it freezes, unchanged.
    """
    observer = _PassWatcher(progress)
    if isinstance(subject.options, InductorOptions):
        from freeze_engine.diagnose.bisection.inductor import compiled_prefixes

        if method not in (None, METHOD):
            raise FreezerError(f"method {method}: torch.compile compiles forward; other methods are TorchScript's")
        prefixes, trace = compiled_prefixes(
            subject.model, subject.inputs, subject.options, subject.module_options, observer
        )
        return Freeze(trace, (prefixes,))
    frozen = record_module(subject.model, subject.inputs, subject.options, subject.module_options, None, observer)
    if not can_start_tasks and starts_tasks(frozen.trace):
        raise FreezerError(
            "the model calls torch.jit.fork, which has run in this process before and would wait for ever in a fork of "
            "it: search with apart=False, or in a fresh process"
        )
    methods, notes = _searched(frozen, subject, method)
    return Freeze(
        frozen.trace,
        tuple(
            TorchScriptPrefixes(frozen, subject.inputs, subject.options, name, _written(frozen, subject.inputs, name))
            for name in methods
        ),
        notes,
    )


class _PassWatcher(RecordingObserver):
    """Reports each pass that begins, since torch may die in it."""

    def pass_begins(self, stage: str, name: str, method: str, number: int | None) -> None:
        self.progress(f"{FREEZING}: {name} of {method}", 1, PHASES)


def _searched(frozen: Frozen, subject: ModelToFreeze, method: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the methods to search, and notes about the others."""
    methods = sorted(frozen.trace.methods, key=lambda name: name != METHOD)
    if method is not None:
        if method not in methods:
            raise FreezerError(
                f"method {method}: it was not frozen; those that were: {', '.join(methods)} (preserve it to freeze it)"
            )
        return (method,), ()
    others = (name for name in methods if name != METHOD)
    refused = {name: why for name in others if (why := _refusal(subject, name, frozen.trace))}
    notes = tuple(
        f"Not searched: {name}, which does not run on these inputs ({why}); search it on its own, with inputs for it."
        for name, why in refused.items()
    )
    return tuple(name for name in methods if name not in refused), notes


def _refusal(subject: ModelToFreeze, method: str, trace: Trace) -> str:
    """Returns why a method does not run on the inputs; empty where it does."""

    def run() -> str:
        given = cloned(subject.inputs)
        try:
            with inference(), reported():
                getattr(replica(subject.model), method)(*given.args, **given.kwargs)
        except CandidateError as error:
            return str(error).strip().splitlines()[0]
        return ""

    found = in_fork(run, trace)
    return found.message if isinstance(found, Lost) else found


def _written(frozen: Frozen, inputs: Inputs, method: str) -> tuple[str, ...]:
    """Returns the paths that running a method writes; empty for one that ends its process."""
    found = in_fork(lambda: written_buffers(frozen.source, inputs, method), frozen.trace)
    return () if isinstance(found, Lost) else found
