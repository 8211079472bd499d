from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import freeze_engine as fe
from freeze_engine.export import model_explorer_graphs
from freeze_engine.trace import Block, Interval, Kernel, Numerics, OutputError, Program, Value
from tests.builders import HOSTILE, constant, empty_trace, failed_trace, node, small_trace, traces
from viewer.cli import main


def graph(nodes: tuple[fe.Node, ...], outputs: tuple[str, ...] = ("y",)) -> fe.Trace:
    snapshot = fe.GraphSnapshot((Value("self", "Net"), Value("x", "Tensor")), nodes, outputs)
    return replace(empty_trace(), name="Net", steps=(fe.Step(0, "input", "input", "forward", snapshot, False),))


def attrs(**facts: str) -> list[dict[str, str]]:
    return [
        {"key": key.replace("_", " ") if key == "in_this_step" else key, "value": text} for key, text in facts.items()
    ]


def test_a_graph_as_model_explorer_has_it() -> None:
    nodes = (constant("two", "2"), node("y", "aten::mul", "x two", module="layer1.0.conv", line=7))
    document = model_explorer_graphs(graph(nodes))
    (found,) = document["graphs"]
    assert {**document, "graphs": []} == {"label": "Net", "graphs": [], "graphSorting": "name_asc"}
    assert (found["id"], found["groupNodeAttributes"]) == (
        "000 input (forward)",
        {"": {"stage": "input", "pass": "input", "method": "forward", "nodes": "4"}},
    )
    ends, two, product, end = found["nodes"]
    assert (ends["label"], [each["attrs"][0]["value"] for each in ends["outputsMetadata"]]) == (
        "GraphInputs",
        ["self", "x"],
    )
    assert two["namespace"] == "layer1/0/conv"  # where it is read
    assert product == {
        "id": "y",
        "label": "aten::mul",
        "namespace": "layer1/0/conv",
        "attrs": attrs(module="layer1.0.conv", source=f"{nodes[1].source.file}:7"),
        "incomingEdges": [
            {"sourceNodeId": "GraphInputs", "sourceNodeOutputId": "1", "targetNodeInputId": "0"},
            {"sourceNodeId": "two", "sourceNodeOutputId": "0", "targetNodeInputId": "1"},
        ],
        "outputsMetadata": [{"id": "0", "attrs": attrs(tensor_name="y", type=nodes[1].outputs[0].type)}],
    }
    assert end["incomingEdges"] == [{"sourceNodeId": "y", "sourceNodeOutputId": "0", "targetNodeInputId": "0"}]


def test_a_nested_block_is_a_group_of_its_own() -> None:
    inner = Block((Value("i", "int"),), (node("z", "aten::neg", "i"),), ("z",))
    loop = replace(node("y", "prim::Loop", "x"), blocks=(inner,))
    (found,) = model_explorer_graphs(graph((loop,)))["graphs"]
    spaces = {each["id"]: each["namespace"] for each in found["nodes"]}
    assert spaces == {
        "GraphInputs": "",
        "y": "",
        "prim::Loop y/block 0/GraphInputs": "prim::Loop y/block 0",
        "z": "prim::Loop y/block 0",
        "prim::Loop y/block 0/GraphOutputs": "prim::Loop y/block 0",
        "GraphOutputs": "",
    }


def test_export_contains_only_changed_steps_by_default() -> None:
    document = model_explorer_graphs(small_trace())
    assert [found["id"][:3] for found in document["graphs"]] == ["000", "001", "002", "004", "005", "006", "008"]
    assert [found["id"] for found in model_explorer_graphs(small_trace(), 9)["graphs"]] == [
        "009 FoldFrozenConvAddOrSub (forward, round 1)"
    ]
    marks = {
        each["id"]: each["attrs"][0]["value"]
        for each in document["graphs"][-1]["nodes"]
        if each["attrs"][:1] and each["attrs"][0]["key"] == "in this step"
    }
    assert marks["weight_fused_bn"] == "added"
    assert marks["y"] == "changed"


@pytest.mark.parametrize("step", [-1, 12])
def test_a_step_that_is_not_there_is_refused(step: int) -> None:
    for export in (model_explorer_graphs, fe.model_explorer_data):
        with pytest.raises(fe.FreezerError, match=f"there is no step {step}: the trace has steps 0 to 11"):
            export(small_trace(), step)


