"""The data of every view of a trace, computed without a browser.

`view_data` is plain JSON: dashboard, notebook widget and HTML report pass it to the same front end
(``frontend/viewer/``), which only displays it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import freeze_engine as fe
from freeze_engine import analysis
from viewer.views.attributes import attribute_rows, counts_view
from viewer.views.environment import environment_view
from viewer.views.failure import failure_view
from viewer.views.findings import findings_view
from viewer.views.glossary import GLOSSARY
from viewer.views.missing_measurements import unmeasured_view
from viewer.views.overview import first_step, ordered_methods, overview
from viewer.views.programs import comparison_rows, program_rows
from viewer.views.quantisation import quantisation_view
from viewer.views.runtime import with_runtime
from viewer.views.source_lines import source_view
from viewer.views.steps import StepRows
from viewer.views.summary import summary_view
from viewer.views.wording import READ_STAGES, STAGES

__all__ = ["view_data"]


def view_data(
    trace: fe.Trace, duplicates: Sequence[analysis.Duplicate] | None = None, *, sourced: bool = True
) -> dict[str, Any]:
    """Returns the data of all views, except the drawn graph and the charts.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.
        duplicates: result of `freeze_engine.analysis.duplicates` for it; computed by default.
        sourced: whether to work out what became of each line of source; ``by_line`` is ``None`` without.

    Returns:
        A JSON-ready dictionary; equal traces give equal dictionaries, in the same order. Steps refer to
        ``pass_texts``, ``aliases`` and ``codes`` by index, and to nodes and values by their names in the graph data.
    """
    shown = with_runtime(trace)
    shown_metrics = fe.step_metrics(shown)
    metrics = shown_metrics[: len(trace.steps)]
    builder = StepRows(shown, shown_metrics)
    steps = builder.rows()
    summary = fe.summarize(trace, metrics)
    return {
        "name": trace.name,
        "backend": trace.backend,
        "torch": trace.environment.torch,
        "methods": list(ordered_methods(trace)),
        "stages": {**STAGES[trace.backend], **({} if trace.is_recording else READ_STAGES)},
        "summary": summary_view(summary, trace),
        "glossary": [list(pair) for pair in GLOSSARY.items()],
        "overview": overview(trace, metrics),
        **counts_view(analysis.trace_counts(trace)),
        "failure": failure_view(trace),
        "unmeasured": unmeasured_view(trace),
        "first_step": first_step(trace, summary.main_step),
        "environment": environment_view(trace),
        "findings": findings_view(trace, metrics, analysis.duplicates(trace) if duplicates is None else duplicates),
        "quantisation": quantisation_view(trace),
        "programs": program_rows(trace),
        "comparisons": comparison_rows(trace),
        "steps": steps,
        "attributes": attribute_rows(trace),
        "pass_texts": builder.pass_texts,
        "aliases": builder.aliases,
        "codes": builder.codes,
        "by_line": source_view(trace) if sourced else None,
        "sources": [
            {"file": source.file, "first_line": source.first_line, "lines": list(source.lines)}
            for source in trace.sources
        ],
    }
