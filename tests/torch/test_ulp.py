"""Distance in units in the last place, held against `torch.nextafter` and the bit patterns themselves."""

from __future__ import annotations

import math

import pytest
import torch

from freeze_engine.tensors.ulp import max_ulp

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("start", [1.0, -1.0, 0.0, -0.0, 0.3, 6.1e-5])
@pytest.mark.parametrize("direction", [math.inf, -math.inf])
def test_so_many_numbers_away_is_that_distance(dtype: torch.dtype, start: float, direction: float) -> None:
    first = torch.tensor([start], dtype=dtype)
    current, toward = first, torch.tensor([direction], dtype=dtype)
    for distance in range(4):
        assert max_ulp(current, first) == max_ulp(first, current) == distance
        current = torch.nextafter(current, toward)


@pytest.mark.parametrize("dtype", FLOATS)
def test_both_zeros_are_one_number_and_the_smallest_lie_two_apart(dtype: torch.dtype) -> None:
    zero, smallest = torch.tensor([0.0], dtype=dtype), torch.tensor([torch.finfo(dtype).smallest_normal], dtype=dtype)
    assert max_ulp(zero, -zero) == 0
    to_zero = max_ulp(smallest, zero)
    assert to_zero == 2 ** {torch.float16: 10, torch.bfloat16: 7, torch.float32: 23, torch.float64: 52}[dtype]
    assert max_ulp(smallest, -smallest) == 2 * to_zero


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("actual", "expected", "distance"),
    [
        ([math.inf, -math.inf, math.nan], [math.inf, -math.inf, math.nan], 0.0),
        ([math.inf], [-math.inf], math.inf),
        ([math.inf], [1.0], math.inf),
        ([1.0], [math.nan], math.inf),
        ([], [], 0.0),
    ],
)
def test_nonfinite_values_have_no_ulp_distance(
    dtype: torch.dtype, actual: list[float], expected: list[float], distance: float
) -> None:
    assert max_ulp(torch.tensor(actual, dtype=dtype), torch.tensor(expected, dtype=dtype)) == distance


def test_the_largest_distance_does_not_overflow() -> None:
    largest = torch.tensor([torch.finfo(torch.float64).max], dtype=torch.float64)
    assert max_ulp(largest, -largest) == 2.0 * 0x7FEFFFFFFFFFFFFF
    assert max_ulp(largest, 0 * largest) == float(0x7FEFFFFFFFFFFFFF)


def test_strided_and_nested_shapes_count_every_element() -> None:
    one = torch.ones(4, 3)
    other = one.clone()
    other[2, 1] = 1 + 5 * 2**-23
    assert max_ulp(one.T, other.T) == 5


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, torch.complex64, torch.float8_e4m3fn])
def test_other_dtypes_have_none(dtype: torch.dtype) -> None:
    assert max_ulp(torch.ones(2).to(dtype), torch.ones(2).to(dtype)) is None
    assert max_ulp(torch.ones(2), torch.ones(2, dtype=torch.float64)) is None
