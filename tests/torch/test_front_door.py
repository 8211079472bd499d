"""How a model gets in: scripted, traced, from a file, by a MODEL spec."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
import weakref

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.torchscript.capture.tracer_warnings import Warned, tracer_notices
from freeze_engine.trace import InputSpec
from freeze_engine.trace.validation import check_trace
from tests.torch import graph_models, models

X = torch.linspace(-1, 1, 2)


def test_a_module_is_scripted():
    recording = fe.record(models.filled(models.Equal()), (X,), measure=None)
    check_trace(recording.trace)
    assert (recording.trace.name, recording.trace.inputs) == (
        "Equal",
        (InputSpec("0", "Tensor", (2,), "float32", "cpu"),),
    )
    assert isinstance(recording.module, torch.jit.ScriptModule)


def test_a_script_module_is_taken_as_it_is():
    scripted = torch.jit.script(models.filled(models.Equal()))
    recording = fe.record(scripted, measure=None)
    assert recording.trace.name == "Equal"
    assert torch.equal(recording.module(torch.ones(3)), scripted(torch.ones(3)))


def test_an_attribute_at_the_address_of_an_operator_that_is_gone_is_scripted_as_what_it_is(monkeypatch):
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 3)).eval()
    table = torch.jit._builtins._get_builtin_table()
    monkeypatch.setitem(table, id(model[0]._reversed_padding_repeated_twice), "aten::relu")
    known = dict(table)
    trace = fe.record(model, (torch.ones(1, 1, 3, 3),), measure=None).trace
    assert [node.op for node in trace.steps[-1].graph.nodes if not node.op.startswith("prim::")] == ["aten::conv2d"]
    assert {address: name for address, name in known.items() if address not in table} == {
        id(model[0]._reversed_padding_repeated_twice): "aten::relu"
    }


def test_torch_remembers_the_address_of_an_operator_that_another_overload_replaced(monkeypatch):
    """What the test above stands on; where it fails, torch has mended it, and `forget_dead_builtins` can go."""
    table = torch.jit._builtins._get_builtin_table()
    # As torch has it: the tests' own keeps every operator alive.
    monkeypatch.setattr(torch.jit._builtins, "_register_builtin", lambda fn, op: table.update({id(fn): op}))
    with torch.library._scoped_library("freezer_front_door", "DEF") as library:
        library.define("act(int x) -> int")
        gone = weakref.ref(torch.ops.freezer_front_door.act.op)
        address = id(gone())
        library.define("act.other(float x) -> float")
        assert gone() is None
        assert table.pop(address) == "freezer_front_door::act"
        del table[id(torch.ops.freezer_front_door.act.op)]


def test_tracer_warnings_are_notices_and_still_warnings():
    with pytest.warns(torch.jit.TracerWarning, match="Converting a tensor to a Python boolean") as told:
        recording = fe.record(models.filled(graph_models.DataDependent()), (X + 2,), via="trace", measure=None)
    notices = [notice for notice in recording.trace.notices if notice.code == "tracer_warning"]
    assert [notice.message for notice in notices] == [
        f"{each.filename}:{each.lineno}: {each.message}" for each in told if each.category is torch.jit.TracerWarning
    ]
    assert graph_models.__file__ in [each.filename for each in told]


class WarnedOfInTorch(torch.nn.Module):
    """Its mask is looked at in torch's own code, twice; its input here, twice."""

    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1)

    def forward(self, x, mask):
        for _ in range(2):
            x = x + 1 if x.sum() > 0 else x
        return self.encoder(x, mask=mask)


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_a_tracer_warning_names_the_lines_of_the_user():
    mask = torch.nn.Transformer.generate_square_subsequent_mask(2)
    trace = fe.record(WarnedOfInTorch().eval(), (torch.ones(1, 2, 4), mask), via="trace", measure=None).trace
    (message,) = [notice.message for notice in trace.notices if notice.code == "tracer_warning"]
    first = WarnedOfInTorch.forward.__code__.co_firstlineno
    places = ", ".join(f"{__file__}:{first + line}" for line in (2, 3))
    assert message.startswith(f"{places}: Converting a tensor to a Python boolean")


def test_many_lines_are_counted():
    told = [Warned("text", torch.jit.TracerWarning, "model.py", 1, f"model.py:{line}") for line in (*range(7), 3)]
    assert [notice.message for notice in tracer_notices([*told, Warned("no", UserWarning, "a.py", 1, "a.py:1")])] == [
        "model.py:0, model.py:1, model.py:2, model.py:3 and 3 more: text"
    ]


