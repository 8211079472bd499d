from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import freeze_engine as fe
from freeze_engine.trace import Check, Evidence, Interval, Kernel, Numerics, OutputError, Program, SourceRef, Value
from tests.builders import HOSTILE, empty_trace, failed_trace, small_trace, traces
from viewer.cli import main
from viewer.text.diff.json_document import diff_document
from viewer.text.diff.text import diff_text
from viewer.views.comparison.aspects import ASPECTS, Aspect, differing, times

GOLDEN = Path(__file__).parents[1] / "golden" / "small_diff.txt"

FATES_ONLY: tuple[Aspect, ...] = ("fates",)


def with_step(trace: fe.Trace, index: int, **fields: Any) -> fe.Trace:
    steps = list(trace.steps)
    steps[index] = replace(steps[index], **fields)
    return replace(trace, steps=tuple(steps))


def other_trace() -> fe.Trace:
    """The small trace as another torch could have made it: the fold is gone, and much follows from that."""
    trace = small_trace()
    unfolded = trace.steps[6].graph
    steps = tuple(
        replace(step, graph=unfolded, rewrites=(), changed=False, constant_bytes=step.constant_bytes + 80)
        if step.index in (8, 9, 10)
        else step
        for step in trace.steps
    )
    asked = Evidence("preserved_attrs names block.bn.weight", source=SourceRef("model.py", 3))
    fates: dict[str, dict[str, Any]] = {
        "block.bn.weight": {"fate": "preserved", "reason": "requested", "evidence": (asked,), "locations": ()},
        "block.conv.weight": {"fate": "inlined", "locations": (), "step": 4},
        "unused": {"dtype": "float32"},
        "label": {"step": 3},
    }
    miss = replace(trace.near_misses[0], step=8, kind="conv_bn", node="normed", reason="training_statistics")
    (relu,) = trace.programs[0].kernels
    copy = Kernel("cpp_fused_copy_1", "cpp", (), ("shape",))
    found = replace(
        trace,
        steps=steps,
        environment=replace(trace.environment, torch="2.14.0+cpu", settings=(("mkldnn", "False"),)),
        options=(("preserved_attrs", "('meta.version', 'describe', 'block.bn.weight')"),),
        attributes=tuple(
            replace(fate, **fates.get(fate.path, {})) for fate in trace.attributes if fate.path != "count"
        ),
        near_misses=(*trace.near_misses, miss),
        checks=(Check("round_trip", "passed", "It gives the same."), Check("determinism", "failed", "Differs.")),
        created="2026-02-03T04:05:06Z",
        programs=(replace(trace.programs[0], kernels=(copy, replace(relu, time_ns=None))), trace.programs[1]),
    )
    close = Numerics("eager", (OutputError("0", 0.0, 0.0, float("inf"), 0, True, 0.0),))
    (latency,) = trace.steps[10].latency
    slower = replace(
        latency,
        median_ns=Interval(160_000.0, 158_000.0, 163_000.0),
        ratio=Interval(1.4, 1.3, 1.5),
        verdict="slower",
    )
    return with_step(with_step(found, 8, numerics=(close,)), 10, latency=(slower,))


def test_the_text_of_a_difference(update_golden: bool) -> None:
    text = diff_text(fe.diff_traces(small_trace(), other_trace()), ASPECTS)
    if update_golden:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 100


def test_every_aspect_is_compared() -> None:
    found = differing(fe.diff_traces(small_trace(), other_trace()))
    assert found == tuple(aspect for aspect in ASPECTS if aspect != "failures")
    assert differing(fe.diff_traces(small_trace(), failed_trace())).count("failures") == 1


@given(traces())
@settings(max_examples=10, deadline=None)
def test_a_trace_does_not_differ_from_itself(trace: fe.Trace) -> None:
    diff = fe.diff_traces(trace, trace)
    assert differing(diff) == ()
    assert diff_text(diff, ASPECTS).endswith("Nothing differs.\n")
    assert json.loads(json.dumps(diff_document(diff, ASPECTS), allow_nan=False))["differs"] == []


@given(traces(), traces())
@settings(max_examples=10, deadline=None)
def test_any_two_traces_can_be_compared(first: fe.Trace, second: fe.Trace) -> None:
    diff = fe.diff_traces(first, second)
    text = diff_text(diff, ASPECTS, everything=True)
    assert all(char.isprintable() or char == "\n" for char in text)
    json.dumps(diff_document(diff, ASPECTS), allow_nan=False)


def test_everything_lists_passes_and_attributes_that_do_not_differ_anew() -> None:
    diff = fe.diff_traces(small_trace(), other_trace())
    short, long = diff_text(diff, ASPECTS), diff_text(diff, ASPECTS, everything=True)
    assert "freeze_module / ConstantPooling" not in short
    assert "freeze_module / ConstantPooling of forward" in long
    assert "(--all lists them)" in short
    assert "(--all lists them)" not in long


