from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from freeze_engine.errors import InvalidTraceError
from freeze_engine.serde import dumps, loads
from freeze_engine.trace import (
    AliasAnalysis,
    Block,
    ChainLink,
    Evidence,
    Failure,
    GraphSnapshot,
    Interval,
    Kernel,
    Location,
    MemoryLedger,
    Node,
    Notice,
    Program,
    Rewrite,
    Step,
    Trace,
    Value,
    Write,
)
from freeze_engine.trace.rules.graphs import MAX_NESTING
from freeze_engine.trace.rules.texts import with_plain_texts
from freeze_engine.trace.validation import check_trace, problems
from tests.builders import empty_trace, failed_trace, node, small_trace, synthetic_trace, traces

SMALL = small_trace()


def of_graph(*nodes: Node, outputs: tuple[str, ...] = ()) -> Trace:
    graph = GraphSnapshot((Value("x", "Tensor"),), nodes, outputs)
    return replace(empty_trace(), steps=(Step(0, "input", "input", "forward", graph, False),))


def with_step(position: int, /, **changes: Any) -> Trace:
    return replace(
        SMALL, steps=tuple(replace(step, **changes) if step.index == position else step for step in SMALL.steps)
    )


def with_fate(path: str, /, **changes: Any) -> Trace:
    fates = tuple(replace(fate, **changes) if fate.path == path else fate for fate in SMALL.attributes)
    return replace(SMALL, attributes=fates)


@pytest.mark.parametrize(
    "trace",
    [SMALL, failed_trace(), empty_trace(), synthetic_trace(500, 6), synthetic_trace(500, 6, "transformer")],
)
def test_the_traces_of_the_tests_are_valid(trace: Trace) -> None:
    check_trace(trace)


@given(traces())
@settings(max_examples=50)
def test_drawn_traces_are_valid(trace: Trace) -> None:
    assert problems(trace) == ()


BODY = node("inner", "aten::relu", "x")
SEEING = node("out", "prim::If", "x", blocks=(Block((), (BODY,), ("inner",)), Block((), (), ("x",))))
FORK = node("out", "prim::fork", "x", blocks=(Block((Value("f/in", "Tensor"),), (), ("f/in",), "f/"),))


