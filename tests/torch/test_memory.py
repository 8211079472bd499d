from __future__ import annotations

import hashlib
import math
from collections.abc import Callable

import pytest
import torch

from freeze_engine.tensors.constants import StorageNames, constant_bytes, constant_of
from freeze_engine.trace import Constant

VALUES = torch.tensor([[1.0, -2.0, 3.0], [0.0, 5.0, 5.0]])


def digest(tensor: torch.Tensor) -> str:
    return hashlib.sha256(tensor.contiguous().numpy().tobytes()).hexdigest()[:16]


def test_a_constant_is_described_by_its_elements() -> None:
    assert constant_of(VALUES.clone(), StorageNames()) == Constant(
        shape=(2, 3),
        dtype="float32",
        device="cpu",
        nbytes=24,
        storage="s0",
        digest=digest(VALUES),
        minimum=-2.0,
        maximum=5.0,
        mean=2.0,
        std=pytest.approx(math.sqrt((1 + 16 + 1 + 4 + 9 + 9) / 6)),  # type: ignore[arg-type]
    )


def test_views_share_a_storage_and_differ_in_digest() -> None:
    storages = StorageNames()
    matrix = VALUES.clone()
    found = [constant_of(view, storages) for view in (matrix, matrix.t(), matrix[1], matrix.clone())]
    assert [constant.storage for constant in found] == ["s0", "s0", "s0", "s1"]
    assert found[0].digest == found[3].digest
    assert found[1].digest == digest(VALUES.t())
    assert (found[2].minimum, found[2].nbytes) == (0.0, 12)


