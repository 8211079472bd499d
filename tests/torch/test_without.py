"""A freeze with passes left out."""

from __future__ import annotations

import re
from unittest import mock

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.inductor.capture.disabled_passes import LeavingOut, check_without
from freeze_engine.trace import Notice
from tests.torch import inductor_recording as inductor, models

FOLD = "FoldFrozenConvBatchnorm"
LEFT_OUT = "Left out, as asked for: {}. This is not what {} gives."


def image() -> torch.Tensor:
    return torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)


def recorded(*without: str, **options) -> fe.Recording:
    return fe.record(
        models.filled(models.TwoRounds()), options=fe.TorchScriptOptions(without=without, **options), measure=None
    )


def names(trace: fe.Trace) -> list[str]:
    return [step.name for step in trace.steps]


@pytest.mark.parametrize("name", ["RemoveDropout", "FrozenConcatLinear", FOLD, "FoldFrozenConvMulOrDiv"])
def test_a_pass_that_is_left_out_is_in_no_round(name):
    whole, without = recorded().trace, recorded(name).trace
    assert name in names(whole)
    assert name not in names(without)
    assert set(names(whole)) - {name} == set(names(without))


def test_the_module_is_the_one_without_the_pass():
    model = models.filled(models.TwoRounds())
    frozen = fe.record(model, options=fe.TorchScriptOptions(without=(FOLD,)), measure=None).module
    kinds = [node.kind() for node in frozen.graph.nodes()]
    assert "aten::batch_norm" in kinds
    torch.testing.assert_close(frozen(image()), model(image()))


def test_the_trace_says_what_was_left_out():
    trace = recorded(FOLD, "FrozenLinearTranspose", optimize_for_inference=True).trace
    listed = f"{FOLD}, FrozenLinearTranspose"
    assert dict(trace.options)["without"] == f"['{FOLD}', 'FrozenLinearTranspose']"
    assert f"without=('{FOLD}', 'FrozenLinearTranspose')" in trace.call
    assert Notice("left_out", LEFT_OUT.format(listed, "torch.jit.freeze")) in trace.notices
    assert names(trace)[-1] == "ConvertFrozenOpsToMKLDNN"
    assert not [notice for notice in recorded().trace.notices if notice.code == "left_out"]


def test_a_method_that_torch_treats_as_a_whole_loses_its_dropouts_or_not():
    model = models.filled(models.TwoMethods())
    options = fe.TorchScriptOptions(preserved_attrs=("features",), without=("RemoveDropout",))
    trace = fe.record(torch.jit.script(model), options=options, measure=None).trace
    assert {step.name for step in trace.method_steps("features")} >= {"FrozenConcatLinear", FOLD}
    assert "RemoveDropout" not in " ".join(names(trace))
    options = fe.TorchScriptOptions(preserved_attrs=("features",), without=("FrozenConcatLinear",))
    with pytest.raises(fe.FreezerError, match="only together with FrozenConcatLinear"):
        fe.record(torch.jit.script(model), options=options, measure=None)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "FoldConvBn",
            r"there is no such pass \(did you mean FoldFrozenConvBatchnorm\?\); what can be left out: Remove",
        ),
        ("xyz", "there is no such pass; what can be left out: RemoveDropout, "),
        ("EliminateDeadCode", "it cannot be left out, for it runs inside torch._C._freeze_module"),
    ],
)
def test_what_cannot_be_left_out_is_told_with_what_can(name, said):
    with pytest.raises(fe.FreezerError, match=f"without {name}: {said}"):
        recorded(name)


def test_a_torch_without_the_single_passes_cannot_leave_one_out(monkeypatch):
    monkeypatch.delattr(torch._C, "_jit_pass_fold_frozen_linear_bn")
    with pytest.raises(fe.FreezerError, match="has no bindings of the single passes"):
        recorded(FOLD)


class _EnoughError(Exception):
    """Ends a compile before code is generated, which takes most of its time."""


def test_inductor_leaves_out_what_it_names_and_what_it_does_not():
    left_out = ("binary_folding", "remove_noop_ops", "decide_layout_opt")
    lowering = mock.patch.object(torch._inductor.graph.GraphLowering, "run", side_effect=_EnoughError)
    with inductor.fresh(), lowering, pytest.raises(Exception, match="_EnoughError") as raised:
        inductor.record(models.filled(models.ConvBn()), image(), without=left_out)
    trace = fe.partial_trace(raised.value)
    assert trace is not None
    assert {*left_out[:2], "convert_conv_weights_to_channels_last"}.isdisjoint(names(trace))
    assert {"constant_fold", "replace_params_with_constants", "pass_patterns[0]"} <= set(names(trace))
    assert dict(trace.options)["without"] == repr(left_out)
    last = next(step for step in trace.steps if step.name == "stable_topological_sort")
    assert "aten.sub.Tensor" in str(last.graph)  # of the batch norm


def test_inductor_tells_what_cannot_be_left_out():
    model = models.filled(models.ConvBn())
    with inductor.fresh():
        with pytest.raises(fe.FreezerError, match="without freeze: it cannot be left out, for it is many passes"):
            inductor.record(model, image(), without=("freeze",))
        with pytest.raises(
            fe.FreezerError, match=r"no such pass \(did you mean binary_folding\?\); .* reorder_for_loc"
        ):
            inductor.record(model, image(), without=("binary_fold",))


@pytest.mark.parametrize("name", ["binary_folding", "pass_patterns[4]", "remove_noop_ops", "pass_pattern_1"])
def test_inductor_knows_before_it_compiles_which_names_a_pass_can_have(name):
    check_without((name,))
    with pytest.raises(fe.FreezerError, match=f"without x_{re.escape(name)}: there is no such pass"):
        check_without((f"x_{name}",))
    # A pass of the user's own may run others, under any name.
    with torch._inductor.config.patch(post_grad_custom_pre_pass=print):
        check_without((f"x_{name}",))


def test_inductor_tells_which_pass_a_compile_does_not_come_to():
    leaving = LeavingOut(("remove_noop_ops", "fuse_ddp_communication"), met={"remove_noop_ops": None})
    with pytest.raises(fe.FreezerError, match="fuse_ddp_communication: compiling this model does not come to that"):
        leaving.check_met()