@pytest.mark.parametrize(
    ("nodes", "outputs", "expected"),
    [
        ((SEEING,), ("out",), ()),
        ((FORK,), ("out",), ()),
        ((node("a", "op", "x"), node("", "op", id="a")), (), ("node a: its id is taken by an earlier node",)),
        ((SEEING, node("", "op", id="inner")), (), ("node inner: its id is taken by an earlier node",)),
        ((node("x", "op", id="a"),), (), ("node a: defines %x, which is taken by an earlier value",)),
        ((SEEING, node("inner", "op", id="b")), (), ("node b: defines %inner, which is taken by an earlier value",)),
        ((node("a", "op", "b"), node("b", "op")), (), ("node a: reads %b, which is not defined there",)),
        ((node("a", "op", "a"),), (), ("node a: reads %a, which is not defined there",)),
        ((SEEING,), ("inner",), ("graph: yields %inner, which is not defined there",)),
        (
            (node("a", "prim::If", blocks=(Block((), (BODY,), ()), Block((), (), ("inner",)))),),
            (),
            ("node a, block 1: yields %inner, which is not defined there",),
        ),
        (
            (node("a", "prim::fork", blocks=(Block((), (node("f/b", "op", "x"),), (), "f/"),)),),
            (),
            ("node f/b: reads %x, which is not defined there",),
        ),
        ((FORK,), ("f/in",), ("graph: yields %f/in, which is not defined there",)),
        (
            (node("a", "prim::fork", blocks=(Block((), (node("b", "op"),), (), "f/"),)),),
            (),
            (
                "node b: its id lacks the scope 'f/' of its block",
                "node b: defines %b, which lacks the scope 'f/' of its block",
            ),
        ),
    ],
)
def test_the_rules_of_a_graph(nodes: tuple[Node, ...], outputs: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert problems(of_graph(*nodes, outputs=outputs)) == tuple(f"step 0 (input), {problem}" for problem in expected)


def test_a_graph_that_several_steps_share_is_reported_once() -> None:
    broken = of_graph(node("a", "op", "b"))
    again = replace(broken, steps=(*broken.steps, replace(broken.steps[0], index=1)))
    assert problems(again) == problems(broken)


FOLD = SMALL.steps[8].rewrites[0]
WRITTEN = Evidence("fact", "forward", 2, "seen.1", "aten::add_", None, (ChainLink("count", "count", "prim::GetAttr"),))


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (with_step(3, index=7), ("step 7 (Inline): is at position 3",)),
        (
            with_step(3, graph=SMALL.steps[5].graph),
            ("step 3 (Inline): changed nothing, but its graph differs from that of step 1",),
        ),
        (
            with_step(8, rewrites=(replace(FOLD, consumed=("ghost",)),)),
            ("step 8 (FoldFrozenConvBatchnorm), node ghost: consumed by conv_bn, but not in the graph before",),
        ),
        (
            with_step(8, rewrites=(replace(FOLD, produced=("normed",)),)),
            ("step 8 (FoldFrozenConvBatchnorm), node normed: produced by conv_bn, but not in the graph after",),
        ),
        (
            with_step(0, rewrites=(Rewrite("conv_bn", ("y",), ()),)),
            ("step 0 (input), node y: consumed by conv_bn, but not in the graph before",),
        ),
        (
            with_step(10, aliases=AliasAnalysis((), (Write("ghost", "aten::add_", ()),))),
            ("step 10 (FoldFrozenConvBatchnorm), node ghost: writes memory, but is not in the graph",),
        ),
        (
            replace(SMALL, attributes=(replace(SMALL.attributes[0], same_as="ghost"), *SMALL.attributes[1:])),
            ("attribute 'block': is the same as 'ghost', which is not an attribute by itself",),
        ),
        (
            replace(SMALL, attributes=(replace(SMALL.attributes[0], same_as="block"), *SMALL.attributes[1:])),
            ("attribute 'block': is the same as 'block', which is not an attribute by itself",),
        ),
        (replace(SMALL, baselines=SMALL.baselines[:1] * 2), ("baseline eager: is there twice",)),
        (
            replace(SMALL, ablation=SMALL.ablation[:1] * 2),
            ("ablation of optimize_frozen_graph / FoldConvBn: is there twice",),
        ),
        (
            with_step(0, latency=SMALL.steps[0].latency * 2),
            ("step 0 (input), latency on cpu: is there twice",),
        ),
        (
            replace(SMALL, baselines=(replace(SMALL.baselines[0], latency=SMALL.baselines[0].latency * 3),)),
            ("baseline eager, latency on cpu: is there twice",) * 2,
        ),
        (
            replace(SMALL, ablation=(replace(SMALL.ablation[0], latency=SMALL.ablation[0].latency * 2),)),
            ("ablation of optimize_frozen_graph / FoldConvBn, latency on cpu: is there twice",),
        ),
        (
            replace(SMALL, near_misses=(replace(SMALL.near_misses[0], node="normed", neighbour="ghost"),)),
            ("near miss conv_add: step 9 has no node 'normed'", "near miss conv_add: step 9 has no node 'ghost'"),
        ),
        (
            replace(SMALL, near_misses=(replace(SMALL.near_misses[0], step=12),)),
            ("near miss conv_add: step 12 does not exist",),
        ),
        (
            replace(SMALL, attributes=(SMALL.attributes[0], *SMALL.attributes)),
            ("attribute 'block': comes after 'block'; paths are sorted and unique",),
        ),
        (
            replace(SMALL, attributes=SMALL.attributes[1::-1]),
            ("attribute 'block': comes after 'block.bn.weight'; paths are sorted and unique",),
        ),
        (with_fate("count", reason=None), ("attribute 'count': is preserved with the reason None",)),
        (with_fate("label", reason="unknown"), ("attribute 'label': is inlined with the reason unknown",)),
        (
            with_fate("label", step=-1),
            ("attributes[4].step: -1 is not within 0 … 2**63 - 1", "attribute 'label': step -1 does not exist"),
        ),
        (replace(SMALL, name="a\ud800"), ("name: 'a\\ud800' holds a lone surrogate, which is not a text",)),
        (with_step(3, stage="\udcff"), ("steps[3].stage: '\\udcff' holds a lone surrogate, which is not a text",)),
        (with_step(3, duration_ns=2**63), ("steps[3].duration_ns: 9223372036854775808 is not within 0 … 2**63 - 1",)),
        (with_step(3, constant_bytes=-1), ("steps[3].constant_bytes: -1 is not within 0 … 2**63 - 1",)),
        (with_step(3, round=0), ("steps[3].round: 0 is not within 1 … 2**63 - 1",)),
        (
            with_step(0, latency=(replace(SMALL.steps[0].latency[0], median_ns=Interval(math.inf, 1.0, math.nan)),)),
            (
                "steps[0].latency[0].median_ns.value: inf is not within 1e-30 … 1e+30",
                "steps[0].latency[0].median_ns.high: nan is not within 1e-30 … 1e+30",
            ),
        ),
        (
            replace(SMALL, backend="onnx"),  # type: ignore[arg-type]
            ("backend: 'onnx' is none of torchscript, inductor, aotinductor",),
        ),
        (
            with_fate("label", locations=(Location("describe", "label"),)),
            ("attribute 'label': lives in %label, which describe does not end with",),
        ),
        (
            with_fate("label", locations=(Location("backward", "label"),)),
            ("attribute 'label': lives in the unknown method 'backward'",),
        ),
        (
            with_fate("count", evidence=(replace(WRITTEN, step=99),)),
            ("attribute 'count': step 99 does not exist",),
        ),
        (
            with_fate("count", evidence=(replace(WRITTEN, node="y1", chain=(ChainLink("z", "z1", "op"),)),)),
            ("attribute 'count': step 2 has no node 'y1'", "attribute 'count': step 2 has no node 'z1'"),
        ),
        (
            with_fate("count", evidence=(replace(WRITTEN, step=None),)),
            ("attribute 'count': its evidence names nodes, but not the step they are in",),
        ),
        (
            with_fate("count", evidence=(replace(WRITTEN, method="describe"),)),
            ("attribute 'count': its evidence is from describe, but step 2 is another method's",),
        ),
        (
            replace(SMALL, programs=(Program("compiled", "forward", (Kernel("k", "cpp", ("ghost",), ("spirit",)),)),)),
            ("program 'compiled': step 10 has no node 'ghost'", "program 'compiled': step 0 has no node 'spirit'"),
        ),
        (
            replace(SMALL, programs=(Program("compiled", "backward"),)),
            ("program 'compiled': is of the unknown method 'backward'",),
        ),
        (replace(SMALL, notices=(Notice("unread", "text", 40),)), ("notice unread: step 40 does not exist",)),
        (replace(SMALL, memory=MemoryLedger(step=40)), ("memory: step 40 does not exist",)),
        (replace(empty_trace(), failure=Failure("E", "m", "s", "n", None, 0)), ("failure: step 0 does not exist",)),
        (replace(empty_trace(), failure=Failure("E", "m", "s", "n", None, None)), ()),
    ],
)
def test_the_rules_of_a_trace(trace: Trace, expected: tuple[str, ...]) -> None:
    assert problems(trace) == expected


