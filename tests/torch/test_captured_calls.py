"""What a capture keeps of the call that compiled: its arguments, the function's closure, autotuning's choices."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture.capture import autotuning_lines
from freeze_engine.backends.inductor.capture.hooks import autotuning
from freeze_engine.backends.inductor.capture.raw import Autotuning

FREEZING = {"freezing": True}


class Scaled(torch.nn.Module):
    """Holds a parameter, and a buffer so small that Inductor writes its value into the code."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((16,), 2.0))
        self.register_buffer("offset", torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight + self.offset


def closure() -> Callable[[torch.Tensor], torch.Tensor]:
    """Returns a function that reads modules, a parameter and a tensor from its closure."""
    module, listed = Scaled().eval(), [Scaled().eval()]
    gain, shift = torch.nn.Parameter(torch.ones(16)), torch.full((16,), 3.0)

    def answer(x: torch.Tensor) -> torch.Tensor:
        return listed[0](module(x)) * gain + shift

    return answer


@pytest.fixture(scope="module")
def of_closure() -> fe.Trace:
    torch.compiler.reset()
    with fe.capture() as captured, torch._inductor.config.patch(FREEZING), torch.no_grad():
        torch.compile(closure(), options={"epilogue_fusion": False}, dynamic=False, fullgraph=True)(torch.ones(2, 16))
    (trace,) = captured.traces
    return trace


def test_a_captured_function_has_its_name_and_the_arguments_of_its_compile(of_closure: fe.Trace) -> None:
    assert of_closure.name == "answer"
    arguments = "answer, dynamic=False, fullgraph=True, options={'epilogue_fusion': False}"
    assert of_closure.call == f"torch.compile({arguments})  # torch._inductor.config.patch(freezing=True)"
    assert of_closure.options == (
        ("dynamic", "False"),
        ("epilogue_fusion", "False"),
        ("freezing", "True"),
        ("fullgraph", "True"),
    )
    assert [spec.name for spec in of_closure.inputs] == ["x"]


def test_tensors_of_a_closure_have_paths_and_fates(of_closure: fe.Trace) -> None:
    found = {fate.path: (fate.kind, fate.fate, fate.reason) for fate in of_closure.attributes}
    assert found == {
        "gain": ("parameter", "inlined", None),
        "listed.0.offset": ("buffer", "inlined", None),
        "listed.0.weight": ("parameter", "inlined", None),
        "module.offset": ("buffer", "inlined", None),
        "module.weight": ("parameter", "inlined", None),
        "shift": ("attribute", "preserved", "not_a_parameter"),
    }
    (advice,) = {fate.advice for fate in of_closure.attributes if fate.path == "shift"}
    assert advice.startswith("Make it a parameter or a buffer of a module")
    assert "nothing_frozen" not in {notice.code for notice in of_closure.notices}


@pytest.mark.parametrize(
    ("mode", "options", "found"),
    [
        (None, None, {"mode": "default"}),
        ("max-autotune", None, {"mode": "max-autotune"}),
        ("max-autotune-no-cudagraphs", None, {"mode": "max-autotune-no-cudagraphs"}),
        (None, {"max_autotune": True}, {"options": {"max_autotune": True}}),
    ],
)
def test_torch_compile_s_backend_tells_its_mode_or_its_options(mode: Any, options: Any, found: Any) -> None:
    wrapper = torch._TorchCompileInductorWrapper(mode, options, None)
    assert torch_private.compile_arguments(wrapper) == found


def test_number_of_a_graph_is_found_wherever_torch_passes_it() -> None:
    """Up to torch 2.13 it is an argument of ``fw_compiler_freezing``, later a field of one (pytorch#195157)."""
    extra = SimpleNamespace(graph_id=7, cudagraphs=None)
    assert torch_private.graph_number({"dynamo_model": torch.nn.Identity(), "graph_id": 7}) == 7
    assert torch_private.graph_number({"dynamo_model": torch.nn.Identity(), "compiler_config_extra": extra}) == 7
    assert torch_private.graph_number({"dynamo_model": torch.nn.Identity()}) is None


def test_autotuning_notes_every_kernel_with_its_time_the_fastest_first() -> None:
    compiled: Any = SimpleNamespace(autotuned={})
    watching: Any = SimpleNamespace(compiled=compiled)
    shaped = [SimpleNamespace(get_size=lambda: (16, 64)), SimpleNamespace(get_size=lambda: (64, 8))]
    choices = [SimpleNamespace(name=name, input_nodes=shaped) for name in ("_mkl_linear", "cpp_gemm_0", "broken")]
    times = dict(zip(map(id, choices), (0.0107, 0.00649, math.inf), strict=True))

    class Timings(dict[Any, float]):
        def items(self) -> Any:
            return [(choice, times[id(choice)]) for choice in choices]

    def measured(*_: Any, benchmark: Any = None) -> Any:
        return Timings(times) if benchmark else {}

    lookup = autotuning(measured, lambda: watching)
    assert lookup(None, choices, "addmm", "key", benchmark=None) == {}
    assert compiled.autotuned == {}
    lookup(None, choices, "addmm", "key", benchmark=len)
    expected = Autotuning(
        "addmm", "16x64, 64x8", (("cpp_gemm_0", 0.00649), ("_mkl_linear", 0.0107), ("broken", math.inf))
    )
    assert compiled.autotuned == {("addmm", "key"): expected}
    assert list(autotuning_lines(compiled)) == [
        "autotuning of addmm(16x64, 64x8), the fastest first: cpp_gemm_0 6.49 µs, _mkl_linear 10.7 µs, broken failed"
    ]


@pytest.mark.parametrize("way", ["configuration", "options"])
def test_aot_compile_is_recorded_where_freezing_is_on_by(way: str) -> None:
    program = torch.export.export(Scaled().eval(), (torch.ones(2, 16),))
    # Its C++ code is packaged and not compiled, which takes longer than all the rest.
    options = {"aot_inductor.package": True, "aot_inductor.package_cpp_only": True}
    settings = FREEZING if way == "configuration" else {}
    asked = options if settings else options | FREEZING
    with fe.capture() as captured, torch.no_grad(), torch._inductor.config.patch(settings):
        torch._inductor.aot_compile(program.module(), (torch.ones(2, 16),), options=asked)
    (trace,) = captured.traces
    assert (trace.name, trace.backend) == ("Scaled", "aotinductor")
    assert trace.options == (("aot_inductor.package_cpp_only", "True"), ("freezing", "True"))
    assert {fate.path: (fate.fate, fate.updatable) for fate in trace.attributes} == {
        "offset": ("inlined", False),
        "weight": ("inlined", True),
    }


def test_a_model_compiled_in_training_mode_has_a_notice_that_comes_first() -> None:
    torch.compiler.reset()
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(), torch.nn.Dropout(0.0), torch.nn.ReLU())
    with fe.capture() as captured, torch._inductor.config.patch(freezing=True), torch.no_grad():
        torch.compile(model)(torch.ones(2, 3))
        torch.compile(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout()).eval())(torch.ones(2, 3))
    training, evaluated = captured.traces
    (notice,) = [notice for notice in training.notices if notice.code == "training_mode"]
    assert notice.message.startswith("The model was compiled in training mode: 1 (Dropout). ")
    first = fe.summarize(training).actions[0]
    assert (first.aim, first.fix) == ("correct", "Call model.eval() before the first call.")
    assert "training_mode" not in [notice.code for notice in evaluated.notices]