def test_facts_of_single_nodes_are_exported() -> None:
    trace = small_trace()
    kernel = Kernel("cpp_0", "cpp", nodes=("y",), time_ns=Interval(1500.0, 1400.0, 1600.0))
    found = fe.model_explorer_data(replace(trace, programs=(Program("compiled with freezing", "forward", (kernel,)),)))
    folded = "008 FoldFrozenConvBatchnorm (forward, round 1)"
    held = {one.id: one.constant.nbytes for one in trace.steps[8].graph.walk() if one.constant}
    assert {name: value["value"] for name, value in found["constants"][folded]["results"].items()} == held
    assert found["error"][folded]["results"]["y"] == {"value": 3e-4}
    assert found["error"][folded]["hideAggregatedStats"] == ["sum"]
    assert found["latency"]["006 ConstantPropagation (forward)"]["results"] != {}
    assert "kernels" not in found  # step 10, the last of forward, changed nothing
    last = fe.model_explorer_data(
        replace(trace, programs=(Program("compiled with freezing", "forward", (kernel,)),)), 10
    )
    assert last["kernels"]["010 FoldFrozenConvBatchnorm (forward, round 2)"]["results"] == {"y": {"value": 1.5}}


def test_unmeasured_figures_are_omitted() -> None:
    steps = tuple(replace(step, latency=(), numerics=()) for step in small_trace().steps)
    assert set(fe.model_explorer_data(replace(small_trace(), steps=steps))) == {"constants"}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_zero_characters_are_replaced_in_csv() -> None:
    steps = (replace(small_trace().steps[0], stage="a\0b"), *small_trace().steps[1:])
    text = fe.csv_tables(replace(small_trace(), steps=steps))["steps"]
    assert (rows(text)[0]["stage"], "\0" in text) == ("a\N{REPLACEMENT CHARACTER}b", False)


def test_steps_and_attributes_as_csv() -> None:
    tables = fe.csv_tables(small_trace())
    steps, attributes = rows(tables["steps"]), rows(tables["attributes"])
    assert (len(steps), len(attributes)) == (12, 9)
    told = ("pass", "round", "changed", "latency_cpu_median_ns", "error_eager_max_abs", "error_float64_not_compared")
    assert [steps[8][name] for name in told] == [
        "FoldFrozenConvBatchnorm",
        "1",
        "True",
        "",
        "0.0003",
        "RuntimeError: expected scalar type Float but found Double",
    ]
    assert [steps[6][f"latency_cpu_ratio_to_first{part}"] for part in ("", "_low", "_high")] == ["0.88", "0.84", "0.92"]
    assert steps[0]["latency_cpu_ratio_to_first"] == ""
    assert {name: attributes[3][name] for name in ("path", "fate", "reason", "pass", "nbytes")} == {
        "path": "count",
        "fate": "preserved",
        "reason": "mutated_in_place",
        "pass": "AttributePropagation",
        "nbytes": "4",
    }
    assert [row["name"] for row in rows(tables["baselines"])] == ["eager", "scripted"]
    assert all(line.endswith("\r\n") for line in tables["steps"].splitlines(keepends=True))


def test_several_inputs_have_columns_of_their_own() -> None:
    trace = small_trace()
    (fine, _) = trace.steps[8].numerics
    steps = list(trace.steps)
    steps[8] = replace(steps[8], numerics=(fine, replace(fine, inputs="normal")))
    assert {"error_eager_max_abs", "error_eager_normal_max_abs"} <= set(
        rows(fe.csv_tables(replace(trace, steps=tuple(steps)))["steps"])[0]
    )


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_name_cannot_become_a_formula(formula: str) -> None:
    fate = replace(small_trace().attributes[0], path=formula)
    (row,) = rows(fe.csv_tables(replace(small_trace(), attributes=(fate,)))["attributes"])
    assert row["path"] == f"'{formula}"


def test_separators_and_line_ends_stay_in_their_cell() -> None:
    fate = replace(small_trace().attributes[0], type='a,"b"\r\nc', shape=None)
    (row,) = rows(fe.csv_tables(replace(small_trace(), attributes=(fate,)))["attributes"])
    assert row["type"] == 'a,"b"\r\nc'


def test_a_time_line() -> None:
    document = fe.chrome_trace(small_trace())
    events = document["traceEvents"]
    assert [event["args"]["name"] for event in events if event["ph"] == "M"][:3] == [
        "freeze of Net « naïve » <b>",
        "forward",
        "describe",
    ]
    passes = [event for event in events if event["ph"] in "Xi" and event["pid"] == 1]
    assert [event["args"]["step"] for event in passes] == list(range(12))
    assert [event["args"].get("duration") for event in passes[:2]] == ["unknown", "unknown"]
    did = fe.step_metrics(small_trace())[8]
    assert passes[8] == {
        "ph": "X",
        "pid": 1,
        "tid": 1,
        "ts": sum(step.duration_ns or 0 for step in small_trace().steps[:8]) / 1e3,
        "dur": 8.007,
        "cat": "optimize_frozen_graph",
        "name": "FoldFrozenConvBatchnorm",
        "args": {
            "step": 8,
            "changed": True,
            "nodes": did.nodes,
            "added": did.added,
            "removed": did.removed,
            "changed nodes": did.changed,
            "round": 1,
            "rewrites": ["conv_bn: block.conv, block.bn"],
        },
    }
    counters = {event["name"] for event in events if event["ph"] == "C"}
    assert {
        "latency of forward on cpu",
        "error of forward against eager, given inputs",
        "nodes of describe",
    } <= counters


