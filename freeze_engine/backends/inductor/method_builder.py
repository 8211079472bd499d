"""Builds the trace of one compile from its capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from freeze_engine.analysis.name_texts import listed
from freeze_engine.analysis.node_provenance import node_origins
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.attributes.origins import Origins
from freeze_engine.backends.inductor.capture.pass_observer import COMPILE, FREEZING_PASSES, POST_GRAD
from freeze_engine.backends.inductor.capture.raw import RawCompile, RawStep
from freeze_engine.backends.inductor.derived_facts import DerivedFacts
from freeze_engine.backends.inductor.folds.near_misses import LOOP
from freeze_engine.backends.inductor.folds.precision import mixed_precisions
from freeze_engine.backends.inductor.folds.rewrites import Names, step_rewrites
from freeze_engine.backends.inductor.graph.constants import Constants
from freeze_engine.backends.inductor.graph.executable import is_executable
from freeze_engine.backends.inductor.graph.rows import RawGraph
from freeze_engine.backends.inductor.graph.snapshot import SnapshotReader
from freeze_engine.backends.inductor.graph.target_names import pattern_name
from freeze_engine.backends.inductor.kernels.generated_code import kernel_lines
from freeze_engine.backends.inductor.kernels.kernels import Lowered, program
from freeze_engine.recorder.trace_builder import Recorder, call_paths
from freeze_engine.tensors.constants import StorageNames, constant_bytes
from freeze_engine.trace import Failure, GraphInput, GraphSnapshot, Notice, Program, SourceRef, Step
from freeze_engine.trace.baselines import COMPILED_FROZEN, PACKAGED

FORWARD = "forward"
_SHOWN = 6


class MethodBuilder:
    """Fills a recorder from the capture of one compile, during the compile or after it.

    `add_passes` and `conclude` add what is known so far; `end` and `settle` are for the time after the compile.

    Args:
        compiled: the raw data.
        recorder: collects the steps.
        storages: names the constants' storages; shared by the graphs of one trace.
    """

    def __init__(self, compiled: RawCompile, recorder: Recorder, storages: StorageNames) -> None:
        self._compiled = compiled
        self._recorder = recorder
        #: What the graphs read.
        self.constants = Constants()
        self._reader = SnapshotReader(self.constants, storages)
        self._origins = Origins(compiled.inputs, self.constants)
        self._paths = {index: each.paths for index, each in enumerate(compiled.inputs)}
        self._conclusions = DerivedFacts(compiled, self._origins)
        self._precisions: tuple[RawGraph | None, tuple[str, ...]] = (None, ())
        self._calls: dict[str, tuple[SourceRef, ...]] = {}
        #: The graphs that can be run, by step index.
        self.live: dict[int, RawGraph] = {}

    def add_passes(self) -> None:
        """Adds a step for every pass that has none yet."""
        raw = self._compiled.steps
        for index in range(len(self._recorder.steps), len(raw)):
            self._add(raw[index], raw[index - 1] if index else None)
        for index, number in _rounds(raw).items():
            if self._recorder.steps[index].round != number:  # only its last pass shows that it is a round
                self._recorder.update(index, round=number)

    def end(self) -> None:
        """Adds what Inductor's compiled function does with its arguments; call it after the compile."""
        compiled = self._compiled
        if compiled.preserved is None or compiled.failure is not None or compiled.package is not None:
            return
        before = self._recorder.steps[-1]
        self._recorder.add_step(COMPILE, "wrapper", FORWARD, None, log=tuple(argument_mapping(compiled)))
        self._recorder.update(before.index + 1, constant_bytes=before.constant_bytes)

    def settle(self) -> None:
        """Finds the steps that can be run, after torch has released all that it does not keep."""
        if self._compiled.package is not None:
            return  # its inputs were never there: it is compiled for fake ones
        for step, raw in zip(self._recorder.steps, self._compiled.steps, strict=False):
            if is_executable(raw.graph) and self.constants.available(raw.graph):
                self.live[step.index] = raw.graph
        last = len(self._compiled.steps)
        if last - 1 in self.live and last < len(self._recorder.steps):
            self.live[last] = self.live[last - 1]
        for index in self.live:
            self._recorder.update(index, executable=True)

    def conclude(self) -> None:
        """Adds the attributes, the folds that were not made, the programs, and the notices."""
        compiled, recorder = self._compiled, self._recorder
        passes = recorder.steps[: len(compiled.steps)]
        recorder.near_misses = list(self._conclusions.near_misses(passes))
        recorder.programs = self.programs(COMPILED_FROZEN if compiled.package is None else PACKAGED)
        recorder.attributes = self._conclusions.fates(recorder.steps, recorder.programs)
        self._add_failure()
        untold = untold_kernels(compiled, recorder.programs)
        told = (*self._conclusions.misfolds(passes), *self._conclusions.dequantized(passes))
        recorder.notices = [*told, *notices(compiled, recorder.steps), *untold]
        recorder.call_paths = call_paths(FORWARD, self._calls)
        recorder.sources = self._conclusions.sources(recorder.steps, recorder.call_paths)

    def programs(self, name: str) -> tuple[Program, ...]:
        """Returns the programs generated from the graph of the last step, none if the compile did not get there.

        Args:
            name: of the way to run the model.
        """
        compiled, steps = self._compiled, self._recorder.steps
        code = next((raw.code for raw in reversed(compiled.steps) if raw.code is not None), None)
        if compiled.package is not None:
            code = compiled.package.code
        if code is None:
            return ()
        lowered = Lowered(compiled.steps[-1].graph, steps[-1].graph, steps[0].graph, node_origins(steps))
        return (program(name, FORWARD, code, compiled.kernels, lowered),)

    def _add(self, raw: RawStep, before: RawStep | None) -> None:
        recorder = self._recorder
        changed = before is None or raw.graph is not before.graph
        folded = self._origins.step(before.graph, raw.graph) if before is not None and changed else ()
        graph = self._reader.read(raw.graph) if changed else None
        earlier = recorder.steps[-1] if recorder.steps else None
        log = (*raw.log, *_patterns(raw), *_matched(raw, changed), *self._mixed_precisions(raw.graph))
        inputs: tuple[GraphInput, ...] = ()
        if before is None:
            self._origins.begin(raw.graph)
            log, inputs = (*log, *_begins(self._compiled)), tuple(_graph_inputs(self._compiled))
        if raw.code is not None:
            log = (*log, *kernel_lines(raw.code))
        step = recorder.add_step(
            raw.stage, raw.name, FORWARD, graph, duration_ns=raw.duration_ns, code=raw.code, log=log, inputs=inputs
        )
        constants = [node.constant for node in step.graph.walk() if node.constant is not None]
        fields: dict[str, Any] = {"constant_bytes": constant_bytes(constants)}
        if changed:
            self._note_calls(step.graph)
            self._conclusions.note(step.index, raw.graph, step.graph, folded)
        if earlier is not None and changed:
            names = Names(earlier.graph, step.graph)
            fields["rewrites"] = step_rewrites(names, raw.matches, folded, self._paths)
        recorder.update(step.index, **fields)

    def _note_calls(self, graph: GraphSnapshot) -> None:
        for node in graph.walk():
            if node.id not in self._calls and node.outputs:
                self._calls[node.id] = self._reader.calls.get(node.outputs[0].name, ())

    def _mixed_precisions(self, graph: RawGraph) -> tuple[str, ...]:
        if self._precisions[0] is not graph:  # most steps change nothing
            self._precisions = graph, tuple(mixed_precisions(graph))
        return self._precisions[1]

    def _add_failure(self) -> None:
        failure = self._compiled.failure
        if failure is None:
            return
        steps = self._recorder.steps
        self._recorder.failure = Failure(
            type(failure.error).__name__, str(failure.error), failure.stage, failure.name, FORWARD, steps[-1].index
        )


