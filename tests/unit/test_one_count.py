"""The weights and buffers of a trace are counted once: every place that says how many says the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import freeze_engine as fe
from freeze_engine.sweep.trace_row import trace_columns
from freeze_engine.trace import AttributeFate
from tests.builders import small_trace
from viewer.card import card_svg
from viewer.text.stats import stats_text
from viewer.views import view_data

GOLDEN = Path(__file__).parent.parent / "golden"
PACKED = "__torch__.torch.classes.quantized.LinearPackedParamsBase"


def with_packed() -> fe.Trace:
    """Returns a trace of which one weight is in an object, which counts as none, and whose bytes count."""
    trace = small_trace()
    fate = AttributeFate("l._packed_params", "attribute", PACKED, None, None, 640, "inlined")
    return replace(trace, attributes=(*trace.attributes, fate))


def with_tied() -> fe.Trace:
    """Returns a trace of which one tensor has two names."""
    trace = small_trace()
    weight = next(each for each in trace.attributes if each.kind == "parameter")
    other = replace(weight, path="tied", same_as=weight.path)
    return replace(trace, attributes=(*trace.attributes, other))


def without_weights() -> fe.Trace:
    fates = [each for each in small_trace().attributes if each.kind not in ("parameter", "buffer")]
    return replace(small_trace(), attributes=tuple(fates))


TRACES: dict[str, Callable[[], fe.Trace]] = {
    "small": small_trace,
    "tied": with_tied,
    "packed": with_packed,
    "without weights": without_weights,
    **{
        name: lambda name=name: fe.load(GOLDEN / f"{name}.fztrace")  # type: ignore[misc]
        for name in ("quantised_dynamic", "quantised_pt2e_torchscript", "quantised_weight_only_float32")
    },
}


@pytest.mark.parametrize("name", TRACES)
def test_every_place_counts_the_same_weights(name: str) -> None:
    trace = TRACES[name]()
    frozen = fe.summarize(trace).frozen
    assert frozen is not None
    shown = Counter(dict(view_data(trace)["fates"]))
    assert (shown.total(), shown["preserved"], shown["dropped"]) == (frozen.total, frozen.preserved, frozen.dropped)
    assert sum(row["counted"] for row in view_data(trace)["attributes"]) == frozen.total

    _, _, section = stats_text(trace).partition("Parameters and buffers: ")
    total, *rows = section.partition("\n\n")[0].split("\n")
    assert int(total) == frozen.total
    counts: Counter[str] = Counter()
    for row in rows:
        if match := re.match(r"  (inlined|folded|preserved|dropped)\b[^:]*(?:\([^)]*\))?: (\d+)", row):
            counts[match[1]] += int(match[2])
    assert counts == +shown

    columns = trace_columns(trace)
    assert (columns["frozen"], columns["preserved"], columns["dropped"]) == (
        frozen.frozen,
        frozen.preserved,
        frozen.dropped,
    )
    wanted = f"{frozen.frozen} of {frozen.total}" if frozen.total else "the model has none"
    assert wanted in card_svg(trace)


def test_bytes_of_packed_weights_count_in_a_sweep() -> None:
    before, packed = trace_columns(small_trace()), trace_columns(with_packed())
    assert packed["bytes_before"] == before["bytes_before"] + 640
