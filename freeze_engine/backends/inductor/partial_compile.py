"""Runs the passes of a compile again, some of what patterns found left alone, and stops before code is generated."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch

from freeze_engine.backends._patching import Patch, patched
from freeze_engine.backends.inductor import private
from freeze_engine.backends.inductor.capture import capturing
from freeze_engine.backends.inductor.compiling import compiled_once
from freeze_engine.backends.inductor.leaving_out import leaving_alone, leaving_out
from freeze_engine.backends.inductor.live import LiveGraph
from freeze_engine.backends.inductor.recording import trace_of
from freeze_engine.inputs import Inputs
from freeze_engine.measure.candidate import cloned
from freeze_engine.options import InductorOptions
from freeze_engine.trace import Trace


class _EnoughError(Exception):
    """Ends a compile once its passes are over."""


def graphs_leaving_alone(
    model: torch.nn.Module, inputs: Inputs, options: InductorOptions, nodes: frozenset[str]
) -> tuple[Trace, Mapping[int, LiveGraph]]:
    """Runs the passes on the first graph of a model.

    Args:
        model: in eval mode; a copy of it is compiled.
        inputs: what to compile for.
        options: how.
        nodes: names of nodes; a match of a pattern that holds one is left alone.

    Returns:
        The trace, which ends where the passes do, and its steps that can be run.

    Raises:
        Exception: whatever a pass raises, unchanged.
    """
    lowering = private.OPTIONAL["lower"]
    replica = copy.deepcopy(model)
    with capturing(replica, True) as seen, leaving_alone(nodes), leaving_out(options.without):
        try:
            with patched((Patch(lowering.owner, lowering.attribute, _stop),)):
                compiled_once(replica, cloned(inputs), options)
        except Exception:
            if not seen.compiles or not _has_ended(seen.compiles[0]):
                raise
    trace, (live, *_) = trace_of(seen.compiles[:1])
    return trace, live


def _stop(*args: Any, **kwargs: Any) -> Any:
    raise _EnoughError


def _has_ended(compiled: Any) -> bool:
    """Whether a compile was ended here; Dynamo wraps what it raises."""
    error = compiled.failure.error if compiled.failure is not None else None
    while error is not None:
        if isinstance(error, _EnoughError):
            return True
        error = error.__cause__ or getattr(error, "inner_exception", None)
    return False
