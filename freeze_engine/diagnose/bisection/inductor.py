"""Prefixes of a compile with Inductor freezing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from freeze_engine.backends.common.active_captures import apart
from freeze_engine.backends.common.observer import SILENT, RecordingObserver
from freeze_engine.backends.inductor.capture.pass_observer import FREEZING_PASSES, JOINT_GRAPH, POST_GRAD
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.backends.inductor.partial_compile import graphs_sparing
from freeze_engine.backends.inductor.record import Compiled, record_module
from freeze_engine.backends.inductor.replay.module_state import State
from freeze_engine.backends.inductor.replay.stand_in import StandIn
from freeze_engine.diagnose.bisection.inductor_repro import recipes
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefix, partial_name, step_name
from freeze_engine.diagnose.bisection.repro import Recipe
from freeze_engine.diagnose.bisection.result import FORWARD, Culprit
from freeze_engine.errors import FreezerError, MeasureError
from freeze_engine.measure.candidate import Candidate, Key, cloned, inference
from freeze_engine.measure.distinct_steps import distinct_steps
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import InductorOptions, Measure, ModuleOptions
from freeze_engine.tensors.module_copy import replica
from freeze_engine.trace import Step, Trace

_COMPILED = "the compiled module"
#: torch reads an exported program with operators of Inductor's own only once these are known.
_LOADER = """\
from pathlib import Path

import torch
import torch._inductor.inductor_prims

