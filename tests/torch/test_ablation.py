"""What each pass contributes on its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.worker import RecordRequest
from tests.progress import check_phases
from tests.torch import inductor_recording as inductor, models

QUICK = fe.Measure(seconds=0.2, input_sets=1)


def test_each_pass_that_did_something_is_held_against_the_freeze_without_it():
    reports: list[tuple[str, int, int]] = []
    recording = fe.record(
        "example:bf16_misfold", measure=QUICK, ablation=True, progress=lambda *report: reports.append(report)
    )
    check_phases(reports, RecordRequest("example:bf16_misfold", Path("net.fztrace"), measure=QUICK, ablation=True))
    trace = recording.trace
    (found,) = trace.ablation
    assert (found.stage, found.name, found.error) == ("optimize_frozen_graph", "FoldFrozenConvBatchnorm", None)
    assert found.max_abs_with is not None
    assert found.max_abs_with > 0.1
    assert (found.max_abs_without, found.close_with, found.close_without) == (0.0, False, True)
    (payoff,) = found.latency
    assert (payoff.device, payoff.ratio.low <= payoff.ratio.value <= payoff.ratio.high) == ("cpu", True)
    # The recording itself is of the whole freeze.
    assert trace.steps[15].name == "FoldFrozenConvBatchnorm"
    assert trace.call.endswith("ablation=True)")
    assert "ablation: freezing without FoldFrozenConvBatchnorm" in [message for message, _, _ in reports]
    assert fe.loads(fe.dumps(trace)) == trace


def test_only_measured_effects_are_reported():
    measure = fe.Measure(latency=False, input_sets=1)
    trace = fe.record(models.filled(models.TwoMethods()), image(), measure=measure, ablation=True).trace
    assert [(found.name, found.latency) for found in trace.ablation] == [
        ("RemoveDropout", ()),
        ("FoldFrozenConvBatchnorm", ()),
    ]
    measure = fe.Measure(numerics=False, seconds=0.1)
    trace = fe.record(models.filled(models.TwoMethods()), image(), measure=measure, ablation=True).trace
    assert [(found.max_abs_with, found.close_without, len(found.latency)) for found in trace.ablation] == [
        (None, None, 1),
        (None, None, 1),
    ]


def image() -> torch.Tensor:
    return torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)


def test_a_freeze_that_fails_without_a_pass_says_why(monkeypatch):
    binding = "_jit_pass_fold_frozen_conv_bn"
    original = getattr(torch._C, binding)
    calls: list[int] = []

    def failing(graph):
        calls.append(1)
        if len(calls) > 2:  # the two rounds of the whole freeze are fine
            raise RuntimeError("planted")
        return original(graph)

    monkeypatch.setattr(torch._C, binding, failing)
    measure = fe.Measure(latency=False, input_sets=1)
    trace = fe.record(models.filled(models.TwoMethods()), image(), measure=measure, ablation=True).trace
    assert [(found.name, found.error) for found in trace.ablation] == [
        ("RemoveDropout", "RuntimeError: planted"),
        ("FoldFrozenConvBatchnorm", None),
    ]


def test_pass_without_changes_gets_no_contribution():
    trace = fe.record(nn.ReLU().eval(), image(), measure=QUICK, ablation=True).trace
    assert trace.ablation == ()
    assert [notice.code for notice in trace.notices if notice.code == "nothing_to_ablate"] == ["nothing_to_ablate"]


def test_state_that_the_model_writes_is_put_back_between_runs():
    trace = fe.record("example:counter", measure=QUICK, ablation=True).trace
    assert trace.ablation == ()


@pytest.mark.parametrize(
    ("inputs", "options", "measure", "said"),
    [
        (None, fe.TorchScriptOptions(), QUICK, "ablation runs the model: give inputs"),
        ((torch.ones(1),), fe.TorchScriptOptions(), None, "measure at least one"),
        (
            (torch.ones(1),),
            fe.InductorOptions(discard_parameters=True),
            QUICK,
            "discard_parameters takes its parameters",
        ),
    ],
)
def test_impossible_ablation_is_refused_before_the_freeze(inputs, options, measure, said):
    backend = "inductor" if isinstance(options, fe.InductorOptions) else "torchscript"
    with pytest.raises(fe.FreezerError, match=said):
        fe.record(nn.ReLU().eval(), inputs, backend=backend, options=options, measure=measure, ablation=True)  # type: ignore[arg-type]


def test_inductor_passes_contribute_as_well():
    measure = fe.Measure(latency=False, input_sets=1)
    with inductor.fresh():
        trace = fe.record(
            models.filled(nn.Sequential(nn.Linear(4, 4), nn.ReLU())),
            torch.linspace(-1, 1, 8).reshape(2, 4),
            backend="inductor",
            measure=measure,
            ablation=True,
        ).trace
    found = {each.name: each for each in trace.ablation}
    assert "replace_params_with_constants" not in found
    assert found
    assert [each.error for each in found.values()] == [None] * len(found)
    assert all(each.close_with and each.close_without for each in found.values())
