"""The messages that Python sends are what the JavaScript's types say: every field, and its type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import freeze_engine as fe
from tests import two_backends
from tests.builders import empty_trace, failed_trace, small_trace, tied_trace
from tests.kernel_traces import kernel_trace
from tests.type_declarations import declarations
from viewer.dashboard.library import Library, recent_trace
from viewer.dashboard.server_info import Site
from viewer.page import comparison_data
from viewer.views import view_data
from viewer.views.graph_data import graph_data

GOLDEN = Path(__file__).parents[1] / "golden"
VIEWER = declarations("viewer", "graph")
DASHBOARD = declarations("dashboard")
TRACES = {
    "small": small_trace,
    "failed": failed_trace,
    "tied": tied_trace,
    "empty": empty_trace,
    "kernels": kernel_trace,
    "torchscript": two_backends.torchscript,
    "inductor": two_backends.inductor,
    "quantised": lambda: fe.load(GOLDEN / "quantised_pt2e.fztrace"),
}


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("name", sorted(TRACES))
def test_views_of_a_trace_fit_the_types_of_the_viewer(name: str) -> None:
    trace = TRACES[name]()
    assert list(VIEWER.problems(_plain(view_data(trace)), "ViewData", "view")) == []
    assert list(VIEWER.problems(_plain(graph_data(trace)), "GraphMessage", "graph")) == []


def test_views_of_two_traces_fit_the_types_of_the_viewer() -> None:
    for first, second in ((small_trace(), tied_trace()), (two_backends.torchscript(), two_backends.inductor())):
        data = _plain(comparison_data(first, second, charted=False))
        assert list(VIEWER.problems(data["view"], "ViewData", "view")) == []
        assert list(VIEWER.problems(data["graph"], "GraphMessage", "graph")) == []
        assert list(VIEWER.problems(data["comparison"], "ComparisonData", "comparison")) == []


def test_facts_of_the_server_fit_the_types_of_the_dashboard(tmp_path: Path) -> None:
    site = _plain(Site(upload_limit_bytes=1, devices=("cpu",)).view())
    assert list(DASHBOARD.problems(site, "Site", "site")) == []
    library = Library(tmp_path / "recent.json")
    library.remember(recent_trace(small_trace(), tmp_path / "a.fztrace"))
    assert list(DASHBOARD.problems(_plain(library.view()), "Library", "library")) == []


def test_a_field_that_the_page_does_not_declare_is_found() -> None:
    data = _plain(view_data(small_trace()))
    data["steps"][0]["surprise"] = 1
    del data["steps"][1]["name"]
    assert list(VIEWER.problems(data, "ViewData", "view")) == [
        "view.steps[0]: the page does not declare surprise",
        "view.steps[1]: name is missing",
    ]
