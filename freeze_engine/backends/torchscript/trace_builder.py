"""Builds a trace from the raw data of a capture."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from freeze_engine.backends.common.source_text import merged_lines
from freeze_engine.backends.common.torch_private import private
from freeze_engine.backends.common.use_def import use_defs_shared
from freeze_engine.backends.torchscript.attributes.alias_text import alias_analysis
from freeze_engine.backends.torchscript.attributes.aliases import WriterSearch
from freeze_engine.backends.torchscript.attributes.assignments import AssignmentFinder
from freeze_engine.backends.torchscript.attributes.chain_facts import Chain
from freeze_engine.backends.torchscript.attributes.fates import fates
from freeze_engine.backends.torchscript.attributes.reasons import ReasonFinder
from freeze_engine.backends.torchscript.attributes.writes import MethodRecord
from freeze_engine.backends.torchscript.call_chains import called_nodes
from freeze_engine.backends.torchscript.call_places import traced_lines
from freeze_engine.backends.torchscript.capture.raw import LiveSnapshot, RawFreeze, graph_text
from freeze_engine.backends.torchscript.faults import faults
from freeze_engine.backends.torchscript.folds.near_misses import REMOVE_DROPOUT, near_misses
from freeze_engine.backends.torchscript.folds.removed_dropouts import checks_of_dropouts
from freeze_engine.backends.torchscript.graph.known_graphs import KnownGraphs
from freeze_engine.backends.torchscript.graph.live import source_lines, source_ranges
from freeze_engine.backends.torchscript.graph.live_walk import LiveWalks
from freeze_engine.backends.torchscript.graph.module_slots import ModuleAttribute, module_attributes
from freeze_engine.backends.torchscript.graph.rebuild import Rebuilder
from freeze_engine.backends.torchscript.graph.stages import (
    CLEAN_UP,
    FREEZE_MODULE,
    INLINE,
    INPUT,
    PROPAGATE_ATTRIBUTES,
    RECORD_MUTABLE_ATTRIBUTES,
    PassRun,
)
from freeze_engine.backends.torchscript.log.method_names import MethodGraphs
from freeze_engine.backends.torchscript.log.stderr_capture import logging_off
from freeze_engine.backends.torchscript.log.steps import LogReading, is_cut, read_log
from freeze_engine.backends.torchscript.notices import notices
from freeze_engine.backends.torchscript.snapshot_reader import SnapshotReader
from freeze_engine.backends.torchscript.step_tracker import StepTracker
from freeze_engine.recorder.trace_builder import Recorder, call_paths
from freeze_engine.tensors.constants import constant_bytes
from freeze_engine.trace import CallPath, Failure, GraphSnapshot, Notice, Step

_LOG_UNSEEN = (
    "torch's log did not reach file descriptor 2, so the passes inside _freeze_module are not in this trace: "
    "torch._C._jit_set_logging_stream must be 'stderr' while recording, and the folder for temporary files needs room."
)
_NOT_LOGGED = (
    "The module has a small constant without data or in MKLDNN's layout. torch (2.13) raises where it logs such a "
    "constant, so this freeze ran without a log, and the passes inside _freeze_module are not in this trace."
)


_LOG_CUT = (
    "torch's log could not be written to its end, so the last passes inside _freeze_module are not in this trace: make "
    "room in the folder for temporary files (TMPDIR), or allow larger files (ulimit -f)."
)


@dataclass(frozen=True, slots=True)
class LiveStep:
    """A step whose graph can be run.

    Attributes:
        graph: the graph; it shares its constants with the module.
        module: the C++ module to pass as its first input.
    """

    graph: Any
    module: Any


class TraceBuilder:
    """Fills a recorder from the raw data of one freeze.

    Args:
        freeze: its raw data.
        recorder: collects the steps.
    """

    def __init__(self, freeze: RawFreeze, recorder: Recorder) -> None:
        self._freeze = freeze
        self._recorder = recorder
        self._slots = freeze.slots
        self._parse = KnownGraphs().read
        self._walk = LiveWalks().kinds
        self._is_cut = bool(freeze.frozen) and is_cut(freeze.log)
        self._reading = self._read_log()
        inlined = self._reading.inlined if self._reading else {}
        self._knowledge = SnapshotReader(freeze, self._slots, self._parse, inlined, self._walk)
        self._tracker = StepTracker(recorder, self._slots)
        self._removed_slots = bool(self._slots.keys() - self._result_slots().keys())
        self._codes: dict[int, str | None] = {}
        #: The steps whose graphs can be run, by index.
        self.live: dict[int, LiveStep] = {}

    def run(self) -> None:
        """Adds every step, then the attributes, near misses and sources."""
        with use_defs_shared():
            self._run()

    def _run(self) -> None:
        freeze = self._freeze
        reading = self._reading
        if reading is None or not reading.steps:
            for method, snapshot in freeze.inputs.items():
                self._add_live(PassRun(INPUT, (INPUT,), method), snapshot, freeze.source)
        if reading is not None:
            self._add_logged(reading)
        for step in freeze.steps:
            module = freeze.result if freeze.result is not None else freeze.source
            run = PassRun(step.stage, step.passes, step.method, step.round, step.duration_ns)
            self._add_live(run, step.after, module)
        # A graph that is made of a text has no lines of the user's.
        self._add_sources()
        self._revive_logged()
        self._add_alias_sets()
        if freeze.failure is None:
            self._judge_attributes()
            self._find_near_misses()
        self._add_failure()
        steps = self._recorder.steps
        self._recorder.notices += notices(steps, self._finals(), self._recorder.environment)
        left = self._result_slots() if freeze.failure is None and freeze.result is not None else None
        self._recorder.notices += faults(steps, left, self._recorder.inputs)
        if reading is not None and not reading.steps and freeze.frozen:
            self._recorder.notices.append(Notice("log_unseen", _LOG_UNSEEN))
        if self._is_cut:
            self._recorder.notices.append(Notice("log_cut", _LOG_CUT))
        if freeze.log is None and freeze.frozen:
            self._recorder.notices.append(Notice("not_logged", _NOT_LOGGED))

    def read_runtime(self, graph: Any) -> GraphSnapshot:
        """Returns a live graph of the executor as plain data."""
        return self._knowledge.read_runtime(graph)

    # -- steps

    def _read_log(self) -> LogReading | None:
        freeze = self._freeze
        if freeze.log is None:
            return None
        methods = {
            method: MethodGraphs(self._parse(snapshot.text), self._parse(graph_text(freeze.inlined(method))))
            for method, snapshot in freeze.inputs.items()
        }
        if self._is_cut:
            freeze.log = freeze.log.without_last()
        return read_log(freeze.log, methods, freeze.freeze_started_ns, self._parse)

    def _add_logged(self, reading: LogReading) -> None:
        freeze = self._freeze
        for step in reading.steps:
            # Before inlining every node is the method's own, and its names may be others' afterwards.
            graph = step.graph if step.stage == INPUT else self._knowledge.annotate(step.method, step.graph)
            run = PassRun(step.stage, step.passes, step.method, duration_ns=step.duration_ns, log=step.log)
            added = self._add(run, graph)
            if step.stage == INPUT and step.method in freeze.inputs:
                self._make_live(added, freeze.inputs[step.method].graph, freeze.source)
        cleaned_ns = self._cleaned_up_ns()
        for method, snapshot in freeze.frozen.items():
            self._add_live(PassRun(FREEZE_MODULE, CLEAN_UP, method, None, cleaned_ns), snapshot, freeze.result)
            cleaned_ns = None

    def _cleaned_up_ns(self) -> int | None:
        """The clean-up logs nothing at its end; it took from the log's last line until torch returned.

        If that line was noticed only after torch had returned, the duration is unknown.
        """
        written = self._freeze.log.written if self._freeze.log else ()
        took_ns = self._freeze.freeze_ended_ns - written[-1][1] if written else 0
        return took_ns if took_ns > 0 else None

    def _add_live(self, run: PassRun, snapshot: LiveSnapshot, module: Any) -> None:
        added = self._add(run, self._knowledge.read(run.method, snapshot))
        self._make_live(added, snapshot.graph, module)
        if run.passes == CLEAN_UP and self._removed_slots:
            self._recorder.update(added.index, changed=True)

    def _make_live(self, step: Step, graph: Any, module: Any) -> None:
        self.live[step.index] = LiveStep(graph, module)
        # Steps that changed nothing share one graph, which `live` keeps: its identity stays its own.
        if id(graph) not in self._codes:
            self._codes[id(graph)] = _code(graph)
        self._recorder.update(step.index, executable=True, code=self._codes[id(graph)])

    def _revive_logged(self) -> None:
        """Makes the graphs that only torch's log showed runnable again."""
        revived: dict[int, Any] = {}
        rebuilder = Rebuilder(self._submodule)
        for step in self._recorder.steps:
            if step.index in self.live or self._freeze.source is None:
                continue
            if id(step.graph) not in revived:
                revived[id(step.graph)] = self._rebuilt(step, rebuilder)
            graph = revived[id(step.graph)]
            if graph is not None:
                self._make_live(step, graph, self._freeze.source)

    def _rebuilt(self, step: Step, rebuilder: Rebuilder) -> Any:
        def constant(name: str) -> Any:
            return self._knowledge.constant(step.method, name)

        return rebuilder.rebuild(step.graph, step.method.rpartition(".")[0], constant)

    def _submodule(self, path: str) -> Any:
        if not path:
            return self._freeze.source
        slot = self._slots.get(path)
        return slot.value if slot is not None and slot.kind == "submodule" else None

    def _add(self, run: PassRun, graph: GraphSnapshot) -> Step:
        before = self._tracker.latest(run.method)
        step = self._tracker.add(run, graph)
        if before is not None and step.graph is before.graph:
            return self._recorder.update(step.index, constant_bytes=before.constant_bytes)
        constants = [node.constant for node in step.graph.walk() if node.constant is not None]
        return self._recorder.update(step.index, constant_bytes=constant_bytes(constants))

    def _finals(self) -> list[Step]:
        methods = dict.fromkeys(step.method for step in self._recorder.steps)
        return [step for method in methods if (step := self._tracker.latest(method))]

    # -- what the steps show

    def _add_alias_sets(self) -> None:
        for step in self._recorder.steps:
            graph = self._searched_graph(step.method) if step.name == RECORD_MUTABLE_ATTRIBUTES else None
            if graph is not None and self._is_of(graph, step.graph):
                self._recorder.update(step.index, aliases=alias_analysis(graph, step.graph, self._parse))
        for step in self._ends():
            if step.index in self.live:
                aliases = alias_analysis(self.live[step.index].graph, step.graph, self._parse)
                self._recorder.update(step.index, aliases=aliases)

    def _ends(self) -> list[Step]:
        """The last step of each stage and method: what a later pass adds to a freeze leaves these as they are."""
        ends = {(step.method, step.stage): step for step in self._recorder.steps if step.stage not in (INPUT, INLINE)}
        return list(ends.values())

    def _searched_graph(self, method: str) -> Any:
        return self._freeze.inlined(method)

    def _judge_attributes(self) -> None:
        chains = []
        for final in self._finals():
            steps = tuple(step for step in self._recorder.steps if step.method == final.method)
            chains.append(Chain(final.method, steps, tuple(self._tracker.origins[step.index] for step in steps)))
        result = self._result_slots()
        requested = (*self._freeze.preserved, *self._preserved_parameters(result))
        submodules = frozenset(path for path, slot in self._slots.items() if slot.kind == "submodule")
        recorder = self._recorder
        lines = AssignmentFinder(recorder.sources, recorder.steps, submodules, recorder.call_paths)
        records = [self._record(chain) for chain in chains]
        finder = ReasonFinder(self._slots, result, requested, records, lines.with_line)
        judged = fates(self._slots, result, finder.find(), chains)
        self._recorder.attributes = tuple(replace(fate, tensor=self._knowledge.attribute(fate.path)) for fate in judged)

    def _preserved_parameters(self, result: Mapping[str, ModuleAttribute]) -> list[str]:
        if not self._freeze.options.get("preserve_parameters"):
            return []
        return [path for path, slot in result.items() if slot.kind in ("parameter", "buffer")]

    def _result_slots(self) -> dict[str, Any]:
        result = self._freeze.result
        return module_attributes(result) if result is not None else {}

    def _record(self, chain: Chain) -> MethodRecord:
        steps = chain.steps
        inlined = [step for step in steps if step.stage in (INPUT, INLINE)]
        searched = inlined[-1] if inlined else steps[0]
        decided = next((step for step in steps if step.name == RECORD_MUTABLE_ATTRIBUTES), searched)
        graph = self._searched_graph(chain.method)
        is_searched = graph is not None and self._is_of(graph, searched.graph)
        search = WriterSearch(graph, searched.graph) if is_searched else None
        propagated = next((step for step in steps if step.name == PROPAGATE_ATTRIBUTES), None)
        # torch removes attributes here: nodes that later passes remove had kept them.
        ended = [step for step in steps if step.stage == FREEZE_MODULE]
        final = ended[-1] if ended else steps[-1]
        return MethodRecord(chain.method, searched, decided, propagated, final, search)

    def _find_near_misses(self) -> None:
        last: dict[tuple[str, str], tuple[Step, GraphSnapshot]] = {}
        graphs: dict[str, GraphSnapshot] = {}
        checks: dict[str, Mapping[str, str]] = {}
        for step in self._recorder.steps:
            if step.method in graphs:
                last[step.method, step.name] = (step, graphs[step.method])
                if REMOVE_DROPOUT in step.passes:
                    checks[step.method] = checks_of_dropouts(graphs[step.method], step.graph)
            graphs[step.method] = step.graph
        for step, before in last.values():
            for one in step.passes:
                self._recorder.near_misses += near_misses(
                    step.index, one, before, step.graph, self._recorder.inputs, checks.get(step.method, {})
                )

    def _add_failure(self) -> None:
        failure = self._freeze.failure
        if failure is None:
            return
        stage, name, method = failure.stage, failure.name, failure.method
        if stage == FREEZE_MODULE and self._reading is not None:
            stage, name, method = self._reading.where
        steps = self._recorder.steps
        error = failure.error
        self._recorder.failure = Failure(
            type(error).__name__, str(error), stage, name, method, steps[-1].index if steps else None
        )

    def _add_sources(self) -> None:
        """Adds the calls that lead to nodes, and the lines of both."""
        paths: list[CallPath] = []
        texts: dict[str, None] = {}
        for method in self._freeze.inputs:
            graph = self._searched_graph(method)
            step = next((each for each in self._recorder.steps if each.method == method and each.stage != INPUT), None)
            if graph is None or step is None or not self._is_of(graph, step.graph):
                continue
            with logging_off():  # the user may be logging the inliner
                found = called_nodes(self._freeze.source, method)
            texts |= dict.fromkeys(found.texts)
            ids = [node.id for node in step.graph.walk()]
            if len(ids) == len(found.chains):
                paths += call_paths(method, dict(zip(ids, found.chains, strict=True)))
        self._recorder.call_paths = tuple(paths)
        ranges = source_ranges(self._source_graphs(), self._walk)
        lines = source_lines(dict.fromkeys((*ranges, *texts)))
        self._recorder.sources = tuple(merged_lines((*traced_lines(ranges), *lines)))

    def _is_of(self, graph: Any, snapshot: GraphSnapshot) -> bool:
        """Returns whether a live graph has the nodes of a snapshot, in the same order."""
        return [node.op for node in snapshot.walk()] == [kind for _, kind in self._walk(graph)]

    def _source_graphs(self) -> Sequence[tuple[Any, Sequence[Hashable]]]:
        """Returns the graphs whose nodes have lines, with keys of the nodes: those that no pass changed are one."""
        graphs = [self._searched_graph(step.method) for step in self._finals()]
        found: dict[int, tuple[Any, Sequence[Hashable]]] = {id(graph): (graph, ()) for graph in graphs}
        for index, live in self.live.items():
            step = self._recorder.steps[index]
            keys = [(step.method, id(node)) for node in step.graph.walk()]
            found.setdefault(id(live.graph), (live.graph, keys))
        return [each for each in found.values() if each[0] is not None]


def _code(graph: Any) -> str | None:
    """Returns a graph's TorchScript code, ``None`` where torch cannot write it (some fused operators)."""
    try:
        # Writing the code changes nothing of the graph (``python_print.cpp``, torch 2.13.0), so no copy is made.
        return str(private("_create_function_from_graph")("forward", graph).code)
    except RuntimeError:
        return None
