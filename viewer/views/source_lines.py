"""Outcomes of the lines of source, as rows, and the links between lines, nodes and kernels."""

from __future__ import annotations

from collections.abc import Iterator
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
_NO_PROFILE: Final = (
    "The time of a line is not known: no call of the frozen module was profiled. Record with inputs, and measure "
    "latency on the CPU."
)
_EXECUTOR: Final = "TorchScript's executor"
_NO_LINE: Final = "{}Not attributed to any line: {} of the time of all {}."
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
        "rest": " ".join(_rest_texts(trace, outcome)),
        "time": "" if outcome.is_timed else _why_untimed(trace),
        "error": "" if outcome.is_compared else _NOT_COMPARED,
    }


def _why_untimed(trace: fe.Trace) -> str:
    if trace.programs:
        return _NOT_TIMED
    reasons = [runtime.reason for runtime in trace.runtime if runtime.reason and not runtime.kernels]
    return f"The time of a line is not known. {reasons[0]}" if reasons else _NO_PROFILE


def _rest_texts(trace: fe.Trace, outcome: analysis.SourceOutcome) -> Iterator[str]:
    """Yields the shares of the time that belong to no line, in words."""
    for rest in outcome.of_no_line:
        of = f"{_name(trace, rest.program)}: " if len(outcome.of_no_line) > 1 else ""
        yield _NO_LINE.format(of, _percent(rest.time_ns, rest.whole_ns), _things(rest.program))


def _name(trace: fe.Trace, program: int | None) -> str:
    return _EXECUTOR if program is None else trace.programs[program].name


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

    name = _name(trace, time.program)
    return {
        "of": name,
        "frozen": name == COMPILED_FROZEN,
        "share": _share(time.alone_ns + time.shared_ns, time.whole_ns),
        "alone": _share(time.alone_ns, time.whole_ns),
        "text": time_text(time),
    }


def time_text(time: LineTime) -> str:
    """Returns the share of a line in words; the time of a kernel that other lines share is not divided."""
    share = _percent(time.alone_ns + time.shared_ns, time.whole_ns)
    things = _things(time.program)
    parts = [f"{share} of the time of all {things}, {analysis.duration_text(time.alone_ns + time.shared_ns)}"]
    if time.shared_ns:
        parts.append(f"of it {_percent(time.shared_ns, time.whole_ns)} in {things} that other lines share")
    if time.untimed:
        parts.append(f"{time.untimed} of its {things} not timed")
    return "; ".join(parts)


def _things(program: int | None) -> str:
    """Returns what was timed: Inductor's kernels, or the operators that TorchScript's executor runs."""
    return "operators" if program is None else "kernels"


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def _percent(part: float, whole: float) -> str:
    share = 100 * _share(part, whole)
    return "less than 1%" if 0 < share < 1 else f"{share:.0f}%"
