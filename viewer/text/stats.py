"""Renders a trace as text for a terminal, for ``freezer-ui stats``.

Names, constants and messages come from untrusted models and files: non-printable characters are escaped, so that none
of it can move the cursor or change colours.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import freeze_engine as fe
from freeze_engine import analysis
from viewer.text import stats_findings
from viewer.text.printable import printable
from viewer.text.summary import summary_lines
from viewer.text.table import table_lines
from viewer.views.environment import input_text, package_text
from viewer.views.failure import failure_message, left_text
from viewer.views.kernels import comparison_lines, kernel_rows
from viewer.views.measurements import errors_by_reference
from viewer.views.notices import fact_notices, notice_parts, warning_notices
from viewer.views.overview import FATE_ORDER
from viewer.views.quantisation import quantisation_lines
from viewer.views.runtime import runtime_lines
from viewer.views.steps import saved_text
from viewer.views.wording import NOTHING, REASONS, pass_text, told_ratio

if TYPE_CHECKING:
    from freeze_engine.trace import Failure, Interval, Latency, NearMiss, Notice, Numerics, Program

#: Passes that change the module, not the graph.
_OF_MODULE: Final = frozenset({"CleanupFrozenModule"})
_MAIN_CLAUSE = re.compile(r"[;:.](?: |$)|, (?=if |unless |which |such |and |so |where |random )")
_SHOWN_PATHS = 8
_SHOWN_MISSES = 3


def stats_text(trace: fe.Trace) -> str:
    """Renders a trace for a terminal.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.

    Returns:
        Lines that end in a newline, the same for equal traces. Empty sections are omitted.
    """
    metrics, detection = fe.step_metrics(trace), analysis.detection(trace)
    sections = (
        [_title(trace), *(f"  {line}" for line in summary_lines(fe.summarize(trace, metrics)))],
        _section("Recording", _recording(trace)),
        _section("Passes", table_lines([_pass_row(trace, entry, detection) for entry in metrics])),
        _section("What the passes that changed something do", _explained(trace)),
        _section("Compared with", _baselines(trace)),
        _section("What made it faster", stats_findings.paid_off(trace, metrics)),
        _section("What changed the results", stats_findings.moved_the_numbers(trace)),
        _section("Checks of the frozen module", stats_findings.checks(trace)),
        _section("Memory", stats_findings.memory(trace)),
        _section("What each pass does on its own", stats_findings.ablation(trace, metrics)),
        *(
            _section(f"What TorchScript's executor makes of {each.method}", runtime_lines(each))
            for each in trace.runtime
        ),
        *(_section(_kernels_title(trace, program), table_lines(kernel_rows(program))) for program in trace.programs),
        _section("With freezing against without", comparison_lines(trace)),
        _section(f"Parameters and buffers: {analysis.trace_counts(trace).total}", _attributes(trace)),
        _section("Quantisation", quantisation_lines(trace)),
        _section("Folds that did not happen", _near_misses(trace)),
        _section("Notices", (line for notice in warning_notices(trace) for line in _notice(trace, notice))),
        _section("About this environment", (line for notice in fact_notices(trace) for line in _notice(trace, notice))),
        _section("Not recorded", stats_findings.absent(trace)),
        _section(_ending(trace.failure), _failure(trace)),
    )
    texts = ("\n".join(printable(line) for line in section) for section in map(tuple, sections) if section)
    return "\n\n".join(texts) + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    body = [f"  {line}" for line in lines]
    return [title, *body] if body else []


def _title(trace: fe.Trace) -> str:
    return f"{trace.name}: {trace.backend}, {len(trace.steps)} steps"


def _recording(trace: fe.Trace) -> list[str]:
    where = trace.environment
    threads = f"{where.threads} thread{'' if where.threads == 1 else 's'}" if where.threads else "unknown threads"
    facts = [
        ("read from", "" if trace.is_recording else analysis.ORIGINS[trace.origin]),
        ("made by", trace.call),
        ("options", ", ".join(f"{name}={text}" for name, text in trace.options)),
        ("inputs", ", ".join(f"{spec.name}: {input_text(spec)}" for spec in trace.inputs)),
        ("machine", f"torch {where.torch}, Python {where.python}, {threads}, {where.cpu or 'unknown processor'}"),
        ("GPU", ", ".join(where.gpus)),
        ("package", package_text(trace)),
        ("took", "" if trace.duration_ns is None else analysis.duration_text(trace.duration_ns)),
    ]
    return [f"{label:8} {text}" for label, text in facts if text]


def _pass_row(trace: fe.Trace, metrics: fe.StepMetrics, detection: analysis.Detection) -> dict[str, str]:
    step = trace.steps[metrics.step]
    row = {
        ">#": str(step.index),
        "stage": step.stage,
        "pass": _pass_name(trace, step),
        "method": step.method if len(trace.methods) > 1 else "",
        ">nodes": str(metrics.nodes),
        "±": _delta(metrics) if step.changed else "",
        ">time": "" if step.duration_ns is None else analysis.duration_text(step.duration_ns),
        ">constants": analysis.bytes_text(step.constant_bytes) if analysis.knows_constants(trace) else "unknown",
        ">+/−": analysis.bytes_delta_text(metrics.constant_bytes_delta) if metrics.constant_bytes_delta else "",
    }
    return row | _measured(step.latency, step.numerics, detection)


def _pass_name(trace: fe.Trace, step: fe.Step) -> str:
    """Returns torch's name of a pass; followed by the purpose of a numbered group of patterns, and the round."""
    titles = filter(None, (analysis.pass_title(trace.backend, step.stage, name) for name in step.passes))
    behind = ", ".join((*titles, *(() if step.round is None else (f"round {step.round}",))))
    return f"{step.name} ({behind})" if behind else step.name


