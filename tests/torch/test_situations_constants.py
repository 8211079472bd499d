"""Constants of unusual kind, frozen in the fixture `recorded`."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import pytest
import torch
from torch import nn

from tests.torch.models import filled
from tests.torch.situations import fates, frozen


class Tied(nn.Module):
    """The output's weight is the embedding's, and a view of it is a buffer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.out = nn.Linear(4, 10, bias=False)
        self.out.weight = self.embedding.weight
        self.head = self.embedding.weight.detach()[:5]

    def forward(self, places):
        return self.out(self.embedding(places)) + self.head.sum()


def test_tied_weights_and_a_view_of_them(recorded):
    frozen(Tied())
    places = {path: recorded.traces[0].attribute(path).locations for path in ("embedding.weight", "out.weight", "head")}
    assert places["embedding.weight"] == places["out.weight"] != places["head"]
    assert all(places.values())


class EqualConstants(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(3))
        self.b = nn.Parameter(torch.ones(3))
        self.i = 7
        self.j = 7

    def forward(self, x):
        return (x + self.a) * self.i + (x + self.b) * self.j


def test_equal_branches_are_merged_and_both_attributes_live_on(recorded):
    torch.jit.freeze(torch.jit.script(EqualConstants().eval()))
    assert fates(recorded, "a", "b", "i", "j") == dict.fromkeys("abij", "inlined")
    assert len({recorded.traces[0].attribute(path).locations for path in ("a", "b")}) == 1


class Tensors(nn.Module):
    def __init__(self, *tensors: torch.Tensor):
        super().__init__()
        for index, tensor in enumerate(tensors):
            self.register_buffer(f"t{index}", tensor)

    def forward(self, x):
        return self.t0, self.t1, self.t2, x


def small_integers() -> list[torch.Tensor]:
    return [torch.ones(4, dtype=dtype) for dtype in (torch.int8, torch.uint8, torch.bool)]


def other_floats() -> list[torch.Tensor]:
    return [torch.ones(3).half(), torch.ones(3).bfloat16(), torch.ones(3).double()]


def odd_values() -> list[torch.Tensor]:
    return [torch.tensor([float("nan"), -0.0]), torch.zeros(0, 3), torch.tensor(2.0)]


def odd_strides() -> list[torch.Tensor]:
    return [torch.arange(12.0).reshape(3, 4).t(), torch.ones(1, 4).expand(3, 4), torch.ones(2, 3)[:, 1]]


def complex_numbers() -> list[torch.Tensor]:
    return [torch.ones(2, dtype=torch.complex64), torch.tensor([1 + 2j]).conj(), torch.tensor(1j)]


def layouts() -> list[torch.Tensor]:
    return [torch.eye(3).to_sparse(), torch.eye(3).to_sparse_csr(), torch.ones(3, 4).to_mkldnn()]


def quantized() -> list[torch.Tensor]:
    scales, zeros = torch.tensor([0.1, 0.2]), torch.tensor([0, 0])
    return [
        torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
        torch.quantize_per_channel(torch.ones(2, 3), scales, zeros, 0, torch.qint8),
        torch.ones(1),
    ]


KINDS = (small_integers, other_floats, odd_values, odd_strides, complex_numbers, layouts, quantized)


@pytest.mark.filterwarnings("ignore:Sparse CSR", "ignore:.*quantiz.*")
@pytest.mark.parametrize("tensors", KINDS)
def test_constants_of_every_kind(recorded, tensors):
    made = tensors()
    torch.jit.freeze(torch.jit.script(Tensors(*made).eval()))
    expected = ["preserved: not_constant" if tensor.layout is not torch.strided else "inlined" for tensor in made]
    assert list(fates(recorded, "t0", "t1", "t2").values()) == expected


def test_a_small_constant_that_torch_cannot_print(recorded):
    """torch raises where it logs one, so nothing is logged, and only the names of constants tell what became of it."""
    torch.jit.freeze(torch.jit.script(Tensors(torch.ones(2), torch.ones(2, 3).to_mkldnn(), torch.ones(1)).eval()))
    assert fates(recorded, "t0", "t1", "t2") == {"t0": "inlined", "t1": "preserved: unknown", "t2": "inlined"}
    assert all("log was not there" in recorded.traces[0].attribute(path).evidence[0].fact for path in ("t0", "t2"))
    assert "PropagateAttributes" not in {step.name for step in recorded.traces[0].steps}


class Quantizable(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 4, batch_first=True)
        self.linear = nn.Linear(4, 2)

    def forward(self, x):
        y, state = self.gru(x)
        return self.linear(y), state


@pytest.mark.filterwarnings("ignore:.*quantiz.*")
def test_dynamic_quantization(recorded):
    module = torch.ao.quantization.quantize_dynamic(filled(Quantizable()), {nn.GRU, nn.Linear})
    x = torch.ones(1, 3, 4)
    torch.testing.assert_close(torch.jit.freeze(torch.jit.script(module))(x), module(x))


@pytest.mark.filterwarnings("ignore:.*quantiz.*", "ignore:.*reduce_range.*")
def test_static_quantization(recorded):
    quantization = torch.ao.quantization
    layers = (nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5))
    module = nn.Sequential(quantization.QuantStub(), *layers, quantization.DeQuantStub()).eval()
    module.qconfig = quantization.get_default_qconfig(torch.backends.quantized.engine)
    x = torch.randn(2, 3, 8, 8)
    quantization.prepare(module, inplace=True)(x)
    quantization.convert(module, inplace=True)
    torch.testing.assert_close(torch.jit.freeze(torch.jit.script(module))(x), module(x))
