"""Everything that reads a trace takes time in proportion to it, whichever of its parts is large.

Executed lines are counted, not seconds: a loop over what grows, inside a loop over what grows, runs sixteen times as
often where four times as much is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import pytest

import freeze_engine as fe
from freeze_engine.trace import (
    AliasAnalysis,
    AliasEntry,
    AttributeFate,
    Baseline,
    CallPath,
    Check,
    Evidence,
    GraphSnapshot,
    Kernel,
    Location,
    NearMiss,
    Node,
    Notice,
    Program,
    Rewrite,
    RuntimeGraph,
    RuntimeKernel,
    RuntimeTime,
    SourceLines,
    SourceRef,
    Step,
    Trace,
    Value,
    Write,
)
from tests.builders import empty_trace, small_trace
from tests.executed_lines import counted_lines
from tests.fuzzing.consumers import CHEAP, COSTLY, Consumer
from viewer.page import comparison_data

_SIZES = (12, 48, 192)
_MOST = 6.0
_SLACK = 2000
_READERS: dict[str, Consumer] = {
    **CHEAP,
    "file": COSTLY["file"],
    "comparison": lambda trace, other: comparison_data(trace, other),
}
_FATE = small_trace().attributes[1]


def _graph(count: int, prefix: str = "n") -> GraphSnapshot:
    names = ["x", *(f"{prefix}{number}" for number in range(count))]
    nodes = tuple(
        Node(name, "aten::relu", (before,), (Value(name, "Tensor"),), module=name, source=SourceRef("a.py", number))
        for number, (before, name) in enumerate(pairwise(names), 1)
    )
    return GraphSnapshot((Value("x", "Tensor"),), nodes, (names[-1],))


def _step(index: int, graph: GraphSnapshot, method: str = "forward", **fields: Any) -> Step:
    return Step(index, "optimize_frozen_graph", f"Pass{index}", method, graph, bool(index), **fields)


def _trace(*steps: Step, **fields: Any) -> Trace:
    return replace(empty_trace(), name="large", backend="torchscript", steps=steps, **fields)


def _steps(count: int) -> Trace:
    measured = small_trace().steps[8]
    fields: dict[str, Any] = {"latency": small_trace().steps[10].latency, "numerics": measured.numerics}
    graphs = _graph(2), _graph(3)
    return _trace(*(_step(index, graphs[index % 2], **fields) for index in range(count)))


def _methods(count: int) -> Trace:
    numerics = small_trace().steps[8].numerics
    steps = (_step(index, _graph(2), f"method{index}", numerics=numerics) for index in range(count))
    return _trace(*steps, attributes=(replace(_FATE, step=0, evidence=(), locations=()),))


def _nodes(count: int) -> Trace:
    return _trace(_step(0, _graph(count)), _step(1, _graph(count + 1)))


def _attributes(count: int) -> Trace:
    evidence = Evidence("a write", "forward", 0, "n0", "aten::relu", SourceRef("a.py", 1))
    fates = (
        AttributeFate(
            f"part{number:05}",
            "submodule" if number % 2 else "parameter",
            "Tensor",
            (2,),
            "float32",
            8,
            "preserved",
            "mutated_in_place",
            (evidence,),
            f"Move it, {number}.",
            0,
            (Location("forward", "n0"),),
        )
        for number in range(count)
    )
    return _trace(_step(0, _graph(2)), attributes=tuple(fates))


def _rewrites(count: int) -> Trace:
    folds = tuple(
        Rewrite("conv_bn", (f"n{number}",), (f"m{number}",), (f"part{number}",), (f"n{number}",))
        for number in range(count)
    )
    whole = Rewrite("dropout", tuple(f"n{n}" for n in range(count)), tuple(f"m{n}" for n in range(count)))
    return _trace(_step(0, _graph(count)), _step(1, _graph(count, "m"), rewrites=(*folds, whole)))


def _near_misses(count: int) -> Trace:
    misses = (
        NearMiss(0, "conv_bn", f"n{n}", f"n{n - 1}" if n else "", f"reason{n}", "It is read.", f"Advice {n}.")
        for n in range(count)
    )
    return _trace(_step(0, _graph(count)), near_misses=tuple(misses))


def _notices(count: int) -> Trace:
    notices = tuple(Notice("tracer_warning", f"Warning {number}.", 0) for number in range(count))
    return _trace(_step(0, _graph(2)), notices=notices)


def _kernels(count: int) -> Trace:
    def program(name: str, kind: str) -> Program:
        kernels = (Kernel(f"{kind}_{n}", "cpp", (f"n{n}",), (f"n{n}",), ("aten::relu",)) for n in range(count))
        calls = "\n".join(f"{kind}_{n}(x)" for n in range(count))
        views = tuple((f"n{n}", "a view") for n in range(count))
        return Program(name, "forward", tuple(kernels), calls, views)

    programs = program("compiled with freezing", "fused"), program("compiled", "plain")
    return replace(_trace(_step(0, _graph(count)), programs=programs), backend="inductor")


def _aliases(count: int) -> Trace:
    entries = tuple(AliasEntry(f"n{n}", "points to", ("x",)) for n in range(count))
    writes = tuple(Write(f"n{n}", "aten::relu", ("x",)) for n in range(count))
    return _trace(_step(0, _graph(count), aliases=AliasAnalysis(entries, writes)))


def _checks(count: int) -> Trace:
    checks = tuple(Check(f"check{n}", "failed", "It gives other numbers.", ("0.5",)) for n in range(count))
    return _trace(_step(0, _graph(2)), checks=checks)


def _sources(count: int) -> Trace:
    kept = tuple(SourceLines(f"file{n}.py", 1, ("x = 1",)) for n in range(count))
    fates = tuple(
        replace(_FATE, path=f"part{n:05}", step=0, locations=(), evidence=(_evidence(n),)) for n in range(count)
    )
    return _trace(_step(0, _graph(2)), sources=kept, attributes=fates)


def _evidence(number: int) -> Evidence:
    return Evidence("a write", "forward", 0, "n0", "aten::relu", SourceRef(f"file{number}.py", 1))


def _devices(count: int) -> Trace:
    (measured,) = small_trace().steps[10].latency
    errors = small_trace().steps[8].numerics[0]
    latency = tuple(replace(measured, device=f"cuda:{n}") for n in range(count))
    numerics = tuple(replace(errors, inputs=f"set{n}") for n in range(count))
    return _trace(*(_step(index, _graph(2 + index), latency=latency, numerics=numerics) for index in range(3)))


def _baselines(count: int) -> Trace:
    latency = small_trace().baselines[0].latency
    baselines = tuple(Baseline(f"baseline{n}", latency) for n in range(count))
    return _trace(_step(0, _graph(2), latency=small_trace().steps[0].latency), baselines=baselines)


def _uncalled_kernels(count: int) -> Trace:
    kernels = tuple(Kernel(f"fused_{n}", "cpp") for n in range(count))
    code = "\n".join(f"other_{n}(x)" for n in range(count))
    program = Program("compiled with freezing", "forward", kernels, code)
    return replace(_trace(_step(0, _graph(2)), programs=(program,)), backend="inductor")


def _executor(count: int) -> Trace:
    kernels = tuple(RuntimeKernel(f"kernel{n}", False, 1, 100, 1 / count) for n in range(count))
    times = tuple(RuntimeTime((f"n{n}",), 100) for n in range(count))
    paths = tuple(CallPath("forward", (SourceRef("a.py", n + 1),), (f"n{n}",)) for n in range(count))
    runtime = RuntimeGraph("forward", _graph(count), 3, kernels, times=times)
    return _trace(_step(0, _graph(count)), runtime=(runtime,), call_paths=paths)


def _ablation(count: int) -> Trace:
    entries = tuple(replace(small_trace().ablation[0], name=f"Pass{n}") for n in range(count))
    return replace(_steps(count), ablation=entries)


_SHAPES: dict[str, Callable[[int], Trace]] = {
    "steps": _steps,
    "methods": _methods,
    "nodes": _nodes,
    "attributes": _attributes,
    "rewrites": _rewrites,
    "near misses": _near_misses,
    "notices": _notices,
    "kernels": _kernels,
    "aliases": _aliases,
    "checks": _checks,
    "sources": _sources,
    "ablation": _ablation,
    "devices": _devices,
    "baselines": _baselines,
    "uncalled kernels": _uncalled_kernels,
    "executor": _executor,
}


def _work(make: Callable[[int], Trace], size: int) -> dict[str, int]:
    data = fe.dumps(make(size))
    with counted_lines() as lines:
        trace = fe.loads(data)
    found = {"load": lines[0]}
    other = replace(fe.loads(data), name="other")
    for name, reader in _READERS.items():
        with counted_lines() as lines:
            reader(trace, other)
        found[name] = lines[0]
    return found


@pytest.mark.parametrize("shape", _SHAPES)
def test_four_times_as_much_takes_about_four_times_as_long(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Bokeh takes seconds to draw what the data, which is counted, holds.
    monkeypatch.setattr("viewer.charts.comparison.chart_items", lambda diff, rows: None)
    make = _SHAPES[shape]
    _work(make, 2)  # what is read or worked out once per process
    small, middle, large = (_work(make, size) for size in _SIZES)
    steep = {
        name: (small[name], middle[name], large[name])
        for name in small
        if large[name] - middle[name] > _MOST * (middle[name] - small[name]) + _SLACK
    }
    assert steep == {}


@pytest.mark.parametrize("shape", _SHAPES)
def test_verdict_and_actions_name_a_few_of_many(shape: str) -> None:
    summary = fe.summarize(_SHAPES[shape](_SIZES[-1]))
    texts = (
        summary.sentence,
        *chain.from_iterable((each.title, each.evidence, each.fix, each.gain) for each in summary.actions),
    )
    assert [text for text in texts if len(text) > 1200] == []
