"""One model frozen by both backends, side by side."""

from __future__ import annotations

import pytest
from torch import Tensor, nn

import freeze_engine as fe
from freeze_engine.analysis.trace_diff.pass_correspondence import CORRESPONDENCES
from tests.torch.inductor_models import Convolutional, filled
from tests.torch.inductor_recording import fresh, image, record


class Nested(nn.Module):
    """Its convolutions stand in numbered modules, and a buffer stays in both backends."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.Sequential(Convolutional(), nn.Sequential(nn.Linear(4, 4), nn.Dropout()))
        self.register_buffer("calls", Tensor([0.0]))

    def forward(self, x: Tensor) -> Tensor:
        self.calls.add_(1)
        return self.parts(x) + self.calls


@pytest.fixture(scope="module")
def both() -> tuple[fe.Trace, fe.Trace]:
    options = fe.TorchScriptOptions(optimize_for_inference=True)
    script = fe.record(filled(Nested()), image(), options=options, measure=None).trace
    with fresh():
        return script, record(filled(Nested()), image()).trace


def parts(trace: fe.Trace) -> set[str]:
    return {part for step in trace.steps for part in (step.name, *step.name.split(", "))}


def test_every_pass_of_the_table_is_one_that_torch_has(both) -> None:
    for index, found in enumerate(map(parts, both)):
        sides = [(each.torchscript, each.inductor)[index] for each in CORRESPONDENCES]
        wanted = {name for side in sides for name in side.passes}
        numbered = {name.partition("[")[0] for name in found} | {name.rpartition("_")[0] for name in found}
        # Channels last pays off for larger convolutions only.
        missing = {"convert_conv_weights_to_channels_last"}
        assert wanted - found - numbered <= missing


def test_both_fold_the_same_modules(both) -> None:
    [folds] = [pair for pair in fe.diff_traces(*both).pairs if pair.purpose == "fold into convolutions"]
    assert folds.before.rewrites == (("conv_bn", 1),)
    assert folds.after.rewrites == (("conv_add", 2), ("conv_mul", 2))
    assert folds.before.modules == folds.after.modules == ("parts.0.bn", "parts.0.conv")


def test_paths_of_attributes_are_the_same_and_so_are_the_fates(both) -> None:
    diff = fe.diff_traces(*both)
    assert diff.attributes == ()
    tensors = [{fate.path: fate.fate for fate in trace.attributes if fate.shape is not None} for trace in both]
    assert tensors[0] == tensors[1]
    assert (tensors[0]["calls"], tensors[0]["parts.0.conv.weight"]) == ("preserved", "folded")


def test_no_node_of_one_backend_is_called_like_one_of_the_other(both) -> None:
    diff = fe.diff_traces(*both)
    ours, theirs = (
        {node.id for step in trace.steps for node in step.graph.walk()} for trace in (diff.before, diff.after)
    )
    assert ours.isdisjoint(theirs)
