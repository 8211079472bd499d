from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.analysis import findings_text
from freeze_engine.trace import Check, Failure, Interval, MemoryLedger, Numerics, OutputError
from tests.builders import empty_trace, failed_trace, small_trace

FOLD = "step 8, FoldFrozenConvBatchnorm (forward, round 1)"
NO_NUMERICS = "Record it with inputs, and with numerics measured (no --no-numerics; fe.Measure(numerics=True))."
NO_LATENCY = "Record it with inputs, and with latencies measured (no --no-latency; fe.Measure(latency=True))."
NO_MEMORY = "Record it with memory measured (no --no-memory; fe.Measure(memory=True))."
BISECT = "freezer-ui bisect MODEL --check accuracy names the rewrite that moves the numbers."


def settled_trace() -> fe.Trace:
    """The small trace, with the last step of ``forward`` measured in every way, slightly wrong."""
    return changed(10, numerics=small_trace().steps[8].numerics)


def changed(index: int, **fields: Any) -> fe.Trace:
    trace = small_trace()
    steps = list(trace.steps)
    steps[index] = replace(steps[index], **fields)
    return replace(trace, steps=tuple(steps))


def one(trace: fe.Trace, **expected: Any) -> fe.Finding:
    (finding,) = fe.Expectations(**expected).evaluate(trace)
    return finding


def outcome(trace: fe.Trace, **expected: Any) -> str:
    return one(trace, **expected).outcome


def test_an_error_beyond_the_limit_names_its_step() -> None:
    assert one(settled_trace(), max_error=1e-4) == fe.Finding(
        "max_error",
        "error of at most 0.0001 against eager",
        "failed",
        "The largest error is 0.0003.",
        (
            "forward after step 10, output 0 (given inputs): max abs 0.0003, max rel 0.0012, past torch's tolerances",
            f"first at {FOLD}: conv_bn of block.conv, block.bn",
        ),
        BISECT,
    )


def test_error_within_the_limit_is_stated() -> None:
    assert one(settled_trace(), max_error=1e-3) == fe.Finding(
        "max_error",
        "error of at most 0.001 against eager",
        "ok",
        "The largest error is 0.0003.",
        ("forward after step 10, output 0 (given inputs): max abs 0.0003, max rel 0.0012, past torch's tolerances",),
    )


def test_an_error_that_was_not_measured_at_the_end_is_unknown() -> None:
    steps = tuple(replace(step, numerics=()) for step in small_trace().steps)
    assert one(replace(small_trace(), steps=steps), max_error=1.0) == fe.Finding(
        "max_error",
        "error of at most 1 against eager",
        "cannot tell",
        "No error against eager was measured.",
        (),
        NO_NUMERICS,
    )


def test_failed_comparison_is_unknown() -> None:
    finding = one(settled_trace(), within_tolerance=True, reference="float64")
    assert (finding.outcome, finding.evidence) == (
        "cannot tell",
        ("forward after step 10: RuntimeError: expected scalar type Float but found Double",),
    )


def test_of_a_traceback_of_torchs_the_ends_are_shown() -> None:
    text = "RuntimeError: it failed.\nTraceback of TorchScript:\n  ~~ <--- HERE\nRuntimeError: bad shape"
    error = Numerics("float64", (), text)
    trace = settled_trace()
    steps = tuple(replace(step, numerics=(error,)) for step in trace.steps)
    finding = one(replace(trace, steps=steps, baselines=()), within_tolerance=True, reference="float64")
    said = "RuntimeError: it failed. … RuntimeError: bad shape"
    assert (finding.outcome, finding.evidence[0]) == ("cannot tell", f"forward after step 10: {said}")


def test_tolerances_are_torchs_own() -> None:
    assert outcome(settled_trace(), within_tolerance=True) == "failed"
    assert outcome(changed(10, numerics=small_trace().steps[0].numerics), within_tolerance=True) == "ok"


@pytest.mark.parametrize("broken", [OutputError("0", nan, nan, nan, 0, False), OutputError("0", 0, 0, 0, 1, False)])
def test_numbers_that_are_none_are_beyond_every_limit(broken: OutputError) -> None:
    assert outcome(changed(10, numerics=(Numerics("eager", (broken,)),)), max_error=1e9) == "failed"


