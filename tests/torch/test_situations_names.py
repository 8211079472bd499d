"""Names and strings that look like something else, frozen in the fixture `recorded`."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
import torch
from torch import nn

from tests.torch.situations import fates, frozen


class Collides(nn.Module):
    """Names that torch gives to values itself, or that end like its counters."""

    def __init__(self):
        super().__init__()
        self.x = nn.Parameter(torch.ones(2))
        self.self = nn.Parameter(torch.ones(2))
        self.weight = nn.Parameter(torch.ones(2))
        self.parts = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.inner = nn.Module()
        self.inner.weight = nn.Linear(2, 2)

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return self.inner.weight(x + self.x + self.self + self.weight)


def test_names_that_collide(recorded):
    frozen(Collides())
    paths = ("x", "self", "weight", "parts.0.weight", "parts.1.weight", "inner.weight.weight")
    assert fates(recorded, *paths) == dict.fromkeys(paths, "inlined")
    places = [recorded.traces[0].attribute(path).locations for path in paths]
    assert len(set(places)) == len(paths)


NAMES = ("a-b", "é x", "%q", "50%", "%", "a/b", "1", "a=b", "a'b", "[a]", "a #b:1:2")


class OddNames(nn.Module):
    def __init__(self, names: tuple[str, ...]):
        super().__init__()
        self.parts = nn.ModuleDict({name: nn.Linear(2, 2) for name in names})

    def forward(self, x):
        for part in self.parts.values():
            x = part(x)
        return x


def test_names_with_odd_characters(recorded):
    x = torch.ones(1, 2)
    module = OddNames(NAMES)
    assert torch.equal(frozen(module)(x), module(x))
    paths = [f"parts.{name}.weight" for name in NAMES]
    assert fates(recorded, *paths) == dict.fromkeys(paths, "inlined")


class WritesOddName(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a % b", torch.zeros(2))

    def forward(self, x):
        getattr(self, "a % b").add_(x)
        return getattr(self, "a % b") * 2


def test_a_write_to_an_odd_name_has_its_chain(recorded):
    frozen(WritesOddName())
    fate = recorded.traces[0].attribute("a % b")
    assert (fate.reason, [link.op for link in fate.evidence[0].chain]) == ("mutated_in_place", ["prim::GetAttr"])


class OddTexts(nn.Module):
    """Strings that look like what torch prints around them."""

    def __init__(self):
        super().__init__()
        self.graph = "graph(%x : Tensor):\n  return (%x)\nwith prim::fork_0 = graph(%y):\n"
        self.log = "[DEBUG freeze_module.cpp:1] attribute: a is set\n[DEBUG graph_executor.cpp:9] After X"
        self.control = "\x1b[31m\u00e9\u4e2d\t\"'\\"
        self.block = "\n\n  block0():\n    -> ()\n, scope: q # f:1:2"
        self.by_text = {"# /x.py:1:2": 3, "%3 : int": 4}

    def forward(self, x: int):
        text = self.graph + self.log + self.control + self.block
        if x > 2:
            text = text + self.log
        return text, self.by_text, self.graph


def test_strings_that_look_like_torchs_own(recorded):
    module = OddTexts()
    assert frozen(module)(1) == module(1)
    assert fates(recorded, "by_text", "graph") == {"by_text": "inlined", "graph": "inlined"}
