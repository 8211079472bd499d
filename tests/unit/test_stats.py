from __future__ import annotations

from dataclasses import replace
from typing import Any

import freeze_engine as fe
from freeze_engine.trace import Fate
from tests.builders import HOSTILE, empty_trace, failed_trace, small_trace
from viewer.text.printable import printable
from viewer.text.stats import stats_text


def test_stats_of_any_trace_end_in_one_newline() -> None:
    for trace in (small_trace(), empty_trace(), failed_trace()):
        text = stats_text(trace)
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


def test_stats_tell_what_an_engineer_asks() -> None:
    text = stats_text(small_trace())
    told = [
        "     6  ConstantPropagation, forward  12% less time (8 to 16%)  step 0",
        "all passes of forward together on cpu: no measurable difference (one of 11% or more would have shown)",
        "     8  FoldFrozenConvBatchnorm (round 1), forward  0 → 3.0e-04          past, the first",
        "at the end of forward: 3.0e-04 against eager, unknown against float64",
        "failed    round trip  The loaded module gives other numbers.",
        "saving: does not save and reload",
        "FoldConvBn  30% less time (20 to 40%) faster  1.0e-02 past  0",
        "FoldConvAdd: could not be measured: RuntimeError: left out",
        "folded by step 8, FoldFrozenConvBatchnorm (forward, round 1): 2, 80 B\n    block.conv.weight, block.bn.weight",
        "through %seen (aten::view) ← %count (prim::GetAttr)",
        "conv_add: sum next to y, step 9, FoldFrozenConvAddOrSub (forward, round 1): operand not constant",
        "3% less time (7% less to 1% more) no measurable difference (less than 11%)",
    ]
    assert [words for words in told if words not in text] == []
    assert "in freeze_module, AttributePropagation of forward; the last step before it is 3" in stats_text(
        failed_trace()
    )


def test_bytes_of_tied_weights_are_counted_once_where_most_is_left() -> None:
    def fate(path: str, what: Fate, **fields: Any) -> fe.AttributeFate:
        return fe.AttributeFate(path, "parameter", "Tensor", (256,), "float32", 1024, what, **fields)

    attributes = (
        fate("decode.weight", "inlined", same_as="encode.weight"),
        fate("encode.weight", "inlined"),
        fate("first", "dropped"),
        fate("second", "preserved", reason="mutated_in_place", same_as="first"),
        fate("third", "dropped"),
    )
    trace = replace(empty_trace(), attributes=attributes)
    assert fe.problems(trace) == ()
    text = stats_text(trace)
    assert "inlined: 2, 1.00 KiB\n" in text
    assert "the same tensor as another, counted once: decode.weight (encode.weight)\n" in text
    assert "dropped: 2, 1.00 KiB\n" in text
    assert "(written in place): 1, 1.00 KiB\n" in text


def test_an_unmeasured_trace_has_no_measurement_columns() -> None:
    trace = small_trace()
    steps = tuple(replace(step, latency=(), numerics=()) for step in trace.steps)
    text = stats_text(replace(trace, steps=steps, baselines=()))
    measured, _, rest = text.partition("\n\nChecks of")
    assert "latency" not in measured
    assert "error" not in measured
    assert "What made it faster" not in text
    assert "latency: leave out --no-latency and --no-measure" in rest


def test_a_trace_cannot_take_over_the_terminal() -> None:
    hostile = replace(small_trace(), name="\x1b[2J\u202e\ud800\n" + HOSTILE)
    text = stats_text(hostile)
    assert text.startswith("\\x1b[2J\\u202e\\ud800\\n</script>")
    assert printable("naïve 標籤 🧊\t") == "naïve 標籤 🧊\\t"
    assert all(char.isprintable() or char == "\n" for char in text)


def test_missed_folds_of_one_reason_are_listed_three_times_at_most() -> None:
    trace = small_trace()
    (miss, *_) = trace.near_misses
    alike = [replace(miss, node=f"sum_{number}") for number in range(5)]
    other = replace(miss, node="other", reason="several_uses")
    section = stats_text(replace(trace, near_misses=(*alike, other))).partition("Folds that did not happen\n")[2]
    told = [line for line in section.partition("\n\n")[0].splitlines() if not line.startswith("    ")]
    where = "step 9, FoldFrozenConvAddOrSub (forward, round 1)"
    assert told == [
        *(f"  conv_add: sum_{number} next to y, {where}: operand not constant" for number in range(3)),
        f"  conv_add: 2 more, {where}: operand not constant: sum_3, sum_4",
        f"  conv_add: other next to y, {where}: several uses",
    ]
