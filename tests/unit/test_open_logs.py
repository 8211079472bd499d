"""Logs of ``TORCH_TRACE``, and folders of ``TORCH_COMPILE_DEBUG``."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
import zipfile
from pathlib import Path

import pytest

import freeze_engine as fe
from freeze_engine.opening import existing_kind, open_existing
from freeze_engine.opening.code_graph import CodeError
from freeze_engine.opening.compile_debug import compile_folders
from freeze_engine.opening.fx_code import fx_graph
from freeze_engine.opening.provenance import provenance_of
from freeze_engine.opening.structured_log import read_log
from tests.existing import COMPILE_DEBUG, unpacked_log
from viewer.cli import main
from viewer.page import trace_data


def _opened(name: str, folder: Path) -> fe.Trace:
    trace = open_existing(unpacked_log(name, folder))
    assert (trace.origin, trace.backend, fe.problems(trace)) == ("torch_trace", "inductor", ())
    return trace


def _stages(trace: fe.Trace) -> list[tuple[str, str]]:
    return [(step.stage, step.name) for step in trace.steps]


def _codes(trace: fe.Trace) -> list[str]:
    return [notice.code for notice in trace.notices]


def test_log_of_frozen_compile_has_its_graphs_kernels_and_settings(tmp_path: Path) -> None:
    trace = _opened("frozen", tmp_path)
    assert _stages(trace) == [
        ("dynamo", "dynamo_output_graph"),
        ("pre_grad", "before_pre_grad_graph"),
        ("pre_grad", "after_pre_grad_graph"),
        ("aot", "aot_inference_graph"),
        ("post_grad", "before_post_grad_graph"),
        ("post_grad", "inductor_post_grad_graph"),
    ]
    assert ("_inductor.config.freezing", "True") in trace.options
    assert trace.environment.torch == "2.13.0+cpu"
    assert trace.duration_ns
    (program,) = trace.programs
    assert (program.name, [kernel.kind for kernel in program.kernels]) == (
        "compiled with freezing",
        ["cpp", "extern", "cpp"],
    )
    aot, frozen = trace.steps[3].graph, trace.steps[4].graph
    assert aot.nodes[0].op == "aten.convolution.default"
    assert aot.nodes[0].source is not None
    assert trace.source_line(aot.nodes[0].source) == "return s.fc(s.bn(s.conv(x)).relu().mean((2,3)))"
    held = [node.constant for node in frozen.nodes if node.op == "get_attr"]
    assert [None if each is None else each.shape for each in held] == [(8,), (8, 3, 3, 3), (8, 4), (4,)]
    assert trace.steps[4].log == ("Inductor's freezing ran before this graph; its passes are not in the log.",)
    assert set(_codes(trace)) == {"cache_bypassed"}


def test_compiles_without_dynamo_are_graphs_of_their_own(tmp_path: Path) -> None:
    """torch writes such records, as those of a package of AOTInductor, without a frame and with a stack."""
    log = unpacked_log("frozen", tmp_path)
    inside = _opened("frozen", tmp_path)
    outside = []
    for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
        head, brace, fields = line.partition("] {")
        if line.startswith("\t") or not brace:
            outside.append(line)
            continue
        about = json.loads("{" + fields)
        kept = {name: value for name, value in about.items() if not name.startswith("frame_") and name != "attempt"}
        outside.append(f"{head}] {json.dumps(kept | {'stack': [{'line': 1, 'name': 'main'}]})}\n")
    log.write_text("".join(outside) * 2, encoding="utf-8")
    trace = open_existing(log)
    assert fe.problems(trace) == ()
    assert "log_cut" not in _codes(trace)
    methods = [step.method for step in trace.steps]
    assert sorted({*methods}) == ["graph 1 without Dynamo", "graph 2 without Dynamo"]
    by_inductor = [stage for stage in _stages(trace) if stage[0] != "dynamo"]
    assert by_inductor == _stages(inside)[1:] * 2


def with_record(log: Path, name: str, payload: object) -> Path:
    """Adds an artifact to a log, as torch writes it."""
    text = json.dumps(payload)
    about = {"artifact": {"name": name, "encoding": "json"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    about["has_payload"] = hashlib.md5(text.encode()).hexdigest()
    with log.open("a", encoding="utf-8") as file:
        file.write(f"V1122 18:17:22.389000 28728 torch/_inductor/compile_fx.py:1626] {json.dumps(about)}\n\t{text}\n")
    return log


def test_kernels_have_the_nodes_that_the_log_names_for_them(tmp_path: Path) -> None:
    (program,) = _opened("frozen", tmp_path).programs
    first, extern, last = (kernel.name for kernel in program.kernels)
    node = _opened("frozen", tmp_path).steps[-1].graph.nodes[-1]
    calls = {f"{first}:1": [node.outputs[0].name, "elsewhere"], f"{extern}:2": [], f"{extern}:9": ["x"], "odd": 3}
    named = {"cppCodeToPost": calls | {f"{last}:3": [node.outputs[0].name]}, "preToPost": {}}
    log = with_record(unpacked_log("frozen", tmp_path), "inductor_provenance_tracking_node_mappings", named)
    trace = open_existing(log)
    assert fe.problems(trace) == ()
    (program,) = trace.programs
    assert [(kernel.nodes, kernel.ops) for kernel in program.kernels] == [
        ((node.id,), (node.op,)),
        ((), ()),  # the log has two calls of it, the code one
        ((node.id,), (node.op,)),
    ]
    assert trace_data(trace)


def test_kernels_are_not_linked_to_nodes_of_an_earlier_graph_with_the_same_names(tmp_path: Path) -> None:
    (program,) = _opened("frozen", tmp_path).programs
    node = _opened("frozen", tmp_path).steps[-2].graph.nodes[-1]
    named = {"cppCodeToPost": {f"{program.kernels[0].name}:1": [node.outputs[0].name]}}
    log = with_record(unpacked_log("frozen", tmp_path), "inductor_provenance_tracking_node_mappings", named)
    log.write_text(log.read_text().replace("inductor_post_grad_graph", "not_a_known_artifact"))
    (program,) = open_existing(log).programs
    assert [kernel.nodes for kernel in program.kernels] == [(), (), ()]


def test_a_compile_that_ended_as_it_began_is_a_notice(tmp_path: Path) -> None:
    log = unpacked_log("frozen", tmp_path)
    about = {"dynamo_start": {"stack": []}, "frame_id": 7, "frame_compile_id": 0, "attempt": 0}
    with log.open("a", encoding="utf-8") as file:
        file.write(f"V1122 18:17:22.389000 28728 torch/_dynamo/convert_frame.py:1626] {json.dumps(about)}\n")
    notices = [notice.message for notice in open_existing(log).notices]
    assert "graph 7/0: no graph of this compile is in the log." in notices


def test_lines_of_a_folder_may_end_as_on_windows(tmp_path: Path) -> None:
    folder = tmp_path / "model__0_inference_0.0"
    folder.mkdir()
    graph = b"class <lambda>(torch.nn.Module):\r\n    def forward(self, x):\r\n        return (x,)\r\n"
    (folder / "fx_graph_readable.py").write_bytes(graph)
    (folder / "fx_graph_runnable.py").write_bytes(b"torch._inductor.config.freezing = True\r\n")
    assert open_existing(folder).options == (("_inductor.config.freezing", "True"),)


@pytest.mark.parametrize(
    "calls", [None, 3, [], {"k": ["n"]}, {"k:x": ["n"]}, {"k:1": "n"}, {":1": ["n"]}, {"k:" + "9" * 99: ["n"]}]
)
def test_provenance_of_another_form_is_left_out(calls: object) -> None:
    assert provenance_of({"cppCodeToPost": calls}) == {}


def test_calls_of_one_kernel_keep_the_order_of_their_numbers() -> None:
    found = provenance_of({"cppCodeToPost": {"k:10": ["b", 3], "k:9": ["a"], "l:1": []}})
    assert found == {"k": [("a",), ("b",)], "l": [()]}


def test_unfrozen_compile_is_called_so_and_its_cache_hit_is_noted(tmp_path: Path) -> None:
    plain, hit = _opened("plain", tmp_path), _opened("hit", tmp_path)
    assert [program.name for program in (*plain.programs, *hit.programs)] == ["compiled", "compiled"]
    assert _codes(plain) == []
    assert _codes(hit) == ["cache_hit", "cache_hit"]
    assert [name for _, name in _stages(hit)] == [
        "dynamo_output_graph",
        "aot_inference_graph",
        "inductor_post_grad_graph",
    ]


def test_graph_breaks_and_recompilations_are_methods_with_reasons(tmp_path: Path) -> None:
    trace = _opened("breaks", tmp_path)
    assert trace.methods == ("graph 0/0", "graph 1/0", "graph 0/1", "graph 1/1")
    assert len(trace.programs) == 4
    assert [code for code in _codes(trace) if code != "cache_bypassed"] == [
        *("graph_break", "recompilation", "graph_break", "recompilation")
    ]


def test_failed_compile_has_its_exception_and_what_is_unknown(tmp_path: Path) -> None:
    trace = _opened("failed", tmp_path)
    assert trace.failure is not None
    assert (trace.failure.type, trace.failure.message.splitlines()[-1]) == (
        "BackendCompilerFailed",
        "RuntimeError: the backend fails here",
    )
    assert _codes(trace) == ["not_logged", "not_logged"]
    assert "whether freezing was on" in trace.notices[1].message


def test_verdict_of_a_log_claims_no_fates(tmp_path: Path) -> None:
    trace = _opened("frozen", tmp_path)
    summary = fe.summarize(trace)
    assert summary.frozen is None
    assert summary.sentence == (
        "Read from a log of TORCH_TRACE: 1 compiled graph, 6 snapshots; 3 kernel calls; what became of each weight, "
        "times and outputs are not in it."
    )
    view = trace_data(trace, charted=False)["view"]
    assert {step["constants"] for step in view["steps"]} == {"unknown"}
    assert view["stages"]["aot"]
    assert fe.loads(fe.dumps(trace)) == trace


def test_folder_of_logs_has_the_compiles_of_all_processes(tmp_path: Path) -> None:
    for name in ("frozen", "plain"):
        unpacked_log(name, tmp_path)
    assert existing_kind(tmp_path) == "torch_trace"
    assert open_existing(tmp_path).methods == ("log 1, graph 0/0", "log 2, graph 0/0")


def test_debug_folder_has_graphs_and_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(COMPILE_DEBUG) as packed:
        packed.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["record", "torch_compile_debug", "-o", "read.fztrace"]) == 0
    trace = fe.load("read.fztrace")
    assert (trace.origin, trace.name, fe.problems(trace)) == ("compile_debug", "torch_compile_debug", ())
    assert trace.methods == ("model__0_inference",)
    assert [name for _, name in _stages(trace)] == ["before_post_grad_graph", "after_post_grad_graph"]
    assert [len(program.kernels) for program in trace.programs] == [3]
    assert "tlparse/dedicated_log" in trace.notices[0].message
    assert existing_kind(tmp_path) is None


def test_log_that_ends_early_keeps_what_is_whole(tmp_path: Path) -> None:
    path = unpacked_log("frozen", tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"inductor_output_code") + 500])
    trace = open_existing(path)
    assert len(trace.steps) == 6
    assert trace.programs == ()
    assert {"log_cut", "not_logged"} <= set(_codes(trace))


@pytest.mark.parametrize("seed", range(12))
def test_garbled_log_gives_a_trace_or_a_documented_error(seed: int, tmp_path: Path) -> None:
    path = unpacked_log("failed", tmp_path)
    data, chance = bytearray(path.read_bytes()), random.Random(seed)
    for _ in range(40):
        position = chance.randrange(len(data))
        data[position : position + chance.randrange(1, 60)] = bytes(
            chance.choice(b'\n\t{}"0aV') for _ in range(chance.randrange(40))
        )
    path.write_bytes(data)
    if existing_kind(path) is not None:
        assert fe.problems(open_existing(path)) == ()


def _record(fields: dict[str, object], payload: str = "") -> str:
    lines = "".join(f"\t{line}\n" for line in payload.split("\n")) if payload else ""
    return f"V1122 18:11:29.883000 24460 torch/x.py:1] {json.dumps(fields)}\n{lines}"


GRAPH = "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        return (x,)"
ODD: dict[str, str] = {
    "an array": _record({"str": ["a", 0]}) + "V1122 18:11:29.883000 24460 torch/x.py:1] [1, 2]\n",
    "a negative frame": _record({"dynamo_output_graph": {}, "frame_id": -1}, GRAPH),
    "names that are no text": _record({"artifact": {"name": 3}, "frame_id": 0}),
    "metrics of odd types": _record(
        {"compilation_metrics": {"start_time": "x", "entire_frame_compile_time_s": -1, "fail_type": 4}, "frame_id": 0}
    ),
    "deep JSON": "V1122 18:11:29.883000 24460 torch/x.py:1] {" + '"a": [' * 100_000 + "\n",
    "a graph that nests deeply": _record(
        {"dynamo_output_graph": {}, "frame_id": 0}, GRAPH.replace("(x,)", "(" * 190 + "x" + ",)" * 190)
    ),
    "values that are nowhere": _record({"dynamo_output_graph": {}, "frame_id": 0}, GRAPH.replace("(x,)", "(y,)")),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_record_is_left_out_or_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.log"
    path.write_text(_record({"str": ["a", 0]}) + ODD[name] + _record({"dynamo_output_graph": {}, "frame_id": 5}, GRAPH))
    trace = open_existing(path)
    assert fe.problems(trace) == ()
    assert "graph 5/0" in trace.methods


def test_long_log_is_read_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freeze_engine.opening.structured_log._MAX_RECORDS", 3)
    found = read_log(unpacked_log("failed", tmp_path))
    assert (len(found.records), found.left_out > 0) == (3, True)


@pytest.mark.parametrize("sizes", ["9" * 5000, ", ".join(["1"] * 65), "1, 2,, 3", "9" * 40_000 + "x"])
def test_impossible_sizes_of_a_constant_are_unknown(sizes: str) -> None:
    text = f"""
