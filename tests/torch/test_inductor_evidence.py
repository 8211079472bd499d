"""What the fates of a compile stand on, proved by experiments on torch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils import _pytree

import freeze_engine as fe
from freeze_engine.trace import AttributeFate, Trace
from tests.random_modules.inductor_oracle import examine_compile
from tests.random_modules.inductor_source import program
from tests.torch.inductor_models import filled
from tests.torch.inductor_recording import fresh, passes, record, rows

aten = torch.ops.aten


class Quantised(torch.Tensor):
    """Eight-bit codes and their scale, which stand for a tensor of floats."""

    codes: Tensor
    scale: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, codes: Tensor, scale: Tensor) -> Quantised:
        return torch.Tensor._make_wrapper_subclass(cls, codes.shape, dtype=scale.dtype, device=codes.device)

    def __init__(self, codes: Tensor, scale: Tensor) -> None:
        self.codes, self.scale = codes, scale

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return "Quantised()"  # torch logs it while it traces, and the default text runs operators

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["codes", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, inner: dict[str, Tensor], meta: None, size: Any, stride: Any) -> Quantised:
        return cls(inner["codes"], inner["scale"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (aten.detach.default, aten.alias.default):
            return cls(func(args[0].codes), func(args[0].scale))
        floats = _pytree.tree_map_only(cls, lambda each: each.codes.to(each.scale.dtype) * each.scale, args)
        return func(*floats, **(kwargs or {}))


class WeightOnly(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        codes = torch.arange(-32, 32, dtype=torch.int8).reshape(8, 8)
        self.weight = nn.Parameter(Quantised(codes, torch.full((8, 1), 0.5)), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight)


class Average(nn.Module):
    """Assigns a buffer that it reads; ``last`` it only assigns."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.ones(4))
        self.register_buffer("scale", torch.ones(4))
        self.last = torch.ones(4)

    def forward(self, x: Tensor) -> Tensor:
        self.last = x * self.scale
        self.mean = 0.9 * self.mean + 0.1 * x
        return x - self.mean


class AverageInPlace(Average):
    """Does what the advice on `Average` says."""

    def forward(self, x: Tensor) -> Tensor:
        self.mean.copy_(0.9 * self.mean + 0.1 * x)
        return (x - self.mean) * self.scale


class AddedInPlace(Average):
    """Assigns what operators in place return, which is the very same tensor."""

    def forward(self, x: Tensor) -> Tensor:
        self.mean += x.mean()
        self.scale = self.scale.mul_(0.5).add_(1.0)
        return (x - self.mean) * self.scale


class Detached(Average):
    """Assigns another tensor of the same memory."""

    def forward(self, x: Tensor) -> Tensor:
        self.mean = self.mean.detach()
        return x - self.mean


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x + self.calls


class Registered(nn.Module):
    """Assigns a buffer that it does not read: Dynamo checks that a registered one is the same."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        self.last = x * 2.0
        return x + 1.0


class Noting(nn.Module):
    """Assigns what it never reads, and what stays as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.mode = "a"

    def forward(self, x: Tensor) -> Tensor:
        self.last = x
        self.mode = "a"
        return x + 1.0


class Returning(nn.Module):
    """Returns a copy of its buffer, as the advice says."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.ones(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x + 1.0, self.kept.clone()


class Eager(nn.Module):
    """Reads one buffer in a graph, and another in Python code between two graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inside", torch.ones(4))
        self.register_buffer("outside", torch.ones(4))

    @torch._dynamo.disable
    def shifted(self, x: Tensor) -> Tensor:
        return x + self.outside

    def forward(self, x: Tensor) -> Tensor:
        held = self.inside
        return self.shifted(x * 2.0) + held


class Feed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(64, 96)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x).relu()


def fate(trace: Trace, path: str) -> AttributeFate:
    assert fe.problems(trace) == ()
    found = trace.attribute(path)
    assert found is not None
    return found


