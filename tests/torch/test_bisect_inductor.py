"""Finding the pass and the rewrite that break a criterion, in a compile with Inductor freezing."""

from __future__ import annotations

import runpy

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.backends.common.observer import SILENT
from freeze_engine.diagnose import Culprit, GuiltyRewrite
from freeze_engine.diagnose.bisection.inductor import compiled_prefixes
from freeze_engine.diagnose.bisection.inductor_repro import recipes
from freeze_engine.requests.options import ModuleOptions
from tests.torch import inductor_recording as inductor


def test_the_one_fold_of_the_example_is_named_though_what_follows_it_does_not_run():
    with inductor.fresh():
        found = fe.bisect("example:bf16_misfold", backend="inductor", criterion=fe.AccuracyCriterion(input_sets=1))
    assert (found.ending, found.notes) == ("found", ())
    culprit = found.culprit
    assert culprit is not None
    assert (culprit.stage, culprit.name, culprit.round, culprit.note) == ("freezing_passes", "binary_folding", 1, "")
    (rewrite,) = culprit.rewrites
    assert (rewrite.kind, rewrite.modules) == ("conv_add", ("conv", "bn"))
    assert [line.partition(" : ")[0] for line in rewrite.nodes] == ["%convolution", "%sub"]
    untestable = [probe for probe in found.probes if probe.verdict == "untestable"]
    assert untestable
    assert all("does not run, though the whole freeze does" in probe.detail for probe in untestable)
    assert found.probes[1].candidate == "the compiled module"
    assert found.probes[-1].candidate.endswith("(binary_folding, round 1) with rewrite 1 of 1")


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x):
        return self.inner(x + 1) * 2


def test_a_step_is_saved_as_a_python_file_beside_an_exported_program(tmp_path):
    with inductor.fresh():
        model, inputs = Outer().eval(), fe.Inputs((torch.ones(2, 3),))
        prefixes, _ = compiled_prefixes(model, inputs, fe.InductorOptions(), ModuleOptions(), SILENT)
        first, *_, last = prefixes.whole()
        file = tmp_path / f"candidate{prefixes.suffix}"
        given = first.save(file)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["candidate.pt2", "candidate.py"]
    (output,) = runpy.run_path(str(file))["module"](*given.args)
    torch.testing.assert_close(output, model(*inputs.args))
    with pytest.raises(fe.MeasureError, match="generated code has no file"):
        last.save(file)


def test_a_script_is_reduced_to_the_submodule_that_is_involved(tmp_path):
    rewrite = GuiltyRewrite("linear_add", (), (), ("inner.0", "inner.1"), ())
    culprit = Culprit(1, "freezing_passes", "binary_folding", "forward", 1, 0, (), (rewrite,), 1)
    model = Outer().eval()
    small, whole = recipes(model, fe.Inputs((torch.ones(2, 3),)), fe.InductorOptions(dynamic=False), culprit)
    assert [each.is_reduced for each in (small, whole)] == [True, False]
    given = small.save(tmp_path / "small.pt2")
    torch.testing.assert_close(given.args, (torch.full((2, 3), 2.0),))
    output = torch.export.load(tmp_path / "small.pt2").module()(*given.args)
    torch.testing.assert_close(output, model.inner(*given.args))
    assert small.freeze[-1] == "return torch.compile(module, dynamic=False)"


def test_model_that_compiles_only_once_is_refused():
    options = fe.InductorOptions(discard_parameters=True)
    with pytest.raises(fe.FreezerError, match="discard_parameters takes its parameters"):
        fe.bisect(Outer().eval(), torch.ones(2, 3), backend="inductor", options=options)


class Added(nn.Module):
    """A convolution and an addition that torch 2.13 folds into it without its alpha."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.register_buffer("added", torch.ones(1, 4, 1, 1))

    def forward(self, x):
        return torch.add(self.conv(x), self.added, alpha=2)


class Broken(nn.Module):
    """Misfolded in the second of its graphs."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 3, 1)
        self.second = Added()

    def forward(self, x):
        x = self.first(x)
        torch._dynamo.graph_break()
        return self.second(x)


def test_the_graph_after_a_graph_break_is_searched_as_well():
    criterion = fe.AccuracyCriterion(input_sets=1)
    with inductor.fresh():
        found = fe.bisect(
            Broken().eval(), torch.ones(1, 3, 6, 6), backend="inductor", criterion=criterion, every_step=False
        )
    second = "forward, graph 2 (after a graph break)"
    culprit = found.culprit
    assert culprit is not None
    assert (culprit.name, culprit.round, culprit.method) == ("binary_folding", 1, second)
    assert (
        found.message
        == f"Step {culprit.step} (freezing_passes / binary_folding, round 1) of {second} breaks the criterion."
    )
    (rewrite,) = culprit.rewrites
    assert (rewrite.kind, rewrite.modules) == ("conv_add", ("second.conv", "second"))
    good = found.trace.steps[culprit.last_good]
    assert (good.method, good.round) == (second, 1)
    assert (
        found.probes[-1].candidate == f"step {culprit.step} (binary_folding, round 1) of {second} with rewrite 1 of 1"
    )
