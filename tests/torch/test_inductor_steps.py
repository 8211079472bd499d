"""Every pass of a freezing compile as a step, held against what torch itself says and computes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
import torch

import freeze_engine as fe
from freeze_engine.analysis import input_attributes, pass_notes
from freeze_engine.analysis.pass_explanations.graph_facts import GraphFacts
from freeze_engine.backends.inductor.graph.rows import KEPT_BYTES, TensorRef
from freeze_engine.trace import Step, Trace
from freeze_engine.trace.validation import check_trace
from tests.torch import inductor_models
from tests.torch.inductor_models import Attention, Convolutional, Wide, filled
from tests.torch.inductor_recording import fresh, image, passes, plant_wrong_rewrite, record

FREEZING = [
    ("inline_parameters", "view_to_reshape", None),
    ("inline_parameters", "replace_params_with_constants", None),
    ("inline_parameters", "fx_graph_cse", None),
    ("freezing_passes", "fake_tensor_prop", None),
    ("freezing_passes", "mark_mixed_dtype_allowed_computation_ops", None),
    *[
        ("freezing_passes", name, number)
        for number in (1, 2, 3, 4)
        for name in ("constant_fold", "fake_tensor_prop", "binary_folding")
    ],
    ("freezing_passes", "recover_original_precision_folded_computation_ops", None),
    ("freezing_passes", "constant_fold", None),
    ("freezing_passes", "fake_tensor_prop", None),
]


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What torch itself returned inside the recorded compile."""
    return {}


@pytest.fixture(scope="module")
def convolutional(told: dict[str, Any]) -> Iterator[fe.Recording]:
    freezing = torch._inductor.freezing
    freeze = freezing.freeze

    def spied(*args: Any) -> Any:
        told["module"], told["preserved"] = freeze(*args)
        return told["module"], told["preserved"]

    with fresh():
        with mock.patch.object(freezing, "freeze", spied):
            recording = record(filled(Convolutional()), image())
        yield recording


@pytest.fixture(scope="module")
def trace(convolutional: fe.Recording) -> Trace:
    return convolutional.trace


def named(trace: Trace, stage: str) -> list[Step]:
    return [step for step in trace.steps if step.stage == stage]


def test_a_trace_is_valid_and_survives_a_file(trace: Trace):
    check_trace(trace)
    assert fe.loads(fe.dumps(trace)) == trace


def test_every_pass_has_a_sentence_and_what_is_said_to_be_absent_is_not_in_the_graph(trace: Trace):
    absent = {"view": "aten.view.", "amax, with which a softmax begins": "aten.amax", "scan": "higher_order.scan"}
    checked = []
    for step, (note,) in zip(trace.steps, pass_notes(trace), strict=True):
        assert note.does, step
        assert not (step.changed and note.why_not), step
        words = note.why_not.removeprefix("The graph has no ").removesuffix(".")
        if words in absent:
            assert not any(node.op.startswith(absent[words]) for node in step.graph.walk()), step
            checked.append(words)
    assert set(checked) == set(absent)


def test_a_graph_that_is_said_to_be_in_the_best_order_is_left_as_it_is(trace: Trace):
    (step,) = (step for step in trace.steps if step.name == "reorder_for_locality")
    before = trace.before(step)
    assert before is not None
    assert not (step.changed and GraphFacts(before.graph).is_local)


def test_inputs_that_are_attributes_are_marked(trace: Trace):
    (told,) = input_attributes(trace).values()
    inputs = [value.name for value in trace.steps[0].graph.inputs]
    assert list(told) == inputs[: len(told)]
    assert sorted(told.values()) == [fate.path for fate in trace.attributes if fate.fate != "dropped"]


def test_stages_follow_each_other_as_torch_runs_them(trace: Trace):
    stages = list(dict.fromkeys(step.stage for step in trace.steps))
    assert stages == [
        "input",
        "joint_graph",
        "layout",
        "fake_tensor",
        "inline_parameters",
        "freezing_passes",
        "post_grad",
        "compile",
    ]


def test_freezing_is_reported_pass_by_pass(trace: Trace):
    steps = [*named(trace, "inline_parameters"), *named(trace, "freezing_passes")]
    told = [(step.stage, step.name, step.round) for step in steps]
    assert told[: len(FREEZING)] == FREEZING
    groups = [name for _, name, _ in told[len(FREEZING) :]]
    assert groups[:3] == ["pass_patterns[0]", "pass_patterns[1]", "pass_patterns[2]"]
    assert groups[-3:] == ["eliminate_duplicate_packed_nodes", "stable_topological_sort", "constant_fold"]


