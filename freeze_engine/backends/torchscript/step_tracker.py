"""Adds steps to a recorder, and follows the attributes' values through them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from freeze_engine.backends.torchscript.attributes.origins import Origins, advance
from freeze_engine.backends.torchscript.attributes.reads import Reading
from freeze_engine.backends.torchscript.folds.rewrite_context import Fold
from freeze_engine.backends.torchscript.folds.rewrites import PASSES, folds
from freeze_engine.backends.torchscript.graph.attribute_reads import fork_paths, scoped_nodes
from freeze_engine.backends.torchscript.graph.stages import CONSTANT_OPS, PROPAGATE_ATTRIBUTES, PassRun
from freeze_engine.backends.torchscript.log.messages import FOLDING
from freeze_engine.recorder.trace_builder import Recorder
from freeze_engine.trace import GraphSnapshot, Rewrite, Step


class StepTracker:
    """Adds the steps of a freeze, with what they folded, to a recorder.

    Args:
        recorder: collects the steps.
        paths: of the slots of the original module.

    Attributes:
        origins: the places of attribute values after each step, by its index.
    """

    def __init__(self, recorder: Recorder, paths: Collection[str]) -> None:
        self._recorder = recorder
        self._paths = paths
        self.origins: dict[int, Origins] = {}
        self._readings: dict[str, tuple[GraphSnapshot, Reading]] = {}

    def add(self, run: PassRun, graph: GraphSnapshot) -> Step:
        """Adds one pass.

        Args:
            run: the pass.
            graph: the graph after it, node ids provisional.

        Returns:
            The step, with its rewrites.
        """
        before = self.latest(run.method)
        step = self._recorder.add_step(
            run.stage, run.passes, run.method, graph, round=run.round, duration_ns=run.duration_ns, log=run.log
        )
        held = self.origins[before.index] if before else Origins()
        made: dict[str, tuple[str, ...]] = {}
        found: tuple[Rewrite, ...] = ()
        if before and step.graph is not before.graph:
            for fold in self._folds(run, before.graph, step.graph, held):
                found += (fold.rewrite,)
                made |= {name: paths for name, paths in fold.origins.items() if held.is_new(name)}
            held = advance(held, before.graph, step.graph, made, found, partial(self._reading, run.method))
        if PROPAGATE_ATTRIBUTES in run.passes or any(FOLDING.fullmatch(line) for line in run.log):
            held = self._propagated(held, step)
        self.origins[step.index] = held
        return self._recorder.update(step.index, rewrites=found)

    def latest(self, method: str) -> Step | None:
        """Returns the last step of a method so far."""
        return next((step for step in reversed(self._recorder.steps) if step.method == method), None)

    def _folds(self, run: PassRun, before: GraphSnapshot, after: GraphSnapshot, held: Origins) -> Iterator[Fold]:
        passes = [one for one in run.passes if one in PASSES]
        if passes:
            known, arguments = held.table(), held.arguments()
            for one in passes:
                yield from folds(one, before, after, known, arguments)

    def _reading(self, method: str, graph: GraphSnapshot) -> Reading:
        """Returns the reading of a graph; the graph after one step is the one before the next."""
        known = self._readings.get(method)
        if known is None or known[0] is not graph:
            known = self._readings[method] = (graph, Reading(graph))
        return known[1]

    def _propagated(self, held: Origins, step: Step) -> Origins:
        """Attribute propagation names each new constant ``self.<path>``, once more in every fork."""
        logged = {match["constant"] for line in step.log if (match := FOLDING.fullmatch(line))}
        found = {name: set(each) for name, each in held.held.items()}
        around = fork_paths(step.graph, step.method.rpartition(".")[0])
        for scope, node in scoped_nodes(step.graph.nodes):
            if node.op not in CONSTANT_OPS or not node.outputs:
                continue
            plain = node.outputs[0].name.removeprefix(scope)
            path = self._slot_of(plain.removeprefix("self."), around.get(scope, ""))
            if plain in logged and path is not None:
                found.setdefault(node.outputs[0].name, set()).add(path)
        return Origins({name: frozenset(each) for name, each in found.items()}, held.derived, held.reads)

    def _slot_of(self, name: str, owner: str) -> str | None:
        """torch makes a taken name unique with a counter behind a dot."""
        path = f"{owner}.{name}" if owner else name
        if path in self._paths:
            return path
        stem, _, counter = path.rpartition(".")
        return stem if counter.isdigit() and stem in self._paths else None
