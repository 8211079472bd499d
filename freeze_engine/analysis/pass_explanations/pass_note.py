"""`pass_notes()`: what each pass of a trace does, and why it changed nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from freeze_engine.analysis.pass_explanations.entry import Occasion, PassEntry
from freeze_engine.analysis.pass_explanations.graph_facts import GraphFacts
from freeze_engine.analysis.pass_explanations.inductor import BEFORE_FREEZING, FREEZING_PASSES, JOINT_GRAPH
from freeze_engine.analysis.pass_explanations.inductor_late import COMPILE, POST_GRAD
from freeze_engine.analysis.pass_explanations.torchscript import TORCHSCRIPT
from freeze_engine.trace import Backend, GraphSnapshot, NearMiss, Step, Trace

_INDUCTOR: Mapping[str, Mapping[str, PassEntry]] = {
    "joint_graph": JOINT_GRAPH,
    "freezing_passes": {**FREEZING_PASSES, "fake_tensor_prop": BEFORE_FREEZING["fake_tensor_prop"]},
    "post_grad": POST_GRAD,
    "compile": COMPILE,
}
_OUTSIDE = "outside"
RUNTIME: Final = "runtime"
"""Stage of what TorchScript's executor makes of the frozen module; no step of a trace has it, only views show it."""

_EXECUTOR = PassEntry(
    "TorchScript's executor optimises the frozen graph while it runs: it specialises types to the inputs that it saw "
    "and fuses operators where it can. This is no part of the freeze, and each process does it anew."
)


@dataclass(frozen=True, slots=True)
class PassNote:
    """One pass, explained.

    Attributes:
        name: torch's own name of it.
        does: what it does and when it fires; empty for a pass that this version does not know.
        why_not: why it changed nothing in the recorded graph, in a sentence; empty if it changed something, or if the
            graph proves no reason.
        title: what a group of patterns is for, in a few words, where torch only numbers it; empty otherwise.
    """

    name: str
    does: str
    why_not: str = ""
    title: str = ""


def pass_notes(trace: Trace) -> tuple[tuple[PassNote, ...], ...]:
    """Explains the passes of a trace.

    Args:
        trace: the recording.

    Returns:
        For each step one note per pass that ran in it. A reason is given only where the graph of the step proves it.
    """
    return tuple(_notes(trace))


def pass_entry(backend: Backend, stage: str, name: str) -> PassEntry | None:
    """Returns the explanation of a pass, ``None`` for an unknown one.

    Args:
        backend: which freezing it belongs to.
        stage: of its step.
        name: torch's.
    """
    if stage == RUNTIME:
        return _EXECUTOR
    if stage == _OUTSIDE:
        return PassEntry("Code outside torch's freezing changed the graph.")
    if backend == "torchscript":
        return TORCHSCRIPT.get(name)
    if name.startswith("custom_backend_passes_"):
        return PassEntry("Runs the pass that a device's backend registered.")
    if name.startswith("group_batch_fusion_"):
        return PassEntry("Fuses several equal operators into one batch.")
    return _INDUCTOR.get(stage, BEFORE_FREEZING).get(name)


def pass_title(backend: Backend, stage: str, name: str) -> str:
    """Returns what a numbered group of patterns is for, in a few words; empty for a pass that torch names.

    Args:
        backend: which freezing it belongs to.
        stage: of its step.
        name: torch's.
    """
    entry = pass_entry(backend, stage, name)
    return "" if entry is None else entry.title


def _notes(trace: Trace) -> Iterator[tuple[PassNote, ...]]:
    done: defaultdict[tuple[str, str], list[Step]] = defaultdict(list)
    misses = _misses(trace)
    last: tuple[GraphSnapshot, GraphFacts] | None = None  # passes without effect share the object
    for step in trace.steps:
        if last is None or last[0] is not step.graph:
            last = (step.graph, GraphFacts(step.graph))
        notes = []
        for name in step.passes:
            key = (step.method, name)
            notes.append(_note(trace, name, Occasion(step, last[1], done[key], misses.get(key, ()))))
            if step.rewrites:
                done[key].append(step)
        yield tuple(notes)


def _note(trace: Trace, name: str, occasion: Occasion) -> PassNote:
    step = occasion.step
    entry = pass_entry(trace.backend, step.stage, name)
    if entry is None:
        return PassNote(name, "")
    # A pass on a subgraph that the snapshot does not contain says nothing about this graph.
    is_elsewhere = any(line.startswith("in subgraph") for line in step.log)
    if step.changed or entry.reason is None or trace.before(step) is None or is_elsewhere:
        return PassNote(name, entry.does, title=entry.title)
    return PassNote(name, entry.does, entry.reason(occasion) or "", entry.title)


def _misses(trace: Trace) -> Mapping[tuple[str, str], Sequence[NearMiss]]:
    found: defaultdict[tuple[str, str], list[NearMiss]] = defaultdict(list)
    for miss in trace.near_misses:
        step = trace.steps[miss.step]
        for name in step.passes:
            found[step.method, name].append(miss)
    return found
