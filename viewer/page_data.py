"""What a page loads to show one trace; two have `viewer.view_models.comparison.comparison_data`."""

from __future__ import annotations

from typing import Any

import freeze_engine as fe
from viewer.charts import chart_items
from viewer.graph_data import graph_data
from viewer.view_models import view_data


def trace_data(trace: fe.Trace, *, charted: bool = True) -> dict[str, Any]:
    """Returns ``view``, ``graph`` and ``charts``, as `docs/viewer-protocol.md` describes them.

    Args:
        trace: the recording; also an empty one, or one whose freeze failed.
        charted: whether to draw charts; ``charts`` is ``None`` without.
    """
    duplicates = fe.duplicates(trace)
    return {
        "view": view_data(trace, duplicates),
        "graph": graph_data(trace),
        "charts": chart_items(trace, duplicates) if charted else None,
    }
