"""A trace of AOTInductor in everything that reads traces: its passes are Inductor's, its result is a package."""

from __future__ import annotations

from dataclasses import replace

import freeze_engine as fe
from freeze_engine import analysis
from freeze_engine.trace import (
    COMPILED_FROZEN,
    EAGER,
    PACKAGED,
    Baseline,
    Constant,
    GraphSnapshot,
    Package,
    PackagedConstant,
)
from tests.graphs import node
from tests.two_backends import inductor, torchscript
from viewer.page import comparison_data
from viewer.text.diff.text import diff_text
from viewer.text.stats import stats_text
from viewer.views import view_data


def packaged() -> fe.Trace:
    """Returns the trace of the model that `inductor()` is of, compiled ahead of time."""
    made = inductor()
    names = {"compiled with freezing": PACKAGED}
    return replace(
        made,
        backend="aotinductor",
        attributes=tuple(replace(fate, updatable=fate.fate == "inlined") for fate in made.attributes),
        baselines=tuple(replace(each, name=names.get(each.name, each.name)) for each in made.baselines),
        programs=(),
        package=Package("m.pt2", 1234, (PackagedConstant("fc_bias", "fc.bias", "Parameter", 64),)),
    )


def test_aotinductor_trace_survives_a_round_trip() -> None:
    trace = packaged()
    assert not fe.problems(trace)
    assert fe.loads(fe.dumps(trace)) == trace


def test_every_view_takes_it() -> None:
    trace = packaged()
    data = view_data(trace)
    assert (data["backend"], data["stages"]["compile"]) == (
        "aotinductor",
        "lowers the graph, generates C++ code and compiles it into a package",
    )
    used = [fate for fate in trace.attributes if fate.fate != "dropped"]
    updatable = sum(fate.fate == "inlined" for fate in used)
    package = f"m.pt2, 1.21 KiB, takes new values for {updatable} of {len(used)} weights and buffers"
    assert f"package  {package}" in stats_text(trace)
    assert ["package", package] in data["environment"]["recording"]
    assert "--ablation" not in stats_text(trace)
    assert "--check" not in stats_text(trace)
    assert fe.summarize(trace).sentence
    assert len(analysis.pass_notes(trace)) == len(trace.steps)


def test_aotinductor_is_compared_with_inductor_by_pass_and_with_torchscript_by_purpose() -> None:
    of_compile, of_package = inductor(), packaged()
    same = fe.diff_traces(of_compile, of_package)
    assert not same.across_backends
    assert [(one.before, one.after) for one in same.steps] == [(step.index, step.index) for step in of_compile.steps]
    assert same.pairs == ()
    other = fe.diff_traces(torchscript(), of_package)
    assert other.across_backends
    assert other.pairs


def test_the_figures_of_the_result_are_those_of_the_package() -> None:
    trace = replace(packaged(), baselines=(Baseline(EAGER), Baseline(COMPILED_FROZEN), Baseline(PACKAGED)))
    (figures,) = analysis.final_figures(trace)
    assert (figures.name, figures.step) == ("the AOTInductor package", None)


def test_a_comparison_with_torch_compile_says_what_either_folds_and_by_which_pass() -> None:
    of_compile, of_package = inductor(), packaged()
    folded = [fate.path for fate in of_compile.attributes if fate.fate == "folded"]
    assert folded
    known = f"both fold {len(folded)} of {len(of_compile.attributes)} parameters and buffers"
    assert f"{known}, and neither any other" in " ".join(diff_text(fe.diff_traces(of_compile, of_package), ()).split())
    assert comparison_data(of_compile, of_package)["comparison"]["folds"][0] == f"{known}, and neither any other"
    assert comparison_data(of_compile, torchscript())["comparison"]["folds"] == []
    fates = (replace(fate, fate="inlined") if fate.path == folded[0] else fate for fate in of_package.attributes)
    less = fe.diff_traces(of_compile, replace(of_package, attributes=tuple(fates)))
    (fate,) = (fate for fate in of_compile.attributes if fate.path == folded[0])
    text = " ".join(diff_text(less, ()).split())
    assert f"only A folds, by step {fate.step}, {of_compile.steps[fate.step or 0].name}" in text
    assert "only B folds" not in text
    assert "What torch.compile and AOTInductor fold" not in diff_text(fe.diff_traces(of_compile, of_compile), ())


def test_the_names_that_inductor_counts_up_are_no_difference() -> None:
    def named(target: str) -> fe.Trace:
        trace = inductor()
        kept = Constant((2,), "float32", "cpu", 8, digest="d")
        held = node("w", "get_attr", attributes=(("target", target),), constant=kept)
        graph = GraphSnapshot((), (held,), ("w",))
        step = replace(trace.steps[0], graph=graph, rewrites=())
        return replace(trace, steps=(step,), attributes=(), near_misses=(), programs=(), call_paths=())

    assert fe.diff_traces(named("_frozen_param3"), named("fc.weight")).empty
