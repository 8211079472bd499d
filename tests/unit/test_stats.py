from __future__ import annotations

from dataclasses import replace

from tests.builders import HOSTILE, empty_trace, failed_trace, small_trace
from viewer.stats import printable, stats_text


def test_stats_of_any_trace_end_in_one_newline() -> None:
    for trace in (small_trace(), empty_trace(), failed_trace()):
        text = stats_text(trace)
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


def test_stats_tell_what_an_engineer_asks() -> None:
    text = stats_text(small_trace())
    told = [
        "faster: step 6, ConstantPropagation (forward): 0.88× (0.84–0.92) the time of step 0 on cpu",
        "past tolerance: step 8, FoldFrozenConvBatchnorm (forward, round 1) is the first, against eager",
        "folded by step 8, FoldFrozenConvBatchnorm (forward, round 1): 2, 80 B\n    block.conv.weight, block.bn.weight",
        "through %seen (aten::view) ← %count (prim::GetAttr)",
        "conv_add: sum next to y, step 9, FoldFrozenConvAddOrSub (forward, round 1): operand not constant",
        "0.97× (0.93–1.01) no measurable difference",
        "largest error of forward: unknown against float64 before freezing",
        "memory, saving: does not survive (RuntimeError: could not export Python function call), since step 8",
    ]
    assert [words for words in told if words not in text] == []
    assert "in freeze_module, AttributePropagation of forward; the last step before it is 3" in stats_text(
        failed_trace()
    )


def test_an_unmeasured_trace_has_no_measurement_columns() -> None:
    trace = small_trace()
    steps = tuple(replace(step, latency=(), numerics=()) for step in trace.steps)
    text = stats_text(replace(trace, steps=steps, baselines=()))
    assert "latency" not in text
    assert "error" not in text


def test_a_trace_cannot_take_over_the_terminal() -> None:
    hostile = replace(small_trace(), name="\x1b[2J\u202e\ud800\n" + HOSTILE)
    text = stats_text(hostile)
    assert text.startswith("\\x1b[2J\\u202e\\ud800\\n</script>")
    assert printable("naïve 標籤 🧊\t") == "naïve 標籤 🧊\\t"
    assert all(char.isprintable() or char == "\n" for char in text)
