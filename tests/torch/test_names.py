"""Names that a user's attributes can have and that torch's text, which names values after them, does not escape."""

from __future__ import annotations

import re

import pytest
import torch
from hypothesis import example, given, settings, strategies as st
from torch import nn

import freeze_engine as fe

PLAIN = "key"
#: What stands around names in torch's text, and what is not ASCII; line breaks and the like are refused.
NAMES = st.text(st.sampled_from("ab(){}[]<>\"'\\,:;=%#/-+* \té🙂"), min_size=1, max_size=6).filter(
    lambda name: not re.search(r"^\s| [:=#] |, %", name) and not hasattr(nn.ModuleDict, name)
)


class Named(nn.Module):
    """Reads, writes and returns what has the name."""

    def __init__(self, name):
        super().__init__()
        self.layers = nn.ModuleDict({name: nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))})
        self.held = nn.Module()
        self.held.register_buffer(name, torch.zeros(1))
        self.name = name

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        count = getattr(self.held, self.name)
        count += 1
        return x + count


def told(name):
    torch.manual_seed(0)
    model = Named(name).eval()
    trace = fe.record(model, (torch.ones(3, 2),), via="trace", measure=None).trace
    fe.check_trace(trace)
    return trace


def facts(trace, name):
    """What a trace says, with the name put back to the plain one."""

    def plainly(path):
        return ".".join(PLAIN if part == name else part for part in path.split("."))

    fates = {plainly(fate.path): (fate.fate, fate.reason, fate.step, len(fate.locations)) for fate in trace.attributes}
    nodes = [[(node.op, plainly(node.module), len(node.inputs)) for node in step.graph.walk()] for step in trace.steps]
    return fates, nodes


@pytest.fixture(scope="module")
def plain():
    return facts(told(PLAIN), PLAIN)


@given(NAMES)
@example("a, b")
@example("('paper', 'cites')")
@example('"')
@example("a)")
@example("λ\\")
@example("# x:1:2")
@settings(max_examples=12, deadline=None)
def test_an_attribute_of_any_name_has_its_fate(plain, name):
    assert facts(told(name), name) == plain


@pytest.mark.parametrize("name", ["a\nb", "a\r", " a", "a : b", "a = b", "a, %b", "a # b"])
def test_a_name_that_cannot_be_read_is_refused_before_the_freeze(name):
    said = re.escape(f"the attribute {'layers.' + name!r} cannot be followed")
    with pytest.raises(fe.FreezerError, match=said):
        told(name)


@pytest.mark.parametrize("name", ["a\nb", "a : b"])
def test_a_capture_says_what_it_could_not_read_beside_what_it_could(name):
    with fe.capture() as captured:
        torch.jit.freeze(torch.jit.trace(Named("a").eval(), torch.ones(3, 2), check_trace=False))
        frozen = torch.jit.freeze(torch.jit.trace(Named(name).eval(), torch.ones(3, 2), check_trace=False))
    assert frozen(torch.ones(3, 2)).shape == (3, 2)
    read, unread = captured.traces
    assert len(read.steps) > 5
    (notice,) = unread.notices
    assert (unread.steps, notice.code) == ((), "unreadable_name")
    assert f"the attribute {'layers.' + name!r} cannot be followed" in notice.message
