"""A search goes on where a candidate crashes or hangs; what cannot be searched is told, and so is what is not known."""

from __future__ import annotations

import ctypes
import itertools
import time
from pathlib import Path

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.backends.torchscript.capture.pass_driver import OPTIONAL
from freeze_engine.diagnose import Probe
from freeze_engine.diagnose.bisection.command_criterion import Command
from freeze_engine.diagnose.bisection.criteria import Accuracy, Answer, Latency
from freeze_engine.diagnose.bisection.evaluate import CandidateEvaluator
from freeze_engine.diagnose.bisection.pipeline_prefix import Prefix
from freeze_engine.measure.candidate import Candidate
from freeze_engine.process.fork import CAN_FORK
from tests.builders import empty_trace
from tests.torch import graph_models, models

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="forks are used on Linux only")
MUL_FOLD = OPTIONAL["FoldFrozenConvMulOrDiv"].binding
_calls = itertools.count()


@torch.library.custom_op("freezer_tests::crash", mutates_args=())
def crash(x: torch.Tensor) -> torch.Tensor:
    ctypes.string_at(0)
    return x.clone()


@torch.library.custom_op("freezer_tests::hang", mutates_args=())
def hang(x: torch.Tensor) -> torch.Tensor:
    time.sleep(600)
    return x.clone()


@torch.library.custom_op("freezer_tests::count", mutates_args=())
def count(x: torch.Tensor) -> torch.Tensor:
    return x + float(next(_calls))


class Scaled(nn.Module):
    """Two methods, each with a factor behind a convolution, and one that takes other inputs."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        self.register_buffer("scale", torch.ones(1, 3, 1, 1))

    def forward(self, x):
        return (self.conv(x) * self.scale).relu()

    @torch.jit.export
    def features(self, x):
        return self.conv(x) * self.scale

    @torch.jit.export
    def pair(self, x, y):
        return self.features(x) + self.features(y)


class Counting(nn.Module):
    def forward(self, x):
        return torch.ops.freezer_tests.count(x)


def image() -> torch.Tensor:
    return torch.linspace(-1, 1, 3 * 4 * 4).reshape(1, 3, 4, 4)


def plant(monkeypatch: pytest.MonkeyPatch, operator: str, without: str = "") -> None:
    """Lets torch's fold of a mul put an operator behind what it folds, but for graphs that hold another operator."""
    original = getattr(torch._C, MUL_FOLD)

    def wrong(graph):
        changed = original(graph)
        if changed and not (without and list(graph.findAllNodes(without))):
            (output,) = graph.outputs()
            node = graph.create(operator, [output], 1)
            graph.appendNode(node)
            node.output().setType(output.type())
            graph.eraseOutput(0)
            graph.registerOutput(node.output())
        return changed

    monkeypatch.setattr(torch._C, MUL_FOLD, wrong)


def test_a_candidate_that_crashes_is_the_culprit(monkeypatch):
    plant(monkeypatch, "freezer_tests::crash")
    found = fe.bisect(models.filled(Scaled()), image(), criterion=fe.AccuracyCriterion(input_sets=1), every_step=False)
    assert found.culprit is not None
    assert (found.culprit.name, [each.kind for each in found.culprit.rewrites]) == (
        "FoldFrozenConvMulOrDiv",
        ["conv_mul"],
    )
    said = "the process was ended by SIGSEGV (segmentation fault)"
    assert {probe.detail for probe in found.probes if probe.verdict == "bad"} == {said}
    assert found.notes == ()


def prefix(step: int, call) -> Prefix:
    return Prefix(step, f"step {step}", lambda: Candidate(step, call), Path.touch)


@pytest.mark.parametrize("kind", ["accuracy", "latency"])
def test_a_candidate_that_hangs_is_bad_at_its_limit(kind):
    inputs = fe.Inputs((image(),))
    criterion = (
        Accuracy(fe.AccuracyCriterion(limit_s=0.2), nn.Identity(), inputs)
        if kind == "accuracy"
        else Latency(fe.LatencyCriterion(limit_s=0.2), inputs, "cpu")
    )
    request: list[str] = []
    evaluator = CandidateEvaluator(criterion, empty_trace(), lambda now, *_: request.append(now), print)
    assert evaluator.ask(prefix(7, torch.ops.freezer_tests.hang), prefix(0, nn.Identity())) == Answer(
        "bad", "not done after 0.2 s", ran="hung"
    )
    assert request == ["checking step 7"]


def test_candidate_that_crashes_while_saved_is_not_given_to_the_command():
    crashing = Prefix(7, "step 7", unmade, lambda path: ctypes.string_at(0))  # type: ignore[arg-type, return-value]
    evaluator = CandidateEvaluator(
        Command(fe.CommandCriterion(("true",)), ".pt", "forward"), empty_trace(), lambda *now: None, print
    )
    assert evaluator.ask(crashing, crashing) == Answer(
        "untestable", "torch cannot save it: the process was ended by SIGSEGV (segmentation fault)"
    )


def unmade() -> Candidate:
    raise AssertionError("nothing is to be run")


