"""What a cell shows, as text: the page in a frame, and the summary behind it."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from types import ModuleType

import pytest

import freeze_engine as fe
from freeze_engine import analysis
from tests.builders import HOSTILE, empty_trace, failed_trace, small_trace
from viewer.notebook import trace_html
from viewer.notebook.content import two_traces
from viewer.notebook.html_output import comparison_html, summary_html
from viewer.page import comparison_data
from viewer.report import Embedding, render_comparison, render_report
from viewer.views import view_data


def page_in(output: str) -> str:
    (page,) = re.findall(r'srcdoc="([^"]*)"', output)
    return html.unescape(page)


@pytest.mark.parametrize("make", [small_trace, failed_trace, empty_trace])
def test_the_frame_holds_the_whole_page(make):
    embedding = Embedding("a-name", {"tab": "ir"})
    output = trace_html(make(), embedding=embedding, height=500)
    assert page_in(output) == render_report(make(), embedding)
    assert 'data-freezer-view="a-name"' in output
    assert "height: 500px" in output
    assert output.endswith(f"{summary_html(view_data(make()))}\n</div>")


def test_equal_traces_give_equal_outputs():
    assert trace_html(small_trace()) == trace_html(small_trace())


def test_markup_in_model_names_is_inert():
    name = f'{HOSTILE}"><script>'
    output = trace_html(replace(small_trace(), name=name))
    assert HOSTILE not in output
    assert "<script" not in output
    assert HOSTILE not in page_in(output)


def test_a_comparison_s_frame_holds_its_page_and_a_summary():
    first = small_trace()
    second = replace(first, name=f"other {HOSTILE}", steps=first.steps[:-1])
    embedding = Embedding("a-name", {"tab": "ir"})
    output = comparison_html(comparison_data(first, second), embedding=embedding, height=500)
    assert page_in(output) == render_comparison(first, second, embedding)
    assert 'data-freezer-view="a-name"' in output
    assert HOSTILE not in output
    summary = output.partition("</iframe>")[2]
    assert "only A has it" in summary
    assert "11 passes make no difference of their own" in summary
    assert comparison_html(comparison_data(empty_trace(), empty_trace()))


def test_summary_names_changes_and_preserved_attributes():
    summary = summary_html(view_data(small_trace()))
    assert "FoldFrozenConvBatchnorm" in summary
    assert "more passes changed nothing" in summary
    assert "The freeze failed in" in summary_html(view_data(failed_trace()))
    kept = [fate.path for fate in small_trace().attributes if fate.fate == "preserved" and fate.kind != "submodule"]
    assert [path for path in kept if f"<code>{path}</code>" not in summary] == []


def test_expensive_output_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = small_trace()
    asked: list[str] = []

    def counted(room: ModuleType, name: str) -> None:
        function = getattr(room, name)

        def counting(*arguments: fe.Trace) -> object:
            asked.append(name)
            return function(*arguments)

        monkeypatch.setattr(room, name, counting)

    counted(analysis, "duplicates")
    counted(fe, "step_metrics")
    counted(fe, "diff_traces")
    render_report(trace)
    assert asked == ["duplicates", "step_metrics"]
    asked.clear()
    trace_html(trace)
    assert asked == ["duplicates", "step_metrics"]
    asked.clear()
    subject = two_traces(trace, trace)
    subject.html(Embedding(), 300)
    subject.html(Embedding(), 300)
    assert sorted(asked) == ["diff_traces", "duplicates", "duplicates", "step_metrics", "step_metrics"]
