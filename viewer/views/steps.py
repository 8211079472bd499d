"""The pass list, and the effects of each pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.failure import LAST_WORDS
from viewer.views.measurements import largest_error, latency_change_row, latency_rows, numerics_rows
from viewer.views.module_names import ModuleNames
from viewer.views.notices import warning_notices
from viewer.views.source_locations import source_row

if TYPE_CHECKING:
    from freeze_engine.trace import AliasAnalysis, GraphInput, NearMiss, Rewrite

_NOTES = 3
"""Lines of a step's log shown with it at once; none for TorchScript, for torch's own log of it is too long and raw."""
_PATTERNS = "looks for "
"""Begins a line whose list of patterns fills several lines on a page; the whole stands in the log."""


class StepRows:
    """Builds the rows of a trace's steps; data that steps share is stored once, in tables.

    Attributes:
        aliases: distinct alias analyses.
        codes: distinct codes from torch.
        pass_texts: distinct names of passes with what they do.
    """

    def __init__(self, trace: fe.Trace, metrics: tuple[fe.StepMetrics, ...]) -> None:
        self.aliases: list[dict[str, Any]] = []
        self.codes: list[str] = []
        self.pass_texts: list[list[str]] = []
        self._alias_places: dict[AliasAnalysis, int] = {}
        self._code_places: dict[str, int] = {}
        self._pass_places: dict[tuple[str, str], int] = {}
        self._explained = analysis.pass_notes(trace)
        self._trace, self._metrics = trace, metrics
        self._detection = analysis.detection(trace)
        self._modules = ModuleNames(trace)
        self._weighed = analysis.knows_constants(trace)
        self._notices = defaultdict(list)
        for notice in warning_notices(trace):
            if notice.code != LAST_WORDS:  # shown with the failure, whatever its step
                self._notices[notice.step].append(notice.message)
        self._misses = defaultdict(list)
        for miss in trace.near_misses:
            self._misses[miss.step].append(near_miss_row(miss))

    def rows(self) -> list[dict[str, Any]]:
        """Returns one row per step, in order."""
        last: dict[str, fe.Step] = {}
        rows = []
        for step in self._trace.steps:
            rows.append(self._row(step, last.get(step.method)))
            last[step.method] = step
        return rows

    def _row(self, step: fe.Step, before: fe.Step | None) -> dict[str, Any]:
        metrics = self._metrics[step.index]
        log = [*step.log, *map(_input_line, step.inputs)]
        explained = self._explained[step.index]
        return {
            "index": step.index,
            "stage": step.stage,
            "name": step.name,
            "title": ", ".join(note.title for note in explained if note.title),
            "method": step.method,
            "round": step.round,
            "before": before and before.index,
            "changed": step.changed,
            "does": [self._pass_place(note.name, note.does) for note in explained if note.does],
            "why_not": why_not_text(explained),
            "executable": step.executable,
            "nodes": metrics.nodes,
            "added": metrics.added,
            "removed": metrics.removed,
            "modified": metrics.changed,
            "tidied": metrics.only_tidied,
            "duration": None if step.duration_ns is None else analysis.duration_text(step.duration_ns),
            "latency": latency_rows(step.latency, self._detection),
            "latency_changes": [latency_change_row(change) for change in metrics.latency_changes],
            "numerics": numerics_rows(step.numerics),
            "error": largest_error(step.numerics),
            "past_tolerance": list(metrics.past_tolerance),
            "constants": analysis.bytes_text(step.constant_bytes) if self._weighed else "unknown",
            "constants_delta": analysis.bytes_delta_text(metrics.constant_bytes_delta)
            if before and self._weighed
            else None,
            "rewrites": [rewrite_row(rewrite, self._modules) for rewrite in step.rewrites],
            "near_misses": self._misses[step.index],
            "aliases": self._alias_place(step.aliases),
            "code": self._code_place(step.code),
            "log": log,
            "notes": _notes(step, log) if self._trace.uses_inductor or step.stage == analysis.RUNTIME else [],
            "notices": self._notices[step.index],
        }

    def _alias_place(self, aliases: AliasAnalysis | None) -> int | None:
        if aliases is None:
            return None
        place = self._alias_places.setdefault(aliases, len(self.aliases))
        if place == len(self.aliases):
            self.aliases.append(alias_row(aliases))
        return place

    def _pass_place(self, name: str, does: str) -> int:
        place = self._pass_places.setdefault((name, does), len(self.pass_texts))
        if place == len(self.pass_texts):
            self.pass_texts.append([name, does])
        return place

    def _code_place(self, code: str | None) -> int | None:
        if code is None:
            return None
        place = self._code_places.setdefault(code, len(self.codes))
        if place == len(self.codes):
            self.codes.append(code)
        return place


def _notes(step: fe.Step, log: list[str]) -> list[str]:
    if step.stage == analysis.RUNTIME:
        return log
    return [note.partition(":")[0] if note.startswith(_PATTERNS) else note for note in log[:_NOTES]]


def why_not_text(notes: Sequence[analysis.PassNote]) -> str:
    """Returns why the passes of a step changed nothing, empty unless it is known for each."""
    if not all(note.why_not for note in notes):
        return ""
    if len(notes) == 1:
        return notes[0].why_not
    return " ".join(f"{note.name}: {note.why_not}" for note in notes)


def alias_row(aliases: AliasAnalysis) -> dict[str, Any]:
    """Returns the aliases between values as ``[value, relation, targets]``, and the writes."""
    return {
        "entries": [[entry.value, entry.relation, list(entry.targets)] for entry in aliases.entries],
        "writes": [
            {
                "node": write.node,
                "op": write.op,
                "targets": list(write.targets),
                "source": source_row(write.source),
            }
            for write in aliases.writes
        ],
    }


def rewrite_row(rewrite: Rewrite, modules: ModuleNames) -> dict[str, Any]:
    """Returns the nodes that a fold or fusion consumed and produced, and the full paths of their modules."""
    return {
        "kind": rewrite.kind,
        "consumed": list(rewrite.consumed),
        "produced": list(rewrite.produced),
        "attributes": list(rewrite.attributes),
        "modules": [modules.full(path) for path in rewrite.modules],
    }


def near_miss_row(miss: NearMiss) -> dict[str, Any]:
    """Returns a fold that did not happen, and why."""
    return {
        "kind": miss.kind,
        "node": miss.node,
        "neighbour": miss.neighbour,
        "reason": miss.reason.replace("_", " "),
        "detail": miss.detail,
        "advice": miss.advice,
        "saves": saved_text(miss),
    }


def saved_text(miss: NearMiss) -> str:
    """Returns the memory traffic that the fold would save, in words, empty if unknown."""
    if not miss.saved_bytes:
        return ""
    return f"If folded, each call would read and write {analysis.bytes_text(miss.saved_bytes)} less."


def _input_line(given: GraphInput) -> str:
    return f"%{given.name} is {given.attribute or f'the argument {given.argument}'}"
