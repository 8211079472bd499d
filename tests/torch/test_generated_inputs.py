"""Inputs beside the user's: what must hold for whatever is drawn."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from freeze_engine.measure.candidate import Candidate
from freeze_engine.measure.input_sets import input_sets
from freeze_engine.measure.numerics import NumericsOptions, measure_numerics, refusals
from freeze_engine.requests.inputs import Inputs
from freeze_engine.trace import Notice


def drawn(tensor: torch.Tensor, count: int = 3) -> list[torch.Tensor]:
    """The generated tensors, each of the kind of the given one, which stays as it is."""
    before = tensor.detach().clone()
    found = [each.inputs.args[0] for each in input_sets(Inputs((tensor,)), count)[1:]]
    assert torch.equal(tensor.nan_to_num() if tensor.is_floating_point() else tensor, _plain(before))
    for each in found:
        assert (each.shape, each.dtype, each.stride()) == (tensor.shape, tensor.dtype, tensor.stride())
    return found


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.nan_to_num() if tensor.is_floating_point() else tensor


def names(*args: Any, count: int = 3) -> list[str]:
    return [each.name for each in input_sets(Inputs(args), count)]


def test_floats_are_drawn_at_their_scale_in_turns_similar_and_wide() -> None:
    given = 5 + 2 * torch.randn(4000, generator=torch.Generator().manual_seed(0))
    similar, wide = drawn(given)
    assert names(given, count=5) == ["given", "similar", "wide", "similar 2", "wide 2"]
    assert similar.mean() == pytest.approx(5, abs=0.2)
    assert similar.std() == pytest.approx(2, abs=0.2)
    assert given.min() <= similar.min() < similar.max() <= given.max()
    assert wide.square().mean().sqrt() == pytest.approx(float(given.square().mean().sqrt()))
    octaves = wide.abs().log2()
    assert octaves.quantile(0.9) - octaves.quantile(0.1) > 6


def test_the_same_inputs_give_the_same_sets_and_the_users_random_state_is_left_alone() -> None:
    given, before = torch.randn(8), torch.random.get_rng_state()
    one, other = drawn(given, 4), drawn(given, 4)
    assert all(torch.equal(first, second) for first, second in zip(one, other, strict=True))
    assert len({tuple(each.tolist()) for each in one}) == 3
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_inputs_drawn_with_a_plain_seed_are_not_drawn_again(seed: int) -> None:
    given = torch.randn(100, generator=torch.Generator().manual_seed(seed))
    for each in drawn(given):
        assert abs(float(torch.corrcoef(torch.stack([given, each]))[0, 1])) < 0.5


def test_generated_inputs_stay_nonnegative() -> None:
    for each in drawn(torch.rand(50)):
        assert each.min() >= 0


def test_constant_floats_do_not_stay_constant() -> None:
    for value in (0.0, 1.0):
        for each in drawn(torch.full((9,), value)):
            assert each.unique().numel() == 9


def test_a_float_mask_keeps_its_values_and_its_infinities() -> None:
    mask = torch.tensor([0.0, -1e4, 0.0, -1e4, 0.0, -1e4, -1e4, 0.0])
    causal = torch.full((4, 4), -math.inf).triu(1)
    for each in drawn(mask):
        assert set(each.tolist()) == {0.0, -1e4}
    for each in drawn(causal):
        assert torch.equal(each.isinf(), causal.isinf())
        assert each.tril().isfinite().all()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.int8])
def test_integers_stay_within_their_range_so_that_indices_stay_valid(dtype: torch.dtype) -> None:
    given = torch.tensor([[7, 3, 100], [9, 3, 50]], dtype=dtype)
    assert names(given) == ["given", "similar", "similar 2"]
    for each in drawn(given):
        assert 3 <= int(each.min()) <= int(each.max()) <= 100
        assert not torch.equal(each, given)


def test_the_largest_integers_do_not_overflow() -> None:
    ends = torch.iinfo(torch.int64)
    for each in drawn(torch.tensor([ends.max, ends.min, ends.max, 0])):
        assert each.shape == (4,)


def test_sorted_inputs_stay_sorted_with_their_ends() -> None:
    for each in drawn(torch.tensor([0, 3, 3, 8, 20])):
        assert (int(each[0]), int(each[-1])) == (0, 20)
        assert (each.diff() >= 0).all()


def test_flags_are_drawn_with_their_share_and_what_is_equal_to_the_given_is_left_out() -> None:
    (one, _) = drawn(torch.arange(4000) % 4 == 0)
    assert float(one.double().mean()) == pytest.approx(0.25, abs=0.05)
    assert {bool(each) for each in drawn(torch.tensor(True), 12)} == {False}


def test_complex_numbers_half_precision_and_strides_are_kept() -> None:
    for given in (torch.randn(6, dtype=torch.complex64), torch.randn(6).bfloat16(), torch.randn(3, 4).T):
        assert len(drawn(given)) == 2


@pytest.mark.parametrize(
    "args",
    [(), (3, "text", None), (torch.zeros(3, dtype=torch.int64),), (torch.empty(0),), (torch.eye(2).to_sparse(),)],
)
def test_without_anything_to_vary_there_is_only_the_given_set(args: tuple[Any, ...]) -> None:
    assert names(*args) == ["given"]


def test_a_tensor_in_two_places_stays_one_and_everything_else_stays() -> None:
    x = torch.randn(3)
    for each in input_sets(Inputs((x, [x, 2.5]), {"flag": True}), 3)[1:]:
        first, (second, number) = each.inputs.args
        assert first is second
        assert (number, each.inputs.kwargs) == (2.5, {"flag": True})


class Picky(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not bool((x.sum() == 3.0).item()):
            raise ValueError("the sum must be 3")
        return x + 1


def test_refused_inputs_are_reported_and_skipped() -> None:
    options = NumericsOptions(input_sets=3)
    report = measure_numerics([Candidate(0, Picky())], Picky(), (torch.ones(3),), {}, options)
    assert [(entry.inputs, entry.reference, entry.close) for entry in report.numerics[0]] == [
        ("given", "eager", True),
        ("given", "float64", True),
    ]
    assert set(report.refused) == {"similar", "wide"}
    first, second = refusals(report)
    assert first.code == second.code == "inputs_refused"
    assert "'similar'" in first.message
    assert "ValueError: the sum must be 3" in first.message


def test_a_candidate_that_refuses_what_the_model_accepts_is_in_error() -> None:
    options = NumericsOptions(input_sets=2, reference64=False)
    report = measure_numerics([Candidate(0, Picky())], torch.nn.Identity(), (torch.ones(3),), {}, options)
    assert report.refused == {}
    given, similar = report.numerics[0]
    assert (given.inputs, given.error, given.close) == ("given", None, False)
    assert (similar.inputs, similar.error) == ("similar", "ValueError: the sum must be 3")


def test_refused_inputs_are_not_varied() -> None:
    report = measure_numerics([Candidate(0, Picky())], Picky(), (torch.zeros(3),), {}, NumericsOptions(input_sets=3))
    assert report.refused == {"given": "the eager module did not run: ValueError: the sum must be 3"}
    assert [entry.inputs for entry in report.numerics[0]] == ["given", "given"]
    said = "Nothing was compared: the model does not run on the inputs (ValueError: the sum must be 3)."
    assert refusals(report) == (Notice("nothing_ran", said),)


def test_one_lucky_input_hides_no_error() -> None:
    """A rewrite that drops a factor is right for ones, as #121253 was for the default."""

    class Scaled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * x

    candidate = Candidate(0, lambda x: x)
    report = measure_numerics([candidate], Scaled(), (torch.ones(3),), {}, NumericsOptions(input_sets=3))
    assert [entry.close for entry in report.numerics[0] if entry.reference == "eager"] == [True, False, False]