def test_the_worst_of_several_inputs_counts() -> None:
    fine = Numerics("eager", (OutputError("0", 0.0, 0.0, 200.0, 0, True),))
    lucky = replace(fine, outputs=(OutputError("0", 0.5, 0.5, 10.0, 0, False),), inputs="normal")
    finding = one(changed(10, numerics=(fine, lucky)), max_error=0.1)
    assert finding.evidence[0] == (
        "forward after step 10, output 0 (normal inputs): max abs 0.5, max rel 0.5, past torch's tolerances"
    )


def test_measurement_before_a_later_pass_does_not_count() -> None:
    late = changed(10, graph=small_trace().steps[0].graph, latency=())
    assert outcome(late, max_error=1.0) == "cannot tell"
    assert outcome(late, no_slower=True) == "cannot tell"


@pytest.mark.parametrize(
    ("fold", "expected"),
    [
        ("conv_bn", "ok"),
        ("conv_bn=1", "ok"),
        ("conv_bn=2", "failed"),
        ("conv_bn=0", "failed"),
        ("conv_bn:all", "ok"),
        ("conv_add", "failed"),
        ("conv_add=0", "ok"),
        ("conv_add:all", "failed"),
        ("linear_bn", "failed"),
        ("linear_bn:all", "failed"),
    ],
)
def test_folds_are_counted(fold: str, expected: str) -> None:
    assert outcome(small_trace(), expect_folded=fold) == expected


def test_a_missing_fold_says_why_and_where() -> None:
    assert one(small_trace(), expect_folded=("conv_add:all",)) == fe.Finding(
        "expect_folded",
        "conv_add folded wherever possible",
        "failed",
        "conv_add: 0 folded, 1 could have been and were not.",
        (
            "%sum next to %y, step 9, FoldFrozenConvAddOrSub (forward, round 1): operand_not_constant",
            "  %seen.1 is written by aten::add_, so it is not a constant.",
            *(f"  at {line}" for line in sum_source()),
        ),
        "Add a constant instead of the counter.",
    )
    assert one(small_trace(), expect_folded="linear_bn").evidence == (
        "nothing was seen that could be folded so; folds of this freeze: conv_bn (1)",
    )


def test_inductors_batch_norms_are_expected_as_what_they_are_taken_apart_into() -> None:
    compiled = replace(small_trace(), backend="inductor", near_misses=())
    finding = one(compiled, expect_folded="linear_bn")
    assert finding.remedy.endswith("expect linear_mul and linear_add.")
    assert one(small_trace(), expect_folded="linear_bn").remedy == ""


def sum_source() -> tuple[str, ...]:
    """Where the tiny model adds, as the trace has it."""
    trace = small_trace()
    source = next(node.source for node in trace.steps[9].graph.walk() if node.id == "sum")
    if source is None:
        return ()
    (kept,) = trace.sources
    return (f"{source.file}:{source.line}: {kept.lines[source.line - kept.first_line].strip()}",)


def test_a_preserved_attribute_comes_with_the_write_and_its_line() -> None:
    finding = one(small_trace(), no_preserved=())
    assert (finding.outcome, finding.message) == ("failed", "1 attribute is preserved.")
    (kept,) = small_trace().sources
    assert finding.evidence == (
        "count: preserved (mutated_in_place)",
        "  aten::add_: attribute: count in %count has inplace writer",
        f"  at {kept.file}:4: {kept.lines[4 - kept.first_line].strip()}",
        "  through %seen (aten::view), %count (prim::GetAttr)",
    )
    assert finding.remedy == small_trace().attribute("count").advice


def test_several_pieces_of_advice_are_kept_apart() -> None:
    count = small_trace().attribute("count")
    assert count is not None
    fates = tuple(replace(count, path=name, advice=f"leave {name} alone") for name in "ab")
    finding = one(replace(small_trace(), attributes=fates), no_preserved=())
    assert finding.remedy == "leave a alone; leave b alone"


@pytest.mark.parametrize(
    ("patterns", "outcomes"),
    [
        ("block.*", ["ok"]),
        (("block.*", "meta*"), ["ok", "failed"]),  # asked for, and yet named here
        ("layer*", ["cannot tell"]),  # a name that nothing has proves nothing
    ],
)
def test_patterns_say_what_must_not_be_preserved(patterns: Any, outcomes: list[str]) -> None:
    findings = fe.Expectations(no_preserved=patterns).evaluate(small_trace())
    assert [finding.outcome for finding in findings] == outcomes


def test_a_submodule_counts_only_where_nothing_in_it_does() -> None:
    assert one(small_trace(), no_preserved="meta*").message == "1 attribute is preserved."
    assert one(small_trace(), no_preserved="meta").evidence[0] == "meta: preserved (ancestor_of_requested)"