def test_a_package_of_a_program_exported_in_training_mode_has_a_notice_that_comes_first(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout()).train()
    program = torch.export.export(model, (torch.ones(2, 3),))
    with fe.capture() as captured, torch._inductor.config.patch(freezing=True), torch.no_grad():
        torch._inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "model.pt2"))
    (trace,) = captured.traces
    first = fe.summarize(trace).actions[0]
    assert "aten.dropout.default at %dropout" in first.evidence
    assert first.fix == "Call model.eval() before torch.export."


def _given_to_inductor(model: torch.nn.Module, x: torch.Tensor) -> None:
    from torch._inductor.compile_fx import compile_fx

    compile_fx(torch.export.export(model, (x,)).module(), [x])(x)  # type: ignore[arg-type]


def _compiled_by_inductor(model: torch.nn.Module, x: torch.Tensor) -> None:
    torch._inductor.compile(torch.fx.symbolic_trace(model), [x])(x)


def _compiled_by_a_backend_of_the_user(model: torch.nn.Module, x: torch.Tensor) -> None:
    from torch._inductor.compile_fx import compile_fx

    torch.compile(model, backend=lambda graph, inputs: compile_fx(graph, inputs))(x)


@pytest.mark.parametrize(
    ("compiling", "call"),
    [
        (_given_to_inductor, "torch._inductor.compile({name})"),
        (_compiled_by_inductor, "torch._inductor.compile({name})"),
        (_compiled_by_a_backend_of_the_user, "torch.compile({name}, backend=…)"),
    ],
)
def test_weights_of_a_graph_that_another_than_torch_compile_gives_to_inductor_have_fates(
    compiling: Callable[[torch.nn.Module, torch.Tensor], None], call: str
) -> None:
    torch.compiler.reset()
    with fe.capture() as captured, torch._inductor.config.patch(FREEZING), torch.no_grad():
        compiling(Scaled().eval(), torch.ones(2, 16))
    (trace,) = captured.traces
    assert trace.call == f"{call.format(name=trace.name)}  # torch._inductor.config.patch(freezing=True)"
    assert {fate.path: (fate.kind, fate.fate) for fate in trace.attributes} == {
        "offset": ("buffer", "inlined"),
        "weight": ("parameter", "inlined"),
    }
    assert len(trace.inputs) == 1  # weights are no inputs


