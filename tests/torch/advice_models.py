"""Pairs of modules: one whose attribute torch preserves, and one that follows the advice on it literally."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
from typing import Any

import torch
from torch import Tensor, nn

from tests.torch.kept_models import Part, ReturnsPart, Slots


@torch.jit.interface
class Layer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 1


class Assigns(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = Cell()

    def forward(self, x):
        self.k.n = 7  # line: write
        return x + self.k.n


class AssignsNot(Assigns):
    def forward(self, x):
        n = 7
        return x + n + self.k.n


class Buffers(nn.Module):
    items: list[int]
    table: dict[str, int]

    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(2))
        self.items = [1]
        self.table = {"a": 1}


class WritesTensor(Buffers):
    def forward(self, x):
        self.b[:1].add_(1.0)  # line: write
        return x + self.b


class WritesInBranch(Buffers):
    def forward(self, x, shift: bool = False):
        if shift:
            self.b.add_(1.0)  # line: branch
        return x + self.b


class WritesClone(Buffers):
    def forward(self, x):
        b = self.b.clone()
        b[:1].add_(1.0)
        return x + b + self.b


class WritesList(Buffers):
    def forward(self, x):
        self.items.append(2)  # line: write
        return x + len(self.items)


class WritesListCopy(Buffers):
    def forward(self, x):
        items = self.items.copy()
        items.append(2)
        return x + len(items)


class WritesTable(Buffers):
    def forward(self, x):
        self.table["b"] = 2  # line: write
        return x + len(self.table)


class WritesTableCopy(Buffers):
    def forward(self, x):
        table = self.table.copy()
        table["b"] = 2
        return x + len(table)


class Tensors(Buffers):
    tensors: list[Tensor]

    def __init__(self):
        super().__init__()
        self.tensors = [torch.ones(2)]


class WritesThroughList(Tensors):
    """Writes what it put into a list before; torch follows it there."""

    def forward(self, x):
        lists = [self.items]
        lists[0].append(2)  # line: write
        tables = {"a": self.table}
        tables["a"]["b"] = 2  # line: table
        several = (self.tensors, 1)
        several[0].append(x)  # line: tensors
        return x + len(self.items) + len(self.table) + len(self.tensors)


class WritesThroughListCopy(Tensors):
    def forward(self, x):
        lists = [self.items]
        lists[0].copy().append(2)
        tables = {"a": self.table}
        table = tables["a"].copy()
        table["b"] = 2
        several = (self.tensors, 1)
        several[0].copy().append(x)
        return x + len(self.items) + len(self.table) + len(self.tensors)


class WritesListOps(Buffers):
    def forward(self, x):
        self.items.sort()
        self.items.reverse()
        self.items.insert(0, 4)
        self.items.extend([3])
        last = self.items.pop()
        self.table.update({"a": 2})
        first = self.table.pop("a")
        del self.table["a"]
        return x + last + first


class WritesListOpsCopy(Buffers):
    def forward(self, x):
        items = self.items.copy()
        items.sort()
        items.reverse()
        items.insert(0, 4)
        items.extend([3])
        last = items.pop()
        table = self.table.copy()
        table.update({"a": 2})
        first = table.pop("a")
        table.clear()
        return x + last + first + len(self.items) + len(self.table)


class WritesOneOfLists(Buffers):
    """Writes one of two lists, and torch cannot tell which one."""

    def forward(self, x):
        lists = [self.items, [3]]
        lists[1].append(4)  # line: write
        return x + len(self.items) + len(lists[1])


class WritesOneOfListsCopy(Buffers):
    def forward(self, x):
        lists = [self.items, [3]]
        other = lists[1].copy()
        other.append(4)
        return x + len(self.items) + len(other)


class Indexed(nn.Module):
    """What is in an index is in a list, and so may be any tensor that is taken out of one."""

    def __init__(self):
        super().__init__()
        self.register_buffer("index", torch.tensor([1, 0]))
        self.weight = nn.Parameter(torch.rand(2, 2))


class WritesAnything(Indexed):
    def forward(self, x):
        bias = self.weight[self.index]
        part = torch.chunk(x + 1.0, 2)[0]
        part += 1.0  # line: write
        for row in torch.unbind(x * 2.0):
            row.mul_(2.0)  # line: second
        return part + bias.sum()


class WritesNothing(Indexed):
    def forward(self, x):
        bias = self.weight[self.index]
        part = torch.chunk(x + 1.0, 2)[0]
        part = part + 1.0
        for row in torch.unbind(x * 2.0):
            row.clone().mul_(2.0)
        return part + bias.sum()


class WindowAttention(nn.Module):
    """As in Swin and BEiT: the index is read through a list, and what ``unbind`` takes apart is written before."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24, bias=False)
        self.qkv_bias = nn.Parameter(torch.rand(24))
        self.relative_position_bias_table = nn.Parameter(torch.rand(9, 2))
        self.register_buffer("relative_position_index", torch.arange(16).reshape(4, 4) % 9)

    def biased(self, qkv: Tensor) -> Tensor:
        qkv += self.qkv_bias  # line: write
        return qkv

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.biased(self.qkv(x)).reshape(4, 3, 2, 4).permute(1, 2, 0, 3).unbind(0)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(4, 4, 2)
        weights = (q @ k.transpose(-2, -1) + bias.permute(2, 0, 1)).softmax(-1)
        return (weights @ v).transpose(0, 1).reshape(4, 8)


