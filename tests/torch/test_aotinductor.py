"""AOTInductor: one package is compiled for all tests, since that takes long."""

from __future__ import annotations

import functools
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

import freeze_engine as fe
from freeze_engine.backends.inductor import torch_private
from freeze_engine.backends.inductor.capture import disabled_passes
from freeze_engine.backends.inductor.kernels.package_timing import NotTimedError, timed_package
from freeze_engine.backends.inductor.replay import measure_package
from freeze_engine.models.file_kinds import file_kind
from freeze_engine.requests.inputs import Inputs
from freeze_engine.trace import COMPILED_FROZEN, COMPILED_UNFROZEN, EAGER, PACKAGED, Kernel, Program
from tests.builders import small_trace
from tests.road_pages import run_page

#: The fixture compiles a package twice and the model twice.
pytestmark = pytest.mark.timeout(1200)
INPUTS = (torch.linspace(-1, 1, 192).reshape(1, 3, 8, 8),)


@dataclass(frozen=True)
class Packaged:
    """One compile.

    Attributes:
        model: that of `docs/roads/aotinductor.md`: it has weights of each fate, folded, packed into another
            layout, kept by name, unused.
        recording: of `record`.
        captured: what a capture around that saw.
        path: of the package.
    """

    model: torch.nn.Module
    recording: fe.Recording
    captured: tuple[fe.Trace, ...]
    path: Path


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Packaged:
    path = tmp_path_factory.mktemp("package") / "classifier.pt2"
    options = fe.AOTInductorOptions(package=str(path))
    torch.manual_seed(0)
    with fe.capture() as captured, pytest.MonkeyPatch.context() as patch:
        measure = fe.Measure(seconds=0.3, input_sets=2)
        patch.setattr(fe, "record", functools.partial(fe.record, options=options, measure=measure))
        names = run_page("aotinductor")
    return Packaged(names["program"].module(), names["recording"], captured.traces, path)


def test_a_recording_of_a_program_has_its_passes_its_package_and_its_call(packaged: Packaged) -> None:
    trace = packaged.recording.trace
    assert (trace.name, trace.backend) == ("Classifier", "aotinductor")
    assert trace.call.startswith("fe.record(Classifier, inputs, backend='aotinductor', options=fe.AOTInductorOptions(")
    assert {"joint_graph", "freezing_passes", "post_grad", "compile"} <= {step.stage for step in trace.steps}
    assert any(
        rewrite.kind == "conv_bn" or step.name == "binary_folding" for step in trace.steps for rewrite in step.rewrites
    )
    (program,) = trace.programs
    assert program.name == PACKAGED
    assert program.code is not None
    assert all(kernel.name in program.code for kernel in program.kernels if kernel.kind == "cpp")
    assert "mkldnn._linear_pointwise.default" in {op for kernel in program.kernels for op in kernel.ops}
    assert any(kernel.kind == "cpp" and kernel.nodes and kernel.sources for kernel in program.kernels)
    assert all(kernel.time_ns is not None and kernel.time_ns.low > 0 for kernel in program.kernels)
    assert trace.package is not None
    assert trace.package.path == str(packaged.path)
    assert trace.package.nbytes == packaged.path.stat().st_size
    assert not fe.problems(trace)
    assert fe.loads(fe.dumps(trace)) == trace


def test_a_capture_sees_the_compile_with_the_package_of_torch(packaged: Packaged) -> None:
    trace, *others = packaged.captured
    assert others == []
    assert (trace.name, trace.backend) == ("Classifier", "aotinductor")
    assert trace.call.startswith("torch._inductor.aoti_compile_and_package(Classifier)")
    assert trace.package is not None
    assert trace.package.nbytes == packaged.path.stat().st_size
    assert [step.name for step in trace.steps] == [step.name for step in packaged.recording.trace.steps]
    assert trace.attributes == packaged.recording.trace.attributes


