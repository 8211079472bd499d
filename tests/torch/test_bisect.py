"""Finding the pass and the rewrite that break a criterion, in TorchScript."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.backends.torchscript.capture.pass_driver import OPTIONAL
from freeze_engine.diagnose import Culprit, Probe, Reproduction, bisection_json
from freeze_engine.diagnose.bisection.criteria import Answer
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefix
from freeze_engine.diagnose.bisection.step_search import Search
from freeze_engine.measure.candidate import Candidate
from tests.torch import graph_models, models

MUL_FOLD = OPTIONAL["FoldFrozenConvMulOrDiv"].binding


class Chain(nn.Module):
    """Three convolutions, each with a factor behind it."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(3, 3, 1) for _ in range(3))
        self.register_buffer("scale", torch.ones(1, 3, 1, 1))

    def forward(self, x):
        for conv in self.convs:
            x = (conv(x) * self.scale).relu()
        return x


def chain() -> nn.Module:
    return models.filled(Chain())


def image() -> torch.Tensor:
    return torch.linspace(-1, 1, 2 * 3 * 4 * 4).reshape(2, 3, 4, 4)


def plant(monkeypatch: pytest.MonkeyPatch, spoil, only: str = "") -> None:
    """Lets torch's fold of a mul spoil the weight of each conv that it folds into.

    Args:
        monkeypatch: puts torch back.
        spoil: makes another weight of a weight.
        only: part of the name of the weights that are spoilt.
    """
    original = getattr(torch._C, MUL_FOLD)

    def wrong(graph):
        before = {node.output().debugName(): weight(node).debugName() for node in convs(graph)}
        result = original(graph)
        for node in convs(graph):
            name = before[node.output().debugName()]
            if weight(node).debugName() != name and only in name:
                weight(node).node().t_("value", spoil(weight(node).node().t("value")))
        return result

    monkeypatch.setattr(torch._C, MUL_FOLD, wrong)


def convs(graph):
    return list(graph.findAllNodes("aten::conv2d"))


def weight(node):
    return list(node.inputs())[1]


def doubled(value: torch.Tensor) -> torch.Tensor:
    return value * 2


def test_the_one_fold_of_the_example_is_named_and_reproduced(tmp_path):
    probes: list[Probe] = []
    script = tmp_path / "repro.py"
    found = fe.bisect("example:bf16_misfold", script=script, on_probe=probes.append)

    assert found.ending == "found"
    assert found.probes == tuple(probes)
    assert found.culprit is not None
    culprit = dataclasses.replace(found.culprit, rewrites=())
    assert culprit == Culprit(
        step=15,
        stage="optimize_frozen_graph",
        name="FoldFrozenConvBatchnorm",
        method="forward",
        round=1,
        last_good=8,
        suspects=("step 15 (FoldFrozenConvBatchnorm, round 1)",),
        rewrites_of_step=1,
    )
    (rewrite,) = found.culprit.rewrites
    assert (rewrite.kind, rewrite.modules) == ("conv_bn", ("conv", "bn"))
    assert [line.partition(" = ")[2].partition("(")[0] for line in rewrite.nodes] == [
        "aten::conv2d",
        "aten::batch_norm",
    ]
    assert {"conv.weight", "bn.running_mean"} <= set(rewrite.attributes)
    assert rewrite.sources
    assert found.trace.steps[15].name == "FoldFrozenConvBatchnorm"
    assert json.loads(bisection_json(found))["culprit"]["rewrites"][0]["kind"] == "conv_bn"

    files = (tmp_path / "repro.module.pt", tmp_path / "repro.inputs.pt")
    assert found.reproduction is not None
    assert dataclasses.replace(found.reproduction, output=()) == Reproduction(script, files, True, True, ())
    text = script.read_text()
    assert "freeze_engine" not in text.partition('"""\n\nimport')[2]
    # It runs elsewhere, too, and says so once it is mended.
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for file in files:
        file.rename(moved / file.name)
    (moved / "repro.py").write_text(text.replace("return torch.jit.freeze(module)", "return module"))
    mended = subprocess.run([sys.executable, moved / "repro.py"], capture_output=True, text=True, check=False)
    assert (mended.returncode, mended.stdout) == (0, "fine\n")


def test_one_wrong_rewrite_of_three_is_singled_out(monkeypatch):
    plant(monkeypatch, doubled, "convs.1.")
    found = fe.bisect(chain(), image())
    assert found.ending == "found"
    assert found.culprit is not None
    assert (found.culprit.name, found.culprit.round, found.culprit.rewrites_of_step) == ("FoldFrozenConvMulOrDiv", 1, 3)
    (rewrite,) = found.culprit.rewrites
    assert (rewrite.kind, rewrite.attributes[0], found.culprit.note) == ("conv_mul", "convs.1.weight", "")


