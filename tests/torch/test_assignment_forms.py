"""Assignments in all forms: an attribute's evidence names lines that assign this attribute, or no line.

A line that assigns has the paths of the attributes in its comment. torch keeps no line of a function that computes
nothing.
"""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.torch.situations import frozen


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.mode = 1, "a"

    def bump(self, k: int) -> int:
        self.n = k
        return self.n

    def forward(self, x):
        return x + self.n + len(self.mode)


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.m, self.label = 1, 2.0, "a"
        self.one, self.two = Part(), Part()
        self.parts = nn.ModuleList([Part(), Part()])
        self.table = nn.ModuleDict({"u": Part(), "v": Part()})


class SeveralTargets(Parts):
    def forward(self, x):
        (self.n,  # assigns: n
         self.m) = (3, 4.0)  # assigns: m # fmt: skip
        self.one.n = self.two.n = 3  # assigns: one.n two.n
        return self.two(self.one(x)) + self.n + self.m


class SpreadValues(Parts):
    def forward(self, x):
        self.n = (  # assigns: n
            self.n
            + 2
            + x.size(0)
        )  # fmt: skip
        self.label = \
            "y"  # fmt: skip
        self.m += 2.0  # assigns: m
        return x + self.n + self.m


class BesideUnseen(Parts):
    """What one part assigns in a function that is not shown is not given to the lines of others."""

    def forward(self, x):
        k = self.one.bump(4)
        self.n = 5  # assigns: n
        two = self.two
        two.n = 3  # assigns: two.n
        return self.two(self.one(x)) + self.n + k


class EqualValues(Parts):
    """torch pools equal numbers, so that the line of a number may be another's."""

    def forward(self, x):
        y = x.sum(0) + 4
        self.one.n = 4  # assigns: one.n
        k = self.one.bump(4)
        self.n = 4  # assigns: n
        return self.one(x) + self.n + k + y


class Loops(Parts):
    def forward(self, x):
        self.parts[-1].n = 9  # assigns: parts.1.n
        self.parts[0].mode = "q"  # assigns: parts.0.mode
        for i, part in enumerate(self.parts):
            part.n = 7 + i  # assigns: parts.0.n parts.1.n
            x = part(x)
        for key, part in self.table.items():
            part.mode = key  # assigns: table.u.mode table.v.mode
            x = part(x)
        return x


class Inherited(Parts):
    def touch(self, x):
        self.n = 2  # assigns: n
        return x * 2


class Inherits(Inherited):
    """
    self.n = 7
    """

    cache: Tensor | None

    def __init__(self):
        super().__init__()
        self.cache = None

    @property
    def speed(self) -> float:
        return self.m

    @speed.setter
    def speed(self, value: float) -> None:
        self.m = value  # assigns: m

    def forward(self, x):
        """Says what it does:

        self.n = 7
        """
        self.speed = 4.0
        cache = self.cache
        if cache is None:
            cache = x * 2
            self.cache = cache  # assigns: cache
        return self.touch(x) + self.n + self.speed + cache


class OnlyCalls(Parts):
    """Computes nothing itself: its lines are those of its calls."""

    def forward(self, x):
        y = self.one(x)
        self.one = self.two  # assigns: one one.n one.mode
        return y


@torch.jit.interface
class Layer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Implementation(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 1

    def forward(self, x: Tensor) -> Tensor:
        self.n = x.size(0)  # assigns: inner.layer.n
        return x + self.n


class HoldsLayer(nn.Module):
    layer: Layer

    def __init__(self):
        super().__init__()
        self.layer = Implementation()

    def forward(self, x):
        return self.layer(x) * 2


class BehindInterface(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.inner = 1, HoldsLayer()

    def forward(self, x):
        self.n = 8  # assigns: n
        return self.inner(x) + self.n


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 1

    def forward(self, x):
        x = x * self.n
        self.n = 19  # assigns: inner.table.u.n inner.table.v.n inner.parts.0.n inner.parts.1.n
        return x


class HoldsParts(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Counts(), Counts()])
        self.table = nn.ModuleDict({"u": Counts(), "v": Counts()})

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        for part in self.table.values():
            x = part(x)
        return x


class InsideContainers(nn.Module):
    """torch names a part that a loop goes through without its list or dictionary."""

    def __init__(self):
        super().__init__()
        self.inner = HoldsParts()

    def forward(self, x):
        return self.inner(x)


#: The forms, each with the number of assignments that have no line, by path.
FORMS = {
    SeveralTargets: {},
    SpreadValues: {},
    BesideUnseen: {"one.n": 1},
    EqualValues: {"one.n": 1},
    Loops: {},
    Inherits: {},
    OnlyCalls: {},
    BehindInterface: {},
    InsideContainers: {},
}


@pytest.mark.parametrize("form", FORMS, ids=[form.__name__ for form in FORMS])
def test_evidence_names_lines_that_assign_the_attribute(recorded, form):
    frozen(form())
    (trace,) = recorded.traces
    lines = Path(__file__).read_text().splitlines()
    unseen, seen = Counter[str](), set()
    for fate in trace.attributes:
        if fate.fate != "preserved" or fate.kind == "submodule":
            continue
        own = [each for each in fate.evidence if each.op == "prim::SetAttr"]
        own = own[: next((place for place, each in enumerate(fate.evidence) if "same class" in each.fact), len(own))]
        for each in own:
            if each.source is None:
                unseen[fate.path] += 1
                continue
            marked = lines[each.source.line - 1].partition("# assigns: ")[2].partition(" #")[0].split()
            shown = lines[each.source.line - 1]
            assert fate.path in marked or "self.label" in shown, (fate.path, shown)
            seen.add(fate.path)
    assert unseen == Counter(FORMS[form])
    assert seen