def test_each_weight_has_its_path_its_fate_and_whether_the_package_can_update_it(packaged: Packaged) -> None:
    fates = {fate.path: (fate.fate, fate.updatable) for fate in packaged.recording.trace.attributes}
    assert fates == {
        "bn.bias": ("folded", False),
        "bn.num_batches_tracked": ("dropped", False),
        "bn.running_mean": ("folded", False),
        "bn.running_var": ("folded", False),
        "bn.weight": ("folded", False),
        "conv.bias": ("folded", False),
        "conv.weight": ("folded", False),
        "fc.bias": ("inlined", True),
        "fc.weight": ("inlined", False),
        "scale": ("inlined", True),
    }


def test_the_package_does_take_what_the_fates_say_and_nothing_else(packaged: Packaged) -> None:
    package = torch._inductor.aoti_load_package(str(packaged.path))
    before = package(*INPUTS)
    updatable = [fate.path for fate in packaged.recording.trace.attributes if fate.updatable]
    weights = packaged.model.state_dict()
    package.load_constants({path: weights[path] + 1 for path in updatable}, check_full_update=False)
    after = package(*INPUTS)
    torch.testing.assert_close(after, (before / 2 + 1) * 3)
    known = set(package.get_constant_fqns())
    assert {fate.path for fate in packaged.recording.trace.attributes if fate.updatable is False}.isdisjoint(known)
    assert known == {constant.key for constant in packaged.recording.trace.package.constants}


def test_the_recording_gives_the_loaded_package(packaged: Packaged) -> None:
    expected = packaged.model(*INPUTS)
    torch.testing.assert_close(packaged.recording.module(*INPUTS), expected)


def test_the_package_is_measured_beside_eager_and_both_compiled_ones(packaged: Packaged) -> None:
    trace = packaged.recording.trace
    assert [each.name for each in trace.baselines] == [EAGER, COMPILED_UNFROZEN, COMPILED_FROZEN, PACKAGED]
    assert all(each.latency for each in trace.baselines)
    errors = {each.name: each.numerics for each in trace.baselines}
    assert errors[PACKAGED]
    sentence = fe.summarize(trace).sentence
    assert "weights and buffers" in sentence
    assert "not measured" not in sentence


def test_package_given_as_model_is_refused_by_its_kind(packaged: Packaged) -> None:
    assert file_kind(packaged.path) is None
    with pytest.raises(fe.ModelSpecError, match=r"a package of compiled code \(AOTInductor\).*--backend aotinductor"):
        fe.record(packaged.path, INPUTS, backend="aotinductor")
    assert any("aotinductor" in name for name in zipfile.ZipFile(packaged.path).namelist())


def test_a_package_replaces_no_file_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(torch.nn.Linear(1, 1).eval(), (torch.ones(1, 1),)), path)
    before = path.read_bytes()
    with pytest.raises(fe.FreezerError, match="holds something else than compiled code"):
        fe.record(str(path), backend="aotinductor", options=fe.AOTInductorOptions(package=str(path)))
    assert path.read_bytes() == before


def test_compiles_for_figures_leave_out_the_passes_that_the_recorded_compile_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the figures would be of other code; each compile is replaced by a look at what it would leave out."""
    left_out: list[tuple[str, ...]] = []

    def look(*args: object, **kwargs: object) -> None:
        disabled = disabled_passes._current.get()
        left_out.append(disabled.passes if disabled is not None else ())

    monkeypatch.setattr(torch_private, "compile_package", look)
    monkeypatch.setattr(torch_private, "load_package", lambda path: None)
    monkeypatch.setattr(measure_package, "compiled_once", look)
    passes = ("binary_folding", "constant_fold")
    program = Program(PACKAGED, "forward", (Kernel("cpp_fused_0", "cpp"),))
    with pytest.raises(NotTimedError, match="generated other kernels"):
        timed_package(program, None, passes, lambda package: None, 0.1)
    subject = measure_package.RunnablePackage(torch.nn.Identity(), None, None, Inputs(INPUTS), passes)
    measuring = measure_package._Measuring(small_trace(), subject, fe.Measure(), lambda *words: None)
    measuring._compiled(False)
    measuring._compiled(True)
    assert left_out == [passes, (), passes]