def test_preserved_expectation_names_missing_attributes() -> None:
    assert outcome(small_trace(), expect_preserved="meta.version") == "ok"
    assert one(small_trace(), expect_preserved="lable") == fe.Finding(
        "expect_preserved",
        "lable preserved",
        "failed",
        "The module that was frozen has no attribute lable.",
        (),
        "There is label.",
    )
    lost = one(small_trace(), expect_preserved="block.bn*")
    assert (lost.outcome, lost.evidence[0]) == ("failed", "block.bn.weight: folded")
    assert outcome(replace(small_trace(), attributes=()), expect_preserved="a") == "cannot tell"


@pytest.mark.parametrize(("limit", "expected"), [(1.02, "ok"), (0.92, "failed"), (0.97, "cannot tell")])
def test_a_ratio_is_judged_by_its_interval(limit: float, expected: str) -> None:
    assert outcome(small_trace(), max_latency_ratio=limit) == expected  # 0.97 (0.93-1.01)


def test_a_ratio_names_the_passes_that_made_it_slower() -> None:
    (latency,) = small_trace().steps[10].latency
    worse = Interval(1.3, 1.2, 1.4)
    slow = replace(latency, ratio=worse, verdict="slower", previous=worse, change="slower", notes=("noisy",))
    finding = one(changed(10, latency=(slow,)), no_slower=True)
    assert (finding.outcome, finding.message) == (
        "failed",
        "It takes 30% more time than the first step (20 to 40%) on cpu: slower.",
    )
    assert finding.evidence == (
        "forward after step 10 on cpu: 30% more time (20 to 40%), 0.079 ms (0.0775–0.0813)",
        "  noisy",
        "slower since step 10, FoldFrozenConvBatchnorm: 30% more time than before it (20 to 40%)",
    )


def test_run_too_short_to_show_a_difference_cannot_tell() -> None:
    (latency,) = small_trace().steps[10].latency
    short = replace(latency, notes=("too short: 8 rounds cannot prove a difference among 10 comparisons",))
    assert outcome(small_trace(), no_slower=True) == "ok"
    assert outcome(changed(10, latency=(short,)), no_slower=True) == "cannot tell"
    assert outcome(changed(10, latency=(replace(short, verdict="faster"),)), no_slower=True) == "ok"


def test_a_latency_that_was_not_measured_is_unknown() -> None:
    steps = tuple(replace(step, latency=()) for step in small_trace().steps)
    assert one(replace(small_trace(), steps=steps), no_slower=True).remedy == NO_LATENCY


def test_inductors_result_is_the_compiled_module() -> None:
    compiled = replace(small_trace().baselines[1], name="compiled with freezing")
    trace = replace(settled_trace(), backend="inductor", baselines=(compiled,))
    assert (
        one(trace, max_latency_ratio=2.0)
        .evidence[0]
        .startswith("the model compiled with freezing on cpu: 4% less time")
    )
    assert outcome(trace, max_error=1.0) == "cannot tell"
    assert outcome(replace(trace, baselines=()), max_latency_ratio=2.0) == "cannot tell"


def test_bytes_of_constants() -> None:
    held = small_trace().steps[10].constant_bytes
    assert held > 0
    assert outcome(small_trace(), max_constant_bytes=held) == "ok"
    finding = one(small_trace(), max_constant_bytes=held - 1)
    assert (finding.outcome, finding.message) == ("failed", f"forward holds {held} bytes.")
    unmeasured = changed(10, constant_bytes=0)
    assert one(unmeasured, max_constant_bytes=10**9).remedy == NO_MEMORY


def test_saving() -> None:
    assert one(small_trace(), saves=True).evidence == ("RuntimeError: could not export Python function call",)
    good = replace(small_trace(), memory=MemoryLedger(file_after_bytes=2048, saves=True))
    assert one(good, saves=True).message == "Saved and loaded, it runs and gives the same (2,048 bytes)."
    untried = replace(small_trace(), memory=MemoryLedger(message="There are no inputs."))
    assert (outcome(untried, saves=True), one(untried, saves=True).message) == ("cannot tell", "There are no inputs.")
    assert one(untried, saves=True).remedy == ""  # memory was measured, and what stopped it is told
    missing = one(replace(small_trace(), memory=None), saves=True)
    assert (missing.outcome, missing.remedy) == ("cannot tell", NO_MEMORY)


