"""The numbers of constants that a trace keeps: of every kind of tensor, within limits, and only if they are wanted."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

import freeze_engine as fe
from freeze_engine.tensors import values
from freeze_engine.tensors.constants import StorageNames
from freeze_engine.tensors.statistics import Scratch, statistics_of
from freeze_engine.trace import ValueSummary

NAN, INF = float("nan"), float("inf")


def summary(tensor: torch.Tensor) -> ValueSummary:
    found = StorageNames(keeping_values=True).constant(tensor).values
    assert found is not None
    return found


def bins(**counts: int) -> tuple[int, ...]:
    return tuple(counts.get(f"at{number}", 0) for number in range(values.BINS))


def quantised() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.quantize_per_tensor(torch.tensor([-1.0, 0.0, 1.0]), 0.5, 0, torch.qint8)


def sparse() -> torch.Tensor:
    return torch.tensor([[0.0, 2.0], [0.0, 4.0]]).to_sparse()


ENDS = bins(at0=1, at31=1)
FLOAT8 = torch.tensor([1.0, 0.0]).to(torch.float8_e4m3fn)
UNSIGNED = torch.tensor([0, 2**63], dtype=torch.uint64)
HUGE = torch.tensor([-1.7e308, 1.7e308], dtype=torch.float64)
TENSORS = {
    "floats": (torch.tensor([0.0, 1.0, 1.0]), ValueSummary(1, 0, bins(at0=1, at31=2), 3, (0.0, 1.0, 1.0))),
    "bool": (torch.tensor([True, False]), ValueSummary(1, 0, ENDS, 2, (1.0, 0.0))),
    "one number": (torch.tensor([3, 3]), ValueSummary(0, 0, bins(at0=2), 2, (3.0, 3.0))),
    "empty": (torch.tensor([]), ValueSummary(0)),
    "scalar": (torch.tensor(5.0), ValueSummary(0, 0, bins(at0=1), 1, (5.0,))),
    "complex": (torch.tensor([3 + 4j, 0j]), ValueSummary(1, 0, ENDS, 2, (5.0, 0.0))),
    "quantised": (quantised(), ValueSummary(1, 0, bins(at0=1, at16=1, at31=1), 3, (-1.0, 0.0, 1.0))),
    "sparse": (sparse(), ValueSummary(2, 0, ENDS, 2, (2.0, 4.0))),
    "8 bit": (FLOAT8, ValueSummary(1, 0, ENDS, 2, (1.0, 0.0))),
    "unsigned": (UNSIGNED, ValueSummary(1, 0, ENDS, 2, (0.0, 2.0**63))),
    "huge": (HUGE, ValueSummary(0, 0, ENDS, 2, (-1.7e308, 1.7e308))),
}


@pytest.mark.parametrize(("tensor", "expected"), TENSORS.values(), ids=TENSORS)
def test_numbers_of_a_tensor(tensor: torch.Tensor, expected: ValueSummary) -> None:
    assert summary(tensor) == expected


def test_nonfinite_elements_are_counted_separately() -> None:
    found = summary(torch.tensor([NAN, INF, 0.0, 2.0]))
    assert (found.zeros, found.nans, found.histogram, found.counted) == (1, 1, ENDS, 4)
    assert summary(torch.tensor([NAN, NAN])).histogram == ()


def test_a_meta_tensor_has_no_numbers() -> None:
    assert StorageNames(keeping_values=True).constant(torch.empty(2, device="meta")).values is None


def test_a_large_tensor_is_sampled_over_all_of_it_but_zeros_are_counted() -> None:
    tensor = torch.arange(4 * values.SAMPLED, dtype=torch.float32)
    tensor[1::2] = 0
    found = summary(tensor)
    assert found.counted == values.SAMPLED == sum(found.histogram)
    assert found.zeros == 2 * values.SAMPLED + 1
    assert min(found.histogram) > 500
    assert len(found.first) == values.FIRST


def test_sampled_places_are_on_the_device_of_the_tensor() -> None:
    values._places_in(4 * values.SAMPLED)  # real, as a trace's first constant leaves them
    with FakeTensorMode(allow_non_fake_inputs=True):
        found = values._sampled(torch.empty(4 * values.SAMPLED, device="cuda"))
    assert (found.device.type, found.numel()) == ("cuda", values.SAMPLED)


def test_a_trace_sums_up_no_more_constants_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freeze_engine.tensors.constants.MOST_SUMMARIES", 2)
    names = StorageNames(keeping_values=True)
    found = [names.constant(torch.ones(2)) for _ in range(3)]
    assert [constant.values is not None for constant in found] == [True, True, False]


class ConvBn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 1, bias=False)
        self.bn = nn.BatchNorm2d(2)
        nn.init.constant_(self.conv.weight, 0.5)
        nn.init.constant_(self.bn.running_var, 4.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(self.conv(x))


def test_a_folded_weight_has_its_numbers_before_and_after() -> None:
    trace = fe.record(ConvBn().eval(), torch.ones(1, 1, 2, 2), measure=None).trace
    fate = trace.attribute("conv.weight")
    assert fate is not None
    assert fate.fate == "folded"
    assert fate.tensor is not None
    assert fate.tensor.values is not None
    assert fate.tensor.values.first == (0.5, 0.5)
    final = trace.final("forward")
    assert final is not None
    held = [
        node.constant
        for node in final.graph.walk()
        if node.constant is not None and node.constant.shape == (2, 1, 1, 1)
    ]
    assert [constant.values is not None and constant.values.first[0] for constant in held] == [
        pytest.approx(0.25, rel=1e-4)
    ]


def test_numbers_can_be_left_out() -> None:
    quiet = fe.Measure(latency=False, numerics=False, memory=False, values=False)
    with fe.capture(values=False) as captured:
        trace = fe.record(ConvBn().eval(), torch.ones(1, 1, 2, 2), measure=quiet).trace
    for found in (trace, *captured.traces):
        constants = [node.constant for step in found.steps for node in step.graph.walk() if node.constant is not None]
        assert constants
        assert all(constant.values is None for constant in constants)
        assert all(fate.tensor is None for fate in found.attributes)


@pytest.mark.parametrize("size", [4096, 4097, 70_000, (1 << 20) + 5])
def test_moments_of_a_large_tensor_do_not_depend_on_the_threads(size: int) -> None:
    numbers = torch.randn(size, generator=torch.Generator().manual_seed(size)) * 3 + 2
    expected = numbers.double()
    found = []
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            constant = StorageNames().constant(numbers)
            assert constant.mean == pytest.approx(expected.mean().item(), rel=1e-12)
            assert constant.std == pytest.approx(expected.std(correction=0).item(), rel=1e-12)
            found.append((constant.mean, constant.std))
    finally:
        torch.set_num_threads(threads)
    assert size <= 4096 or found[0] == found[1]


def test_describing_a_large_tensor_leaves_it_as_it_was() -> None:
    for dtype in (torch.float32, torch.float64, torch.int64):
        numbers = torch.arange(10_000).to(dtype)
        constant = StorageNames(keeping_values=True).constant(numbers)
        assert torch.equal(numbers, torch.arange(10_000).to(dtype))
        assert (constant.minimum, constant.maximum, constant.mean) == (0.0, 9999.0, 4999.5)


class _Copies(TorchDispatchMode):
    """Counts the copies that are made of tensors of a shape."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape
        self.count = 0

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        is_copy = func in (torch.ops.aten.clone.default, torch.ops.aten.contiguous.default)
        self.count += is_copy and tuple(args[0].shape) == self.shape
        return func(*args, **(kwargs or {}))


