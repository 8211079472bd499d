"""A list, tuple or dictionary whose elements become constants as they are is inlined; computed values are folded."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import pytest
import torch
from torch import Tensor, nn

from tests.torch.situations import frozen


class Containers(nn.Module):
    numbers: list[int]
    tensors: list[Tensor]
    table: dict[str, Tensor]
    nested: tuple[tuple[int, float], Tensor]

    def __init__(self):
        super().__init__()
        self.numbers = [4, 7]
        self.tensors = [torch.rand(3), torch.rand(3)]
        self.table = {"a": torch.rand(3), "b": torch.rand(3)}
        self.nested = ((5, 6.5), torch.rand(3))


class Indexes(Containers):
    def forward(self, x):
        return x * self.numbers[0] + self.numbers[1] + self.tensors[1]


class Unpacks(Containers):
    def forward(self, x):
        (number, real), tensor = self.nested
        one, other = self.numbers
        return (x * one + other) * number + real + tensor


class Loops(Containers):
    def forward(self, x):
        for each in self.tensors:
            x = x + each
        return x * self.table["a"] - self.table["b"]


class Sums(Containers):
    def forward(self, x):
        total = 0
        for each in self.numbers:
            total += each
        return x * total + self.tensors[0] * self.tensors[1]


class SumsOneElement(Containers):
    """The sum is a number that the list also holds."""

    def __init__(self):
        super().__init__()
        self.numbers = [0, 7]

    def forward(self, x):
        return x * (self.numbers[0] + self.numbers[1]) + (self.table["a"] + 1.0)


class OneIntoAWeight(Containers):
    """One element stays as it is, the other one is folded into the convolution."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 3, 1)
        self.tensors = [torch.rand(1, 3, 1), torch.rand(3, 3)]

    def forward(self, x):
        return self.conv(x.expand(1, 2, 3)) * self.tensors[0] @ self.tensors[1]


@pytest.mark.parametrize(
    ("model", "inlined", "folded"),
    [
        (Indexes, {"numbers": 2, "tensors": 1}, ()),
        (Unpacks, {"numbers": 2, "nested": 3}, ()),
        (Loops, {"tensors": 2, "table": 2}, ()),
        (Sums, {}, ("numbers", "tensors")),
        (SumsOneElement, {}, ("numbers", "table")),
        (OneIntoAWeight, {}, ("tensors",)),
    ],
)
def test_elements_that_are_constants_unchanged_are_inlined(recorded, model, inlined, folded):
    frozen(model())
    (trace,) = recorded.traces
    for path, count in inlined.items():
        fate = trace.attribute(path)
        assert (fate.fate, len(fate.locations)) == ("inlined", count), path
        assert "took elements out of it, unchanged" in fate.evidence[0].fact
    assert [trace.attribute(path).fate for path in folded] == ["folded"] * len(folded)
