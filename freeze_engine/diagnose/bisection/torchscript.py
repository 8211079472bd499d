"""Prefixes of a TorchScript freeze."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch

from freeze_engine.backends.torchscript.record import Frozen
from freeze_engine.backends.torchscript.replay.module_state import joined, restorer
from freeze_engine.backends.torchscript.replay.partial_pass import has_parts, partly
from freeze_engine.backends.torchscript.replay.run import step_runner, step_schema
from freeze_engine.backends.torchscript.replay.save import module_of, parameters
from freeze_engine.backends.torchscript.trace_builder import LiveStep
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefix, partial_name, step_name
from freeze_engine.diagnose.bisection.repro import Recipe
from freeze_engine.diagnose.bisection.result import Culprit
from freeze_engine.diagnose.bisection.torchscript_repro import recipes
from freeze_engine.measure.candidate import Candidate, Key
from freeze_engine.measure.distinct_steps import distinct_steps
from freeze_engine.requests.inputs import Inputs
from freeze_engine.requests.options import TorchScriptOptions
from freeze_engine.trace import Step


class TorchScriptPrefixes:
    """The steps of one method that can be run.

    Args:
        frozen: the recorded freeze.
        inputs: what to run the method on.
        options: how it was frozen.
        method: one that was frozen.
        written: paths of the buffers that running it writes.
    """

    suffix = ".pt"
    goes_on = False

    def __init__(
        self, frozen: Frozen, inputs: Inputs, options: TorchScriptOptions, method: str, written: Sequence[str]
    ) -> None:
        self.method = method
        self._frozen = frozen
        self._options = options
        self._inputs = inputs
        self._written = restorer(frozen.source, written)
        self._kept = tuple(
            fate.path for fate in frozen.trace.attributes if fate.fate == "preserved" and fate.kind != "submodule"
        )
        self._put_back = joined(self._written, *(restorer(each, self._kept) for each in (frozen.source, frozen.module)))

    def whole(self) -> tuple[Prefix, ...]:
        """Returns the distinct graphs of the recording, in order."""
        trace, live = self._frozen.trace, self._frozen.live
        shown = distinct_steps(step for step in trace.steps if step.method == self.method and step.index in live)
        return tuple(self._whole(trace.steps[index], live[index]) for index in shown.follows)

    def has_parts(self, step: Step) -> bool:
        """Returns whether torch can run the pass on its own, and the graph before it is at hand."""
        before = self._frozen.trace.before(step)
        return has_parts(step.name) and before is not None and before.index in self._frozen.live

    def partial(self, step: Step, done: frozenset[int], end: Step) -> Prefix:
        """Runs the pass again on the graph before it, with the constants of the other rewrites hidden."""
        before = self._frozen.trace.before(step)
        assert before is not None
        others = [rewrite for number, rewrite in enumerate(step.rewrites) if number not in done]
        name = partial_name(step, done, end)

        def graph() -> LiveStep:
            return partly(step.name, before.graph, self._frozen.live[before.index], others)

        return Prefix(step.index, name, lambda: self._candidate(name, graph()), lambda path: self._save(graph(), path))

    def recipes(self, culprit: Culprit, guilty: Sequence[int], inputs: Inputs, whole: bool) -> Iterator[Recipe]:
        """Yields recipes for the nodes of the guilty rewrites, then the graph before the step, then the module."""
        try:
            yield from recipes(self._frozen, inputs, self._options, culprit, () if whole else guilty)
        finally:
            if self._put_back is not None:
                self._put_back()

    def _whole(self, step: Step, live: LiveStep) -> Prefix:
        candidate = self._candidate(step.index, live)
        return Prefix(step.index, step_name(step), lambda: candidate, lambda path: self._save(live, path))

    def _candidate(self, key: Key, live: LiveStep) -> Candidate:
        return Candidate(key, step_runner(live, self._frozen.source, self.method), self._reset(live))

    def _reset(self, live: LiveStep) -> Callable[[], None] | None:
        return joined(restorer(live.module, self._kept), self._written)

    def _save(self, live: LiveStep, path: Path) -> Inputs:
        reset = self._reset(live)
        if reset is not None:
            reset()
        torch.jit.save(module_of(live, parameters(step_schema(self._frozen.source, self.method))), path)
        # Some files that torch 2.13 writes it cannot read: those with MKLDNN constants.
        torch.jit.load(path)  # type: ignore[no-untyped-call]
        return self._inputs
