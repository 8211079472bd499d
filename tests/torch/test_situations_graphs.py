"""Graphs of unusual shape, frozen in the fixture `recorded`."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import itertools

import pytest
import torch
from torch import nn
from torch.nn import functional

from tests.torch.models import filled
from tests.torch.situations import fates, frozen


class Leaf(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(2))
        self.flag = True

    def forward(self, x):
        return x * self.factor if self.flag else x


class Forks(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = Leaf()
        self.right = Leaf()

    def forward(self, x):
        left = torch.jit.fork(self.left, x)
        right = torch.jit.fork(self.right, x)
        return torch.jit.wait(left) + torch.jit.wait(right)


class ForksOfForks(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Forks()
        self.second = Forks()
        self.offset = nn.Parameter(torch.ones(2))

    def forward(self, x):
        future = torch.jit.fork(self.first, x)
        return self.second(x) + torch.jit.wait(future) + self.offset


def test_forks_of_submodules_in_forks(recorded):
    module = ForksOfForks()
    x = torch.ones(2)
    assert torch.equal(frozen(module)(x), module(x))
    paths = [f"{outer}.{inner}.factor" for outer, inner in itertools.product(("first", "second"), ("left", "right"))]
    assert fates(recorded, *paths) == dict.fromkeys(paths, "inlined")
    assert len({recorded.traces[0].attribute(path).locations for path in paths}) == 4


class ForksInBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x, deep: bool):
        if deep:
            one = torch.jit.fork(self.linear, x)
            other = torch.jit.fork(self.linear, x + 1)
            return torch.jit.wait(one) + torch.jit.wait(other)
        for _ in range(3):
            future = torch.jit.fork(self.linear, x)
            x = torch.jit.wait(future)
        return x


def test_forks_in_branches_and_an_unrolled_loop(recorded):
    module = ForksInBranches()
    result = frozen(module)
    x = torch.ones(1, 2)
    assert [torch.equal(result(x, deep), module(x, deep)) for deep in (True, False)] == [True, True]
    # Two forks of the first branch, three of the unrolled loop.
    assert [len(recorded.traces[0].attribute(f"linear.{name}").locations) for name in ("weight", "bias")] == [5, 5]


class Control(nn.Module):
    def __init__(self):
        super().__init__()
        self.rounds = 3
        self.disabled = False
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(3, 3)) for _ in range(3)])
        self.spare = nn.Parameter(torch.ones(3))
        self.seen = 0

    def forward(self, x, count: int):
        for index in range(self.rounds):
            x = x * (index + 1)
        while count > 0:
            count -= 1
            if bool(x.sum() > 0):
                x = x - self.weights[0]
            elif count == 2:
                self.seen += 1
            else:
                for weight in self.weights:
                    x = x @ weight
        if self.disabled:
            x = x * self.spare
        return x


def test_loops_and_branches(recorded):
    module = Control()
    x = torch.eye(3)
    assert torch.equal(frozen(module)(x, 4), module(x, 4))
    assert fates(recorded, "seen", "rounds", "disabled", "spare", "weights.0", "weights.2") == {
        "seen": "preserved: set_in_method",
        "rounds": "folded",
        "disabled": "folded",
        "spare": "folded",
        "weights.0": "inlined",
        "weights.2": "inlined",
    }


@torch.jit.script
def times(x, factor: int):
    return x * factor


def twice(x):
    return times(x, 3) + times(x, 4)


class CallsFunctions(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = 2

    def forward(self, x):
        return twice(x) + times(x, self.factor) + functional.layer_norm(x, [4])


def test_functions_are_inlined(recorded):
    x = torch.arange(4.0)
    assert torch.equal(frozen(CallsFunctions())(x), CallsFunctions()(x))
    assert not any(node.op == "prim::CallFunction" for node in recorded.traces[0].final("forward").graph.walk())


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.RNNBase]):
        super().__init__()
        self.rnn = kind(4, 5, 2, batch_first=True, bidirectional=True)  # type: ignore[arg-type]

    def forward(self, x):
        return self.rnn(x)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_networks(recorded, kind):
    module = Recurrent(kind)
    x = torch.ones(2, 3, 4)
    torch.testing.assert_close(frozen(module)(x)[0], module(x)[0])
    # TorchScript reads the list that the module keeps of its weights.
    assert fates(recorded, "rnn._flat_weights", "rnn.weight_hh_l0") == {
        "rnn._flat_weights": "inlined",
        "rnn.weight_hh_l0": "inlined",
    }


def transformer() -> nn.Module:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("via", ["script", "trace"])
def test_a_transformer(recorded, via):
    module, x = transformer(), torch.randn(1, 5, 16)
    ready = torch.jit.script(module) if via == "script" else torch.jit.trace(module, x, check_trace=False)
    torch.testing.assert_close(torch.jit.freeze(ready)(x), module(x))


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict(
            {
                "instance": nn.InstanceNorm2d(3, affine=True),
                "group": nn.GroupNorm(1, 3),
                "untracked": nn.BatchNorm2d(3, track_running_stats=False),
                "transposed": nn.ConvTranspose2d(3, 3, 2),
                "prelu": nn.PReLU(),
                "larger": nn.Upsample(scale_factor=2.0),
            }
        )
        self.bag = nn.EmbeddingBag(5, 3)
        self.pool = nn.MaxPool2d(2, return_indices=True)

    def forward(self, x, places):
        for part in self.parts.values():
            x = part(x)
        pooled, indices = self.pool(x)
        return pooled, indices, self.bag(places)


def test_many_kinds_of_layers(recorded):
    module, x, places = Layers(), torch.randn(1, 3, 4, 4), torch.tensor([[1, 2]])
    torch.testing.assert_close(frozen(module)(x, places), module(x, places))
    kept = {fate.path for fate in recorded.traces[0].attributes if fate.fate == "preserved"}
    assert kept == set()


class Dropouts(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.FeatureAlphaDropout()
        self.rest = nn.Sequential(nn.Dropout(0.3), nn.Dropout2d(0.3), nn.AlphaDropout())

    def forward(self, x):
        return self.rest(self.first(x))

    @torch.jit.export
    def go(self, x):
        return self.first(x)


def test_dropouts_are_removed_from_every_method_and_alpha_dropouts_stay(recorded):
    x = torch.ones(1, 2, 2, 2)
    assert torch.equal(frozen(Dropouts(), "go")(x), x)
    finals = {method: recorded.traces[0].final(method).graph for method in ("forward", "go")}
    left = {method: [node.op for node in graph.walk() if "dropout" in node.op] for method, graph in finals.items()}
    assert left == {
        "forward": ["aten::feature_alpha_dropout", "aten::alpha_dropout"],
        "go": ["aten::feature_alpha_dropout"],
    }


class TracedLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU())
        self.b = nn.ModuleDict({"x": nn.Conv2d(2, 2, 1)})

    def forward(self, x):
        return self.b["x"](self.a(x)).mean([2, 3])


def test_the_scopes_of_a_traced_module(recorded):
    torch.jit.freeze(torch.jit.trace(filled(TracedLayers()), torch.ones(1, 1, 4, 4)))
    modules = {(node.op, node.module) for node in recorded.traces[0].final("forward").graph.walk()}
    found = {(op, module) for op, module in modules if op.startswith("aten::")}
    assert found == {
        ("aten::_convolution", "a.0"),
        ("aten::relu", "a.2"),
        ("aten::_convolution", "b.x"),
        ("aten::mean", ""),
    }


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x):
        return functional.relu(x + self.bn(self.conv(x)))


def test_every_fold_of_a_deep_network_is_found(recorded):
    frozen(nn.Sequential(*(Residual() for _ in range(30))))
    kinds = [rewrite.kind for step in recorded.traces[0].steps for rewrite in step.rewrites]
    assert kinds == ["conv_bn"] * 30