def test_further_culprits_are_reported(monkeypatch):
    plant(monkeypatch, doubled)
    found = fe.bisect(chain(), image())
    assert found.culprit is not None
    assert len(found.culprit.rewrites) == 1
    assert found.culprit.note == (
        "The other rewrites of the step break it as well, without it; 2 of these 2 do so alone."
    )


def test_a_candidate_that_raises_is_bad_where_the_whole_freeze_raises(monkeypatch):
    plant(monkeypatch, lambda value: value[:, :1])
    found = fe.bisect(chain(), image())
    assert (found.ending, found.culprit and found.culprit.name) == ("found", "FoldFrozenConvMulOrDiv")
    assert any("RuntimeError" in probe.detail for probe in found.probes if probe.verdict == "bad")


def test_criterion_that_never_fails_has_no_culprit(tmp_path):
    found = fe.bisect(chain(), image(), script=tmp_path / "repro.py")
    assert (found.ending, found.culprit, found.notes, found.reproduction) == ("nothing_found", None, (), None)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_keeps_a_result_with_a_gradient_is_searched():
    model = models.filled(graph_models.KeepsResult())
    model(torch.ones(1, 2))
    assert fe.bisect(model, torch.ones(1, 2)).ending == "nothing_found"


def test_failure_before_the_freeze_is_distinguished():
    class Training(nn.Module):
        def forward(self, x):
            return x if torch.jit.is_scripting() else x + 1

    found = fe.bisect(Training().eval(), image())
    assert found.ending == "broken_before"
    assert found.message == "The criterion fails before anything was frozen: step 0 (input)."


def test_max_error_decides_what_is_accepted():
    criterion = fe.AccuracyCriterion(max_error=1000.0)
    assert fe.bisect("example:bf16_misfold", criterion=criterion).ending == "nothing_found"


#: A command that keeps what it is given, and finds it good as long as any mul is left.
KEEP_AND_LOOK = """
import os, shutil, sys, zipfile
folder, candidate = sys.argv[1:]
assert candidate == os.environ["FREEZER_CANDIDATE"]
shutil.copy(os.environ["FREEZER_INPUTS"], folder)
with zipfile.ZipFile(shutil.copy(candidate, os.path.join(folder, os.environ["FREEZER_STEP"] + ".pt"))) as file:
    code = b"".join(file.read(name) for name in file.namelist() if name.endswith(".py"))
sys.exit(b"torch.mul" not in code)
"""


def test_a_command_gets_each_candidate_as_a_file_with_its_inputs(tmp_path):
    model = chain()
    criterion = fe.CommandCriterion((sys.executable, "-S", "-c", KEEP_AND_LOOK, str(tmp_path)))
    found = fe.bisect(model, image(), criterion=criterion)
    assert found.culprit is not None
    assert (found.culprit.name, len(found.culprit.rewrites)) == ("FoldFrozenConvMulOrDiv", 3)
    assert found.culprit.note == "None of these 3 rewrites breaks it alone; together they do."
    given = torch.load(tmp_path / "inputs.pt")
    assert given["kwargs"] == {}
    for step in {probe.step for probe in found.probes}:
        candidate = torch.jit.load(tmp_path / f"{step}.pt")
        torch.testing.assert_close(candidate(*given["args"]), model(image()))


@pytest.mark.parametrize(
    ("command", "ending", "verdict"),
    [
        ("true", "nothing_found", "good"),
        ("false", "broken_before", "bad"),
        ("sh -c 'exit 125'", "inconclusive", "untestable"),
    ],
)
def test_exit_codes_mean_what_they_mean_to_git_bisect(command, ending, verdict):
    found = fe.bisect(models.filled(models.ConvBn()), image(), criterion=command)
    assert (found.ending, found.probes[0].verdict) == (ending, verdict)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sh -c 'exit 130'", r"sh exited with 130 on step 0 \(input\), which ends the search"),
        ("sh -c 'kill -9 $$'", r"sh was ended by signal 9"),
        (
            "all",
            "criterion all: there is no such program; a criterion is accuracy, latency, or a command",
        ),
        (f"{__file__} -x", "it is not a file that may be executed"),
        ("sh -c nothing-of-that-name", "shells do so for a command that is not found"),
        ("sh 'it", "the command cannot be read: No closing quotation"),
        ("", "criterion is empty"),
    ],
)
def test_error_that_ends_the_search_is_reported(command, said):
    with pytest.raises(fe.FreezerError, match=said):
        fe.bisect(models.filled(models.ConvBn()), image(), criterion=command)


def test_a_command_that_hangs_has_found_the_candidate_bad():
    criterion = fe.CommandCriterion(("sh", "-c", "exec sleep 60"), limit_s=0.2)
    found = fe.bisect(models.filled(models.ConvBn()), image(), criterion=criterion)
    assert (found.ending, found.probes[0].detail) == ("broken_before", "took longer than 0.2 s")


def test_latency_finds_nothing_where_nothing_got_slower_or_names_the_step():
    found = fe.bisect(models.filled(models.ConvBn()), image(), criterion=fe.LatencyCriterion(seconds=0.3, margin=20.0))
    assert (found.ending, found.probes[0].detail) == ("nothing_found", "what the others are held against")