def argument_mapping(compiled: RawCompile) -> Iterator[str]:
    """Yields lines about the arguments of the original graph that the compiled one still takes.

    ``fw_compiler_freezing`` returns a wrapper that drops the others (``torch/_inductor/compile_fx.py``, torch 2.13).
    """
    for number, position in enumerate(compiled.preserved or ()):
        given = compiled.inputs[position]
        yield f"argument {position} ({given.label}) is input {number}"
    dropped = len(compiled.inputs) - len(compiled.preserved or ())
    yield f"{dropped} arguments were constants and are dropped"


def broken(compiled: RawCompile) -> str:
    """Returns where and why a graph ends with a graph break; empty where it does not."""
    end = compiled.end
    if end is None or not end.broken:
        return ""
    return f"{f'{end.file}:{end.line}: ' if end.file else ''}{_first_line(end.reason)}"


def notices(compiled: RawCompile, steps: tuple[Step, ...]) -> Iterator[Notice]:
    """Yields the notices about a compile."""
    if reason := broken(compiled):
        yield Notice("graph_break", f"The graph ends with a graph break at {reason}", steps[-1].index)
    if compiled.guards:
        yield Notice("recompilation", f"Compiled again because a guard failed: {_first_line(compiled.guards[0])}", 0)
    stale = [path for each in compiled.inputs if each.is_stale for path in each.paths]
    if stale and compiled.compile_id is None and compiled.package is None:
        yield Notice(
            "misfold",
            "Inductor folded batch norms into the module's convolutions before its own passes (fuse_conv_bn), and then "
            f"froze the weights of before ({listed(stale)}): the outputs lack the batch norms. Compile the module by "
            "torch.compile instead: only a module that Dynamo did not trace meets this fault of torch._inductor.",
            0,
        )
    if compiled.training:
        end = "the first call" if compiled.package is None else "torch.export"
        yield Notice(
            "training_mode",
            f"The model was compiled in training mode: {listed(compiled.training)}. In it a dropout drops values, and "
            f"a batch norm takes the statistics of the batch and writes its own. Call model.eval() before {end}.",
            0,
        )
    if compiled.assigned:
        names = listed(each.path for each in compiled.assigned)
        yield Notice(
            "compiled_anew",
            f"The function assigns attributes that the compiled code relies on ({names}), so it does not fit the next "
            "call: torch.compile compiles anew, up to its limit of recompilations. Write tensors in place (.copy_()), "
            "and keep counters and flags out of forward.",
            0,
        )
    if compiled.cached:
        yield Notice(
            "cache_hit",
            "The generated code came out of Inductor's cache, so the post-grad passes and code generation did not run; "
            "record with caches off (InductorOptions(force_disable_caches=True)) to see them.",
        )
    if compiled.uncached:
        text = f"torch keeps no compiled code of this graph in Inductor's cache: {compiled.uncached}"
        yield Notice("cache_bypassed", f"{text}. It is compiled anew in every process.")
    for stage, unseen in _unobserved().items():
        told = "; ".join(f"{lost} (this torch has no {path})" for lost, path in unseen.items())
        yield Notice("stage_unobserved", f"Stage {stage} is not fully observed, what is missing: {told}.")
    is_frozen = any(step.stage in (POST_GRAD, COMPILE) for step in compiled.steps)
    discards = compiled.settings.get("freezing_discard_parameters") and is_frozen
    if discards and any(each.is_parameter for each in compiled.inputs):
        yield Notice(
            "parameters_discarded",
            "freezing_discard_parameters emptied the original module: it cannot run eagerly any more, and inputs of a "
            "new shape cannot be compiled.",
        )
    held = [each for each in compiled.inputs if each.paths and not each.is_outside]
    if held and not any(each.is_parameter for each in compiled.inputs):
        yield Notice(
            "nothing_frozen",
            "No parameter was inlined: Dynamo passed them as inputs, since torch._inductor.config.freezing was off "
            "while it traced the function (torch.compile(options={'freezing': True}) comes too late for it).",
        )