def test_the_layout_and_why(trace: Trace):
    decision, conversion = named(trace, "layout")
    assert decision.log == ("channels last: yes", "1 convolutions on the CPU, where oneDNN prefers it")
    assert not decision.changed
    clones = [node for node in conversion.graph.nodes if node.op == "aten.clone.default"]
    assert [dict(node.attributes) for node in clones] == [{"memory_format": "torch.channels_last"}]


def test_a_batch_norm_is_folded_in_four_rounds(trace: Trace):
    kinds = [rewrite.kind for step in trace.steps if step.name == "binary_folding" for rewrite in step.rewrites]
    assert kinds == ["conv_add", "conv_mul", "conv_mul", "conv_add"]
    counts = Counter(line for step in trace.steps for line in step.log if "folded_op matched" in line)
    assert counts == {"pattern binary_folding_init.folded_op matched 1 time": 4}


def test_weights_are_packed(trace: Trace):
    kinds = {rewrite.kind for step in trace.steps if step.name.startswith("pass_patterns") for rewrite in step.rewrites}
    assert kinds == {"pack_convolution", "pack_linear"}


def test_remaining_inputs_agree_with_torch(trace: Trace, convolutional: fe.Recording, told: dict[str, Any]):
    last = convolutional.live[max(convolutional.live)]
    assert last.positions == tuple(told["preserved"])
    assert trace.steps[-1].log == ("argument 8 (x) is input 0", "8 arguments were constants and are dropped")
    after = next(step for step in trace.steps if step.name == "replace_params_with_constants")
    assert [value.name for value in after.graph.inputs] == ["arg8_1"]


def test_the_last_graph_is_torchs(trace: Trace, told: dict[str, Any]):
    nodes = [node for node in told["module"].graph.nodes if node.op not in ("placeholder", "output")]
    assert [node.outputs[0].name for node in trace.steps[-1].graph.nodes] == [node.name for node in nodes]


def test_the_generated_code_and_its_kernels(trace: Trace):
    (step,) = (step for step in trace.steps if step.name == "CompiledFxGraph")
    assert step.code is not None
    assert "async_compile" in step.code
    kernels = [line.split()[1] for line in step.log if line.startswith("kernel ")]
    assert kernels
    assert all(f"{kernel} = async_compile." in step.code for kernel in kernels)
    assert any(line.startswith("calls torch.ops.mkldnn._convolution_pointwise") for line in step.log)


def test_durations_are_of_the_pass_alone(trace: Trace):
    timed = {step.name: step.duration_ns for step in named(trace, "compile")}
    assert timed["GraphLowering.codegen"] > 0
    assert timed["GraphLowering.compile_to_module"] > 0
    assert sum(step.duration_ns or 0 for step in trace.steps) <= trace.duration_ns


def test_every_step_up_to_fused_lowerings_can_be_run(convolutional: fe.Recording, trace: Trace):
    live = convolutional.live
    runnable = [step.index for step in trace.steps if step.executable]
    assert sorted(live) == runnable
    fused = next(step.index for step in trace.steps if any("fusion_lowering" in line for line in step.log))
    assert runnable == list(range(fused))
    expected = filled(Convolutional())(image())
    for index in runnable:
        (actual,) = live[index].module()(*live[index].arguments)
        torch.testing.assert_close(actual, expected)


def test_constants_are_shared_between_steps(convolutional: fe.Recording):
    live = convolutional.live
    weight = convolutional.module._orig_mod.conv.weight
    inlining = next(step.index for step in convolutional.trace.steps if step.name == "replace_params_with_constants")
    inlined, folded = live[inlining].module(), live[inlining + 1].module()
    assert sum(tensor is weight for tensor in inlined.parameters()) == 1
    assert sum(tensor is weight for tensor in folded.parameters()) == 1


