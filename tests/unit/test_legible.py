"""Names of 100,000 letters: a page gets short ones, and still finds everything by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import freeze_engine as fe
from tests.builders import small_trace
from viewer.page import comparison_charts, comparison_data, trace_charts, trace_data
from viewer.views.legible import legible

LONG = "n" * 100_000


def _long_names() -> fe.Trace:
    trace = small_trace()
    steps = tuple(
        replace(
            step,
            graph=replace(
                step.graph, nodes=tuple(replace(node, module=node.module + LONG) for node in step.graph.nodes)
            ),
            log=tuple(line + LONG for line in step.log),
        )
        for step in trace.steps
    )
    return replace(
        trace,
        name=LONG,
        call=f"freeze({LONG})",
        steps=steps,
        options=((LONG, LONG),),
        notices=tuple(replace(notice, message=f"It warns: {LONG}") for notice in trace.notices),
        checks=tuple(replace(check, message=f"{LONG} {LONG}") for check in trace.checks),
        attributes=tuple(
            replace(fate, path=f"{fate.path}.{LONG}{number}") for number, fate in enumerate(trace.attributes[1:2])
        ),
    )


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _texts(value)
    elif isinstance(data, (list, tuple)):
        for value in data:
            yield from _texts(value)


@pytest.mark.parametrize(
    "make", [trace_data, trace_charts, comparison_data, comparison_charts], ids=lambda f: f.__name__
)
def test_no_word_of_a_page_is_longer_than_anybody_can_read(make: Any) -> None:
    trace = _long_names()
    assert fe.problems(trace) == ()
    data = make(trace, small_trace()) if make in (comparison_data, comparison_charts) else make(trace)
    words = [word for text in _texts(data) for word in text.split()]
    assert max(map(len, words)) <= 1000


def test_equal_words_stay_equal_and_others_differ() -> None:
    one, other = f"{LONG}a{LONG}", f"{LONG}b{LONG}"
    shown = legible({"names": [one, other, one], one: f"read by {one}"})
    first, second, third = shown["names"]
    assert first == third != second
    assert shown[first] == f"read by {first}"
    assert len(first) < 400


def test_short_text_stays_as_it_is() -> None:
    data = {"text": "word " * 10_000, "path": "p" * 1000, "number": 1.5, "none": None, "rows": [{"a": [1, True]}]}
    assert legible(data) == data