def untold_kernels(compiled: RawCompile, programs: Iterable[Program]) -> Iterator[Notice]:
    """Yields a notice if Inductor reported the nodes of no kernel.

    Torch 2.9.1 reports them only with a setting (torch/_inductor/codegen/cpp.py), torch 2.13 always.

    Args:
        compiled: the compile.
        programs: those that the compile generated.
    """
    if compiled.cached or compiled.kernels or not any(program.kernels for program in programs):
        return
    # As in 2.6, which another notice covers: no setting makes Inductor report them.
    if torch_private.OPTIONAL["kernel_nodes"].found is None:
        return
    yield Notice(
        "stage_unobserved",
        f"Stage {COMPILE} is not fully observed, what is missing: which nodes a kernel computes. Some versions of "
        "torch, such as 2.9, tell it only where INDUCTOR_PROVENANCE=1 is in the environment.",
    )


def _begins(compiled: RawCompile) -> Iterator[str]:
    """Yields the facts about a graph that are known when its compile begins."""
    if compiled.compile_id is not None:
        yield f"Dynamo's compile {compiled.compile_id}"
    for guard in compiled.guards:
        yield f"compiled again because a guard failed: {_first_line(guard)}"
    for given in compiled.inputs:
        if given.symbol:
            yield f"{given.symbol} is {given.label}, {given.value()} in the call that compiled it"