def test_a_tracer_warning_that_comes_several_times_is_shown_once():
    model = models.filled(torch.nn.Sequential(*(graph_models.DataDependent() for _ in range(3))))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        fe.record(model, (X + 2,), via="trace", measure=None)
    assert [each.category for each in told if each.filename == graph_models.__file__] == [torch.jit.TracerWarning]


def test_a_tracer_warning_made_an_error_by_the_user_is_one():
    with pytest.raises(torch.jit.TracerWarning):
        fe.record(models.filled(graph_models.DataDependent()), (X + 2,), via="trace", measure=None)


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_a_difference_between_check_inputs_is_a_notice():
    model = models.filled(graph_models.DataDependent())
    recording = fe.record(model, (X + 2,), via="trace", check_inputs=[(X - 5,)], measure=None)
    (notice,) = [notice for notice in recording.trace.notices if notice.code == "check_inputs_differ"]
    assert "aten::sub" in notice.message
    assert recording.trace.failure is None


def test_check_inputs_that_agree_are_silent():
    model = models.filled(models.Linears())
    x = torch.ones(2, 4)
    recording = fe.record(model, (x,), via="trace", check_inputs=[(x * 2,), (x[:1],)], measure=None)
    assert not [notice for notice in recording.trace.notices if notice.code.startswith(("tracer", "check"))]


def test_tracing_with_keywords():
    inputs = fe.Inputs((), {"x": torch.ones(2, 4)})
    recording = fe.record(models.filled(models.Linears()), inputs, via="trace", measure=None)
    assert recording.trace.inputs == (InputSpec("x", "Tensor", (2, 4), "float32", "cpu"),)
    node = next(node for node in recording.trace.steps[-1].graph.walk() if node.op == "aten::linear")
    assert node.module in ("first", "second")


def test_module_that_returns_a_dict_is_traced_without_strict():
    trace = fe.record(graph_models.ReturnsDict().eval(), (X,), via="trace", measure=fe.Measure(latency=False)).trace
    check_trace(trace)
    assert "traced_not_strict" in [notice.code for notice in trace.notices]
    assert all(numerics.close and len(numerics.outputs) == 2 for step in trace.steps for numerics in step.numerics)


@pytest.mark.parametrize("via", ["script", "trace"])
def test_a_module_that_keeps_a_result_with_a_gradient_is_recorded(via):
    model = models.filled(graph_models.KeepsResult())
    model(torch.ones(1, 2))
    measure = fe.Measure(latency=False, input_sets=1)
    trace = fe.record(model, (torch.ones(1, 2),), via=via, measure=measure, checks=fe.CHECKS, ablation=True).trace
    check_trace(trace)
    assert all(numerics.close for numerics in trace.steps[-1].numerics)
    assert "failed" not in [check.verdict for check in trace.checks]
    assert trace.failure is None


@pytest.mark.parametrize(
    ("inputs", "message"),
    [(None, "needs inputs to trace"), (fe.Inputs((X,), {"y": X}), "positional or keyword inputs, not both")],
)
def test_tracing_that_cannot_be_done(inputs, message):
    with pytest.raises(fe.FreezerError, match=message):
        fe.record(models.filled(models.Equal()), inputs, via="trace", measure=None)


def test_wrong_arguments():
    model = models.filled(models.Equal())
    with pytest.raises(fe.FreezerError, match="via='guess'"):
        fe.record(model, via="guess", measure=None)  # type: ignore[arg-type]
    with pytest.raises(fe.FreezerError, match="backend='onnx' is not known"):
        fe.record(model, backend="onnx", measure=None)  # type: ignore[arg-type]
    with pytest.raises(fe.FreezerError, match="inputs is a int"):
        fe.record(model, 3, measure=None)  # type: ignore[arg-type]


def test_a_torchscript_file_with_map_location(tmp_path):
    path = tmp_path / "equal.pt"
    torch.jit.script(models.filled(models.Equal())).save(str(path))
    recording = fe.record(path, map_location="cpu", measure=None)
    check_trace(recording.trace)
    assert torch.equal(recording.module(torch.ones(3)), models.filled(models.Equal())(torch.ones(3)))