class WindowAttentionFreed(WindowAttention):
    def biased(self, qkv: Tensor) -> Tensor:
        return qkv + self.qkv_bias


class Normalizes(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.norm.train()

    def forward(self, x):
        return self.norm(x)


class NormalizesAsLearnt(Normalizes):
    def __init__(self):
        super().__init__()
        self.norm.eval()


class TwoParts(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Writes()
        self.b = self.a

    def forward(self, x):
        return self.a(x) + self.b.b


class Writes(nn.Module):
    items: list[Tensor]

    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(2))
        self.items = [torch.ones(2)]

    def forward(self, x):
        self.b.add_(1.0)
        return x + self.b


class WritesNot(Writes):
    def forward(self, x):
        return x + (self.b + 1.0)


class TwoPartsFreed(TwoParts):
    def __init__(self):
        super().__init__()
        self.a = WritesNot()
        self.b = self.a


class SharesMemory(nn.Module):
    items: list[Tensor]

    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.zeros(2))
        self.register_buffer("b", self.a[:1])
        self.items = [self.a, torch.ones(2)]

    def forward(self, x):
        self.a.add_(1.0)
        return x + self.a + self.b + self.items[0]


class OwnMemory(SharesMemory):
    def __init__(self):
        super().__init__()
        self.b = self.a[:1].clone()
        self.items = [self.a.clone(), torch.ones(2)]


class WritesBoth(SharesMemory):
    """Two causes: each of them keeps ``b`` by itself."""

    def forward(self, x):
        self.a.add_(1.0)
        self.b.add_(1.0)
        return x + self.a + self.b


class WritesBothNot(WritesBoth):
    def __init__(self):
        super().__init__()
        self.b = self.a[:1].clone()

    def forward(self, x):
        self.a.add_(1.0)
        b = self.b.clone()
        b.add_(1.0)
        return x + self.a + b


class OtherSlots(Slots):
    pass


