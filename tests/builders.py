"""Builds traces by hand, without torch, for the tests of everything that only reads a trace.

`small_trace` contains each part of the data model once; this module re-exports the other sources of traces
(`tests.synthetic` by size, `tests.strategies` for property tests).
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

from freeze_engine.trace import (
    AliasAnalysis,
    AliasEntry,
    AttributeFate,
    Baseline,
    CallPath,
    ChainLink,
    Check,
    Constant,
    Contribution,
    Environment,
    Evidence,
    Failure,
    GraphInput,
    GraphSnapshot,
    InputSpec,
    Interval,
    Kernel,
    Latency,
    LayerError,
    Location,
    MemoryLedger,
    NearMiss,
    Notice,
    Numerics,
    OutputError,
    Package,
    PackagedConstant,
    Payoff,
    Program,
    ProgramPass,
    Rewrite,
    RuntimeGraph,
    RuntimeKernel,
    RuntimeTime,
    SourceLines,
    SourceRef,
    Step,
    Trace,
    ValueSummary,
    Write,
)
from tests.graphs import (
    FILE,
    HOSTILE,
    LINES,
    TENSOR,
    attribute,
    constant,
    describe_graphs,
    forward_graphs,
    node,
    tensor,
)
from tests.strategies import snapshots, traces
from tests.synthetic import Verdict, synthetic_trace

__all__ = [
    "HOSTILE",
    "attribute",
    "constant",
    "empty_trace",
    "failed_trace",
    "node",
    "small_trace",
    "snapshots",
    "synthetic_trace",
    "tensor",
    "tied_trace",
    "traces",
]


PASSES = (ProgramPass("joint_graph", "remove_noop_ops", 2, True), ProgramPass("post_grad", "view_to_reshape", 2, False))


def _aliases(source: str) -> AliasAnalysis:
    return AliasAnalysis(
        (
            AliasEntry("seen", "points to", ("count",)),
            AliasEntry("seen.1", "points to", ("seen", "count")),
            AliasEntry(source, "contains", ("WILDCARD for type Tensor",)),
        ),
        (Write("seen.1", "aten::add_", ("count", "seen"), SourceRef(FILE, 4, 8)),),
    )


def _latency(median_ns: float, ratio: float | None) -> tuple[Latency, ...]:
    verdict: Verdict = "baseline" if ratio is None else "faster" if ratio < 0.95 else "no measurable difference"
    return (
        Latency(
            device="cpu",
            first_ns=900_000,
            warmup_ns=(300_000, 120_000),
            samples=40,
            median_ns=Interval(median_ns, median_ns - 1500.0, median_ns + 2250.5),
            ratio=None if ratio is None else Interval(ratio, ratio - 0.04, ratio + 0.04),
            verdict=verdict,
            notes=() if ratio is None else ("2 outliers left out",),
            previous=None if ratio is None else Interval(ratio, ratio - 0.04, ratio + 0.04),
            change=None if ratio is None else "faster" if ratio < 0.95 else "no measurable difference",
        ),
    )


def _numerics(max_abs: float) -> tuple[Numerics, ...]:
    sqnr_db = inf if max_abs == 0.0 else 96.5
    return (
        Numerics("eager", (OutputError("0", max_abs, 4 * max_abs, sqnr_db, 0, max_abs < 1e-4, 12.0),)),
        Numerics("float64", (), "RuntimeError: expected scalar type Float but found Double"),
    )


def _step(index: int, stage: str, name: str, graph: GraphSnapshot, changed: bool) -> Step:
    describes = graph.outputs == ("said",)
    return Step(
        index,
        stage,
        name,
        "describe" if describes else "forward",
        graph,
        changed,
        duration_ns=None if stage == "input" else 1000 * index + 7,
        constant_bytes=sum(kept.constant.nbytes for kept in graph.walk() if kept.constant),
        code="def describe(self) -> str:\n  return label" if describes else "def forward(self, x: Tensor) -> Tensor:",
    )


def _steps() -> tuple[Step, ...]:
    forward, describe = forward_graphs(), describe_graphs()
    asked, read = describe["input"], describe["AttributePropagation"]
    folded = forward["FoldFrozenConvBatchnorm"]
    optimize = "optimize_frozen_graph"
    plain = [
        _step(0, "input", "input", forward["input"], False),
        _step(1, "input", "input", asked, False),
        _step(2, "inline", "Inline", forward["Inline"], True),
        _step(3, "inline", "Inline", asked, False),
        _step(4, "freeze_module", "AttributePropagation", forward["AttributePropagation"], True),
        _step(5, "freeze_module", "AttributePropagation", read, True),
        _step(6, "freeze_module", "ConstantPropagation", forward["ConstantPropagation"], True),
        _step(7, "freeze_module", "ConstantPooling", forward["ConstantPropagation"], False),
        _step(8, optimize, "FoldFrozenConvBatchnorm", folded, True),
        _step(9, optimize, "FoldFrozenConvAddOrSub", folded, False),
        _step(10, optimize, "FoldFrozenConvBatchnorm", folded, False),
        _step(11, optimize, "RemoveDropout", read, False),
    ]
    fold = Rewrite(
        "conv_bn",
        consumed=("self.block.conv.weight", "self.block.bn.weight", "y", "normed"),
        produced=("weight_fused_bn", "bias_fused_bn", "y"),
        attributes=("block.conv.weight", "block.bn.weight"),
        modules=("block.conv", "block.bn"),
    )
    extras: dict[int, dict[str, Any]] = {
        0: {"executable": True, "latency": _latency(90_000.5, None), "numerics": _numerics(0.0)},
        2: {"aliases": _aliases("block")},
        4: {"log": ("attribute: count in %count has inplace writer", "Folding GetAttr %weight with self.block.conv")},
        6: {"executable": True, "latency": _latency(80_000.0, 0.88), "numerics": _numerics(0.0)},
        8: {"executable": True, "round": 1, "rewrites": (fold,), "numerics": _numerics(3e-4)},
        9: {"round": 1},
        10: {
            "executable": True,
            "round": 2,
            "latency": _latency(79_000.0, 0.97),
            "aliases": _aliases("self"),
        },
    }
    return tuple(replace(step, **extras.get(step.index, {})) for step in plain)


def _attributes() -> tuple[AttributeFate, ...]:
    written = Evidence(
        fact="attribute: count in %count has inplace writer",
        method="forward",
        step=2,
        node="seen.1",
        op="aten::add_",
        source=SourceRef(FILE, 4, 8),
        chain=(
            ChainLink("seen", "seen", "aten::view", SourceRef(FILE, 3, 8)),
            ChainLink("count", "count", "prim::GetAttr", SourceRef(FILE, 3, 8)),
        ),
    )
    merged = Evidence("FoldFrozenConvBatchnorm merged it", "forward", 8, "y", "aten::conv2d", SourceRef(FILE, 5, 8))
    fused = (Location("forward", "weight_fused_bn"), Location("forward", "bias_fused_bn"))
    move = "Move the write out of forward, or keep it on purpose with preserved_attrs=['count']."
    asked = Evidence("preserved_attrs names meta.version")
    whole = (
        AttributeFate("block", "submodule", "__torch__.Block", None, None, 0, "dropped", step=4),
        AttributeFate("block.bn.weight", "parameter", "Tensor", (2,), "float32", 8, "folded", step=8),
        AttributeFate("block.conv.weight", "parameter", TENSOR, (2, 1, 3, 3), "float32", 72, "folded", step=8),
        AttributeFate("count", "buffer", "Tensor", (1,), "float32", 4, "preserved", "mutated_in_place", step=4),
        AttributeFate("label", "attribute", "str", None, None, 0, "inlined", step=5),
        AttributeFate("meta", "submodule", "__torch__.Meta", None, None, 0, "preserved", "ancestor_of_requested"),
        AttributeFate("meta.version", "attribute", "int", None, None, 0, "preserved", "requested", step=4),
        AttributeFate("training", "attribute", "bool", None, None, 0, "folded", step=6),
        AttributeFate("unused", "buffer", "Tensor", (0, 3), "bfloat16", 0, "dropped"),
    )
    found: dict[str, dict[str, Any]] = {
        "block.bn.weight": {"evidence": (merged,), "locations": fused},
        "block.conv.weight": {"evidence": (merged,), "locations": fused},
        "count": {"evidence": (written,), "advice": move},
        "label": {"locations": (Location("describe", "self.label"),)},
        "meta": {"evidence": (asked,)},
        "meta.version": {"evidence": (asked,)},
    }
    return tuple(replace(fate, **found.get(fate.path, {})) for fate in whole)


def _environment() -> Environment:
    return Environment(
        torch="2.13.0+cpu",
        python="3.11.9",
        platform="Linux-6.1-x86_64",
        cpu="Imaginary CPU @ 3.00GHz",
        gpus=(),
        threads=2,
        settings=(("fusion_strategy", "STATIC:20, DYNAMIC:10"), ("mkldnn", "True")),
    )


def small_trace() -> Trace:
    """Returns a tiny, complete trace: conv + batch norm folded, a counter written through a view, two methods."""
    beside = NearMiss(
        step=9,
        kind="conv_add",
        node="sum",
        neighbour="y",
        reason="operand_not_constant",
        detail="%seen.1 is written by aten::add_, so it is not a constant.",
        advice="Add a constant instead of the counter.",
    )
    return Trace(
        name="Net « naïve » <b>",
        backend="torchscript",
        call='torch.jit.freeze(scripted, ["meta.version", "describe"])',
        options=(("preserved_attrs", "('meta.version', 'describe')"), ("optimize_numerics", "True")),
        inputs=(InputSpec("0", "Tensor", (1, 1, 8, 8), "float32", "cpu"), InputSpec("flag", "bool")),
        environment=_environment(),
        steps=_steps(),
        attributes=_attributes(),
        near_misses=(beside,),
        baselines=(
            Baseline("eager", _latency(95_000.0, None), _numerics(0.0)),
            Baseline("scripted", _latency(91_000.0, 0.96)),
        ),
        notices=(
            Notice("device_baked_in", "The constant %weight_fused_bn lives on cpu.", 8),
            Notice("tracer_warning", "Converting a tensor to a Python boolean…"),
        ),
        sources=(SourceLines(FILE, 1, LINES),),
        duration_ns=12_345_678,
        created="2026-01-02T03:04:05Z",
        checks=(Check("round_trip", "failed", "The loaded module gives other numbers.", ("max abs error 0.5",)),),
        memory=MemoryLedger(1_048_576, 4096, 2048, False, "RuntimeError: could not export Python function call", 8),
        programs=(
            Program(
                "compiled with freezing",
                "forward",
                (
                    Kernel(
                        "cpp_fused_relu_0",
                        "cpp",
                        ("relu",),
                        ("relu",),
                        ("aten::relu",),
                        (SourceRef(FILE, 4, 8),),
                        Interval(1500.0, 1400.0, 1700.5),
                    ),
                ),
                "cpp_fused_relu_0(buf0)",
                (("shape", "a view: moves no data"),),
            ),
            Program("compiled", "forward", (Kernel("extern_kernels.convolution", "extern"),), None, (), PASSES),
        ),
        ablation=(
            Contribution(
                "optimize_frozen_graph",
                "FoldConvBn",
                (Payoff("cpu", Interval(0.7, 0.6, 0.8), "faster"),),
                1e-2,
                0.0,
                False,
                True,
            ),
            Contribution("optimize_frozen_graph", "FoldConvAdd", error="RuntimeError: left out"),
        ),
    )


def failed_trace() -> Trace:
    """Returns the trace of a failed freeze: four steps, and no fates of attributes."""
    whole = small_trace()
    return replace(
        whole,
        steps=tuple(whole.steps[:4]),
        attributes=(),
        near_misses=(),
        baselines=(),
        notices=(Notice("unread", "The freeze failed: the trace ends at step 3.", 3),),
        memory=None,
        failure=Failure(
            "RuntimeError", f"attempted to freeze {HOSTILE}", "freeze_module", "AttributePropagation", "forward", 3
        ),
    )


def tied_trace() -> Trace:
    """Returns the small trace with what later schemas added.

    These are a tied weight, named inputs, bytes to save, call paths, values of weights, a compiled package, an origin,
    a runtime and the error of a layer.
    """
    whole = small_trace()
    first, *others = whole.steps
    names = [value.name for value in first.graph.inputs]
    named = (GraphInput(names[0], attribute="conv.weight"), GraphInput(names[1], argument="image"))
    *fates, last = whole.attributes
    values = ValueSummary(zeros=1, nans=1, histogram=(1, 2), counted=4, first=(0.0, 0.5))
    weight = Constant((2, 2), "float32", "cpu", 16, minimum=0.0, maximum=0.5, nonfinite=1, values=values)
    return replace(
        whole,
        steps=(replace(first, inputs=named), *others),
        attributes=(*fates, replace(last, same_as=fates[0].path, tensor=weight, updatable=True)),
        near_misses=tuple(replace(miss, saved_bytes=1024) for miss in whole.near_misses),
        call_paths=(CallPath("forward", (SourceRef(FILE, 4, 8),), (first.graph.nodes[0].id,)),),
        package=Package("net.pt2", 4096, (PackagedConstant("L__self___weight", "weight", "Parameter", 16),)),
        origin="frozen_file",
        runtime=(
            RuntimeGraph(
                "forward",
                forward_graphs()["input"],
                3,
                (RuntimeKernel("aten::conv2d", False, 1, 900, 0.75),),
                times=(
                    RuntimeTime((first.graph.nodes[0].id,), 900),
                    RuntimeTime((), 100),
                ),
            ),
            RuntimeGraph("describe", None, reason="it was not run"),
        ),
        layer_errors=(
            LayerError("block.conv", (OutputError("weight", 0.5, 0.25, 40.0, 0, False, 3.0),), ("block.conv.weight",)),
        ),
    )


def empty_trace() -> Trace:
    """Returns a trace without a single step."""
    return Trace("", "inductor", "", (), (), replace(_environment(), settings=()), ())
