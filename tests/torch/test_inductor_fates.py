"""What became of each parameter and buffer, and why."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.inductor.capture.dynamo_code import _sources
from freeze_engine.trace import AttributeFate, Location, Trace
from freeze_engine.trace.validation import check_trace
from tests.torch.inductor_models import Attention, Convolutional, Stateful, filled
from tests.torch.inductor_recording import fresh, image, record, rows


@pytest.fixture(scope="module")
def stateful() -> Iterator[Trace]:
    with fresh():
        trace = record(filled(Stateful()), rows(2, 4)).trace
        check_trace(trace)
        yield trace


@pytest.fixture(scope="module")
def convolutional() -> Iterator[Trace]:
    with fresh():
        trace = record(filled(Convolutional()), image()).trace
        yield trace


def fate(trace: Trace, path: str) -> AttributeFate:
    found = trace.attribute(path)
    assert found is not None
    return found


def test_every_tensor_of_the_module_has_a_fate(stateful: Trace):
    assert {each.path: (each.kind, each.fate, each.reason) for each in stateful.attributes} == {
        "calls": ("buffer", "preserved", "mutated_input"),
        "lin.bias": ("parameter", "inlined", None),
        "lin.weight": ("parameter", "preserved", "aliases_output"),
        "out.bias": ("parameter", "inlined", None),
        "out.weight": ("parameter", "inlined", None),
        "returned": ("buffer", "preserved", "read_live"),
        "shift": ("attribute", "inlined", None),
        "unused": ("buffer", "dropped", None),
    }


def test_a_buffer_that_forward_writes(stateful: Trace):
    calls = fate(stateful, "calls")
    (evidence,) = calls.evidence
    assert evidence.op == "aten.copy_.default"
    assert evidence.source is not None
    assert line_of(stateful, evidence.source.line) == "self.calls.add_(1)"
    assert calls.locations[0].value in {value.name for value in stateful.steps[-1].graph.inputs}


def test_a_parameter_that_an_output_aliases(stateful: Trace):
    (evidence,) = fate(stateful, "lin.weight").evidence
    assert "output 1 aliases it" in evidence.fact
    assert evidence.op == "aten.view.default"
    assert [link.op for link in evidence.chain] == ["aten.view.default"]
    assert evidence.source is not None
    assert "self.lin.weight.view(-1)" in line_of(stateful, evidence.source.line)


def test_buffers_that_never_enter_the_graph(stateful: Trace):
    (returned,), (unused,) = fate(stateful, "returned").evidence, fate(stateful, "unused").evidence
    assert "the code around the graph reads it from the module and returns it" in returned.fact
    assert "does not read it" in unused.fact


def test_values_on_the_stack_are_followed_into_lists_and_dictionaries():
    def held(source: str | None, items: object = ()) -> object:
        return SimpleNamespace(source=source, items=items)

    values = [held("a"), held(None, [held("b"), held(None)]), held(None, {"k": held("c")}), held("d", [held("e")])]
    assert list(_sources([*values, object()])) == ["a", "b", "c", "d"]


def test_a_weight_and_its_batch_norm_become_one_constant(convolutional: Trace):
    weight, scale = fate(convolutional, "conv.weight"), fate(convolutional, "bn.weight")
    assert (weight.fate, scale.fate) == ("folded", "folded")
    assert set(weight.locations) < set(scale.locations)
    (held,) = weight.locations
    node = next(node for node in convolutional.steps[-1].graph.nodes if node.outputs[0].name == held.value)
    assert node.constant is not None
    assert node.constant.shape == (8, 3, 3, 3)
    assert weight.step is not None
    step = convolutional.steps[weight.step]
    assert (step.name, step.round) == ("constant_fold", 4)
    assert any({"conv.weight", "bn.weight", "bn.running_var"} <= set(each.attributes) for each in step.rewrites)


def test_a_packed_weight_is_inlined_not_folded(convolutional: Trace):
    head = fate(convolutional, "head.weight")
    assert head.fate == "inlined"
    assert any("reorder" in location.value for location in head.locations)


def test_a_constant_is_the_product_torch_says_it_is():
    """The recorded origin of the fused weight, computed by hand, is what the graph holds."""
    model = filled(Convolutional())
    with fresh():
        compiled = record(model, image())
    trace, live = compiled.trace, compiled.live
    step = next(step for step in trace.steps if step.name == "pass_patterns[0]").index - 1
    scale = model.bn.weight / torch.sqrt(model.bn.running_var + model.bn.eps)
    expected = model.conv.weight * scale.reshape(-1, 1, 1, 1)
    held = [tensor for tensor in live[step].module().buffers() if tensor.dim() == 4]
    torch.testing.assert_close(held, [expected.detach()])


def test_a_tied_weight_has_one_fate_under_both_names():
    with fresh():
        trace = record(filled(Attention()), torch.arange(10).reshape(2, 5)).trace
    embedded, head = fate(trace, "embed.weight"), fate(trace, "head.weight")
    assert embedded.fate == head.fate == "inlined"
    assert embedded.locations == head.locations
    assert (embedded.same_as, head.same_as) == ("", "embed.weight")


def test_freezing_as_a_compile_option_freezes_nothing():
    """torch 2.13: Dynamo asks ``config.freezing`` while it traces, ``options`` are applied after that."""
    model = filled(Convolutional())
    with fresh(), torch.no_grad(), fe.capture() as captured:
        torch.compile(model, options={"freezing": True})(image())
    (trace,) = captured.traces
    check_trace(trace)
    assert "nothing_frozen" in [notice.code for notice in trace.notices]
    judged = {each.path: (each.fate, each.reason) for each in trace.attributes}
    assert judged["conv.weight"] == ("preserved", "not_a_parameter")
    assert set(judged.values()) == {("preserved", "not_a_parameter")}
    assert fate(trace, "conv.weight").locations == (Location("forward", "arg0_1"),)


def test_discarded_parameters_are_reported():
    with fresh():
        compiled = record(filled(Convolutional()), image(), discard_parameters=True)
    trace = compiled.trace
    check_trace(trace)
    assert "parameters_discarded" in [notice.code for notice in trace.notices]
    assert fate(trace, "conv.weight").nbytes == 8 * 3 * 3 * 3 * 4
    with pytest.raises(RuntimeError, match="original parameters have been discarded"):
        compiled.module._orig_mod(image())


def line_of(trace: Trace, number: int) -> str:
    for lines in trace.sources:
        if lines.first_line <= number < lines.first_line + len(lines.lines):
            return lines.lines[number - lines.first_line].strip()
    raise AssertionError(f"line {number} is not among the sources")
