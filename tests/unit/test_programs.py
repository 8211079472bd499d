"""What Inductor generated with freezing against without, on hand-built traces."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import freeze_engine as fe
from freeze_engine.analysis import FreezingLoss, compare_programs, freezing_losses, group_times_ns, lost_groups
from freeze_engine.analysis.kernel_comparison import KernelGroup, PassDifference
from freeze_engine.trace import Baseline, Claim, Interval, Kernel, Latency, Program, ProgramPass, Step, Trace
from tests.builders import empty_trace
from viewer.text.stats import stats_text

FROZEN = (
    Kernel("cpp_fused_relu_0", "cpp", ("fn",), ("conv", "relu"), time_ns=Interval(30.0, 20.0, 40.0)),
    Kernel("torch.ops.mkldnn._convolution_pointwise.default", "extern", ("fn",), ("conv", "relu")),
    Kernel("cpp_fused_mean_1", "cpp", ("mean",), ("mean",), time_ns=Interval(50.0, 45.0, 55.0)),
    Kernel("cpp_fused_2", "cpp", ("copy",), (), time_ns=Interval(9.0, 8.0, 10.0)),
)
UNFROZEN = (
    Kernel("extern_kernels.convolution", "extern", (), ("conv",), time_ns=Interval(100.0, 90.0, 110.0)),
    Kernel("cpp_fused_relu_0", "cpp", (), ("bn", "relu"), time_ns=Interval(20.0, 10.0, 25.0)),
    Kernel("cpp_fused_mean_4", "cpp", (), ("mean",), time_ns=Interval(40.0, 35.0, 44.0)),
    Kernel("extern_kernels.sort", "extern", (), ("sort",), time_ns=Interval(5.0, 4.0, 6.0)),
)
PASSES = (
    ProgramPass("joint_graph", "remove_noop_ops", 4, False),
    ProgramPass("joint_graph", "remove_noop_ops", 3, True),
    ProgramPass("post_grad", "view_to_reshape", 3, True),
)


def _latency(median_ns: float, ratio: Interval | None) -> tuple[Latency, ...]:
    verdict: Claim | Literal["baseline"] = "baseline" if ratio is None else "no measurable difference"
    interval = Interval(median_ns, median_ns, median_ns)
    return (Latency("cpu", 1, (), 9, interval, ratio, verdict),)


def _trace() -> Trace:
    whole = empty_trace()
    graph = fe.GraphSnapshot((), (), ())
    steps = (
        Step(0, "joint_graph", "remove_noop_ops", "forward", graph, True),
        Step(1, "freezing_passes", "constant_fold", "forward", graph, True),
        Step(2, "post_grad", "view_to_reshape", "forward", graph, False),
    )
    programs = (
        Program("compiled with freezing", "forward", FROZEN),
        Program("compiled", "forward", UNFROZEN, passes=PASSES),
    )
    return replace(whole, backend="inductor", steps=steps, programs=programs)


def _timed(frozen: Interval | None, unfrozen: Interval | None) -> Trace:
    baselines = (
        Baseline("compiled", _latency(10.0, unfrozen)),
        Baseline("compiled with freezing", _latency(20.0, frozen)),
    )
    return replace(_trace(), baselines=baselines)


def test_kernels_are_lined_up_by_the_nodes_they_come_from():
    (comparison,) = compare_programs(_trace())
    assert comparison.groups == (
        KernelGroup((0, 1), (0, 1), "different"),
        KernelGroup((2,), (2,), "same"),
        KernelGroup((3,), (), "only with freezing"),
        KernelGroup((), (3,), "only without freezing"),
    )


def test_kernels_without_origins_are_lined_up_by_their_names():
    ours = Program(
        "compiled with freezing", "forward", (Kernel("cpp_fused_2", "cpp"), Kernel("cpp_fused_add_3", "cpp"))
    )
    theirs = Program("compiled", "forward", (Kernel("cpp_fused_0", "cpp"), Kernel("extern_kernels.add", "extern")))
    (comparison,) = compare_programs(replace(_trace(), programs=(ours, theirs)))
    assert comparison.groups == (
        KernelGroup((0,), (0,), "same"),
        KernelGroup((1,), (), "only with freezing"),
        KernelGroup((), (1,), "only without freezing"),
    )


def test_passes_that_had_an_effect_in_one_compile_only():
    (comparison,) = compare_programs(_trace())
    assert comparison.passes == (
        PassDifference("freezing_passes", "constant_fold", "changed the graph", "not run"),
        PassDifference("post_grad", "view_to_reshape", "without effect", "changed the graph"),
    )


def test_nothing_is_known_of_passes_that_were_not_seen():
    trace = _trace()
    unseen = tuple(replace(program, passes=()) for program in trace.programs)
    (comparison,) = compare_programs(replace(trace, programs=unseen))
    assert comparison.passes == ()


def test_one_program_alone_is_compared_with_nothing():
    assert compare_programs(empty_trace()) == ()
    assert compare_programs(replace(_trace(), programs=_trace().programs[:1])) == ()
    other = replace(_trace().programs[1], method="forward, recompiled")
    assert compare_programs(replace(_trace(), programs=(_trace().programs[0], other))) == ()


def test_groups_that_take_longer_with_freezing_the_worst_first():
    (comparison,) = compare_programs(_trace())
    assert lost_groups(comparison) == (
        KernelGroup((2,), (2,), "same"),
        KernelGroup((3,), (), "only with freezing"),
    )
    # One kernel of the first group was not timed, so nothing is known of it.
    assert group_times_ns(comparison, comparison.groups[0]) == (None, Interval(120.0, 100.0, 135.0))


def test_freezing_lost_only_where_the_intervals_have_nothing_in_common():
    one = Interval(1.0, 0.9, 1.1)
    assert freezing_losses(_timed(Interval(1.5, 1.0, 2.0), one)) == ()
    assert freezing_losses(_timed(one, Interval(1.5, 1.2, 2.0))) == ()
    (loss,) = freezing_losses(_timed(Interval(1.5, 1.2, 2.0), None))
    assert loss == FreezingLoss("cpu", Interval(1.5, 1.2, 2.0))
    assert freezing_losses(_trace()) == ()


def test_stats_tell_the_kernels_and_where_freezing_lost():
    text = stats_text(_timed(Interval(3.0, 2.4, 3.3), Interval(2.0, 1.8, 2.2)))
    section = text[text.index("Kernels, compiled with freezing") : text.index("Kernels, compiled,")]
    assert [line.split()[:2] for line in section.splitlines() if line.startswith("  ")] == [
        ["#", "kernel"],
        ["2", "cpp_fused_mean_1"],
        ["0", "cpp_fused_relu_0"],
        ["3", "cpp_fused_2"],
        ["…", "and"],
    ]
    told = text[text.index("With freezing against without") :].splitlines()[:6]
    assert told == [
        "With freezing against without",
        "  slower: compiled with freezing takes 50% more time than compiled without it (9 to 83%) on cpu; the kernels "
        "and passes below differ",
        "  4 kernels with freezing, 4 without; by the work they do: 1 the same, 1 differ, 1 only with freezing, 1 only "
        "without",
        "    takes longer: cpp_fused_mean_1 (50.0 ns) instead of cpp_fused_mean_4 (40.0 ns)",
        "    takes longer: cpp_fused_2 (9.00 ns), only with freezing",
        "    passes with an effect only with freezing: constant_fold",
    ]


def test_kernels_that_were_not_timed_are_shown_as_they_are_called():
    untimed = Program("compiled with freezing", "forward", tuple(replace(each, time_ns=None) for each in FROZEN))
    text = stats_text(replace(_trace(), programs=(untimed,)))
    assert "Kernels, compiled with freezing, as called" in text
    assert "With freezing against without" not in text