def codes(trace: Trace) -> set[str]:
    return {notice.code for notice in trace.notices}


@pytest.mark.parametrize("seed", [4, 6])
def test_fates_agree_with_the_compiled_module(seed: int, tmp_path: Path) -> None:
    """Assigned attributes, a graph break, and most other uses of an attribute are among these modules."""
    assert examine_compile(program(seed), tmp_path).problems == ()


@pytest.mark.filterwarnings("default")  # as an error, a warning within Dynamo makes it skip the function
def test_the_tensors_inside_a_subclass_have_fates_of_their_own() -> None:
    trace, _ = passes(WeightOnly().eval(), rows(2, 8))
    inner = fate(trace, "weight.codes")
    assert (inner.fate, inner.dtype, inner.nbytes) == ("folded", "int8", 64)
    assert "constant_fold computed from it the constant %" in inner.evidence[0].fact
    assert inner.evidence[0].node is not None
    assert "made this very tensor the constant" in inner.evidence[-1].fact
    outer = fate(trace, "weight")
    assert (outer.fate, outer.nbytes, outer.locations) == ("folded", 64 + 32, inner.locations)
    assert "weight.codes, weight.scale" in outer.evidence[0].fact


@pytest.mark.filterwarnings("default")
def test_freezing_that_undoes_quantisation_is_reported() -> None:
    trace, _ = passes(WeightOnly().eval(), rows(2, 8))
    notice = next(notice for notice in trace.notices if notice.code == "dequantized")
    assert "256 bytes of float32 constants from 96 bytes of quantised weights (weight.codes)" in notice.message
    assert notice.step is not None
    assert trace.steps[notice.step].name == "constant_fold"


