"""Several graphs, recompilations, caches and failures; and torch left as it was found, its code unchanged."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._inductor.utils import run_and_get_code

import freeze_engine as fe
from freeze_engine.analysis import program_pairs
from freeze_engine.backends.inductor import torch_private
from freeze_engine.errors import FreezerError, UnsupportedTorchError
from freeze_engine.trace.validation import check_trace
from tests.torch.inductor_models import Attention, Branches, BreaksInside, Convolutional, Stateful, filled
from tests.torch.inductor_recording import fresh, image, record, rows

NAMES = [*torch_private.REQUIRED.values(), *torch_private.OPTIONAL.values()]


@pytest.fixture(autouse=True)
def torch_as_found() -> Iterator[None]:
    before = [name.found for name in NAMES]
    yield
    assert all(name.found is was for name, was in zip(NAMES, before, strict=True))


#: What is younger than the oldest torch: the oldest of those it was looked for in that has it.
YOUNGER = {
    "torch._inductor.debug.set_kernel_post_grad_provenance_tracing": "2.9",
    "torch._inductor.codegen.cpp.set_kernel_post_grad_provenance_tracing": "2.9",
    "torch._inductor.codegen.triton.set_kernel_post_grad_provenance_tracing": "2.12",
}


def test_this_torch_has_every_private_name_of_its_time():
    too_young = {path for path, since in YOUNGER.items() if torch.__version__ < since}
    assert {known.path for known in torch_private.missing()} <= too_young


def normalised(code: str) -> str:
    """Without what differs between two compiles: numbers of graphs, addresses, the cache's folder and keys."""
    code = re.sub(r"# AOT ID: .*", "", code)
    code = re.sub(r"(?m)(# device\(.*\)) [0-9a-f]+$", r"\1", code)
    code = re.sub(r"/tmp/\S*?/", "/", code)
    return re.sub(r"\bc[a-z2-7]{51}\b", "KEY", code)


@pytest.mark.parametrize(
    ("make", "args"),
    [
        (Convolutional, (image(),)),
        (Stateful, (rows(2, 4),)),
        (Attention, (torch.arange(10).reshape(2, 5),)),
        (Branches, (rows(2, 4),)),
    ],
)
def test_recording_changes_neither_code_nor_results(make: Callable[[], torch.nn.Module], args: tuple[Any, ...]):
    def compiled() -> tuple[Any, list[str]]:
        result, code = run_and_get_code(torch.compile(filled(make())), *args)
        return result, [normalised(each) for each in code]

    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        with fresh():
            plain = compiled()
        with fresh(), fe.capture() as captured:
            recorded = compiled()
    torch.testing.assert_close(recorded[0], plain[0], rtol=0, atol=0)
    assert recorded[1] == plain[1]
    (trace,) = captured.traces
    check_trace(trace)
    (step,) = (step for step in trace.steps if step.name == "CompiledFxGraph")
    assert normalised(step.code or "") in recorded[1]


def test_the_graphs_of_a_broken_function_are_methods_with_the_break():
    with fresh(), torch.no_grad(), torch._inductor.config.patch(freezing=True), fe.capture() as captured:
        torch.compile(filled(BreaksInside()))(rows(2, 8))
    (trace,) = captured.traces
    check_trace(trace)
    assert trace.name == "BreaksInside"
    assert trace.methods == (
        "forward",
        "forward, graph 2 (after a graph break)",
        "forward, graph 3 (after a graph break)",
    )
    where = {each.path: (each.fate, {location.method for location in each.locations}) for each in trace.attributes}
    assert where == {
        f"{path}.{name}": ("inlined", {method})
        for path, method in zip(("first", "inner.before", "inner.after"), trace.methods, strict=True)
        for name in ("bias", "weight")
    }
    breaks = [trace.steps[notice.step].method for notice in trace.notices if notice.code == "graph_break"]
    assert breaks == [*trace.methods[:2]]
    second = trace.method_steps(trace.methods[1])[0]
    assert second.log[0].startswith("goes on after a graph break in forward: ")
    assert "inductor_models.py" in second.log[0]


def test_a_new_shape_is_a_recompilation_with_its_guard():
    model = torch.nn.Linear(4, 2).eval()
    with fresh(), torch.no_grad(), torch._inductor.config.patch(freezing=True), fe.capture() as captured:
        compiled = torch.compile(model)
        compiled(rows(2, 4))
        (before,) = captured.traces
        compiled(rows(3, 4))
    (trace,) = captured.traces
    check_trace(trace)
    assert (before.methods, [notice.code for notice in before.notices]) == (("forward",), ["cache_bypassed"])
    assert trace.methods == ("forward", "forward, recompiled")
    (notice,) = (notice for notice in trace.notices if notice.code != "cache_bypassed")
    assert (notice.code, notice.step) == ("recompilation", len(before.steps))
    assert "expected 2, actual 3" in notice.message
    (value,) = (value for value in trace.steps[-1].graph.inputs if value.type.startswith("Float"))
    assert re.fullmatch(r"Float\(s\d+, 4, strides=\[4, 1\], device=cpu\)", value.type)
    (weight,) = (each for each in trace.attributes if each.path == "weight")
    assert {location.method for location in weight.locations} == set(trace.methods)