def _explained(trace: fe.Trace) -> list[str]:
    """Returns a line for each pass of a step that changed something: the main clause of what it does.

    Of several passes in one step that left the graph as it was, only those of the module changed something.
    """
    texts: dict[str, str] = {}
    for step, notes in zip(trace.steps, analysis.pass_notes(trace), strict=True):
        before = trace.before(step)
        if not step.changed or before is None:
            continue
        of_module = [note for note in notes if note.name in _OF_MODULE] if step.graph == before.graph else []
        texts |= {note.name: _MAIN_CLAUSE.split(note.does, maxsplit=1)[0] for note in of_module or notes if note.does}
    return [f"{name}: {text}" for name, text in texts.items()]


def _measured(
    latency: tuple[Latency, ...], numerics: tuple[Numerics, ...], detection: analysis.Detection
) -> dict[str, str]:
    cells = {}
    for one in latency:
        cells[f"latency, {one.device}"] = analysis.timed_text(one.median_ns)
        cells[f"{one.device}, to the first"] = _against(one.ratio, one.verdict, detection.to_first(one))
        if one.previous is not None and one.change is not None:
            cells[f"{one.device}, to the one before"] = _against(one.previous, one.change, detection.to_previous(one))
    for errors in errors_by_reference(numerics):
        cells[f"error, {errors.reference}"] = _error(errors.worst)
    return cells


def _error(worst: Numerics | None) -> str:
    if worst is None:
        return "not compared"
    return analysis.error_text(worst.max_abs) + ("" if worst.close else "  past tolerance")


def _delta(metrics: fe.StepMetrics) -> str:
    if metrics.only_tidied:
        return f"−{metrics.removed} unread"
    parts = (("+", metrics.added), ("−", metrics.removed), ("~", metrics.changed))
    return " ".join(f"{sign}{number}" for sign, number in parts if number)


def _against(ratio: Interval | None, claim: str, smallest: float) -> str:
    return " ".join(filter(None, (told_ratio(ratio, claim, smallest), _claim(claim, smallest))))


def _claim(claim: str, smallest: float) -> str:
    return f"{claim} ({analysis.below_text(smallest)})" if claim == NOTHING else claim


def _baselines(trace: fe.Trace) -> list[str]:
    detection = analysis.detection(trace)
    rows = ({"what": one.name} | _measured(one.latency, one.numerics, detection) for one in trace.baselines)
    return table_lines(list(rows))


def _attributes(trace: fe.Trace) -> Iterator[str]:
    yield from _by_fate(trace, [fate for fate in trace.attributes if analysis.is_counted(fate)])
    counts = analysis.trace_counts(trace)
    if counts.others:
        others = ", ".join(f"{count} {fate}" for fate, count in counts.others)
        yield f"other attributes (submodules, flags, values): {others}"
    kept = [fate for fate in trace.attributes if fate.fate == "preserved" and not analysis.is_counted(fate)]
    yield from (f"  {line}" for line in _by_fate(trace, kept))


