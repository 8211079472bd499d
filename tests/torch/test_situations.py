"""Modules put together in unusual ways: each test freezes in the fixture `recorded`, which holds it against torch."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import gc

import pytest
import torch
from torch import nn

import freeze_engine as fe
from tests.torch.models import filled
from tests.torch.situations import fates, frozen


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.version = 3
        self.weight = nn.Parameter(torch.ones(4, 4))

    def forward(self, x):
        return x @ self.weight

    @torch.jit.export
    def scaled(self, x: torch.Tensor):
        return x * self.version


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = Part()
        self.bn = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.bn(self.sub(x)) + self.sub.version

    @torch.jit.export
    def extra(self, x):
        return self.sub.scaled(x) + 1


def test_a_method_and_what_a_submodule_holds_are_preserved_together(recorded):
    module = frozen(Whole(), "extra", "sub.version")
    x = torch.ones(2, 4)
    assert torch.equal(module.extra(x), x * 3 + 1)
    assert set(recorded.traces[0].methods) == {"forward", "extra"}
    assert fates(recorded, "sub", "sub.version", "sub.weight") == {
        "sub": "preserved: ancestor_of_requested",
        "sub.version": "preserved: requested",
        "sub.weight": "inlined",
    }


class Doubles(nn.Module):
    def forward(self, x):
        return x

    @torch.jit.export
    def go(self, x):
        return x * 2


class Subtracts(nn.Module):
    def forward(self, x):
        return x

    @torch.jit.export
    def go(self, x):
        return x - 3


class OneNameThreeMethods(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Doubles()
        self.b = Subtracts()
        self.divisor = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x + self.divisor

    @torch.jit.export
    def go(self, x):
        return x / self.divisor


@pytest.mark.parametrize("names", [("b.go", "go", "a.go"), ("go", "a.go", "b.go"), ("a.go", "b.go")])
def test_methods_of_one_name_are_distinguished(recorded, names):
    frozen(OneNameThreeMethods(), *names)
    (trace,) = recorded.traces
    own = {"go": "aten::div", "a.go": "aten::mul", "b.go": "aten::sub"}
    found = {
        name: [{node.op for node in step.graph.walk()} & set(own.values()) for step in trace.method_steps(name)]
        for name in names
    }
    assert found == {name: [{own[name]}] * len(trace.method_steps(name)) for name in names}


class NameOfTheTop(nn.Module):
    """torch looks for what a submodule's preserved method reads from the top module on."""

    def __init__(self):
        super().__init__()
        self.part = Part()
        self.version = 6

    def forward(self, x):
        return x + self.part.version


def test_a_submodules_method_reads_a_name_that_the_top_module_has_too(recorded):
    frozen(NameOfTheTop(), "part.scaled")
    assert set(recorded.traces[0].methods) == {"forward", "part.scaled"}
    assert fates(recorded, "part", "part.version", "version") == {
        "part": "preserved: ancestor_of_requested",
        "part.version": "inlined",
        "version": "inlined",
    }


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = self.a
        self.c = nn.Sequential(self.a, nn.ReLU())

    def forward(self, x):
        return self.a(x) + self.b(x) + self.c(x)


def test_a_submodule_reached_on_three_ways(recorded):
    frozen(Shared())
    weights = {path: recorded.traces[0].attribute(path).locations for path in ("a.weight", "b.weight", "c.0.weight")}
    assert len(set(weights.values())) == 1
    assert all(weights.values())


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(1))
        self.factor = 2

    def forward(self, x):
        self.seen.add_(1)
        return x + self.seen * self.factor