def test_a_model_spec():
    recording = fe.record("tests.torch.models:equal", torch.ones(3), measure=None, name="mine", call="record …")
    assert (recording.trace.name, recording.trace.call) == ("mine", "record …")
    example = fe.record("example:preserved_version", measure=None)
    assert example.trace.inputs
    assert any(fate.reason == "requested" for fate in example.trace.attributes)


def test_options_given_beside_an_example_of_its_own_preserved_names():
    options = fe.TorchScriptOptions(optimize_numerics=False)
    recording = fe.record("example:preserved_version", options=options, measure=None)
    assert any(fate.reason == "requested" for fate in recording.trace.attributes)
    assert dict(recording.trace.options)["optimize_numerics"] == "False"


def test_options():
    model = models.filled(models.TwoMethods())
    options = fe.TorchScriptOptions(optimize_for_inference=True, other_methods=("features",), optimize_numerics=False)
    trace = fe.record(model, options=options, measure=None).trace
    assert sorted(trace.methods) == ["features", "forward"]
    for method in trace.methods:
        stages = list(dict.fromkeys(step.stage for step in trace.method_steps(method)))
        assert stages == ["input", "inline", "freeze_module", "optimize_frozen_graph", "optimize_for_inference"]


def test_progress_is_reported_in_order():
    told: list[tuple[str, int, int]] = []
    fe.record(models.filled(models.Equal()), measure=None, progress=lambda *what: told.append(what))
    assert [message for message, _, _ in told] == ["scripting", "freezing", "reading what was recorded"]
    assert all(0 <= done <= total for _, done, total in told)


def test_torchscript_switched_off_is_a_clear_error():
    script = (
        "import torch, freeze_engine as fe\n"
        "try: fe.record(torch.nn.Linear(2, 2).eval(), measure=None)\n"
        "except fe.FreezerError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={"PYTORCH_JIT": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "PYTORCH_JIT=0" in done.stdout
    assert "unset" in done.stdout


def test_capture_with_torchscript_switched_off_keeps_torchs_error_and_the_reason():
    script = (
        "import torch, freeze_engine as fe\n"
        "with fe.capture() as c:\n"
        "  try: torch.jit.freeze(torch.jit.script(torch.nn.Linear(2, 2).eval()))\n"
        "  except RuntimeError as error: print('expects a ScriptModule' in str(error))\n"
        "trace, = c.traces\nprint(trace.failure.type, dict(trace.environment.settings)['jit_enabled'])"
    )
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, env={"PYTORCH_JIT": "0"}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "RuntimeError", "False"]


def test_environment_contains_settings_that_matter_silently():
    names = {name for name, _ in fe.record(models.filled(models.Equal()), measure=None).trace.environment.settings}
    assert {"jit_enabled", "profiled_runs", "profiling_mode", "fusion_strategy", "onednn_fusion", "mkldnn"} <= names


def test_device_written_into_the_code_is_reported():
    trace = fe.record(models.filled(graph_models.Odd()), measure=None).trace
    (notice,) = [notice for notice in trace.notices if notice.code == "device_baked_in"]
    assert "cpu" in notice.message


def test_setting_that_changes_the_freeze_is_reported():
    def told() -> list[str]:
        notices = fe.record(models.filled(models.Equal()), measure=None).trace.notices
        return [notice.message for notice in notices if notice.code == "unusual_setting"]

    assert told() == []
    before = torch.jit.set_fusion_strategy([("STATIC", 1)])
    try:
        (message,) = told()
    finally:
        torch.jit.set_fusion_strategy(before)
    assert "fusion_strategy is [('STATIC', 1)]" in message
    assert told() == []


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (None, {}, "the model is a NoneType: pass a torch.nn.Module in eval mode, or "),
        (models.Linears, {}, "the model is the class Linears: pass an instance of it, Linears(...), or "),
        (torch.relu, {"backend": "inductor"}, "the model is a builtin_function_or_method: pass"),
        (models.Linears(), {"measure": True}, "measure=True: pass fe.Measure(...), or None to record only"),
    ],
)
def test_object_that_cannot_be_recorded_is_refused(model, given, said):
    with pytest.raises(fe.FreezerError, match=re.escape(said)):
        fe.record(model, (X,), **given)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_input_has_no_shape():
    nested = torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)])
    trace = fe.record(models.filled(models.Linears()), (nested,), measure=fe.Measure(latency=False)).trace
    assert trace.inputs == (InputSpec("0", "Tensor", None, "float32", "cpu"),)
