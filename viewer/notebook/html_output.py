"""A trace as a cell's output: the report page in a frame, and a summary for places that run no scripts.

The frame contains the whole page, so a reopened or converted notebook needs no kernel and no extension to draw it.
Where frames are removed (an untrusted notebook, an e-mail), the summary below it becomes visible.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

import freeze_engine as fe
from viewer.assets import read_asset
from viewer.page import trace_data
from viewer.report import Embedding, comparison_page, is_measured, trace_page

HEIGHT: Final = 640
"""Default height of the view in CSS pixels."""

_PRESERVED_SHOWN: Final = 20
_DIFFERENT_FATES_SHOWN: Final = 20


def trace_html(trace: fe.Trace, *, embedding: Embedding | None = None, height: int = HEIGHT) -> str:
    """Renders a trace as a cell's output.

    Args:
        trace: the recording; also one whose freeze failed.
        embedding: the initial state, and the id that messages to the page use.
        height: of the view, in CSS pixels.

    Returns:
        Markup with its style inside, every text of the model escaped.
    """
    data = trace_data(trace, charted=is_measured(trace))
    embedding = embedding or Embedding()
    return _render(
        "output.html",
        id=embedding.id,
        name=trace.name or "unnamed model",
        height=height,
        page=trace_page(data, embedding),
        summary=Markup(summary_html(data["view"])),  # escaped by its own template
    )


def comparison_html(data: Mapping[str, Any], *, embedding: Embedding | None = None, height: int = HEIGHT) -> str:
    """Renders two traces side by side as a cell's output.

    Args:
        data: result of `viewer.page.comparison_data` for them.
        embedding: the initial state, and the id that messages to the page use.
        height: of the view, in CSS pixels.

    Returns:
        Markup with its style inside, every text of the models escaped.
    """
    embedding = embedding or Embedding()
    return _render(
        "output.html",
        id=embedding.id,
        name=data["view"]["name"],
        height=height,
        page=comparison_page(data, embedding),
        summary=Markup(_comparison_summary(data)),  # escaped by its own template
    )


def _comparison_summary(data: Mapping[str, Any]) -> str:
    """Renders the differences of two traces as plain tables."""
    compared = data["comparison"]
    rows = [row for row in compared["rows"] if row["differs"] and not row["carried"]]
    fates = [row for row in compared["attributes"] if "fate" in row["fields"]]
    return _render(
        "comparison_summary.html",
        names=compared["names"],
        rows=rows,
        shift=sum(step["side"] == 0 for step in data["view"]["steps"]),
        same=len(compared["rows"]) - len(rows),
        fates=fates[:_DIFFERENT_FATES_SHOWN],
        more=len(fates[_DIFFERENT_FATES_SHOWN:]),
        pairs=compared["pairs"],
        settings=compared["settings"],
    )


def summary_html(view: Mapping[str, Any]) -> str:
    """Renders a trace as plain tables: the passes that changed the graph, and the preserved attributes with reasons.

    Args:
        view: result of `viewer.views.view_data` for it.
    """
    shown = [step for step in view["steps"] if step["changed"] or step["stage"] == "input"]
    kept = [row for row in view["attributes"] if row["fate"] == "preserved" and row["kind"] != "submodule"]
    return _render(
        "summary.html",
        view=view,
        steps=[_row(step) for step in shown],
        unchanged=len(view["steps"]) - len(shown),
        kept=kept[:_PRESERVED_SHOWN],
        more=len(kept[_PRESERVED_SHOWN:]),
    )


def _row(step: dict[str, Any]) -> dict[str, Any]:
    latency = step["latency"][0] if step["latency"] else None
    error = step["numerics"][0] if step["numerics"] else None
    return {**step, "speed": latency, "error": error}


def _render(template: str, **values: Any) -> str:
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(read_asset))
    return environment.get_template(f"notebook/{template}").render(**values)