def test_the_error_lists_twenty_problems_and_counts_the_rest() -> None:
    broken = of_graph(*(node(f"n{number}", "op", "ghost") for number in range(23)))
    with pytest.raises(InvalidTraceError) as raised:
        check_trace(broken)
    first, *listed, last = str(raised.value).splitlines()
    assert first == "trace '' breaks the rules of the data model:"
    assert listed == [
        f"  step 0 (input), node n{number}: reads %ghost, which is not defined there" for number in range(20)
    ]
    assert last == "  … and 3 more"


def test_checking_takes_linear_time() -> None:
    # Counted, not timed: names looked up while checking grow with the trace, not with its square.
    class Counted(str):
        __slots__ = ()
        hashed = 0

        def __hash__(self) -> int:
            Counted.hashed += 1
            return super().__hash__()

        __eq__ = str.__eq__

    def hashed(count: int) -> int:
        Counted.hashed = 0
        names = [Counted(f"n{number}") for number in range(count)]
        nodes = tuple(
            Node(name, "op", (name_before,), (Value(name, ""),))
            for name_before, name in zip(["x", *names], names, strict=False)
        )
        assert problems(of_graph(*nodes)) == ()
        return Counted.hashed

    assert hashed(4000) < 5 * hashed(1000)


def test_blocks_that_nest_too_deep_are_one_problem_and_no_recursion() -> None:
    deep = Node("0", "prim::If")
    for level in range(1, 5000):
        deep = Node(str(level), "prim::If", blocks=(Block((), (deep,), ()),))
    (problem,) = problems(of_graph(deep))
    assert problem == f"step 0 (input), node {5000 - MAX_NESTING}: its blocks nest more than {MAX_NESTING} deep"


def test_texts_that_cannot_be_written_are_spelled_out() -> None:
    fates = tuple(replace(fate, path=f"\udcff.{fate.path}") for fate in SMALL.attributes)
    first, *rest = SMALL.steps
    named = replace(SMALL, name="\ud800", steps=(replace(first, log=("a", "\ude00")), *rest))
    told = with_plain_texts(replace(named, attributes=(SMALL.attributes[0], *fates)))
    assert (told.name, told.steps[0].log) == ("\\ud800", ("a", "\\ude00"))
    assert told.steps[1] is SMALL.steps[1]
    assert problems(told) == ()
    assert loads(dumps(told)) == told
    assert with_plain_texts(SMALL) is SMALL
