"""What a notebook shows of a trace: a summary that needs neither scripts nor a kernel to be read again."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

import freeze_engine as fe
from viewer.assets import read_asset
from viewer.view_models import view_data


def trace_html(trace: fe.Trace) -> str:
    """Renders a trace as a piece of HTML.

    Args:
        trace: the recording; also one whose freeze failed.

    Returns:
        Markup with its style inside, every text of the model escaped.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(read_asset))
    view = view_data(trace)
    shown = [step for step in view["steps"] if step["changed"] or step["stage"] == "input"]
    return environment.get_template("notebook.html").render(
        view=view,
        steps=[_row(step) for step in shown],
        unchanged=len(view["steps"]) - len(shown),
        kept=[row for row in view["attributes"] if row["fate"] == "preserved" and row["kind"] != "submodule"],
    )


def _row(step: dict[str, Any]) -> dict[str, Any]:
    latency = step["latency"][0] if step["latency"] else None
    error = step["numerics"][0] if step["numerics"] else None
    return {**step, "speed": latency, "error": error}
