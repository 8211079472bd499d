"""Faults of torch that strike in a freeze: each is seen to strike, is told there, and not told where it does not."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import freeze_engine as fe


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.flat = nn.BatchNorm1d(4)
        self.other = nn.BatchNorm1d(4)
        self.square = nn.BatchNorm2d(4)
        self.conv = nn.Conv2d(3, 4, 3)
        self.line = nn.Conv1d(3, 4, 3)
        self.register_buffer("row", torch.ones(1, 4))
        self.register_buffer("channels", torch.ones(1, 4, 1, 1))
        self.register_buffer("written", torch.zeros(4))
        self.items = [torch.zeros(4), torch.ones(4)]
        self.table = {"a": torch.zeros(4)}
        self.pair = (torch.zeros(4), torch.ones(4))
        generator = torch.Generator().manual_seed(2)
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.is_floating_point():
                tensor.data.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
        self.eval()


class ReadTwice(Layers):
    def forward(self, x):
        y = self.linear(x)
        return self.flat(y) + y.relu()


class NormedTwice(Layers):
    def forward(self, x):
        y = self.linear(x)
        return self.flat(y) * self.other(y)


class ReadForItsSize(Layers):
    def forward(self, x):
        y = self.linear(x)
        return self.flat(y) * float(y.size(0))


class ReadTwiceApart(Layers):
    def forward(self, x):
        y = self.linear(x)
        return self.flat(y.contiguous()) + y.relu()


class LinearNorm(Layers):
    def forward(self, x):
        return self.flat(self.linear(x))


class LinearNormApart(Layers):
    def forward(self, x):
        return self.flat(self.linear(x).contiguous())


class LinearSquare(Layers):
    def forward(self, x):
        return self.square(self.linear(x))


class ConvNormLine(Layers):
    def forward(self, x):
        return self.flat(self.line(x))


class AddRow(Layers):
    def forward(self, x):
        return self.conv(x) + self.row


class MulRow(Layers):
    def forward(self, x):
        return self.conv(x) * self.row


class AddChannels(Layers):
    def forward(self, x):
        return self.conv(x) + self.channels


class AddWide(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.wide = self.channels.double()

    def forward(self, x):
        return self.conv(x) + self.wide


class AddWideNumber(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.wide = torch.tensor(0.5, dtype=torch.float64)

    def forward(self, x):
        return self.conv(x) + self.wide


class Training(Layers):
    def forward(self, x):
        norm = self.square
        running = norm.running_mean, norm.running_var
        return torch.batch_norm(self.conv(x), norm.weight, norm.bias, *running, True, 0.1, 1e-5, False)


def same(x: torch.Tensor, y: torch.Tensor) -> bool:
    return x.dtype == y.dtype and x.shape == y.shape and torch.allclose(x, y, rtol=1e-4, atol=1e-5)


def recorded(module: nn.Module, x: Any = None, traced: bool = False) -> tuple[Any, fe.Trace]:
    """Freezes a copy of a module, scripted or traced with ``x``."""
    own = copy.deepcopy(module)
    with fe.capture() as captured:
        scripted: Any = torch.jit.trace(own, x, check_trace=False) if traced else torch.jit.script(own)
        frozen = torch.jit.freeze(scripted)
    (trace,) = captured.traces
    assert fe.problems(trace) == ()
    return frozen, trace


def codes(trace: fe.Trace) -> list[str]:
    kinds = ("misfold", "written_constant", "removed_attribute")
    return [notice.code for notice in trace.notices if notice.code in kinds]


ROW, PLANE, CUBE, IMAGE = torch.rand(5, 4), torch.rand(2, 4, 4), torch.rand(2, 4, 4, 4), torch.rand(2, 3, 6, 6)
LINE = torch.rand(3, 6)
MISFOLDED = [
    pytest.param(ReadTwice, ROW, "also reads", id="another reader"),
    pytest.param(NormedTwice, ROW, "also reads", id="two batch norms"),
    pytest.param(LinearSquare, CUBE, "4 dimensions", id="batch norm of planes after a linear"),
    pytest.param(AddRow, IMAGE, "by chance", id="row added"),
    pytest.param(MulRow, IMAGE, "by chance", id="row multiplied"),
    pytest.param(AddWide, IMAGE, "float64", id="wider type"),
    pytest.param(Training, IMAGE, "training=True", id="training"),
]


@pytest.mark.parametrize("traced", [False, True], ids=["scripted", "traced"])
@pytest.mark.parametrize(("kind", "x", "words"), MISFOLDED)
def test_fold_that_changes_the_outputs_is_reported(
    kind: type[Layers], x: torch.Tensor, words: str, traced: bool
) -> None:
    module = kind()
    frozen, trace = recorded(module, x, traced)
    if kind is LinearSquare and traced:
        pytest.skip("a graph that was traced has no check, and a capture knows no inputs")
    found = [notice for notice in trace.notices if notice.code == "misfold"]
    assert found
    assert all(words in notice.message and notice.step is not None for notice in found)
    assert not same(frozen(x), copy.deepcopy(module)(x))


@pytest.mark.parametrize(
    ("kind", "x"),
    [
        *((ReadForItsSize, ROW), (ReadTwiceApart, ROW), (LinearNorm, ROW), (LinearNormApart, PLANE)),
        *((AddChannels, IMAGE), (AddWideNumber, IMAGE)),
    ],
)
def test_fold_that_keeps_the_outputs_gets_no_notice(kind: type[Layers], x: torch.Tensor) -> None:
    module = kind()
    frozen, trace = recorded(module)
    assert codes(trace) == []
    assert same(frozen(x), module(x))


def test_dimensions_that_only_the_inputs_tell() -> None:
    for kind, wrong, right in ((LinearNorm, PLANE, ROW), (ConvNormLine, LINE, torch.rand(2, 3, 6))):
        for x, expected in ((wrong, ["misfold"]), (right, [])):
            module = kind()
            trace = fe.record(copy.deepcopy(module), (x,), measure=None).trace
            assert codes(trace) == expected
            assert same(torch.jit.freeze(torch.jit.script(copy.deepcopy(module)))(x), module(x)) == (not expected)


class WritesList(Layers):
    def forward(self, x):
        self.items[0].add_(1.0)
        return x + self.items[0]


class WritesTable(Layers):
    def forward(self, x):
        self.table["a"].add_(1.0)
        return x + self.table["a"]


class WritesPair(Layers):
    def forward(self, x):
        first, second = self.pair
        first[:2].mul_(2.0).add_(1.0)
        return x + first * second


class WritesInLoop(Layers):
    def forward(self, x):
        for item in self.items:
            item.add_(1.0)
        return x + self.items[1]


class WritesInFork(Layers):
    def part(self, x):
        self.written.add_(1.0)
        return x + self.written

    def forward(self, x):
        return torch.jit.wait(torch.jit.fork(self.part, x))


class SetsInFork(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.count = 1

    def part(self, x):
        self.count = 5
        return x + float(self.count)

    def forward(self, x):
        return torch.jit.wait(torch.jit.fork(self.part, x))


@torch.jit.script
class State:
    def __init__(self, count: int):
        self.count = count
        self.total = torch.zeros(4)


class HoldsObject(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.state = State(1)


class SetsInObject(HoldsObject):
    def forward(self, x):
        self.state.count += 1
        return x + self.state.count


class WritesInObject(HoldsObject):
    def forward(self, x):
        self.state.total.add_(1.0)
        return x + self.state.total


class ReadsObject(HoldsObject):
    def forward(self, x):
        return F.relu(x) + self.state.total + self.state.count


class NestedList(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.numbers = [[1], [2]]

    def forward(self, x):
        self.numbers[0].append(3)
        return x + len(self.numbers[0])


class ListOfItsOwn(Layers):
    """Does what the advice on `NestedList` says."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = [1]

    def forward(self, x):
        self.numbers.append(3)
        return x + len(self.numbers)


