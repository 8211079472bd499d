"""Which kernel of one recording does the work of which of another, on hand-built traces."""

from __future__ import annotations

from dataclasses import replace

import pytest

import freeze_engine as fe
from freeze_engine.analysis.trace_diff.kernels import KernelMatch, ProgramPair, program_pairs
from freeze_engine.trace import PACKAGED, Interval, Kernel, Latency, Program, Trace
from tests.builders import empty_trace, small_trace
from tests.two_backends import inductor, torchscript

FAST, SLOW = Interval(10.0, 9.0, 11.0), Interval(20.0, 18.0, 22.0)
CONV = Kernel("extern_kernels.convolution", "extern", (), ("conv",), time_ns=FAST)
RELU = Kernel("cpp_fused_relu_0", "cpp", (), ("relu",), time_ns=FAST)
FUSED = Kernel("mkldnn.conv_relu", "extern", (), ("conv", "relu"), time_ns=FAST)
COPY = Kernel("cpp_fused_copy_1", "cpp", (), ("copy",), time_ns=FAST)


def traced(*kernels: Kernel, name: str = "compiled with freezing", first_step_ns: Interval | None = None) -> Trace:
    trace = replace(small_trace(), backend="inductor", programs=(Program(name, "forward", kernels),))
    latency = () if first_step_ns is None else (Latency("cpu", 1, (), 9, first_step_ns, None, "baseline"),)
    steps = (replace(trace.steps[0], latency=latency), *(replace(step, latency=()) for step in trace.steps[1:]))
    return replace(trace, steps=steps)


def matches(before: Trace, after: Trace) -> tuple[KernelMatch, ...]:
    (pair,) = program_pairs(before, after)
    return pair.matches


def test_kernels_stand_beside_those_that_do_the_same_work() -> None:
    both = Interval(20.0, 18.0, 22.0)
    assert matches(traced(RELU, CONV, COPY), traced(COPY, FUSED, replace(RELU, origins=()))) == (
        KernelMatch((0, 1), (1,), "different", both, FAST, Interval(0.5, 9 / 22, 11 / 18)),
        KernelMatch((2,), (0,), "same", FAST, FAST),
        KernelMatch((), (2,), "only in the second", None, FAST),
    )


def test_kernels_that_are_alike_stand_beside_each_other_in_order() -> None:
    found = matches(traced(CONV, CONV, RELU), traced(CONV, CONV))
    assert [(match.before, match.after, match.difference) for match in found] == [
        ((0,), (0,), "same"),
        ((1,), (1,), "same"),
        ((2,), (), "only in the first"),
    ]


def test_kernels_out_of_a_cache_stand_beside_those_of_the_same_name() -> None:
    """Inductor does not tell which nodes a kernel computes whose code comes out of its cache."""
    cold = traced(CONV, RELU, CONV, COPY)
    warm = traced(*(replace(kernel, origins=()) for kernel in (CONV, RELU, CONV, FUSED)))
    expected = [((0,), (0,), "same"), ((1,), (1,), "same"), ((2,), (2,), "same")]
    there, back = matches(cold, warm), matches(warm, cold)
    assert [(match.before, match.after, match.difference) for match in there] == [
        *expected,
        ((3,), (), "only in the first"),
        ((), (3,), "only in the second"),
    ]
    assert [(match.before, match.after, match.difference) for match in back] == [
        *expected,
        ((3,), (), "only in the first"),
        ((), (3,), "only in the second"),
    ]


def test_kernels_of_one_name_for_other_nodes_are_not_the_same() -> None:
    found = matches(traced(RELU), traced(replace(RELU, origins=("other",))))
    assert [match.difference for match in found] == ["only in the first", "only in the second"]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (Interval(10.0, 9.0, 11.0), Interval(11.5, 10.9, 12.0), False),  # the intervals overlap
        (FAST, SLOW, True),
        (SLOW, FAST, True),
        (Interval(10.0, 0.0, 11.0), SLOW, False),  # no bound below
        (None, SLOW, False),
    ],
)
def test_ratio_is_shown_only_beyond_the_noise(before: Interval | None, after: Interval, told: bool) -> None:
    (match,) = matches(traced(replace(CONV, time_ns=before)), traced(replace(CONV, time_ns=after)))
    assert (match.before_ns, match.after_ns, match.ratio is not None) == (before, after, told)