class CountsOnTwoWays(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Counts()
        self.b = nn.ModuleList([self.a])

    def forward(self, x):
        for part in self.b:
            x = part(x)
        return self.a(x)


def test_a_shared_submodule_that_is_written(recorded):
    frozen(CountsOnTwoWays())
    assert fates(recorded, "a.seen", "b.0.seen", "a.factor") == {
        "a.seen": "preserved: mutated_in_place",
        "b.0.seen": "preserved: mutated_in_place",
        "a.factor": "inlined",
    }


class Bumps(nn.Module):
    def __init__(self, value: float):
        super().__init__()
        self.offset = torch.full((1,), value)
        self.calls = 0

    def forward(self, x):
        return x + self.offset

    @torch.jit.export
    def bump(self, x):
        self.calls += 1
        self.offset.add_(1)
        return x


class BumpsOne(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Bumps(1.0)
        self.b = Bumps(2.0)

    def forward(self, x):
        return self.b(self.a.bump(self.a(x)))


def test_write_of_one_instance_preserves_only_its_attributes(recorded):
    frozen(BumpsOne())
    found = fates(recorded, "a.calls", "a.offset", "b.calls", "b.offset")
    assert found == {
        "a.calls": "preserved: set_in_method",
        "a.offset": "preserved: mutated_in_place",
        "b.calls": "dropped",
        "b.offset": "inlined",
    }


class Writes(nn.Module):
    """Writes each buffer in another way; ``free`` is in a choice with one that is written, after a copy."""

    def __init__(self):
        super().__init__()
        for name in ("viewed", "chosen", "sliced", "listed"):
            self.register_buffer(name, torch.zeros(4))
        self.register_buffer("free", torch.ones(4))

    def forward(self, x, flag: bool):
        self.viewed.view(2, 2)[0].narrow(0, 0, 1).add_(1)
        target = self.chosen if flag else self.free + 1
        target.mul_(2)
        rest = self.sliced
        for _ in range(3):
            rest = rest[:]
        rest.zero_()
        tensors = [self.listed, x]
        tensors[0].add_(1)
        return self.viewed.sum() + self.free


def test_each_write_has_its_chain_and_a_copy_has_none(recorded):
    frozen(Writes())
    written = ("viewed", "chosen", "sliced", "listed")
    assert fates(recorded, *written, "free") == {
        **dict.fromkeys(written, "preserved: mutated_in_place"),
        "free": "inlined",
    }
    first = {path: recorded.traces[0].attribute(path).evidence[0] for path in written}
    assert {path: (evidence.op, bool(evidence.chain)) for path, evidence in first.items()} == {
        "viewed": ("aten::add_", True),
        "chosen": ("aten::mul_", True),
        "sliced": ("aten::zero_", True),
        "listed": ("aten::add_", True),
    }


class Returns(nn.Module):
    def __init__(self):
        super().__init__()
        self.tensor = torch.ones(2)
        self.numbers = [1]
        self.by_name = {"a": 1}
        self.missing: torch.Tensor | None = None
        self.added = torch.zeros(2)

    def forward(self, x):
        if self.missing is not None:
            x = x + self.missing
        return self.tensor, self.numbers, self.by_name, x + self.added


def test_attributes_that_are_returned(recorded):
    result = frozen(Returns())(torch.ones(2))
    assert result[1:3] == ([1], {"a": 1})
    assert fates(recorded, "tensor", "numbers", "by_name", "missing", "added") == {
        "tensor": "inlined",
        "numbers": "inlined",
        "by_name": "inlined",
        "missing": "dropped",
        "added": "inlined",
    }


class NamedOutputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        best = torch.max(x * self.weight, 0)
        return best, (best.values, [best.indices])


def test_a_named_tuple_and_nested_outputs(recorded):
    x = torch.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]])
    assert frozen(NamedOutputs())(x)[1][1][0].tolist() == [1, 0, 1]


def test_a_module_in_training_mode(recorded):
    """torch.jit.freeze refuses one, but what it calls does not."""
    module = torch.jit.script(filled(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout())).train())
    torch._C._freeze_module(module._c)
    kept = ("0", "0.weight", "1.weight", "1.running_mean")
    assert fates(recorded, *kept, "1.num_batches_tracked") == {
        **dict.fromkeys(kept, "preserved: unknown"),
        "1.num_batches_tracked": "preserved: mutated_in_place",
    }
    assert all("training mode" in recorded.traces[0].attribute(path).evidence[-1].fact for path in kept)


def test_preserved_parameters(recorded):
    module = torch.jit.script(filled(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))))
    torch._C._freeze_module(module._c, preserveParameters=True)
    kept = {fate.path for fate in recorded.traces[0].attributes if fate.fate == "preserved"}
    assert kept >= {"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var"}


def test_the_trace_outlives_the_module():
    with fe.capture() as captured:
        frozen(nn.Linear(2, 3))
        gc.collect()
    assert fates(captured, "weight") == {"weight": "inlined"}


def test_trace_describes_the_module_before_the_freeze():
    module = torch.jit.script(filled(nn.Linear(2, 3)))
    with fe.capture() as captured:
        torch.jit.freeze(module)
        module.weight = nn.Parameter(torch.zeros(5, 7))
    fate = captured.traces[0].attribute("weight")
    assert (fate.fate, fate.shape) == ("inlined", (3, 2))
