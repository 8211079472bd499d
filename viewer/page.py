"""The data that a page loads to show one trace, or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import freeze_engine as fe
from freeze_engine import analysis
from viewer.text.summary_changes import changes
from viewer.views import view_data
from viewer.views.comparison.data import diff_views
from viewer.views.comparison.sources import with_own_files
from viewer.views.graph_data import graph_data
from viewer.views.legible import legible, legible_graph
from viewer.views.runtime import with_runtime
from viewer.views.summary import FREEZING


def trace_data(trace: fe.Trace, *, charted: bool = True) -> dict[str, Any]:
    """Returns ``view``, ``graph`` and ``charts``, as `docs/viewer-protocol.md` describes them.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.
        charted: whether to draw charts; ``charts`` is ``None`` without.
    """
    duplicates = analysis.duplicates(trace)
    return {
        "view": legible(view_data(trace, duplicates)),
        "graph": legible_graph(graph_data(with_runtime(trace))),
        "charts": _charts(trace, duplicates) if charted else None,
    }


def trace_charts(trace: fe.Trace) -> dict[str, Any]:
    """Returns the ``charts`` of `trace_data`, for a page that loads them later."""
    return _charts(trace, analysis.duplicates(trace))


def _charts(trace: fe.Trace, duplicates: Sequence[analysis.Duplicate]) -> dict[str, Any]:
    from viewer.charts.figures import chart_items  # brings in Bokeh, which takes longer than the rest of a page's data

    found: dict[str, Any] = legible(chart_items(trace, duplicates))
    return found


def comparison_data(first: fe.Trace, second: fe.Trace, *, charted: bool = True) -> dict[str, Any]:
    """Returns the viewer's data of two traces.

    Args:
        first: the trace called A; also an empty one, or one whose freeze failed.
        second: the trace called B.
        charted: as of `trace_data`.

    Returns:
        ``view``, ``graph`` and ``charts`` as for one trace, with the steps of both, those of B after those of A; and
        ``comparison``: the paired steps, and the differences. Equal traces give equal data. Traces of different
        backends have no common passes and no charts, but passes paired by purpose.
    """
    return diff_data(fe.diff_traces(first, with_own_files(first, second)), second, charted=charted)


def comparison_charts(first: fe.Trace, second: fe.Trace) -> dict[str, Any] | None:
    """Returns the ``charts`` of `comparison_data`, for a page that loads them later."""
    diff = fe.diff_traces(first, second)
    return _diff_charts(diff, diff_views(diff, second)["comparison"]["rows"])


def _diff_charts(diff: fe.TraceDiff, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    from viewer.charts import comparison

    return None if diff.across_backends else legible(comparison.chart_items(diff, rows))


def diff_data(diff: fe.TraceDiff, second: fe.Trace, *, charted: bool = True) -> dict[str, Any]:
    """Returns the same as `comparison_data`, given the difference of the two traces.

    Args:
        diff: of both traces.
        second: trace B with its original names.
        charted: as of `trace_data`.
    """
    shown = diff_views(diff, second)
    ours, theirs = fe.summarize(diff.before), fe.summarize(second)
    shown["comparison"]["summary"] = {
        "sentences": [ours.sentence, theirs.sentence],
        "changes": [asdict(change) for change in changes(diff, ours, theirs)],
        "about": FREEZING,
    }
    charts = _diff_charts(diff, shown["comparison"]["rows"]) if charted else None
    return {
        "view": legible(shown["view"]),
        "graph": legible_graph(shown["graph"]),
        "charts": charts,
        "comparison": legible(shown["comparison"]),
    }