class SharesClass(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = Slots()
        self.right = Slots()

    def forward(self, x):
        return self.left.one(x) + self.right.two(x) + self.left.second


class OwnClass(SharesClass):
    def __init__(self):
        super().__init__()
        self.left = OtherSlots()


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Slots()
        self.count = 0

    def forward(self, x):
        return x

    @torch.jit.export
    def counted(self, x):
        self.count = self.count + 1
        return x + self.count

    @torch.jit.export
    def deep(self, x):
        return self.inner.one(x)

    @torch.jit.export
    def deep_not(self, x):
        return self.inner(x)


class SharesHolder(nn.Module):
    """``right.inner`` is kept by its class only: nothing reads it."""

    def __init__(self):
        super().__init__()
        self.left = Holder()
        self.right = Holder()

    def forward(self, x):
        return self.left.deep(x) + self.right.counted(x)


class SharesHolderFreed(SharesHolder):
    def forward(self, x):
        return self.left.deep_not(x) + self.right.counted(x)


class Holds(nn.Module):
    table: dict[str, Tensor]

    def __init__(self):
        super().__init__()
        self.register_buffer("matrix", torch.eye(2).to_sparse())
        self.table = {"a": torch.ones(2, requires_grad=True)}


class HoldsSparse(Holds):
    def forward(self, x):
        return torch.mm(self.matrix, x)


class HoldsDense(HoldsSparse):
    def __init__(self):
        super().__init__()
        self.matrix = self.matrix.to_dense()


class HoldsGradients(Holds):
    def forward(self, x):
        return x + self.table["a"]


class HoldsDetached(HoldsGradients):
    def __init__(self):
        super().__init__()
        self.table = {"a": self.table["a"].detach()}


class Picks(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Part()
        self.b = Part()

    def forward(self, x):
        part = self.a if bool(x.sum() > 0) else self.b
        return x * part.weight


class PicksValue(Picks):
    def forward(self, x):
        weight = self.a.weight if bool(x.sum() > 0) else self.b.weight
        return x * weight


class ReturnsNoPart(ReturnsPart):
    def forward(self, x):
        return x * self.sub.weight


class Counts(Part):
    def forward(self, x):
        self.version = self.version + 1
        return x * self.weight + self.version


class OtherCounts(Counts):
    pass


class ReturnsOther(nn.Module):
    """torch keeps ``b.weight``, since ``a`` is returned, which is of the same class."""

    def __init__(self):
        super().__init__()
        self.a = Counts()
        self.b = Counts()

    def forward(self, x):
        x = self.b(x)
        return self.a


class ReturnsOtherClass(ReturnsOther):
    def __init__(self):
        super().__init__()
        self.b = OtherCounts()


class ReturnsAny(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Any) -> Any:
        if isinstance(x, torch.Tensor):
            return x + self.weight
        return x


class ReturnsTensor(ReturnsAny):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight


class Swaps(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Part()
        self.c = Part()

    def forward(self, x):
        y = self.a(x)
        self.a = self.c  # line: write
        return y


class SwapsNot(Swaps):
    def forward(self, x):
        return self.a(x) + self.c(x)


class Forks(nn.Module):
    part: Layer

    def __init__(self):
        super().__init__()
        self.part = TensorPart()

    def forward(self, x):
        return torch.jit.wait(torch.jit.fork(self.part.forward, x))


class TensorPart(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class ForksNot(Forks):
    def forward(self, x):
        return self.part.forward(x)


class Augments(Buffers):
    """With a tensor this writes in place, and then assigns."""

    def forward(self, x):
        self.b += x
        return x * self.b


class AugmentsNot(Buffers):
    def forward(self, x):
        b = self.b + x
        return x * b


class WritesElement(Indexed):
    """For torch, either element of the dictionary may be the one that is written."""

    def forward(self, x):
        both = {"x": x, "index": self.index}
        both["x"].add_(1.0)  # line: element
        return x + both["index"].sum()


class WritesNoElement(Indexed):
    def forward(self, x):
        both = {"x": x, "index": self.index}
        y = both["x"] + 1.0
        return y + both["index"].sum()


class Activates(Buffers):
    def forward(self, x):
        return x + nn.functional.relu(self.b, inplace=True)


class ActivatesApart(Buffers):
    def forward(self, x):
        return x + nn.functional.relu(self.b, inplace=False)


class ActivatesNot(Buffers):
    def forward(self, x):
        return x + torch.relu(self.b)


def product(x: Tensor, y: Tensor) -> Tensor:
    return x * y


class Waits(Buffers):
    """The fork writes nothing, and torch assumes at the wait that it may."""

    def forward(self, x):
        return torch.jit.wait(torch.jit.fork(product, x, self.b))


class WaitsNot(Buffers):
    def forward(self, x):
        return product(x, self.b)


if not hasattr(torch.ops.advice_models, "product"):
    LIBRARY = torch.library.Library("advice_models", "FRAGMENT")
    LIBRARY.define("product(Tensor x, Tensor y) -> Tensor", alias_analysis="CONSERVATIVE")
    LIBRARY.impl("product", product, "CompositeExplicitAutograd")


class GivesAway(Buffers):
    def forward(self, x):
        return torch.ops.advice_models.product(x, self.b[:1]) + x  # line: given


class GivesClone(Buffers):
    def forward(self, x):
        return torch.ops.advice_models.product(x, self.b.clone()[:1]) + x


class Instances(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.InstanceNorm1d(2, track_running_stats=True)

    def forward(self, x):
        return self.norm(x)


class Averages(nn.Module):
    """The write to ``norm.num_batches_tracked`` is gone when attributes are removed, and its submodule is not."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.norm.eval()

    def forward(self, x):
        self.norm.running_mean.mul_(0.9)  # line: mean
        return self.norm(x)


class AveragesNot(Averages):
    def forward(self, x):
        return self.norm(x)


class OneLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 2)

    def forward(self, x):
        return self.rnn(x)[0]


@torch.jit.script
class Number:
    def __init__(self, value: int):
        self.value = value


class HoldsObjects(nn.Module):
    items: list[Number]

    def __init__(self):
        super().__init__()
        self.items = [Number(1)]

    def forward(self, x):
        return x + self.items[0].value


class HoldsNumbers(nn.Module):
    items: list[int]

    def __init__(self):
        super().__init__()
        self.items = [1]

    def forward(self, x):
        return x + self.items[0]


class ForksPart(nn.Module):
    """The fork still takes the part when torch removes attributes, and no longer at the end."""

    def __init__(self):
        super().__init__()
        self.part = NormPart()

    def forward(self, x):
        return torch.jit.wait(torch.jit.fork(self.part, x))


class NormPart(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x)


class CallsPart(ForksPart):
    def forward(self, x):
        return self.part(x)
