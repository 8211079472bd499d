"""Constants of equal value are one after pooling: what a trace says of one attribute must not be true of another only.

Every statement is held against torch: an attribute is changed, the module frozen again, and the constants that the
trace names must change, those that nodes read at the same place, and no others.
"""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import copy
import functools

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.analysis import duplicates
from tests.random_modules.oracle import read_constants


def conv_bn(inputs: int, outputs: int, *, bias: bool = False) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=bias), nn.BatchNorm2d(outputs))


class Residual(nn.Module):
    """A block of a residual network, not trained."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.down = conv_bn(4, 4), conv_bn(4, 4, bias=True), conv_bn(4, 4)

    def forward(self, x):
        return torch.relu(self.second(torch.relu(self.first(x))) + self.down(x))


class Network(nn.Module):
    """Batch norms that fold into convs, into a linear, and one that stays."""

    def __init__(self):
        super().__init__()
        self.stem = nn.BatchNorm2d(4)
        self.blocks = nn.Sequential(Residual(), Residual())
        self.linear, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.linear(self.blocks(self.stem(x)).mean((2, 3))))

    @torch.jit.export
    def features(self, x):
        return self.blocks(self.stem(x))


class Inverted(nn.Module):
    """A block of a mobile network: depthwise convs, activations in place."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Conv2d(4, 8, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(inplace=True)),
            *(nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), nn.BatchNorm2d(8), nn.Hardswish()),
            *(nn.Conv2d(8, 4, 1, bias=False), nn.BatchNorm2d(4)),
        )
        self.after = nn.BatchNorm2d(4)

    def forward(self, x):
        return self.after(x + self.layers(x))


class Scales(nn.Module):
    """Equal buffers, read by a fold, by an operator that stays, and by one that freezing computes."""

    def __init__(self):
        super().__init__()
        self.conv, self.other = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1)
        for name in ("folded", "kept", "computed", "added"):
            self.register_buffer(name, torch.full((1, 4, 1, 1), 2.0))

    def forward(self, x):
        return self.other(torch.relu(self.conv(x) * self.folded) * self.kept + self.added) + self.computed * 3.0


class Part(nn.Module):
    """Runs a loop, which torch unrolls, in a fork."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)
        self.register_buffer("shift", torch.zeros(1))

    def twice(self, x: torch.Tensor):
        for _ in range(2):
            x = self.norm(self.conv(x))
        return x

    def forward(self, x):
        return torch.jit.wait(torch.jit.fork(self.twice, x)) + self.shift


class Forks(nn.Module):
    """Runs the same lines on two modules, each in a fork, whose constants torch does not pool with others'."""

    def __init__(self):
        super().__init__()
        self.one, self.other = Part(), Part()

    def forward(self, x):
        futures = [torch.jit.fork(self.one, x), torch.jit.fork(self.other, x)]
        return torch.jit.wait(futures[0]) + torch.jit.wait(futures[1])


MODELS = (Residual, Network, Inverted, Scales, Forks)


@functools.cache
def recorded(kind):
    torch.manual_seed(0)
    module = kind().eval()
    preserved = ["features"] if hasattr(module, "features") else []
    with fe.capture() as captured:
        frozen = torch.jit.freeze(torch.jit.script(module), preserved)
    (trace,) = captured.traces
    assert fe.problems(trace) == ()
    return module, preserved, frozen, trace


def constants(frozen, methods):
    return {(method, *place): found for method in methods for place, found in read_constants(frozen, method).items()}


def changes(kind):
    """Yields each parameter and buffer with the constants that move with it, by method."""
    module, preserved, frozen, trace = recorded(kind)
    before = constants(frozen, trace.methods)
    for fate in trace.attributes:
        if fate.dtype != "float32":
            continue
        other = copy.deepcopy(module)
        owner, _, name = fate.path.rpartition(".")
        with torch.no_grad():
            getattr(other.get_submodule(owner), name).add_(torch.rand(1) + 0.375)
        after = constants(torch.jit.freeze(torch.jit.script(other), preserved), trace.methods)
        assert before.keys() == after.keys()
        moved = {(key[0], name) for key, (name, value) in before.items() if not torch.equal(value, after[key][1])}
        yield fate, moved


