"""Runs the passes of a compile again without some pattern matches, and stops before code generation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import torch

from freeze_engine.backends.common.patching import Patch, patched
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.capture import capturing
from freeze_engine.backends.inductor.capture.compile import compiled_once
from freeze_engine.backends.inductor.capture.disabled_passes import disabling, sparing_nodes
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.backends.inductor.record import trace_of
from freeze_engine.measure.candidate import cloned
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import Trace


class _EnoughError(BaseException):
    """Ends a compile after its passes; no `Exception`, which Dynamo would handle as its own error."""


def graphs_sparing(
    model: torch.nn.Module, inputs: Inputs, options: InductorOptions, nodes: frozenset[str], count: int
) -> tuple[Trace, Mapping[int, LiveGraph]]:
    """Runs the passes on the first graphs of a model.

    Args:
        model: in eval mode; a copy of it is compiled.
        inputs: what to compile for.
        options: how.
        nodes: names of nodes; a match of a pattern that contains one is skipped.
        count: how many graphs; all but the last are compiled, for Dynamo goes on only by running them.

    Returns:
        The trace, which ends where the passes on the last one do, and its steps that can be run.

    Raises:
        Exception: whatever a pass raises, unchanged.
    """
    lowering = torch_private.OPTIONAL["lower"]
    copied = replica(model)
    with capturing(copied, True) as seen, sparing_nodes(nodes), disabling(options.disabled_passes):
        stopping = Patch(lowering.owner, lowering.attribute, _stopping(lowering.found, count))
        with contextlib.suppress(_EnoughError), patched((stopping,)):
            compiled_once(copied, cloned(inputs), options)
    trace, live = trace_of(seen.compiles[:count])
    return trace, {index: graph for each in live for index, graph in each.items()}


def _stopping(original: Callable[..., Any], count: int) -> Callable[..., Any]:
    left = iter(range(count - 1))

    def lower(*args: Any, **kwargs: Any) -> Any:
        if next(left, None) is None:
            raise _EnoughError
        return original(*args, **kwargs)

    return lower
