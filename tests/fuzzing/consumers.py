"""All readers of traces, by name; the fuzzer passes every loaded trace to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import freeze_engine as fe
from freeze_engine.analysis import findings_text
from freeze_engine.export import model_explorer_graphs
from viewer.card import card_svg
from viewer.charts.figures import chart_items
from viewer.dashboard.library import recent_trace
from viewer.dashboard.payloads import packed
from viewer.notebook.content import one_trace, two_traces
from viewer.notebook.html_output import trace_html
from viewer.page import comparison_data
from viewer.report import render_report
from viewer.text.check_outputs import CheckedSubject, check_markdown, check_text, github_annotations, junit_xml
from viewer.text.diff.json_document import diff_document
from viewer.text.diff.text import diff_text
from viewer.text.markdown import comparison_markdown, summary_markdown
from viewer.text.stats import stats_text
from viewer.text.summary import comparison_text, summary_text
from viewer.views import view_data
from viewer.views.chart_data import chart_data
from viewer.views.comparison.aspects import ASPECTS, differing
from viewer.views.graph_data import graph_data

Consumer = Callable[[fe.Trace, fe.Trace], object]
"""Takes a trace, and a valid one of the same model to compare it with."""

_EXPECTED = fe.Expectations(
    max_error=1e-3,
    within_tolerance=True,
    expect_folded=("conv_bn=1",),
    no_preserved=("*",),
    expect_preserved=("*",),
    max_latency_ratio=1.0,
    no_slower=True,
    max_constant_bytes=10,
    saves=True,
    no_failed_checks=True,
    stays_quantised=True,
    no_notices=("tracer_warning",),
)


def _text(text: str) -> bytes:
    return text.encode()


def _json(document: object) -> bytes:
    return _text(json.dumps(document, ensure_ascii=False, allow_nan=False))


def _data_of(trace: fe.Trace, other: fe.Trace) -> bytes:
    return packed({"view": view_data(trace), "graph": graph_data(trace)})


def _stats(trace: fe.Trace, other: fe.Trace) -> bytes:
    return _text(stats_text(trace))


def _export(trace: fe.Trace, other: fe.Trace) -> None:
    for text in fe.csv_tables(trace).values():
        _text(text)
    _json(fe.chrome_trace(trace))
    _json(model_explorer_graphs(trace, None))
    _json(fe.model_explorer_data(trace, None))


def _differences(trace: fe.Trace, other: fe.Trace) -> None:
    diff = fe.diff_traces(trace, other)
    _text(diff_text(diff, ASPECTS))
    differing(diff)
    diff = fe.diff_traces(other, trace)
    _text(diff_text(diff, ASPECTS, everything=True))
    _json(diff_document(diff, ASPECTS))


def _expectations(trace: fe.Trace, other: fe.Trace) -> None:
    findings = _EXPECTED.evaluate(trace)
    for line in findings_text(findings):
        _text(line)
    _json([asdict(finding) for finding in findings])
    subjects = (CheckedSubject(trace.name, trace.backend, findings),)
    ElementTree.fromstring(junit_xml(subjects, trace.name))
    for line in (check_text(subjects), check_markdown(subjects, trace.name), *github_annotations(subjects)):
        _text(line)


def _summary(trace: fe.Trace, other: fe.Trace) -> None:
    _text(summary_text(trace) + summary_markdown(trace))
    for pair in ((trace, other), (other, trace)):
        _text(comparison_text(*pair) + comparison_markdown(*pair))


def _card(trace: fe.Trace, other: fe.Trace) -> None:
    ElementTree.fromstring(card_svg(trace))


def _told(trace: fe.Trace, other: fe.Trace) -> None:
    for told in (trace, *trace.steps, *(step.graph for step in trace.steps)):
        _text(repr(told))
    assert fe.problems(trace) == ()
    hash(trace)


def _file(trace: fe.Trace, other: fe.Trace) -> None:
    recent_trace(trace, Path("a.fztrace"))
    data = fe.dumps(trace)
    assert fe.dumps(fe.loads(data)) == data


def _notebook(trace: fe.Trace, other: fe.Trace) -> None:
    subject = one_trace(trace)
    subject.has("forward")


def _charted(trace: fe.Trace, other: fe.Trace) -> None:
    chart_data(trace)


def _charts(trace: fe.Trace, other: fe.Trace) -> bytes:
    return _json(chart_items(trace))


def _page(trace: fe.Trace, other: fe.Trace) -> bytes:
    return _text(render_report(trace))


def _two(trace: fe.Trace, other: fe.Trace) -> None:
    _json(comparison_data(trace, other))
    _json(comparison_data(other, trace))
    two_traces(trace, other)


def _cell(trace: fe.Trace, other: fe.Trace) -> bytes:
    return _text(trace_html(trace))


CHEAP: Mapping[str, Consumer] = {
    "page data": _data_of,
    "stats": _stats,
    "summary": _summary,
    "card": _card,
    "export": _export,
    "diff": _differences,
    "check": _expectations,
    "repr": _told,
    "notebook": _notebook,
    "chart data": _charted,
}
"""Readers that take milliseconds each, run for every trace."""

COSTLY: Mapping[str, Consumer] = {"file": _file, "charts": _charts, "report": _page, "comparison": _two, "cell": _cell}
"""Readers that take tenths of a second each, run for some traces."""
