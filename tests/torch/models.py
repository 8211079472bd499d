"""Small modules whose parameters freezing inlines, merges or folds; nothing here is random."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import torch
from torch import nn


def filled(module: nn.Module) -> nn.Module:
    """Gives every parameter and buffer distinct values, so that no two constants are merged by accident."""
    with torch.no_grad():
        for number, tensor in enumerate((*module.parameters(), *module.buffers())):
            if tensor.is_floating_point() and tensor.layout == torch.strided:
                tensor.copy_(torch.linspace(0.5, 1.5, tensor.numel()).reshape(tensor.shape) + number / 8)
    return module.eval()


class ConvBn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x):
        return self.bn(self.conv(x)).relu()


class TwoRounds(nn.Module):
    """The add stands behind the mul and is folded in the second round only."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.register_buffer("shift", torch.ones(1, 4, 1, 1))
        self.register_buffer("scale", torch.ones(1, 4, 1, 1))
        self.drop = nn.Dropout()

    def forward(self, x):
        return self.drop(self.bn(self.conv(x)) * self.scale + self.shift)


class Linears(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.bn = nn.BatchNorm1d(8)
        self.drop = nn.Dropout()
        self.second = nn.Linear(8, 2, bias=False)
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        return self.second(self.drop(self.bn(self.first(x))))


class TwoMethods(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.drop = nn.Dropout()

    def forward(self, x):
        return self.drop(self.bn(self.conv(x)))

    @torch.jit.export
    def features(self, x):
        return self.drop(self.bn(self.conv(x)).relu())


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        self.bn = nn.BatchNorm2d(3)

    def forward(self, x, count: int):
        y = x
        for index in range(count):
            y = self.bn(self.conv(y)) if index > 1 else self.conv(y)
        return y


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(3, 3, bias=False)
        self.decode = nn.Linear(3, 3, bias=False)
        self.decode.weight = self.encode.weight

    def forward(self, x):
        return self.decode(self.encode(x))


def tied():
    return Tied().eval()


class Equal(nn.Module):
    """Two parameters of equal value: torch pools their constants."""

    def __init__(self):
        super().__init__()
        self.one = nn.Parameter(torch.ones(3))
        self.other = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return (x + self.one) * self.other


class Containers(nn.Module):
    def __init__(self):
        super().__init__()
        self.tensors = [torch.ones(2), torch.zeros(2)]
        self.by_name = {"a": torch.full((2,), 2.0)}
        self.pair = (1, torch.full((2,), 3.0))
        self.names = ["x", "y, z=]"]
        self.nothing = None

    def forward(self, x):
        for tensor in self.tensors:
            x = x + tensor
        return x + self.by_name["a"] + self.pair[1], self.names, self.pair[0]


@torch.jit.script
class Scale:
    def __init__(self, factor: int):
        self.factor = factor

    def apply(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


class HoldsObject(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale(3)

    def forward(self, x):
        return self.scale.apply(x)


class Flags(nn.Module):
    """The branch that reads ``spare`` is never taken once the flag is a constant."""

    def __init__(self):
        super().__init__()
        self.use_spare = False
        self.spare = nn.Parameter(torch.ones(2))
        self.weight = nn.Parameter(torch.full((2,), 2.0))
        self.forgotten = nn.Parameter(torch.ones(2))

    def forward(self, x):
        if self.use_spare:
            x = x + self.spare
        return x * self.weight


class Half(nn.Module):
    """What a batch norm makes of these statistics does not survive being folded into bfloat16 weights."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x):
        return self.bn(self.conv(x))


def equal() -> Equal:
    """A factory, as a MODEL spec names one."""
    return filled(Equal())