def test_checks_pass_only_where_they_were_made() -> None:
    checks = (Check("determinism", "passed", "Same."), Check("idempotence", "unknown", "Not run."))
    trace = replace(small_trace(), checks=(*small_trace().checks, *checks))
    findings = fe.Expectations(no_failed_checks=True).evaluate(trace)
    assert [(finding.expected, finding.outcome) for finding in findings] == [
        ("the check round_trip passes", "failed"),
        ("the check determinism passes", "ok"),
        ("the check idempotence passes", "cannot tell"),
    ]
    assert outcome(replace(trace, checks=()), no_failed_checks=True) == "cannot tell"


def test_notices() -> None:
    assert one(small_trace(), no_notices="device_baked_in").evidence == (
        f"{FOLD}: The constant %weight_fused_bn lives on cpu.",
    )
    assert outcome(small_trace(), no_notices=("graph_break",)) == "ok"


def test_unknown_fold_kind_cannot_tell() -> None:
    misspelt = one(small_trace(), expect_folded="conv_bm=0")
    assert (misspelt.outcome, misspelt.message) == (
        "cannot tell",
        "conv_bm: 0 folded, 0 could have been and were not.",
    )
    assert misspelt.remedy.startswith("No fold is called conv_bm. Did you mean conv_bn")
    assert one(small_trace(), expect_folded="conv_bm").remedy == misspelt.remedy
    assert outcome(small_trace(), expect_folded="concat_linear=0") == "ok"
    assert outcome(small_trace(), expect_folded="anything=0") == "cannot tell"
    by_pattern = replace(small_trace(), backend="inductor")
    assert outcome(by_pattern, expect_folded="anything=0") == "ok"
    assert outcome(by_pattern, expect_folded="conv_bm=0") == "cannot tell"


def test_a_freeze_that_failed_decides_nothing() -> None:
    failed, *others = fe.Expectations(no_preserved=(), max_error=1.0, saves=True).evaluate(failed_trace())
    assert (failed.name, failed.outcome) == ("freeze", "failed")
    assert failed.message == "It failed in freeze_module, AttributePropagation of forward."
    assert [finding.outcome for finding in others] == ["cannot tell"] * 3
    assert [finding.name for finding in fe.Expectations().evaluate(empty_trace())] == ["freeze"]


def test_a_death_while_measuring_leaves_the_fates() -> None:
    died = Failure("SIGSEGV", "the process died", "measure", "latency: step 3", None, None)
    trace = replace(small_trace(), failure=died)
    assert outcome(trace, expect_folded="conv_bn") == "ok"


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ({"max_error": -1.0}, "max_error=-1.0 is not a limit"),
        ({"max_error": nan}, "max_error=nan is not a limit"),
        ({"max_constant_bytes": -1}, "max_constant_bytes=-1 is not a limit"),
        ({"reference": "double"}, "reference='double' is not known"),
        ({"expect_folded": "conv_bn=many"}, "'conv_bn=many' is not an expectation of a fold"),
        ({"expect_folded": ("conv_bn:none",)}, "'conv_bn:none' is not an expectation of a fold"),
        ({"no_notices": "graph_brake"}, r"no notice 'graph_brake'\. Did you mean graph_break\? The codes are cache_"),
        ({"no_notices": ("graph_break", "")}, r"no notice ''\. The codes are cache_bypassed, "),
    ],
)
def test_expectations_that_nothing_could_meet_are_refused(expected: dict[str, Any], said: str) -> None:
    with pytest.raises(fe.FreezerError, match=said):
        fe.Expectations(**expected)


def test_only_what_is_asked_about_is_measured() -> None:
    assert fe.Expectations(no_preserved=()).measure() is None
    assert fe.Expectations(max_error=1.0).measure() == fe.Measure(
        latency=False, numerics=True, memory=False, runtime=False
    )
    assert fe.Expectations(no_slower=True, saves=True).measure() == fe.Measure(
        latency=True, numerics=False, memory=True, runtime=False
    )


def test_an_expectation_of_nothing_is_empty() -> None:
    assert fe.Expectations().empty
    assert fe.Expectations(reference="float64").empty
    assert not fe.Expectations(no_preserved=()).empty
    assert not fe.Expectations(max_error=0.0).empty


def test_findings_read_as_text() -> None:
    text = list(findings_text(fe.Expectations(expect_folded="conv_add").evaluate(small_trace())))
    assert text[:2] == ["failed: conv_add folded", "  conv_add: 0 folded, 1 could have been and were not."]
    assert text[-1] == "  → Add a constant instead of the counter."
