"""The stale-weight probe on one compiled module. All tests here run its code, so none of them may reset Dynamo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

import freeze_engine as fe
from freeze_engine.trace import Check
from tests.torch.inductor_models import Convolutional, filled
from tests.torch.inductor_recording import fresh, image

INTEGERS = "int64, and a changed index or mask could crash the module"
RECOMPILE = (
    "After loading or changing weights, call torch.compiler.reset() and compile again; do not train a frozen module."
)


class Counting(Convolutional):
    """With a buffer that forward writes, a parameter without effect, and a tied one."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.idle = nn.Parameter(torch.ones(4))
        self.again = nn.Linear(4, 4, bias=False)
        self.twice = nn.Linear(4, 4, bias=False)
        self.twice.weight = self.again.weight

    def forward(self, x: Tensor) -> Tensor:
        self.calls.add_(1)
        return self.twice(self.again(super().forward(x))) + self.calls + 0 * self.idle


@pytest.fixture(scope="module")
def compiled() -> Iterator[tuple[nn.Module, dict[str, Tensor], fe.Recording]]:
    model = filled(Counting())
    before = {path: tensor.clone() for path, tensor in model.state_dict().items()}
    with fresh():
        yield (
            model,
            before,
            fe.record(model, image(), backend="inductor", measure=None, checks=("stale_weights",)),
        )


def test_a_compiled_module_ignores_what_became_a_constant(compiled) -> None:
    _, _, recording = compiled
    ignored = (
        "again.weight = twice.weight, bn.bias, bn.running_mean, bn.running_var, bn.weight, conv.bias, conv.weight, "
        "head.bias, head.weight"
    )
    every = (
        "again.weight = twice.weight, bn.bias, bn.running_mean, bn.running_var, bn.weight, calls, conv.bias, "
        "conv.weight, head.bias, head.weight, idle"
    )
    assert recording.trace.checks == (
        Check(
            "stale_weights",
            "passed",
            f"Freezing made constants of weights, as it is meant to: it ignores 9 of 10 changed in place. {RECOMPILE}",
            (
                "changed in place, noticed: calls",
                f"changed in place, ignored: {ignored}",
                "changed in place, without effect in the source module, too: idle",
                f"assigned anew, noticed, since torch compiles again for it: {every}",
                "all by load_state_dict: noticed in part",
                "all between train() and eval(): noticed in part",
                f"not probed ({INTEGERS}): bn.num_batches_tracked",
            ),
        ),
    )


def test_everything_is_put_back_to_the_bit(compiled) -> None:
    model, before, recording = compiled
    after = model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[path], tensor) for path, tensor in before.items())
    assert not any(module.training for module in model.modules())
    assert model.twice.weight is model.again.weight
    # Nothing was compiled again: the module still runs the code that was recorded.
    with torch.no_grad(), torch.compiler.set_stance("fail_on_recompile"):
        torch.testing.assert_close(recording.module(image()), filled(Counting())(image()))


def test_weights_changed_while_training_are_stale_in_eval(compiled) -> None:
    """pytorch/pytorch#104984 and #108863, by hand."""
    model, _, recording = compiled
    with torch.no_grad():
        model.calls.zero_()
        first = recording.module(image())
        model.train()
        model.head.weight.mul_(2)
        model.eval()
        model.calls.zero_()
        try:
            assert torch.equal(recording.module(image()), first)
            model.calls.zero_()
            assert not torch.allclose(model(image()), first)
        finally:
            model.head.weight.div_(2)
            model.calls.zero_()