def with_kernels(*kernels: Kernel) -> fe.Trace:
    return replace(small_trace(), programs=(Program("compiled", "forward", kernels),))


def test_kernels_that_do_the_same_work_stand_beside_each_other() -> None:
    conv, relu = (Kernel(name, "cpp", (), (name,), time_ns=Interval(10.0, 9.0, 11.0)) for name in ("conv", "relu"))
    fused = Kernel("conv_relu", "cpp", (), ("conv", "relu"), time_ns=Interval(5.0, 4.0, 6.0))
    diff = fe.diff_traces(with_kernels(conv, relu), with_kernels(fused))
    text = diff_text(diff, FATES_ONLY)
    assert text.endswith("\n\nNothing that counts differs.\nNot counted: kernels.\n")
    assert (
        "\n\nKernels\n"
        "  compiled, forward: 1 differ\n"
        "    all kernels together: A 20.0 ns (18.0–22.0 ns), B 5.00 ns (4.00–6.00 ns), B takes 75% less time\n"
        "        than A (67 to 82%)\n"
        "    differ: conv + relu → conv_relu, B takes 75% less time than A (67 to 82%)\n\nNumeric error\n"
    ) in text
    (told,) = diff_document(diff, FATES_ONLY)["kernels"]
    assert told["groups"] == [
        {
            "a": ["conv", "relu"],
            "b": ["conv_relu"],
            "difference": "different",
            "time_ns": {"a": [20.0, 18.0, 22.0], "b": [5.0, 4.0, 6.0]},
            "ratio": [0.25, 4 / 22, 6 / 18],
        }
    ]
    assert told["differs"]


def test_program_known_to_one_trace_only_is_not_a_difference() -> None:
    conv = Kernel("conv", "cpp", (), ("conv",))
    diff = fe.diff_traces(with_kernels(conv), replace(small_trace(), programs=()))
    assert "kernels" not in differing(diff)
    assert "    B  TorchScript generates no kernels" in diff_text(diff, ASPECTS)
    assert "    only in A: conv" in diff_text(diff, ASPECTS)
    assert "Kernels" not in diff_text(fe.diff_traces(with_kernels(conv), with_kernels(conv)), ASPECTS)
    assert "    the same: conv\n" in diff_text(fe.diff_traces(with_kernels(conv), with_kernels(conv)), ASPECTS, True)


def test_a_pass_without_effect_that_only_one_ran_is_counted_only() -> None:
    longer = replace(
        small_trace(), steps=(*small_trace().steps, replace(small_trace().steps[10], index=12, round=3, latency=()))
    )
    text = diff_text(fe.diff_traces(small_trace(), longer), ASPECTS)
    assert "  … 1 ran in only one, without effect (--all lists them)" in text
    assert text.endswith("Nothing that counts differs.\n")
    assert differing(fe.diff_traces(small_trace(), longer)) == ()


def latency_at(median_ns: float, ratio: float, device: str = "cpu") -> Iterator[fe.Trace]:
    (latency,) = small_trace().steps[10].latency
    median = Interval(median_ns, 0.99 * median_ns, 1.01 * median_ns)
    measured = replace(latency, device=device, median_ns=median, ratio=Interval(ratio, ratio - 0.02, ratio + 0.02))
    yield with_step(small_trace(), 10, latency=(measured,))


@pytest.mark.parametrize(
    ("median_ns", "ratio", "differ", "said"),
    [
        (100.0, 0.5, False, "no difference beyond the intervals"),
        (101.0, 0.5, False, "no difference beyond the intervals"),
        (200.0, 0.5, False, "B is slower, but so is its first step: it may be the machine's pace"),
        (200.0, 0.8, True, "B is slower: the intervals are apart"),
        (50.0, 0.3, True, "B is faster: the intervals are apart"),
    ],
)
def test_times_of_two_runs_are_apart_only_beyond_the_pace_of_both(
    median_ns: float, ratio: float, differ: bool, said: str
) -> None:
    diff = fe.diff_traces(*latency_at(100.0, 0.5), *latency_at(median_ns, ratio))
    (row,) = times(diff)
    assert row.differ == differ
    assert ("latency" in differing(diff)) == differ
    assert f"forward on cpu: {said}" in diff_text(diff, ASPECTS)


def test_times_on_different_devices_are_not_compared() -> None:
    diff = fe.diff_traces(*latency_at(100.0, 0.5), *latency_at(50.0, 0.5, "cuda:0"))
    assert "latency" not in differing(diff)
    assert "forward on cuda:0: measured in only one of them" in diff_text(diff, ASPECTS)