def test_a_machine_that_was_slower_as_a_whole_made_no_kernel_slower() -> None:
    before = traced(CONV, first_step_ns=Interval(100.0, 99.0, 101.0))
    pace = Interval(200.0, 190.0, 210.0)
    (match,) = matches(before, traced(replace(CONV, time_ns=SLOW), first_step_ns=pace))
    assert match.ratio is None
    much_slower = Interval(80.0, 78.0, 82.0)
    (match,) = matches(before, traced(replace(CONV, time_ns=much_slower), first_step_ns=pace))
    assert match.ratio == Interval(8.0, 78.0 / 11.0, 82.0 / 9.0)


def test_paces_on_different_devices_are_not_held_against_each_other() -> None:
    before = traced(CONV, first_step_ns=Interval(100.0, 99.0, 101.0))
    after = traced(replace(CONV, time_ns=SLOW), first_step_ns=Interval(200.0, 190.0, 210.0))
    first = after.steps[0]
    there = replace(first, latency=(replace(first.latency[0], device="cuda:0"),))
    (match,) = matches(before, replace(after, steps=(there, *after.steps[1:])))
    assert match.ratio is not None


def test_a_program_that_one_trace_lacks_has_no_partner() -> None:
    programs = program_pairs(traced(CONV), traced(RELU, name="compiled"))
    assert [(pair.name, pair.before, pair.after, pair.ratio) for pair in programs] == [
        ("compiled with freezing", 0, None, None),
        ("compiled", None, 0, None),
    ]
    assert [pair.matches for pair in programs] == [
        (KernelMatch((0,), (), "only in the first", FAST, None),),
        (KernelMatch((), (0,), "only in the second", None, FAST),),
    ]


def test_all_kernels_together_have_a_ratio_of_their_own() -> None:
    (pair,) = program_pairs(traced(CONV, RELU), traced(replace(CONV, time_ns=SLOW), replace(RELU, time_ns=SLOW)))
    assert pair.ratio == Interval(2.0, 36 / 22, 44 / 18)
    assert program_pairs(traced(), traced()) == (ProgramPair("compiled with freezing", "forward", 0, 0, ()),)


def test_without_programs_there_is_nothing_to_compare() -> None:
    assert program_pairs(empty_trace(), empty_trace()) == ()
    assert program_pairs(torchscript(), inductor()) == ()


def test_kernels_name_the_nodes_of_the_first_trace() -> None:
    """Node ids are a run's own: the diff of two traces gives both the same."""
    before = inductor()
    names = {"convolution": "conv_9", "sub": "sub_9", "mul": "mul_9", "conv_1": "c_9", "conv_2": "d_9"}

    def renamed(node: fe.Node) -> fe.Node:
        name = names[node.id]
        inputs = tuple(names.get(one, one) for one in node.inputs)
        outputs = tuple(replace(value, name=names[value.name]) for value in node.outputs)
        return replace(node, id=name, inputs=inputs, outputs=outputs)

    def other(step: fe.Step) -> fe.Step:
        nodes = tuple(map(renamed, step.graph.nodes))
        graph = replace(step.graph, nodes=nodes, outputs=tuple(names[name] for name in step.graph.outputs))
        rewrites = tuple(
            replace(
                one,
                consumed=tuple(names[name] for name in one.consumed),
                produced=tuple(names[name] for name in one.produced),
            )
            for one in step.rewrites
        )
        return replace(step, graph=graph, rewrites=rewrites)

    ours = Kernel("extern_kernels.convolution", "extern", ("conv_2",), ("convolution", "sub"))
    theirs = replace(ours, nodes=("d_9",), origins=("conv_9", "sub_9", "unknown"))
    after = replace(
        before,
        steps=tuple(map(other, before.steps)),
        programs=(Program("compiled with freezing", "forward", (theirs,), None, (("mul_9", "a view"),)),),
    )
    diff = fe.diff_traces(replace(before, programs=(Program("compiled with freezing", "forward", (ours,)),)), after)
    (program,) = diff.after.programs
    assert program.kernels == (replace(ours, origins=("convolution", "sub", "unknown")),)
    assert program.no_kernel == (("mul", "a view"),)


def test_a_package_stands_beside_the_compile_in_the_process_and_library_kernels_beside_their_operators() -> None:
    linear = Kernel(
        "torch.ops.mkldnn._linear_pointwise.default", "extern", (), ("fc",), ops=("mkldnn._linear_pointwise",)
    )
    packaged = replace(linear, name="aoti_torch_cpu__linear_pointwise")
    of_package = replace(traced(RELU, packaged, name=PACKAGED), backend="aotinductor")
    (pair,) = program_pairs(traced(linear, RELU), of_package)
    assert (pair.name, pair.before, pair.after) == ("compiled with freezing / AOTInductor package", 0, 0)
    assert [(match.before, match.after, match.difference) for match in pair.matches] == [
        ((0,), (1,), "same"),
        ((1,), (0,), "same"),
    ]