@pytest.mark.parametrize("backend", ["torchscript", "inductor"])
def test_inputs_that_do_not_fit_forward_are_refused_before_the_freeze(backend):
    with pytest.raises(fe.ModelSpecError, match=r"takes 2 positional arguments but 3 were given\nforward\(\) takes x"):
        fe.bisect(chain(), fe.Inputs((image(), image())), backend=backend)


def test_a_model_without_inputs_cannot_be_checked():
    with pytest.raises(fe.FreezerError, match="give inputs"):
        fe.bisect(chain())


class _Told:
    """Asks nobody, and answers as it is told, once and again."""

    criterion = SimpleNamespace(is_cheap=False)

    def __init__(self, *answers: str) -> None:
        self.left = list(answers)
        self.on_probe = print

    def ask(self, prefix, before):
        return Answer({".": "good", "x": "bad", "?": "untestable"}[self.left.pop(0)], "")  # type: ignore[arg-type]

    def doubt(self):
        return None


def unsaved(path):
    raise AssertionError("nothing is to be saved")


class _Three:
    """Three prefixes of a trace, by the steps they end with."""

    method, suffix, goes_on = "forward", "", False

    def __init__(self, trace):
        self._trace = trace

    def whole(self):
        return tuple(Prefix(step, f"step {step}", lambda: Candidate("", print), unsaved) for step in (0, 8, 15))

    def has_parts(self, step):
        return False


@pytest.mark.parametrize(
    ("answers", "every", "ending", "said"),
    [
        (".x...", False, "inconclusive", "held against step 8, right before it, it does not"),
        (".x.xx", False, "inconclusive", "contradicts itself"),
        ("..x", True, "nothing_found", "passes it"),
        ("???", False, "inconclusive", "No step"),
        ("?x", False, "broken_before", "already in the first step that can be tested"),
    ],
)
def test_a_check_that_contradicts_itself_is_found_out(answers, every, ending, said):
    trace = fe.record("example:bf16_misfold", measure=None).trace
    search = Search(trace, _Three(trace), _Told(*answers), every)  # type: ignore[arg-type]
    found = search.run()
    assert (found.ending, said in found.message) == (ending, True), found
    if every:
        assert search.notes == ["Not monotonic: step 8 fails, and step 15 passes again."]


class Counting(nn.Module):
    """Counts its calls, in front of a fold."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        self.norm = nn.BatchNorm2d(3)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x, scale: float = 1.0):
        self.calls += 1
        return {"y": self.norm(self.conv(x)) * scale, "calls": self.calls.clone()}


def test_state_is_as_it_was_before_each_run_and_afterwards(tmp_path):
    model = models.filled(Counting())
    before = model.calls.clone()
    inputs = fe.Inputs((image(),), {"scale": 3.0})
    found = fe.bisect(model, inputs, criterion=fe.AccuracyCriterion(max_error=0.0), script=tmp_path / "repro.py")
    assert (found.ending, found.culprit and found.culprit.name) == ("found", "FoldFrozenConvBatchnorm")
    assert found.reproduction is not None
    assert (found.reproduction.is_reduced, found.reproduction.reproduces) == (True, True)
    assert torch.equal(model.calls, before)  # type: ignore[arg-type]
    assert model.conv.weight.requires_grad


def test_candidate_that_torch_cannot_save_is_not_tested():
    options = fe.TorchScriptOptions(optimize_for_inference=True)
    found = fe.bisect(models.filled(models.ConvBn()), image(), criterion="true", options=options)
    assert found.ending == "nothing_found"
    (note,) = found.notes
    assert note.startswith("Not tested, for the criterion cannot be put to it: step ")
    assert "(ConvertFrozenOpsToMKLDNN)" in note


@pytest.mark.usefixtures("own_time")
def test_the_step_that_made_it_slower_is_named(monkeypatch):
    original = getattr(torch._C, MUL_FOLD)

    def slowing(graph):
        folded = original(graph)
        if folded:
            (output,) = graph.outputs()
            nothing = graph.insertConstant(None)
            value = output
            for _ in range(200):
                node = graph.create("aten::clone", [value, nothing], 1)
                graph.appendNode(node)
                value = node.output()
            graph.eraseOutput(0)
            graph.registerOutput(value)
        return folded

    monkeypatch.setattr(torch._C, MUL_FOLD, slowing)
    found = fe.bisect(chain(), image(), criterion=fe.LatencyCriterion(seconds=0.2, margin=0.5))
    assert (found.ending, found.culprit and found.culprit.name) == ("found", "FoldFrozenConvMulOrDiv")
    assert found.culprit is not None
    assert len(found.culprit.rewrites) == 1
    assert found.culprit.note == "The other rewrites of the step break it as well, without it."
    assert found.probes[1].detail.endswith(": slower")