def test_an_input_given_in_another_way_is_called_one() -> None:
    trace = small_trace()
    (given, *others) = trace.inputs
    elsewhere = replace(trace, inputs=(replace(given, device="cuda:0"), *others))
    assert "Request\n  input 0: " in diff_text(fe.diff_traces(trace, elsewhere), ASPECTS)


def test_inputs_that_differ_are_shown_beside_each_other() -> None:
    trace = small_trace()
    renamed = replace(trace, steps=tuple(replace(step, graph=of_another_class(step.graph)) for step in trace.steps))
    text = diff_text(fe.diff_traces(trace, renamed), ASPECTS)
    old, new = trace.steps[-1].graph.inputs[0], renamed.steps[-1].graph.inputs[0]
    assert f"    input %{old.name} : {old.type} → %{new.name} : {new.type}\n" in text
    assert "    input (none) → %more : int\n" in text


def of_another_class(graph: fe.GraphSnapshot) -> fe.GraphSnapshot:
    module, *others = graph.inputs
    return replace(graph, inputs=(replace(module, type="__torch__.Other"), *others, Value("more", "int")))


def test_two_backends_are_compared_by_purpose() -> None:
    compiled = replace(small_trace(), backend="inductor")
    diff = fe.diff_traces(small_trace(), compiled)
    text = diff_text(diff, ASPECTS)
    assert "What each backend did for one purpose\n  inline submodules\n    A  Inline: +" in text
    assert "Passes: " not in text
    assert "Passes: " in diff_text(diff, ASPECTS, everything=True)
    assert diff_document(diff, ASPECTS)["purposes"][0]["a"]["steps"] == [2, 3]


def test_a_trace_cannot_take_over_the_terminal() -> None:
    hostile = replace(small_trace(), name="\x1b[2J\n" + HOSTILE, options=(("a", "\x1b[31m"),))
    text = diff_text(fe.diff_traces(small_trace(), hostile), ASPECTS)
    assert all(char.isprintable() or char == "\n" for char in text)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / name for name in ("a.fztrace", "b.fztrace")]
    for path, trace in zip(paths, (small_trace(), other_trace()), strict=True):
        fe.save(trace, path)
    return [str(path) for path in paths]


@pytest.mark.parametrize(
    ("only", "code"),
    [([], 1), (["--only", "failures"], 0), (["--only", "failures,environment"], 1), (["--only", "fates"], 1)],
)
def test_exit_code_depends_on_the_compared_aspects(files: list[str], only: list[str], code: int) -> None:
    assert main(["diff", *files, *only]) == code


def test_equal_traces_exit_with_0(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", files[0], files[0]]) == 0
    assert capsys.readouterr().out.endswith("Nothing differs.\n")


def test_the_environment_counts_only_when_asked(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = replace(small_trace(), environment=replace(small_trace().environment, torch="3.0"))
    fe.save(newer, tmp_path / "newer.fztrace")
    pair = [files[0], str(tmp_path / "newer.fztrace")]
    assert main(["diff", *pair]) == 0
    assert capsys.readouterr().out.endswith("Nothing that counts differs.\nNot counted: environment.\n")
    assert main(["diff", *pair, "--only", "environment"]) == 1


def test_the_difference_as_json(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *files, "--json", "--only", "fates"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["counted"] == ["fates"]
    assert document["attributes"][0] == {
        "path": "block.bn.weight",
        "fields": ["fate", "reason", "locations"],
        "a": {
            "fate": "folded",
            "reason": None,
            "step": 8,
            "nbytes": 8,
            "evidence": ["FoldFrozenConvBatchnorm merged it"],
        },
        "b": {
            "fate": "preserved",
            "reason": "requested",
            "step": 8,
            "nbytes": 8,
            "evidence": ["preserved_attrs names block.bn.weight"],
        },
    }
    assert document["checks"] == {"round_trip": {"a": "failed", "b": "passed"}}


def test_a_page_with_both(files: list[str], tmp_path: Path) -> None:
    assert main(["diff", *files, "--html", str(tmp_path / "both.html")]) == 1
    assert (tmp_path / "both.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("words", [["--only", "fate"], ["--only", ""], ["--html", "missing/both.html"]])
def test_wrong_use_exits_with_2(files: list[str], words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["diff", *files, *words])
    assert ended.value.code == 2


def test_file_that_is_not_a_trace_exits_with_2(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", files[0], "missing.fztrace"]) == 2
    assert "missing.fztrace" in capsys.readouterr().err


def test_traces_without_steps_can_be_compared() -> None:
    assert differing(fe.diff_traces(empty_trace(), empty_trace())) == ()