def test_large_constants_between_the_first_and_the_last_graph_are_not_kept():
    model, x = filled(Wide()), torch.full((1, 64, 4, 4), 0.5)
    with fresh():
        compiled = record(model, x)
    trace, live = compiled.trace, compiled.live
    refs = {row.value for each in live.values() for row in each.graph.rows if isinstance(row.value, TensorRef)}
    large = [ref.get() for ref in refs if ref.get() is not None and ref.get().numel() * 4 > KEPT_BYTES]
    assert sum(tensor is model.conv.weight for tensor in large) == 1
    assert len(large) <= 2
    expected = model(x)
    for index in live:
        torch.testing.assert_close(live[index].module()(*live[index].arguments)[0], expected, rtol=1e-4, atol=1e-4)
    assert all(node.constant is None or node.constant.digest for step in trace.steps for node in step.graph.nodes)


def test_nodes_know_their_module_and_line(trace: Trace):
    first = trace.steps[0].graph
    convolution = next(node for node in first.nodes if node.op == "aten.convolution.default")
    assert convolution.module == "conv"
    assert convolution.source is not None
    assert convolution.source.file.endswith("inductor_models.py")
    calls = [node for step in trace.steps for node in step.graph.nodes if node.op != "get_attr"]
    assert sum(node.source is not None for node in first.nodes) == len(first.nodes)
    assert {node.module for node in calls if node.module} == {"conv", "bn", "head"}


def test_a_wrong_rewrite_is_found_where_it_was_planted(monkeypatch: pytest.MonkeyPatch):
    plant_wrong_rewrite(monkeypatch)
    expected = filled(Convolutional())(image())
    with fresh():
        compiled = record(filled(Convolutional()), image())
    trace, live = compiled.trace, compiled.live
    close = {
        index: torch.allclose(live[index].module()(*live[index].arguments)[0], expected, rtol=1e-4, atol=1e-4)
        for index in live
    }
    first = min(index for index, good in close.items() if not good)
    assert trace.steps[first].name == "recover_original_precision_folded_computation_ops"
    assert [rewrite.kind for rewrite in trace.steps[first].rewrites] == ["relu_to_neg"]


def test_a_transformer_is_recorded_around_the_users_own_call():
    model = filled(Attention())
    tokens = torch.arange(10).reshape(2, 5)
    expected = model(tokens)
    with fresh(), torch.no_grad(), torch._inductor.config.patch(freezing=True), fe.capture() as captured:
        actual = torch.compile(model)(tokens)
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)
    (trace,) = captured.traces
    check_trace(trace)
    assert fe.loads(fe.dumps(trace)) == trace
    assert (trace.name, trace.backend, trace.inputs[0].shape) == ("Attention", "inductor", (2, 5))
    assert {step.stage for step in trace.steps} >= {"joint_graph", "freezing_passes", "post_grad", "compile"}
    assert captured.traces[0] is trace


def test_bf16_precision_is_recovered():
    model = filled(Convolutional()).to(torch.bfloat16)
    with fresh():
        compiled = record(model, image().to(torch.bfloat16))
    trace = compiled.trace
    check_trace(trace)
    step = next(step for step in trace.steps if step.name == "recover_original_precision_folded_computation_ops")
    made = [node for node in step.graph.nodes if node.op == "prims.convert_element_type.default"]
    assert step.changed
    assert {dict(node.attributes)["dtype"] for node in made} >= {"torch.bfloat16"}


def test_step_that_cannot_run_gives_the_reason():
    trace, live = passes(filled(Convolutional()).to(torch.bfloat16), image().to(torch.bfloat16))
    said = {step.index for step in trace.steps if any(line.startswith("cannot be run: %") for line in step.log)}
    refused = set()
    for index, graph in live.items():
        with torch.no_grad():
            try:
                graph.module()(*graph.arguments)
            except RuntimeError as error:
                assert "should be the same" in str(error) or "dtype" in str(error)  # noqa: PT017 - of those that raise
                refused.add(index)
    assert said == refused != set()


@pytest.mark.parametrize(
    ("make", "args"), [(Convolutional, (image(),)), (Attention, (torch.arange(10).reshape(2, 5),))]
)
def test_every_call_of_every_step_leads_to_a_line_of_the_user(make: type[torch.nn.Module], args: tuple[torch.Tensor]):
    with fresh():
        trace = record(filled(make()), *args).trace
    calls = [node for step in trace.steps for node in step.graph.walk() if node.op != "get_attr"]
    assert [node.id for node in calls if node.source is None] == []
    assert {node.source.file for node in calls} == {inductor_models.__file__}