@pytest.mark.parametrize("kind", MODELS)
def test_facts_of_an_attribute_follow_it_through_a_merge(kind):
    trace = recorded(kind)[-1]
    read = {(key[0], name) for key, (name, _) in constants(recorded(kind)[2], trace.methods).items()}
    for fate, moved in changes(kind):
        assert ({(place.method, place.value) for place in fate.locations} & read, fate.path) == (moved, fate.path)
        for rewrite, made in _folds(trace, read):
            assert (fate.path in rewrite.attributes) == bool(made & moved), (fate.path, rewrite)


def _folds(trace, read):
    """Yields the rewrites, each with the constants that it made and that the last graph reads."""
    for step in trace.steps:
        names = {node.id: node.outputs[0].name for node in step.graph.walk() if node.constant and node.outputs}
        for rewrite in step.rewrites:
            made = {(step.method, names[node]) for node in rewrite.produced if node in names} & read
            if made:
                yield rewrite, made


def test_the_pass_that_took_an_attribute_is_named_though_an_equal_one_stays():
    trace = recorded(Network)[-1]
    fate = trace.attribute("blocks.0.first.1.weight")
    step = trace.steps[fate.step]
    assert (fate.fate, step.name) == ("folded", "FoldFrozenConvBatchnorm")
    assert fate.evidence[0].fact == "FoldFrozenConvBatchnorm merged it into %self.blocks.0.first.0.weight_fused_bn"
    assert trace.steps[trace.attribute("norm.weight").step].name == "FoldFrozenLinearBatchnorm"
    assert trace.attribute("stem.weight").fate == "inlined"


def test_a_constant_that_stands_for_an_equal_attribute_says_so():
    trace = recorded(Network)[-1]
    (place,) = {location.value for location in trace.attribute("stem.weight").locations}
    facts = {
        path: [each.fact for each in trace.attribute(path).evidence] for path in ("stem.weight", "stem.running_var")
    }
    assert place in ("self.stem.weight", "self.stem.running_var")
    other = "stem.weight" if place == "self.stem.running_var" else "stem.running_var"
    same = f"its value equals that of {place.removeprefix('self.')}, and torch keeps one constant for equal values"
    assert f"{same}: %{place}" in facts[other]


class First(nn.Module):
    """The constant of two equal buffers is called after the one that folds."""

    def __init__(self):
        super().__init__()
        self.conv, self.after = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1)
        self.register_buffer("folded", torch.full((1, 4, 1, 1), 2.0))
        self.register_buffer("kept", torch.full((1, 4, 1, 1), 2.0))

    def forward(self, x):
        return torch.relu(self.conv(x) * self.folded) * self.kept


def test_a_folded_attribute_whose_constant_serves_an_equal_one_says_so():
    trace = recorded(First)[-1]
    fate = trace.attribute("folded")
    assert fate.fate == "folded"
    assert fate.evidence[-1].fact == (
        "%self.folded is still there for an equal value, that of kept: torch keeps one constant for equal values"
    )
    assert [location.value for location in trace.attribute("kept").locations] == ["self.folded"]


class Sizes(nn.Module):
    items: list[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.items = [torch.rand(2), torch.rand(2)]
        self.register_buffer("shape", torch.rand(3))

    def forward(self, x):
        return x * len(self.items)


def test_equal_number_of_items_does_not_count_as_merge():
    trace = recorded(Sizes)[-1]
    fate = trace.attribute("items")
    assert fate.locations == ()
    assert "only its size was read, by aten::len" in fate.evidence[0].fact
    assert not any("merged" in evidence.fact for evidence in fate.evidence)


def test_the_guilty_rewrite_names_its_own_batch_norm():
    """`bisect` shows the rewrite of the trace; of equal batch norms each fold names one."""
    trace = recorded(Network)[-1]
    owners = [
        {path.rpartition(".")[0] for path in rewrite.attributes}
        for step in trace.steps
        for rewrite in step.rewrites
        if rewrite.kind in ("conv_bn", "linear_bn")
    ]
    assert len(owners) == 13  # six in each method, and the linear's
    assert all(len(found) == 2 for found in owners)


@pytest.mark.parametrize("kind", MODELS)
def test_pooled_or_folded_constant_is_not_held_at_the_end(kind):
    trace = recorded(kind)[-1]
    for found in duplicates(trace):
        last = trace.final(found.method).graph
        held = [node.constant for node in last.walk() if node.constant and node.outputs[0].name in found.names]
        storages = {constant.storage for constant in held}
        if found.until is None:
            assert len(storages) > 1
            assert found.nbytes <= (len(storages) - 1) * held[0].nbytes
        else:
            assert found.step < found.until
            assert len({constant.storage for constant in held if constant.digest}) <= 1
