"""What became of each line of source, on real recordings: the lines are looked up by their text."""

from __future__ import annotations

import importlib.util
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import freeze_engine as fe
from freeze_engine.analysis import FileOutcome, LineOutcome, SourceOutcome, source_outcome
from freeze_engine.analysis.by_line.following import is_operator
from freeze_engine.trace import SourceRef, Trace

_SOURCE = """\
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()

    def forward(self, x):
        y = self.relu(self.bn(self.conv(x)))
        return self.relu(y + x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 1)
        self.blocks = nn.Sequential(Block(), Block())
        self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)
        self.dropout = nn.Dropout()
        self.scale = nn.Parameter(torch.full((4,), 1.5))

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = self.blocks(x)
        if self.training:
            x = x * 3
        x = x.mean((2, 3))
        x = self.dropout(x)
        both = self.left(x) + self.right(x)
        return both * self.scale
"""
_CONV_BN = "y = self.relu(self.bn(self.conv(x)))"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("source") / "by_line.py"


def imported(path: Path, source: str) -> Any:
    """Writes a module to a file, and imports it."""
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def model(path: Path) -> torch.nn.Module:
    net: torch.nn.Module = imported(path, _SOURCE).Net().eval()
    return net


@pytest.fixture(scope="module")
def scripted(model: torch.nn.Module) -> Trace:
    return fe.record(model, measure=None).trace


INPUTS = (torch.ones(1, 3, 8, 8),)


class Lines:
    """The lines of a trace, by their text."""

    def __init__(self, trace: Trace, kind: str = "own") -> None:
        self.trace = trace
        self.outcome: SourceOutcome = source_outcome(trace)
        self.files: list[FileOutcome] = [each for each in self.outcome.files if each.kind == kind]

    def __getitem__(self, text: str) -> LineOutcome:
        (found,) = (
            line
            for each in self.files
            for line in each.lines
            if (self.trace.source_line(SourceRef(each.file, line.line)) or "").strip() == text
        )
        return found

    def ops(self, text: str) -> list[str]:
        nodes = {(step.method, node.id): node.op for step in self.trace.steps for node in step.graph.walk()}
        return [nodes[left.method, left.node] for left in self[text].left]

    def effects(self, text: str) -> dict[str, str]:
        return {effect.what: self.trace.steps[effect.step].name for effect in self[text].effects}


def test_a_folded_batch_norm_leaves_its_line_to_the_convolution(scripted: Trace) -> None:
    lines = Lines(scripted)
    assert lines.ops(_CONV_BN) == ["aten::conv2d", "aten::relu"] * 2  # two blocks share the line
    assert lines.effects(_CONV_BN)["rewritten"] == "FoldFrozenConvBatchnorm"
    assert [each.node for each in lines[_CONV_BN].constants] == [
        f"self.blocks.{block}.conv.{kind}_fused_bn" for block in (0, 1) for kind in ("weight", "bias")
    ]


def test_a_line_that_is_called_twice_on_one_module_keeps_its_own_call(scripted: Trace) -> None:
    assert Lines(scripted).ops("return self.relu(y + x)") == ["aten::add", "aten::relu"] * 2


def test_outcome_of_a_module_belongs_to_the_line_that_calls_it(scripted: Trace) -> None:
    lines = Lines(scripted)
    assert lines.ops("x = F.relu(self.stem(x))") == ["aten::conv2d", "aten::relu"]
    blocks = ["aten::conv2d", "aten::relu", "aten::add", "aten::relu"] * 2
    assert lines.ops("x = self.blocks(x)") == blocks
    assert [op for op in lines.ops("both = self.left(x) + self.right(x)") if op != "aten::add"] == ["aten::linear"] * 2


def test_dead_branches_dropout_and_frozen_attributes(scripted: Trace) -> None:
    lines = Lines(scripted)
    assert lines.effects("x = x * 3") == {"removed": "ConstantPropagation"}
    assert lines["x = x * 3"].left == ()
    assert lines.effects("x = self.dropout(x)")["rewritten"] == "RemoveDropout"
    assert lines.ops("x = self.dropout(x)") == []
    assert lines.effects("return both * self.scale")["frozen"] == "PropagateAttributes"
    assert [each.node for each in lines["return both * self.scale"].constants] == ["self.scale"]


def test_every_node_of_every_step_has_the_lines_that_its_text_has(scripted: Trace) -> None:
    """The listing and the graph agree: where torch names an own line, that line has the node."""
    known: dict[tuple[str, str], set[SourceRef]] = {}
    for claim in source_outcome(scripted).nodes:
        known.setdefault((claim.method, claim.node), set()).update(claim.lines)
    for step in scripted.steps:
        for node in step.graph.walk():
            if node.source is not None and is_operator(node):
                assert SourceRef(node.source.file, node.source.line) in known[step.method, node.id]


def same_left(one: Trace, other: Trace) -> None:
    lines, others = Lines(one), Lines(other)
    for text in (_CONV_BN, "return self.relu(y + x)", "x = self.blocks(x)", "x = x.mean((2, 3))"):
        assert lines.ops(text) == others.ops(text), text


def test_a_scripted_file_shows_the_source_it_was_made_of(
    model: torch.nn.Module, scripted: Trace, tmp_path: Path
) -> None:
    torch.jit.script(model).save(str(tmp_path / "net.pt"))
    trace = fe.record(str(tmp_path / "net.pt"), measure=None).trace
    same_left(trace, scripted)
    saved = Lines(trace, "saved")
    assert saved.ops("y = (relu).forward((bn).forward((conv).forward(x, ), ), )") == ["aten::conv2d", "aten::relu"] * 2


