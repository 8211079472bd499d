"""The line of an assignment, which torch does not keep, is one of a function that assigns this attribute, or none."""

# No postponed annotations here: torch.jit.script reads the annotations of attributes as types.
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.torch.situations import frozen


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.flag = 1, True

    def forward(self, x):
        y = x + self.n
        self.n = 5  # assigns: n
        return y


class CountsFar(nn.Module):
    """Assigns what it is given, and far from any line that torch keeps."""

    def __init__(self):
        super().__init__()
        self.n = 1

    def forward(self, x, n: int):
        # torch keeps the lines around computations;
        # what is between these comments is not near one.
        #
        #
        #
        self.n = n
        #
        #
        #
        #
        #
        return x * 2


class FarAndNear(nn.Module):
    def __init__(self, order: str):
        super().__init__()
        self.near, self.far, self.order = Counts(), CountsFar(), order

    def forward(self, x, n: int):
        if self.order == "near first":
            return self.far(self.near(x), n)
        return self.near(self.far(x, n))


class AssignsInside(nn.Module):
    """Assigns attributes of its parts, several in one line, by the part's path and by a variable."""

    def __init__(self):
        super().__init__()
        self.one, self.two = Counts(), Counts()

    def forward(self, x):
        y = self.one(x); self.one.flag = bool(y.sum() > 0); self.two.n = 7  # fmt: skip # noqa: E702 # assigns: one.flag two.n
        two = self.two
        two.flag = False  # assigns: two.flag
        return y + self.two.n


def assigning_lines(trace, path):
    found = [each.source for each in trace.attribute(path).evidence if each.op == "prim::SetAttr"]
    assert found
    return [source and Path(source.file).read_text().splitlines()[source.line - 1] for source in found]


@pytest.mark.parametrize("order", ["near first", "far first"])
def test_an_assignment_of_another_class_is_not_taken_for_one_that_is_not_seen(recorded, order):
    frozen(FarAndNear(order))
    (trace,) = recorded.traces
    assert set(assigning_lines(trace, "far.n")) == {None}
    assert all(line.endswith("# assigns: n") for line in assigning_lines(trace, "near.n"))


def test_several_assignments_in_a_line_and_by_variables_have_their_lines(recorded):
    frozen(AssignsInside())
    (trace,) = recorded.traces
    for path in ("one.flag", "two.n", "two.flag"):
        assert any(path in line.partition("# assigns: ")[2].split() for line in assigning_lines(trace, path)), path
    own, of_the_class = assigning_lines(trace, "one.n")
    assert own.endswith("# assigns: n")
    assert "self.two.n = 7" in of_the_class


class Anchors(nn.Module):
    """Assigns a list of tensors that it makes of the old one, as torchvision's anchor generator does."""

    anchors: list[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.anchors = [torch.ones(2), torch.zeros(2)]

    def forward(self, x):
        self.anchors = [each.to(x.dtype) for each in self.anchors]
        images = [x]
        images.append(x + 1)
        taken = [images]
        taken[0].append(x)
        for each in self.anchors:
            x = x + each
        return x, taken


class AnchorsKept(Anchors):
    def forward(self, x):
        anchors = [each.to(x.dtype) for each in self.anchors]
        images = [x]
        images.append(x + 1)
        taken = [images]
        taken[0].append(x)
        for each in anchors:
            x = x + each
        return x, taken


def test_other_lists_that_are_written_are_no_cause_beside_an_assignment(recorded):
    frozen(Anchors())
    fate = recorded.traces[0].attribute("anchors")
    assert {each.op for each in fate.evidence} == {"prim::SetAttr"}
    assert "write to" not in fate.advice
    assert not hasattr(frozen(AnchorsKept()), "anchors")
