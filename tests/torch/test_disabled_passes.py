"""A freeze with disabled passes."""

from __future__ import annotations

import re
from unittest import mock

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.inductor.capture.disabled_passes import DisabledPasses, check_disabled_passes
from freeze_engine.trace import Notice
from tests.torch import inductor_recording as inductor, models

FOLD = "FoldFrozenConvBatchnorm"
NOTICE = "Disabled passes: {}. {} alone gives another result."


def image() -> torch.Tensor:
    return torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)


def recorded(*disabled: str, **options) -> fe.Recording:
    return fe.record(
        models.filled(models.TwoRounds()),
        options=fe.TorchScriptOptions(disabled_passes=disabled, **options),
        measure=None,
    )


def names(trace: fe.Trace) -> list[str]:
    return [step.name for step in trace.steps]


@pytest.mark.parametrize("name", ["RemoveDropout", "FrozenConcatLinear", FOLD, "FoldFrozenConvMulOrDiv"])
def test_disabled_pass_runs_in_no_round(name):
    whole, without = recorded().trace, recorded(name).trace
    assert name in names(whole)
    assert name not in names(without)
    assert set(names(whole)) - {name} == set(names(without))


def test_disabled_fold_leaves_the_batch_norm_in_the_module():
    model = models.filled(models.TwoRounds())
    frozen = fe.record(model, options=fe.TorchScriptOptions(disabled_passes=(FOLD,)), measure=None).module
    kinds = [node.kind() for node in frozen.graph.nodes()]
    assert "aten::batch_norm" in kinds
    torch.testing.assert_close(frozen(image()), model(image()))


def test_trace_names_the_disabled_passes():
    trace = recorded(FOLD, "FrozenLinearTranspose", optimize_for_inference=True).trace
    listed = f"{FOLD}, FrozenLinearTranspose"
    assert dict(trace.options)["disabled_passes"] == f"['{FOLD}', 'FrozenLinearTranspose']"
    assert f"disabled_passes=('{FOLD}', 'FrozenLinearTranspose')" in trace.call
    assert Notice("left_out", NOTICE.format(listed, "torch.jit.freeze")) in trace.notices
    assert names(trace)[-1] == "ConvertFrozenOpsToMKLDNN"
    assert not [notice for notice in recorded().trace.notices if notice.code == "left_out"]


def test_preserved_method_keeps_its_dropouts_if_their_removal_is_disabled():
    model = models.filled(models.TwoMethods())
    options = fe.TorchScriptOptions(preserved_attrs=("features",), disabled_passes=("RemoveDropout",))
    trace = fe.record(torch.jit.script(model), options=options, measure=None).trace
    assert {step.name for step in trace.method_steps("features")} >= {"FrozenConcatLinear", FOLD}
    assert "RemoveDropout" not in " ".join(names(trace))
    options = fe.TorchScriptOptions(preserved_attrs=("features",), disabled_passes=("FrozenConcatLinear",))
    with pytest.raises(fe.FreezerError, match="only together with FrozenConcatLinear"):
        fe.record(torch.jit.script(model), options=options, measure=None)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "FoldConvBn",
            r"there is no such pass \(did you mean FoldFrozenConvBatchnorm\?\); passes that can be disabled: Remove",
        ),
        ("xyz", "there is no such pass; passes that can be disabled: RemoveDropout, "),
        ("EliminateDeadCode", "this pass cannot be disabled, because it runs inside torch._C._freeze_module"),
    ],
)
def test_refused_name_lists_the_passes_that_can_be_disabled(name, said):
    with pytest.raises(fe.FreezerError, match=f"without {name}: {said}"):
        recorded(name)


def test_torch_without_bindings_of_single_passes_refuses_to_disable_one(monkeypatch):
    monkeypatch.delattr(torch._C, "_jit_pass_fold_frozen_linear_bn")
    with pytest.raises(fe.FreezerError, match="has no bindings of the single passes"):
        recorded(FOLD)


class _EnoughError(Exception):
    """Ends a compile before code is generated, which takes most of its time."""


def test_inductor_disables_named_and_unnamed_passes():
    disabled = ("binary_folding", "remove_noop_ops", "decide_layout_opt")
    lowering = mock.patch.object(torch._inductor.graph.GraphLowering, "run", side_effect=_EnoughError)
    with inductor.fresh(), lowering, pytest.raises(Exception, match="_EnoughError") as raised:
        inductor.record(models.filled(models.ConvBn()), image(), disabled_passes=disabled)
    trace = fe.partial_trace(raised.value)
    assert trace is not None
    assert {*disabled[:2], "convert_conv_weights_to_channels_last"}.isdisjoint(names(trace))
    assert {"constant_fold", "replace_params_with_constants", "pass_patterns[0]"} <= set(names(trace))
    assert dict(trace.options)["disabled_passes"] == repr(disabled)
    last = next(step for step in trace.steps if step.name == "stable_topological_sort")
    assert "aten.sub.Tensor" in str(last.graph)  # of the batch norm


def test_inductor_refuses_names_that_cannot_be_disabled():
    model = models.filled(models.ConvBn())
    with inductor.fresh():
        with pytest.raises(fe.FreezerError, match="without freeze: this pass cannot be disabled, because it is many"):
            inductor.record(model, image(), disabled_passes=("freeze",))
        with pytest.raises(
            fe.FreezerError, match=r"no such pass \(did you mean binary_folding\?\); .* reorder_for_loc"
        ):
            inductor.record(model, image(), disabled_passes=("binary_fold",))


@pytest.mark.parametrize("name", ["binary_folding", "pass_patterns[4]", "remove_noop_ops", "pass_pattern_1"])
def test_inductor_refuses_unknown_names_before_it_compiles(name):
    check_disabled_passes((name,))
    with pytest.raises(fe.FreezerError, match=f"without x_{re.escape(name)}: there is no such pass"):
        check_disabled_passes((f"x_{name}",))
    # A pass of the user's own may run others, under any name.
    with torch._inductor.config.patch(post_grad_custom_pre_pass=print):
        check_disabled_passes((f"x_{name}",))


def test_pass_that_a_compile_does_not_reach_is_named():
    disabled = DisabledPasses(("remove_noop_ops", "fuse_ddp_communication"), met={"remove_noop_ops": None})
    with pytest.raises(fe.FreezerError, match="fuse_ddp_communication: compiling this model does not reach that"):
        disabled.check_met()
