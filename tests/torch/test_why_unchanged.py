"""Why passes changed nothing, held against what torch itself leaves in the graph."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.analysis import pass_notes
from freeze_engine.analysis.pass_explanations.pass_note import pass_entry
from freeze_engine.backends.inductor.capture.known_pass_names import names_in_use
from freeze_engine.backends.torchscript.capture.pass_driver import OPTIONAL
from freeze_engine.trace import Trace

#: What a sentence says is absent, as it would stand in the text of the graph.
OPERATORS = {
    "convolution": r"aten::_?conv",
    "batch norm": r"aten::batch_norm",
    "linear": r"aten::linear",
    "dropout": r"aten::\w*dropout",
    "addition or subtraction": r"aten::(add|sub)\b",
    "multiplication or division": r"aten::(mul|div)\b",
    "loop": r"prim::Loop",
    "detach": r"aten::detach",
    "relu": r"aten::relu_?\b",
    "2D or 3D convolution": r"aten::(conv[23]d|_convolution)\b",
    "call": r"prim::Call",
}


def recorded(*layers: nn.Module, shape: tuple[int, ...] = (1, 3, 8, 8)) -> Trace:
    module = nn.Sequential(*layers)
    options = fe.TorchScriptOptions(optimize_for_inference=True)
    return fe.record(module.eval(), torch.rand(shape), options=options, measure=None).trace


def reasons(trace: Trace, name: str) -> list[str]:
    return [note.why_not for notes in pass_notes(trace) for note in notes if note.name == name]


def conv() -> nn.Module:
    return nn.Conv2d(3, 4, 3)


def norm() -> nn.Module:
    found = nn.BatchNorm2d(4)
    for values in (found.weight, found.bias, found.running_mean, found.running_var):
        nn.init.uniform_(values, 0.5, 1.5)
    return found


@pytest.fixture(scope="module")
def traces() -> dict[str, Trace]:
    return {
        "conv": recorded(conv()),
        "conv, norm": recorded(conv(), norm()),
        "norm, conv": recorded(nn.BatchNorm2d(3), conv()),
        "conv, relu, norm": recorded(conv(), nn.ReLU(), norm()),
        "dropout": recorded(nn.Dropout(), nn.Linear(8, 8)),
        "alpha dropout": recorded(nn.AlphaDropout()),
    }


def test_the_batch_norm_and_its_place_decide_the_reason(traces: dict[str, Trace]):
    said = {name: reasons(trace, "FoldFrozenConvBatchnorm") for name, trace in traces.items()}
    apart = "No batch norm reads the output of a convolution directly."
    step = next(step.index for step in traces["conv, norm"].steps if step.name == "FoldFrozenConvBatchnorm")
    assert said == {
        "conv": ["The graph has no batch norm."],
        "conv, norm": ["", f"No batch norm is left: step {step} removed 1."],
        "norm, conv": [apart],
        "conv, relu, norm": [apart],
        "dropout": [""],  # it removed constants that nothing reads any more
        "alpha dropout": ["The graph has no convolution and no batch norm."],
    }


def test_a_removed_dropout_has_no_reason_and_one_that_torch_does_not_know_is_a_near_miss(traces: dict[str, Trace]):
    assert reasons(traces["dropout"], "RemoveDropout") == [""]
    assert reasons(traces["alpha dropout"], "RemoveDropout") == ["The near miss says why."]
    assert reasons(traces["conv"], "RemoveDropout") == ["The graph has no dropout."]


def test_mkldnn_begins_with_a_convolution_and_takes_no_linear_alone(traces: dict[str, Trace]):
    assert reasons(traces["dropout"], "ConvertFrozenOpsToMKLDNN") == ["The graph has no 2D or 3D convolution."]
    assert reasons(traces["conv"], "ConvertFrozenOpsToMKLDNN") == [""]


class Shaped(nn.Module):
    """Asks a tensor for its size, of which torch knows nothing in a scripted graph."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x).reshape(x.size(0), -1)


class Doubling(nn.Module):
    """Adds and scales: what the peephole pass would simplify if the number were 1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def test_the_peephole_pass_needs_something_of_its_kinds():
    asks = "torch does not know the shape, type or device of the tensors that the graph asks for theirs."
    said = reasons(recorded(conv()), "PeepholeOptimize")
    assert {text.partition(":")[0] for text in said} <= {"", "The graph has nothing that it simplifies"}
    assert any(said)
    assert set(reasons(recorded(Shaped()), "PeepholeOptimize")) <= {"", asks}
    assert asks in reasons(recorded(Shaped()), "PeepholeOptimize")
    assert set(reasons(recorded(Doubling()), "PeepholeOptimize")) == {""}  # no graph proves what torch thinks of 2


def test_operator_reported_absent_is_not_in_the_graph(traces: dict[str, Trace]):
    checked = set()
    for trace in traces.values():
        for step, notes in zip(trace.steps, pass_notes(trace), strict=True):
            for note in notes:
                assert note.does
                assert not (step.changed and note.why_not)
                found = re.fullmatch(r"The graph has no (.*)\.", note.why_not)
                for words in found[1].split(" and no ") if found else ():
                    assert not re.search(OPERATORS[words], repr(step.graph)), (step, words)
                    checked.add(words)
    assert len(checked) >= 8


def test_every_pass_that_torch_names_has_a_sentence():
    known = ("joint_graph", "post_grad")
    assert [name for name in names_in_use() if not any(pass_entry("inductor", stage, name) for stage in known)] == []
    assert [name for name in OPTIONAL if not pass_entry("torchscript", "optimize_frozen_graph", name)] == []
