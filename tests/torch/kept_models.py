"""Small modules that keep something when they are frozen: they write it, share it, return it, or cannot hold it."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        self.count = self.count + 1  # line: count
        return x * self.weight + self.count


class AssignsInTurn(nn.Module):
    """The second assignment computes nothing, so torch knows no line near it but the first one's."""

    def __init__(self):
        super().__init__()
        self.grid = torch.zeros(0)
        self.size = (0, 0)

    def forward(self, x):
        height, width = x.size(0), x.size(1)
        if self.size != (height, width):
            self.grid = torch.ones_like(x)  # line: grid
            self.size = (height, width)  # line: size
        return x + self.grid


class Direct(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        self.total.add_(x)  # line: direct
        return self.total * 2


class ThroughViews(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(4))

    def forward(self, x):
        square = self.table.view(2, 2)
        row = square[0]
        row.mul_(2)  # line: views
        return x + self.table.sum()


class ThroughSlice(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(4))

    def forward(self, x):
        self.table[1:3] = x  # line: slice
        return self.table * 2


class InBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        if bool(x.sum() > 0):
            self.total.add_(x)  # line: branch
        return self.total * 2


class InLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        for _ in range(x.size(0)):
            self.total.add_(x)  # line: loop
        return self.total * 2


class ThroughBranch(nn.Module):
    """What is written is one of two buffers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("left", torch.zeros(2))
        self.register_buffer("right", torch.ones(2))

    def forward(self, x):
        chosen = self.left
        if bool(x.sum() > 0):
            chosen = self.right
        chosen.add_(x)  # line: chosen
        return self.left * 2 + self.right


class ThroughUnbind(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(2, 2))

    def forward(self, x):
        for row in self.table.unbind(0):
            row.add_(x)  # line: unbind
        return self.table * 2


class OutArgument(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("result", torch.zeros(2))

    def forward(self, x):
        torch.add(x, x, out=self.result)  # line: out
        return self.result * 2


def bump(tensor: torch.Tensor) -> torch.Tensor:
    tensor.add_(1)  # line: fork
    return tensor * 2


class InFork(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        future = torch.jit.fork(bump, self.total)
        return torch.jit.wait(future) + x


class InOtherMethod(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        return x + self.total

    @torch.jit.export
    def update(self, x):
        self.total.add_(x)  # line: other
        return self.total * 2


class InSubmodule(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = Direct()
        self.same_class = Direct()

    def forward(self, x):
        return self.sub(x) + self.same_class.total


class ListWritten(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = [1]

    def forward(self, x):
        self.seen.append(2)  # line: list
        return x + len(self.seen)


class SharedMemory(nn.Module):
    def __init__(self):
        super().__init__()
        table = torch.zeros(4)
        self.register_buffer("table", table)
        self.register_buffer("head", table[:2])

    def forward(self, x):
        self.head.add_(x)
        return x + self.table[2:]


class Versioned(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = Part()
        self.bias = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.sub(x) + self.bias


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.version = 3
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.weight + self.version


class ReturnsPart(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = Part()
        self.other = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.sub


class ReturnsPartInTuple(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = Part()

    def forward(self, x):
        return x, self.sub


class Sparse(nn.Module):
    """TorchScript has no constant for a tensor without storage."""

    def __init__(self):
        super().__init__()
        self.register_buffer("matrix", torch.eye(2).to_sparse())

    def forward(self, x):
        return torch.mm(self.matrix, x)


class Slots(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = 0
        self.second = 0

    @torch.jit.export
    def one(self, x):
        self.first = self.first + 1
        return x + self.first

    @torch.jit.export
    def two(self, x):
        self.second = self.second + 1
        return x + self.second

    def forward(self, x):
        return x


class ListOfThree(nn.Module):
    """A list whose elements are values of the graph."""

    def forward(self, x):
        first = x + 1
        second = x + 2
        third = x + 3
        several = [first, second, third]
        several[0].add_(third)
        return several


class SharedClass(nn.Module):
    """Each part's slot that is written keeps the other part's slot of that name."""

    def __init__(self):
        super().__init__()
        self.left = Slots()
        self.right = Slots()

    def forward(self, x):
        return self.left.one(x) + self.right.two(x)


class SharedPart(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = Part()
        self.right = self.left

    def forward(self, x):
        return self.left(x) + self.right(x)


class WritesInput(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        x.add_(self.weight)
        return x * 2