@pytest.mark.parametrize(
    ("make", "dtype", "nbytes", "ends"),
    [
        (lambda: torch.tensor(3), "int64", 8, (3.0, 3.0)),
        (lambda: torch.tensor([True, False]), "bool", 2, (0.0, 1.0)),
        (lambda: torch.tensor([1.5, -1.0]).bfloat16(), "bfloat16", 4, (-1.0, 1.5)),
        (lambda: torch.tensor([1.5, -1.0]).half(), "float16", 4, (-1.0, 1.5)),
        (lambda: torch.tensor([1.5, -1.0]).to(torch.float8_e4m3fn), "float8_e4m3fn", 2, (-1.0, 1.5)),
        (lambda: torch.tensor([3 + 4j, 1j]), "complex64", 16, (1.0, 5.0)),
        (lambda: torch.tensor([3 + 4j, 1j]).conj(), "complex64", 16, (1.0, 5.0)),
        (lambda: VALUES.to_mkldnn(), "float32", 24, (-2.0, 5.0)),
        (lambda: VALUES.to_sparse(), "float32", 5 * (4 + 16), (-2.0, 5.0)),
        (lambda: VALUES.to_sparse_csr(), "float32", 5 * (4 + 8) + 3 * 8, (-2.0, 5.0)),
        (lambda: VALUES.to_sparse_csc(), "float32", 5 * (4 + 8) + 4 * 8, (-2.0, 5.0)),
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse CS. tensor support is in beta state:UserWarning")
def test_every_dtype_and_layout(
    make: Callable[[], torch.Tensor], dtype: str, nbytes: int, ends: tuple[float, float]
) -> None:
    tensor = make()
    storages = StorageNames()
    found = constant_of(tensor, storages)
    assert (found.dtype, found.nbytes, (found.minimum, found.maximum)) == (dtype, nbytes, ends)
    assert found.digest is not None
    assert len(found.digest) == 16
    assert found.storage == ("s0" if tensor.layout is torch.strided else None)
    assert constant_of(tensor, storages) is found


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_quantised_statistics_are_those_of_the_values() -> None:
    tensor = torch.quantize_per_tensor(torch.tensor([1.0, -2.0]), 0.5, 3, torch.qint8)
    found = constant_of(tensor, StorageNames())
    assert found == Constant((2,), "qint8", "cpu", 2, "s0", found.digest, -2.0, 1.0, -0.5, 1.5)


def quantised(scale: float = 0.5, zero: int = 3) -> torch.Tensor:
    return torch.quantize_per_tensor(scale * (torch.tensor([[5.0, -1.0], [0.0, 2.0]]) - zero), scale, zero, torch.qint8)


def quantised_by_channel(scales: tuple[float, ...] = (0.5, 0.25), zero: int = 0, axis: int = 0) -> torch.Tensor:
    values = torch.ones(2, 2)
    return torch.quantize_per_channel(values, torch.tensor(scales), torch.tensor([zero, 0]), axis, torch.qint8)


@pytest.mark.filterwarnings("ignore:.*quantiz.*:UserWarning")
def test_digest_of_a_quantised_tensor_includes_its_parameters() -> None:
    equal = [constant_of(make(), StorageNames()) for make in (quantised, quantised)]
    assert equal[0] == equal[1]
    others = (
        quantised(),
        quantised(0.25),
        quantised(zero=4),
        quantised_by_channel(),
        quantised_by_channel((0.5, 0.5)),
        quantised_by_channel(zero=1),
        quantised_by_channel(axis=1),
    )
    assert torch.equal(others[0].int_repr(), others[1].int_repr())
    assert len({constant_of(tensor, StorageNames()).digest for tensor in others}) == len(others)


def test_an_opaque_tensor_has_the_digest_of_its_dense_form() -> None:
    assert constant_of(VALUES.to_mkldnn(), StorageNames()).digest == digest(VALUES)


def test_non_finite_elements_are_counted_and_left_out() -> None:
    found = constant_of(torch.tensor([math.nan, 1.0, math.inf, 3.0]), StorageNames())
    assert (found.minimum, found.maximum, found.mean, found.std, found.nonfinite) == (1.0, 3.0, 2.0, 1.0, 2)
    nothing = constant_of(torch.tensor([math.nan]), StorageNames())
    assert (nothing.minimum, nothing.std, nothing.nonfinite) == (None, None, 1)
    huge = constant_of(torch.tensor([1e308, 1e308], dtype=torch.float64), StorageNames())
    assert (huge.maximum, huge.nonfinite) == (1e308, 0)


def test_meta_and_empty_tensors() -> None:
    storages = StorageNames()
    assert constant_of(torch.empty(2, 3, device="meta"), storages) == Constant((2, 3), "float32", "meta", 24)
    empty = constant_of(torch.empty(0, 3), storages)
    assert empty == Constant((0, 3), "float32", "cpu", 0, "s0", hashlib.sha256().hexdigest()[:16])


def test_statistics_of_many_elements_are_merged_exactly() -> None:
    tensor = torch.arange(3_000_000, dtype=torch.float64) + 1e9
    found = constant_of(tensor, StorageNames())
    assert found.mean == pytest.approx(1e9 + 1_499_999.5, rel=1e-15)
    assert found.std == pytest.approx(math.sqrt((3_000_000**2 - 1) / 12), rel=1e-9)


def test_a_written_tensor_is_described_anew() -> None:
    storages = StorageNames()
    tensor = VALUES.clone()
    before = constant_of(tensor, storages)
    assert constant_of(tensor.detach(), storages) is before
    tensor.add_(1)
    after = constant_of(tensor, storages)
    assert (after.storage, after.maximum) == ("s0", 6.0)
    with torch.inference_mode():
        untracked = torch.ones(1)
        assert constant_of(untracked, storages).maximum == 1.0
        untracked.add_(1)
        assert constant_of(untracked, storages).maximum == 2.0


def test_a_freed_storage_is_neither_kept_nor_mistaken() -> None:
    storages = StorageNames()
    names = set()
    for value in range(50):
        tensor = torch.full((1000,), float(value))
        found = constant_of(tensor, storages)
        names.add(found.storage)
        assert found.mean == value
        del tensor
    assert len(names) == 50


def test_constants_of_a_graph_are_recognised_in_its_copy() -> None:
    class Scale(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight

    graph = torch.jit.freeze(torch.jit.script(Scale().eval())).graph
    storages = StorageNames()

    def described(graph: torch.Graph) -> list[Constant]:
        nodes = graph.findAllNodes("prim::Constant")
        return [constant_of(node.t("value"), storages) for node in nodes if node.kindOf("value") == "t"]

    first, again = described(graph), described(graph.copy())
    assert len(first) == 1
    assert first[0] is again[0]


def test_shared_memory_counts_once() -> None:
    storages = StorageNames()
    matrix = VALUES.clone()
    tied = [constant_of(view, storages) for view in (matrix, matrix.t(), matrix, matrix.clone())]
    assert constant_bytes(tied) == 48
    slices = [constant_of(row, storages) for row in matrix]
    assert constant_bytes(slices) == 24
    assert constant_bytes([Constant((2,), "float32", "cpu", 8), Constant((2,), "float32", "cpu", 8)]) == 16
    assert constant_bytes([]) == 0
