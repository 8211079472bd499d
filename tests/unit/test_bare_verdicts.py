"""Wherever *no measurable difference* is printed, the difference that would have shown is beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.analysis import findings_text
from freeze_engine.trace import Contribution, Interval, Payoff
from tests.builders import small_trace
from tests.verdicts import NOTHING, SIZED, bare_in_text, unclaimed
from viewer.notebook.html_output import summary_html
from viewer.page import comparison_data, trace_data
from viewer.text.diff.text import diff_text
from viewer.text.markdown import comparison_markdown, summary_markdown
from viewer.text.stats import stats_text
from viewer.views import view_data

BESIDE = {"verdict": "unseen", "change": "change_unseen", "value": "note"}
"""Entry of a row that holds the verdict: the entry that holds the size."""


@pytest.fixture(scope="module")
def trace() -> fe.Trace:
    return unclaimed()


def bare_in_data(data: Any, place: str = "", note: str = "") -> Iterator[str]:
    """Yields the places in a page's data that have the verdict and not the size, not even in the ``note`` around."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, (list, tuple)) else ()
    for key, value in entries:
        where = f"{place}.{key}"
        if value == NOTHING and isinstance(data, dict):
            if not SIZED.search(data.get(BESIDE.get(str(key), "")) or note):
                yield where
        elif isinstance(value, str) and NOTHING in value and not SIZED.search(value):
            yield where
        else:
            yield from bare_in_data(value, where, data.get("note", "") if key == "ratio" else "")


def test_texts_say_what_would_have_shown(trace: fe.Trace) -> None:
    expected = fe.Expectations(no_slower=True, max_latency_ratio=2.0)
    texts = {
        "stats": stats_text(trace),
        "diff": diff_text(fe.diff_traces(trace, trace), (), everything=True),
        "summary": summary_markdown(trace),
        "summary of two": comparison_markdown(trace, trace),
        "notebook": summary_html(view_data(trace)),
        "check": "\n".join(findings_text(expected.evaluate(trace))),
    }
    assert {name: bare_in_text(text) for name, text in texts.items()} == {name: [] for name in texts}
    assert all(re.search(f"{NOTHING}|beyond the intervals", text) for text in texts.values())


def test_a_summary_says_what_would_have_shown(trace: fe.Trace) -> None:
    payoff = Payoff("cpu", Interval(1.0, 0.97, 1.03), NOTHING)
    names = {name: step.stage for step in trace.steps if step.changed for name in step.passes}
    ablation = [Contribution(stage, name, (payoff,), 1.0, 0.0, False, True) for name, stage in names.items()]
    summary = fe.summarize(replace(trace, ablation=tuple(ablation)))
    gains = [action.gain for action in summary.actions]
    assert bare_in_text("\n".join((summary.sentence, *gains))) == []
    assert NOTHING in summary.sentence
    assert any(NOTHING in gain for gain in gains)


def test_pages_have_what_would_have_shown_beside_every_verdict(trace: fe.Trace) -> None:
    assert list(bare_in_data(trace_data(trace))) == []
    assert list(bare_in_data(comparison_data(trace, small_trace()))) == []
    assert list(bare_in_data({"verdict": NOTHING, "unseen": None, "rows": [f"{NOTHING}."]})) == [".verdict", ".rows.0"]