program = torch.export.load(Path(__file__).with_suffix(".pt2"))
module = program.module()
"""
#: To keep the inputs of the graphs, and measure nothing.
_NOTHING = Measure(latency=False, numerics=False)
#: Stages whose passes match patterns; other passes cannot be run in part.
_PATTERN_STAGES = (JOINT_GRAPH, FREEZING_PASSES, POST_GRAD)
_ALL_OR_NOTHING = ("constant", "reshape")


@dataclass(frozen=True, slots=True)
class _Request:
    """The model to compile, once for the search and again for parts of a pass."""

    model: torch.nn.Module
    inputs: Inputs
    options: InductorOptions
    module_options: ModuleOptions

    def compiled(self, observer: RecordingObserver = SILENT) -> Compiled:
        """Compiles and records it."""
        return record_module(self.model, self.inputs, self.options, self.module_options, _NOTHING, observer)


def compiled_prefixes(
    model: torch.nn.Module,
    inputs: Inputs,
    options: InductorOptions,
    module_options: ModuleOptions,
    observer: RecordingObserver,
) -> tuple[InductorPrefixes, Trace]:
    """Compiles a model and returns the candidates of the criterion, and the recording.

    Raises:
        FreezerError: the options let it be compiled only once.
        Exception: whatever compiling raises, unchanged.
    """
    if options.discard_parameters:
        raise FreezerError("bisect compares with the model as it was, and discard_parameters takes its parameters")
    request = _Request(model, inputs, options, module_options)
    compiled = request.compiled(observer)
    return InductorPrefixes(request, compiled, _written(model, inputs)), compiled.trace


class InductorPrefixes:
    """The steps that can be run, in the places of the compiled graphs, and the compiled module.

    Graphs are compiled one after the other. So where there are several the steps of the second follow on those of the
    first, which stays as its last step left it, while the graphs after it are unchanged.

    Args:
        request: what was compiled.
        compiled: the recording of it.
        written: paths of what running the model writes.
    """

    method = FORWARD
    suffix = ".py"
    goes_on = True

    def __init__(self, request: _Request, compiled: Compiled, written: frozenset[str]) -> None:
        self._request = request
        self._compiled = compiled
        self._written = written
        self._stand_in: tuple[StandIn, Callable[[], None] | None] | None = None

    def whole(self) -> tuple[Prefix, ...]:
        """Returns the distinct graphs, in order, then the compiled module."""
        steps = [self._whole(index) for number in range(len(self._methods)) for index in self._shown(number)]
        reset = State(self._request.model, self._written).restore if self._written else None
        candidate = Candidate(_COMPILED, self._compiled.module, reset)
        return (*steps, Prefix(None, _COMPILED, lambda: candidate, _unsavable))

    def has_parts(self, step: Step) -> bool:
        """Returns whether the step matches patterns, each of which can be disabled."""
        kinds = {rewrite.kind for rewrite in step.rewrites}
        return step.stage in _PATTERN_STAGES and kinds.isdisjoint(_ALL_OR_NOTHING)

    def partial(self, step: Step, done: frozenset[int], end: Step) -> Prefix:
        """Compiles again without the matches of the other rewrites, and takes the graph after the last step."""
        trace = self._compiled.trace
        before = trace.before(step)
        assert before is not None
        kept = {name for number in done for name in step.rewrites[number].consumed}
        others = {name for number, each in enumerate(step.rewrites) if number not in done for name in each.consumed}
        alone = {
            node.outputs[0].name
            for node in before.graph.walk()
            if node.id in others - kept and node.outputs and node.op != "get_attr"
        }
        name = partial_name(step, done, end)
        number = self._methods.index(step.method)

        def graphs() -> tuple[LiveGraph, ...]:
            of = self._request
            again, live = graphs_sparing(of.model, of.inputs, of.options, frozenset(alone), number + 1)
            return (*self._lasts(number), live[_same_step(trace, end, again)])

        def save(path: Path) -> Inputs:
            return self._save(graphs()[-1], path)

        return Prefix(end.index, name, lambda: self._candidate(name, graphs()), save)

    def recipes(self, culprit: Culprit, guilty: Sequence[int], inputs: Inputs, whole: bool) -> Iterator[Recipe]:
        """Yields recipes that compile the submodule of the guilty rewrites, then the model; none for a command.

        A compiled module has no file that a command could get.
        """
        return iter(()) if whole else recipes(self._request.model, inputs, self._request.options, culprit)

    @property
    def _methods(self) -> tuple[str, ...]:
        return self._compiled.trace.methods

    def _runnable(self, number: int) -> list[Step]:
        """Returns the steps of a graph that can be run."""
        steps = self._compiled.trace.method_steps(self._methods[number])
        return [step for step in steps if step.index in self._compiled.live]

    def _shown(self, number: int) -> Sequence[int]:
        """Returns the distinct steps of a graph; of a later one without the first, for it came so to those before."""
        return tuple(distinct_steps(self._runnable(number)).follows)[1 if number else 0 :]

    def _whole(self, index: int) -> Prefix:
        step, live = self._compiled.trace.steps[index], self._compiled.live[index]
        candidate = self._candidate(index, (*self._lasts(self._methods.index(step.method)), live))
        return Prefix(index, step_name(step), lambda: candidate, lambda path: self._save(live, path))

    def _lasts(self, count: int) -> tuple[LiveGraph, ...]:
        """Returns how the last step that can be run left each of the first graphs."""
        return tuple(self._compiled.live[self._runnable(number)[-1].index] for number in range(count))

    def _candidate(self, key: Key, graphs: Sequence[LiveGraph]) -> Candidate:
        stand_in, reset = self._standing_in()
        return Candidate(key, stand_in.running(*graphs), reset)

    def _standing_in(self) -> tuple[StandIn, Callable[[], None] | None]:
        if self._stand_in is None:
            starts = [self._compiled.live[self._runnable(number)[0].index] for number in range(len(self._methods))]
            model = replica(self._request.model)
            given = cloned(self._request.inputs)
            with inference():
                made = apart(StandIn, model, given, self._request.options, starts)
            self._stand_in = made, State(model, self._written).restore if self._written else None
        return self._stand_in

    def _save(self, live: LiveGraph, path: Path) -> Inputs:
        if len(self._methods) > 1:
            raise MeasureError("the model is compiled as several graphs, and no one of them is the model")
        arguments = live.arguments
        if arguments is None:
            raise MeasureError("what the graph was called with is gone")
        export = importlib.import_module("torch.export")
        export.save(export.export(live.module(), arguments), path.with_suffix(".pt2"))
        path.write_text(_LOADER, encoding="utf-8")
        return Inputs(arguments)


def _unsavable(path: Path) -> Inputs:
    raise MeasureError("generated code has no file of its own; the steps before it have")


def _same_step(trace: Trace, step: Step, again: Trace) -> int:
    """Returns the step of another compile that has the same place among those of its name, or the last of them."""
    place = (step.stage, step.name, step.method)

    def named(each: Trace) -> list[int]:
        return [other.index for other in each.steps if (other.stage, other.name, other.method) == place]

    found = named(again)
    return found[min(named(trace).index(step.index), len(found) - 1)]


def _written(model: torch.nn.Module, inputs: Inputs) -> frozenset[str]:
    """Returns the paths of what running the model writes."""
    copied, given = replica(model), cloned(inputs)
    state = State(copied)
    with inference():
        copied(*given.args, **given.kwargs)
    return state.changed()
