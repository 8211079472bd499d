"""Situations that people asked about on pytorch/pytorch, rebuilt small: what the trace says of each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._inductor.fx_passes import freezing_patterns
from torch._inductor.pattern_matcher import CallFunction, KeywordArg, Match
from torch._subclasses.fake_tensor import unset_fake_temporarily

import freeze_engine as fe
from freeze_engine.backends.inductor.graph.live import LiveGraph
from freeze_engine.trace import Rewrite, Step, Trace
from freeze_engine.trace.validation import check_trace
from tests.torch.inductor_models import Convolutional, filled
from tests.torch.inductor_recording import fresh, image, passes, rows

aten = torch.ops.aten


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 4))
        self.bias = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight, beta=0.5, alpha=3.0)


class TwoConvolutions(nn.Module):
    """Only the second has a batch norm to fold."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3)
        self.second = nn.Conv2d(4, 4, 3)
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.second(self.first(x).relu()))


def first_wrong(trace: Trace, live: Mapping[int, LiveGraph], expected: Tensor) -> Step:
    """Returns the first step whose graph gives something else than the module did."""
    check_trace(trace)
    for index in sorted(live):
        if not torch.allclose(run(live[index]), expected, rtol=1e-3, atol=1e-3):
            return trace.steps[index]
    raise AssertionError("every step gives the same")


def run(live: LiveGraph) -> Tensor:
    (result,) = live.module()(*(live.arguments or ()))
    return result


@contextlib.contextmanager
def wrong_pattern() -> Iterator[None]:
    """Has a freezing pattern turn a relu into its negative."""

    def wrong_relu(match: Match, x: Any) -> None:
        match.replace_by_example(lambda x: -x, [x])

    group = freezing_patterns.pass_patterns[2]
    key = ("call_function", aten.relu.default)
    before = list(group.patterns.get(key, ()))
    pattern = CallFunction(aten.relu.default, KeywordArg("x"))
    freezing_patterns.register_freezing_graph_pattern(pattern, pass_number=2)(wrong_relu)
    try:
        yield
    finally:
        group.patterns[key] = before


def test_a_planted_pattern_is_named_with_its_group_and_node():
    model, x = filled(Convolutional()), image()
    with wrong_pattern():
        trace, live = passes(model, x)
    step = first_wrong(trace, live, model(x))
    assert (step.stage, step.name) == ("freezing_passes", "pass_patterns[2]")
    assert any(line.endswith("wrong_relu matched 1 time") for line in step.log)
    (rewrite,) = step.rewrites
    before = {node.id: node for node in trace.steps[step.index - 1].graph.nodes}
    (relu,) = (before[name] for name in rewrite.consumed)
    assert rewrite.kind.endswith("wrong_relu")
    assert relu.op == "aten.relu.default"
    assert relu.source is not None


def test_a_rewrite_that_drops_alpha_and_beta(recwarn: pytest.WarningsRecorder):
    """pytorch#121253, #122382."""

    def dropping(graph: torch.fx.Graph) -> None:
        for node in graph.find_nodes(op="call_function", target=aten.addmm.default):
            node.kwargs = {}

    model, x = filled(Scaled()), rows(2, 4)
    with torch._inductor.config.patch(joint_custom_post_pass=dropping):
        trace, live = passes(model, x)
    step = first_wrong(trace, live, model(x))
    assert (step.stage, step.name) == ("joint_graph", "joint_custom_post_pass")
    (before,), (after,) = (
        [node for node in trace.steps[index].graph.nodes if node.op == "aten.addmm.default"]
        for index in (step.index - 1, step.index)
    )
    assert (before.attribute("beta"), before.attribute("alpha")) == ("0.5", "3.0")
    assert (after.attribute("beta"), after.attribute("alpha")) == (None, None)


def test_a_wrong_fold_of_one_convolution_names_its_parameters(monkeypatch: pytest.MonkeyPatch):
    original, rounds = torch._inductor.freezing.constant_fold, []

    def wrong_in_the_third(module: torch.fx.GraphModule) -> None:
        original(module)
        rounds.append(module)
        if len(rounds) == 3:
            new = [name for name, tensor in module.named_buffers() if tensor.dim() == 4]
            with unset_fake_temporarily():
                getattr(module, new[-1]).mul_(1.5)

    monkeypatch.setattr(torch._inductor.freezing, "constant_fold", wrong_in_the_third)
    model, x = filled(TwoConvolutions()), rows(2, 3, 8, 8)
    trace, live = passes(model, x)
    step = first_wrong(trace, live, model(x))
    assert (step.name, step.round) == ("constant_fold", 3)
    held = {attribute for rewrite in step.rewrites for attribute in rewrite.attributes}
    assert "second.weight" in held
    assert "first.weight" not in held


def test_bf16_loses_accuracy_where_the_folded_weights_are_rounded():
    """pytorch#120545, #144888: the batch norm is folded in float32, and precision recovery rounds the result."""
    model, x = filled(Convolutional()).to(torch.bfloat16), image().to(torch.bfloat16)
    trace, live = passes(model, x)
    check_trace(trace)
    folds = [step.index for step in trace.steps if step.name == "binary_folding" and step.rewrites]
    # While a bf16 input meets float32 weights, the graph cannot be run.
    outside = [index for index in live if not folds[0] <= index <= folds[-1]]
    error = {index: (run(live[index]) - model(x)).abs().max().item() for index in outside}
    first = trace.steps[next(index for index in outside if error[index] > 0)]
    assert first.name == "recover_original_precision_folded_computation_ops"
    assert {node.op for node in first.graph.nodes} >= {"prims.convert_element_type.default"}


def test_a_fold_that_another_export_path_lost():
    """pytorch#127513: batch norm kept in training mode is no longer one that can be folded."""
    folded, _ = passes(filled(TwoConvolutions()), rows(2, 3, 8, 8))
    exported = torch.export.export(filled(TwoConvolutions()).train(), (rows(2, 3, 8, 8),)).module()
    lost, _ = passes(exported, rows(2, 3, 8, 8))
    assert kinds(folded)[:2] == ["conv_add", "conv_mul"]
    assert kinds(lost) == []
    first = lost.steps[0].graph.nodes
    assert any(node.op.startswith("aten.var_mean") for node in first)
    assert {each.path: each.reason for each in lost.attributes if each.fate == "preserved"} == {
        "bn.num_batches_tracked": "mutated_input",
        "bn.running_mean": "mutated_input",
        "bn.running_var": "mutated_input",
    }


def kinds(trace: Trace) -> list[str]:
    found: list[Rewrite] = [each for step in trace.steps if step.name == "binary_folding" for each in step.rewrites]
    return [each.kind for each in found]


def test_discarding_parameters_forbids_a_new_shape():
    """pytorch#103990."""
    model, x = filled(Convolutional()), image()
    discarding = torch._inductor.config.patch(freezing=True, freezing_discard_parameters=True)
    with fresh(), torch.no_grad(), discarding, fe.capture() as captured:
        compiled = torch.compile(model)
        compiled(x)
        with pytest.raises(RuntimeError, match="original parameters have been discarded"):
            compiled(torch.cat((x, x)))
    (trace,) = captured.traces
    check_trace(trace)
    assert trace.methods == ("forward",)
    (notice,) = (notice for notice in trace.notices if notice.code == "parameters_discarded")
    assert "new shape cannot be compiled" in notice.message