def _by_fate(trace: fe.Trace, attributes: list[fe.AttributeFate]) -> Iterator[str]:
    groups: defaultdict[tuple[str, str], list[fe.AttributeFate]] = defaultdict(list)
    for fate in attributes:
        groups[fate.fate, _cause(trace, fate)].append(fate)
    order = {fate: position for position, fate in enumerate(FATE_ORDER)}
    counted = analysis.held_bytes(trace)
    for (name, cause), fates in sorted(groups.items(), key=lambda group: order[group[0][0]]):
        held = sum(counted[fate.path] for fate in fates)
        yield f"{name}{cause}: {len(fates)}" + (f", {analysis.bytes_text(held)}" if held else "")
        if name == "preserved":
            yield from (f"  {line}" for fate in fates for line in _preserved(fate))
        else:
            yield f"  {_largest(fates)}"
        yield from _tied(fates)


def _cause(trace: fe.Trace, fate: fe.AttributeFate) -> str:
    if fate.fate == "preserved":
        return f" ({REASONS[fate.reason or 'unknown'][0]})"
    if fate.fate == "folded" and fate.step is not None:
        return f" by {pass_text(trace.steps[fate.step])}"
    return ""


def _preserved(fate: fe.AttributeFate) -> Iterator[str]:
    yield fate.path
    for evidence in fate.evidence[:1]:
        source = f", {evidence.source.file}:{evidence.source.line}" if evidence.source else ""
        yield f"  {evidence.op + ': ' if evidence.op else ''}{evidence.fact}{source}"
        if evidence.chain:
            yield f"  through {' ← '.join(f'%{link.value} ({link.op})' for link in evidence.chain)}"
    if fate.advice:
        yield f"  {fate.advice}"


def _tied(fates: list[fe.AttributeFate]) -> Iterator[str]:
    names = [f"{fate.path} ({fate.same_as})" for fate in fates if fate.same_as]
    if names:
        yield f"  the same tensor as another, counted once: {analysis.listed(names, _SHOWN_PATHS)}"


def _largest(fates: list[fe.AttributeFate]) -> str:
    ordered = sorted(fates, key=lambda fate: (-fate.nbytes, analysis.natural_order(fate.path)))
    return analysis.listed((fate.path for fate in ordered), _SHOWN_PATHS)


def _near_misses(trace: fe.Trace) -> Iterator[str]:
    """Yields the first near misses of each kind and reason in full: a network's repeated layers repeat their misses."""
    alike: dict[tuple[int, str, str], list[NearMiss]] = {}
    for miss in trace.near_misses:
        alike.setdefault((miss.step, miss.kind, miss.reason), []).append(miss)
    for (index, kind, reason), misses in alike.items():
        where = f"{pass_text(trace.steps[index])}: {reason.replace('_', ' ')}"
        for miss in misses[:_SHOWN_MISSES]:
            yield f"{kind}: {miss.node} next to {miss.neighbour}, {where}"
            yield from (f"  {line}" for line in (miss.detail, miss.advice, saved_text(miss)) if line)
        if more := misses[_SHOWN_MISSES:]:
            yield f"{kind}: {len(more)} more, {where}: {analysis.listed((miss.node for miss in more), _SHOWN_PATHS)}"


def _notice(trace: fe.Trace, notice: Notice) -> Iterator[str]:
    where = "" if notice.step is None else f" ({pass_text(trace.steps[notice.step])})"
    said, quoted = notice_parts(notice)
    yield f"{notice.code}: {said}{where}"
    yield from (f"  {line}" for line in (quoted or "").splitlines())


def _kernels_title(trace: fe.Trace, program: Program) -> str:
    order = ", slowest first" if any(kernel.time_ns is not None for kernel in program.kernels) else ", as called"
    method = f", {program.method}" if len(trace.methods) > 1 else ""
    return f"Kernels, {program.name}{method}{order}"


def _ending(failure: Failure | None) -> str:
    return analysis.failure_title(failure) if failure else ""


def _failure(trace: fe.Trace) -> Iterator[str]:
    failure = trace.failure
    if failure is None:
        return
    method = f" of {failure.method}" if failure.method else ""
    last = "no step was recorded before it" if failure.step is None else f"the last step before it is {failure.step}"
    yield f"in {failure.stage}, {failure.name}{method}; {last}"
    yield from (f"  {line}" for line in failure_message(failure).splitlines())
    yield from filter(None, [left_text(trace)])