class Broken(torch.nn.Module):
    """Its methods do not call it ``self``, and Dynamo cannot trace a part of one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Scaled(), Scaled()

    @torch.compiler.disable
    def outside(this, x: torch.Tensor) -> torch.Tensor:  # noqa: N805
        return x + 1

    def forward(this, x: torch.Tensor) -> torch.Tensor:  # noqa: N805
        return this.second(this.outside(this.first(x)))

    @torch.compile
    def encode(this, x: torch.Tensor) -> torch.Tensor:  # noqa: N805
        return this.first(x)


@pytest.mark.parametrize(
    ("compiling", "graphs"),
    [(lambda model, x: torch.compile(model)(x), 2), (Broken.encode, 1)],
    ids=["forward", "encode"],
)
def test_paths_start_from_the_module_whatever_its_methods_call_it(
    compiling: Callable[[torch.nn.Module, torch.Tensor], object], graphs: int
) -> None:
    torch.compiler.reset()
    with fe.capture() as captured, torch._inductor.config.patch(FREEZING), torch.no_grad():
        compiling(Broken().eval(), torch.ones(2, 16))
    (trace,) = captured.traces
    assert trace.name == "Broken"
    assert len({step.method for step in trace.steps}) == graphs
    assert {fate.path for fate in trace.attributes} == {
        f"{part}.{name}" for part in ("first", "second") for name in ("offset", "weight")
    }


def test_a_function_that_gets_a_module_names_it_as_its_argument() -> None:
    def forward(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
        return model(x)

    torch.compiler.reset()
    with fe.capture() as captured, torch._inductor.config.patch(FREEZING), torch.no_grad():
        torch.compile(forward)(Scaled().eval(), torch.ones(2, 16))
    (trace,) = captured.traces
    assert trace.name == "forward"
    assert {fate.path for fate in trace.attributes} == {"model.offset", "model.weight"}