def test_a_traced_module_has_the_calls_of_its_python_stack(model: torch.nn.Module, path: Path, tmp_path: Path) -> None:
    traced: Any = torch.jit.trace(model, INPUTS)
    lines = Lines(fe.record(traced, measure=None).trace)
    assert lines.ops(_CONV_BN) == ["aten::_convolution", "aten::relu"] * 2
    assert lines.ops("return self.relu(y + x)") == ["aten::add", "aten::relu"] * 2
    assert lines.ops("x = self.dropout(x)") == []
    assert [each.file for each in lines.files] == [str(path)]


def test_a_traced_file_shows_the_code_that_was_saved_and_reads_no_file_that_it_names(
    model: torch.nn.Module, path: Path, tmp_path: Path
) -> None:
    traced: Any = torch.jit.trace(model, INPUTS)
    traced.save(str(tmp_path / "net.pt"))
    trace = fe.record(str(tmp_path / "net.pt"), measure=None).trace
    (own,) = (each for each in source_outcome(trace).files if each.kind == "own")
    assert (own.file, own.has_text) == (str(path), False)
    text = next(number for number, line in enumerate(_SOURCE.splitlines(), 1) if line.strip() == _CONV_BN)
    (line,) = (each for each in own.lines if each.line == text)
    assert len(line.left) == 4
    saved = [each for each in source_outcome(trace).files if each.kind == "saved"]
    assert all(each.has_text for each in saved)
    ops = {node.id: node.op for node in trace.steps[-1].graph.walk()}
    left = {ops[node.node] for each in saved for line in each.lines for node in line.left}
    assert {"aten::_convolution", "aten::relu", "aten::add"} <= left


@pytest.mark.parametrize("cell", ["/tmp/ipykernel_7/31.py", "<ipython-input-2-1b>"])
def test_a_notebook_cell_is_the_users_own(cell: str) -> None:
    source = "def double(x):\n    y = x * 2\n    return y.relu()\n"
    linecache.cache[cell] = (len(source), None, source.splitlines(keepends=True), cell)
    names: dict[str, Callable[..., Any]] = {}
    exec(compile(source, cell, "exec"), names)
    try:
        traced: Any = torch.jit.trace_module(_Held(names["double"]), {"forward": INPUTS})
        lines = Lines(fe.record(traced.eval(), measure=None).trace)
    finally:
        del linecache.cache[cell]
    assert [each.file for each in lines.files if each.lines[0].line == 2] == [cell]
    assert lines.ops("y = x * 2") == ["aten::mul"]
    assert lines.ops("return y.relu()") == ["aten::relu"]


class _Held(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


_FUSED = """\
import torch


class Fused(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)

    def tail(self, x):
        x = x * 2
        return x.relu()

    def forward(self, x):
        x = self.linear(x)
        return self.tail(x)
"""


def test_a_fused_kernel_runs_all_lines_that_went_into_it(tmp_path: Path) -> None:
    model = imported(tmp_path / "fused.py", _FUSED).Fused().eval()
    trace = fe.record(model, (torch.ones(4, 16),), backend="inductor", measure=None).trace
    lines = Lines(trace)
    (program,) = trace.programs

    def kernels(text: str) -> dict[int, bool]:
        return {each.kernel: each.alone for each in lines[text].kernels}

    scaled, clipped = kernels("x = x * 2"), kernels("return x.relu()")
    (fused,) = scaled.keys() & clipped.keys()
    assert {"aten.mul.Tensor", "aten.relu.default"} <= set(program.kernels[fused].ops)
    assert not scaled[fused]  # its time is not this line's alone
    assert not clipped[fused]
    assert fused in kernels("return self.tail(x)")  # the line that calls both
    named = {each.kernel for file in lines.files for line in file.lines for each in line.kernels}
    assert named == {index for index, kernel in enumerate(program.kernels) if kernel.nodes}
    assert lines.outcome.is_timed is False


_CALLS = """\
import torch
from torch import nn


def inner(x):
    return x.relu()


def outer(x):
    y = inner(x)
    return inner(y) * 2


class Calls(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def helper(self, x):
        return self.linear(x).tanh()

    def forward(self, x):
        x = self.helper(x)
        x = outer(x)
        later = torch.jit.fork(self.helper, x)
        return x + torch.jit.wait(later)
"""


def test_functions_methods_and_forks_have_every_line_that_leads_to_them(tmp_path: Path) -> None:
    trace = fe.record(imported(tmp_path / "calls.py", _CALLS).Calls().eval(), measure=None).trace
    lines = Lines(trace)
    assert lines.ops("x = self.helper(x)") == ["aten::linear", "aten::tanh"]
    assert lines.ops("return self.linear(x).tanh()") == ["aten::linear", "aten::tanh"] * 2
    assert lines.ops("x = outer(x)") == ["aten::relu", "aten::relu", "aten::mul"]
    assert lines.ops("y = inner(x)") == ["aten::relu"]
    assert lines.ops("return inner(y) * 2") == ["aten::relu", "aten::mul"]
    assert {"aten::linear", "aten::tanh"} <= set(lines.ops("later = torch.jit.fork(self.helper, x)"))
