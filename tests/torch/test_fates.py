"""What became of every attribute, held against the frozen module itself."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import freeze_engine as fe
from freeze_engine.analysis import held_bytes
from freeze_engine.trace import Location, Trace
from freeze_engine.trace.validation import check_trace
from freeze_engine.worker import inspect_model
from tests.torch import graph_models, kept_models, models, refused_models
from viewer.text.stats import stats_text

CASES: list[tuple[Any, tuple[str, ...]]] = [
    (models.ConvBn, ()),
    (models.TwoRounds, ()),
    (models.Linears, ()),
    (models.TwoMethods, ("features",)),
    (models.Tied, ()),
    (models.Equal, ()),
    (models.Containers, ()),
    (models.HoldsObject, ()),
    (models.Flags, ()),
    (models.Flags, ("forgotten",)),
    (kept_models.Counter, ()),
    (kept_models.Counter, ("count", "weight")),
    (kept_models.Direct, ()),
    (kept_models.ThroughViews, ()),
    (kept_models.ThroughBranch, ()),
    (kept_models.InFork, ()),
    (kept_models.InOtherMethod, ("update",)),
    (kept_models.InSubmodule, ()),
    (kept_models.ListWritten, ()),
    (kept_models.SharedMemory, ()),
    (kept_models.Versioned, ()),
    (kept_models.Versioned, ("sub.version",)),
    (kept_models.Versioned, ("sub",)),
    (kept_models.ReturnsPart, ()),
    (kept_models.ReturnsPartInTuple, ()),
    (kept_models.SharedClass, ()),
    (kept_models.SharedPart, ()),
    (kept_models.Sparse, ()),
    (graph_models.ForkedPart, ()),
    (refused_models.ReadsInterface, ()),
    (refused_models.NoForward, ()),
]
IDS = ["-".join((model.__name__, *names)) for model, names in CASES]


def run(model: Any, preserved: tuple[str, ...] = ()) -> tuple[torch.jit.ScriptModule, Trace]:
    with fe.capture() as captured:
        frozen = torch.jit.freeze(torch.jit.script(models.filled(model())), list(preserved))
    (trace,) = captured.traces
    check_trace(trace)
    return frozen, trace


def slots(module: Any, prefix: str = "") -> set[str]:
    """Every slot of a C++ module, read off its type."""
    kind = torch._C.ConcreteModuleType.from_jit_type(module._type())
    found = {prefix + name for name in kind.get_attributes()}
    for name, child in torch._C.ModuleDict(module).items():
        found |= {prefix + name} | slots(child, f"{prefix}{name}.")
    return found


@pytest.mark.parametrize(("model", "preserved"), CASES, ids=IDS)
def test_preserved_is_what_is_on_the_frozen_module_and_for_a_reason(model, preserved):
    frozen, trace = run(model, preserved)
    assert {fate.path for fate in trace.attributes if fate.fate == "preserved"} == slots(frozen._c)
    assert {fate.path for fate in trace.attributes} == slots(torch.jit.script(models.filled(model()))._c)
    unknown = [fate.path for fate in trace.attributes if fate.reason == "unknown" and not fate.evidence]
    assert unknown == []


@pytest.mark.parametrize(("model", "preserved"), CASES, ids=IDS)
def test_inlined_means_a_constant_of_that_value(model, preserved):
    frozen, trace = run(model, preserved)
    tensors = dict(models.filled(model()).state_dict())
    for fate in trace.attributes:
        if fate.fate != "inlined" or fate.path not in tensors:
            continue
        assert fate.locations
        for location in fate.locations:
            value = constant(frozen, location)
            if value is not None:
                torch.testing.assert_close(value, tensors[fate.path], rtol=0, atol=0)


def constant(frozen: torch.jit.ScriptModule, location: Location) -> torch.Tensor | None:
    if "/" in location.value:
        (fork,) = frozen.graph.findAllNodes("prim::fork")
        nodes, name = list(fork.g("Subgraph").nodes()), location.value.rpartition("/")[2]
    else:
        nodes, name = frozen._c._get_method(location.method).graph.findAllNodes("prim::Constant"), location.value
    (node,) = [node for node in nodes if node.hasAttribute("value") and node.output().debugName() == name]
    return node.t("value") if node.kindOf("value") == "t" else None


REASONS = [
    (kept_models.Counter, ("count",), "count", "requested", "preserved_attrs names 'count'", False),
    (kept_models.Versioned, ("sub.version",), "sub.version", "requested", "'sub.version'", False),
    (kept_models.Versioned, ("sub.version",), "sub", "ancestor_of_requested", "'sub.version', which it holds", False),
    (kept_models.Counter, (), "count", "set_in_method", "count is set", True),
    (kept_models.Direct, (), "total", "mutated_in_place", "total in %", True),
    (kept_models.InSubmodule, (), "sub", "mutated_in_place", "'sub.total'", True),
    (kept_models.SharedMemory, (), "table", "aliases_preserved", "'head'", True),
    (kept_models.Versioned, ("sub",), "sub", "requested", "'sub'", False),
    (kept_models.Versioned, ("sub",), "sub.weight", "module_preserved", "'sub'", True),
    (kept_models.ReturnsPart, (), "sub.weight", "module_preserved", "forward returns the submodule 'sub'", True),
    (kept_models.ReturnsPart, (), "sub", "module_preserved", "forward returns the submodule 'sub'", True),
    (kept_models.ReturnsPartInTuple, (), "sub", "not_constant", "sub is not materializable", True),
    (kept_models.Sparse, (), "matrix", "not_constant", "matrix is not materializable", True),
    (kept_models.SharedClass, (), "left.second", "shared_class", "'right.second'", True),
    (kept_models.SharedClass, (), "right.first", "shared_class", "'left.first'", True),
]


@pytest.mark.parametrize(
    ("model", "preserved", "path", "reason", "fact", "advised"),
    REASONS,
    ids=[f"{case[0].__name__}-{case[2]}-{case[3]}" for case in REASONS],
)
def test_reasons(model, preserved, path, reason, fact, advised):
    fate = run(model, preserved)[1].attribute(path)
    assert (fate.fate, fate.reason) == ("preserved", reason)
    assert fact in fate.evidence[0].fact
    assert bool(fate.advice) == advised
    assert "{" not in fate.advice


def test_a_module_without_methods_says_that_nothing_was_frozen():
    fate = run(refused_models.NoForward)[1].attribute("weight")
    assert (fate.fate, fate.reason) == ("preserved", "outside_graphs")
    assert "forward" in fate.evidence[0].fact


def test_a_folded_parameter_names_the_step_and_the_constant():
    _, trace = run(models.ConvBn)
    final = trace.final("forward")
    conv = next(node for node in final.graph.walk() if node.op == "aten::conv2d")
    weight, bias = conv.inputs[1:3]
    for path in ("conv.weight", "bn.weight", "bn.running_var"):
        fate = trace.attribute(path)
        assert (fate.fate, fate.reason) == ("folded", None)
        assert trace.steps[fate.step].name == "FoldFrozenConvBatchnorm"
        assert Location("forward", weight) in fate.locations
        assert f"%{weight}" in fate.evidence[0].fact
    assert trace.attribute("bn.bias").locations == (Location("forward", bias),)


def test_equal_constants_are_pooled_and_both_are_found_there():
    _, trace = run(models.Equal)
    with fe.capture() as captured:
        torch.jit.freeze(torch.jit.script(models.Equal().eval()))
    one, other = (captured.traces[0].attribute(path) for path in ("one", "other"))
    assert (one.fate, other.fate) == ("inlined", "inlined")
    assert one.locations == other.locations
    assert trace.attribute("one").locations != trace.attribute("other").locations


def test_tied_weights_are_one_constant():
    _, trace = run(models.Tied)
    one, other = (trace.attribute(path) for path in ("encode.weight", "decode.weight"))
    assert (one.fate, other.fate) == ("inlined", "inlined")
    assert one.locations == other.locations
    assert (one.same_as, other.same_as) == ("", "encode.weight")
    assert f"inlined: 2, {one.nbytes} B\n" in stats_text(trace)
    assert trace.steps[-1].constant_bytes == one.nbytes


class TiedPart(models.Tied):
    """Ties a weight that no method reads by its own name, a submodule under two names, and what is only equal."""

    def __init__(self):
        super().__init__()
        self.unread = nn.Linear(3, 3, bias=False)
        self.unread.weight = self.encode.weight
        self.again = self.encode
        self.equal = nn.Parameter(self.encode.weight.detach().clone())
        self.register_buffer("row", self.encode.weight.detach()[0])

    def forward(self, x):
        return self.decode(self.encode(x)) + self.equal.sum() + self.row


def test_names_of_one_tensor_say_so_and_are_saved_and_counted_once():
    recording = fe.record(TiedPart().eval(), torch.ones(2, 3), measure=fe.Measure(latency=False))
    tied = {fate.path: fate.same_as for fate in recording.trace.attributes if fate.same_as}
    assert tied == dict.fromkeys(("again.weight", "decode.weight", "unread.weight"), "encode.weight")
    assert {recording.trace.attribute(path).fate for path in tied} == {"inlined"}
    assert held_bytes(recording.trace) == {
        **dict.fromkeys((fate.path for fate in recording.trace.attributes), 0),
        "encode.weight": 36,
        "equal": 36,
        "row": 12,
    }
    summary = inspect_model("tests.torch.models:tied")
    assert {each.path: each.same_as for each in summary.attributes if each.same_as} == {
        "decode.weight": "encode.weight"
    }


@pytest.mark.parametrize("tied", [True, False])
def test_the_ledger_counts_tied_weights_once(tied):
    model = nn.Sequential(nn.Linear(200, 200, bias=False), nn.Linear(200, 200, bias=False))
    if tied:
        model[1].weight = model[0].weight
    trace = fe.record(model.eval(), torch.ones(1, 200), measure=fe.Measure(latency=False)).trace
    weight = 200 * 200 * 4
    sizes = (trace.memory.file_before_bytes, trace.memory.file_after_bytes)
    assert [size // weight for size in sizes] == [1, 1] if tied else [2, 2]


def test_a_flag_whose_branch_is_gone_is_folded_and_what_the_branch_read_is_dropped():
    _, trace = run(models.Flags)
    flag, spare, forgotten = (trace.attribute(path) for path in ("use_spare", "spare", "forgotten"))
    assert flag.fate == "folded"
    assert flag.locations == ()
    assert "left nothing that reads it" in flag.evidence[0].fact
    assert spare.fate in ("dropped", "folded")
    assert spare.step is not None
    assert "read" in spare.evidence[0].fact
    assert (forgotten.fate, forgotten.step) == ("dropped", None)


class Returns(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("alone", torch.arange(2.0))
        self.register_buffer("named", torch.arange(3.0))
        self.register_buffer("turned", torch.arange(4.0))

    def forward(self, x):
        return [self.alone], {"named": self.named}, self.turned.view(2, 2)


def test_tensors_in_constant_lists_are_inlined_and_computed_ones_are_folded():
    with fe.capture() as captured:
        torch.jit.freeze(torch.jit.script(Returns().eval()))
    (trace,) = captured.traces
    (constant,) = {place.value for fate in trace.attributes for place in fate.locations}
    fates = {path: trace.attribute(path) for path in ("alone", "named", "turned")}
    assert {path: fate.fate for path, fate in fates.items()} == {
        "alone": "inlined",
        "named": "inlined",
        "turned": "folded",
    }
    assert fates["alone"].evidence[0].fact == f"ConstantPropagation put it into %{constant}, unchanged"


def test_self_of_a_fork_is_distinguished_from_the_top_module():
    _, trace = run(graph_models.ForkedPart)
    fates = {path: trace.attribute(path) for path in ("bias", "sub.bias", "sub.weight")}
    assert {path: fate.fate for path, fate in fates.items()} == dict.fromkeys(fates, "inlined")
    assert all("/" not in location.value for location in fates["bias"].locations)
    assert all("/" in location.value for path in ("sub.bias", "sub.weight") for location in fates[path].locations)
    assert all(fate.evidence for fate in fates.values())


def test_a_forks_short_body_is_not_taken_for_a_longer_one():
    _, trace = run(graph_models.ForkedThrice)
    names = ("weight", "bias", "running_mean", "running_var")
    fates = [trace.attribute(f"inner.norm.{name}") for name in names]
    assert [fate.fate for fate in fates] == ["inlined"] * len(names)
    assert all("/" in location.value for fate in fates for location in fate.locations)


def test_types_shapes_and_bytes():
    _, trace = run(models.Containers)
    weight = run(models.Linears)[1].attribute("second.weight")
    assert (weight.kind, weight.type, weight.shape, weight.dtype, weight.nbytes) == (
        *("parameter", "Tensor", (2, 8), "float32"),
        64,
    )
    tensors, names, nothing = (trace.attribute(path) for path in ("tensors", "names", "nothing"))
    assert (tensors.kind, tensors.type, tensors.shape, tensors.nbytes) == ("attribute", "List[Tensor]", None, 16)
    assert (names.fate, names.nbytes) == ("inlined", 0)
    assert nothing.fate == "dropped"
    assert run(models.ConvBn)[1].attribute("bn.running_mean").kind == "buffer"


def test_both_methods_constants_are_locations():
    _, trace = run(kept_models.Versioned, ("sub",))
    assert trace.attribute("bias").locations == (Location("forward", "self.bias"),)
    _, trace = run(models.TwoMethods, ("features",))
    assert {location.method for location in trace.attribute("conv.weight").locations} == {"forward", "features"}