def test_elements_out_of_order_are_copied_once() -> None:
    tensor = torch.rand(4, 8, 3, 3)
    reordered = tensor.to(memory_format=torch.channels_last)
    with _Copies((4, 8, 3, 3)) as copies:
        found = StorageNames(keeping_values=True).constant(reordered)
    assert copies.count == 1
    assert found == StorageNames(keeping_values=True).constant(tensor)


def test_nonfinite_elements_are_counted_and_excluded_from_the_moments() -> None:
    numbers = torch.ones(10_000)
    numbers[:3] = torch.tensor([NAN, INF, -INF])
    constant = StorageNames(keeping_values=True).constant(numbers)
    assert (constant.nonfinite, constant.mean, constant.std, constant.minimum) == (3, 1.0, 0.0, 1.0)
    assert constant.values is not None
    assert constant.values.nans == 1


@pytest.mark.parametrize(
    "elements",
    [
        torch.full((1 << 16,), 1e304, dtype=torch.float64),
        torch.triu(torch.full((128, 128), torch.finfo(torch.float64).min, dtype=torch.float64), 1).flatten(),
    ],
    ids=["large", "causal mask"],
)
def test_moments_of_elements_whose_sum_overflows_are_those_of_torch(elements: torch.Tensor) -> None:
    found = statistics_of(elements, Scratch())
    variance, mean = torch.var_mean(elements, correction=0)
    assert (found.mean, found.squares / found.count) == (float(mean), float(variance))


def test_a_tensor_whose_sum_overflows_on_both_sides_is_described() -> None:
    halves = [torch.full((1 << 15,), sign * 1.7e308, dtype=torch.float64) for sign in (1, -1)]
    constant = StorageNames().constant(torch.cat(halves))
    assert (constant.minimum, constant.maximum, constant.nonfinite) == (-1.7e308, 1.7e308, 0)


@pytest.mark.parametrize("zeros", [[-0.0, -0.0], [0.0, 1.0], [-1.0, -0.0]])
def test_a_zero_keeps_its_sign(zeros: list[float]) -> None:
    numbers = torch.tensor(zeros)
    constant = StorageNames().constant(numbers)
    low, high = torch.aminmax(numbers.double())
    assert [str(end) for end in (constant.minimum, constant.maximum)] == [str(low.item()), str(high.item())]