def test_both_backends_in_one_capture_in_order():
    model, x = filled(Convolutional()), image()
    with fresh(), torch.no_grad(), torch._inductor.config.patch(freezing=True), fe.capture() as captured:
        torch.jit.freeze(torch.jit.script(model))
        torch.compile(model)(x)
        torch.compile(torch.nn.Linear(4, 2).eval())(rows(2, 4))
        torch.jit.freeze(torch.jit.script(torch.nn.Linear(4, 2).eval()))
        torch.compile(lambda y: y * 2 + 1)(rows(2, 4))
    traces = captured.traces
    told = [(trace.backend, trace.name, trace.methods) for trace in traces]
    assert told == [
        ("torchscript", "Convolutional", ("forward",)),
        ("inductor", "Convolutional", ("forward",)),
        ("inductor", "Linear", ("forward",)),
        ("torchscript", "Linear", ("forward",)),
        ("inductor", "<lambda>", ("<lambda>",)),
    ]
    for trace in traces:
        check_trace(trace)


def test_inductor_is_not_imported_for_a_capture_and_recorded_once_it_is():
    code = (
        "import sys, torch, freeze_engine as fe\n"
        "with fe.capture() as captured:\n"
        "    print('torch._inductor.compile_fx' in sys.modules)\n"
        "    torch._inductor.config.freezing = True\n"
        "    torch._inductor.config.compile_threads = 1\n"
        "    with torch.no_grad():\n"
        "        torch.compile(torch.nn.Linear(4, 2).eval())(torch.ones(2, 4))\n"
        "from freeze_engine.backends.inductor import torch_private as private\n"
        "compiler = private.REQUIRED['freezing_compiler'].found\n"
        "print([trace.name for trace in captured.traces], compiler.__module__, hasattr(compiler, '__wrapped__'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["False", "['Linear'] torch._inductor.compile_fx False"], done.stderr


def test_branches_are_blocks_and_their_passes_named():
    with fresh():
        trace = record(filled(Branches()), rows(2, 4)).trace
    check_trace(trace)
    (cond,) = (node for node in trace.steps[-1].graph.nodes if node.op == "higher_order.cond")
    assert [block.scope for block in cond.blocks] == ["cond/true_graph_0/", "cond/false_graph_0/"]
    said = {line for step in trace.steps for line in step.log if line.startswith("in subgraph")}
    assert said == {"in subgraph true_graph_0", "in subgraph false_graph_0"}
    assert {each.fate for each in trace.attributes} == {"inlined"}


def test_cache_hit_is_reported_and_can_be_avoided(recwarn: pytest.WarningsRecorder):
    class Plain(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(x.sin() + 1, -1) @ x.t().cos()

    codes, used, traces = [], [], []
    with fresh():
        for off in (False, False, True):
            torch._dynamo.reset()
            with torch._inductor.config.patch(fx_graph_cache=True):
                trace = record(Plain().eval(), rows(2, 4), force_disable_caches=off).trace
            check_trace(trace)
            traces.append(trace)
            codes.append([notice.code for notice in trace.notices])
            used += [line for step in trace.steps for line in step.log if "cache" in line]
    assert codes == [[], ["cache_hit"], []]
    assert used == [f"Inductor's cache of compiled graphs: {how}" for how in ("miss", "hit", "off")]
    for cold, warm in ((0, 1), (1, 0), (2, 1)):
        (pair,) = program_pairs(traces[cold], traces[warm])
        kernels = len(traces[cold].programs[0].kernels)
        assert [match.difference for match in pair.matches] == ["same"] * kernels
        assert kernels > 1


def test_a_compile_that_fails_leaves_its_trace(monkeypatch: pytest.MonkeyPatch):
    def failing(*args: Any) -> None:
        raise ValueError("no such precision")

    folding = torch._inductor.fx_passes.binary_folding
    monkeypatch.setattr(folding, "recover_original_precision_folded_computation_ops", failing)
    with fresh(), pytest.raises(Exception, match="no such precision") as caught:
        record(filled(Convolutional()), image())
    trace = fe.partial_trace(caught.value)
    assert trace is not None
    check_trace(trace)
    assert trace.failure is not None
    assert (trace.failure.type, trace.failure.stage) == ("ValueError", "freezing_passes")
    assert trace.failure.name == "recover_original_precision_folded_computation_ops"
    assert trace.steps[-1].name == "binary_folding"
    assert {fate.fate for fate in trace.attributes} >= {"inlined", "dropped"}  # as known by then


def test_a_recording_is_apart_from_what_else_is_compiled_of_the_class():
    model, x = filled(Convolutional()), image()
    with fresh(), torch.no_grad():
        torch.compile(filled(Convolutional()))(x)
        first, second = record(model, x), record(model, x)
        torch.compile(filled(Convolutional()))(x)
        # A frozen module does not notice new weights.
        before = first.module(x)
        model.head.bias.add_(1)
        assert torch.equal(first.module(x), before)
    assert [step.name for step in first.trace.steps] == [step.name for step in second.trace.steps]


def test_untraceable_model_raises_an_error():
    class Opaque(torch.nn.Module):
        @torch.compiler.disable
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    with fresh(), pytest.raises(FreezerError, match="Inductor froze no graph of Opaque"):
        record(Opaque().eval(), rows(2, 4))


def test_a_missing_name_leaves_a_stage_unobserved(monkeypatch: pytest.MonkeyPatch):
    known = dict(torch_private.OPTIONAL)
    known["apply_patterns"] = torch_private.PrivateName(
        "torch._inductor.pattern_matcher", "Gone.apply", "freezing_passes", "the pattern groups"
    )
    known["joint_graph_passes"] = torch_private.PrivateName(
        "torch._inductor.gone", "passes", "joint_graph", "all of it"
    )
    monkeypatch.setattr(torch_private, "OPTIONAL", known)
    with fresh():
        trace = record(filled(Convolutional()), image()).trace
    check_trace(trace)
    said = {notice.message for notice in trace.notices if notice.code == "stage_unobserved"}
    assert said == {
        "Stage freezing_passes is not fully observed, what is missing: the pattern groups "
        "(this torch has no torch._inductor.pattern_matcher.Gone.apply).",
        "Stage joint_graph is not fully observed, what is missing: all of it "
        "(this torch has no torch._inductor.gone.passes).",
    }
    assert {each.fate for each in trace.attributes} == {"inlined", "folded", "dropped"}


def test_a_name_is_found_under_its_former_name():
    freezing = torch._inductor.freezing
    now = torch_private.PrivateName(freezing.__name__, "freeze", "input", "it", former="gone")
    then = torch_private.PrivateName(freezing.__name__, "gone", "input", "it", former="freeze")
    assert (now.attribute, now.found) == ("freeze", freezing.freeze)
    assert (then.attribute, then.found) == ("freeze", freezing.freeze)


def test_without_the_compiler_itself_nothing_can_be_recorded(monkeypatch: pytest.MonkeyPatch):
    gone = torch_private.PrivateName("torch._inductor.compile_fx", "gone", "input", "the compile itself")
    monkeypatch.setattr(torch_private, "REQUIRED", {"freezing_compiler": gone})
    with pytest.raises(UnsupportedTorchError, match=r"compile_fx\.gone"), fe.capture():
        pass


def test_captures_nest_and_end(monkeypatch: pytest.MonkeyPatch):
    with fresh(), torch.no_grad(), torch._inductor.config.patch(freezing=True), fe.capture() as outer:
        with fe.capture() as inner:
            torch.compile(torch.nn.Linear(4, 2).eval())(rows(2, 4))
        torch.compile(torch.nn.Linear(4, 3).eval())(rows(2, 4))
    assert (len(outer.traces), len(inner.traces)) == (2, 1)


def test_without_freezing_nothing_is_recorded():
    with fresh(), torch.no_grad(), fe.capture() as captured:
        torch.compile(torch.nn.Linear(4, 2).eval())(rows(2, 4))
    assert captured.traces == ()


class Normalised(torch.nn.Module):
    """A convolution with a batch norm after it or without."""

    def __init__(self, has_norm: bool) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4) if has_norm else torch.nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x))


@pytest.mark.parametrize("has_norm", [True, False])
def test_a_module_given_to_inductor_itself_has_its_fates_and_torchs_fault_is_named_where_it_strikes(
    has_norm: bool,
) -> None:
    model = filled(Normalised(has_norm)).eval()
    x = image()
    expected = model(x)
    with fresh(), torch._inductor.config.patch(freezing=True), torch.no_grad(), fe.capture() as captured:
        compiled = torch._inductor.compile(torch.fx.symbolic_trace(model), [x])
    with torch.no_grad():
        is_right = bool(torch.allclose(compiled(x), expected, atol=1e-5))
    (trace,) = captured.traces
    assert trace.call.startswith("torch._inductor.compile(")
    fates = {attribute.path: attribute.fate for attribute in trace.attributes}
    assert fates["conv.weight"] == fates["conv.bias"] == "inlined", fates
    found = [notice.message for notice in trace.notices if notice.code == "misfold"]
    assert bool(found) == (not is_right) == has_norm
    assert all("(conv.weight, conv.bias)" in message and "torch.compile" in message for message in found)
