"""Compiles the same module without freezing, for comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.capture import capturing
from freeze_engine.backends.inductor.capture.compile import compiled_once
from freeze_engine.backends.inductor.capture.raw import RawCompile
from freeze_engine.backends.inductor.method_builder import MethodBuilder
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions
from freeze_engine.tensors.constants import StorageNames
from freeze_engine.trace import GraphSnapshot, Kernel, Program, ProgramPass, Step, Trace
from freeze_engine.trace.baselines import COMPILED_UNFROZEN


def compiled_unfrozen(
    model: torch.nn.Module, inputs: Inputs, options: InductorOptions
) -> tuple[Any, tuple[RawCompile, ...]]:
    """Compiles a module without freezing by calling it once, and watches it.

    Inductor's cache of graphs is not used: graphs from there have no passes and no origins.

    Args:
        model: in eval mode.
        inputs: what to call it with.
        options: how the frozen one was compiled.

    Returns:
        The result of ``torch.compile``, and the raw data of each graph; nothing if this torch does not show them.
    """
    with capturing(model, freezing=False) as seen, torch_private.inductor_config().patch(fx_graph_cache=False):
        compiled = compiled_once(model, inputs, options, freezing=False)
    return compiled, tuple(seen.compiles)


def unfrozen_programs(trace: Trace, compiles: Sequence[RawCompile]) -> tuple[Program, ...]:
    """Returns the programs made without freezing, under the methods of the trace.

    Args:
        trace: of the same module, compiled with freezing.
        compiles: without it, in order; if their number differs, they cannot be matched.
    """
    if len(compiles) != len(trace.methods):
        return ()
    pairs = zip(trace.methods, compiles, strict=True)
    return tuple(each for method, compiled in pairs for each in _programs(compiled, trace, method))


def _programs(compiled: RawCompile, trace: Trace, method: str) -> Iterator[Program]:
    recorder = Recorder(replace(trace, steps=()))
    build = MethodBuilder(compiled, recorder, StorageNames())
    build.add_passes()
    shared = _shared(recorder.steps[0].graph, trace.method_steps(method)[0].graph)
    passes = tuple(_passes(recorder.steps))
    for program in build.programs(COMPILED_UNFROZEN):
        kernels = tuple(_in_common(kernel, shared) for kernel in program.kernels)
        yield replace(program, method=method, kernels=kernels, no_kernel=(), passes=passes)


def _shared(first: GraphSnapshot, frozen: GraphSnapshot) -> frozenset[str]:
    """Returns the ids that mean the same node in the graphs that two compiles began with: AOTAutograd names alike."""
    known = {node.id: node.op for node in frozen.walk()}
    return frozenset(node.id for node in first.walk() if known.get(node.id) == node.op)


def _in_common(kernel: Kernel, shared: frozenset[str]) -> Kernel:
    return replace(kernel, nodes=(), origins=tuple(each for each in kernel.origins if each in shared))


def _passes(steps: Iterable[Step]) -> Iterator[ProgramPass]:
    for step in steps:
        yield ProgramPass(step.stage, step.name, sum(1 for _ in step.graph.walk()), step.changed)
