"""Advice on preserved attributes is followed literally, and the attribute freezes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.backends.torchscript.attributes.advice_texts import TEXTS
from tests.torch import advice_models as models, kept_models
from tests.torch.against_torch import has


@dataclass(frozen=True)
class Case:
    """A situation, and what following the advice makes of it.

    Attributes:
        texts: names of the texts that the advice consists of.
        module: what is frozen.
        path: of the attribute that torch preserves.
        followed: what is frozen after the advice was followed.
        preserved: names that the user asked to preserve, before and after.
        freed: path of the attribute after the advice was followed, where that is another one.
    """

    texts: tuple[str, ...]
    module: Any
    path: str
    followed: Any
    preserved: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    freed: str = ""


CASES = (
    Case(("not_assigned",), models.Assigns, "k.n", models.AssignsNot),
    Case(("not_assigned",), models.Assigns, "k", models.AssignsNot),
    Case(("clone",), models.WritesTensor, "b", models.WritesClone),
    Case(("copy",), models.WritesList, "items", models.WritesListCopy),
    Case(("copy",), models.WritesTable, "table", models.WritesTableCopy),
    Case(("copy",), models.WritesThroughList, "items", models.WritesThroughListCopy),
    Case(("copy",), models.WritesThroughList, "table", models.WritesThroughListCopy),
    Case(("copy",), models.WritesThroughList, "tensors", models.WritesThroughListCopy),
    Case(("copy",), models.WritesListOps, "items", models.WritesListOpsCopy),
    Case(("copy",), models.WritesListOps, "table", models.WritesListOpsCopy),
    Case(("wildcard_copy",), models.WritesOneOfLists, "items", models.WritesOneOfListsCopy),
    Case(("wildcard",), models.WritesAnything, "index", models.WritesNothing),
    Case(("wildcard",), models.WindowAttention, "relative_position_index", models.WindowAttentionFreed),
    Case(("wildcard",), models.WritesElement, "index", models.WritesNoElement),
    Case(("written_and_assigned",), models.Augments, "b", models.AugmentsNot),
    Case(("not_inplace",), models.Activates, "b", models.ActivatesNot),
    Case(("waited",), models.Waits, "b", models.WaitsNot),
    Case(("taken",), models.GivesAway, "b", models.GivesClone),
    Case(("with_owner",), models.Averages, "norm.num_batches_tracked", models.AveragesNot),
    Case(("evaluation",), models.Normalizes, "norm.num_batches_tracked", models.NormalizesAsLearnt),
    Case(("same_tensor",), models.TwoParts, "b.b", models.TwoPartsFreed),
    Case(("own_memory",), models.SharesMemory, "b", models.OwnMemory),
    Case(("own_memory",), models.SharesMemory, "items", models.OwnMemory),
    Case(("clone", "own_memory"), models.WritesBoth, "b", models.WritesBothNot),
    Case(("own_class",), models.SharesClass, "left.second", models.OwnClass),
    Case(("own_class_around",), models.SharesHolder, "right.inner", models.SharesHolderFreed),
    Case(
        ("single_attributes",), kept_models.Versioned, "sub.weight", kept_models.Versioned, (("sub",), ("sub.version",))
    ),
    Case(("dense",), models.HoldsSparse, "matrix", models.HoldsDense),
    Case(("detached",), models.HoldsGradients, "table", models.HoldsDetached),
    Case(("straight",), models.Picks, "a", models.PicksValue),
    Case(("not_returned",), kept_models.ReturnsPart, "sub", models.ReturnsNoPart),
    Case(("not_returned",), kept_models.ReturnsPart, "sub.weight", models.ReturnsNoPart),
    Case(("not_returned_of_class",), models.ReturnsOther, "b.weight", models.ReturnsOtherClass),
    Case(("no_any",), models.ReturnsAny, "weight", models.ReturnsTensor),
    Case(("not_assigned_to",), models.Swaps, "c", models.SwapsNot),
    Case(("not_assigned",), models.Swaps, "a", models.SwapsNot),
    Case(("not_assigned",), models.Swaps, "a.weight", models.SwapsNot),
    Case(("not_in_fork",), models.Forks, "part", models.ForksNot),
    Case(("unforked",), models.ForksPart, "part", models.CallsPart),
    Case(("not_collected",), kept_models.ReturnsPartInTuple, "sub", models.ReturnsNoPart),
    Case(("constant_type",), models.HoldsObjects, "items", models.HoldsNumbers),
    Case(("wrapped",), lambda: nn.LSTM(2, 2), "weight_ih_l0", models.OneLayer, freed="rnn.weight_ih_l0"),
)
IDS = [f"{'-'.join(case.texts)}-{case.path}" for case in CASES]


def frozen(module: nn.Module, names: tuple[str, ...]) -> tuple[Any, fe.Trace]:
    with fe.capture() as captured:
        scripted = module if isinstance(module, torch.jit.ScriptModule) else torch.jit.script(module)
        result = torch.jit.freeze(scripted, list(names))
    (trace,) = captured.traces
    assert fe.problems(trace) == ()
    return result, trace


def built(model: Any) -> nn.Module:
    module = model()
    module.training = False  # without that of its submodules
    for child in module.modules():
        child.training = child.training and isinstance(child, nn.BatchNorm1d) and model is models.Normalizes
    return module


def pattern(name: str) -> re.Pattern[str]:
    """What a text looks like when it is filled in."""
    paths = re.sub(r"\\{(path|other|owner)\\}", "'[^']+'", re.escape(TEXTS[name]))
    methods = re.sub(r"\\{method\\}", r"[\\w.]+", paths)
    return re.compile(re.sub(r"\\{\w+\\}", ".+?", methods))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_following_the_advice_freezes_the_attribute(case):
    followed_literally(case)


def followed_literally(case: Case) -> None:
    module, trace = frozen(built(case.module), case.preserved[0])
    assert has(module, case.path)
    advice = trace.attribute(case.path).advice
    clauses = re.split("; and |; or list ", advice)
    said = {name for name in TEXTS if any(pattern(name).fullmatch(clause) for clause in clauses)}
    assert said == set(case.texts)
    followed, _ = frozen(built(case.followed), case.preserved[1])
    assert not has(followed, case.freed or case.path)


@pytest.fixture
def layers(tmp_path, monkeypatch) -> Any:
    """The models, as an installed package holds them."""
    folder = tmp_path / "site-packages" / "layers"
    folder.mkdir(parents=True)
    (folder / "modes.py").write_text(Path(models.__file__).read_text())
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    return import_module("layers.modes")


def test_an_assignment_in_an_installed_package_is_left_out_by_tracing(layers):
    def traced() -> Any:
        return torch.jit.trace(layers.Assigns().eval(), torch.ones(2))

    followed_literally(Case(("traced",), layers.Assigns, "k.n", traced))
    advice = frozen(built(layers.Assigns), ())[1].attribute("k.n").advice
    assert "(modes.py:" in advice
    assert "package layers" in advice


def test_a_write_in_an_installed_package_is_left_out_by_a_layer_of_ones_own(layers):
    followed_literally(Case(("own_layer",), layers.WritesTensor, "b", models.WritesClone))


def test_a_write_in_a_branch_of_an_installed_package_is_left_out_by_tracing(layers):
    def traced() -> Any:
        return torch.jit.trace(layers.WritesInBranch().eval(), torch.ones(2))

    followed_literally(Case(("own_layer_or_traced",), layers.WritesInBranch, "b", traced))
    followed_literally(Case(("own_layer_or_traced",), layers.WritesInBranch, "b", models.WritesClone))


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_running_statistics_of_an_instance_norm_freeze_when_it_is_traced():
    def traced() -> Any:
        return torch.jit.trace(models.Instances().eval(), torch.ones(2, 2, 3))

    followed_literally(Case(("statistics",), models.Instances, "norm.running_mean", traced))


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_a_batch_norm_traced_in_training_mode_freezes_when_it_is_traced_in_evaluation_mode():
    def traced(training: bool) -> Any:
        model = nn.Sequential(nn.BatchNorm1d(2)).train(training)
        return torch.jit.trace(model, torch.ones(3, 2), check_trace=False).eval()

    evaluated = Case(("evaluation_traced",), lambda: traced(True), "0.num_batches_tracked", lambda: traced(False))
    followed_literally(evaluated)


def test_every_text_is_followed_by_a_case():
    apart = {"traced", "own_layer", "own_layer_or_traced", "statistics", "evaluation_traced"}
    assert {name for case in CASES for name in case.texts} | apart == set(TEXTS)


def test_a_layer_with_a_flag_for_writing_is_left_out_by_tracing_without_the_flag():
    advice = frozen(built(models.Activates), ())[1].attribute("b").advice
    assert "or trace the model (torch.jit.trace) with inplace=False" in advice
    scripted, _ = frozen(built(models.ActivatesApart), ())
    traced, _ = frozen(torch.jit.trace(models.ActivatesApart().eval(), torch.ones(2)), ())
    assert (has(scripted, "b"), has(traced, "b")) == (True, False)


def test_a_module_without_forward_is_answered_with_cause_and_action():
    _, trace = frozen(nn.GRU(2, 2).eval(), ())
    summary = fe.summarize(trace)
    assert summary.sentence == "Nothing was frozen: " + trace.attribute("weight_ih_l0").evidence[0].fact + "."
    assert [action.fix.startswith("Freeze a module of your own") for action in summary.actions] == [True]


def test_a_weight_read_from_an_assigned_submodule_is_not_assigned_itself():
    _, trace = frozen(built(models.Swaps), ())
    assert "assigns the submodule that it is read from" in fe.summarize(trace).sentence


def test_attribute_preserved_by_request_gets_no_advice():
    _, trace = frozen(built(models.Assigns), ("k.n",))
    assert (trace.attribute("k.n").advice, trace.attribute("k").advice) == ("", "")


def test_the_chain_of_a_wildcard_leads_through_both_lists():
    _, trace = frozen(built(models.WritesAnything), ())
    first, second = trace.attribute("index").evidence
    assert [link.op for link in first.chain] == [
        *("aten::__getitem__", "aten::chunk", "prim::ListConstruct", "prim::GetAttr"),
    ]
    assert [link.op for link in second.chain][1:] == ["aten::unbind", "prim::ListConstruct", "prim::GetAttr"]
    assert "torch's wildcard" in first.fact
    assert first.source.line < second.source.line


@pytest.mark.parametrize(
    ("model", "path", "op"),
    [
        (models.WritesElement, "index", "aten::add_"),
        (models.Waits, "b", "aten::wait"),
        (models.GivesAway, "b", "advice_models::product"),
    ],
)
def test_an_assumed_write_is_named_as_assumed(model, path, op):
    _, trace = frozen(built(model), ())
    (evidence,) = trace.attribute(path).evidence
    assert (evidence.op, evidence.chain[-1].op) == (op, "prim::GetAttr")
    assert "; torch assumes that " in evidence.fact
    line = f"line {evidence.source.line} of advice_models.py"
    assert f"1 buffer stays because torch assumes that {line} may write it" in fe.summarize(trace).sentence


def test_the_index_of_a_window_attention_is_linked_with_what_is_written():
    _, trace = frozen(built(models.WindowAttention), ())
    (evidence,) = trace.attribute("relative_position_index").evidence
    assert evidence.op == "aten::add_"
    assert "# line: write" in Path(models.__file__).read_text().splitlines()[evidence.source.line - 1]
    ops = [link.op for link in evidence.chain]
    assert ops[0] == "aten::linear"
    assert ops[ops.index("aten::unbind") + 1 :] == ["prim::ListConstruct", "aten::view", "prim::GetAttr"]