def _graph_inputs(compiled: RawCompile) -> Iterator[GraphInput]:
    """Yields the inputs of a graph that the user knows by another name than torch's."""
    for given in compiled.inputs:
        if not given.symbol and given.label != given.name and not (compiled.package is not None and given.paths):
            found = {"attribute": given.label} if given.paths else {"argument": given.label}
            yield GraphInput(given.name, **found)


def _unobserved() -> dict[str, dict[str, str]]:
    """Returns, by stage, the parts that cannot be observed there, each with the torch name that it needs."""
    found: dict[str, dict[str, str]] = {}
    for known in torch_private.missing():
        found.setdefault(known.stage, {}).setdefault(known.lost, known.path)
    return found


def _rounds(steps: list[RawStep]) -> dict[int, int]:
    """Numbers the rounds of the folding loop: each is a constant fold, a propagation and a binary fold."""
    rounds: dict[int, int] = {}
    number = 0
    for index in range(len(steps) - len(LOOP) + 1):
        turn = steps[index : index + len(LOOP)]
        if tuple(step.name for step in turn) == LOOP and all(step.stage == FREEZING_PASSES for step in turn):
            number += 1
            rounds.update((index + offset, number) for offset in range(len(LOOP)))
    return rounds


def _patterns(raw: RawStep) -> Iterator[str]:
    """Yields the patterns of a group; most groups have a number for a name."""
    if raw.group is None:
        return
    counts = Counter(map(pattern_name, torch_private.patterns(raw.group)))
    shown = [f"{count} × {name}" if count > 1 else name for name, count in counts.most_common(_SHOWN)]
    more = f", … ({len(counts)} kinds)" if len(counts) > _SHOWN else ""
    yield f"looks for {counts.total()} patterns: {', '.join(shown)}{more}" if shown else "has no patterns"


def _matched(raw: RawStep, changed: bool) -> Iterator[str]:
    """Yields how often each pattern matched; a match need not change the graph."""
    counts: dict[str, int] = {}
    for match in raw.matches:
        counts[match.pattern] = counts.get(match.pattern, 0) + 1
    for pattern, count in counts.items():
        effect = "" if changed else ", without effect"
        yield f"pattern {pattern} matched {count} time{'s' if count > 1 else ''}{effect}"


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else text