class <lambda>(torch.nn.Module):
    def forward(self):
        _frozen_param0: "f32[{sizes}][1]cpu" = self._frozen_param0
        return (_frozen_param0,)
"""
    (constant, *_) = fx_graph(text, "a graph").graph.walk()
    assert (constant.op, constant.constant) == ("get_attr", None)


def test_folder_that_cannot_be_searched_is_no_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "private").mkdir()

    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    assert compile_folders(tmp_path) == ()


def test_text_that_is_no_graph_is_refused() -> None:
    with pytest.raises(CodeError, match="it has no graph"):
        fx_graph("class A(B):\n    pass", "it")


def test_log_packed_by_gzip_is_read_as_the_log_itself_also_where_it_is_cut_off(tmp_path: Path) -> None:
    log = unpacked_log("frozen", tmp_path)
    packed = tmp_path / "packed.log.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert existing_kind(packed) == "torch_trace"
    plain, same = open_existing(log, name="log"), open_existing(packed, name="log")
    assert same.steps == plain.steps
    assert same.notices == plain.notices
    packed.write_bytes(packed.read_bytes()[: packed.stat().st_size * 9 // 10])
    cut = open_existing(packed, name="log")
    assert 0 < len(cut.steps) <= len(plain.steps)
    assert "1 record of packed.log.gz is damaged or cut short" in "".join(notice.message for notice in cut.notices)
    packed.write_bytes(packed.read_bytes()[:20])
    assert existing_kind(packed) is None


def test_logs_of_several_ranks_are_named_by_them(tmp_path: Path) -> None:
    log = unpacked_log("frozen", tmp_path)
    folder = tmp_path / "logs"
    folder.mkdir()
    for rank in (0, 3):
        shutil.copy(log, folder / f"dedicated_log_torch_trace_rank_{rank}_abc.log")
    assert open_existing(folder).methods == ("rank 0, graph 0/0", "rank 3, graph 0/0")
    shutil.copy(log, folder / "dedicated_log_torch_trace_rank_3_def.log")
    assert open_existing(folder).methods == ("log 1, graph 0/0", "log 2, graph 0/0", "log 3, graph 0/0")


def test_packed_log_beyond_the_bound_is_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = unpacked_log("frozen", tmp_path)
    packed = tmp_path / "packed.log.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    monkeypatch.setattr("freeze_engine.opening.structured_log._MAX_UNPACKED_BYTES", log.stat().st_size // 2)
    reading = read_log(packed)
    assert reading.left_out == 1
    assert 0 < len(reading.records) < len(read_log(log).records)
