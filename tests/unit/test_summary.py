"""The summary of a trace: facts, sentence, actions, passes."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

import freeze_engine as fe
from freeze_engine.analysis.name_texts import alike_listed
from freeze_engine.analysis.summary.action import AIMS
from freeze_engine.analysis.summary.facts import FrozenFact
from freeze_engine.analysis.summary.passes import pass_effects
from freeze_engine.analysis.summary.sentence import ratio_words, sentence
from freeze_engine.trace import (
    AttributeFate,
    Baseline,
    Claim,
    Contribution,
    Evidence,
    Failure,
    Interval,
    Latency,
    NearMiss,
    Notice,
    Payoff,
    SourceRef,
    Trace,
)
from tests.builders import empty_trace, failed_trace, small_trace, tied_trace


def quiet(trace: Trace) -> Trace:
    """The trace without what asks for an action."""
    kept = tuple(replace(fate, advice="") for fate in trace.attributes)
    return replace(trace, attributes=kept, near_misses=(), notices=(), ablation=(), checks=())


def timed(value: float, verdict: str, reach: float = 0.02) -> Latency:
    ratio = Interval(value, value - reach, value + reach)
    return Latency("cpu", 900, (), 40, Interval(90.0, 89.0, 91.0), ratio, verdict)  # type: ignore[arg-type]


def with_final_latency(trace: Trace, *latency: Latency) -> Trace:
    """The trace with a latency of the last step of forward."""
    last = trace.final("forward")
    assert last is not None
    steps = [replace(step, latency=latency) if step.index == last.index else step for step in trace.steps]
    return replace(trace, steps=tuple(steps))


def with_baselines(trace: Trace, **ratios: Latency) -> Trace:
    names = {"frozen": "compiled with freezing", "unfrozen": "compiled", "eager": "eager"}
    baselines = tuple(Baseline(names[name], (latency,)) for name, latency in ratios.items())
    return replace(trace, backend="inductor", baselines=baselines, attributes=(), ablation=())


def test_of_many_times_and_errors_the_worst_are_named_and_the_others_counted():
    trace, devices = small_trace(), 12
    slower = {7: "slower", 9: "slower"}
    times = tuple(
        replace(timed(1.2 if number in slower else 0.9, slower.get(number, "faster")), device=f"cuda:{number}")
        for number in range(devices)
    )
    said = fe.summarize(with_final_latency(trace, *times)).sentence
    assert "more time per call than before freezing on cuda:7 (" in said
    assert said.index("cuda:9") < said.index("cuda:0")
    assert "; 8 more times, none of them slower; " in said
    exact, wrong = trace.steps[0].numerics, trace.steps[8].numerics
    steps = tuple(
        replace(
            trace.steps[0], index=number, method=f"part{number}", numerics=exact if number < 6 else wrong, latency=()
        )
        for number in range(devices)
    )
    said = fe.summarize(replace(trace, steps=steps, attributes=())).sentence
    assert "outputs of part6 differ from eager by up to 3.0e-04" in said
    assert said.partition("; 8 more methods, 2 of them past torch's tolerances")[1]


def test_the_sentence_says_what_froze_how_fast_how_exact_and_what_stays():
    trace = replace(with_final_latency(small_trace(), timed(0.92, "faster")), checks=())
    assert fe.summarize(trace).sentence == (
        "2 of 4 weights and buffers are frozen (1 unused one is removed); 8% less time per call than before freezing "
        "(6 to 10%); outputs differ from eager by up to 3.0e-04, past torch's tolerances since step 8, "
        "FoldFrozenConvBatchnorm; 1 buffer stays because line 4 of model.py writes it."
    )


def test_a_failed_check_is_in_the_sentence():
    assert "; the check 'round trip' failed." in fe.summarize(small_trace()).sentence


def test_sentence_contains_unmeasured_parts_with_their_cause():
    plain = tuple(replace(step, latency=(), numerics=()) for step in small_trace().steps)
    without = replace(small_trace(), steps=plain, baselines=(), call="freezer-ui record", inputs=())
    assert "time and outputs not measured: recorded without inputs" in fe.summarize(without).sentence
    refused = Notice("nothing_ran", "Nothing was measured: the model does not run on the inputs (ValueError: no mask).")
    told = fe.summarize(replace(without, notices=(refused,))).sentence
    assert "time and outputs not measured: ValueError: no mask" in told


def test_a_failed_freeze_says_so_first_and_what_is_not_known():
    said = fe.summarize(failed_trace()).sentence
    assert said.startswith("The freeze failed in AttributePropagation: attempted to freeze ")
    assert said.endswith(
        "Until then 2 passes were recorded, of which 1 changed the graph; "
        "what became of the weights and buffers is not known."
    )


def test_a_freeze_that_failed_before_its_first_pass_counts_none():
    early = replace(failed_trace(), steps=failed_trace().steps[:1])
    assert ". No pass was recorded before it; what became" in fe.summarize(early).sentence


def test_a_recording_cancelled_while_measuring_keeps_the_verdict_on_the_weights():
    ended = Failure("cancelled", "cancelled", "measure", "latency", None, 11)
    plain = tuple(replace(step, latency=(), numerics=()) for step in small_trace().steps)
    said = fe.summarize(replace(quiet(small_trace()), steps=plain, baselines=(), failure=ended)).sentence
    assert said.startswith("The recording was cancelled while latency. 2 of 4 weights and buffers are frozen")
    assert "time and outputs not measured: the recording ended before it" in said


def test_an_empty_recording_says_that_nothing_was_frozen():
    summary = fe.summarize(empty_trace())
    assert summary == fe.Summary("Nothing was frozen: this recording has no pass.", None, (), (), (), (), (), None)


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        (FrozenFact(12, 12, 0, 0), "All 12 weights and buffers are frozen"),
        (FrozenFact(1, 0, 1, 0), "The only weight or buffer is not frozen"),
        (FrozenFact(1, 0, 0, 1), "The only weight or buffer is unused and removed"),
        (FrozenFact(373, 320, 0, 53), "All 320 weights and buffers in use are frozen (53 unused ones are removed)"),
        (FrozenFact(1, 1, 0, 0), "The only weight or buffer in use is frozen"),
        (FrozenFact(3, 0, 3, 0), "None of the 3 weights and buffers is frozen"),
        (FrozenFact(3, 1, 2, 0), "1 of 3 weights and buffers is frozen"),
        (FrozenFact(0, 0, 0, 0), "The model has no weights or buffers"),
    ],
)
def test_counts_in_words(fact, words):
    assert sentence(quiet(small_trace()), fact, (), (), ()).partition(";")[0] == words


@pytest.mark.parametrize(
    ("ratio", "claim", "words"),
    [
        (Interval(0.92, 0.90, 0.94), "faster", "8% less time per call (6 to 10%)"),
        (Interval(1.12, 1.09, 1.14), "slower", "12% more time per call (9 to 14%)"),
        (Interval(0.996, 0.992, 1.0), "faster", "0.4% less time per call (0 to 0.8%)"),
        (Interval(2.5, 2.25, 3.0), "slower", "2.5 times the time per call (2.2 to 3.0)"),
        (
            Interval(1.0, 0.9, 1.1),
            "no measurable difference",
            "no measurable difference in time (one of 6% or more would have shown)",
        ),
    ],
)
def test_ratios_in_words(ratio, claim, words):
    assert ratio_words(ratio, claim, 0.06) == words


def test_rounds_that_differ_too_much_leave_the_effect_on_time_unknown():
    nothing: Claim = "no measurable difference"
    noise = "the rounds differ too much to tell, as on a busy machine"
    assert ratio_words(Interval(1.0, 0.2, 9.0), nothing, 1.5) == f"the effect on the time is not known ({noise})"
    assert ratio_words(Interval(1.0, 0.2, 9.0), nothing, inf).endswith("is not known (too few rounds)")
    trace = small_trace()
    steps = tuple(
        replace(
            step,
            latency=tuple(
                replace(each, device="cuda:0", ratio=each.ratio and Interval(1.0, 0.1, 9.0), verdict=nothing)
                for each in step.latency
                if each.ratio
            ),
        )
        for step in trace.steps
    )
    text = fe.summarize(replace(trace, steps=steps)).sentence
    assert f"the effect on the time on cuda:0 is not known ({noise})" in text
    assert "no measurable difference" not in text


def test_comparisons_that_failed_are_the_reason_that_outputs_are_not_compared():
    trace = small_trace()
    steps = tuple(
        replace(step, numerics=tuple(replace(each, outputs=(), error="RuntimeError: boom") for each in step.numerics))
        for step in trace.steps
    )
    text = fe.summarize(replace(trace, steps=steps)).sentence
    assert "outputs not compared with eager: every comparison failed (RuntimeError: boom)" in text


def test_inductor_is_compared_with_the_model_compiled_without_freezing():
    both = with_baselines(small_trace(), frozen=timed(0.48, "faster"), unfrozen=timed(0.5, "faster"))
    (fact,) = fe.summarize(both).times
    assert (fact.against, fact.claim) == ("compiled without freezing", "no measurable difference")
    said = "no measurable difference in time from the model compiled without freezing (one of "
    assert said in fe.summarize(both).sentence
    apart = with_baselines(small_trace(), frozen=timed(0.4, "faster", 0.01), unfrozen=timed(0.5, "faster", 0.01))
    (fact,) = fe.summarize(apart).times
    assert (fact.claim, round(fact.ratio.value, 3)) == ("faster", 0.8)
    assert "20% less time per call than compiled without freezing (16 to 24%)" in fe.summarize(apart).sentence


def test_inductor_is_compared_with_eager_if_only_that_was_measured():
    trace = with_baselines(small_trace(), frozen=timed(0.5, "faster"), eager=timed(1.0, "no measurable difference"))
    (fact,) = fe.summarize(trace).times
    assert (fact.against, fact.claim) == ("eager", "faster")


def test_kept_attributes_are_grouped_and_those_on_request_come_last():
    line = SourceRef("net/model.py", 7)
    written = Evidence("it is written", source=line)
    kept = [
        AttributeFate("a", "buffer", "Tensor", (1,), "float32", 4, "preserved", "mutated_in_place", (written,)),
        AttributeFate("b", "buffer", "Tensor", (9,), "float32", 36, "preserved", "mutated_in_place", (written,)),
        AttributeFate("c", "parameter", "Tensor", (99,), "float32", 396, "preserved", "requested"),
    ]
    trace = replace(quiet(small_trace()), attributes=tuple(kept))
    first, last = fe.summarize(trace).kept
    assert (first.paths, first.source, first.nbytes) == (("b", "a"), line, 40)
    assert (last.paths, last.is_requested) == (("c",), True)
    assert "; 3 attributes stay, 2 of them because line 7 of model.py writes them." in fe.summarize(trace).sentence
    both = fe.summarize(replace(trace, attributes=tuple(kept[:2]))).sentence
    assert both.endswith("; 2 buffers stay because line 7 of model.py writes them.")


def test_layers_of_a_stack_stand_as_one_in_a_title():
    weights = [f"encoder.layers.{layer}.attention.weight" for layer in range(48)]
    assert alike_listed(weights) == "encoder.layers.*.attention.weight (48)"
    assert alike_listed([*weights[:2], "encoder.norm.0.bias"]) == (
        "encoder.layers.*.attention.weight (2), encoder.norm.0.bias"
    )
    one = alike_listed([".".join(["a_module_with_a_long_name"] * 9) + ".bias"])
    assert (len(one), one[0], one[-5:]) == (60, "…", ".bias")
    assert alike_listed(f"a{each}" for each in range(9)) == "a0, a1, a2, a3 and 5 more"


def test_actions_are_in_the_order_of_their_aims_and_at_most_three():
    found = fe.summarize(small_trace()).actions
    assert [action.aim for action in found] == sorted((action.aim for action in found), key=AIMS.index)
    assert len(found) == 3
    tolerance = found[0]
    assert tolerance.title == "Bring the outputs back within tolerance"
    assert tolerance.fix == "Record with --without FoldFrozenConvBatchnorm."
    assert (tolerance.step, tolerance.gain) == (
        8,
        "the error without this pass was not measured (--ablation measures it)",
    )
    assert [action.title for action in found[1:]] == [
        "Make the traced code independent of the values",
        "Let count freeze",
    ]


def test_no_action_is_invented():
    exact = [replace(step, numerics=()) for step in small_trace().steps]
    assert fe.summarize(replace(quiet(small_trace()), steps=tuple(exact))).actions == ()


def test_a_near_miss_without_advice_and_an_attribute_kept_on_request_give_no_action():
    trace = quiet(small_trace())
    miss = NearMiss(9, "conv_add", "sum", "y", "unknown", "No condition of torch explains it.")
    exact = tuple(replace(step, numerics=()) for step in trace.steps)
    assert fe.summarize(replace(trace, near_misses=(miss,), steps=exact)).actions == ()


def test_alike_near_misses_are_one_action_with_their_bytes_added():
    trace = tied_trace()
    again = replace(trace.near_misses[0], node="z", saved_bytes=4096)
    found = fe.summarize(replace(trace, near_misses=(*trace.near_misses, again))).actions
    (fold,) = [action for action in found if "fold" in action.title]
    assert (fold.title, fold.node) == ("Let torch fold the addition into the convolution at 2 places", "z")
    assert fold.gain == "each call would read and write 5.00 KiB less; the effect on time is not known"


@pytest.mark.parametrize(
    ("nbytes", "order"), [(10**3, ("counts", "fold")), (10**5, ("fold", "counts")), (10**7, ("fold",))]
)
def test_next_to_nothing_comes_last_or_is_left_out(nbytes, order):
    trace = tied_trace()
    miss = replace(trace.near_misses[0], saved_bytes=None)
    weight = AttributeFate("weight", "parameter", "Tensor", (nbytes // 4,), "float32", nbytes, "inlined")
    sixteen = replace(kept("counts", 16, "mutated_in_place", 2), advice="do not write it")
    steps = tuple(replace(step, latency=(), numerics=()) for step in trace.steps)
    trace = replace(quiet(trace), near_misses=(miss,), attributes=(weight, sixteen), steps=steps)
    titles = {"counts": "Let counts freeze", "fold": "Let torch fold the addition into the convolution"}
    assert [action.title for action in fe.summarize(trace).actions] == [titles[each] for each in order]


def kept(path, nbytes, reason, line):
    evidence = Evidence("a fact", "forward", 0, None, "aten::add_", SourceRef("model.py", line))
    shape = (nbytes // 4,)
    return AttributeFate(path, "buffer", "Tensor", shape, "float32", nbytes, "preserved", reason, (evidence,))


def test_an_attribute_that_stays_for_another_comes_after_that_one():
    fates = (kept("larger", 8, "aliases_preserved", 1), kept("written", 4, "mutated_in_place", 2))
    facts = fe.summarize(replace(small_trace(), attributes=fates)).kept
    assert [fact.paths for fact in facts] == [("written",), ("larger",)]


def test_weights_in_packed_objects_are_counted_as_such():
    kind = "__torch__.torch.classes.quantized.LinearPackedParamsBase"
    packed = tuple(AttributeFate(f"l{n}._packed_params", "attribute", kind, None, None, 0, "inlined") for n in "12")
    said = fe.summarize(replace(quiet(small_trace()), attributes=packed)).sentence
    assert said.startswith("The model's weights are in 2 packed objects, of which 2 are frozen")


def test_a_near_miss_that_torch_never_folds_is_merged_by_hand():
    trace = tied_trace()
    miss = replace(trace.near_misses[0], kind="linear_mul", reason="no_such_fold", advice="merge it")
    titles = [action.title for action in fe.summarize(replace(trace, near_misses=(miss,))).actions]
    assert "Merge the multiplication into the linear" in titles


@pytest.mark.parametrize(("backend", "expected"), [("torchscript", True), ("inductor", False)])
def test_a_pass_of_inductor_that_only_noted_facts_at_nodes_did_not_matter(backend, expected):
    trace = replace(small_trace(), backend=backend)
    metrics = list(fe.step_metrics(trace))
    metrics[11] = replace(metrics[11], changed=2, latency_changes=(), past_tolerance=())
    assert (11 in [effects.step for effects in pass_effects(trace, metrics)]) == expected


def test_a_dropout_that_still_drops_is_no_matter_of_speed():
    trace = tied_trace()
    miss = replace(trace.near_misses[0], kind="dropout", reason="training_mode", advice="call eval()", saved_bytes=None)
    found = fe.summarize(replace(trace, near_misses=(miss, replace(miss, node="z")))).actions
    (action,) = [action for action in found if "dropout" in action.title]
    assert (action.aim, action.title, action.gain) == (
        "correct",
        "Stop the dropout in the frozen model at 2 places",
        "the same outputs at each call",
    )


def test_the_evidence_for_a_kept_attribute_names_line_and_code():
    (action,) = [action for action in fe.summarize(small_trace()).actions if action.attribute == "count"]
    assert action.evidence.startswith("count stays because line 4 of model.py writes it: ")
    assert action.source == SourceRef(action.source.file if action.source else "", 4, 8)
    assert action.gain == "4 B would become constant; the effect on time is not known"


def test_ablation_gives_the_gain_of_disabling_a_pass():
    payoff = Payoff("cpu", Interval(1.25, 1.2, 1.3), "slower")
    proven = Contribution("optimize_frozen_graph", "FoldFrozenConvBatchnorm", (payoff,), 3e-4, 2e-7, False, True)
    tolerance, _, slower = fe.summarize(replace(small_trace(), ablation=(proven,))).actions
    less = "20% less time per call (17 to 23%)"
    assert tolerance.gain == f"outputs within tolerance without it, error 2.0e-07; {less}"
    assert (slower.title, slower.gain) == ("Leave out FoldFrozenConvBatchnorm", less)


def test_freezing_that_costs_time_is_an_action_with_its_measured_gain():
    trace = with_baselines(quiet(small_trace()), frozen=timed(0.6, "faster", 0.01), unfrozen=timed(0.5, "faster", 0.01))
    first = fe.summarize(replace(trace, steps=trace.steps[:1])).actions[0]
    assert (first.title, first.gain) == ("Compile without freezing", "17% less time per call (14 to 20%)")


@pytest.mark.parametrize(
    ("notice", "title", "fix"),
    [
        (
            Notice("misfold", "torch folded %a, though %b reads it: the results are wrong. Give it .contiguous().", 8),
            "Avoid a fold that gives wrong results",
            "Give it .contiguous().",
        ),
        (
            Notice("recompilation", "Compiled again because a guard failed: x.size(0) == 2", 0),
            "Avoid the second compile",
            "Keep what the guard names the same at each call, or compile with dynamic sizes (--dynamic).",
        ),
        (
            Notice("recompilation", "Compiled again: ___check_obj_id(self._modules['l']._parameters['bias'], 14)", 0),
            "Avoid the second compile",
            "With freezing, the weights of one module are in its code, so each module needs a compile of its own. "
            "Compile what calls all of them at once, for one compile, or compile without freezing, so that they share "
            "one.",
        ),
        (
            Notice("dequantized", "Freezing undid quantisation: step 3. Compile without freezing.", 3),
            "Keep the weights quantised",
            "Compile without freezing.",
        ),
    ],
)
def test_notices_with_a_fix_are_actions(notice, title, fix):
    exact = [replace(step, numerics=()) for step in small_trace().steps]
    trace = replace(quiet(small_trace()), steps=tuple(exact), notices=(notice,))
    (action,) = fe.summarize(trace).actions
    assert (action.title, action.fix, action.step) == (title, fix, notice.step)


@pytest.mark.parametrize("code", ["cache_bypassed", "constants_baked_in", "unusual_setting"])
def test_facts_without_a_fix_are_no_actions(code):
    exact = [replace(step, numerics=()) for step in small_trace().steps]
    told = Notice(code, "It is so. It stays so.")
    assert fe.summarize(replace(quiet(small_trace()), steps=tuple(exact), notices=(told,))).actions == ()


def test_a_limit_that_ended_the_freeze_is_the_first_action():
    ended = Failure("time limit", "it took too long", "freeze_module", "ConstantPropagation", "forward", 3)
    first, *_ = fe.summarize(replace(failed_trace(), failure=ended)).actions
    assert (first.aim, first.fix) == ("finish", "Record again with a larger --limit.")


def test_the_passes_that_mattered_have_what_they_moved_and_one_is_the_main_one():
    summary = fe.summarize(small_trace())
    assert [effects.step for effects in summary.passes] == [2, 4, 5, 6, 8]
    fold = summary.passes[-1]
    assert (fold.error, fold.rewrites, fold.is_past_tolerance) == ((0.0, 3e-4), 1, True)
    assert summary.main_step == 8
    exact = tuple(replace(step, numerics=(), latency=(), rewrites=()) for step in small_trace().steps)
    assert fe.summarize(replace(small_trace(), steps=exact)).main_step not in (None, 2)


def test_times_of_inductors_steps_are_no_effects_since_they_do_not_run_compiled():
    trace = replace(small_trace(), backend="inductor", attributes=(), ablation=())
    assert all(not effects.latency for effects in fe.summarize(trace).passes)


def test_nan_error_counts_as_infinite():
    steps = list(small_trace().steps)
    last = steps[8]
    outputs = tuple(replace(each, max_abs=float("nan"), close=False) for each in last.numerics[0].outputs)
    broken = (replace(last.numerics[0], outputs=outputs),)
    steps = [replace(step, numerics=broken if step.numerics and step.index >= 8 else step.numerics) for step in steps]
    (fact,) = fe.summarize(replace(small_trace(), steps=tuple(steps))).errors
    assert (fact.max_abs, fact.is_close) == (inf, False)