def test_a_model_that_crashes_was_broken_before():
    class Crashing(nn.Module):
        def forward(self, x):
            return torch.ops.freezer_tests.crash(x)

    found = fe.bisect(Crashing().eval(), image())
    assert (found.ending, found.message) == (
        "broken_before",
        "The criterion fails before anything was frozen: step 0 (input).",
    )


def test_a_crash_of_the_freeze_is_raised_with_the_pass_it_was_in(monkeypatch):
    monkeypatch.setattr(torch._C, MUL_FOLD, lambda graph: ctypes.string_at(0))
    told: list[str] = []
    with pytest.raises(fe.CrashError) as raised:
        fe.bisect(models.filled(Scaled()), image(), apart=True, progress=lambda now, *_: told.append(now))
    assert str(raised.value) == (
        "the process was ended by SIGSEGV (segmentation fault), while freezing: FoldFrozenConvMulOrDiv of forward"
    )
    assert told[-1] == "freezing: FoldFrozenConvMulOrDiv of forward"


def test_exception_in_the_child_is_raised_with_the_trace():
    class Odd(nn.Module):
        def forward(self, x):
            return x + len(globals())

    with pytest.raises(RuntimeError, match="globals"):
        fe.bisect(Odd().eval(), image(), apart=True)


def test_all_that_is_found_apart_is_what_is_found_here():
    probes: list[Probe] = []
    criterion = fe.AccuracyCriterion(input_sets=1)
    here = fe.bisect(models.filled(Scaled()), image(), criterion=criterion)
    apart = fe.bisect(models.filled(Scaled()), image(), criterion=criterion, apart=True, on_probe=probes.append)
    assert tuple(probes) == apart.probes == here.probes
    assert (apart.ending, apart.message) == (here.ending, here.message)
    assert [step.name for step in apart.trace.steps] == [step.name for step in here.trace.steps]


def test_outputs_that_differ_from_run_to_run_are_no_pass_s_fault():
    found = fe.bisect(Counting().eval(), image())
    assert found.ending == "inconclusive"
    assert found.message == (
        "The eager module itself gives other outputs when it runs again (largest error 1), "
        "so the criterion cannot tell what freezing does."
    )


def test_nan_where_eager_has_nan_counts_as_equal():
    given = image()
    given[0, 0, 0, 0] = torch.nan
    found = fe.bisect(models.filled(Scaled()), given, criterion=fe.AccuracyCriterion(max_error=1e-4))
    assert found.ending == "nothing_found"


METHODS = fe.TorchScriptOptions(preserved_attrs=("features", "pair"))


def test_every_method_that_runs_on_the_inputs_is_searched(monkeypatch):
    plant(monkeypatch, "aten::neg", without="aten::relu")
    found = fe.bisect(
        models.filled(Scaled()),
        image(),
        criterion=fe.AccuracyCriterion(input_sets=1),
        options=METHODS,
        every_step=False,
    )
    assert found.culprit is not None
    assert (found.culprit.method, found.culprit.name) == ("features", "FoldFrozenConvMulOrDiv")
    assert found.message == (
        f"Step {found.culprit.step} (optimize_frozen_graph / FoldFrozenConvMulOrDiv, round 1) of features "
        "breaks the criterion."
    )
    assert [probe.candidate.endswith(" of features") for probe in found.probes[:3]] == [False, False, True]
    (note,) = found.notes
    assert note.startswith("Not searched: pair, which does not run on these inputs (TypeError: ")


def test_one_method_is_searched_with_inputs_of_its_own(monkeypatch):
    plant(monkeypatch, "aten::neg", without="aten::relu")
    found = fe.bisect(models.filled(Scaled()), (image(), image()), options=METHODS, method="pair", every_step=False)
    assert found.culprit is not None
    assert (found.culprit.method, found.notes) == ("pair", ())
    with pytest.raises(fe.FreezerError, match=r"method other: it was not frozen; those that were: forward, "):
        fe.bisect(models.filled(Scaled()), image(), options=METHODS, method="other")


def test_a_search_of_several_methods_says_which():
    found = fe.bisect(
        models.filled(Scaled()),
        image(),
        criterion=fe.AccuracyCriterion(input_sets=1),
        options=fe.TorchScriptOptions(preserved_attrs=("features",)),
        every_step=False,
    )
    assert (found.ending, found.message) == (
        "nothing_found",
        "The criterion does not fail: what comes out of the freeze passes it. Searched: forward, features.",
    )


def test_a_model_whose_forks_would_hang_is_searched_without_any():
    model = graph_models.ForkedPart().eval()
    torch.jit.script(model)(torch.ones(2, 2))  # torch's threads for tasks are here from now on, and in no fork
    with pytest.raises(fe.FreezerError, match=r"calls torch\.jit\.fork.*apart=False"):
        fe.bisect(model, torch.ones(2, 2), apart=True)
    found = fe.bisect(model, torch.ones(2, 2))
    assert found.ending == "nothing_found"
    assert found.notes == (
        "The candidates ran in the process of the search, which a crash would have ended: the model calls "
        "torch.jit.fork, which has run here before and would wait for ever in a fork.",
    )