class WritesBuffer(Layers):
    def forward(self, x):
        self.written.add_(1.0)
        return x + self.written


class WritesCopy(Layers):
    def forward(self, x):
        item = self.items[0].clone()
        item.add_(1.0)
        return F.relu(x) + item


class WritesOut(Layers):
    def forward(self, x):
        torch.add(self.items[0], x[0], out=self.items[0])
        return x + self.items[0]


class WritesOutApart(Layers):
    def forward(self, x):
        y = torch.empty_like(x)
        torch.add(self.items[0], x, out=y)
        return y


class AppendsInside(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.lists = {"a": [torch.zeros(4)]}

    def forward(self, x):
        self.lists["a"].append(x)
        return x + len(self.lists["a"])


@pytest.mark.parametrize(
    ("kind", "hidden"),
    [
        *((kind, True) for kind in (WritesOut, AppendsInside)),
        (WritesOutApart, False),
        *((kind, True) for kind in (WritesList, WritesTable, WritesPair, WritesInLoop, WritesInFork)),
        *((kind, True) for kind in (SetsInObject, WritesInObject, NestedList)),
        *((kind, False) for kind in (ReadsObject, WritesBuffer, WritesCopy)),
    ],
)
def test_a_constant_that_is_written_is_a_hidden_state(kind: type[Layers], hidden: bool) -> None:
    frozen, trace = recorded(kind())
    assert ("written_constant" in codes(trace)) == hidden
    state = {name: value.clone() for name, value in frozen.state_dict().items()}
    changes = not same(frozen(ROW), frozen(ROW))
    kept = all(torch.equal(value, frozen.state_dict()[name]) for name, value in state.items())
    assert (changes and kept) == hidden


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        (SetsInObject, "hold the value in an attribute of the module itself."),
        (WritesInObject, "hold the value in an attribute of the module itself."),
        (NestedList, "hold it in an attribute of its own."),
        (AppendsInside, "hold it in an attribute of its own."),
        (WritesList, "write into a copy."),
    ],
)
def test_remedy_of_a_hidden_state_fits_what_holds_it(kind: type[Layers], remedy: str) -> None:
    _, trace = recorded(kind())
    (notice,) = (notice for notice in trace.notices if notice.code == "written_constant")
    assert notice.message.endswith(remedy)


def test_list_in_an_attribute_of_its_own_stays_an_attribute() -> None:
    frozen, trace = recorded(ListOfItsOwn())
    assert "written_constant" not in codes(trace)
    assert hasattr(frozen, "numbers")


def test_fork_that_needs_a_removed_attribute_is_reported() -> None:
    frozen, trace = recorded(SetsInFork())
    (notice,) = (notice for notice in trace.notices if notice.code == "removed_attribute")
    assert "count" in notice.message
    assert not hasattr(frozen, "count")
    with pytest.raises(RuntimeError, match="does not have an attribute with name 'count'"):
        frozen(ROW)
    kept = torch.jit.freeze(torch.jit.script(SetsInFork()), ["count"])
    assert same(kept(ROW), SetsInFork()(ROW))
