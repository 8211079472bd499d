"""Small modules whose graphs print unusually: odd constants, nested blocks, forks, Python operators, scopes."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import torch
from torch import nn


class ForkedPart(nn.Module):
    """The forked subgraph's own ``self`` is the submodule; both hold a ``bias``."""

    def __init__(self):
        super().__init__()
        self.sub = nn.Linear(2, 2)
        self.bias = nn.Parameter(torch.ones(2))

    def forward(self, x):
        future = torch.jit.fork(self.sub, x)
        return torch.jit.wait(future) + self.bias


def inner_task(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def outer_task(x: torch.Tensor) -> torch.Tensor:
    future = torch.jit.fork(inner_task, x)
    return torch.jit.wait(future) * 2


class NestedForks(nn.Module):
    def forward(self, x):
        left = torch.jit.fork(outer_task, x)
        right = torch.jit.fork(inner_task, x)
        return torch.jit.wait(left) - torch.jit.wait(right)


class CallsFunction(nn.Module):
    def forward(self, x):
        return inner_task(x) * 2


class ReturnsDict(nn.Module):
    def forward(self, x):
        return {"out": x + 1, "twice": x * 2}


class KeepsResult(nn.Module):
    """Remembers a tensor that has a gradient: ``copy.deepcopy`` refuses such a module once it has run."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.seen = {"last": [torch.zeros(0)]}

    def forward(self, x):
        y = self.linear(x)
        if not torch.jit.is_scripting():
            self.seen = {"last": [y]}
        return y + 1


class Odd(nn.Module):
    """Every kind of constant that torch's printer has a form of its own for."""

    def __init__(self):
        super().__init__()
        self.text = 'q"uo,te[0] = (1 # x:1:2'
        self.control = "é\n\t\\ \x07 標"
        self.ints = [1, 2]
        self.floats = [1.5, float("nan"), float("inf")]
        self.flags = [True, False]
        self.texts = ["a, b=", "c]"]
        self.by_name = {"a": torch.ones(1), "b=,": torch.zeros(2, 2)}
        self.pair = (1, "x", torch.ones(2))
        self.empty = torch.zeros(0)
        self.large = torch.ones(40)
        self.tensors = [torch.ones(2), torch.ones(30)]
        self.number = torch.tensor(3.5)
        self.complex = 2 + 3j

    def forward(self, x):
        y = x.to(torch.float64).to(torch.device("cpu"))
        print(self.text, self.control)  # noqa: T201
        return (
            *(y + self.large.sum() + self.number, self.ints, self.floats, self.by_name, self.pair, self.empty),
            *(self.flags, self.texts, self.tensors, float("nan"), float("inf"), self.complex, -3, 1e-5),
        )


class Control(nn.Module):
    def forward(self, x, count: int):
        y = x
        for index in range(count):
            if index > 2:
                y = y + 1
                if bool(y.sum() > 0):
                    raise ValueError("no, no")
            else:
                y = y * 2
        while bool(y.sum() < 3):
            y = y + 1
        values, indices = torch.max(y, 0)
        return values, indices


class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class CallsPython(nn.Module):
    """Traced, this holds a ``prim::PythonOp``."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return Triple.apply(x, 3) + self.weight


class DataDependent(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        if bool(x.sum() > 0):  # the tracer warns here
            return x * self.weight
        return x - self.weight


class Named(nn.Module):
    """Takes keywords with defaults and returns a dictionary."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x, factor: float = 2.0, bias: torch.Tensor | None = None) -> dict[str, torch.Tensor]:
        y = x * self.weight * factor
        if bias is not None:
            y = y + bias
        return {"doubled": y, "plain": x}


class ForkedThrice(torch.nn.Module):
    """The last fork's body only returns its input, whose name another body's input has as well."""

    class Inner(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.BatchNorm2d(4)
            self.sub = torch.nn.ReLU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            future = torch.jit.fork(self.sub, x)
            x = torch.jit.wait(future)
            future = torch.jit.fork(self.part, x)
            return torch.jit.wait(future)

        def part(self, x: torch.Tensor) -> torch.Tensor:
            return self.norm(x)

    def __init__(self) -> None:
        super().__init__()
        self.inner = ForkedThrice.Inner()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.inner(x)
        future = torch.jit.fork(self.part, x)
        return torch.jit.wait(future)

    def part(self, x: torch.Tensor) -> torch.Tensor:
        return x