class Packed(nn.Module):
    """Holds a weight in oneDNN's layout, as `lower_pt2e_quantized_to_x86` of torchao leaves them."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("packed", torch.ones(4, 4).to_mkldnn())

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x)


def test_weight_in_the_layout_of_a_library_is_recorded_with_its_bytes() -> None:
    trace, _ = passes(Packed().eval(), rows(4))
    assert (fate(trace, "packed").fate, fate(trace, "packed").nbytes) == ("dropped", 64)


@pytest.mark.filterwarnings("default")
def test_weights_of_torchao_are_unwrapped() -> None:
    try:
        quantization = importlib.import_module("torchao.quantization")
    except (ImportError, AttributeError) as error:
        pytest.skip(f"there is no torchao that works with this torch: {error}")
    model = filled(Feed()).eval()
    quantization.quantize_(model, quantization.Int8WeightOnlyConfig())
    trace, _ = passes(model, rows(2, 64))
    assert fate(trace, "up.weight").fate == "folded"
    inner = {each.path: each for each in trace.attributes if each.path.startswith("up.weight.")}
    assert (inner["up.weight.qdata"].fate, inner["up.weight.qdata"].dtype) == ("folded", "int8")
    assert inner["up.weight.scale"].fate in ("inlined", "folded")
    assert "dequantized" in codes(trace)


def test_an_attribute_that_forward_assigns() -> None:
    trace, _ = passes(Average().eval(), rows(4))
    mean = fate(trace, "mean")
    assert mean.fate == "folded"
    evidence = mean.evidence[-1]
    assert "torch.compile compiles anew" in evidence.fact
    assert evidence.source is not None
    assert "self.mean = 0.9" in source_line(trace, evidence.source.line)
    assert "in place" in mean.advice or ".copy_()" in mean.advice
    assert mean.tensor is not None  # its numbers before freezing
    assert (mean.tensor.shape, mean.tensor.minimum, mean.tensor.maximum) == ((4,), 1.0, 1.0)
    assert mean.tensor.values is not None
    assert mean.tensor.values.first == (1.0, 1.0, 1.0, 1.0)
    notice = next(notice for notice in trace.notices if notice.code == "compiled_anew")
    assert "(mean)" in notice.message
    assert {notice.step for notice in trace.notices if notice.code == "compiled_anew"} == {0}


def test_the_advice_on_an_assigned_attribute_helps() -> None:
    trace, _ = passes(AverageInPlace().eval(), rows(4))
    mean = fate(trace, "mean")
    assert (mean.fate, mean.reason) == ("preserved", "mutated_input")
    assert "compiled_anew" not in codes(trace)


ASSIGNING: tuple[type[nn.Module], ...] = (
    *(Average, AverageInPlace, AddedInPlace, Detached),
    *(Counting, Registered, Noting),
)


@pytest.mark.parametrize("model", ASSIGNING)
def test_recompilation_is_reported_exactly_where_dynamo_recompiles(model: type[nn.Module]) -> None:
    trace, _ = passes(model().eval(), rows(4))
    assert ("compiled_anew" in codes(trace)) == (graphs_of_three_calls(model().eval()) == 3)


def graphs_of_three_calls(model: nn.Module) -> int:
    """Returns how many graphs Dynamo makes under freezing; nothing lowers them."""
    graphs = []

    def keep(graph: torch.fx.GraphModule, _: object) -> torch.fx.GraphModule:
        graphs.append(graph)
        return graph

    with fresh(), torch.no_grad(), torch._inductor.config.patch(freezing=True):
        compiled = torch.compile(model, backend=keep)
        for _ in range(3):
            compiled(rows(4))
    return len(graphs)


def test_the_advice_on_a_returned_buffer_helps() -> None:
    trace, _ = passes(Returning().eval(), rows(4))
    assert fate(trace, "kept").fate in ("inlined", "folded")


def test_attribute_read_only_between_graphs_is_preserved() -> None:
    model = Eager().eval()
    with fresh():
        recording = record(model, rows(4))
        outside, inside = fate(recording.trace, "outside"), fate(recording.trace, "inside")
        before = recording.module(rows(4))
        model.outside.fill_(5.0)
        moved = recording.module(rows(4)) - before
    assert (outside.fate, outside.reason) == ("preserved", "outside_graphs")
    assert "test_inductor_evidence.py" in outside.evidence[0].fact
    assert inside.fate == "inlined"
    assert torch.equal(moved, torch.full((4,), 4.0))


class EagerFirst(nn.Module):
    """What Dynamo does not compile comes before its only graph."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("outside", torch.ones(4))
        self.register_buffer("inside", torch.full((4,), 2.0))

    @torch._dynamo.disable
    def eagerly(self, x: torch.Tensor, held: torch.Tensor) -> torch.Tensor:
        return x + held

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.eagerly(x, self.outside) * self.inside


def test_attribute_read_only_before_the_first_graph_is_preserved() -> None:
    model = EagerFirst().eval()
    with fresh():
        trace = record(model, rows(4)).trace
    outside = fate(trace, "outside")
    assert (outside.fate, outside.reason) == ("preserved", "outside_graphs")
    assert "before the first graph, up to a graph break" in outside.evidence[0].fact
    assert fate(trace, "inside").fate == "inlined"


@pytest.mark.skipif(not torch.cpu._is_avx2_supported(), reason="this processor has no AVX2, for which templates are")
def test_a_weight_that_a_template_packed() -> None:
    with fresh(), torch._inductor.config.patch(max_autotune_gemm_backends="CPP"):
        trace = record(filled(Feed()), rows(8, 64), max_autotune=True).trace
    weight = fate(trace, "up.weight")
    assert weight.fate == "inlined"
    assert "packed its elements into the memory of the kernel cpp_fused" in weight.evidence[0].fact
    assert weight.evidence[0].step is not None
    assert trace.steps[weight.evidence[0].step].stage == "compile"
    assert weight.locations
    assert fate(trace, "up.bias").fate == "inlined"


def source_line(trace: Trace, number: int) -> str:
    lines = next(each for each in trace.sources if each.first_line <= number < each.first_line + len(each.lines))
    return lines.lines[number - lines.first_line]
