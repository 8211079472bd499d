"""The data that the JavaScript tests read is what Python gives the page."""

from __future__ import annotations

import json
from pathlib import Path

from tests.builders import small_trace
from viewer.notebook.view_state import state_defaults
from viewer.views import view_data
from viewer.views.graph_data import graph_data

FRONTEND = Path(__file__).parents[2] / "frontend"


def test_javascript_tests_read_the_small_trace(update_golden: bool) -> None:
    trace = small_trace()
    data = {"view": view_data(trace), "graph": graph_data(trace)}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
    file = FRONTEND / "tests" / "small_trace.json"
    if update_golden:
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


def test_state_defaults_come_from_the_bundles() -> None:
    defaults = state_defaults()
    assert defaults["tab"] == "graph"
    assert defaults["fate"] == []