def test_kernels_stand_beside_the_passes() -> None:
    kernels = [event for event in fe.chrome_trace(small_trace())["traceEvents"] if event["pid"] == 2]
    assert [(event["ph"], event["name"], event.get("dur")) for event in kernels] == [
        ("M", "process_name", None),
        ("M", "thread_name", None),
        ("X", "cpp_fused_relu_0", 1.5),
    ]


@given(traces())
@settings(max_examples=10, deadline=None)
def test_every_trace_can_be_exported(trace: fe.Trace) -> None:
    document = model_explorer_graphs(trace)
    data = fe.model_explorer_data(trace)
    json.dumps([document, data, fe.chrome_trace(trace)], allow_nan=False)
    names = {found["id"] for found in document["graphs"]}
    for found in document["graphs"]:
        ids = [each["id"] for each in found["nodes"]]
        assert len(set(ids)) == len(ids)
        assert {edge["sourceNodeId"] for each in found["nodes"] for edge in each["incomingEdges"]} <= set(ids)
    assert all(set(kind) <= names for kind in data.values())
    assert len(rows(fe.csv_tables(trace)["steps"])) == len(trace.steps)


@pytest.mark.parametrize("error", [nan, inf])
def test_nan_is_omitted_from_json(error: float) -> None:
    trace = small_trace()
    steps = list(trace.steps)
    broken = Numerics("eager", (OutputError("0", error, error, error, 1, False),))
    steps[8] = replace(steps[8], numerics=(broken,), latency=())
    found = replace(trace, steps=tuple(steps))
    json.dumps([fe.model_explorer_data(found), fe.chrome_trace(found)], allow_nan=False)


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    fe.save(replace(small_trace(), name=HOSTILE), tmp_path / "small.fztrace")
    return tmp_path / "small.fztrace"


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("model-explorer", ["small.json", "small.constants.json", "small.latency.json", "small.error.json"]),
        ("csv", ["small.steps.csv", "small.baselines.csv", "small.attributes.csv"]),
        ("perfetto", ["small.perfetto.json"]),
    ],
)
def test_written_files_are_listed(
    small_file: Path, form: str, names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(small_file), "--format", form]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed == [str(small_file.with_name(name)) for name in names]
    for path in map(Path, listed):
        text: Any = path.read_bytes().decode()
        if path.suffix == ".json":
            assert json.loads(text)
        else:
            assert text == fe.csv_tables(fe.load(small_file))[path.suffixes[0][1:]]


def test_one_step_to_another_place(small_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["export", str(small_file), "--format", "model-explorer", "--step", "8", "-o", str(tmp_path / "fold.json")]
    assert main(line) == 0
    assert capsys.readouterr().out.splitlines()[0] == str(tmp_path / "fold.json")
    assert len(json.loads((tmp_path / "fold.json").read_text())["graphs"]) == 1


@pytest.mark.parametrize(
    ("form", "given", "first"),
    [
        ("csv", "net", "net.steps.csv"),
        ("csv", "net.v1", "net.v1.steps.csv"),
        ("csv", "net.csv", "net.steps.csv"),
        ("model-explorer", "net", "net.json"),
        ("perfetto", "net.trace", "net.trace"),
    ],
)
def test_names_of_several_files_begin_with_what_was_given(
    small_file: Path, form: str, given: str, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(small_file), "--format", form, "-o", str(small_file.with_name(given))]) == 0
    assert capsys.readouterr().out.splitlines()[0] == str(small_file.with_name(first))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "csv", "--step", "1"], "--step is for --format model-explorer only"),
        (["--format", "model-explorer", "--step", "99"], "there is no step 99"),
    ],
)
def test_wrong_use_exits_with_2(
    small_file: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(small_file), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_form_is_needed(small_file: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["export", str(small_file)])
    assert ended.value.code == 2


def test_a_failed_freeze_can_be_exported() -> None:
    for trace in (failed_trace(), empty_trace()):
        json.dumps([model_explorer_graphs(trace), fe.chrome_trace(trace)], allow_nan=False)
        assert set(fe.csv_tables(trace)) == {"steps", "baselines", "attributes"}
