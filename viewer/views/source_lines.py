"""Outcomes of the lines of source, as rows, and the links between lines, nodes and kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import freeze_engine as fe
from freeze_engine import analysis

if TYPE_CHECKING:
    from freeze_engine.analysis import FileOutcome, LineEffect, LineError, LineOutcome, LineTime

_WORDS: Final = {
    "inlined": ("{} became the nodes of what it calls", "call", "calls"),
    "frozen": ("{} became constant", "read of an attribute", "reads of attributes"),
    "computed": ("{} computed beforehand", "operator", "operators"),
    "rewritten": ("{} rewritten", "operator", "operators"),
    "replaced": ("{} replaced by others", "operator", "operators"),
    "merged": ("{} merged with an equal one", "operator", "operators"),
    "removed": ("{} removed", "operator", "operators"),
    "added": ("{} added", "operator", "operators"),
    "changed": ("{} changed", "node", "nodes"),
}
_SAVED_CODE: Final = "The TorchScript code that was saved with the model is below."
_NO_TEXT: Final = (
    "The trace has no text of this file, only the numbers of its lines. Record the model from its source, on a machine "
    "that has the file, to see them."
)
_NO_CALLS: Final = (
    "The calls that lead to nodes are not in this trace, so a line that calls a module shows only its own nodes. "
    "Record again to get them."
)
_NO_KERNELS: Final = (
    "The time of a line is not known: TorchScript runs whole operators, and only passes are timed. A recording with "
    "backend inductor times kernels."
)
_NOT_TIMED: Final = "The time of a line is not known: no kernel was timed. Record with measuring to time them."
_NOT_COMPARED: Final = (
    "The error of a line is not known: no pass was compared with eager. "
    "Record with inputs and measuring to compare them."
)


def source_view(trace: fe.Trace) -> dict[str, Any]:
    """Returns what became of each line, and the links between lines, nodes and kernels.

    Args:
        trace: the recording.

    Returns:
        ``files``, the user's own first, with a row for each line that nodes come from; ``places``, the lines as
        ``[file, line]``, by position in ``files``; ``sets`` of places by position; ``nodes``: by method
        ``[node, step, set]``, the lines whose work a node does from a step on; ``notes`` about what is not known.
    """
    outcome = analysis.source_outcome(trace)
    files = {each.file: index for index, each in enumerate(outcome.files)}
    places: dict[tuple[int, int], int] = {}
    sets: dict[tuple[int, ...], int] = {}
    nodes: dict[str, list[list[Any]]] = {}
    for each in outcome.nodes:
        found = ((files[line.file], line.line) for line in each.lines)
        row = tuple(places.setdefault(place, len(places)) for place in found)
        nodes.setdefault(each.method, []).append([each.node, each.since, sets.setdefault(row, len(sets))])
    is_saved = any(each.kind == "saved" and each.has_text for each in outcome.files)
    return {
        "files": [_file_row(trace, each, is_saved) for each in outcome.files],
        "places": [list(place) for place in places],
        "sets": [list(row) for row in sets],
        "nodes": nodes,
        "notes": _notes(trace, outcome),
    }


def _notes(trace: fe.Trace, outcome: analysis.SourceOutcome) -> dict[str, str]:
    """Returns why something is not known, with what to do; empty texts where it is known."""
    calls = any(node.op == "prim::CallMethod" for step in trace.steps[:1] for node in step.graph.walk())
    return {
        "calls": _NO_CALLS if calls and not trace.call_paths else "",
        "time": "" if outcome.is_timed else _NOT_TIMED if trace.programs else _NO_KERNELS,
        "error": "" if outcome.is_compared else _NOT_COMPARED,
    }


def _file_row(trace: fe.Trace, outcome: FileOutcome, is_saved: bool) -> dict[str, Any]:
    missing = "" if outcome.has_text or outcome.kind == "library" else _NO_TEXT
    return {
        "file": outcome.file,
        "kind": outcome.kind,
        "missing": f"{missing} {_SAVED_CODE}" if missing and is_saved else missing,
        "lines": [_line_row(trace, line) for line in outcome.lines],
    }


def _line_row(trace: fe.Trace, line: LineOutcome) -> dict[str, Any]:
    return {
        "line": line.line,
        "operators": line.operators,
        "effects": [_effect_row(effect) for effect in line.effects],
        "left": [[node.method, node.node] for node in line.left],
        "constants": [[node.method, node.node] for node in line.constants],
        "kernels": [[each.program, each.kernel] for each in line.kernels],
        "times": [_time_row(trace, time) for time in line.times],
        "errors": [{"step": error.step, "text": error_text(error)} for error in line.errors],
    }


def _effect_row(effect: LineEffect) -> dict[str, Any]:
    return {"step": effect.step, "what": effect.what, "text": effect_text(effect), "nodes": list(effect.nodes)}


def effect_text(effect: LineEffect) -> str:
    """Returns the effect of a pass on a line in words, such as ``2 operators rewritten (conv_bn)``."""
    text, one, several = _WORDS[effect.what]
    count = len(effect.nodes)
    return text.format(f"{count} {one if count == 1 else several}") + (f" ({effect.kind})" if effect.kind else "")


def error_text(error: LineError) -> str:
    """Returns a growth of the error in words, with the number of other lines that may have brought it."""
    before, after = analysis.error_text(error.before), analysis.error_text(error.after)
    others = error.lines - 1
    shared = f"; {others} other {'line' if others == 1 else 'lines'} may have part in it" if others > 0 else ""
    return f"largest error grew from {before} to {after}{shared}"


def _time_row(trace: fe.Trace, time: LineTime) -> dict[str, Any]:
    from freeze_engine.trace import COMPILED_FROZEN  # `freezer-ui --help` imports this module, but needs no trace

    program = trace.programs[time.program]
    return {
        "program": time.program,
        "frozen": program.name == COMPILED_FROZEN,
        "share": _share(time.alone_ns + time.shared_ns, time.whole_ns),
        "alone": _share(time.alone_ns, time.whole_ns),
        "text": time_text(time),
    }


def time_text(time: LineTime) -> str:
    """Returns the share of a line in words; the time of a kernel that other lines share is not divided."""
    share = _percent(time.alone_ns + time.shared_ns, time.whole_ns)
    parts = [f"{share} of the time of all kernels, {analysis.duration_text(time.alone_ns + time.shared_ns)}"]
    if time.shared_ns:
        parts.append(f"of it {_percent(time.shared_ns, time.whole_ns)} in kernels that other lines share")
    if time.untimed:
        parts.append(f"{time.untimed} of its kernels not timed")
    return "; ".join(parts)


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def _percent(part: float, whole: float) -> str:
    share = 100 * _share(part, whole)
    return "less than 1%" if 0 < share < 1 else f"{share:.0f}%"
